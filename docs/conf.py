"""The site: `make docs` builds it into docs/_build/html, running every example on the way."""

from __future__ import annotations

import sys
from pathlib import Path

import frankwolfe

sys.path.insert(0, str(Path(__file__).parent))  # for pictures.py

project = "frankwolfe"
author = "The frankwolfe developers"
release = version = frankwolfe.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "figures/*.py"]
html_theme = "pydata_sphinx_theme"
html_title = "frankwolfe"
html_show_sourcelink = False
html_theme_options = {"show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}

autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
autodoc_typehints = "none"  # the numpydoc sections say it in words
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
intersphinx_mapping = {
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
}
intersphinx_timeout = 5

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": "torch_",  # needs PyTorch
    "image_scrapers": ("pictures.scrape",),
    "download_all_examples": False,
    "show_memory": False,
}


def write_paper(app: object) -> None:
    """Write the chapter on the paper from the summary that `frankwolfe reproduce all --publish` left in docs/paper."""
    from frankwolfe.paper.publication.publish import write_chapter
    from frankwolfe.paper.publication.summary import read_summary

    here = Path(__file__).parent
    write_chapter(read_summary(here / "paper" / "summary.json"), here / "paper.md", here / "_static" / "paper")


html_sidebars = {"paper": []}  # its tables need the room
html_static_path = ["_static"]
html_css_files = ["paper.css"]


def setup(app: object) -> None:
    """Write what is generated before anything is read."""
    app.connect("builder-inited", write_paper)  # pyright: ignore[reportAttributeAccessIssue]

"""The site: `make docs` builds it into docs/_build/html, running every example and drawing every picture on the way."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import matplotlib as mpl
from numpydoc.xref import DEFAULT_LINKS

import frankwolfe

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "figures")]
mpl.use("agg")

project = "frankwolfe"
author = "The frankwolfe developers"
release = version = frankwolfe.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
if find_spec("sphinx-mathjax-offline"):  # formulas are typeset by files of the site itself; without it a CDN is asked
    extensions.append("sphinx-mathjax-offline")
templates_path = ["_templates"]
exclude_patterns = ["_build", "figures/*.py"]
default_role = "py:obj"  # names in docstrings become links where they are names of this library
html_theme = "pydata_sphinx_theme"
html_title = "frankwolfe"
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "github_url": "https://github.com/frankwolfe-py/frankwolfe",
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "show_toc_level": 2,
}
html_sidebars = {"paper": [], "index": []}  # the chapter's tables need the room
html_static_path = ["_static"]
html_css_files = ["site.css", "paper.css"]
copybutton_prompt_text = "$ "

autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
# Of types elsewhere the name alone is shown, also where their inventories cannot be fetched.
numpydoc_xref_aliases = {
    name: re.sub(r"`(\w+):([\w.]+)`", r"`\2 <\1:\2>`", link) for name, link in DEFAULT_LINKS.items()
} | {name: f"frankwolfe.{name}" for name in frankwolfe.__all__}
WORDS = "of or and in any one for each by its optional default shape class type names given"
numpydoc_xref_ignore = set(WORDS.split())
autodoc_typehints = "none"  # the numpydoc sections say it in words
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
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
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": True,  # all of them as scripts and as notebooks
    "show_memory": False,
    "write_computation_times": False,
    "plot_gallery": True,
    "reference_url": {"frankwolfe": None},
    "doc_module": ("frankwolfe",),
}


def write_generated(app: object) -> None:
    """Draw the guide's pictures, and write the pages that come from the code: the commands, and the paper's verdicts.

    The chapter on the paper is made of the summary that `frankwolfe reproduce all --publish` left in docs/paper.
    """
    import command_line
    import guide

    from frankwolfe.paper.publication.publish import write_chapter
    from frankwolfe.paper.publication.summary import read_summary

    guide.draw(HERE / "_static" / "guide")
    (HERE / "cli.md").write_text(command_line.page(), encoding="utf-8")
    write_chapter(read_summary(HERE / "paper" / "summary.json"), HERE / "paper.md", HERE / "_static" / "paper")


def setup(app: object) -> None:
    """Write what is generated before anything is read."""
    app.connect("builder-inited", write_generated)  # pyright: ignore[reportAttributeAccessIssue]

"""Brings the pictures that the examples write into the gallery."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Move the pictures that an example has just left beside it into its page."""
    taken = []
    for picture in sorted(Path(block_vars["src_file"]).parent.glob("*.png")):
        target = next(block_vars["image_path_iterator"])
        shutil.move(picture, target)
        taken.append(target)
    return figure_rst(taken, gallery_conf["src_dir"])

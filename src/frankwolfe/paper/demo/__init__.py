"""The demonstration: three real problems solved four ways, and one page to look at.

``python -m frankwolfe demo --out report`` runs it. Needs the extras `sklearn` and `plot`.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path
from typing import Any

from frankwolfe.paper.demo.settings import FULL, METHODS, SMALL, Settings

__all__ = ["FULL", "SMALL", "Settings", "run"]


def run(out: Any = "report", *, settings: Settings = FULL, quiet: bool = False) -> Path:
    """Solve the problems, print a table for each, and write a self-contained page into the folder `out`.

    PNG files of the figures lie beside the page, ``out/index.html``, whose path is returned. With `quiet` neither
    progress nor tables are printed.
    """
    from frankwolfe.paper.demo import digits, photograph, report

    began = time.monotonic()
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    jobs = 3 * (len(METHODS) + 1) + 1  # two balls, the photograph and its radius
    started = itertools.count(1)

    def begin(job: str) -> None:
        if not quiet:
            print(f"[{next(started)}/{jobs}] {job}", file=sys.stderr)

    handwriting, photo = digits.solve(settings, begin), photograph.solve(settings, begin)
    path = report.write(folder, settings, handwriting, photo, time.monotonic() - began)
    if not quiet:
        for study in (*handwriting.studies, photo.study):
            print(f"{study.title}\n{study}\n")
        print(f"{path} is ready, after {time.monotonic() - began:.0f} seconds.")
    return path

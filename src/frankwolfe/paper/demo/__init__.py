"""The demonstration: three real problems solved four ways, and one page to look at.

``python -m frankwolfe demo --out report`` runs it. Needs the extras `sklearn`, `plot` and `cli`.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from frankwolfe.paper.demo.settings import FULL, SMALL, Settings

__all__ = ["FULL", "SMALL", "Settings", "run"]


def run(out: Any = "report", *, settings: Settings = FULL, quiet: bool = False) -> Path:
    """Solve the problems, print a table for each, and write a self-contained page with its figures.

    Parameters
    ----------
    out : str or path
        Folder to write to; made if it does not exist.
    settings : Settings
        Sizes and radii.
    quiet : bool, default False
        Print neither progress nor tables.

    Returns
    -------
    Path
        The page, ``out/index.html``; PNG files of the figures lie beside it.

    Examples
    --------
    >>> from frankwolfe.paper import demo
    >>> demo.run("report", quiet=True)  # doctest: +SKIP
    PosixPath('report/index.html')
    """
    from frankwolfe.paper.demo import digits, photograph, report
    from frankwolfe.paper.demo.console import Console

    began = time.monotonic()
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with Console(quiet, jobs=2 * (len(settings.digit_steps) + 1) + len(settings.picture_steps) + 2) as console:
        handwriting = digits.solve(settings, console)
        photograph = photograph.solve(settings, console)
    for study in (*handwriting.studies, photograph.study):
        console.table(study.title, study.head, study.rows())
    path = report.write(folder, settings, handwriting, photograph, time.monotonic() - began)
    console.say(f"{path} is ready, after {time.monotonic() - began:.0f} seconds.")
    return path

"""The whole reproduction, or a part of it: run what is missing, draw, and write the page."""

from __future__ import annotations

import os
from pathlib import Path

from frankwolfe.paper.publication import publish
from frankwolfe.paper.publication.figure_data import save_numbers
from frankwolfe.paper.publication.page import write_page
from frankwolfe.paper.publication.pictures import save_pictures
from frankwolfe.paper.publication.summary import about_machine, summarise
from frankwolfe.paper.runner import Results, run_tasks
from frankwolfe.paper.sections import MODULES
from frankwolfe.paper.store import Store

PARTS = (*MODULES, "claims", "all")


def reproduce(
    part: str = "all",
    *,
    out: str | os.PathLike[str] = "reproduction",
    data: str | os.PathLike[str] | None = None,
    quick: bool = False,
    quiet: bool = False,
    jobs: int | None = None,
    into: str | os.PathLike[str] | None = None,
) -> Path:
    """Regenerate the paper's figures and tables, and judge its claims.

    Parameters
    ----------
    part : str, default "all"
        One of `PARTS`. The verdicts rest on everything, so "claims" runs the same as "all".
    out : path, default "reproduction"
        Folder for the page (`index.html`), `figures/` and `runs/`. Work found there is not done again.
    data : path, optional
        Where the datasets are; by default as `frankwolfe.datasets.load` finds them.
    quick : bool, default False
        A short version for a first look: fewer iterations, radii and draws, samples of the large datasets.
    quiet : bool, default False
        No progress on stderr.
    jobs : int, optional
        Processes side by side, each with one thread; two by default where the machine has them. The numbers do
        not depend on it.
    into : path, optional
        The project's own sources: write there the summary that the documentation's chapter is built from, and the
        README's table of verdicts. For the full run of everything only.

    Returns
    -------
    Path
        The page.
    """
    if part not in PARTS:
        raise ValueError(f"part must be one of {', '.join(PARTS)}, got {part!r}")
    sources = None if into is None else publish.checkout(Path(into))
    if sources is not None and (quick or part not in ("all", "claims")):
        raise ValueError("--publish is for the full run of everything")
    jobs = min(2, os.cpu_count() or 1) if jobs is None else jobs
    folder = Path(out)
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    store = Store(folder / "runs")
    chosen = list(MODULES) if part in ("all", "claims") else [part]
    asked = [task for name in chosen for task in MODULES[name].tasks(quick)]
    directory = None if data is None else str(data)
    run_tasks(asked, store, directory, jobs, quiet)
    results = Results(store)
    present = [name for name, module in MODULES.items() if all(t in results for t in module.tasks(quick))]
    sections = [MODULES[name].section(results, quick) for name in present]
    for figure in (figure for section in sections for figure in section.figures):
        save_numbers(figure, figures)
        save_pictures(figure, figures)
    page = folder / "index.html"
    missing = [name for name in MODULES if name not in present]
    about = {
        "command": f"frankwolfe reproduce {part}" + " --quick" * quick + " --publish" * (sources is not None),
        **about_machine(),
        "pieces of work": len(set(asked)),
        "processor time for all of them, in seconds": round(sum(results[task].seconds for task in set(asked))),
        "processes side by side": jobs,
        "threads each": 1,
    }
    summary = summarise(results, sections, quick, about)
    write_page(page, summary, missing, quick)
    if sources is not None:
        publish.publish(summary, sources)
    return page

"""The whole reproduction, or a part of it: run what is missing, draw, and write the page."""

from __future__ import annotations

import os
from pathlib import Path
from time import monotonic
from types import ModuleType

from frankwolfe.experiments import beyond, certificates, claims, fig1, fig2, fig3, fig4, table
from frankwolfe.experiments.figures import Section, save_numbers
from frankwolfe.experiments.page import write_page
from frankwolfe.experiments.runner import Results, run_tasks
from frankwolfe.experiments.static import save_pictures
from frankwolfe.experiments.store import Store

MODULES: dict[str, ModuleType] = {
    "fig1": fig1,
    "fig2": fig2,
    "fig3": fig3,
    "fig4": fig4,
    "beyond": beyond,
    "certificates": certificates,
    "table": table,
}
PARTS = (*MODULES, "claims", "all")


def reproduce(
    part: str = "all",
    *,
    out: str | os.PathLike[str] = "reproduction",
    data: str | os.PathLike[str] | None = None,
    quick: bool = False,
    quiet: bool = False,
    jobs: int | None = None,
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

    Returns
    -------
    Path
        The page.
    """
    if part not in PARTS:
        raise ValueError(f"part must be one of {', '.join(PARTS)}, got {part!r}")
    began = monotonic()
    jobs = min(2, os.cpu_count() or 1) if jobs is None else jobs
    folder = Path(out)
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    store = Store(folder / "runs")
    chosen = list(MODULES) if part in ("all", "claims") else [part]
    asked = [task for name in chosen for task in MODULES[name].tasks(quick)] + claims.tasks(quick)
    directory = None if data is None else str(data)
    done = run_tasks(asked, store, directory, jobs, quiet)
    computed = monotonic() - began

    results = Results(store)
    present = [name for name, module in MODULES.items() if results.has(module.tasks(quick))]
    sections = [MODULES[name].section(results, quick) for name in present]
    for section in sections:
        _save(section, figures)
    page = folder / "index.html"
    missing = [name for name in MODULES if name not in present]
    about = {
        "pieces of work done in this call": done,
        "pieces found from before": len({store.stem(t) for t in asked}) - done,
        "seconds for those done": round(computed),
        "processes side by side": jobs,
        "threads each": 1,
    }
    write_page(page, sections, missing, results, quick, about)
    return page


def _save(section: Section, folder: Path) -> None:
    for figure in section.figures:
        save_numbers(figure, folder)
        save_pictures(figure, folder)

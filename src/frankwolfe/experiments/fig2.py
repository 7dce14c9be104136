"""Figure 2: a9a with a ball so large that it hardly matters; GD, AGM, FW and AFW."""

from __future__ import annotations

from frankwolfe.experiments.figures import Figure, Panel, Section, Table, error_curve
from frankwolfe.experiments.problems import METHODS, Ball, Data
from frankwolfe.experiments.reference import Reference
from frankwolfe.experiments.runner import Results
from frankwolfe.experiments.runs import Run
from frankwolfe.experiments.store import Task

DATA = Data("a9a")
RADIUS = 40.0
NEIGHBOURS = (5.0, 20.0, 60.0, 659.0)
ITERATIONS = 1000
WINDOW = 20
PAPER = ("gd", "agm", "fw", "afw")
BEYOND = ("fw-short", "fw-line", "afw-line")


def radii(quick: bool) -> tuple[float, ...]:
    """Return the radii that are run, the paper's figure first."""
    return (RADIUS,) if quick else (RADIUS, *NEIGHBOURS)


def runs(radius: float, quick: bool) -> list[Run]:
    """Return the runs at one radius; the variants beyond the paper only at the main one."""
    methods = PAPER + (BEYOND if radius == RADIUS else ())
    return [Run(DATA, Ball("l2", radius), method, ITERATIONS) for method in methods]


def tasks(quick: bool) -> list[Task]:
    return [t for r in radii(quick) for t in (Reference(DATA, Ball("l2", r)), *runs(r, quick))]


def errors(results: Results, radius: float, quick: bool) -> dict[str, float]:
    """Return h at the last iteration, by method."""
    return {run.method: results.series(run).at(ITERATIONS) for run in runs(radius, quick)}


def section(results: Results, quick: bool) -> Section:
    figures = [_figure(results, quick)]
    if not quick:
        figures.append(_neighbours(results))
    rows = []
    for radius in sorted(radii(quick)):
        facts = results.optimum(DATA, Ball("l2", radius)).facts
        h = errors(results, radius, quick)
        order = " < ".join(METHODS[m].name for m in sorted(PAPER, key=lambda m: h[m]))
        active = "on the boundary" if facts["norm"] > (1 - 1e-9) * radius else f"inside, |x*| = {facts['norm']:.3g}"
        rows.append(
            [
                f"{radius:g}",
                *(f"{h[m]:.2e}" for m in PAPER),
                order,
                active,
                f"{facts['gradient']:.1e}",
                f"{facts['gap']:.0e}",
            ]
        )
    head = ["R", *(f"{METHODS[m].name}" for m in PAPER), "order", "the solution found", "|∇f(x*)|", "f* known to"]
    intro = (
        "<p>The paper does not say which radius it used. R = 40 was picked after scanning 2, 5, 10, 20, 40, 60 and 659 "
        "because it gives the order that the text describes; that it does so is therefore by construction. The "
        f"neighbours show how much hangs on the choice. {_flatness(results, quick)}</p>"
    )
    table = Table("fig2-radii", f"f(x) − f* after {ITERATIONS} iterations", head, rows)
    return Section("fig2", "Figure 2: an inactive constraint", intro, figures, [table])


def _flatness(results: Results, quick: bool) -> str:
    """Say in numbers why no moderate radius is strictly inactive."""
    if quick:
        return ""
    best = min(results.optimum(DATA, Ball("l2", r)).facts["fun"] for r in radii(quick))
    over = {r: results.optimum(DATA, Ball("l2", r)).facts["fun"] - best for r in (20.0, RADIUS)}
    words = " and ".join(f"{h:.0e} (R = {r:g})" for r, h in over.items())
    return (
        "No moderate radius is strictly inactive: the optimal value still falls with R, but the ball costs no more "
        f"than {words} against the largest radius, far below the errors drawn here."
    )


def _figure(results: Results, quick: bool) -> Figure:
    series = [results.series(run) for run in runs(RADIUS, quick)]
    curves = [error_curve(s, window=WINDOW, shown=s.run.method in PAPER) for s in series]
    panel = Panel(f"a9a, l2 ball, R = {RADIUS:g}", curves, floor=series[0].floor)
    return Figure(
        "fig2",
        "a9a, l2 ball that is effectively inactive",
        f"Shaded: smallest and largest error within {WINDOW} iterations, the zig-zag. Click on a legend entry to "
        "show the "
        "variants that the paper leaves out. Certified accuracy of f*: "
        f"{series[0].floor:.0e}.",
        [panel],
        axes=("k", "time", "n_pass"),
    )


def _neighbours(results: Results) -> Figure:
    panels = []
    for radius in NEIGHBOURS:
        series = [results.series(run) for run in runs(radius, False)]
        panels.append(
            Panel(f"a9a, l2 ball, R = {radius:g}", [error_curve(s) for s in series], floor=max(s.floor for s in series))
        )
    return Figure("fig2-radii", "The same at other radii", "Nothing but R changes.", panels, 2)

"""Figure 3: l2 and l1 balls on mushrooms, mnist (digit 4) and covtype."""

from __future__ import annotations

from frankwolfe.experiments.figures import Figure, Panel, Section, Table, error_curve
from frankwolfe.experiments.problems import METHODS, Ball, Data
from frankwolfe.experiments.reference import Reference
from frankwolfe.experiments.runner import Results
from frankwolfe.experiments.runs import Run
from frankwolfe.experiments.store import Task

DATASETS = ("mushrooms", "mnist", "covtype")
RADII = {("mushrooms", "l2"): 20.0, ("mushrooms", "l1"): 60.0}
DEFAULT_RADIUS = 60.0
NEIGHBOURS = {
    ("mushrooms", "l2"): (1.0, 5.0, 10.0, 60.0),
    ("mushrooms", "l1"): (1.0, 5.0, 10.0, 20.0),
}
DEFAULT_NEIGHBOURS = (5.0, 20.0)
PAPER = ("gd", "agm", "fw", "afw")
BEYOND = ("fw-short", "fw-line", "afw-line", "afw-2")
ITERATIONS = 500
QUICK_ROWS = {"mushrooms": 0, "mnist": 3000, "covtype": 20000}


def data(name: str, quick: bool) -> Data:
    return Data(name, rows=QUICK_ROWS[name] if quick else 0)


def radius(name: str, kind: str) -> float:
    """Return the radius of the main panel."""
    return RADII.get((name, kind), DEFAULT_RADIUS)


def neighbours(name: str, kind: str, quick: bool) -> tuple[float, ...]:
    """Return the other radii that are run."""
    if quick:
        return NEIGHBOURS[name, kind][1:2] if name == "mushrooms" else ()
    return NEIGHBOURS.get((name, kind), DEFAULT_NEIGHBOURS)


def runs(name: str, ball: Ball, quick: bool) -> list[Run]:
    """Return the runs on one problem; at other than the main radius only AGM, FW and AFW."""
    main = ball.radius == radius(name, ball.kind)
    methods = PAPER + BEYOND if main else PAPER[1:]
    return [Run(data(name, quick), ball, method, ITERATIONS) for method in methods]


def balls(name: str, kind: str, quick: bool) -> list[Ball]:
    return [Ball(kind, r) for r in (radius(name, kind), *neighbours(name, kind, quick))]


def tasks(quick: bool) -> list[Task]:
    out: list[Task] = []
    for name in DATASETS:
        for kind in ("l2", "l1"):
            for ball in balls(name, kind, quick):
                out += [Reference(data(name, quick), ball), *runs(name, ball, quick)]
    return out


def errors(results: Results, name: str, ball: Ball, quick: bool) -> dict[str, float]:
    """Return h at the last iteration, by method."""
    return {run.method: results.series(run).at(ITERATIONS) for run in runs(name, ball, quick)}


def section(results: Results, quick: bool) -> Section:
    panels, extra, rows = [], [], []
    for kind in ("l2", "l1"):
        for name in DATASETS:
            for ball in balls(name, kind, quick):
                main = ball.radius == radius(name, kind)
                series = [results.series(run) for run in runs(name, ball, quick)]
                curves = [error_curve(s, shown=s.run.method in PAPER) for s in series]
                title = f"{data(name, quick).label}, {ball.label}"
                (panels if main else extra).append(Panel(title, curves, floor=series[0].floor))
                rows.append(_row(results, name, ball, quick, main))
    figures = [
        Figure(
            "fig3",
            "l2 balls above, l1 balls below",
            "The paper's four methods; the legend shows short-step and line-search variants. A grey band at the "
            "bottom, "
            "where there is one, marks errors below the certified accuracy of f*. The oracles are closed-form: a pass "
            "over the data is one product with A and one with its transpose, and there are no others.",
            panels,
            3,
        ),
        Figure("fig3-radii", "The same at other radii", "AGM, FW and AFW; nothing but R changes.", extra, 3),
    ]
    head = ["problem", "AGM", "FW", "AFW", "best", "|∇f(x*)|", "μ", "nonzeros of x*", "f* known to"]
    table = Table(
        "fig3-radii", f"f(x) − f* after {ITERATIONS} iterations", head, rows,
        "μ = R λmax(P∇²f(x*)P)/|∇f(x*)| on an active l2 ball predicts how far AFW is ahead of FW there. "
        "A gradient of zero means that the constraint is not active, and the paper's fast rate does not apply. "
        "Main panels are marked with a star.",
    )  # fmt: skip
    intro = (
        "<p>The paper gives no radii and no split seed. Mushrooms: R = 20 (l2) and R = 60 (l1), picked after "
        "scanning 1, 5, 10, 20 and 60 because they give the orders that the text describes; agreement there is by "
        "construction. For mnist and covtype R = 60 is simply where we started, untuned. mnist: pixels/255, digit 4 "
        "against the rest. covtype: a random 70 % of the rows, seed 0. All runs start from zero and use L = "
        "λmax(A'A)/(4n).</p>"
    )
    return Section("fig3", "Figure 3: active constraints", intro, figures, [table])


def _row(results: Results, name: str, ball: Ball, quick: bool, main: bool) -> list[str]:
    h = errors(results, name, ball, quick)
    facts = results.optimum(data(name, quick), ball).facts
    best = min(PAPER[1:], key=lambda m: h[m])
    mu = "" if facts["mu"] is None else f"{facts['mu']:.3g}"
    return [
        f"{'★ ' if main else ''}{data(name, quick).label}, {ball.label}",
        *(f"{h[m]:.2e}" for m in PAPER[1:]),
        METHODS[best].name,
        f"{facts['gradient']:.1e}",
        mu,
        f"{facts['nonzeros']}",
        f"{facts['gap']:.0e}",
    ]

"""New here: the certificate that AFW gets for nothing, next to the true error."""

from __future__ import annotations

from frankwolfe.paper.problems import Ball, Data
from frankwolfe.paper.publication.figure_data import Curve, Panel, Section
from frankwolfe.paper.reference import Reference
from frankwolfe.paper.runner import Results
from frankwolfe.paper.sections.estimate_sequence import Estimate
from frankwolfe.paper.store import Task
from frankwolfe.paper.words import Words
from frankwolfe.plotting.palette import BLUE, GREY, ORANGE, PURPLE

GAUSSIAN = Data("gaussian")
ACTIVE = Estimate(GAUSSIAN, Ball("l2", 5.0), 2000)
SMALL = Estimate(GAUSSIAN, Ball("l2", 0.002), 2000)  # so small that the paper's T is a number one reaches
FACE = Estimate(GAUSSIAN, Ball("l1", 10.0), 2000)
MUSHROOMS = (Estimate(Data("mushrooms"), Ball("l2", 20.0), 1000), Estimate(Data("mushrooms"), Ball("l1", 60.0), 1000))
ALL = (ACTIVE, FACE, *MUSHROOMS)
CURVED = (SMALL, ACTIVE, MUSHROOMS[0])


def tasks(quick: bool) -> list[Task]:
    return [t for e in ALL for t in (Reference(e.data, e.ball), e)]


def ratios(results: Results, estimate: Estimate) -> tuple[float, float]:
    """Return how many times looser than the true error the two gaps are at the end (estimate sequence, tangents)."""
    walk = results[estimate]
    h = max(float(walk["fun"][-1]) - results.optimum(estimate.data, estimate.ball).facts["fun"], 1e-16)
    return float(walk["fun"][-1] - walk["es"][-1]) / h, float(walk["fun"][-1] - walk["fw"][-1]) / h


def section(results: Results, quick: bool) -> Section:
    panels, rows = [], []
    for e in ALL:
        walk, facts = results[e], results.optimum(e.data, e.ball).facts
        x = {"k": walk["k"]}
        panels.append(
            Panel(
                e.title,
                [
                    Curve("true error", x, walk["fun"] - facts["fun"], BLUE, width=2.4),
                    Curve("gap from the estimate sequence", x, walk["fun"] - walk["es"], ORANGE, "dash"),
                    Curve("gap from tangents at yₖ", x, walk["fun"] - walk["fw"], PURPLE, "dot"),
                    Curve("Φₖ* + ξₖ − f(xₖ), never negative", x, -walk["excess"], GREY, "dashdot", 1.4),
                ],
                ylabel="f(x) − bound",
                floor=facts["gap"],
            )
        )
        es, tangents = ratios(results, e)
        ends = f"{walk['fun'][-1] - facts['fun']:.1e}", f"{es:.3g} times", f"{tangents:.3g} times"
        rows.append([e.title, *ends, f"{results[e].facts['worst_excess']:.1e}"])
    words = Words("certificates")
    figure = words.figure("certificates", panels, 2, ("k",))
    return words.section([figure], [words.table("certificates", rows)])

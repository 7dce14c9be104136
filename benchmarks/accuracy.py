"""Time to a certified accuracy, next to the peers that solve the same problem in penalised form: bars 2 and 3.

python -m benchmarks.accuracy [--quick]

`auto` stops when its certificate says that the relative error, (f - f*)/(f(0) - f*), is at most 1e-6. A peer is given
the penalty whose solution is ours, and stops at the loosest setting at which its own objective is within the same
relative error, which we look for: a help that no user has. Seconds are medians of interleaved repeats, conversions and
validation included (skglm and celer get their data by columns, converted beforehand). A peer that takes many times as
long as `auto` is given up and shown with a lower bound.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

import frankwolfe as fw
from benchmarks import peers
from benchmarks.report import command_line, held_to
from benchmarks.unseen import Case, Name

RELATIVE = 1e-6
CASES = (
    ("mushrooms", "l2", 20.0),
    ("a9a", "l2", 10.0),
    ("covtype", "l2", 10.0),
    ("mnist", "l2", 10.0),
    ("rcv1 shape", "l2", 30.0),
    ("news20 shape", "l2", 30.0),
    ("mushrooms", "l1", 60.0),
    ("a9a", "l1", 20.0),
    ("rcv1 shape", "l1", 100.0),
    ("rcv1 shape", "l1", 1000.0),
)
QUICK = tuple(case for case in CASES if case[0] in ("mushrooms", "a9a") or case[1:] == ("l1", 100.0))
BARS = {("news20 shape", "l2"): 2.0, ("rcv1 shape", "l2"): None}  # ahead of the best peer; one where nothing is said
SOLVERS = {
    "l2": ("lbfgs", "newton-cholesky", "newton-cg", "liblinear"),
    "l1": ("liblinear", "saga", "skglm", "celer"),
}
HOPELESS = 15.0  # times as long as `auto`: a peer behind by more is not the best one
CLOSE = 2.0  # times as long as the best peer: a peer behind by more is timed once
PATIENCE, LONGEST = 0.5, 5.0  # seconds that every peer is given, and that it is given at most


class Timed(Case):
    """One problem: data, ball, the reference solution, and the peers with the penalty that has the same one."""

    limits: Mapping[str, int] = {}

    def __init__(self, name: str, norm: str, radius: float) -> None:
        super().__init__(Name(name, "logistic", norm, 1.0, False), peers.load(name))
        self.radius, self.title = radius, f"{name}, {norm} ball R={radius:g}"
        f = fw.Logistic(self.A, self.b)
        best = fw.minimize(f, self.domain(radius), tol=1e-9 * self.start)
        self.value = best.fun
        self.match(np.asarray(f.grad(best.x)), radius)
        self.solvers = {name: fit for name, fit in self.peers().items() if name in SOLVERS[norm]}
        self.best = self.penalised(best.x, 0.0)

    def error(self, found: tuple[np.ndarray, float]) -> float:
        """Return the relative error of a peer in its own problem."""
        return (self.penalised(*found) - self.best) / (self.start - self.best)

    def ours(self, relative: float = RELATIVE) -> fw.Result:
        tol = relative * (self.start - self.value)
        result = fw.minimize(fw.Logistic(self.A, self.b), self.domain(self.radius), tol=tol, progress=False)
        assert result.success, result.message
        return result


def race(case: Timed, repeats: int) -> tuple[dict[str, float], dict[str, float], fw.Result, dict[str, list]]:
    """Return median seconds of those who arrived, lower bounds of the others, our result, and everybody's way there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # peers warn about tolerances; we judge by the error reached
        case.ours()  # compiled and warm, as the peers are after their search for a setting
        result = case.ours()
        allowed = max(min(HOPELESS * result.time, LONGEST), 3 * result.time, PATIENCE)
        found = {name: peers.fastest(solve, case.error, RELATIVE, allowed) for name, solve in case.solvers.items()}
        arrived = {name: search.seconds for name, search in found.items() if search.setting is not None}
        least = min(arrived.values(), default=0.0)
        settings = {n: s.setting for n, s in found.items() if s.setting is not None and s.seconds <= CLOSE * least}
        solvers = {name: partial(case.solvers[name], setting) for name, setting in settings.items()}
        times = {"auto": [], **{name: [] for name in solvers}}
        for _ in range(repeats):
            for name, each in times.items():
                began = time.perf_counter()
                solvers.get(name, case.ours)()
                each.append(time.perf_counter() - began)
    medians = arrived | {name: float(np.median(each)) for name, each in times.items()}
    ways = {"auto": path(result, case)} | {name: search.way for name, search in found.items()}
    return medians, {name: s.seconds for name, s in found.items() if name not in arrived}, result, ways


def path(result: fw.Result, case: Timed) -> list[list[float]]:
    """Return seconds and relative error along a run of ours, as certified at each step."""
    gaps = (np.minimum.accumulate(result.trace.fun) - result.trace.lower_bound) / (case.start - case.value)
    points = [[float(t), float(e)] for t, e in zip(result.trace.time, gaps, strict=True)]
    return [point for i, point in enumerate(points) if i == 0 or point[1] < 0.999 * points[i - 1][1]]


def copt_bar(case: Timed, allowed: float) -> tuple[float, str]:
    """Return how far ahead of plain Frank-Wolfe we are at a relative error of 1e-3, and what was measured."""
    goal = case.value + 1e-3 * (case.start - case.value)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        case.ours(1e-3)
        times.append(time.perf_counter() - began)
    ours = float(np.median(times))
    theirs = {
        rule: peers.plain_frank_wolfe(case.A, case.b, case.radius, rule, goal, allowed) for rule in ("DR", "adaptive")
    }
    least = min(min(theirs.values()), allowed)
    shown = ", ".join(f"{rule} {_seconds(s, allowed)}" for rule, s in theirs.items())
    ahead = f"{'' if min(theirs.values()) <= allowed else 'more than '}{least / ours:.0f} times"
    return least / ours, f"plain Frank-Wolfe to 1e-3, {case.title}: {shown}; auto {ours:.3f} s, {ahead} ahead"


def measure(quick: bool) -> dict[str, Any]:
    """Race `auto` against the peers on every problem."""
    rows, bars, notes, curves = [], [], [], []
    for name, norm, radius in QUICK if quick else CASES:
        case = Timed(name, norm, radius)
        few = quick or name in ("covtype", "mnist", "news20 shape")
        medians, given_up, result, ways = race(case, 3 if few else 7)
        ours = medians["auto"]
        for peer, seconds in sorted(medians.items(), key=lambda item: item[1]):
            label = f"auto ({result.method})" if peer == "auto" else peer
            rows.append([case.title, label, seconds, seconds / ours])
        for peer, seconds in sorted(given_up.items()):
            rows.append([case.title, peer, f"> {seconds:.2g}", f"> {seconds / ours:.1f}"])
        curves.append({"title": case.title, "x": "seconds", "y": "relative error", "series": ways})
        bars += judged(case, medians, given_up)
        if norm == "l1" and radius != 1000.0:
            ratio, note = copt_bar(case, 1.0 if quick else 6.0)
            bars.append(held_to(f"3: ahead of plain Frank-Wolfe (copt's rules) at 1e-3, {name}", ratio, 15.0))
            notes.append(note)
    notes.append("copt cannot be installed here: its Frank-Wolfe is reproduced in benchmarks/peers.py, in plain SciPy")
    notes.append("curves: auto by its certificate at every step, peers by the true error at every setting tried")
    return {
        "title": f"Seconds to a relative error of {RELATIVE:g}, logistic regression",
        "columns": ["problem", "solver", "seconds", "times auto"],
        "rows": rows,
        "bars": bars,
        "curves": curves,
        "notes": notes,
    }


def judged(case: Timed, medians: dict[str, float], given_up: dict[str, float]) -> list[dict[str, Any]]:
    """Return the bars of one problem."""
    ours, least = medians["auto"], BARS.get((case.name.data, case.name.kind), 1.0)
    if least is None:
        return []
    theirs = {peer: seconds for peer, seconds in (medians | given_up).items() if peer != "auto"}
    if least > 1:
        return [held_to(f"2: ahead of L-BFGS, {case.title}", theirs["lbfgs"] / ours, least)]
    best = min(theirs, key=lambda peer: theirs[peer])
    number = 2 if case.name.kind == "l2" else 3
    return [held_to(f"{number}: {case.title}, best peer ({best}) over auto", theirs[best] / ours, least)]


def _seconds(seconds: float, allowed: float) -> str:
    return f"{seconds:.2f} s" if np.isfinite(seconds) else f"> {allowed:g} s"


if __name__ == "__main__":
    command_line(measure)

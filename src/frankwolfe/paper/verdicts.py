"""Verdicts: computed from measured numbers, never typed by hand, and only where the claim's hypotheses hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.paper.rates import Slope
from frankwolfe.paper.runner import Results

HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"
UNDECIDED, OUTSIDE, UNKNOWN = "not decided", "not applicable", "not run"
KINDS = (HOLDS, PARTLY, FAILS, UNDECIDED, OUTSIDE, UNKNOWN)

FAST = -1.7
"""A slope at or below this counts as 1/k² up to logarithms: (ln k)/k² itself has -1.85 between 300 and 3000."""

ROUNDING = 1e-12


class Case(NamedTuple):
    """One setting in which a claim was tried: what its hypothesis asks there, what was measured, the verdict."""

    name: str
    verdict: str
    measured: str
    hypothesis: str = ""


class Found(NamedTuple):
    """What was found about a claim: the cases, what its texts are filled in with, and the verdict where the cases alone
    do not give it."""

    cases: Sequence[Case]
    values: dict[str, Any]
    verdict: str = ""


Judge = Callable[[Results, bool], Found]


def across(verdicts: Sequence[str]) -> str:
    """Return the verdict on a claim from those on its cases; cases outside its hypotheses do not count."""
    inside = {v for v in verdicts if v not in (OUTSIDE, UNKNOWN)}
    if not inside:
        return OUTSIDE if OUTSIDE in verdicts else UNKNOWN
    return inside.pop() if len(inside) == 1 else PARTLY if inside & {HOLDS, PARTLY} else FAILS


def counted(cases: Sequence[Case]) -> str:
    """Return how many of the cases that apply hold."""
    inside = [c for c in cases if c.verdict not in (OUTSIDE, UNKNOWN)]
    return f"{sum(c.verdict == HOLDS for c in inside)} of {len(inside)} cases"


def listed(cases: Sequence[Case], *kinds: str) -> str:
    """Return the names of the cases with these verdicts, those that differ in their radius alone as one."""
    radii: dict[str, list[str]] = {}
    for name, _, radius in (c.name.partition(" R = ") for c in cases if c.verdict in kinds):
        radii.setdefault(name, []).append(radius)
    return "; ".join(f"{name} R = {', '.join(r)}" if r[0] else name for name, r in radii.items())


def verdict(true: bool | np.bool_, applies: bool = True) -> str:
    """Return the verdict of a plain yes or no, if the hypothesis is met."""
    return OUTSIDE if not applies else HOLDS if true else FAILS


def speed(fit: Slope) -> str:
    """Return the verdict on "1/k² up to logarithms" from a slope with its interval.

    One that could not be measured means an error at the accuracy of f*: faster than any power.
    """
    return HOLDS if np.isnan(fit.value) or fit.high <= FAST else FAILS if fit.low > FAST else UNDECIDED


def stretches(k: np.ndarray, true: np.ndarray) -> list[tuple[int, int]]:
    """Return the ranges of k in which something is true, each as its first and last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], np.asarray(true, dtype=bool), [False]]).astype(int)))
    return [(int(k[first]), int(k[last - 1])) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def ordering(k: np.ndarray, true: np.ndarray) -> tuple[str, str]:
    """Return the verdict on an ordering of curves, and the ranges of k in which it is seen.

    It holds if it is there from a tenth of the run at the latest to its end, and does not if it is there in less than
    a tenth of all k; anything between holds in part, and the range says where.
    """
    ranges = stretches(k, true)
    first, last = int(k[0]), int(k[-1])
    if not ranges:
        return FAILS, "no k"
    if ranges == [(first, last)]:
        return HOLDS, "every k"
    shown = sorted(sorted(ranges, key=lambda r: r[0] - r[1])[:3])
    more = len(ranges) - len(shown)
    text = " and ".join(_range(a, b, first, last) for a, b in shown)
    text += f" (and {more} shorter range{'s' * (more > 1)})" * (more > 0)
    if ranges[-1][1] == last and ranges[-1][0] <= max(last // 10, 2):
        return HOLDS, text
    return (PARTLY if float(np.mean(true)) >= 0.1 else FAILS), text


def _range(a: int, b: int, first: int, last: int) -> str:
    return f"k = {a}" if a == b else f"k ≥ {a}" if b == last else f"k ≤ {b}" if a == first else f"{a} ≤ k ≤ {b}"


def spread_of(values: Sequence[float], digits: int = 2) -> str:
    """Return the range of some numbers in words."""
    low, high = (f"{v:.{digits}g}" for v in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"

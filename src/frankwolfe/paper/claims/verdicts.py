"""Verdicts: computed from measured numbers, never typed by hand, and only where the claim's hypotheses hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.paper.runner import Results

HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"
UNDECIDED, OUTSIDE, UNKNOWN = "not decided", "not applicable", "not run"
KINDS = (HOLDS, PARTLY, FAILS, UNDECIDED, OUTSIDE, UNKNOWN)


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
    """Return the verdict on a claim from those on its cases; cases outside its hypotheses do not count.

    Examples
    --------
    >>> across([HOLDS, OUTSIDE]), across([HOLDS, FAILS]), across([UNDECIDED, FAILS])
    ('holds', 'holds in part', 'does not hold')
    >>> across([OUTSIDE]), across([]), across([HOLDS, UNDECIDED])
    ('not applicable', 'not run', 'holds in part')
    """
    if not verdicts:
        return UNKNOWN
    inside = [v for v in verdicts if v not in (OUTSIDE, UNKNOWN)]
    if not inside:
        return OUTSIDE if OUTSIDE in verdicts else UNKNOWN
    if all(v == inside[0] for v in inside):
        return inside[0]
    if any(v in (HOLDS, PARTLY) for v in inside):
        return PARTLY
    return FAILS


def counted(cases: Sequence[Case]) -> str:
    """Return how many of the cases that apply hold."""
    inside = [c for c in cases if c.verdict not in (OUTSIDE, UNKNOWN)]
    return f"{sum(c.verdict == HOLDS for c in inside)} of {len(inside)} cases"


def listed(cases: Sequence[Case], *kinds: str) -> str:
    """Return the names of the cases with these verdicts, those that differ in their radius alone as one.

    Examples
    --------
    >>> cases = [Case("a9a l2 R = 5", HOLDS, ""), Case("mnist l1 R = 1", FAILS, ""), Case("a9a l2 R = 20", HOLDS, "")]
    >>> listed(cases, HOLDS)
    'a9a l2 R = 5, 20'
    """
    radii: dict[str, list[str]] = {}
    for name, _, radius in (c.name.partition(" R = ") for c in cases if c.verdict in kinds):
        radii.setdefault(name, []).append(radius)
    return "; ".join(f"{name} R = {', '.join(r)}" if r[0] else name for name, r in radii.items())


def verdict(true: bool | np.bool_) -> str:
    """Return the verdict of a plain yes or no."""
    return HOLDS if true else FAILS


def at_most(low: float, high: float, limit: float) -> str:
    """Return the verdict on "at most `limit`" of a number known up to an interval.

    Examples
    --------
    >>> at_most(-2.1, -1.9, -1.7), at_most(-2.48, -1.47, -1.7), at_most(-1.2, -0.8, -1.7)
    ('holds', 'not decided', 'does not hold')
    """
    return HOLDS if high <= limit else FAILS if low > limit else UNDECIDED


def stretches(k: np.ndarray, true: np.ndarray) -> list[tuple[int, int]]:
    """Return the ranges of k in which something is true.

    Examples
    --------
    >>> stretches(np.arange(6), np.array([False, True, True, False, True, True]))
    [(1, 2), (4, 5)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], np.asarray(true, dtype=bool), [False]]).astype(int)))
    return [(int(k[first]), int(k[last - 1])) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def ordering(k: np.ndarray, true: np.ndarray) -> tuple[str, str]:
    """Return the verdict on an ordering of curves, and the ranges of k in which it is seen.

    It holds if it is there from a tenth of the run at the latest to its end, and does not if it is there in less than
    a tenth of all k; anything between holds in part, and the range says where.

    Examples
    --------
    >>> k = np.arange(1, 501)
    >>> ordering(k, k >= 20), ordering(k, k >= 300), ordering(k, k < 10)
    (('holds', 'k ≥ 20'), ('holds in part', 'k ≥ 300'), ('does not hold', 'k ≤ 9'))
    >>> ordering(k, k > 0), ordering(k, k > 600)
    (('holds', 'every k'), ('does not hold', 'no k'))
    """
    ranges = stretches(k, true)
    first, last = int(k[0]), int(k[-1])
    if not ranges:
        return FAILS, "no k"
    if ranges == [(first, last)]:
        return HOLDS, "every k"
    shown = sorted(sorted(ranges, key=lambda r: r[0] - r[1])[:3])
    words = [_range(a, b, first, last) for a, b in shown]
    more = len(ranges) - len(shown)
    text = " and ".join(words) + (f" (and {more} shorter range{'s' * (more > 1)})" if more else "")
    if ranges[-1][1] == last and ranges[-1][0] <= max(last // 10, 2):
        return HOLDS, text
    return (PARTLY if float(np.mean(true)) >= 0.1 else FAILS), text


def _range(a: int, b: int, first: int, last: int) -> str:
    if a == b:
        return f"k = {a}"
    return f"k ≥ {a}" if b == last else f"k ≤ {b}" if a == first else f"{a} ≤ k ≤ {b}"


def spread_of(values: Sequence[float], digits: int = 2) -> str:
    """Return the range of some numbers in words.

    Examples
    --------
    >>> spread_of([1.82, 2.5])
    '1.8 to 2.5'
    """
    low, high = (f"{v:.{digits}g}" for v in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"

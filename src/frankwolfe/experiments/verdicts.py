"""Verdicts: computed from measured numbers, never typed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

HOLDS, PARTLY, FAILS, UNKNOWN = "holds", "holds only for", "does not hold", "not run"


class Verdict(NamedTuple):
    """One of the four kinds, with what it is limited to."""

    kind: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.detail}".strip()


class Judged(NamedTuple):
    """What was measured, in which setting, and the verdict."""

    measured: str
    setting: str
    verdict: Verdict


def across(cases: Mapping[str, bool]) -> Verdict:
    """Return the verdict on a claim that was tried in several cases.

    Examples
    --------
    >>> str(across({"l2": True, "l1": True}))
    'holds'
    >>> str(across({"l2": True, "l1": False}))
    'holds only for l2 (1 of 2)'
    >>> str(across({"l2": False}))
    'does not hold'
    """
    if not cases:
        return Verdict(UNKNOWN)
    good = [name for name, true in cases.items() if true]
    if len(good) == len(cases):
        return Verdict(HOLDS)
    if not good:
        return Verdict(FAILS)
    return Verdict(PARTLY, f"{', '.join(good)} ({len(good)} of {len(cases)})")


def single(true: bool, detail: str = "") -> Verdict:
    """Return the verdict on a claim with one case."""
    return Verdict(HOLDS if true else FAILS, detail)


def ordered(h: Mapping[str, float], *chain: str) -> bool:
    """Tell whether errors grow strictly along a chain of methods.

    Examples
    --------
    >>> ordered({"agm": 1e-5, "afw": 1e-4, "fw": 1e-3}, "agm", "afw", "fw")
    True
    """
    return all(h[a] < h[b] for a, b in pairwise(chain))


def near(measured: float, expected: float, tolerance: float) -> bool:
    """Tell whether a number is within a relative tolerance of what was expected."""
    return abs(measured - expected) <= tolerance * abs(expected)


def spread_of(values: list[float], digits: int = 2) -> str:
    """Return the range of some numbers in words.

    Examples
    --------
    >>> spread_of([1.82, 2.5])
    '1.8 to 2.5'
    """
    low, high = (f"{v:.{digits}g}" for v in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"

"""Step sizes, as objects: how far to go from x towards v."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from frankwolfe.backends import Scalar
from frankwolfe.methods.base import Method, require_smoothness
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.validation import nonnegative, positive

SHORTEST = 1e-15  # step at which a search gives up: beside x it is rounding
FIRST_PROBE = 1e-3  # of the way, where curvature is first measured
NO_GAP = 1e-12  # of the curvature, below which a gap shifts a schedule no further


class StepSize(ABC):
    """A rule for the step; what it remembers from step to step is passed in and out."""

    in_arrays: ClassVar[bool] = False
    """Whether the step may be an array on a device, which nobody has looked at."""

    open_loop: ClassVar[bool] = False
    """Whether the steps are fixed in advance."""

    @property
    def schedule(self) -> OpenLoop | None:
        """The rule itself where it does not look at f; None elsewhere."""
        return None

    def check(self, method: Method, problem: Problem) -> None:  # noqa: B027  most rules need nothing
        """Raise an error that teaches if the rule does not apply to the problem."""

    def init(self) -> Any:
        """Return what the rule remembers before the first step."""
        return None

    @abstractmethod
    def choose(
        self, problem: Problem, k: int, x: Point, v: Point, value: Scalar, gap: Scalar, memory: Any, cap: float = 1.0
    ) -> tuple:
        """Return (delta, memory) for the direction v - x, with f(x) = value and <-grad, v - x> = gap.

        The step lies in [0, cap]; a cap above one goes beyond v (an away step may).
        """


@dataclass(frozen=True)
class OpenLoop(StepSize):
    """delta_k = 2/(k + offset + shift): no constants, no line search.

    Parameters
    ----------
    offset : float, default 2
        Two for Frank-Wolfe, three in the accelerated method's paper.
    shift : float, default 0
        How many steps a warm start is worth; see Notes.

    Notes
    -----
    From a point with certified gap G the right shift is 2LD²/G [1]_: with shift zero the first step of an open-loop
    method throws the starting point away.

    References
    ----------
    .. [1] R. M. Freund and P. Grigas, New analysis and results for the Frank-Wolfe method, Math. Program. 155, 2016.

    Examples
    --------
    >>> [OpenLoop(offset=3)(k) for k in range(3)]
    [0.666..., 0.5, 0.4]
    """

    in_arrays: ClassVar[bool] = True
    open_loop: ClassVar[bool] = True
    offset: float = 2.0
    shift: float = 0.0

    @property
    def schedule(self) -> OpenLoop:
        """The rule itself."""
        return self

    def __post_init__(self) -> None:
        if not self.offset >= 2:
            raise ValueError(f"offset must be at least 2 so that steps stay in [0, 1], got {self.offset!r}")
        nonnegative("shift", self.shift)

    def __call__(self, k: int) -> float:
        return 2.0 / (k + self.offset + self.shift)

    def choose(
        self, problem: Problem, k: int, x: Point, v: Point, value: Scalar, gap: Scalar, memory: Any, cap: float = 1.0
    ) -> tuple:
        return (self(k) if cap >= 1 else min(self(k), cap)), None


@dataclass(frozen=True)
class Averaging(StepSize):
    """delta_k = 1/(k+1): the iterate is the mean of all vertices so far, and the start is forgotten."""

    open_loop: ClassVar[bool] = True

    def __call__(self, k: int) -> float:
        return 1.0 / (k + 1)

    def choose(
        self, problem: Problem, k: int, x: Point, v: Point, value: Scalar, gap: Scalar, memory: Any, cap: float = 1.0
    ) -> tuple:
        return min(self(k), cap), None


def warm_shift(gap: float, curvature: float) -> float:
    """Return the shift 2LD²/G of an open-loop schedule that starts from a certified gap G."""
    return 2 * curvature / max(gap, NO_GAP * curvature) if curvature > 0 else 0.0


@dataclass(frozen=True)
class ShortStep(StepSize):
    """Minimise the quadratic upper bound along the segment: delta = min(gap/(L|v - x|²), 1).

    Parameters
    ----------
    L : float, optional
        Smoothness constant; the objective's own by default.

    References
    ----------
    .. [1] V. F. Demyanov and A. M. Rubinov, Approximate Methods in Optimization Problems, 1970.
    """

    L: float | None = None

    def __post_init__(self) -> None:
        if self.L is not None:
            positive("L", self.L)

    def check(self, method: Method, problem: Problem) -> None:
        require_smoothness(method, problem, self.L)

    def choose(
        self, problem: Problem, k: int, x: Point, v: Point, value: Scalar, gap: Scalar, memory: Any, cap: float = 1.0
    ) -> tuple:
        L = problem.smoothness if self.L is None else self.L
        assert L is not None, "checked by the method"
        length2 = float(problem.distance2(x, v))
        return clipped(float(gap), L * length2, cap), None


@dataclass(frozen=True)
class Backtracking(StepSize):
    """Short steps with the local curvature found on the way; no constant needed.

    Parameters
    ----------
    grow, shrink : float, default 2 and 0.9
        Factors by which the estimate rises, at most, when a step fails, and may fall before the next.

    Notes
    -----
    The estimate follows [1]_, but for its first rise, which is to the curvature that the failed trial has shown where
    that is less: on a quadratic the step is then that of an exact line search.

    References
    ----------
    .. [1] F. Pedregosa, G. Negiar, A. Askari and M. Jaggi, Linearly convergent Frank-Wolfe with backtracking
       line-search, AISTATS 2020.
    """

    grow: float = 2.0
    shrink: float = 0.9

    def __post_init__(self) -> None:
        if not (self.grow > 1 and 0 < self.shrink <= 1):
            raise ValueError(f"need grow > 1 and 0 < shrink <= 1, got {self.grow!r} and {self.shrink!r}")

    def choose(
        self, problem: Problem, k: int, x: Point, v: Point, value: Scalar, gap: Scalar, memory: Any, cap: float = 1.0
    ) -> tuple:
        value, gap, length2 = float(value), float(gap), float(problem.distance2(x, v))
        if not 0 < gap < math.inf or length2 == 0:
            return 0.0, memory
        # `bend` is the curvature of f along the segment, the estimate times its squared length.
        if memory is None or length2 == math.inf:
            bend = self._first(problem, x, v, value, gap, cap)
        else:
            estimate, before = memory
            fall = before - value
            bend = estimate * length2
            if fall > 0:
                bend = min(max(gap * (gap / (2 * fall)), self.shrink * bend), bend)
        bend, rounding, tries = max(bend, sys.float_info.min), 8 * problem.eps * abs(value), 0
        while True:
            problem.tick()
            delta = clipped(gap, bend, cap)
            bound = value - delta * gap + 0.5 * delta * delta * bend
            ahead = float(problem.value(problem.mix(x, v, delta)))
            if ahead <= bound + rounding or delta < SHORTEST:
                return delta, (bend / length2, value) if length2 < math.inf else memory
            if not math.isfinite(ahead):  # outside the domain of f: half as far
                bend = 2 * gap / delta
                continue
            # The parabola through what is known is steeper than the estimate; where that is not enough, it grows.
            steeper = 2 * (ahead - value + delta * gap) / (delta * delta) if tries == 0 else math.inf
            bend, tries = min(steeper, self.grow * bend), tries + 1

    @staticmethod
    def _first(problem: Problem, x: Point, v: Point, value: float, gap: float, cap: float) -> float:
        """Return a first estimate of the curvature along the segment, from a short way along it."""
        probe = min(FIRST_PROBE, cap)
        ahead = float(problem.value(problem.mix(x, v, probe)))
        while not math.isfinite(ahead) and probe > SHORTEST:
            probe = 0.5 * probe
            ahead = float(problem.value(problem.mix(x, v, probe)))
        curved = 2 * (ahead - value + probe * gap) / (probe * probe)
        return curved if 0 < curved < math.inf else gap


@dataclass(frozen=True)
class ExactLineSearch(StepSize):
    """Go to the minimiser on the segment: by the image, without a read of the data, where the objective has one."""

    in_arrays: ClassVar[bool] = True

    def choose(
        self, problem: Problem, k: int, x: Point, v: Point, value: Scalar, gap: Scalar, memory: Any, cap: float = 1.0
    ) -> tuple:
        return problem.line_search(x, v, cap, look=cap != 1), None  # a cap is compared with, to the last digit


def clipped(gap: float, curvature: float, cap: float) -> float:
    """Return gap/curvature clipped to [0, cap]."""
    if gap <= 0:
        return 0.0
    return min(gap / curvature, cap) if cap * curvature > gap else cap

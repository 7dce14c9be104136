"""What a loss is: a convex function of one margin and one target. It knows no data, no weights and no device."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from frankwolfe.backends.namespace import Array, namespace, nonzero, vdot


class Loss(ABC):
    """A convex, differentiable function φ of a margin m, for a target b.

    A loss is a named tuple of its parameters (at most two): ``class Huber(Loss, namedtuple("Huber", "delta"))``. Its
    formulae `value`, `slope` and `curvature` are static, take margin, target and the parameters, and are written in
    plain arithmetic, `abs` and the functions of `backends/elementary.py`. Arrays of any library run them as they
    stand; Numba and Triton compile the same source, inlined into their loops. Constants in a formula are numbers that
    single precision holds exactly, such as 0.5.

    For the rounding of certificates (docs/certificates.md) a loss states numbers with φ >= 0 up to its `constant` and

        |φ'| <= sqrt(2 bend φ) + steep φ,

    which holds with `steep` zero where φ'' <= bend everywhere.
    """

    __slots__ = ()

    name: ClassVar[str]
    """What estimators and the command line call it."""

    labels: ClassVar[bool] = False
    """Whether targets are two labels, -1 and 1."""

    residual: ClassVar[bool] = False
    """Whether φ depends on m - b alone, and is least where that is zero."""

    quadratic: ClassVar[bool] = False
    """Whether φ'' is one number everywhere."""

    bounded: ClassVar[bool] = True
    """Whether φ'' has a bound, `bend`, whatever the margin."""

    steep: ClassVar[float] = 0.0
    unit: ClassVar[float] = 0.0
    """The value of a row is right to ulps of itself and of so much."""

    if TYPE_CHECKING:  # as of any named tuple

        def __iter__(self) -> Iterator[float]: ...

    def __eq__(self, other: object) -> bool:  # tuples of the same numbers are equal, losses are not
        return type(self) is type(other) and tuple(self) == tuple(other)  # pyright: ignore[reportArgumentType]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), *self))  # pyright: ignore[reportGeneralTypeIssues]

    @staticmethod
    @abstractmethod
    def value(m: Any, b: Any, *parameters: float) -> Any:
        """Return φ(m), up to `constant`."""

    @staticmethod
    @abstractmethod
    def slope(m: Any, b: Any, *parameters: float) -> Any:
        """Return φ'(m)."""

    @staticmethod
    @abstractmethod
    def curvature(m: Any, b: Any, *parameters: float) -> Any:
        """Return φ''(m)."""

    @abstractmethod
    def conjugate(self, u: Array, b: Array) -> Array:
        """Return the largest um - value(m) over all m, for slopes u that the loss can have."""

    @staticmethod
    def mean(m: Array) -> Array:
        """Return what a margin predicts: the inverse of the link."""
        return m

    def targets(self, b: np.ndarray) -> np.ndarray:
        """Return the targets as the formulae take them, or raise a ValueError that says what is allowed."""
        return b

    def constant(self, b: np.ndarray) -> np.ndarray | float:
        """Return what makes the least value of a row zero, of numbers: it is added once, not at every margin."""
        return 0.0

    def bend(self, largest: float) -> float:
        """Return the number `bend` above, for targets of at most this size."""
        return 1.0

    def steepest(self, margin: float, largest: float) -> float:
        """Return the largest φ'' at margins of at most this size, with targets of at most that size."""
        return self.bend(largest)

    def scale(self, norm: float) -> float:
        """Return how much a margin of one adds to the terms of a value, for targets of this root mean square."""
        return 0.0

    @property
    def knee(self) -> float:
        """How far a margin may move while the curvature stays about the same: nowhere, where it jumps."""
        return 1.0

    def totals(self, b: np.ndarray, share: np.ndarray) -> tuple[float, ...]:
        """Return numbers that add up over rows, for `level`."""
        return ()

    def level(self, *totals: float) -> float:
        """Return the best intercept of margins that are all zero, where `bracket` needs it."""
        return 0.0

    def spread(self, b: np.ndarray) -> float:
        """Return a bound on the best intercept of margins that are all zero, but for the logarithm of a weight."""
        return float(np.max(np.abs(b)))

    def bracket(self, m: Array, b: Array, share: Array, level: float) -> tuple[float, float, float]:
        """Return a lower bound, a guess and an upper bound of the best intercept for margins m."""
        # At the ends every row has its margin on the same side of its target.
        missing, xp = b - m, namespace(m)
        return float(xp.min(missing)), float(vdot(share, missing)), float(xp.max(missing))

    def intercept(self, m: Array, b: Array, share: Array, level: float) -> float | None:
        """Return the best intercept where there is a formula, None elsewhere."""
        return None

    def tail(self, m: Array, b: Array) -> Array | None:
        """Return φ'²/φ'' for losses with exponential tails, of which the logarithm of a sum is nearly linear."""
        return None


def class_weights(b: np.ndarray, share: np.ndarray) -> tuple[float, float]:
    """Return the weights of the labels 1 and -1."""
    return float(vdot(share, 0.5 * (1 + b))), float(vdot(share, 0.5 * (1 - b)))


def both(above: float, below: float) -> tuple[float, float]:
    """Return the weights of two labels, or say that an intercept needs both."""
    if not min(above, below) > 0:
        raise ValueError("intercept=True needs samples of both classes with a positive sample_weight")
    return above, below


def spread(m: Array, level: float) -> tuple[float, float, float]:
    """Return the bracket of an intercept that brings equal margins to a level: between those of the ends."""
    xp = namespace(m)
    ends = (m.min(), m.mean(), m.max()) if isinstance(m, np.ndarray) else (xp.min(m), xp.mean(m), xp.max(m))
    high, middle, low = (level - float(x) for x in ends)
    return low, middle, high


def log_mean_exp(t: Array, share: Array) -> float:
    """Return the logarithm of the weighted mean of exp(t), whatever the size of t."""
    xp = namespace(t)
    top = float(xp.max(xp.where(share > 0, t, xp.full_like(t, -np.inf))))
    return top + float(np.log(float(vdot(share, xp.exp(xp.minimum(t - top, xp.zeros_like(t)))))))


def times_log(p: Array) -> Array:
    """Return p log p, zero at zero."""
    return p * namespace(p).log(nonzero(p))

"""Balls of total variation: signals and images that jump little."""

from __future__ import annotations

import math
from dataclasses import dataclass

import array_api_compat
import numpy as np

from frankwolfe.atoms import Dense
from frankwolfe.backends import Array, Scalar, all_finite, eps, largest, namespace, scaled
from frankwolfe.sets.base import Ball, LinearMinimum, ProvenSet, known_shape
from frankwolfe.sets.norm_balls.ratio_cuts import Cut, best_ratio_cut
from frankwolfe.sets.norms import above, norm, slack


@dataclass(frozen=True)
class TotalVariationBall(Ball, ProvenSet):
    """Zero-mean signals (1-D) or images (2-D) with total variation at most `radius`.

    Total variation is the sum of absolute differences between neighbours; for an image, between neighbours in a row and
    in a column (the anisotropic form). Without the zero mean the set would be unbounded: constants have no variation.

    Parameters
    ----------
    radius : float
        Positive radius.

    Notes
    -----
    For a signal the atoms have a single jump, found from one running sum in O(n), in every array namespace.

    For an image an atom is constant on some region S and on its complement, and the oracle maximises g(S) / Per(S) over
    regions for the centred direction: Dinkelbach's method [1]_ [2]_ with one minimum cut for each guess of the ratio (a
    handful). It is exact but far costlier than one pass, and is for NumPy arrays only. Cuts are by PyMaxflow where it
    is installed (``pip install "frankwolfe[tv]"``); otherwise one linear programme is solved by HiGHS, more slowly.

    References
    ----------
    .. [1] W. Dinkelbach, "On nonlinear fractional programming", Management Science 13, 1967.
    .. [2] A. Chambolle, V. Duval, G. Peyre, C. Poon, "Geometric properties of solutions to the total variation
       denoising problem", Inverse Problems 33, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> TotalVariationBall(4.0).lmo(np.array([1.0, 1.0, -1.0, -1.0])).toarray()
    array([-2., -2.,  2.,  2.])
    """

    def slow_oracle(self, shape: tuple[int, ...]) -> bool:
        return len(shape) > 1  # a flow on the image

    def minimum(self, g: Array) -> LinearMinimum:
        """Return an atom with its value, and a lower bound that allows for the rounding of cuts and running sums."""
        if _is_image(g):
            region, perimeter, bound = _best_region(g)
            v = region.astype(g.dtype if g.dtype.kind == "f" else np.float64)
            atom = Dense((-self.radius / perimeter) * (v - float(np.mean(region))))
            return LinearMinimum(atom, atom.inner(g), -self.radius * bound)
        xp, n = namespace(g), math.prod(g.shape)
        if n == 1:
            return LinearMinimum(Dense(xp.zeros_like(g)), 0.0, 0.0)
        sums, room, unit = _running_sums(g)
        i = int(xp.argmax(xp.abs(sums)))
        behind = xp.arange(n, device=array_api_compat.device(g)) > i
        step = xp.astype(behind, g.dtype) - (n - 1 - i) / n
        jump = self.radius * xp.where(sums[i] >= 0, xp.ones_like(step[i]), -xp.ones_like(step[i]))
        atom = Dense(xp.reshape(jump * step, tuple(g.shape)))
        return LinearMinimum(atom, atom.inner(g), -self.radius * unit * (xp.abs(sums[i]) + room))

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the exact diameter: twice the norm of the atom that cuts the longer side in half."""
        sides = sorted(known_shape(self, shape))
        short, long = (1, *sides)[-2:]
        return 2 * self.radius * math.sqrt((long // 2) * ((long + 1) // 2) / (long * short))

    def reach(self, c: Array) -> float:
        if _is_image(c):
            return above(norm(c, 2) * (0.5 * self.diameter(tuple(c.shape))), c)
        xp, n = namespace(c), math.prod(c.shape)
        left = xp.cumulative_sum(xp.reshape(c, (-1,)))
        # The atom with its jump after entry i has magnitude (n - 1 - i) / n before it and (i + 1) / n behind.
        i = xp.cumulative_sum(xp.ones_like(left)) - 1
        return above(self.radius * xp.max(left * ((n - 1 - i) / n) + (left[-1] - left) * ((i + 1) / n)), c)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        _is_image(x)
        if not all_finite(x):
            return False
        xp = namespace(x)
        room = slack(x, tol)
        variation = sum(float(xp.sum(xp.abs(step))) for step in _differences(x))
        return bool(xp.abs(xp.mean(x)) <= room * self.radius) and variation <= self.radius * (1 + room)


def _is_image(g: Array) -> bool:
    """Tell an image from a signal; an image of one row or one column is a signal."""
    if g.ndim not in (1, 2):
        raise ValueError(
            f"TotalVariationBall holds signals (1-D) or images (2-D), got an array of shape {tuple(g.shape)}"
        )
    return g.ndim == 2 and min(g.shape) > 1


def _differences(x: Array) -> list[Array]:
    return [x[1:] - x[:-1]] if x.ndim == 1 else [x[1:, :] - x[:-1, :], x[:, 1:] - x[:, :-1]]


def _in_units(g: Array) -> tuple[Array, Scalar]:
    """Return g in units of about its largest entry, and that unit: a power of two where NumPy makes it exact."""
    if not isinstance(g, np.ndarray):
        return scaled(g), largest(g)
    exponent = math.frexp(float(largest(g)))[1]
    return np.ldexp(g, -exponent), math.ldexp(1.0, exponent)


def _running_sums(g: Array) -> tuple[Array, Scalar, Scalar]:
    """Return the running sums of the centred direction, all but the last (which is zero), their rounding, their unit.

    NumPy adds up in the widest type there is: a running sum is not pairwise.
    """
    xp, n = namespace(g), math.prod(g.shape)
    flat, unit = _in_units(xp.reshape(g, (-1,)))
    if xp is np:
        flat = flat.astype(np.float64) - float(np.mean(flat))
        wide = np.cumsum(flat, dtype=np.longdouble)
        sums = (wide - np.arange(1, n + 1) / n * wide[-1])[:-1].astype(np.float64)
        room = (n * float(np.finfo(np.longdouble).eps) + 4 * eps(flat)) * np.sum(np.abs(flat))
    else:
        room = 4 * eps(flat) * xp.sum(xp.abs(flat))
        flat = flat - xp.mean(flat)
        sums = xp.cumulative_sum(flat)[:-1]
        room = room + (2 * n + 4) * eps(flat) * xp.sum(xp.abs(flat))
    return sums, room, unit


def _best_region(g: Array) -> Cut:
    """Return the region S of the image with the largest g(S) / Per(S), its perimeter and a bound on the ratio."""
    if not isinstance(g, np.ndarray):
        raise TypeError(
            f"TotalVariationBall takes images as NumPy arrays only, got {type(g).__name__}; use numpy.asarray"
        )
    weights, unit = _in_units(g.astype(np.float64))
    cut = best_ratio_cut(weights)
    return cut._replace(bound=unit * cut.bound)

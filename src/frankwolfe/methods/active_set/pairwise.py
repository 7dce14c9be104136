"""Pairwise Frank-Wolfe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from frankwolfe.methods.active_set.active_set import ActiveSet, Move, WeightMethod, lowest
from frankwolfe.problem import Vertex


@dataclass(frozen=True)
class PairwiseFrankWolfe(WeightMethod):
    """Move weight from the worst active atom to the best vertex, and leave all other weights alone.

    Parameters
    ----------
    step_size : StepSize, default ExactLineSearch()
        `ExactLineSearch`, `Backtracking` or `ShortStep`; capped by the weight that can be moved.

    Notes
    -----
    Assumes f convex and smooth; asks one gradient and one oracle call per step. Converges geometrically on polytopes
    where away steps do [1]_, often faster in practice; the proof has to set aside steps that swap one atom for
    another, of which there could be many.

    References
    ----------
    .. [1] S. Lacoste-Julien and M. Jaggi, On the global linear convergence of Frank-Wolfe optimization variants,
       NeurIPS 2015.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(3), np.array([1.0, 2.0, -5.0]))
    >>> fw.minimize(f, fw.Simplex(3, radius=2.0), method=PairwiseFrankWolfe(), tol=1e-9).x.round(6)
    array([0.5, 1.5, 0. ])
    """

    name: ClassVar[str] = "pairwise"

    def choose(
        self, active: ActiveSet, scores: np.ndarray, inner: float, vertex: Vertex, gap: float, tie: float
    ) -> tuple[Move, float]:
        a = lowest(-scores, tie)
        return active.exchange(a, vertex.point), float(scores[a]) - float(vertex.value)

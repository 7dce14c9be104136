"""Blended pairwise conditional gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from frankwolfe.methods.active_set.active_set import ActiveSet, Move, WeightMethod, lowest
from frankwolfe.problem import Vertex
from frankwolfe.validation import positive


@dataclass(frozen=True)
class BlendedPairwise(WeightMethod):
    """Move weight between active atoms while that pays, and take a Frank-Wolfe step to a new vertex when it does not.

    Parameters
    ----------
    step_size : StepSize, default ExactLineSearch()
        `ExactLineSearch`, `Backtracking` or `ShortStep`; capped by the weight that can be moved.
    K : float, default 2
        A local pairwise step must promise at least 1/K of what the Frank-Wolfe step does; larger values keep the
        active set smaller.

    Notes
    -----
    Assumes f convex and smooth; asks one gradient and one oracle call per step. Converges geometrically on polytopes
    for strongly convex f, and no steps swap one atom for another, so that the proof counts them all [1]_. The iterates
    are sparser than those of away or pairwise steps.

    References
    ----------
    .. [1] K. Tsuji, K. Tanaka and S. Pokutta, Pairwise conditional gradients without swap steps and sparser kernel
       herding, ICML 2022.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(3), np.array([1.0, 2.0, -5.0]))
    >>> fw.minimize(f, fw.Simplex(3, radius=2.0), method=BlendedPairwise(), tol=1e-9).x.round(6)
    array([0.5, 1.5, 0. ])
    """

    name: ClassVar[str] = "bpcg"
    K: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("K", self.K)

    def choose(
        self, active: ActiveSet, scores: np.ndarray, inner: float, vertex: Vertex, gap: float, tie: float
    ) -> tuple[Move, float]:
        a, s = lowest(-scores, tie), lowest(scores, tie)
        local = float(scores[a] - scores[s])
        if local > 0 and local >= gap / self.K - tie:
            return active.exchange(a, active.atoms.points[s]), local
        return active.toward(vertex.point), gap

"""Frank-Wolfe with away steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from frankwolfe.methods.active_set.active_set import ActiveSet, Move, WeightMethod, lowest
from frankwolfe.problem import Vertex


@dataclass(frozen=True)
class AwayFrankWolfe(WeightMethod):
    """Move towards the best vertex or away from the worst active atom, whichever descends faster.

    Parameters
    ----------
    step_size : StepSize, default ExactLineSearch()
        `ExactLineSearch`, `Backtracking` or `ShortStep`; capped so that no weight becomes negative.

    Notes
    -----
    Assumes f convex and smooth; asks one gradient and one oracle call per step. On a polytope, for strongly convex f
    (and for φ(Ax) with φ strongly convex), the gap shrinks geometrically, by a factor that depends on the condition
    number and the polytope's pyramidal width over at least half of the steps [2]_; in general the rate is that of
    Frank-Wolfe. On curved sets atoms hardly ever repeat, and the active set grows by one with each Frank-Wolfe step.

    References
    ----------
    .. [1] J. Guelat and P. Marcotte, Some comments on Wolfe's "away step", Math. Program. 35, 1986.
    .. [2] S. Lacoste-Julien and M. Jaggi, On the global linear convergence of Frank-Wolfe optimization variants,
       NeurIPS 2015.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(3), np.array([1.0, 2.0, -5.0]))
    >>> result = fw.minimize(f, fw.Simplex(3, radius=2.0), method=AwayFrankWolfe(), tol=1e-9)
    >>> result.x.round(6), result.weights.round(6)
    (array([0.5, 1.5, 0. ]), array([0.75, 0.25]))
    """

    name: ClassVar[str] = "away"

    def choose(
        self, active: ActiveSet, scores: np.ndarray, inner: float, vertex: Vertex, gap: float, tie: float
    ) -> tuple[Move, float]:
        a = lowest(-scores, tie)
        away = float(scores[a]) - inner
        forward = active.atoms.size == 1 or gap >= away - tie  # there is no way away from the only atom
        return (active.toward(vertex.point), gap) if forward else (active.away(a), away)

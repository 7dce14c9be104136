"""Decomposition-invariant pairwise steps: linear convergence on 0/1 polytopes without an active set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from frankwolfe.backends import Array, namespace, vdot
from frankwolfe.feasible import settled
from frankwolfe.methods.active_set.active_set import coarse, steady
from frankwolfe.methods.base import Evidence, Method
from frankwolfe.points import Point, combine
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain

ROUNDING = 16  # an entry this near to a bound, in ulps of the height of a vertex, is at it


@plain
class DICGState(NamedTuple):
    k: int
    x: Point


@dataclass(frozen=True)
class DecompositionInvariant(Method):
    """Pairwise Frank-Wolfe whose away vertex comes from the oracle, not from an active set.

    Notes
    -----
    For polytopes whose vertices are 0/1 vectors (times a height) and whose faces are given by entries at their bounds:
    `Simplex`, `Hypersimplex`, `Birkhoff`, and `FlowPolytope` without capacities. The away vertex maximises <∇f(x), .>
    over the smallest face that holds x, which the oracle finds when entries of x at zero cost a lot and those at the
    top cheap [1]_. The step goes from x along s - a, by exact line search up to the boundary. Memory is that of x
    alone; two oracle calls a step.

    For an L-smooth, μ-strongly convex f the error falls geometrically, by a factor of 1 - O(μ/(L D² card(x*))) a step,
    independent of the dimension where x* is sparse.

    References
    ----------
    .. [1] D. Garber and O. Meshi, Linear-memory and decomposition-invariant linearly convergent conditional gradient
       algorithm for structured polytopes, NeurIPS 2016.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(4), np.array([0.5, 0.3, 0.1, -1.0]))
    >>> fw.minimize(f, fw.Simplex(4), method=DecompositionInvariant(), tol=1e-10).x.round(4)
    array([0.5333, 0.3333, 0.1333, 0.    ])
    """

    name: ClassVar[str] = "dicg"
    syncs_host: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        super().check(problem)
        assert problem.domain is not None
        if problem.domain.vertex_height is None:
            raise TypeError(
                "method 'dicg' needs a polytope with 0/1 vertices (Simplex, Hypersimplex, Birkhoff, FlowPolytope "
                f"without capacities), and {type(problem.domain).__name__} is not known to be one; use 'pairwise', "
                "'away' or 'bpcg'"
            )

    def init(self, problem: Problem, x0: Point) -> DICGState:
        return DICGState(0, x0)

    def step(self, problem: Problem, state: DICGState) -> tuple[DICGState, Evidence]:
        k, x = state
        assert problem.domain is not None
        top = problem.domain.vertex_height
        assert top is not None
        at_x = problem.evaluate(x)
        vertex = problem.lmo(at_x.slope, k, share=0.0, keep=x)
        evidence = Evidence(((at_x.value, x),), ((at_x.tangent, vertex),))
        # A line search between two vertices leaves them tied: rounding must not choose which of them comes next.
        quick = problem.domain.exact_oracle
        toward = (steady(problem, at_x.slope, at_x.inner, vertex) if quick else vertex).point
        away = problem.lmo(_on_face(coarse(at_x.slope, problem.eps), x.coords, top), k, share=0.0).point

        d = toward.array - away.array
        cap = _room(x.coords, d, top)
        if not (cap > 0 and float(vdot(at_x.slope, d)) < 0):
            return DICGState(k + 1, x), evidence
        end = combine([1.0, cap, -cap], [x, toward, away])
        moved = problem.mix(x, end, problem.line_search(x, end))
        snapped = Point(_snapped(moved.coords, top, problem.eps), moved.terms)
        return DICGState(k + 1, snapped if problem.on_device else settled(problem, k + 1, snapped)), evidence


def _on_face(g: Array, x: Array, top: float) -> Array:
    """Return the slope whose minimiser is the vertex of x's smallest face that is worst for g."""
    xp = namespace(g)
    prohibitive = xp.full_like(g, 1.0 + 2 * float(xp.sum(xp.abs(g))))
    return xp.where(x <= 0, prohibitive, xp.where(x >= top, -prohibitive, -g))


def _room(x: Array, d: Array, top: float) -> float:
    """Return how far x can go along d before an entry leaves [0, top]."""
    xp = namespace(x)
    far = xp.full_like(x, math.inf)
    room = xp.where(d < 0, x, xp.where(d > 0, top - x, far))
    steps = xp.where(d == 0, far, room / xp.where(d == 0, xp.ones_like(d), xp.abs(d)))
    return float(xp.min(steps))


def _snapped(x: Array, top: float, eps: float) -> Array:
    """Return x with entries within rounding of a bound put on it, so that faces are recognised."""
    xp = namespace(x)
    rounding = ROUNDING * eps
    x = xp.where(x <= rounding * top, xp.zeros_like(x), x)
    return xp.where(x >= (1 - rounding) * top, xp.full_like(x, top), x)

"""ExtraFW: look ahead with one gradient, decide with another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from frankwolfe.methods.base import MOMENTUM_ERROR, Evidence, Method
from frankwolfe.methods.step_sizes import OpenLoop, warm_shift
from frankwolfe.points import Point, Tangent, mix
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain


@plain
class ExtraState(NamedTuple):
    k: int
    x: Point
    v: Point  # the vertex of the corrected average
    theta: Tangent  # average of the tangents at x_1, x_2, ...


@dataclass(frozen=True)
class ExtraFrankWolfe(Method):
    """Frank-Wolfe with an extra gradient: a prediction at the look-ahead point, a correction at the new iterate.

    Parameters
    ----------
    offset : float, default 3
        Steps are 2/(k + offset). Three is the paper's; two, its released code's, forgets the starting point.
    shift : float, default 0
        Steps that a warm start is worth; set by `minimize` when it starts from a Result.
    bound : float, optional
        A lower bound already proven, from which the averaged tangent starts; set with `shift`.

    Notes
    -----
    Algorithm 2 of [1]_: y = (1-δ)x + δv; the vertex v̂ of the average with the gradient at y moves x; the gradient at
    the new x, and not the one at y, joins the average that is kept, and its vertex is the next v. Two gradients and two
    oracle calls a step.

    With ξ_{k+1} = (1-δ)ξ_k + Lδ²|v̂ - v_k||v_{k+1} - v̂| the iterates satisfy f(x_k) <= Φ_k* + ξ_k, Φ_k the average of
    tangents, so that f(x_k) - f* <= 2(f(x_0) - f*)/((k+1)(k+2)) + 4LD²/(k+2), and of order 1/k² on active l_p balls and
    others. The average lies below f: its minimum over the set is the certificate, at no cost.

    References
    ----------
    .. [1] B. Li, L. Wang, G. B. Giannakis and Z. Zhao, Enhancing Frank Wolfe with an extra subproblem, AAAI 2021.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(3), np.array([3.0, 0.0, 4.0]))
    >>> fw.minimize(f, fw.L2Ball(1.0), method=ExtraFrankWolfe(), tol=1e-4).x.round(3)
    array([0.6, 0. , 0.8])
    """

    name: ClassVar[str] = "extrafw"
    forgets_start: ClassVar[bool] = True  # pyright: ignore[reportIncompatibleVariableOverride]
    offset: float = 3.0
    shift: float = 0.0
    bound: float | None = None

    def __post_init__(self) -> None:
        OpenLoop(self.offset, self.shift)  # refuses what would leave the set

    def init(self, problem: Problem, x0: Point) -> ExtraState:
        theta = Tangent.nothing() if self.bound is None else Tangent.constant(self.bound)
        return ExtraState(0, x=x0, v=x0, theta=theta)

    def step(self, problem: Problem, state: ExtraState) -> tuple[ExtraState, Evidence]:
        k, x, v, theta = state
        delta = OpenLoop(self.offset, self.shift)(k)
        share = MOMENTUM_ERROR * delta**2

        y = problem.ahead(x, v, delta)
        at_y = problem.evaluate(y, watch=x)
        predicted = mix(theta, at_y.tangent, delta)
        ahead = problem.lmo(predicted.slope, 2 * k, share, keep=v).point
        x_next = problem.move(x, ahead, delta)

        at_next = problem.evaluate(x_next)
        theta = mix(theta, at_next.tangent, delta)
        vertex = problem.lmo(theta.slope, 2 * k + 1, share, keep=v)

        seen = ((at_y.watched, x), (at_y.value, y), (at_next.value, x_next))
        minorants = ((theta, vertex), (at_y.tangent, None), (at_next.tangent, None))
        return ExtraState(k + 1, x_next, vertex.point, theta), Evidence(seen, minorants)

    def warm(self, value: float, gap: float, curvature: float) -> Method:
        # Twice Frank-Wolfe's: ξ grows by Lδ²D² and not by half of it, so the gap stays below 4LD²/(k + shift).
        return replace(self, offset=2.0, shift=2 * warm_shift(gap, curvature), bound=value - gap)

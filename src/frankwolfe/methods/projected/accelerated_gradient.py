"""Nesterov's accelerated gradient method, without a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from frankwolfe.methods.base import Evidence, GradientMethod, require_unconstrained
from frankwolfe.methods.step_sizes import OpenLoop
from frankwolfe.points import Point, combine, mix
from frankwolfe.problem import Problem
from frankwolfe.rounding import FEW
from frankwolfe.serialisation import plain
from frankwolfe.validation import positive


@plain
class AGMState(NamedTuple):
    k: int
    x: Point
    v: Point


@dataclass(frozen=True)
class AcceleratedGradient(GradientMethod):
    """Accelerated gradient descent in the form that inspired accelerated Frank-Wolfe; unconstrained (domain=None).

    Parameters
    ----------
    L : float, optional
        Smoothness constant; the objective's own by default.

    Notes
    -----
    Algorithm 2 of [1]_ with v_0 = x_0, δ_k = 2/(k+3), μ_0 = 2L: f(x_k) - f* <= 2B/((k+1)(k+2)) with
    B = f(x_0) - f* + L‖x_0 - x*‖². Nothing bounds the unconstrained optimum from below without knowing ‖x_0 - x*‖, so
    the certified lower bound is minus infinity and the run ends at `max_iter`.

    References
    ----------
    .. [1] B. Li, M. Coutino, G. B. Giannakis and G. Leus, How does momentum help Frank Wolfe?, 2020.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.Quadratic(np.diag([1.0, 10.0]), np.array([-1.0, 0.0]))
    >>> fw.minimize(f, None, method="agm", max_iter=200).x.round(3)
    array([1., 0.])
    """

    name: ClassVar[str] = "agm"

    def check(self, problem: Problem) -> None:
        require_unconstrained(self, problem)
        super().check(problem)

    def init(self, problem: Problem, x0: Point) -> AGMState:
        return AGMState(0, x=x0, v=x0)

    def step(self, problem: Problem, state: AGMState) -> tuple[AGMState, Evidence]:
        k, x, v = state
        L = self.constant(problem)
        y = mix(x, v, OpenLoop(offset=3)(k))
        at_y = problem.evaluate(y, watch=x)
        x_next = Point.at(problem.descend(y, at_y.slope, 1 / L))
        v = Point.at(problem.descend(v, at_y.slope, (k + 2) / (2 * L)))
        return AGMState(k + 1, x_next, v), Evidence(((at_y.watched, x), (at_y.value, y)))


@dataclass(frozen=True)
class StronglyConvexAGM(GradientMethod):
    """Accelerated gradient descent for strongly convex functions; unconstrained (domain=None).

    Parameters
    ----------
    L, mu : float, optional
        Smoothness and strong convexity; the objective's own by default.

    Notes
    -----
    With κ = L/μ and δ = κ^(-1/2), f(x_k) - f* <= (1-δ)^k (f(x_0) - f* + μ‖x_0 - x*‖²/2). The paper prints the step as
    z = y - y/μ; it is z = y - ∇f(y)/μ, the minimiser of the quadratic lower bound. Strong convexity certifies
    f* >= f(y) - ‖∇f(y)‖²/(2μ).

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.Quadratic(np.diag([1.0, 10.0]), np.array([-1.0, 0.0]))
    >>> fw.minimize(f, None, method="agm_sc", tol=1e-10).x.round(3)
    array([1., 0.])
    """

    name: ClassVar[str] = "agm_sc"
    mu: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mu is not None:
            positive("mu", self.mu)

    def check(self, problem: Problem) -> None:
        require_unconstrained(self, problem)
        super().check(problem)
        if not self._mu(problem) > 0:
            raise ValueError("method 'agm_sc' needs a strongly convex objective: add ridge=, pass mu=, or use 'agm'")

    def _mu(self, problem: Problem) -> float:
        return problem.objective.strong_convexity if self.mu is None else self.mu

    def init(self, problem: Problem, x0: Point) -> AGMState:
        return AGMState(0, x=x0, v=x0)

    def step(self, problem: Problem, state: AGMState) -> tuple[AGMState, Evidence]:
        k, x, v = state
        L, mu = self.constant(problem), self._mu(problem)
        delta = min((mu / L) ** 0.5, 1.0)
        y = combine([1 / (1 + delta), delta / (1 + delta)], [x, v])
        at_y = problem.evaluate(y, watch=x)
        x_next = Point.at(problem.descend(y, at_y.slope, 1 / L))
        z = Point.at(problem.descend(y, at_y.slope, 1 / mu))
        rounding = (1 + problem.objective.additions / FEW) * at_y.trusted
        floor = at_y.value - problem.inner(at_y.slope, Point.at(at_y.slope)) / (2 * mu) - rounding
        return AGMState(k + 1, x_next, mix(v, z, delta)), Evidence(((at_y.watched, x), (at_y.value, y)), floor=floor)

"""Nesterov's accelerated gradient method, without a set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from frankwolfe.backends import Scalar
from frankwolfe.methods.base import Evidence, GradientMethod
from frankwolfe.methods.step_sizes import OpenLoop
from frankwolfe.objectives.base import Evaluation
from frankwolfe.points import Point, combine, mix
from frankwolfe.problem import Problem
from frankwolfe.rounding import FEW, MARGIN, Extent
from frankwolfe.serialisation import plain
from frankwolfe.validation import positive

PROOF_GROWTH = math.log(1.1)  # a run in single precision proves its bound at iterations that grow so


@plain
class AGMState(NamedTuple):
    k: int
    x: Point
    v: Point


class UnconstrainedMethod(GradientMethod):
    """An accelerated gradient method without a set."""

    def check(self, problem: Problem) -> None:
        if problem.domain is not None:
            raise TypeError(
                f"method {self.name!r} is unconstrained: pass domain=None, or use 'apgd' to stay in the set"
            )
        super().check(problem)

    def init(self, problem: Problem, x0: Point) -> AGMState:
        return AGMState(0, x=x0, v=x0)


@dataclass(frozen=True)
class AcceleratedGradient(UnconstrainedMethod):
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

    def step(self, problem: Problem, state: AGMState) -> tuple[AGMState, Evidence]:
        k, x, v = state
        L = self.constant(problem)
        y = mix(x, v, OpenLoop(offset=3)(k))
        at_y = problem.evaluate(y, watch=x)
        x_next = Point.at(problem.descend(y, at_y.slope, 1 / L))
        v = Point.at(problem.descend(v, at_y.slope, (k + 2) / (2 * L)))
        return AGMState(k + 1, x_next, v), Evidence(((at_y.watched, x), (at_y.value, y)))


@dataclass(frozen=True)
class StronglyConvexAGM(UnconstrainedMethod):
    """Accelerated gradient descent for strongly convex functions; unconstrained (domain=None).

    Parameters
    ----------
    L, mu : float, optional
        Smoothness and strong convexity; the objective's own by default.

    Notes
    -----
    With κ = L/μ and δ = κ^(-1/2), f(x_k) - f* <= (1-δ)^k (f(x_0) - f* + μ‖x_0 - x*‖²/2). The paper prints the step as
    z = y - y/μ; it is z = y - ∇f(y)/μ, the minimiser of the quadratic lower bound. Strong convexity certifies
    f* >= f(y) - ‖∇f(y)‖²/(2μ), less what rounding did to both; an objective's own μ is proven, yours is believed.

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
        super().check(problem)
        if not self._mu(problem) > 0:
            raise ValueError("method 'agm_sc' needs a strongly convex objective: add ridge=, pass mu=, or use 'agm'")

    def _mu(self, problem: Problem) -> float:
        return problem.objective.strong_convexity if self.mu is None else self.mu

    def step(self, problem: Problem, state: AGMState) -> tuple[AGMState, Evidence]:
        k, x, v = state
        L, mu = self.constant(problem), self._mu(problem)
        delta = min((mu / L) ** 0.5, 1.0)
        # Their images are made afresh, in the same read: what drifts along is nothing that strong convexity holds for.
        y = Point.at(combine([1 / (1 + delta), delta / (1 + delta)], [x, v]).coords)
        at_y = problem.evaluate(y, watch=x)
        x_next = Point.at(problem.descend(y, at_y.slope, 1 / L))
        z = Point.at(problem.descend(y, at_y.slope, 1 / mu))
        v = Point.at(mix(v, z, delta).coords)
        floor = _floor(problem, k, y, at_y, L, mu)
        return AGMState(k + 1, x_next, v), Evidence(((at_y.watched, x), (at_y.value, y)), floor=floor)


def _floor(problem: Problem, k: int, y: Point, at: Evaluation, L: float, mu: float) -> Scalar:
    """Return a lower bound on f*: f(y) - |g|²/(2μ), less what rounding did; docs/certificates.md derives it."""
    f = problem.objective
    if problem.exact is not None and not problem.on_device:  # proven in double precision, now and then
        if k > 8 and math.log(k) // PROOF_GROWTH == math.log(k + 1) // PROOF_GROWTH:
            return -math.inf
        f = problem.exact
        y = Point.at(f.start(y.coords, dense=True))
        at = f.evaluate(y, y)
        problem.counts.n_pass += at.passes
    a, b = _columns(problem)
    unit = at.eps * (f.additions + FEW)
    length = problem.inner(y.array, y) ** 0.5
    slope = problem.inner(at.slope, Point.at(at.slope)) ** 0.5 * (1 + unit)

    def noise(R: Scalar) -> Scalar:
        """Bound what rounding did to the tangent at y, for all points within R of y."""
        norm = MARGIN * (length + R)
        return f.noise(at._replace(noise=None), Extent(lambda: norm * (a + b * norm), lambda: norm))

    here = noise(0.0)
    # Noise grows with the distance R, at most as D (R/S + R²/S²): the slope may be off by D/S, and μ by 2D/S².
    S = slope / mu + (here / mu) ** 0.5 + 1e-30
    D = noise(S) - here
    image = unit * math.prod(problem.shape or ()) * L * length  # of the slope, from margins that are rounded
    bent = 1 - 2 * D / (mu * S**2)
    bent = 0.5 * (bent + abs(bent)) + 1e-30  # its positive part; without one there is no bound
    return at.value - 2 * here - (slope + D / S + image) ** 2 / (2 * mu * bent) * (1 + FEW * at.eps)


def _columns(problem: Problem) -> tuple[float, float]:
    """Return a and b such that points of norm N have a reach of at most N (a + bN); found once."""
    if "columns" not in problem.scratch:
        ends = [problem.objective.column_norms(Extent(lambda: 0.0, lambda n=n: n)) for n in (0.0, 1.0)]
        at_zero, at_one = (0.0 if c is None else np.asarray(c, np.float64) for c in ends)
        sizes = float(np.linalg.norm(at_zero)), float(np.linalg.norm(np.subtract(at_one, at_zero)))
        problem.scratch["columns"] = sizes
    return problem.scratch["columns"]

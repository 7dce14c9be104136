"""Conditional gradient sliding: many oracle calls for one gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from frankwolfe.backends import Array, fetch
from frankwolfe.methods.base import Evidence, GradientMethod, require_set, require_smoothness
from frankwolfe.methods.step_sizes import clipped
from frankwolfe.points import Point, Tangent, mix
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.validation import positive

# How far an oracle that iterates may err: at the start, as a share of LD²/2, and in a projection, as one of η.
FIRST_ERROR, ERROR = 0.01, 0.1
COARSE = 0.1  # share of the gap from which on η tells that projections, not steps, are what the run waits for


@plain
class CGSState(NamedTuple):
    k: int
    x: Point  # the output sequence (y in the paper)
    u: Point  # the prox centres (x in the paper)
    theta: Tangent  # averaged tangent
    excess: float  # bound on f(x_0) - f*; strongly convex form only


@dataclass(frozen=True)
class ConditionalGradientSliding(GradientMethod):
    """Accelerated gradient steps whose projections are computed, just well enough, by Frank-Wolfe.

    Parameters
    ----------
    L : float, optional
        Smoothness constant; the objective's own by default.
    mu : float, optional
        Constant of strong convexity, which chooses the form with phases; the general form by default.
    max_inner : int, default 100000
        Most oracle calls in one step.

    Notes
    -----
    Algorithm 1 of [1]_: z = (1-γ)y + γu; u⁺ minimises <∇f(z), .> + β|. - u|²/2 over the set up to a Frank-Wolfe gap of
    η; y⁺ = (1-γ)y + γu⁺. With γ = 3/(k+2), β = 3L/(k+1), η = LD²/(k(k+1)), k counted from one,
    f(y_k) - f* <= 15LD²/(2(k+1)(k+2)): of the order of 1/sqrt(ε) gradients, which is optimal, and 1/ε oracle calls.

    Where f is strongly convex, phases of N = ⌈2 sqrt(6L/μ)⌉ steps with γ = 2/(k+1), β = 2L/k and
    η = 8LΔ2^(-s)/(μNk), each from the last one's output, halve the bound Δ on f - f*: log(1/ε) gradients. Δ is the
    Frank-Wolfe gap at the start.

    The tangents at the points z, averaged with the weights γ, are the certificate; it closes at the rate of the method.
    Iterates are arrays: on a nuclear-norm ball the matrix is formed.

    References
    ----------
    .. [1] G. Lan and Y. Zhou, Conditional gradient sliding for convex optimization, SIAM J. Optim. 26, 2016.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(3), np.array([3.0, 0.0, 4.0]))
    >>> result = fw.minimize(f, fw.L1Ball(3.0), method=ConditionalGradientSliding(), tol=1e-3)
    >>> result.x.round(1), result.n_grad < result.n_lmo
    (array([1., 0., 2.]), True)
    """

    name: ClassVar[str] = "cgs"
    mu: float | None = None
    max_inner: int = 100_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mu is not None:
            positive("mu", self.mu)

    def check(self, problem: Problem) -> None:
        require_set(self, problem)
        super().check(problem)

    def init(self, problem: Problem, x0: Point) -> CGSState:
        return CGSState(0, x=x0, u=x0, theta=Tangent.nothing(), excess=math.inf)

    def step(self, problem: Problem, state: CGSState) -> tuple[CGSState, Evidence]:
        k, x, u, theta, excess = state
        L, mu = require_smoothness(self, problem, self.L), self.mu or 0.0
        if mu > 0 and k == 0:
            excess = self._excess(problem, x)
        gamma, beta, eta, fresh = self._schedule(problem, k, L, mu, excess)
        if fresh:
            u = x

        z = mix(x, u, gamma)
        at_z = problem.evaluate(z, watch=x)
        theta = mix(theta, at_z.tangent, gamma)
        u = self._projected(problem, k, problem.written_out(at_z.slope), u, beta, eta)
        x_next = problem.mix(x, u, gamma)

        # An oracle that iterates is asked for the better of the two bounds only.
        closed_form = problem.domain is not None and problem.domain.closed_form
        minorants = ((theta, None), (at_z.tangent, None)) if closed_form else ((theta, None),)
        return CGSState(k + 1, x_next, u, theta, excess), Evidence(((at_z.watched, x), (at_z.value, z)), minorants)

    def waits(self, problem: Problem, state: CGSState, gap: float) -> bool:
        L, mu = require_smoothness(self, problem, self.L), self.mu or 0.0
        return self._schedule(problem, state.k, L, mu, state.excess)[2] >= COARSE * gap

    def _schedule(
        self, problem: Problem, k: int, L: float, mu: float, excess: float
    ) -> tuple[float, float, float, bool]:
        """Return γ, β, η, and whether a phase begins."""
        if not mu > 0:
            j = k + 1
            return 3 / (j + 2), 3 * L / (j + 1), L * problem.diameter * problem.diameter / (j * (j + 1)), False
        N = math.ceil(2 * math.sqrt(6 * L / mu))
        phase, j = k // N + 1, k % N + 1
        return 2 / (j + 1), 2 * L / j, 8 * L * excess * 2.0**-phase / (mu * N * j), j == 1

    @staticmethod
    def _excess(problem: Problem, x: Point) -> float:
        """Return the Frank-Wolfe gap at x."""
        at_x = problem.evaluate(x)
        vertex = problem.lmo(at_x.slope, 0, share=FIRST_ERROR, keep=x)
        return float(at_x.inner - vertex.value)

    def _projected(self, problem: Problem, k: int, g: Array, centre: Point, beta: float, eta: float) -> Point:
        """Return a point whose Frank-Wolfe gap for <g, .> + β|. - centre|²/2 is at most η."""
        u, share = centre, 2 * ERROR * eta / problem.curvature if problem.curvature > 0 else 0.0
        for _ in range(self.max_inner):
            problem.tick()
            slope = g + beta * (u.array - centre.array)
            vertex = problem.lmo(slope, k, share=share, keep=u)
            inner, value = fetch([problem.inner(slope, u), vertex.value])
            gap = inner - value
            if not gap > max(eta, problem.eps * (abs(inner) + abs(value))):  # rounding is left, or no number at all
                break
            u = problem.mix(u, vertex.point, clipped(gap, beta * float(problem.distance2(u, vertex.point)), 1.0))
        return u

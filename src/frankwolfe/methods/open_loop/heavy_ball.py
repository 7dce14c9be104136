"""Heavy-ball Frank-Wolfe: the vertex answers to an average of the gradients at the iterates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from frankwolfe.methods.base import MOMENTUM_ERROR, Evidence, Method, require_smoothness
from frankwolfe.methods.step_sizes import ShortStep, clipped, warm_shift
from frankwolfe.objectives.base import Evaluation
from frankwolfe.points import Point, Tangent, mix
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.validation import nonnegative

WEIGHTS = ("weighted", "uniform")
STEPS = ("open", "smooth", "directional", "search")


@plain
class HFWState(NamedTuple):
    k: int
    x: Point
    theta: Tangent  # averaged tangent
    age: int  # steps since the last restart
    shift: float  # steps that the last restart was worth
    bound: float  # best lower bound so far


@dataclass(frozen=True)
class HeavyBallFrankWolfe(Method):
    """Frank-Wolfe with momentum in the gradient and no look-ahead: a primal-dual gap that holds at every step.

    Parameters
    ----------
    weights : {"weighted", "uniform"}
        How gradients are averaged: by 2/(k+2), which favours the late ones, or all alike, by 1/(k+1).
    steps : {"open", "smooth", "directional", "search"}
        How far x goes to the vertex: by the averaging weight; by a short step (needs the smoothness constant); by a
        short step with the smoothness along that very direction, for `Logistic`, `LeastSquares` and `Quadratic`; by
        exact line search. All four keep the bound below.
    restart : bool, default False
        Begin the average anew from the Frank-Wolfe gap at x whenever it proves more than the average does; weighted
        averages only. Costs one more oracle call a step, and needs the smoothness constant. Pays on polytopes; on
        curved balls it makes the steps too short.
    shift, bound : float
        Steps that a warm start is worth, and a lower bound already proven, from which the average starts; set by
        `minimize` when it starts from a Result.

    Notes
    -----
    g⁺ = (1-δ)g + δ∇f(x), v the vertex of g⁺, x⁺ = (1-η)x + ηv [1]_. With c the averaged offset of the tangents, the
    generalised gap G_{k+1} = f(x_{k+1}) - (c + <g⁺, v>) bounds f(x_{k+1}) - f*. It obeys
    G_{k+1} <= (1-δ)G_k + Lδ²D²/2, hence G_{k+1} <= 2LD²/(k+2) at every k with δ = 2/(k+2), where Frank-Wolfe's own gap
    is bounded for the best iterate only, and G_k <= LD²(1 + ln k)/(2k) with δ = 1/(k+1).

    A restart at a point with certified gap G goes on with δ = 2/(j+2+C), C = 2LD²/G, j steps later, from the constant
    tangent at the bound [2]_; then G_j <= 2LD²/(j+C).

    References
    ----------
    .. [1] B. Li, A. Sadeghi and G. B. Giannakis, Heavy ball momentum for conditional gradient, NeurIPS 2021.
    .. [2] R. M. Freund and P. Grigas, New analysis and results for the Frank-Wolfe method, Math. Program. 155, 2016.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(3), np.array([3.0, 0.0, 4.0]))
    >>> result = fw.minimize(f, fw.L2Ball(1.0), method=HeavyBallFrankWolfe(steps="smooth"), tol=1e-4)
    >>> result.x.round(3)
    array([0.6, 0. , 0.8])
    """

    name: ClassVar[str] = "hfw"
    forgets_start: ClassVar[bool] = True  # pyright: ignore[reportIncompatibleVariableOverride]
    weights: str = "weighted"
    steps: str = "open"
    restart: bool = False
    shift: float = 0.0
    bound: float | None = None

    def __post_init__(self) -> None:
        for name, value, known in (("weights", self.weights, WEIGHTS), ("steps", self.steps, STEPS)):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
        if self.restart and self.weights != "weighted":
            raise ValueError("restart=True needs weights='weighted': the uniform average has no shifted form")
        nonnegative("shift", self.shift)

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if self.restart or self.steps == "smooth":
            require_smoothness(self, problem, None)
        if self.steps == "directional" and problem.hessian_objective is None:
            raise TypeError(
                "steps='directional' needs the image of the direction under the data (Logistic, LeastSquares or "
                f"Quadratic), not {type(problem.objective).__name__}; use steps='smooth' or steps='search'"
            )
        if self.restart and problem.oracle_iterates:
            raise TypeError(
                f"restart=True needs a proven gap at every step, which the oracle of {type(problem.domain).__name__} "
                "does not give; use restart=False"
            )

    def init(self, problem: Problem, x0: Point) -> HFWState:
        if self.bound is None:
            return HFWState(0, x0, Tangent.nothing(), age=0, shift=self.shift, bound=-math.inf)
        return HFWState(0, x0, Tangent.constant(self.bound), age=0, shift=self.shift, bound=self.bound)

    def step(self, problem: Problem, state: HFWState) -> tuple[HFWState, Evidence]:
        k, x, theta, age, shift, bound = state
        at_x = problem.evaluate(x)
        floor = -math.inf
        if self.restart:
            theta, age, shift, floor = self._restarted(problem, state, at_x.tangent, float(at_x.value))
        delta = 1.0 / (age + 1) if self.weights == "uniform" else 2.0 / (age + 2 + shift)
        theta = mix(theta, at_x.tangent, delta)
        vertex = problem.lmo(theta.slope, k, share=MOMENTUM_ERROR * delta**2, keep=x)
        x_next = problem.move(x, vertex.point, self._eta(problem, k, x, vertex.point, at_x, delta))

        bound = max(bound, floor, float(problem.bound(theta, vertex.lower, k)))
        minorants = ((theta, vertex), (at_x.tangent, None))
        evidence = Evidence(((at_x.value, x),), minorants, floor=floor)
        return HFWState(k + 1, x_next, theta, age + 1, shift, bound), evidence

    def warm(self, value: float, gap: float, curvature: float) -> Method:
        if self.weights == "uniform":
            return self
        return replace(self, shift=warm_shift(gap, curvature), bound=value - gap)

    def averaging(self) -> Method:
        if self.steps != "open" or self.restart:
            return super().averaging()
        return replace(self, weights="uniform", shift=0.0, bound=None)

    def _eta(self, problem: Problem, k: int, x: Point, v: Point, at_x: Evaluation, delta: float) -> float:
        """Return how far to go from x towards v."""
        if self.steps == "open":
            return delta
        if self.steps == "search":
            return problem.line_search(x, v)
        gap = at_x.inner - problem.inner(at_x.slope, v)
        if self.steps == "directional":
            return clipped(float(gap), bend(problem, x, v), 1.0)
        return ShortStep().choose(problem, k, x, v, at_x.value, gap, None)[0]

    def _restarted(
        self, problem: Problem, state: HFWState, tangent: Tangent, value: float
    ) -> tuple[Tangent, int, float, float]:
        """Return average, age and shift, anew if the Frank-Wolfe gap at x proves more than they; and what it proves."""
        vertex = problem.lmo(tangent.slope, state.k, share=0.0, keep=state.x)
        floor = float(problem.bound(tangent, vertex.lower))
        if state.k == 0 or floor <= state.bound:
            return state.theta, state.age, state.shift, floor
        return Tangent.constant(floor), 0, warm_shift(value - floor, problem.curvature), floor


def bend(problem: Problem, x: Point, v: Point) -> float:
    """Return a bound on the second derivative of f anywhere on the segment from x to v, by way of the image."""
    objective = problem.hessian_objective
    assert objective is not None
    for point in (x, v):
        problem.image(point)
    return float(objective.steepest_bend(x, v))

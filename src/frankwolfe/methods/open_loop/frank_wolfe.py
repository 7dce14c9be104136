"""The Frank-Wolfe method."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from frankwolfe.methods.base import Evidence, Method
from frankwolfe.methods.step_sizes import Averaging, OpenLoop, StepSize, warm_shift
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain

OPEN_LOOP_ERROR = 0.02  # times δ, by how much an oracle that iterates may err


@plain
class FWState(NamedTuple):
    k: int
    x: Point
    memory: Any  # of the step-size rule


@dataclass(frozen=True)
class FrankWolfe(Method):
    """Move towards the vertex that minimises the linearised objective.

    Parameters
    ----------
    step_size : StepSize, default OpenLoop(2)
        `OpenLoop`, `ShortStep`, `Backtracking` or `ExactLineSearch`.

    Notes
    -----
    With open-loop or short steps f(x_k) - f* <= 2LD²/(k+2) [1]_, [2]_. The Frank-Wolfe gap <grad, x - v> bounds
    the suboptimality and comes with every step.

    References
    ----------
    .. [1] M. Frank and P. Wolfe, An algorithm for quadratic programming, Naval Res. Logist. Q. 3, 1956.
    .. [2] M. Jaggi, Revisiting Frank-Wolfe: projection-free sparse convex optimization, ICML 2013.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(2), np.array([3.0, 0.0]))
    >>> fw.minimize(f, fw.L1Ball(1.0), method=FrankWolfe(fw.ShortStep())).x
    array([1., 0.])
    """

    name: ClassVar[str] = "fw"
    separates: ClassVar[bool] = True
    step_size: StepSize = field(default_factory=OpenLoop)

    @property
    def schedule(self) -> OpenLoop | None:
        return self.step_size.schedule

    @property
    def steps_in_arrays(self) -> bool:
        return self.step_size.in_arrays

    def check(self, problem: Problem) -> None:
        super().check(problem)
        self.step_size.check(self, problem)

    def init(self, problem: Problem, x0: Point) -> FWState:
        return FWState(0, x0, self.step_size.init())

    def step(self, problem: Problem, state: FWState) -> tuple[FWState, Evidence]:
        k, x, memory = state
        at_x = problem.evaluate(x)
        vertex = problem.lmo(at_x.slope, k, share=OPEN_LOOP_ERROR * 2.0 / (k + 2), keep=x)
        gap = at_x.inner - vertex.value
        delta, memory = self.step_size.choose(problem, k, x, vertex.point, at_x.value, gap, memory)
        x_next = problem.move(x, vertex.point, delta)
        return FWState(k + 1, x_next, memory), Evidence(((at_x.value, x),), ((at_x.tangent, vertex),))

    def warm(self, value: float, gap: float, curvature: float) -> Method:
        if self.schedule is None:
            return self
        return replace(self, step_size=OpenLoop(2.0, warm_shift(gap, curvature)))

    def averaging(self) -> Method:
        if not self.step_size.open_loop:
            return super().averaging()
        return replace(self, step_size=Averaging())

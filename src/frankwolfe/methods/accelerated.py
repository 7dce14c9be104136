"""Accelerated Frank-Wolfe: the method to read first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from frankwolfe.methods.base import MOMENTUM_ERROR, Evidence, Method
from frankwolfe.methods.step_sizes import OpenLoop, warm_shift
from frankwolfe.points import Point, Tangent, mix
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain


@plain
class AFWState(NamedTuple):
    k: int
    x: Point  # feasible iterate
    v: Point  # latest vertex
    theta: Tangent  # averaged tangent; its slope is the paper's θ, the averaged gradient


@dataclass(frozen=True)
class AcceleratedFrankWolfe(Method):
    """Frank-Wolfe with momentum: the vertex answers to an average of gradients taken at a look-ahead point.

    Parameters
    ----------
    offset : float, default 3
        Steps are 2/(k + offset). Three is the paper's; two forgets the starting point and is Lan's method [2]_.
    line_search : bool, default False
        Let x minimise f on the segment to the vertex. Averages keep the open-loop weights, so rate and certificate
        stay valid. Far better on l_p balls with 1 < p <= 3, worse on polytopes.
    sticky : bool, default False
        Keep the last vertex while it is still a minimiser.
    shift : float, default 0
        Steps that a warm start is worth; set by `minimize` when it starts from a Result.
    bound : float, optional
        A lower bound already proven, from which the averaged tangent starts; set with `shift`.

    Notes
    -----
    Algorithm 3 of [1]_, with v_0 = x_0. f(x_k) - f* <= 2(f(x_0) - f*)/((k+1)(k+2)) + 2LD²/(k+2) on every compact convex
    set, and of order log(k)/k² on active l_p balls and others. The averaged tangent lies below f, so its minimum
    over the set, which the oracle has just computed, is a lower bound on f*: a certificate at no cost.

    References
    ----------
    .. [1] B. Li, M. Coutino, G. B. Giannakis and G. Leus, A momentum-guided Frank-Wolfe algorithm, IEEE Trans. Signal
       Process. 69, 2021 (preprint: How does momentum help Frank Wolfe?).
    .. [2] G. Lan, The complexity of large-scale convex programming under a linear optimization oracle, 2013.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(3), np.array([3.0, 0.0, 4.0]))
    >>> result = fw.minimize(f, fw.L2Ball(1.0), method=AcceleratedFrankWolfe(line_search=True))
    >>> result.x.round(4)
    array([0.6, 0. , 0.8])
    """

    name: ClassVar[str] = "afw"
    momentum: ClassVar[bool] = True
    offset: float = 3.0
    line_search: bool = False
    sticky: bool = False
    shift: float = 0.0
    bound: float | None = None

    def __post_init__(self) -> None:
        OpenLoop(self.offset, self.shift)  # refuses what would leave the set

    @property
    def schedule(self) -> OpenLoop | None:
        return None if self.line_search or self.sticky else OpenLoop(self.offset, self.shift)

    @property
    def steps_in_arrays(self) -> bool:
        return not self.sticky

    @property
    def forgets_start(self) -> bool:
        return not self.line_search

    def init(self, problem: Problem, x0: Point) -> AFWState:
        theta = Tangent.nothing() if self.bound is None else Tangent.constant(self.bound)
        return AFWState(0, x=x0, v=x0, theta=theta)

    def step(self, problem: Problem, state: AFWState) -> tuple[AFWState, Evidence]:
        k, x, v, theta = state
        delta = OpenLoop(self.offset, self.shift)(k)

        y = problem.ahead(x, v, delta)
        at_y = problem.evaluate(y, watch=x)
        theta = mix(theta, at_y.tangent, delta)
        vertex = problem.lmo(theta.slope, k, share=MOMENTUM_ERROR * delta**2, keep=v)
        if not (self.sticky and problem.inner(theta.slope, v) <= vertex.value):
            v = vertex.point
        gamma = problem.line_search(x, v, look=False) if self.line_search else delta
        x_next = problem.move(x, v, gamma)

        seen = ((at_y.watched, x), (at_y.value, y))
        return AFWState(k + 1, x_next, v, theta), Evidence(seen, ((theta, vertex), (at_y.tangent, None)))

    def warm(self, value: float, gap: float, curvature: float) -> Method:
        return replace(self, offset=2.0, shift=warm_shift(gap, curvature), bound=value - gap)

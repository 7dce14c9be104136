"""Projected gradient methods: the baselines, for sets that can be projected onto."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from frankwolfe.methods.base import Evidence, GradientMethod, require_set
from frankwolfe.points import Point, combine
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.sets.base import ProjectableSet


@plain
class PGDState(NamedTuple):
    k: int
    x: Point


class ProjectedMethod(GradientMethod):
    """A gradient method that projects."""

    def check(self, problem: Problem) -> None:
        require_set(self, problem)
        if not isinstance(problem.domain, ProjectableSet):
            kind = type(problem.domain).__name__
            raise TypeError(f"{kind} has no projection, which method {self.name!r} needs; use 'afw' or 'fw'")
        super().check(problem)


@dataclass(frozen=True)
class ProjectedGradient(ProjectedMethod):
    """Projected gradient descent with step 1/L.

    Parameters
    ----------
    L : float, optional
        Smoothness constant; the objective's own by default.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(2), np.array([3.0, 4.0]))
    >>> fw.minimize(f, fw.L2Ball(1.0), method="pgd").x.round(6)
    array([0.6, 0.8])
    """

    name: ClassVar[str] = "pgd"

    def init(self, problem: Problem, x0: Point) -> PGDState:
        return PGDState(0, x0)

    def step(self, problem: Problem, state: PGDState) -> tuple[PGDState, Evidence]:
        k, x = state
        L = self.constant(problem)
        at_x = problem.evaluate(x)
        x_next = problem.project(problem.descend(x, at_x.slope, 1 / L))
        return PGDState(k + 1, x_next), Evidence(((at_x.value, x),), ((at_x.tangent, None),))


@plain
class APGDState(NamedTuple):
    k: int
    x: Point  # the output sequence (y in the paper cited)
    z: Point
    age: int  # steps since the last restart


@dataclass(frozen=True)
class AcceleratedProjectedGradient(ProjectedMethod):
    """Projected accelerated gradient by linear coupling.

    Parameters
    ----------
    L : float, optional
        Smoothness constant; the objective's own by default.
    restart : bool, default False
        Forget the momentum whenever it points uphill; turns the rate linear where the problem allows.

    Notes
    -----
    y = τz + (1-τ)x; x⁺ = Π(y - ∇f(y)/L); z⁺ = Π(z - α∇f(y)) with α = (k+2)/(2L), τ = 2/(k+2) [1]_, so that
    f(x_k) - f* <= 2L|x_0 - x*|²/k². The restart rule is the gradient scheme of [2]_.

    References
    ----------
    .. [1] Z. Allen-Zhu and L. Orecchia, Linear coupling: an ultimate unification of gradient and mirror descent, 2017.
    .. [2] B. O'Donoghue and E. Candes, Adaptive restart for accelerated gradient schemes, 2015.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(2), np.array([3.0, 4.0]))
    >>> fw.minimize(f, fw.L2Ball(1.0), method="apgd").x.round(6)
    array([0.6, 0.8])
    """

    name: ClassVar[str] = "apgd"
    restart: bool = False

    def init(self, problem: Problem, x0: Point) -> APGDState:
        return APGDState(0, x=x0, z=x0, age=0)

    def step(self, problem: Problem, state: APGDState) -> tuple[APGDState, Evidence]:
        k, x, z, age = state
        L = self.constant(problem)
        tau, alpha = 2 / (age + 2), (age + 2) / (2 * L)
        y = combine([1 - tau, tau], [x, z])
        at_y = problem.evaluate(y, watch=x)
        x_next = problem.project(problem.descend(y, at_y.slope, 1 / L))
        z = problem.project(problem.descend(z, at_y.slope, alpha))
        age += 1
        if self.restart and problem.inner(at_y.slope, x_next) > problem.inner(at_y.slope, x):
            z, age = x_next, 0
        return APGDState(k + 1, x_next, z, age), Evidence(((at_y.watched, x), (at_y.value, y)), ((at_y.tangent, None),))

"""Boosted Frank-Wolfe: several vertices to build a direction close to the negative gradient."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from frankwolfe.backends import Array, vdot
from frankwolfe.methods.base import Evidence, Method, oracle_share
from frankwolfe.methods.step_sizes import ExactLineSearch, StepSize
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.validation import integer, positive


@plain
class BoostedState(NamedTuple):
    k: int
    x: Point
    memory: Any  # of the step-size rule


@dataclass(frozen=True)
class BoostedFrankWolfe(Method):
    """Align the direction with the negative gradient by a matching pursuit over vertices, then step along it.

    Parameters
    ----------
    rounds : int, default 20
        Most vertices in one direction.
    improvement : float, default 1e-3
        A round must raise the cosine with the negative gradient by this much, or the pursuit ends.
    step_size : StepSize, default ExactLineSearch()
        How far to go; also `ShortStep`, `Backtracking`.

    Notes
    -----
    Algorithm 2 of [1]_. The residual r = -g - d is matched by u = v - x, v the vertex of -r (or by undoing a part of d
    itself); d grows by <r, u>/‖u‖² u. Divided by the sum of the coefficients, x + d is a convex combination of
    vertices, so the whole step is feasible. The first round is the Frank-Wolfe direction, and the cosine only rises, so
    the rates of Frank-Wolfe with the same step size hold: O(1/k), and geometric where the alignment stays away from
    zero. One gradient a step, as many oracle calls as rounds. Iterates are arrays.

    References
    ----------
    .. [1] C. W. Combettes and S. Pokutta, Boosting Frank-Wolfe by chasing gradients, ICML 2020.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(3), np.array([3.0, 0.0, 4.0]))
    >>> result = fw.minimize(f, fw.L1Ball(3.0), method=BoostedFrankWolfe(), tol=1e-8)
    >>> result.x.round(4), bool(result.n_iter < 20)
    (array([1., 0., 2.]), True)
    """

    name: ClassVar[str] = "boosted"
    syncs_host: ClassVar[bool] = True
    dense: ClassVar[bool] = True
    rounds: int = 20
    improvement: float = 1e-3
    step_size: StepSize = field(default_factory=ExactLineSearch)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", integer("rounds", self.rounds, 1))
        positive("improvement", self.improvement)

    def check(self, problem: Problem) -> None:
        super().check(problem)
        self.step_size.check(self, problem)

    def init(self, problem: Problem, x0: Point) -> BoostedState:
        return BoostedState(0, x0, self.step_size.init())

    def step(self, problem: Problem, state: BoostedState) -> tuple[BoostedState, Evidence]:
        k, x, memory = state
        at_x = problem.evaluate(x)
        vertex = problem.lmo(at_x.slope, k, share=oracle_share(k), keep=x)
        evidence = Evidence(((at_x.value, x),), ((at_x.tangent, vertex),))
        if not at_x.inner - vertex.value > 0:
            return BoostedState(k + 1, x, memory), evidence
        target = self._pursued(problem, k, x, problem.written_out(at_x.slope), vertex.point)
        gap = at_x.inner - problem.inner(at_x.slope, target)
        gamma, memory = self.step_size.choose(problem, k, x, target, at_x.value, gap, memory)
        return BoostedState(k + 1, problem.mix(x, target, gamma), memory), evidence

    def _pursued(self, problem: Problem, k: int, x: Point, g: Array, first: Point) -> Point:
        """Return the point x + d/Λ for the aligned direction d."""
        u = first.array - x.coords
        if not float(vdot(u, u)) > 0:
            return first
        share = -float(vdot(g, u)) / float(vdot(u, u))
        d, atoms, weights = share * u, [first], [share]
        aligned = _cosine(g, d)
        for _ in range(1, self.rounds):
            problem.tick()
            r = -g - d
            v = problem.lmo(-r, k, share=oracle_share(k)).point
            u = v.array - x.coords
            forward, length = float(vdot(r, u)), float(vdot(d, d)) ** 0.5
            back = -float(vdot(r, d)) / length if length > 0 else 0.0
            if back > forward:  # undo a part of d: <r, -d/|d|> is the larger inner product
                kept = 1 - back / length
                if kept <= 0:
                    break
                trial, new_atoms, new = kept * d, atoms, [kept * w for w in weights]
            else:
                share = forward / float(vdot(u, u)) if forward > 0 else 0.0
                trial, new_atoms, new = d + share * u, [*atoms, v], [*weights, share]
            cosine = _cosine(g, trial)
            if not cosine - aligned > self.improvement:
                break
            d, atoms, weights, aligned = trial, new_atoms, new, cosine
        return _average(problem, x, atoms, weights)


def _average(problem: Problem, x: Point, atoms: list[Point], weights: list[float]) -> Point:
    """Return the average of the atoms with these weights; mixed in one by one, so that every kind of atom fits."""
    total, point = 0.0, x
    for atom, weight in zip(atoms, weights, strict=True):
        total += weight
        if weight > 0:
            point = problem.mix(point, atom, weight / total)
    return point


def _cosine(g: Array, d: Array) -> float:
    size = (float(vdot(g, g)) * float(vdot(d, d))) ** 0.5
    return -float(vdot(g, d)) / size if size > 0 else -1.0

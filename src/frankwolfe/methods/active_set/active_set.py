"""Active sets: an iterate as an explicit convex combination of atoms, and the steps that move weight between them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.backends import Array, Scalar, fetch, largest, namespace
from frankwolfe.backends.namespace import nonzero
from frankwolfe.feasible import settled
from frankwolfe.methods.active_set.atom_bundle import Bundle
from frankwolfe.methods.base import Evidence, Method, oracle_share
from frankwolfe.methods.step_sizes import ExactLineSearch, StepSize
from frankwolfe.objectives.base import Evaluation
from frankwolfe.points import Point, mix
from frankwolfe.problem import Problem, Vertex
from frankwolfe.serialisation import plain

TIE = 4e-12  # differences of scores, relative to their size, that rounding and a line search may leave
ROUNDED = 16.0  # the same in units of epsilon, for single precision
BLURRED = 256.0  # the same for the entries of a slope, which the oracle sees in steps of that size
SLIVER = 0.01  # of the gap, the most that a tie may cost
ZERO = 2.0**-52  # a weight that rounding alone can leave behind
GAP_SHARE, LEAST_SHARE = 0.1, 1e-14  # of the last gap, by how much an oracle that iterates may err; of LD²/2, at least
ROUNDINGS = 100.0  # roundings that a point may collect before it is summed up afresh from its atoms


class Move(NamedTuple):
    """A direction out of an active set: where step one leads, and how far one may go."""

    atoms: Bundle  # the active ones, in place, and possibly one more
    weights: np.ndarray  # of the target; some may be negative where the target lies outside
    target: Point
    cap: float  # the largest step that leaves no weight negative
    blocking: int | None  # whose weight is zero after the largest step
    share: float  # of the point we start from in the target: what becomes of its rounding errors


@plain
class ActiveSet(NamedTuple):
    """A point as a convex combination of atoms; immutable.

    Weights sum to one and are positive; an atom is dropped when its weight is zero. The point is updated by each move
    together with its image, and summed up afresh from the atoms before rounding errors can build up; coordinates are
    summed up afresh at every move where atoms are sparse, so that they are exactly zero where no atom is active.
    """

    atoms: Bundle
    weights: np.ndarray
    x: Point
    roundings: float = 0.0

    @classmethod
    def at(cls, x0: Point) -> ActiveSet:
        """Return the active set of a starting point: the atoms it comes with, else the point itself as the one atom."""
        if x0.parts is not None:
            atoms, weights = x0.parts
            return cls(Bundle(atoms), weights, x0)
        one = np.ones(1)
        return cls(Bundle((x0,)), one, Point(x0.coords, x0.terms, ((x0,), one)))

    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        """Return <slope, atom> for every atom."""
        return self.atoms.inner(problem, slope)

    def toward(self, v: Point) -> Move:
        """Return the Frank-Wolfe direction v - x."""
        atoms, i = self.atoms.add(v)
        weights = np.zeros(atoms.size)
        weights[i] = 1.0
        return Move(atoms, weights, atoms.points[i], 1.0, None, 0.0)

    def away(self, i: int) -> Move:
        """Return the direction x - a away from an active atom."""
        weights = 2 * self.weights
        weights[i] -= 1.0
        w = float(self.weights[i])
        cap = w / (1 - w) if w < 1 else np.inf
        return Move(self.atoms, weights, mix(self.x, self.atoms.points[i], -1.0), cap, i, 2.0)

    def exchange(self, i: int, v: Point) -> Move:
        """Return the pairwise direction v - a, from an active atom to another one."""
        atoms, j = self.atoms.add(v)
        if i == j:
            return Move(atoms, self.weights, self.x, 1.0, None, 1.0)
        weights = self.padded(atoms)
        weights[i] -= 1.0
        weights[j] += 1.0
        # x + v - a by two mixes, exactly: halves cost no rounding.
        target = mix(mix(self.x, atoms.points[j], 0.5), atoms.points[i], -1.0)
        return Move(atoms, weights, target, float(self.weights[i]), i, 1.0)

    def to(self, atoms: Bundle, weights: np.ndarray) -> Move:
        """Return the direction to other weights, of these atoms and any that follow them; they must sum to one."""
        own = self.padded(atoms)
        falls = own - weights
        ratios = np.divide(own, falls, out=np.full(own.size, np.inf), where=falls > 0)
        blocking = int(np.argmin(ratios))
        return Move(atoms, weights, atoms.point(weights, self.x.coords), float(ratios[blocking]), blocking, 0.0)

    def moved(self, move: Move, step: Scalar) -> ActiveSet:
        """Return the active set after a step of a move; the largest step drops an atom."""
        step = float(step)
        if step == 0.0:
            return self
        own = self.padded(move.atoms)
        weights = own + step * (move.weights - own)
        if step >= move.cap and move.blocking is not None:
            weights[move.blocking] = 0.0
        roundings = abs(1 + step * (move.share - 1)) * self.roundings + 1
        positive = weights > ZERO
        if roundings > ROUNDINGS or np.count_nonzero(positive) == 1:
            return self.reweighted(move.atoms, weights)
        atoms, weights = move.atoms.keep(positive), weights[positive] / weights[positive].sum()
        if atoms.light(self.x.coords):
            coords = atoms.sum(weights, self.x.coords)
            x = mix(Point(0.0, self.x.terms), Point(0.0, move.target.terms), step)  # the images alone
        else:
            x = mix(self.x, move.target, step)
            coords = x.coords
        return ActiveSet(atoms, weights, Point(coords, x.terms, (atoms.points, weights)), roundings)

    def reweighted(self, atoms: Bundle, weights: np.ndarray) -> ActiveSet:
        """Return the active set with these atoms and weights, its point summed up afresh."""
        weights = np.where(weights > ZERO, weights, 0.0)
        weights = weights / weights.sum()
        x = atoms.point(weights, self.x.coords)
        positive = weights > 0
        atoms, weights = atoms.keep(positive), weights[positive]
        return ActiveSet(atoms, weights, Point(x.coords, x.terms, (atoms.points, weights)))

    def settled(self, problem: Problem, k: int) -> ActiveSet:
        """Return the active set with its point in the set, where rounding may have taken it out."""
        coords = settled(problem, k, self.x).coords
        return self._replace(x=Point(coords, self.x.terms, self.x.parts))  # whose image is that of the atoms

    def padded(self, atoms: Bundle) -> np.ndarray:
        """Return the weights of a bundle that begins with the active atoms."""
        return np.concatenate([self.weights, np.zeros(atoms.size - self.weights.size)])


@plain
class ActiveState(NamedTuple):
    k: int
    active: ActiveSet
    gap: float  # the last Frank-Wolfe gap, which tells an iterative oracle how accurate to be
    memory: Any  # of the step-size rule

    @property
    def x(self) -> Point:
        """The iterate x_k."""
        return self.active.x


def ask(problem: Problem, k: int, at_x: Evaluation, x: Point, gap: float) -> Vertex:
    """Return the vertex for the gradient at x, from an iterative oracle to a tenth of the last Frank-Wolfe gap."""
    share = oracle_share(k)
    if problem.oracle_iterates and problem.curvature > 0:
        share = max(min(share, GAP_SHARE * gap / problem.curvature), LEAST_SHARE)
    vertex = problem.lmo(at_x.slope, k, share, keep=x)
    assert problem.domain is not None
    return steady(problem, at_x.slope, at_x.inner, vertex) if problem.domain.combines_choices else vertex


def steady(problem: Problem, slope: Any, inner: Scalar, vertex: Vertex) -> Vertex:
    """Return the vertex that the oracle chooses when it does not see what rounding and a line search leave.

    Where a vertex is a choice for each entry, a line search that exchanges one choice for another ends where the two
    are worth the same; a vertex that has never been active may then hold either. The bound stays that of the true one,
    which is taken where the other costs more than a sliver of the gap, <slope, x> being `inner`.
    """
    assert problem.domain is not None
    atom = problem.domain.lmo(coarse(slope, problem.eps))
    inner, best, value = fetch([inner, vertex.value, atom.inner(slope)])
    return Vertex(Point.at(atom), value, vertex.lower) if value - best <= SLIVER * (inner - best) else vertex


def coarse(slope: Array, eps: float) -> Array:
    """Return the slope rounded to multiples of what rounding and a line search may leave of its largest entry."""
    grain = nonzero(max(TIE, BLURRED * eps) * largest(slope))  # which underflows
    return namespace(slope).round(slope / grain) * grain


@dataclass(frozen=True)
class ActiveSetMethod(Method):
    """A method that keeps an active set in its state, as `active`, and moves by a step size that looks at f."""

    syncs_host: ClassVar[bool] = True
    step_size: StepSize = field(default_factory=ExactLineSearch)

    def __post_init__(self) -> None:
        if self.step_size.schedule is not None:  # weight moved between atoms must come back
            raise TypeError(
                "step_size must be ExactLineSearch(), Backtracking() or ShortStep(); OpenLoop() is for 'fw'"
            )

    def check(self, problem: Problem) -> None:
        super().check(problem)
        self.step_size.check(self, problem)

    def settled(self, problem: Problem, state: Any) -> Any:
        return state._replace(active=state.active.settled(problem, state.k))


@dataclass(frozen=True)
class WeightMethod(ActiveSetMethod):
    """One gradient, one oracle call, and one move of weight between atoms per step; subclasses choose the move."""

    separates: ClassVar[bool] = True

    def init(self, problem: Problem, x0: Point) -> ActiveState:
        return ActiveState(0, ActiveSet.at(x0), np.inf, self.step_size.init())

    def step(self, problem: Problem, state: ActiveState) -> tuple[ActiveState, Evidence]:
        k, active, gap, memory = state
        at_x = problem.evaluate(active.x)
        vertex = ask(problem, k, at_x, active.x, gap)
        gap = float(at_x.inner - vertex.value)
        scores, inner = active.inner(problem, at_x.slope), float(at_x.inner)
        tie = tied(problem.eps, gap, scores, inner, float(vertex.value))
        move, slope = self.choose(active, scores, inner, familiar(active, scores, vertex, tie), gap, tie)
        delta, memory = self.step_size.choose(problem, k, active.x, move.target, at_x.value, slope, memory, move.cap)
        evidence = Evidence(((at_x.value, active.x),), ((at_x.tangent, vertex),))
        return ActiveState(k + 1, active.moved(move, delta), gap, memory), evidence

    @abstractmethod
    def choose(
        self, active: ActiveSet, scores: np.ndarray, inner: float, vertex: Vertex, gap: float, tie: float
    ) -> tuple[Move, float]:
        """Return a move and <-grad, direction>, from <grad, atom> for all atoms, <grad, x>, the vertex and its gap.

        Differences of at most `tie` are rounding.
        """


def tied(eps: float, gap: float, scores: np.ndarray, *others: float) -> float:
    """Return the difference of scores that rounding and a line search may leave, never more than a sliver of the gap.

    An exact line search from one atom to another ends where the two have the same score: without the tolerance rounding
    would choose between them, and every array library rounds in its own way.
    """
    return min(max(TIE, ROUNDED * eps) * max(float(np.abs(scores).max()), *map(abs, others)), SLIVER * max(gap, 0.0))


def familiar(active: ActiveSet, scores: np.ndarray, vertex: Vertex, tie: float) -> Vertex:
    """Return an active atom that is as good as the oracle's vertex, where there is one: the set stays small."""
    i = lowest(scores, tie)
    if scores[i] > float(vertex.value) + tie:
        return vertex
    return Vertex(active.atoms.points[i], float(scores[i]), vertex.lower)


def lowest(scores: np.ndarray, tie: float) -> int:
    """Return where the scores are lowest; of scores that differ by at most `tie`, the first."""
    return int(np.argmax(scores <= scores.min() + tie))

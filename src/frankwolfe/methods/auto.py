"""`method="auto"`: begin with what suits the problem, and change when the run shows that something else would do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.atoms import Mixable
from frankwolfe.methods.accelerated import AcceleratedFrankWolfe
from frankwolfe.methods.active_set.decomposition_invariant import DecompositionInvariant
from frankwolfe.methods.active_set.fully_corrective import FullyCorrective
from frankwolfe.methods.active_set.lazy import Lazy
from frankwolfe.methods.active_set.pairwise import PairwiseFrankWolfe
from frankwolfe.methods.base import Evidence, Method, oracle_share
from frankwolfe.methods.low_rank.factored import FactoredFrankWolfe
from frankwolfe.methods.open_loop.frank_wolfe import FrankWolfe
from frankwolfe.methods.projected.accelerated_gradient import AcceleratedGradient, StronglyConvexAGM
from frankwolfe.methods.projected.projected_gradient import AcceleratedProjectedGradient
from frankwolfe.methods.second_order import working_set
from frankwolfe.methods.second_order.newton import NewtonFrankWolfe, costs, products_only
from frankwolfe.methods.second_order.subspace import SubspaceFrankWolfe, bends
from frankwolfe.methods.step_sizes import Backtracking, ExactLineSearch
from frankwolfe.objectives.composite import ImageObjective
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.sets.base import ProjectableSet

# What was tuned, each on `python -m benchmarks auto_grid` and `unseen`:
SMALL = 500  # variables up to which a Hessian is cheap
ENOUGH_ROWS = 10  # for each variable, on a device: a Hessian is then a few passes
TALL = 100  # rows for each variable from which on passes over the data outweigh all else
FIRST_LOOK = 16  # steps before a method is judged; then at twice as many, and so on
INTERIOR_SPEEDUP = 2  # how much faster that must be where x is deep inside the set, far from all vertices
INSIDE = 0.25  # depth from which on x counts as inside
EARLY = 6  # corrective steps, each with many atoms, after which an x amid the set tells that it is not the vertices
AMID = 0.45  # depth from which on the set has not been felt at all
MIN_ATOM_CAP = 50  # atoms that a corrective step takes easily, whatever the number of variables
EXPENSIVE = 12.0  # reads of sparse data that a Hessian of them costs, from which on products with it are tried first
WORTH = 0.5  # share of that price that the products of one step may cost
MAX_HESSIAN_COLUMNS = 3000  # of data without coordinate descent: more cost more than many passes over them


class Choice(NamedTuple):
    """A method, what speaks for it, and the steps in which its gap should halve while it is worth keeping."""

    method: Method
    reason: str
    pace: int = 10


CHOICES = {
    "factored": Choice(FactoredFrankWolfe(), "low-rank matrices: corrective steps on the factors"),
    "newton": Choice(NewtonFrankWolfe(), "few variables: second-order steps need the fewest passes over the data"),
    "columns": Choice(NewtonFrankWolfe(), "few columns matter: second-order steps on those alone"),
    "subspace": Choice(SubspaceFrankWolfe(), "a Euclidean ball: the best of the plane through the last steps"),
    "products": Choice(SubspaceFrankWolfe(), "a Euclidean ball: products with the Hessian cost less than to form it"),
    "search": Choice(AcceleratedFrankWolfe(line_search=True), "the set is curved: momentum with a line search"),
    "fcfw": Choice(FullyCorrective(), "the curvature is known: correct the weights of all atoms that matter"),
    "apgd": Choice(AcceleratedProjectedGradient(restart=True), "the projection is cheap: momentum with restarts", 20),
    "fw": Choice(FrankWolfe(ExactLineSearch()), "inside a set a line search alone converges fast"),
    "dicg": Choice(DecompositionInvariant(), "0/1 vertices: pairwise steps that keep no atoms"),
    "lazy": Choice(Lazy(PairwiseFrankWolfe(Backtracking())), "the oracle is slow: vertices seen before answer for it"),
    "pairwise": Choice(PairwiseFrankWolfe(), "only values and gradients are known: pairwise steps"),
    "afw": Choice(AcceleratedFrankWolfe(), "one oracle call per step, no constants"),
}

FALLBACKS = ("fcfw", "apgd", "search", "pairwise")  # after the last method of a plan, where that no longer gets on


@dataclass(frozen=True)
class Facts:
    """What is known before the first step."""

    problem: Problem
    x0: Point

    @property
    def ball(self) -> bool:
        """The set is a Euclidean ball."""
        return self.problem.ball_radius is not None

    @property
    def curved(self) -> bool:
        """The boundary of the set is curved everywhere."""
        return self.problem.domain is not None and self.problem.domain.curved

    @property
    def sparse(self) -> bool:
        """An atom is an entry or a group, so that few of them, and few columns of the data, make up a solution."""
        domain = self.problem.domain
        return domain is not None and domain.sparse_atoms and not domain.mixes_atoms

    @property
    def spectral(self) -> bool:
        """Atoms are matrices from a decomposition, which hardly ever come twice."""
        return self.problem.domain is not None and self.problem.domain.spectral_atoms

    @property
    def expensive_oracle(self) -> bool:
        """The oracle solves a linear programme or a flow: far more work than a look at the atoms seen before."""
        return self.problem.domain is not None and self.problem.domain.slow_oracle(tuple(self.x0.array.shape))

    @property
    def projects(self) -> bool:
        """The projection is cheap and the smoothness constant known, or to be found in passes over the data."""
        objective = self.problem.objective
        constant = isinstance(objective, ImageObjective) or objective.smoothness is not None
        constant = constant and objective.smooth_everywhere  # on a set alone it is far too large for a step
        return isinstance(self.problem.domain, ProjectableSet) and constant and not isinstance(self.x0.coords, Mixable)

    @property
    def tall(self) -> bool:
        """There are few variables and very many rows of data: what counts is how often they are read."""
        n, d = self.problem.objective.data_shape or (0, 1)
        return d <= SMALL and n >= TALL * d

    @property
    def small(self) -> bool:
        """Few variables on a ball or in a box, where models are solved exactly; else tall, and more than quadratic."""
        objective, domain = self.problem.hessian_objective, self.problem.domain
        if objective is None:
            return False
        boxed = domain is not None and not self.problem.on_device and domain.bounds(self.x0.coords) is not None
        if not self.ball and not boxed:
            return self.tall and not objective.constant_hessian
        return products_only(self.problem) or objective.data.shape[1] <= min(SMALL, objective.data.shape[0])

    @property
    def expensive_hessian(self) -> bool:
        """A Hessian of sparse data costs many reads of them, and products with it are to be had instead."""
        objective = self.problem.hessian_objective
        if objective is None or objective.constant_hessian or not bends(self.problem):
            return False
        return hasattr(objective.data.matrix, "nnz") and price_in_reads(self.problem) > EXPENSIVE

    def allow(self, name: str) -> bool:
        """Tell whether a method applies to the problem."""
        method = CHOICES[name].method
        if name in ("apgd", "newton") and not (self.projects if name == "apgd" else self.small or light(self.problem)):
            return False
        try:
            return name == "apgd" or method.check(self.problem) is None
        except (TypeError, ValueError):
            return False


def light(problem: Problem) -> bool:
    """Tell whether vertices are coordinates, and a Hessian of all columns costs a few passes over the data, or nothing.

    On a device it is a matrix product.
    """
    objective = problem.hessian_objective
    if objective is None or objective.data_shape is None or problem.coordinate_set is None:
        return False
    n, d = objective.data_shape
    return n >= ENOUGH_ROWS * d and d <= SMALL if problem.on_device else not working_set.applies(problem)


FAMILIES: tuple[tuple[Callable[[Facts], bool], tuple[str, ...]], ...] = (
    (lambda known: known.allow("factored"), ("factored",)),
    (lambda known: known.ball and known.small and known.expensive_hessian, ("products", "newton")),
    (lambda known: known.ball and known.small, ("newton",)),
    (lambda known: known.ball, ("subspace",)),
    (lambda known: light(known.problem), ("newton",)),
    (lambda known: known.curved and known.small, ("search", "newton")),
    (lambda known: known.curved, ("search", "apgd", "fw")),
    (lambda known: working_set.applies(known.problem), ("columns", "apgd", "columns")),
    (lambda known: known.sparse and known.small, ("fcfw", "newton")),
    (lambda known: known.sparse and known.projects, ("fcfw", "apgd", "fcfw")),
    (lambda known: known.small and not known.expensive_oracle, ("newton",)),
    (lambda known: known.tall and not known.expensive_oracle, ("fcfw", "apgd")),
    (lambda known: known.projects, ("apgd", "fcfw")),
    (lambda known: known.allow("fcfw"), ("fcfw",)),
    (lambda known: known.spectral, ("afw",)),
    (lambda known: known.allow("dicg"), ("dicg",)),
    (lambda known: known.expensive_oracle, ("lazy",)),
    (lambda known: True, ("pairwise",)),
)


@plain
class AutoState(NamedTuple):
    k: int
    inner: Any  # state of the method that runs
    plan: tuple[str, ...]  # names of what may run, in this order
    turn: int  # which of them runs
    why: tuple[str, ...]  # of each change
    began: int  # the step at which it began
    value: float  # the best seen
    bound: float  # the best lower bound, by the oracle's own word
    before: float  # the gap at the last look, or half way to the first

    @property
    def x(self) -> Point:
        """The iterate x_k."""
        return self.inner.x


@dataclass(frozen=True)
class Auto(Method):
    """Begin with the method that suits what is known of the problem; go on to the next where the run disappoints.

    Notes
    -----
    The first family that the problem belongs to names the methods to try; the first of them runs. After 16, 32, 64, ...
    steps of it the gap is compared with that at half as many. It should have halved every 10 steps (20 for projected
    steps, which are cheap), else the next method takes over, from the same point and with the same certificate. Every 5
    steps are asked for where x is deep inside the set, as with a solution in the interior or one that mixes very many
    vertices: the oracle then points nowhere near the way. Depth is the place of x in the width of the set along the
    gradient, (<g, x> - min)/(max - min): zero on the face that the oracle answers with, near a half inside. Corrective
    steps end at once when they hold more than one atom for every four variables, or if x is amid the set after six.

    Decisions rest on counts and values alone, never on clocks: a resumed run takes the same ones. `result.method` reads
    like 'fcfw -> apgd' after a change, and `result.reason` says why.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(2), np.ones(2))
    >>> result = fw.minimize(f, fw.L1Ball(1.0))
    >>> result.method, result.reason
    ('newton', 'few variables: second-order steps need the fewest passes over the data')
    """

    name: ClassVar[str] = "auto"
    syncs_host: ClassVar[bool] = True

    def prepare(self, problem: Problem) -> None:
        if light(problem):
            CHOICES["newton"].method.prepare(problem)

    def init(self, problem: Problem, x0: Point) -> AutoState:
        plan = planned(problem, x0)
        inner = CHOICES[plan[0]].method.init(problem, x0)
        return AutoState(0, inner, plan, 0, (), 0, math.inf, -math.inf, math.inf)

    def step(self, problem: Problem, state: AutoState) -> tuple[AutoState, Evidence]:
        inner, evidence = CHOICES[state.plan[state.turn]].method.step(problem, state.inner)
        after = state._replace(k=state.k + 1, inner=inner)
        if state.turn + 1 == len(state.plan) or not evidence.minorants:
            return after, evidence
        evidence = with_answer(problem, state.k, evidence)
        value = min(state.value, *(float(value) for value, _ in evidence.seen))
        bounds = (float(tangent.bound(v.value, 0.0)) for tangent, v in evidence.minorants if v is not None)
        after = after._replace(value=value, bound=max(state.bound, *bounds))

        if state.plan[state.turn] == "products" and inner.rounds > WORTH * price_in_reads(problem):
            return self._next(problem, after, "a step took many products"), evidence
        if too_many_atoms(problem, state):
            return self._next(problem, after, "the solution mixes very many vertices"), evidence
        if state.plan[0] == "fcfw" and after.k == EARLY and interior_depth(problem, state.x, evidence) > AMID:
            return self._next(problem, after, "x stays deep inside the set"), evidence
        age, gap = after.k - after.began, value - after.bound
        if age == FIRST_LOOK // 2:
            return after._replace(before=gap), evidence
        if age < FIRST_LOOK or age.bit_count() > 1:
            return after, evidence
        return self._judged(problem, state.x, after, gap, evidence), evidence

    def settled(self, problem: Problem, state: AutoState) -> AutoState:
        return state._replace(inner=CHOICES[state.plan[state.turn]].method.settled(problem, state.inner))

    def _judged(self, problem: Problem, x: Point, state: AutoState, gap: float, evidence: Evidence) -> AutoState:
        """Return the state with the next method of the plan if the gap has not fallen fast enough."""
        halvings, steps = math.log2(max(state.before, 1e-300) / max(gap, 1e-300)), (state.k - state.began) // 2
        inside = interior_depth(problem, x, evidence) > INSIDE
        method, _, pace = CHOICES[state.plan[state.turn]]
        if inside and not method.dense:  # which projections need
            pace = pace / INTERIOR_SPEEDUP
        if halvings * pace >= steps:
            return state._replace(before=gap)
        seen = "x stays deep inside the set" if inside else "the gap falls slowly"
        return self._next(problem, state, seen)

    def _next(self, problem: Problem, state: AutoState, seen: str) -> AutoState:
        """Return the state with the next method of the plan, which begins where the last one is."""
        inner = CHOICES[state.plan[state.turn + 1]].method.init(problem, state.x)
        why = (*state.why, f"after {state.k} steps {seen}")
        return state._replace(inner=inner, turn=state.turn + 1, why=why, began=state.k, before=math.inf)

    def after_stall(self, problem: Problem, state: AutoState) -> AutoState | None:
        """Return the state with the next method of the plan, or after the last one with what else applies."""
        known = Facts(problem, state.x)
        others = (name for name in FALLBACKS if name not in state.plan and known.allow(name))
        plan = state.plan if state.turn + 1 < len(state.plan) else (*state.plan, *list(others)[:1])
        if state.turn + 1 == len(plan):
            return None
        return self._next(problem, state._replace(plan=plan), "it no longer got on")

    def account(self, state: AutoState) -> tuple[str, str]:
        """Return the methods that ran, and why each of them did."""
        rows = [CHOICES[name] for name in state.plan[: state.turn + 1]]
        later = (f"; {why}: {row.reason}" for why, row in zip(state.why, rows[1:], strict=True))
        return " -> ".join(row.method.name for row in rows), rows[0].reason + "".join(later)


def choose(problem: Problem) -> tuple[Method, str]:
    """Return a method for the problem, and the reason where the run itself does not tell."""
    if problem.domain is not None:
        return Auto(), ""
    if problem.objective.strong_convexity > 0:
        return StronglyConvexAGM(), "no set, and the objective is strongly convex"
    return AcceleratedGradient(), "no set: accelerated gradient descent"


def planned(problem: Problem, x0: Point) -> tuple[str, ...]:
    """Return the names of the methods to try, in order: of the first family that the problem belongs to."""
    known = Facts(problem, x0)
    plans = (tuple(n for n in names if known.allow(n)) for condition, names in FAMILIES if condition(known))
    return next(filter(None, plans))


def with_answer(problem: Problem, k: int, evidence: Evidence) -> Evidence:
    """Return the evidence with the oracle's answer on its last tangent, where the step did not ask."""
    tangent, vertex = evidence.minorants[-1]
    if vertex is not None:
        return evidence
    vertex = problem.lmo(tangent.slope, k, share=oracle_share(k))
    return evidence._replace(minorants=(*evidence.minorants[:-1], (tangent, vertex)))


def interior_depth(problem: Problem, x: Point, evidence: Evidence) -> float:
    """Return the place of x between the ends of the set along the last slope: zero is the lowest, one the highest."""
    tangent, vertex = evidence.minorants[-1]
    assert problem.domain is not None
    assert vertex is not None
    slope, lowest = tangent.slope, float(vertex.value)
    highest = float(problem.domain.lmo(-slope).inner(slope))
    return (float(problem.inner(slope, x)) - lowest) / (highest - lowest) if highest > lowest else 0.0


def price_in_reads(problem: Problem) -> float:
    """Return what a Hessian and its factors cost, in terms of a gradient."""
    hessian, factors, gradient = costs(problem)
    return (hessian + factors) / gradient


def too_many_atoms(problem: Problem, state: AutoState) -> bool:
    """Tell whether corrective steps, first in the plan, hold an atom for every four variables: nothing is sparse."""
    if state.turn == 0 and state.plan[0] == "columns":
        (objective, _), count = working_set.model_on(problem), np.count_nonzero(state.x.array)
        return not working_set.may_descend(objective) and bool(count > MAX_HESSIAN_COLUMNS)
    if state.turn > 0 or state.plan[0] != "fcfw" or state.x.parts is None:
        return False
    return len(state.x.parts[1]) > max(MIN_ATOM_CAP, math.prod(state.x.array.shape) // 4)

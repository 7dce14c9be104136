"""Second-order conditional gradient: a quadratic model from one read of the data, minimised over the set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.backends import host
from frankwolfe.backends.namespace import as_like, fetch_arrays
from frankwolfe.kernels.qp.ball_qp import ball_qp, ball_qp_by_products
from frankwolfe.kernels.qp.box_qp import box_qp
from frankwolfe.kernels.qp.simplex_qp import l1_qp, simplex_qp
from frankwolfe.kernels.rows.layouts import double
from frankwolfe.kernels.threads import calm
from frankwolfe.methods.active_set.active_set import steady
from frankwolfe.methods.base import Evidence, Method, closed, looked
from frankwolfe.methods.second_order import working_set
from frankwolfe.methods.second_order.growing_hessian import Asked
from frankwolfe.methods.second_order.subspace import EPS
from frankwolfe.objectives.base import Evaluation
from frankwolfe.objectives.second_moments import SecondMoments
from frankwolfe.points import Point
from frankwolfe.problem import Problem, Vertex
from frankwolfe.serialisation import plain
from frankwolfe.validation import integer

# What was tuned, each on `python -m benchmarks unseen` and `accuracy`:
REST = 0.5  # share of the gap that ends the run, to which a model that is f itself is solved
LARGEST = 5000  # variables up to which a Hessian is formed
FACTORED = 500  # and on a ball, of a quadratic, factored: more take more than products with it do
SEARCH, ROUGH_SEARCH = 1e-3, 0.05  # accuracy of the line search; far away, where the step is long anyway
FAR = 1.0  # while the last gap exceeds f so many times, the model is rough, and some rows tell enough of its curvature:
ROWS, FEWEST = 25, 8  # so many for each variable, but one in eight at least
ROUGH, ROUGH_FACE = 0.3, 3.0  # of what a rough model gains, what may be left to gain: on a ball, on a polytope
POOR = 0.5  # share of such a step that the search must take, or the next Hessians are of all rows
STEADY, FALLEN = 0.1, 0.3  # how near to a whole step, and from what share of the gap before, the next is not searched
SPEED = 1.5  # power by which the gap falls faster at each step near the solution
UNFELT = 0.1  # share of the gap, or of the one that ends the run, that rounding of second moments may be
USUAL = 1e-6  # share of f, or of what was gained, that is asked for then
UNSEEN = 1e-6  # share of the sizes of its terms below which a second difference is rounding
LOOSER = 2.0  # times what the step from where a Hessian was formed left of the gap, the next one leaves with the same
LONGEST = 3  # times the price of a Hessian that steps with the same one may take
KEPT = 1000  # variables up to which a Hessian is kept from one step to the next
# What a Hessian and a step without one cost, in nanoseconds of one core (`python -m benchmarks unseen` raced both):
PAIR = {True: 0.04, False: 1.0}  # for two entries of a row that meet in a Hessian, dense and sparse
WEIGHTED = {True: 3.0, False: 0.0}  # and for one that is weighted first
ENTRY, STEP = {True: 0.3, False: 1.0}, 3e5  # for an entry in two reads, and for a step besides all arrays
ROW, FREE_ROW = 5.0, 10.0  # for a row, and where there is a free intercept
TAIL = 0.7  # share of the difference between the curvatures of f and log f that is taken off


@plain
class Bend(NamedTuple):
    """A Hessian for more than one step: improved by what the gradient has done since, as quasi-Newton methods do."""

    hessian: np.ndarray
    slope: np.ndarray  # where it was used last
    place: np.ndarray
    age: int = 0  # steps since it was formed
    fall: float = 1.0  # share of the gap that the step from where it was formed has left

    def at(self, slope: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return it with the curvature along the last step that the slope there shows (the update of BFGS)."""
        step, change = place - self.place, slope - self.slope
        bent, along = self.hessian @ step, float(change @ step)
        before = float(bent @ step)
        if not (along > UNSEEN * float(np.abs(change) @ np.abs(step)) and before > 0):
            return self.hessian
        return self.hessian + np.outer(change / along, change) - np.outer(bent / before, bent)


@plain
class NewtonState(NamedTuple):
    k: int
    x: Point
    gap: float  # the last Frank-Wolfe gap, relative to f
    rested: bool = False  # whether the last step stayed, its gap being all that was asked for
    rounds: int = 4  # that coordinate descent takes, by what was seen last
    sample: bool = True  # whether some rows tell enough of the Hessian: so far no step from them was poor
    likely: float = np.inf  # the gap that is left at x, by the pace of the last steps
    multiplier: float | None = None  # of the ball, in the last model
    steady: bool = False  # whether the last search took about the whole step, so that the next needs none
    value: float = np.inf  # f where the last step began
    kept: Bend | None = None  # the last model, where the next step may use its Hessian again
    asked: Asked = ()  # columns of a Hessian that is the same everywhere, as they were asked for


@dataclass(frozen=True)
class NewtonFrankWolfe(Method):
    """Minimise the second-order model of f over the set by a projection-free method, then search the segment.

    Parameters
    ----------
    accuracy : float, default 0.01
        The model is solved when its Frank-Wolfe gap is at most this share of what it gains; more while the model is
        rough.
    max_inner : int, default 1000
        Most oracle calls on one model.

    Notes
    -----
    The model at x is <∇f(x), z - x> + (z - x)'H(z - x)/2 with H = A'diag(φ'')A, p x p numbers from one read of the data
    [1]_. On an l2 ball it is minimised exactly, by Cholesky factors; on an l1 ball or a simplex by a quadratic program
    in the weights of the vertices, started from those of x; in a box by projected Newton steps; on any other set by
    fully corrective Frank-Wolfe, whose gap certifies the accuracy. The exact line search runs on images. A step reads
    the data twice where the kernels are compiled: gradient and Hessian together (of dense data one after the other),
    and the image of the model's minimiser. Far from the solution, where the model is good for a short way only, the
    Hessian is estimated from rows drawn at random, until a step from them turns out poor. Near it a Hessian serves for
    several steps, corrected by what the gradients show (BFGS) [4]_, while these close the gap for less than a fresh one
    would. On l1 and l2 balls and simplices the model of a logistic loss is, far away, rather that of log f, times f,
    which has the same minimiser and is good for a longer way where losses are in their exponential tails: less of gg'/f
    than would make it concave is taken off H.

    f falls at every step; near the solution the error falls by about `accuracy` at each, and quadratically where the
    model is solved exactly. The certificate is the Frank-Wolfe gap at x, which needs no model.

    On an l1 ball or a simplex of more than 200 variables the model is kept to the columns that matter [2]_: those in
    use and the best of those whose vertices the gradient prefers, a few dozen to begin with, then ever more. Steps on
    these columns read nothing else; the next gradient looks at all columns, certifies, and tells which ones to add. The
    number of variables is then no matter, only that of the columns in use is. Where so many sparse columns matter that
    their Hessian would cost more, the model is minimised by coordinate descent instead, and none is formed. Squares,
    whose model is f itself, are then solved in one step.

    For `Logistic`, `LeastSquares`, `Huber` and `Quadratic`, on other sets (with closed-form oracles) of up to 5000
    variables.

    References
    ----------
    .. [1] A. Carderera and S. Pokutta, Second-order conditional gradient sliding, 2020.
    .. [2] M. Massias, A. Gramfort and J. Salmon, Celer: a fast solver for the lasso with dual extrapolation, ICML 2018.
    .. [3] K. Scheinberg and X. Tang, Practical inexact proximal quasi-Newton method with global complexity analysis,
       Math. Program. 160, 2016.
    .. [4] J. Nocedal and S. Wright, Numerical Optimization, 2nd edition, Springer, 2006, section 6.1.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.Logistic(np.array([[1.0, 2.0], [3.0, 1.0], [-2.0, -1.0]]), [0, 1, 0])
    >>> result = fw.minimize(f, fw.L1Ball(2.0), method=NewtonFrankWolfe(), tol=1e-10)
    >>> bool(result.success), bool(result.n_iter < 12)
    (True, True)
    """

    name: ClassVar[str] = "newton"
    syncs_host: ClassVar[bool] = True
    accuracy: float = 0.01
    max_inner: int = 1000

    def __post_init__(self) -> None:
        if not 0 <= self.accuracy < 1:
            raise ValueError(f"accuracy must lie in [0, 1), got {self.accuracy!r}")
        object.__setattr__(self, "max_inner", integer("max_inner", self.max_inner, 1))

    def check(self, problem: Problem) -> None:
        super().check(problem)
        objective = problem.hessian_objective
        if objective is None or not objective.data.stored:
            name = type(problem.objective).__name__
            raise TypeError(
                f"method 'newton' forms the Hessian from the data, which {name} does not hold as a "
                "matrix; use 'subspace' or 'afw'"
            )
        if objective.data.shape[1] > LARGEST and not working_set.applies(problem) and not products_only(problem):
            raise ValueError(
                f"method 'newton' forms a p x p Hessian, and p = {objective.data.shape[1]} is more than {LARGEST}; use "
                "'subspace'"
            )
        if problem.oracle_iterates:
            raise TypeError(
                f"method 'newton' asks its oracle very often, and that of {type(problem.domain).__name__} iterates; "
                "use 'afw' or 'factored'"
            )

    def prepare(self, problem: Problem) -> None:
        if not working_set.applies(problem) and not products_only(problem):
            formed_moments(problem)

    def check_start(self, problem: Problem, x0: Point) -> None:
        size = x0.array.shape[0]
        if problem.on_device and size > LARGEST:
            raise ValueError(
                f"method 'newton' forms a p x p Hessian of {type(x0.coords).__name__} data, and p = {size} is more "
                f"than {LARGEST}; use 'subspace' or 'fcfw'"
            )

    def init(self, problem: Problem, x0: Point) -> NewtonState:
        return NewtonState(0, x0, np.inf)

    def step(self, problem: Problem, state: NewtonState) -> tuple[NewtonState, Evidence]:
        if working_set.applies(problem):
            return working_set.step(problem, state, self.whole)
        return self.whole(problem, state)

    def whole(self, problem: Problem, state: NewtonState) -> tuple[NewtonState, Evidence]:
        """Take a step with the model in all variables."""
        k, x, before, rested = state[:4]
        far, kept, by_products = before > FAR, state.kept, "hessian" not in problem.scratch and products_only(problem)
        H, afresh = problem.scratch.get("hessian"), bool(x.pending)
        known = None if by_products or rested else _from_moments(problem, x, k)
        if known is not None and known.as_good(problem.goal):
            at_x, vertex, afresh, H = known.at, known.vertex, True, problem.scratch["hessian"]
        else:
            if by_products or H is not None or kept is not None or state.likely <= problem.goal:
                at_x = problem.evaluate(x)  # no Hessian will be needed, it seems
            else:
                at_x, H = _expansion(problem, x, FEWEST if far and state.sample else 1)
            at_x, vertex = looked(problem, at_x, problem.lmo(at_x.slope, k, share=0.0, keep=x))
        evidence = Evidence(((at_x.value, x),), ((at_x.tangent, vertex),), afresh=afresh)
        if not rested and closed(problem, at_x.value, at_x.tangent, vertex):
            return state._replace(k=k + 1, rested=True), evidence
        gap = max(float(at_x.inner - vertex.value), 0.0)
        relative = gap / max(abs(float(at_x.value)), 1e-300)
        fall = relative / before if before > 0 else np.inf
        # In single precision, what is left of a gap that steps no longer close shows in double precision alone.
        unclear = problem.exact is not None and (rested or (fall > FALLEN and not far))
        slope: Any = (problem.in_double(x.coords) if unclear else at_x).slope
        g, here = fetch_arrays(slope, x.array)
        target = by_lanczos(problem, x, g) if by_products else None
        if target is not None:
            return NewtonState(k + 1, Point.at(as_like(target, x.coords)), relative), evidence
        if kept is not None and kept.age == 0:
            kept = kept._replace(fall=fall)
        if kept is not None and lasts(problem, kept, gap, fall):
            H = kept.at(g, here)
            kept = Bend(H, g, here, kept.age + 1, kept.fall)
        else:
            H = _hessian(problem, x) if H is None else H
            kept = None if relative > FAR or not may_keep(problem, len(g)) else Bend(H, g, here)
        rtol, radius, objective = SEARCH, problem.ball_radius, problem.hessian_objective
        whole, is_f = radius is not None or problem.coordinate_set is not None, "hessian" in problem.scratch
        tail = objective.tail(x.image) if far and whole and not is_f and objective is not None else None
        if tail is not None and float(tail) > 0:
            rtol = ROUGH_SEARCH  # the model of log f is good for long steps, not for their last digits
            scaled = g / math.sqrt(float(tail) / TAIL)  # finite: gg' is at most the tail times H
            H = H - np.multiply.outer(scaled, scaled)
        with calm(H.size):
            target, multiplier = self._target(problem, H, g, here, vertex.point, state, relative > FAR)
        z = Point.at(as_like(target, x.coords))
        if unclear:  # a tangent there proves more than any at a point in single precision
            evidence = evidence._replace(minorants=(*evidence.minorants, (problem.in_double(target).tangent, None)))
        value, steady = float(at_x.value), state.steady and not far and float(at_x.value) <= state.value
        likely = gap * min(fall, 1.0) ** SPEED if 0 < before < np.inf else np.inf
        last = state.rounds, state.sample, likely, multiplier, steady, value, kept
        after = NewtonState(k + 1, z, relative, False, *last)
        ahead = None if known is None else _from_moments(problem, z, k)
        if ahead is not None and ahead.as_good(goal_for(problem, gap, value, float(ahead.at.value))):
            # What z is worth costs no read.
            both = (*evidence.minorants, (ahead.at.tangent, ahead.vertex))
            evidence = Evidence((*evidence.seen, (ahead.at.value, z)), both, afresh=afresh)
        if steady or is_f:  # the model is f, or as good: there is nothing to search for
            return after, evidence
        step = problem.line_search(x, z, rtol=rtol)
        if not step > 0:  # f does not show what the step gains, but the model does: taken if f does not rise either
            rounding = max(4 * problem.eps * abs(value), float(at_x.tangent.noise))
            step = float(float(problem.value(z)) <= value + rounding)
        x_next = problem.mix(x, z, step)
        sample = state.sample and not (far and step < POOR)
        steady = not far and abs(step - 1) <= STEADY and relative <= FALLEN * before
        return after._replace(x=x_next, sample=sample, steady=steady), evidence

    def _target(
        self, problem: Problem, H: np.ndarray, g: np.ndarray, x: np.ndarray, first: Point, state: NewtonState, far: bool
    ) -> tuple[np.ndarray, float | None]:
        """Return z in the set that minimises <g, z> + (z - x)'H(z - x)/2, and its multiplier where there is one.

        As accurately as what is gained by it deserves; where the model is f itself, as the run asks for.
        """
        if problem.exact is not None:
            H = 0.5 * (H + H.T)  # in single precision it is symmetric but for rounding
        radius, coordinates, b = problem.ball_radius, problem.coordinate_set, g - H @ x
        tol, rough = REST * problem.goal, ROUGH_FACE if radius is None else ROUGH
        share = 0.0 if "hessian" in problem.scratch else rough if far else self.accuracy
        if radius is not None:
            unit = 1.0 if 1e-100 < radius < 1e100 else radius  # squares of lengths neither vanish nor overflow
            if unit != 1.0:
                H, b, x, radius = unit * unit * H, unit * b, x / unit, 1.0
            target, multiplier = ball_qp(H, b, radius, state.multiplier, x, tol, share)
            return unit * target, multiplier
        bounds = None if problem.domain is None else problem.domain.bounds(x)
        if bounds is not None:
            return box_qp(H, b, *bounds, x, tol, problem.tick, share), None
        if coordinates is None:
            return self._corrective(problem, H, g, x, first), None
        r = coordinates.radius
        if coordinates.signed:
            return l1_qp(H, b, r, x, tol, problem.tick, share), None
        return r * simplex_qp(r * r * H, r * b, x / r, tol, problem.tick, share), None

    def _corrective(self, problem: Problem, H: np.ndarray, g: np.ndarray, x: np.ndarray, first: Point) -> np.ndarray:
        """Return z in the set that minimises <g, z> + (z - x)'H(z - x)/2 up to a Frank-Wolfe gap of its decrease."""
        assert problem.domain is not None
        atoms, weights = np.stack([x, host(first.array)]), np.array([1.0, 0.0])
        products = atoms @ H
        for _ in range(self.max_inner):
            gram = atoms @ products.T
            gram = 0.5 * (gram + gram.T)
            linear = atoms @ (g - H @ x)
            weights = simplex_qp(gram, linear, weights, tick=problem.tick)
            z = weights @ atoms
            slope = g + H @ (z - x)
            inner = float(slope @ z)
            vertex = _vertex(problem, slope, inner)
            gap, rounding = inner - float(vertex.value), 8 * EPS * (abs(inner) + abs(float(vertex.value)))
            decrease = -float(g @ (z - x) + 0.5 * (z - x) @ H @ (z - x))
            if gap <= max(self.accuracy * decrease, rounding):
                break
            kept = weights > 0
            row = host(vertex.point.array)
            atoms = np.vstack([atoms[kept], row])
            products, weights = np.vstack([products[kept], row @ H]), np.append(weights[kept], 0.0)
        return z


class Known(NamedTuple):
    """What second moments tell of a point: f with its gradient, and the vertex for that."""

    at: Evaluation
    vertex: Vertex
    exact: bool  # whether f has as many digits as if it came from the rows

    def as_good(self, goal: float) -> bool:
        """Tell whether the rows would tell no more: rounding is little beside the gap, or the one that ends the run."""
        gap = float(self.at.inner - self.vertex.value)
        return self.exact and float(self.at.tangent.noise) <= UNFELT * max(goal, gap)


def _from_moments(problem: Problem, x: Point, k: int) -> Known | None:
    """Return what second moments tell of x; None where there are none, or numbers overflow."""
    moments = formed_moments(problem)
    if moments is None:
        return None
    found, exact = moments.evaluate(x.array, problem.extent)
    problem.count(found)
    at_x = problem.judged(found, x)
    vertex = problem.lmo(at_x.slope, k, share=0.0, keep=x)
    return Known(at_x, vertex, exact) if math.isfinite(float(at_x.tangent.noise)) else None


def goal_for(problem: Problem, gap: float, before: float, value: float) -> float:
    """Return the gap that ends the run; where that is not known before the first step, what is asked for by default."""
    return problem.goal if problem.goal > working_set.UNKNOWN * gap else USUAL * min(before - value, abs(value))


def formed_moments(problem: Problem) -> SecondMoments | None:
    """Return what tells f everywhere, with its Hessian, where one read of the rows forms it; None elsewhere."""
    objective = problem.hessian_objective
    if objective is None or not objective.constant_hessian or (objective.shape or (0,))[0] > KEPT:
        return None
    new = "second_moments" not in vars(objective)
    moments = objective.second_moments
    if moments is not None and "hessian" not in problem.scratch:
        problem.scratch["hessian"] = moments.hessian
        problem.counts.n_pass += new
    return moments


def _expansion(problem: Problem, x: Point, every: int) -> tuple[Evaluation, np.ndarray]:
    """Return f, gradient and Hessian at x."""
    objective = problem.hessian_objective
    assert objective is not None
    n, d = objective.data.shape
    priced = objective.data_shape is not None  # rows in main memory
    # Of a Hessian that costs less than the rest of a step some rows would save next to nothing.
    whole = _is_same(problem) or (priced and costs(problem)[0] < STEP)
    at_x, H = objective.evaluate_twice(x, 1 if whole else max(1, min(every, n // (ROWS * d))))
    problem.count(at_x)
    return problem.judged(at_x, x), _noted(problem, H)


def _hessian(problem: Problem, x: Point) -> np.ndarray:
    """Return the Hessian at x, where f and gradient are known."""
    moments, objective = formed_moments(problem), problem.hessian_objective
    if moments is not None:
        return moments.hessian
    assert objective is not None
    problem.counts.n_pass += objective.data_shape is not None
    return _noted(problem, objective.hessian(x))


def _noted(problem: Problem, H: np.ndarray) -> np.ndarray:
    """Return a Hessian, and keep one that is the same everywhere for the steps to come."""
    if _is_same(problem):
        problem.scratch["hessian"] = H
    return H


def _is_same(problem: Problem) -> bool:
    """Tell whether the Hessian of the rows is the same everywhere."""
    objective = problem.hessian_objective
    return objective is not None and objective.constant_hessian and objective.data_shape is not None


def may_keep(problem: Problem, d: int) -> bool:
    """Tell whether a Hessian may serve for more than one step: one that changes, of rows in main memory."""
    objective = problem.hessian_objective
    assert objective is not None
    known = objective.constant_hessian or objective.data_shape is None
    return not (known or problem.on_device or d > KEPT)


def lasts(problem: Problem, kept: Bend, gap: float, fall: float) -> bool:
    """Tell whether the last Hessian is to be used again: whether steps with it close the gap for less.

    A step leaves about the same share of the gap as the one before it, the first a larger one than the step from where
    the Hessian was formed; a step with a Hessian of its own would leave the square of what the last such step left.
    Steps are taken up to the price of a Hessian, while they gain more for their price, or are about to end the run.
    """
    hessian, factors, gradient = costs(problem)
    price = hessian / (factors + gradient + STEP)  # of a Hessian, in steps without one
    share = fall if kept.age else LOOSER * fall
    if not 0 < share < 1 or kept.age > LONGEST * price:
        return False
    gain, fresh = -math.log(share), -2 * math.log(max(kept.fall, 1e-300))
    left = math.log(max(gap / max(problem.goal, 1e-300), 1.0)) / gain  # steps
    return left <= price or (kept.age < price and gain * (price + 1) >= fresh)


def costs(problem: Problem) -> tuple[float, float, float]:
    """Return about how many nanoseconds of one core a Hessian takes, its factors, and a gradient."""
    objective = problem.composite
    data: Any = objective.map
    (n, d), dense = data.shape, not hasattr(data.matrix, "nnz")
    entries = n * d if dense else data.matrix.nnz
    gradient = ENTRY[dense] * entries + (ROW if objective.separable else FREE_ROW) * n
    hessian = entries * (PAIR[dense] * entries / (2 * n) + WEIGHTED[dense])
    return hessian, d**3 / working_set.FACTOR, gradient


def products_only(problem: Problem) -> bool:
    """Tell whether the model is f itself, on a ball of so many variables that products with its Hessian do."""
    objective = problem.hessian_objective
    if objective is None or objective.data_shape is None or problem.on_device or problem.ball_radius is None:
        return False
    return objective.constant_hessian and objective.data_shape[1] > FACTORED


def by_lanczos(problem: Problem, x: Point, g: np.ndarray) -> np.ndarray | None:
    """Return the minimiser of a quadratic f over the ball from products with its Hessian, g being its slope at x.

    None where it takes so many that the Hessian costs less.
    """
    objective, radius = problem.hessian_objective, problem.ball_radius
    assert objective is not None
    assert radius is not None
    along = objective.hessian_along(x)

    def bent(v: np.ndarray) -> np.ndarray:
        problem.tick()
        _, turned, passes = along(v)
        problem.counts.n_pass += passes
        return turned

    here = double(x.array)
    b = double(g) - bent(here) if here.any() else double(g)
    hessian, factors, gradient = costs(problem)
    worth = (hessian + factors) / gradient if b.size <= LARGEST else np.inf
    return ball_qp_by_products(bent, b, radius, REST * problem.goal, worth)


def _vertex(problem: Problem, slope: np.ndarray, inner: float) -> Vertex:
    """Return the oracle's answer for the model, <slope, z> being `inner`; atoms that are tied, as many are, alike."""
    assert problem.domain is not None
    problem.counts.n_lmo += 1
    atom = problem.domain.lmo(slope)
    vertex = Vertex(Point.at(atom), float(atom.inner(slope)), 0.0)
    return steady(problem, slope, inner, vertex) if problem.domain.combines_choices else vertex

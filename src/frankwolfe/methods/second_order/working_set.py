"""Second-order steps on the columns that matter: what `newton` does on an l1 ball or a simplex of many variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from frankwolfe.backends import Array
from frankwolfe.backends.compile_policy import repays, setting
from frankwolfe.kernels.qp.coordinate_descent import Model, Start, descended, water_level
from frankwolfe.kernels.qp.simplex_qp import l1_qp, simplex_qp
from frankwolfe.kernels.rows.layouts import double
from frankwolfe.methods.base import Evidence, closed
from frankwolfe.methods.second_order import growing_hessian
from frankwolfe.objectives.base import Evaluation
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.points import Leaf, Point
from frankwolfe.problem import Problem
from frankwolfe.rows.sparse_matrix import CSCMatrix, CSRMatrix
from frankwolfe.sets.base import CoordinateSet

Step = Callable[[Problem, Any], tuple[Any, Evidence]]

FAMILY = "coordinate descent"  # of kernels, whatever the data and the loss

# What was tuned, each on `python -m benchmarks unseen` and `accuracy`:
MANY, CHEAP = 200, 10  # variables from which on columns are chosen, where a Hessian of all costs more than ten reads
BAND, BELOW = 0.03, 0.5  # a column matters if its worth is so much, or this share of the gap, below those in use
FIRST, GROWTH = 64, 1.5  # how many columns may join a Hessian: so many, or this many times those in use
REST, LAST = 0.01, 0.5  # share of the gap that may be left on some of the columns that matter; of the one that ends all
EXACT, REST_EXACT = 0.02, 0.5  # where the model is f itself
MOST_STEPS = 10  # second-order steps between two scans of all columns
LEFT, FAR_LEFT = 0.03, 0.3  # share of the gap that coordinate descent leaves, and while the gap exceeds f
MOST_ROUNDS, FINEST = 30, 0.1  # of it on one model; share of the gap that ends the run, below which it need not go
ALL_ROUNDS, CLOSE = 200, 0.2  # where it is f: most rounds, and share to leave of the gap that ends the run
UNKNOWN, END = 1e-15, 1e-8  # of the gap, below which a goal is not one yet; and share to leave then
LITTLE = 0.9  # share of the gap that a step may leave and still count as one that gains
FLAT = 1e-3  # curvature of rows that have none, in terms of the largest: a column of such rows alone is to move, too
ROUND, TURN, FACTOR = 2, 4, 22  # operations on an entry: in a round, to turn it into a column; in one, of factors
SOLVED, STEP = 12, 3e6  # on an entry, to solve a model that is f by rounds; of a step by Hessians besides the data
FAR_OFF = 0.5  # multiple of the start that is best, below which descent begins at zero
FEW = 16  # columns that seem to matter at first, up to which they are solved for alone: there may be no more
GIVEN_UP = 1 << 30  # rounds, which cost more than any Hessian
NEAR = 0.3  # gap, in terms of <gradient, x>, from which on a Hessian gains more than a decade


def applies(problem: Problem) -> bool:
    """Tell whether the vertices are single columns of the data, and many; picked from NumPy arrays."""
    objective = problem.objective
    if problem.on_device or objective.data_shape is None or problem.coordinate_set is None:
        return False
    objective = model_on(problem)[0]
    n, d = objective.data.shape
    if d <= MANY or sparse(objective) is None:
        return d > MANY
    entries = objective.data.matrix.nnz
    return entries**2 / (2 * n) + d**3 / FACTOR > CHEAP * entries  # else a Hessian of all columns costs a few passes


def step(problem: Problem, state: Any, newton: Step) -> tuple[Any, Evidence]:
    """Return the state after second-order steps on some columns, and what one scan of all of them has shown."""
    k, x = state.k, state.x
    afresh, at_x = bool(x.pending), problem.evaluate(x)
    vertex = problem.lmo(at_x.slope, k, share=0.0, keep=x)
    gap = max(float(at_x.inner - vertex.value), 0.0)
    evidence = Evidence(((at_x.value, x),), ((at_x.tangent, vertex),), afresh=afresh)
    if not state.rested and closed(problem, at_x.value, at_x.tangent, vertex):
        return state._replace(k=k + 1, rested=True), evidence
    scan = scan_columns(problem, x, at_x, gap, first=not np.isfinite(state.gap))
    if descends(problem, scan, state.rounds):
        return by_coordinates(problem, state, scan), evidence
    if growing_hessian.applies(model_on(problem)[0]):
        return by_growing_hessian(problem, state, scan), evidence
    return by_hessians(problem, state, scan, newton), evidence


class ColumnScan(NamedTuple):
    """What the gradient at x tells of the columns."""

    at_x: Evaluation
    gap: float
    worth: np.ndarray  # of each column: how steep the way to its vertex is
    level: float  # that of the columns in use, the multiplier of the constraint
    matter: np.ndarray  # whether it is in use, or worth as much
    first: bool = False  # whether that was told as if columns were orthogonal, for want of a level


def scan_columns(problem: Problem, x: Point, at_x: Evaluation, gap: float, first: bool) -> ColumnScan:
    """Return what the gradient tells; at first, of sparse data, the level that it would be were columns orthogonal."""
    objective, domain = model_on(problem)
    size = np.abs if domain.signed else np.asarray
    worth, level = size(-at_x.slope), -float(at_x.inner) / domain.radius
    entry = level - min(BELOW * gap / domain.radius, BAND * abs(level))
    data = sparse(objective)
    if first and data is not None:
        bend = data.squares(double(objective.loss_curvature(x.image))) + objective.ridge
        least = 0.0 if domain.signed else -np.inf
        level = entry = water_level(size(bend * x.array - at_x.slope), bend, domain.radius, least)
    return ColumnScan(at_x, gap, worth, level, (x.coords != 0) | (worth > entry), first)


def by_hessians(problem: Problem, state: Any, scan: ColumnScan, newton: Step) -> Any:
    """Return the state after second-order steps on few columns, their model solved exactly."""
    part = restricted(problem, columns(state.x, scan))
    exact = model_on(problem)[0].row_loss.quadratic  # the model is the function: one step is enough
    part.problem.goal = max(LAST * problem.goal, EXACT * scan.gap if exact else 0.0)
    # Where all that matters is there another scan may only confirm it; else it is of use before these are right.
    rest = REST**2 if np.count_nonzero(scan.matter) <= part.columns.size else REST
    goal = max(rest * scan.gap, 2 * float(scan.at_x.tangent.noise))
    inner = state._replace(x=part.down(state.x), rested=True)
    for _ in range(1 if exact else MOST_STEPS):
        inner, seen = newton(part.problem, inner)
        if inner.rested or inner.gap * abs(float(seen.seen[0][0])) <= goal:
            break
    if not exact:
        part.problem.image(inner.x)
    problem.counts.n_pass += part.problem.counts.n_pass * part.columns.size / state.x.coords.size
    return state._replace(k=state.k + 1, x=part.up(inner.x), gap=inner.gap, rested=False, sample=inner.sample)


def by_growing_hessian(problem: Problem, state: Any, scan: ColumnScan) -> Any:
    """Return the state after the model, which is f, has been minimised on few columns."""
    (objective, domain), x, chosen = model_on(problem), state.x.array, columns(state.x, scan)
    asked = growing_hessian.with_columns(state.asked, chosen, x.size)
    known = problem.scratch.get("growing hessian") or growing_hessian.GrowingHessian.empty(x.size)
    problem.scratch["growing hessian"] = known = known.grown(objective, asked)
    problem.counts.n_pass += sum(some.size for some in asked[len(state.asked) :]) / x.size
    H, here, r, target = known.of(objective, chosen), x[chosen], domain.radius, np.zeros_like(x)
    gradient: Array = scan.at_x.slope
    b, tol = gradient[chosen] - H @ here, REST_EXACT * max(LAST * problem.goal, EXACT * scan.gap)
    if domain.signed:
        target[chosen] = l1_qp(H, b, r, here, tol, problem.tick)
    else:
        target[chosen] = r * simplex_qp(r * r * H, r * b, here / r, tol, problem.tick)
    relative = scan.gap / max(abs(float(scan.at_x.value)), 1e-300)
    return state._replace(k=state.k + 1, x=Point.at(target), gap=relative, rested=False, asked=asked)


def by_coordinates(problem: Problem, state: Any, scan: ColumnScan) -> Any:
    """Return the state after coordinate descent on the model: of all columns where it is f, else of those that matter.

    A model that is f is solved to the end of the run.
    """
    (objective, domain), x = model_on(problem), state.x.coords
    exact, image = objective.row_loss.quadratic, double(state.x.image)
    gradient: Array = scan.at_x.slope
    chosen = np.arange(x.size) if exact else np.flatnonzero(scan.matter)
    data, slope, here = sparse(objective), double(gradient[chosen]), double(x[chosen])
    assert data is not None
    columns, c, start = data.by_column, double(objective.loss_curvature(state.x.image)), Start(here, scan.level)
    diagonal = None
    if exact:
        if not objective.intercept:
            diagonal = objective.column_norms(problem.extent) ** 2 + objective.ridge
        bent = objective.bend(c, image)
        curve = float(bent @ image) + objective.ridge * float(here @ here)
        if float(scan.at_x.inner) > (1 - FAR_OFF) * curve > 0:
            start = Start(here, None, (bent, double(data.adjoint(bent))))
    else:
        c = np.where(c > 0, c, FLAT * c.max())
    model = Model(columns.descent_layout, chosen, slope, c, objective.ridge, objective.intercept, diagonal)
    relative = scan.gap / max(abs(float(scan.at_x.value)), 1e-300)
    left, ends, most = FAR_LEFT if relative > 1 else LEFT, FINEST, MOST_ROUNDS
    if exact:  # a goal relative to what is gained is not known at the start
        left, ends, most = END if problem.goal < UNKNOWN * scan.gap else 0.0, CLOSE, ALL_ROUNDS
    tol = max(left * scan.gap, ends * problem.goal, 2 * float(scan.at_x.tangent.noise))
    # After a step that gained little, however good its model looked, the next takes more rounds.
    least = 2 if exact else min(max(state.rounds // 2, 2), MOST_ROUNDS)
    limits = tol, most, least, problem.tick
    found = descended(model, domain.radius, start, domain.signed, *limits)
    problem.counts.n_pass += 2 * (found.entries / data.matrix.nnz + 1)
    target = x.copy()
    target[chosen] = found.z
    slow = not found.done or relative > LITTLE * state.gap
    # While steps gain little their rounds add up: Hessians take over when those have cost as much.
    rounds = found.rounds + state.rounds if slow else found.rounds
    after = state._replace(k=state.k + 1, gap=relative, rested=False, rounds=rounds)
    if exact and found.done and problem.exact is None:
        return after._replace(x=Point.at(target))
    z = Point(target, ((1.0, Leaf(None, state.x.image + columns.product(target - x).astype(x.dtype, copy=False))),))
    gamma = problem.line_search(state.x, z, rtol=1e-3)
    if not gamma > 0:  # rounds from the same start would end at the same place
        return after._replace(rounds=GIVEN_UP)
    return after._replace(x=problem.mix(state.x, z, gamma))


def descends(problem: Problem, scan: ColumnScan, rounds: int) -> bool:
    """Tell whether so many rounds of coordinate descent on the columns that matter cost less than Hessians of them.

    In operations on entries, of which a round takes four for each, a scan of all columns also, turning rows into
    columns as many; a Hessian takes one for each pair of entries in a row, a read of everything, and for its factors, a
    few times, one for 22 multiplications. Near the solution two Hessians gain three decades, else one, as descent does.
    A model that is f is solved once by descent, and in a few steps by Hessians.
    """
    objective, count = model_on(problem)[0], np.count_nonzero(scan.matter)
    data, exact = sparse(objective), objective.row_loss.quadratic
    if data is None or (count <= (FEW if exact and scan.first else FIRST) and not data.turned):
        return False
    n, everything, entries = data.shape[0], data.matrix.nnz, float(data.lengths[scan.matter].sum())
    hessian = entries**2 / (2 * n) + everything + count**3 / FACTOR
    near = scan.gap < NEAR * abs(float(scan.at_x.inner))
    descent = (3 if near else 1) * ROUND * (rounds * entries + everything)
    if exact and rounds < ALL_ROUNDS:
        hessian, descent = hessian + STEP, SOLVED * everything
    if not descent + (0 if data.turned else TURN * everything) < 2 * hessian:
        return False
    return data.layout is not None or repays(FAMILY, 2 * hessian)


def columns(x: Point, scan: ColumnScan) -> np.ndarray:
    """Return the columns in use and the best of the others that matter, in ascending order."""
    used = x.array != 0
    new = np.flatnonzero(scan.matter & ~used)
    count = max(FIRST, int(GROWTH * np.count_nonzero(used)))
    if new.size > count:
        new = new[np.argpartition(-scan.worth[new], count)[:count]]
    used[new] = True
    return np.flatnonzero(used)


def model_on(problem: Problem) -> tuple[LinearModel, CoordinateSet]:
    """Return objective and set, where `applies` has said yes."""
    assert problem.coordinate_set is not None
    return cast(LinearModel, problem.composite), problem.coordinate_set


def sparse(objective: LinearModel) -> CSRMatrix | CSCMatrix | None:
    """Return the data where they are sparse, None otherwise."""
    return objective.data if objective.data.descends else None


def may_descend(objective: LinearModel) -> bool:
    """Tell whether there is coordinate descent for the data, compiled by now or when it repays."""
    data = sparse(objective)
    return data is not None and (data.layout is not None or setting() != "never")


class Part(NamedTuple):
    """The problem on some columns, the other variables held at zero."""

    problem: Problem
    columns: np.ndarray
    shape: tuple[int, ...]

    def down(self, x: Point) -> Point:
        """Return a point that is zero elsewhere as a point of the part."""
        return Point(x.array[self.columns], x.terms)

    def up(self, z: Point) -> Point:
        """Return a point of the part as one of the whole; an image that is pending is still to be made."""
        coords = np.zeros(self.shape, dtype=z.array.dtype)
        coords[self.columns] = z.array
        return Point.at(coords) if z.pending else Point(coords, z.terms)


def restricted(problem: Problem, chosen: np.ndarray) -> Part:
    """Return the problem on some columns."""
    objective, domain = model_on(problem)
    part = Problem(objective.restricted(chosen), domain.of_size(chosen.size), eps=problem.eps, over=problem.over)
    return Part(part, chosen, objective.shape)

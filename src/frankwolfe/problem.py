"""An objective and a set, with the few verbs that methods are written in, and a count of what they cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.atoms import Atom, Mixable
from frankwolfe.backends import Array, Scalar, all_finite, eps, fetch, is_zero, vdot
from frankwolfe.backends.namespace import as_like, is_at_hand, is_foreign, is_long
from frankwolfe.feasible import ROUNDED, as_low_rank, default_start, pulled_in
from frankwolfe.kernels.pattern.pattern_matrix import PatternMatrix
from frankwolfe.kernels.spectral.gram_operator import ImplicitMatrix
from frankwolfe.lowrank import LowRank
from frankwolfe.objectives.base import Evaluation, Objective
from frankwolfe.objectives.composite import Composite, HessianObjective, ImageObjective
from frankwolfe.objectives.line_search import ArrayLine, Lines, minimise_on_segment, searches_in_arrays
from frankwolfe.points import Coordinates, Image, Point, Slope, Tangent, Touches, mix
from frankwolfe.rounding import FEW, MARGIN, MIXED, Extent
from frankwolfe.rows.placement import forget, relieve
from frankwolfe.rows.rows import Rows
from frankwolfe.serialisation import plain
from frankwolfe.sets.arrays import norm
from frankwolfe.sets.base import Ball, CoordinateSet, IterativeSet, ProjectableSet, ProvenSet, Set
from frankwolfe.sets.many_radii import SetBatch
from frankwolfe.sets.oracle_set import is_of_user

COMPRESS_FROM = 512
COMPRESS_TOL = 1e-9
SINGLE_MAX = 3.4e38  # what single precision holds


@dataclass
class Counts:
    """What a run has cost: gradients, oracle calls, reads of the data, products inside the oracle, projections."""

    n_grad: int = 0
    n_lmo: int = 0
    n_pass: float = 0.0
    n_matvec: int = 0
    n_proj: int = 0

    def asdict(self) -> dict[str, float]:
        return dict(vars(self))

    def add(self, other: Counts) -> None:
        """Count what something else has cost."""
        for name, cost in other.asdict().items():
            setattr(self, name, getattr(self, name) + cost)


class OutOfTime(Exception):
    """Ends a step that has not come to its end in time; steps are pure, so that the state before it is as good."""


@plain
class Vertex(NamedTuple):
    """The oracle's answer as a point, its value <slope, v>, and a proven lower bound on the minimum (or -inf)."""

    point: Point
    value: Scalar
    lower: Scalar


class Proof(NamedTuple):
    """f at a point, and what its tangent there proves.

    `failure` is the probability that the bound is wrong: zero but for very large nuclear-norm problems. `noise` is what
    rounding took off it.
    """

    value: float
    bound: float
    failure: float
    noise: float
    behind: tuple[Tangent, float] | None  # the tangent, and its slope's minimum on the set


@dataclass
class Problem:
    """Minimise `objective` over `domain` (None: over the whole space)."""

    objective: Objective
    domain: Set | None
    seed: int = 0
    counts: Counts = field(default_factory=Counts)
    eps: float = 2.0**-52  # of the arithmetic; `start` sets it
    shape: tuple[int, ...] | None = None  # of the points; `start` sets it
    # Whether arrays may live on a device, so that looking at a number costs time; `start` sets it.
    on_device: bool = False
    # The gap that ends the run, by the loop: a step that finds it closed may rest instead of moving on.
    goal: float = 0.0
    # Tells whether the run's time is over, or somebody wants it to end; set by the loop, asked by `tick`.
    over: Callable[[], bool] = bool
    # How often the data were read in which way, by the name of the path.
    paths: dict[str, int] = field(default_factory=dict)
    # Buffers of a fast path: nothing that affects the future.
    scratch: dict[str, Any] = field(default_factory=dict)

    def tick(self) -> None:
        """End the step if the run's time is over: for every loop inside a step that may be long."""
        if self.over():
            raise OutOfTime

    def evaluate(self, y: Point, watch: Point | None = None) -> Evaluation:
        """Return f and its gradient at y, and f at `watch`, from one read of the data where the objective can."""
        result = self.objective.evaluate(y, y if watch is None else watch)
        self.count(result)
        return self.judged(result, y)

    def count(self, at: Evaluation) -> None:
        """Count what an evaluation has cost, and how the data were read."""
        self.counts.n_grad += 1
        self.counts.n_pass += at.passes
        if at.path:
            self.paths[at.path] = self.paths.get(at.path, 0) + 1

    def judged(self, at_y: Evaluation, y: Point) -> Evaluation:
        """Return an evaluation with what rounding may have done to it, and with the point where the tangent touches."""
        if self.exact is not None:  # the tangent is proven in double precision later
            return at_y._replace(at=self._touch(y, at_y))
        noise = self._noise(self.objective, at_y) if at_y.noise is None else at_y.noise
        return at_y._replace(noise=noise, at=self._touch(y, at_y))

    def _noise(self, objective: Objective, at: Evaluation) -> Scalar:
        """Return a bound on what rounding may have done to a tangent and to the minimum of its slope on the set."""
        noise = objective.noise(at, self.extent)
        if objective.ours or not self.adds_up:  # our own count every term of a product with a point of the set
            return noise
        return noise + FEW * at.eps * self.extent.norm * norm(at.slope, 2)

    @cached_property
    def adds_up(self) -> bool:
        """Whether the minimum of a slope on the set is a sum in which terms of both signs may cancel.

        A user's own oracle is taken at its word: how far its set reaches would take many calls to find.
        """
        domain = self.domain
        return not (domain is None or isinstance(domain, Ball | CoordinateSet | ProvenSet) or is_of_user(domain))

    def _touch(self, y: Point, at_y: Evaluation) -> Any:
        """Return y as a point of tangency, in the form that averages of them are kept in; None where they are not."""
        if self.exact is not None and isinstance(at_y.slope, PatternMatrix):
            return PatternMatrix(y.image, at_y.slope.pattern)  # the entries are all that f knows of a matrix
        coords = y.coords
        if isinstance(coords, Atom):
            return None
        long = isinstance(coords, LowRank) or is_long(coords)
        if not long and not is_foreign(coords) and not isinstance(self.domain, SetBatch):
            return Touches.at(coords, float(at_y.value))
        # Of what is large, averages are kept where proofs in double precision need them: they cost as much as a step.
        return None if long and self.exact is None else coords

    def bound(self, tangent: Tangent, minimum: Scalar, k: int = 0) -> Scalar:
        """Return the lower bound on f* of a tangent, averaged in k steps, whose slope is at least `minimum` there."""
        return tangent.bound(minimum, FEW * self.eps, self.mixings(k))

    def mixings(self, k: int) -> float:
        """Return how many times its noise k steps have added to an average of tangents."""
        return MIXED * k / (FEW + self.objective.additions) if k else 0.0

    def value(self, x: Point) -> Scalar:
        """Return f at a point, from its image; infinity where a user's function is not defined there."""
        if not self.objective.ours:
            return self.objective.value_inside(x.coords)
        value, passes = self.objective.value_at(x)
        self.counts.n_pass += passes
        return value

    def image(self, x: Point) -> Image:
        """Return the image of a point under the objective's linear map."""
        assert isinstance(self.objective, ImageObjective)
        self.counts.n_pass += self.objective.resolve(x)
        return x.image

    def mix(self, x: Point, v: Point, delta: Scalar) -> Point:
        """Return (1 - delta) x + delta v.

        A low-rank x that has collected too many factors is compressed. Where nobody looks whether rounding has taken x
        out of its set, because that would take long, it is kept from doing so.
        """
        if not self.quick_membership and not isinstance(x.coords, Atom | Mixable):
            return x.mixed_closely(v, delta)
        moved = mix(x, v, delta)
        if isinstance(moved.coords, LowRank) and moved.coords.stored > max(COMPRESS_FROM, 2 * moved.coords.settled):
            return Point.at(moved.coords.compress(COMPRESS_TOL))
        return moved

    def move(self, x: Point, v: Point, delta: Scalar) -> Point:
        """Return (1 - delta) x + delta v for the next iterate; nearer to x where f is not defined there."""
        return self._inside(self.mix, x, v, delta)

    def ahead(self, x: Point, v: Point, delta: Scalar) -> Point:
        """Return (1 - delta) x + delta v for a look ahead; nearer to x where f is not defined there."""
        return self._inside(mix, x, v, delta)

    def _inside(self, made: Callable[[Point, Point, Scalar], Point], x: Point, v: Point, delta: Scalar) -> Point:
        """Return a mixture where f is defined, as log x is not at zero; half as far, and half again, where it is not.

        A function that is computed on a device is not looked at.
        """
        moved = made(x, v, delta)
        if self.objective.ours or isinstance(moved.coords, LowRank) or not is_at_hand(moved.coords):
            return moved
        while not math.isfinite(self.objective.value_inside(moved.coords)):
            delta = 0.5 * delta
            if delta < self.eps:
                return x
            moved = made(x, v, delta)
        return moved

    @cached_property
    def quick_membership(self) -> bool:
        """Whether it takes but little time to tell whether an array is in the set, or there is none."""
        return self.domain is None or (self.domain.quick_membership and not self.oracle_iterates)

    @cached_property
    def oracle_iterates(self) -> bool:
        """Whether the oracle iterates, to an accuracy that the method chooses."""
        return isinstance(self.domain, IterativeSet)

    @cached_property
    def coordinate_set(self) -> CoordinateSet | None:
        """The set where its vertices are single coordinates, None elsewhere."""
        return self.domain if isinstance(self.domain, CoordinateSet) else None

    @cached_property
    def ball_radius(self) -> float | None:
        """The radius where the set is a Euclidean ball, None elsewhere."""
        return self.domain.radius if isinstance(self.domain, Ball) and self.domain.exponent == 2 else None

    @property
    def composite(self) -> Composite:
        """The objective, for a method that has made sure that it is a function of the image and a ridge term."""
        assert isinstance(self.objective, Composite)
        return self.objective

    @property
    def rows(self) -> Rows:
        """The rows of the data, for a method that has made sure that there are any."""
        rows = self.composite.map
        assert isinstance(rows, Rows)
        return rows

    @cached_property
    def hessian_objective(self) -> HessianObjective | None:
        """The objective where its second derivatives come from data whose images are held, None elsewhere."""
        objective = self.objective
        return objective if isinstance(objective, HessianObjective) and objective.holds_images else None

    def lmo(self, slope: Slope, k: int, share: float, keep: Point | None = None) -> Vertex:
        """Return the vertex minimising <slope, v>; `keep` where the slope is zero and every point does.

        An iterative oracle is asked for an error of at most share·LD²/2. Frank-Wolfe's rate survives a share of κδ; a
        method with momentum remembers its oracle's errors and needs κδ².
        """
        assert self.domain is not None
        self.counts.n_lmo += 1
        # On a device the question would be a read back; a zero slope is then answered by any vertex, which is as good.
        if keep is not None and not self.on_device and _vanishes(slope):
            return Vertex(keep, 0.0, 0.0)
        if isinstance(self.domain, IterativeSet):
            accuracy = 0.5 * share * self.curvature
            atom, value, lower, matvecs = self.domain.minimise(slope, accuracy, self.rng(k))
            self.counts.n_matvec += matvecs
            return Vertex(Point.at(atom), value, lower)
        atom, value, lower, _ = self.domain.minimum(slope)
        return Vertex(Point.at(atom), value, lower)

    def minimum(self, slope: Slope, k: int) -> tuple[Scalar, float]:
        """Return a proven lower bound on <slope, x> over the set, and the probability that it is wrong."""
        assert self.domain is not None
        if not isinstance(self.domain, IterativeSet):
            return -self.domain.support(-slope), 0.0
        bound = self.domain.support_bound(-slope, self.rng(k))
        self.counts.n_matvec += bound.matvecs
        return -bound.value, bound.failure

    def project(self, coords: Array) -> Point:
        """Return the nearest feasible point."""
        assert isinstance(self.domain, ProjectableSet)
        self.counts.n_proj += 1
        return Point.at(self.domain.project(coords))

    def written_out(self, slope: Any) -> Array:
        """Return a slope as an array; entries of a sparse one are put in their places."""
        return slope.toarray() if isinstance(slope, PatternMatrix) else slope

    def descend(self, x: Point, slope: Slope, step: Scalar) -> Array:
        """Return the coordinates x - step * slope."""
        if isinstance(slope, PatternMatrix):
            if slope.pattern.places is not None:
                return x.coords - step * slope.toarray()
            moved = x.array.copy()
            moved[slope.pattern.rows, slope.pattern.cols] -= step * slope.values
            return moved
        return x.coords - step * slope

    def line_search(self, x: Point, v: Point, cap: float = 1.0, rtol: float = 1e-12, look: bool = True) -> Scalar:
        """Return the gamma in [0, cap] that minimises f on the segment from x to v, up to `rtol`.

        Without `look` gamma may be an array on the device, which nobody has looked at.
        """
        line, passes = self.objective.line(x, v)
        self.counts.n_pass += passes
        # A rough search ends after a few looks, at another gamma than an exact one.
        if isinstance(line, ArrayLine) and self.on_device and rtol <= 1e-9 and searches_in_arrays(x.coords, look):
            gamma = line.minimise(cap, self.tick)
            if not look:
                return gamma
            gamma = float(gamma)
            return cap if gamma >= cap * (1 - self.eps) else gamma  # a cap that is reached drops an atom
        search = line.minimise if isinstance(line, Lines) else partial(minimise_on_segment, line, tick=self.tick)
        gamma, probes = search(cap, max(rtol, 16 * self.eps))  # no finer than the arithmetic can tell
        self.counts.n_pass += probes * line.passes
        self.counts.n_grad += probes * line.gradients
        return gamma if isinstance(line, Lines) else float(gamma)  # NumPy's scalars widen float32

    def inner(self, slope: Slope, x: Point) -> Scalar:
        """Return <slope, x>."""
        coords = x.coords
        if isinstance(coords, Atom):
            return coords.inner(slope)
        if isinstance(coords, LowRank):
            return coords.inner(slope)
        if isinstance(slope, PatternMatrix):
            return slope.inner(coords)
        return vdot(slope, coords)

    def distance2(self, x: Point, v: Point) -> Scalar:
        """Return |x - v|²."""
        if isinstance(x.coords, LowRank):
            difference = x.coords + (-1.0) * as_low_rank(v.coords)
            return difference.norm2()
        move = v.array - x.coords
        return vdot(move, move)

    @property
    def title(self) -> str:
        """The objective and the set in a few words."""
        name = type(self.objective).__name__
        if self.domain is None:
            return f"{name} without constraints"
        of = f"({self.domain.radius:g})" if isinstance(self.domain, Ball) else ""
        return f"{name} over {type(self.domain).__name__}{of}"

    @cached_property
    def curvature(self) -> float:
        """LD², the constant in every Frank-Wolfe rate; one where the smoothness is unknown."""
        diameter = self.diameter
        return (1.0 if self.smoothness is None else self.smoothness) * diameter * diameter  # infinite if it overflows

    @cached_property
    def smoothness(self) -> float | None:
        """The Lipschitz constant of the gradient on the set, None if unknown."""
        objective = self.objective
        if self.domain is None or objective.smooth_everywhere:
            return objective.smoothness
        return None if self.extent.margin is None else objective.smoothness_within(float(self.extent.margin))

    @property
    def diameter(self) -> float:
        """The Euclidean diameter of the set."""
        assert self.domain is not None
        return self.domain.diameter(self.objective.shape or self.domain.shape or self.shape)

    @cached_property
    def extent(self) -> Extent:
        """How far the set reaches, for the noise of tangents."""
        domain = self.domain
        if not isinstance(domain, SetBatch):
            return Extent(self._reach, self._largest_norm, self._largest_margin)
        each = replace(self, shape=self.shape and self.shape[1:])
        extents = [replace(each, domain=member).extent for member in domain.members]

        def of_all(name: str) -> Any:
            numbers = [getattr(one, name) for one in extents]
            return None if numbers[0] is None else as_like(numbers, domain.like)

        return Extent(*(partial(of_all, name) for name in ("reach", "norm", "margin")))

    def _largest_margin(self) -> float | None:
        domain, sizes = self.domain, self.objective.row_sizes
        if domain is None or sizes is None:
            return None
        entries, length = sizes
        # At most the product of norms, and at most what the largest entries of the columns would make.
        return MARGIN * min(domain.reach(entries), length * self._largest_norm())

    def _largest_norm(self) -> float:
        domain = self.domain
        if domain is None:
            return 0.0
        shape = self.shape or self.objective.shape
        # A ball is centred at zero.
        corner = 0.0 if isinstance(domain, Ball) else norm(domain.lmo(np.zeros(shape or ())).toarray(), 2)
        return MARGIN * (float(corner) + domain.diameter(shape))

    def _reach(self) -> float:
        domain = self.domain
        if domain is None:
            return 0.0
        # Column norms of a quadratic depend on the norm, those of rows do not.
        c = self.objective.column_norms(self.extent)
        return self.extent.norm if c is None else MARGIN * domain.reach(c)

    @cached_property
    def exact(self) -> Objective | None:
        """The objective in double precision, where the run is not and the data allow it: for certificates."""
        return self.objective.doubled() if self.eps > 1e-9 else None

    def certify(self, coords: Coordinates, k: int) -> Proof:
        """Prove a lower bound from one evaluation at a point, from its coordinates alone and in double precision."""
        value, bound, plain, failure, behind = self.proof(coords, k)
        value, bound, plain = fetch([value, bound, plain])
        return Proof(value, bound, failure, plain - bound, (behind[0], float(behind[1])))

    def proof(self, coords: Coordinates, k: int) -> tuple[Scalar, Scalar, Scalar, float, tuple[Tangent, Scalar]]:
        """Return value, bound, the bound but for rounding, its failure and what is behind it, for one point or many.

        A point in single precision may lie outside the set by a few ulps of its own precision: the bound is then that
        of a larger set.
        """
        exact, moved = self.objective if self.exact is None else self.exact, 0.0 if self.exact is None else 4 * self.eps
        point = _anew(exact, coords)
        at = exact.evaluate(point, point)
        self.counts.n_pass += at.passes
        minimum, failure = self.minimum(at.slope, k)
        tangent = at._replace(noise=self._noise(exact, at)).tangent
        bound = tangent.bound(minimum, max(moved, FEW * at.eps))
        return at.value, bound, tangent.offset + minimum, failure, (tangent, minimum)

    def fresh(self, x: Point) -> Scalar:
        """Return f(x) from the coordinates alone, free of what rounding has done to the running image."""
        if self.exact is None:
            return self.value(Point.at(x.coords))
        point = _anew(self.exact, x.coords)
        # On a device one kernel reads narrow numbers as they are stored, and the gradient comes for nothing.
        return self.exact.evaluate(point, point).value if self.on_device else self.exact.value_at(point)[0]

    def in_double(self, coords: Coordinates) -> Evaluation:
        """Evaluate f in double precision, of data in single, at coordinates of either; with the point of tangency."""
        assert self.exact is not None
        point = _anew(self.exact, coords)
        at = self.exact.evaluate(point, point)
        self.count(at)
        return at._replace(at=self._touch(point, at))

    def relieve(self) -> None:
        """Make room on a device that has none left, or raise a MemoryError that says how much is needed."""
        self.scratch.clear()
        forget(vars(self).pop("exact", None))
        relieve(self.objective)

    def rng(self, k: int) -> np.random.Generator:
        """Return the random numbers of iteration k: they depend on seed and k alone, so that a resumed run repeats."""
        return np.random.Generator(np.random.Philox(key=[self.seed, k]))

    def start(self, x0: Any, dense: bool) -> Point:
        """Return the point given, else zero where feasible, else the vertex for the gradient in zero."""
        shape = self.objective.shape or (self.domain.shape if self.domain else None)
        known = x0 is not None or self.objective.shape is not None or shape is None
        if isinstance(self.domain, SetBatch):
            shape, known = (len(self.domain.members), *(shape or ())), x0 is not None
        coords = self.objective.start(x0 if known else np.zeros(shape or ()), dense)
        kind = coords.like if isinstance(coords, LowRank) else coords
        self.eps = eps(kind)
        self.on_device = not isinstance(kind, np.ndarray)
        self.shape = tuple(coords.shape)
        if shape is not None and tuple(coords.shape) != tuple(shape):
            raise ValueError(f"x0 must have shape {tuple(shape)} to match the problem, got {tuple(coords.shape)}")
        if not isinstance(coords, LowRank) and not all_finite(coords):
            raise ValueError("x0 contains NaN or infinity; pass a finite point or leave x0=None")
        if self.eps > 1e-9 and isinstance(self.domain, Ball | CoordinateSet) and self.domain.radius > SINGLE_MAX:
            raise ValueError(f"radius {self.domain.radius:g} is too large for single precision; pass data in double")
        if x0 is None:
            return default_start(self, coords)
        inside = self.domain is None or self.domain.contains(coords, tol=ROUNDED * self.eps)
        single = str(getattr(x0, "dtype", "")).endswith("float32")  # of any library
        return Point.at(coords if inside else pulled_in(self, coords, single))

    def default_value(self, start: Point, dense: bool) -> float:
        """Return f where a run starts by default, for one that starts elsewhere."""
        known = self.objective.shape is not None
        zero = self.objective.start(None, dense) if known else start.array * 0.0
        return float(self.value(default_start(self, zero)))


def _anew(objective: Objective, coords: Coordinates) -> Point:
    """Return the point of some coordinates alone, in the precision of an objective."""
    return Point.at(objective.start(coords, dense=not isinstance(coords, LowRank)))


def _vanishes(slope: Slope) -> bool:
    if isinstance(slope, ImplicitMatrix):
        return slope.largest == 0.0
    return is_zero(slope.values if isinstance(slope, PatternMatrix) else slope)

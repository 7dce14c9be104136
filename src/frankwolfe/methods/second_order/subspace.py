"""Frank-Wolfe whose next iterate is the best point of a small subspace: momentum chosen by the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.backends import Array, namespace
from frankwolfe.backends.namespace import as_like
from frankwolfe.kernels.long_vectors import blend, combined, near, orthonormal, products
from frankwolfe.kernels.qp.ball_qp import small_ball_qp
from frankwolfe.kernels.qp.simplex_qp import simplex_qp
from frankwolfe.kernels.rows.layouts import double
from frankwolfe.kernels.threads import calm
from frankwolfe.methods.base import Evidence, Method, closed, looked, oracle_share
from frankwolfe.objectives.base import Evaluation
from frankwolfe.objectives.composite import OnSpan
from frankwolfe.points import Leaf, Point, Tangent
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.validation import integer

Corner = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Minimiser of q'z + z'Hz/2 over a small set, started from a point of it."""

EPS = 2.0**-52
NO_PRODUCTS = np.zeros((0, 0))
# What was tuned: the first three by what rounding does to a basis (`benchmarks.lies` and `long_runs` watch it), the
# others on `python -m benchmarks unseen accuracy`:
DEPENDENT = 0.375  # a direction this close (a power of eps) to the span of the others adds rounding, not room
NOISE = 0.575  # so does a step this short beside the longest vector
BLUR = 256.0  # ulps of f by which the image of a step may be wrong before it is made afresh
ALMOST = 10.0  # times the gap that ends the run: from there on an average of tangents may end it
FORCING, MOST_ROUNDS = 0.1, 200  # share of the residual that conjugate gradients leave; rounds of them at most
FIRST_ROUNDS, SWELL = 16, 3  # at first so many at most, and then so many times those of the step before
ON_SPHERE = 0.999  # times the radius, from which on x is on the sphere
LARGE = 1 << 20  # entries from which a step costs little beside reads of the data, of which Newton's takes more
SLOW = 0.3  # share of the gap that a Newton step may leave: after a poorer one, the next takes vertex and past steps in
ENOUGH = 1e-7  # the small problem is solved when Newton promises less than this share of the Frank-Wolfe gap


@plain
class SubspaceState(NamedTuple):
    k: int
    x: Point
    past: tuple[Point, ...]  # the last steps (l2 ball) or the last atoms (other sets), newest first
    tangents: tuple[Tangent, ...]  # the last tangents, newest first; on the l2 ball only
    gram: np.ndarray  # the inner products of their slopes
    rested: bool = False  # whether the last step stayed, its gap being all that was asked for
    gap: float = np.inf  # the last Frank-Wolfe gap
    rounds: int = 0  # of conjugate gradients in the last step


@dataclass(frozen=True)
class SubspaceFrankWolfe(Method):
    """Minimise f over everything that the vertex and the last few steps span, inside the set.

    Parameters
    ----------
    memory : int, default 4
        How many past steps (on the l2 ball) or past atoms (on other sets) join x and the new vertex.
    bundle : int, default 10
        How many past tangents the certificate may average; l2 ball only.
    newton : bool, default True
        Whether a truncated Newton step joins the subspace, or takes the place of the others; l2 ball only.

    Notes
    -----
    On an l2 ball the next iterate minimises f over span{x_k, v_k, x_k - x_{k-1}, ...} intersected with the ball: in
    orthonormal coordinates a ball of `memory` + 2 dimensions, where Newton's method with a trust region works on the
    images alone. On any other set it minimises over the convex hull of x_k, v_k and the last atoms. A step reads the
    data twice, once for the gradient and once for the image of a dense vertex; the small problem reads nothing.

    A linear model in main memory gives products with its Hessian for one read of the data each. Where the data are so
    small that a read costs less than the rest of a step (1 million entries), a Newton step by conjugate gradients joins
    the subspace, along the sphere where x_k is on it; as long as steps leave less than a third of the gap, the next one
    is in the plane of x_k and the Newton step alone.

    Else the segment from x_k to v_k is among the points compared, so f(x_k) - f* <= 2LD²/(k+2) as for Frank-Wolfe with
    exact line search [1]_. With one past step the method is, on a quadratic, the conjugate gradient method of a ball
    [2]_; in practice it is several times ahead of momentum with fixed weights wherever the ball is active.

    Any average of tangents lies below f. The certificate takes the best average of the last few, a concave problem in
    `bundle` numbers; it closes the gap 10 to 20 % earlier than the last tangent alone.

    Needs an objective with a linear image, φ(Ax), and the derivatives of φ: `Logistic`, `LeastSquares`, `Quadratic`,
    `MatrixCompletion`.

    References
    ----------
    .. [1] M. Jaggi, Revisiting Frank-Wolfe: projection-free sparse convex optimization, ICML 2013.
    .. [2] W. W. Hager, Minimizing a quadratic over a sphere, SIAM J. Optim. 12, 2001.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.diag([1.0, 3.0, 9.0]), np.array([3.0, 0.0, 4.0]))
    >>> result = fw.minimize(f, fw.L2Ball(1.0), method=SubspaceFrankWolfe(), tol=1e-10)
    >>> result.x.round(4), bool(result.n_iter < 10)
    (array([0.9019, 0.    , 0.432 ]), True)
    """

    name: ClassVar[str] = "subspace"
    syncs_host: ClassVar[bool] = True
    memory: int = 4
    bundle: int = 10
    newton: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "memory", integer("memory", self.memory, 0))
        object.__setattr__(self, "bundle", integer("bundle", self.bundle, 1))

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if not problem.objective.holds_images:
            raise TypeError(
                f"method 'subspace' needs images φ(Ax), which this {type(problem.objective).__name__} does not hold: "
                "use 'afw', or state the objective as Logistic, LeastSquares, Quadratic or MatrixCompletion"
            )

    def init(self, problem: Problem, x0: Point) -> SubspaceState:
        return SubspaceState(0, x0, (), (), NO_PRODUCTS)

    def step(self, problem: Problem, state: SubspaceState) -> tuple[SubspaceState, Evidence]:
        k, x, past, tangents, gram, rested, before, rounds = state
        at_x = problem.evaluate(x)
        vertex = problem.lmo(at_x.slope, k, share=oracle_share(k), keep=x)
        at_x, vertex = looked(problem, at_x, vertex)
        evidence = Evidence(((at_x.value, x),), ((at_x.tangent, vertex),))
        gap = max(float(at_x.inner - vertex.value), 0.0)
        if not rested and closed(problem, at_x.value, at_x.tangent, vertex):
            return state._replace(k=k + 1, rested=True), evidence
        goal, radius = ENOUGH * gap, problem.ball_radius
        if radius is not None:
            matters = gap <= ALMOST * problem.goal or not problem.goal > 0
            tangents, gram = (at_x.tangent, *tangents)[: self.bundle], gram if matters else NO_PRODUCTS
            if matters and len(tangents) > 1:
                gram = extended(gram, [t.slope for t in tangents])
                average = best_average(tangents, radius, problem.eps, gram)
                evidence = evidence._replace(minorants=(*evidence.minorants, (average, None)))
        if radius is None:
            x, past = self._in_hull(problem, x, vertex.point, past, goal)
        else:
            slow = gap > SLOW * before
            with calm():
                ahead = self.newton and bends(problem)
                steps = []
                if ahead:
                    most = min(MOST_ROUNDS, max(FIRST_ROUNDS, SWELL * rounds))
                    step, rounds = truncated_newton(problem, x, at_x, radius, most)
                    steps = [step]
                if slow or not ahead:
                    steps = [self._toward(problem, x, vertex.point), *steps, *past]
                x, past = self._in_ball(problem, x, at_x, steps, past, goal, radius)
        return SubspaceState(k + 1, x, past, tangents, gram, False, gap, rounds), evidence

    def _toward(self, problem: Problem, x: Point, v: Point) -> Point:
        """Return v - x, not v: near the solution the two are hardly apart, and their difference is what counts."""
        problem.image(v)
        return known(blend([1.0, -1.0], [v.array, x.coords]), v.image - x.image)

    def _in_ball(
        self,
        problem: Problem,
        x: Point,
        at_x: Evaluation,
        steps: list[Point],
        past: tuple[Point, ...],
        goal: float,
        radius: float,
    ) -> tuple[Point, tuple[Point, ...]]:
        """Return the minimiser over the span of x and some steps within the ball, and the steps to remember.

        The image of a short step is the difference of two long ones, and a basis of nearly dependent steps multiplies
        what rounding left of it: taken at its word such a basis leads ever further downhill where there is no hill. So
        the slope along the basis comes from the gradient and the coordinates, and where the images tell another, the
        next image is made afresh.
        """
        points = [x, *steps]
        vectors, images = [p.coords for p in points], namespace(x.image).stack([p.image for p in points])
        short = near(vectors)
        gram = products(short, short)
        T = orthonormal(short, gram, problem.eps**DEPENDENT, problem.eps**NOISE)  # rows: basis vectors as sums
        if not len(T):  # x is zero, and so is the slope
            return x, past
        small = restriction(problem, x, vectors, combined(T, images), np.eye(len(T)), T)
        start, slope = T @ gram[:, 0], T @ products([at_x.slope], vectors)[0]

        def corner(q: np.ndarray, H: np.ndarray, z: np.ndarray) -> np.ndarray:
            return small_ball_qp(H, q, radius)

        c, seen, off = newton(small, start, corner, goal, problem.eps, slope, problem.tick)
        if c is start:  # nothing to gain
            return x, past
        weights = c @ T
        coords = blend(weights.tolist(), vectors)
        length = float(products([coords], [coords])[0, 0]) ** 0.5
        image = combined(weights[None], images)[0, ...]
        if length > radius:  # by rounding
            coords, image = coords * (radius / length), image * (radius / length)
        scale = abs(float(at_x.value)) + float(np.abs(slope) @ np.abs(c - start))
        if not seen or abs(off) > BLUR * problem.eps * scale:
            return Point.at(coords), past  # no direction to remember: too much of it, and of the image, is rounding
        x_next = known(coords, image)
        step = known(coords - x.coords, x_next.image - x.image)
        return x_next, (step, *past)[: self.memory]

    def _in_hull(
        self, problem: Problem, x: Point, v: Point, past: tuple[Point, ...], goal: float
    ) -> tuple[Point, tuple[Point, ...]]:
        """Return the minimiser over the hull of x, v and the past atoms, and the atoms to remember."""
        problem.image(v)
        objective, points = problem.objective, [x, v, *past]
        needed = objective.linear_term is not None or problem.composite.ridge
        # Ways from x, not places: on a curved set the atoms are hardly apart, and their differences are what counts.
        ways = [x.coords, *(p.array - x.coords for p in points[1:])] if needed else []
        images = namespace(x.image).stack([x.image, *(p.image - x.image for p in points[1:])])
        along = restriction(problem, x, ways, images, None)

        def small(weights: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
            value, gradient, hessian = along(np.append(1.0, weights[1:]))
            gradient[0] = hessian[0] = hessian[:, 0] = 0.0  # x itself is no way to go
            return value, gradient, hessian

        with calm(math.prod(images.shape)):
            weights, *_ = newton(small, np.eye(len(points))[0], in_simplex, goal, problem.eps, tick=problem.tick)
        # Mixed in one by one, so that every kind of atom goes into every kind of iterate.
        total, x_next = float(weights[0]), x
        for weight, atom in zip(weights[1:].tolist(), points[1:], strict=True):
            total += weight
            if weight > 0:
                x_next = problem.mix(x_next, atom, min(weight / total, 1.0))
        return x_next, (v, *past)[: self.memory]


def bends(problem: Problem) -> bool:
    """Tell whether products with the Hessian are to be had on the host, and cost less than the rest of a step."""
    objective = problem.hessian_objective
    if problem.on_device or objective is None or objective.data_shape is None:
        return False
    data = objective.data
    return (data.matrix.nnz if data.descends else math.prod(data.shape)) < LARGE


def truncated_newton(problem: Problem, x: Point, at_x: Evaluation, radius: float, most: int) -> tuple[Point, int]:
    """Return about the step to the minimiser of the model of f on the ball, and the rounds of conjugate gradients.

    On the sphere the step is along it, and the multiplier of the ball is -<gradient, x>/|x|²; inside the rounds end
    where they leave the ball, and from zero, where that tells nothing, it is taken to be |gradient|/radius, which it is
    where the gradient hardly changes on the way. Where columns of sparse data differ much, residuals are divided by the
    curvature along each, plus the mean of it [2]_.

    References
    ----------
    .. [1] T. Steihaug, The conjugate gradient method and trust regions in large scale optimization, SIAM J. Numer.
       Anal. 20, 1983.
    .. [2] C.-Y. Hsia, W.-L. Chiang and C.-J. Lin, Preconditioned conjugate gradient methods in truncated Newton
       frameworks for large-scale linear classification, ACML 2018.
    """
    objective = problem.hessian_objective
    assert objective is not None
    slope: Array = at_x.slope
    g, at = double(slope), double(x.array)
    square, inward = float(at @ at), -float(g @ at)
    on_sphere = square**0.5 > ON_SPHERE * radius and inward > 0
    shift = max(inward, 0.0) / square if square > 0 else float(g @ g) ** 0.5 / radius
    scale = scale_of_columns(problem, x, shift)

    def tangent(v: Array, across: Array) -> Array:
        """Return v less what it has of the sphere's normal, taken off along another vector."""
        return v - (float(v @ at) / float(across @ at)) * across if on_sphere else v

    def evened(v: Array) -> Array:
        return v if scale is None else tangent(scale * v, scale * at)

    residual = tangent(-(g + shift * at), at)
    way = evened(residual)
    step, image, bent = np.zeros_like(residual), np.zeros(x.image.shape), objective.hessian_along(x)
    square, inner = float(residual @ residual), float(residual @ way)
    # Beside the sphere's normal, a gradient t leaves a Frank-Wolfe gap of t²/2 over the multiplier.
    enough, least, rounds = FORCING**2 * inner, shift * problem.goal if on_sphere else 0.0, 0
    while rounds < most and inner > enough and square > least:
        end, allowed = (step, 2 * radius) if on_sphere else (at + step, radius)
        if float(end @ end) > allowed * allowed:  # out of the ball: lengths only grow [1]
            break
        problem.tick()
        along, turned, passes = bent(way)
        problem.counts.n_pass += passes
        turned = turned + shift * way
        # No farther than out of the ball, whatever rounding, or losses in their tails, have left of the curvature.
        far = min(inner / max(float(way @ turned), 1e-300), 4 * radius / max(float(way @ way) ** 0.5, 1e-300))
        step, image, residual = step + far * way, image + far * along, tangent(residual - far * turned, at)
        ahead, before, square = evened(residual), inner, float(residual @ residual)
        inner = float(residual @ ahead)
        way, rounds = ahead + inner / before * way, rounds + 1
    return known(as_like(step, x.coords), as_like(image, x.image)), rounds


def scale_of_columns(problem: Problem, x: Point, shift: float) -> np.ndarray | None:
    """Return what evens out the curvatures along the columns of sparse data that differ much; None for others."""
    data: Any = problem.rows
    if not data.descends:
        return None
    squares = data.squares(double(problem.composite.loss_curvature(x.image)))
    mean = float(squares.mean())
    return 1 / (squares + (mean + shift)) if float(squares.std()) > mean else None


def restriction(
    problem: Problem,
    near: Point,
    vectors: list[Any],
    images: Array,
    gram: np.ndarray | None,
    T: np.ndarray | None = None,
) -> OnSpan:
    """Return f on the combinations of some points, about at the point `near`, as a function of their weights.

    `images` holds the points' images as rows, `gram` the inner products of their coordinates (None: not known yet). The
    points are T times the vectors, where a T is given.
    """
    c = problem.objective.linear_term
    if c is not None:
        H, linear = products(vectors, [images[i, ...] for i in range(images.shape[0])]), products([c], vectors)[0]
        H, linear = (H, linear) if T is None else (T @ H, T @ linear)
        H = 0.5 * (H + H.T)
        return lambda w: (float(0.5 * w @ H @ w + linear @ w), H @ w + linear, H.copy())
    objective = problem.composite
    loss = objective.on_span(images, near.image)
    if not objective.ridge:
        return loss
    ridge = objective.ridge * (products(vectors, vectors) if gram is None else gram)

    def small(c: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        value, gradient, hessian = loss(c)
        return float(value + 0.5 * c @ ridge @ c), gradient + ridge @ c, hessian + ridge

    return small


def newton(
    small: OnSpan,
    c: np.ndarray,
    corner: Corner,
    goal: float,
    eps: float = EPS,
    slope: np.ndarray | None = None,
    tick: Callable[[], None] = lambda: None,
) -> tuple[np.ndarray, bool, float]:
    """Return the minimiser of a smooth convex f over a small set, whether f has visibly fallen, and what `slope` did.

    Newton's method. Where the gradient at the start is known to be `slope`, an affine function is added to f that makes
    it so; its value at the minimiser is the third answer.
    """
    start, (value, gradient, hessian) = c, small(c)
    off = np.zeros_like(gradient) if slope is None else slope - gradient
    gradient = gradient + off

    def corrected(c: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        tick()
        value, gradient, hessian = small(c)
        return value + float(off @ (c - start)), gradient + off, hessian

    for _ in range(30):
        d = corner(gradient - hessian @ c, hessian, c) - c
        fall = -float(gradient @ d)
        if not fall > max(goal, 4 * eps * abs(value)):
            # f does not show what the last step gains, but the gradient does: it is taken if f does not rise either.
            last = fall > goal and corrected(c + d)[0] <= value + 4 * eps * abs(value)
            seen, c = c is not start, c + d if last else c
            return c, seen, float(off @ (c - start))
        t, trial = 1.0, corrected(c + d)
        while not trial[0] <= value - 1e-4 * t * fall and t > 1e-8:
            t *= 0.5
            trial = corrected(c + t * d)
        if not trial[0] < value:
            break
        c, (value, gradient, hessian) = c + t * d, trial
    return c, c is not start, float(off @ (c - start))


def in_simplex(q: np.ndarray, H: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the minimiser of q'z + z'Hz/2 over the simplex, started from the feasible z."""
    return simplex_qp(H, q, z)


def extended(gram: np.ndarray, slopes: list[Array]) -> np.ndarray:
    """Return the inner products of slopes, of which `gram` has those of all but the first, and perhaps of some more."""
    size = len(slopes)
    if len(gram) < size - 1:
        return products(slopes, slopes)
    whole = np.empty((size, size))
    whole[1:, 1:] = gram[: size - 1, : size - 1]
    whole[0] = whole[:, 0] = products(slopes[:1], slopes)[0]
    return whole


def best_average(
    tangents: tuple[Tangent, ...], radius: float, eps: float = EPS, gram: np.ndarray | None = None
) -> Tangent:
    """Return the average of tangents whose minimum over the l2 ball of this radius is highest."""
    size, slopes = len(tangents), [t.slope for t in tangents]
    offsets = np.array([float(t.offset) for t in tangents])
    gram = products(slopes, slopes) if gram is None else gram

    largest = float(gram.diagonal().max())

    def bound(c: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        along = gram @ c
        # Slopes that cancel leave rounding, whose square may be negative.
        length = max(float(c @ along), EPS**2 * largest) ** 0.5
        unit = along / length
        # Two nearly equal terms: what rounding leaves of the difference must not look like curvature.
        bend = (gram - np.outer(unit, unit)) / length + 1e-13 * length * np.eye(size)
        return float(radius * length - offsets @ c), radius * unit - offsets, radius * bend

    if not largest > 0:
        return tangents[0]
    weights = newton(bound, np.eye(size)[0], in_simplex, 0.0)[0].tolist()
    slope = blend(weights, slopes)
    offset, noise = (sum(w * t[i] for w, t in zip(weights, tangents, strict=True)) for i in (1, 3))
    return Tangent(slope, offset, 1.0, noise + 4 * size * eps * float(np.max(np.abs(offsets))))


def known(coords: Array, image: Array) -> Point:
    """Return a point whose image is known."""
    return Point(coords, ((1.0, Leaf(None, image)),))

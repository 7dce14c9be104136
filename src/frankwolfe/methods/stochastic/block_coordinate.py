"""Block-coordinate Frank-Wolfe on product sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from frankwolfe.atoms import Sparse
from frankwolfe.backends import Array, namespace, vdot
from frankwolfe.backends.namespace import as_index, is_foreign
from frankwolfe.feasible import settled
from frankwolfe.methods.base import Evidence, Method, oracle_share
from frankwolfe.points import Point, combine, mix
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain

STEPS = ("search", "open")


@runtime_checkable
class Blockwise(Protocol):
    """An objective that can give the gradient of one block for less than a whole gradient."""

    def block_gradient(self, image: Array, block: slice) -> Array:
        """Return the gradient's entries in `block` at the point with this image."""
        ...


@plain
class BlockState(NamedTuple):
    k: int
    x: Point  # the iterate, or the weighted average of all iterates
    z: Point  # the iterate


@dataclass(frozen=True)
class BlockCoordinateFrankWolfe(Method):
    """Frank-Wolfe one block at a time; a step of the loop is a sweep over all blocks in random order.

    Parameters
    ----------
    steps : {"search", "open"}
        How far a block goes to its vertex: by exact line search, or by 2n/(t + 2n) at the t-th of all block moves.
    average : bool, default False
        Let x_k be the average of the iterates after all block moves so far, the t-th weighted by t; its gap is then the
        certificate ("bcfw-wavg" of [1]_). Steadier early on, and the one whose gap the theory bounds.

    Notes
    -----
    On a product of n sets, with blocks drawn at random, the expected f - f* after t block moves is at most
    2n(C + f(x_0) - f*)/(t + 2n), C the sum of the blocks' curvatures [1]_. C is at most LD² and often n times less: the
    bound after a sweep is then as good as after n steps of Frank-Wolfe. (We draw without replacement, sweep by sweep,
    which the theorem does not cover and which does better in practice.)

    Each sweep begins with the whole gradient and the whole oracle: their gap, the sum of the blocks' gaps, is the
    certificate. `n_lmo` counts the blocks' oracles of a sweep as one. Gradients of single blocks are read from the
    columns of the data for `Logistic` and `LeastSquares`, from w for `StructuralSVM`; any other objective pays a whole
    gradient for each block. Applies to `Product` sets of arrays of any library.

    References
    ----------
    .. [1] S. Lacoste-Julien, M. Jaggi, M. Schmidt and P. Pletscher, Block-coordinate Frank-Wolfe optimization for
       structural SVMs, ICML 2013.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> from frankwolfe.sets import Product
    >>> f = fw.LeastSquares(np.eye(4), np.array([3.0, 0.0, 0.5, 0.5]))
    >>> domain = Product(fw.L1Ball(1.0), fw.Simplex(2), shapes=[2, 2])
    >>> fw.minimize(f, domain, method=BlockCoordinateFrankWolfe(), tol=1e-9).x.round(6) + 0.0
    array([1. , 0. , 0.5, 0.5])
    """

    name: ClassVar[str] = "bcfw"
    syncs_host: ClassVar[bool] = True
    steps: str = "search"
    average: bool = False

    def __post_init__(self) -> None:
        if self.steps not in STEPS:
            raise ValueError(f"steps must be one of {STEPS}, got {self.steps!r}")

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if problem.domain is None or not problem.domain.factors:
            raise TypeError(
                "method 'bcfw' moves one block of a Product set at a time, and "
                f"{type(problem.domain).__name__} has no blocks; use 'fw', 'afw' or 'bpcg'"
            )

    def init(self, problem: Problem, x0: Point) -> BlockState:
        return BlockState(0, x0, x0)

    def step(self, problem: Problem, state: BlockState) -> tuple[BlockState, Evidence]:
        k, mean, x = state
        at_x = problem.evaluate(mean)
        vertex = problem.lmo(at_x.slope, k, share=oracle_share(k), keep=mean)
        seen = ((at_x.value, mean), (problem.value(x), x)) if self.average else ((at_x.value, x),)

        assert problem.domain is not None
        factors = problem.domain.factors
        n = len(factors)
        for turn, i in enumerate(problem.rng(k).permutation(n)):
            problem.tick()
            block, part, shape = factors[i]
            g = _block_gradient(problem, x, block)
            xp = namespace(g)
            v = xp.reshape(part.lmo(xp.reshape(g, shape)).toarray(), (-1,))
            move = v - x.array[block]
            if float(vdot(g, move)) < 0:
                way = Point.at(Sparse(_places(block, move), move, tuple(x.array.shape)))
                delta = 2.0 * n / (k * n + turn + 2.0 * n)
                if self.steps == "search":
                    delta = problem.line_search(x, combine([1.0, 1.0], [x, way]))
                x = combine([1.0, delta], [x, way])
            if self.average:
                mean = mix(mean, x, 2.0 / (k * n + turn + 2))  # the first move replaces the start
        problem.counts.n_lmo += 1
        return BlockState(k + 1, mean if self.average else x, x), Evidence(seen, ((at_x.tangent, vertex),))

    def settled(self, problem: Problem, state: BlockState) -> BlockState:
        x, z = settled(problem, state.k, state.x), settled(problem, state.k, state.z)
        return state._replace(x=x, z=z if self.average else x)


def _block_gradient(problem: Problem, x: Point, block: slice) -> Any:
    """Return the entries of the gradient at x in the block, for as little as the objective allows."""
    f = problem.objective
    if isinstance(f, Blockwise):
        return f.block_gradient(problem.image(x), block)
    if f.data_shape is not None and problem.rows.stored:
        model, rows = problem.composite, problem.rows
        g = rows.columns(_places(block, x.coords)).T @ model.loss_slope(problem.image(x))
        problem.counts.n_pass += (block.stop - block.start) / rows.shape[1]
        return g + model.ridge * x.array[block] if model.ridge else g
    slope: Array = problem.evaluate(x).slope
    return slope[block]


def _places(block: slice, like: Array) -> Array:
    places = np.arange(block.start, block.stop)
    return as_index(places, like) if is_foreign(like) else places

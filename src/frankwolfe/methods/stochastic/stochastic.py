"""Stochastic Frank-Wolfe for finite sums: mini-batches of rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.backends import Array, zeros
from frankwolfe.backends.namespace import as_index, is_foreign
from frankwolfe.feasible import settled
from frankwolfe.methods.base import ORACLE_ERROR, Evidence, Method, oracle_share
from frankwolfe.points import Leaf, Point
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.validation import integer

REDUCTIONS = ("momentum", "spider", "svrf")
SVRF_BATCH = 96  # rows for each move of an epoch made so far (Theorem 1 of Hazan and Luo)
MOST_MOVES = 1 << 20  # of an epoch whose length doubles


@plain
class StochasticState(NamedTuple):
    k: int
    x: Point
    d: Array  # estimate of the gradient


@dataclass(frozen=True)
class StochasticFrankWolfe(Method):
    """Frank-Wolfe on gradients of mini-batches; a step of the loop is an epoch of them after one full evaluation.

    Parameters
    ----------
    reduction : {"momentum", "spider", "svrf"}
        How the noise is kept down: by averaging the mini-batch gradients (no full gradient enters the moves); by adding
        up their differences, starting from the full gradient of the epoch's first point; or by their difference from
        that first point, in epochs that double in length.
    batch : int, optional
        Rows in a mini-batch; by default the root of their number n; for 'svrf' 96(j+1) at the j-th move of an epoch.

    Notes
    -----
    For the first two an epoch is n/batch moves, t = 1, 2, ... counting them all, B_t a batch of rows drawn with
    replacement:

    - momentum [1]_: d_t = (1-ρ_t) d_{t-1} + ρ_t ∇f_B(x_t), ρ_t = 4/(t+8)^(2/3), step 1/(t+1);
      E f(x_t) - f* = O(t^(-1/3)) for convex f with gradients of bounded variance.
    - spider [2]_: d_t = d_{t-1} + ∇f_B(x_t) - ∇f_B(x_{t-1}), step 2/(t+2); E f(x_t) - f* = O(LD²/t) if the batch is
      no smaller than the root of n and every row's loss is L-smooth.
    - svrf [3]_: d_j = ∇f(w) + ∇f_B(x_j) - ∇f_B(w), w the first point of the epoch, step 2/(j+1) at move j of the epoch,
      which has 2^(k+4) - 2 moves in iteration k; E f(x_k) - f* <= LD²/2^(k+1) if that holds at the start and every
      row's loss is L-smooth. No batch is larger than the data: from there on gradients are full, and exact.

    Between epochs one full pass gives f(x_k), its gradient and the oracle's answer: value, trace and certificate are
    exact, and `spider` starts from that gradient. So an iteration costs two passes over the data; `n_pass` counts
    mini-batches by their share of the rows, `n_grad` only full gradients. Applies to `Logistic` and `LeastSquares` on
    dense data of any array library, and on SciPy sparse matrices.

    References
    ----------
    .. [1] A. Mokhtari, H. Hassani and A. Karbasi, Stochastic conditional gradient methods: from convex minimization to
       submodular maximization, JMLR 21, 2020.
    .. [2] A. Yurtsever, S. Sra and V. Cevher, Conditional gradient methods via stochastic path-integrated differential
       estimator, ICML 2019.
    .. [3] E. Hazan and H. Luo, Variance-reduced and projection-free stochastic optimization, ICML 2016.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> A = np.random.default_rng(0).standard_normal((400, 5))
    >>> f = fw.LeastSquares(A, A[:, 0])
    >>> result = fw.minimize(f, fw.L1Ball(1.0), method=StochasticFrankWolfe("spider"), tol=0.01, max_iter=50)
    >>> result.success, bool(result.n_grad < result.n_lmo)
    (True, True)
    """

    name: ClassVar[str] = "stochastic"
    reduction: str = "momentum"
    batch: int | None = None

    def __post_init__(self) -> None:
        if self.reduction not in REDUCTIONS:
            raise ValueError(f"reduction must be one of {REDUCTIONS}, got {self.reduction!r}")
        if self.batch is not None:
            object.__setattr__(self, "batch", integer("batch", self.batch, 1))

    def check(self, problem: Problem) -> None:
        super().check(problem)
        objective = problem.objective
        if objective.data_shape is None:
            raise TypeError(
                "method 'stochastic' needs a sum over rows of data (Logistic or LeastSquares), not "
                f"{type(objective).__name__}; use 'afw' or 'fw'"
            )
        if not problem.composite.separable:
            raise TypeError(
                "method 'stochastic' takes the slope of single rows, and a free intercept ties them together; use "
                "'afw' or 'fw', or pass intercept=False and add a column of ones"
            )
        if not problem.rows.picks_rows:
            raise TypeError(
                "method 'stochastic' picks single rows, which needs a dense array or a SciPy sparse matrix, not "
                f"{type(problem.rows).__name__}; use 'afw' or 'fw'"
            )

    def init(self, problem: Problem, x0: Point) -> StochasticState:
        return StochasticState(0, x0, zeros(tuple(x0.array.shape), x0.array))

    def step(self, problem: Problem, state: StochasticState) -> tuple[StochasticState, Evidence]:
        k, x, d = state
        at_x = problem.evaluate(x)
        vertex = problem.lmo(at_x.slope, k, share=oracle_share(k), keep=x)

        rows = _Rows(problem.objective)
        evidence = Evidence(((at_x.value, x),), ((at_x.tangent, vertex),))
        if self.reduction == "svrf":
            here = self._snapshot_epoch(problem, k, x, at_x.slope, rows)
            return StochasticState(k + 1, settled(problem, k, here), d), evidence
        size = min(rows.n, math.isqrt(rows.n - 1) + 1 if self.batch is None else self.batch)
        moves = max(rows.n // size, 1)
        batches = problem.rng(k).integers(rows.n, size=(moves, size))
        here = before = x
        for i, batch in enumerate(batches):
            problem.tick()
            t = k * moves + i + 1
            if self.reduction == "momentum":
                rho, delta = 4.0 / (t + 8) ** (2 / 3), 1.0 / (t + 1)
                d = (1 - rho) * d + rho * rows.gradient(batch, here.coords)
            else:
                delta = 2.0 / (t + 2)
                d = at_x.slope if i == 0 else d + rows.gradient(batch, here.coords, before.coords)
            problem.counts.n_pass += size / rows.n
            v = problem.lmo(d, t, share=ORACLE_ERROR * delta, keep=here)
            before, here = here, _moved(problem, here, v.point, delta)
        return StochasticState(k + 1, settled(problem, k, here), d), evidence

    def _snapshot_epoch(self, problem: Problem, k: int, w: Point, full: Array, rows: _Rows) -> Point:
        """Return the end of an epoch of moves by gradients that are corrected by the full one at its start, w."""
        rng, here = problem.rng(k), w
        for j in range(1, min(2 ** min(k + 4, 60) - 2, MOST_MOVES) + 1):
            problem.tick()
            size = min(SVRF_BATCH * (j + 1) if self.batch is None else self.batch, rows.n)
            # Rows drawn with replacement; as many as there are cost no more when each is taken once.
            batch = np.arange(rows.n) if size == rows.n else rng.integers(rows.n, size=size)
            problem.counts.n_pass += size / rows.n
            d = full + rows.gradient(batch, here.coords, w.coords)
            delta = 2.0 / (j + 1)
            here = _moved(problem, here, problem.lmo(d, j, share=ORACLE_ERROR * delta, keep=here).point, delta)
        return here


def _moved(problem: Problem, x: Point, v: Point, delta: float) -> Point:
    """Return (1 - delta) x + delta v, whose image nobody will ask for but at the end of an epoch."""
    moved = problem.mix(x, v, delta)
    return Point(moved.coords, ((1.0, Leaf(moved.coords)),), rest=moved.rest)


class _Rows:
    """The rows of a linear model's data, and unbiased gradients from a few of them."""

    def __init__(self, objective: Any) -> None:
        self.objective = objective
        self.on_device, matrix = is_foreign(objective.b), objective.data.matrix
        # Data laid out by columns for the set's sparse atoms are turned back, once an epoch.
        self.matrix = matrix.tocsr() if getattr(matrix, "format", "") == "csc" else matrix
        self.n = matrix.shape[0]

    def gradient(self, batch: np.ndarray, x: Array, minus: Array | None = None) -> Array:
        """Return the batch's gradient at x, less its gradient at `minus`: the rows are read once for both."""
        f = self.objective
        if self.on_device:
            batch = as_index(batch, f.b)
        rows = f.data.rows_at(batch) if self.on_device else self.matrix[batch]
        losses = f.array_losses(batch)
        residual, shift = losses.slope(rows @ x), x
        if minus is not None:
            residual, shift = residual - losses.slope(rows @ minus), x - minus
        g = (self.n / batch.shape[0]) * (rows.T @ residual)
        return g + f.ridge * shift if f.ridge else g

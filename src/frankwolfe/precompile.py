"""Compile the kernels ahead of time: in an image of a container, before a measurement, or for a first long run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from frankwolfe.backends.compile_policy import CLOCK, use
from frankwolfe.kernels.pattern.pattern_products import COMPILED_FROM, FAMILY
from frankwolfe.kernels.rows.compact_storage import WIDE
from frankwolfe.minimize import minimize
from frankwolfe.objectives.linear_model import CLASSIFICATION, REGRESSION
from frankwolfe.objectives.matrix_completion import MatrixCompletion
from frankwolfe.rows.user_data import REPEATED
from frankwolfe.sets import L1Ball, L2Ball, NuclearBall, Simplex
from frankwolfe.validation import nearest

LOSSES = ("log_loss", "squared_error")
ROWS, COLUMNS = 400, 40
SOLVES = (
    *(("newton", L2Ball(1.0)), ("newton", L1Ball(1.0)), ("newton", Simplex(COLUMNS))),
    *(("subspace", L2Ball(1.0)), ("afw", L2Ball(1.0)), ("fcfw", L1Ball(1.0))),
)


def compile_kernels(losses: Iterable[str] = LOSSES) -> Iterator[tuple[str, float]]:
    """Compile what solves use most, and keep it for later processes; what is compiled already is only loaded.

    Parameters
    ----------
    losses : iterable of str, default ("log_loss", "squared_error")
        Names of losses, as in ``FrankWolfeRegressor(loss=...)``, whose kernels are compiled for dense and sparse rows.

    Yields
    ------
    what : str
        A family of kernels that is now there.
    seconds : float
        How long compiling it took.

    Examples
    --------
    >>> from frankwolfe.precompile import compile_kernels
    >>> for what, seconds in compile_kernels():  # doctest: +SKIP
    ...     print(what, f"{seconds:.0f} s")
    dense rows, log_loss 9 s
    """
    known = {**REGRESSION, **CLASSIFICATION}
    names = list(losses)
    for name in names:
        if name not in known:
            raise ValueError(f"no loss {name!r}; {nearest(name, sorted(known))}")
    tasks = [(f"{storage}, {name}", known[name], storage) for name in names for storage in _STORAGES]
    for what, model, storage in tasks:
        before = CLOCK.seconds
        _solve_rows(model, storage)
        yield what, CLOCK.seconds - before
    before = CLOCK.seconds
    _complete()
    yield FAMILY, CLOCK.seconds - before


def _dense(rng: np.random.Generator) -> Any:
    return rng.standard_normal((ROWS, COLUMNS))


def _sparse(rng: np.random.Generator, columns: int = COLUMNS, density: float = 0.3) -> Any:
    from scipy.sparse import csr_array

    n = int(density * ROWS * columns)
    places = rng.integers(ROWS, size=n), rng.integers(columns, size=n)
    return csr_array((rng.standard_normal(n), places), shape=(ROWS, columns))


def _ones(rng: np.random.Generator) -> Any:
    pattern = _sparse(rng)
    pattern.data[:] = 1.0
    return pattern


def _wide(rng: np.random.Generator) -> Any:
    return _sparse(rng, WIDE + 1, 1e-4)


_STORAGES = {
    "dense rows": _dense,
    "dense rows in single precision": lambda rng: _dense(rng).astype(np.float32),
    "sparse rows": _sparse,
    "sparse rows of ones": _ones,
    "sparse rows, wide": _wide,
}


def _solve_rows(model: Any, storage: str) -> None:
    rng = np.random.default_rng(0)
    A = _STORAGES[storage](rng)
    b = (rng.random(ROWS) < 0.5) * 1.0
    wide = A.shape[1] > COLUMNS
    for intercept in (False, True):
        for method, domain in SOLVES:
            if wide and isinstance(domain, Simplex):
                continue
            f = model(A, b, intercept=intercept)
            f.data.solves = REPEATED
            minimize(f, domain, method="auto" if wide else method, max_iter=3, progress=False)


def _complete() -> None:
    use(FAMILY)
    rng = np.random.default_rng(0)
    side = 4 * int(COMPILED_FROM**0.5)
    for shape in ((side, side // 2), (side // 2, side)):
        places = rng.choice(shape[0] * shape[1], COMPILED_FROM, replace=False)
        values = rng.standard_normal(COMPILED_FROM)
        f = MatrixCompletion(places // shape[1], places % shape[1], values, shape)
        for method in ("factored", "afw"):
            minimize(f, NuclearBall(100.0), method=method, max_iter=3, progress=False)

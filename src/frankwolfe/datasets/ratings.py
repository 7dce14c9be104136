"""MovieLens ratings, and the preprocessing of Freund, Grigas and Mazumder."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from frankwolfe.datasets.archives import DatasetError, at_fault, show

_LINE = rb"\d{1,9}\t\d{1,9}\t\d{1,9}\t\d{1,18}"
_FILE = re.compile(rb"(?:%s\r?\n)*(?:%s)?" % (_LINE, _LINE))


def parse_ratings(content: bytes, file: str, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parse lines of user, item, rating (1 to 5) and time, separated by tabs; users and items count from zero then."""
    if not content.strip():
        raise DatasetError(f"{file}: the file is empty; fetch it again")
    if not _FILE.fullmatch(content):
        raise at_fault(content, file, _fault, "not lines of user, item, rating, time; fetch it again")
    users, items, stars, _ = np.array(content.split(), dtype=bytes).astype(np.int64).reshape(-1, 4).T
    for what, ids, most in (("user", users, shape[0]), ("item", items, shape[1]), ("rating", stars, 5)):
        wrong = np.flatnonzero((ids < 1) | (ids > most))
        if wrong.size:
            raise DatasetError(f"{file}, line {wrong[0] + 1}: {what} {ids[wrong[0]]} is not one of 1..{most}")
    _check_unique(users, items, file)
    return (users - 1).astype(np.intp), (items - 1).astype(np.intp), stars.astype(np.float64)


def _fault(line: bytes) -> str | None:
    if re.fullmatch(_LINE, line):
        return None
    return f"{show(line)} is not user, item, rating, time: four whole numbers separated by tabs"


def _check_unique(users: np.ndarray, items: np.ndarray, file: str) -> None:
    pairs = users * (items.max() + 1) + items
    order = np.argsort(pairs, kind="stable")
    twice = np.flatnonzero(np.diff(pairs[order]) == 0)
    if twice.size:
        second = order[twice + 1].min()
        first = np.flatnonzero(pairs == pairs[second])[0]
        raise DatasetError(
            f"{file}, line {second + 1}: user {users[second]} rated item {items[second]} on line {first + 1} already; "
            "keep one"
        )


class Effects(NamedTuple):
    """What is taken off the ratings, and what the rest is divided by."""

    users: np.ndarray
    items: np.ndarray
    scale: float

    def apply(self, rows: np.ndarray, cols: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the ratings centred and scaled."""
        return (values - self.users[rows] - self.items[cols]) / self.scale


def fit_effects(
    rows: np.ndarray,
    cols: np.ndarray,
    values: np.ndarray,
    shape: tuple[int, int],
    *,
    center: bool = True,
    shrinkage: float = 0.0,
) -> Effects:
    """Fit the preprocessing of Freund, Grigas and Mazumder.

    Without `center` the effects are zero and only the scale is fitted. `shrinkage` is the weight of a penalty on the
    squared effects: each is drawn to zero as by so many ratings that say zero.

    Notes
    -----
    The user effects α and item effects β solve ``min |r - α_user - β_item|²`` and have the least norm among the
    solutions (LSQR from zero, tolerance 1e-6, no global mean); the residuals are divided by their norm, so that the
    matrix of observed entries has Frobenius norm one and ``f(0) = 1/2`` in matrix completion.

    References
    ----------
    .. [1] R. M. Freund, P. Grigas, R. Mazumder, "An extended Frank-Wolfe method with in-face directions, and its
       application to low-rank matrix completion", SIAM J. Optim. 27(1), 2017. The authors' script for MovieLens 100K.
    """
    users, items = np.zeros(shape[0]), np.zeros(shape[1])
    if center:
        from scipy.sparse import csr_array
        from scipy.sparse.linalg import lsqr
        from threadpoolctl import threadpool_limits

        m = values.size
        columns = np.column_stack([rows, cols + shape[0]]).ravel()
        design = csr_array((np.ones(2 * m), columns, np.arange(0, 2 * m + 1, 2)), shape=(m, sum(shape)))
        # Stopped this early the iteration remembers rounding (2e-9 in the norm, 7e-8 in the optimum of the paper's
        # problem), and threads round differently: one thread, so that every machine gets the same numbers.
        with threadpool_limits(limits=1):
            effects = lsqr(design, values, damp=shrinkage**0.5, atol=1e-6, btol=1e-6, iter_lim=1000)[0]
        users, items = np.split(effects, [shape[0]])
    residual = values - users[rows] - items[cols]
    return Effects(users, items, float(np.sqrt(np.sum(residual * residual))) or 1.0)

"""Features on one scale: what the estimators do to data before they constrain coefficients, and undo afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

FAR = 100.0  # how far features may be from zero beside their range before they are centred for the sake of rounding
SQUARED = 1e150  # numbers up to this and down to its inverse have squares, and sums of these
LEAST = 1e-300  # a feature that is smaller everywhere counts as zero: its coefficient would be no number
SPARSE_ROUNDING = 1e-6  # of the mean of a sparse feature: what is left of the spread of a constant one


class Scaling(NamedTuple):
    """What was taken off each feature, and what it was divided by; None where nothing was."""

    mean: np.ndarray | None = None
    scale: np.ndarray | None = None

    @classmethod
    def of(cls, X: Any, weight: np.ndarray | None, *, intercept: bool, standardize: bool) -> Scaling:
        """Return how data are brought to one scale.

        Without `standardize` dense data far from zero beside their range are centred all the same: with an intercept
        that changes nothing but rounding.
        """
        dense = not sp.issparse(X)
        if standardize:
            moments = Moments.of(X, _shares(X, weight))
            unit = _units(X, moments.square)
            if unit is None:
                return cls.by(moments, X.dtype, intercept=intercept, dense=dense)
            found = cls.of(cls(None, unit).apply(X), weight, intercept=intercept, standardize=True)
            assert found.scale is not None
            return cls(None if found.mean is None else found.mean * unit, found.scale * unit)
        low, high = _range(X if dense else X.data.reshape(-1, 1)) if dense or X.nnz else np.zeros((2, 1))
        check_squares("X", "features", float(np.max(np.maximum(high, -low))), ", or pass standardize=True")
        if intercept and dense and np.any(np.abs(low + high) > FAR * (high - low)):
            return cls(_moments(X, _shares(X, weight))[0].astype(X.dtype))
        return cls()

    @classmethod
    def by(cls, moments: Moments, dtype: Any, *, intercept: bool, dense: bool) -> Scaling:
        """Return the scaling by the spread that a free intercept leaves, else by the root mean square.

        Dense data are centred where there is an intercept; sparse data stay sparse.
        """
        mean = moments.mean if intercept else np.zeros_like(moments.mean)
        scale = np.sqrt(moments.square + (0.0 if intercept else moments.mean**2))
        for j in np.flatnonzero(~np.isfinite(scale)):
            raise ValueError(f"feature {j} of X holds numbers whose squares overflow; measure it in a larger unit")
        # What rounding leaves of a constant feature is not a spread: more where squares are subtracted.
        rounding = 10 * np.finfo(dtype).eps if dense else SPARSE_ROUNDING
        constant = ~(scale > rounding * np.abs(mean))
        scale = np.where(constant | ~(scale > 0), 1.0, scale)
        return cls(mean.astype(dtype) if intercept and dense else None, scale.astype(dtype))

    def apply(self, X: Any) -> Any:
        """Return data on the new scale: a copy, of the numbers alone where they are sparse."""
        if sp.issparse(X):
            if self.scale is None:
                return X
            columns = X.indices if X.format == "csr" else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
            return type(X)((X.data / self.scale[columns], X.indices, X.indptr), shape=X.shape)
        if self.mean is not None:
            X = X - self.mean
            return X if self.scale is None else np.divide(X, self.scale, out=X)
        return X if self.scale is None else X / self.scale

    def coef(self, x: np.ndarray) -> np.ndarray:
        """Return coefficients (features first) for the data as they were given."""
        return x if self.scale is None else (x.T / self.scale).T.astype(x.dtype, copy=False)

    def shift(self, coef: np.ndarray) -> Any:
        """Return what coefficients for the data as given make of the means: to be taken off the intercept."""
        return 0.0 if self.mean is None else self.mean @ coef


@dataclass(frozen=True)
class Moments:
    """The share of some rows, the mean of each of their features, and the mean square of what that leaves.

    Those of two groups of rows add up without the cancellation that sums of squares suffer.
    """

    share: float
    mean: np.ndarray
    square: np.ndarray

    @classmethod
    def of(cls, X: Any, share: np.ndarray) -> Moments:
        """Return the moments of some rows, in double precision."""
        total = float(share.sum(dtype=np.float64))
        if not total > 0:
            return cls(0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):  # told by what is not finite
            return cls(total, *_moments(X, share / total))

    def __add__(self, other: Moments) -> Moments:
        total = self.share + other.share
        if not total > 0:
            return self
        a, b = self.share / total, other.share / total
        apart = other.mean - self.mean
        return Moments(total, self.mean + b * apart, a * self.square + b * other.square + a * b * apart**2)


def _shares(X: Any, weight: np.ndarray | None) -> np.ndarray:
    return np.full(X.shape[0], 1.0 / X.shape[0]) if weight is None else weight / weight.sum()


def check_squares(name: str, what: str, largest: float, remedy: str = "") -> None:
    """Raise an error where numbers are so large, or so small, that their squares are none."""
    if largest > SQUARED or 0 < largest < 1 / SQUARED:
        raise ValueError(
            f"{name} holds numbers up to {largest:.3g}, whose squares {'overflow' if largest > 1 else 'vanish'}; "
            f"measure the {what} in other units{remedy}"
        )


def _range(X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest number of each feature."""
    if sp.issparse(X):
        return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    return X.min(axis=0), X.max(axis=0)


def _units(X: Any, squares: np.ndarray) -> np.ndarray | None:
    """Return powers of two, as large as the features are, where the squares of some overflow or vanish; else None."""
    odd = ~((squares >= SQUARED**-2) & (squares <= SQUARED**2))
    if not odd.any():
        return None
    low, high = _range(X[:, odd])  # a constant may be of any usual size
    largest = np.maximum(high, -low).astype(np.float64)
    largest[largest < LEAST] = 0.0
    if not np.any((largest > SQUARED) | ((largest > 0) & (largest < 1 / SQUARED))):
        return None
    unit = np.ones(X.shape[1], X.dtype)
    unit[odd] = np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1] - 1), 1.0)
    return unit


def _moments(X: Any, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted mean of each column, exact where it is constant, and the mean square about it."""
    if sp.issparse(X):
        squares = type(X)((np.square(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape).T @ share
        mean = X.T @ share
        return mean, np.maximum(squares - mean**2, 0.0)
    mean = np.einsum("i,ij->j", share, X, dtype=np.float64)
    rest, squares, step = np.zeros(X.shape[1]), np.zeros(X.shape[1]), max(1, (1 << 20) // X.shape[1])
    for i in range(0, X.shape[0], step):  # in pieces: no second copy of the data
        part = X[i : i + step] - mean
        rest += share[i : i + step] @ part
        squares += share[i : i + step] @ np.square(part, out=part)
    return mean + rest, squares

"""Features on one scale: what the estimators do to data before they constrain coefficients, and undo afterwards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

FAR = 100.0  # how far features may be from zero beside their range before they are centred for the sake of rounding


class Scaling(NamedTuple):
    """What was taken off each feature, and what it was divided by; None where nothing was.

    Examples
    --------
    >>> X = np.array([[1.0, 100.0], [3.0, 300.0]])
    >>> found = Scaling.of(X, None, intercept=True, standardize=True)
    >>> found.mean, found.scale, found.apply(X)
    (array([  2., 200.]), array([  1., 100.]), array([[-1., -1.],
           [ 1.,  1.]]))
    """

    mean: np.ndarray | None = None
    scale: np.ndarray | None = None

    @classmethod
    def of(cls, X: Any, weight: np.ndarray | None, *, intercept: bool, standardize: bool) -> Scaling:
        """Return how data are brought to one scale: the spread that a free intercept leaves, else the root mean square.

        Dense data are centred where there is an intercept; sparse data stay sparse. Without `standardize` dense data
        far from zero beside their range are centred all the same: with an intercept that changes nothing but rounding.
        """
        dense = not sp.issparse(X)
        if not standardize:
            if intercept and dense:
                low, high = X.min(axis=0), X.max(axis=0)
                if np.any(np.abs(low + high) > FAR * (high - low)):
                    return cls(_means(X, _shares(X, weight)).astype(X.dtype))
            return cls()
        share = _shares(X, weight)
        mean = _means(X, share) if intercept else np.zeros(X.shape[1])
        scale = _spread(X, share, mean)
        # What rounding leaves of a constant feature is not a spread.
        constant = ~(scale > 10 * np.finfo(X.dtype).eps * np.abs(mean))
        scale = np.where(constant | ~(scale > 0), 1.0, scale)
        return cls(mean.astype(X.dtype) if intercept and dense else None, scale.astype(X.dtype))

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


def _shares(X: Any, weight: np.ndarray | None) -> np.ndarray:
    return np.full(X.shape[0], 1.0 / X.shape[0]) if weight is None else weight / weight.sum()


def _means(X: Any, share: np.ndarray) -> np.ndarray:
    return X.T @ share if sp.issparse(X) else np.einsum("i,ij->j", share, X, dtype=np.float64)


def _spread(X: Any, share: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return the root of the weighted mean of (X - mean)², column by column."""
    if sp.issparse(X):
        squares = type(X)((np.square(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape).T @ share
        return np.sqrt(np.maximum(squares - mean**2, 0.0))
    total, step = np.zeros(X.shape[1]), max(1, (1 << 20) // X.shape[1])
    for i in range(0, X.shape[0], step):  # in pieces: no second copy of the data
        total += share[i : i + step] @ (X[i : i + step] - mean) ** 2
    return np.sqrt(total)

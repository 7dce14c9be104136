"""A linear model whose features are brought to one scale, and its solutions brought back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from frankwolfe.objectives.derive import derive
from frankwolfe.objectives.linear_model import WeightedMean
from frankwolfe.result import Result
from frankwolfe.rows.user_data import data_matrix


def on_one_scale(objective: Any) -> tuple[Any, np.ndarray]:
    """Return a linear model with its features divided by their spread (root mean square without an intercept).

    Examples
    --------
    >>> import frankwolfe as fw
    >>> model, scale = on_one_scale(fw.LeastSquares(np.array([[2.0, 0.0], [0.0, 10.0]]), [1.0, 2.0]))
    >>> scale.round(3), model.data.matrix.round(3)
    (array([1.414, 7.071]), array([[1.414, 0.   ],
           [0.   , 1.414]]))
    """
    from scipy.sparse import diags_array, issparse

    matrix: Any = getattr(getattr(objective, "data", None), "matrix", None)
    if not isinstance(objective, WeightedMean) or not (isinstance(matrix, np.ndarray) or issparse(matrix)):
        raise TypeError(
            "standardize=True needs a linear model such as LeastSquares(A, b) with A in memory; scale A first"
        )
    share, data = objective.exact_share, objective.data
    squares = np.asarray(data.column_squares(data.array(share)), dtype=np.float64)
    mean = np.asarray(data.adjoint(data.array(share)), dtype=np.float64) if objective.intercept else 0.0
    variance = squares - np.square(mean)
    scale = np.where(variance > 1e-12 * squares, np.sqrt(np.maximum(variance, 0.0)), 1.0).astype(matrix.dtype)
    divided = matrix / scale if isinstance(matrix, np.ndarray) else matrix @ diags_array(1 / scale)
    return derive(objective, data=data_matrix("A", divided)), scale


def unscaled(x: Any, scale: np.ndarray) -> Any:
    """Return a solution for the data as given; one entry, or row, for each feature."""
    return (np.asarray(x).T / scale).T


def restored(result: Result, scale: np.ndarray) -> Result:
    """Return a result for the data as given; atoms and tangents belong to the scaled ones and are left out."""
    return replace(result, x=unscaled(result.x, scale), atoms=None, weights=None, tangents=None)

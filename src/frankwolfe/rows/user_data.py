"""Data as users bring them, read into matrices that the objectives can use."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from frankwolfe.backends import all_finite
from frankwolfe.objectives.derive import SPECTRUM, TARGETS, derive
from frankwolfe.rows.data_matrix import DataMatrix, OperatorMatrix
from frankwolfe.rows.host_matrix import ArrayMatrix, DenseMatrix
from frankwolfe.rows.sparse_matrix import CSCMatrix, CSRMatrix
from frankwolfe.validation import floating, plain

if TYPE_CHECKING:
    from frankwolfe.rows.rows_in_parts import RowsInParts

REPEATED = 1 << 20  # as many solves as it takes


def reoriented(objective: Any, sparse_atoms: bool, parallel_atoms: bool = False) -> Any:
    """Return an objective with the data laid out for the set's atoms; itself where nothing is gained."""
    data = objective.data.current()
    turned = data.by_columns() if sparse_atoms else data
    turned = turned.carrying() if parallel_atoms else turned
    if turned is objective.data:
        return objective
    return derive(objective, (*SPECTRUM, *TARGETS), data=turned)


def is_in_parts(matrix: Any) -> bool:
    """Tell whether data are in parts, on a cluster or on disk, and not in memory."""
    from frankwolfe.rows.disk_stream import Stream
    from frankwolfe.rows.rows_in_parts import RowsInParts

    return isinstance(matrix, Stream | RowsInParts) or _is_lazy(matrix)


def rows_in_parts(kind: Any, A: Any, b: Any, weights: Any, options: dict[str, Any]) -> RowsInParts:
    """Return rows in parts, each with a model of its own.

    The models are of a subclass of `WeightedMean`, or of what such a `kind` decides on when it has seen all targets.
    Rows, targets and weights (or None) are collections of Dask, streams, lists of delayed blocks; or arrays, but A.
    """
    from frankwolfe.rows.rows_in_parts import RowsInParts

    if isinstance(A, RowsInParts):
        return A
    if _is_lazy(A):
        from frankwolfe.distributed import distribute

        return distribute(kind, A, b, weights, options)
    from frankwolfe.rows.streamed_parts import streamed

    return streamed(kind, A, b, weights, options)


def agreed_options(kind: Any, options: dict[str, Any], surveys: list[Any]) -> dict[str, Any]:
    """Return the options that the models of all parts share: those given, or what the targets of all of them tell."""
    given = {name: value for name, value in options.items() if value is not None}
    return given if "classes" in given else kind.agree(surveys) | given


def _is_lazy(matrix: Any) -> bool:
    if "dask" not in sys.modules:  # nobody has a Dask collection who has not imported Dask
        return False
    from frankwolfe.distributed.distribute import is_lazy

    return is_lazy(matrix)


def picked(data: DataMatrix, columns: np.ndarray) -> DataMatrix:
    """Return some columns of the data, laid out in rows."""
    if isinstance(data, CSRMatrix) and data.layout is not None:
        from scipy.sparse import csr_array

        from frankwolfe.kernels.rows.column_selection import picked as pick

        rows = pick(data.matrix.indptr, data.matrix.indices, data.matrix.data, data.shape[1], columns)
        few: DataMatrix = CSRMatrix(csr_array(rows, shape=(data.shape[0], columns.size)))
    else:
        chosen = data.columns(columns)
        few = CSRMatrix(chosen.tocsr()) if hasattr(chosen, "tocsr") else _dense(chosen)
    few.dtype, few.loss = data.dtype, data.loss
    few.solves = REPEATED if data.layout is not None else 1  # where the kernels are loaded, any size repays them
    return few


def data_matrix(name: str, matrix: Any) -> DataMatrix:
    """Return the data as a map, whatever form it came in; reject NaN, empty data and wrong dimensions."""
    if isinstance(matrix, DataMatrix):
        return matrix
    if array_api_compat.is_torch_array(matrix):
        from frankwolfe.rows.torch_matrix import torch_matrix

        return torch_matrix(name, _nonempty(name, matrix))
    if type(matrix).__module__.startswith("cupyx."):
        from frankwolfe.rows.torch_matrix import cupy_matrix

        return cupy_matrix(name, _nonempty(name, matrix))
    if hasattr(matrix, "matvec") and hasattr(matrix, "rmatvec") and not hasattr(matrix, "toarray"):
        return OperatorMatrix(_nonempty(name, matrix))
    if hasattr(matrix, "tocsr"):
        matrix = _nonempty(name, matrix)
        matrix = _sparse(name, matrix)
        if not all_finite(matrix.data):
            raise ValueError(f"{name} contains NaN or infinity; clean or impute the data first")
        from scipy.sparse import csc_array, csr_array

        # Of the array kind, whose * is entry by entry; nothing is copied.
        return CSCMatrix(csc_array(matrix)) if matrix.format == "csc" else CSRMatrix(csr_array(matrix))
    if hasattr(matrix, "to_numpy"):
        kinds = zip(matrix.columns, matrix.dtypes, strict=True) if hasattr(matrix, "dtypes") else ()  # of a DataFrame
        text = [str(column) for column, kind in kinds if str(kind) in ("object", "str", "string")]
        matrix = matrix.to_numpy()
        if text and matrix.dtype.kind == "O" and any(isinstance(value, str) for value in matrix.ravel()[:10_000]):
            raise ValueError(
                f"{name} must be numeric, and column {text[0]!r} holds text; encode it as numbers (pandas.get_dummies) "
                "or drop it"
            )
    if isinstance(matrix, np.ndarray) or not (hasattr(matrix, "__array_namespace__") or hasattr(matrix, "device")):
        matrix = plain(name, matrix)  # no np.matrix, whose * is a product, and no mask
    matrix = _nonempty(name, matrix)
    if isinstance(matrix, np.ndarray):
        matrix = floating(name, matrix)
    if not all_finite(matrix):
        raise ValueError(f"{name} contains NaN or infinity; clean or impute the data first")
    return _dense(matrix)


def _dense(matrix: Any) -> DataMatrix:
    return DenseMatrix(matrix) if isinstance(matrix, np.ndarray) else ArrayMatrix(matrix)


def _nonempty(name: str, matrix: Any) -> Any:
    shape = tuple(matrix.shape)
    if len(shape) != 2:
        raise ValueError(
            f"{name} must be two-dimensional (rows are samples), got shape {shape}; the data come first and the "
            "targets second, as in LeastSquares(A, b)"
        )
    if 0 in shape:
        raise ValueError(f"{name} is empty, got shape {shape}; it needs at least one row and one column")
    return matrix


def _sparse(name: str, matrix: Any) -> Any:
    """Return a sparse matrix by rows or by columns; its indices are checked here, as compiled loops do not."""
    matrix = matrix if matrix.format in ("csr", "csc") else matrix.tocsr()
    lines, across = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    indptr, indices = matrix.indptr, matrix.indices
    inside = indptr.size == lines + 1 and indptr[0] == 0 and indptr[-1] <= min(indices.size, matrix.data.size)
    if not inside or (np.diff(indptr) < 0).any() or (indices.size and not 0 <= indices.min() <= indices.max() < across):
        raise ValueError(f"{name} is no valid sparse matrix: its indices lie outside shape {matrix.shape}")
    if not matrix.has_canonical_format:  # entries that are stored twice, or out of order
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return floating(name, matrix)

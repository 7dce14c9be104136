"""Data matrices held in torch tensors: on a GPU, in main memory, narrow number types, sparse rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any

import numpy as np

from frankwolfe.atoms import Atom, Dense, StackedAtoms
from frankwolfe.backends import Array, host
from frankwolfe.backends.device_pattern import quiet
from frankwolfe.backends.torch_rows import DeviceModel, batch_pass, fits, over_blocks, row_pass, widened
from frankwolfe.points import Leaf
from frankwolfe.rows.data_matrix import PIECE, DataMatrix
from frankwolfe.rows.reading import ArrayBlocks, Path, Query, Sweep, TwoReads, array_of


class TorchPass(Path):
    """Dense rows of torch: everything by one kernel where Triton has it, in torch elsewhere."""

    name = "one pass of torch or Triton"

    def takes(self, rows: Any, model: Any, query: Query) -> bool:
        if not model.separable or len(query.pending) != 1 or len(query.known) > 1:
            return False
        coords = query.pending[0].coords
        dense = not isinstance(coords, Atom) or isinstance(coords, Dense | StackedAtoms)
        return dense and (bool(query.size) or rows.one_pass)

    def read(self, rows: Any, model: Any, query: Query) -> Sweep:
        (fresh,), known, take = query.pending, query.known, batch_pass if query.size else row_pass
        coords = array_of(fresh.coords)
        (y_known, x_known), (y_new, x_new) = query.weights(known[0]) if known else (0.0, 0.0), query.weights(fresh)
        coef = _coefficients([x_known, x_new, y_known, y_new], coords, rows.dtype)
        share = model.share if model.weighted else model.share[0]
        whole, base = DeviceModel(None, model.b, share, model.row_loss), known[0].value if known else None
        total = over_blocks(rows.stored_blocks(), whole, base, lambda part, base: take(part, coords, base, coef))
        fresh.resolve(total.product)
        query.watch.terms = ((1.0, Leaf(None, total.watched)),)
        passes = 2.0 if query.size else 1.0
        return Sweep(total.value, total.inner, total.other, total.gradient, passes, self.name)


class TorchRows(DataMatrix):
    """Rows in torch tensors: float64 data are computed with in float64, everything else in float32."""

    def __init__(self, matrix: Any, device: Any = None, dtype: Any = None) -> None:
        import torch

        super().__init__(matrix)
        self.device = matrix.device if device is None else torch.device(device)
        self.dtype = dtype or (torch.float64 if matrix.dtype == torch.float64 else torch.float32)

    def array(self, values: Any) -> Array:
        import torch

        tensor = torch.as_tensor(values)
        if self.device.type == "cuda":  # converted there: a host takes longer for it than the way does
            tensor = tensor.to(self.device)
        return tensor.to(self.device, self.dtype)


class DenseTorchRows(TorchRows):
    """Dense rows of any number type, read as they are stored and widened where they are worked on."""

    shared = True
    paths = (TorchPass(), ArrayBlocks(), TwoReads())
    one_pass: Any = True  # whether `TorchPass` takes single points

    @abstractmethod
    def stored_blocks(self) -> Iterable[tuple[slice, Any]]:
        """Return blocks of rows on the device, as they are stored."""

    def row_blocks(self, size: int = 0) -> Iterable[tuple[slice, Any]]:
        return ((rows, block.to(self.dtype)) for rows, block in self.stored_blocks())

    def _column_squares(self, weights: Array | None) -> np.ndarray | None:
        if weights is not None:
            return super()._column_squares(weights)
        import torch

        norms = torch.stack([torch.linalg.vector_norm(block, dim=0) for _, block in self.row_blocks()])
        return np.sum(host(norms).astype(np.float64) ** 2, axis=0)

    def column(self, j: int) -> Array:
        return self.array(self.matrix[:, j])

    def columns(self, indices: Array) -> Array:
        return self.array(self.matrix[:, indices.to(self.matrix.device)])


class TorchMatrix(DenseTorchRows):
    """A dense torch tensor on the device that works.

    A narrow type (bfloat16, float16, uint8, int8) is widened in registers. In double precision the same data certify:
    see `doubled`.
    """

    def row_blocks(self, size: int = 0) -> Iterable[tuple[slice, Any]]:
        return widened(self.matrix, self.dtype)

    def rows_at(self, places: Array) -> Array:
        return self.array(self.matrix[places])

    def doubled(self) -> TorchMatrix:
        """Return the same numbers, computed with in double precision."""
        import torch

        return TorchMatrix(self.matrix, dtype=torch.float64)

    @property
    def one_pass(self) -> bool:
        """Whether a kernel takes the matrix."""
        return fits(self.matrix)

    def stored_blocks(self) -> Iterable[tuple[slice, Any]]:
        return [(slice(None), self.matrix)]


def torch_matrix(name: str, matrix: Any) -> DataMatrix:
    """Return a torch tensor as a map; reject NaN."""
    import torch

    if matrix.layout != torch.strided:
        with quiet():
            return TorchCSR(_checked(name, matrix.to_sparse_csr()))
    return TorchMatrix(_checked(name, matrix.detach()))


def _checked(name: str, matrix: Any) -> Any:
    import torch

    numbers = matrix if matrix.layout == torch.strided else matrix.values()
    if numbers.is_complex():
        raise ValueError(f"{name} must be real, got dtype {matrix.dtype}")
    if numbers.is_floating_point() and numbers.numel():
        ends = torch.stack(torch.aminmax(numbers))  # one read of the data, and no copy
        if not bool(torch.isfinite(ends).all()):
            raise ValueError(f"{name} contains NaN or infinity; clean or impute the data first")
    return matrix


def _coefficients(weights: list[Any], like: Any, dtype: Any) -> Any:
    """Return weights on the device of `like`, as a row for each point where that holds many; nothing waits for it."""
    import torch

    if not any(isinstance(w, torch.Tensor) for w in weights):
        row = torch.tensor(weights, dtype=dtype).to(like.device, non_blocking=True)
        return row if like.ndim == 1 else row.expand(like.shape[0], len(weights)).contiguous()
    columns = [
        w if isinstance(w, torch.Tensor) else torch.full((), w, dtype=dtype, device=like.device) for w in weights
    ]
    shape = like.shape[:-1]
    return torch.stack([w.to(dtype).reshape(-1 if w.ndim else ()).expand(shape) for w in columns], dim=-1)


class KeptTwice(DataMatrix):
    """A sparse matrix on a device, stored by rows, and again by columns for the adjoint; products by cuSPARSE."""

    picks_rows = False
    transposed: Any

    def turned_blocks(self) -> Iterable[tuple[slice, Any]]:
        return [(slice(None), self.transposed)]

    def gram(self, weights: Array) -> np.ndarray:
        n, d = self.shape
        step, out = max(1, PIECE // n), []
        for j in range(0, d, step):  # columns are made dense a few at a time
            columns = self.product(self.array(np.eye(d, min(step, d - j), -j)))
            out.append(host(self.adjoint(weights[:, None] * columns)))
        return np.concatenate(out, axis=1).astype(np.float64)

    def _column_squares(self, weights: Array | None) -> np.ndarray:
        weights = self.array(np.ones(self.shape[0])) if weights is None else weights
        return np.asarray(host(self._squared_columns() @ weights), dtype=np.float64)

    @abstractmethod
    def _squared_columns(self) -> Any:
        """Return the transpose with its entries squared."""


class TorchCSR(KeptTwice, TorchRows):
    """A sparse torch tensor."""

    def __init__(self, matrix: Any, dtype: Any = None, by_columns: Any = None) -> None:
        super().__init__(matrix, dtype=dtype)
        with quiet():
            self.transposed = matrix.t().to_sparse_csr() if by_columns is None else by_columns
        if matrix.dtype != self.dtype:
            self.matrix, self.transposed = matrix.to(self.dtype), self.transposed.to(self.dtype)

    def column(self, j: int) -> Array:
        import torch

        places = self.transposed.crow_indices()
        entries = slice(int(places[j]), int(places[j + 1]))
        out = torch.zeros(self.shape[0], dtype=self.dtype, device=self.matrix.device)
        return out.index_add_(0, self.transposed.col_indices()[entries], self.transposed.values()[entries])

    def columns(self, indices: Array) -> Array:
        import torch

        return torch.stack([self.column(int(j)) for j in indices], dim=1)

    def _squared_columns(self) -> Any:
        import torch

        columns = self.transposed
        with quiet():
            return torch.sparse_csr_tensor(
                columns.crow_indices(), columns.col_indices(), columns.values() ** 2, tuple(columns.shape)
            )

    def arrays(self) -> list[Array]:
        return [self.matrix.crow_indices(), self.matrix.col_indices(), self.matrix.values()]

    def doubled(self) -> TorchCSR:
        """Return the same numbers, computed with in double precision."""
        import torch

        return TorchCSR(self.matrix, torch.float64, self.transposed)


class CupyCSR(KeptTwice):
    """A sparse CuPy matrix."""

    def __init__(self, matrix: Any, by_columns: Any = None) -> None:
        super().__init__(matrix)
        self.transposed = matrix.T.tocsr() if by_columns is None else by_columns

    def array(self, values: Any) -> Array:
        import cupy

        return cupy.asarray(values, dtype=self.dtype)

    def column(self, j: int) -> Array:
        return self.columns([j])[:, 0]

    def columns(self, indices: Any) -> Array:
        return self.transposed[indices].toarray().T

    def _squared_columns(self) -> Any:
        return self.transposed.power(2)

    def arrays(self) -> list[Array]:
        return [self.matrix.indptr, self.matrix.indices, self.matrix.data]

    def doubled(self) -> CupyCSR:
        """Return the same numbers, computed with in double precision."""
        return CupyCSR(self.matrix.astype("float64"), self.transposed.astype("float64"))


def cupy_matrix(name: str, matrix: Any) -> DataMatrix:
    """Return a sparse CuPy matrix as a map; reject NaN."""
    import cupy

    matrix = matrix.tocsr()
    if matrix.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be real, got dtype {matrix.dtype}")
    if matrix.dtype not in (cupy.float32, cupy.float64):
        matrix = matrix.astype(cupy.float64)
    if not bool(cupy.isfinite(matrix.data).all()):
        raise ValueError(f"{name} contains NaN or infinity; clean or impute the data first")
    return CupyCSR(matrix)

"""From Dask collections, as lists of delayed row blocks, to rows on a cluster."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from frankwolfe.distributed import shards
from frankwolfe.distributed.cluster import ClusterParts, current_client, log
from frankwolfe.distributed.shards import Block, Recipe
from frankwolfe.rows.rows_in_parts import RowsInParts
from frankwolfe.rows.user_data import agreed_options


def row_blocks(name: str, matrix: Any) -> list[Any]:
    """Return the row blocks of a two-dimensional collection, each with all the columns, as delayed values."""
    import dask.array as da
    from dask.delayed import Delayed, delayed

    if isinstance(matrix, list | tuple):
        if not all(isinstance(block, Delayed) or _is_future(block) for block in matrix):
            raise TypeError(f"{name} must be a list of delayed blocks of rows, and one of its entries is not delayed")
        return [delayed(block) for block in matrix]
    if isinstance(matrix, da.Array):
        if matrix.ndim != 2:
            raise ValueError(f"{name} must be two-dimensional (rows are samples), got shape {matrix.shape}")
        if matrix.numblocks[1] > 1:
            matrix = matrix.rechunk({1: -1})  # pyright: ignore[reportArgumentType]
        return list(matrix.to_delayed().ravel())  # pyright: ignore[reportAttributeAccessIssue]
    return list(matrix.to_delayed())


def vector_blocks(name: str, values: Any, sizes: list[int]) -> list[Any]:
    """Return a vector cut like the rows: delayed pieces of a collection, or slices of an array."""
    import dask.array as da
    from dask.base import is_dask_collection

    if isinstance(values, da.Array):
        flat: Any = values
        values = flat.reshape(-1) if values.ndim == 2 and 1 in values.shape else values
        if values.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, got shape {values.shape}")
        known = not any(np.isnan(values.chunks[0]))
        if known and sum(values.chunks[0]) != sum(sizes):
            raise ValueError(f"{name} must have one entry per row of A, {sum(sizes)}, got {sum(values.chunks[0])}")
        if known and list(values.chunks[0]) != sizes:
            values = values.rechunk((tuple(sizes),))
        blocks = list(values.to_delayed().ravel())
    elif is_dask_collection(values):
        blocks = list(values.to_delayed())
    elif isinstance(values, list | tuple) and is_lazy(values):
        blocks = row_blocks(name, values)
    else:
        values = np.asarray(values)
        values = values.reshape(-1) if values.ndim == 2 and 1 in values.shape else values
        if values.shape != (sum(sizes),):
            raise ValueError(f"{name} must have one entry per row of A, {sum(sizes)}, got shape {values.shape}")
        return np.split(values, np.cumsum(sizes)[:-1])
    if len(blocks) != len(sizes):
        raise ValueError(
            f"{name} must be partitioned like A, in {len(sizes)} blocks, got {len(blocks)}; repartition it"
        )
    return blocks


def is_lazy(values: Any) -> bool:
    """Tell whether something is a Dask collection, or a list of delayed blocks."""
    from dask.base import is_dask_collection

    if isinstance(values, list | tuple):
        return len(values) > 0 and all(is_dask_collection(v) or _is_future(v) for v in values)
    return is_dask_collection(values)


def _is_future(value: Any) -> bool:
    package = sys.modules.get("distributed")  # not loaded: then there is no client that could have made one
    return package is not None and isinstance(value, package.Future)


def distribute(kind: Any, A: Any, b: Any, weights: Any, options: dict[str, Any]) -> RowsInParts:
    """Return rows on a cluster, with models of a kind: see `rows_in_parts`."""
    client = current_client()
    blocks = row_blocks("A", A)
    groups = [list(g) for g in np.array_split(np.arange(len(blocks)), min(len(client.nthreads()) or 1, len(blocks)))]

    def place(function: Any, pieces: list[Any]) -> list[Any]:
        """Compute function(pieces) for every group, one task each, so that a group is loaded where it stays."""
        return [placed(client, function, [pieces[i] for i in group]) for group in groups]

    loaded = place(partial(shards.load, "A"), blocks)
    found = _gathered(client, client.map(shards.describe, loaded, pure=False))
    sizes = [block.rows for block in found]
    columns, dtype = _agreed(found)
    targets = place(shards.vectors, vector_blocks("b", b, sizes))
    given: list[Any] = [None] * len(groups)
    if weights is not None:
        given = place(shards.vectors, vector_blocks(kind.weights_name, weights, sizes))
    rows = list(zip(targets, given, strict=True))
    surveys = _gathered(client, [client.submit(shards.survey, kind, t, w, pure=False) for t, w in rows])
    options = agreed_options(kind, options, [seen for seen, size in zip(surveys, sizes, strict=True) if size])
    whole = sum(_gathered(client, [client.submit(shards.weight_sums, kind, t, w, pure=False) for t, w in rows]))
    if not whole > 0:
        raise ValueError(f"{kind.weights_name} must have a positive sum, and all are zero")
    firsts = [int(i) for i in np.cumsum([0, *sizes])]
    held = [
        client.submit(shards.build, kind, data, t, w, whole, [firsts[i] for i in group], options, pure=False)
        for group, data, (t, w) in zip(groups, loaded, rows, strict=True)
    ]
    log.info("%d rows x %d columns in %d blocks on %d workers", sum(sizes), columns, len(blocks), len(groups))
    parts = ClusterParts(client, held, [*(firsts[group[0]] for group in groups), sum(sizes)])
    return RowsInParts(parts, (sum(sizes), columns), dtype, options, dense=all(block.dense for block in found))


def _gathered(client: Any, lists: list[Any]) -> list[Any]:
    """Return the entries of lists that are on the workers, one after the other."""
    return [entry for entries in client.gather(lists) for entry in entries]


def placed(client: Any, function: Any, pieces: list[Any]) -> Any:
    """Return a future of function(pieces).

    No worker is named for it: a task bound to a worker, however loosely, is never run again if that one is lost at a
    moment when there is no other.
    """
    from dask.delayed import delayed
    from distributed.client import futures_of

    if futures_of(pieces):  # they are on the workers already: let Dask bring them together
        return client.compute(delayed(function)(pieces), retries=2)
    return client.submit(shards.made, function, Recipe(pieces), retries=2, pure=False)


def _agreed(blocks: list[Block]) -> tuple[int, np.dtype]:
    """Return the columns and the type of numbers that all blocks share."""
    full = [block for block in blocks if block.rows]
    if not full:
        raise ValueError("A is empty; it needs at least one row")
    columns = {block.columns for block in full}
    if len(columns) > 1:
        raise ValueError(f"the blocks of A must have the same number of columns, got {sorted(columns)}")
    return columns.pop(), np.result_type(*{np.dtype(block.dtype) for block in full})

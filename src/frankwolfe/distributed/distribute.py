"""From Dask collections to rows on a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.distributed import shards
from frankwolfe.distributed.cluster import ClusterParts, current_client, log
from frankwolfe.distributed.collections import row_blocks, vector_blocks
from frankwolfe.distributed.shards import Block, Recipe
from frankwolfe.rows.rows_in_parts import RowsInParts
from frankwolfe.rows.user_data import agreed_options


def distribute(kind: Any, A: Any, b: Any, weights: Any, options: dict[str, Any]) -> RowsInParts:
    """Return rows on a cluster, with models of a kind: see `rows_in_parts`."""
    client = current_client()
    blocks = row_blocks("A", A)
    groups = [list(g) for g in np.array_split(np.arange(len(blocks)), min(len(client.nthreads()) or 1, len(blocks)))]

    def place(function: Any, pieces: list[Any]) -> list[Any]:
        """Compute function(pieces) for every group, one task each, so that a group is loaded where it stays."""
        return [placed(client, function, [pieces[i] for i in group]) for group in groups]

    loaded = place(_load, blocks)
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


def _load(blocks: list[Any]) -> Any:
    return shards.load("A", blocks)


def _agreed(blocks: list[Block]) -> tuple[int, np.dtype]:
    """Return the columns and the type of numbers that all blocks share."""
    full = [block for block in blocks if block.rows]
    if not full:
        raise ValueError("A is empty; it needs at least one row")
    columns = {block.columns for block in full}
    if len(columns) > 1:
        raise ValueError(f"the blocks of A must have the same number of columns, got {sorted(columns)}")
    return columns.pop(), np.result_type(*{np.dtype(block.dtype) for block in full})

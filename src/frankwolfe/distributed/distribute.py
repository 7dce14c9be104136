"""From Dask collections to an objective."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.distributed import shards
from frankwolfe.distributed.cluster import ClusterParts, current_client, log
from frankwolfe.distributed.collections import row_blocks, vector_blocks
from frankwolfe.distributed.shards import Block, Recipe
from frankwolfe.objectives.in_parts.free_class_intercepts import assembled
from frankwolfe.objectives.in_parts.partitioned import Partitioned


def distribute(cls: Any, A: Any, b: Any, *, ridge: float = 0.0, intercept: bool = False, **options: Any) -> Partitioned:
    """Return a linear model over rows on a cluster.

    Parameters
    ----------
    cls : type
        The model, such as Logistic; or what decides on one when it has seen all targets, with the same methods.
    A : dask array, dask dataframe, or list of delayed blocks
        Rows; blocks dense or SciPy-sparse.
    b, and sample weights among the options : like A in blocks of the same rows, or an array
        Targets.
    ridge : float
        Weight of an optional squared-norm term.
    intercept : bool
        Add a free intercept.

    Examples
    --------
    >>> import dask.array as da, frankwolfe as fw
    >>> A = da.random.default_rng(0).standard_normal((100, 3), chunks=(25, 3))
    >>> f = distribute(fw.LeastSquares, A, A[:, 0])
    >>> fw.minimize(f, fw.L2Ball(2.0), method="afw", tol=1e-3).x.round(1) + 0.0
    array([1., 0., 0.])
    """
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
    given = options.pop(cls.weights_name, None)
    weights = None if given is None else place(shards.vectors, vector_blocks(cls.weights_name, given, sizes))
    per_group = [None] * len(groups) if weights is None else weights
    rows = list(zip(targets, per_group, strict=True))
    surveys = _gathered(client, [client.submit(shards.survey, cls, t, w, pure=False) for t, w in rows])
    options |= cls.agree([seen for seen, size in zip(surveys, sizes, strict=True) if size])
    per_group = [client.submit(shards.weigh, cls, t, w, pure=False) for t, w in rows]
    sums = _gathered(client, client.map(shards.weight_sums, per_group, pure=False))
    weight = [float(size) if w is None else w for size, w in zip(sizes, sums, strict=True)]
    if not sum(weight) > 0:
        raise ValueError(f"{cls.weights_name} must have a positive sum, and all are zero")
    shares = [w / sum(weight) for w in weight]
    firsts = np.cumsum([0, *sizes])
    held = [
        client.submit(
            shards.build,
            *(cls, data, t, w),
            [shares[i] for i in group],
            [int(firsts[i]) for i in group],
            options,
            pure=False,
        )
        for group, data, t, w in zip(groups, loaded, targets, per_group, strict=True)
    ]
    models = client.gather(client.map(shards.template, held, pure=False))
    log.info("%d rows x %d columns in %d blocks on %d workers", sum(sizes), columns, len(blocks), len(groups))
    parts = ClusterParts(client, held, sum(sizes), columns, dtype, [int(firsts[group[0]]) for group in groups])
    parts.dense = all(block.dense for block in found)
    return assembled(parts, next(model for model in models if model is not None), ridge, intercept)


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

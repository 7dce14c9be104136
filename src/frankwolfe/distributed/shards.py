"""What runs on a worker: loading a shard (the parts of one worker), and one task over its parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import repeat
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.kernels.threads import limited
from frankwolfe.objectives.derive import TARGETS, derive
from frankwolfe.objectives.matrix_completion import MatrixCompletion
from frankwolfe.rows.parts import Part, PartTask, tree_sum
from frankwolfe.rows.rows import Sums
from frankwolfe.rows.user_data import DataMatrix, data_matrix
from frankwolfe.validation import optional


class Shard:
    """The parts of one worker."""

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts

    @property
    def rows(self) -> int:
        return sum(len(_numbers(part.objective)[0]) for part in self.parts)

    def __sizeof__(self) -> int:
        # What Dask plans by: a shard is never worth moving where its result can be.
        return sum(a.nbytes for part in self.parts for a in _numbers(part.objective))


def _numbers(objective: Any) -> list[np.ndarray]:
    """Return the arrays of a part, the first of them with an entry for each row."""
    if isinstance(objective, MatrixCompletion):
        return [objective.values, objective.pattern.rows, objective.pattern.cols]
    return [objective.b, *objective.data.arrays()]


class Block(NamedTuple):
    """What the client needs to know of a block of rows."""

    rows: int
    columns: int
    dtype: str
    dense: bool


class Recipe:
    """Delayed values (or plain ones) that travel as they are, to be computed by the task that gets them."""

    def __init__(self, pieces: list[Any]) -> None:
        self.pieces = pieces


def made(function: Any, recipe: Recipe) -> Any:
    """Return function(pieces), the pieces computed here."""
    from dask.base import compute
    from dask.threaded import get

    return function(list(compute(*recipe.pieces, scheduler=get)))  # by its name, older Dask would warn of the cluster


class Report(NamedTuple):
    """What a task cost, and where."""

    worker: str
    rows: int
    nbytes: int
    seconds: float


class Answer(NamedTuple):
    """Sums over some shards, and what they cost."""

    sums: Sums
    reports: list[Report]


def load(name: str, blocks: list[Any]) -> list[DataMatrix | None]:
    """Check blocks of rows; an empty one (dataframes have them) is None."""
    loaded = [None if block.shape[0] == 0 else data_matrix(name, block) for block in blocks]
    if any(block is not None and not block.stored for block in loaded):
        raise TypeError(f"the blocks of {name} must be arrays or sparse matrices, not operators")
    return loaded


def describe(loaded: list[DataMatrix | None]) -> list[Block]:
    return [
        Block(0, 0, "", True) if data is None else Block(*data.shape, np.dtype(data.dtype).str, data.shared)
        for data in loaded
    ]


def vectors(blocks: list[Any]) -> list[np.ndarray]:
    """Return pieces of a vector as arrays."""
    arrays = (np.asarray(block) for block in blocks)
    return [a.reshape(-1) if a.ndim == 2 and 1 in a.shape else a for a in arrays]


Weights = list[np.ndarray] | None  # of the rows of each block, where there are any


def survey(kind: Any, targets: list[np.ndarray], weights: Weights) -> list[Any]:
    """Return what each block tells of its targets."""
    return [kind.survey(b, w) for b, w in zip(targets, weights or repeat(None), strict=False)]


def weigh(kind: Any, targets: list[np.ndarray], weights: Weights) -> list[np.ndarray | None]:
    """Return the weights of the rows of each block, as the models take them."""
    return [kind.weigh(b, w) for b, w in zip(targets, weights or repeat(None), strict=False)]


def weight_sums(kind: Any, targets: list[np.ndarray], weights: Weights) -> list[float]:
    """Return the weight of each block."""
    return [_weight(b, w) for b, w in zip(targets, weigh(kind, targets, weights), strict=True)]


def _weight(targets: np.ndarray, weights: np.ndarray | None) -> float:
    if weights is None:
        return float(targets.size)
    if weights.size and not (np.isfinite(weights).all() and weights.min() >= 0):
        raise ValueError("sample weights must be nonnegative and finite, and some are not")
    return float(weights.sum(dtype=np.float64))


def build(
    kind: Any,
    loaded: list[DataMatrix | None],
    targets: list[np.ndarray],
    weights: Weights,
    whole: float,
    firsts: list[int],
    options: dict[str, Any],
) -> Shard:
    """Make the parts of a shard; blocks without rows fall away."""
    blocks = zip(loaded, targets, weigh(kind, targets, weights), firsts, strict=True)
    parts = [
        Part(kind.part(data.matrix, b, w, whole, options), first, w) for data, b, w, first in blocks if data is not None
    ]
    return Shard(parts)


def reweighted(shard: Shard, weights: np.ndarray, first: int, whole: float) -> Shard:
    """Return a shard with other weights of its rows, the first of which is given."""
    own = [weights[p.first - first :][: len(_numbers(p.objective)[0])] for p in shard.parts]
    pairs = zip(shard.parts, own, strict=True)
    return Shard([replace(p, objective=p.objective.reweighted(w / whole), weights=w) for p, w in pairs])


def changed(shard: Shard, change: Callable[[Any], Any]) -> Shard:
    """Return a shard with a function applied to its rows."""
    return Shard([replace(p, objective=_changed(p.objective, change)) for p in shard.parts])


def _changed(objective: Any, change: Callable[[Any], Any]) -> Any:
    data = data_matrix("A", change(objective.data.matrix))
    data.loss = objective.data.loss
    return derive(objective, TARGETS, data=data)


def run(task: PartTask, shard: Shard, kept: list[Sums] | None, args: tuple[Any, ...], keep: bool) -> Any:
    """Do a task to every part of a shard; return the sum, or with `keep` the list."""
    began = perf_counter()
    extra = [()] * len(shard.parts) if kept is None else [(own,) for own in kept]
    address, threads = _worker()
    with limited(threads):  # a task is alone on its worker: the threads are its own
        results = [task(part, *own, *args) for part, own in zip(shard.parts, extra, strict=True)]
    if keep:
        return results
    report = Report(address, shard.rows, shard.__sizeof__(), perf_counter() - began)
    return Answer(tree_sum(results) if results else (), [report])


def combine(answers: list[Answer]) -> Answer:
    """Add up the answers of some shards."""
    sums = [answer.sums for answer in answers if answer.sums]
    return Answer(tree_sum(sums) if sums else (), [r for answer in answers for r in answer.reports])


def _worker() -> tuple[str, int | None]:
    """Return the address of the worker that this runs on, and its threads."""
    try:
        worker = optional("distributed", extra="dask").get_worker()
    except ValueError:  # not on a worker
        return "here", None
    return worker.address, worker.state.nthreads

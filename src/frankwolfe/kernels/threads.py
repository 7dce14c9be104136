"""Threads that share a pass over the data: passive while they wait, and never felt in the result.

Work is cut into parts whose number follows from the data alone. Each part writes to a place of its own and the places
are added up in order, so a result is the same to the last bit whatever the number of threads and however they take
turns.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from itertools import pairwise
from time import perf_counter
from typing import Any

PART = 1 << 16  # entries of a part: about a tenth of a millisecond, well above what handing it over costs
MOST_PARTS = 16
CALM_FROM = 9000  # entries of a matrix from which on BLAS multiplies it with more than one thread
LONGEST_REST = 63  # passes without helpers, at most, before they are tried again
_limit: ContextVar[list[int] | None] = ContextVar("frankwolfe_threads", default=None)
_calm: ContextVar[bool] = ContextVar("frankwolfe_calm", default=False)  # whether BLAS has one thread already


@contextmanager
def limited(n_threads: int | None) -> Iterator[None]:
    """Use at most so many threads inside; None: as many as around it, or `allowed` when the first pass inside asks."""
    around = _limit.get()
    token = _limit.set([n_threads] if n_threads is not None else [] if around is None else around)
    try:
        yield
    finally:
        _limit.reset(token)


def count() -> int:
    """Return how many threads a pass may use."""
    limit = _limit.get()
    if limit is None:
        return allowed()
    if not limit:
        limit.append(allowed())
    return limit[0]


def allowed() -> int:
    """Return the number of cores that are ours, or fewer if the environment or threadpoolctl asks for fewer."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = [os.environ.get(name, "").split(",")[0] for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")]
    limits = [int(a) for a in asked if a.isdigit()]
    if "threadpoolctl" in sys.modules and own > 1:  # nobody has set a limit with what is not loaded
        limits += [pool["num_threads"] for pool in libraries().info()]
    return max(1, min([own, *limits]))


@contextmanager
def calm(work: int = CALM_FROM) -> Iterator[None]:
    """Keep BLAS to one thread inside, where there is work for more: its threads wait for each other by spinning.

    On a busy machine that turns a millisecond into a hundred; on an idle one a few hundred rows gain next to nothing.
    """
    if work < CALM_FROM or _calm.get():
        yield
        return
    token = _calm.set(True)
    try:
        with _held(1, user_api="blas"):
            yield
    finally:
        _calm.reset(token)


@contextmanager
def thread_limit(limit: int | None) -> Iterator[None]:
    """Hold our threads and those of linear-algebra libraries to a number, where one is given."""
    if limit is None:
        with limited(None):
            yield
        return
    token = _calm.set(limit == 1)
    try:
        with limited(limit), _held(limit):
            yield
    finally:
        _calm.reset(token)


def _held(limit: int, **of: str) -> AbstractContextManager[object]:
    """Hold linear-algebra libraries to so many threads; where they have as many, as within `calm`, nothing is done."""
    found = libraries()
    if all(library.num_threads == limit for library in found.lib_controllers):
        return nullcontext()
    return found.limit(limits=limit, **of)


def libraries() -> Any:
    """Return threadpoolctl's view of the libraries loaded: a search of milliseconds, so anew only with new modules."""
    return _libraries(len(sys.modules))


@lru_cache(maxsize=1)
def _libraries(modules: int) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def parts_of(entries: int, length: int = 0) -> int:
    """Return into how many parts so many entries are cut, when each part adds up a vector of this length."""
    return min(max(1, min(entries // PART, entries // (8 * length) if length else entries)), MOST_PARTS)


def parts_for(entries: int) -> int:
    """Return the same for parts that add up nothing, or one for one thread: the answer is the same bits."""
    return parts_of(entries) if count() > 1 else 1


class Patience:
    """How long to do without helpers after a pass that lost time with them: 1, 3, 7, ... passes.

    On a busy machine a thread may be put aside in the middle of a part, for longer than the whole pass takes; and
    calling helpers puts aside whoever calls.
    """

    def __init__(self) -> None:
        self.alone, self.last = 0, 0

    def take(self, helpers: int) -> int:
        """Return how many helpers to call now."""
        if helpers:
            self.alone = max(0, self.alone - 1)
        return 0 if self.alone else helpers

    def learn(self, parts: list[float], waited: float) -> None:
        """Take in the seconds that each part of our own took, and those that we then waited for helpers."""
        usual = min(parts, default=0.0)
        lost = max(parts, default=0.0) + waited - 3 * usual
        late = lost > 0.3 * (sum(parts) + waited) and lost > 1e-4
        self.last = min(2 * self.last + 1, LONGEST_REST) if late else 0
        self.alone = self.last + 1 if late else 0


_patience = Patience()


def share_out(task: Callable[[int], object], parts: int) -> None:
    """Call task(0), ..., task(parts - 1), on this thread and on idle ones; return when all are done."""
    helpers = _patience.take(min(count(), parts) - 1) if parts > 1 else 0
    if not helpers:
        for part in range(parts):
            task(part)
        return
    todo = iter(range(parts))  # taking the next number is atomic

    def work() -> list[float]:
        ends = [perf_counter()]
        for part in todo:
            task(part)
            ends.append(perf_counter())
        return [after - before for before, after in pairwise(ends)]

    waiting = [_pool().submit(work) for _ in range(helpers)]
    own, began = work(), perf_counter()
    for helper in waiting:
        if not helper.cancel():  # on a busy machine it may not have begun: nothing is left for it to do
            helper.result()
    _patience.learn(own, perf_counter() - began)


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=max(1, (os.cpu_count() or 1) - 1), thread_name_prefix="frankwolfe")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork

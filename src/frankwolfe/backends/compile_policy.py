"""Compiled kernels or plain array operations: the one place that decides. Knows nothing of the compiler.

Compiling takes seconds, once on each machine; a plain pass over the data takes up to a few times as long as a compiled
one. How much will be read in all nobody knows, so it is as with skis, which one rents until the rents add up to the
price: the data are read plainly until the entries read so add up to `WORTH`, whose plain reading has cost about what
compiling costs. From then on, and in later processes, the kernels are used. Whatever comes, that takes about twice the
time of the better choice at most. Entries are counted, no clock is looked at: the same calls take the same path.

A family of kernels (rows of one storage, with one loss) is counted on its own. A run decides once for each family and
keeps to that, also when it goes on from a checkpoint. Kernels that take over a part of the work may also be taken up
within a run (`repays`), when what was done without them is enough. The environment variable `FRANKWOLFE_COMPILE`
overrules the count: `always` compiles at first use, as `frankwolfe compile` does, `never` stays with plain operations.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from time import monotonic
from typing import NamedTuple

SETTING = "FRANKWOLFE_COMPILE"
CHOICES = ("auto", "always", "never")
PACKAGE = Path(__file__).parent.parent
SOURCES = (PACKAGE / "kernels", PACKAGE / "losses")  # folders of which functions are compiled
WORTH = 1 << 32  # entries: for these plain operations take five to ten seconds longer, which is what compiling takes
REPAID = 1 << 29  # plain operations that take about as long as compiling a kernel does, a second
LOADED = 1 << 27  # and as long as loading it, and the compiler, from a file
READS = 16  # of all entries, that a solve takes at least
LONG = 1 << 16  # bytes of the file of counts from which it is written anew, a line for each family
COMPILED = "compiled"  # stands in that file in the place of a count


class Choices(NamedTuple):
    """What a run has decided, and how often it will read all entries.

    Decided is 1 for compiled and 0 for plain; for a family that `repays`, the operations until it is taken up.
    """

    made: dict[str, int]
    reads: int


_run: ContextVar[Choices | None] = ContextVar("frankwolfe_compile_choices", default=None)
_unsaved: Counter[str] = Counter()
_without: Counter[str] = Counter()  # operations that this process did without kernels that are compiled
_used: set[str] = set()


@contextlib.contextmanager
def choices_of_run(made: dict[str, int] | None = None, reads: int = READS) -> Iterator[dict[str, int]]:
    """Keep to one choice for each family inside; those made before are given, all are in what it yields.

    A run within a run keeps to the choices around it.
    """
    around = _run.get()
    if around is not None:
        yield around.made
        return
    choices = Choices({} if made is None else made, reads)
    token = _run.set(choices)
    try:
        yield choices.made
    finally:
        _run.reset(token)
        if _unsaved.total() > WORTH >> 6:
            save()


def pays(family: str, entries: int, solves: int = 1, loads: bool = True) -> bool:
    """Tell whether a family of kernels is to be used for data of so many entries and so many solves.

    Small data, which do not load anything, use what is loaded already.
    """
    run = _run.get()
    if run is None:
        return _pays(family, entries * solves * READS, loads)
    choice = family if loads else f"small {family}"
    if choice not in run.made:
        run.made[choice] = int(_pays(family, entries * solves * run.reads, loads))
    return bool(run.made[choice])


def _pays(family: str, coming: int, loads: bool) -> bool:
    chosen = setting()
    if chosen == "never" or family in _used:
        return chosen != "never"
    if chosen != "always" and not loads:
        return False
    counts, compiled = counted()
    found = chosen == "always" or family in compiled or counts[family] + coming >= WORTH
    if found:
        use(family)
    return found


def repays(family: str, operations: float) -> bool:
    """Tell whether a kernel is to do the next part of the work, which takes so many operations without it.

    Yes, as soon as what was done without it has taken as long as compiling it, or loading what is compiled. Yes then
    holds for the rest of the run; on the way there what the run has done itself is kept with its choices.
    """
    run, chosen = _run.get(), setting()
    if chosen != "auto":
        return chosen == "always"
    made = {} if run is None else run.made
    if family not in made:
        counts, compiled = counted()
        left = LOADED - _without[family] if family in compiled else REPAID - counts[family]
        made[family] = 0 if family in _used else max(left, 0)
    made[family] = max(made[family] - int(operations), 0)
    if made[family]:
        _without[family] += int(operations)
        read_plainly(family, operations)
    else:
        use(family)
    return not made[family]


def setting() -> str:
    """Return what the environment says of compiling."""
    chosen = os.environ.get(SETTING, "auto") or "auto"
    if chosen not in CHOICES:
        raise ValueError(f"{SETTING} must be one of {', '.join(CHOICES)}, got {chosen!r}; unset it for 'auto'")
    return chosen


def use(family: str) -> None:
    """Take a family of kernels for compiled from now on, here and in later processes."""
    if family not in counted()[1]:
        _append(f"{family}\t{COMPILED}\n")
    _used.add(family)


def read_plainly(family: str, entries: float) -> None:
    """Count entries that were read by plain operations, for want of compiled kernels."""
    _unsaved[family] += int(entries)


def counted() -> tuple[Counter[str], set[str]]:
    """Return how many entries of each family were read plainly, here and in earlier processes, and what is compiled."""
    counts, compiled = Counter(_unsaved), set(_used)
    file = counts_file()
    with contextlib.suppress(OSError, ValueError):
        for line in [] if file is None else file.read_text("utf-8").splitlines():
            family, _, number = line.partition("\t")
            if number == COMPILED:
                compiled.add(family)
            elif number.isdecimal() and len(number) < 20:  # a line that was cut short counts for less, or for nothing
                counts[family] += int(number)
    return counts, compiled


def save() -> None:
    """Add what was counted here to the file, best effort: processes may do so at the same time."""
    file, lines = counts_file(), "".join(f"{family}\t{number}\n" for family, number in _unsaved.items() if number)
    if file is None or not lines:
        return
    with contextlib.suppress(OSError):
        if file.exists() and file.stat().st_size > LONG:
            counts, compiled = counted()
            rows = [f"{family}\t{number}\n" for family, number in counts.items()]
            _replace(file, "".join([*rows, *(f"{family}\t{COMPILED}\n" for family in sorted(compiled))]))
        else:
            _append(lines)
    _unsaved.clear()


def _append(lines: str) -> None:
    file = counts_file()
    if file is None:
        return
    with contextlib.suppress(OSError):
        where = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(where, lines.encode())  # at once, so that lines of other processes are not mixed in
        finally:
            os.close(where)


def _replace(file: Path, text: str) -> None:
    import tempfile

    descriptor, fresh = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    with open(descriptor, "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(fresh, file)


@cache
def counts_file() -> Path | None:
    """Return the file of the counts, beside the compiled code where it can be; None where nothing can be kept."""
    from importlib import metadata  # which takes a while to load

    version = f"{sys.implementation.cache_tag}-numba{metadata.version('numba')}-{platform.machine()}"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    given = os.environ.get("NUMBA_CACHE_DIR")
    folders = [Path(given)] if given else [PACKAGE / "kernels" / "__pycache__", Path(home) / "frankwolfe"]
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder / f"counts-{digest(SOURCES)}-{version}.txt"
    return None


def digest(folders: Iterable[Path]) -> str:
    """Return what names the state of all sources that are compiled."""
    sources = hashlib.sha256()
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        sources.update(path.read_bytes())
    return sources.hexdigest()[:12]


atexit.register(save)


class CompileClock:
    """A stopwatch that runs while kernels are compiled; one kernel may have others compiled on the way."""

    def __init__(self) -> None:
        self._total, self._depth, self._began = 0.0, 0, 0.0
        self._listeners: list[Callable[[bool], None]] = []

    @property
    def seconds(self) -> float:
        """Seconds in this process so far."""
        return self._total + (monotonic() - self._began if self._depth else 0.0)

    def start(self) -> None:
        self._depth += 1
        if self._depth == 1:
            self._began = monotonic()
            for listener in self._listeners:
                listener(True)

    def stop(self) -> None:
        self._depth = max(self._depth - 1, 0)
        if self._depth == 0:
            self._total += monotonic() - self._began
            for listener in self._listeners:
                listener(False)

    @contextlib.contextmanager
    def told(self, listener: Callable[[bool], None]) -> Iterator[None]:
        """Tell a listener of each beginning (True) and end (False) for a while."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)


CLOCK = CompileClock()

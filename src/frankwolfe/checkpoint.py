"""Checkpoints: a run on disk, from which it goes on bit for bit."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from frankwolfe.files import read_arrays, write_arrays
from frankwolfe.lowrank import LowRank
from frankwolfe.serialisation import Dual, decode, encode
from frankwolfe.validation import nonnegative

FORMAT = 6


class CheckpointError(ValueError):
    """A checkpoint that cannot be used: damaged, or of another problem."""


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often to save a run.

    Parameters
    ----------
    path : str or Path
        File to write, usually ending in .npz. If it exists, the run in it goes on.
    every : float, default 60
        Seconds between two saves; zero saves after every step. The end of a run is always saved.

    Notes
    -----
    The file is replaced atomically: a kill at any moment leaves the last complete one. It holds arrays and JSON, no
    pickle. A resumed run makes the same iterates bit for bit, on the same machine, versions and threads.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw, tempfile, os
    >>> f, ball = fw.LeastSquares(np.eye(3), np.ones(3)), fw.L1Ball(1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save = fw.Checkpoint(os.path.join(folder, "run.npz"))
    ...     first = fw.minimize(f, ball, method="fw", max_iter=10, tol=0, checkpoint=save)
    ...     again = fw.minimize(f, ball, method="fw", max_iter=20, tol=0, checkpoint=save)  # ten more steps
    >>> again.n_iter, again.n_lmo
    (20, 20)
    """

    path: str | os.PathLike[str]
    every: float = 60.0

    def __post_init__(self) -> None:
        nonnegative("every", self.every)

    def save(self, run: Any, identity: str, choices: dict[str, int] | None = None) -> None:
        """Write a run, atomically, with its choices between compiled kernels and plain operations."""
        tree, found = encode(run)
        for array in found:
            if not isinstance(array, np.ndarray | np.generic):
                raise TypeError(f"a checkpoint cannot hold a {type(array).__module__} array; checkpoints need NumPy's")
        arrays = [np.asarray(array) for array in found]
        seal = _seal([tree, choices], arrays)
        header = {"format": FORMAT, "identity": identity, "run": tree, "choices": choices, "seal": seal}
        Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        write_arrays(self.path, header, {f"a{i}": array for i, array in enumerate(arrays)}, durable=True)

    def choices(self) -> dict[str, int] | None:
        """Return the choices of the run in the file, to which it keeps when it goes on; None if there are none."""
        try:
            found = read_arrays(Path(self.path).read_bytes())[0]["choices"]
            return {str(family): int(choice) for family, choice in found.items()}
        except Exception:  # a file that is missing or damaged: `load` says so
            return None

    def load(self, identity: str, dual: Dual) -> Any:
        """Return the run in the file, or None if there is no file."""
        target = Path(self.path)
        if not target.exists():
            return None
        try:
            header, parts = read_arrays(target.read_bytes())
            arrays = [parts[f"a{i}"] for i in range(len(parts))]
            found, form = header["identity"], header["format"]
            run = None
            if (found, form) == (identity, FORMAT):
                if header["seal"] != _seal([header["run"], header["choices"]], arrays):
                    raise ValueError("its content has been changed")
                run = decode(header["run"], arrays, dual)
        except Exception as error:  # damage shows itself in a dozen ways, and all of them mean the same
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise CheckpointError(
                f"{target} is damaged or not a checkpoint ({reason}); delete it to start afresh"
            ) from None
        if form != FORMAT:
            raise CheckpointError(f"{target} was written by another version of frankwolfe; delete it to start afresh")
        if run is None:
            raise CheckpointError(
                f"{target} belongs to another problem (data, set, method, x0 or random_state differ); delete it or "
                "choose another path"
            )
        return run


def _seal(tree: Any, arrays: list[np.ndarray]) -> str:
    return identity(json.dumps(tree), *arrays)


def identity(*things: Any) -> str:
    """Return a digest of data, set, method and start: equal for the same problem, different for another."""
    digest = hashlib.sha256()
    _feed(digest, things)
    return digest.hexdigest()


def _feed(digest: Any, thing: Any) -> None:
    if isinstance(thing, np.ndarray):
        digest.update(f"{thing.dtype.str}{thing.shape}".encode())
        digest.update(np.ascontiguousarray(thing).reshape(-1).view(np.uint8).data)
    elif isinstance(thing, LowRank):
        _feed(digest, [thing.shape, thing.weights, *thing.left, *thing.right])
    elif isinstance(thing, list | tuple):
        digest.update(f"[{len(thing)}".encode())
        for part in thing:
            _feed(digest, part)
    elif dataclasses.is_dataclass(thing):
        digest.update(type(thing).__name__.encode())
        for entry in dataclasses.fields(thing):
            _feed(digest, getattr(thing, entry.name))
    else:
        digest.update(repr(thing).encode())

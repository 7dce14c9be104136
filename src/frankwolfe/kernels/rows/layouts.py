"""Data laid out for compiled passes: by rows or by columns, cut into parts, as narrow as is exact.

Nothing here loads Numba before the first pass is asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.kernels.threads import MOST_PARTS, calm, parts_for, parts_of, share_out

CACHE = 1 << 19  # bytes of rows that are read twice, the second time from cache
CHUNK = 1024  # most rows whose margins are in cache at a time, and fewest whose sums are added up on their own
LANES = 8  # doubles in a vector of the processor
BLAS = 16  # times as many pairs of entries in a row it multiplies in the same time
NONE = np.zeros(0)


class RowLosses(NamedTuple):
    """The losses of all rows: the loss, targets, and the weight of each row (of CHUNK rows if all are equal)."""

    loss: Any  # a tuple of parameters, of a class in `frankwolfe.losses`
    b: np.ndarray
    share: np.ndarray

    def value(self, m: np.ndarray) -> float:
        """Return the loss at the margins m."""
        return compiled("losses").value_at(self, double(m))

    def slope(self, m: np.ndarray) -> np.ndarray:
        """Return the gradient of the loss at the margins m."""
        r = np.empty(m.size)
        compiled("losses").derivatives_at(self, double(m), 0.0, r, NONE)
        return r.astype(m.dtype, copy=False)

    def curvature(self, m: np.ndarray, shift: float = 0.0) -> np.ndarray:
        """Return the second derivatives of the loss at the margins m + shift."""
        c = np.empty(m.size)
        compiled("losses").derivatives_at(self, double(m), shift, NONE, c)
        return c

    def balanced(self, m: np.ndarray, shift: float) -> tuple[np.ndarray, float, float, float]:
        """Return the gradient at m + shift, its heavier side scaled down to balance; value, inner product, that share.

        See `frankwolfe.kernels.losses.balanced`.
        """
        r = np.empty(m.size)
        return r, *compiled("losses").balanced(self, double(m), shift, r)

    def along(self, start: np.ndarray, step: np.ndarray, gamma: float) -> tuple[float, float]:
        """Return first and second derivative of the loss along start + gamma step."""
        return compiled("losses").along_line(self, double(start), double(step), gamma)

    def on_span(
        self, m: np.ndarray, shift: float, images: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray, tuple[float, float, np.ndarray]]:
        """Return the loss at m + shift, its gradient and Hessian along some images, and what the shift does to it.

        That are the sum of the slopes, the sum of the curvatures, and the change of the gradient where it moves.
        """
        k = len(images)
        gradient, hessian, drift = np.zeros(k), np.zeros((k, k)), np.zeros(k)
        value, left, bend = compiled("losses").on_span(self, m, shift, images, gradient, hessian, drift)
        return value, gradient, hessian + np.tril(hessian, -1).T, (left, bend, drift)

    def balance(
        self, start: np.ndarray, step: np.ndarray, gamma: float, bracket: tuple[float, float, float], ulp: float
    ) -> tuple[tuple[float, float, float], np.ndarray]:
        """Return the shift c at which the slopes at start + gamma step + c add up to nothing, and the sums there.

        The bracket holds a lower bound, a guess and an upper bound of c; it comes back as narrow as it was made. The
        sums are those of the slopes, of their sizes, of slope times step, of the curvatures, and of curvature times
        step and step squared. Margins are right to `ulp`.
        """
        sums, numbers = np.zeros(6), (*map(float, bracket), self.loss.knee, ulp)
        return compiled("losses").balance(self, double(start), double(step), gamma, *numbers, sums), sums


class Asked(NamedTuple):
    """Loss and gradient where margins are a mixture of known ones, m, and the products Ax.

    They are mixing[0] m + mixing[1] Ax where f is differentiated, and with mixing[2], mixing[3] where it is watched.
    """

    loss: RowLosses
    mixing: tuple[float, ...]
    known: np.ndarray  # m, empty for zero
    x: np.ndarray  # empty for zero
    hessian: int = 0  # ask for the Hessian too, from one row in so many
    base: np.ndarray = NONE  # a vector whose products are to be m, where m is not known
    keep: bool = True  # whether images are wanted
    carry: bool = False  # whether that of the gradient is


class Sweep(NamedTuple):
    """What one read of the data gave."""

    value: float  # of the loss
    inner: float  # <slope, margins>
    watched: float  # the loss at the watched margins
    slope: np.ndarray  # the gradient A'r
    image: np.ndarray  # Ax, empty where x was
    watched_image: np.ndarray
    hessian: np.ndarray | None = None
    slope_image: np.ndarray | None = None  # AA'r, where it was asked for


class Layout(ABC):
    """A matrix as the kernels read it: `scale` times the one made of `arrays`."""

    reads: float  # of the data in a sweep with a dense x
    has_hessian = False  # whether a sweep can make the Hessian too

    def __init__(self, arrays: tuple[Any, ...], shape: tuple[int, int], scale: float = 1.0) -> None:
        self.arrays, self.shape, self.scale = arrays, shape, scale
        self.entries: int = arrays[0].size if len(arrays) == 1 else arrays[1].size
        self._cuts: dict[int, list[tuple[int, int]]] = {}

    def cuts(self, parts: int) -> list[tuple[int, int]]:
        """Return so many ranges of rows (or columns) with about equally many entries each."""
        if parts not in self._cuts:
            if parts == 1:
                self._cuts[parts] = [(0, self.shape[0] if len(self.arrays) == 1 else len(self.arrays[0]) - 1)]
            elif len(self.arrays) == 1:
                ends = np.linspace(0, self.shape[0], parts + 1).round().astype(int).tolist()
                self._cuts[parts] = list(pairwise(ends))
            else:
                self._cuts[parts] = evenly(self.arrays[0], parts)
        return self._cuts[parts]

    @property
    def additions(self) -> int:
        """How many additions follow one another at most in an entry of Ax and of A'r, and in a sum over the rows."""
        return sum(self.shape)

    @abstractmethod
    def product(self, x: np.ndarray) -> np.ndarray:
        """Return Ax."""

    @abstractmethod
    def adjoint(self, r: np.ndarray) -> np.ndarray:
        """Return A'r."""

    def gram(self, c: np.ndarray) -> np.ndarray | None:
        """Return A'diag(c)A, or None if the layout has no kernel for it."""
        return None

    def bent(self, squares: Any, x: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return Ax and A'diag(c)Ax: the gradient of a weighted sum of squares, that loss, which a sweep has."""
        seen = self.sweep(RowLosses(squares, np.zeros(c.size), double(c)), (0.0, 1.0, 0.0, 1.0), NONE, x)
        return seen.image, seen.slope

    def sweep(self, *asked: Any, **options: Any) -> Sweep:
        """Return what is `Asked`, in as few reads as the layout allows."""
        return self._swept(Asked(*asked, **options))

    @abstractmethod
    def _swept(self, asked: Asked) -> Sweep:
        """Read as asked."""


class RowLayout(Layout):
    """By rows: everything in one read."""

    reads = 1.0

    def __init__(self, arrays: tuple[Any, ...], shape: tuple[int, int], scale: float = 1.0) -> None:
        super().__init__(arrays, shape, scale)
        self.has_hessian = len(arrays) > 1  # BLAS is ahead of a read of dense rows that does all
        wide = sum(a.nbytes for a in arrays[-2:] if a is not None) / shape[0]
        self.step = min(CHUNK, max(8, int(CACHE / max(wide, 1)) // 8 * 8))
        # Adding a block's part to the gradient costs little beside the block.
        self.block = max(CHUNK, -(-32 * shape[0] * shape[1] // max(self.entries, 1) // 8) * 8)
        # Dense rows are read in whole vectors.
        self.width = -(-shape[1] // LANES) * LANES if len(arrays) == 1 else shape[1]

    @property
    def additions(self) -> int:
        n, d = self.shape
        return d + min(n, 2 * self.block + -(-n // self.block) + MOST_PARTS)

    def _filled(self, x: np.ndarray) -> np.ndarray:
        """Return x as the kernels take it: scaled, and with zeros up to the width."""
        x = scaled(x, self.scale)
        return x if x.size in (0, self.width) else np.concatenate([x, np.zeros(self.width - x.size)])

    def product(self, x: np.ndarray) -> np.ndarray:
        rows = compiled("rows.sweep")
        x, out = self._filled(x), np.empty(self.shape[0])
        cuts = self.cuts(parts_for(self.entries))
        share_out(lambda i: rows.product(self.arrays, *cuts[i], x, out[cuts[i][0] :]), len(cuts))
        return out

    def adjoint(self, r: np.ndarray) -> np.ndarray:
        rows = compiled("rows.sweep")
        r = double(r)
        cuts = self.cuts(parts_of(self.entries, self.shape[1]))
        g = np.zeros((len(cuts), self.width))
        share_out(lambda i: rows.adjoint_in_blocks(self.arrays, *cuts[i], self.block, r[cuts[i][0] :], g[i]), len(cuts))
        return total(g[:, : self.shape[1]], self.scale)

    def gram(self, c: np.ndarray) -> np.ndarray:
        c, cuts = double(c), self._square_cuts()
        H = np.zeros((len(cuts), self.shape[1], self.shape[1]))
        if self.has_hessian:
            rows = compiled("rows.sweep")
            share_out(lambda i: rows.outer(self.arrays, *cuts[i], c[cuts[i][0] :], H[i]), len(cuts))
            half = total(H, self.scale**2)
            return half + half.T
        A, parts = self.arrays[0], [slice(*cut) for cut in cuts]
        with calm(A.size):  # the parts have threads of their own
            share_out(lambda i: dense_gram(A[parts[i]], c[parts[i]], H[i]), len(parts))
        return total(H, self.scale**2)

    def _swept(self, asked: Asked) -> Sweep:
        loss, mixing, known, x, hessian, base, keep, _ = asked
        rows = compiled("rows.sweep")
        n, d = self.shape
        # Each part adds up a gradient, or a Hessian, of its own: keep them small beside the data.
        cuts = self._square_cuts() if hessian else self.cuts(parts_of(self.entries, d))
        x, base, images = self._filled(x), self._filled(base), np.empty((2, n if keep else 0), known.dtype)
        sums, g = np.zeros((len(cuts), 3)), np.zeros((len(cuts), self.width))
        H = np.zeros((len(cuts), d, d) if hessian else (len(cuts), 0, 0))

        def read(i: int) -> None:
            out = images, g[i], H[i], sums[i]
            rows.sweep(self.arrays, *cuts[i], self.step, self.block, x, base, mixing, known, loss, hessian, *out)

        share_out(read, len(cuts))
        half = total(H, self.scale**2)
        image, watched = images if x.size else (NONE, images[1])
        whole = half + half.T if hessian else None
        value, inner, at_watch = sums.sum(axis=0).tolist()
        return Sweep(value, inner, at_watch, total(g[:, :d], self.scale), image, watched, whole)

    def _square_cuts(self) -> list[tuple[int, int]]:
        n, d = self.shape
        work = self.entries * self.entries // (2 * n if self.has_hessian else BLAS * n)  # pairs of entries in one row
        return self.cuts(min(parts_of(work), max(1, self.entries // (4 * d * d))))


def dense_gram(rows: np.ndarray, c: np.ndarray, out: np.ndarray) -> None:
    """Add A'diag(c)A to out.

    By BLAS, in half the time where no c is negative. Weights go to a few rows at a time, which are then still in cache;
    rows of no weight are left out.
    """
    if rows.dtype == np.float64 and bool((c == c[0]).all()):
        out += float(c[0]) * (rows.T @ rows)
        return
    whole, signed = bool(c.all()), bool((c < 0).any())
    for low in range(0, len(rows), CHUNK):
        few, weights = rows[low : low + CHUNK], c[low : low + CHUNK]
        if not whole:
            used = np.flatnonzero(weights)
            few, weights = few[used], weights[used]
        if signed:
            out += few.T @ (few * weights[:, None])
        else:
            few = few * np.sqrt(weights)[:, None]
            out += few.T @ few  # which NumPy knows to be symmetric


def evenly(indptr: np.ndarray, parts: int) -> list[tuple[int, int]]:
    """Return so many ranges of sparse rows (or columns) with about equally many entries each."""
    ends = np.searchsorted(indptr, np.linspace(0, indptr[-1], parts + 1)).tolist()
    return list(pairwise([0, *ends[1:-1], indptr.size - 1]))


@cache
def compiled(name: str) -> Any:
    """Return a module of kernels, and load the compiler with it; type checkers do not see through what it makes."""
    return import_module(f"frankwolfe.kernels.{name}")


def double(x: np.ndarray) -> np.ndarray:
    """Return x in double precision, which all kernels compute in; itself where it is."""
    return np.ascontiguousarray(x, dtype=np.float64)


def scaled(x: np.ndarray, scale: float) -> np.ndarray:
    """Return scale times x in double precision; itself where it is that."""
    x = double(x)
    return x if scale == 1.0 else scale * x


def total(parts: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """Return the sum of the parts, always added in the same order."""
    whole = parts[0] if len(parts) == 1 else parts.sum(axis=0)
    return whole if scale == 1.0 else scale * whole

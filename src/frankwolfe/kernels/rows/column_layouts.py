"""Sparse data laid out by columns: as they are, or sorted by length. Nothing here loads Numba before the first pass."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from frankwolfe.kernels.rows.layouts import NONE, Asked, Layout, Sweep, compiled, double, scaled, total
from frankwolfe.kernels.threads import parts_for, parts_of, share_out

A_COLUMN = 2  # what a column costs besides its entries, in entries


class Columns(Layout):
    """By columns: two reads, with jumps in short vectors; vectors that are mostly zero cost what is not."""

    reads = 2.0

    def product(self, x: np.ndarray) -> np.ndarray:
        sparse = compiled("rows.sparse")
        x = scaled(x, self.scale)
        cuts = self.cuts(parts_of(self.entries, self.shape[0]))
        out = np.zeros((len(cuts), self.shape[0]))
        share_out(lambda i: sparse.add_rows(*self.arrays, *cuts[i], x[cuts[i][0] :], out[i]), len(cuts))
        return total(out)

    def adjoint(self, r: np.ndarray) -> np.ndarray:
        sparse = compiled("rows.sparse")
        r, g = scaled(r, self.scale), np.empty(self.shape[1])
        cuts = self.cuts(parts_for(self.entries))
        share_out(lambda i: sparse.dots(*self.arrays, *cuts[i], r, g[cuts[i][0] :]), len(cuts))
        return g

    def _swept(self, asked: Asked) -> Sweep:
        loss, mixing, known, x, hessian, base, _, carry = asked
        losses = compiled("losses")
        assert not hessian, "only rows have a Hessian kernel"
        n = self.shape[0]
        known = self.product(base) if base.size else double(known) if known.size else np.zeros(n)
        here = not x.size and mixing == (1.0, 0.0, 1.0, 0.0)  # at what is known itself
        image = self.product(x) if x.size else NONE if here else np.zeros(n)
        ends = np.linspace(0, n, 1 + parts_of(n)).astype(int).tolist()
        watched, r, sums = known if here else np.empty(n), np.empty(n), np.zeros((len(ends) - 1, 3))

        def take(i: int) -> None:
            losses.differentiate_all(ends[i], ends[i + 1], mixing, known, image, loss, watched, r, sums[i])

        share_out(take, len(sums))
        value, inner, at_watch = sums.sum(axis=0).tolist()
        slope, along = self.gradient(r, carry)
        return Sweep(value, inner, at_watch, slope, image if x.size else NONE, watched, slope_image=along)

    def gradient(self, r: np.ndarray, carry: bool) -> tuple[np.ndarray, np.ndarray | None]:
        """Return A'r, and AA'r if wanted."""
        g = self.adjoint(r)
        return g, self.product(g) if carry else None


class SortedColumns(Columns):
    """By columns, the short ones first: a gradient and its own image in one read. A copy, made when first needed."""

    reads = 2.0

    def __init__(self, arrays: tuple[Any, ...], shape: tuple[int, int], scale: float, by_columns: bool) -> None:
        super().__init__(arrays, shape, scale)
        self.by_columns = by_columns

    @cached_property
    def sorted(self) -> tuple[Any, ...]:
        """Groups of columns of one length, their order, rows and values."""
        return compiled("rows.sorted_columns").grouped(*self.arrays, self.shape, self.by_columns)

    def cuts(self, parts: int) -> list[tuple[int, int]]:
        if parts not in self._cuts:
            groups = self.sorted[0]
            costs = groups[:, 1] + A_COLUMN * groups[:, 0]  # up to the first column of each group
            equal = np.linspace(0, costs[-1], parts + 1)[1:-1].astype(int)
            at = np.searchsorted(costs, equal, side="right") - 1
            firsts = groups[at, 0] + (equal - costs[at]) // (groups[at, 2] + A_COLUMN)
            self._cuts[parts] = list(pairwise([0, *firsts.tolist(), self.shape[1]]))
        return self._cuts[parts]

    def product(self, x: np.ndarray) -> np.ndarray:
        columns = compiled("rows.sorted_columns")
        x, cuts = scaled(x, self.scale), self.cuts(parts_of(self.entries, 2 * self.shape[0]))
        out = np.empty((len(cuts), self.shape[0]))
        share_out(lambda i: columns.product(*self.sorted, *cuts[i], x, out[i]), len(cuts))
        return total(out)

    def adjoint(self, r: np.ndarray) -> np.ndarray:
        return self.gradient(r, False)[0]

    def gradient(self, r: np.ndarray, carry: bool) -> tuple[np.ndarray, np.ndarray | None]:
        columns = compiled("rows.sorted_columns")
        r, g = scaled(r, self.scale), np.empty(self.shape[1])
        cuts = self.cuts(parts_of(self.entries, 2 * self.shape[0]))  # two vectors of margins are in use
        out = np.empty((len(cuts), self.shape[0] if carry else 0))
        share_out(lambda i: columns.adjoint(*self.sorted, *cuts[i], r, g, out[i]), len(cuts))
        return g, total(out, self.scale) if carry else None

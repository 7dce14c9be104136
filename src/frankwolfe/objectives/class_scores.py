"""The scores of several classes: the map from a matrix of coefficients to the products of all rows with all columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.atoms import Atom, OneHot, RankOne, Sparse
from frankwolfe.backends import Array, namespace
from frankwolfe.backends.namespace import as_like
from frankwolfe.lowrank import LowRank
from frankwolfe.rows.user_data import DataMatrix

SCATTERED = 8  # numbers that a device fetches for each one of a single column of rows


class ClassScores:
    """The map from coefficients (d, K) to the scores of all rows and classes: one vector, class after class."""

    adjoint_cost = 1.0

    def __init__(self, data: DataMatrix, K: int) -> None:
        self.data, self.K = data, K

    def apply(self, coords: Any) -> Array:
        scores = self._scores(coords)
        return namespace(scores).reshape(scores, (-1,))

    def _scores(self, coords: Any) -> Array:
        """Return the scores, a row for each class."""
        if isinstance(coords, OneHot):
            column = self.data.column(coords.index // self.K)
            return self._unit(coords.index % self.K, as_like(coords.value, column))[:, None] * column
        if isinstance(coords, Sparse) and isinstance(coords.values, np.ndarray):
            return self._few(coords)
        if isinstance(coords, Sparse) and SCATTERED * coords.indices.shape[0] < self.data.shape[1]:
            # A column for each entry: to find out which occur twice would make the device wait.
            rows = self._unit(coords.indices[:, None] % self.K, coords.values[:, None])
            return (self.data.columns(coords.indices // self.K) @ rows).T
        if isinstance(coords, RankOne):
            return coords.right[:, None] * (coords.scale * self.data.product(coords.left))
        matrix: Array = coords.toarray() if isinstance(coords, Atom | LowRank) else coords
        if not self.data.stored:
            return np.stack([self.data.product(matrix[:, k]) for k in range(self.K)])
        return self.data.product(matrix).T

    def _unit(self, k: Any, value: Array) -> Array:
        """Return the vector with a value in place k, and zeros; or a row of it for each of several."""
        xp = namespace(value)
        places = as_like(np.arange(self.K), value)
        if not isinstance(k, int | np.integer):
            k = xp.astype(k, value.dtype)
        return xp.where(places == k, value, xp.zeros_like(value))

    def _few(self, atom: Sparse) -> Array:
        """Return the scores of an atom with few entries, each column of the data taken once."""
        places, which = np.unique(np.asarray(atom.indices) // self.K, return_inverse=True)
        table = np.zeros((len(places), self.K))
        table[which, np.asarray(atom.indices) % self.K] = atom.values
        if len(places) == 1:
            column = self.data.column(int(places[0]))
            return as_like(table[0], column)[:, None] * column
        return (self.data.columns(places) @ self.data.array(table)).T

    def cost(self, coords: Any) -> float:
        if isinstance(coords, OneHot):
            return 1 / self.data.shape[1]
        if isinstance(coords, Sparse) and isinstance(coords.values, np.ndarray):
            return len(np.unique(np.asarray(coords.indices) // self.K)) / self.data.shape[1]
        if isinstance(coords, Sparse):
            return min(1.0, SCATTERED * coords.indices.shape[0] / self.data.shape[1])
        return 1.0

    def adjoint(self, r: Array) -> Array:
        r = namespace(r).reshape(r, (self.K, -1)).T
        if not self.data.stored:
            return np.stack([self.data.adjoint(r[:, k]) for k in range(self.K)], axis=1)
        return self.data.adjoint(r)

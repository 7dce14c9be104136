"""The Hessian of squares on the columns asked for so far: each pair of columns is multiplied once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frankwolfe.kernels.rows.layouts import CHUNK, double, total
from frankwolfe.kernels.threads import MOST_PARTS, calm, share_out
from frankwolfe.objectives.linear_model import LinearModel

LARGEST = 5000  # variables up to which it is kept
HALF = 0.5  # share of the columns from which on all are taken: that costs no more than what was done

Asked = tuple[np.ndarray, ...]
"""Columns in the groups in which they were asked for: part of a state, as made again so they give the same bits."""


def applies(objective: LinearModel) -> bool:
    """Tell whether the Hessian is the same everywhere, and grows by matrix products in double precision."""
    data = objective.data
    exact = data.adds_columns and data.matrix.dtype == np.float64
    return exact and objective.row_loss.quadratic and data.shape[1] <= LARGEST


def with_columns(asked: Asked, chosen: np.ndarray, d: int) -> Asked:
    """Return the groups asked for, and after them those of the chosen columns that are new, or all of d columns.

    Examples
    --------
    >>> [some.tolist() for some in with_columns((np.array([1, 5]),), np.array([1, 2]), 8)]
    [[1, 5], [2]]
    """
    new = np.setdiff1d(chosen, np.concatenate([*asked, chosen[:0]]))
    if not new.size:
        return asked
    return (*asked, np.arange(d) if new.size + sum(some.size for some in asked) > HALF * d else new)


class GrowingHessian(NamedTuple):
    """What has been made of the Hessian, and the columns of the data in the same order."""

    asked: int  # groups that it holds
    places: np.ndarray  # of each column in it
    blocks: tuple[np.ndarray, ...]  # of columns of the data
    along: np.ndarray  # sums of the columns, weighted
    matrix: np.ndarray  # before a ridge, and before an intercept is profiled out

    @classmethod
    def empty(cls, d: int) -> GrowingHessian:
        """Return one without columns."""
        return cls(0, np.full(d, -1), (), np.zeros(0), np.zeros((0, 0)))

    def grown(self, objective: LinearModel, asked: Asked) -> GrowingHessian:
        """Return it with the groups that it does not hold yet."""
        grown = self
        for some in asked[self.asked :]:
            grown = grown._with(objective, some)
        return grown

    def _with(self, objective: LinearModel, some: np.ndarray) -> GrowingHessian:
        c = double(objective.loss_curvature(np.zeros_like(objective.share)))
        if some.size == self.places.size:
            along = double(objective.data.adjoint(c))
            return GrowingHessian(self.asked + 1, some, (), along, objective.data.gram(c))
        places, size = self.places.copy(), len(self.matrix)
        places[some] = np.arange(size, size + some.size)
        block = np.ascontiguousarray(objective.data.columns(some))
        beside = [_cross(old, c, block) for old in (*self.blocks, block)]
        new = np.concatenate(beside)
        matrix = np.block([[self.matrix, new[:size]], [new[:size].T, new[size:]]])
        return GrowingHessian(
            self.asked + 1, places, (*self.blocks, block), np.concatenate([self.along, c @ block]), matrix
        )

    def of(self, objective: LinearModel, chosen: np.ndarray) -> np.ndarray:
        """Return the Hessian of some of its columns."""
        places = self.places[chosen]
        H = self.matrix[places[:, None], places]
        if objective.intercept:
            H -= np.outer(self.along[places], self.along[places]) / float(np.sum(objective.exact_share))
        H.flat[:: len(H) + 1] += objective.ridge
        return H


def _cross(left: np.ndarray, c: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return left' diag(c) right, the same bits whatever the threads."""
    n = len(c)
    parts = max(1, min(MOST_PARTS, n // CHUNK, n // (left.shape[1] + right.shape[1])))
    ends, out = np.linspace(0, n, parts + 1).astype(int), np.zeros((parts, left.shape[1], right.shape[1]))

    def multiply(i: int) -> None:
        for low in range(ends[i], ends[i + 1], CHUNK):
            rows = slice(low, min(low + CHUNK, ends[i + 1]))
            out[i] += left[rows].T @ (right[rows] * c[rows, None])

    with calm(left.size):
        share_out(multiply, parts)
    return total(out)

"""Squares from second moments: one read of the rows tells f, its gradient and its Hessian everywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.objectives.base import Evaluation
from frankwolfe.rounding import Extent, noise_of_moments, noise_of_ridge

CANCELLED = 16.0  # times f its terms may be, for a value that is as good as one from the rows
EPS = 2.0**-52
ROUNDING = 1e-13  # of the largest that they could be: moments that are nothing else


class Weighted(ABC):
    """Weightings of rows: what can be asked of their features, a constant and the target, which are d + 2 columns."""

    intercept: bool

    @property
    @abstractmethod
    def ends(self) -> np.ndarray:
        """The moments of the constant and of the target with all columns."""

    @property
    @abstractmethod
    def squares(self) -> np.ndarray:
        """The second moment of each column."""

    @abstractmethod
    def missed(self, models: np.ndarray) -> np.ndarray:
        """Return the weighted squares of what each model misses, added up."""

    def spread(self) -> np.ndarray:
        """Return the mean square of the target about its mean; not a number where there is none, of one row say."""
        total, squares = self.ends[:, 0, -2], self.ends[:, 1, -1]
        spread = squares - self.ends[:, 1, -2] ** 2 / total
        return np.where(spread > ROUNDING * squares, spread, np.nan) / total

    def sizes(self) -> np.ndarray:
        """Return what the moments of features with the target could be at most."""
        return np.sqrt(self.squares[:, :-2] * self.squares[:, -1:]) / self.squares[:, -2:-1]

    def complete(self, x: np.ndarray) -> np.ndarray:
        """Return models, the rows of x, as weights of features, constant and target: prediction less target."""
        models = np.zeros((*x.shape[:2], x.shape[2] + 2))
        models[:, :, :-2], models[:, :, -1] = x, -1.0
        if self.intercept:
            short = self.ends[:, 0, -1, None] - np.matmul(x, self.ends[:, 0, :-2, None])[:, :, 0]
            models[:, :, -2] = short / self.ends[:, 0, -2, None]
        return models

    def loss(self, models: np.ndarray) -> np.ndarray:
        """Return the mean loss of each model."""
        return 0.5 * self.missed(models) / self.ends[:, 0, -2, None]


@dataclass(frozen=True)
class Moments(Weighted):
    """Weighted second moments: a matrix of d + 2 columns for each weighting."""

    of: np.ndarray
    intercept: bool

    @property
    def ends(self) -> np.ndarray:
        return self.of[:, -2:]

    @property
    def squares(self) -> np.ndarray:
        return np.diagonal(self.of, axis1=1, axis2=2)

    def missed(self, models: np.ndarray) -> np.ndarray:
        return np.maximum(row_dots(models @ self.of, models), 0.0)

    def normal(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return G, c and the spread of the target: about the means where there is an intercept."""
        M = self.of / self.of[:, -2:-1, -2:-1]
        G, c, spread = M[:, :-2, :-2], M[:, :-2, -1], M[:, -1, -1]
        if self.intercept:
            mean, level = M[:, :-2, -2], M[:, -2, -1]
            return G - mean[:, :, None] * mean[:, None], c - mean * level[:, None], spread - level**2
        return G, c, spread


def row_dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the inner products of the rows of stacked matrices."""
    return np.einsum("krd,krd->kr", a, b)


class SecondMoments(NamedTuple):
    """f(x) = square/2 - linear'x + x'Hx/2: what the mean of squares is, with a ridge term, for any x."""

    hessian: np.ndarray
    linear: np.ndarray
    square: float
    ridge: float
    norms: np.ndarray  # of the columns, weighted; and the length of the targets
    length: float
    additions: int

    name = "forming second moments once"

    @classmethod
    def of(cls, model: Any) -> SecondMoments:
        """Form the moments of a model whose rows do that in one read."""
        moments = Moments(model.data.moments(model)[None], model.intercept)
        (hessian, linear, square), total = (part[0] for part in moments.normal()), float(moments.of[0, -2, -2])
        if model.ridge:
            hessian.flat[:: len(linear) + 1] += model.ridge
        *squares, length = (moments.of[0].diagonal() / total).tolist()
        norms = np.sqrt(np.array(squares[:-1]) + np.finfo(float).tiny)  # a square that underflows is no zero
        additions = model.data.stacked_additions + 2 * len(linear)
        return cls(hessian, linear, float(square), model.ridge, norms, length**0.5, additions)

    def evaluate(self, y: np.ndarray, extent: Extent) -> tuple[Evaluation, bool]:
        """Return f and its gradient at y, and whether the value has as many digits as one from the rows."""
        bent = self.hessian @ y
        along, curve = float(self.linear @ y), float(bent @ y)
        value, terms = 0.5 * (self.square + curve) - along, 0.5 * (self.square + curve) + abs(along)
        noise = noise_of_moments(EPS, self.additions, self.length, float(self.norms @ np.abs(y)), extent.reach)
        if self.ridge:
            noise += noise_of_ridge(EPS, self.additions, self.ridge, extent.norm)
        at_y = Evaluation(value, bent - self.linear, curve - along, value, 0.0, EPS, noise=noise, path=self.name)
        return at_y, terms <= CANCELLED * value

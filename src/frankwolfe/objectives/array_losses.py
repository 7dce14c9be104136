"""The losses of all rows by array operations, of any library: what `RowLosses` does in compiled loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frankwolfe.backends import Array, Scalar, fetch, namespace, vdot
from frankwolfe.backends import double as double_of
from frankwolfe.backends.elementary import pick_above
from frankwolfe.kernels.rows.layouts import NONE
from frankwolfe.losses import Loss
from frankwolfe.objectives.intercept_search import InterceptSearch
from frankwolfe.rows.reading import products


class ArrayLosses(NamedTuple):
    """The loss, the targets and the weights of rows; margins may be those of many points, one to a row of an array."""

    loss: Loss
    b: Array
    share: Array

    def value(self, m: Array) -> Scalar:
        """Return the loss at the margins m."""
        return products(self.loss.value(self._weighed(m), self.b, *self.loss), self.share)

    def slope(self, m: Array) -> Array:
        """Return the gradient of the loss at the margins m."""
        return self.share * self.loss.slope(self._weighed(m), self.b, *self.loss)

    def curvature(self, m: Array, shift: float = 0.0) -> Array:
        """Return the second derivatives of the loss at the margins m + shift."""
        return self.share * self.loss.curvature(self._weighed(m + shift if shift else m), self.b, *self.loss)

    def _weighed(self, m: Array) -> Array:
        """Return the margins, zero for rows without weight, whose loss may overflow."""
        return m if self.loss.bounded else pick_above(self.share, 0.0, m, 0.0)

    def along(self, start: Array, step: Array, gamma: float) -> tuple[Scalar, Scalar]:
        """Return first and second derivative of the loss along start + gamma step."""
        m = start + gamma * step
        return vdot(self.slope(m), step), vdot(self.curvature(m) * step, step)

    def balanced(self, m: Array, shift: float) -> tuple[Array, Scalar, Scalar, float]:
        """Return the gradient at m + shift, its heavier side scaled to balance; value, inner product, that scale."""
        t = m + shift
        slope, xp = self.slope(t), namespace(t)
        total, size = float(xp.sum(slope)), float(xp.sum(xp.abs(slope)))
        up, down = 0.5 * (size + total), 0.5 * (size - total)
        taken = 0.0
        if up != down:
            kept = min(up, down) / max(up, down)
            slope, taken = xp.where(slope > 0 if up > down else slope < 0, slope * kept, slope), 1.0 - kept
        return slope, self.value(t), vdot(slope, m), taken

    def sums(self, start: Array, step: Array, gamma: float, shift: float) -> list[float]:
        """Return the sums of slopes, of their sizes, of slope times step, of curvatures, of these times step and step².

        At start + gamma step + shift; an empty step counts as zero.
        """
        still = step is NONE
        t = start + shift if still else start + gamma * step + shift
        slope, bend = self.slope(t), self.curvature(t)
        left, size, curved = _sum(slope), _sum(abs(slope)), _sum(bend)
        if still:
            return fetch([left, size, 0.0, curved, 0.0, 0.0])
        return fetch([left, size, vdot(slope, step), curved, vdot(bend, step), vdot(bend * step, step)])

    def balance(
        self, start: Array, step: Array, gamma: float, bracket: tuple[float, float, float], ulp: float
    ) -> tuple[tuple[float, float, float], list[float]]:
        """Return the shift at which slopes add up to nothing, as a narrow bracket, and the `sums` there."""
        low, c, high = bracket
        found = InterceptSearch(c, self.loss.knee, ulp, low, high)
        found.run(lambda c: self.sums(start, step, gamma, c))
        return (found.low, found.c, found.high), found.numbers


def _sum(values: Array) -> Scalar:
    if isinstance(values, np.ndarray):
        return values.sum(dtype=np.float64)
    return namespace(values).sum(values, dtype=double_of(values))

"""The search for the intercept at which slopes balance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Self

from frankwolfe.kernels.root_bracket import NEAR, ROUNDS, narrow, settled


class InterceptSearch:
    """Newton's method inside a bracket; `numbers` are the sums at c, in the order of `ArrayLosses.sums`."""

    def __init__(self, c: float, knee: float, ulp: float, low: float = -math.inf, high: float = math.inf) -> None:
        self.c, self.knee, self.ulp, self.low, self.high = c, knee, ulp, low, high
        self.steps = (math.inf, math.inf)  # lengths of the last two
        self.done = self.exact = False
        self.numbers: Any = [0.0] * 6

    def take(self, numbers: Any) -> None:
        """Take the sums at c and, unless they balance, move on."""
        if self.done:
            return
        self.numbers = numbers
        left, size, _, bend = (float(n) for n in numbers[:4])
        self.done = self.exact = settled(left, size, bend, self.knee, self.ulp)
        if not self.exact:
            older, old = self.steps
            self.low, moved, self.high, *self.steps = narrow(self.low, self.c, self.high, older, old, left, bend)
            self.done, self.c = moved == self.c, moved

    def run(self, sums: Callable[[float], Any]) -> Self:
        """Search with a function that returns the sums."""
        search([self], lambda shifts: [sums(*shifts)])
        return self

    def refine(self) -> None:
        """Take one more step, where Newton's method is right to rounding: nothing is left over."""
        left, bend = float(self.numbers[0]), float(self.numbers[3])
        if 0 < abs(left) <= NEAR * self.knee * bend:
            self.c -= left / bend

    @property
    def factors(self) -> tuple[float, float]:
        """What to scale the positive and the negative slopes by, so that they balance."""
        left, size = float(self.numbers[0]), float(self.numbers[1])
        up, down = 0.5 * (size + left), 0.5 * (size - left)
        return (min(1.0, down / up) if up > 0 else 1.0), (min(1.0, up / down) if down > 0 else 1.0)


def search(found: list[InterceptSearch], sums: Callable[[list[float]], Sequence[Any]]) -> None:
    """Take several searches to their end, with the sums of all of them at a time."""
    for _ in range(ROUNDS):
        for one, numbers in zip(found, sums([one.c for one in found]), strict=True):
            one.take(numbers)
        if all(one.done for one in found):
            break


def finish(found: list[InterceptSearch], losses: Callable[[list[float]], Sequence[float]]) -> None:
    """Refine what was found; where no number between the ends balances, take the best of them."""
    if not all(one.exact for one in found):
        tried = [[getattr(one, name) for one in found] for name in ("low", "c", "high")]
        values = [losses(shifts) for shifts in tried]
        for i, one in enumerate(found):
            best = min(range(3), key=lambda k, i=i: values[k][i])
            one.c = one.c if one.exact else tried[best][i]
    for one in found:
        if one.exact:
            one.refine()

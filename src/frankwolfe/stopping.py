"""When a run, or each of many, is done: the gap that is asked for, and whether a method still gets on."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from frankwolfe.backends.one_or_many import larger, pick, pick_fields, smaller
from frankwolfe.serialisation import plain

RELATIVE = 1e-6  # the certified gap that is asked for by default, relative to `Tolerance.scale`
LEAST = 1e-3  # of the gain, which the scale is never below: a value may be next to nothing
WINDOW = 32  # steps in which a method must get on, or as many as it took before where that is more
TINY = 1e-300  # what is asked for where f and its noise are zero: a gap of zero
KEPT = 0.99  # share of the gap that a method which gets on does not keep over the window


class Tolerance(NamedTuple):
    """The gap that ends a run: `tol`, or `rtol` times max(1, |f|), or by default one of the problem's own scale."""

    tol: float | None = None
    rtol: float = 0.0

    @property
    def relative(self) -> bool:
        """Whether neither number was given, so that the scale of the problem counts."""
        return self.tol is None and not self.rtol

    def goal(self, value: Any, start: Any, noise: Any) -> Any:
        """Return the gap that is asked for, where f is `value` now and was `start` at the start.

        By default that is a millionth of the smaller of |f| and of what was gained since the start: data in any units
        give the same relative answer. Where f is next to nothing a thousandth of the gain stands in for it; where the
        gain is no more than `noise`, what rounding does to the bound, the start was optimal, and that noise will do.
        """
        if not self.relative:
            if not self.rtol:
                return self.tol
            size = pick(abs(value) < math.inf, abs(value), 0.0)  # before the first step nothing is known
            return larger(self.tol or 0.0, self.rtol * larger(1.0, size))
        gain = start - value
        asked = RELATIVE * smaller(gain, larger(abs(value), LEAST * gain))
        return pick(gain > 2 * noise, asked, larger(2 * noise, TINY))


@plain
class Rest(NamedTuple):
    """Since which step neither value nor gap has changed, and what they were then.

    A method whose error falls like a power of k, however slowly, halves it (or takes off some share) each time that k
    doubles. So if over a window from k to 2k all values agree up to rounding, what is left of f(x) - f* is of the size
    of that rounding; and if over the same window the gap has not lost a hundredth, it will not reach the goal either. A
    method that is slow but gets on, or whose values go up and down, is never at rest in this sense.
    """

    since: Any = 0
    value: Any = math.inf  # of the iterate
    best: Any = math.inf
    gap: Any = math.inf
    noise: Any = 0.0  # what rounding may do to values

    def after(self, k: int, value: Any, best: Any, gap: Any, noise: Any) -> Rest:
        """Return the record after step k, from a point where f is `value`; `best` and `gap` are the best so far."""
        at_rest = (abs(value - self.value) <= noise) & (best >= self.best - noise) & (gap >= KEPT * self.gap)
        return pick_fields(at_rest, self, Rest(k, value, best, gap, noise))

    def is_stalled(self, k: int, doublings: int = 1) -> Any:
        """Tell whether nothing has changed for so many doublings of the steps before (and for a few, at least)."""
        return k - self.since >= larger(WINDOW, (2**doublings - 1) * self.since)

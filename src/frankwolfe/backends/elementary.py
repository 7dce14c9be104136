"""The functions that formulae of losses are written in, for arrays of any library.

`kernels/elementary.py` has them compiled, for a number and for eight side by side; `backends/triton_losses.py` in
Triton. A formula in these functions and in plain arithmetic is then stated once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.backends.namespace import namespace


def exp(x: Any) -> Any:
    """Return exp(x): infinite, without a warning, where that is too large for a number."""
    xp = namespace(x)
    if xp is not np:
        return xp.exp(x)
    with np.errstate(over="ignore"):
        return np.exp(x)


def log1p(u: Any) -> Any:
    """Return log(1 + u) for u from zero to one."""
    return namespace(u).log1p(u)


def maximum(a: Any, bound: Any) -> Any:
    """Return the larger of two numbers, a where it is not a number."""
    return pick_above(bound, a, bound, a)


def minimum(a: Any, bound: Any) -> Any:
    """Return the smaller of two numbers, a where it is not a number."""
    return pick_above(a, bound, bound, a)


def pick_above(a: Any, bound: Any, yes: Any, no: Any) -> Any:
    """Return one number where a is above a bound, and another elsewhere."""
    like = next(x for x in (a, bound, yes, no) if not isinstance(x, float)) if isinstance(a, float) else a
    xp = namespace(like)
    if xp is np:
        return np.where(a > bound, *(like.dtype.type(x) if isinstance(x, float) else x for x in (yes, no)))
    return xp.where(a > bound, *(xp.full_like(like, x) if isinstance(x, float) else x for x in (yes, no)))

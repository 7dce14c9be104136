"""Rules of a run, written once: for one run their numbers are floats, for many in step vectors of them."""

from __future__ import annotations

from typing import Any

import numpy as np


def number(x: Any) -> Any:
    """Return a number as a float; a vector as it is."""
    return x if isinstance(x, np.ndarray) and x.ndim else float(x)


def larger(a: Any, b: Any) -> Any:
    """Return the larger of two numbers, the other where one is not a number."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.fmax(a, b)
    return b if b > a or a != a else a


def smaller(a: Any, b: Any) -> Any:
    """Return the smaller of two numbers, the other where one is not a number."""
    return -larger(-a, -b)


def some(mask: Any) -> bool:
    """Tell whether something holds, of one or of any."""
    return bool(mask.any()) if isinstance(mask, np.ndarray) else bool(mask)


def pick(mask: Any, yes: Any, no: Any) -> Any:
    """Return one thing where something holds, another elsewhere."""
    if not isinstance(mask, np.ndarray):
        return yes if mask else no
    return np.where(mask, yes, no)

"""One instance of a set, with what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """A set, the shape of its points, its naive twins, and its description for CVXPY.

    `least` gives min <g, v>, `size` the gauge (at most `radius` inside; None where there is none), `judge` the list of
    CVXPY constraints on a flat variable (None where CVXPY has no words for it). `exact` says that the diameter is
    attained, `room` how finely membership is decided.
    """

    name: str
    set: Any
    shape: tuple[int, ...]
    least: Callable[[np.ndarray], float]
    judge: Callable[[Any], list[Any]] | None
    size: Callable[[np.ndarray], float] | None = None
    array_native: bool = True
    exact: bool = True
    room: float = 1e-12

    def __repr__(self) -> str:
        return self.name

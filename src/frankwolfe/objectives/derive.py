"""Objectives made from others: whatever one of them has found out is not taken for the other's."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any, TypeVar

T = TypeVar("T")

SPECTRUM = ("_gram_norm", "_column_norms", "row_sizes", "smoothness", "strong_convexity")
"""What belongs to the function, however its data are laid out."""

TARGETS = ("offset", "zero_intercept", "facts", "least_share", "_signs")
"""What belongs to targets and weights, whatever the data."""


def derive(objective: T, keep: tuple[str, ...] = (), **changes: Any) -> T:
    """Return a copy with some attributes changed, and without what the original has cached, but for `keep`."""
    twin = copy(objective)
    own = vars(twin)
    for kind in type(objective).__mro__:
        for name, attribute in vars(kind).items():
            if isinstance(attribute, cached_property) and name not in keep:
                own.pop(name, None)
    if "_last" in own:  # the last image, and what was found out about it
        own["_last"] = None
    own.update(changes)
    return twin

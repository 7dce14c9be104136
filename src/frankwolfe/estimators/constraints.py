"""The sets that estimators know by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.sets import (
    Box,
    GroupBall,
    KSupportBall,
    L1Ball,
    L2Ball,
    LInfBall,
    LpBall,
    NuclearBall,
    Set,
    Simplex,
)
from frankwolfe.validation import nearest, positive

NAMES = ("l1", "l2", "linf", "lp", "ksupport", "group", "simplex", "nuclear", "box")


def constraint_set(
    constraint: str | Set,
    radius: float,
    shape: tuple[int, ...],
    *,
    p: float = 1.5,
    k: int = 10,
    groups: Any = None,
    lower: Any = -1.0,
    upper: Any = 1.0,
) -> Set:
    """Return the set that coefficients of the given shape must lie in: (features,), or (features, classes).

    Examples
    --------
    >>> constraint_set("ksupport", 2.0, (5,), k=3)
    KSupportBall(radius=2.0, k=3)
    >>> constraint_set("nuclea", 1.0, (5,))
    Traceback (most recent call last):
    ValueError: constraint 'nuclea' is not known; did you mean 'nuclear'?
    """
    if isinstance(constraint, Set):
        if constraint.shape is not None and tuple(constraint.shape) != shape:
            raise ValueError(
                f"constraint {constraint!r} holds points of shape {tuple(constraint.shape)}, and the coefficients have "
                f"shape {shape}"
            )
        return constraint
    if not isinstance(constraint, str):
        raise TypeError(f"constraint must be one of {', '.join(NAMES)} or a Set, got {constraint!r}")
    if constraint not in NAMES:
        raise ValueError(f"constraint {constraint!r} is not known; {nearest(constraint, NAMES)}")
    radius = positive("radius", radius)
    if constraint == "lp":
        return LpBall(radius, p=p)
    if constraint == "ksupport":
        return KSupportBall(radius, k=min(k, int(np.prod(shape))) if isinstance(k, int | np.integer) else k)
    if constraint == "group":
        return GroupBall(radius, groups=_groups(groups, shape))
    if constraint == "simplex":
        if len(shape) != 1:
            raise ValueError("constraint 'simplex' needs two classes or a regression; use 'l1' or 'group' for more")
        return Simplex(shape[0], radius=radius)
    if constraint == "nuclear":
        if len(shape) == 1:
            raise ValueError("constraint 'nuclear' ties the classes together and needs three or more; use 'l2'")
        return NuclearBall(radius)
    if constraint == "box":
        return Box(radius * np.asarray(lower, dtype=float), radius * np.asarray(upper, dtype=float))
    return {"l1": L1Ball, "l2": L2Ball, "linf": LInfBall}[constraint](radius)


def _groups(groups: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return the group of every coefficient: those of a feature stay together across the classes."""
    features, classes = shape[0], int(np.prod(shape[1:], dtype=int))
    if groups is None:
        if classes == 1:
            raise ValueError("constraint 'group' needs groups=: a label for each feature, or a list of index lists")
        labels = np.arange(features)
    elif len(groups) == features and np.ndim(groups[0]) == 0:
        labels = np.asarray(groups)
    else:
        labels = np.full(features, -1)
        for number, members in enumerate(groups):
            labels[np.asarray(members, dtype=int)] = number
        if labels.min() < 0 or sum(len(members) for members in groups) != features:
            raise ValueError(f"groups must hold each of the {features} features exactly once")
    return np.repeat(labels, classes)

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
    LinearImage,
    LInfBall,
    LpBall,
    NuclearBall,
    Polytope,
    Set,
    Simplex,
)
from frankwolfe.sets.base import EmptySetError
from frankwolfe.validation import nearest
from frankwolfe.validation import positive as positive_number

BALLS = ("l1", "l2", "linf", "lp", "ksupport", "group", "nuclear")
NAMES = (*BALLS, "simplex", "box")
ORDERS = {"increasing": 1.0, "decreasing": -1.0}


def constraint_set(
    constraint: str | Set,
    radius: float | None,
    shape: tuple[int, ...],
    *,
    p: float = 1.5,
    k: int = 10,
    groups: Any = None,
    lower: Any = -1.0,
    upper: Any = 1.0,
    positive: bool = False,
    linear: Any = None,
    names: Any = None,
    scale: np.ndarray | None = None,
) -> Set:
    """Return the set that coefficients of the given shape must lie in: (features,), or (features, classes).

    With `scale` the set is that of coefficients times these numbers, one for each feature: linear constraints are on
    the coefficients themselves.
    """
    if isinstance(constraint, Set):
        if constraint.shape is not None and tuple(constraint.shape) != shape:
            raise ValueError(
                f"constraint {constraint!r} holds points of shape {tuple(constraint.shape)}, and the coefficients have "
                f"shape {shape}"
            )
        if positive or linear is not None:
            raise ValueError("positive and linear need a constraint by name such as 'l1'; a Set says it all itself")
        return constraint if radius is None else constraint.with_radius(radius)
    if not isinstance(constraint, str):
        raise TypeError(f"constraint must be one of {', '.join(NAMES)} or a Set, got {constraint!r}")
    if constraint not in NAMES:
        raise ValueError(f"constraint {constraint!r} is not known; {nearest(constraint, NAMES)}")
    radius = positive_number("radius", radius)
    if positive or linear is not None:
        try:
            return _restricted(constraint, radius, shape, lower, upper, bool(positive), linear, scale)
        except EmptySetError:
            raise EmptySetError(
                f"no coefficients within constraint={constraint!r} of radius {radius:.4g} meet the linear constraints; "
                "raise the radius, or relax these"
            ) from None
    if constraint == "lp":
        return LpBall(radius, p=p)
    if constraint == "ksupport":
        return KSupportBall(radius, k=min(k, int(np.prod(shape))) if isinstance(k, int | np.integer) else k)
    if constraint == "group":
        return GroupBall(radius, groups=_groups(groups, shape, names))
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


def _restricted(
    constraint: str,
    radius: float,
    shape: tuple[int, ...],
    lower: Any,
    upper: Any,
    positive: bool,
    linear: Any,
    scale: np.ndarray | None,
) -> Set:
    """Return the part of a set with linear constraints on its points."""
    if len(shape) != 1:
        raise ValueError("positive and linear are for regression and two classes, not for more")
    n = shape[0]
    one = np.ones((1, n))
    rows: dict[str, Any] = linear_rows(linear, n)
    if scale is not None:
        rows = {name: value / scale if name.startswith("A") else value for name, value in rows.items()}
    least = 0.0 if positive else -np.inf
    if constraint == "simplex":
        return Polytope(**_stacked(rows, "eq", one, radius), lower=0.0)
    if constraint == "linf":
        return Polytope(**rows, lower=max(least, -radius), upper=radius)
    if constraint == "box":
        low = np.maximum(radius * np.asarray(lower, dtype=float), least)
        return Polytope(**rows, lower=np.broadcast_to(low, n), upper=radius * np.asarray(upper, dtype=float))
    if constraint == "l2":
        return L2Ball(radius) & (
            Polytope(**rows, lower=np.full(n, max(least, -radius)), upper=np.full(n, radius))
            if linear is not None
            else Box(np.zeros(n), np.full(n, radius))
        )
    if constraint != "l1":
        raise ValueError(
            f"positive and linear are for 'l1', 'l2', 'linf', 'box' and 'simplex', not for {constraint!r}; use 'l2'"
        )
    if positive:
        return Polytope(**_stacked(rows, "ub", one, radius), lower=0.0)
    # x = u - v with u, v nonnegative: a polytope in twice the variables, seen through [I, -I].
    twice: dict[str, Any] = {
        name: np.hstack([value, -value]) if name.startswith("A") else value for name, value in rows.items()
    }
    return LinearImage(
        Polytope(**_stacked(twice, "ub", np.ones((1, 2 * n)), radius), lower=0.0), np.hstack([np.eye(n), -np.eye(n)])
    )


def linear_rows(linear: Any, n: int) -> dict[str, np.ndarray]:
    """Return linear constraints as the arguments A_ub, b_ub, A_eq and b_eq of `Polytope`."""
    if linear is None:
        return {}
    if isinstance(linear, list | tuple):
        parts = [linear_rows(one, n) for one in linear]
        names = {name for part in parts for name in part}
        return {name: np.concatenate([part[name] for part in parts if name in part]) for name in sorted(names)}
    if isinstance(linear, str):
        if linear == "zero_sum":
            return {"A_eq": np.ones((1, n)), "b_eq": np.zeros(1)}
        if linear in ORDERS:
            return {"A_ub": -ORDERS[linear] * np.diff(np.eye(n), axis=0) + 0.0, "b_ub": np.zeros(n - 1)}
        raise ValueError(f"linear {linear!r} is not known; {nearest(linear, ('zero_sum', *ORDERS))}")
    if hasattr(linear, "lb") and hasattr(linear, "A"):  # scipy.optimize.LinearConstraint
        A = np.atleast_2d(np.asarray(linear.A, dtype=float))
        low, high = (np.broadcast_to(np.asarray(b, dtype=float), len(A)) for b in (linear.lb, linear.ub))
        A_ub, b_ub = (
            np.vstack([A[high < np.inf], -A[low > -np.inf]]),
            np.append(high[high < np.inf], -low[low > -np.inf]),
        )
        rows = {"A_ub": A_ub, "b_ub": b_ub}
    elif isinstance(linear, dict) and linear.keys() <= {"A_ub", "b_ub", "A_eq", "b_eq"}:
        rows = {name: np.asarray(value, dtype=float) for name, value in linear.items()}
    else:
        raise TypeError(
            "linear must be 'zero_sum', 'increasing', 'decreasing', a scipy.optimize.LinearConstraint, a dict with "
            f"A_ub, b_ub, A_eq, b_eq, or a list of these, got {linear!r}"
        )
    rows = {
        name: np.atleast_2d(value) if name.startswith("A") else np.atleast_1d(value) for name, value in rows.items()
    }
    for name, value in rows.items():
        if name.startswith("A") and value.shape[1] != n:
            raise ValueError(f"linear: {name} must have {n} columns, one for each feature, got {value.shape[1]}")
    return rows


def _stacked(rows: dict[str, Any], kind: str, row: np.ndarray, bound: float) -> dict[str, Any]:
    """Return linear constraints with one more."""
    A, b = rows.get(f"A_{kind}"), rows.get(f"b_{kind}", np.zeros(0))
    return rows | {f"A_{kind}": row if A is None else np.vstack([row, A]), f"b_{kind}": np.append(bound, b)}


def _groups(groups: Any, shape: tuple[int, ...], names: Any) -> np.ndarray:
    """Return the group of every coefficient: those of a feature stay together across the classes.

    Members are numbers of features, or their names where the data have some.
    """
    features, classes = shape[0], int(np.prod(shape[1:], dtype=int))
    if groups is None:
        if classes == 1:
            raise ValueError("constraint 'group' needs groups=: a label for each feature, or a list of index lists")
        labels = np.arange(features)
    elif isinstance(groups, dict):
        return _groups(list(groups.values()), shape, names)
    elif len(groups) == features and np.ndim(groups[0]) == 0:
        labels = np.asarray(groups)
    else:
        labels = np.full(features, -1)
        for number, members in enumerate(groups):
            labels[[_number(member, names) for member in members]] = number
        if labels.min() < 0 or sum(len(members) for members in groups) != features:
            raise ValueError(f"groups must hold each of the {features} features exactly once")
    return np.repeat(labels, classes)


def _number(member: Any, names: Any) -> int:
    """Return the number of a feature."""
    if not isinstance(member, str):
        return int(member)
    if names is None:
        raise ValueError(f"groups names {member!r}, and the data have no column names; pass a DataFrame, or numbers")
    if member not in names:
        raise ValueError(f"groups names {member!r}, which is no column of the data; {nearest(member, list(names))}")
    return int(np.flatnonzero(np.asarray(names) == member)[0])

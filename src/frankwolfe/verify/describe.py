"""The bridge: objectives and sets as plain descriptions, names, numbers and arrays, read from their attributes.

Nothing here computes, and no method of an objective or a set is called: what the judge gets is the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from frankwolfe.verify.objectives import CannotShow

Description = dict[str, Any]


def describe_objective(objective: Any) -> Description:
    """Return a description of an objective.

    Examples
    --------
    >>> import frankwolfe as fw
    >>> describe_objective(fw.Quadratic([[2.0]], [1.0]))["kind"]
    'quadratic'
    """
    return _described(objective, OBJECTIVES, "objective")


def describe_domain(domain: Any) -> Description:
    """Return a description of a set.

    Examples
    --------
    >>> import frankwolfe as fw
    >>> describe_domain(fw.L1Ball(2.0))
    {'kind': 'l1', 'radius': 2.0}
    """
    return _described(domain, DOMAINS, "set")


def describe_point(x: Any) -> Any:
    """Return coordinates as an array, or as the factors of a low-rank matrix."""
    if hasattr(x, "left") and hasattr(x, "right") and hasattr(x, "weights"):
        m, n = x.shape
        left, right = ([array(f) for f in factors] for factors in (x.left, x.right))
        kind = left[0].dtype if left else np.float64
        return {
            "weights": np.asarray(x.weights, np.float64),
            "left": np.stack(left) if left else np.zeros((0, m), kind),
            "right": np.stack(right) if right else np.zeros((0, n), kind),
            "shape": [int(m), int(n)],
        }
    if isinstance(x, dict | list | tuple):
        raise TypeError("x is a nest of arrays; only one array or a low-rank matrix can be judged")
    return array(x)


def _described(thing: Any, known: dict[str, Callable[[Any], Description]], what: str) -> Description:
    for cls in type(thing).__mro__:
        if cls.__name__ in known and cls.__module__.startswith("frankwolfe."):
            return known[cls.__name__](thing)
    raise CannotShow(f"no description is known of the {what} {type(thing).__name__}; only built-in ones can be judged")


def array(values: Any) -> np.ndarray:
    """Return an array of any library as NumPy's, with the numbers it holds."""
    if hasattr(values, "detach"):  # torch
        values = values.detach().cpu()
    if hasattr(values, "get") and not isinstance(values, np.ndarray):  # cupy
        values = values.get()
    return np.asarray(values)


def matrix(data: Any) -> Any:
    """Return the numbers of a data matrix, dense or sparse."""
    held = data.matrix
    if hasattr(held, "tocoo") and hasattr(held, "nnz"):
        return held
    if type(data).__name__ == "OperatorMatrix" or hasattr(held, "matvec"):
        raise CannotShow("the data are a LinearOperator, a function and not numbers; pass the matrix itself")
    return array(held)


def _linear_model(objective: Any, loss: str, **more: Any) -> Description:
    return {
        "kind": "linear_model",
        "loss": loss,
        "A": matrix(objective.data),
        "b": array(objective.b),
        "share": array(objective.share) if objective.weighted else None,
        "ridge": float(objective.ridge),
        "intercept": bool(objective.intercept),
        **more,
    }


def _quadratic(objective: Any) -> Description:
    return {
        "kind": "quadratic",
        "Q": matrix(objective.data),
        "c": array(objective.c),
        "constant": float(objective.constant),
    }


def _fields(kind: str, *names: str) -> Callable[[Any], Description]:
    """Return the description of a set by some of its attributes."""

    def describe(domain: Any) -> Description:
        values = ((name, getattr(domain, name)) for name in names)
        return {"kind": kind} | {n: v if isinstance(v, int | float) else np.asarray(v) for n, v in values}

    return describe


OBJECTIVES: dict[str, Callable[[Any], Description]] = {
    "Logistic": lambda f: _linear_model(f, "logistic"),
    "LeastSquares": lambda f: _linear_model(f, "least_squares"),
    "Huber": lambda f: _linear_model(f, "huber", delta=float(f.delta)),
    "Quadratic": _quadratic,
}

DOMAINS: dict[str, Callable[[Any], Description]] = {
    "L1Ball": _fields("l1", "radius"),
    "L2Ball": _fields("l2", "radius"),
    "LInfBall": _fields("linf", "radius"),
    "Box": _fields("box", "lower", "upper"),
    "Simplex": _fields("simplex", "dim", "radius"),
}

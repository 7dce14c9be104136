"""Does a gradient belong to its function?"""

from __future__ import annotations

from typing import Any

import numpy as np

from frankwolfe.backends import Array, eps, largest, namespace, vdot
from frankwolfe.objectives.base import Objective


def check_gradient(
    objective: Objective, x: Array, *, directions: int = 5, tol: float = 1e-5, random_state: int = 0
) -> float:
    """Compare the gradient with finite differences of the value along random directions.

    Parameters
    ----------
    objective : Objective
        The function to check.
    x : array
        Where to check it.
    directions : int, default 5
        How many random directions to try.
    tol : float, default 1e-5
        Largest relative error that is accepted (loosened for float32).
    random_state : int, default 0
        Seed of the directions.

    Returns
    -------
    float
        The largest relative error found.

    Raises
    ------
    ValueError
        If the error exceeds `tol`.

    Examples
    --------
    >>> import numpy as np
    >>> from frankwolfe import Function
    >>> check_gradient(Function(lambda x: x @ x, lambda x: 2 * x), np.ones(3)) < 1e-8
    True
    >>> check_gradient(Function(lambda x: x @ x, lambda x: x), np.ones(3))
    Traceback (most recent call last):
    ValueError: the gradient does not match the function at this x: ... relative error 0.5...
    """
    x = namespace(x).asarray(x) if hasattr(x, "dtype") and x.dtype.kind == "f" else np.asarray(x, dtype=np.float64)
    rng = np.random.default_rng(random_state)
    tol = max(tol, 200 * eps(x) ** 0.5)
    worst, shown = 0.0, (0.0, 0.0)
    g = objective.grad(x)
    for _ in range(directions):
        d = namespace(x).asarray(rng.standard_normal(tuple(x.shape)), dtype=x.dtype)
        error, shown_here = directional_error(objective, x, g, d)
        if not error <= worst:
            worst, shown = error, shown_here
    if not worst <= tol:
        raise ValueError(
            f"the gradient does not match the function at this x: along a random direction <grad, d> is {shown[0]:.6g} "
            f"and differences of f give {shown[1]:.6g}, a relative error {worst:.2g}"
        )
    return worst


def directional_error(objective: Objective, x: Array, g: Any, d: Array) -> tuple[float, tuple[float, float]]:
    """Return the relative error of <g, d> against a central difference, and the two numbers."""
    step = eps(x) ** (1 / 3) * max(1.0, float(largest(x))) / max(float(largest(d)), 1e-300)
    ahead, behind = float(objective.value(x + step * d)), float(objective.value(x - step * d))
    numeric = (ahead - behind) / (2 * step)
    exact = float(g.inner(d) if hasattr(g, "inner") else vdot(g, d))
    # The difference cannot be trusted beyond the rounding in f itself.
    rounding = eps(x) * (abs(ahead) + abs(behind)) / step
    return abs(exact - numeric) / (max(abs(exact), abs(numeric)) + 1e3 * rounding + 1e-300), (exact, numeric)

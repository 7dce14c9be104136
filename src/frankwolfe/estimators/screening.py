"""What a certificate tells of the best model itself: coefficients proven to be zero, and sets that are too small.

Let x be in the set, f(x) - f* <= gap, and let each row's loss have second derivatives of at most β. With u the slopes
of the rows' losses at x and u* those at a minimiser, convexity and the optimality of x* give

    f(x) - f* >= (1/2β) Σ share_i |u_i - u*_i|²,

and so |g_j - g*_j| = |Σ share_i a_ij (u_i - u*_i)| <= c_j sqrt(2β gap), where c_j is the root of the mean square of
feature j; of its spread where there is an intercept, as the slopes then sum to zero. On an l1 ball a coefficient can
be nonzero in a minimiser only where |g*_j| is as large as the largest. So j is zero in every minimiser where

    |g_j| + c_j sqrt(2β gap) < max_k (|g_k| - c_k sqrt(2β gap)).

On a simplex the same holds of -g, and on a ball of groups of the norms of g and c over the groups. The idea is that of
the gap-safe rules for penalties [1]_.

References
----------
.. [1] E. Ndiaye, O. Fercoq, A. Gramfort, J. Salmon, "Gap safe screening rules for sparsity enforcing penalties",
   JMLR 18, 2017.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from frankwolfe.backends import host
from frankwolfe.objectives import Multinomial
from frankwolfe.result import Result
from frankwolfe.sets import GroupBall, L1Ball, Set, Simplex

STRANGLED = 10.0  # how much more of the loss the same coefficients, scaled up, must explain to call a set too small
ROUNDING = 1e-10  # of the largest slope: far above what rounding does to any


def proven_zeros(objective: Any, domain: Set, result: Result) -> np.ndarray | None:
    """Return which entries of x are zero in every minimiser, as far as the certificate shows; None where it cannot."""
    beta = _bend(objective)
    norms = getattr(objective, "_column_norms", None) if getattr(objective, "holds_images", False) else None
    grouped = isinstance(domain, GroupBall) and (domain.s, domain.p) == (2, 1)
    if not (grouped or isinstance(domain, L1Ball | Simplex)) or norms is None or not math.isfinite(beta):
        return None
    g, c = np.asarray(host(objective.grad(result.x)), dtype=np.float64), np.asarray(host(norms), dtype=np.float64)
    if objective.intercept:
        mean = np.asarray(host(objective.data.adjoint(objective.share)), dtype=np.float64)
        mean = mean.reshape(-1, *[1] * (c.ndim - 1))
        c = np.sqrt(np.maximum(c**2 - mean**2, ROUNDING * c**2))
    delta = math.sqrt(2 * beta * max(float(result.gap), 0.0))
    if isinstance(domain, GroupBall):
        owner = np.unique(np.asarray(domain.groups).reshape(-1), return_inverse=True)[1]
        size, length = (np.sqrt(np.bincount(owner, (v**2).reshape(-1))) for v in (g, c))
        return _below(size, length, delta)[owner].reshape(g.shape)
    return _below(-g if isinstance(domain, Simplex) else np.abs(g), c, delta)


def _bend(objective: Any) -> float:
    """Return the largest second derivative of the loss of a row, infinity where there is no bound."""
    if isinstance(objective, Multinomial):
        return 0.5  # the largest eigenvalue of diag(p) - pp'
    loss = getattr(objective, "row_loss", None)
    return float(loss.bend(1.0)) if loss is not None and loss.bounded else math.inf


def _below(size: np.ndarray, c: np.ndarray, delta: float) -> np.ndarray:
    slack = c * delta + ROUNDING * np.abs(size).max()
    return size + slack < (size - slack).max()


def strangled(task: Any, x: np.ndarray) -> float | None:
    """Return a factor by which coefficients explain over ten times as much of the loss; None if there is none.

    That proves the set too small: f at the scaled coefficients is a value that a larger one would reach.
    """
    f = task.objective
    explained = task.null - float(f.value(f.start(x, dense=False)))
    if STRANGLED * explained >= task.null:
        return None
    best, factor = explained, 1.0
    for power in range(1, 60):
        value = task.null - float(f.value(f.start(2.0**power * x, dense=False)))
        if not value > best:
            break
        best, factor = value, 2.0**power
    return factor if best > STRANGLED * max(explained, task.floor) else None

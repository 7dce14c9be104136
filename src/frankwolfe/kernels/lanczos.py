"""Largest singular value of a large matrix, known by its products with vectors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np


class SingularPair(NamedTuple):
    """An approximate top singular triple; `error` estimates how far `sigma` lies below the true value."""

    sigma: float
    left: np.ndarray
    right: np.ndarray
    error: float
    matvecs: int
    steps: int


def top_singular(G: Any, accuracy: float, rng: np.random.Generator, max_basis: int | None = None) -> SingularPair:
    """Return sigma, left and right with left.T @ G @ right = sigma, by estimate within `accuracy` of the largest."""
    m, n = G.shape
    if m * n <= 65536:
        D = G if isinstance(G, np.ndarray) else G.toarray()
        U, s, Vt = np.linalg.svd(D, full_matrices=False)
        return SingularPair(float(s[0]), U[:, 0], Vt[0], 0.0, 0, 0)
    flip = m < n
    size = min(m, n)
    cap = min(size, max_basis or 400)
    V = np.empty((cap + 1, size))
    v = rng.standard_normal(size)
    V[0] = v / np.linalg.norm(v)
    alpha, beta = [], []
    matvecs = 0
    for j in range(cap):
        w = G @ (G.T @ V[j]) if flip else G.T @ (G @ V[j])
        matvecs += 2
        a = float(V[j] @ w)
        alpha.append(a)
        w = w - a * V[j] - (beta[-1] * V[j - 1] if j else 0.0)
        w -= (V[: j + 1] @ w) @ V[: j + 1]
        b = float(np.linalg.norm(w))
        if (j + 1) % 4 == 0 or j == cap - 1 or b == 0:
            T = np.diag(alpha) + np.diag(beta, 1) + np.diag(beta, -1)
            theta, S = np.linalg.eigh(T)
            r = b * abs(S[-1, -1])
            if r / math.sqrt(theta[-1]) <= accuracy or j == cap - 1 or b == 0:
                break
        beta.append(b)
        V[j + 1] = w / b
    y = S[:, -1] @ V[: j + 1]
    z = G.T @ y if flip else G @ y
    sigma = float(np.linalg.norm(z))
    z = z / sigma
    return SingularPair(sigma, y if flip else z, z if flip else y, r / sigma, matvecs + 1, j + 1)

"""The nearest point that satisfies linear constraints."""

from __future__ import annotations

import numpy as np

_ZERO = 1e-12  # of what was subtracted: below is rounding


class NearestPoint:
    """Projection onto the points with A x <= b and C x = d, by nonnegative least squares.

    Equations are solved first: x = p + Nw with N orthonormal, which keeps distances. What is left is to find the
    shortest u with Gu >= h, and with y >= 0 that brings (G, h)'y nearest to (0, 1), and r what it misses by, that is
    -r_1/r_2 [1]_. Few inequalities bind as a rule: only those that the point would break take part, until none is.

    References
    ----------
    .. [1] C. L. Lawson, R. J. Hanson, "Solving least squares problems", chapter 23, 1974.
    """

    def __init__(self, A: np.ndarray, b: np.ndarray, C: np.ndarray, d: np.ndarray) -> None:
        n = A.shape[1]
        self.point, self.basis = np.zeros(n), np.eye(n)
        if len(d):
            u, s, vt = np.linalg.svd(C)
            rank = int(np.sum(s > max(C.shape) * np.finfo(float).eps * s[0]))
            self.basis = vt[rank:].T
            self.point = vt[:rank].T @ ((u.T @ d)[:rank] / s[:rank])
        rows = A @ self.basis
        size = np.linalg.norm(rows, axis=1)
        some = size > _ZERO * np.linalg.norm(A, axis=1)  # the others say something of the equations alone
        self.rows, self.bounds = rows[some] / size[some, None], (b - A @ self.point)[some] / size[some]

    def __call__(self, z: np.ndarray) -> np.ndarray:
        w = self.basis.T @ (z - self.point)
        start, part = w, np.zeros(len(self.bounds), bool)
        while True:
            excess = self.rows @ w - self.bounds
            broken = (excess > _ZERO * (np.abs(self.bounds) + float(np.linalg.norm(w)))) & ~part
            if not broken.any():
                return self.point + self.basis @ w
            part |= broken
            rows, bounds = self.rows[part], self.bounds[part]
            u, binding = _shortest(-rows, rows @ start - bounds)
            w = start + u
            for _ in range(2):  # from afar rounding leaves the bounds behind: back to those that bind
                w = w - np.linalg.lstsq(rows[binding], rows[binding] @ w - bounds[binding])[0]


def _shortest(G: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shortest u with Gu >= h, and which inequalities bind."""
    from scipy.optimize import nnls

    scale = float(np.abs(h).max())
    E = np.vstack([G.T, h / scale])
    goal = np.append(np.zeros(G.shape[1]), 1.0)
    y, _ = nnls(E, goal, maxiter=30 * len(h))
    r = E @ y
    r[-1] -= 1.0
    return -scale * r[:-1] / r[-1], y > 0

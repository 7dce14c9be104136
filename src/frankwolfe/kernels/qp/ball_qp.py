"""Quadratic programs on the l2 ball, by Cholesky factors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

DROP = 1e-2  # of the multiplier at once, where it is too large; the square of it the next time, and so on


class InBall(NamedTuple):
    """A point of the ball, and the multiplier that it was found with."""

    z: np.ndarray
    multiplier: float


def ball_qp(
    H: np.ndarray,
    b: np.ndarray,
    radius: float,
    guess: float = 0.0,
    start: np.ndarray | None = None,
    tol: float = 0.0,
    share: float = 0.0,
) -> InBall:
    """Return the z with |z| <= radius that minimises b'z + z'Hz/2, for H positive semidefinite.

    Parameters
    ----------
    H : array of shape (d, d)
        Symmetric positive semidefinite.
    b : array of shape (d,)
        Linear term.
    radius : float
        Of the ball.
    guess : float, default 0
        Of the multiplier: the closer, the fewer factors.
    start : array of shape (d,), optional
        Where the objective is compared with.
    tol, share : float, default 0
        Stop when the Frank-Wolfe gap is at most `tol`, or this share of what is gained since the start.

    Notes
    -----
    Newton's method on 1/|z(λ)|, where (H + λ)z(λ) = -b, each step by a Cholesky factor: from below monotone and
    quadratic, from above one step leads below [J. J. More and D. C. Sorensen, 1983]. There the slope of the objective
    is -λz, so that its gap is known without another product.

    Examples
    --------
    >>> ball_qp(np.eye(2), np.array([-3.0, 0.0]), 1.0).z + 0.0
    array([1., 0.])
    """
    from scipy.linalg import lapack

    # Neither the curvature nor, where there is none, the slope notices a shift of this size.
    least = max(1e-14 * max(float(H.diagonal().max()), float(b @ b) ** 0.5 / radius), 1e-300)
    before = 0.0 if start is None else float((b + 0.5 * (H @ start)) @ start)
    shift, low, high, drop = max(guess, least), 0.0, np.inf, DROP  # too small up to low, too large from high on
    z, scale = np.zeros_like(b), 1.0
    for _ in range(100):
        shifted = H.copy()
        shifted.flat[:: b.size + 1] += shift
        factor, failed = lapack.dpotrf(shifted.T, lower=1, overwrite_a=1)  # pyright: ignore[reportAttributeAccessIssue]
        if failed:  # rounding, or a model that is not quite convex
            low, shift = shift, (shift * high) ** 0.5 if high < np.inf else 10 * shift
            continue
        z = -lapack.dpotrs(factor, b, lower=1)[0]  # pyright: ignore[reportAttributeAccessIssue]
        length, scale = float(z @ z) ** 0.5, 1.0
        if length <= radius and (shift <= least or not length > 0):
            break
        scales = [radius / length] if length > radius else [1.0, radius / length]
        gap, scale = min((_gap(b, z, shift, radius, scale), scale) for scale in scales)
        along = scale * float(b @ z)
        gained = before - along + 0.5 * scale * (along + scale * shift * length**2)
        if gap <= max(tol, share * gained):
            break
        bend = lapack.dtrtrs(factor, z / length, lower=1)[0]  # pyright: ignore[reportAttributeAccessIssue]
        steepness = float(bend @ bend)
        moved = shift + (length / radius - 1) / steepness if steepness > 0 else least
        if length < radius:
            high, moved, drop = shift, max(moved, drop * shift, least), drop**2
        moved = moved if moved > low else (max(low, least) * shift) ** 0.5
        if not abs(moved - shift) > 1e-14 * shift:
            break
        shift = moved
    return InBall(scale * z, shift)


def _gap(b: np.ndarray, z: np.ndarray, shift: float, radius: float, scale: float) -> float:
    """Return the Frank-Wolfe gap at `scale` times z, where the slope at z is -shift z."""
    slope = (1 - scale) * b - (scale * shift) * z
    return scale * float(slope @ z) + radius * float(slope @ slope) ** 0.5

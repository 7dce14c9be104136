"""Other ways to complete a matrix, step by step: each yields its certified gap, one a step.

python -m benchmarks.completion runs them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from scipy.sparse.linalg import svds

import frankwolfe as fw
from frankwolfe.problem import Problem

RADIUS = 2.5
Peer = Iterator[float]


def certified(f: fw.MatrixCompletion, slope: np.ndarray, inner: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the Frank-Wolfe gap and the top singular vectors of a gradient, by ARPACK."""
    u, s, vt = svds(f.dual(slope).tocsr(), k=1, v0=np.ones(min(f.pattern.shape)))
    return inner + RADIUS * float(s[0]), u[:, 0], vt[0]


def copt_style(f: fw.MatrixCompletion) -> Peer:
    """Frank-Wolfe as copt does it: a dense iterate, the vertex from `svds`, its backtracking on the smoothness.

    A plain rewriting (copt itself does not install here), with a sparse gradient, which is kind to it.
    """
    rows, cols, X = f.pattern.rows, f.pattern.cols, np.zeros(f.pattern.shape)
    L, before = 1.0, None
    while True:
        slope = X[rows, cols] - f.values
        value = 0.5 * float(slope @ slope)
        gap, u, v = certified(f, slope, float(slope @ X[rows, cols]))
        yield gap
        direction = -RADIUS * np.outer(u, v) - X
        along = direction[rows, cols]
        drop, norm2 = -float(slope @ along), float(np.sum(direction * direction))
        if before is not None and before > value:
            L = max(min(drop**2 / (2 * (before - value) * norm2), L), 0.9 * L)
        while True:
            t = min(drop / (norm2 * L), 1.0)
            ahead = slope + t * along
            if 0.5 * float(ahead @ ahead) <= value - t * drop + 0.5 * t * t * L * norm2 + 1e-15:
                break
            L *= 2.0
        X, before = X + t * direction, value


def projected_agm(f: fw.MatrixCompletion) -> Peer:
    """Nesterov's method with the projection by a full SVD, restarted when the value rises."""
    rows, cols, X = f.pattern.rows, f.pattern.cols, np.zeros(f.pattern.shape)
    Y, t, before = X, 1.0, np.inf
    while True:
        slope = Y[rows, cols] - f.values
        step = Y.copy()
        step[rows, cols] -= slope
        U, s, Vt = np.linalg.svd(step, full_matrices=False)
        old, X = X, (U * _on_l1(s)) @ Vt
        inside = X[rows, cols]
        slope = inside - f.values
        value = 0.5 * float(slope @ slope)
        yield certified(f, slope, float(slope @ inside))[0]
        t = 1.0 if value > before else t
        after = (1 + (1 + 4 * t * t) ** 0.5) / 2
        Y, t, before = X + (t - 1) / after * (X - old), after, value


def _on_l1(s: np.ndarray) -> np.ndarray:
    over = (np.cumsum(s) - RADIUS) / np.arange(1, s.size + 1)
    return np.maximum(s - max(0.0, over[np.flatnonzero(s > over)[-1]]), 0.0)


def own_fw(f: fw.MatrixCompletion) -> Peer:
    """Our own plain Frank-Wolfe, step by step: every Frank-Wolfe gap counts as certified, which is kind to it."""
    gaps: list[float] = []
    problem, method = Problem(f, fw.NuclearBall(RADIUS)), fw.FrankWolfe()
    state = method.init(problem, problem.start(None, dense=False))
    while True:
        state, evidence = method.step(problem, state)
        (tangent, vertex), (value, _) = evidence.minorants[0], evidence.seen[0]
        assert vertex is not None
        gaps.append(float(value - tangent.bound(vertex.value, 0.0)))
        yield gaps[-1]


def timed(peer: Peer, goal: float, limit: float) -> list[tuple[float, float]]:
    """Return CPU seconds and the best gap after each step, until the goal or the limit of seconds."""
    curve, began = [(0.0, np.inf)], time.process_time()
    for gap in peer:
        curve.append((time.process_time() - began, min(gap, curve[-1][1])))
        if curve[-1][1] <= goal or curve[-1][0] > limit:
            break
    return curve[1:]

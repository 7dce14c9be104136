"""The optimal value, from a solve whose accuracy is proven: f* lies between `lower_bound` and `fun`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import monotonic
from typing import Any

import numpy as np

import frankwolfe as fw
from frankwolfe.experiments.problems import Ball, Data, objective
from frankwolfe.experiments.runs import THREADS, problem_name
from frankwolfe.experiments.store import Outcome, Store

GOAL = 1e-11
"""The certified gap to reach; the solve stops earlier where rounding does not allow more."""

OUTER = 60
INNER = 5_000
NUCLEAR_STEPS = 200
NUCLEAR_GOAL = 2e-11
LOOSER = (1e-8, 1e-6)
"""Goals for problems whose errors stay far above, where a tight solve would be most of the work."""


@dataclass(frozen=True)
class Reference:
    """A certified solve of one problem, by a method that none of the curves uses where the data allow it."""

    data: Data
    ball: Ball
    goal: float = 0.0  # certified gap to reach; by default as small as the kind of problem allows

    @property
    def name(self) -> str:
        return f"{problem_name(self.data, self.ball)}-optimum"

    @property
    def settings(self) -> dict[str, Any]:
        limits = [NUCLEAR_GOAL, NUCLEAR_STEPS] if self.ball.kind == "nuclear" else [GOAL, OUTER, INNER]
        return {"task": "reference", **asdict(self), "limits": limits}

    def compute(self, store: Store, directory: str | None) -> Outcome:
        from threadpoolctl import threadpool_limits

        f = objective(self.data, directory)
        domain = self.ball.build(f.shape)
        began = monotonic()
        with threadpool_limits(limits=THREADS):
            if isinstance(domain, fw.NuclearBall):
                return _matrix(f, domain, self.goal or NUCLEAR_GOAL, began)
            x, steps = newton(f, domain)
            proof = certified(f, domain, x)
            facts = {
                "solver": "projected Newton: quadratic models over the set, exact line search",
                "steps": steps,
                "fun": proof.fun,
                "lower_bound": proof.lower_bound,
                "gap": proof.gap,
                **geometry(f, self.ball, x),
                "time": monotonic() - began,
            }
        return Outcome(facts, {"x": x})


def certified(f: Any, domain: fw.Set, x: np.ndarray) -> fw.Result:
    """Return x with the bound that its own tangent proves; nothing about how x was found is trusted."""
    return fw.minimize(f, domain, x0=x, method="fw", max_iter=1, tol=0, progress=False)


def newton(f: fw.Logistic, domain: fw.Set) -> tuple[np.ndarray, int]:
    """Minimise a logistic loss with few features over a set, to all the accuracy that rounding allows.

    Notes
    -----
    Each step minimises the second-order model over the set itself, so that the constraint is exact, and then searches
    the segment. Where the Hessian is small (d up to a thousand or so) this takes a dozen reads of the data however
    badly conditioned the problem is, which first-order methods would feel.
    """
    x = np.zeros(f.shape)
    best, best_gap, stalled = x, np.inf, 0
    for step in range(OUTER):
        g = f.grad(x)
        gap = float(g @ x) + float(domain.support(-g))
        if gap < best_gap:
            stalled = stalled if gap > 0.9 * best_gap else 0
            best, best_gap = x, gap
        stalled += 1
        if best_gap <= GOAL or stalled > 6:
            return best, step
        target = _model_minimiser(hessian(f, x), g, x, domain, gap)
        gamma = _line_search(f, x, target)
        x = (1 - gamma) * x + gamma * target
    return best, OUTER


def hessian(f: fw.Logistic, x: np.ndarray) -> np.ndarray:
    """Return the second derivative of the loss, by blocks of rows made dense."""
    A = f.data.matrix
    weight = f.loss_curvature(A @ x)
    d = A.shape[1]
    H = np.zeros((d, d))
    rows = max(1, 2**22 // max(d, 1))
    for i in range(0, A.shape[0], rows):
        block = A[i : i + rows]
        block = block if isinstance(block, np.ndarray) else block.toarray()
        H += block.T @ (weight[i : i + rows, None] * block)
    return 0.5 * (H + H.T)


def _model_minimiser(H: np.ndarray, g: np.ndarray, x: np.ndarray, domain: fw.Set, gap: float) -> np.ndarray:
    """Return the minimiser of g'(u - x) + (u - x)'H(u - x)/2 over the set."""
    c = g - H @ x
    if isinstance(domain, fw.L2Ball):
        return ball_quadratic(H, c, domain.radius)
    projectable = isinstance(domain, fw.ProjectableSet)
    method = fw.AcceleratedProjectedGradient(restart=True) if projectable else fw.AcceleratedFrankWolfe()
    model = fw.Quadratic(H, c)
    # An inexact model is enough: a hundredth of the gap still open.
    inner = fw.minimize(model, domain, x0=x, method=method, tol=max(0.01 * gap, 1e-15), max_iter=INNER, progress=False)
    u = np.asarray(inner.x)
    if isinstance(domain, fw.L1Ball):
        polished = _on_face(H, c, u, domain.radius)
        if model.value(polished) < model.value(u):
            u = polished
    return u


def _on_face(H: np.ndarray, c: np.ndarray, u: np.ndarray, radius: float) -> np.ndarray:
    """Return the minimiser of a quadratic over the face of the l1 ball that u lies on, as far as signs allow."""
    support = np.flatnonzero(np.abs(u) > 1e-7 * radius)
    signs = np.sign(u[support])
    if np.abs(u).sum() < (1 - 1e-9) * radius or not support.size:
        return u
    m = support.size
    system = np.zeros((m + 1, m + 1))
    system[:m, :m] = H[np.ix_(support, support)]
    system[:m, m] = system[m, :m] = signs
    goal = np.linalg.lstsq(system, np.append(-c[support], radius), rcond=None)[0][:m]
    step = goal - u[support]
    crossing = signs * goal < 0
    reach = np.min(-u[support][crossing] / step[crossing], initial=1.0)
    out = np.zeros_like(u)
    out[support] = u[support] + reach * step
    return out * min(1.0, radius / np.abs(out).sum())


def ball_quadratic(H: np.ndarray, c: np.ndarray, radius: float) -> np.ndarray:
    """Minimise u'Hu/2 + c'u over |u| <= radius, by eigenvalues and one multiplier.

    Examples
    --------
    >>> ball_quadratic(np.eye(2), np.array([-3.0, -4.0]), 1.0).round(12)
    array([0.6, 0.8])
    """
    eigenvalues, Q = np.linalg.eigh(H)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    q = Q.T @ c

    def excess(shift: float) -> float:
        return float(np.linalg.norm(q / (eigenvalues + shift))) - radius

    tiny = 1e-16 * max(float(eigenvalues[-1]), 1e-300)
    if excess(tiny) <= 0:
        return -Q @ (q / (eigenvalues + tiny))
    low, high = tiny, max(float(np.linalg.norm(c)) / radius, 2 * tiny)
    for _ in range(200):
        middle = (low * high) ** 0.5
        if excess(middle) > 0:
            low = middle
        else:
            high = middle
        if high <= low * (1 + 4e-16):
            break
    u = -Q @ (q / (eigenvalues + high))
    return u * min(1.0, radius / float(np.linalg.norm(u)))


def _line_search(f: fw.Logistic, x: np.ndarray, target: np.ndarray) -> float:
    """Return the minimiser in [0, 1] of the loss between two points, by safeguarded Newton on the margins."""
    from frankwolfe.objectives.line_search import minimise_on_segment
    from frankwolfe.points import Point

    line, _ = f.line(Point.at(x), Point.at(target))
    return minimise_on_segment(line)[0]


def geometry(f: fw.Logistic, ball: Ball, x: np.ndarray) -> dict[str, Any]:
    """Return what decides how fast Frank-Wolfe methods are: the gradient at the optimum, and the curvature μ.

    μ = R λmax(P∇²f P)/|∇f|, with P the projector on the tangent plane of the l2 ball; None for other sets and where the
    constraint is not active.
    """
    g = f.grad(x)
    norm = float(np.linalg.norm(g))
    facts = {
        "norm": float(np.linalg.norm(x, 1 if ball.kind == "l1" else 2)),
        "nonzeros": int(np.count_nonzero(np.abs(x) > 1e-8 * max(float(np.max(np.abs(x))), 1e-300))),
        "gradient": norm,
        "mu": None,
    }
    if ball.kind == "l2" and facts["norm"] > (1 - 1e-9) * ball.radius and norm > 0:
        unit = x / np.linalg.norm(x)
        H = hessian(f, x)
        H = H - np.outer(unit, unit @ H)
        H = H - np.outer(H @ unit, unit)
        facts["mu"] = ball.radius * float(np.linalg.eigvalsh(0.5 * (H + H.T))[-1]) / norm
    return facts


def _matrix(f: fw.MatrixCompletion, domain: fw.NuclearBall, goal: float, began: float) -> Outcome:
    x, steps = projected_steps(f, domain, goal)
    proof = certified(f, domain, x)
    sigma = np.linalg.svd(x, compute_uv=False)
    facts = {
        "solver": "accelerated projected gradient with restarts, by eigenvalues of the Gram matrix",
        "steps": steps,
        "fun": proof.fun,
        "lower_bound": proof.lower_bound,
        "gap": proof.gap,
        "norm": float(sigma.sum()),
        "nonzeros": int(np.count_nonzero(sigma > 1e-6)),
        "gradient": float(np.linalg.norm(f.grad(x).values)),
        "mu": None,
        "time": monotonic() - began,
    }
    return Outcome(facts, {"sigma": sigma})


def projected_steps(f: fw.MatrixCompletion, domain: fw.NuclearBall, goal: float) -> tuple[np.ndarray, int]:
    """Minimise over the nuclear-norm ball with one projection a step (Beck and Teboulle's form), restarted.

    Notes
    -----
    L = 1. Momentum is dropped whenever it points uphill. Every few steps the Frank-Wolfe gap tells whether to stop.
    """
    rows, cols = f.pattern.rows, f.pattern.cols
    x = y = np.zeros(f.shape)
    t = 1.0
    for step in range(1, NUCLEAR_STEPS + 1):
        target = y.copy()
        target[rows, cols] -= f.grad(y).values
        x_next = domain.project(target)
        if float(np.vdot(y - x_next, x_next - x)) > 0:
            t, y = 1.0, x_next
        else:
            t_next = 0.5 * (1 + (1 + 4 * t * t) ** 0.5)
            y = x_next + (t - 1) / t_next * (x_next - x)
            t = t_next
        x = x_next
        if step % 5 == 0:
            g = f.grad(x)
            if float(g.values @ x[rows, cols]) + float(domain.support(-g)) <= goal:
                return x, step
    return x, NUCLEAR_STEPS

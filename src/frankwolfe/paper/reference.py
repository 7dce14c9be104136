"""The optimal value, from a solve whose accuracy is known: f* lies between `lower_bound` and `fun`, and within `gap`.

`gap` is the Frank-Wolfe gap at the last point as computed; `proven` is what remains when rounding is allowed for.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np

import frankwolfe as fw
from frankwolfe.paper.problems import Ball, Data, objective
from frankwolfe.paper.runs import THREADS, problem_name
from frankwolfe.paper.store import Outcome, Store, Task

GOAL = 1e-11
"""The certified gap to reach; the solve stops earlier where rounding does not allow more."""

NEGLIGIBLE = 1e-7
"""A constraint whose worth is below this does not count as active: nothing drawn here could show it."""

UNSOLVED = 1e-5
"""A reference solve that ends above this has failed."""

OUTER = 40
INNER = 5_000
NUCLEAR_STEPS = 200
NUCLEAR_GOAL = 2e-11
LOOSER = (1e-8, 1e-6)
"""Goals for problems whose errors stay far above, where a tight solve would be most of the work."""


@dataclass(frozen=True)
class Reference(Task):
    """A certified solve of one problem, by a method that none of the curves uses where the data allow it."""

    data: Data
    ball: Ball
    goal: float = 0.0  # certified gap to reach; by default as small as the kind of problem allows

    @property
    def name(self) -> str:
        return f"{problem_name(self.data, self.ball)}-optimum"

    @property
    def constants(self) -> list[float]:
        return [NUCLEAR_GOAL, NUCLEAR_STEPS] if self.ball.kind == "nuclear" else [GOAL, OUTER, INNER]

    def compute(self, store: Store, directory: str | None) -> Outcome:
        f = objective(self.data, directory)
        domain = self.ball.build(f.shape)
        began = monotonic()
        if isinstance(domain, fw.NuclearBall):
            return _matrix(f, domain, self.goal or NUCLEAR_GOAL, began)
        x, steps = newton(f, domain, self.goal or GOAL)
        proof = certified(f, domain, x)
        facts = {
            "solver": "Newton over the set: quadratic models minimised over the ball, exact line search",
            "steps": steps,
            **_accuracy(proof, f.grad(x), x, domain),
            **geometry(f, self.ball, x),
            "time": monotonic() - began,
        }
        return Outcome(facts, {"x": x})


def _accuracy(proof: fw.Result, g: Any, x: np.ndarray, domain: fw.Set) -> dict[str, float]:
    """Return f*, the Frank-Wolfe gap as computed, and what is proven once every rounding error is allowed for."""
    inner = float(g @ x) if isinstance(g, np.ndarray) else float(g.values @ x[g.pattern.rows, g.pattern.cols])
    gap = max(inner + float(domain.support(-g)), 4 * float(np.spacing(abs(proof.fun))))
    if gap > UNSOLVED:
        raise RuntimeError(f"the reference solve stopped at a gap of {gap:.1e}")
    return {"fun": proof.fun, "lower_bound": proof.lower_bound, "gap": gap, "proven": proof.gap}


def certified(f: Any, domain: fw.Set, x: np.ndarray) -> fw.Result:
    """Return x with the bound that its own tangent proves; nothing about how x was found is trusted."""
    return fw.minimize(f, domain, x0=x, method="fw", max_iter=1, tol=0, progress=False)


def newton(f: fw.Logistic, domain: fw.Set, goal: float = GOAL) -> tuple[np.ndarray, int]:
    """Minimise a logistic loss with few features over a set, to all the accuracy that rounding allows.

    Notes
    -----
    On l1 balls this is the library's own second-order method. Elsewhere each step minimises the second-order model
    over the set itself, so that the constraint is exact, and then searches the segment. Where the Hessian is
    small (d up to a thousand or so) this takes a dozen reads of the data however badly conditioned the problem is.
    """
    if isinstance(domain, fw.L1Ball):
        result = fw.minimize(f, domain, method="newton", tol=goal, max_iter=OUTER, n_threads=THREADS, progress=False)
        return np.asarray(result.x), result.n_iter
    x = np.zeros(f.shape)
    best, best_gap, stalled = x, np.inf, 0
    for step in range(OUTER):
        g = f.grad(x)
        gap = float(g @ x) + float(domain.support(-g))
        if gap < best_gap:
            stalled = stalled if gap > 0.9 * best_gap else 0
            best, best_gap = x, gap
        stalled += 1
        if best_gap <= goal or stalled > 6:
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
    if isinstance(domain, fw.L2Ball):
        return ball_quadratic(H, g - H @ x, domain.radius)
    projectable = isinstance(domain, fw.ProjectableSet)
    method = fw.AcceleratedProjectedGradient(restart=True) if projectable else fw.AcceleratedFrankWolfe()
    # An inexact model is enough: a hundredth of the gap still open.
    tol = max(0.01 * gap, 1e-15)
    model = fw.Quadratic(H, g - H @ x)
    return np.asarray(fw.minimize(model, domain, x0=x, method=method, tol=tol, max_iter=INNER, progress=False).x)


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
    """Return what the hypotheses of the theorems ask about: the gradient at the optimum, its entries, the curvature μ.

    `boundary` tells whether x* lies on the sphere, `worth` is R|∇f(x*)|_* (what the constraint costs, to first order,
    if the radius shrinks to nothing), `active` whether both say that the constraint matters. `largest`, `margin` and
    `least` are of the moduli of the entries of ∇f(x*): the largest, how far the largest (of a k-support ball: the k-th)
    is ahead of the next, and the smallest. `smoothness` bounds L in the ball's norm. μ = R λmax(P∇²f P)/|∇f|, with P
    the projector on the tangent plane of the l2 ball; None for other sets and where the constraint is not active.
    """
    g = f.grad(x)
    norm = float(np.linalg.norm(g))
    domain = ball.build(f.shape)
    entries = np.sort(np.abs(g))[::-1]
    place = int(ball.option) if ball.kind == "ksupport" else 1
    boundary = not domain.contains((1 + 1e-6) * x)
    worth = float(domain.support(-g))
    facts = {
        "norm": float(np.linalg.norm(x, 1 if ball.kind == "l1" else 2)),
        "nonzeros": int(np.count_nonzero(np.abs(x) > 1e-8 * max(float(np.max(np.abs(x))), 1e-300))),
        "gradient": norm,
        "boundary": boundary,
        "worth": worth,
        "active": bool(boundary and worth > NEGLIGIBLE),
        "largest": float(entries[0]),
        "margin": float(entries[place - 1] - entries[place]) if entries.size > place else float(entries[-1]),
        "least": float(entries[-1]),
        "smoothness": smoothness(f, ball),
        "mu": None,
    }
    if ball.kind == "l2" and facts["active"]:
        unit = x / np.linalg.norm(x)
        H = hessian(f, x)
        H = H - np.outer(unit, unit @ H)
        H = H - np.outer(H @ unit, unit)
        facts["mu"] = ball.radius * float(np.linalg.eigvalsh(0.5 * (H + H.T))[-1]) / norm
    return facts


def smoothness(f: fw.Logistic, ball: Ball) -> float:
    """Return a bound on L in the ball's own norm and its dual.

    That norm is at least the l2 norm, which keeps L; only where p > 2 the l2 norm of d numbers can be d^(1/2 - 1/p)
    times the lp norm, once for the points and once, dually, for the gradients.
    """
    spread = 1 - 2 / ball.option if ball.kind == "lp" and ball.option > 2 else 0.0
    assert f.smoothness is not None
    return f.smoothness * f.shape[0] ** spread


def _matrix(f: fw.MatrixCompletion, domain: fw.NuclearBall, goal: float, began: float) -> Outcome:
    x, steps = projected_steps(f, domain, goal)
    proof = certified(f, domain, x)
    sigma = np.linalg.svd(x, compute_uv=False)
    facts = {
        "solver": "accelerated projected gradient with restarts, by eigenvalues of the Gram matrix",
        "steps": steps,
        **_accuracy(proof, f.grad(x), x, domain),
        "norm": float(sigma.sum()),
        "nonzeros": int(np.count_nonzero(sigma > 1e-6)),
        "gradient": float(np.linalg.norm(f.grad(x).values)),
        "boundary": bool(sigma.sum() > (1 - 1e-6) * domain.radius),
        "active": bool(sigma.sum() > (1 - 1e-6) * domain.radius),
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

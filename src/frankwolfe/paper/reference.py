"""The optimal value, from a solve whose accuracy is known: f* lies between `fun` - `gap` and `fun`.

`gap` is the smaller of two: the Frank-Wolfe gap at the last point as computed, and the solve's own, which allows for
rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import frankwolfe as fw
from frankwolfe.paper.problems import THREADS, Ball, Problem, objective
from frankwolfe.paper.store import Outcome, Task

GOAL = 1e-11
"""The certified gap to reach; the solve stops earlier where rounding does not allow more."""

LOOSER = {"mnist": 1e-8, "movielens100k": 1e-9}
"""Goals for data whose errors stay far above, where a tight solve would be most of the work."""

NEGLIGIBLE = 1e-7
"""A constraint whose worth is below this does not count as active: nothing drawn here could show it."""

UNSOLVED = 1e-5
"""A reference solve that ends above this has failed."""

STEPS = 20_000


@dataclass(frozen=True)
class Reference(Task, Problem):
    """A certified solve of one problem."""

    @property
    def goal(self) -> float:
        """The certified gap to reach."""
        return LOOSER.get(self.data.name, GOAL)

    @property
    def constants(self) -> list[float]:
        return [self.goal, STEPS]

    def compute(self, directory: str | None) -> Outcome:
        f = objective(self.data, directory)
        domain = self.ball.build(f.shape)
        result = solve(f, domain, self.goal)
        facts = spectrum(f, result.x, self.ball) if self.ball.kind == "nuclear" else geometry(f, self.ball, result.x)
        gap = max(min(facts.pop("gap", np.inf), result.gap), 4 * float(np.spacing(abs(result.fun))))
        if gap > UNSOLVED:
            raise RuntimeError(f"{self.name}: the reference solve stopped at a gap of {gap:.1e}")
        return Outcome(facts | {"fun": result.fun, "gap": gap})


def solve(f: Any, domain: fw.Set, goal: float = GOAL) -> fw.Result:
    """Minimise as far as is asked for or as rounding allows, by the method that the library chooses."""
    return fw.minimize(f, domain, tol=goal, max_iter=STEPS, n_threads=THREADS, progress=False)


def geometry(f: fw.Logistic, ball: Ball, x: np.ndarray) -> dict[str, Any]:
    """Return what the hypotheses of the theorems ask about: the gradient at the optimum, its entries, the curvature μ.

    `gap` is the Frank-Wolfe gap at x, `worth` is R|∇f(x*)|_* (what the constraint costs, to first order, if the radius
    shrinks to nothing), `active` whether x* lies on the sphere and that counts. `largest`, `margin` and `least` are of
    the moduli of the entries of ∇f(x*): the largest, how far it (of a k-support ball: the k-th) is ahead of the next,
    and the smallest. `smoothness` bounds L in the ball's norm.
    μ = R λmax(P∇²f P)/|∇f|, with P the projector on the tangent plane of the l2 ball; None for other sets and where the
    constraint is not active.
    """
    g = f.grad(x)
    norm = float(np.linalg.norm(g))
    domain = ball.build(f.shape)
    entries = np.sort(np.abs(g))[::-1]
    place = int(ball.option) if ball.kind == "ksupport" else 1
    boundary = not domain.contains((1 + 1e-6) * x)
    worth = float(domain.support(-g))
    facts = {
        "gap": float(g @ x) + worth,
        "nonzeros": int(np.count_nonzero(np.abs(x) > 1e-8 * max(float(np.max(np.abs(x))), 1e-300))),
        "gradient": norm,
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
        H = f.data.gram(f.loss_curvature(f.data.matrix @ x))
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


def spectrum(f: fw.MatrixCompletion, x: Any, ball: Ball) -> dict[str, Any]:
    """Return the same of a matrix, as far as it is asked: rank, gradient, and whether the ball is active."""
    sigma = x.singular_values()
    return {
        "nonzeros": int(np.count_nonzero(sigma > 1e-6)),
        "active": bool(sigma.sum() > (1 - 1e-6) * ball.radius),
        "gradient": float(np.linalg.norm(f.grad(x).values)),
        "mu": None,
    }

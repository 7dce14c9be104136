"""Small checks of what the paper proves or prints, each a few lines and a fraction of a second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import frankwolfe as fw
from frankwolfe.experiments.problems import Ball, Data, objective
from frankwolfe.experiments.rates import envelope, slope
from frankwolfe.experiments.reference import newton
from frankwolfe.experiments.store import Outcome, Store

STEPS = 400


@dataclass(frozen=True)
class Checks:
    """All the small checks, as one task with named facts."""

    name = "theory-checks"

    @property
    def settings(self) -> dict[str, Any]:
        return {"task": "checks", "steps": STEPS}

    def compute(self, store: Store, directory: str | None) -> Outcome:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1):
            return Outcome({**agm_bounds(), **strongly_convex_typo(), **sign_changes(), **simplex_rates()})


def agm_bounds() -> dict[str, float]:
    """Run the unconstrained Algorithm 2 and compare it with its bounds; also its estimate of f*.

    Ratios are measured over proven, so at most one where the theorem holds.
    """
    f = objective(Data("gaussian"))
    x_star, _ = newton(f, Ball("l2", 1000.0).build(f.shape))
    optimum = float(f.value(x_star))
    L = float(f.smoothness)
    B = float(f.value(np.zeros(f.shape))) - optimum + L * float(x_star @ x_star)
    x, v = np.zeros(f.shape), np.zeros(f.shape)
    error, gradient, distance, overshoot = 0.0, 0.0, 0.0, -np.inf
    for k in range(STEPS):
        delta = 2 / (k + 3)
        y = (1 - delta) * x + delta * v
        value, g = f.value_and_grad(y)
        error = max(error, (float(f.value(x)) - optimum) / (2 * B / ((k + 1) * (k + 2))))
        gradient = max(gradient, float(g @ g) / (16 * L * B / (k + 2) ** 2))
        distance = max(distance, float((v - x_star) @ (v - x_star)) / (B / L))
        x, v = y - g / L, v - (k + 2) / (2 * L) * g
        overshoot = max(overshoot, float(value) + float(g @ (v - y)) - optimum)
    return {"agm_error": error, "agm_gradient": gradient, "agm_distance": distance, "agm_overshoot": overshoot}


def strongly_convex_typo() -> dict[str, float]:
    """Run the strongly convex AGM as printed (z = y - y/μ) and as corrected (z = y - ∇f(y)/μ); return both errors."""
    rng = np.random.default_rng(0)
    spectrum, mu, L = np.geomspace(0.01, 1.0, 50), 0.01, 1.0
    target = rng.standard_normal(50) * 10
    delta = (mu / L) ** 0.5
    out = {}
    for name, printed in (("typo_printed", True), ("typo_corrected", False)):
        x = v = np.zeros(50)
        for _ in range(STEPS):
            y = (x + delta * v) / (1 + delta)
            g = spectrum * (y - target)
            z = y - (y if printed else g) / mu
            x, v = y - g / L, (1 - delta) * v + delta * z
        out[name] = float(0.5 * spectrum @ (x - target) ** 2)
    out["typo_start"] = float(0.5 * spectrum @ target**2)
    return out


def sign_changes() -> dict[str, float]:
    """Run AFW on f = x² over [-1, 1], where the averaged gradient changes sign and the vertex jumps across."""
    f = fw.Quadratic(np.array([[2.0]]))
    trace = fw.minimize(
        f, fw.LInfBall(1.0), x0=np.array([0.9]), method="afw", tol=0, max_iter=3000, progress=False
    ).trace
    fit = slope(trace.k, envelope(trace.fun), 100, 3000)
    jumps, last = 0, None
    method, problem_f, x, v, theta = fw.AcceleratedFrankWolfe(), f, 0.9, 0.9, 0.0
    for k in range(1000):
        delta = 2 / (k + method.offset)
        y = (1 - delta) * x + delta * v
        theta = (1 - delta) * theta + delta * float(problem_f.grad(np.array([y]))[0])
        v = -float(np.sign(theta)) if theta else v
        x = (1 - delta) * x + delta * v
        jumps, last = jumps + (last is not None and v != last), v
    return {"sign_slope": fit.value, "sign_jumps": jumps}


def simplex_rates() -> dict[str, float]:
    """Measure FW and AFW on |x|²/2 over the simplex while k is far below d, where no method can beat 1/k."""
    d = 2000
    f = fw.Quadratic(_identity(d))
    out = {}
    for method in ("fw", "afw"):
        start = np.eye(1, d)[0]
        trace = fw.minimize(f, fw.Simplex(d), x0=start, method=method, tol=0, max_iter=200, progress=False).trace
        fit = slope(trace.k, envelope(trace.fun - 0.5 / d), 20, 200)
        out[f"simplex_{method}"] = fit.value
    return out


def _identity(d: int) -> Any:
    from scipy.sparse import eye_array

    return eye_array(d, format="csc")

"""What the GPU code is compared with: two products per step in torch, torch's L-BFGS, scikit-learn on the CPU."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch


class TwoPass:
    """Accelerated Frank-Wolfe on an l2 ball as one would write it in torch: A v, then A' r."""

    def __init__(self, A: Any, b: Any, radius: float) -> None:
        self.A, self.b, self.radius = A, b, radius
        self.x, self.v, self.theta = (torch.zeros(A.shape[1], device=A.device) for _ in range(3))
        self.image = torch.zeros(A.shape[0], device=A.device)
        self.k = 0

    def step(self) -> None:
        """Take one step."""
        delta, before = 2 / (self.k + 3), 2 / (self.k + 2)
        product = self.A @ self.v
        self.image = (1 - before) * self.image + before * product
        y = (1 - delta) * self.image + delta * product
        r = -self.b * torch.sigmoid(-self.b * y) / self.A.shape[0]
        self.theta = (1 - delta) * self.theta + delta * (r @ self.A)
        self.v = -self.radius * self.theta / torch.linalg.vector_norm(self.theta)
        self.x = (1 - delta) * self.x + delta * self.v
        self.k += 1


def penalised(A: Any, b: Any, penalty: float, x: Any) -> Any:
    """Return mean logistic loss plus penalty/2 |x|²."""
    return torch.nn.functional.softplus(-b * (A @ x)).mean() + 0.5 * penalty * (x @ x)


def lbfgs(A: Any, b: Any, penalty: float, target: float) -> tuple[float, float]:
    """Return the seconds until torch's L-BFGS has f + penalty/2 |x|² at the target, and what it reached."""
    x = torch.zeros(A.shape[1], device=A.device, requires_grad=True)
    solver = torch.optim.LBFGS([x], max_iter=5, history_size=10, line_search_fn="strong_wolfe")

    def closure() -> Any:
        solver.zero_grad()
        value = penalised(A, b, penalty, x)
        value.backward()
        return value

    torch.cuda.synchronize()
    begin, value = perf_counter(), float("inf")
    for _ in range(60):
        solver.step(closure)
        with torch.no_grad():
            value = float(penalised(A, b, penalty, x))
        if value <= target:
            break
    return perf_counter() - begin, value


def scikit_learn(A: Any, b: Any, penalty: float) -> dict[str, float]:
    """Return the seconds of scikit-learn's solvers for the same penalised problem, on the CPU."""
    from sklearn.linear_model import LogisticRegression

    X, y = A.cpu().numpy(), b.cpu().numpy()
    times = {}
    for solver in ("lbfgs", "newton-cholesky"):
        model = LogisticRegression(C=1 / (penalty * len(y)), solver=solver, fit_intercept=False, tol=1e-6, max_iter=500)
        begin = perf_counter()
        model.fit(X, y)
        times[solver] = perf_counter() - begin
    return times

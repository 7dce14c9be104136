"""The formulas of all built-in objectives in the words of PyTorch and JAX, for automatic differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from tests.backends.arrays import library

import frankwolfe as fw

RNG = np.random.default_rng(5)
N, D, K = 30, 6, 3
A = RNG.standard_normal((N, D))
T = A @ RNG.standard_normal(D) + 0.7 * RNG.standard_normal(N) + 0.4
B = np.sign(T)
P = np.exp(0.3 * T)  # positive targets
C = RNG.standard_normal(D)
Q = A.T @ A / N
W = RNG.random(N) + 0.2
LABELS = np.argmax(A[:, :K] + RNG.standard_normal((N, K)), axis=1)
ROWS, COLS = np.nonzero(RNG.random((5, 4)) < 0.7)
VALUES = RNG.standard_normal(ROWS.size)
CONFIDENCE = RNG.random(ROWS.size) + 0.5


class Words:
    """What a formula needs of a library: its functions, arrays, a cut through the gradient, a repetition."""

    def __init__(self, backend: str) -> None:
        self.lib = library(backend)
        self.xp = self.lib.module.numpy if backend == "jax" else self.lib.module

    def softplus(self, t: Any) -> Any:
        if self.lib.name == "jax":
            return self.lib.module.nn.softplus(t)
        return self.xp.nn.functional.softplus(t, threshold=200)

    def logsumexp(self, t: Any) -> Any:
        return self.lib.module.scipy.special.logsumexp(t, 1) if self.lib.name == "jax" else self.xp.logsumexp(t, 1)

    def constant(self, t: Any) -> Any:
        return self.lib.module.lax.stop_gradient(t) if self.lib.name == "jax" else t.detach()

    def repeat(self, times: int, step: Callable[[Any], Any], start: Any) -> Any:
        if self.lib.name == "jax":
            return self.lib.module.lax.fori_loop(0, times, lambda _, c: step(c), start)
        for _ in range(times):
            start = step(start)
        return start


def linear(loss: str, weighted: bool, intercept: bool, ridge: float) -> Callable[[Words], Callable[[Any], Any]]:
    """Return the mean loss of a linear model; a free intercept is found by bisection on the slope, then held."""

    def build(words: Words) -> Callable[[Any], Any]:
        xp, array = words.xp, words.lib.array
        a, b, t = array(A), array(B), array(T)
        p = array(P)
        share = array(W / W.sum() if weighted else np.full(N, 1 / N))

        def pinball(r: Any) -> tuple[Any, Any]:
            u = words.constant(xp.clip(r / 0.5, -0.3, 0.7))  # the slope is that of the largest term
            return u * r - 0.25 * u**2, u

        losses, slope = {
            "logistic": (lambda m: words.softplus(-b * m), lambda m: -b / (1 + xp.exp(b * m))),
            "squares": (lambda m: 0.5 * (m - t) ** 2, lambda m: m - t),
            "huber": (
                lambda m: xp.where(xp.abs(m - t) <= 0.5, 0.5 * (m - t) ** 2, 0.5 * xp.abs(m - t) - 0.125),
                lambda m: xp.clip(m - t, -0.5, 0.5),
            ),
            "quantile": (lambda m: pinball(m - t)[0], lambda m: pinball(m - t)[1]),
            "poisson": (lambda m: xp.exp(m) - p * m + p * xp.log(p) - p, lambda m: xp.exp(m) - p),
            "gamma": (lambda m: p * xp.exp(-m) + m - xp.log(p) - 1, lambda m: 1 - p * xp.exp(-m)),
            "hinge": (
                lambda m: xp.clip(1 - b * m, 0.0, 1e9) ** 2 / 2,
                lambda m: -b * xp.clip(1 - b * m, 0.0, 1e9),
            ),
        }[loss]

        def f(x: Any) -> Any:
            m = a @ x
            if intercept:
                held = words.constant(m)

                def halve(ends: Any) -> Any:
                    middle = (ends[0] + ends[1]) / 2
                    low = xp.sum(share * slope(held + middle)) < 0
                    return xp.stack([xp.where(low, middle, ends[0]), xp.where(low, ends[1], middle)])

                m = m + xp.sum(words.repeat(60, halve, array([-30.0, 30.0]))) / 2
            return xp.sum(share * losses(m)) + ridge / 2 * xp.sum(x * x)

        return f

    return build


def softmax(weighted: bool, intercept: bool, ridge: float) -> Callable[[Words], Callable[[Any], Any]]:
    """Return the mean softmax loss; free intercepts are found by iterative scaling, then held."""

    def build(words: Words) -> Callable[[Any], Any]:
        xp, array = words.xp, words.lib.array
        a, truth = array(A), array(np.eye(K)[LABELS])
        share = array(W / W.sum() if weighted else np.full(N, 1 / N))
        wanted = share @ truth

        def f(X: Any) -> Any:
            scores = a @ X
            if intercept:
                held = words.constant(scores)

                def scale(c: Any) -> Any:
                    logs = held + c
                    return c + xp.log(wanted / (share @ xp.exp(logs - words.logsumexp(logs)[:, None])))

                scores = scores + words.repeat(400, scale, array(np.zeros(K)))
            return xp.sum(share * (words.logsumexp(scores) - xp.sum(truth * scores, 1))) + ridge / 2 * xp.sum(X * X)

        return f

    return build


def quadratic(words: Words) -> Callable[[Any], Any]:
    q, c = words.lib.array(Q), words.lib.array(C)
    return lambda x: x @ (q @ x) / 2 + c @ x + 3.0


def completion(weighted: bool) -> Callable[[Words], Callable[[Any], Any]]:
    def build(words: Words) -> Callable[[Any], Any]:
        values, weights = words.lib.array(VALUES), words.lib.array(CONFIDENCE if weighted else np.ones(ROWS.size))
        return lambda X: words.xp.sum(weights * (X[ROWS, COLS] - values) ** 2) / 2

    return build


def structural(words: Words) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        total = words.xp.sum(x.reshape((4, D + 1)), 0)
        return 0.25 * words.xp.sum(total[:-1] ** 2) - total[-1]

    return f


class Case(NamedTuple):
    """A formula, the built-in objective that it is, and the shape of the variable."""

    written: Callable[[Words], Callable[[Any], Any]]
    built: Callable[[], Any]
    shape: tuple[int, ...]


MODELS: dict[str, tuple[Any, np.ndarray, dict[str, Any]]] = {
    "logistic": (fw.Logistic, B, {}),
    "squares": (fw.LeastSquares, T, {}),
    "huber": (fw.Huber, T, {"delta": 0.5}),
    "quantile": (fw.Quantile, T, {"quantile": 0.3, "delta": 0.5}),
    "poisson": (fw.Poisson, P, {}),
    "gamma": (fw.Gamma, P, {}),
    "hinge": (fw.SquaredHinge, B, {}),
}


def _linear(loss: str, weighted: bool, intercept: bool, ridge: float) -> Case:
    kind, target, more = MODELS[loss]
    more = {**more, "sample_weight": W} if weighted else more
    build = linear(loss, weighted, intercept, ridge)
    return Case(build, lambda: kind(A, target, intercept=intercept, ridge=ridge, **more), (D,))


def _softmax(weighted: bool, intercept: bool, ridge: float) -> Case:
    more: dict[str, Any] = {"sample_weight": W} if weighted else {}
    build = softmax(weighted, intercept, ridge)
    return Case(build, lambda: fw.Multinomial(A, LABELS, intercept=intercept, ridge=ridge, **more), (D, K))


FORMS = [
    (weighted, intercept, ridge) for weighted in (False, True) for intercept in (False, True) for ridge in (0.0, 0.3)
]
CASES = {
    **{f"{loss}-{form}": _linear(loss, *form) for loss in MODELS for form in FORMS},
    **{f"multinomial-{form}": _softmax(*form) for form in FORMS},
    "quadratic": Case(quadratic, lambda: fw.Quadratic(Q, C, 3.0), (D,)),
    "completion": Case(completion(False), lambda: fw.MatrixCompletion(ROWS, COLS, VALUES, (5, 4)), (5, 4)),
    "weighted completion": Case(
        completion(True), lambda: fw.MatrixCompletion(ROWS, COLS, VALUES, (5, 4), weights=CONFIDENCE), (5, 4)
    ),
    "structural svm": Case(
        structural, lambda: fw.StructuralSVM(lambda i, w, c: (np.zeros(D), 0.0), 4, D, 0.5), (4 * (D + 1),)
    ),
}

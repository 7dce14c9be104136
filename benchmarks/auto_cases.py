"""The grid on which `method="auto"` is measured: problems from different families, small and large, by name.

Each entry makes (objective, set, x0) afresh, so that nothing a run has learnt about the data (its smoothness constant,
say) is free for the next one. Values are scaled so that f(x0) - f* is about one: a gap of 1e-4 means something.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse

import frankwolfe as fw
from frankwolfe.sets import Product

Made = tuple[Any, Any, Any]


def rng(*key: int) -> np.random.Generator:
    return np.random.default_rng([2024, *key])


@cache
def labelled(n: int, d: int, density: float, noise: float) -> tuple[Any, np.ndarray]:
    r = rng(n, d)
    truth = r.standard_normal(d) * (r.random(d) < max(10 / d, 0.1))
    if density < 1:
        A = scipy.sparse.random_array((n, d), density=density, rng=r, data_sampler=r.standard_normal, format="csr")
    else:
        A = r.standard_normal((n, d)) * np.geomspace(1, 0.1, d)
    z = A @ truth
    return A, np.sign(z + noise * np.std(z) * r.standard_normal(n))


def logistic(n: int, d: int, density: float = 1.0, noise: float = 0.5) -> Any:
    return fw.Logistic(*labelled(n, d, density, noise))


def squares(n: int, d: int, truth: np.ndarray | None = None, noise: float = 0.3, spread: float = 0.3) -> Any:
    r = rng(n, d, 1)
    if truth is None:
        truth = r.standard_normal(d) * (r.random(d) < max(10 / d, 0.05))
    A = r.standard_normal((n, d)) * np.geomspace(1, spread, d)
    b = A @ truth
    scale = np.sqrt(2.0) / np.std(b)
    return fw.LeastSquares(scale * A, scale * (b + noise * np.std(b) * r.standard_normal(n)))


@cache
def curvature(d: int, condition: float) -> np.ndarray:
    Q, _ = np.linalg.qr(rng(d, 2).standard_normal((d, d)))
    H = (Q * np.geomspace(1, condition, d)) @ Q.T
    return 0.5 * (H + H.T)


def quadratic(d: int, target: np.ndarray, condition: float = 30.0) -> Any:
    """A convex quadratic with its free minimum at `target`, of height one above zero there."""
    H = curvature(d, condition)
    H = 2 * H / (target @ H @ target)
    return fw.Quadratic(H, -H @ target)


def distance(shape: tuple[int, ...], target: np.ndarray, smooth: float = 1.0) -> Any:
    """A user's own function, known by value and gradient alone: pseudo-Huber distance to a target, times a blur."""
    scale = 2.0 / float(np.sum(target**2))

    def value(X: np.ndarray) -> float:
        D = X - target
        return scale * float(np.sum(np.sqrt(1 + D * D) - 1))

    def grad(X: np.ndarray) -> np.ndarray:
        D = X - target
        return scale * D / np.sqrt(1 + D * D)

    return fw.Function(value, grad, smoothness=scale * smooth)


def low_rank(m: int, n: int, rank: int, key: int = 0) -> np.ndarray:
    r = rng(m, n, rank, key)
    X = r.standard_normal((m, rank)) @ r.standard_normal((rank, n))
    return X / np.linalg.norm(X)


def completion(m: int, n: int, share: float, radius: float) -> Made:
    r = rng(m, n, 3)
    X = low_rank(m, n, 4)
    rows, cols = np.nonzero(r.random((m, n)) < share)
    values = X[rows, cols] + 0.2 / np.sqrt(m * n) * r.standard_normal(rows.size)
    values = np.sqrt(2.0) * values / np.linalg.norm(values)
    return fw.MatrixCompletion(rows, cols, values, (m, n)), fw.NuclearBall(radius), None


def matrix_function(m: int, n: int, domain: Any, size: float = 1.0, rank: int = 3, symmetric: bool = False) -> Made:
    """A function of a matrix: squared error of products with a tall random matrix."""
    r = rng(m, n, 4)
    X = low_rank(m, n, rank)
    if symmetric:
        X = low_rank(n, n, rank)
        X = X @ X.T
        X /= np.trace(X)
    B = r.standard_normal((n, 2 * n)) / np.sqrt(2 * n)
    Y = size * X @ B + 0.01 * r.standard_normal((m, 2 * n))
    scale = 2.0 / float(np.sum(Y**2))
    L = scale * float(np.linalg.norm(B, 2) ** 2)
    f = fw.Function(
        lambda Z: 0.5 * scale * float(np.sum((Z @ B - Y) ** 2)), lambda Z: scale * (Z @ B - Y) @ B.T, smoothness=L
    )
    x0 = np.eye(n) / n if symmetric else np.zeros((m, n))
    return f, domain, x0


def image(n: int) -> np.ndarray:
    i, j = np.mgrid[:n, :n] / n
    X = 1.0 * ((i - 0.4) ** 2 + (j - 0.5) ** 2 < 0.08) + 0.5 * (j > 0.7)
    X = X + 0.2 * rng(n, 5).standard_normal((n, n))
    return X - X.mean()


def denoising(shape: tuple[int, ...], radius: float) -> Made:
    Y = (
        image(shape[0])
        if len(shape) == 2
        else np.cumsum(rng(*shape).standard_normal(shape) * (rng(*shape, 1).random(shape) < 0.02))
    )
    Y = Y + 0.1 * np.std(Y) * rng(*shape, 2).standard_normal(shape)
    Y = np.sqrt(2.0) * (Y - Y.mean()) / np.linalg.norm(Y - Y.mean())
    f = fw.Function(lambda x: 0.5 * float(np.sum((x - Y) ** 2)), lambda x: x - Y, smoothness=1.0)
    return f, fw.TotalVariationBall(radius), np.zeros(shape)


def svm(n: int, d: int, classes: int) -> Made:
    r = rng(n, d, classes)
    X = r.standard_normal((n, d)) / np.sqrt(d)
    W = r.standard_normal((classes, d))
    y = np.argmax(X @ W.T + 0.3 * r.standard_normal((n, classes)), axis=1)

    def decode(i: int, w: np.ndarray, c: float) -> tuple[np.ndarray, float]:
        scores = (np.reshape(w, (classes, d)) @ X[i]) + c * (np.arange(classes) != y[i])
        k = int(np.argmax(scores))
        psi = np.zeros((classes, d))
        psi[y[i]] += X[i]
        psi[k] -= X[i]
        return psi.ravel(), float(k != y[i])

    f = fw.StructuralSVM(decode, n, classes * d, lam=0.01)
    return f, f.domain, None


def grid_graph(n: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Roads of a city of n x n crossings, one way each."""
    across = [((i, j), (i, j + 1)) for i in range(n) for j in range(n - 1)]
    return across + [((i, j), (i + 1, j)) for i in range(n - 1) for j in range(n)]


def traffic(n: int) -> Made:
    edges = grid_graph(n)
    r = rng(n, 6)
    cost, crowding = 0.5 + r.random(len(edges)), 0.2 + r.random(len(edges))
    scale = 1.0 / n
    f = fw.Quadratic(scale * np.diag(2 * crowding), scale * cost)
    return f, fw.FlowPolytope(edges, (0, 0), (n - 1, n - 1)), None


def polytope(d: int, m: int, inside: bool) -> Made:
    r = rng(d, m, 7)
    A = np.abs(r.standard_normal((m, d)))
    domain = fw.Polytope(A, np.full(m, 0.5 * np.sqrt(m)), lower=0.0, upper=1.0)
    return quadratic(d, (0.01 if inside else 1.0) * np.abs(r.standard_normal(d))), domain, None


def sparse_target(d: int, k: int, size: float) -> np.ndarray:
    r = rng(d, k, 8)
    x = np.zeros(d)
    x[r.choice(d, k, replace=False)] = r.standard_normal(k)
    return size * x / np.linalg.norm(x)


def birkhoff(n: int) -> Made:
    r = rng(n, 9)
    truth = sum(w * np.eye(n)[r.permutation(n)] for w in r.dirichlet(np.ones(5)))
    Y = truth + 0.1 / n * r.standard_normal((n, n))
    f = fw.Function(lambda X: 0.5 * float(np.sum((X - Y) ** 2)), lambda X: X - Y, smoothness=1.0)
    return f, fw.Birkhoff(n), None


def groups(d: int, size: int) -> list[list[int]]:
    return [list(range(i, min(i + size, d))) for i in range(0, d, size)]


def product(n: int, d: int, parts: int) -> Made:
    f = squares(n, d * parts)
    sets = [fw.L1Ball(0.5) if i % 2 else fw.Simplex(d, 0.5) for i in range(parts)]
    return f, Product(*sets, shapes=[d] * parts), None


def unknown(f: Any, domain: Any, x0: Any) -> Made:
    """The same function, its smoothness constant kept secret."""
    return fw.Function(f.value, f.grad), domain, x0


def normal(d: int, *key: int) -> np.ndarray:
    return rng(d, *key).standard_normal(d)


CASES: dict[str, Callable[[], Made]] = {
    "logistic, l1, 2000x100": lambda: (logistic(2000, 100), fw.L1Ball(3.0), None),
    "logistic, l1, 3000x20000 sparse": lambda: (logistic(3000, 20000, 0.003), fw.L1Ball(30.0), None),
    "logistic, l2, 20000x50": lambda: (logistic(20000, 50), fw.L2Ball(2.0), None),
    "logistic, l2, 3000x20000 sparse": lambda: (logistic(3000, 20000, 0.003), fw.L2Ball(10.0), None),
    "logistic, l2 interior, 5000x100": lambda: (logistic(5000, 100, noise=2.0), fw.L2Ball(20.0), None),
    "logistic, l1.5, 5000x300": lambda: (logistic(5000, 300), fw.LpBall(2.0, p=1.5), None),
    "logistic, l3, 5000x300": lambda: (logistic(5000, 300), fw.LpBall(1.0, p=3), None),
    "logistic, k-support, 3000x500": lambda: (logistic(3000, 500), fw.KSupportBall(2.0, k=10), None),
    "squares, l1, 300x3000": lambda: (squares(300, 3000), fw.L1Ball(5.0), None),
    "squares, l1 interior, 2000x200": lambda: (squares(2000, 200), fw.L1Ball(60.0), None),
    "squares, simplex, 2000x1000": lambda: (
        squares(2000, 1000, rng(1).dirichlet(np.full(1000, 0.02))),
        fw.Simplex(1000),
        None,
    ),
    "squares, linf, 2000x200": lambda: (squares(2000, 200, normal(200)), fw.LInfBall(0.5), None),
    "squares, box interior, 5000x100": lambda: (squares(5000, 100, 0.3 * normal(100)), fw.Box(-2.0, 2.0), None),
    "squares, group, 1000x1000": lambda: (squares(1000, 1000), fw.GroupBall(3.0, groups=groups(1000, 10)), None),
    "squares, OWL, 1000x300": lambda: (squares(1000, 300), fw.OWLBall(2.0, weights=np.linspace(1, 0.1, 300)), None),
    "quadratic, l2, 1000": lambda: (quadratic(1000, normal(1000) / 30), fw.L2Ball(0.5), None),
    "quadratic, l3, 500": lambda: (quadratic(500, normal(500) / 20), fw.LpBall(0.3, p=3), None),
    "quadratic, ellipsoid, 300": lambda: (
        quadratic(300, normal(300) / 15),
        fw.Ellipsoid(np.zeros(300), np.linspace(0.1, 1, 300)),
        None,
    ),
    "quadratic, hypersimplex, 300": lambda: (quadratic(300, rng(300).random(300)), fw.Hypersimplex(300, k=30), None),
    "quadratic, permutahedron, 200": lambda: (
        quadratic(200, normal(200)),
        fw.Permutahedron(np.linspace(-1, 1, 200)),
        None,
    ),
    "quadratic, hull of 500 points, 50": lambda: (
        quadratic(50, normal(50) / 5),
        fw.ConvexHull(rng(50, 1).standard_normal((500, 50))),
        None,
    ),
    "quadratic, polytope, 60": lambda: polytope(60, 40, False),
    "quadratic, polytope interior, 40": lambda: polytope(40, 30, True),
    "quadratic, flow, 12x12 roads": lambda: traffic(12),
    "squares, product of 20, 1000x400": lambda: product(1000, 20, 20),
    "structural SVM, 150 examples": lambda: svm(150, 20, 4),
    "completion, nuclear, 300x200": lambda: completion(300, 200, 0.2, 1.0),
    "completion, nuclear, 1500x1000": lambda: completion(1500, 1000, 0.05, 2.0),
    "function, nuclear, 80x60": lambda: matrix_function(80, 60, fw.NuclearBall(1.0), 0.8),
    "function, spectral, 60x40": lambda: matrix_function(60, 40, fw.SpectralBall(0.1), rank=30),
    "function, schatten 1.5, 60x40": lambda: matrix_function(60, 40, fw.SchattenBall(0.7, p=1.5), rank=10),
    "function, spectrahedron, 50": lambda: matrix_function(50, 50, fw.Spectrahedron(1.0), symmetric=True),
    "function, total variation, 500": lambda: denoising((500,), 0.3),
    "function, total variation, 24x24": lambda: denoising((24, 24), 4.0),
    "function, Birkhoff, 20": lambda: birkhoff(20),
    "function, l2, 2000": lambda: (distance((2000,), normal(2000)), fw.L2Ball(20.0), np.zeros(2000)),
    "function, linf, 1000": lambda: (distance((1000,), 2 * normal(1000)), fw.LInfBall(1.0), np.zeros(1000)),
    "function, l1, 1000": lambda: (distance((1000,), sparse_target(1000, 30, 20.0)), fw.L1Ball(30.0), np.zeros(1000)),
    "function without constants, l1, 1000": lambda: unknown(
        distance((1000,), sparse_target(1000, 30, 20.0)), fw.L1Ball(30.0), np.zeros(1000)
    ),
    "function without constants, l2 interior, 500": lambda: unknown(
        distance((500,), normal(500)), fw.L2Ball(50.0), np.zeros(500)
    ),
    "function without constants, nuclear, 30x20": lambda: unknown(*matrix_function(30, 20, fw.NuclearBall(0.7))),
    "logistic, box, 20000x60": lambda: (logistic(20000, 60), fw.Box(-0.3, 0.3), None),
    "squares, l3 interior, 3000x200": lambda: (squares(3000, 200, 0.1 * normal(200)), fw.LpBall(3.0, p=3), None),
    "quadratic, ellipsoid interior, 300": lambda: (
        quadratic(300, normal(300) / 15),
        fw.Ellipsoid(np.zeros(300), np.linspace(2, 5, 300)),
        None,
    ),
}

"""Variants of the methods, with the problems that each of them takes."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.sparse import csr_array
from tests.problems import PROBLEMS, Case, case, logistic_data

import frankwolfe as fw
from frankwolfe.methods.active_set.decomposition_invariant import DecompositionInvariant
from frankwolfe.methods.low_rank.factored import FactoredFrankWolfe
from frankwolfe.methods.low_rank.in_face import InFaceFrankWolfe
from frankwolfe.methods.open_loop.boosted import BoostedFrankWolfe
from frankwolfe.methods.open_loop.extra import ExtraFrankWolfe
from frankwolfe.methods.open_loop.heavy_ball import HeavyBallFrankWolfe
from frankwolfe.methods.open_loop.richardson import Richardson
from frankwolfe.methods.projected.sliding import ConditionalGradientSliding
from frankwolfe.methods.second_order.newton import NewtonFrankWolfe
from frankwolfe.methods.second_order.subspace import SubspaceFrankWolfe
from frankwolfe.methods.stochastic.block_coordinate import BlockCoordinateFrankWolfe
from frankwolfe.methods.stochastic.stochastic import StochasticFrankWolfe
from frankwolfe.problem import Problem
from frankwolfe.sets import Product

METHODS = {
    "extrafw": ExtraFrankWolfe(),
    "hfw": HeavyBallFrankWolfe(),
    "hfw-uniform": HeavyBallFrankWolfe(weights="uniform"),
    "hfw-smooth": HeavyBallFrankWolfe(steps="smooth"),
    "hfw-directional": HeavyBallFrankWolfe(steps="directional"),
    "hfw-search": HeavyBallFrankWolfe(steps="search"),
    "hfw-restart": HeavyBallFrankWolfe(restart=True),
    "cgs": ConditionalGradientSliding(),
    "cgs-strong": ConditionalGradientSliding(mu=0.05),
    "newton": NewtonFrankWolfe(),
    "boosted": BoostedFrankWolfe(),
    "boosted-short": BoostedFrankWolfe(step_size=fw.ShortStep()),
    "dicg": DecompositionInvariant(),
    "subspace": SubspaceFrankWolfe(),
    "factored": FactoredFrankWolfe(),
    "richardson": Richardson(),
    "stochastic": StochasticFrankWolfe(),
    "stochastic-spider": StochasticFrankWolfe("spider", batch=7),
    "inface": InFaceFrankWolfe(),
    "inface-11": InFaceFrankWolfe(1.0, 1.0),
    "inface-01": InFaceFrankWolfe(0.0, 1.0),
    "bcfw": BlockCoordinateFrankWolfe(),
    "bcfw-open": BlockCoordinateFrankWolfe("open"),
    "bcfw-average": BlockCoordinateFrankWolfe(average=True),
    "richardson-hfw": Richardson(fw.HeavyBallFrankWolfe()),
}


PRODUCTS = ["product-squares", "product-ridge-csr", "product-quadratic", "product-function", "product-nuclear"]


@cache
def known(name: str) -> Case:
    """Return a problem of tests.problems, or one over a product of an l1 ball, a simplex and an l2 ball."""
    if name in PROBLEMS:
        return case(name)
    A, b = logistic_data()
    f = {
        "product-squares": fw.LeastSquares(A, 3 * b),
        "product-nuclear": fw.LeastSquares(A, 3 * b),
        "product-ridge-csr": fw.Logistic(csr_array(A * (abs(A) > 0.7)), b, ridge=0.05),
        "product-quadratic": fw.Quadratic(A.T @ A / 50, A.T @ b / 40),
    }
    f = f.get(name) or fw.Function(f["product-squares"].value, f["product-squares"].grad, smoothness=2.0)
    domain = Product(fw.L1Ball(1.0), fw.Simplex(4), fw.L2Ball(0.5), shapes=[4, 4, 4])
    x0 = np.concatenate([np.zeros(4), np.full(4, 0.25), np.zeros(4)])
    if name == "product-nuclear":
        domain, x0 = Product(fw.NuclearBall(1.0), fw.L2Ball(0.5), shapes=[(2, 4), 4]), None
    tight = fw.minimize(f, domain, x0, method=fw.AcceleratedProjectedGradient(restart=True), tol=1e-13, max_iter=5000)
    assert tight.gap < 1e-9
    return Case(f, domain, tight.fun, x0)


def applies(label: str, name: str) -> bool:
    """Tell whether a variant takes a problem, and is tested on it."""
    objective, domain, *_ = known(name)
    try:
        METHODS[label].check(Problem(objective, domain))
    except TypeError:
        return False
    if label == "cgs-strong":  # its certificate needs the constant to be true
        return isinstance(objective, fw.Quadratic | fw.LeastSquares)
    return not (label.startswith("cgs") and name == "completion-nuclear")


def problems_for(label: str) -> list[str]:
    """Return the names of the problems a variant is tested on: products for those that may take them by blocks."""
    names = [*PROBLEMS, *PRODUCTS] if label.startswith(("richardson", "stochastic", "inface", "bcfw")) else PROBLEMS
    return [name for name in names if applies(label, name)]


PAIRS = [(label, name) for label in METHODS for name in problems_for(label)]


def constants(name: str):
    """Return a problem with its curvature constant LD²."""
    objective, domain, optimum, x0 = case(name)
    shape = objective.shape or domain.shape or np.shape(x0)
    return objective, domain, optimum, x0, objective.smoothness * domain.diameter(shape) ** 2


def suboptimality(name: str, method: fw.Method, n: int, seed: int = 0) -> np.ndarray:
    """Return f(x_k) - f* for every k."""
    objective, domain, optimum, x0 = known(name)
    return fw.minimize(objective, domain, x0, method=method, tol=0, max_iter=n, random_state=seed).trace.fun - optimum

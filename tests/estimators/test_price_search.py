"""Folds at one price of the constraint, solved together, against SciPy's solver on each of them alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize as scipy_minimize
from scipy.special import logsumexp
from sklearn.datasets import load_wine

import frankwolfe as fw
from frankwolfe.estimators.penalised import Losses, Penalised

rng = np.random.default_rng(5)
X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.7)
signal = X @ [1.0, -0.5, 0.0, 0.3, 0.0]
TARGETS = {
    "Logistic": np.where(signal + rng.normal(size=60) > 0, 1.0, -1.0),
    "SquaredHinge": np.where(signal + rng.normal(size=60) > 0, 1.0, -1.0),
    "Huber": signal + rng.standard_t(2, size=60) + 3,
    "Poisson": rng.poisson(np.exp(0.5 * signal)).astype(float),
    "Gamma": rng.gamma(2.0, np.exp(0.5 * signal)) + 1e-3,
    "Multinomial": np.digitize(signal + rng.normal(size=60), [-0.5, 0.5]),
}


def naive(name: str, m: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the loss of each row from its margin, as a textbook has it."""
    if name == "Logistic":
        return np.logaddexp(0, -b * m)
    if name == "SquaredHinge":
        return 0.5 * np.maximum(1 - b * m, 0) ** 2
    if name == "Huber":
        off = np.abs(m - b)
        return np.where(off <= 1.0, off**2 / 2, off - 0.5)
    if name == "Poisson":
        return np.exp(m) - b * m + np.where(b > 0, b * np.log(np.maximum(b, 1)) - b, 0)
    return m + b * np.exp(-m) - 1 - np.log(b)


@pytest.mark.parametrize("sparse_data", [False, True])
@pytest.mark.parametrize("l1", [False, True])
@pytest.mark.parametrize("name", TARGETS)
def test_every_weighting_is_solved_to_the_goal(name: str, l1: bool, sparse_data: bool) -> None:
    b = TARGETS[name]
    options = {"delta": 1.0} if name == "Huber" else {}
    data = sp.csr_array(X) if sparse_data else X
    objective = getattr(fw, name)(data, b, intercept=True, **options)
    shares = np.stack([np.arange(60) % 3 != i for i in range(3)] + [np.ones(60, bool)]).astype(float)
    shares /= shares.sum(axis=1, keepdims=True)
    losses = Losses(objective, shares, turned=not l1)
    solver, goal = Penalised(losses, sparse=l1), np.full(4, 1e-7)
    here = solver.at(np.zeros((4, losses.priced.size)))
    for price in (0.3, 0.03):
        here, done = solver.solve(here, price, lambda place: (goal, goal), 2000)
        assert done.all()
        lengths = solver.lengths(here.z)
        reached = here.fun + price * (lengths if l1 else lengths**2 / 2)
        best = [least(name, b, share, price, l1) for share in shares]
        np.testing.assert_allclose(reached, best, rtol=0, atol=2e-6)
        assert (solver.gaps(here) < 1e-3).all()


@pytest.mark.parametrize("name", ["Logistic", "SquaredHinge", "Huber", "Multinomial"])
def test_sparse_models_of_columns_that_repeat_are_solved(name: str) -> None:
    base, b = X[:, :3], TARGETS[name]
    data = np.column_stack([base, base, -base[:, :1], np.ones(60), np.zeros(60)])
    share = np.full((1, 60), 1 / 60)
    solvers = []
    for columns in (data, base):
        losses = Losses(getattr(fw, name)(columns, b, intercept=True), share)
        solver = Penalised(losses, sparse=True)
        here = solver.at(np.zeros((1, losses.priced.size)))
        for price in (0.1, 1e-3):
            here, done = solver.solve(here, price, lambda _: (np.array([1e-7]), np.array([1e-7])), 200)
            assert done.all()
        solvers.append(float((here.fun + price * solver.lengths(here.z))[0]))
    assert solvers[0] == pytest.approx(solvers[1], abs=3e-7)


@pytest.mark.parametrize("shape", [(80, 30), (30, 80)])
def test_features_that_vary_together_take_fewer_steps_along_principal_axes(shape: tuple[int, int]) -> None:
    n, d = shape
    mixed = rng.normal(size=(n, d)) @ (np.geomspace(1, 1e-2, d)[:, None] * rng.normal(size=(d, d))) + 3.0
    labels = np.where(mixed[:, 0] + rng.normal(size=n) > np.median(mixed[:, 0]), 1.0, -1.0)
    objective, share = fw.Logistic(mixed, labels, intercept=True), np.full((1, n), 1 / n)
    found, steps = [], []
    for turned in (False, True):
        losses = Losses(objective, share, turned=turned)
        solver = Penalised(losses, sparse=False)
        start = solver.at(np.zeros((1, losses.priced.size)))
        here, done = solver.solve(start, 1e-3, lambda place: (np.array([1e-10]), np.array([math.inf])), 5000)
        assert done.all()
        found.append(losses.coefficients(here.z)[0])
        steps.append(solver.steps)
    np.testing.assert_allclose(*found, atol=1e-4)
    assert 2 * steps[1] < steps[0]


def least(name: str, b: np.ndarray, share: np.ndarray, price: float, l1: bool) -> float:
    """Return the least loss and price, by SciPy, from halves that cannot be negative: x = u - v."""
    classes = 3 if name == "Multinomial" else 1
    d = 5 * classes

    def total(w: np.ndarray) -> float:
        x = (w[:d] - w[d : 2 * d]).reshape(5, classes)
        m = X @ x + w[2 * d :]
        rows = (
            np.asarray(logsumexp(m, axis=1)) - np.take_along_axis(m, b.astype(int)[:, None], 1)[:, 0]
            if classes > 1
            else naive(name, m[:, 0], b)
        )
        return float(share @ rows) + price * (float(w[: 2 * d].sum()) if l1 else float((x**2).sum()) / 2)

    bounds = [(0, None)] * (2 * d) + [(None, None)] * classes
    found = scipy_minimize(total, np.full(2 * d + classes, 0.01), method="L-BFGS-B", bounds=bounds, tol=1e-13)
    return float(found.fun)


@pytest.mark.parametrize("constraint", ["l1", "l2"])
@pytest.mark.parametrize("selection", ["best", "one_se"])
def test_the_radius_is_the_length_of_a_certified_model(constraint: str, selection: str) -> None:
    data, labels = load_wine(return_X_y=True)
    model = fw.FrankWolfeClassifierCV(constraint, selection=selection).fit(data, labels)
    x = model.result_.x
    length = np.abs(x).sum() if constraint == "l1" else np.linalg.norm(x)
    assert length == pytest.approx(model.radius_, rel=1e-3)
    assert model.radius_ in model.radii_
    assert (np.diff(model.radii_) > -1e-3 * model.radius_).all()
    assert model.gap_ <= 1e-4
    assert model.score(data, labels) > 0.97


def test_a_number_of_radii_is_kept_to() -> None:
    data, labels = load_wine(return_X_y=True)
    model = fw.FrankWolfeClassifierCV("l2", radii=12, scoring="accuracy").fit(data, labels)
    assert model.radii_.size <= 16
    assert model.scores_.max() > 0.95


def test_classes_in_order_are_solved_on_every_fold() -> None:
    own = np.random.default_rng(3)
    data = own.normal(size=(300, 12))
    score = data @ own.normal(size=12)
    labels = np.digitize(score, np.quantile(score, [0.2, 0.4, 0.6, 0.8]))
    model = fw.FrankWolfeClassifierCV("l1").fit(data, labels)  # a warning, an error here, would say what was not
    assert model.scores_.mean(axis=0).max() > -0.4
    assert model.score(data, labels) > 0.95


def test_sparse_models_of_classes_apart_take_few_steps_at_any_price() -> None:
    own = np.random.default_rng(7)
    labels = np.repeat([0, 1, 2], 30)
    data = own.normal(size=(90, 6))
    data[:, :3] += 6.0 * np.eye(3)[labels]
    share = np.full((1, 90), 1 / 90)
    losses = Losses(fw.Multinomial(data, labels, intercept=True), share)
    solver = Penalised(losses, sparse=True)
    here = solver.at(np.zeros((1, losses.priced.size)))
    for price in np.geomspace(0.1, 1e-8, 15):
        enough = np.array([1e-3 * price])
        here, done = solver.solve(here, float(price), lambda _, goal=enough: (goal, goal), 60)
        assert done.all()

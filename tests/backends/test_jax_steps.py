"""Steps that JAX compiles are the plain steps: the same iterates, evidence and counts, several to a launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.backends.arrays import library

import frankwolfe as fw
from frankwolfe.atoms import Dense, OneHot, RankOne
from frankwolfe.engine import jax_steps
from frankwolfe.serialisation import decode, encode

RNG = np.random.default_rng(0)
A = RNG.standard_normal((60, 8))
B = np.sign(A @ RNG.standard_normal(8) + 0.5 * RNG.standard_normal(60))
CASES = [
    ("afw", fw.L2Ball(1.0), True),
    ("fw", fw.L1Ball(1.0), True),
    ("afw", fw.Simplex(8), True),
    ("extrafw", fw.LpBall(1.0, p=3), True),
    ("fw", fw.Box(-0.3, 0.2), True),
    (fw.FrankWolfe(fw.ExactLineSearch()), fw.L2Ball(1.0), True),
    (fw.FrankWolfe(fw.ShortStep()), fw.L2Ball(1.0), False),
]


@pytest.mark.parametrize(("method", "domain", "compiles"), CASES, ids=str)
def test_compiled_steps_are_the_plain_ones(
    monkeypatch: pytest.MonkeyPatch, method: Any, domain: Any, compiles: bool
) -> None:
    lib = library("jax")
    monkeypatch.setattr(jax_steps, "LATER", 8)
    launches = []
    trace = jax_steps._traced
    monkeypatch.setattr(jax_steps, "_traced", lambda *args: launches.append(trace(*args)) or launches[-1])
    expected = fw.minimize(fw.Logistic(A, B), domain, method=method, tol=0, max_iter=40)
    result = fw.minimize(fw.Logistic(lib.array(A), B), domain, method=method, tol=0, max_iter=40)
    assert [launch is not None for launch in launches[-1:]] == [compiles]
    np.testing.assert_allclose(lib.numpy(result.x), expected.x, atol=1e-10)
    np.testing.assert_allclose(result.trace.to_array()[:, 2:4], expected.trace.to_array()[:, 2:4], atol=1e-10)
    assert (result.n_iter, result.n_grad, result.n_lmo) == (expected.n_iter, expected.n_grad, expected.n_lmo)
    # At the end the best point is evaluated afresh, where it is not the last: among equals, to the last digit, chance.
    assert abs(result.n_pass - expected.n_pass) <= (1e-9 if expected.gap > 1e-12 else 1.0)


def test_a_function_of_jax_is_part_of_the_compiled_step(monkeypatch: pytest.MonkeyPatch) -> None:
    lib = library("jax")
    monkeypatch.setattr(jax_steps, "LATER", 8)
    a, b = lib.array(A), lib.array(B)
    xp = lib.module.numpy
    f = fw.Function(lambda x: xp.mean(xp.log1p(xp.exp(-b * (a @ x)))), backend="jax")
    result = fw.minimize(f, fw.L2Ball(1.0), lib.array(np.zeros(8)), method="afw", tol=0, max_iter=40)
    expected = fw.minimize(fw.Logistic(A, B), fw.L2Ball(1.0), method="afw", tol=0, max_iter=40)
    np.testing.assert_allclose(lib.numpy(result.x), expected.x, atol=1e-10)
    assert abs(result.lower_bound - expected.lower_bound) < 1e-10


def test_what_is_taken_apart_is_put_together_again() -> None:
    lib = library("jax")
    leaf = fw.points.Leaf(None, lib.array([1.0, 2.0]))
    point = fw.points.Point(lib.array([3.0]), ((0.5, leaf), (0.5, leaf)))
    form, arrays = encode((point, point, None, 2))
    again, same, nothing, two = decode(form, arrays)
    assert again is same
    assert again.terms[0][1] is again.terms[1][1]
    assert (nothing, two) == (None, 2)
    np.testing.assert_array_equal(lib.numpy(again.coords), [3.0])


def test_points_with_atoms_of_every_kind_are_put_together_again() -> None:
    """Without JAX: the same walk serves captured graphs."""
    kinds = [Dense(np.ones(2)), OneHot(1, np.asarray(2.0), (3,)), RankOne(2.0, np.ones(2), np.ones(3))]
    for atom in kinds:
        form, arrays = encode(fw.points.Point.at(atom))
        again = decode(form, arrays)
        assert type(again.coords) is type(atom)
        np.testing.assert_array_equal(again.coords.toarray(), atom.toarray())

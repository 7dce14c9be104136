"""The dual of a structural SVM is judged from its formula and its decoder's answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import frankwolfe as fw


@pytest.fixture(scope="module")
def solved():
    rng = np.random.default_rng(0)
    n, d, K = 12, 3, 3
    A, labels = rng.standard_normal((n, d)), rng.integers(0, K, n)

    def decode(i, w, c):
        scores = [c * (k != labels[i]) + (w.reshape(K, d)[k] - w.reshape(K, d)[labels[i]]) @ A[i] for k in range(K)]
        best, psi = int(np.argmax(scores)), np.zeros((K, d))
        psi[labels[i]] += A[i]
        psi[best] -= A[i]
        return psi.reshape(-1), float(best != labels[i])

    f = fw.StructuralSVM(decode, n=n, d=K * d, lam=0.5)
    return fw.minimize(f, f.domain, method="bcfw", tol=1e-5, max_iter=20_000), f


def test_a_structural_svm_is_verified(solved, tmp_path):
    result, f = solved
    check = fw.verify(result, f, f.domain)
    assert check.ok
    assert check.gap <= 2e-5
    assert "decoder is trusted" in check.remarks[0]
    # The lower bound is minus the primal at some w.
    assert check.lower == pytest.approx(-f.primal(f.weights(result.x)), abs=2e-5)
    result.save(tmp_path / "svm.npz", f, f.domain)
    assert fw.verify(tmp_path / "svm.npz") == check


def test_lies_about_a_structural_svm_are_called_false(solved):
    result, f = solved
    assert fw.verify(replace(result, fun=result.fun - 1e-9), f, f.domain).false
    assert fw.verify(replace(result, lower_bound=result.fun + 1e-9), f, f.domain).false
    outside = fw.verify(replace(result, x=2 * result.x), f, f.domain)
    assert outside.infeasibility > 0.01
    assert not outside.ok


def test_another_set_than_its_own_is_not_judged(solved):
    result, f = solved
    other = fw.StructuralSVM(f.decode, n=f.n, d=f.d, lam=0.7)
    check = fw.verify(result, f, other.domain)
    assert any("known by its oracle alone" in text for text in check.unproven)

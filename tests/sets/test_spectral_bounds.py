"""Support values of sets of matrices are upper bounds, whatever the scale, the shape and the precision."""

from __future__ import annotations

import math

import numpy as np
import pytest

import frankwolfe as fw


def singular_values(G):
    """Return the singular values by one-sided Jacobi rotations in the widest type there is."""
    A = np.array(G, dtype=np.longdouble)
    A = A if A.shape[0] >= A.shape[1] else A.T.copy()
    for _ in range(60):
        off = 0.0
        for i in range(A.shape[1]):
            for j in range(i):
                a, b, c = A[:, i] @ A[:, i], A[:, j] @ A[:, j], A[:, i] @ A[:, j]
                if c == 0:
                    continue
                off = max(off, float(abs(c) / np.sqrt(a * b)))
                zeta = (b - a) / (2 * c)
                t = (1 if zeta >= 0 else -1) / (abs(zeta) + np.sqrt(1 + zeta * zeta))
                cosine = 1 / np.sqrt(1 + t * t)
                A[:, i], A[:, j] = cosine * (A[:, i] - t * A[:, j]), cosine * (t * A[:, i] + A[:, j])
        if off < 1e-18:
            break
    return np.sort(np.sqrt(np.sum(A * A, axis=0)))[::-1]


def matrices():
    rng = np.random.default_rng(0)
    out = {
        "random": rng.normal(size=(5, 7)),
        "row": rng.normal(size=(1, 6)),
        "column": rng.normal(size=(6, 1)),
        "number": np.array([[-2.0]]),
        "zero": np.zeros((3, 4)),
        "equal": np.ones((4, 5)),
        "orthogonal": np.linalg.qr(rng.normal(size=(6, 6)))[0],
        "graded": rng.normal(size=(6, 5)) * 10.0 ** -np.arange(0, 15, 3),
        "rank one": np.outer(rng.normal(size=5), rng.normal(size=4)),
        "range": rng.normal(size=(5, 5)) * 10.0 ** rng.integers(-8, 8, size=(5, 5)),
    }
    out["ill"] = 1 + 1e-14 * rng.normal(size=(5, 5))
    return out


EVERY = pytest.mark.parametrize("kind", matrices())
SCALES = pytest.mark.parametrize("scale", [1.0, 1e-300, 1e290])
PRECISIONS = pytest.mark.parametrize("kind_of_number", [np.float64, np.float32])


@EVERY
@SCALES
@PRECISIONS
def test_support_values_are_no_less_than_the_true_ones(kind, scale, kind_of_number):
    G = (matrices()[kind] * (scale if kind_of_number is np.float64 else scale**0.1)).astype(kind_of_number)
    unit = float(np.finfo(G.dtype).eps)
    top = float(np.max(np.abs(G))) or 1.0
    s = singular_values(G.astype(float) / top)
    sets = [
        (fw.SpectralBall(2.0), np.sum(s)),
        (fw.SchattenBall(2.0, p=1.0), s[0]),
        (fw.SchattenBall(2.0, p=2.0), np.sqrt(np.sum(s * s))),
        (fw.SchattenBall(2.0, p=3.0), np.sum(s**1.5) ** (np.longdouble(2) / 3)),
        (fw.SchattenBall(2.0, p=math.inf), np.sum(s)),
    ]
    for ball, dual in sets:
        exact = 2 * dual
        for bound in (ball.support(G), -ball.minimum(-G).lower):
            assert np.longdouble(float(bound)) / top >= exact * (1 - 1e-17)
            assert float(bound) / top <= float(exact) * (1 + 1000 * unit) + 1e-300
    proven = fw.NuclearBall(2.0).support_bound(G, np.random.default_rng(0))
    assert proven.failure == 0
    assert np.longdouble(proven.value) / top >= 2 * s[0] * (1 - 1e-17)
    assert proven.value / top <= 2 * float(s[0]) * (1 + 1e-7) + 1e-300
    found = fw.NuclearBall(2.0).minimise(-G, 0.0, np.random.default_rng(0))
    assert -np.longdouble(found.lower) / top >= 2 * s[0] * (1 - 1e-17)


@EVERY
@SCALES
@PRECISIONS
def test_the_largest_eigenvalue_is_bounded(kind, scale, kind_of_number):
    G = matrices()[kind]
    n = min(G.shape)
    G = (G[:n, :n] * (scale if kind_of_number is np.float64 else scale**0.1)).astype(kind_of_number)
    top = float(np.max(np.abs(G))) or 1.0
    S = 0.5 * (G.astype(np.longdouble) + G.astype(np.longdouble).T) / top
    shift = n + 1  # then every eigenvalue is positive, and a singular value
    exact = singular_values(S + shift * np.eye(n, dtype=np.longdouble))[0] - shift
    domain = fw.Spectrahedron(3.0)
    for bound in (domain.support(G), -domain.minimum(-G).lower):
        assert np.longdouble(float(bound)) / top >= 3 * exact - 1e-17
        assert float(bound) / top <= 3 * float(exact) + 1e4 * float(np.finfo(G.dtype).eps)


@PRECISIONS
@pytest.mark.parametrize("kind", [kind for kind in matrices() if kind != "zero"])
@pytest.mark.parametrize("factor", [0.5, 1 - 1e-6, 2.0])
def test_bounds_hold_whatever_lapack_says(kind, factor, kind_of_number, monkeypatch):
    """A decomposition with wrong singular values, or wrong vectors, weakens the bounds; it cannot make them false."""
    G = matrices()[kind].astype(kind_of_number)
    s = singular_values(G)
    decompose = np.linalg.svd

    def wrong(A, full_matrices=True, **options):
        U, found, Wt = decompose(A, full_matrices=full_matrices, **options)
        return U, found * G.dtype.type(factor), Wt * G.dtype.type(2 - factor)

    monkeypatch.setattr(np.linalg, "svd", wrong)
    found = fw.NuclearBall(2.0).minimise(-G, 0.0, np.random.default_rng(0))
    assert -np.longdouble(found.lower) >= 2 * s[0] * (1 - 1e-17)
    assert -np.longdouble(fw.SchattenBall(2.0, p=1.0).minimum(-G).lower) >= 2 * s[0] * (1 - 1e-17)
    assert -np.longdouble(fw.SpectralBall(2.0).minimum(-G).lower) >= 2 * np.sum(s) * (1 - 1e-17)


def test_a_guess_that_is_no_number_is_found_out():
    from frankwolfe.kernels.spectral.lanczos import norm_above

    G = np.diag([1.0, 3.0, 2.0])
    for guess in (math.nan, 0.0, 1.0, math.inf):
        assert 3.0 <= norm_above(G, guess) < 10.0

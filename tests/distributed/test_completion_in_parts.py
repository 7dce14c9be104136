"""Matrix completion with its entries in parts."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.distributed import completion_in_parts

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")

M, N = 130, 90


def entries(m: int = M, n: int = N) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((m, n)) < 0.2)
    truth = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    return rows, cols, truth[rows, cols] + 0.1 * rng.standard_normal(rows.size)


def scattered(parts: int = 4, m: int = M, n: int = N, by_rows: bool = False, weights: np.ndarray | None = None):
    given = entries(m, n)
    cuts = np.linspace(0, given[0].size, parts + 1).astype(int)
    if by_rows:
        cuts = np.searchsorted(given[0], np.linspace(0, m, parts + 1).astype(int))
    given, more = (*given, weights) if weights is not None else given, {}
    cut = [[dask.delayed(v[i:j]) for i, j in pairwise(cuts)] for v in given]
    if weights is not None:
        more["weights"] = cut.pop()
    return fw.MatrixCompletion(*cut, shape=(m, n), **more)


def test_values_products_and_lines(client) -> None:
    whole = fw.MatrixCompletion(*entries(), shape=(M, N))
    rng = np.random.default_rng(1)
    X = fw.LowRank.from_arrays(rng.standard_normal((M, 3)), rng.standard_normal((N, 3)))
    Z = fw.LowRank.from_arrays(rng.standard_normal((M, 1)), rng.standard_normal((N, 1)))
    rows, cols, values = (da.from_array(v, chunks=700) for v in entries())
    for far in (scattered(), fw.MatrixCompletion(rows, cols, values, shape=(M, N))):
        assert isinstance(far, fw.MatrixCompletion)
        assert far.value(X) == pytest.approx(whole.value(X), rel=1e-12)
        g, h = far.grad(X) * 0.3 + 0.7 * far.grad(Z), 0.3 * whole.grad(X) + 0.7 * whole.grad(Z)
        assert np.allclose(g @ np.ones(N), h @ np.ones(N), rtol=1e-9, atol=1e-9)
        assert np.allclose(g.T @ np.ones(M), h.T @ np.ones(M), rtol=1e-9, atol=1e-9)
        points = fw.points.Point.at(X), fw.points.Point.at(Z)
        assert np.allclose(far.line(*points)[0](0.3), whole.line(*points)[0](0.3), rtol=1e-9)


METHODS = {
    "fw": fw.FrankWolfe(),
    "afw": fw.AcceleratedFrankWolfe(),
    "afw-line-search": fw.AcceleratedFrankWolfe(line_search=True),
}


def iterates(objective, method, n: int) -> tuple[list[np.ndarray], fw.Result]:
    seen: list[np.ndarray] = []
    options = {"tol": 0, "max_iter": n, "callback": lambda it: seen.append(it.x.toarray())}
    result = fw.minimize(objective, fw.NuclearBall(60.0), method=method, **options)
    return [*seen, result.x.toarray()], result


def same(ours: list[np.ndarray], theirs: list[np.ndarray]) -> bool:
    pairs = zip(ours, theirs, strict=True)
    return all(np.abs(a - b).max() <= 1e-10 * max(1e-3, np.abs(b).max()) for a, b in pairs)


@pytest.mark.parametrize("label", METHODS)
@pytest.mark.parametrize("parts", [1, 2, 3, 8])
def test_same_iterates_as_in_memory(client, label: str, parts: int) -> None:
    """Gradients of few entries, which are brought to the oracle: a dense factorisation for the smaller of these."""
    m, n = [(50, 40), (40, 50), (M, N), (N, M)][parts % 4]
    theirs, whole = iterates(fw.MatrixCompletion(*entries(m, n), shape=(m, n)), METHODS[label], 8)
    ours, found = iterates(scattered(parts, m, n), METHODS[label], 8)
    assert same(ours, theirs)
    assert found.lower_bound == pytest.approx(whole.lower_bound, rel=1e-9)


@pytest.mark.parametrize(
    ("label", "parts", "by_rows", "wide"),
    [("fw", 3, True, False), ("afw", 5, False, False), ("afw-line-search", 3, True, True)],
)
def test_same_iterates_by_products(client, monkeypatch, label: str, parts: int, by_rows: bool, wide: bool) -> None:
    """Entries that stay where they are: rows whole in their parts or not, more columns than rows or not."""
    monkeypatch.setattr(completion_in_parts, "FETCH_UP_TO", 0)
    m, n = (N, M) if wide else (M, N)
    theirs, whole = iterates(fw.MatrixCompletion(*entries(m, n), shape=(m, n)), METHODS[label], 2)
    far = scattered(parts, m, n, by_rows)
    ours, found = iterates(far, METHODS[label], 2)
    assert far.entries.whole_rows == by_rows
    assert same(ours, theirs)
    assert found.lower_bound == pytest.approx(whole.lower_bound, rel=1e-6)


@pytest.mark.parametrize("fetch_up_to", [0, 10**6])
def test_the_oracle_knows_the_matrix(client, monkeypatch, fetch_up_to: int) -> None:
    """Largest entry, entries and squares of a gradient in parts."""
    monkeypatch.setattr(completion_in_parts, "FETCH_UP_TO", fetch_up_to)
    near, far = fw.MatrixCompletion(*entries(), shape=(M, N)), scattered(3, by_rows=True)
    X = fw.LowRank.from_arrays(np.ones((M, 1)), np.ones((N, 1)))
    g, G, w = far.grad(X), near.grad(X).toarray(), np.linspace(0, 1, N)
    assert g.largest == np.abs(G).max()
    assert g.fetched is None if not fetch_up_to else np.allclose(g.fetched.toarray(), G, atol=1e-14)
    assert np.allclose(g.gram_matvec(w), G.T @ (G @ w), rtol=1e-12)


def test_weights(client) -> None:
    weights = np.random.default_rng(5).random(entries()[0].size) + 0.1
    whole, far = fw.MatrixCompletion(*entries(), shape=(M, N), weights=weights), scattered(3, weights=weights)
    X = fw.LowRank.from_arrays(np.ones((M, 1)), np.ones((N, 1)))
    assert far.smoothness == whole.smoothness
    assert far.value(X) == pytest.approx(whole.value(X), rel=1e-12)
    assert np.allclose(far.grad(X) @ np.ones(N), whole.grad(X) @ np.ones(N), rtol=1e-10)
    assert far.fingerprint(None) != scattered(3).fingerprint(None)


def test_runs_are_certified_and_go_on_on_other_parts(client, tmp_path: Path) -> None:
    ball, method = fw.NuclearBall(60.0), METHODS["afw"]
    best = fw.minimize(fw.MatrixCompletion(*entries(), shape=(M, N)), ball, tol=1e-3)
    save = fw.Checkpoint(tmp_path / "run.npz")
    far = fw.minimize(scattered(), ball, method=method, tol=0, max_iter=3)
    assert best.lower_bound <= far.fun
    assert far.lower_bound <= best.fun
    fw.minimize(scattered(), ball, method=method, tol=0, max_iter=1, checkpoint=save)
    resumed = fw.minimize(scattered(2), ball, method=method, tol=0, max_iter=3, checkpoint=save)
    assert resumed.fun == pytest.approx(far.fun, rel=1e-12)


def test_what_it_cannot_do_is_said(client) -> None:
    with pytest.raises(TypeError, match="whole matrix in memory"):
        fw.minimize(scattered(), fw.NuclearBall(5.0), method="pgd")
    for method in ("factored", "fcfw", "subspace"):
        with pytest.raises(TypeError, match=method):
            fw.minimize(scattered(), fw.NuclearBall(5.0), method=method)

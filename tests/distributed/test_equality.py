"""Rows in parts give the iterates that rows in memory give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import frankwolfe as fw
from frankwolfe.distributed import cluster
from frankwolfe.rows.disk_stream import stream

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
dask = pytest.importorskip("dask")

METHODS = {
    "fw": fw.FrankWolfe(),
    "afw": fw.AcceleratedFrankWolfe(),
    "afw-line-search": fw.AcceleratedFrankWolfe(line_search=True),
}
N, D = 240, 9


def data(form: str = "dense", n: int = N, d: int = D, seed: int = 0) -> tuple:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) * (rng.random((n, d)) < (1.0 if form == "dense" else 0.3))
    b = np.sign(A @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n))
    return (A if form == "dense" else sp.csr_array(A)), b


def in_blocks(A, parts: int) -> list:
    return [dask.delayed(A[rows[0] : rows[-1] + 1]) for rows in np.array_split(np.arange(A.shape[0]), parts)]


def iterates(objective, domain, method, n: int = 15) -> np.ndarray:
    seen: list[np.ndarray] = []
    result = fw.minimize(objective, domain, method=method, tol=0, max_iter=n, callback=lambda it: seen.append(it.x + 0))
    return np.array([*seen, result.x])


def near(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return bool(np.all(np.abs(ours - theirs).max(axis=1) <= 1e-10 * np.maximum(1e-3, np.abs(theirs).max(axis=1))))


@pytest.mark.parametrize("label", METHODS)
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("parts", [1, 5])
def test_same_iterates_as_in_memory(client, label: str, form: str, parts: int) -> None:
    A, b = data(form)
    whole = fw.Logistic(A, b)
    scattered = fw.Logistic(in_blocks(A, parts), b)
    for domain in (fw.L2Ball(5.0), fw.L1Ball(2.0)):
        n = 6 if "line" in label else 12
        ours = iterates(scattered, domain, METHODS[label], n)
        assert near(ours, iterates(whole, domain, METHODS[label], n))


@pytest.mark.parametrize("label", METHODS)
def test_same_iterates_from_disk(label: str, tmp_path: Path) -> None:
    A, b = data()
    np.save(tmp_path / "A.npy", A)
    for size, domain in ((1, fw.L2Ball(5.0)), (5_000, fw.L1Ball(2.0)), (10**6, fw.L2Ball(5.0))):
        scattered = fw.Logistic(stream(tmp_path / "A.npy", block_bytes=size), b)
        ours, theirs = (iterates(f, domain, METHODS[label], 8) for f in (scattered, fw.Logistic(A, b)))
        assert near(ours, theirs)


@pytest.mark.parametrize("label", METHODS)
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize(("parts", "together"), [(1, None), (3, False), (8, True)])
def test_same_path_as_in_memory(client, label: str, form: str, parts: int, together: bool | None) -> None:
    """All radii at once, one after the other, and as the library chooses."""
    A, b = data(form)
    options = {"method": METHODS[label], "tol": 0.0, "max_iter": 4 if "line" in label else 10, "together": together}
    for domain in (fw.L2Ball, fw.L1Ball) if "line" not in label else (fw.L2Ball,):
        whole = fw.path(fw.Logistic(A, b, ridge=0.01), domain, [0.5, 2.0, 5.0], **options)
        scattered = fw.path(fw.Logistic(in_blocks(A, parts), b, ridge=0.01), domain, [0.5, 2.0, 5.0], **options)
        assert near(scattered.coefs, whole.coefs)
        for ours, theirs in zip(scattered, whole, strict=True):
            np.testing.assert_allclose(ours.trace["fun"], theirs.trace["fun"], rtol=1e-10)
            assert abs(ours.lower_bound - theirs.lower_bound) <= 1e-10


def test_a_path_at_once_takes_one_task_for_all_radii(client) -> None:
    A, b = data()
    scattered = fw.Logistic(in_blocks(A, 3), b)
    path = fw.path(scattered, fw.L2Ball, [0.5, 1.0, 2.0, 4.0], method="afw", tol=1e-2, max_iter=500)
    assert path.success
    alone = [fw.minimize(scattered, fw.L2Ball(r), method="afw", tol=1e-2) for r in (0.5, 1.0, 2.0, 4.0)]
    assert [r.n_iter for r in path] == [r.n_iter for r in alone]
    assert path.n_pass <= 2.5 * max(r.n_iter for r in alone)


KINDS = ["array", "array in columns too", "dataframe", "delayed", "futures"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_collection(client, kind: str) -> None:
    import pandas as pd

    A, b = data()
    weights = np.random.default_rng(1).random(N)
    x = np.linspace(-1, 1, D)
    whole = fw.LeastSquares(A, b, sample_weight=weights, ridge=0.1)
    if kind == "dataframe":
        frame = dd.from_pandas(pd.DataFrame(A), npartitions=4)
        empty = frame[frame[0] > 10]  # every partition of it is empty
        given = dd.concat([frame, empty]), pd.DataFrame({"b": b}).b.to_numpy(), weights
    elif kind == "delayed":
        cuts = [dask.delayed(part) for part in np.array_split(b, 4)]
        given = in_blocks(A, 4), cuts, [dask.delayed(part) for part in np.array_split(weights, 4)]
    elif kind == "futures":
        given = client.map(np.asarray, np.array_split(A, 4)), b, weights
    else:
        chunks = (70, D) if kind == "array" else (70, 4)
        given = da.from_array(A, chunks=chunks), da.from_array(b, chunks=31), da.from_array(weights, chunks=70)
    scattered = fw.LeastSquares(given[0], given[1], sample_weight=given[2], ridge=0.1)
    assert np.allclose(scattered.value(x), whole.value(x), rtol=1e-13)
    assert np.allclose(scattered.grad(x), whole.grad(x), rtol=1e-12)
    assert scattered.smoothness == pytest.approx(whole.smoothness, rel=1e-12)
    assert scattered.strong_convexity == pytest.approx(whole.strong_convexity, rel=1e-9)


@pytest.mark.parametrize("kind", ["npy", "map", "map view", "fortran", "zarr", "zarr array", "parquet", "arrow"])
def test_every_kind_of_file(kind: str, tmp_path: Path) -> None:
    A, b = data()
    x = np.linspace(-1, 1, D)
    names = [f"c{j}" for j in range(D)]
    if kind in ("npy", "map", "map view", "fortran"):
        np.save(tmp_path / "A.npy", np.asfortranarray(A) if kind == "fortran" else A)
        source = tmp_path / "A.npy"
        if kind.startswith("map"):
            source = np.load(source, mmap_mode="r")
            if kind == "map view":
                source, A, b = source[10:], A[10:], b[10:]
        streamed, targets = stream(source, block_bytes=4000), b
    elif kind.startswith("zarr"):
        zarr = pytest.importorskip("zarr")
        array = zarr.create_array(str(tmp_path / "A.zarr"), shape=A.shape, chunks=(50, D), dtype="f8")
        array[:] = A
        streamed, targets = stream(array if kind == "zarr array" else tmp_path / "A.zarr", block_bytes=8000), b
    else:
        pa = pytest.importorskip("pyarrow")
        table = pa.table({**dict(zip(names, A.T, strict=True)), "b": b})
        path = tmp_path / f"table.{kind}"
        if kind == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, path, row_group_size=40)
        else:
            with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table, max_chunksize=40)
        streamed, targets = stream(path, columns=names, block_bytes=6000), stream(path, columns=["b"])
    scattered, whole = fw.Logistic(streamed, targets, ridge=0.01), fw.Logistic(A, b, ridge=0.01)
    assert scattered.parts.blocks > 2
    assert np.allclose(scattered.value(x), whole.value(x), rtol=1e-13)
    assert np.allclose(scattered.grad(x), whole.grad(x), rtol=1e-12)
    assert scattered.smoothness == pytest.approx(whole.smoothness, rel=1e-12)


def test_a_block_may_hold_one_class_only(client) -> None:
    A, b = data()
    order = np.argsort(b)
    A, b = A[order], np.where(b[order] > 0, "yes", "no")
    scattered = fw.Logistic(in_blocks(A, 4), b)
    assert list(scattered.classes) == ["no", "yes"]
    assert scattered.value(np.ones(D)) == pytest.approx(fw.Logistic(A, b).value(np.ones(D)), rel=1e-13)


def test_a_block_may_have_no_weight(client, tmp_path: Path) -> None:
    A, b = data()
    weights = np.r_[np.zeros(N // 2), np.random.default_rng(0).random(N // 2)]
    np.save(tmp_path / "A.npy", A)
    whole = fw.Logistic(A, b, sample_weight=weights)
    for source in (in_blocks(A, 4), stream(tmp_path / "A.npy", block_bytes=A.nbytes // 4)):
        scattered = fw.Logistic(source, b, sample_weight=weights)
        assert np.allclose(scattered.grad(np.ones(D)), whole.grad(np.ones(D)), rtol=1e-12)
    with pytest.raises(ValueError, match="positive sum"):
        fw.Logistic(in_blocks(A, 4), b, sample_weight=np.zeros(N))


def test_many_shards_are_added_on_the_workers(client, monkeypatch: pytest.MonkeyPatch) -> None:
    A, b = data()
    scattered = fw.Logistic(in_blocks(A, 3), b)
    at_once = scattered.grad(np.ones(D))
    monkeypatch.setattr(cluster, "FAN_IN", 2)
    assert np.allclose(scattered.grad(np.ones(D)), at_once, rtol=1e-14)


def test_runs_repeat_to_the_last_bit(client) -> None:
    A, b = data()
    runs = [iterates(fw.Logistic(in_blocks(A, 5), b), fw.L2Ball(3.0), METHODS["afw"], 8) for _ in range(2)]
    assert np.array_equal(*runs)


def test_single_precision_stays(client) -> None:
    A, b = data()
    scattered = fw.Logistic(in_blocks(A.astype(np.float32), 3), b)
    result = fw.minimize(scattered, fw.L2Ball(3.0), tol=1e-3)
    assert result.x.dtype == np.float32
    assert result.success


def test_wide_sparse_data_find_their_smoothness_by_products(client) -> None:
    A = sp.random_array((150, 1200), density=0.02, random_state=np.random.default_rng(0), format="csr")
    b = np.sign(np.random.default_rng(1).standard_normal(150))
    assert fw.Logistic(in_blocks(A, 3), b).smoothness == pytest.approx(fw.Logistic(A, b).smoothness, rel=1e-9)


def test_auto_finds_a_method(client) -> None:
    A, b = data()
    for domain in (fw.L2Ball(3.0), fw.L1Ball(2.0), fw.LInfBall(0.5)):
        result = fw.minimize(fw.Logistic(in_blocks(A, 3), b), domain, tol=1e-3, max_iter=2000)
        assert result.success, (result.method, result.gap)


def test_what_moves_is_a_few_vectors(client) -> None:
    """Task and answer of an evaluation have the size of x, whatever the number of rows."""
    import pickle

    from frankwolfe.distributed import shards
    from frankwolfe.rows.rows_in_parts import evaluation

    sizes = []
    for n in (200, 20_000):
        A, b = data(n=n)
        shard = client.submit(lambda s: s, fw.Logistic(in_blocks(A, 1), b).parts.held[0]).result()
        x = np.ones(D)
        sent = pickle.dumps((shards.run, evaluation, None, (x, x), False))
        back = pickle.dumps(shards.run(evaluation, shard, None, (x, x), False))
        sizes.append((len(sent), len(back)))
        assert max(map(len, (sent, back))) < 1500 + 32 * D
    assert sizes[0][0] == sizes[1][0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda A, b: fw.Logistic([dask.delayed(A), dask.delayed(A[:, 1:])], np.r_[b, b]), "same number of columns"),
        (lambda A, b: fw.Logistic(in_blocks(A, 2), b[:-1]), "one entry per row"),
        (lambda A, b: fw.Logistic(in_blocks(A, 2), [dask.delayed(b)]), "partitioned like A"),
        (lambda A, b: fw.Logistic(da.from_array(A * np.nan, chunks=100), b), "NaN or infinity"),
        (lambda A, b: fw.Logistic(da.from_array(A[:, 0], chunks=100), b), "two-dimensional"),
        (lambda A, b: fw.Logistic(in_blocks(A, 2), np.ones(N)), "two distinct labels"),
        (lambda A, b: fw.LeastSquares(in_blocks(A, 2), da.from_array(b[:7], chunks=5)), "one entry per row"),
    ],
)
def test_wrong_input_is_named(client, make, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make(*data())


def test_streams_name_what_is_wrong(tmp_path: Path) -> None:
    A, b = data()
    np.save(tmp_path / "A.npy", A)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        stream(tmp_path / "none.npy")
    with pytest.raises(ValueError, match="one entry per row"):
        fw.Logistic(stream(tmp_path / "A.npy"), b[1:])
    with pytest.raises(TypeError, match="stream needs a path"):
        stream(3)
    with pytest.raises(ValueError, match="one column, got 9"):
        fw.LeastSquares(stream(tmp_path / "A.npy"), stream(tmp_path / "A.npy"))
    (tmp_path / "short.npy").write_bytes((tmp_path / "A.npy").read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"short\.npy"):
        stream(tmp_path / "short.npy")
    np.save(tmp_path / "nan.npy", A * np.nan)
    with pytest.raises(ValueError, match="NaN or infinity"):
        fw.Logistic(stream(tmp_path / "nan.npy"), b)


def test_methods_that_need_margins_say_so(client) -> None:
    A, b = data()
    with pytest.raises(TypeError, match="subspace"):
        fw.minimize(fw.Logistic(in_blocks(A, 2), b), fw.L2Ball(1.0), method="subspace")


MODELS = {
    "logistic": (fw.Logistic, {}),
    "squares": (fw.LeastSquares, {}),
    "huber": (fw.objectives.Huber, {"delta": 0.5}),
}


@pytest.mark.parametrize("name", MODELS)
def test_free_intercepts(name: str, tmp_path: Path) -> None:
    """Values, gradients, lines, tangents and iterates with an intercept, as in memory."""
    kind, more = MODELS[name]
    A, b = data()
    b = b if name == "logistic" else 100.0 + A[:, 0] + 0.1 * b
    weights = np.random.default_rng(3).random(N)
    np.save(tmp_path / "A.npy", A + 1.0)
    more = more | {"sample_weight": weights, "intercept": True, "ridge": 0.01}
    whole = kind(A + 1.0, b, **more)
    scattered = kind(stream(tmp_path / "A.npy", block_bytes=5000), b, **more)
    x, v = np.linspace(-0.2, 0.3, D), np.ones(D)
    assert scattered.value(x) == pytest.approx(whole.value(x), rel=1e-12)
    assert np.allclose(scattered.grad(x), whole.grad(x), rtol=1e-9, atol=1e-12)
    found, known = (f.best_intercept(f.map.apply(x)) for f in (scattered, whole))
    assert found == pytest.approx(known, rel=1e-9)
    lines = [f.line(fw.points.Point.at(x), fw.points.Point.at(v))[0] for f in (scattered, whole)]
    for gamma in (0.0, 0.3, 1.0):
        assert np.allclose(lines[0](gamma), lines[1](gamma), rtol=1e-8)
    for label in ("afw", "afw-line-search"):
        ours, theirs = (iterates(f, fw.L2Ball(0.5), METHODS[label], 6) for f in (scattered, whole))
        assert near(ours, theirs)
    result = fw.minimize(scattered, fw.L2Ball(0.5), method="afw", tol=1e-4)
    best = fw.minimize(whole, fw.L2Ball(0.5), tol=1e-9)
    assert result.lower_bound <= best.fun + 1e-9
    assert result.success


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("parts", [1, 4])
def test_free_intercepts_on_a_cluster(client, form: str, parts: int) -> None:
    A, b = data(form)
    scattered, whole = fw.Logistic(in_blocks(A, parts), b, intercept=True), fw.Logistic(A, b, intercept=True)
    for label in METHODS if parts == 4 else ["afw"]:
        ours, theirs = (iterates(f, fw.L2Ball(3.0), METHODS[label], 4) for f in (scattered, whole))
        assert near(ours, theirs)


@pytest.mark.parametrize("intercept", [False, True])
def test_several_classes(client, intercept: bool, tmp_path: Path) -> None:
    """Values, tangents, lines, smoothness and iterates of softmax regression, on a cluster and from disk."""
    A, _ = data()
    rng = np.random.default_rng(4)
    labels = np.array(["a", "b", "c"])[np.sort(rng.integers(0, 3, N))]  # sorted: no block has all classes
    np.save(tmp_path / "A.npy", A)
    more = {"sample_weight": rng.random(N), "intercept": intercept, "ridge": 0.01}
    whole = fw.Multinomial(A, labels, **more)
    X, V = 0.3 * rng.standard_normal((D, 3)), rng.standard_normal((D, 3))
    for rows in (in_blocks(A, 4), in_blocks(sp.csr_array(A), 2), stream(tmp_path / "A.npy", block_bytes=4000)):
        scattered = fw.Multinomial(rows, labels, **more)
        assert list(scattered.classes) == ["a", "b", "c"]
        assert scattered.smoothness == pytest.approx(whole.smoothness, rel=1e-9)
        ours, theirs = (f.evaluate(fw.points.Point.at(X), fw.points.Point.at(V)) for f in (scattered, whole))
        for a, b in zip(ours[:4], theirs[:4], strict=True):
            assert np.allclose(a, b, rtol=1e-8, atol=1e-9)
        ours, theirs = (f.line(fw.points.Point.at(X), fw.points.Point.at(V))[0](0.3) for f in (scattered, whole))
        assert np.allclose(ours, theirs, rtol=1e-7)
        for label in METHODS:
            theirs = iterates(whole, fw.L2Ball(2.0), METHODS[label], 3).reshape(-1, 3 * D)
            assert near(iterates(scattered, fw.L2Ball(2.0), METHODS[label], 3).reshape(-1, 3 * D), theirs)
    result = fw.minimize(scattered, fw.NuclearBall(2.0), method="afw", tol=1e-3)
    best = fw.minimize(whole, fw.NuclearBall(2.0), tol=1e-7)
    assert result.success
    assert result.lower_bound <= best.fun + 1e-9


def test_classes_without_weight_are_named(client) -> None:
    A, _ = data()
    labels = np.repeat([0, 1, 2], N // 3)
    with pytest.raises(ValueError, match="every class"):
        fw.Multinomial(in_blocks(A, 3), labels, sample_weight=(labels > 0).astype(float), intercept=True)


def test_other_weights_leave_the_rows_where_they_are(client, tmp_path: Path) -> None:
    A, b = data(n=9000)
    weights = np.random.default_rng(2).random(9000) * (np.arange(9000) > 3500)  # none in the first block
    x, threes = np.linspace(-1, 1, D), np.arange(9000) % 3
    np.save(tmp_path / "A.npy", A)
    for rows in (in_blocks(A, 3), stream(tmp_path / "A.npy", block_bytes=A.nbytes // 3)):
        for f, whole in (
            (fw.Logistic(rows, b), fw.Logistic(A, b, sample_weight=weights)),
            (
                fw.Multinomial(rows, threes, intercept=True),
                fw.Multinomial(A, threes, sample_weight=weights, intercept=True),
            ),
        ):
            X = x if f.shape == (D,) else np.outer(x, [1.0, -1.0, 0.5])
            other = f.reweighted(weights)
            assert other.value(X) == pytest.approx(whole.value(X), rel=1e-12)
            assert np.allclose(other.grad(X), whole.grad(X), rtol=1e-7, atol=1e-10)
            assert f.value(X) == pytest.approx(
                type(whole)(A, b if f.shape == (D,) else threes, intercept=whole.intercept).value(X)
            )


def test_stateless_evaluations_keep_no_margins() -> None:
    """What one task computes is what an evaluation in memory gives, for rows long enough for the compiled pass."""
    from frankwolfe.rows.parts import Part
    from frankwolfe.rows.rows_in_parts import evaluation

    for form in ("dense", "sparse"):
        A, b = data(form, n=50_000)
        f = fw.Logistic(A, b)
        assert f.compiled is not None
        x, v, atom = np.linspace(-1, 1, D), np.ones(D), fw.L1Ball(2.0).lmo(np.arange(D))
        for y, watch in ((x, v), (x, None), (x, atom), (atom, x)):
            value, inner, watched, slope, _ = evaluation(Part(f), y, watch)
            points = fw.points.Point.at(y), fw.points.Point.at(y if watch is None else watch)
            seen = f.evaluate(points[0], points[0] if watch is None else points[1])
            assert np.allclose(slope, seen.slope, rtol=1e-12)
            assert [value, inner, watched] == pytest.approx([seen.value, seen.inner, seen.watched])

"""Estimators take Dask collections and streams as they take arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from frankwolfe.rows.disk_stream import stream

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("sklearn")
import pandas as pd  # noqa: E402
from dask.delayed import delayed  # noqa: E402
from scipy import sparse  # noqa: E402

from frankwolfe.estimators import (  # noqa: E402
    FrankWolfeClassifier,
    FrankWolfeClassifierCV,
    FrankWolfeRegressor,
    FrankWolfeRegressorCV,
)

N, D = 300, 6
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D)) + 1.0
LABELS = np.where(X @ np.arange(D) + RNG.standard_normal(N) > 15, "yes", "no")
TARGETS = X @ np.arange(D) + 50.0 + 0.1 * RNG.standard_normal(N)


def test_classifier_on_a_dask_array(client) -> None:
    whole = FrankWolfeClassifier(radius=2.0, tol=1e-7).fit(X, LABELS)
    lazy = da.from_array(X, chunks=(80, D))
    scattered = FrankWolfeClassifier(radius=2.0, tol=3e-2, method="afw").fit(lazy, da.from_array(LABELS, chunks=80))
    assert list(scattered.classes_) == ["no", "yes"]
    assert scattered.lower_bound_ <= whole.result_.fun + 1e-7
    assert scattered.result_.fun - whole.result_.fun <= scattered.gap_ + 1e-7
    predicted = scattered.predict(lazy)
    assert isinstance(predicted, da.Array)
    assert np.array_equal(predicted.compute(), scattered.predict(X))
    assert np.allclose(scattered.predict_proba(lazy).compute(), scattered.predict_proba(X))
    assert scattered.score(lazy, LABELS) > 0.9


def test_regressor_on_a_dask_frame(client) -> None:
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(D)]).assign(y=TARGETS)
    lazy = dd.from_pandas(frame, npartitions=3)
    features = [f"c{j}" for j in range(D)]
    fitted = FrankWolfeRegressor(radius=3.0, tol=0.5, method="afw").fit(lazy[features], lazy["y"])
    whole = FrankWolfeRegressor(radius=3.0, tol=1e-8).fit(frame[features], TARGETS)
    assert list(fitted.feature_names_in_) == features
    assert fitted.lower_bound_ <= whole.result_.fun + 1e-7
    assert fitted.result_.fun - whole.result_.fun <= fitted.gap_ + 1e-7
    assert np.allclose(fitted.predict(lazy[features]).compute(), fitted.predict(frame[features]))


def test_estimators_on_a_stream(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    rows = stream(tmp_path / "X.npy", block_bytes=4000)
    for loss in ("squared_error", "huber"):
        fitted = FrankWolfeRegressor(radius=3.0, tol=1e-2, loss=loss, method="afw").fit(rows, TARGETS)
        whole = FrankWolfeRegressor(radius=3.0, tol=1e-8, loss=loss).fit(X, TARGETS)
        assert fitted.result_.lower_bound <= whole.result_.fun + 1e-7
        assert fitted.result_.fun <= whole.result_.fun + fitted.gap_
        assert np.allclose(fitted.predict(rows), fitted.predict(X))


CLASSES = np.array(["a", "b", "c"])[
    np.argmax(X @ RNG.standard_normal((D, 3)) + 2 * RNG.standard_normal((N, 3)), axis=1)
]
WEIGHTS = RNG.random(N)


@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 3.0}])
@pytest.mark.parametrize("labels", [CLASSES, np.where(CLASSES == "a", "a", "z")], ids=["three", "two"])
def test_classes_and_weights_as_in_memory(client, labels: np.ndarray, class_weight, tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    options = {"radius": 2.0, "tol": 2e-2, "method": "afw", "class_weight": class_weight}
    whole = FrankWolfeClassifier(**options).fit(X, labels, WEIGHTS)
    lazy = da.from_array(X, chunks=(110, D)), da.from_array(labels, chunks=80), da.from_array(WEIGHTS, chunks=N)
    rows = stream(tmp_path / "X.npy", block_bytes=4000), labels, WEIGHTS
    for given in (lazy, rows):
        fitted = FrankWolfeClassifier(**options).fit(*given)
        assert list(fitted.classes_) == sorted(set(labels))
        assert np.allclose(fitted.coef_, whole.coef_, atol=1e-8)
        assert np.allclose(fitted.intercept_, whole.intercept_, atol=1e-8)
        assert fitted.lower_bound_ == pytest.approx(whole.lower_bound_, abs=1e-8)
        assert fitted.score(*given) == pytest.approx(whole.score(X, labels, WEIGHTS))
    assert np.allclose(fitted.predict_proba(lazy[0]).compute(), whole.predict_proba(X), atol=1e-8)


def test_several_classes_of_a_dask_frame(client) -> None:
    names = [f"c{j}" for j in range(D)]
    frame = dd.from_pandas(pd.DataFrame(X, columns=names).assign(y=CLASSES), npartitions=3)
    fitted = FrankWolfeClassifier(radius=2.0, tol=5e-2, method="afw").fit(frame[names], frame["y"])
    assert list(fitted.feature_names_in_) == names
    assert fitted.result_.success
    assert fitted.predict(frame[names]).compute()[0] in CLASSES
    assert fitted.score(frame[names], frame["y"]) > 0.6


CHOOSERS = {
    "two classes": (FrankWolfeClassifierCV, LABELS, {}),
    "three classes": (FrankWolfeClassifierCV, CLASSES, {"scoring": "accuracy", "class_weight": "balanced"}),
    "targets": (FrankWolfeRegressorCV, TARGETS, {"constraint": "l1", "scoring": "r2", "tol": 5e-2}),
    "huber": (FrankWolfeRegressorCV, TARGETS, {"loss": "huber", "tol": 5e-2}),
}


@pytest.mark.filterwarnings("ignore:.*is the largest tried")
@pytest.mark.parametrize("name", CHOOSERS)
def test_radii_are_chosen_as_in_memory(name: str, tmp_path: Path) -> None:
    """Folds are weights: the same scores and choice, no row moved."""
    kind, y, more = CHOOSERS[name]
    options = {"radii": [0.3, 1.0, 2.0], "cv": 3, "tol": 2e-2, "method": "afw", "standardize": False} | more
    np.save(tmp_path / "X.npy", X)
    whole = kind(**options).fit(X, y, WEIGHTS)
    fitted = kind(**options).fit(stream(tmp_path / "X.npy", block_bytes=4000), y, WEIGHTS)
    assert fitted.radius_ == whole.radius_
    # Squares are searched exactly in memory, in parts to the tolerance.
    assert np.allclose(fitted.scores_, whole.scores_, atol=3e-2 if name == "targets" else 1e-2)
    assert fitted.result_.fun <= whole.result_.fun + fitted.gap_
    assert fitted.lower_bound_ <= whole.result_.fun + 1e-12
    assert fitted.coefs_paths_.shape == whole.coefs_paths_.shape


@pytest.mark.filterwarnings("ignore:.*is the largest tried")
def test_radii_are_chosen_on_a_cluster(client) -> None:
    lazy, labels = da.from_array(X, chunks=(110, D)), da.from_array(LABELS, chunks=70)
    options = {"radii": [0.3, 1.0], "cv": 2, "tol": 5e-2, "method": "afw", "standardize": False}
    fitted = FrankWolfeClassifierCV(**options).fit(lazy, labels)
    whole = FrankWolfeClassifierCV(**options).fit(X, LABELS)
    assert fitted.radius_ == whole.radius_
    assert np.allclose(fitted.scores_, whole.scores_, atol=1e-7)
    assert np.allclose(fitted.coef_, whole.coef_, atol=1e-7)


def test_the_range_of_radii_is_found_as_in_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    A = rng.standard_normal((800, 3))
    y = A @ [1.0, -1.0, 0.5] + rng.standard_normal(800)
    np.save(tmp_path / "A.npy", A)
    # In memory squares are solved exactly, and l2 and l1 balls by their price.
    options = {"constraint": "linf", "loss": "huber", "radii": 4, "cv": 2, "tol": 1e-4, "standardize": False}
    whole = FrankWolfeRegressorCV(**options).fit(A, y)
    fitted = FrankWolfeRegressorCV(**options).fit(stream(tmp_path / "A.npy", block_bytes=8_000), y)
    assert fitted.radii_[0] == pytest.approx(whole.radii_[0], rel=1e-9)
    assert fitted.score(A, y) == pytest.approx(whole.score(A, y), abs=0.01)


def test_what_is_wrong_is_said(client) -> None:
    lazy = da.from_array(X, chunks=(80, D))
    with pytest.raises(ValueError, match="only one class"):
        FrankWolfeClassifier().fit(lazy, np.ones(N))
    with pytest.raises(ValueError, match="Unknown label type"):
        FrankWolfeClassifier().fit(lazy, TARGETS)
    with pytest.raises(ValueError, match="no sample with a positive sample_weight"):
        FrankWolfeClassifier().fit(lazy, LABELS, (LABELS == "no").astype(float))
    with pytest.raises(ValueError, match="not known"):
        FrankWolfeRegressor(loss="huberr").fit(lazy, TARGETS)


def test_fit_from_the_command_line(tmp_path: Path) -> None:
    """`frankwolfe fit --stream` agrees with the fit in memory."""
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("typer")
    import pyarrow.parquet as pq
    from typer.testing import CliRunner

    from frankwolfe.cli.app import app
    from frankwolfe.estimators.linear_files import read_linear

    table = {f"c{j}": X[:, j] for j in range(D)} | {"y": (LABELS == "yes").astype(int)}
    pq.write_table(pa.table(table), tmp_path / "t.parquet", row_group_size=64)
    fitted = []
    for more in ([], ["--stream"]):
        out = tmp_path / f"model{len(more)}.npz"
        command = ["fit", str(tmp_path / "t.parquet"), "--radius", "2", "--tol", "1e-2", "--method", "afw", "--quiet"]
        command += ["--no-scale"]
        done = CliRunner().invoke(app, [*command, "--out", str(out), *more])
        assert done.exit_code == 0, done.output
        fitted.append(read_linear(out).estimator)
    assert np.allclose(fitted[0].coef_, fitted[1].coef_, atol=1e-6)
    refused = CliRunner().invoke(app, ["fit", str(tmp_path / "t.parquet"), "--stream"])
    assert refused.exit_code != 0


RAW = X * np.geomspace(1e-4, 1e5, D) + np.geomspace(
    1e5, 1.0, D
)  # as people measure: seconds, euros, parts in a million


def _same_model(found, whole, rows: np.ndarray) -> None:
    """Assert that two models of the same set and data agree as far as their certificates say."""
    assert found.result_.fun <= whole.result_.fun + found.gap_ + 1e-9
    assert whole.result_.fun <= found.result_.fun + whole.gap_ + 1e-9
    np.testing.assert_allclose(found.coef_ * RAW.std(axis=0), whole.coef_ * RAW.std(axis=0), atol=0.05)
    np.testing.assert_allclose(found._linear(rows), whole._linear(rows), atol=0.3)


@pytest.mark.parametrize("place", ["dask array", "dask frame", "stream"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_in_parts_are_scaled_as_in_memory(client, place: str, weighted: bool, tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", RAW)
    lazy = {
        "dask array": da.from_array(RAW, chunks=(90, 4)),
        "dask frame": dd.from_pandas(pd.DataFrame(RAW, columns=[f"c{j}" for j in range(D)]), npartitions=3),
        "stream": stream(tmp_path / "X.npy", block_bytes=4000),
    }[place]
    weights = WEIGHTS if weighted else None
    for kind, targets in ((FrankWolfeRegressor, TARGETS), (FrankWolfeClassifier, LABELS)):
        options = {"constraint": "l1", "radius": 3.0, "standardize": True, "tol": 1e-6}
        given = pd.DataFrame(RAW, columns=lazy.columns) if place == "dask frame" else RAW
        whole = kind(**options).fit(given, targets, weights)
        parts = kind(**options).fit(lazy, targets, weights)
        _same_model(parts, whole, given)
        assert np.abs(parts.result_.x).sum() <= 3.0 * (1 + 1e-9), "the set holds the coefficients on the new scale"


def test_sparse_parts_are_divided_and_not_centred(client) -> None:
    dense = RAW * (RNG.random(RAW.shape) < 0.3)
    blocks = [delayed(sparse.csr_matrix(dense[i : i + 100])) for i in range(0, N, 100)]
    options = {"constraint": "l1", "radius": 3.0, "standardize": True, "tol": 1e-6}
    whole = FrankWolfeRegressor(**options).fit(sparse.csr_matrix(dense), TARGETS)
    parts = FrankWolfeRegressor(**options).fit(blocks, TARGETS)
    np.testing.assert_allclose(parts.coef_ * dense.std(axis=0), whole.coef_ * dense.std(axis=0), atol=0.05)
    assert parts.intercept_ == pytest.approx(whole.intercept_, abs=0.3)


def test_the_default_is_good_on_raw_rows_in_parts(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", RAW)
    rows = stream(tmp_path / "X.npy", block_bytes=4000)
    assert FrankWolfeRegressorCV("l1", cv=2).fit(rows, TARGETS).score(RAW, TARGETS) > 0.99
    assert FrankWolfeClassifier().fit(rows, LABELS).score(RAW, LABELS) > 0.9

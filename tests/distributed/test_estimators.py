"""Estimators take Dask collections and streams as they take arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from frankwolfe.objectives.streams import stream

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("sklearn")
import pandas as pd  # noqa: E402

from frankwolfe.estimators import FrankWolfeClassifier, FrankWolfeRegressor  # noqa: E402

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


def test_what_is_not_supported_is_said(client) -> None:
    lazy = da.from_array(X, chunks=(80, D))
    with pytest.raises(ValueError, match="class_weight"):
        FrankWolfeClassifier(class_weight="balanced").fit(lazy, LABELS)
    with pytest.raises(ValueError, match="two distinct labels"):
        FrankWolfeClassifier().fit(lazy, np.arange(N) % 3)
    with pytest.raises(ValueError, match="not known"):
        FrankWolfeRegressor(loss="huberr").fit(lazy, TARGETS)


def test_fit_from_the_command_line(tmp_path: Path) -> None:
    """`frankwolfe fit --stream` agrees with the fit in memory."""
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("typer")
    import pyarrow.parquet as pq
    from typer.testing import CliRunner

    from frankwolfe.cli.app import app
    from frankwolfe.estimators.linear_models import read_linear

    table = {f"c{j}": X[:, j] for j in range(D)} | {"y": (LABELS == "yes").astype(int)}
    pq.write_table(pa.table(table), tmp_path / "t.parquet", row_group_size=64)
    fitted = []
    for more in ([], ["--stream"]):
        out = tmp_path / f"model{len(more)}.npz"
        command = ["fit", str(tmp_path / "t.parquet"), "--radius", "2", "--tol", "1e-2", "--method", "afw", "--quiet"]
        done = CliRunner().invoke(app, [*command, "--out", str(out), *more])
        assert done.exit_code == 0, done.output
        fitted.append(read_linear(out).estimator)
    assert np.allclose(fitted[0].coef_, fitted[1].coef_, atol=1e-6)
    refused = CliRunner().invoke(app, ["fit", str(tmp_path / "t.parquet"), "--stream"])
    assert refused.exit_code != 0

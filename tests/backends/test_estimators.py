"""Estimators with their data on a device give the same answer.

"cpu:0" is a device of torch: the same way as on a GPU, without one.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from tests.backends.arrays import library
from tests.cli.commands import call, refused

import frankwolfe as fw
from frankwolfe.rows import placement

pytestmark = pytest.mark.filterwarnings("ignore:.*is the largest tried")  # radii are given, and few

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 6))
W = RNG.standard_normal((6, 3))
Y = X @ W[:, 0] + 0.3 * RNG.standard_normal(120) + 0.5
CLASSES = np.argmax(X @ W + RNG.gumbel(size=(120, 3)), axis=1)
TARGETS = {"two": (Y > 0).astype(int), "three": CLASSES, "squares": Y, "huber": Y}
USERS, ITEMS = np.divmod(RNG.choice(40 * 30, 600, replace=False), 30)
STARS = RNG.standard_normal((40, 2)) @ RNG.standard_normal((2, 30))
STARS = 3 + STARS[USERS, ITEMS] + 0.3 * RNG.standard_normal(600)
EVERY = [
    fw.FrankWolfeClassifier,
    fw.FrankWolfeRegressor,
    fw.FrankWolfeClassifierCV,
    fw.FrankWolfeRegressorCV,
    fw.MatrixCompleter,
]
DEVICES = ["cpu:0", pytest.param("cuda", id="cuda")]


def usable(device: str) -> None:
    library("cuda" if device == "cuda" else "torch")


def estimator(kind: str, searches: bool, **options: Any) -> Any:
    name = "Classifier" if kind in ("two", "three") else "Regressor"
    loss = {"loss": "huber"} if kind == "huber" else {}
    return getattr(fw, f"FrankWolfe{name}{'CV' if searches else ''}")(**options, **loss)


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("constraint", ["l1", "l2"])
@pytest.mark.parametrize("device", DEVICES)
def test_a_device_changes_nothing_but_the_place(device: str, kind: str, constraint: str) -> None:
    usable(device)
    options = {"constraint": constraint, "radius": 1.0, "method": "afw", "tol": 1e-3, "max_iter": 20_000}
    here = estimator(kind, False, **options, device="cpu").fit(X, TARGETS[kind])
    there = estimator(kind, False, **options, device=device).fit(X, TARGETS[kind])
    assert isinstance(there.coef_, np.ndarray)
    assert isinstance(there.result_.x, np.ndarray)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=0.05)
    np.testing.assert_allclose(there.intercept_, here.intercept_, atol=0.05)
    assert there.result_.success
    np.testing.assert_array_equal(there.predict(X).shape, here.predict(X).shape)
    same = pickle.loads(pickle.dumps(there))
    np.testing.assert_array_equal(same.predict(X), there.predict(X))


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("device", DEVICES)
def test_a_radius_is_chosen_on_a_device(device: str, kind: str) -> None:
    """Folds are the same rows with other weights there, and give the same scores."""
    usable(device)
    weight = np.random.default_rng(1).random(120) + 0.1
    # Solutions to a looser tolerance may differ, and then their scores on other rows do.
    options = {"constraint": "l1", "radii": [0.3, 1.0, 3.0], "cv": 3, "method": "apgd", "tol": 1e-5}
    here = estimator(kind, True, **options, device="cpu").fit(X + 0.5, TARGETS[kind], sample_weight=weight)
    there = estimator(kind, True, **options, device=device).fit(X + 0.5, TARGETS[kind], sample_weight=weight)
    np.testing.assert_allclose(there.radii_, here.radii_)
    np.testing.assert_allclose(there.scores_, here.scores_, atol=0.02)
    assert there.radius_ == here.radius_
    np.testing.assert_allclose(there.coef_, here.coef_, atol=0.1)
    np.testing.assert_allclose(there.intercept_, here.intercept_, atol=0.3)
    for array in (there.coef_, there.coefs_paths_, there.scores_, there.result_.x):
        assert isinstance(array, np.ndarray)
    pickle.dumps(there)


def test_a_scorer_gets_the_rows_that_are_held_out() -> None:
    library("torch")
    seen = []

    def scorer(model: Any, rows: Any, targets: Any) -> float:
        seen.append(rows)
        return float(np.mean(model.predict(rows) == targets))

    model = fw.FrankWolfeClassifierCV("l2", radii=[0.5, 2.0], cv=3, method="apgd", scoring=scorer, device="cpu:0")
    model.fit(X, CLASSES)
    assert {rows.shape for rows in seen} == {(40, 6)}
    assert np.unique(np.concatenate(seen[::2]), axis=0).shape == X.shape
    assert model.scores_.min() > 1 / 3


def test_centred_data_are_scored_as_they_came() -> None:
    library("torch")
    far = X + 1e4
    fits = [
        fw.FrankWolfeRegressorCV("l2", radii=[0.5, 5.0], cv=3, method="apgd", tol=1e-8, device=device).fit(far, Y)
        for device in ("cpu", "cpu:0")
    ]
    np.testing.assert_allclose(fits[1].scores_, fits[0].scores_, atol=1e-3)


@pytest.mark.parametrize("device", DEVICES)
def test_a_matrix_is_completed_on_a_device(device: str, tmp_path: Path) -> None:
    usable(device)
    for options in ({"tol": 1e-5}, {"tol": 1e-5, "radius": 5.0, "rank_limit": 2, "weighting": 0.0}):
        here = fw.MatrixCompleter(**options, device="cpu").fit(USERS, ITEMS, STARS)
        there = fw.MatrixCompleter(**options, device=device).fit(USERS, ITEMS, STARS)
        assert there.radius_ == here.radius_
        np.testing.assert_allclose(there.predict(USERS, ITEMS), here.predict(USERS, ITEMS), atol=0.02)
        assert there.score(USERS, ITEMS, STARS) == pytest.approx(here.score(USERS, ITEMS, STARS), abs=5e-3)
        for array in (*there.factors_, there.user_effects_, there.result_.x.toarray()):
            assert isinstance(array, np.ndarray)
        there.save(tmp_path / "model.npz")
        loaded = fw.MatrixCompleter.load(tmp_path / "model.npz")
        np.testing.assert_array_equal(loaded.predict(USERS, ITEMS), there.predict(USERS, ITEMS))
        assert loaded.device == "auto"  # where it was fitted is no part of the model


def test_auto_takes_the_gpu_for_large_data_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    library("torch")
    monkeypatch.setattr(placement, "gpu", lambda: "cpu:0")  # as if it were one
    assert placement.torch_device("auto", placement.LARGE - 1) is None
    assert placement.torch_device("auto", placement.LARGE).type == "cpu"
    assert fw.place(X) is X
    monkeypatch.setattr(placement, "LARGE", X.size)
    assert fw.place(X).matrix.shape == X.shape
    placed: list[Any] = []
    monkeypatch.setattr(placement, "torch_matrix", lambda name, A: placed.append(A) or _torch_matrix(name, A))
    options = {"radii": [0.5, 1.0], "cv": 3, "method": "apgd", "tol": 1e-2}
    fw.FrankWolfeClassifierCV("l2", **options).fit(X, CLASSES)
    assert len(placed) == 1  # once, for all folds and radii and the last fit
    fw.FrankWolfeClassifierCV("l2", **options, device="cpu").fit(X, CLASSES)
    assert len(placed) == 1


_torch_matrix = placement.torch_matrix


def test_without_a_gpu_auto_is_the_cpu() -> None:
    if placement.gpu() is not None:
        pytest.skip("there is a GPU here")
    assert placement.torch_device("auto", 1 << 40) is None


@pytest.mark.parametrize("kind", EVERY)
def test_a_device_that_is_not_there_is_refused(kind: Any) -> None:
    torch = library("torch").module
    data = (USERS, ITEMS, STARS) if kind is fw.MatrixCompleter else (X, CLASSES)
    with pytest.raises(ValueError, match="device='gpu' is not known; use 'auto', 'cpu', 'cuda' or 'cuda:1'"):
        kind(device="gpu").fit(*data)
    if torch.cuda.is_available():
        with pytest.raises(ValueError, match="device='cuda:99' is not there"):
            kind(device="cuda:99").fit(*data)
    else:
        with pytest.raises(ValueError, match="device='cuda' needs a GPU"):
            kind(device="cuda").fit(*data)


@pytest.mark.parametrize("kind", EVERY)
def test_without_torch_a_gpu_is_refused_by_name(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)  # an import of it now fails
    data = (USERS, ITEMS, STARS) if kind is fw.MatrixCompleter else (X, CLASSES)
    with pytest.raises(ImportError, match=r"torch.*frankwolfe\[torch\]"):
        kind(device="cuda").fit(*data)


@pytest.mark.parametrize("kind", EVERY)
def test_the_device_is_a_parameter_like_any_other(kind: Any) -> None:
    assert kind().get_params()["device"] == "auto"
    model = clone(kind().set_params(device="cuda:1"))
    assert model.device == "cuda:1"


@pytest.mark.parametrize("command", ["fit", "path", "complete"])
def test_the_command_line_takes_a_device(command: str, tmp_path: Path) -> None:
    library("torch")
    file = tmp_path / "data.csv"
    if command == "complete":
        table, names, options = np.c_[USERS, ITEMS, STARS], "user,item,rating", ["--radius", "3"]
    else:
        table, names, options = np.c_[X, CLASSES], "a,b,c,d,e,f,y", ["--task", "classification", "--constraint", "l1"]
        options += ["--method", "apgd", "--tol", "1e-3"]
        options += ["--radius", "1"] if command == "fit" else ["--radii", "1,2"]
    np.savetxt(file, table, delimiter=",", header=names, comments="", fmt="%.6g")
    said = [
        json.loads(call(command, file, *options, "--json", "--device", device).stdout) for device in ("cpu", "cpu:0")
    ]
    gaps = [[row["gap"] for row in one["path"]] if command == "path" else [one["gap"]] for one in said]
    if command != "complete":
        assert np.all(np.array(gaps) <= 1e-3)
    if command == "fit":
        assert said[1]["train_accuracy"] == pytest.approx(said[0]["train_accuracy"], abs=0.05)
    elif command == "path":
        losses = [[row["loss"] for row in one["path"]] for one in said]
        np.testing.assert_allclose(losses[1], losses[0], atol=2e-3)
    else:
        assert said[1]["rank"] == said[0]["rank"]
    assert "device='gpu' is not known" in refused(command, file, *options, "--device", "gpu")

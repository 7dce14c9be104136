"""Model files: what is saved comes back, and a file that someone has tampered with does no harm."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from frankwolfe.estimators import FrankWolfeClassifier, FrankWolfeRegressor, MatrixCompleter
from frankwolfe.estimators.linear_files import LinearModel, read_linear, write_linear
from frankwolfe.estimators.model_files import ModelError, read_model, write_model


@pytest.fixture(scope="module")
def completer():
    g = np.random.default_rng(0)
    rows, cols = np.nonzero(g.random((15, 12)) < 0.6)
    users = [f"ü{r}" if r % 2 else int(r) for r in rows]
    return MatrixCompleter(rank_limit=5).fit(users, cols, g.integers(1, 6, rows.size).astype(float))


@pytest.fixture
def saved(completer, tmp_path):
    path = tmp_path / "model.npz"
    completer.save(path)
    return path


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path, parts, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def array_bytes(array, **kwargs):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, **kwargs)
    return stream.getvalue()


def with_header(path, change):
    parts = members(path)
    header = json.loads(bytes(np.load(io.BytesIO(parts["header.npy"]))))
    change(header)
    text = json.dumps(header).encode()
    return rewritten(path, parts | {"header.npy": array_bytes(np.frombuffer(text, np.uint8))})


def test_what_is_saved_comes_back(completer, saved):
    again = MatrixCompleter.load(saved)
    users, items = completer.users_, completer.items_
    every = [(u, i) for u in [*users, "nobody"] for i in [*items, -1]]
    left, right = [u for u, _ in every], [i for _, i in every]
    np.testing.assert_array_equal(again.predict(left, right), completer.predict(left, right))
    assert again.recommend(users[0], 3) == completer.recommend(users[0], 3)
    assert again.similar_items(items[0], 3) == completer.similar_items(items[0], 3)
    assert again.get_params() == completer.get_params()
    for name in ("radius_", "relax_", "gap_", "lower_bound_", "rank_", "n_iter_", "method_", "search_"):
        assert getattr(again, name) == getattr(completer, name), name


def test_a_failed_save_leaves_the_old_file(completer, saved, monkeypatch):
    before = saved.read_bytes()
    monkeypatch.setattr("numpy.savez", lambda *_, **__: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        completer.save(saved)
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == ["model.npz"]


def test_no_cut_of_the_file_is_accepted_or_explodes(saved):
    content = saved.read_bytes()
    for cut in np.linspace(0, len(content) - 1, 40).astype(int):
        saved.write_bytes(content[:cut])
        with pytest.raises(ModelError, match=r"damaged"):
            MatrixCompleter.load(saved)


def test_no_flipped_byte_gets_past_the_checks(saved, completer):
    """Either an error, or (where the byte matters to nothing) a model that predicts the same."""
    content = saved.read_bytes()
    wanted = completer.predict(0, 0)
    for place in np.random.default_rng(0).integers(0, len(content), 150):
        changed = bytearray(content)
        changed[place] ^= 0xFF
        saved.write_bytes(bytes(changed))
        try:
            model = MatrixCompleter.load(saved)
        except ModelError:
            continue
        assert model.predict(0, 0) == wanted


def test_pickles_are_refused(saved):
    class Evil:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was run",))

    evil = array_bytes(np.array([Evil()], dtype=object), allow_pickle=True)
    for name in members(saved):
        original = members(saved)
        rewritten(saved, original | {name: evil})
        with pytest.raises(ModelError):
            MatrixCompleter.load(saved)
        rewritten(saved, original)
    saved.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ModelError):
        MatrixCompleter.load(saved)


def test_bombs_are_refused_before_memory_is_taken(saved):
    original = members(saved)
    bomb = array_bytes(np.zeros((10**7,)))
    rewritten(saved, original | {"user_factors.npy": bomb}, zipfile.ZIP_DEFLATED)
    assert saved.stat().st_size < 10**6
    with pytest.raises(ModelError):
        MatrixCompleter.load(saved)
    # A header that promises 2**50 numbers, with none behind it.
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (2**50,)})
    rewritten(saved, original | {"user_factors.npy": stream.getvalue()})
    with pytest.raises(ModelError):
        MatrixCompleter.load(saved)
    nested = b"[" * 10**6
    rewritten(saved, original | {"header.npy": array_bytes(np.frombuffer(nested, np.uint8))})
    with pytest.raises(ModelError):
        MatrixCompleter.load(saved)
    rewritten(saved, original | {"users.npy": array_bytes(np.frombuffer(nested, np.uint8))})
    with pytest.raises(ModelError):
        MatrixCompleter.load(saved)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("user_factors", np.zeros((3, 2))),
        ("user_factors", np.zeros(7)),
        ("item_factors", np.zeros((12, 1), np.int64)),
        ("user_effects", np.full(15, np.nan)),
        ("user_effects", np.zeros(15, complex)),
        ("seen_start", np.zeros(16, np.int64)),
        ("seen_start", np.zeros(16)),
        ("seen_items", np.full(3, -1)),
        ("items", np.frombuffer(b'["a", {}]', np.uint8)),
        ("items", np.frombuffer(b'{"a": 1}', np.uint8)),
        ("users", np.frombuffer(b"\xff\xfe", np.uint8)),
        ("users", np.frombuffer(json.dumps(["same"] * 15).encode(), np.uint8)),
    ],
)
def test_wrong_arrays_are_refused(saved, name, array):
    rewritten(saved, members(saved) | {f"{name}.npy": array_bytes(array)})
    with pytest.raises(ModelError, match="damaged") as caught:
        MatrixCompleter.load(saved)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h.update(mean_="three"),
        lambda h: h.update(mean_=True),
        lambda h: h.pop("radius_"),
        lambda h: h.update(params={"radius": [1, 2]}),
        lambda h: h.update(params={"no_such": 1}),
        lambda h: h.update(params=7),
        lambda h: h.update(rating_range_=[1]),
        lambda h: h.update(search_=[[1]]),
        lambda h: h.pop("kind"),
    ],
)
def test_wrong_headers_are_refused(saved, change):
    with_header(saved, change)
    with pytest.raises(ModelError, match="damaged"):
        MatrixCompleter.load(saved)


def test_missing_members_and_other_kinds(saved):
    parts = members(saved)
    for name in parts:
        rewritten(saved, {k: v for k, v in parts.items() if k != name})
        with pytest.raises(ModelError):
            MatrixCompleter.load(saved)
    rewritten(saved, parts)
    with pytest.raises(ModelError, match="holds a MatrixCompleter, and a classifier or regressor is needed"):
        read_linear(saved)
    with_header(saved, lambda h: h.update(format=99))
    with pytest.raises(ModelError, match="format 99"):
        MatrixCompleter.load(saved)
    with pytest.raises(FileNotFoundError):
        MatrixCompleter.load(saved.with_name("nowhere.npz"))


def test_what_json_cannot_hold_is_not_saved(tmp_path):
    with pytest.raises(ModelError, match="cannot be saved"):
        write_model(tmp_path / "x.npz", "Thing", {"value": np.nan}, {})
    assert list(tmp_path.iterdir()) == []


X = np.random.default_rng(1).standard_normal((60, 4))
TARGETS = {
    "two": np.where(X[:, 0] > 0, "yes", "no"),
    "three": np.digitize(X[:, 0], [-0.5, 0.5]),
    "number": X @ [1.0, 2.0, 0.0, 0.0],
}


@pytest.mark.parametrize("kind", TARGETS)
def test_linear_models_come_back(kind, tmp_path):
    pandas = pytest.importorskip("pandas")
    estimator = FrankWolfeRegressor("l1", 2.0) if kind == "number" else FrankWolfeClassifier("l1", 2.0)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    estimator.fit(frame, TARGETS[kind])
    write_linear(LinearModel(estimator, "y"), tmp_path / "m.npz")
    again = read_linear(tmp_path / "m.npz")
    assert (again.target, again.features, again.kind) == ("y", list("abcd"), type(estimator).__name__)
    np.testing.assert_array_equal(again.estimator.predict(frame), estimator.predict(frame))
    assert (again.estimator.gap_, again.estimator.radius) == (estimator.gap_, 2.0)
    if kind != "number":
        np.testing.assert_array_equal(again.estimator.predict_proba(frame), estimator.predict_proba(frame))
    with pytest.raises(ModelError, match="and a MatrixCompleter is needed"):
        MatrixCompleter.load(tmp_path / "m.npz")


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h.update(classes=[1, "a"]),
        lambda h: h.update(classes=["a", "a"]),
        lambda h: h.update(classes=None),
        lambda h: h.update(features=["a"]),
        lambda h: h.update(n_features="many"),
        lambda h: h.update(n_features=3),
        lambda h: h.update(target=[1]),
        lambda h: h.update(kind="Evil"),
        lambda h: h.update(kind=["FrankWolfeClassifier"]),
    ],
)
def test_wrong_linear_headers_are_refused(change, tmp_path):
    path = tmp_path / "m.npz"
    write_linear(LinearModel(FrankWolfeClassifier("l1", 2.0).fit(X, TARGETS["two"])), path)
    with_header(path, change)
    with pytest.raises(ModelError):
        read_linear(path)
    assert read_model(path)  # the file itself is sound: it is the content that was refused

"""MatrixCompleter: its contract, its answers, and what it makes of the ratings people have."""

from __future__ import annotations

import pickle
import signal

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import frankwolfe as fw
from frankwolfe import datasets
from frankwolfe.estimators import MatrixCompleter


def low_rank(m=40, n=30, rank=2, share=0.5, noise=0.0, seed=0):
    """Ratings around 3 from a matrix of the given rank: observed positions and values, and the whole matrix."""
    g = np.random.default_rng(seed)
    whole = 3 + g.standard_normal((m, rank)) @ g.standard_normal((rank, n)) / np.sqrt(rank)
    rows, cols = np.nonzero(g.random((m, n)) < share)
    return rows, cols, whole[rows, cols] + noise * g.standard_normal(rows.size), whole


@pytest.fixture(scope="module")
def fitted():
    rows, cols, values, _ = low_rank(noise=0.1)
    return MatrixCompleter().fit(rows, cols, values), rows, cols, values


def test_finds_what_is_missing():
    rows, cols, values, whole = low_rank()
    model = MatrixCompleter(clip=False).fit(rows, cols, values)
    missing = np.ones(whole.shape, bool)
    missing[rows, cols] = False
    r, c = np.nonzero(missing)
    effects = MatrixCompleter(radius=1e-6, clip=False).fit(rows, cols, values)
    error, before = -model.score(r, c, whole[r, c]), -effects.score(r, c, whole[r, c])
    assert error < 0.25 * before
    assert model.search_[0].radius < model.radius_


def test_the_problem_it_says_it_solves_is_the_problem_it_solves():
    """Without effects and weighting this is plain completion of the centred ratings: compare with minimize."""
    rows, cols, values, _ = low_rank(noise=0.3)
    model = MatrixCompleter(radius=20.0, effects=False, weighting=0.0, tol=1e-8, clip=False).fit(rows, cols, values)
    f = fw.MatrixCompletion(rows, cols, values - values.mean(), (40, 30))
    best = fw.minimize(f, fw.NuclearBall(20.0), tol=1e-8 * f.value(f.start(None, dense=False)))
    U, V = model.factors_
    assert np.linalg.norm(U @ V.T - best.x.toarray()) < 1e-3
    assert model.lower_bound_ <= best.fun + 1e-9
    assert model.gap_ <= 1e-6 * best.fun
    assert model.rank_ == U.shape[1]
    assert np.linalg.norm(U @ V.T, "nuc") <= 20.0 * (1 + 1e-9)


def test_weighting_bounds_the_weighted_trace_norm():
    g = np.random.default_rng(3)
    rows, cols = np.nonzero(g.random((30, 20)) < np.linspace(0.1, 0.9, 30)[:, None])
    values = g.standard_normal(rows.size)
    model = MatrixCompleter(radius=4.0, weighting=1.0, effects=False, clip=False, tol=1e-6).fit(rows, cols, values)
    seen_r, seen_c = np.bincount(rows, minlength=30) + 5.0, np.bincount(cols, minlength=20) + 5.0
    U, V = model.factors_
    weighted = np.sqrt(seen_r / seen_r.mean())[:, None] * (U @ V.T) * np.sqrt(seen_c / seen_c.mean())
    assert np.linalg.norm(weighted, "nuc") == pytest.approx(4.0, rel=1e-6)


def test_three_ways_to_give_the_same_ratings():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rows, cols, values, _ = low_rank(12, 9, share=0.8)
    table = {"who": [f"u{r}" for r in rows], "when": rows, "what": [f"i{c}" for c in cols], "stars": values}
    wanted = MatrixCompleter(radius=5.0, tol=1e-10).fit(rows, cols, values).predict([1, 2], [3, 4])
    sparse = MatrixCompleter(radius=5.0, tol=1e-10).fit(csr_array((values, (rows, cols)), (12, 9)))
    np.testing.assert_allclose(sparse.predict([1, 2], [3, 4]), wanted, rtol=1e-4)
    for frame in (pandas.DataFrame(table), polars.DataFrame(table)):
        model = MatrixCompleter(radius=5.0, tol=1e-10).fit(frame, columns=("who", "what", "stars"))
        np.testing.assert_allclose(model.predict(["u1", "u2"], ["i3", "i4"]), wanted, rtol=1e-4)
        assert model.score(frame, columns=("who", "what", "stars")) == pytest.approx(
            sparse.score(rows, cols, values), rel=1e-4
        )


def test_ids_with_gaps_of_any_kind():
    model = MatrixCompleter(radius=3.0).fit([10**12, 5, 10**12, 7], ["x", "y", "y", "x"], [1, 2, 3, 4])
    assert sorted(model.users_) == [5, 7, 10**12]
    assert model.items_ == ["x", "y"]
    assert isinstance(model.predict(5, "y"), float)
    mixed = MatrixCompleter(radius=3.0).fit(["a", 1, "a", 2.5], ["x", "y", "y", "x"], [1, 2, 3, 4])
    assert mixed.predict(2.5, "x") == pytest.approx(mixed.predict([2.5], ["x"])[0])


def test_unknown_ones_get_what_is_known(fitted):
    model, *_ = fitted
    assert model.predict("nobody", "nothing") == pytest.approx(model.mean_)
    assert model.predict(3, "nothing") == pytest.approx(model.mean_ + model.user_effects_[3])
    assert model.predict("nobody", 4) == pytest.approx(model.mean_ + model.item_effects_[4])
    assert [item for item, _ in model.recommend("nobody", 3)] == list(np.argsort(-model.item_effects_)[:3])
    assert model.similar_items("nothing") == []
    together = model.predict(["nobody", 3], [4, "nothing"])
    np.testing.assert_allclose(together, [model.predict("nobody", 4), model.predict(3, "nothing")])


def test_recommend_is_the_best_unseen(fitted):
    model, rows, cols, _ = fitted
    seen = set(cols[rows == 5].tolist())
    told = model.recommend(5, 4)
    scores = {j: model.predict(5, j) for j in range(30) if j not in seen}
    assert [item for item, _ in told] == sorted(scores, key=scores.get, reverse=True)[:4]
    assert all(score == pytest.approx(scores[item]) for item, score in told)
    assert len(model.recommend(5, 1000)) == 30 - len(seen)
    assert len(model.recommend(5, 1000, exclude_seen=False)) == 30
    with pytest.raises(ValueError, match="n must be"):
        model.recommend(5, 0)


def test_similar_items_are_those_rated_alike():
    g = np.random.default_rng(0)
    taste = g.standard_normal(60)
    whole = 3 + np.outer(taste, [1, 1, -1, -1, 1]) + 0.1 * g.standard_normal((60, 5))
    rows, cols = np.nonzero(g.random(whole.shape) < 0.9)
    model = MatrixCompleter().fit(rows, cols, whole[rows, cols])
    alike = model.similar_items(0, 4)
    assert {item for item, _ in alike[:2]} == {1, 4}
    assert alike[0][1] > 0.9
    assert alike[-1][1] < -0.9
    assert 0 not in [item for item, _ in alike]


def test_rank_limit_keeps_an_honest_gap():
    rows, cols, values, _ = low_rank(rank=4, noise=0.3)
    free = MatrixCompleter(radius=60.0).fit(rows, cols, values)
    tight = MatrixCompleter(radius=60.0, rank_limit=2).fit(rows, cols, values)
    assert free.rank_ > 2
    assert tight.rank_ == 2
    assert tight.gap_ > free.gap_


def test_predictions_stay_in_the_range_of_the_ratings():
    rows, cols, values, _ = low_rank(noise=0.5)
    values = np.clip(np.rint(values), 1, 5)
    model = MatrixCompleter(radius=200.0).fit(rows, cols, values)
    every = model.predict(np.repeat(np.arange(40), 30), np.tile(np.arange(30), 40))
    assert every.min() >= 1
    assert every.max() <= 5
    assert (
        MatrixCompleter(radius=200.0, clip=False)
        .fit(rows, cols, values)
        .predict(np.repeat(np.arange(40), 30), np.tile(np.arange(30), 40))
        .max()
        > 5
    )


def test_repeats_are_averaged():
    once = MatrixCompleter(radius=1.0).fit([0, 0, 1, 1], [0, 1, 0, 1], [2.0, 3.0, 4.0, 5.0])
    twice = MatrixCompleter(radius=1.0).fit([0, 0, 0, 1, 1], [0, 0, 1, 0, 1], [1.0, 3.0, 3.0, 4.0, 5.0])
    np.testing.assert_allclose(once.predict([0, 1], [0, 1]), twice.predict([0, 1], [0, 1]), rtol=1e-6)


def test_very_little_data():
    one = MatrixCompleter().fit(["a"], ["b"], [4.0])
    assert one.predict("a", "b") == pytest.approx(4.0)
    assert one.recommend("a") == []
    same = MatrixCompleter().fit(np.arange(20) % 5, np.arange(20) % 4, np.full(20, 3.0))
    assert same.rank_ == 0
    assert same.predict(0, 0) == pytest.approx(3.0)
    assert same.method_ == "effects alone"
    few = MatrixCompleter().fit([0, 1, 2], [0, 1, 0], [1.0, 2.0, 5.0])
    assert 1 <= few.predict(0, 1) <= 5


def test_params_clone_pickle_repeat():
    model = MatrixCompleter(radius=9.0, rank_limit=3, shrinkage=1.0)
    copy = clone(model)
    assert copy is not model
    assert copy.get_params() == model.get_params()
    assert model.set_params(radius=2.0).radius == 2.0
    assert "radius=2.0" in repr(model)
    rows, cols, values, _ = low_rank(15, 12, share=0.7, noise=0.2)
    first, again = (MatrixCompleter().fit(rows, cols, values) for _ in range(2))
    assert first.predict(1, 1) == again.predict(1, 1)
    assert pickle.loads(pickle.dumps(first)).predict(1, 1) == first.predict(1, 1)
    with pytest.raises(NotFittedError):
        copy.predict(1, 1)


def test_fitting_does_not_touch_what_it_is_given():
    rows, cols, values, _ = low_rank(10, 8)
    kept = rows.copy(), cols.copy(), values.copy()
    MatrixCompleter(radius=3.0).fit(rows, cols, values)
    for before, after in zip(kept, (rows, cols, values), strict=True):
        np.testing.assert_array_equal(before, after)


def test_stopping_early_warns_and_is_honest():
    rows, cols, values, _ = low_rank(noise=0.5)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = MatrixCompleter(radius=30.0, max_iter=1, method="fw", tol=1e-9).fit(rows, cols, values)
    assert model.gap_ > 0
    assert model.n_iter_ == 1
    assert model.method_ == "fw"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MatrixCompleter(radius="big").fit([0], [0], [1.0]), "radius must be a positive number or 'auto'"),
        (lambda: MatrixCompleter(radius=-1.0).fit([0], [0], [1.0]), "radius must be a positive finite number"),
        (lambda: MatrixCompleter(weighting=2.0).fit([0], [0], [1.0]), "weighting"),
        (lambda: MatrixCompleter(rank_limit=0).fit([0], [0], [1.0]), "rank_limit"),
        (lambda: MatrixCompleter().fit([0, 1], [0], [1.0]), "equally many"),
        (lambda: MatrixCompleter().fit([], [], []), "empty"),
        (lambda: MatrixCompleter().fit([0, 1], [0, 1], [1.0, np.nan]), "rating number 2 is nan"),
        (lambda: MatrixCompleter().fit([0, None], [0, 1], [1.0, 2.0]), "user number 2 is missing"),
        (lambda: MatrixCompleter().fit([0, 1], [0, 1], ["good", "bad"]), "ratings must be numbers"),
    ],
)
def test_bad_input_is_a_clear_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_wrong_kinds_of_input():
    with pytest.raises(TypeError, match="sparse matrix"):
        MatrixCompleter().fit(np.eye(3))
    with pytest.raises(TypeError, match="two of the three"):
        MatrixCompleter().fit([0], [1])
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"user": [1], "item": [2], "rating": [3.0]})
    with pytest.raises(ValueError, match="did you mean 'rating'"):
        MatrixCompleter().fit(frame, columns=("user", "item", "ratng"))


def test_bad_questions_are_clear_sentences(fitted):
    model, *_ = fitted
    with pytest.raises(ValueError, match="equally many, or one single, got 2, 3"):
        model.predict([1, 2], [1, 2, 3])
    with pytest.raises(TypeError, match="one-dimensional lists"):
        model.predict([[1]], [1])
    assert model.predict([], []).shape == (0,)


def test_missing_cells_of_frames_are_named():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"user": ["a", "b", "c"], "item": [1, None, 2], "rating": [1.0, 2.0, 3.0]}
    for frame in (pandas.DataFrame(columns).astype({"item": "Int64", "user": "category"}), polars.DataFrame(columns)):
        with pytest.raises(ValueError, match="item number 2 is missing"):
            MatrixCompleter().fit(frame)
    for unit in ("s", "ns"):
        with pytest.raises(TypeError, match="convert them to text"):
            MatrixCompleter().fit(pandas.to_datetime(["2020", "2021"]).as_unit(unit), [1, 2], [1.0, 2.0])


def test_stored_zeros_are_ratings():
    matrix = coo_array(([0.0, 4.0, 2.0], ([0, 0, 1], [0, 1, 1])), (3, 2))
    model = MatrixCompleter(radius=1.0).fit(matrix)
    assert model.rating_range_ == (0.0, 4.0)
    assert len(model.users_) == 3
    assert model.user_effects_[2] == 0.0


@pytest.mark.data
def test_movielens_with_the_radius_chosen_on_the_training_part(data_dir):
    """One public split; benchmarks/recommender.py does all five."""
    base = datasets.load("movielens100k", split="u3.base", raw=True, directory=data_dir)
    test = datasets.load("movielens100k", split="u3.test", raw=True, directory=data_dir)
    model = MatrixCompleter().fit(base.rows, base.cols, base.values)
    effects = MatrixCompleter(radius=1e-6).fit(base.rows, base.cols, base.values)
    error = -model.score(test.rows, test.cols, test.values)
    assert error <= 0.903
    assert error <= -effects.score(test.rows, test.cols, test.values) - 0.03
    assert len(model.search_) >= 3
    assert model.gap_ <= 2e-3 * model.lower_bound_ / 0.9


def test_ctrl_c_ends_the_whole_search(monkeypatch):
    """A first Ctrl-C only asks a solve to stop; the solves after it must not go on."""
    from frankwolfe.estimators.completion import completion_solver

    solves = []

    def solve_and_interrupt(*args, **kwargs):
        solves.append(1)
        result = fw.minimize(*args, **kwargs, callback=lambda _: signal.raise_signal(signal.SIGINT))
        return result

    monkeypatch.setattr(completion_solver, "minimize", solve_and_interrupt)
    rows, cols, values, _ = low_rank(noise=0.3)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        MatrixCompleter().fit(rows, cols, values)
    assert len(solves) == 1
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_in_the_last_step_of_a_solve_is_not_lost(monkeypatch):
    from frankwolfe.estimators.completion import completion_solver
    from frankwolfe.terminal import interruptible

    def solve_to_the_end(*args, **kwargs):
        with interruptible():
            signal.raise_signal(signal.SIGINT)
        return fw.minimize(*args, **kwargs)

    monkeypatch.setattr(completion_solver, "minimize", solve_to_the_end)
    rows, cols, values, _ = low_rank(noise=0.3)
    with pytest.raises(KeyboardInterrupt):
        MatrixCompleter().fit(rows, cols, values)

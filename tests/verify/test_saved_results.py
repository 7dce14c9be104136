"""Results as files: they come back whole, can be judged alone, and damage is named."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csc_array
from tests.cli.commands import call, refused

import frankwolfe as fw


@pytest.fixture(scope="module")
def solved():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 6))
    f, X = fw.Logistic(A, A[:, 0] > 0.3, intercept=True), fw.L2Ball(2.0)
    return fw.minimize(f, X, tol=1e-8), f, X


def test_a_result_comes_back_whole(solved, tmp_path):
    result, f, X = solved
    result.save(tmp_path / "run.npz", f, X)
    again = fw.Result.load(tmp_path / "run.npz")
    assert np.array_equal(again.x, result.x)
    assert again.x.dtype == result.x.dtype
    assert np.array_equal(again.trace.to_array(), result.trace.to_array())
    for name in ("fun", "lower_bound", "gap", "status", "message", "n_iter", "n_pass", "time", "method", "problem"):
        assert getattr(again, name) == getattr(result, name)
    assert repr(again) == repr(result)


def test_a_file_is_judged_as_the_result_is(solved, tmp_path):
    result, f, X = solved
    result.save(tmp_path / "run.npz", f, X)
    here, there = fw.verify(result, f, X), fw.verify(tmp_path / "run.npz")
    assert here == there
    assert here.ok


def test_sparse_data_and_low_rank_points_fit_in_a_file(tmp_path):
    rng = np.random.default_rng(0)
    A = csc_array(rng.standard_normal((30, 5)) * (rng.random((30, 5)) < 0.5))
    f, X = fw.LeastSquares(A, rng.standard_normal(30)), fw.L1Ball(1.0)
    result = fw.minimize(f, X, tol=1e-9)
    result.save(tmp_path / "sparse.npz", f, X)
    assert fw.verify(tmp_path / "sparse.npz") == fw.verify(result, f, X)
    g, ball = fw.MatrixCompletion([0, 1, 2], [0, 1, 1], [1.0, 2.0, 3.0], shape=(3, 2)), fw.NuclearBall(1.0)
    found = fw.minimize(g, ball)
    found.save(tmp_path / "low.npz", g, ball)
    assert np.array_equal(fw.Result.load(tmp_path / "low.npz").x.toarray(), found.x.toarray())


def test_without_the_problem_a_file_loads_and_is_not_judged(solved, tmp_path):
    solved[0].save(tmp_path / "run.npz")
    assert fw.Result.load(tmp_path / "run.npz").fun == solved[0].fun
    with pytest.raises(ValueError, match="holds no objective"):
        fw.verify(tmp_path / "run.npz")


def test_damage_is_named(solved, tmp_path):
    file = tmp_path / "run.npz"
    with pytest.raises(FileNotFoundError, match="does not exist"):
        fw.Result.load(file)
    solved[0].save(file, *solved[1:])
    whole = file.read_bytes()
    for broken in (whole[: len(whole) // 2], b"", b"hello", whole[:-30]):
        file.write_bytes(broken)
        with pytest.raises(ValueError, match="damaged or not a file"):
            fw.Result.load(file)
    place = whole.index(np.asarray(solved[0].x).tobytes())
    file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    with pytest.raises(ValueError, match="damaged"):
        fw.Result.load(file)
    np.savez(file, a=np.ones(3))
    with pytest.raises(ValueError, match="not a file that"):
        fw.Result.load(file)
    np.savez(file, header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="damaged or not a file"):
        fw.Result.load(file)


def test_nothing_is_left_behind_when_writing_fails(solved, tmp_path):
    odd = replace(solved[0], message=object())
    with pytest.raises(TypeError, match="cannot hold"):
        odd.save(tmp_path / "run.npz", *solved[1:])
    assert not list(tmp_path.iterdir())


def test_the_command(solved, tmp_path):
    result, f, X = solved
    result.save(tmp_path / "run.npz", f, X)
    assert "Verification: verified" in call("verify", tmp_path / "run.npz").stdout
    facts = json.loads(call("verify", tmp_path / "run.npz", "--json").stdout)
    assert facts["ok"] is True
    assert facts["gap"] <= 2e-8
    replace(result, lower_bound=result.fun + 1.0).save(tmp_path / "lie.npz", f, X)
    assert "false: lower_bound" in call("verify", tmp_path / "lie.npz", code=3).stdout
    (tmp_path / "other.npz").write_bytes(b"hello")
    assert "damaged or not a file" in refused("verify", tmp_path / "other.npz")
    assert "does not exist" in refused("verify", tmp_path / "none.npz")

"""Compiled or plain: exactly when the count says so, remembered across processes, one choice for a whole run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import frankwolfe as fw
from frankwolfe.backends import compile_policy as policy
from frankwolfe.kernels.pattern import pattern_products
from frankwolfe.kernels.rows import compact_storage
from frankwolfe.methods.second_order import working_set

PLAIN, COMPILED = "array operations on row blocks", "one compiled pass"
RNG = np.random.default_rng(0)
A = RNG.standard_normal((300, 12)) * (RNG.random((300, 12)) < 0.5)
B = A @ np.linspace(-1, 1, 12) + 0.5 * RNG.standard_normal(300) > 0


def forget() -> None:
    """Be another process, which knows what is on file."""
    policy._unsaved.clear()
    policy._used.clear()
    policy._without.clear()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch):
    """An empty folder of counts, which decide; compiled code stays where it is."""
    monkeypatch.setenv("FRANKWOLFE_COMPILE", "auto")
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(policy, "counts_file", lambda: tmp_path / "cache" / "counts.txt")
    forget()
    yield tmp_path / "cache"
    forget()


@pytest.fixture
def small(folder, monkeypatch) -> None:
    """Data of any size may be compiled, and soon."""
    monkeypatch.setattr(compact_storage, "COMPILED_FROM", 1)
    monkeypatch.setattr(pattern_products, "COMPILED_FROM", 1)
    monkeypatch.setattr(policy, "WORTH", 100_000)
    monkeypatch.setattr(policy, "READS", 1)


def test_compiling_pays_exactly_when_enough_was_read(folder) -> None:
    coming = 10 * policy.READS
    policy.read_plainly("rows", policy.WORTH - coming - 1)
    assert not policy.pays("rows", 10)
    policy.read_plainly("rows", 1)
    assert not policy.pays("other rows", 10)
    assert policy.pays("rows", 10)
    assert policy.pays("rows", 1)  # they are compiled now
    assert policy.pays("large", policy.WORTH // policy.READS)  # one solve is enough


def test_small_data_use_what_is_loaded_and_load_nothing(folder) -> None:
    assert policy.pays("rows", policy.WORTH)
    with policy.choices_of_run() as made:
        assert policy.pays("rows", 10, loads=False)
    forget()
    assert not policy.pays("rows", 10, loads=False)
    with policy.choices_of_run(made):  # a run that goes on keeps to what it chose
        assert policy.pays("rows", 10, loads=False)
    with policy.choices_of_run():
        assert not policy.pays("rows", 10, loads=False)
        assert policy.pays("rows", 10)  # what is large enough loads them


def test_counts_and_what_is_compiled_are_remembered(folder) -> None:
    policy.read_plainly("rows", policy.WORTH // 2)
    policy.save()
    forget()
    assert policy.counted()[0]["rows"] == policy.WORTH // 2
    policy.read_plainly("rows", policy.WORTH // 2)
    assert policy.pays("rows", 1)
    forget()
    assert policy.pays("rows", 1)
    assert len(list(folder.iterdir())) == 1


def test_processes_count_together(tmp_path) -> None:
    add = "from frankwolfe.backends import compile_policy as p\nfor _ in range(50): p.read_plainly('r', 7); p.save()"
    several = [
        subprocess.Popen([sys.executable, "-c", add], env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)})
        for _ in range(2)
    ]
    assert [process.wait() for process in several] == [0, 0]
    (file,) = tmp_path.iterdir()
    assert sum(int(line.split("\t")[1]) for line in file.read_text("utf-8").splitlines()) == 2 * 50 * 7


def test_the_file_stays_short(folder, monkeypatch) -> None:
    monkeypatch.setattr(policy, "LONG", 100)
    assert policy.pays("compiled", policy.WORTH)
    for _ in range(50):
        policy.read_plainly("rows", 3)
        policy.save()
    forget()
    counts, compiled = policy.counted()
    assert (counts["rows"], compiled) == (150, {"compiled"})
    (file,) = folder.iterdir()
    assert file.stat().st_size < 200


def test_damaged_counts_are_passed_over(folder) -> None:
    file = folder / "counts.txt"
    file.write_text("rows\t12\nrows\nrows\tmany\n\nrows\t" + 40 * "9" + "\nrows\t5\n", "utf-8")
    assert policy.counted()[0] == {"rows": 17}
    file.write_bytes(b"\xff\xfe\x00")
    assert not policy.pays("rows", 1)


def test_without_a_folder_counts_live_in_the_process(tmp_path, folder, monkeypatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("FRANKWOLFE_COMPILE", "auto")
    (tmp_path / "file").write_text("a file, no folder")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    found = policy.counts_file.__wrapped__()
    assert found is None
    monkeypatch.setattr(policy, "counts_file", lambda: found)
    policy.read_plainly("rows", policy.WORTH)
    policy.save()
    assert policy.pays("rows", 1)


def test_the_setting_overrules_the_count(folder, monkeypatch) -> None:
    monkeypatch.setenv("FRANKWOLFE_COMPILE", "never")
    assert not policy.pays("rows", policy.WORTH)
    monkeypatch.setenv("FRANKWOLFE_COMPILE", "always")
    assert policy.pays("rows", 1)
    monkeypatch.setenv("FRANKWOLFE_COMPILE", "sometimes")
    with pytest.raises(ValueError, match="FRANKWOLFE_COMPILE must be one of auto, always, never, got 'sometimes'"):
        policy.pays("rows", 1)


def test_a_run_keeps_to_its_choice(folder) -> None:
    with policy.choices_of_run():
        assert not policy.pays("rows", 1)
        policy.read_plainly("rows", policy.WORTH)
        with policy.choices_of_run():  # a run within the run
            assert not policy.pays("rows", 1)
    with policy.choices_of_run():
        assert policy.pays("rows", 1)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("domain", [fw.L2Ball(1.0), fw.L1Ball(2.0)])
def test_one_objective_is_solved_plainly_then_compiled(small, form, domain) -> None:
    f = fw.Logistic(form(A), B)
    results = [fw.minimize(f, domain, tol=1e-9)]
    while COMPILED not in results[-1].paths and len(results) < 100:
        results.append(fw.minimize(f, domain, tol=1e-9))
    first, last = results[0], results[-1]
    assert PLAIN in first.paths
    assert PLAIN in str(fw.explain(first))
    assert COMPILED in str(fw.explain(last))
    assert all(COMPILED in r.paths or PLAIN in r.paths for r in results)
    np.testing.assert_allclose(last.fun, first.fun, rtol=0, atol=2e-9)
    for result in (first, last):
        assert fw.verify(result, f, domain).ok


def test_a_matrix_is_completed_plainly_then_compiled(small) -> None:
    places = RNG.choice(600, 300, replace=False)
    f = fw.MatrixCompletion(places // 20, places % 20, RNG.standard_normal(300), (30, 20))
    plain = fw.minimize(f, fw.NuclearBall(20.0), tol=1e-6)
    assert not f.pattern.compiled
    policy.read_plainly(pattern_products.FAMILY, policy.WORTH)
    compiled = fw.minimize(f, fw.NuclearBall(20.0), tol=1e-6)
    assert f.oriented(False).pattern.compiled
    assert abs(plain.fun - compiled.fun) <= 2e-6
    for result in (plain, compiled):
        assert fw.verify(result, f, fw.NuclearBall(20.0)).ok


def test_without_a_tolerance_the_steps_to_come_are_known(small) -> None:
    run = {"method": "afw", "tol": 0, "rtol": 0}
    few = fw.minimize(fw.Logistic(A, B), fw.L2Ball(1.0), max_iter=3, **run)
    hasty = fw.minimize(fw.Logistic(A, B), fw.L2Ball(1.0), max_iter=50, time_limit=600, **run)
    many = fw.minimize(fw.Logistic(A, B), fw.L2Ball(1.0), max_iter=50, **run)
    assert (set(few.paths), set(hasty.paths), set(many.paths)) == ({PLAIN}, {PLAIN}, {COMPILED})


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_resumed_run_keeps_to_the_path_that_it_began_with(small, compiled, form, tmp_path, monkeypatch) -> None:
    def solve(steps: int, checkpoint: fw.Checkpoint | None = None) -> fw.Result:
        f = fw.Logistic(form(A), B)
        return fw.minimize(f, fw.L2Ball(1.0), method="afw", tol=1e-15, max_iter=steps, checkpoint=checkpoint)

    monkeypatch.setattr(policy, "WORTH", 1 if compiled else 1 << 60)
    saved = fw.Checkpoint(tmp_path / "run.npz")
    whole, _ = solve(20), solve(8, saved)
    forget()
    monkeypatch.setattr(policy, "WORTH", 1 << 60 if compiled else 1)
    monkeypatch.setattr(policy, "counts_file", lambda: None)  # where nothing is known
    resumed = solve(20, saved)
    assert set(whole.paths) == set(resumed.paths) == {COMPILED if compiled else PLAIN}
    assert np.array_equal(resumed.x, whole.x)
    assert (resumed.fun, resumed.lower_bound) == (whole.fun, whole.lower_bound)
    assert set(solve(20).paths) == {PLAIN if compiled else COMPILED}


def test_a_kernel_is_taken_up_within_a_run_when_it_repays(folder, monkeypatch) -> None:
    monkeypatch.setattr(policy, "REPAID", 1000)
    monkeypatch.setattr(policy, "LOADED", 10)
    with policy.choices_of_run() as made:
        assert not policy.repays("descent", 900)
        saved = dict(made)
        assert policy.repays("descent", 200)
        assert policy.repays("descent", 0)
    with policy.choices_of_run(saved):  # goes on as it would have, whatever is known by now
        assert not policy.repays("descent", 99)
        assert policy.repays("descent", 99)
    forget()
    policy.save()
    assert not policy.repays("descent", 9)  # compiled, but not loaded here
    assert policy.repays("descent", 9)
    monkeypatch.setenv("FRANKWOLFE_COMPILE", "never")
    assert not policy.repays("descent", 1e9)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_sparse_columns_are_descended_along_with_plain_passes(folder, form, monkeypatch) -> None:
    monkeypatch.setattr(policy, "REPAID", 1)
    monkeypatch.setattr(working_set, "FIRST", 1)  # or there would be a Hessian to begin with
    wide = form(RNG.standard_normal((100, 400)) * (RNG.random((100, 400)) < 0.3))
    f = fw.Logistic(wide, RNG.random(100) < 0.5)
    result = fw.minimize(f, fw.L1Ball(20.0), tol=1e-9)
    assert working_set.FAMILY in policy.counted()[1]
    assert COMPILED not in result.paths
    assert fw.verify(result, f, fw.L1Ball(20.0)).ok

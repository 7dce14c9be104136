"""Checkpoints: bit for bit, whatever happens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.methods.properties import check_resumption
from tests.problems import Case, case

import frankwolfe as fw
from frankwolfe.checkpoint import identity
from frankwolfe.methods import METHODS
from frankwolfe.problem import Problem
from frankwolfe.run import Run
from frankwolfe.serialisation import decode

EXTRA = {
    "afw-line-search": fw.AcceleratedFrankWolfe(line_search=True),
    "afw-sticky": fw.AcceleratedFrankWolfe(offset=2, sticky=True),
    "fw-short": fw.FrankWolfe(fw.ShortStep()),
    "fw-backtracking": fw.FrankWolfe(fw.Backtracking()),
    "fw-exact": fw.FrankWolfe(fw.ExactLineSearch()),
    "apgd-restart": fw.AcceleratedProjectedGradient(restart=True),
}
ALL = {**{name: make() for name, make in METHODS.items()}, **EXTRA}
PROBLEM_NAMES = ["logistic-l2", "logistic-l1", "quadratic-simplex", "function-l2", "completion-nuclear"]


def problem_for(method: fw.Method, name: str) -> Problem:
    objective, domain, *_ = case(name)
    if method.name.startswith("agm"):
        A = np.random.default_rng(0).standard_normal((40, 12))
        objective, domain = fw.LeastSquares(A, A[:, 0], ridge=0.1), None
    return Problem(objective.oriented(domain is not None and domain.sparse_atoms), domain)


def applies(method: fw.Method, problem: Problem) -> bool:
    try:
        method.check(problem)
    except (TypeError, ValueError):
        return False
    return True


def same(a, b) -> bool:
    if hasattr(a, "toarray") and not isinstance(a, np.ndarray):
        a, b = a.toarray(), b.toarray()
    return a.dtype == b.dtype and np.array_equal(a, b)


@pytest.mark.parametrize("label", ALL)
@pytest.mark.parametrize("name", PROBLEM_NAMES)
def test_save_and_load_at_every_iteration(label: str, name: str) -> None:
    """A state that goes through the file format after every step makes the same iterates, to the last bit."""
    method = ALL[label]
    problem = problem_for(method, name)
    if not applies(method, problem):
        pytest.skip(f"{label} does not apply to {name}")
    check_resumption(method, Case(problem.objective, problem.domain, 0.0, case(name).x0), 25)


@pytest.mark.parametrize("label", ALL)
def test_stop_and_go_on(label: str, tmp_path: Path) -> None:
    """A run stopped at its limit goes on when the limit is raised, as if it had never stopped."""
    method = ALL[label]
    problem = next((p for p in (problem_for(method, n) for n in PROBLEM_NAMES[1:]) if applies(method, p)), None)
    if problem is None:
        halves = fw.Product(fw.L1Ball(1.0), fw.L1Ball(2.0), shapes=[(6,), (6,)])
        problem = Problem(case("logistic-l1").objective, halves)
    once = fw.minimize(problem.objective, problem.domain, method=method, tol=0, max_iter=30)
    save = fw.Checkpoint(tmp_path / "run.npz", every=0)
    for limit in (0, 1, 7, 8, 30):
        parts = fw.minimize(problem.objective, problem.domain, method=method, tol=0, max_iter=limit, checkpoint=save)
    assert same(parts.x, once.x)
    for column in ("k", "fun", "lower_bound", "gap", "n_grad", "n_lmo", "n_proj"):
        assert np.array_equal(parts.trace[column], once.trace[column]), column


@pytest.mark.parametrize(("method", "steps"), [("fw", 3), ("afw", 3), ("fw", 9), ("afw", 9)])
def test_bounds_of_a_run_in_single_precision_go_on_too(method: str, steps: int, tmp_path: Path) -> None:
    """Where the best bound touches that is not proven yet, and when a proof is due: both are kept."""
    rng = np.random.default_rng(1)
    A = (20 * rng.standard_normal((20, 4))).astype("f4")
    f, options = fw.Logistic(A, rng.random(20) < 0.5), {"method": method, "max_iter": steps, "tol": 1e-7}
    union = fw.UnionHull(fw.L1Ball(0.5) + rng.standard_normal(4), fw.L2Ball(0.2))
    for place, domain in enumerate((union, fw.L1Ball(3.0), fw.Box(-np.arange(1.0, 5), np.arange(1.0, 5)))):
        once = fw.minimize(f, domain, **options)
        for k in range(1, steps):
            save = fw.Checkpoint(tmp_path / f"{place} {k}.npz", every=0)
            fw.minimize(f, domain, checkpoint=save, callback=lambda it, k=k: it.k >= k, **options)
            again = fw.minimize(f, domain, checkpoint=save, **options)
            assert same(again.x, once.x)
            assert (again.fun, again.lower_bound, again.n_iter) == (once.fun, once.lower_bound, once.n_iter)


def test_a_finished_run_returns_its_result(tmp_path: Path) -> None:
    objective, domain, *_ = case("logistic-l2")
    save = fw.Checkpoint(tmp_path / "run.npz")
    first = fw.minimize(objective, domain, method="afw", tol=1e-3, checkpoint=save)
    again = fw.minimize(objective, domain, method="afw", tol=1e-3, checkpoint=save)
    assert first.success
    assert again.success
    assert again.n_iter == first.n_iter
    assert again.time == first.time
    assert same(again.x, first.x)
    tighter = fw.minimize(objective, domain, method="afw", tol=1e-4, checkpoint=save)
    assert tighter.success
    assert tighter.n_iter > first.n_iter


def test_a_resumed_run_remembers_that_the_function_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trials: list[int] = []
    monkeypatch.setattr(Run, "_try_users_code", lambda run: trials.append(run.state.k))
    f = fw.Function(lambda x: 0.5 * float((x - 1) @ (x - 1)), lambda x: x - 1)
    save = fw.Checkpoint(tmp_path / "run.npz")
    for limit in (40, 80):
        fw.minimize(f, fw.Simplex(3, radius=2.0), method="fw", tol=0, max_iter=limit, checkpoint=save)
    assert len(trials) == 1


def test_a_checkpoint_of_another_problem_is_refused(tmp_path: Path) -> None:
    objective, domain, *_ = case("logistic-l2")
    other, *_ = case("logistic-l2", 1)
    save = fw.Checkpoint(tmp_path / "run.npz")
    fw.minimize(objective, domain, method="afw", max_iter=5, checkpoint=save)
    before = Path(save.path).read_bytes()
    for changed in (
        lambda: fw.minimize(other, domain, method="afw", checkpoint=save),
        lambda: fw.minimize(objective, fw.L2Ball(2.5), method="afw", checkpoint=save),
        lambda: fw.minimize(objective, domain, method="fw", checkpoint=save),
        lambda: fw.minimize(objective, domain, np.full(12, 0.1), method="afw", checkpoint=save),
        lambda: fw.minimize(objective, domain, method="afw", random_state=3, checkpoint=save),
    ):
        with pytest.raises(fw.CheckpointError, match="another problem"):
            changed()
    assert Path(save.path).read_bytes() == before, "a refused checkpoint is left alone"


@pytest.mark.parametrize("damage", ["truncated", "garbage", "empty", "flipped", "not a checkpoint"])
def test_damaged_files_are_one_clear_error(tmp_path: Path, damage: str) -> None:
    objective, domain, *_ = case("logistic-l2")
    path = tmp_path / "run.npz"
    save = fw.Checkpoint(path)
    fw.minimize(objective, domain, method="afw", max_iter=5, checkpoint=save)
    whole = path.read_bytes()
    if damage == "not a checkpoint":
        np.savez(path, a=np.ones(3))
    else:
        flipped = bytearray(whole)
        flipped[whole.rfind(b"\x93NUMPY") + 130] ^= 0xFF  # inside an array
        path.write_bytes(
            {"truncated": whole[: len(whole) // 2], "garbage": b"\x00" * 200, "empty": b"", "flipped": bytes(flipped)}[
                damage
            ]
        )
    with pytest.raises(fw.CheckpointError, match=r"run\.npz .*delete it"):
        fw.minimize(objective, domain, method="afw", max_iter=9, checkpoint=save)


def test_a_failing_function_leaves_a_checkpoint(tmp_path: Path) -> None:
    calls = 0

    def f(x):
        nonlocal calls
        calls += 1
        if calls == 40:
            raise RuntimeError("the simulator crashed")
        return float(np.sum((x - 1) ** 2))

    def grad(x):
        return 2 * (x - 1)

    save = fw.Checkpoint(tmp_path / "run.npz", every=1000)
    with pytest.raises(RuntimeError, match="simulator"):
        fw.minimize(
            fw.Function(f, grad), fw.L2Ball(1.0), np.zeros(3), method="afw", tol=0, max_iter=50, checkpoint=save
        )
    resumed = fw.minimize(
        fw.Function(f, grad), fw.L2Ball(1.0), np.zeros(3), method="afw", tol=0, max_iter=50, checkpoint=save
    )
    calls = -10_000
    once = fw.minimize(fw.Function(f, grad), fw.L2Ball(1.0), np.zeros(3), method="afw", tol=0, max_iter=50)
    assert np.array_equal(resumed.x, once.x)


def test_functions_with_other_data_are_told_apart(tmp_path: Path) -> None:
    """Two closures share their code and differ in what they have caught: the second must not go on from the first."""

    def problem(target: float) -> fw.Function:
        return fw.Function(lambda x: float(np.sum((x - target) ** 2)), lambda x: 2 * (x - target))

    save = fw.Checkpoint(tmp_path / "run.npz")
    fw.minimize(problem(1.0), fw.L2Ball(1.0), np.zeros(3), max_iter=5, checkpoint=save)
    with pytest.raises(fw.CheckpointError, match="another problem"):
        fw.minimize(problem(2.0), fw.L2Ball(1.0), np.zeros(3), max_iter=5, checkpoint=save)


def test_identity_tells_problems_apart() -> None:
    assert identity(fw.Box(np.zeros(3), np.ones(3))) != identity(fw.Box(np.zeros(3), np.array([1.0, 1.0, 2.0])))
    assert identity(np.zeros(2, np.float32)) != identity(np.zeros(2))
    assert identity(fw.GroupBall(1.0, groups=[[0], [1]])) != identity(fw.GroupBall(1.0, groups=[[0, 1]]))


def test_states_hold_nothing_that_runs_code(tmp_path: Path) -> None:
    """The file is arrays and JSON: NumPy loads it with pickle refused, and unknown type names are an error."""
    objective, domain, *_ = case("logistic-l2")
    path = tmp_path / "run.npz"
    fw.minimize(objective, domain, method="afw", max_iter=3, checkpoint=fw.Checkpoint(path))
    with np.load(path, allow_pickle=False) as file:
        assert all(file[name].dtype != object for name in file.files)
    with pytest.raises(KeyError):
        decode({"type": "os.system", "number": 0, "fields": ["true"]}, [])


KILLED = """
import os, random, signal, time
import numpy as np
import frankwolfe as fw
from tests.methods.properties import check_resumption
from tests.problems import Case, case

def solve(objective, domain, path, out):
    save = fw.Checkpoint(path, every=0)
    result = fw.minimize(objective, domain, method={method!r}, tol=0, max_iter={steps}, checkpoint=save)
    np.save(out, result.x if isinstance(result.x, np.ndarray) else result.x.toarray())

def stamp(path):
    found = os.stat(path) if os.path.exists(path) else None
    return found and (found.st_ino, found.st_mtime_ns)

rng = random.Random({method!r})
for run, name in enumerate({names!r}):
    objective, domain, *_ = case(name)
    path, out, kills = f"{{run}}.npz", f"{{run}}.npy", 0
    while not os.path.exists(out):
        changes = rng.randrange(1, 12) if kills < 3 else -1
        last, worker = stamp(path), os.fork()
        if not worker:
            solve(objective, domain, path, out)
            os._exit(0)
        while changes and os.waitpid(worker, os.WNOHANG) == (0, 0):
            time.sleep(5e-4)
            if stamp(path) != last:
                last, changes = stamp(path), changes - 1
        if changes == 0:
            time.sleep(2e-3 * rng.random())
            os.kill(worker, signal.SIGKILL)
            os.waitpid(worker, 0)
            kills += 1
    print(name, kills)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("method", ["fw", "afw", "apgd", "pgd"])
def test_killed_runs_go_on_bit_for_bit(tmp_path: Path, method: str) -> None:
    """Five runs of each of four methods (20 in all), killed with kill -9 in the midst of steps until they finish."""
    steps = 50
    names = [PROBLEM_NAMES[run % 3 if method != "fw" else 4 * (run % 2)] for run in range(5)]
    text = KILLED.format(method=method, steps=steps, names=names)
    root = str(Path(__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()] == names
    assert sum(int(line.split()[1]) for line in done.stdout.splitlines()) > len(names)
    for run, name in enumerate(names):
        objective, domain, *_ = case(name)
        once = fw.minimize(objective, domain, method=method, tol=0, max_iter=steps)
        expected = once.x if isinstance(once.x, np.ndarray) else once.x.toarray()
        assert np.array_equal(np.load(tmp_path / f"{run}.npy"), expected)

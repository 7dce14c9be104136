"""Known values on the real data, and matrix completion at a size where a dense matrix cannot exist."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe import datasets

# Optima certified by the Frank-Wolfe gap: to 1e-11 and 3e-9 by restarted projected AGM, to 3e-12 by projected Newton.
MUSHROOMS = {fw.L2Ball(20.0): 0.00055678051478, fw.L1Ball(60.0): 0.00296424166}
A9A = 0.3226207079


@pytest.mark.data
@pytest.mark.parametrize(("domain", "expected"), [(fw.L2Ball(20.0), 2.3e-5), (fw.L1Ball(60.0), 7.9e-5)])
def test_mushrooms(data_dir: Path, domain: fw.ProjectableSet, expected: float) -> None:
    data = datasets.load("mushrooms", directory=data_dir)
    result = fw.minimize(fw.Logistic(data.A, data.b), domain, method="afw", tol=0, max_iter=500)
    optimum = MUSHROOMS[domain]
    assert result.trace.fun[-1] - optimum == pytest.approx(expected, rel=0.1)
    assert result.lower_bound <= optimum + 3e-9
    assert optimum <= result.fun


@pytest.mark.data
@pytest.mark.parametrize(("method", "expected"), [("apgd", 3.3e-5), ("afw", 6.4e-4), ("pgd", 1.9e-3), ("fw", 3.2e-3)])
def test_a9a(data_dir: Path, method: str, expected: float) -> None:
    """Inactive l2 ball R=40 at k=1000: AGM < AFW < GD < FW."""
    data = datasets.load("a9a", directory=data_dir)
    result = fw.minimize(fw.Logistic(data.A, data.b), fw.L2Ball(40.0), method=method, tol=0, max_iter=1000)
    assert result.trace.fun[-1] - A9A == pytest.approx(expected, rel=0.1)
    assert result.lower_bound <= A9A <= result.fun


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(("method", "expected"), [("fw", 1.2e-3), ("afw", 5.3e-4)])
def test_movielens(data_dir: Path, method: str, expected: float) -> None:
    optimum = 0.31822862111
    data = datasets.load("movielens100k", directory=data_dir)
    f = fw.MatrixCompletion(data.rows, data.cols, data.values, data.shape)
    result = fw.minimize(f, fw.NuclearBall(2.5), method=method, tol=0, max_iter=300)
    assert result.trace.fun[-1] - optimum == pytest.approx(expected, rel=0.1)
    assert result.lower_bound <= optimum + 1e-11
    assert result.failure_probability == 0.0
    assert np.all(result.trace.lower_bound <= optimum + 1e-11)


LARGE = """
import resource
import numpy as np
import frankwolfe as fw
rng = np.random.default_rng(0)
m = n = 60_000
rows, cols = rng.integers(0, m, 310_000), rng.integers(0, n, 310_000)
_, first = np.unique(rows * np.int64(n) + cols, return_index=True)
first = first[:300_000]
rows, cols = rows[first], cols[first]
left, right = rng.standard_normal((m, 2)), rng.standard_normal((n, 2))
values = np.einsum("ij,ij->i", left[rows], right[cols])
values /= np.linalg.norm(values)
f = fw.MatrixCompletion(rows, cols, values, (m, n))
result = fw.minimize(f, fw.NuclearBall(3.0), method="fw", tol=0, max_iter=30)
assert result.n_iter == 30 and result.x.stored and result.gap < np.inf, result
assert result.failure_probability > 0, "a bound at this size is probabilistic and must say so"
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
def test_no_dense_matrix_is_ever_made() -> None:
    """m = n = 60 000 with 300 000 observed entries: a run stays under 2 GB (a dense matrix would be 29 GB)."""
    done = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 2e9

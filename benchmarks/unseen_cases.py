"""Data for the benchmark on unseen data: real files, and families that break what a solver may take for granted."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.peers import text
from frankwolfe.datasets import DatasetError, load

Data = tuple[Any, np.ndarray]
"""Rows, dense or CSR, and labels -1 and 1."""


def rng(*key: int) -> np.random.Generator:
    return np.random.default_rng([16, *key])


def labels(margins: np.ndarray, seed: int, noise: float = 0.5) -> np.ndarray:
    """Return the signs of margins with noise of so many times their spread."""
    off = noise * np.std(margins) * rng(seed).standard_normal(len(margins))
    return np.where(margins - np.median(margins) + off > 0, 1.0, -1.0)


def registered(name: str) -> Callable[[], Data]:
    def read() -> Data:
        data = load(name)
        return data.A, data.b

    return read


def libsvm(name: str, n_features: int) -> Callable[[], Data]:
    """Return a reader of a LIBSVM file in the data directory."""

    def read() -> Data:
        from sklearn.datasets import load_svmlight_file

        path = Path(os.environ.get("FRANKWOLFE_DATA", "data")) / f"{name}.bz2"
        if not path.exists():
            raise DatasetError(f"{path} is not there")
        A, b = load_svmlight_file(str(path), n_features=n_features)
        return sp.csr_array(A), b

    return read


def periodic() -> Data:
    """Machines in turn: row i comes from machine i mod 10, which has an indicator and sensors of its own."""
    n, machines, sensors, r = 40000, 10, 4, rng(1)
    machine = np.arange(n) % machines
    A = np.zeros((n, machines * (sensors + 1)))
    A[np.arange(n), machine] = 1.0
    for s in range(sensors):
        A[np.arange(n), machines + machine * sensors + s] = r.standard_normal(n)
    return A, labels(A @ r.standard_normal(A.shape[1]), 1)


def sorted_by_class() -> Data:
    n, d, r = 20000, 60, rng(2)
    A = r.standard_normal((n, d)) @ (np.eye(d) + 0.3 * r.standard_normal((d, d)) / d**0.5)
    b = labels(A @ r.standard_normal(d), 2)
    order = np.argsort(b, kind="stable")
    return A[order], b[order]


def duplicated_columns() -> Data:
    n, d, r = 10000, 100, rng(3)
    A = sp.random_array((n, d), density=0.1, rng=r, data_sampler=r.standard_normal, format="csr")
    b = labels(A @ r.standard_normal(d), 3)
    return sp.csr_array(sp.hstack([A, A, 0.5 * A], format="csr")), b


def heavy_tails() -> Data:
    n, d, r = 20000, 80, rng(4)
    A = r.standard_t(1.5, (n, d))
    A /= np.quantile(np.abs(A), 0.9, axis=0)
    return A, labels(np.tanh(A) @ r.standard_normal(d), 4)


def dominant_column() -> Data:
    n, d, r = 20000, 60, rng(5)
    A = r.standard_normal((n, d))
    A[:, 0] = 1000 * (1 + 0.1 * r.standard_normal(n))
    return A, labels(A[:, 1:] @ r.standard_normal(d - 1) + 0.005 * (A[:, 0] - 1000), 5)


def wide_text() -> Data:
    A, b = text(10000, 10000, 60, seed=6)
    return A, b


def tall(n: int = 10**6) -> Data:
    d, r = 20, rng(7)
    A = r.standard_normal((n, d))
    A[:, d // 2 :] = np.round(A[:, d // 2 :])
    return A, labels(A @ r.standard_normal(d), 7)


def sparse_truth() -> Data:
    """Three columns of two thousand tell everything."""
    n, d, r = 3000, 2000, rng(8)
    A = sp.random_array((n, d), density=0.05, rng=r, data_sampler=r.standard_normal, format="csr")
    A = sp.csr_array(sp.hstack([r.standard_normal((n, 3)), A], format="csr"))
    return A, labels(A[:, [0, 1, 2]] @ np.array([3.0, -2.0, 1.0]), 8, noise=0.3)


def nearly_separable() -> Data:
    n, d, r = 8000, 150, rng(9)
    A = (r.random((n, d)) < 0.15).astype(float)
    b = labels(A @ r.standard_normal(d), 9, noise=0.0)
    b[r.random(n) < 0.002] *= -1
    return sp.csr_array(A), b


def few_rows() -> Data:
    n, d, r = 1000, 20, rng(10)
    A = r.standard_normal((n, d))
    return A, labels(A @ r.standard_normal(d), 10)


DATA: dict[str, Callable[[], Data]] = {
    "a9a": registered("a9a"),
    "mushrooms": registered("mushrooms"),
    "w8a": libsvm("w8a", 300),
    "reuters": libsvm("reuters-money-fx", 8315),
    "mnist": registered("mnist"),
    "covtype": registered("covtype"),
    "periodic": periodic,
    "sorted": sorted_by_class,
    "duplicated": duplicated_columns,
    "heavy tails": heavy_tails,
    "dominant": dominant_column,
    "wide text": wide_text,
    "tall": tall,
    "sparse truth": sparse_truth,
    "separable": nearly_separable,
    "few rows": few_rows,
}
SLOW = ("mnist", "covtype", "tall")  # left out of the quick form


@cache
def data(name: str) -> Data:
    A, b = DATA[name]()
    A = sp.csr_array(A) if sp.issparse(A) else np.ascontiguousarray(A, dtype=np.float64)
    if sp.issparse(A):
        A.indices, A.indptr = A.indices.astype(np.int32, copy=False), A.indptr.astype(np.int32, copy=False)
    return A, np.where(b == np.max(b), 1.0, -1.0)

"""Compiling ahead of time: everything it promises is then taken for compiled, and solves compile nothing more."""

from __future__ import annotations

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.backends import compile_policy as policy
from frankwolfe.backends.compile_policy import CLOCK
from frankwolfe.precompile import compile_kernels


def test_what_was_compiled_is_used_at_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FRANKWOLFE_COMPILE", "auto")
    monkeypatch.setattr(policy, "counts_file", lambda: tmp_path / "counts.txt")
    monkeypatch.setattr(policy, "_used", set())
    assert [what for what, _ in compile_kernels(["log_loss"])] == [
        "dense rows, log_loss",
        "dense rows in single precision, log_loss",
        "sparse rows, log_loss",
        "sparse rows of ones, log_loss",
        "sparse rows, wide, log_loss",
        "observed entries",
    ]
    assert policy.counted()[1] == {
        "dense float64 log_loss",
        "dense float32 log_loss",
        "sparse float64 log_loss",
        "observed entries",
    }
    rng = np.random.default_rng(0)
    A = rng.standard_normal((2000, 70))
    before = CLOCK.seconds
    result = fw.minimize(fw.Logistic(A, A[:, 0] > rng.standard_normal(2000)), fw.L2Ball(2.0))
    assert "one compiled pass" in result.paths
    assert CLOCK.seconds == before


def test_an_unknown_loss_is_named() -> None:
    with pytest.raises(ValueError, match="no loss 'logloss'; did you mean 'log_loss'"):
        next(compile_kernels(["logloss"]))

"""A network's layers stay in their balls while it learns."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from tests.backends.arrays import library


def test_projection_free_training_learns_within_the_constraints() -> None:
    library("torch")
    path = Path(__file__).parents[2] / "examples" / "models" / "torch_training.py"
    spec = importlib.util.spec_from_file_location("torch_training", path)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    fun, accuracy, norms = example.train(steps=150)
    assert accuracy > 0.8
    assert fun < 0.5
    assert all(norm <= 8.0 * (1 + 1e-5) for norm in norms)

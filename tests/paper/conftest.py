"""A whole reproduction on tiny made-up data, in seconds."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from frankwolfe.paper import problems
from frankwolfe.paper.sections import (
    certificate_quality,
    dataset_table,
    fig1,
    fig2,
    fig3,
    fig4,
    iteration_cost,
    radius_maps,
    rate_reasons,
    rates_on_sets,
)

SIZES = {"a9a": (120, 9), "mushrooms": (90, 8), "mnist": (80, 10), "covtype": (100, 6)}


def made_up(data: problems.Data, directory: str | None = None) -> Any:
    """Stand in for `problems.load`: small data of every kind."""
    if data.name == "gaussian":
        return problems.gaussian(data.seed, n=120, d=10)
    rng = np.random.default_rng([len(data.name), data.seed])
    if data.name == "movielens100k":
        shape = (30, 40)
        chosen = rng.permutation(shape[0] * shape[1])[:400]
        values = rng.standard_normal(400)
        values /= np.linalg.norm(values)
        return SimpleNamespace(rows=chosen // shape[1], cols=chosen % shape[1], values=values, shape=shape)
    n, d = SIZES[data.name]
    A = (rng.random((n, d)) < 0.5).astype(float)
    b = np.where(A @ rng.standard_normal(d) + rng.standard_normal(n) > 0, 1.0, -1.0)
    return SimpleNamespace(A=A, b=b)


@pytest.fixture(scope="module")
def tiny():
    """Small data and few iterations, for the tests of one module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(problems, "load", made_up)
        patch.setattr(dataset_table, "load", made_up)
        problems.objective.cache_clear()
        patch.setattr(fig2, "ITERATIONS", 40)
        patch.setattr(fig3, "ITERATIONS", 30)
        patch.setattr(fig3, "SAMPLES", {"mushrooms": 0, "mnist": 60, "covtype": 70})
        patch.setattr(radius_maps, "RADII", (1.0, 5.0, 60.0))
        patch.setattr(fig4, "iterations", lambda quick: 50)
        patch.setattr(fig4, "BALL", problems.Ball("nuclear", 1.0))
        patch.setattr(fig4, "BASELINE_ITERATIONS", 10)
        patch.setattr(rates_on_sets, "window", lambda quick: (10, 60))
        patch.setattr(fig1, "STEPS", 40)
        patch.setattr(iteration_cost, "STEPS", 5)
        patch.setattr(rate_reasons, "STEPS", 400)
        patch.setattr(rate_reasons, "WINDOW", (20, 360))
        patch.setattr(rate_reasons, "SIMPLEX", 300)
        patch.setattr(rate_reasons, "POLYGONS", 10)
        patch.setattr(rate_reasons, "SURVEYED", 600)
        for name in ("ALL", "CURVED", "MUSHROOMS"):
            short = tuple(replace(e, iterations=50) for e in getattr(certificate_quality, name))
            patch.setattr(certificate_quality, name, short)
        yield
    problems.objective.cache_clear()

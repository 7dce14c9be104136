"""Estimators with their data on a device give the same answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.backends.arrays import library

import frankwolfe as fw

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 6))
Y = X @ RNG.standard_normal(6) + 0.3 * RNG.standard_normal(120) + 0.5


@pytest.mark.parametrize("kind", [fw.FrankWolfeClassifier, fw.FrankWolfeRegressor])
@pytest.mark.parametrize("constraint", ["l1", "l2"])
def test_a_device_changes_nothing_but_the_place(kind: Any, constraint: str) -> None:
    library("torch")
    y = (Y > 0).astype(int) if kind is fw.FrankWolfeClassifier else Y
    options = {"constraint": constraint, "radius": 1.0, "method": "afw", "tol": 1e-3, "max_iter": 20_000}
    here = kind(**options, device=None).fit(X, y)
    there = kind(**options, device="cpu").fit(X, y)  # torch on the CPU: the same way as on a GPU
    assert isinstance(there.coef_, np.ndarray)
    np.testing.assert_allclose(there.coef_, here.coef_, atol=0.05)
    np.testing.assert_allclose(there.intercept_, here.intercept_, atol=0.05)
    assert there.gap_ <= 1e-3
    np.testing.assert_array_equal(there.predict(X).shape, here.predict(X).shape)


def test_a_device_that_is_not_there_is_refused() -> None:
    torch = library("torch").module
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(ValueError, match="device='cuda' needs a GPU"):
        fw.FrankWolfeClassifier(device="cuda").fit(X, (Y > 0).astype(int))

"""The array libraries that the tests know, and which of them are here."""

from __future__ import annotations

import importlib.util
import os
from typing import Any, NamedTuple

import numpy as np
import pytest

# Several processes share a GPU: JAX would take all of its memory for the first.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

NAMES = ("strict", "torch", "jax", "cupy", "cuda")
MODULES = {"strict": "array_api_strict", "torch": "torch", "jax": "jax", "cupy": "cupy", "cuda": "torch"}


class Library(NamedTuple):
    """A library by name, and how arrays come and go."""

    name: str
    module: Any

    def array(self, values: Any, dtype: str = "float64") -> Any:
        """Return values as an array of the library."""
        if self.name == "jax":
            import jax.numpy as jnp

            return jnp.asarray(np.asarray(values, dtype=dtype))
        options = {"device": "cuda"} if self.name == "cuda" else {}
        return self.module.asarray(np.asarray(values), dtype=getattr(self.module, dtype), **options)

    def index(self, values: Any) -> Any:
        """Return integers as an array of the library."""
        return self.array(values, "int64")

    def numpy(self, array: Any) -> np.ndarray:
        """Return an array of the library on the host."""
        assert isinstance(array, type(self.array(0.0)))
        array = array.get() if self.name == "cupy" else array.cpu() if self.name == "cuda" else array
        return np.asarray(array, dtype=np.float64)


def library(name: str) -> Library:
    """Return a library, or skip the test, which is then reported, where it is not installed."""
    if importlib.util.find_spec(MODULES[name]) is None:
        pytest.skip(f"{MODULES[name]} is not installed")
    module = importlib.import_module(MODULES[name])
    if name == "jax":
        module.config.update("jax_enable_x64", True)
    if name == "cupy" and not module.cuda.is_available():
        pytest.skip("CuPy finds no GPU")
    if name == "cuda" and not module.cuda.is_available():
        pytest.skip("torch finds no GPU")
    return Library(name, module)

"""Gradients by automatic differentiation, and variables that are trees of arrays."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from traceback import walk_tb
from typing import Any, NamedTuple

import numpy as np

BACKENDS = ("torch", "jax")


class Tree(NamedTuple):
    """How a nest of dicts, lists and tuples of arrays is laid out in one long vector."""

    backend: str
    structure: Any
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, tree: Any, backend: str) -> Tree:
        """Return the layout of a tree."""
        leaves, structure = _library(backend).tree_flatten(tree)
        return cls(backend, structure, tuple(tuple(np.shape(leaf)) for leaf in leaves))

    def flatten(self, tree: Any) -> Any:
        """Return a tree of this layout as one vector."""
        leaves, structure = _library(self.backend).tree_flatten(tree)
        if structure != self.structure or tuple(tuple(np.shape(leaf)) for leaf in leaves) != self.shapes:
            raise ValueError(f"x0 must be laid out as {self.structure} with shapes {self.shapes}, got {structure}")
        if self.backend == "jax":
            import jax.numpy as jnp

            return jnp.concatenate([jnp.ravel(jnp.asarray(leaf)) for leaf in leaves])
        import torch

        return torch.cat([torch.as_tensor(leaf).detach().reshape(-1) for leaf in leaves])

    def unflatten(self, vector: Any) -> Any:
        """Return the tree whose numbers are in the vector."""
        leaves, first = [], 0
        for shape in self.shapes:
            size = int(np.prod(shape, dtype=int))
            leaves.append(vector[first : first + size].reshape(shape))
            first += size
        library = _library(self.backend)
        if self.backend == "jax":
            return library.tree_unflatten(self.structure, leaves)
        return library.tree_unflatten(leaves, self.structure)


def is_tree(x: Any, backend: str | None) -> bool:
    """Tell whether x is a nest of arrays rather than an array or a list of numbers."""
    if backend is None or hasattr(x, "dtype") or not isinstance(x, dict | list | tuple):
        return False
    inside = list(x.values()) if isinstance(x, dict) else list(x)
    return isinstance(x, dict) or any(
        hasattr(item, "dtype") or isinstance(item, dict | list | tuple) for item in inside
    )


def differentiated(f: Callable[[Any], Any], backend: str, of: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, Any]]:
    """Return x -> (f(of(x)), gradient), compiled where the library compiles; `of` lays a vector out as a tree.

    An array of the library is taken and returned as it is; a NumPy array goes there and back.
    """
    return _with_torch(f, of) if backend == "torch" else _with_jax(f, of)


def _with_torch(f: Callable[[Any], Any], of: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, Any]]:
    import torch

    def both(x: Any) -> tuple[Any, Any]:
        at = torch.as_tensor(np.array(x) if isinstance(x, np.ndarray) else x).detach().requires_grad_(True)
        with torch.enable_grad(), _in_its_own_words("torch"):
            value = one_number(f(of(at)), "a tensor with ")
            (slope,) = torch.autograd.grad(value.reshape(()), at, allow_unused=True)
        slope = torch.zeros_like(at) if slope is None else slope
        if isinstance(x, np.ndarray):
            return float(value.detach()), slope.detach().numpy()
        return value.detach().reshape(()), slope.detach()

    return both


def _with_jax(f: Callable[[Any], Any], of: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, Any]]:
    import jax
    import jax.numpy as jnp

    def scalar(x: Any) -> Any:
        with _in_its_own_words("jax"):
            return jnp.reshape(one_number(f(of(x))), ())

    compiled = jax.jit(jax.value_and_grad(scalar))

    def both(x: Any) -> tuple[Any, Any]:
        if not isinstance(x, np.ndarray):
            return compiled(x)
        wide = x.dtype == np.float64 and not jax.config.jax_enable_x64
        with _double() if wide else contextlib.nullcontext():
            value, slope = compiled(jnp.asarray(x))
            return float(value), np.array(slope)

    return both


@contextlib.contextmanager
def _in_its_own_words(backend: str) -> Iterator[None]:
    """Say what is wrong where a function for a library that differentiates it is written in NumPy."""
    try:
        yield
    except Exception as error:
        inside = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
        if "numpy" in str(error).lower() or any(name.startswith("numpy.") for name in inside):
            own = "jax.numpy" if backend == "jax" else "torch"
            error.add_note(
                f"(with backend={backend!r} f must be written with functions of {own}, not of NumPy, and return one "
                "number; or leave backend out and pass grad)"
            )
        raise


def answers_in_double(f: Callable[[Any], Any], of: Callable[[Any], Any], shape: tuple[int, ...]) -> bool:
    """Tell whether a JAX function answers an array of 64-bit numbers with one, even where JAX has 32 by default."""
    import jax

    with _double():
        answer = jax.eval_shape(lambda x: f(of(x)), jax.ShapeDtypeStruct(shape, np.float64))
    return answer.dtype == np.float64


def one_number(value: Any, kind: str = "") -> Any:
    """Return what a function returned, if it is one real number; `kind` says of what it must be."""
    if not kind and isinstance(value, int | float | list | tuple):
        return one_number(np.asarray(value))
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        forgotten = "; a return is missing" if value is None else ""
        raise TypeError(f"f must return {kind}one number, got {value!r}{forgotten}")
    if int(np.prod(value.shape, dtype=int)) != 1:
        raise ValueError(f"f must return {kind}one number, got an array of shape {tuple(value.shape)}")
    if is_complex(value) or getattr(value.dtype, "kind", "f") not in "fiubV":
        raise TypeError(f"f must return {kind}one real number, got {value!r}")
    return value


def is_complex(value: Any) -> bool:
    """Tell whether an array of any library, or a list, holds complex numbers."""
    return "complex" in str(getattr(value, "dtype", None) or np.asarray(value).dtype)


def _double() -> Any:
    """Return JAX's context in which numbers have 64 bits."""
    import jax

    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64

    return enable_x64()


def _library(backend: str) -> Any:
    if backend == "jax":
        from jax import tree_util

        return tree_util
    from torch.utils import _pytree

    return _pytree

"""Checks on what users hand in: one sentence naming the argument, the value and the remedy."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import array_api_compat
import numpy as np

from frankwolfe.backends import Array, all_finite, host

T = TypeVar("T", bound=Callable[..., Any])


def positive(name: str, value: Any) -> float:
    """Return `value` as a positive finite float, or say why it is not one."""
    return number(name, value, "a positive finite number", above=0.0)


def nonnegative(name: str, value: Any) -> float:
    """Return `value` as a nonnegative finite float, or say why it is not one."""
    return number(name, value, "a nonnegative finite number", above=-math.ulp(0.0))


def number(name: str, value: Any, kind: str = "a finite number", above: float = -math.inf) -> float:
    """Return `value` as a finite float above a bound, or say that it is not of this kind."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not above < float(value) < math.inf:
        raise ValueError(f"{name} must be {kind}, got {value!r}")
    return float(value)


def code_of(function: Any) -> list[str]:
    """Return what can be known of a callable: its name and its bytecode."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__qualname__", type(function).__name__)
    return [name] if code is None else [name, code.co_code.hex()]


def integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return `value` as an integer of at least `least` and at most `most`, or say why it is not one."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    if most is not None and int(value) > most:
        raise ValueError(f"{name} must be an integer of at most {most}, got {value!r}")
    return int(value)


def seed_of(random_state: Any) -> int:
    """Return the seed of a run, zero for None."""
    return 0 if random_state is None else integer("random_state", random_state, 0, 2**64 - 1)


def finite(name: str, x: Array) -> Array:
    """Return x unchanged if it has neither NaN nor infinity."""
    if not all_finite(x):
        raise ValueError(f"{name} contains NaN or infinity; clean or impute the data first")
    return x


def vector(name: str, values: Any, length: int | None = None) -> np.ndarray:
    """Return `values` as a finite one-dimensional float array, of `length` where given."""
    out = plain(name, values)
    if out.ndim == 2 and 1 in out.shape:
        out = out.reshape(-1)
    if out.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {out.shape}")
    if length is not None and out.size != length:
        raise ValueError(f"{name} must have length {length} to match the data, got {out.size}")
    return finite(name, floating(name, out))


def plain(name: str, values: Any) -> np.ndarray:
    """Return values of any kind as a NumPy array, nothing hidden behind a mask."""
    if values is None:
        raise ValueError(f"{name} is None; pass one value for each row")
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise ValueError(f"{name} has masked entries; fill them in or drop their rows first")
    try:
        return np.asarray(host(values) if array_api_compat.is_array_api_obj(values) else values)
    except ValueError as error:  # lists of unequal lengths
        raise ValueError(f"{name} must be an array of numbers: {error}") from None


def floating(name: str, array: Any) -> Any:
    """Return an array or sparse matrix of NumPy's types as native floats of 32 or 64 bits, itself where it is that."""
    dtype = array.dtype
    if dtype.kind == "f" and dtype.itemsize in (4, 8):
        return array if dtype.isnative else array.astype(dtype.newbyteorder("="))
    if dtype.kind in "fiub":
        return array.astype(np.float64)
    if dtype.kind == "O":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must be numeric, and an entry is not: {error}; encode text as numbers") from None
    remedy = "take real and imaginary parts apart" if dtype.kind == "c" else "encode categories as numbers first"
    raise ValueError(f"{name} must be numeric, got dtype {dtype}; {remedy}")


def distinct(name: str, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted values of labels, and the place of each label among them."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(f"{name} contains NaN or infinity; drop the samples without a label first")
    if labels.dtype.kind in "fiub" and labels.size:  # most often there are two, which need no sorting
        low, high = labels.min(), labels.max()
        upper = labels == high
        if np.logical_or(upper, labels == low).all():
            return np.unique([low, high]), (upper & (low != high)).astype(np.intp)
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.ravel().tolist()})
        raise ValueError(f"{name} must hold labels of one kind, got {' and '.join(kinds)}") from None


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ' did you mean ...?' for a misspelt name, or the list of known ones."""
    import difflib

    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(map(repr, known))}"


OTHER_NAMES = {
    "max_iter": "maxiter max_iters n_iter iterations n_steps num_iter",
    "progress": "verbose disp",
    "time_limit": "timeout max_time",
    "random_state": "seed",
    "method": "solver algorithm",
    "tol": "gtol ftol xtol eps epsilon tolerance",
    "x0": "x_init",
    "n_threads": "n_jobs",
    "domain": "constraint",
    "radii": "radius Cs alphas",
}
RENAMED = {other: ours for ours, others in OTHER_NAMES.items() for other in others.split()}
PENALTY = (
    "a penalty is a set here: pass constraint='l2' or 'l1', and leave radius='auto', or make it large for a weak one"
)
ELSEWHERE = {
    **dict.fromkeys(("jac", "grad"), "pass the gradient with the function, as Function(f, grad)"),
    "bounds": "bounds are a set: pass Box(lower, upper) as the domain",
    "constraints": "constraints are a set: pass Polytope(A_ub, b_ub) or another one as the domain",
    "options": "pass options by name, as max_iter=100",
    "args": "bind them to the function, as lambda x: f(x, a)",
    "radius": "the radius belongs to the set, as L1Ball(radius)",
    "step_size": "it belongs to the method, as method=FrankWolfe(step_size)",
    "line_search": "it belongs to the method, as method=AcceleratedFrankWolfe(line_search=True)",
    **dict.fromkeys(("C", "alpha", "penalty", "l1_ratio"), PENALTY),
}


def named_options(function: T) -> T:
    """Return a function that answers an unknown keyword with the one that is meant."""
    known = list(inspect.signature(function).parameters)
    of = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]  # the class that it makes, or itself

    @functools.wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        for name in options:
            if name in known:
                continue
            meant = RENAMED.get(name)
            hint = f"did you mean {meant!r}?" if meant in known else ELSEWHERE.get(name) or nearest(name, known)
            raise TypeError(f"{of} has no option {name!r}; {hint}")
        return function(*args, **options)

    return checked  # pyright: ignore[reportReturnType]


def optional(module: str, extra: str) -> Any:
    """Import an optional dependency, or say how to install it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name not in (package, module):
            raise
        package = {"sklearn": "scikit-learn"}.get(package, package)
        raise ImportError(f'this needs {package}; install it with: pip install "frankwolfe[{extra}]"') from None

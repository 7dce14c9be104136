"""Losses in Triton: the formulae of `frankwolfe.losses` as functions that kernels call by the names of what they give.

A kernel is written in `value`, `slope` and `curvature` of a margin and a target. `with_loss` returns the kernel with
these names bound to the formulae of a loss, and the names in the formulae to the functions below.
"""

# pyright: reportInvalidTypeForm=false
from functools import cache
from types import FunctionType, SimpleNamespace
from typing import Any

try:
    import triton
    import triton.language as tl
except ImportError:  # the plain twins serve
    triton = tl = SimpleNamespace(jit=lambda f: f, constexpr=int)


@triton.jit
def exp(x):
    """Return exp(x)."""
    return tl.exp(x)


@triton.jit
def size(x):
    """Return |x|."""
    return tl.abs(x)


@triton.jit
def log1p(u):
    """Return log(1 + u), by Kahan's formula: what rounding does to 1 + u is made up for."""
    near = 1.0 + u
    return tl.where(near == 1.0, u, tl.log(near) * (u / tl.where(near == 1.0, 1.0, near - 1.0)))


@triton.jit
def pick_above(a, bound, yes, no):
    """Return one number where a is above a bound, and another elsewhere."""
    return tl.where(a > bound, yes, no)


@triton.jit
def maximum(a, bound):
    """Return the larger of two numbers."""
    return tl.where(bound > a, bound, a)


@triton.jit
def minimum(a, bound):
    """Return the smaller of two numbers."""
    return tl.where(a > bound, bound, a)


# What `with_loss` and `_formula` put in the place of these names:
value: Any = None
slope: Any = None
curvature: Any = None
formula: Any = None
first: Any = None
second: Any = None


@triton.jit
def _without_parameters(m, b):
    return formula(m, b)


@triton.jit
def _with_one(m, b):
    return formula(m, b, tl.full(m.shape, first, m.dtype))


@triton.jit
def _with_two(m, b):
    return formula(m, b, tl.full(m.shape, first, m.dtype), tl.full(m.shape, second, m.dtype))


FORMS = (_without_parameters, _with_one, _with_two)


@cache
def with_loss(kernel: Any, loss: Any) -> Any:
    """Return a kernel written in `value`, `slope` and `curvature` as that of a loss."""
    return _bound(kernel.fn, **{name: _formula(loss, name) for name in ("value", "slope", "curvature")})


@cache
def _formula(loss: Any, name: str) -> Any:
    """Return a formula of a loss as a function of margin and target, its parameters written out."""
    words = {"exp": exp, "log1p": log1p, "pick_above": pick_above, "maximum": maximum, "minimum": minimum}
    # Triton looks at annotations as it does at any name; of globals it takes constants only.
    formula = _bound(getattr(type(loss), name), abs=size, Any=tl.constexpr(0), **words)
    parameters = zip(("first", "second"), map(tl.constexpr, loss), strict=False)
    return _bound(FORMS[len(loss)].fn, f"{type(loss).__name__}_{name}", formula=formula, **dict(parameters))


def _bound(function: Any, called: str = "", **names: Any) -> Any:
    """Return a function compiled by Triton in which some global names mean something else.

    Triton takes two functions of one name for one: `called` tells twins of the same source apart.
    """
    twin = FunctionType(function.__code__, {**function.__globals__, "tl": tl, **names}, function.__name__)
    twin.__annotations__, twin.__module__ = function.__annotations__, function.__module__
    twin.__qualname__ = called or function.__qualname__
    return triton.jit(twin)

"""Array namespaces: the few helpers that let one source serve NumPy, PyTorch, CuPy and JAX arrays."""

from frankwolfe.backends.namespace import (
    Array,
    Scalar,
    add_at,
    all_finite,
    double,
    eps,
    fetch,
    host,
    is_zero,
    largest,
    namespace,
    row_dot,
    scaled,
    top_k,
    vdot,
    zeros,
)

__all__ = [
    "Array",
    "Scalar",
    "add_at",
    "all_finite",
    "double",
    "eps",
    "fetch",
    "host",
    "is_zero",
    "largest",
    "namespace",
    "row_dot",
    "scaled",
    "top_k",
    "vdot",
    "zeros",
]

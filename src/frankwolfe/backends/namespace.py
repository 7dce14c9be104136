"""The array-API namespace of an array, small helpers written in it, and vectors that know their image under a map."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self, TypeAlias

import array_api_compat
import numpy as np

_MULTIPLES = (np.multiply, np.divide, np.true_divide)

NUMPY = (np.ndarray, np.generic)
AT_HAND = (float, int, *NUMPY)  # kinds of numbers that no device has to be read for
PIECE = 1 << 16  # numbers of a long vector that stay in the second-level cache
Array: TypeAlias = Any  # any array of an array-API namespace
Scalar: TypeAlias = Any  # a float, or a 0-d array that has not been read back yet


class Imaged(np.ndarray):
    """A vector x with its image Ax: multiples and sums of such vectors know theirs; whatever else is made is plain.

    A gradient A'r costs a read of the data, and its own image can be had in the same read. An average of gradients then
    has its image for nothing, and so has a vertex that is a multiple of it. The map A (`of`) is compared by identity:
    an image under one map says nothing about another.
    """

    image: Any = None
    of: Any = None

    @classmethod
    def known(cls, x: np.ndarray, image: np.ndarray, of: Any) -> Self:
        """Return x as a vector that knows its image under a map."""
        self = np.asarray(x).view(cls)
        self.image, self.of = image, of
        return self

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if "out" in options:
            options["out"] = tuple(_plain(o) for o in options["out"])
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        if method != "__call__" or options:
            return result
        image = self._combined(ufunc, inputs)
        return result if image is None else Imaged.known(result, image, self.of)

    def _combined(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        """Return the image of a linear combination of the inputs; None where it is not one, or not known."""
        if self.image is None:
            return None
        if ufunc is np.negative:
            return -self.image
        if ufunc in _MULTIPLES:
            a, b = inputs
            if isinstance(a, Imaged) and np.ndim(b) == 0:
                return ufunc(a.image, b)
            return ufunc(a, b.image) if ufunc is np.multiply and np.ndim(a) == 0 else None
        if ufunc in (np.add, np.subtract) and all(image_under(self.of, a) is not None for a in inputs):
            return ufunc(inputs[0].image, inputs[1].image)
        return None


def image_under(of: Any, x: Any) -> Any:
    """Return the image of x under a map where x knows it, None otherwise."""
    return x.image if isinstance(x, Imaged) and x.of is of else None


def _plain(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, Imaged) else x


def namespace(*arrays: Array) -> Any:
    """Return the array-API namespace that the arrays belong to.

    Examples
    --------
    >>> import numpy as np
    >>> namespace(np.zeros(2)).__name__.endswith("numpy")
    True
    """
    for a in arrays:
        if not isinstance(a, NUMPY):
            return array_api_compat.array_namespace(*arrays)
    return np  # NumPy 2 is an array-API namespace itself; skip the look-up on the hot path


def own(x: Array) -> Array:
    """Return a copy that others may write to; arrays of JAX cannot be written to."""
    return x if hasattr(x, "at") else namespace(x).asarray(x, copy=True)


def is_foreign(a: Any) -> bool:
    """Tell whether a is an array of a library other than NumPy."""
    return not isinstance(a, NUMPY) and array_api_compat.is_array_api_obj(a)


def zeros(shape: tuple[int, ...], like: Array) -> Array:
    """Return zeros with the namespace, dtype and device of `like`."""
    xp = namespace(like)
    if xp is np:
        return np.zeros(shape, dtype=like.dtype)
    return xp.zeros(shape, dtype=like.dtype, device=array_api_compat.device(like))


def largest(g: Array) -> Scalar:
    """Return max|g|, zero for an empty array."""
    xp = namespace(g)
    if is_long(g):
        g = np.asarray(g)
        return np.maximum(g.max(), -g.min())  # reads twice, and writes nothing
    if xp is np:
        return np.abs(g).max() if g.size else 0.0
    return xp.max(xp.abs(g)) if array_api_compat.size(g) else 0.0


def nonzero(a: Array) -> Array:
    """Return a with its zeros replaced by ones, a divisor that is always safe."""
    xp = namespace(a)
    if isinstance(a, np.generic):
        return a if a != 0 else type(a)(1)
    return xp.where(a == 0, xp.ones_like(a), a)


def scaled(g: Array) -> Array:
    """Return g divided by max|g| (by one where g is zero), so that powers of it neither overflow nor underflow."""
    return g / nonzero(largest(g))


def as_like(values: Any, like: Array) -> Array:
    """Return `values` as an array with the namespace, dtype and device of `like`."""
    xp = namespace(like)
    if xp is np:
        return np.asarray(values, dtype=like.dtype)
    if isinstance(values, np.ndarray) and (not values.flags.writeable or min(values.strides, default=0) < 0):
        values = values.copy()  # torch would warn that it cannot protect them, and knows no negative strides
    return xp.asarray(values, dtype=like.dtype, device=array_api_compat.device(like))


def as_index(places: Any, like: Array) -> Array:
    """Return positions as integers of the namespace and device of `like`."""
    return namespace(like).asarray(places, dtype=index_type(like), device=array_api_compat.device(like))


def index_type(like: Array) -> Any:
    """Return the widest integers of the library of `like`: 64 bits, but for JAX without them."""
    xp = namespace(like)
    return xp.int32 if double(like) is None else xp.int64


def is_zero(g: Array) -> bool:
    """Tell whether every entry of g is zero."""
    return not bool(largest(g) > 0)


def is_traced(a: Any) -> bool:
    """Tell whether JAX is tracing an array, which has no value yet."""
    if not array_api_compat.is_jax_array(a):
        return False
    from jax.core import Tracer

    return isinstance(a, Tracer)


def is_at_hand(a: Any) -> bool:
    """Tell whether the numbers of an array are there to be looked at: in host memory, and not traced."""
    if not is_foreign(a):
        return True
    return not is_traced(a) and "cpu" in str(array_api_compat.device(a)).lower()


def number_like(value: float, like: Array) -> Scalar:
    """Return a number of the kind and on the device of `like`, which is one itself."""
    return type(like)(value) if isinstance(like, np.floating) else value * namespace(like).ones_like(like)


def position(index: Any) -> Any:
    """Return an index as an integer, but for one that JAX is tracing."""
    return index if is_traced(index) else int(index)


def repeat(n: int, body: Callable[[tuple], tuple], state: tuple) -> tuple:
    """Return the state after n applications of `body`; a loop that JAX is tracing is compiled as one."""
    if is_traced(state[0]):
        from jax.lax import fori_loop

        return fori_loop(0, n, lambda _, state: body(state), state)
    for _ in range(n):
        state = body(state)
    return state


def all_finite(x: Array) -> bool:
    """Tell whether x holds neither NaN nor infinity."""
    xp = namespace(x)
    if xp is np and x.dtype == np.float64 and x.flags.c_contiguous:
        with np.errstate(over="ignore", invalid="ignore"):
            square = np.dot(x.reshape(-1), x.reshape(-1))  # the quickest look at all numbers
        if np.isfinite(square):
            return True
    return bool(xp.all(xp.isfinite(x)))


def vdot(a: Array, b: Array) -> Scalar:
    """Return the sum of products of two arrays of one shape."""
    xp = namespace(a, b)
    if xp is np:
        # Not BLAS: its threads spin (milliseconds on a busy machine) and add in an order that depends on their number.
        if is_long(a) and is_long(b):
            a, b, pieces = np.asarray(a), np.asarray(b), range(0, a.size, PIECE)
            sums = [np.multiply(a[i : i + PIECE], b[i : i + PIECE], dtype=np.float64).sum() for i in pieces]
            return float(np.sum(sums))
        return float(np.multiply(a, b, dtype=np.float64).sum())
    if xp.finfo(a.dtype).bits < 64:  # in double precision if there is one: long sums in single would blur line searches
        return xp.sum(a * b, dtype=double(a))
    return xp.sum(a * b)  # in pairs, which the products of some libraries are not


def blend(a: Scalar, x: Array, b: Scalar, y: Array) -> Array:
    """Return a x + b y; in pieces where the vectors are long, so that nothing as long is written but the result."""
    if not (is_long(x) and is_long(y)):
        return a * x + b * y
    if isinstance(x, Imaged) and isinstance(y, Imaged) and x.of is y.of:
        return Imaged.known(blend(a, np.asarray(x), b, np.asarray(y)), a * x.image + b * y.image, x.of)
    return summed([a, b], [np.asarray(x), np.asarray(y)], np.result_type(x, y))


def toward(x: Array, v: Array, delta: Scalar) -> Array:
    """Return the point delta of the way from x to v: no entry is moved by rounding where x and v are alike.

    As (1 - delta) x + delta v entries of thousands of steps could drift out of a set, an ulp at a time.
    """
    if isinstance(delta, float) and delta == 1.0:
        return v + 0.0 * x
    if not (is_long(x) and is_long(v)):
        return x + delta * (v - x)
    if isinstance(x, Imaged) and isinstance(v, Imaged) and x.of is v.of:
        return Imaged.known(toward(np.asarray(x), np.asarray(v), delta), toward(x.image, v.image, delta), x.of)
    x, v = np.asarray(x), np.asarray(v)
    out = np.empty(x.shape, np.result_type(x, v))
    for start in range(0, x.size, PIECE):
        piece = slice(start, start + PIECE)
        here = np.subtract(v[piece], x[piece], out=out[piece])
        here *= delta
        here += x[piece]
    return out


def summed(weights: list[Any], vectors: list[np.ndarray], dtype: Any) -> np.ndarray:
    """Return the weighted sum of NumPy vectors, made in pieces that stay in cache."""
    out = np.empty(vectors[0].shape, dtype)
    total, flat = out.reshape(-1), [np.asarray(v).reshape(-1) for v in vectors]
    memory = np.empty(min(PIECE, total.size), dtype)
    for start in range(0, total.size, PIECE):
        piece = slice(start, start + PIECE)
        here = total[piece]
        term = memory[: here.size]
        np.multiply(flat[0][piece], weights[0], out=here)
        for weight, vector in zip(weights[1:], flat[1:], strict=True):
            here += np.multiply(vector[piece], weight, out=term)
    return out


def is_long(a: Array) -> bool:
    """Tell whether an array is a NumPy vector of so many numbers that writing another one takes its time."""
    return isinstance(a, np.ndarray) and a.ndim == 1 and a.size > 2 * PIECE and a.dtype.kind == "f"


def row_dot(a: Array, b: Array) -> Array:
    """Return the inner products along the last axis, one for each row."""
    xp = namespace(a, b)
    if xp is np:
        return np.multiply(a, b).sum(axis=-1, dtype=np.float64)  # pairwise, as in `vdot`
    return xp.sum(a * b, axis=-1)


def host(a: Array) -> np.ndarray:
    """Return an array as a NumPy array, from whatever device it is on."""
    try:
        return np.asarray(a)
    except (TypeError, RuntimeError):  # on a device that does not copy by itself
        return np.asarray(array_api_compat.to_device(a, "cpu"))


def fetch(numbers: list[Scalar]) -> list[float]:
    """Return numbers as floats, with one read of the device for all that live there."""
    if all(isinstance(number, AT_HAND) for number in numbers):
        return [float(number) for number in numbers]
    return [number.item() for number in fetch_arrays(*numbers)]


def fetch_arrays(*arrays: Array) -> tuple[np.ndarray, ...]:
    """Return arrays as NumPy arrays in double precision, with one read of the device for all of them."""
    on_device = [a for a in arrays if is_foreign(a)]
    if not on_device:
        return tuple(np.asarray(a, dtype=np.float64) for a in arrays)
    xp = namespace(*on_device)
    wide = xp.result_type(*on_device)
    row = host(xp.concat([xp.reshape(xp.astype(a, wide), (-1,)) for a in on_device])).astype(np.float64)
    parts = iter(np.split(row, np.cumsum([math.prod(a.shape) for a in on_device])[:-1]))
    return tuple(next(parts).reshape(a.shape) if is_foreign(a) else np.asarray(a, np.float64) for a in arrays)


def fetch_rows(numbers: list[Any], size: int) -> np.ndarray:
    """Return numbers and vectors of one length as rows of a NumPy matrix, with one read of the device for all."""
    table = np.empty((len(numbers), size))
    for row, number in zip(table, fetch_arrays(*numbers), strict=True):
        row[:] = number
    return table


def set_at(x: Array, index: Any, value: Array) -> Array:
    """Return x with `value` at `index` of its flattened form; x itself must be ours to overwrite."""
    xp = namespace(x)
    if hasattr(x, "at"):  # JAX arrays are immutable and have their own syntax
        return xp.reshape(xp.reshape(x, (-1,)).at[index].set(value), x.shape)
    flat = x if x.ndim == 1 else xp.reshape(x, (-1,))
    if isinstance(index, int) or not array_api_compat.is_array_api_strict_namespace(xp):
        flat[index] = value
    else:  # the array standard assigns to single entries only
        for place in range(index.shape[0]):
            flat[int(index[place])] = value[place]
    return flat if x.ndim == 1 else xp.reshape(flat, x.shape)


def put(x: Array, rows: Any, values: Array) -> Array:
    """Return x with some of its rows replaced; x itself must be ours to overwrite."""
    if hasattr(x, "at"):  # JAX
        return x.at[rows].set(values)
    x[rows, ...] = values
    return x


def columns(F: Array) -> tuple[Array, ...]:
    """Return the columns of an array as vectors that lie together in memory."""
    if isinstance(F, np.ndarray):
        return tuple(np.ascontiguousarray(F.T))
    rows = namespace(F).asarray(F.T, copy=True)
    return tuple(rows[i, :] for i in range(rows.shape[0]))


def eps(x: Array) -> float:
    """Return the machine epsilon of the dtype of x."""
    return float(namespace(x).finfo(x.dtype).eps)


def double(matrix: Any) -> Any:
    """Return double precision as a dtype of the matrix's library; None where there is none (JAX without 64 bits)."""
    if not array_api_compat.is_array_api_obj(matrix):
        return np.dtype(np.float64)
    xp = namespace(matrix)
    return xp.float64 if not array_api_compat.is_jax_array(matrix) or xp.zeros(1).dtype == np.float64 else None


def top_k(a: Array, k: int) -> Array:
    """Return the indices of the k largest entries of a vector, ties to the lowest index."""
    xp = namespace(a)
    if xp is np and 0 < k < a.size:
        # Select in O(d): everything above the k-th value, then the earliest ties.
        kth = np.partition(a, a.size - k)[a.size - k]
        above = np.flatnonzero(a > kth)
        ties = np.flatnonzero(a == kth)[: k - above.size]
        return np.sort(np.concatenate([above, ties]))
    return xp.sort(xp.argsort(-a, stable=True)[: min(k, a.shape[0])])

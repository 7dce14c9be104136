"""Compiled Lanczos steps and tests of them. Imported on first use only: Numba takes half a second."""

from __future__ import annotations

import math

import numpy as np

from frankwolfe.kernels.compiling import SUMS, kernel
from frankwolfe.kernels.pattern.pattern_loops import WIDTH, gram_times_four
from frankwolfe.kernels.spectral import tridiagonal

_loop = kernel(fastmath=SUMS)
_exact = kernel()

log_growth = _exact(tridiagonal.log_growth)
top_value = _exact(tridiagonal.top_value)
pause = _exact(tridiagonal.pause)


@_loop
def extend(basis, j, w, before):
    """Make w, the Gram matrix times the unit vector in row j, orthogonal to rows 0 to j and write it, of length one, to
    row j + 1; `before` is its known component along row j - 1. Return its component along row j and its length."""
    v = basis[j]
    total = 0.0
    for k in range(w.size):
        total += v[k] * w[k]
    a = w.dtype.type(total)
    for k in range(w.size):
        w[k] -= a * v[k]
    if j > 0:
        u, b = basis[j - 1], w.dtype.type(before)
        for k in range(w.size):
            w[k] -= b * u[k]
    zero, one, two = w.dtype.type(0), np.uint64(1), np.uint64(2)
    for i in range(np.uint64(0), j + one - (j + one) % two, two):  # two at a time: w is loaded half as often
        u, t = basis[i], basis[i + one]
        s, r = zero, zero
        for k in range(w.size):
            s += u[k] * w[k]
            r += t[k] * w[k]
        for k in range(w.size):
            w[k] -= s * u[k] + r * t[k]
    if j % two == 0:
        s = zero
        for k in range(w.size):
            s += v[k] * w[k]
        for k in range(w.size):
            w[k] -= s * v[k]
    square = 0.0
    for k in range(w.size):
        square += w[k] * w[k]
    length = square**0.5
    if length > 0.0:
        scale = w.dtype.type(1.0 / length)
        u = basis[j + 1]
        for k in range(w.size):
            u[k] = scale * w[k]
    return total, length


@_exact
def grow(block, basis, alpha, beta, first, last, rounding):
    """Take the steps from `first` to `last`, fewer where the space becomes invariant; return how many are done then."""
    indptr, cols, values = block
    w = np.empty(basis.shape[1], basis.dtype)
    top = 0.0
    for j in range(first):
        top = max(top, alpha[j])
    for j in range(first, last):
        w[:] = w.dtype.type(0)
        v, out = basis[j].reshape((-1, WIDTH)), w.reshape((-1, WIDTH))
        gram_times_four(np.uint64(0), np.uint64(indptr.size - 1), indptr, cols, values, v, out)
        alpha[j], beta[j] = extend(basis, np.uint64(j), w, beta[j - 1] if j > 0 else 0.0)
        top = max(top, alpha[j])
        if beta[j] <= rounding * top:
            return j + 1
    return last


@_exact
def log_at(alpha, beta, discarded, s):
    """Return `log_growth` with the roots that restarts discarded, up to its scale."""
    total = log_growth(alpha, beta, s)
    for root in discarded:
        total += math.log(s - root)
    return total


@_exact
def reach(block, basis, alpha, beta, first, rounding, discarded, accuracy, log_bound, often):
    """Grow the space until the bound is within `accuracy` of the Ritz value, the space invariant or the basis full.

    Return the dimension.
    """
    done, check, before, last, low = first, first + 2, first, 0.0, 0.0
    most = alpha.size
    while True:
        aim = min(check, most)
        done = grow(block, basis, alpha, beta, done, aim, rounding)
        if done < aim:
            return done
        a, b = alpha[:done], beta[:done]
        low = max(low, a.max())
        low = top_value(a, b, low, 0.01 * accuracy * low**0.5)
        reached = log_at(a, b, discarded, (low**0.5 + accuracy) ** 2)
        if reached >= log_bound or done == most:
            return done
        check = pause(done, log_bound - reached, (reached - last) / (done - before), done, often)
        before, last = done, reached

"""Slow, obvious twins of what the library computes fast: loops and enumeration, no scaling, no vector tricks."""

from __future__ import annotations

import itertools
import math

import numpy as np


def vertices_l1(shape, radius):
    """Yield plus and minus `radius` at every coordinate."""
    for j in range(math.prod(shape)):
        for sign in (1.0, -1.0):
            v = np.zeros(math.prod(shape))
            v[j] = sign * radius
            yield v.reshape(shape)


def vertices_box(lower, upper):
    """Yield every corner of a box, from arrays of bounds."""
    for corner in itertools.product(*zip(lower.ravel(), upper.ravel(), strict=True)):
        yield np.array(corner).reshape(lower.shape)


def vertices_simplex(dim, radius):
    """Yield the corners of the simplex."""
    for j in range(dim):
        yield radius * np.eye(dim)[j]


def vertices_variation(shape, radius):
    """Yield the extreme points of the total-variation ball: every region with its perimeter, zero mean."""
    n = math.prod(shape)
    for bits in itertools.product((False, True), repeat=n):
        region = np.array(bits).reshape(shape)
        around = variation(region.astype(float))
        if around:
            yield radius * (region - region.mean()) / around
    yield np.zeros(shape)


def variation(x):
    """Return the sum of absolute differences between neighbours, by loops."""
    total = 0.0
    for place in np.ndindex(x.shape):
        for axis in range(x.ndim):
            neighbour = tuple(i + (a == axis) for a, i in enumerate(place))
            if neighbour[axis] < x.shape[axis]:
                total += abs(float(x[neighbour]) - float(x[place]))
    return total


def best_vertex(vertices, g):
    """Return the least <g, v> over a list of vertices."""
    return min(float((g * v).sum()) for v in vertices)


def lp_norm(values, p):
    """Return the l_p norm of a list of numbers, safe for extreme p by taking out the largest."""
    values = [abs(float(v)) for v in values]
    top = max(values)
    if top == 0 or math.isinf(p):
        return top
    return top * math.fsum(math.pow(v / top, p) for v in values) ** (1 / p)


def dual_exponent(p):
    """Return the conjugate exponent."""
    if p == 1:
        return math.inf
    return 1.0 if math.isinf(p) else p / (p - 1)


def min_lp(g, radius, p):
    """Return the least <g, v> over the l_p ball, from the dual norm."""
    return -radius * lp_norm(g.ravel(), dual_exponent(p))


def min_ksupport(g, radius, k):
    """Return the least <g, v> over the k-support ball, over all supports."""
    flat = g.ravel()
    supports = itertools.combinations(range(flat.size), min(k, flat.size))
    return -radius * max(math.hypot(*(float(flat[i]) for i in support)) for support in supports)


def min_group(g, radius, groups, s, p):
    """Return the least <g, v> over a group ball, group by group."""
    flat = g.ravel()
    sizes = [lp_norm([flat[i] for i in group], dual_exponent(s)) for group in groups]
    return -radius * lp_norm(sizes, dual_exponent(p))


def size_group(x, groups, s, p):
    """Return the mixed norm."""
    flat = x.ravel()
    return lp_norm([lp_norm([flat[i] for i in group], s) for group in groups], p)


def size_ksupport(x, k):
    """Return the k-support norm as the best of all splits into a Euclidean head and a summed tail.

    Each split with head j gives a lower bound where its conditions fail, so the conditions are tested as printed in
    Proposition 2.1 of Argyriou, Foygel and Srebro (2012).
    """
    z = sorted((abs(float(v)) for v in x.ravel()), reverse=True)
    k = min(k, len(z))
    for r in range(k):
        head, tail = z[: k - r - 1], z[k - r - 1 :]
        share = math.fsum(tail) / (r + 1)
        above = head[-1] if head else math.inf
        if above > share >= tail[0] * (1 - 1e-14):
            return math.hypot(*head, math.fsum(tail) / math.sqrt(r + 1))
    return math.hypot(*z)  # the zero vector, or rounding on the edge of every test


def project_simplex(x, radius):
    """Return the projection onto the simplex by bisection on the threshold."""
    low, high = x.min() - radius, x.max()
    for _ in range(200):
        middle = (low + high) / 2
        if np.maximum(x - middle, 0).sum() > radius:
            low = middle
        else:
            high = middle
    return np.maximum(x - high, 0)


def project_l1(x, radius):
    """Return the projection onto the l1 ball by bisection on the shrinkage."""
    if np.abs(x).sum() <= radius:
        return x
    flat = np.abs(x).ravel()
    return np.sign(x) * project_simplex(flat, radius).reshape(x.shape)


def whole_plans(supply, demand):
    """Every transport plan in whole numbers, by trying all."""
    ranges = [range(min(s, d) + 1) for s in supply for d in demand]
    plans = (np.array(plan, dtype=float).reshape(len(supply), -1) for plan in itertools.product(*ranges))
    return [p for p in plans if np.array_equal(p.sum(1), supply) and np.array_equal(p.sum(0), demand)]


def least_in_ball_and_box(g, radius, lower, upper):
    """Each entry is at an end or free; free ones lie against g, as far as the ball allows. All choices are tried."""
    size, found = float(np.max(np.abs(g))) or 1.0, []
    g = g / size
    for choice in itertools.product((0, 1, 2), repeat=len(g)):
        x = np.choose(choice, [lower, upper, np.zeros(len(g))]).astype(float)
        free, left = np.array(choice) == 2, radius**2 - float(x @ x)
        if free.any() and left >= 0:
            length = float(np.linalg.norm(g[free]))
            x[free] = -g[free] * (left**0.5 / length) if length > 0 else np.clip(0.0, lower, upper)[free]
        near = x @ x <= radius**2 * (1 + 1e-12)
        if near and np.all(x >= np.array(lower) - 1e-12) and np.all(x <= np.array(upper) + 1e-12):
            found.append(float(g @ x))
    return size * min(found)

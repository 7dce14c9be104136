"""Sets where a linear programme finds the witness: its dual solution, right or wrong, gives a bound that is checked."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from frankwolfe.verify.arithmetic import SMALLEST, Interval, dot, running, sums
from frankwolfe.verify.domains import CannotShow, Domain, largest, magnitude, require
from frankwolfe.verify.matrices import Matrix

SHARP = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Polytope(Domain):
    """A_ub x <= b_ub, A_eq x = b_eq and lower <= x <= upper.

    For y >= 0 and any z, <h, v> = <A_ub'y + A_eq'z, v> + <d, v> <= b_ub'y + b_eq'z + Σ_j max of d_j v_j between the
    bounds of entry j. Where those are infinite, `limits` are used.
    """

    ulps = 64  # a row adds up several entries, each with its own rounding
    A_ub: Any
    A_eq: Any
    b_ub: np.ndarray
    b_eq: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def __init__(self, description: dict[str, Any]) -> None:
        from scipy.sparse import csr_array

        super().__init__(description)
        self.A_ub, self.A_eq = csr_array(self.A_ub), csr_array(self.A_eq)
        self.rows_ub, self.rows_eq = Matrix(self.A_ub), Matrix(self.A_eq)
        both = ((self.A_ub, self.rows_ub, self.b_ub), (self.A_eq, self.rows_eq, self.b_eq))
        self.sides = [side for side in both if side[2].size]

    def extent(self) -> float:
        return magnitude(*self.limits)

    def support(self, h: np.ndarray) -> float:
        require(h, self.lower.shape)
        constant, rest = self._dual(h)
        low, high = self.limits
        ends = largest_products(rest, low, high)
        return float((constant + ends).hi)

    def reach(self, e: np.ndarray) -> float:
        return float(dot(e, np.maximum(np.abs(self.limits[0]), np.abs(self.limits[1]))).hi)

    def excess(self, x: np.ndarray) -> Interval:
        require(x, self.lower.shape)
        ends = [np.where(np.isfinite(bound), np.abs(bound), 0.0) for bound in (self.lower, self.upper)]
        top = max(float(np.max(np.abs(x))), float(np.max(ends)), 1e-300)
        own = np.maximum(*ends)  # how far an entry can go, where that is known
        own = np.where(own > 0, own, top)
        parts = [(Interval(x) - self.upper) / own, (self.lower - Interval(x)) / own]
        for A, rows, b in self.sides:
            scale = np.abs(b) + top * np.asarray(abs(A).sum(axis=1)).reshape(-1)
            off = rows.times(x) - b
            parts.append((off if A is self.A_ub else abs(off)) / np.where(scale > 0, scale, 1.0))
        return largest(*parts)

    def furthest(self, x: np.ndarray) -> Interval:
        """Return the most that entries are below zero or above their bounds, and rows away from their sums."""
        return largest(Interval(x) - self.upper, Interval(-x), abs(self.rows_eq.times(x) - self.b_eq))

    def nearest(self, x: np.ndarray) -> np.ndarray | None:
        """Return x moved by the least that meets the rows: nonnegative least squares for their multipliers [1]_.

        References
        ----------
        .. [1] C. Lawson and R. Hanson, Solving Least Squares Problems, 1974, chapter 23.
        """
        from scipy.optimize import nnls

        eye, sides = np.eye(x.size), []
        for A, b in ((self.A_ub, self.b_ub), (self.A_eq, self.b_eq), (-self.A_eq, -self.b_eq)):
            sides += [(np.asarray(A.todense()), b)] if b.size else []
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        sides += [(-eye[low], -self.lower[low]), (eye[high], self.upper[high])]
        G, k = (np.concatenate([side[i] for side in sides]) for i in (0, 1))
        over = G @ x - k
        size = float(np.max(over, initial=0.0))
        if not size > 0:
            return x
        try:
            u, _ = nnls(np.vstack([-G.T, over / size]), np.append(np.zeros(x.size), 1.0))
        except RuntimeError:
            return None
        move = -G.T @ u
        left = 1.0 - float(over @ u) / size
        return x - size * move / -left if left > 0 else None

    @cached_property
    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of every entry, finite: given ones, and where there is none one that follows from the rest.

        For each entry without a bound, duals of both its extremes: v_j <= β_j + Σ_k E_jk \\|v_k\\| with a small E. If
        the rows of E add up to less than one, no such entry exceeds max β / (1 - max row of E) in magnitude; the same
        argument shows that the set is bounded.
        """
        open_ends = np.flatnonzero(~(np.isfinite(self.lower) & np.isfinite(self.upper)))
        if not open_ends.size:
            return self.lower, self.upper
        if open_ends.size > 500:
            raise CannotShow(f"the polytope has {open_ends.size} entries without bounds")
        below, above = np.isfinite(self.lower), np.isfinite(self.upper)
        low, high = (np.where(below & above, bound, 0.0) for bound in (self.lower, self.upper))
        end = np.where(below & ~above, self.lower, np.where(above & ~below, self.upper, 0.0))
        most, leak = 0.0, 0.0
        for j in open_ends:
            for sign in (1.0, -1.0):
                unit = np.zeros(self.lower.size)
                unit[j] = sign
                constant, d = self._dual(unit)
                # With one bound l, d v = d l + d (v - l): only a d of the wrong sign lets v in.
                wrong = np.maximum(np.where(below, 0.0, -d.lo), np.where(above, 0.0, d.hi))
                wrong = np.where(below & above, 0.0, np.maximum(wrong, 0.0))
                known = largest_products(d, low, high) + (d * end).sum() + dot(wrong, np.abs(end))
                most, leak = max(most, float((constant + known).hi)), max(leak, float(sums(wrong).hi))
        if not leak < 0.5:
            raise CannotShow("entries without bounds could not be bounded by the rows of the polytope")
        bound = float((Interval(most) / (1.0 - Interval(leak))).hi)
        return np.maximum(self.lower, -bound), np.minimum(self.upper, bound)

    def _dual(self, h: np.ndarray) -> tuple[Interval, Interval]:
        """Return b_ub'y + b_eq'z for the dual solution, and d = h - A_ub'y - A_eq'z."""
        from scipy.optimize import linprog

        scale, size = float(np.max(np.abs(h))) or 1.0, self.unit
        bounds = np.stack([self.lower, self.upper], axis=1) / size
        found = linprog(
            -h / scale,
            *((self.A_ub, self.b_ub / size) if self.b_ub.size else (None, None)),
            *((self.A_eq, self.b_eq / size) if self.b_eq.size else (None, None)),
            bounds=bounds,
            method="highs-ds",
            options=SHARP,
        )
        if found.status != 0:
            raise CannotShow(f"the linear programme over the polytope was not solved: {found.message}")
        y = np.maximum(-scale * np.asarray(found.ineqlin.marginals, np.float64), 0.0)
        z = -scale * np.asarray(found.eqlin.marginals, np.float64)
        y, z = self._sharpened(h, y, z, size * np.asarray(found.x))
        constant = Interval(0.0)
        for b, dual in ((self.b_ub, y), (self.b_eq, z)):
            constant = constant + dot(b, dual) if b.size else constant
        return constant, self._rest(h, y, z)

    @cached_property
    def unit(self) -> float:
        """What points are divided by in linear programmes, whose tolerances would be all of a small set."""
        sizes = [bound[np.isfinite(bound)] for bound in (self.lower, self.upper)]
        sizes += [b / np.maximum(abs(A).max(axis=1).toarray().ravel(), SMALLEST) for A, _, b in self.sides]
        return min(2.0 ** math.floor(math.log2(magnitude(*sizes) or 1.0)), 1.0)

    def _rest(self, h: np.ndarray, y: np.ndarray, z: np.ndarray) -> Interval:
        rest = Interval(h)
        for rows, dual in ((self.rows_ub, y), (self.rows_eq, z)):
            rest = rest - rows.adjoint(dual) if dual.size else rest
        return rest

    def _sharpened(self, h: np.ndarray, y: np.ndarray, z: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return duals moved so that what is left for entries between their bounds is nearer to zero."""
        between = np.flatnonzero((v > self.lower) & (v < self.upper))
        binding = np.flatnonzero(y > 0)
        if not between.size or not binding.size + z.size or between.size > 1000 or binding.size + z.size > 1000:
            return y, z
        from scipy.sparse import vstack

        rows = vstack([self.A_ub[binding], self.A_eq]).tocsc()[:, between].toarray().T
        for _ in range(2):
            move = np.linalg.lstsq(rows, self._rest(h, y, z).middle[between], rcond=None)[0]
            y = y.copy()
            y[binding] = np.maximum(y[binding] + move[: binding.size], 0.0)
            z = z + move[binding.size :]
        return y, z


def largest_products(d: Interval, low: np.ndarray, high: np.ndarray) -> Interval:
    """Return Σ_j of the largest d_j v_j with low <= v <= high."""
    ends = [d * low, d * high]
    return Interval(np.maximum(ends[0].hi, ends[1].hi)).sum()


class FlowPolytope(Polytope):
    """Flows from a source to a target: nonnegative, balanced at every node, below the capacities."""

    def __init__(self, description: dict[str, Any]) -> None:
        from scipy.sparse import coo_array

        edges = np.asarray(description["graph"], np.int64)
        source, target, radius = (description[name] for name in ("source", "target", "radius"))
        m, nodes = len(edges), int(edges.max()) + 1
        ahead, back = _reached(edges, source, nodes), _reached(edges[:, ::-1], target, nodes)
        useful = ahead[edges[:, 0]] & back[edges[:, 1]]
        most = np.full(m, np.inf) if description["capacity"] is None else np.array(description["capacity"], np.float64)
        if description["capacity"] is None or not _has_cycle(edges[useful], nodes):
            most = np.minimum(most, radius)  # without cycles no edge carries more than all
        supply = np.zeros(nodes)
        supply[source], supply[target] = radius, -radius
        signs = np.concatenate([np.ones(m), -np.ones(m)])
        balance = coo_array((signs, (edges.T.reshape(-1), np.tile(np.arange(m), 2))), shape=(nodes, m))
        none = coo_array((0, m))
        limits = {"lower": np.zeros(m), "upper": np.where(useful, most, 0.0)}
        super().__init__({"A_ub": none, "b_ub": np.zeros(0), "A_eq": balance, "b_eq": supply, **limits})
        self.radius = float(radius)

    def excess(self, x: np.ndarray) -> Interval:
        require(x, self.lower.shape)
        return self.furthest(x) / self.radius


class TransportPolytope(Polytope):
    """Nonnegative matrices with given row and column sums."""

    def __init__(self, description: dict[str, Any]) -> None:
        from scipy.sparse import coo_array, eye_array, kron, vstack

        supply, demand = (np.asarray(description[name], np.float64) for name in ("supply", "demand"))
        self.plan = m, n = supply.size, demand.size
        rows = vstack([kron(eye_array(m), np.ones((1, n))), kron(np.ones((1, m)), eye_array(n))])
        limits = {"lower": np.zeros(m * n), "upper": np.minimum.outer(supply, demand).reshape(-1)}
        sides = {"A_eq": rows, "b_eq": np.concatenate([supply, demand])}
        super().__init__({"A_ub": coo_array((0, m * n)), "b_ub": np.zeros(0), **sides, **limits})

    def support(self, h: np.ndarray) -> float:
        require(h, self.plan)
        return super().support(h.reshape(-1))

    def reach(self, e: np.ndarray) -> float:
        return super().reach(e.reshape(-1))

    def excess(self, x: np.ndarray) -> Interval:
        require(x, self.plan)
        return self.furthest(x.reshape(-1)) / self.size


class TotalVariationBall(Domain):
    """Signals or images of mean zero whose neighbours differ by at most the radius in all.

    <h, v> is unchanged if a constant is taken off h. What is left is D'p for flows p between neighbours, D taking the
    differences, and then <h, v> = <p, Dv> <= radius max\\|p\\|; what p misses counts with the largest entry of v, at
    most the radius.
    """

    ulps = 32  # an entry's rounding counts in up to four differences

    def support(self, h: np.ndarray) -> float:
        if h.ndim == 1 or min(h.shape) == 1:
            n = h.size
            if n == 1:
                return 0.0
            sums_so_far = running(h)
            part = Interval(np.arange(1.0, n + 1)) / float(n)
            return float((abs(sums_so_far - sums_so_far[-1] * part).max() * self.radius).hi)
        flow = _flow(h)
        missing = Interval(h) - _divergence(flow)
        level = float(np.mean(missing.middle))
        left = abs(missing - level).sum()
        return float(((Interval(max(float(np.max(np.abs(part))) for part in flow)) + left) * self.radius).hi)

    def reach(self, e: np.ndarray) -> float:
        return float((sums(e) * self.radius * ((e.size - 1) / e.size * (1 + 2.0**-50))).hi)  # one pixel alone is zero

    def excess(self, x: np.ndarray) -> Interval:
        steps = [Interval(x[1:]) - x[:-1]]
        if x.ndim == 2:
            steps.append(Interval(x[:, 1:]) - x[:, :-1])
        variation = Interval(0.0)
        for step in steps:
            if step.lo.size:
                variation = variation + abs(step).sum()
        mean = abs(sums(x)) / float(x.size)
        return largest(variation / self.radius - 1.0, mean / self.radius)


def _flow(h: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return flows down and right whose divergence is about h less its mean, the largest about as small as can be."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, hstack, identity, kron, vstack

    m, n = h.shape
    if h.size > 10_000:
        raise CannotShow(f"the image has {h.size} pixels: too many to find a flow as a witness")

    def differences(k: int) -> Any:
        ends = np.arange(k - 1)
        places = (np.concatenate([ends, ends]), np.concatenate([ends, ends + 1]))
        return coo_array((np.repeat([-1.0, 1.0], k - 1), places), shape=(k - 1, k))

    D = vstack([kron(differences(m), identity(n)), kron(identity(m), differences(n))]).tocsc()
    scale = float(np.max(np.abs(h))) or 1.0
    target = (h - np.mean(h)).reshape(-1) / scale
    k = (m - 1) * n + m * (n - 1)
    # Least t with D'p = target and -t <= p <= t.
    cost = np.append(np.zeros(k), 1.0)
    below = vstack([hstack([s * identity(k), -np.ones((k, 1))]) for s in (1.0, -1.0)]).tocsc()
    balance = hstack([D.T, np.zeros((h.size, 1))]).tocsc()
    bounds = [(None, None)] * k + [(0, None)]
    found = linprog(cost, below, np.zeros(2 * k), balance, target, bounds=bounds, method="highs-ds", options=SHARP)
    if found.status != 0:
        raise CannotShow(f"no flow was found as a witness for the total variation: {found.message}")
    p = scale * found.x[:-1]
    return p[: (m - 1) * n].reshape(m - 1, n), p[(m - 1) * n :].reshape(m, n - 1)


def _divergence(flow: tuple[np.ndarray, np.ndarray]) -> Interval:
    """Return D'p: what the flows of the edges before a pixel bring, less what those after it take."""
    down, right = flow
    parts = [np.pad(down, ((1, 0), (0, 0))), -np.pad(down, ((0, 1), (0, 0)))]
    parts += [np.pad(right, ((0, 0), (1, 0))), -np.pad(right, ((0, 0), (0, 1)))]
    return sums(np.stack(parts), 0)


def _reached(edges: np.ndarray, start: int, nodes: int) -> np.ndarray:
    seen = np.zeros(nodes, dtype=bool)
    seen[start] = True
    while True:
        new = seen[edges[:, 0]] & ~seen[edges[:, 1]]
        if not new.any():
            return seen
        seen[edges[new, 1]] = True


def _has_cycle(edges: np.ndarray, nodes: int) -> bool:
    """Tell whether edges remain when nodes that nothing enters are taken away, again and again."""
    while len(edges):
        entered = np.zeros(nodes, dtype=bool)
        entered[edges[:, 1]] = True
        kept = entered[edges[:, 0]]
        if kept.all():
            return True
        edges = edges[kept]
    return False

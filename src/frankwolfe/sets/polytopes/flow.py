"""Flows through a network from a source to a target."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.atoms import Sparse
from frankwolfe.backends.namespace import Array, as_index, as_like, scaled
from frankwolfe.sets.arrays import norm, on_host, slack, spread_vector, unmasked
from frankwolfe.sets.base import LinearMinimum, ProvenSet, install, is_point, require_shape
from frankwolfe.sets.polytopes.polytope import Polytope
from frankwolfe.validation import positive


@dataclass(frozen=True, eq=False, repr=False)
class FlowPolytope(ProvenSet):
    """Flows of `radius` units from a source to a target; a point holds one number for each edge.

    What enters a node leaves it, except at the two ends; no flow is negative, nor above a capacity where there is one.
    Edges that lie on no way from source to target carry nothing.

    Parameters
    ----------
    graph : sequence of (tail, head) pairs, array of shape (m, 2), or sparse matrix
        The directed edges, in the order of a point's entries; parallel edges are allowed. Nodes may be integers or any
        other hashable labels. Of a sparse adjacency matrix the stored entries are the edges, row by row. Kept as an
        array, the nodes numbered in the order in which they appear; so are the ends.
    source, target : hashable
        The two ends, two nodes of the graph.
    radius : float, default=1.0
        How much flows.
    capacity : float or array_like of shape (m,), optional
        The most that an edge may carry. Without it no edge carries more than `radius`, which says something only of
        edges on a directed cycle: any amount could flow round it otherwise.

    Notes
    -----
    Without capacities the extreme points are the paths, and an atom is the shortest one: dynamic programming over the
    layers of the acyclic network, O(m), with costs of any sign; of equally short ways to a node, the one by the edge
    that comes first. In a network with directed cycles, as roads are, a shortest path is an atom where no cost is
    negative (Dijkstra's method, O(m log m)): going round a cycle costs something. Travel times and other increasing
    costs of flow have no other gradients. Where a cost is negative, the best flow may go round cycles, up to `radius`
    on each edge, and is found as with capacities. With capacities an atom is a minimum-cost flow, found by the simplex
    method (see :class:`Polytope`); for whole capacities and radius it is whole itself [1]_. Either is kept as its few
    nonzeros.

    References
    ----------
    .. [1] R. K. Ahuja, T. L. Magnanti, J. B. Orlin, "Network flows", Prentice Hall 1993.

    Examples
    --------
    >>> import numpy as np
    >>> roads = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("b", "c")]
    >>> FlowPolytope(roads, "a", "d").lmo(np.array([1.0, 4.0, 5.0, 1.0, 1.0])).toarray()
    array([1., 0., 0., 1., 1.])
    >>> FlowPolytope(roads, "a", "d", capacity=0.5).lmo(np.array([1.0, 4.0, 5.0, 1.0, 1.0])).toarray()
    array([0.5, 0.5, 0.5, 0.5, 0. ])
    """

    graph: Any
    source: Any
    target: Any
    radius: float = 1.0
    capacity: Any = None
    quick_membership: ClassVar[bool] = True
    sparse_atoms: ClassVar[bool] = True
    holds_magnitudes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        edges, (source, target) = read_edges(self.graph, self.source, self.target)
        install(self, graph=edges, source=source, target=target, radius=positive("radius", self.radius))
        if not self._useful.any():
            raise ValueError("there is no directed path from source to target; check the directions of the edges")
        install(self, closed_form=self.acyclic, shape=(len(edges),))
        if self.capacity is None:
            install(self, vertex_height=self.radius)
        else:
            most = spread_vector("capacity", self.capacity, len(edges))
            if not np.all(most >= 0) or (self._layers is None and not np.all(np.isfinite(most))):
                raise ValueError("capacity must be nonnegative, and finite where the graph has a directed cycle")
            most.setflags(write=False)
            install(self, capacity=most)
            try:
                self._polytope  # noqa: B018  solves for a first flow
            except ValueError:
                raise ValueError(
                    f"the capacities do not let {self.radius} units through; raise them or lower the radius"
                ) from None

    def __repr__(self) -> str:
        limits = "" if self.capacity is None else ", with capacities"
        return f"FlowPolytope(<{len(self.graph)} edges{limits}>, {self.source}, {self.target}, radius={self.radius!r})"

    def minimum(self, g: Array) -> LinearMinimum:
        """Return a flow of least cost, its cost, and a proven lower bound on that."""
        require_shape(self, g)
        cost, way = on_host(g), self._way(g)
        if way is None:
            found = self._polytope.minimum(cost)
            flow = found.atom.toarray()
            places = np.flatnonzero(flow)
            atom = Sparse(as_index(places, g), as_like(flow[places], g), tuple(g.shape))
            return LinearMinimum(atom, atom.inner(g), found.lower)
        places = way.shortest(scaled(cost))
        atom = Sparse(as_index(places, g), as_like(np.full(places.size, self.radius), g), tuple(g.shape))
        value = atom.inner(g)
        # Two ways are compared by sums of their costs, edge by edge.
        terms, size = 2 * way.longest + 8, cost[self._useful]
        room = 2.0**-52 * terms * self.radius * float(min(terms * norm(size, math.inf), norm(size, 1)))
        return LinearMinimum(atom, value, value - room)

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return an upper bound: for paths, from the edges in which two can differ; with capacities, from those."""
        if self.acyclic:
            longest, edges = self._layers.longest, self._layers.count
            return self.radius * math.sqrt(min(2 * longest, edges)) if edges > longest else 0.0
        return float(np.linalg.norm(self._limits))

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        if not is_point(self, x):
            return False
        flow, room = on_host(x), slack(x, tol) * self.radius
        inside = bool(np.all(flow >= -room)) and bool(np.all(flow <= self._limits + room))
        return inside and bool(np.max(np.abs(self._balance @ flow - self._supply)) <= room)

    @property
    def acyclic(self) -> bool:
        """Whether all flows are mixtures of paths: there is neither a directed cycle nor a capacity."""
        return self.capacity is None and self._layers is not None

    @cached_property
    def _useful(self) -> np.ndarray:
        """Which edges lie on a way from source to target."""
        return on_the_way(self.graph, self.source, self.target)

    @cached_property
    def _layers(self) -> Any:
        """The useful edges as layers, None where they have a cycle."""
        return Layers.of(self.graph, self._useful, self.source, self.target)

    @cached_property
    def _web(self) -> Web:
        return Web.of(self.graph, self._useful, self.source, self.target)

    def _way(self, g: Array) -> Layers | Web | None:
        """Return what finds a shortest path, where such a path is a flow of least cost."""
        if self.capacity is not None or self.acyclic:
            return self._layers if self.acyclic else None
        return self._web if bool(np.all(on_host(g)[self._useful] >= 0)) else None

    @cached_property
    def _limits(self) -> np.ndarray:
        """The most that an edge can carry; without cycles, or capacities, no more than all."""
        limits = np.full(len(self.graph), self.radius) if self.capacity is None else self.capacity
        limits = np.where(self._useful, limits, 0.0)
        return limits if self._layers is None else np.minimum(limits, self.radius)

    @cached_property
    def _balance(self) -> Any:
        from scipy.sparse import coo_array

        m = len(self.graph)
        signs = np.concatenate([np.ones(m), -np.ones(m)])
        places = (self.graph.T.reshape(-1), np.tile(np.arange(m), 2))
        return coo_array((signs, places), shape=(int(np.max(self.graph)) + 1, m)).tocsr()

    @cached_property
    def _supply(self) -> np.ndarray:
        supply = np.zeros(self._balance.shape[0])
        supply[self.source], supply[self.target] = self.radius, -self.radius
        return supply

    @cached_property
    def _polytope(self) -> Polytope:
        return Polytope(A_eq=self._balance, b_eq=self._supply, lower=0.0, upper=self._limits)


def read_edges(graph: Any, source: Hashable, target: Hashable) -> tuple[np.ndarray, tuple[int, int]]:
    """Return the edges as an array of node numbers, and the numbers of the two ends."""
    graph = unmasked("graph", graph)
    if hasattr(graph, "tocoo"):
        entries = graph.tocsr(copy=True)
        entries.sum_duplicates()
        entries = entries.tocoo()
        pairs: list[Any] = list(zip(entries.row.tolist(), entries.col.tolist(), strict=True))
    else:
        pairs = graph.tolist() if isinstance(graph, np.ndarray) else list(graph)
    if not pairs or not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        raise ValueError(f"graph must be a nonempty sequence of (tail, head) pairs or a sparse matrix, got {graph!r}")
    numbers: dict[Hashable, int] = {}
    edges = np.array([[numbers.setdefault(node, len(numbers)) for node in pair] for pair in pairs], dtype=np.int64)
    for name, node in (("source", source), ("target", target)):
        if node not in numbers:
            raise ValueError(f"{name} must be a node of the graph, got {node!r}, which no edge touches")
    if source == target:
        raise ValueError(f"source and target must differ, got {source!r} for both")
    edges.setflags(write=False)
    return edges, (numbers[source], numbers[target])


def on_the_way(edges: np.ndarray, source: int, target: int) -> np.ndarray:
    """Tell for each edge whether some walk from source to target takes it."""
    tails, heads = edges.T
    ahead = _reached(tails, heads, source)
    back = _reached(heads, tails, target)
    return ahead[tails] & back[heads]


def _reached(tails: np.ndarray, heads: np.ndarray, start: int) -> np.ndarray:
    """Tell which nodes can be reached from one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    n = int(max(tails.max(), heads.max())) + 1
    links = coo_array((np.ones(tails.size), (tails, heads)), shape=(n, n)).tocsr()
    seen = np.zeros(n, dtype=bool)
    seen[breadth_first_order(links, start, return_predecessors=False)] = True
    return seen


class Layers(NamedTuple):
    """An acyclic network, its edges grouped by how far (in edges, at most) their head is from the source.

    A layer is (edges, first, heads): its edges sorted by head, where each head's edges begin, and these heads.
    """

    layers: tuple[tuple[np.ndarray, np.ndarray, np.ndarray], ...]
    tails: np.ndarray
    source: int
    target: int
    nodes: int
    longest: int
    count: int

    @classmethod
    def of(cls, edges: np.ndarray, useful: np.ndarray, source: int, target: int) -> Layers | None:
        """Return the layers of the useful edges, or None where these have a cycle."""
        ids = np.flatnonzero(useful)
        heads, nodes = edges[ids, 1], int(edges.max()) + 1
        before: dict[int, list[int]] = {}
        for tail, head in edges[ids].tolist():
            before.setdefault(head, []).append(tail)
        depth = np.zeros(nodes, dtype=np.int64)
        try:
            for node in TopologicalSorter(before).static_order():
                depth[node] = max((depth[tail] + 1 for tail in before.get(node, ())), default=0)
        except CycleError:
            return None
        layers = []
        by_head = np.lexsort((ids, heads, depth[heads]))
        cuts = np.flatnonzero(np.diff(depth[heads][by_head])) + 1
        for part in np.split(by_head, cuts):
            first = np.flatnonzero(np.diff(heads[part], prepend=-1))
            layers.append((ids[part], first, heads[part][first]))
        return cls(tuple(layers), edges[:, 0], source, target, nodes, int(depth[target]), ids.size)

    def shortest(self, cost: np.ndarray) -> np.ndarray:
        """Return the edges of a shortest path from source to target, in increasing order; costs may be negative."""
        distance = np.zeros(self.nodes)
        last = np.full(self.nodes, -1, dtype=np.int64)
        for edges, first, heads in self.layers:
            through = distance[self.tails[edges]] + cost[edges]
            best = np.minimum.reduceat(through, first)
            distance[heads] = best
            sizes = np.diff(first, append=edges.size)
            hits = np.flatnonzero(through == np.repeat(best, sizes))
            owners = np.repeat(np.arange(first.size), sizes)[hits]
            chosen = np.full(first.size, -1, dtype=np.int64)
            chosen[owners[::-1]] = edges[hits[::-1]]  # of equal ones the first is written last
            last[heads] = chosen
        path, node = [], self.target
        while node != self.source:
            path.append(int(last[node]))
            node = int(self.tails[path[-1]])
        return np.sort(np.array(path, dtype=np.int64))


class Web(NamedTuple):
    """A network with cycles, its `edges` by tail and head, and where those of each pair of nodes are `first`."""

    edges: np.ndarray
    first: np.ndarray
    begins: np.ndarray
    heads: np.ndarray
    source: int
    target: int
    longest: int

    @classmethod
    def of(cls, edges: np.ndarray, useful: np.ndarray, source: int, target: int) -> Web:
        """Return the useful part of a network."""
        ids, nodes = np.flatnonzero(useful), int(edges.max()) + 1
        tails, heads = edges[ids].T
        order = np.lexsort((ids, heads, tails))
        pairs = tails[order] * nodes + heads[order]
        first = np.flatnonzero(np.diff(pairs, prepend=-1))
        begins = np.searchsorted(tails[order][first], np.arange(nodes + 1))
        return cls(ids[order], first, begins, heads[order][first], source, target, nodes - 1)

    def shortest(self, cost: np.ndarray) -> np.ndarray:
        """Return the edges of a shortest path from source to target, in increasing order; no cost is negative."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import dijkstra

        costs = cost[self.edges]
        least = np.minimum.reduceat(costs, self.first)
        nodes = self.begins.size - 1
        links = csr_array((least, self.heads, self.begins), shape=(nodes, nodes))
        _, before = dijkstra(links, indices=self.source, return_predecessors=True)
        path, node = [], self.target
        while node != self.source:
            tail = int(before[node])
            begin, end = self.begins[tail], self.begins[tail + 1]
            pair = int(begin + np.searchsorted(self.heads[begin:end], node))
            last = self.first[pair + 1] if pair + 1 < self.first.size else self.edges.size
            path.append(int(self.edges[self.first[pair] + np.argmin(costs[self.first[pair] : last])]))
            node = tail
        return np.sort(np.array(path, dtype=np.int64))

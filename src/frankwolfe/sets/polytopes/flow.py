"""Flows through a network from a source to a target."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from frankwolfe.atoms import Sparse
from frankwolfe.backends import Array, scaled
from frankwolfe.backends.namespace import as_index, as_like
from frankwolfe.sets.base import LinearMinimum, ProvenSet, install, is_point, require_shape
from frankwolfe.sets.fixed_arrays import on_host, spread_vector
from frankwolfe.sets.norms import norm, slack
from frankwolfe.sets.polytopes.network import Layers, Web, on_the_way, read_edges
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

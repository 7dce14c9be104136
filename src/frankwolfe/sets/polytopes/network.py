"""Directed networks: reading edges, the part between two nodes, shortest paths without cycles."""

from __future__ import annotations

from collections.abc import Hashable
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.sets.fixed_arrays import unmasked


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

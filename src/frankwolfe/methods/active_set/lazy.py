"""Lazy oracles: vertices seen before answer for the oracle while they are good enough."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.methods.active_set.active_set import lowest, steady, tied
from frankwolfe.methods.active_set.atom_bundle import Bundle
from frankwolfe.methods.active_set.blended_pairwise import BlendedPairwise
from frankwolfe.methods.base import Evidence, Method
from frankwolfe.points import Point
from frankwolfe.problem import Problem, Vertex
from frankwolfe.serialisation import plain
from frankwolfe.validation import integer, positive


@plain
class LazyState(NamedTuple):
    k: int
    inner: Any  # of the wrapped method
    cache: Bundle  # vertices seen, oldest first
    phi: float  # what a vertex has to promise, up to K

    @property
    def x(self) -> Point:
        """The iterate x_k."""
        return self.inner.x


@dataclass(frozen=True)
class Lazy(Method):
    """Let a vertex seen before stand in for the oracle's answer, as long as it promises enough progress.

    Parameters
    ----------
    method : Method, default BlendedPairwise()
        What to make lazy: any method whose one question is the gradient at x_k ('fw', 'away', 'pairwise', 'bpcg',
        'fcfw').
    K : float, default 2
        A cached vertex must promise at least Φ/K.
    size : int, default 1000
        How many vertices to remember.

    Notes
    -----
    Weak separation [1]_: a cached v with <grad, x - v> >= Φ/K is used as it is; else the oracle is called, and if its
    answer falls short of Φ/K too, Φ is at least halved. (We then still step towards that vertex, which cannot hurt.)
    Rates are those of the wrapped method up to a factor K. Worth it where the oracle is slow. Only true oracle calls
    are counted, and only they renew the certificate.

    References
    ----------
    .. [1] G. Braun, S. Pokutta and D. Zink, Lazifying conditional gradient algorithms, ICML 2017.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> A = np.random.default_rng(0).standard_normal((50, 10))
    >>> result = fw.minimize(fw.LeastSquares(A, A[:, 0] + A[:, 1]), fw.LInfBall(0.5), method=Lazy())
    >>> result.success, result.n_lmo < result.n_iter / 2
    (True, True)
    """

    name: ClassVar[str] = "lazy"
    syncs_host: ClassVar[bool] = True
    method: Method = field(default_factory=BlendedPairwise)
    K: float = 2.0
    size: int = 1000

    def __post_init__(self) -> None:
        if not (isinstance(self.method, Method) and self.method.separates):
            raise TypeError(
                f"Lazy needs a method whose one question is the gradient at x_k, got {self.method!r}; "
                "use FrankWolfe(), AwayFrankWolfe(), PairwiseFrankWolfe(), BlendedPairwise() or FullyCorrective()"
            )
        positive("K", self.K)
        integer("size", self.size, 1)

    def check(self, problem: Problem) -> None:
        self.method.check(problem)

    def init(self, problem: Problem, x0: Point) -> LazyState:
        return LazyState(0, self.method.init(problem, x0), Bundle(()), np.inf)

    def step(self, problem: Problem, state: LazyState) -> tuple[LazyState, Evidence]:
        k, inner, cache, phi = state
        oracle = _WeakSeparation(problem, inner.x, cache, phi / self.K)
        inner, evidence = self.method.step(oracle, inner)
        if oracle.called is None:
            return LazyState(k + 1, inner, cache, phi), Evidence(evidence.seen)
        vertex, gap = oracle.called
        if phi == np.inf:
            phi = 0.5 * gap
        elif gap < phi / self.K:
            phi = min(phi / 2, gap) if gap > 0 else phi / 2
        cache, _ = cache.add(vertex)
        if cache.size > self.size:
            cache = cache.keep(np.arange(cache.size) > 0)
        return LazyState(k + 1, inner, cache, phi), evidence

    def settled(self, problem: Problem, state: LazyState) -> LazyState:
        return state._replace(inner=self.method.settled(problem, state.inner))

    def warm(self, value: float, gap: float, curvature: float) -> Method:
        return replace(self, method=self.method.warm(value, gap, curvature))


class _WeakSeparation(Problem):
    """The problem with an oracle that looks among the vertices it has before it works; all else is the problem's."""

    __slots__ = ("cache", "called", "threshold", "x")

    def __init__(self, problem: Problem, x: Point, cache: Bundle, threshold: float) -> None:
        self.__dict__ = problem.__dict__  # one and the same: what is computed once serves both
        self.x, self.cache, self.threshold = x, cache, threshold
        self.called: tuple[Point, float] | None = None  # the oracle's vertex and its gap, where it had to be called

    def lmo(self, slope: Any, k: int, share: float, keep: Point | None = None) -> Vertex:
        inner = float(self.inner(slope, self.x))
        if self.cache.size:
            scores = self.cache.inner(self, slope)
            i = lowest(scores, tied(self.eps, self.threshold, scores, inner))
            if inner - scores[i] >= self.threshold:
                return Vertex(self.cache.points[i], float(scores[i]), -np.inf)
        vertex = super().lmo(slope, k, share, keep)
        if self.domain is not None and self.domain.combines_choices:
            vertex = steady(self, slope, inner, vertex)
        self.called = vertex.point, inner - float(vertex.value)
        return vertex

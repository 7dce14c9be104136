"""Richardson extrapolation of open-loop methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from frankwolfe.methods.base import Evidence, Method
from frankwolfe.methods.open_loop.frank_wolfe import FrankWolfe
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain


@plain
class RichardsonState(NamedTuple):
    k: int
    inner: Any  # of the wrapped method; its iterate z is the mean of all vertices
    x: Point  # extrapolated: mean of the vertices since half the last power of two
    late: Point  # mean of the vertices since the last power of two

    @property
    def z(self) -> Point:
        """The wrapped method's own iterate."""
        return self.inner.x


@dataclass(frozen=True)
class Richardson(Method):
    """Extrapolate the leading error term of an open-loop method, of order 1/k, away.

    Parameters
    ----------
    method : Method, default FrankWolfe()
        An open-loop method, which runs with steps 1/(k+1) here: `FrankWolfe()` or `HeavyBallFrankWolfe()`.

    Notes
    -----
    With these steps z_k is the mean of all vertices so far. Where z_k = x* + Δ/k + o(1/k), as on a polytope with the
    optimum inside a face, (k z_k - a z_a)/(k - a) has no term in 1/k, for any earlier a [1]_; a = k/2 gives 2z_k -
    z_{k/2}. It is the mean of the vertices since a, hence feasible, and is kept as that mean: nothing cancels. (With
    steps 2/(k+2) extrapolation leaves the set, and is worse.) We take a = 2^(j-1) for 2^j <= k < 2^(j+1): three means
    in memory, an extrapolation at every k, and a = k/2 at powers of two. f(z_k) - f* is O(LD² log(k)/k) always;
    f(x_k) - f* is O(1/k²) where the expansion holds. Where the method has met no vertex off the optimal face, f(z_k)
    has no term in 1/k either and is the lower by a constant factor: the loop keeps the better of the two.

    Oracle calls and certificate are those of the wrapped method; f(x_k) comes from its image, without a pass over the
    data. The start is forgotten in the first step.

    References
    ----------
    .. [1] F. Bach, On the effectiveness of Richardson extrapolation in data science, SIAM J. Math. Data Sci. 3, 2021.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(3), np.array([0.5, 0.3, -1.0]))
    >>> fw.minimize(f, fw.Simplex(3), method=Richardson(), tol=0, max_iter=512).x.round(3)
    array([0.6, 0.4, 0. ])
    >>> Richardson(fw.FrankWolfe(fw.ExactLineSearch()))
    Traceback (most recent call last):
    TypeError: Richardson extrapolates an open-loop method whose steps can be 1/(k+1), not ...
    """

    name: ClassVar[str] = "richardson"
    method: Method = field(default_factory=FrankWolfe)

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", self.method.averaging())

    def check(self, problem: Problem) -> None:
        self.method.check(problem)

    def init(self, problem: Problem, x0: Point) -> RichardsonState:
        return RichardsonState(0, self.method.init(problem, x0), x0, x0)

    def step(self, problem: Problem, state: RichardsonState) -> tuple[RichardsonState, Evidence]:
        k, inner, x, late = state
        inner, seen = self.method.step(problem, inner)
        evidence = seen._replace(seen=((problem.value(x), x), *seen.seen), afresh=False)
        _, vertex = seen.minorants[0]
        assert vertex is not None, "the vertex that the method moved towards"

        power = 1 << max(k.bit_length() - 1, 0)  # the last power of two, 2^j <= k
        # A mean that begins here takes the vertex whole, whatever stood in its place.
        x = problem.move(x, vertex.point, 1.0 / (k + 1 - power // 2))
        late = problem.move(late, vertex.point, 1.0 / max(k + 1 - power, 1))
        return RichardsonState(k + 1, inner, late if k + 1 == 2 * power else x, late), evidence

    def settled(self, problem: Problem, state: RichardsonState) -> RichardsonState:
        return super().settled(problem, state)._replace(inner=self.method.settled(problem, state.inner))

"""Frank-Wolfe with Richardson extrapolation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from frankwolfe.methods.base import Evidence, Method
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain


@plain
class RichardsonState(NamedTuple):
    k: int
    x: Point  # extrapolated: mean of the vertices since half the last power of two
    z: Point  # Frank-Wolfe's own iterate: mean of all vertices
    late: Point  # mean of the vertices since the last power of two


@dataclass(frozen=True)
class RichardsonFrankWolfe(Method):
    """Frank-Wolfe with steps 1/(k+1), whose leading error term, of order 1/k, is extrapolated away.

    Notes
    -----
    With these steps z_k is the mean of all vertices so far. Where z_k = x* + Δ/k + o(1/k), as on a polytope with the
    optimum inside a face, (k z_k - a z_a)/(k - a) has no term in 1/k, for any earlier a [1]_; a = k/2 gives 2z_k -
    z_{k/2}. It is the mean of the vertices since a, hence feasible, and is kept as that mean: nothing cancels. We take
    a = 2^(j-1) for 2^j <= k < 2^(j+1): three means in memory, an extrapolation at every k, and a = k/2 at powers of
    two. f(z_k) - f* is O(LD² log(k)/k) always; f(x_k) - f* is O(1/k²) where the expansion holds. Where Frank-Wolfe has
    met no vertex off the optimal face, f(z_k) has no term in 1/k either and is the lower by a constant factor: the loop
    keeps the better of the two.

    One gradient and one oracle call a step; f(x_k) comes with the gradient at z_k. The certificate is Frank-Wolfe's at
    z_k and as slow as that. The start is forgotten in the first step.

    References
    ----------
    .. [1] F. Bach, On the effectiveness of Richardson extrapolation in data science, SIAM J. Math. Data Sci. 3, 2021.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(3), np.array([0.5, 0.3, -1.0]))
    >>> fw.minimize(f, fw.Simplex(3), method=RichardsonFrankWolfe(), tol=0, max_iter=512).x.round(3)
    array([0.6, 0.4, 0. ])
    """

    name: ClassVar[str] = "richardson"

    def init(self, problem: Problem, x0: Point) -> RichardsonState:
        return RichardsonState(0, x0, x0, x0)

    def step(self, problem: Problem, state: RichardsonState) -> tuple[RichardsonState, Evidence]:
        k, x, z, late = state
        at_z = problem.evaluate(z, watch=x)
        vertex = problem.lmo(at_z.slope, k, share=0.03 / (k + 1), keep=z)
        evidence = Evidence(((at_z.watched, x), (at_z.value, z)), ((at_z.tangent, vertex),))

        power = 1 << max(k.bit_length() - 1, 0)  # the last power of two, 2^j <= k
        # A mean that begins here takes the vertex whole, whatever stood in its place.
        z = problem.mix(z, vertex.point, 1.0 / (k + 1))
        x = problem.mix(x, vertex.point, 1.0 / (k + 1 - power // 2))
        late = problem.mix(late, vertex.point, 1.0 / max(k + 1 - power, 1))
        return RichardsonState(k + 1, late if k + 1 == 2 * power else x, z, late), evidence

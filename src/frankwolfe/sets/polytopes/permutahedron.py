"""The permutahedron: all averages of the reorderings of one vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from frankwolfe.atoms import Atom, Dense
from frankwolfe.backends.namespace import Array, Scalar, as_like, namespace
from frankwolfe.sets.arrays import above, frozen, frozen_vector, on_host, slack
from frankwolfe.sets.base import ProjectableSet, install, is_point, require_shape

FAR = 8.0  # times the size of the set: points beyond are projected twice


@dataclass(frozen=True, eq=False)
class Permutahedron(ProjectableSet):
    """Convex hull of all permutations of the vector c: the vectors that c majorises.

    Parameters
    ----------
    c : array_like of shape (n,)
        Any numbers; ``range(n)`` gives the set of (averaged) rankings. Kept sorted to decrease.

    Notes
    -----
    An atom pairs the largest entry of c with the least entry of the direction, and so on (the rearrangement
    inequality); among ties the lowest index gets the larger entry. The projection is an isotonic regression [1]_ [2]_,
    after one sort. A point belongs to the set where its k largest entries never sum to more than those of c, with
    equality for all of them.

    References
    ----------
    .. [1] R. Negrinho, A. F. T. Martins, "Orbit regularization", NeurIPS 2014.
    .. [2] M. Blondel, O. Teboul, Q. Berthet, J. Djolonga, "Fast differentiable sorting and ranking", ICML 2020.

    Examples
    --------
    >>> import numpy as np
    >>> domain = Permutahedron([1.0, 2.0, 3.0])
    >>> domain.lmo(np.array([0.5, -1.0, 2.0])).toarray()
    array([2., 3., 1.])
    >>> domain.project(np.array([9.0, 0.0, 0.0]))
    array([3. , 1.5, 1.5])
    """

    combines_choices: ClassVar[bool] = True
    c: Any

    def __post_init__(self) -> None:
        down = frozen("c", np.sort(frozen_vector("c", self.c))[::-1])
        install(self, c=down, shape=down.shape)

    def lmo(self, g: Array) -> Atom:
        require_shape(self, g)
        xp = namespace(g)
        ranks = xp.argsort(xp.argsort(g, stable=True), stable=True)
        return Dense(xp.take(as_like(self.c, g), ranks))

    def support(self, g: Array) -> Scalar:
        require_shape(self, g)
        xp = namespace(g)
        return xp.sum(xp.flip(xp.sort(g)) * as_like(self.c, g))

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        """Return the distance of c from its reverse, the farthest two permutations."""
        return float(np.linalg.norm(self.c - self.c[::-1]))

    def reach(self, c: Array) -> float:
        require_shape(self, c)
        xp = namespace(c)
        return above(xp.sum(xp.sort(c) * as_like(np.sort(np.abs(self.c)), c)), c)

    def contains(self, x: Array, tol: float = 1e-9) -> bool:
        if not is_point(self, x):
            return False
        room = slack(x, tol) * float(np.max(np.abs(self.c)))
        excess = np.cumsum(np.sort(on_host(x))[::-1] - self.c)
        return bool(np.max(excess) <= room) and bool(abs(excess[-1]) <= room)

    def project(self, x: Array) -> Array:
        require_shape(self, x)
        flat = on_host(x)
        z = self._nearest(flat)
        if float(np.abs(flat).max()) > FAR * float(np.abs(self.c).max()):
            z = self._nearest(z)  # from far away rounding hides the set's own digits; from next to it, it does not
        return as_like(z, x)

    def _nearest(self, flat: np.ndarray) -> np.ndarray:
        from scipy.optimize import isotonic_regression

        order = np.argsort(-flat, kind="stable")
        down = flat[order]
        blocks = isotonic_regression(down - self.c, increasing=False).blocks
        starts, sizes = blocks[:-1], np.diff(blocks)
        # In each block the answer is down - mean(down) + mean(c); taking out the first entry first keeps every digit.
        inside = down - np.repeat(down[starts], sizes)
        shift = (np.add.reduceat(self.c, starts) - np.add.reduceat(inside, starts)) / sizes
        z = np.empty_like(flat)
        z[order] = inside + np.repeat(shift, sizes)
        return z

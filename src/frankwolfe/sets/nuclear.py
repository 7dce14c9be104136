"""The nuclear-norm ball: matrices whose singular values sum to at most the radius."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from frankwolfe.backends import Array
from frankwolfe.kernels.lanczos import top_singular
from frankwolfe.lowrank import LowRank
from frankwolfe.sets.atoms import RankOne
from frankwolfe.sets.base import IterativeSet, LinearMinimum, SupportBound
from frankwolfe.sets.projections import project_l1
from frankwolfe.validation import positive


@dataclass(frozen=True)
class NuclearBall(IterativeSet):
    """Matrices with nuclear norm (sum of singular values) at most `radius`."""

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive("radius", self.radius))

    def lmo(self, g: Any) -> RankOne:
        pair = top_singular(g, 1e-10, np.random.default_rng(0))
        return RankOne(-self.radius, pair.left, pair.right)

    def minimise(self, g: Any, accuracy: float, rng: np.random.Generator) -> LinearMinimum:
        pair = top_singular(g, accuracy / self.radius, rng)
        return LinearMinimum(
            RankOne(-self.radius, pair.left, pair.right), -self.radius * pair.sigma, -np.inf, pair.matvecs
        )

    def support(self, g: Any) -> float:
        return self.radius * top_singular(g, 1e-10, np.random.default_rng(0)).sigma

    def support_bound(self, g: Any, rng: np.random.Generator) -> SupportBound:
        raise NotImplementedError

    def diameter(self, shape: tuple[int, ...] | None = None) -> float:
        return 2 * self.radius

    def contains(self, x: Any, tol: float = 1e-9) -> bool:
        total = x.nuclear_norm() if isinstance(x, LowRank) else np.sum(np.linalg.svd(x, compute_uv=False))
        return bool(total <= self.radius * (1 + tol))

    def with_radius(self, radius: float) -> Self:
        return replace(self, radius=radius)

    def project(self, x: Array) -> Array:
        U, s, Vt = np.linalg.svd(x, full_matrices=False)
        return (U * project_l1(s, self.radius)) @ Vt

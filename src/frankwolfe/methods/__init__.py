"""Methods: one file each; `accelerated.py` is the one to read first."""

from __future__ import annotations

from collections.abc import Callable

from frankwolfe.methods.accelerated import AcceleratedFrankWolfe
from frankwolfe.methods.active_set.away import AwayFrankWolfe
from frankwolfe.methods.active_set.blended import BlendedConditionalGradients
from frankwolfe.methods.active_set.blended_pairwise import BlendedPairwise
from frankwolfe.methods.active_set.decomposition_invariant import DecompositionInvariant
from frankwolfe.methods.active_set.fully_corrective import FullyCorrective
from frankwolfe.methods.active_set.lazy import Lazy
from frankwolfe.methods.active_set.pairwise import PairwiseFrankWolfe
from frankwolfe.methods.auto import Auto as Auto
from frankwolfe.methods.base import Evidence as Evidence
from frankwolfe.methods.base import Method
from frankwolfe.methods.base import State as State
from frankwolfe.methods.low_rank.factored import FactoredFrankWolfe
from frankwolfe.methods.low_rank.in_face import InFaceFrankWolfe
from frankwolfe.methods.open_loop.boosted import BoostedFrankWolfe
from frankwolfe.methods.open_loop.extra import ExtraFrankWolfe
from frankwolfe.methods.open_loop.frank_wolfe import FrankWolfe
from frankwolfe.methods.open_loop.heavy_ball import HeavyBallFrankWolfe
from frankwolfe.methods.open_loop.richardson import Richardson
from frankwolfe.methods.projected.accelerated_gradient import AcceleratedGradient, StronglyConvexAGM
from frankwolfe.methods.projected.projected_gradient import AcceleratedProjectedGradient, ProjectedGradient
from frankwolfe.methods.projected.sliding import ConditionalGradientSliding
from frankwolfe.methods.second_order.newton import NewtonFrankWolfe
from frankwolfe.methods.second_order.subspace import SubspaceFrankWolfe
from frankwolfe.methods.step_sizes import Backtracking, ExactLineSearch, OpenLoop, ShortStep
from frankwolfe.methods.step_sizes import StepSize as StepSize
from frankwolfe.methods.stochastic.block_coordinate import BlockCoordinateFrankWolfe
from frankwolfe.methods.stochastic.stochastic import StochasticFrankWolfe
from frankwolfe.validation import nearest

METHODS: dict[str, Callable[[], Method]] = {
    "fw": FrankWolfe,
    "afw": AcceleratedFrankWolfe,
    "agm": AcceleratedGradient,
    "agm_sc": StronglyConvexAGM,
    "pgd": ProjectedGradient,
    "apgd": AcceleratedProjectedGradient,
    "away": AwayFrankWolfe,
    "pairwise": PairwiseFrankWolfe,
    "bpcg": BlendedPairwise,
    "bcg": BlendedConditionalGradients,
    "fcfw": FullyCorrective,
    "lazy": Lazy,
    "inface": InFaceFrankWolfe,
    "bcfw": BlockCoordinateFrankWolfe,
    "richardson": Richardson,
    "stochastic": StochasticFrankWolfe,
    "subspace": SubspaceFrankWolfe,
    "factored": FactoredFrankWolfe,
    "extrafw": ExtraFrankWolfe,
    "hfw": HeavyBallFrankWolfe,
    "cgs": ConditionalGradientSliding,
    "newton": NewtonFrankWolfe,
    "boosted": BoostedFrankWolfe,
    "dicg": DecompositionInvariant,
}


def named(method: str | Method) -> Method:
    """Return a method by its name, in capitals or not, or the method itself."""
    if isinstance(method, Method):
        return method
    if isinstance(method, type) and issubclass(method, Method):
        raise TypeError(f"method is the class {method.__name__}; make one: {method.__name__}()")
    if not isinstance(method, str):
        raise TypeError(f"method must be a name or a Method, got {type(method).__name__}")
    name = method.lower()
    if name == "auto":
        return Auto()
    if name not in METHODS:
        raise ValueError(f"unknown method {method!r}; {nearest(name, ['auto', *METHODS])}")
    return METHODS[name]()


__all__ = [
    "AcceleratedFrankWolfe",
    "AcceleratedGradient",
    "AcceleratedProjectedGradient",
    "AwayFrankWolfe",
    "Backtracking",
    "BlendedConditionalGradients",
    "BlendedPairwise",
    "BlockCoordinateFrankWolfe",
    "BoostedFrankWolfe",
    "ConditionalGradientSliding",
    "DecompositionInvariant",
    "ExactLineSearch",
    "ExtraFrankWolfe",
    "FactoredFrankWolfe",
    "FrankWolfe",
    "FullyCorrective",
    "HeavyBallFrankWolfe",
    "InFaceFrankWolfe",
    "Lazy",
    "Method",
    "NewtonFrankWolfe",
    "OpenLoop",
    "PairwiseFrankWolfe",
    "ProjectedGradient",
    "Richardson",
    "ShortStep",
    "StochasticFrankWolfe",
    "StronglyConvexAGM",
    "SubspaceFrankWolfe",
]

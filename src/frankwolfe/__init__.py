"""Projection-free (Frank-Wolfe, conditional-gradient) optimisation, with a proven gap with every answer.

>>> import numpy as np, frankwolfe as fw
>>> result = fw.minimize(fw.LeastSquares(np.eye(2), [3.0, 4.0]), fw.L2Ball(1.0))
>>> result.success, result.x.round(3)
(True, array([0.6, 0.8]))
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from frankwolfe.checkpoint import Checkpoint, CheckpointError
from frankwolfe.compare import Comparison, compare
from frankwolfe.explain import explain
from frankwolfe.lowrank import LowRank
from frankwolfe.methods import (
    AcceleratedFrankWolfe,
    AcceleratedGradient,
    AcceleratedProjectedGradient,
    AwayFrankWolfe,
    Backtracking,
    BlendedConditionalGradients,
    BlendedPairwise,
    BlockCoordinateFrankWolfe,
    BoostedFrankWolfe,
    ConditionalGradientSliding,
    DecompositionInvariant,
    ExactLineSearch,
    ExtraFrankWolfe,
    FactoredFrankWolfe,
    FrankWolfe,
    FullyCorrective,
    HeavyBallFrankWolfe,
    InFaceFrankWolfe,
    Lazy,
    Method,
    NewtonFrankWolfe,
    OpenLoop,
    PairwiseFrankWolfe,
    ProjectedGradient,
    Richardson,
    ShortStep,
    StochasticFrankWolfe,
    StronglyConvexAGM,
    SubspaceFrankWolfe,
)
from frankwolfe.minimize import Iteration, minimize
from frankwolfe.objectives import (
    Function,
    MatrixCompletion,
    Multinomial,
    Objective,
    Quadratic,
    StructuralSVM,
    check_gradient,
    linear_models,
    place,
    stream,
)
from frankwolfe.objectives.linear_models import *  # noqa: F403
from frankwolfe.path import Path, path
from frankwolfe.result import Result, Status
from frankwolfe.sets import (
    Birkhoff,
    Box,
    ConvexHull,
    Ellipsoid,
    FlowPolytope,
    GroupBall,
    Hypersimplex,
    KSupportBall,
    L1Ball,
    L2Ball,
    LinearImage,
    LInfBall,
    LpBall,
    MinkowskiSum,
    NuclearBall,
    OracleSet,
    OWLBall,
    Permutahedron,
    Polytope,
    Product,
    ProjectableSet,
    Scaled,
    SchattenBall,
    Set,
    Shifted,
    Simplex,
    Spectrahedron,
    SpectralBall,
    TotalVariationBall,
    TransportPolytope,
    UnionHull,
    check_set,
)
from frankwolfe.trace import Trace
from frankwolfe.verify import Verification, verify

if TYPE_CHECKING:
    from frankwolfe.estimators.classifier import FrankWolfeClassifier as FrankWolfeClassifier
    from frankwolfe.estimators.cross_validated import FrankWolfeClassifierCV as FrankWolfeClassifierCV
    from frankwolfe.estimators.cross_validated import FrankWolfeRegressorCV as FrankWolfeRegressorCV
    from frankwolfe.estimators.matrix_completer import MatrixCompleter as MatrixCompleter
    from frankwolfe.estimators.regressor import FrankWolfeRegressor as FrankWolfeRegressor

__version__ = "0.1.0"

__all__ = [
    "AcceleratedFrankWolfe",
    "AcceleratedGradient",
    "AcceleratedProjectedGradient",
    "AwayFrankWolfe",
    "Backtracking",
    "Birkhoff",
    "BlendedConditionalGradients",
    "BlendedPairwise",
    "BlockCoordinateFrankWolfe",
    "BoostedFrankWolfe",
    "Box",
    "Checkpoint",
    "CheckpointError",
    "Comparison",
    "ConditionalGradientSliding",
    "ConvexHull",
    "DecompositionInvariant",
    "Ellipsoid",
    "ExactLineSearch",
    "ExtraFrankWolfe",
    "FactoredFrankWolfe",
    "FlowPolytope",
    "FrankWolfe",
    "FullyCorrective",
    "Function",
    "GroupBall",
    "HeavyBallFrankWolfe",
    "Hypersimplex",
    "InFaceFrankWolfe",
    "Iteration",
    "KSupportBall",
    "L1Ball",
    "L2Ball",
    "LInfBall",
    "Lazy",
    "LinearImage",
    "LowRank",
    "LpBall",
    "MatrixCompletion",
    "Method",
    "MinkowskiSum",
    "Multinomial",
    "NewtonFrankWolfe",
    "NuclearBall",
    "OWLBall",
    "Objective",
    "OpenLoop",
    "OracleSet",
    "PairwiseFrankWolfe",
    "Path",
    "Permutahedron",
    "Polytope",
    "Product",
    "ProjectableSet",
    "ProjectedGradient",
    "Quadratic",
    "Result",
    "Richardson",
    "Scaled",
    "SchattenBall",
    "Set",
    "Shifted",
    "ShortStep",
    "Simplex",
    "Spectrahedron",
    "SpectralBall",
    "Status",
    "StochasticFrankWolfe",
    "StronglyConvexAGM",
    "StructuralSVM",
    "SubspaceFrankWolfe",
    "TotalVariationBall",
    "Trace",
    "TransportPolytope",
    "UnionHull",
    "Verification",
    "check_gradient",
    "check_set",
    "compare",
    "explain",
    "minimize",
    "path",
    "place",
    "stream",
    "verify",
]
__all__ += linear_models.__all__

_ESTIMATORS = (
    "FrankWolfeClassifier",
    "FrankWolfeClassifierCV",
    "FrankWolfeRegressor",
    "FrankWolfeRegressorCV",
    "MatrixCompleter",
)
if find_spec("sklearn") is not None:
    __all__ += _ESTIMATORS  # pyright: ignore[reportUnsupportedDunderAll]


def __dir__() -> list[str]:
    """Return all names, those of the estimators with them where scikit-learn is there."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Load the estimators, and scikit-learn with them, when the first one is asked for."""
    if name in _ESTIMATORS:
        return getattr(import_module("frankwolfe.estimators"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

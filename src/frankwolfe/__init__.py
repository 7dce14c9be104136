"""Projection-free (Frank-Wolfe, conditional-gradient) optimisation, with a proven gap with every answer.

>>> import numpy as np, frankwolfe as fw
>>> result = fw.minimize(fw.LeastSquares(np.eye(2), [3.0, 4.0]), fw.L2Ball(1.0))
>>> result.success, result.x.round(3)
(True, array([0.6, 0.8]))
"""

from frankwolfe.checkpoint import Checkpoint, CheckpointError
from frankwolfe.compare import Comparison, compare
from frankwolfe.lowrank import LowRank
from frankwolfe.methods import (
    AcceleratedFrankWolfe,
    AcceleratedGradient,
    AcceleratedProjectedGradient,
    Backtracking,
    ExactLineSearch,
    FrankWolfe,
    Method,
    OpenLoop,
    ProjectedGradient,
    ShortStep,
    StronglyConvexAGM,
)
from frankwolfe.minimize import Iteration, minimize
from frankwolfe.objectives import (
    Function,
    LeastSquares,
    Logistic,
    MatrixCompletion,
    Objective,
    Quadratic,
    check_gradient,
)
from frankwolfe.result import Result, Status
from frankwolfe.sets import (
    Box,
    GroupBall,
    KSupportBall,
    L1Ball,
    L2Ball,
    LInfBall,
    LpBall,
    NuclearBall,
    ProjectableSet,
    Set,
    Simplex,
    TotalVariationBall,
)
from frankwolfe.trace import Trace

__version__ = "0.1.0"

__all__ = [
    "AcceleratedFrankWolfe",
    "AcceleratedGradient",
    "AcceleratedProjectedGradient",
    "Backtracking",
    "Box",
    "Checkpoint",
    "CheckpointError",
    "Comparison",
    "ExactLineSearch",
    "FrankWolfe",
    "Function",
    "GroupBall",
    "Iteration",
    "KSupportBall",
    "L1Ball",
    "L2Ball",
    "LInfBall",
    "LeastSquares",
    "Logistic",
    "LowRank",
    "LpBall",
    "MatrixCompletion",
    "Method",
    "NuclearBall",
    "Objective",
    "OpenLoop",
    "ProjectableSet",
    "ProjectedGradient",
    "Quadratic",
    "Result",
    "Set",
    "ShortStep",
    "Simplex",
    "Status",
    "StronglyConvexAGM",
    "TotalVariationBall",
    "Trace",
    "check_gradient",
    "compare",
    "minimize",
]

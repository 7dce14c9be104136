"""Projection-free (Frank-Wolfe, conditional-gradient) optimisation, with a proven gap with every answer.

>>> import numpy as np, frankwolfe as fw
>>> result = fw.minimize(fw.LeastSquares(np.eye(2), [3.0, 4.0]), fw.L2Ball(1.0))
>>> result.success, result.x.round(3)
(True, array([0.6, 0.8]))
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from frankwolfe import estimators, methods, objectives, sets
from frankwolfe.checkpoint import Checkpoint, CheckpointError
from frankwolfe.compare import Comparison, compare
from frankwolfe.explain import explain
from frankwolfe.lowrank import LowRank
from frankwolfe.methods import *  # noqa: F403
from frankwolfe.minimize import Iteration, minimize
from frankwolfe.objectives import *  # noqa: F403
from frankwolfe.path import Path, path
from frankwolfe.result import Result, Status
from frankwolfe.sets import *  # noqa: F403
from frankwolfe.trace import Trace
from frankwolfe.verify import Verification, verify

if TYPE_CHECKING:
    from frankwolfe.estimators.classifier import FrankWolfeClassifier as FrankWolfeClassifier
    from frankwolfe.estimators.completion.matrix_completer import MatrixCompleter as MatrixCompleter
    from frankwolfe.estimators.cross_validated import FrankWolfeClassifierCV as FrankWolfeClassifierCV
    from frankwolfe.estimators.cross_validated import FrankWolfeRegressorCV as FrankWolfeRegressorCV
    from frankwolfe.estimators.regressor import FrankWolfeRegressor as FrankWolfeRegressor

__version__ = "0.1.0"

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "Comparison",
    "Iteration",
    "LowRank",
    "Path",
    "Result",
    "Status",
    "Trace",
    "Verification",
    "compare",
    "explain",
    "minimize",
    "path",
    "verify",
]
__all__ += methods.__all__
__all__ += objectives.__all__
__all__ += sets.__all__

if find_spec("sklearn") is not None:
    __all__ += estimators.__all__


def __dir__() -> list[str]:
    """Return all names, those of the estimators with them where scikit-learn is there."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Load the estimators, and scikit-learn with them, when the first one is asked for."""
    if name in estimators.__all__:
        return getattr(estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

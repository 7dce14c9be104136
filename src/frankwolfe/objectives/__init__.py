"""Objectives: `linear_models.py` has those of rows of data and a loss, the others have a file each."""

from frankwolfe.objectives import linear_models
from frankwolfe.objectives.base import Objective
from frankwolfe.objectives.composite import Composite as Composite
from frankwolfe.objectives.function import Function
from frankwolfe.objectives.gradient_check import check_gradient
from frankwolfe.objectives.linear_model import CLASSIFICATION as CLASSIFICATION
from frankwolfe.objectives.linear_model import REGRESSION as REGRESSION
from frankwolfe.objectives.linear_models import *  # noqa: F403
from frankwolfe.objectives.matrix_completion import MatrixCompletion
from frankwolfe.objectives.multinomial import Multinomial
from frankwolfe.objectives.quadratic import Quadratic
from frankwolfe.objectives.structural_svm import StructuralSVM
from frankwolfe.rows.disk_stream import stream
from frankwolfe.rows.placement import place

__all__ = [
    "Function",
    "MatrixCompletion",
    "Multinomial",
    "Objective",
    "Quadratic",
    "StructuralSVM",
    "check_gradient",
    "place",
    "stream",
]
__all__ += linear_models.__all__

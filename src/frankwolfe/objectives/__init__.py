"""Objectives: one file each."""

from frankwolfe.objectives.base import Objective
from frankwolfe.objectives.composite import Composite
from frankwolfe.objectives.function import Function
from frankwolfe.objectives.gradient_check import check_gradient
from frankwolfe.objectives.huber import Huber
from frankwolfe.objectives.least_squares import LeastSquares
from frankwolfe.objectives.logistic import Logistic
from frankwolfe.objectives.matrix_completion import MatrixCompletion
from frankwolfe.objectives.multinomial import Multinomial
from frankwolfe.objectives.quadratic import Quadratic
from frankwolfe.objectives.structural_svm import StructuralSVM
from frankwolfe.rows.disk_stream import stream
from frankwolfe.rows.placement import place

__all__ = [
    "Composite",
    "Function",
    "Huber",
    "LeastSquares",
    "Logistic",
    "MatrixCompletion",
    "Multinomial",
    "Objective",
    "Quadratic",
    "StructuralSVM",
    "check_gradient",
    "place",
    "stream",
]

"""Losses of linear models: one file each, stated once for arrays of any library, for Numba and for Triton."""

from frankwolfe.losses.base import Loss
from frankwolfe.losses.gamma import GammaLoss
from frankwolfe.losses.huber import HuberLoss
from frankwolfe.losses.logistic import LogisticLoss
from frankwolfe.losses.poisson import PoissonLoss
from frankwolfe.losses.quantile import QuantileLoss
from frankwolfe.losses.squared_hinge import SquaredHingeLoss
from frankwolfe.losses.squares import SquaredLoss

__all__ = [
    "GammaLoss",
    "HuberLoss",
    "LogisticLoss",
    "Loss",
    "PoissonLoss",
    "QuantileLoss",
    "SquaredHingeLoss",
    "SquaredLoss",
]

"""Feasible sets, each known by its linear minimisation oracle."""

from frankwolfe.atoms import Atom, Dense, OneHot, RankOne, Sparse
from frankwolfe.sets.base import IterativeSet, ProjectableSet, Set
from frankwolfe.sets.box import Box
from frankwolfe.sets.group import GroupBall
from frankwolfe.sets.ksupport import KSupportBall
from frankwolfe.sets.lp import L1Ball, L2Ball, LInfBall, LpBall
from frankwolfe.sets.nuclear import NuclearBall
from frankwolfe.sets.simplex import Simplex
from frankwolfe.sets.total_variation import TotalVariationBall

__all__ = [
    "Atom",
    "Box",
    "Dense",
    "GroupBall",
    "IterativeSet",
    "KSupportBall",
    "L1Ball",
    "L2Ball",
    "LInfBall",
    "LpBall",
    "NuclearBall",
    "OneHot",
    "ProjectableSet",
    "RankOne",
    "Set",
    "Simplex",
    "Sparse",
    "TotalVariationBall",
]

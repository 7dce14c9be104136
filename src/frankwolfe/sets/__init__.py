"""Feasible sets, each known by its linear minimisation oracle."""

from frankwolfe.atoms import Atom, Dense, OneHot, RankOne, Sparse
from frankwolfe.sets.base import IterativeSet, ProjectableSet, Set
from frankwolfe.sets.birkhoff import Birkhoff
from frankwolfe.sets.box import Box
from frankwolfe.sets.combinators import MinkowskiSum, Product, UnionHull
from frankwolfe.sets.ellipsoid import Ellipsoid
from frankwolfe.sets.flow import FlowPolytope
from frankwolfe.sets.group import GroupBall
from frankwolfe.sets.hull import ConvexHull
from frankwolfe.sets.hypersimplex import Hypersimplex
from frankwolfe.sets.ksupport import KSupportBall
from frankwolfe.sets.lp import L1Ball, L2Ball, LInfBall, LpBall
from frankwolfe.sets.nuclear import NuclearBall
from frankwolfe.sets.owl import OWLBall
from frankwolfe.sets.own import OracleSet
from frankwolfe.sets.permutahedron import Permutahedron
from frankwolfe.sets.polytope import Polytope
from frankwolfe.sets.simplex import Simplex
from frankwolfe.sets.spectrahedron import Spectrahedron
from frankwolfe.sets.spectral import SchattenBall, SpectralBall
from frankwolfe.sets.total_variation import TotalVariationBall
from frankwolfe.sets.transforms import LinearImage, Scaled, Shifted

__all__ = [
    "Atom",
    "Birkhoff",
    "Box",
    "ConvexHull",
    "Dense",
    "Ellipsoid",
    "FlowPolytope",
    "GroupBall",
    "Hypersimplex",
    "IterativeSet",
    "KSupportBall",
    "L1Ball",
    "L2Ball",
    "LInfBall",
    "LinearImage",
    "LpBall",
    "MinkowskiSum",
    "NuclearBall",
    "OWLBall",
    "OneHot",
    "OracleSet",
    "Permutahedron",
    "Polytope",
    "Product",
    "ProjectableSet",
    "RankOne",
    "Scaled",
    "SchattenBall",
    "Set",
    "Shifted",
    "Simplex",
    "Sparse",
    "Spectrahedron",
    "SpectralBall",
    "TotalVariationBall",
    "UnionHull",
]

"""Feasible sets, each known by its linear minimisation oracle."""

from frankwolfe.atoms import Atom, Dense, OneHot, RankOne, Sparse
from frankwolfe.sets.base import IterativeSet, ProjectableSet, Set
from frankwolfe.sets.combinations.intersection import BallIntersection
from frankwolfe.sets.combinations.linear_maps import LinearImage, Scaled, Shifted
from frankwolfe.sets.combinations.sums_products_unions import MinkowskiSum, Product, UnionHull
from frankwolfe.sets.norm_balls.ellipsoid import Ellipsoid
from frankwolfe.sets.norm_balls.group import GroupBall
from frankwolfe.sets.norm_balls.ksupport import KSupportBall
from frankwolfe.sets.norm_balls.lp_balls import L1Ball, L2Ball, LInfBall, LpBall
from frankwolfe.sets.norm_balls.owl import OWLBall
from frankwolfe.sets.norm_balls.total_variation import TotalVariationBall
from frankwolfe.sets.oracle_set import OracleSet
from frankwolfe.sets.polytopes.birkhoff import Birkhoff
from frankwolfe.sets.polytopes.box import Box
from frankwolfe.sets.polytopes.convex_hull import ConvexHull
from frankwolfe.sets.polytopes.flow import FlowPolytope
from frankwolfe.sets.polytopes.hypersimplex import Hypersimplex
from frankwolfe.sets.polytopes.permutahedron import Permutahedron
from frankwolfe.sets.polytopes.polytope import Polytope
from frankwolfe.sets.polytopes.simplex import Simplex
from frankwolfe.sets.polytopes.transport import TransportPolytope
from frankwolfe.sets.set_check import check_set
from frankwolfe.sets.spectral.nuclear import NuclearBall
from frankwolfe.sets.spectral.singular_value_balls import SchattenBall, SpectralBall
from frankwolfe.sets.spectral.spectrahedron import Spectrahedron

__all__ = [
    "Atom",
    "BallIntersection",
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
    "TransportPolytope",
    "UnionHull",
    "check_set",
]

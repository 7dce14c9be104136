"""Feasible sets, each known by its linear minimisation oracle."""

from frankwolfe.atoms import Atom as Atom
from frankwolfe.atoms import Dense as Dense
from frankwolfe.atoms import OneHot as OneHot
from frankwolfe.atoms import RankOne as RankOne
from frankwolfe.atoms import Sparse as Sparse
from frankwolfe.sets.base import IterativeSet as IterativeSet
from frankwolfe.sets.base import ProjectableSet, Set
from frankwolfe.sets.combinations.intersection import BallIntersection
from frankwolfe.sets.combinations.linear_maps import LinearImage, Scaled, Shifted
from frankwolfe.sets.combinations.sums_products_unions import MinkowskiSum, Product, UnionHull
from frankwolfe.sets.norm_balls.ellipsoid import Ellipsoid
from frankwolfe.sets.norm_balls.group import GroupBall
from frankwolfe.sets.norm_balls.ksupport import KSupportBall
from frankwolfe.sets.norm_balls.lp_balls import L1Ball, L2Ball, LInfBall, LpBall
from frankwolfe.sets.norm_balls.owl import OWLBall
from frankwolfe.sets.norm_balls.total_variation import TotalVariationBall
from frankwolfe.sets.oracle_set import OracleSet, check_set
from frankwolfe.sets.polytopes.box import Box
from frankwolfe.sets.polytopes.convex_hull import ConvexHull
from frankwolfe.sets.polytopes.flow import FlowPolytope
from frankwolfe.sets.polytopes.permutahedron import Permutahedron
from frankwolfe.sets.polytopes.polytope import Polytope
from frankwolfe.sets.polytopes.simplices import Hypersimplex, Simplex
from frankwolfe.sets.polytopes.transport import Birkhoff, TransportPolytope
from frankwolfe.sets.spectral.decomposed import SchattenBall, Spectrahedron, SpectralBall
from frankwolfe.sets.spectral.nuclear import NuclearBall

__all__ = [
    "BallIntersection",
    "Birkhoff",
    "Box",
    "ConvexHull",
    "Ellipsoid",
    "FlowPolytope",
    "GroupBall",
    "Hypersimplex",
    "KSupportBall",
    "L1Ball",
    "L2Ball",
    "LInfBall",
    "LinearImage",
    "LpBall",
    "MinkowskiSum",
    "NuclearBall",
    "OWLBall",
    "OracleSet",
    "Permutahedron",
    "Polytope",
    "Product",
    "ProjectableSet",
    "Scaled",
    "SchattenBall",
    "Set",
    "Shifted",
    "Simplex",
    "Spectrahedron",
    "SpectralBall",
    "TotalVariationBall",
    "TransportPolytope",
    "UnionHull",
    "check_set",
]

"""The list of instances that drives the property tests of sets: a new set is one line in it."""

from tests.sets.norm_ball_cases import NORM_BALLS
from tests.sets.polytope_and_matrix_cases import POLYTOPES_AND_MATRICES

CASES = [*NORM_BALLS, *POLYTOPES_AND_MATRICES]

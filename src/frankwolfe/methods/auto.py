"""`method="auto"`: pick by what is known about the problem."""

from __future__ import annotations

import numpy as np

from frankwolfe.methods.accelerated import AcceleratedFrankWolfe
from frankwolfe.methods.agm import AcceleratedGradient, StronglyConvexAGM
from frankwolfe.methods.base import Method
from frankwolfe.methods.blended_pairwise import BlendedPairwise
from frankwolfe.methods.factored import FactoredFrankWolfe
from frankwolfe.methods.fully_corrective import FullyCorrective
from frankwolfe.methods.newton import NewtonFrankWolfe
from frankwolfe.methods.subspace import SubspaceFrankWolfe
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.objectives.quadratic import Quadratic
from frankwolfe.problem import Problem
from frankwolfe.sets.lp import L2Ball

SMALL = 500  # variables up to which a Hessian is cheap beside the passes over the data that it saves

CANDIDATES: tuple[tuple[Method, str], ...] = (
    (FactoredFrankWolfe(), "low-rank matrices: corrective steps on the factors, with the oracle as a check"),
    (FullyCorrective(), "the atoms are sparse: correct the weights of the few that matter"),
    (NewtonFrankWolfe(), "few variables: second-order steps need the fewest passes over the data"),
    (SubspaceFrankWolfe(), "a Euclidean ball: the best of the plane through the last steps"),
    (AcceleratedFrankWolfe(line_search=True), "the set is curved: momentum with a line search converges far faster"),
    (BlendedPairwise(), "the atoms are sparse and the function is not known inside: pairwise steps"),
    (AcceleratedFrankWolfe(), "one oracle call per step, no constants"),
)


NUMPY_ONLY = (FactoredFrankWolfe, FullyCorrective, NewtonFrankWolfe, SubspaceFrankWolfe)


def choose(problem: Problem) -> tuple[Method, str]:
    """Return a method for the problem and the reason for it.

    The first of the candidates that suits what is known: the kind of atoms, the curvature of the set, the number of
    variables, and whether the objective shows its data.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(2), np.ones(2))
    >>> result = fw.minimize(f, fw.L1Ball(1.0))
    >>> result.method, result.reason
    ('fcfw', 'the atoms are sparse: correct the weights of the few that matter')
    """
    if problem.domain is None:
        if problem.objective.strong_convexity > 0:
            return StronglyConvexAGM(), "no set, and the objective is strongly convex"
        return AcceleratedGradient(), "no set: accelerated gradient descent"
    return next((method, reason) for method, reason in CANDIDATES if _suits(method, problem))


def _suits(method: Method, problem: Problem) -> bool:
    domain, shape = problem.domain, problem.objective.shape
    assert domain is not None
    wanted = {
        FactoredFrankWolfe: not domain.closed_form,
        FullyCorrective: domain.sparse_atoms,
        NewtonFrankWolfe: isinstance(domain, L2Ball) and shape is not None and shape[0] <= SMALL,
        SubspaceFrankWolfe: isinstance(domain, L2Ball),
        BlendedPairwise: domain.sparse_atoms,
    }
    if not wanted.get(type(method), True) or (type(method) in NUMPY_ONLY and not _on_numpy(problem)):
        return False
    if isinstance(method, AcceleratedFrankWolfe) and method.line_search and not domain.curved:
        return False
    try:
        method.check(problem)
    except (TypeError, ValueError):
        return False
    return True


def _on_numpy(problem: Problem) -> bool:
    objective = problem.objective
    if isinstance(objective, LinearModel | Quadratic):
        return isinstance(objective.b if isinstance(objective, LinearModel) else objective.c, np.ndarray)
    return True

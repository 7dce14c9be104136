"""`method="auto"`: pick by what is known about the set."""

from __future__ import annotations

from frankwolfe.methods.accelerated import AcceleratedFrankWolfe
from frankwolfe.methods.agm import AcceleratedGradient, StronglyConvexAGM
from frankwolfe.methods.base import Method
from frankwolfe.problem import Problem


def choose(problem: Problem) -> tuple[Method, str]:
    """Return a method for the problem and the reason for it.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(2), np.ones(2))
    >>> fw.minimize(f, fw.L2Ball(1.0)).reason
    'the set is curved, where a line search on top of momentum converges far faster'
    """
    if problem.domain is None:
        if problem.objective.strong_convexity > 0:
            return StronglyConvexAGM(), "no set, and the objective is strongly convex"
        return AcceleratedGradient(), "no set: accelerated gradient descent"
    if problem.domain.curved:
        return (
            AcceleratedFrankWolfe(line_search=True),
            "the set is curved, where a line search on top of momentum converges far faster",
        )
    if not problem.domain.closed_form:
        return AcceleratedFrankWolfe(), "the oracle iterates: momentum needs one call per step and no projection"
    return AcceleratedFrankWolfe(), "the set has flat faces, where open-loop momentum beats a line search"

"""Fully corrective Frank-Wolfe with second-order steps on the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.kernels.simplex_qp import simplex_qp
from frankwolfe.methods.active_set import ActiveSet, ask
from frankwolfe.methods.base import Evidence, Method
from frankwolfe.methods.bundle import Bundle
from frankwolfe.objectives.composite import Composite, ImageObjective
from frankwolfe.objectives.quadratic import Quadratic
from frankwolfe.points import Point, mix
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.validation import integer

TRUST = 2.0  # how far the curvature on the way may be from the model's before the model is made anew


@plain
class FCState(NamedTuple):
    k: int
    active: ActiveSet
    gap: float  # the last Frank-Wolfe gap
    curvature: Any  # of φ, entry by entry of the image, where the Hessian was taken; None for a quadratic
    hessian: np.ndarray  # of f in the weights of the active atoms

    @property
    def x(self) -> Point:
        """The iterate x_k."""
        return self.active.x


@dataclass(frozen=True)
class FullyCorrective(Method):
    """After each new vertex, minimise f over the convex hull of all active atoms, by Newton steps on their weights.

    Parameters
    ----------
    accuracy : float, default 0.1
        The corrective step ends when the gap over the active atoms is at most this part of the Frank-Wolfe gap.
    max_inner : int, default 20
        Largest number of Newton steps for each new vertex.

    Notes
    -----
    Assumes f convex and smooth, of the form φ(Ax) or quadratic. One gradient and one oracle call per step; the
    corrective step works on the images of the active atoms and reads no data: a quadratic model in the weights, its
    minimiser on the simplex by an active-set method, and an exact line search towards it. The Hessian is kept while
    it describes the curvature met on the way within a factor of two, and grows by a row with each atom. Converges at
    least as fast per oracle call as away steps, geometrically on polytopes for strongly convex f [1]_; in practice the
    number of calls is close to the number of atoms that the solution needs. On curved sets the active set grows
    with every step.

    References
    ----------
    .. [1] S. Lacoste-Julien and M. Jaggi, On the global linear convergence of Frank-Wolfe optimization variants,
       NeurIPS 2015.
    .. [2] C. A. Holloway, An extension of the Frank and Wolfe method of feasible directions, Math. Program. 6, 1974.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.LeastSquares(np.eye(3), np.array([1.0, 2.0, -5.0]))
    >>> result = fw.minimize(f, fw.Simplex(3, radius=2.0), method=FullyCorrective(), tol=1e-9)
    >>> result.x.round(6), result.n_lmo
    (array([0.5, 1.5, 0. ]), 2)
    """

    name: ClassVar[str] = "fcfw"
    separates: ClassVar[bool] = True
    accuracy: float = 0.1
    max_inner: int = 20

    def __post_init__(self) -> None:
        if not 0 <= self.accuracy < 1:
            raise ValueError(f"accuracy must be in [0, 1), got {self.accuracy!r}")
        integer("max_inner", self.max_inner, 1)

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if not isinstance(problem.objective, Composite | Quadratic):
            raise TypeError(
                f"method 'fcfw' needs the curvature of the objective, which {type(problem.objective).__name__} does not "
                "tell; use 'bpcg' or 'away', or an objective such as Logistic, LeastSquares or Quadratic"
            )

    def init(self, problem: Problem, x0: Point) -> FCState:
        return FCState(0, ActiveSet.at(x0), np.inf, None, np.zeros((0, 0)))

    def step(self, problem: Problem, state: FCState) -> tuple[FCState, Evidence]:
        k, active, gap, curvature, hessian = state
        at_x = problem.evaluate(active.x)
        vertex = ask(problem, k, at_x, active.x, gap)
        gap = float(at_x.inner - vertex.value)
        evidence = Evidence(((at_x.value, active.x),), ((at_x.tangent, vertex),))
        atoms, _ = active.atoms.add(vertex.point)
        model = _Model(problem, atoms, curvature, hessian)
        weights = self._correct(problem, model, active, gap)
        positive = weights > 0
        move = active.to(atoms, weights)
        active = active.moved(move._replace(cap=1.0, blocking=None), 1.0)
        kept = model.hessian[np.ix_(positive, positive)]
        return FCState(k + 1, active, gap, model.curvature, kept), evidence

"""Fully corrective Frank-Wolfe with second-order steps on the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.atoms import Atom, OneHot
from frankwolfe.backends import fetch, host, namespace, vdot
from frankwolfe.backends.namespace import is_foreign
from frankwolfe.kernels.qp.simplex_qp import simplex_qp
from frankwolfe.kernels.threads import calm
from frankwolfe.methods.active_set.active_set import ZERO, ActiveSet, ask
from frankwolfe.methods.active_set.atom_bundle import Bundle
from frankwolfe.methods.base import Evidence, Method, looked
from frankwolfe.points import Point, mix
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.sets.base import Set
from frankwolfe.validation import integer

ROUGH_SEARCH = 0.05  # accuracy of a line search after which there is another step
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
    syncs_host: ClassVar[bool] = True
    separates: ClassVar[bool] = True
    accuracy: float = 0.1
    max_inner: int = 20
    most_new: int = 20

    def __post_init__(self) -> None:
        if not 0 <= self.accuracy < 1:
            raise ValueError(f"accuracy must be in [0, 1), got {self.accuracy!r}")
        integer("max_inner", self.max_inner, 1)

    def check(self, problem: Problem) -> None:
        super().check(problem)
        if not problem.objective.holds_images:
            raise TypeError(
                f"method 'fcfw' needs the curvature of the objective, which {type(problem.objective).__name__} does "
                "not tell; use 'bpcg' or 'away', or an objective such as Logistic, LeastSquares or Quadratic"
            )

    def init(self, problem: Problem, x0: Point) -> FCState:
        return FCState(0, ActiveSet.at(x0), np.inf, None, np.zeros((0, 0)))

    def step(self, problem: Problem, state: FCState) -> tuple[FCState, Evidence]:
        k, active, gap, curvature, hessian = state
        at_x = problem.evaluate(active.x)
        at_x, vertex = looked(problem, at_x, ask(problem, k, at_x, active.x, gap))
        gap = float(at_x.inner - vertex.value)
        evidence = Evidence(((at_x.value, active.x),), ((at_x.tangent, vertex),))
        others = runners_up(problem.domain, at_x.slope, min(active.atoms.size, self.most_new) - 1)
        scores = fetch([a.inner(at_x.slope) for a in others])
        least = at_x.inner - self.accuracy * gap
        worth = [Point.at(a) for a, score in zip(others, scores, strict=True) if score < least]
        model = _Model(problem, active.atoms, curvature, hessian).extended([vertex.point, *worth])
        with calm():
            weights, model = self._correct(problem, model, active, max(self.accuracy * gap, float(at_x.tangent.noise)))
        if np.array_equal(weights, active.padded(model.atoms)):  # rounding has the last word: a plain step, a new model
            active = active.moved(active.toward(vertex.point), problem.line_search(active.x, vertex.point))
            return FCState(k + 1, active, gap, None, np.zeros((0, 0))), evidence
        hessian = model.hessian[np.ix_(weights > ZERO, weights > ZERO)]
        return FCState(k + 1, active.reweighted(model.atoms, weights), gap, model.curvature, hessian), evidence

    def settled(self, problem: Problem, state: FCState) -> FCState:
        return state._replace(active=state.active.settled(problem, state.k))

    def _correct(self, problem: Problem, model: _Model, active: ActiveSet, goal: float) -> tuple[np.ndarray, _Model]:
        """Return weights that nearly minimise f over the atoms of the model, and the model they were found with."""
        x, weights = active.x, active.padded(model.atoms)
        for _ in range(self.max_inner):
            slope = model.slope(x)
            if float(slope @ weights - slope.min()) <= goal:
                break
            u, target = model.minimiser(x, slope, weights)
            if not model.trusts(x, target):
                model = model.renewed(x)
                u, target = model.minimiser(x, slope, weights)
            falls = weights - u
            ratios = np.divide(weights, falls, out=np.full(u.size, np.inf), where=falls > 0)
            i = int(np.argmin(ratios))
            cap = min(float(ratios[i]), TRUST)
            step = problem.line_search(x, target, cap, rtol=ROUGH_SEARCH)
            if step == 0:
                break
            weights = weights + step * (u - weights)
            if step >= ratios[i]:
                weights[i] = 0.0
            x = mix(x, target, step)
        return weights, model


def runners_up(domain: Set | None, slope: Any, count: int) -> list[Atom]:
    """Return the best vertices after the best one, where they are single coordinates and so come for nothing."""
    is_array = isinstance(slope, np.ndarray) or is_foreign(slope)
    if count < 1 or domain is None or not domain.coordinate_signs or not is_array:
        return []
    xp = namespace(slope)
    flat = xp.reshape(slope, (-1,))
    signed = -1.0 in domain.coordinate_signs
    scores, signs = (xp.abs(flat), -xp.sign(flat)) if signed else (-flat, xp.ones_like(flat))
    order = _highest(scores, min(count + 1, flat.shape[0]))[1:]
    values = domain.support(xp.ones_like(slope)) * xp.take(signs, order)  # the radius, with a sign
    found = zip(host(order).tolist(), host(values).tolist(), strict=True)
    return [OneHot(j, values[i], tuple(slope.shape)) for i, (j, value) in enumerate(found) if value]


def _highest(scores: Any, count: int) -> Any:
    """Return the places of the highest scores, in their order; of equal ones the first."""
    if not isinstance(scores, np.ndarray):
        return namespace(scores).argsort(-scores, stable=True)[:count]
    best = np.argpartition(-scores, count - 1)[:count]
    return best[np.lexsort((best, -scores[best]))]


class _Model(NamedTuple):
    """f as a function of the weights of some atoms, to second order."""

    problem: Problem
    atoms: Bundle
    curvature: Any
    hessian: np.ndarray

    def extended(self, new: list[Point]) -> _Model:
        """Return the model with some atoms more, those that are not there already."""
        atoms, before = self.atoms, self.hessian.shape[0]
        for v in new:
            self.problem.image(v)
            atoms, _ = atoms.add(v)
        model = self._replace(atoms=atoms)
        if atoms.size == before or not before:
            return model
        hessian = np.empty((atoms.size, atoms.size))
        hessian[:before, :before] = self.hessian
        rows = model._rows(before)
        hessian[before:], hessian[:, before:] = rows, rows.T
        return model._replace(hessian=hessian)

    def renewed(self, x: Point) -> _Model:
        """Return the model with the curvature at x."""
        if self.problem.objective.linear_term is not None:
            return self._replace(hessian=self._rows(0))
        objective, atoms = self.problem.composite, self.atoms
        curvature = objective.loss_curvature(x.image)
        model = self._replace(curvature=curvature, hessian=objective.quadratic_form(curvature, atoms.images))
        if objective.ridge:
            model.hessian[:] += objective.ridge * np.stack([model._products(i) for i in range(atoms.size)])
        return model

    def slope(self, x: Point) -> np.ndarray:
        """Return the derivative of f in each weight, at x."""
        c = self.problem.objective.linear_term
        if c is not None:
            return self.atoms.inner(self.problem, x.image + c)
        objective = self.problem.composite
        slope = host(self.atoms.images.T @ objective.loss_slope(x.image)).astype(np.float64, copy=False)
        if objective.ridge:
            slope = slope + objective.ridge * self.atoms.inner(self.problem, x.coords)
        return slope

    def minimiser(self, x: Point, slope: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, Point]:
        """Return the weights that minimise the model at x, and their point."""
        if not self.hessian.size:
            return weights, x
        u = simplex_qp(self.hessian, slope - self.hessian @ weights, weights, tick=self.problem.tick)
        return u, self.atoms.point(u, x.coords)

    def trusts(self, x: Point, target: Point) -> bool:
        """Tell whether the model's curvature on the way to the target is about that of f at x."""
        if not self.hessian.size:
            return False
        if self.problem.objective.linear_term is not None:
            return True
        objective = self.problem.composite
        move = target.image - x.image
        now = objective.loss_curvature(x.image)
        met, modelled = fetch([vdot(objective.bend(bent, move), move) for bent in (now, self.curvature)])
        return modelled <= TRUST * met and met <= TRUST * modelled

    def _rows(self, first: int) -> np.ndarray:
        """Return the rows of the Hessian from one of them on."""
        images = [p.image for p in self.atoms.points[first:]]
        if self.problem.objective.linear_term is not None:
            return np.stack([self.atoms.inner(self.problem, image) for image in images])
        objective = self.problem.composite
        bent = objective.bend(self.curvature, namespace(*images).stack(images))
        rows = host(self.atoms.images.T @ bent.T).T.astype(np.float64, copy=False)
        if objective.ridge:
            rows = rows + objective.ridge * np.stack([self._products(i) for i in range(first, self.atoms.size)])
        return rows

    def _products(self, i: int) -> np.ndarray:
        """Return the inner products of atom i with all atoms."""
        return self.atoms.inner(self.problem, self.atoms.points[i].array)

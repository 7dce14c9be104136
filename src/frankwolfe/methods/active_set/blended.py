"""Blended conditional gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.methods.active_set.active_set import ActiveSet, ActiveSetMethod, Move, ask
from frankwolfe.methods.base import Evidence
from frankwolfe.objectives.base import Evaluation
from frankwolfe.points import Point, mix
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.validation import positive


@plain
class BCGState(NamedTuple):
    k: int
    active: ActiveSet
    phi: float  # what a step has to promise
    memory: Any  # of the step-size rule

    @property
    def x(self) -> Point:
        """The iterate x_k."""
        return self.active.x


@dataclass(frozen=True)
class BlendedConditionalGradients(ActiveSetMethod):
    """Descend over the weights of the active atoms, and call the oracle only when that no longer pays.

    Parameters
    ----------
    step_size : StepSize, default ExactLineSearch()
        `ExactLineSearch`, `Backtracking` or `ShortStep`; capped so that no weight becomes negative.
    K : float, default 2
        A Frank-Wolfe step must promise at least Φ/K.

    Notes
    -----
    While the gradient varies by Φ or more over the active atoms, step along minus its projection on the simplex of
    weights, as far as the boundary (an atom is dropped) unless f would rise, then to the minimiser on the way [1]_.
    Else call the oracle: a vertex that promises Φ/K is worth a Frank-Wolfe step, any other halves Φ. Assumes f convex
    and smooth; geometric on polytopes for strongly convex f. Many steps need a gradient and no oracle call; the
    certificate is renewed by the steps that do call it.

    References
    ----------
    .. [1] G. Braun, S. Pokutta, D. Tu and S. Wright, Blended conditional gradients: the unconditioning of conditional
       gradients, ICML 2019.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> A = np.random.default_rng(0).standard_normal((50, 10))
    >>> f = fw.LeastSquares(A, A[:, 0] + A[:, 1])
    >>> result = fw.minimize(f, fw.LInfBall(0.5), method=BlendedConditionalGradients())
    >>> result.success, result.n_lmo < result.n_iter / 2
    (True, True)
    """

    name: ClassVar[str] = "bcg"
    K: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("K", self.K)

    def init(self, problem: Problem, x0: Point) -> BCGState:
        return BCGState(0, ActiveSet.at(x0), np.inf, self.step_size.init())

    def step(self, problem: Problem, state: BCGState) -> tuple[BCGState, Evidence]:
        k, active, phi, memory = state
        at_x = problem.evaluate(active.x)
        seen = ((at_x.value, active.x),)
        scores = active.inner(problem, at_x.slope)
        if np.ptp(scores) >= phi > 0:
            slope = scores - scores.mean()
            slope = slope / np.max(np.abs(slope))
            slope = slope - slope.mean()  # once more at scale one, so that weights keep their sum to rounding
            move = active.to(active.atoms, active.weights - slope)
            promise = float(slope @ scores)
            active, memory = self._descend(problem, k, active, move, at_x, promise, memory)
            return BCGState(k + 1, active, phi, memory), Evidence(seen)

        vertex = ask(problem, k, at_x, active.x, phi)
        gap = float(at_x.inner - vertex.value)
        evidence = Evidence(seen, ((at_x.tangent, vertex),))
        if phi == np.inf:
            phi = 0.5 * gap
        elif gap < phi / self.K:
            return BCGState(k + 1, active, 0.5 * (gap if gap > 0 else phi), memory), evidence
        move = active.toward(vertex.point)
        delta, memory = self.step_size.choose(problem, k, active.x, move.target, at_x.value, gap, memory, move.cap)
        return BCGState(k + 1, active.moved(move, delta), phi, memory), evidence

    def _descend(
        self, problem: Problem, k: int, active: ActiveSet, move: Move, at_x: Evaluation, promise: float, memory: Any
    ) -> tuple[ActiveSet, Any]:
        """Go to where an atom drops out if f does not rise on the way there, else by the step-size rule."""
        if float(problem.value(mix(active.x, move.target, move.cap))) <= float(at_x.value):
            return active.moved(move, move.cap), memory
        delta, memory = self.step_size.choose(problem, k, active.x, move.target, at_x.value, promise, memory, move.cap)
        return active.moved(move, delta), memory

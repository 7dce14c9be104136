"""Second-order conditional gradient: a quadratic model from one read of the data, minimised over the set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from frankwolfe.atoms import Atom
from frankwolfe.methods.base import Evidence, Method
from frankwolfe.methods.subspace import ball_radius, in_ball, in_simplex
from frankwolfe.objectives.data import DataMatrix, OperatorMatrix, RowBlocks
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.objectives.quadratic import Quadratic
from frankwolfe.points import Point
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain
from frankwolfe.sets.base import IterativeSet
from frankwolfe.validation import integer

LARGEST = 5000  # variables up to which a Hessian is formed


@plain
class NewtonState(NamedTuple):
    k: int
    x: Point


@dataclass(frozen=True)
class NewtonFrankWolfe(Method):
    """Minimise the second-order model of f over the set by a projection-free method, then search the segment.

    Parameters
    ----------
    accuracy : float, default 0.01
        The model is solved when its Frank-Wolfe gap is at most this share of the decrease it promises.
    max_inner : int, default 1000
        Most oracle calls on one model.

    Notes
    -----
    The model at x is <∇f(x), z - x> + (z - x)'H(z - x)/2 with H = A'diag(φ'')A, p x p numbers from one read of the data
    [1]_. On an l2 ball it is minimised exactly, by an eigendecomposition; on any other set by fully corrective
    Frank-Wolfe, whose gap certifies the accuracy. The exact line search runs on images. A step thus reads the data
    three times: gradient, Hessian, image of the model's minimiser.

    f falls at every step; near the solution the error falls by about `accuracy` at each, and quadratically where the
    model is solved exactly. The certificate is the Frank-Wolfe gap at x, which needs no model.

    For `Logistic`, `LeastSquares` and `Quadratic` with up to 5000 variables, over sets with closed-form oracles.

    References
    ----------
    .. [1] A. Carderera and S. Pokutta, Second-order conditional gradient sliding, 2020.
    .. [2] K. Scheinberg and X. Tang, Practical inexact proximal quasi-Newton method with global complexity analysis,
       Math. Program. 160, 2016.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> f = fw.Logistic(np.array([[1.0, 2.0], [3.0, 1.0], [-2.0, -1.0]]), [0, 1, 0])
    >>> result = fw.minimize(f, fw.L1Ball(2.0), method=NewtonFrankWolfe(), tol=1e-10)
    >>> bool(result.success), bool(result.n_iter < 12)
    (True, True)
    """

    name: ClassVar[str] = "newton"
    accuracy: float = 0.01
    max_inner: int = 1000

    def __post_init__(self) -> None:
        if not 0 <= self.accuracy < 1:
            raise ValueError(f"accuracy must lie in [0, 1), got {self.accuracy!r}")
        object.__setattr__(self, "max_inner", integer("max_inner", self.max_inner, 1))

    def check(self, problem: Problem) -> None:
        super().check(problem)
        objective = problem.objective
        if not isinstance(objective, LinearModel | Quadratic) or isinstance(objective.data, OperatorMatrix):
            raise TypeError(
                f"method 'newton' forms the Hessian from the data, which {type(objective).__name__} does not hold as a "
                "matrix; use 'subspace' or 'afw'"
            )
        if objective.data.shape[1] > LARGEST:
            raise ValueError(
                f"method 'newton' forms a p x p Hessian, and p = {objective.data.shape[1]} is more than {LARGEST}; use "
                "'subspace'"
            )
        if isinstance(problem.domain, IterativeSet):
            raise TypeError(
                f"method 'newton' asks its oracle very often, and that of {type(problem.domain).__name__} iterates; "
                "use 'afw' or 'factored'"
            )

    def init(self, problem: Problem, x0: Point) -> NewtonState:
        return NewtonState(0, x0)

    def step(self, problem: Problem, state: NewtonState) -> tuple[NewtonState, Evidence]:
        k, x = state
        at_x = problem.evaluate(x)
        vertex = problem.lmo(at_x.slope, k, share=0.0, keep=x)
        H = _hessian(problem, x)
        radius = ball_radius(problem.domain)
        if radius is None:
            target = self._corrective(problem, H, at_x.slope, x.coords, vertex.point)
        else:
            target = in_ball(at_x.slope - H @ x.coords, H, radius)
        z = Point.at(target.astype(x.coords.dtype, copy=False))
        x_next = problem.mix(x, z, problem.line_search(x, z))
        return NewtonState(k + 1, x_next), Evidence(((at_x.value, x),), ((at_x.tangent, vertex),))

    def _corrective(self, problem: Problem, H: np.ndarray, g: np.ndarray, x: np.ndarray, first: Point) -> np.ndarray:
        """Return z in the set that minimises <g, z> + (z - x)'H(z - x)/2 up to a Frank-Wolfe gap of its decrease."""
        assert problem.domain is not None
        atoms, weights = np.stack([x, _dense(first)]), np.array([1.0, 0.0])
        products = atoms @ H
        for _ in range(self.max_inner):
            gram = atoms @ products.T
            gram = 0.5 * (gram + gram.T)
            linear = atoms @ (g - H @ x)
            weights = in_simplex(linear, gram, weights)
            z = weights @ atoms
            slope = g + H @ (z - x)
            problem.counts.n_lmo += 1
            atom = problem.domain.lmo(slope)
            gap = float(slope @ z - atom.inner(slope))
            decrease = -float(g @ (z - x) + 0.5 * (z - x) @ H @ (z - x))
            if gap <= self.accuracy * max(decrease, 0.0) or gap <= 1e-15 * abs(float(g @ x)):
                break
            kept = weights > 0
            row = atom.toarray()
            atoms = np.vstack([atoms[kept], row])
            products, weights = np.vstack([products[kept], row @ H]), np.append(weights[kept], 0.0)
        return z


def _hessian(problem: Problem, x: Point) -> np.ndarray:
    """Return the Hessian of f at x, from one read of the data."""
    objective = problem.objective
    assert isinstance(objective, LinearModel | Quadratic)
    if isinstance(objective, Quadratic):
        matrix = objective.data.matrix
        return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)
    problem.counts.n_pass += 1
    curvature = objective.loss_curvature(x.image)
    H = _gram(objective.data, curvature)
    if objective.intercept:  # profiled out: the curvature along the intercept is free
        along = objective.data.adjoint(curvature).astype(np.float64)
        H -= np.outer(along, along) / max(float(curvature.sum(dtype=np.float64)), 1e-300)
    return H + objective.ridge * np.eye(len(H))


def _gram(data: DataMatrix, weights: np.ndarray) -> np.ndarray:
    """Return A'diag(weights)A."""
    blocks: list[Any] = [(rows, block) for rows, block, _ in data.blocks] if isinstance(data, RowBlocks) else []
    total = np.zeros((data.shape[1], data.shape[1]))
    for rows, block in blocks or [(slice(None), data.matrix)]:
        part = block.T @ (block * weights[rows, None])
        total += part.toarray() if hasattr(part, "toarray") else part
    return total


def _dense(v: Point) -> np.ndarray:
    return v.coords.toarray() if isinstance(v.coords, Atom) else v.coords

"""What a method is: a pure init/step pair over an explicit state."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from frankwolfe.backends import Scalar, fetch
from frankwolfe.feasible import settled
from frankwolfe.objectives.base import Evaluation
from frankwolfe.points import Point, Tangent
from frankwolfe.problem import Problem, Vertex
from frankwolfe.serialisation import plain
from frankwolfe.validation import positive

if TYPE_CHECKING:
    from frankwolfe.methods.step_sizes import OpenLoop


# By how much an oracle that iterates may err, as shares of what the step itself may cost (`Problem.lmo`): the constant
# of Frank-Wolfe's rate grows by 1 + ORACLE_ERROR. `python -m benchmarks completion` runs on them.
ORACLE_ERROR = 0.03  # times δ
MOMENTUM_ERROR = 0.1  # times δ², for methods whose averages remember every answer


class State(Protocol):
    """Everything that affects the future of a run; a NamedTuple with at least these two fields."""

    @property
    def k(self) -> int:
        """Number of steps taken."""
        ...

    @property
    def x(self) -> Point:
        """The iterate x_k."""
        ...


@plain
class Evidence(NamedTuple):
    """What a step has seen, from which the loop builds certificate and trace.

    `seen` holds values with their points, x_k first. `minorants` are affine functions below f, each with the oracle's
    answer on its slope, or None where the step did not ask. `floor` is a lower bound proven in some other way. `afresh`
    tells that all values come from the coordinates alone, not from images that were carried along.
    """

    seen: tuple[tuple[Scalar, Point], ...]
    minorants: tuple[tuple[Tangent, Vertex | None], ...] = ()
    floor: Scalar = float("-inf")
    afresh: bool = False

    def bare(self) -> Evidence:
        """Return the same without the images of points: where the host looks rarely, several steps' worth is kept."""
        minorants = tuple((t, v and v._replace(point=v.point.bare())) for t, v in self.minorants)
        return self._replace(seen=tuple((value, x.bare()) for value, x in self.seen), minorants=minorants)


class Method(ABC):
    """A method: options in frozen fields, no state of its own.

    To add one, write `init` and `step` in the four verbs mix, evaluate, lmo and inner. A step never prints, times,
    stops or plots: the loop does that for every method.
    """

    name: ClassVar[str]
    dense: ClassVar[bool] = False  # whether iterates must be arrays (projections need them)
    syncs_host: ClassVar[bool] = False  # whether steps read numbers back anyway: the loop then looks after each
    momentum: ClassVar[bool] = False  # whether it averages gradients at look-ahead points, as `afw` does
    separates: ClassVar[bool] = False  # whether its only question is the gradient at x_k, so that `Lazy` may answer it

    @property
    def schedule(self) -> OpenLoop | None:
        """The step sizes where they are fixed in advance, and a step does nothing else; None elsewhere."""
        return None

    @property
    def steps_in_arrays(self) -> bool:
        """Whether a step is operations on whole arrays that look at no number, for one point or many at once."""
        return self.schedule is not None

    @property
    def forgets_start(self) -> bool:
        """Whether the first steps are long whatever the start, so that a good one is thrown away."""
        return self.schedule is not None

    def check(self, problem: Problem) -> None:
        """Raise an error that teaches if the method does not apply to the problem."""
        require_set(self, problem)

    def prepare(self, problem: Problem) -> None:  # noqa: B027  most need nothing
        """Find out before there is a start what a run will ask for anyway, and its default start may need."""

    def check_start(self, problem: Problem, x0: Point) -> None:  # noqa: B027  most work on any array
        """Raise an error that teaches if the method cannot work on such arrays."""

    @abstractmethod
    def init(self, problem: Problem, x0: Point) -> Any:
        """Return the state before the first step."""

    @abstractmethod
    def step(self, problem: Problem, state: Any) -> tuple[Any, Evidence]:
        """Return the next state and what was seen on the way."""

    def settled(self, problem: Problem, state: Any) -> Any:
        """Return the state with its iterate in the set, where rounding may have taken it out."""
        return state._replace(x=settled(problem, state.k, state.x))

    def waits(self, problem: Problem, state: Any, gap: float) -> bool:
        """Tell whether the method rests by its own schedule, and will move on however long nothing has changed."""
        return False

    def after_stall(self, problem: Problem, state: Any) -> Any | None:
        """Return a state to go on from where the run no longer gets on; None where there is nothing else to try."""
        return None

    def warm(self, value: float, gap: float, curvature: float) -> Method:
        """Return the method for a start with f = `value` and certified gap `gap`, where LD² is `curvature`.

        Open-loop schedules are shifted: unshifted, their first step would throw the starting point away.
        """
        return self

    def averaging(self) -> Method:
        """Return the method with steps 1/(k+1), whose iterate is the mean of its vertices, for `Richardson`."""
        raise TypeError(
            f"Richardson extrapolates an open-loop method whose steps can be 1/(k+1), not {self!r}; use FrankWolfe() "
            "or HeavyBallFrankWolfe()"
        )


@dataclass(frozen=True)
class GradientMethod(Method):
    """A method with steps of 1/L: the constant is an option, by default the objective's own."""

    dense: ClassVar[bool] = True
    L: float | None = None

    def __post_init__(self) -> None:
        if self.L is not None:
            positive("L", self.L)

    def check(self, problem: Problem) -> None:
        require_smoothness(self, problem, self.L)

    def constant(self, problem: Problem) -> float:
        """Return the smoothness constant; of an affine function, which has them all, one."""
        return require_smoothness(self, problem, self.L) or 1.0


def oracle_share(k: int) -> float:
    """Return the error that a Frank-Wolfe step k allows an oracle that iterates, as a share of LD²/2."""
    return ORACLE_ERROR * 2.0 / (k + 2)


def closed(problem: Problem, value: Scalar, tangent: Tangent, vertex: Vertex) -> bool:
    """Tell whether the gap at a point is within the run's goal, so that moving on from it would be for nothing.

    The loop has the last word: asked again, a method must move. What single precision cannot tell from a gap within the
    goal is for the proof in double precision to say.
    """
    value, bound, noise = fetch([value, problem.bound(tangent, vertex.lower), tangent.noise])
    return value - bound <= (problem.goal if problem.exact is None else noise + max(problem.goal, noise))


def looked(problem: Problem, at_x: Evaluation, vertex: Vertex) -> tuple[Evaluation, Vertex]:
    """Return both with their numbers on the host, by one read of the device, for a step that decides by them."""
    if not problem.on_device:
        return at_x, vertex
    noise = 0.0 if at_x.noise is None else at_x.noise
    value, inner, watched, noise, *answer = fetch([at_x.value, at_x.inner, at_x.watched, noise, *vertex[1:]])
    at_x = at_x._replace(value=value, inner=inner, watched=watched, noise=None if at_x.noise is None else noise)
    return at_x, Vertex(vertex.point, *answer)


def require_set(method: Method, problem: Problem) -> None:
    """Raise a TypeError if there is no set."""
    if problem.domain is None:
        raise TypeError(f"method {method.name!r} needs a set; domain=None works with 'agm' and 'agm_sc' only")
    if problem.objective.keeps_factors and not problem.domain.keeps_factors:
        raise TypeError(
            "MatrixCompletion is for a NuclearBall, whose matrices are kept as factors, not for "
            f"{type(problem.domain).__name__}; on other sets use 'fw' or 'apgd' with Function(f, grad) on arrays"
        )


def require_smoothness(method: Method, problem: Problem, given: float | None) -> float:
    """Return the smoothness constant, or raise a ValueError naming the remedies."""
    smoothness = problem.smoothness if given is None else given
    if smoothness is None or smoothness == math.inf:  # or squares of the data overflow
        raise ValueError(
            f"method {method.name!r} needs the smoothness constant of the objective: pass smoothness= to the "
            f"objective, L= to {type(method).__name__}, or use 'afw', which needs no constants"
        )
    return smoothness


def require_completion(method: Method, problem: Problem, others: str) -> None:
    """Raise a TypeError unless the problem is matrix completion over a nuclear ball; `others` would apply."""
    if problem.domain is None or problem.domain.nuclear_radius is None:
        raise TypeError(
            f"method {method.name!r} is for the NuclearBall, whose points have factors, not "
            f"{type(problem.domain).__name__}; use {others}"
        )
    if not problem.objective.keeps_factors or not problem.objective.holds_images:
        raise TypeError(
            f"method {method.name!r} needs the MatrixCompletion objective, whose entries are read from factors, not "
            f"{type(problem.objective).__name__}; use 'afw' or 'fw'"
        )


def nuclear_radius(problem: Problem) -> float:
    """Return the radius of the nuclear ball, for a method that has asked for one."""
    assert problem.domain is not None
    assert problem.domain.nuclear_radius is not None
    return problem.domain.nuclear_radius

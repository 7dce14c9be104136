"""The one loop: iteration, clock, certificate, stopping, trace, progress, callbacks, checkpoints, for every method."""

from __future__ import annotations

import contextlib
import inspect
import math
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.backends.compile_policy import CLOCK, READS, choices_of_run
from frankwolfe.backends.precision import exact_products
from frankwolfe.checkpoint import Checkpoint, identity
from frankwolfe.engine import advance, pace
from frankwolfe.kernels.threads import thread_limit
from frankwolfe.methods import Auto, Method, auto, named
from frankwolfe.objectives.base import Objective
from frankwolfe.points import Point
from frankwolfe.problem import OutOfTime, Problem
from frankwolfe.result import Result, Status
from frankwolfe.run import Run, with_room
from frankwolfe.sets.base import Set
from frankwolfe.stopping import Standing, Tolerance
from frankwolfe.terminal import Progress, compiling_shown, interruptible
from frankwolfe.validation import integer, named_options, nonnegative, seed_of


class Iteration(NamedTuple):
    """What a callback sees: iterate x_k (read-only), its value, the best bound, and seconds so far."""

    k: int
    x: Any
    fun: float
    lower_bound: float
    gap: float
    time: float


@named_options
def minimize(
    objective: Objective,
    domain: Set | None,
    x0: Any = None,
    *,
    method: str | Method = "auto",
    tol: float | None = None,
    rtol: float = 0.0,
    max_iter: int = 10_000,
    time_limit: float | None = None,
    callback: Callable[[Iteration], Any] | None = None,
    trace_every: int = 1,
    progress: bool | None = None,
    checkpoint: Checkpoint | None = None,
    n_threads: int | None = None,
    random_state: int | None = None,
) -> Result:
    """Minimise a smooth convex function over a set, with a certificate.

    Parameters
    ----------
    objective : Objective
        What to minimise; `Function(f, grad)` for your own.
    domain : Set or None
        Where; None (the whole space) for 'agm' and 'agm_sc'.
    x0 : array, LowRank or Result, optional
        Feasible start. By default zero where feasible, else the vertex at the gradient in zero. A Result starts warm:
        from its point, with the schedule shifted so that the start is not thrown away.
    method : str or Method, default "auto"
        A name, or an object with options such as `AcceleratedFrankWolfe(offset=2)`.
    tol : float, optional
        Stop when the certified gap is at most this. Zero: run to the iteration limit. By default the gap is relative:
        at most a millionth of the smaller of ``|fun|`` and what was gained since the start; see Notes.
    rtol : float, default 0
        Stop when the certified gap is at most this times ``max(1, |fun|)``.
    max_iter : int, default 10000
        Largest number of steps.
    time_limit : float, optional
        Largest number of seconds, over all sessions of a resumed run. The compilation of kernels, once after
        installation, is not counted.
    callback : callable, optional
        Called with an `Iteration` after each step; stops the run by returning True.
    trace_every : int, default 1
        Keep every `trace_every`-th row of the trace.
    progress : bool, optional
        Show progress on stderr: always, never, or (None) on a terminal for work over two seconds.
    checkpoint : Checkpoint, optional
        Save the run to a file, and go on from it if it exists.
    n_threads : int, optional
        Limit on the threads of compiled passes and of linear-algebra libraries during the run. The result does not
        depend on it, to the last bit, where the passes are compiled.
    random_state : int, optional
        Seed of iterative oracles; zero by default, so that runs repeat.

    Returns
    -------
    Result
        The best point seen, its value, a proven lower bound, and why the run stopped.

    Notes
    -----
    The default tolerance does not depend on units: with F = f(start) - fun, the gain, a run ends when its certified gap
    is at most 1e-6 min(F, max(``|fun|``, F/1000)). The start is the default one, whatever `x0` is (or `x0`, where f is
    larger there), so that a warm start is not asked for more; F/1000 stands in for ``|fun|`` where that is next to
    nothing. A start that is optimal up to rounding ends the run at once.

    A run whose value and bound no longer change ends too, after as many steps as it took until then: with the status
    `precision` where rounding explains what is left of the gap, else `stalled`.

    Examples
    --------
    >>> import numpy as np, frankwolfe as fw
    >>> A = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> result = fw.minimize(fw.LeastSquares(A, [1.0, 2.0, 3.0]), fw.L1Ball(0.4), tol=1e-8, method="apgd")
    >>> result.success, result.x.round(6), bool(result.gap <= 1e-8)
    (True, array([0. , 0.4]), True)
    """
    _check_arguments(objective, domain, x0, callback, checkpoint)
    max_iter = integer("max_iter", max_iter, 0)
    seed = seed_of(random_state)
    limit = None if time_limit is None else nonnegative("time_limit", time_limit)
    threads = None if n_threads is None else integer("n_threads", n_threads, 1)
    tolerance = tolerance_of(tol, rtol)
    trace_every = integer("trace_every", trace_every, 1)
    made = None if checkpoint is None else checkpoint.choices()
    # With neither a tolerance nor a limit of time every step will be taken, each a read of the data at least.
    endless = tolerance.tol == 0 and not tolerance.rtol and limit is None
    reads = max(READS, max_iter) if endless else READS
    with thread_limit(threads), exact_products(), compiling_shown(progress), choices_of_run(made, reads) as choices:
        forms = (False, False) if domain is None else (domain.sparse_atoms, domain.parallel_atoms)
        problem = Problem(objective.oriented(*forms), domain, seed)
        run = Run(problem, None, tolerance, trace_every)
        chosen, reason, start = with_room(run, lambda: _begin(run, x0, method))
        digest = ""
        if checkpoint is not None:
            digest = identity(objective.fingerprint(start.coords), domain, chosen, start.coords, seed)
            saved = checkpoint.load(digest, problem.objective.dual)
            if saved is not None:
                run.restore(saved)
        with _saving(checkpoint, run, digest, choices) as save:
            status = drive(run, chosen, max_iter, limit, _as_outside(callback), progress, save)
        with_room(run, run.finish)
    return conclude(run, status, chosen, reason, max_iter)


def _begin(run: Run, x0: Any, method: str | Method) -> tuple[Method, str, Point]:
    """Choose the method and take the run to its start; return method, reason and start."""
    problem = run.problem
    chosen, reason = auto.choose(problem) if method == "auto" else (named(method), "chosen by the caller")
    chosen.check(problem)
    if x0 is None:
        chosen.prepare(problem)
    start = problem.start(x0.x if isinstance(x0, Result) else x0, chosen.dense)
    chosen.check_start(problem, start)
    if x0 is not None and run.tolerance.relative:
        run.start_value = problem.default_value(start, chosen.dense)
    if isinstance(x0, Result) and problem.domain is not None:
        chosen = _warm(problem, chosen, start, run)
    run.state = chosen.init(problem, start)
    return chosen, reason, start


def tolerance_of(tol: Any, rtol: Any) -> Tolerance:
    """Return the tolerance that a user asks for."""
    return Tolerance(None if tol is None else nonnegative("tol", tol), nonnegative("rtol", rtol))


def drive(
    run: Standing,
    method: Method,
    max_iter: int,
    time_limit: float | None = None,
    callback: Callable[[Iteration], Any] | None = None,
    progress: bool | Progress | None = None,
    save: Callable[[], None] = lambda: None,
) -> Status:
    """Step until something says stop; return what."""
    shown = progress if isinstance(progress, Progress) else Progress(progress, max_iter)
    with interruptible() as interrupted:
        status = with_room(run, lambda: _loop(run, method, max_iter, time_limit, callback, shown, interrupted, save))
    return status if run.trouble is None else run.trouble[0]


def _loop(
    run: Standing,
    method: Method,
    max_iter: int,
    time_limit: float | None,
    callback: Callable[[Iteration], Any] | None,
    shown: Progress,
    interrupted: threading.Event,
    save: Callable[[], None],
) -> Status:
    """Step until something says stop; return what, if it is no trouble of the run's own."""
    began = monotonic() - CLOCK.seconds - run.elapsed

    def clock() -> float:
        return monotonic() - CLOCK.seconds - began

    def late() -> bool:
        return time_limit is not None and clock() >= time_limit

    run.problem.over = lambda: interrupted.is_set() or late()
    try:
        while True:
            if run.trouble is not None or run.settled():
                return Status.OPTIMAL
            if run.trouble is not None or run.exhausted():
                return Status.PRECISION
            if run.stalled() and not method.waits(run.problem, run.state, run.headline()[2]):
                state = method.after_stall(run.problem, run.state)
                if state is None:
                    return Status.STALLED
                run.go_on(state)
            if run.state.k >= max_iter:
                return Status.MAX_ITER
            if late():
                run.elapsed = clock()
                return Status.TIME_LIMIT
            if interrupted.is_set():
                return Status.INTERRUPTED
            before, run.problem.goal = run.state, run.goal
            # A callback sees every step; otherwise a device works on for a while before the host looks.
            many = pace(run.problem, method, before.k) if callback is None else 1
            try:
                state, evidence = advance(run.problem, method, before, min(many, max_iter - before.k))
            except OutOfTime:
                raise
            except Exception as error:
                if run.ends_not_finite(before, error):  # an oracle cannot take such numbers
                    continue
                error.add_note(f"(in iteration {before.k} of frankwolfe's loop)")
                raise
            run.absorb_all(state, evidence, clock())
            if shown.shown:
                shown.update(before.k, *run.headline())
            save()
            if callback is not None and run.trouble is None:
                fun = float(evidence[0].seen[0][0])
                bound = min(run.certificate.lower_bound, run.best_value)
                answer = callback(Iteration(before.k, _read_only(before.x), fun, bound, fun - bound, run.elapsed))
                if isinstance(answer, bool | np.bool_) and answer:
                    return Status.CALLBACK
            del before, state, evidence  # not to be kept through the next step, which has images and slopes of its own
    except OutOfTime:
        run.elapsed = clock()
        return Status.INTERRUPTED if interrupted.is_set() else Status.TIME_LIMIT
    except KeyboardInterrupt:
        return Status.INTERRUPTED
    finally:
        shown.close()


def conclude(run: Run, status: Status, method: Method, reason: str, max_iter: int) -> Result:
    """Return what a finished run has found."""
    assert run.best is not None
    if status is Status.STALLED and run.gap <= run.rounding_gap:
        status = Status.PRECISION
    limits = (Status.MAX_ITER, Status.TIME_LIMIT, Status.PRECISION, Status.STALLED)
    if status in limits and run.goal > 0 and run.gap <= run.goal:
        status = Status.OPTIMAL  # the last iterate, or the last proof, closed the gap
    lower_bound = min(run.certificate.lower_bound, run.best_value)
    gap = run.best_value - lower_bound
    left = f"a certified gap of {gap:.3g}" if gap < math.inf else "no bound on the optimum"
    messages = {
        Status.OPTIMAL: f"the certified gap is at most {run.goal:.3g}",
        Status.PRECISION: f"as exact as this arithmetic allows, with {left}",
        Status.STALLED: f"the method made no more progress after {run.rest.since:.0f} steps, with {left}",
        Status.MAX_ITER: f"stopped after {max_iter} steps with {left}",
        Status.TIME_LIMIT: f"stopped by the time limit with {left}",
    }
    atoms, weights = run.best.parts or ((), None)
    name, reason = method.account(run.state) if isinstance(method, Auto) else (method.name, reason)
    return Result(
        x=run.problem.objective.natural(run.best.coords),
        fun=run.best_value,
        lower_bound=lower_bound,
        status=status,
        message=run.trouble[1] if run.trouble else messages.get(status, status.value),
        n_iter=run.state.k,
        **run.problem.counts.asdict(),  # pyright: ignore[reportArgumentType]
        time=run.elapsed,
        method=name,
        reason=reason,
        trace=run.trace,
        failure_probability=run.certificate.failure,
        atoms=[atom.coords for atom in atoms] if atoms else None,
        weights=weights,
        problem=run.problem.title,
        paths=tuple(sorted(run.problem.paths, key=run.problem.paths.__getitem__, reverse=True)),
        tangents=run.certificate.tangents,
        residuals=run.certificate.residuals,
    )


def _warm(problem: Problem, method: Method, start: Point, run: Run) -> Method:
    """Bound the gap at the start, and let the method begin as if it had worked its way there."""
    if problem.exact is not None:  # in single precision only what double precision proves counts
        value, run.certificate.lower_bound, run.certificate.failure, *_ = problem.certify(start.coords, 0)
    else:
        at_start = problem.evaluate(start)
        minimum, run.certificate.failure = problem.minimum(at_start.slope, 0)
        run.certificate.lower_bound = float(problem.bound(at_start.tangent, minimum))
        value = float(at_start.value)
    still = type(method).warm is Method.warm  # nothing to shift: the smoothness, which costs passes, is not asked for
    if still or problem.smoothness is None or not np.isfinite(value):
        return method
    return method.warm(value, value - run.certificate.lower_bound, problem.curvature)


def _check_arguments(objective: Any, domain: Any, x0: Any, callback: Any, checkpoint: Any) -> None:
    check_objective(objective)
    if isinstance(domain, type) and issubclass(domain, Set):
        raise TypeError(f"domain is the class {domain.__name__}; make a set of it, such as {domain.__name__}(1.0)")
    if domain is not None and not isinstance(domain, Set):
        start = "; a starting point comes after the set, as minimize(objective, domain, x0)"
        raise TypeError(
            f"domain must be a Set such as L2Ball(1.0), or None, got {type(domain).__name__}"
            f"{start if isinstance(domain, np.ndarray | list | tuple) else ''}"
        )
    if isinstance(x0, str | Method):
        raise TypeError(f"x0 must be a point of the set, got {x0!r}; did you mean method={x0!r}?")
    if callback is not None and not (callable(callback) and _takes_one(callback)):
        raise TypeError(
            f"callback must be a function of one Iteration (it has k, x, fun, gap and time), got {callback!r}"
        )
    if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
        raise TypeError(f"checkpoint must be a Checkpoint, got {type(checkpoint).__name__}; try Checkpoint('run.npz')")


def check_objective(objective: Any) -> None:
    """Raise a TypeError that teaches unless this is an objective."""
    if isinstance(objective, Objective):
        return
    if isinstance(objective, type) and issubclass(objective, Objective):
        raise TypeError(f"objective is the class {objective.__name__}; make one of your data, such as Logistic(A, b)")
    raise TypeError(
        f"objective must be an Objective such as Logistic(A, b), got {type(objective).__name__}; wrap your own "
        "function as Function(f, grad), and call minimize(Function(f, grad), domain, x0)"
    )


def _takes_one(callback: Any) -> bool:
    try:
        inspect.signature(callback).bind(None)
    except TypeError:
        return False
    except ValueError:  # nobody can tell
        return True
    return True


def _as_outside(callback: Callable[[Iteration], Any] | None) -> Callable[[Iteration], Any] | None:
    """Return a callback that meets NumPy's warnings as they are set now, outside the run."""
    if callback is None:
        return None
    settings = np.geterr()

    def called(iteration: Iteration) -> Any:
        with np.errstate(**settings):
            return callback(iteration)

    return called


def _read_only(x: Point) -> Any:
    if isinstance(x.coords, np.ndarray):
        view = x.coords.view()
        view.flags.writeable = False
        return view
    return x.coords


@contextlib.contextmanager
def _saving(
    checkpoint: Checkpoint | None, run: Run, digest: str, choices: dict[str, int]
) -> Iterator[Callable[[], None]]:
    """Give the loop a function that saves when it is time; save once more at the end, whatever ended it."""
    if checkpoint is None:
        yield lambda: None
        return
    due = monotonic() + checkpoint.every

    def save() -> None:
        nonlocal due
        if monotonic() >= due:
            checkpoint.save(run.saved(), digest, choices)
            due = monotonic() + checkpoint.every

    try:
        yield save
    finally:
        checkpoint.save(run.saved(), digest, choices)

"""Many steps of (accelerated) Frank-Wolfe in one go on a GPU: the same numbers as plain steps, read back rarely.

Applies to linear models on dense data that one kernel reads, over an l1, l2 or l∞ ball, with the open-loop schedule.
Everything else takes plain steps, on the device as well.

This is a second statement of the step, kept for its speed. One step of `afw` inside `minimize` on an H200, in
microseconds (`python -m benchmarks.gpu.ways`): 400000 x 64 by this update 97, by a graph of plain steps 267, one by one
1227; 60000 x 1024: 129, 336, 1374; 1000000 x 1024: 1042, 1268, 1483.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from frankwolfe.atoms import Dense
from frankwolfe.engine.base import Way
from frankwolfe.methods.accelerated import AFWState
from frankwolfe.methods.base import Evidence, Method
from frankwolfe.methods.open_loop.frank_wolfe import FWState
from frankwolfe.methods.step_sizes import OpenLoop
from frankwolfe.objectives.base import Evaluation
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.points import NO_SLOPE, Leaf, Point, Tangent, weighted_sum
from frankwolfe.problem import Problem, Vertex
from frankwolfe.sets.base import Ball

NOWHERE = Point(None, ())  # of a tangent whose point is filled in later
FEWEST, MOST = 10, 100  # steps before the host looks: a quarter of those taken, in tens, within these
BALLS = {1.0: "l1", 2.0: "l2", math.inf: "linf"}  # by the exponent of the norm


class TritonSteps(Way):
    """Open-loop steps on dense rows of a GPU, over l1, l2 and l∞ balls: one kernel reads, one updates."""

    name = "many at a time, by Triton kernels"

    def applies(self, problem: Problem, method: Method) -> bool:
        return schedule(problem, method) is not None

    def takes(self, problem: Problem, method: Method, state: Any, n: int) -> bool:
        return self.applies(problem, method) and _begin(method, state) is not None

    def pace(self, k: int) -> int:
        return min(max(k // 4 // FEWEST, 1) * FEWEST, MOST)

    def take(self, problem: Problem, method: Method, state: Any, n: int) -> tuple[Any, list[Evidence]]:
        from frankwolfe.engine.triton_steps import Start

        rule, begin = schedule(problem, method), _begin(method, state)
        assert rule is not None
        assert begin is not None
        x_product, base, vector = begin
        delta, momentum = rule(state.k), method.momentum
        y = ((1 - delta), (1 - delta) * x_product + delta) if momentum else (1.0, x_product)
        theta = state.theta.slope if momentum else None
        engine = _engine(problem, rule, momentum)
        steps = engine.advance(Start(state.k, state.x.coords, vector, theta, base, (1.0, x_product, *y)), n)
        problem.counts.n_grad += n
        problem.counts.n_lmo += n
        problem.counts.n_pass += n

        last = rule(state.k + n - 1)
        leaf = Leaf(Dense(steps.v))
        x = Point(steps.x, ((1 - last, Leaf(None, steps.base)), (last, leaf)))
        if not momentum:
            return FWState(state.k + n, x, None), _plain_evidence(problem, steps)
        average, evidence = _momentum_evidence(problem, steps, rule, state)
        return AFWState(
            state.k + n, x, Point(Dense(steps.v), ((1.0, leaf),)), average._replace(slope=steps.theta)
        ), evidence


def schedule(problem: Problem, method: Method) -> OpenLoop | None:
    """Return the schedule of steps that the GPU can take by itself, or None where it cannot."""
    from frankwolfe.backends.torch_rows import fits
    from frankwolfe.rows.torch_matrix import TorchMatrix

    objective, domain = problem.objective, problem.domain
    if not isinstance(objective, LinearModel) or not isinstance(objective.data, TorchMatrix):
        return None
    if not objective.separable or objective.ridge:
        return None
    if not isinstance(domain, Ball) or domain.exponent not in BALLS or not fits(objective.data.matrix):
        return None
    return method.schedule


def _begin(method: Method, state: Any) -> tuple[float, Any, Any] | None:
    """Return the weight of the pending vector in x, the image of the rest, and the vector itself."""
    pending = state.x.pending
    if len(pending) != 1:
        return None
    if method.momentum and [leaf for _, leaf in state.v.terms] != pending:
        return None
    vector = pending[0].coords
    if not isinstance(vector, Dense):
        vector = vector.toarray() if hasattr(vector, "toarray") else vector
    known = [(w, leaf.value) for w, leaf in state.x.terms if leaf is not pending[0]]
    weight = next(w for w, leaf in state.x.terms if leaf is pending[0])
    return float(weight), weighted_sum(known) if known else None, getattr(vector, "array", vector)


def _engine(problem: Problem, rule: OpenLoop, momentum: bool) -> Any:
    from frankwolfe.backends.torch_rows import DeviceModel
    from frankwolfe.engine.triton_steps import Engine

    if "engine" not in problem.scratch:
        objective, domain = problem.objective, problem.domain
        assert isinstance(objective, LinearModel)
        assert isinstance(domain, Ball)
        data: Any = objective.data
        options = (BALLS[domain.exponent or 2.0], domain.radius, rule.offset + rule.shift, momentum)
        share = objective.share if objective.weighted else objective.share[0]
        rows = DeviceModel(data.matrix, objective.b, share, objective.row_loss)
        problem.scratch["engine"] = Engine(rows, data.dtype, *options)
    return problem.scratch["engine"]


def _average(ys: Any, state: AFWState, deltas: np.ndarray) -> Any:
    """Return where the averaged tangent touches after the steps: the running average of the y's."""
    import torch

    keep = np.append(np.cumprod(1 - deltas[:0:-1])[::-1], 1.0)  # how much of each step the later ones leave
    out = torch.as_tensor(deltas * keep, dtype=ys.dtype, device=ys.device) @ ys
    return out if state.theta.at is None else out + float((1 - deltas[0]) * keep[0]) * state.theta.at


def _tangent(problem: Problem, value: float, inner: float) -> Tangent:
    unused: Any = None  # the slope stays on the device
    return problem.judged(Evaluation(value, unused, inner, value, 0.0, problem.eps), NOWHERE).tangent


def _records(problem: Problem, steps: Any) -> list[list[float]]:
    """Return what was kept of each step; to values belongs what depends on the targets alone."""
    assert isinstance(problem.objective, LinearModel)
    offset = problem.objective.offset
    return [[at_x + offset, at_y + offset, *rest] for at_x, at_y, *rest in steps.records.tolist()]


def _plain_evidence(problem: Problem, steps: Any) -> list[Evidence]:
    evidence = []
    for x, (value, _, inner, lowest, _) in zip(steps.xs.unbind(), _records(problem, steps), strict=True):
        point = Point.at(x)
        tangent = _tangent(problem, value, inner)._replace(at=x)
        evidence.append(Evidence(((value, point),), ((tangent, Vertex(point, lowest, lowest)),)))
    return evidence


def _momentum_evidence(problem: Problem, steps: Any, rule: OpenLoop, state: AFWState) -> tuple[Tangent, list[Evidence]]:
    """Return the averaged tangent after the steps (but for its slope) and what each step has seen."""
    offset, weight, noise = (float(number) for number in state.theta[1:4])
    deltas, evidence = np.array([rule(state.k + i) for i in range(len(steps.records))]), []
    points = zip(steps.xs.unbind(), steps.ys.unbind(), _records(problem, steps), deltas.tolist(), strict=True)
    for x, y, (at_x, at_y, inner, lowest, support), delta in points:
        tangent, keep = _tangent(problem, at_y, inner), 1 - delta
        offset = keep * offset + delta * tangent.offset
        weight = keep * weight + delta
        noise = keep * noise + delta * tangent.noise
        average, here, ahead = Tangent(NO_SLOPE, offset, weight, noise), Point.at(x), Point.at(y)
        minorants = ((average, Vertex(here, lowest, lowest)), (tangent, Vertex(ahead, -support, -support)))
        evidence.append(Evidence(((at_x, here), (at_y, ahead)), minorants))
    last = Tangent(NO_SLOPE, offset, weight, noise, _average(steps.ys, state, deltas))
    (_, vertex), other = evidence[-1].minorants  # the latest average, at least, says where it touches
    evidence[-1] = evidence[-1]._replace(minorants=((last, vertex), other))
    return last, evidence

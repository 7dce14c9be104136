"""Several steps of one run or many as one captured CUDA graph: the same steps, launched together.

A method's step is array code. With k as a number on the device, nothing in it depends on the host, so that a graph of
some steps serves for all that follow. A form of the state that was met before is captured; until then, and where a
graph does not apply, the steps are plain ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from frankwolfe.engine.base import PACE, Way
from frankwolfe.engine.cuda_graph import Graph, HostCopy
from frankwolfe.engine.evidence_numbers import answered, numbers_of, refilled
from frankwolfe.methods.base import Evidence, Method
from frankwolfe.objectives.linear_model import LinearModel
from frankwolfe.points import Point
from frankwolfe.problem import Counts, Problem
from frankwolfe.serialisation import decode, encode

MET = 3  # chunks of one form after which runs are taken to go on: capturing takes some milliseconds
LONG = 96  # steps after which the next graph is under way while the host looks


class GraphSteps(Way):
    """Steps that are array code throughout, on dense rows on a GPU: one radius or many."""

    name = "several at a time, in a CUDA graph"

    def applies(self, problem: Problem, method: Method) -> bool:
        objective, domain = problem.objective, problem.domain
        if domain is None or not domain.oracle_in_arrays or not method.steps_in_arrays:
            return False
        if not isinstance(objective, LinearModel) or not objective.separable or not objective.holds_images:
            return False
        return on_gpu(objective.data.matrix)

    def take(self, problem: Problem, method: Method, state: Any, n: int) -> tuple[Any, list[Evidence]]:
        if "chunk" not in problem.scratch:
            problem.scratch["chunk"] = Chunk()
        return problem.scratch["chunk"].advance(problem, method, state)


def on_gpu(matrix: Any) -> bool:
    """Tell whether a matrix is a dense tensor on a GPU."""
    return bool(is_torch_array(matrix) and matrix.is_cuda and not matrix.is_sparse and not matrix.is_sparse_csr)


class Chunk:
    """PACE steps of a method: one by one until the form of the state repeats, and then by a graph."""

    def __init__(self) -> None:
        self.key, self.met = "", 0
        self.graph: Graph | None = None
        self.ahead: tuple[Any, list[Any]] | None = None  # a state whose steps are under way, and where they leave it

    def advance(self, problem: Problem, method: Method, state: Any) -> tuple[Any, list[Evidence]]:
        """Take the steps; the host reads one vector."""
        under_way = self.ahead is not None and self.ahead[0] is state
        out = self.ahead[1] if under_way and self.ahead else self._launch(problem, method, state)
        copied = HostCopy(out[-1])
        if self.graph is not None:
            out = [a.clone() for a in out[:-1]]  # the graph will overwrite its own
        after, touch, points = decode(self.form, out)
        after = after._replace(k=state.k + PACE)
        problem.counts.add(self.costs)
        self.ahead = (after, self._launch(problem, method, after)) if self.graph and after.k >= LONG else None
        return after, self._filled(copied.read(), points, touch)

    def _launch(self, problem: Problem, method: Method, state: Any) -> list[Any]:
        """Begin the steps; return their results, the last of which the host reads."""
        import torch

        form, arrays = encode(state._replace(k=state.x.coords.new_full((), state.k, dtype=torch.float64)))
        key = repr((form, [(tuple(a.shape), a.dtype) for a in arrays]))
        if key != self.key:
            self.key, self.met, self.graph = key, 0, None
        self.met += 1
        if self.met >= MET and self.graph is None:
            self.graph = Graph(lambda inputs: self._steps(problem, method, form, inputs), arrays)
        return self._steps(problem, method, form, arrays) if self.graph is None else self.graph.launch(arrays)

    def _steps(self, problem: Problem, method: Method, form: Any, arrays: list[Any]) -> list[Any]:
        """Take the steps on arrays alone; what is plain data of the results, and the costs, stay here."""
        import torch

        counts, problem.counts = problem.counts, Counts()
        state, evidence = decode(form, arrays), []
        for _ in range(PACE):
            state, seen = method.step(problem, state)
            evidence.append(answered(problem, seen).bare())
        self.costs, problem.counts = problem.counts, counts
        touch = evidence[-1].minorants[0][0].at
        points = torch.stack([point.coords for seen in evidence for _, point in seen.seen])
        self.form, out = encode((state, touch, points))
        vector = self._vector(evidence)
        return [*out, vector]

    def _vector(self, evidence: list[Evidence]) -> Any:
        """Return the numbers of the evidence as one vector; keep the evidence with their places instead of them."""
        import torch

        parts: dict[int, Any] = {}
        places: dict[int, slice | int] = {}
        end = 0
        for number in (number for seen in evidence for number in numbers_of(seen)):
            if not isinstance(number, float) and id(number) not in parts:
                parts[id(number)] = number.reshape(-1).to(torch.float64)
                places[id(number)] = slice(end, end + number.numel()) if number.ndim else end
                end += number.numel()
        self.evidence = [refilled(seen, iter([places.get(id(a), a) for a in numbers_of(seen)])) for seen in evidence]
        return torch.cat(list(parts.values()))

    def _filled(self, numbers: np.ndarray, points: Any, touch: Any) -> list[Evidence]:
        """Return the evidence with its numbers, on the host, and its points."""
        evidence, coords = [], iter(points.unbind())
        for seen in self.evidence:
            seen = refilled(seen, (numbers[a] if isinstance(a, slice | int) else a for a in numbers_of(seen)))
            met = tuple((value, Point.at(next(coords))) for value, _ in seen.seen)
            minorants = [
                (t._replace(slope=None, at=None), v and v._replace(point=met[0][1])) for t, v in seen.minorants
            ]
            evidence.append(Evidence(met, tuple(minorants), seen.floor))
        (tangent, vertex), *others = evidence[-1].minorants  # the latest says where it touches
        evidence[-1] = evidence[-1]._replace(minorants=((tangent._replace(at=touch), vertex), *others))
        return evidence

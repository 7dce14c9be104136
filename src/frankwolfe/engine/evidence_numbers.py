"""The numbers of what steps have seen: taken out, brought to the host in one read, and put back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from frankwolfe.backends import fetch
from frankwolfe.methods.base import Evidence
from frankwolfe.points import Tangent
from frankwolfe.problem import Problem, Vertex

HOST = (float, np.ndarray)


def fetched(problem: Problem, evidence: list[Evidence]) -> list[Evidence]:
    """Return evidence whose numbers are on the host: one read for all, and none where they are there already."""
    if not problem.on_device:
        return evidence
    evidence = [seen if is_here(seen) else answered(problem, seen) for seen in evidence]
    numbers = iter(fetch([number for seen in evidence if not is_here(seen) for number in numbers_of(seen)]))
    return [seen if is_here(seen) else refilled(seen, numbers) for seen in evidence]


def is_here(seen: Evidence) -> bool:
    """Tell whether all numbers are on the host, as after steps that a device took by itself."""
    return isinstance(seen.seen[0][0], HOST) and all(isinstance(t.offset, HOST) for t, _ in seen.minorants)


def answered(problem: Problem, seen: Evidence) -> Evidence:
    """Answer the tangents that the step did not ask the oracle about, as the certificate would."""
    domain = problem.domain
    if domain is None or not domain.closed_form:
        return seen
    minorants = []
    for tangent, vertex in seen.minorants:
        if vertex is None:
            minimum = -domain.support(-tangent.slope)
            vertex = Vertex(seen.seen[0][1], minimum, minimum)
        minorants.append((tangent, vertex))
    return seen._replace(minorants=tuple(minorants))


def numbers_of(seen: Evidence) -> list[Any]:
    """Return floor and values, and of each minorant offset, weight, noise, and value and bound of its vertex."""
    numbers = [seen.floor, *(value for value, _ in seen.seen)]
    for tangent, vertex in seen.minorants:
        numbers += [*tangent[1:4], *(() if vertex is None else vertex[1:])]
    return numbers


def refilled(seen: Evidence, numbers: Iterator[Any]) -> Evidence:
    """Return the evidence with numbers in the order of `numbers_of`."""
    floor = next(numbers)
    values = tuple((next(numbers), point) for _, point in seen.seen)
    minorants = []
    for tangent, vertex in seen.minorants:
        tangent = Tangent(tangent.slope, next(numbers), next(numbers), next(numbers), tangent.at)
        minorants.append((tangent, vertex and Vertex(vertex.point, next(numbers), next(numbers))))
    return Evidence(values, tuple(minorants), floor)

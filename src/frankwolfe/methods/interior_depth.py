"""How deep inside its set a point lies, from what a step has seen."""

from __future__ import annotations

from frankwolfe.methods.base import Evidence, oracle_share
from frankwolfe.points import Point
from frankwolfe.problem import Problem


def answered(problem: Problem, k: int, evidence: Evidence) -> Evidence:
    """Return the evidence with the oracle's answer on its last tangent, where the step did not ask."""
    tangent, vertex = evidence.minorants[-1]
    if vertex is not None:
        return evidence
    vertex = problem.lmo(tangent.slope, k, share=oracle_share(k))
    return evidence._replace(minorants=(*evidence.minorants[:-1], (tangent, vertex)))


def interior_depth(problem: Problem, x: Point, evidence: Evidence) -> float:
    """Return the place of x between the ends of the set along the last slope: zero is the lowest, one the highest."""
    tangent, vertex = evidence.minorants[-1]
    assert problem.domain is not None
    assert vertex is not None
    slope, lowest = tangent.slope, float(vertex.value)
    highest = float(problem.domain.lmo(-slope).inner(slope))
    return (float(problem.inner(slope, x)) - lowest) / (highest - lowest) if highest > lowest else 0.0

"""A way to take several steps of a method, and the plain one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from frankwolfe.methods.base import Evidence, Method
from frankwolfe.problem import Problem

PACE = 8  # steps between looks at the numbers of a run whose arrays are not NumPy's


class Way(ABC):
    """A way to take steps; the states and evidence it leaves are those of plain steps, to rounding."""

    name: str

    @abstractmethod
    def applies(self, problem: Problem, method: Method) -> bool:
        """Tell whether steps of this method on this problem can be taken so."""

    def takes(self, problem: Problem, method: Method, state: Any, n: int) -> bool:
        """Tell whether n steps from this state can be taken so."""
        return n == PACE and self.applies(problem, method)

    def pace(self, k: int) -> int:
        """Return how many steps to take at a time, after k of them."""
        return PACE

    @abstractmethod
    def take(self, problem: Problem, method: Method, state: Any, n: int) -> tuple[Any, list[Evidence]]:
        """Take up to n steps."""


class OneByOne(Way):
    """Plain steps, whatever the method and the problem."""

    name = "one by one"

    def applies(self, problem: Problem, method: Method) -> bool:
        return True

    def takes(self, problem: Problem, method: Method, state: Any, n: int) -> bool:
        return True

    def take(self, problem: Problem, method: Method, state: Any, n: int) -> tuple[Any, list[Evidence]]:
        state, seen = method.step(problem, state)
        return state, [seen if n == 1 else seen.bare()]

"""Parameters of estimators: declared in a class, a line each, and checked by name when one is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

from frankwolfe.validation import named_options

C = TypeVar("C", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def with_parameters(cls: C) -> C:
    """Give a class a constructor that sets what it and its bases declare, and does nothing else."""
    made = dataclass(eq=False, repr=False, kw_only=True)(cls)
    made.__init__ = named_options(made.__init__)
    return made

"""Moved to frankwolfe.atoms."""

from frankwolfe.atoms import Atom, Dense, Mixable, OneHot, RankOne, Sparse  # noqa: F401

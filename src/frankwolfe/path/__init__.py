"""A whole regularisation path: one problem over sets of many radii."""

from frankwolfe.path.collection import Path
from frankwolfe.path.solve import path

__all__ = ["Path", "path"]

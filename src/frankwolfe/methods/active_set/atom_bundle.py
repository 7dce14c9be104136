"""Bundles of atoms: their inner products with a slope, and their weighted sums, all at once."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from frankwolfe.atoms import Mixable
from frankwolfe.backends.namespace import as_like, is_foreign
from frankwolfe.methods.active_set.atom_stacks import Images, Stack, key
from frankwolfe.points import Leaf, Point, weighted_sum
from frankwolfe.problem import Problem
from frankwolfe.serialisation import plain


class _Points(NamedTuple):
    points: tuple[Point, ...]


@plain
class Bundle(_Points):
    """Distinct atoms as points, each with its image; immutable.

    One-hot and sparse atoms are stacked into one list of indices, dense ones into a matrix, rank-one ones into two, so
    that products with all of them are a few array operations. What is stacked is remembered and never saved: it
    follows from the points.
    """

    @property
    def size(self) -> int:
        """Number of atoms."""
        return len(self.points)

    @cached_property
    def keys(self) -> tuple[Any, ...]:
        """What identifies each atom: the kind of stack it belongs to, and its numbers, exactly."""
        return tuple(key(p.coords) for p in self.points)

    def find(self, coords: Any) -> int | None:
        """Return the position of the atom with exactly these numbers, or None."""
        return self._place(key(coords))

    def add(self, point: Point) -> tuple[Bundle, int]:
        """Return the bundle that has the atom, and the atom's position in it."""
        label = key(point.coords)
        place = self._place(label)
        if place is not None:
            return self, place
        grown = Bundle((*self.points, point))
        grown.__dict__["keys"] = (*self.keys, label)
        if any(type(stack) is label[0] for _, stack in self._stacks):
            grown.__dict__["_stacks"] = [
                (np.append(where, self.size), stack.grown(point)) if type(stack) is label[0] else (where, stack)
                for where, stack in self._stacks
            ]
        grown.__dict__["_known"] = self._known_images
        return grown, self.size

    def keep(self, mask: np.ndarray) -> Bundle:
        """Return the bundle of the atoms where `mask` is true."""
        if mask.all():
            return self
        places = np.flatnonzero(mask).tolist()
        kept = Bundle(tuple(self.points[i] for i in places))
        kept.__dict__["keys"] = tuple(self.keys[i] for i in places)
        renumbered = np.cumsum(mask) - 1
        kept.__dict__["_stacks"] = [
            (renumbered[where[mask[where]]], stack.kept(mask[where]))
            for where, stack in self._stacks
            if mask[where].any()
        ]
        known = self._known_images
        kept.__dict__["_known"] = known.kept(mask[: known.counts.size]) if known.counts.size else known
        return kept

    def inner(self, problem: Problem, slope: Any) -> np.ndarray:
        """Return <slope, atom> for every atom."""
        out = np.empty(self.size)
        for places, stack in self._stacks:
            out[places] = stack.inner(problem, slope)
        return out

    def light(self, like: Any) -> bool:
        """Tell whether `sum` costs no more than a few operations on a single point."""
        return isinstance(like, Mixable) or sum(len(places) for places, stack in self._stacks if not stack.light) <= 1

    def sum(self, weights: Any, like: Any) -> Any:
        """Return the coordinates of the weighted sum, in the form of `like`."""
        weights = np.asarray(weights, dtype=np.float64)
        if isinstance(like, Mixable):
            return like.sum_of(weights, [p.coords for p in self.points])
        if is_foreign(like):
            arrays = [p.array for p in self.points]
            return weighted_sum(list(zip(weights.tolist(), arrays, strict=True)))
        total = np.zeros(like.size, like.dtype)
        for places, stack in self._stacks:
            stack.add(total, weights[places].astype(like.dtype))
        return total.reshape(like.shape)

    def point(self, weights: np.ndarray, like: Any) -> Point:
        """Return the weighted sum as a point; its image is the sum of the atoms' images."""
        coords = self.sum(weights, like)
        if "_images" in self.__dict__:
            on_device = is_foreign(self.images)
            image = self.images @ (as_like(weights, self.images) if on_device else weights.astype(self.images.dtype))
            return Point(coords, ((1.0, Leaf(None, image)),))
        terms = tuple(
            (weight * w, leaf)
            for weight, p in zip(weights.tolist(), self.points, strict=True)
            for w, leaf in p.terms
            if weight
        )
        return Point(coords, tuple(sorted(terms, key=lambda term: term[1].value is None)))

    @property
    def images(self) -> Any:
        """The atoms' images as columns of a matrix, sparse where they are; all must be known."""
        return self._images.matrix

    @cached_property
    def _images(self) -> Images:
        known = self._known_images
        return known.grown([p.image for p in self.points[known.counts.size :]])

    @property
    def _known_images(self) -> Images:
        """The images of the first atoms, as far as they have been put together."""
        known = self.__dict__
        return known["_images"] if "_images" in known else known.get("_known", Images.none())

    @cached_property
    def _stacks(self) -> list[tuple[np.ndarray, Stack]]:
        """The atoms by form: their places, and the stack; always in the same order, so that sums repeat."""
        places: dict[type[Stack], list[int]] = {}
        for i, (form, _) in enumerate(self.keys):
            places.setdefault(form, []).append(i)
        ordered = sorted(places.items(), key=lambda item: item[0].__name__)
        return [(np.array(where), form.of([self.points[i] for i in where])) for form, where in ordered]

    def _place(self, label: Any) -> int | None:
        return self.keys.index(label) if label in self.keys else None

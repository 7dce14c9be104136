"""What of a fitted model goes into its file, and the checks on the way back."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from frankwolfe.estimators.completion.ratings import Ids
from frankwolfe.estimators.model_files import (
    certificate,
    finite_array,
    finite_number,
    opened_model,
    plain_values,
    set_certificate,
    write_model,
)

if TYPE_CHECKING:
    from frankwolfe.estimators.completion.matrix_completer import MatrixCompleter

COMPLETER = "MatrixCompleter"
C = TypeVar("C", bound="MatrixCompleter")

_NUMBERS = ("mean_", "radius_", "relax_")


def write_completer(model: MatrixCompleter, path: str | os.PathLike[str]) -> None:
    """Write a fitted `MatrixCompleter`."""
    params = model.get_params()
    del params["device"]  # of the machine, not of the model
    if not isinstance(params["method"], str):
        params["method"] = model.method_  # an object has no place in the file; its name does
    header = {
        "params": {name: _plain(value) for name, value in params.items()},
        **{name: float(getattr(model, name)) for name in _NUMBERS},
        **certificate(model),
        "rating_range_": list(model.rating_range_),
        "search_": [list(t) for t in model.search_],
    }
    U, V = model.factors_
    arrays = {
        "users": _text(model.users_),
        "items": _text(model.items_),
        "user_factors": U,
        "item_factors": V,
        "user_effects": model.user_effects_,
        "item_effects": model.item_effects_,
        "seen_start": model._seen[0],
        "seen_items": model._seen[1],
    }
    write_model(path, COMPLETER, header, arrays)


def read_completer(cls: type[C], path: str | os.PathLike[str]) -> C:
    """Read a `MatrixCompleter`, checking everything that it will rely on."""
    from frankwolfe.estimators.completion.completion_solver import Tried

    with opened_model(path, (COMPLETER,), f"a {COMPLETER}") as (header, arrays):
        model = cls(**plain_values(header["params"]))
        for name in _NUMBERS:
            setattr(model, name, finite_number(header[name]))
        set_certificate(model, header)
        low, high = map(finite_number, header["rating_range_"])
        model.rating_range_ = low, high
        model.search_ = [
            Tried(finite_number(t[0]), finite_number(t[1]), finite_number(t[2]), int(t[3])) for t in header["search_"]
        ]
        model._users, model._items = (Ids(_ids(arrays[name])) for name in ("users", "items"))
        m, n = len(model._users), len(model._items)
        U, V = arrays["user_factors"], arrays["item_factors"]
        rank = U.shape[1]
        model.factors_ = finite_array(U, (m, rank)), finite_array(V, (n, rank))
        model.user_effects_ = finite_array(arrays["user_effects"], (m,))
        model.item_effects_ = finite_array(arrays["item_effects"], (n,))
        model._seen = _pointers(arrays["seen_start"], arrays["seen_items"], m, n)
        model.rank_, model.result_ = rank, None
    return model


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _text(ids: list[Any]) -> np.ndarray:
    return np.frombuffer(json.dumps(ids).encode(), np.uint8)


def _ids(content: np.ndarray) -> list[Any]:
    ids = json.loads(bytes(content))
    if not isinstance(ids, list) or not ids or not all(isinstance(i, str | int | float) for i in ids):
        raise ValueError("the identifiers are not a list of text and numbers")
    return ids


def _pointers(start: np.ndarray, items: np.ndarray, m: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    sound = start.dtype.kind == items.dtype.kind == "i" and start.shape == (m + 1,) and items.ndim == 1
    if not sound or start[0] != 0 or start[-1] != items.size or np.any(np.diff(start) < 0):
        raise ValueError("the list of what each user has rated is broken")
    if items.size and not 0 <= items.min() <= items.max() < n:
        raise ValueError("a rated item does not exist")
    return start, items

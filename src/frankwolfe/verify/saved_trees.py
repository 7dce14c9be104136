"""Trees of names, numbers and arrays in one file: NumPy's .npz with a JSON header, no pickle.

A tree is a dict, list, str, number, bool, None, NumPy array or SciPy sparse matrix, nested as you like.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from frankwolfe.verify.matrices import Blocks

FORMAT = 2


def packed(tree: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a tree as the header and the arrays of a file."""
    arrays: list[np.ndarray] = []
    body = json.dumps(_plain(tree, arrays))
    header = {"frankwolfe": "result", "format": FORMAT, "tree": body, "seal": _seal(body, arrays)}
    return header, {f"a{i}": part for i, part in enumerate(arrays)}


def read(path: str | os.PathLike[str]) -> Any:
    """Return the tree in a file; a ValueError says what is wrong with it."""
    target = Path(path)
    try:
        with open(target, "rb") as raw, np.load(raw, allow_pickle=False) as file:
            header = json.loads(bytes(file["header"])) if "header" in file.files else {}
            if not isinstance(header, dict) or header.get("frankwolfe") != "result":
                raise ValueError("it holds something else")
            arrays = [file[f"a{i}"] for i in range(len(file.files) - 1)]
    except FileNotFoundError:
        raise FileNotFoundError(f"{target} does not exist; Result.save writes such files") from None
    except (ValueError, OSError, KeyError, EOFError, zipfile.BadZipFile, TypeError) as error:
        reason = " ".join(str(error).split())[:150]
        raise ValueError(f"{target} is damaged or not a file that Result.save wrote ({reason})") from None
    if header.get("format") != FORMAT:
        raise ValueError(f"{target} was written by another version of frankwolfe; read it with that one")
    if header.get("seal") != _seal(header["tree"], arrays):
        raise ValueError(f"{target} is damaged: its content is not what was written")
    return _tree(json.loads(header["tree"]), arrays)


def _plain(value: Any, arrays: list[np.ndarray]) -> Any:
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, np.generic):
        return _plain(value.item(), arrays)
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "fiubU":
            raise TypeError(f"a file cannot hold an array of dtype {value.dtype}")
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, Blocks):
        return _plain(value.in_memory(), arrays)
    if hasattr(value, "tocoo"):
        entries = value.tocoo()
        parts = [np.asarray(part) for part in (entries.data, entries.row, entries.col)]
        return {"sparse": [_plain(part, arrays) for part in parts], "shape": [int(n) for n in value.shape]}
    if isinstance(value, dict):
        return {"dict": {str(name): _plain(item, arrays) for name, item in value.items()}}
    if isinstance(value, list | tuple):
        return {"list": [_plain(item, arrays) for item in value]}
    raise TypeError(f"a file cannot hold a {type(value).__name__}")


def _tree(node: Any, arrays: list[np.ndarray]) -> Any:
    if not isinstance(node, dict):
        return node
    if "float" in node:
        return float.fromhex(node["float"])
    if "array" in node:
        return arrays[node["array"]]
    if "dict" in node:
        return {name: _tree(item, arrays) for name, item in node["dict"].items()}
    if "sparse" in node:
        from scipy.sparse import coo_array

        data, rows, cols = (_tree(part, arrays) for part in node["sparse"])
        return coo_array((data, (rows, cols)), shape=tuple(node["shape"]))
    return [_tree(item, arrays) for item in node["list"]]


def _seal(body: str, arrays: list[np.ndarray]) -> str:
    digest = hashlib.sha256(body.encode())
    for part in arrays:
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()

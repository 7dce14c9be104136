"""Outcomes on disk: whole or not at all, full precision, keyed by settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import frankwolfe
from frankwolfe.paper import store as module
from frankwolfe.paper.store import Outcome, Store, read_csv, write_csv


@dataclass(frozen=True)
class Square:
    number: float
    name = "square"

    @property
    def settings(self) -> dict[str, Any]:
        return {"number": self.number}

    def compute(self, directory: str | None) -> Outcome:
        return Outcome({"square": self.number**2}, {"k": np.arange(3.0), "y": np.array([0.1, np.nan, 1 / 3])})


def test_what_goes_in_comes_out(tmp_path):
    store, task = Store(tmp_path), Square(3.0)
    assert store.get(task) is None
    store.put(task, task.compute(None))
    found = store.get(task)
    assert found is not None
    assert found.facts == {"square": 9.0}
    np.testing.assert_array_equal(found["y"], [0.1, np.nan, 1 / 3])


def test_other_settings_version_or_format_is_other_work(tmp_path, monkeypatch):
    store = Store(tmp_path)
    names = {store.stem(Square(3.0)), store.stem(Square(4.0))}
    monkeypatch.setattr(frankwolfe, "__version__", "9.9")
    names.add(store.stem(Square(3.0)))
    monkeypatch.setattr(module, "FORMAT", 99)
    names.add(store.stem(Square(3.0)))
    store.source = "other code"
    names.add(store.stem(Square(3.0)))
    assert len(names) == 5


@pytest.mark.parametrize("damage", ["json", "csv", "columns"])
def test_a_damaged_file_is_done_again(tmp_path, damage):
    store, task = Store(tmp_path), Square(3.0)
    store.put(task, task.compute(None))
    if damage == "json":
        store.path(task, ".json").write_text("{")
    elif damage == "csv":
        store.path(task, ".csv").write_text("k,y\n1,x\n")
    else:
        path = store.path(task, ".json")
        path.write_text(json.dumps({**json.loads(path.read_text()), "columns": ["k"]}))
    assert store.get(task) is None


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.csv"
    write_csv(path, {"y": [1.0]})
    with pytest.raises(TypeError):
        write_csv(path, {"y": [2.0, object()]})
    assert read_csv(path)["y"] == [1.0]

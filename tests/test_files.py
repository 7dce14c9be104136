"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from frankwolfe.files import replacing


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ZeroDivisionError])
def test_an_interrupted_write_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    def write() -> None:
        with replacing(tmp_path / "x") as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write()
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    with replacing(tmp_path / "x") as file:
        file.write(b"old")
    with pytest.raises(OSError, match="disk full"), replacing(tmp_path / "x", durable=True) as file:
        raise OSError("disk full")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("x", b"old")]

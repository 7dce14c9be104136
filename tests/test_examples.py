"""The scripts in examples/ run, say in one sentence what came out and mean it, and draw something."""

import contextlib
import io
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from tests.markdown import difference

import frankwolfe as fw

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(path for path in FOLDER.rglob("*.py") if not path.stem.startswith("torch_"))  # those: tests/backends


def test_there_are_examples_of_many_kinds():
    assert len(EXAMPLES) >= 20
    assert all((path.parent / "GALLERY_HEADER.rst").exists() for path in EXAMPLES)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_it_uses_public_names_alone(script):
    text = script.read_text(encoding="utf-8")
    assert "import frankwolfe as fw" in text
    assert not re.search(r"from frankwolfe|frankwolfe\._|fw\._", text)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_its_result_is_what_it_says(script, tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close("all")
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            space = runpy.run_path(str(script), run_name="__main__")
        said = re.search(r"^Result: (.*)\Z", printed.getvalue().strip(), re.MULTILINE | re.DOTALL)
        claimed = re.search(r"\*\*Result\.\*\* (.*)\Z", space["__doc__"].strip(), re.DOTALL)
        assert said
        assert claimed
        assert not difference(claimed[1], said[1]), f"{claimed[1]!r} is not {said[1]!r}"
        assert plt.get_fignums()
        _assert_not_blank(plt.figure(plt.get_fignums()[0]), tmp_path / "picture.png")
    finally:
        plt.close("all")
    result = space.get("result")
    if isinstance(result, fw.Result):
        assert result.gap >= 0


def _assert_not_blank(figure, picture):
    from matplotlib.image import imread

    figure.savefig(picture, dpi=60)
    pixels = imread(picture)[..., :3]
    assert min(pixels.shape[:2]) >= 150
    assert np.std(pixels) > 0.03
    assert len(np.unique((255 * pixels).astype(np.uint8).reshape(-1, 3), axis=0)) > 20

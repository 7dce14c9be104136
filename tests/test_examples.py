"""The scripts in examples/ run, certify what they print, and draw something."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if not path.stem.startswith("torch_"))  # those: tests/backends
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_example_certifies_its_answer_and_draws_it(script, tmp_path):
    for package in ("matplotlib.image", "sklearn"):
        pytest.importorskip(package)
    picture = tmp_path / "picture.png"
    run = subprocess.run(
        [sys.executable, script, "--out", picture], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    gaps = [float(gap) for gap in re.findall(rf"certified gap: ({NUMBER})", run.stdout)]
    assert gaps, run.stdout
    assert 0 <= max(gaps) <= 1e-3
    assert min(gaps) >= 0
    _assert_not_blank(picture)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_example_says_what_it_does(script):
    text = script.read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert f"python examples/{script.name} [--out PICTURE.png]" in text


def _assert_not_blank(picture):
    from matplotlib.image import imread

    pixels = imread(picture)[..., :3]
    assert min(pixels.shape[:2]) >= 200
    assert np.std(pixels) > 0.03
    assert len(np.unique((255 * pixels).astype(np.uint8).reshape(-1, 3), axis=0)) > 20

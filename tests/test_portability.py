"""The same verdicts on other processors: a part of `make portability`, every time."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.portability import OTHER_PROCESSORS, Configuration, run

FILES = [
    *(f"tests/methods/test_{name}.py" for name in ("active_set", "family", "variants", "subspace")),
    *(f"tests/kernels/test_{name}.py" for name in ("pattern_products", "simplex_qp")),
]
TESTS = "never_exceed or certified or behind_exact or lanczos_is or simplex_qp"


@pytest.mark.slow
@pytest.mark.parametrize("processor", OTHER_PROCESSORS, ids=lambda processor: processor.name)
def test_certificates_hold(processor: Configuration, tmp_path: Path) -> None:
    if processor.missing:
        pytest.skip(processor.missing)
    done = run(processor, tmp_path, "pytest", "-q", "-p", "no:cacheprovider", *FILES, "-k", TESTS, "-m", "not data")
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]

"""Compiled code: the same bits whether compiled or loaded, never out of date, and no need of a place to keep it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import caching
from numba.core.dispatcher import Dispatcher
from tests.kernels import bits

from frankwolfe.backends.compile_policy import CompileClock
from frankwolfe.kernels import compiling


def printed(cache: Path, *arguments: object) -> str:
    """Return what a fresh process prints that keeps compiled code in this folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_code_just_compiled_gives_the_bits_of_code_loaded(tmp_path: Path) -> None:
    """The two kernels for which it did not; `make portability` does this for all."""
    first, later = (printed(tmp_path, bits.__file__, "dense_gram", "intercepts") for _ in range(2))
    assert first == later
    assert len(first.splitlines()) == 2


def test_no_kernel_carries_a_copy_of_another() -> None:
    """A copy would be replaced by any other one of the same name that is in memory already, with other last bits."""
    for family in bits.FAMILIES:
        bits.digest(family())
    modules = [module for name, module in sys.modules.items() if name.startswith("frankwolfe.kernels.")]
    kernels = {
        id(thing): thing for module in modules for thing in vars(module).values() if isinstance(thing, Dispatcher)
    }
    code = [result for kernel in kernels.values() for result in kernel.overloads.values()]
    assert len(code) > 30
    for result in code:
        own = result.fndesc.mangled_name
        inside = [f.name for f in result.library._get_module_for_linking().functions if not f.is_declaration]
        assert own in inside
        assert [name for name in inside if name.startswith("_ZN10frankwolfe") and name != own] == []


def test_a_kernel_is_compiled_again_when_what_it_calls_has_changed(tmp_path: Path) -> None:
    package = tmp_path / "sample"
    package.mkdir()
    shutil.copy(compiling.__file__, package / "compiling.py")
    (package / "caller.py").write_text(
        "from sample import callee\nfrom sample.compiling import kernel\n\n\n"
        "@kernel()\ndef twice(x):\n    return 2.0 * callee.shifted(x)\n"
    )
    run = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from sample.caller import twice; print(twice(1.0))"
    for shift in (1.0, 2.0):
        (package / "callee.py").write_text(
            f"from sample.compiling import kernel\n\n\n@kernel()\ndef shifted(x):\n    return x + {shift}\n"
        )
        for _ in range(2):
            assert float(printed(tmp_path / "cache", "-c", run)) == 2.0 * (1.0 + shift)


def test_kernels_work_where_no_folder_can_be_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    total = compiling.kernel()(lambda x: x.sum())
    assert total(np.arange(4.0)) == 6.0


def test_the_clock_tells_once_of_kernels_that_have_others_compiled() -> None:
    clock, told = CompileClock(), []
    with clock.told(told.append):
        clock.start()
        clock.start()
        clock.stop()
        clock.stop()
    assert told == [True, False]
    assert clock.seconds > 0

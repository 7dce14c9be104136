"""The precision of float32 products, which libraries leave to settings of theirs, is set explicitly while a run lasts.

JAX multiplies float32 matrices on a GPU with ten bits of mantissa (TF32) unless it is told otherwise, torch and CuPy do
so where the user has allowed it. No bound could be proven from such products. Double precision is never rounded so.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """What a library has one of for all threads: how to read and write it, its values for exact and fast products."""

    read: Callable[[], Any]
    write: Callable[[Any], None]
    exact: Any
    fast: Any


_lock = threading.Lock()  # held while settings are changed, never while work is done
_runs: Counter[int] = Counter()  # how often each thread is inside `exact_products`
_users: dict[str, Any] = {}  # the user's values of the settings that were changed
_local = threading.local()  # JAX has a setting for each thread: the user's values, outermost first


@contextlib.contextmanager
def exact_products() -> Iterator[None]:
    """Round float32 products as float32 numbers inside, whatever the settings of the libraries that are in use."""
    thread = threading.get_ident()
    with _lock:
        _runs[thread] += 1
        for name, setting in _settings().items():
            if name not in _users:
                _users[name] = setting.read()
            setting.write(setting.exact)
    jax = _loaded("jax")
    try:
        if jax is None:
            yield
        else:
            users = vars(_local).setdefault("users", [])
            users.append(jax.config.jax_default_matmul_precision)
            try:
                with jax.default_matmul_precision("highest"):
                    yield
            finally:
                users.pop()
    finally:
        with _lock:
            _runs.subtract([thread])
            if not +_runs:
                _runs.clear()
                for name, setting in _settings().items():
                    if name in _users:
                        setting.write(_users.pop(name))


@contextlib.contextmanager
def fast_products() -> Iterator[None]:
    """Let torch use TF32 on a GPU inside a run, for what proves nothing."""
    with _changed({name: setting.fast for name, setting in _settings().items() if name == "torch cuda"}):
        yield


@contextlib.contextmanager
def users_products() -> Iterator[None]:
    """Give the user's own settings back inside a run, for a function of the user's on which no bound rests."""
    jax, users = _loaded("jax"), vars(_local).get("users")
    with _changed(dict(_users)), jax.default_matmul_precision(users[-1]) if users else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def _changed(values: dict[str, Any]) -> Iterator[None]:
    """Change settings inside a run, unless another thread's run needs them as they are."""
    known = _settings()
    with _lock:
        alone = set(+_runs) == {threading.get_ident()}
        for name, value in values.items() if alone else ():
            known[name].write(value)
    try:
        yield
    finally:
        with _lock:
            for name in values if alone else ():
                known[name].write(known[name].exact)


def _settings() -> dict[str, Setting]:
    """Return the settings of the libraries that are in use and have one for all threads."""
    found = {}
    torch, cupy = _loaded("torch"), _loaded("cupy")
    if torch is not None and hasattr(torch.backends.cuda.matmul, "fp32_precision"):
        found["torch cuda"] = _attribute(torch.backends.cuda.matmul, "fp32_precision", "ieee", "tf32")
        found["torch cpu"] = _attribute(torch.backends.mkldnn.matmul, "fp32_precision", "ieee", "tf32")
    elif torch is not None:
        read, write = torch.get_float32_matmul_precision, torch.set_float32_matmul_precision
        found["torch cuda"] = Setting(read, write, "highest", "high")
    if cupy is not None and cupy.cuda.is_available():
        from cupy._core import _routines_linalg as linalg

        read, write = partial(linalg.get_compute_type, "f"), partial(linalg.set_compute_type, "f")
        found["cupy"] = Setting(read, write, linalg.COMPUTE_TYPE_DEFAULT, linalg.COMPUTE_TYPE_TF32)
    return found


def _attribute(owner: Any, name: str, exact: Any, fast: Any) -> Setting:
    return Setting(partial(getattr, owner, name), partial(setattr, owner, name), exact, fast)


def _loaded(name: str) -> Any:
    """Return a module that has been imported; None for one that has not, or not to its end."""
    module = sys.modules.get(name)
    return None if module is None or getattr(module.__spec__, "_initializing", False) else module

"""Ctrl-C: the first one stops after the step, and what the user has said about it holds."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import frankwolfe as fw
from frankwolfe.terminal import interruptible


@pytest.fixture(autouse=True)
def _handler_stays() -> Iterator[None]:
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted_run(at: int = 3) -> fw.Result:
    f = fw.LeastSquares(np.eye(3), [5.0, 1.0, 0.0])

    def press(view: Any) -> None:
        if view.k == at:
            signal.raise_signal(signal.SIGINT)

    return fw.minimize(f, fw.L2Ball(1.0), method="fw", tol=0.0, max_iter=20, callback=press)


def test_the_first_one_stops_after_the_step() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    result = interrupted_run()
    assert result.status is fw.Status.INTERRUPTED
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_one_that_the_user_ignores_is_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert interrupted_run().status is not fw.Status.INTERRUPTED
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_handler_of_the_users_own_is_called() -> None:
    seen = []

    def handler(number: int, frame: Any) -> None:
        seen.append(number)

    signal.signal(signal.SIGINT, handler)
    assert interrupted_run().status is fw.Status.INTERRUPTED
    assert seen == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is handler
    with interruptible() as outer, interruptible() as inner:
        signal.raise_signal(signal.SIGINT)
        assert outer.is_set()
        assert inner.is_set()
    assert seen == [signal.SIGINT] * 2
    assert signal.getsignal(signal.SIGINT) is handler


def test_a_handler_from_elsewhere_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was installed from C is None here, and could not be put back."""
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    monkeypatch.setattr(signal, "signal", lambda number, handler: pytest.fail("the handler was replaced"))
    with interruptible() as asked:
        assert not asked.is_set()

"""A browser for tests: Debian's Chromium over its debugging pipe, which needs no driver and no package."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
from pathlib import Path
from time import monotonic, sleep
from typing import Any


def chromium() -> str | None:
    """Return the path of a Chromium, or None."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return next((path for path in found if path), None)


def _high(*descriptors: int) -> list[int]:
    """Move descriptors out of the way of the low numbers that the browser expects."""
    moved = [fcntl.fcntl(d, fcntl.F_DUPFD_CLOEXEC, 20) for d in descriptors]
    for d in descriptors:
        os.close(d)
    return moved


class Browser:
    """One page in a headless Chromium; remembers console messages, errors and every request."""

    def __init__(self, width: int = 1200, height: int = 900) -> None:
        path = chromium()
        assert path is not None
        self.folder = tempfile.mkdtemp()
        to_browser, self._write = _high(*os.pipe())
        self._read, from_browser = _high(*os.pipe())
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"]
        flags += ["--hide-scrollbars", "--disable-background-networking", "--disable-component-update"]
        flags += [f"--user-data-dir={self.folder}", f"--window-size={width},{height}", "--remote-debugging-pipe"]
        # Chromium reads commands from descriptor 3 and answers on 4.
        wiring = [(os.POSIX_SPAWN_DUP2, to_browser, 3), (os.POSIX_SPAWN_DUP2, from_browser, 4)]
        wiring += [(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_WRONLY, 0) for n in (1, 2)]
        self.pid = os.posix_spawn(path, [path, *flags, "about:blank"], os.environ, file_actions=wiring)
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._number = b"", 0
        self.complaints: list[str] = []
        self.requests: list[str] = []
        target = self._page()
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def _page(self) -> str:
        self.session = None
        until = monotonic() + 60
        while monotonic() < until:
            pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
            if pages:
                return pages[0]["targetId"]
            sleep(0.1)
        raise TimeoutError("the browser did not open a page")

    def resize(self, width: int, height: int, *, phone: bool = False) -> None:
        scale = 2 if phone else 1
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone
        )

    def open(self, path: Path) -> None:
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait_for("document.readyState === 'complete'")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._read], [], [], 120)[0]:
                raise TimeoutError("the browser does not answer")
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser has gone")
            self._buffer += chunk
        text, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(text)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(params["exceptionDetails"])[:500])
            case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                self.complaints.append(json.dumps(params["args"])[:500])
            case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                self.complaints.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"][:200])

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def wait_for(self, condition: str, seconds: float = 60) -> None:
        until = monotonic() + seconds
        while not self.evaluate(condition):
            if monotonic() > until:
                raise TimeoutError(f"the page never came to: {condition}")
            sleep(0.1)

    def click(self, x: float, y: float) -> None:
        """Press and release the mouse at a place in the window."""
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            button = "none" if kind == "mouseMoved" else "left"
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self.session = None
            self.call("Browser.close")
        until = monotonic() + 10
        while os.waitpid(self.pid, os.WNOHANG) == (0, 0):
            if monotonic() > until:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                break
            sleep(0.05)
        os.close(self._read)
        os.close(self._write)
        shutil.rmtree(self.folder, ignore_errors=True)

"""A private cache for every test, tiny datasets with known names, and a web server that can misbehave."""

import hashlib
import http.server
import os
import threading
from pathlib import Path

import pytest

from frankwolfe.datasets import DataFile, DatasetInfo, registry

DATA = os.environ.get("FRANKWOLFE_DATA")
TINY = b"1 1:0.5 3:17\n2 2:4\n1 1:-1e-3\n2 1:1 2:1 3:1\n"


@pytest.fixture(autouse=True)
def isolated(monkeypatch, tmp_path):
    """No test sees the user's data or cache, or a proxy."""
    monkeypatch.delenv("FRANKWOLFE_DATA", raising=False)
    monkeypatch.setenv("FRANKWOLFE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def cache(tmp_path) -> Path:
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def data() -> Path:
    """The directory with the real data."""
    if not DATA or not Path(DATA).is_dir():
        pytest.skip(f"the real datasets are needed: FRANKWOLFE_DATA is {DATA!r}, not a directory")
    return Path(DATA)


def data_file(name, content, urls=(), stems=None, member=""):
    sha256 = hashlib.sha256(content).hexdigest()
    packed = None if Path(name).suffix else sha256
    return DataFile(name, tuple(urls), len(content), sha256, (name,) if stems is None else stems, member, packed)


@pytest.fixture
def register(monkeypatch):
    """Make a dataset known by name for one test."""

    def add(name, kind, shape, nonzeros, classes, files):
        entry = DatasetInfo(name, kind, *shape, nonzeros, classes, files, "made up", "a test")
        monkeypatch.setitem(registry.REGISTRY, name, entry)
        return entry

    return add


@pytest.fixture
def tiny(register):
    """A known LIBSVM dataset, without an address unless one is given; ``tiny.content`` is its file."""

    def add(*urls):
        register("tiny", "libsvm", (4, 3), 7, {1: 2, 2: 2}, {"data": data_file("tiny", TINY, urls)})
        return TINY

    return add


@pytest.fixture
def make_file():
    return data_file


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(self.path)
        answer = self.server.answers.get(self.path)
        if answer is None:
            self.send_error(404, "Not Found")
            return
        body, sent = answer
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body[:sent])

    def log_message(self, *args):
        pass


class Server:
    """Serves bytes; ``drop_after`` closes the connection in the middle of them."""

    def __init__(self, httpd):
        self.httpd = httpd
        httpd.answers = {}
        httpd.requests = []

    @property
    def requests(self):
        return self.httpd.requests

    def serve(self, name, body, drop_after=None):
        self.httpd.answers["/" + name] = (body, drop_after)
        return self.url(name)

    def url(self, name):
        return f"http://127.0.0.1:{self.httpd.server_address[1]}/{name}"


@pytest.fixture
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield Server(httpd)
        httpd.shutdown()
        thread.join()

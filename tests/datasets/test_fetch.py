"""Downloads from a server that may misbehave: a clear error, and a clean cache."""

import bz2
import io
import socket
import zipfile

import pytest

from frankwolfe.datasets import DataFile, DatasetError, files, load, readers

REMEDY = (
    "put it (packed or not) in a directory, and name that directory "
    "with directory=... or in the environment variable FRANKWOLFE_DATA"
)


def files_in(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def downloads_in(folder):
    return [name for name in files_in(folder) if name.startswith("downloads")]


def test_a_download_happens_once(server, tiny, cache):
    tiny(server.serve("tiny", tiny()))
    for _ in range(3):
        assert load("tiny").shape == (4, 3)
    assert server.requests == ["/tiny"]
    assert downloads_in(cache) == ["downloads/tiny"]
    assert load("tiny", download=False, cache=False).shape == (4, 3)


def test_a_packed_download_is_checked_by_its_content(server, register, make_file, tiny, cache):
    raw = bz2.compress(tiny(), compresslevel=1)
    file = make_file("tiny.bz2", tiny(), [server.serve("tiny.bz2", raw)])
    register("tiny", "libsvm", (4, 3), 7, {1: 2, 2: 2}, {"data": file})
    assert load("tiny").shape == (4, 3)
    assert (cache / "downloads" / "tiny.bz2").read_bytes() == raw


def test_a_local_file_comes_first(server, tiny, tmp_path, monkeypatch):
    content = tiny(server.serve("tiny", tiny()))
    (tmp_path / "tiny.bz2").write_bytes(bz2.compress(content))
    monkeypatch.setenv("FRANKWOLFE_DATA", str(tmp_path))
    assert load("tiny").shape == (4, 3)
    (tmp_path / "other").mkdir()
    assert server.requests == []
    assert load("tiny", directory=tmp_path / "other").shape == (4, 3)
    assert server.requests == ["/tiny"]


def wrong_content(server, content):
    return server.serve("tiny", content.replace(b"17", b"18")), "the content is not the published tiny"


def web_page(server, content):
    return server.serve("tiny", b"<html>We have moved</html>"), "the content is not the published tiny"


def dropped(server, content):
    return server.serve("tiny", content, drop_after=len(content) // 2), "download failed (the connection broke off)"


def empty(server, content):
    return server.serve("tiny", b""), "the content is not the published tiny"


def absent(server, content):
    return server.url("tiny"), "download failed (404 Client Error: Not Found"


def refused(server, content):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    return f"http://127.0.0.1:{port}/tiny", "download failed (no connection)"


def no_such_scheme(server, content):
    return "gopher://127.0.0.1/tiny", "download failed"


@pytest.mark.parametrize("fault", [wrong_content, web_page, dropped, empty, absent, refused, no_such_scheme])
def test_a_failed_download_says_what_to_do_and_leaves_the_cache_clean(fault, server, tiny, cache):
    url, message = fault(server, tiny())
    content = tiny(url)
    with pytest.raises(DatasetError) as error:
        load("tiny")
    text = str(error.value)
    assert text.startswith(f"tiny is not on this machine, and {url}: ")
    assert message in text
    assert f"get {url} by other means" in text
    assert REMEDY in text
    assert "\n" not in text
    assert not cache.exists() or files_in(cache) == []
    tiny(server.serve("tiny", content))
    assert load("tiny").shape == (4, 3)


def test_the_message_says_where_it_looked(tiny, tmp_path):
    tiny("http://127.0.0.1:9/tiny")
    with pytest.raises(DatasetError) as error:
        load("tiny", directory=tmp_path, download=False)
    assert str(error.value).startswith(
        f"tiny is not in {str(tmp_path)!r}, and download=False; get http://127.0.0.1:9/tiny"
    )


def test_mirrors_are_tried_in_order(server, tiny):
    good = server.serve("good", tiny())
    tiny(server.url("absent"), server.serve("bad", b"junk"), good, server.serve("unused", tiny()))
    assert load("tiny").shape == (4, 3)
    assert server.requests == ["/absent", "/bad", "/good"]


def test_a_damaged_cached_download_is_fetched_again(server, tiny, cache):
    content = tiny(server.serve("tiny", tiny()))
    cached = cache / "downloads" / "tiny"
    cached.parent.mkdir(parents=True)
    for damaged in (b"", content[:-4], content.replace(b"17", b"18"), b"junk"):
        cached.write_bytes(damaged)
        with pytest.raises(DatasetError):
            load("tiny", download=False)
        assert load("tiny").shape == (4, 3)
        assert cached.read_bytes() == content


def test_a_damaged_archive_in_the_cache_is_fetched_again(server, register, make_file, tiny, cache):
    content = tiny()
    raw = bz2.compress(content)
    file = make_file("tiny.bz2", content, [server.serve("tiny.bz2", raw)])  # of which no hash is published
    register("tiny", "libsvm", (4, 3), 7, {1: 2, 2: 2}, {"data": file})
    cached = cache / "downloads" / "tiny.bz2"
    cached.parent.mkdir(parents=True)
    for damaged in (raw[:-4], bz2.compress(b"junk"), bz2.compress(content.replace(b"17", b"18"))):
        cached.write_bytes(damaged)
        assert load("tiny").shape == (4, 3)
        assert cached.read_bytes() == raw


def test_a_file_that_is_not_the_published_one_is_not_unpacked(server, register, tiny, monkeypatch):
    raw = bz2.compress(tiny())
    file = DataFile("t.bz2", (server.serve("t.bz2", raw),), 1, "0" * 64, ("t",), packed="0" * 64)
    register("tiny", "libsvm", (4, 3), 7, {1: 2, 2: 2}, {"data": file})
    monkeypatch.setattr(readers, "unpack", None)
    with pytest.raises(DatasetError, match=r"the content is not the published t\.bz2"):
        load("tiny")


def test_an_interrupted_download_leaves_the_cache_clean(tiny, cache, monkeypatch):
    import pooch

    def interrupted(self, url, output_file, pooch):
        output_file.write(b"1 1:0.5")
        raise KeyboardInterrupt

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", interrupted)
    tiny("http://127.0.0.1:9/tiny")
    with pytest.raises(KeyboardInterrupt):
        load("tiny")
    assert files_in(cache) == []


def test_a_silent_server_is_given_up(tiny, monkeypatch):
    monkeypatch.setattr(files, "_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        tiny(f"http://127.0.0.1:{silent.getsockname()[1]}/tiny")
        with pytest.raises(DatasetError, match=r"download failed \(no answer within 0\.2 seconds\)"):
            load("tiny")


def test_endless_downloads_are_stopped(server, tiny, monkeypatch):
    monkeypatch.setattr(files, "_LARGEST_DOWNLOAD", 1000)
    tiny(server.serve("tiny", bytes(2000)))
    with pytest.raises(DatasetError, match=r"download failed \(more than 1000 bytes\)"):
        load("tiny")


def test_downloaded_bombs_are_stopped(server, register, make_file, tiny):
    file = make_file("tiny.bz2", tiny(), [server.serve("tiny.bz2", bz2.compress(bytes(10**8)))])
    register("tiny", "libsvm", (4, 3), 7, {1: 2, 2: 2}, {"data": file})
    with pytest.raises(DatasetError, match="bytes unpacked, far beyond the published file"):
        load("tiny")


def test_a_cache_that_cannot_be_written_still_lets_us_download(server, tiny, tmp_path, monkeypatch):
    (tmp_path / "blocked").write_bytes(b"")
    monkeypatch.setenv("FRANKWOLFE_CACHE", str(tmp_path / "blocked"))
    tiny(server.serve("tiny", tiny()))
    assert load("tiny").shape == (4, 3)


def test_progress_is_shown_when_asked_for(server, tiny, capsys, cache):
    tiny(server.serve("tiny", tiny()))
    load("tiny", progress=False)
    assert capsys.readouterr().err == ""
    (cache / "downloads" / "tiny").unlink()
    load("tiny")  # not a terminal
    assert capsys.readouterr().err == ""
    (cache / "downloads" / "tiny").unlink()
    load("tiny", progress=True)
    assert "tiny:" in capsys.readouterr().err


@pytest.mark.parametrize("package", ["pooch", "tqdm"])
def test_a_missing_extra_names_the_remedy(package, tiny, server, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    tiny(server.serve("tiny", tiny()))
    with pytest.raises(ImportError, match=rf'{package}; install it with: pip install "frankwolfe\[data\]"'):
        load("tiny", progress=True)


def test_a_zip_of_several_files_is_fetched_once(server, register, make_file):
    parts = {"u.data": b"1\t1\t5\t0\n" + b"".join(b"%d\t2\t3\t0\n" % i for i in (1, 2, 3, 4))}
    lines = parts["u.data"].splitlines(keepends=True)
    parts |= {"u1.base": b"".join(lines[:4]), "u1.test": lines[4]}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            archive.writestr(f"ml/{name}", content)
    url = server.serve("ml.zip", out.getvalue())
    files = {name: make_file("ml.zip", content, [url], (name,), f"ml/{name}") for name, content in parts.items()}
    register("ml", "ratings", (4, 2), 5, {}, files)
    assert load("ml", raw=True).values.tolist() == [5, 3, 3, 3, 3]
    assert load("ml", raw=True, split="u1.test").rows.tolist() == [3]
    assert load("ml", raw=True, split="u1.base").rows.tolist() == [0, 0, 1, 2]
    assert server.requests == ["/ml.zip"]

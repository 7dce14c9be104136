"""The command line as a person meets it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

import frankwolfe
import frankwolfe.datasets
from frankwolfe.cli import library
from frankwolfe.cli.app import app
from frankwolfe.cli.output import polite


def call(*arguments):
    return CliRunner().invoke(app, list(arguments))


def run(*arguments, timeout=300):
    return subprocess.run(
        [sys.executable, "-m", "frankwolfe", *arguments], capture_output=True, text=True, timeout=timeout
    )


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("data", "list"),
        ("data", "info"),
        ("data", "fetch"),
        *(
            (name,)
            for name in (
                *("demo", "data", "reproduce", "fit", "predict", "path", "complete", "recommend", "bench"),
                *("compile", "verify"),
            )
        ),
    ],
)
def test_help_has_an_example(command):
    result = call(*command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.output
    assert " ".join(["frankwolfe", *command]) in result.output


def test_version():
    assert call("--version").output == f"frankwolfe {frankwolfe.__version__}\n"


def test_as_a_module():
    done = run("--help")
    assert done.returncode == 0
    assert "frankwolfe demo" in done.stdout


def test_demo_in_a_real_process(tmp_path):
    done = run("demo", "--small", "--out", str(tmp_path / "report"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report" / "index.html").exists()
    assert "[1/16]" in done.stderr
    assert "[16/16]" in done.stderr
    assert "[17/" not in done.stderr
    assert done.stdout.count("Accelerated FW") == 3
    assert "…" not in done.stdout  # nothing cut off at 80 columns
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 80


def test_demo_opens_the_report_only_if_asked(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr("frankwolfe.paper.demo.run", lambda out, **_: out / "index.html")
    monkeypatch.setattr(library.webbrowser, "open", opened.append)
    assert call("demo", "--out", str(tmp_path)).exit_code == 0
    assert not opened
    assert call("demo", "--out", str(tmp_path), "--open").exit_code == 0
    assert opened == [(tmp_path / "index.html").as_uri()]


def test_bad_folder_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("demo", "--quiet", "--small", "--out", str(tmp_path / "file"))
    assert done.returncode == 2
    assert done.stderr.startswith("frankwolfe: ")
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ValueError("bad\n  value"), 2, "frankwolfe: bad value"),
        (ImportError('install it with: pip install "frankwolfe[plot]"'), 2, 'pip install "frankwolfe[plot]"'),
        (FileNotFoundError(2, "No such file", "x"), 2, "No such file"),
        (TypeError(), 2, "frankwolfe: TypeError"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_are_lines(capsys, error, code, line):
    @polite
    def command():
        raise error

    with pytest.raises(typer.Exit) as caught:
        command()
    assert caught.value.exit_code == code
    shown = capsys.readouterr().err
    assert line in shown
    assert shown.count("\n") == 1


def test_data_list_and_info():
    assert all(name in call("data", "list").output for name in frankwolfe.datasets.names())
    assert "8124 x 112" in call("data", "info", "mushrooms").output
    assert "observed" in call("data", "info", "movielens100k").output


def test_data_for_machines(data_dir):
    listed = json.loads(call("data", "list", "--json").stdout)
    assert set(listed) == set(frankwolfe.datasets.names())
    assert json.loads(call("data", "info", "mushrooms", "--json").stdout)["rows"] == 8124
    assert json.loads(call("data", "fetch", "mushrooms", "--json").stdout)["nonzeros"] == 170604
    assert call("data", "fetch", "mushrooms", "--quiet").output == ""


def test_unknown_dataset_is_one_line():
    for command in ("info", "fetch"):
        result = call("data", command, "mushroms")
        assert result.exit_code == 2
        assert "did you mean 'mushrooms'" in result.output
        assert "Traceback" not in result.output


def test_missing_typer_names_the_remedy():
    code = "import sys; sys.modules['typer'] = None; from frankwolfe.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == 'frankwolfe: this needs typer; install it with: pip install "frankwolfe[cli]"\n'

"""complete, recommend, predict with a recommender, and bench, on the command line."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from tests.cli.commands import call, refused

from frankwolfe.cli import library
from frankwolfe.estimators import MatrixCompleter

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def ratings():
    g = np.random.default_rng(0)
    taste = g.standard_normal((25, 2)) @ g.standard_normal((2, 15))
    rows, cols = np.nonzero(g.random(taste.shape) < 0.7)
    stars = np.clip(np.rint(3 + taste[rows, cols]), 1, 5).astype(int)
    return pandas.DataFrame({"userId": 100 + rows, "movieId": [f"film {c}" for c in cols], "rating": stars})


@pytest.fixture(scope="module")
def model(ratings, tmp_path_factory):
    here = tmp_path_factory.mktemp("ratings")
    ratings.to_csv(here / "ratings.csv", index=False)
    call("complete", here / "ratings.csv", "--out", here / "m.npz", "--quiet")
    return here / "m.npz"


def test_complete_is_what_python_would_have_fitted(model, ratings):
    told = MatrixCompleter.load(model)
    mine = MatrixCompleter().fit(ratings["userId"].to_numpy(), list(ratings["movieId"]), ratings["rating"])
    assert told.predict(100, "film 3") == pytest.approx(mine.predict(100, "film 3"))


def test_facts_and_test_error(model, ratings, tmp_path):
    file = model.parent / "ratings.csv"
    said = json.loads(call("complete", file, "--test", file, "--radius", 5, "--json").stdout)
    assert (said["ratings"], said["users"], said["items"]) == (len(ratings), 25, 15)
    fitted = MatrixCompleter(5.0).fit(ratings["userId"].to_numpy(), list(ratings["movieId"]), ratings["rating"])
    assert said["test_rmse"] == pytest.approx(-fitted.score(ratings), rel=1e-6)
    shown = call("complete", file, "--rank-limit", 1, "--no-effects", "--radius", 5).stdout
    assert "rank" in shown
    assert "validation" not in shown


def test_recommend(model):
    text = call("recommend", model, 100, "-n", 3).stdout
    wanted = MatrixCompleter.load(model).recommend(100, 3)
    assert [item for item, _ in wanted] == [line.rsplit(None, 1)[0] for line in text.splitlines()[1:]]
    said = json.loads(call("recommend", model, 100, "-n", 2, "--seen", "--json").stdout)
    assert said["known"] is True
    assert len(said["items"]) == 2


def test_an_unknown_user_is_served(model):
    result = call("recommend", model, "nobody", "-n", 2)
    assert "not in the model" in result.stderr
    assert len(result.stdout.splitlines()) == 3


def test_predict_pairs(model, tmp_path):
    (tmp_path / "pairs.csv").write_text("movieId,userId\nfilm 3,100\nfilm 4,100\nnew,nobody\n")
    lines = call("predict", model, tmp_path / "pairs.csv").stdout.splitlines()
    assert lines[0] == "user,item,rating"
    assert float(lines[1].split(",")[2]) == pytest.approx(MatrixCompleter.load(model).predict(100, "film 3"))
    assert len(lines) == 4


def test_text_without_a_header_and_other_separators(ratings, tmp_path):
    numbered = ratings.assign(movieId=[int(name.split()[1]) for name in ratings["movieId"]], time=881250949)
    numbered.to_csv(tmp_path / "u.data", sep="\t", header=False, index=False)
    (tmp_path / "ratings.dat").write_text(
        "".join(f"{u}::{i}::{r}::{t}\n" for u, i, r, t in numbered.itertuples(index=False))
    )
    numbered.to_parquet(tmp_path / "r.parquet")
    said = [
        json.loads(call("complete", tmp_path / name, "--radius", 4, "--json").stdout)
        for name in ("u.data", "ratings.dat", "r.parquet")
    ]
    assert said[0]["ratings"] == len(ratings)
    assert said[0]["gap"] == pytest.approx(said[1]["gap"])
    assert said[0]["rank"] == said[1]["rank"] == said[2]["rank"]


def test_colons_in_names_are_left_alone(tmp_path):
    (tmp_path / "r.csv").write_text("user,item,rating\na,std::vector,1\nb,std::vector,5\nb,x,3\n")
    call("complete", tmp_path / "r.csv", "--radius", 1, "--out", tmp_path / "m.npz", "--quiet")
    assert "std::vector" in MatrixCompleter.load(tmp_path / "m.npz").items_


def test_ids_are_kept_as_they_are_written(tmp_path):
    (tmp_path / "r.csv").write_text("user,item,rating\n007,a,1\n7,a,5\n7,b,3\n")
    call("complete", tmp_path / "r.csv", "--radius", 1, "--out", tmp_path / "m.npz", "--quiet")
    assert sorted(MatrixCompleter.load(tmp_path / "m.npz").users_) == ["007", "7"]


BAD = {
    "": "the file is empty",
    "user,item,rating\n": "no rows",
    "user,item\n1,2\n": "user, item and rating are needed",
    "user,item,rating\n1,2,5\n1,3,good\n": "line 3: column 'rating' holds 'good'",
    "user,item,rating\n1,2,good\n1,3,bad\n": "column 'rating' is not numeric",
    "user,item,rating\n1,2,5\n,3,4\n": "line 3: column 'user' is empty",
    "user,item,rating\n1,2,5\n1,3,\n": "line 3: column 'rating' is empty",
    "user,item,rating\n1,2,5\n1,3,4,4\n": "line 3: 4 fields",
}


@pytest.mark.parametrize("content", BAD)
def test_bad_ratings_are_one_clear_line(tmp_path, content):
    (tmp_path / "r.csv").write_text(content)
    assert BAD[content] in refused("complete", tmp_path / "r.csv")


def test_bad_arguments_are_one_clear_line(model, tmp_path):
    file = model.parent / "ratings.csv"
    assert "did you mean 'rating'?" in refused("complete", file, "--rating", "ratingg")
    assert "--radius must be a positive number or auto" in refused("complete", file, "--radius", "big")
    assert "did you mean 'ratings.csv'?" in refused("complete", model.parent / "rating.csv")
    assert "no such file" in refused("recommend", tmp_path / "m.npz", 1)
    assert "damaged or not a model file" in refused("recommend", file, 1)
    assert "make it first" in refused("complete", file, "--radius", 1, "--out", tmp_path / "no" / "m.npz")
    call("recommend", model, 100, "-n", 0, code=2)


def test_bench_says_where_it_runs(monkeypatch, tmp_path):
    assert "did you mean 'recommender'?" in refused("bench", "recomender")
    monkeypatch.setattr(library, "checkout", lambda: None)
    assert "in a clone" in refused("bench")


def test_bench_runs_what_the_checkout_holds(monkeypatch):
    asked = []
    monkeypatch.setattr(library.subprocess, "run", lambda c, **k: asked.append((c, k)) or _Done())
    call("bench", "recommender", "--quick")
    ((command, options),) = asked
    assert command[1:] == ["-m", "benchmarks", "--quick", "recommender"]
    assert (options["cwd"] / "benchmarks" / "recommender.py").is_file()


def test_bench_passes_a_failure_on(monkeypatch):
    monkeypatch.setattr(library.subprocess, "run", lambda *_, **__: _Done(3))
    call("bench", "recommender", code=3)


class _Done:
    def __init__(self, returncode=0):
        self.returncode = returncode


def test_completion_script_for_the_shell():
    code = "import sys; sys.argv = ['frankwolfe']; from frankwolfe.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env={"_FRANKWOLFE_COMPLETE": "complete_bash", "COMP_WORDS": "frankwolfe rec", "COMP_CWORD": "1"},
    )
    assert done.stdout.split() == ["recommend"]


def test_a_reader_that_stops_early_is_no_error(model, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("user,item\n" + "100,film 3\n" * 20_000)
    command = f"{sys.executable} -m frankwolfe predict {model} {pairs} | head -2"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines()[0] == "user,item,rating"
    assert done.stderr == ""

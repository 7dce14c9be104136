"""fit, predict and path on the command line: as a new user would, with good files and bad ones."""

from __future__ import annotations

import csv
import gzip
import json

import numpy as np
import pytest
from tests.cli.commands import call, refused
from typer.testing import CliRunner

from frankwolfe.cli.app import app
from frankwolfe.cli.show import bars
from frankwolfe.estimators.linear_files import read_linear

pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the same samples as text, Parquet and LIBSVM, with two classes, three, and a number to predict."""
    here = tmp_path_factory.mktemp("data")
    g = np.random.default_rng(0)
    X = g.standard_normal((120, 4))
    score = X[:, 0] - X[:, 1] + 0.3 * g.standard_normal(120)
    frame = pandas.DataFrame(X.round(4), columns=["age", "height", "weight", "noise"])
    two = frame.assign(label=np.where(score > 0, "yes", "no"))
    two.to_csv(here / "two.csv", index=False)
    two.to_parquet(here / "two.parquet")
    two.to_csv(here / "two.tsv", index=False, sep="\t")
    frame.assign(kind=np.digitize(score, [-1, 1])).to_csv(here / "three.csv", index=False)
    frame.assign(price=score.round(4)).to_csv(here / "price.csv", index=False)
    frame.to_csv(here / "new.csv", index=False)
    lines = [
        f"{2 if s > 0 else 1} " + " ".join(f"{j + 1}:{v:.4f}" for j, v in enumerate(row))
        for s, row in zip(score, X, strict=True)
    ]
    (here / "two.svm").write_text("\n".join(lines) + "\n")
    (here / "two.svm.gz").write_bytes(gzip.compress((here / "two.svm").read_bytes()))
    return here


@pytest.mark.parametrize("name", ["two.csv", "two.tsv", "two.parquet", "two.svm", "two.svm.gz"])
def test_fit_then_predict(folder, tmp_path, name):
    model, out = tmp_path / "m.npz", tmp_path / "p.csv"
    said = json.loads(call("fit", folder / name, "--constraint", "l1", "--radius", 3, "--out", model, "--json").stdout)
    assert said["task"] == "classification"
    assert (said["rows"], said["features"], said["radius"]) == (120, 4, 3.0)
    assert said["train_accuracy"] > 0.85
    assert said["gap"] <= 1e-6
    shown = call("predict", model, folder / name, "--out", out)
    assert "accuracy" in shown.stdout
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == 120
    assert {row["prediction"] for row in rows} == ({"1", "2"} if "svm" in name else {"yes", "no"})
    assert float(shown.stdout.split("accuracy")[1].split()[0]) == pytest.approx(said["train_accuracy"], abs=1e-5)


def test_the_model_is_what_python_would_have_fitted(folder, tmp_path):
    import frankwolfe as fw

    call("fit", folder / "price.csv", "--target", "price", "--constraint", "l2", "--radius", 2, "--out", tmp_path / "m")
    told = read_linear(tmp_path / "m")
    frame = pandas.read_csv(folder / "price.csv")
    mine = fw.FrankWolfeRegressor("l2", 2.0, standardize=True).fit(frame.drop(columns="price"), frame["price"])
    np.testing.assert_allclose(told.estimator.coef_, mine.coef_, rtol=1e-9)
    assert (told.kind, told.target, told.features) == ("FrankWolfeRegressor", "price", list(frame.columns[:4]))


def test_three_classes_and_probabilities(folder, tmp_path):
    model = tmp_path / "m.npz"
    text = call("fit", folder / "three.csv", "--target", "kind", "--radius", 5, "--out", model, "--explain").stdout
    assert "0, 1, 2" in text
    assert "Multinomial over L2Ball(5)" in text
    assert "How good" in text
    shown = call("predict", model, folder / "new.csv", "--proba").stdout.splitlines()
    assert shown[0] == "prediction,p_0,p_1,p_2"
    assert sum(map(float, shown[1].split(",")[1:])) == pytest.approx(1.0)
    assert len(shown) == 121


def test_task_is_judged_by_the_target_or_told(folder):
    def task(*arguments):
        return json.loads(call("fit", *arguments, "--radius", 1, "--json").stdout)["task"]

    assert task(folder / "price.csv", "--target", "price") == "regression"
    assert task(folder / "three.csv", "--target", "kind") == "classification"
    assert task(folder / "three.csv", "--target", "kind", "--task", "regression") == "regression"


def test_drop_leaves_a_column_out(folder):
    said = call("fit", folder / "two.csv", "--drop", "noise", "--drop", "weight", "--radius", 1, "--json")
    assert json.loads(said.stdout)["features"] == 2


def test_quiet_is_quiet_and_json_is_json(folder, tmp_path):
    quiet = call("fit", folder / "two.csv", "--radius", 1, "--quiet", "--out", tmp_path / "m.npz")
    assert quiet.output == ""
    both = json.loads(call("predict", tmp_path / "m.npz", folder / "new.csv", "--json").stdout)
    assert both["predictions"] == 120
    assert set(both["rows"][0]) == {"prediction"}


def test_columns_are_found_by_name(folder, tmp_path):
    model, mixed = tmp_path / "m.npz", tmp_path / "mixed.csv"
    call("fit", folder / "two.csv", "--radius", 3, "--out", model)
    frame = pandas.read_csv(folder / "new.csv")
    frame[["noise", "weight", "age", "height"]].assign(extra="text").to_csv(mixed, index=False)
    first, second = (call("predict", model, file).stdout for file in (folder / "new.csv", mixed))
    assert first == second


def test_path_draws_and_tabulates(folder, tmp_path):
    picture, table = tmp_path / "p.png", tmp_path / "p.csv"
    told = call("path", folder / "two.csv", "--radii", "0.1:10:4", "--out", picture, "--table", table, "--json")
    said = json.loads(told.stdout)
    assert [row["radius"] for row in said["path"]] == pytest.approx([0.1, 0.464159, 2.154435, 10.0], rel=1e-5)
    assert all(row["done"] and row["gap"] <= 1e-6 for row in said["path"])
    assert said["best_score"] == max(row["score"] for row in said["path"])
    losses = [row["loss"] for row in said["path"]]
    assert losses == sorted(losses, reverse=True)
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert len(table.read_text().splitlines()) == 5


@pytest.mark.parametrize(
    ("file", "options"), [("three.csv", ("--target", "kind")), ("price.csv", ("--target", "price"))]
)
def test_path_of_other_tasks_with_its_own_radii(folder, file, options):
    shown = call("path", folder / file, *options, "--tol", "1e-4").stdout
    assert len(shown.splitlines()) > 21
    assert "best radius" in shown
    assert "score" not in call("path", folder / file, *options, "--holdout", 0, "--radii", "1,2").stdout


BAD = {
    "empty.csv": ("", "the file is empty"),
    "header.csv": ("a,b,label\n", "no rows"),
    "short.csv": ("a,b,label\n1,2,x\n1,2\n3,4,y\n", "line 3: 2 fields, but the first line has 3"),
    "long.csv": ("a,b,label\n1,2,x\n1,2,3,y\n", "line 3: 4 fields, but the first line has 3"),
    "german.csv": ("a;b;label\n1,5;2;x\n1,7;3;y\n", "line 2: column 'a' holds '1,5' with a decimal comma"),
    "colossal.csv": ("a,b,label\n1,1e301,x\n2,2e301,y\n", "line 2: column 'b' holds '1e+301', not a number below"),
    "rows.json": ('[{"a": 1, "label": "x"}]', "is JSON, and a table is needed"),
    "hidden.csv": ('[{"a": 1, "label": "x"}]', "looks like JSON"),
    "names.csv": ("name,label\nann,x\nbob,y\neve,y\nkim,x\n", "no column is left to learn from"),
    "huge.csv": ("a,b,label\n1,2,x\n1,-1e300,y\n", "line 3: column 'b' holds '-1e+300'"),
    "inf.csv": ("a,b,label\n1,2,x\n1,inf,y\n", "line 3: column 'b' holds 'inf', not a number below 1e+100"),
    "commas.csv": ("a,b,label\n1,2,x\n \n,,\n3,4,y\n", "line 4: column 'label' is empty"),
    "word.csv": ("a,b,label\n1,2,x\n\n1,two,y\n", "line 4: column 'b' holds 'two', not a number below 1e+100"),
    "unlabelled.csv": ("a,b,label\n1,2,x\n1,3,\n", "line 3: column 'label' is empty"),
    "one.csv": ("a,b,label\n1,2,x\n1,3,x\n", "every row has the label x"),
    "quoted.csv": ('a,b,label\n1,2,"x\nx"\n1,z,y\n', "line 4: column 'b' holds 'z'"),
    "nothing.csv": ("label\nx\ny\n", "no columns are left"),
    "what.csv": ("a,b\n1,2\n", "which column is the target? Name it with --target: a, b"),
    "unnamed.csv": ("1.5,2,3\n2.5,1,4\n", "which column is the target? The first line holds numbers (1.5, ...)"),
    "book.xlsx": ("PK", "is a spreadsheet, and a table is needed: save it as CSV or Parquet"),
    "hollow.csv": ("a,label\n,x\n,y\n", "no column is left to learn from"),
    "empty.svm": ("", "the file is empty"),
    "bad.svm": ("1 1:2\n2 0:1\n", "line 2: feature index 0"),
    "wrong.svm": ("1 1:2\ncat 1:1\n", "line 2: label 'cat' is not a number"),
    "nan.svm": ("1 1:2\n2 1:nan\n", "line 2"),
    "same.svm": ("1 1:2\n1 1:3\n", "every row has the label 1"),
    "damaged.parquet": ("PAR1 and nothing else", "not a Parquet file"),
    "empty.parquet": ("", "the file is empty"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["fit", "path"])
def test_bad_files_are_one_clear_line(tmp_path, name, command):
    content, message = BAD[name]
    (tmp_path / name).write_text(content)
    radius = ("--radius", 1) if command == "fit" else ("--radii", "1")
    line = refused(command, tmp_path / name, *radius)
    assert message in line
    assert name in line


def test_dates_are_not_numbers(tmp_path):
    frame = pandas.DataFrame({"day": pandas.to_datetime(["2020-01-01", "2020-01-02"]), "label": ["x", "y"]})
    frame.to_parquet(tmp_path / "days.parquet")
    assert "column 'day' holds dates" in refused("fit", tmp_path / "days.parquet", "--radius", 1)


def test_latin_text_is_named_with_its_line(tmp_path):
    (tmp_path / "latin.csv").write_bytes("a,label\n1,x\n2,é\n".encode("latin-1"))
    assert "line 3: not UTF-8" in refused("fit", tmp_path / "latin.csv", "--radius", 1)


def test_bad_arguments_are_one_clear_line(folder, tmp_path):
    two = folder / "two.csv"
    assert "no such file; did you mean 'two.csv'?" in refused("fit", folder / "tow.csv", "--radius", 1)
    assert "is a folder" in refused("fit", folder, "--radius", 1)
    assert "did you mean 'label'?" in refused("fit", two, "--target", "lable", "--radius", 1)
    assert "no column 'nose'; did you mean 'noise'?" in refused("fit", two, "--drop", "nose", "--radius", 1)
    assert "--radius must be a positive number or cv, got 'large'" in refused("fit", two, "--radius", "large")
    assert "radius must be a positive finite number, got -2.0" in refused("fit", two, "--radius", "-2")
    assert "did you mean 'l1'" in refused("fit", two, "--constraint", "l11", "--radius", 1)
    assert "--task must be" in refused("fit", two, "--task", "guess", "--radius", 1)
    assert "use --task classification" in refused("fit", two, "--task", "regression", "--radius", 1)
    price = refused("fit", folder / "price.csv", "--target", "price", "--task", "classification", "--radius", 1)
    assert "not a whole number; use --task regression" in price
    assert "method" in refused("fit", two, "--method", "magic", "--radius", 1)
    assert "--target and --drop are for tables" in refused("fit", folder / "two.svm", "--target", "x", "--radius", 1)
    assert "--radii must be numbers" in refused("path", two, "--radii", "one,two")
    assert "make it first: mkdir -p" in refused("fit", two, "--radius", 1, "--out", tmp_path / "no" / "m.npz")
    assert "use frankwolfe complete" in refused("fit", "movielens100k", "--radius", 1)


def test_bad_predictions_are_one_clear_line(folder, tmp_path):
    model = tmp_path / "m.npz"
    call("fit", folder / "two.csv", "--radius", 1, "--out", model)
    frame = pandas.read_csv(folder / "new.csv").rename(columns={"age": "aged"})
    frame.to_csv(tmp_path / "renamed.csv", index=False)
    assert "no column 'age'; did you mean 'aged'?" in refused("predict", model, tmp_path / "renamed.csv")
    assert "features by name" in refused("predict", model, folder / "two.svm")
    assert "no such file" in refused("predict", tmp_path / "other.npz", folder / "new.csv")
    (tmp_path / "junk.npz").write_bytes(model.read_bytes()[:200])
    assert "damaged or not a model file" in refused("predict", tmp_path / "junk.npz", folder / "new.csv")
    assert "damaged or not a model file" in refused("predict", folder / "two.csv", folder / "new.csv")
    call("fit", folder / "price.csv", "--target", "price", "--radius", 1, "--out", model)
    assert "--proba is for classifiers" in refused("predict", model, folder / "new.csv", "--proba")
    assert "a MatrixCompleter is needed" in refused("recommend", model, "ann")


def test_not_converging_is_a_warning_and_a_true_gap(folder):
    result = call("fit", folder / "two.csv", "--radius", 30, "--method", "fw", "--max-iter", 3, "--json")
    assert result.stderr.startswith("frankwolfe: warning: FrankWolfeClassifier stopped after 3 steps")
    assert result.stderr.count("\n") == 1
    assert json.loads(result.stdout)["gap"] > 1e-6


def test_debug_shows_the_traceback(folder):
    result = CliRunner().invoke(app, ["fit", str(folder / "two.csv"), "--radius", "-2", "--debug"])
    assert isinstance(result.exception, ValueError)


def test_a_table_nobody_prepared(tmp_path):
    """Text, empty cells, a column that counts the rows, columns on wild scales: fitted, said, and predicted alike."""
    g = np.random.default_rng(1)
    n = 80
    colour, size = g.choice(["red", "blue", "green"], n), 1e4 * g.standard_normal(n)
    price = 3 * (colour == "red") + size / 1e4 + 0.1 * g.standard_normal(n)
    frame = pandas.DataFrame(
        {"id": np.arange(1, n + 1), "colour": colour, "size": size.round(2), "price": price.round(4)}
    )
    frame.loc[3, "size"], frame.loc[5, "colour"] = np.nan, None
    frame.to_csv(tmp_path / "raw.csv", index=False)
    model, raw = tmp_path / "m.npz", tmp_path / "raw.csv"
    told = call("fit", raw, "--target", "price", "--out", model, "--json")
    said = json.loads(told.stdout)
    assert said["features"] == 4
    assert said["held_out_r2"] > 0.9
    noted = call("fit", raw, "--target", "price").stderr
    for words in ("'id' only counts the rows", "a column for each of 3 values, 1 empty", "1 empty cells of 'size'"):
        assert words in noted
    assert "rmse" in call("predict", model, raw, "--out", tmp_path / "p.csv").stdout
    new = frame.drop(columns="price").assign(colour="violet")
    new.to_csv(tmp_path / "new.csv", index=False)
    assert "'violet', which the model has not seen" in call("predict", model, tmp_path / "new.csv").stderr
    assert json.loads(call("fit", raw, "--target", "price", "--keep", "id", "--json").stdout)["features"] == 5


def test_true_and_false_are_labels(tmp_path):
    data, model, said = tmp_path / "data.csv", tmp_path / "model.npz", tmp_path / "said.csv"
    rows = [(i / 10, i > 20) for i in range(41)]
    data.write_text("size,y\n" + "\n".join(f"{size},{large}" for size, large in rows))
    said_of_fit = json.loads(call("fit", data, "--out", model, "--json").stdout)
    assert said_of_fit["classes"] == ["False", "True"]
    call("predict", model, data, "--out", said)
    assert set(pandas.read_csv(said, dtype=str)["prediction"]) == {"False", "True"}


def test_show_tells_what_is_in_a_model(folder, tmp_path):
    model, picture = tmp_path / "m.npz", tmp_path / "path.png"
    call("fit", folder / "two.csv", "--constraint", "l1", "--out", model)
    shown = call("show", model, "--top", 1, "--out", picture).stdout
    assert "age" in shown or "height" in shown
    assert "chosen" in shown
    assert "more; --top" in shown
    assert picture.stat().st_size > 1000
    told = json.loads(call("show", model, "--json").stdout)
    assert told["gap"] >= 0
    assert told["radius"] > 0
    assert len(told["path"]["radii"]) == len(told["path"]["scores"]) > 3
    fitted = read_linear(model).estimator
    assert {row["feature"]: row["coefficient"] for row in told["coefficients"]}["age"] == fitted.coef_[0, 0]
    call("fit", folder / "two.csv", "--radius", 3, "--out", model)
    assert "fitted with one radius" in call("show", model, "--out", picture, code=2).stderr


def test_values_are_completed(folder):
    from types import SimpleNamespace

    from frankwolfe.cli.fit import choice, columns_of

    assert columns_of(SimpleNamespace(params={"data": folder / "two.csv"}), "we") == ["weight"]
    assert columns_of(SimpleNamespace(params={}), "we") == []
    assert choice("Method.", "afw", "fw", "away").autocompletion("a") == ["afw", "away"]


def test_scores_as_bars():
    head, low, high = bars({"radii": [1.0, 2.0], "scores": [-2.0, -1.0], "errors": [0.0, 0.0]}, 2.0)
    assert head.split() == ["radius", "held-out", "score"]
    assert low.split() == ["1", "-2"]
    assert high.split() == ["2", "-1", 40 * "#", "chosen"]

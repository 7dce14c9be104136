"""Labels, splits and options."""

import numpy as np
import pytest

from frankwolfe.datasets import DatasetError, load
from frankwolfe.datasets.readers import check_options, distinct, split_rows, to_binary


def test_the_larger_label_is_positive():
    assert to_binary(np.array([2.0, 1.0, 2.0]), "f").tolist() == [1, -1, 1]
    assert to_binary(np.array([0.0, -3.5]), "f").tolist() == [1, -1]
    assert distinct(np.array([1.0, -0.5])) == (-0.5, 1)


@pytest.mark.parametrize(
    ("labels", "message"), [([1, 1], "f: only one class, 1,"), ([1, 2, 3], "f: 3 different labels")]
)
def test_two_classes_are_needed(labels, message):
    with pytest.raises(DatasetError, match=message):
        to_binary(np.array(labels, float), "f")


@pytest.mark.parametrize(("n", "fraction", "m"), [(581012, 0.7, 406709), (10, 0.7, 7), (100, 0.07, 7), (5, 0.5, 3)])
def test_splits_partition_the_rows(n, fraction, m):
    train, test = (split_rows(n, part, fraction, 3) for part in ("train", "test"))
    assert train.size == m
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(n))


def test_a_seed_means_the_same_rows_for_good():
    assert split_rows(12, "train", 0.5, 0).tolist() == [1, 2, 3, 6, 8, 11]
    assert split_rows(12, "train", 0.5, 1).tolist() != split_rows(12, "train", 0.5, 0).tolist()
    rows = split_rows(100_000, "train", 0.7, 0)
    assert abs(rows.mean() - 50_000) < 300  # the draw has no favourite end


DEFAULTS = {"labels": "binary", "digit": 4, "n_features": None, "fraction": 0.7, "seed": 0}


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("labels", "ternary", ValueError),
        ("digit", 10, ValueError),
        ("digit", -1, ValueError),
        ("digit", "4", TypeError),
        ("n_features", 0, ValueError),
        ("n_features", 2**31, ValueError),
        ("n_features", 3.0, TypeError),
        ("fraction", 0.0, ValueError),
        ("fraction", 1.0, ValueError),
        ("fraction", float("nan"), ValueError),
        ("seed", -1, ValueError),
        ("seed", None, TypeError),
    ],
)
def test_bad_options_are_named(option, value, error):
    check_options(**DEFAULTS)
    with pytest.raises(error, match=rf"^{option} must .*{value}"):
        check_options(**(DEFAULTS | {option: value}))
    with pytest.raises(error, match=option):
        load("a9a", **{option: value})

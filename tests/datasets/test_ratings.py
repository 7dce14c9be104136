"""MovieLens files, and the preprocessing against a dense least-squares solution."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frankwolfe.datasets import DatasetError
from frankwolfe.datasets.ratings import fit_effects, parse_ratings

SHAPE = (3, 4)
TEXT = b"1\t2\t5\t881250949\n3\t4\t1\t0\n2\t1\t3\t7\n"


def test_valid_text():
    for text in (TEXT, TEXT[:-1], TEXT.replace(b"\n", b"\r\n")):
        rows, cols, stars = parse_ratings(text, "u.data", SHAPE)
        assert rows.tolist() == [0, 2, 1]
        assert cols.tolist() == [1, 3, 0]
        assert stars.tolist() == [5.0, 1.0, 3.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "u.data: the file is empty"),
        (b"\n\n", "u.data: the file is empty"),
        (b"1\t2\t5\n", "u.data, line 1: '1.*' is not user, item, rating, time: four whole numbers"),
        (TEXT + b"1 1 5 7\n", "u.data, line 4: "),
        (TEXT + b"1\t1\t5\t7\t9\n", "u.data, line 4: "),
        (TEXT + b"1\t1\t4.5\t7\n", "u.data, line 4: "),
        (TEXT + b"1\t1\t-1\t7\n", "u.data, line 4: "),
        (TEXT + b"1\t1\tnan\t7\n", "u.data, line 4: "),
        (TEXT + b"\n1\t1\t5\t7\n", "u.data, line 4: "),
        (TEXT + b"1\t1\t5", "u.data, line 4: .*the file may be cut short"),
        (TEXT + b"1\t1\t6\t7\n", r"u.data, line 4: rating 6 is not one of 1\.\.5"),
        (TEXT + b"1\t1\t0\t7\n", "u.data, line 4: rating 0"),
        (TEXT + b"4\t1\t5\t7\n", r"u.data, line 4: user 4 is not one of 1\.\.3"),
        (TEXT + b"0\t1\t5\t7\n", "u.data, line 4: user 0"),
        (TEXT + b"1\t5\t5\t7\n", r"u.data, line 4: item 5 is not one of 1\.\.4"),
        (TEXT + b"999999999\t1\t5\t7\n", "u.data, line 4: user 999999999"),
        (TEXT + b"1\t2\t4\t7\n", "u.data, line 4: user 1 rated item 2 on line 1 already"),
    ],
)
def test_faults_name_the_line(text, message):
    with pytest.raises(DatasetError, match=message):
        parse_ratings(text, "u.data", SHAPE)


@given(st.one_of(st.binary(max_size=30), st.text("0123456789\t\n\r -.", max_size=30).map(str.encode)))
@settings(deadline=None)
def test_random_text_never_raises_anything_else(text):
    for content in (text, TEXT + text, text + TEXT):
        try:
            rows, cols, stars = parse_ratings(content, "u.data", SHAPE)
        except DatasetError:
            continue
        assert len(set(zip(rows.tolist(), cols.tolist(), strict=True))) == stars.size
        assert np.isin(stars, [1, 2, 3, 4, 5]).all()


def sample(users=12, items=9, seed=0):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random((users, items)) < 0.6)
    return rows, cols, rng.integers(1, 6, rows.size).astype(float), (users, items)


def test_effects_are_the_least_squares_solution_of_least_norm():
    rows, cols, stars, (users, items) = sample()
    design = np.zeros((rows.size, users + items))
    design[np.arange(rows.size), rows] = design[np.arange(rows.size), users + cols] = 1
    expected = np.linalg.lstsq(design, stars, rcond=None)[0]
    effects = fit_effects(rows, cols, stars, (users, items))
    np.testing.assert_allclose(np.concatenate(effects[:2]), expected, atol=1e-4)
    assert effects.scale == pytest.approx(np.linalg.norm(stars - design @ expected))
    assert np.linalg.norm(effects.apply(rows, cols, stars)) == pytest.approx(1)


def test_without_centring_only_the_norm_is_taken_out():
    rows, cols, stars, shape = sample()
    effects = fit_effects(rows, cols, stars, shape, center=False)
    assert not effects.users.any()
    assert not effects.items.any()
    np.testing.assert_allclose(effects.apply(rows, cols, stars), stars / np.linalg.norm(stars))


def test_someone_without_ratings_has_no_effect():
    effects = fit_effects(np.array([0, 0]), np.array([0, 1]), np.array([2.0, 4.0]), (2, 3))
    assert effects.users[1] == effects.items[2] == 0

"""LIBSVM text: accepted exactly when a naive parser accepts it, and every fault named by its line."""

import math
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from frankwolfe.datasets import DatasetError
from frankwolfe.datasets.archives import show
from frankwolfe.datasets.libsvm import parse_libsvm

NUMBER = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
LINE = re.compile(rb"[ \t]*(?:%s(?:[ \t]+[+-]?\d+:%s)*[ \t]*)?" % (NUMBER, NUMBER))


def naive(content: bytes, n_features=None):
    """Return rows of (label, {index: value}), or None for text that must be refused."""
    rows = []
    for line in content.split(b"\n"):
        line = line.split(b"#")[0].removesuffix(b"\r")
        if not LINE.fullmatch(line):
            return None
        label, *features = line.split() or [b""]
        if not label:
            continue
        pairs = [f.split(b":") for f in features]
        indices = [int(i) for i, _ in pairs]
        numbers = [float(label), *(float(v) for _, v in pairs)]
        increasing = all(i < j for i, j in zip([0, *indices], indices, strict=False))
        if not increasing or not all(map(math.isfinite, numbers)):
            return None
        if max(indices, default=1) > (n_features or 2**31 - 1):
            return None
        rows.append((float(label), dict(zip(indices, numbers[1:], strict=True))))
    if not rows or (n_features is None and not any(features for _, features in rows)):
        return None
    return rows


def assert_same_as_naive(content: bytes, n_features=None):
    expected = naive(content, n_features)
    if expected is None:
        with pytest.raises(DatasetError, match=r"toy\.svm"):
            parse_libsvm(content, "toy.svm", n_features)
        return
    A, labels = parse_libsvm(content, "toy.svm", n_features)
    assert labels.tolist() == [label for label, _ in expected]
    found = [dict(zip((row.indices + 1).tolist(), row.data.tolist(), strict=True)) for row in rows_of(A)]
    assert found == [{i: v for i, v in features.items() if v} for _, features in expected]
    largest = max((i for _, features in expected for i in features), default=1)
    assert A.shape == (len(expected), n_features or largest)
    assert A.indices.dtype == A.indptr.dtype == np.int32
    assert A.dtype == labels.dtype == np.float64


def rows_of(A):
    return [A[[i]] for i in range(A.shape[0])]


values = st.one_of(
    st.sampled_from(["1", "0", "-0", "+1", ".5", "5.", "1e3", "1E-400", "0.1"]), st.floats(-9, 9).map(repr)
)
features = st.lists(st.tuples(st.integers(1, 40), values), max_size=5, unique_by=lambda f: f[0]).map(sorted)
lines = st.builds(
    lambda label, row, space, end: label + "".join(f"{space}{i}:{v}" for i, v in row) + end,
    values,
    features,
    st.sampled_from([" ", "  ", "\t"]),
    st.sampled_from(["", " ", " # a comment", "\r"]),
)
texts = st.lists(st.one_of(lines, lines, lines, st.just("")), min_size=1, max_size=5).map(
    lambda rows: "\n".join(rows).encode()
)
junk = st.sampled_from(
    [
        b"",
        b"0",
        b"-",
        b":",
        b" ",
        b"\n",
        b"\r",
        b"#",
        b"nan",
        b"inf",
        b"1e999",
        b"_",
        b"qid:1",
        b"\x00",
        b"\xff",
        b"\x0b",
    ]
)
mutations = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 2), junk), max_size=3)


def mutate(text, changes):
    for place, removed, inserted in changes:
        place %= len(text) + 1
        text = text[:place] + inserted + text[place + removed :]
    return text


@given(texts)
@settings(deadline=None, max_examples=150)
def test_valid_text_means_what_a_naive_parser_says(text):
    assert_same_as_naive(text)


@given(texts, mutations, st.sampled_from([None, 20]))
@settings(deadline=None, max_examples=500)
@example(b"1 1:1\r2 1:1\n", [], None)
@example(b"1 2147483648:1\n", [], None)
@example(b"1 2147483647:1\n", [], None)
@example(b"1 1:1\x0b\n", [], None)
@example(b"1 1:1#\r\r\n", [], None)
def test_damaged_text_is_refused_or_means_what_a_naive_parser_says(text, changes, n_features):
    assert_same_as_naive(mutate(text, changes), n_features)


@given(st.binary(max_size=60))
@settings(deadline=None, max_examples=300)
def test_random_bytes_never_raise_anything_else(content):
    assert_same_as_naive(content)


FAULTS = [
    (b"1 1:1\n2 0:1\n", 2, "feature index 0; LIBSVM indices start at 1"),
    (b"1 -3:1\n", 1, "feature index -3; LIBSVM indices start at 1"),
    (b"1 2:1 1:1\n", 1, "feature index 1 after 2; sort"),
    (b"1 2:1 2:1\n", 1, "feature index 2 appears twice"),
    (b"1 1:1\n\n# note\n2 9:1\n", 4, "feature index 9 exceeds n_features=8; give a larger"),
    (b"1 99999999999:1\n", 1, "feature index '99999999999' is too large"),
    (b"1 1:nan\n", 1, "'1:nan': value 'nan' is not finite"),
    (b"1 1:1e999\n", 1, "value '1e999' is not finite"),
    (b"-Inf 1:1\n", 1, "label '-Inf' is not finite"),
    (b"1 1:1\nNaN 1:2\n", 2, "label 'NaN' is not finite"),
    (b"yes 1:1\n", 1, "label 'yes' is not a number"),
    (b"1:1 2:1\n", 1, "label '1:1' is not a number; every line begins with its label"),
    (b"1 1\n", 1, "'1': expected index:value"),
    (b"1 1:\n", 1, "'1:': value '' is not a number"),
    (b"1 :1\n", 1, "with a whole number as index"),
    (b"1 1.5:1\n", 1, "with a whole number as index"),
    (b"1 1_0:1\n", 1, "with a whole number as index"),
    (b"1 1:1:1\n", 1, "value '1:1' is not a number"),
    (b"1 qid:3 1:1\n", 1, "'qid:3': expected index:value"),
    (b"1 1:1\n\x00\x01\n", 2, r"label '\x00\x01' is not a number"),
    (b"1 1:1\r2 1:1\n", 1, "carriage return inside"),
    (b"1 1:1\n2 1:0.5 2", 2, "expected index:value (the last line has no end: the file may be cut short)"),
]


@pytest.mark.parametrize(("content", "line", "message"), FAULTS)
def test_the_message_names_the_line(content, line, message):
    with pytest.raises(DatasetError) as error:
        parse_libsvm(content, "dir/toy.svm", 8 if b" 9:" in content else None)
    assert str(error.value).startswith(f"dir/toy.svm, line {line}: ")
    assert message in str(error.value)


@pytest.mark.parametrize("content", [b"", b"\n\n", b" \t\r\n", b"# only a comment\n"])
def test_an_empty_file_is_refused(content):
    with pytest.raises(DatasetError, match=r"toy\.svm: the file is empty"):
        parse_libsvm(content, "toy.svm")


def test_a_file_without_features_needs_n_features():
    with pytest.raises(DatasetError, match="no line has a feature; give n_features"):
        parse_libsvm(b"1\n2\n", "toy.svm")
    assert parse_libsvm(b"1\n2\n", "toy.svm", 5)[0].shape == (2, 5)


def test_stored_zeros_are_dropped_but_count_for_the_width():
    A, _ = parse_libsvm(b"1 1:2 7:0\n", "toy.svm")
    assert A.shape == (1, 7)
    assert A.nnz == 1


def test_long_tokens_are_shortened_in_messages():
    with pytest.raises(DatasetError, match=r"'x{40}'\.\.\. is not a number$"):
        parse_libsvm(b"x" * 10**6 + b"\n", "toy.svm")
    with pytest.raises(DatasetError, match="whole number as index"):
        parse_libsvm(b"1 " + b"1" * 5000 + b":1\n", "toy.svm")


def test_any_byte_can_stand_in_a_message():
    assert (show(b"3:x"), show(bytes([0, 255]))) == ("'3:x'", r"'\x00\xff'")

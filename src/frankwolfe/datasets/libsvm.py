"""LIBSVM text: scikit-learn reads it, and what scikit-learn is too kind about is refused here."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import numpy as np

from frankwolfe.datasets.archives import DatasetError, at_fault, show
from frankwolfe.validation import optional

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Without letters there is no nan, inf or qid; without "_" no 1_000, which Python would take for a number.
_ALPHABET = b"0123456789+-.eE: \t\r\n"
_COMMENT = re.compile(rb"#[^\n]*")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_INTEGER = re.compile(rb"[+-]?\d+")
_NOT_FINITE = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_LARGEST_INDEX = 2**31 - 1


def parse_libsvm(content: bytes, file: str, n_features: int | None = None) -> tuple[csr_array, np.ndarray]:
    """Parse LIBSVM text: a label, then ``index:value`` with increasing indices from 1, one sample a line.

    Blank lines and comments (from ``#`` to the end of the line) are skipped; an error names the first line at fault.
    The matrix holds no zeros and has `n_features` columns, by default as many as the largest index.
    """
    text = _COMMENT.sub(b"", content) if b"#" in content else content
    if not text.strip():
        raise DatasetError(f"{file}: the file is empty; expected one sample a line, as in '+1 3:1 7:0.5'")
    if text.translate(None, _ALPHABET) or text.count(b"\r") != text.count(b"\r\n") + text.endswith(b"\r"):
        raise _diagnosis(text, file, n_features)
    A, labels = _read(text, file, n_features)
    if not (np.isfinite(A.data).all() and np.isfinite(labels).all()):
        raise _diagnosis(text, file, n_features)
    if n_features is None and not A.nnz and b":" not in text:
        raise DatasetError(f"{file}: no line has a feature; give n_features if that is meant")
    A.eliminate_zeros()
    return A, labels


def _read(text: bytes, file: str, n_features: int | None) -> tuple[csr_array, np.ndarray]:
    from scipy.sparse import csr_array

    reader = optional("sklearn.datasets", extra="data")
    try:
        X, labels = reader.load_svmlight_file(io.BytesIO(text), n_features=n_features, zero_based=False)
    except (ValueError, OverflowError) as error:
        raise _diagnosis(text, file, n_features) from error
    integer = np.int32 if max(X.nnz, X.shape[1]) <= _LARGEST_INDEX else np.int64
    parts = X.data, X.indices.astype(integer), X.indptr.astype(integer)
    return csr_array(parts, shape=X.shape), labels.copy()  # a copy, to own the memory


def _diagnosis(text: bytes, file: str, n_features: int | None) -> DatasetError:
    expected = "not LIBSVM text; expected lines such as '+1 3:1 7:0.5'"
    return at_fault(text, file, lambda line: _fault(line, n_features), expected)


def _fault(body: bytes, n_features: int | None) -> str | None:
    if b"\r" in body:
        return "a carriage return inside the line; lines must end in \\n or \\r\\n"
    label, *features = re.split(rb"[ \t]+", body.strip(b" \t"))
    if not label and not features:
        return None
    fault = _number_fault(label, "label")
    if fault:
        hint = "; every line begins with its label" if b":" in label else ""
        return fault + hint
    previous = 0
    for feature in features:
        index, colon, value = feature.partition(b":")
        fault = _index_fault(index, previous, n_features) if colon else "expected index:value"
        fault = fault or _number_fault(value, "value")
        if fault:
            return fault if fault.startswith("feature index") else f"{show(feature)}: {fault}"
        previous = int(index)
    return None


def _index_fault(index: bytes, previous: int, n_features: int | None) -> str | None:
    if not _INTEGER.fullmatch(index) or len(index) > 4000:  # Python itself refuses integers a little longer
        return "expected index:value with a whole number as index"
    i = int(index)
    if i < 1:
        return f"feature index {i}; LIBSVM indices start at 1"
    if i == previous:
        return f"feature index {i} appears twice; keep one"
    if i < previous:
        return f"feature index {i} after {previous}; sort the indices of each line in increasing order"
    if i > _LARGEST_INDEX:
        return f"feature index {show(index)} is too large; the largest supported is {_LARGEST_INDEX}"
    if n_features is not None and i > n_features:
        return f"feature index {i} exceeds n_features={n_features}; give a larger n_features or check the file"
    return None


def _number_fault(token: bytes, what: str) -> str | None:
    if _NOT_FINITE.fullmatch(token) or (_NUMBER.fullmatch(token) and not np.isfinite(float(token))):
        return f"{what} {show(token)} is not finite; remove or replace it"
    if not _NUMBER.fullmatch(token):
        return f"{what} {show(token)} is not a number"
    return None

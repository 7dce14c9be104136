"""The proof that a matrix on a pattern has no singular value above a bound, its entries on a device."""

from __future__ import annotations

import math

import numpy as np

from frankwolfe.backends import Array, double, largest, namespace
from frankwolfe.kernels.pattern.pattern_matrix import PatternMatrix
from frankwolfe.kernels.spectral import lanczos


def proven_bound(G: PatternMatrix, rng: np.random.Generator) -> lanczos.NormBound:
    """Return the bound of `lanczos.norm_upper_bound` with the Gram matrix and its factorisation on the device."""
    top = float(largest(G.values))
    if not math.isfinite(top):
        raise ValueError("the matrix contains NaN or infinity")
    if top == 0.0:
        return lanczos.NormBound(0.0, 0.0, 0)
    exponent = math.frexp(top)[1]
    known = gram_matrix(G, exponent)
    if known is None:
        return lanczos.proven_bound(G.tocsr(), rng)
    D, H = known
    guess = lanczos.top_singular(D, 0.0, rng, rtol=1e-11)
    bound = lanczos.proof(H, guess.sigma, max(D.shape), 1e-12)
    return lanczos.NormBound(math.ldexp(bound, exponent), 0.0, guess.matvecs)


def gram_matrix(G: PatternMatrix, exponent: int) -> tuple[PatternMatrix, Array] | None:
    """Return 2**-exponent G in double precision and its smaller Gram matrix; None where there is no such precision."""
    wide, places = double(G.values), G.pattern.places
    assert places is not None
    if wide is None:
        return None
    D = PatternMatrix(namespace(G.values).astype(G.values, wide) * math.ldexp(1.0, -exponent), G.pattern)
    return D, places.gram_matrix(D.values)

"""The second-order method on data of either form."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from tests.problems import logistic_data

import frankwolfe as fw
from frankwolfe.methods.second_order.newton import NewtonFrankWolfe


def test_newton_on_sparse_and_dense_data_alike() -> None:

    A, b = logistic_data()
    A = A * (np.abs(A) > 0.8)
    for domain in (fw.L1Ball(2.0), fw.L2Ball(2.0)):
        sparse, full = (
            fw.minimize(fw.Logistic(M, b, ridge=0.01), domain, method=NewtonFrankWolfe(), tol=1e-9, max_iter=40)
            for M in (csr_array(A), A)
        )
        assert sparse.success
        np.testing.assert_allclose(sparse.x, full.x, atol=1e-6)

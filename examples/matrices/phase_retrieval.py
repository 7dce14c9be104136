"""
Find a signal from intensities alone
====================================

Detectors see intensities, :math:`b_i = \\langle a_i, z\\rangle^2`, and the sign (or phase) is lost. The intensities
are linear in the matrix :math:`X = zz^\\top`, which is positive semidefinite with trace :math:`\\|z\\|^2`: least
squares over :class:`~frankwolfe.Spectrahedron`, whose vertices are the rank-one matrices. The signal is read off
the leading eigenvector.

**Result.** The signal is found up to its sign with a relative error below 1 %.
"""

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

rng = np.random.default_rng(0)
n, m = 24, 150
t = np.linspace(0, 1, n)
z = np.sin(7 * t) * np.exp(-((t - 0.6) ** 2) / 0.05) + 0.4 * (t < 0.25)
A = rng.normal(size=(m, n))
b = (A @ z) ** 2
energy = float(z @ z)  # known: the sum of all intensities of a complete set of measurements

# %%
f = fw.Function(
    lambda X: 0.5 * float(np.mean((np.einsum("ij,jk,ik->i", A, X, A) - b) ** 2)),
    lambda X: (A.T * ((np.einsum("ij,jk,ik->i", A, X, A) - b) / m)) @ A,
)
result = fw.minimize(f, fw.Spectrahedron(energy), energy / n * np.eye(n), tol=1e-4)
values, vectors = np.linalg.eigh(result.x)
found = np.sqrt(energy) * vectors[:, -1]
found *= np.sign(found @ z)

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5), constrained_layout=True)
left.plot(t, z, color="lightgrey", linewidth=5, label="true")
left.plot(t, found, color="tab:blue", label="from intensities")
left.set(title="the signal, up to its sign")
left.legend(frameon=False)
right.semilogy(np.maximum(values[::-1], 1e-12), "o-")
right.set(title="eigenvalues of X", xlabel="index")
plt.show()

error = np.linalg.norm(found - z) / np.linalg.norm(z)
assert error < 0.01
print("Result: The signal is found up to its sign with a relative error below 1 %.")

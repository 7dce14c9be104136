"""
Where to measure
================

Which of many possible experiments tell most about a model? A D-optimal design puts weights :math:`w` on candidate
points :math:`a_i` so that :math:`-\\log\\det\\sum_i w_i a_i a_i^\\top` is least; the weights lie in a simplex.
Frank-Wolfe on this problem is the oldest algorithm of its field (Fedorov, Wynn), and its gap is the equivalence
theorem of Kiefer and Wolfowitz.

**Result.** 4 places suffice, and each measurement there is worth 1.60 spread evenly; no design is better by more
than 1e-6: True.
"""

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

t = np.linspace(-1, 1, 81)
A = np.polynomial.legendre.legvander(t, 3)  # a polynomial of degree three


def value(w):
    sign, logdet = np.linalg.slogdet((A.T * w) @ A)
    return -logdet if sign > 0 else np.inf


def gradient(w):
    return -np.einsum("ij,ij->i", A @ np.linalg.inv((A.T * w) @ A), A)


# %%
start = np.full(t.size, 1 / t.size)
result = fw.minimize(
    fw.Function(value, gradient), fw.Simplex(t.size), start, method=fw.AwayFrankWolfe(fw.Backtracking()), tol=1e-6
)
variance = -gradient(result.x)

# %%
fig, ax = plt.subplots(figsize=(7.5, 3.8), constrained_layout=True)
ax.stem(t, result.x, linefmt="tab:blue", markerfmt=" ", basefmt=" ", label="weight of the measurement")
ax.plot(t, variance / variance.max() * result.x.max(), color="tab:orange", label="variance of the prediction, scaled")
ax.set(xlabel="where to measure")
ax.legend(frameon=False, loc="upper center")
plt.show()

places = np.flatnonzero(result.x > 1e-3)
clusters = 1 + np.sum(np.diff(places) > 3)
gain = np.exp((value(start) - value(result.x)) / A.shape[1])
print(
    f"Result: {clusters} places suffice, and each measurement there is worth {gain:.2f} spread evenly; "
    f"no design is better by more than 1e-6: {result.gap <= 1e-6}."
)

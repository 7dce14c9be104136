"""
Regression on proportions
=========================

Proportions (of minerals, of species, of a budget) sum to one, so a linear model of their logarithms must not depend on the
total: its coefficients sum to zero. An l1 ball with that equation is a set with a simple oracle, and no new code is needed
for it: half the difference of two simplices,

.. math:: \\{x : \\|x\\|_1 \\le R,\\ \\textstyle\\sum_i x_i = 0\\} = \\tfrac R2 (\\Delta - \\Delta).

**Result.** TODO
"""

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

rng = np.random.default_rng(0)
parts, samples = 30, 120
shares = rng.dirichlet(np.ones(parts), size=samples)
true = np.zeros(parts)
true[:4] = [1.0, -1.0, 0.6, -0.6]
y = np.log(shares) @ true + 0.3 * rng.normal(size=samples)

# %%
simplex = fw.Simplex(parts)
zero_sum = 1.6 * (simplex + (-1.0) * simplex)  # R = 3.2, the size of the true coefficients
objective = fw.LeastSquares(np.log(shares), y, intercept=True)
result = fw.minimize(objective, zero_sum, tol=1e-8)
free = fw.minimize(objective, fw.L1Ball(3.2), tol=1e-8)

# %%
fig, ax = plt.subplots(figsize=(7.5, 3.6), constrained_layout=True)
ax.stem(np.arange(parts) - 0.15, true, linefmt="grey", markerfmt="o", basefmt=" ", label="true")
ax.stem(np.arange(parts) + 0.15, result.x, linefmt="C0-", markerfmt="C0s", basefmt=" ", label="estimated")
ax.set(title="coefficients of the log shares", xlabel="part")
ax.legend(frameon=False)
plt.show()

print(
    f"Result: the largest error is {np.abs(result.x - true).max():.2f}, and the coefficients sum to zero "
    f"(to 1e-12: {abs(result.x.sum()) < 1e-12}); without the equation they sum to {free.x.sum():.2f}."
)

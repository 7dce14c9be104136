"""
Regression on proportions
=========================

Proportions (of minerals, of species, of a budget) sum to one, so a linear model of their logarithms must not depend
on the total: its coefficients sum to zero. An l1 ball with that equation is a set with a simple oracle, and no new
code is needed for it: half the difference of two simplices,

.. math:: \\{x : \\|x\\|_1 \\le R,\\ \\textstyle\\sum_i x_i = 0\\} = \\tfrac R2 (\\Delta - \\Delta).

**Result.** The largest error of a coefficient is 0.22; amounts in other units (percent) move the prediction by
nothing (below 1e-12: True), and by 0.64 without the equation.
"""

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

rng = np.random.default_rng(0)
parts, samples = 30, 60
true = np.zeros(parts)
true[:4] = [1.0, -1.0, 0.6, -0.6]


shares = rng.dirichlet(np.full(parts, 5.0), size=samples)
y = 2.0 + np.log(shares) @ true + 0.3 * rng.normal(size=samples)

# %%
simplex = fw.Simplex(parts)
zero_sum = 1.6 * (simplex + (-1.0) * simplex)  # R = 3.2, the size of the true coefficients
objective = fw.LeastSquares(np.log(shares), y, intercept=True)
result = fw.minimize(objective, zero_sum, tol=1e-8)
free = fw.minimize(objective, fw.L1Ball(3.2), tol=1e-8)
shift, shift_free = (
    abs(answer.x.sum()) * np.log(100) for answer in (result, free)
)  # if all amounts are 100 times as large

# %%
fig, ax = plt.subplots(figsize=(7.5, 3.6), constrained_layout=True)
ax.stem(np.arange(parts) - 0.15, true, linefmt="grey", markerfmt="o", basefmt=" ", label="true")
ax.stem(np.arange(parts) + 0.15, result.x, linefmt="C0-", markerfmt="C0s", basefmt=" ", label="estimated")
ax.set(title="coefficients of the log shares", xlabel="part")
ax.legend(frameon=False)
plt.show()

print(
    f"Result: The largest error of a coefficient is {np.abs(result.x - true).max():.2f}; amounts in "
    f"other units (percent) move the "
    f"prediction by nothing (below 1e-12: {shift < 1e-12}), and by {shift_free:.2f} without the equation."
)

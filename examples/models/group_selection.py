"""
Choose whole groups of columns
==============================

Several columns often describe one thing: the dummies of a category, the powers of a variable. The group lasso's
ball, :class:`~frankwolfe.GroupBall`, has atoms that live on one group, so that columns of a group come and go
together. Here each of ten variables of the diabetes table enters with its first four Legendre polynomials.

**Result.** The first variables to enter, each with all its polynomials, are bmi, s5, bp.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import frankwolfe as fw

X, y = load_diabetes(return_X_y=True)
names = load_diabetes().feature_names
X = X / np.abs(X).max(axis=0)
bases = [np.polynomial.legendre.legvander(column, 4)[:, 1:] for column in X.T]
A = np.hstack(bases)
A = (A - A.mean(axis=0)) / A.std(axis=0)
groups = np.repeat(np.arange(10), 4)

# %%
radii = np.linspace(2, 70, 30)
objective = fw.LeastSquares(A, y, intercept=True)
path = fw.path(objective, fw.GroupBall(1.0, groups=groups), radii, tol=1e-2)
size = np.array([[np.linalg.norm(result.x[groups == j]) for j in range(10)] for result in path])
entry = [np.argmax(column > 0.1) if column.max() > 0.1 else len(radii) for column in size.T]
order = [names[j] for j in np.argsort(entry, kind="stable")]

# %%
fig, ax = plt.subplots(figsize=(7.5, 4), constrained_layout=True)
for j, name in enumerate(names):
    ax.plot(radii, size[:, j], label=name)
ax.set(title="norm of each variable's four coefficients", xlabel="radius of the group ball")
ax.legend(ncols=2, frameon=False)
plt.show()

print(f"Result: The first variables to enter, each with all its polynomials, are {', '.join(order[:3])}.")

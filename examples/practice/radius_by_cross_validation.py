"""
Choose a radius by cross-validation
===================================

Digits, all ten of them: ``FrankWolfeClassifierCV`` follows a path of radii on every fold and keeps the one with the
least held-out loss.

**Result.** 96% of unseen digits are read correctly; the fit is certified to 0.0001 nats.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import frankwolfe as fw

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0)

# %%
model = fw.FrankWolfeClassifierCV("l2", cv=3).fit(X, y)
scores = np.asarray(model.scores_)

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), constrained_layout=True)
left.semilogx(model.radii_, scores.T, color="lightgrey")
left.semilogx(model.radii_, scores.mean(axis=0), "o-", color="tab:blue")
left.axvline(model.radius_, color="black", linestyle=":")
left.set(xlabel="radius", title="score on held-out folds")
pictures = model.coef_.reshape(10, 8, 8)
right.imshow(np.block([[pictures[5 * i + j] for j in range(5)] for i in range(2)]), cmap="RdBu_r")
right.set(title="coefficients of the ten digits", xticks=[], yticks=[])
plt.show()

print(
    f"Result: {model.score(X_test, y_test):.0%} of unseen digits are read correctly; the fit is "
    f"certified to {model.tol:g} nats."
)

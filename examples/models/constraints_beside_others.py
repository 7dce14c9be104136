"""
Groups, signs, shares, order and parity: one word each
======================================================

A constraint that a model has to respect is often why people write it down in CVXPY, or look for a package of its own.
Here each is an argument of the estimator, beside the same problem written down, and beside `scikit-lego
<https://koaning.github.io/scikit-lego>`_ where that has it and is installed. The data ship with scikit-learn.

Ours has a proven gap, takes data of any size and is one line; on tables as small as these an interior-point method is
often as fast or faster where the constraint is a general polytope.

**Result.** Five constraints, and the loss is never more than 0.1 percent above that of the problem written down:
True. Of ten kinds of measurement of a tumour, 3 are used; predictions of four models are mixed by shares of 0.59,
0.25, 0.15; parity costs 2 points of accuracy.
"""

import importlib.util
from time import perf_counter

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, RidgeCV
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import scale

import frankwolfe as fw

rows = []


def beside(what, ours, X, y, constraints, loss, intercept=True):
    """Fit ours, and the problem written down; note by how much our loss is larger, and the seconds of both."""
    began = perf_counter()
    ours.fit(X, y)
    middle = perf_counter()
    A, b = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    x, c = cp.Variable(A.shape[1]), cp.Variable()
    fit = loss(A @ x + (c if intercept else 0.0), b)
    problem = cp.Problem(cp.Minimize(fit), constraints(x))
    problem.solve(solver=cp.CLARABEL)
    ended = perf_counter()
    x.value, c.value = np.ravel(ours.coef_), np.ravel(ours.intercept_)[0]
    rows.append((what, "CVXPY", fit.value / problem.value - 1, middle - began, ended - middle))
    return ours


def squares(margins, b):
    return cp.sum_squares(margins - b) / (2 * b.size)


def log_loss(margins, b):
    return cp.sum(cp.logistic(cp.multiply(1 - 2 * b, margins))) / b.size


# %%
# **Groups.** Thirty columns are ten measurements of cells, each with mean, error and worst value: a measurement is used
# with all three, or not at all. Groups are named by columns.
table = load_breast_cancer(as_frame=True)
cells = (table.data - table.data.mean()) / table.data.std()
kinds = [name.removeprefix("mean ") for name in cells.columns[:10]]
groups = {kind: [f"mean {kind}", f"{kind} error", f"worst {kind}"] for kind in kinds}
places = [[cells.columns.get_loc(name) for name in members] for members in groups.values()]
grouped = beside(
    "groups",
    fw.FrankWolfeClassifier("group", 1.5, groups=groups, standardize=False),
    cells,
    table.target,
    lambda x: [sum(cp.norm(x[members]) for members in places) <= 1.5],
    log_loss,
)
used = sum(bool(np.abs(grouped.coef_[0, members]).max() > 1e-6) for members in places)

# %%
# **Signs.** More of anything that is measured here makes the illness worse, or does nothing.
body, progress = load_diabetes(return_X_y=True)
body = scale(body)
signed = beside(
    "signs",
    fw.FrankWolfeRegressor("l1", 60.0, positive=True, standardize=False),
    body,
    progress,
    lambda x: [x >= 0, cp.sum(x) <= 60.0],
    squares,
)
began = perf_counter()
lasso = Lasso(alpha=3.0, positive=True).fit(body, progress)
middle = perf_counter()
own = fw.FrankWolfeRegressor("l1", lasso.coef_.sum(), positive=True, standardize=False).fit(body, progress)
ended = perf_counter()
apart = np.abs(own.coef_ - lasso.coef_).max() / np.abs(lasso.coef_).max()
rows.append(("signs", "Lasso(positive=True)", apart, ended - middle, middle - began))

# %%
# **Shares.** What four models say of rows that they have not seen, mixed by nonnegative weights that sum to one.
models = [RidgeCV(), Lasso(2.0), KNeighborsRegressor(15), RandomForestRegressor(50, min_samples_leaf=5, random_state=0)]
said = np.column_stack([cross_val_predict(model, body, progress) for model in models])
stacked = beside(
    "shares",
    fw.FrankWolfeRegressor("simplex", fit_intercept=False),
    said,
    progress,
    lambda x: [x >= 0, cp.sum(x) == 1],
    squares,
    intercept=False,
)

# %%
# **Order.** Doses, ages, steps of a price: coefficients that must not fall along the columns. Here proline in a wine
# from its phenols, flavanoids, proanthocyanins and colour.
wine = load_wine()
X, y = scale(wine.data[:, [5, 6, 8, 9]]), wine.data[:, 12] / 100
ordered = beside(
    "order",
    fw.FrankWolfeRegressor("l2", 3.0, linear="increasing", standardize=False),
    X,
    y,
    lambda x: [cp.norm(x) <= 3.0, cp.diff(x) >= 0],
    squares,
)

# %%
# **Parity.** Whether an illness is said to become worse than the median must hardly depend on sex: the covariance of
# score and sex is bounded. Any ``A_ub @ coef <= b_ub`` is written like this.
worse = (progress > np.median(progress)).astype(int)
sex, rest = body[:, 1], np.delete(body, 1, axis=1)
along = (sex - sex.mean()) @ rest / len(sex)
parity = {"A_ub": np.stack([along, -along]), "b_ub": [0.02, 0.02]}
fair = beside(
    "parity",
    fw.FrankWolfeClassifier("l1", 3.0, linear=parity, standardize=False),
    rest,
    worse,
    lambda x: [cp.norm1(x) <= 3.0, cp.abs(along @ x) <= 0.02],
    log_loss,
)
free = fw.FrankWolfeClassifier("l1", 3.0, standardize=False).fit(rest, worse)

# %%
# scikit-lego has shares and parity, through CVXPY too.
if importlib.util.find_spec("sklego"):
    from sklego.linear_model import DemographicParityClassifier, ProbWeightRegression

    began = perf_counter()
    mixed = ProbWeightRegression(non_negative=True).fit(said / 100, progress / 100)
    apart = np.abs(mixed.coef_ - stacked.coef_).max()
    rows.append(("shares", "scikit-lego", apart, rows[3][3], perf_counter() - began))
    frame = pd.DataFrame(body[:, [1, 0, *range(2, 10)]], columns=["sex", *map(str, range(9))])
    began = perf_counter()
    peer = DemographicParityClassifier(0.02, sensitive_cols=["sex"], train_sensitive_cols=False, C=10.0)
    peer.fit(frame, worse)
    better = fair.score(rest, worse) - np.mean(peer.predict(frame) == worse)  # another penalty: accuracy is compared
    rows.append(("parity", "scikit-lego", better, rows[5][3], perf_counter() - began))
else:
    print("scikit-lego is not installed: its two rows are left out")

for what, peer, apart, own, other in rows:
    print(f"{what:7s} beside {peer:20s} apart by {apart:8.1e}   {1e3 * own:7.1f} ms   theirs {1e3 * other:7.1f} ms")

# %%
fig, axes = plt.subplots(2, 3, figsize=(10, 5.5), constrained_layout=True)
pictures = {
    "groups: ten measurements": np.linalg.norm(grouped.coef_[0][np.array(places)], axis=1),
    "signs: none below zero": signed.coef_,
    "shares: four models": stacked.coef_,
    "order: never falling": ordered.coef_,
    "parity: with sex in mind": fair.coef_[0],
    "without": free.coef_[0],
}
for ax, (title, heights) in zip(axes.flat, pictures.items(), strict=True):
    ax.bar(np.arange(len(heights)), heights)
    ax.axhline(0, color="black", linewidth=0.7)
    ax.set(title=title, xticks=[])
plt.show()

mine = [row for row in rows if row[1] == "CVXPY"]
shares = ", ".join(f"{share:.2f}" for share in stacked.coef_ if share > 0.01)
print(
    f"Result: Five constraints, and the loss is never more than 0.1 percent above that of the problem written down: "
    f"{len(mine) == 5 and max(row[2] for row in mine) < 1e-3}. Of ten kinds of measurement of a tumour, {used} are "
    f"used; predictions of four models are mixed by shares of {shares}; parity costs "
    f"{100 * (free.score(rest, worse) - fair.score(rest, worse)):.0f} points of accuracy."
)

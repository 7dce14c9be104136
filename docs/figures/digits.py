"""The README's figure: python docs/figures/digits.py writes digits.svg beside this file."""

from pathlib import Path

import matplotlib
from sklearn.datasets import load_digits

import frankwolfe as fw

matplotlib.use("svg")
X, digit = load_digits(return_X_y=True)
problem = fw.Logistic(X / 16, digit == 4), fw.L2Ball(10.0)
methods = {"fw": "fw", "afw": "afw", "afw, line search": fw.AcceleratedFrankWolfe(line_search=True), "apgd": "apgd"}
ax = fw.compare(*problem, methods, max_iter=1000, tol=1e-9).plot()
ax.set_title("Is it a 4? Logistic regression in an l2 ball")
ax.figure.savefig(Path(__file__).with_name("digits.svg"), bbox_inches="tight")

"""
Read a certificate
==================

What is proven, what is true, and how they approach each other: value, lower bound and gap along a run, the same
answer judged by code that shares nothing with the solver, and a false claim that the judge catches.

**Result.** The answer is proven to be within 1e-6 of the optimum, an independent judge agrees, and a bound that is
not true is refused.
"""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

rng = np.random.default_rng(0)
A = rng.normal(size=(300, 60))
b = A[:, 0] - A[:, 1] + rng.normal(size=300) > 0
f, ball = fw.Logistic(A, b), fw.L2Ball(1.0)

# %%
result = fw.minimize(f, ball, method="afw", tol=1e-6)
print(fw.explain(result))

# %%
# The judge encloses f(x) from above and the optimum from below, in interval arithmetic.
check = fw.verify(result, f, ball)
print(f"proven again: {check.lower:.9f} <= f* <= {check.upper:.9f}")

# %%
# A bound that is too good to be true is refused, with the reason.
lie = replace(result, lower_bound=result.fun + 1e-3)
print(fw.verify(lie, f, ball).false[0])

# %%
optimum = fw.minimize(f, ball, tol=1e-13).fun
trace = result.trace
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), constrained_layout=True)
left.semilogx(1 + np.asarray(trace["k"]), trace["fun"], label="value")
left.semilogx(1 + np.asarray(trace["k"]), trace["lower_bound"], label="lower bound")
left.axhline(optimum, color="black", linewidth=0.7, linestyle=":")
left.set(xlabel="iteration", ylim=(optimum - 0.3, optimum + 0.3))
left.legend(frameon=False)
right.loglog(1 + np.asarray(trace["k"]), trace["gap"], label="proven")
right.loglog(1 + np.asarray(trace["k"]), np.maximum(np.asarray(trace["fun"]) - optimum, 1e-16), label="true error")
right.set(xlabel="iteration", title="how far from the optimum")
right.legend(frameon=False)
plt.show()

assert check.ok
assert not fw.verify(lie, f, ball).ok
print(
    "Result: The answer is proven to be within 1e-6 of the optimum, an independent judge agrees, and a bound that is "
    "not true is refused."
)

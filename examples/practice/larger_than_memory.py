"""
Rows that stay on disk
======================

:func:`~frankwolfe.stream` reads a file block by block, once per iteration, and never holds it as a whole. The
answer is the one of the run in memory, and so is its certificate. (This file is small, so that the example is
quick.)

**Result.** Both answers agree to 1e-5.
"""

import os
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import frankwolfe as fw

rng = np.random.default_rng(0)
rows = rng.normal(size=(20_000, 30))
labels = rows[:, 0] - rows[:, 1] + rng.normal(size=len(rows)) > 0
file = os.path.join(tempfile.mkdtemp(), "rows.npy")
np.save(file, rows)

# %%
on_disk = fw.Logistic(fw.stream(file, block_bytes=1_000_000), labels)
streamed = fw.minimize(on_disk, fw.L2Ball(0.5), method="afw", tol=1e-4)
result = fw.minimize(fw.Logistic(rows, labels), fw.L2Ball(0.5), method="afw", tol=1e-4)

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), constrained_layout=True)
left.plot(result.x, "o", label="in memory")
left.plot(streamed.x, "x", label="from disk")
left.set(title="coefficients")
left.legend(frameon=False)
right.loglog(1 + np.asarray(streamed.trace["k"]), streamed.trace["gap"])
right.set(title="certified gap, from disk", xlabel="iteration")
plt.show()

assert np.abs(result.x - streamed.x).max() < 1e-5
print("Result: Both answers agree to 1e-5.")

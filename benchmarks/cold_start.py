"""First use: how much longer the first fit takes than the second, where nothing is compiled yet.

    python -m benchmarks.cold_start [--quick] [--compile]

Each case is a fresh process with an empty folder for compiled code. It fits twice; the difference of the two, in CPU
seconds, is what a newcomer waits for. Every kernel that is compiled on the way is listed with its own time.
With --compile kernels are compiled at first use, whatever the policy says: what each of them costs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from typing import Any

from benchmarks.report import command_line, held_to

DENSE = """
A = rng.standard_normal(({n}, {d})).astype({dtype})
y = A @ rng.standard_normal({d}) / {d} ** 0.5 + rng.standard_normal({n})
b = y > 0
"""
SPARSE = """
A = sp.random_array((20_000, 5_000), density=0.01, rng=rng, format="csr")
y = A @ np.where(rng.random(5_000) < 0.05, 5 * rng.standard_normal(5_000), 0.0) + rng.standard_normal(20_000)
b = y > 0
"""
RATINGS = """
places = rng.choice(2_000 * 1_000, 200_000, replace=False)
rows, cols = places // 1_000, places % 1_000
values = (rng.standard_normal((2_000, 5))[rows] * rng.standard_normal((1_000, 5))[cols]).sum(axis=1)
"""
TALL, WHOLE = DENSE.format(n=20_000, d=60, dtype="float"), DENSE.format(n=100_000, d=100, dtype="float")
NARROW = DENSE.format(n=20_000, d=60, dtype="'float32'")
WIDE = DENSE.format(n=500, d=2_000, dtype="float")
GREY = TALL + "A = rng.integers(0, 256, A.shape) / 255\n"
README = """
from sklearn.datasets import load_breast_cancer, load_digits
pixels, digit = load_digits(return_X_y=True)
X, ill = load_breast_cancer(return_X_y=True)
corner = np.array([0.1, 0.7, -0.3])
"""
SHOWN = """
problem = fw.Logistic(pixels / 16, digit == 4), fw.L2Ball(10.0)
fw.verify(fw.minimize(*problem, tol=1e-6), *problem)
fw.FrankWolfeClassifierCV("l1").fit(X, ill)
fw.minimize(fw.Function(lambda x: ((x - corner) ** 2).sum(), lambda x: 2 * (x - corner)), fw.Simplex(3))
fw.path(fw.Logistic(pixels / 16, digit == 4), fw.L1Ball, [1.0, 3.0, 10.0])
fw.MatrixCompleter(radius=100.0).fit(*np.nonzero(pixels > 8), pixels[pixels > 8])
"""
CASES: dict[str, tuple[str, str]] = {
    "all that the README shows": (README, SHOWN),
    "Logistic, l2, dense 20000 x 60": (TALL, "fw.minimize(fw.Logistic(A, b), fw.L2Ball(2.0), rtol=1e-6)"),
    "Logistic, l1, dense 20000 x 60": (TALL, "fw.minimize(fw.Logistic(A, b), fw.L1Ball(3.0), rtol=1e-6)"),
    "Logistic, simplex, dense 20000 x 60": (TALL, "fw.minimize(fw.Logistic(A, b), fw.Simplex(60), rtol=1e-6)"),
    "Logistic, l2, dense 100000 x 100": (WHOLE, "fw.minimize(fw.Logistic(A, b), fw.L2Ball(2.0), rtol=1e-6)"),
    "Logistic, l2, single precision": (NARROW, "fw.minimize(fw.Logistic(A, b), fw.L2Ball(2.0), rtol=1e-4)"),
    "Logistic, l2, grey values": (GREY, "fw.minimize(fw.Logistic(A, b), fw.L2Ball(2.0), rtol=1e-6)"),
    "Logistic, l1, dense 500 x 2000": (WIDE, "fw.minimize(fw.Logistic(A, b), fw.L1Ball(3.0), rtol=1e-6)"),
    "Logistic, afw": (TALL, "fw.minimize(fw.Logistic(A, b), fw.L2Ball(2.0), method='afw', max_iter=200)"),
    "LeastSquares, simplex": (TALL, "fw.minimize(fw.LeastSquares(A, y), fw.Simplex(60), rtol=1e-6)"),
    "LeastSquares, l2": (TALL, "fw.minimize(fw.LeastSquares(A, y), fw.L2Ball(0.5), rtol=1e-6)"),
    "Huber, box": (TALL, "fw.minimize(fw.Huber(A, y), fw.Box(-0.1, 0.1), rtol=1e-6)"),
    "Logistic, l1, sparse": (SPARSE, "fw.minimize(fw.Logistic(A, b), fw.L1Ball(20.0), rtol=1e-6)"),
    "Logistic, l2, sparse": (SPARSE, "fw.minimize(fw.Logistic(A, b), fw.L2Ball(5.0), rtol=1e-6)"),
    "LeastSquares, l1, sparse": (SPARSE, "fw.minimize(fw.LeastSquares(A, y), fw.L1Ball(20.0), rtol=1e-6)"),
    "Multinomial, l2": (
        TALL,
        "fw.minimize(fw.Multinomial(A, np.digitize(y, [-1, 0, 1])), fw.L2Ball(2.0), rtol=1e-6)",
    ),
    "MatrixCompletion, nuclear": (
        RATINGS,
        "fw.minimize(fw.MatrixCompletion(rows, cols, values, (2_000, 1_000)), fw.NuclearBall(3e3), rtol=1e-3)",
    ),
    "Quadratic, simplex": (
        WIDE,
        "fw.minimize(fw.Quadratic(A.T @ A / 500 + np.eye(2_000), -A.T @ y / 500), fw.Simplex(2_000), rtol=1e-4)",
    ),
    "FrankWolfeClassifier": (TALL, "fw.FrankWolfeClassifier('l1').fit(A, b)"),
    "FrankWolfeClassifierCV": (TALL, "fw.FrankWolfeClassifierCV('l1').fit(A, b)"),
    "FrankWolfeRegressorCV": (TALL, "fw.FrankWolfeRegressorCV('l2').fit(A, y)"),
    "FrankWolfeClassifierCV, sparse": (SPARSE, "fw.FrankWolfeClassifierCV('l1').fit(A[:2_000], b[:2_000])"),
    "MatrixCompleter": (RATINGS, "fw.MatrixCompleter(radius=3e3).fit(rows, cols, values)"),
}
QUICK = (0, 1, 2, 9, 12, 15, 18)  # of the cases, by place
CHILD = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, scipy.sparse as sp, sklearn.linear_model
import frankwolfe as fw
rng = np.random.default_rng(0)
setup, fit = json.loads(sys.stdin.read())
exec(setup)
from numba.core import event
own, open_ = {}, []
class Watch(event.Listener):
    def on_start(self, told):
        open_.append([told.data["dispatcher"].py_func, time.process_time(), 0.0])
    def on_end(self, told):
        function, began, inner = open_.pop()
        taken = time.process_time() - began
        name = function.__module__.removeprefix("frankwolfe.kernels.") + "." + function.__name__
        own[name] = own.get(name, 0.0) + taken - inner
        if open_:
            open_[-1][2] += taken
event.register("numba:compile", Watch())
seconds = []
for _ in range(3):
    began = time.process_time()
    exec(fit)
    seconds.append(time.process_time() - began)
print(json.dumps([seconds, own]))
"""


def first_use(setup: str, fit: str, policy: str) -> tuple[list[float], dict[str, float]]:
    """Return the CPU seconds of three fits in a fresh process, and those of each kernel that was compiled."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", CHILD],
            input=json.dumps([setup, fit]),
            env={**os.environ, "NUMBA_CACHE_DIR": folder, "FRANKWOLFE_COMPILE": policy},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def measure(quick: bool, compile: bool = False) -> dict:
    policy = "always" if compile else "auto"
    names = [name for i, name in enumerate(CASES) if not quick or i in QUICK]
    rows: list[list[Any]] = []
    kernels: Counter[str] = Counter()
    for name in names:
        (first, second, third), own = first_use(*CASES[name], policy)
        rows.append([name, first, second, third, first - second, sum(own.values()), len(own)])
        kernels.update(own)
        print("  ".join([name, f"{first:.2f}", f"{second:.2f}", f"{first - second:+.2f}"]), flush=True)
    bars = [
        held_to(f"first less second, {row[0]}", row[4], bar, "<=", "s")
        for row, bar in zip(rows, [5.0, *[2.0] * (len(rows) - 1)], strict=True)
    ]
    longest = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in kernels.most_common(40))
    return {
        "title": "First use: the first fit beside the second, nothing compiled before",
        "columns": ["what", "first s", "second s", "third s", "first less second", "compiling s", "functions"],
        "rows": rows,
        "bars": bars,
        "notes": [
            "CPU seconds, each case in a fresh process with an empty folder for compiled code.",
            f"Compiled, over all cases: {longest or 'nothing'}.",
        ],
    }


if __name__ == "__main__":
    command_line(measure, compile=(False, "compile at first use, whatever the policy says"))

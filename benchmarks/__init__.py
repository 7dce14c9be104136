"""What we claim about speed, measured: `python -m benchmarks --help`."""

import os

os.environ.setdefault("FRANKWOLFE_COMPILE", "always")  # but for first use, which cold_start measures, kernels are there

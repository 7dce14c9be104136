"""What we claim about speed, measured: `python -m benchmarks --help`."""

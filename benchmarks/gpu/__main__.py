"""Print the GPU table of the performance page and its bar, with the floor measured in the same run.

python -m benchmarks.gpu [--quick] [--only steps narrow large streamed radii accuracy completion]
"""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.report import aligned, held_to, verdict


def show(title: str, columns: list[str], rows: list[list[Any]]) -> None:
    """Print one table."""
    print(f"\n{title}\n{aligned(columns, rows)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small shapes")
    everything = ["steps", "narrow", "large", "streamed", "radii", "accuracy", "completion"]
    parser.add_argument("--only", nargs="*", default=everything)
    chosen = parser.parse_args()
    try:
        import torch
    except ImportError:
        raise SystemExit("this needs torch: pip install 'frankwolfe[torch]'") from None
    if not torch.cuda.is_available():
        raise SystemExit("this needs a GPU that torch can use, and there is none")
    from benchmarks.gpu import parts
    from benchmarks.gpu.certified_radii import certified_radii

    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, logistic loss, l2 ball")
    bandwidth = parts.measured_bandwidth()
    print(f"fastest plain read of 4 GB: {bandwidth / 1e12:.2f} TB/s (the floor below)")
    if "steps" in chosen.only:
        table = parts.steps_table(parts.SHAPES[:2] if chosen.quick else parts.SHAPES, bandwidth)
        columns = ["n x d", "two-pass torch", "one-pass graph", "in minimize", "floor", "64 radii, each"]
        show("Microseconds a step, float32", columns, table)
        shape, two, graph, whole, floor, radii = table[-1 if chosen.quick else 2]
        for bar in (
            held_to(f"{shape}: one-pass graph / floor", graph / floor, 1.1, "<="),
            held_to(f"{shape}: minimize / floor", whole / floor, 1.1, "<="),
            held_to(f"{shape}: two-pass torch / one-pass graph", two / graph, 1.8),
            held_to(f"{shape}: two-pass torch / minimize", two / whole, 1.8),
            held_to(f"{shape}: 64 radii / two-pass torch", 64 * radii / two, 2.0, "<="),
        ):
            print(verdict(bar))
    if "radii" in chosen.only:
        shape = (60_000, 1024) if chosen.quick else (1_000_000, 1024)
        columns = ["", "seconds", "most steps", "largest certified gap", "solved"]
        title = f"A path of radii to a gap of 1e-4 certified in float64, {shape[0]} x {shape[1]}"
        show(title, columns, certified_radii(*shape))
    if "narrow" in chosen.only:
        shape = (100_000, 1024) if chosen.quick else (1_000_000, 1024)
        columns = ["stored as", "bytes", "us a step", "steps", "certified gap"]
        show(f"Narrow numbers, {shape[0]} x {shape[1]}, gap certified in float64", columns, parts.narrow(*shape))
    if "large" in chosen.only:
        size = 6e9 if chosen.quick else 60e9
        show(
            "A large problem on the card", ["n x d", "data", "a step", "minimize", "gap", "memory"], [parts.large(size)]
        )
    if "streamed" in chosen.only:
        size, cap = (4, 2) if chosen.quick else (40, 20)
        row = parts.streamed(size * parts.GIB, cap * parts.GIB, 12)
        show(f"Streamed from main memory, torch held to {cap} GiB of the card", [""] * len(row), [row])
    if "completion" in chosen.only:
        from benchmarks.gpu.completion import completion

        show(
            "Matrix completion in the shape of MovieLens 20M, float32",
            ["", "GPU", "CPU", "", ""],
            completion(chosen.quick),
        )
    if "accuracy" in chosen.only:
        for n, d in [(400_000, 64)] if chosen.quick else [(400_000, 64), (1_000_000, 256)]:
            for relative in (1e-4, 1e-6):
                title = f"Seconds to relative accuracy {relative:.0e}, {n} x {d}"
                show(title, ["solver", "seconds", ""], parts.to_accuracy(n, d, relative))


if __name__ == "__main__":
    main()

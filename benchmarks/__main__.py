"""Run the benchmarks, each in a process of its own, and write what they measured.

    python -m benchmarks                 everything, side by side with the peers
    python -m benchmarks --quick         the short form, under five minutes
    python -m benchmarks iteration paths only these, or those that run only by name: cores cost_model faults ...

Each benchmark is a file here with `measure(quick) -> dict`: a table, curves, and the bars it is held to. The numbers go
to benchmarks/results/NAME.json, the page to benchmarks/results/index.html; the tables of docs/performance.md and the
README's lines on performance are written from them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.page import write_page
from benchmarks.published import page, summary, write_section
from benchmarks.report import printed, verdict

HERE = Path(__file__).parent
NAMES = {
    "start_up": "import and first solve",
    "cold_start": "the first fit beside the second, nothing compiled before",
    "iteration": "one iteration against the memory floor and against plain NumPy",
    "accuracy": "time to a certified accuracy, against scikit-learn, skglm and celer",
    "inside": "the share of a solve inside compiled passes, and what a small solve takes",
    "unseen": "one thread, on data that no constant was set on, against every peer",
    "completion": "matrix completion",
    "paths": "whole regularisation paths",
    "auto_grid": "what method='auto' chooses, against every method",
    "estimators": "the estimators against LogisticRegressionCV",
    "tables": "default estimators on raw tables, beside scikit-learn with a scaler",
    "recommender": "MovieLens100K, the five public splits",
    "scaling": "cost against the size of the data",
    "memory": "peak memory of a solve",
    "overhead": "a cluster's overhead beside one machine's memory",
}
ASKED_FOR = {  # long, or in need of another machine: run by name
    "cores": "what more cores bring, on a machine that has them",
    "cost_model": "the time of an iteration on P workers, predicted and measured",
    "faults": "workers and clients killed at random moments",
    "streaming": "data larger than memory",
    "fuzz": "damaged and hostile files",
}
SKIPPED = 77  # exit status of a benchmark whose data are not here
RUN = f"""
import importlib, json, sys
from frankwolfe.datasets import DatasetError
try:
    record = importlib.import_module("benchmarks." + sys.argv[1]).measure(sys.argv[2] == "quick")
except DatasetError as error:
    print("   skipped:", error)
    sys.exit({SKIPPED})
json.dump(record, open(sys.argv[3], "w"), indent=1)
"""


def run(name: str, quick: bool, results: Path) -> bool:
    """Run one benchmark in a fresh interpreter and keep its record; return False if it failed."""
    path = results / f"{name}.json"
    fresh = path.with_suffix(".new")
    began = time.monotonic()
    print(f"\n== {name}: {(NAMES | ASKED_FOR)[name]}", flush=True)
    done = subprocess.run([sys.executable, "-c", RUN, name, "quick" if quick else "full", str(fresh)], cwd=HERE.parent)
    if done.returncode == SKIPPED:
        return True
    if done.returncode:
        print(f"   {name} failed (exit {done.returncode}); its last result, if any, is kept")
        return False
    record = json.loads(fresh.read_text("utf-8")) | {"quick": quick, "seconds": round(time.monotonic() - began, 1)}
    path.write_text(json.dumps(record, indent=1), encoding="utf-8")
    fresh.unlink()
    print(printed(record), flush=True)
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"which ones (default: {', '.join(NAMES)})")
    parser.add_argument("--quick", action="store_true", help="smaller data and fewer repeats, under five minutes")
    parser.add_argument("--page-only", action="store_true", help="draw the pages and README from the results there are")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(NAMES | ASKED_FOR)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES | ASKED_FOR)}")
    results = HERE / "results" / ("quick" if arguments.quick else "")
    results.mkdir(parents=True, exist_ok=True)
    names = [] if arguments.page_only else arguments.names or list(NAMES)
    failed = [name for name in names if not run(name, arguments.quick, results)]

    records = {}
    for name in NAMES:
        path = results / f"{name}.json"
        if path.exists():
            records[name] = json.loads(path.read_text("utf-8"))
    print("\n== the bars")
    for record in records.values():
        for bar in record["bars"]:
            print("  ", verdict(bar))
    write_page(results / "index.html", records)
    print(f"\nthe page: {results / 'index.html'}")
    if not arguments.quick:
        write_section(HERE.parent / "docs" / "performance.md", page, records)
        write_section(HERE.parent / "README.md", summary, records)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""`method="auto"` against every single method, to a certified gap of 1e-4.

    python -m benchmarks.auto_grid [--quick] [--relative] [--only WORDS] [--write benchmarks/results/auto_grid.md]

For each case (see auto_cases.py): CPU seconds on one thread of `auto`, and of every method that applies, each given
half as much time again as `auto` took: whatever needs longer is no better. The bar: `auto` within 1.5 times, or 50 ms,
of the best. `--relative` asks for 1e-4 of f(x0) - f* instead.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import frankwolfe as fw
from benchmarks.auto_cases import CASES, Made
from benchmarks.report import held_to
from frankwolfe.methods import METHODS

TOL = 1e-4
SHARE, SECONDS = 1.5, 0.05  # how far behind the best `auto` may be
RIVALS: dict[str, Any] = {name: name for name in METHODS if name not in ("agm", "agm_sc")}
RIVALS |= {
    "afw, line search": fw.AcceleratedFrankWolfe(line_search=True),
    "apgd, restart": fw.AcceleratedProjectedGradient(restart=True),
    "fw, line search": fw.FrankWolfe(fw.ExactLineSearch()),
    "fw, short steps": fw.FrankWolfe(fw.ShortStep()),
}
QUICK = (
    "logistic, l1, 2000x100",
    "squares, l1 interior, 2000x200",
    "squares, linf, 2000x200",
    "quadratic, hull of 500 points, 50",
    "completion, nuclear, 300x200",
    "function, nuclear, 80x60",
    "function without constants, l2 interior, 500",
    "quadratic, ellipsoid interior, 300",
)


def solved(make: Callable[[], Made], method: Any, tol: float, limit: float) -> tuple[float, Any] | None:
    """Return CPU seconds and result, None where the method does not apply or does not get there in time."""
    objective, domain, x0 = make()
    began = time.process_time()
    try:
        result = fw.minimize(
            objective, domain, x0, method=method, tol=tol, max_iter=10**7, time_limit=limit, n_threads=1
        )
    except (TypeError, ValueError):
        return None
    return (time.process_time() - began, result) if result.success else None


def measured(make: Callable[[], Made], relative: bool, repeats: int) -> tuple[float, Any, str, float]:
    """Return the seconds and result of `auto`, and the best rival with its seconds."""
    tol = TOL
    if relative:
        objective, domain, x0 = make()
        tight = fw.minimize(objective, domain, x0, tol=1e-6, max_iter=10**7, time_limit=30.0)
        tol = TOL * float(tight.trace.fun[0] - tight.fun)
    began = time.perf_counter()
    first = solved(make, "auto", tol, 60.0)
    if first is None:
        return math.inf, None, "", math.inf
    limit = 1.5 * (time.perf_counter() - began) + 0.02
    ours, (_, result) = [], first
    best = {name: taken[0] for name, rival in RIVALS.items() if (taken := solved(make, rival, tol, limit)) is not None}
    quickest = sorted(best, key=lambda name: best[name])[:3]
    for _ in range(repeats):  # interleaved, so that a busy moment hurts all alike
        again = solved(make, "auto", tol, 60.0)
        ours.append(again[0] if again else math.inf)
        for name in quickest:
            taken = solved(make, RIVALS[name], tol, 2 * limit)
            best[name] = min(best[name], taken[0] if taken else math.inf)
    if not best:
        return min(ours), result, "auto", min(ours)
    name = min(best, key=lambda name: best[name])
    return min(ours), result, name, best[name]


def measure(quick: bool = False, relative: bool = False, only: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the table as plain data."""
    rows, worst = [], 0.0
    names = [n for n in (QUICK if quick else CASES) if not only or any(word in n for word in only)]
    for name in names:
        seconds, result, rival, best = measured(CASES[name], relative, repeats=1 if quick else 2)
        behind = min(seconds / (SHARE * best), seconds / (best + SECONDS)) if math.isfinite(seconds) else math.inf
        worst = max(worst, behind)
        method = result.method if result is not None else "did not finish"
        rows.append(
            [name, method, _ms(seconds), rival, _ms(best), round(seconds / best, 2), "yes" if behind <= 1 else "NO"]
        )
    kept = sum(row[-1] == "yes" for row in rows)
    return {
        "title": f"auto against every method, to a certified {'relative ' * relative}gap of {TOL:g}",
        "columns": ["case", "auto ran", "ms", "best single method", "ms", "ratio", f"within {SHARE}x or 50 ms"],
        "rows": rows,
        "bars": [
            held_to("cases within the bar", float(kept), float(len(rows)), unit=""),
            held_to("worst case, share of the bar", worst, 1.0, "<=", ""),
        ],
        "notes": ["CPU seconds on one thread, the least of three runs; problems are made afresh for each run."],
    }


def _ms(seconds: float) -> float:
    return round(1e3 * seconds, 1)


def page(table: dict[str, Any]) -> str:
    """Return a table as Markdown."""
    lines = [f"# {table['title']}", "", *(f"{note}" for note in table["notes"]), ""]
    lines += ["| " + " | ".join(table["columns"]) + " |", "|" + "---|" * len(table["columns"])]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in table["rows"]]
    lines += [""] + [
        f"{bar['name']}: {bar['value']:.3g} (bar: {bar['sense']} {bar['bar']:.3g})" for bar in table["bars"]
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a dozen cases")
    parser.add_argument("--relative", action="store_true", help="a gap of 1e-4 of f(x0) - f*")
    parser.add_argument("--only", nargs="*", default=[], help="cases whose names contain one of these")
    parser.add_argument("--write", type=Path, help="also write the table to this file")
    given = parser.parse_args()
    text = page(measure(given.quick, given.relative, tuple(given.only)))
    print(text)
    if given.write:
        given.write.parent.mkdir(parents=True, exist_ok=True)
        given.write.write_text(text)


if __name__ == "__main__":
    main()

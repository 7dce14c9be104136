"""A campaign that looks for lies: random problems, adversarially scaled, each answer judged by somebody else.

    python -m benchmarks.lies --count 1000 --jobs 2          a first look
    python -m benchmarks.lies --seed 12345                   one case: the problem, the answer, the verdict
    python -m benchmarks.lies --count 100000 --jobs 16 --write benchmarks/results/lies.txt
    python -m benchmarks.lies --only set=l1,method=away      one corner
    python -m benchmarks.lies --merge one.json two.json --write benchmarks/results/lies.txt

Every set, objective, method, precision, kind of data and array library at hand; see `lies_cases`. What counts as a lie
is in `lies_judge`: a bound above the value of a feasible point, a value that is not f(x), a point outside its set, a
convex function called something else, an exception that is no clear refusal, a warning, a hang, a crash, other bits the
second time.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import re
import sys
import time
import traceback
from collections import Counter
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

AXES = ("set", "objective", "method", "precision", "data", "library", "x0")
HANG = 90.0  # seconds of work on one case after which a process is given up: kernels may have to be compiled first
ASLEEP = 600.0  # seconds, at work or not
GRACE = 20.0  # seconds that a case may go on after the end
SAVED = 30.0  # seconds between two writings of the log: what ends the process from outside loses no more
BATCH = 25


def _work(pipe: Any, current: Any, only: dict[str, str]) -> None:
    """Judge the seeds that come, one verdict for each."""
    from benchmarks.lies_judge import Verdict, judged

    while True:
        seeds = pipe.recv()
        if seeds is None:
            return
        for seed in seeds:
            current[:] = seed, int(time.process_time()), int(time.monotonic())
            try:
                verdict = judged(seed, **only)
            except Exception:
                fault = traceback.format_exc().strip().splitlines()
                verdict = Verdict(seed, _labels(seed, only), "unjudged", [("judge", " ".join(fault[-3:])[:300])])
            pipe.send(verdict)
        current[0] = -1
        pipe.send(None)


def _work_of(pid: int | None) -> float:
    """Return the processor time of a process in seconds, so that a busy machine is not taken for a hang."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


class Worker:
    """A process that judges; it can hang or die, and another takes its place."""

    def __init__(self, only: dict[str, str]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.current = context.Array("q", [-1, 0, 0])
        self.process = context.Process(target=_work, args=(theirs, self.current, only), daemon=True)
        self.process.start()
        theirs.close()
        self.todo: list[int] = []

    def give(self, seeds: list[int]) -> None:
        """Hand over some seeds."""
        self.todo = list(seeds)
        self.pipe.send(seeds)

    @property
    def seed(self) -> int:
        """The case that it is at, or will be at."""
        return self.current[0] if self.current[0] >= 0 else self.todo[0]

    @property
    def hangs(self) -> bool:
        seed, work, began = self.current[:]
        return seed >= 0 and (_work_of(self.process.pid) - work > HANG or time.monotonic() - began > ASLEEP)

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def campaign(seeds: list[int], jobs: int, only: dict[str, str], seen: Any, seconds: float = math.inf) -> None:
    """Judge all seeds, or as many as there is time for, in several processes; call `seen` with each verdict."""
    from benchmarks.lies_judge import Verdict

    end = time.monotonic() + seconds
    waiting = [seeds[i : i + BATCH] for i in range(0, len(seeds), BATCH)][::-1]
    workers = [Worker(only) for _ in range(min(jobs, len(waiting)))]
    for worker in workers:
        worker.give(waiting.pop())
    while workers:
        if time.monotonic() > end:
            waiting.clear()
        if time.monotonic() > end + GRACE:
            for worker in workers:
                worker.stop()
                if worker.todo:
                    seen(Verdict(worker.seed, _labels(worker.seed, only), "cut off by the end"))
            return
        ready = wait([worker.pipe for worker in workers], timeout=1.0)
        for worker in list(workers):
            lost = None
            try:
                if worker.pipe in ready:
                    verdict = worker.pipe.recv()
                    if verdict is not None:
                        worker.todo.remove(verdict.seed)
                        seen(verdict)
                        continue
                    if waiting:
                        worker.give(waiting.pop())
                    else:
                        worker.pipe.send(None)
                        worker.process.join()
                        workers.remove(worker)
                elif worker.hangs:
                    lost = ("hang", f"no answer after {HANG:.0f} s of work, the time limit is under two")
            except (EOFError, ConnectionResetError, BrokenPipeError):
                worker.process.join()
                lost = ("crash", f"the process died with exit code {worker.process.exitcode}")
            if lost is not None:
                seed = worker.seed
                worker.stop()
                seen(Verdict(seed, _labels(seed, only), lost[0], [lost]))
                left = [s for s in worker.todo if s != seed]
                workers.remove(worker)
                if left:
                    waiting.append(left)
                if waiting:
                    workers.append(Worker(only))
                    workers[-1].give(waiting.pop())


def _labels(seed: int, only: dict[str, str]) -> dict[str, str]:
    from benchmarks.lies_cases import case

    try:
        return case(seed, **only).labels
    except Exception:
        return {}


class Log:
    """Counts and violations of one run, or of several; written now and then to `path`, and as JSON beside it."""

    def __init__(self, command: str, total: int = 0, path: Path | None = None) -> None:
        self.commands, self.total, self.path = [command] if command else [], total, path
        self.began = self.saved = time.monotonic()
        self.done, self.work = 0, 0.0
        self.counts = {axis: Counter() for axis in AXES}
        self.endings, self.bounds, self.opinions = Counter(), Counter(), Counter()
        self.refusals, self.kinds = Counter(), Counter()
        self.lies: list[tuple[int, str, str, dict[str, str]]] = []

    def save(self) -> None:
        """Write the log, if there is a place for it."""
        self.saved = time.monotonic()
        if self.path is not None:
            self.path.write_text(self.text())
            numbers = {name: value for name, value in vars(self).items() if name not in ("path", "began", "saved")}
            self.path.with_suffix(".json").write_text(json.dumps(numbers))

    def add(self, path: Path) -> None:
        """Add what another run has written."""
        other = json.loads(path.read_text())
        for name in ("commands", "lies", "done", "total", "work"):
            setattr(self, name, getattr(self, name) + other[name])
        for name in ("endings", "bounds", "opinions", "refusals", "kinds"):
            getattr(self, name).update(other[name])
        for axis in AXES:
            self.counts[axis].update(other["counts"][axis])

    def __call__(self, verdict: Any) -> None:
        self.done += 1
        self.work += verdict.seconds
        for axis in AXES:
            self.counts[axis][verdict.labels.get(axis, "-")] += 1
        self.endings[verdict.ending] += 1
        self.bounds[verdict.bound or "none claimed"] += 1
        self.opinions[verdict.verified or "not asked"] += 1
        if verdict.refusal:
            self.refusals[re.sub(r"[-+]?\d[\d.e+-]*", "#", verdict.refusal)[:110]] += 1
        for kind, words in verdict.lies:
            self.kinds[kind] += 1
            self.lies.append((verdict.seed, kind, words, verdict.labels))
            print(f"\r{described(verdict.seed, kind, words, verdict.labels)}", flush=True)
        if time.monotonic() - self.saved > SAVED:
            self.save()
        if sys.stderr.isatty() or self.done % 500 == 0:
            rate = self.done / (time.monotonic() - self.began)
            print(
                f"\r{self.done} of {self.total}, {len(self.lies)} violations, {rate:.1f} a second "
                f"({1000 * self.work / self.done:.0f} ms of work each)",
                end="" if sys.stderr.isatty() else "\n",
                file=sys.stderr,
                flush=True,
            )

    def text(self) -> str:
        """Return the log."""
        lines = [
            "Random problems, each answer judged by code that shares nothing with the library.",
            *self.commands,
            "",
            f"{self.done} cases, {len(self.lies)} violations" + (f": {_listed(self.kinds)}" if self.lies else ""),
            "",
            "endings: " + _listed(self.endings),
            "lower bounds, by formulae in 80-bit numbers: " + _listed(self.bounds),
            "fw.verify: " + _listed(self.opinions),
        ]
        for axis in AXES:
            lines.append(f"{axis}: " + _listed(self.counts[axis]))
        lines += ["", "refused, with the sentence:"]
        lines += [f"{n:7d}  {words}" for words, n in self.refusals.most_common()]
        lines += ["", "violations:" if self.lies else "violations: none"]
        lines += [described(*lie) for lie in sorted(self.lies, key=lambda lie: lie[:2])]
        return "\n".join(lines) + "\n"


def described(seed: int, kind: str, words: str, labels: dict[str, str]) -> str:
    """Return a violation in a line."""
    return f"seed {seed}  {kind:14s} {' '.join(labels.get(axis, '-') for axis in AXES)} | {words}"


def _listed(counts: Counter) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.most_common())


def show(seed: int, only: dict[str, str]) -> int:
    """Print one case, the library's answer and the verdict; return the number of violations."""
    import numpy as np

    from benchmarks.lies_cases import case
    from benchmarks.lies_judge import judged

    keys = "".join(f", {key}={value!r}" for key, value in only.items())
    print(f"from benchmarks.lies_cases import case; c = case({seed}{keys}); c.solve()")
    with np.printoptions(threshold=60):
        problem = case(seed, **only)
        print("\n".join(f"  {key}: {value}" for key, value in problem.labels.items()))
        print("  " + ", ".join(problem.notes))
        print(f"  {problem.set}, {problem.options}")
        for name, value in vars(problem.model).items():
            print(f"  {name} = {value.astype(float) if isinstance(value, np.ndarray) else value!r}")
        if problem.x0 is not None:
            print(f"  x0 = {problem.x0!r}")
        try:
            result = problem.solve()
            print(result)
            print(f"x = {result.x!r}")
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    verdict = judged(seed, **only)
    print(f"verdict: {verdict.ending}; bound {verdict.bound or 'not claimed'}; {verdict.verified} {verdict.refusal}")
    for kind, words in verdict.lies:
        print(f"  {kind}: {words}")
    return len(verdict.lies)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="how many cases (default 1000)")
    parser.add_argument("--start", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many processes")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin nothing new after so long")
    parser.add_argument("--seed", type=int, help="one case, with the problem and the answer")
    parser.add_argument("--seeds", default="", help="these cases, such as 14,38,65")
    parser.add_argument("--only", default="", help="such as set=l1,method=away,precision=float32,library=torch")
    parser.add_argument("--write", type=Path, help="write the log to this file, and its counts to a .json beside it")
    parser.add_argument("--merge", type=Path, nargs="+", help="no cases: one log of the .json files of several runs")
    options = parser.parse_args()
    only = dict(pair.split("=", 1) for pair in options.only.split(",") if pair)
    command = f"python -m benchmarks.lies {' '.join(sys.argv[1:])}"
    if options.merge:
        log = Log("", path=options.write)
        for path in options.merge:
            log.add(path)
        log.save()
        print(log.text())
        return min(len(log.lies), 1)
    if options.seed is not None:
        return min(show(options.seed, only), 1)
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    seeds = list(range(options.start, options.start + options.count))
    if options.seeds:
        seeds = [int(seed) for seed in re.split(r"[\s,]+", options.seeds.strip())]
    log = Log(command, len(seeds), options.write)
    campaign(seeds, options.jobs, only, log, options.seconds)
    log.save()
    print(log.text().split("violations:")[0])
    return min(len(log.lies), 1)


if __name__ == "__main__":
    sys.exit(main())

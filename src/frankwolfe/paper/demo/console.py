"""What the demonstration shows while it works: a progress bar, then tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from frankwolfe.validation import optional


class Console:
    """Progress on stderr, tables on stdout; a bar on a terminal, one line per job elsewhere.

    Parameters
    ----------
    quiet : bool
        Show nothing at all.
    jobs : int
        Number of solves to come.
    """

    def __init__(self, quiet: bool, jobs: int) -> None:
        self.quiet, self.jobs, self.started = quiet, jobs, 0
        self.out: Any = None
        self.bar: Any = None
        if not quiet:
            rich = optional("rich.console", extra="cli")
            self.out, self.err = rich.Console(), rich.Console(stderr=True)

    def __enter__(self) -> Self:
        if self.out is not None and self.err.is_terminal:
            parts = optional("rich.progress", extra="cli")
            self.bar = parts.Progress(
                parts.SpinnerColumn(),
                parts.BarColumn(24),
                parts.MofNCompleteColumn(),
                parts.TimeElapsedColumn(),
                parts.TextColumn("{task.description}"),
                console=self.err,
                transient=True,
            )
            self.bar.start()
            self.task = self.bar.add_task("", total=self.jobs)
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def begin(self, job: str) -> None:
        """Say what is being solved now."""
        self.started += 1
        if self.bar is not None:
            self.bar.update(self.task, description=job, completed=self.started - 1)
        elif self.out is not None:
            self.err.print(f"[{self.started}/{self.jobs}] {job}", markup=False, highlight=False, soft_wrap=True)

    def table(self, title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print a table."""
        if self.out is None:
            return
        table = optional("rich.table", extra="cli").Table(
            title=title,
            title_justify="left",
            title_style="bold",
            box=optional("rich.box", extra="cli").SIMPLE_HEAD,
            padding=0,  # 80 columns must be enough
        )
        for i, name in enumerate(head):
            table.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        self.out.print(table)

    def say(self, text: str) -> None:
        """Print a line."""
        if self.out is not None:
            self.out.print(text, markup=False, highlight=False, soft_wrap=True)

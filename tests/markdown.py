"""Code blocks of Markdown pages: run in the order in which they stand, and what they print compared with the page.

A ``python`` block is run; a ``text`` block right after it is what it prints, and a block without one prints nothing. In
a ``console`` block lines that begin with ``$ frankwolfe`` are run, and the lines after them are what they print. All
blocks of a page share their names and one empty folder. ``<!-- needs: torch -->`` on the line before a block skips it
where that package is missing.

    python -m tests.markdown README.md docs/*.md     write what the python blocks print now into the pages
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])|[-+]?\d*\.\d+(?:e[-+]?\d+)?", re.IGNORECASE)
FENCE = re.compile(
    r"(?:<!-- needs: (\w+) -->\n)?^```(python|console)\n(.*?)^```\n(?:\n?```text\n(.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
SECONDS = re.compile(r"\s*(?:s|ms|µs|min|seconds)\b")
WORK = re.compile(r"\s*(?:steps|gradients|oracle|passes|iterations|products)\b")
TOLERANCE = 0.02  # of a number that is neither a time, nor a count of work, nor a rest near zero


class Block(NamedTuple):
    """One block of a page, with the line it begins on."""

    line: int
    language: str
    code: str
    shown: str
    needs: str | None


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a page that can be run."""
    for found in FENCE.finditer(text):
        needs, language, code, shown = found.groups()
        yield Block(text.count("\n", 0, found.start(3)) + 1, language, code, shown or "", needs)


def run_page(page: Path) -> list[str]:
    """Run a page's blocks in the current folder; return the packages that some of them would have needed.

    Raises
    ------
    AssertionError
        If a block prints other things than the page shows; with both, and where.
    """
    space: dict[str, object] = {"__name__": "__main__"}
    missing = []
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.needs and find_spec(block.needs) is None:
            missing.append(block.needs)
            continue
        where = f"{page.name}, line {block.line}"
        for code, shown in _commands(block.code) if block.language == "console" else [(block.code, block.shown)]:
            printed = _command(code) if block.language == "console" else _python(code, where, space)
            fault = difference(shown, printed)
            assert not fault, f"{where}: {fault}\n--- the page shows\n{shown}\n--- printed\n{printed}"
    return missing


def _python(code: str, where: str, space: dict[str, object]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, where, "exec"), space)
    return out.getvalue()


def _commands(code: str) -> list[tuple[str, str]]:
    """Return the command lines of a console block, each with what is shown after it."""
    parts = re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]
    pairs = [re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*)\n(.*)", part, re.DOTALL) for part in parts]
    return [(pair[1].replace("\\\n", " "), pair[2]) for pair in pairs if pair]


def _command(line: str) -> str:
    from typer.testing import CliRunner

    from frankwolfe.cli.app import app

    words = shlex.split(line, comments=True)
    assert words[0] == "frankwolfe", f"only frankwolfe's own commands can be run, not {line!r}"
    done = CliRunner().invoke(app, words[1:])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def difference(shown: str, printed: str) -> str:
    """Return in words what differs between two texts beyond rounding, or nothing.

    Words must be equal, up to spaces; numbers to two per cent or one unit in the last digit shown. Times are free,
    counts of work agree to a factor of two, and rests below 1e-3 that are written with an exponent to one of a
    million. An ellipsis in what is shown stands for anything.
    """
    if "..." in shown.split():
        head, tail = re.split(r"(?:^|(?<=\s))\.\.\.(?=\s|$)", shown, maxsplit=1)
        words = printed.split()
        for cut in range(len(words) + 1):
            if not difference(head, " ".join(words[:cut])):
                return (
                    ""
                    if any(not difference(tail, " ".join(words[rest:])) for rest in range(cut, len(words) + 1))
                    else f"nothing printed fits {tail!r}"
                )
        return f"nothing printed fits {head!r}"
    if _words(shown) != _words(printed):
        return f"{_words(shown)!r} is not {_words(printed)!r}"
    for mine, theirs in zip(NUMBER.finditer(shown), NUMBER.finditer(printed), strict=True):
        if not SECONDS.match(shown, mine.end()) and not _alike(mine[0], theirs[0], bool(WORK.match(shown, mine.end()))):
            return f"{mine[0]} is not {theirs[0]}"
    return ""


def written(page: Path) -> str:
    """Return the page with what its python blocks print now; what was right up to rounding is left."""
    text, space = page.read_text(encoding="utf-8"), {"__name__": "__main__"}

    def again(found: re.Match[str]) -> str:
        needs, language, code, shown = found.groups()
        if language == "console" or (needs and find_spec(needs) is None):
            return found[0]
        printed = _python(code, page.name, space)
        if not difference(shown or "", printed):
            return found[0]
        block = found[0] if shown is None else found[0][: found.end(3) - found.start()] + "```\n"
        return block + (f"\n```text\n{printed}```\n" if printed else "")

    return FENCE.sub(again, text)


def _words(text: str) -> str:
    return " ".join(NUMBER.sub(" # ", text).split())


def _alike(shown: str, printed: str, work: bool) -> bool:
    a, b = (float(number.replace(",", "")) for number in (shown, printed))
    small = "e" in shown.lower() and max(abs(a), abs(b)) <= 1e-3
    if work or small:
        factor = 2 if work else 1e6
        return min(abs(a), abs(b)) * factor >= max(abs(a), abs(b)) - work or a == b
    mantissa, _, exponent = shown.lower().partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])) if "." in mantissa or exponent else 0.0
    return abs(a - b) <= max(TOLERANCE * abs(a), 1.01 * unit)


if __name__ == "__main__":
    import sys
    import tempfile

    for name in map(Path, sys.argv[1:]):
        page = name.resolve()
        with contextlib.chdir(tempfile.mkdtemp()):
            page.write_text(written(page), encoding="utf-8")

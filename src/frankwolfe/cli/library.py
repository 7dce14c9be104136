"""Commands that run a part of the library as it is: demo, reproduce, bench, compile, verify."""

from __future__ import annotations

import subprocess
import sys
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from frankwolfe.cli.output import Json, Quiet, polite, show
from frankwolfe.validation import nearest

# Spelled out, so that `--help` need not import the experiments; a test keeps it equal to theirs.
PARTS = (
    *("certificates", "fig1", "fig2", "fig3", "maps", "fig4", "beyond", "proven", "why", "cost", "table"),
    *("claims", "all"),
)

NOT_VERIFIED = 3

data = typer.Typer(
    help="List, fetch and describe datasets.\n\nExample:\n\n    frankwolfe data fetch mushrooms",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(help="The dataset, for example mushrooms.")]
Folder = Annotated[Path | None, typer.Option("--dir", help="Look here first; default: $FRANKWOLFE_DATA.")]


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("report"),
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing.")] = False,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the report in a browser.")] = False,
    small: Annotated[bool, typer.Option("--small", help="A few seconds' work only: less data, fewer steps.")] = False,
) -> None:
    """Solve three real problems four ways, and write a report worth looking at.

    Example:

        frankwolfe demo --out report --open
    """
    from frankwolfe.paper.demo import FULL, SMALL, run

    path = run(out, settings=SMALL if small else FULL, quiet=quiet)
    if show:
        webbrowser.open(path.resolve().as_uri())


def reproduce(
    part: Annotated[str, typer.Argument(help=f"What to regenerate: {', '.join(PARTS)}.", metavar="[PART]")] = "all",
    out: Annotated[Path, typer.Option(help="Folder for the page, the figures and the runs.")] = Path("reproduction"),
    data: Annotated[
        Path | None, typer.Option(help="Folder with the datasets; FRANKWOLFE_DATA, the cache or a download otherwise.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A first look in a few minutes: less of everything.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes side by side (two by default).")] = None,
    publish: Annotated[
        bool,
        typer.Option("--publish", help="Write the documentation's summary and the README's table (in the sources)."),
    ] = False,
) -> None:
    """Regenerate the paper's figures and tables from the data, with a verdict on every claim.

    A run that was stopped goes on where it was: finished pieces are kept in OUT/runs.

    Example:

        frankwolfe reproduce fig2 --quick --out reproduction
    """
    if part not in PARTS:
        raise ValueError(f"unknown part {part!r}; choose one of {', '.join(PARTS)}")
    if data is not None and not data.is_dir():
        raise ValueError(f"--data: {str(data)!r} is not a folder")
    from frankwolfe.paper import reproduce as run

    page = run(part, out=out, data=data, quick=quick, quiet=quiet, jobs=jobs, into=Path.cwd() if publish else None)
    if not quiet:
        typer.echo(f"wrote {page}")


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Which benchmarks; all by default.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The short form.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Run the benchmarks of a checkout and write what they measured.

    They are not part of the installed package: run this in a clone of the repository.

    Example:

        frankwolfe bench recommender --quick
    """
    home = checkout()
    if home is None:
        raise ValueError("the benchmarks are in the repository and not in the package; run this in a clone of it")
    known = sorted(p.stem for p in (home / "benchmarks").glob("*.py") if "def measure(" in p.read_text("utf-8"))
    names = names or []
    for name in names:
        if name not in known:
            raise ValueError(f"no benchmark {name!r}; {nearest(name, known)}")
    command = [sys.executable, "-m", "benchmarks", *["--quick"] * quick, *names]
    done = subprocess.run(command, cwd=home, stdout=subprocess.DEVNULL if quiet else None)
    if done.returncode:
        raise typer.Exit(done.returncode)


def checkout() -> Path | None:
    """Return the repository that holds the benchmarks: here, above, or where the package was installed from."""
    here = Path.cwd()
    for folder in (here, *here.parents, *Path(__file__).resolve().parents):
        if (folder / "benchmarks" / "__main__.py").is_file() and (folder / "src" / "frankwolfe").is_dir():
            return folder
    return None


def compile(
    loss: Annotated[
        list[str] | None,
        typer.Option("--loss", help="A loss; may be repeated. Default: log_loss, squared_error."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Compile the kernels now, so that no solve waits for it.

    Without this, data are read by plain NumPy and SciPy until so much was read that compiling pays. The environment
    variable FRANKWOLFE_COMPILE overrules that: `always` compiles at first use, `never` does not compile.

    Example:

        frankwolfe compile --loss log_loss
    """
    from frankwolfe.precompile import LOSSES, compile_kernels

    for what, seconds in compile_kernels(loss or LOSSES):
        if not quiet:
            typer.echo(f"{what}: {f'{seconds:.1f} s' if seconds else 'there already'}")


def verify(
    file: Annotated[Path, typer.Argument(help="A file that Result.save(path, objective, domain) wrote.")],
    slack: Annotated[
        float, typer.Option(help="A bound counts as shown up to this part of the claimed gap; 0 asks for all of it.")
    ] = 0.5,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Judge a saved result: recompute f(x), a lower bound and membership from the data in the file, with proof.

    Interval arithmetic, and none of the solver's code. The exit code is 0 if every claim was shown, else 3.

    Example:

        frankwolfe verify run.npz
    """
    from frankwolfe.verify import verify as judged

    found = judged(file, slack=slack)
    if json:
        names = ("ok", "gap", "upper", "lower", "infeasibility", "fun", "lower_bound", "false", "unproven", "remarks")
        show({name: getattr(found, name) for name in names}, as_json=True, quiet=quiet)
    elif not quiet:
        typer.echo(repr(found))
    if not found.ok:
        raise typer.Exit(NOT_VERIFIED)


def show_list(as_json: Json = False) -> None:
    """List the datasets known by name.

    Example:

        frankwolfe data list
    """
    from frankwolfe import datasets

    known = {name: datasets.info(name) for name in datasets.names()}
    if as_json:
        show({name: _about(entry) for name, entry in known.items()}, as_json=True, quiet=False)
        return
    for name, about in known.items():
        typer.echo(f"{name:<14} {about.rows:>7} x {about.columns:<5} {about.description}")


def info(name: Name, as_json: Json = False) -> None:
    """Say what a dataset is, without loading it.

    Example:

        frankwolfe data info a9a
    """
    from frankwolfe import datasets

    about = datasets.info(name)
    if as_json:
        show({"name": name, **_about(about)}, as_json=True, quiet=False)
        return
    kind = "users x items" if about.kind == "ratings" else "rows x columns"
    entries = "observed" if about.kind == "ratings" else "nonzeros"
    lines = {
        "what": about.description,
        "size": f"{about.rows} x {about.columns} ({kind}), {about.nonzeros} {entries}",
        "classes": ", ".join(f"{label}: {count}" for label, count in about.classes.items()),
        "files": ", ".join(dict.fromkeys(file.name for file in about.files.values())),
        "source": about.source,
    }
    typer.echo(name)
    for word, text in lines.items():
        if text:
            typer.echo(f"  {word:<8} {text}")


def fetch(name: Name, directory: Folder = None, as_json: Json = False, quiet: Quiet = False) -> None:
    """Load a dataset, downloading it if it is nowhere here, and say what is in it.

    Example:

        frankwolfe data fetch mushrooms
    """
    from frankwolfe import datasets

    datasets.info(name)  # an unknown name is an error before anything is read
    loaded = datasets.load(name, directory=directory, progress=False if quiet or as_json else None)
    if as_json:
        show({"name": name, **_about(datasets.info(name))}, as_json=True, quiet=False)
    elif not quiet:
        typer.echo(repr(loaded))


def _about(entry: Any) -> dict[str, Any]:
    names = ("description", "kind", "rows", "columns", "nonzeros", "classes", "source")
    return {name: getattr(entry, name) for name in names}


data.command("list")(polite(show_list))
data.command("info")(polite(info))
data.command("fetch")(polite(fetch))

"""The shape of the code: imports point one way, importing is light, files are short, everything public is tested."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import frankwolfe as fw

SOURCE = Path(fw.__file__).parent
LAYERS = [
    {"verify"},
    {"backends", "validation", "rounding", "files"},
    {"atoms"},
    {"kernels", "lowrank", "points"},
    {"losses"},
    {"rows", "sets", "objectives"},
    {"problem", "feasible", "serialisation", "distributed"},
    {"methods"},
    {"engine"},
    {"certificates", "trace", "result", "checkpoint", "terminal", "stopping"},
    {"run"},
    {"minimize"},
    {"compare", "path", "precompile"},
    {"plotting", "datasets"},
    {"estimators", "explain"},
    {"__init__"},
    {"paper"},
    {"cli"},
    {"__main__"},
]


def layer(module: str) -> int:
    """Return the layer of a module named relative to the package ('' is the package itself)."""
    for candidate in (module, module.partition(".")[0] or "__init__"):
        for number, names in enumerate(LAYERS):
            if candidate in names:
                return number
    raise AssertionError(f"frankwolfe.{module} has no layer: add it to LAYERS")


def imports(path: Path, inside_functions: bool = False) -> set[str]:
    """Return the modules of the package that a file imports when it is loaded, or also later, inside functions."""
    found: set[str] = set()
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not inside_functions:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "frankwolfe":
            assert node.module is not None
            base = node.module.removeprefix("frankwolfe").removeprefix(".")
            for alias in node.names:
                deeper = f"{base}.{alias.name}".lstrip(".")
                is_module = (SOURCE / (deeper.replace(".", "/") + ".py")).exists() or (
                    SOURCE / deeper.replace(".", "/") / "__init__.py"
                ).exists()
                found.add(deeper if is_module else base)
        elif isinstance(node, ast.Import):
            found |= {
                a.name.removeprefix("frankwolfe").removeprefix(".")
                for a in node.names
                if a.name.split(".")[0] == "frankwolfe"
            }
        waiting.extend(ast.iter_child_nodes(node))
    return found


MODULES = sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


UPWARD = {  # on request only: what draws itself when asked to, and data that turn out to be on a cluster
    *((here, "plotting") for here in ("compare", "path", "result", "trace")),
    *((here, "distributed") for here in ("objectives", "rows")),
}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    """Imports inside functions count, too, but for the few that are listed."""
    here = name_of(path)
    folder, at_once = here.partition(".")[0], imports(path)
    for there in imports(path, inside_functions=True):
        other = there.partition(".")[0]
        fine = folder == other or layer(there) <= layer(here) or (there not in at_once and (folder, other) in UPWARD)
        assert fine, f"{here} imports {there}, which lies above it"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_private_name_is_imported_across_packages(path: Path) -> None:
    here = name_of(path).partition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("frankwolfe."):
            _, package, *inside = (node.module or "").split(".")
            private = [name for name in (*inside, *(a.name for a in node.names)) if name.startswith("_")]
            assert package == here or not private, f"{name_of(path)} imports {private} of {package}"


def test_the_judge_shares_no_code() -> None:
    """Not even inside functions does the judge import anything of the library but itself."""
    allowed = {*sys.stdlib_module_names, "numpy", "scipy", "torch", "jax"}
    for path in (SOURCE / "verify").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path.name}: relative import"
            for name in names:
                assert name.startswith("frankwolfe.verify") or name.split(".")[0] in allowed, f"{path.name}: {name}"


def test_there_is_one_loop() -> None:
    """Only the loop takes steps through the engine (figures may look inside a method), and methods know no engine."""
    users = {
        name_of(path)
        for path in MODULES
        if any(there.partition(".")[0] == "engine" for there in imports(path, inside_functions=True))
    }
    allowed = {"minimize", "run", "path.lockstep"}  # the last two read the numbers of evidence
    assert {name for name in users if name.partition(".")[0] not in ("engine", "paper")} <= allowed


HEAVY = (
    *("numba", "sklearn", "matplotlib", "plotly", "pandas", "pooch", "typer", "rich", "torch", "jax", "cupy", "dask"),
    *("cvxpy", "highspy", "maxflow", "requests", "threadpoolctl", "tqdm"),
    *("scipy.optimize", "scipy.sparse", "scipy.linalg"),
)


@pytest.mark.parametrize("package", ["frankwolfe", "frankwolfe.datasets"])
def test_import_is_light(package: str) -> None:
    code = f"import {package}, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_everything_public_is_documented_with_an_example() -> None:
    from frankwolfe.methods import StepSize

    abstract = (fw.Set, fw.Objective, fw.Method, fw.ProjectableSet, StepSize)
    for name in fw.__all__:
        thing = getattr(fw, name)
        assert thing.__doc__, name
        plain_record = name in ("Result", "Status", "Iteration", "Comparison", "CheckpointError", "ShortStep")
        if thing in abstract or plain_record or name in ("Backtracking", "ExactLineSearch", "Verification"):
            continue
        assert ">>>" in thing.__doc__, f"{name} has no runnable example"

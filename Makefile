# Two commands do everything: `make demo` and `make test`. Both set up a virtual environment first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test portability bench quickbench backends minimum docs check format clean

help:  ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 12

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@

demo: $(VENV)/.dev  ## solve three real problems and write report/index.html
	$(BIN)/python -m frankwolfe demo --out report

test: check  ## lint, types and every test
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

portability: $(VENV)/.dev  ## the numerical tests under other instruction sets (two core-hours, shared by JOBS cores)
	$(BIN)/python -m tests.portability --jobs $(JOBS) $(addprefix tests/,methods sets objectives kernels)

bench: $(VENV)/.bench  ## measure every claim about speed, side by side with the peers (about 30 minutes)
	$(BIN)/python -m benchmarks

quickbench: $(VENV)/.bench  ## the short form, under five minutes
	$(BIN)/python -m benchmarks --quick

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	@touch $@

backends: .venv-backends/.done  ## the backend tests with PyTorch and JAX too (a large download, its own environment)
	.venv-backends/bin/python -m pytest -n $(JOBS) --dist worksteal tests/backends

.venv-backends/.done: pyproject.toml
	$(PYTHON) -m venv .venv-backends
	.venv-backends/bin/python -m pip install --quiet --editable ".[test,torch,jax]"
	@touch $@

minimum: .venv-minimum/.done  ## every test with the oldest versions of all dependencies that pyproject.toml allows
	.venv-minimum/bin/python -m pytest -n $(JOBS) --dist worksteal -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning

.venv-minimum/.done: pyproject.toml
	$(PYTHON) -m venv .venv-minimum
	$(PYTHON) tests/minimum.py pyproject.toml > .venv-minimum/constraints.txt
	.venv-minimum/bin/python -m pip install --quiet --constraint .venv-minimum/constraints.txt --editable ".[test]"
	@touch $@

docs: $(VENV)/.docs  ## build the site, docs/_build/html/index.html, with every example run afresh
	$(BIN)/sphinx-build -q -b html docs docs/_build/html

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	@touch $@

check: $(VENV)/.dev  ## lint, format and types, without the tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright

format: $(VENV)/.dev  ## let ruff tidy the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove everything that was generated
	rm -rf $(VENV) .venv-backends .venv-minimum docs/_build docs/_static/guide docs/_static/paper docs/paper.md docs/cli.md docs/gallery docs/reference report reproduction .pytest_cache .ruff_cache .hypothesis src/frankwolfe/kernels/__pycache__ src/frankwolfe/kernels/*/__pycache__

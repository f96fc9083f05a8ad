# What a newcomer runs: `make demo`, `make test`. Everything that is needed is installed into .venv by these rules.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# An installation is stale when the sources of the extension or the lists of packages are newer than it; the Python
# files of an editable one are never stale.
RUST := $(shell find src -name '*.rs') Cargo.toml Cargo.lock pyproject.toml
SOURCES := $(RUST) $(shell find python/headland -name '*.py')
ARCHIVES ?=
OUT ?= demo

.PHONY: help demo test test-rust test-python check check-rust check-python docs bench soak generate clean

help: ## Say what there is.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.installed ## Start the service, pull every job, map every field (ARCHIVES=folder adds real archives).
	$(BIN)/headland demo --out $(OUT) $(if $(ARCHIVES),--archives "$(ARCHIVES)")

test: test-rust test-python ## All tests, Rust and Python.

test-rust: ## The core, without Python.
	cargo test --locked

test-python: $(VENV)/.developed ## The package, against its own service.
	$(BIN)/python -m pytest

check: check-rust check-python ## Formatting, lints, types, stubs.

check-rust:
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	cargo clippy --locked --features python --lib -- -D warnings

check-python: $(VENV)/.developed
	$(BIN)/ruff format --check python notebooks benches
	$(BIN)/ruff check python notebooks benches
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest headland._core

docs: $(VENV)/.developed ## Build the reference pages into python/docs/_build; every warning is an error.
	$(BIN)/sphinx-build -W --keep-going -n -q python/docs python/docs/_build

bench: $(VENV)/.developed ## Timed bars; exits non-zero when one is missed.
	cargo bench --locked --bench core -- --quick
	$(BIN)/python benches/bars.py
	$(BIN)/python benches/calls.py
	$(BIN)/python benches/limits.py
	$(BIN)/python benches/lists.py

soak: $(VENV)/.developed ## The long series: as in the tests, with more rounds.
	HEADLAND_SERIES=50 PROPTEST_CASES=10000 cargo test --locked --release
	HEADLAND_SERIES=50 $(BIN)/python -m pytest --timeout 1200

generate: ## Write the files that are made from the table.
	HEADLAND_GENERATE=1 cargo test --locked --quiet --test generated

clean: ## Remove everything that these rules made.
	rm -rf $(VENV) target demo dist python/docs/_build

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The package as users install it: no dependency at all.
$(VENV)/.installed: $(VENV)/bin/python $(SOURCES)
	@echo "Building headland: some minutes the first time, nearly all of it compiling."
	$(BIN)/pip install --disable-pip-version-check --quiet --force-reinstall --no-deps .
	@rm -f $(VENV)/.developed
	@touch $@

# The package as its developers use it: editable, with every extra, the test tools and the linters.
$(VENV)/.developed: $(VENV)/bin/python $(RUST)
	$(BIN)/pip install --disable-pip-version-check --quiet --editable '.[dev]'
	@rm -f $(VENV)/.installed
	@touch $@

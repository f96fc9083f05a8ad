# Commands for development; `make help` lists them. The rules install all requirements into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# An installation is stale if the sources of the extension or the lists of packages are newer. The Python files of an
# editable installation are never stale.
RUST := $(shell find src -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock pyproject.toml
SOURCES := $(RUST) $(shell find python/headland -name '*.py')
ARCHIVES ?=
OUT ?= demo
# The comparison of readers also runs on real archives if there is a corpus with a folder `ag`.
BENCH_CORPUS := $(addprefix --corpus ,$(wildcard ../shared/corpus))
SECONDS ?= 300
# What `make wheels` builds, of benches/wheels.py, and what `make audit` checks; advisories need the network.
RELEASE ?= linux linux-arm musl windows sdist
AUDIT ?= advisories bans licenses sources
# Data next to the checkout: without them, the tests that name them pass and compare nothing.
CORPUS := $(or $(HEADLAND_CORPUS),../shared/corpus)
SPECIFICATION := $(or $(HEADLAND_SPEC),../shared/spec/service.md)
needing = $(shell grep -rlE --include='*.rs' --include='*.py' '$(1)' tests python/tests)
compared = $(if $(wildcard $(1)),"All tests that need $(1) compared it.","NOT COMPARED: $(1) is missing (set $(2) to \
	another path); tests in $(call needing,$(3)) need it.")

.PHONY: help demo test compared test-rust test-python check check-rust check-python docs bench soak fuzz wheels audit generate messages clean

help: ## List the commands.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.installed ## Start the service, pull every job, map every field (ARCHIVES=folder adds real archives).
	$(BIN)/headland demo --out $(OUT) $(if $(ARCHIVES),--archives "$(ARCHIVES)")

test: test-rust test-python ## All tests, Rust and Python.
	@$(MAKE) --no-print-directory compared

compared: ## List the data that tests could not compare, since it is missing next to the checkout.
	@echo $(call compared,$(CORPUS),HEADLAND_CORPUS,HEADLAND_CORPUS|import .*\bCORPUS\b|corpus::folder)
	@echo $(call compared,$(SPECIFICATION),HEADLAND_SPEC,HEADLAND_SPEC|import .*\bSPECIFICATION\b)

test-rust: ## The core, without Python.
	cargo test --locked --no-fail-fast

# Three processes, also on two cores: tests wait for a service or for another process half of their time.
test-python: $(VENV)/.developed ## The package, against the local service.
	$(BIN)/python -m pytest --numprocesses 3 --dist loadfile

check: check-rust check-python ## Formatting, lints, types, stubs.

check-rust:
	cargo fmt --check
	cargo clippy --locked --workspace --all-targets -- -D warnings

check-python: $(VENV)/.developed
	$(BIN)/ruff format --check python notebooks benches
	$(BIN)/ruff check python notebooks benches
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest headland._core

docs: $(VENV)/.developed ## Build the reference pages into python/docs/_build; every warning is an error.
	$(BIN)/sphinx-build -W --keep-going -n -q python/docs python/docs/_build

# The spatial extension of duckdb requires its own version of duckdb, so both are installed to a separate folder.
bench: $(VENV)/.developed ## All benchmarks; exits non-zero if a target is missed.
	$(BIN)/pip install --disable-pip-version-check --quiet --upgrade --target target/bench/duckdb duckdb-extension-spatial
	@missed=0; \
	PYTHONPATH=target/bench/duckdb $(BIN)/python benches/archives.py --data target/bench $(BENCH_CORPUS) \
		--markdown benches/archives.md || missed=1; \
	HEADLAND_ARCHIVE=target/bench/points_100000.zip cargo bench --locked --bench core -- --quick || missed=1; \
	for script in pull_and_prescription harmonize calls limiter lists mirror_pull dask_workers yield_maps polygon_ground season; do $(BIN)/python benches/$$script.py || missed=1; done; \
	exit $$missed

soak: $(VENV)/.developed ## The long series: the tests with more rounds and new random cases each time.
	HEADLAND_SERIES=50 PROPTEST_CASES=10000 PROPTEST_RNG_SEED=$$(date +%s) cargo test --locked --release
	HEADLAND_SERIES=50 $(BIN)/python -m pytest --timeout 3600 -o faulthandler_timeout=4000

# Nightly Rust and cargo-fuzz are checked here, since only this rule needs them.
fuzz: ## Fuzz the archive reader, SECONDS for each target (needs nightly Rust and cargo-fuzz).
	@rustup run nightly rustc --version >/dev/null 2>&1 || { echo "make fuzz needs: rustup toolchain install nightly"; exit 1; }
	@cargo fuzz --version >/dev/null 2>&1 || { echo "make fuzz needs: cargo install cargo-fuzz"; exit 1; }
	cd tests/fuzz && CARGO_TARGET_DIR=$(CURDIR)/target/fuzz cargo +nightly run --quiet --bin seeds
	for target in zip shp dbf prj_cpg grc fmis; do \
		cargo +nightly fuzz run --fuzz-dir tests/fuzz --target-dir $(CURDIR)/target/fuzz -s none $$target -- \
			-max_total_time=$(SECONDS) -timeout=2 -rss_limit_mb=1024 || exit 1; \
	done

# The tools are in an environment of their own. The wheel of Windows needs gcc-mingw-w64. `RELEASE="--twice linux"`
# compares two builds of one wheel.
wheels: ## Build the release files into dist and check them (RELEASE="linux sdist" builds some).
	$(PYTHON) -m venv target/wheels-env
	target/wheels-env/bin/pip install --disable-pip-version-check --quiet 'pip>=25.1'
	target/wheels-env/bin/pip install --disable-pip-version-check --quiet --group wheels
	PATH="$(CURDIR)/target/wheels-env/bin:$$PATH" python benches/wheels.py $(RELEASE)

audit: ## Check advisories, licences and sources of all crates, and the workflows (needs cargo-deny).
	@cargo deny --version >/dev/null 2>&1 || { echo "make audit needs: cargo install cargo-deny"; exit 1; }
	cargo deny --all-features --locked check $(AUDIT)
	@cargo metadata --locked --format-version 1 --manifest-path tests/fuzz/Cargo.toml >/dev/null
	@if command -v actionlint >/dev/null; then actionlint; else echo "The workflows were not checked: no actionlint."; fi

generate: ## Write the files that are generated from the endpoint table.
	HEADLAND_GENERATE=1 cargo test --locked --quiet --test generated

messages: ## Print every text of errors, diagnostics and advice.
	@cargo test --locked --quiet --test generated print_messages -- --ignored --nocapture

clean: ## Remove all outputs of these rules.
	rm -rf $(VENV) target demo dist python/docs/_build

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The package as users install it: without dependencies.
$(VENV)/.installed: $(VENV)/bin/python $(SOURCES)
	@echo "Building headland: the first build compiles for some minutes."
	$(BIN)/pip install --disable-pip-version-check --quiet --force-reinstall --no-deps .
	@rm -f $(VENV)/.developed
	@touch $@

# The package for development: editable, with the packages of all extras, the test tools and the
# linters. Groups of packages need a newer pip than that of Python 3.11.
$(VENV)/.developed: $(VENV)/bin/python $(RUST)
	$(BIN)/pip install --disable-pip-version-check --quiet 'pip>=25.1'
	$(BIN)/pip install --disable-pip-version-check --quiet --editable . --group dev
	@rm -f $(VENV)/.installed
	@touch $@

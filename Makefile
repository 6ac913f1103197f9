# Two commands do everything on a fresh machine: `make demo` and `make test`. Each sets up what is missing first.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WITH_JAVA := JAVA_HOME=$$(tools/java)
# Tests wait for servers, for Spark and for processes half of their time: two processes for each core of a small machine.
PROCESSES ?= 4

.PHONY: help setup servers programs demo test test-all lint ruff types imports hooks docs matrix bench fuzz clean

help:
	@echo "make demo      show binspark at work on the logs that ship with it"
	@echo "make test      run the tests, real servers included"
	@echo "make test-all  the same with the long sweeps, as CI does"
	@echo "make lint      ruff, mypy, import rules (each by itself: make ruff, make types, make imports)"
	@echo "make hooks     check with ruff, mypy and import rules before each commit"
	@echo "make docs      write the API reference to build/api"
	@echo "make matrix    run the tests of the core with other versions of Python"
	@echo "make bench     run the benchmarks"
	@echo "make fuzz      feed mutated logs to the decoder for a minute (SECONDS=n for longer)"
	@echo "make servers   fetch the MySQL and MariaDB servers that tests start"
	@echo "make programs  fetch the browser and promtool that tests run"
	@echo "make clean     remove the virtual environment and caches"

setup: $(READY)

$(READY): pyproject.toml constraints.txt tools/setup
	@tools/setup $(VENV)
	@touch $@

servers: $(READY)
	@$(BIN)/python -m binspark.testing.servers

programs: $(READY)
	@VENV=$(VENV) tools/programs

demo: $(READY)
	@$(WITH_JAVA) $(BIN)/binspark demo

test: $(READY) servers programs
	@echo "running the tests (make test-all adds the long sweeps)"
	@$(WITH_JAVA) $(BIN)/pytest -q -n $(PROCESSES) --dist loadgroup -m "not slow"

test-all: $(READY) servers programs
	@$(WITH_JAVA) $(BIN)/pytest -q -n $(PROCESSES) --dist loadgroup

lint: ruff types imports

ruff: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

hooks: $(READY)
	$(BIN)/pre-commit install

docs: $(READY)
	@$(BIN)/python -m tools.api_reference build/api

# PYSPARK=4.2.0 adds the quick tests of Spark with that version, in an environment of their own.
matrix: $(READY)
	@tools/matrix $(PYSPARK)

bench: $(READY) servers
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	@export $(WITH_JAVA); for benchmark in benchmarks/*/__main__.py; do $(BIN)/python -m $$(dirname $$benchmark | tr / .) || exit 1; done

SECONDS ?= 60
fuzz: $(READY)
	@$(BIN)/python -c "import atheris" 2>/dev/null || { echo "fuzz: skipped, atheris is not to be had for this Python"; exit 0; }; \
	 $(BIN)/python fuzz/decode.py $(SECONDS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# The whole developer interface. A newcomer needs two: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
FUZZ_COUNT ?= 50000
FUZZ_SEED ?= 20261116
AUDIT_SEED ?= 20261116
SIMULATION_MINUTES ?= 60
CORPUS_ENVIRONMENTS ?= build/environments
# Only files with such tests are collected: the others take half a minute to be left out.
STARTING_PARTS = $(sort $(shell grep -rlE 'mark\.(spark|s3)\b' tests --include='test_*.py'))
# A test on Spark often waits for a JVM to start: two at a time keep two cores busy. The tests of a
# file stay together, because they share what they begin.
SIDE_BY_SIDE = -n 2 --dist loadfile
RESTARTED_SPARKS ?= 3.5.9 4.0.5 4.1.4 4.2.1 4.3.0

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types layers compiled core spark coverage audit bench fuzz docs lock corpus restarts clean

help: ## Show what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Holdfast needs Python 3.10 or later; set PYTHON=…" if sys.version_info < (3, 10) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(STAMP): pyproject.toml $(VENV)/.core
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

$(VENV)/.demo: pyproject.toml $(VENV)/.core
	$(BIN)/python -m pip install --quiet --editable ".[demo]"
	@touch $@

demo: $(VENV)/.demo ## Run the sensor pipeline on real Spark, kill it twice, count the rows
	@$(BIN)/holdfast demo

# Two lanes side by side: one needs a JVM, the other needs none.
test: $(STAMP) ## Everything a change has to pass: lint, types, layers, tests
	@mkdir -p build
	@$(MAKE) --no-print-directory lint types layers core > build/core.log 2>&1 & core=$$!; \
	$(MAKE) --no-print-directory spark; spark=$$?; \
	wait $$core; core=$$?; cat build/core.log; exit $$((spark | core))

check: $(STAMP) compiled ## The fast part: lint, types, layers, and tests without Spark
	@mkdir -p build
	@$(MAKE) --no-print-directory lint types layers > build/static.log 2>&1 & static=$$!; \
	$(BIN)/pytest -q -m "not spark and not s3" --ignore tests/fuzz -n 2; tests=$$?; \
	wait $$static; static=$$?; cat build/static.log; exit $$((static | tests))

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

# Hundreds of processes import the package: without this each of them compiles it again where
# PYTHONDONTWRITEBYTECODE is set.
compiled: $(STAMP)
	@$(BIN)/python -m compileall -q src

core: $(STAMP) compiled
	$(BIN)/pytest -q -m "not spark and not s3" --durations=20

spark: $(STAMP) compiled
	$(BIN)/pytest -q $(STARTING_PARTS) -m "spark or s3" --durations=40 $(SIDE_BY_SIDE)

coverage: $(STAMP) ## Run the tests without Spark under coverage, and fail below the floor
	$(BIN)/pytest -q -m "not spark and not s3" --cov --cov-report=term:skip-covered --cov-report=html:build/coverage

audit: $(STAMP) compiled ## Run every matrix whole: all checkpoints, all promises of all sinks, real kills at every moment, simulated schedules
	$(BIN)/pytest -q -m "not spark and not s3" --whole -n 2
	$(BIN)/pytest -q $(STARTING_PARTS) -m "spark or s3" --whole $(SIDE_BY_SIDE)
	$(BIN)/python -m tests.fieldcases.play
	$(BIN)/python -m tests.crashes --seed $(AUDIT_SEED) --report build/audit.md
	$(BIN)/python -m tests.simulation --minutes $(SIMULATION_MINUTES) --processes 2 --resume build/simulation --seed $(AUDIT_SEED)
	$(BIN)/python -m tests.simulation.postgres --minutes $(SIMULATION_MINUTES) --processes 2 --progress build/simulation-postgres

bench: $(STAMP) ## Measure the ratios and write docs/benchmarks.md
	$(BIN)/python -m benchmarks

fuzz: $(STAMP) ## Damage real checkpoints by the ten thousand and judge what is said of them
	$(BIN)/python -m tests.fuzz --count $(FUZZ_COUNT) --seed $(FUZZ_SEED) --processes 2 --report build/fuzz.md

docs: $(STAMP) ## Regenerate the reference pages and the outputs shown in the docs
	$(BIN)/python -m docs.generate
	$(BIN)/python -m tests.docs.refresh

lock: $(STAMP) ## Resolve the Java libraries again and write the lock
	$(BIN)/python -m holdfast.spark.jars.locking

corpus: $(STAMP) ## Create the real checkpoints of tests/corpus again, with five Spark releases (an hour)
	$(BIN)/python tests/corpus/make.py --environments $(CORPUS_ENVIRONMENTS)

restarts: $(STAMP) ## Record again what five Spark releases do with damaged checkpoints, and execute all advice (an hour)
	for spark in $(RESTARTED_SPARKS); do \
	  $(BIN)/python tests/restarts/make.py --environments $(CORPUS_ENVIRONMENTS) --spark $$spark || exit 1; \
	done
	$(BIN)/python -m tests.advice.filerecord
	$(BIN)/python -m tests.advice.record
	$(BIN)/python -m tests.fieldcases.record
	$(BIN)/python -m tests.changes.record
	$(BIN)/python -m tests.changes.facts
	$(BIN)/python -m tests.spark.facts.record --environments $(CORPUS_ENVIRONMENTS) --spark 4.0.5 --spark 4.1.4

clean: ## Remove what was built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*

# The whole developer interface. A newcomer needs two: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
FUZZ_COUNT ?= 50000
FUZZ_SEED ?= 20261116
AUDIT_SEED ?= 20261116
CORPUS_ENVIRONMENTS ?= build/environments

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types layers unit audit bench fuzz docs lock corpus restarts clean

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

demo: $(VENV)/.demo ## Run the sensor pipeline on real Spark, kill it twice, count: nothing lost or doubled
	@$(BIN)/holdfast demo

test: $(STAMP) lint types layers unit ## Everything: lint, types, layers, tests

check: $(STAMP) lint types layers ## The fast part: lint, types, layers, and tests without Spark
	$(BIN)/pytest -q -m "not spark and not s3" --ignore tests/fuzz

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

layers: $(STAMP)
	$(BIN)/lint-imports

unit: $(STAMP)
	$(BIN)/pytest --cov --cov-report=term:skip-covered --cov-report=html:build/coverage

audit: $(STAMP) ## Kill real runs at every moment of every sink, run them again, and judge what is there
	$(BIN)/python -m tests.crashes --seed $(AUDIT_SEED) --report build/audit.md

bench: $(STAMP) ## Measure the ratios and write docs/benchmarks.md
	$(BIN)/python -m benchmarks

fuzz: $(STAMP) ## Damage real checkpoints by the ten thousand and judge what is said of them
	$(BIN)/python -m tests.fuzz --count $(FUZZ_COUNT) --seed $(FUZZ_SEED) --processes 2 --report build/fuzz.md

docs: $(STAMP) ## Write the generated reference and the shown outputs anew
	$(BIN)/python -m docs.generate
	$(BIN)/python -m tests.docs.refresh

lock: $(STAMP) ## Resolve the Java libraries anew and write the lock
	$(BIN)/python -m holdfast.spark.jars.locking

corpus: $(STAMP) ## Make the real checkpoints of tests/corpus anew, with five Sparks (an hour)
	$(BIN)/python tests/corpus/make.py --environments $(CORPUS_ENVIRONMENTS)

restarts: $(STAMP) ## Ask five Sparks anew what they do with damaged checkpoints (an hour)
	$(BIN)/python tests/restarts/make.py --environments $(CORPUS_ENVIRONMENTS)

clean: ## Remove what was built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*

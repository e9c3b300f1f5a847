# Each target sets up what it needs in .venv; only Python 3.11 or newer, with pip, has to be there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help check serve test lint format types contracts conformance bench docs clean

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1|/' | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo 'fse needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ...' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --quiet --python $(BIN)/python install pip; }

$(VENV)/ready: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/ready-dev: pyproject.toml | $(BIN)/python
	@echo 'setting up $(VENV) ...'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(VENV)/ready $(VENV)/ready-service $@

$(VENV)/ready-service: pyproject.toml | $(BIN)/python
	@echo 'setting up $(VENV) ...'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[service]'
	@touch $(VENV)/ready $@

check: $(VENV)/ready ## check the shipped examples, offline
	@$(BIN)/python examples/check.py

serve: export FSE_HOST ?= 127.0.0.1
serve: export FSE_PORT ?= 8000
serve: export FSE_STORE ?= sqlite:///.data/fse.sqlite3
serve: $(VENV)/ready-service ## start the service at http://127.0.0.1:8000
	@echo "fse: http://$$FSE_HOST:$$FSE_PORT   (Ctrl-C stops it)"
	@exec $(BIN)/python -m service

test: $(VENV)/ready-dev ## run the tests
	$(BIN)/python -m pytest -n $(WORKERS)

lint: $(VENV)/ready-dev ## ruff: rules and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/ready-dev ## ruff: repair both
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/ready-dev ## mypy, strict
	$(BIN)/mypy

contracts: $(VENV)/ready-dev ## which room may import which
	$(BIN)/lint-imports --no-cache --no-logo

conformance: $(VENV)/ready-dev ## ask the real vLLM release the same questions and compare
	$(BIN)/python -m conformance

bench: $(VENV)/ready-dev ## how fast: a check, against the release itself and hf-mem; matrices; the service, against bare FastAPI; headers, against hf-mem
	@failed=0; for part in check matrix service headers; do $(BIN)/python -m benchmarks.$$part || failed=1; done; exit $$failed

docs: $(VENV)/ready ## write docs/releases.md and docs/rules.md anew, from the releases' data and the rules' texts
	@$(BIN)/fse releases --format markdown > docs/releases.md.new && mv docs/releases.md.new docs/releases.md
	@$(BIN)/fse explain --all --format markdown > docs/rules.md.new && mv docs/rules.md.new docs/rules.md

clean: ## remove what the targets above made
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .schemathesis

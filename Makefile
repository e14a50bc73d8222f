# `make` lists what there is. Everything happens in ./.venv; nothing outside this folder is touched.
.DEFAULT_GOAL := help
.PHONY: help setup run test check explore lint format docs bench clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

help: ## List the commands
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

setup: $(READY) ## Make the environment

# uv where it is there and works, else the standard library's venv and pip.
$(READY): pyproject.toml
	@if command -v uv >/dev/null 2>&1 && \
	  uv venv --quiet --allow-existing --python "$(PYTHON)" $(VENV) && \
	  uv pip install --quiet --python $(BIN)/python --editable . --group dev; then :; else \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "pi-context needs Python 3.11 or newer; name it: make setup PYTHON=python3.12"; exit 1; }; \
	  $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	    { echo "Python's venv module is missing: install the package python3-venv (Debian, Ubuntu: apt install python3-venv)"; exit 1; }; \
	  $(PYTHON) -m venv --clear $(VENV) && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev; \
	fi
	@touch $(READY)

run: $(READY) ## Show the main job on the bundled example sessions
	@$(BIN)/python examples/show.py

test: $(READY) ## Pass the tests
	@$(BIN)/python -m pytest -q -n auto -m 'not slow and not network'

check: $(READY) lint ## Everything that CI does
	@$(MAKE) --no-print-directory run
	@$(BIN)/python -m pytest -q -n auto
	@$(BIN)/python tests/installed/try_wheel.py

explore: $(READY) ## Try examples that no test has seen yet
	@EXPLORE=1 $(BIN)/python -m pytest -q -n auto -m 'not network'

lint: $(READY) ## Format, lint, types, arrows
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

format: $(READY) ## Put the code in form
	@$(BIN)/ruff format --quiet . && $(BIN)/ruff check --quiet --fix .

docs: $(READY) ## Write the generated parts of docs/ anew
	@$(BIN)/python -m pytest -q tests/house/test_docs.py tests/privacy_/test_first_look.py tests/privacy_/test_detector_docs.py tests/shell/test_pi_package.py --write-docs

bench: $(READY) ## Measure, as ratios within one run
	@$(BIN)/python benchmarks/bench.py

clean: ## Remove the environment and caches
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build

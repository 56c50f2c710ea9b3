# Everything runs in .venv, made by `make setup`; it is renewed when pyproject.toml or constraints.txt change.

VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.setup
BENCH := $(VENV)/.bench
INSTALL := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt
PYTHONS := python3 python3.14 python3.13 python3.12 python3.11

.DEFAULT_GOAL := help
.PHONY: help setup train solve test bench golden wheel clean

help: ## say what there is
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup: $(SETUP) ## make .venv and install everything into it

$(SETUP): pyproject.toml constraints.txt
	@for python in $(PYTHONS); do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then \
	        echo "installing into $(VENV), with $$($$python --version)"; exec $$python -m venv --clear $(VENV); \
	    fi; \
	done; \
	echo "qdts needs Python 3.11 or later; none of these is: $(PYTHONS)" >&2; exit 1
	$(INSTALL) setuptools
	$(INSTALL) --no-build-isolation -e '.[dev]'
	@touch $@

$(BENCH): $(SETUP)
	$(INSTALL) --no-build-isolation -e '.[dev,bench]'
	@touch $@

train: $(SETUP) ## learn Kuhn poker by self-play for a minute, into runs/
	$(BIN)/qdts train kuhn_poker --minutes 1

solve: $(SETUP) ## solve Leduc poker and watch it converge
	$(BIN)/qdts solve leduc_poker --iterations 200000

test: $(SETUP) ## check style and types, run all tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2

bench: $(BENCH) ## measure speed side by side with LiteEFG and OpenSpiel
	$(BIN)/qdts bench solve

golden: $(SETUP) ## write the golden files of all games anew
	$(BIN)/python -m qdts.testing.golden --write tests/golden

wheel: $(SETUP) ## build a wheel into dist/
	rm -rf dist build
	$(BIN)/python -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation -w dist .
	@ls dist/*.whl

clean: ## remove .venv and whatever tools leave behind
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

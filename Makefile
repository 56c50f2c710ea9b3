# Everything runs in .venv, which is renewed when pyproject.toml or constraints.txt change. `make train` and `make solve`
# install what the program needs; the other targets what developing it needs, too.

VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.setup
DEV := $(VENV)/.dev
BENCH := $(VENV)/.bench
INSTALL := $(BIN)/python -m pip --disable-pip-version-check install --quiet -c constraints.txt
PYTHONS := python3 python3.14 python3.13 python3.12 python3.11

.DEFAULT_GOAL := help
.PHONY: help setup train solve test docs bench golden figures wheel clean

help: ## say what there is
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup: $(DEV) ## make .venv and install everything into it

$(SETUP): pyproject.toml constraints.txt
	@for python in $(PYTHONS); do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then \
	        echo "installing into $(VENV), with $$($$python --version)"; exec $$python -m venv --clear $(VENV); \
	    fi; \
	done; \
	echo "qdts needs Python 3.11 or later; none of these is: $(PYTHONS)" >&2; exit 1
	$(INSTALL) setuptools
	$(INSTALL) --no-build-isolation -e '.[nets]'
	@touch $@

$(DEV): $(SETUP)
	$(INSTALL) --no-build-isolation -e '.[dev]'
	@touch $@

$(BENCH): $(DEV)
	$(INSTALL) --no-build-isolation -e '.[dev,bench]'
	@touch $@

train: $(SETUP) ## learn Kuhn poker by self-play for a minute, into runs/
	$(BIN)/qdts train kuhn_poker --minutes 1

solve: $(SETUP) ## solve Leduc poker and watch it converge
	$(BIN)/qdts solve leduc_poker --iterations 200000

test: $(DEV) ## check style and types, run all tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2

docs: $(DEV) ## build the site into site/, strictly: a warning or a dead link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo 'open site/index.html'

bench: $(BENCH) ## measure speed side by side with LiteEFG and OpenSpiel
	$(BIN)/qdts bench solve

golden: $(DEV) ## write the golden files of all games anew
	$(BIN)/python -m qdts.testing.golden --write tests/golden

FIGURES := collapse many_trees intervals holes walks steps

figures: $(DEV) ## draw the figures of docs/idea.md anew
	@for figure in $(FIGURES); do $(BIN)/python docs/figures/$$figure.py || exit 1; done

wheel: $(SETUP) ## build a wheel into dist/
	rm -rf dist build
	$(BIN)/python -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation -w dist .
	@ls dist/*.whl

clean: ## remove .venv and whatever tools leave behind
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The two commands of the README, and everything CI runs. Every target makes its own environment.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
TORCH  := $(VENV)/.torch
BROWSER := $(VENV)/.browser
DOCS   := $(VENV)/.docs
# The suite runs one process per core and one more, since some tests wait for processes of theirs;
# BLAS inside each stays on one thread.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(os.cpu_count() + 1)')
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: help demo test test-torch test-browser lint types format slow slow-torch bench docs docs-serve release-check clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Isonomy needs Python 3.11 or newer; $(PYTHON) is older. Set PYTHON=/path/to/python3.11."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group test --group lint --group types
	@touch $@

$(TORCH): $(STAMP)
	$(BIN)/python -m pip install --quiet --editable ".[torch]"
	@touch $@

# Chromium from the system's packages where it is missing and may be installed; axe-core from npm.
$(BROWSER): $(STAMP)
	$(BIN)/python -m pip install --quiet --group browser
	command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	  { test "$$(id -u)" = 0 && apt-get install --yes --quiet chromium; } || \
	  echo "There is no Chromium: install one, or set CHROMIUM=/path/to/it; the tests skip without."
	npm install --silent --no-save --no-package-lock axe-core || echo "There is no axe-core: install npm."
	@touch $@

$(DOCS): $(STAMP)
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

demo: $(STAMP) ## benchmark every method on real data; ends with the path of an HTML page
	$(BIN)/python examples/demo.py

test: $(STAMP) ## the test suite, a few minutes on two cores
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow and not torch and not browser"

test-browser: $(BROWSER) ## every kind of page in headless Chromium, with axe-core
	$(BIN)/python -m pytest -rs tests/browser -m browser

test-torch: $(TORCH) ## the tests that need torch
	$(BIN)/python -m pytest -m "torch and not slow"

lint: $(STAMP) ## ruff: lint and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP) ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP) ## mypy, strict, on src
	$(BIN)/mypy

slow: $(STAMP) ## simulations and full-data comparisons with the papers
	HOW_SURE=out/how_sure $(BIN)/python -m pytest -n auto -m "slow and not torch"
	$(BIN)/python tools/how_sure.py out/how_sure
	$(BIN)/python benchmarks/fidelity.py
	$(BIN)/isonomy study run chen_2022 --task adult,compas,german --model lr,svm --repeats 5
	$(BIN)/isonomy study run fairea_2021 --task compas,german --repeats 5
	@if test -d ../shared/published; then for paper in chen_2022 fairea_2021; do \
	  $(BIN)/isonomy study compare $$paper --published ../shared/published/$${paper%_*} \
	    --markdown benchmarks/fidelity.md || exit 1; done; \
	else echo "The authors' files are not beside the repository: our studies are not compared."; fi

slow-torch: $(TORCH) ## the networks of the 17-method study beside its published runs
	$(BIN)/python -m pytest -m "slow and torch"

bench: $(STAMP) ## side-by-side timings against the peers; writes benchmarks/README.md
	$(BIN)/python benchmarks/run.py

docs: $(DOCS) ## the site, docs/_build/html, from the sources, the objects and the examples
	$(BIN)/codespell
	$(BIN)/python -m sphinx -W --keep-going -q -j auto -b html -d docs/_build/doctrees docs docs/_build/html
	$(BIN)/python docs/check.py docs/_build/html
	$(BIN)/python -m pytest -q "tests/e2e/test_doc_snippets.py::test_sessions[start.md]"

docs-serve: ## show the built site on this machine only: http://127.0.0.1:8000
	$(PYTHON) -m http.server --bind 127.0.0.1 --directory docs/_build/html 8000

release-check: $(DOCS) ## build the package, and try it in empty environments, without and with each light extra
	$(BIN)/python tools/release_check.py

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist docs/reference docs/gallery docs/cases docs/_build out .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

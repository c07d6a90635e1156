# make run starts the page, make test runs every check.
# PYTHON names the Python to begin with, PORT the page's first choice, ARGS goes to pytest.
PYTHON ?= python3
PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
PIP_FAILED := { echo "Installing failed: pip says why above. It needs a network or a package mirror once."; exit 1; }
CHROMIUM_PATH := $$(sh tests/browser/find_chromium.sh)

# An environment whose Python has gone, after an upgrade say, is made anew.
$(shell $(BIN)/python -c "" 2>/dev/null || rm -f $(BIN)/python $(VENV)/installed $(VENV)/installed-dev)

.DEFAULT_GOAL := run
.PHONY: install run test lint bench screenshot browser

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
	  echo "attnviz needs Python 3.11 or newer, but '$(PYTHON)' was not found."; \
	  echo "Install it (Debian, Ubuntu: apt install python3 python3-venv), or name it: make run PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "attnviz needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V 2>&1)."; \
	  echo "Install a newer one and name it: make run PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "The venv module of '$(PYTHON)' is missing."; \
	  echo "Install it (Debian, Ubuntu: apt install python3-venv), then try again."; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV)

$(VENV)/installed: requirements.txt | $(BIN)/python
	@echo "Installing into $(VENV) ..."
	@$(PIP) -r requirements.txt || $(PIP_FAILED)
	@touch $@

$(VENV)/installed-dev: requirements-dev.txt $(VENV)/installed
	@echo "Installing what the tests need ..."
	@$(PIP) -r requirements-dev.txt || $(PIP_FAILED)
	@touch $@

install: $(VENV)/installed

run: install
	@port=$$($(BIN)/python -m tests.free_port $(PORT)) || exit 1; \
	echo "attnviz: http://localhost:$$port  (stop with Ctrl+C)"; \
	exec $(BIN)/python -m streamlit run app.py --server.port $$port

browser:
	@sh tests/browser/find_chromium.sh >/dev/null || sh tests/browser/install_chromium.sh

lint: $(VENV)/installed-dev
	@$(BIN)/ruff format --check --quiet . || { echo "Not formatted: run $(BIN)/ruff format ."; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary

test: $(VENV)/installed-dev browser lint
	@CHROMIUM="$(CHROMIUM_PATH)" $(BIN)/python -m pytest -n 2 --dist loadscope $(ARGS)

bench: $(VENV)/installed-dev browser
	@CHROMIUM="$(CHROMIUM_PATH)" $(BIN)/python -m tests.bench $(ARGS)

screenshot: $(VENV)/installed-dev browser
	@CHROMIUM="$(CHROMIUM_PATH)" $(BIN)/python -m tests.screenshot docs

# make run starts the page, make test runs every check. PYTHON and PORT may be set.
PYTHON ?= python3
PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := run
.PHONY: install run test lint bench screenshot python browser

python:
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
	  echo "attnviz needs Python 3.11 or newer, but '$(PYTHON)' was not found."; \
	  echo "Install it (Debian, Ubuntu: apt install python3 python3-venv), or name it: make run PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "attnviz needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) -V 2>&1)."; \
	  echo "Name a newer one: make run PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "Python's venv module is missing."; \
	  echo "Install it (Debian, Ubuntu: apt install python3-venv), then try again."; exit 1; }

$(VENV)/installed: requirements.txt | python
	@echo "Installing into $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/installed-dev: requirements-dev.txt $(VENV)/installed
	@echo "Installing what the tests need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

install: $(VENV)/installed

run: install
	@port=$$($(BIN)/python -m tests.free_port $(PORT)) || exit 1; \
	echo "attnviz: http://localhost:$$port  (stop with Ctrl+C)"; \
	exec $(BIN)/python -m streamlit run app.py --server.port $$port

browser:
	@sh tests/browser/find_chromium.sh >/dev/null 2>&1 || sh tests/browser/install_chromium.sh

lint: $(VENV)/installed-dev
	@$(BIN)/ruff format --check --quiet . || { echo "Not formatted: run $(BIN)/ruff format ."; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary

test: $(VENV)/installed-dev browser lint
	@CHROMIUM="$$(sh tests/browser/find_chromium.sh)" $(BIN)/python -m pytest $(ARGS)

bench: $(VENV)/installed-dev browser
	@CHROMIUM="$$(sh tests/browser/find_chromium.sh)" $(BIN)/python -m tests.bench

screenshot: $(VENV)/installed-dev browser
	@CHROMIUM="$$(sh tests/browser/find_chromium.sh)" $(BIN)/python -m tests.screenshot docs

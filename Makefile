# Everything runs from virtual environments beside this file; nothing is installed elsewhere.
PYTHON ?= python3

# Relative paths only: a clone may lie in a folder with spaces.
RUN := .venv/bin/python
DEV := .venv-dev/bin/python

.PHONY: help try test test-sglang lint format docs lock clean

help:
	@echo "make try     start a small real model, prove it, measure it, show a report"
	@echo "make test    run every test but those on real SGLang"
	@echo "make test-sglang  run the tests on real SGLang, on the CPU (its environment is built once: 2.6 GB)"
	@echo "make lint    ruff and mypy --strict"
	@echo "make docs    write docs/verbs/ from the program's own help"
	@echo "make lock    renew the locked versions in requirements/"

# Killing make ends what it started: each program is told the process id of make, and ends when that one does.
WITH_MAKE := SEATRIAL_END_WITH_PARENT=$$PPID exec

try: environment
	@$(WITH_MAKE) $(RUN) -m seatrial try

test: environment-dev
	@$(DEV) -m pytest -m "not sglang" $(ARGS)

test-sglang: environment-dev
	@$(WITH_MAKE) $(PYTHON) scripts/sglang_environment.py
	@SEATRIAL_TESTS_NEED_SGLANG=1 $(DEV) -m pytest tests/sglang $(ARGS)

lint: environment-dev
	@$(DEV) -m ruff format --check .
	@$(DEV) -m ruff check .
	@$(DEV) -m mypy

format: environment-dev
	@$(DEV) -m ruff format .
	@$(DEV) -m ruff check --fix .

docs: environment-dev
	@$(DEV) scripts/reference.py

lock:
	@scripts/lock.sh

clean:
	rm -rf .venv .venv-dev .mypy_cache .ruff_cache .pytest_cache

.PHONY: environment environment-dev
environment:
	@$(WITH_MAKE) $(PYTHON) scripts/environment.py .venv requirements/runtime.txt

environment-dev:
	@$(WITH_MAKE) $(PYTHON) scripts/environment.py .venv-dev requirements/dev.txt

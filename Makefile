# Each target sets up what it needs; run again it starts at once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: setup demo test test-all bench clean

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "actonym needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up $(VENV) (once; some minutes) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	@touch $@

setup: $(READY)

demo: $(READY)
	@$(BIN)/actonym demo --out demo

test: $(READY)
	@$(BIN)/python -m pytest

test-all: $(READY)
	@$(BIN)/python -m pytest -m 'slow or not slow'

bench: $(READY)
	@$(BIN)/actonym bench --methods raw,downsample:factor=2,downsample:factor=4,blur:strength=weak,blur:strength=strong,blacken,vita,spact,ted-spad,bdq,collective \
		--data stage --protocol known --seeds 3 --jobs 2 --out results/stage
	@$(BIN)/actonym report results/stage

clean:
	rm -rf $(VENV) demo

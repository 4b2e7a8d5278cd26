# Everything a newcomer needs: `make run` and `make test`. Nothing outside this folder is changed.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

# PyTorch's own index has builds without CUDA, gigabytes smaller; where it cannot be reached, what is at hand serves.
CPU_TORCH := --index-url https://download.pytorch.org/whl/cpu --retries 0 --timeout 10

.PHONY: run test check clean

run: .venv/installed
	$(BIN)/streamlit run app.py

test: .venv/ready-to-test
	$(BIN)/python -m pytest --numprocesses=2 --dist=loadscope

check: .venv/ready-to-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf .venv

.venv/installed: requirements.txt
	$(PYTHON) -m venv .venv
	[ "$$(uname)" != Linux ] || $(PIP) install --quiet $(CPU_TORCH) "$$(grep '^torch==' requirements.txt)" || true
	$(PIP) install --quiet -r requirements.txt
	@touch $@

.venv/ready-to-test: .venv/installed requirements-test.txt
	$(PIP) install --quiet -r requirements-test.txt
	@touch $@

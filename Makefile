# Everything a newcomer needs: `make run` and `make test`. Nothing outside this folder is changed.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Every file that pip installs has the hash that stands in requirements*.txt; none comes unnamed with another.
INSTALL := $(PIP) install --quiet --no-deps --require-hashes

# PyTorch's own index has builds without CUDA, gigabytes smaller; where it cannot be reached, pip's usual index serves.
CPU_TORCH := --index-url https://download.pytorch.org/whl/cpu --retries 0 --timeout 10

.PHONY: run clip office test test-long test-fast check canary wheel clean

run: .venv/installed .venv/eyes-installed
	$(BIN)/streamlit run app.py

clip: .venv/clip-installed

office: .venv/office-installed

# axe-core comes with npm; without it the tests of accessibility are skipped.
test test-long: .venv/ready-to-test $(if $(shell command -v npm),node_modules/.package-lock.json)
	$(BIN)/python -m pytest --numprocesses=2 --dist=loadscope

# With all kills, all hostile input, and a power cut at every step; `make test` has a tenth of them.
test-long: export MEMEDEX_TEST_LENGTH = 1

# Else every process that the tests start would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

# Two processes keep two cores busy: threads of theirs for small matrices would only wait for one another.
test test-long test-fast: export OPENBLAS_NUM_THREADS = 1

# Without browsers, and without what kills processes or takes much time.
test-fast: .venv/ready-to-test
	$(BIN)/python -m pytest --numprocesses=2 --dist=loadscope -m "not browser and not kills and not slow"

check: .venv/ready-to-test node_modules/.package-lock.json
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	npm run --silent lint
	npm run --silent format:check
	npm run --silent types

# Against the newest Streamlit, so that its changes are known before it is adopted; only a report.
canary: .venv/ready-to-test
	-scripts/canary.sh

# Builds the wheel, installs it where nothing else is, and runs the demo with it.
wheel:
	PYTHON=$(PYTHON) scripts/check_wheel.sh

clean:
	rm -rf .venv node_modules

.venv/installed: requirements.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) -r requirements.txt
	@touch $@

.venv/eyes-installed: .venv/installed requirements-eyes.txt
	$(INSTALL) -r requirements-eyes.txt
	@touch $@

.venv/office-installed: .venv/installed requirements-office.txt
	$(INSTALL) -r requirements-office.txt
	@touch $@

.venv/clip-installed: .venv/installed requirements-torch.txt requirements-clip.txt
	[ "$$(uname)" != Linux ] || $(INSTALL) $(CPU_TORCH) -r requirements-torch.txt || true
	$(INSTALL) -r requirements-torch.txt -r requirements-clip.txt
	@touch $@

.venv/ready-to-test: .venv/clip-installed .venv/eyes-installed .venv/office-installed requirements-test.txt
	$(INSTALL) -r requirements-test.txt
	@touch $@

# ESLint, Prettier and TypeScript, for `make check`; the program itself needs no Node.js.
node_modules/.package-lock.json: package.json package-lock.json
	@command -v npm > /dev/null || { \
		echo "make check looks through the pages' JavaScript with ESLint, Prettier and TypeScript: it needs Node.js 18.19 or later with npm (Debian: apt install nodejs npm)." >&2; \
		exit 1; }
	npm ci --silent --no-audit --no-fund
	@touch $@

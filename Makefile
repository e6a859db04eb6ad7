# Two commands are enough on a fresh machine with Python 3.11: `make demo` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
FOLDERS := diagnostics rules trainer dashboards
CODE := $(FOLDERS) tests benchmarks
QUICK := not slow and not long
# A directory of its own for each demo, so that none is overwritten and all can be compared: klinic diagnose runs/demo
DEMO := runs/demo/$(shell date +%m%d-%H%M%S)
REPORTS := --format text --out - --format markdown --out $(DEMO)/diagnosis.md --format json --out $(DEMO)/diagnosis.json

# Compiled code is kept: tests start klinic many times, and where the variable is set each start compiles it anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: audit bench sanitize demo test check quick test-long lint format types docs clean browser

# torch comes first and by itself: a plain `torch` would draw a CUDA build of several gigabytes.
$(VENV)/installed: pyproject.toml constraints/cpu.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade "pip>=24" "setuptools>=80" wheel
	$(PIP) install torch==2.13.0
	$(PIP) install --constraint constraints/cpu.txt --editable ".[train,dev]"
	touch $@

# PPO on the embedded model, 40 steps on any CPU; where it fails, the last line of klinic train says why.
demo: $(VENV)/installed
	$(BIN)/klinic train --run-dir $(DEMO)
	$(BIN)/klinic diagnose $(DEMO) $(REPORTS)
	@echo "Reports: $(DEMO)/diagnosis.md and diagnosis.json. What next: docs/tutorial.md"

test: check browser
	$(BIN)/python -m pytest -m "slow and not long"
	$(MAKE) sanitize
	$(BIN)/python tests/house/audit.py --or-say-so

# Side by side: the type checker keeps one core busy for half a minute where it has no cache yet.
check: $(VENV)/installed
	$(MAKE) --jobs 2 lint types quick

quick: $(VENV)/installed
	$(BIN)/python -m pytest -n auto --dist loadfile -m "$(QUICK)"

# The dashboard's tests drive a real browser: any that is found, else Debian's where this machine lets us install it.
browser:
	for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; fi

test-long: $(VENV)/installed
	$(BIN)/python -m pytest -m long --timeout 1800

lint: $(VENV)/installed
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/lint-imports

# Type checkers do not follow the editable finder: show them the namespace as a tree of links.
types: $(VENV)/installed
	mkdir -p build/types/klinic
	for folder in $(FOLDERS); do ln -sfn ../../../$$folder build/types/klinic/$$folder; done
	$(BIN)/mypy

format: $(VENV)/installed
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

# The pages made from cards and metrics.
docs: $(VENV)/installed
	$(BIN)/klinic rules docs

# klinic's speed beside other tools; docs/benchmarks.md says what the figures mean. BENCH="--full --write" writes its tables.
BENCH ?=
bench: $(VENV)/installed
	$(BIN)/python -m benchmarks.speed $(BENCH)

# klinic-native built for gcc's sanitizers of addresses and undefined behaviour, over the damaged and random inputs of
# its tests.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g
READERS := tests/diagnostics/readers
sanitize: $(VENV)/installed
	@asan=$$(gcc -print-file-name=libasan.so); \
	test -e "$$asan" || { echo "klinic-native was NOT tried under the sanitizers: no gcc with libasan here"; exit 0; }; \
	CFLAGS="$(SANITIZE)" LDFLAGS="$(SANITIZE)" ASAN_OPTIONS=detect_leaks=0 \
	LD_PRELOAD="$$asan $$(gcc -print-file-name=libstdc++.so)" \
	$(BIN)/python -m pytest $(READERS)/test_native*.py $(READERS)/test_quick_*.py -k "native or store or json or any_item"

# Known weaknesses of the installed packages; ends with 3 where their service cannot be asked.
audit: $(VENV)/installed
	$(BIN)/python tests/house/audit.py

clean:
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

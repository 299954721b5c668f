# Everything happens in .venv; nothing is installed anywhere else. `make` alone lists the targets.

PYTHON ?= python3
UV ?= uv
PORT ?= 8080
VENV := .venv
BIN := $(VENV)/bin

# The machine's own PostgreSQL serves the tests; a wheel brings one where there is none.
LOCKS := requirements.lock $(if $(wildcard /usr/lib/postgresql/*/bin/initdb),,requirements-postgres.lock)
STAMP := $(VENV)/.installed-$(shell cat $(LOCKS) pyproject.toml | sha256sum | cut -c 1-16)

CODE := $(wildcard src tools tests bench conformance examples)

.DEFAULT_GOAL := help
.PHONY: help setup run test check format bench faults conformance docs bind lock clean
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## make .venv from the lock file; the other targets do it by themselves

$(STAMP):
	@tools/setup.sh "$(PYTHON)" "$(VENV)" "$@" $(LOCKS)

run: $(STAMP) ## a walk through the product, then the office is served until you end it: PORT=8080
	@$(BIN)/python examples/walk.py --port $(PORT)
	@$(BIN)/engross serve --data engross-data --port $(PORT)

test: check ## every check and every test, on all cores; messages are hashes in all but those that show them to people
	$(BIN)/python -m pytest --numprocesses=auto --maxprocesses=8 --dist=worksteal

check: $(STAMP) ## format, lint, types, import arrows, reply rules, generated pages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/reply_lint.py src
	$(BIN)/python tools/docs.py --check

format: $(STAMP) ## format the code and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP) ## measure
	$(BIN)/python -m bench

faults: $(STAMP) ## the fault tests at their full length
	$(BIN)/python -m pytest -m faults --full-length --timeout=3600

conformance: $(STAMP) ## the published MCP conformance suite, both revisions (needs npm)
	$(BIN)/python -m conformance

docs: $(STAMP) ## write the generated pages anew and check every link
	$(BIN)/python tools/docs.py

bind: $(STAMP) ## write into requirements.toml which tests carry which mark (DONE="REP-01 REP-02" calls rows done)
	$(BIN)/python tools/bind_requirements.py $(if $(DONE),--done $(DONE))

LOCK = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header

lock: ## resolve the dependencies anew (needs uv; ARGS=--upgrade for newer versions)
	$(LOCK) pyproject.toml --all-extras --group dev --output-file requirements.lock $(ARGS) >/dev/null
	$(LOCK) --group postgres-programs --constraint requirements.lock --output-file requirements-postgres.lock $(ARGS) >/dev/null

clean: ## remove .venv and every cache
	rm -rf $(VENV) build dist conformance/node_modules .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

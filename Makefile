# make demo    sets up and scores the sample agents (no key, no server)
# make test    sets up and runs the fast tests, three at a time: about 5 minutes on 2 cores; no browser, no built page, nothing
#              marked slow             make test ARGS='tests/schema -x'   make test ARGS="-m 'not benchmark'" (as in .ci/run)
#              make test WORKERS=0 ARGS=... one at a time, for a debugger
# make lint    ruff, the formatter's check, mypy     make bench   measures (see benchmarks/)
# make docs    the documentation as a site, in site/build (fails on any warning)
# make ui      builds the web page into src/proctor/page (needs node 20 or newer)
# make ui-test its unit tests and size, and its types (make ui-types: those of the server's models)
# make nightly the fault catalogue at its full counts, all rows of long tables, more examples of properties (hours)
#              CRASH_RUNS=20: fewer runs of each
#
# Needs python 3.11 or newer (with venv and pip) and make. The first time fills .venv; after that only what changed is done.

VENV ?= .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
# uv installs several times as fast as pip, but does not read pip's configuration: where it finds no package, pip installs.
# Bytecode is written at the first import: a test imports few of the modules that are installed.
install = $(BIN)/uv pip install --quiet --python $(1)/bin/python $(2) \
	|| { echo "uv did not install this; pip tries" >&2; $(BIN)/python -m pip --disable-pip-version-check --python $(1)/bin/python install --quiet --no-compile $(2); }
LIST := --require-hashes --no-build-isolation
EDITABLE := --no-deps --no-build-isolation --editable .
# A list is also given as constraints: only these pin `google-auth[requests]`, too, of which pip would otherwise take a newer release.
pinned = $(foreach list,$(1),-r requirements/$(list).txt -c requirements/$(list).txt)
ARGS ?=
WORKERS ?= 3


# Fuzzing, injections and the security matrix: part of `make nightly`, with their slow tests; kills are marked `nightly`.
ATTACKS := tests/files/eval_sets/test_fuzz.py tests/judges/test_injection.py tests/web/security/test_middleware.py tests/web/security/test_target_addresses.py \
	tests/web/adk/test_generated_requests.py tests/web/adk/test_unusual_addresses.py tests/agents/process/test_echoed_secrets.py

.PHONY: demo test nightly lint format bench adk frameworks adk-eval ray docs ui ui-unit ui-types ui-test reference options pictures adk-names lock clean

demo: $(VENV)/.run
	@$(BIN)/python examples/demo.py

# Files, not tests, are dealt out: the tests of a file share what they set up. In the order of the folders, so that the
# folders that take longest do not come last.
test: $(VENV)/.test
	$(if $(ARGS),,@echo "The fast tests, in $(WORKERS) processes: about 5 minutes on two cores. The others: make test ARGS=\"-m 'not benchmark'\"")
	@$(BIN)/python -m compileall -q src/proctor # the processes that tests start write no bytecode
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

nightly: export CRASH_RUNS := $(CRASH_RUNS)
nightly: $(VENV)/.test adk frameworks adk-eval ray ui
	$(BIN)/python -m pytest -m nightly -s $(ARGS)
	$(BIN)/python -m pytest -m "not benchmark and not nightly" $(ATTACKS)
	$(BIN)/python -m pytest -m "hypothesis and not benchmark" --hypothesis-profile nightly

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test
	$(BIN)/python benchmarks/run.py $(ARGS)

# google-adk, for the tests marked needs_adk and the sample agent written for it
adk: $(VENV)/.adk

# Separate environments: what they install does not change what the other tests see, or does not resolve together with it.
# frameworks: LangGraph, OpenAI Agents, A2A and OTLP, for tests/agents/frameworks; adk-eval: google-adk[eval] with the extra
# `judges`; ray: for tests/runs/setup/workers. The last two are for nightly tests.
frameworks adk-eval ray: %: $(VENV)-%/.ready

docs: $(VENV)/.docs
	$(BIN)/python -m mkdocs build --quiet --strict --config-file site/mkdocs.yml

# rewrites the generated pages of docs/reference from the source: Python, commands, exit codes, settings, metrics and schemas; and docs/help
reference: $(VENV)/.test
	$(BIN)/python -m tests.docs.reference

# draws docs/pictures/failure.svg from the output of a command; comparison.png is a screenshot of tests/browser (PROCTOR_SHOTS)
pictures: $(VENV)/.test
	PYTHONPATH=. $(BIN)/python tests/docs/pictures.py

# rewrites what is generated from the declarations of a run's options: types and docstrings in src/proctor/runs, the reference
options: $(VENV)/.test
	$(BIN)/python -m tests.architecture.generate_options
	$(BIN)/python -m tests.docs.reference

# rewrites docs/reference/adk/names.md: which names of the installed google-adk's evaluation Proctor has
adk-names: $(VENV)/.adk
	PYTHONPATH=. $(BIN)/python tests/docs/adk_names.py

ui: ui/node_modules/.package-lock.json
	cd ui && npm run --silent build -- --logLevel warn

ui-test: ui-unit ui-types

ui-unit: ui
	cd ui && npm run --silent check && npm test --silent && npm run --silent size

ui-types: ui/node_modules/.package-lock.json $(VENV)/.test
	cd ui && PYTHON=$(abspath $(BIN))/python npm run --silent types -- --check

# npm writes this file last; hatch_build.py looks at its age, too
ui/node_modules/.package-lock.json: ui/package.json ui/package-lock.json ui/.npmrc
	@command -v npm >/dev/null || { echo "The web page needs node 20 or newer, with npm, to be built" >&2; exit 1; }
	cd ui && npm ci --loglevel error
	@touch $@

# --- environment: one stamp file for each thing that is in it ----------------------------------------------------------

$(VENV)/.base: requirements/build.txt
	@[ -n "$(PYTHON)" ] || { echo "Proctor needs python 3.11 or newer on PATH (or: make PYTHON=/path/to/python)" >&2; exit 1; }
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	$(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile $(LIST) $(call pinned,build)
	@touch $@

$(VENV)/.run: $(VENV)/.base requirements/run.txt pyproject.toml
	@$(call install,$(VENV),$(LIST) $(call pinned,run))
	@$(call install,$(VENV),$(EDITABLE))
	@touch $@

$(VENV)/.test: $(VENV)/.run requirements/test.txt requirements/judges.txt
	@$(call install,$(VENV),$(LIST) $(call pinned,test judges))
	@touch $@

$(VENV)/.adk: $(VENV)/.test requirements/adk.txt
	@$(call install,$(VENV),$(LIST) $(call pinned,adk))
	@touch $@

$(VENV)/.docs: $(VENV)/.test requirements/docs.txt
	@$(call install,$(VENV),$(LIST) $(call pinned,docs))
	@touch $@

$(VENV)-%/.ready: $(VENV)/.base requirements/%.txt pyproject.toml
	@$(BIN)/python -m venv --clear --without-pip $(VENV)-$*
	@$(call install,$(VENV)-$*,$(LIST) $(call pinned,build))
	@$(call install,$(VENV)-$*,$(LIST) $(call pinned,$*))
	@$(call install,$(VENV)-$*,$(EDITABLE))
	@touch $@

# --- for maintainers: pins the newest that the sources allow; no index address is written --------------------------------

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	--no-emit-index-url --no-emit-find-links

lock: $(VENV)/.base
	$(COMPILE) $(ARGS) requirements/test.in --output-file requirements/test.txt
	$(COMPILE) requirements/run.in --constraints requirements/test.txt --output-file requirements/run.txt
	$(COMPILE) requirements/build.in --constraints requirements/test.txt --output-file requirements/build.txt
	$(COMPILE) $(ARGS) requirements/adk.in --output-file requirements/adk.txt
	$(COMPILE) $(ARGS) requirements/judges.in --output-file requirements/judges.txt
	$(COMPILE) $(ARGS) requirements/docs.in --output-file requirements/docs.txt
	$(foreach name,frameworks adk-eval ray,$(COMPILE) $(ARGS) requirements/$(name).in --output-file requirements/$(name).txt &&) true

clean:
	rm -rf $(VENV) $(VENV)-* ui/node_modules src/proctor/page build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

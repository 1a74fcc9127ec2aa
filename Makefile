# Run `make help` for the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock

STUDY ?= sample
ARCHIVE ?=
LAKE ?=
REPRISE := $(BIN)/reprise --study "$(STUDY)" $(if $(LAKE),--lake "$(LAKE)") $(if $(ARCHIVE),--archive "$(ARCHIVE)")
# Litellm would otherwise fetch its price map when it is imported; telemetry and hubs are asked only on purpose.
export LITELLM_LOCAL_MODEL_COST_MAP := True
export DO_NOT_TRACK := 1
export DBT_SEND_ANONYMOUS_USAGE_STATS := false

.PHONY: help
help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | column -t -s '|'

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info[:2] == (3, 11) else "Reprise needs Python 3.11; set PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv

.venv/.installed: pyproject.toml requirements.lock | .venv/bin/pip
	@echo "Installing the warehouse and its offline encoders (no torch, no litellm, no vllm) …"
	$(PIP) --editable .
	@touch $@

.venv/.installed-test: .venv/.installed
	@echo "Installing the test tools and the extras encoders (torch) and generate (litellm) …"
	$(PIP) --editable '.[dev,encoders,generate]'
	@touch $@

.venv/.installed-generate: .venv/.installed
	@echo "Installing the extra generate (litellm) …"
	$(PIP) --editable '.[generate]'
	@touch $@

.PHONY: demo
demo: .venv/.installed ## set everything up, run the sample study, print the language gaps
	@$(MAKE) --no-print-directory run gaps
	@printf '%s\n' '' \
	  'Where to look next' \
	  '  make report      the study as one HTML file, with figures in files' \
	  '  make dashboard   figures, transcripts and pairs in the browser (Streamlit)' \
	  '  make sql         a read-only SQL prompt on lake/warehouse.duckdb' \
	  '  make ui          the asset graph, checks and runs (Dagster)'

.PHONY: run
run: .venv/.installed ## materialize a study: STUDY=name-or-file ARCHIVE=folder LAKE=folder
	@$(REPRISE) run

.PHONY: plan
plan: .venv/.installed ## show calls, tokens and cost of generating a study's debates: STUDY=name-or-file
	@$(REPRISE) plan

.PHONY: translate generate extract
translate: .venv/.installed-generate ## translate a study's motions and have that reviewed (costs money): STUDY=name-or-file
	@$(REPRISE) translate $(if $(PHASE),--phase "$(PHASE)") $(if $(CAP),--spending-cap "$(CAP)")

generate: .venv/.installed-generate ## hold a study's debates (costs money): STUDY=name-or-file PHASE=name CAP=dollars
	@$(REPRISE) generate $(if $(PHASE),--phase "$(PHASE)") $(if $(CAP),--spending-cap "$(CAP)")

extract: .venv/.installed-generate ## take a study's debates apart (costs money): STUDY=name-or-file PHASE=name CAP=dollars
	@$(REPRISE) extract $(if $(PHASE),--phase "$(PHASE)") $(if $(CAP),--spending-cap "$(CAP)")

.PHONY: import
import: .venv/.installed ## bring your own debates: MAPPING=name-or-file SOURCE=folder NAME=study DRY_RUN=3
	@$(BIN)/reprise $(if $(LAKE),--lake "$(LAKE)") import "$(MAPPING)" "$(SOURCE)" $(if $(NAME),--name "$(NAME)") \
	  $(if $(CROSSWALK),--crosswalk "$(CROSSWALK)") $(if $(DRY_RUN),--dry-run "$(DRY_RUN)")

.PHONY: label
label: .venv/.installed ## open the page on which people label an audit: PLAN=folder
	@$(REPRISE) label "$(PLAN)"

.PHONY: export
export: .venv/.installed ## write the per-turn scores as CSV and Parquet: TO=folder
	@$(REPRISE) export "$(or $(TO),exports)"

.PHONY: report
report: .venv/.installed ## say where the study's report and figures are
	@$(REPRISE) report

.PHONY: gaps
gaps: .venv/.installed ## print the language gaps of the published warehouse
	@$(REPRISE) gaps

.PHONY: sql
sql: .venv/.installed ## open a read-only SQL prompt on the published warehouse
	@$(REPRISE) sql

.PHONY: ui
ui: .venv/.installed ## open the Dagster UI on http://localhost:3000
	@$(REPRISE) ui

.PHONY: dashboard
dashboard: .venv/.installed ## open the dashboard on http://localhost:8501
	@$(REPRISE) dashboard

.PHONY: docs
docs: .venv/.installed ## build dbt's documentation site as one file, dbt/target/static_index.html
	@$(REPRISE) dbt docs generate --static
	@echo "Open dbt/target/static_index.html"

.PHONY: test
test: .venv/.installed-test ## run all tests
	$(BIN)/python -m pytest

.PHONY: lint
lint: | .venv/bin/pip ## check style
	$(PIP) ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: bench
bench: .venv/.installed-test ## run the benchmarks (minutes) and print their tables
	$(BIN)/python -m benchmarks.max_prior
	$(BIN)/python -m benchmarks.null
	$(BIN)/python -m benchmarks.bootstrap
	$(BIN)/python -m benchmarks.spec_c_bootstrap
	$(BIN)/python -m benchmarks.calibration
	$(BIN)/python -m benchmarks.calibrated_gap
	$(BIN)/python -m benchmarks.run_layer
	$(BIN)/python -m benchmarks.imported_debates

.PHONY: lock
lock: ## resolve all extras but gpu afresh and write requirements.lock
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/pip install --quiet '.[dev,encoders,generate]'
	# Torch's local version names the kind of build on the machine that locks, which is not the reader's.
	{ echo '# Every version of the project, all extras but gpu. Written by `make lock`.'; \
	  .venv-lock/bin/pip freeze --exclude reprise | sed 's/+cpu$$//'; } > requirements.lock
	rm -rf .venv-lock

.PHONY: clean
clean: ## remove what the study makes: the lake, Dagster's records, dbt's output (not .venv)
	rm -rf lake dbt/target dbt/logs

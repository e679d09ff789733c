# Every target but `help` and `clean` first sees to it that .venv is as pyproject.toml says.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check
TYPED := ottla tests benchmarks
QUICK := tests/unit tests/architecture
ON_SPARK := tests/pipelines
BESIDE_KAFKA := tests/kafka tests/differential tests/clients tests/tools tests/hostile

.DEFAULT_GOAL := help
.PHONY: help setup run test check format soak sim bench wheel compatibility conformance \
	constraints clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

setup: $(INSTALLED) ## make .venv and install Ottla with its development tools

$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet -c constraints.txt -e '.[dev,spark]'
	@touch $@

run: $(INSTALLED) ## a broker at 127.0.0.1:9092 with traffic and two pipelines, data in ottla-data; Ctrl-C stops it
	@$(BIN)/ottla demo

check: $(INSTALLED) ## format, lint, types, layers and the quick tests: under a minute
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(TYPED)
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest $(QUICK)

test: check ## check, then every other test, at last those beside a real Kafka (Java, Maven)
	@command -v kcat >/dev/null || test "$$(id -u)" != 0 || timeout 120 sh -c \
		'apt-get update && apt-get install -y kcat' >/dev/null 2>&1 || echo 'no kcat to be had'
	@ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null || \
		test "$$(id -u)" != 0 || timeout 300 sh -c 'apt-get update && \
		apt-get install -y postgresql' >/dev/null 2>&1 || echo 'no PostgreSQL to be had'
	$(BIN)/pytest tests $(addprefix --ignore=,$(QUICK) $(BESIDE_KAFKA) $(ON_SPARK))
	$(BIN)/pytest $(ON_SPARK)
	$(BIN)/pytest $(BESIDE_KAFKA)

format: $(INSTALLED) ## format the code and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

soak: $(INSTALLED) ## the tests with many more generated examples: takes long
	OTTLA_TEST_PROFILE=soak $(BIN)/pytest tests --ignore=tests/packaging \
		$(addprefix --ignore=,$(BESIDE_KAFKA) $(ON_SPARK))
	OTTLA_TEST_PROFILE=soak $(BIN)/pytest $(ON_SPARK)
	OTTLA_TEST_PROFILE=soak $(BIN)/pytest $(BESIDE_KAFKA)

bench: $(INSTALLED) ## run the benchmarks; BENCH="codec records" runs only these
	$(BIN)/python -m benchmarks $(BENCH)

sim: $(INSTALLED) ## repeat one seed of the simulated crashes: make sim SEED=123
	OTTLA_SEED=$(SEED) $(BIN)/pytest tests/simulation

wheel: $(INSTALLED) ## build the wheel into dist/
	$(BIN)/python -m build --wheel --no-isolation --outdir dist

compatibility: $(INSTALLED) ## rewrite docs/COMPATIBILITY.md from the code
	$(BIN)/ottla protocol compatibility > docs/COMPATIBILITY.md

conformance: $(INSTALLED) ## ask every client and tool, and rewrite docs/CONFORMANCE.md from what came of it
	$(BIN)/python -m pytest -p tests.conformance tests/clients tests/tools \
		--ignore=tests/clients/test_card.py

constraints: $(INSTALLED) ## resolve every extra anew and rewrite constraints.txt
	$(PIP) install --quiet --dry-run --ignore-installed --report $(VENV)/resolved.json \
		'.[dev,cli,fast,spark,console]'
	{ sed -n '/^#/p' constraints.txt; $(BIN)/python -c "$$PINS" $(VENV)/resolved.json; } \
		> $(VENV)/constraints.txt
	mv $(VENV)/constraints.txt constraints.txt

define PINS
import json, sys
found = [item["metadata"] for item in json.load(open(sys.argv[1]))["install"]]
pins = [f"{m['name']}=={m['version']}" for m in found if m["name"] != "ottla"]
print(*sorted(pins, key=str.lower), sep="\n")
endef
export PINS

clean: ## remove what the other targets made
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find ottla tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

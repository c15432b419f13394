# `make` alone lists what there is. Needs Node 20 or later and npm; the Node that runs everything comes with the packages.
.DEFAULT_GOAL := help
SHELL := /bin/sh
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

# Packages are installed by whatever Node the machine has; the rest is run by the project's own.
NODE := $(CURDIR)/node_modules/.bin/node
TSC := $(NODE) node_modules/typescript/bin/tsc
# Which suites `make test` runs, for instance SUITES="unit integration". Empty: all.
SUITES ?=

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: install
install: ## Install the packages, if package-lock.json has changed since
	@node scripts/ensure-deps.mjs

.PHONY: build
build: install ## Compile everything
	@$(TSC) -b

.PHONY: generate
generate: install ## Generate code from the contracts in proto/
	@node_modules/.bin/buf generate

.PHONY: lint
lint: install ## Check style, imports, formatting, contracts and unused code
	@npm run --silent lint

.PHONY: format
format: install ## Format everything
	@node_modules/.bin/prettier --write --log-level warn .

.PHONY: test
test: install ## Run every check and test (SUITES="unit lint": only those)
	@$(NODE) scripts/test.mjs $(SUITES)

.PHONY: unit
unit: install ## Run the unit tests
	@$(NODE) scripts/test.mjs unit

.PHONY: demo
demo: build ## Show the main job from end to end: no Docker, no Redis, no key
	@$(NODE) scripts/demo.mjs

.PHONY: serve
serve: build ## Run all services as processes until Ctrl-C
	@$(NODE) scripts/serve.mjs

.PHONY: up
up: ## Run everything in containers
	docker compose up --build --detach --wait
	@docker compose ps

.PHONY: down
down: ## Stop the containers; what Redis holds is kept
	docker compose down

.PHONY: bench
bench: build ## Run the benchmarks, one JSON line per figure
	@$(NODE) bench/run.mjs registry

.PHONY: clean
clean: ## Remove what was built, not the packages
	rm -rf coverage .parley
	find proto packages services -name node_modules -prune -o \( -name dist -o -name '*.tsbuildinfo' \) -print0 | xargs -0 rm -rf

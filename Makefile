# The repository is six modules joined by go.work: the library, its remote
# configuration, its metrics for Prometheus, its tests that need servers, those with
# other plugins of GORM, and the examples. "./..." alone is the library only.
SHELL := bash
.DEFAULT_GOAL := test

GO ?= go
PACKAGES := ./... ./config/remote/... ./metrics/... ./tests/... ./tests/plugins/... ./examples/...
GOLANGCI_LINT := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

FUZZTIME ?= 10s
BENCHCOUNT ?= 1

.PHONY: help
help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' Makefile

.PHONY: prepare
prepare: ## Install MariaDB, etcd and a C compiler (for -race) where they are missing
	@.ci/prepare

.PHONY: test
test: prepare ## Run all tests of all modules
	$(GO) test $$(.ci/race) -timeout 15m $(PACKAGES)

.PHONY: test-long
test-long: prepare ## Run all tests with the long ones
	SHARDING_TEST_LONG=1 $(GO) test $$(.ci/race) -count=1 -timeout 80m $(PACKAGES)

.PHONY: oracle
oracle: prepare ## Compare generated statements with one database; N=1000 SEED=1, or TIME=2h
	ORACLE_N=$(N) ORACLE_SEED=$(SEED) ORACLE_TIME=$(TIME) $(GO) test -count=1 -v -timeout 0 -run Generated ./tests/oracle

.PHONY: lint
lint: ## Check style and the usual mistakes
	$(GOLANGCI_LINT) run $(PACKAGES)

.PHONY: fmt
fmt: ## Format all files
	$(GOLANGCI_LINT) fmt

.PHONY: bench
bench: prepare ## Compare with plain GORM; BENCHCOUNT=10 for benchstat
	$(GO) test -run '^$$' -bench . -benchmem -count $(BENCHCOUNT) ./tests/bench/...
	$(GO) test -run '^$$' -bench . -count $(BENCHCOUNT) ./tests/stream

.PHONY: fuzz
fuzz: ## Fuzz each target for FUZZTIME
	FUZZTIME=$(FUZZTIME) .ci/fuzz

.PHONY: quickstart
quickstart: ## Run the quick start on four SQLite files
	$(GO) run ./examples/quickstart

.PHONY: tidy
tidy: ## Tidy the go.mod of all modules
	.ci/tidy

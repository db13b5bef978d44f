# Birthmark. `make` alone prints what there is to make.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# RocksDB is linked statically: 15% less CPU than the shared library, and a binary that needs nothing installed.
# One set of flags for every target, so that the slow compile of the binding is cached once.
export CGO_LDFLAGS := -Wl,-Bstatic -lrocksdb -lz -lbz2 -lsnappy -llz4 -lzstd -Wl,-Bdynamic -lstdc++ -lm -ldl -lpthread
export GOFLAGS := $(GOFLAGS) -tags=grocksdb_no_link

# Where git can tell, the binary knows its commit: `birthmark version`.
VCS := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo true || echo false)
BENCH ?= append
FUZZTIME ?= 10s

.PHONY: help
help: ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install what a bare Debian 12 lacks: RocksDB, its compressors, a C++ compiler
	@tools/setup.sh

# What tests look at pages with; where it cannot be had, they say so and are skipped.
.PHONY: browser
browser:
	@tools/setup.sh browser

.PHONY: build
build: setup ## build bin/birthmark
	@go build -trimpath -buildvcs=$(VCS) -o bin/birthmark ./cmd/birthmark

.PHONY: demo
demo: build ## index 14,132 real Bitcoin blocks into ./demo-data and ask about them
	@docs/demo.sh

.PHONY: demo-serve
demo-serve: build ## serve what the demos have made: an explorer and an API at http://127.0.0.1:8080 (LISTEN=host:port)
	@docs/demo-serve.sh

.PHONY: demo-cardano
demo-cardano: build ## index a chain like Cardano's, or IMMUTABLE=/path NETWORK=preview, and ask about its assets
	@docs/demo-cardano.sh

.PHONY: demo-ergo
demo-ergo: build ## index a chain like Ergo's from a stand-in for a node, or NODE=http://host:9053 NETWORK=mainnet, and ask about its tokens
	@docs/demo-ergo.sh

.PHONY: test
test: browser blocks ## run every test
	go test -timeout 25m ./...

.PHONY: test-short
test-short: ## run the quick tests: the inner loop
	go test -short ./...

.PHONY: race
race: browser blocks ## every test under the race detector
	go test -race -timeout 30m ./...

.PHONY: test-interop
test-interop: setup blocks interop ## tests against other implementations, from npm (needs node and npm)
	go test -tags grocksdb_no_link,interop -count=1 -run Interop ./internal/cli ./chains/ergo/...

.PHONY: lint
lint: setup ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l .); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...

.PHONY: bench
bench: build ## index generated blocks in several ways and compare (BENCH="append --txs 1000000")
	@bin/birthmark bench $(BENCH)

.PHONY: fuzz
fuzz: setup ## every fuzz target for 10 seconds (FUZZTIME=10s)
	@for package in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
	    echo "$$package $$target"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package; \
	  done; \
	done

.PHONY: docs
docs: setup ## write docs/schema.md and docs/fields.md anew from the code
	go run ./cmd/birthmark schema > docs/schema.md.new && mv docs/schema.md.new docs/schema.md
	go run ./cmd/birthmark fields > docs/fields.md.new && mv docs/fields.md.new docs/fields.md

.PHONY: generate
generate: setup ## write docs/openapi.yaml, the examples in it and the client api/client anew from the operations of package api
	go test -count=1 -run 'TestExamplesOfTheDocumentation|TestSessionsOfTheGuide' ./api -update
	go test -count=1 -run TestTheDocumentsOfTheRepositoryAreThoseOfTheServer ./api -update
	go tool -modfile=tools/go.mod oapi-codegen -config api/client/oapi-codegen.yaml -o api/client/client.go api/client/openapi-3.0.yaml

.PHONY: screenshots
screenshots: browser blocks ## take the pictures in docs/img anew
	go test -count=1 -run TestScreenshots ./internal/cli -update

.PHONY: clean
clean: ## remove what was built and the demo's data
	rm -rf bin demo-data

# The real blocks that tests and the demo use come with a Go module: that of btcd, which tests build and run.
.PHONY: blocks
blocks:
	@go -C tools mod download

# Other implementations are pinned by package-lock.json. The native parts that bcoin needs are compiled, the rest of what
# its packages would run at installation is not run.
.PHONY: interop
interop:
	@command -v npm >/dev/null || { echo "test-interop: node and npm are needed: apt-get install nodejs npm" >&2; exit 1; }
	@cd tools/interop/bcoin && \
	if ! cmp -s package-lock.json node_modules/.birthmark; then \
	  npm ci --ignore-scripts --no-audit --no-fund && npm rebuild mrmr bstring bsip bcrypto && cp package-lock.json node_modules/.birthmark; \
	fi
	@for dir in ouroboros ergo; do \
	  cd $(CURDIR)/tools/interop/$$dir || exit 1; \
	  if ! cmp -s package-lock.json node_modules/.birthmark; then \
	    npm ci --ignore-scripts --no-audit --no-fund && cp package-lock.json node_modules/.birthmark || exit 1; \
	  fi; \
	done

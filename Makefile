# Birthmark. `make` alone prints the targets.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# RocksDB is linked statically: 15% less CPU than the shared library, and a binary that needs nothing installed.
# One set of flags for every target, so that each package, among them the slow binding, is compiled once. With -trimpath
# the results do not depend on the folder of the checkout either.
#
# ROCKSDB=system links the library of the system; Debian's has its assertions on, which tests want. ROCKSDB=own links the
# one of `make rocksdb`, without assertions: the default of `make build` if it exists, and what releases contain.
ROCKSDB ?= system
built = $(eval built := $(shell tools/rocksdb/build.sh --cached))$(built)
own = $(if $(filter own if-built,$(ROCKSDB)),$(or $(built),$(if $(filter own,$(ROCKSDB)),$(error run make rocksdb first))))
# Only the linker and C++ code get other flags, so that both use the same cached packages.
with_own = $(if $(own),-L$(own)/lib -Wl$(comma)--gc-sections)
comma := ,
export CGO_LDFLAGS := -Wl,-Bstatic -lrocksdb -lz -lbz2 -lsnappy -llz4 -lzstd -Wl,-Bdynamic -lstdc++ -lm -ldl -lpthread
export GOFLAGS := $(GOFLAGS) -tags=grocksdb_no_link -trimpath
# RocksDB 8 and 9 need flags. They are determined when a recipe runs: `make setup` may install RocksDB before.
export CGO_CFLAGS = -g -O2 $(shell tools/rocksdb/flags.sh $(own))
export CGO_CXXFLAGS = $(CGO_CFLAGS) $(if $(own),-DNDEBUG)

# In a git repository the binary contains its commit: see `birthmark version`.
VCS := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo true || echo false)
ARCHS ?= amd64 arm64
BENCH ?= append
FUZZTIME ?= 10s

# Prints how long the following command takes.
timed = TIMEFORMAT='$(1): %1R s, %1U + %1S s of CPU time'; time

# Compilers print nothing, so every target that compiles begins with a line that names the longest time that it takes.
compiling = echo "$@: compiling first, without output: seconds, or $(1) of CPU time if nothing is cached"

# `make lint` runs go vet, which go test would repeat. Tests that run in parallel often wait, so more of them than cores.
# About 100 programs are linked, so they have no symbols for debuggers. The linker gold, which is part of Debian's
# binutils, takes half the time of the default one.
TEST = go test -vet=off -parallel 4 -ldflags="-s -w '-extldflags=$(if $(shell command -v ld.gold),-fuse-ld=gold) $(with_own)'"

# Packages start in the order of the arguments: the longest ones start first.
PACKAGES := ./internal/cli ./core ./storage/rocks ./...

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install missing packages on Debian and Ubuntu: RocksDB, compression libraries, a C++ compiler
	@tools/setup.sh

# A browser, shells, and axe-core for the accessibility of pages, which package-lock.json pins. If they cannot be
# installed, the tests that need them are skipped.
.PHONY: test-programs
test-programs:
	@tools/setup.sh tests
	@cd tools/axe; \
	if ! cmp -s package-lock.json node_modules/.birthmark; then \
	  if command -v npm >/dev/null && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; then \
	    cp package-lock.json node_modules/.birthmark; \
	  else \
	    echo "test-programs: npm could not install axe-core: its tests are skipped" >&2; \
	  fi; \
	fi

.PHONY: rocksdb
rocksdb: setup ## build RocksDB without assertions, which `make build` then uses
	@tools/rocksdb/build.sh

.PHONY: build
build: private ROCKSDB := if-built
build: setup ## build bin/birthmark and bin/birthmark-bench
	@$(call compiling,5 minutes)
	@tools/elapsed.sh $@ go build -buildvcs=$(VCS) -ldflags="-extldflags '$(with_own)'" -o bin/ ./cmd/...

.PHONY: man
man: build ## write the man pages to bin/man
	@bin/birthmark man bin/man

.PHONY: release
release: setup ## build tarballs, Debian packages, images, bills of materials and checksums in dist/ (ARCHS="amd64 arm64")
	@$(call compiling,30 minutes)
	@tools/setup.sh image $(ARCHS)
	@tools/release.sh $(ARCHS)

.PHONY: release-check
release-check: setup ## build a release twice, the second time from another folder without a cache, compare and run it
	@$(call compiling,an hour)
	@tools/setup.sh image qemu $(ARCHS)
	@tools/release-check.sh $(ARCHS)

# OLD is a package of an earlier release.
.PHONY: package-check
package-check: ## install, upgrade and remove the package of dist/ on clean systems (OLD=birthmark_0.9.0_amd64.deb), as root
	@tools/package-check.sh dist/birthmark_*_$$(go env GOARCH).deb $(OLD) $(SUITES)

.PHONY: demo
demo: build ## index 14,132 real Bitcoin blocks into ./demo-data and query them
	@docs/demo.sh

.PHONY: demo-serve
demo-serve: build ## serve the databases of the demos at http://127.0.0.1:8080 (LISTEN=host:port)
	@docs/demo-serve.sh

.PHONY: demo-cardano
demo-cardano: build ## index a generated Cardano chain (or IMMUTABLE=/path NETWORK=preview) and query its assets
	@docs/demo-cardano.sh

.PHONY: demo-ergo
demo-ergo: build ## index a generated Ergo chain (or NODE=http://host:9053 NETWORK=mainnet) and query its tokens
	@docs/demo-ergo.sh

.PHONY: test
test: test-programs blocks ## run every test
	@$(call compiling,10 minutes)
	@$(call timed,tests) $(TEST) -p 3 -timeout 45m $(PACKAGES)

.PHONY: test-short
test-short: ## run the quick tests: the inner loop
	@$(call compiling,10 minutes)
	@$(call timed,tests) $(TEST) -p 4 -short -timeout 1h $(PACKAGES)

.PHONY: race
race: ## run the quick tests under the race detector: the slow ones repeat them with more data
	@$(call compiling,20 minutes)
	@$(call timed,race) $(TEST) -race -short -timeout 1h ./...

# The packages whose code and tests run concurrently.
CONCURRENT := ./core ./core/backfill ./core/pending/... ./internal/daemon ./internal/control ./internal/replica ./api ./api/events \
  ./api/ratelimit ./api/netserver ./api/compat/electrum ./api/compat/blockbook

.PHONY: race-concurrent
race-concurrent: setup ## run the quick tests of the concurrent packages under the race detector
	@$(call compiling,20 minutes)
	@$(call timed,race) $(TEST) -race -short -p 2 -timeout 30m $(CONCURRENT)

.PHONY: test-interop
test-interop: setup blocks interop ## install other implementations, and run tests against them
	@$(call compiling,10 minutes)
	@$(call timed,tests) $(TEST) -tags grocksdb_no_link,interop -count=1 -timeout 30m -run Interop ./internal/cli ./chains/ergo/... ./chains/bitcoin/runes ./api/compat/ergoexplorer ./api/compat/onesat ./api/compat/ord

# As tests start processes, the system must run programs of arm64. Debian's qemu-user-static registers itself for that
# with binfmt_misc, except in a container.
.PHONY: test-arm64
test-arm64: setup ## run the quick tests of model, stores and core for arm64, on amd64 under qemu (qemu-user-static)
	@$(call compiling,20 minutes)
	@tools/setup.sh arm64
	@QEMU_LD_PREFIX=/usr/aarch64-linux-gnu tools/release.sh test arm64 -short -p 1 -parallel 2 -timeout 1h ./model/... ./storage/... ./core/...

# The module distributed and its server for tests, PD and unistore, have dependencies of their own. The first run builds
# the server, which takes two minutes of CPU time, and keeps it in the user's cache folder.
.PHONY: tikv-test
tikv-test: setup blocks ## test the TiKV store against PD and unistore, or your cluster (PD=host:port)
	@$(call compiling,10 minutes)
	@$(call timed,go vet) go -C distributed vet ./...
	@export BIRTHMARK_PD=$(PD); $(call timed,tests) go -C distributed test -count=1 -timeout 60m ./...

# Benchmarks on disk in packages whose tests need no RocksDB have the tag bench, as linking it takes a second per package.
.PHONY: lint
lint: export GOFLAGS += -tags=grocksdb_no_link,interop,bench
lint: setup ## gofmt, go vet, staticcheck
	@$(call compiling,5 minutes)
	@unformatted=$$(gofmt -l .); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change:"; echo "$$unformatted"; exit 1; fi
	@$(call timed,go vet) go vet ./...
	@$(call timed,staticcheck) go tool -modfile=tools/go.mod staticcheck ./...

# The packages whose tests need RocksDB too, so C code, are left out. The first run compiles the others for macOS.
.PHONY: check-darwin
check-darwin: export GOOS := darwin
check-darwin: export GOARCH := arm64
check-darwin: export CGO_ENABLED := 0
check-darwin: ## compile and vet the packages without C code, and their tests, for macOS on arm64
	@$(call compiling,15 minutes)
	@needs_c=$$(go list -e -test -f '{{.ImportPath}} {{join .Deps " "}}' ./... | grep birthmark/storage/rocks | sed 's/[ ].*//; s/\.test$$//; s/_test$$//' | sort -u); \
	packages=$$(go list -e ./... | grep -vxF "$$needs_c"); \
	$(call timed,go vet) go vet $$packages; \
	echo "check-darwin: $$(wc -w <<<"$$packages") packages compile, $$(wc -w <<<"$$needs_c") need C code"

.PHONY: bench
bench: build ## index generated blocks in several ways and compare (BENCH="append --txs 1000000")
	@bin/birthmark bench $(BENCH)

.PHONY: fuzz
fuzz: setup ## run every fuzz target for 10 seconds (FUZZTIME=10s)
	@$(call compiling,10 minutes)
	@for package in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
	    echo "$$package $$target"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package; \
	  done; \
	done

# MUTATE="-n 20 -seed 7 -roots core/ingest" chooses.
.PHONY: mutate
mutate: setup ## change 100 random lines of core, chains and api, and list the changes that no test notices
	@$(call compiling,5 minutes)
	@go -C tools run ./mutate -dir .. $(MUTATE)

.PHONY: docs
docs: setup ## write docs/schema.md and docs/fields.md from the code
	@$(call compiling,5 minutes)
	go run ./cmd/birthmark schema > docs/schema.md.new && mv docs/schema.md.new docs/schema.md
	go run ./cmd/birthmark fields > docs/fields.md.new && mv docs/fields.md.new docs/fields.md

.PHONY: generate
generate: setup ## write docs/openapi.yaml and its examples from the operations of package api
	@$(call compiling,5 minutes)
	go test -count=1 -run 'TestExamplesOfTheDocumentation|TestSessionsOfTheGuide' ./api -update
	go test -count=1 -run TestTheDocumentMatchesTheServer ./api -update

.PHONY: screenshots
screenshots: test-programs blocks ## take the pictures in docs/img
	@$(call compiling,10 minutes)
	go test -count=1 -run TestScreenshots ./internal/cli -update

.PHONY: clean
clean: ## remove build results and the data of the demos
	rm -rf bin demo-data

# The real blocks for tests and the demo are in the module of btcd, which tests also build and run.
.PHONY: blocks
blocks:
	@go -C tools mod download

# package-lock.json and go.sum pin other implementations. The native parts of bcoin are compiled, with the headers of the
# installed node if it has them; other install scripts do not run.
NPM_PROJECTS := bcoin blockfrost ouroboros ergo esplora electrum trezor cardano runes onesat ord polars
.PHONY: interop
interop:
	@tools/setup.sh interop
	@for dir in $(NPM_PROJECTS); do \
	  cd $(CURDIR)/tools/interop/$$dir; \
	  if ! cmp -s package-lock.json node_modules/.birthmark; then \
	    echo "test-interop: installing the packages of tools/interop/$$dir"; \
	    npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error; \
	    if [ $$dir = bcoin ]; then \
	      if [ -f /usr/include/node/node.h ]; then export npm_config_nodedir=/usr; fi; \
	      npm rebuild --loglevel=error mrmr bstring bsip bcrypto; \
	    fi; \
	    cp package-lock.json node_modules/.birthmark; \
	  fi; \
	done
	@for dir in go-electrum blockfrost-go ltcd bchd duckdb; do go -C tools/interop/$$dir mod download; done

# A thin facade over the CMake presets (CMakePresets.json) and the scripts in .ci/.
.DEFAULT_GOAL := help
SHELL := /bin/bash
export CMAKE_BUILD_PARALLEL_LEVEL := $(shell .ci/jobs)

# configure-and-build of one preset: $(call build,PRESET,targets)
build = cmake --preset $(1) --log-level=WARNING && cmake --build --preset $(1) $(if $(2),--target $(2))

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: setup-build ## Run the lab: a small world of network namespaces, real packets, before and after
	@$(call build,release,iprulectl iprule-controller iprule-agent)
	build/release/apps/iprulectl lab

.PHONY: build
build: setup-build ## Debug build of everything, in build/dev
	@$(call build,dev)

.PHONY: release
release: setup-build ## Optimised, hardened build of the three programs, in build/release
	@$(call build,release,iprulectl iprule-controller iprule-agent)

.PHONY: test
test: ## Set up, build and run all tests; the last line counts them
	@.ci/test

.PHONY: test-long
test-long: ## Everything in make test, then clang, timed fuzzing and the long runs (up to an hour)
	@.ci/test-long

# One tier of the tests, in the debug build: make test-unit, test-kernel, test-api, test-cluster.
.PHONY: test-unit test-kernel test-api test-cluster
test-unit: ## Pure code only
test-kernel: ## This machine's kernel, in namespaces of its own
test-api: ## A real etcd and kube-apiserver
test-cluster: ## API server, nodes, controller and agents, real packets
test-unit test-kernel test-api test-cluster: test-%: setup-test
	@$(call build,dev)
	@.ci/run-tests dev $*

.PHONY: bench
bench: setup-build ## Print what we promise about speed, peers beside us; BENCH=kernel: one group
	@$(call build,release,bench)
	build/release/bench/bench $(BENCH)

.PHONY: fmt
fmt: setup-test ## Lay out the sources with clang-format
	@.ci/format --fix

.PHONY: lint
lint: setup-long ## Layout, include rules, clang-tidy
	@.ci/format
	@cmake/check-layers src
	@$(call build,clang)
	@git ls-files 'src/*.cpp' 'apps/*.cpp' | xargs -P $(CMAKE_BUILD_PARALLEL_LEVEL) -n 4 clang-tidy-19 -p build/clang --quiet

.PHONY: clean
clean: ## Remove everything that was built in this folder
	rm -rf build

.PHONY: setup-build setup-test setup-long
setup-build setup-test setup-long: setup-%:
	@.ci/setup $*

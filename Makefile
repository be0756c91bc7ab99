# A thin facade over the CMake presets (CMakePresets.json) and the scripts in .ci/.
.DEFAULT_GOAL := help
SHELL := /bin/bash
export CMAKE_BUILD_PARALLEL_LEVEL := $(shell .ci/jobs)

# What is installed, and where from. REGISTRY ends with a slash: REGISTRY=registry.example/net/
VERSION := $(shell cat VERSION)
REGISTRY ?=
IMG ?= $(REGISTRY)iprule-controller:v$(VERSION)
AGENT_IMG ?= $(REGISTRY)iprule-agent:v$(VERSION)
# How: a folder of config/, and folders of config/ added to it.
OVERLAY ?= default
WITH ?=
KUBECTL ?= kubectl
CONTAINER_TOOL ?= podman
ignore-not-found ?= false
export IMG AGENT_IMG KUBECTL CONTAINER_TOOL

# configure-and-build of one preset: $(call build,PRESET,targets)
build = cmake --preset $(1) --log-level=WARNING && cmake --build --preset $(1) $(if $(2),--target $(2))

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z0-9 -]+:.*## / { split($$1, names, " "); printf "  make %-19s %s\n", names[1], $$2 }' $(MAKEFILE_LIST)

##@ Try and build

.PHONY: run
run: setup-build ## Run the lab: a small world of network namespaces, real packets, before and after
	@$(call build,release,iprulectl iprule-controller iprule-agent)
	build/release/apps/iprulectl lab

.PHONY: run-kubernetes
run-kubernetes: setup-test ## The same with a real API server, kube-proxy, the install and its controller
	@$(call build,release,iprulectl iprule-controller iprule-agent)
	build/release/apps/iprulectl lab --kubernetes "$$(.ci/kubernetes)"

.PHONY: build build-agent build-all agent-build
build: setup-build ## Debug build of everything, in build/dev
	@$(call build,dev)
build-agent agent-build: setup-build ## Debug build of the agent alone
	@$(call build,dev,iprule-agent)
build-all: build ## The same as build

.PHONY: release
release: setup-build ## Optimised, hardened build of the three programs, in build/release
	@$(call build,release,iprulectl iprule-controller iprule-agent)

.PHONY: iprulectl-archive
iprulectl-archive: setup-build ## iprulectl with its libraries, for machines that have none of them
	@$(call build,release,iprulectl)
	@.ci/archive build/release/apps/iprulectl build/iprulectl-v$(VERSION).tar.gz

.PHONY: run-controller run-agent
run-controller: setup-build ## Run the controller here, against the cluster of your kubeconfig
	@$(call build,dev,iprule-controller)
	build/dev/apps/iprule-controller
run-agent: setup-build ## Run the agent here (as root): it programs this host's kernel
	@$(call build,dev,iprule-agent)
	build/dev/apps/iprule-agent

.PHONY: clean
clean: ## Remove everything that was built in this folder
	rm -rf build

##@ Test

.PHONY: test
test: ## Set up, build and run all tests; the last line counts them
	@.ci/test

.PHONY: test-long
test-long: ## What make test leaves out: real nodes, clang, all crash points, soak, timed fuzzing, planted bugs (up to an hour)
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

.PHONY: setup-test-e2e test-e2e cleanup-test-e2e
setup-test-e2e: setup-node ## Install and build what test-e2e needs
	@.ci/kubernetes >/dev/null
	@$(call build,release,node_test)
test-e2e: setup-test-e2e ## The install on a real node: kubelet and containerd run our images
	@.ci/run-tests release -- node_test
cleanup-test-e2e: ## Remove the cgroups of a run that was killed; nothing else can stay
	@tests/support/testbed/box remove-stale

.PHONY: bench
bench: setup-test ## Print what we promise about speed, peers beside us (docs/performance.md); BENCH=kernel: one group
	@$(call build,release,bench)
	@CGO_ENABLED=0 go build -C bench/peer -mod=readonly -trimpath -o ../../build/bench/peer .
	IPRULE_PEER="$(CURDIR)/build/bench/peer" IPRULE_KUBERNETES="$$(.ci/kubernetes)" build/release/bench/bench $(BENCH)

##@ Check and generate

.PHONY: fmt
fmt: setup-test ## Lay out the sources with clang-format
	@.ci/format --fix

.PHONY: vet
vet: setup-long ## clang-tidy over the sources (not their tests)
	@$(call build,clang)
	@git ls-files 'src/*.cpp' 'apps/*.cpp' ':!*_test.cpp' | xargs -P $(CMAKE_BUILD_PARALLEL_LEVEL) -n 4 clang-tidy-19 -p build/clang --quiet $(TIDY_FLAGS)

.PHONY: lint lint-fix lint-config
lint: setup-long ## Layout, include rules, clang-tidy
	@.ci/format
	@cmake/check-layers src
	@$(MAKE) --no-print-directory vet
lint-fix: fmt ## Lay out, and let clang-tidy repair what it can
	@$(MAKE) --no-print-directory vet TIDY_FLAGS=--fix
lint-config: setup-long ## Check the settings of the checkers themselves
	@clang-tidy-19 --verify-config
	@clang-format-19 --dump-config >/dev/null

.PHONY: generate manifests build-installer
generate manifests: build-installer ## Render what is generated: dist/ from config/
build-installer: setup-test ## Render dist/install.yaml and dist/install-iprule-system.yaml with IMG and AGENT_IMG
	@mkdir -p dist
	@KUBECTL= .ci/render default $(WITH) >dist/install.yaml
	@KUBECTL= .ci/render overlays/iprule-system $(WITH) >dist/install-iprule-system.yaml

##@ Images: OCI archives in build/images, made without a container engine

.PHONY: docker-build docker-build-agent docker-build-all agent-image-build
docker-build: setup-build ## The controller's image
	@$(call build,release,iprule-controller)
	@.ci/image build/release/apps/iprule-controller /manager $(IMG) build/images/iprule-controller.tar
docker-build-agent agent-image-build: setup-build ## The agent's image
	@$(call build,release,iprule-agent)
	@.ci/image build/release/apps/iprule-agent /agent $(AGENT_IMG) build/images/iprule-agent.tar
docker-build-all: docker-build docker-build-agent ## Both

.PHONY: docker-push docker-push-agent docker-push-all agent-image-push
docker-push: ## Push the controller's image as IMG, with skopeo or CONTAINER_TOOL
	@.ci/push build/images/iprule-controller.tar $(IMG)
docker-push-agent agent-image-push: ## Push the agent's image as AGENT_IMG
	@.ci/push build/images/iprule-agent.tar $(AGENT_IMG)
docker-push-all: docker-push docker-push-agent ## Both

##@ Install, into the cluster of your kubeconfig

.PHONY: install uninstall
install: ## Install the kinds
	$(KUBECTL) apply -k config/crd
uninstall: ## Remove the kinds, and with them every object people wrote
	$(KUBECTL) delete --ignore-not-found=$(ignore-not-found) -k config/crd

.PHONY: deploy undeploy
deploy: ## Install the operator: OVERLAY=default or overlays/NAME, WITH="network-policy prometheus ..."
	@.ci/deploy $(OVERLAY) $(WITH)
undeploy: ## Remove the operator, agents and their rules first; the kinds stay
	@IGNORE_NOT_FOUND=$(ignore-not-found) .ci/undeploy $(OVERLAY) $(WITH)

.PHONY: setup-build setup-test setup-node setup-long
setup-build setup-test setup-node setup-long: setup-%:
	@.ci/setup $*

# The entry point. Every target first runs tools/setup, which installs what is missing and is quick
# when nothing is. CMake and Ninja do the work, with one build folder per preset.

SHELL := /bin/bash
FUZZ_SECONDS ?= 60
export FUZZ_SECONDS
BENCH_ARGS ?=
RUN_ARGS ?=

.PHONY: demo help setup build run test test-all test-cgroup bench fuzz torture fresh fmt clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

setup: ## install everything that building and testing need
	@tools/setup

build: setup ## build the release programs (build/release) and the pages (build/web)
	@cmake --preset release > build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset programs

run: build ## build and start the server; open the link that it prints
	@build/release/sandlot up --data build/run-data --web build/web $(RUN_ARGS)

demo: build ## build and show the simulation in the terminal
	@build/release/sim_demo

test: setup ## test everything once, where the test is strongest (about 20 minutes)
	@tools/test

test-all: setup ## test everything with every compiler and option (about an hour)
	@tools/test all

test-cgroup: build ## test the bounds of a world in an emulated machine (downloads a kernel; about 5 minutes)
	@tools/test-cgroup

bench: build ## run the benchmarks and compare with their goals (BENCH_ARGS=--json)
	@cmake --build --preset release --target benches
	@cmake --preset wasm > build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset wasm --target benches
	@tools/bench $(BENCH_ARGS)

fuzz: setup ## run every fuzz target for FUZZ_SECONDS (default 60)
	@cmake --preset fuzz > build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset fuzz
	@tools/fuzz

torture: setup ## run the long tests, and check that known bugs are detected
	@tools/test release-long
	@tools/mutants

fresh: setup ## test a new clone on a minimal Debian 12 (needs root)
	@tools/fresh

fmt: setup ## format every C file
	@git ls-files -coz --exclude-standard -- '*.c' '*.h' '*.cpp' | xargs -0 -r clang-format-14 -i

clean: ## remove everything that was built or downloaded
	@rm -rf build node_modules

# The front door. Every target first runs tools/setup, which installs what is missing and is quick
# when nothing is; the work itself is CMake's and Ninja's, one build folder per preset.

SHELL := /bin/bash
FUZZ_SECONDS ?= 60
export FUZZ_SECONDS
BENCH_ARGS ?=
RUN_ARGS ?=

.PHONY: demo help setup build run test test-all bench fuzz torture fresh fmt clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

setup: ## install what building and testing need
	@tools/setup

build: setup ## build the release programs, in build/release, and the pages, in build/web
	@cmake --preset release > build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset release

run: build ## build, and start a world to play on: open the link that it prints
	@build/release/sandlot world --place places/island --data build/island --web build/web $(RUN_ARGS)

demo: build ## build, and draw the simulation at work in the terminal
	@build/release/sim_demo

test: setup ## test everything once, where the test is strongest (about 12 minutes)
	@tools/test

test-all: setup ## test everything with every compiler and option (about half an hour)
	@tools/test all

bench: build ## measure, against the goals (BENCH_ARGS=--json)
	@cmake --preset wasm > build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset wasm --target benches
	@tools/bench $(BENCH_ARGS)

fuzz: setup ## let every fuzz target search for FUZZ_SECONDS (60)
	@cmake --preset fuzz > build/configure.log || { cat build/configure.log; exit 1; }
	@cmake --build --preset fuzz
	@tools/fuzz

torture: setup ## run the long tests, and see that known mistakes are noticed
	@tools/test release-long
	@tools/mutants

fresh: setup ## test a clone on a bare Debian 12 (root)
	@tools/fresh

fmt: setup ## format every C file
	@git ls-files -coz --exclude-standard -- '*.c' '*.h' '*.cpp' | xargs -0 -r clang-format-14 -i

clean: ## remove everything that was built or fetched
	@rm -rf build node_modules

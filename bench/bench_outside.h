// Two results that a benchmark cannot measure in its own process: how much slower the same work is
// in WebAssembly, and how many instructions it takes. Both start this program again, once as a WASI
// command under Node and once under callgrind. Native only.
#pragma once

#include "bench/bench_report.h"

// sim.wasm_ratio: native and WASM in turn, several rounds, the ratio of the medians.
void bench_wasm_ratio(BenchReport *report, const char *program, const char *wasm_path);
// The value of the last row that a program built for WASM prints; 0 when there is none.
double bench_in_wasm(const char *wasm_path, const char *arguments);
// Instructions inside one function, for each unit of work, of this program started with --count and
// that argument; it prints "units N". 0 if callgrind gives no result.
double bench_count(const char *program, const char *argument, const char *function);
// sim.instructions: inside sim_step alone, for each character and step.
void bench_instructions(BenchReport *report, const char *program);

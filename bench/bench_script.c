// The cost of the sandbox: the same Lua programs in our Vm and in the unchanged Lua, measured in
// turn, and how much slower ours is in WASM.
//   bench_script [--json] [NAME]
#define _POSIX_C_SOURCE 200809L // popen
#include "bench/bench_report.h"
#include "core/script/vm.h"
#include "tests/script/embedded.h"
#ifndef __wasm__
#include "bench/bench_stock.h"
#endif

#include <lua.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS     15
#define WORST    1.15
#define MEAN     1.05
#define WASM     4.0
#define NO_LIMIT (1ull << 60)

extern const EmbeddedScript bench_scripts[];

// The processor's time where there is one: another program's turn does not count.
static double run_seconds(void)
{
#ifndef __wasm__
    return (double)clock() / CLOCKS_PER_SEC;
#else
    return bench_seconds();
#endif
}

static double ours_run(const EmbeddedScript *script, uint64_t *steps)
{
    Heap heap = heap_make(1ull << 30);
    VmConfig config = vm_config_default();
    config.memory_soft_bytes = 64u << 20;
    config.memory_hard_bytes = 96u << 20;
    Vm *vm;
    if (vm_create(&heap, &config, &vm) != STATUS_OK) {
        return -1;
    }
    double taken = -1;
    lua_State *thread = lua_newthread(vm_main(vm));
    vm_push_environment(thread);
    if (vm_compile(thread, script->name, script->text, script->bytes, -1) == STATUS_OK) {
        lua_remove(thread, 1);
        int count;
        const double begin = run_seconds();
        const VmOutcome outcome = vm_resume(vm, thread, 0, NO_LIMIT, &count);
        taken = outcome == VM_DONE ? run_seconds() - begin : -1;
        *steps = vm_steps_used(vm);
    }
    vm_destroy(&heap, vm);
    return taken;
}

typedef struct Times {
    double ours, stock; // the shortest of all runs, in seconds
    uint64_t steps;
} Times;

// In turns, so that a busy moment of the machine meets both.
static bool measure(const EmbeddedScript *script, Times *times)
{
    *times = (Times){1e9, 1e9, 0};
    for (int i = 0; i < RUNS; i++) {
        const double ours = ours_run(script, &times->steps);
#ifndef __wasm__
        const double stock = stock_run(script->text, script->bytes, run_seconds);
#else
        const double stock = ours;
#endif
        if (ours < 0 || stock < 0) {
            bench_note("%s did not come to its end", script->name);
            return false;
        }
        times->ours = ours < times->ours ? ours : times->ours;
        times->stock = stock < times->stock ? stock : times->stock;
    }
    return true;
}

// Over all programs.
typedef struct Sums {
    double product, worst; // of ours to stock
    double seconds, steps; // of ours
    int count;
} Sums;

static bool measure_all(BenchReport *report, Sums *sums)
{
    *sums = (Sums){.product = 1};
    for (const EmbeddedScript *s = bench_scripts; s->name != NULL; s++) {
        Times times;
        char name[96];
        if (!measure(s, &times)) {
            return false;
        }
        const double ratio = times.ours / times.stock;
        (void)snprintf(name, sizeof name, "script.time.%s", s->name);
        bench_row(report, name, times.ours * 1e3, "ms", BENCH_NO_GOAL);
#ifndef __wasm__
        (void)snprintf(name, sizeof name, "script.overhead.%s", s->name);
        bench_row(report, name, ratio, "x stock Lua", BENCH_NO_GOAL);
#endif
        sums->product *= ratio;
        sums->worst = ratio > sums->worst ? ratio : sums->worst;
        sums->seconds += times.ours;
        sums->steps += (double)times.steps;
        sums->count++;
    }
    return true;
}

#ifndef __wasm__
// Runs this benchmark's WASM build under Node and reads the nanoseconds of one step, or gives zero.
static double wasm_step_ns(void)
{
    static const char COMMAND[] =
        SANDLOT_ROOT "/tools/node " SANDLOT_ROOT "/tests/support/run_wasm.mjs " SANDLOT_WASM_BENCH
                     " --json 2>/dev/null";
    FILE *pipe = popen(COMMAND, "r");
    if (pipe == NULL) {
        return 0;
    }
    char line[512];
    double value = 0;
    while (fgets(line, sizeof line, pipe) != NULL) {
        const char *found = strstr(line, "\"value\":");
        if (strstr(line, "\"script.step\"") != NULL && found != NULL) {
            value = strtod(found + strlen("\"value\":"), NULL);
        }
    }
    return pclose(pipe) == 0 ? value : 0;
}

static void compare_rows(BenchReport *report, const Sums *sums)
{
    bench_row(report, "script.overhead", pow(sums->product, 1.0 / sums->count), "x stock Lua",
              MEAN);
    bench_row(report, "script.overhead_worst", sums->worst, "x stock Lua", WORST);
    const double wasm = wasm_step_ns();
    if (wasm > 0) {
        bench_row(report, "script.wasm_ratio", wasm / (sums->seconds / sums->steps * 1e9),
                  "x native", WASM);
    } else {
        bench_note("script.wasm_ratio: " SANDLOT_WASM_BENCH " is not there (make bench builds it)");
    }
}
#endif

int main(int argc, char **argv)
{
    BenchReport report = {.json = false};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            report.json = true;
        } else {
            report.only = argv[i];
        }
    }
    Sums sums;
    if (!measure_all(&report, &sums)) {
        return 1;
    }
#ifndef __wasm__
    compare_rows(&report, &sums);
#endif
    bench_row(&report, "script.step", sums.seconds / sums.steps * 1e9, "ns", BENCH_NO_GOAL);
    return 0;
}

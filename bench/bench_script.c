// The cost of the sandbox: the same Lua programs in our Vm and in the Lua that it is made from, in
// turns. In WASM, where there is only ours, the times themselves, which tools can compare with the
// native ones.
//   bench_script [--json] [NAME]
#include "bench/bench_report.h"
#include "core/base/math.h"
#include "core/script/vm.h"
#include "tests/script/embedded.h"
#ifndef __wasm__
#include "bench/bench_stock.h"
#endif

#include <lua.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RUNS     9
#define WORST    1.15
#define MEAN     1.05
#define NO_LIMIT (1ull << 60)

extern const EmbeddedScript bench_scripts[];

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
        const double begin = bench_seconds();
        const VmOutcome outcome = vm_resume(vm, thread, 0, NO_LIMIT, &count);
        taken = outcome == VM_DONE ? bench_seconds() - begin : -1;
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
        const double stock = stock_run(script->text, script->bytes, bench_seconds);
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
    double product = 1;
    double worst = 0;
    double seconds = 0;
    double steps = 0;
    int count = 0;
    char name[96];
    for (const EmbeddedScript *s = bench_scripts; s->name != NULL; s++) {
        Times times;
        if (!measure(s, &times)) {
            return 1;
        }
        const double ratio = times.ours / times.stock;
        (void)snprintf(name, sizeof name, "script.time.%s", s->name);
        bench_row(&report, name, times.ours * 1e3, "ms", BENCH_NO_GOAL);
#ifndef __wasm__
        (void)snprintf(name, sizeof name, "script.overhead.%s", s->name);
        bench_row(&report, name, ratio, "x stock Lua", BENCH_NO_GOAL);
#endif
        product *= ratio;
        worst = ratio > worst ? ratio : worst;
        seconds += times.ours;
        steps += (double)times.steps;
        count++;
    }
#ifndef __wasm__
    bench_row(&report, "script.overhead", pow(product, 1.0 / count), "x stock Lua", MEAN);
    bench_row(&report, "script.overhead_worst", worst, "x stock Lua", WORST);
#endif
    bench_row(&report, "script.step", seconds / steps * 1e9, "ns", BENCH_NO_GOAL);
    return 0;
}

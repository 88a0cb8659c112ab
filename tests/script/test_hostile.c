// test_hostile [NAME]         runs every hostile script, or one: is it stopped as its first line
// says? test_hostile --time [NAME]  measures each against an empty loop of the same budget (native)
//
// A script begins with `-- expect: budget`, or memory, error, ok, or several joined by |. A line
// `-- steps: N` gives it another budget than 200,000, `-- memory: N` another soft limit than 1,024
// KiB. Each runs in a fresh Vm; afterwards the same Vm must run an ordinary script.
//
// Each runs once more with the steps and the memory that a world gives by default. Whatever it does
// then, a call takes at most twice its steps: what runs on after the last step was in the middle of
// one operation, and while that runs the world stands still.
#include "core/script/vm/vm.h"
#include "tests/script/embedded.h"

#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS_DEFAULT      200000
#define MEMORY_KIB_DEFAULT 1024
#define LIVE_STEPS         (5 * VM_STEPS_PER_MS)
#define LIVE_OVERRUN       2
#define TIME_RATIO_MAX     3.0
#define TIME_RUNS          7

typedef struct Plan {
    char expect[64];
    uint64_t steps;
    size_t memory_kib;
} Plan;

typedef struct Result {
    VmOutcome outcome;
    bool compiled;
    uint64_t steps;
    double seconds;
    char message[256];
} Result;

static const char *outcome_name(const Result *result)
{
    static const char *const NAMES[] = {"ok", "yield", "error", "budget", "memory", "dead"};
    return result->compiled ? NAMES[result->outcome] : "compile";
}

static const char *line_after(const char *text, const char *label)
{
    const char *found = strstr(text, label);
    return found != NULL ? found + strlen(label) : NULL;
}

static Plan read_plan(const EmbeddedScript *script)
{
    Plan plan = {"", STEPS_DEFAULT, MEMORY_KIB_DEFAULT};
    const char *at = line_after(script->text, "-- expect: ");
    if (at != NULL) {
        (void)snprintf(plan.expect, sizeof plan.expect, "%.*s", (int)strcspn(at, "\n"), at);
    }
    at = line_after(script->text, "\n-- steps: ");
    plan.steps = at != NULL ? strtoull(at, NULL, 10) : plan.steps;
    at = line_after(script->text, "\n-- memory: ");
    plan.memory_kib = at != NULL ? strtoul(at, NULL, 10) : plan.memory_kib;
    return plan;
}

// True if the word is one of those joined by |.
static bool is_expected(const char *expect, const char *word)
{
    const size_t bytes = strlen(word);
    for (const char *at = expect; at != NULL && *at != '\0';) {
        const size_t length = strcspn(at, "|");
        if (length == bytes && strncmp(at, word, bytes) == 0) {
            return true;
        }
        at += length + (at[length] == '|');
    }
    return false;
}

static double now(void)
{
    struct timespec time;
    (void)timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static Vm *make_vm(Heap *heap, size_t memory_kib)
{
    Vm *vm;
    VmConfig config = vm_config_default();
    config.memory_soft_bytes = memory_kib << 10;
    config.memory_hard_bytes = config.memory_soft_bytes + (4u << 20);
    if (vm_create(heap, &config, &vm) != STATUS_OK) {
        printf("no memory for a Vm\n");
        exit(1);
    }
    return vm;
}

static Result run(Vm *vm, const char *name, const char *text, size_t bytes, uint64_t steps)
{
    Result result = {.compiled = false};
    lua_State *thread = lua_newthread(vm_main(vm));
    vm_push_environment(thread);
    if (vm_compile(thread, name, text, bytes, -1) == STATUS_OK) {
        result.compiled = true;
        lua_remove(thread, 1);
        int count;
        const double begin = now();
        result.outcome = vm_resume(vm, thread, 0, steps, &count);
        result.seconds = now() - begin;
        result.steps = vm_steps_used(vm);
    }
    if (!result.compiled || result.outcome == VM_ERROR) {
        const char *message = lua_tostring(thread, -1);
        (void)snprintf(result.message, sizeof result.message, "%s", message ? message : "?");
    }
    if (!result.compiled || result.outcome != VM_DEAD) {
        lua_settop(vm_main(vm), 0);
    }
    return result;
}

static bool runs_normally(Vm *vm)
{
    static const char ORDINARY[] = "local t = {} for i = 1, 100 do t[#t + 1] = i .. 'x' end\n"
                                   "assert(#table.concat(t) == 292 and pcall(error) == false)\n"
                                   "local c = coroutine.wrap(function() coroutine.yield(5) end)\n"
                                   "assert(c() == 5)";
    const Result result = run(vm, "ordinary", ORDINARY, strlen(ORDINARY), STEPS_DEFAULT);
    if (result.outcome != VM_DONE) {
        printf("  then an ordinary script: %s %s\n", outcome_name(&result), result.message);
    }
    return result.outcome == VM_DONE;
}

static bool check_live(Heap *heap, const EmbeddedScript *script)
{
    Vm *vm = make_vm(heap, vm_config_default().memory_soft_bytes >> 10);
    const Result result = run(vm, script->name, script->text, script->bytes, LIVE_STEPS);
    bool good = result.outcome != VM_DEAD && result.steps <= LIVE_OVERRUN * LIVE_STEPS;
    if (!good) {
        printf("%s: with the limits of a world it ended with %s after %llu steps of %d\n",
               script->name, outcome_name(&result), (unsigned long long)result.steps, LIVE_STEPS);
    }
    if (result.outcome != VM_DEAD && !runs_normally(vm)) {
        printf("%s: the Vm is not usable afterwards\n", script->name);
        good = false;
    }
    vm_destroy(heap, vm);
    return good;
}

static bool check_one(Heap *heap, const EmbeddedScript *script)
{
    const Plan plan = read_plan(script);
    Vm *vm = make_vm(heap, plan.memory_kib);
    const Result result = run(vm, script->name, script->text, script->bytes, plan.steps);
    bool good = is_expected(plan.expect, outcome_name(&result));
    if (!good) {
        printf("%s: ended with %s instead of %s: %s\n", script->name, outcome_name(&result),
               plan.expect, result.message);
    }
    if (result.steps > plan.steps + plan.steps / 2) {
        printf("%s: took %llu steps of %llu\n", script->name, (unsigned long long)result.steps,
               (unsigned long long)plan.steps);
        good = false;
    }
    if (result.outcome != VM_DEAD && !runs_normally(vm)) {
        printf("%s: the Vm is not usable afterwards\n", script->name);
        good = false;
    }
    vm_destroy(heap, vm);
    return good;
}

// The shortest of several runs, so that another program's work does not count.
static double shortest(Heap *heap, const char *text, size_t bytes, const Plan *plan,
                       uint64_t *steps)
{
    double best = 1e9;
    for (int i = 0; i < TIME_RUNS; i++) {
        Vm *vm = make_vm(heap, plan->memory_kib);
        const Result result = run(vm, "timed", text, bytes, plan->steps);
        best = result.seconds < best ? result.seconds : best;
        *steps = result.steps;
        vm_destroy(heap, vm);
    }
    return best;
}

// Compared by the steps that were taken: a script that ends early has less time.
static bool time_one(Heap *heap, const EmbeddedScript *script)
{
    static const char EMPTY[] = "while true do end";
    const Plan plan = read_plan(script);
    uint64_t steps;
    uint64_t empty_steps;
    const double empty = shortest(heap, EMPTY, strlen(EMPTY), &plan, &empty_steps);
    const double taken = shortest(heap, script->text, script->bytes, &plan, &steps);
    const double ratio = taken / empty;
    printf("%-28s %8.2f us for %8llu steps: %5.2f of an empty loop\n", script->name, taken * 1e6,
           (unsigned long long)steps, ratio);
    return ratio <= TIME_RATIO_MAX;
}

int main(int argc, char **argv)
{
    const bool timed = argc > 1 && strcmp(argv[1], "--time") == 0;
    const char *only = argc > 1 + timed ? argv[1 + timed] : NULL;
    uint32_t passed = 0;
    uint32_t failed = 0;
    Heap heap = heap_make(1ull << 30);
    for (const EmbeddedScript *s = hostile_scripts; s->name != NULL; s++) {
        const bool needs_world = strncmp(s->name, "sim_", 4) == 0; // test_hostile_world.c
        if (needs_world || (only != NULL && strcmp(only, s->name) != 0)) {
            continue;
        }
        const bool good = timed ? time_one(&heap, s) : check_one(&heap, s) && check_live(&heap, s);
        passed += good;
        failed += !good;
        if (timed && !good) {
            printf("  above %.1f\n", TIME_RATIO_MAX);
        }
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0 || passed == 0;
}

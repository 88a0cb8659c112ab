// The cost of calling into scripts and back: an empty hook, a call of the API, a vector, and a
// thousand entities with a small onUpdate each. For comparison, the same loop is measured without
// the call.
//   bench_runtime [--json]
#include "bench/bench_report.h"
#include "core/base/check.h"
#include "core/script/sample_world.h"

#include <stdio.h>
#include <string.h>

#define ENTITIES 1000
#define TICKS    120
#define ROUNDS   5

typedef struct Bench {
    Heap heap;
    SampleWorld *world;
    ScriptSystem *scripts;
} Bench;

static void open_bench(Bench *bench)
{
    bench->heap = heap_make(1ull << 30);
    SampleWorldConfig config = sample_world_config_default();
    config.client = false;
    config.script.call_ms = 1000;
    config.script.tick_ms = 1000;
    ASSERT(sample_world_create(&bench->heap, &config, &bench->world) == STATUS_OK);
    bench->scripts = sample_world_scripts(bench->world, SCRIPT_SERVER);
}

static void close_bench(Bench *bench)
{
    ScriptFault fault;
    while (script_faults(bench->scripts, &fault, 1) != 0) {
        fprintf(stderr, "bench_runtime: %s\n", fault.message);
    }
    sample_world_destroy(&bench->heap, bench->world);
}

static uint32_t add(Bench *bench, const char *path, const char *code, uint64_t entity)
{
    const CompileRequest request = {
        .script_id = path, .code = code, .code_bytes = strlen(code), .code_hash = path};
    ASSERT(script_compile(bench->scripts, &request).ok);
    uint32_t instance = 0;
    const InstanceDesc desc = {.script_id = path, .entity = entity, .enabled = true};
    ASSERT(script_bind(bench->scripts, &desc, &instance) == STATUS_OK);
    return instance;
}

static double shortest(double a, double b)
{
    return a < b ? a : b;
}

// Nanoseconds of one entry into Lua and out again.
static double call_in(void)
{
    Bench bench;
    open_bench(&bench);
    const uint32_t instance =
        add(&bench, "ServerScriptService/Empty", "function onUpdate() end", 0);
    (void)script_execute(bench.scripts, instance, HOOK_START, 0, 0);
    double best = 1e9;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const double began = bench_seconds();
        for (uint32_t i = 0; i < 20000; i++) {
            (void)script_execute(bench.scripts, instance, HOOK_UPDATE, 0, 0.016f);
        }
        best = shortest(best, (bench_seconds() - began) / 20000);
    }
    close_bench(&bench);
    return best * 1e9;
}

// Nanoseconds of one run of a statement inside a loop, less the loop itself.
static double statement(const char *text)
{
    double best[2] = {1e9, 1e9};
    for (uint32_t with = 0; with < 2; with++) {
        Bench bench;
        open_bench(&bench);
        char code[256];
        snprintf(code, sizeof code,
                 "local d = World.Find('Door') local v = Vector3.new(1, 2, 3)\n"
                 "function onUpdate() for i = 1, 20000 do %s end end",
                 with == 1 ? text : "");
        const uint32_t instance = add(&bench, "ServerScriptService/Statement", code, 0);
        (void)script_execute(bench.scripts, instance, HOOK_START, 0, 0);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            const double began = bench_seconds();
            (void)script_execute(bench.scripts, instance, HOOK_UPDATE, 1000, 0.016f);
            best[with] = shortest(best[with], (bench_seconds() - began) / 20000);
        }
        close_bench(&bench);
    }
    return (best[1] - best[0]) * 1e9;
}

// Microseconds of script_tick with a thousand entities, each with an onUpdate that moves it a
// little.
static double entity_scripts(const char *code)
{
    Bench bench;
    open_bench(&bench);
    ScriptWorld *world = authority_world(sample_world_authority(bench.world));
    for (uint32_t i = 0; i < ENTITIES; i++) {
        uint64_t net_id = 0;
        const Vec3 position = {(float)(i % 40), 10 + (float)(i / 40), 40};
        ASSERT(world->face->spawn(world, (Text){"Spark", 5}, position, false, &net_id) ==
               STATUS_OK);
        (void)add(&bench, "Workspace/Mover", code, net_id);
    }
    sample_world_step(bench.world, 80); // loaded and started
    double best = 1e9;
    for (uint32_t i = 0; i < TICKS; i++) {
        const double began = bench_seconds();
        script_tick(bench.scripts, 1e9, 1);
        best = shortest(best, bench_seconds() - began);
    }
    close_bench(&bench);
    return best * 1e6;
}

int main(int argc, char **argv)
{
    BenchReport report = {.json = argc > 1 && strcmp(argv[1], "--json") == 0};
    bench_row(&report, "script.call_in", call_in(), "ns", BENCH_NO_GOAL);
    bench_row(&report, "script.call_out", statement("World.Tick()"), "ns", BENCH_NO_GOAL);
    bench_row(&report, "script.property", statement("local p = d.Position"), "ns", BENCH_NO_GOAL);
    bench_row(&report, "script.vector", statement("local s = v + v"), "ns", BENCH_NO_GOAL);
    bench_row(&report, "script.entities_1000",
              entity_scripts("function onUpdate(self, dt)\n"
                             "self.Position = self.Position + Vector3.new(0, dt, 0) end"),
              "us/tick", BENCH_NO_GOAL);
    bench_row(&report, "script.entities_1000_empty",
              entity_scripts("function onUpdate(self, dt) end"), "us/tick", BENCH_NO_GOAL);
    return 0;
}

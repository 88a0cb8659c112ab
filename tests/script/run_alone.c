// Runs one script in the small world like `sandlot script run`, but without the jail, in which
// callgrind could not write its results: run_alone FILE.
#include "core/script/sample_world.h"

#include <stdio.h>
#include <stdlib.h>

#define SOURCE_BYTES 65536
#define TICKS        120
#define CALL_MS      1000
#define MEMORY_BYTES (16u << 20)

static int fail(const char *what)
{
    fprintf(stderr, "run_alone: %s\n", what);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static char source[SOURCE_BYTES];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL) {
        return fail("run_alone FILE");
    }
    const size_t bytes = fread(source, 1, sizeof source, file);
    fclose(file);
    Heap heap = heap_make(1ull << 30);
    SampleWorldConfig config = sample_world_config_default();
    config.client = false;
    config.script.call_ms = CALL_MS;
    config.script.tick_ms = CALL_MS;
    config.script.vm.memory_soft_bytes = MEMORY_BYTES;
    config.script.vm.memory_hard_bytes = MEMORY_BYTES + (8u << 20);
    SampleWorld *world = NULL;
    if (sample_world_create(&heap, &config, &world) != STATUS_OK) {
        return fail("the small world could not be made");
    }
    ScriptSystem *scripts = sample_world_scripts(world, SCRIPT_SERVER);
    const CompileRequest request = {.script_id = "script.lua", .code = source, .code_bytes = bytes};
    const InstanceDesc desc = {.script_id = "script.lua", .enabled = true};
    uint32_t instance = 0;
    if (!script_compile(scripts, &request).ok ||
        script_bind(scripts, &desc, &instance) != STATUS_OK) {
        return fail("the script cannot be compiled or bound");
    }
    sample_world_step(world, TICKS);
    ScriptFault fault;
    const bool has_fault = script_faults(scripts, &fault, 1) > 0;
    sample_world_destroy(&heap, world);
    return has_fault ? fail(fault.message) : EXIT_SUCCESS;
}

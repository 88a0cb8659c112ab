// Any text that compiles, linted for each side, with its lines replaced by numbers from the text
// itself: findings are within the source, lines are those of the map, and the heap is intact.
#include "core/base/check.h"
#include "core/script/lint.h"

#include <lua.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FINDINGS_MAX 16
#define REQUIRES_MAX 4
#define LINES_MAX    64

static void lint(lua_State *thread, LintSide side, uint32_t line_max)
{
    static LintFinding findings[FINDINGS_MAX];
    static char requires[REQUIRES_MAX][SCRIPT_PATH_BYTES];
    static uint32_t require_lines[REQUIRES_MAX];
    LintResult result = {.findings = findings,
                         .finding_max = FINDINGS_MAX,
                         .requires = requires,
                         .require_lines = require_lines,
                         .require_max = REQUIRES_MAX};
    lint_function(thread, side, &result);
    ASSERT(result.finding_count <= FINDINGS_MAX && result.require_count <= REQUIRES_MAX);
    for (uint32_t i = 0; i < result.finding_count; i++) {
        ASSERT(findings[i].line > 0 && findings[i].line <= line_max);
        ASSERT(i == 0 || findings[i - 1].line <= findings[i].line);
        ASSERT(strlen(findings[i].message) < SCRIPT_MESSAGE_BYTES);
    }
    for (uint32_t i = 0; i < result.require_count; i++) {
        ASSERT(i == 0 || strcmp(requires[i - 1], requires[i]) < 0);
        ASSERT(require_lines[i] > 0 && require_lines[i] <= line_max);
    }
}

static void run(lua_State *thread, const uint8_t *data, size_t size)
{
    vm_push_environment(thread);
    if (vm_compile(thread, "fuzz", (const char *)data, size, -1) != STATUS_OK) {
        return;
    }
    lint(thread, LINT_SERVER, (uint32_t)size + 1);
    lint(thread, LINT_CLIENT, (uint32_t)size + 1);
    lint(thread, LINT_BOTH, (uint32_t)size + 1);
    uint32_t lines[LINES_MAX];
    uint32_t count = 0;
    for (; count < LINES_MAX && count < size; count++) {
        lines[count] = (uint32_t)data[count] << (data[size - 1 - count] % 20);
    }
    if (lint_map_lines(thread, lines, count) == STATUS_OK) {
        lint(thread, LINT_BOTH, 1u << 28);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Heap heap = heap_make(1ull << 26);
    VmConfig config = vm_config_default();
    config.memory_soft_bytes = 512u << 10;
    config.memory_hard_bytes = 4u << 20;
    Vm *vm;
    if (vm_create(&heap, &config, &vm) != STATUS_OK) {
        abort();
    }
    run(vm_main(vm), data, size);
    lua_settop(vm_main(vm), 0);
    (void)lua_gc(vm_main(vm), LUA_GCCOLLECT);
    ASSERT(vm_is_sound(vm));
    vm_destroy(&heap, vm);
    return 0;
}

// Any text as Luau: it becomes Lua with the same lines, of a bounded length, which compiles or
// fails at a line of the text; or there is an error with a line of the text. No memory is left
// behind.
#include "core/base/check.h"
#include "core/script/luau/luau.h"
#include "core/script/vm/vm.h"

#include <lua.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAME        "fuzz"
#define GROWTH_MAX  24   // a few bytes of Luau, like a.b.c+=1, become a statement with locals
#define PRELUDE_MAX 1024 // what loops need is before the first line

static uint32_t count_lines(const char *text, size_t bytes)
{
    uint32_t count = 1;
    for (size_t i = 0; i < bytes; i++) {
        const bool is_break = text[i] == '\n' || text[i] == '\r';
        const char next = i + 1 < bytes ? text[i + 1] : ' ';
        count += is_break;
        i += is_break && (next == '\n' || next == '\r') && next != text[i];
    }
    return count;
}

static void compile(Heap *heap, const LuauLua *made, uint32_t lines)
{
    const VmConfig config = vm_config_default();
    Vm *vm;
    if (vm_create(heap, &config, &vm) != STATUS_OK) {
        return;
    }
    lua_State *lua = vm_main(vm);
    vm_push_environment(lua);
    if (vm_compile(lua, NAME, made->lua, made->lua_bytes, lua_gettop(lua)) != STATUS_OK) {
        const char *said = lua_tostring(lua, -1);
        const size_t name = strlen(NAME ":");
        if (said != NULL && strncmp(said, NAME ":", name) == 0) { // else it is too large
            const unsigned long line = strtoul(said + name, NULL, 10);
            ASSERT(line >= 1 && line <= lines);
        }
    }
    vm_destroy(heap, vm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Heap heap = heap_make(1ull << 27);
    const char *text = size > 0 ? (const char *)data : "";
    const uint32_t lines = count_lines(text, size);
    LuauLua made;
    const Status status = luau_translate(&heap, text, size, &made);
    ASSERT(status == STATUS_OK || status == STATUS_MALFORMED);
    if (status == STATUS_OK) {
        ASSERT(made.lua_bytes <= GROWTH_MAX * size + PRELUDE_MAX);
        ASSERT(count_lines(made.lua, made.lua_bytes) == lines);
        compile(&heap, &made, lines);
    } else {
        ASSERT(made.lua == NULL && made.line >= 1 && made.line <= lines);
        ASSERT(made.message[0] != '\0');
    }
    luau_free(&heap, &made);
    ASSERT(heap.bytes_now == 0);
    return 0;
}

// Values from the other side, and parameters from a scene: any bytes are a value or an error
// status. An accepted value must push as many values as it says, and be written as the same bytes
// again.
#include "core/script/sample_world.h"
#include "core/script/script_inside.h"
#include "core/script/value.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Fuzzed {
    Heap heap;
    SampleWorld *world;
    ScriptSystem *scripts;
} Fuzzed;

static Fuzzed *fuzzed(void)
{
    static Fuzzed once;
    if (once.world == NULL) {
        once.heap = heap_make(1ull << 30);
        SampleWorldConfig config = sample_world_config_default();
        config.client = false;
        ASSERT(sample_world_create(&once.heap, &config, &once.world) == STATUS_OK);
        once.scripts = sample_world_scripts(once.world, SCRIPT_SERVER);
    }
    return &once;
}

static void value_round_trip(lua_State *lua, const uint8_t *data, size_t size)
{
    static uint8_t first[2 * VALUE_BYTES_MAX];
    static uint8_t second[2 * VALUE_BYTES_MAX];
    char error[VALUE_ERROR_BYTES];
    const int top = lua_gettop(lua);
    int count = 0;
    const Status checked = value_check(data, size);
    const Status status = value_read(lua, data, size, &count);
    ASSERT(checked == status);
    if (status != STATUS_OK) {
        ASSERT(lua_gettop(lua) == top);
        return;
    }
    ASSERT(lua_gettop(lua) == top + count);
    ByteWriter writer = byte_writer(first, sizeof first);
    if (value_write(lua, top + 1, top + count, &writer, error) == STATUS_OK &&
        writer.at <= VALUE_BYTES_MAX) {
        lua_settop(lua, top);
        ASSERT(value_read(lua, first, writer.at, &count) == STATUS_OK);
        ByteWriter again = byte_writer(second, sizeof second);
        ASSERT(value_write(lua, top + 1, top + count, &again, error) == STATUS_OK);
        ASSERT(again.at == writer.at && memcmp(first, second, again.at) == 0);
    }
    lua_settop(lua, top);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    lua_State *lua = fuzzed()->scripts->lua;
    if (size == 0) {
        return 0;
    }
    if (data[0] == 'P') {
        char error[SCRIPT_MESSAGE_BYTES];
        const int top = lua_gettop(lua);
        const bool pushed = params_push(lua, (const char *)data + 1, size - 1, error, sizeof error);
        ASSERT(lua_gettop(lua) == top + (pushed ? 1 : 0));
        lua_settop(lua, top);
    } else {
        value_round_trip(lua, data, size);
    }
    vm_collect(fuzzed()->scripts->vm, 256);
    return 0;
}

// Runes: loading a valid one, and every way in which a header can be invalid.
#include "core/script/rune.h"
#include "tests/support/test.h"

#include <lua.h>
#include <string.h>

static Heap heap;
static Vm *vm;
static uint8_t bytes[1 << 16];
static size_t count;

static void open_vm(void)
{
    heap = heap_make(1ull << 28);
    const VmConfig config = vm_config_default();
    CHECK_OK(vm_create(&heap, &config, &vm));
}

static void make_rune(const char *source)
{
    lua_State *thread = vm_main(vm);
    vm_push_environment(thread);
    CHECK_OK(vm_compile(thread, "Workspace/Door", source, strlen(source), -1));
    CHECK_OK(rune_write(thread, "Workspace/Door", bytes, sizeof bytes, &count));
    lua_settop(thread, 0);
}

TEST(round_trip)
{
    open_vm();
    make_rune("local n = 0\nfor i = 1, 10 do n = n + i end\nglobal = n\nreturn n, missing.field");
    Rune rune;
    CHECK_OK(rune_check(bytes, count, &rune));
    CHECK_TEXT(rune.path, "Workspace/Door");
    lua_State *thread = lua_newthread(vm_main(vm));
    vm_push_environment(thread);
    CHECK_OK(rune_load(thread, bytes, count, -1));
    lua_remove(thread, 1);
    int results;
    CHECK_INT(vm_resume(vm, thread, 0, 100000, &results), VM_ERROR);
    CHECK_TEXT(lua_tostring(thread, -1),
               "Workspace/Door:4: attempt to index a nil value (global 'missing')");
    CHECK_INT(vm_fault_line(vm), 4);
    vm_destroy(&heap, vm);
}

TEST(the_same_source_gives_the_same_bytes)
{
    static uint8_t first[1 << 16];
    open_vm();
    make_rune("return {1, 2.5, 'x', function() return n end}");
    const size_t first_count = count;
    memcpy(first, bytes, count);
    vm_destroy(&heap, vm);
    open_vm();
    make_rune("local unrelated = {}");
    make_rune("return {1, 2.5, 'x', function() return n end}");
    CHECK_INT(count, first_count);
    CHECK_BYTES(bytes, first, count);
    vm_destroy(&heap, vm);
}

TEST(every_header_byte_matters)
{
    open_vm();
    make_rune("return 1");
    Rune rune;
    for (size_t i = 0; i < count; i++) {
        bytes[i] ^= 0x80;
        const Status status = rune_check(bytes, count, &rune);
        const bool in_path = i >= RUNE_HEADER_BYTES && i < RUNE_HEADER_BYTES + 14;
        CHECK((status == STATUS_OK) == in_path); // the path is not part of the hash
        bytes[i] ^= 0x80;
    }
    for (size_t length = 0; length < count; length++) {
        CHECK(rune_check(bytes, length, &rune) != STATUS_OK);
    }
    CHECK(rune_check(bytes, count + 1, &rune) != STATUS_OK);
    vm_destroy(&heap, vm);
}

TEST(limits)
{
    open_vm();
    lua_State *thread = vm_main(vm);
    vm_push_environment(thread);
    CHECK_OK(vm_compile(thread, "x", "return 1", 8, -1));
    size_t written = 77;
    CHECK_INT(rune_write(thread, "x", bytes, 20, &written), STATUS_LIMIT);
    CHECK_INT(rune_write(thread, "x", bytes, 80, &written), STATUS_LIMIT);
    CHECK_INT(written, 77);
    char path[200];
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    CHECK_INT(rune_write(thread, path, bytes, sizeof bytes, &written), STATUS_LIMIT);
    vm_destroy(&heap, vm);
}

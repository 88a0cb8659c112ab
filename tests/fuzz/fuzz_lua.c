// Any text, compiled and run in a small Vm: it must end within its limits, and the heap must be
// intact afterwards. The Vm's allocator tells the address sanitizer which bytes Lua may access.
#include "core/script/lua_guard.h"
#include "core/script/vm.h"

#include "core/base/check.h"

#include <lua.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS 100000

static void run(Vm *vm, const uint8_t *data, size_t size)
{
    lua_State *thread = lua_newthread(vm_main(vm));
    vm_push_environment(thread);
    if (vm_compile(thread, "fuzz", (const char *)data, size, -1) != STATUS_OK) {
        ASSERT(lua_type(thread, -1) == LUA_TSTRING);
        return;
    }
    lua_remove(thread, 1);
    int results;
    VmOutcome outcome = vm_resume(vm, thread, 0, STEPS, &results);
    for (int i = 0; i < 3 && outcome == VM_YIELDED; i++) {
        lua_pop(thread, results);
        outcome = vm_resume(vm, thread, 0, STEPS, &results);
    }
    // An allocation that the owner's limits allow is never refused.
    ASSERT(outcome != VM_DEAD);
    ASSERT(vm_steps_used(vm) <= STEPS + STEPS / 2);
    char trace[256];
    (void)vm_traceback(vm, trace, sizeof trace);
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
    run(vm, data, size);
    lua_settop(vm_main(vm), 0);
    (void)lua_gc(vm_main(vm), LUA_GCCOLLECT);
    ASSERT(vm_is_sound(vm));
    vm_destroy(&heap, vm);
    return 0;
}

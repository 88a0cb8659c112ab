// What scripts hold of the memory that they share. The Vm knows which block belongs to whom. When
// memory is short after an entry, the script that holds most is ended: all that it made stops, its
// code and its globals are forgotten, and it is off until it changes. If others keep what it made
// (a module that several use), its tables are emptied there as well.
#include "core/base/limits.h"
#include "core/script/runtime/script_inside.h"

uint32_t memory_enter(ScriptSystem *system, Handle script)
{
    return vm_set_owner(system->vm, script_at(system, script) != NULL ? script.index : 0);
}

void memory_leave(ScriptSystem *system, uint32_t before)
{
    (void)vm_set_owner(system->vm, before);
}

bool memory_protect(ScriptSystem *system, void (*call)(void *user), void *user)
{
    if (system->is_dead) {
        return false;
    }
    if (vm_protect(system->vm, call, user)) {
        return true;
    }
    system->is_dead = true;
    system->current_thread = 0;
    system->current_instance = HANDLE_NONE;
    system->cause = (Cause){0};
    account_say(system, LOG_ERROR, "scripts", "there was no memory left outside of their calls");
    return false;
}

// A script that was ended counts until its tables have been emptied too.
static uint32_t largest_holder(const ScriptSystem *system,
                               size_t (*bytes_of)(const Vm *vm, uint32_t owner))
{
    uint32_t largest = 0;
    size_t most = 0;
    for (uint32_t i = pool_next(&system->scripts, 1); i != 0;
         i = pool_next(&system->scripts, i + 1)) {
        const Script *script = pool_at(&system->scripts, i);
        const size_t bytes = bytes_of(system->vm, i);
        if (bytes > most && !script->was_taken_back) {
            most = bytes;
            largest = i;
        }
    }
    return largest;
}

static void charge_collections(ScriptSystem *system)
{
    const uint64_t steps = vm_uncharged_steps(system->vm);
    const uint32_t slot = steps > 0 ? largest_holder(system, vm_owned_bytes) : 0;
    if (slot != 0) {
        account_charge_work(system, pool_handle(&system->scripts, slot), steps);
    }
}

static void end_or_empty(ScriptSystem *system, uint32_t slot)
{
    Script *script = pool_at(&system->scripts, slot);
    if (script->load == LOAD_ENDED) {
        vm_free_owned(system->vm, slot);
        script->was_taken_back = true;
        return;
    }
    account_memory_fault(system, script, vm_held_bytes(system->vm, slot));
    script_end(system, pool_handle(&system->scripts, slot));
}

void memory_end_largest(ScriptSystem *system)
{
    ASSERT(system->current_thread == 0);
    charge_collections(system);
    if (!vm_take_memory_short(system->vm)) {
        return;
    }
    while (!system->is_dead && !vm_collect_all(system->vm)) {
        const uint32_t slot = largest_holder(system, vm_held_bytes);
        if (slot == 0) {
            break; // the rest belongs to all
        }
        end_or_empty(system, slot);
    }
}

// An empty table takes two bytes on the wire and most in relation to that.
#define MEMORY_PER_WIRE_BYTE 48
#define MEMORY_AROUND_VALUES (64u << 10)

bool memory_has_room(ScriptSystem *system, size_t wire_bytes)
{
    const size_t bytes = wire_bytes * MEMORY_PER_WIRE_BYTE + MEMORY_AROUND_VALUES;
    if (vm_has_room(system->vm, bytes) || system->current_thread != 0) {
        return true; // inside an entry the entry's own limits apply
    }
    if (system->room_tick != system->tick) {
        system->room_tick = system->tick;
        vm_set_memory_short(system->vm);
        memory_settle(system);
    }
    return vm_has_room(system->vm, bytes);
}

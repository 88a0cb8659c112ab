// Signals for what the running script changes: voxels. They are fired only if somebody has asked
// for the signal, on behalf of the script that makes the change: it is charged, the firing waits
// among its own (SCRIPT_DEFERRED_PER_SCRIPT), and handlers that cause the same change end with an
// error once they nest too deep. When too many are waiting, the change is made and the firing is
// dropped and counted: a listener must not make another script fail.
#include "core/script/api/api.h"

#define FIRE_STEPS 50
#define READ_STEPS 10 // one voxel

static bool is_heard(lua_State *thread, const char *key)
{
    const bool found = signal_push_named(script_of(thread), thread, key, false);
    lua_pop(thread, found ? 1 : 0);
    return found;
}

// The values are on top of the stack, and are popped.
static void fire(lua_State *thread, const char *key, int argument_count)
{
    ScriptSystem *system = script_of(thread);
    if (!signal_push_named(system, thread, key, false)) {
        lua_pop(thread, argument_count);
        return;
    }
    vm_charge(thread, FIRE_STEPS);
    lua_insert(thread, -argument_count - 1);
    const Status status = signal_defer(thread, -argument_count - 1, argument_count);
    lua_pop(thread, 1);
    if (status == STATUS_RANGE) {
        (void)signal_raise(thread, status);
    }
    system->totals.events_dropped += status != STATUS_OK;
}

// --- voxels -------------------------------------------------------------------------------------

static VoxelKind read_voxel(void *user, VoxelCoord at)
{
    lua_State *thread = user;
    return api_methods(thread)->voxel(api_world(thread), at);
}

static void push_voxel(lua_State *thread, VoxelCoord at)
{
    object_push_vector(thread, vec3((float)at.x, (float)at.y, (float)at.z));
}

void api_voxels_before(lua_State *thread, VoxelCoord min, VoxelCoord max, ApiVoxelEdit *edit)
{
    edit->is_heard =
        is_heard(thread, "World.VoxelChanged") || is_heard(thread, "World.VoxelsChanged");
    if (edit->is_heard) {
        voxel_watch_begin(&edit->watch, min, max, read_voxel, thread);
        vm_charge(thread, (uint64_t)edit->watch.count * 2 * READ_STEPS);
    }
}

void api_voxels_after(lua_State *thread, ApiVoxelEdit *edit, VoxelKind kind)
{
    if (!edit->is_heard) {
        return;
    }
    if (edit->watch.count == 0) {
        push_voxel(thread, edit->watch.min);
        push_voxel(thread, edit->watch.max);
        lua_pushinteger(thread, kind);
        fire(thread, "World.VoxelsChanged", 3);
    }
    VoxelChange change;
    while (voxel_watch_next(&edit->watch, read_voxel, thread, &change)) {
        push_voxel(thread, change.at);
        lua_pushinteger(thread, change.before);
        lua_pushinteger(thread, change.now);
        fire(thread, "World.VoxelChanged", 3);
    }
}

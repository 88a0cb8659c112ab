// Signals for what the running script changes: attributes, tags, voxels. They are fired only if
// somebody has asked for the signal, on behalf of the script that makes the change: it is charged,
// the firing waits among its own (SCRIPT_DEFERRED_PER_SCRIPT), and handlers that cause the same
// change end with an error once they nest too deep. When too many are waiting, the change is made
// and the firing is dropped and counted: a listener must not make another script fail.
#include "core/script/api/api.h"
#include "core/script/runtime/value.h"

#include <stdio.h>

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

// --- attributes ---------------------------------------------------------------------------------

void api_attribute_key(uint64_t net_id, Text name, char out[API_CHANGE_KEY_BYTES])
{
    snprintf(out, API_CHANGE_KEY_BYTES, "Entity:%llu.AttributeChanged:%.*s",
             (unsigned long long)net_id, (int)name.bytes, name.data);
}

static void any_attribute_key(uint64_t net_id, char out[API_CHANGE_KEY_BYTES])
{
    snprintf(out, API_CHANGE_KEY_BYTES, "Entity:%llu.AttributeChanged", (unsigned long long)net_id);
}

ApiAttributeChange api_attribute_before(lua_State *thread, uint64_t net_id, Text name,
                                        const ScriptValue *value)
{
    ApiAttributeChange change = {.net_id = net_id};
    char any[API_CHANGE_KEY_BYTES];
    char one[API_CHANGE_KEY_BYTES];
    any_attribute_key(net_id, any);
    api_attribute_key(net_id, name, one);
    if (is_heard(thread, any) || is_heard(thread, one)) {
        ScriptValue before = {0};
        (void)api_methods(thread)->attribute(api_world(thread), net_id, name, &before);
        change.is_heard = !script_value_equal(&before, value);
        api_push_value(thread, &before);
        change.before = lua_gettop(thread);
    }
    return change;
}

void api_attribute_after(lua_State *thread, const ApiAttributeChange *change, Text name,
                         const ScriptValue *value)
{
    if (!change->is_heard) {
        return;
    }
    char key[API_CHANGE_KEY_BYTES];
    any_attribute_key(change->net_id, key);
    lua_pushlstring(thread, name.data, name.bytes);
    api_push_value(thread, value);
    lua_pushvalue(thread, change->before);
    fire(thread, key, 3);
    api_attribute_key(change->net_id, name, key);
    api_push_value(thread, value);
    lua_pushvalue(thread, change->before);
    fire(thread, key, 2);
}

// --- tags ---------------------------------------------------------------------------------------

void api_tag_key(Text tag, bool on, char out[API_CHANGE_KEY_BYTES])
{
    snprintf(out, API_CHANGE_KEY_BYTES, "World.%s:%.*s", on ? "TagAdded" : "TagRemoved",
             (int)tag.bytes, tag.data);
}

void api_tag_changed(lua_State *thread, uint64_t net_id, Text tag, bool on)
{
    char key[API_CHANGE_KEY_BYTES];
    lua_pushlstring(thread, tag.data, tag.bytes);
    object_push_entity(thread, net_id);
    fire(thread, on ? "World.TagAdded" : "World.TagRemoved", 2);
    api_tag_key(tag, on, key);
    object_push_entity(thread, net_id);
    fire(thread, key, 1);
}

void api_tags_added(lua_State *thread, uint64_t net_id)
{
    uint32_t index = 0;
    Text tag;
    while (api_methods(thread)->tag_next(api_world(thread), net_id, &index, &tag)) {
        api_tag_changed(thread, net_id, tag, true);
    }
}

// Passes events of the world to scripts: hooks of the entity's own script, and signals with
// connections.
#include "core/script/api/api.h"
#include "core/script/runtime/value.h"
#include "core/sim/structure.h"

#include <stdio.h>
#include <string.h>

static void fire_entity(ScriptSystem *system, uint64_t entity, const char *name, uint64_t other,
                        bool with_other)
{
    char key[64];
    snprintf(key, sizeof key, "Entity:%llu.%s", (unsigned long long)entity, name);
    if (with_other) {
        object_push_entity(system->lua, other);
    }
    api_fire(system, key, with_other ? 1 : 0);
}

static void fire_player(ScriptSystem *system, uint64_t player_id, const char *name,
                        int argument_count)
{
    char key[64];
    snprintf(key, sizeof key, "Player:%llu.%s", (unsigned long long)player_id, name);
    api_fire(system, key, argument_count);
}

static void call_hooks(ScriptSystem *system, uint64_t entity, ScriptHook hook, uint64_t other)
{
    for (uint32_t slot = script_instance_of(system, entity, 0); slot != 0;
         slot = script_instance_of(system, entity, slot)) {
        script_call_hook(system, slot, hook, other);
    }
}

static void character_event(ScriptSystem *system, const ScriptEvent *event, ScriptHook hook,
                            const char *name)
{
    call_hooks(system, event->entity, hook, event->other);
    fire_entity(system, event->entity, name, event->other, true);
}

static void player_event(ScriptSystem *system, const char *key, uint64_t player_id)
{
    object_push_player(system->lua, player_id);
    api_fire(system, key, 1);
}

static void died(ScriptSystem *system, const ScriptEvent *event)
{
    fire_entity(system, event->entity, "Died", event->other, true);
    if (event->player_id != 0) {
        object_push_entity(system->lua, event->other);
        fire_player(system, event->player_id, "Died", 1);
    }
}

static void fire_entity_values(ScriptSystem *system, uint64_t entity, const char *name,
                               int argument_count)
{
    char key[64];
    snprintf(key, sizeof key, "Entity:%llu.%s", (unsigned long long)entity, name);
    api_fire(system, key, argument_count);
}

static void damaged(ScriptSystem *system, const ScriptEvent *event)
{
    lua_pushnumber(system->lua, event->value);
    object_push_entity(system->lua, event->other);
    fire_entity_values(system, event->entity, "Damaged", 2);
}

static void landed(ScriptSystem *system, const ScriptEvent *event)
{
    lua_pushnumber(system->lua, event->value);
    fire_entity_values(system, event->entity, "Landed", 1);
}

// The same three values follow the one who was hit, or who hit.
static int push_hit(ScriptSystem *system, const ScriptEvent *event, uint64_t other)
{
    object_push_entity(system->lua, other);
    object_push_vector(system->lua, event->position);
    object_push_vector(system->lua, event->normal);
    object_push_entity(system->lua, event->shooter);
    return 4;
}

static void hit(ScriptSystem *system, const ScriptEvent *event)
{
    object_push_entity(system->lua, event->entity);
    api_fire(system, "Projectile.Hit", 1 + push_hit(system, event, event->other));
    fire_entity_values(system, event->entity, "Hit", push_hit(system, event, event->other));
    if (event->other != 0) {
        fire_entity_values(system, event->other, "Hit", push_hit(system, event, event->entity));
    }
}

static void push_player_or_nil(ScriptSystem *system, uint64_t player_id)
{
    if (player_id != 0) {
        object_push_player(system->lua, player_id);
    } else {
        lua_pushnil(system->lua);
    }
}

static void voxel_changed(ScriptSystem *system, const ScriptEvent *event)
{
    object_push_vector(system->lua, event->position);
    lua_pushinteger(system->lua, (lua_Integer)event->other);
    lua_pushinteger(system->lua, (lua_Integer)event->value);
    push_player_or_nil(system, event->player_id);
    api_fire(system, "World.VoxelChanged", 4);
}

static void voxels_changed(ScriptSystem *system, const ScriptEvent *event)
{
    object_push_vector(system->lua, event->position);
    object_push_vector(system->lua, event->normal);
    lua_pushinteger(system->lua, (lua_Integer)event->value);
    push_player_or_nil(system, event->player_id);
    api_fire(system, "World.VoxelsChanged", 4);
}

static void structure_placed(ScriptSystem *system, const ScriptEvent *event)
{
    object_push_entity(system->lua, event->entity);
    push_player_or_nil(system, event->player_id);
    api_fire(system, "Structure.Placed", 2);
}

static void structure_removed(ScriptSystem *system, const ScriptEvent *event)
{
    static const char *const reasons[] = {
        [STRUCTURE_REMOVED] = "Removed",
        [STRUCTURE_DESTROYED] = "Destroyed",
        [STRUCTURE_COLLAPSED] = "Collapsed",
    };
    const bool is_known = event->value >= 0 && event->value <= STRUCTURE_COLLAPSED;
    object_push_entity(system->lua, event->entity);
    lua_pushstring(system->lua, reasons[is_known ? (uint32_t)event->value : STRUCTURE_REMOVED]);
    object_push_vector(system->lua, event->position);
    api_fire(system, "Structure.Removed", 3);
}

// The payload was written by value_write_attributes.
static void attribute_changed(ScriptSystem *system, const ScriptEvent *event)
{
    lua_State *thread = system->lua;
    char key[API_CHANGE_KEY_BYTES];
    int count = 0;
    if (value_read(thread, event->payload, event->payload_bytes, &count) != STATUS_OK) {
        return;
    }
    ASSERT(count == 2);
    lua_pushlstring(thread, event->name.data, event->name.bytes);
    lua_pushvalue(thread, -3);
    lua_pushvalue(thread, -3);
    fire_entity_values(system, event->entity, "AttributeChanged", 3);
    api_attribute_key(event->entity, event->name, key);
    api_fire(system, key, 2);
}

static void tag_changed(ScriptSystem *system, const ScriptEvent *event)
{
    lua_State *thread = system->lua;
    char key[API_CHANGE_KEY_BYTES];
    const bool on = event->value != 0;
    lua_pushlstring(thread, event->name.data, event->name.bytes);
    object_push_entity(thread, event->entity);
    api_fire(system, on ? "World.TagAdded" : "World.TagRemoved", 2);
    object_push_entity(thread, event->entity);
    api_tag_key(event->name, on, key);
    api_fire(system, key, 1);
}

static void chatted(ScriptSystem *system, const ScriptEvent *event)
{
    lua_pushlstring(system->lua, event->name.data, event->name.bytes);
    fire_player(system, event->player_id, "Chatted", 1);
    object_push_player(system->lua, event->player_id);
    lua_pushlstring(system->lua, event->name.data, event->name.bytes);
    api_fire(system, "Chat.Received", 2);
}

static void key_changed(ScriptSystem *system, const ScriptEvent *event)
{
    lua_pushlstring(system->lua, event->name.data, event->name.bytes);
    api_fire(system, event->value != 0 ? "Input.Pressed" : "Input.Released", 1);
}

static void npc_changed(ScriptSystem *system, const ScriptEvent *event)
{
    object_push_entity(system->lua, event->entity);
    lua_pushstring(system->lua, api_npc_state_name((uint32_t)event->value));
    object_push_entity(system->lua, event->other);
    api_fire(system, "Npc.StateChanged", 3);
}

// A widget was used: event.other is the number of the instance that showed it, event.entity what it
// stands above (0: on the screen), event.value the handler's; the payload, if any, is what was
// typed.
static void widget_used(ScriptSystem *system, const ScriptEvent *event)
{
    lua_State *thread = system->lua;
    const int before = lua_gettop(thread);
    lua_rawgeti(thread, LUA_REGISTRYINDEX, system->ui_ref);
    if (lua_rawgeti(thread, -1, (lua_Integer)event->other) == LUA_TTABLE &&
        lua_rawgeti(thread, -1, (lua_Integer)event->entity) == LUA_TTABLE &&
        lua_rawgeti(thread, -1, (lua_Integer)event->value) == LUA_TFUNCTION) {
        for (uint32_t i = pool_next(&system->instances, 1); i != 0;
             i = pool_next(&system->instances, i + 1)) {
            const Instance *instance = pool_at(&system->instances, i);
            if (instance->number != event->other) {
                continue;
            }
            const int handler = luaL_ref(thread, LUA_REGISTRYINDEX);
            int count = 0;
            if (event->payload_bytes > 0 &&
                value_read(thread, event->payload, event->payload_bytes, &count) != STATUS_OK) {
                count = 0;
            }
            hook_call(system, pool_handle(&system->instances, i), HOOK_HANDLER, handler, count);
            luaL_unref(thread, LUA_REGISTRYINDEX, handler);
            break;
        }
    }
    lua_settop(thread, before);
}

void api_event(ScriptSystem *system, const ScriptEvent *event)
{
    switch (event->type) {
    case SCRIPT_EVENT_TRIGGER_ENTER:
        character_event(system, event, HOOK_TRIGGER_ENTER, "TriggerEntered");
        character_event(system, event, HOOK_TOUCH, "Touched"); // a ghost is touched from inside
        break;
    case SCRIPT_EVENT_TRIGGER_LEAVE:
        character_event(system, event, HOOK_TRIGGER_LEAVE, "TriggerLeft");
        break;
    case SCRIPT_EVENT_TOUCH:
        character_event(system, event, HOOK_TOUCH, "Touched");
        break;
    case SCRIPT_EVENT_PLAYER_ADDED:
        player_event(system, "Players.PlayerAdded", event->player_id);
        break;
    case SCRIPT_EVENT_PLAYER_REMOVING:
        player_event(system, "Players.PlayerRemoving", event->player_id);
        break;
    case SCRIPT_EVENT_DIED:
        died(system, event);
        break;
    case SCRIPT_EVENT_RESPAWNED:
        object_push_entity(system->lua, event->entity);
        fire_player(system, event->player_id, "Spawned", 1);
        break;
    case SCRIPT_EVENT_DAMAGED:
        damaged(system, event);
        break;
    case SCRIPT_EVENT_LANDED:
        landed(system, event);
        break;
    case SCRIPT_EVENT_JUMPED:
        fire_entity(system, event->entity, "Jumped", 0, false);
        break;
    case SCRIPT_EVENT_HIT:
        hit(system, event);
        break;
    case SCRIPT_EVENT_VOXEL:
        voxel_changed(system, event);
        break;
    case SCRIPT_EVENT_VOXELS:
        voxels_changed(system, event);
        break;
    case SCRIPT_EVENT_STRUCTURE_PLACED:
        structure_placed(system, event);
        break;
    case SCRIPT_EVENT_STRUCTURE_REMOVED:
        structure_removed(system, event);
        break;
    case SCRIPT_EVENT_ATTRIBUTE:
        attribute_changed(system, event);
        break;
    case SCRIPT_EVENT_TAG:
        tag_changed(system, event);
        break;
    case SCRIPT_EVENT_CHAT:
        chatted(system, event);
        break;
    case SCRIPT_EVENT_MESSAGE:
        api_message(system, event);
        break;
    case SCRIPT_EVENT_UI:
        widget_used(system, event);
        break;
    case SCRIPT_EVENT_INPUT:
        key_changed(system, event);
        break;
    case SCRIPT_EVENT_NPC:
        npc_changed(system, event);
        break;
    case SCRIPT_EVENT_DESTROYED:
        fire_entity(system, event->entity, "Destroyed", 0, false);
        script_unbind_entity(system, event->entity);
        break;
    }
}

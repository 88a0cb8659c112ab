// NPCs, projectiles and structures: the server's own creatures and things.
#include "core/script/api/api.h"
#include "core/sim/npc.h"

#include <string.h>

static const char *const state_names[NPC_STATE_COUNT] = {"Idle", "Suspicious", "Alert",
                                                         "Searching"};

const char *api_npc_state_name(uint32_t state)
{
    return state < NPC_STATE_COUNT ? state_names[state] : "Idle";
}

int api_Npc_Spawn(lua_State *thread)
{
    uint64_t net_id = 0;
    vm_charge(thread, 1000);
    const Status status =
        api_methods(thread)->npc_spawn(api_world(thread), object_vector(thread, 1), &net_id);
    object_push_entity(thread, api_check_change(thread, status, "Npc.Spawn") ? net_id : 0);
    return 1;
}

int api_Npc_MoveTo(lua_State *thread)
{
    vm_charge(thread, API_LOOKUP_STEPS);
    api_check_change(thread,
                     api_methods(thread)->npc_move_to(api_world(thread), object_entity(thread, 1),
                                                      object_vector(thread, 2)),
                     "Npc.MoveTo");
    return 0;
}

int api_Npc_SetTarget(lua_State *thread)
{
    vm_charge(thread, API_LOOKUP_STEPS);
    const uint64_t target = api_is_given(thread, 2) ? object_entity(thread, 2) : 0;
    api_check_change(
        thread,
        api_methods(thread)->npc_target(api_world(thread), object_entity(thread, 1), target),
        "Npc.SetTarget");
    return 0;
}

int api_Npc_SetPatrol(lua_State *thread)
{
    vm_charge(thread, API_LOOKUP_STEPS);
    const lua_Unsigned count = lua_rawlen(thread, 2);
    Vec3 points[NPC_PATROL_MAX];
    if (count > NPC_PATROL_MAX) {
        return luaL_error(thread, "Npc.SetPatrol: at most %d points", NPC_PATROL_MAX);
    }
    for (lua_Unsigned i = 0; i < count; i++) {
        lua_rawgeti(thread, 2, (lua_Integer)i + 1);
        if (!object_is_vector(thread, -1)) {
            return luaL_error(thread, "Npc.SetPatrol: point %d must be a Vector3", (int)i + 1);
        }
        points[i] = object_vector(thread, -1);
        if (!vec3_is_finite(points[i])) {
            return luaL_error(thread, "Npc.SetPatrol: point %d must be finite, not NaN or infinity",
                              (int)i + 1);
        }
        lua_pop(thread, 1);
    }
    api_check_change(thread,
                     api_methods(thread)->npc_patrol(api_world(thread), object_entity(thread, 1),
                                                     points, (uint32_t)count),
                     "Npc.SetPatrol");
    return 0;
}

int api_Npc_GetState(lua_State *thread)
{
    vm_charge(thread, API_LOOKUP_STEPS);
    uint32_t state = 0;
    float suspicion = 0;
    api_check_change(thread,
                     api_methods(thread)->npc_state(api_world(thread), object_entity(thread, 1),
                                                    &state, &suspicion),
                     "Npc.GetState");
    lua_pushstring(thread, api_npc_state_name(state));
    lua_pushnumber(thread, (double)suspicion);
    return 2;
}

static float *number_option(lua_State *thread, const char *name, float *out)
{
    if (!api_option(thread, 1, name)) {
        return NULL;
    }
    *out = api_number(thread, -1);
    return out;
}

// The entity of the option `shooter`, which may be a player; 0: it is not given.
static uint64_t shooter_option(lua_State *thread)
{
    if (!api_option(thread, 1, "shooter")) {
        return 0;
    }
    if (!object_is_player(thread, -1)) {
        return object_entity(thread, -1);
    }
    ScriptPlayerInfo player;
    if (!api_find_player(script_of(thread), object_player(thread, -1), &player) ||
        player.entity == 0) {
        luaL_error(thread, "Projectile.Fire: the shooter has no body");
    }
    return player.entity;
}

static void raise_prefab(lua_State *thread, Text name)
{
    char nearest[64];
    api_nearest_prefab(thread, name, nearest, sizeof nearest);
    if (strcmp(nearest, name.data) == 0) {
        luaL_error(thread,
                   "Projectile.Fire: the prefab \"%s\" is no projectile; World.Spawn makes it",
                   name.data);
    }
    char quote[API_QUOTE_BYTES];
    luaL_error(thread, "Projectile.Fire: the place has no prefab \"%s\"%s%s%s",
               api_quote(name, quote), nearest[0] != 0 ? "; did you mean \"" : "", nearest,
               nearest[0] != 0 ? "\"?" : "");
}

int api_Projectile_Fire(lua_State *thread)
{
    lua_settop(thread, 1);
    ScriptShot shot = {0};
    float damage, gravity, kind;
    if (!api_option(thread, 1, "velocity")) {
        return luaL_error(thread, "Projectile.Fire: velocity must be a Vector3");
    }
    shot.velocity = object_vector(thread, -1);
    const bool has_position = api_option(thread, 1, "position");
    const Vec3 position = has_position ? object_vector(thread, -1) : VEC3_ZERO;
    shot.position = has_position ? &position : NULL;
    shot.damage = number_option(thread, "damage", &damage);
    shot.gravity = number_option(thread, "gravity", &gravity);
    const bool has_kind = number_option(thread, "kind", &kind) != NULL;
    if (has_kind && !(kind >= 0 && kind <= 65535)) {
        return luaL_error(thread, "Projectile.Fire: kind is between 0 and 65535");
    }
    const uint32_t kind_number = has_kind ? (uint32_t)kind : 0;
    shot.kind = has_kind ? &kind_number : NULL;
    shot.shooter = shooter_option(thread);
    shot.prefab = api_option(thread, 1, "prefab") ? api_text(thread, -1) : (Text){"", 0};
    uint64_t net_id = 0;
    vm_charge(thread, 500);
    const Status status = api_methods(thread)->fire(api_world(thread), &shot, &net_id);
    if (status == STATUS_UNSUPPORTED) {
        raise_prefab(thread, shot.prefab);
    } else if (status == STATUS_BLOCKED) {
        return luaL_error(thread, "Projectile.Fire: give a position, or a shooter that has a body");
    }
    object_push_entity(thread, api_check_change(thread, status, "Projectile.Fire") ? net_id : 0);
    return 1;
}

int api_Structure_Place(lua_State *thread)
{
    const lua_Integer piece = luaL_checkinteger(thread, 1);
    const lua_Integer turn = api_is_given(thread, 3) ? luaL_checkinteger(thread, 3) : 0;
    const uint64_t owner = api_is_given(thread, 4) ? object_player(thread, 4) : 0;
    if (piece < 0 || piece > UINT16_MAX || turn < 0 || turn > 3) {
        return luaL_error(thread, "Structure.Place: a piece is a number of the catalogue, a turn "
                                  "is 0 to 3");
    }
    uint64_t net_id = 0;
    vm_charge(thread, 2000);
    const Status status = api_methods(thread)->structure_place(api_world(thread), (uint32_t)piece,
                                                               voxel_at(object_vector(thread, 2)),
                                                               (uint32_t)turn, owner, &net_id);
    switch (status) {
    case STATUS_BLOCKED:
        return luaL_error(thread, "Structure.Place: something is in the way");
    case STATUS_DENIED:
        return luaL_error(thread, "Structure.Place: nothing holds it up there");
    case STATUS_NOT_FOUND:
        return luaL_error(thread, "Structure.Place: the catalogue has no piece %d", (int)piece);
    default:
        break;
    }
    object_push_entity(thread, api_check_change(thread, status, "Structure.Place") ? net_id : 0);
    return 1;
}

int api_Structure_Remove(lua_State *thread)
{
    api_check_change(
        thread, api_methods(thread)->structure_remove(api_world(thread), object_entity(thread, 1)),
        "Structure.Remove");
    return 0;
}

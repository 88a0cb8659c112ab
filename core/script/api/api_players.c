// Players: who is here, their bodies, teams and numbers on the leaderboard.
#include "core/script/api/api.h"

#include "core/base/utf8.h"

#include <string.h>

#define PLAYERS_MAX 256 // listed at a time
#define SPAWN_STEPS 250 // a body at a place

bool api_find_player(const ScriptSystem *system, uint64_t player_id, ScriptPlayerInfo *out)
{
    ScriptPlayerInfo players[PLAYERS_MAX];
    const uint32_t count = system->methods->players(system->config.world, players, PLAYERS_MAX);
    for (uint32_t i = 0; i < count && i < PLAYERS_MAX; i++) {
        if (players[i].player_id == player_id) {
            *out = players[i];
            return true;
        }
    }
    return false;
}

static ScriptPlayerInfo info_of(lua_State *thread)
{
    ScriptPlayerInfo info = {0};
    if (!api_find_player(script_of(thread), object_player(thread, 1), &info)) {
        luaL_error(thread, "this player has left");
    }
    return info;
}

int api_get_Players_LocalPlayer(lua_State *thread)
{
    object_push_player(thread, api_methods(thread)->local_player(api_world(thread)));
    return 1;
}

// A player is listed from the moment PlayerAdded fires for it. So a script that connects to
// PlayerAdded and walks the list gets every player exactly once.
int api_Players_GetPlayers(lua_State *thread)
{
    ScriptPlayerInfo players[PLAYERS_MAX];
    uint32_t count = api_methods(thread)->players(api_world(thread), players, PLAYERS_MAX);
    count = count < PLAYERS_MAX ? count : PLAYERS_MAX;
    const ScriptSystem *system = script_of(thread);
    const uint64_t looked_at = system->joins_pending > 0 ? system->event_count : 0;
    vm_charge(thread, count * (30 + looked_at));
    lua_createtable(thread, (int)count, 0);
    lua_Integer listed = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!script_join_is_pending(system, players[i].player_id)) {
            object_push_player(thread, players[i].player_id);
            lua_rawseti(thread, -2, ++listed);
        }
    }
    return 1;
}

int api_Players_GetPlayerByName(lua_State *thread)
{
    ScriptPlayerInfo players[PLAYERS_MAX];
    const Text name = api_text(thread, 1);
    const uint32_t count = api_methods(thread)->players(api_world(thread), players, PLAYERS_MAX);
    for (uint32_t i = 0; i < count && i < PLAYERS_MAX; i++) {
        if (players[i].name.bytes == name.bytes &&
            memcmp(players[i].name.data, name.data, name.bytes) == 0) {
            object_push_player(thread, players[i].player_id);
            return 1;
        }
    }
    lua_pushnil(thread);
    return 1;
}

int api_Players_GetPlayerById(lua_State *thread)
{
    ScriptPlayerInfo info;
    const uint64_t player_id = (uint64_t)luaL_checkinteger(thread, 1);
    const bool is_here = player_id != 0 && api_find_player(script_of(thread), player_id, &info);
    object_push_player(thread, is_here ? player_id : 0);
    return 1;
}

int api_get_Player_UserId(lua_State *thread)
{
    lua_pushinteger(thread, (lua_Integer)object_player(thread, 1));
    return 1;
}

static int push_text(lua_State *thread, Text text)
{
    lua_pushlstring(thread, text.data != NULL ? text.data : "", text.bytes);
    return 1;
}

int api_get_Player_Name(lua_State *thread)
{
    return push_text(thread, info_of(thread).name);
}

int api_get_Player_Team(lua_State *thread)
{
    return push_text(thread, info_of(thread).team);
}

// An assigned value is not an argument, so `what` names it.
static Text valid_name(lua_State *thread, const char *what)
{
    const Text name = api_text(thread, 2);
    if (name.bytes > WORLD_NAME_BYTES_MAX) { // before its bytes are looked at
        luaL_error(thread, "%s has at most %d bytes", what, WORLD_NAME_BYTES_MAX);
    }
    const char *problem = text_error(name.data, name.bytes);
    if (problem != NULL) {
        luaL_error(thread, "%s %s", what, problem);
    }
    return name;
}

int api_set_Player_Team(lua_State *thread)
{
    api_check_change(thread,
                     api_methods(thread)->player_team(api_world(thread), object_player(thread, 1),
                                                      valid_name(thread, "Player.Team")),
                     "Player.Team");
    return 0;
}

int api_get_Player_Character(lua_State *thread)
{
    object_push_entity(thread, info_of(thread).entity);
    return 1;
}

int api_Player_Spawn(lua_State *thread)
{
    vm_charge(thread, SPAWN_STEPS);
    const bool has_position = api_is_given(thread, 2);
    const Vec3 position = has_position ? object_vector(thread, 2) : VEC3_ZERO;
    const Vec3 *where = has_position ? &position : NULL;
    api_check_change(
        thread,
        api_methods(thread)->player_spawn(api_world(thread), object_player(thread, 1), where),
        "Player.Spawn");
    return 0;
}

int api_Player_SetSpawn(lua_State *thread)
{
    ScriptEntityInfo info = {0};
    const uint64_t player = object_player(thread, 1);
    vm_charge(thread, API_LOOKUP_STEPS);
    if (object_is_entity(thread, 2)) {
        if (!api_methods(thread)->entity(api_world(thread), object_entity(thread, 2), &info)) {
            return luaL_error(thread, "Player:SetSpawn: the entity is gone");
        }
    } else if (api_is_given(thread, 2)) {
        info.position = object_vector(thread, 2);
    }
    const Vec3 *where = api_is_given(thread, 2) ? &info.position : NULL;
    api_check_change(thread,
                     api_methods(thread)->player_set_spawn(api_world(thread), player, where),
                     "Player:SetSpawn");
    return 0;
}

int api_Player_Kick(lua_State *thread)
{
    char clean[KICK_REASON_BYTES_MAX];
    size_t bytes = 0;
    if (api_is_given(thread, 2)) {
        Text reason = api_text(thread, 2);
        reason.bytes = utf8_cut(reason.data, reason.bytes, 4 * KICK_REASON_BYTES_MAX);
        vm_charge(thread, reason.bytes);
        bytes = text_clean(reason.data, reason.bytes, clean, sizeof clean);
    }
    (void)info_of(thread); // raises for somebody who has left
    api_check_change(thread,
                     api_methods(thread)->player_kick(api_world(thread), object_player(thread, 1),
                                                      (Text){clean, bytes}),
                     "Player:Kick");
    return 0;
}

static void kill_character(lua_State *thread, uint64_t entity, const char *what)
{
    ScriptEntityInfo info;
    vm_charge(thread, API_LOOKUP_STEPS);
    if (entity == 0 || !api_methods(thread)->entity(api_world(thread), entity, &info)) {
        return; // without a body there is nothing to kill
    }
    api_check_change(thread, api_methods(thread)->damage(api_world(thread), entity, info.health, 0),
                     what);
}

int api_Player_Kill(lua_State *thread)
{
    kill_character(thread, info_of(thread).entity, "Player.Kill");
    return 0;
}

int api_global_KillPlayer(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    uint64_t entity = 0;
    if (object_is_player(thread, 1)) {
        entity = info_of(thread).entity;
    } else if (object_is_entity(thread, 1)) {
        entity = object_entity(thread, 1);
    } else {
        entity = thread_at(system, system->current_thread)->trigger_other;
        if (entity == 0) {
            return luaL_error(thread, "KillPlayer() without a player works inside OnTriggerEnter, "
                                      "OnTriggerLeave and OnTouch only");
        }
    }
    kill_character(thread, entity, "KillPlayer");
    return 0;
}

// --- leaderstats: a table whose fields are the player's numbers ---------------------------------

// (proxy, name); upvalue 1 is the player.
static int stat_index(lua_State *thread)
{
    double value = 0;
    const uint64_t player = object_player(thread, lua_upvalueindex(1));
    if (lua_type(thread, 2) != LUA_TSTRING ||
        !api_methods(thread)->player_stat_read(api_world(thread), player, api_text(thread, 2),
                                               &value)) {
        lua_pushnil(thread);
        return 1;
    }
    const ScriptValue number = {.type = SCRIPT_NUMBER, .number = value};
    api_push_value(thread, &number);
    return 1;
}

static int stat_set(lua_State *thread)
{
    const uint64_t player = object_player(thread, lua_upvalueindex(1));
    vm_charge(thread, API_CALL_STEPS);
    if (lua_type(thread, 2) != LUA_TSTRING) {
        return luaL_error(thread, "a name in leaderstats must be a string, not a %s",
                          luaL_typename(thread, 2));
    }
    const Text name = valid_name(thread, "the name in leaderstats");
    if (lua_type(thread, 3) != LUA_TNUMBER) {
        return luaL_error(thread, "leaderstats.%s must be a number, not %s%s", name.data,
                          lua_isnil(thread, 3) ? "" : "a ", luaL_typename(thread, 3));
    }
    const double value = lua_tonumber(thread, 3);
    if (!(value - value == 0)) {
        return luaL_error(thread, "leaderstats.%s must be finite, not NaN or infinity", name.data);
    }
    api_world(thread)->refusal = NULL;
    api_check_change(thread,
                     api_methods(thread)->player_stat(api_world(thread), player, name, value),
                     "leaderstats");
    return 0;
}

// The place of a name among the numbers, from 1 on; 0 if it is not there.
static uint32_t stat_place(lua_State *thread, uint64_t player, Text name)
{
    Text known;
    double value = 0;
    for (uint32_t i = 0;
         api_methods(thread)->player_stat_at(api_world(thread), player, i, &known, &value); i++) {
        if (known.bytes == name.bytes && memcmp(known.data, name.data, name.bytes) == 0) {
            return i + 1;
        }
    }
    return 0;
}

// (proxy, name) → the next name and its number, in the order in which they came.
static int stat_next(lua_State *thread)
{
    const uint64_t player = object_player(thread, lua_upvalueindex(1));
    uint32_t index = 0;
    vm_charge(thread, API_CALL_STEPS);
    if (!lua_isnoneornil(thread, 2)) {
        index = lua_type(thread, 2) == LUA_TSTRING ? stat_place(thread, player, api_text(thread, 2))
                                                   : 0;
        if (index == 0) {
            return luaL_error(thread, "leaderstats has no %s", luaL_tolstring(thread, 2, NULL));
        }
    }
    Text name;
    ScriptValue number = {.type = SCRIPT_NUMBER};
    if (!api_methods(thread)->player_stat_at(api_world(thread), player, index, &name,
                                             &number.number)) {
        lua_pushnil(thread);
        return 1;
    }
    lua_pushlstring(thread, name.data, name.bytes);
    api_push_value(thread, &number);
    return 2;
}

static int stat_pairs(lua_State *thread)
{
    lua_pushvalue(thread, lua_upvalueindex(1));
    lua_pushcclosure(thread, stat_next, 1);
    lua_pushvalue(thread, 1);
    lua_pushnil(thread);
    return 3;
}

// How many there are.
static int stat_length(lua_State *thread)
{
    const uint64_t player = object_player(thread, lua_upvalueindex(1));
    Text name;
    double value = 0;
    lua_Integer count = 0;
    while (api_methods(thread)->player_stat_at(api_world(thread), player, (uint32_t)count, &name,
                                               &value)) {
        count += 1;
    }
    lua_pushinteger(thread, count);
    return 1;
}

int api_get_Player_leaderstats(lua_State *thread)
{
    static const luaL_Reg more[] = {
        {"__next", stat_next}, {"__pairs", stat_pairs}, {"__len", stat_length}, {NULL, NULL}};
    vm_charge(thread, 300);
    lua_newtable(thread);
    lua_newtable(thread);
    lua_pushvalue(thread, 1);
    luaL_setfuncs(thread, more, 1);
    lua_pushvalue(thread, 1);
    lua_pushcclosure(thread, stat_index, 1);
    lua_setfield(thread, -2, "__index");
    lua_pushvalue(thread, 1);
    lua_pushcclosure(thread, stat_set, 1);
    lua_setfield(thread, -2, "__newindex");
    lua_pushliteral(thread, "locked");
    lua_setfield(thread, -2, "__metatable");
    lua_setmetatable(thread, -2);
    return 1;
}

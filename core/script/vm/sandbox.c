// Most functions are Lua's, with the charges that lua.substitutions adds. Our own replace those
// that must do less: metatables without __gc and __mode, load without bytecode and with the
// script's environment, xpcall that calls its handler after the unwinding (at the point of the
// error there may be no stack left), os with the times that the owner sets.
#include "core/script/vm/sandbox.h"

#include "core/script/vm/library.h"
#include "core/script/vm/lua_guard.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <string.h>

#define SHARED "sandbox" // in the registry: the table of what environments share

// --- metatables ---------------------------------------------------------------------------------
static int base_getmetatable(lua_State *L)
{
    luaL_checkany(L, 1);
    if (lua_type(L, 1) == LUA_TSTRING || !lua_getmetatable(L, 1)) {
        lua_pushnil(L); // the metatable of strings is shared by all scripts
        return 1;
    }
    luaL_getmetafield(L, 1, "__metatable");
    return 1;
}

static void refuse_field(lua_State *L, const char *name, const char *instead)
{
    lua_pushstring(L, name);
    if (lua_rawget(L, 2) != LUA_TNIL) {
        luaL_error(L, "a metatable cannot have %s here: %s", name, instead);
    }
    lua_pop(L, 1);
}

static int base_setmetatable(lua_State *L)
{
    guard_charge(L, BUDGET_SETMETATABLE);
    const int type = lua_type(L, 2);
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) {
        return luaL_error(L, "cannot change a protected metatable");
    }
    lua_settop(L, 2);
    if (type == LUA_TTABLE) {
        refuse_field(L, "__gc", "write onDestroy, or call what tidies up yourself");
        refuse_field(L, "__mode",
                     "no table is weak, so take out what has gone, as in "
                     "Players.PlayerRemoving or entity.Destroyed");
    }
    lua_setmetatable(L, 1);
    return 1;
}

// --- next ---------------------------------------------------------------------------------------
// As Lua's own, except for tables of the API whose content is elsewhere: their metatable has a
// function of ours for it.
static int base_next(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (luaL_getmetafield(L, 1, "__next") != LUA_TNIL) {
        if (lua_iscfunction(L, 3)) {
            lua_insert(L, 1);
            lua_call(L, 2, LUA_MULTRET);
            return lua_gettop(L);
        }
        lua_settop(L, 2);
    }
    if (lua_next(L, 1) != 0) {
        return 2;
    }
    lua_pushnil(L);
    return 1;
}

// --- xpcall -------------------------------------------------------------------------------------
// The stack is: handler, function, arguments; then the function's results. An error in the handler
// replaces the first one.
static int xpcall_handled(lua_State *L, int status, lua_KContext context)
{
    (void)context;
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_pushboolean(L, 0);
        lua_insert(L, -2);
        return 2;
    }
    return lua_gettop(L) - 1; // false and what the handler gave, above the handler
}

static int xpcall_finish(lua_State *L, int status, lua_KContext context)
{
    (void)context;
    if (status == LUA_OK || status == LUA_YIELD) {
        lua_pushboolean(L, 1);
        lua_replace(L, 1);
        return lua_gettop(L);
    }
    // handler, error → handler, false, handler, error
    lua_settop(L, 2);
    lua_pushboolean(L, 0);
    lua_insert(L, 2);
    lua_pushvalue(L, 1);
    lua_insert(L, 3);
    const int handled = lua_pcallk(L, 1, LUA_MULTRET, 0, 0, xpcall_handled);
    return xpcall_handled(L, handled, 0);
}

static int base_xpcall(lua_State *L)
{
    guard_charge(L, BUDGET_XPCALL);
    luaL_checkany(L, 1);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_insert(L, 1);
    lua_remove(L, 3); // handler, function, arguments
    const int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 0, 0, xpcall_finish);
    return xpcall_finish(L, status, 0);
}

// --- load ---------------------------------------------------------------------------------------
typedef struct Pieces {
    size_t bytes; // so far
} Pieces;

#define PIECE_SLOT 5 // keeps the piece alive that is being read

static void charge_source(lua_State *L, size_t bytes)
{
    guard_charge(L, 400 + bytes * BUDGET_LOAD);
}

static const char *read_piece(lua_State *L, void *user, size_t *bytes)
{
    Pieces *pieces = user;
    luaL_checkstack(L, 2, "too many nested functions");
    lua_pushvalue(L, 1);
    lua_call(L, 0, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        *bytes = 0;
        return NULL;
    }
    if (lua_type(L, -1) != LUA_TSTRING) {
        luaL_error(L, "reader function must return a string");
    }
    lua_replace(L, PIECE_SLOT);
    const char *text = lua_tolstring(L, PIECE_SLOT, bytes);
    pieces->bytes += *bytes;
    if (pieces->bytes > VM_SOURCE_BYTES_MAX) {
        luaL_error(L, "the source is larger than %d KiB", VM_SOURCE_BYTES_MAX >> 10);
    }
    charge_source(L, *bytes);
    return text;
}

static int load_text(lua_State *L, const char *name)
{
    size_t bytes;
    const char *text = lua_tolstring(L, 1, &bytes);
    if (bytes > VM_SOURCE_BYTES_MAX) {
        lua_pushfstring(L, "the source is larger than %d KiB", VM_SOURCE_BYTES_MAX >> 10);
        return LUA_ERRSYNTAX;
    }
    charge_source(L, bytes);
    return luaL_loadbufferx(L, text, bytes, name, "t");
}

// load(text or function [, name [, mode [, environment]]]): always text, and always with an
// environment: the given one, or that of the script whose load this is.
static int base_load(lua_State *L)
{
    lua_settop(L, 4);
    int status;
    if (lua_type(L, 1) == LUA_TSTRING) {
        status = load_text(L, luaL_optstring(L, 2, lua_tostring(L, 1)));
    } else {
        Pieces pieces = {0};
        luaL_checktype(L, 1, LUA_TFUNCTION);
        lua_settop(L, PIECE_SLOT);
        status = lua_load(L, read_piece, &pieces, luaL_optstring(L, 2, "=(load)"), "t");
    }
    if (status != LUA_OK) {
        lua_pushnil(L);
        lua_insert(L, -2);
        return 2;
    }
    lua_pushvalue(L, lua_isnil(L, 4) ? lua_upvalueindex(1) : 4);
    (void)lua_setupvalue(L, -2, 1);
    return 1;
}

// --- os -----------------------------------------------------------------------------------------
static int os_time(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)vm_unix_seconds(vm_of(L)));
    return 1;
}

static int os_clock(lua_State *L)
{
    lua_pushnumber(L, vm_world_seconds(vm_of(L)));
    return 1;
}

static int os_difftime(lua_State *L)
{
    lua_pushnumber(L, luaL_checknumber(L, 1) - luaL_checknumber(L, 2));
    return 1;
}

// --- putting it together ------------------------------------------------------------------------
static const char *const BASE_NAMES[] = {
    "_VERSION", "assert", "error",  "ipairs", "pairs",    "pcall",    "rawequal",
    "rawget",   "rawlen", "rawset", "select", "tonumber", "tostring", "type",
};

static const luaL_Reg OWN_BASE[] = {
    {"getmetatable", base_getmetatable},
    {"next", base_next},
    {"setmetatable", base_setmetatable},
    {"xpcall", base_xpcall},
    {NULL, NULL},
};

static const luaL_Reg OWN_OS[] = {
    {"time", os_time},
    {"clock", os_clock},
    {"difftime", os_difftime},
    {NULL, NULL},
};

// As Lua's own, and it is noted that the script has the coroutine now.
static int coroutine_running(lua_State *L)
{
    vm_note_shown(L);
    const int is_main = lua_pushthread(L);
    lua_pushboolean(L, is_main);
    return 2;
}

static const luaL_Reg OWN_COROUTINE[] = {{"running", coroutine_running}, {NULL, NULL}};

typedef struct Library {
    const char *name;
    lua_CFunction open;
    const char *absent;  // a function of it that scripts do not get
    const luaL_Reg *own; // ours, beside Lua's or instead; or NULL
} Library;

static const Library LIBRARIES[] = {
    {"coroutine", luaopen_coroutine, "close", OWN_COROUTINE},
    {"math", luaopen_math, NULL, library_math},
    {"string", luaopen_string, "dump", library_string},
    {"table", luaopen_table, NULL, library_table},
    {"utf8", luaopen_utf8, NULL, NULL},
};
#define LIBRARY_COUNT (sizeof LIBRARIES / sizeof LIBRARIES[0])

// Adds a library table to the table at the top.
static void add_library(lua_State *L, const Library *library)
{
    lua_pushcfunction(L, library->open);
    lua_pushstring(L, library->name);
    lua_call(L, 1, 1);
    if (library->absent != NULL) {
        lua_pushnil(L);
        lua_setfield(L, -2, library->absent);
    }
    if (library->own != NULL) {
        luaL_setfuncs(L, library->own, 0);
    }
    guard_freeze(L, -1);
    lua_setfield(L, -2, library->name);
}

static void freeze_string_metatable(lua_State *L)
{
    lua_pushliteral(L, "");
    if (lua_getmetatable(L, -1)) {
        lua_pushboolean(L, 0);
        lua_setfield(L, -2, "__metatable");
        guard_freeze(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

// Copies the allowed functions of Lua's base library, which is opened into a table that no script
// can reach.
static void add_base(lua_State *L)
{
    lua_pushcfunction(L, luaopen_base);
    lua_call(L, 0, 1);
    for (size_t i = 0; i < sizeof BASE_NAMES / sizeof BASE_NAMES[0]; i++) {
        lua_getfield(L, -1, BASE_NAMES[i]);
        lua_setfield(L, -3, BASE_NAMES[i]);
    }
    lua_pop(L, 1);
    luaL_setfuncs(L, OWN_BASE, 0);
}

void sandbox_open(lua_State *L)
{
    lua_newtable(L);
    add_base(L);
    for (size_t i = 0; i < LIBRARY_COUNT; i++) {
        add_library(L, &LIBRARIES[i]);
    }
    luaL_newlib(L, OWN_OS);
    guard_freeze(L, -1);
    lua_setfield(L, -2, "os");
    freeze_string_metatable(L);
    guard_freeze(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, SHARED);
    // A chunk without an environment gets an empty one.
    lua_newtable(L);
    guard_freeze(L, -1);
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

void sandbox_push_environment(lua_State *L)
{
    lua_createtable(L, 0, 40);
    lua_getfield(L, LUA_REGISTRYINDEX, SHARED);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -5);
    }
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "_G");
    lua_pushvalue(L, -1);
    lua_pushcclosure(L, base_load, 1);
    lua_setfield(L, -2, "load");
}

// Functions that Lua's own libraries do not have and that scripters know from elsewhere:
// math.clamp, round, sign and noise, table.find, clear and clone, string.split. Each charges for
// its work before it begins, like Lua's own here (budget.def).
#include "core/script/vm/library.h"

#include "core/base/utf8.h"
#include "core/script/vm/lua_guard.h"

#include <lauxlib.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

// --- math ---------------------------------------------------------------------------------------

static int math_clamp(lua_State *L)
{
    const lua_Number low = luaL_checknumber(L, 2);
    const lua_Number high = luaL_checknumber(L, 3);
    (void)luaL_checknumber(L, 1);
    if (!(low <= high)) {
        return luaL_error(L, "math.clamp: the lower bound is above the upper one");
    }
    const int result = lua_compare(L, 1, 2, LUA_OPLT) ? 2 : lua_compare(L, 3, 1, LUA_OPLT) ? 3 : 1;
    lua_pushvalue(L, result); // an integer stays one
    return 1;
}

// To the nearest whole number; halves away from zero.
static int math_round(lua_State *L)
{
    if (lua_isinteger(L, 1)) {
        lua_settop(L, 1);
        return 1;
    }
    const lua_Number x = luaL_checknumber(L, 1);
    lua_Number whole = floor(x < 0 ? -x : x);
    whole += (x < 0 ? -x : x) - whole >= 0.5 ? 1 : 0;
    whole = x < 0 ? -whole : whole;
    lua_Integer integer;
    if (lua_numbertointeger(whole, &integer)) {
        lua_pushinteger(L, integer);
    } else {
        lua_pushnumber(L, x != x ? x : whole);
    }
    return 1;
}

static int math_sign(lua_State *L)
{
    const lua_Number x = luaL_checknumber(L, 1);
    lua_pushinteger(L, (x > 0) - (x < 0));
    return 1;
}

// One of twelve directions for each corner of a unit lattice.
static lua_Number gradient(const int64_t corner[3], const lua_Number from[3])
{
    static const int8_t edges[12][3] = {{1, 1, 0}, {-1, 1, 0}, {1, -1, 0}, {-1, -1, 0},
                                        {1, 0, 1}, {-1, 0, 1}, {1, 0, -1}, {-1, 0, -1},
                                        {0, 1, 1}, {0, -1, 1}, {0, 1, -1}, {0, -1, -1}};
    uint64_t mix = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 3; i++) {
        mix = (mix ^ (uint64_t)corner[i]) * 0xbf58476d1ce4e5b9u;
        mix ^= mix >> 29;
    }
    const int8_t *edge = edges[(mix >> 33) % 12];
    return edge[0] * from[0] + edge[1] * from[1] + edge[2] * from[2];
}

// Gradient noise: smooth, the same on every machine, 0 at whole coordinates, within -1 and 1.
static int math_noise(lua_State *L)
{
    guard_charge(L, BUDGET_MATH_NOISE);
    int64_t base[3];
    lua_Number at[3], ease[3];
    for (int i = 0; i < 3; i++) {
        const lua_Number x = luaL_optnumber(L, i + 1, 0);
        if (!(x > -1e15 && x < 1e15)) {
            return luaL_argerror(L, i + 1, "a number between -1e15 and 1e15 is wanted");
        }
        const lua_Number whole = floor(x);
        base[i] = (int64_t)whole;
        at[i] = x - whole;
        ease[i] = at[i] * at[i] * at[i] * (at[i] * (at[i] * 6 - 15) + 10);
    }
    lua_Number sum = 0;
    for (int k = 0; k < 8; k++) {
        int64_t corner[3];
        lua_Number from[3], weight = 1;
        for (int i = 0; i < 3; i++) {
            const int step = k >> i & 1;
            corner[i] = base[i] + step;
            from[i] = at[i] - step;
            weight *= step != 0 ? ease[i] : 1 - ease[i];
        }
        sum += weight * gradient(corner, from);
    }
    lua_pushnumber(L, sum < -1 ? -1 : sum > 1 ? 1 : sum);
    return 1;
}

// --- table --------------------------------------------------------------------------------------

// The first place of a value in a list, or nil.
static int table_find(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checkany(L, 2);
    const lua_Integer first = luaL_optinteger(L, 3, 1);
    luaL_argcheck(L, first >= 1, 3, "a place in the list is wanted, from 1 on");
    for (lua_Integer i = first;; i++) {
        guard_charge(L, BUDGET_TABLE_FIND);
        if (lua_geti(L, 1, i) == LUA_TNIL) {
            return 1;
        }
        if (lua_compare(L, -1, 2, LUA_OPEQ)) {
            lua_pushinteger(L, i);
            return 1;
        }
        lua_pop(L, 1);
    }
}

// Takes everything out; the table stays the same one.
static int table_clear(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        guard_charge(L, BUDGET_TABLE_CLEAR);
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_pushnil(L);
        lua_rawset(L, 1);
    }
    return 0;
}

// A new table with the same keys and values, and no metatable.
static int table_clone(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, 1) != 0) {
        guard_charge(L, BUDGET_TABLE_CLONE);
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, 2);
    }
    return 1;
}

// --- string -------------------------------------------------------------------------------------

static size_t piece_end(const char *text, size_t bytes, size_t from, const char *by,
                        size_t by_bytes)
{
    if (by_bytes == 0) {
        const size_t length = utf8_length((const uint8_t *)text + from, bytes - from);
        return from + (length == 0 ? 1 : length);
    }
    for (size_t at = from; at + by_bytes <= bytes; at++) {
        const char *found = memchr(text + at, by[0], bytes - by_bytes - at + 1);
        if (found == NULL) {
            return bytes;
        }
        at = (size_t)(found - text);
        if (memcmp(found, by, by_bytes) == 0) {
            return at;
        }
    }
    return bytes;
}

// The pieces of a text between its separators; by "" its characters.
static int string_split(lua_State *L)
{
    size_t bytes, by_bytes;
    const char *text = luaL_checklstring(L, 1, &bytes);
    const char *by = luaL_optlstring(L, 2, ",", &by_bytes);
    guard_charge(L,
                 bytes + bytes / 8 * by_bytes / 8); // what is read when much of it nearly matches
    lua_newtable(L);
    lua_Integer count = 0;
    for (size_t from = 0;;) {
        const size_t end =
            bytes == 0 && by_bytes == 0 ? 0 : piece_end(text, bytes, from, by, by_bytes);
        guard_charge(L, BUDGET_STRING_SPLIT);
        lua_pushlstring(L, text + from, end - from);
        lua_rawseti(L, -2, ++count);
        from = end + by_bytes;
        if (by_bytes == 0 ? from >= bytes : end == bytes) {
            return 1;
        }
    }
}

const luaL_Reg library_math[] = {{"clamp", math_clamp},
                                 {"noise", math_noise},
                                 {"round", math_round},
                                 {"sign", math_sign},
                                 {NULL, NULL}};
const luaL_Reg library_table[] = {
    {"clear", table_clear}, {"clone", table_clone}, {"find", table_find}, {NULL, NULL}};
const luaL_Reg library_string[] = {{"split", string_split}, {NULL, NULL}};

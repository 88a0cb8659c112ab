// Replaces the line numbers of a compiled script by those of the source that its Lua was generated
// from. They become part of the function, and so of its rune, so no separate map is needed.
// Lua stores a line for every instruction as the difference to the one before, in a signed byte.
// For a larger difference, and at least once in every 128 instructions, the byte is -128 and the
// whole line is in `abslineinfo`; Lua computes from pc / 128 where to start there, so there must
// never be fewer.
#include "core/base/check.h"
#include "core/script/lint/lint.h"
#include "core/script/vm/lua_guard.h"

#include <lauxlib.h>
#include <lmem.h>
#include <lobject.h>
#include <lua.h>

#define MARK      (-0x80)
#define SPAN      128
#define LINE_MAX  10000000
#define DEPTH_MAX 200 // the compiler allows fewer
#define STEPS     (INT64_MAX / 4)

typedef struct Map {
    const uint32_t *lines; // by line, from 0
    uint32_t count;
    int *whole; // the same without gaps: a line without a source line gets the previous one
    Proto *main;
    Status status;
} Map;

static int map_line(const Map *map, int line)
{
    if (line <= 0) {
        return line; // 0 is where the main chunk begins
    }
    const uint32_t index = (uint32_t)line - 1;
    return map->whole[index < map->count ? index : map->count - 1];
}

static void fill_gaps(Map *map)
{
    int line = 1;
    for (uint32_t i = 0; i < map->count; i++) { // lines before the first belong to it
        if (map->lines[i] != 0) {
            line = map->lines[i] < LINE_MAX ? (int)map->lines[i] : LINE_MAX;
            break;
        }
    }
    for (uint32_t i = 0; i < map->count; i++) {
        if (map->lines[i] != 0) {
            line = map->lines[i] < LINE_MAX ? (int)map->lines[i] : LINE_MAX;
        }
        map->whole[i] = line;
    }
}

// The old line of each instruction, in order.
typedef struct LineWalk {
    const Proto *proto;
    int line, absolute;
} LineWalk;

static int next_line(LineWalk *walk, int pc)
{
    const int delta = walk->proto->lineinfo[pc];
    if (delta != MARK) {
        walk->line += delta;
    } else if (walk->absolute < walk->proto->sizeabslineinfo) {
        walk->line = walk->proto->abslineinfo[walk->absolute++].line;
    }
    return walk->line;
}

// Writes the new lines, or with NULL only counts the absolute ones.
static int encode(const Map *map, const Proto *proto, ls_byte *small, AbsLineInfo *whole)
{
    LineWalk walk = {proto, proto->linedefined, 0};
    int line = map_line(map, proto->linedefined);
    int count = 0, since = 0;
    for (int pc = 0; pc < proto->sizelineinfo; pc++) {
        const int next = map_line(map, next_line(&walk, pc));
        const int delta = next - line;
        line = next;
        const bool is_whole = delta <= MARK || delta >= -MARK || since >= SPAN;
        if (small != NULL) {
            small[pc] = (ls_byte)(is_whole ? MARK : delta);
        }
        if (is_whole && whole != NULL) {
            whole[count] = (AbsLineInfo){pc, line};
        }
        count += is_whole;
        since = is_whole ? 1 : since + 1;
    }
    return count;
}

static void map_function(lua_State *thread, Map *map, Proto *proto)
{
    const int count = encode(map, proto, NULL, NULL);
    const size_t small_bytes = (size_t)proto->sizelineinfo * sizeof(ls_byte);
    const size_t whole_bytes = (size_t)count * sizeof(AbsLineInfo);
    // Both new arrays are allocated first, because the old ones are read while they are filled;
    // this function does not raise.
    ls_byte *small = luaM_realloc_(thread, NULL, 0, small_bytes);
    AbsLineInfo *whole = count > 0 ? luaM_realloc_(thread, NULL, 0, whole_bytes) : NULL;
    if (small == NULL || (count > 0 && whole == NULL)) {
        luaM_free_(thread, small, small != NULL ? small_bytes : 0);
        luaM_free_(thread, whole, whole != NULL ? whole_bytes : 0);
        map->status = STATUS_LIMIT;
        return;
    }
    (void)encode(map, proto, small, whole);
    luaM_free_(thread, proto->lineinfo, small_bytes);
    luaM_free_(thread, proto->abslineinfo,
               (size_t)proto->sizeabslineinfo * sizeof *proto->abslineinfo);
    proto->lineinfo = small;
    proto->abslineinfo = whole;
    proto->sizeabslineinfo = count;
    proto->linedefined = map_line(map, proto->linedefined);
    proto->lastlinedefined = map_line(map, proto->lastlinedefined);
}

// The compiler limits how deeply functions are nested.
static void map_tree(lua_State *thread, Map *map, Proto *proto, uint32_t depth)
{
    if (depth == DEPTH_MAX) {
        map->status = STATUS_LIMIT;
        return;
    }
    if (proto->sizelineinfo > 0) {
        map_function(thread, map, proto);
    }
    for (int i = 0; map->status == STATUS_OK && i < proto->sizep; i++) {
        map_tree(thread, map, proto->p[i], depth + 1);
    }
}

static void run(lua_State *thread, void *user)
{
    Map *map = user;
    luaL_checkstack(thread, 2, NULL);
    map->whole = lua_newuserdatauv(thread, map->count * sizeof *map->whole, 0);
    fill_gaps(map);
    map_tree(thread, map, map->main, 0);
}

Status lint_map_lines(lua_State *thread, const uint32_t *lines, uint32_t count)
{
    ASSERT(lua_isfunction(thread, -1) && !lua_iscfunction(thread, -1));
    if (count == 0) {
        return STATUS_OK;
    }
    const int top = lua_gettop(thread);
    LClosure *closure = (LClosure *)(uintptr_t)lua_topointer(thread, -1);
    Map map = {.lines = lines, .count = count, .main = closure->p, .status = STATUS_OK};
    GuardEntry outer;
    uint64_t steps_used;
    guard_enter(thread, STEPS, &outer);
    const int status = guard_protect(thread, run, &map);
    const GuardFault fault = guard_leave(thread, STEPS, &outer, &steps_used);
    lua_settop(thread, top);
    return status != LUA_OK || fault != GUARD_NONE ? STATUS_LIMIT : map.status;
}

// The names that lints report: which exist, which one was probably meant, and their sides. All of
// it comes from api.def and from the sandbox itself, so a new row needs no change here; only the
// suggested replacements are a list.
#include "core/base/check.h"
#include "core/base/nearest.h"
#include "core/script/lint/lint_inside.h"

#include <stdio.h>
#include <string.h>

#define OTHER_COUNT        (sizeof others / sizeof others[0])
#define HOOK_LETTERS_WRONG 2
#define WRITTEN_MAX        256 // the script's own names that are compared

// What to use on the other side.
static const struct {
    const char *owner, *name, *instead;
} others[] = {
    {"Network", "OnClientEvent",
     "Network.OnServerEvent or Network.On (Roblox has the two names the other way round)"},
    {"Network", "FireClient", "Network.FireServer"},
    {"Network", "Broadcast", "Network.FireServer"},
    {"Network", "FireClientUnreliable", "Network.FireServerUnreliable"},
    {"Network", "BroadcastUnreliable", "Network.FireServerUnreliable"},
    {"Network", "OnInvoke", "Network.Invoke"},
    {"Network", "OnServerEvent",
     "Network.OnClientEvent or Network.On (Roblox has the two names the other way round)"},
    {"Network", "FireServer", "Network.FireClient or Network.Broadcast"},
    {"Network", "FireServerUnreliable", "Network.FireClientUnreliable"},
    {"Network", "Invoke", "Network.OnInvoke"},
    {"World", "Spawn", "World.SpawnLocal"},
    {"World", "SpawnLocal", "World.Spawn"},
};

// --- which names there are ----------------------------------------------------------------------

// A class is in the environment if it has functions: Vector3.new, but not Entity.
static bool class_is_table(const ApiRow *rows, uint32_t count, const char *class)
{
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].kind == API_KIND_FUNCTION && strcmp(rows[i].owner, class) == 0) {
            return true;
        }
    }
    return false;
}

static bool stands_alone(const ApiRow *rows, uint32_t count, const ApiRow *row)
{
    switch (row->kind) {
    case API_KIND_GROUP:
    case API_KIND_GLOBAL:
    case API_KIND_HOOK:
        return true;
    case API_KIND_CLASS:
        return class_is_table(rows, count, row->name);
    default:
        return false;
    }
}

const ApiRow *lint_global_row(lua_State *thread, int known, const char *name)
{
    lua_pushstring(thread, name);
    const bool is_row = lua_rawget(thread, known) == LUA_TLIGHTUSERDATA;
    const ApiRow *row = is_row ? lua_touserdata(thread, -1) : NULL;
    lua_pop(thread, 1);
    return row;
}

const ApiRow *lint_member_row(const char *owner, const char *name)
{
    uint32_t count;
    const ApiRow *rows = api_rows(&count);
    for (uint32_t i = 0; i < count; i++) {
        if ((rows[i].kind == API_KIND_FUNCTION || rows[i].kind == API_KIND_EVENT) &&
            strcmp(rows[i].owner, owner) == 0 && strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

void lint_push_known(lua_State *thread)
{
    uint32_t count;
    const ApiRow *rows = api_rows(&count);
    vm_push_environment(thread);
    for (uint32_t i = 0; i < count; i++) {
        if (stands_alone(rows, count, &rows[i])) {
            lua_pushlightuserdata(thread, (void *)(uintptr_t)&rows[i]);
            lua_setfield(thread, -2, rows[i].name);
        }
    }
}

// --- what was meant -----------------------------------------------------------------------------

typedef struct Suggestion {
    Nearest nearest;
    char *out;
    size_t capacity;
} Suggestion;

static Suggestion suggestion_of(const char *name, char *out, size_t capacity)
{
    out[0] = 0;
    return (Suggestion){nearest_begin(name, strlen(name)), out, capacity};
}

static void consider(Suggestion *to, const char *owner, const char *name)
{
    if (nearest_consider(&to->nearest, name, strlen(name))) {
        snprintf(to->out, to->capacity, "%s%s%s", owner, owner[0] != 0 ? "." : "", name);
    }
}

// In the order of the table, which is the same in every build; of equal distances the first wins.
static void consider_table(lua_State *thread, int index, Suggestion *to)
{
    uint32_t count = 0;
    lua_pushnil(thread);
    while (lua_next(thread, index) != 0) {
        if (lua_type(thread, -2) == LUA_TSTRING && count++ < WRITTEN_MAX) {
            consider(to, "", lua_tostring(thread, -2));
        }
        lua_pop(thread, 1);
    }
}

void lint_suggest(lua_State *thread, int written, const char *name, char *out, size_t capacity)
{
    Suggestion to = suggestion_of(name, out, capacity);
    uint32_t count;
    const ApiRow *rows = api_rows(&count);
    consider_table(thread, written, &to);
    for (uint32_t i = 0; i < count; i++) {
        if (stands_alone(rows, count, &rows[i]) && rows[i].kind != API_KIND_HOOK) {
            consider(&to, "", rows[i].name);
        }
    }
    lua_checkstack(thread, 4);
    vm_push_environment(thread);
    consider_table(thread, lua_gettop(thread), &to);
    lua_pop(thread, 1);
    // A function without its group: only the exact name.
    to.nearest.steps = to.nearest.steps < 1 ? to.nearest.steps : 1;
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].kind == API_KIND_FUNCTION && strcmp(rows[i].name, "new") != 0) {
            consider(&to, rows[i].owner, rows[i].name);
        }
    }
}

const char *lint_nearest_hook(const char *name)
{
    uint32_t count;
    const ApiRow *rows = api_rows(&count);
    Nearest nearest = nearest_begin(name, strlen(name));
    nearest.steps = HOOK_LETTERS_WRONG + 1;
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].kind == API_KIND_HOOK) {
            (void)nearest_consider(&nearest, rows[i].name, strlen(rows[i].name));
        }
    }
    return nearest.found;
}

// --- members ------------------------------------------------------------------------------------

static bool library_has(lua_State *thread, int known, const char *owner, const char *name,
                        Suggestion *to)
{
    bool has = true; // if it is not a library
    lua_getfield(thread, known, owner);
    if (lua_istable(thread, -1)) {
        has = lua_getfield(thread, -1, name) != LUA_TNIL;
        lua_pop(thread, 1);
        consider_table(thread, lua_gettop(thread), to);
    }
    lua_pop(thread, 1);
    return has;
}

bool lint_is_unknown(lua_State *thread, int known, const char *owner, const char *name, char *out,
                     size_t capacity)
{
    uint32_t count;
    const ApiRow *rows = api_rows(&count);
    const ApiRow *group = lint_global_row(thread, known, owner);
    Suggestion to = suggestion_of(name, out, capacity);
    if (group == NULL) {
        return !library_has(thread, known, owner, name, &to);
    }
    if (group->kind != API_KIND_GROUP && group->kind != API_KIND_CLASS) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const ApiKind kind = rows[i].kind;
        if (strcmp(rows[i].owner, owner) != 0 || kind == API_KIND_GROUP || kind == API_KIND_CLASS) {
            continue;
        }
        if (strcmp(rows[i].name, name) == 0) {
            return false;
        }
        consider(&to, "", rows[i].name);
    }
    return true;
}

// --- sides --------------------------------------------------------------------------------------

static const char *instead_of(const ApiRow *row)
{
    for (size_t i = 0; i < OTHER_COUNT; i++) {
        if (strcmp(others[i].owner, row->owner) == 0 && strcmp(others[i].name, row->name) == 0) {
            return others[i].instead;
        }
    }
    return NULL;
}

// Things that a client may also do with its own entities.
static bool is_never_ignored(const ApiRow *row)
{
    return row->kind != API_KIND_FUNCTION || strcmp(row->name, "Destroy") == 0;
}

bool lint_side_text(const ApiRow *row, LintSide side, char *out, size_t capacity, bool *is_error)
{
    const char *instead = instead_of(row);
    const char *joint = row->owner[0] != 0 ? "." : "";
    const char *advice = instead != NULL && side != LINT_BOTH ? "; use " : "";
    const bool needs_server = row->side == API_SERVER;
    instead = advice[0] != 0 ? instead : "";
    *is_error = false;
    if (row->side == API_WRITES) {
        if (side != LINT_CLIENT || is_never_ignored(row)) {
            return false;
        }
        snprintf(out, capacity, "%s%s%s does nothing on a client: the world is the server's%s%s",
                 row->owner, joint, row->name, advice, instead);
        return true;
    }
    if (row->side == API_BOTH || (needs_server && side == LINT_SERVER) ||
        (!needs_server && side == LINT_CLIENT)) {
        return false;
    }
    const char *where = needs_server ? "the server" : "clients";
    if (side == LINT_BOTH) {
        snprintf(out, capacity,
                 "%s%s%s works on %s only; this script runs on both sides, and here it fails on %s",
                 row->owner, joint, row->name, where, needs_server ? "every client" : "the server");
        return true;
    }
    *is_error = true;
    snprintf(out, capacity,
             "%s%s%s works on %s only; this script runs on %s, so it can only fail%s%s", row->owner,
             joint, row->name, where, needs_server ? "clients" : "the server", advice, instead);
    return true;
}

// Small services: the log, random numbers, JSON, chat, modules.
#include "core/script/api/api.h"
#include "core/script/vm/lua_guard.h"

#include "core/base/utf8.h"

#include <stdio.h>
#include <string.h>

#define CHAT_STEPS    250
#define LOG_STEPS     300
#define LOG_BYTE_PART 3 // so many bytes are checked and copied in a step

// --- the log ------------------------------------------------------------------------------------

// The arguments as one line, separated by tabs, as print does.
static int write_log(lua_State *thread, LogLevel level)
{
    const int count = lua_gettop(thread);
    luaL_Buffer line;
    luaL_checkstack(thread, 8, NULL);
    luaL_buffinit(thread, &line);
    for (int i = 1; i <= count; i++) {
        if (i > 1) {
            luaL_addchar(&line, '\t');
        }
        luaL_tolstring(thread, i, NULL);
        luaL_addvalue(&line);
    }
    luaL_pushresult(&line);
    size_t bytes = 0;
    const char *text = lua_tolstring(thread, -1, &bytes);
    vm_charge(thread, LOG_STEPS + bytes / LOG_BYTE_PART);
    account_log(script_of(thread), level, text, bytes);
    return 0;
}

int api_global_print(lua_State *thread)
{
    return write_log(thread, LOG_INFO);
}

int api_global_warn(lua_State *thread)
{
    return write_log(thread, LOG_WARN);
}

int api_Log_Debug(lua_State *thread)
{
    return write_log(thread, LOG_DEBUG);
}

int api_Log_Info(lua_State *thread)
{
    return write_log(thread, LOG_INFO);
}

int api_Log_Warn(lua_State *thread)
{
    return write_log(thread, LOG_WARN);
}

int api_Log_Error(lua_State *thread)
{
    return write_log(thread, LOG_ERROR);
}

// --- Random -------------------------------------------------------------------------------------

// It changes, so as a key it must not be taken for a plain value (lua_guard.h).
_Static_assert(sizeof(Rng) != GUARD_PLAIN_BYTES, "a Random is itself");

int api_Random_new(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    const uint64_t seed =
        api_is_given(thread, 1) ? (uint64_t)luaL_checkinteger(thread, 1) : rng_u64(&system->rng);
    Rng *rng = lua_newuserdatauv(thread, sizeof *rng, 0);
    *rng = rng_make(seed, 11);
    luaL_setmetatable(thread, "Random");
    return 1;
}

int api_Random_NextNumber(lua_State *thread)
{
    Rng *rng = luaL_checkudata(thread, 1, "Random");
    const double low = api_is_given(thread, 2) ? luaL_checknumber(thread, 2) : 0;
    const double high = api_is_given(thread, 3) ? luaL_checknumber(thread, 3) : 1;
    if (!(high - low - (high - low) == 0)) {
        return luaL_error(thread, "Random:NextNumber: min and max are too far apart");
    }
    const double unit = (double)(rng_u64(rng) >> 11) / 9007199254740992.0; // 53 bits
    lua_pushnumber(thread, low + unit * (high - low));
    return 1;
}

// Uniform in [0, span]; a 64-bit span needs the whole draw.
static uint64_t draw_up_to(Rng *rng, uint64_t span)
{
    if (span == UINT64_MAX) {
        return rng_u64(rng);
    }
    const uint64_t count = span + 1;
    const uint64_t unfair = UINT64_MAX - UINT64_MAX % count;
    uint64_t drawn = rng_u64(rng);
    while (drawn >= unfair) {
        drawn = rng_u64(rng);
    }
    return drawn % count;
}

int api_Random_NextInteger(lua_State *thread)
{
    Rng *rng = luaL_checkudata(thread, 1, "Random");
    const lua_Integer low = luaL_checkinteger(thread, 2);
    const lua_Integer high = luaL_checkinteger(thread, 3);
    if (low > high) {
        return luaL_error(thread, "Random:NextInteger: min is above max");
    }
    const uint64_t span = (uint64_t)high - (uint64_t)low;
    lua_pushinteger(thread, (lua_Integer)((uint64_t)low + draw_up_to(rng, span)));
    return 1;
}

#define SHUFFLE_STEPS 40 // for one value

int api_Random_Shuffle(lua_State *thread)
{
    Rng *rng = luaL_checkudata(thread, 1, "Random");
    const lua_Unsigned count = lua_rawlen(thread, 2);
    for (lua_Unsigned i = count; i > 1; i--) {
        vm_charge(thread, SHUFFLE_STEPS);
        const lua_Unsigned other = 1 + draw_up_to(rng, i - 1);
        lua_rawgeti(thread, 2, (lua_Integer)i);
        lua_rawgeti(thread, 2, (lua_Integer)other);
        lua_rawseti(thread, 2, (lua_Integer)i);
        lua_rawseti(thread, 2, (lua_Integer)other);
    }
    lua_settop(thread, 2);
    return 1;
}

// --- Json ---------------------------------------------------------------------------------------

int api_Json_Encode(lua_State *thread)
{
    params_encode(thread, 1);
    return 1;
}

// What a text costs, as tests/script/api_cost.txt measures it: making the Lua values is charged
// besides, as everywhere.
#define JSON_BYTE_STEPS   2
#define JSON_NODE_STEPS   20
#define JSON_MEMBER_STEPS 25 // names are sorted to find one that comes twice
#define JSON_ESCAPE_STEPS 10
#define JSON_EXACT_STEPS  20 // a number that is not read as one double times another
#define JSON_LONG_STEPS   60 // more digits than 64 bits hold may need long arithmetic,
#define JSON_DIGIT_STEPS  2  // and for each digit
#define JSON_FAST_DIGITS  15
#define JSON_LONG_DIGITS  19

static bool is_number_byte(char c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
}

// At the first digit of a number; gives where it ends.
static size_t count_number(const Text text, size_t at, uint64_t *steps)
{
    uint64_t digits = 0;
    bool is_exponent = false;
    for (; at < text.bytes && is_number_byte(text.data[at]); at++) {
        const char c = text.data[at];
        is_exponent |= c == 'e' || c == 'E';
        digits += !is_exponent && c >= '0' && c <= '9';
    }
    *steps += is_exponent || digits > JSON_FAST_DIGITS ? JSON_EXACT_STEPS : 0;
    *steps += digits > JSON_LONG_DIGITS ? JSON_LONG_STEPS + JSON_DIGIT_STEPS * digits : 0;
    return at;
}

// The steps of reading a text, without reading it: how many values, members and escapes it has at
// most. Its bytes are charged before.
static uint64_t count_json(const Text text)
{
    uint64_t steps = JSON_NODE_STEPS;
    bool is_string = false;
    for (size_t at = 0; at < text.bytes;) {
        const char c = text.data[at];
        if (is_string && c == '\\') {
            steps += JSON_ESCAPE_STEPS;
            at += 2;
            continue;
        }
        if (c == '"') {
            is_string = !is_string;
        } else if (!is_string && ((c >= '0' && c <= '9') || c == '-')) {
            at = count_number(text, at, &steps);
            continue;
        } else if (!is_string) {
            steps += c == ',' || c == '[' || c == '{' ? JSON_NODE_STEPS : 0;
            steps += c == ':' ? JSON_MEMBER_STEPS : 0;
        }
        at += 1;
    }
    return steps;
}

int api_Json_Decode(lua_State *thread)
{
    const Text text = api_text(thread, 1);
    char error[SCRIPT_MESSAGE_BYTES];
    vm_charge(thread, (uint64_t)text.bytes * JSON_BYTE_STEPS);
    vm_charge(thread, count_json(text));
    if (params_push_value(thread, text.data, text.bytes, error, sizeof error) != STATUS_OK) {
        return luaL_error(thread, "Json.Decode: %s", error);
    }
    return 1;
}

// --- Chat ---------------------------------------------------------------------------------------

// Longer text is cut before it is cleaned, so that cleaning has a bounded cost.
#define CHAT_LOOKED_BYTES (4u * CHAT_BYTES_MAX)

// Often it contains text of a player, so it is cleaned and cut instead of rejected.
int api_Chat_Send(lua_State *thread)
{
    vm_charge(thread, CHAT_STEPS);
    Text text = api_text(thread, 1);
    text.bytes = utf8_cut(text.data, text.bytes, CHAT_LOOKED_BYTES);
    const uint64_t player = api_is_given(thread, 2) ? object_player(thread, 2) : 0;
    char clean[CHAT_BYTES_MAX];
    vm_charge(thread, text.bytes);
    const size_t bytes = text_clean(text.data, text.bytes, clean, sizeof clean);
    if (bytes > 0) {
        api_check_change(thread,
                         api_methods(thread)->chat(api_world(thread), (Text){clean, bytes}, player),
                         "Chat.Send");
    }
    return 0;
}

// --- require ------------------------------------------------------------------------------------

// Runs the file of a module; what it returned is left on the stack. What it creates and starts
// while it runs belongs to it. It cannot pause, because others who require it want its value at
// once. If its time runs out, lua_pcall does not return, and the end of the entry tidies up.
static int run_module(lua_State *thread, ScriptSystem *system, Handle handle)
{
    const Handle instance = system->current_instance;
    const Handle own = script_module_instance(system, handle);
    lua_rawgeti(thread, LUA_REGISTRYINDEX, script_at(system, handle)->chunk_ref);
    system->require_stack[system->require_count++] = handle;
    system->current_instance = handle_is_none(own) ? instance : own;
    const uint32_t owner = memory_enter(system, handle);
    const int status = lua_pcall(thread, 0, 1, 0);
    memory_leave(system, owner);
    system->current_instance = instance;
    if (status != LUA_OK) {
        script_module_failed(system);
        return lua_error(thread);
    }
    system->require_count -= 1;
    script_loaded(system, handle, thread, 1);
    return 1;
}

// "A → B → A": the modules that require each other.
static int raise_cycle(lua_State *thread, const ScriptSystem *system, const char *path)
{
    char chain[512];
    size_t used = 0;
    for (uint32_t i = 0; i < system->require_count && used < sizeof chain; i++) {
        const Script *script = script_at(system, system->require_stack[i]);
        if (script != NULL) {
            used += (size_t)snprintf(chain + used, sizeof chain - used, "%s -> ", script->path);
        }
    }
    return luaL_error(thread, "require: modules require each other: %s%s",
                      used < sizeof chain ? chain : "…", path);
}

#define REQUIRE_TRIES_A_SECOND 20

static int require_again(lua_State *thread, int status, lua_KContext tries);

// The module is not loaded. A client may be fetching it: then the script looks again in a while.
static int require_missing(lua_State *thread, ScriptSystem *system, const char *path,
                           lua_KContext tries)
{
    const ScriptConfig *config = &system->config;
    if (config->demand == NULL || !config->demand(config->demand_user, path)) {
        char quote[API_QUOTE_BYTES];
        return luaL_error(thread, "require: there is no module \"%s\"",
                          api_quote(text_from(path), quote));
    }
    if (tries == 0) {
        return luaL_error(thread, "require: \"%s\" did not arrive within %d seconds", path,
                          REQUIRE_WAIT_SECONDS);
    }
    if (system->require_count > 0) {
        return luaL_error(
            thread,
            "require: \"%s\" is not here yet, and a module cannot wait for another "
            "while its file runs; name it as a constant, so that it comes with this one",
            path);
    }
    lua_settop(thread, 1);
    schedule_sleep(thread, 1.0 / REQUIRE_TRIES_A_SECOND);
    return lua_yieldk(thread, 0, tries - 1, require_again);
}

static int require_from(lua_State *thread, lua_KContext tries)
{
    ScriptSystem *system = script_of(thread);
    char whole[SCRIPT_PATH_BYTES];
    size_t bytes;
    const char *path = lua_tolstring(thread, 1, &bytes);
    const Handle handle = script_find(system, script_path_whole((Text){path, bytes}, whole).data);
    Script *script = script_at(system, handle);
    if (script == NULL) {
        return require_missing(thread, system, path, tries);
    }
    if (script->load == LOAD_DONE && script->module_ref != 0) {
        lua_rawgeti(thread, LUA_REGISTRYINDEX, script->module_ref);
        return 1;
    }
    if (script->load == LOAD_ENDED) {
        return luaL_error(thread, "require: \"%s\" was stopped, because it held too much memory",
                          path);
    }
    for (uint32_t i = 0; i < system->require_count; i++) {
        if (handle_equal(system->require_stack[i], handle)) {
            return raise_cycle(thread, system, path);
        }
    }
    if (system->require_count == SCRIPT_REQUIRE_MAX) {
        return luaL_error(thread, "require: more than %d modules inside each other",
                          SCRIPT_REQUIRE_MAX);
    }
    lua_settop(thread, 1);
    return run_module(thread, system, handle);
}

static int require_again(lua_State *thread, int status, lua_KContext tries)
{
    (void)status;
    lua_settop(thread, 1); // the path; above it is how long it slept
    return require_from(thread, tries);
}

int api_global_require(lua_State *thread)
{
    return require_from(thread, REQUIRE_WAIT_SECONDS * REQUIRE_TRIES_A_SECOND);
}

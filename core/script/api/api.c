// The dispatcher of api.h: tables and classes made from the rows, and the checks before every call.
#include "core/script/api/api.h"

#include "core/script/api/api_names.h"
#include "core/script/api/script_api.h"

#include <stdio.h>
#include <string.h>

// --- the rows -----------------------------------------------------------------------------------

#define API_SETTER_R(class, name)  NULL
#define API_SETTER_RW(class, name) api_set_##class##_##name

static const ApiRow rows[] = {
#define API_GROUP(name, doc) {API_KIND_GROUP, #name, #name, API_BOTH, "", "", doc, NULL, NULL},
#define API_CLASS(name, doc) {API_KIND_CLASS, #name, #name, API_BOTH, "", "", doc, NULL, NULL},
#define API_FUNCTION(group, name, side, arguments, returns, doc)               \
    {API_KIND_FUNCTION,    #group, #name, API_##side, arguments, returns, doc, \
     api_##group##_##name, NULL},
#define API_METHOD(class, name, side, arguments, returns, doc)                 \
    {API_KIND_METHOD,      #class, #name, API_##side, arguments, returns, doc, \
     api_##class##_##name, NULL},
#define API_PROPERTY(class, name, access, type, doc) \
    {API_KIND_PROPERTY,                              \
     #class,                                         \
     #name,                                          \
     API_BOTH,                                       \
     type,                                           \
     type,                                           \
     doc,                                            \
     api_get_##class##_##name,                       \
     API_SETTER_##access(class, name)},
#define API_EVENT(owner, name, side, arguments, doc) \
    {API_KIND_EVENT, #owner, #name, API_##side, arguments, "Signal", doc, NULL, NULL},
#define API_GLOBAL(name, side, arguments, returns, doc) \
    {API_KIND_GLOBAL, "", #name, API_##side, arguments, returns, doc, api_global_##name, NULL},
#define API_HOOK(name, side, arguments, doc) \
    {API_KIND_HOOK, "", #name, API_##side, arguments, "", doc, NULL, NULL},
#include "core/script/api.def"
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

// Shapes that also hold a list.
static const char *const lists[] = {
#define API_ITEMS(shape, type, doc) #shape,
#include "core/script/api.def"
};

const ApiRow *api_rows(uint32_t *count)
{
    *count = ROW_COUNT;
    return rows;
}

// By row; created once, in memory of the runtime.
static ApiParsed *parsed_rows(const ScriptSystem *system)
{
    return system->api_memory;
}

static size_t copy_word(char *out, size_t capacity, const char *from, size_t bytes)
{
    ASSERT(bytes < capacity);
    memcpy(out, from, bytes);
    out[bytes] = 0;
    return bytes;
}

uint32_t api_parse_arguments(const char *text, ApiArgument out[API_ARGUMENTS_MAX])
{
    uint32_t count = 0;
    while (*text != 0) {
        ASSERT(count < API_ARGUMENTS_MAX);
        ApiArgument *argument = &out[count++];
        const char *colon = strchr(text, ':');
        ASSERT(colon != NULL && colon[1] == ' ');
        copy_word(argument->name, sizeof argument->name, text, (size_t)(colon - text));
        const char *end = strchr(colon, ',');
        size_t bytes = end != NULL ? (size_t)(end - colon - 2) : strlen(colon + 2);
        argument->optional = colon[1 + bytes] == '?';
        argument->variadic = strcmp(argument->name, "...") == 0;
        bytes -= argument->optional;
        copy_word(argument->type, sizeof argument->type, colon + 2, bytes);
        text = end != NULL ? end + 2 : text + strlen(text);
    }
    return count;
}

// --- argument checks ----------------------------------------------------------------------------

#define OPTION_STEPS 15  // to check one
#define ADVICE_STEPS 500 // an error that says which words or options there are

static bool word_is(const char *word, size_t bytes, const char *text)
{
    return strlen(text) == bytes && memcmp(word, text, bytes) == 0;
}

// "TextOptions{}": the fields are checked where they are used.
static bool is_shape(const char *word, size_t bytes)
{
    return bytes > 2 && word[0] != '{' && word[bytes - 1] == '}';
}

// One alternative of a type, such as "Vector3", "{Entity}" or "TextOptions{}".
static bool fits_word(lua_State *thread, int index, const char *word, size_t bytes)
{
    if (word_is(word, bytes, "any")) {
        return true;
    }
    if (word_is(word, bytes, "number")) {
        return lua_type(thread, index) == LUA_TNUMBER;
    }
    if (word_is(word, bytes, "integer")) {
        int exact = 0;
        (void)lua_tointegerx(thread, index, &exact);
        return lua_type(thread, index) == LUA_TNUMBER && exact != 0;
    }
    if (word_is(word, bytes, "Vector3")) {
        return object_is_vector(thread, index);
    }
    if (word_is(word, bytes, "Entity")) {
        return object_is_entity(thread, index);
    }
    if (word_is(word, bytes, "Player")) {
        return object_is_player(thread, index);
    }
    if (word[0] == '{' || is_shape(word, bytes)) {
        return lua_type(thread, index) == LUA_TTABLE;
    }
    if (word_is(word, bytes, luaL_typename(thread, index))) {
        return true;
    }
    const char *words = lua_type(thread, index) == LUA_TSTRING ? api_words_of(word, bytes) : NULL;
    return words != NULL && api_words_has(words, api_text(thread, index));
}

bool api_has_type(lua_State *thread, int index, const char *type)
{
    for (const char *word = type;;) {
        const char *bar = strstr(word, " | ");
        const size_t bytes = bar != NULL ? (size_t)(bar - word) : strlen(word);
        if (fits_word(thread, index, word, bytes)) {
            return true;
        }
        if (bar == NULL) {
            return false;
        }
        word = bar + 3;
    }
}

// Vectors may contain any numbers; everything else takes finite ones only, so that no NaN reaches
// the simulation, a timer or a store.
static bool is_measure(const char *type)
{
    return strcmp(type, "number") == 0 || strcmp(type, "Vector3") == 0;
}

static bool wants_finite(const ApiRow *row, const char *type)
{
    return strcmp(row->owner, "Vector3") != 0 && is_measure(type);
}

// For a value that fits such a type.
static bool is_finite(lua_State *thread, int index)
{
    if (lua_type(thread, index) == LUA_TNUMBER) {
        const double number = lua_tonumber(thread, index);
        return number - number == 0;
    }
    return vec3_is_finite(*(const Vec3 *)lua_touserdata(thread, index));
}

static const char *type_name(lua_State *thread, int index)
{
    if (luaL_getmetafield(thread, index, "__name") == LUA_TSTRING) {
        const char *name = lua_tostring(thread, -1);
        lua_pop(thread, 1); // the metatable keeps it alive
        return name;
    }
    return luaL_typename(thread, index);
}

int api_global_typeof(lua_State *thread)
{
    const bool is_object = lua_type(thread, 1) == LUA_TUSERDATA; // a table may call itself anything
    lua_pushstring(thread, is_object ? type_name(thread, 1) : luaL_typename(thread, 1));
    return 1;
}

static const char *article_of(const char *type)
{
    return strchr("aeiouAEIO", type[0]) != NULL ? "an" : "a";
}

static void full_name(const ApiRow *row, char *out, size_t capacity)
{
    const char *joint = row->kind == API_KIND_METHOD ? ":" : row->owner[0] != 0 ? "." : "";
    snprintf(out, capacity, "%s%s%s", row->owner, joint, row->name);
}

// How the options of a function look, for its errors.
static const char *example_of(const char *where)
{
    return strcmp(where, "Network.Declare") == 0
               ? " (as in {types = {\"Vector3\", \"number\"}, rate = 10})"
               : "";
}

// Raises if the type is one of words, with those there are.
static void raise_word(lua_State *thread, int index, const char *what, const char *type)
{
    const char *words = api_words_of(type, strlen(type));
    if (words == NULL) {
        return;
    }
    char list[API_WORDS_BYTES];
    vm_charge(thread, ADVICE_STEPS);
    const bool is_text = lua_type(thread, index) == LUA_TSTRING;
    const Text given = is_text ? api_text(thread, index) : text_from("");
    api_words_text(words, given, list, sizeof list);
    if (is_text) {
        char quote[API_QUOTE_BYTES];
        luaL_error(thread, "%s cannot be \"%s\": it is %s", what, api_quote(given, quote), list);
    }
    luaL_error(thread, "%s must be %s, got %s", what, list, type_name(thread, index));
}

static const ApiField *option_at(const ApiArgument *argument, uint32_t index)
{
    uint32_t count;
    return &api_fields(&count)[argument->option_first + index];
}

static void raise_unknown_option(lua_State *thread, const char *where, const ApiArgument *argument,
                                 Text key)
{
    char advice[API_OPTIONS_BYTES], quote[API_QUOTE_BYTES];
    vm_charge(thread, ADVICE_STEPS);
    api_options_text(option_at(argument, 0)->shape, key, advice);
    luaL_error(thread, "%s has no option \"%s\"; %s%s", where, api_quote(key, quote), advice,
               example_of(where));
}

// The value of the option is on top of the stack.
static void check_option(lua_State *thread, const char *where, const ApiField *field)
{
    char type[API_TYPE_BYTES];
    size_t bytes = strlen(field->type);
    bytes -= field->type[bytes - 1] == '?';
    copy_word(type, sizeof type, field->type, bytes);
    const int top = lua_gettop(thread);
    if (!api_has_type(thread, top, type)) {
        char what[128];
        (void)snprintf(what, sizeof what, "%s: %s", where, field->name);
        raise_word(thread, top, what, type);
        const char *wanted = type[0] == '{' ? "table" : type;
        luaL_error(thread, "%s: %s must be %s %s, got %s%s", where, field->name, article_of(wanted),
                   wanted, type_name(thread, top), example_of(where));
    }
    if (is_measure(type) && !is_finite(thread, top)) {
        luaL_error(thread, "%s: %s must be finite, not NaN or infinity", where, field->name);
    }
}

static const ApiField *find_option(const ApiArgument *argument, Text key)
{
    const char *name = api_option_name(key.data);
    const size_t bytes = key.bytes <= WORLD_NAME_BYTES_MAX ? strlen(name) : 0; // a long one is none
    for (uint32_t i = 0; i < argument->option_count; i++) {
        const ApiField *field = option_at(argument, i);
        if (word_is(name, bytes, field->name)) {
            return field;
        }
    }
    return NULL;
}

// A table of options may only have the fields of its shape, each of its type: a misspelt one would
// otherwise be ignored silently. The functions of UI mark their tables with a kind, and these
// tables may be passed again.
static void check_options(lua_State *thread, const ApiRow *row, int index,
                          const ApiArgument *argument)
{
    const bool is_ui = strcmp(row->owner, "UI") == 0;
    char where[64];
    full_name(row, where, sizeof where);
    luaL_checkstack(thread, 4, NULL);
    lua_pushnil(thread);
    while (lua_next(thread, index) != 0) {
        vm_charge(thread, OPTION_STEPS);
        if (lua_type(thread, -2) == LUA_TSTRING) {
            const Text key = api_text(thread, -2);
            const ApiField *field = find_option(argument, key);
            if (field != NULL) {
                check_option(thread, where, field);
            } else if (!is_ui || !word_is(key.data, key.bytes, "kind")) {
                raise_unknown_option(thread, where, argument, key);
            }
        } else if (lua_type(thread, -2) != LUA_TNUMBER || !argument->has_items) {
            const char *example = example_of(where);
            luaL_error(thread, "%s: options have names%s", where,
                       example[0] != 0 ? example : ", as in {name = value}");
        }
        lua_pop(thread, 1);
    }
}

static void check_arguments(lua_State *thread, const ApiRow *row, const ApiParsed *parsed,
                            int first)
{
    for (uint32_t i = 0; i < parsed->count; i++) {
        const ApiArgument *argument = &parsed->arguments[i];
        const int index = first + (int)i;
        if (argument->variadic || (argument->optional && lua_isnoneornil(thread, index))) {
            continue;
        }
        const bool fits = !lua_isnone(thread, index) && api_has_type(thread, index, argument->type);
        if (fits && (!argument->finite || is_finite(thread, index))) {
            if (argument->option_count > 0 && lua_istable(thread, index)) {
                check_options(thread, row, index, argument);
            }
            continue;
        }
        char name[64];
        full_name(row, name, sizeof name);
        if (fits) {
            luaL_error(thread, "%s: argument %d (%s) must be finite, not NaN or infinity", name,
                       (int)i + 1, argument->name);
        }
        const char *type =
            is_shape(argument->type, strlen(argument->type)) ? "table" : argument->type;
        char what[128];
        (void)snprintf(what, sizeof what, "%s: argument %d (%s)", name, (int)i + 1, argument->name);
        raise_word(thread, index, what, type);
        const bool is_key = strcmp(type, "string") == 0 && lua_type(thread, index) == LUA_TNUMBER;
        luaL_error(thread, "%s must be %s %s, got %s%s", what, article_of(type), type,
                   lua_isnone(thread, index) ? "nothing" : type_name(thread, index),
                   is_key ? "; write tostring(…)" : "");
    }
}

static void check_side(lua_State *thread, const ApiRow *row)
{
    const ScriptSide side = api_methods(thread)->side;
    if ((row->side == API_SERVER && side != SCRIPT_SERVER) ||
        (row->side == API_CLIENT && side != SCRIPT_CLIENT)) {
        char name[64];
        full_name(row, name, sizeof name);
        api_raise_side(thread, name, row->side == API_SERVER ? SCRIPT_SERVER : SCRIPT_CLIENT);
    }
}

// People who come from Roblox use these the other way round.
static const char *other_name(const char *what)
{
    return strcmp(what, "Network.OnServerEvent") == 0
               ? ": listen with Network.OnClientEvent or Network.On (Roblox has the two names the "
                 "other way round)"
           : strcmp(what, "Network.OnClientEvent") == 0
               ? ": listen with Network.OnServerEvent or Network.On (Roblox has the two names the "
                 "other way round)"
               : "";
}

void api_raise_side(lua_State *thread, const char *what, ScriptSide needed)
{
    char *text = script_of(thread)->capability_text;
    snprintf(text, SCRIPT_MESSAGE_BYTES, "%s works on %s only; this script runs on %s%s", what,
             needed == SCRIPT_SERVER ? "the server" : "a client",
             needed == SCRIPT_SERVER ? "a client" : "the server", other_name(what));
    luaL_error(thread, "%s", text);
    __builtin_unreachable();
}

void api_charge_work(lua_State *thread)
{
    ScriptSystem *system = script_of(thread);
    const uint64_t steps = system->methods->work(system->config.world) - system->work_seen;
    system->work_seen += steps;
    if (steps != 0) {
        vm_charge(thread, steps);
    }
}

static int call_row(lua_State *thread, lua_CFunction function)
{
    api_charge_work(thread); // of a call that raised
    api_world(thread)->refusal = NULL;
    const int result_count = function(thread);
    api_charge_work(thread);
    return result_count;
}

// A function or global: upvalue 1 is the row, upvalue 2 of a function the group it is in, so that
// World:Find(…) works like World.Find(…).
static int call_function(lua_State *thread)
{
    const lua_Integer index = lua_tointeger(thread, lua_upvalueindex(1));
    const ApiRow *row = &rows[index];
    vm_charge(thread, API_CALL_STEPS);
    if (lua_istable(thread, 1) && lua_rawequal(thread, 1, lua_upvalueindex(2))) {
        lua_remove(thread, 1);
    }
    check_side(thread, row);
    check_arguments(thread, row, &parsed_rows(script_of(thread))[index], 1);
    return call_row(thread, row->function);
}

// A method: upvalue 2 is the object it was taken from, so that object.Name(…) works like
// object:Name(…).
static int call_method(lua_State *thread)
{
    const lua_Integer index = lua_tointeger(thread, lua_upvalueindex(1));
    const ApiRow *row = &rows[index];
    vm_charge(thread, API_CALL_STEPS);
    check_side(thread, row);
    if (lua_gettop(thread) == 0 || !lua_rawequal(thread, 1, lua_upvalueindex(2))) {
        lua_pushvalue(thread, lua_upvalueindex(2));
        lua_insert(thread, 1);
    }
    check_arguments(thread, row, &parsed_rows(script_of(thread))[index], 2);
    return call_row(thread, row->function);
}

// --- classes ------------------------------------------------------------------------------------

// The members table of a class: name → row index; shared by all objects of the class.
static void push_members(lua_State *thread, const char *class)
{
    lua_newtable(thread);
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].owner, class) == 0 &&
            (rows[i].kind == API_KIND_METHOD || rows[i].kind == API_KIND_PROPERTY ||
             rows[i].kind == API_KIND_EVENT)) {
            lua_pushinteger(thread, (lua_Integer)i);
            lua_setfield(thread, -2, rows[i].name);
        }
    }
}

// The key of an engine signal of this owner.
static void signal_key(lua_State *thread, int object, const ApiRow *row, char *out, size_t capacity)
{
    if (object_is_entity(thread, object)) {
        snprintf(out, capacity, "Entity:%llu.%s", (unsigned long long)object_entity(thread, object),
                 row->name);
    } else if (object_is_player(thread, object)) {
        snprintf(out, capacity, "Player:%llu.%s", (unsigned long long)object_player(thread, object),
                 row->name);
    } else {
        snprintf(out, capacity, "%s.%s", row->owner, row->name);
    }
}

// __index of objects and of groups: (object, key), upvalue 1 is the members table.
static int index_member(lua_State *thread)
{
    lua_pushvalue(thread, 2);
    if (lua_rawget(thread, lua_upvalueindex(1)) != LUA_TNUMBER) {
        lua_pop(thread, 1);
        vm_charge(thread, API_READ_STEPS);
        return api_index_unknown(thread);
    }
    const lua_Integer index = lua_tointeger(thread, -1);
    const ApiRow *row = &rows[index];
    lua_pop(thread, 1);
    if (row->kind == API_KIND_METHOD) {
        lua_pushinteger(thread, index);
        lua_pushvalue(thread, 1);
        lua_pushcclosure(thread, call_method, 2);
        return 1;
    }
    vm_charge(thread, parsed_rows(script_of(thread))[index].read_steps);
    check_side(thread, row);
    if (row->kind == API_KIND_EVENT) {
        char key[96];
        signal_key(thread, 1, row, key, sizeof key);
        if (object_is_entity(thread, 1) && strcmp(row->name, "Touched") == 0) {
            script_watch_touch(script_of(thread), object_entity(thread, 1));
        }
        (void)signal_push_named(script_of(thread), thread, key, true);
        return 1;
    }
    lua_settop(thread, 1);
    return call_row(thread, row->function);
}

// __newindex of objects: (object, key, value).
static int set_member(lua_State *thread)
{
    lua_pushvalue(thread, 2);
    if (lua_rawget(thread, lua_upvalueindex(1)) != LUA_TNUMBER) {
        lua_pop(thread, 1);
        vm_charge(thread, API_WRITE_STEPS);
        return api_set_unknown(thread);
    }
    const ApiRow *row = &rows[lua_tointeger(thread, -1)];
    lua_pop(thread, 1);
    if (row->setter == NULL) {
        return luaL_error(thread, "%s.%s cannot be set%s", row->owner, row->name,
                          object_is_vector(thread, 1)
                              ? ": a Vector3 never changes; write Vector3.new(x, y, z)"
                              : "");
    }
    vm_charge(thread, API_WRITE_STEPS);
    if (!api_has_type(thread, 3, row->arguments)) {
        char what[64];
        full_name(row, what, sizeof what);
        raise_word(thread, 3, what, row->arguments);
        return luaL_error(thread, "%s.%s must be a %s, got %s", row->owner, row->name,
                          row->arguments, type_name(thread, 3));
    }
    if (wants_finite(row, row->arguments) && !is_finite(thread, 3)) {
        return luaL_error(thread, "%s.%s must be finite, not NaN or infinity", row->owner,
                          row->name);
    }
    lua_remove(thread, 2);
    return call_row(thread, row->setter);
}

static void lock_metatable(lua_State *thread, const char *name)
{
    lua_pushstring(thread, name);
    lua_setfield(thread, -2, "__name");
    lua_pushliteral(thread, "locked");
    lua_setfield(thread, -2, "__metatable");
}

// The metatable of a class, by luaL_newmetatable's name.
static void open_class(lua_State *thread, const char *class)
{
    luaL_newmetatable(thread, class);
    push_members(thread, class);
    lua_pushvalue(thread, -1);
    lua_pushcclosure(thread, index_member, 1);
    lua_setfield(thread, -3, "__index");
    lua_pushcclosure(thread, set_member, 1);
    lua_setfield(thread, -2, "__newindex");
    lock_metatable(thread, class);
    object_remember_class(thread, class);
    lua_pop(thread, 1);
}

// __newindex of groups: (group, key, value), upvalue 1 is the members table, upvalue 2 the group's
// name. Groups are frozen, so it is called for what they do not hold themselves.
static int set_group(lua_State *thread)
{
    const char *group = lua_tostring(thread, lua_upvalueindex(2));
    lua_pushvalue(thread, 2);
    const bool is_member = lua_rawget(thread, lua_upvalueindex(1)) == LUA_TNUMBER;
    if (is_member && rows[lua_tointeger(thread, -1)].setter != NULL) {
        lua_pop(thread, 1);
        return set_member(thread);
    }
    return luaL_error(thread, "%s.%s cannot be set%s", group, luaL_tolstring(thread, 2, NULL),
                      is_member ? ": it is read only" : ": what the API gives cannot be changed");
}

// A library table: its functions, frozen, and its properties and events behind __index.
static void push_group(lua_State *thread, const char *group)
{
    lua_newtable(thread);
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].kind == API_KIND_FUNCTION && strcmp(rows[i].owner, group) == 0) {
            lua_pushinteger(thread, (lua_Integer)i);
            lua_pushvalue(thread, -2);
            lua_pushcclosure(thread, call_function, 2);
            lua_setfield(thread, -2, rows[i].name);
        }
    }
    lua_newtable(thread);
    push_members(thread, group);
    lua_pushvalue(thread, -1);
    lua_pushcclosure(thread, index_member, 1);
    lua_setfield(thread, -3, "__index");
    lua_pushstring(thread, group);
    lua_pushcclosure(thread, set_group, 2);
    lua_setfield(thread, -2, "__newindex");
    lock_metatable(thread, group);
    lua_setmetatable(thread, -2);
}

// --- opening ------------------------------------------------------------------------------------

// The options of an argument are adjacent in the table of fields. A Widget is not checked, because
// it has the options of the function that made it.
static void find_options(ApiArgument *argument)
{
    const char *bar = strstr(argument->type, " | "); // a shape is the second alternative
    const char *type = bar != NULL ? bar + 3 : argument->type;
    const size_t bytes = strlen(type);
    argument->option_count = 0;
    argument->has_items = false;
    if (!is_shape(type, bytes) || word_is(type, bytes, "Widget{}")) {
        return;
    }
    uint32_t count;
    const ApiField *fields = api_fields(&count);
    for (uint16_t i = 0; i < count; i++) {
        if (word_is(type, bytes - 2, fields[i].shape)) {
            argument->option_first = argument->option_count == 0 ? i : argument->option_first;
            argument->option_count += 1;
            ASSERT(i + 1 == argument->option_first + argument->option_count);
        }
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        argument->has_items = argument->has_items || word_is(type, bytes - 2, lists[i]);
    }
}

static bool owner_has(const char *owner, ApiKind kind)
{
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].kind == kind && strcmp(rows[i].owner, owner) == 0) {
            return true;
        }
    }
    return false;
}

static uint32_t read_steps(const ApiRow *row)
{
    const bool is_found = strcmp(row->owner, "Entity") == 0 || strcmp(row->owner, "Player") == 0;
    return row->kind == API_KIND_EVENT ? API_EVENT_STEPS
                                       : API_READ_STEPS + (is_found ? API_LOOKUP_STEPS : 0);
}

static void open_api(ScriptSystem *system)
{
    lua_State *thread = system->lua;
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        ApiParsed *parsed = &parsed_rows(system)[i];
        parsed->read_steps = read_steps(&rows[i]);
        if (rows[i].kind != API_KIND_PROPERTY) {
            parsed->count = api_parse_arguments(rows[i].arguments, parsed->arguments);
            for (uint32_t a = 0; a < parsed->count; a++) {
                parsed->arguments[a].finite = wants_finite(&rows[i], parsed->arguments[a].type);
                find_options(&parsed->arguments[a]);
            }
        }
    }
    int *const tables[] = {&system->entities_ref, &system->players_ref, &system->signals_ref,
                           &system->ui_ref,       &system->invokes_ref, &system->declares_ref};
    for (uint32_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        lua_newtable(thread);
        *tables[i] = luaL_ref(thread, LUA_REGISTRYINDEX);
    }
    lua_newtable(thread);
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        const ApiRow *row = &rows[i];
        const bool named = row->kind == API_KIND_CLASS || row->kind == API_KIND_GROUP;
        if (row->kind == API_KIND_CLASS || (named && owner_has(row->name, API_KIND_METHOD))) {
            open_class(thread, row->name);
        }
        if (row->kind == API_KIND_GROUP ||
            (row->kind == API_KIND_CLASS && owner_has(row->name, API_KIND_FUNCTION))) {
            push_group(thread, row->name);
            api_extend_group(thread, row->name);
            vm_freeze(thread, -1);
            lua_setfield(thread, -2, row->name);
        } else if (row->kind == API_KIND_GLOBAL) {
            lua_pushinteger(thread, (lua_Integer)i);
            lua_pushcclosure(thread, call_function, 1);
            lua_setfield(thread, -2, row->name);
        }
    }
    system->api_ref = luaL_ref(thread, LUA_REGISTRYINDEX);
    api_open_objects(thread);
    vm_push_environment(thread);
    lua_getfield(thread, -1, "coroutine");
    lua_getfield(thread, -1, "resume");
    system->resume_ref = luaL_ref(thread, LUA_REGISTRYINDEX);
    lua_pop(thread, 2);
    vm_set_resume_check(system->vm, api_check_resume);
}

const ScriptApi script_api = {.memory_bytes = ROW_COUNT * sizeof(ApiParsed),
                              .open = open_api,
                              .event = api_event,
                              .answer = api_answer,
                              .forget_handlers = api_forget_handlers};

// --- small things for api_*.c -------------------------------------------------------------------

ScriptWorld *api_world(lua_State *thread)
{
    return script_of(thread)->config.world;
}

const ScriptWorldMethods *api_methods(lua_State *thread)
{
    return script_of(thread)->methods;
}

Text api_text(lua_State *thread, int index)
{
    Text text;
    text.data = luaL_checklstring(thread, index, &text.bytes);
    return text;
}

const char *api_quote(Text text, char out[API_QUOTE_BYTES])
{
    const size_t most = API_QUOTE_BYTES - sizeof "…";
    size_t bytes = text.bytes <= most ? text.bytes : most;
    while (bytes < text.bytes && bytes > 0 && ((uint8_t)text.data[bytes] & 0xc0) == 0x80) {
        bytes -= 1; // not in the middle of a character
    }
    (void)snprintf(out, API_QUOTE_BYTES, "%.*s%s", (int)bytes, text.data,
                   bytes < text.bytes ? "…" : "");
    return out;
}

// The row of the running function or method, or NULL inside something else, such as a setter.
static const ApiRow *running_row(lua_State *thread)
{
    int is_row = 0;
    const lua_Integer index = lua_tointegerx(thread, lua_upvalueindex(1), &is_row);
    return is_row != 0 ? &rows[index] : NULL;
}

#define ARGUMENT_NAME_BYTES 128
// "World.Spawn: argument 1 (prefab)", or `otherwise` for something that is not an argument of a
// row.
static void name_argument(lua_State *thread, int index, const char *otherwise,
                          char out[ARGUMENT_NAME_BYTES])
{
    const ApiRow *row = running_row(thread);
    const ApiParsed *parsed = row != NULL ? &parsed_rows(script_of(thread))[row - rows] : NULL;
    const int number = row != NULL && row->kind == API_KIND_METHOD ? index - 1 : index;
    if (row == NULL || number < 1 || (uint32_t)number > parsed->count) {
        snprintf(out, ARGUMENT_NAME_BYTES, "%s", otherwise);
        return;
    }
    char name[64];
    full_name(row, name, sizeof name);
    snprintf(out, ARGUMENT_NAME_BYTES, "%s: argument %d (%s)", name, number,
             parsed->arguments[number - 1].name);
}

// The sizes are checked first: they limit the work.
Text api_valid_text(lua_State *thread, int index, size_t bytes_min, size_t bytes_max)
{
    const Text text = api_text(thread, index);
    const bool fits = text.bytes >= bytes_min && text.bytes <= bytes_max;
    const char *problem = fits ? text_error(text.data, text.bytes) : "";
    if (problem == NULL) {
        return text;
    }
    char what[ARGUMENT_NAME_BYTES];
    name_argument(thread, index, "a text", what);
    if (!fits) {
        luaL_error(thread, "%s must have %d to %d bytes", what, (int)bytes_min, (int)bytes_max);
    }
    luaL_error(thread, "%s %s", what, problem);
    return text;
}

float api_number(lua_State *thread, int index)
{
    const double number = luaL_checknumber(thread, index);
    if (!(number >= -3.0e38 && number <= 3.0e38)) {
        char what[ARGUMENT_NAME_BYTES];
        name_argument(thread, index, "a number", what);
        luaL_error(thread, "%s must be %s", what,
                   number - number == 0 ? "between -3e38 and 3e38" : "finite, not NaN or infinity");
    }
    return (float)number;
}

bool api_is_given(lua_State *thread, int index)
{
    return !lua_isnoneornil(thread, index);
}

bool api_option(lua_State *thread, int index, const char *name)
{
    lua_pushstring(thread, name);
    return lua_rawget(thread, index) != LUA_TNIL;
}

static void say_once(ScriptSystem *system, const char *what)
{
    Instance *instance = instance_at(system, system->current_instance);
    Script *script = instance != NULL ? script_at(system, instance->script) : NULL;
    if (script == NULL) {
        return;
    }
    script->account.ignored_write_count += 1;
    instance->account.ignored_write_count += 1;
    if (!script->write_was_said) {
        char text[160];
        snprintf(text, sizeof text,
                 "%s is ignored on a client: only the server changes what everyone sees", what);
        account_say(system, LOG_WARN, script->path, text);
        script->write_was_said = true;
    }
}

// What each function works on, if not on every entity.
static const char *kind_needed(const char *what)
{
    static const struct {
        const char *what, *kind;
    } needs[] = {
        {"Entity.MoveTo", "a part; write SetPosition to put a character somewhere"},
        {"Entity.SetBounce", "a part"},
        {"Entity.SetConveyor", "a part"},
        {"Entity.SetDamage", "a part; write TakeDamage to hurt a character"},
        {"Entity.SetSolid", "a part"},
        {"Entity.TakeDamage", "a character or a structure"},
        {"KillPlayer", "a character"},
        {"Npc.MoveTo", "an NPC"},
        {"Npc.SetTarget", "an NPC, and chases characters"},
        {"Npc.SetPatrol", "an NPC"},
        {"Npc.GetState", "an NPC"},
        {"Structure.Remove", "a structure"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if (strcmp(needs[i].what, what) == 0) {
            return needs[i].kind;
        }
    }
    return NULL;
}

// The entity of a call is its first argument, or the object of the method.
static void raise_not_found(lua_State *thread, const char *what)
{
    if (object_is_player(thread, 1)) {
        luaL_error(thread, "%s: this player has left", what);
    }
    for (int i = 1; i <= lua_gettop(thread); i++) {
        ScriptEntityInfo info;
        if (object_is_entity(thread, i) &&
            !api_methods(thread)->entity(api_world(thread), object_entity(thread, i), &info)) {
            luaL_error(thread, "%s: entity %I is gone", what,
                       (LUAI_UACINT)object_entity(thread, i));
        }
    }
    ScriptEntityInfo info = {0};
    const char *kind = kind_needed(what);
    const bool is_there =
        object_is_entity(thread, 1) &&
        api_methods(thread)->entity(api_world(thread), object_entity(thread, 1), &info);
    if (!is_there) {
        luaL_error(thread, "%s: what it was given is not in the world", what);
    }
    if (kind == NULL && info.type == ENTITY_NONE) {
        luaL_error(thread, "%s: this is a spawn point, a place in the scene that nobody sees",
                   what);
    }
    luaL_error(thread, "%s works on %s; this entity is a %s", what,
               kind != NULL ? kind : "another kind of entity", api_entity_type_name(info.type));
}

bool api_check_change(lua_State *thread, Status status, const char *what)
{
    switch (status) {
    case STATUS_OK:
        return true;
    case STATUS_DENIED:
        if (api_methods(thread)->side == SCRIPT_CLIENT) {
            vm_charge(thread, API_DENIED_STEPS);
            say_once(script_of(thread), what);
            return false;
        }
        break;
    case STATUS_NOT_FOUND:
        raise_not_found(thread, what);
        break;
    case STATUS_LIMIT:
        if (api_world(thread)->refusal != NULL) {
            const char *refusal = api_world(thread)->refusal;
            api_world(thread)->refusal = NULL;
            luaL_error(thread, "%s: %s", what, refusal);
        }
        break;
    default:
        break;
    }
    luaL_error(thread, "%s: %s", what, status_text(status));
    return false;
}

void api_fire(ScriptSystem *system, const char *key, int argument_count)
{
    lua_State *thread = system->lua;
    if (!signal_push_named(system, thread, key, false)) {
        lua_pop(thread, argument_count);
        return;
    }
    lua_insert(thread, -argument_count - 1);
    if (signal_defer(thread, -argument_count - 1, argument_count) != STATUS_OK) {
        system->totals.events_dropped += 1;
    }
    lua_pop(thread, 1);
}

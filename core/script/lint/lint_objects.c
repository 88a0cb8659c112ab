// What a lint knows of values at run time: which are entities, players or other objects of the API,
// because a function of the API returned them or an event passes them. Entities keep any field, so
// a misspelt one and one of another engine fail nowhere; they are said here. A value of which
// nothing is known is silent, but for members that only another engine has.
#include "core/base/check.h"
#include "core/base/nearest.h"
#include "core/script/api/api_names.h"
#include "core/script/lint/lint_walk.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <string.h>

#define KNOWN_BEFORE (-1) // since before the first instruction

Known lint_object_of(const char *type)
{
    bool is_list = false;
    const char *comma = strstr(type, ", ");
    char first[API_TYPE_BYTES];
    (void)snprintf(first, sizeof first, "%.*s",
                   comma != NULL ? (int)(comma - type) : (int)sizeof first, type);
    const char *class = api_class_of(first, &is_list);
    if (class == NULL) {
        return (Known){.kind = KNOWN_NOTHING};
    }
    if (strcmp(class, "Widget") == 0) {
        return (Known){.kind = KNOWN_OTHER}; // it has the options of the function that made it
    }
    return (Known){.kind = is_list ? KNOWN_LIST : KNOWN_OBJECT, .class = class};
}

// --- parameters and upvalues --------------------------------------------------------------------

void lint_note_handler(Lint *lint, const Known *closure, const ApiRow *row)
{
    if (closure != NULL && closure->kind == KNOWN_CLOSURE) {
        lua_pushlightuserdata(lint->thread, (void *)(uintptr_t)row);
        lua_rawsetp(lint->thread, lint->handlers, closure->closure);
    }
}

// Network.OnClientEvent(name, callback): the player comes first, the rest is the creator's.
static bool is_remote(const ApiRow *row)
{
    return row->kind == API_KIND_FUNCTION;
}

void lint_objects_begin(Lint *lint, const Walk *walk)
{
    const Proto *proto = walk->proto;
    (void)lua_rawgetp(lint->thread, lint->handlers, proto);
    const ApiRow *row = lua_touserdata(lint->thread, -1);
    lua_pop(lint->thread, 1);
    if (row == NULL) {
        // A method of the creator's own class may have any field.
        const char *first = proto->numparams > 0 && proto->sizelocvars > 0
                                ? lint_word_of(proto->locvars[0].varname)
                                : NULL;
        if (first != NULL && strcmp(first, "self") == 0) {
            lint->registers[0] = (Known){.kind = KNOWN_OTHER, .since = KNOWN_BEFORE};
        }
        return;
    }
    ApiArgument arguments[API_ARGUMENTS_MAX];
    const uint32_t count =
        api_parse_arguments(is_remote(row) ? "player: Player" : row->arguments, arguments);
    for (uint32_t i = 0; i < count && i < proto->numparams; i++) {
        lint->registers[i] = lint_object_of(arguments[i].type);
        lint->registers[i].since = KNOWN_BEFORE;
    }
}

// Of a captured value only these are kept.
static bool is_kept(const Known *value)
{
    return value->kind == KNOWN_OBJECT || value->kind == KNOWN_TABLE ||
           value->kind == KNOWN_OTHER || value->kind == KNOWN_LIST;
}

static bool is_assigned(const Proto *proto, int upvalue)
{
    for (int i = 0; i < proto->sizecode; i++) {
        if (GET_OPCODE(proto->code[i]) == OP_SETUPVAL && GETARG_B(proto->code[i]) == upvalue) {
            return true;
        }
    }
    return false;
}

void lint_capture(Lint *lint, const Walk *walk, const Proto *inner)
{
    lua_State *thread = lint->thread;
    lua_newtable(thread);
    for (int i = 0; i < inner->sizeupvalues; i++) {
        const Upvaldesc *upvalue = &inner->upvalues[i];
        const Known known = upvalue->instack != 0 ? lint->registers[upvalue->idx]
                                                  : lint_captured(lint, walk, upvalue->idx);
        if (is_kept(&known) && !is_assigned(inner, i)) {
            Known *kept = lua_newuserdatauv(thread, sizeof *kept, 0);
            *kept = known;
            lua_rawseti(thread, -2, i);
        }
    }
    lua_rawsetp(thread, lint->captures, inner);
}

Known lint_captured(const Lint *lint, const Walk *walk, int upvalue)
{
    lua_State *thread = lint->thread;
    Known known = {.kind = KNOWN_NOTHING};
    if (lua_rawgetp(thread, lint->captures, walk->proto) == LUA_TTABLE) {
        if (lua_rawgeti(thread, -1, upvalue) == LUA_TUSERDATA) {
            known = *(const Known *)lua_touserdata(thread, -1);
        }
        lua_pop(thread, 1);
    }
    lua_pop(thread, 1);
    return known;
}

// --- members ------------------------------------------------------------------------------------

static bool has_small_letter(const char *name)
{
    return name[0] == '_' || (name[0] >= 'a' && name[0] <= 'z');
}

// A field of the script's own on an entity is right, unless it is nearly a member of entities: then
// it is a mistake, or at least easily taken for one.
static bool is_own_field(const Lint *lint, const char *name, const char *nearest)
{
    const bool same_letters = nearest_steps(name, strlen(name), nearest, strlen(nearest), 1) == 0;
    return !same_letters && has_small_letter(name) && lint_is_in(lint, lint->own, name);
}

// What costs a search is done only while findings are kept.
static bool has_room(const Lint *lint)
{
    const bool is_full = lint->result->finding_count == lint->result->finding_max;
    lint->result->dropped_count += is_full;
    return !is_full;
}

static void report_member(Lint *lint, const Walk *walk, const char *class, const char *name,
                          LintAccess access)
{
    if (!has_room(lint) || (api_class_is_table(class) && lint_is_in(lint, lint->own, name))) {
        return;
    }
    bool is_telling;
    const char *instead = api_foreign_member(name, &is_telling);
    const bool is_open = api_class_is_open(class);
    const char *nearest = api_class_nearest(class, text_from(name));
    char message[SCRIPT_MESSAGE_BYTES];
    if (instead != NULL && !(is_open && !is_telling && lint_is_in(lint, lint->own, name))) {
        snprintf(message, sizeof message, "%s is no member of %s here: %s", name, class, instead);
    } else if (nearest != NULL && !(is_open && is_own_field(lint, name, nearest))) {
        snprintf(message, sizeof message, "%s has no %s; did you mean %s?", class, name, nearest);
    } else if (!is_open) {
        const char *advice =
            strcmp(class, "Player") == 0 ? ": keep values of your own in a table by player" : "";
        snprintf(message, sizeof message, "%s has no %s%s", class, name, advice);
    } else if (access == LINT_CALL && !lint_is_in(lint, lint->own, name)) {
        snprintf(message, sizeof message, "%s has no function %s", class, name);
    } else {
        return;
    }
    lint_report(lint, LINT_UNKNOWN_MEMBER, walk->line, false, message);
}

// A value of which nothing is known: only what no creator would call a field of their own.
static void report_foreign(Lint *lint, const Walk *walk, const char *name)
{
    bool is_telling;
    const char *instead = api_foreign_member(name, &is_telling);
    if (instead != NULL && is_telling && !lint_is_in(lint, lint->own, name)) {
        char message[SCRIPT_MESSAGE_BYTES];
        snprintf(message, sizeof message, "%s is a name of Roblox: %s", name, instead);
        lint_report(lint, LINT_FOREIGN, walk->line, false, message);
    }
}

static bool is_connect(const char *name)
{
    return strcmp(name, "Connect") == 0 || strcmp(name, "Once") == 0;
}

static Known value_of(const ApiMember *member)
{
    if (member->row == NULL || member->row->kind == API_KIND_PROPERTY) {
        return lint_object_of(member->type);
    }
    const bool is_event = member->row->kind == API_KIND_EVENT;
    return (Known){.kind = is_event ? KNOWN_SIGNAL : KNOWN_ROW, .row = member->row};
}

// The first pass: which members the script itself gives to what it made, or to entities.
static void note_own(Lint *lint, const Known *table, const char *name, LintAccess access)
{
    const bool is_own = table->kind == KNOWN_TABLE || table->kind == KNOWN_OTHER ||
                        (table->kind == KNOWN_OBJECT &&
                         (has_small_letter(name) || api_class_is_table(table->class)));
    if (access == LINT_WRITE && is_own) {
        lua_pushboolean(lint->thread, true);
        lua_setfield(lint->thread, lint->own, name);
    }
}

Known lint_member_of(Lint *lint, const Walk *walk, const Known *table, const TString *key,
                     LintAccess access)
{
    const Known nothing = {.kind = KNOWN_NOTHING};
    const char *name = key != NULL ? lint_word_of(key) : NULL;
    ApiMember member;
    if (name == NULL) {
        return table->kind == KNOWN_OTHER ? *table : nothing;
    }
    if (!lint->is_reporting) {
        note_own(lint, table, name, access);
    }
    switch (table->kind) {
    case KNOWN_OTHER:
        return *table;
    case KNOWN_SIGNAL:
        if (lint->is_reporting && !api_class_member("Signal", name, &member)) {
            report_member(lint, walk, "Signal", name, access);
        }
        return is_connect(name) ? (Known){.kind = KNOWN_CONNECT, .row = table->row} : nothing;
    case KNOWN_OBJECT:
        if (api_class_member(table->class, name, &member)) {
            return value_of(&member);
        }
        if (lint->is_reporting) {
            report_member(lint, walk, table->class, name, access);
        }
        return nothing;
    case KNOWN_NOTHING:
        if (lint->is_reporting) {
            report_foreign(lint, walk, name);
        }
        return nothing;
    default:
        return nothing;
    }
}

// --- calls --------------------------------------------------------------------------------------

static uint32_t line_of(const Proto *proto, int32_t pc)
{
    uint32_t line = (uint32_t)proto->linedefined, absolute = 0;
    for (int32_t i = 0; i <= pc && i < proto->sizelineinfo; i++) {
        if (proto->lineinfo[i] != LINT_ABSOLUTE_LINE) {
            line = (uint32_t)((int64_t)line + proto->lineinfo[i]);
        } else if ((int)absolute < proto->sizeabslineinfo) {
            line = (uint32_t)proto->abslineinfo[absolute++].line;
        }
    }
    return line;
}

static void check_option(Lint *lint, const Walk *walk, const ApiRow *row, const char *shape,
                         const char *name, int32_t pc)
{
    ApiMember member;
    const bool is_kind = strcmp(row->owner, "UI") == 0 && strcmp(name, "kind") == 0;
    if (is_kind || api_class_member(shape, api_option_name(name), &member) || !has_room(lint)) {
        return;
    }
    char advice[API_OPTIONS_BYTES], message[SCRIPT_MESSAGE_BYTES];
    api_options_text(shape, text_from(name), advice);
    snprintf(message, sizeof message, "%s.%s has no option \"%s\"; %.120s", row->owner, row->name,
             name, advice);
    lint_report(lint, LINT_UNKNOWN_MEMBER, line_of(walk->proto, pc), false, message);
}

static Text text_of(const TString *text)
{
    return (Text){getstr(text), tsslen(text)};
}

// UI.Image({image = "door"}), part:SetLook({texture = "door", model = "tree"}).
static void note_asset_option(Lint *lint, const Walk *walk, const ApiRow *row, const char *name,
                              int32_t pc)
{
    const Instruction i = walk->proto->code[pc];
    const TString *value = TESTARG_k(i) ? lint_text_at(walk->proto, GETARG_C(i)) : NULL;
    const bool is_image = strcmp(row->owner, "UI") == 0 && strcmp(row->name, "Image") == 0 &&
                          strcmp(name, "image") == 0;
    const bool is_look = strcmp(row->name, "SetLook") == 0;
    const bool is_texture =
        is_look && (strcmp(name, "texture") == 0 || strcmp(name, "Texture") == 0);
    const bool is_model = is_look && (strcmp(name, "model") == 0 || strcmp(name, "Model") == 0);
    if (value != NULL && lint->is_reporting && (is_image || is_texture || is_model)) {
        lint_add_asset(lint->result, is_model ? LINT_MODEL : LINT_PICTURE, line_of(walk->proto, pc),
                       text_of(value));
    }
}

// part.Texture = "door", of what is known to be an entity.
void lint_note_look(Lint *lint, const Walk *walk, const Known *table, const TString *key,
                    const TString *value)
{
    const char *name = key != NULL ? lint_word_of(key) : NULL;
    if (name == NULL || value == NULL || !lint->is_reporting || table->kind != KNOWN_OBJECT ||
        strcmp(table->class, "Entity") != 0) {
        return;
    }
    if (strcmp(name, "Texture") == 0 || strcmp(name, "Model") == 0) {
        lint_add_asset(lint->result, name[0] == 'M' ? LINT_MODEL : LINT_PICTURE, walk->line,
                       text_of(value));
    }
}

// A table that was written where it is passed: its fields were set since.
static void check_options(Lint *lint, const Walk *walk, int reg, const ApiRow *row,
                          const char *shape)
{
    const Proto *proto = walk->proto;
    const Known *table = &lint->registers[reg];
    for (int32_t pc = table->since + 1; table->kind == KNOWN_TABLE && pc < walk->pc; pc++) {
        const Instruction i = proto->code[pc];
        const TString *key = GET_OPCODE(i) == OP_SETFIELD && GETARG_A(i) == reg
                                 ? lint_text_at(proto, GETARG_B(i))
                                 : NULL;
        const char *name = key != NULL ? lint_word_of(key) : NULL;
        if (name != NULL) {
            check_option(lint, walk, row, shape, name, pc);
            note_asset_option(lint, walk, row, name, pc);
        }
    }
}

static void check_word(Lint *lint, const Walk *walk, int reg, const ApiRow *row,
                       const ApiArgument *argument)
{
    const char *words = api_words_of(argument->type, strlen(argument->type));
    const Known *value = &lint->registers[reg];
    if (words == NULL || value->kind != KNOWN_TEXT) {
        return;
    }
    const Text word = {getstr(value->name), tsslen(value->name)};
    if (!api_words_has(words, word)) {
        char list[API_WORDS_BYTES], message[SCRIPT_MESSAGE_BYTES];
        api_words_text(words, word, list, sizeof list);
        snprintf(message, sizeof message, "%s.%s: %s is %.160s", row->owner, row->name,
                 argument->name, list);
        lint_report(lint, LINT_UNKNOWN_MEMBER, walk->line, false, message);
    }
}

static void check_arguments(Lint *lint, const Walk *walk, const ApiRow *row, int first, int last)
{
    ApiArgument arguments[API_ARGUMENTS_MAX];
    const uint32_t count = api_parse_arguments(row->arguments, arguments);
    if (lint->is_reporting && strcmp(row->owner, "Sound") == 0 && first <= last &&
        lint->registers[first].kind == KNOWN_TEXT) {
        lint_add_asset(lint->result, LINT_SOUND, walk->line, text_of(lint->registers[first].name));
    }
    for (uint32_t i = 0; i < count && first + (int)i <= last; i++) {
        bool is_list;
        const size_t bytes = strlen(arguments[i].type);
        const bool is_shape = bytes > 2 && strcmp(arguments[i].type + bytes - 2, "{}") == 0;
        const char *shape = is_shape ? api_class_of(arguments[i].type, &is_list) : NULL;
        if (shape != NULL && strcmp(shape, "Widget") != 0) {
            check_options(lint, walk, first + (int)i, row, shape);
        }
        check_word(lint, walk, first + (int)i, row, &arguments[i]);
    }
}

static bool takes_player(const ApiRow *row)
{
    return strcmp(row->owner, "Network") == 0 &&
           (strcmp(row->name, "OnClientEvent") == 0 || strcmp(row->name, "OnInvoke") == 0);
}

static Known iterator_of(const Lint *lint, const Known *called, int first, int last)
{
    const char *name = called->kind == KNOWN_GLOBAL ? lint_word_of(called->name) : NULL;
    const bool is_each =
        name != NULL && (strcmp(name, "ipairs") == 0 || strcmp(name, "pairs") == 0);
    const Known *list = first <= last ? &lint->registers[first] : NULL;
    if (!is_each || list == NULL || list->kind != KNOWN_LIST) {
        return (Known){.kind = KNOWN_NOTHING};
    }
    return (Known){.kind = KNOWN_EACH, .class = list->class};
}

Known lint_call_of(Lint *lint, const Walk *walk, int function, int first, int last,
                   const ApiRow *row)
{
    const Known *called = &lint->registers[function];
    if (called->kind == KNOWN_CONNECT && first <= last) {
        lint_note_handler(lint, &lint->registers[first], called->row);
        return (Known){.kind = KNOWN_NOTHING};
    }
    row = called->kind == KNOWN_ROW ? called->row : row;
    if (row == NULL) {
        return iterator_of(lint, called, first, last);
    }
    if (lint->is_reporting) {
        check_arguments(lint, walk, row, first, last);
    }
    if (takes_player(row) && first + 1 <= last) {
        lint_note_handler(lint, &lint->registers[first + 1], row);
    }
    const bool is_module = row->kind == API_KIND_GLOBAL && strcmp(row->name, "require") == 0;
    return is_module ? (Known){.kind = KNOWN_OTHER} : lint_object_of(row->returns);
}

void lint_iterate(Lint *lint, const Walk *walk, int reg)
{
    const Known iterator = lint->registers[reg];
    const bool is_list = iterator.kind == KNOWN_LIST;
    if (lint->is_reporting && (is_list || iterator.kind == KNOWN_TABLE)) {
        lint_report(
            lint, LINT_FOREIGN, walk->line, is_list,
            "for … in without ipairs or pairs is Luau: write for i, value in ipairs(list) "
            "do, or for key, value in pairs(map) do. A file that ends in .luau may have it.");
    }
    for (int i = reg; i < REGISTERS_MAX; i++) {
        lint->registers[i].kind = KNOWN_NOTHING;
    }
    if (iterator.kind == KNOWN_EACH && reg + 5 < REGISTERS_MAX) {
        lint->registers[reg + 5] =
            (Known){.kind = KNOWN_OBJECT, .class = iterator.class, .since = KNOWN_BEFORE};
    }
}

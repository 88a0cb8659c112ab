// The walk through a compiled script. Lua's compiler has resolved every name: a global is an access
// to the environment's upvalue, whatever the source looks like. Registers are tracked along
// straight code, so that `Network.FireClient(…)` is recognised at its call; where two branches
// join, only what was known before they split stays known. What is unknown is not reported.
// Two passes over all functions: the first finds the names that the script itself assigns, the
// second reports.
#include "core/script/lint/lint.h"

#include "core/base/check.h"
#include "core/script/api/api_names.h"
#include "core/script/lint/lint_walk.h"
#include "core/script/vm/lua_guard.h"

#include <lauxlib.h>
#include <limits.h>
#include <lobject.h>
#include <lopcodes.h>
#include <lua.h>
#include <stdio.h>
#include <string.h>

#define LOOP_CODE_MAX 2000 // instructions of a loop whose variables are followed
#define DEPTH_MAX     200  // the compiler allows fewer
#define STEPS         (INT64_MAX / 4)
#define NO_UPVALUE    (-1)
#define TARGET_NONE   INT32_MAX // no jump leads here
#define TARGET_BACK   (-1)      // a jump from a later instruction leads here

const char *lint_kind_name(LintKind kind)
{
    switch (kind) {
    case LINT_UNDEFINED_GLOBAL:
        return "undefined-global";
    case LINT_SHADOWED:
        return "shadowed";
    case LINT_WRONG_SIDE:
        return "wrong-side";
    case LINT_UNKNOWN_MEMBER:
        return "unknown-member";
    case LINT_UNKNOWN_HOOK:
        return "unknown-hook";
    case LINT_HOOK_PARAMETER:
        return "hook-parameter";
    case LINT_FOREIGN:
        return "foreign-name";
    case LINT_INVISIBLE:
        return "invisible-character";
    case LINT_KIND_COUNT:
        break;
    }
    return "?";
}

// --- names --------------------------------------------------------------------------------------

const char *lint_word_of(const TString *text)
{
    const char *word = getstr(text);
    const size_t bytes = tsslen(text);
    if (bytes == 0 || bytes > NAME_BYTES_MAX) {
        return NULL;
    }
    for (size_t i = 0; i < bytes; i++) {
        const char c = word[i];
        const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                          (i > 0 && c >= '0' && c <= '9');
        if (!fits) {
            return NULL;
        }
    }
    return word;
}

static bool is_word(const TString *text, const char *word)
{
    return tsslen(text) == strlen(word) && memcmp(getstr(text), word, strlen(word)) == 0;
}

bool lint_is_in(const Lint *lint, int table, const char *word)
{
    lua_pushstring(lint->thread, word);
    const bool there = lua_rawget(lint->thread, table) != LUA_TNIL;
    lua_pop(lint->thread, 1);
    return there;
}

// --- findings -----------------------------------------------------------------------------------

void lint_report(Lint *lint, LintKind kind, uint32_t line, bool is_error, const char *message)
{
    LintResult *result = lint->result;
    for (uint32_t i = 0; i < result->finding_count; i++) {
        if (result->findings[i].line == line && result->findings[i].kind == kind &&
            strcmp(result->findings[i].message, message) == 0) {
            return;
        }
    }
    if (result->finding_count == result->finding_max) {
        result->dropped_count += 1;
        return;
    }
    // In the order of lines.
    uint32_t at = result->finding_count++;
    for (; at > 0 && result->findings[at - 1].line > line; at--) {
        result->findings[at] = result->findings[at - 1];
    }
    LintFinding *finding = &result->findings[at];
    *finding = (LintFinding){.kind = kind, .line = line, .is_error = is_error};
    snprintf(finding->message, sizeof finding->message, "%s", message);
}

static void report_undefined(Lint *lint, uint32_t line, const char *name)
{
    char nearest[2 * NAME_BYTES_MAX] = "", message[SCRIPT_MESSAGE_BYTES];
    const char *instead = api_foreign_global(name);
    if (instead != NULL) {
        snprintf(message, sizeof message, "%s is not here, so it is nil: %s", name, instead);
        lint_report(lint, LINT_UNDEFINED_GLOBAL, line, false, message);
        return;
    }
    if (lint->result->finding_count < lint->result->finding_max) { // the search is expensive
        lint_suggest(lint->thread, lint->written, name, nearest, sizeof nearest);
    }
    snprintf(message, sizeof message, "%s is defined nowhere, so it is nil%s%s%s", name,
             nearest[0] != 0 ? "; did you mean " : "", nearest, nearest[0] != 0 ? "?" : "");
    lint_report(lint, LINT_UNDEFINED_GLOBAL, line, false, message);
}

static void report_side(Lint *lint, const Walk *walk, const ApiRow *row)
{
    char message[SCRIPT_MESSAGE_BYTES];
    bool is_error;
    // In a script for both sides only code that certainly runs on both: other code may have checked
    // the side.
    if ((lint->side != LINT_BOTH || (walk->is_entry && walk->is_straight)) &&
        lint_side_text(row, lint->side, message, sizeof message, &is_error)) {
        lint_report(lint, LINT_WRONG_SIDE, walk->line, is_error, message);
    }
}

// A call of a missing member of a table that cannot be changed.
static void report_unknown(Lint *lint, const Walk *walk, const Known *called)
{
    const char *owner = lint_word_of(called->name), *name = lint_word_of(called->field);
    char nearest[2 * NAME_BYTES_MAX], message[SCRIPT_MESSAGE_BYTES];
    if (owner == NULL || name == NULL || lint_is_in(lint, lint->written, owner) ||
        !lint_is_unknown(lint->thread, lint->known, owner, name, nearest, sizeof nearest)) {
        return;
    }
    const char *joint = nearest[0] != 0 ? "." : "";
    snprintf(message, sizeof message, "%s has no %s%s%s%s%s%s", owner, name,
             nearest[0] != 0 ? "; did you mean " : "", nearest[0] != 0 ? owner : "", joint, nearest,
             nearest[0] != 0 ? "?" : "");
    lint_report(lint, LINT_UNKNOWN_MEMBER, walk->line, false, message);
}

// --- globals ------------------------------------------------------------------------------------

// `_G` is the environment too. As long as only its fields are used, all accesses are visible.
static void look_at_whole(Lint *lint, const Walk *walk, int reg)
{
    const Proto *proto = walk->proto;
    const Instruction next = walk->pc + 1 < proto->sizecode ? proto->code[walk->pc + 1] : 0;
    const OpCode op = GET_OPCODE(next);
    const bool is_field = (op == OP_GETFIELD && GETARG_B(next) == reg) ||
                          (op == OP_SETFIELD && GETARG_A(next) == reg);
    lint->is_dynamic = lint->is_dynamic || !is_field;
}

// Globals whose results depend on the place.
static bool asks_world(const char *name)
{
    static const char *const names[] = {"World",     "Players",    "Npc",
                                        "Structure", "Projectile", "Sound"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void read_global(Lint *lint, const Walk *walk, const TString *text, int reg)
{
    const char *name = lint_word_of(text);
    if (name == NULL) {
        lint->is_dynamic = true;
    } else if (!lint->is_reporting) {
        lua_pushboolean(lint->thread, true);
        lua_setfield(lint->thread, lint->read, name);
        lint->result->asks_world = lint->result->asks_world || asks_world(name);
        lint->result->asks_modules = lint->result->asks_modules || strcmp(name, "require") == 0;
        lint->is_dynamic = lint->is_dynamic || strcmp(name, "load") == 0;
        if (strcmp(name, "_G") == 0) {
            look_at_whole(lint, walk, reg);
        }
    } else if (!lint->is_dynamic && !lint_is_in(lint, lint->known, name) &&
               !lint_is_in(lint, lint->written, name)) {
        report_undefined(lint, walk->line, name);
    }
}

// A function that is neither called here nor known to the engine.
static void look_at_unknown(Lint *lint, const Walk *walk, const char *name)
{
    const char *hook = lint_nearest_hook(name);
    if (hook != NULL && !lint_is_in(lint, lint->written, hook) &&
        !lint_is_in(lint, lint->exported, hook)) {
        char message[SCRIPT_MESSAGE_BYTES];
        snprintf(message, sizeof message, "nothing calls %s; did you mean %s?", name, hook);
        lint_report(lint, LINT_UNKNOWN_HOOK, walk->line, false, message);
    }
}

// `function onUpdate(dt)`: the first parameter is the entity; the mistake shows only when it is
// used as a number.
static void look_at_parameter(Lint *lint, const Proto *hook, const ApiRow *row)
{
    static const char *const times[] = {"dt", "delta", "deltaTime", "delta_time", "deltatime"};
    const bool is_named = hook->numparams > 0 && hook->sizelocvars > 0;
    const char *name = is_named ? lint_word_of(hook->locvars[0].varname) : NULL;
    for (size_t i = 0; i < sizeof times / sizeof times[0] && name != NULL; i++) {
        if (strcmp(name, times[i]) == 0 && strncmp(row->arguments, "self:", 5) == 0) {
            const bool has_time = strstr(row->arguments, "dt:") != NULL;
            char message[SCRIPT_MESSAGE_BYTES];
            snprintf(
                message, sizeof message,
                "%s is called with the entity first, so %s is not the time; write %s(self%s%s)",
                row->name, name, row->name, has_time ? ", " : "", has_time ? name : "");
            lint_report(lint, LINT_HOOK_PARAMETER, (uint32_t)hook->linedefined, false, message);
        }
    }
}

// A hook is assigned; `row` is its own.
static void look_at_hook(Lint *lint, const Walk *walk, const ApiRow *row, const Known *value)
{
    const Proto *closure = value != NULL && value->kind == KNOWN_CLOSURE ? value->closure : NULL;
    if (closure != NULL) {
        look_at_parameter(lint, closure, row);
        lint_note_handler(lint, value, row);
    }
    if (row->side == API_SERVER && lint->side == LINT_CLIENT) {
        char message[SCRIPT_MESSAGE_BYTES];
        snprintf(message, sizeof message,
                 "%s is called on the server only; this script runs on clients", row->name);
        lint_report(lint, LINT_WRONG_SIDE, walk->line, false, message);
    }
}

// The first pass: adds the name to `names`, and notes functions that the engine calls on both
// sides.
static void note_written(Lint *lint, int names, const char *name, const ApiRow *row,
                         const Known *value)
{
    lua_pushboolean(lint->thread, true);
    lua_setfield(lint->thread, names, name);
    if (row != NULL && row->kind == API_KIND_HOOK && row->side == API_BOTH && value != NULL &&
        value->kind == KNOWN_CLOSURE && (names != lint->exported || lint->returned.is_always)) {
        lua_pushboolean(lint->thread, true);
        lua_rawsetp(lint->thread, lint->entries, value->closure);
    }
}

static void write_global(Lint *lint, const Walk *walk, const TString *text, const Known *value)
{
    const char *name = lint_word_of(text);
    if (name == NULL) {
        lint->is_dynamic = true;
        return;
    }
    const ApiRow *row = lint_global_row(lint->thread, lint->known, name);
    if (!lint->is_reporting) {
        note_written(lint, lint->written, name, row, value);
    } else if (row != NULL && row->kind == API_KIND_HOOK) {
        look_at_hook(lint, walk, row, value);
    } else if (row != NULL) {
        char message[SCRIPT_MESSAGE_BYTES];
        snprintf(
            message, sizeof message,
            "this gives the global %s another value: the script no longer reaches the API's %s",
            name, name);
        lint_report(lint, LINT_SHADOWED, walk->line, false, message);
    } else if (value != NULL && value->kind == KNOWN_CLOSURE && !lint->is_dynamic &&
               !lint_is_in(lint, lint->read, name)) {
        look_at_unknown(lint, walk, name);
    }
}

static bool is_read_field(const Lint *lint, const char *name)
{
    char field[NAME_BYTES_MAX + 2];
    snprintf(field, sizeof field, ".%s", name);
    return lint_is_in(lint, lint->read, field);
}

// For any table: the table that the script returns may be in several variables.
static void note_field(Lint *lint, const TString *key)
{
    const char *name = key != NULL && !lint->is_reporting ? lint_word_of(key) : NULL;
    if (name != NULL) {
        lua_pushfstring(lint->thread, ".%s", name);
        lua_pushboolean(lint->thread, true);
        lua_rawset(lint->thread, lint->read);
    }
}

// A field of the table that the script returns. It is ignored if the hook is a global too.
static void write_returned(Lint *lint, const Walk *walk, const TString *text, const Known *value)
{
    const char *name = text != NULL ? lint_word_of(text) : NULL;
    const ApiRow *row = name != NULL ? lint_global_row(lint->thread, lint->known, name) : NULL;
    const bool is_hook = row != NULL && row->kind == API_KIND_HOOK;
    if (name == NULL || (is_hook && lint_is_in(lint, lint->written, name))) {
        return;
    }
    if (!lint->is_reporting) {
        note_written(lint, lint->exported, name, row, value);
    } else if (is_hook) {
        look_at_hook(lint, walk, row, value);
    } else if (value != NULL && value->kind == KNOWN_CLOSURE && !lint->returned.is_shared &&
               !is_read_field(lint, name)) {
        look_at_unknown(lint, walk, name);
    }
}

// The API's row of a register's value, unless the script has assigned that name.
static const ApiRow *row_of(const Lint *lint, const Known *value)
{
    const char *name = value->kind == KNOWN_GLOBAL || value->kind == KNOWN_MEMBER
                           ? lint_word_of(value->name)
                           : NULL;
    if (name == NULL || lint_is_in(lint, lint->written, name)) {
        return NULL;
    }
    if (value->kind == KNOWN_GLOBAL) {
        const ApiRow *row = lint_global_row(lint->thread, lint->known, name);
        return row != NULL && row->kind == API_KIND_GLOBAL ? row : NULL;
    }
    const char *field = lint_word_of(value->field);
    return field != NULL ? lint_member_row(name, field) : NULL;
}

// --- registers ----------------------------------------------------------------------------------

static void forget_registers(Lint *lint, int from, int count)
{
    for (int i = from; i < from + count && i < REGISTERS_MAX; i++) {
        lint->registers[i].kind = KNOWN_NOTHING;
        lint->is_method[i] = false;
    }
}

static void learn(Lint *lint, const Walk *walk, int reg, Known known)
{
    known.since = walk->pc;
    lint->registers[reg] = known;
    lint->is_method[reg] = false;
}

const TString *lint_text_at(const Proto *proto, int index)
{
    const TValue *constant = index < proto->sizek ? &proto->k[index] : NULL;
    const bool is_text = constant != NULL && ttisstring(constant);
    return is_text ? (const TString *)(const void *)constant->value_.gc : NULL;
}

static const TString *text_in(const Lint *lint, int reg)
{
    return lint->registers[reg].kind == KNOWN_TEXT ? lint->registers[reg].name : NULL;
}

// Whether the table is the environment under its other name.
static bool is_whole(const Known *table)
{
    return table->kind == KNOWN_ENVIRONMENT ||
           (table->kind == KNOWN_GLOBAL && is_word(table->name, "_G"));
}

// A member of a group: its events and properties are objects.
static Known known_member(const Lint *lint, const Known *member, const ApiRow *row)
{
    const char *group = lint_word_of(member->name), *name = lint_word_of(member->field);
    ApiMember found;
    if (row != NULL && row->kind == API_KIND_EVENT) {
        return (Known){.kind = KNOWN_SIGNAL, .row = row};
    }
    if (row == NULL && group != NULL && name != NULL && !lint_is_in(lint, lint->written, group) &&
        api_class_member(group, name, &found) && found.row != NULL &&
        found.row->kind == API_KIND_PROPERTY) {
        return lint_object_of(found.type);
    }
    return *member;
}

// reg := table[key]; the key may be unknown.
static void read_member(Lint *lint, const Walk *walk, int reg, const Known *from,
                        const TString *key, LintAccess access)
{
    const Known table = *from; // may be the register that is written
    forget_registers(lint, reg, 1);
    if (is_whole(&table)) {
        lint->is_dynamic = lint->is_dynamic || key == NULL;
        if (key != NULL) {
            // `_G.name` is a deliberate check whether it exists.
            if (table.kind == KNOWN_ENVIRONMENT) {
                read_global(lint, walk, key, reg);
            }
            learn(lint, walk, reg, (Known){.kind = KNOWN_GLOBAL, .name = key});
        }
    } else if (table.kind == KNOWN_GLOBAL && key != NULL) {
        const Known member = {.kind = KNOWN_MEMBER, .name = table.name, .field = key};
        const ApiRow *row = row_of(lint, &member);
        if (row != NULL && row->kind == API_KIND_EVENT && lint->is_reporting) {
            report_side(lint, walk, row); // even reading an event of the other side fails
        }
        learn(lint, walk, reg, known_member(lint, &member, row));
    } else {
        learn(lint, walk, reg, lint_member_of(lint, walk, &table, key, access));
    }
}

static void write_member(Lint *lint, const Walk *walk, const Known *table, const TString *key,
                         const Known *value)
{
    if (is_whole(table)) {
        lint->is_dynamic = lint->is_dynamic || key == NULL;
        if (key != NULL) {
            write_global(lint, walk, key, value);
        }
    }
    if (value != NULL && is_whole(value)) {
        lint->is_dynamic = true; // the receiver may change anything in it
    }
    if (!is_whole(table) && table->kind != KNOWN_GLOBAL) {
        (void)lint_member_of(lint, walk, table, key, LINT_WRITE);
    }
}

static void call(Lint *lint, const Walk *walk, int function, int values)
{
    const int last = values > 0 ? function + values - 1 : walk->proto->maxstacksize - 1;
    for (int i = function + 1; i <= last && i < REGISTERS_MAX; i++) {
        lint->is_dynamic = lint->is_dynamic || is_whole(&lint->registers[i]);
    }
    const Known *called = &lint->registers[function];
    const ApiRow *row = row_of(lint, called);
    if (row != NULL && lint->is_reporting &&
        (row->kind == API_KIND_FUNCTION || row->kind == API_KIND_GLOBAL)) {
        report_side(lint, walk, row);
        const bool is_require = row->kind == API_KIND_GLOBAL && strcmp(row->name, "require") == 0;
        if (is_require && values == 2 && text_in(lint, function + 1) != NULL) {
            const TString *path = text_in(lint, function + 1);
            lint_add_require(lint->result, walk->line, (Text){getstr(path), tsslen(path)});
        }
    }
    if (lint->is_reporting && called->kind == KNOWN_MEMBER) {
        report_unknown(lint, walk, called);
    }
    // object:method(…) has the object first.
    const int first = function + (lint->is_method[function] ? 2 : 1);
    const Known result = lint_call_of(lint, walk, function, first, last, row);
    forget_registers(lint, function, REGISTERS_MAX);
    learn(lint, walk, function, result);
}

// --- instructions -------------------------------------------------------------------------------

// Whether the next instructions call what is read.
static LintAccess access_of(const Walk *walk, int reg)
{
    const Proto *proto = walk->proto;
    for (int32_t pc = walk->pc + 1; pc < proto->sizecode; pc++) {
        const Instruction i = proto->code[pc];
        const OpCode op = GET_OPCODE(i);
        if ((op == OP_CALL || op == OP_TAILCALL) && GETARG_A(i) <= reg) {
            return GETARG_A(i) == reg ? LINT_CALL : LINT_READ;
        }
        if (!testAMode(op) || GETARG_A(i) <= reg) {
            return LINT_READ;
        }
    }
    return LINT_READ;
}

static bool is_returned(const Lint *lint, const Walk *walk, int reg)
{
    const LintReturned *returned = &lint->returned;
    return walk->proto == lint->main && reg == returned->reg && walk->pc > returned->made &&
           walk->pc < returned->end;
}

// What reads or writes a member of a table.
static void step_table(Lint *lint, const Walk *walk, Instruction i)
{
    const Proto *proto = walk->proto;
    const int a = GETARG_A(i), b = GETARG_B(i), c = GETARG_C(i);
    const Known environment = {.kind = KNOWN_ENVIRONMENT};
    Known captured, table;
    const Known *value = TESTARG_k(i) ? NULL : &lint->registers[c];
    switch (GET_OPCODE(i)) {
    case OP_GETTABUP:
        if (b != walk->environment) {
            note_field(lint, lint_text_at(proto, c));
        }
        captured = lint_captured(lint, walk, b);
        read_member(lint, walk, a, b == walk->environment ? &environment : &captured,
                    lint_text_at(proto, c), access_of(walk, a));
        break;
    case OP_GETTABLE:
        read_member(lint, walk, a, &lint->registers[b], text_in(lint, c), LINT_READ);
        break;
    case OP_GETFIELD:
        note_field(lint, lint_text_at(proto, c));
        read_member(lint, walk, a, &lint->registers[b], lint_text_at(proto, c), access_of(walk, a));
        break;
    case OP_SELF: {
        const TString *key = TESTARG_k(i) ? lint_text_at(proto, c) : text_in(lint, c);
        note_field(lint, key);
        lint->is_dynamic = lint->is_dynamic || is_whole(&lint->registers[b]);
        table = lint->registers[b];
        forget_registers(lint, a + 1, 1);
        read_member(lint, walk, a, &table, key, LINT_CALL);
        lint->is_method[a] = true;
        break;
    }
    case OP_SETTABUP:
        captured = lint_captured(lint, walk, a);
        write_member(lint, walk, a == walk->environment ? &environment : &captured,
                     lint_text_at(proto, b), value);
        break;
    case OP_SETTABLE:
        write_member(lint, walk, &lint->registers[a], text_in(lint, b), value);
        break;
    default: // OP_SETFIELD
        if (is_returned(lint, walk, a)) {
            write_returned(lint, walk, lint_text_at(proto, b), value);
        }
        lint_note_look(lint, walk, &lint->registers[a], lint_text_at(proto, b),
                       TESTARG_k(i) ? lint_text_at(proto, c) : text_in(lint, c));
        write_member(lint, walk, &lint->registers[a], lint_text_at(proto, b), value);
        break;
    }
}

static void load_text(Lint *lint, const Walk *walk, int reg, int constant)
{
    const TString *text = lint_text_at(walk->proto, constant);
    forget_registers(lint, reg, 1);
    if (text != NULL) {
        learn(lint, walk, reg, (Known){.kind = KNOWN_TEXT, .name = text});
    }
}

static void step(Lint *lint, const Walk *walk)
{
    const Proto *proto = walk->proto;
    const Instruction i = proto->code[walk->pc];
    const OpCode op = GET_OPCODE(i);
    const int a = GETARG_A(i);
    switch (op) {
    case OP_GETTABUP:
    case OP_GETTABLE:
    case OP_GETFIELD:
    case OP_SELF:
    case OP_SETTABUP:
    case OP_SETTABLE:
    case OP_SETFIELD:
        step_table(lint, walk, i);
        break;
    case OP_MOVE:
        lint->is_dynamic = lint->is_dynamic || is_whole(&lint->registers[GETARG_B(i)]);
        learn(lint, walk, a, lint->registers[GETARG_B(i)]);
        break;
    case OP_LOADK:
        load_text(lint, walk, a, GETARG_Bx(i));
        break;
    case OP_LOADKX:
        load_text(lint, walk, a, GETARG_Ax(proto->code[walk->pc + 1]));
        break;
    case OP_GETUPVAL:
        forget_registers(lint, a, 1);
        learn(lint, walk, a,
              GETARG_B(i) == walk->environment ? (Known){.kind = KNOWN_ENVIRONMENT}
                                               : lint_captured(lint, walk, GETARG_B(i)));
        break;
    case OP_NEWTABLE:
        learn(lint, walk, a, (Known){.kind = KNOWN_TABLE});
        break;
    case OP_TFORPREP:
        lint_iterate(lint, walk, a);
        break;
    case OP_CLOSURE:
        lint_capture(lint, walk, proto->p[GETARG_Bx(i)]);
        learn(lint, walk, a, (Known){.kind = KNOWN_CLOSURE, .closure = proto->p[GETARG_Bx(i)]});
        break;
    case OP_CALL:
    case OP_TAILCALL:
        call(lint, walk, a, GETARG_B(i));
        break;
    case OP_LOADNIL:
        forget_registers(lint, a, GETARG_B(i) + 1);
        break;
    case OP_VARARG:
    case OP_TFORCALL:
    case OP_FORLOOP:
    case OP_FORPREP:
    case OP_TFORLOOP:
        forget_registers(lint, a, REGISTERS_MAX);
        break;
    default:
        if (testAMode(op)) {
            forget_registers(lint, a, 1);
        }
        break;
    }
}

// The target of a jump; the next instruction if it does not jump.
static int32_t target_of(int32_t pc, Instruction i)
{
    switch (GET_OPCODE(i)) {
    case OP_JMP:
        return pc + 1 + GETARG_sJ(i);
    case OP_FORLOOP:
    case OP_TFORLOOP:
        return pc + 1 - GETARG_Bx(i);
    case OP_FORPREP:
        return pc + 2 + GETARG_Bx(i);
    case OP_TFORPREP:
        return pc + 1 + GETARG_Bx(i);
    default:
        return pc + 1;
    }
}

static void mark_targets(Lint *lint, const Proto *proto)
{
    for (int32_t pc = 0; pc < proto->sizecode; pc++) {
        lint->targets[pc] = TARGET_NONE;
        lint->loops[pc] = 0;
    }
    for (int32_t pc = 0; pc < proto->sizecode; pc++) {
        const int32_t target = target_of(pc, proto->code[pc]);
        if (target != pc + 1 && target >= 0 && target < proto->sizecode) {
            const int32_t from = target <= pc ? TARGET_BACK : pc;
            lint->loops[target] = target <= pc ? pc : lint->loops[target];
            lint->targets[target] = from < lint->targets[target] ? from : lint->targets[target];
        }
    }
}

// Marks the registers that a loop writes; a call and the like write all from theirs on.
static void mark_written(const Proto *proto, int32_t from, int32_t to, bool written[REGISTERS_MAX])
{
    int above = to - from > LOOP_CODE_MAX ? 0 : REGISTERS_MAX; // a long one is not read
    for (int32_t pc = from; pc <= to && above > 0; pc++) {
        const int a = GETARG_A(proto->code[pc]);
        switch (GET_OPCODE(proto->code[pc])) {
        case OP_CALL:
        case OP_VARARG:
        case OP_LOADNIL:
        case OP_SELF:
        case OP_FORPREP:
        case OP_FORLOOP:
        case OP_TFORPREP:
        case OP_TFORCALL:
        case OP_TFORLOOP:
            above = a < above ? a : above;
            break;
        default:
            written[a] = written[a] || testAMode(GET_OPCODE(proto->code[pc]));
            break;
        }
    }
    for (int i = above; i < REGISTERS_MAX; i++) {
        written[i] = true;
    }
}

// Branches join here: what was learnt since they split is dropped, and where a loop begins what it
// writes.
static void meet(Lint *lint, const Walk *walk)
{
    const int32_t from = lint->targets[walk->pc];
    bool written[REGISTERS_MAX] = {false};
    if (from == TARGET_BACK) {
        mark_written(walk->proto, walk->pc, lint->loops[walk->pc], written);
    }
    for (int i = 0; from != TARGET_NONE && i < REGISTERS_MAX; i++) {
        if (lint->registers[i].since > from && (from != TARGET_BACK || written[i])) {
            lint->registers[i].kind = KNOWN_NOTHING;
        }
    }
}

static void next_line(Walk *walk)
{
    const Proto *proto = walk->proto;
    if (walk->pc >= proto->sizelineinfo) {
        return;
    }
    const int delta = proto->lineinfo[walk->pc];
    if (delta != LINT_ABSOLUTE_LINE) {
        walk->line = (uint32_t)((int64_t)walk->line + delta);
    } else if ((int)walk->absolute < proto->sizeabslineinfo) {
        walk->line = (uint32_t)proto->abslineinfo[walk->absolute++].line;
    }
}

// `local World = World` shadows nothing: it is the same value.
static bool is_copy(const Lint *lint, const LocVar *local)
{
    for (int i = 0; i < REGISTERS_MAX; i++) {
        const Known *known = &lint->registers[i];
        if (known->kind == KNOWN_GLOBAL && is_word(known->name, getstr(local->varname))) {
            return true;
        }
    }
    return false;
}

static void look_at_local(Lint *lint, const Walk *walk, const LocVar *local)
{
    const char *name = lint_word_of(local->varname);
    const ApiRow *row = name != NULL ? lint_global_row(lint->thread, lint->known, name) : NULL;
    const bool is_parameter = walk->local < walk->proto->numparams;
    if (row != NULL && row->kind != API_KIND_HOOK && (is_parameter || !is_copy(lint, local))) {
        char message[SCRIPT_MESSAGE_BYTES];
        snprintf(message, sizeof message, "the %s %s hides the API's %s",
                 is_parameter ? "parameter" : "local", name, name);
        lint_report(lint, LINT_SHADOWED,
                    is_parameter ? (uint32_t)walk->proto->linedefined : walk->line, false, message);
    }
}

// The locals that begin with this instruction. They are sorted by their beginnings.
static void look_at_locals(Lint *lint, Walk *walk)
{
    const Proto *proto = walk->proto;
    for (; walk->local < proto->sizelocvars; walk->local++) {
        const LocVar *local = &proto->locvars[walk->local];
        if (local->startpc > walk->pc + 1) {
            return;
        }
        if (lint->is_reporting) {
            look_at_local(lint, walk, local);
            continue;
        }
        for (int i = 0; i < proto->maxstacksize; i++) { // a local may give others all of it
            lint->is_dynamic = lint->is_dynamic || is_whole(&lint->registers[i]);
        }
    }
}

static void walk_function(Lint *lint, const Proto *proto, int environment, bool is_entry)
{
    Walk walk = {.proto = proto,
                 .environment = environment,
                 .line = (uint32_t)proto->linedefined,
                 .is_entry = is_entry,
                 .is_straight = true};
    forget_registers(lint, 0, REGISTERS_MAX);
    lint_objects_begin(lint, &walk);
    mark_targets(lint, proto);
    for (walk.pc = 0; walk.pc < proto->sizecode; walk.pc++) {
        const Instruction i = proto->code[walk.pc];
        next_line(&walk);
        meet(lint, &walk);
        walk.is_straight =
            walk.is_straight && !testTMode(GET_OPCODE(i)) && target_of(walk.pc, i) == walk.pc + 1;
        step(lint, &walk);
        look_at_locals(lint, &walk);
    }
}

// Which upvalue of the inner function is the outer function's environment.
static int environment_of(const Proto *inner, int outer)
{
    for (int i = 0; outer != NO_UPVALUE && i < inner->sizeupvalues; i++) {
        if (inner->upvalues[i].instack == 0 && inner->upvalues[i].idx == outer) {
            return i;
        }
    }
    return NO_UPVALUE;
}

// The compiler limits how deeply functions are nested.
static void walk_tree(Lint *lint, const Proto *proto, int environment, uint32_t depth)
{
    if (depth == DEPTH_MAX) {
        lint->result->dropped_count += 1;
        return;
    }
    const bool is_hook = lua_rawgetp(lint->thread, lint->entries, proto) != LUA_TNIL;
    lua_pop(lint->thread, 1);
    walk_function(lint, proto, environment, depth == 0 || is_hook);
    for (int i = 0; i < proto->sizep; i++) {
        walk_tree(lint, proto->p[i], environment_of(proto->p[i], environment), depth + 1);
    }
}

static int longest(const Proto *proto, uint32_t depth)
{
    int most = proto->sizecode;
    for (int i = 0; depth < DEPTH_MAX && i < proto->sizep; i++) {
        const int inner = longest(proto->p[i], depth + 1);
        most = inner > most ? inner : most;
    }
    return most;
}

static void run(lua_State *thread, void *user)
{
    Lint *lint = user;
    luaL_checkstack(thread, 16, NULL);
    lint_push_known(thread);
    lint->known = lua_gettop(thread);
    lua_newtable(thread);
    lint->written = lua_gettop(thread);
    lua_newtable(thread);
    lint->read = lua_gettop(thread);
    lua_newtable(thread);
    lint->exported = lua_gettop(thread);
    lua_newtable(thread);
    lint->entries = lua_gettop(thread);
    lua_newtable(thread);
    lint->captures = lua_gettop(thread);
    lua_newtable(thread);
    lint->handlers = lua_gettop(thread);
    lua_newtable(thread);
    lint->own = lua_gettop(thread);
    const size_t length = (size_t)longest(lint->main, 0);
    lint->targets = lua_newuserdatauv(thread, 2 * length * sizeof *lint->targets, 0);
    lint->loops = lint->targets + length;
    for (int pass = 0; pass < 2; pass++) {
        lint->is_reporting = pass == 1;
        walk_tree(lint, lint->main, 0, 0);
    }
}

void lint_function(lua_State *thread, LintSide side, LintResult *result)
{
    ASSERT(lua_isfunction(thread, -1) && !lua_iscfunction(thread, -1));
    const int top = lua_gettop(thread);
    // The object behind a Lua function is its closure.
    const LClosure *closure = lua_topointer(thread, -1);
    Lint lint = {.thread = thread, .side = side, .result = result, .main = closure->p};
    lint.returned = result->is_module ? (LintReturned){.reg = -1} : lint_find_returned(lint.main);
    result->finding_count = result->require_count = result->dropped_count = 0;
    result->asks_world = false;
    result->asks_modules = false;
    GuardEntry outer;
    uint64_t steps_used;
    guard_enter(thread, STEPS, &outer);
    const int status = guard_protect(thread, run, &lint);
    const GuardFault fault = guard_leave(thread, STEPS, &outer, &steps_used);
    if (status != LUA_OK || fault != GUARD_NONE) {
        result->dropped_count += 1; // out of memory: only the findings until then
    }
    lua_settop(thread, top);
}

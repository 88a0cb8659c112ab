// What lint.c and lint_objects.c share: the state of the walk, and what is known of a register.
#pragma once

#include "core/script/lint/lint_inside.h"

#include <lobject.h>
#include <lopcodes.h>

#define REGISTERS_MAX      256
#define NAME_BYTES_MAX     64
#define LINT_ABSOLUTE_LINE (-0x80) // in lineinfo: see abslineinfo

typedef enum KnownKind {
    KNOWN_NOTHING,
    KNOWN_ENVIRONMENT,
    KNOWN_TEXT,    // the constant `name`
    KNOWN_GLOBAL,  // the value of the global `name`
    KNOWN_MEMBER,  // name.field
    KNOWN_CLOSURE, // the function `closure` inside this one
    KNOWN_OBJECT,  // of the class or shape `class`
    KNOWN_LIST,    // of such objects
    KNOWN_EACH,    // ipairs of such a list
    KNOWN_TABLE,   // a table that this script has made
    KNOWN_OTHER,   // of another module: it may have any member
    KNOWN_ROW,     // a method `row` of an object
    KNOWN_SIGNAL,  // the event `row` of an object or group
    KNOWN_CONNECT  // Connect or Once of such an event
} KnownKind;

// What a register holds, and since which instruction.
typedef struct Known {
    KnownKind kind;
    int32_t since;
    const TString *name, *field;
    const Proto *closure;
    const char *class; // as api_class_of gives it
    const ApiRow *row;
} Known;

typedef struct Lint {
    lua_State *thread;
    LintSide side;
    LintResult *result;
    const Proto *main;
    bool is_reporting;
    bool is_dynamic; // globals are changed in ways that cannot be tracked
    // Tables on the stack: names; names; names, ".name" of fields; names; functions that are hooks.
    int known, written, read, exported, entries;
    // Tables on the stack: function → table of what its upvalues hold; function → the row of the
    // hook or event that calls it; names of members that the script gives tables of its own.
    int captures, handlers, own;
    LintReturned returned; // what may hold hooks too
    int32_t *targets;      // by instruction: the first one that jumps here
    int32_t *loops;        // by instruction: the last one that jumps back here; 0: none does
    Known registers[REGISTERS_MAX];
    bool is_method[REGISTERS_MAX]; // read by object:name, so the object is the first argument
} Lint;

// One function being walked.
typedef struct Walk {
    const Proto *proto;
    int environment; // which upvalue
    int32_t pc;
    uint32_t line, absolute; // of this instruction; the next of abslineinfo
    int local;               // the next of locvars
    bool is_entry;           // called from outside on each side the script runs on
    bool is_straight;        // nothing has branched yet
} Walk;

// --- lint.c -------------------------------------------------------------------------------------
void lint_report(Lint *lint, LintKind kind, uint32_t line, bool is_error, const char *message);
// A name as it is in a source; NULL if the text is not a name.
const char *lint_word_of(const TString *text);
const TString *lint_text_at(const Proto *proto, int index);
bool lint_is_in(const Lint *lint, int table, const char *word);

// --- lint_objects.c -----------------------------------------------------------------------------
// A value of that type, as api.def writes it.
Known lint_object_of(const char *type);
// Before a function is walked: its parameters, if it is a hook or a handler of an event.
void lint_objects_begin(Lint *lint, const Walk *walk);
// What a closure takes along from its surroundings, and what an upvalue of the walked function
// holds.
void lint_capture(Lint *lint, const Walk *walk, const Proto *inner);
Known lint_captured(const Lint *lint, const Walk *walk, int upvalue);
// A look that is written at an entity and names an asset; value NULL: unknown.
void lint_note_look(Lint *lint, const Walk *walk, const Known *table, const TString *key,
                    const TString *value);
// A closure that a hook or event calls: its parameters are known.
void lint_note_handler(Lint *lint, const Known *closure, const ApiRow *row);
// table.key is read, written or called; the result is what a read gives.
typedef enum LintAccess { LINT_READ, LINT_WRITE, LINT_CALL } LintAccess;
Known lint_member_of(Lint *lint, const Walk *walk, const Known *table, const TString *key,
                     LintAccess access);
// The function in that register is called; `first` is the register of its first argument. The
// result is what the call gives.
Known lint_call_of(Lint *lint, const Walk *walk, int function, int first, int last,
                   const ApiRow *row);
// `for … in` begins with the iterator in that register.
void lint_iterate(Lint *lint, const Walk *walk, int reg);

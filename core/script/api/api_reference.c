// Three printers over the rows of api.def, including those that are only documented: the members of
// tables, and what Lua itself has.
#include "core/script/api/api_reference.h"

#include "core/base/byte_values.h"
#include "core/script/api/api.h"

#include <string.h>

static void put_all(ByteWriter *writer, const char *const *texts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        byte_write_chars(writer, texts[i]);
    }
}
#define PUT(writer, ...)                                \
    put_all(writer, (const char *const[]){__VA_ARGS__}, \
            sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))

// Only whether a property has a setter is of interest here.
static const ApiRow rows[] = {
#define ROW(kind, owner, name, side, arguments, returns, doc, setter) \
    {API_KIND_##kind, owner, #name, API_##side, arguments, returns, doc, NULL, setter},
#define SETTER_R(class, name)        NULL
#define SETTER_RW(class, name)       api_set_##class##_##name
#define API_GROUP(name, doc)         ROW(GROUP, #name, name, BOTH, "", "", doc, NULL)
#define API_CLASS(name, doc)         ROW(CLASS, #name, name, BOTH, "", "", doc, NULL)
#define API_SHAPE(name, side, doc)   ROW(SHAPE, #name, name, side, "", "", doc, NULL)
#define API_LIBRARY(name, doc)       ROW(LIBRARY, #name, name, BOTH, "", "", doc, NULL)
#define API_WORDS(name, words, doc)  ROW(WORDS, #name, name, BOTH, words, "", doc, NULL)
#define API_ITEMS(shape, type, doc)  ROW(ITEMS, #shape, [i], BOTH, type, "", doc, NULL)
#define API_HOOK(name, side, a, doc) ROW(HOOK, "", name, side, a, "", doc, NULL)
#define API_FUNCTION(group, name, side, a, returns, doc) \
    ROW(FUNCTION, #group, name, side, a, returns, doc, NULL)
#define API_METHOD(class, name, side, a, returns, doc) \
    ROW(METHOD, #class, name, side, a, returns, doc, NULL)
#define API_PROPERTY(class, name, access, type, doc) \
    ROW(PROPERTY, #class, name, BOTH, type, type, doc, SETTER_##access(class, name))
#define API_EVENT(owner, name, side, a, doc)    ROW(EVENT, #owner, name, side, a, "Signal", doc, NULL)
#define API_GLOBAL(name, side, a, returns, doc) ROW(GLOBAL, "", name, side, a, returns, doc, NULL)
#define API_FIELD(owner, name, type, doc)       ROW(FIELD, #owner, name, BOTH, type, "", doc, NULL)
#define API_CONSTANT(owner, name, type, doc)    ROW(CONSTANT, #owner, name, BOTH, type, "", doc, NULL)
#define API_LUA(library, name, a, returns, doc) \
    ROW(LUA, #library, name, BOTH, a, returns, doc, NULL)
#include "core/script/api.def"
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

// What api.def says about an argument: its unit, its limits, and what is taken if it is left out.
static const struct {
    const char *owner, *function, *argument, *doc;
} notes[] = {
#define API_ARGUMENT(owner, function, argument, doc) {#owner, #function, #argument, doc},
#include "core/script/api.def"
};
#define NOTE_COUNT (sizeof notes / sizeof notes[0])

static const struct {
    const char *owner;
    ApiSide side;
    const char *code;
} examples[] = {
#define API_EXAMPLE(owner, side, code) {#owner, API_##side, code},
#include "core/script/api.def"
};

const char *api_reference_example(const char *owner, bool *is_client)
{
    for (uint32_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        if (strcmp(examples[i].owner, owner) == 0) {
            *is_client = examples[i].side == API_CLIENT;
            return examples[i].code;
        }
    }
    return NULL;
}

const char *api_reference_argument(const char *owner, const char *function, const char *argument)
{
    for (uint32_t i = 0; i < NOTE_COUNT; i++) {
        if (strcmp(notes[i].owner, owner) == 0 && strcmp(notes[i].function, function) == 0 &&
            strcmp(notes[i].argument, argument) == 0) {
            return notes[i].doc;
        }
    }
    return NULL;
}

// Whether a row is a heading: the others are members of one, or on their own.
static bool is_owner(const ApiRow *row)
{
    return row->kind == API_KIND_GROUP || row->kind == API_KIND_CLASS ||
           row->kind == API_KIND_SHAPE || row->kind == API_KIND_LIBRARY ||
           row->kind == API_KIND_WORDS;
}

static bool is_member(const ApiRow *row, const char *owner)
{
    return strcmp(row->owner, owner) == 0 && !is_owner(row);
}

// Whether a member belongs to the library, if there are objects of the same name.
static bool is_static(const ApiRow *row)
{
    return row->kind == API_KIND_FUNCTION || row->kind == API_KIND_CONSTANT ||
           row->kind == API_KIND_LUA;
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

// --- the reference page -------------------------------------------------------------------------

static const char *side_text(ApiSide side)
{
    switch (side) {
    case API_SERVER:
        return " *Server only.*";
    case API_CLIENT:
        return " *Client only.*";
    case API_WRITES:
        return " *Takes effect on the server; ignored on a client.*";
    default:
        return "";
    }
}

static void markdown_row(ByteWriter *writer, const ApiRow *row)
{
    const bool is_bare = row->owner[0] == 0 || row->kind == API_KIND_ITEMS;
    PUT(writer, "- `", row->owner,
        row->kind == API_KIND_METHOD ? ":"
        : is_bare                    ? ""
                                     : ".",
        row->name);
    switch (row->kind) {
    case API_KIND_FIELD:
    case API_KIND_ITEMS:
    case API_KIND_CONSTANT:
        PUT(writer, ": ", row->arguments, "`");
        break;
    case API_KIND_PROPERTY:
        PUT(writer, ": ", row->arguments, "`", row->setter != NULL ? "" : " (read only)");
        break;
    case API_KIND_EVENT:
        PUT(writer, "` → Signal(", row->arguments, ")");
        break;
    default:
        PUT(writer, "(", row->arguments, ")`");
        if (row->returns[0] != 0) {
            PUT(writer, " → `", row->returns, "`");
        }
        break;
    }
    PUT(writer, ": ", row->doc, side_text(row->side), "\n");
    for (uint32_t i = 0; i < NOTE_COUNT; i++) {
        if (strcmp(notes[i].owner, row->owner) == 0 && strcmp(notes[i].function, row->name) == 0) {
            PUT(writer, "  - `", notes[i].argument, "`: ", notes[i].doc, "\n");
        }
    }
}

// The words in quotes, with `joint` between two of them.
static void put_words(ByteWriter *writer, const char *words, const char *joint)
{
    for (const char *at = words; *at != '\0';) {
        const size_t bytes = strcspn(at, " ");
        PUT(writer, at == words ? "" : joint, "\"");
        byte_write_bytes(writer, at, bytes);
        byte_write_chars(writer, "\"");
        at += bytes + (at[bytes] == ' ');
    }
}

static void markdown_words(ByteWriter *writer, const ApiRow *row)
{
    PUT(writer, "\n## ", row->name, "\n", row->doc, " One of ");
    put_words(writer, row->arguments, ", ");
    byte_write_chars(writer, ".\n");
}

// Which rows a page has: those of its sides. API_KIND_GROUP: of every kind.
typedef struct Page {
    ByteWriter *writer;
    bool server, client;
} Page;

static bool is_on(const Page *page, const ApiRow *row)
{
    return row->side == API_SERVER ? page->server : row->side == API_CLIENT ? page->client : true;
}

// Of a side that the page has.
static void markdown_example(const Page *page, const char *owner)
{
    bool is_client = false;
    const char *code = owner[0] != 0 ? api_reference_example(owner, &is_client) : NULL;
    if (code != NULL && (is_client ? page->client : page->server)) {
        PUT(page->writer, is_client ? "```lua client\n" : "```lua\n", code, "```\n\n");
    }
}

static void markdown_section(const Page *page, const char *title, const char *doc,
                             const char *owner, ApiKind only)
{
    bool is_open = false;
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        if (!is_member(&rows[i], owner) || (only != API_KIND_GROUP && rows[i].kind != only) ||
            !is_on(page, &rows[i])) {
            continue;
        }
        if (!is_open) {
            PUT(page->writer, "\n## ", title, "\n", doc, doc[0] != 0 ? "\n\n" : "\n");
            markdown_example(page, owner);
            is_open = true;
        }
        markdown_row(page->writer, &rows[i]);
    }
}

static void write_markdown(const Page *page)
{
    byte_write_chars(
        page->writer,
        "# Script reference\n\nEverything a script can call. A `?` marks what may be "
        "left out, `Name{}` a table with the fields under that name. Methods work with a "
        "colon and with a dot.\n");
    markdown_section(page, "Hooks", "Functions that a script may define.", "", API_KIND_HOOK);
    markdown_section(page, "Globals", "", "", API_KIND_GLOBAL);
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].kind == API_KIND_WORDS) {
            markdown_words(page->writer, &rows[i]);
        } else if (is_owner(&rows[i]) && is_on(page, &rows[i])) {
            markdown_section(page, rows[i].name, rows[i].doc, rows[i].name, API_KIND_GROUP);
        }
    }
}

// --- types --------------------------------------------------------------------------------------

typedef struct TypeName {
    const char *ours, *typescript, *lua;
} TypeName;

static const TypeName type_names[] = {
    {"nil", "undefined", "nil"},
    {"boolean", "boolean", "boolean"},
    {"number", "number", "number"},
    {"integer", "number", "integer"},
    {"string", "string", "string"},
    {"table", "any", "table"},
    {"function", "(this: void, ...args: any[]) => any", "function"},
    {"thread", "LuaThread", "thread"},
    {"any", "any", "any"},
    {"{string: number}", "Record<string, number>", "table<string, number>"},
};

// One word of a type; classes, shapes and types of words keep their names.
static void put_word(ByteWriter *writer, const char *word, size_t bytes, bool typescript)
{
    for (uint32_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++) {
        if (strlen(type_names[i].ours) == bytes && memcmp(type_names[i].ours, word, bytes) == 0) {
            byte_write_chars(writer, typescript ? type_names[i].typescript : type_names[i].lua);
            return;
        }
    }
    if (bytes > 2 && word[0] == '{') {
        put_word(writer, word + 1, bytes - 2, typescript);
        byte_write_chars(writer, "[]");
        return;
    }
    byte_write_bytes(writer, word, bytes > 2 && word[bytes - 1] == '}' ? bytes - 2 : bytes);
}

static void put_type(ByteWriter *writer, const char *type, bool typescript)
{
    const bool optional = type[0] != 0 && type[strlen(type) - 1] == '?';
    const char *end = type + strlen(type) - optional;
    for (const char *word = type; word < end;) {
        const char *bar = strstr(word, " | ");
        const char *stop = bar != NULL && bar < end ? bar : end;
        put_word(writer, word, (size_t)(stop - word), typescript);
        if (stop != end) {
            byte_write_chars(writer, " | ");
        }
        word = stop != end ? stop + 3 : end;
    }
    if (optional) {
        byte_write_chars(writer, typescript ? " | undefined" : "?");
    }
}

// --- TypeScript ---------------------------------------------------------------------------------

static void typescript_arguments(ByteWriter *writer, const char *arguments)
{
    ApiArgument parsed[API_ARGUMENTS_MAX];
    const uint32_t argument_count = api_parse_arguments(arguments, parsed);
    for (uint32_t i = 0; i < argument_count; i++) {
        const ApiArgument *argument = &parsed[i];
        if (i > 0) {
            byte_write_chars(writer, ", ");
        }
        if (argument->variadic) {
            byte_write_chars(writer, "...args: any[]");
            continue;
        }
        // `function` and others are keywords.
        const bool reserved = strcmp(argument->name, "function") == 0;
        PUT(writer, reserved ? "callback" : argument->name, argument->optional ? "?: " : ": ");
        put_type(writer, argument->type, true);
    }
}

static void typescript_result(ByteWriter *writer, const char *returns)
{
    const char *comma = strstr(returns, ", ");
    if (returns[0] == 0) {
        byte_write_chars(writer, "void");
    } else if (strncmp(returns, "...", 3) == 0) {
        byte_write_chars(writer, "LuaMultiReturn<any[]>");
    } else if (comma != NULL) {
        byte_write_chars(writer, "LuaMultiReturn<[");
        put_word(writer, returns, (size_t)(comma - returns), true);
        byte_write_chars(writer, ", ");
        put_type(writer, comma + 2, true);
        byte_write_chars(writer, "]>");
    } else {
        put_type(writer, returns, true);
    }
}

// Members whose types depend on each other: what is fired is what handlers get, what is written
// into a store is what is read.
static const struct {
    const char *owner, *name, *text;
} generic_members[] = {
    {"Signal", "new", "\"new\"<T extends any[] = any[]>(this: void): Signal<T>;\n"},
    {"Signal", "Connect", "Connect(callback: (this: void, ...args: T) => void): Connection;\n"},
    {"Signal", "Once", "Once(callback: (this: void, ...args: T) => void): Connection;\n"},
    {"Signal", "Wait", "Wait(): LuaMultiReturn<T>;\n"},
    {"Signal", "Fire", "Fire(...args: T): void;\n"},
    {"Vector3", "new",
     "\"new\"(this: void, x?: number, y?: number, z?: number): Vector3;\n"
     "    new (x?: number, y?: number, z?: number): Vector3;\n"},
    {"Network", "On",
     "On<T extends any[] = any[]>(this: void, name: string, callback: (this: void, ...args: T) => "
     "any): Connection;\n"},
    {"Network", "OnClientEvent",
     "OnClientEvent<T extends any[] = any[]>(this: void, name: string, callback: (this: void, "
     "player: Player, ...args: T) => void): Connection;\n"},
    {"Network", "OnServerEvent",
     "OnServerEvent<T extends any[] = any[]>(this: void, name: string, callback: (this: void, "
     "...args: T) => void): Connection;\n"},
    {"Network", "FireServer",
     "FireServer<T extends any[] = any[]>(this: void, name: string, ...args: T): void;\n"},
    {"Network", "FireServerUnreliable",
     "FireServerUnreliable<T extends any[] = any[]>(this: void, name: string, ...args: T): "
     "void;\n"},
    {"Network", "FireClient",
     "FireClient<T extends any[] = any[]>(this: void, player: Player, name: string, ...args: T): "
     "void;\n"},
    {"Network", "FireClientUnreliable",
     "FireClientUnreliable<T extends any[] = any[]>(this: void, player: Player, name: string, "
     "...args: T): void;\n"},
    {"Network", "Broadcast",
     "Broadcast<T extends any[] = any[]>(this: void, name: string, ...args: T): void;\n"},
    {"Network", "BroadcastUnreliable",
     "BroadcastUnreliable<T extends any[] = any[]>(this: void, name: string, ...args: T): void;\n"},
    {"Network", "Invoke",
     "Invoke<R extends any[] = any[], T extends any[] = any[]>(this: void, name: string, ...args: "
     "T): LuaMultiReturn<R>;\n"},
    {"Network", "OnInvoke",
     "OnInvoke<T extends any[] = any[], R = any>(this: void, name: string, callback: (this: void, "
     "player: Player, ...args: T) => R): Connection;\n"},
    {"DataStore", "GetDataStore",
     "GetDataStore<T = any>(this: void, name: string): DataStore<T>;\n"},
    {"DataStore", "GetOrderedDataStore",
     "GetOrderedDataStore(this: void, name: string): DataStore<number>;\n"},
    {"DataStore", "GetAsync", "GetAsync(key: string): T | undefined;\n"},
    {"DataStore", "SetAsync", "SetAsync(key: string, value: T): void;\n"},
    {"DataStore", "UpdateAsync",
     "UpdateAsync(key: string, transform: (this: void, old: T | undefined) => T | undefined): T | "
     "undefined;\n"},
    {"DataStore", "GetVersionAsync",
     "GetVersionAsync(key: string, version: number): T | undefined;\n"},
    {"DataStore", "RemoveAsync", "RemoveAsync(key: string): T | undefined;\n"},
};

static const char *generic_member(const ApiRow *row)
{
    for (uint32_t i = 0; i < sizeof generic_members / sizeof generic_members[0]; i++) {
        if (strcmp(row->owner, generic_members[i].owner) == 0 &&
            strcmp(row->name, generic_members[i].name) == 0) {
            return generic_members[i].text;
        }
    }
    return NULL;
}

static void typescript_field(ByteWriter *writer, const ApiRow *row)
{
    const char *type = row->arguments;
    const bool is_optional = type[strlen(type) - 1] == '?' && row->kind == API_KIND_FIELD;
    const bool is_given = owner_has(row->owner, API_KIND_SHAPE) || row->setter != NULL;
    PUT(writer, is_given ? "" : "readonly ",
        row->kind == API_KIND_ITEMS ? "[i: number]" : row->name, is_optional ? "?: " : ": ");
    put_type(writer, type, true);
    byte_write_chars(writer, ";\n");
    if (strcmp(row->name, "colour") == 0) {
        byte_write_chars(writer, "    /** As colour. */\n    color?: string;\n");
    }
}

// With its side, and what is known about its arguments.
static void typescript_doc(ByteWriter *writer, const ApiRow *row, const char *indent)
{
    bool is_open = false;
    PUT(writer, indent, "/** ", row->doc, side_text(row->side));
    for (uint32_t i = 0; i < NOTE_COUNT; i++) {
        if (strcmp(notes[i].owner, row->owner) == 0 && strcmp(notes[i].function, row->name) == 0) {
            PUT(writer, "\n", indent, " * @param ", notes[i].argument, " ", notes[i].doc);
            is_open = true;
        }
    }
    PUT(writer, is_open ? "\n" : "", is_open ? indent : "", " */\n", indent);
}

static void typescript_member(ByteWriter *writer, const ApiRow *row, const char *indent)
{
    typescript_doc(writer, row, indent);
    switch (row->kind) {
    case API_KIND_FIELD:
    case API_KIND_ITEMS:
    case API_KIND_CONSTANT:
    case API_KIND_PROPERTY:
        typescript_field(writer, row);
        break;
    case API_KIND_EVENT:
        PUT(writer, "readonly ", row->name, ": Signal<[");
        typescript_arguments(writer, row->arguments);
        byte_write_chars(writer, "]>;\n");
        break;
    default:
        if (generic_member(row) != NULL) {
            byte_write_chars(writer, generic_member(row));
            break;
        }
        // A member called new would be a constructor without the quotes.
        PUT(writer, strcmp(row->name, "new") == 0 ? "\"new\"" : row->name, "(");
        if (is_static(row)) {
            PUT(writer, "this: void", row->arguments[0] != 0 ? ", " : "");
        }
        typescript_arguments(writer, row->arguments);
        byte_write_chars(writer, "): ");
        typescript_result(writer, row->returns);
        byte_write_chars(writer, ";\n");
        break;
    }
}

// Operators are members that TypeScriptToLua supports.
static const char vector_operators[] =
    "    readonly add: LuaAdditionMethod<Vector3, Vector3>;\n"
    "    readonly sub: LuaSubtractionMethod<Vector3, Vector3>;\n"
    "    readonly mul: LuaMultiplicationMethod<Vector3 | number, Vector3>;\n"
    "    readonly div: LuaDivisionMethod<Vector3 | number, Vector3>;\n"
    "    readonly unm: LuaNegationMethod<Vector3>;\n";

// Names of the API begin with a capital letter, so that a typing error in one is still found.
static const char own_fields[] = "type SmallLetter = \"_\" | \"a\" | \"b\" | \"c\" | \"d\" | \"e\" "
                                 "| \"f\" | \"g\" | \"h\" | \"i\" "
                                 "| \"j\" | \"k\" | \"l\" | \"m\" | \"n\" | \"o\" | \"p\" | \"q\" "
                                 "| \"r\" | \"s\" | \"t\" | \"u\" | "
                                 "\"v\" | \"w\" | \"x\" | \"y\" | \"z\";\n";
static const char own_field[] = "    /** Fields of your own begin with a small letter. */\n"
                                "    [own: `${SmallLetter}${string}`]: any;\n";

// Whether there are objects of this name, beside or instead of a library.
static bool has_objects(const ApiRow *owner)
{
    return owner->kind == API_KIND_CLASS || owner->kind == API_KIND_SHAPE ||
           owner_has(owner->name, API_KIND_METHOD);
}

static bool has_library(const ApiRow *owner)
{
    return owner->kind == API_KIND_GROUP || owner->kind == API_KIND_LIBRARY ||
           (owner->kind == API_KIND_CLASS && owner_has(owner->name, API_KIND_FUNCTION));
}

// Objects that keep what scripts set on them.
static bool keeps_fields(const ApiRow *owner)
{
    return strcmp(owner->name, "Entity") == 0;
}

static const char *generic_of(const ApiRow *owner)
{
    return strcmp(owner->name, "Signal") == 0      ? "<T extends any[] = any[]>"
           : strcmp(owner->name, "DataStore") == 0 ? "<T = any>"
                                                   : "";
}

// What TypeScriptToLua makes of `new Vector3(…)`.
static const char *constructor_of(const ApiRow *owner)
{
    return strcmp(owner->name, "Vector3") == 0 ? "\n * @customConstructor Vector3.new\n" : "";
}

static void typescript_interface(ByteWriter *writer, const ApiRow *owner, bool functions)
{
    const bool class_ = has_objects(owner);
    PUT(writer, "/** ", owner->doc, functions ? "" : constructor_of(owner), " */\ninterface ",
        owner->name, class_ && !functions ? "" : "Library", functions ? "" : generic_of(owner),
        " {\n");
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        const bool member = is_member(&rows[i], owner->name);
        if (member && (!class_ || is_static(&rows[i]) == functions)) {
            typescript_member(writer, &rows[i], "    ");
        }
    }
    if (strcmp(owner->name, "Vector3") == 0 && !functions) {
        byte_write_chars(writer, vector_operators);
    }
    if (keeps_fields(owner)) {
        byte_write_chars(writer, own_field);
    }
    byte_write_chars(writer, "}\n");
}

// Things of Lua that TypeScript cannot express.
static const char lua_declarations[] =
    "/** A coroutine. */\n"
    "declare interface LuaThread { readonly __thread: never }\n"
    "/** Raises an error; level 1 adds the line. */\n"
    "declare function error(this: void, message: any, level?: number): never;\n"
    "/** Calls a function: [true, result], or [false, error]. */\n"
    "declare function pcall<A extends any[], R>(this: void, callback: (this: void, ...args: A) => "
    "R, ...args: A): LuaMultiReturn<[true, R] | [false, any]>;\n"
    "/** Raises an error unless the value is there: with that message, if one is given. */\n"
    "declare function assert(this: void, value: unknown, message?: any): asserts value;\n"
    "/** How many arguments follow. */\n"
    "declare function select(this: void, what: \"#\", ...args: any[]): number;\n"
    "/** The arguments from that one on, counted from 1, or from the last by -1. */\n"
    "declare function select<T>(this: void, from: number, ...args: T[]): LuaMultiReturn<T[]>;\n"
    "/** Any value as text. */\n"
    "declare function tostring(this: void, value: any): string;\n"
    "/** Text as a number, or undefined. */\n"
    "declare function tonumber(this: void, value: any, base?: number): number | undefined;\n"
    "declare namespace math {\n"
    "    /** x, but not below `low` and not above `high`. */\n"
    "    function clamp(this: void, x: number, low: number, high: number): number;\n"
    "    /** The remainder with the sign of x; % has that of y. */\n"
    "    function fmod(this: void, x: number, y: number): number;\n"
    "    /** A smooth number between -1 and 1, the same on every machine. */\n"
    "    function noise(this: void, x: number, y?: number, z?: number): number;\n"
    "    /** A whole number as an integer, which prints without .0; else undefined. */\n"
    "    function tointeger(this: void, x: number): number | undefined;\n"
    "}\n"
    "declare namespace string {\n"
    "    /** As in C: %d, %5.2f, %s. */\n"
    "    function format(this: void, format: string, ...args: any[]): string;\n"
    "}\n";

static void write_typescript(ByteWriter *writer)
{
    byte_write_chars(writer, "// What Sandlot scripts can call.\n/// <reference types=\""
                             "@typescript-to-lua/language-extensions\" />\n");
    byte_write_chars(writer, lua_declarations);
    byte_write_chars(writer, own_fields);
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        const ApiRow *row = &rows[i];
        if (row->kind == API_KIND_WORDS) {
            PUT(writer, "/** ", row->doc, " */\ntype ", row->name, " = ");
            put_words(writer, row->arguments, " | ");
            byte_write_chars(writer, ";\n");
        } else if (is_owner(row) && has_objects(row)) {
            typescript_interface(writer, row, false);
        }
        if (has_library(row)) {
            typescript_interface(writer, row, true);
            PUT(writer, "declare const ", row->name, ": ", row->name, "Library;\n");
        } else if (row->kind == API_KIND_GLOBAL && strcmp(row->name, "require") != 0 &&
                   strcmp(row->name, "typeof") != 0) { // a word of the language
            PUT(writer, "/** ", row->doc, side_text(row->side), " */\ndeclare function ", row->name,
                "(this: void", row->arguments[0] != 0 ? ", " : "");
            typescript_arguments(writer, row->arguments);
            byte_write_chars(writer, "): ");
            typescript_result(writer, row->returns);
            byte_write_chars(writer, ";\n");
        }
    }
}

// --- Lua annotations ----------------------------------------------------------------------------

static void lua_signature(ByteWriter *writer, const ApiRow *row)
{
    ApiArgument parsed[API_ARGUMENTS_MAX];
    const uint32_t argument_count = api_parse_arguments(row->arguments, parsed);
    PUT(writer, "---", row->doc, side_text(row->side), "\n");
    for (uint32_t i = 0; i < argument_count; i++) {
        const char *note = api_reference_argument(row->owner, row->name, parsed[i].name);
        PUT(writer, "---@param ", parsed[i].name, parsed[i].optional ? "? " : " ");
        put_type(writer, parsed[i].type, false);
        PUT(writer, note != NULL ? " " : "", note != NULL ? note : "", "\n");
    }
    if (row->returns[0] != 0) {
        byte_write_chars(writer, "---@return ");
        put_type(writer, strncmp(row->returns, "...", 3) == 0 ? "any" : row->returns, false);
        byte_write_chars(writer, strncmp(row->returns, "...", 3) == 0 ? " ...\n" : "\n");
    }
    const char *joint = row->kind == API_KIND_METHOD ? ":" : row->owner[0] != 0 ? "." : "";
    PUT(writer, "function ", row->owner, joint, row->name, "(");
    for (uint32_t i = 0; i < argument_count; i++) {
        PUT(writer, i > 0 ? ", " : "", parsed[i].name);
    }
    byte_write_chars(writer, ") end\n\n");
}

// `fun(self: Entity, dt: number)`. A hook's self may be left out, so editors must not require it.
static void lua_function(ByteWriter *writer, const char *arguments)
{
    ApiArgument parsed[API_ARGUMENTS_MAX];
    const uint32_t argument_count = api_parse_arguments(arguments, parsed);
    byte_write_chars(writer, "fun(");
    for (uint32_t i = 0; i < argument_count; i++) {
        const bool is_optional = parsed[i].optional && strcmp(parsed[i].name, "self") != 0;
        PUT(writer, i > 0 ? ", " : "", parsed[i].name, is_optional ? "?: " : ": ");
        put_type(writer, parsed[i].type, false);
    }
    byte_write_chars(writer, ")");
}

// A signal whose handlers have typed arguments: a class of its own.
static void lua_event(ByteWriter *writer, const ApiRow *row)
{
    PUT(writer, "---", row->doc, "\n---@class ", row->owner, row->name, ": Signal\n");
    static const char *const names[] = {"Connect", "Once"};
    for (uint32_t i = 0; i < 2; i++) {
        PUT(writer, "---@field ", names[i], " fun(self: Signal, callback: ");
        lua_function(writer, row->arguments);
        byte_write_chars(writer, "): Connection\n");
    }
    byte_write_chars(writer, "\n");
}

static void lua_field(ByteWriter *writer, const ApiRow *row)
{
    if (row->kind == API_KIND_EVENT) {
        PUT(writer, "---@field ", row->name, " ", row->owner, row->name, " ", row->doc, "\n");
        return;
    }
    PUT(writer, "---@field ", row->kind == API_KIND_ITEMS ? "[integer]" : row->name, " ");
    put_type(writer, row->arguments, false);
    PUT(writer, " ", row->doc, "\n");
}

static bool is_lua_function(const ApiRow *row)
{
    return row->kind == API_KIND_FUNCTION || row->kind == API_KIND_METHOD ||
           row->kind == API_KIND_LUA;
}

static const char lua_operators[] = "---@operator add(Vector3): Vector3\n"
                                    "---@operator sub(Vector3): Vector3\n"
                                    "---@operator mul(Vector3): Vector3\n"
                                    "---@operator mul(number): Vector3\n"
                                    "---@operator div(Vector3): Vector3\n"
                                    "---@operator div(number): Vector3\n"
                                    "---@operator unm: Vector3\n";

// The objects of a name, or its library. The table of an object's methods is local: scripts have no
// such global.
static void lua_class(ByteWriter *writer, const ApiRow *owner, bool is_library)
{
    const bool has_both = has_objects(owner) && has_library(owner);
    PUT(writer, is_library ? "" : "do\n", "---", owner->doc, "\n---@class ", owner->name,
        is_library && has_both ? "Library\n" : "\n");
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        const bool here = !has_objects(owner) || is_static(&rows[i]) == is_library;
        if (is_member(&rows[i], owner->name) && here && !is_lua_function(&rows[i])) {
            lua_field(writer, &rows[i]);
        }
    }
    if (!is_library && keeps_fields(owner)) {
        byte_write_chars(writer, "---@field [string] any\n");
    }
    if (!is_library && strcmp(owner->name, "Vector3") == 0) {
        byte_write_chars(writer, lua_operators);
    }
    PUT(writer, is_library ? "" : "local ", owner->name, " = {}\n\n");
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        const bool here = !has_objects(owner) || is_static(&rows[i]) == is_library;
        if (is_member(&rows[i], owner->name) && here && is_lua_function(&rows[i])) {
            lua_signature(writer, &rows[i]);
        }
    }
    byte_write_chars(writer, is_library ? "" : "end\n\n");
}

static void write_lua(ByteWriter *writer)
{
    byte_write_chars(writer, "---@meta\n-- What Sandlot scripts can call.\n\n");
    for (uint32_t i = 0; i < ROW_COUNT; i++) {
        const ApiRow *row = &rows[i];
        if (row->kind == API_KIND_WORDS) {
            PUT(writer, "---", row->doc, "\n---@alias ", row->name, " ");
            put_words(writer, row->arguments, " | ");
            byte_write_chars(writer, "\n\n");
        } else if (is_owner(row) && has_objects(row)) {
            lua_class(writer, row, false);
        }
        if (has_library(row)) {
            lua_class(writer, row, true);
        }
        if (row->kind == API_KIND_GLOBAL) {
            lua_signature(writer, row);
        } else if (row->kind == API_KIND_EVENT) {
            lua_event(writer, row);
        } else if (row->kind == API_KIND_HOOK) {
            PUT(writer, "---", row->doc, "\n---@type ");
            lua_function(writer, row->arguments);
            PUT(writer, "\n", row->name, " = nil\n\n");
        }
    }
}

void api_reference_write(ApiFormat format, ByteWriter *writer)
{
    switch (format) {
    case API_FORMAT_TYPESCRIPT:
        write_typescript(writer);
        break;
    case API_FORMAT_LUA:
        write_lua(writer);
        break;
    default:
        api_reference_write_sides(true, true, writer);
        break;
    }
}

void api_reference_write_sides(bool server, bool client, ByteWriter *writer)
{
    write_markdown(&(Page){writer, server, client});
}

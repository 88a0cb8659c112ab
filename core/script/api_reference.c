// Three printers over the rows of api.def.
#include "core/script/api_reference.h"

#include "core/script/api.h"

#include <string.h>

static void put(ByteWriter *writer, const char *text)
{
    byte_write_bytes(writer, text, strlen(text));
}

static void put_all(ByteWriter *writer, const char *const *texts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put(writer, texts[i]);
    }
}
#define PUT(writer, ...)                                \
    put_all(writer, (const char *const[]){__VA_ARGS__}, \
            sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))

static bool is_member(const ApiRow *row, const char *owner)
{
    return strcmp(row->owner, owner) == 0 && row->kind != API_KIND_GROUP &&
           row->kind != API_KIND_CLASS;
}

static bool owner_has(const char *owner, ApiKind kind)
{
    uint32_t count = 0;
    const ApiRow *rows = api_rows(&count);
    for (uint32_t i = 0; i < count; i++) {
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
    const char *joint = row->kind == API_KIND_METHOD ? ":" : row->owner[0] != 0 ? "." : "";
    PUT(writer, "- `", row->owner, joint, row->name);
    switch (row->kind) {
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
}

// Which rows a page has: those of the sides it is for. API_KIND_GROUP: of every kind.
typedef struct Page {
    ByteWriter *writer;
    bool server, client;
} Page;

static bool is_on(const Page *page, const ApiRow *row)
{
    return row->side == API_SERVER ? page->server : row->side == API_CLIENT ? page->client : true;
}

static void markdown_section(const Page *page, const char *title, const char *doc,
                             const char *owner, ApiKind only)
{
    uint32_t count = 0;
    const ApiRow *rows = api_rows(&count);
    bool is_open = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_member(&rows[i], owner) || (only != API_KIND_GROUP && rows[i].kind != only) ||
            !is_on(page, &rows[i])) {
            continue;
        }
        if (!is_open) {
            PUT(page->writer, "\n## ", title, "\n", doc, doc[0] != 0 ? "\n\n" : "\n");
            is_open = true;
        }
        markdown_row(page->writer, &rows[i]);
    }
}

static void write_markdown(const Page *page)
{
    uint32_t count = 0;
    const ApiRow *rows = api_rows(&count);
    put(page->writer, "# Script reference\n\nEverything a script can call. A `?` marks what may be "
                      "left out. Methods work with a colon and with a dot.\n");
    markdown_section(page, "Hooks", "Functions that a script may define.", "", API_KIND_HOOK);
    markdown_section(page, "Globals", "", "", API_KIND_GLOBAL);
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].kind == API_KIND_GROUP || rows[i].kind == API_KIND_CLASS) {
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
    {"any", "any", "any"},
};

// One word of a type; classes keep their names.
static void put_word(ByteWriter *writer, const char *word, size_t bytes, bool typescript)
{
    if (bytes > 2 && word[0] == '{') {
        put_word(writer, word + 1, bytes - 2, typescript);
        put(writer, "[]");
        return;
    }
    for (uint32_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++) {
        if (strlen(type_names[i].ours) == bytes && memcmp(type_names[i].ours, word, bytes) == 0) {
            put(writer, typescript ? type_names[i].typescript : type_names[i].lua);
            return;
        }
    }
    byte_write_bytes(writer, word, bytes);
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
            put(writer, " | ");
        }
        word = stop != end ? stop + 3 : end;
    }
    if (optional) {
        put(writer, typescript ? " | undefined" : "?");
    }
}

// --- TypeScript ---------------------------------------------------------------------------------

static void typescript_arguments(ByteWriter *writer, const char *arguments)
{
    ApiArgument parsed[API_ARGUMENTS_MAX];
    const uint32_t count = api_parse_arguments(arguments, parsed);
    for (uint32_t i = 0; i < count; i++) {
        const ApiArgument *argument = &parsed[i];
        if (i > 0) {
            put(writer, ", ");
        }
        if (argument->variadic) {
            put(writer, "...args: any[]");
            continue;
        }
        // `function` and the like are words of the language.
        const bool reserved = strcmp(argument->name, "function") == 0;
        PUT(writer, reserved ? "callback" : argument->name, argument->optional ? "?: " : ": ");
        put_type(writer, argument->type, true);
    }
}

static void typescript_result(ByteWriter *writer, const char *returns)
{
    if (returns[0] == 0) {
        put(writer, "void");
    } else if (strncmp(returns, "...", 3) == 0 || strchr(returns, ',') != NULL) {
        put(writer, "LuaMultiReturn<any[]>");
    } else {
        put_type(writer, returns, true);
    }
}

static void typescript_member(ByteWriter *writer, const ApiRow *row, const char *indent)
{
    PUT(writer, indent, "/** ", row->doc, " */\n", indent);
    switch (row->kind) {
    case API_KIND_PROPERTY:
        PUT(writer, row->setter != NULL ? "" : "readonly ", row->name, ": ");
        put_type(writer, row->arguments, true);
        put(writer, ";\n");
        break;
    case API_KIND_EVENT:
        PUT(writer, "readonly ", row->name, ": Signal<[");
        typescript_arguments(writer, row->arguments);
        put(writer, "]>;\n");
        break;
    default:
        if (strcmp(row->owner, "Signal") == 0 &&
            strcmp(row->arguments, "callback: function") == 0) {
            PUT(writer, row->name, "(callback: (this: void, ...args: T) => void): Connection;\n");
            break;
        }
        // A member called new would be a constructor, but for the quotes.
        PUT(writer, strcmp(row->name, "new") == 0 ? "\"new\"" : row->name, "(");
        if (row->kind == API_KIND_FUNCTION) {
            PUT(writer, "this: void", row->arguments[0] != 0 ? ", " : "");
        }
        typescript_arguments(writer, row->arguments);
        put(writer, "): ");
        typescript_result(writer, row->returns);
        put(writer, ";\n");
        break;
    }
}

// Operators are members that TypeScriptToLua knows.
static const char vector_operators[] =
    "    readonly add: LuaAdditionMethod<Vector3, Vector3>;\n"
    "    readonly sub: LuaSubtractionMethod<Vector3, Vector3>;\n"
    "    readonly mul: LuaMultiplicationMethod<Vector3 | number, Vector3>;\n"
    "    readonly div: LuaDivisionMethod<Vector3 | number, Vector3>;\n"
    "    readonly unm: LuaNegationMethod<Vector3>;\n";

// Whether there are objects of this name, beside or instead of a library.
static bool has_objects(const ApiRow *owner)
{
    return owner->kind == API_KIND_CLASS || owner_has(owner->name, API_KIND_METHOD);
}

static void typescript_interface(ByteWriter *writer, const ApiRow *owner, bool functions)
{
    uint32_t count = 0;
    const ApiRow *rows = api_rows(&count);
    const bool class_ = has_objects(owner);
    const bool generic = strcmp(owner->name, "Signal") == 0 && !functions;
    PUT(writer, "/** ", owner->doc, " */\ninterface ", owner->name,
        class_ && !functions ? "" : "Library", generic ? "<T extends any[] = any[]>" : "", " {\n");
    for (uint32_t i = 0; i < count; i++) {
        const bool member = is_member(&rows[i], owner->name);
        if (member && (!class_ || (rows[i].kind == API_KIND_FUNCTION) == functions)) {
            typescript_member(writer, &rows[i], "    ");
        }
    }
    if (strcmp(owner->name, "Vector3") == 0) {
        put(writer, functions ? "    readonly zero: Vector3;\n    readonly one: Vector3;\n"
                                "    readonly xAxis: Vector3;\n    readonly yAxis: Vector3;\n"
                                "    readonly zAxis: Vector3;\n"
                              : vector_operators);
    }
    put(writer, "}\n");
}

// What Lua has and TypeScript has no words for.
static const char lua_declarations[] =
    "/** Raises an error; level 1 adds the line. */\n"
    "declare function error(this: void, message: any, level?: number): never;\n"
    "/** Calls a function: [true, result], or [false, error]. */\n"
    "declare function pcall<A extends any[], R>(this: void, callback: (this: void, ...args: A) => "
    "R, ...args: A): LuaMultiReturn<[true, R] | [false, any]>;\n"
    "/** Any value as text. */\n"
    "declare function tostring(this: void, value: any): string;\n"
    "/** Text as a number, or undefined. */\n"
    "declare function tonumber(this: void, value: any, base?: number): number | undefined;\n"
    "declare namespace os {\n"
    "    /** Seconds since 1970, of the server. */\n"
    "    function time(this: void): number;\n"
    "    /** Seconds since the world began. */\n"
    "    function clock(this: void): number;\n"
    "}\n"
    "declare namespace math {\n"
    "    /** The remainder with the sign of x; % has that of y. */\n"
    "    function fmod(this: void, x: number, y: number): number;\n"
    "    /** A whole number as an integer, which prints without .0; else undefined. */\n"
    "    function tointeger(this: void, x: number): number | undefined;\n"
    "}\n"
    "declare namespace string {\n"
    "    /** As in C: %d, %5.2f, %s. */\n"
    "    function format(this: void, format: string, ...args: any[]): string;\n"
    "}\n";

static void write_typescript(ByteWriter *writer)
{
    uint32_t count = 0;
    const ApiRow *rows = api_rows(&count);
    put(writer, "// What Sandlot scripts can call.\n/// <reference types=\""
                "@typescript-to-lua/language-extensions\" />\n");
    put(writer, lua_declarations);
    for (uint32_t i = 0; i < count; i++) {
        const ApiRow *row = &rows[i];
        const bool named = row->kind == API_KIND_CLASS || row->kind == API_KIND_GROUP;
        if (named && has_objects(row)) {
            typescript_interface(writer, row, false);
        }
        if (row->kind == API_KIND_GROUP ||
            (row->kind == API_KIND_CLASS && owner_has(row->name, API_KIND_FUNCTION))) {
            typescript_interface(writer, row, true);
            PUT(writer, "declare const ", row->name, ": ", row->name, "Library;\n");
        } else if (row->kind == API_KIND_GLOBAL && strcmp(row->name, "require") != 0) {
            PUT(writer, "/** ", row->doc, " */\ndeclare function ", row->name, "(this: void",
                row->arguments[0] != 0 ? ", " : "");
            typescript_arguments(writer, row->arguments);
            put(writer, "): ");
            typescript_result(writer, row->returns);
            put(writer, ";\n");
        }
    }
}

// --- Lua annotations ----------------------------------------------------------------------------

static void lua_signature(ByteWriter *writer, const ApiRow *row)
{
    ApiArgument parsed[API_ARGUMENTS_MAX];
    const uint32_t count = api_parse_arguments(row->arguments, parsed);
    PUT(writer, "---", row->doc, "\n");
    for (uint32_t i = 0; i < count; i++) {
        PUT(writer, "---@param ", parsed[i].name, parsed[i].optional ? "? " : " ");
        put_type(writer, parsed[i].type, false);
        put(writer, "\n");
    }
    if (row->returns[0] != 0) {
        put(writer, "---@return ");
        put_type(writer, strncmp(row->returns, "...", 3) == 0 ? "any" : row->returns, false);
        put(writer, strncmp(row->returns, "...", 3) == 0 ? " ...\n" : "\n");
    }
    const char *joint = row->kind == API_KIND_METHOD ? ":" : row->owner[0] != 0 ? "." : "";
    PUT(writer, "function ", row->owner, joint, row->name, "(");
    for (uint32_t i = 0; i < count; i++) {
        PUT(writer, i > 0 ? ", " : "", parsed[i].name);
    }
    put(writer, ") end\n\n");
}

static void lua_fields(ByteWriter *writer, const ApiRow *owner)
{
    uint32_t count = 0;
    const ApiRow *rows = api_rows(&count);
    PUT(writer, "---", owner->doc, "\n---@class ", owner->name, "\n");
    for (uint32_t i = 0; i < count; i++) {
        if (!is_member(&rows[i], owner->name)) {
            continue;
        }
        if (rows[i].kind == API_KIND_PROPERTY) {
            PUT(writer, "---@field ", rows[i].name, " ");
            put_type(writer, rows[i].arguments, false);
            PUT(writer, " ", rows[i].doc, "\n");
        } else if (rows[i].kind == API_KIND_EVENT) {
            PUT(writer, "---@field ", rows[i].name, " Signal ", rows[i].doc, "\n");
        }
    }
    PUT(writer, owner->name, " = {}\n\n");
}

static void write_lua(ByteWriter *writer)
{
    uint32_t count = 0;
    const ApiRow *rows = api_rows(&count);
    put(writer, "---@meta\n-- What Sandlot scripts can call.\n\n");
    for (uint32_t i = 0; i < count; i++) {
        const ApiRow *row = &rows[i];
        if (row->kind == API_KIND_GROUP || row->kind == API_KIND_CLASS) {
            lua_fields(writer, row);
        } else if (row->kind == API_KIND_FUNCTION || row->kind == API_KIND_METHOD ||
                   row->kind == API_KIND_GLOBAL) {
            lua_signature(writer, row);
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

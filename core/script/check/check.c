// See check.h. Each script has a Lua of its own, with the settings of a world's: what compiles here
// compiles and loads there, and no script changes what is said about the next.
#include "core/script/check/check.h"

#include "core/base/check.h"
#include "core/script/check/check_luau.h"
#include "core/script/check/check_refusal.h"
#include "core/script/lint/lint.h"
#include "core/script/luau/luau.h"
#include "core/script/rune/rune.h"

#include <lua.h>
#include <stdio.h>
#include <string.h>

_Static_assert(CHECK_PATH_BYTES == SCRIPT_PATH_BYTES, "one length for the path of a script");

typedef struct Check {
    Heap *heap;
    const CheckScript *script;
    const CheckSink *sink;
    const char *source; // without a mark before it
    size_t source_bytes;
    LintResult lint;
    CheckOutput output;
} Check;

static void report(Check *check, CheckLevel level, uint32_t line, const char *code,
                   const char *message)
{
    check->output.error_count += level == CHECK_ERROR;
    check_tell(check->sink, level, check->script->file, line, code, "%s", message);
}

// --- Lua's own errors ---------------------------------------------------------------------------

static uint32_t shown_line(const CheckScript *script, uint32_t line)
{
    const bool is_mapped = script->lines != NULL && line > 0 && line <= script->line_count;
    return is_mapped && script->lines[line - 1] > 0 ? script->lines[line - 1] : line;
}

// What Lua calls it, so that a fault names a file that a creator can open: its path with the ending
// of its source, or of the Lua that is kept beside a plain soul.
static void name_file(const CheckScript *script, char out[SCRIPT_FILE_BYTES])
{
    const char *found = strstr(script->file, script->path);
    const char *ending = found != NULL ? found + strlen(script->path) : "";
    (void)snprintf(out, SCRIPT_FILE_BYTES, "%s%s%s", script->path, ending,
                   strcmp(ending, ".soul") == 0 ? ".lua" : "");
}

const char *check_split_message(const char *name, const char *message, uint32_t *line)
{
    const size_t bytes = strlen(name);
    if (strncmp(message, name, bytes) != 0 || message[bytes] != ':') {
        return message;
    }
    const char *at = message + bytes + 1;
    uint32_t number = 0;
    while (*at >= '0' && *at <= '9' && number < 100000000) {
        number = number * 10 + (uint32_t)(*at++ - '0');
    }
    if (at[0] != ':' || at[1] != ' ') {
        return message;
    }
    *line = number;
    return at + 2;
}

static bool is_luau(const CheckScript *script)
{
    const size_t bytes = strlen(script->file), ending = strlen(".luau");
    return !script->is_generated && bytes > ending &&
           strcmp(script->file + bytes - ending, ".luau") == 0;
}

// "Workspace/Door.lua:12: unexpected symbol" → line 12 and the rest.
static void tell_syntax(Check *check, const char *name, const char *said)
{
    uint32_t line = 0;
    char message[CHECK_MESSAGE_BYTES];
    said = check_split_message(name, said, &line);
    const bool is_made = check->script->lines != NULL;
    const char *luau = is_made || is_luau(check->script)
                           ? NULL
                           : check_luau_find(check->source, check->source_bytes, line, &line);
    if (luau != NULL) {
        report(check, CHECK_ERROR, line, "luau", luau);
        return;
    }
    check_refusal_explain(said, is_made, message);
    report(check, CHECK_ERROR, shown_line(check->script, line), "syntax", message);
}

// --- lints --------------------------------------------------------------------------------------

static void tell_findings(Check *check)
{
    const LintResult *lint = &check->lint;
    for (uint32_t i = 0; i < lint->finding_count; i++) {
        const LintFinding *finding = &lint->findings[i];
        if (check->script->is_generated &&
            (finding->kind == LINT_SHADOWED || finding->kind == LINT_FOREIGN)) {
            continue; // names that nobody chose, or that the TypeScript compiler knows
        }
        if (check->script->lines != NULL && finding->kind == LINT_HOOK_PARAMETER) {
            continue; // the TypeScript compiler has told, with the column
        }
        report(check, finding->is_error ? CHECK_ERROR : CHECK_WARNING, finding->line,
               lint_kind_name(finding->kind), finding->message);
    }
    if (lint->dropped_count > 0) {
        char message[64];
        (void)snprintf(message, sizeof message, "there is more: %u findings did not fit",
                       lint->dropped_count);
        report(check, CHECK_WARNING, 0, "lint", message);
    }
}

static LintSide side_of(RunContext context)
{
    return context == CONTEXT_SERVER   ? LINT_SERVER
           : context == CONTEXT_CLIENT ? LINT_CLIENT
                                       : LINT_BOTH;
}

// The function is on top of the stack.
static void lint(Check *check, lua_State *lua)
{
    const CheckScript *script = check->script;
    const size_t path_bytes = strlen(script->path);
    check->lint.is_module =
        script_path_service(script->path, path_bytes) == SERVICE_REPLICATED_STORAGE;
    lint_function(lua, side_of(script->context), &check->lint);
    if (!script->is_generated) { // else its own text was looked at
        lint_text(check->source, check->source_bytes, &check->lint);
    }
    tell_findings(check);
    check->output.require_count = check->lint.require_count;
    check->output.asset_count = check->lint.asset_count;
    check->output.asks_world = check->lint.asks_world;
    check->output.asks_modules = check->lint.asks_modules;
}

// --- the rune -----------------------------------------------------------------------------------

static int count_piece(lua_State *lua, const void *piece, size_t bytes, void *user)
{
    (void)lua;
    (void)piece;
    *(size_t *)user += bytes;
    return 0;
}

// The function is on top of the stack. What no world takes is an error, with its size.
static Status write_rune(Check *check, lua_State *lua)
{
    const CheckScript *script = check->script;
    uint8_t *rune = heap_alloc(check->heap, RUNE_BYTES_MAX);
    if (rune == NULL) {
        return STATUS_LIMIT;
    }
    if (rune_write(lua, script->path, rune, RUNE_BYTES_MAX, &check->output.rune_bytes) ==
        STATUS_OK) {
        check->output.rune = rune;
        return STATUS_OK;
    }
    heap_free(check->heap, rune);
    size_t bytes = RUNE_HEADER_BYTES + strlen(script->path);
    (void)lua_dump(lua, count_piece, &bytes, 0);
    char message[128];
    (void)snprintf(message, sizeof message,
                   "compiles to %zu bytes, and a world takes at most %u: cut the script in two",
                   bytes, RUNE_BYTES_MAX);
    report(check, CHECK_ERROR, 0, "limit", message);
    return STATUS_MALFORMED;
}

// --- one script ---------------------------------------------------------------------------------

// What is compiled: the source itself, or the Lua of a Luau source, line by line.
static Status translate(Check *check, LuauLua *out)
{
    if (!is_luau(check->script)) {
        *out = (LuauLua){0};
        return STATUS_OK;
    }
    const Status status = luau_translate(check->heap, check->source, check->source_bytes, out);
    if (status == STATUS_MALFORMED) {
        report(check, CHECK_ERROR, out->line, "syntax", out->message);
    } else if (status == STATUS_OK && out->lua_bytes > SCRIPT_SOURCE_BYTES_MAX) {
        char message[128];
        (void)snprintf(message, sizeof message,
                       "its Lua has %zu KiB, and a script has at most %d: cut it in two",
                       (out->lua_bytes + 1023) >> 10, SCRIPT_SOURCE_BYTES_MAX >> 10);
        report(check, CHECK_ERROR, 0, "limit", message);
        luau_free(check->heap, out);
        return STATUS_MALFORMED;
    }
    return status;
}

static Status compile_text(Check *check, Vm *vm, const char *text, size_t bytes)
{
    lua_State *lua = vm_main(vm);
    char name[SCRIPT_FILE_BYTES];
    name_file(check->script, name);
    vm_push_environment(lua);
    if (vm_compile(lua, name, text, bytes, lua_gettop(lua)) != STATUS_OK) {
        tell_syntax(check, name, lua_tostring(lua, -1));
        return STATUS_MALFORMED;
    }
    if (check->script->lines != NULL) {
        const Status status = lint_map_lines(lua, check->script->lines, check->script->line_count);
        if (status != STATUS_OK) {
            return status;
        }
    }
    lint(check, lua);
    return write_rune(check, lua);
}

static Status compile(Check *check, Vm *vm)
{
    LuauLua made;
    Status status = translate(check, &made);
    if (status != STATUS_OK) {
        return status;
    }
    const bool is_made = made.lua != NULL;
    status = compile_text(check, vm, is_made ? made.lua : check->source,
                          is_made ? made.lua_bytes : check->source_bytes);
    luau_free(check->heap, &made);
    return status;
}

// Some editors begin a text with a mark that nobody sees; lines stay.
static void take_source(Check *check)
{
    const bool has_mark =
        check->script->source_bytes >= 3 && memcmp(check->script->source, "\xef\xbb\xbf", 3) == 0;
    const char *source = check->script->source_bytes > 0 ? check->script->source : "";
    check->source = source + (has_mark ? 3 : 0);
    check->source_bytes = check->script->source_bytes - (has_mark ? 3 : 0);
}

static bool take_room(Check *check)
{
    LintResult *lint = &check->lint;
    CheckOutput *output = &check->output;
    Heap *heap = check->heap;
    lint->finding_max = CHECK_FINDINGS_MAX;
    lint->require_max = CHECK_REQUIRES_MAX;
    lint->findings = heap_alloc(heap, CHECK_FINDINGS_MAX * sizeof *lint->findings);
    output->requires = heap_alloc(heap, CHECK_REQUIRES_MAX * sizeof *output->requires);
    output->require_lines = heap_alloc(heap, CHECK_REQUIRES_MAX * sizeof *output->require_lines);
    lint->requires = output->requires;
    lint->require_lines = output->require_lines;
    lint->asset_max = CHECK_ASSETS_MAX;
    output->assets = heap_alloc(heap, CHECK_ASSETS_MAX * sizeof *output->assets);
    lint->assets = output->assets;
    return lint->findings != NULL && output->requires != NULL && output->require_lines != NULL &&
           output->assets != NULL;
}

Status check_script(Heap *heap, const CheckScript *script, const CheckSink *sink, CheckOutput *out)
{
    ASSERT(strlen(script->path) < CHECK_PATH_BYTES && script->context < CONTEXT_COUNT);
    Check check = {.heap = heap, .script = script, .sink = sink};
    const VmConfig config = vm_config_default();
    Vm *vm = NULL;
    take_source(&check);
    Status status = STATUS_LIMIT;
    if (!check_refusal_fits(script->file, script->source_bytes, sink)) {
        status = STATUS_MALFORMED;
    } else if (take_room(&check) && vm_create(heap, &config, &vm) == STATUS_OK) {
        status = compile(&check, vm);
        vm_destroy(heap, vm);
    }
    heap_free(heap, check.lint.findings);
    if (status != STATUS_OK) {
        check_output_free(heap, &check.output);
    }
    *out = check.output;
    return status;
}

void check_output_free(Heap *heap, CheckOutput *output)
{
    heap_free(heap, output->rune);
    heap_free(heap, output->requires);
    heap_free(heap, output->require_lines);
    heap_free(heap, output->assets);
    *output = (CheckOutput){0};
}

// Luau against Lua written by hand: each pair of tests/script/luau logs the same values, and fails
// at the same lines. Then what is refused, with its line and its sentence, and hostile sources. The
// scripts call log(...), and fault(f), which logs the line at which f fails.
#include "core/script/check/check.h"
#include "core/script/check/check_list.h"
#include "core/script/luau/luau.h"
#include "core/script/vm/vm.h"
#include "tests/script/embedded.h"
#include "tests/support/test.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS    20000000
#define LOG_MAX  (64u << 10)
#define HEAP_MAX (256u << 20)
#define MEBIBYTE (1u << 20)

typedef struct Log {
    char text[LOG_MAX];
    size_t bytes;
} Log;

static Log *log_now;

static void put(const char *text, size_t bytes)
{
    if (log_now->bytes + bytes < LOG_MAX) {
        memcpy(log_now->text + log_now->bytes, text, bytes);
        log_now->bytes += bytes;
        log_now->text[log_now->bytes] = '\0';
    }
}

static int script_log(lua_State *lua)
{
    const int count = lua_gettop(lua);
    for (int i = 1; i <= count; i++) {
        size_t bytes;
        const char *value = luaL_tolstring(lua, i, &bytes);
        put(value, bytes);
        put("|", 1);
        lua_pop(lua, 1);
    }
    put("\n", 1);
    return 0;
}

// "script:12: what" → 12. What Lua says about a line is not compared: it names variables.
static void put_line(const char *message)
{
    uint32_t line = 0;
    char text[64];
    (void)check_split_message("script", message != NULL ? message : "", &line);
    (void)snprintf(text, sizeof text, "fails at line %u\n", line);
    put(text, strlen(text));
}

static int script_fault(lua_State *lua)
{
    lua_settop(lua, 1);
    if (lua_pcall(lua, 0, 0, 0) == LUA_OK) {
        put("does not fail\n", 14);
    } else {
        put_line(lua_tostring(lua, -1));
    }
    return 0;
}

// Runs Lua; what it logs, and where it ends.
static void run(const char *text, size_t bytes, Log *out)
{
    Heap heap = heap_make(HEAP_MAX);
    const VmConfig config = vm_config_default();
    Vm *vm;
    log_now = out;
    CHECK_OK(vm_create(&heap, &config, &vm));
    lua_State *thread = lua_newthread(vm_main(vm));
    vm_push_environment(thread);
    lua_pushcfunction(thread, script_log);
    lua_setfield(thread, -2, "log");
    lua_pushcfunction(thread, script_fault);
    lua_setfield(thread, -2, "fault");
    if (vm_compile(thread, "script", text, bytes, -1) != STATUS_OK) {
        put(lua_tostring(thread, -1), strlen(lua_tostring(thread, -1)));
    } else {
        int results;
        lua_remove(thread, 1);
        const VmOutcome outcome = vm_resume(vm, thread, 0, STEPS, &results);
        if (outcome == VM_ERROR) {
            put_line(lua_tostring(thread, -1));
        } else {
            put(outcome == VM_DONE ? "done\n" : "stopped\n", outcome == VM_DONE ? 5 : 8);
        }
    }
    vm_destroy(&heap, vm);
    CHECK_INT((int64_t)heap.bytes_now, 0);
}

// As Lua counts: \n, \r, and both together.
static uint32_t count_lines(const char *text, size_t bytes)
{
    uint32_t count = 1;
    for (size_t i = 0; i < bytes; i++) {
        const bool is_break = text[i] == '\n' || text[i] == '\r';
        const char next = i + 1 < bytes ? text[i + 1] : ' ';
        count += is_break;
        i += is_break && (next == '\n' || next == '\r') && next != text[i];
    }
    return count;
}

static const EmbeddedScript *file_named(const char *name)
{
    const EmbeddedScript *file = luau_files;
    while (file->name != NULL && strcmp(file->name, name) != 0) {
        file++;
    }
    return file;
}

static Log of_luau, of_lua;

static void check_pair(const EmbeddedScript *luau, const EmbeddedScript *lua)
{
    Heap heap = heap_make(HEAP_MAX);
    LuauLua made;
    of_luau.bytes = of_lua.bytes = 0;
    if (luau_translate(&heap, luau->text, luau->bytes, &made) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s:%u: %s", luau->name, made.line, made.message);
        return;
    }
    CHECK_INT(count_lines(made.lua, made.lua_bytes), count_lines(luau->text, luau->bytes));
    run(made.lua, made.lua_bytes, &of_luau);
    run(lua->text, lua->bytes, &of_lua);
    if (strcmp(of_luau.text, of_lua.text) != 0) {
        test_fail(__FILE__, __LINE__, "%s:\n%s\nand by hand:\n%s", luau->name, of_luau.text,
                  of_lua.text);
    }
    CHECK(strstr(of_luau.text, "fails at line") != NULL);
    luau_free(&heap, &made);
    CHECK_INT((int64_t)heap.bytes_now, 0);
}

TEST(each_form_does_what_its_lua_by_hand_does_at_the_same_lines)
{
    uint32_t count = 0;
    for (const EmbeddedScript *file = luau_files; file->name != NULL; file++) {
        const size_t bytes = strlen(file->name);
        if (strcmp(file->name + bytes - 5, ".luau") == 0) {
            char name[128];
            (void)snprintf(name, sizeof name, "%.*s", (int)bytes - 1, file->name);
            CHECK(file_named(name)->name != NULL);
            check_pair(file, file_named(name));
            count += 1;
        }
    }
    CHECK_INT(count, 7);
}

// Lua is Luau, as far as it has no goto: what needs no translation stays as it is.
TEST(plain_lua_stays_byte_for_byte)
{
    Heap heap = heap_make(HEAP_MAX);
    for (const EmbeddedScript *file = luau_files; file->name != NULL; file++) {
        LuauLua made;
        if (strstr(file->name, ".luau") != NULL || strstr(file->name, "iteration") != NULL) {
            continue;
        }
        CHECK_OK(luau_translate(&heap, file->text, file->bytes, &made));
        const char *text = strstr(made.lua, " in __luauiterate(") != NULL ? NULL : made.lua;
        CHECK(text == NULL ||
              (made.lua_bytes == file->bytes && memcmp(text, file->text, file->bytes) == 0));
        luau_free(&heap, &made);
    }
}

// --- what is refused ----------------------------------------------------------------------------

static void check_refused(const char *source, uint32_t line, const char *said)
{
    Heap heap = heap_make(HEAP_MAX);
    LuauLua made;
    const Status status = luau_translate(&heap, source, strlen(source), &made);
    if (status != STATUS_MALFORMED || made.line != line || strstr(made.message, said) == NULL) {
        test_fail(__FILE__, __LINE__, "%s: status %d, line %u: %s", source, (int)status, made.line,
                  made.message);
    }
    luau_free(&heap, &made);
    CHECK_INT((int64_t)heap.bytes_now, 0);
}

TEST(what_cannot_be_translated_is_an_error_at_its_line)
{
    check_refused("local a = 1\nlocal goto = 2", 2, "goto is a reserved word");
    check_refused("\n::label::", 2, "no labels");
    check_refused("type function F(t) return t end", 1, "a type function cannot be translated");
    check_refused("\n\ncontinue", 3, "continue is inside of a loop only");
    check_refused("for i = 1, 2 do\nlocal f = function()\ncontinue end end", 3, "inside of a loop");
    check_refused("repeat\nif a then continue end\nlocal b = 1\nuntil b", 4,
                  "the local b, which the continue in line 2 jumps over");
    check_refused("repeat\nif a then continue end\nlocal function b() end\nuntil x + b()", 4,
                  "the local b,");
    check_refused("local x = if a then 1", 1, "has an else");
    check_refused("local x =\nif a then 1\nelseif b then 2", 2, "has an else");
    check_refused("local s = `a {b c}`", 1, "'}' expected");
    check_refused("local s = `a\n{}`", 2, "an empty {}");
    check_refused("local s = `a {{1}}`", 1, "has no {{");
    check_refused("local s = `a", 1, "ends with a backtick");
    check_refused("f`a`", 1, "needs brackets");
    check_refused("a, b += 1", 1, "only one thing at a time");
    check_refused("f() += 1", 1, "changes a variable or a field");
    check_refused("local n = 0b102", 1, "digits 0 and 1");
    check_refused("local n = 0b1"
                  "000000000000000000000000000000000000000000000000000000000000000",
                  1, "at most 63 digits");
    check_refused("\nlocal __luau_table = 1", 2, "belong to the translation");
    check_refused("local x: = 1", 1, "a type is expected");
    check_refused("local x: {\na: number", 2, "'}' expected (to close '{' at line 1)");
    check_refused("function f() -> number end", 1, "begins with ':'");
    check_refused("if a then\nlocal b = 1\n", 3, "'end' expected (to close 'if' at line 1)");
    check_refused("local s = 'a\nb'", 1, "unfinished string");
    check_refused("--[[\n\n", 3, "unfinished long comment (starting at line 1)");
    check_refused("x = }", 1, "unexpected symbol near '}'");
    check_refused("return 1\nlocal x", 2, "<eof> expected near 'local'");
    check_refused("x", 1, "syntax error near <eof>");
}

// --- through the check --------------------------------------------------------------------------

static Status check_luau(Heap *heap, const char *file, const char *source, size_t bytes,
                         CheckList *list)
{
    CHECK_OK(check_list_create(heap, 16, list));
    const CheckSink sink = check_list_sink(list);
    const CheckScript script = {.path = "Workspace/Door",
                                .file = file,
                                .context = CONTEXT_BOTH,
                                .source = source,
                                .source_bytes = bytes};
    CheckOutput output;
    const Status status = check_script(heap, &script, &sink, &output);
    check_output_free(heap, &output);
    return status;
}

static void check_told(const char *file, const char *source, Status expected, uint32_t line,
                       const char *said)
{
    Heap heap = heap_make(HEAP_MAX);
    CheckList list;
    CHECK_INT(check_luau(&heap, file, source, strlen(source), &list), expected);
    CHECK_INT(list.count, said != NULL);
    if (list.count == 1 && said != NULL) {
        CHECK_INT(list.items[0].line, line);
        if (strstr(list.items[0].message, said) == NULL) {
            test_fail(__FILE__, __LINE__, "%s", list.items[0].message);
        }
    }
    check_list_destroy(&heap, &list);
}

TEST(a_file_that_ends_with_luau_is_translated_before_it_is_compiled)
{
    const char *source = "local n: number = 1\nn += 1\nfor _, v in { n } do print(`{v}`) end";
    check_told("Workspace/Door.luau", source, STATUS_OK, 0, NULL);
    check_told("SoulService/Workspace/Door.luau", source, STATUS_OK, 0, NULL);
    check_told("Workspace/Door.lua", source, STATUS_MALFORMED, 1, "");
    check_told("Workspace/Door.luau", "\nlocal x = = 1", STATUS_MALFORMED, 2, "unexpected symbol");
    // Lua's own errors, and lints, name the lines of the source.
    check_told("Workspace/Door.luau", "local t = {}\nt.a.b += 1\nbreak", STATUS_MALFORMED, 3,
               "break");
    check_told("Workspace/Door.luau", "local s = `\n{1}`\nprint(s, Wurld)", STATUS_OK, 3, "Wurld");
}

// --- hostile ------------------------------------------------------------------------------------

static void fill(char *text, size_t bytes, const char *with)
{
    const size_t length = strlen(with);
    for (size_t i = 0; i < bytes; i++) {
        text[i] = with[i % length];
    }
}

// Any answer is good but a crash; an error has a line of the source, and the Lua is bounded.
static void check_survives(const char *begin, const char *with, const char *end, size_t filled)
{
    const size_t before = strlen(begin), after = strlen(end);
    char *text = malloc(before + filled + after);
    CHECK(text != NULL);
    memcpy(text, begin, before);
    fill(text + before, filled, with);
    memcpy(text + before + filled, end, after);
    const size_t bytes = before + filled + after;
    Heap heap = heap_make(HEAP_MAX);
    LuauLua made;
    const Status status = luau_translate(&heap, text, bytes, &made);
    CHECK(status == STATUS_OK || status == STATUS_MALFORMED);
    CHECK(status == STATUS_OK || (made.line >= 1 && made.line <= count_lines(text, bytes)));
    CHECK(status == STATUS_OK || made.message[0] != '\0');
    CHECK(made.lua_bytes <= 64u * MEBIBYTE);
    CHECK(heap.bytes_peak <= 96u * MEBIBYTE);
    luau_free(&heap, &made);
    CHECK_INT((int64_t)heap.bytes_now, 0);
    free(text);
}

TEST(a_mebibyte_of_anything_is_answered)
{
    static const char *const pieces[] = {"`",
                                         "`{",
                                         "{`",
                                         "(",
                                         "{",
                                         "[",
                                         "[=",
                                         "]=]",
                                         "-",
                                         "--",
                                         "if ",
                                         "then",
                                         "if a ",
                                         "<",
                                         "a<",
                                         "a.",
                                         "a[",
                                         "a:b",
                                         "::",
                                         "x += ",
                                         "not ",
                                         "\\",
                                         "\"",
                                         "'",
                                         "1_",
                                         "0b1",
                                         "do ",
                                         "end ",
                                         "repeat ",
                                         "for ",
                                         "type A = ",
                                         ":(",
                                         "\n",
                                         "\r",
                                         "\r\n",
                                         "a ",
                                         "..",
                                         "...",
                                         "->",
                                         "|",
                                         "?",
                                         ">>",
                                         "@a ",
                                         "\xff",
                                         "x+=1 ",
                                         "a.b.c+=1 ",
                                         "function ",
                                         "function() ",
                                         "(a::b",
                                         "`\\",
                                         "local x:",
                                         "continue ",
                                         "goto ",
                                         "for a in b do ",
                                         "while a do continue end ",
                                         "if a then b else "};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        check_survives("", pieces[i], "", i < 12 ? MEBIBYTE : MEBIBYTE / 16);
        check_survives("local x = ", pieces[i], "", MEBIBYTE / 16);
        check_survives("local x: ", pieces[i], " = 1", MEBIBYTE / 16);
        check_survives("x = `", pieces[i], "`", MEBIBYTE / 16);
        check_survives("type A = ", pieces[i], "", MEBIBYTE / 16);
    }
}

TEST(a_line_of_a_mebibyte_is_translated)
{
    check_survives("local x = `", "a", "{1}`", MEBIBYTE);
    check_survives("local x = '", "\\q", "'", MEBIBYTE);
    check_survives("local x = 1", "_0", "", MEBIBYTE);
    check_survives("x = 1 ", "+ 1 ", "", MEBIBYTE);
    check_survives("", "f(a) ", "", MEBIBYTE);
}

static void check_depth(const char *open, const char *middle, const char *close, uint32_t depth,
                        bool is_taken)
{
    const size_t one = strlen(open), other = strlen(close), inside = strlen(middle);
    const size_t bytes = depth * (one + other) + inside;
    char *text = malloc(bytes + 1);
    CHECK(text != NULL);
    for (uint32_t i = 0; i < depth; i++) {
        memcpy(text + i * one, open, one);
        memcpy(text + depth * one + inside + i * other, close, other);
    }
    memcpy(text + depth * one, middle, inside);
    text[bytes] = '\0';
    Heap heap = heap_make(HEAP_MAX);
    LuauLua made;
    const Status status = luau_translate(&heap, text, bytes, &made);
    if ((status == STATUS_OK) != is_taken ||
        (!is_taken && strstr(made.message, "levels deep") == NULL)) {
        test_fail(__FILE__, __LINE__, "%s at %u: %s", open, depth, made.message);
    }
    luau_free(&heap, &made);
    free(text);
}

TEST(what_is_nested_too_deeply_is_told)
{
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t depth = i == 0 ? 50 : 100000;
        check_depth("do ", "", " end", depth, i == 0);
        check_depth("while a do ", "continue", " end", depth, i == 0);
        check_depth("repeat ", "continue", " until a", depth, i == 0);
        check_depth("f(function() ", "", " end)", depth, i == 0);
        check_depth("type A = {b: typeof(function() ", "", " end)}", depth / 3, i == 0);
        check_depth("if if a then b else c then ", "", " end", depth, i == 0);
    }
}

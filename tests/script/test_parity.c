// The same behaviour written in TypeScript and in Lua gives the same log, line for line, through
// the real compiler and the real runtime; and a fault of a TypeScript script names a line of the
// .ts file. The scripts are in tests/script/parity.
#define _GNU_SOURCE
#include "core/script/runtime/script_inside.h"
#include "server/build/ask/ask_compile.h"
#include "server/build/typescript/typescript.h"
#include "server/sys/file.h"
#include "tests/script/small_world.h"
#include "tests/support/test.h"
#include "tests/support/typescript_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX (256u << 10)

// --- sources ------------------------------------------------------------------------------------

static char *read_text(const char *name)
{
    char path[512];
    uint8_t *text = NULL;
    size_t bytes;
    snprintf(path, sizeof path, PARITY_FOLDER "/%s", name);
    if (file_read(path, TEXT_BYTES_MAX, &text, &bytes) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "cannot read %s", path);
        return strdup("");
    }
    return (char *)text;
}

// All of the folder's TypeScript as one place, compiled once.
static const struct {
    const char *file, *path;
} scripts[] = {
    {"life.ts", "Workspace/Life.ts"},
    {"library.ts", "ServerScriptService/Library.ts"},
    {"more.ts", "ServerScriptService/More.ts"},
    {"leave.ts", "ServerScriptService/Leave.ts"},
    {"Shapes.ts", "ReplicatedStorage/Shapes.ts"},
    {"remote_server.ts", "ServerScriptService/Remote.ts"},
    {"remote_client.ts", "StarterPlayer/Remote.ts"},
    {"store.ts", "ServerScriptService/Store.ts"},
    {"pauses.ts", "ServerScriptService/Pauses.ts"},
    {"rounds.ts", "ServerScriptService/Rounds.ts"},
    {"thrown.ts", "Workspace/Thrown.ts"},
    {"fault.ts", "StarterGui/Fault.ts"},
    {"nothing.ts", "StarterGui/Nothing.ts"},
    {"endless.ts", "StarterGui/Endless.ts"},
    {"rejected.ts", "StarterGui/Rejected.ts"},
    {"../tasks/promises.server.ts", "ServerScriptService/Promises.ts"},
    {"../tasks/tower.server.ts", "ServerScriptService/Tower.ts"},
};

static TypeScript *compiler(void)
{
    static TypeScript *one;
    if (one == NULL) {
        const TypeScriptConfig config = typescript_config_patient();
        CHECK_OK(typescript_create(&config, &one));
    }
    return one;
}

static const TypeScriptResult *compiled(void)
{
    static TypeScriptResult result;
    if (result.count > 0) {
        return &result;
    }
    TypeScriptPlace place = {0};
    char *texts[sizeof scripts / sizeof scripts[0]];
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        texts[i] = read_text(scripts[i].file);
        typescript_place_add(&place, scripts[i].path, texts[i]);
    }
    DiagnosticList diagnostics = {0};
    char reason[WORKER_REASON_BYTES];
    CHECK_OK(typescript_compile(compiler(), &place.list, NULL, &result, &diagnostics, reason));
    for (uint32_t i = 0; i < diagnostics.count; i++) {
        char line[1024];
        diagnostic_text(&diagnostics.items[i], "", line, sizeof line);
        test_fail(__FILE__, __LINE__, "%s", line);
    }
    diagnostic_list_free(&diagnostics);
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        free(texts[i]);
    }
    return &result;
}

static Worker *worker(void)
{
    static Worker *one;
    if (one == NULL) {
        const WorkerConfig config = worker_config_default();
        CHECK_OK(worker_create(&config, &one));
    }
    return one;
}

// As the build does it: Lua → rune with the lines of the source, in the worker.
static Status make_rune(const TypeScriptOutput *output, CompileOutput *out,
                        DiagnosticList *diagnostics)
{
    const CompileJob job = {.path = output->path,
                            .file = output->path,
                            .context = CONTEXT_BOTH,
                            .source = output->lua,
                            .source_bytes = output->lua_bytes,
                            .is_generated = true,
                            .lines = output->line_count > 0 ? output->lines : NULL,
                            .line_count = output->line_count};
    char reason[WORKER_REASON_BYTES];
    return compile_ask(
        &(BuildContext){.worker = worker(), .diagnostics = diagnostics, .reason = reason}, &job,
        NULL, out, NULL);
}

static bool load_mapped(ScriptSystem *system, const TypeScriptOutput *output)
{
    CompileOutput made = {0};
    DiagnosticList diagnostics = {0};
    Status status = make_rune(output, &made, &diagnostics);
    CHECK_INT(diagnostics.error_count, 0);
    if (status == STATUS_OK) {
        status = script_load_rune(system, output->path, made.rune, made.rune_bytes);
    }
    compile_output_free(&made);
    diagnostic_list_free(&diagnostics);
    CHECK_OK(status);
    return status == STATUS_OK;
}

static bool load_text(ScriptSystem *system, const char *path, const char *code)
{
    const CompileRequest request = {.script_id = path, .code = code, .code_bytes = strlen(code)};
    const CompileResult result = script_compile(system, &request);
    if (!result.ok) {
        test_fail(__FILE__, __LINE__, "%s", result.error);
    }
    return result.ok;
}

// A script in one of the two languages. What it imports is the same for both.
static void load(ScriptSystem *system, const char *path, const char *lua_file)
{
    const TypeScriptResult *result = compiled();
    for (uint32_t i = 0; i < result->count; i++) {
        const TypeScriptOutput *output = &result->items[i];
        const bool is_module = strncmp(output->path, "ReplicatedStorage/", 18) == 0;
        if (is_module || (lua_file == NULL && strcmp(output->path, path) == 0)) {
            (void)load_mapped(system, output);
        }
    }
    if (lua_file != NULL) {
        char *text = read_text(lua_file);
        (void)load_text(system, path, text);
        free(text);
    }
}

static uint32_t bind(SampleWorld *world, ScriptSide side, const char *path, const char *entity)
{
    ScriptSystem *system = sample_world_scripts(world, side);
    ScriptWorld *face = system->config.world;
    uint32_t instance = 0;
    const uint64_t id =
        entity != NULL ? face->methods->find(face, (Text){entity, strlen(entity)}) : 0;
    const InstanceDesc desc = {.script_id = path, .entity = id, .enabled = true};
    CHECK_OK(script_bind(system, &desc, &instance));
    return instance;
}

static void check_no_faults(SampleWorld *world)
{
    for (uint32_t side = 0; side < 2; side++) {
        ScriptFault fault;
        while (script_faults(sample_world_scripts(world, (ScriptSide)side), &fault, 1) != 0) {
            if (strstr(fault.message, "a message \"Typed\" from player1 was refused") != NULL) {
                continue; // remote_client sends it with wrong types
            }
            test_fail(__FILE__, __LINE__, "%s:%u: %s%s", fault.path, fault.line, fault.message,
                      fault.traceback);
        }
    }
}

// Plays one in both languages and compares; the log of the Lua must hold `last`.
static void compare(void (*play)(SampleWorld *world, bool is_lua), const char *last)
{
    static SmallLog first;
    for (uint32_t round = 0; round < 2; round++) {
        SampleWorld *world = small_world_open();
        play(world, round == 0);
        check_no_faults(world);
        if (round == 0) {
            first = small_log;
        }
        small_world_close(world);
    }
    if (strstr(first.text, last) == NULL) {
        test_fail(__FILE__, __LINE__, "no \"%s\" in:\n%s", last, first.text);
    }
    if (strcmp(first.text, small_log.text) != 0) {
        test_fail(__FILE__, __LINE__, "Lua says:\n%s\nTypeScript says:\n%s", first.text,
                  small_log.text);
    }
}

// --- the pairs ----------------------------------------------------------------------------------

static void play_life(SampleWorld *world, bool is_lua)
{
    ScriptSystem *system = sample_world_scripts(world, SCRIPT_SERVER);
    load(system, "Workspace/Life", is_lua ? "life.lua" : NULL);
    const uint32_t instance = bind(world, SCRIPT_SERVER, "Workspace/Life", "Zone");
    sample_world_step(world, 30);
    sample_world_input(world, &(SimInput){.move_x = 1}); // into the zone, and through it
    sample_world_step(world, 180);
    sample_world_input(world, &(SimInput){0});
    script_set_enabled(system, instance, false);
    sample_world_step(world, 5);
    script_set_enabled(system, instance, true);
    sample_world_step(world, 5);
    script_unbind(system, instance);
    sample_world_step(world, 30);
}

TEST(the_whole_life_of_a_script)
{
    compare(play_life, "destroy\tZone\n");
    CHECK(strstr(small_log.text, "enter\tZone\tPlayer\t1\n") != NULL);
    CHECK(strstr(small_log.text, "leave\tPlayer\t0\n") != NULL);
}

static void play_library(SampleWorld *world, bool is_lua)
{
    load(sample_world_scripts(world, SCRIPT_SERVER), "ServerScriptService/Library",
         is_lua ? "library.lua" : NULL);
    (void)bind(world, SCRIPT_SERVER, "ServerScriptService/Library", NULL);
    sample_world_step(world, 90);
}

TEST(the_library_of_the_language)
{
    compare(play_library, "through\n");
}

static void play_more(SampleWorld *world, bool is_lua)
{
    load(sample_world_scripts(world, SCRIPT_SERVER), "ServerScriptService/More",
         is_lua ? "more.lua" : NULL);
    (void)bind(world, SCRIPT_SERVER, "ServerScriptService/More", NULL);
    sample_world_step(world, 5);
}

TEST(the_rest_of_the_library)
{
    compare(play_more, "one\t1004\n");
}

static void play_leave(SampleWorld *world, bool is_lua)
{
    load(sample_world_scripts(world, SCRIPT_SERVER), "ServerScriptService/Leave",
         is_lua ? "leave.lua" : NULL);
    (void)bind(world, SCRIPT_SERVER, "ServerScriptService/Leave", NULL);
    sample_world_step(world, 5);
}

TEST(what_needs_care_to_become_lua)
{
    compare(play_leave, "nil\t1\t2\t5\t1\n");
}

static void play_remote(SampleWorld *world, bool is_lua)
{
    load(sample_world_scripts(world, SCRIPT_SERVER), "ServerScriptService/Remote",
         is_lua ? "remote_server.lua" : NULL);
    load(sample_world_scripts(world, SCRIPT_CLIENT), "StarterPlayer/Remote",
         is_lua ? "remote_client.lua" : NULL);
    (void)bind(world, SCRIPT_SERVER, "ServerScriptService/Remote", NULL);
    sample_world_step(world, 2);
    (void)bind(world, SCRIPT_CLIENT, "StarterPlayer/Remote", NULL);
    sample_world_step(world, 120);
}

TEST(messages_between_the_sides)
{
    compare(play_remote, "nobody\tfalse\tplayer1\n");
}

static void play_store(SampleWorld *world, bool is_lua)
{
    load(sample_world_scripts(world, SCRIPT_SERVER), "ServerScriptService/Store",
         is_lua ? "store.lua" : NULL);
    (void)bind(world, SCRIPT_SERVER, "ServerScriptService/Store", NULL);
    sample_world_step(world, 200);
}

TEST(data_that_is_kept)
{
    compare(play_store, "refused\n");
}

static void play_pauses(SampleWorld *world, bool is_lua)
{
    load(sample_world_scripts(world, SCRIPT_SERVER), "ServerScriptService/Pauses",
         is_lua ? "pauses.lua" : NULL);
    (void)bind(world, SCRIPT_SERVER, "ServerScriptService/Pauses", NULL);
    sample_world_step(world, 400);
}

TEST(async_functions_and_generators_that_wait)
{
    compare(play_pauses, "through\n");
}

static void play_rounds(SampleWorld *world, bool is_lua)
{
    load(sample_world_scripts(world, SCRIPT_SERVER), "ServerScriptService/Rounds",
         is_lua ? "rounds.lua" : NULL);
    (void)bind(world, SCRIPT_SERVER, "ServerScriptService/Rounds", NULL);
    sample_world_step(world, 20);
}

TEST(each_round_of_a_loop_has_its_own_variables)
{
    compare(play_rounds, "later\t0\n");
}

// --- what Lua refuses ---------------------------------------------------------------------------

// A source with a piece that is there `count` times, each time with its number for every #.
static char *write_source(const char *before, const char *piece, uint32_t count, const char *after)
{
    Buffer text = buffer_of(TEXT_BYTES_MAX);
    buffer_print(&text, "%s", before);
    for (uint32_t i = 0; i < count; i++) {
        for (const char *at = piece; *at != '\0'; at++) {
            buffer_print(&text, *at == '#' ? "%u" : "%c", *at == '#' ? i : (unsigned)*at);
        }
    }
    buffer_print(&text, "%s", after);
    buffer_put_u8(&text, 0);
    CHECK_OK(text.status);
    return (char *)text.data;
}

// All the way to a rune; with the messages that a build would print.
static Status make_all(const char *source, DiagnosticList *diagnostics)
{
    TypeScriptPlace place = {0};
    typescript_place_add(&place, "Workspace/One.ts", source);
    TypeScriptResult result = {0};
    char reason[WORKER_REASON_BYTES];
    Status status = typescript_compile(compiler(), &place.list, NULL, &result, diagnostics, reason);
    for (uint32_t i = 0; status == STATUS_OK && i < result.count; i++) {
        CompileOutput made = {0};
        status = make_rune(&result.items[i], &made, diagnostics);
        compile_output_free(&made);
    }
    typescript_result_free(&result);
    return status;
}

TEST(a_limit_of_lua_is_told_where_it_is_and_what_to_do)
{
    static const struct {
        const char *before, *piece, *after;
        uint32_t fine, many, line; // how many of the piece; where it is told
        const char *words;
    } rows[] = {
        {"export function f() {\n", "let v# = 1;\n", "}\n", 199, 201, 202, "at most 200 variables"},
        {"export {};\n", "function f#() {}\n", "", 190, 300, 0, "outside of all functions"},
        {"export const f = (...a: number[]) => a;\nf(\n", "#,\n", ");\n", 240, 300, 0,
         "one list instead of many"},
        {"export const f = (a: string) => a\n", " + a + #\n", ";\n", 60, 70, 0, "join many texts"},
        {"export const x: any =\n", "[\n", "1", 0, 130, 0, "levels deep"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (uint32_t round = 0; round < 2; round++) {
            const uint32_t count = round == 0 ? rows[i].fine : rows[i].many;
            char *after =
                write_source(rows[i].after, rows[i].piece[0] == '[' ? "]" : "", count, "");
            char *source = write_source(rows[i].before, rows[i].piece, count, after);
            DiagnosticList list = {0};
            const Status status = make_all(source, &list);
            const Diagnostic *item = list.items;
            const bool is_right =
                round == 0 ? status == STATUS_OK && list.error_count == 0
                           : status == STATUS_MALFORMED && list.error_count == 1 &&
                                 strstr(item->message, rows[i].words) != NULL && item->line > 1 &&
                                 (rows[i].line == 0 || item->line == rows[i].line);
            if (!is_right) {
                test_fail(__FILE__, __LINE__, "row %zu: %u of %s: %s, line %u: %s", i, count,
                          rows[i].piece, status_text(status), list.count > 0 ? item->line : 0,
                          list.count > 0 ? item->message : "");
            }
            diagnostic_list_free(&list);
            free(source);
            free(after);
        }
    }
}

// Whether a script is among those that are said to be wrong; each is, in its first line.
static bool is_refused(const DiagnosticList *list, const char *file)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const Diagnostic *item = &list->items[i];
        if (item->level == DIAGNOSTIC_ERROR && strcmp(item->file, file) == 0) {
            if (item->line != 1) {
                test_fail(__FILE__, __LINE__, "%s: line %u: %s", file, item->line, item->message);
            }
            return true;
        }
    }
    return false;
}

// Leaves the scripts that nothing is said of.
static void drop_refused(TypeScriptPlace *place, const DiagnosticList *list)
{
    const TypeScriptPlace all = *place;
    place->list.count = 0;
    for (uint32_t i = 0; i < all.list.count; i++) {
        if (!is_refused(list, all.files[i].path)) {
            typescript_place_add(place, all.files[i].path, (const char *)all.files[i].data);
        }
    }
}

// The scripts that Lua refuses of those that the compiler took. Its path is the file of a message.
static uint32_t count_refused_by_lua(const TypeScriptResult *result)
{
    uint32_t refused = 0;
    for (uint32_t i = 0; i < result->count; i++) {
        CompileOutput made = {0};
        DiagnosticList list = {0};
        if (make_rune(&result->items[i], &made, &list) != STATUS_OK) {
            CHECK(is_refused(&list, result->items[i].path));
            refused += 1;
        }
        compile_output_free(&made);
        diagnostic_list_free(&list);
    }
    return refused;
}

// A piece 20 to 129 times, as the scripts of one place: by itself each would take the compiler
// twice as long. Those that it refuses are left out, until it takes the rest.
static uint32_t count_refused(const char *const piece[4])
{
    static char names[TYPESCRIPT_PLACE_MAX][32];
    char *texts[TYPESCRIPT_PLACE_MAX];
    TypeScriptPlace place = {0};
    uint32_t all = 0;
    for (uint32_t count = 20; count < 130; count += 1 + (uint32_t)(count < 118) * 7) {
        char *after =
            write_source(piece[2], piece[3], count, strchr(piece[0], '{') != NULL ? "}\n" : ";\n");
        texts[all] = write_source(piece[0], piece[1], count, after);
        free(after);
        snprintf(names[all], sizeof names[all], "Workspace/Deep%u.ts", count);
        typescript_place_add(&place, names[all], texts[all]);
        all += 1;
    }
    Status status = STATUS_MALFORMED;
    uint32_t left = all + 1;
    uint32_t refused_by_lua = 0;
    while (status == STATUS_MALFORMED && place.list.count < left) {
        left = place.list.count;
        TypeScriptResult result = {0};
        DiagnosticList list = {0};
        char reason[WORKER_REASON_BYTES];
        status = typescript_compile(compiler(), &place.list, NULL, &result, &list, reason);
        if (status == STATUS_OK) {
            refused_by_lua = count_refused_by_lua(&result);
        } else {
            drop_refused(&place, &list);
        }
        typescript_result_free(&result);
        diagnostic_list_free(&list);
    }
    CHECK_OK(status);
    for (uint32_t i = 0; i < all; i++) {
        free(texts[i]);
    }
    return all - place.list.count + refused_by_lua;
}

// The compiler counts Lua's levels before Lua does: one that it missed would have no line.
TEST(what_is_not_too_deep_for_the_compiler_is_not_for_lua)
{
    static const char *const pieces[][4] = {
        {"export const x: any = ", "[", "1", "]"},
        {"export const f = (a: any) => ", "a(", "1", ")"},
        {"export const f = (a: any) => ", "a[", "1", "]"},
        {"export const f = (a: any) => ", "1 + (", "a", ")"},
        {"export const f = (a: any) => ", "-(", "a", ")"},
        {"export const f = (a: any) => ", "!", "a", ""},
        {"export const f = (a: string) => a", " + a", "", ""},
        {"export const f = (a: number) => 1", " ** a", "", ""},
        {"export const f = (a: any) => ", "() => ", "1", ""},
        {"export const f = (a: any) => ", "(() => { return ", "a", "; })()"},
        {"export const f = (a: number) => ", "a === 1 ? 2 : ", "3", ""},
        {"export const f = (a: number) => ", "a === 1 ? ", "3", " : undefined"},
        {"export const f = (a: any) => {", "{", "print(a);", "}"},
        {"export const f = (a: any) => {", "while (a) {", "print(a);", "}"},
        {"export const f = (a: any) => {", "try {", "print(a);", "} finally { print(1); }"},
        {"export const f = (a: any) => {", "switch (a) { case 1:", "print(a);", "}"},
        {"export const f = (a: any) => ", "[...", "a", "]"},
    };
    uint32_t refused = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        refused += count_refused(pieces[i]);
    }
    CHECK(refused > 20);
}

// --- the library --------------------------------------------------------------------------------

TEST(the_library_takes_little_of_a_call_and_of_memory)
{
    SampleWorld *world = small_world_open();
    ScriptSystem *system = sample_world_scripts(world, SCRIPT_CLIENT);
    const size_t before = vm_memory(system->vm).used_bytes;
    load(system, "StarterGui/Fault", NULL);
    (void)load_text(system, "StarterGui/One", "require('ReplicatedStorage/lualib_bundle')");
    (void)bind(world, SCRIPT_CLIENT, "StarterGui/One", NULL);
    sample_world_step(world, 1);
    ScriptStats stats;
    script_stats(system, &stats);
    const size_t bytes = vm_memory(system->vm).used_bytes - before;
    printf("the library: %llu steps, %zu bytes\n", (unsigned long long)stats.step_count, bytes);
    CHECK_INT(stats.fault_count, 0);
    CHECK(stats.step_count > 0);
    CHECK(stats.step_count < (uint64_t)system->config.call_ms * VM_STEPS_PER_MS / 10);
    CHECK(bytes < 1u << 20);
    small_world_close(world);
}

// --- faults -------------------------------------------------------------------------------------

// What fails in a script and its first ticks, in a world of its own.
static uint32_t faults_of(ScriptSide side, const char *path, ScriptFault *faults, uint32_t max)
{
    SampleWorld *world = small_world_open();
    ScriptSystem *system = sample_world_scripts(world, side);
    load(system, path, NULL);
    (void)bind(world, side, path, NULL);
    sample_world_step(world, 5);
    const uint32_t count = script_faults(system, faults, max);
    small_world_close(world);
    return count;
}

static void check_fault_lines(ScriptSide side)
{
    ScriptFault faults[8];
    const uint32_t count = faults_of(side, "StarterGui/Fault", faults, 8);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        const ScriptFault *fault = &faults[i];
        CHECK_TEXT(fault->path, "StarterGui/Fault");
        if (strcmp(fault->message, "TypeError: thrown") == 0) {
            CHECK_INT(fault->line, 17);
            seen |= 1;
        } else if (strstr(fault->message, "StarterGui/Fault:3:") != NULL) {
            CHECK_INT(fault->line, 3);
            CHECK(strstr(fault->traceback, "StarterGui/Fault:8:") != NULL);
            seen |= 2;
        } else if (strstr(fault->message, "Reduce of empty array") != NULL) {
            CHECK_INT(fault->line, 14); // in the library, called from there
            seen |= 4;
        } else {
            test_fail(__FILE__, __LINE__, "%u: %s", fault->line, fault->message);
        }
    }
    CHECK_INT(seen, 7);
}

// Nothing else would ever say that it failed.
static void check_rejected(ScriptSide side)
{
    ScriptFault faults[8];
    const uint32_t count = faults_of(side, "StarterGui/Rejected", faults, 8);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        CHECK_TEXT(faults[i].path, "StarterGui/Rejected");
        seen |= strstr(faults[i].message, "unhandled rejection: TypeError: nobody looked") ? 1 : 0;
        seen |= strstr(faults[i].message, "unhandled rejection: plain") ? 2 : 0;
        seen |= strstr(faults[i].message, "unhandled rejection: together") ? 4 : 0;
        const bool is_error = strstr(faults[i].message, "nobody looked") != NULL;
        const bool is_plain = strstr(faults[i].message, "plain") != NULL;
        CHECK_INT(faults[i].line, is_error ? 3 : is_plain ? 9 : 32);
    }
    CHECK(count == 3 && seen == 7);
}

static void check_endless(ScriptSide side)
{
    ScriptFault fault = {0};
    CHECK_INT(faults_of(side, "StarterGui/Endless", &fault, 1), 1);
    CHECK_INT(fault.kind, FAULT_BUDGET);
    if (fault.line < 5 || fault.line > 10) {
        test_fail(__FILE__, __LINE__, "line %u%s", fault.line, fault.traceback);
    }
}

TEST(a_budget_fault_names_a_line_of_its_loop_in_the_source)
{
    check_endless(SCRIPT_SERVER);
    check_endless(SCRIPT_CLIENT);
}

TEST(faults_name_lines_of_the_source_on_both_sides)
{
    check_fault_lines(SCRIPT_SERVER);
    check_fault_lines(SCRIPT_CLIENT);
}

TEST(a_value_that_has_no_members_is_a_fault_at_its_line)
{
    ScriptFault faults[4];
    CHECK_INT(faults_of(SCRIPT_SERVER, "StarterGui/Nothing", faults, 4), 2);
    for (uint32_t i = 0; i < 2; i++) {
        const bool is_nil = strstr(faults[i].message, "index a nil value") != NULL;
        CHECK(is_nil || strstr(faults[i].message, "index a number value") != NULL);
        CHECK_INT(faults[i].line, is_nil ? 4 : 6);
    }
}

// It was caught and raised again on its way, or is told later.
static const struct {
    const char *entity;
    struct {
        uint32_t line;
        const char *said;
    } faults[2];
} thrown[] = {
    {"Door", {{12, "index a nil value"}, {16, "Failure: code 16"}}},
    // A text has no line: that of the function.
    {"Platform",
     {{21, "unhandled rejection: attempt to index a nil value"},
      {26, "unhandled rejection: a text"}}},
    {"Zone",
     {{42, "unhandled rejection: TypeError: in an executor"},
      {44, "unhandled rejection: undefined"}}},
    {"Button", {{48, "Failure: code 48"}, {51, "unhandled rejection: Failure: code 51"}}},
};

static void check_thrown(ScriptSide side)
{
    for (size_t i = 0; i < sizeof thrown / sizeof thrown[0]; i++) {
        SampleWorld *world = small_world_open();
        ScriptSystem *system = sample_world_scripts(world, side);
        load(system, "Workspace/Thrown", NULL);
        (void)bind(world, side, "Workspace/Thrown", thrown[i].entity);
        sample_world_step(world, 150);
        ScriptFault faults[4];
        const uint32_t count = script_faults(system, faults, 4);
        CHECK_INT(count, 2);
        for (uint32_t j = 0; j < count && j < 2; j++) {
            if (faults[j].line != thrown[i].faults[j].line ||
                strstr(faults[j].message, thrown[i].faults[j].said) == NULL) {
                test_fail(__FILE__, __LINE__, "%u: %s, and not %u: %s", faults[j].line,
                          faults[j].message, thrown[i].faults[j].line, thrown[i].faults[j].said);
            }
        }
        small_world_close(world);
    }
}

TEST(an_error_names_the_line_where_it_was_thrown)
{
    check_thrown(SCRIPT_SERVER);
    check_thrown(SCRIPT_CLIENT);
}

TEST(a_rejection_that_nobody_handles_is_a_fault)
{
    check_rejected(SCRIPT_CLIENT);
    check_rejected(SCRIPT_SERVER);
}

// Those of tests/script/tasks (test_tasks.c) that are TypeScript.
TEST(tasks_of_creators)
{
    static const char *const paths[] = {"ServerScriptService/Promises",
                                        "ServerScriptService/Tower"};
    for (uint32_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "%s: done\n", paths[i]);
        SampleWorld *world = small_world_open();
        load(sample_world_scripts(world, SCRIPT_SERVER), paths[i], NULL);
        (void)bind(world, SCRIPT_SERVER, paths[i], NULL);
        sample_world_step(world, 120);
        check_no_faults(world);
        if (strstr(small_log.text, line) == NULL) {
            test_fail(__FILE__, __LINE__, "no \"%s\" in:\n%s", line, small_log.text);
        }
        small_world_close(world);
    }
}

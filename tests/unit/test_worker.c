// The build worker as a real process: this program starts itself as the worker (become below), or
// as one that misbehaves, chosen by the name of the link through which it was started. Tests what a
// stranger's bytes, a crash, a stop or a false reply of the worker does to a call, and that the
// next call works.
#define _GNU_SOURCE
#include "core/base/rng.h"
#include "core/base/sha256.h"
#include "core/base/utf8.h"
#include "core/script/rune/rune.h"
#include "server/build/ask/ask_compile.h"
#include "server/build/ask/ask_place.h"
#include "server/build/ask/worker_frame.h"
#include "server/sys/jail.h"
#include "tests/support/test.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LUA_DOOR "function onStart(self)\n  print(self.Name)\nend\n"

static Worker *make(void)
{
    const WorkerConfig config = worker_config_default();
    Worker *worker = NULL;
    CHECK_OK(worker_create(&config, &worker));
    return worker;
}

static Status compile(Worker *worker, const char *source, size_t bytes, CompileOutput *out,
                      DiagnosticList *list, char *reason)
{
    const CompileJob job = {.path = "Workspace/Door",
                            .file = "Workspace/Door.lua",
                            .context = CONTEXT_BOTH,
                            .source = source,
                            .source_bytes = bytes};
    return compile_ask(&(BuildContext){.worker = worker, .diagnostics = list, .reason = reason},
                       &job, NULL, out, NULL);
}

// The next job works, whatever came before.
static void check_works(Worker *worker)
{
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    const Status status = compile(worker, LUA_DOOR, strlen(LUA_DOOR), &out, &list, reason);
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s: %s", status_name(status), reason);
    }
    CHECK_INT(list.count, 0);
    compile_output_free(&out);
    diagnostic_list_free(&list);
}

// --- a good worker ------------------------------------------------------------------------------

TEST(a_script_becomes_a_rune)
{
    Worker *worker = make();
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    CHECK_INT(worker_pid(worker), 0);
    CHECK_OK(compile(worker, LUA_DOOR, strlen(LUA_DOOR), &out, &list, reason));
    CHECK(worker_pid(worker) > 0);
    Rune rune;
    uint8_t hash[32];
    CHECK_OK(rune_check(out.rune, out.rune_bytes, &rune));
    CHECK_TEXT(rune.path, "Workspace/Door");
    sha256_of(out.rune, out.rune_bytes, hash);
    CHECK_BYTES(out.rune_hash, hash, 32);
    CHECK_INT(list.count, 0);
    compile_output_free(&out);
    worker_destroy(worker);
}

TEST(a_syntax_error_names_its_line)
{
    Worker *worker = make();
    static const char source[] = "local a = 1\n\nif a then then end\n";
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    CHECK_INT(compile(worker, source, strlen(source), &out, &list, reason), STATUS_MALFORMED);
    REQUIRE(list.count == 1);
    CHECK_INT(list.items[0].line, 3);
    CHECK_TEXT(list.items[0].file, "Workspace/Door.lua");
    CHECK_TEXT(list.items[0].code, "syntax");
    CHECK_TEXT(list.items[0].message, "unexpected symbol near 'then'");
    CHECK_TEXT(reason, "Workspace/Door.lua does not compile");
    diagnostic_list_free(&list);
    check_works(worker);
    worker_destroy(worker);
}

// As editors on Windows save it.
TEST(a_byte_order_mark_is_not_seen)
{
    Worker *worker = make();
    static const char source[] = "\xef\xbb\xbflocal a = 1\r\nif a then then end\r\n";
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    CHECK_OK(compile(worker, source, 16, &out, &list, reason));
    CHECK_INT(list.count, 0);
    compile_output_free(&out);
    CHECK_INT(compile(worker, source, strlen(source), &out, &list, reason), STATUS_MALFORMED);
    REQUIRE(list.count == 1);
    CHECK_INT(list.items[0].line, 2);
    diagnostic_list_free(&list);
    worker_destroy(worker);
}

// Through the pipe or not: the same bytes.
TEST(the_rune_is_the_one_that_is_made_without_a_worker)
{
    Worker *worker = make();
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    REQUIRE(compile(worker, LUA_DOOR, strlen(LUA_DOOR), &out, &list, reason) == STATUS_OK);
    Heap heap = heap_make(64u << 20);
    const VmConfig config = vm_config_default();
    Vm *vm = NULL;
    uint8_t rune[4096];
    size_t bytes = 0;
    REQUIRE(vm_create(&heap, &config, &vm) == STATUS_OK);
    vm_push_environment(vm_main(vm));
    CHECK_OK(vm_compile(vm_main(vm), "Workspace/Door.lua", LUA_DOOR, strlen(LUA_DOOR), 1));
    CHECK_OK(rune_write(vm_main(vm), "Workspace/Door", rune, sizeof rune, &bytes));
    CHECK_INT(bytes, out.rune_bytes);
    CHECK_BYTES(rune, out.rune, bytes);
    vm_destroy(&heap, vm);
    compile_output_free(&out);
    worker_destroy(worker);
}

TEST(lints_requires_and_lines_come_along)
{
    static const char source[] = "local t = require('ReplicatedStorage/Tools')\n"
                                 "require('ReplicatedStorage/Arms')\n"
                                 "Wrold.Find(t)\n";
    static const uint32_t lines[] = {10, 20, 30};
    Worker *worker = make();
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    CompileJob job = {.path = "Workspace/Door",
                      .file = "Workspace/Door.ts",
                      .context = CONTEXT_BOTH,
                      .source = source,
                      .source_bytes = strlen(source),
                      .is_generated = true,
                      .lines = lines,
                      .line_count = 3};
    CHECK_OK(compile_ask(&(BuildContext){.worker = worker, .diagnostics = &list, .reason = reason},
                         &job, NULL, &out, NULL));
    REQUIRE(out.require_count == 2 && list.count == 1);
    CHECK_TEXT(out.requires[0], "ReplicatedStorage/Arms");
    CHECK_TEXT(out.requires[1], "ReplicatedStorage/Tools");
    CHECK_INT(out.require_lines[0], 20);
    CHECK_INT(out.require_lines[1], 10);
    CHECK_TEXT(list.items[0].file, "Workspace/Door.ts");
    CHECK_TEXT(list.items[0].code, "undefined-global");
    CHECK_INT(list.items[0].line, 30);
    CHECK_INT(list.items[0].level, DIAGNOSTIC_WARNING);
    compile_output_free(&out);
    diagnostic_list_free(&list);
    // A syntax error in Lua that was made has the line of its origin too.
    job.source = "\nlocal = 1\n";
    job.source_bytes = strlen(job.source);
    CHECK_INT(compile_ask(&(BuildContext){.worker = worker, .diagnostics = &list, .reason = reason},
                          &job, NULL, &out, NULL),
              STATUS_MALFORMED);
    REQUIRE(list.count == 1);
    CHECK_INT(list.items[0].line, 20);
    diagnostic_list_free(&list);
    worker_destroy(worker);
}

// Hooks are searched in what a script returns, but not in what a module returns; and what the
// TypeScript compiler reports of them is not reported twice.
TEST(hooks_that_a_script_returns)
{
    static const char source[] = "local M = {}\nfunction M.OnStart() end\n"
                                 "function M.onUpdate(dt) end\nreturn M\n";
    static const uint32_t lines[] = {10, 20, 30, 40};
    Worker *worker = make();
    for (uint32_t i = 0; i < 3; i++) {
        CompileOutput out;
        DiagnosticList list = {0};
        char reason[WORKER_REASON_BYTES];
        CompileJob job = {.path = i == 1 ? "ReplicatedStorage/Door" : "Workspace/Door",
                          .file = i == 2 ? "Workspace/Door.ts" : "Workspace/Door.lua",
                          .context = CONTEXT_BOTH,
                          .source = source,
                          .source_bytes = strlen(source),
                          .is_generated = i == 2,
                          .lines = i == 2 ? lines : NULL,
                          .line_count = i == 2 ? 4 : 0};
        CHECK_OK(
            compile_ask(&(BuildContext){.worker = worker, .diagnostics = &list, .reason = reason},
                        &job, NULL, &out, NULL));
        CHECK_INT(list.count, i == 0 ? 2 : i == 1 ? 0 : 1);
        if (i != 1 && list.count > 0) {
            CHECK_TEXT(list.items[0].code, "unknown-hook");
            CHECK_INT(list.items[0].line, i == 0 ? 2 : 20);
        }
        compile_output_free(&out);
        diagnostic_list_free(&list);
    }
    worker_destroy(worker);
}

// Lua shortens long names in its messages.
TEST(a_long_path_keeps_its_lines)
{
    Worker *worker = make();
    CompileOutput out;
    DiagnosticList list = {0};
    char path[SCRIPT_PATH_BYTES] = "Workspace/", reason[WORKER_REASON_BYTES];
    memset(path + 10, 'a', SCRIPT_PATH_BYTES - 11);
    const CompileJob job = {.path = path,
                            .file = "Workspace/a.lua",
                            .context = CONTEXT_BOTH,
                            .source = "\n\nx = =",
                            .source_bytes = 7};
    CHECK_INT(compile_ask(&(BuildContext){.worker = worker, .diagnostics = &list, .reason = reason},
                          &job, NULL, &out, NULL),
              STATUS_MALFORMED);
    REQUIRE(list.count == 1);
    CHECK_INT(list.items[0].line, 3);
    CHECK_TEXT(list.items[0].message, "unexpected symbol near '='");
    diagnostic_list_free(&list);
    worker_destroy(worker);
}

TEST(a_call_of_the_other_side_fails_the_compile)
{
    Worker *worker = make();
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    const CompileJob job = {.path = "StarterGui/Hud",
                            .file = "StarterGui/Hud.lua",
                            .context = CONTEXT_CLIENT,
                            .source = "Network.Broadcast('x')",
                            .source_bytes = 22};
    CHECK_INT(compile_ask(&(BuildContext){.worker = worker, .diagnostics = &list, .reason = reason},
                          &job, NULL, &out, NULL),
              STATUS_MALFORMED);
    REQUIRE(list.count == 1);
    CHECK_TEXT(list.items[0].code, "wrong-side");
    CHECK_INT(list.items[0].level, DIAGNOSTIC_ERROR);
    CHECK(out.rune == NULL);
    diagnostic_list_free(&list);
    worker_destroy(worker);
}

static void check_dry_run(Worker *worker, const char *source, RunContext context,
                          const char *message, uint32_t line)
{
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    const CompileJob job = {.path = "Workspace/Door",
                            .file = "Workspace/Door.lua",
                            .context = context,
                            .source = source,
                            .source_bytes = strlen(source),
                            .dry_run = true};
    CHECK_OK(compile_ask(&(BuildContext){.worker = worker, .diagnostics = &list, .reason = reason},
                         &job, NULL, &out, NULL));
    CHECK_INT(list.count, message != NULL);
    if (message != NULL && list.count == 1) {
        CHECK_TEXT(list.items[0].code, "dry-run");
        CHECK_INT(list.items[0].level, DIAGNOSTIC_WARNING);
        CHECK_INT(list.items[0].line, line);
        if (strstr(list.items[0].message, message) == NULL) {
            test_fail(__FILE__, __LINE__, "%s", list.items[0].message);
        }
    }
    compile_output_free(&out);
    diagnostic_list_free(&list);
}

TEST(a_dry_run_finds_what_fails_at_once)
{
    Worker *worker = make();
    check_dry_run(worker, LUA_DOOR, CONTEXT_BOTH, NULL, 0);
    check_dry_run(worker, "local a\n\na.b = 1\n", CONTEXT_SERVER,
                  "its top level fails in an empty world: attempt to index a nil value", 3);
    check_dry_run(worker, "local a\n\na.b = 1\n", CONTEXT_CLIENT, "index a nil value", 3);
    check_dry_run(worker, "\nlocal x while true do x = 1 end\n", CONTEXT_BOTH,
                  "its top level fails in an empty world: ran for more than 5 ms", 2);
    check_dry_run(worker, "local t = {}\nfor i = 1, 1e9 do t[i] = {i} end\n", CONTEXT_BOTH, "", 2);
    // Things of its own place are not here: no fault of the script.
    check_dry_run(worker, "World.Find('Gate').Position = nil\n", CONTEXT_SERVER, NULL, 0);
    check_dry_run(worker, "require('ReplicatedStorage/Tools')\n", CONTEXT_SERVER, NULL, 0);
    worker_destroy(worker);
}

#define MODULE(name, text)                                                                        \
    {                                                                                             \
        .path = "ReplicatedStorage/" name, .file = name, .context = CONTEXT_BOTH, .source = text, \
        .source_bytes = sizeof text - 1                                                           \
    }

TEST(a_dry_run_has_the_modules_it_is_given)
{
    static const uint32_t lines[] = {7, 8, 9};
    CompileJob modules[] = {
        MODULE("Tools", "local more = require('ReplicatedStorage/More')\nreturn {one = more}\n"),
        MODULE("More", "return 1\n"), MODULE("Bad", "\nlocal t\nreturn t.x\n"),
        MODULE("World", "return World.Find('Door').Position\n"), MODULE("Broken", "return = 1\n")};
    modules[2].lines = lines;
    modules[2].line_count = 3;
    static const struct {
        const char *source;
        uint32_t first, count; // of the modules
        const char *message;   // NULL: no message
        uint32_t line;
    } rows[] = {
        {"local t = require('ReplicatedStorage/Tools')\n\nprint(t.one + t.two)\n", 0, 2,
         "perform arithmetic on a nil value", 3},
        {"local t = require('ReplicatedStorage/Tools')\nprint(t.one + 1)\n", 0, 2, NULL, 0},
        {"\nrequire('ReplicatedStorage/Bad')\n", 2, 1, "ReplicatedStorage/Bad:9: ", 2},
        // What they ask of the place is not here, nor what only shows when it runs.
        {"require('ReplicatedStorage/World')\n", 3, 1, NULL, 0},
        {"require('ReplicatedStorage/Broken')\n", 4, 1, NULL, 0},
        {"require('ReplicatedStorage/' .. 'Mo' .. tostring('re2'))\n", 0, 2, NULL, 0},
        {"World.Find('Gate').x = require('ReplicatedStorage/More')\n", 0, 2, NULL, 0},
        {"require('ReplicatedStorage/More') while true do end\n", 1, 1, "more than 5 ms", 1}};
    Worker *worker = make();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CompileOutput out;
        DiagnosticList list = {0};
        char reason[WORKER_REASON_BYTES];
        const CompileJob job = {.path = "Workspace/Door",
                                .file = "Workspace/Door.lua",
                                .context = CONTEXT_BOTH,
                                .source = rows[i].source,
                                .source_bytes = strlen(rows[i].source),
                                .dry_run = true,
                                .modules = &modules[rows[i].first],
                                .module_count = rows[i].count};
        CHECK_OK(
            compile_ask(&(BuildContext){.worker = worker, .diagnostics = &list, .reason = reason},
                        &job, NULL, &out, NULL));
        CHECK_INT(list.count, rows[i].message != NULL);
        if (rows[i].message != NULL && list.count == 1) {
            CHECK_INT(list.items[0].line, rows[i].line);
            if (strstr(list.items[0].message, rows[i].message) == NULL) {
                test_fail(__FILE__, __LINE__, "%s", list.items[0].message);
            }
        }
        CHECK(rows[i].count > 0 // then only the dry run is wanted
                  ? out.rune == NULL
                  : out.asks_world == (strstr(rows[i].source, "World.") != NULL));
        compile_output_free(&out);
        diagnostic_list_free(&list);
    }
    worker_destroy(worker);
}

// A world takes a rune as one entry, so what is larger must not be built.
TEST(a_rune_that_no_world_takes_is_an_error)
{
    enum { LINES = 60000 }; // 4 bytes each, and two instructions
    static char source[4 * LINES + 1];
    for (size_t i = 0; i < LINES; i++) {
        memcpy(source + 4 * i, "a=b\n", 5);
    }
    Worker *worker = make();
    const CompileJob job = {.path = "Workspace/Long",
                            .file = "Workspace/Long.lua",
                            .context = CONTEXT_BOTH,
                            .source = source,
                            .source_bytes = sizeof source - 1};
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES] = "";
    const BuildContext context = {.worker = worker, .diagnostics = &list, .reason = reason};
    CHECK_INT(compile_ask(&context, &job, NULL, &out, NULL), STATUS_MALFORMED);
    const Diagnostic *found = NULL;
    for (uint32_t i = 0; i < list.count; i++) {
        found = list.items[i].level == DIAGNOSTIC_ERROR ? &list.items[i] : found;
    }
    REQUIRE(found != NULL && list.error_count == 1);
    CHECK_TEXT(found->file, "Workspace/Long.lua");
    CHECK_TEXT(found->code, "limit");
    CHECK_TEXT(found->message,
               "compiles to 605392 bytes, and a world takes at most 524288: cut the script in two");
    diagnostic_list_free(&list);
    compile_output_free(&out);
    worker_destroy(worker);
}

// --- scenes -------------------------------------------------------------------------------------

#define PLACE_JSON                                                                             \
    "{\"format\": 1, \"name\": \"Pier\", \"tickRate\": 30, \"snapshotRate\": 10, \"limits\": " \
    "{\"players\": 7, "                                                                        \
    "\"entities\": 90}}"
#define SCENE_JSON                                                                      \
    "{\"format\": 1, \"entities\": [{\"id\": 1, \"name\": \"S\", \"type\": \"spawn\", " \
    "\"transform\": {\"position\": [0, 0, 0]}}]}"

static Status place(Worker *worker, const char *scene, PlaceOutput *out, DiagnosticList *list,
                    char *reason)
{
    PlaceFile files[] = {
        {"Workspace/Door.lua", (const uint8_t *)LUA_DOOR, strlen(LUA_DOOR)},
        {"place.json", (const uint8_t *)PLACE_JSON, strlen(PLACE_JSON)},
        {"scene.json", (const uint8_t *)scene, strlen(scene)},
    };
    const PlaceFolder folder = {.files = files, .file_count = 3};
    return place_ask(&(BuildContext){.worker = worker, .diagnostics = list, .reason = reason},
                     &folder, (PlaceAssetPaths){0}, out);
}

TEST(a_scene_is_compiled_as_without_a_worker)
{
    static const char scene[] = SCENE_JSON;
    Worker *worker = make();
    PlaceOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    const Status status = place(worker, scene, &out, &list, reason);
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s %s", reason, list.count > 0 ? list.items[0].message : "");
    }
    Heap heap = heap_make(64u << 20);
    static uint8_t whole[1 << 16], stripped[1 << 16];
    const PlaceFile files[] = {{"place.json", (const uint8_t *)PLACE_JSON, strlen(PLACE_JSON)},
                               {"scene.json", (const uint8_t *)scene, strlen(scene)}};
    PlaceError error;
    ByteWriter one = byte_writer(whole, sizeof whole);
    ByteWriter two = byte_writer(stripped, sizeof stripped);
    REQUIRE(place_compile(&heap, files, 2, &one, &error) == STATUS_OK);
    REQUIRE(place_strip(&heap, whole, one.at, &two) == STATUS_OK);
    CHECK_INT(out.whole_bytes, one.at);
    CHECK_INT(out.stripped_bytes, two.at);
    CHECK_BYTES(out.whole, whole, one.at);
    CHECK_BYTES(out.stripped, stripped, two.at);
    CHECK_TEXT(out.facts.name, "Pier");
    CHECK(out.facts.tick_rate == 30 && out.facts.player_max == 7 && out.facts.entity_max == 90);
    place_output_free(&out);
    worker_destroy(worker);
}

// A host uses these numbers: one that no place can have is rejected, wherever it comes from.
TEST(facts_that_no_place_can_have_are_refused)
{
    static const struct {
        PlaceFacts facts;
        Status status;
    } rows[] = {
        {{"", 30, 0, 1}, STATUS_OK},
        {{"T\xc3\xbcr", 60, 4000, 65536}, STATUS_OK},
        {{"a", 31, 1, 1}, STATUS_MALFORMED},
        {{"a", 61, 1, 1}, STATUS_MALFORMED},
        {{"a", 60, 4001, 1}, STATUS_MALFORMED},
        {{"a", 60, 1, 0}, STATUS_MALFORMED},
        {{"a", 60, 1, 65537}, STATUS_MALFORMED},
        {{"a\nb", 60, 1, 1}, STATUS_MALFORMED},
        {{"\x1b[31m", 60, 1, 1}, STATUS_MALFORMED},
        {{"\xc2\x9b", 60, 1, 1}, STATUS_MALFORMED},
        {{"\xff", 60, 1, 1}, STATUS_MALFORMED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Buffer reply = buffer_of(1024);
        buffer_put_u32(&reply, 0); // no diagnostics
        buffer_put_block(&reply, "whole", 5);
        place_facts_write(&rows[i].facts, &reply);
        buffer_put_block(&reply, "stripped", 8);
        buffer_put_block(&reply, "frame", 5);
        PlaceOutput out = {0};
        DiagnosticList list = {0};
        CHECK_INT(place_read_reply(&reply, STATUS_OK, &out, &list), rows[i].status);
        CHECK((out.whole != NULL) == (rows[i].status == STATUS_OK));
        place_output_free(&out);
        buffer_free(&reply);
    }
}

TEST(a_wrong_scene_is_a_diagnostic)
{
    Worker *worker = make();
    PlaceOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    CHECK_INT(place(worker, "{\"format\": 1,\n \"entities\": 3}", &out, &list, reason),
              STATUS_MALFORMED);
    REQUIRE(list.count == 1);
    CHECK_TEXT(list.items[0].file, "scene.json");
    CHECK_INT(list.items[0].line, 2);
    CHECK(strncmp(list.items[0].message, "$.entities must be", 18) == 0);
    CHECK(out.whole == NULL);
    diagnostic_list_free(&list);
    const PlaceFolder nothing = {0};
    CHECK_INT(place_ask(&(BuildContext){.worker = worker, .diagnostics = &list, .reason = reason},
                        &nothing, (PlaceAssetPaths){0}, &out),
              STATUS_MALFORMED);
    diagnostic_list_free(&list);
    check_works(worker);
    worker_destroy(worker);
}

// --- hostile scripts ----------------------------------------------------------------------------

static void fill(char *out, size_t bytes, const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i < bytes; i++) {
        out[i] = text[i % length];
    }
}

// Sources that make a compiler slow, deep or large: each is an error with a line or a rune, the
// worker lives through it, and it is the same worker that takes the next.
TEST(sources_that_hurt_compilers)
{
    static const char *const pieces[] = {"(",
                                         "{",
                                         "[[",
                                         "f(",
                                         "function() ",
                                         "do ",
                                         "if x then ",
                                         "a.",
                                         "-",
                                         "not ",
                                         "x=",
                                         "x={1,2,3} ",
                                         "'a'..",
                                         "return ",
                                         "::a",
                                         "--[==[",
                                         "\"",
                                         "\\",
                                         "goto a ",
                                         "local a<close> ",
                                         "\n",
                                         "1,",
                                         "a,",
                                         "{{},{}},",
                                         "0x",
                                         "1e",
                                         "a=function(...) ",
                                         "while 1 do ",
                                         "for i=1,2 do ",
                                         "repeat ",
                                         "\xff\xfe",
                                         "~",
                                         "#a"};
    static char source[VM_SOURCE_BYTES_MAX];
    Worker *worker = make();
    check_works(worker);
    const pid_t pid = worker_pid(worker);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        CompileOutput out;
        DiagnosticList list = {0};
        char reason[WORKER_REASON_BYTES];
        fill(source, sizeof source, pieces[i]);
        const Status status = compile(worker, source, sizeof source, &out, &list, reason);
        if (status != STATUS_OK && (status != STATUS_MALFORMED || list.error_count == 0)) {
            test_fail(__FILE__, __LINE__, "%s: %s: %s", pieces[i], status_name(status), reason);
        }
        compile_output_free(&out);
        diagnostic_list_free(&list);
    }
    CHECK_INT(worker_pid(worker), pid);
    check_works(worker);
    CHECK_INT(worker_pid(worker), pid);
    worker_destroy(worker);
}

TEST(large_sources)
{
    static char source[VM_SOURCE_BYTES_MAX + 1];
    Worker *worker = make();
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    fill(source, sizeof source, "a=1;");
    CHECK_OK(compile(worker, source, sizeof source - 1, &out, &list, reason));
    compile_output_free(&out);
    CHECK_INT(compile(worker, source, sizeof source, &out, &list, reason), STATUS_MALFORMED);
    REQUIRE(list.count == 1);
    CHECK_TEXT(list.items[0].message, "a script has at most 256 KiB");
    diagnostic_list_free(&list);
    // One long string; then a table of very many constants.
    memset(source, 'x', sizeof source);
    memcpy(source, "return \"", 8);
    source[sizeof source - 2] = '"';
    CHECK_OK(compile(worker, source, sizeof source - 1, &out, &list, reason));
    compile_output_free(&out);
    size_t at = (size_t)snprintf(source, sizeof source, "return {");
    for (uint32_t i = 0; at + 20 < sizeof source; i++) {
        at += (size_t)snprintf(source + at, sizeof source - at, "%u.5,", i);
    }
    at += (size_t)snprintf(source + at, sizeof source - at, "}");
    const Status status = compile(worker, source, at, &out, &list, reason);
    CHECK(status == STATUS_OK || status == STATUS_MALFORMED);
    compile_output_free(&out);
    diagnostic_list_free(&list);
    check_works(worker);
    worker_destroy(worker);
}

// What a person reads is one line of UTF-8, whatever the source has in it.
TEST(messages_are_text)
{
    static const char source[] = "local \"\xff\xfe\x80 \x1b[31m\xc3\xa9\"";
    Worker *worker = make();
    CompileOutput out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    CHECK_INT(compile(worker, source, strlen(source), &out, &list, reason), STATUS_MALFORMED);
    REQUIRE(list.count == 1);
    CHECK(utf8_is_valid(list.items[0].message, strlen(list.items[0].message)));
    CHECK(strchr(list.items[0].message, 0x1b) == NULL);
    diagnostic_list_free(&list);
    worker_destroy(worker);
}

// --- random bytes for every op ------------------------------------------------------------------

TEST(random_bytes_for_every_op)
{
    static uint8_t bytes[1 << 16];
    Worker *worker = make();
    Rng rng = rng_make(test_seed(), 7);
    // The first that unpacks starts another one, with what that takes.
    for (uint32_t op = 0; op < WORKER_OP_COUNT; op++) {
        pid_t pid = 0;
        for (uint32_t turn = 0; turn < 20; turn++) {
            Buffer reply;
            char reason[WORKER_REASON_BYTES] = "";
            const size_t count = turn == 0 ? 0 : rng_below(&rng, turn < 10 ? 64 : sizeof bytes);
            for (size_t i = 0; i < count; i++) {
                bytes[i] = (uint8_t)(turn % 3 == 0 ? rng_below(&rng, 4) : rng_below(&rng, 256));
            }
            const Status status = worker_call(worker, (WorkerOp)op, bytes, count, &reply, reason);
            if (status == STATUS_BLOCKED || (status != STATUS_OK && reason[0] == '\0')) {
                test_fail(__FILE__, __LINE__, "op %u, turn %u: %s: %s", op, turn,
                          status_name(status), reason);
            }
            buffer_free(&reply);
            pid = turn == 0 ? worker_pid(worker) : pid;
        }
        const bool is_first = op == WORKER_CONTEXTS || op == WORKER_MANIFEST; // a process for each
        CHECK((worker_pid(worker) == pid) != is_first);
    }
    check_works(worker);
    worker_destroy(worker);
}

// A worker that has read anything does not decide which scripts are secret, nor what was signed;
// and one that has read pictures compiles nothing.
TEST(a_process_never_goes_back_to_what_is_believed_more)
{
    static const struct {
        WorkerOp op;
        bool is_another; // than the process before
    } rows[] = {{WORKER_CONTEXTS, true}, {WORKER_CONTEXTS, true},     {WORKER_COMPILE, false},
                {WORKER_PLACE, false},   {WORKER_SCENE_REF, false},   {WORKER_CONTEXTS, true},
                {WORKER_ASSET, false},   {WORKER_MODEL_FILES, false}, {WORKER_COMPILE, true},
                {WORKER_MODEL, false},   {WORKER_CONTEXTS, true},     {WORKER_MODEL_ANSWER, false},
                {WORKER_MANIFEST, true}, {WORKER_MANIFEST, true},     {WORKER_ASSET_LIST, false}};
    Worker *worker = make();
    pid_t before = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Buffer reply;
        char reason[WORKER_REASON_BYTES];
        CHECK(worker_call(worker, rows[i].op, "x", 1, &reply, reason) != STATUS_BLOCKED);
        buffer_free(&reply);
        if ((worker_pid(worker) != before) != rows[i].is_another) {
            test_fail(__FILE__, __LINE__, "row %zu", i);
        }
        before = worker_pid(worker);
    }
    worker_destroy(worker);
}

// --- the jail -----------------------------------------------------------------------------------

TEST(the_worker_is_behind_every_layer_that_is_here)
{
    Worker *worker = make();
    CHECK_INT(worker_layers(worker), 0);
    check_works(worker);
    const uint32_t here = jail_layers_here();
    CHECK_INT(worker_layers(worker) & here, here);
    // Not only by its own word: as the kernel has it.
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)worker_pid(worker));
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL);
    int seccomp = -1, no_new_privileges = -1, uid = -1, threads = -1;
    while (fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, "Seccomp: %d", &seccomp);
        (void)sscanf(line, "NoNewPrivs: %d", &no_new_privileges);
        (void)sscanf(line, "Uid: %d", &uid);
        (void)sscanf(line, "Threads: %d", &threads);
    }
    fclose(file);
    CHECK_INT(seccomp, 2);
    CHECK_INT(no_new_privileges, 1);
    CHECK_INT(threads, 1);
    CHECK(uid != 0);
    worker_destroy(worker);
}

// Standard streams, and the one to its builder.
TEST(the_worker_has_no_other_descriptors)
{
    Worker *worker = make();
    check_works(worker);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)worker_pid(worker));
    DIR *list = opendir(path); // root may look into a process that nobody may dump
    int count = 0;
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    if (list != NULL) {
        closedir(list);
        CHECK_INT(count, 4);
    }
    worker_destroy(worker);
}

// --- workers that die, stop and lie -------------------------------------------------------------

static int open_descriptors(void)
{
    int count = 0;
    DIR *list = opendir("/proc/self/fd");
    while (list != NULL && readdir(list) != NULL) {
        count += 1;
    }
    closedir(list);
    return count;
}

static bool is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

// Never to "process 0", which would be all of us.
static void signal_one(pid_t pid, int number)
{
    CHECK(pid > 0);
    if (pid > 0) {
        kill(pid, number);
    }
}

TEST(one_that_died_while_idle_is_replaced)
{
    Worker *worker = make();
    check_works(worker);
    const pid_t pid = worker_pid(worker);
    signal_one(pid, SIGKILL);
    siginfo_t info;
    CHECK_INT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    check_works(worker);
    CHECK(worker_pid(worker) != pid);
    CHECK(is_gone(pid)); // and is no zombie
    worker_destroy(worker);
}

// Behaves by the name of the link that it was started through.
#define LINK_FOLDER "/tmp/sandlot-test-worker-XXXXXX"
static char link_folder[] = LINK_FOLDER;

static Worker *make_bad(const char *behaviour, uint32_t quiet_ms)
{
    if (link_folder[strlen(link_folder) - 1] == 'X' && mkdtemp(link_folder) == NULL) {
        return NULL;
    }
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", link_folder, behaviour);
    char self[256];
    const ssize_t bytes = readlink("/proc/self/exe", self, sizeof self - 1);
    self[bytes > 0 ? bytes : 0] = '\0';
    (void)unlink(path);
    if (symlink(self, path) != 0) {
        return NULL;
    }
    WorkerConfig config = worker_config_default();
    config.program = path;
    config.quiet_ms = quiet_ms;
    Worker *worker = NULL;
    CHECK_OK(worker_create(&config, &worker));
    return worker;
}

__attribute__((destructor)) static void remove_links(void)
{
    DIR *list = opendir(link_folder);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        if (entry->d_name[0] != '.') {
            (void)unlinkat(dirfd(list), entry->d_name, 0);
        }
    }
    if (list != NULL) {
        closedir(list);
        (void)rmdir(link_folder);
    }
}

static void say(const void *bytes, size_t count)
{
    (void)!send(WORKER_DESCRIPTOR, bytes, count, MSG_NOSIGNAL);
}

static void say_header(uint8_t kind, uint64_t bytes)
{
    uint8_t header[WORKER_HEADER_BYTES] = {kind};
    for (int i = 0; i < 8; i++) {
        header[1 + i] = (uint8_t)(bytes >> (8 * i));
    }
    say(header, sizeof header);
}

static void say_ready(void)
{
    say_header(WORKER_READY, 4);
    say("\x3f\0\0\0", 4);
}

static void listen_to_all(void)
{
    uint8_t bytes[4096];
    struct pollfd look = {.fd = WORKER_DESCRIPTOR, .events = POLLIN};
    while (poll(&look, 1, 50) > 0 && recv(WORKER_DESCRIPTOR, bytes, sizeof bytes, 0) > 0) {
    }
}

static void flood(uint8_t kind)
{
    static uint8_t bytes[1 << 16];
    say_header(kind, 300u << 20);
    for (;;) {
        if (send(WORKER_DESCRIPTOR, bytes, sizeof bytes, MSG_NOSIGNAL) < 0) {
            _exit(0);
        }
    }
}

#define RIVALS 7

// From now on it gets an eighth of one processor. Before the worker says anything: making processes
// takes processor time of its own, much with sanitizers.
static void share_processor(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    (void)sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < RIVALS; i++) {
        if (fork() == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            while (getppid() != 1 && clock() < 2 * CLOCKS_PER_SEC) {
            }
            _exit(0);
        }
    }
}

// For 80 ms of processor time.
static void work(void)
{
    const clock_t began = clock();
    while (clock() - began < 80 * CLOCKS_PER_SEC / 1000) {
    }
}

_Noreturn static void behave(const char *how)
{
    const bool is_first =
        strcmp(how, "mute") != 0 && strcmp(how, "noise") != 0 && strcmp(how, "refuse") != 0;
    if (strcmp(how, "starved") == 0) {
        share_processor();
    }
    if (is_first) {
        say_ready();
    }
    if (strcmp(how, "hasty") != 0) {
        listen_to_all();
    }
    if (strcmp(how, "noise") == 0) {
        say("GET / HTTP/1.1\r\n\r\n", 18);
    } else if (strcmp(how, "refuse") == 0) {
        say_header(WORKER_REFUSED, 9);
        say("no\x1b luck\n\n", 9);
    } else if (strcmp(how, "crash") == 0) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    } else if (strcmp(how, "abort") == 0) {
        signal(SIGABRT, SIG_DFL);
        raise(SIGABRT);
    } else if (strcmp(how, "exit") == 0) {
        _exit(3);
    } else if (strcmp(how, "starved") == 0) {
        work();
        _exit(3);
    } else if (strcmp(how, "twice") == 0) {
        say_ready();
    } else if (strcmp(how, "huge") == 0) {
        say_header(WORKER_RESULT, UINT64_MAX);
    } else if (strcmp(how, "endless") == 0) {
        flood(WORKER_RESULT);
    } else if (strcmp(how, "short") == 0) {
        say_header(WORKER_RESULT, 3);
        say("abc", 3);
    } else if (strcmp(how, "empty") == 0) {
        say_header(WORKER_RESULT, 0);
    } else if (strcmp(how, "status") == 0) {
        say_header(WORKER_RESULT, 8);
        say("\xff\0\0\0\0\0\0\0", 8);
    } else if (strcmp(how, "reason") == 0) {
        say_header(WORKER_RESULT, 8);
        say("\1\0\0\0\xff\xff\xff\xff", 8);
    } else if (strcmp(how, "nonsense") == 0) {
        say_header(WORKER_RESULT, 12);
        say("\0\0\0\0\0\0\0\0\xff\xff\xff\xff", 12);
    } else if (strcmp(how, "blocked") == 0) {
        say_header(WORKER_RESULT, 8);
        say("\x8\0\0\0\0\0\0\0", 8);
    } else if (strcmp(how, "rune") == 0) { // no diagnostics, and an invalid rune
        say_header(WORKER_RESULT, 8 + 4 + 4 + 5 + 4);
        say("\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0SLRNx\0\0\0\0", 25);
    } else if (strcmp(how, "more") == 0 || strcmp(how, "hasty") == 0) {
        uint8_t both[2][WORKER_HEADER_BYTES + 8] = {{WORKER_RESULT, 8}, {WORKER_RESULT, 8}};
        say(both, strcmp(how, "more") == 0 ? sizeof both : sizeof both[0]);
    } else if (strcmp(how, "progress") == 0) {
        say_header(WORKER_PROGRESS, 7);
    } else if (strcmp(how, "closed") == 0) {
        close(WORKER_DESCRIPTOR);
    }
    for (;;) {
        pause();
    }
}

__attribute__((constructor(101))) static void become_bad(int argc, char **argv)
{
    const char *name = (const char *)getauxval(AT_EXECFN);
    const char *how = name != NULL ? strrchr(name, '/') : NULL;
    if (argc == 2 && strcmp(argv[1], "build-worker") == 0 && how != NULL &&
        strstr(name, "sandlot-test-worker-") != NULL && strcmp(how, "/good") != 0) {
        behave(how + 1);
    }
}

static void check_bad(const char *behaviour, uint32_t quiet_ms, const char *message)
{
    Worker *worker = make_bad(behaviour, quiet_ms);
    REQUIRE(worker != NULL);
    for (int i = 0; i < 2; i++) { // each call gets a new one
        CompileOutput out;
        DiagnosticList list = {0};
        char reason[WORKER_REASON_BYTES];
        const Status status = compile(worker, LUA_DOOR, strlen(LUA_DOOR), &out, &list, reason);
        if (status != STATUS_BLOCKED || strstr(reason, message) == NULL) {
            test_fail(__FILE__, __LINE__, "%s: %s: %s", behaviour, status_name(status), reason);
        }
        CHECK(out.rune == NULL);
        CHECK_INT(list.count, 0);
        CHECK_INT(worker_pid(worker), 0);
    }
    worker_destroy(worker);
}

TEST(workers_that_lie)
{
    const int before = open_descriptors();
    check_bad("noise", 10000, "nonsense");
    check_bad("refuse", 10000, "cannot lock itself in: no  luck ");
    check_bad("crash", 10000, "crashed (Segmentation fault)");
    check_bad("abort", 10000, "crashed (Aborted)");
    check_bad("exit", 10000, "ended by itself (exit code 3)");
    check_bad("twice", 10000, "nonsense");
    check_bad("huge", 10000, "too much");
    check_bad("short", 10000, "nonsense");
    check_bad("empty", 10000, "nothing");
    check_bad("status", 10000, "nonsense");
    check_bad("reason", 10000, "nonsense");
    check_bad("nonsense", 10000, "nonsense");
    check_bad("rune", 10000, "nonsense");
    check_bad("more", 10000, "more than it was asked");
    check_bad("progress", 10000, "nonsense");
    check_bad("closed", 10000, "was killed");
    CHECK_INT(open_descriptors(), before);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD); // no zombie either
}

TEST(a_worker_without_a_sign_is_ended)
{
    check_bad("mute", 200, "gave no sign of progress for 0.2 s and was ended");
    check_bad("quiet", 200, "gave no sign of progress for 0.2 s and was ended");
}

// On a busy machine a worker that works cannot say so: only its own time counts.
TEST(a_worker_that_waits_for_a_processor_is_not_silent)
{
    check_bad("starved", 300, "ended by itself (exit code 3)");
}

// A good rune, but of another script; a rune beside an error; requires out of order.
TEST(answers_that_do_not_fit_the_question)
{
    Worker *worker = make();
    CompileOutput made, out;
    DiagnosticList list = {0};
    char reason[WORKER_REASON_BYTES];
    REQUIRE(compile(worker, LUA_DOOR, strlen(LUA_DOOR), &made, &list, reason) == STATUS_OK);
    CompileJob job = {.path = "Workspace/Door", .file = "Workspace/Door.lua"};
    for (int wrong = 0; wrong < 5; wrong++) {
        Buffer reply = buffer_of(1u << 20);
        DiagnosticList inside = {0};
        if (wrong == 2) {
            diagnostic_addf(&inside, DIAGNOSTIC_ERROR, "elsewhere.lua", 1, 1, "syntax", "no");
        }
        diagnostic_list_write(&inside, &reply);
        buffer_put_block(&reply, made.rune, made.rune_bytes);
        buffer_put_u32(&reply, wrong == 3 ? 2 : 0);
        for (int i = 0; i < (wrong == 3 ? 2 : 0); i++) {
            buffer_put_u32(&reply, 1);
            buffer_put_block(&reply, i == 0 ? "b" : "a", 1);
        }
        buffer_put_u8(&reply, 0);
        buffer_put_u32(&reply, 0); // assets
        buffer_put(&reply, "x", wrong == 4);
        job.path = wrong == 1 ? "Workspace/Other" : "Workspace/Door";
        const Status status = compile_read_reply(&reply, STATUS_OK, &job, &out, &list);
        CHECK_INT(status, wrong == 0 ? STATUS_OK : STATUS_MALFORMED);
        if (status == STATUS_OK) {
            CHECK_BYTES(out.rune_hash, made.rune_hash, 32);
            compile_output_free(&out);
        }
        diagnostic_list_free(&inside);
        buffer_free(&reply);
    }
    CHECK_INT(list.count, 0);
    compile_output_free(&made);
    worker_destroy(worker);
}

// The worker cannot say in our name that it died or that somebody cancelled.
TEST(a_status_that_is_not_the_workers_to_give)
{
    Worker *worker = make_bad("blocked", 10000);
    Buffer reply;
    char reason[WORKER_REASON_BYTES];
    CHECK_INT(worker_call(worker, WORKER_COMPILE, "x", 1, &reply, reason), STATUS_MALFORMED);
    buffer_free(&reply);
    worker_destroy(worker);
}

TEST(a_program_that_is_not_there)
{
    WorkerConfig config = worker_config_default();
    config.program = "/nowhere/sandlot";
    Worker *worker = NULL;
    REQUIRE(worker_create(&config, &worker) == STATUS_OK);
    Buffer reply;
    char reason[WORKER_REASON_BYTES];
    CHECK_INT(worker_call(worker, WORKER_COMPILE, "x", 1, &reply, reason), STATUS_BLOCKED);
    CHECK_TEXT(reason, "the build worker could not be started");
    buffer_free(&reply);
    worker_destroy(worker);
}

TEST(a_request_that_is_too_large_is_not_even_sent)
{
    Worker *worker = make();
    Buffer reply;
    char reason[WORKER_REASON_BYTES];
    CHECK_INT(worker_call(worker, WORKER_PLACE, "x", WORKER_REQUEST_MAX + 1, &reply, reason),
              STATUS_LIMIT);
    CHECK_INT(worker_pid(worker), 0);
    buffer_free(&reply);
    worker_destroy(worker);
}

// --- from outside, in the middle of a request
// -----------------------------------------------------

typedef struct Meddler {
    Worker *worker;
    int signal;
    atomic_bool cancel;
    atomic_bool is_over;
} Meddler;

// Waits until the worker is in the middle of its request, then does its deed.
static void *meddle(void *user)
{
    Meddler *meddler = user;
    const struct timespec moment = {0, 20000000};
    nanosleep(&moment, NULL);
    while (!atomic_load(&meddler->is_over)) {
        const pid_t pid = worker_pid(meddler->worker);
        if (meddler->signal == 0) {
            atomic_store(&meddler->cancel, true);
        } else if (pid > 0) {
            kill(pid, meddler->signal);
            return NULL;
        }
        nanosleep(&moment, NULL);
    }
    return NULL;
}

// A worker that listens and never answers is in the middle of a request for as long as one likes.
static void check_meddled(int signal_number, uint32_t quiet_ms, Status want, const char *message)
{
    Meddler meddler = {.worker = make_bad("quiet", quiet_ms), .signal = signal_number};
    worker_watch(meddler.worker, &meddler.cancel, NULL, NULL);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, meddle, &meddler) == 0);
    Buffer reply;
    char reason[WORKER_REASON_BYTES];
    const Status status = worker_call(meddler.worker, WORKER_COMPILE, "x", 1, &reply, reason);
    atomic_store(&meddler.is_over, true);
    pthread_join(thread, NULL);
    CHECK_INT(status, want);
    CHECK_TEXT(reason, message);
    CHECK_INT(worker_pid(meddler.worker), 0);
    buffer_free(&reply);
    worker_destroy(meddler.worker);
}

TEST(killed_in_the_middle)
{
    check_meddled(SIGKILL, 10000, STATUS_BLOCKED,
                  "the build worker was killed, by hand or because memory ran out");
}

TEST(stopped_in_the_middle)
{
    check_meddled(SIGSTOP, 500, STATUS_BLOCKED,
                  "the build worker gave no sign of progress for 0.5 s and was ended");
}

TEST(cancelled_in_the_middle)
{
    check_meddled(0, 10000, STATUS_DENIED, "cancelled");
}

// A stopped worker does not read: a large request fills the pipe and stays there.
TEST(a_large_request_to_a_worker_that_does_not_read)
{
    WorkerConfig config = worker_config_default();
    config.quiet_ms = 2000; // long enough for a start on a busy machine
    Worker *worker = NULL;
    REQUIRE(worker_create(&config, &worker) == STATUS_OK);
    check_works(worker);
    signal_one(worker_pid(worker), SIGSTOP);
    const size_t bytes = 16u << 20;
    uint8_t *request = calloc(1, bytes);
    Buffer reply;
    char reason[WORKER_REASON_BYTES];
    CHECK_INT(worker_call(worker, WORKER_COMPILE, request, bytes, &reply, reason), STATUS_BLOCKED);
    CHECK_TEXT(reason, "the build worker gave no sign of progress for 2 s and was ended");
    buffer_free(&reply);
    free(request);
    check_works(worker);
    worker_destroy(worker);
}

// --- memory -------------------------------------------------------------------------------------

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(a_worker_has_only_its_memory)
{
    WorkerConfig config = worker_config_default();
    config.memory_bytes_max = 80u << 20;
    Worker *worker = NULL;
    REQUIRE(worker_create(&config, &worker) == STATUS_OK);
    char reason[WORKER_REASON_BYTES];
    const size_t bytes = 100u << 20;
    uint8_t *request = calloc(1, bytes);
    Buffer reply;
    CHECK_INT(worker_call(worker, WORKER_COMPILE, request, bytes, &reply, reason), STATUS_LIMIT);
    CHECK_TEXT(reason, "the build worker has too little memory for this");
    buffer_free(&reply);
    free(request);
    check_works(worker); // the same process: it only refused
    worker_destroy(worker);
}
#endif

// --- threads and parents ------------------------------------------------------------------------

static void *use_worker(void *user)
{
    check_works(user);
    return NULL;
}

// The thread that started the process ends; the process goes on for the next thread.
TEST(a_worker_outlives_the_thread_that_started_it)
{
    Worker *worker = make();
    pid_t pid = 0;
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, use_worker, worker) == 0);
        pthread_join(thread, NULL);
        CHECK(pid == 0 || worker_pid(worker) == pid);
        pid = worker_pid(worker);
    }
    worker_destroy(worker);
    CHECK(is_gone(pid));
}

static void pause_ms(long ms)
{
    const struct timespec moment = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&moment, NULL);
}

static bool is_stopped(pid_t pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        (void)!fread(text, 1, sizeof text - 1, file);
        fclose(file);
    }
    const char *after_name = strrchr(text, ')');
    return after_name != NULL && after_name[2] == 'T';
}

// Another process makes a worker; gives the worker's pid.
static pid_t make_elsewhere(pid_t *builder)
{
    int ends[2];
    pid_t pid = 0;
    if (pipe(ends) != 0) {
        return 0;
    }
    fflush(NULL);
    *builder = fork();
    if (*builder == 0) {
        Worker *worker = make();
        check_works(worker);
        pid = worker_pid(worker);
        (void)!write(ends[1], &pid, sizeof pid);
        for (;;) {
            pause();
        }
    }
    CHECK_INT(read(ends[0], &pid, sizeof pid), sizeof pid);
    close(ends[0]);
    close(ends[1]);
    return pid;
}

// A worker whose builder is killed ends by itself: one that waits sees the end of its stream.
TEST(a_worker_ends_with_its_builder)
{
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0); // orphans become ours
    pid_t builder = 0;
    const pid_t pid = make_elsewhere(&builder);
    REQUIRE(pid > 0);
    pause_ms(500); // it looks around in between, and that does it no harm
    CHECK(!is_gone(pid));
    signal_one(builder, SIGKILL);
    CHECK_INT(waitpid(builder, NULL, 0), builder);
    int status = 0;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    // 1: it got no processor for so long that its timer was first.
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
}

// One that is busy is woken by its timer. Stopped, it cannot see the end of the stream before the
// timer's signal waits for it, and that comes first when it goes on.
TEST(a_busy_worker_ends_with_its_builder)
{
    REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    pid_t builder = 0;
    const pid_t pid = make_elsewhere(&builder);
    REQUIRE(pid > 0);
    signal_one(pid, SIGSTOP);
    while (!is_stopped(pid) && !is_gone(pid)) {
        pause_ms(1);
    }
    signal_one(builder, SIGKILL);
    CHECK_INT(waitpid(builder, NULL, 0), builder);
    pause_ms(500);
    signal_one(pid, SIGCONT);
    int status = 0;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

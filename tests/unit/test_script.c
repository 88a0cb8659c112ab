// The runtime: loading, hooks, parameters, modules, reload, faults, throttling, budgets, ownership.
#include "core/script/rune/rune.h"
#include "core/script/runtime/script_inside.h"
#include "core/script/runtime/value.h"
#include "tests/support/test.h"
#include "tests/unit/script_fixture.h"

#include <stdio.h>
#include <string.h>

static ScriptFixture fixture;

TEST(the_life_of_an_entity_script)
{
    script_fixture_open(&fixture, NULL);
    const uint64_t part = script_fixture_part(&fixture, vec3(0, 5, 10), 0);
    const uint32_t instance =
        script_fixture_add(&fixture, "Workspace/Life",
                           "print('top')\n"
                           "function onStart(self) print('start', self.Id) end\n"
                           "local n = 0\n"
                           "function onUpdate(self, dt) n = n + dt end\n"
                           "function onDisable(self) print('off') end\n"
                           "function onEnable(self) print('on') end\n"
                           "function onDestroy(self) print('end', n > 0.1) end\n",
                           part);
    script_fixture_run(&fixture, 10);
    CHECK_INT(script_fixture_lines(&fixture, "Workspace/Life: top"), 1);
    char line[64];
    snprintf(line, sizeof line, "start\t%d", (int)part);
    CHECK_INT(script_fixture_lines(&fixture, line), 1);
    CHECK_INT(script_fixture_lines(&fixture, ": on"), 1); // it is switched on from the start
    script_set_enabled(fixture.scripts, instance, false);
    script_set_enabled(fixture.scripts, instance, false);
    CHECK_INT(script_fixture_lines(&fixture, ": off"), 1);
    script_set_enabled(fixture.scripts, instance, true);
    CHECK_INT(script_fixture_lines(&fixture, ": on"), 2);
    script_unbind(fixture.scripts, instance);
    CHECK_INT(script_fixture_lines(&fixture, "end\ttrue"), 1);
    script_fixture_run(&fixture, 10);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

TEST(scripts_switch_scripts_on_and_off)
{
    script_fixture_open(&fixture, NULL);
    const uint64_t lamp = script_fixture_part(&fixture, vec3(0, 5, 10), 0);
    const uint64_t other = script_fixture_part(&fixture, vec3(0, 5, 15), 0);
    const uint64_t plain = script_fixture_part(&fixture, vec3(0, 5, 20), 0);
    (void)script_fixture_add(&fixture, "Workspace/Lamp",
                             "function onStart(self) print('started') end\n"
                             "function onEnable(self) print('on', self.Enabled) end\n"
                             "function onDisable(self) print('off', self.Enabled) end\n"
                             "function onUpdate(self) self.count = (self.count or 0) + 1\n"
                             "  if self.count == 5 then self.Enabled = false\n"
                             "    print('reads', self.Enabled) end end\n",
                             lamp);
    script_fixture_run(&fixture, 20);
    CHECK_INT(script_fixture_lines(&fixture, "started"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "on\ttrue"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "reads\tfalse"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "off\tfalse"), 1);
    char code[512];
    snprintf(
        code, sizeof code,
        "local lamp, n = nil, 0\n"
        "function onUpdate(self) n = n + 1\n"
        "  lamp = lamp or World.GetInRadius(Vector3.new(0, 5, 10), 1)[1]\n"
        "  if n == 2 then print('count', lamp.count) lamp.Enabled = true end\n"
        "  if n == 9 then lamp.Enabled = false lamp.Enabled = true end\n"
        "  if n == 12 then lamp.Enabled = 1 end\n"
        "  if n == 14 then for _, e in ipairs(World.GetInRadius(Vector3.new(0, 5, 20), 1)) do\n"
        "    print('plain', e.Enabled) e.Enabled = true end end end\n");
    (void)script_fixture_add(&fixture, "Workspace/Other", code, other);
    script_fixture_run(&fixture, 20);
    CHECK_INT(script_fixture_lines(&fixture, "count\t5"), 1); // off: no onUpdate
    CHECK_INT(script_fixture_lines(&fixture, "on\ttrue"), 2);
    CHECK_INT(script_fixture_lines(&fixture, "off"), 1); // off and on in one call is nothing
    CHECK_INT(script_fixture_lines(&fixture, "started"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "plain\tfalse"), 1);
    CHECK_INT(fixture.fault_count, 2); // 1 is no boolean, and the last part has no script
    CHECK(plain != 0);
    script_fixture_close(&fixture);
}

TEST(two_entities_share_a_script_and_not_their_fields)
{
    script_fixture_open(&fixture, NULL);
    const uint64_t a = script_fixture_part(&fixture, vec3(0, 5, 10), 0);
    const uint64_t b = script_fixture_part(&fixture, vec3(0, 5, 15), 0);
    (void)script_fixture_add(&fixture, "Workspace/Twice",
                             "print('top')\n"
                             "function onStart(self) self.count = 0 end\n"
                             "function onUpdate(self) self.count = self.count + 1\n"
                             "  if self.count == 5 then print('five', self.Id) end end\n",
                             a);
    uint32_t second = 0;
    CHECK_OK(script_bind(
        fixture.scripts,
        &(InstanceDesc){.script_id = "Workspace/Twice", .entity = b, .enabled = true}, &second));
    script_fixture_run(&fixture, 20);
    CHECK_INT(script_fixture_lines(&fixture, "top"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "five"), 2);
    script_fixture_close(&fixture);
}

TEST(compile_errors_have_a_place_and_a_cache_has_hashes)
{
    script_fixture_open(&fixture, NULL);
    const CompileResult bad = script_fixture_compile(&fixture, "Workspace/Bad", "local x = = 1");
    CHECK(!bad.ok);
    CHECK(strncmp(bad.error, "Workspace/Bad:1:", 16) == 0);
    CompileRequest request = {
        .script_id = "Workspace/Good", .code = "x = 1", .code_bytes = 5, .code_hash = "aa"};
    CHECK(script_compile(fixture.scripts, &request).ok);
    const CompileResult again = script_compile(fixture.scripts, &request);
    CHECK(again.ok && again.cached);
    request.code_hash = "bb";
    CHECK(!script_compile(fixture.scripts, &request).cached);
    script_invalidate(fixture.scripts, "Workspace/Good");
    CHECK(!script_compile(fixture.scripts, &request).cached);
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    CHECK_INT(stats.compile_count, 4);
    CHECK_INT(stats.compile_cached_count, 1);
    // Bytecode is no source.
    CHECK(!script_compile(
               fixture.scripts,
               &(CompileRequest){.script_id = "Workspace/Code", .code = "\x1bLua", .code_bytes = 4})
               .ok);
    script_fixture_close(&fixture);
}

TEST(parameters_are_parsed_once_and_bad_ones_keep_the_last_good)
{
    script_fixture_open(&fixture, NULL);
    const uint64_t part = script_fixture_part(&fixture, vec3(0, 5, 10), 0);
    const char *code = "function onUpdate(self) print(self.params.speed or 'none') end";
    CHECK(script_fixture_compile(&fixture, "Workspace/Params", code).ok);
    uint32_t instance = 0;
    const char *good = "{\"speed\": 3}";
    InstanceDesc desc = {.script_id = "Workspace/Params",
                         .entity = part,
                         .enabled = true,
                         .parameters = "{oops",
                         .parameters_bytes = 5};
    CHECK_OK(script_bind(fixture.scripts, &desc, &instance));
    script_fixture_run(&fixture, 1);
    CHECK_INT(script_fixture_lines(&fixture, "none"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "parameters of entity"), 1);
    script_set_parameters(fixture.scripts, instance, good, strlen(good), "h1");
    script_fixture_run(&fixture, 1);
    CHECK_INT(script_fixture_lines(&fixture, ": 3"), 1);
    script_set_parameters(fixture.scripts, instance, "[1]", 3, "h2");
    script_set_parameters(fixture.scripts, instance, "{", 1, "h3");
    script_fixture_run(&fixture, 1);
    CHECK_INT(script_fixture_lines(&fixture, ": 3"), 2);
    CHECK_INT(script_fixture_lines(&fixture, "must be an object"), 1);
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    CHECK_INT(stats.params_failed, 3);
    script_fixture_close(&fixture);
}

TEST(a_script_without_a_path_is_skipped_with_a_warning)
{
    script_fixture_open(&fixture, NULL);
    uint32_t instance = 0;
    CHECK_INT(
        script_bind(fixture.scripts, &(InstanceDesc){.entity = 5, .enabled = true}, &instance),
        STATUS_NOT_FOUND);
    CHECK_INT(script_fixture_lines(&fixture, "without a path"), 1);
    CHECK_INT(script_bind(fixture.scripts, &(InstanceDesc){.entity = 5}, &instance),
              STATUS_NOT_FOUND);
    CHECK_INT(script_fixture_lines(&fixture, "without a path"), 1);
    script_fixture_close(&fixture);
}

TEST(modules_run_once_and_cycles_are_named)
{
    script_fixture_open(&fixture, NULL);
    CHECK(
        script_fixture_compile(&fixture, "ReplicatedStorage/Util", "print('util') return {two = 2}")
            .ok);
    CHECK(script_fixture_compile(&fixture, "ReplicatedStorage/A",
                                 "return require('ReplicatedStorage/B')")
              .ok);
    CHECK(script_fixture_compile(&fixture, "ReplicatedStorage/B",
                                 "return require('ReplicatedStorage/A')")
              .ok);
    (void)script_fixture_add(
        &fixture, "ServerScriptService/One",
        "print(require('ReplicatedStorage/Util').two)\n"
        "print(require('ReplicatedStorage/Util') == require('ReplicatedStorage/Util'))\n"
        "print(pcall(require, 'ReplicatedStorage/A'))\n"
        "print(pcall(require, 'ReplicatedStorage/None'))\n",
        0);
    script_fixture_run(&fixture, 3);
    CHECK_INT(script_fixture_lines(&fixture, "util"), 1);
    CHECK_INT(script_fixture_lines(&fixture, ": 2"), 1);
    CHECK_INT(script_fixture_lines(&fixture, ": true"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "ReplicatedStorage/A -> ReplicatedStorage/B -> "
                                             "ReplicatedStorage/A"),
              1);
    CHECK_INT(script_fixture_lines(&fixture, "there is no module"), 1);
    script_fixture_close(&fixture);
}

TEST(a_reload_hands_over_and_ends_what_the_old_code_made)
{
    script_fixture_open(&fixture, NULL);
    const char *old_code =
        "score = 41\n"
        "function onStart() Timer.Every(0.05, function() print('old timer') end) end";
    const char *new_code = "function onStart() print('started again') end\n"
                           "function onReload(old) score = old.score + 1 print('score', score) end";
    (void)script_fixture_add(&fixture, "ServerScriptService/Game", old_code, 0);
    script_fixture_run(&fixture, 10);
    const uint32_t before = script_fixture_lines(&fixture, "old timer");
    CHECK(before > 0);
    const CompileRequest request = {
        .script_id = "ServerScriptService/Game", .code = new_code, .code_bytes = strlen(new_code)};
    CHECK(script_reload(fixture.scripts, &request).ok);
    script_fixture_run(&fixture, 20);
    CHECK_INT(script_fixture_lines(&fixture, "old timer"), before);
    CHECK_INT(script_fixture_lines(&fixture, "score\t42"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "started again"), 0);
    // Code that does not compile leaves the running one alone.
    const CompileRequest broken = {
        .script_id = "ServerScriptService/Game", .code = "(", .code_bytes = 1};
    CHECK(!script_reload(fixture.scripts, &broken).ok);
    script_fixture_run(&fixture, 5);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

TEST(hooks_may_be_in_what_the_file_returns)
{
    script_fixture_open(&fixture, NULL);
    const uint64_t part = script_fixture_part(&fixture, vec3(0, 5, 10), 0);
    const uint32_t instance = script_fixture_add(
        &fixture, "Workspace/Door",
        "local exports = setmetatable({}, {__index = function() error('asked') end})\n"
        "function exports.onStart(self) print('start', self.Id ~= nil) end\n"
        "function exports.onUpdate(self, dt) print('update', dt) end\n"
        "function exports.onDestroy(self) print('destroy') end\n"
        "exports.onEnable = 'no function'\n"
        "function onDisable() print('global') end\n"
        "function exports.onDisable() print('returned') end\n"
        "return exports",
        part);
    script_fixture_run(&fixture, 2);
    CHECK_INT(script_fixture_lines(&fixture, "start\ttrue"), 1);
    CHECK(script_fixture_lines(&fixture, "update\t0.016") > 0);
    script_set_enabled(fixture.scripts, instance, false);
    script_set_enabled(fixture.scripts, instance, true);
    CHECK_INT(script_fixture_lines(&fixture, "global"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "returned"), 0);
    script_unbind(fixture.scripts, instance);
    CHECK_INT(script_fixture_lines(&fixture, "destroy"), 1);
    script_fixture_run(&fixture, 1);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

TEST(a_module_with_the_name_of_a_hook_is_still_a_module)
{
    script_fixture_open(&fixture, NULL);
    CHECK(script_fixture_compile(&fixture, "ReplicatedStorage/Util",
                                 "return {onStart = function() print('never') end, two = 2}")
              .ok);
    (void)script_fixture_add(&fixture, "ServerScriptService/One",
                             "print(require('ReplicatedStorage/Util').two)", 0);
    script_fixture_run(&fixture, 3);
    CHECK_INT(script_fixture_lines(&fixture, ": 2"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "never"), 0);
    script_fixture_close(&fixture);
}

static void reload(const char *path, const char *code)
{
    const CompileRequest request = {.script_id = path, .code = code, .code_bytes = strlen(code)};
    CHECK(script_reload(fixture.scripts, &request).ok);
    script_fixture_run(&fixture, 2);
}

TEST(what_a_module_starts_ends_with_the_module)
{
    const char *module = "ReplicatedStorage/Clock";
    const char *user = "ServerScriptService/One";
    const char *code = "require('ReplicatedStorage/Clock')";
    script_fixture_open(&fixture, NULL);
    CHECK(script_fixture_compile(
              &fixture, module,
              "print('runs')\n"
              "Timer.Every(0.05, function() print('first clock') end)\n"
              "task.spawn(function() while true do task.wait(0.05) print('first loop') end end)\n"
              "function onUpdate() print('never') end\n"
              "function onDestroy() print('never') end\n"
              "return {}")
              .ok);
    (void)script_fixture_add(&fixture, user, code, 0);
    script_fixture_run(&fixture, 10);
    CHECK_INT(script_fixture_lines(&fixture, "ReplicatedStorage/Clock: runs"), 1);
    const uint32_t before = script_fixture_lines(&fixture, "ReplicatedStorage/Clock: first clock");
    const uint32_t looped = script_fixture_lines(&fixture, "ReplicatedStorage/Clock: first loop");
    CHECK(before > 0 && looped > 0);
    // The script starts again, the module does not.
    reload(user, code);
    script_fixture_run(&fixture, 10);
    CHECK_INT(script_fixture_lines(&fixture, "runs"), 1);
    CHECK(script_fixture_lines(&fixture, "first clock") > before);
    CHECK(script_fixture_lines(&fixture, "first loop") > looped);
    // Now the module does, and what the old one started is gone.
    reload(module, "Timer.Every(0.05, function() print('second clock') end) return {}");
    reload(user, code);
    const uint32_t last = script_fixture_lines(&fixture, "first clock");
    const uint32_t last_loop = script_fixture_lines(&fixture, "first loop");
    script_fixture_run(&fixture, 20);
    CHECK_INT(script_fixture_lines(&fixture, "first clock"), last);
    CHECK_INT(script_fixture_lines(&fixture, "first loop"), last_loop);
    CHECK(script_fixture_lines(&fixture, "second clock") > 0);
    CHECK_INT(script_fixture_lines(&fixture, "never"), 0);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

TEST(a_module_that_fails_leaves_the_script_what_it_starts_later)
{
    script_fixture_open(&fixture, NULL);
    CHECK(script_fixture_compile(&fixture, "ReplicatedStorage/Bad",
                                 "Timer.Every(0.05, function() print('bad clock') end)\n"
                                 "error('it fails')")
              .ok);
    CHECK(script_fixture_compile(&fixture, "ReplicatedStorage/Outer",
                                 "print(pcall(require, 'ReplicatedStorage/Bad'))\n"
                                 "print('after')\n"
                                 "return {}")
              .ok);
    (void)script_fixture_add(&fixture, "ServerScriptService/One",
                             "require('ReplicatedStorage/Outer')\n"
                             "print(pcall(require, 'ReplicatedStorage/Bad'))\n"
                             "Timer.Every(0.05, function() print('clock') end)\n"
                             "local co = coroutine.create(function()\n"
                             "  require('ReplicatedStorage/Bad')\n"
                             "end)\n"
                             "print(coroutine.resume(co))\n"
                             "print('last')\n",
                             0);
    script_fixture_run(&fixture, 20);
    CHECK_INT(script_fixture_lines(&fixture, "ReplicatedStorage/Outer: after"), 1);
    CHECK(script_fixture_lines(&fixture, "ServerScriptService/One: clock") > 0);
    CHECK_INT(script_fixture_lines(&fixture, "ServerScriptService/One: last"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "ReplicatedStorage/Bad:2: it fails"), 3);
    script_fixture_close(&fixture);
}

TEST(a_module_cannot_wait_while_its_file_runs)
{
    script_fixture_open(&fixture, NULL);
    CHECK(script_fixture_compile(&fixture, "ReplicatedStorage/Slow",
                                 "task.wait(0.1) print('waited') return {}")
              .ok);
    CHECK(script_fixture_compile(&fixture, "ReplicatedStorage/Yields",
                                 "coroutine.yield() print('went on') return {}")
              .ok);
    (void)script_fixture_add(&fixture, "ServerScriptService/One",
                             "print(pcall(require, 'ReplicatedStorage/Slow'))\n"
                             "local co = coroutine.create(function()\n"
                             "  print(pcall(require, 'ReplicatedStorage/Yields'))\n"
                             "end)\n"
                             "print(coroutine.resume(co))\n"
                             "print(coroutine.resume(co))\n"
                             "task.spawn(function() require('ReplicatedStorage/Slow') end)\n"
                             "print('last')",
                             0);
    script_fixture_run(&fixture, 20);
    CHECK_INT(script_fixture_lines(&fixture, "a module cannot pause while its file runs"), 2);
    CHECK_INT(script_fixture_lines(&fixture, "waited"), 0);
    CHECK_INT(script_fixture_lines(&fixture, "went on"), 0);
    CHECK_INT(script_fixture_lines(&fixture, "ServerScriptService/One: last"), 1);
    script_fixture_close(&fixture);
}

TEST(a_returned_reload_gets_what_was_returned_before)
{
    const char *path = "ServerScriptService/Game";
    const char *code =
        "local e = {score = 41}\n"
        "function e.onReload(old) e.score = (old.score or 0) + 1 print('s', e.score) "
        "end return e";
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, path, code, 0);
    script_fixture_run(&fixture, 2);
    reload(path, code);
    CHECK_INT(script_fixture_lines(&fixture, "s\t42"), 1);
    reload(path, code);
    CHECK_INT(script_fixture_lines(&fixture, "s\t43"), 1);
    // From one that returned nothing, and back to globals.
    reload(path, "kept = 5");
    reload(path, code);
    CHECK_INT(script_fixture_lines(&fixture, "s\t1\n"), 1);
    reload(path, "function onReload(old) print('global', old.score) end");
    CHECK_INT(script_fixture_lines(&fixture, "global\tnil"), 1);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

TEST(a_thrown_table_with_a_message_says_it)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/A",
                             "local E = {__tostring = function() error('never called') end,\n"
                             "  __index = function() error('never asked') end}\n"
                             "error(setmetatable({name = 'RangeError', message = 'too far'}, E))",
                             0);
    (void)script_fixture_add(&fixture, "ServerScriptService/B", "error({message = 'alone'})", 0);
    (void)script_fixture_add(&fixture, "ServerScriptService/C", "error({name = 5, message = {}})",
                             0);
    // What assert(count == 3, count) throws.
    (void)script_fixture_add(&fixture, "ServerScriptService/D", "assert(false, -12)", 0);
    (void)script_fixture_add(&fixture, "ServerScriptService/E", "assert(false, 0.25)", 0);
    script_fixture_run(&fixture, 2);
    REQUIRE(fixture.fault_count == 5);
    CHECK_TEXT(fixture.faults[3].message, "-12");
    CHECK_TEXT(fixture.faults[4].message, "0.25");
    CHECK_TEXT(fixture.faults[0].message, "RangeError: too far");
    CHECK_INT(fixture.faults[0].line, 3);
    CHECK_TEXT(fixture.faults[1].message, "alone");
    CHECK_TEXT(fixture.faults[2].message, "(error object is a table value)");
    script_fixture_close(&fixture);
}

TEST(a_fault_inside_a_module_has_the_line_that_called_it)
{
    script_fixture_open(&fixture, NULL);
    CHECK(script_fixture_compile(&fixture, "ReplicatedStorage/Util",
                                 "local m = {}\n\n\n\nfunction m.fail() error('inside') end\n"
                                 "return m")
              .ok);
    (void)script_fixture_add(&fixture, "ServerScriptService/One",
                             "local m = require('ReplicatedStorage/Util')\n"
                             "function onStart()\n  m.fail()\nend",
                             0);
    script_fixture_run(&fixture, 3);
    REQUIRE(fixture.fault_count == 1);
    CHECK_TEXT(fixture.faults[0].path, "ServerScriptService/One");
    CHECK_INT(fixture.faults[0].line, 3);
    CHECK(strstr(fixture.faults[0].message, "ReplicatedStorage/Util:5:") != NULL);
    script_fixture_close(&fixture);
}

TEST(the_longest_path_is_named_whole)
{
    static const char bad[] = "\n\nlocal x = = 1\n";
    static const char code[] = "local function deep()\n"
                               "  return nothing.x\n"
                               "end\n"
                               "local function way() deep() return 1 end\n"
                               "function onStart() way() end\n";
    script_fixture_open(&fixture, NULL);
    char path[SCRIPT_PATH_BYTES] = "ServerScriptService/", text[SCRIPT_PATH_BYTES + 64];
    const size_t start = strlen(path);
    memset(path + start, 'x', sizeof path - 1 - start);
    path[sizeof path - 1] = '\0';
    const CompileResult result = script_fixture_compile(&fixture, path, bad);
    CHECK(!result.ok);
    snprintf(text, sizeof text, "%s:3: unexpected symbol near '='", path);
    CHECK_TEXT(result.error, text);
    script_fixture_add(&fixture, path, code, 0);
    script_fixture_run(&fixture, 2);
    REQUIRE(fixture.fault_count == 1);
    const ScriptFault *fault = &fixture.faults[0];
    CHECK_TEXT(fault->path, path);
    CHECK_INT(fault->line, 2);
    snprintf(text, sizeof text, "%s:2: attempt to index a nil value (global 'nothing')", path);
    CHECK_TEXT(fault->message, text);
    snprintf(text, sizeof text, "\n\t%s:4: in", path);
    CHECK(strstr(fault->traceback, text) != NULL);
    snprintf(text, sizeof text, "\n\t%s:5: in", path);
    CHECK(strstr(fault->traceback, text) != NULL);
    script_fixture_close(&fixture);
}

TEST(faults_say_where_and_spare_the_others)
{
    script_fixture_open(&fixture, NULL);
    const uint64_t part = script_fixture_part(&fixture, vec3(0, 5, 10), 0);
    (void)script_fixture_add(&fixture, "Workspace/Broken",
                             "local function inner(x)\n"
                             "  return x.y.z\n"
                             "end\n"
                             "function onStart(self) inner({}) end\n",
                             part);
    (void)script_fixture_add(&fixture, "ServerScriptService/Fine",
                             "function onStart() print('fine') end", 0);
    script_fixture_run(&fixture, 3);
    REQUIRE(fixture.fault_count == 1);
    const ScriptFault *fault = &fixture.faults[0];
    CHECK_INT(fault->kind, FAULT_ERROR);
    CHECK_INT(fault->hook, HOOK_START);
    CHECK_INT(fault->line, 2);
    CHECK_INT(fault->entity, part);
    CHECK_TEXT(fault->path, "Workspace/Broken");
    CHECK(strstr(fault->message, "Workspace/Broken:2:") != NULL);
    CHECK(strstr(fault->traceback, "Workspace/Broken:4:") != NULL);
    CHECK_INT(script_fixture_lines(&fixture, "fine"), 1);
    script_fixture_close(&fixture);
}

TEST(an_error_in_a_spawned_coroutine_is_its_own)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Spawner",
                             "function onStart()\n"
                             "  task.spawn(function() error('inside') end)\n"
                             "  task.spawn(function() task.wait(0.05) error('later') end)\n"
                             "  print('goes on')\n"
                             "  task.spawn(function() while true do end end)\n"
                             "  print('not this')\n"
                             "end",
                             0);
    script_fixture_run(&fixture, 10);
    REQUIRE(fixture.fault_count == 3);
    CHECK(strstr(fixture.faults[0].message, "inside") != NULL);
    CHECK_INT(fixture.faults[1].kind, FAULT_BUDGET); // of the whole entry: it ran inside it
    CHECK(strstr(fixture.faults[2].message, "later") != NULL);
    CHECK_INT(script_fixture_lines(&fixture, "goes on"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "not this"), 0);
    script_fixture_close(&fixture);
}

TEST(budget_memory_and_capability_are_kinds_of_their_own)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Loop",
                             "function onStart() while true do pcall(error) end end", 0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Client",
                             "function onStart() Input.IsKeyPressed('W') end", 0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Caught",
                             "function onStart() pcall(Input.IsKeyPressed, 'W') error('mine') end",
                             0);
    script_fixture_run(&fixture, 3);
    REQUIRE(fixture.fault_count == 3);
    CHECK_INT(fixture.faults[0].kind, FAULT_BUDGET);
    CHECK_INT(fixture.faults[1].kind, FAULT_CAPABILITY);
    CHECK(strstr(fixture.faults[1].message, "works on a client only") != NULL);
    CHECK_INT(fixture.faults[2].kind, FAULT_ERROR);
    fixture.fault_count = 0;
    // Under half a megabyte a tick: past the soft cap long before it is past its steps.
    (void)script_fixture_add(&fixture, "ServerScriptService/Eater",
                             "local all = {}\n"
                             "function onUpdate() for i = 1, 8 do all[#all + 1] = "
                             "('0123456789abcdef'):rep(3000) .. #all end end",
                             0);
    script_fixture_run(&fixture, 120);
    REQUIRE(fixture.fault_count > 0);
    CHECK_INT(fixture.faults[0].kind, FAULT_MEMORY);
    CHECK(!script_is_dead(fixture.scripts));
    script_fixture_close(&fixture);
}

TEST(the_log_says_where_a_fault_was_and_how_the_script_came_there)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Loop",
                             "local function spin()\n"
                             "  local n = 0\n"
                             "  while true do\n"
                             "    n = n + 1\n"
                             "  end\n"
                             "end\n"
                             "function onStart()\n"
                             "  spin()\n"
                             "end",
                             0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Thrown",
                             "function onStart()\n"
                             "  error({name = 'TypeError', message = 'thrown'})\n"
                             "end",
                             0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Above",
                             "local function check(x)\n"
                             "  error('not that', 2)\n"
                             "end\n"
                             "function onStart()\n"
                             "  check(1)\n"
                             "end",
                             0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Deep",
                             "local function f(n) if n == 0 then error('deep') end\n"
                             "  f(n - 1)\n"
                             "end\n"
                             "function onStart() f(50) end",
                             0);
    script_fixture_run(&fixture, 3);
    CHECK_INT(fixture.fault_count, 4);
    CHECK_INT(script_fixture_lines(&fixture, "ServerScriptService/Loop:4: ran for more than 5 ms"),
              1);
    CHECK_INT(script_fixture_lines(&fixture, "    ServerScriptService/Loop:4: in function 'spin'"),
              1);
    CHECK_INT(script_fixture_lines(&fixture, "    ServerScriptService/Loop:8: in"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "ServerScriptService/Thrown:2: TypeError: thrown"), 1);
    // A place that Lua gave stays alone.
    CHECK_INT(script_fixture_lines(&fixture, "ServerScriptService/Above:5: not that"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "ServerScriptService/Above:2: Server"), 0);
    // As many frames as help.
    CHECK(script_fixture_lines(&fixture, "ServerScriptService/Deep:") <= 11);
    CHECK_INT(script_fixture_lines(&fixture, "    ..."), 1);
    script_fixture_close(&fixture);
}

TEST(repeated_faults_throttle_then_switch_off_until_a_change)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Bad",
                             "function onUpdate() error('again') end", 0);
    script_fixture_run(&fixture, 30);
    CHECK_INT(fixture.fault_count, 3); // then it rests for half a second
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    CHECK_INT(stats.scripts[0].state, SCRIPT_THROTTLED);
    script_fixture_run(&fixture, 60 * 90);
    script_stats(fixture.scripts, &stats);
    CHECK_INT(stats.scripts[0].state, SCRIPT_OFF);
    CHECK_INT(stats.fault_count, 8);
    CHECK_INT(script_fixture_lines(&fixture, "switched off"), 1);
    CHECK(script_fixture_compile(
              &fixture, "ServerScriptService/Bad",
              "function onUpdate() n = (n or 0) + 1 if n == 3 then print('mended') end end")
              .ok);
    script_fixture_run(&fixture, 10);
    CHECK_INT(script_fixture_lines(&fixture, "mended"), 1);
    script_fixture_close(&fixture);
}

TEST(what_an_instance_made_ends_with_it)
{
    script_fixture_open(&fixture, NULL);
    const uint32_t instance =
        script_fixture_add(&fixture, "ServerScriptService/Owner",
                           "function onStart()\n"
                           "  Timer.Every(0.05, function() print('tick') end)\n"
                           "  task.delay(0.2, print, 'late')\n"
                           "  task.spawn(function() task.wait(0.2) print('slept') end)\n"
                           "  Players.PlayerAdded:Connect(function() print('added') end)\n"
                           "end\n",
                           0);
    script_fixture_run(&fixture, 5);
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    CHECK(stats.coroutine_count >= 3);
    script_unbind(fixture.scripts, instance);
    const uint32_t ticks = script_fixture_lines(&fixture, "tick");
    CHECK_OK(authority_player_join(fixture.authority, 8, (Text){"al", 2}));
    script_fixture_run(&fixture, 30);
    CHECK_INT(script_fixture_lines(&fixture, "tick"), ticks);
    CHECK_INT(script_fixture_lines(&fixture, "late"), 0);
    CHECK_INT(script_fixture_lines(&fixture, "slept"), 0);
    CHECK_INT(script_fixture_lines(&fixture, "added"), 0);
    script_stats(fixture.scripts, &stats);
    CHECK_INT(stats.coroutine_count, 0);
    script_fixture_close(&fixture);
}

static void few_steps(ScriptConfig *config)
{
    config->tick_ms = 1;
    config->call_ms = 1;
}

TEST(a_tick_has_a_budget_and_everybody_gets_a_turn)
{
    script_fixture_open(&fixture, few_steps);
    CHECK(script_fixture_compile(
              &fixture, "Workspace/Busy",
              "function onStart(self) self.n = 0 end\n"
              "function onUpdate(self) for i = 1, 10000 do end self.n = self.n + 1\n"
              "  if self.n == 3 then print('third', self.Id) end end")
              .ok);
    for (uint32_t i = 0; i < 20; i++) {
        const uint64_t part = script_fixture_part(&fixture, vec3((float)i, 30, 0), 0);
        uint32_t instance = 0;
        CHECK_OK(script_bind(
            fixture.scripts,
            &(InstanceDesc){.script_id = "Workspace/Busy", .entity = part, .enabled = true},
            &instance));
    }
    script_fixture_run(&fixture, 120);
    CHECK_INT(script_fixture_lines(&fixture, "third"), 20);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

static const ScriptAccount *account_of(const ScriptStats *stats, const char *path)
{
    for (uint32_t i = 0; i < stats->scripts_listed; i++) {
        if (strcmp(stats->scripts[i].path, path) == 0) {
            return &stats->scripts[i];
        }
    }
    return NULL;
}

TEST(a_script_that_uses_more_than_its_share_is_throttled_by_name)
{
    script_fixture_open(&fixture, few_steps);
    (void)script_fixture_add(&fixture, "ServerScriptService/Greedy",
                             "for i = 1, 100 do Timer.Every(0, function()\n"
                             "  for i = 1, 450000 do end end) end",
                             0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Modest",
                             "local n = 0\n"
                             "function onUpdate() n = n + 1 if n == 50 then print('fifty') end end",
                             0);
    script_fixture_run(&fixture, 60);
    CHECK_INT(script_fixture_lines(&fixture, "fifty"), 1);
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    const ScriptAccount *greedy = account_of(&stats, "ServerScriptService/Greedy");
    const ScriptAccount *modest = account_of(&stats, "ServerScriptService/Modest");
    REQUIRE(greedy != NULL && modest != NULL);
    CHECK_INT(greedy->state, SCRIPT_THROTTLED);
    CHECK_INT(greedy->throttle_count, 1);
    CHECK(greedy->waiting_count > 50);
    CHECK_INT(modest->state, SCRIPT_RUNNING);
    CHECK_INT(modest->waiting_count, 0);
    // Reported once, as a fault that does not count against it.
    CHECK_INT(fixture.fault_count, 1);
    CHECK_INT(fixture.faults[0].kind, FAULT_BUDGET);
    CHECK_TEXT(fixture.faults[0].path, "ServerScriptService/Greedy");
    CHECK_INT(script_fixture_lines(&fixture, "Greedy: used"), 1);
    // The numbers show by how much it was too much.
    unsigned long long used = 0;
    unsigned long long share = 0;
    double ms = 0;
    REQUIRE(sscanf(fixture.faults[0].message,
                   "used %llu steps (%lf ms) of a tick that was too short for all calls, and its "
                   "share was %llu",
                   &used, &ms, &share) == 3);
    CHECK(used > share && share > 0);
    script_fixture_close(&fixture);
}

TEST(things_that_cost_too_much_are_shown_and_do_not_switch_a_script_off)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Storm",
                             "local n = 0 function onUpdate() n = n + 1\n"
                             "if n == 1200 then print('still here') end end",
                             0);
    const SimMaker over = {.steps = 1536718, .share = 1000000, .skipped = 402};
    const SimMaker below = {.steps = 30, .share = 1000000, .skipped = 1}; // cut by others, once
    for (uint32_t tick = 0; tick < 20 * 60; tick++) {
        script_fixture_run(&fixture, 1);
        script_charge_work(fixture.scripts, 1, tick == 0 ? &below : &over);
    }
    CHECK_INT(script_fixture_lines(&fixture, "still here"), 1);
    CHECK(fixture.fault_count >= 18 && fixture.fault_count <= 21); // once a second
    for (uint32_t i = 0; i < fixture.fault_count; i++) {
        CHECK_INT(fixture.faults[i].kind, FAULT_BUDGET);
        CHECK_TEXT(fixture.faults[i].message,
                   "its projectiles, NPCs and parts took 1536718 steps in one tick and its share "
                   "was 1000000: 402 of them stood still");
    }
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    const ScriptAccount *storm = account_of(&stats, "ServerScriptService/Storm");
    REQUIRE(storm != NULL);
    CHECK_INT(storm->state, SCRIPT_RUNNING);
    CHECK_INT(storm->work_skipped_count, 1 + (20 * 60 - 1) * 402);
    script_fixture_close(&fixture);
}

TEST(a_script_alone_may_use_the_whole_tick)
{
    script_fixture_open(&fixture, few_steps);
    (void)script_fixture_add(&fixture, "ServerScriptService/Alone",
                             "local n = 0\n"
                             "for i = 1, 4 do Timer.Every(0, function()\n"
                             "  for i = 1, 200000 do end n = n + 1 end) end\n"
                             "Timer.After(2, function() print('ran', n >= 60 * 2) end)",
                             0);
    script_fixture_run(&fixture, 150);
    CHECK_INT(script_fixture_lines(&fixture, "ran\ttrue"), 1);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

TEST(an_update_that_was_left_out_gets_the_time_it_missed)
{
    script_fixture_open(&fixture, few_steps);
    (void)script_fixture_add(
        &fixture, "ServerScriptService/Behind",
        "local sum, began = 0, os.clock()\n"
        "function onUpdate(self, dt)\n"
        "  sum = sum + dt\n"
        "  for i = 1, 450000 do end\n"
        "  if dt > 0.017 then print('long') end\n"
        "  if os.clock() > 1 and not said then said = true\n"
        "    print('sum', math.abs(os.clock() - began + 1 / 60 - sum) < 1e-6)\n"
        "  end end",
        0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Too",
                             "function onUpdate() for i = 1, 450000 do end end", 0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Also",
                             "function onUpdate() for i = 1, 450000 do end end", 0);
    script_fixture_run(&fixture, 100);
    CHECK(script_fixture_lines(&fixture, ": long") > 5);
    CHECK_INT(script_fixture_lines(&fixture, "sum\ttrue"), 1);
    script_fixture_close(&fixture);
}

TEST(coroutines_of_one_script_leave_room_for_the_others)
{
    script_fixture_open(&fixture, NULL);
    static const char MANY[] = "local made, message = 0, nil\n"
                               "for i = 1, 5000 do\n"
                               "  local ok, e = pcall(task.delay, 1000, print)\n"
                               "  if ok then made = made + 1 else message = e break end\n"
                               "end\n"
                               "print('made', made) print(message)";
    char path[64];
    for (uint32_t i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "ServerScriptService/Many%u", (unsigned)i);
        (void)script_fixture_add(&fixture, path, MANY, 0);
    }
    (void)script_fixture_add(&fixture, "ServerScriptService/Other",
                             "local n = 0\n"
                             "for i = 1, 10 do Timer.Every(0.1, function() n = n + 1 end) end\n"
                             "Timer.After(0.55, function() print('beats', n) end)",
                             0);
    script_fixture_run(&fixture, 60);
    CHECK_INT(script_fixture_lines(&fixture, "Many0: made\t2047"), 1); // its top level is one
    CHECK_INT(script_fixture_lines(&fixture, "this script has 2048, a script may have 2048"), 4);
    CHECK_INT(script_fixture_lines(&fixture, "beats\t50"), 1);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

TEST(deferred_calls_and_connections_are_counted_for_each_script)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Many",
                             "local signal = Signal.new()\n"
                             "local n = 0\n"
                             "while pcall(signal.Fire, signal) do n = n + 1 end\n"
                             "print('fired', n)\n"
                             "local added, m = Players.PlayerAdded, 0\n"
                             "while pcall(added.Connect, added, print) do m = m + 1 end\n"
                             "print('connected', m)\n"
                             "print(select(2, pcall(added.Connect, added, print)))\n",
                             0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Other",
                             "local signal = Signal.new() signal:Connect(print)\n"
                             "signal:Fire('heard')\n"
                             "Players.PlayerAdded:Connect(function() print('joined') end)\n",
                             0);
    script_fixture_run(&fixture, 3);
    CHECK_INT(script_fixture_lines(&fixture, "fired\t1024"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "connected\t1024"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "this script has 1024 connections"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "Other: heard"), 1);
    const uint32_t joined = script_fixture_lines(&fixture, "Other: joined");
    CHECK_OK(authority_player_join(fixture.authority, 8, (Text){"al", 2}));
    script_fixture_run(&fixture, 3);
    CHECK_INT(script_fixture_lines(&fixture, "Other: joined"), joined + 1);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

TEST(events_for_a_script_that_is_behind_are_kept_in_order_and_then_dropped_by_name)
{
    script_fixture_open(&fixture, few_steps);
    const uint64_t part = script_fixture_part(&fixture, vec3(0, 50, 0), 0);
    (void)script_fixture_add(&fixture, "Workspace/Slow",
                             "local last = 0\n"
                             "function OnTouch(self, other)\n"
                             "  for i = 1, 450000 do end\n"
                             "  last = last + 1 print('touch', last)\n"
                             "end",
                             part);
    script_fixture_run(&fixture, 2);
    for (uint32_t i = 0; i < 400; i++) {
        CHECK_OK(script_event(fixture.scripts,
                              &(ScriptEvent){.type = SCRIPT_EVENT_TOUCH, .entity = part}));
    }
    script_fixture_run(&fixture, 5);
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    const ScriptAccount *slow = account_of(&stats, "Workspace/Slow");
    REQUIRE(slow != NULL);
    CHECK(slow->dropped_count > 100);
    CHECK(slow->waiting_count > 200 && slow->waiting_count <= 256);
    CHECK_INT(stats.events_dropped, slow->dropped_count);
    CHECK_INT(script_fixture_lines(&fixture, "Slow: a call of OnTouch was dropped"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "touch\t5"), 1);
    script_fixture_close(&fixture);
}

TEST(what_is_done_for_a_script_takes_from_its_share)
{
    script_fixture_open(&fixture, few_steps);
    (void)script_fixture_add(&fixture, "ServerScriptService/Charged",
                             "function onUpdate() for i = 1, 300000 do end end", 0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Same",
                             "function onUpdate() for i = 1, 300000 do end end", 0);
    const Handle charged = script_find(fixture.scripts, "ServerScriptService/Charged");
    for (uint32_t i = 0; i < 240; i++) {
        script_fixture_run(&fixture, 1);
        account_charge_work(fixture.scripts, charged, 300000);
    }
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    const ScriptAccount *first = account_of(&stats, "ServerScriptService/Charged");
    const ScriptAccount *second = account_of(&stats, "ServerScriptService/Same");
    REQUIRE(first != NULL && second != NULL);
    CHECK(second->call_count > first->call_count * 3 / 2);
    script_fixture_close(&fixture);
}

TEST(ends_of_many_entities_do_not_hold_up_the_world)
{
    script_fixture_open(&fixture, few_steps);
    CHECK(script_fixture_compile(&fixture, "Workspace/Ends",
                                 "function onDestroy() for i = 1, 450000 do end end")
              .ok);
    uint64_t parts[100];
    for (uint32_t i = 0; i < 100; i++) {
        parts[i] = script_fixture_part(&fixture, vec3((float)i, 50, 0), 0);
        uint32_t instance = 0;
        CHECK_OK(script_bind(
            fixture.scripts,
            &(InstanceDesc){.script_id = "Workspace/Ends", .entity = parts[i], .enabled = true},
            &instance));
    }
    script_fixture_run(&fixture, 3);
    ScriptStats before;
    script_stats(fixture.scripts, &before);
    for (uint32_t i = 0; i < 100; i++) {
        script_unbind_entity(fixture.scripts, parts[i]);
    }
    ScriptStats after;
    script_stats(fixture.scripts, &after);
    CHECK((after.step_count - before.step_count) / VM_STEPS_PER_MS < 12);
    CHECK_INT(script_fixture_lines(&fixture, "Ends: a call of onDestroy was dropped"), 1);
    CHECK_INT(after.instance_count, 0);
    script_fixture_close(&fixture);
}

TEST(breeding_ends_with_a_fault)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Signals",
                             "local s = Signal.new() s:Connect(function() s:Fire() s:Fire() end)\n"
                             "function onStart() s:Fire() end",
                             0);
    script_fixture_run(&fixture, 5);
    CHECK(fixture.fault_count > 0);
    fixture.fault_count = 0;
    (void)script_fixture_add(&fixture, "ServerScriptService/Tasks",
                             "local function breed() task.spawn(breed) task.spawn(breed) end\n"
                             "function onStart() breed() end",
                             0);
    script_fixture_run(&fixture, 60);
    CHECK(fixture.fault_count > 0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Next",
                             "function onStart() print('the next one runs') end", 0);
    script_fixture_run(&fixture, 60);
    CHECK_INT(script_fixture_lines(&fixture, "the next one runs"), 1);
    script_fixture_close(&fixture);
}

TEST(triggers_reach_hooks_and_signals)
{
    script_fixture_open(&fixture, NULL);
    const uint64_t zone = script_fixture_part(&fixture, vec3(10, 1, 10), PART_GHOST | PART_TRIGGER);
    (void)script_fixture_add(
        &fixture, "Workspace/Zone",
        "function onStart(self)\n"
        "  self.TriggerEntered:Connect(function(o) print('signal', o.Type) end) end\n"
        "function OnTriggerEnter(self, other) print('enter', other.Player.Name)\n"
        "  KillPlayer() end\n"
        "function OnTriggerLeave(self, other) print('leave') end\n",
        zone);
    script_fixture_run(&fixture, 2); // started before anybody comes
    const Handle body = sim_next(fixture.sim, HANDLE_NONE, ENTITY_MASK(ENTITY_PLAYER));
    CHECK_OK(sim_set_position(fixture.sim, body, vec3(10, 0, 10)));
    script_fixture_run(&fixture, 5);
    CHECK_INT(script_fixture_lines(&fixture, "enter\tbo"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "signal\tPlayer"), 1);
    CHECK(sim_entity(fixture.sim, body)->character.health <= 0);
    CHECK_INT(script_fixture_lines(&fixture, "leave"), 1); // the dead leave
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

TEST(touching_a_part_that_listens)
{
    script_fixture_open(&fixture, NULL);
    const uint64_t hooked = script_fixture_part(&fixture, vec3(10, 1, 0), 0);
    const uint64_t listened = script_fixture_part(&fixture, vec3(-10, 1, 0), 0);
    (void)script_fixture_add(&fixture, "Workspace/Plate",
                             "function OnTouch(self, other) print('hook', other.Type) end", hooked);
    char code[256];
    snprintf(
        code, sizeof code,
        "function onStart() for _, e in ipairs(World.GetInRadius(Vector3.new(-10, 1, 0), 2, "
        "'Part')) do\n"
        "  assert(e.Id == %d) e.Touched:Connect(function(o) print('signal', o.Type) end) end end",
        (int)listened);
    (void)script_fixture_add(&fixture, "ServerScriptService/Listener", code, 0);
    script_fixture_run(&fixture, 3);
    const Handle body = sim_next(fixture.sim, HANDLE_NONE, ENTITY_MASK(ENTITY_PLAYER));
    CHECK_OK(sim_set_position(fixture.sim, body, vec3(10, 2.2f, 0)));
    script_fixture_run(&fixture, 30);
    CHECK_INT(script_fixture_lines(&fixture, "hook\tPlayer"), 1);
    CHECK_OK(sim_set_position(fixture.sim, body, vec3(-10, 2.2f, 0)));
    script_fixture_run(&fixture, 30);
    CHECK_INT(script_fixture_lines(&fixture, "signal\tPlayer"), 1);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

TEST(execute_runs_one_hook_with_its_own_limit)
{
    script_fixture_open(&fixture, NULL);
    const uint32_t instance = script_fixture_add(
        &fixture, "ServerScriptService/Facade",
        "function onStart() print('by hand') end\n"
        "function onUpdate(self, dt) if dt > 0.2 then for i = 1, 1e9 do end end end",
        0);
    ExecuteResult result = script_execute(fixture.scripts, instance, HOOK_START, 0, 0);
    CHECK(result.ok);
    CHECK(result.steps > 0);
    CHECK_INT(script_fixture_lines(&fixture, "by hand"), 1);
    result = script_execute(fixture.scripts, instance, HOOK_UPDATE, 2, 0.1f);
    CHECK(result.ok);
    result = script_execute(fixture.scripts, instance, HOOK_UPDATE, 2, 0.5f);
    CHECK(!result.ok);
    CHECK(result.steps >= 2 * VM_STEPS_PER_MS);
    CHECK(result.steps < 3 * VM_STEPS_PER_MS);
    CHECK(result.error[0] != 0);
    CHECK(!script_execute(fixture.scripts, 999, HOOK_START, 0, 0).ok);
    script_fixture_close(&fixture);
}

TEST(the_log_is_rate_limited_per_script)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Chatty",
                             "function onUpdate() print('blah') end", 0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Quiet",
                             "function onStart() task.wait(0.5) print('heard') end", 0);
    script_fixture_run(&fixture, 58);
    CHECK_INT(script_fixture_lines(&fixture, "blah"), 20);
    CHECK_INT(script_fixture_lines(&fixture, "heard"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "more than 20 lines"), 1);
    script_fixture_close(&fixture);
}

TEST(a_rune_runs_like_its_source)
{
    script_fixture_open(&fixture, NULL);
    static uint8_t rune[65536];
    size_t bytes = 0;
    static const char code[] = "function onStart() print('from a rune') error('line two?') end";
    // Compiled in a system of its own, as the server does it.
    Vm *vm = NULL;
    const VmConfig config = vm_config_default();
    CHECK_OK(vm_create(&fixture.heap, &config, &vm));
    vm_push_environment(vm_main(vm));
    CHECK_OK(vm_compile(vm_main(vm), "Workspace/Rune", code, sizeof code - 1, -1));
    CHECK_OK(rune_write(vm_main(vm), "Workspace/Rune", rune, sizeof rune, &bytes));
    vm_destroy(&fixture.heap, vm);

    CHECK_OK(script_load_rune(fixture.scripts, "Workspace/Rune", rune, bytes));
    CHECK_OK(script_load_rune(fixture.scripts, "Workspace/Rune", rune, bytes)); // nothing new
    uint32_t instance = 0;
    const InstanceDesc desc = {.script_id = "Workspace/Rune", .enabled = true};
    CHECK_OK(script_bind(fixture.scripts, &desc, &instance));
    script_fixture_run(&fixture, 2);
    CHECK_INT(script_fixture_lines(&fixture, "from a rune"), 1);
    REQUIRE(fixture.fault_count == 1);
    CHECK_INT(fixture.faults[0].line, 1);
    rune[bytes - 1] ^= 1;
    CHECK_INT(script_load_rune(fixture.scripts, "Workspace/Rune", rune, bytes), STATUS_MISMATCH);
    CHECK_INT(script_load_rune(fixture.scripts, "Workspace/Rune", rune, 20), STATUS_TRUNCATED);
    script_fixture_close(&fixture);
}

static double fake_now, fake_step = 2;

static double count_ms(void *user)
{
    double *now = user;
    *now += fake_step;
    return *now;
}

static void with_clock(ScriptConfig *config)
{
    config->clock_ms = count_ms;
    config->clock_user = &fake_now;
}

TEST(a_clock_measures_and_decides_nothing)
{
    fake_now = 0;
    script_fixture_open(&fixture, with_clock);
    const CompileResult compiled =
        script_fixture_compile(&fixture, "ServerScriptService/Timed", "x = 1");
    CHECK_NEAR(compiled.compile_ms, 2, 1e-9);
    uint32_t instance = 0;
    const InstanceDesc desc = {.script_id = "ServerScriptService/Timed", .enabled = true};
    CHECK_OK(script_bind(fixture.scripts, &desc, &instance));
    const ExecuteResult result = script_execute(fixture.scripts, instance, HOOK_LOAD, 0, 0);
    CHECK(result.ok);
    CHECK_NEAR(result.exec_ms, 6, 1e-9); // the clock is also read before and after the call itself
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    CHECK_NEAR(stats.compile_ms, 2, 1e-9);
    CHECK_NEAR(stats.time_ms, 2, 1e-9);
    CHECK_INT(stats.call_count, 1);
    REQUIRE(stats.scripts_listed == 1);
    CHECK_NEAR(stats.scripts[0].compile_ms, 2, 1e-9);
    CHECK_NEAR(stats.scripts[0].time_ms, 2, 1e-9);
    script_fixture_close(&fixture);
}

static ScriptAccount timed_account(void)
{
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    CHECK_INT(stats.scripts_listed, 1);
    return stats.scripts[0];
}

TEST(the_slowest_of_a_hundred_calls_are_known_and_forgotten)
{
    fake_step = 0.1;
    script_fixture_open(&fixture, with_clock);
    (void)script_fixture_add(&fixture, "ServerScriptService/Timed", "function onUpdate() end", 0);
    script_fixture_run(&fixture, 193);
    CHECK_NEAR(timed_account().time_p99_ms, 0.112, 0.001); // the end of its bucket
    fake_step = 5;
    script_fixture_run(&fixture, 7);
    const ScriptAccount account = timed_account();
    CHECK(account.time_p99_ms > 5 && account.time_p99_ms < 5.0 * 1.25);
    CHECK_NEAR(account.time_ms, 194 * 0.1 + 7 * 5, 1e-6); // the top level is a call too
    fake_step = 0.1;
    script_fixture_run(&fixture, 4000);
    CHECK_NEAR(timed_account().time_p99_ms, 0.112, 0.001);
    script_fixture_close(&fixture);
    fake_step = 2;
}

TEST(the_account_says_who_costs_what)
{
    script_fixture_open(&fixture, NULL);
    const uint64_t part = script_fixture_part(&fixture, vec3(0, 5, 10), 0);
    (void)script_fixture_add(&fixture, "Workspace/Hoarder",
                             "local kept = {} function onUpdate(self)\n"
                             "  for i = 1, 100 do kept[#kept + 1] = {i} end end",
                             part);
    (void)script_fixture_add(&fixture, "ServerScriptService/Light", "function onUpdate() end", 0);
    script_fixture_run(&fixture, 100);
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    REQUIRE(stats.scripts_listed == 2);
    CHECK_TEXT(stats.scripts[0].path, "Workspace/Hoarder"); // the dearest first
    CHECK_INT(stats.scripts[0].call_count, 101);
    CHECK(stats.scripts[0].step_count > 10 * stats.scripts[1].step_count);
    CHECK(stats.scripts[0].memory_bytes > 400000); // ten thousand tables
    CHECK(stats.scripts[1].memory_bytes < 100000);
    REQUIRE(stats.entities_listed == 1);
    CHECK_INT(stats.entities[0].entity, part);
    CHECK_INT(stats.script_count, 2);
    CHECK_INT(stats.instance_count, 2);
    CHECK_INT(stats.pending_loads, 0);
    script_fixture_close(&fixture);
}

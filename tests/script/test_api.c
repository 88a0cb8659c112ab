// Runs the scripts in tests/script/api on the side or sides that their first line names, in the
// small world with both sides joined. A script passes when it prints "done" and nothing faults. The
// last test calls remotes between a script of the server and one of the client.
#include "core/script/script_inside.h"
#include "core/script/value.h"
#include "tests/script/embedded.h"
#include "tests/script/small_world.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add(ScriptSystem *scripts, const char *path, const char *code, size_t bytes)
{
    const CompileRequest request = {.script_id = path, .code = code, .code_bytes = bytes};
    const CompileResult result = script_compile(scripts, &request);
    if (!result.ok) {
        test_fail(__FILE__, __LINE__, "%s", result.error);
        return false;
    }
    uint32_t instance = 0;
    const InstanceDesc desc = {.script_id = path, .enabled = true};
    return script_bind(scripts, &desc, &instance) == STATUS_OK;
}

static uint32_t number_after(const char *text, const char *key, uint32_t otherwise)
{
    const char *found = strstr(text, key);
    return found != NULL ? (uint32_t)strtoul(found + strlen(key), NULL, 10) : otherwise;
}

static void check_no_faults(ScriptSystem *scripts, const char *name)
{
    ScriptFault fault;
    while (script_faults(scripts, &fault, 1) != 0) {
        test_fail(__FILE__, __LINE__, "%s: %s%s", name, fault.message, fault.traceback);
    }
}

static void run_on(const EmbeddedScript *script, ScriptSide side)
{
    SampleWorld *world = small_world_open();
    ScriptSystem *scripts = sample_world_scripts(world, side);
    if (add(scripts, script->name, script->text, script->bytes)) {
        sample_world_step(world, number_after(script->text, "-- ticks: ", 60));
        check_no_faults(scripts, script->name);
        if (strstr(small_log.text, ": done\n") == NULL) {
            test_fail(__FILE__, __LINE__, "%s on side %d did not come to its end: %s", script->name,
                      (int)side, small_log.text);
        }
    }
    small_world_close(world);
}

TEST(scripts_of_the_api)
{
    for (const EmbeddedScript *script = api_scripts; script->name != NULL; script++) {
        const char *side = strstr(script->text, "-- side: ");
        REQUIRE(side != NULL);
        side += 9;
        if (strncmp(side, "client", 6) != 0) {
            run_on(script, SCRIPT_SERVER);
        }
        if (strncmp(side, "server", 6) != 0) {
            run_on(script, SCRIPT_CLIENT);
        }
    }
}

TEST(the_two_sides_talk)
{
    static const char server[] =
        "Network.Declare('Typed', {types = {'number', 'string'}})\n"
        "Network.OnClientEvent('Hello', function(player, v, t)\n"
        "  print('server heard', player.Name, v, t.a[2])\n"
        "  Network.FireClient(player, 'Reply', v * 2, player.Character)\n"
        "  Network.Broadcast('All', 'x') end)\n"
        "Network.OnClientEvent('Typed', function(player, n, s) print('typed', n, s) end)\n"
        "Network.OnInvoke('Add', function(player, a, b) task.wait(0.1) return a + b, 'sum' end)\n"
        "Network.OnInvoke('Fail', function() error('secret text') end)\n";
    static const char client[] =
        "Network.OnServerEvent('Reply', function(v, e) print('client heard', v, e.Type) end)\n"
        "Network.OnServerEvent('All', function(x) print('broadcast', x) end)\n"
        "function onStart()\n"
        "  Network.FireServer('Hello', Vector3.new(1, 2, 3), {a = {1, 'two'}})\n"
        "  Network.FireServer('Typed', 1, 'good')\n"
        "  Network.FireServer('Typed', 'bad', 1)\n"
        "  Network.FireServer('Typed', 1)\n"
        "  print('sum', Network.Invoke('Add', 2, 3))\n"
        "  print('fail', pcall(Network.Invoke, 'Fail'))\n"
        "  print('none', pcall(Network.Invoke, 'Nobody'))\n"
        "  print('function', pcall(Network.FireServer, 'Hello', print))\n"
        "  local deep = {} local t = deep for i = 1, 12 do t.t = {} t = t.t end\n"
        "  print('deep', pcall(Network.FireServer, 'Hello', deep))\n"
        "end\n";
    SampleWorld *world = small_world_open();
    ScriptSystem *scripts = sample_world_scripts(world, SCRIPT_SERVER);
    ScriptSystem *view = sample_world_scripts(world, SCRIPT_CLIENT);
    CHECK(add(scripts, "ServerScriptService/Game", server, sizeof server - 1));
    sample_world_step(world, 2);
    CHECK(add(view, "StarterPlayer/Hud", client, sizeof client - 1));
    sample_world_step(world, 120);
    static const char *const wanted[] = {
        "server heard\tplayer1\t1.0, 2.0, 3.0\ttwo\n",
        "client heard\t2.0, 4.0, 6.0\tPlayer\n",
        "broadcast\tx\n",
        "typed\t1\tgood\n",
        "sum\t5\tsum\n",
        "fail\tfalse\t",
        "none\tfalse\t",
        "function\tfalse\tHello: argument 1: functions and coroutines cannot travel\n",
        "deep\tfalse\tHello: argument 1.t.t.t.t.t.t.t.t: more than 8 tables inside each other\n",
    };
    for (uint32_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (strstr(small_log.text, wanted[i]) == NULL) {
            test_fail(__FILE__, __LINE__, "no line \"%s\" in:\n%s", wanted[i], small_log.text);
        }
    }
    CHECK(strstr(small_log.text, "typed\tbad") == NULL);
    // What the server's handler raised is for the server's log, not for the client.
    CHECK(strstr(small_log.text, "fail\tfalse\tStarterPlayer/Hud:") == NULL ||
          strstr(small_log.text, "Hud: fail\tfalse\tsecret") == NULL);
    check_no_faults(view, "client");
    ScriptStats stats;
    script_stats(scripts, &stats);
    CHECK_INT(stats.messages_dropped, 2);
    CHECK_INT(stats.fault_count, 1); // the one that failed
    small_world_close(world);
}

TEST(a_declared_rate_holds)
{
    static const char server[] =
        "Network.Declare('Often', {rate = 10}) local n = 0\n"
        "Network.OnClientEvent('Often', function(player, i) n = n + 1 print('got', n) end)\n"
        "Network.OnClientEvent('Free', function() print('free') end)\n";
    static const char client[] =
        "function onStart() for i = 1, 15 do Network.FireServer('Often', i) end\n"
        "  Network.FireServer('Free') task.wait(1.5)\n"
        "  for i = 1, 3 do Network.FireServer('Often', i) end end\n";
    SampleWorld *world = small_world_open();
    ScriptSystem *scripts = sample_world_scripts(world, SCRIPT_SERVER);
    ScriptSystem *view = sample_world_scripts(world, SCRIPT_CLIENT);
    CHECK(add(scripts, "ServerScriptService/Game", server, sizeof server - 1));
    sample_world_step(world, 2);
    CHECK(add(view, "StarterPlayer/Eager", client, sizeof client - 1));
    sample_world_step(world, 40);
    CHECK(strstr(small_log.text, "got\t10\n") != NULL);
    CHECK(strstr(small_log.text, "got\t11\n") == NULL);
    CHECK(strstr(small_log.text, ": free\n") != NULL);
    sample_world_step(world, 90);
    CHECK(strstr(small_log.text, "got\t13\n") != NULL); // another second, another ten
    ScriptStats stats;
    script_stats(scripts, &stats);
    CHECK_INT(stats.messages_dropped, 5);
    check_no_faults(scripts, "server");
    check_no_faults(view, "client");
    small_world_close(world);
}

// A widget is used: what the page would send back for the handler with that number.
static void use_widget(ScriptSystem *scripts, uint64_t owner, double handler, const char *typed)
{
    uint8_t bytes[64] = {6, 1, 5, (uint8_t)strlen(typed)}; // a list of one text
    memcpy(bytes + 4, typed, strlen(typed));
    const ScriptEvent event = {.type = SCRIPT_EVENT_UI,
                               .entity = owner,
                               .value = handler,
                               .payload = bytes,
                               .payload_bytes = typed[0] != 0 ? 4 + strlen(typed) : 0};
    CHECK_OK(script_event(scripts, &event));
}

TEST(widgets_call_back)
{
    static const char client[] =
        "UI.Show(UI.List({anchor = 'top', UI.Text({text = 'hi'}),\n"
        "  UI.Button({text = 'go', OnClick = function() print('clicked') UI.Clear() end}),\n"
        "  UI.Input({OnSubmit = function(text) print('typed', text) end})}))\n"
        "local deep = UI.List({}) local t = deep for i = 1, 9 do t[1] = UI.List({}) t = t[1] end\n"
        "print(pcall(UI.Show, deep))\n";
    SampleWorld *world = small_world_open();
    ScriptSystem *view = sample_world_scripts(world, SCRIPT_CLIENT);
    CHECK(add(view, "StarterGui/Hud", client, sizeof client - 1));
    sample_world_step(world, 2);
    CHECK(strstr(small_log.text, "widgets inside each other") != NULL);
    const uint64_t owner = ((const Instance *)pool_at(&view->instances, 1))->number;
    // Tables are walked in the same order everywhere, so the handlers' numbers are known: 1 and 2.
    use_widget(view, owner, 2, "abc");
    use_widget(view, owner, 1, "");
    use_widget(view, owner, 99, "");
    use_widget(view, owner + 1, 1, "");
    sample_world_step(world, 2);
    CHECK(strstr(small_log.text, "clicked\n") != NULL);
    CHECK(strstr(small_log.text, "typed\tabc\n") != NULL);
    small_log = (SmallLog){.bytes = 0};
    use_widget(view, owner, 1, ""); // the tree was cleared: nobody is there
    sample_world_step(world, 2);
    CHECK(strstr(small_log.text, "clicked") == NULL);
    check_no_faults(view, "client");
    small_world_close(world);
}

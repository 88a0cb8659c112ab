// Runs the scripts in tests/script/api on the side or sides that their first line names, in the
// small world with both sides joined. A script passes when it prints "done" and nothing faults. The
// last test calls remotes between a script of the server and one of the client.
#include "core/script/runtime/script_inside.h"
#include "core/script/runtime/value.h"
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

// A client sees what the server paints; what its own scripts paint hides that, member by member,
// until the server changes that member, and nobody is warned.
TEST(a_client_paints_over_until_the_server_does)
{
    static const char server[] = "function onStart()\n"
                                 "  task.wait(0.2)\n"
                                 "  local door = World.Find('Door')\n"
                                 "  door:SetLook{colour = '#111111', glow = 0.5}\n"
                                 "  task.wait(0.4)\n"
                                 "  door.Color = '#222222'\n"
                                 "  task.wait(0.2)\n"
                                 "  assert(door.Glow == 0.5, 'a client changes nothing here')\n"
                                 "  print('server is done')\n"
                                 "end\n";
    static const char client[] = "function onStart()\n"
                                 "  task.wait(0.4)\n"
                                 "  local door = World.Find('Door')\n"
                                 "  print('sees', door.Color, door.Glow)\n"
                                 "  door:SetLook{color = '#999999', glow = 1}\n"
                                 "  print('paints', door.Color, door.Glow)\n"
                                 "  task.wait(0.4)\n"
                                 "  print('then', door.Color, door.Glow)\n"
                                 "end\n";
    SampleWorld *world = small_world_open();
    ScriptSystem *scripts = sample_world_scripts(world, SCRIPT_SERVER);
    ScriptSystem *view = sample_world_scripts(world, SCRIPT_CLIENT);
    CHECK(add(scripts, "ServerScriptService/Game", server, sizeof server - 1));
    CHECK(add(view, "StarterPlayer/Hud", client, sizeof client - 1));
    sample_world_step(world, 90);
    check_no_faults(scripts, "server");
    check_no_faults(view, "client");
    static const char *const wanted[] = {"sees\t#111111\t0.5\n", "paints\t#999999\t1.0\n",
                                         "then\t#222222\t1.0\n", "server is done\n"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (strstr(small_log.text, wanted[i]) == NULL) {
            test_fail(__FILE__, __LINE__, "%s is not in %s", wanted[i], small_log.text);
        }
    }
    CHECK(strstr(small_log.text, "is ignored on a client") == NULL);
    small_world_close(world);
}

// The client hears of what it may see, when it is replicated; the server at the end of the tick.
TEST(changes_are_heard_on_both_sides)
{
    static const char server[] =
        "function onStart()\n"
        "  task.wait(0.2)\n"
        "  local body = Players.GetPlayers()[1].Character\n"
        "  body.AttributeChanged:Connect(function(name, now, before)\n"
        "    print('server', name, before, now) end)\n"
        "  body:SetAttribute('Ammo', 3, {visibility = 'owner'})\n"
        "  body:SetAttribute('Hidden', 'secret', {visibility = 'server'})\n"
        "  body:AddTag('hunter')\n"
        "  task.wait(0.2)\n"
        "  body:SetAttribute('Ammo', 2)\n"
        "  task.wait(0.2)\n"
        "  body:SetAttribute('Ammo', nil)\n"
        "  body:RemoveTag('hunter')\n"
        "  local coin = World.Spawn('Coin', Vector3.new(1, 1, 1))\n"
        "  task.wait(0.2)\n"
        "  coin:Destroy()\n"
        "end\n";
    static const char client[] =
        "function onStart()\n"
        "  local body = Players.LocalPlayer.Character\n"
        "  body:GetAttributeChangedSignal('Ammo'):Connect(function(now, before)\n"
        "    print('client ammo', before, now) end)\n"
        "  body.AttributeChanged:Connect(function(name) print('client', name) end)\n"
        "  World.TagAdded:Connect(function(tag, e) print('client +', tag, e == body) end)\n"
        "  World.TagRemoved:Connect(function(tag, e) print('client -', tag, e == body) end)\n"
        "  local own = World.SpawnLocal('Coin', Vector3.new(2, 2, 2))\n"
        "  own.AttributeChanged:Connect(function(name, now, before) print('own', before, now) "
        "end)\n"
        "  own:SetAttribute('value', 9)\n"
        "  task.wait(0.1)\n"
        "  own:Destroy()\n"
        "end\n";
    SampleWorld *world = small_world_open();
    ScriptSystem *scripts = sample_world_scripts(world, SCRIPT_SERVER);
    ScriptSystem *view = sample_world_scripts(world, SCRIPT_CLIENT);
    CHECK(add(scripts, "ServerScriptService/Game", server, sizeof server - 1));
    CHECK(add(view, "StarterPlayer/Hud", client, sizeof client - 1));
    sample_world_step(world, 90);
    check_no_faults(scripts, "server");
    check_no_faults(view, "client");
    static const char *const wanted[] = {
        "client +\tcoin\tfalse\n",       "own\t1\t9\n",
        "client -\tcoin\tfalse\n",       "server\tAmmo\tnil\t3\n",
        "server\tHidden\tnil\tsecret\n", "client ammo\tnil\t3\n",
        "client +\thunter\ttrue\n",      "server\tAmmo\t3\t2\n",
        "client ammo\t3\t2\n",           "server\tAmmo\t2\tnil\n",
        "client ammo\t2\tnil\n",         "client -\thunter\ttrue\n",
        "client +\tcoin\tfalse\n",       "client -\tcoin\tfalse\n"};
    const char *at = small_log.text;
    for (uint32_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const char *found = strstr(at, wanted[i]);
        if (found == NULL) {
            test_fail(__FILE__, __LINE__, "no line \"%s\" in:\n%s", wanted[i], at);
            break;
        }
        at = found + strlen(wanted[i]);
    }
    CHECK(strstr(small_log.text, "client\tHidden") == NULL);
    small_world_close(world);
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
        "server heard\tplayer1\t1, 2, 3\ttwo\n",
        "client heard\t2, 4, 6\tPlayer\n",
        "broadcast\tx\n",
        "typed\t1\tgood\n",
        "sum\t5\tsum\n",
        "fail\tfalse\t",
        "none\tfalse\t",
        "function\tfalse\tHello: argument 1: functions and coroutines cannot be sent\n",
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
    CHECK_INT(stats.messages_dropped, 3); // two by their types, one that nobody answers
    CHECK_INT(stats.fault_count, 2);      // the one that failed, and what was refused
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
    CHECK_INT(stats.fault_count, 1); // that the rate was too high
    check_no_faults(view, "client");
    small_world_close(world);
}

// A widget is used: what the page would send back for the handler with that number.
static void use_widget(ScriptSystem *scripts, uint64_t owner, double handler, const char *typed)
{
    uint8_t bytes[64] = {6, 1, 5, (uint8_t)strlen(typed)}; // a list of one text
    memcpy(bytes + 4, typed, strlen(typed));
    const ScriptEvent event = {.type = SCRIPT_EVENT_UI,
                               .other = owner,
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
    use_widget(view, owner, 1, ""); // the tree was cleared: it does not exist
    sample_world_step(world, 2);
    CHECK(strstr(small_log.text, "clicked") == NULL);
    check_no_faults(view, "client");
    small_world_close(world);
}

// A coroutine that waits is its script's, however another one came by it.
TEST(coroutines_of_others_are_left_alone)
{
    static const char victim[] = "World.Find('Door').kept = task.spawn(function()\n"
                                 "  local waited = task.wait(0.2)\n"
                                 "  print('waited', type(waited))\n"
                                 "end)\n";
    static const char thief[] = "local kept = World.Find('Door').kept\n"
                                "print('cancel', pcall(task.cancel, kept))\n"
                                "print('spawn', pcall(task.spawn, kept, 'evil'))\n"
                                "print('resume', pcall(coroutine.resume, kept, 'evil'))\n";
    SampleWorld *world = small_world_open();
    ScriptSystem *server = sample_world_scripts(world, SCRIPT_SERVER);
    CHECK(add(server, "ServerScriptService/Victim", victim, sizeof victim - 1));
    sample_world_step(world, 2);
    CHECK(add(server, "ServerScriptService/Thief", thief, sizeof thief - 1));
    sample_world_step(world, 30);
    CHECK(strstr(small_log.text, "cancel\tfalse\ttask.cancel: this coroutine belongs") != NULL);
    CHECK(strstr(small_log.text, "spawn\tfalse\ttask.spawn: this coroutine belongs") != NULL);
    CHECK(strstr(small_log.text, "resume\tfalse\tcoroutine.resume: this coroutine") != NULL);
    CHECK(strstr(small_log.text, "waited\tnumber") != NULL);
    check_no_faults(server, "server");
    small_world_close(world);
}

// What is shown above entities: its own handlers, room that is given back, an end with the script.
static const char tags[] =
    "local part = World.Find('Door')\n"
    "UI.At(part, UI.Button({text = 'open', OnClick = function() print('above') end}))\n"
    "UI.Show(UI.Button({text = 'go', OnClick = function() print('screen') end}))\n"
    "print('no entity', pcall(UI.At, 5, UI.Text({text = 'x'})))\n"
    "print('bad tree', pcall(UI.At, part, {1, {2, {3, {4, {5, {6, {7, {8}}}}}}}}))\n"
    "task.spawn(function()\n"
    "  local made = {}\n"
    "  for i = 1, 65 do made[i] = World.SpawnLocal('Crate', Vector3.new(i, 9, 0)) end\n"
    "  task.wait()\n"
    "  local shown, why = 1, nil\n"
    "  for i = 1, 65 do\n"
    "    if i == 40 then task.wait() end\n"
    "    local ok, text = pcall(UI.At, made[i], UI.Text({text = 'x'}))\n"
    "    if ok then shown = shown + 1 else why = text end\n"
    "  end\n"
    "  print('tags', shown, why)\n"
    "  for i = 1, 65 do made[i]:Destroy() end\n"
    "  task.wait(0.1)\n"
    "  local one = World.SpawnLocal('Crate', Vector3.new(0, 9, 0))\n"
    "  print('again', pcall(UI.At, one, UI.Text({text = 'x'})))\n"
    "end)\n";

TEST(widgets_stand_above_entities)
{
    SampleWorld *world = small_world_open();
    ScriptSystem *view = sample_world_scripts(world, SCRIPT_CLIENT);
    CHECK(add(view, "StarterGui/Tags", tags, sizeof tags - 1));
    sample_world_step(world, 60);
    CHECK(strstr(small_log.text, "tags\t64\tUI.At: a script shows something above at most 64") !=
          NULL);
    CHECK(strstr(small_log.text, "again\ttrue") != NULL);
    CHECK(strstr(small_log.text, "no entity\tfalse") != NULL);
    CHECK(strstr(small_log.text, "bad tree\tfalse") != NULL);
    const uint64_t owner = ((const Instance *)pool_at(&view->instances, 1))->number;
    use_widget(view, owner, 1, "");
    sample_world_step(world, 2);
    CHECK(strstr(small_log.text, "screen\n") != NULL);
    CHECK(strstr(small_log.text, "above\n") == NULL);
    check_no_faults(view, "client");
    small_world_close(world);
}

// A script that shows as much as it may, as often as it may, in every tick, and once more than that
// in every way there is. What it takes is counted for it, and another script's onUpdate is on time.
static const char hostile_hud[] =
    "local function tree(count, text)\n"
    "  local list = {}\n"
    "  for i = 1, count do list[i] = UI.Text({text = text}) end\n"
    "  return UI.List(list)\n"
    "end\n"
    "local function wide(name, fields)\n"
    "  local list = {}\n"
    "  for i = 1, fields do list['f' .. i] = print end\n"
    "  print(name, pcall(UI.Show, list))\n"
    "end\n"
    "local shared = {}\n" // four levels with eight times the same table: 4,681 widgets
    "for _ = 1, 4 do\n"
    "  local list = {}\n"
    "  for i = 1, 8 do list[i] = shared end\n"
    "  shared = UI.List(list)\n"
    "end\n"
    "print('shared', pcall(UI.Show, shared))\n"
    "print('many', pcall(UI.Show, tree(256, 'x')))\n"
    "print('long', pcall(UI.Show, tree(1, string.rep('x', 1025))))\n"
    "task.wait()\n"
    "wide('wide', 4097)\n"
    "wide('most', 1000)\n"
    "task.wait()\n"
    "local changes, calls = 0, 0\n"
    "function onUpdate()\n"
    "  local full = tree(50, string.rep('x', 1024))\n"
    "  for _ = 1, 100 do calls = calls + 1 if pcall(UI.Show, full) then changes = changes + 1 end "
    "end\n"
    "  if calls == 5000 then print('changes', changes) end\n"
    "end\n";

TEST(a_screen_is_not_filled_without_end)
{
    static const char honest[] = "local n, late, before = 0, 0, nil\n"
                                 "function onUpdate(_, dt)\n"
                                 "  if dt > 1.5 / 60 then late = late + 1 end\n"
                                 "  n = n + 1\n"
                                 "  if n == 50 then print('honest', late) end\n"
                                 "end\n";
    SampleWorld *world = small_world_open();
    ScriptSystem *view = sample_world_scripts(world, SCRIPT_CLIENT);
    CHECK(add(view, "StarterGui/Hostile", hostile_hud, sizeof hostile_hud - 1));
    CHECK(add(view, "StarterGui/Honest", honest, sizeof honest - 1));
    uint64_t most = 0;
    for (uint32_t i = 0; i < 60; i++) {
        ScriptStats before;
        ScriptStats after;
        script_stats(view, &before);
        sample_world_step(world, 1);
        script_stats(view, &after);
        const uint64_t steps = after.step_count - before.step_count;
        most = steps > most ? steps : most;
    }
    CHECK(strstr(small_log.text, "shared\tfalse\tUI.Show: more than 256 widgets") != NULL);
    CHECK(strstr(small_log.text, "many\tfalse\tUI.Show: more than 256 widgets") != NULL);
    CHECK(strstr(small_log.text, "long\tfalse\tUI.Show: a text has 1025 bytes") != NULL);
    CHECK(strstr(small_log.text, "wide\tfalse\tUI.Show: more than 4096 fields") != NULL);
    CHECK(strstr(small_log.text, "most\ttrue") != NULL);
    CHECK(strstr(small_log.text, "changes\t200\n") != NULL); // four in each of fifty ticks
    CHECK(strstr(small_log.text, "honest\t0\n") != NULL);
    CHECK(most < 4 * VM_STEPS_PER_MS); // half of a tick
    check_no_faults(view, "client");
    small_world_close(world);
}

// Runs a script of the server, and for a while one of the client beside it.
static SampleWorld *run_both(const char *server, const char *client, uint32_t ticks)
{
    SampleWorld *world = small_world_open();
    CHECK(add(sample_world_scripts(world, SCRIPT_SERVER), "ServerScriptService/Game", server,
              strlen(server)));
    sample_world_step(world, 2);
    if (client != NULL) {
        CHECK(add(sample_world_scripts(world, SCRIPT_CLIENT), "StarterPlayer/Hud", client,
                  strlen(client)));
    }
    sample_world_step(world, ticks);
    return world;
}

static void check_logged(const char *const *wanted, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strstr(small_log.text, wanted[i]) == NULL) {
            test_fail(__FILE__, __LINE__, "no line \"%s\" in:\n%s", wanted[i], small_log.text);
        }
    }
}

static uint32_t lines_with(const char *text)
{
    uint32_t count = 0;
    for (const char *at = small_log.text; (at = strstr(at, text)) != NULL; at += strlen(text)) {
        count += 1;
    }
    return count;
}

#define DECLARE_EXAMPLE " (as in {types = {\"Vector3\", \"number\"}, rate = 10})"

TEST(an_option_that_does_not_exist_is_an_error)
{
    static const char server[] =
        "local function try(f, ...) print(select(2, pcall(f, ...))) end\n"
        "local door = World.Find('Door')\n"
        "try(Network.Declare, 'a', {type = {'number'}})\n"
        "try(Network.Declare, 'b', {types = {'vector3'}})\n"
        "try(Network.Declare, 'c', {types = {'number', 'quaternion'}})\n"
        "try(Network.Declare, 'd', {types = {'number', 5}})\n"
        "try(Network.Declare, 'e', {types = 'number'})\n"
        "try(Network.Declare, 'f', {'number'})\n"
        "try(Network.Declare, 'i', {rate = 0})\n"
        "try(Network.Declare, 'g', {types = {'number | strin'}})\n"
        "try(door.SetAttribute, 'x', 1, {persistant = true})\n"
        "try(door.SetAttribute, 'x', 1, {private = 'yes'})\n"
        "try(Sound.Play, 'boom', {loudness = 1})\n"
        "try(Sound.Play, 'boom', {volume = 0/0})\n"
        "try(Projectile.Fire, {position = Vector3.zero, velocity = Vector3.one, damge = 5})\n"
        "try(Projectile.Fire, {position = Vector3.zero, velocity = Vector3.one, kind = 1.5})\n"
        "Network.Declare('h', {types = {'number | nil', 'any', 'Vector3', 'Player'}, rate = 5})\n"
        "door:SetAttribute('x', 1, {persistent = true, private = false})\n"
        "Sound.Play('boom', {volume = 0.5, position = Vector3.one})\n"
        "Projectile.Fire({position = Vector3.one, velocity = Vector3.one, kind = 1, gravity = 2})\n"
        "print('good ones pass')\n";
    static const char client[] =
        "print(select(2, pcall(UI.Text, {txt = 'hi'})))\n"
        "print(select(2, pcall(Network.Declare, 'a', {type = {'number'}})))\n"
        "print(select(2, pcall(Network.Declare, 'a', {types = {'Vektor3'}})))\n"
        "local again = {text = 'hi'} UI.Text(again) UI.Text(again)\n"
        "UI.Show(UI.List({gap = 2, UI.Text({text = 'x', size = 3}), UI.Bar({value = 1})}))\n"
        "print('widgets pass')\n";
    static const char *const wanted[] = {
        "Network.Declare has no option \"type\"; did you mean \"types\"?" DECLARE_EXAMPLE "\n",
        "Network.Declare: types[1]: there is no type \"vector3\"; did you mean "
        "\"Vector3\"?" DECLARE_EXAMPLE "\n",
        "Network.Declare: types[2]: there is no type \"quaternion\"; the types are any, nil, ",
        "Entity and Player" DECLARE_EXAMPLE "\n",
        "Network.Declare: rate is between 1 and 1000 a second" DECLARE_EXAMPLE "\n",
        "Network.Declare: types[2] must be a string, got number" DECLARE_EXAMPLE "\n",
        "Network.Declare: types must be a table, got string" DECLARE_EXAMPLE "\n",
        "Network.Declare: options have names" DECLARE_EXAMPLE "\n",
        "Network.Declare: types[1]: there is no type \"strin\"; did you mean "
        "\"string\"?" DECLARE_EXAMPLE "\n",
        "Entity:SetAttribute has no option \"persistant\"; did you mean \"persistent\"?\n",
        "Entity:SetAttribute: private must be a boolean, got string\n",
        "Sound.Play has no option \"loudness\"; the options are position, entity, volume, ",
        "Sound.Play: volume must be finite, not NaN or infinity\n",
        "Projectile.Fire has no option \"damge\"; did you mean \"damage\"?\n",
        "Projectile.Fire: kind must be an integer, got number\n",
        "good ones pass\n",
        "UI.Text has no option \"txt\"; did you mean \"text\"?\n",
        "widgets pass\n",
    };
    SampleWorld *world = run_both(server, client, 5);
    check_logged(wanted, sizeof wanted / sizeof wanted[0]);
    CHECK_INT(lines_with("Network.Declare has no option \"type\""), 2); // on both sides
    CHECK_INT(lines_with("there is no type \"Vektor3\"; did you mean \"Vector3\"?"), 1);
    check_no_faults(sample_world_scripts(world, SCRIPT_SERVER), "server");
    check_no_faults(sample_world_scripts(world, SCRIPT_CLIENT), "client");
    small_world_close(world);
}

TEST(a_refused_message_is_counted_and_shown_once_for_each_reason)
{
    static const char server[] =
        "Network.Declare('Aim', {types = {'Vector3'}, rate = 3})\n"
        "Network.Declare('Often', {rate = 3})\n"
        "Network.Declare('Two', {types = {'number'}})\n"
        "Network.OnClientEvent('Aim', function(player, v) print('aimed', v) end)\n"
        "Network.On('Often', function() end)\n"
        "Network.On('Two', function() end)\n"
        "Network.OnInvoke('Ask', function() end)\n"
        "Network.On('Gone', function() end):Disconnect()\n";
    static const char client[] =
        "function onStart()\n"
        "  for i = 1, 6 do Network.FireServer('Aim', 'bad') end\n" // uses nothing of the rate up
        "  for i = 1, 3 do Network.FireServer('Aim', Vector3.one) end\n"
        "  for i = 1, 5 do Network.FireServer('Often') end\n"
        "  Network.FireServer('Two', 1, 2)\n"
        "  Network.FireServer('Aimm') Network.FireServer('Aimm')\n"
        "  Network.FireServer('Ask') Network.FireServer('Gone')\n"
        "  print('told', select(2, pcall(Network.Invoke, 'Two', 'x')))\n"
        "  print('none', select(2, pcall(Network.Invoke, 'Asc')))\n"
        "  for i = 1, 40 do pcall(Network.FireServer, 'invented' .. i) end\n"
        "  task.wait(2) Network.FireServer('Aim', 'again') end\n";
    static const char *const wanted[] = {
        "ServerScriptService/Game: a message \"Aim\" from player1 was refused: argument 1 must be "
        "of "
        "type Vector3, got string; more of them are only counted\n",
        "ServerScriptService/Game: a message \"Often\" from player1 was refused: it came more "
        "often "
        "than 3 times a second; ",
        "ServerScriptService/Game: a message \"Two\" from player1 was refused: it has 2 arguments, "
        "and 1 are declared; ",
        "Network: a message \"Aimm\" from player1 was refused: no script of the server listens to "
        "it (did you mean \"Aim\"?); ",
        "ServerScriptService/Game: a message \"Ask\" from player1 was refused: Network.OnInvoke "
        "answers it: ask with Network.Invoke, not with FireServer; ",
        "ServerScriptService/Game: a message \"Gone\" from player1 was refused: no script of the "
        "server listens to it; more",
        "Network: a message \"Asc\" from player1 was refused: no script of the server answers it "
        "(did you mean \"Ask\"?); ",
        "told\targument 1 must be of type number, got string\n",
        "none\tnobody answers this call\n",
    };
    SampleWorld *world = run_both(server, client, 180);
    ScriptSystem *scripts = sample_world_scripts(world, SCRIPT_SERVER);
    check_logged(wanted, sizeof wanted / sizeof wanted[0]);
    CHECK_INT(lines_with("a message \"Aim\""), 1); // and not again after two seconds
    CHECK_INT(lines_with("a message \"Two\""), 1);
    CHECK_INT(lines_with("a message \"Aimm\""), 1);
    CHECK_INT(lines_with("a message \"invented"), REMOTE_STRANGERS_MAX - 2);
    CHECK_INT(lines_with("aimed\t1, 1, 1\n"), 3);
    ScriptStats stats;
    script_stats(scripts, &stats);
    CHECK_INT(stats.messages_dropped, 7 + 2 + 2 + 2 + 1 + 1 + 1 + 40);
    const RemoteCosts *costs = script_remotes(scripts);
    const RemoteCost *aim = &costs->rows[remote_cost_find(costs, (Text){"Aim", 3})];
    CHECK_INT(aim->refused[REMOTE_REFUSED_TYPES], 7);
    CHECK_INT(costs->rows[REMOTE_COST_OTHERS].refused[REMOTE_REFUSED_NOBODY], 43);
    // They are faults of the script, which is neither paused nor off.
    CHECK_INT(stats.fault_count, 5);
    CHECK_INT(stats.throttled_count + stats.off_count, 0);
    ScriptFault fault;
    REQUIRE(script_faults(scripts, &fault, 1) == 1);
    CHECK_TEXT(fault.path, "ServerScriptService/Game");
    small_world_close(world);
}

// Another code may have another fault of the same kind.
TEST(a_refusal_is_shown_again_once_a_script_has_changed)
{
    static const char server[] = "Network.Declare('Aim', {types = {'Vector3'}})\n"
                                 "Network.On('Aim', function() end)\n";
    static const char client[] = "function onUpdate() Network.FireServer('Aim', 1) end\n";
    SampleWorld *world = run_both(server, client, 60);
    ScriptSystem *scripts = sample_world_scripts(world, SCRIPT_SERVER);
    CHECK_INT(lines_with("a message \"Aim\""), 1);
    const CompileRequest request = {.script_id = "ServerScriptService/Game",
                                    .code = server,
                                    .code_bytes = sizeof server - 2}; // without its last line break
    CHECK(script_reload(scripts, &request).ok);
    sample_world_step(world, 60);
    CHECK_INT(lines_with("a message \"Aim\""), 2);
    small_world_close(world);
}

TEST(an_answer_that_cannot_be_sent_is_a_fault_of_the_handler)
{
    static const char server[] = "-- the handler begins in the third line\n"
                                 "local n = 1\n"
                                 "Network.OnInvoke('Ask', function() return n, {print} end)\n";
    static const char client[] =
        "function onStart() print('answer', pcall(Network.Invoke, 'Ask')) end\n";
    SampleWorld *world = run_both(server, client, 30);
    ScriptFault fault;
    REQUIRE(script_faults(sample_world_scripts(world, SCRIPT_SERVER), &fault, 1) == 1);
    CHECK_TEXT(fault.path, "ServerScriptService/Game");
    CHECK_INT(fault.line, 3);
    CHECK_TEXT(fault.message, "Network.OnInvoke: the handler's result 2[1]: functions and "
                              "coroutines cannot be sent (caused by player player1)");
    static const char *const wanted[] = {"answer\tfalse\tthe handler failed\n",
                                         "ServerScriptService/Game:3: Network.OnInvoke: "};
    check_logged(wanted, 2);
    small_world_close(world);
}

TEST(messages_name_what_was_wrong)
{
    static const char server[] = "local function try(f, ...) print(select(2, pcall(f, ...))) end\n"
                                 "local store = DataStore.GetDataStore('s')\n"
                                 "function onStart()\n"
                                 "  local stats = Players.GetPlayers()[1].leaderstats\n"
                                 "  try(function() stats.x = 's' end)\n"
                                 "  try(function() stats.y = nil end)\n"
                                 "  try(function() stats[{}] = 1 end)\n"
                                 "  try(store.SetAsync, 'k', print)\n"
                                 "  try(store.SetAsync, 'k', {list = {1, print}})\n"
                                 "  try(store.SetAsync, 'k', string.rep('x', 70000))\n"
                                 "  try(store.UpdateAsync, 'k', function() return print end)\n"
                                 "  try(Vector3.new, 0/0)\n"
                                 "  try(Vector3.new, 1, 1e300)\n"
                                 "  try(Network.Broadcast, 'm', string.rep('x', 70000))\n"
                                 "end\n";
    static const char *const wanted[] = {
        "leaderstats.x must be a number, not a string\n",
        "leaderstats.y must be a number, not nil\n",
        "a name in leaderstats must be a string, not a table\n",
        "DataStore: argument 2: functions and coroutines cannot be stored\n",
        "DataStore: argument 2.list[2]: functions and coroutines cannot be stored\n",
        "DataStore: argument 2: too large: what is stored has at most 65536 bytes\n",
        "DataStore: the transform's result 1: functions and coroutines cannot be stored\n",
        "Vector3.new: argument 1 (x) must be finite, not NaN or infinity\n",
        "Vector3.new: argument 2 (y) must be between -3e38 and 3e38\n",
        "m: argument 1: too large: what is sent has at most 65536 bytes\n",
    };
    SampleWorld *world = run_both(server, NULL, 30);
    check_logged(wanted, sizeof wanted / sizeof wanted[0]);
    check_no_faults(sample_world_scripts(world, SCRIPT_SERVER), "server");
    small_world_close(world);
}

TEST(a_limit_of_the_small_world_is_named)
{
    static const char server[] =
        "local function fill(f) for i = 1, 5000 do local ok, text = pcall(f, i)\n"
        "  if not ok then print(text) return end if i % 20 == 0 then task.wait() end end end\n"
        "function onStart()\n"
        "  local door, player = World.Find('Door'), Players.GetPlayers()[1]\n"
        "  fill(function(i) player.leaderstats['n' .. i] = i end)\n"
        "  fill(function(i) door:SetAttribute('n' .. i, i) end)\n"
        "  fill(function(i) door:AddTag('t' .. i) end)\n"
        "  fill(function(i) Npc.Spawn(Vector3.new(i % 20, 0, 0)) end)\n"
        "  fill(function(i) Structure.Place(0, Vector3.new(i % 60 - 30, 0, i // 60 - 30)) end)\n"
        "  fill(function(i) World.SetVoxel(Vector3.new(i * 40, 0, 0), 1) end)\n"
        "  fill(function(i) World.Spawn('Crate', Vector3.new(i % 20, 5, i // 20)) end)\n"
        "  for i = 1, 2000 do if not pcall(Chat.Send, 'x') then\n"
        "    print(select(2, pcall(Chat.Send, 'x'))) break end end\n"
        "  print('done') end\n";
    static const char *const wanted[] = {
        "leaderstats: a player has at most 16 of them\n",
        "Entity.SetAttribute: an entity has at most 64 attributes, all together 4096",
        "Entity.AddTag: this world has room for 128 different tags",
        "Npc.Spawn: this world has room for 64 NPCs; a script has at most half",
        "Structure.Place: this world has room for 512 structures",
        "World.SetVoxel: this world has room for changed voxels in 128 chunks",
        "World.Spawn: this world has room for 2048 entities; a script has at most half",
        "Chat.Send: a script sends at most 1024 messages, sounds and requests in a tick",
        "done\n",
    };
    SampleWorld *world = run_both(server, NULL, 600);
    check_logged(wanted, sizeof wanted / sizeof wanted[0]);
    CHECK(strstr(small_log.text, "a limit was reached") == NULL);
    small_world_close(world);
}

// The way that docs/SCRIPTING.md shows: everybody is greeted once, whenever the script begins.
TEST(a_player_is_welcomed_once)
{
    static const char *const patterns[] = {
        "local function welcome(p) print('welcome', p.Name) end\n"
        "Players.PlayerAdded:Connect(welcome)\n"
        "for _, p in ipairs(Players.GetPlayers()) do welcome(p) end\n",
        "local function welcome(p) print('welcome', p.Name) end\n"
        "function onStart() Players.PlayerAdded:Connect(welcome)\n"
        "for _, p in ipairs(Players.GetPlayers()) do welcome(p) end end\n",
        "Players.PlayerAdded:Connect(function(p) print('welcome', p.Name) end)\n",
    };
    SampleWorld *world = small_world_open();
    ScriptSystem *scripts = sample_world_scripts(world, SCRIPT_SERVER);
    for (uint32_t i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "ServerScriptService/First%u", (unsigned)i);
        CHECK(add(scripts, path, patterns[i], strlen(patterns[i])));
    }
    sample_world_step(world, 10);
    CHECK_INT(lines_with("First0: welcome\tplayer1\n"), 1);
    CHECK_INT(lines_with("First1: welcome\tplayer1\n"), 1);
    CHECK_INT(lines_with("First2: welcome\tplayer1\n"), 1);
    // A script that comes later, and a player in the same moment as one more script.
    CHECK(add(scripts, "ServerScriptService/Later", patterns[0], strlen(patterns[0])));
    sample_world_step(world, 10);
    CHECK_INT(lines_with("Later: welcome\tplayer1\n"), 1);
    CHECK_OK(authority_player_join(sample_world_authority(world), 9, (Text){"bo", 2}));
    loopback_step(sample_world_loopback(world), 0); // a world tells of it before its tick
    CHECK(add(scripts, "ServerScriptService/Same0", patterns[0], strlen(patterns[0])));
    CHECK(add(scripts, "ServerScriptService/Same1", patterns[1], strlen(patterns[1])));
    sample_world_step(world, 10);
    CHECK_INT(lines_with("welcome\tbo\n"), 6);
    CHECK_INT(lines_with("Same0: welcome\tbo\n"), 1);
    CHECK_INT(lines_with("Same1: welcome\tbo\n"), 1);
    check_no_faults(scripts, "server");
    small_world_close(world);
}

// Both halves of the gun as the UGC document has them; the client's is in onUpdate.
TEST(the_gun_of_the_document)
{
    static const char server[] =
        "-- Host Code\n"
        "Network.OnClientEvent(\"FireGun\", function(player, dir)\n"
        "    -- Verify logic (Anti-cheat)\n"
        "    local bullet = World.Spawn(\"Bullet\")\n"
        "    bullet.SetVelocity(dir * 100)\n"
        "    Network.Broadcast(\"PlaySound\", \"shoot.wav\")\n"
        "end)\n"
        // The test's own.
        "function onUpdate()\n"
        "  local shots = World.GetInRadius(Vector3.zero, 900, 'Projectile')\n"
        "  for _, shot in ipairs(shots) do\n"
        "    local from = shot.Owner.Character.Position\n"
        "    local flown = shot.Position - from - Vector3.new(0, 1.62, 0)\n"
        "    local aside = flown:Cross(shot.Velocity.Unit).Magnitude\n"
        "    print('shot of', shot.Owner.Name, aside < 0.01,\n"
        "          math.round(shot.Velocity.Magnitude))\n"
        "  end\n"
        "end\n";
    static const char client[] =
        "function onUpdate()\n"
        "-- Client Code\n"
        "if Input.IsKeyPressed(\"Fire\") then\n"
        "    Network.FireServer(\"FireGun\", camera.Forward)\n"
        "end\n"
        "end\n"
        "Network.On('PlaySound', function(name) print('heard', name) end)\n";
    SampleWorld *world = run_both(server, client, 10);
    CHECK_OK(sample_world_key(world, (Text){"Fire", 4}, true));
    sample_world_step(world, 1);
    CHECK_OK(sample_world_key(world, (Text){"Fire", 4}, false));
    sample_world_step(world, 20);
    CHECK(lines_with("shot of\tplayer1\ttrue\t100\n") > 0);
    CHECK_INT(lines_with("shot of\tplayer1\tfalse"), 0);
    CHECK_INT(lines_with("heard\tshoot.wav\n"), 1);
    check_no_faults(sample_world_scripts(world, SCRIPT_SERVER), "server");
    check_no_faults(sample_world_scripts(world, SCRIPT_CLIENT), "client");
    small_world_close(world);
}

// Who wakes it, here a timer, is neither to blame for what it does nor owns it.
TEST(a_handler_that_waits_for_a_signal_keeps_its_player)
{
    static const char server[] = "local bell = Signal.new()\n"
                                 "Network.On('shoot', function()\n"
                                 "  bell:Wait()\n"
                                 "  print('shot of', World.Spawn('Bullet').Owner.Name)\n"
                                 "  error('on purpose')\n"
                                 "end)\n"
                                 "Timer.Every(0.2, function() bell:Fire() end)\n";
    SampleWorld *world = run_both(server, "Network.FireServer('shoot')\n", 30);
    CHECK_INT(lines_with("shot of\tplayer1\n"), 1);
    ScriptFault fault = {0};
    CHECK_INT(script_faults(sample_world_scripts(world, SCRIPT_SERVER), &fault, 1), 1);
    CHECK(strstr(fault.message, "on purpose (caused by player player1)") != NULL);
    small_world_close(world);
}

// A float takes as long to write as a hundred instructions.
TEST(json_costs_what_it_takes)
{
    static const char encode[] = "local list = {}\n"
                                 "for i = 1, 2000 do list[i] = i / 3 end\n"
                                 "function onUpdate() Json.Encode(list) onUpdate = nil end\n";
    SampleWorld *world = small_world_open();
    ScriptSystem *scripts = sample_world_scripts(world, SCRIPT_SERVER);
    CHECK(add(scripts, "ServerScriptService/Encode", encode, sizeof encode - 1));
    sample_world_step(world, 5);
    ScriptStats stats;
    script_stats(scripts, &stats);
    CHECK(stats.step_count > 2000 * 140);
    check_no_faults(scripts, "server");
    small_world_close(world);
}

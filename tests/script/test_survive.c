// What a script or a player can do to end all scripts of a world, or one that is not theirs: values
// without end, no memory at a bad moment, and faults that somebody else causes.
//
//   test_survive [NAME]
#include "core/script/runtime/script_inside.h"
#include "core/script/runtime/value.h"
#include "tests/support/test.h"
#include "tests/unit/script_fixture.h"

#include <stdio.h>
#include <string.h>

#define PLAYER 7 // the one that the fixture has

static ScriptFixture fixture;

// A message from the player, with a number as its argument.
static void send(const char *name, uint64_t invoke_id)
{
    static const uint8_t five[] = {6, 1, 3, 10};
    const ScriptEvent event = {.type = SCRIPT_EVENT_MESSAGE,
                               .player_id = PLAYER,
                               .invoke_id = invoke_id,
                               .name = {name, strlen(name)},
                               .payload = five,
                               .payload_bytes = sizeof five};
    CHECK(value_check(five, sizeof five) == STATUS_OK);
    CHECK(script_event(fixture.scripts, &event) == STATUS_OK || script_is_dead(fixture.scripts));
}

static void say(const char *text)
{
    const ScriptEvent event = {
        .type = SCRIPT_EVENT_CHAT, .player_id = PLAYER, .name = {text, strlen(text)}};
    CHECK(script_event(fixture.scripts, &event) == STATUS_OK || script_is_dead(fixture.scripts));
}

// --- vectors without end ------------------------------------------------------------------------

TEST(vectors_that_are_not_finite)
{
    static const char code[] =
        "local big = Vector3.new(1e30, 0, 0) * 1e30\n"
        "local store = DataStore.GetDataStore('s')\n"
        "local function try(what, f, ...) print(what, select(2, pcall(f, ...))) end\n"
        "Network.OnInvoke('call', function() return { deep = { big } } end)\n"
        "function onStart()\n"
        "  local p, e = Players.GetPlayers()[1], World.Spawn('Crate', Vector3.new(0, 5, 0))\n"
        "  for name, v in pairs({ inf = big, nan = big - big }) do\n"
        "    try(name .. 'Broadcast', Network.Broadcast, 'n', v)\n"
        "    try(name .. 'FireClient', Network.FireClient, p, 'n', { v })\n"
        "    try(name .. 'SetAsync', store.SetAsync, store, 'k', { at = v })\n"
        "    try(name .. 'SetAttribute', e.SetAttribute, e, 'a', v)\n"
        "    try(name .. 'Sound', Sound.Play, 'x', { position = v })\n"
        "    try(name .. 'Spawn', World.Spawn, 'Crate', v)\n"
        "    try(name .. 'Position', function() e.Position = v end)\n"
        "    local npc = Npc.Spawn(Vector3.new(1, 1, 1))\n"
        "    try(name .. 'Patrol', Npc.SetPatrol, npc, { v })\n"
        "  end\n"
        "end\n";
    static const char *const calls[] = {"Broadcast", "FireClient", "SetAsync", "SetAttribute",
                                        "Sound",     "Spawn",      "Position", "Patrol"};
    script_fixture_open(&fixture, NULL);
    CHECK(script_fixture_add(&fixture, "ServerScriptService/Game", code, 0) != 0);
    script_fixture_run(&fixture, 2);
    send("call", 1);
    script_fixture_run(&fixture, 2);
    for (uint32_t i = 0; i < 2 * sizeof calls / sizeof calls[0]; i++) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "%s%s\t", i % 2 == 0 ? "inf" : "nan", calls[i / 2]);
        const char *line = strstr(fixture.log, wanted);
        const char *end = line != NULL ? strchr(line, '\n') : NULL;
        const char *why = line != NULL ? strstr(line, "infinity") : NULL;
        if (why == NULL || why > end) {
            test_fail(__FILE__, __LINE__, "%s was not refused:\n%s", wanted, fixture.log);
        }
    }
    CHECK(fixture.fault_count == 1);
    CHECK(strstr(fixture.faults[0].message,
                 "the handler's result 1.deep[1]: a Vector3 with NaN or infinity cannot be sent") !=
          NULL);
    script_fixture_close(&fixture);
}

// --- no memory at a bad moment ------------------------------------------------------------------

// Uses what makes something in Lua outside of an entry, and inside one for another coroutine.
static const char BUSY[] =
    "local shared = require('ReplicatedStorage/Shared')\n"
    "local n = 0\n"
    "Network.Declare('told', { types = { 'number' }, rate = 100 })\n"
    "Network.OnClientEvent('told', function(p, v) n = n + 1 end)\n"
    "Network.OnInvoke('call', function(p, v) return { a = v, b = { 1, 2 }, c = 'text' } end)\n"
    "Chat.Received:Connect(function(p, text) task.spawn(function() task.wait() end) end)\n"
    "Players.PlayerAdded:Connect(function(p) Timer.After(0, function() n = n + 1 end) end)\n"
    "local s = Signal.new()\n"
    "s:Connect(function(...) task.defer(print, ...) end)\n"
    "task.spawn(function() while true do Chat.Received:Wait() end end)\n"
    "function onStart() for i = 1, 70 do task.delay(0.1, function() end) end end\n"
    "function onUpdate(self, dt) s:Fire(1, 'two', { 3 }) end\n"
    "function OnTouch(self, other) end\n"
    "function onDisable() n = 0 end\n"
    "function onDestroy() n = 0 end\n";

static void live_a_little(void)
{
    const InstanceDesc desc = {.script_id = "ServerScriptService/Busy",
                               .enabled = true,
                               .parameters = "{\"list\":[1,2,{\"a\":\"b\"}]}",
                               .parameters_bytes = 24};
    uint32_t instance = 0;
    (void)script_fixture_compile(&fixture, "ReplicatedStorage/Shared",
                                 "function onStart() end return { list = {} }");
    (void)script_fixture_compile(&fixture, "ServerScriptService/Busy", BUSY);
    (void)!script_bind(fixture.scripts, &desc, &instance);
    for (uint32_t i = 0; i < 6; i++) {
        const ScriptEvent added = {.type = SCRIPT_EVENT_PLAYER_ADDED, .player_id = PLAYER + i};
        (void)!script_event(fixture.scripts, &added);
        send("told", 0);
        send("call", i + 1);
        say("hello");
        script_fixture_run(&fixture, 1);
    }
    script_set_enabled(fixture.scripts, instance, false);
    (void)script_reload(fixture.scripts, &(CompileRequest){.script_id = "ServerScriptService/Busy",
                                                           .code = BUSY,
                                                           .code_bytes = sizeof BUSY - 1});
    script_fixture_run(&fixture, 1);
    script_unbind(fixture.scripts, instance);
}

// Makes each allocation fail in turn; in the worst case the script system ends.
TEST(every_allocation_is_refused_once)
{
    uint32_t dead = 0;
    bool reached = true;
    for (uint64_t number = 1; reached && number < 20000; number += 1 + number / 64) {
        script_fixture_open(&fixture, NULL);
        (void)vm_refuse_allocation(fixture.scripts->vm, number);
        live_a_little();
        reached = vm_refuse_allocation(fixture.scripts->vm, 0) == 0;
        dead += script_is_dead(fixture.scripts);
        script_fixture_close(&fixture);
    }
    CHECK(dead > 100 && !reached);
}

// --- faults that a player causes ----------------------------------------------------------------

static const char SHOP[] =
    "local alive = 0\n"
    "Network.OnClientEvent('buy', function(p, item) local x = item.price end)\n"
    "Network.OnClientEvent('later', function(p, item) task.wait() local x = item.price end)\n"
    "Network.OnClientEvent('spawn', function(p, item)\n"
    "  task.defer(function() Timer.After(0, function() local x = item.price end) end) end)\n"
    "Network.OnInvoke('ask', function(p, item) return item.price end)\n"
    "Network.OnClientEvent('loop', function() while true do end end)\n"
    "Network.OnClientEvent('good', function() print('good') end)\n"
    "Chat.Received:Connect(function(p, text) if text == 'x' then error('chat') end end)\n"
    "Players.PlayerRemoving:Connect(function() print('left') end)\n"
    "function onUpdate() alive = alive + 1 if alive % 60 == 0 then print('alive') end end\n";

static ScriptState state_of_shop(void)
{
    static ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    CHECK(stats.scripts_listed == 1);
    return stats.scripts[0].state;
}

// One message in every fifth tick.
static void pester(const char *name, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(name, "chat") == 0) {
            say("x");
        } else {
            send(name, strcmp(name, "ask") == 0 ? i + 1 : 0);
        }
        script_fixture_run(&fixture, 5);
    }
}

TEST(a_player_does_not_switch_a_script_off)
{
    static const char *const ways[] = {"buy", "later", "spawn", "ask", "loop", "chat"};
    for (uint32_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        script_fixture_open(&fixture, NULL);
        CHECK(script_fixture_add(&fixture, "ServerScriptService/Shop", SHOP, 0) != 0);
        script_fixture_run(&fixture, 2);
        pester(ways[i], 17);
        if (state_of_shop() == SCRIPT_OFF || script_fixture_lines(&fixture, "paused") != 0) {
            test_fail(__FILE__, __LINE__, "%s: the script was stopped:\n%s", ways[i], fixture.log);
        }
        CHECK(fixture.fault_count > 0 && fixture.fault_count < 17);
        CHECK(strstr(fixture.faults[0].message, "(caused by player bo)") != NULL);
        send("good", 0);
        script_fixture_run(&fixture, 60);
        CHECK(script_fixture_lines(&fixture, "good") == 1);
        CHECK(script_fixture_lines(&fixture, "alive") >= 2);
        script_fixture_close(&fixture);
    }
}

// The remotes of a player who causes too many faults are ignored for a minute.
TEST(a_player_who_causes_faults_is_not_heard)
{
    script_fixture_open(&fixture, NULL);
    CHECK(script_fixture_add(&fixture, "ServerScriptService/Shop", SHOP, 0) != 0);
    script_fixture_run(&fixture, 2);
    pester("buy", 40);
    CHECK(script_fixture_lines(&fixture, "player bo caused 20 faults in a minute") == 1);
    static ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    CHECK(stats.fault_count == 20 && stats.events_dropped == 20);
    send("good", 0);
    const ScriptEvent left = {.type = SCRIPT_EVENT_PLAYER_REMOVING, .player_id = PLAYER};
    CHECK(script_event(fixture.scripts, &left) == STATUS_OK);
    script_fixture_run(&fixture, 5);
    CHECK(script_fixture_lines(&fixture, "good") == 0);
    CHECK(script_fixture_lines(&fixture, "left") == 1); // only what it sends
    script_fixture_run(&fixture, 60 * 60);
    send("good", 0);
    script_fixture_run(&fixture, 5);
    CHECK(script_fixture_lines(&fixture, "good") == 1);
    script_fixture_close(&fixture);
}

// What a script does by itself counts as before.
TEST(a_script_that_fails_by_itself_is_switched_off)
{
    script_fixture_open(&fixture, NULL);
    CHECK(script_fixture_add(&fixture, "ServerScriptService/Shop",
                             "function onUpdate() error('mine') end", 0) != 0);
    script_fixture_run(&fixture, 60 * 40);
    CHECK(state_of_shop() == SCRIPT_OFF);
    script_fixture_close(&fixture);
}

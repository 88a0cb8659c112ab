// The lives of scripts and players: top levels that wait while hooks run, timers that fail, what a
// reload keeps, and when players and their bodies are told.
#include "core/script/runtime/script_inside.h"
#include "tests/support/test.h"
#include "tests/unit/script_fixture.h"

#include <stdio.h>
#include <string.h>

static ScriptFixture fixture;

static void replace(const char *path, const char *code)
{
    const CompileRequest request = {.script_id = path, .code = code, .code_bytes = strlen(code)};
    CHECK(script_reload(fixture.scripts, &request).ok);
}

// --- top levels that wait -----------------------------------------------------------------------

TEST(hooks_run_beside_a_top_level_that_loops)
{
    script_fixture_open(&fixture, NULL);
    const uint64_t part = script_fixture_part(&fixture, vec3(0, 5, 10), 0);
    const uint32_t instance =
        script_fixture_add(&fixture, "Workspace/Loop",
                           "function onStart(self) print('start', self.Id > 0) end\n"
                           "function onEnable() print('enable') end\n"
                           "function onUpdate(self, dt) n = (n or 0) + 1\n"
                           "  if n == 10 then print('ten updates') end end\n"
                           "function onDestroy() print('destroy') end\n"
                           "while true do rounds = (rounds or 0) + 1 print('round', rounds)\n"
                           "  task.wait(0.1) end\n",
                           part);
    script_fixture_run(&fixture, 30);
    CHECK_INT(script_fixture_lines(&fixture, "start\ttrue"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "enable"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "ten updates"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "round\t4"), 1);
    script_unbind(fixture.scripts, instance);
    CHECK_INT(script_fixture_lines(&fixture, "destroy"), 1);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

TEST(hooks_that_come_after_a_wait_are_found_when_the_top_level_gets_there)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Late",
                             "function onUpdate() updates = (updates or 0) + 1 end\n"
                             "task.wait(0.2)\n"
                             "function onStart() print('start after', updates > 5) end\n"
                             "function onEnable() print('enable after start') end\n"
                             "task.wait(0.2)\n"
                             "function onUpdate() print('second update') onUpdate = nil end\n"
                             "print('end')\n",
                             0);
    script_fixture_run(&fixture, 10);
    CHECK_INT(script_fixture_lines(&fixture, "start"), 0);
    script_fixture_run(&fixture, 30);
    CHECK_INT(script_fixture_lines(&fixture, "start after\ttrue"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "enable after start"), 1);
    CHECK_INT(script_fixture_lines(&fixture, ": end"), 1);
    CHECK(script_fixture_lines(&fixture, "second update") > 5);
    CHECK(strstr(fixture.log, "start after") < strstr(fixture.log, "enable after start"));
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

// What TypeScript's compiler makes of a file with exports.
TEST(exports_are_hooks_before_the_file_returns_them)
{
    script_fixture_open(&fixture, NULL);
    static const char code[] = "local ____exports = {}\n"
                               "____exports.score = 3\n"
                               "function ____exports.onStart() print('start') end\n"
                               "function ____exports.onReload(old) print('old', old.score) end\n"
                               "while true do task.wait(0.05) end\n"
                               "return ____exports\n";
    (void)script_fixture_add(&fixture, "ServerScriptService/Typed", code, 0);
    script_fixture_run(&fixture, 10);
    CHECK_INT(script_fixture_lines(&fixture, "start"), 1);
    replace("ServerScriptService/Typed", code);
    script_fixture_run(&fixture, 10);
    CHECK_INT(script_fixture_lines(&fixture, "old\t3"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "start"), 1);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

TEST(a_top_level_that_fails_beside_its_hooks_has_an_ordinary_fault)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Game", "score = 5", 0);
    script_fixture_run(&fixture, 2);
    script_watch_begin(fixture.scripts);
    replace("ServerScriptService/Game",
            "function onReload(old) score = old.score end\n"
            "function onUpdate() updates = (updates or 0) + 1\n"
            "  if updates == 30 then print('still updates', score) end end\n"
            "task.wait(0.2) error('late')\n");
    script_fixture_run(&fixture, 40);
    CHECK_INT(fixture.fault_count, 1);
    CHECK_INT(fixture.faults[0].line, 4);
    CHECK_INT(script_watch(fixture.scripts)->fault_count, 1);
    CHECK(!script_watch(fixture.scripts)->has_failed);
    CHECK_INT(script_fixture_lines(&fixture, "still updates\t5"), 1);
    // The version that failed late had started: what it has is handed over.
    replace("ServerScriptService/Game",
            "function onReload(old) print('updates', old.updates > 9) end");
    script_fixture_run(&fixture, 4);
    CHECK_INT(script_fixture_lines(&fixture, "updates\ttrue"), 1);
    script_fixture_close(&fixture);
}

TEST(a_top_level_that_fails_after_a_wait_without_hooks_never_began)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Game", "score = 5", 0);
    script_fixture_run(&fixture, 2);
    script_watch_begin(fixture.scripts);
    replace("ServerScriptService/Game", "task.wait(0.2) error('late')\n"
                                        "function onUpdate() print('never') end\n");
    script_fixture_run(&fixture, 40);
    CHECK_INT(fixture.fault_count, 1);
    CHECK_INT(fixture.faults[0].hook, HOOK_LOAD);
    CHECK(script_watch(fixture.scripts)->has_failed);
    CHECK_INT(script_fixture_lines(&fixture, "never"), 0);
    script_fixture_close(&fixture);
}

// A reload ends the loop of the version before.
TEST(a_reload_ends_a_top_level_that_loops)
{
    script_fixture_open(&fixture, NULL);
    static const char code[] = "function onUpdate() end\n"
                               "while true do print('old round') task.wait(0.05) end\n";
    (void)script_fixture_add(&fixture, "ServerScriptService/Game", code, 0);
    script_fixture_run(&fixture, 10);
    const uint32_t rounds = script_fixture_lines(&fixture, "old round");
    CHECK(rounds >= 2);
    replace("ServerScriptService/Game", "function onReload() print('new') end");
    script_fixture_run(&fixture, 20);
    CHECK_INT(script_fixture_lines(&fixture, "old round"), rounds);
    CHECK_INT(script_fixture_lines(&fixture, "new"), 1);
    script_fixture_close(&fixture);
}

// --- timers that fail ---------------------------------------------------------------------------

TEST(a_timer_goes_on_after_a_fault)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Clock",
                             "local n = 0\n"
                             "local every = Timer.Every(0.1, function() n = n + 1\n"
                             "  print('tick', n)\n"
                             "  if n == 2 then task.wait(0.05) error('once') end end)\n"
                             "local after = Timer.After(0.1, function() error('after') end)\n"
                             "Timer.After(1, function()\n"
                             "  print('connected', every.Connected, after.Connected)\n"
                             "  every:Disconnect() print('then', every.Connected) end)\n",
                             0);
    script_fixture_run(&fixture, 120);
    CHECK_INT(fixture.fault_count, 2);
    CHECK(script_fixture_lines(&fixture, "tick\t9") == 1);
    CHECK_INT(script_fixture_lines(&fixture, "connected\ttrue\tfalse"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "then\tfalse"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "tick\t11"), 0);
    script_fixture_close(&fixture);
}

// Its script is paused, longer each time, and then switched off: nothing is left of the timer.
TEST(a_timer_that_always_fails_ends_with_its_script)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Clock",
                             "Timer.Every(0.05, function() error('always') end)\n"
                             "Timer.Every(0.05, function() while true do end end)\n",
                             0);
    script_fixture_run(&fixture, 60 * 60);
    CHECK_INT(fixture.fault_count, 8);
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    CHECK_INT(stats.off_count, 1);
    CHECK_INT(stats.coroutine_count, 0);
    script_fixture_close(&fixture);
}

// --- what a reload keeps ------------------------------------------------------------------------

TEST(a_script_that_was_switched_off_stays_off_over_a_reload)
{
    script_fixture_open(&fixture, NULL);
    const uint64_t lamp = script_fixture_part(&fixture, vec3(0, 5, 10), 0);
    static const char code[] = "function onStart(self) print('started') self.Enabled = false end\n"
                               "function onReload() print('reloaded') end\n"
                               "function onUpdate(self) print('update') end\n";
    (void)script_fixture_add(&fixture, "Workspace/Lamp", code, lamp);
    script_fixture_run(&fixture, 5);
    const uint32_t updates = script_fixture_lines(&fixture, "update");
    replace("Workspace/Lamp", code);
    script_fixture_run(&fixture, 5);
    CHECK_INT(script_fixture_lines(&fixture, "update"), updates);
    CHECK_INT(script_fixture_lines(&fixture, "reloaded"), 0);
    const uint32_t slot = script_instance_of(fixture.scripts, lamp, 0);
    script_set_enabled(fixture.scripts, slot, true);
    script_fixture_run(&fixture, 5);
    CHECK_INT(script_fixture_lines(&fixture, "reloaded"), 1);
    CHECK(script_fixture_lines(&fixture, "update") > updates);
    CHECK_INT(script_fixture_lines(&fixture, "started"), 1);
    script_fixture_close(&fixture);
}

// --- players and their bodies -------------------------------------------------------------------

static void join(uint64_t player, const char *name)
{
    CHECK_OK(authority_player_join(fixture.authority, player, text_from(name)));
    CHECK_OK(authority_player_spawn(fixture.authority, player, vec3((float)player, 0, 0)));
}

TEST(the_first_body_reaches_who_connects_when_the_player_comes)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(
        &fixture, "ServerScriptService/Game",
        "Players.PlayerAdded:Connect(function(player)\n"
        "  print('added', player.Name)\n"
        "  player.Spawned:Connect(function(body) print('spawned', player.Name, body.Type) end)\n"
        "  player.Died:Connect(function() print('died', player.Name) end) end)\n",
        0);
    script_fixture_run(&fixture, 4);
    CHECK_INT(script_fixture_lines(&fixture, "spawned\tbo\tPlayer"), 1);
    // Many in one tick; one of them dies at once.
    for (uint64_t player = 20; player < 24; player++) {
        join(player, player == 20 ? "ann" : player == 21 ? "cy" : player == 22 ? "dee" : "eve");
    }
    ScriptWorld *world = authority_world(fixture.authority);
    const uint64_t body = roster_find(authority_roster(fixture.authority), 20)->entity;
    CHECK_OK(world->methods->damage(world, body, 1000, 0));
    script_fixture_run(&fixture, 4);
    CHECK_INT(script_fixture_lines(&fixture, "spawned"), 5);
    CHECK_INT(script_fixture_lines(&fixture, "died\tann"), 1);
    CHECK(strstr(fixture.log, "spawned\tann") < strstr(fixture.log, "died\tann"));
    // Once for each body.
    CHECK_OK(authority_player_spawn(fixture.authority, 20, vec3(0, 0, 0)));
    script_fixture_run(&fixture, 4);
    CHECK_INT(script_fixture_lines(&fixture, "spawned\tann"), 2);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

// The handler of PlayerAdded has to wait for its script's share of time: Spawned waits for it.
TEST(a_script_that_is_behind_gets_the_first_body_too)
{
    script_fixture_open(&fixture, NULL);
    (void)script_fixture_add(&fixture, "ServerScriptService/Busy",
                             "function onUpdate() for i = 1, 900000 do end end\n"
                             "Players.PlayerAdded:Connect(function(player)\n"
                             "  for i = 1, 900000 do end print('added', player.Name)\n"
                             "  player.Spawned:Connect(function() print('spawned', player.Name)\n"
                             "    end) end)\n",
                             0);
    (void)script_fixture_add(&fixture, "ServerScriptService/Busy2",
                             "function onUpdate() for i = 1, 900000 do end end\n", 0);
    script_fixture_run(&fixture, 30);
    for (uint64_t player = 20; player < 28; player++) {
        char name[16];
        snprintf(name, sizeof name, "p%u", (unsigned)player);
        join(player, name);
    }
    script_fixture_run(&fixture, 150);
    CHECK_INT(script_fixture_lines(&fixture, "added\tp"), 8);
    CHECK_INT(script_fixture_lines(&fixture, "spawned\tp"), 8);
    script_fixture_close(&fixture);
}

// Messages that come while a body is held are not lost, and the queue does not fill up.
TEST(somebody_who_comes_in_every_tick_costs_no_room_for_messages)
{
    script_fixture_open(&fixture, NULL);
    uint8_t payload[4096];
    ByteWriter writer = byte_writer(payload, sizeof payload);
    static uint8_t text[4000];
    memset(text, 'x', sizeof text);
    byte_write_u8(&writer, 6);
    byte_write_varint(&writer, 1);
    byte_write_u8(&writer, 5);
    byte_write_varint(&writer, sizeof text);
    byte_write_bytes(&writer, text, sizeof text);
    for (uint32_t i = 0; i < 300; i++) {
        const uint64_t player = 100 + i % 2;
        const ScriptEvent events[] = {
            {.type = SCRIPT_EVENT_PLAYER_ADDED, .player_id = player},
            {.type = SCRIPT_EVENT_RESPAWNED, .player_id = player, .entity = 1},
            {.type = SCRIPT_EVENT_MESSAGE,
             .player_id = player,
             .name = {"m", 1},
             .payload = payload,
             .payload_bytes = writer.at},
        };
        for (uint32_t e = 0; e < 3; e++) {
            CHECK_OK(script_event(fixture.scripts, &events[e]));
        }
        script_tick(fixture.scripts, 0, 0);
    }
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    CHECK_INT(stats.events_dropped, 0);
    script_fixture_close(&fixture);
}

// --- ghosts -------------------------------------------------------------------------------------

static void watch(const char *name, uint64_t part)
{
    char code[512];
    snprintf(code, sizeof code,
             "local part = World.GetInRadius(Vector3.new(%s), 0.9, 'Part')[1]\n"
             "part.Touched:Connect(function(other) print('%s touched', other.Type) end)\n"
             "part.TriggerEntered:Connect(function(other) print('%s entered', other.Type) end)\n",
             name[0] == 'w' ? "3, 1, 0" : "0, 10, 0", name, name);
    char path[64];
    snprintf(path, sizeof path, "ServerScriptService/%s", name);
    (void)script_fixture_add(&fixture, path, code, 0);
    (void)script_fixture_add(&fixture, name[0] == 'w' ? "Workspace/Walked" : "Workspace/Moved",
                             "function OnTouch(self, other) print('hook', other.Type) end", part);
}

// It is touched whoever moves: a character that walks into it, or it, over a character.
TEST(a_ghost_is_touched_whoever_moves)
{
    script_fixture_open(&fixture, NULL);
    const uint64_t walked = script_fixture_part(&fixture, vec3(3, 1, 0), PART_GHOST);
    const uint64_t moved = script_fixture_part(&fixture, vec3(0, 10, 0), PART_GHOST);
    watch("walked", walked);
    watch("moved", moved);
    script_fixture_run(&fixture, 3);
    const Handle body =
        sim_find(fixture.sim, roster_find(authority_roster(fixture.authority), 7)->entity);
    ScriptWorld *world = authority_world(fixture.authority);
    CHECK_OK(world->methods->move_to(world, moved, (Pose){vec3(0, 1, 0), QUAT_IDENTITY}, 0.5f));
    script_fixture_run(&fixture, 60);
    CHECK_INT(script_fixture_lines(&fixture, "moved touched\tPlayer"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "moved entered\tPlayer"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "walked touched"), 0);
    CHECK_INT(script_fixture_lines(&fixture, "hook\tPlayer"), 1);
    sim_set_input(fixture.sim, body, &(SimInput){.move_x = -1});
    script_fixture_run(&fixture, 120);
    CHECK_INT(script_fixture_lines(&fixture, "walked touched\tPlayer"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "walked entered\tPlayer"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "hook\tPlayer"), 2);
    CHECK_INT(fixture.fault_count, 0);
    script_fixture_close(&fixture);
}

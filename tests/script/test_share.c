// What a script gets when time is short, and how much it may have: counted in steps and ticks, so
// that the outcome is the same on every machine. Whole worlds full of hostile scripts are in
// test_fair.c.
#include "core/script/runtime/script_inside.h"
#include "tests/support/test.h"
#include "tests/unit/script_fixture.h"

#include <stdio.h>
#include <string.h>

static ScriptFixture fixture;

static ScriptStats stats_now(void)
{
    ScriptStats stats;
    script_stats(fixture.scripts, &stats);
    return stats;
}

// A quarter of the usual time in a tick, so that the test is done in a quarter of the time.
static void few_steps(ScriptConfig *config)
{
    config->call_ms = 1;
    config->tick_ms = 2;
}

static void add_numbered(const char *name, uint32_t number, const char *code)
{
    char path[64];
    snprintf(path, sizeof path, "ServerScriptService/%s%u", name, (unsigned)number);
    CHECK(script_fixture_add(&fixture, path, code, 0) != 0);
}

// --- an onUpdate that is left out ---------------------------------------------------------------

// Once a second there is a little more to do than a tick has time for. Nobody is greedy.
#define BUSY(iterations)                                                       \
    "function onUpdate()\n"                                                    \
    "  if World.Tick() % 60 == 0 then for _ = 1, " #iterations " do end end\n" \
    "end"

TEST(an_update_that_is_left_out_is_counted_and_said)
{
    script_fixture_open(&fixture, few_steps);
    for (uint32_t i = 0; i < 4; i++) {
        add_numbered("Busy", i, BUSY(340000));
    }
    script_fixture_run(&fixture, 540);
    const ScriptStats stats = stats_now();
    CHECK_INT(stats.scripts_listed, 4);
    uint64_t skipped = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const ScriptAccount *account = &stats.scripts[i];
        char line[192];
        snprintf(line, sizeof line, "%s: onUpdate was left out (", account->path);
        // Once in ten seconds.
        CHECK_INT(script_fixture_lines(&fixture, line), account->update_skipped_count > 0);
        // The top level is a call too.
        CHECK_INT(account->call_count + account->update_skipped_count, 1 + 540);
        skipped += account->update_skipped_count;
    }
    CHECK(skipped >= 8);
    CHECK_INT(stats.updates_skipped, skipped);
    CHECK_INT(stats.fault_count, 0);
    script_fixture_close(&fixture);
}

// A third of them lose a tick, and the log has a few lines in a second, not one for each.
TEST(many_updates_that_are_left_out_do_not_fill_the_log)
{
    script_fixture_open(&fixture, few_steps);
    for (uint32_t i = 0; i < 100; i++) {
        add_numbered("Busy", i, BUSY(15000));
    }
    script_fixture_run(&fixture, 130);
    CHECK(stats_now().updates_skipped >= 60);
    CHECK_INT(script_fixture_lines(&fixture, "onUpdate was left out"), 20);
    script_fixture_close(&fixture);
}

TEST(nothing_is_said_while_everything_fits)
{
    script_fixture_open(&fixture, few_steps);
    for (uint32_t i = 0; i < 4; i++) {
        add_numbered("Easy", i, "function onUpdate() for _ = 1, 240000 do end end");
    }
    script_fixture_run(&fixture, 60);
    CHECK_INT(stats_now().updates_skipped, 0);
    CHECK_INT(script_fixture_lines(&fixture, "left out"), 0);
    script_fixture_close(&fixture);
}

// --- calls that run past the end of a tick
// --------------------------------------------------------

// The third call of a tick begins when a tenth of it is left. On average a tick takes no longer for
// that, and whoever keeps to its share has its update in every tick.
TEST(later_ticks_pay_for_one_that_was_too_long)
{
    script_fixture_open(&fixture, few_steps);
    add_numbered("Calm", 0, "function onUpdate() for _ = 1, 1000 do end end");
    add_numbered("Long", 0,
                 "for _ = 1, 100 do\n"
                 "  Timer.Every(0, function() for _ = 1, 450000 do end end)\n"
                 "end");
    script_fixture_run(&fixture, 60);
    const ScriptStats before = stats_now();
    script_fixture_run(&fixture, 240);
    const ScriptStats after = stats_now();
    const uint64_t budget = 240ull * 2 * VM_STEPS_PER_MS;
    uint64_t steps = 0;
    for (uint32_t i = 0; i < 2; i++) {
        steps += after.scripts[i].step_count - before.scripts[i].step_count;
    }
    CHECK(steps <= budget + budget / 50);
    CHECK(steps >= budget - budget / 10);
    CHECK_TEXT(after.scripts[1].path, "ServerScriptService/Calm0");
    CHECK_INT(after.scripts[1].call_count - before.scripts[1].call_count, 240);
    CHECK_INT(after.scripts[1].update_skipped_count, before.scripts[1].update_skipped_count);
    script_fixture_close(&fixture);
}

// --- signals and connections --------------------------------------------------------------------

#define MAKE_SIGNALS \
    "kept = {}\n"    \
    "local ok, why = pcall(function() for i = 1, 100000 do kept[i] = Signal.new() end end)\n"

TEST(a_script_has_a_limit_of_signals)
{
    script_fixture_open(&fixture, NULL);
    add_numbered("Hoard", 0, MAKE_SIGNALS "print('made', #kept, why)");
    add_numbered("Other", 0, "local own = Signal.new() print('another one is not held back')");
    script_fixture_run(&fixture, 10);
    CHECK_INT(script_fixture_lines(&fixture, "made\t4096"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "this script has 4096 signals, and may have 4096"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "another one is not held back"), 1);
    script_fixture_close(&fixture);
}

// Those that nothing holds are taken off, whenever the collector comes by: at the end of the tick
// in which the script came near its limit, and then once a second.
TEST(signals_that_nothing_holds_do_not_count_for_long)
{
    script_fixture_open(&fixture, NULL);
    add_numbered("Churn", 0,
                 "local failed = 0\n"
                 "function onUpdate()\n"
                 "  for _ = 1, 50 do if not pcall(Signal.new) then failed = failed + 1 end end\n"
                 "end\n"
                 "Timer.After(10, function() print('failed', failed) end)");
    script_fixture_run(&fixture, 620);
    CHECK_INT(script_fixture_lines(&fixture, "failed\t0"), 1);
    // One that is full and lets go can go on a second later.
    add_numbered("Full", 0,
                 MAKE_SIGNALS "kept = nil\n"
                              "Timer.After(1.1, function() print('again', pcall(Signal.new)) end)");
    script_fixture_run(&fixture, 100);
    CHECK_INT(script_fixture_lines(&fixture, "again\ttrue"), 1);
    script_fixture_close(&fixture);
}

static void give_time(ScriptConfig *config)
{
    config->call_ms = 20; // all of the names in one call
    config->tick_ms = 20;
}

// A signal of the engine counts for who asked for it first, while somebody listens or holds it.
TEST(names_of_messages_are_signals_too)
{
    script_fixture_open(&fixture, give_time);
    add_numbered("Names", 0,
                 "local n = 0\n"
                 "local ok, why = pcall(function()\n"
                 "  for i = 1, 100000 do\n"
                 "    Network.OnClientEvent('m' .. i, print):Disconnect() n = i\n"
                 "  end\n"
                 "end)\n"
                 "print('names', n, why)\n"
                 "Timer.After(1.1, function() n = 0\n"
                 "  pcall(function()\n"
                 "    for i = 1, 1000 do\n"
                 "      Network.OnClientEvent('n' .. i, print):Disconnect() n = i\n"
                 "    end\n"
                 "  end)\n"
                 "  print('then', n)\n"
                 "end)");
    script_fixture_run(&fixture, 100);
    CHECK_INT(script_fixture_lines(&fixture, "names\t4096"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "then\t1000"), 1);
    script_fixture_close(&fixture);
}

TEST(a_script_has_a_limit_of_connections)
{
    script_fixture_open(&fixture, NULL);
    add_numbered("Hoard", 0,
                 "local signals, n = {}, 0\n"
                 "local ok, why = pcall(function()\n"
                 "  for i = 1, 20 do\n"
                 "    signals[i] = Signal.new()\n"
                 "    for _ = 1, 1000 do signals[i]:Connect(print) n = n + 1 end\n"
                 "  end\n"
                 "end)\n"
                 "print('made', n, why)\n"
                 "signals[1]:DisconnectAll()\n"
                 "print('after', pcall(signals[1].Connect, signals[1], print))\n"
                 "function onStart()\n" // in a call of its own
                 "  for i = 1, 9000 do\n"
                 "    signals[1]:Connect(print):Disconnect()\n"
                 "    if i % 3000 == 0 then task.wait() end\n"
                 "  end\n"
                 "  print('those that end do not count')\n"
                 "end");
    script_fixture_run(&fixture, 10);
    CHECK_INT(script_fixture_lines(&fixture, "made\t8192"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "has 8192 connections, and may have 8192"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "after\ttrue"), 1);
    CHECK_INT(script_fixture_lines(&fixture, "those that end do not count"), 1);
    script_fixture_close(&fixture);
}

// A signal that is heard stays, though only its name holds it.
TEST(counting_keeps_what_is_heard)
{
    script_fixture_open(&fixture, NULL);
    add_numbered("Listener", 0, "Players.PlayerRemoving:Connect(function() print('heard') end)");
    script_fixture_run(&fixture, 2);
    add_numbered("Hoard", 0, MAKE_SIGNALS);
    script_fixture_run(&fixture, 5);
    CHECK_OK(authority_player_leave(fixture.authority, 7));
    script_fixture_run(&fixture, 5);
    CHECK_INT(script_fixture_lines(&fixture, "heard"), 1);
    script_fixture_close(&fixture);
}

// --- loading ------------------------------------------------------------------------------------

// The most steps that were taken in one of the next ticks.
static uint64_t dearest_tick(uint32_t ticks)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < ticks; i++) {
        const uint64_t before = stats_now().step_count;
        script_fixture_run(&fixture, 1);
        const uint64_t steps = stats_now().step_count - before;
        most = steps > most ? steps : most;
    }
    return most;
}

// A tick ends with the call that uses up its time, so it can take one call more.
static void check_loads(uint32_t count, const char *code)
{
    script_fixture_open(&fixture, NULL);
    for (uint32_t i = 0; i < count; i++) {
        add_numbered("Loads", i, code);
    }
    const uint64_t steps = dearest_tick(count + 10);
    CHECK(steps <= (8 + 5) * VM_STEPS_PER_MS);
    CHECK_INT(script_fixture_lines(&fixture, "loaded"), count);
    CHECK_INT(stats_now().pending_loads, 0);
    script_fixture_close(&fixture);
}

TEST(loading_keeps_to_the_time_of_a_tick)
{
    static const char signals[] = MAKE_SIGNALS "for i = 1, 1000000 do end print('loaded')";
    static const char loops[] = "for i = 1, 2400000 do end print('loaded')";
    check_loads(1, signals);
    check_loads(50, signals);
    check_loads(50, loops);
}

// --- coroutines ---------------------------------------------------------------------------------

// The coroutines of calls are used again. A script that kept one cannot reach what another script
// does with it later: neither end it, nor go on with it.
TEST(a_coroutine_that_one_script_kept_is_not_used_by_another)
{
    script_fixture_open(&fixture, NULL);
    add_numbered("Thief", 0,
                 "local kept = {}\n"
                 "local function keep() kept[coroutine.running()] = true end\n"
                 "for _ = 1, 10 do Timer.Every(0, keep) end\n"
                 "for _ = 1, 10 do kept[task.delay(0, keep)] = true end\n"
                 "function onUpdate()\n"
                 "  for co in pairs(kept) do\n"
                 "    pcall(task.cancel, co)\n"
                 "    pcall(coroutine.resume, co)\n"
                 "    pcall(coroutine.close, co)\n"
                 "  end\n"
                 "end");
    script_fixture_run(&fixture, 5);
    add_numbered("Honest", 0,
                 "local beats, woken = 0, 0\n"
                 "for _ = 1, 5 do Timer.Every(0.1, function() beats = beats + 1 end) end\n"
                 "function onStart() while true do task.wait(0.1) woken = woken + 1 end end\n"
                 "Timer.After(1.05, function() print('beats', beats, 'woken', woken) end)");
    script_fixture_run(&fixture, 80);
    CHECK_INT(script_fixture_lines(&fixture, "beats\t50\twoken\t10"), 1);
    script_fixture_close(&fixture);
}

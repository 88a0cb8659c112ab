// Honest scripts beside such that hoard memory, in virtual time. Whatever is hoarded and however
// many do it: no honest script has a fault, its onUpdate runs in every second tick at least, each
// hoarder is stopped by name, memory is free again, and the scripts do not end.
//
//   test_memory [NAME]
#include "tests/support/test.h"
#include "tests/unit/script_fixture.h"

#include <stdio.h>
#include <string.h>

#define HOSTILE_MAX 10
#define TICKS       180
#define SOFT_BYTES  (4u << 20) // small, so that it is full soon

// Keeps a little, makes garbage, and reports when something is wrong with either.
static const char HONEST[] =
    "local kept, last = {}, nil\n"
    "function onUpdate()\n"
    "  local now = os.clock()\n"
    "  if last and now - last > 2.5 / 60 then print('late', now - last) end\n"
    "  last = now\n"
    "  local made = {}\n"
    "  for i = 1, 50 do made[i] = { name = 'thing ' .. i, at = { i, now } } end\n"
    "  local text = table.concat({ 'a', 'long enough text to be a string of its own', now })\n"
    "  kept[#kept % 100 + 1] = { text = text, made = made[1] }\n"
    "  for i = 1, #kept do\n"
    "    if #kept[i].text < 40 or kept[i].made.name ~= 'thing 1' then print('lost', i) end\n"
    "  end\n"
    "end\n"
    "Timer.After(2.9, function() print('well') end)\n";

typedef struct Hoard {
    const char *name;
    const char *code; // once a tick, with `hoard` to fill and `n` counting calls
} Hoard;

static const Hoard HOARDS[] = {
    {"slowly, caught", "pcall(function() for i = 1, 500 do hoard[#hoard + 1] = { i, n } end end)"},
    {"fast", "for i = 1, 3000 do hoard[#hoard + 1] = { i } end"},
    {"short strings", "for i = 1, 800 do hoard[#hoard + 1] = n .. ':' .. i end"},
    {"long strings", "hoard[#hoard + 1] = string.rep('x', 60000 + n)"},
    {"keys", "local t = {} for i = 1, 450 do t['k' .. n .. ':' .. i] = true end "
             "hoard[#hoard + 1] = t"},
    {"one table", "for i = 1, 5000 do hoard[#hoard + 1] = i end"},
    {"closures", "for i = 1, 1000 do hoard[#hoard + 1] = function() return i, n end end"},
    {"coroutines", "for i = 1, 60 do local c = coroutine.create(function() coroutine.yield() end) "
                   "coroutine.resume(c) hoard[#hoard + 1] = c end"},
    {"waiting", "for i = 1, 16 do local t = {} for j = 1, 500 do t[j] = j end "
                "task.spawn(function() task.wait(1000) return t end) end"},
    {"signals", "for i = 1, 16 do local s, t = Signal.new(), {} for j = 1, 500 do t[j] = j end "
                "s:Connect(function() return s, t end) hoard[#hoard + 1] = s end"},
    {"connections", "local t = {} for i = 1, 2000 do t[i] = { i } end "
                    "Players.PlayerAdded:Connect(function() return t end)"},
    {"deferred", "local t = {} for i = 1, 2000 do t[i] = { i } end "
                 "for i = 1, 8 do task.defer(function() hoard[#hoard + 1] = t end) end"},
    {"remote calls", "local t = {} for i = 1, 2000 do t[i] = { i } end "
                     "Network.OnInvoke('call' .. n, function() return t end)"},
    // Pages are pinned by a few things each, and then things of another size are wanted.
    {"gaps", "local bytes, all = 50 + n // 30 % 12 * 48, {} "
             "for i = 1, 500 do hoard[#hoard + 1] = string.rep('z', bytes) end "
             "if n % 30 == 29 then for i = 1, #hoard, 40 do kept[#kept + 1] = hoard[i] end "
             "hoard = {} end"},
    {"in a module", "local shared = require('ReplicatedStorage/Shared') "
                    "for i = 1, 1000 do shared.list[#shared.list + 1] = { i } end"},
    {"in the table of a module", "local shared = require('ReplicatedStorage/Shared') "
                                 "for i = 1, 5000 do shared[#shared + 1] = i end"},
    {"texts in a module", "local shared = require('ReplicatedStorage/Shared') "
                          "shared.list[#shared.list + 1] = string.rep('y', 40000 + n)"},
};
#define HOARD_COUNT (sizeof HOARDS / sizeof HOARDS[0])

static const char SHARED[] = "return { list = {} }";

static ScriptFixture fixture;
static uint64_t honest_faults, memory_faults;

static void keep_honest(void *user, const LogEvent *event)
{
    (void)user;
    if (strncmp(event->text, "ServerScriptService/Honest", 26) == 0) {
        const size_t left = sizeof fixture.log - fixture.log_bytes;
        const int bytes = snprintf(fixture.log + fixture.log_bytes, left, "%s\n", event->text);
        fixture.log_bytes += bytes > 0 && (size_t)bytes < left ? (size_t)bytes : 0;
        fixture.log[fixture.log_bytes] = 0;
    }
}

static void small_memory(ScriptConfig *config)
{
    config->call_ms = 1;
    config->tick_ms = 4;
    config->vm.memory_soft_bytes = SOFT_BYTES;
    config->vm.memory_hard_bytes = 2 * SOFT_BYTES;
}

static void add_hostile(uint32_t number, const Hoard *hoard)
{
    char path[64];
    char code[2048];
    snprintf(path, sizeof path, "ServerScriptService/Hostile%u", (unsigned)number);
    snprintf(code, sizeof code,
             "local hoard, kept, n = {}, {}, %u00000\nfunction onUpdate() n = n + 1\n%s\nend",
             number, hoard->code);
    CHECK(script_fixture_add(&fixture, path, code, 0) != 0);
}

static void run(uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        script_fixture_run(&fixture, 1);
        for (uint32_t f = 0; f < fixture.fault_count; f++) {
            const ScriptFault *fault = &fixture.faults[f];
            honest_faults += strncmp(fault->path, "ServerScriptService/Honest", 26) == 0;
            memory_faults += fault->kind == FAULT_MEMORY &&
                             strncmp(fault->path, "ServerScriptService/Hostile", 27) == 0;
        }
        fixture.fault_count = 0;
    }
}

// Those that are off, or paused for their faults: one that asks for a table that never fits.
static uint32_t count_stopped(void)
{
    static ScriptStats stats;
    uint32_t stopped = 0;
    script_stats(fixture.scripts, &stats);
    for (uint32_t i = 0; i < stats.scripts_listed; i++) {
        const bool is_hostile = strstr(stats.scripts[i].path, "/Hostile") != NULL;
        stopped += is_hostile && stats.scripts[i].state != SCRIPT_RUNNING;
        CHECK(is_hostile || stats.scripts[i].state == SCRIPT_RUNNING);
    }
    return stopped;
}

static void check_honest(const char *what)
{
    static const char *const WRONG[] = {"late", "lost"};
    for (uint32_t i = 0; i < 2; i++) {
        if (strstr(fixture.log, WRONG[i]) != NULL) {
            test_fail(__FILE__, __LINE__, "%s: an honest script says: %s", what,
                      strstr(fixture.log, WRONG[i]));
        }
    }
    if (script_fixture_lines(&fixture, ": well") != 2 || honest_faults != 0) {
        test_fail(__FILE__, __LINE__, "%s: honest scripts had %u faults:\n%s", what,
                  (unsigned)honest_faults, fixture.log);
    }
}

static void live_with(const char *what, uint32_t first, uint32_t count, uint32_t step)
{
    script_fixture_open(&fixture, small_memory);
    fixture.sink.write = keep_honest;
    honest_faults = memory_faults = 0;
    CHECK(script_fixture_compile(&fixture, "ReplicatedStorage/Shared", SHARED).ok);
    CHECK(script_fixture_add(&fixture, "ServerScriptService/Honest0", HONEST, 0) != 0);
    for (uint32_t i = 0; i < count; i++) {
        add_hostile(i, &HOARDS[(first + i * step) % HOARD_COUNT]);
    }
    CHECK(script_fixture_add(&fixture, "ServerScriptService/Honest1", HONEST, 0) != 0);
    run(TICKS);
    check_honest(what);
    CHECK(!script_is_dead(fixture.scripts));
    if (memory_faults == 0 || (count == 1 && count_stopped() != 1)) {
        test_fail(__FILE__, __LINE__, "%s: %u faults of memory, %u scripts stopped", what,
                  (unsigned)memory_faults, (unsigned)count_stopped());
    }
    script_fixture_close(&fixture);
}

TEST(one_hoarder)
{
    for (uint32_t i = 0; i < HOARD_COUNT; i++) {
        live_with(HOARDS[i].name, i, 1, 0);
    }
}

TEST(ten_hoarders)
{
    for (uint32_t i = 0; i < HOARD_COUNT; i++) {
        live_with(HOARDS[i].name, i, HOSTILE_MAX, 0);
    }
}

TEST(ten_different_hoarders)
{
    for (uint32_t i = 0; i < HOARD_COUNT; i++) {
        live_with(HOARDS[i].name, i, HOSTILE_MAX, 1);
    }
}

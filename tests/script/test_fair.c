// Honest scripts among hostile ones, in virtual time: counted in steps and ticks, so the outcome is
// the same on every machine. From one to ten hostile scripts, chosen by a seed from
// tests/script/neighbours and, in four wrappings, from tests/script/hostile; honest ones are loaded
// before, between and after them. An honest script looks at the world's clock: its onUpdate must
// run in every second tick at least, its timer of 0.5 s and its coroutine must come within 0.1 s.
// A call has its 5 ms and a tick its 8 ms, as in a world.
//
//   test_fair [NAME]
//
// A tick of hostile scripts is 4 million steps, so a case takes seconds in a build with sanitizers.
// By default a few cases are tried; which, the seed says. SANDLOT_CASES=all tries every case.
#include "core/base/rng.h"
#include "tests/script/embedded.h"
#include "tests/support/test.h"
#include "tests/unit/script_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTILE_MAX 10
#define SEEDS       20 // twice each count of hostile scripts
#define PART        12 // of all cases, one in so many is tried by default
#define TICKS       100
// A new script may have to wait for the top level of each hostile script and for its first dear
// call, and two of those fit into a tick.
#define FIRST_TICKS_MAX (HOSTILE_MAX + 2)

static const char HONEST[] =
    "local updated, beaten, slept\n"
    "function onUpdate(self, dt)\n"
    "  local now = os.clock()\n"
    "  if not updated then print('first', now) end\n"
    "  if updated and now - updated > 2.5 / 60 then print('late update', now - updated) end\n"
    "  if updated and math.abs(now - updated - dt) > 1e-6 then print('wrong dt', dt) end\n"
    "  updated = now\n"
    "end\n"
    "Timer.Every(0.5, function()\n"
    "  local now = os.clock()\n"
    "  if beaten and now - beaten > 0.6 then print('late timer', now - beaten) end\n"
    "  beaten = now\n"
    "end)\n"
    "task.spawn(function()\n"
    "  while true do\n"
    "    local before = os.clock()\n"
    "    local took = task.wait(0.5)\n"
    "    if took > 0.6 or math.abs(os.clock() - before - took) > 1e-6 then\n"
    "      print('late wait', took)\n"
    "    end\n"
    "    slept = os.clock()\n"
    "  end\n"
    "end)\n"
    "Timer.After(1.2, function()\n"
    "  local now = os.clock()\n"
    "  if now - updated <= 2.5 / 60 and now - beaten <= 0.6 and now - slept <= 0.6 then\n"
    "    print('well')\n"
    "  end\n"
    "end)\n";

static ScriptFixture fixture;
static uint64_t bound_tick[3];

// What the honest ones say; what the others print would fill the log.
static void keep_honest(void *user, const LogEvent *event)
{
    if (strncmp(event->text, "ServerScriptService/Honest", 26) == 0) {
        const size_t left = sizeof fixture.log - fixture.log_bytes;
        const int bytes = snprintf(fixture.log + fixture.log_bytes, left, "%s\n", event->text);
        fixture.log_bytes += bytes > 0 && (size_t)bytes < left ? (size_t)bytes : 0;
        fixture.log[fixture.log_bytes] = 0;
    }
    if (getenv("FAIR_LOG") != NULL) {
        printf("%s\n", event->text);
    }
    (void)user;
}

static bool add(const char *path, const char *code)
{
    return script_fixture_add(&fixture, path, code, 0) != 0;
}

static void add_honest(uint32_t number)
{
    char path[64];
    snprintf(path, sizeof path, "ServerScriptService/Honest%u", (unsigned)number);
    bound_tick[number] = sim_tick(fixture.sim);
    CHECK(add(path, HONEST));
}

static uint32_t count_scripts(const EmbeddedScript *scripts)
{
    uint32_t count = 0;
    while (scripts[count].name != NULL) {
        count += 1;
    }
    return count;
}

// A script of the corpus that was written for a bare machine, as a script of a world.
static void wrap(char *out, size_t capacity, const char *text, uint32_t how)
{
    static const char in_coroutines[] = "task.spawn(function() while true do task.wait() "
                                        "task.spawn(function()\n";
    static const char *const BEFORE[] = {"", "function onUpdate()\n",
                                         "for _ = 1, 200 do Timer.Every(0, function()\n",
                                         in_coroutines};
    static const char *const AFTER[] = {"", "\nend", "\nend) end", "\nend) end end)"};
    snprintf(out, capacity, "%s%s%s", BEFORE[how], text, AFTER[how]);
}

// Adds one hostile script; its name goes into `said`.
static void add_hostile(Rng *rng, uint32_t number, char *said, size_t capacity)
{
    static char code[64 << 10];
    char path[64];
    snprintf(path, sizeof path, "ServerScriptService/Hostile%u", (unsigned)number);
    for (;;) {
        const bool is_neighbour = rng_below(rng, 3) != 0;
        const EmbeddedScript *scripts = is_neighbour ? neighbour_scripts : hostile_scripts;
        const EmbeddedScript *script = &scripts[rng_below(rng, count_scripts(scripts))];
        const uint32_t how = is_neighbour ? 0 : rng_below(rng, 4);
        wrap(code, sizeof code, script->text, how);
        const size_t used = strlen(said);
        snprintf(said + used, capacity - used, " %s%s", script->name,
                 (const char *[]){"", "(update)", "(timers)", "(coroutine)"}[how]);
        if (add(path, code)) {
            return;
        }
        said[used] = 0; // some do not compile inside of a function
    }
}

static void check_honest(uint32_t number, const char *what)
{
    char text[64];
    snprintf(text, sizeof text, "Honest%u: well", (unsigned)number);
    if (script_fixture_lines(&fixture, text) != 1) {
        test_fail(__FILE__, __LINE__, "honest script %u did not run to the end:%s",
                  (unsigned)number, what);
    }
    snprintf(text, sizeof text, "Honest%u: first\t", (unsigned)number);
    const char *first = strstr(fixture.log, text);
    const double ticks = first != NULL ? strtod(first + strlen(text), NULL) * 60 : 1e9;
    if (ticks - (double)bound_tick[number] > FIRST_TICKS_MAX) {
        test_fail(__FILE__, __LINE__, "honest script %u began after %.0f ticks:%s",
                  (unsigned)number, ticks - (double)bound_tick[number], what);
    }
}

static void check_all(const char *what)
{
    for (uint32_t i = 0; i < 3; i++) {
        check_honest(i, what);
    }
    static const char *const WRONG[] = {"late update", "late timer", "late wait", "wrong dt"};
    for (uint32_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        const char *found = strstr(fixture.log, WRONG[i]);
        if (found != NULL) {
            test_fail(__FILE__, __LINE__, "%.*s (%u times):%s", (int)strcspn(found, "\n"), found,
                      (unsigned)script_fixture_lines(&fixture, WRONG[i]), what);
        }
    }
}

// Whether the case of this number is tried.
static bool is_chosen(uint32_t number)
{
    const char *cases = getenv("SANDLOT_CASES");
    return (cases != NULL && strcmp(cases, "all") == 0) || (number + test_seed()) % PART == 0;
}

static void open_with_one(void)
{
    script_fixture_open(&fixture, NULL);
    fixture.sink.write = keep_honest;
    add_honest(0);
    script_fixture_run(&fixture, 10);
}

static void run_on(uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        script_fixture_run(&fixture, 1);
        fixture.fault_count = 0;
    }
}

static void check_alone(const EmbeddedScript *script)
{
    open_with_one();
    add_honest(1);
    CHECK(add("ServerScriptService/Hostile", script->text));
    add_honest(2);
    run_on(TICKS);
    check_all(script->name);
    script_fixture_close(&fixture);
}

TEST(each_neighbour_alone)
{
    for (uint32_t i = 0; neighbour_scripts[i].name != NULL; i++) {
        if (is_chosen(i)) {
            check_alone(&neighbour_scripts[i]);
        }
    }
}

static void check_ten(const EmbeddedScript *script)
{
    open_with_one();
    for (uint32_t i = 0; i < HOSTILE_MAX; i++) {
        char path[64];
        snprintf(path, sizeof path, "ServerScriptService/Hostile%u", (unsigned)i);
        CHECK(add(path, script->text));
        if (i == HOSTILE_MAX / 2) {
            add_honest(1);
        }
    }
    add_honest(2);
    run_on(TICKS);
    check_all(script->name);
    script_fixture_close(&fixture);
}

// Others than those that are alone.
TEST(ten_of_each_neighbour)
{
    for (uint32_t i = 0; neighbour_scripts[i].name != NULL; i++) {
        if (is_chosen(i + PART / 2)) {
            check_ten(&neighbour_scripts[i]);
        }
    }
}

static void check_mix(uint32_t seed)
{
    Rng rng = rng_make(seed, 1);
    static char said[2048];
    snprintf(said, sizeof said, " seed %u:", (unsigned)seed);
    open_with_one();
    const uint32_t count = 1 + seed % HOSTILE_MAX;
    const uint32_t between = rng_below(&rng, count);
    for (uint32_t i = 0; i < count; i++) {
        add_hostile(&rng, i, said, sizeof said);
        if (i == between) {
            add_honest(1);
        }
    }
    add_honest(2);
    run_on(TICKS);
    check_all(said);
    script_fixture_close(&fixture);
}

TEST(mixes_chosen_by_seeds)
{
    const char *seeds = getenv("SANDLOT_SEEDS");
    const unsigned long count = seeds != NULL ? strtoul(seeds, NULL, 10) : SEEDS;
    for (uint32_t seed = 1; seed <= count; seed++) {
        if (is_chosen(seed)) {
            check_mix(seed);
        }
    }
}

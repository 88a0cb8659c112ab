// test_neighbours [TEST]   every hostile script, alone and ten at a time, in a whole world with two
// honest scripts and two honest players, in virtual time.
//
// A hostile script runs unchanged, and then once more as the body of a timer that fires every tick.
// One honest script is loaded before it and one after. Whatever the hostile ones do, each honest
// onUpdate runs at least every second tick, its half-second timer is at most a tenth of a second
// late, its store requests are answered, it has no fault though it makes tables and texts, both
// players get their frames, and nothing crashes. Results depend on ticks and steps, never on a
// clock.
//
// With SANDLOT_TIMED set, processor_time measures instead how long the ticks take with the limits
// of a real world, and compares that with a script that uses all steps of every tick in empty
// loops: a step of whatever kind must not take much longer than one of those.
#include "core/base/rng.h"
#include "core/script/runtime/script.h"
#include "tests/script/embedded.h"
#include "tests/unit/act_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICKS_ALONE  90
#define TICKS_GROUP  180
#define ROUNDS       8 // of ten scripts; SANDLOT_ROUNDS overrides it
#define GROUP        10
#define UPDATE_GAP   2 // ticks
#define TIMER_TICKS  30
#define TIMER_LATE   6  // ticks: a tenth of a second
#define SETTLE_TICKS 16 // everything has been loaded by then, and both players are in
#define SOURCE_BYTES (600u << 10)
#define PATH_BYTES   64
#define TIMED_TICKS  60
#define TIMED_RUNS   3
#define TIME_RATIO   1.25

// Reports once a second on the time since the last report: how many updates, the longest gap
// between two, how late its timer was at most, all in ticks.
static const char HONEST[] =
    "local last, updates, gap, late = nil, 0, 0, 0\n"
    "local beat = nil\n"
    "Timer.Every(0.5, function()\n"
    "    local now = World.Tick()\n"
    "    if beat then late = math.max(late, now - beat - 30) end\n"
    "    beat = now\n"
    "end)\n"
    "local refused, kept = 0, {}\n"
    "task.spawn(function()\n"
    "    local store = DataStore.GetDataStore('honest')\n"
    "    while true do\n"
    "        if not pcall(store.GetAsync, store, 'key') then refused = refused + 1 end\n"
    "        task.wait(0.1)\n"
    "    end\n"
    "end)\n"
    "function onUpdate()\n"
    "    local now = World.Tick()\n"
    "    for i = 1, 20 do kept[i] = { 'a text that is made anew in tick ' .. now, { i } } end\n"
    "    if last then gap = math.max(gap, now - last) end\n"
    "    last, updates = now, updates + 1\n"
    "    late = beat and math.max(late, now - beat - 30) or late\n"
    "    if updates % 15 == 0 then print('fared', updates, gap, late, refused) end\n"
    "end\n";

typedef struct Honest {
    const char *path;
    long updates, gap, late, refused, faults;
} Honest;

static Honest honest[2] = {{.path = "ServerScriptService/Alpha"},
                           {.path = "ServerScriptService/Omega"}};
static ActStore store;
static ActWorld act;
static char *source; // of a hostile script, wrapped

static void on_log(void *user, const LogEvent *event)
{
    (void)user;
    for (uint32_t i = 0; i < 2; i++) {
        const size_t bytes = strlen(honest[i].path);
        honest[i].faults +=
            event->level == LOG_ERROR && strncmp(event->text, honest[i].path, bytes) == 0;
        if (strncmp(event->text, honest[i].path, bytes) == 0 &&
            strncmp(event->text + bytes, ": fared", 7) == 0) {
            (void)sscanf(event->text + bytes + 7, "%ld %ld %ld %ld", &honest[i].updates,
                         &honest[i].gap, &honest[i].late, &honest[i].refused);
        }
    }
}

// The script as it stands, or as something that comes back every tick. Some cannot be compiled
// either way, which is as good an end as any.
static void add_hostile(const EmbeddedScript *script, uint32_t number, bool again)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "ServerScriptService/Hostile%u%s", (unsigned)number,
             again ? "Again" : "");
    if (again) {
        snprintf(source, SOURCE_BYTES, "local function body(...)\n%s\nend\nTimer.Every(0, body)\n",
                 script->text);
    } else {
        snprintf(source, SOURCE_BYTES, "%s", script->text);
    }
    (void)act_world_script(&act, path, source);
}

static void check_honest(const char *what, uint32_t ticks)
{
    for (uint32_t i = 0; i < 2; i++) {
        const long wanted = (long)(ticks - SETTLE_TICKS) / UPDATE_GAP - 15;
        if (honest[i].updates < wanted || honest[i].gap > UPDATE_GAP ||
            honest[i].late > TIMER_LATE || honest[i].refused > 0 || honest[i].faults > 0) {
            test_fail(__FILE__, __LINE__,
                      "%s: %s had %ld updates in %u ticks, up to %ld ticks apart, its timer up to "
                      "%ld ticks late, %ld refusals of the store, %ld faults",
                      what, honest[i].path, honest[i].updates, (unsigned)ticks, honest[i].gap,
                      honest[i].late, honest[i].refused, honest[i].faults);
        }
    }
}

static void check_players(const char *what, ActClient *const players[2], const uint64_t frames[2],
                          uint32_t ticks)
{
    for (uint32_t i = 0; i < 2; i++) {
        const Session *session = act_world_session(&act, players[i]);
        const uint64_t got = players[i]->frame - frames[i];
        // Twenty a second, and one more or less at the edges.
        if (session == NULL || !session_plays(session) || got + 1 < ticks / 3) {
            test_fail(__FILE__, __LINE__, "%s: player %u got %llu frames in %u ticks", what,
                      (unsigned)i, (unsigned long long)got, (unsigned)ticks);
        }
    }
}

// A world with these hostile scripts between the honest ones.
static void live_with(const char *what, const EmbeddedScript *const *scripts, uint32_t count,
                      uint32_t ticks)
{
    LogSink log = {.write = on_log, .level_min = LOG_INFO};
    const ActOptions options = {.scripts = true, .call_ms = 1, .tick_ms = 2, .log = &log};
    memset(&store, 0, sizeof store);
    act_world_open_options(&act, &store, TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, &options);
    for (uint32_t i = 0; i < 2; i++) {
        honest[i] = (Honest){.path = honest[i].path};
    }
    CHECK_OK(act_world_script(&act, honest[0].path, HONEST));
    for (uint32_t i = 0; i < count; i++) {
        add_hostile(scripts[i], i, false);
        add_hostile(scripts[i], i, true);
    }
    CHECK_OK(act_world_script(&act, honest[1].path, HONEST));
    ActClient *players[2] = {act_world_join(&act, 7, "ann"), act_world_join(&act, 8, "bo")};
    const uint64_t frames[2] = {players[0]->frame, players[1]->frame};
    act_world_tick(&act, ticks);
    check_honest(what, ticks + SETTLE_TICKS);
    // A place's script may end anybody's session: that is what Player:Kick is for.
    if (strstr(what, "sim_kick") == NULL) {
        check_players(what, players, frames, ticks);
    }
    CHECK(!script_is_dead(world_scripts(act.world)));
    CHECK_INT(act.stops, 0);
    act_world_close(&act);
    act_store_free(&store);
}

// Both collections: what breaks out of one call, and what uses a world up though each call fits.
static const EmbeddedScript *script_at(uint32_t number)
{
    const EmbeddedScript *const tables[] = {neighbour_scripts, hostile_scripts};
    for (uint32_t t = 0; t < 2; t++) {
        for (const EmbeddedScript *script = tables[t]; script->name != NULL; script++, number--) {
            if (number == 0) {
                return script;
            }
        }
    }
    return NULL;
}

TEST(alone)
{
    source = malloc(SOURCE_BYTES);
    const char *only = getenv("SANDLOT_HOSTILE"); // the name of one, to look at it closely
    for (uint32_t i = 0; script_at(i) != NULL; i++) {
        const EmbeddedScript *script = script_at(i);
        if (only != NULL && strcmp(only, script->name) != 0) {
            continue;
        }
        live_with(script->name, &script, 1, TICKS_ALONE);
    }
    free(source);
}

// Drawn, so that different kinds meet: those of one kind stand beside each other in the tables.
TEST(ten_at_a_time)
{
    source = malloc(SOURCE_BYTES);
    Rng rng = rng_make(test_seed(), 0);
    uint32_t total = 0;
    while (script_at(total) != NULL) {
        total += 1;
    }
    const char *rounds = getenv("SANDLOT_ROUNDS");
    const unsigned long count = rounds != NULL ? strtoul(rounds, NULL, 10) : ROUNDS;
    for (unsigned long round = 0; round < count; round++) {
        const EmbeddedScript *group[GROUP];
        char what[512] = "";
        for (uint32_t i = 0; i < GROUP; i++) {
            group[i] = script_at(rng_below(&rng, total));
            const size_t at = strlen(what);
            snprintf(what + at, sizeof what - at, "%s ", group[i]->name);
        }
        live_with(what, group, GROUP, TICKS_GROUP);
    }
    free(source);
}

// --- time ---------------------------------------------------------------------------------------

// Uses all steps that scripts have in a tick, and nothing else.
static const EmbeddedScript SPIN = {
    .name = "an empty loop",
    .text = "for _ = 1, 500 do\n"
            "    Timer.Every(0, function() for _ = 1, 400000 do end end)\n"
            "end\n"};

typedef struct Taken {
    double mean_ms, most_ms; // of processor time per tick
} Taken;

// Of this process; WebAssembly has only the time of the day.
static double processor_ms(void)
{
#ifdef __wasi__
    struct timespec now;
    (void)timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
#else
    return (double)clock() * 1e3 / CLOCKS_PER_SEC;
#endif
}

static Taken time_ticks(const EmbeddedScript *script, bool again)
{
    const ActOptions options = {.scripts = true};
    memset(&store, 0, sizeof store);
    act_world_open_options(&act, &store, TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, &options);
    CHECK_OK(act_world_script(&act, honest[0].path, HONEST));
    add_hostile(script, 0, again);
    CHECK_OK(act_world_script(&act, honest[1].path, HONEST));
    Taken taken = {0, 0};
    for (uint32_t i = 0; i < TIMED_TICKS; i++) {
        const double begin = processor_ms();
        if (i == 2 || i == 3) {
            (void)act_world_join(&act, 5 + i, i == 2 ? "ann" : "bo");
            continue;
        }
        act_world_tick(&act, 1);
        const double ms = processor_ms() - begin;
        taken.mean_ms += ms / TIMED_TICKS;
        taken.most_ms = ms > taken.most_ms ? ms : taken.most_ms;
    }
    act_world_close(&act);
    act_store_free(&store);
    return taken;
}

// Other programs make a run slower, so the best of a few counts.
static Taken time_best(const EmbeddedScript *script, bool again, double enough_ms)
{
    Taken best = time_ticks(script, again);
    for (uint32_t i = 1; i < TIMED_RUNS && best.most_ms > enough_ms; i++) {
        const Taken now = time_ticks(script, again);
        best.mean_ms = now.mean_ms < best.mean_ms ? now.mean_ms : best.mean_ms;
        best.most_ms = now.most_ms < best.most_ms ? now.most_ms : best.most_ms;
    }
    return best;
}

static void time_one(const EmbeddedScript *script, bool again)
{
    static Taken spin;
    static uint32_t count;
    if (count++ % 16 == 0) {
        spin = time_best(&SPIN, false, 0);
        printf("%-33s %6.2f ms, at most %6.2f\n", SPIN.name, spin.mean_ms, spin.most_ms);
    }
    const Taken taken = time_best(script, again, spin.mean_ms);
    printf("%-26s%-7s %6.2f ms, at most %6.2f\n", script->name, again ? "again" : "", taken.mean_ms,
           taken.most_ms);
    (void)fflush(stdout);
    // The last call of a tick may run past its end; later ticks are shorter then.
    const ScriptConfig config = script_config_default();
    const double call_ratio = (double)(config.tick_ms + config.call_ms) / config.tick_ms;
    if (taken.mean_ms > TIME_RATIO * spin.mean_ms ||
        taken.most_ms > TIME_RATIO * call_ratio * spin.mean_ms) {
        test_fail(__FILE__, __LINE__,
                  "%s: ticks take %.2f ms and at most %.2f; with empty loops %.2f", script->name,
                  taken.mean_ms, taken.most_ms, spin.mean_ms);
    }
}

TEST(processor_time)
{
    const char *only = getenv("SANDLOT_HOSTILE");
    source = malloc(SOURCE_BYTES);
    for (uint32_t i = 0; getenv("SANDLOT_TIMED") != NULL && script_at(i) != NULL; i++) {
        if (only == NULL || strcmp(only, script_at(i)->name) == 0) {
            time_one(script_at(i), false);
            time_one(script_at(i), true);
        }
    }
    free(source);
}

// test_hostile_world [NAME] [-v]   every hostile script that needs a world (hostile/sim_*.lua), in
// a real one beside an honest script, in virtual time. Its first line says what becomes of it:
//
//   -- world: bounded      it does as it likes, and no tick takes more than its things may
//   -- world: budget       it is stopped by a fault of kind budget
//   -- world: limit        it is stopped by an error that names a limit of scripts
//   -- world: error        it is stopped by another error
//   -- world: capability   what it wants is not there on the server
//
// Whatever it does: what the sim does for scripts' things stays within its budget in every tick but
// the first of an overload, the rest of a tick is bounded too, every fault is its own, and the
// shots of the honest script fly on. All in steps, which are the same on every machine.
#include "core/base/limits.h"
#include "core/world/local/local_host.h"
#include "core/world/world_inside.h"
#include "tests/script/embedded.h"

#include <stdio.h>
#include <string.h>

#define TICKS       150
#define FAULTS      64
#define HOSTILE     "ServerScriptService/Hostile"
#define MAKERS_STEP SIM_MAKER_STEPS_PER_TICK
// One thing may begin with a step left, and take more: a projectile in the largest heap, or all
// nodes of a path.
#define OVERRUN_STEPS 600000
// The most that a whole tick takes: what scripts ask for (8 ms), their things, freeing the buried,
// structures, and the overruns of each.
#define TICK_STEPS_MAX (4000000 + 2 * MAKERS_STEP + 4 * OVERRUN_STEPS)

static const char PLACE[] =
    "{\"format\": 1, \"name\": \"Hostile\",\n"
    " \"limits\": {\"players\": 64, \"viewRadius\": 64, \"reach\": 10, \"entities\": 16384},\n"
    " \"catalogue\": [{\"name\": \"block\", \"health\": 50}],\n"
    " \"voxelKinds\": [{\"name\": \"grass\"}, {\"name\": \"stone\"}]}\n";
static const char SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [{\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [4, 0, "
    "0]}}]}\n";
static const char BLOCK[] = "{\"format\": 1, \"kind\": \"part\", \"shape\": {\"size\": [1, 1, 1]}}";
static const char GHOST[] =
    "{\"format\": 1, \"kind\": \"part\", \"ghost\": true, \"shape\": {\"size\": [1, 1, 1]}}";
static const char ZONE[] = "{\"format\": 1, \"kind\": \"part\", \"ghost\": true, \"trigger\": true,"
                           " \"shape\": {\"size\": [4, 4, 4]}}";
// Its shots cross a corner where nothing else is; one that stood still for a few ticks is late.
static const char HONEST[] =
    "local shot, fired\n"
    "function onUpdate()\n"
    "    if shot ~= nil and shot:IsValid() then\n"
    "        local want = 200 + 6 * (World.Tick() - fired) / 60\n"
    "        if math.abs(shot.Position.x - want) > 0.5 then\n"
    "            error('a shot is late: at ' .. shot.Position.x .. ' instead of ' .. want)\n"
    "        end\n"
    "    else\n"
    "        shot = Projectile.Fire({position = Vector3.new(200, 90, 200),\n"
    "                                velocity = Vector3.new(6, 0, 0)})\n"
    "        fired = World.Tick()\n"
    "    end\n"
    "end\n";

typedef struct Seen {
    uint64_t makers_first;  // most steps for things in one tick, of all
    uint64_t makers_steady; // in a tick after one that was too long
    uint64_t tick_steps;    // most in a whole tick
    uint32_t skipped;
    uint32_t fault_counts[FAULT_KIND_COUNT];
    bool limit_named;
    bool others_failed;
    uint64_t work_steps; // of the hostile script, as statistics have them
    char message[SCRIPT_MESSAGE_BYTES];
} Seen;

static PlaceFile file_of(const char *path, const char *text)
{
    return (PlaceFile){path, (const uint8_t *)text, strlen(text)};
}

static LocalHost *open_host(Heap *heap, const EmbeddedScript *script)
{
    // By path, as packages have them.
    const PlaceFile files[] = {
        {HOSTILE ".lua", (const uint8_t *)script->text, script->bytes},
        file_of("ServerScriptService/Neighbour.lua", HONEST),
        file_of("place.json", PLACE),
        file_of("prefabs/Block.json", BLOCK),
        file_of("prefabs/Ghost.json", GHOST),
        file_of("prefabs/Zone.json", ZONE),
        file_of("scene.json", SCENE),
    };
    LocalHostConfig config = local_host_config_default();
    config.entity_max = 16384;
    LocalHost *host = NULL;
    PlaceError error;
    if (local_host_create(heap, &config, files, sizeof files / sizeof files[0], &host, &error) !=
        STATUS_OK) {
        char text[512];
        place_error_text(&error, text, sizeof text);
        printf("%s\n", text);
    }
    return host;
}

static void take_faults(ScriptSystem *scripts, Seen *seen)
{
    ScriptFault faults[FAULTS];
    const uint32_t count = script_faults(scripts, faults, FAULTS);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(faults[i].path, HOSTILE) != 0) {
            seen->others_failed = true;
            printf("  %s: %s\n", faults[i].path, faults[i].message);
            continue;
        }
        seen->fault_counts[faults[i].kind] += 1;
        seen->limit_named = seen->limit_named || strstr(faults[i].message, "a script ") != NULL;
        snprintf(seen->message, sizeof seen->message, "%s", faults[i].message);
    }
}

static void run_tick(LocalHost *host, uint64_t number, bool *was_tight, Seen *seen)
{
    World *world = local_host_world(host);
    const uint64_t before = sim_work(world->sim);
    const Entry tick = {.type = ENTRY_TICK, .number = 1000 * number / 60 + 1};
    if (local_host_enter(host, &tick) != STATUS_OK) {
        printf("  tick %llu failed\n", (unsigned long long)number);
        seen->others_failed = true;
    }
    const uint64_t whole = sim_work(world->sim) - before;
    uint64_t makers = 0;
    uint32_t skipped = 0;
    for (uint32_t i = 1; i <= sim_maker_highest(world->sim); i++) {
        const SimMaker maker = sim_maker(world->sim, i);
        makers += maker.steps;
        skipped += maker.skipped;
    }
    uint64_t *most = *was_tight ? &seen->makers_steady : &seen->makers_first;
    *most = makers > *most ? makers : *most;
    seen->tick_steps = whole > seen->tick_steps ? whole : seen->tick_steps;
    seen->skipped += skipped;
    *was_tight = skipped != 0 || makers > MAKERS_STEP;
    take_faults(world_scripts(world), seen);
}

static uint64_t work_steps_of(ScriptSystem *scripts, const char *path)
{
    static ScriptStats stats;
    script_stats(scripts, &stats);
    for (uint32_t i = 0; i < stats.scripts_listed; i++) {
        if (strcmp(stats.scripts[i].path, path) == 0) {
            return stats.scripts[i].work_step_count;
        }
    }
    return 0;
}

static bool run(const EmbeddedScript *script, Seen *seen)
{
    Heap heap = heap_make(2ull << 30);
    LocalHost *host = open_host(&heap, script);
    if (host == NULL) {
        return false;
    }
    bool was_tight = false;
    for (uint64_t i = 1; i <= TICKS; i++) {
        run_tick(host, i, &was_tight, seen);
    }
    seen->work_steps = work_steps_of(world_scripts(local_host_world(host)), HOSTILE);
    local_host_destroy(host);
    return heap.bytes_now == 0;
}

static bool is_stopped_as(const char *expect, const Seen *seen)
{
    if (strcmp(expect, "bounded") == 0) {
        return seen->makers_first <= MAKERS_STEP && seen->skipped == 0 &&
               seen->tick_steps <= MAKERS_STEP;
    }
    if (strcmp(expect, "budget") == 0) {
        return seen->fault_counts[FAULT_BUDGET] > 0;
    }
    if (strcmp(expect, "limit") == 0) {
        return seen->limit_named;
    }
    if (strcmp(expect, "error") == 0) {
        return seen->fault_counts[FAULT_ERROR] > 0;
    }
    return strcmp(expect, "capability") == 0 && seen->fault_counts[FAULT_CAPABILITY] > 0;
}

static bool check_one(const EmbeddedScript *script, bool verbose)
{
    static const char label[] = "-- world: ";
    char expect[32] = "";
    Seen seen = {0};
    if (strncmp(script->text, label, sizeof label - 1) == 0) {
        const char *word = script->text + sizeof label - 1;
        snprintf(expect, sizeof expect, "%.*s", (int)strcspn(word, "\n"), word);
    }
    bool good = run(script, &seen) && !seen.others_failed;
    good = good && is_stopped_as(expect, &seen);
    good = good && seen.makers_first <= 2 * MAKERS_STEP + OVERRUN_STEPS;
    good = good && seen.makers_steady <= MAKERS_STEP + OVERRUN_STEPS;
    good = good && seen.tick_steps <= TICK_STEPS_MAX;
    good = good && (seen.skipped == 0 || seen.work_steps > 0);
    if (!good || verbose) {
        printf("%s (%s): %s\n  things %llu, then %llu steps in a tick, all %llu; %u stood still; "
               "charged %llu\n  faults: %u errors, %u budget, %u memory, %u capability; the last: "
               "%s\n",
               script->name, expect, good ? "good" : "FAILED",
               (unsigned long long)seen.makers_first, (unsigned long long)seen.makers_steady,
               (unsigned long long)seen.tick_steps, seen.skipped,
               (unsigned long long)seen.work_steps, seen.fault_counts[FAULT_ERROR],
               seen.fault_counts[FAULT_BUDGET], seen.fault_counts[FAULT_MEMORY],
               seen.fault_counts[FAULT_CAPABILITY], seen.message);
    }
    return good;
}

int main(int argc, char **argv)
{
    const bool verbose = argc > 1 && strcmp(argv[argc - 1], "-v") == 0;
    const char *only = argc > 1 + verbose ? argv[1] : NULL;
    uint32_t passed = 0;
    uint32_t failed = 0;
    for (const EmbeddedScript *s = hostile_scripts; s->name != NULL; s++) {
        if (strncmp(s->name, "sim_", 4) == 0 && (only == NULL || strcmp(only, s->name) == 0)) {
            const bool good = check_one(s, verbose);
            passed += good;
            failed += !good;
        }
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0 || passed == 0;
}

// Summaries are compared as text, so every number is printed in the same way everywhere: integers,
// and floats with three decimals, which every C library rounds in the same way.
#include "tests/scenario/summary.h"

#include "core/base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ENTITIES_SHOWN 20 // of one type
#define CHUNKS_SHOWN   12

typedef struct Text {
    char *bytes;
    size_t at;
} Text;

static void line(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line(Text *text, const char *format, ...)
{
    const size_t left = SUMMARY_BYTES - text->at;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text->bytes + text->at, left, format, arguments);
    va_end(arguments);
    ASSERT(length >= 0 && (size_t)length + 1 < left);
    text->at += (size_t)length;
    text->bytes[text->at++] = '\n';
    text->bytes[text->at] = '\0';
}

// Never "-0.000".
static double tidy(float value)
{
    return value > -0.0005f && value < 0.0005f ? 0.0 : (double)value;
}

static const char *const EVENT_NAMES[SIM_EVENT_TYPE_COUNT] = {
    [SIM_EVENT_NONE] = "none",
    [SIM_EVENT_LANDED] = "landed",
    [SIM_EVENT_JUMPED] = "jumped",
    [SIM_EVENT_BOUNCED] = "bounced",
    [SIM_EVENT_DAMAGED] = "damaged",
    [SIM_EVENT_DIED] = "died",
    [SIM_EVENT_CRUSHED] = "crushed",
    [SIM_EVENT_TRIGGER_ENTERED] = "trigger entered",
    [SIM_EVENT_TRIGGER_LEFT] = "trigger left",
    [SIM_EVENT_PROJECTILE_HIT] = "projectile hit",
    [SIM_EVENT_PROJECTILE_ENDED] = "projectile ended",
    [SIM_EVENT_NPC_STATE] = "npc state",
    [SIM_EVENT_STRUCTURE_REMOVED] = "structure removed",
};

static const char *const TYPE_NAMES[ENTITY_TYPE_COUNT] = {
    [ENTITY_NONE] = "none",
    [ENTITY_PLAYER] = "player",
    [ENTITY_NPC] = "npc",
    [ENTITY_PROJECTILE] = "projectile",
    [ENTITY_PART] = "part",
    [ENTITY_PROP] = "prop",
    [ENTITY_STRUCTURE] = "structure",
};

static void write_entity(Text *text, const Entity *e)
{
    char more[128] = "";
    if (entity_is_character(e)) {
        (void)snprintf(more, sizeof more, " health %.1f%s%s%s", tidy(e->character.health),
                       e->character.grounded ? " grounded" : "",
                       e->character.climbing ? " climbing" : "",
                       e->character.trigger_count > 0 ? " in a zone" : "");
    } else if (entity_has_shape(e)) {
        (void)snprintf(more, sizeof more, " turned %.3f %.3f %.3f %.3f", tidy(e->rotation.x),
                       tidy(e->rotation.y), tidy(e->rotation.z), tidy(e->rotation.w));
    }
    line(text, "%s %llu: at %.3f %.3f %.3f moving %.3f %.3f %.3f%s", TYPE_NAMES[e->type],
         (unsigned long long)e->net_id, tidy(e->position.x), tidy(e->position.y),
         tidy(e->position.z), tidy(e->velocity.x), tidy(e->velocity.y), tidy(e->velocity.z), more);
}

static void write_entities(Text *text, const Sim *sim)
{
    for (int type = 1; type < ENTITY_TYPE_COUNT; type++) {
        const uint32_t mask = ENTITY_MASK(type);
        const uint32_t count = sim_count(sim, (EntityType)type);
        if (count == 0) {
            continue;
        }
        line(text, "count of %s: %u", TYPE_NAMES[type], count);
        uint32_t shown = 0;
        for (Handle h = sim_next(sim, HANDLE_NONE, mask);
             !handle_is_none(h) && shown < ENTITIES_SHOWN; h = sim_next(sim, h, mask)) {
            write_entity(text, sim_entity(sim, h));
            shown += 1;
        }
    }
}

static void write_counters(Text *text, const SimCounters *counters)
{
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"events dropped", counters->events_dropped},
        {"colliders dropped", counters->colliders_dropped},
        {"query overflow", counters->query_overflow},
        {"moves refused", counters->moves_refused},
        {"unstuck", counters->unstuck},
        {"inputs sanitised", counters->inputs_sanitised},
        {"triggers dropped", counters->triggers_dropped},
        {"paths given up", counters->paths_given_up},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].value != 0) {
            line(text, "counter %s: %llu", rows[i].name, (unsigned long long)rows[i].value);
        }
    }
}

static void write_terrain(Text *text, const Terrain *terrain)
{
    const uint32_t count = terrain_changed_chunk_count(terrain);
    line(text, "terrain: %u edits in %u chunks", terrain_edit_count(terrain), count);
    for (uint32_t i = 0; i < count && i < CHUNKS_SHOWN; i++) {
        const ChunkCoord at = terrain_changed_chunk(terrain, i);
        line(text, "chunk %d %d %d: version %u", at.x, at.y, at.z,
             terrain_chunk_version(terrain, at));
    }
}

void summary_write(const ScenarioWorld *world, char bytes[SUMMARY_BYTES])
{
    Text text = {bytes, 0};
    line(&text, "scenario: %s", world->scenario->name);
    line(&text, "purpose: %s", world->scenario->purpose);
    line(&text, "ticks: %u", world->tick);
    for (uint32_t i = 0; i < world->hash_count; i++) {
        line(&text, "hash at %u: %016llx", world->hash_ticks[i],
             (unsigned long long)world->hashes[i]);
    }
    line(&text, "hash at the end: %016llx", (unsigned long long)world->hash);
    for (int type = 1; type < SIM_EVENT_TYPE_COUNT; type++) {
        if (world->event_counts[type] != 0) {
            line(&text, "event %s: %llu", EVENT_NAMES[type],
                 (unsigned long long)world->event_counts[type]);
        }
    }
    write_counters(&text, &world->counters);
    write_terrain(&text, sim_terrain_view(world->sim));
    write_entities(&text, world->sim);
}

// --- comparing ----------------------------------------------------------------------------------
typedef struct Line {
    const char *start;
    int length;     // of the whole line
    int key_length; // up to the colon
} Line;

// The line at `at`; false at the end.
static bool read_line(const char **at, Line *out)
{
    if (**at == '\0') {
        return false;
    }
    const char *end = strchr(*at, '\n');
    if (end == NULL) {
        end = *at + strlen(*at);
    }
    const char *colon = memchr(*at, ':', (size_t)(end - *at));
    *out = (Line){*at, (int)(end - *at), (int)((colon != NULL ? colon : end) - *at)};
    *at = *end == '\n' ? end + 1 : end;
    return true;
}

static bool same_key(Line a, Line b)
{
    return a.key_length == b.key_length && memcmp(a.start, b.start, (size_t)a.key_length) == 0;
}

static bool same_line(Line a, Line b)
{
    return a.length == b.length && memcmp(a.start, b.start, (size_t)a.length) == 0;
}

static bool is_hash(Line l)
{
    return l.length >= 4 && memcmp(l.start, "hash", 4) == 0;
}

static bool find_key(const char *text, Line key, Line *out)
{
    while (read_line(&text, out)) {
        if (same_key(*out, key)) {
            return true;
        }
    }
    return false;
}

static void say_difference(const char *name, Line want, const char *got)
{
    Line found;
    if (!find_key(got, want, &found)) {
        printf("%s: nothing for \"%.*s\"; expected%.*s\n", name, want.key_length, want.start,
               want.length - want.key_length - 1, want.start + want.key_length + 1);
        return;
    }
    printf("%s: %.*s is%.*s; expected%.*s\n", name, want.key_length, want.start,
           found.length - found.key_length - 1, found.start + found.key_length + 1,
           want.length - want.key_length - 1, want.start + want.key_length + 1);
}

bool summary_compare(const char *name, const char *got, const char *want)
{
    const char *at = want;
    Line expected;
    Line found;
    Line hash_before = {"the start", 9, 9};
    bool hash_said = false;
    while (read_line(&at, &expected)) {
        const bool same = find_key(got, expected, &found) && same_line(found, expected);
        if (is_hash(expected)) {
            if (!same && !hash_said) {
                printf("%s: first differs between %.*s and %.*s\n", name, hash_before.key_length,
                       hash_before.start, expected.key_length, expected.start);
                hash_said = true;
            }
            hash_before = expected;
        } else if (!same) {
            say_difference(name, expected, got);
            return false;
        }
    }
    at = got;
    while (read_line(&at, &found)) {
        if (!find_key(want, found, &expected)) {
            printf("%s: not expected: \"%.*s\"\n", name, found.length, found.start);
            return false;
        }
    }
    return !hash_said;
}

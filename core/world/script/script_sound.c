// What clients hear. A sound that ends by itself is an event for those within hearing. One that
// goes on is state: for every session it is known which loops and which music its client was told
// of, and the difference is sent, so whoever joins or comes nearer hears what runs, and nothing is
// lost when a client's queue was full.
#include "core/world/script/script_host_inside.h"

#include <string.h>

typedef struct HeardLoop {
    uint32_t id, version; // as in the SoundTable; version 0: the client does not hear this slot
} HeardLoop;

typedef struct Hearer {
    HeardLoop loops[SOUND_LOOPS_MAX];
    uint32_t music_version;
    bool is_open;       // it was, in the last tick
    uint32_t tick_sent; // in this tick
} Hearer;

struct ScriptSounds {
    Hearer *hearers;       // by session
    uint32_t seen_version; // of the table
};

Status script_sound_create(ScriptHost *host)
{
    Heap *heap = host->config.heap;
    host->sounds = heap_alloc(heap, sizeof *host->sounds);
    if (host->sounds == NULL) {
        return STATUS_LIMIT;
    }
    host->sounds->hearers =
        heap_alloc(heap, heap_array_bytes(host->config.sessions->count, sizeof(Hearer)));
    return host->sounds->hearers != NULL ? STATUS_OK : STATUS_LIMIT;
}

void script_sound_destroy(ScriptHost *host)
{
    if (host->sounds != NULL) {
        heap_free(host->config.heap, host->sounds->hearers);
        heap_free(host->config.heap, host->sounds);
        host->sounds = NULL;
    }
}

// --- who hears ----------------------------------------------------------------------------------

static float hearing_m(const ScriptHost *host)
{
    const float sight = host->config.place->view_radius;
    return sight < (float)SOUND_HEARING_M ? sight : (float)SOUND_HEARING_M;
}

static bool is_heard(const ScriptHost *host, const Session *session, const ScriptSound *sound,
                     float more_m)
{
    const Sessions *sessions = host->config.sessions;
    Vec3 ear;
    if (session->state != SESSION_PLAYING ||
        (sound->player_id != 0 && sound->player_id != session->player) ||
        !replicator_eye(sessions->config.replicator, session_number(sessions, session), &ear)) {
        return false;
    }
    const float most = hearing_m(host) + more_m;
    const Vec3 way = vec3_sub(sound->position, ear);
    return !sound->has_position || vec3_dot(way, way) <= most * most;
}

// STATUS_LIMIT: not in this tick, or there is no room.
static Status send(ScriptHost *host, const Session *session, uint8_t number, const void *body,
                   uint64_t entity)
{
    Sessions *sessions = host->config.sessions;
    Hearer *hearer = &host->sounds->hearers[session_number(sessions, session)];
    if (hearer->tick_sent == SOUNDS_PER_CLIENT_TICK) {
        return STATUS_LIMIT;
    }
    hearer->tick_sent += 1;
    const ReplicatorEvent where = {.other = entity}; // it is brought into sight first
    return event_send(sessions, session, number, body, &where);
}

static Status send_sound(ScriptHost *host, const Session *session, const ScriptSound *sound)
{
    const float most = (float)WORLD_EXTENT_M;
    const MessageSound body = {
        .id = sound->id,
        .name = sound->name,
        .loop = sound->loop,
        .entity_id = sound->entity,
        .has_position = sound->has_position,
        .position =
            vec3_min(vec3_max(sound->position, vec3(-most, -most, -most)), vec3(most, most, most)),
        .volume = sound->volume,
        .pitch = sound->pitch,
        .caption = sound->caption,
    };
    return send(host, session, MESSAGE_SOUND, &body, sound->entity);
}

static Status send_change(ScriptHost *host, const Session *session, uint32_t id,
                          const ScriptSound *sound)
{
    const MessageSoundChanged body = {.id = id,
                                      .stopped = sound == NULL,
                                      .volume = sound != NULL ? sound->volume : 0,
                                      .pitch = sound != NULL ? sound->pitch : 1};
    return send(host, session, MESSAGE_SOUND_CHANGED, &body, 0);
}

// --- sounds that end by themselves --------------------------------------------------------------

void script_sound_play(ScriptHost *host, const Effect *effect)
{
    const Sessions *sessions = host->config.sessions;
    const ScriptSound *sound = &effect->sound;
    uint64_t lost = 0;
    for (uint32_t i = 0; i < sessions->high; i++) {
        const Session *session = &sessions->all[i];
        if (!is_heard(host, session, sound, 0)) {
            continue;
        }
        const Hearer *hearer = &host->sounds->hearers[i];
        const bool is_full = hearer->tick_sent == SOUNDS_PER_CLIENT_TICK;
        const Status status = sound->act == SCRIPT_SOUND_PLAY
                                  ? send_sound(host, session, sound)
                                  : send_change(host, session, sound->id,
                                                sound->act == SCRIPT_SOUND_STOP ? NULL : sound);
        lost += is_full && status == STATUS_LIMIT; // the replicator has counted the others
    }
    if (lost > 0 && host->system != NULL) {
        script_effects_lost(host->system, effect->maker, lost);
    }
}

// --- sounds that go on --------------------------------------------------------------------------

static void tell_loop(ScriptHost *host, const Session *session, const SoundLoop *loop,
                      HeardLoop *heard)
{
    host->config.run->effect_maker = loop->maker;
    const bool is_same = loop->version != 0 && loop->sound.id == heard->id;
    const float more_m = is_same && heard->version != 0 ? (float)SOUND_HEARING_EDGE_M : 0;
    const bool is_on = loop->version != 0 && is_heard(host, session, &loop->sound, more_m);
    if (heard->version != 0 && !(is_same && is_on)) {
        if (send_change(host, session, heard->id, NULL) != STATUS_OK) {
            return; // again the next time
        }
        heard->version = 0;
    }
    if (!is_on || heard->version == loop->version) {
        return;
    }
    const Status status = heard->version == 0 ? send_sound(host, session, &loop->sound)
                                              : send_change(host, session, heard->id, &loop->sound);
    if (status == STATUS_OK) {
        *heard = (HeardLoop){.id = loop->sound.id, .version = loop->version};
    }
}

static void tell_music(ScriptHost *host, const Session *session, const SoundLoop *music,
                       Hearer *hearer)
{
    if (hearer->music_version == music->version) {
        return;
    }
    host->config.run->effect_maker = music->maker;
    const MessageMusic body = {.name = music->sound.name,
                               .volume = music->sound.volume,
                               .pitch = music->sound.pitch,
                               .fade_seconds = music->sound.fade_seconds,
                               .since = music->sound.since_tick,
                               .caption = music->sound.caption};
    if (send(host, session, MESSAGE_MUSIC, &body, 0) == STATUS_OK) {
        hearer->music_version = music->version;
    }
}

static void tell_hearer(ScriptHost *host, uint32_t number, const SoundTable *table, bool is_due)
{
    const Session *session = &host->config.sessions->all[number];
    Hearer *hearer = &host->sounds->hearers[number];
    Vec3 ear;
    const bool is_open = session->state == SESSION_PLAYING &&
                         replicator_eye(host->config.sessions->config.replicator, number, &ear);
    if (!is_open || !hearer->is_open) {
        *hearer = (Hearer){.is_open = is_open, .tick_sent = hearer->tick_sent};
    }
    if (is_open && is_due) {
        tell_music(host, session, &table->music, hearer);
        for (uint32_t i = 0; i < SOUND_LOOPS_MAX; i++) {
            tell_loop(host, session, &table->loops[i], &hearer->loops[i]);
        }
    }
}

void script_sound_tick(ScriptHost *host)
{
    ScriptSounds *sounds = host->sounds;
    authority_sounds_step(host->config.authority);
    const SoundTable *table = authority_sounds(host->config.authority);
    const bool is_new = sounds->seen_version != table->version;
    for (uint32_t i = 0; i < host->config.sessions->high; i++) {
        const bool is_turn = (host->config.clock->tick + i) % SOUND_LOOK_TICKS == 0;
        if (table->version != 0) {
            tell_hearer(host, i, table, is_new || is_turn);
        }
        sounds->hearers[i].tick_sent = 0;
    }
    sounds->seen_version = table->version;
    host->config.run->effect_maker = 0;
}

void script_sound_forget(ScriptHost *host, const Session *session)
{
    host->sounds->hearers[session_number(host->config.sessions, session)] = (Hearer){0};
}

void script_sound_hash(const ScriptHost *host, Hash64 *hash)
{
    const SoundTable *table = authority_sounds(host->config.authority);
    sound_table_hash(table, hash);
    for (uint32_t i = 0; i < host->config.sessions->high && table->version != 0; i++) {
        const Hearer *hearer = &host->sounds->hearers[i];
        hash_u64(hash, hearer->music_version);
        for (uint32_t slot = 0; slot < SOUND_LOOPS_MAX; slot++) {
            hash_u64(hash, hearer->loops[slot].version);
        }
    }
}

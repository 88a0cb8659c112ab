// The sky: one state that scripts set (authority_sky). Each session is told the newest one, also
// when it comes in late or comes back, and again if there was no room. Changes between two
// snapshots are sent as one.
#include "core/world/act/act_inside.h"

#include <string.h>

Status sky_create(Acts *acts)
{
    const size_t bytes = (acts->config.sessions->count + 1) * sizeof(uint64_t);
    acts->sky_sent = heap_alloc(acts->config.heap, bytes);
    if (acts->sky_sent == NULL) {
        return STATUS_LIMIT;
    }
    memset(acts->sky_sent, 0, bytes);
    return STATUS_OK;
}

void sky_destroy(Acts *acts)
{
    if (acts->sky_sent != NULL) {
        heap_free(acts->config.heap, acts->sky_sent);
    }
}

void sky_forget(Acts *acts, const Session *session)
{
    acts->sky_sent[session_number(acts->config.sessions, session)] = 0;
}

static MessageSky message_of(const Sky *sky)
{
    return (MessageSky){.hour = sky->hour,
                        .hours_per_second = sky->hours_per_second,
                        .since = sky->tick,
                        .fog = sky->fog_m,
                        .weather = sky->weather,
                        .top = sky->colours[SKY_TOP],
                        .horizon = sky->colours[SKY_HORIZON],
                        .sun = sky->colours[SKY_SUN]};
}

void sky_tick(Acts *acts)
{
    Sessions *sessions = acts->config.sessions;
    uint64_t version = 0;
    const Sky *sky = authority_sky(acts->config.authority, &version);
    for (uint32_t i = 0; i < sessions->high && version != 0; i++) {
        const Session *session = session_at(sessions, i);
        if (session->state != SESSION_PLAYING || acts->sky_sent[i] == version) {
            continue;
        }
        const MessageSky message = message_of(sky);
        if (event_send(sessions, session, MESSAGE_SKY, &message, NULL) == STATUS_OK) {
            acts->sky_sent[i] = version; // else again with the next snapshot
        }
    }
}

void sky_hash(const Acts *acts, Hash64 *hash)
{
    uint64_t version = 0;
    const Sky *sky = authority_sky(acts->config.authority, &version);
    if (version == 0) {
        return;
    }
    hash_u64(hash, version);
    hash_u64(hash, sky->tick);
    hash_f32(hash, sky->hour);
    hash_f32(hash, sky->hours_per_second);
    hash_f32(hash, sky->fog_m);
    hash_u64(hash, sky->weather);
    for (uint32_t i = 0; i < SKY_COLOURS; i++) {
        hash_u64(hash, sky->colours[i]);
    }
    for (uint32_t i = 0; i < acts->config.sessions->high; i++) {
        hash_u64(hash, acts->sky_sent[i]);
    }
}

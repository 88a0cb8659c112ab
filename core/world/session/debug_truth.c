// Once a second, sessions whose ticket allows it are sent the exact positions of all entities in
// their view, so that a client can measure its own error. The positions are those of the sim after
// the step, not the curves that snapshots carry, so errors of replication show.
#include "core/world/session/session.h"

#define TRUTH_MAX 256

static void send_truth(Sessions *sessions, Session *session)
{
    uint64_t seen[NET_SLOTS_MAX];
    WireTruth truths[TRUTH_MAX];
    MessageDebugTruth message = {.tick = sessions->config.clock->tick, .entities = truths};
    const uint32_t count =
        replicator_seen(sessions->config.replicator, session_number(sessions, session), seen);
    for (uint32_t i = 0; i < count && message.entities_count < TRUTH_MAX; i++) {
        const Entity *entity =
            sim_entity(sessions->config.sim, sim_find(sessions->config.sim, seen[i]));
        if (entity != NULL) {
            truths[message.entities_count++] =
                (WireTruth){.entity_id = seen[i], .position = entity->position};
        }
    }
    session_send(sessions, session, MESSAGE_DEBUG_TRUTH, &message);
}

void debug_truth_tick(Sessions *sessions)
{
    const WorldClock *clock = sessions->config.clock;
    if (clock->tick % clock->tick_rate != 0) {
        return;
    }
    for (uint32_t i = 0; i < sessions->high; i++) {
        Session *session = &sessions->all[i];
        if (session->debug && session_plays(session)) {
            send_truth(sessions, session);
        }
    }
}

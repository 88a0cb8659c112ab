// What a client may compare itself with: the exact positions of what is in its view, once a
// second, for sessions whose ticket allows it. Positions are those of the sim after the step, not
// the curves that snapshots carry, so nothing of replication can hide in them.
#include "core/world/session/session.h"

#define TRUTH_MAX 256

static void tell(Sessions *sessions, Session *session)
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
    if (sessions->config.clock->tick % sessions->config.clock->tick_rate != 0) {
        return;
    }
    for (uint32_t i = 0; i < sessions->high; i++) {
        Session *session = &sessions->all[i];
        if (session->debug && session_plays(session)) {
            tell(sessions, session);
        }
    }
}

// What a client may compare itself with: the exact positions of what is in its view, once a
// second, for sessions whose ticket allows it. Positions are those of the sim after the step, not
// the curves that snapshots carry, so nothing of replication can hide in them.
#include "core/world/world_inside.h"

#define TRUTH_MAX 256

static void tell(World *world, Session *session)
{
    uint64_t seen[NET_SLOTS_MAX];
    WireTruth truths[TRUTH_MAX];
    MessageDebugTruth message = {.tick = world->tick, .entities = truths};
    const uint32_t count = replicator_seen(world->replicator, session_number(world, session), seen);
    for (uint32_t i = 0; i < count && message.entities_count < TRUTH_MAX; i++) {
        const Entity *entity = sim_entity(world->sim, sim_find(world->sim, seen[i]));
        if (entity != NULL) {
            truths[message.entities_count++] =
                (WireTruth){.entity_id = seen[i], .position = entity->position};
        }
    }
    session_send(world, session, MESSAGE_DEBUG_TRUTH, &message);
}

void truth_tick(World *world)
{
    if (world->tick % world->tick_rate != 0) {
        return;
    }
    for (uint32_t i = 0; i < world->session_high; i++) {
        Session *session = &world->sessions[i];
        if (session->debug && session_plays(session)) {
            tell(world, session);
        }
    }
}

// Events for clients: encoded once, handed to the replicator, which knows whom they concern.
#include "core/world/world_inside.h"

static ReplicatorEvent encode(World *world, uint8_t number, const void *body,
                              const ReplicatorEvent *where)
{
    ByteWriter writer = byte_writer(world->frame, world->frame_capacity);
    message_encode_event(number, body, &writer);
    ASSERT(writer.status == STATUS_OK); // the frame has room for the largest event
    ReplicatorEvent event = where != NULL ? *where : (ReplicatorEvent){0};
    event.tick = world->tick;
    event.message = world->frame;
    event.bytes = writer.at;
    return event;
}

void event_broadcast(World *world, uint8_t number, const void *body, const ReplicatorEvent *where)
{
    const ReplicatorEvent event = encode(world, number, body, where);
    replicator_broadcast(world->replicator, &event);
}

Status event_send(World *world, const Session *session, uint8_t number, const void *body,
                  const ReplicatorEvent *where)
{
    const ReplicatorEvent event = encode(world, number, body, where);
    return replicator_send(world->replicator, session_number(world, session), &event);
}

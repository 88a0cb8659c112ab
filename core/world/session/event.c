// Events for clients: encoded once and given to the replicator, which decides who gets them.
#include "core/world/session/session.h"

static ReplicatorEvent encode(Sessions *sessions, uint8_t number, const void *body,
                              const ReplicatorEvent *where)
{
    ByteWriter writer = byte_writer(sessions->frame, sessions->frame_capacity);
    message_encode_event(number, body, &writer);
    ASSERT(writer.status == STATUS_OK); // the frame has room for the largest event
    ReplicatorEvent event = where != NULL ? *where : (ReplicatorEvent){0};
    event.tick = sessions->config.clock->tick;
    event.message = sessions->frame;
    event.bytes = writer.at;
    event.maker = event.maker != 0 ? event.maker : sessions->config.run->effect_maker;
    return event;
}

void event_broadcast(Sessions *sessions, uint8_t number, const void *body,
                     const ReplicatorEvent *where)
{
    const ReplicatorEvent event = encode(sessions, number, body, where);
    replicator_broadcast(sessions->config.replicator, &event);
}

Status event_send(Sessions *sessions, const Session *session, uint8_t number, const void *body,
                  const ReplicatorEvent *where)
{
    const ReplicatorEvent event = encode(sessions, number, body, where);
    return replicator_send(sessions->config.replicator, session_number(sessions, session), &event);
}

// Frames: who gets one now, and how far each client is. A client confirms with its inputs the last
// frame it has processed; one that is too many frames behind gets no new one until it caught up,
// and is dropped when that takes too long. A socket's buffer is never asked: behind a relay it
// takes megabytes from a client that stopped reading long ago.
#include "core/world/world_inside.h"

#include "core/wire/merge.h"
#include "core/wire/snapshot_json.h"

#define BLIND_BYTES_PER_S (256u << 10) // what a client is believed to take that confirms nothing

void flow_ack(World *world, Session *session, uint64_t frame)
{
    Flow *flow = &session->flow;
    if (frame <= flow->acked || frame > flow->sent) {
        return;
    }
    flow->acked = (uint32_t)frame;
    if (flow->sent - flow->acked >= FLOW_FRAMES) {
        return;
    }
    const uint32_t slot = flow->acked % FLOW_FRAMES;
    const uint64_t ticks = world->tick - flow->ticks[slot];
    const uint32_t sample = ticks < 4096 ? (uint32_t)ticks * 8 : 4096 * 8;
    flow->rtt_eighths = flow->rtt_eighths == 0 ? sample : (flow->rtt_eighths * 7 + sample + 4) / 8;
    flow->backlog = flow->written - flow->bytes[slot];
}

// ⌈(round trip + 100 ms) / interval⌉
static uint32_t frames_max(const World *world, const Flow *flow)
{
    const uint32_t rtt =
        flow->acked != 0 ? (flow->rtt_eighths + 7) / 8 : world_ticks(world, ACK_GUESS_MS);
    const uint32_t ticks = rtt + world_ticks(world, ACK_SLACK_MS);
    const uint32_t count = (ticks + world->snapshot_ticks - 1) / world->snapshot_ticks;
    return count < 2 ? 2 : count < FLOW_FRAMES - 1 ? count : FLOW_FRAMES - 1;
}

// May it get a frame now? Ends the session that has been behind for too long.
static bool may_send(World *world, Session *session)
{
    Flow *flow = &session->flow;
    if (session->json && flow->acked == 0) {
        return true; // a tool that confirms nothing: the output bounds it
    }
    if (flow->sent - flow->acked < frames_max(world, flow)) {
        flow->behind_since = 0;
        return true;
    }
    world->stats.snapshots_skipped += 1;
    if (flow->behind_since == 0) {
        flow->behind_since = world->tick;
    }
    const uint32_t patience = world_ticks(world, flow->acked != 0 ? ACK_BEHIND_MS : ACK_FIRST_MS);
    if (world->tick - flow->behind_since > patience) {
        world->stats.sessions_behind += 1;
        session_error(world, session, 0, ERROR_BEHIND, "what was sent did not arrive in time");
    }
    return false;
}

static void put_json(World *world, Session *session, size_t bytes)
{
    ByteWriter writer = byte_writer(world->message, world->message_capacity);
    const Status status = snapshot_to_json(session->merge, world->frame, bytes, &writer);
    if (status != STATUS_OK) {
        log_write(world->config.log, world->tick, LOG_ERROR, "world", "a frame as JSON: %s",
                  status_name(status));
        session_error(world, session, 0, ERROR_INTERNAL, "a snapshot could not be written");
        return;
    }
    output_put(world, session, world->message, writer.at);
}

static void send_frame(World *world, Session *session)
{
    const uint32_t number = session_number(world, session);
    const Entity *body = session_body(world, session);
    if (body != NULL) {
        replicator_set_eye(world->replicator, number, session->entity, body->position);
    }
    NetOwn own;
    const bool has_own = own_state(world, session, &own);
    const FrameRequest request = {
        .ack_seq = session->input.ack_seq,
        .inputs_waiting = input_waiting(&session->input, world->tick, world->snapshot_ticks),
        .own = has_own ? &own : NULL};
    size_t bytes = 0;
    uint32_t seq = 0;
    const Status status = replicator_build(world->replicator, number, &request, world->frame,
                                           world->frame_capacity, &bytes, &seq);
    ASSERT(status == STATUS_OK); // the buffer has the room that the replicator asks for
    Flow *flow = &session->flow;
    ASSERT(seq == flow->sent + 1);
    flow->sent = seq;
    flow->ticks[seq % FLOW_FRAMES] = world->tick;
    world->stats.snapshots += 1;
    if (session->json) {
        put_json(world, session, bytes);
    } else {
        output_put(world, session, world->frame, bytes);
    }
    flow->bytes[seq % FLOW_FRAMES] = flow->written;
}

void flow_frames(World *world)
{
    replicator_capture(world->replicator);
    const uint64_t blind = BLIND_BYTES_PER_S / world->tick_rate * world->snapshot_ticks;
    for (uint32_t i = 0; i < world->session_high; i++) {
        Session *session = &world->sessions[i];
        if (session->state != SESSION_PLAYING || session->joining) {
            continue;
        }
        Flow *flow = &session->flow;
        if (flow->acked == 0) {
            flow->backlog -= flow->backlog < blind ? flow->backlog : blind;
        }
        if (may_send(world, session)) {
            send_frame(world, session);
        }
    }
}

// Snapshot frames: which session gets one now, and how far behind each client is. With its inputs a
// client confirms the last frame it has processed. A client that is too many frames behind gets no
// new one until it has caught up, and is dropped when that takes too long. The fill level of the
// socket is not used: behind a relay a socket accepts megabytes for a client that no longer reads.
#include "core/world/session/session.h"

#include "core/wire/merge.h"
#include "core/wire/snapshot_json.h"

#define BLIND_BYTES_PER_S (256u << 10) // assumed for a client that confirms nothing

void snapshot_ack(Sessions *sessions, Session *session, uint64_t frame)
{
    SnapshotFlow *flow = &session->flow;
    if (frame <= flow->acked || frame > flow->sent) {
        return;
    }
    flow->acked = (uint32_t)frame;
    if (flow->sent - flow->acked >= SNAPSHOT_FLOW_FRAMES) {
        return;
    }
    const uint32_t slot = flow->acked % SNAPSHOT_FLOW_FRAMES;
    const uint64_t ticks = sessions->config.clock->tick - flow->ticks[slot];
    const uint32_t sample = ticks < 4096 ? (uint32_t)ticks * 8 : 4096 * 8;
    flow->rtt_eighths = flow->rtt_eighths == 0 ? sample : (flow->rtt_eighths * 7 + sample + 4) / 8;
    ASSERT(flow->acked <= flow->sent && flow->bytes[slot] <= flow->written);
    flow->backlog = flow->written - flow->bytes[slot];
}

// ⌈(round trip + 100 ms) / interval⌉
static uint32_t frames_max(const Sessions *sessions, const SnapshotFlow *flow)
{
    const WorldClock *clock = sessions->config.clock;
    const uint32_t rtt =
        flow->acked != 0 ? (flow->rtt_eighths + 7) / 8 : world_ticks(clock, ACK_GUESS_MS);
    const uint32_t ticks = rtt + world_ticks(clock, ACK_SLACK_MS);
    const uint32_t count = (ticks + clock->snapshot_ticks - 1) / clock->snapshot_ticks;
    return count < 2 ? 2 : count < SNAPSHOT_FLOW_FRAMES - 1 ? count : SNAPSHOT_FLOW_FRAMES - 1;
}

// Whether the session may get a frame now. Ends it if it has been behind for too long.
static bool may_send(Sessions *sessions, Session *session)
{
    const WorldClock *clock = sessions->config.clock;
    SnapshotFlow *flow = &session->flow;
    if (session->json && flow->acked == 0) {
        return true; // a tool that confirms nothing: the output ring is the limit
    }
    if (flow->sent - flow->acked < frames_max(sessions, flow)) {
        flow->behind_since = 0;
        return true;
    }
    sessions->config.stats->snapshots_skipped += 1;
    if (flow->behind_since == 0) {
        flow->behind_since = clock->tick;
    }
    const uint32_t patience = world_ticks(clock, flow->acked != 0 ? ACK_BEHIND_MS : ACK_FIRST_MS);
    if (clock->tick - flow->behind_since > patience) {
        sessions->config.stats->sessions_behind += 1;
        session_error(sessions, session, 0, ERROR_BEHIND,
                      "snapshots were not acknowledged for 5 s: send lastSnapshot with the inputs, "
                      "10 times a "
                      "second");
    }
    return false;
}

static void put_json(Sessions *sessions, Session *session, size_t bytes)
{
    ByteWriter writer = byte_writer(sessions->message, sessions->message_capacity);
    const Status status = snapshot_to_json(session->merge, sessions->frame, bytes, &writer);
    if (status != STATUS_OK) {
        log_write(sessions->config.log, sessions->config.clock->tick, LOG_ERROR, "world",
                  "a frame as JSON: %s", status_name(status));
        session_error(sessions, session, 0, ERROR_INTERNAL, "a snapshot could not be written");
        return;
    }
    output_put(sessions, session, sessions->message, writer.at);
}

static void send_frame(Sessions *sessions, Session *session)
{
    const WorldClock *clock = sessions->config.clock;
    const uint32_t number = session_number(sessions, session);
    const Entity *body = session_body(sessions->config.sim, session);
    if (body != NULL) {
        replicator_set_eye(sessions->config.replicator, number, session->entity, body->position);
    }
    NetOwn own;
    const bool has_own = prediction_state(sessions, session, &own);
    const FrameRequest request = {
        .ack_seq = session->input.ack_seq,
        .inputs_waiting = input_waiting(&session->input, clock->tick, clock->snapshot_ticks),
        .own = has_own ? &own : NULL};
    size_t bytes = 0;
    uint32_t seq = 0;
    const Status status = replicator_build(sessions->config.replicator, number, &request,
                                           sessions->frame, sessions->frame_capacity, &bytes, &seq);
    ASSERT(status == STATUS_OK); // the buffer has the size that the replicator asks for
    SnapshotFlow *flow = &session->flow;
    ASSERT(seq == flow->sent + 1); // a client that missed one could not read the next
    ASSERT(bytes > 0 && bytes <= sessions->frame_capacity);
    ASSERT(!has_own || own.net_id == session->entity);
    flow->sent = seq;
    flow->ticks[seq % SNAPSHOT_FLOW_FRAMES] = clock->tick;
    sessions->config.stats->snapshots += 1;
    if (session->json) {
        put_json(sessions, session, bytes);
    } else {
        output_put(sessions, session, sessions->frame, bytes);
    }
    flow->bytes[seq % SNAPSHOT_FLOW_FRAMES] = flow->written;
}

void snapshot_send_all(Sessions *sessions)
{
    const WorldClock *clock = sessions->config.clock;
    const uint64_t blind = BLIND_BYTES_PER_S / clock->tick_rate * clock->snapshot_ticks;
    for (uint32_t i = 0; i < sessions->high; i++) {
        Session *session = &sessions->all[i];
        if (session->state != SESSION_PLAYING || session->joining) {
            continue;
        }
        SnapshotFlow *flow = &session->flow;
        if (flow->acked == 0) {
            flow->backlog -= flow->backlog < blind ? flow->backlog : blind;
        }
        if (may_send(sessions, session)) {
            send_frame(sessions, session);
        }
    }
}

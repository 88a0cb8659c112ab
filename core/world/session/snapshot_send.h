// Decides which session gets a snapshot frame now, by how far each client is.
#pragma once

#include "core/world/session/world_state.h"

typedef struct Session Session;
typedef struct Sessions Sessions;

#define SNAPSHOT_FLOW_FRAMES 64
typedef struct SnapshotFlow {
    uint32_t sent, acked;                 // sequence numbers of frames
    uint64_t ticks[SNAPSHOT_FLOW_FRAMES]; // when each of the last was sent, by seq % the count
    uint64_t bytes[SNAPSHOT_FLOW_FRAMES]; // written before and with it
    uint32_t rtt_eighths;                 // of a tick; 0: not measured yet
    uint64_t behind_since;                // 0: it is not
    uint64_t written;                     // bytes, all messages
    uint64_t backlog;                     // bytes that the client has not confirmed
} SnapshotFlow;

void snapshot_ack(Sessions *sessions, Session *session, uint64_t frame);
void snapshot_send_all(Sessions *sessions); // of a snapshot tick, after its capture

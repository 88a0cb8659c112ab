// One snapshot frame: what changed for one client since the last frame it was sent. The transport
// is reliable and ordered, so a frame is written relative to the one before.
//
//   u8     message number of SNAPSHOT (schema.def)
//   bits   full? · sequence (low 8 bits) · tick · acknowledged input · inputs waiting
//   bits   own state? enters or leaves? · the own state (exact floats, byte aligned)
//   bits   leaves: slots · enters: slot, kind, ids, full record · updates: which slots, then for
//          each: age 1? else the age, and the record
//   bytes  events until the end: varint ticks ago, varint length, message (its number first)
//
// docs/PROTOCOL.md has the exact widths.
#pragma once

#include "core/wire/delta.h"

#define SNAPSHOT_NUMBER    68 // MESSAGE_SNAPSHOT of message.h
#define SNAPSHOT_BYTES_MAX (96 << 10)

typedef struct SnapshotHeader {
    bool full;    // everything known before is forgotten: all slots are free
    uint32_t seq; // 1 for the first frame of a session; one more each
    uint64_t tick;
    uint32_t ack_seq;        // localAckSeq: the last input applied; 0: none yet
    uint32_t inputs_waiting; // that are buffered for coming ticks: the client's clock goes by this
} SnapshotHeader;

typedef struct NetRecord {
    const uint8_t *data;
    uint32_t bit_count;
} NetRecord;

typedef struct SnapshotEnter {
    uint32_t slot; // below NET_SLOTS_MAX, free
    NetKind kind;
    uint64_t net_id, owner_id;
    NetRecord record; // full
} SnapshotEnter;

typedef struct SnapshotUpdate {
    uint32_t slot;
    uint32_t age; // versions since the one that the client has: 1..NET_RING, or 0: the record is
                  // full, because the base is too old
    NetRecord record;
} SnapshotUpdate;

typedef struct SnapshotPlan {
    SnapshotHeader header;
    SnapshotHeader previous; // of the frame before; all zero for a full one
    uint32_t tick_rate;
    const NetOwn *own;     // NULL: not in this frame
    const uint8_t *leaves; // slots, ascending
    uint32_t leave_count;
    const SnapshotEnter *enters; // by slot, ascending
    uint32_t enter_count;
    const SnapshotUpdate *updates; // by slot, ascending, none that enters or leaves here
    uint32_t update_count;
    const uint8_t *events; // as they go on the wire (snapshot_event)
    size_t event_bytes;
} SnapshotPlan;

// STATUS_LIMIT when it does not fit; bytes gets the length.
MUST_USE Status snapshot_write(const SnapshotPlan *plan, uint8_t *out, size_t capacity,
                               size_t *bytes);
// Appends one event: `message` is an encoded message of the event rows of schema.def (its first
// byte is the number).
void snapshot_event(ByteWriter *writer, uint64_t ticks_ago, const uint8_t *message, size_t bytes);

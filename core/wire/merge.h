// The receiving end of snapshots: decodes a frame over what earlier frames said, and tells a sink
// what changed. The client and the JSON transcoder are its two users. It owns no memory but itself.
//
// After a failure the merge is of no use until merge_reset: the other side has to send a full frame
// on a new session.
#pragma once

#include "core/wire/snapshot.h"

typedef struct MergeSlot {
    uint64_t net_id; // 0: the slot is free
    uint64_t owner_id;
    NetKind kind;
    NetState state;
} MergeSlot;

typedef struct Merge {
    uint32_t tick_rate;
    SnapshotHeader last; // all zero before the first frame
    MergeSlot slots[NET_SLOTS_MAX];
    uint8_t scratch[NET_SHAPE_BYTES_MAX + NET_ATTRIBUTES_BYTES_MAX];
} Merge;

// Pointers are valid during the call. Any function may be NULL. In this order: begin, own, leaves,
// enters, updates, events, end. With a full frame `begin` stands for the leave of everything.
typedef struct MergeSink {
    void *user;
    void (*begin)(void *user, const SnapshotHeader *header);
    void (*own)(void *user, const NetOwn *own);
    void (*leave)(void *user, uint32_t slot, const MergeSlot *entity);
    // shape and attributes are NULL when there are none.
    void (*enter)(void *user, uint32_t slot, const MergeSlot *entity, const NetShape *shape,
                  const uint8_t *attributes, size_t attributes_bytes);
    // components: what was in the record; `before` is the state until now.
    void (*update)(void *user, uint32_t slot, const MergeSlot *entity, const NetState *before,
                   uint32_t components, const NetShape *shape, const uint8_t *attributes,
                   size_t attributes_bytes);
    // An event at that tick: an encoded message, its number first. Unknown numbers are passed on.
    void (*event)(void *user, uint64_t tick, const uint8_t *message, size_t bytes);
    void (*end)(void *user, const SnapshotHeader *header);
} MergeSink;

void merge_reset(Merge *merge, uint32_t tick_rate);
// A whole frame with its message number. Total on any bytes. STATUS_MISMATCH when the frame does
// not continue what was merged before (sequence, age, a slot that is taken or free).
MUST_USE Status merge_apply(Merge *merge, const uint8_t *bytes, size_t count,
                            const MergeSink *sink);

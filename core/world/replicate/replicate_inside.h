// The inside of a Replicator, for replicate*.c alone:
//
//   replicate.c        create, sessions, events in, statistics
//   replicate_look.c   what is in a session's interest
//   replicate_frame.c  one frame: leaves, enters, updates, events
//
// An entity in a session's interest is either sent (it has a slot, which is its number on the wire)
// or wanted (its enter record waits for room). Both together are at most visible_max.
#pragma once

#include "core/base/check.h"
#include "core/world/replicate/event_queue.h"
#include "core/world/replicate/interest.h"
#include "core/world/replicate/net_table.h"
#include "core/world/replicate/replicate.h"

#define LEAVE_FACTOR 1.1f
#define MEMO_AGES    8 // 0: the full record; records of older bases are encoded for one client
#define SLOT_WORDS   (NET_SLOTS_MAX / 64)

// An entity that a session has been sent, by slot.
typedef struct Sent {
    uint32_t entry; // 0: the slot is free
    uint32_t serial;
    uint32_t base;  // the version the session has
    uint8_t waited; // frames that the next one was postponed
    bool leaving;   // out of the interest: goes with this frame
} Sent;

typedef struct Wanted {
    uint32_t entry;
    uint32_t serial;
    uint8_t waited;
} Wanted;

typedef struct Viewer {
    uint64_t player;                // whose client it is
    bool full;                      // the next frame is
    uint32_t own_entry, own_serial; // of the last look; 0: there is none
    uint32_t looked;                // the capture of the last look
    Vec3 looked_eye;                // where the last whole look was from
    SnapshotHeader last;
    uint32_t slot_end; // one above the highest slot in use
    uint32_t sent_count, wanted_count;
    Sent *sent;
    Wanted *wanted; // nearest first when they came
    EventQueue events;
} Viewer;

// Apart from the viewers, because every broadcast walks them.
typedef struct ViewerEye {
    uint64_t own; // whose eyes they are; 0: nobody's
    Vec3 position;
    bool open;
} ViewerEye;

typedef struct MemoRecord {
    uint32_t capture;
    uint32_t at; // in records
    uint32_t bit_count;
} MemoRecord;

typedef struct FrameChoice {
    float score;
    uint32_t index; // a slot, or NET_SLOTS_MAX + an index of wanted
    uint32_t bound; // bytes it takes at most
} FrameChoice;

// The content of one frame.
typedef struct Frame {
    uint8_t leaves[NET_SLOTS_MAX];
    SnapshotEnter enters[NET_SLOTS_MAX];
    SnapshotUpdate updates[NET_SLOTS_MAX];
    uint32_t leave_count, enter_count, update_count;
    FrameChoice choices[2 * NET_SLOTS_MAX];
    uint32_t choice_count;
    bool chosen[2 * NET_SLOTS_MAX];       // by index of a choice
    NetRecord records[2 * NET_SLOTS_MAX]; // of the chosen, by the same index
    uint32_t enter_order[NET_SLOTS_MAX];  // indices of wanted
    uint32_t enter_order_count;
    size_t record_bits; // of the chosen
    size_t event_end;   // how far the queue was read
    uint32_t event_count;
} Frame;

struct Replicator {
    ReplicatorConfig config;
    void *block;
    Arena arena;
    PatchTable patches;
    NetTable table;
    Interest interest;
    Viewer *viewers;
    ViewerEye *eyes;
    ReplicatorStats stats;
    // One look.
    InterestHit *hits;
    uint8_t *marks; // by entry; zero between two looks
    // One capture.
    MemoRecord (*memos)[MEMO_AGES]; // by entry
    uint8_t *records;
    size_t records_used;
    // One frame.
    Frame frame;
    uint8_t *frame_records; // those that are not memoised
    size_t frame_records_used;
    uint8_t *event_bytes;
};

#define RECORDS_BYTES (1u << 20)
static inline size_t replicator_frame_records_bytes(const ReplicatorConfig *config)
{
    // The bytes that fit into the budget by upper bounds, one that is too large, and room to write
    // words.
    return (size_t)config->budget_bytes + NET_SHAPE_BYTES_MAX + NET_ATTRIBUTES_BYTES_MAX + 1024 +
           NET_SLOTS_MAX * 8u;
}
static inline size_t replicator_event_bytes(const ReplicatorConfig *config)
{
    return (size_t)config->budget_bytes + SNAPSHOT_SLACK;
}

// Where the entry is in the session's interest: the slot, or NET_SLOTS_MAX + index; UINT32_MAX: not
// in it.
uint32_t replicator_place(const Replicator *replicator, const Viewer *viewer, uint32_t entry);
// Updates the session's interest to the last capture.
void replicator_look(Replicator *replicator, uint32_t session);

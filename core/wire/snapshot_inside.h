// Widths that the writer (snapshot.c) and the reader (merge.c) of a frame share.
#pragma once

enum {
    SNAPSHOT_SEQ_BITS = 8,      // of a delta; a full frame has all 32
    SNAPSHOT_TICK_GROUP = 3,    // ticks since the frame before
    SNAPSHOT_ACK_GROUP = 4,     // inputs since the frame before
    SNAPSHOT_WAITING_GROUP = 3, // of a full frame, or where it changed
    SNAPSHOT_FULL_TICK_GROUP = 16,
    SNAPSHOT_COUNT_GROUP = 3, // of slots
    SNAPSHOT_RICE_BITS = 3,   // how many low bits of a gap between slots are written as they are
    SNAPSHOT_KIND_BITS = 3,
    SNAPSHOT_ID_GROUP = 8,
    SNAPSHOT_AGE_BITS = 6
};

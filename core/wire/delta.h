// The bits of one entity for one client: a pure function of the version the client has and the
// current one, so that a record is encoded once per (entity, base version) and appended for every
// client that needs it.
//
// A record is self-delimiting: a component mask, then the components in the order of their bits. A
// paint is always the difference to paint_default, so it can be written for any base.
// The reader needs the same base state that the writer had; DELTA_FULL has none.
#pragma once

#include "core/wire/net.h"

// Shape and attributes of the current version, as bytes; only asked for when the record holds them.
typedef struct DeltaDetail {
    const uint8_t *shape;
    uint32_t shape_bytes; // at most NET_SHAPE_BYTES_MAX
    const uint8_t *attributes;
    uint32_t attributes_bytes; // at most NET_ATTRIBUTES_BYTES_MAX
} DeltaDetail;

// frame_tick is the tick of the snapshot; anchors are written relative to it and never lie after
// it. A curve that began more than NET_MOTION_TICKS_MAX before is read as one that began so long
// before: at its end already. The two stay the same for later records as long as a new anchor does
// not lie before the frame that its base was sent in; an anchor at the tick of the capture never
// does. base NULL: everything. STATUS_LIMIT in the writer when it does not fit.
void delta_encode(NetKind kind, const NetState *base, const NetState *now,
                  const DeltaDetail *detail, uint64_t frame_tick, uint32_t tick_rate,
                  BitWriter *writer);

typedef struct DeltaRead {
    NetState state;
    uint32_t components; // that were in the record
    DeltaDetail detail;  // points into scratch, which was given
} DeltaRead;
// base NULL: a full record. scratch takes shape and attributes bytes (they are not byte-aligned on
// the wire) and has room for NET_SHAPE_BYTES_MAX + NET_ATTRIBUTES_BYTES_MAX. The version of the
// state read is that of the base + age, which the caller sets; a full record holds it. Total on any
// bits; the status is also that of the reader.
MUST_USE Status delta_decode(NetKind kind, const NetState *base, uint64_t frame_tick,
                             uint32_t tick_rate, BitReader *reader, uint8_t *scratch,
                             DeltaRead *out);

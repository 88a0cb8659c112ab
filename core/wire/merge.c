// Reads frames over what earlier frames said. Every number that drives a loop or names a slot is
// checked before it is used. The sink may have seen the beginning of a frame that then turns out to
// be bad: `end` was not called, and the owner drops the session.
#include "core/wire/merge.h"

#include "core/base/check.h"
#include "core/wire/snapshot_inside.h"

#include <string.h>

typedef struct Reading {
    Merge *merge;
    const MergeSink *sink;
    BitReader bits;
    SnapshotHeader header;
    bool has_own, has_changes;
} Reading;

typedef struct SlotList {
    uint8_t slots[NET_SLOTS_MAX];
    uint32_t count;
} SlotList;

// What a record said of shape and attributes, checked.
typedef struct Detail {
    NetShape shape;
    bool has_shape, has_attributes;
    const uint8_t *attributes;
    size_t attributes_bytes;
} Detail;

void merge_reset(Merge *merge, uint32_t tick_rate)
{
    ASSERT(tick_rate >= 1 && tick_rate <= 1000);
    memset(merge, 0, sizeof *merge);
    merge->tick_rate = tick_rate;
}

static void fail(Reading *reading, Status status)
{
    if (reading->bits.status == STATUS_OK) {
        reading->bits.status = status;
    }
}

static bool is_ok(const Reading *reading)
{
    return reading->bits.status == STATUS_OK;
}

static uint32_t read_u32(Reading *reading, uint32_t group)
{
    const uint64_t value = bit_read_grouped(&reading->bits, group);
    if (value > UINT32_MAX) {
        fail(reading, STATUS_RANGE);
    }
    return (uint32_t)value;
}

// --- header -------------------------------------------------------------------------------------
static void read_full_header(Reading *reading, SnapshotHeader *header)
{
    BitReader *bits = &reading->bits;
    header->seq = (uint32_t)bit_read(bits, 32);
    header->tick = bit_read_grouped(bits, SNAPSHOT_FULL_TICK_GROUP);
    header->ack_seq = (uint32_t)bit_read(bits, 32);
    header->inputs_waiting = read_u32(reading, SNAPSHOT_WAITING_GROUP);
    if (header->tick > SIM_NET_ID_MAX) {
        fail(reading, STATUS_RANGE);
    }
    if (header->seq == 0 || (header->seq != 1 && header->seq != reading->merge->last.seq + 1)) {
        fail(reading, STATUS_MISMATCH);
    }
}

static void read_delta_header(Reading *reading, SnapshotHeader *header)
{
    BitReader *bits = &reading->bits;
    const SnapshotHeader *last = &reading->merge->last;
    header->seq = last->seq + 1;
    const uint32_t low = (uint32_t)bit_read(bits, SNAPSHOT_SEQ_BITS);
    if (last->seq == 0 || header->seq == 0 || (header->seq & 0xff) != low) {
        fail(reading, STATUS_MISMATCH);
    }
    const uint64_t ticks = bit_read_grouped(bits, SNAPSHOT_TICK_GROUP);
    if (ticks > SIM_NET_ID_MAX - last->tick) {
        fail(reading, STATUS_RANGE);
        return;
    }
    header->tick = last->tick + ticks;
    header->ack_seq = bit_read_bool(bits) ? last->ack_seq + read_u32(reading, SNAPSHOT_ACK_GROUP)
                                          : (uint32_t)header->tick;
    header->inputs_waiting =
        bit_read_bool(bits) ? read_u32(reading, SNAPSHOT_WAITING_GROUP) : last->inputs_waiting;
}

static void read_header(Reading *reading)
{
    if (bit_read(&reading->bits, 8) != SNAPSHOT_NUMBER) {
        fail(reading, STATUS_UNSUPPORTED);
    }
    reading->header.full = bit_read_bool(&reading->bits);
    if (reading->header.full) {
        read_full_header(reading, &reading->header);
    } else {
        read_delta_header(reading, &reading->header);
    }
    reading->has_own = bit_read_bool(&reading->bits);
    reading->has_changes = bit_read_bool(&reading->bits);
}

// To the next whole byte; what is skipped must be zero.
static void align(Reading *reading)
{
    if (bit_read(&reading->bits, (uint32_t)(-reading->bits.at % 8)) != 0) {
        fail(reading, STATUS_MALFORMED);
    }
}

static void read_own(Reading *reading)
{
    align(reading);
    if (!is_ok(reading)) {
        return;
    }
    const size_t at = reading->bits.at / 8;
    ByteReader bytes = byte_reader(reading->bits.data + at, reading->bits.bit_count / 8 - at);
    NetOwn own = {.net_id = byte_read_varint(&bytes)};
    const uint64_t ticks_ago = byte_read_varint(&bytes);
    own.causes = byte_read_u8(&bytes);
    if (own.net_id == 0 || own.net_id > SIM_NET_ID_MAX || ticks_ago > reading->header.tick) {
        byte_reader_fail(&bytes, STATUS_RANGE);
    }
    const Status status = character_state_read(&bytes, &own.state);
    if (bytes.status != STATUS_OK || status != STATUS_OK) {
        fail(reading, bytes.status != STATUS_OK ? bytes.status : status);
        return;
    }
    reading->bits.at += bytes.at * 8;
    own.tick = reading->header.tick - ticks_ago;
    if (reading->sink->own != NULL) {
        reading->sink->own(reading->sink->user, &own);
    }
}

// --- sets of slots ------------------------------------------------------------------------------
static uint32_t read_gap(Reading *reading, uint32_t k)
{
    uint32_t zeros = 0;
    while (!bit_read_bool(&reading->bits)) {
        zeros++;
        if (!is_ok(reading) || zeros >= NET_SLOTS_MAX) {
            fail(reading, STATUS_RANGE);
            return 0;
        }
    }
    return (zeros << k) + (uint32_t)bit_read(&reading->bits, k);
}

static void read_slots(Reading *reading, SlotList *list)
{
    list->count = 0;
    const uint64_t count = bit_read_grouped(&reading->bits, SNAPSHOT_COUNT_GROUP);
    if (count > NET_SLOTS_MAX) {
        fail(reading, STATUS_RANGE);
    }
    if (!is_ok(reading) || count == 0) {
        return;
    }
    const uint32_t k = (uint32_t)bit_read(&reading->bits, SNAPSHOT_RICE_BITS);
    uint32_t next = 0;
    for (uint32_t i = 0; i < count && is_ok(reading); i++) {
        const uint32_t slot = next + read_gap(reading, k);
        if (slot >= NET_SLOTS_MAX) {
            fail(reading, STATUS_RANGE);
            return;
        }
        list->slots[i] = (uint8_t)slot;
        next = slot + 1;
    }
    list->count = is_ok(reading) ? (uint32_t)count : 0;
}

// --- entities -----------------------------------------------------------------------------------
static void read_leaves(Reading *reading)
{
    SlotList list;
    read_slots(reading, &list);
    for (uint32_t i = 0; i < list.count; i++) {
        MergeSlot *slot = &reading->merge->slots[list.slots[i]];
        if (slot->net_id == 0) {
            fail(reading, STATUS_MISMATCH);
            return;
        }
        if (reading->sink->leave != NULL) {
            reading->sink->leave(reading->sink->user, list.slots[i], slot);
        }
        *slot = (MergeSlot){0};
    }
}

static bool has_to_have_shape(NetKind kind)
{
    return kind == NET_PART || kind == NET_PROP || kind == NET_STRUCTURE;
}

static void read_detail(Reading *reading, NetKind kind, const DeltaRead *record, Detail *detail)
{
    *detail = (Detail){0};
    const NetState *state = &record->state;
    if (has_to_have_shape(kind) && state->shape_version == 0) {
        fail(reading, STATUS_MALFORMED);
        return;
    }
    if ((record->components & NET_SHAPE) != 0 && state->shape_version != 0) {
        ByteReader bytes = byte_reader(record->detail.shape, record->detail.shape_bytes);
        Status status = net_shape_read(&bytes, &detail->shape);
        if (status == STATUS_OK) {
            status = byte_reader_finish(&bytes);
        }
        if (status != STATUS_OK) {
            fail(reading, status);
            return;
        }
        detail->has_shape = true;
    }
    if ((record->components & NET_ATTRIBUTES) != 0 && state->attributes_version != 0) {
        NetAttributesReader attributes;
        Text name;
        const Status status = net_attributes_open(&attributes, record->detail.attributes,
                                                  record->detail.attributes_bytes, &name);
        if (status != STATUS_OK) {
            fail(reading, status);
            return;
        }
        detail->has_attributes = true;
        detail->attributes = record->detail.attributes;
        detail->attributes_bytes = record->detail.attributes_bytes;
    }
}

// The record at the reader, over a base or full, with its shape and attributes.
static bool read_record(Reading *reading, NetKind kind, const NetState *base, DeltaRead *record,
                        Detail *detail)
{
    Merge *merge = reading->merge;
    if (!is_ok(reading) || delta_decode(kind, base, reading->header.tick, merge->tick_rate,
                                        &reading->bits, merge->scratch, record) != STATUS_OK) {
        return false; // the status is in the reader
    }
    read_detail(reading, kind, record, detail);
    return is_ok(reading);
}

static bool is_known(const Merge *merge, uint64_t net_id)
{
    for (uint32_t i = 0; i < NET_SLOTS_MAX; i++) {
        if (merge->slots[i].net_id == net_id) {
            return true;
        }
    }
    return false;
}

static void read_enter(Reading *reading, uint32_t number)
{
    MergeSlot *slot = &reading->merge->slots[number];
    MergeSlot entity = {.kind = (NetKind)bit_read(&reading->bits, SNAPSHOT_KIND_BITS)};
    entity.net_id = bit_read_grouped(&reading->bits, SNAPSHOT_ID_GROUP);
    if (bit_read_bool(&reading->bits)) {
        entity.owner_id = bit_read_grouped(&reading->bits, SNAPSHOT_ID_GROUP);
    }
    if (entity.kind == NET_NONE || entity.kind >= NET_KIND_COUNT || entity.net_id == 0 ||
        entity.net_id > SIM_NET_ID_MAX || entity.owner_id > SIM_NET_ID_MAX) {
        fail(reading, STATUS_RANGE);
        return;
    }
    if (slot->net_id != 0 || is_known(reading->merge, entity.net_id)) {
        fail(reading, STATUS_MISMATCH);
        return;
    }
    DeltaRead record;
    Detail detail;
    if (!read_record(reading, entity.kind, NULL, &record, &detail)) {
        return;
    }
    entity.state = record.state;
    *slot = entity;
    if (reading->sink->enter != NULL) {
        reading->sink->enter(
            reading->sink->user, number, slot, detail.has_shape ? &detail.shape : NULL,
            detail.has_attributes ? detail.attributes : NULL, detail.attributes_bytes);
    }
}

static void read_enters(Reading *reading)
{
    SlotList list;
    read_slots(reading, &list);
    for (uint32_t i = 0; i < list.count && is_ok(reading); i++) {
        read_enter(reading, list.slots[i]);
    }
}

// How many versions the record is ahead of the state; 0: it is full.
static uint32_t read_age(Reading *reading)
{
    if (!bit_read_bool(&reading->bits)) {
        return 1;
    }
    const uint32_t age = (uint32_t)bit_read(&reading->bits, SNAPSHOT_AGE_BITS);
    if (age == 1 || age > NET_RING) {
        fail(reading, STATUS_MALFORMED);
    }
    return age;
}

static void read_update(Reading *reading, uint32_t number)
{
    MergeSlot *slot = &reading->merge->slots[number];
    const NetState before = slot->state;
    const uint32_t age = read_age(reading);
    if (slot->net_id == 0 || age > UINT32_MAX - before.version) {
        fail(reading, STATUS_MISMATCH);
        return;
    }
    DeltaRead record;
    Detail detail;
    if (!read_record(reading, slot->kind, age == 0 ? NULL : &before, &record, &detail)) {
        return;
    }
    if (age != 0) {
        record.state.version = before.version + age;
    } else {
        if (record.state.version <= before.version) {
            fail(reading, STATUS_MISMATCH);
            return;
        }
        // A full record leaves out what is zero; that may be what changed.
        record.components |= net_state_difference(&before, &record.state);
    }
    slot->state = record.state;
    if (reading->sink->update != NULL) {
        reading->sink->update(reading->sink->user, number, slot, &before, record.components,
                              detail.has_shape ? &detail.shape : NULL,
                              detail.has_attributes ? detail.attributes : NULL,
                              detail.attributes_bytes);
    }
}

static void read_updates(Reading *reading)
{
    SlotList list;
    read_slots(reading, &list);
    for (uint32_t i = 0; i < list.count && is_ok(reading); i++) {
        read_update(reading, list.slots[i]);
    }
}

// --- events -------------------------------------------------------------------------------------
static void read_events(Reading *reading)
{
    align(reading);
    if (!is_ok(reading)) {
        return;
    }
    const size_t at = reading->bits.at / 8;
    ByteReader bytes = byte_reader(reading->bits.data + at, reading->bits.bit_count / 8 - at);
    while (byte_reader_left(&bytes) != 0) {
        const uint64_t ticks_ago = byte_read_varint(&bytes);
        const uint32_t count = byte_read_count(&bytes, SNAPSHOT_BYTES_MAX);
        const uint8_t *message = byte_read_bytes(&bytes, count);
        if (ticks_ago > reading->header.tick || (count == 0 && bytes.status == STATUS_OK)) {
            byte_reader_fail(&bytes, STATUS_RANGE);
        }
        if (bytes.status == STATUS_OK && reading->sink->event != NULL) {
            reading->sink->event(reading->sink->user, reading->header.tick - ticks_ago, message,
                                 count);
        }
    }
    if (bytes.status != STATUS_OK) {
        fail(reading, bytes.status);
    }
}

static void read_frame(Reading *reading)
{
    const MergeSink *sink = reading->sink;
    read_header(reading);
    if (!is_ok(reading)) {
        return;
    }
    if (reading->header.full) {
        memset(reading->merge->slots, 0, sizeof reading->merge->slots);
    }
    if (sink->begin != NULL) {
        sink->begin(sink->user, &reading->header);
    }
    if (reading->has_own) {
        read_own(reading);
    }
    if (reading->has_changes && is_ok(reading)) {
        read_leaves(reading);
        if (is_ok(reading)) {
            read_enters(reading);
        }
    }
    if (is_ok(reading)) {
        read_updates(reading);
    }
    if (is_ok(reading)) {
        read_events(reading);
    }
}

Status merge_apply(Merge *merge, const uint8_t *bytes, size_t count, const MergeSink *sink)
{
    ASSERT(merge->tick_rate != 0);
    if (count > SNAPSHOT_BYTES_MAX) {
        merge->last = (SnapshotHeader){0};
        return STATUS_LIMIT;
    }
    Reading reading = {.merge = merge, .sink = sink, .bits = bit_reader(bytes, count)};
    read_frame(&reading);
    // Without a last header nothing but a first frame is taken.
    merge->last = is_ok(&reading) ? reading.header : (SnapshotHeader){0};
    if (is_ok(&reading) && sink->end != NULL) {
        sink->end(sink->user, &reading.header);
    }
    return reading.bits.status;
}

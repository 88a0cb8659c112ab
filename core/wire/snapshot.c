// Writes one frame. Everything that is the same for many clients comes in as finished records and
// is appended with one call each; the rest is a header of about three bytes.
//
// Sets of slots are Rice codes of the gaps between them: a number k of low bits, the rest as so
// many zeros and a one. With k = 0 that is a mask, with a large k a list; the shortest is taken.
#include "core/wire/snapshot.h"

#include "core/base/check.h"
#include "core/wire/snapshot_inside.h"

_Static_assert(NET_KIND_COUNT <= 1 << SNAPSHOT_KIND_BITS, "kinds on the wire");
_Static_assert(NET_RING < 1 << SNAPSHOT_AGE_BITS, "ages on the wire");

static void write_waiting(BitWriter *writer, const SnapshotPlan *plan)
{
    const uint32_t waiting = plan->header.inputs_waiting;
    const bool changed = waiting != plan->previous.inputs_waiting;
    bit_write_bool(writer, changed);
    if (changed) {
        bit_write_grouped(writer, waiting, SNAPSHOT_WAITING_GROUP);
    }
}

static void write_header(BitWriter *writer, const SnapshotPlan *plan)
{
    const SnapshotHeader *header = &plan->header;
    const SnapshotHeader *previous = &plan->previous;
    bit_write(writer, SNAPSHOT_NUMBER | (header->full ? 1u << 8 : 0), 9);
    if (header->full) {
        bit_write(writer, header->seq, 32);
        bit_write_grouped(writer, header->tick, SNAPSHOT_FULL_TICK_GROUP);
        bit_write(writer, header->ack_seq, 32);
        bit_write_grouped(writer, header->inputs_waiting, SNAPSHOT_WAITING_GROUP);
        return;
    }
    ASSERT(header->seq == previous->seq + 1);
    ASSERT(header->tick >= previous->tick);
    bit_write(writer, header->seq & 0xff, SNAPSHOT_SEQ_BITS);
    bit_write_grouped(writer, header->tick - previous->tick, SNAPSHOT_TICK_GROUP);
    // Inputs are numbered by the tick they are for, and usually the one for this tick was there.
    const bool is_behind = header->ack_seq != (uint32_t)header->tick;
    bit_write_bool(writer, is_behind);
    if (is_behind) {
        const uint32_t more = header->ack_seq - previous->ack_seq;
        bit_write_grouped(writer, more, SNAPSHOT_ACK_GROUP);
    }
    write_waiting(writer, plan);
}

static void write_own(BitWriter *writer, const NetOwn *own, uint64_t tick)
{
    ASSERT(own->tick <= tick);
    ASSERT((own->causes & ~(uint32_t)NET_CAUSES_ALL) == 0);
    bit_write(writer, 0, (uint32_t)(-writer->at % 8));
    if (writer->status != STATUS_OK) {
        return;
    }
    const size_t at = writer->at / 8;
    ByteWriter bytes = byte_writer(writer->data + at, writer->bit_capacity / 8 - at);
    byte_write_varint(&bytes, own->net_id);
    byte_write_varint(&bytes, tick - own->tick);
    byte_write_u8(&bytes, (uint8_t)own->causes);
    character_state_write(&own->state, &bytes);
    writer->status = bytes.status;
    writer->at += bytes.at * 8;
}

// --- sets of slots ------------------------------------------------------------------------------
typedef struct SlotSet {
    uint8_t gaps[NET_SLOTS_MAX]; // slots that are left out before each
    uint32_t count;
    uint32_t next; // the lowest slot that may come
} SlotSet;

static void slot_set_add(SlotSet *set, uint32_t slot)
{
    ASSERT(slot >= set->next && slot < NET_SLOTS_MAX);
    set->gaps[set->count++] = (uint8_t)(slot - set->next);
    set->next = slot + 1;
}

static uint32_t rice_cost(const SlotSet *set, uint32_t k)
{
    uint32_t bits = set->count * (k + 1);
    for (uint32_t i = 0; i < set->count; i++) {
        bits += (uint32_t)set->gaps[i] >> k;
    }
    return bits;
}

static void write_slots(BitWriter *writer, const SlotSet *set)
{
    bit_write_grouped(writer, set->count, SNAPSHOT_COUNT_GROUP);
    if (set->count == 0) {
        return;
    }
    uint32_t k = 0;
    for (uint32_t cost = rice_cost(set, 0); k < (1 << SNAPSHOT_RICE_BITS) - 1; k++) {
        const uint32_t longer = rice_cost(set, k + 1);
        if (longer >= cost) {
            break;
        }
        cost = longer;
    }
    bit_write(writer, k, SNAPSHOT_RICE_BITS);
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t zeros = (uint32_t)set->gaps[i] >> k;
        const uint64_t low = set->gaps[i] & ((1u << k) - 1);
        for (; zeros > 32; zeros -= 32) {
            bit_write(writer, 0, 32);
        }
        bit_write(writer, (1 | low << 1) << zeros, zeros + 1 + k);
    }
}

// --- entities -----------------------------------------------------------------------------------
static void write_leaves(BitWriter *writer, const SnapshotPlan *plan)
{
    ASSERT(!plan->header.full || plan->leave_count == 0);
    SlotSet set;
    set.count = set.next = 0;
    for (uint32_t i = 0; i < plan->leave_count; i++) {
        slot_set_add(&set, plan->leaves[i]);
    }
    write_slots(writer, &set);
}

static void write_enters(BitWriter *writer, const SnapshotPlan *plan)
{
    SlotSet set;
    set.count = set.next = 0;
    for (uint32_t i = 0; i < plan->enter_count; i++) {
        slot_set_add(&set, plan->enters[i].slot);
    }
    write_slots(writer, &set);
    for (uint32_t i = 0; i < plan->enter_count; i++) {
        const SnapshotEnter *enter = &plan->enters[i];
        ASSERT(enter->kind > NET_NONE && enter->kind < NET_KIND_COUNT);
        ASSERT(enter->net_id != 0 && enter->net_id <= SIM_NET_ID_MAX);
        ASSERT(enter->owner_id <= SIM_NET_ID_MAX);
        bit_write(writer, enter->kind, SNAPSHOT_KIND_BITS);
        bit_write_grouped(writer, enter->net_id, SNAPSHOT_ID_GROUP);
        bit_write_bool(writer, enter->owner_id != 0);
        if (enter->owner_id != 0) {
            bit_write_grouped(writer, enter->owner_id, SNAPSHOT_ID_GROUP);
        }
        bit_write_bits(writer, enter->record.data, enter->record.bit_count);
    }
}

static void write_updates(BitWriter *writer, const SnapshotPlan *plan)
{
    SlotSet set;
    set.count = set.next = 0;
    for (uint32_t i = 0; i < plan->update_count; i++) {
        slot_set_add(&set, plan->updates[i].slot);
    }
    write_slots(writer, &set);
    for (uint32_t i = 0; i < plan->update_count; i++) {
        const SnapshotUpdate *update = &plan->updates[i];
        ASSERT(update->age <= NET_RING);
        if (update->age == 1) {
            bit_write(writer, 0, 1);
        } else {
            bit_write(writer, 1 | update->age << 1, 1 + SNAPSHOT_AGE_BITS);
        }
        bit_write_bits(writer, update->record.data, update->record.bit_count);
    }
}

Status snapshot_write(const SnapshotPlan *plan, uint8_t *out, size_t capacity, size_t *bytes)
{
    ASSERT(plan->header.seq != 0 && plan->header.tick <= SIM_NET_ID_MAX);
    ASSERT(plan->tick_rate != 0);
    const size_t room = capacity < SNAPSHOT_BYTES_MAX ? capacity : SNAPSHOT_BYTES_MAX;
    BitWriter writer = bit_writer(out, room);
    write_header(&writer, plan);
    const bool changes = plan->leave_count != 0 || plan->enter_count != 0;
    bit_write(&writer, (plan->own != NULL ? 1u : 0) | (changes ? 2u : 0), 2);
    if (plan->own != NULL) {
        write_own(&writer, plan->own, plan->header.tick);
    }
    if (changes) {
        write_leaves(&writer, plan);
        write_enters(&writer, plan);
    }
    write_updates(&writer, plan);
    if (writer.status != STATUS_OK) {
        return writer.status;
    }
    const size_t used = bit_writer_bytes(&writer);
    ByteWriter events = byte_writer(out + used, room - used);
    if (plan->event_bytes != 0) {
        byte_write_bytes(&events, plan->events, plan->event_bytes);
    }
    if (events.status != STATUS_OK) {
        return events.status;
    }
    *bytes = used + plan->event_bytes;
    return STATUS_OK;
}

void snapshot_event(ByteWriter *writer, uint64_t ticks_ago, const uint8_t *message, size_t bytes)
{
    ASSERT(bytes >= 1);
    byte_write_varint(writer, ticks_ago);
    byte_write_varint(writer, bytes);
    byte_write_bytes(writer, message, bytes);
}

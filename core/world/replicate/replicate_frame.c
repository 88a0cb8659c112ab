// One frame of one session. First decides what goes into it, by upper bounds of sizes; then encodes
// it, or uses what was encoded for others in the same capture. The session's state changes only
// when its frame is written.
#include "core/world/replicate/replicate_inside.h"

#include <string.h>

#define FRAME_BASE_BYTES  24  // header, counts, set of slots
#define FRAME_OWN_BYTES   112 // an own state
#define ENTER_EXTRA_BYTES 20  // slot, kind, two ids
#define UPDATE_EXTRA_BITS 8   // slot, age
#define EVENT_SHARE       4   // events may always use this part of the budget

// --- records ------------------------------------------------------------------------------------

static bool encode_at(Replicator *replicator, uint32_t entry, uint32_t base, bool is_owner,
                      uint8_t *out, size_t room, NetRecord *record)
{
    BitWriter writer = bit_writer(out, room);
    net_table_encode(&replicator->table, entry, base, is_owner, &writer);
    *record = (NetRecord){out, (uint32_t)writer.at};
    return writer.status == STATUS_OK;
}

static size_t record_bytes(NetRecord record)
{
    return (record.bit_count + 7) / 8;
}

// The record of an entry for a client with `base`; encoded once per capture, as far as there is
// room. What only an owner may see is encoded for that client and never shared.
static NetRecord take_record(Replicator *replicator, const Viewer *viewer, uint32_t entry,
                             uint32_t base)
{
    const uint32_t age = net_table_age(&replicator->table, entry, base);
    const bool is_owner = net_table_is_owner(&replicator->table, entry, viewer->player);
    replicator->stats.records_appended += 1;
    replicator->stats.records_full += age == 0 ? 1 : 0;
    MemoRecord *memo = age < MEMO_AGES && !is_owner ? &replicator->memos[entry][age] : NULL;
    if (memo != NULL && memo->capture == replicator->table.capture) {
        return (NetRecord){replicator->records + memo->at, memo->bit_count};
    }
    replicator->stats.records_encoded += 1;
    const uint32_t bound = net_table_bound(&replicator->table, entry, base);
    NetRecord record;
    if (memo != NULL && bound + 8 <= RECORDS_BYTES - replicator->records_used) {
        uint8_t *out = replicator->records + replicator->records_used;
        const bool fits = encode_at(replicator, entry, base, false, out,
                                    RECORDS_BYTES - replicator->records_used, &record);
        ASSERT(fits);
        *memo = (MemoRecord){.capture = replicator->table.capture,
                             .at = (uint32_t)replicator->records_used,
                             .bit_count = record.bit_count};
        replicator->records_used += record_bytes(record);
        return record;
    }
    const size_t room = replicator_frame_records_bytes(&replicator->config);
    const bool fits = encode_at(replicator, entry, base, is_owner,
                                replicator->frame_records + replicator->frame_records_used,
                                room - replicator->frame_records_used, &record);
    ASSERT(fits);
    replicator->frame_records_used += record_bytes(record);
    return record;
}

// --- choosing -----------------------------------------------------------------------------------

static bool is_beyond(const Replicator *replicator, const NetEntry *hot, Vec3 eye)
{
    const float leave = replicator->config.radius * LEAVE_FACTOR;
    return interest_key(eye, hot->position, hot->reach) > leave * leave;
}

// Collects leaves, and every possible update. Returns the sum of their bounds.
static size_t collect_sent(Replicator *replicator, Viewer *viewer, Vec3 eye)
{
    Frame *frame = &replicator->frame;
    const NetTable *table = &replicator->table;
    size_t bytes = 0;
    for (uint32_t slot = 0; slot < viewer->slot_end; slot++) {
        Sent *sent = &viewer->sent[slot];
        if (sent->entry == 0) {
            continue;
        }
        const NetEntry *hot = &table->entries[sent->entry];
        const bool is_new = net_table_has_news(table, sent->entry, sent->base, viewer->player);
        // Since the last look it may have left the radius: then no more updates are sent.
        const bool moved = is_new || hot->jumped == table->capture;
        if (hot->serial != sent->serial || sent->leaving ||
            (moved && is_beyond(replicator, hot, eye))) {
            sent->leaving = true;
            frame->leaves[frame->leave_count++] = (uint8_t)slot;
        } else if (is_new) {
            const uint32_t bound = net_table_bound(table, sent->entry, sent->base) + 1;
            frame->choices[frame->choice_count++] = (FrameChoice){.index = slot, .bound = bound};
            bytes += bound;
        }
    }
    return bytes;
}

// Collects every possible enter; entities that are gone or left the radius are dropped.
static size_t collect_wanted(Replicator *replicator, Viewer *viewer, Vec3 eye)
{
    Frame *frame = &replicator->frame;
    const NetTable *table = &replicator->table;
    size_t bytes = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < viewer->wanted_count; i++) {
        const Wanted wanted = viewer->wanted[i];
        const NetEntry *hot = &table->entries[wanted.entry];
        if (hot->serial == wanted.serial && !is_beyond(replicator, hot, eye)) {
            const uint32_t bound = net_table_bound(table, wanted.entry, 0) + ENTER_EXTRA_BYTES;
            frame->choices[frame->choice_count++] =
                (FrameChoice){.index = NET_SLOTS_MAX + kept, .bound = bound};
            viewer->wanted[kept++] = wanted;
            bytes += bound;
        }
    }
    viewer->wanted_count = kept;
    return bytes;
}

// It goes into the frame, so it is encoded.
static void choose(Replicator *replicator, const Viewer *viewer, uint32_t index)
{
    Frame *frame = &replicator->frame;
    if (frame->chosen[index]) {
        return; // an event has included it already
    }
    frame->chosen[index] = true;
    NetRecord *record = &frame->records[index];
    if (index < NET_SLOTS_MAX) {
        const Sent *sent = &viewer->sent[index];
        *record = take_record(replicator, viewer, sent->entry, sent->base);
        frame->record_bits += record->bit_count + UPDATE_EXTRA_BITS;
    } else {
        const uint32_t wanted = index - NET_SLOTS_MAX;
        frame->enter_order[frame->enter_order_count++] = wanted;
        *record = take_record(replicator, viewer, viewer->wanted[wanted].entry, 0);
        frame->record_bits += record->bit_count + ENTER_EXTRA_BYTES * 8;
    }
}

// Nearer, faster and longer postponed entities first; missing ones before slightly outdated ones.
static float score_of(const Replicator *replicator, const Viewer *viewer, Vec3 eye, uint32_t index)
{
    const bool is_enter = index >= NET_SLOTS_MAX;
    const uint32_t entry =
        is_enter ? viewer->wanted[index - NET_SLOTS_MAX].entry : viewer->sent[index].entry;
    const uint32_t waited =
        is_enter ? viewer->wanted[index - NET_SLOTS_MAX].waited : viewer->sent[index].waited;
    if (entry == viewer->own_entry) {
        return 1e9f;
    }
    const NetEntry *hot = &replicator->table.entries[entry];
    const float distance = math_sqrt(interest_key(eye, hot->position, hot->reach));
    return (float)(1 + waited) * (is_enter ? 20.0f : 5.0f + hot->speed) / (4.0f + distance);
}

static bool goes_before(const FrameChoice *a, const FrameChoice *b)
{
    return a->score != b->score ? a->score > b->score : a->index < b->index;
}

// Shell sort: a few hundred at most, and only if the budget is too small.
static void sort_choices(Frame *frame)
{
    static const uint32_t gaps[] = {132, 57, 23, 10, 4, 1};
    for (uint32_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        for (uint32_t i = gaps[g]; i < frame->choice_count; i++) {
            const FrameChoice choice = frame->choices[i];
            uint32_t at = i;
            while (at >= gaps[g] && goes_before(&choice, &frame->choices[at - gaps[g]])) {
                frame->choices[at] = frame->choices[at - gaps[g]];
                at -= gaps[g];
            }
            frame->choices[at] = choice;
        }
    }
}

static void choose_within(Replicator *replicator, const Viewer *viewer, uint32_t session,
                          size_t needed, size_t budget)
{
    Frame *frame = &replicator->frame;
    if (needed > budget) {
        for (uint32_t i = 0; i < frame->choice_count; i++) {
            FrameChoice *choice = &frame->choices[i];
            choice->score =
                score_of(replicator, viewer, replicator->eyes[session].position, choice->index);
        }
        sort_choices(frame);
    }
    for (uint32_t i = 0; i < frame->choice_count; i++) {
        const FrameChoice *choice = &frame->choices[i];
        const size_t bytes = (frame->record_bits + 7) / 8;
        if (needed <= budget || bytes + choice->bound <= budget || bytes == 0) {
            choose(replicator, viewer, choice->index);
        }
    }
}

// --- events -------------------------------------------------------------------------------------

typedef enum EventFate { EVENT_GOES, EVENT_WAITS, EVENT_PASSES } EventFate;

// Adds the enter record of an entity that is in the interest and was not sent; false if it is
// required but not possible.
static bool bring_in(Replicator *replicator, const Viewer *viewer, uint32_t place, bool may_force)
{
    if (place < NET_SLOTS_MAX || place == UINT32_MAX || replicator->frame.chosen[place]) {
        return true;
    }
    if (may_force) {
        choose(replicator, viewer, place);
    }
    return may_force;
}

static uint32_t place_of(const Replicator *replicator, const Viewer *viewer, uint64_t net_id)
{
    const uint32_t entry = net_table_find(&replicator->table, net_id);
    return entry == 0 ? UINT32_MAX : replicator_place(replicator, viewer, entry);
}

static EventFate event_fate(Replicator *replicator, const Viewer *viewer, const QueuedEvent *event,
                            bool may_force)
{
    if (event->tick > replicator->table.tick) {
        return EVENT_WAITS; // it belongs to the next capture
    }
    uint32_t subject = UINT32_MAX;
    if (event->subject != 0) {
        subject = place_of(replicator, viewer, event->subject);
        const bool is_there = net_table_find(&replicator->table, event->subject) != 0;
        if (subject == UINT32_MAX && (is_there || !(event->known || event->has_position))) {
            return EVENT_PASSES; // outside the interest
        }
    }
    const uint32_t other = place_of(replicator, viewer, event->other);
    return bring_in(replicator, viewer, subject, may_force) &&
                   bring_in(replicator, viewer, other, may_force)
               ? EVENT_GOES
               : EVENT_WAITS;
}

// Takes events from the queue, in order, as long as they fit into so many bytes; the first of a
// frame always does.
static void take_events(Replicator *replicator, const Viewer *viewer, ByteWriter *writer,
                        size_t bytes_max, bool may_force)
{
    Frame *frame = &replicator->frame;
    size_t at = frame->event_end;
    QueuedEvent event;
    const uint8_t *message;
    while (event_queue_next(&viewer->events, &at, &event, &message)) {
        // A length of at most five bytes and ticks of at most ten.
        const bool fits = writer->at == 0 || writer->at + event.bytes + 15 <= bytes_max;
        const EventFate fate =
            fits ? event_fate(replicator, viewer, &event, may_force) : EVENT_WAITS;
        if (fate == EVENT_WAITS) {
            return;
        }
        if (fate == EVENT_GOES) {
            snapshot_event(writer, replicator->table.tick - event.tick, message, event.bytes);
            frame->event_count += 1;
        }
        frame->event_end = at;
    }
}

// --- writing ------------------------------------------------------------------------------------

static void make_enters(Replicator *replicator, const Viewer *viewer)
{
    Frame *frame = &replicator->frame;
    uint32_t slot = 0;
    for (uint32_t i = 0; i < frame->enter_order_count; i++, slot++) {
        const Wanted *wanted = &viewer->wanted[frame->enter_order[i]];
        while (slot < viewer->slot_end && viewer->sent[slot].entry != 0 &&
               !viewer->sent[slot].leaving) {
            slot += 1;
        }
        ASSERT(slot < replicator->config.visible_max);
        const NetDetail *detail = &replicator->table.details[wanted->entry];
        frame->enters[frame->enter_count++] =
            (SnapshotEnter){.slot = slot,
                            .kind = detail->kind,
                            .net_id = detail->net_id,
                            .owner_id = detail->owner_id,
                            .record = frame->records[NET_SLOTS_MAX + frame->enter_order[i]]};
    }
}

static void make_updates(Replicator *replicator, const Viewer *viewer)
{
    Frame *frame = &replicator->frame;
    for (uint32_t slot = 0; slot < viewer->slot_end; slot++) {
        if (!frame->chosen[slot]) {
            continue;
        }
        const Sent *sent = &viewer->sent[slot];
        frame->updates[frame->update_count++] =
            (SnapshotUpdate){.slot = slot,
                             .age = net_table_age(&replicator->table, sent->entry, sent->base),
                             .record = frame->records[slot]};
    }
}

static void count_postponed(Replicator *replicator, Viewer *viewer)
{
    const Frame *frame = &replicator->frame;
    for (uint32_t i = 0; i < frame->choice_count; i++) {
        const uint32_t index = frame->choices[i].index;
        if (!frame->chosen[index]) {
            uint8_t *waited = index < NET_SLOTS_MAX ? &viewer->sent[index].waited
                                                    : &viewer->wanted[index - NET_SLOTS_MAX].waited;
            *waited = (uint8_t)(*waited < UINT8_MAX ? *waited + 1 : *waited);
            replicator->stats.records_postponed += 1;
        }
    }
}

// The frame is sent: the session has what was in it.
static void commit(Replicator *replicator, Viewer *viewer, const SnapshotHeader *header)
{
    const Frame *frame = &replicator->frame;
    const NetTable *table = &replicator->table;
    count_postponed(replicator, viewer);
    for (uint32_t i = 0; i < frame->leave_count; i++) {
        viewer->sent[frame->leaves[i]] = (Sent){0};
    }
    for (uint32_t i = 0; i < frame->update_count; i++) {
        Sent *sent = &viewer->sent[frame->updates[i].slot];
        sent->base = table->entries[sent->entry].version;
        sent->waited = 0;
    }
    for (uint32_t i = 0; i < frame->enter_count; i++) {
        const uint32_t slot = frame->enters[i].slot;
        const Wanted *wanted = &viewer->wanted[frame->enter_order[i]];
        viewer->sent[slot] = (Sent){.entry = wanted->entry,
                                    .serial = wanted->serial,
                                    .base = table->entries[wanted->entry].version};
        viewer->slot_end = slot >= viewer->slot_end ? slot + 1 : viewer->slot_end;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < viewer->wanted_count; i++) {
        if (!frame->chosen[NET_SLOTS_MAX + i]) {
            viewer->wanted[kept++] = viewer->wanted[i];
        }
    }
    viewer->wanted_count = kept;
    viewer->sent_count += frame->enter_count - frame->leave_count;
    while (viewer->slot_end > 0 && viewer->sent[viewer->slot_end - 1].entry == 0) {
        viewer->slot_end -= 1;
    }
    event_queue_drop(&viewer->events, frame->event_end);
    viewer->last = *header;
    viewer->full = false;
}

static void frame_reset(Frame *frame, const Viewer *viewer)
{
    frame->leave_count = frame->enter_count = frame->update_count = 0;
    frame->choice_count = frame->enter_order_count = 0;
    frame->record_bits = 0;
    frame->event_end = 0;
    frame->event_count = 0;
    memset(frame->chosen, 0, viewer->slot_end);
    memset(frame->chosen + NET_SLOTS_MAX, 0, viewer->wanted_count);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Chooses everything that goes; the events are in *events then.
static void plan_frame(Replicator *replicator, Viewer *viewer, uint32_t session, bool has_own,
                       ByteWriter *events)
{
    Frame *frame = &replicator->frame;
    const Vec3 eye = replicator->eyes[session].position;
    const size_t needed =
        collect_sent(replicator, viewer, eye) + collect_wanted(replicator, viewer, eye);
    const size_t fixed = FRAME_BASE_BYTES + frame->leave_count + (has_own ? FRAME_OWN_BYTES : 0);
    const size_t budget = replicator->config.budget_bytes;
    const size_t left = budget > fixed ? budget - fixed : 0;
    take_events(replicator, viewer, events, budget / EVENT_SHARE, true);
    // A large event uses no more than its share of the records' budget.
    const size_t for_events = smaller(events->at, budget / EVENT_SHARE);
    choose_within(replicator, viewer, session, needed, left > for_events ? left - for_events : 0);
    const size_t used = smaller((frame->record_bits + 7) / 8, left);
    take_events(replicator, viewer, events, left - used, false);
}

Status replicator_build(Replicator *replicator, uint32_t session, const FrameRequest *request,
                        uint8_t *out, size_t capacity, size_t *bytes, uint32_t *seq)
{
    ASSERT(session < replicator->config.session_max);
    ASSERT(replicator->eyes[session].open);
    ASSERT(capacity >= replicator->config.budget_bytes + SNAPSHOT_SLACK);
    Viewer *viewer = &replicator->viewers[session];
    Frame *frame = &replicator->frame;
    replicator_look(replicator, session);
    frame_reset(frame, viewer);
    replicator->frame_records_used = 0;
    ByteWriter events =
        byte_writer(replicator->event_bytes, replicator_event_bytes(&replicator->config));
    plan_frame(replicator, viewer, session, request->own != NULL, &events);
    ASSERT(events.status == STATUS_OK);
    make_enters(replicator, viewer);
    make_updates(replicator, viewer);
    SnapshotPlan plan = {
        .header = {.full = viewer->full,
                   .seq = viewer->last.seq + 1,
                   .tick = replicator->table.tick,
                   .ack_seq = request->ack_seq,
                   .inputs_waiting = request->inputs_waiting},
        .tick_rate = replicator->config.tick_rate,
        .own = request->own,
        .leaves = frame->leaves,
        .leave_count = frame->leave_count,
        .enters = frame->enters,
        .enter_count = frame->enter_count,
        .updates = frame->updates,
        .update_count = frame->update_count,
        .events = replicator->event_bytes,
        .event_bytes = events.at,
    };
    if (!viewer->full) {
        plan.previous = viewer->last;
    }
    const Status status = snapshot_write(&plan, out, capacity, bytes);
    if (status != STATUS_OK) {
        return status;
    }
    *seq = plan.header.seq;
    commit(replicator, viewer, &plan.header);
    replicator->stats.frames += 1;
    replicator->stats.frame_bytes += *bytes;
    replicator->stats.enters += frame->enter_count;
    replicator->stats.leaves += frame->leave_count;
    replicator->stats.events_sent += frame->event_count;
    return STATUS_OK;
}

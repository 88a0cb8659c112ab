// Frames compared with a model: a plain array of states on the writer's side. Whatever a random
// server does, the reader ends up with exactly its states.
#include "core/wire/merge.h"
#include "tests/support/test.h"
#include "tests/unit/net_random.h"

#include <string.h>

#define RECORD_BYTES 6000
#define ENTITIES     320

// An entity of the model world.
typedef struct ModelEntity {
    uint64_t net_id, owner_id;
    NetKind kind;
    NetState ring[NET_RING]; // by version % NET_RING
    NetState now;
    uint8_t shape[NET_SHAPE_BYTES_MAX];
    uint8_t attributes[512];
    uint32_t shape_bytes, attributes_bytes;
    NetShape shape_value;
    bool visible;
    uint32_t slot;
    uint32_t base; // the version that the client has
} ModelEntity;

typedef struct Model {
    Rng rng;
    ModelEntity entities[ENTITIES];
    int32_t slots[NET_SLOTS_MAX]; // entity, -1: free
    SnapshotHeader last;
    uint64_t next_id;
    uint8_t records[NET_SLOTS_MAX][RECORD_BYTES];
    uint8_t leaves[NET_SLOTS_MAX];
    SnapshotEnter enters[NET_SLOTS_MAX];
    SnapshotUpdate updates[NET_SLOTS_MAX];
    uint8_t events[256];
    NetOwn own;
    SnapshotPlan plan;
    uint8_t frame[SNAPSHOT_BYTES_MAX];
    size_t frame_bytes;
} Model;

// What the sink saw of one frame.
typedef struct Seen {
    Model *model;
    uint32_t begins, ends, owns, leaves, enters, updates, events;
    uint64_t event_tick;
    NetOwn own;
} Seen;

static Model model;
static Merge merge;

static uint32_t below(uint32_t bound)
{
    return rng_below(&model.rng, bound);
}

static void next_version(ModelEntity *entity, uint64_t tick)
{
    const NetState before = entity->now;
    entity->now = net_random_state(&model.rng, entity->kind, &before, tick);
    // A version that was made after a frame has its anchor after it.
    if (entity->now.motion.tick != before.motion.tick &&
        entity->now.motion.tick < model.last.tick) {
        entity->now.motion.tick = model.last.tick;
    }
    if (entity->now.shape_version != before.shape_version) {
        entity->shape_value = net_random_shape(&model.rng);
        ByteWriter writer = byte_writer(entity->shape, sizeof entity->shape);
        net_shape_write(&entity->shape_value, &writer);
        entity->shape_bytes = (uint32_t)writer.at;
    }
    if (entity->now.attributes_version != before.attributes_version) {
        entity->attributes_bytes = (uint32_t)net_random_attributes(&model.rng, entity->attributes,
                                                                   sizeof entity->attributes);
    }
    entity->ring[entity->now.version % NET_RING] = entity->now;
}

static void new_entity(ModelEntity *entity, uint64_t tick)
{
    *entity = (ModelEntity){.kind = (NetKind)(1 + below(NET_KIND_COUNT - 1))};
    entity->net_id = model.next_id;
    entity->owner_id = below(2) == 0 ? 0 : rng_u32(&model.rng);
    model.next_id += 1 + below(400);
    next_version(entity, tick);
}

static void model_reset(uint64_t stream)
{
    memset(&model, 0, sizeof model);
    model.rng = rng_make(test_seed(), stream);
    model.next_id = 1;
    for (uint32_t i = 0; i < ENTITIES; i++) {
        new_entity(&model.entities[i], 100);
    }
    memset(model.slots, 0xff, sizeof model.slots);
}

static NetRecord record_of(uint32_t slot, const ModelEntity *entity, uint32_t age)
{
    const DeltaDetail detail = {entity->shape, entity->shape_bytes, entity->attributes,
                                entity->attributes_bytes};
    const NetState *base = age == 0 ? NULL : &entity->ring[(entity->now.version - age) % NET_RING];
    BitWriter writer = bit_writer(model.records[slot], RECORD_BYTES);
    delta_encode(entity->kind, base, &entity->now, &detail, model.plan.header.tick, 60, &writer);
    CHECK_OK(writer.status);
    return (NetRecord){model.records[slot], (uint32_t)writer.at};
}

static void plan_leaves(uint32_t one_in)
{
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        if (model.slots[slot] < 0 || below(one_in) != 0) {
            continue;
        }
        ModelEntity *entity = &model.entities[model.slots[slot]];
        entity->visible = false;
        model.leaves[model.plan.leave_count++] = (uint8_t)slot;
        model.slots[slot] = -1;
        if (below(2) == 0) {
            new_entity(entity, model.plan.header.tick);
        }
    }
}

static uint32_t invisible_entity(void)
{
    uint32_t index = below(ENTITIES);
    while (model.entities[index].visible) {
        index = (index + 1) % ENTITIES;
    }
    return index;
}

static void plan_enters(uint32_t one_in, bool entered[NET_SLOTS_MAX])
{
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        if (model.slots[slot] >= 0 || below(one_in) != 0) {
            continue;
        }
        const uint32_t index = invisible_entity();
        ModelEntity *entity = &model.entities[index];
        entity->visible = true;
        entity->slot = slot;
        entity->base = entity->now.version;
        model.slots[slot] = (int32_t)index;
        entered[slot] = true;
        model.enters[model.plan.enter_count++] = (SnapshotEnter){
            slot, entity->kind, entity->net_id, entity->owner_id, record_of(slot, entity, 0)};
    }
}

static void plan_updates(uint32_t one_in, const bool entered[NET_SLOTS_MAX])
{
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
        if (model.slots[slot] < 0 || entered[slot] || below(one_in) != 0) {
            continue;
        }
        ModelEntity *entity = &model.entities[model.slots[slot]];
        uint32_t age = entity->now.version - entity->base;
        if (age == 0) {
            continue;
        }
        age = age >= NET_RING || below(10) == 0 ? 0 : age;
        entity->base = entity->now.version;
        model.updates[model.plan.update_count++] =
            (SnapshotUpdate){slot, age, record_of(slot, entity, age)};
    }
}

static void plan_own(void)
{
    model.own = (NetOwn){.net_id = 1 + below(1000),
                         .tick = model.plan.header.tick - below(3),
                         .causes = below(NET_CAUSES_ALL + 1)};
    model.own.state.position.x = rng_range(&model.rng, -100, 100);
    model.own.state.ground_normal.y = 1;
    model.own.state.health = 50;
    model.own.state.grounded = true;
    model.plan.own = &model.own;
}

// A frame with a bit of everything, as dense as asked.
static void make_frame(bool full)
{
    const uint32_t tick_step = below(20) == 0 ? below(500) : 3;
    model.plan = (SnapshotPlan){.previous = full ? (SnapshotHeader){0} : model.last,
                                .tick_rate = 60,
                                .leaves = model.leaves,
                                .enters = model.enters,
                                .updates = model.updates,
                                .events = model.events};
    SnapshotHeader *header = &model.plan.header;
    header->full = full;
    header->seq = full && below(2) == 0 ? 1 : model.last.seq + 1;
    header->tick = (model.last.tick == 0 ? 1000 : model.last.tick) + tick_step;
    header->ack_seq = below(4) == 0 ? model.last.ack_seq + below(50) : (uint32_t)header->tick;
    header->inputs_waiting = below(4) == 0 ? below(20) : model.last.inputs_waiting;
    const uint32_t density = 1 + below(40);
    bool entered[NET_SLOTS_MAX] = {false};
    for (uint32_t i = 0; i < ENTITIES; i++) {
        if (below(density) == 0) {
            next_version(&model.entities[i], header->tick);
        }
    }
    if (full) {
        for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
            model.slots[slot] = -1;
        }
        for (uint32_t i = 0; i < ENTITIES; i++) {
            model.entities[i].visible = false;
        }
    } else if (below(2) == 0) {
        plan_leaves(10);
    }
    if (full || below(2) == 0) {
        plan_enters(full ? 1 + below(8) : 10, entered);
    }
    plan_updates(1 + below(2), entered);
    if (below(4) == 0) {
        plan_own();
    }
    ByteWriter events = byte_writer(model.events, sizeof model.events);
    for (uint32_t i = below(3); i > 0; i--) {
        snapshot_event(&events, 2, (const uint8_t *)"\x60hello", 6);
    }
    model.plan.event_bytes = events.at;
    REQUIRE(snapshot_write(&model.plan, model.frame, sizeof model.frame, &model.frame_bytes) ==
            STATUS_OK);
    model.last = *header;
}

static const ModelEntity *entity_in(uint32_t slot)
{
    return model.slots[slot] < 0 ? NULL : &model.entities[model.slots[slot]];
}

static void saw_begin(void *user, const SnapshotHeader *header)
{
    Seen *seen = user;
    CHECK_INT(seen->begins, 0);
    seen->begins++;
    CHECK_INT(header->seq, model.plan.header.seq);
    CHECK_INT(header->tick, model.plan.header.tick);
    CHECK_INT(header->ack_seq, model.plan.header.ack_seq);
    CHECK_INT(header->inputs_waiting, model.plan.header.inputs_waiting);
    CHECK_INT(header->full, model.plan.header.full);
}

static void saw_own(void *user, const NetOwn *own)
{
    Seen *seen = user;
    seen->owns++;
    seen->own = *own;
}

static void saw_leave(void *user, uint32_t slot, const MergeSlot *entity)
{
    Seen *seen = user;
    CHECK_INT(slot, model.leaves[seen->leaves]);
    CHECK(entity->net_id != 0);
    seen->leaves++;
}

static void saw_enter(void *user, uint32_t slot, const MergeSlot *merged, const NetShape *shape,
                      const uint8_t *attributes, size_t attributes_bytes)
{
    Seen *seen = user;
    const ModelEntity *entity = entity_in(slot);
    REQUIRE(entity != NULL);
    CHECK_INT(merged->net_id, entity->net_id);
    CHECK_INT(merged->owner_id, entity->owner_id);
    CHECK_INT(merged->kind, entity->kind);
    CHECK((shape != NULL) == (entity->now.shape_version != 0));
    CHECK(shape == NULL || net_shape_same(shape, &entity->shape_value));
    CHECK((attributes != NULL) == (entity->now.attributes_version != 0));
    if (attributes != NULL) {
        CHECK_INT(attributes_bytes, entity->attributes_bytes);
        CHECK_BYTES(attributes, entity->attributes, attributes_bytes);
    }
    seen->enters++;
}

static void saw_update(void *user, uint32_t slot, const MergeSlot *merged, const NetState *before,
                       uint32_t components, const NetShape *shape, const uint8_t *attributes,
                       size_t attributes_bytes)
{
    Seen *seen = user;
    const ModelEntity *entity = entity_in(slot);
    REQUIRE(entity != NULL);
    const uint32_t changed = net_state_difference(before, &merged->state);
    CHECK_INT(components & changed, changed);
    CHECK(before->version < merged->state.version);
    CHECK((shape != NULL) == ((components & NET_SHAPE) != 0));
    CHECK(shape == NULL || net_shape_same(shape, &entity->shape_value));
    if (attributes != NULL) {
        CHECK_INT(attributes_bytes, entity->attributes_bytes);
        CHECK_BYTES(attributes, entity->attributes, attributes_bytes);
    }
    seen->updates++;
}

static void saw_event(void *user, uint64_t tick, const uint8_t *message, size_t bytes)
{
    Seen *seen = user;
    CHECK_INT(bytes, 6);
    CHECK_BYTES(message, "\x60hello", 6);
    seen->event_tick = tick;
    seen->events++;
}

static void saw_end(void *user, const SnapshotHeader *header)
{
    Seen *seen = user;
    CHECK_INT(header->seq, model.plan.header.seq);
    seen->ends++;
}

static MergeSink sink_of(Seen *seen)
{
    return (MergeSink){seen,      saw_begin,  saw_own,   saw_leave,
                       saw_enter, saw_update, saw_event, saw_end};
}

static void check_equal(void)
{
    for (uint32_t slot = 0; slot < NET_SLOTS_MAX && test_is_passing(); slot++) {
        const ModelEntity *entity = entity_in(slot);
        const MergeSlot *merged = &merge.slots[slot];
        if (entity == NULL) {
            CHECK_INT(merged->net_id, 0);
            continue;
        }
        CHECK_INT(merged->net_id, entity->net_id);
        CHECK_INT(merged->state.version, entity->base);
        NetState want = entity->ring[entity->base % NET_RING];
        // What began longer ago than the wire can say begins as long ago as it can.
        if (want.motion.tick < merged->state.motion.tick &&
            want.motion.tick + NET_MOTION_TICKS_MAX < model.last.tick) {
            want.motion.tick = merged->state.motion.tick;
        }
        if (entity->now.version - entity->base < NET_RING) {
            CHECK(net_state_equal(&merged->state, &want));
        }
    }
}

TEST(merge_follows_a_random_server)
{
    for (uint64_t stream = 1; stream <= 3; stream++) {
        model_reset(stream);
        merge_reset(&merge, 60);
        for (uint32_t i = 0; i < 800 && test_is_passing(); i++) {
            make_frame(i == 0 || below(100) == 0);
            Seen seen = {0};
            const MergeSink sink = sink_of(&seen);
            REQUIRE(merge_apply(&merge, model.frame, model.frame_bytes, &sink) == STATUS_OK);
            CHECK_INT(seen.begins, 1);
            CHECK_INT(seen.ends, 1);
            CHECK_INT(seen.leaves, model.plan.leave_count);
            CHECK_INT(seen.enters, model.plan.enter_count);
            CHECK_INT(seen.updates, model.plan.update_count);
            CHECK_INT(seen.owns, model.plan.own != NULL);
            if (seen.owns != 0) {
                CHECK_INT(seen.own.net_id, model.own.net_id);
                CHECK_INT(seen.own.tick, model.own.tick);
                CHECK_INT(seen.own.causes, model.own.causes);
                CHECK(seen.own.state.position.x == model.own.state.position.x);
                CHECK(seen.own.state.grounded);
            }
            CHECK_INT(seen.events * 8, model.plan.event_bytes);
            CHECK(seen.events == 0 || seen.event_tick == model.plan.header.tick - 2);
            check_equal();
        }
    }
}

static const MergeSink deaf = {0};

TEST(merge_refuses_what_does_not_continue)
{
    static Merge before;
    model_reset(10);
    merge_reset(&merge, 60);
    make_frame(true);
    model.frame[0] = SNAPSHOT_NUMBER + 1;
    CHECK_INT(merge_apply(&merge, model.frame, model.frame_bytes, &deaf), STATUS_UNSUPPORTED);
    model.frame[0] = SNAPSHOT_NUMBER;
    CHECK_OK(merge_apply(&merge, model.frame, model.frame_bytes, &deaf));
    before = merge;
    make_frame(false);
    static uint8_t lost[SNAPSHOT_BYTES_MAX];
    const size_t lost_bytes = model.frame_bytes;
    memcpy(lost, model.frame, lost_bytes);
    make_frame(false);
    // A frame is missing.
    CHECK_INT(merge_apply(&merge, model.frame, model.frame_bytes, &deaf), STATUS_MISMATCH);
    // After a failure not even the right one is taken, until a first frame comes.
    CHECK_INT(merge_apply(&merge, lost, lost_bytes, &deaf), STATUS_MISMATCH);
    merge = before;
    CHECK_OK(merge_apply(&merge, lost, lost_bytes, &deaf));
    // The same one twice.
    CHECK_INT(merge_apply(&merge, lost, lost_bytes, &deaf), STATUS_MISMATCH);
    merge = before;
    CHECK_OK(merge_apply(&merge, lost, lost_bytes, &deaf));
    CHECK_OK(merge_apply(&merge, model.frame, model.frame_bytes, &deaf));
    CHECK_INT(merge_apply(&merge, lost, SNAPSHOT_BYTES_MAX + 1, &deaf), STATUS_LIMIT);
}

// One slot, one NPC, by hand.
static size_t hand_frame(uint8_t *out, SnapshotHeader header, SnapshotHeader previous,
                         const SnapshotEnter *enter, const SnapshotUpdate *update,
                         const uint8_t *leave)
{
    const SnapshotPlan plan = {.header = header,
                               .previous = previous,
                               .tick_rate = 60,
                               .leaves = leave,
                               .leave_count = leave != NULL,
                               .enters = enter,
                               .enter_count = enter != NULL,
                               .updates = update,
                               .update_count = update != NULL};
    size_t bytes = 0;
    CHECK_OK(snapshot_write(&plan, out, 512, &bytes));
    return bytes;
}

TEST(merge_slots_and_versions_must_fit)
{
    const SnapshotHeader first = {true, 1, 100, 0, 0};
    const SnapshotHeader second = {false, 2, 103, 103, 0};
    const NetState state = {.version = 7, .motion.tick = 100};
    NetState older = state;
    older.version = 7;
    const DeltaDetail none = {0};
    uint8_t full[64];
    uint8_t old[64];
    uint8_t delta[64];
    BitWriter writer = bit_writer(full, sizeof full);
    delta_encode(NET_NPC, NULL, &state, &none, 100, 60, &writer);
    const NetRecord full_record = {full, (uint32_t)writer.at};
    writer = bit_writer(old, sizeof old);
    delta_encode(NET_NPC, NULL, &older, &none, 103, 60, &writer);
    const NetRecord old_record = {old, (uint32_t)writer.at};
    NetState turned = state;
    turned.yaw = 9;
    writer = bit_writer(delta, sizeof delta);
    delta_encode(NET_NPC, &state, &turned, &none, 103, 60, &writer);
    const NetRecord delta_record = {delta, (uint32_t)writer.at};

    const SnapshotEnter enter = {3, NET_NPC, 42, 0, full_record};
    const SnapshotEnter again = {3, NET_NPC, 43, 0, old_record};
    const SnapshotEnter twin = {4, NET_NPC, 42, 0, old_record};
    const SnapshotUpdate update = {3, 5, delta_record};
    const SnapshotUpdate elsewhere = {4, 1, delta_record};
    const SnapshotUpdate stale = {3, 0, old_record};
    const uint8_t leave = 3;
    const uint8_t leave_free = 5;
    uint8_t frame[512];
    const struct {
        const SnapshotEnter *enter;
        const SnapshotUpdate *update;
        const uint8_t *leave;
        Status want;
    } cases[] = {
        {NULL, NULL, NULL, STATUS_OK},
        {NULL, &update, NULL, STATUS_OK},
        {NULL, NULL, &leave, STATUS_OK},
        {&again, NULL, &leave, STATUS_OK}, // the slot is free again in the same frame
        {&again, NULL, NULL, STATUS_MISMATCH},
        {&twin, NULL, NULL, STATUS_MISMATCH},
        {NULL, &elsewhere, NULL, STATUS_MISMATCH},
        {NULL, &stale, NULL, STATUS_MISMATCH}, // full, but not newer
        {NULL, NULL, &leave_free, STATUS_MISMATCH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        merge_reset(&merge, 60);
        size_t bytes = hand_frame(frame, first, (SnapshotHeader){0}, &enter, NULL, NULL);
        CHECK_OK(merge_apply(&merge, frame, bytes, &deaf));
        CHECK_INT(merge.slots[3].state.version, 7);
        bytes = hand_frame(frame, second, first, cases[i].enter, cases[i].update, cases[i].leave);
        CHECK_INT(merge_apply(&merge, frame, bytes, &deaf), cases[i].want);
        if (cases[i].update == &update) {
            CHECK_INT(merge.slots[3].state.version, 12);
            CHECK_INT(merge.slots[3].state.yaw, 9);
        }
    }
}

TEST(merge_every_truncation_and_every_flipped_bit_is_handled)
{
    static Merge before;
    static uint8_t frame[SNAPSHOT_BYTES_MAX];
    model_reset(20);
    merge_reset(&merge, 60);
    make_frame(true);
    CHECK_OK(merge_apply(&merge, model.frame, model.frame_bytes, &deaf));
    uint32_t tried = 0;
    for (uint32_t round = 0; round < 40 && tried < 6; round++) {
        before = merge;
        make_frame(false);
        CHECK_OK(merge_apply(&merge, model.frame, model.frame_bytes, &deaf));
        if (model.frame_bytes > 700) {
            continue;
        }
        tried++;
        static Merge other;
        for (size_t cut = 0; cut < model.frame_bytes; cut++) {
            // Exactly as many bytes as there are, so that a sanitiser sees a touch outside.
            memcpy(frame + sizeof frame - cut, model.frame, cut);
            other = before;
            const Status status = merge_apply(&other, frame + sizeof frame - cut, cut, &deaf);
            // Only whole events at the end can be cut off without a trace.
            CHECK(status != STATUS_OK || cut + model.plan.event_bytes >= model.frame_bytes);
        }
        for (size_t bit = 0; bit < model.frame_bytes * 8; bit++) {
            memcpy(frame, model.frame, model.frame_bytes);
            frame[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            other = before;
            if (merge_apply(&other, frame, model.frame_bytes, &deaf) != STATUS_OK) {
                continue;
            }
            for (uint32_t slot = 0; slot < NET_SLOTS_MAX; slot++) {
                const MergeSlot *entity = &other.slots[slot];
                CHECK(entity->net_id <= SIM_NET_ID_MAX);
                CHECK(entity->net_id == 0 || entity->state.version != 0);
                CHECK(net_motion_is_sane(&entity->state.motion));
            }
        }
    }
    CHECK(tried > 0);
}

TEST(merge_events_that_make_no_sense_are_refused)
{
    static const uint8_t before_time[] = {101, 1, 0x70}; // at tick 100
    static const uint8_t empty[] = {0, 0};
    static const uint8_t too_long[] = {0, 2, 0x70};
    static const uint8_t fine[] = {100, 1, 0x70};
    const struct {
        const uint8_t *events;
        size_t bytes;
        Status want;
    } cases[] = {{before_time, sizeof before_time, STATUS_RANGE},
                 {empty, sizeof empty, STATUS_RANGE},
                 {too_long, sizeof too_long, STATUS_TRUNCATED},
                 {fine, sizeof fine, STATUS_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const SnapshotPlan plan = {.header = {true, 1, 100, 0, 0},
                                   .tick_rate = 60,
                                   .events = cases[i].events,
                                   .event_bytes = cases[i].bytes};
        uint8_t frame[64];
        size_t bytes = 0;
        CHECK_OK(snapshot_write(&plan, frame, sizeof frame, &bytes));
        merge_reset(&merge, 60);
        CHECK_INT(merge_apply(&merge, frame, bytes, &deaf), cases[i].want);
    }
}

// Two frames by hand; see small_frame.h.
#include "tests/fuzz/small_frame.h"

#include "core/base/check.h"

#include <string.h>

#define RECORD_BYTES 1024

static const SnapshotHeader first = {true, 1, 9009, 9009, 2};
static const SnapshotHeader second = {false, 2, 9012, 9012, 3};

size_t small_frame_shape(uint8_t *out, size_t capacity)
{
    NetShape shape = {.shape = {SHAPE_BOX, {2, 0.5f, 1}},
                      .data = {.flags = PART_BOUNCE | PART_CONVEYOR,
                               .bounce_speed = 9,
                               .conveyor_speed = {0, 0, 2}},
                      .rest = {{1, 2, 3}, {0, 1, 0, 0}},
                      .piece = 4,
                      .turn = 1,
                      .cell = {-5, 0, 6},
                      .health = 80};
    const MotionSegment there = {.pose = shape.rest,
                                 .velocity = {1, 0, 0},
                                 .angular_velocity = {0, 1, 0},
                                 .tick_from = 9000,
                                 .tick_to = 9100};
    const MotionSegment back = {
        .pose = {{4, 2, 3}, QUAT_IDENTITY}, .tick_from = 9100, .tick_to = 9200};
    ASSERT(motion_append(&shape.motion, &there, 3, 0) == STATUS_OK);
    ASSERT(motion_append(&shape.motion, &back, 3, 0) == STATUS_OK);
    ByteWriter writer = byte_writer(out, capacity);
    net_shape_write(&shape, &writer);
    ASSERT(writer.status == STATUS_OK);
    return writer.at;
}

size_t small_frame_attributes(uint8_t *out, size_t capacity)
{
    ByteWriter writer = byte_writer(out, capacity);
    net_attributes_write_name(&writer, text_from("T\xc3\xbcr"));
    net_attributes_write_one(&writer, text_from("a"), &(NetValue){.type = NET_VALUE_BOOL});
    net_attributes_write_one(&writer, text_from("b"),
                             &(NetValue){.type = NET_VALUE_NUMBER, .number = 0.5});
    net_attributes_write_one(&writer, text_from("c"),
                             &(NetValue){.type = NET_VALUE_TEXT, .text = text_from("hi")});
    net_attributes_write_one(&writer, text_from("d"),
                             &(NetValue){.type = NET_VALUE_VECTOR, .vector = {1, 2, 3}});
    net_attributes_write_one(&writer, text_from("e"),
                             &(NetValue){.type = NET_VALUE_ENTITY, .entity = 7});
    net_attributes_write_end(&writer);
    net_attributes_write_tag(&writer, text_from("Door"));
    net_attributes_write_end(&writer);
    ASSERT(writer.status == STATUS_OK);
    return writer.at;
}

static NetState state_of(NetKind kind)
{
    NetState state = {
        .paint = PAINT_NONE, .version = 5, .yaw = 20, .flags = NET_GROUNDED, .health = 100};
    if (net_kind_moves(kind)) {
        state.motion =
            (NetMotion){.tick = 9006, .position = {256, 0, -512}, .velocity = {320, 0, 0}};
    } else {
        state.shape_version = 1;
        state.attributes_version = 1;
    }
    return state;
}

static NetRecord record_of(uint8_t *room, NetKind kind, const NetState *base, const NetState *now,
                           uint64_t tick)
{
    uint8_t shape[NET_SHAPE_BYTES_MAX];
    uint8_t attributes[256];
    const DeltaDetail detail = {
        .shape = shape,
        .shape_bytes = (uint32_t)small_frame_shape(shape, sizeof shape),
        .attributes = attributes,
        .attributes_bytes = (uint32_t)small_frame_attributes(attributes, sizeof attributes)};
    BitWriter writer = bit_writer(room, RECORD_BYTES);
    delta_encode(kind, base, now, &detail, tick, 60, &writer);
    ASSERT(writer.status == STATUS_OK);
    return (NetRecord){room, (uint32_t)writer.at};
}

static size_t write_plan(const SnapshotPlan *plan, uint8_t *out, size_t capacity)
{
    size_t bytes = 0;
    ASSERT(snapshot_write(plan, out, capacity, &bytes) == STATUS_OK);
    return bytes;
}

// Kind k stands in slot 2 k, with the net id 10 k.
size_t small_frame_first(uint8_t *out, size_t capacity)
{
    static uint8_t rooms[NET_KIND_COUNT][RECORD_BYTES];
    SnapshotEnter enters[NET_KIND_COUNT];
    uint32_t count = 0;
    for (uint32_t i = 1; i < NET_KIND_COUNT; i++) {
        const NetKind kind = (NetKind)i;
        const NetState state = state_of(kind);
        enters[count++] = (SnapshotEnter){2 * i, kind, 10 * i, i % 2,
                                          record_of(rooms[i], kind, NULL, &state, first.tick)};
    }
    const SnapshotPlan plan = {
        .header = first, .tick_rate = 60, .enters = enters, .enter_count = count};
    return write_plan(&plan, out, capacity);
}

size_t small_frame_second(uint8_t *out, size_t capacity)
{
    static uint8_t rooms[4][RECORD_BYTES];
    const NetState walking = state_of(NET_PLAYER);
    NetState turned = walking;
    turned.version++;
    turned.motion = net_motion_move(&walking.motion, second.tick, 60);
    turned.motion.velocity[2] = -150;
    turned.motion.position[1] = 7;
    turned.yaw = 200;
    const NetState part = state_of(NET_PART);
    NetState painted = part;
    painted.version += 3;
    painted.paint = (Paint){.colour = 0x33aa55, .transparency = 100, .glow = 1, .texture = 4000};
    painted.attributes_version++;
    painted.shape_version += 2;
    const NetState npc = state_of(NET_NPC);
    NetState later = npc;
    later.version += 90;
    later.npc_state = 2;
    const SnapshotUpdate updates[] = {
        {2, 1, record_of(rooms[0], NET_PLAYER, &walking, &turned, second.tick)},
        {4, 0, record_of(rooms[1], NET_NPC, NULL, &later, second.tick)},
        {8, 3, record_of(rooms[2], NET_PART, &part, &painted, second.tick)}};
    const NetState arrow = state_of(NET_PROJECTILE);
    const SnapshotEnter enter = {0, NET_PROJECTILE, 77, 0,
                                 record_of(rooms[3], NET_PROJECTILE, NULL, &arrow, second.tick)};
    static const uint8_t leave = 12;
    const NetOwn own = {
        .net_id = 10,
        .tick = second.tick,
        .causes = NET_CAUSE_PUSH,
        .state = {.position = {1, 0, -2}, .ground_normal = {0, 1, 0}, .health = 100}};
    uint8_t events[64];
    ByteWriter writer = byte_writer(events, sizeof events);
    snapshot_event(&writer, 1, (const uint8_t *)"\x6b\x14\x00", 3); // DIED: 20, of nothing
    snapshot_event(&writer, 0, (const uint8_t *)"\x69\x03", 2);     // PLAYER_LEFT: 3
    const SnapshotPlan plan = {.header = second,
                               .previous = first,
                               .tick_rate = 60,
                               .own = &own,
                               .leaves = &leave,
                               .leave_count = 1,
                               .enters = &enter,
                               .enter_count = 1,
                               .updates = updates,
                               .update_count = 3,
                               .events = events,
                               .event_bytes = writer.at};
    return write_plan(&plan, out, capacity);
}

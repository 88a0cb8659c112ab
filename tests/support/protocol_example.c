// The snapshots that docs/PROTOCOL.md shows: made as a world makes them, read by the merge, printed
// as JSON. So the page shows what a JSON session gets, to the letter.
#include "tests/support/protocol_text.h"

#include "core/base/check.h"
#include "core/wire/message.h"
#include "core/wire/snapshot_json.h"

#include <string.h>

#define LINE_CHARACTERS 108
#define FIRST_TICK      9009
#define TICK_RATE       60

typedef struct Details {
    uint8_t shape[NET_SHAPE_BYTES_MAX];
    uint8_t attributes[512];
    DeltaDetail detail;
} Details;

typedef struct Records {
    uint8_t rooms[8][1024];
    uint32_t count;
} Records;

static Text text_of(const char *data)
{
    return (Text){data, (uint32_t)strlen(data)};
}

static NetRecord record_of(Records *records, NetKind kind, const NetState *base,
                           const NetState *now, const DeltaDetail *detail, uint64_t tick)
{
    uint8_t *room = records->rooms[records->count++];
    BitWriter writer = bit_writer(room, sizeof records->rooms[0]);
    delta_encode(kind, base, now, detail, tick, TICK_RATE, &writer);
    ASSERT(writer.status == STATUS_OK);
    return (NetRecord){room, (uint32_t)writer.at};
}

static void set_shape(Details *details, const NetShape *shape)
{
    ByteWriter writer = byte_writer(details->shape, sizeof details->shape);
    net_shape_write(shape, &writer);
    ASSERT(writer.status == STATUS_OK);
    details->detail.shape = details->shape;
    details->detail.shape_bytes = (uint32_t)writer.at;
}

static void set_attributes(Details *details)
{
    ByteWriter writer = byte_writer(details->attributes, sizeof details->attributes);
    net_attributes_write_name(&writer, text_of("Lift"));
    const NetValue values[] = {
        {.type = NET_VALUE_NUMBER, .number = 2.5},
        {.type = NET_VALUE_BOOL, .boolean = true},
        {.type = NET_VALUE_VECTOR, .vector = vec3(0, 6, 0)},
        {.type = NET_VALUE_TEXT, .text = text_of("up")},
        {.type = NET_VALUE_ENTITY, .entity = 42},
    };
    static const char *const names[] = {"floor", "open", "top", "way", "whom"};
    for (uint32_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        net_attributes_write_one(&writer, text_of(names[i]), &values[i]);
    }
    net_attributes_write_end(&writer);
    net_attributes_write_tag(&writer, text_of("Metal"));
    net_attributes_write_end(&writer);
    ASSERT(writer.status == STATUS_OK);
    details->detail.attributes = details->attributes;
    details->detail.attributes_bytes = (uint32_t)writer.at;
}

static void set_tag(Details *details)
{
    ByteWriter writer = byte_writer(details->attributes, sizeof details->attributes);
    net_attributes_write_name(&writer, text_of(""));
    net_attributes_write_end(&writer);
    net_attributes_write_tag(&writer, text_of("Goal"));
    net_attributes_write_end(&writer);
    ASSERT(writer.status == STATUS_OK);
    details->detail.attributes = details->attributes;
    details->detail.attributes_bytes = (uint32_t)writer.at;
}

// --- printing -----------------------------------------------------------------------------------

// Breaks between members and between objects, so that the page stays readable.
static void put_wrapped(ByteWriter *writer, const char *json, size_t bytes)
{
    bool in_text = false;
    uint32_t column = 0;
    for (size_t i = 0; i < bytes; i++) {
        byte_write_u8(writer, (uint8_t)json[i]);
        column += 1;
        in_text = json[i] == '"' && (i == 0 || json[i - 1] != '\\') ? !in_text : in_text;
        const bool whole = i + 1 < bytes && (json[i + 1] == '"' || json[i + 1] == '{');
        if (!in_text && json[i] == ',' && whole && column > LINE_CHARACTERS - 24) {
            byte_write_bytes(writer, "\n ", 2);
            column = 1;
        }
    }
    byte_write_u8(writer, '\n');
}

static void put_frame(ByteWriter *writer, Merge *merge, const SnapshotPlan *plan)
{
    static uint8_t frame[SNAPSHOT_BYTES_MAX];
    static char json[64 << 10];
    size_t bytes = 0;
    const Status written = snapshot_write(plan, frame, sizeof frame, &bytes);
    ASSERT(written == STATUS_OK);
    ByteWriter out = byte_writer(json, sizeof json);
    const Status printed = snapshot_to_json(merge, frame, bytes, &out);
    ASSERT(printed == STATUS_OK);
    put_wrapped(writer, json, out.at);
}

// --- the frames ---------------------------------------------------------------------------------

static const NetState walker = {
    .paint = PAINT_NONE,
    .version = 1,
    .motion = {.tick = FIRST_TICK, .position = {320, 0, 896}, .velocity = {0, 0, 320}},
    .yaw = 64,
    .flags = NET_GROUNDED,
    .health = 100};
static const NetState thing = {
    .paint = PAINT_NONE, .version = 1, .shape_version = 1, .attributes_version = 1};
static const NetState bare = {.paint = PAINT_NONE, .version = 1, .shape_version = 1};
static const SnapshotHeader first = {true, 1, FIRST_TICK, 115, 0};
static const SnapshotHeader second = {false, 2, FIRST_TICK + 3, 118, 0};

// A lift that goes up for a second.
static NetShape lift_shape(void)
{
    NetShape lift = {.shape = {SHAPE_BOX, {2, 0.25f, 2}},
                     .rest = {{8, 1, 4}, QUAT_IDENTITY},
                     .data = {.flags = PART_CONVEYOR, .conveyor_speed = {1, 0, 0}}};
    lift.motion.count = 1;
    lift.motion.segments[0] = (MotionSegment){.pose = lift.rest,
                                              .velocity = {0, 3, 0},
                                              .tick_from = FIRST_TICK,
                                              .tick_to = FIRST_TICK + TICK_RATE};
    return lift;
}

static void put_first(ByteWriter *writer, Merge *merge)
{
    static Records records;
    static Details lift, wall, sign;
    static const DeltaDetail none = {0};
    records.count = 0;
    const NetShape lift_now = lift_shape();
    const NetShape wall_now = {.shape = {SHAPE_BOX, {1, 1, 0.25f}},
                               .rest = {{5, 1, 0.25f}, QUAT_IDENTITY},
                               .piece = 2,
                               .cell = {4, 0, 0},
                               .health = 90};
    set_shape(&lift, &lift_now);
    set_attributes(&lift);
    const NetShape sign_now = {.shape = {SHAPE_BOX, {0.5f, 0.25f, 0.125f}},
                               .rest = {{2, 1, 0}, QUAT_IDENTITY}};
    set_shape(&sign, &sign_now);
    set_tag(&sign);
    set_shape(&wall, &wall_now);
    const SnapshotEnter enters[] = {
        {0, NET_PLAYER, 42, 9, record_of(&records, NET_PLAYER, NULL, &walker, &none, FIRST_TICK)},
        {1, NET_PART, 17, 0, record_of(&records, NET_PART, NULL, &thing, &lift.detail, FIRST_TICK)},
        {2, NET_STRUCTURE, 61, 9,
         record_of(&records, NET_STRUCTURE, NULL, &bare, &wall.detail, FIRST_TICK)},
        {3, NET_PROP, 62, 0, record_of(&records, NET_PROP, NULL, &thing, &sign.detail, FIRST_TICK)},
    };
    const SnapshotPlan plan = {.header = first,
                               .tick_rate = TICK_RATE,
                               .enters = enters,
                               .enter_count = sizeof enters / sizeof enters[0]};
    put_frame(writer, merge, &plan);
}

static void add_event(ByteWriter *events, uint64_t ticks_ago, uint8_t number, const void *body)
{
    uint8_t bytes[256];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    message_encode_event(number, body, &writer);
    ASSERT(writer.status == STATUS_OK);
    snapshot_event(events, ticks_ago, bytes, writer.at);
}

static void put_second(ByteWriter *writer, Merge *merge)
{
    // A list of two values: the integer 3 and the text "hi".
    static const uint8_t values[] = {6, 2, 3, 6, 5, 2, 'h', 'i'};
    static const WireChunkVersion chunks[] = {{.at = {0, -1, 2}, .version = 7}};
    uint8_t bytes[512];
    ByteWriter events = byte_writer(bytes, sizeof bytes);
    const MessageRemoteDown remote = {
        .name = text_of("fx"), .payload = {values, sizeof values}, .generation = 3};
    const MessageChunkVersions versions = {.chunks = chunks, .chunks_count = 1};
    const MessageChatSaid said = {.player = 9, .name = text_of("bo"), .text = text_of("hi")};
    add_event(&events, 1, MESSAGE_PLAYER_LEFT, &(MessagePlayerLeft){.player = 8});
    add_event(&events, 0, MESSAGE_REMOTE_DOWN, &remote);
    add_event(&events, 0, MESSAGE_CHUNK_VERSIONS, &versions);
    add_event(&events, 0, MESSAGE_CHAT_SAID, &said);
    ASSERT(events.status == STATUS_OK);
    const uint8_t leave = 1;
    const SnapshotPlan plan = {.header = second,
                               .previous = first,
                               .tick_rate = TICK_RATE,
                               .leaves = &leave,
                               .leave_count = 1,
                               .events = bytes,
                               .event_bytes = events.at};
    put_frame(writer, merge, &plan);
}

void protocol_snapshots_write(ByteWriter *writer)
{
    static Merge merge;
    merge_reset(&merge, TICK_RATE);
    byte_write_bytes(writer, "```json\n", 8);
    put_first(writer, &merge);
    put_second(writer, &merge);
    byte_write_bytes(writer, "```\n", 4);
}

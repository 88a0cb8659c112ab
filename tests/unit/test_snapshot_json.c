// Frames as JSON: the exact form of the room document.
#include "core/base/json.h"
#include "core/wire/message.h"
#include "core/wire/snapshot_json.h"
#include "tests/support/test.h"
#include "tests/unit/net_random.h"

#include <string.h>

static Merge merge;
static uint8_t frame[SNAPSHOT_BYTES_MAX];
static char text[1 << 20];

static Text text_of(const char *data)
{
    return (Text){data, (uint32_t)strlen(data)};
}

static NetRecord record_of(uint8_t *room, NetKind kind, const NetState *base, const NetState *now,
                           const DeltaDetail *detail, uint64_t tick)
{
    BitWriter writer = bit_writer(room, 1024);
    delta_encode(kind, base, now, detail, tick, 60, &writer);
    CHECK_OK(writer.status);
    return (NetRecord){room, (uint32_t)writer.at};
}

static void event(ByteWriter *events, uint64_t ticks_ago, uint8_t number, const void *body)
{
    uint8_t bytes[256];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    message_encode_event(number, body, &writer);
    CHECK_OK(writer.status);
    snapshot_event(events, ticks_ago, bytes, writer.at);
}

// Prints the frame and compares; also with every room that is too small.
static void check_frame(const SnapshotPlan *plan, const char *want)
{
    static Merge before;
    size_t bytes = 0;
    REQUIRE(snapshot_write(plan, frame, sizeof frame, &bytes) == STATUS_OK);
    before = merge;
    const size_t whole = strlen(want);
    for (size_t room = 0; room < whole; room++) {
        merge = before;
        ByteWriter small = byte_writer(text, room);
        CHECK_INT(snapshot_to_json(&merge, frame, bytes, &small), STATUS_LIMIT);
        CHECK_INT(small.at, 0);
    }
    merge = before;
    ByteWriter out = byte_writer(text, sizeof text - 1);
    CHECK_OK(snapshot_to_json(&merge, frame, bytes, &out));
    text[out.at] = 0;
    CHECK_TEXT(text, want);
}

static const NetState bo = {
    .paint = PAINT_NONE,
    .version = 1,
    .motion = {.tick = 9009, .position = {320, 0, 896}, .velocity = {0, 0, 320}},
    .yaw = 64,
    .flags = NET_GROUNDED,
    .health = 100};

static size_t write_door(uint8_t *shape, size_t *attributes_bytes, uint8_t *attributes)
{
    const NetShape door = {.shape = {SHAPE_BOX, {1, 2, 0.5f}},
                           .rest = {{4, 2, 0}, QUAT_IDENTITY},
                           .data = {.flags = PART_DAMAGE, .damage = 5}};
    ByteWriter writer = byte_writer(shape, NET_SHAPE_BYTES_MAX);
    net_shape_write(&door, &writer);
    ByteWriter pages = byte_writer(attributes, 512);
    net_attributes_write_name(&pages, text_of("Door"));
    net_attributes_write_one(&pages, text_of("open"), &(NetValue){.type = NET_VALUE_BOOL});
    net_attributes_write_one(&pages, text_of("say"),
                             &(NetValue){.type = NET_VALUE_TEXT, .text = text_of("a\"b")});
    net_attributes_write_one(&pages, text_of("whom"),
                             &(NetValue){.type = NET_VALUE_ENTITY, .entity = 42});
    net_attributes_write_end(&pages);
    net_attributes_write_tag(&pages, text_of("Wood"));
    net_attributes_write_end(&pages);
    *attributes_bytes = pages.at;
    return writer.at;
}

static const SnapshotHeader first = {true, 1, 9009, 115, 0};
static const SnapshotHeader second = {false, 2, 9012, 118, 0};
static const SnapshotHeader third = {false, 3, 9015, 118, 0};

static void send_first(void)
{
    uint8_t shape[NET_SHAPE_BYTES_MAX];
    uint8_t attributes[512];
    size_t attributes_bytes = 0;
    const size_t shape_bytes = write_door(shape, &attributes_bytes, attributes);
    const DeltaDetail detail = {shape, (uint32_t)shape_bytes, attributes,
                                (uint32_t)attributes_bytes};
    const NetState door = {
        .paint = PAINT_NONE, .version = 4, .shape_version = 2, .attributes_version = 3};
    const NetState wolf = {
        .paint = PAINT_NONE, .version = 2, .motion.tick = 9009, .npc_state = 2, .health = 7};
    static uint8_t rooms[3][1024];
    const SnapshotEnter enters[] = {
        {0, NET_PLAYER, 42, 9, record_of(rooms[0], NET_PLAYER, NULL, &bo, &detail, 9009)},
        {1, NET_PART, 17, 0, record_of(rooms[1], NET_PART, NULL, &door, &detail, 9009)},
        {7, NET_NPC, 50, 0, record_of(rooms[2], NET_NPC, NULL, &wolf, &detail, 9009)}};
    merge_reset(&merge, 60);
    const SnapshotPlan plan = {
        .header = first, .tick_rate = 60, .enters = enters, .enter_count = 3};
    check_frame(
        &plan,
        "{\"v\":2,\"kind\":\"snapshot\",\"seq\":1,\"payload\":{\"mode\":\"full\",\"tick\":9009,"
        "\"localAckSeq\":115,\"last_processed_sequence_id\":115,\"features\":{"
        "\"entity\":{\"enter\":["
        "{\"entityId\":42,\"type\":\"player\",\"owner\":9,\"health\":100,\"grounded\":true,"
        "\"climbing\":false,\"running\":false,\"crouching\":false,\"dead\":false},"
        "{\"entityId\":17,\"type\":\"part\",\"owner\":0,\"shape\":{\"kind\":\"box\","
        "\"half\":[1,2,0.5],\"p\":[4,2,0],\"rotation\":[0,0,0,1],\"flags\":16,\"damage\":5},"
        "\"name\":\"Door\",\"attributes\":{\"open\":false,\"say\":\"a\\\"b\","
        "\"whom\":{\"entityId\":42}},\"tags\":[\"Wood\"]},"
        "{\"entityId\":50,\"type\":\"npc\",\"owner\":0,\"health\":7,\"grounded\":false,"
        "\"climbing\":false,\"running\":false,\"crouching\":false,\"dead\":false}]},"
        "\"presence\":{},"
        "\"movement\":{\"42\":{\"p\":[1.25,0,3.5],\"v\":[0,0,5],\"yaw\":1.5707964,\"pitch\":0},"
        "\"50\":{\"p\":[0,0,0],\"v\":[0,0,0],\"yaw\":0,\"pitch\":0}},"
        "\"build\":{},\"projectile\":{},\"npc\":{\"states\":{\"50\":2}},\"voxel\":{},"
        "\"script\":{}}}}");
}

TEST(snapshot_json_full_has_every_feature)
{
    send_first();
}

TEST(snapshot_json_delta_has_only_news)
{
    send_first();
    uint8_t events[256];
    ByteWriter writer = byte_writer(events, sizeof events);
    event(&writer, 1, MESSAGE_PLAYER_LEFT, &(MessagePlayerLeft){.player = 8});
    event(&writer, 0, MESSAGE_DIED, &(MessageDied){.entity_id = 50, .cause = 42});
    event(&writer, 0, MESSAGE_PLAYER_LEFT, &(MessagePlayerLeft){.player = 9});
    event(&writer, 0, MESSAGE_CHAT_SAID,
          &(MessageChatSaid){.player = 9, .name = text_of("bo"), .text = text_of("hi")});
    event(&writer, 0, MESSAGE_REMOTE_DOWN, &(MessageRemoteDown){.name = text_of("fx")});
    snapshot_event(&writer, 0, (const uint8_t *)"\xf0what", 5); // not known: skipped
    const uint8_t leave = 1;
    const SnapshotPlan plan = {.header = second,
                               .previous = first,
                               .tick_rate = 60,
                               .leaves = &leave,
                               .leave_count = 1,
                               .events = events,
                               .event_bytes = writer.at};
    // Nothing was sent of 42, but it walks.
    check_frame(&plan, "{\"v\":2,\"kind\":\"snapshot\",\"seq\":2,\"payload\":{\"mode\":\"delta\","
                       "\"tick\":9012,\"localAckSeq\":118,\"last_processed_sequence_id\":118,"
                       "\"features\":{\"entity\":{\"leave\":[17],"
                       "\"died\":[{\"entityId\":50,\"cause\":42,\"tick\":9012}]},"
                       "\"presence\":{\"left\":[{\"player\":8,\"tick\":9011},"
                       "{\"player\":9,\"tick\":9012}]},"
                       "\"movement\":{\"42\":{\"p\":[1.25,0,3.75],\"v\":[0,0,5],\"yaw\":1.5707964,"
                       "\"pitch\":0}},"
                       "\"script\":{\"remote\":[{\"name\":\"fx\",\"payload\":\"\",\"invokeId\":0,"
                       "\"generation\":0,\"tick\":9012}]},"
                       "\"chat\":{\"said\":[{\"player\":9,\"name\":\"bo\",\"text\":\"hi\","
                       "\"tick\":9012}]}}}}");
    // It stops: one more time, and then nothing at all.
    NetState stopped = bo;
    stopped.motion = net_motion_move(&bo.motion, 9015, 60);
    stopped.motion.velocity[2] = 0;
    uint8_t room[1024];
    const SnapshotUpdate update = {0, 1, record_of(room, NET_PLAYER, &bo, &stopped, NULL, 9015)};
    const SnapshotPlan next = {.header = third,
                               .previous = second,
                               .tick_rate = 60,
                               .updates = &update,
                               .update_count = 1};
    check_frame(&next, "{\"v\":2,\"kind\":\"snapshot\",\"seq\":3,\"payload\":{\"mode\":\"delta\","
                       "\"tick\":9015,\"localAckSeq\":118,\"last_processed_sequence_id\":118,"
                       "\"features\":{\"movement\":{\"42\":{\"p\":[1.25,0,4],\"v\":[0,0,0],"
                       "\"yaw\":1.5707964,\"pitch\":0}}}}}");
    const SnapshotPlan last = {
        .header = {false, 4, 9018, 118, 0}, .previous = third, .tick_rate = 60};
    check_frame(&last, "{\"v\":2,\"kind\":\"snapshot\",\"seq\":4,\"payload\":{\"mode\":\"delta\","
                       "\"tick\":9018,\"localAckSeq\":118,\"last_processed_sequence_id\":118,"
                       "\"features\":{}}}");
}

TEST(snapshot_json_structures_and_projectiles_stand_in_their_features)
{
    const NetShape wall = {.shape = {SHAPE_BOX, {2, 1, 0.5f}},
                           .rest = {{2, 1, 0.5f}, QUAT_IDENTITY},
                           .piece = 3,
                           .turn = 1,
                           .cell = {0, -4, 7},
                           .health = 90};
    uint8_t shape[NET_SHAPE_BYTES_MAX];
    ByteWriter writer = byte_writer(shape, sizeof shape);
    net_shape_write(&wall, &writer);
    const DeltaDetail detail = {.shape = shape, .shape_bytes = (uint32_t)writer.at};
    const NetState structure = {.paint = PAINT_NONE, .version = 1, .shape_version = 1};
    const NetState arrow = {.paint = PAINT_NONE,
                            .version = 1,
                            .motion = {.tick = 9009,
                                       .position = {256, 256, 256},
                                       .velocity = {640, 0, 0},
                                       .gravity = 320},
                            .projectile_kind = 6,
                            .projectile_radius = 64};
    static uint8_t rooms[2][1024];
    const SnapshotEnter enters[] = {
        {0, NET_STRUCTURE, 42, 9,
         record_of(rooms[0], NET_STRUCTURE, NULL, &structure, &detail, 9009)},
        {1, NET_PROJECTILE, 43, 0,
         record_of(rooms[1], NET_PROJECTILE, NULL, &arrow, &detail, 9009)}};
    merge_reset(&merge, 60);
    SnapshotPlan plan = {.header = first, .tick_rate = 60, .enters = enters, .enter_count = 2};
    size_t bytes = 0;
    REQUIRE(snapshot_write(&plan, frame, sizeof frame, &bytes) == STATUS_OK);
    ByteWriter out = byte_writer(text, sizeof text - 1);
    CHECK_OK(snapshot_to_json(&merge, frame, bytes, &out));
    text[out.at] = 0;
    CHECK(strstr(text, "\"build\":{\"enter\":[{\"entityId\":42,\"owner\":9,\"piece\":3,"
                       "\"cell\":[0,-4,7],\"turn\":1,\"health\":90}]}") != NULL);
    CHECK(strstr(text, "\"projectile\":{\"enter\":[{\"entityId\":43,\"owner\":0,"
                       "\"projectileKind\":6,\"radius\":0.5,\"p\":[1,1,1],\"v\":[10,0,0],"
                       "\"gravity\":10}]}") != NULL);
    CHECK(strstr(text, "\"movement\":{}") != NULL);
    static const uint8_t leaves[] = {0, 1};
    plan = (SnapshotPlan){
        .header = second, .previous = first, .tick_rate = 60, .leaves = leaves, .leave_count = 2};
    check_frame(&plan, "{\"v\":2,\"kind\":\"snapshot\",\"seq\":2,\"payload\":{\"mode\":\"delta\","
                       "\"tick\":9012,\"localAckSeq\":118,\"last_processed_sequence_id\":118,"
                       "\"features\":{\"entity\":{\"leave\":[42,43]},\"build\":{\"leave\":[42]},"
                       "\"projectile\":{\"leave\":[43]}}}}");
}

TEST(snapshot_json_bad_frames_print_nothing)
{
    send_first();
    ByteWriter out = byte_writer(text, sizeof text);
    byte_write_u8(&out, 'x');
    uint8_t events[64];
    ByteWriter writer = byte_writer(events, sizeof events);
    snapshot_event(&writer, 0, (const uint8_t *)"\x6b\x05", 2); // DIED, cut short
    const SnapshotPlan plan = {.header = second,
                               .previous = first,
                               .tick_rate = 60,
                               .events = events,
                               .event_bytes = writer.at};
    size_t bytes = 0;
    REQUIRE(snapshot_write(&plan, frame, sizeof frame, &bytes) == STATUS_OK);
    CHECK_INT(snapshot_to_json(&merge, frame, bytes, &out), STATUS_TRUNCATED);
    CHECK_INT(out.at, 1);
    CHECK_OK(out.status);
    CHECK(snapshot_to_json(&merge, frame, 3, &out) != STATUS_OK);
    CHECK_INT(snapshot_to_json(&merge, frame, bytes, &out), STATUS_MISMATCH);
    CHECK_INT(out.at, 1);
}

TEST(snapshot_json_random_entities_give_json)
{
    Rng rng = rng_make(test_seed(), 1);
    static uint8_t shape[NET_SHAPE_BYTES_MAX];
    static uint8_t attributes[1024];
    static uint8_t rooms[40][6000];
    static SnapshotEnter enters[40];
    for (uint32_t round = 0; round < 30 && test_is_passing(); round++) {
        for (uint32_t i = 0; i < 40; i++) {
            const NetKind kind = (NetKind)(1 + rng_below(&rng, NET_KIND_COUNT - 1));
            const NetState none = net_state_none;
            const NetState state = net_random_state(&rng, kind, &none, 9009);
            const NetShape random = net_random_shape(&rng);
            ByteWriter writer = byte_writer(shape, sizeof shape);
            net_shape_write(&random, &writer);
            const uint32_t attributes_bytes =
                (uint32_t)net_random_attributes(&rng, attributes, sizeof attributes);
            const DeltaDetail detail = {shape, (uint32_t)writer.at, attributes, attributes_bytes};
            BitWriter bits = bit_writer(rooms[i], sizeof rooms[i]);
            delta_encode(kind, NULL, &state, &detail, 9009, 60, &bits);
            enters[i] = (SnapshotEnter){i * 5, kind, 1 + i, i, {rooms[i], (uint32_t)bits.at}};
        }
        const SnapshotPlan plan = {
            .header = first, .tick_rate = 60, .enters = enters, .enter_count = 40};
        size_t bytes = 0;
        REQUIRE(snapshot_write(&plan, frame, sizeof frame, &bytes) == STATUS_OK);
        merge_reset(&merge, 60);
        ByteWriter out = byte_writer(text, sizeof text);
        REQUIRE(snapshot_to_json(&merge, frame, bytes, &out) == STATUS_OK);
        static _Alignas(16) uint8_t block[4 << 20];
        Arena arena;
        arena_init(&arena, block, sizeof block);
        const JsonConfig config = json_config_default(&arena);
        const JsonNode *root = NULL;
        CHECK_OK(json_parse(&config, text, out.at, &root, NULL));
    }
}

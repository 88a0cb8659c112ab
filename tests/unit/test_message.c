// The binary encoding of messages: exact bytes, a round trip of every message, and rejection of
// every kind of invalid bytes, which leaves the arena and the output unchanged.
#include "core/wire/message.h"

#include "core/base/json_write.h"
#include "core/wire/message_inside.h"
#include "tests/support/message_example.h"
#include "tests/support/test.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ARENA_BYTES (1u << 20)

static _Alignas(16) uint8_t example_block[ARENA_BYTES];
static _Alignas(16) uint8_t arena_block[ARENA_BYTES];
static uint8_t first[MESSAGE_BYTES_MAX + 16];
static uint8_t second[MESSAGE_BYTES_MAX + 16];

static Arena fresh_arena(void)
{
    Arena arena;
    arena_init(&arena, arena_block, sizeof arena_block);
    return arena;
}

static size_t encode(const Message *message, uint8_t *out)
{
    ByteWriter writer = byte_writer(out, MESSAGE_BYTES_MAX);
    if (message_row(message->number)->direction == MESSAGE_EVENT) {
        message_encode_event(message->number, message->body, &writer);
    } else {
        message_encode(message, &writer);
    }
    CHECK_OK(writer.status);
    return writer.at;
}

static Status decode(const MessageRow *row, const uint8_t *bytes, size_t count, Arena *arena,
                     Message *out)
{
    return row->direction == MESSAGE_EVENT
               ? message_decode_event(bytes, count, arena, out)
               : message_decode(bytes, count, row->direction, arena, out);
}

static Message make_example(const MessageRow *row, ExampleKind kind, Rng *rng)
{
    const ExampleConfig config = {kind, 100, 4};
    Arena arena;
    arena_init(&arena, example_block, sizeof example_block);
    Message message = {.number = row->number};
    message.body = message_example(row, &config, rng, &arena);
    if (row->direction != MESSAGE_EVENT) {
        message.seq = rng_u32(rng) >> rng_below(rng, 32);
    }
    if (row->direction == MESSAGE_UP) {
        message.client_time_ms = (double)(rng_u64(rng) >> 11);
    }
    return message;
}

// --- the table ----------------------------------------------------------------------------------
TEST(rows_are_found)
{
    uint32_t count = 0;
    for (const MessageRow *row = message_row_at(0); row != NULL; row = message_row_at(++count)) {
        CHECK(message_row(row->number) == row);
        CHECK(message_row_find(row->kind, row->feature, row->action) == row);
        CHECK(row->name[0] != 0 && row->text[0] != 0 && row->body_bytes != 0);
        CHECK_INT(row->body_bytes, message_group_bytes(message_row_group(row)));
        CHECK(row->number != MESSAGE_SNAPSHOT);
        CHECK((row->direction == MESSAGE_UP) == (row->number < 64));
        CHECK((row->direction == MESSAGE_EVENT) == (row->number >= 96));
    }
    CHECK(count > 40);
    CHECK(message_row(0) == NULL);
    CHECK(message_row(MESSAGE_SNAPSHOT) == NULL);
    CHECK(message_row(255) == NULL);
    CHECK(message_row(256 + MESSAGE_PING) == NULL);
    CHECK(message_row_find("command", "session", "dance") == NULL);
    CHECK(message_row(MESSAGE_INPUT_BATCH)->direction == MESSAGE_UP);
    CHECK_TEXT(message_row(MESSAGE_INPUT_BATCH)->name, "INPUT_BATCH");
}

// Readers and writers follow lists by calling themselves: two deep, and no deeper.
static bool holds_lists(MessageGroup group)
{
    const MessageField *field = message_fields(group);
    while (field->type != FIELD_END && field->type != FIELD_LIST) {
        field++;
    }
    return field->type == FIELD_LIST;
}

TEST(lists_in_structs_end_there)
{
    uint32_t structs = 0;
    for (MessageGroup group = 0; group < MESSAGE_GROUP_COUNT; group++) {
        structs += message_group_is_struct(group);
        const MessageField *end = message_fields(group);
        for (; end->type != FIELD_END; end++) {
            CHECK(end->type != FIELD_LIST || !message_group_is_struct(group) ||
                  !holds_lists(end->item));
            CHECK(end->type != FIELD_LIST || message_group_is_struct(end->item));
            CHECK(end->json[0] != 0 && end->text[0] != 0);
            CHECK(end->limit <= SIM_NET_ID_MAX);
            CHECK(end->type != FIELD_SINT || end->limit <= INT32_MAX);
            for (const MessageField *other = message_fields(group); other != end; other++) {
                CHECK(strcmp(other->json, end->json) != 0);
            }
        }
        CHECK_INT(end->offset, message_group_bytes(group));
    }
    CHECK_INT(structs, 9);
}

// --- bytes --------------------------------------------------------------------------------------
TEST(input_batch_has_these_bytes)
{
    const WireInputFrame frames[2] = {{.seq = 300,
                                       .tick = 1,
                                       .move_x = -127,
                                       .move_z = 127,
                                       .yaw = 65535,
                                       .pitch = -16384,
                                       .buttons = 5},
                                      {.seq = 301, .tick = 2}};
    const MessageInputBatch body = {.last_snapshot = 7,
                                    .view_tick = 128,
                                    .state_seq = 1,
                                    .state_hash = 0xffffffff,
                                    .inputs = frames,
                                    .inputs_count = 2};
    const Message message = {MESSAGE_INPUT_BATCH, 9, 1234.9, &body};
    static const uint8_t want[] = {
        3,    9,    0xd2, 0x09,                                     // number, seq, time
        7,    0x80, 0x01, 1,    0xff, 0xff, 0xff, 0xff, 0x0f, 2,    // to the number of inputs
        0xac, 0x02, 1,    0xfd, 0x01, 0xfe, 0x01, 0xff, 0xff, 0x03, // seq, tick, move, yaw
        0xff, 0xff, 0x01, 5,                                        // pitch, buttons
        0xad, 0x02, 2,    0,    0,    0,    0,    0};
    CHECK_INT(encode(&message, first), sizeof want);
    CHECK_BYTES(first, want, sizeof want);
    Arena arena = fresh_arena();
    Message back = {0};
    REQUIRE(message_decode(want, sizeof want, MESSAGE_UP, &arena, &back) == STATUS_OK);
    CHECK_INT(back.number, MESSAGE_INPUT_BATCH);
    CHECK_INT(back.seq, 9);
    CHECK_NEAR(back.client_time_ms, 1234, 0);
    const MessageInputBatch *batch = back.body;
    REQUIRE(batch->inputs_count == 2);
    CHECK_INT(batch->view_tick, 128);
    CHECK_INT(batch->state_hash, 0xffffffff);
    CHECK_INT(batch->inputs[0].seq, 300);
    CHECK_INT(batch->inputs[0].move_x, -127);
    CHECK_INT(batch->inputs[0].move_z, 127);
    CHECK_INT(batch->inputs[0].pitch, -16384);
    CHECK_INT(batch->inputs[1].tick, 2);
}

TEST(event_has_these_bytes)
{
    const MessageSound body = {.id = 9,
                               .name = {"bo\xc3\xb6", 4},
                               .loop = true,
                               .entity_id = 300,
                               .has_position = true,
                               .position = {1, -2, 0.5f},
                               .volume = 1,
                               .pitch = 2,
                               .caption = {"o", 1}};
    static const uint8_t want[] = {110,  9, 4,    'b',  'o',  0xc3, 0xb6, 1,    0xac, 2, 1,
                                   0,    0, 0x80, 0x3f, 0,    0,    0,    0xc0, 0,    0, 0,
                                   0x3f, 0, 0,    0x80, 0x3f, 0,    0,    0,    0x40, 1, 'o'};
    const Message message = {.number = MESSAGE_SOUND, .body = &body};
    CHECK_INT(encode(&message, first), sizeof want);
    CHECK_BYTES(first, want, sizeof want);
}

static void check_round_trip(const MessageRow *row, const Message *message)
{
    const size_t count = encode(message, first);
    Arena arena = fresh_arena();
    Message back = {0};
    CHECK_OK(decode(row, first, count, &arena, &back));
    if (!test_is_passing()) {
        return;
    }
    CHECK((uintptr_t)back.body % 16 == 0);
    CHECK_OK(message_check(back.number, back.body));
    CHECK_INT(back.seq, message->seq);
    CHECK(back.client_time_ms == message->client_time_ms);
    CHECK_INT(encode(&back, second), count);
    CHECK_BYTES(second, first, count);
}

TEST(every_message_comes_back)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t i = 0; message_row_at(i) != NULL; i++) {
        const MessageRow *row = message_row_at(i);
        Message message = make_example(row, EXAMPLE_EMPTY, &rng);
        check_round_trip(row, &message);
        message = make_example(row, EXAMPLE_LARGEST, &rng);
        check_round_trip(row, &message);
        for (uint32_t round = 0; round < 30 && test_is_passing(); round++) {
            message = make_example(row, EXAMPLE_FILLED, &rng);
            check_round_trip(row, &message);
        }
    }
}

// --- bad bytes ----------------------------------------------------------------------------------
static void check_refused(const MessageRow *row, const uint8_t *bytes, size_t count, Status want)
{
    Arena arena = fresh_arena();
    CHECK(arena_alloc(&arena, 32) != NULL);
    Message out = {.seq = 77};
    const Status status = decode(row, bytes, count, &arena, &out);
    if (status != want) {
        test_fail(__FILE__, __LINE__, "%s: %s, not %s", row->name, status_name(status),
                  status_name(want));
    }
    CHECK_INT(arena.used, 32);
    CHECK_INT(out.seq, 77);
    CHECK(out.body == NULL);
}

TEST(cut_and_overlong_bytes_are_refused)
{
    Rng rng = rng_make(test_seed(), 2);
    for (uint32_t i = 0; message_row_at(i) != NULL && test_is_passing(); i++) {
        const MessageRow *row = message_row_at(i);
        const Message message = make_example(row, EXAMPLE_FILLED, &rng);
        const size_t count = encode(&message, first);
        for (size_t cut = 0; cut < count; cut++) {
            check_refused(row, first, cut, STATUS_TRUNCATED);
        }
        first[count] = 0;
        check_refused(row, first, count + 1, STATUS_MALFORMED);
    }
}

// A field past its limit, in a body that is otherwise fine; on one of three axes, on either side.
static void break_field(const MessageField *field, uint8_t *body, uint32_t way)
{
    static const char too_long[9000] = "";
    void *value = body + field->offset;
    const int32_t sign = way % 2 == 0 ? 1 : -1;
    const bool is_vector = field->type == FIELD_COORD || field->type == FIELD_VEC3;
    const uint32_t axis = is_vector ? way / 2 : 0;
    switch (field->type) {
    case FIELD_UINT:
        *(uint64_t *)value = field->limit + 1;
        break;
    case FIELD_SINT:
    case FIELD_COORD:
        ((int32_t *)value)[axis] = sign * ((int32_t)field->limit + 1);
        break;
    case FIELD_F32:
    case FIELD_VEC3:
        ((float *)value)[axis] = (float)sign * nextafterf(field->magnitude, FLT_MAX);
        break;
    case FIELD_TEXT:
        *(Text *)value = (Text){too_long, (uint32_t)field->limit + 1};
        break;
    case FIELD_BYTES:
        *(WireBytes *)value = (WireBytes){first, (uint32_t)field->limit + 1};
        break;
    case FIELD_LIST:
        *(uint32_t *)(void *)(body + field->count_offset) = (uint32_t)field->limit + 1;
        break;
    default:
        break;
    }
}

// As bytes, without looking at limits: what a stranger would send. Gives the length.
static void encode_anyway(MessageGroup group, const uint8_t *body, ByteWriter *writer)
{
    for (const MessageField *field = message_fields(group); field->type != FIELD_END; field++) {
        const void *value = body + field->offset;
        switch (field->type) {
        case FIELD_UINT:
            byte_write_varint(writer, *(const uint64_t *)value);
            break;
        case FIELD_SINT:
        case FIELD_COORD:
            for (uint32_t i = 0; i < (field->type == FIELD_COORD ? 3u : 1u); i++) {
                const int64_t v = ((const int32_t *)value)[i];
                byte_write_varint(writer, v < 0 ? 2 * (uint64_t)-v - 1 : 2 * (uint64_t)v);
            }
            break;
        case FIELD_BOOL:
            byte_write_u8(writer, *(const uint8_t *)value);
            break;
        case FIELD_F32:
        case FIELD_VEC3:
            byte_write_bytes(writer, value, field->type == FIELD_VEC3 ? 12 : 4);
            break;
        case FIELD_HASH:
            byte_write_bytes(writer, value, 32);
            break;
        case FIELD_TEXT:
            byte_write_varint(writer, ((const Text *)value)->bytes);
            byte_write_bytes(writer, ((const Text *)value)->data, ((const Text *)value)->bytes);
            break;
        case FIELD_BYTES: {
            const WireBytes *bytes = value;
            byte_write_varint(writer, bytes->bytes);
            byte_write_bytes(writer, bytes->data, bytes->bytes);
            break;
        }
        default: {
            const uint32_t count = *(const uint32_t *)(const void *)(body + field->count_offset);
            const uint8_t *items = *(const uint8_t *const *)value;
            byte_write_varint(writer, count);
            for (uint32_t i = 0; i < count && count <= field->limit; i++) {
                encode_anyway(field->item, items + i * message_group_bytes(field->item), writer);
            }
        }
        }
    }
}

static void check_broken(const MessageRow *row, const Message *message)
{
    ByteWriter writer = byte_writer(second, MESSAGE_BYTES_MAX);
    byte_write_u8(&writer, row->number);
    if (row->direction != MESSAGE_EVENT) {
        byte_write_varint(&writer, message->seq);
    }
    if (row->direction == MESSAGE_UP) {
        byte_write_varint(&writer, 0);
    }
    encode_anyway(message_row_group(row), message->body, &writer);
    CHECK_OK(writer.status);
    CHECK_INT(message_check(row->number, message->body), STATUS_RANGE);
    check_refused(row, second, writer.at, STATUS_RANGE);
}

// Breaks `field` of the message, or `inside` of the first item of that list, in every way.
static uint32_t check_field(const MessageRow *row, const MessageField *field,
                            const MessageField *inside, Rng *rng)
{
    const FieldType type = inside == NULL ? field->type : inside->type;
    if (type == FIELD_BOOL || type == FIELD_HASH) {
        return 0;
    }
    for (uint32_t way = 0; way < 6 && test_is_passing(); way++) {
        const Message message = make_example(row, EXAMPLE_FILLED, rng);
        uint8_t *body = (uint8_t *)(uintptr_t)message.body;
        if (inside == NULL) {
            break_field(field, body, way);
        } else {
            break_field(inside, *(uint8_t **)(void *)(body + field->offset), way);
        }
        check_broken(row, &message);
    }
    return 1;
}

TEST(every_limit_holds)
{
    Rng rng = rng_make(test_seed(), 3);
    uint32_t broken = 0;
    for (uint32_t i = 0; message_row_at(i) != NULL && test_is_passing(); i++) {
        const MessageRow *row = message_row_at(i);
        const MessageField *field = message_fields(message_row_group(row));
        for (; field->type != FIELD_END; field++) {
            broken += check_field(row, field, NULL, &rng);
            if (field->type != FIELD_LIST) {
                continue;
            }
            const MessageField *inside = message_fields(field->item);
            for (; inside->type != FIELD_END; inside++) {
                broken += check_field(row, field, inside, &rng);
            }
        }
    }
    CHECK(broken > 150);
}

TEST(bad_values_are_refused)
{
    const MessageRow *chat = message_row(MESSAGE_CHAT_SAY);
    const MessageRow *sound = message_row(MESSAGE_SOUND);
    const MessageRow *ping = message_row(MESSAGE_PING);
    check_refused(chat, (const uint8_t[]){16, 1, 1, 2, 0xc3, 0x28}, 6, STATUS_MALFORMED);
    check_refused(chat, (const uint8_t[]){16, 1, 1, 3, 0xed, 0xa0, 0x80}, 7, STATUS_MALFORMED);
    check_refused(chat, (const uint8_t[]){16, 1, 1, 3, 'a', 0, 'b'}, 7, STATUS_MALFORMED);
    check_refused(ping, (const uint8_t[]){2, 1, 1, 0x80, 0}, 5, STATUS_MALFORMED); // not shortest
    check_refused(ping, (const uint8_t[]){2, 0x81, 0, 1, 0}, 5, STATUS_MALFORMED);
    check_refused(ping, (const uint8_t[]){2, 0x80, 0x80, 0x80, 0x80, 0x10, 1, 0}, 8, STATUS_RANGE);
    check_refused(sound, (const uint8_t[]){110, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                           0,   0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                  27, STATUS_MALFORMED); // a bool of 2
    check_refused(sound, (const uint8_t[]){110, 0, 0, 0, 0, 1, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0,
                                           0,   0, 0, 0, 0, 0, 0, 0, 0,    0,    0, 0, 0},
                  27, STATUS_RANGE); // not a number
    check_refused(sound, (const uint8_t[]){110, 0, 0, 0, 0, 1, 0, 0, 0x80, 0xff, 0, 0, 0, 0,
                                           0,   0, 0, 0, 0, 0, 0, 0, 0,    0,    0, 0, 0},
                  27, STATUS_RANGE); // minus infinity
    check_refused(ping, NULL, 0, STATUS_TRUNCATED);
    check_refused(ping, first, MESSAGE_BYTES_MAX + 1, STATUS_LIMIT);
}

TEST(a_count_that_nothing_follows_costs_no_memory)
{
    Arena arena = fresh_arena();
    Message out;
    CHECK_INT(message_decode_event((const uint8_t[]){99, 64, 0, 0}, 4, &arena, &out),
              STATUS_TRUNCATED);
    CHECK_INT(arena.used_peak, arena_need(sizeof(MessageChunkVersions)));
}

TEST(numbers_have_a_direction)
{
    const uint8_t ping[] = {MESSAGE_PING, 1, 1, 0};
    const uint8_t pong[] = {MESSAGE_PONG, 1, 1, 0};
    const uint8_t left[] = {MESSAGE_PLAYER_LEFT, 1};
    const uint8_t snapshot[] = {MESSAGE_SNAPSHOT, 1, 1, 0};
    Arena arena = fresh_arena();
    Message out;
    CHECK_OK(message_decode(ping, 4, MESSAGE_UP, &arena, &out));
    CHECK_OK(message_decode(pong, 4, MESSAGE_DOWN, &arena, &out));
    CHECK_OK(message_decode_event(left, 2, &arena, &out));
    CHECK_INT(message_decode(ping, 4, MESSAGE_DOWN, &arena, &out), STATUS_UNSUPPORTED);
    CHECK_INT(message_decode(pong, 4, MESSAGE_UP, &arena, &out), STATUS_UNSUPPORTED);
    CHECK_INT(message_decode(left, 2, MESSAGE_DOWN, &arena, &out), STATUS_UNSUPPORTED);
    CHECK_INT(message_decode_event(pong, 4, &arena, &out), STATUS_UNSUPPORTED);
    CHECK_INT(message_decode(snapshot, 4, MESSAGE_DOWN, &arena, &out), STATUS_UNSUPPORTED);
    CHECK_INT(message_decode((const uint8_t[]){200}, 1, MESSAGE_UP, &arena, &out),
              STATUS_UNSUPPORTED);
}

TEST(a_small_arena_is_a_limit)
{
    Rng rng = rng_make(test_seed(), 4);
    const MessageRow *row = message_row(MESSAGE_CHUNK_REQUEST);
    const Message message = make_example(row, EXAMPLE_LARGEST, &rng);
    const size_t count = encode(&message, first);
    Arena arena = fresh_arena();
    Message out;
    CHECK_OK(decode(row, first, count, &arena, &out));
    const size_t need = arena.used;
    CHECK(need > 100);
    for (size_t bytes = 0; bytes < need; bytes += 16) {
        arena_init(&arena, arena_block, bytes);
        CHECK_INT(decode(row, first, count, &arena, &out), STATUS_LIMIT);
        CHECK_INT(arena.used, 0);
    }
}

TEST(random_bytes_give_a_message_or_a_status)
{
    Rng rng = rng_make(test_seed(), 5);
    uint32_t good = 0;
    for (uint32_t round = 0; round < 20000 && test_is_passing(); round++) {
        const MessageRow *row = message_row_at(round % 48);
        const Message message = make_example(row, EXAMPLE_FILLED, &rng);
        const size_t count = encode(&message, first);
        for (uint32_t i = 0; i < 1 + round % 3; i++) {
            const uint32_t at = 1 + rng_below(&rng, (uint32_t)count);
            first[at] = (uint8_t)rng_u32(&rng); // may be the byte behind the last
        }
        Arena arena = fresh_arena();
        Message back;
        if (decode(row, first, count, &arena, &back) == STATUS_OK) {
            good++;
            CHECK_INT(encode(&back, second), count);
            CHECK_BYTES(second, first, count);
        } else {
            CHECK_INT(arena.used, 0);
        }
    }
    CHECK(good > 100);
}

// --- our own bugs -------------------------------------------------------------------------------
static void encode_dead(void *user)
{
    const Message *message = user;
    ByteWriter writer = byte_writer(second, sizeof second);
    message_encode(message, &writer);
}

TEST(encoding_past_a_limit_dies)
{
    const MessageBuildPlace place = {.turn = 4};
    const MessageChatSay bad_text = {.text = {"\xff", 1}};
    const MessagePing ping = {0};
    const MessageDied died = {0};
    const MessageInputBatch no_list = {.inputs_count = 1};
    Message dead[] = {{MESSAGE_BUILD_PLACE, 1, 0, &place},
                      {MESSAGE_CHAT_SAY, 1, 0, &bad_text},
                      {MESSAGE_PING, 1, -1, &ping},
                      {MESSAGE_DIED, 1, 0, &died},
                      {MESSAGE_INPUT_BATCH, 1, 0, &no_list},
                      {MESSAGE_SNAPSHOT, 1, 0, &ping},
                      {MESSAGE_PING, 1, 0, NULL}};
    for (size_t i = 0; i < sizeof dead / sizeof dead[0]; i++) {
        CHECK(test_dies(encode_dead, &dead[i]));
    }
}

TEST(a_full_writer_is_a_limit)
{
    const MessagePong pong = {.nonce = 5, .tick = 300};
    const Message message = {MESSAGE_PONG, 1, 0, &pong};
    const size_t count = encode(&message, first);
    for (size_t room = 0; room <= count; room++) {
        ByteWriter writer = byte_writer(second, room);
        message_encode(&message, &writer);
        CHECK_INT(writer.status, room == count ? STATUS_OK : STATUS_LIMIT);
    }
}

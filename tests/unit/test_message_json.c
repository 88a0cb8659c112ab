// Messages as JSON: the shapes of the documents, round trips, and errors that name the position.
#include "core/wire/message.h"

#include "tests/support/message_example.h"
#include "tests/support/test.h"

#include <string.h>

#define TEXT_BYTES (1u << 20)

static _Alignas(16) uint8_t example_block[1 << 20];
static _Alignas(16) uint8_t arena_block[MESSAGE_JSON_ARENA_BYTES];
static char first[TEXT_BYTES];
static char second[TEXT_BYTES];
static uint8_t bytes_before[MESSAGE_BYTES_MAX];
static uint8_t bytes_after[MESSAGE_BYTES_MAX];

static Status read_json(const char *text, MessageDirection direction, Message *out,
                        MessageJsonError *error)
{
    Arena arena;
    arena_init(&arena, arena_block, sizeof arena_block);
    const Status status = message_from_json(text, strlen(text), direction, &arena, out, error);
    CHECK_INT(status, error->where.status);
    CHECK((status == STATUS_OK) == (error->code == ERROR_NONE));
    CHECK(status == STATUS_OK || arena.used == 0);
    return status;
}

static const char *write_json(const Message *message, char *out)
{
    ByteWriter writer = byte_writer(out, TEXT_BYTES - 1);
    message_to_json(message, &writer);
    CHECK_OK(writer.status);
    out[writer.at] = 0;
    return out;
}

static size_t write_binary(const Message *message, uint8_t *out)
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

static Text text_of(const char *text)
{
    return (Text){text, (uint32_t)strlen(text)};
}

// --- shapes -------------------------------------------------------------------------------------
TEST(welcome_has_this_shape)
{
    const MessageWelcome body = {.schema = 3,
                                 .world_id = text_of("world_a1"),
                                 .room_code = text_of("K7QX2M"),
                                 .player_id = text_of("p_9"),
                                 .player = 3,
                                 .entity_id = 42,
                                 .tick = 9001,
                                 .tick_rate = 60,
                                 .snapshot_rate = 20,
                                 .resume_token = text_of("r"),
                                 .manifest_version = 3,
                                 .view_radius = 96.5f,
                                 .epoch = 2};
    const Message message = {MESSAGE_WELCOME, 1, 0, &body};
    CHECK_TEXT(
        write_json(&message, first),
        "{\"v\":2,\"kind\":\"welcome\",\"seq\":1,\"feature\":\"session\",\"action\":"
        "\"welcome\",\"payload\":{\"schema\":3,\"worldId\":\"world_a1\",\"roomCode\":\"K7QX2M\","
        "\"playerId\":\"p_9\",\"player\":3,\"entityId\":42,\"tick\":9001,\"tickRate\":60,"
        "\"snapshotRate\":20,\"resumeToken\":\"r\",\"resumed\":false,\"manifestVersion\":3,"
        "\"sceneHash\":\"sha256:"
        "0000000000000000000000000000000000000000000000000000000000000000\","
        "\"sceneBytes\":0,\"placeName\":\"\",\"viewRadius\":96.5,\"epoch\":2}}");
}

TEST(design_welcome_is_read)
{
    Message out;
    MessageJsonError error;
    CHECK_OK(read_json(
        "{\"v\":2,\"kind\":\"welcome\",\"seq\":1,\"feature\":\"session\","
        "\"action\":\"welcome\",\"payload\":{\"schema\":3,\"worldId\":\"world_a1\",\"roomCode\":"
        "\"K7QX2M\",\n \"playerId\":\"p_9\",\"entityId\":42,\"tick\":9001,"
        "\"tickRate\":60,\"snapshotRate\":20,\"resumeToken\":\"\xe2\x80\xa6\","
        "\"manifestVersion\":3}}",
        MESSAGE_DOWN, &out, &error));
    REQUIRE(test_is_passing());
    const MessageWelcome *welcome = out.body;
    CHECK_INT(out.number, MESSAGE_WELCOME);
    CHECK_INT(welcome->entity_id, 42);
    CHECK_INT(welcome->resume_token.bytes, 3);
    CHECK_INT(welcome->scene_hash.bytes[5], 0);
}

TEST(room_document_input_batch_is_read)
{
    Message out;
    MessageJsonError error;
    CHECK_OK(read_json("{\n  \"v\": 2,\n  \"kind\": \"command\",\n  \"seq\": 42,\n  \"feature\": "
                       "\"movement\",\n  \"action\": \"input_batch\",\n  \"clientTime\": 1234.56,\n"
                       "  \"payload\": {\n    \"inputs\": [{ \"seq\": 101, \"up\": true, \"down\": "
                       "false, \"left\": false, \"right\": true }]\n  }\n}",
                       MESSAGE_UP, &out, &error));
    REQUIRE(test_is_passing());
    const MessageInputBatch *batch = out.body;
    CHECK_INT(out.seq, 42);
    CHECK_NEAR(out.client_time_ms, 1234.56, 0);
    REQUIRE(batch->inputs_count == 1);
    CHECK_INT(batch->inputs[0].seq, 101);
    CHECK_INT(batch->inputs[0].tick, 0);
    CHECK_INT(batch->inputs[0].move_x, 127);
    CHECK_INT(batch->inputs[0].move_z, 127);
}

static const WireInputFrame *read_frame(const char *frame, MessageJsonError *error)
{
    static Message out;
    char text[512] = "{\"v\":2,\"kind\":\"command\",\"feature\":\"movement\",\"action\":"
                     "\"input_batch\",\"payload\":{\"inputs\":[";
    const size_t head = strlen(text);
    memcpy(text + head, frame, strlen(frame));
    memcpy(text + head + strlen(frame), "]}}", 4);
    if (read_json(text, MESSAGE_UP, &out, error) != STATUS_OK) {
        return NULL;
    }
    return ((const MessageInputBatch *)out.body)->inputs;
}

static void check_frame(const char *frame, WireInputFrame want)
{
    MessageJsonError error;
    const WireInputFrame *got = read_frame(frame, &error);
    if (got == NULL) {
        test_fail(__FILE__, __LINE__, "%s: %s %s", frame, error.where.path, error.where.message);
        return;
    }
    if (got->move_x != want.move_x || got->move_z != want.move_z || got->yaw != want.yaw ||
        got->pitch != want.pitch || got->buttons != want.buttons) {
        test_fail(__FILE__, __LINE__, "%s: %d %d %d %d %d", frame, (int)got->move_x,
                  (int)got->move_z, (int)got->yaw, (int)got->pitch, (int)got->buttons);
    }
}

TEST(inputs_have_several_forms)
{
    check_frame("{}", (WireInputFrame){0});
    check_frame("{\"up\":true,\"down\":true}", (WireInputFrame){0});
    check_frame("{\"down\":true}", (WireInputFrame){.move_z = -127});
    check_frame("{\"left\":true}", (WireInputFrame){.move_x = -127});
    check_frame("{\"move\":[1,-1]}", (WireInputFrame){.move_x = 127, .move_z = -127});
    check_frame("{\"move\":[0.5,-0.5]}", (WireInputFrame){.move_x = 64, .move_z = -64});
    check_frame("{\"moveX\":3,\"moveZ\":-4}", (WireInputFrame){.move_x = 3, .move_z = -4});
    check_frame("{\"yawRadians\":1.5707963267948966}", (WireInputFrame){.yaw = 16384});
    check_frame("{\"yawRadians\":-1.5707963267948966}", (WireInputFrame){.yaw = 49152});
    check_frame("{\"yawRadians\":3.1415927}", (WireInputFrame){.yaw = 32768});
    check_frame("{\"yawRadians\":-0.000001}", (WireInputFrame){.yaw = 0});
    check_frame("{\"yawRadians\":7.853981633974483}", (WireInputFrame){.yaw = 16384});
    check_frame("{\"pitchRadians\":9}", (WireInputFrame){.pitch = 16384});
    check_frame("{\"pitchRadians\":-0.7853981633974483}", (WireInputFrame){.pitch = -8192});
    check_frame("{\"yaw\":5,\"pitch\":-6}", (WireInputFrame){.yaw = 5, .pitch = -6});
    check_frame("{\"fire\":true,\"jump\":false,\"buttons\":16}", (WireInputFrame){.buttons = 20});
    check_frame("{\"jump\":true,\"run\":true,\"use\":true}", (WireInputFrame){.buttons = 11});
}

static void check_frame_refused(const char *frame, const char *path)
{
    MessageJsonError error;
    if (read_frame(frame, &error) != NULL) {
        test_fail(__FILE__, __LINE__, "%s was taken", frame);
        return;
    }
    CHECK_TEXT(error_name(error.code), "malformed");
    CHECK_TEXT(error.where.path, path);
}

TEST(bad_inputs_say_where)
{
    check_frame_refused("{\"up\":true,\"moveX\":0}", "$.payload.inputs[0]");
    check_frame_refused("{\"up\":true,\"move\":[0,0]}", "$.payload.inputs[0]");
    check_frame_refused("{\"move\":[0,0],\"moveZ\":1}", "$.payload.inputs[0]");
    check_frame_refused("{\"move\":[0,1.01]}", "$.payload.inputs[0].move[1]");
    check_frame_refused("{\"move\":[0]}", "$.payload.inputs[0].move");
    check_frame_refused("{\"up\":1}", "$.payload.inputs[0].up");
    check_frame_refused("{\"yaw\":1,\"yawRadians\":1}", "$.payload.inputs[0].yawRadians");
    check_frame_refused("{\"pitch\":1,\"pitchRadians\":1}", "$.payload.inputs[0].pitchRadians");
    check_frame_refused("{\"yawRadians\":1e300}", "$.payload.inputs[0].yawRadians");
    check_frame_refused("{\"yaw\":65536}", "$.payload.inputs[0].yaw");
    check_frame_refused("{\"moveX\":0.5}", "$.payload.inputs[0].moveX");
    check_frame_refused("{\"jmup\":true}", "$.payload.inputs[0].jmup");
    check_frame_refused("[]", "$.payload.inputs[0]");
    check_frame_refused("{},{},{},{},{},{},{},{},{}", "$.payload.inputs");
}

TEST(script_paths_are_strings)
{
    Message out;
    MessageJsonError error;
    const char *text = "{\"v\":2,\"kind\":\"command\",\"seq\":3,\"feature\":\"script\",\"action\":"
                       "\"ScriptRequest\",\"clientTime\":0,\"payload\":{\"script_paths\":["
                       "\"Workspace/Door\",\"StarterGui/HUD\"],\"from_chunk\":0,\"encoding\":1}}";
    CHECK_OK(read_json(text, MESSAGE_UP, &out, &error));
    REQUIRE(test_is_passing());
    const MessageScriptRequest *request = out.body;
    REQUIRE(request->script_paths_count == 2);
    CHECK_INT(request->script_paths[1].path.bytes, 14);
    CHECK_TEXT(write_json(&out, first), text);
}

TEST(bytes_and_hashes)
{
    WireHash hash = {{0xde, 0xad}};
    const MessageBlobChunk body = {
        .hash = hash, .total_chunks = 1, .data = {(const uint8_t *)"fooba", 5}};
    const Message message = {MESSAGE_BLOB_CHUNK, 1, 0, &body};
    const char *text = write_json(&message, first);
    CHECK(strstr(text, "\"hash\":\"sha256:dead00000000") != NULL);
    CHECK(strstr(text, "\"data\":\"Zm9vYmE=\"") != NULL);
}

// --- ways to name a message ---------------------------------------------------------------------
TEST(kinds_with_one_row_need_no_names)
{
    Message out;
    MessageJsonError error;
    CHECK_OK(read_json("{\"v\":2,\"kind\":\"ping\"}", MESSAGE_UP, &out, &error));
    CHECK_INT(out.number, MESSAGE_PING);
    CHECK_OK(read_json("{\"v\":2,\"kind\":\"ping\",\"seq\":8,\"payload\":{\"nonce\":5}}",
                       MESSAGE_UP, &out, &error));
    CHECK_INT(((const MessagePing *)out.body)->nonce, 5);
    CHECK_OK(read_json("{\"v\":2,\"kind\":\"pong\"}", MESSAGE_DOWN, &out, &error));
    CHECK_INT(out.number, MESSAGE_PONG);
    CHECK_INT(read_json("{\"v\":2,\"kind\":\"ping\"}", MESSAGE_DOWN, &out, &error),
              STATUS_UNSUPPORTED);
    CHECK_INT(read_json("{\"v\":2,\"kind\":\"command\"}", MESSAGE_UP, &out, &error),
              STATUS_UNSUPPORTED);
    CHECK_TEXT(error_name(error.code), "unknown_action");
}

static void check_refused(const char *text, MessageDirection direction, Status status,
                          const char *code, const char *path)
{
    Message out = {.seq = 77};
    MessageJsonError error;
    const Status got = read_json(text, direction, &out, &error);
    if (got != status) {
        test_fail(__FILE__, __LINE__, "%s: %s", text, status_name(got));
        return;
    }
    CHECK_TEXT(error_name(error.code), code);
    CHECK_TEXT(error.where.path, path);
    CHECK_INT(out.seq, 77);
}

TEST(bad_envelopes_are_refused)
{
    const Status bad = STATUS_MALFORMED;
    const Status no = STATUS_UNSUPPORTED;
    check_refused("{\"v\":1,\"kind\":\"ping\"}", MESSAGE_UP, no, "unsupported_version", "$.v");
    check_refused("{\"v\":3,\"new\":1}", MESSAGE_UP, no, "unsupported_version", "$.v");
    check_refused("{\"v\":\"2\",\"kind\":\"ping\"}", MESSAGE_UP, no, "unsupported_version", "$.v");
    check_refused("{\"kind\":\"ping\"}", MESSAGE_UP, no, "unsupported_version", "$.v");
    check_refused("{\"v\":2}", MESSAGE_UP, STATUS_NOT_FOUND, "malformed", "$.kind");
    check_refused("{\"v\":2,\"kind\":7}", MESSAGE_UP, bad, "malformed", "$.kind");
    check_refused("{\"v\":2,\"kind\":\"command\",\"feature\":\"movement\"}", MESSAGE_UP, no,
                  "unknown_action", "$");
    check_refused("{\"v\":2,\"kind\":\"command\",\"feature\":\"dance\",\"action\":\"tango\"}",
                  MESSAGE_UP, no, "unknown_action", "$");
    check_refused("{\"v\":2,\"kind\":\"ping\",\"feature\":\"movement\",\"action\":\"input_batch\"}",
                  MESSAGE_UP, no, "unknown_action", "$");
    check_refused("{\"v\":2,\"kind\":\"command\",\"feature\":\"session\",\"action\":\"leave\"}",
                  MESSAGE_DOWN, no, "unknown_action", "$");
    check_refused("{\"v\":2,\"kind\":\"pong\"}", MESSAGE_UP, no, "unknown_action", "$");
    check_refused("{\"v\":2,\"kind\":\"snapshot\"}", MESSAGE_DOWN, no, "unknown_action", "$");
    check_refused("{\"v\":2,\"kind\":\"ping\",\"sequ\":1}", MESSAGE_UP, bad, "malformed", "$.sequ");
    check_refused("{\"v\":2,\"kind\":\"ping\",\"seq\":-1}", MESSAGE_UP, STATUS_RANGE, "malformed",
                  "$.seq");
    check_refused("{\"v\":2,\"kind\":\"ping\",\"seq\":4294967296}", MESSAGE_UP, STATUS_RANGE,
                  "malformed", "$.seq");
    check_refused("{\"v\":2,\"kind\":\"ping\",\"clientTime\":-1}", MESSAGE_UP, STATUS_RANGE,
                  "malformed", "$.clientTime");
    check_refused("{\"v\":2,\"kind\":\"pong\",\"clientTime\":1}", MESSAGE_DOWN, bad, "malformed",
                  "$.clientTime");
    check_refused("{\"v\":2,\"kind\":\"ping\",\"payload\":[]}", MESSAGE_UP, bad, "malformed",
                  "$.payload");
    check_refused("{\"v\":2,\"kind\":\"ping\",\"payload\":{\"nonse\":1}}", MESSAGE_UP, bad,
                  "malformed", "$.payload.nonse");
    check_refused("[]", MESSAGE_UP, bad, "malformed", "$");
    check_refused("", MESSAGE_UP, STATUS_TRUNCATED, "malformed", "$");
    check_refused("{\"v\":2,\"v\":2}", MESSAGE_UP, bad, "malformed", "$.v");
}

#define DOWN_EVENT(feature, action, payload)                                                  \
    "{\"v\":2,\"kind\":\"event\",\"feature\":\"" feature "\",\"action\":\"" action "\",\"pay" \
    "load\":" payload "}"

TEST(bad_values_are_refused)
{
    const Status range = STATUS_RANGE;
    const Status bad = STATUS_MALFORMED;
    check_refused(DOWN_EVENT("voxel", "chunk", "{\"data\":\"A\"}"), MESSAGE_DOWN, bad, "malformed",
                  "$.payload.data");
    check_refused(DOWN_EVENT("voxel", "chunk", "{\"at\":[0,0]}"), MESSAGE_DOWN, range, "malformed",
                  "$.payload.at");
    check_refused(DOWN_EVENT("voxel", "chunk", "{\"at\":[0,0,513]}"), MESSAGE_DOWN, range,
                  "malformed", "$.payload.at[2]");
    check_refused(DOWN_EVENT("session", "blob", "{\"hash\":\"sha256:00\"}"), MESSAGE_DOWN, bad,
                  "malformed", "$.payload.hash");
    check_refused(DOWN_EVENT("session", "blob",
                             "{\"hash\":\"sha256:"
                             "000000000000000000000000000000000000000000000000000000000000000G\"}"),
                  MESSAGE_DOWN, bad, "malformed", "$.payload.hash");
    check_refused(DOWN_EVENT("chat", "said", "{\"text\":\"a\\u0000b\"}"), MESSAGE_DOWN, bad,
                  "malformed", "$.payload.text");
    check_refused(DOWN_EVENT("chat", "said", "{\"text\":null}"), MESSAGE_DOWN, bad, "malformed",
                  "$.payload.text");
    check_refused(DOWN_EVENT("script", "sound", "{\"volume\":16.5}"), MESSAGE_DOWN, range,
                  "malformed", "$.payload.volume");
    check_refused(DOWN_EVENT("script", "sound", "{\"p\":[0,1e9,0]}"), MESSAGE_DOWN, range,
                  "malformed", "$.payload.p[1]");
    check_refused(DOWN_EVENT("entity", "died", "{\"entityId\":9007199254740992}"), MESSAGE_DOWN,
                  range, "malformed", "$.payload.entityId");
}

TEST(bytes_past_the_limit_are_refused)
{
    char *at = first;
    const char *head = "{\"v\":2,\"kind\":\"event\",\"feature\":\"script\",\"action\":"
                       "\"ScriptManifest\",\"payload\":{\"signature\":\"";
    memcpy(at, head, strlen(head));
    at += strlen(head);
    memset(at, 'A', 88); // 66 bytes, two more than fit
    memcpy(at + 88, "\"}}", 4);
    Message out;
    MessageJsonError error;
    CHECK_INT(read_json(first, MESSAGE_DOWN, &out, &error), STATUS_RANGE);
    memcpy(at + 86, "==\"}}", 6); // 64
    CHECK_OK(read_json(first, MESSAGE_DOWN, &out, &error));
}

// --- there and back -----------------------------------------------------------------------------
static void check_round_trip(const Message *message)
{
    const size_t count = write_binary(message, bytes_before);
    write_json(message, first);
    const MessageRow *row = message_row(message->number);
    Message back;
    MessageJsonError error;
    if (read_json(first, row->direction, &back, &error) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s: %s %s", row->name, error.where.path,
                  error.where.message);
        return;
    }
    CHECK(back.client_time_ms == message->client_time_ms);
    CHECK_INT(write_binary(&back, bytes_after), count);
    CHECK_BYTES(bytes_after, bytes_before, count);
    CHECK_TEXT(write_json(&back, second), first);
}

TEST(every_message_comes_back)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t i = 0; message_row_at(i) != NULL; i++) {
        const MessageRow *row = message_row_at(i);
        for (uint32_t round = 0; round < 20 && test_is_passing(); round++) {
            const ExampleKind kind = round == 0   ? EXAMPLE_EMPTY
                                     : round == 1 ? EXAMPLE_LARGEST
                                                  : EXAMPLE_FILLED;
            const ExampleConfig config = {kind, 100, 4};
            Arena arena;
            arena_init(&arena, example_block, sizeof example_block);
            Message message = {.number = row->number};
            message.body = message_example(row, &config, &rng, &arena);
            message.seq = row->direction == MESSAGE_EVENT ? 0 : rng_u32(&rng);
            if (row->direction == MESSAGE_UP) {
                message.client_time_ms = (double)rng_below(&rng, 1000000) + 0.125;
            }
            check_round_trip(&message);
        }
    }
}

TEST(the_largest_message_fits)
{
    const ExampleConfig config = {EXAMPLE_LARGEST, 20, 512};
    Arena arena;
    arena_init(&arena, example_block, sizeof example_block);
    Rng rng = rng_make(1, 1);
    Message message = {.number = MESSAGE_SCRIPT_MANIFEST};
    message.body = message_example(message_row(message.number), &config, &rng, &arena);
    check_round_trip(&message);
}

TEST(a_full_writer_is_a_limit)
{
    const MessagePong pong = {.nonce = 5};
    const Message message = {MESSAGE_PONG, 1, 0, &pong};
    ByteWriter writer = byte_writer(first, 40);
    message_to_json(&message, &writer);
    CHECK_INT(writer.status, STATUS_LIMIT);
}

TEST(hostile_sizes_are_limits)
{
    Message out;
    MessageJsonError error;
    memset(first, '[', 100);
    first[100] = 0;
    CHECK_INT(read_json(first, MESSAGE_UP, &out, &error), STATUS_LIMIT);
    memset(first, ' ', MESSAGE_BYTES_MAX + 1);
    first[MESSAGE_BYTES_MAX + 1] = 0;
    CHECK_INT(read_json(first, MESSAGE_UP, &out, &error), STATUS_LIMIT);
    for (size_t i = 1; i < MESSAGE_BYTES_MAX; i += 2) {
        memcpy(first + i, "0,", 2);
    }
    first[0] = '[';
    first[MESSAGE_BYTES_MAX] = 0;
    CHECK_INT(read_json(first, MESSAGE_UP, &out, &error), STATUS_LIMIT);
}

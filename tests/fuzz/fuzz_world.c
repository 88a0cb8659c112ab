// A world that gets any input from several connections, valid and invalid: it never crashes, and a
// well-behaved player among them is never disturbed: it stays connected, its frames merge, and its
// pings are answered.
//
// The input is read as operations: one byte that chooses, then arguments.
#include "core/base/check.h"
#include "core/wire/merge.h"
#include "core/world/world_inside.h"
#include "tests/support/test_place.h"

#include <string.h>

#define STRANGERS 5
#define TICKS_MAX 200
#define WITNESS   1
#define FIRST     10 // connection of the first stranger

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

typedef struct Play {
    Heap heap;
    World *world;
    ByteReader reader;
    uint64_t connections[STRANGERS]; // 0: none
    uint64_t next_connection;
    uint64_t unix_ms;
    uint32_t tick_count;
    Merge merge;
    uint32_t frame; // the last one of the witness
    uint32_t pongs;
    char token[65];
} Play;

static Heap place_heap;
static Place *place;
static TestPlaceBytes stripped;

static void open_place(void)
{
    if (place == NULL) {
        place_heap = heap_make(256u << 20);
        place = test_place_load(&place_heap, TEST_PLACE_COURSE, TEST_PLACE_COURSE_SCENE);
        stripped = test_place_stripped(&place_heap, TEST_PLACE_COURSE, TEST_PLACE_COURSE_SCENE);
    }
}

static void open_world(Play *play)
{
    WorldConfig config = world_config_default();
    config.place = place;
    config.stripped = stripped.data;
    config.stripped_bytes = stripped.bytes;
    config.development = true;
    config.player_max = 4;
    config.entity_max = 256;
    config.json_session_max = 1;
    config.body_kept_ms = 500;
    config.scripts = false;
    play->heap = heap_make(512u << 20);
    ASSERT(world_create(&play->heap, &config, &play->world) == STATUS_OK);
    heap_freeze(&play->heap);
}

static void enter(Play *play, const Entry *entry)
{
    const Status status = world_enter(play->world, entry);
    ASSERT(status >= STATUS_OK && status < STATUS_COUNT);
}

static void send(Play *play, uint64_t connection, uint8_t number, const void *body)
{
    uint8_t bytes[1024];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    message_encode(&(Message){.number = number, .seq = 1, .body = body}, &writer);
    ASSERT(writer.status == STATUS_OK);
    enter(play, &(Entry){.type = ENTRY_MESSAGE,
                         .connection = connection,
                         .bytes = bytes,
                         .byte_count = writer.at});
}

// --- the witness --------------------------------------------------------------------------------

static void note_frame(void *user, const SnapshotHeader *header)
{
    ((Play *)user)->frame = header->seq;
}

static void witness_listens(Play *play)
{
    const MergeSink sink = {.user = play, .begin = note_frame};
    const uint8_t *bytes = NULL;
    size_t count = 0;
    while (world_output(play->world, WITNESS, &bytes, &count)) {
        if (bytes[0] == MESSAGE_SNAPSHOT) {
            ASSERT(merge_apply(&play->merge, bytes, count, &sink) == STATUS_OK);
        }
        ASSERT(bytes[0] != MESSAGE_ERROR);
        play->pongs += bytes[0] == MESSAGE_PONG;
        world_output_take(play->world, WITNESS);
    }
}

static void witness_speaks(Play *play)
{
    const uint64_t tick = play->world->clock.tick;
    const WireInputFrame frame = {.seq = (uint32_t)tick + 1, .tick = tick + 1};
    const MessageInputBatch batch = {
        .last_snapshot = play->frame, .inputs = &frame, .inputs_count = 1};
    send(play, WITNESS, MESSAGE_INPUT_BATCH, &batch);
}

static void tick(Play *play)
{
    if (play->tick_count == TICKS_MAX) {
        return;
    }
    play->tick_count += 1;
    play->unix_ms += 16;
    witness_speaks(play);
    enter(play, &(Entry){.type = ENTRY_TICK, .number = play->unix_ms});
    witness_listens(play);
    world_commands_clear(play->world);
}

// --- strangers ----------------------------------------------------------------------------------

static uint64_t *stranger(Play *play)
{
    return &play->connections[byte_read_u8(&play->reader) % STRANGERS];
}

static void take(Play *play, uint64_t connection, uint32_t most)
{
    const uint8_t *bytes = NULL;
    size_t count = 0;
    for (uint32_t i = 0; i < most && world_output(play->world, connection, &bytes, &count); i++) {
        ASSERT(count > 0 && bytes != NULL);
        if (bytes[0] == MESSAGE_WELCOME) {
            static uint8_t block[4096];
            Arena arena;
            Message message;
            arena_init(&arena, block, sizeof block);
            if (message_decode(bytes, count, MESSAGE_DOWN, &arena, &message) == STATUS_OK) {
                const Text token = ((const MessageWelcome *)message.body)->resume_token;
                memcpy(play->token, token.data, token.bytes);
            }
        }
        world_output_take(play->world, connection);
    }
}

static void op_connect(Play *play)
{
    uint64_t *connection = stranger(play);
    if (*connection == 0) {
        *connection = play->next_connection++;
    }
    enter(play, &(Entry){.type = ENTRY_CONNECT,
                         .connection = *connection,
                         .flags = byte_read_u8(&play->reader) % 4 == 0 ? ENTRY_JSON : 0});
}

static void op_disconnect(Play *play)
{
    uint64_t *connection = stranger(play);
    enter(play, &(Entry){.type = ENTRY_DISCONNECT, .connection = *connection});
    *connection = 0;
}

static void op_close(Play *play)
{
    for (uint64_t closing = world_closing(play->world); closing != 0;
         closing = world_closing(play->world)) {
        ASSERT(closing != WITNESS);
        enter(play, &(Entry){.type = ENTRY_DISCONNECT, .connection = closing});
        for (uint32_t i = 0; i < STRANGERS; i++) {
            play->connections[i] = play->connections[i] == closing ? 0 : play->connections[i];
        }
    }
}

// Any bytes as a message, perhaps behind a good beginning.
static void op_bytes(Play *play)
{
    const uint64_t connection = *stranger(play);
    uint8_t bytes[300];
    const uint8_t number = byte_read_u8(&play->reader);
    uint32_t length = byte_read_u8(&play->reader);
    const size_t left = byte_reader_left(&play->reader);
    length = length < left ? length : (uint32_t)left;
    const uint8_t *body = byte_read_bytes(&play->reader, length);
    size_t at = 0;
    if (number < 32) {
        bytes[at++] = number;
        bytes[at++] = 1;
        bytes[at++] = 0;
    }
    if (length > 0) {
        memcpy(bytes + at, body, length);
    }
    enter(play, &(Entry){.type = ENTRY_MESSAGE,
                         .connection = connection,
                         .bytes = bytes,
                         .byte_count = at + length});
}

static void op_handshake(Play *play)
{
    static const char *const ids[] = {"a", "b", "c", "d", "e", "f", ""};
    const uint64_t connection = *stranger(play);
    const char *id = ids[byte_read_u8(&play->reader) % 7];
    const bool resumes = byte_read_u8(&play->reader) % 2 == 0;
    send(play, connection, MESSAGE_HANDSHAKE,
         &(MessageHandshake){
             .schema = PROTOCOL_SCHEMA,
             .version = 2,
             .player_id = {id, (uint32_t)strlen(id)},
             .resume_token = {play->token, resumes ? (uint32_t)strlen(play->token) : 0}});
}

static void op_inputs(Play *play)
{
    const uint64_t connection = *stranger(play);
    WireInputFrame frames[8];
    const uint32_t count = byte_read_u8(&play->reader) % 9;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t ahead = byte_read_u8(&play->reader) % 80;
        frames[i] = (WireInputFrame){.seq = (uint32_t)(play->world->clock.tick + ahead),
                                     .tick = ahead < 70 ? play->world->clock.tick + ahead : 0,
                                     .move_x = (int8_t)(byte_read_u8(&play->reader) | 1),
                                     .yaw = byte_read_u16(&play->reader),
                                     .buttons = byte_read_u8(&play->reader)};
    }
    const MessageInputBatch batch = {.last_snapshot = byte_read_u8(&play->reader),
                                     .view_tick = byte_read_u8(&play->reader),
                                     .state_seq = play->world->clock.tick,
                                     .state_hash = byte_read_u8(&play->reader),
                                     .inputs = frames,
                                     .inputs_count = count};
    send(play, connection, MESSAGE_INPUT_BATCH, &batch);
}

static WireCoord cell(Play *play)
{
    WireCoord at;
    at.x = (int8_t)byte_read_u8(&play->reader) / 8;
    at.y = (int8_t)byte_read_u8(&play->reader) / 32;
    at.z = (int8_t)byte_read_u8(&play->reader) / 8;
    return at;
}

static void op_command(Play *play)
{
    const uint64_t connection = *stranger(play);
    const uint8_t what = byte_read_u8(&play->reader) % 8;
    const WireCoord at = cell(play);
    switch (what) {
    case 0:
        send(play, connection, MESSAGE_BUILD_PLACE, &(MessageBuildPlace){.cell = at});
        break;
    case 1:
        send(play, connection, MESSAGE_BUILD_REMOVE,
             &(MessageBuildRemove){.entity_id = byte_read_u8(&play->reader)});
        break;
    case 2:
        send(play, connection, MESSAGE_TERRAFORM,
             &(MessageTerraform){.shape = 1,
                                 .min = at,
                                 .max = {at.x + 1, at.y + 2, at.z + 1},
                                 .voxel_kind = byte_read_u8(&play->reader) % 3});
        break;
    case 3:
        send(play, connection, MESSAGE_CHAT_SAY, &(MessageChatSay){.text = {"hello", 5}});
        break;
    case 4:
        send(play, connection, MESSAGE_RESPAWN, &(MessageRespawn){0});
        break;
    case 5:
        send(play, connection, MESSAGE_LEAVE, &(MessageLeave){0});
        break;
    case 6: {
        MessageBlobRequest request = {.from_chunk = byte_read_u8(&play->reader) % 4};
        memcpy(request.hash.bytes, play->world->scene.hash, sizeof request.hash.bytes);
        send(play, connection, MESSAGE_BLOB_REQUEST, &request);
        break;
    }
    default:
        send(play, connection, MESSAGE_PROFILE_LIST, &(MessageProfileList){0});
    }
}

// An entry of any kind but the owner's orders, which may end anybody.
static void op_entry(Play *play)
{
    Entry entry;
    ByteReader reader = play->reader;
    if (entry_read(&reader, &entry) == STATUS_OK && entry.type != ENTRY_ADMIN &&
        entry.type != ENTRY_TICK && entry.connection != WITNESS && entry.type != ENTRY_STORED) {
        play->reader = reader;
        enter(play, &entry);
    }
}

static void operate(Play *play)
{
    switch (byte_read_u8(&play->reader) % 12) {
    case 0:
        op_connect(play);
        break;
    case 1:
        op_disconnect(play);
        break;
    case 2:
        op_close(play);
        break;
    case 3:
    case 4:
        op_bytes(play);
        break;
    case 5:
        op_handshake(play);
        break;
    case 6:
        op_inputs(play);
        break;
    case 7:
        op_command(play);
        break;
    case 8:
        op_entry(play);
        break;
    case 9:
        take(play, *stranger(play), byte_read_u8(&play->reader));
        break;
    default:
        tick(play);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static Play play;
    memset(&play, 0, sizeof play);
    open_place();
    open_world(&play);
    play.reader = byte_reader(bytes, count);
    play.next_connection = FIRST;
    play.unix_ms = 1700000000000u;
    merge_reset(&play.merge, place->tick_rate);
    enter(&play, &(Entry){.type = ENTRY_CONNECT, .connection = WITNESS});
    send(&play, WITNESS, MESSAGE_HANDSHAKE,
         &(MessageHandshake){.version = 2, .schema = PROTOCOL_SCHEMA, .player_id = {"witness", 7}});
    tick(&play);
    while (byte_reader_left(&play.reader) > 0) {
        operate(&play);
    }
    play.tick_count = 0;
    send(&play, WITNESS, MESSAGE_PING, &(MessagePing){.nonce = 1});
    tick(&play);
    op_close(&play);
    uint64_t player = 0;
    uint64_t entity = 0;
    ASSERT(play.pongs == 1);
    ASSERT(world_player(play.world, WITNESS, &player, &entity));
    (void)world_hash(play.world);
    heap_thaw(&play.heap);
    world_destroy(&play.heap, play.world);
    ASSERT(play.heap.bytes_now == 0);
    return 0;
}

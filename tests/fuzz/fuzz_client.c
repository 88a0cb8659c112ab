// A client whose server is the fuzzer: messages of any bytes, valid welcomes and frames in between,
// time, lost connections and reconnects. Whatever arrives, the client plays, waits or closes with a
// reason.
//
//   u8  bit 0 scripts, bit 1 the scene is at hand, bit 2 the owner fetches, bit 3 it verifies
//   then steps: u8 below 0x80: a message, u16 length, bytes · 0x80 u8 a welcome · 0x81 u8 time ·
//   0x82 a lost connection and a reconnect · 0x83 u8 buttons · 0x84 the next frame, empty · 0x85
//   u16 length, bytes: the owner gives something · 0x86 u8 its verdict on the manifest that waits
//   for one · 0x87 u8 version, u16 length, bytes: a manifest that is a text, and the text · 0x88 u8
//   the owner gives something wrong for what is wanted · 0x89 the owner cannot fetch it
#include "core/base/check.h"
#include "core/base/sha256.h"
#include "core/client/client.h"
#include "tests/support/test_place.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Play {
    Heap heap;
    Client *client;
    double now_ms;
    SnapshotHeader last;
    uint64_t tick;
} Play;

static const Place *shared_place(TestPlaceBytes *scene)
{
    static Heap heap;
    static TestPlaceBytes bytes;
    static Place *place;
    if (place == NULL) {
        heap = heap_make(64u << 20);
        bytes = test_place_stripped(&heap, TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE);
        const Status status = place_load(&heap, bytes.data, bytes.bytes, &place);
        ASSERT(status == STATUS_OK);
    }
    *scene = bytes;
    return place;
}

static void welcome(Play *play, uint8_t how)
{
    TestPlaceBytes scene;
    const Place *place = shared_place(&scene);
    MessageWelcome body = {.schema = PROTOCOL_SCHEMA,
                           .player = 7,
                           .entity_id = 1000,
                           .tick = play->tick,
                           .tick_rate = 60,
                           .snapshot_rate = 20,
                           .resumed = (how & 1) != 0,
                           .scene_bytes = scene.bytes};
    memcpy(body.scene_hash.bytes, place->hash, sizeof body.scene_hash.bytes);
    const Message message = {.number = MESSAGE_WELCOME, .seq = 1, .body = &body};
    uint8_t bytes[512];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    message_encode(&message, &writer);
    ASSERT(writer.status == STATUS_OK);
    client_receive(play->client, play->now_ms, bytes, writer.at);
    play->last = (SnapshotHeader){0};
}

static void next_frame(Play *play)
{
    play->tick += 3;
    const bool full = play->last.seq == 0;
    const SnapshotPlan plan = {
        .header = {.full = full, .seq = play->last.seq + 1, .tick = play->tick},
        .previous = play->last,
        .tick_rate = 60};
    uint8_t bytes[64];
    size_t count = 0;
    const Status status = snapshot_write(&plan, bytes, sizeof bytes, &count);
    ASSERT(status == STATUS_OK);
    play->last = plan.header;
    client_receive(play->client, play->now_ms, bytes, count);
}

static void look(Play *play)
{
    const uint8_t *bytes = NULL;
    size_t count = 0;
    while (client_output(play->client, &bytes, &count)) {
        static _Alignas(16) uint8_t block[64 << 10];
        Arena arena;
        arena_init(&arena, block, sizeof block);
        Message message;
        // What a client sends is always a message.
        const Status status = message_decode(bytes, count, MESSAGE_UP, &arena, &message);
        ASSERT(status == STATUS_OK);
        client_output_take(play->client);
    }
    while (client_event(play->client) != NULL) {
    }
    for (uint32_t slot = client_next(play->client, UINT32_MAX); slot != UINT32_MAX;
         slot = client_next(play->client, slot)) {
        const ClientEntity entity = client_entity(play->client, slot);
        ASSERT(vec3_is_finite(entity.pose.position));
    }
    ASSERT(vec3_is_finite(client_own(play->client).position));
}

static void update(Play *play, uint8_t time)
{
    play->now_ms += 2.0 * time;
    client_update(play->client, play->now_ms);
    look(play);
}

// While one waits nothing of it is wanted.
static void judge(Play *play, uint8_t verdict)
{
    ClientProof proof;
    if (client_proof(play->client, &proof)) {
        ClientWant want;
        ASSERT(proof.text_bytes > 0 && proof.text[0] == '{');
        ASSERT(!client_want(play->client, 0, &want) || want.kind != CLIENT_WANT_RUNE);
        client_verified(play->client, proof.version, (verdict & 1) != 0);
    }
}

static const uint8_t *take_bytes(ByteReader *reader, size_t *count)
{
    const size_t wanted = byte_read_u16(reader);
    const size_t left = byte_reader_left(reader);
    *count = wanted < left ? wanted : left;
    return byte_read_bytes(reader, *count);
}

static void manifest_text(Play *play, ByteReader *reader)
{
    MessageScriptManifest body = {.version = byte_read_u8(reader)};
    size_t count = 0;
    const uint8_t *text = take_bytes(reader, &count);
    if (text == NULL || count == 0) {
        return;
    }
    body.text_bytes = count;
    sha256_of(text, count, body.text_hash.bytes);
    const Message message = {.number = MESSAGE_SCRIPT_MANIFEST, .seq = 1, .body = &body};
    uint8_t bytes[256];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    message_encode(&message, &writer);
    ASSERT(writer.status == STATUS_OK);
    client_receive(play->client, play->now_ms, bytes, writer.at);
    (void)!client_give_for(play->client, body.text_hash.bytes, text, count);
}

static void give_wrong(Play *play, uint8_t value)
{
    ClientWant want;
    if (client_want(play->client, value % 4, &want)) {
        (void)!client_give_for(play->client, want.hash, &value, 1);
    }
}

static void cannot_fetch(Play *play)
{
    ClientWant want;
    if (client_want(play->client, 0, &want)) {
        (void)client_fetch_one_over_wire(play->client, want.hash);
    }
}

static void step(Play *play, uint8_t op, ByteReader *reader)
{
    size_t count = 0;
    const uint8_t *bytes = NULL;
    switch (op) {
    case 0x80:
        welcome(play, byte_read_u8(reader));
        return;
    case 0x81:
        update(play, byte_read_u8(reader));
        return;
    case 0x82:
        client_disconnected(play->client);
        client_connect(play->client, play->now_ms);
        return;
    case 0x83:
        client_set_input(play->client,
                         &(ClientInput){.move_z = 1, .buttons = byte_read_u8(reader)});
        return;
    case 0x84:
        next_frame(play);
        return;
    case 0x86:
        judge(play, byte_read_u8(reader));
        return;
    case 0x87:
        manifest_text(play, reader);
        return;
    case 0x88:
        give_wrong(play, byte_read_u8(reader));
        return;
    case 0x89:
        cannot_fetch(play);
        return;
    default:
        break;
    }
    bytes = take_bytes(reader, &count);
    if (op == 0x85) {
        (void)!client_give(play->client, bytes, count);
    } else if (bytes != NULL) {
        client_receive(play->client, play->now_ms, bytes, count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ByteReader reader = byte_reader(data, size);
    const uint8_t flags = byte_read_u8(&reader);
    Play play = {.heap = heap_make(64u << 20), .now_ms = 1000, .tick = 600};
    TestPlaceBytes scene;
    ClientConfig config = client_config_default();
    config.visible_max = 16;
    config.scripts = (flags & 1) != 0;
    config.place = (flags & 2) != 0 ? shared_place(&scene) : NULL;
    config.owner_fetches = (flags & 4) != 0;
    config.owner_verifies = (flags & 8) != 0;
    config.script.vm = (VmConfig){.memory_soft_bytes = 2u << 20, .memory_hard_bytes = 5u << 20};
    Status status = client_create(&play.heap, &config, &play.client);
    ASSERT(status == STATUS_OK);
    client_connect(play.client, play.now_ms);
    for (uint32_t i = 0; i < 256 && byte_reader_left(&reader) > 0; i++) {
        step(&play, byte_read_u8(&reader), &reader);
        ASSERT((client_state(play.client) == CLIENT_CLOSED) ==
               (client_closed_reason(play.client)[0] != 0));
    }
    update(&play, 20);
    (void)client_hash(play.client);
    (void)client_stats(play.client);
    client_destroy(&play.heap, play.client);
    ASSERT(play.heap.bytes_now == 0);
    return 0;
}

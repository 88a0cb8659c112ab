// What an attacker does. Each connection draws one way and keeps to it until it is thrown out:
//
//   frames     broken framing: reserved bits, no mask, false lengths, control frames in pieces
//   messages   good frames with messages that are noise, or almost right
//   fragments  a message in endless small pieces
//   giant      says that a gigabyte follows, and begins with it
//   deaf       is let in and never reads
//   mute       upgrades and says nothing
//   half       half an HTTP request, and then silence
#include "server/bots/bots_inside.h"

#include <string.h>

enum { WAY_FRAMES, WAY_MESSAGES, WAY_FRAGMENTS, WAY_GIANT, WAY_DEAF, WAY_MUTE, WAY_COUNT };

#define NOISE_BYTES_MAX 512
#define BURST_MAX       256 // frames in one update

void hostile_begin(Bots *bots, Bot *bot)
{
    (void)bots;
    // Noise inside valid frames gets furthest, so it is drawn most often.
    const uint32_t drawn = rng_below(&bot->rng, 10);
    bot->hostile_way = drawn < WAY_COUNT ? drawn : WAY_MESSAGES;
    bot->hostile_debt = 0;
}

bool hostile_reads(const Bot *bot)
{
    return bot->hostile_way != WAY_DEAF;
}

bool hostile_says_hello(const Bot *bot)
{
    return bot->hostile_way == WAY_MESSAGES || bot->hostile_way == WAY_DEAF;
}

static size_t noise(Bot *bot, uint8_t *out, uint32_t max)
{
    const uint32_t count = rng_below(&bot->rng, max);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (uint8_t)rng_u32(&bot->rng);
    }
    return count;
}

static void write_batch(Bot *bot, ByteWriter *writer)
{
    WireInputFrame frames[8];
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t tick = rng_u32(&bot->rng);
        const int32_t move = (int32_t)rng_below(&bot->rng, 255) - 127;
        frames[i] = (WireInputFrame){
            .seq = tick, .tick = tick, .move_x = move, .move_z = -move, .buttons = 0xffff};
    }
    MessageInputBatch batch = {.inputs = frames, .inputs_count = 8};
    batch.last_snapshot = rng_u32(&bot->rng);
    batch.view_tick = rng_u32(&bot->rng);
    message_encode(&(Message){.number = MESSAGE_INPUT_BATCH, .seq = 1, .body = &batch}, writer);
}

// Mostly a valid message with a few bytes changed, which gets further than noise.
static size_t write_message(Bot *bot, uint8_t *out)
{
    ByteWriter writer = byte_writer(out, NOISE_BYTES_MAX);
    const uint32_t what = rng_below(&bot->rng, 6);
    if (what == 0) {
        return noise(bot, out, 64);
    }
    if (what == 1) {
        const MessageTerraform edit = {.shape = 2,
                                       .centre = {rng_range(&bot->rng, -16000, 16000), 0, 0},
                                       .radius = 24,
                                       .voxel_kind = 3};
        message_encode(&(Message){.number = MESSAGE_TERRAFORM, .seq = 1, .body = &edit}, &writer);
    } else if (what == 2) {
        write_batch(bot, &writer);
    } else if (what == 3) {
        const MessageBuildRemove remove = {.entity_id = rng_below(&bot->rng, 4000)};
        message_encode(&(Message){.number = MESSAGE_BUILD_REMOVE, .seq = 1, .body = &remove},
                       &writer);
    } else if (what == 4) {
        const MessageBlobRequest ask = {.from_chunk = rng_u32(&bot->rng)};
        message_encode(&(Message){.number = MESSAGE_BLOB_REQUEST, .seq = 1, .body = &ask}, &writer);
    } else {
        const MessageHandshake hello = {.version = 2, .schema = PROTOCOL_SCHEMA};
        message_encode(&(Message){.number = MESSAGE_HANDSHAKE, .seq = 1, .body = &hello}, &writer);
    }
    const uint32_t flips = rng_below(&bot->rng, 4);
    for (uint32_t i = 0; i < flips && writer.at > 0; i++) {
        const uint32_t at = rng_below(&bot->rng, (uint32_t)writer.at);
        out[at] ^= (uint8_t)(1u << rng_below(&bot->rng, 8));
    }
    return writer.at;
}

static bool send_broken(Bot *bot)
{
    uint8_t frame[NOISE_BYTES_MAX];
    const size_t count = noise(bot, frame + 14, 100);
    const uint32_t what = rng_below(&bot->rng, 6);
    static const uint8_t starts[6][2] = {
        {0xc2, 0x84}, // a reserved bit
        {0x82, 0x04}, // no mask
        {0x83, 0x84}, // a reserved opcode
        {0x09, 0x84}, // a ping in pieces
        {0x89, 0xfe}, // a ping with a long length
        {0x80, 0x84}, // a continuation of nothing
    };
    memcpy(frame + 12, starts[what], 2);
    return bots_link_send_raw(&bot->link, frame + 12, count + 2);
}

static bool send_fragment(Bot *bot, bool first)
{
    uint8_t frame[7] = {first ? 0x02 : 0x00, 0x81, 1, 2, 3, 4, 5};
    return bots_link_send_raw(&bot->link, frame, sizeof frame);
}

static bool send_giant(Bot *bot, bool first)
{
    uint8_t bytes[NOISE_BYTES_MAX];
    static const uint8_t header[14] = {0x82, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 2, 3, 4};
    memset(bytes, 0x55, sizeof bytes);
    if (first) {
        memcpy(bytes, header, sizeof header);
    }
    return bots_link_send_raw(&bot->link, bytes, sizeof bytes);
}

void hostile_play(Bots *bots, Bot *bot, double elapsed_s)
{
    const bool first = bot->hostile_debt == 0;
    bot->hostile_debt += elapsed_s * bots->config.hostile_frames_per_second;
    bool fits = true;
    for (uint32_t i = 0; fits && bot->hostile_debt >= 1 && i < BURST_MAX; i++) {
        uint8_t message[NOISE_BYTES_MAX];
        bot->hostile_debt -= 1;
        switch (bot->hostile_way) {
        case WAY_FRAMES:
            fits = send_broken(bot);
            break;
        case WAY_FRAGMENTS:
            fits = send_fragment(bot, first && i == 0);
            break;
        case WAY_GIANT:
            fits = send_giant(bot, first && i == 0);
            break;
        case WAY_MESSAGES:
        case WAY_DEAF: {
            const size_t count = write_message(bot, message);
            fits = bots_link_send(&bot->link, WEBSOCKET_BINARY, message, count);
            break;
        }
        default:
            fits = false;
            break;
        }
        bots->report.hostile_frames += fits;
    }
    if (bot->hostile_debt > BURST_MAX) {
        bot->hostile_debt = BURST_MAX;
    }
}

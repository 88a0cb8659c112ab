// WebSocket framing: every message, however it is split, and everything that a client may do wrong.
#include "server/net/websocket.h"

#include "core/base/rng.h"
#include "tests/support/test.h"

#include <string.h>

#define LIMIT 4096

static uint8_t buffer[LIMIT];
static uint8_t wire[LIMIT * 4];
static size_t wire_bytes;

static void frame(uint8_t first, const void *payload, size_t bytes)
{
    const uint8_t mask[4] = {0x12, 0x34, 0x56, 0x78};
    uint8_t header[WEBSOCKET_HEADER_MAX];
    const size_t used = websocket_header(header, WEBSOCKET_BINARY, bytes, mask);
    header[0] = first;
    memcpy(wire + wire_bytes, header, used);
    wire_bytes += used;
    if (bytes > 0) {
        memcpy(wire + wire_bytes, payload, bytes);
        websocket_mask(wire + wire_bytes, bytes, mask);
    }
    wire_bytes += bytes;
}

static WebsocketEvent read_all(size_t piece)
{
    WebsocketReader reader;
    websocket_reader_init(&reader, buffer, LIMIT, true);
    WebsocketEvent event = {.type = WEBSOCKET_NEEDS_MORE};
    for (size_t at = 0; at < wire_bytes && event.type == WEBSOCKET_NEEDS_MORE;) {
        const size_t take = wire_bytes - at < piece ? wire_bytes - at : piece;
        size_t used;
        event = websocket_read(&reader, wire + at, take, &used);
        CHECK(used <= take);
        at += used;
    }
    return event;
}

static void expect_broken(uint16_t code)
{
    for (size_t piece = 1; piece < 40; piece += 13) {
        const WebsocketEvent event = read_all(piece);
        CHECK_INT(event.type, WEBSOCKET_BROKEN);
        CHECK_INT(event.close_code, code);
    }
    wire_bytes = 0;
}

TEST(message_in_every_cut)
{
    uint8_t payload[700];
    for (size_t i = 0; i < sizeof payload; i++) {
        payload[i] = (uint8_t)(i * 31);
    }
    const size_t sizes[] = {0, 1, 125, 126, 700};
    for (size_t s = 0; s < 5; s++) {
        wire_bytes = 0;
        frame(0x82, payload, sizes[s]);
        for (size_t piece = 1; piece <= wire_bytes; piece++) {
            const WebsocketEvent event = read_all(piece);
            REQUIRE(event.type == WEBSOCKET_MESSAGE && event.bytes == sizes[s] && !event.text);
            CHECK(memcmp(event.data, payload, sizes[s]) == 0);
        }
    }
    wire_bytes = 0;
}

// Who reads what is wanted has a whole message after two reads, and nothing of the next one.
TEST(wanted_bytes_end_with_the_frame)
{
    static uint8_t payload[70000], large[70000];
    const size_t sizes[] = {0, 1, 125, 126, 65535, 65536};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint8_t header[WEBSOCKET_HEADER_MAX];
        const size_t header_bytes = websocket_header(header, WEBSOCKET_BINARY, sizes[s], NULL);
        WebsocketReader reader;
        websocket_reader_init(&reader, large, sizeof large, false);
        WebsocketEvent event = {.type = WEBSOCKET_NEEDS_MORE};
        size_t at = 0, used = 0;
        while (at < header_bytes) {
            const uint64_t wanted = websocket_wanted(&reader);
            REQUIRE(wanted >= 1 && wanted <= header_bytes - at);
            event = websocket_read(&reader, header + at, (size_t)wanted, &used);
            at += used;
        }
        if (sizes[s] > 0) {
            CHECK_INT(event.type, WEBSOCKET_NEEDS_MORE);
            CHECK_INT(websocket_wanted(&reader), sizes[s]);
            event = websocket_read(&reader, payload, sizes[s], &used);
        }
        CHECK_INT(event.type, WEBSOCKET_MESSAGE);
        CHECK_INT(websocket_wanted(&reader), 2);
    }
}

TEST(fragments_with_a_ping_between)
{
    wire_bytes = 0;
    frame(0x01, "gr\xc3", 3);
    frame(0x89, "are you there", 13);
    frame(0x80, "\xbc\xc3\x9f", 3);
    WebsocketReader reader;
    websocket_reader_init(&reader, buffer, LIMIT, true);
    size_t used;
    WebsocketEvent event = websocket_read(&reader, wire, wire_bytes, &used);
    CHECK_INT(event.type, WEBSOCKET_PINGED);
    CHECK_INT(event.bytes, 13);
    size_t more;
    event = websocket_read(&reader, wire + used, wire_bytes - used, &more);
    CHECK_INT(event.type, WEBSOCKET_MESSAGE);
    CHECK(event.text && event.bytes == 6 && memcmp(event.data, "gr\xc3\xbc\xc3\x9f", 6) == 0);
    CHECK_INT(used + more, wire_bytes);
    wire_bytes = 0;
}

TEST(what_breaks_the_protocol)
{
    frame(0xc2, "a", 1); // a reserved bit
    expect_broken(1002);
    frame(0x83, "a", 1); // a reserved opcode
    expect_broken(1002);
    frame(0x80, "a", 1); // a continuation of nothing
    expect_broken(1002);
    frame(0x02, "a", 1); // a start inside a message
    frame(0x82, "a", 1);
    expect_broken(1002);
    frame(0x09, "a", 1); // a fragmented ping
    expect_broken(1002);
    const uint8_t large[126] = {0};
    frame(0x89, large, sizeof large);
    expect_broken(1002);
    frame(0x81, "\xff", 1);
    expect_broken(1007);
    frame(0x88, "\x03", 1); // half a close code
    expect_broken(1002);
    frame(0x88, "\x03\xed", 2); // 1005 is never sent
    expect_broken(1002);
    memcpy(wire, "\x82\x01z", 3); // not masked
    wire_bytes = 3;
    expect_broken(1002);
    memcpy(wire, "\x82\xfe\x00\x05\1\2\3\4hello", 13); // a length in a form that is too long
    wire_bytes = 13;
    expect_broken(1002);
}

TEST(too_large_is_refused_before_it_is_read)
{
    memcpy(wire, "\x82\xff\x00\x00\x00\x00\x7f\xff\xff\xff\1\2\3\4", 14);
    wire_bytes = 14;
    expect_broken(1009);
    static const uint8_t part[LIMIT - 10] = {0};
    frame(0x02, part, sizeof part);
    frame(0x80, part, 11); // fragments count together
    expect_broken(1009);
    frame(0x02, part, sizeof part);
    frame(0x80, part, 10);
    CHECK_INT(read_all(SIZE_MAX).type, WEBSOCKET_MESSAGE);
    wire_bytes = 0;
}

TEST(goodbye)
{
    frame(0x88,
          "\x03\xe8"
          "done",
          6);
    const WebsocketEvent event = read_all(3);
    CHECK_INT(event.type, WEBSOCKET_CLOSED);
    CHECK_INT(event.close_code, 1000);
    CHECK_INT(event.bytes, 4);
    wire_bytes = 0;
    frame(0x88, "", 0);
    CHECK_INT(read_all(1).close_code, 1005);
    // Nothing after it is looked at.
    frame(0x82, "x", 1);
    WebsocketReader reader;
    websocket_reader_init(&reader, buffer, LIMIT, true);
    size_t used, rest;
    CHECK_INT(websocket_read(&reader, wire, wire_bytes, &used).type, WEBSOCKET_CLOSED);
    CHECK_INT(websocket_read(&reader, wire + used, wire_bytes - used, &rest).type,
              WEBSOCKET_NEEDS_MORE);
    wire_bytes = 0;
}

TEST(any_bytes)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t round = 0; round < 20000; round++) {
        wire_bytes = rng_below(&rng, 64);
        for (size_t i = 0; i < wire_bytes; i++) {
            wire[i] = (uint8_t)rng_u32(&rng);
        }
        if (wire_bytes > 1) {
            wire[0] = (uint8_t)(wire[0] & 0x8f); // get past the first check
            wire[1] |= 0x80;
        }
        const size_t piece = 1 + rng_below(&rng, 8);
        const WebsocketEvent whole = read_all(SIZE_MAX);
        const WebsocketEventType type = whole.type;
        const WebsocketEvent pieces = read_all(piece);
        REQUIRE(type == pieces.type && whole.close_code == pieces.close_code);
    }
    wire_bytes = 0;
}

TEST(handshake)
{
    // The example of RFC 6455, section 1.3.
    char accept[WEBSOCKET_ACCEPT_BYTES + 1];
    CHECK_INT(websocket_accept("dGhlIHNhbXBsZSBub25jZQ==", accept), STATUS_OK);
    CHECK_TEXT(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    CHECK_INT(websocket_accept("dGhlIHNhbXBsZSBub25jZQ=", accept), STATUS_MALFORMED);
    CHECK_INT(websocket_accept("!!!!!!!!!!!!!!!!!!!!!!!!", accept), STATUS_MALFORMED);
    bool json;
    const char *name;
    CHECK_INT(websocket_choose(NULL, &json, &name), STATUS_OK);
    CHECK(json && name == NULL);
    CHECK_INT(websocket_choose("sandlot.v2.json, sandlot.v2.bin", &json, &name), STATUS_OK);
    CHECK(!json);
    CHECK_INT(websocket_choose("chat,sandlot.v2.json", &json, &name), STATUS_OK);
    CHECK(json);
    CHECK_INT(websocket_choose("sandlot.v2", &json, &name), STATUS_UNSUPPORTED);
}

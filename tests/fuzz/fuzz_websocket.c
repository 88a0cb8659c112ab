// WebSocket frames. The first byte chooses the sender, the second how the network splits the bytes.
// However it splits them, the same events come out; no message is larger than its limit, every text
// is UTF-8, and nothing follows an end.
#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/utf8.h"
#include "server/net/websocket.h"

#include <string.h>

#define CAPACITY 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_event(const WebsocketEvent *event)
{
    switch (event->type) {
    case WEBSOCKET_MESSAGE:
        ASSERT(event->bytes <= CAPACITY);
        ASSERT(!event->text || utf8_is_valid((const char *)event->data, event->bytes));
        break;
    case WEBSOCKET_PINGED:
    case WEBSOCKET_PONGED:
        ASSERT(event->bytes <= WEBSOCKET_CONTROL_MAX);
        break;
    case WEBSOCKET_CLOSED:
        ASSERT(event->close_code >= 1000 && event->close_code <= 4999);
        ASSERT(event->bytes <= WEBSOCKET_CONTROL_MAX - 2);
        break;
    case WEBSOCKET_BROKEN:
        ASSERT(event->close_code == 1002 || event->close_code == 1007 || event->close_code == 1009);
        break;
    case WEBSOCKET_NEEDS_MORE:
        break;
    }
}

// A hash of all events when the bytes come in pieces of at most `piece`.
static uint64_t read_all(const uint8_t *data, size_t size, size_t piece, bool masked)
{
    uint8_t buffer[CAPACITY];
    WebsocketReader reader;
    websocket_reader_init(&reader, buffer, sizeof buffer, masked);
    Hash64 hash = {0};
    bool ended = false;
    for (size_t at = 0; at < size;) {
        size_t used;
        const size_t bytes = size - at < piece ? size - at : piece;
        const WebsocketEvent event = websocket_read(&reader, data + at, bytes, &used);
        ASSERT(used <= bytes);
        at += used;
        check_event(&event);
        if (event.type == WEBSOCKET_NEEDS_MORE) {
            ASSERT(used == bytes);
            continue;
        }
        ASSERT(!ended);
        ended = event.type == WEBSOCKET_CLOSED || event.type == WEBSOCKET_BROKEN;
        const uint64_t facts[] = {event.type, event.text, event.close_code, event.bytes};
        hash_bytes(&hash, facts, sizeof facts);
        if (event.bytes > 0) {
            hash_bytes(&hash, event.data, event.bytes);
        }
    }
    return hash.state;
}

// What we write, we read.
static void check_own_frame(const uint8_t *data, size_t size, bool masked)
{
    uint8_t frame[WEBSOCKET_HEADER_MAX + CAPACITY], buffer[CAPACITY];
    static const uint8_t mask[4] = {1, 2, 3, 4};
    const size_t bytes = size < CAPACITY ? size : CAPACITY;
    const size_t header = websocket_header(frame, WEBSOCKET_BINARY, bytes, masked ? mask : NULL);
    memcpy(frame + header, data, bytes);
    if (masked) {
        websocket_mask(frame + header, bytes, mask);
    }
    WebsocketReader reader;
    websocket_reader_init(&reader, buffer, sizeof buffer, masked);
    size_t used;
    const WebsocketEvent event = websocket_read(&reader, frame, header + bytes, &used);
    ASSERT(event.type == WEBSOCKET_MESSAGE && event.bytes == bytes && used == header + bytes);
    ASSERT(memcmp(event.data, data, bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const bool masked = (data[0] & 1) != 0;
    const size_t piece = (size_t)data[1] + 1;
    data += 2;
    size -= 2;
    ASSERT(read_all(data, size, piece, masked) == read_all(data, size, SIZE_MAX, masked));
    check_own_frame(data, size, masked);
    return 0;
}

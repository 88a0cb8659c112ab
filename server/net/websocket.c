// RFC 6455 framing, see websocket.h. One frame header is collected byte by byte into a small array,
// so that it does not matter where the network cut it; payloads are copied and unmasked in one
// pass.
#include "server/net/websocket.h"

#include "core/base/check.h"
#include "core/base/utf8.h"

#include <string.h>

#define CLOSE_NORMAL    1000
#define CLOSE_PROTOCOL  1002
#define CLOSE_NO_CODE   1005
#define CLOSE_NOT_UTF8  1007
#define CLOSE_TOO_LARGE 1009
#define BIT_FIN         0x80u
#define BITS_RESERVED   0x70u
#define BIT_MASKED      0x80u
#define LENGTH_16       126u
#define LENGTH_64       127u

void websocket_reader_init(WebsocketReader *reader, uint8_t *buffer, size_t capacity, bool masked)
{
    ASSERT(buffer != NULL && capacity > 0);
    *reader = (WebsocketReader){.buffer = buffer, .capacity = capacity, .masked = masked};
}

static WebsocketEvent broken(WebsocketReader *reader, uint16_t close_code)
{
    reader->ended = true;
    return (WebsocketEvent){.type = WEBSOCKET_BROKEN, .close_code = close_code};
}

static bool is_control(uint8_t opcode)
{
    return opcode >= WEBSOCKET_CLOSE;
}

// How long the header is, as far as its first bytes say.
static uint32_t header_bytes(const WebsocketReader *reader)
{
    if (reader->header_used < 2) {
        return 2;
    }
    const uint32_t length = reader->header[1] & 0x7fu;
    const uint32_t extended = length == LENGTH_16 ? 2 : length == LENGTH_64 ? 8 : 0;
    return 2 + extended + ((reader->header[1] & BIT_MASKED) != 0 ? 4 : 0);
}

// What the first two bytes alone make impossible; 0: nothing.
static uint16_t refuse_early(const WebsocketReader *reader)
{
    const uint8_t opcode = reader->header[0] & 0x0f;
    const uint32_t length = reader->header[1] & 0x7fu;
    const bool fin = (reader->header[0] & BIT_FIN) != 0;
    const bool known =
        opcode <= WEBSOCKET_BINARY || (opcode >= WEBSOCKET_CLOSE && opcode <= WEBSOCKET_PONG);
    const bool masked = (reader->header[1] & BIT_MASKED) != 0;
    if ((reader->header[0] & BITS_RESERVED) != 0 || !known || masked != reader->masked) {
        return CLOSE_PROTOCOL;
    }
    if (is_control(opcode)) {
        return !fin || length > WEBSOCKET_CONTROL_MAX ? CLOSE_PROTOCOL : 0;
    }
    // A continuation needs a start, and a start must not come inside a message.
    return (opcode == WEBSOCKET_CONTINUATION) != reader->in_message ? CLOSE_PROTOCOL : 0;
}

// The whole header is there: begins the payload. A close code, or 0.
static uint16_t begin_frame(WebsocketReader *reader)
{
    const uint8_t *header = reader->header;
    const uint32_t length = header[1] & 0x7fu;
    uint64_t payload = length;
    uint32_t at = 2;
    if (length >= LENGTH_16) {
        const uint32_t bytes = length == LENGTH_16 ? 2 : 8;
        payload = 0;
        for (uint32_t i = 0; i < bytes; i++) {
            payload = payload << 8 | header[at + i];
        }
        at += bytes;
        // The shortest form only, and never the highest bit.
        if (payload >> 63 != 0 || (bytes == 2 && payload < LENGTH_16) ||
            (bytes == 8 && payload <= 0xffff)) {
            return CLOSE_PROTOCOL;
        }
    }
    memset(reader->mask, 0, sizeof reader->mask);
    if (reader->masked) {
        memcpy(reader->mask, header + at, 4);
    }
    reader->opcode = header[0] & 0x0f;
    reader->fin = (header[0] & BIT_FIN) != 0;
    reader->payload_left = payload;
    reader->mask_at = 0;
    reader->in_payload = true;
    if (is_control(reader->opcode)) {
        reader->control_used = 0;
        return 0;
    }
    if (reader->opcode != WEBSOCKET_CONTINUATION) {
        reader->message_text = reader->opcode == WEBSOCKET_TEXT;
        reader->in_message = true;
        reader->used = 0;
    }
    return payload > reader->capacity - reader->used ? CLOSE_TOO_LARGE : 0;
}

static void take_payload(WebsocketReader *reader, const uint8_t *data, size_t bytes)
{
    uint8_t *to = is_control(reader->opcode) ? reader->control + reader->control_used
                                             : reader->buffer + reader->used;
    for (size_t i = 0; i < bytes; i++) {
        to[i] = data[i] ^ reader->mask[(reader->mask_at + i) & 3];
    }
    reader->mask_at = (uint32_t)((reader->mask_at + bytes) & 3);
    reader->payload_left -= bytes;
    if (is_control(reader->opcode)) {
        reader->control_used += (uint32_t)bytes;
    } else {
        reader->used += bytes;
    }
}

static bool close_code_is_valid(uint32_t code)
{
    return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
           (code >= 3000 && code <= 4999);
}

static WebsocketEvent end_close(WebsocketReader *reader)
{
    reader->ended = true;
    if (reader->control_used == 0) {
        return (WebsocketEvent){.type = WEBSOCKET_CLOSED, .close_code = CLOSE_NO_CODE};
    }
    const uint32_t code = (uint32_t)reader->control[0] << 8 | reader->control[1];
    if (reader->control_used == 1 || !close_code_is_valid(code)) {
        return broken(reader, CLOSE_PROTOCOL);
    }
    if (!utf8_is_valid((const char *)reader->control + 2, reader->control_used - 2)) {
        return broken(reader, CLOSE_NOT_UTF8);
    }
    return (WebsocketEvent){.type = WEBSOCKET_CLOSED,
                            .close_code = (uint16_t)code,
                            .data = reader->control + 2,
                            .bytes = reader->control_used - 2};
}

// The payload is whole. NEEDS_MORE when that completes nothing that is given out.
static WebsocketEvent end_frame(WebsocketReader *reader)
{
    reader->in_payload = false;
    reader->header_used = 0;
    if (reader->opcode == WEBSOCKET_CLOSE) {
        return end_close(reader);
    }
    if (is_control(reader->opcode)) {
        return (WebsocketEvent){.type = reader->opcode == WEBSOCKET_PING ? WEBSOCKET_PINGED
                                                                         : WEBSOCKET_PONGED,
                                .data = reader->control,
                                .bytes = reader->control_used};
    }
    if (!reader->fin) {
        return (WebsocketEvent){.type = WEBSOCKET_NEEDS_MORE};
    }
    reader->in_message = false;
    if (reader->message_text && !utf8_is_valid((const char *)reader->buffer, reader->used)) {
        return broken(reader, CLOSE_NOT_UTF8);
    }
    return (WebsocketEvent){.type = WEBSOCKET_MESSAGE,
                            .text = reader->message_text,
                            .data = reader->buffer,
                            .bytes = reader->used};
}

uint64_t websocket_wanted(const WebsocketReader *reader)
{
    return reader->in_payload ? reader->payload_left : header_bytes(reader) - reader->header_used;
}

WebsocketEvent websocket_read(WebsocketReader *reader, const uint8_t *data, size_t bytes,
                              size_t *used)
{
    *used = 0;
    while (!reader->ended) {
        if (!reader->in_payload) {
            while (*used < bytes && reader->header_used < header_bytes(reader)) {
                reader->header[reader->header_used++] = data[(*used)++];
                const uint16_t refused = reader->header_used == 2 ? refuse_early(reader) : 0;
                if (refused != 0) {
                    return broken(reader, refused);
                }
            }
            if (reader->header_used < header_bytes(reader)) {
                break;
            }
            const uint16_t refused = begin_frame(reader);
            if (refused != 0) {
                return broken(reader, refused);
            }
        }
        const size_t left = bytes - *used;
        const size_t take = reader->payload_left < left ? (size_t)reader->payload_left : left;
        take_payload(reader, data + *used, take);
        *used += take;
        if (reader->payload_left > 0) {
            break;
        }
        const WebsocketEvent event = end_frame(reader);
        if (event.type != WEBSOCKET_NEEDS_MORE) {
            return event;
        }
    }
    if (reader->ended) {
        *used = bytes; // whatever follows a goodbye is not looked at
    }
    return (WebsocketEvent){.type = WEBSOCKET_NEEDS_MORE};
}

size_t websocket_header(uint8_t out[WEBSOCKET_HEADER_MAX], WebsocketOpcode opcode,
                        uint64_t payload_bytes, const uint8_t *mask)
{
    const uint8_t masked = mask != NULL ? BIT_MASKED : 0;
    size_t at = 2;
    out[0] = (uint8_t)(BIT_FIN | (uint8_t)opcode);
    if (payload_bytes < LENGTH_16) {
        out[1] = (uint8_t)(masked | payload_bytes);
    } else {
        const uint32_t bytes = payload_bytes <= 0xffff ? 2 : 8;
        out[1] = (uint8_t)(masked | (bytes == 2 ? LENGTH_16 : LENGTH_64));
        for (uint32_t i = 0; i < bytes; i++) {
            out[at++] = (uint8_t)(payload_bytes >> (8 * (bytes - 1 - i)));
        }
    }
    if (mask != NULL) {
        memcpy(out + at, mask, 4);
        at += 4;
    }
    return at;
}

void websocket_mask(uint8_t *data, size_t bytes, const uint8_t mask[4])
{
    for (size_t i = 0; i < bytes; i++) {
        data[i] ^= mask[i & 3];
    }
}

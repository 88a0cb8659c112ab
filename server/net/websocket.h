// RFC 6455 framing as a pure state machine: bytes in, messages out, no socket. The server's side
// (masked frames in, unmasked out) and the client's side for bots.
//
// What ends a connection, and with which close code: an unmasked frame from a client, a reserved
// bit or opcode, a fragmented or oversized control frame, a continuation without a start (1002); a
// text message that is not UTF-8 (1007); a message larger than the limit, counted over its
// fragments (1009). A message is given out when it is whole. Pings are answered, by the caller,
// with what the reader says.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEBSOCKET_CONTROL_MAX  125
#define WEBSOCKET_HEADER_MAX   14
#define WEBSOCKET_KEY_BYTES    24 // base64 of the client's nonce
#define WEBSOCKET_ACCEPT_BYTES 28

typedef enum WebsocketOpcode {
    WEBSOCKET_CONTINUATION = 0,
    WEBSOCKET_TEXT = 1,
    WEBSOCKET_BINARY = 2,
    WEBSOCKET_CLOSE = 8,
    WEBSOCKET_PING = 9,
    WEBSOCKET_PONG = 10
} WebsocketOpcode;

typedef enum WebsocketEventType {
    WEBSOCKET_NEEDS_MORE, // everything given was used
    WEBSOCKET_MESSAGE,    // data, bytes, text?
    WEBSOCKET_PINGED,     // answer with a pong of the same data
    WEBSOCKET_PONGED,
    WEBSOCKET_CLOSED, // the other side says goodbye: close_code; answer and end
    WEBSOCKET_BROKEN  // it broke the protocol: send close_code and end
} WebsocketEventType;

typedef struct WebsocketEvent {
    WebsocketEventType type;
    bool text;
    uint16_t close_code;
    const uint8_t *data; // valid until the next call
    size_t bytes;
} WebsocketEvent;

typedef struct WebsocketReader {
    uint8_t *buffer; // takes one message; given at init
    size_t capacity; // and that is its limit
    size_t used;
    bool masked; // frames must be masked: this is a server
    // Inside a frame.
    uint8_t header[WEBSOCKET_HEADER_MAX];
    uint32_t header_used;
    uint64_t payload_left;
    uint8_t mask[4];
    uint32_t mask_at;
    uint8_t opcode;
    bool fin, in_payload, in_message, message_text, ended;
    uint8_t control[WEBSOCKET_CONTROL_MAX];
    uint32_t control_used;
} WebsocketReader;

void websocket_reader_init(WebsocketReader *reader, uint8_t *buffer, size_t capacity, bool masked);
// Uses some of the bytes; says in *used how many, and what they led to. Call again with the rest.
WebsocketEvent websocket_read(WebsocketReader *reader, const uint8_t *data, size_t bytes,
                              size_t *used);
// How many bytes are missing for the next thing to be known: the header of a frame, or its end.
// Never 0.
uint64_t websocket_wanted(const WebsocketReader *reader);

// The header of a whole unfragmented frame; returns its length. mask NULL: not masked.
size_t websocket_header(uint8_t out[WEBSOCKET_HEADER_MAX], WebsocketOpcode opcode,
                        uint64_t payload_bytes, const uint8_t *mask);
void websocket_mask(uint8_t *data, size_t bytes, const uint8_t mask[4]);

// --- the handshake ------------------------------------------------------------------------------
// Sec-WebSocket-Accept for a key. STATUS_MALFORMED when it is no base64 of 16 bytes.
MUST_USE Status websocket_accept(const char *key, char accept[WEBSOCKET_ACCEPT_BYTES + 1]);
// Which of our subprotocols to use from a Sec-WebSocket-Protocol header (NULL: none offered):
// "sandlot.v2.bin" before "sandlot.v2.json". Offered, but none of ours: STATUS_UNSUPPORTED. None
// offered is JSON, and *name is NULL then.
MUST_USE Status websocket_choose(const char *offered, bool *json, const char **name);
// Does a Sec-WebSocket-Protocol header (NULL: none) offer this one?
bool websocket_offers(const char *offered, const char *name);

// One bot's connection: a socket that never blocks, the client's side of the WebSocket handshake,
// and frames. It counts every byte of a frame, headers included, and what the handshake took apart.
//
//   NONE ──open──▶ CONNECTING ──▶ UPGRADING ──101──▶ OPEN ──▶ ENDED (reason)
#pragma once

#include "server/net/websocket.h"

#include <netinet/in.h>
#include <sys/socket.h>

#define BOTS_LINK_MESSAGE_BYTES (96u << 10)
#define BOTS_LINK_OUT_BYTES     (128u << 10)
#define BOTS_LINK_HEAD_BYTES    2048
#define BOTS_LINK_REASON_BYTES  96

typedef enum BotsLinkState {
    BOTS_LINK_NONE,
    BOTS_LINK_CONNECTING,
    BOTS_LINK_UPGRADING,
    BOTS_LINK_OPEN,
    BOTS_LINK_ENDED
} BotsLinkState;

typedef struct BotsLink {
    BotsLinkState state;
    int socket; // -1: none
    WebsocketReader reader;
    uint8_t *message; // the reader's buffer; memory comes when it is touched
    uint8_t *out;     // bytes that the socket has not accepted yet
    size_t out_begin, out_end;
    char head[BOTS_LINK_HEAD_BYTES]; // of the answer to the upgrade
    size_t head_used;
    char accept[WEBSOCKET_ACCEPT_BYTES + 1]; // the expected value of Sec-WebSocket-Accept
    bool writes;                             // waiting until the socket accepts more
    uint32_t mask;
    uint64_t bytes_down, bytes_up; // of frames
    // When the newest bytes reached this machine, from the kernel: the delay of the bots' own loop
    // does not count.
    uint64_t arrived_ns;
    uint16_t close_code; // sent by the other side; 0: none
    char reason[BOTS_LINK_REASON_BYTES];
} BotsLink;

typedef struct BotsAddress {
    struct sockaddr_storage address;
    socklen_t bytes;
    char host[300]; // of the Host header
    char path[512]; // with its query
} BotsAddress;
// ws://host:port/path, looked up once for all bots.
MUST_USE Status bots_address_find(const char *url, BotsAddress *out);

MUST_USE Status bots_link_init(BotsLink *link, uint32_t mask_seed);
void bots_link_deinit(BotsLink *link);
// Begins to connect; receive_bytes (0: the system's) limits the kernel's buffer. STATUS_BLOCKED:
// the system refuses; the reason says why.
MUST_USE Status bots_link_open(BotsLink *link, const BotsAddress *address, int receive_bytes);
// Ends it at once. The counters stay.
void bots_link_close(BotsLink *link, const char *reason);

typedef struct BotsLinkSink {
    void *user;
    void (*open)(void *user);
    void (*message)(void *user, const uint8_t *bytes, size_t count, size_t frame_bytes);
} BotsLinkSink;
// The socket is connected or writable.
void bots_link_writable(BotsLink *link, const BotsAddress *address);
// Reads once, at most to the end of a frame. `scratch` is shared by all links. False: there is no
// more now, or the link has ended.
bool bots_link_readable(BotsLink *link, uint8_t *scratch, size_t scratch_bytes,
                        const BotsLinkSink *sink);
// Sends a masked frame. False if there is no room, because the other side does not read.
bool bots_link_send(BotsLink *link, WebsocketOpcode opcode, const uint8_t *bytes, size_t count);
// Sends raw bytes, for bots that break the protocol.
bool bots_link_send_raw(BotsLink *link, const uint8_t *bytes, size_t count);
// Writes what waits to the socket.
void bots_link_flush(BotsLink *link);

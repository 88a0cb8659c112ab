// The players' sockets of a world process, drained once per tick: one epoll_wait, one recv for each
// that has something, later one sendmsg for each that is owed something. It speaks WebSocket and
// knows nothing of what messages mean.
//
//   OPEN ──close frame queued──▶ LAST ──sent──▶ LINGER ──the other side ends, or 2 s──▶ free
//
// Memory: a slot each; a message that comes in pieces gets a buffer of its own while it is
// incomplete; what a socket does not take at once is kept until it does, and meanwhile nothing more
// is asked for. The kernel's own buffers are small because the host made them so.
#pragma once

#include "core/base/limits.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOCKETS_MESSAGE_BYTES ((size_t)MESSAGE_BYTES_MAX)

typedef struct Sockets Sockets;

// What is known of a socket when it is added.
typedef struct SocketsOrigin {
    bool json;
    uint64_t address; // a number for where it comes from; not looked at here
    uint64_t number;  // the host's, for `closed`; likewise
} SocketsOrigin;

typedef struct SocketsCallbacks {
    void *user;
    // Each message may be text or binary, whatever the origin says; else all are of one kind.
    bool any_kind;
    // A whole message. False: it is not wanted; the connection is closed for lack of room.
    bool (*message)(void *user, uint64_t connection, const SocketsOrigin *from, bool text,
                    const uint8_t *bytes, size_t count);
    // The connection is over, whoever ended it; called once, and only if a message of it was
    // delivered.
    void (*gone)(void *user, uint64_t connection);
    // Its descriptor is closed, or it was refused; once for each that was added, but not for those
    // that sockets_destroy closes.
    void (*closed)(void *user, const SocketsOrigin *from);
    // The oldest message for it; valid until the next entry into the world, also once taken. *text
    // is what the origin says, and changed only with any_kind.
    bool (*output)(void *user, uint64_t connection, const uint8_t **bytes, size_t *count,
                   bool *text);
    void (*taken)(void *user, uint64_t connection);
} SocketsCallbacks;

typedef struct SocketsStats {
    uint32_t open;
    uint64_t bytes_down, bytes_up, sends, receives, partial, broken, silent, refused;
} SocketsStats;

// `epoll` is the caller's descriptor, created before the process entered the jail.
MUST_USE Status sockets_create(int epoll, uint32_t socket_max, const SocketsCallbacks *face,
                               Sockets **out);
void sockets_destroy(Sockets *sockets); // closes open sockets without a message
// Adds a connected socket, which the sockets own from then on, and the bytes read from it already.
void sockets_add(Sockets *sockets, int descriptor, const SocketsOrigin *from,
                 const uint8_t *already, size_t bytes, uint64_t now_ms);
void sockets_drain(Sockets *sockets, uint64_t now_ms);
void sockets_flush(Sockets *sockets, uint64_t now_ms);
// Closes it after everything queued for it is sent. An unknown connection is no error.
void sockets_close(Sockets *sockets, uint64_t connection, uint16_t close_code);
void sockets_close_number(Sockets *sockets, uint64_t number, uint16_t close_code); // the host's
// Sends pings and checks timeouts of every `parts`th socket; call it for all parts in turn within a
// second.
void sockets_check(Sockets *sockets, uint32_t part, uint32_t parts, uint64_t now_ms);
SocketsStats sockets_stats(const Sockets *sockets);

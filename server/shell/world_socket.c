// See world_socket.h. Most messages arrive whole in one recv: those are assembled in a buffer that
// all sockets share. Only a message that is cut by the end of a recv moves to a buffer of its slot.
#define _GNU_SOURCE
#include "server/shell/world_socket.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/net/websocket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define RECEIVE_BYTES    4096u        // enough for what an honest client sends in a tick
#define RECEIVE_MAX      (64u << 10)  // while a large message is coming in
#define SEND_MESSAGES    32           // in one call
#define SEND_BYTES       (128u << 10) // and about so many bytes
#define EVENTS_MAX       1024
#define LAST_MS          5000 // the time to send what is still queued
#define LINGER_MS        2000
#define CONTROL_BYTES    (2 * (2 + WEBSOCKET_CONTROL_MAX))
#define CLOSE_WRONG_KIND 1003
#define CLOSE_POLICY     1008
#define CLOSE_NO_ROOM    1013
#define NO_SLOT          UINT32_MAX

typedef enum SocketState { SOCKET_FREE, SOCKET_OPEN, SOCKET_LAST, SOCKET_LINGER } SocketState;

typedef struct Socket {
    SocketState state;
    int descriptor;
    uint64_t connection;
    SocketsOrigin from;
    bool known;  // a message of it was delivered
    bool writes; // waiting until epoll reports it writable
    uint32_t active_at;
    uint64_t since_ms; // of this state
    uint64_t heard_ms, pinged_ms, began_ms;
    WebsocketReader reader;
    // Our own frames between two messages: a pong, a ping, a close frame.
    uint8_t control[CONTROL_BYTES];
    uint32_t control_bytes;
    // Bytes that the socket did not accept; may begin in the middle of a frame.
    uint8_t *rest;
    size_t rest_bytes, rest_sent;
} Socket;

struct Sockets {
    int epoll;
    SocketsCallbacks face;
    Socket *slots;
    uint32_t slot_max;
    uint32_t *free;
    uint32_t free_count;
    uint32_t *active;
    uint32_t active_count;
    uint64_t count;  // connections so far
    uint64_t now_ms; // of the last drain
    uint8_t *own;    // a message buffer for each slot; pages that are not used take no memory
    uint8_t *shared;
    uint8_t *receive;
    struct epoll_event *events;
    SocketsStats stats;
};

// --- creation -----------------------------------------------------------------------------------

// Reserves address space; memory is taken when it is touched.
static void *reserve(size_t bytes)
{
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block != MAP_FAILED ? block : NULL;
}

Status sockets_create(int epoll, uint32_t socket_max, const SocketsCallbacks *face, Sockets **out)
{
    ASSERT(socket_max > 0 && socket_max <= WORLD_SOCKETS_MAX);
    Sockets *sockets = calloc(1, sizeof *sockets);
    if (sockets == NULL) {
        return STATUS_LIMIT;
    }
    sockets->epoll = epoll;
    sockets->face = *face;
    sockets->slot_max = socket_max;
    sockets->slots = reserve(socket_max * sizeof(Socket));
    sockets->free = calloc(socket_max, sizeof(uint32_t));
    sockets->active = calloc(socket_max, sizeof(uint32_t));
    sockets->own = reserve((size_t)socket_max * SOCKETS_MESSAGE_BYTES);
    sockets->shared = malloc(SOCKETS_MESSAGE_BYTES);
    sockets->receive = malloc(RECEIVE_MAX);
    sockets->events = calloc(EVENTS_MAX, sizeof(struct epoll_event));
    if (sockets->slots == NULL || sockets->free == NULL || sockets->active == NULL ||
        sockets->own == NULL || sockets->shared == NULL || sockets->receive == NULL ||
        sockets->events == NULL) {
        return STATUS_LIMIT; // the process ends
    }
    for (uint32_t i = 0; i < socket_max; i++) {
        sockets->free[i] = socket_max - 1 - i;
    }
    sockets->free_count = socket_max;
    *out = sockets;
    return STATUS_OK;
}

static uint32_t slot_of(const Sockets *sockets, const Socket *socket)
{
    return (uint32_t)(socket - sockets->slots);
}

static uint8_t *own_buffer(const Sockets *sockets, const Socket *socket)
{
    return sockets->own + (size_t)slot_of(sockets, socket) * SOCKETS_MESSAGE_BYTES;
}

static void free_slot(Sockets *sockets, Socket *socket)
{
    const uint32_t last = sockets->active[--sockets->active_count];
    sockets->active[socket->active_at] = last;
    sockets->slots[last].active_at = socket->active_at;
    close(socket->descriptor); // this also removes it from epoll
    free(socket->rest);
    memset(socket, 0, sizeof *socket);
    sockets->free[sockets->free_count++] = slot_of(sockets, socket);
}

static void close_slot(Sockets *sockets, Socket *socket)
{
    const SocketsOrigin from = socket->from;
    free_slot(sockets, socket);
    sockets->face.closed(sockets->face.user, &from);
}

void sockets_destroy(Sockets *sockets)
{
    while (sockets->active_count > 0) {
        free_slot(sockets, &sockets->slots[sockets->active[0]]);
    }
    (void)munmap(sockets->slots, sockets->slot_max * sizeof(Socket));
    (void)munmap(sockets->own, (size_t)sockets->slot_max * SOCKETS_MESSAGE_BYTES);
    free(sockets->free);
    free(sockets->active);
    free(sockets->shared);
    free(sockets->receive);
    free(sockets->events);
    free(sockets);
}

// --- ending -------------------------------------------------------------------------------------

static void tell_gone(Sockets *sockets, Socket *socket)
{
    if (socket->known) {
        socket->known = false;
        sockets->face.gone(sockets->face.user, socket->connection);
    }
}

// Ends it at once: the other side is gone, or does not follow the protocol.
static void drop(Sockets *sockets, Socket *socket)
{
    tell_gone(sockets, socket);
    close_slot(sockets, socket);
}

static void put_control(Socket *socket, WebsocketOpcode opcode, const uint8_t *data, size_t bytes)
{
    uint8_t header[WEBSOCKET_HEADER_MAX];
    const size_t header_bytes = websocket_header(header, opcode, bytes, NULL);
    if (header_bytes + bytes > CONTROL_BYTES - socket->control_bytes) {
        return; // a pong without a ping
    }
    memcpy(socket->control + socket->control_bytes, header, header_bytes);
    if (bytes > 0) {
        memcpy(socket->control + socket->control_bytes + header_bytes, data, bytes);
    }
    socket->control_bytes += (uint32_t)(header_bytes + bytes);
}

// What is queued is sent first, then the close frame.
static void say_goodbye(Sockets *sockets, Socket *socket, uint16_t close_code, uint64_t now_ms)
{
    if (socket->state != SOCKET_OPEN) {
        return;
    }
    const uint8_t code[2] = {(uint8_t)(close_code >> 8), (uint8_t)close_code};
    socket->state = SOCKET_LAST;
    socket->since_ms = now_ms;
    socket->control_bytes = 0; // there is always room for a close frame
    put_control(socket, WEBSOCKET_CLOSE, code, sizeof code);
    tell_gone(sockets, socket);
}

static Socket *find_socket(Sockets *sockets, uint64_t connection)
{
    const uint64_t slot = connection % WORLD_SOCKETS_MAX;
    if (slot >= sockets->slot_max) {
        return NULL;
    }
    Socket *socket = &sockets->slots[slot];
    return socket->state != SOCKET_FREE && socket->connection == connection ? socket : NULL;
}

void sockets_close(Sockets *sockets, uint64_t connection, uint16_t close_code)
{
    Socket *socket = find_socket(sockets, connection);
    if (socket != NULL) {
        say_goodbye(sockets, socket, close_code, sockets->now_ms);
    }
}

void sockets_close_number(Sockets *sockets, uint64_t number, uint16_t close_code)
{
    for (uint32_t i = 0; i < sockets->slot_max && number != 0; i++) {
        Socket *socket = &sockets->slots[i];
        if (socket->state != SOCKET_FREE && socket->from.number == number) {
            say_goodbye(sockets, socket, close_code, sockets->now_ms);
            return;
        }
    }
}

// --- receiving ----------------------------------------------------------------------------------

static bool give_message(Sockets *sockets, Socket *socket, const WebsocketEvent *event)
{
    if (!sockets->face.any_kind && event->text != socket->from.json) {
        sockets->stats.broken += 1;
        return false;
    }
    socket->known = true;
    return sockets->face.message(sockets->face.user, socket->connection, &socket->from, event->text,
                                 event->data, event->bytes);
}

// False if the socket is not read any further.
static bool handle(Sockets *sockets, Socket *socket, const WebsocketEvent *event, uint64_t now_ms)
{
    switch (event->type) {
    case WEBSOCKET_MESSAGE:
        if (!give_message(sockets, socket, event)) {
            const bool kind = sockets->face.any_kind || event->text == socket->from.json;
            say_goodbye(sockets, socket, kind ? CLOSE_NO_ROOM : CLOSE_WRONG_KIND, now_ms);
        }
        break;
    case WEBSOCKET_PINGED:
        socket->control_bytes = 0; // only the last ping has to be answered
        put_control(socket, WEBSOCKET_PONG, event->data, event->bytes);
        break;
    case WEBSOCKET_CLOSED: {
        const uint16_t code = event->close_code >= 1000 && event->close_code != 1005
                                  ? event->close_code
                                  : (uint16_t)1000;
        say_goodbye(sockets, socket, code, now_ms);
        break;
    }
    case WEBSOCKET_BROKEN:
        sockets->stats.broken += 1;
        say_goodbye(sockets, socket, event->close_code, now_ms);
        break;
    case WEBSOCKET_PONGED:
    case WEBSOCKET_NEEDS_MORE:
        break;
    }
    return socket->state == SOCKET_OPEN;
}

// An incomplete message moves out of the shared buffer; after a complete one the slot's own is
// released.
static void settle_buffer(Sockets *sockets, Socket *socket, uint64_t now_ms)
{
    WebsocketReader *reader = &socket->reader;
    if (reader->in_message && reader->buffer == sockets->shared) {
        reader->buffer = own_buffer(sockets, socket);
        memcpy(reader->buffer, sockets->shared, reader->used);
        socket->began_ms = now_ms;
    } else if (!reader->in_message && reader->buffer != sockets->shared) {
        (void)madvise(reader->buffer, SOCKETS_MESSAGE_BYTES, MADV_DONTNEED);
        reader->buffer = sockets->shared;
        socket->began_ms = 0;
    }
}

static void read_frames(Sockets *sockets, Socket *socket, const uint8_t *bytes, size_t count,
                        uint64_t now_ms)
{
    bool goes_on = true;
    for (size_t at = 0; goes_on && at < count;) {
        size_t used = 0;
        const WebsocketEvent event = websocket_read(&socket->reader, bytes + at, count - at, &used);
        at += used;
        goes_on = handle(sockets, socket, &event, now_ms);
    }
    if (goes_on) {
        settle_buffer(sockets, socket, now_ms);
    }
}

static void receive(Sockets *sockets, Socket *socket, uint64_t now_ms)
{
    const uint64_t left = socket->reader.in_payload ? socket->reader.payload_left : 0;
    const size_t want =
        left < RECEIVE_MAX - RECEIVE_BYTES ? RECEIVE_BYTES + (size_t)left : RECEIVE_MAX;
    const ssize_t got = recv(socket->descriptor, sockets->receive, want, MSG_DONTWAIT);
    sockets->stats.receives += 1;
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0) {
        drop(sockets, socket);
        return;
    }
    sockets->stats.bytes_up += (size_t)got;
    socket->heard_ms = now_ms;
    if (socket->state == SOCKET_OPEN) { // otherwise it is closing, and its data is ignored
        read_frames(sockets, socket, sockets->receive, (size_t)got, now_ms);
    }
}

void sockets_add(Sockets *sockets, int descriptor, const SocketsOrigin *from,
                 const uint8_t *already, size_t bytes, uint64_t now_ms)
{
    const uint32_t slot =
        sockets->free_count > 0 ? sockets->free[sockets->free_count - 1] : NO_SLOT;
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = slot};
    if (slot == NO_SLOT || epoll_ctl(sockets->epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) {
        static const uint8_t no_room[] = {0x88, 2, CLOSE_NO_ROOM >> 8, CLOSE_NO_ROOM & 0xff};
        (void)send(descriptor, no_room, sizeof no_room, MSG_DONTWAIT | MSG_NOSIGNAL);
        close(descriptor);
        sockets->stats.refused += 1;
        sockets->face.closed(sockets->face.user, from);
        return;
    }
    sockets->free_count -= 1;
    sockets->count += 1;
    Socket *socket = &sockets->slots[slot];
    *socket = (Socket){.state = SOCKET_OPEN,
                       .descriptor = descriptor,
                       .connection = sockets->count * WORLD_SOCKETS_MAX + slot,
                       .from = *from,
                       .active_at = sockets->active_count,
                       .since_ms = now_ms,
                       .heard_ms = now_ms,
                       .pinged_ms = now_ms};
    sockets->active[sockets->active_count++] = slot;
    websocket_reader_init(&socket->reader, sockets->shared, SOCKETS_MESSAGE_BYTES, true);
    read_frames(sockets, socket, already, bytes, now_ms);
}

// --- sending ------------------------------------------------------------------------------------

static void want_writes(Sockets *sockets, Socket *socket, bool wanted)
{
    if (socket->writes != wanted) {
        struct epoll_event event = {.events = wanted ? EPOLLIN | EPOLLOUT : EPOLLIN,
                                    .data.u32 = slot_of(sockets, socket)};
        const int failed = epoll_ctl(sockets->epoll, EPOLL_CTL_MOD, socket->descriptor, &event);
        ASSERT(failed == 0);
        socket->writes = wanted;
    }
}

// The number of bytes the socket accepted; false if it is gone.
static bool send_parts(Sockets *sockets, Socket *socket, struct iovec *parts, uint32_t count,
                       size_t *sent)
{
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    const ssize_t put = sendmsg(socket->descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    sockets->stats.sends += 1;
    if (put < 0 && errno != EAGAIN && errno != EINTR) {
        return false;
    }
    *sent = put > 0 ? (size_t)put : 0;
    sockets->stats.bytes_down += *sent;
    return true;
}

// True if nothing is left; otherwise the socket may have been dropped.
static bool send_rest(Sockets *sockets, Socket *socket)
{
    struct iovec part = {socket->rest + socket->rest_sent, socket->rest_bytes - socket->rest_sent};
    size_t sent;
    if (!send_parts(sockets, socket, &part, 1, &sent)) {
        drop(sockets, socket);
        return false;
    }
    socket->rest_sent += sent;
    if (socket->rest_sent < socket->rest_bytes) {
        return false;
    }
    free(socket->rest);
    socket->rest = NULL;
    socket->rest_bytes = 0;
    socket->rest_sent = 0;
    want_writes(sockets, socket, false);
    return true;
}

typedef struct Gathered {
    struct iovec parts[1 + 2 * SEND_MESSAGES];
    uint8_t headers[SEND_MESSAGES][WEBSOCKET_HEADER_MAX];
    uint32_t part_count;
    size_t bytes;
} Gathered;

static void gather_part(Gathered *all, const void *data, size_t bytes)
{
    if (bytes > 0) {
        all->parts[all->part_count++] = (struct iovec){(void *)(uintptr_t)data, bytes};
        all->bytes += bytes;
    }
}

// First the world's messages, then our own frames: a close frame comes last.
static void gather(Sockets *sockets, Socket *socket, Gathered *all)
{
    all->part_count = 0;
    all->bytes = 0;
    const uint8_t *bytes;
    size_t count;
    bool text = socket->from.json;
    for (uint32_t i = 0;
         i < SEND_MESSAGES && all->bytes < SEND_BYTES && socket->known &&
         sockets->face.output(sockets->face.user, socket->connection, &bytes, &count, &text);
         i++) {
        const WebsocketOpcode opcode = text ? WEBSOCKET_TEXT : WEBSOCKET_BINARY;
        gather_part(all, all->headers[i], websocket_header(all->headers[i], opcode, count, NULL));
        gather_part(all, bytes, count);
        sockets->face.taken(sockets->face.user, socket->connection);
    }
    gather_part(all, socket->control, socket->control_bytes);
}

// False if there is no memory.
static bool keep_rest(Socket *socket, const Gathered *all, size_t sent)
{
    socket->rest = malloc(all->bytes - sent);
    if (socket->rest == NULL) {
        return false;
    }
    socket->rest_bytes = all->bytes - sent;
    size_t at = 0;
    for (uint32_t i = 0; i < all->part_count; i++) {
        const size_t bytes = all->parts[i].iov_len;
        const size_t skip = sent < bytes ? sent : bytes;
        memcpy(socket->rest + at, (const uint8_t *)all->parts[i].iov_base + skip, bytes - skip);
        at += bytes - skip;
        sent -= skip;
    }
    ASSERT(at == socket->rest_bytes && sent == 0);
    return true;
}

static void flush(Sockets *sockets, Socket *socket, uint64_t now_ms)
{
    Gathered all;
    if (socket->state == SOCKET_LINGER || (socket->rest != NULL && !send_rest(sockets, socket))) {
        return;
    }
    gather(sockets, socket, &all);
    if (all.bytes > 0) {
        size_t sent;
        if (!send_parts(sockets, socket, all.parts, all.part_count, &sent)) {
            drop(sockets, socket);
            return;
        }
        socket->control_bytes = 0;
        if (sent < all.bytes) {
            sockets->stats.partial += 1;
            if (!keep_rest(socket, &all, sent)) {
                drop(sockets, socket);
                return;
            }
            want_writes(sockets, socket, true);
            return;
        }
    }
    if (socket->state == SOCKET_LAST) {
        // The other side reads our close frame; closing at once could reset the connection before
        // that.
        (void)shutdown(socket->descriptor, SHUT_WR);
        socket->state = SOCKET_LINGER;
        socket->since_ms = now_ms;
    }
}

void sockets_flush(Sockets *sockets, uint64_t now_ms)
{
    for (uint32_t i = sockets->active_count; i-- > 0;) {
        Socket *socket = &sockets->slots[sockets->active[i]];
        if (socket->rest == NULL) { // otherwise epoll reports when
            flush(sockets, socket, now_ms);
        }
    }
}

// --- once per tick ------------------------------------------------------------------------------

static void serve(Sockets *sockets, const struct epoll_event *event, uint64_t now_ms)
{
    Socket *socket = &sockets->slots[event->data.u32];
    if (socket->state == SOCKET_FREE) {
        return; // an event of the previous socket in this slot, in the same batch
    }
    if ((event->events & EPOLLOUT) != 0 && socket->rest != NULL) {
        flush(sockets, socket, now_ms);
    }
    if (socket->state != SOCKET_FREE &&
        (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) != 0) {
        receive(sockets, socket, now_ms);
    }
}

void sockets_drain(Sockets *sockets, uint64_t now_ms)
{
    sockets->now_ms = now_ms;
    // At most as many rounds as there can be batches: level-triggered events come again in the next
    // tick.
    for (uint32_t round = 0; round <= sockets->active_count / EVENTS_MAX; round++) {
        const int count = epoll_wait(sockets->epoll, sockets->events, EVENTS_MAX, 0);
        for (int i = 0; i < count; i++) {
            serve(sockets, &sockets->events[i], now_ms);
        }
        if (count < EVENTS_MAX) {
            return;
        }
    }
}

static bool is_over_time(const Socket *socket, uint64_t now_ms)
{
    const uint64_t age = now_ms - socket->since_ms;
    switch (socket->state) {
    case SOCKET_OPEN:
        return (!socket->known && age > SOCKET_FIRST_MS) ||
               now_ms - socket->heard_ms > SOCKET_SILENT_MS ||
               (socket->began_ms != 0 && now_ms - socket->began_ms > SOCKET_MESSAGE_MS);
    case SOCKET_LAST:
        return age > LAST_MS;
    case SOCKET_LINGER:
        return age > LINGER_MS;
    case SOCKET_FREE:
        break;
    }
    return false;
}

static void check(Sockets *sockets, Socket *socket, uint64_t now_ms)
{
    if (is_over_time(socket, now_ms)) {
        if (socket->state == SOCKET_OPEN && now_ms - socket->heard_ms <= SOCKET_SILENT_MS) {
            say_goodbye(sockets, socket, CLOSE_POLICY, now_ms);
            return;
        }
        sockets->stats.silent += socket->state == SOCKET_OPEN;
        drop(sockets, socket);
        return;
    }
    if (socket->state == SOCKET_OPEN && now_ms - socket->heard_ms > SOCKET_PING_MS &&
        now_ms - socket->pinged_ms > SOCKET_PING_MS) {
        socket->pinged_ms = now_ms;
        put_control(socket, WEBSOCKET_PING, NULL, 0);
    }
}

void sockets_check(Sockets *sockets, uint32_t part, uint32_t parts, uint64_t now_ms)
{
    for (uint32_t slot = part; slot < sockets->slot_max; slot += parts) {
        if (sockets->slots[slot].state != SOCKET_FREE) {
            check(sockets, &sockets->slots[slot], now_ms);
        }
    }
}

SocketsStats sockets_stats(const Sockets *sockets)
{
    SocketsStats stats = sockets->stats;
    stats.open = sockets->active_count;
    return stats;
}

// See bots_link.h. Everything sent in a tick is collected and written with one call.
#define _GNU_SOURCE
#include "server/bots/bots_link.h"

#include "core/base/base64.h"
#include "core/base/check.h"
#include "server/bots/bots_http.h"
#include "server/sys/entropy.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// --- addresses ----------------------------------------------------------------------------------

Status bots_address_find(const char *url, BotsAddress *out)
{
    BotsHttp parts;
    const Status status = bots_http_init(&parts, url);
    if (status != STATUS_OK) {
        return status;
    }
    const char *rest = strstr(url, "://");
    const char *path = strchr(rest + 3, '/');
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    *out = (BotsAddress){0};
    const int path_bytes = snprintf(out->path, sizeof out->path, "%s", path != NULL ? path : "/");
    if (path_bytes < 0 || (size_t)path_bytes >= sizeof out->path ||
        strpbrk(out->path, " \r\n") != NULL) {
        return STATUS_MALFORMED;
    }
    const bool six = strchr(parts.servers[0].host, ':') != NULL;
    snprintf(out->host, sizeof out->host, "%s%s%s:%s", six ? "[" : "", parts.servers[0].host,
             six ? "]" : "", parts.servers[0].port);
    if (getaddrinfo(parts.servers[0].host, parts.servers[0].port, &hints, &list) != 0 ||
        list == NULL) {
        return STATUS_BLOCKED;
    }
    memcpy(&out->address, list->ai_addr, list->ai_addrlen);
    out->bytes = list->ai_addrlen;
    freeaddrinfo(list);
    return STATUS_OK;
}

// --- beginning and end --------------------------------------------------------------------------

Status bots_link_init(BotsLink *link, uint32_t mask_seed)
{
    *link = (BotsLink){.socket = -1, .mask = mask_seed | 1};
    link->message = malloc(BOTS_LINK_MESSAGE_BYTES);
    link->out = malloc(BOTS_LINK_OUT_BYTES);
    if (link->message == NULL || link->out == NULL) {
        bots_link_deinit(link);
        return STATUS_LIMIT;
    }
    return STATUS_OK;
}

void bots_link_deinit(BotsLink *link)
{
    if (link->socket >= 0) {
        close(link->socket);
    }
    free(link->message);
    free(link->out);
    *link = (BotsLink){.socket = -1};
}

void bots_link_close(BotsLink *link, const char *reason)
{
    if (link->socket >= 0) {
        close(link->socket); // this also removes it from epoll
        link->socket = -1;
    }
    if (link->state != BOTS_LINK_ENDED) {
        link->state = BOTS_LINK_ENDED;
        snprintf(link->reason, sizeof link->reason, "%s", reason);
    }
}

static void end_by_errno(BotsLink *link, const char *what, int error)
{
    char text[BOTS_LINK_REASON_BYTES];
    snprintf(text, sizeof text, "%s: %s", what, strerrorname_np(error));
    bots_link_close(link, text);
}

Status bots_link_open(BotsLink *link, const BotsAddress *address, int receive_bytes)
{
    ASSERT(link->socket < 0);
    link->state = BOTS_LINK_NONE;
    link->out_begin = 0;
    link->out_end = 0;
    link->head_used = 0;
    link->close_code = 0;
    link->writes = true;
    link->reason[0] = 0;
    const int one = 1;
    link->socket =
        socket(address->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (link->socket < 0) {
        end_by_errno(link, "socket", errno);
        return STATUS_BLOCKED;
    }
    (void)setsockopt(link->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    (void)setsockopt(link->socket, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
    if (receive_bytes > 0) {
        (void)setsockopt(link->socket, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    }
    link->state = BOTS_LINK_CONNECTING;
    if (connect(link->socket, (const struct sockaddr *)&address->address, address->bytes) != 0 &&
        errno != EINPROGRESS) {
        end_by_errno(link, "connect", errno);
        return STATUS_BLOCKED;
    }
    return STATUS_OK;
}

// --- sending ------------------------------------------------------------------------------------

bool bots_link_send_raw(BotsLink *link, const uint8_t *bytes, size_t count)
{
    if (link->out_begin > 0 && link->out_end + count > BOTS_LINK_OUT_BYTES) {
        memmove(link->out, link->out + link->out_begin, link->out_end - link->out_begin);
        link->out_end -= link->out_begin;
        link->out_begin = 0;
    }
    if (count > BOTS_LINK_OUT_BYTES - link->out_end) {
        return false;
    }
    memcpy(link->out + link->out_end, bytes, count);
    link->out_end += count;
    link->bytes_up += link->state == BOTS_LINK_OPEN ? count : 0;
    return true;
}

bool bots_link_send(BotsLink *link, WebsocketOpcode opcode, const uint8_t *bytes, size_t count)
{
    uint8_t header[WEBSOCKET_HEADER_MAX], mask[4];
    // xorshift32: the masks only have to differ; our messages contain no secrets of a page.
    link->mask ^= link->mask << 13;
    link->mask ^= link->mask >> 17;
    link->mask ^= link->mask << 5;
    memcpy(mask, &link->mask, sizeof mask);
    const size_t header_bytes = websocket_header(header, opcode, count, mask);
    if (header_bytes + count > BOTS_LINK_OUT_BYTES - (link->out_end - link->out_begin)) {
        return false;
    }
    const bool head_fits = bots_link_send_raw(link, header, header_bytes);
    const bool body_fits = head_fits && bots_link_send_raw(link, bytes, count);
    ASSERT(body_fits);
    websocket_mask(link->out + link->out_end - count, count, mask);
    return true;
}

void bots_link_flush(BotsLink *link)
{
    if (link->out_begin == link->out_end || link->socket < 0 ||
        link->state == BOTS_LINK_CONNECTING) {
        return;
    }
    const ssize_t sent = send(link->socket, link->out + link->out_begin,
                              link->out_end - link->out_begin, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        end_by_errno(link, "send", errno);
        return;
    }
    link->out_begin += sent > 0 ? (size_t)sent : 0;
    link->writes = link->out_begin < link->out_end;
    if (!link->writes) {
        link->out_begin = 0;
        link->out_end = 0;
    }
}

static void ask_upgrade(BotsLink *link, const BotsAddress *address)
{
    uint8_t nonce[16];
    char key[WEBSOCKET_KEY_BYTES + 1] = {0};
    char text[1200];
    ByteWriter writer = byte_writer(key, WEBSOCKET_KEY_BYTES);
    entropy_fill(nonce, sizeof nonce);
    base64_write(nonce, sizeof nonce, &writer);
    ASSERT(writer.status == STATUS_OK);
    const Status known = websocket_accept(key, link->accept);
    ASSERT(known == STATUS_OK);
    const int bytes = snprintf(text, sizeof text,
                               "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n"
                               "Connection: Upgrade\r\nSec-WebSocket-Key: %s\r\n"
                               "Sec-WebSocket-Version: 13\r\n"
                               "Sec-WebSocket-Protocol: sandlot.v2.bin\r\n\r\n",
                               address->path, address->host, key);
    const bool fits = bytes > 0 && (size_t)bytes < sizeof text &&
                      bots_link_send_raw(link, (const uint8_t *)text, (size_t)bytes);
    ASSERT(fits);
}

void bots_link_writable(BotsLink *link, const BotsAddress *address)
{
    if (link->state == BOTS_LINK_CONNECTING) {
        int error = 0;
        socklen_t bytes = sizeof error;
        (void)getsockopt(link->socket, SOL_SOCKET, SO_ERROR, &error, &bytes);
        if (error != 0) {
            end_by_errno(link, "connect", error);
            return;
        }
        link->state = BOTS_LINK_UPGRADING;
        ask_upgrade(link, address);
    }
    bots_link_flush(link);
}

// --- receiving ----------------------------------------------------------------------------------

// What follows the empty line of the answer is frames already. False if the answer is invalid.
static bool read_head(BotsLink *link, const uint8_t *bytes, size_t count, size_t *used)
{
    const size_t room = sizeof link->head - 1 - link->head_used;
    const size_t taken = count < room ? count : room;
    memcpy(link->head + link->head_used, bytes, taken);
    const size_t before = link->head_used;
    link->head_used += taken;
    link->head[link->head_used] = 0;
    const char *end = memmem(link->head, link->head_used, "\r\n\r\n", 4);
    if (end == NULL) {
        *used = taken;
        if (taken < count) {
            bots_link_close(link, "upgrade: the answer is too long");
        }
        return taken == count;
    }
    *used = (size_t)(end - link->head) + 4 - before;
    if (strncmp(link->head, "HTTP/1.1 101", 12) != 0 || strstr(link->head, link->accept) == NULL) {
        char reason[BOTS_LINK_REASON_BYTES];
        snprintf(reason, sizeof reason, "upgrade: %.*s", (int)strcspn(link->head, "\r"),
                 link->head);
        bots_link_close(link, reason);
        return false;
    }
    link->state = BOTS_LINK_OPEN;
    websocket_reader_init(&link->reader, link->message, BOTS_LINK_MESSAGE_BYTES, false);
    return true;
}

static void goodbye(BotsLink *link, uint16_t code)
{
    char reason[BOTS_LINK_REASON_BYTES];
    snprintf(reason, sizeof reason, "closed with %u", code);
    link->close_code = code;
    bots_link_close(link, reason);
}

// The size of the frame's header; the server's frames are never masked.
static size_t frame_bytes(size_t payload)
{
    return payload + (payload < 126 ? 2 : payload < 65536 ? 4 : 10);
}

static void take_event(BotsLink *link, const WebsocketEvent *event, const BotsLinkSink *sink)
{
    switch (event->type) {
    case WEBSOCKET_MESSAGE:
        sink->message(sink->user, event->data, event->bytes, frame_bytes(event->bytes));
        break;
    case WEBSOCKET_PINGED:
        (void)bots_link_send(link, WEBSOCKET_PONG, event->data, event->bytes);
        break;
    case WEBSOCKET_CLOSED:
        goodbye(link, event->close_code);
        break;
    case WEBSOCKET_BROKEN:
        bots_link_close(link, "the server broke the protocol");
        break;
    case WEBSOCKET_PONGED:
    case WEBSOCKET_NEEDS_MORE:
        break;
    }
}

static void take_bytes(BotsLink *link, const uint8_t *bytes, size_t count, const BotsLinkSink *sink)
{
    size_t at = 0;
    if (link->state == BOTS_LINK_UPGRADING) {
        if (!read_head(link, bytes, count, &at)) {
            return;
        }
        if (link->state == BOTS_LINK_OPEN) {
            sink->open(sink->user);
        }
    }
    link->bytes_down += count - at;
    while (at < count && link->state == BOTS_LINK_OPEN) {
        size_t used = 0;
        const WebsocketEvent event = websocket_read(&link->reader, bytes + at, count - at, &used);
        at += used;
        take_event(link, &event, sink);
    }
}

static uint64_t wall_ns(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

static ssize_t receive(BotsLink *link, uint8_t *bytes, size_t count)
{
    _Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct timespec)) + 64];
    struct iovec part = {bytes, count};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    const ssize_t got = recvmsg(link->socket, &message, MSG_DONTWAIT);
    struct timespec time = {0};
    if (got > 0) {
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        if (header != NULL && header->cmsg_level == SOL_SOCKET &&
            header->cmsg_type == SCM_TIMESTAMPNS) {
            memcpy(&time, CMSG_DATA(header), sizeof time);
        } else {
            clock_gettime(CLOCK_REALTIME, &time);
        }
        link->arrived_ns = wall_ns(&time);
    }
    return got;
}

// Reads up to the end of the frame's header or of the frame. The kernel reports when the last byte
// that was read had arrived: if a read contained more than one frame, the others would get the same
// time.
static size_t bytes_wanted(const BotsLink *link, size_t most)
{
    const uint64_t wanted =
        link->state == BOTS_LINK_OPEN ? websocket_wanted(&link->reader) : (uint64_t)most;
    return wanted < most ? (size_t)wanted : most;
}

bool bots_link_readable(BotsLink *link, uint8_t *scratch, size_t scratch_bytes,
                        const BotsLinkSink *sink)
{
    if (link->socket < 0 || link->state == BOTS_LINK_CONNECTING) {
        return false;
    }
    const ssize_t got = receive(link, scratch, bytes_wanted(link, scratch_bytes));
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return false;
    }
    if (got <= 0) {
        if (got == 0) {
            bots_link_close(link, "the connection ended");
        } else {
            end_by_errno(link, "receive", errno);
        }
        return false;
    }
    take_bytes(link, scratch, (size_t)got, sink);
    return link->socket >= 0;
}

// The players' sockets of a world process, over socket pairs: messages that arrive in pieces, sends
// that the kernel cuts short, closing, silence.
#define _GNU_SOURCE
#include "server/shell/world_socket.h"

#include "core/base/rng.h"
#include "server/net/websocket.h"
#include "tests/support/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define NOTE_MAX 64

// A world that stores what it received, and has messages of one size to send.
typedef struct Ear {
    Sockets *sockets;
    int epoll;
    bool refuses;
    uint32_t heard;
    size_t sizes[NOTE_MAX];
    uint8_t first[NOTE_MAX];
    uint64_t connection; // of the last message
    uint32_t gone, closed;
    uint32_t owed; // messages
    size_t owed_bytes;
    uint8_t message[70000];
} Ear;

#define ORIGIN 0x1122334455667788u
#define NUMBER 77

static bool hear(void *user, uint64_t connection, const SocketsOrigin *from, bool text,
                 const uint8_t *bytes, size_t count)
{
    (void)text; // all are of the origin's kind
    Ear *ear = user;
    CHECK(from->address == ORIGIN);
    ear->connection = connection;
    if (ear->heard < NOTE_MAX) {
        ear->sizes[ear->heard] = count;
        ear->first[ear->heard] = count > 0 ? bytes[0] : 0;
    }
    ear->heard += 1;
    return !ear->refuses;
}

static void gone(void *user, uint64_t connection)
{
    Ear *ear = user;
    CHECK(connection != 0);
    ear->gone += 1;
}

static void closed(void *user, const SocketsOrigin *from)
{
    Ear *ear = user;
    CHECK(from->number == NUMBER);
    ear->closed += 1;
}

static bool output(void *user, uint64_t connection, const uint8_t **bytes, size_t *count,
                   bool *text)
{
    (void)text; // all are of the origin's kind
    Ear *ear = user;
    (void)connection;
    ear->message[0] = (uint8_t)ear->owed;
    *bytes = ear->message;
    *count = ear->owed_bytes;
    return ear->owed > 0;
}

static void taken(void *user, uint64_t connection)
{
    Ear *ear = user;
    (void)connection;
    ear->owed -= 1;
}

static Ear *ear_open(uint32_t socket_max)
{
    Ear *ear = calloc(1, sizeof *ear);
    const SocketsCallbacks face = {.user = ear,
                                   .message = hear,
                                   .gone = gone,
                                   .closed = closed,
                                   .output = output,
                                   .taken = taken};
    ear->epoll = epoll_create1(0);
    CHECK_OK(sockets_create(ear->epoll, socket_max, &face, &ear->sockets));
    for (size_t i = 0; i < sizeof ear->message; i++) {
        ear->message[i] = (uint8_t)(i * 31);
    }
    return ear;
}

static void ear_close(Ear *ear)
{
    sockets_destroy(ear->sockets);
    close(ear->epoll);
    free(ear);
}

static int join(Ear *ear, bool json)
{
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    const int small = 4096;
    (void)setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    const SocketsOrigin from = {.json = json, .address = ORIGIN, .number = NUMBER};
    sockets_add(ear->sockets, ends[1], &from, NULL, 0, 1000);
    return ends[0];
}

static size_t frame(uint8_t *out, WebsocketOpcode opcode, uint8_t first, size_t count)
{
    const uint8_t mask[4] = {1, 2, 3, 4};
    const size_t header = websocket_header(out, opcode, count, mask);
    memset(out + header, first, count);
    websocket_mask(out + header, count, mask);
    return header + count;
}

// Everything that is there to read, at most `capacity`.
static size_t read_all(int end, uint8_t *out, size_t capacity)
{
    size_t at = 0;
    for (;;) {
        const ssize_t got = recv(end, out + at, capacity - at, MSG_DONTWAIT);
        if (got <= 0) {
            return at;
        }
        at += (size_t)got;
    }
}

// The close code of what was received last; 0: no close frame.
static uint32_t close_code(int end)
{
    uint8_t bytes[512];
    const size_t count = read_all(end, bytes, sizeof bytes);
    return count >= 4 && bytes[count - 4] == 0x88
               ? (uint32_t)bytes[count - 2] << 8 | bytes[count - 1]
               : 0;
}

TEST(messages_arrive_however_they_are_cut)
{
    static uint8_t bytes[4 * 9000];
    const size_t sizes[] = {1, 30, 125, 126, 4000, 9000};
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t round = 0; round < 20 && test_is_passing(); round++) {
        Ear *ear = ear_open(4);
        const int end = join(ear, false);
        size_t count = 0;
        for (uint32_t i = 0; i < 6; i++) {
            count += frame(bytes + count, WEBSOCKET_BINARY, (uint8_t)(i + 1), sizes[i]);
        }
        for (size_t at = 0; at < count;) {
            const size_t cut = round == 0 ? 4000 : 1 + rng_below(&rng, 3000);
            const size_t size = cut < count - at ? cut : count - at;
            CHECK_INT(send(end, bytes + at, size, 0), size);
            at += size;
            sockets_drain(ear->sockets, 1000);
            sockets_drain(ear->sockets, 1000);
        }
        for (uint32_t i = 0; i < 8; i++) {
            sockets_drain(ear->sockets, 1000);
        }
        CHECK_INT(ear->heard, 6);
        for (uint32_t i = 0; i < 6; i++) {
            CHECK_INT(ear->sizes[i], sizes[i]);
            CHECK_INT(ear->first[i], i + 1);
        }
        close(end);
        sockets_drain(ear->sockets, 1000);
        CHECK_INT(ear->gone, 1);
        CHECK_INT(sockets_stats(ear->sockets).open, 0);
        ear_close(ear);
    }
}

TEST(what_the_kernel_does_not_take_goes_later_and_whole)
{
    static uint8_t got[12 * 70014];
    Ear *ear = ear_open(4);
    const int end = join(ear, false);
    uint8_t hello[16];
    const size_t count = frame(hello, WEBSOCKET_BINARY, 7, 1);
    CHECK_INT(send(end, hello, count, 0), count);
    sockets_drain(ear->sockets, 1000);
    ear->owed = 12;
    ear->owed_bytes = sizeof ear->message;
    sockets_flush(ear->sockets, 1000);
    CHECK(sockets_stats(ear->sockets).partial > 0);
    const uint32_t owed = ear->owed;
    sockets_flush(ear->sockets, 1000);
    CHECK_INT(ear->owed, owed); // nothing more is asked for meanwhile
    uint8_t ping[16];
    const size_t ping_bytes = frame(ping, WEBSOCKET_PING, 'x', 3);
    CHECK_INT(send(end, ping, ping_bytes, 0), ping_bytes);
    size_t at = 0;
    for (uint32_t i = 0; i < 10000 && at < 12 * 70010 + 5; i++) {
        sockets_drain(ear->sockets, 1000);
        sockets_flush(ear->sockets, 1000);
        at += read_all(end, got + at, sizeof got - at);
    }
    // Twelve whole frames and one pong, wherever it stands between two of them.
    WebsocketReader reader;
    static uint8_t message[70000];
    websocket_reader_init(&reader, message, sizeof message, false);
    uint32_t messages = 0, pongs = 0;
    for (size_t from = 0; from < at && test_is_passing();) {
        size_t used = 0;
        const WebsocketEvent event = websocket_read(&reader, got + from, at - from, &used);
        from += used;
        if (event.type == WEBSOCKET_MESSAGE) {
            CHECK_INT(event.bytes, sizeof ear->message);
            CHECK_BYTES(event.data + 1, ear->message + 1, sizeof ear->message - 1);
            messages += 1;
        } else if (event.type == WEBSOCKET_PONGED) {
            CHECK_BYTES(event.data, "xxx", 3);
            pongs += 1;
        } else {
            CHECK_INT(event.type, WEBSOCKET_NEEDS_MORE);
        }
    }
    CHECK_INT(messages, 12);
    CHECK_INT(pongs, 1);
    close(end);
    ear_close(ear);
}

TEST(goodbyes_have_their_codes)
{
    const struct {
        WebsocketOpcode opcode;
        bool json, refuses;
        uint32_t code;
    } cases[] = {{WEBSOCKET_TEXT, false, false, 1003},
                 {WEBSOCKET_BINARY, true, false, 1003},
                 {WEBSOCKET_BINARY, false, true, 1013},
                 {WEBSOCKET_CLOSE, false, false, 1000},
                 {WEBSOCKET_CONTINUATION, false, false, 1002}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Ear *ear = ear_open(4);
        ear->refuses = cases[i].refuses;
        const int end = join(ear, cases[i].json);
        uint8_t bytes[16];
        const size_t count =
            frame(bytes, cases[i].opcode, 'x', cases[i].opcode == WEBSOCKET_CLOSE ? 0 : 2);
        CHECK_INT(send(end, bytes, count, 0), count);
        sockets_drain(ear->sockets, 1000);
        sockets_flush(ear->sockets, 1000);
        CHECK_INT(close_code(end), cases[i].code);
        CHECK_INT(ear->gone, cases[i].refuses ? 1 : 0); // the others were never known
        CHECK_INT(sockets_stats(ear->sockets).open, 1); // until the other side has read it
        close(end);
        sockets_drain(ear->sockets, 1000);
        CHECK_INT(sockets_stats(ear->sockets).open, 0);
        ear_close(ear);
    }
}

TEST(what_is_owed_goes_before_a_goodbye)
{
    Ear *ear = ear_open(4);
    const int end = join(ear, false);
    uint8_t bytes[600];
    const size_t count = frame(bytes, WEBSOCKET_BINARY, 1, 1);
    CHECK_INT(send(end, bytes, count, 0), count);
    sockets_drain(ear->sockets, 1000);
    ear->owed = 1;
    ear->owed_bytes = 10;
    sockets_flush(ear->sockets, 1000);
    sockets_close(ear->sockets, ear->connection, 1001);
    sockets_close(ear->sockets, ear->connection, 1000); // once is enough
    sockets_close(ear->sockets, 12345678, 1000);
    CHECK_INT(ear->gone, 1);
    sockets_flush(ear->sockets, 1000);
    CHECK_INT(read_all(end, bytes, sizeof bytes), 2 + 10 + 4);
    CHECK_INT(bytes[12], 0x88);
    CHECK_INT(bytes[14] << 8 | bytes[15], 1001);
    sockets_check(ear->sockets, 0, 1, 1000 + 2001); // it does not go by itself
    CHECK_INT(sockets_stats(ear->sockets).open, 0);
    CHECK_INT(ear->gone, 1);
    CHECK_INT(ear->closed, 1);
    close(end);
    ear_close(ear);
}

TEST(silence_is_pinged_and_ends)
{
    Ear *ear = ear_open(4);
    const int mute = join(ear, false), half = join(ear, false), quiet = join(ear, false);
    uint8_t bytes[64];
    size_t count = frame(bytes, WEBSOCKET_BINARY, 1, 10);
    CHECK_INT(send(quiet, bytes, count, 0), count);
    CHECK_INT(send(half, bytes, count, 0), count);
    CHECK_INT(send(half, bytes, count - 3, 0), count - 3); // and never the rest
    sockets_drain(ear->sockets, 1000);
    sockets_check(ear->sockets, 0, 1, 11000);
    sockets_flush(ear->sockets, 11000);
    CHECK_INT(read_all(mute, bytes, sizeof bytes), 0);
    sockets_check(ear->sockets, 0, 1, 11001);
    sockets_flush(ear->sockets, 11001);
    CHECK_INT(close_code(mute), 1008); // it never sent anything
    CHECK_INT(close_code(half), 1008);
    CHECK_INT(read_all(quiet, bytes, sizeof bytes), 2);
    CHECK_INT(bytes[0], 0x89); // are you there?
    sockets_check(ear->sockets, 0, 1, 31001);
    CHECK_INT(sockets_stats(ear->sockets).open, 0);
    CHECK_INT(sockets_stats(ear->sockets).silent, 1);
    CHECK_INT(ear->closed, 3); // also those that the world never knew
    close(mute);
    close(half);
    close(quiet);
    ear_close(ear);
}

TEST(no_room_is_said)
{
    Ear *ear = ear_open(2);
    const int a = join(ear, false), b = join(ear, false), c = join(ear, false);
    CHECK_INT(close_code(c), 1013);
    CHECK_INT(sockets_stats(ear->sockets).refused, 1);
    CHECK_INT(ear->closed, 1);
    close(a);
    sockets_drain(ear->sockets, 1000);
    CHECK_INT(ear->closed, 2);
    const int d = join(ear, false);
    CHECK_INT(sockets_stats(ear->sockets).open, 2);
    close(b);
    close(c);
    close(d);
    ear_close(ear);
}

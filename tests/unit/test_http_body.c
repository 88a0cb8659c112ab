// Bodies that are taken as they arrive: limits while they come, clients that lie about the
// length, leave or are slow, and servers that stop in the middle.
#define _GNU_SOURCE
#include "server/net/http.h"

#include "tests/support/test.h"
#include "tests/unit/raw_client.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_MAX    (4u << 20)
#define LARGE_BYTES (16u << 20)

// --- the server under test ----------------------------------------------------------------------

// Adds up what it is given. What it does stands in the request's query.
typedef struct Taker {
    uint64_t declared, bytes, sum;
    uint32_t pieces;
    bool stops;
} Taker;

static atomic_uint begun, cancelled, taken;

static void *begin(void *user, HttpRequest *request, uint64_t declared, HttpResponse *response)
{
    (void)user;
    if (http_query(request, "refuse") != NULL) {
        http_fail(request, response, 401, "auth_failed", "who are you?");
        return NULL;
    }
    Taker *taker = calloc(1, sizeof *taker);
    if (taker == NULL) {
        abort();
    }
    taker->declared = declared;
    taker->stops = http_query(request, "stop") != NULL;
    atomic_fetch_add(&begun, 1);
    return taker;
}

static HttpBodyStep data(void *user, HttpRequest *request, const uint8_t *bytes, size_t count,
                         HttpResponse *response)
{
    Taker *taker = user;
    for (size_t i = 0; i < count; i++) {
        taker->sum += bytes[i];
    }
    taker->bytes += count;
    taker->pieces += 1;
    if (taker->stops && taker->bytes > 1000) {
        http_fail(request, response, 422, "nonsense", "this is no such file");
        return HTTP_BODY_STOP;
    }
    return HTTP_BODY_MORE;
}

static void cancel(void *user)
{
    atomic_fetch_add(&cancelled, 1);
    free(user);
}

static const HttpBody body = {begin, data, cancel};

static void post_body(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user;
    if (http_query(request, "ignore") != NULL) {
        return; // the taker is cancelled
    }
    Taker *taker = http_body_take(request);
    if (taker == NULL) {
        http_fail(request, response, 500, "failed", "there is no taker");
        return;
    }
    char *text = arena_alloc(http_arena(request), 128);
    response->bytes = (size_t)snprintf(text, 128, "%lld %llu", (long long)taker->declared,
                                       (unsigned long long)taker->bytes);
    response->body = (const uint8_t *)text;
    atomic_fetch_add(&taken, 1);
    free(taker);
}

static void get_hello(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user, (void)request;
    response->body = (const uint8_t *)"hello";
    response->bytes = 5;
}

static uint8_t large[LARGE_BYTES];

static void get_large(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user, (void)request;
    response->body = large;
    response->bytes = sizeof large;
    response->body_is_static = true;
}

static const HttpRoute routes[] = {
    {"GET", "/large", .handler = get_large},

    {"POST", "/body", post_body, .body_max = BODY_MAX, .body_taker = &body},
    {"POST", "/work", post_body, .body_max = BODY_MAX, .body_taker = &body, .blocks = true},
    {"POST", "/small", post_body, .body_max = 1000, .body_taker = &body},
    {"GET", "/hello", .handler = get_hello},
};

static HttpConfig test_config(void)
{
    return (HttpConfig){.address = "127.0.0.1",
                        .routes = routes,
                        .route_count = sizeof routes / sizeof routes[0],
                        .connection_max = 256,
                        .loopback_unlimited = true};
}

static HttpServer *start(const HttpConfig *config)
{
    HttpServer *server = NULL;
    CHECK_OK(http_start(config, &server));
    begun = cancelled = taken = 0;
    return server;
}

static HttpServer *start_default(void)
{
    const HttpConfig config = test_config();
    return start(&config);
}

static WorkPool *create_pool(uint32_t threads, uint32_t queue_max)
{
    const WorkPoolConfig config = {.thread_count = threads, .queue_max = queue_max};
    WorkPool *made = NULL;
    CHECK_OK(work_pool_create(&config, &made));
    return made;
}

static bool cancelled_reach(uint32_t count)
{
    for (int i = 0; i < WAIT_TURNS && atomic_load(&cancelled) < count; i++) {
        usleep(10000);
    }
    return atomic_load(&cancelled) == count;
}

// Sends a head and so many bytes of a body, chunked or not. False: the server closed it.
static bool send_body(int client, size_t bytes, bool is_chunked)
{
    static char block[32 << 10];
    memset(block, 1, sizeof block);
    bool is_sent = true;
    while (bytes > 0 && is_sent) {
        const size_t piece = bytes < sizeof block ? bytes : sizeof block;
        char line[16];
        snprintf(line, sizeof line, "%zx\r\n", piece);
        is_sent = (!is_chunked || send_text(client, line)) && send_bytes(client, block, piece) &&
                  (!is_chunked || send_text(client, "\r\n"));
        bytes -= piece;
    }
    return is_sent;
}

static int post(const HttpServer *server, const char *path, size_t bytes, bool is_chunked)
{
    const int client = connect_to(server);
    char head[256];
    if (is_chunked) {
        snprintf(head, sizeof head,
                 "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                 "Transfer-Encoding: chunked\r\n\r\n",
                 path);
    } else {
        snprintf(head, sizeof head,
                 "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                 "Content-Length: %zu\r\n\r\n",
                 path, bytes);
    }
    send_text(client, head);
    if (send_body(client, bytes, is_chunked) && is_chunked) {
        send_text(client, "0\r\n\r\n");
    }
    read_to_end(client);
    close(client);
    return reply_status();
}

// --- taking -------------------------------------------------------------------------------------

TEST(a_body_is_taken_as_it_arrives)
{
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    CHECK_INT(post(server, "/body", 0, false), 200);
    CHECK_TEXT(reply_body(), "0 0");
    CHECK_INT(post(server, "/body", 5, false), 200);
    CHECK_TEXT(reply_body(), "5 5");
    CHECK_INT(post(server, "/body", BODY_MAX, false), 200);
    CHECK_TEXT(reply_body(), "4194304 4194304");
    CHECK_INT(post(server, "/body", BODY_MAX, true), 200);
    CHECK_TEXT(reply_body(), "-1 4194304");              // nobody knew how many
    CHECK_INT(post(server, "/work", 100000, true), 200); // there is no pool: right here
    CHECK_INT(post(server, "/body?ignore=1", 100, false), 200);
    CHECK(cancelled_reach(1)); // nobody took it
    CHECK_INT(taken, 5);
    http_stop(server);
}

TEST(a_body_is_refused_before_it_comes)
{
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    CHECK_INT(ask(server, "POST /body?refuse=1 HTTP/1.1\r\nContent-Length: 4000000\r\n", ""), 401);
    check_error("auth_failed");
    CHECK_INT(ask(server, "POST /body HTTP/1.1\r\nContent-Length: 4194305\r\n", ""), 413);
    check_error("too_large");
    CHECK_INT(
        ask(server, "POST /small HTTP/1.1\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n", ""),
        413);
    CHECK_INT(begun, 0);
    CHECK_INT(http_stats(server).bodies_too_large, 2);
    http_stop(server);
}

static atomic_bool is_banned;

static bool enter(void *user, const HttpRoute *route, HttpRequest *request, HttpResponse *response)
{
    (void)user, (void)route;
    if (is_banned) {
        http_fail(request, response, 403, "banned", "not any more");
    }
    return !is_banned;
}

TEST(who_sends_a_body_is_asked_again_when_it_is_whole)
{
    HttpConfig config = test_config();
    config.enter = enter;
    HttpServer *server = start(&config);
    REQUIRE(server != NULL);
    for (int banned = 0; banned < 2; banned++) {
        const int client = connect_to(server);
        is_banned = false;
        send_text(client, "POST /work HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                          "Content-Length: 100\r\n\r\n");
        CHECK(send_body(client, 50, false));
        for (int i = 0; i < WAIT_TURNS && atomic_load(&begun) <= (unsigned)banned; i++) {
            usleep(10000);
        }
        is_banned = banned == 1;
        CHECK(send_body(client, 50, false));
        read_to_end(client);
        close(client);
        CHECK_INT(reply_status(), banned == 1 ? 403 : 200);
    }
    check_error("banned");
    CHECK(cancelled_reach(1));
    CHECK_INT(taken, 1);
    is_banned = false;
    http_stop(server);
}

// Also where it is small enough to be read, and whatever follows it.
TEST(after_a_body_that_is_too_large_the_connection_ends)
{
    static const char *const heads[] = {
        "GET /hello HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n12345",
        "GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Content-Length: 5\r\n\r\n12345"};
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        const int client = connect_to(server);
        send_text(client, heads[i]);
        send_text(client, "GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        read_to_end(client);
        close(client);
        CHECK_INT(reply_status(), 413);
        CHECK(reply_has("Connection: close\r\n"));
        CHECK(!reply_has("hello"));
    }
    http_stop(server);
}

// The client hears of it while it still sends, and sends no more than it had on its way.
TEST(too_large_is_said_while_it_arrives)
{
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    const int client = connect_to(server);
    send_text(client, "POST /small HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                      "chunked\r\n\r\n3e8\r\n");
    CHECK(send_body(client, 1000, false));
    send_text(client, "\r\n1\r\nx"); // one byte too many, and the body is far from its end
    read_to_end(client);
    CHECK_INT(reply_status(), 413);
    check_error("too_large");
    CHECK(reply_has("Connection: close\r\n"));
    close(client);
    CHECK(cancelled_reach(1));
    // One that does not listen is cut after a while.
    const int deaf = connect_to(server);
    send_text(deaf, "POST /small HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n");
    CHECK(!send_body(deaf, 64u << 20, true));
    close(deaf);
    CHECK(cancelled_reach(2));
    CHECK_INT(taken, 0);
    CHECK_INT(http_stats(server).bodies_too_large, 2);
    CHECK_INT(get(server, "/hello", ""), 200);
    http_stop(server);
}

TEST(a_taker_that_stops_says_why)
{
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(post(server, "/body?stop=1", 100000, i == 1), 422);
        check_error("nonsense");
    }
    CHECK(cancelled_reach(2));
    http_stop(server);
}

TEST(a_length_that_lies)
{
    HttpConfig config = test_config();
    config.timeout_ms = 500;
    HttpServer *server = start(&config);
    REQUIRE(server != NULL);
    // Fewer bytes than it said, and then the end, which may be noticed only when its time is over.
    const int client = connect_to(server);
    send_text(client, "POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n");
    CHECK(send_body(client, 60, false));
    shutdown(client, SHUT_WR);
    read_to_end(client);
    CHECK(reply_status() != 200);
    close(client);
    CHECK(cancelled_reach(1));
    // More: what is too much is no part of it, and no request either.
    const int more = connect_to(server);
    send_text(more, "POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n");
    send_text(more, "abcdef\r\n\r\n");
    read_to_end(more);
    CHECK_INT(reply_status(), 200);
    CHECK(reply_has("\r\n\r\n3 3"));
    close(more);
    // A chunk that says more than it has.
    const int chunk = connect_to(server);
    send_text(chunk, "POST /body HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                     "chunked\r\n\r\nffffffffffffffffff\r\nabc");
    shutdown(chunk, SHUT_WR);
    read_to_end(chunk);
    CHECK(reply_status() != 200);
    close(chunk);
    CHECK(cancelled_reach(2));
    CHECK_INT(taken, 1);
    http_stop(server);
}

// --- stopping -----------------------------------------------------------------------------------

TEST(stopping_in_the_middle_of_bodies)
{
    const int before = descriptors_open();
    WorkPool *pool = create_pool(2, 16);
    HttpConfig config = test_config();
    config.pool = pool;
    HttpServer *server = start(&config);
    REQUIRE(server != NULL && pool != NULL);
    CHECK_INT(post(server, "/work", 300000, true), 200); // a whole one, on the pool
    CHECK(strstr(reply_body(), " 300000") != NULL);
    int clients[6];
    for (int i = 0; i < 6; i++) {
        clients[i] = connect_to(server);
        send_text(clients[i], "POST /body HTTP/1.1\r\nHost: localhost\r\n"
                              "Content-Length: 10\r\n\r\n12345");
    }
    for (int i = 0; i < WAIT_TURNS && begun < 7; i++) {
        usleep(1000);
    }
    http_stop(server);
    work_pool_destroy(pool);
    for (int i = 0; i < 6; i++) {
        read_to_end(clients[i]);
        CHECK_INT(reply_bytes, 0);
        close(clients[i]);
    }
    CHECK_INT(cancelled, 6);
    CHECK_INT(descriptors_open(), before);
}

// --- time ---------------------------------------------------------------------------------------

// Sends pieces with pauses between them; true if the whole body was answered.
static bool send_slowly(const HttpServer *server, const char *path, uint32_t pieces, size_t piece,
                        uint32_t pause_ms)
{
    const int client = connect_to(server);
    char head[256];
    snprintf(head, sizeof head,
             "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", path,
             pieces * piece);
    send_text(client, head);
    bool is_sent = true;
    for (uint32_t i = 0; i < pieces && is_sent; i++) {
        struct pollfd end = {client, POLLIN, 0};
        usleep(pause_ms * 1000);
        is_sent = poll(&end, 1, 0) == 0 && send_body(client, piece, false);
    }
    if (is_sent) {
        read_answer(client);
    }
    close(client);
    return is_sent && reply_status() == 200;
}

// The time for a request is 400 ms here, and 20 KB/s are enough afterwards.
TEST(a_slow_but_steady_body_arrives)
{
    HttpConfig config = test_config();
    config.timeout_ms = 400;
    config.rate_min = 20000;
    HttpServer *server = start(&config);
    REQUIRE(server != NULL);
    // Four times as long as a request may take, at ten times the rate.
    CHECK(send_slowly(server, "/body", 16, 20000, 100));
    CHECK_INT(http_stats(server).too_slow, 0);
    // Below the rate it ends, although there is always something: 2 KB/s.
    CHECK(!send_slowly(server, "/body", 60, 100, 50));
    CHECK_INT(http_stats(server).too_slow, 1);
    CHECK(cancelled_reach(1));
    CHECK_INT(get(server, "/hello", ""), 200);
    http_stop(server);
}

// How much of a large answer a client gets that takes about a second and a half for it.
static size_t read_slowly(uint32_t rate_min)
{
    HttpConfig config = test_config();
    config.timeout_ms = 25; // an answer has 500 ms, and what its bytes take at the rate
    config.rate_min = rate_min;
    HttpServer *server = start(&config);
    size_t total = 0;
    if (server != NULL) {
        static char block[512 << 10];
        const int client = connect_to(server), small = 64 << 10;
        setsockopt(client, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        send_text(client, "GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        for (ssize_t got = 1; got > 0 && total < LARGE_BYTES;) {
            usleep(50000);
            got = recv(client, block, sizeof block, MSG_WAITALL);
            total += got > 0 ? (size_t)got : 0;
        }
        close(client);
        http_stop(server);
    }
    return total;
}

TEST(a_slow_reader_has_a_rate_to_keep)
{
    CHECK(read_slowly(64u << 10) >= LARGE_BYTES);
    CHECK(read_slowly(1u << 30) < LARGE_BYTES);
}

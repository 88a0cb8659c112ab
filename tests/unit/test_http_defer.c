// Answers that come later: from other threads, to clients that left, while the server stops, and
// more of them than may wait.
#define _GNU_SOURCE
#include "server/net/http.h"

#include "server/net/websocket.h"
#include "tests/support/test.h"
#include "tests/unit/raw_client.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEPT_MAX     64
#define STREAM_BYTES 100000u

// --- the server under test ----------------------------------------------------------------------

// The handles that handlers took, for the test to complete.
typedef struct Kept {
    pthread_mutex_t lock;
    pthread_cond_t more;
    HttpDeferred *handles[KEPT_MAX];
    uint32_t count;
} Kept;

static Kept kept = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
static atomic_int streams_begun, streams_ended, blocked;
static sem_t gate;

static void get_later(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user;
    HttpDeferred *handle = http_defer(request, response);
    if (handle != NULL) {
        pthread_mutex_lock(&kept.lock);
        kept.handles[kept.count++] = handle;
        pthread_cond_signal(&kept.more);
        pthread_mutex_unlock(&kept.lock);
    }
}

// The next handle that is there; NULL: none comes.
static HttpDeferred *take_handle(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    int failed = 0;
    pthread_mutex_lock(&kept.lock);
    while (kept.count == 0 && failed == 0) {
        failed = pthread_cond_timedwait(&kept.more, &kept.lock, &until);
    }
    HttpDeferred *handle = kept.count > 0 ? kept.handles[0] : NULL;
    if (handle != NULL) {
        kept.count -= 1;
        memmove(kept.handles, kept.handles + 1, kept.count * sizeof *kept.handles);
    }
    pthread_mutex_unlock(&kept.lock);
    if (handle == NULL) {
        test_fail(__FILE__, __LINE__, "nothing was deferred");
    }
    return handle;
}

static uint32_t count_kept(void)
{
    pthread_mutex_lock(&kept.lock);
    const uint32_t count = kept.count;
    pthread_mutex_unlock(&kept.lock);
    return count;
}

static void get_at_once(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user;
    HttpDeferred *handle = http_defer(request, response);
    if (handle != NULL) {
        HttpResponse now = http_response_default();
        now.body = (const uint8_t *)"\"at once\"";
        now.bytes = 9;
        http_complete(handle, &now);
        response->status = 500; // nobody looks at it any more
    }
}

// On the pool: everything that a request may be asked, in the request's own memory.
static void work_echo(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user;
    size_t bytes;
    const uint8_t *body = http_body(request, &bytes);
    const char *name = http_query(request, "name"), *header = http_header(request, "x-some");
    char *text = arena_alloc(http_arena(request), 2048);
    if (text == NULL) {
        http_fail(request, response, 500, "failed", "no memory");
        return;
    }
    response->bytes = (size_t)snprintf(text, 2048, "%s %s %s %.*s", http_path_part(request, 0),
                                       name != NULL ? name : "-", header != NULL ? header : "-",
                                       (int)bytes, body != NULL ? (const char *)body : "");
    response->body = (const uint8_t *)text;
    response->content_type = "text/plain";
}

static void work_gate(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user, (void)request;
    atomic_fetch_add(&blocked, 1);
    sem_wait(&gate);
    response->body = (const uint8_t *)"1";
    response->bytes = 1;
}

static void get_digits(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user, (void)request;
    response->body = (const uint8_t *)"0123456789";
    response->bytes = 10;
}

static void take_nothing(void *user, int descriptor, const uint8_t *already, size_t bytes,
                         bool json)
{
    (void)user, (void)already, (void)bytes, (void)json;
    close(descriptor);
}

static void get_socket(void *user, HttpRequest *request, HttpResponse *response)
{
    http_upgrade(request, response, take_nothing, user);
}

// An open stream: one event each time that the test says so, or as much as is taken. Its end waits
// for the lock, so whoever has the lock and finds the stream open may use the request.
typedef struct Open {
    pthread_mutex_t lock;
    HttpRequest *request;
    int events; // that are not read yet; -1: the end
    bool is_flood, is_begun, is_over;
} Open;
static Open opened = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t read_open(void *user, uint64_t at, void *out, size_t bytes)
{
    (void)at;
    Open *open = user;
    pthread_mutex_lock(&open->lock);
    const int events = open->events;
    open->events -= events > 0;
    const bool is_flood = open->is_flood;
    pthread_mutex_unlock(&open->lock);
    if (is_flood) {
        memset(out, 'x', bytes);
        return (int64_t)bytes;
    }
    if (events <= 0) {
        return events < 0 ? 0 : HTTP_STREAM_WAIT;
    }
    memcpy(out, "data: 1\n\n", 9);
    return 9;
}

static void end_open(void *user)
{
    Open *open = user;
    pthread_mutex_lock(&open->lock);
    open->is_over = true;
    pthread_mutex_unlock(&open->lock);
}

static void get_open(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user;
    pthread_mutex_lock(&opened.lock);
    opened.request = request;
    opened.events = 0;
    opened.is_flood = http_query(request, "flood") != NULL;
    opened.is_begun = true;
    opened.is_over = false;
    pthread_mutex_unlock(&opened.lock);
    response->content_type = "text/event-stream";
    response->stream =
        (HttpStream){.read = read_open, .end = end_open, .user = &opened, .is_open = true};
}

static const HttpRoute routes[] = {
    {"GET", "/open", .handler = get_open},
    {"GET", "/socket", .handler = get_socket},
    {"GET", "/later", .handler = get_later},
    {"POST", "/later", get_later, .body_max = 1000},
    {"GET", "/at_once", .handler = get_at_once},
    {"GET", "/echo/*", work_echo, .blocks = true},
    {"POST", "/echo/*", work_echo, .body_max = 1000, .blocks = true},
    {"GET", "/gate", work_gate, .blocks = true},
    {"GET", "/digits", .handler = get_digits},
};

static HttpConfig test_config(void)
{
    return (HttpConfig){.address = "127.0.0.1",
                        .routes = routes,
                        .route_count = sizeof routes / sizeof routes[0],
                        .connection_max = 256,
                        .loopback_unlimited = true,
                        .origin_same_host = true};
}

static HttpServer *start(const HttpConfig *config)
{
    HttpServer *server = NULL;
    CHECK_OK(http_start(config, &server));
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
    WorkPool *pool = NULL;
    CHECK_OK(work_pool_create(&config, &pool));
    return pool;
}

static int ask_later(const HttpServer *server, const char *headers)
{
    const int client = connect_to(server);
    char text[512];
    snprintf(text, sizeof text, "GET /later HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n", headers);
    send_text(client, text);
    return client;
}

static void complete_text(HttpDeferred *handle, const char *text)
{
    char copy[64]; // gone when the answer is sent
    char type[32] = "text/plain";
    snprintf(copy, sizeof copy, "%s", text);
    HttpResponse response = http_response_default();
    response.body = (const uint8_t *)copy;
    response.bytes = strlen(copy);
    response.content_type = type;
    http_complete(handle, &response);
    memset(copy, 'x', sizeof copy);
    memset(type, 'x', sizeof type);
}

// --- answering ----------------------------------------------------------------------------------

TEST(an_answer_comes_later)
{
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    const int client = ask_later(server, "");
    HttpDeferred *handle = take_handle();
    REQUIRE(handle != NULL);
    CHECK_INT(get(server, "/digits", ""), 200); // others are served meanwhile
    CHECK_INT(http_stats(server).waiting, 1);
    complete_text(handle, "later");
    read_answer(client);
    CHECK_INT(reply_status(), 200);
    CHECK_TEXT(reply_body(), "later");
    CHECK(reply_has("Content-Type: text/plain\r\n"));
    check_security_headers();
    // The same connection goes on, also with what was sent while it waited.
    send_text(client, "GET /later HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /digits HTTP/1.1\r\nHost: "
                      "127.0.0.1\r\n\r\n");
    handle = take_handle();
    REQUIRE(handle != NULL);
    complete_text(handle, "again");
    read_answer(client); // both may come at once
    while (!reply_has("0123456789") && read_more(client)) {
    }
    CHECK(reply_has("again") && reply_has("\r\n\r\n0123456789"));
    close(client);
    CHECK_INT(http_stats(server).waiting, 0);
    CHECK_INT(http_stats(server).deferred, 2);
    http_stop(server);
}

TEST(an_answer_that_is_there_before_the_handler_returns)
{
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    for (uint32_t i = 0; i < 20; i++) {
        CHECK_INT(get(server, "/at_once", ""), 200);
        CHECK_TEXT(reply_body(), "\"at once\"");
    }
    http_stop(server);
}

TEST(ranges_and_tags_work_later_too)
{
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    static const struct {
        const char *headers;
        int status;
        const char *body;
    } cases[] = {{"Range: bytes=2-4\r\n", 206, "234"},
                 {"Range: bytes=20-\r\n", 416, NULL},
                 {"If-None-Match: \"t\"\r\n", 304, ""},
                 {"", 200, "0123456789"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char headers[128];
        snprintf(headers, sizeof headers, "%sConnection: close\r\n", cases[i].headers);
        const int client = ask_later(server, headers);
        HttpDeferred *handle = take_handle();
        REQUIRE(handle != NULL);
        HttpResponse response = http_response_default();
        response.body = (const uint8_t *)"0123456789";
        response.bytes = 10;
        response.tag = "\"t\"";
        http_complete(handle, &response);
        read_to_end(client);
        CHECK_INT(reply_status(), cases[i].status);
        if (cases[i].body != NULL) {
            CHECK_TEXT(reply_body(), cases[i].body);
        }
        close(client);
    }
    http_stop(server);
}

TEST(an_error_comes_later)
{
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    const int client = ask_later(server, "");
    HttpDeferred *handle = take_handle();
    REQUIRE(handle != NULL);
    HttpResponse response;
    http_fail(http_deferred_request(handle), &response, 409, "conflict", "too \"late\"");
    http_complete(handle, &response);
    read_answer(client);
    CHECK_INT(reply_status(), 409);
    check_error("conflict");
    close(client);
    http_stop(server);
}

// --- streams ------------------------------------------------------------------------------------

static int64_t read_digits(void *user, uint64_t at, void *out, size_t bytes)
{
    (void)user;
    char *to = out;
    for (size_t i = 0; i < bytes; i++) {
        to[i] = (char)('0' + (at + i) % 10);
    }
    return (int64_t)bytes;
}

static void end_digits(void *user)
{
    (void)user;
    streams_ended += 1;
}

static void complete_stream(HttpDeferred *handle)
{
    HttpResponse response = http_response_default();
    response.bytes = STREAM_BYTES;
    response.stream = (HttpStream){.read = read_digits, .end = end_digits, .user = NULL};
    streams_begun += 1;
    http_complete(handle, &response);
}

static bool streams_all_end(void)
{
    for (int i = 0; i < 300 && streams_ended != streams_begun; i++) {
        usleep(10000);
    }
    return streams_ended == streams_begun;
}

TEST(a_stream_comes_later)
{
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    const int client = ask_later(server, "Connection: close\r\n");
    HttpDeferred *handle = take_handle();
    REQUIRE(handle != NULL);
    complete_stream(handle);
    read_to_end(client);
    CHECK_INT(strlen(reply_body()), STREAM_BYTES);
    close(client);
    // To one that left, with its socket reset.
    const int gone = ask_later(server, "");
    handle = take_handle();
    REQUIRE(handle != NULL);
    const struct linger reset = {1, 0};
    setsockopt(gone, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(gone);
    complete_stream(handle);
    CHECK(streams_all_end());
    http_stop(server);
}

// What a flag of the stream becomes; waits for it.
static bool open_becomes(const bool *flag)
{
    for (int i = 0;; i++) {
        pthread_mutex_lock(&opened.lock);
        const bool is_set = *flag;
        pthread_mutex_unlock(&opened.lock);
        if (is_set || i == 500) {
            return is_set;
        }
        usleep(10000);
    }
}

static bool open_ends(void)
{
    return open_becomes(&opened.is_over);
}

// -1: the end; else so many more.
static void open_give(int events)
{
    pthread_mutex_lock(&opened.lock);
    opened.events = events < 0 ? -1 : opened.events + events;
    if (!opened.is_over) {
        http_stream_go_on(opened.request);
    }
    pthread_mutex_unlock(&opened.lock);
}

static bool open_is_gone(void)
{
    pthread_mutex_lock(&opened.lock);
    const bool is_gone = opened.is_over || http_stream_is_gone(opened.request);
    pthread_mutex_unlock(&opened.lock);
    return is_gone;
}

// Reads until that text came; false: it does not come.
static bool receive_until(int client, const char *text)
{
    char got[4096] = "";
    size_t at = 0;
    while (strstr(got, text) == NULL) {
        const ssize_t count = recv(client, got + at, sizeof got - 1 - at, 0);
        if (count <= 0 || at + (size_t)count >= sizeof got - 1) {
            return false;
        }
        at += (size_t)count;
        got[at] = '\0';
    }
    return true;
}

static int ask_open(const HttpServer *server, const char *query)
{
    char text[128];
    pthread_mutex_lock(&opened.lock);
    opened.is_begun = false;
    pthread_mutex_unlock(&opened.lock);
    snprintf(text, sizeof text, "GET /open%s HTTP/1.1\r\nHost: localhost\r\n\r\n", query);
    const int client = connect_to(server);
    (void)!send(client, text, strlen(text), 0);
    CHECK(open_becomes(&opened.is_begun));
    return client;
}

TEST(an_open_stream_waits_and_goes_on)
{
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    const int client = ask_open(server, "");
    CHECK(receive_until(client, "Transfer-Encoding: chunked"));
    for (int i = 0; i < 50; i++) {
        open_give(1);
        REQUIRE(receive_until(client, "data: 1\n\n"));
    }
    CHECK(!open_is_gone());
    open_give(-1);
    CHECK(receive_until(client, "0\r\n\r\n"));
    CHECK(open_ends());
    close(client);
    // Who leaves while it waits is noticed without sending anything.
    const int gone = ask_open(server, "");
    CHECK(receive_until(gone, "\r\n\r\n"));
    close(gone);
    bool is_gone = false;
    for (int i = 0; i < 300 && !is_gone; i++) {
        usleep(10000);
        is_gone = open_is_gone();
    }
    CHECK(is_gone);
    open_give(-1);
    CHECK(open_ends());
    // A HEAD is answered without it, and a server that stops ends it.
    const int last = ask_open(server, "");
    CHECK(receive_until(last, "\r\n\r\n"));
    http_stop(server);
    CHECK(open_ends());
    close(last);
}

TEST(a_slow_reader_of_an_open_stream_is_cut_off)
{
    HttpConfig config = test_config();
    config.timeout_ms = 1000;
    HttpServer *server = NULL;
    REQUIRE(http_start(&config, &server) == STATUS_OK);
    const int client = ask_open(server, "?flood=1");
    CHECK(open_ends()); // nobody reads
    close(client);
    http_stop(server);
}

// --- clients that leave, and servers that stop --------------------------------------------------

TEST(a_client_that_left_is_no_error)
{
    const int before = descriptors_open();
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    for (uint32_t i = 0; i < 20; i++) {
        const int client = ask_later(server, "");
        HttpDeferred *handle = take_handle();
        REQUIRE(handle != NULL);
        if (i % 2 == 0) {
            const struct linger reset = {1, 0};
            setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        }
        close(client);
        usleep(i % 4 == 0 ? 5000 : 0);
        complete_text(handle, "for nobody");
        CHECK_INT(get(server, "/digits", ""), 200);
    }
    CHECK_INT(http_stats(server).waiting, 0);
    http_stop(server);
    CHECK_INT(descriptors_open(), before);
}

TEST(stopping_lets_go_of_those_that_wait)
{
    const int before = descriptors_open();
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    int clients[8];
    HttpDeferred *handles[8];
    for (uint32_t i = 0; i < 8; i++) {
        clients[i] = ask_later(server, "X-Some: thing\r\n");
        handles[i] = take_handle();
        REQUIRE(handles[i] != NULL);
    }
    http_stop(server);
    for (uint32_t i = 0; i < 8; i++) {
        read_to_end(clients[i]);
        CHECK_INT(reply_bytes, 0);
        close(clients[i]);
        // The request is still there for whoever works on it.
        const char *header = http_header(http_deferred_request(handles[i]), "X-Some");
        CHECK(header != NULL && strcmp(header, "thing") == 0);
        if (i % 2 == 0) {
            complete_stream(handles[i]);
        } else {
            complete_text(handles[i], "too late");
        }
    }
    CHECK(streams_all_end());
    CHECK_INT(descriptors_open(), before);
}

// Twenty times the time of a request; whoever works on it is not disturbed.
TEST(a_client_does_not_wait_for_ever)
{
    HttpConfig config = test_config();
    config.timeout_ms = 20;
    HttpServer *server = start(&config);
    REQUIRE(server != NULL);
    const int client = ask_later(server, "");
    HttpDeferred *handle = take_handle();
    REQUIRE(handle != NULL);
    read_to_end(client); // nothing, but the end
    CHECK_INT(reply_bytes, 0);
    close(client);
    CHECK_INT(http_stats(server).waiting, 1);
    complete_text(handle, "too late");
    CHECK_INT(http_stats(server).waiting, 0);
    http_stop(server);
}

static atomic_bool stop_completing;

static void *complete_all(void *user)
{
    (void)user;
    while (!atomic_load(&stop_completing)) {
        pthread_mutex_lock(&kept.lock);
        HttpDeferred *handle = kept.count > 0 ? kept.handles[--kept.count] : NULL;
        pthread_mutex_unlock(&kept.lock);
        if (handle != NULL) {
            if ((uintptr_t)handle / 64 % 2 == 0) {
                complete_text(handle, "hammered");
            } else {
                complete_stream(handle);
            }
        }
    }
    return NULL;
}

typedef struct Hammer {
    pthread_t thread;
    uint16_t port;
    atomic_bool stop;
} Hammer;

static atomic_uint hammered; // answers

static void *hammer(void *user)
{
    Hammer *self = user;
    const struct timeval limit = {.tv_usec = 300000};
    for (uint32_t i = 0; !atomic_load(&self->stop); i++) {
        char data[512];
        const int client = connect_port(self->port);
        if (client < 0) {
            usleep(1000);
            continue;
        }
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        const char *text = i % 3 == 0 ? "GET /echo/a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
                           : i % 3 == 1
                               ? "GET /later HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
                               : "POST /later HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: "
                                 "2\r\n\r\nab";
        if (send_text(client, text) && i % 5 != 0 && recv(client, data, sizeof data, 0) > 0) {
            atomic_fetch_add(&hammered, 1);
        }
        close(client);
    }
    return NULL;
}

// Requests, answers from other threads and the pool, and the end of it all, at once.
TEST(stopping_while_answers_come_from_everywhere)
{
    const int before = descriptors_open();
    for (uint32_t round = 0; round < 6; round++) {
        WorkPool *pool = create_pool(2, 8);
        HttpConfig config = test_config();
        config.pool = pool;
        config.waiting_max = 32;
        config.thread_count = 1 + round % 2;
        HttpServer *server = start(&config);
        REQUIRE(server != NULL && pool != NULL);
        pthread_t completers[2];
        Hammer hammers[3] = {0};
        atomic_store(&stop_completing, false);
        for (uint32_t i = 0; i < 2; i++) {
            REQUIRE(pthread_create(&completers[i], NULL, complete_all, NULL) == 0);
        }
        for (uint32_t i = 0; i < 3; i++) {
            hammers[i].port = http_port(server);
            REQUIRE(pthread_create(&hammers[i].thread, NULL, hammer, &hammers[i]) == 0);
        }
        for (int i = 0; i < WAIT_TURNS && atomic_load(&hammered) < 50; i++) {
            usleep(10000);
        }
        CHECK(atomic_load(&hammered) > 0);
        atomic_store(&hammered, 0);
        http_stop(server);
        work_pool_destroy(pool);
        for (uint32_t i = 0; i < 3; i++) {
            atomic_store(&hammers[i].stop, true);
            pthread_join(hammers[i].thread, NULL);
        }
        for (int i = 0; i < WAIT_TURNS && count_kept() > 0; i++) {
            usleep(1000);
        }
        atomic_store(&stop_completing, true);
        for (uint32_t i = 0; i < 2; i++) {
            pthread_join(completers[i], NULL);
        }
        CHECK_INT(count_kept(), 0);
    }
    CHECK(streams_all_end());
    CHECK_INT(streams_ended, streams_begun);
    CHECK_INT(descriptors_open(), before);
}

typedef struct Asker {
    pthread_t thread;
    uint16_t port;
    const char *text;
    uint32_t count, answers;
} Asker;

static void *ask_often(void *user)
{
    Asker *self = user;
    const struct timeval limit = {.tv_sec = 20};
    for (uint32_t i = 0; i < self->count; i++) {
        char data[1024];
        const int client = connect_port(self->port);
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        const bool came = send_text(client, self->text) && recv(client, data, sizeof data, 0) > 0;
        close(client);
        if (!came) {
            break; // the others would wait as long
        }
        self->answers += 1;
    }
    return NULL;
}

// libmicrohttpd holds a lock while it tells us that a socket was taken, and takes the same one when
// an answer comes from another thread.
TEST(sockets_are_taken_while_answers_come)
{
    static const char echo[] = "GET /echo/a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    static const char upgrade[] =
        "GET /socket HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    WorkPool *pool = create_pool(2, 64);
    HttpConfig config = test_config();
    config.pool = pool;
    HttpServer *server = start(&config);
    REQUIRE(server != NULL && pool != NULL);
    Asker askers[6];
    for (uint32_t i = 0; i < 6; i++) {
        askers[i] =
            (Asker){.port = http_port(server), .text = i % 2 == 0 ? echo : upgrade, .count = 400};
        REQUIRE(pthread_create(&askers[i].thread, NULL, ask_often, &askers[i]) == 0);
    }
    for (uint32_t i = 0; i < 6; i++) {
        pthread_join(askers[i].thread, NULL);
        CHECK_INT(askers[i].answers, askers[i].count);
    }
    http_stop(server);
    work_pool_destroy(pool);
}

// --- how many may wait --------------------------------------------------------------------------

TEST(only_so_many_wait)
{
    HttpConfig config = test_config();
    config.waiting_max = 4;
    HttpServer *server = start(&config);
    REQUIRE(server != NULL);
    int clients[4];
    for (uint32_t i = 0; i < 4; i++) {
        clients[i] = ask_later(server, "");
    }
    HttpDeferred *handles[4];
    for (uint32_t i = 0; i < 4; i++) {
        handles[i] = take_handle();
        REQUIRE(handles[i] != NULL);
    }
    CHECK_INT(get(server, "/later", ""), 503);
    check_error("busy");
    CHECK(reply_has("Retry-After: 5\r\n"));
    CHECK_INT(get(server, "/digits", ""), 200);
    complete_text(handles[0], "room");
    const int next = ask_later(server, "");
    handles[0] = take_handle();
    for (uint32_t i = 0; i < 4; i++) {
        complete_text(handles[i], "done");
        close(clients[i]);
    }
    close(next);
    const HttpStats stats = http_stats(server);
    CHECK_INT(stats.waiting, 0);
    CHECK_INT(stats.waiting_peak, 4);
    CHECK_INT(stats.waiting_refused, 1);
    http_stop(server);
}

TEST(one_address_has_a_share_of_those_that_wait)
{
    HttpConfig config = test_config();
    config.waiting_max = 16;
    config.loopback_unlimited = false;
    HttpServer *server = start(&config);
    REQUIRE(server != NULL);
    int clients[4];
    HttpDeferred *handles[4];
    for (uint32_t i = 0; i < 4; i++) {
        clients[i] = ask_later(server, "");
        handles[i] = take_handle();
        REQUIRE(handles[i] != NULL);
    }
    CHECK_INT(get(server, "/later", ""), 503);
    check_error("busy");
    for (uint32_t i = 0; i < 4; i++) {
        complete_text(handles[i], "done");
        close(clients[i]);
    }
    http_stop(server);
}

// --- the pool -----------------------------------------------------------------------------------

TEST(a_route_that_blocks_is_answered_from_the_pool)
{
    WorkPool *pool = create_pool(2, 8);
    HttpConfig config = test_config();
    config.pool = pool;
    config.thread_count = 2;
    HttpServer *server = start(&config);
    REQUIRE(server != NULL);
    CHECK_INT(get(server, "/echo/part?name=a%20b", "X-Some: thing\r\n"), 200);
    CHECK_TEXT(reply_body(), "part a b thing ");
    CHECK_INT(ask(server, "POST /echo/x HTTP/1.1\r\nContent-Length: 5\r\n", "hello"), 200);
    CHECK_TEXT(reply_body(), "x - - hello");
    CHECK_INT(ask(server, "HEAD /echo/part HTTP/1.1\r\n", ""), 200);
    CHECK_TEXT(reply_body(), "");
    CHECK(reply_has("Content-Length: 9\r\n"));
    CHECK_INT(ask(server, "POST /echo/x HTTP/1.1\r\nContent-Length: 9999999\r\n", ""), 413);
    for (int i = 0; i < WAIT_TURNS && work_pool_stats(pool).done < 3; i++) {
        usleep(1000); // it is counted after the answer
    }
    CHECK_INT(work_pool_stats(pool).done, 3);
    http_stop(server);
    work_pool_destroy(pool);
}

TEST(a_full_pool_says_later)
{
    WorkPool *pool = create_pool(1, 2);
    HttpConfig config = test_config();
    config.pool = pool;
    HttpServer *server = start(&config);
    REQUIRE(server != NULL);
    sem_init(&gate, 0, 0);
    atomic_store(&blocked, 0);
    int clients[3];
    for (uint32_t i = 0; i < 3; i++) {
        clients[i] = connect_to(server);
        send_text(clients[i], "GET /gate HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        for (int wait = 0; wait < WAIT_TURNS && i == 0 && atomic_load(&blocked) == 0; wait++) {
            usleep(1000);
        }
    }
    for (int i = 0; i < WAIT_TURNS && work_pool_stats(pool).waiting < 2; i++) {
        usleep(1000);
    }
    CHECK_INT(get(server, "/gate", ""), 503);
    check_error("busy");
    CHECK(reply_has("Retry-After: 5\r\n"));
    CHECK_INT(get(server, "/digits", ""), 200); // what does not block is not disturbed
    for (uint32_t i = 0; i < 3; i++) {
        sem_post(&gate);
    }
    for (uint32_t i = 0; i < 3; i++) {
        read_answer(clients[i]);
        CHECK_INT(reply_status(), 200);
        close(clients[i]);
    }
    CHECK_INT(http_stats(server).waiting_refused, 1);
    http_stop(server);
    work_pool_destroy(pool);
    sem_destroy(&gate);
}

static void *open_later(void *user)
{
    usleep(50000);
    sem_post(&gate);
    return user;
}

TEST(a_pool_that_ends_answers_what_waits)
{
    WorkPool *pool = create_pool(1, 4);
    HttpConfig config = test_config();
    config.pool = pool;
    HttpServer *server = start(&config);
    REQUIRE(server != NULL);
    sem_init(&gate, 0, 0);
    int clients[3];
    for (uint32_t i = 0; i < 3; i++) {
        clients[i] = connect_to(server);
        send_text(clients[i], "GET /gate HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    }
    for (int i = 0; i < WAIT_TURNS && work_pool_stats(pool).waiting < 2; i++) {
        usleep(1000);
    }
    http_stop(server);
    pthread_t opener;
    REQUIRE(pthread_create(&opener, NULL, open_later, NULL) == 0);
    work_pool_destroy(pool); // two of them never ran
    pthread_join(opener, NULL);
    for (uint32_t i = 0; i < 3; i++) {
        close(clients[i]);
    }
    sem_destroy(&gate);
}

TEST(memory_of_a_request_is_bounded)
{
    HttpServer *server = start_default();
    REQUIRE(server != NULL);
    const int client = ask_later(server, "");
    HttpDeferred *handle = take_handle();
    REQUIRE(handle != NULL);
    HttpRequest *request = http_deferred_request(handle);
    while (arena_alloc(http_arena(request), 16) != NULL) {
    }
    char type[] = "text/plain"; // has to be copied, and there is no room
    HttpResponse response = http_response_default();
    response.content_type = type;
    http_complete(handle, &response);
    read_answer(client);
    CHECK_INT(reply_status(), 500);
    check_error("too_large");
    close(client);
    http_stop(server);
}

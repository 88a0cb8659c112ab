// The parts of the bots that read input from others: addresses, HTTP responses, metrics, ledgers;
// and the histogram that all results come from.
#define _GNU_SOURCE
#include "server/bots/bots_inside.h"

#include "tests/support/test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST(urls)
{
    BotsHttp http;
    CHECK_INT(bots_http_init(&http, "http://127.0.0.1:7777/x"), STATUS_OK);
    CHECK(strcmp(http.servers[0].host, "127.0.0.1") == 0 &&
          strcmp(http.servers[0].port, "7777") == 0);
    CHECK_INT(bots_http_init(&http, "ws://[::1]:80/a?b"), STATUS_OK);
    CHECK(strcmp(http.servers[0].host, "::1") == 0 && strcmp(http.servers[0].port, "80") == 0);
    CHECK_INT(bots_http_init(&http, "http://host"), STATUS_OK);
    CHECK(strcmp(http.servers[0].port, "80") == 0);
    static const char *const bad[] = {
        "http://", "http://:1", "http://a:", "http://a:x", "http://a:123456", "http://[::1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(bots_http_init(&http, bad[i]), STATUS_MALFORMED);
    }
    CHECK_INT(bots_http_init(&http, "https://a"), STATUS_UNSUPPORTED);
    CHECK_INT(bots_http_init(&http, ""), STATUS_UNSUPPORTED);
}

// --- answers ------------------------------------------------------------------------------------

typedef struct Fake {
    int listener;
    const char *answer;
} Fake;

static void *answer_once(void *user)
{
    const Fake *fake = user;
    char question[4096];
    const int link = accept(fake->listener, NULL, NULL);
    (void)!recv(link, question, sizeof question, 0);
    // In two pieces: an answer may be cut anywhere.
    const size_t bytes = strlen(fake->answer);
    (void)!send(link, fake->answer, bytes / 2, MSG_NOSIGNAL);
    usleep(2000);
    (void)!send(link, fake->answer + bytes / 2, bytes - bytes / 2, MSG_NOSIGNAL);
    close(link);
    return NULL;
}

static void ask(const char *text, Status *status, BotsAnswer *out)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
    socklen_t bytes = sizeof address;
    Fake fake = {.listener = socket(AF_INET, SOCK_STREAM, 0), .answer = text};
    REQUIRE(bind(fake.listener, (const struct sockaddr *)&address, sizeof address) == 0);
    REQUIRE(listen(fake.listener, 1) == 0);
    REQUIRE(getsockname(fake.listener, (struct sockaddr *)&address, &bytes) == 0);
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u", ntohs(address.sin_port));
    BotsHttp http;
    REQUIRE(bots_http_init(&http, url) == STATUS_OK);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, answer_once, &fake) == 0);
    const BotsQuestion question = {.method = "GET", .path = "/", .answer_max = 100};
    *status = bots_http_ask(&http, &question, out);
    pthread_join(thread, NULL);
    bots_http_close(&http);
    close(fake.listener);
}

TEST(answers)
{
    BotsAnswer answer = {0};
    Status status = STATUS_LIMIT;
    ask("HTTP/1.1 201 Made\r\nContent-Length: 5\r\n\r\nhello", &status, &answer);
    CHECK_OK(status);
    CHECK(answer.status == 201 && answer.bytes == 5 && memcmp(answer.body, "hello", 6) == 0);
    free(answer.body);
    ask("HTTP/1.1 200 OK\r\nX: y\r\n\r\nto the end", &status, &answer);
    CHECK_OK(status);
    CHECK(answer.bytes == 10);
    free(answer.body);
}

TEST(answers_that_are_none)
{
    static const struct {
        const char *text;
        Status status;
    } bad[] = {
        {"", STATUS_BLOCKED},
        {"HTTP/1.1 200 OK\r\n", STATUS_BLOCKED},
        {"SSH-2.0\r\n\r\n", STATUS_MALFORMED},
        {"HTTP/1.1 20 OK\r\n\r\n", STATUS_MALFORMED},
        {"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", STATUS_MALFORMED},
        {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", STATUS_MALFORMED},
        {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", STATUS_MALFORMED},
        {"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", STATUS_LIMIT},
        {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", STATUS_TRUNCATED},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello", STATUS_MALFORMED},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", STATUS_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        BotsAnswer answer = {0};
        Status status = STATUS_OK;
        ask(bad[i].text, &status, &answer);
        CHECK_INT(status, bad[i].status);
        CHECK(answer.body == NULL);
    }
}

// --- numbers ------------------------------------------------------------------------------------

TEST(metrics)
{
    const BotsMetrics read = bots_metrics_read("# HELP sandlot_world_cpu_seconds_total x\n"
                                               "sandlot_world_cpu_seconds_total_x 9\n"
                                               "sandlot_world_cpu_seconds_total{world=\"a\"} 1.5\n"
                                               "sandlot_world_starts_total 3\n"
                                               "sandlot_world_ticks_total{world=\"a\"} 600");
    CHECK(read.known && read.cpu_seconds == 1.5 && read.starts == 3 && read.ticks == 600);
    CHECK(!bots_metrics_read("").known);
    CHECK(bots_metrics_read("sandlot_world_cpu_seconds_total{").cpu_seconds == 0);
}

TEST(histograms)
{
    static Histogram histogram;
    histogram.step = 0.1;
    CHECK(histogram_at(&histogram, 0.99) == 0);
    for (int i = 0; i < 99; i++) {
        histogram_add(&histogram, 50);
    }
    histogram_add(&histogram, 70);
    CHECK(histogram_at(&histogram, 0.5) > 49.9 && histogram_at(&histogram, 0.5) < 50.2);
    CHECK(histogram_at(&histogram, 0.99) == 70);
    histogram_add(&histogram, -1);
    histogram_add(&histogram, 1e9);
    CHECK(histogram.count == 102 && histogram.max == 1e9);
}

// --- ledgers ------------------------------------------------------------------------------------

TEST(ledgers)
{
    Ledger one, two;
    char path[] = "/tmp/sandlot-ledger-XXXXXX";
    REQUIRE(ledger_init(&one) == STATUS_OK && ledger_init(&two) == STATUS_OK);
    const int file = mkstemp(path);
    REQUIRE(file >= 0);
    const VoxelCoord at = {1, -2, 3};
    ledger_doubt_voxel(&one, at);
    REQUIRE(ledger_write(&one, path) == STATUS_OK);
    REQUIRE(ledger_read(&two, path) == STATUS_OK);
    CHECK(two.count == 0); // what is not sure is not asked for
    ledger_store(&one, &(BotCommand){.number = MESSAGE_TERRAFORM, .voxel = at, .kind = 4});
    ledger_store(&one, &(BotCommand){.number = MESSAGE_BUILD_PLACE, .entity = 70});
    ledger_store(&one, &(BotCommand){.number = MESSAGE_BUILD_PLACE, .entity = 71});
    ledger_store(&one, &(BotCommand){.number = MESSAGE_BUILD_REMOVE, .entity = 70});
    REQUIRE(ledger_write(&one, path) == STATUS_OK);
    REQUIRE(ledger_read(&two, path) == STATUS_OK);
    REQUIRE(two.count == 3);
    CHECK(ledger_voxel(&two, at)->kind == 4);
    CHECK(ledger_structure(&two, 70)->state == LEDGER_GONE);
    CHECK(ledger_structure(&two, 71)->state == LEDGER_STORED);
    REQUIRE(write(file, "nonsense\n", 9) == 9);
    CHECK_INT(ledger_read(&two, path), STATUS_MALFORMED);
    close(file);
    unlink(path);
    CHECK_INT(ledger_read(&two, path), STATUS_NOT_FOUND);
    ledger_deinit(&one);
    ledger_deinit(&two);
}

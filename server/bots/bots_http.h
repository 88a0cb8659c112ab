// A blocking HTTP client with one kept connection. It waits for the answer, so it runs at the start
// or on a thread of its own. Answers are limited in size and time, and treated as hostile.
#pragma once

#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

#define BOTS_HTTP_HOST_BYTES   256
#define BOTS_SERVERS_MAX       8
#define BOTS_HTTP_REASON_BYTES 160

typedef struct BotsHttpServer {
    char host[BOTS_HTTP_HOST_BYTES];
    char port[6];
} BotsHttpServer;

typedef struct BotsHttp {
    BotsHttpServer servers[BOTS_SERVERS_MAX]; // of one installation; any of them will do
    uint32_t server_count, server;            // the one that is asked
    int socket;                               // -1: none
    uint64_t asked, reconnected;
} BotsHttp;

// http://host[:port][/…] or ws://…; others are STATUS_UNSUPPORTED. Connects with the first request.
MUST_USE Status bots_http_init(BotsHttp *http, const char *url);
// Another server, which is asked when the one before it does not answer or cannot serve now.
// STATUS_LIMIT: there are BOTS_SERVERS_MAX already.
MUST_USE Status bots_http_add(BotsHttp *http, const char *url);
void bots_http_close(BotsHttp *http);

typedef struct BotsQuestion {
    const char *method, *path;
    const char *bearer; // NULL: none
    const char *body;   // JSON; NULL: none
    size_t answer_max;
} BotsQuestion;

typedef struct BotsAnswer {
    uint32_t status; // 200
    uint8_t *body;   // freed by the caller; with a zero after the last byte
    size_t bytes;
} BotsAnswer;

// STATUS_BLOCKED: no answer; STATUS_LIMIT: the answer is too large; STATUS_MALFORMED: it is
// invalid.
MUST_USE Status bots_http_ask(BotsHttp *http, const BotsQuestion *question, BotsAnswer *out);

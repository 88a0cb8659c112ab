// GET /admin/logs: the last lines of the log. Who asks with wait= is answered once there are new
// lines, so that `sandlot logs -f` follows without asking again and again. Those who wait are the
// main thread's.
#define _GNU_SOURCE
#include "server/serve/operate/http_admin.h"

#include "server/serve/operate/log_ring.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define LINES_MAX    500
#define LINE_BYTES   2048 // as JSON, every byte of it escaped
#define WAIT_SECONDS 30

typedef struct LogsAsk {
    uint64_t after, limit, wait;
    char area[97];
} LogsAsk;

// On the main thread. False: the response says what is wrong.
static bool read_ask(HttpRequest *request, HttpResponse *response, LogsAsk *out)
{
    LogsAsk ask = {.limit = 100};
    const char *world = http_query(request, "world");
    if (!serve_query_number(request, "after", INT64_MAX, &ask.after) ||
        !serve_query_number(request, "limit", LINES_MAX, &ask.limit) || ask.limit == 0 ||
        !serve_query_number(request, "wait", WAIT_SECONDS, &ask.wait)) {
        http_fail(request, response, 400, "malformed",
                  "after is the number of a line, limit 1 to 500, wait 0 to 30 seconds");
        return false;
    }
    if (world != NULL) {
        const HostWorld *named = host_world(((const Serve *)http_user(request))->host, world);
        if (named == NULL) {
            http_fail(request, response, 404, "not_found", "there is no such world here");
            return false;
        }
        snprintf(ask.area, sizeof ask.area, "%s", host_world_view(named).row->world_id);
    }
    *out = ask;
    return true;
}

// False: there are no lines yet.
static bool write_lines(HttpRequest *request, HttpResponse *response, const LogsAsk *ask,
                        bool is_last)
{
    const size_t capacity = ask->limit * LINE_BYTES + 256;
    uint8_t *text = malloc(capacity);
    if (text == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return true;
    }
    ByteWriter writer = byte_writer(text, capacity);
    JsonWriter json = json_writer(&writer, 0);
    const uint64_t last = log_ring_last(); // before: what comes meanwhile is told next time too
    const LogRingAsk of = {ask->after, ask->area, (uint32_t)ask->limit};
    json_write_object_begin(&json);
    json_write_name(&json, "lines");
    const uint32_t count = log_ring_write(&of, &json);
    serve_write_number(&json, "last", last);
    json_write_object_end(&json);
    if (count == 0 && !is_last) {
        free(text);
        return false;
    }
    http_keep(request, text);
    if (json_writer_finish(&json) != STATUS_OK) {
        http_fail(request, response, 500, "too_large", "the answer does not fit");
        return true;
    }
    response->body = text;
    response->bytes = writer.at;
    response->body_is_static = true;
    return true;
}

static bool answer_logs(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    LogsAsk ask;
    if (!read_ask(request, response, &ask) || write_lines(request, response, &ask, ask.wait == 0)) {
        return true;
    }
    if (serve->log_wait_count == SERVE_LOG_WAITS_MAX) {
        http_fail(request, response, 429, "too_many", "too many follow the log already");
        return true;
    }
    serve->log_waits[serve->log_wait_count++] =
        (ServeLogWait){deferred, clock_ns() + ask.wait * HOST_SECOND_NS};
    return false;
}

void serve_admin_get_logs(void *user, HttpRequest *request, HttpResponse *response)
{
    mailbox_ask(((Serve *)user)->mailbox, request, response, answer_logs);
}

void serve_logs_step(Serve *serve)
{
    const uint64_t last = log_ring_last(), now = clock_ns();
    const bool is_new = last != serve->log_seen;
    serve->log_seen = last;
    for (uint32_t i = 0; i < serve->log_wait_count;) {
        const ServeLogWait wait = serve->log_waits[i];
        HttpRequest *request = http_deferred_request(wait.deferred);
        HttpResponse response = http_response_default();
        const bool is_late = now >= wait.deadline_ns || host_is_stopping(serve->host);
        LogsAsk ask;
        if ((!is_new && !is_late) || (read_ask(request, &response, &ask) &&
                                      !write_lines(request, &response, &ask, is_late))) {
            i += 1;
            continue;
        }
        serve->log_waits[i] = serve->log_waits[--serve->log_wait_count];
        http_complete(wait.deferred, &response);
    }
}

void serve_logs_stop(Serve *serve)
{
    for (uint32_t i = 0; i < serve->log_wait_count; i++) {
        const HttpResponse response = http_response_default();
        http_complete(serve->log_waits[i].deferred, &response);
    }
    serve->log_wait_count = 0;
}

// Answers that come later, from any thread. A request whose handler deferred it is suspended: its
// connection is not read, written or timed by libmicrohttpd until it is resumed, so nobody but the
// holder of the handle touches it. The list of all of them exists for the cap, and so that the
// server can stop: libmicrohttpd must have no suspended connection then. Such a request lives on,
// without its connection, until the handle is used.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/net/http_inside.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define ADDRESS_SHARE 4 // one address may have a quarter of those that wait

// --- what is kept -------------------------------------------------------------------------------

typedef struct Keeping {
    HttpRequest *request;
    HttpField *fields; // NULL: they are only counted
    uint32_t count;
    bool failed;
} Keeping;

static const char *keep_text(HttpRequest *request, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = arena_alloc(http_arena(request), bytes);
    return copy != NULL ? memcpy(copy, text, bytes) : NULL;
}

static enum MHD_Result keep_field(void *user, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    Keeping *keeping = user;
    if (keeping->fields != NULL) {
        HttpField *field = &keeping->fields[keeping->count];
        field->kind = kind;
        field->name = keep_text(keeping->request, name);
        field->value = keep_text(keeping->request, value != NULL ? value : "");
        keeping->failed = field->name == NULL || field->value == NULL;
    }
    keeping->count += 1;
    return keeping->failed ? MHD_NO : MHD_YES;
}

static void each_field(HttpRequest *request, Keeping *keeping)
{
    const enum MHD_ValueKind kinds = MHD_HEADER_KIND | MHD_GET_ARGUMENT_KIND;
    (void)MHD_get_connection_values(request->connection, kinds, keep_field, keeping);
}

// Headers and arguments are libmicrohttpd's, and go with the connection.
static bool keep_fields(HttpRequest *request)
{
    Keeping counting = {.request = request}, keeping = {.request = request};
    each_field(request, &counting);
    keeping.fields = arena_array(http_arena(request), counting.count + 1, sizeof *keeping.fields);
    if (keeping.fields == NULL) {
        return false;
    }
    each_field(request, &keeping);
    request->fields = keeping.fields;
    request->field_count = keeping.count;
    return !keeping.failed;
}

static bool keep_body(HttpRequest *request, HttpResponse *response)
{
    if (response->body == NULL || response->bytes == 0 || response->body_is_static ||
        response->stream.read != NULL || http_request_owns(request, response->body)) {
        return true;
    }
    request->later_body = malloc(response->bytes);
    if (request->later_body == NULL) {
        return false;
    }
    memcpy(request->later_body, response->body, response->bytes);
    response->body = request->later_body;
    return true;
}

// The answer is given after whoever made it has returned, so nothing of theirs is pointed at.
static void keep_response(HttpRequest *request, const HttpResponse *given)
{
    HttpResponse response = *given;
    const char **texts[] = {&response.content_type,
                            &response.cache,
                            &response.content_security_policy,
                            &response.location,
                            &response.set_cookie,
                            &response.set_device_cookie,
                            &response.set_issuer_cookie,
                            &response.content_encoding,
                            &response.tag};
    bool is_kept = keep_body(request, &response);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (*texts[i] != NULL) {
            *texts[i] = keep_text(request, *texts[i]);
            is_kept = is_kept && *texts[i] != NULL;
        }
    }
    if (!is_kept) {
        http_stream_end(&given->stream);
        http_fail(request, &response, 500, "too_large", "there is no memory for the answer");
    }
    request->later = response;
}

// --- the list -----------------------------------------------------------------------------------

// With the lock held. NULL, or why nobody else may wait.
static const char *find_refusal(const HttpServer *server, const HttpRequest *request)
{
    const HttpConfig *config = &server->config;
    uint32_t same_address = 0;
    if (server->is_stopping) {
        return "the server is stopping";
    }
    if (server->stats.waiting >= config->waiting_max) {
        return "too many requests wait for an answer; try again later";
    }
    if (config->loopback_unlimited && request->is_loopback) {
        return NULL;
    }
    for (const HttpDeferred *at = server->deferred; at != NULL; at = at->after) {
        same_address += at->request->client == request->client;
    }
    return same_address * ADDRESS_SHARE < config->waiting_max
               ? NULL
               : "too many requests from this address wait for an answer; try again later";
}

static void link_to(HttpDeferred **list, HttpDeferred *deferred, HttpRequest *request)
{
    *deferred = (HttpDeferred){.request = request, .after = *list};
    if (*list != NULL) {
        (*list)->before = deferred;
    }
    *list = deferred;
}

static void unlink_from(HttpDeferred **list, HttpDeferred *deferred)
{
    if (deferred->before != NULL) {
        deferred->before->after = deferred->after;
    } else {
        *list = deferred->after;
    }
    if (deferred->after != NULL) {
        deferred->after->before = deferred->before;
    }
}

static void count_deferred(HttpServer *server)
{
    server->stats.waiting += 1;
    server->stats.deferred += 1;
    if (server->stats.waiting > server->stats.waiting_peak) {
        server->stats.waiting_peak = server->stats.waiting;
    }
}

// --- for handlers -------------------------------------------------------------------------------

HttpDeferred *http_defer(HttpRequest *request, HttpResponse *response)
{
    HttpServer *server = request->server;
    ASSERT(!request->is_deferred);
    if (!keep_fields(request)) {
        http_fail(request, response, 500, "too_large", "there is no memory for this request");
        return NULL;
    }
    pthread_mutex_lock(&server->lock);
    const char *refusal = find_refusal(server, request);
    if (refusal == NULL) {
        link_to(&server->deferred, &request->deferred, request);
        count_deferred(server);
        request->is_deferred = true;
        request->reference_count += 1;
        server->reference_count += 1;
    } else {
        server->stats.waiting_refused += 1;
    }
    pthread_mutex_unlock(&server->lock);
    if (refusal != NULL) {
        http_fail(request, response, 503, "busy", refusal);
        return NULL;
    }
    return &request->deferred;
}

void http_complete(HttpDeferred *deferred, const HttpResponse *response)
{
    HttpRequest *request = deferred->request;
    HttpServer *server = request->server;
    keep_response(request, response);
    pthread_mutex_lock(&server->lock);
    ASSERT(request->is_deferred && !request->is_complete); // once
    unlink_from(&server->deferred, deferred);
    ASSERT(server->stats.waiting > 0);
    server->stats.waiting -= 1;
    request->is_complete = true;
    if (!request->is_over && request->is_suspended) {
        MHD_resume_connection(request->connection);
    }
    pthread_mutex_unlock(&server->lock);
    http_request_release(request);
    http_server_release(server);
}

HttpRequest *http_deferred_request(HttpDeferred *deferred)
{
    return deferred->request;
}

static void run_work(void *user, bool is_cancelled)
{
    HttpRequest *request = user;
    HttpResponse response = http_response_default();
    if (is_cancelled) {
        http_fail(request, &response, 503, "busy", "the server is stopping");
    } else {
        http_thread_serves(request);
        request->work(request->server->config.user, request, &response);
        http_thread_serves(NULL);
    }
    http_complete(&request->deferred, &response);
}

static void work_on(WorkPool *pool, HttpRequest *request, HttpResponse *response, HttpHandler work)
{
    HttpServer *server = request->server;
    if (pool == NULL) {
        work(server->config.user, request, response);
        return;
    }
    HttpDeferred *deferred = http_defer(request, response);
    if (deferred == NULL) {
        return;
    }
    request->work = work;
    if (work_pool_submit(pool, run_work, request) != STATUS_OK) {
        pthread_mutex_lock(&server->lock);
        server->stats.waiting_refused += 1;
        pthread_mutex_unlock(&server->lock);
        http_fail(request, response, 503, "busy", "the server has too much to do; try again later");
        http_complete(deferred, response);
    }
}

void http_work(HttpRequest *request, HttpResponse *response, HttpHandler work)
{
    work_on(request->server->config.pool, request, response, work);
}

void http_work_slowly(HttpRequest *request, HttpResponse *response, HttpHandler work)
{
    const HttpConfig *config = &request->server->config;
    work_on(config->slow_pool != NULL ? config->slow_pool : config->pool, request, response, work);
}

// --- open streams -------------------------------------------------------------------------------

// A stream that waits needs no reference of its own: the response has one (http_answer.c), and
// outlives the pause.
HttpStreamStep http_defer_stream(HttpRequest *request)
{
    HttpServer *server = request->server;
    HttpStreamStep step = HTTP_STREAM_WAITS;
    pthread_mutex_lock(&server->lock);
    if (server->is_stopping) {
        step = HTTP_STREAM_STOPS;
    } else if (request->has_gone_on) {
        request->has_gone_on = false;
        step = HTTP_STREAM_AGAIN;
    } else {
        request->is_paused = true;
        link_to(&server->paused, &request->pause, request);
        http_watch_pause(server->watch, http_watched(request->connection));
        MHD_suspend_connection(request->connection);
    }
    pthread_mutex_unlock(&server->lock);
    return step;
}

void http_stream_go_on(HttpRequest *request)
{
    HttpServer *server = request->server;
    pthread_mutex_lock(&server->lock);
    if (!request->is_paused) {
        request->has_gone_on = true;
    } else if (!request->is_over) {
        request->is_paused = false;
        unlink_from(&server->paused, &request->pause);
        http_watch_request(server->watch, http_watched(request->connection));
        MHD_resume_connection(request->connection);
    }
    pthread_mutex_unlock(&server->lock);
}

// Nobody else reads a suspended connection, and it stays open until it goes on.
bool http_stream_is_gone(HttpRequest *request)
{
    HttpServer *server = request->server;
    bool is_gone = false;
    pthread_mutex_lock(&server->lock);
    if (request->is_paused && !request->is_over) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        uint8_t byte;
        is_gone = info == NULL ||
                  recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT | MSG_NOSIGNAL) == 0;
    }
    pthread_mutex_unlock(&server->lock);
    return is_gone;
}

// --- for the server -----------------------------------------------------------------------------

enum MHD_Result http_defer_wait(HttpRequest *request)
{
    HttpServer *server = request->server;
    pthread_mutex_lock(&server->lock);
    const bool waits = !request->is_complete && !request->is_over;
    if (waits) {
        request->is_suspended = true;
        MHD_suspend_connection(request->connection);
    }
    pthread_mutex_unlock(&server->lock);
    return waits ? MHD_YES : http_defer_answer(request);
}

enum MHD_Result http_defer_answer(HttpRequest *request)
{
    HttpServer *server = request->server;
    pthread_mutex_lock(&server->lock);
    const bool is_over = request->is_over;
    ASSERT(is_over || request->is_complete);
    pthread_mutex_unlock(&server->lock);
    if (is_over) {
        return MHD_NO; // the server stops, and the request may still be somebody else's
    }
    request->is_answered = true;
    return request->later.status == MHD_HTTP_SWITCHING_PROTOCOLS
               ? http_answer_upgrade(request)
               : http_answer(request, &request->later);
}

void http_defer_stop(HttpServer *server)
{
    pthread_mutex_lock(&server->lock);
    server->is_stopping = true;
    for (HttpDeferred *at = server->deferred; at != NULL; at = at->after) {
        at->request->is_over = true;
        if (at->request->is_suspended) {
            MHD_resume_connection(at->request->connection);
        }
    }
    for (HttpDeferred *at = server->paused; at != NULL; at = at->after) {
        at->request->is_over = true;
        MHD_resume_connection(at->request->connection);
    }
    server->paused = NULL;
    pthread_mutex_unlock(&server->lock);
}

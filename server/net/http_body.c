// Where a request ends, and its body, which is collected up to its route's limit and no further.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "server/net/http_inside.h"

#include <stdlib.h>
#include <string.h>

// Many clients send "{}" or a space with every POST: where no body is needed a little one is read,
// and nobody sees it.
static bool is_ignored(const HttpRoute *route)
{
    return route->body_max == 0 && strcmp(route->method, "GET") != 0;
}

size_t http_body_max(const HttpRequest *request)
{
    const HttpRoute *route = request->route;
    if (route == NULL) {
        return 0;
    }
    return is_ignored(route) ? HTTP_IGNORED_BYTES_MAX : route->body_max;
}

static enum MHD_Result add_framing(void *user, enum MHD_ValueKind kind, const char *name,
                                   size_t name_bytes, const char *value, size_t value_bytes)
{
    (void)kind, (void)name_bytes;
    http_rules_framing_add(user, name, value, value_bytes);
    return MHD_YES;
}

// libmicrohttpd before 1.0 gives neither the bytes of a line nor its true length: it cuts a value
// at a zero byte, and takes LF alone for the end of a line. But its names and values stand where
// they came, so what was cut is missing between them. From 1.0 on it refuses such lines itself.
static bool lines_stand_as_they_came(void)
{
    return strncmp(MHD_get_version(), "0.", 2) == 0;
}

const char *http_body_declared(const HttpRequest *request, const char *method, const char *version,
                               uint64_t *out)
{
    HttpFraming framing = {0};
    *out = 0;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const bool is_known = info != NULL && lines_stand_as_they_came();
    if (request->has_bad_address || (is_known && request->address_end + 1 != version)) {
        return "the address has a space or a byte that is no text";
    }
    if (is_known) {
        framing.next = version + strlen(version) + strlen("\r\n");
        framing.end = method + info->header_size;
    }
    (void)MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, add_framing, &framing);
    return http_rules_framing(&framing, request->http_1_0, out);
}

static bool grow_body(HttpRequest *request, size_t bytes)
{
    size_t capacity = request->body_capacity > 0 ? request->body_capacity : 4096;
    while (capacity < bytes + 1) {
        capacity *= 2;
    }
    uint8_t *grown =
        capacity > request->body_capacity ? realloc(request->body, capacity) : request->body;
    if (grown == NULL) {
        return false;
    }
    request->body = grown;
    request->body_capacity = capacity;
    return true;
}

static bool collect(HttpRequest *request, const char *data, size_t bytes)
{
    if (!grow_body(request, request->body_bytes + bytes)) {
        return false;
    }
    memcpy(request->body + request->body_bytes, data, bytes);
    request->body_bytes += bytes;
    request->body[request->body_bytes] = '\0';
    return true;
}

// The answer is sent at once: whoever sends much may look for one meanwhile. The rest is read for a
// little, since a client that still sends may never see an answer on a connection that is reset.
static bool refuse_body(HttpRequest *request, const HttpResponse *response)
{
    request->body_is_refused = true;
    http_answer_early(request, response);
    return true;
}

static bool refuse_too_large(HttpRequest *request)
{
    HttpResponse response;
    http_fail(request, &response, 413, "too_large", HTTP_TOO_LARGE);
    return refuse_body(request, &response);
}

bool http_body_begin(HttpRequest *request, uint64_t declared, HttpResponse *response)
{
    const HttpBody *body = request->route != NULL ? request->route->body_taker : NULL;
    if (body == NULL || request->body_too_large) {
        return true;
    }
    if (!http_request_enter(request, response)) {
        return false;
    }
    const bool is_chunked = http_header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
    request->taker = body->begin(request->server->config.user, request,
                                 is_chunked ? HTTP_BODY_UNKNOWN : declared, response);
    ASSERT(!request->is_deferred);
    return request->taker != NULL;
}

// False: the server stops.
static bool give_piece(HttpRequest *request, const char *data, size_t bytes)
{
    HttpResponse response = http_response_default();
    const HttpBodyStep step = request->route->body_taker->data(
        request->taker, request, (const uint8_t *)data, bytes, &response);
    request->body_bytes += bytes;
    return step != HTTP_BODY_STOP || refuse_body(request, &response);
}

bool http_body_receive(HttpRequest *request, const char *data, size_t bytes)
{
    request->body_came += bytes;
    http_watch_body(request->server->watch, http_watched(request->connection), request->body_came,
                    false);
    if (request->body_is_refused || request->body_too_large) {
        request->body_dropped += bytes;
        return request->body_dropped <= HTTP_DRAIN_BYTES_MAX;
    }
    if (request->body_came > http_body_max(request)) {
        return refuse_too_large(request);
    }
    if (request->route == NULL || is_ignored(request->route)) {
        return true;
    }
    if (request->taker != NULL) {
        return give_piece(request, data, bytes);
    }
    return collect(request, data, bytes) || refuse_too_large(request);
}

void *http_body_take(HttpRequest *request)
{
    void *taker = request->taker;
    request->taker = NULL;
    return taker;
}

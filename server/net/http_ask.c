// What handlers ask of their request, and the answer when something is wrong with it.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "core/base/json_write.h"
#include "core/base/limits.h"
#include "server/net/http_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void *http_user(const HttpRequest *request)
{
    return request->server->config.user;
}

const HttpRoute *http_route(const HttpRequest *request)
{
    return request->route;
}

const char *http_path_part(const HttpRequest *request, uint32_t star)
{
    return star < request->parts.count ? request->parts.text[star] : NULL;
}

// Once it is deferred the copies are asked: the connection may be gone.
static const char *find_value(const HttpRequest *request, enum MHD_ValueKind kind, const char *name)
{
    if (request->fields == NULL) {
        return MHD_lookup_connection_value(request->connection, kind, name);
    }
    for (uint32_t i = 0; i < request->field_count; i++) {
        const HttpField *field = &request->fields[i];
        if (field->kind == kind && strcasecmp(field->name, name) == 0) {
            return field->value;
        }
    }
    return NULL;
}

const char *http_query(const HttpRequest *request, const char *name)
{
    return find_value(request, MHD_GET_ARGUMENT_KIND, name);
}

const char *http_header(const HttpRequest *request, const char *name)
{
    return find_value(request, MHD_HEADER_KIND, name);
}

typedef struct CookieSearch {
    const char *name;
    char *out;
    size_t bytes;
    uint32_t found;
} CookieSearch;

// One header: "name=value; other=value".
static enum MHD_Result find_cookie(void *user, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    (void)kind;
    CookieSearch *search = user;
    if (strcasecmp(name, "Cookie") != 0 || value == NULL) {
        return MHD_YES;
    }
    const size_t name_bytes = strlen(search->name);
    for (const char *at = value; *at != '\0';) {
        at += strspn(at, "; \t");
        const size_t bytes = strcspn(at, ";");
        if (bytes > name_bytes && at[name_bytes] == '=' &&
            strncmp(at, search->name, name_bytes) == 0) {
            const size_t value_bytes = bytes - name_bytes - 1;
            const bool fits = value_bytes < search->bytes;
            memcpy(search->out, at + name_bytes + 1, fits ? value_bytes : 0);
            search->out[fits ? value_bytes : 0] = '\0';
            search->found += fits ? 1 : 2;
        }
        at += bytes;
    }
    return MHD_YES;
}

bool http_cookie(const HttpRequest *request, const char *name, char *out, size_t bytes)
{
    ASSERT(bytes > 0);
    CookieSearch search = {.name = name, .out = out, .bytes = bytes};
    out[0] = '\0';
    http_each_header(request, find_cookie, &search);
    return search.found == 1;
}

void http_each_header(const HttpRequest *request, HttpEach each, void *user)
{
    if (request->fields == NULL) {
        (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, each, user);
        return;
    }
    for (uint32_t i = 0; i < request->field_count; i++) {
        const HttpField *field = &request->fields[i];
        if (field->kind == MHD_HEADER_KIND &&
            each(user, field->kind, field->name, field->value) != MHD_YES) {
            return;
        }
    }
}

Arena *http_arena(HttpRequest *request)
{
    if (request->arena.base == NULL) {
        const size_t bytes = request->route != NULL && request->route->arena_bytes > 0
                                 ? request->route->arena_bytes
                                 : HTTP_ARENA_BYTES;
        void *block = malloc(bytes);
        arena_init(&request->arena, block, block != NULL ? bytes : 0);
    }
    return &request->arena;
}

void http_set_note(HttpRequest *request, const void *note)
{
    request->note = note;
}

const void *http_note(const HttpRequest *request)
{
    return request->note;
}

void http_keep(HttpRequest *request, void *memory)
{
    if (memory != NULL) {
        ASSERT(request->kept_count < HTTP_KEPT_MAX);
        request->kept[request->kept_count++] = memory;
    }
}

static enum MHD_Result add_accept(void *user, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    (void)kind;
    if (strcasecmp(name, "Accept-Encoding") == 0 && value != NULL) {
        http_rules_accept(user, value);
    }
    return MHD_YES;
}

HttpAccept http_accept(const HttpRequest *request)
{
    HttpAccept accept = {0};
    http_each_header(request, add_accept, &accept);
    return accept;
}

bool http_prefers_coding(const HttpRequest *request, HttpCoding coding)
{
    const HttpAccept accept = http_accept(request);
    return http_rules_choose(&accept, 1u << coding) == coding;
}

const uint8_t *http_body(const HttpRequest *request, size_t *bytes)
{
    *bytes = request->body_bytes;
    return request->body;
}

// --- who asks -----------------------------------------------------------------------------------

typedef struct Joined {
    char *text; // NULL: only counted
    size_t bytes;
} Joined;

static enum MHD_Result join_forwarded(void *user, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    (void)kind;
    Joined *joined = user;
    if (strcasecmp(name, "X-Forwarded-For") == 0) {
        const char *text = value != NULL ? value : "";
        const size_t bytes = strlen(text);
        if (joined->text != NULL) {
            memcpy(joined->text + joined->bytes, text, bytes);
            joined->text[joined->bytes + bytes] = ',';
        }
        joined->bytes += bytes + 1;
    }
    return MHD_YES;
}

// All X-Forwarded-For headers are one list. NULL: there is none. Without memory for it the list is
// one that nobody can read, as if the proxy had written nonsense.
static const char *read_forwarded(HttpRequest *request)
{
    Joined joined = {0};
    http_each_header(request, join_forwarded, &joined);
    if (joined.bytes == 0) {
        return NULL;
    }
    joined.text = arena_alloc(http_arena(request), joined.bytes);
    if (joined.text == NULL) {
        return "";
    }
    joined.bytes = 0;
    http_each_header(request, join_forwarded, &joined);
    joined.text[joined.bytes - 1] = '\0'; // the last comma
    return joined.text;
}

void http_find_client(HttpRequest *request)
{
    const HttpServer *server = request->server;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    HttpPeer peer;
    if (info == NULL || !http_watch_peer(info->client_addr, &peer)) {
        return;
    }
    HttpForwarded found = {.client = peer, .is_known = true};
    if (http_peer_range_has(server->trusted, server->trusted_count, &peer)) {
        found = http_client_find(server->trusted, server->trusted_count, &peer,
                                 read_forwarded(request));
    }
    request->client = http_peer_key(&found.client);
    request->peer = found.client;
    request->is_loopback = found.is_known && http_peer_is_loopback(&found.client);
}

bool http_is_loopback(const HttpRequest *request)
{
    return request->is_loopback;
}

HttpPeer http_peer(const HttpRequest *request)
{
    return request->peer;
}

bool http_socket_wanted(const HttpRequest *request)
{
    return http_header(request, "Upgrade") != NULL;
}

uint64_t http_address(const HttpRequest *request)
{
    return request->client;
}

static enum MHD_Result find_forwarded(void *user, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    static const char prefix[] = "X-Forwarded-";
    bool *is_found = user;
    (void)kind;
    (void)value;
    *is_found = strncasecmp(name, prefix, sizeof prefix - 1) == 0;
    return *is_found ? MHD_NO : MHD_YES; // MHD_NO: no more of them
}

bool http_is_forwarded(const HttpRequest *request)
{
    static const char *const names[] = {"CF-Connecting-IP", "Forwarded", "True-Client-IP", "Via",
                                        "X-Real-IP"};
    bool is_found = false;
    http_each_header(request, find_forwarded, &is_found);
    if (is_found) {
        return true;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (http_header(request, names[i]) != NULL) {
            return true;
        }
    }
    return request->http_1_0;
}

// A copy: whoever answers gives the request away while it still has things to say.
static _Thread_local char thread_request_id[HTTP_REQUEST_ID_BYTES];

const char *http_thread_request_id(void)
{
    return thread_request_id;
}

void http_thread_serves(const HttpRequest *request)
{
    static const char none[HTTP_REQUEST_ID_BYTES];
    memcpy(thread_request_id, request != NULL ? request->request_id : none,
           sizeof thread_request_id);
}

void http_fail(HttpRequest *request, HttpResponse *response, uint32_t status, const char *code,
               const char *message)
{
    snprintf(request->error_code, sizeof request->error_code, "%s", code);
    ByteWriter writer = byte_writer(request->error_text, HTTP_ERROR_BYTES);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "error");
    json_write_object_begin(&json);
    json_write_name(&json, "code");
    json_write_text(&json, code);
    json_write_name(&json, "message");
    json_write_text(&json, message);
    json_write_object_end(&json);
    json_write_object_end(&json);
    *response = (HttpResponse){.status = status,
                               .content_type = "application/json",
                               .body = (const uint8_t *)request->error_text,
                               .bytes = writer.at};
    if (json_writer_finish(&json) != STATUS_OK) {
        static const char plain[] = "{\"error\":{\"code\":\"failed\",\"message\":\"\"}}";
        response->body = (const uint8_t *)plain;
        response->bytes = sizeof plain - 1;
    }
}

HttpOriginRule http_origin_rule(const HttpRequest *request)
{
    const HttpConfig *config = &request->server->config;
    return (HttpOriginRule){.origins = config->origins,
                            .own = request->server->site.origin,
                            .host = request->server->own.origin,
                            .is_known = config->origin_is_known,
                            .user = config->user,
                            .same_host = config->origin_same_host};
}

bool http_origin_is_allowed(const HttpRequest *request)
{
    const HttpOriginRule rule = http_origin_rule(request);
    return http_rules_origin(&rule, http_header(request, "Origin"), http_header(request, "Host"));
}

// Responses as libmicrohttpd sends them: headers, ranges, streams, files of the web root, and the
// switch to a WebSocket.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "server/net/http_file.h"
#include "server/net/http_inside.h"

#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define STREAM_BLOCK_BYTES (32u << 10)
#define RETRY_AFTER        "5" // seconds; how long a client waits before it tries again
// With another site from which pages may fetch.
#define STRICT_POLICY                                                                    \
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'%s%s%s; " \
    "img-src 'self' blob: data:; connect-src 'self'%s%s%s; worker-src 'self'; "          \
    "object-src 'none'; base-uri 'none'; frame-ancestors%s; form-action 'self'"

// The sites that may show the page inside theirs, each with a space before it, and our own pages
// (the studio shows the game). NULL: none may.
static void write_frames(const char *const *origins, char out[HTTP_FRAMES_BYTES])
{
    size_t at =
        (size_t)snprintf(out, HTTP_FRAMES_BYTES, "%s", origins != NULL ? " 'self'" : " 'none'");
    for (size_t i = 0; origins != NULL && origins[i] != NULL; i++) {
        const int bytes = snprintf(out + at, HTTP_FRAMES_BYTES - at, " %s", origins[i]);
        ASSERT(bytes > 0 && (size_t)bytes < HTTP_FRAMES_BYTES - at); // the settings bound them
        at += (size_t)bytes;
    }
}

// Where pages may open WebSockets: anywhere, because a world may run on any machine; or, where
// hosts have names ("https://a.play.example"), at every name of that domain.
static void write_sockets(const HttpServer *server, char out[HTTP_SITE_BYTES + 16])
{
    const char *domain = strchr(server->own.name, '.');
    const bool is_name = server->own.name[0] != '\0' && domain != NULL &&
                         strchr(domain + 1, '.') != NULL &&
                         strspn(server->own.name, "0123456789.") < strlen(server->own.name);
    const bool is_https = strncmp(server->own.origin, "https:", 6) == 0;
    const char *port = strchr(server->own.origin + (is_https ? 8 : is_name ? 7 : 0), ':');
    if (is_name) {
        snprintf(out, HTTP_SITE_BYTES + 16, " %s://*%s%s", is_https ? "wss" : "ws", domain,
                 port != NULL ? port : "");
    } else {
        snprintf(out, HTTP_SITE_BYTES + 16, " ws: wss:");
    }
}

static void write_policy(const HttpServer *server, const char *nonce, const char *const *frames,
                         char out[HTTP_POLICY_BYTES])
{
    const char *site = server->config.fetch_site;
    const bool has_nonce = nonce != NULL;
    char framed[HTTP_FRAMES_BYTES], sockets[HTTP_SITE_BYTES + 16];
    write_frames(frames, framed);
    write_sockets(server, sockets);
    const int bytes = snprintf(out, HTTP_POLICY_BYTES, STRICT_POLICY, has_nonce ? " 'nonce-" : "",
                               has_nonce ? nonce : "", has_nonce ? "'" : "", sockets,
                               site != NULL ? " " : "", site != NULL ? site : "", framed);
    ASSERT(bytes > 0 && bytes < HTTP_POLICY_BYTES); // http_start checks the site
}

void http_policy_write(HttpServer *server)
{
    write_policy(server, NULL, NULL, server->policy);
}

void http_policy_nonce(const HttpRequest *request, const char nonce[HTTP_NONCE_BYTES],
                       const char *const *frames, char out[HTTP_POLICY_BYTES])
{
    ASSERT(strlen(nonce) == HTTP_NONCE_BYTES - 1);
    write_policy(request->server, nonce, frames, out);
}

static bool add_header(struct MHD_Response *reply, const char *name, const char *value)
{
    return value == NULL || value[0] == '\0' ||
           MHD_add_response_header(reply, name, value) == MHD_YES;
}

// Every answer has these.
static const struct {
    const char *name, *value;
} security_headers[] = {{"X-Content-Type-Options", "nosniff"},
                        {"Referrer-Policy", "no-referrer"},
                        {"Cross-Origin-Opener-Policy", "same-origin"}};
#define RESOURCE_POLICY  "Cross-Origin-Resource-Policy"
#define SECURITY_HEADERS (sizeof security_headers / sizeof security_headers[0])

static bool add_security_headers(struct MHD_Response *reply)
{
    bool whole = true;
    for (size_t i = 0; i < SECURITY_HEADERS; i++) {
        whole = whole && add_header(reply, security_headers[i].name, security_headers[i].value);
    }
    return whole;
}

static bool add_headers(struct MHD_Response *reply, const HttpRequest *request,
                        const HttpResponse *response)
{
    const bool is_shared = response->is_for_all_sites;
    const char *policy = response->content_security_policy != NULL
                             ? response->content_security_policy
                             : request->server->policy;
    const char *cache = response->cache != NULL ? response->cache : "no-store";
    return add_header(reply, "Content-Security-Policy", policy) && add_security_headers(reply) &&
           add_header(reply, RESOURCE_POLICY, is_shared ? "cross-origin" : "same-origin") &&
           add_header(reply, "Access-Control-Allow-Origin", is_shared ? "*" : NULL) &&
           add_header(reply, "Cache-Control", cache) &&
           add_header(reply, "Content-Type", response->content_type) &&
           add_header(reply, "Content-Disposition",
                      response->is_attachment ? "attachment" : NULL) &&
           add_header(reply, "Location", response->location) &&
           add_header(reply, "Set-Cookie", response->set_device_cookie) &&
           add_header(reply, "Set-Cookie", response->set_issuer_cookie) &&
           add_header(reply, "Set-Cookie", response->set_cookie) &&
           add_header(reply, "Content-Encoding", response->content_encoding) &&
           add_header(reply, "Vary", response->varies_by_encoding ? "Accept-Encoding" : NULL) &&
           add_header(reply, "X-Accel-Buffering",
                      response->stream.is_open ? "no" : NULL) && // nginx
           add_header(reply, "ETag", response->tag);
}

// What some statuses must have with them.
static bool add_status_headers(struct MHD_Response *reply, const HttpRequest *request,
                               uint32_t status, uint32_t retry_after_s)
{
    char seconds[16] = RETRY_AFTER;
    if (retry_after_s > 0) {
        snprintf(seconds, sizeof seconds, "%" PRIu32, retry_after_s);
    }
    if (request->must_close && !add_header(reply, "Connection", "close")) {
        return false;
    }
    if (status == 429) {
        return add_header(reply, "Retry-After", seconds);
    }
    if (status == 405 || status == 503) {
        return status == 405 ? add_header(reply, "Allow", request->allow)
                             : add_header(reply, "Retry-After", seconds);
    }
    return status != 426 || (add_header(reply, "Upgrade", "websocket") &&
                             add_header(reply, "Sec-WebSocket-Version", "13"));
}

static bool add_range(struct MHD_Response *reply, const HttpRange *range, uint64_t total)
{
    char line[HTTP_LINE_BYTES] = "";
    if (range->status == 206) {
        snprintf(line, sizeof line, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, range->from,
                 range->from + range->bytes - 1, total);
    } else if (range->status == 416) {
        snprintf(line, sizeof line, "bytes */%" PRIu64, total);
    }
    return add_header(reply, "Accept-Ranges", "bytes") && add_header(reply, "Content-Range", line);
}

// If-Range that names what is sent is as good as none.
static HttpRange wanted_range(const HttpRequest *request, const HttpResponse *response)
{
    const char *condition = http_header(request, "If-Range");
    const bool holds =
        condition != NULL && response->tag != NULL && strcmp(condition, response->tag) == 0;
    return http_rules_range(request->is_get ? http_header(request, "Range") : NULL,
                            holds ? NULL : condition, response->bytes);
}

// The reply is used up. Without one of its headers it is not sent.
static enum MHD_Result send_reply(HttpRequest *request, struct MHD_Response *reply, uint32_t status,
                                  bool whole)
{
    request->has_reply = true;
    request->status = status;
    whole = whole && add_header(reply, "X-Request-Id", request->request_id);
    const enum MHD_Result queued =
        whole ? MHD_queue_response(request->connection, status, reply) : MHD_NO;
    MHD_destroy_response(reply);
    return queued;
}

// A stream on its way, from the first byte that is wanted on.
typedef struct Sending {
    HttpStream stream;
    uint64_t from;
    HttpRequest *request; // of an open one, which has a reference to it
} Sending;

static ssize_t read_open(const Sending *sending, uint64_t at, char *out, size_t bytes)
{
    HttpRequest *request = sending->request;
    for (;;) {
        const int64_t got = sending->stream.read(sending->stream.user, at, out, bytes);
        if (got != HTTP_STREAM_WAIT) {
            http_watch_request(request->server->watch, http_watched(request->connection));
            return got > 0 && (uint64_t)got <= bytes ? (ssize_t)got
                                                     : MHD_CONTENT_READER_END_OF_STREAM;
        }
        switch (http_defer_stream(request)) {
        case HTTP_STREAM_WAITS:
            return 0;
        case HTTP_STREAM_STOPS:
            return MHD_CONTENT_READER_END_WITH_ERROR;
        case HTTP_STREAM_AGAIN:
            break;
        }
    }
}

static ssize_t on_read(void *user, uint64_t at, char *out, size_t bytes)
{
    const Sending *sending = user;
    if (sending->stream.is_open) {
        return read_open(sending, at, out, bytes);
    }
    const int64_t got = sending->stream.read(sending->stream.user, sending->from + at, out, bytes);
    return got > 0 && (uint64_t)got <= bytes ? (ssize_t)got : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void on_read_end(void *user)
{
    const Sending *sending = user;
    sending->stream.end(sending->stream.user);
    if (sending->request != NULL) {
        http_request_release(sending->request);
    }
    free(user);
}

// Takes the stream, also when it fails.
static struct MHD_Response *make_streamed(HttpRequest *request, const HttpStream *stream,
                                          const HttpRange *range)
{
    Sending *sending = malloc(sizeof *sending);
    struct MHD_Response *reply = NULL;
    if (sending != NULL) {
        *sending = (Sending){*stream, range->from, stream->is_open ? request : NULL};
        reply =
            MHD_create_response_from_callback(stream->is_open ? MHD_SIZE_UNKNOWN : range->bytes,
                                              STREAM_BLOCK_BYTES, on_read, sending, on_read_end);
    }
    if (reply != NULL && stream->is_open) {
        request->reference_count += 1;
    }
    if (reply == NULL) {
        stream->end(stream->user);
        free(sending);
    }
    return reply;
}

// A file (-1: none) is taken, also when it fails. What the request owns stays until it was sent.
static struct MHD_Response *make_reply(HttpRequest *request, const HttpResponse *response,
                                       const HttpRange *range, int file)
{
    if (response->stream.read != NULL) {
        return make_streamed(request, &response->stream, range);
    }
    file = response->stream.is_file ? response->stream.file : file;
    if (file >= 0) {
        struct MHD_Response *reply =
            MHD_create_response_from_fd_at_offset64(range->bytes, file, range->from);
        if (reply == NULL) {
            close(file);
        }
        return reply;
    }
    const uint8_t *from = response->body != NULL ? response->body + range->from : NULL;
    const bool stays = response->body_is_static || http_request_owns(request, response->body);
    return MHD_create_response_from_buffer((size_t)range->bytes, (void *)(uintptr_t)from,
                                           stays ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_COPY);
}

// The client has these bytes already. libmicrohttpd sends none with a 304, but says how many they
// are, as it must: of an empty body it would say that there are none.
static void not_modified(HttpResponse *response)
{
    response->status = MHD_HTTP_NOT_MODIFIED;
    response->content_type = response->content_encoding = NULL;
}

void http_stream_end(const HttpStream *stream)
{
    if (stream->read != NULL) {
        stream->end(stream->user);
    } else if (stream->is_file) {
        close(stream->file);
    }
}

// An error takes the place of what would have been sent.
static void fail_range(HttpRequest *request, HttpResponse *response, int *file)
{
    http_stream_end(&response->stream);
    response->stream = (HttpStream){0};
    if (*file >= 0) {
        close(*file);
        *file = -1;
    }
    http_fail(request, response, 416, "range", "there are fewer bytes than that");
}

uint64_t http_answer_count(const HttpServer *server, uint32_t route, uint32_t class)
{
    ASSERT(route <= server->config.route_count && class < HTTP_STATUS_CLASSES);
    return atomic_load(&server->answers[route * HTTP_STATUS_CLASSES + class]);
}

static void count_status(const HttpRequest *request, uint32_t status)
{
    HttpServer *server = request->server;
    const HttpConfig *config = &server->config;
    const bool is_route = request->route != NULL && request->route >= config->routes &&
                          request->route < config->routes + config->route_count;
    const size_t route = is_route ? (size_t)(request->route - config->routes) : config->route_count;
    if (status >= 100 && status < 600) {
        atomic_fetch_add(&server->answers[route * HTTP_STATUS_CLASSES + status / 100 - 1], 1);
    }
    if (status == 413) {
        pthread_mutex_lock(&server->lock);
        server->stats.bodies_too_large += 1;
        pthread_mutex_unlock(&server->lock);
    }
}

// The body is the response's, or the file's (-1: none), which is taken.
static enum MHD_Result answer_by(HttpRequest *request, const HttpResponse *wanted, int file)
{
    HttpResponse response = *wanted;
    const bool only_reads = request->is_get || strcmp(request->method, "HEAD") == 0;
    if (only_reads && response.status == 200 && response.tag != NULL &&
        http_rules_tag_is_known(http_header(request, "If-None-Match"), response.tag)) {
        not_modified(&response);
    }
    // A range is one of the plain bytes: of coded ones a client could read none but the first.
    const bool may_have_range =
        response.status == 200 && response.content_encoding == NULL && !response.stream.is_open;
    HttpRange range = {response.status, 0, response.bytes};
    if (may_have_range) {
        range = wanted_range(request, &response);
        if (range.status == 416) {
            fail_range(request, &response, &file);
            range.bytes = response.bytes;
        }
    }
    struct MHD_Response *reply = make_reply(request, &response, &range, file);
    if (reply == NULL) {
        return MHD_NO;
    }
    count_status(request, range.status);
    http_watch_answer(request->server->watch, http_watched(request->connection), range.bytes);
    const bool whole = add_headers(reply, request, &response) &&
                       add_status_headers(reply, request, range.status, response.retry_after_s) &&
                       (!may_have_range || add_range(reply, &range, wanted->bytes));
    return send_reply(request, reply, range.status, whole);
}

enum MHD_Result http_answer(HttpRequest *request, const HttpResponse *wanted)
{
    return answer_by(request, wanted, -1);
}

enum MHD_Result http_answer_fail(HttpRequest *request, uint32_t status, const char *code,
                                 const char *message)
{
    HttpResponse response;
    http_fail(request, &response, status, code, message);
    return http_answer(request, &response);
}

// --- before the body was whole ------------------------------------------------------------------

static void send_text(int socket, const char *text, size_t bytes)
{
    (void)!send(socket, text, bytes, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE);
}

// A small answer fits into the buffer of a socket on which nothing was sent yet; if it does not,
// the client only sees that the connection ends.
void http_answer_early(HttpRequest *request, const HttpResponse *response)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char line[HTTP_LINE_BYTES + HTTP_POLICY_BYTES];
    if (info == NULL) {
        return;
    }
    count_status(request, response->status);
    request->status = response->status;
    int bytes = snprintf(line, sizeof line,
                         "HTTP/1.1 %u %s\r\nConnection: close\r\nContent-Type: %s\r\n"
                         "Content-Length: %zu\r\nX-Request-Id: %s\r\n",
                         response->status, MHD_get_reason_phrase_for(response->status),
                         response->content_type, response->bytes, request->request_id);
    send_text(info->connect_fd, line, (size_t)bytes);
    for (size_t i = 0; i < SECURITY_HEADERS; i++) {
        bytes = snprintf(line, sizeof line, "%s: %s\r\n", security_headers[i].name,
                         security_headers[i].value);
        send_text(info->connect_fd, line, (size_t)bytes);
    }
    bytes = snprintf(line, sizeof line,
                     "Content-Security-Policy: %s\r\n" RESOURCE_POLICY
                     ": same-origin\r\nCache-Control: no-store\r\n%s\r\n",
                     request->server->policy,
                     response->status == 503 ? "Retry-After: " RETRY_AFTER "\r\n" : "");
    send_text(info->connect_fd, line, (size_t)bytes);
    send_text(info->connect_fd, (const char *)response->body, response->bytes);
    (void)shutdown(info->connect_fd, SHUT_WR);
}

// --- files of the web root ----------------------------------------------------------------------

bool http_answer_file(HttpRequest *request, const char *method, const char *path,
                      enum MHD_Result *queued)
{
    const char *root = request->server->config.web_root;
    if (root == NULL || (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)) {
        return false;
    }
    // Whoever wants a range gets plain bytes, unless they are refused.
    HttpAccept accept = http_accept(request);
    const bool is_plain_fine = http_rules_choose(&accept, 0) == HTTP_PLAIN;
    if (is_plain_fine && request->is_get && http_header(request, "Range") != NULL) {
        accept = (HttpAccept){0};
    }
    HttpFile file;
    const Status status = http_file_open(root, path, &accept, &file);
    if (status == STATUS_UNSUPPORTED) {
        *queued = http_answer_fail(request, 406, "encoding",
                                   "this is here in no encoding that you accept");
        return true;
    }
    if (status != STATUS_OK) {
        return false;
    }
    const HttpResponse response = {.status = 200,
                                   .bytes = (size_t)file.bytes,
                                   .content_type = file.content_type,
                                   .cache = file.cache,
                                   .content_encoding = http_rules_coding_name(file.coding),
                                   .varies_by_encoding = true,
                                   .tag = file.tag};
    *queued = answer_by(request, &response, file.descriptor);
    return true;
}

// --- WebSockets ---------------------------------------------------------------------------------

// A list may come in several headers of the same name; they are one list. What does not fit is
// left out: our names are short, and whoever offers that much offers them early or gets none.
static enum MHD_Result join_protocols(void *user, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    (void)kind;
    HttpRequest *request = user;
    const size_t used = strlen(request->protocols);
    if (strcasecmp(name, "Sec-WebSocket-Protocol") == 0 && value != NULL &&
        strlen(value) + 3 < sizeof request->protocols - used) {
        snprintf(request->protocols + used, sizeof request->protocols - used, "%s,", value);
    }
    return MHD_YES;
}

// False: its address or its account has too many.
static bool count_socket(HttpRequest *request)
{
    HttpServer *server = request->server;
    if (server->sockets == NULL || (server->config.loopback_unlimited && request->is_loopback)) {
        return true;
    }
    const Status status =
        http_sockets_add(server->sockets, request->client, request->account, &request->socket);
    if (status != STATUS_OK) {
        pthread_mutex_lock(&server->lock);
        server->stats.sockets_refused += 1;
        pthread_mutex_unlock(&server->lock);
    }
    return status == STATUS_OK;
}

void http_upgrade(HttpRequest *request, HttpResponse *response, HttpTake take, void *take_user)
{
    http_upgrade_to(request, response, NULL, take, take_user);
}

void http_upgrade_to(HttpRequest *request, HttpResponse *response, const char *protocol,
                     HttpTake take, void *take_user)
{
    http_each_header(request, join_protocols, request);
    const bool offers = http_header(request, "Sec-WebSocket-Protocol") != NULL;
    const HttpUpgradeHeaders headers = {.method = request->is_get ? "GET" : "HEAD",
                                        .connection = http_header(request, "Connection"),
                                        .upgrade = http_header(request, "Upgrade"),
                                        .version = http_header(request, "Sec-WebSocket-Version"),
                                        .key = http_header(request, "Sec-WebSocket-Key"),
                                        .origin = http_header(request, "Origin"),
                                        .host = http_header(request, "Host"),
                                        .protocols = offers ? request->protocols : NULL,
                                        .wanted = protocol,
                                        .http_1_0 = request->http_1_0};
    const HttpOriginRule rule = http_origin_rule(request);
    request->upgrade = http_rules_upgrade(&rule, &headers);
    if (request->upgrade.status != MHD_HTTP_SWITCHING_PROTOCOLS) {
        http_fail(request, response, request->upgrade.status, request->upgrade.code,
                  request->upgrade.message);
        return;
    }
    if (!count_socket(request)) {
        http_fail(request, response, 429, "too_many_sockets",
                  request->account != 0
                      ? "this account has as many connections as one may have; close some"
                      : "this address has as many connections as one may have; close some");
        return;
    }
    request->take = take;
    request->take_user = take_user;
    response->status = MHD_HTTP_SWITCHING_PROTOCOLS;
}

void http_count_for(HttpRequest *request, uint64_t account)
{
    request->account = account;
}

uint64_t http_socket_number(const HttpRequest *request)
{
    return request->socket;
}

// The 101 is sent and the socket is free. The request lives until on_end, which comes after this,
// or instead of it when the client left before.
static void upgraded(void *user, struct MHD_Connection *connection, void *context,
                     const char *already, size_t bytes, MHD_socket socket,
                     struct MHD_UpgradeResponseHandle *handle)
{
    (void)context;
    HttpRequest *request = user;
    const int one = 1;
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    http_watch_let_go(request->server->watch, http_watched(connection));
    // The taker gets a descriptor of its own: libmicrohttpd closes its one.
    const int own = fcntl(socket, F_DUPFD_CLOEXEC, 3);
    if (own >= 0) {
        request->is_taken = true;
        request->take(request->take_user, own, (const uint8_t *)already, bytes,
                      request->upgrade.json);
    }
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

enum MHD_Result http_answer_upgrade(HttpRequest *request)
{
    struct MHD_Response *reply = MHD_create_response_for_upgrade(upgraded, request);
    if (reply == NULL) {
        return MHD_NO;
    }
    const bool whole = add_header(reply, "Upgrade", "websocket") &&
                       add_header(reply, "Sec-WebSocket-Accept", request->upgrade.accept) &&
                       add_header(reply, "Sec-WebSocket-Protocol", request->upgrade.subprotocol);
    count_status(request, MHD_HTTP_SWITCHING_PROTOCOLS);
    return send_reply(request, reply, MHD_HTTP_SWITCHING_PROTOCOLS, whole);
}

// libmicrohttpd behind http.h. One thread with epoll serves everything; handlers do not block. A
// body is collected up to its route's limit and no further; what a route does not know gets a JSON
// error. Sockets leave by http_upgrade. What is decided from text alone is in http_rules, files are
// in http_file, deadlines in http_watch.
#define _GNU_SOURCE
#include "server/net/http.h"

#include "core/base/check.h"
#include "core/base/json_write.h"
#include "server/net/http_file.h"
#include "server/net/http_rules.h"
#include "server/net/http_watch.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define ERROR_BYTES            1024
#define LINE_BYTES             256 // of a header that we make
#define STREAM_BLOCK_BYTES     (32u << 10)
#define DRAIN_BYTES_MAX        (256u << 10) // of a body that is read only to be polite
#define CONNECTION_MEMORY      32768        // of headers, for each connection
#define CONNECTION_MAX_DEFAULT 1024
#define TIMEOUT_MS_DEFAULT     15000
#define RETRY_AFTER            "5" // seconds; how long a host waits before it tries again
#define ANSWER_TIMEOUTS        20  // an answer has so many times the time of a request
#define STRICT_POLICY                                                                         \
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src "    \
    "'self' blob: data:; connect-src 'self' ws: wss:; worker-src 'self'; object-src 'none'; " \
    "base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

struct HttpServer {
    HttpConfig config;
    struct MHD_Daemon *daemon;
    HttpWatch *watch;
    uint16_t port;
};

// One request while it is being read and answered.
struct HttpRequest {
    HttpServer *server;
    struct MHD_Connection *connection;
    const HttpRoute *route;  // NULL: none
    bool path_is_known;      // to a route of some method
    const char *address_end; // where the address of the first line ends in memory
    bool has_bad_address;
    bool has_begun; // its headers are there
    bool is_get;    // HEAD is not
    bool http_1_0;
    bool must_close; // after the answer
    HttpParts parts;
    uint8_t *body;
    size_t body_bytes, body_capacity, body_dropped;
    bool body_too_large;
    char error_text[ERROR_BYTES];
    char allow[LINE_BYTES];
    char protocols[LINE_BYTES];
    // An upgrade that was granted.
    HttpTake take;
    void *take_user;
    HttpUpgrade upgrade;
};

// --- routes -------------------------------------------------------------------------------------

static void find_route(HttpRequest *request, const char *method, const char *path)
{
    const HttpConfig *config = &request->server->config;
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    for (uint32_t i = 0; i < config->route_count && request->route == NULL; i++) {
        const HttpRoute *route = &config->routes[i];
        if (http_rules_route(route->path, path, &request->parts)) {
            request->path_is_known = true;
            request->route = strcmp(route->method, wanted) == 0 ? route : NULL;
        }
    }
}

// The Allow header of a path that has routes, but none of this method.
static void list_methods(HttpRequest *request, const char *path)
{
    const HttpConfig *config = &request->server->config;
    for (uint32_t i = 0; i < config->route_count; i++) {
        const HttpRoute *route = &config->routes[i];
        if (http_rules_route(route->path, path, &request->parts) &&
            !http_rules_list_has(request->allow, route->method)) {
            const size_t used = strlen(request->allow);
            snprintf(request->allow + used, sizeof request->allow - used, "%s%s%s",
                     used > 0 ? ", " : "", route->method,
                     strcmp(route->method, "GET") == 0 ? ", HEAD" : "");
        }
    }
}

// --- what handlers ask --------------------------------------------------------------------------

void *http_user(const HttpRequest *request)
{
    return request->server->config.user;
}

const char *http_path_part(const HttpRequest *request, uint32_t star)
{
    return star < request->parts.count ? request->parts.text[star] : NULL;
}

const char *http_query(const HttpRequest *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *http_header(const HttpRequest *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
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

static HttpAccept read_accept(const HttpRequest *request)
{
    HttpAccept accept = {0};
    (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, add_accept, &accept);
    return accept;
}

bool http_prefers_coding(const HttpRequest *request, HttpCoding coding)
{
    const HttpAccept accept = read_accept(request);
    return http_rules_choose(&accept, 1u << coding) == coding;
}

const uint8_t *http_body(const HttpRequest *request, size_t *bytes)
{
    *bytes = request->body_bytes;
    return request->body;
}

bool http_is_loopback(const HttpRequest *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info != NULL && http_watch_is_loopback(info->client_addr);
}

uint64_t http_address(const HttpRequest *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info != NULL ? http_watch_address(info->client_addr) : 0;
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
    static const char *const names[] = {"CF-Connecting-IP", "Forwarded", "Via", "X-Real-IP"};
    bool is_found = false;
    (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, find_forwarded,
                                    &is_found);
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

void http_fail(HttpRequest *request, HttpResponse *response, uint32_t status, const char *code,
               const char *message)
{
    ByteWriter writer = byte_writer(request->error_text, ERROR_BYTES);
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

static HttpOriginRule origin_rule(const HttpRequest *request)
{
    const HttpConfig *config = &request->server->config;
    return (HttpOriginRule){config->origins, config->origin_same_host};
}

bool http_origin_is_allowed(const HttpRequest *request)
{
    const HttpOriginRule rule = origin_rule(request);
    return http_rules_origin(&rule, http_header(request, "Origin"), http_header(request, "Host"));
}

// --- answers ------------------------------------------------------------------------------------

static bool add(struct MHD_Response *reply, const char *name, const char *value)
{
    return value == NULL || value[0] == '\0' ||
           MHD_add_response_header(reply, name, value) == MHD_YES;
}

static bool add_headers(struct MHD_Response *reply, const HttpResponse *response)
{
    const char *policy = response->content_security_policy != NULL
                             ? response->content_security_policy
                             : STRICT_POLICY;
    const char *cache = response->cache != NULL ? response->cache : "no-store";
    return add(reply, "Content-Security-Policy", policy) &&
           add(reply, "X-Content-Type-Options", "nosniff") &&
           add(reply, "Referrer-Policy", "no-referrer") &&
           add(reply, "Cross-Origin-Opener-Policy", "same-origin") &&
           add(reply, "Cross-Origin-Resource-Policy", "same-origin") &&
           add(reply, "Cache-Control", cache) &&
           add(reply, "Content-Type", response->content_type) &&
           add(reply, "Content-Disposition", response->is_attachment ? "attachment" : NULL) &&
           add(reply, "Location", response->location) &&
           add(reply, "Content-Encoding", response->content_encoding) &&
           add(reply, "Vary", response->varies_by_encoding ? "Accept-Encoding" : NULL) &&
           add(reply, "ETag", response->tag);
}

// What some statuses must have with them.
static bool add_status_headers(struct MHD_Response *reply, const HttpRequest *request,
                               uint32_t status)
{
    if (request->must_close && !add(reply, "Connection", "close")) {
        return false;
    }
    if (status == 405 || status == 503) {
        return status == 405 ? add(reply, "Allow", request->allow)
                             : add(reply, "Retry-After", RETRY_AFTER);
    }
    return status != 426 ||
           (add(reply, "Upgrade", "websocket") && add(reply, "Sec-WebSocket-Version", "13"));
}

static bool add_range(struct MHD_Response *reply, const HttpRange *range, uint64_t total)
{
    char line[LINE_BYTES] = "";
    if (range->status == 206) {
        snprintf(line, sizeof line, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, range->from,
                 range->from + range->bytes - 1, total);
    } else if (range->status == 416) {
        snprintf(line, sizeof line, "bytes */%" PRIu64, total);
    }
    return add(reply, "Accept-Ranges", "bytes") && add(reply, "Content-Range", line);
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
    const enum MHD_Result queued =
        whole ? MHD_queue_response(request->connection, status, reply) : MHD_NO;
    MHD_destroy_response(reply);
    return queued;
}

// A stream on its way, from the first byte that is wanted on.
typedef struct Sending {
    HttpStream stream;
    uint64_t from;
} Sending;

static ssize_t on_read(void *user, uint64_t at, char *out, size_t bytes)
{
    const Sending *sending = user;
    const int64_t got = sending->stream.read(sending->stream.user, sending->from + at, out, bytes);
    return got > 0 && (uint64_t)got <= bytes ? (ssize_t)got : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void on_read_end(void *user)
{
    const Sending *sending = user;
    sending->stream.end(sending->stream.user);
    free(user);
}

// Takes the stream, also when it fails.
static struct MHD_Response *make_streamed(const HttpStream *stream, const HttpRange *range)
{
    Sending *sending = malloc(sizeof *sending);
    struct MHD_Response *reply = NULL;
    if (sending != NULL) {
        *sending = (Sending){*stream, range->from};
        reply = MHD_create_response_from_callback(range->bytes, STREAM_BLOCK_BYTES, on_read,
                                                  sending, on_read_end);
    }
    if (reply == NULL) {
        stream->end(stream->user);
        free(sending);
    }
    return reply;
}

// A file (-1: none) is taken, also when it fails; a body is there to stay if it is static.
static struct MHD_Response *make_reply(const HttpResponse *response, const HttpRange *range,
                                       int file)
{
    if (response->stream.read != NULL) {
        return make_streamed(&response->stream, range);
    }
    if (file >= 0) {
        struct MHD_Response *reply =
            MHD_create_response_from_fd_at_offset64(range->bytes, file, range->from);
        if (reply == NULL) {
            close(file);
        }
        return reply;
    }
    const uint8_t *from = response->body != NULL ? response->body + range->from : NULL;
    return MHD_create_response_from_buffer((size_t)range->bytes, (void *)(uintptr_t)from,
                                           response->body_is_static ? MHD_RESPMEM_PERSISTENT
                                                                    : MHD_RESPMEM_MUST_COPY);
}

// The client has these bytes already. libmicrohttpd sends none with a 304, but says how many they
// are, as it must: of an empty body it would say that there are none.
static void not_modified(HttpResponse *response)
{
    response->status = MHD_HTTP_NOT_MODIFIED;
    response->content_type = response->content_encoding = NULL;
}

// An error takes the place of what would have been sent.
static void fail_range(HttpRequest *request, HttpResponse *response, int *file)
{
    if (response->stream.read != NULL) {
        response->stream.end(response->stream.user);
    }
    if (*file >= 0) {
        close(*file);
        *file = -1;
    }
    http_fail(request, response, 416, "range", "there are fewer bytes than that");
}

// The body is the response's, or the file's (-1: none), which is taken.
static enum MHD_Result answer_by(HttpRequest *request, const HttpResponse *wanted, int file)
{
    HttpResponse response = *wanted;
    if (response.status == 200 && response.tag != NULL &&
        http_rules_tag_is_known(http_header(request, "If-None-Match"), response.tag)) {
        not_modified(&response);
    }
    // A range is one of the plain bytes: of coded ones a client could read none but the first.
    const bool may_have_range = response.status == 200 && response.content_encoding == NULL;
    HttpRange range = {response.status, 0, response.bytes};
    if (may_have_range) {
        range = wanted_range(request, &response);
        if (range.status == 416) {
            fail_range(request, &response, &file);
            range.bytes = response.bytes;
        }
    }
    struct MHD_Response *reply = make_reply(&response, &range, file);
    if (reply == NULL) {
        return MHD_NO;
    }
    const bool whole = add_headers(reply, &response) &&
                       add_status_headers(reply, request, range.status) &&
                       (!may_have_range || add_range(reply, &range, wanted->bytes));
    return send_reply(request, reply, range.status, whole);
}

static enum MHD_Result answer(HttpRequest *request, const HttpResponse *wanted)
{
    return answer_by(request, wanted, -1);
}

static enum MHD_Result fail_now(HttpRequest *request, uint32_t status, const char *code,
                                const char *message)
{
    HttpResponse response;
    http_fail(request, &response, status, code, message);
    return answer(request, &response);
}

// --- files of the web root ----------------------------------------------------------------------

// False: there is no such file.
static bool serve_file(HttpRequest *request, const char *method, const char *path,
                       enum MHD_Result *queued)
{
    const char *root = request->server->config.web_root;
    if (root == NULL || (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)) {
        return false;
    }
    // Whoever wants a range gets plain bytes, unless they are refused.
    HttpAccept accept = read_accept(request);
    const bool is_plain_fine = http_rules_choose(&accept, 0) == HTTP_PLAIN;
    if (is_plain_fine && request->is_get && http_header(request, "Range") != NULL) {
        accept = (HttpAccept){0};
    }
    HttpFile file;
    const Status status = http_file_open(root, path, &accept, &file);
    if (status == STATUS_UNSUPPORTED) {
        *queued = fail_now(request, 406, "encoding", "this is here in no encoding that you accept");
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

void http_upgrade(HttpRequest *request, HttpResponse *response, HttpTake take, void *take_user)
{
    (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, join_protocols, request);
    const bool offers = http_header(request, "Sec-WebSocket-Protocol") != NULL;
    const HttpUpgradeHeaders headers = {.method = request->is_get ? "GET" : "HEAD",
                                        .connection = http_header(request, "Connection"),
                                        .upgrade = http_header(request, "Upgrade"),
                                        .version = http_header(request, "Sec-WebSocket-Version"),
                                        .key = http_header(request, "Sec-WebSocket-Key"),
                                        .origin = http_header(request, "Origin"),
                                        .host = http_header(request, "Host"),
                                        .protocols = offers ? request->protocols : NULL,
                                        .http_1_0 = request->http_1_0};
    const HttpOriginRule rule = origin_rule(request);
    request->upgrade = http_rules_upgrade(&rule, &headers);
    if (request->upgrade.status != MHD_HTTP_SWITCHING_PROTOCOLS) {
        http_fail(request, response, request->upgrade.status, request->upgrade.code,
                  request->upgrade.message);
        return;
    }
    request->take = take;
    request->take_user = take_user;
    response->status = MHD_HTTP_SWITCHING_PROTOCOLS;
}

static HttpWatched *watched(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
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
    http_watch_let_go(request->server->watch, watched(connection));
    // The taker gets a descriptor of its own: libmicrohttpd closes its one.
    const int own = fcntl(socket, F_DUPFD_CLOEXEC, 3);
    if (own >= 0) {
        request->take(request->take_user, own, (const uint8_t *)already, bytes,
                      request->upgrade.json);
    }
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

static enum MHD_Result answer_upgrade(HttpRequest *request)
{
    struct MHD_Response *reply = MHD_create_response_for_upgrade(upgraded, request);
    if (reply == NULL) {
        return MHD_NO;
    }
    const bool whole = add(reply, "Upgrade", "websocket") &&
                       add(reply, "Sec-WebSocket-Accept", request->upgrade.accept) &&
                       add(reply, "Sec-WebSocket-Protocol", request->upgrade.subprotocol);
    return send_reply(request, reply, MHD_HTTP_SWITCHING_PROTOCOLS, whole);
}

// --- bodies -------------------------------------------------------------------------------------

static size_t body_max(const HttpRequest *request)
{
    return request->route != NULL ? request->route->body_max : 0;
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

// How large the body will be, as far as the headers say; NULL, or what is wrong with them. The
// method and the version are those that libmicrohttpd gave, in its memory.
static const char *read_declared(const HttpRequest *request, const char *method,
                                 const char *version, uint64_t *out)
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

// False: so much came that nobody wants that the connection shall end.
static bool collect_body(HttpRequest *request, const char *data, size_t bytes)
{
    if (request->body_too_large || bytes > body_max(request) - request->body_bytes ||
        !grow_body(request, request->body_bytes + bytes)) {
        request->body_too_large = true;
        request->body_dropped += bytes;
        return request->body_dropped <= DRAIN_BYTES_MAX;
    }
    memcpy(request->body + request->body_bytes, data, bytes);
    request->body_bytes += bytes;
    request->body[request->body_bytes] = '\0';
    return true;
}

// --- requests -----------------------------------------------------------------------------------

static enum MHD_Result run_handler(HttpRequest *request)
{
    HttpResponse response = {.status = MHD_HTTP_OK, .content_type = "application/json"};
    request->route->handler(request->server->config.user, request, &response);
    if (response.status != MHD_HTTP_SWITCHING_PROTOCOLS) {
        return answer(request, &response);
    }
    ASSERT(request->take != NULL); // only http_upgrade switches protocols
    return answer_upgrade(request);
}

static enum MHD_Result respond(HttpRequest *request, const char *method, const char *path)
{
    http_watch_answer(request->server->watch, watched(request->connection));
    if (request->route != NULL) {
        return request->body_too_large
                   ? fail_now(request, 413, "too_large", "the body is larger than this may take")
                   : run_handler(request);
    }
    enum MHD_Result queued;
    if (serve_file(request, method, path, &queued)) {
        return queued;
    }
    if (request->path_is_known) {
        list_methods(request, path);
        return fail_now(request, 405, "method", "this address has no such method");
    }
    return fail_now(request, 404, "not_found", "there is nothing here");
}

// The headers are there. An answer now, before the body, ends the connection after it: so what is a
// little too large is read to its end, because a client that still sends may never see the answer.
static enum MHD_Result begin(HttpRequest *request, const char *method, const char *path,
                             const char *version)
{
    uint64_t declared;
    find_route(request, method, path);
    const char *wrong = read_declared(request, method, version, &declared);
    if (wrong != NULL) {
        request->must_close = true; // whatever follows may be a part of it
        return fail_now(request, 400, "malformed", wrong);
    }
    request->body_too_large = declared > body_max(request);
    const bool waits = http_header(request, MHD_HTTP_HEADER_EXPECT) != NULL;
    return request->body_too_large && (waits || declared > DRAIN_BYTES_MAX)
               ? respond(request, method, path)
               : MHD_YES;
}

// The first line came; its address is as it was sent, before anything is taken apart.
static void *on_address(void *user, const char *address, struct MHD_Connection *connection)
{
    (void)user, (void)connection;
    HttpRequest *request = calloc(1, sizeof *request);
    if (request != NULL) {
        request->address_end = address + strlen(address);
        request->has_bad_address = !http_rules_address_is_valid(address);
    }
    return request;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *data,
                                  size_t *bytes, void **context)
{
    HttpRequest *request = *context;
    if (request == NULL) {
        return MHD_NO; // there was no memory for it
    }
    if (!request->has_begun) {
        request->has_begun = true;
        request->server = user;
        request->connection = connection;
        request->is_get = strcmp(method, "GET") == 0;
        request->http_1_0 = strcmp(version, MHD_HTTP_VERSION_1_1) != 0;
        return begin(request, method, path, version);
    }
    if (*bytes > 0) {
        const bool goes_on = collect_body(request, data, *bytes);
        *bytes = 0;
        return goes_on ? MHD_YES : MHD_NO;
    }
    return respond(request, method, path);
}

static void on_end(void *user, struct MHD_Connection *connection, void **context,
                   enum MHD_RequestTerminationCode why)
{
    (void)why;
    HttpServer *server = user;
    HttpRequest *request = *context;
    if (request != NULL) {
        http_watch_request(server->watch, watched(connection));
        free(request->body);
        free(request);
        *context = NULL;
    }
}

// --- connections --------------------------------------------------------------------------------

static enum MHD_Result on_accept(void *user, const struct sockaddr *from, socklen_t bytes)
{
    (void)bytes;
    HttpServer *server = user;
    return http_watch_accepts(server->watch, from) ? MHD_YES : MHD_NO;
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    HttpServer *server = user;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        http_watch_remove(server->watch, *context);
        *context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *from =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = from != NULL ? from->client_addr : NULL;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *context = info != NULL ? http_watch_add(server->watch, address, info->connect_fd) : NULL;
}

static size_t on_unescape(void *user, struct MHD_Connection *connection, char *text)
{
    (void)user, (void)connection;
    return http_rules_unescape(text);
}

// --- start and stop -----------------------------------------------------------------------------

static HttpConfig fill_config(const HttpConfig *given)
{
    HttpConfig config = *given;
    config.address = config.address != NULL ? config.address : "127.0.0.1";
    config.connection_max =
        config.connection_max > 0 ? config.connection_max : CONNECTION_MAX_DEFAULT;
    config.timeout_ms = config.timeout_ms > 0 ? config.timeout_ms : TIMEOUT_MS_DEFAULT;
    return config;
}

typedef union SocketAddress {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} SocketAddress;

static bool read_address(const HttpConfig *config, SocketAddress *out)
{
    *out = (SocketAddress){.v6 = {.sin6_family = AF_INET6, .sin6_port = htons(config->port)}};
    if (inet_pton(AF_INET6, config->address, &out->v6.sin6_addr) == 1) {
        return true;
    }
    *out = (SocketAddress){.v4 = {.sin_family = AF_INET, .sin_port = htons(config->port)}};
    return inet_pton(AF_INET, config->address, &out->v4.sin_addr) == 1;
}

static struct MHD_Daemon *start_daemon(HttpServer *server, SocketAddress *address)
{
    const HttpConfig *config = &server->config;
    const unsigned family = address->any.sa_family == AF_INET6 ? MHD_USE_DUAL_STACK : 0;
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_SOCK_ADDR, 0, address},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)config->connection_max, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)((config->timeout_ms + 999) / 1000), NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, NULL},
        {MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_UPGRADE | family, config->port,
        on_accept, server, on_request, server, MHD_OPTION_NOTIFY_COMPLETED, on_end, server,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_UNESCAPE_CALLBACK,
        on_unescape, NULL, MHD_OPTION_URI_LOG_CALLBACK, on_address, NULL, MHD_OPTION_ARRAY, options,
        MHD_OPTION_END);
}

Status http_start(const HttpConfig *given, HttpServer **out)
{
    const HttpConfig config = fill_config(given);
    SocketAddress address;
    if (!read_address(&config, &address)) {
        return STATUS_RANGE;
    }
    HttpServer *server = calloc(1, sizeof *server);
    if (server == NULL) {
        return STATUS_LIMIT;
    }
    server->config = config;
    const HttpWatchConfig watch = {.connection_max = config.connection_max,
                                   .per_address_max = config.connections_per_address_max,
                                   .loopback_unlimited = config.loopback_unlimited,
                                   .request_ms = config.timeout_ms,
                                   .answer_ms = config.timeout_ms * ANSWER_TIMEOUTS};
    const Status status = http_watch_create(&watch, &server->watch);
    if (status != STATUS_OK) {
        free(server);
        return status;
    }
    server->daemon = start_daemon(server, &address);
    if (server->daemon == NULL) {
        http_watch_destroy(server->watch);
        free(server);
        return STATUS_BLOCKED; // usually: the port is taken
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    server->port = info != NULL ? info->port : config.port;
    *out = server;
    return STATUS_OK;
}

uint16_t http_port(const HttpServer *server)
{
    return server->port;
}

void http_stop(HttpServer *server)
{
    if (server != NULL) {
        MHD_stop_daemon(server->daemon);
        http_watch_destroy(server->watch);
        free(server);
    }
}

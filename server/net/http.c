// libmicrohttpd behind http.h. One thread with epoll serves everything; handlers do not block. A
// body is collected up to its route's limit and no further; what a route does not know gets a JSON
// error. Sockets leave by http_upgrade.
#define _GNU_SOURCE
#include "server/net/http.h"

#include "core/base/check.h"
#include "core/base/json_write.h"
#include "server/net/websocket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_PARTS_MAX  4
#define PART_BYTES      512
#define ERROR_BYTES     1024
#define FILE_BYTES_MAX  (64u << 20)
#define TIMEOUT_SECONDS 15
#define STRICT_POLICY                                                                         \
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src "    \
    "'self' blob: data:; connect-src 'self' ws: wss:; worker-src 'self'; object-src 'none'; " \
    "base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

struct HttpServer {
    HttpConfig config;
    struct MHD_Daemon *daemon;
    uint16_t port;
};

// One request while it is being read and answered.
struct HttpRequest {
    HttpServer *server;
    struct MHD_Connection *connection;
    const HttpRoute *route;
    char parts[PATH_PARTS_MAX][PART_BYTES];
    uint32_t part_count;
    uint8_t *body;
    size_t body_bytes;
    bool body_too_large;
    char error_text[ERROR_BYTES];
    // An upgrade that was granted.
    HttpTake take;
    void *take_user;
    bool json;
    const char *subprotocol;
    char accept[WEBSOCKET_ACCEPT_BYTES + 1];
};

// --- routes -------------------------------------------------------------------------------------

// A star takes one segment, two take the rest; the parts are what stars took.
static bool path_matches(const char *pattern, const char *path, HttpRequest *request)
{
    request->part_count = 0;
    while (*pattern != '\0') {
        if (*pattern != '*') {
            if (*pattern++ != *path++) {
                return false;
            }
            continue;
        }
        const bool rest = pattern[1] == '*';
        const size_t bytes = rest ? strlen(path) : strcspn(path, "/");
        if (bytes == 0 || bytes >= PART_BYTES || request->part_count == PATH_PARTS_MAX) {
            return false;
        }
        memcpy(request->parts[request->part_count], path, bytes);
        request->parts[request->part_count++][bytes] = '\0';
        path += bytes;
        pattern += rest ? 2 : 1;
    }
    return *path == '\0';
}

// NULL: none. *known says that the path has a route of another method.
static const HttpRoute *find_route(HttpServer *server, const char *method, const char *path,
                                   HttpRequest *request, bool *known)
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    *known = false;
    for (uint32_t i = 0; i < server->config.route_count; i++) {
        const HttpRoute *route = &server->config.routes[i];
        if (path_matches(route->path, path, request)) {
            *known = true;
            if (strcmp(route->method, wanted) == 0) {
                return route;
            }
        }
    }
    return NULL;
}

// --- what handlers ask --------------------------------------------------------------------------

const char *http_path_part(const HttpRequest *request, uint32_t star)
{
    return star < request->part_count ? request->parts[star] : NULL;
}

const char *http_query(const HttpRequest *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *http_header(const HttpRequest *request, const char *name)
{
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const uint8_t *http_body(const HttpRequest *request, size_t *bytes)
{
    *bytes = request->body_bytes;
    return request->body;
}

static bool address_is_loopback(const struct sockaddr *address)
{
    if (address == NULL) {
        return false;
    }
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
    }
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

bool http_is_loopback(const HttpRequest *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info != NULL && address_is_loopback(info->client_addr);
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
    const bool whole = json_writer_finish(&json) == STATUS_OK;
    *response = (HttpResponse){.status = status,
                               .content_type = "application/json",
                               .body = (const uint8_t *)request->error_text,
                               .bytes = whole ? writer.at : 0};
}

// --- answers ------------------------------------------------------------------------------------

static void add_headers(struct MHD_Response *reply, const HttpResponse *response)
{
    const char *policy = response->content_security_policy != NULL
                             ? response->content_security_policy
                             : STRICT_POLICY;
    MHD_add_response_header(reply, "Content-Security-Policy", policy);
    MHD_add_response_header(reply, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(reply, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(reply, "Cross-Origin-Opener-Policy", "same-origin");
    MHD_add_response_header(reply, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(reply, "Cache-Control",
                            response->cache != NULL ? response->cache : "no-store");
    if (response->content_type != NULL) {
        MHD_add_response_header(reply, "Content-Type", response->content_type);
    }
    if (response->location != NULL) {
        MHD_add_response_header(reply, "Location", response->location);
    }
}

static enum MHD_Result answer(struct MHD_Connection *connection, const HttpResponse *response)
{
    const enum MHD_ResponseMemoryMode mode =
        response->body_is_static ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_COPY;
    struct MHD_Response *reply =
        MHD_create_response_from_buffer(response->bytes, (void *)(uintptr_t)response->body, mode);
    if (reply == NULL) {
        return MHD_NO;
    }
    add_headers(reply, response);
    const enum MHD_Result queued = MHD_queue_response(connection, response->status, reply);
    MHD_destroy_response(reply);
    return queued;
}

// --- files of the web root ----------------------------------------------------------------------

static const char *type_of(const char *path)
{
    static const struct {
        const char *ending, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".wasm", "application/wasm"},
        {".json", "application/json"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".ico", "image/x-icon"},
        {".webmanifest", "application/manifest+json"},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(dot, types[i].ending) == 0) {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

// Letters, digits and . _ - / alone, no part that begins with a dot.
static bool path_is_plain(const char *path)
{
    for (const char *at = path; *at != '\0'; at++) {
        const bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                           (*at >= '0' && *at <= '9') || strchr("._-/", *at) != NULL;
        if (!plain || (*at == '/' && at[1] == '.') || (*at == '/' && at[1] == '/')) {
            return false;
        }
    }
    return path[0] == '/' && strlen(path) < 256;
}

// A response over an open file, or NULL.
static struct MHD_Response *open_file(const HttpServer *server, const char *path, const char **type)
{
    if (server->config.web_root == NULL || !path_is_plain(path)) {
        return NULL;
    }
    char name[1024];
    const char *index = path[strlen(path) - 1] == '/' ? "index.html" : "";
    const int bytes = snprintf(name, sizeof name, "%s%s%s", server->config.web_root, path, index);
    if (bytes <= 0 || (size_t)bytes >= sizeof name) {
        return NULL;
    }
    const int file = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_size > FILE_BYTES_MAX) {
        if (file >= 0) {
            close(file);
        }
        return NULL;
    }
    *type = type_of(name);
    return MHD_create_response_from_fd64((uint64_t)about.st_size, file);
}

static bool serve_file(HttpRequest *request, const char *method, const char *path,
                       enum MHD_Result *queued)
{
    const char *type;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        return false;
    }
    struct MHD_Response *reply = open_file(request->server, path, &type);
    if (reply == NULL) {
        return false;
    }
    // Names of built files hold their hash; a page itself is asked for anew.
    const bool hashed = strstr(path, "/assets/") != NULL;
    const HttpResponse response = {
        .content_type = type, .cache = hashed ? "public, max-age=31536000, immutable" : "no-cache"};
    add_headers(reply, &response);
    *queued = MHD_queue_response(request->connection, MHD_HTTP_OK, reply);
    MHD_destroy_response(reply);
    return true;
}

// --- WebSockets ---------------------------------------------------------------------------------

// Is the host of an Origin the one that the request names as its own?
static bool origin_is_own(const char *origin, const char *host)
{
    const char *name = strstr(origin, "://");
    return name != NULL && host != NULL && strcasecmp(name + 3, host) == 0;
}

static bool origin_is_allowed(const HttpRequest *request)
{
    const HttpConfig *config = &request->server->config;
    const char *origin = http_header(request, "Origin");
    if (origin == NULL) {
        return true; // no browser
    }
    if (config->origin_same_host && origin_is_own(origin, http_header(request, "Host"))) {
        return true;
    }
    for (const char *const *item = config->origins; item != NULL && *item != NULL; item++) {
        if (strcasecmp(*item, origin) == 0) {
            return true;
        }
    }
    return false;
}

void http_upgrade(HttpRequest *request, HttpResponse *response, HttpTake take, void *take_user)
{
    const char *upgrade = http_header(request, "Upgrade");
    const char *version = http_header(request, "Sec-WebSocket-Version");
    const char *key = http_header(request, "Sec-WebSocket-Key");
    if (upgrade == NULL || strcasecmp(upgrade, "websocket") != 0) {
        http_fail(request, response, 426, "upgrade_required", "this address is a WebSocket");
    } else if (version == NULL || strcmp(version, "13") != 0) {
        http_fail(request, response, 426, "unsupported_version", "WebSocket version 13 is spoken");
    } else if (key == NULL || websocket_accept(key, request->accept) != STATUS_OK) {
        http_fail(request, response, 400, "malformed", "Sec-WebSocket-Key is missing or wrong");
    } else if (!origin_is_allowed(request)) {
        http_fail(request, response, 403, "origin", "this page may not connect here");
    } else if (websocket_choose(http_header(request, "Sec-WebSocket-Protocol"), &request->json,
                                &request->subprotocol) != STATUS_OK) {
        http_fail(request, response, 400, "unsupported_protocol",
                  "offer sandlot.v2.bin or sandlot.v2.json");
    } else {
        request->take = take;
        request->take_user = take_user;
        response->status = MHD_HTTP_SWITCHING_PROTOCOLS;
    }
}

// What was granted, for when the socket is free; the request itself may be gone by then.
typedef struct Grant {
    HttpTake take;
    void *user;
    bool json;
} Grant;

static void upgraded(void *user, struct MHD_Connection *connection, void *context,
                     const char *already, size_t bytes, MHD_socket socket,
                     struct MHD_UpgradeResponseHandle *handle)
{
    (void)connection, (void)context;
    Grant *grant = user;
    const int one = 1;
    (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    // The taker gets a descriptor of its own: libmicrohttpd closes its one.
    const int own = fcntl(socket, F_DUPFD_CLOEXEC, 3);
    if (own >= 0) {
        grant->take(grant->user, own, (const uint8_t *)already, bytes, grant->json);
    }
    free(grant);
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}

static enum MHD_Result answer_upgrade(HttpRequest *request)
{
    Grant *grant = malloc(sizeof *grant);
    if (grant == NULL) {
        return MHD_NO;
    }
    *grant = (Grant){request->take, request->take_user, request->json};
    struct MHD_Response *reply = MHD_create_response_for_upgrade(upgraded, grant);
    if (reply == NULL) {
        free(grant);
        return MHD_NO;
    }
    MHD_add_response_header(reply, "Upgrade", "websocket");
    MHD_add_response_header(reply, "Sec-WebSocket-Accept", request->accept);
    if (request->subprotocol != NULL) {
        MHD_add_response_header(reply, "Sec-WebSocket-Protocol", request->subprotocol);
    }
    const enum MHD_Result queued =
        MHD_queue_response(request->connection, MHD_HTTP_SWITCHING_PROTOCOLS, reply);
    MHD_destroy_response(reply);
    if (queued != MHD_YES) {
        free(grant);
    }
    return queued;
}

// --- requests -----------------------------------------------------------------------------------

static enum MHD_Result fail_now(HttpRequest *request, uint32_t status, const char *code,
                                const char *message)
{
    HttpResponse response;
    http_fail(request, &response, status, code, message);
    return answer(request->connection, &response);
}

static void collect_body(HttpRequest *request, const char *data, size_t bytes)
{
    const size_t max = request->route != NULL ? request->route->body_max : 0;
    if (request->body_too_large || bytes > max - request->body_bytes) {
        request->body_too_large = true;
        return;
    }
    uint8_t *grown = realloc(request->body, request->body_bytes + bytes + 1);
    if (grown == NULL) {
        request->body_too_large = true;
        return;
    }
    memcpy(grown + request->body_bytes, data, bytes);
    request->body = grown;
    request->body_bytes += bytes;
    grown[request->body_bytes] = '\0';
}

static enum MHD_Result run_handler(HttpRequest *request)
{
    HttpResponse response = {.status = MHD_HTTP_OK, .content_type = "application/json"};
    request->route->handler(request->server->config.user, request, &response);
    if (response.status == MHD_HTTP_SWITCHING_PROTOCOLS && request->take != NULL) {
        return answer_upgrade(request);
    }
    return answer(request->connection, &response);
}

static enum MHD_Result respond(HttpRequest *request, const char *method, const char *path,
                               bool known)
{
    if (request->route != NULL) {
        return request->body_too_large
                   ? fail_now(request, 413, "too_large", "the body is larger than this may take")
                   : run_handler(request);
    }
    enum MHD_Result queued;
    if (serve_file(request, method, path, &queued)) {
        return queued;
    }
    return known ? fail_now(request, 405, "method", "this address has no such method")
                 : fail_now(request, 404, "not_found", "there is nothing here");
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *data,
                                  size_t *bytes, void **context)
{
    (void)version;
    HttpServer *server = user;
    HttpRequest *request = *context;
    if (request == NULL) {
        request = calloc(1, sizeof *request);
        if (request == NULL) {
            return MHD_NO;
        }
        request->server = server;
        request->connection = connection;
        *context = request;
        bool known;
        request->route = find_route(server, method, path, request, &known);
        return MHD_YES;
    }
    if (*bytes > 0) {
        collect_body(request, data, *bytes);
        *bytes = 0;
        return MHD_YES;
    }
    bool known;
    request->route = find_route(server, method, path, request, &known);
    return respond(request, method, path, known);
}

static void on_end(void *user, struct MHD_Connection *connection, void **context,
                   enum MHD_RequestTerminationCode why)
{
    (void)user, (void)connection, (void)why;
    HttpRequest *request = *context;
    if (request != NULL) {
        free(request->body);
        free(request);
        *context = NULL;
    }
}

// --- start and stop -----------------------------------------------------------------------------

Status http_start(const HttpConfig *config, HttpServer **out)
{
    HttpServer *server = calloc(1, sizeof *server);
    if (server == NULL) {
        return STATUS_LIMIT;
    }
    server->config = *config;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(config->port)};
    const char *name = config->address != NULL ? config->address : "127.0.0.1";
    if (inet_pton(AF_INET, name, &address.sin_addr) != 1) {
        free(server);
        return STATUS_RANGE;
    }
    const bool unlimited = config->loopback_unlimited && address_is_loopback((void *)&address);
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_SOCK_ADDR, 0, &address},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)config->connection_max, NULL},
        {MHD_OPTION_PER_IP_CONNECTION_LIMIT,
         unlimited ? 0 : (intptr_t)config->connections_per_address_max, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_SECONDS, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, 32768, NULL},
        {MHD_OPTION_END, 0, NULL}};
    server->daemon =
        MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_UPGRADE,
                         config->port, NULL, NULL, on_request, server, MHD_OPTION_NOTIFY_COMPLETED,
                         on_end, NULL, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    if (server->daemon == NULL) {
        free(server);
        return STATUS_BLOCKED; // usually: the port is taken
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    server->port = info != NULL ? info->port : config->port;
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
        free(server);
    }
}

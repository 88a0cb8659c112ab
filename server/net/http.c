// libmicrohttpd behind http.h. Its threads (one, unless the config says more) serve everything with
// epoll; handlers do not block, but may answer later (http_defer.c). What is decided from text
// alone is in http_rules, files are in http_file, deadlines in http_watch.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/net/http_inside.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define CONNECTION_MEMORY      32768 // of headers, for each connection
#define CONNECTION_MAX_DEFAULT 1024
#define TIMEOUT_MS_DEFAULT     15000
#define ANSWER_TIMEOUTS        20 // an answer has so many times the time of a request

// --- routes -------------------------------------------------------------------------------------

static void find_page(HttpRequest *request, const char *wanted, const char *path)
{
    const HttpConfig *config = &request->server->config;
    const uint32_t count = config->web_root != NULL ? config->page_count : 0;
    for (uint32_t i = 0; i < count && request->route == NULL; i++) {
        const HttpRoute *page = &config->pages[i];
        if (strcmp(page->method, wanted) == 0 &&
            http_rules_route(page->path, path, &request->parts)) {
            request->route = page;
            request->has_entered = true; // everybody may
        }
    }
}

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
    if (request->route == NULL) {
        find_page(request, wanted, path);
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

// --- for the log
// ------------------------------------------------------------------------------------

// Numbers that never repeat, and of which none tells how many came before it: the step is odd, and
// each line below can be undone.
static void make_id(HttpServer *server, char out[HTTP_REQUEST_ID_BYTES])
{
    uint64_t number = atomic_fetch_add(&server->request_number, 0x9e3779b97f4a7c15u);
    number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
    number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
    number ^= number >> 31;
    snprintf(out, HTTP_REQUEST_ID_BYTES, "%016" PRIx64, number);
}

// Of an address that no route has only the first name is kept, and only a short one: links that
// sign somebody in are addresses too.
static void note_path(HttpRequest *request, const char *method, const char *path)
{
    snprintf(request->method, sizeof request->method, "%s", method);
    if (request->route != NULL) {
        snprintf(request->path, sizeof request->path, "%s", request->route->path);
        return;
    }
    const char *name = path[0] == '/' ? path + 1 : "*";
    const size_t first = strcspn(name, "/");
    const bool is_short = first < 32;
    snprintf(request->path, sizeof request->path, "/%.*s%s", is_short ? (int)first : 0, name,
             !is_short             ? "*"
             : name[first] != '\0' ? "/*"
                                   : "");
}

static void tell_answered(HttpRequest *request)
{
    const HttpConfig *config = &request->server->config;
    if (config->answered != NULL && request->has_begun) {
        const HttpAnswered answered = {.request_id = request->request_id,
                                       .method = request->method,
                                       .path = request->path,
                                       .status = request->status != 0 ? request->status : 499,
                                       .us = (clock_ns() - request->begin_ns) / 1000,
                                       .error = request->error_code};
        config->answered(config->user, &answered);
    }
}

// --- requests -----------------------------------------------------------------------------------

HttpResponse http_response_default(void)
{
    return (HttpResponse){.status = MHD_HTTP_OK, .content_type = "application/json"};
}

bool http_request_enter(HttpRequest *request, HttpResponse *response)
{
    const HttpConfig *config = &request->server->config;
    if (!request->has_entered && config->enter != NULL) {
        request->has_entered = config->enter(config->user, request->route, request, response);
        return request->has_entered;
    }
    return true;
}

static enum MHD_Result run_handler(HttpRequest *request)
{
    HttpResponse response = http_response_default();
    // Whoever sends a body may lose the right to do so while it arrives.
    if (request->taker != NULL) {
        request->has_entered = false;
    }
    if (!http_request_enter(request, &response)) {
        return http_answer(request, &response);
    }
    if (request->route->blocks) {
        (request->route->is_slow ? http_work_slowly : http_work)(request, &response,
                                                                 request->route->handler);
    } else {
        request->route->handler(request->server->config.user, request, &response);
    }
    if (request->is_deferred) {
        return http_defer_wait(request);
    }
    if (response.status != MHD_HTTP_SWITCHING_PROTOCOLS) {
        return http_answer(request, &response);
    }
    ASSERT(request->take != NULL); // only http_upgrade switches protocols
    return http_answer_upgrade(request);
}

// Somebody who typed or followed an address that nothing has, and no program.
static bool is_lost_person(const HttpRequest *request, const char *method, const char *path)
{
    const HttpConfig *config = &request->server->config;
    const char *accepts = http_header(request, "Accept");
    return config->lost_page != NULL && config->web_root != NULL && strcmp(method, "GET") == 0 &&
           accepts != NULL && strstr(accepts, "text/html") != NULL &&
           strncmp(path, "/api/", 5) != 0 && strncmp(path, "/admin/", 7) != 0;
}

static enum MHD_Result respond(HttpRequest *request, const char *method, const char *path)
{
    // Whoever answers later has this much time; with the answer its size is known.
    http_watch_answer(request->server->watch, http_watched(request->connection), 0);
    if (request->route != NULL && request->body_too_large) {
        request->must_close = true;
        return http_answer_fail(request, 413, "too_large", HTTP_TOO_LARGE);
    }
    if (request->route != NULL) {
        return run_handler(request);
    }
    enum MHD_Result queued;
    if (http_answer_file(request, method, path, &queued)) {
        return queued;
    }
    if (request->path_is_known) {
        list_methods(request, path);
        return http_answer_fail(request, 405, "method", "this address has no such method");
    }
    if (is_lost_person(request, method, path)) {
        request->route = request->server->config.lost_page;
        request->has_entered = true; // everybody may
        return run_handler(request);
    }
    return http_answer_fail(request, 404, "not_found", "there is nothing here");
}

typedef struct HttpRefusal {
    uint32_t status;
    const char *code, *message;
} HttpRefusal;

static void count(HttpServer *server, uint64_t *counter)
{
    pthread_mutex_lock(&server->lock);
    *counter += 1;
    pthread_mutex_unlock(&server->lock);
}

// NULL, or the answer to one that is not for us, or is made by a page of a stranger's.
static const HttpRefusal *find_refusal(HttpRequest *request, const char *method)
{
    static const HttpRefusal misdirected = {
        421, "misdirected",
        "this server does not answer to the name in Host; use its address or public URL"};
    static const HttpRefusal origin = {403, "origin", "this page may not ask here"};
    HttpServer *server = request->server;
    const char *host = http_header(request, "Host");
    if (host != NULL && !http_site_answers(&server->site, host) &&
        !http_site_answers(&server->own, host)) {
        count(server, &server->stats.misdirected);
        return &misdirected;
    }
    const bool only_reads = request->is_get || strcmp(method, "HEAD") == 0;
    return only_reads || http_origin_is_allowed(request) ? NULL : &origin;
}

// The headers are there. An answer now, before the body, ends the connection after it: so what is a
// little too large is read to its end, because a client that still sends may never see the answer.
static enum MHD_Result begin_request(HttpRequest *request, const char *method, const char *path,
                                     const char *version)
{
    uint64_t declared;
    count(request->server, &request->server->stats.requests);
    find_route(request, method, path);
    note_path(request, method, path);
    const char *wrong = http_body_declared(request, method, version, &declared);
    if (wrong != NULL) {
        request->must_close = true; // whatever follows may be a part of it
        return http_answer_fail(request, 400, "malformed", wrong);
    }
    const HttpRefusal *refusal = find_refusal(request, method);
    if (refusal != NULL) {
        request->must_close = true; // its body is not read
        return http_answer_fail(request, refusal->status, refusal->code, refusal->message);
    }
    request->body_too_large = declared > http_body_max(request);
    const bool waits = http_header(request, MHD_HTTP_HEADER_EXPECT) != NULL;
    if (request->body_too_large && (waits || declared > HTTP_DRAIN_BYTES_MAX)) {
        return respond(request, method, path);
    }
    HttpResponse response = http_response_default();
    if (!http_body_begin(request, declared, &response)) {
        request->must_close = true;
        return http_answer(request, &response);
    }
    http_watch_body(request->server->watch, http_watched(request->connection), 0, true);
    return MHD_YES;
}

HttpWatched *http_watched(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

static bool is_within(const void *at, const void *from, size_t bytes)
{
    const uintptr_t place = (uintptr_t)at, first = (uintptr_t)from;
    return from != NULL && place >= first && place - first < bytes;
}

bool http_request_owns(const HttpRequest *request, const void *at)
{
    return is_within(at, request->arena.base, request->arena.capacity) ||
           is_within(at, request->body, request->body_capacity) ||
           is_within(at, request->error_text, sizeof request->error_text) ||
           (at != NULL && at == request->later_body);
}

void http_request_release(HttpRequest *request)
{
    HttpServer *server = request->server;
    const unsigned before = atomic_fetch_sub(&request->reference_count, 1);
    ASSERT(before > 0);
    if (before > 1) {
        return;
    }
    if (request->is_complete && !request->is_answered) {
        http_stream_end(&request->later.stream); // the client was gone by then
    }
    if (request->taker != NULL) {
        request->route->body_taker->cancel(request->taker);
    }
    if (request->socket != 0 && !request->is_taken) {
        http_sockets_remove(server->sockets, request->socket, 0);
    }
    for (uint32_t i = 0; i < request->kept_count; i++) {
        free(request->kept[i]);
    }
    free(request->body);
    free(request->later_body);
    free(request->arena.base);
    free(request);
}

// The first line came; its address is as it was sent, before anything is taken apart.
static void *on_address(void *user, const char *address, struct MHD_Connection *connection)
{
    HttpRequest *request = calloc(1, sizeof *request);
    if (request != NULL) {
        request->server = user;
        request->connection = connection;
        request->reference_count = 1;
        request->begin_ns = clock_ns();
        make_id(request->server, request->request_id);
        request->address_end = address + strlen(address);
        request->has_bad_address = !http_rules_address_is_valid(address);
    }
    return request;
}

static enum MHD_Result continue_request(HttpRequest *request, const char *path, const char *method,
                                        const char *version, const char *data, size_t *bytes)
{
    if (request->has_reply) {
        return MHD_NO; // a server that stops drops replies, and asks again
    }
    if (request->is_deferred) {
        return http_defer_answer(request);
    }
    if (!request->has_begun) {
        request->has_begun = true;
        request->is_get = strcmp(method, "GET") == 0;
        request->http_1_0 = strcmp(version, MHD_HTTP_VERSION_1_1) != 0;
        http_find_client(request);
        return begin_request(request, method, path, version);
    }
    if (*bytes > 0) {
        const bool goes_on = http_body_receive(request, data, *bytes);
        *bytes = 0;
        return goes_on ? MHD_YES : MHD_NO;
    }
    return request->body_is_refused ? MHD_NO : respond(request, method, path);
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *data,
                                  size_t *bytes, void **context)
{
    (void)user, (void)connection;
    HttpRequest *request = *context;
    if (request == NULL) {
        return MHD_NO; // there was no memory for it
    }
    http_thread_serves(request);
    const enum MHD_Result result = continue_request(request, path, method, version, data, bytes);
    http_thread_serves(NULL); // it may be gone by now
    return result;
}

static void on_end(void *user, struct MHD_Connection *connection, void **context,
                   enum MHD_RequestTerminationCode why)
{
    (void)why;
    HttpServer *server = user;
    HttpRequest *request = *context;
    if (request != NULL) {
        http_watch_request(server->watch, http_watched(connection));
        tell_answered(request);
        http_request_release(request);
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
    config.waiting_max = config.waiting_max > 0 ? config.waiting_max : HTTP_WAITING_MAX;
    config.rate_min = config.rate_min > 0 ? config.rate_min : HTTP_RATE_MIN;
    config.thread_count = config.thread_count > 0 ? config.thread_count : 1;
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
        // A pool of one is a thread more that does nothing.
        {config->thread_count > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END,
         (intptr_t)config->thread_count, NULL},
        {MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_ALLOW_UPGRADE |
            MHD_ALLOW_SUSPEND_RESUME | family,
        config->port, on_accept, server, on_request, server, MHD_OPTION_NOTIFY_COMPLETED, on_end,
        server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_UNESCAPE_CALLBACK,
        on_unescape, NULL, MHD_OPTION_URI_LOG_CALLBACK, on_address, server, MHD_OPTION_ARRAY,
        options, MHD_OPTION_END);
}

// Routes are ours: what is wrong with them is a bug.
static void check_routes(const HttpConfig *config)
{
    for (uint32_t i = 0; i < config->route_count; i++) {
        ASSERT(config->routes[i].arena_bytes <= HTTP_ARENA_BYTES_MAX);
    }
}

// False: the public URL is none, or a proxy is no range of addresses.
static bool read_names(HttpServer *server)
{
    const HttpConfig *config = &server->config;
    if ((config->public_url != NULL && !http_site_parse(config->public_url, &server->site)) ||
        (config->host_url != NULL && !http_site_parse(config->host_url, &server->own))) {
        return false;
    }
    for (const char *const *at = config->trusted_proxies; at != NULL && *at != NULL; at++) {
        if (server->trusted_count == HTTP_TRUSTED_PROXIES_MAX ||
            !http_peer_range_parse(*at, &server->trusted[server->trusted_count])) {
            return false;
        }
        server->trusted_count += 1;
    }
    return true;
}

static Status start_parts(HttpServer *server)
{
    const HttpConfig *config = &server->config;
    const HttpWatchConfig watch = {.connection_max = config->connection_max,
                                   .per_address_max = config->connections_per_address_max,
                                   .loopback_unlimited = config->loopback_unlimited,
                                   .request_ms = config->timeout_ms,
                                   .answer_ms = config->timeout_ms * ANSWER_TIMEOUTS,
                                   .rate_min = config->rate_min,
                                   .trusted = server->trusted,
                                   .trusted_count = server->trusted_count};
    if (config->sockets_per_address_max > 0 &&
        http_sockets_create(config->sockets_per_address_max, &server->sockets) != STATUS_OK) {
        return STATUS_LIMIT;
    }
    return http_watch_create(&watch, &server->watch);
}

Status http_start(const HttpConfig *given, HttpServer **out)
{
    const HttpConfig config = fill_config(given);
    SocketAddress address;
    check_routes(&config);
    if (!read_address(&config, &address)) {
        return STATUS_RANGE;
    }
    HttpServer *server = calloc(1, sizeof *server);
    if (server == NULL) {
        return STATUS_LIMIT;
    }
    server->answers = calloc((config.route_count + 1) * HTTP_STATUS_CLASSES,
                             sizeof *server->answers); // all zero is 0
    if (server->answers == NULL) {
        free(server);
        return STATUS_LIMIT;
    }
    server->config = config;
    server->reference_count = 1;
    server->request_number = entropy_u64();
    pthread_mutex_init(&server->lock, NULL);
    const bool has_names = read_names(server);
    http_policy_write(server); // it has some of them
    const Status status = has_names ? start_parts(server) : STATUS_RANGE;
    if (status != STATUS_OK) {
        http_server_release(server);
        return status;
    }
    server->daemon = start_daemon(server, &address);
    if (server->daemon == NULL) {
        http_watch_destroy(server->watch);
        http_server_release(server);
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

HttpStats http_stats(HttpServer *server)
{
    pthread_mutex_lock(&server->lock);
    HttpStats stats = server->stats;
    pthread_mutex_unlock(&server->lock);
    stats.too_slow = http_watch_cut(server->watch);
    stats.sockets = server->sockets != NULL ? http_sockets_count(server->sockets) : 0;
    return stats;
}

void http_socket_pass(HttpServer *server, uint64_t number, uint64_t owner)
{
    if (server != NULL && server->sockets != NULL) {
        http_sockets_own(server->sockets, number, owner);
    }
}

void http_sockets_of(HttpServer *server, const HttpPeerRange *range, HttpSocketSink sink,
                     void *user)
{
    if (server != NULL && server->sockets != NULL) {
        http_sockets_each(server->sockets, range, sink, user);
    }
}

void http_socket_over(HttpServer *server, uint64_t number, uint64_t owner)
{
    if (server != NULL && server->sockets != NULL) {
        http_sockets_remove(server->sockets, number, owner);
    }
}

void http_socket_over_all(HttpServer *server, uint64_t owner)
{
    if (server != NULL && server->sockets != NULL) {
        http_sockets_remove_all(server->sockets, owner);
    }
}

void http_server_release(HttpServer *server)
{
    pthread_mutex_lock(&server->lock);
    ASSERT(server->reference_count > 0);
    const bool is_last = --server->reference_count == 0;
    pthread_mutex_unlock(&server->lock);
    if (is_last) {
        pthread_mutex_destroy(&server->lock);
        http_sockets_destroy(server->sockets);
        free(server->answers);
        free(server);
    }
}

void http_stop(HttpServer *server)
{
    if (server != NULL) {
        http_defer_stop(server);
        MHD_stop_daemon(server->daemon);
        http_watch_destroy(server->watch);
        http_server_release(server);
    }
}

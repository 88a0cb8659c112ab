// What a host answers over HTTP: health, metrics, the stripped scene, who may come in, and the
// WebSocket that is handed to the world. Handlers run on the HTTP thread and touch the host only
// through what never changes and through the lock.
#define _GNU_SOURCE
#include "core/base/json_read.h"
#include "core/base/json_write.h"
#include "core/base/limits.h"
#include "core/base/name_text.h"
#include "core/base/sha256.h"
#include "core/base/utf8.h"
#include "core/wire/message.h"
#include "server/host/host_build.h"
#include "server/host/host_inside.h"
#include "server/net/websocket.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SEND_BUFFER       (16 << 10) // a client that stopped reading costs so much, not megabytes
#define METRICS_BYTES     (64u << 10)
#define BODY_BYTES        4096
#define ANSWER_BYTES      4096
#define QUERY_TOKEN_BYTES 2048
#define QUERY_FRAME_BYTES 4096
#define TOKEN_LETTERS     "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~+/=:|@"
#define PROMETHEUS_TYPE   "text/plain; version=0.0.4; charset=utf-8"

// --- health and numbers -------------------------------------------------------------------------

static void put_text(HttpResponse *response, const char *text)
{
    response->body = (const uint8_t *)text;
    response->bytes = strlen(text);
    response->body_is_static = true;
}

static bool is_ready(Host *host)
{
    pthread_mutex_lock(&host->lock);
    const bool ready = host->ready;
    pthread_mutex_unlock(&host->lock);
    return ready;
}

// While there is no world because the disk takes no writes, nobody is let in: a ticket would be
// worth nothing, and a socket would wait for ever.
static bool refuse_without_disk(Host *host, HttpRequest *request, HttpResponse *response)
{
    static const char *const codes[] = {[STORE_DISK_FULL] = "disk_full",
                                        [STORE_DISK_READ_ONLY] = "disk_read_only",
                                        [STORE_DISK_FAILED] = "disk_failed"};
    const StoreDisk disk = is_ready(host) ? STORE_DISK_FINE : store_stats(host->store).disk;
    if (disk == STORE_DISK_FINE) {
        return false;
    }
    char message[160];
    snprintf(message, sizeof message,
             "the world does not run: %s; it starts again by itself once that is mended",
             store_disk_text(disk));
    http_fail(request, response, 503, codes[disk], message);
    return true;
}

static void get_health(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user, (void)request;
    put_text(response, "{\"status\":\"ok\"}");
}

static void get_ready(void *user, HttpRequest *request, HttpResponse *response)
{
    if (is_ready(user)) {
        put_text(response, "{\"status\":\"ready\"}");
    } else if (!refuse_without_disk(user, request, response)) {
        http_fail(request, response, 503, "starting", "the world does not run yet");
    }
}

static void get_metrics(void *user, HttpRequest *request, HttpResponse *response)
{
    Host *host = user;
    uint8_t *text = arena_alloc(http_arena(request), METRICS_BYTES);
    pthread_mutex_lock(&host->lock);
    Metrics metrics = host->metrics;
    const pid_t pid = host->pid;
    pthread_mutex_unlock(&host->lock);
    metrics.store = store_stats(host->store);
    metrics.http = http_stats(http_server(request));
    metrics.pool = work_pool_stats(host->pool);
    metrics.resident_bytes = process_resident_bytes(pid);
    metrics.host_cpu_us = clock_cpu_us();
    ByteWriter writer = byte_writer(text, text != NULL ? METRICS_BYTES : 0);
    metrics_write(&metrics, &writer);
    response->content_type = PROMETHEUS_TYPE;
    response->body = text;
    response->bytes = writer.at;
}

// --- blobs --------------------------------------------------------------------------------------

// A range is one of the rune's own bytes.
static void put_rune(const Host *host, uint32_t number, const HttpRequest *request,
                     HttpResponse *response)
{
    const BuildRune *rune = &host->built.runes[number];
    const bool as_zstd = rune->zstd != NULL && http_header(request, "Range") == NULL &&
                         http_prefers_coding(request, HTTP_ZSTD);
    response->body = as_zstd ? rune->zstd : rune->bytes;
    response->bytes = as_zstd ? rune->zstd_count : rune->count;
    response->content_encoding = as_zstd ? "zstd" : NULL;
    response->varies_by_encoding = true;
}

// Until the server is stopped, and for ever: the address says what it is.
static void put_blob(HttpResponse *response)
{
    response->content_type = "application/octet-stream";
    response->body_is_static = true;
    response->cache = HOST_BLOB_CACHE;
    response->content_security_policy = "sandbox";
}

// GET /packed/<number>/<hash of the rune>. Not at the address of the rune: what stands between us
// and a client keeps answers by their addresses, and must never take one for the other.
static void get_packed(void *user, HttpRequest *request, HttpResponse *response)
{
    const Host *host = user;
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, host->built.packing);
    const bool is_ours = strcmp(http_path_part(request, 0), number) == 0;
    const uint32_t rune = is_ours ? host_place_rune(host, http_path_part(request, 1)) : UINT32_MAX;
    if (rune == UINT32_MAX || host->built.runes[rune].packed == NULL) {
        http_fail(request, response, 404, "not_found", "there is no such rune, packed like this");
        return;
    }
    response->body = host->built.runes[rune].packed;
    response->bytes = host->built.runes[rune].packed_count;
    put_blob(response);
}

static void get_blob(void *user, HttpRequest *request, HttpResponse *response)
{
    const Host *host = user;
    const char *hash = http_path_part(request, 0);
    const bool is_scene = hash != NULL && strcmp(hash, host->scene_hex) == 0;
    // Of runes only those that clients are told of: one of the server's is as unknown as any other.
    const uint32_t rune = hash != NULL && !is_scene ? host_place_rune(host, hash) : UINT32_MAX;
    if (!is_scene && rune == UINT32_MAX) {
        host_asset_blob(user, hash, request, response);
        return;
    }
    if (is_scene) {
        response->body = host->built.stripped;
        response->bytes = host->built.stripped_bytes;
    } else {
        put_rune(host, rune, request, response);
    }
    put_blob(response);
}

// --- rooms --------------------------------------------------------------------------------------

static bool is_our_room(const Host *host, const char *code)
{
    return code != NULL &&
           (strcasecmp(code, host->row.room_code) == 0 || strcmp(code, host->row.world_id) == 0);
}

static void member_number(JsonWriter *json, const char *name, uint64_t number)
{
    json_write_name(json, name);
    json_write_integer(json, (int64_t)number);
}

static void finish(HttpRequest *request, HttpResponse *response, const JsonWriter *json,
                   const uint8_t *text, const ByteWriter *writer)
{
    if (json_writer_finish(json) != STATUS_OK) {
        http_fail(request, response, 500, "too_large", "the answer does not fit");
        return;
    }
    response->body = text;
    response->bytes = writer->at;
}

void host_write_member(JsonWriter *json, const char *name, const char *text)
{
    json_write_name(json, name);
    if (text != NULL) {
        json_write_text(json, text);
    } else {
        json_write_null(json);
    }
}

static void get_room(void *user, HttpRequest *request, HttpResponse *response)
{
    Host *host = user;
    uint8_t *text = arena_alloc(http_arena(request), ANSWER_BYTES);
    if (!is_our_room(host, http_path_part(request, 0))) {
        http_fail(request, response, 404, "not_found", "there is no such room");
        return;
    }
    pthread_mutex_lock(&host->lock);
    const bool ready = host->ready;
    const uint64_t players = host->metrics.world.sessions;
    pthread_mutex_unlock(&host->lock);
    ByteWriter writer = byte_writer(text, text != NULL ? ANSWER_BYTES : 0);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    host_write_member(&json, "roomCode", host->row.room_code);
    host_write_member(&json, "worldId", host->row.world_id);
    host_write_member(&json, "placeName", host->built.facts.name);
    json_write_name(&json, "ready");
    json_write_bool(&json, ready);
    member_number(&json, "players", players);
    member_number(&json, "playerMax", host->player_max);
    member_number(&json, "tickRate", host->built.facts.tick_rate);
    host_write_member(&json, "sceneHash", host->scene_hex);
    member_number(&json, "sceneBytes", host->built.stripped_bytes);
    json_write_object_end(&json);
    finish(request, response, &json, text, &writer);
}

bool host_http_refuse_forwarded(const Host *host, HttpRequest *request, HttpResponse *response)
{
    if (!host->development || !http_is_forwarded(request)) {
        return false;
    }
    http_fail(request, response, 403, "proxied",
              "this world is in development, for its own machine alone, and the request came "
              "through a proxy; ask it directly, or run the world with --address for others");
    return true;
}

// --- sockets ------------------------------------------------------------------------------------

// Who one is may stand in the address, for clients that have nothing else: `token` (a ticket or a
// sign-in), `playerId`, `resumeToken`. False when one of them is nothing that we ever gave.
static bool read_query(const HttpRequest *request, MessageHandshake *out)
{
    const struct {
        const char *name;
        Text *to;
        size_t bytes_max;
    } rows[] = {{"token", &out->ticket, QUERY_TOKEN_BYTES},
                {"playerId", &out->player_id, 64},
                {"resumeToken", &out->resume_token, 64}};
    *out = (MessageHandshake){.version = PROTOCOL_VERSION};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = http_query(request, rows[i].name);
        if (text == NULL) {
            continue;
        }
        const size_t bytes = strlen(text);
        if (bytes > rows[i].bytes_max || strspn(text, TOKEN_LETTERS) != bytes) {
            return false;
        }
        *rows[i].to = (Text){text, (uint32_t)bytes};
    }
    return true;
}

// The frame by which the client would have said so, to be read before all others; 0 bytes without
// any. The world has one door, and a handshake that is sent after it is one too many.
static size_t write_query(const HttpRequest *request, bool json, uint8_t *out)
{
    MessageHandshake handshake;
    if (!read_query(request, &handshake) ||
        handshake.ticket.bytes + handshake.player_id.bytes + handshake.resume_token.bytes == 0) {
        return 0;
    }
    static const uint8_t mask[4] = {0}; // leaves everything as it is
    uint8_t text[QUERY_FRAME_BYTES - WEBSOCKET_HEADER_MAX];
    const Message message = {.number = MESSAGE_HANDSHAKE, .body = &handshake};
    ByteWriter writer = byte_writer(text, sizeof text);
    (json ? message_to_json : message_encode)(&message, &writer);
    ASSERT(writer.status == STATUS_OK);
    const size_t header =
        websocket_header(out, json ? WEBSOCKET_TEXT : WEBSOCKET_BINARY, writer.at, mask);
    memcpy(out + header, text, writer.at);
    return header + writer.at;
}

// The world is a stranger's: it tells addresses apart, and learns none. In development nobody on
// this machine is counted (0).
static uint64_t address_key(const Host *host, const HttpRequest *request)
{
    if (host->development && http_is_loopback(request)) {
        return 0;
    }
    uint8_t bytes[sizeof host->address_secret + 8], digest[SHA256_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    byte_write_bytes(&writer, host->address_secret, sizeof host->address_secret);
    byte_write_u64(&writer, http_address(request));
    ASSERT(writer.status == STATUS_OK);
    sha256_of(bytes, writer.at, digest);
    ByteReader reader = byte_reader(digest, sizeof digest);
    return byte_read_u64(&reader) | 1;
}

// On the HTTP thread. The kernel's buffer is made small here: the world sets no options.
static void take_socket(void *user, int descriptor, const uint8_t *already, size_t bytes, bool json)
{
    const HttpRequest *request = user;
    Host *host = http_user(request);
    const int send_buffer = SEND_BUFFER;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
    const int flags = fcntl(descriptor, F_GETFL);
    (void)fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
    HostSocket socket = {.descriptor = descriptor,
                         .json = json,
                         .address = address_key(host, request),
                         .number = http_socket_number(request)};
    socket.already = malloc(QUERY_FRAME_BYTES + bytes);
    bool queued = false;
    pthread_mutex_lock(&host->lock);
    if (socket.already != NULL && host->waiting_count < HOST_WAITING_MAX && !host->closing) {
        socket.bytes = write_query(request, json, socket.already);
        if (bytes > 0) {
            memcpy(socket.already + socket.bytes, already, bytes);
            socket.bytes += bytes;
        }
        host->waiting[host->waiting_count++] = socket;
        queued = true;
    } else {
        host->metrics.sockets_refused += 1;
    }
    pthread_mutex_unlock(&host->lock);
    if (!queued) {
        close(descriptor);
        http_socket_over(http_server(request), socket.number, 0);
        free(socket.already);
    }
    const uint64_t one = 1;
    if (write(host->wake, &one, sizeof one) != sizeof one) {
        return; // the main thread is awake already
    }
}

static void get_socket(void *user, HttpRequest *request, HttpResponse *response)
{
    Host *host = user;
    if (!is_our_room(host, http_path_part(request, 0))) {
        http_fail(request, response, 404, "not_found", "there is no such room");
        return;
    }
    if (host_http_refuse_forwarded(host, request, response) ||
        refuse_without_disk(host, request, response)) {
        return;
    }
    pthread_mutex_lock(&host->lock);
    const bool busy = host->closing || host->waiting_count == HOST_WAITING_MAX;
    pthread_mutex_unlock(&host->lock);
    if (busy) {
        http_fail(request, response, 503, "busy", "too many come in at once, or the world ends");
        return;
    }
    MessageHandshake handshake;
    if (!read_query(request, &handshake)) {
        http_fail(request, response, 400, "malformed",
                  "token, playerId or resumeToken is too long, or nothing that was given here");
        return;
    }
    http_upgrade(request, response, take_socket, request);
}

// --- who comes in -------------------------------------------------------------------------------

typedef struct JoinRequest {
    char name[TICKET_NAME_BYTES];
    char world_id[65];
    bool debug;
    bool bad;      // the body is no JSON object of the form
    bool bad_name; // what is to be its name is none
} JoinRequest;

// False: it is there and does not fit, or is no text.
static bool copy_member(const JsonNode *root, const char *name, char *out, size_t capacity)
{
    const JsonNode *node = json_find(root, name);
    if (node == NULL || node->kind == JSON_NULL) {
        return true;
    }
    if (node->kind != JSON_STRING || node->count >= capacity || strlen(node->text) != node->count) {
        return false;
    }
    memcpy(out, node->text, node->count + 1);
    return true;
}

static JoinRequest read_join_request(HttpRequest *request)
{
    JoinRequest join = {0};
    size_t bytes;
    const uint8_t *body = http_body(request, &bytes);
    if (bytes == 0) {
        return join;
    }
    const JsonConfig config = {.arena = http_arena(request),
                               .bytes_max = BODY_BYTES,
                               .node_count_max = 128,
                               .depth_max = 8};
    const JsonNode *root = NULL;
    if (json_parse(&config, (const char *)body, bytes, &root, NULL) != STATUS_OK ||
        root->kind != JSON_OBJECT) {
        join.bad = true;
        return join;
    }
    join.bad_name = !copy_member(root, "username", join.name, sizeof join.name);
    if (join.name[0] == '\0' && !copy_member(root, "name", join.name, sizeof join.name)) {
        join.bad_name = true;
    }
    if (join.name[0] != '\0' && !name_text_is_valid(join.name, strlen(join.name))) {
        join.bad_name = true;
    }
    // One that does not fit is nobody's.
    if (!copy_member(root, "world_id", join.world_id, sizeof join.world_id)) {
        join.world_id[0] = '?';
    }
    const JsonNode *debug = json_find(root, "debug");
    join.debug = debug != NULL && debug->kind == JSON_BOOL && debug->boolean;
    return join;
}

// True: there is a body, and the response says what is wrong with it.
static bool refuse_join_request(const JoinRequest *join, HttpRequest *request,
                                HttpResponse *response)
{
    if (join->bad) {
        http_fail(request, response, 400, "malformed", "the body is no JSON object");
    } else if (join->bad_name) {
        http_fail(request, response, 400, "invalid_name", NAME_TEXT_RULE);
    }
    return join->bad || join->bad_name;
}

// A guest of that name, or of one that is made up.
static Ticket make_guest(const char *name)
{
    Ticket guest = {.purpose = TICKET_SIGN_IN,
                    .flags = TICKET_GUEST,
                    .account = (entropy_u64() & (SIM_NET_ID_MAX >> 1)) | 1,
                    .expires_unix_ms = clock_unix_ms() + TICKET_SIGN_IN_MS};
    if (name[0] != '\0') {
        snprintf(guest.name, sizeof guest.name, "%s", name);
    } else {
        snprintf(guest.name, sizeof guest.name, "Guest %u", (unsigned)(guest.account % 10000));
    }
    return guest;
}

// From `Authorization: Bearer …`; false without a sign-in of ours.
static bool signed_in(const Host *host, const HttpRequest *request, Ticket *out, const char **token)
{
    static const char bearer[] = "Bearer ";
    const char *header = http_header(request, "Authorization");
    if (header == NULL || strncasecmp(header, bearer, sizeof bearer - 1) != 0) {
        return false;
    }
    *token = header + sizeof bearer - 1;
    return ticket_read(&host->key, *token, strlen(*token), out) == STATUS_OK &&
           out->purpose == TICKET_SIGN_IN && out->expires_unix_ms > clock_unix_ms();
}

// Only development gives tickets to whoever asks, and never to a page of another site: a browser
// names the page's origin, and it must be ours.
static bool refuse_ticket_for_stranger(const Host *host, HttpRequest *request,
                                       HttpResponse *response)
{
    if (!host->development || !http_is_loopback(request)) {
        http_fail(request, response, 403, "denied",
                  "only a world on a loopback address gives tickets to everybody");
        return true;
    }
    if (!http_origin_is_allowed(request)) {
        http_fail(request, response, 403, "origin", "this page may not ask here");
        return true;
    }
    return host_http_refuse_forwarded(host, request, response);
}

static void client_id(const Ticket *ticket, char out[32])
{
    snprintf(out, 32, "guest_%" PRIx64, ticket->account);
}

static void post_login(void *user, HttpRequest *request, HttpResponse *response)
{
    Host *host = user;
    uint8_t *text = arena_alloc(http_arena(request), ANSWER_BYTES);
    if (refuse_ticket_for_stranger(host, request, response)) {
        return;
    }
    const JoinRequest join = read_join_request(request);
    if (refuse_join_request(&join, request, response)) {
        return;
    }
    const Ticket guest = make_guest(join.name);
    char token[TICKET_TEXT_BYTES], id[32];
    if (ticket_write(&host->key, &guest, token, sizeof token) != STATUS_OK) {
        http_fail(request, response, 500, "failed", "no sign-in could be made");
        return;
    }
    client_id(&guest, id);
    ByteWriter writer = byte_writer(text, text != NULL ? ANSWER_BYTES : 0);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    host_write_member(&json, "session_token", token);
    host_write_member(&json, "client_id", id);
    host_write_member(&json, "username", guest.name);
    json_write_object_end(&json);
    finish(request, response, &json, text, &writer);
}

static Ticket make_ticket(Host *host, const Ticket *guest, bool debug)
{
    Ticket ticket = *guest;
    ticket.purpose = TICKET_ENTER;
    ticket.flags |= debug ? TICKET_DEBUG : 0;
    ticket.expires_unix_ms = clock_unix_ms() + TICKET_MS;
    memcpy(ticket.world_id, host->row.world_id, sizeof ticket.world_id);
    memcpy(ticket.boot, host->boot, sizeof ticket.boot);
    entropy_fill(ticket.nonce, sizeof ticket.nonce);
    pthread_mutex_lock(&host->lock);
    ticket.epoch = host->epoch;
    host->metrics.tickets_given += 1;
    pthread_mutex_unlock(&host->lock);
    return ticket;
}

static void write_join(const Host *host, JsonWriter *json, const Ticket *guest, const char *token,
                       const char *ticket, const char *server)
{
    char id[32], address[512], key[65];
    client_id(guest, id);
    sha256_hex(host->key.public_half, key); // 32 bytes as hex digits
    snprintf(address, sizeof address, "ws://%s/api/rooms/%s/ws", server, host->row.room_code);
    json_write_object_begin(json);
    host_write_member(json, "server_address", address);
    host_write_member(json, "session_token", token);
    host_write_member(json, "client_id", id);
    host_write_member(json, "world_id", host->row.world_id);
    host_write_member(json, "room_code", host->row.room_code);
    host_write_member(json, "username", guest->name);
    host_write_member(json, "ticket", ticket);
    host_write_member(json, "signing_key", key);
    member_number(json, "rune_packing", host->built.packing);
    json_write_object_end(json);
}

// The name by which the client reached us, if it is one; else our own.
static void server_name(Host *host, const HttpRequest *request, char *out, size_t bytes)
{
    pthread_mutex_lock(&host->lock);
    const unsigned port = host->port; // a request may come before the server knows it
    pthread_mutex_unlock(&host->lock);
    const char *name = http_header(request, "Host");
    const bool plain = name != NULL && strlen(name) < 256 &&
                       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789.-_:[]") == strlen(name);
    if (plain && name[0] != '\0') {
        snprintf(out, bytes, "%s", name);
    } else {
        snprintf(out, bytes, "%s:%u", host->config.address, port);
    }
}

static void post_join(void *user, HttpRequest *request, HttpResponse *response)
{
    Host *host = user;
    uint8_t *text = arena_alloc(http_arena(request), ANSWER_BYTES);
    if (refuse_ticket_for_stranger(host, request, response)) {
        return;
    }
    const JoinRequest join = read_join_request(request);
    if (refuse_join_request(&join, request, response)) {
        return;
    }
    if (join.world_id[0] != '\0' && !is_our_room(host, join.world_id)) {
        http_fail(request, response, 404, "not_found", "there is no such world here");
        return;
    }
    if (refuse_without_disk(host, request, response)) {
        return;
    }
    Ticket guest = {0};
    const char *token = NULL;
    char made[TICKET_TEXT_BYTES], ticket[TICKET_TEXT_BYTES], server[300];
    if (http_header(request, "Authorization") == NULL) {
        guest = make_guest(join.name);
        token = ticket_write(&host->key, &guest, made, sizeof made) == STATUS_OK ? made : NULL;
    } else if (!signed_in(host, request, &guest, &token)) {
        const bool is_ticket = guest.purpose == TICKET_ENTER;
        http_fail(request, response, 401, "auth_failed",
                  is_ticket ? "this is a ticket, which is for HANDSHAKE; a sign-in is needed here "
                              "(session_token)"
                            : "this sign-in is not valid (any more); ask /login for a new one");
        return;
    }
    const Ticket enter = make_ticket(host, &guest, join.debug);
    if (token == NULL || ticket_write(&host->key, &enter, ticket, sizeof ticket) != STATUS_OK) {
        http_fail(request, response, 500, "failed", "no ticket could be made");
        return;
    }
    server_name(host, request, server, sizeof server);
    ByteWriter writer = byte_writer(text, text != NULL ? ANSWER_BYTES : 0);
    JsonWriter json = json_writer(&writer, 0);
    write_join(host, &json, &guest, token, ticket, server);
    finish(request, response, &json, text, &writer);
}

// --- the table ----------------------------------------------------------------------------------

static const HttpRoute routes[] = {
    {"GET", "/healthz", .handler = get_health},
    {"GET", "/health", .handler = get_health},
    {"GET", "/api/health", .handler = get_health},
    {"GET", "/readyz", .handler = get_ready},
    {"GET", "/metrics", .handler = get_metrics},
    {"GET", "/blob/*", .handler = get_blob},
    {"GET", "/packed/*/*", .handler = get_packed},
    {"GET", "/api/assets", .handler = host_asset_list},
    {"GET", "/api/rooms/*/ws", .handler = get_socket},
    {"GET", "/api/rooms/*", .handler = get_room},
    {"POST", "/login", post_login, .body_max = BODY_BYTES},
    {"POST", "/join", post_join, .body_max = BODY_BYTES},
    HOST_BUILD_ROUTES,
};

Status host_http_start(Host *host)
{
    const WorkPoolConfig pool = {0};
    Status status = work_pool_create(&pool, &host->pool);
    if (status != STATUS_OK) {
        return status;
    }
    const HttpConfig config = {.address = host->config.address,
                               .port = host->config.port,
                               .routes = routes,
                               .route_count = sizeof routes / sizeof routes[0],
                               .user = host,
                               .pool = host->pool,
                               .connections_per_address_max = 64,
                               .sockets_per_address_max = HTTP_SOCKETS_PER_ADDRESS_MAX,
                               .public_url = host->config.public_url,
                               .trusted_proxies = host->config.trusted_proxies,
                               .loopback_unlimited = host->development,
                               .connection_max = 4096,
                               .web_root = host->config.web,
                               .origins = host->config.origins,
                               .origin_same_host = true};
    status = http_start(&config, &host->http);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&host->lock);
        host->port = http_port(host->http);
        pthread_mutex_unlock(&host->lock);
    }
    return status;
}

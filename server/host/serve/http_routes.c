// What HTTP is answered: health, metrics, blobs of places, rooms. Handlers run on HTTP threads and
// touch only what never changes; what concerns worlds is answered on the main thread (mailbox.h).
#define _GNU_SOURCE
#include "server/host/serve/http_routes.h"

#include "core/base/sha256.h"
#include "server/host/serve/http_asset.h"
#include "server/host/serve/http_build.h"
#include "server/host/serve/http_host.h"
#include "server/host/serve/metrics.h"
#include "server/sys/clock.h"
#include "server/sys/process.h"

#include <inttypes.h>
#include <stdio.h>

#define ANSWER_BYTES     4096
#define SERVE_TEXT_BYTES (8u << 20)
#define PROMETHEUS_TYPE  "text/plain; version=0.0.4; charset=utf-8"

// --- answers ------------------------------------------------------------------------------------

void serve_answer_begin(ServeAnswer *answer, HttpRequest *request)
{
    answer->request = request;
    answer->text = arena_alloc(http_arena(request), ANSWER_BYTES);
    answer->writer = byte_writer(answer->text, answer->text != NULL ? ANSWER_BYTES : 0);
    answer->json = json_writer(&answer->writer, 0);
}

void serve_answer_end(ServeAnswer *answer, HttpResponse *response)
{
    if (json_writer_finish(&answer->json) != STATUS_OK) {
        http_fail(answer->request, response, 500, "too_large", "the answer does not fit");
        return;
    }
    response->body = answer->text;
    response->bytes = answer->writer.at;
}

void serve_write_member(JsonWriter *json, const char *name, const char *text)
{
    json_write_name(json, name);
    if (text != NULL) {
        json_write_text(json, text);
    } else {
        json_write_null(json);
    }
}

void serve_write_number(JsonWriter *json, const char *name, uint64_t number)
{
    json_write_name(json, name);
    json_write_integer(json, (int64_t)number);
}

// For large answers of the main thread; they are copied.
static uint8_t *serve_text(Serve *serve)
{
    if (serve->text == NULL) {
        serve->text = malloc(SERVE_TEXT_BYTES);
        ASSERT(serve->text != NULL);
    }
    return serve->text;
}

static void serve_text_answer(const Serve *serve, const JsonWriter *json, const ByteWriter *writer,
                              HttpRequest *request, HttpResponse *response)
{
    if (json_writer_finish(json) != STATUS_OK) {
        http_fail(request, response, 500, "too_large", "the answer does not fit");
        return;
    }
    response->body = serve->text;
    response->bytes = writer->at;
}

static void put_text(HttpResponse *response, const char *text)
{
    response->body = (const uint8_t *)text;
    response->bytes = strlen(text);
    response->body_is_static = true;
}

bool serve_refuse_forwarded(const Serve *serve, HttpRequest *request, HttpResponse *response)
{
    if (!serve->development || !http_is_forwarded(request)) {
        return false;
    }
    http_fail(request, response, 403, "proxied",
              "this world is in development, for its own machine alone, and the request came "
              "through a proxy; ask it directly, or run the world with --address for others");
    return true;
}

bool serve_refuse_without_disk(const Serve *serve, HttpRequest *request, HttpResponse *response)
{
    static const char *const codes[] = {[STORE_DISK_FULL] = "disk_full",
                                        [STORE_DISK_READ_ONLY] = "disk_read_only",
                                        [STORE_DISK_FAILED] = "disk_failed"};
    const StoreDisk disk = store_stats(serve->store).disk;
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

// --- health and numbers -------------------------------------------------------------------------

static void get_health(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user, (void)request;
    put_text(response, "{\"status\":\"ok\"}");
}

// One world: it runs. Many: worlds can be started.
static void get_ready(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    if (atomic_load(&serve->is_ready)) {
        put_text(response, "{\"status\":\"ready\"}");
    } else if (!serve_refuse_without_disk(serve, request, response)) {
        http_fail(request, response, 503, "starting", "the world does not run yet");
    }
}

static void collect_worlds(Serve *serve, Metrics *metrics)
{
    for (uint32_t i = 0; i < host_world_count(serve->host); i++) {
        const HostWorld *world = host_world_at(serve->host, i);
        const HostWorldView view = host_world_view(world);
        const HostLink *link = host_world_link(world);
        metrics->worlds_known += view.row->world_id[0] != '\0';
        if (link == NULL && world != serve->one_world) {
            continue;
        }
        metrics->worlds_running += host_world_is_ready(world);
        if (metrics->world_count < METRICS_WORLDS_MAX) {
            metrics->worlds[metrics->world_count++] = (MetricsWorld){
                .world_id = view.row->world_id,
                .ready = host_world_is_ready(world),
                .epoch = view.epoch,
                .starts = view.starts,
                .crashes = view.crashes,
                .kills = view.kills,
                .resident_bytes = link != NULL ? process_resident_bytes(link_process_pid(link)) : 0,
                .stats = view.stats};
        }
    }
}

static bool answer_metrics(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    static Metrics metrics; // large, and the main thread's
    metrics = (Metrics){.counts = *host_counts(serve->host),
                        .store = store_stats(serve->store),
                        .http = http_stats(serve->http),
                        .pool = work_pool_stats(serve->pool),
                        .host_cpu_us = clock_cpu_us()};
    collect_worlds(serve, &metrics);
    ByteWriter writer = byte_writer(serve_text(serve), SERVE_TEXT_BYTES);
    metrics_write(&metrics, &writer);
    if (writer.status != STATUS_OK) {
        http_fail(http_deferred_request(deferred), response, 500, "too_large",
                  "the metrics do not fit");
        return true;
    }
    response->content_type = PROMETHEUS_TYPE;
    response->body = serve->text; // copied
    response->bytes = writer.at;
    return true;
}

static void get_metrics(void *user, HttpRequest *request, HttpResponse *response)
{
    mailbox_ask(((Serve *)user)->mailbox, request, response, answer_metrics);
}

// --- blobs --------------------------------------------------------------------------------------

// A range is one of the rune's own bytes.
static void put_rune(const HostPlace *place, uint32_t number, const HttpRequest *request,
                     HttpResponse *response)
{
    const BuildRune *rune = &place->built.runes[number];
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
    response->cache = SERVE_BLOB_CACHE;
    response->content_security_policy = "sandbox";
}

// GET /packed/<number>/<hash of the rune>. Not at the address of the rune: what stands between us
// and a client keeps answers by their addresses, and must never take one for the other.
static void get_packed(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    for (uint32_t i = 0; i < serve->place_count; i++) {
        const HostPlace *place = serve->places[i].place;
        char number[16];
        snprintf(number, sizeof number, "%" PRIu32, place->built.packing);
        const bool is_ours = strcmp(http_path_part(request, 0), number) == 0;
        const uint32_t rune =
            is_ours ? host_place_rune(place, http_path_part(request, 1)) : UINT32_MAX;
        if (rune != UINT32_MAX && place->built.runes[rune].packed != NULL) {
            response->body = place->built.runes[rune].packed;
            response->bytes = place->built.runes[rune].packed_count;
            put_blob(response);
            return;
        }
    }
    http_fail(request, response, 404, "not_found", "there is no such rune, packed like this");
}

// Of runes only those that clients are told of: one of the server's is as unknown as any other.
static bool answer_from_memory(const HostPlace *place, const char *hash, const HttpRequest *request,
                               HttpResponse *response)
{
    if (strcmp(hash, place->scene_hex) == 0) {
        response->body = place->built.stripped;
        response->bytes = place->built.stripped_bytes;
    } else {
        const uint32_t rune = host_place_rune(place, hash);
        if (rune == UINT32_MAX) {
            return false;
        }
        put_rune(place, rune, request, response);
    }
    put_blob(response);
    return true;
}

static void get_blob(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    const char *hash = http_path_part(request, 0);
    for (uint32_t i = 0; i < serve->place_count && hash != NULL; i++) {
        if (answer_from_memory(serve->places[i].place, hash, request, response)) {
            return;
        }
    }
    http_work(request, response, serve_asset_blob); // files
}

// Room codes of all worlds, and paths and faults of server scripts, are for who makes them: this
// machine, in development.
static bool refuse_stranger(const Serve *serve, HttpRequest *request, HttpResponse *response)
{
    if (!serve->development || !http_is_loopback(request)) {
        http_fail(request, response, 403, "denied",
                  "this is told in development alone, by a server on a loopback address");
        return true;
    }
    if (!http_origin_is_allowed(request)) {
        http_fail(request, response, 403, "origin", "this page may not ask here");
        return true;
    }
    return serve_refuse_forwarded(serve, request, response);
}

// --- rooms --------------------------------------------------------------------------------------

static const char *state_name(HostWorldState state)
{
    static const char *const names[WORLD_STATE_COUNT] = {
        [WORLD_MAKING] = "making",     [WORLD_STOPPED] = "stopped",   [WORLD_WAITING] = "waiting",
        [WORLD_TAKING] = "starting",   [WORLD_STARTING] = "starting", [WORLD_RUNNING] = "running",
        [WORLD_STOPPING] = "stopping", [WORLD_ENDING] = "stopping",   [WORLD_DRAINING] = "stopping",
        [WORLD_RELEASING] = "stopping"};
    return names[state];
}

static void write_room(JsonWriter *json, const HostWorld *world)
{
    const HostWorldView view = host_world_view(world);
    json_write_object_begin(json);
    serve_write_member(json, "roomCode", view.row->room_code);
    serve_write_member(json, "worldId", view.row->world_id);
    serve_write_member(json, "placeId", view.place->place_id);
    serve_write_member(json, "placeName", view.place->built.facts.name);
    serve_write_member(json, "state", state_name(view.state));
    json_write_name(json, "ready");
    json_write_bool(json, host_world_is_ready(world));
    serve_write_number(json, "players", view.players);
    serve_write_number(json, "playerMax", view.player_max);
    serve_write_number(json, "tickRate", view.place->built.facts.tick_rate);
    serve_write_member(json, "sceneHash", view.place->scene_hex);
    serve_write_number(json, "sceneBytes", view.place->built.stripped_bytes);
    json_write_object_end(json);
}

static bool answer_room(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    const HostWorld *world = host_world(serve->host, http_path_part(request, 0));
    if (world == NULL || host_world_view(world).place == NULL) {
        http_fail(request, response, 404, "not_found", "there is no such room");
        return true;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    write_room(&answer.json, world);
    serve_answer_end(&answer, response);
    return true;
}

static void get_room(void *user, HttpRequest *request, HttpResponse *response)
{
    mailbox_ask(((Serve *)user)->mailbox, request, response, answer_room);
}

static bool answer_worlds(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    ByteWriter writer = byte_writer(serve_text(serve), SERVE_TEXT_BYTES);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "worlds");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < host_world_count(serve->host); i++) {
        const HostWorld *world = host_world_at(serve->host, i);
        const HostWorldView view = host_world_view(world);
        if (view.place != NULL && view.state != WORLD_MAKING && view.row->world_id[0] != '\0') {
            write_room(&json, world);
        }
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    serve_text_answer(serve, &json, &writer, http_deferred_request(deferred), response);
    return true;
}

static void get_worlds(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (!refuse_stranger(serve, request, response)) {
        mailbox_ask(serve->mailbox, request, response, answer_worlds);
    }
}

// --- scripts ------------------------------------------------------------------------------------

static bool answer_scripts(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    static const ScriptTable nothing;
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    const HostWorld *world = host_world(serve->host, http_path_part(request, 0));
    if (world == NULL) {
        http_fail(request, response, 404, "not_found", "there is no such world here");
        return true;
    }
    if (!host_world_is_ready(world)) {
        http_fail(request, response, 503, "starting", "the world does not run yet");
        return true;
    }
    const ScriptTable *table = host_world_scripts(world);
    ByteWriter writer = byte_writer(serve_text(serve), SERVE_TEXT_BYTES);
    JsonWriter json = json_writer(&writer, 0);
    script_table_json(table != NULL ? table : &nothing, &json);
    serve_text_answer(serve, &json, &writer, request, response);
    return true;
}

// GET /api/worlds/<id>/scripts
static void get_scripts(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (!refuse_stranger(serve, request, response)) {
        mailbox_ask(serve->mailbox, request, response, answer_scripts);
    }
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
    {"GET", "/api/assets", .handler = serve_asset_list},
    {"GET", "/worlds", .handler = get_worlds},
    {"GET", "/api/rooms/*/ws", .handler = serve_get_socket},
    {"GET", "/api/rooms/*", .handler = get_room},
    {"GET", "/api/worlds/*/scripts", .handler = get_scripts},
    {"POST", "/login", serve_post_login, .body_max = SERVE_BODY_BYTES},
    {"POST", "/join", serve_post_join, .body_max = SERVE_BODY_BYTES, .access = ACCESS_SIGNED_IN},
    SERVE_BUILD_ROUTES,
    SERVE_HOST_ROUTES,
};

Status serve_http_start(Serve *serve)
{
    const HttpConfig config = {.address = serve->config.address,
                               .port = serve->config.port,
                               .routes = routes,
                               .route_count = sizeof routes / sizeof routes[0],
                               .user = serve,
                               .enter = serve_enter,
                               .connections_per_address_max = 64,
                               .sockets_per_address_max = HTTP_SOCKETS_PER_ADDRESS_MAX,
                               .public_url = serve->config.public_url,
                               .trusted_proxies = serve->config.trusted_proxies,
                               .loopback_unlimited = serve->development,
                               .connection_max = 4096,
                               .pool = serve->pool,
                               .web_root = serve->config.web,
                               .origins = serve->config.origins,
                               .origin_same_host = true};
    return http_start(&config, &serve->http);
}

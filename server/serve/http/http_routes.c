// What HTTP is answered: health, metrics, blobs of places, rooms. Handlers run on HTTP threads and
// touch only what never changes; what concerns worlds is answered on the main thread (mailbox.h).
#define _GNU_SOURCE
#include "server/serve/http/http_routes.h"
#include "server/serve/people/http_class.h"
#include "server/serve/world/http_world.h"

#include "core/base/base64.h"
#include "core/base/json_member.h"
#include "core/base/sha256.h"
#include "server/serve/edit/edit_drafts.h"
#include "server/serve/edit/http_edit.h"
#include "server/serve/http/http_asset.h"
#include "server/serve/http/http_bundle.h"
#include "server/serve/http/openapi.h"
#include "server/serve/http/page.h"
#include "server/serve/listing/http_listing.h"
#include "server/serve/live/live.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/operate/http_operate.h"
#include "server/serve/operate/metrics.h"
#include "server/serve/order/http_order.h"
#include "server/serve/people/http_account.h"
#include "server/serve/people/http_issuer.h"
#include "server/serve/place/places.h"
#include "server/serve/publish/http_build.h"
#include "server/serve/publish/http_draft.h"
#include "server/serve/publish/http_place.h"
#include "server/serve/publish/http_spell.h"
#include "server/serve/remote/http_host.h"
#include "server/serve/remote/serve_peer.h"
#include "server/store/place/blob.h"
#include "server/sys/clock.h"
#include "server/sys/disk.h"
#include "server/sys/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define ANSWER_BYTES    4096
#define PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

// --- answers ------------------------------------------------------------------------------------

void serve_answer_begin(ServeAnswer *answer, HttpRequest *request)
{
    answer->request = request;
    answer->text = arena_alloc(http_arena(request), ANSWER_BYTES);
    answer->writer = byte_writer(answer->text, answer->text != NULL ? ANSWER_BYTES : 0);
    answer->json = json_writer(&answer->writer, 0);
    answer->is_large = false;
}

void serve_answer_begin_large(ServeAnswer *answer, HttpRequest *request, size_t bytes)
{
    answer->request = request;
    answer->text = malloc(bytes);
    http_keep(request, answer->text);
    answer->writer = byte_writer(answer->text, answer->text != NULL ? bytes : 0);
    answer->json = json_writer(&answer->writer, 0);
    answer->is_large = true;
}

void serve_answer_end(ServeAnswer *answer, HttpResponse *response)
{
    if (answer->text == NULL) {
        http_fail(answer->request, response, 503, "busy", "out of memory; try again");
        return;
    }
    if (json_writer_finish(&answer->json) != STATUS_OK) {
        http_fail(answer->request, response, 500, "too_large", "the answer does not fit");
        return;
    }
    response->body = answer->text;
    response->bytes = answer->writer.at;
    response->body_is_static = answer->is_large; // http_keep: it is the request's
}

static int64_t read_stream(void *user, uint64_t at, void *out, size_t bytes)
{
    ssize_t got;
    do {
        got = pread((int)(intptr_t)user, out, bytes, (off_t)at);
    } while (got < 0 && errno == EINTR);
    return got;
}

static void end_stream(void *user)
{
    close((int)(intptr_t)user);
}

HttpStream serve_stream_file(int file)
{
    return (HttpStream){.read = read_stream, .end = end_stream, .user = (void *)(intptr_t)file};
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
    json_member_count(json, name, number);
}

// For large answers of the main thread; they are copied.
uint8_t *serve_text(Serve *serve)
{
    if (serve->text == NULL) {
        serve->text = malloc(SERVE_TEXT_BYTES);
        ASSERT(serve->text != NULL);
    }
    return serve->text;
}

void serve_text_answer(const Serve *serve, const JsonWriter *json, const ByteWriter *writer,
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

bool serve_refuse_upload(const Serve *serve, const char *folder, HttpRequest *request,
                         HttpResponse *response)
{
    if (!disk_is_low(serve->data) && !disk_is_low(folder)) {
        return false;
    }
    http_fail(request, response, 507, "disk_low",
              "the disk of this server is nearly full; nothing can be uploaded until its operator "
              "makes room");
    return true;
}

void serve_blobs_name(const Serve *serve, char out[SERVE_BLOBS_NAME_BYTES])
{
    const char *address = serve->config.blobs;
    snprintf(out, SERVE_BLOBS_NAME_BYTES, "%.*s",
             address != NULL ? (int)strcspn(address, "?") : (int)strlen("the database"),
             address != NULL ? address : "the database");
}

bool serve_refuse_without_blobs(const Serve *serve, HttpRequest *request, HttpResponse *response)
{
    char name[SERVE_BLOBS_NAME_BYTES], message[SERVE_BLOBS_NAME_BYTES + 128];
    if (serve->blobs == NULL || !blob_is_away(serve->blobs)) {
        return false;
    }
    serve_blobs_name(serve, name);
    snprintf(message, sizeof message,
             "%s, where files are kept, cannot be reached; try again later", name);
    http_fail(request, response, 503, "blobs_away", message);
    return true;
}

void serve_fail_blob(const Serve *serve, HttpRequest *request, HttpResponse *response)
{
    if (!serve_refuse_without_blobs(serve, request, response)) {
        http_fail(request, response, 507, "disk_full", "the disk takes no more; try later");
    }
}

bool serve_refuse_without_disk(const Serve *serve, HttpRequest *request, HttpResponse *response)
{
    static const char *const codes[] = {[STORE_DISK_FULL] = "disk_full",
                                        [STORE_DISK_READ_ONLY] = "disk_read_only",
                                        [STORE_DISK_FAILED] = "disk_failed",
                                        [STORE_DISK_AWAY] = "database_away"};
    const StoreDisk disk = store_stats(serve->store).disk;
    if (disk == STORE_DISK_FINE) {
        return false;
    }
    char message[160];
    snprintf(message, sizeof message,
             disk == STORE_DISK_AWAY
                 ? "%s; worlds that run go on, and others start once that is mended"
                 : "the world does not run: %s; it starts again by itself once that is mended",
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
    const bool is_away = store_stats(serve->store).disk == STORE_DISK_AWAY; // worlds run on
    if (atomic_load(&serve->is_ready) && !atomic_load(&serve->is_stopping) && !is_away) {
        put_text(response, "{\"status\":\"ready\"}");
    } else if (atomic_load(&serve->is_stopping)) {
        http_fail(request, response, 503, "stopping", "this server is going down");
    } else if (atomic_load(&serve->is_draining)) {
        http_fail(request, response, 503, "draining", "this server starts no worlds any more");
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
                        .edit = edit_drafts_numbers(serve),
                        .draining = host_is_draining(serve->host),
                        .server = serve->http,
                        .host_cpu_us = clock_cpu_us()};
    status_ignore(disk_space(serve->data, &metrics.disk)); // unknown: 0 bytes
    metrics.routes = serve_routes(&metrics.route_count);
    if (serve->control != NULL) {
        metrics.control = control_stats(serve->control);
        metrics.listing = listing_feed_stats(serve->feed);
    }
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

// Bytes, and the same as a zstd frame, if there is one.
typedef struct TwoForms {
    const uint8_t *bytes, *zstd;
    size_t count, zstd_count;
} TwoForms;

// A range is one of the bytes themselves.
static void send_either(ServePlace *place, const TwoForms *forms, const HttpRequest *request,
                        HttpResponse *response)
{
    const bool as_zstd = forms->zstd != NULL && http_header(request, "Range") == NULL &&
                         http_prefers_coding(request, HTTP_ZSTD);
    serve_place_send(place, as_zstd ? forms->zstd : forms->bytes,
                     as_zstd ? forms->zstd_count : forms->count, response);
    response->content_encoding = as_zstd ? "zstd" : NULL;
    response->varies_by_encoding = true;
}

static void send_rune(ServePlace *place, uint32_t number, const HttpRequest *request,
                      HttpResponse *response)
{
    const BuildRune *rune = &place->place->built.runes[number];
    const TwoForms forms = {rune->bytes, rune->zstd, rune->count, rune->zstd_count};
    send_either(place, &forms, request, response);
}

static void send_rows(ServePlace *place, const HttpRequest *request, HttpResponse *response)
{
    const BuildResult *built = &place->place->built;
    const TwoForms forms = {built->client_rows, built->client_rows_zstd, built->client_rows_bytes,
                            built->client_rows_zstd_bytes};
    send_either(place, &forms, request, response);
}

// For ever: the address says what it is.
static void put_blob(HttpResponse *response)
{
    response->content_type = "application/octet-stream";
    response->cache = SERVE_BLOB_CACHE;
    response->content_security_policy = "sandbox";
}

// What is asked for, by its names in the address.
typedef struct Wanted {
    const char *number;
    uint8_t hash[SHA256_BYTES];
    uint32_t rune; // found
    bool is_rows;  // it is the rows of a manifest
    bool is_set;   // it is all runes of a place
} Wanted;

static bool read_path_hash(const HttpRequest *request, uint32_t star, Wanted *wanted)
{
    const char *text = http_path_part(request, star);
    return text != NULL && blob_parse(text, strlen(text), wanted->hash) == STATUS_OK;
}

static bool has_packed(void *user, const ServePlace *place)
{
    Wanted *wanted = user;
    const BuildResult *built = &place->place->built;
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, built->packing);
    if (strcmp(wanted->number, number) != 0) {
        return false;
    }
    wanted->is_set = place->place->rune_order_count > 0 &&
                     memcmp(wanted->hash, place->place->set_hash, sizeof wanted->hash) == 0;
    wanted->rune = host_place_rune(place->place, wanted->hash);
    return wanted->is_set ||
           (wanted->rune != UINT32_MAX && built->runes[wanted->rune].packed != NULL);
}

// Of runes only those that clients are told of: one of the server's is as unknown as any other.
static bool has_in_memory(void *user, const ServePlace *place)
{
    Wanted *wanted = user;
    wanted->rune = UINT32_MAX;
    if (wanted->number != NULL) {
        return has_packed(user, place);
    }
    const HostPlace *host = place->place;
    wanted->is_rows = host->built.client_rows != NULL &&
                      memcmp(wanted->hash, host->built.client_rows_hash, sizeof wanted->hash) == 0;
    if (wanted->is_rows || memcmp(wanted->hash, host->scene_hash, sizeof wanted->hash) == 0) {
        return true;
    }
    wanted->rune = host_place_rune(place->place, wanted->hash);
    return wanted->rune != UINT32_MAX;
}

static bool has_in_public(void *user, const ServePlace *place)
{
    return !atomic_load(&place->is_private) && has_in_memory(user, place);
}

// The reference is the response's.
static void send_wanted(ServePlace *place, const Wanted *wanted, HttpRequest *request,
                        HttpResponse *response)
{
    const BuildResult *built = &place->place->built;
    if (wanted->is_set) {
        serve_send_set(place, response);
    } else if (wanted->number != NULL) {
        const BuildRune *rune = &built->runes[wanted->rune];
        serve_place_send(place, rune->packed, rune->packed_count, response);
    } else if (wanted->rune != UINT32_MAX) {
        send_rune(place, wanted->rune, request, response);
    } else if (wanted->is_rows) {
        send_rows(place, request, response);
    } else {
        serve_place_send(place, built->stripped, built->stripped_bytes, response);
    }
    put_blob(response);
}

// What anybody may have, a server that copies it for our pages may have too.
static void send_public(const Serve *serve, ServePlace *place, const Wanted *wanted,
                        HttpRequest *request, HttpResponse *response)
{
    send_wanted(place, wanted, request, response);
    response->is_for_all_sites = serve->config.cdn_base != NULL;
}

// On the pool: of a place that is not for everybody.
static bool answer_private(Serve *serve, Wanted *wanted, HttpRequest *request,
                           HttpResponse *response)
{
    ServePlace *places[SERVE_LOADED_MAX], *found = NULL;
    const uint32_t count = places_hold_all(serve, places);
    for (uint32_t i = 0; i < count; i++) { // several may have it, and they may play one of them
        if (found == NULL && has_in_memory(wanted, places[i]) &&
            serve_may_play(serve, request, places[i]->place->place_id)) {
            found = places[i];
        } else {
            serve_place_release(places[i]);
        }
    }
    if (found == NULL) {
        return false;
    }
    const bool is_private = atomic_load(&found->is_private);
    (void)has_in_memory(wanted, found);
    send_wanted(found, wanted, request, response);
    response->cache = is_private ? SERVE_BLOB_PRIVATE : SERVE_BLOB_CACHE;
    return true;
}

static void get_other_blob(void *user, HttpRequest *request, HttpResponse *response)
{
    Wanted wanted = {0};
    if (!read_path_hash(request, 0, &wanted)) {
        http_fail(request, response, 404, "not_found", "there is no such blob");
    } else if (!answer_private(user, &wanted, request, response)) {
        serve_asset_blob(user, request, response);
    }
}

static void get_blob(void *user, HttpRequest *request, HttpResponse *response)
{
    Wanted wanted = {0};
    ServePlace *place =
        read_path_hash(request, 0, &wanted) ? places_find(user, has_in_public, &wanted) : NULL;
    if (place != NULL) {
        send_public(user, place, &wanted, request, response);
    } else {
        http_work(request, response, get_other_blob); // files, and the database
    }
}

static void get_other_packed(void *user, HttpRequest *request, HttpResponse *response)
{
    Wanted wanted = {.number = http_path_part(request, 0)};
    if (!read_path_hash(request, 1, &wanted) || !answer_private(user, &wanted, request, response)) {
        http_fail(request, response, 404, "not_found", "there is no such rune, packed like this");
    }
}

// GET /packed/<number>/<hash of the rune>. Not at the address of the rune: what stands between us
// and a client keeps answers by their addresses, and must never take one for the other.
static void get_packed(void *user, HttpRequest *request, HttpResponse *response)
{
    Wanted wanted = {.number = http_path_part(request, 0)};
    ServePlace *place =
        read_path_hash(request, 1, &wanted) ? places_find(user, has_in_public, &wanted) : NULL;
    if (place != NULL) {
        send_public(user, place, &wanted, request, response);
    } else {
        http_work(request, response, get_other_packed);
    }
}

// Room codes of all worlds, and paths and faults of server scripts, are for who makes them: this
// machine, in development.
bool serve_refuse_stranger(const Serve *serve, HttpRequest *request, HttpResponse *response)
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

// --- the table ----------------------------------------------------------------------------------

static void get_openapi(void *user, HttpRequest *request, HttpResponse *response);
static void get_docs(void *user, HttpRequest *request, HttpResponse *response);

#define HEALTH "Whether the process runs", .gives = "status"

static const HttpRoute routes[] = {
    {"GET", "/healthz", .handler = get_health, .summary = HEALTH},
    {"GET", "/health", .handler = get_health, .summary = HEALTH},
    {"GET", "/api/health", .handler = get_health, .summary = HEALTH},
    {"GET", "/readyz", .handler = get_ready, .gives = "status",
     .summary = "Whether worlds can be started; 503 while it starts, drains or cannot write"},
    {"GET", "/metrics", .handler = get_metrics, .access = ACCESS_LOCAL, .gives = "text/plain",
     .fails = "401 403", .summary = "Numbers of the server, for Prometheus"},
    {"GET", "/api/openapi.json", .handler = get_openapi,
     .gives = "openapi info:object "
              "paths:object components:object",
     .summary = "This description"},
    {"GET", "/api/docs", .handler = get_docs, .gives = "text/html",
     .summary = "This description as a page"},
    {"GET", "/blob/*", .handler = get_blob, .names = "sha256", .fails = "404 416",
     .gives = "application/octet-stream",
     .summary = "An asset, the scene or a rune that players may have, by its hash"},
    {"GET", "/packed/*/*", .handler = get_packed, .names = "number sha256", .fails = "404 416",
     .gives = "application/octet-stream",
     .summary = "A rune, packed; the number is rune_packing of /join"},
    {"POST", "/packed/*", serve_post_bundle, .body_max = SERVE_BUNDLE_BODY_BYTES, .blocks = true,
     .names = "number", .takes = "runes:array place_id?", .gives = "application/octet-stream",
     .fails = "404",
     .summary = "Several runes of a place in one answer; the number 0 has them as they are"},
    {"GET", "/api/assets", .handler = serve_asset_list, .blocks = true,
     .gives = "assets:array thumbnail?:any", .fails = "404", .summary = "The assets of the place"},
    {"GET", "/api/rooms/*/ws", .handler = serve_get_socket, .names = "code", .gives = "101",
     .takes = "token? playerId? resumeToken?", .fails = "403 404 426 429",
     .summary = "The WebSocket of a world; docs/PROTOCOL.md says what is spoken"},
    {"POST", "/join", serve_post_join, .body_max = SERVE_BODY_BYTES, .access = ACCESS_SIGNED_IN,
     .takes = "world_id? place_id? room_code? channel? username? name? debug?:boolean",
     .gives = "server_address session_token? client_id world_id place_id room_code username "
              "ticket signing_key rune_packing:integer cdn_base? rune_set",
     .fails = "403 404 409 429 502 503", .summary = "A ticket for a world, once it runs"},
    {"GET", "/api/session", .handler = serve_get_session,
     .gives =
         "accounts:boolean default_place signed_in:boolean shown_name? username? is_guest?:boolean "
         "roles?:array is_pupil?:boolean may_rename?:boolean typescript:boolean "
         "typescript_lacks? shared_urls?:array registration? issuer?",
     .summary = "Who asks, for a page: also when nobody is signed in"},
    SERVE_WORLD_ROUTES,
    SERVE_BUILD_ROUTES,
    SERVE_LISTING_ROUTES,
    SERVE_LIVE_ROUTES,
    SERVE_DRAFT_ROUTES,
    SERVE_EDIT_ROUTES,
    SERVE_PLACE_ROUTES,
    SERVE_SPELL_ROUTES,
    SERVE_HOST_ROUTES,
    SERVE_PEER_ROUTES,
    SERVE_ADMIN_ROUTES,
    SERVE_OPERATE_ROUTES,
    SERVE_ORDER_ROUTES,
    SERVE_CLASS_ROUTES,
    {"POST", "/login", serve_post_login, .body_max = SERVE_BODY_BYTES, .is_form = true,
     .summary = "Sign in with a password, by a code of a class, or as a guest without either",
     .takes = "username? password? code?",
     .gives = "session_token? client_id username user_id?:integer",
     .fails = "400 401 403 409 429 503"},
    SERVE_ACCOUNT_ROUTES,
    SERVE_ISSUER_ROUTES,
    SERVE_PERSON_ROUTES,
};

const HttpRoute *serve_routes(uint32_t *count)
{
    *count = sizeof routes / sizeof routes[0];
    return routes;
}

// --- the description of the table ---------------------------------------------------------------

// Made once, when somebody asks first.
static pthread_once_t described = PTHREAD_ONCE_INIT;
static uint8_t description[OPENAPI_BYTES_MAX], description_page[OPENAPI_BYTES_MAX];
static size_t description_bytes, description_page_bytes;
static char description_policy[128];

// Its only style, by its hash.
static void write_description_policy(void)
{
    const char *page = (const char *)description_page;
    const char *from = strstr(page, "<style>"), *to = strstr(page, "</style>");
    uint8_t hash[SHA256_BYTES];
    char text[64] = "";
    ByteWriter writer = byte_writer((uint8_t *)text, sizeof text - 1);
    ASSERT(from != NULL && to > from);
    from += strlen("<style>");
    sha256_of(from, (size_t)(to - from), hash);
    base64_write(hash, sizeof hash, &writer);
    snprintf(description_policy, sizeof description_policy,
             "default-src 'none'; frame-ancestors 'none'; style-src 'sha256-%s'", text);
}

static void describe(void)
{
    ByteWriter json = byte_writer(description, sizeof description);
    ByteWriter page = byte_writer(description_page, sizeof description_page);
    openapi_write(routes, sizeof routes / sizeof routes[0], &json);
    openapi_page(routes, sizeof routes / sizeof routes[0], &page);
    ASSERT(json.status == STATUS_OK && page.status == STATUS_OK); // a test reads them
    description_bytes = json.at;
    description_page_bytes = page.at;
    write_description_policy();
}

static void get_openapi(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user, (void)request;
    (void)pthread_once(&described, describe);
    response->body = description;
    response->bytes = description_bytes;
    response->body_is_static = true;
}

static void get_docs(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user, (void)request;
    (void)pthread_once(&described, describe);
    response->content_type = "text/html; charset=utf-8";
    response->content_security_policy = description_policy;
    response->body = description_page;
    response->bytes = description_page_bytes;
    response->body_is_static = true;
}

// --- the server ---------------------------------------------------------------------------------

static const HttpRoute pages[] = {
    {"GET", "/", .handler = serve_get_page, .blocks = true},
    {"GET", "/search", .handler = serve_get_page, .blocks = true},
    {"GET", "/create", .handler = serve_get_page, .blocks = true},
    {"GET", "/create/*", .handler = serve_get_page, .blocks = true},
    {"GET", "/class", .handler = serve_get_page, .blocks = true},
    {"GET", "/class/*", .handler = serve_get_page, .blocks = true},
    {"GET", "/operate", .handler = serve_get_page, .blocks = true},
    {"GET", "/operate/*", .handler = serve_get_page, .blocks = true},
    {"GET", "/operator", .handler = serve_get_page, .blocks = true},
    {"GET", "/operator/*", .handler = serve_get_page, .blocks = true},
    {"GET", "/place/*", .handler = serve_get_place_page, .blocks = true},
    {"GET", "/studio/*", .handler = serve_get_studio_page, .blocks = true},
    {"GET", "/play", .handler = serve_get_game_page, .blocks = true},
    {"GET", "/play/*", .handler = serve_get_world_page, .blocks = true},
};

static const HttpRoute lost_page = {"GET", "/", .handler = serve_get_lost_page, .blocks = true};

Status serve_http_start(Serve *serve)
{
    const HttpConfig config = {.address = serve->config.address,
                               .port = serve->config.port,
                               .routes = routes,
                               .route_count = sizeof routes / sizeof routes[0],
                               .user = serve,
                               .enter = serve_enter,
                               .answered = serve_log_request,
                               .connections_per_address_max = 64,
                               .sockets_per_address_max = HTTP_SOCKETS_PER_ADDRESS_MAX,
                               .public_url = serve->config.public_url,
                               .host_url = serve->config.host_url,
                               .origin_is_known = serve_peer_origin,
                               .fetch_site = serve->config.cdn_base,
                               .trusted_proxies = serve->config.trusted_proxies,
                               .loopback_unlimited = serve->development,
                               .connection_max = 4096,
                               .pool = serve->pool,
                               .slow_pool = serve->password_pool,
                               .web_root = serve->config.web,
                               .pages = pages,
                               .page_count = sizeof pages / sizeof pages[0],
                               .lost_page = &lost_page,
                               .origins = serve->config.origins,
                               .origin_same_host = true};
    return http_start(&config, &serve->http);
}

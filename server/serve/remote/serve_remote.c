// See serve_remote.h.
#define _GNU_SOURCE
#include "server/serve/remote/serve_remote.h"

#include "core/base/byte_values.h"
#include "core/base/json_member.h"
#include "core/base/json_read.h"
#include "core/base/sha256.h"
#include "core/base/utf8.h"
#include "server/build/base/diagnostic.h"
#include "server/serve/place/places.h"
#include "server/serve/remote/remote_http.h"
#include "server/store/world/store_remote.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#define KEY_FILE_BYTES   256
#define ANSWER_BYTES     (64u << 10)
#define JSON_ARENA_BYTES (64u << 10)

struct ServeRemote {
    RemoteHttp *http;
    atomic_bool cancel;
    bool is_away; // the control plane did not answer the last time; the store's thread
    bool is_refused;
    uint64_t sent_unix_ms;    // of the last request, by our clock; the thread that sends
    _Atomic int64_t ahead_ms; // its clock before ours
    StoreWorld row;
    uint8_t place_hash[SHA256_BYTES];
    pthread_mutex_t lock; // of the revision
    uint8_t revision[REMOTE_REVISION_BYTES];
    bool other_place;
};

static int say(const Serve *serve, const char *what, const char *why)
{
    diagnostic_print(stderr, "%s: %s%s%s", serve->command, what, why[0] != '\0' ? ": " : "", why);
    return 1;
}

// --- the key ------------------------------------------------------------------------------------

static int open_http(Serve *serve)
{
    struct ServeRemote *remote = serve->remote;
    const char *key = serve->config.host_key;
    char text[KEY_FILE_BYTES] = "";
    if (serve->config.host_key_file != NULL) {
        uint8_t *bytes = NULL;
        size_t count = 0;
        const Status status =
            file_read(serve->config.host_key_file, sizeof text - 1, &bytes, &count);
        if (status != STATUS_OK) {
            return say(serve, serve->config.host_key_file,
                       status == STATUS_NOT_FOUND ? "there is no such file" : status_text(status));
        }
        memcpy(text, bytes, count);
        text[strcspn(text, "\r\n \t")] = '\0';
        explicit_bzero(bytes, count);
        free(bytes);
        key = text;
    }
    if (key == NULL || key[0] == '\0') {
        return say(serve, "there is no host key",
                   "an operator makes one with POST /admin/host-keys; give it in the variable "
                   "SANDLOT_HOST_KEY or with --host-key-file FILE");
    }
    Status status =
        remote_http_create(serve->config.control_plane, key, &remote->cancel, &remote->http);
    status = status == STATUS_OK ? serve_report_open(serve, key) : status;
    status = status == STATUS_OK ? serve_reload_open(serve, key) : status;
    explicit_bzero(text, sizeof text);
    return status == STATUS_OK          ? 0
           : status == STATUS_NOT_FOUND ? say(serve, "libcurl is not on this machine", "install it")
                                        : say(serve, serve->config.control_plane,
                                              "no address like http://192.0.2.1:5000, or the host "
                                              "key is none");
}

// --- registering --------------------------------------------------------------------------------

bool serve_remote_read_hex(const char *text, uint8_t out[32])
{
    return bytes_from_hex(text, strlen(text), out, 32);
}

static bool copy_hex(const JsonNode *root, const char *name, uint8_t out[32])
{
    char text[65];
    return json_member_copy(root, name, text, sizeof text) && serve_remote_read_hex(text, out);
}

static const JsonNode *parse_reply(void *memory, const RemoteHttpReply *reply)
{
    Arena arena;
    const JsonNode *root = NULL;
    arena_init(&arena, memory, JSON_ARENA_BYTES);
    const JsonConfig config = {
        .arena = &arena, .bytes_max = ANSWER_BYTES, .node_count_max = 128, .depth_max = 8};
    const Status status = json_parse(&config, (const char *)reply->body, reply->bytes, &root, NULL);
    return status == STATUS_OK && root->kind == JSON_OBJECT ? root : NULL;
}

// A ticket may not come from the future, so our idea of its clock is never late: counted from
// before the request was sent.
static void told_time(void *user, uint64_t unix_ms)
{
    struct ServeRemote *remote = user;
    if (unix_ms < INT64_MAX / 2) {
        atomic_store(&remote->ahead_ms, (int64_t)unix_ms - (int64_t)remote->sent_unix_ms);
    }
}

static bool read_registration(Serve *serve, const JsonNode *root)
{
    struct ServeRemote *remote = serve->remote;
    StoreWorld *row = &remote->row;
    const JsonNode *time = json_find(root, "unix_ms"), *other = json_find(root, "other_place");
    if (!json_member_copy(root, "host_id", serve->host_id, sizeof serve->host_id) ||
        !json_member_copy(root, "world_id", row->world_id, sizeof row->world_id) ||
        !json_member_copy(root, "room_code", row->room_code, sizeof row->room_code) ||
        !json_member_copy(root, "name", row->name, sizeof row->name) ||
        !json_member_copy(root, "place_id", row->place_id, sizeof row->place_id) ||
        !copy_hex(root, "place_hash", remote->place_hash) ||
        !copy_hex(root, "revision", remote->revision) ||
        !copy_hex(root, "signing_key", serve->key.public_half) || time == NULL ||
        time->kind != JSON_NUMBER || time->number < 0 || time->number > 1e15) {
        return false;
    }
    told_time(remote, (uint64_t)time->number);
    remote->other_place = other != NULL && other->kind == JSON_BOOL && other->boolean;
    return true;
}

// What the control plane says is wrong, for people.
static int say_refusal(const Serve *serve, const RemoteHttpReply *reply, const JsonNode *root)
{
    const JsonNode *error = root != NULL ? json_find(root, "error") : NULL;
    char text[512] = "";
    if (reply->end != REMOTE_HTTP_ANSWERED) {
        snprintf(text, sizeof text, "it cannot be reached: %s", reply->problem);
    } else if (error == NULL || !json_member_copy(error, "message", text, sizeof text)) {
        snprintf(text, sizeof text, "it answers %ld, which no control plane does", reply->status);
    }
    utf8_clean(text);
    return say(serve, serve->config.control_plane, text);
}

static int register_host(Serve *serve)
{
    struct ServeRemote *remote = serve->remote;
    char boot[2 * TICKET_BOOT_BYTES + 1], body[512];
    for (size_t i = 0; i < TICKET_BOOT_BYTES; i++) {
        snprintf(boot + 2 * i, 3, "%02x", serve->boot[i]);
    }
    ByteWriter writer = byte_writer(body, sizeof body);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "world_id");
    json_write_text(&json, serve->config.world);
    json_write_name(&json, "boot");
    json_write_text(&json, boot);
    if (serve->config.place_id != NULL) {
        json_write_name(&json, "place_id");
        json_write_text(&json, serve->config.place_id);
    }
    json_write_object_end(&json);
    void *memory = malloc(JSON_ARENA_BYTES);
    if (memory == NULL || json_writer_finish(&json) != STATUS_OK) {
        free(memory);
        return say(serve, "--world", "the name is too long");
    }
    remote->sent_unix_ms = clock_unix_ms();
    RemoteHttpReply reply = remote_http_ask(remote->http, "/api/hosts/register", "application/json",
                                            body, writer.at, ANSWER_BYTES);
    const JsonNode *root = reply.bytes > 0 ? parse_reply(memory, &reply) : NULL;
    int code = 0;
    if (reply.end != REMOTE_HTTP_ANSWERED || reply.status != 200) {
        code = say_refusal(serve, &reply, root);
    } else if (root == NULL || !read_registration(serve, root)) {
        code = say(serve, serve->config.control_plane, "its answer makes no sense");
    }
    free(memory);
    free(reply.body);
    return code;
}

// --- the place ----------------------------------------------------------------------------------

Status serve_remote_make_place(Serve *serve, const RemoteHttpReply *reply, const uint8_t hash[32],
                               ServePlace **out, char *why, size_t why_bytes)
{
    const struct ServeRemote *remote = serve->remote;
    uint8_t got[SHA256_BYTES];
    BuildResult built = {0};
    sha256_of(reply->body, reply->bytes, got);
    if (memcmp(got, hash, sizeof got) != 0) {
        snprintf(why, why_bytes, "the place is not the one that was announced; try again");
        return STATUS_MISMATCH;
    }
    Status status = host_place_read(reply->body, reply->bytes, &built);
    if (status != STATUS_OK) {
        snprintf(why, why_bytes, "the place cannot be read: %s", status_text(status));
        return status;
    }
    const HostPlaceConfig config = {.place_id = remote->row.place_id,
                                    .folder = "",
                                    .player_max = serve->config.player_max,
                                    .cdn_base = serve->config.cdn_base};
    HostPlace *made = NULL;
    status = host_place_create(&config, &built, &made, why, why_bytes);
    build_result_free(&built);
    return status == STATUS_OK ? serve_place_create(serve, made, 0, out) : status;
}

static Status make_place(Serve *serve, const RemoteHttpReply *reply, char *why, size_t why_bytes)
{
    const struct ServeRemote *remote = serve->remote;
    ServePlace *place = NULL;
    const Status status =
        serve_remote_make_place(serve, reply, remote->place_hash, &place, why, why_bytes);
    if (status == STATUS_OK) {
        serve_reload_form(serve, place->place, remote->place_hash, remote->revision);
        places_put(serve, place);
        memcpy(serve->default_place, remote->row.place_id, sizeof serve->default_place);
    }
    return status;
}

static int fetch_place(Serve *serve)
{
    struct ServeRemote *remote = serve->remote;
    char path[224], why[512] = "out of memory", hash[65];
    sha256_hex(remote->place_hash, hash);
    snprintf(path, sizeof path, "/api/hosts/place/%s?hash=%s", remote->row.place_id, hash);
    RemoteHttpReply reply =
        remote_http_ask(remote->http, path, NULL, NULL, 0, HOST_PLACE_BYTES_MAX);
    int code = 0;
    if (reply.end != REMOTE_HTTP_ANSWERED || reply.status != 200) {
        code = say_refusal(serve, &reply, NULL);
    } else if (make_place(serve, &reply, why, sizeof why) != STATUS_OK) {
        code = say(serve, serve->config.control_plane, why);
    }
    free(reply.body);
    return code;
}

// --- the store ----------------------------------------------------------------------------------

static void note_away(struct ServeRemote *remote, bool is_away, const char *why)
{
    if (is_away && !remote->is_away) {
        serve_log(LOG_WARN, "store",
                  "the control plane does not answer: %s. Play goes on; it is asked again", why);
    } else if (!is_away && remote->is_away) {
        serve_log(LOG_INFO, "store", "the control plane answers again");
    }
    remote->is_away = is_away;
}

// On the store's thread. 503 and 429 come from before a batch is looked at.
static RemoteEnd exchange(void *user, const uint8_t *batch, size_t bytes, uint8_t **out,
                          size_t *out_bytes)
{
    struct ServeRemote *remote = user;
    char why[160];
    remote->sent_unix_ms = clock_unix_ms();
    RemoteHttpReply reply =
        remote_http_ask(remote->http, "/api/hosts/batch", "application/octet-stream", batch, bytes,
                        REMOTE_REPLY_BYTES_MAX);
    if (reply.end == REMOTE_HTTP_ANSWERED && reply.status == 200) {
        note_away(remote, false, "");
        *out = reply.body;
        *out_bytes = reply.bytes;
        return REMOTE_ANSWERED;
    }
    free(reply.body);
    if (reply.end != REMOTE_HTTP_ANSWERED) {
        note_away(remote, true, reply.problem);
        return reply.end == REMOTE_HTTP_UNSENT ? REMOTE_UNSENT : REMOTE_UNANSWERED;
    }
    snprintf(why, sizeof why, "it answers %ld", reply.status);
    if (reply.status >= 500 || reply.status == 429 || reply.status == 409) {
        note_away(remote, true, why);
        return reply.status == 503 || reply.status == 429 ? REMOTE_UNSENT : REMOTE_UNANSWERED;
    }
    if (!remote->is_refused) {
        serve_log(LOG_ERROR, "store", "the control plane refuses this host: %s%s", why,
                  reply.status == 401 ? "; its key was revoked" : "");
    }
    remote->is_refused = true;
    return REMOTE_REFUSED;
}

// On the store's thread.
static void revision_now(void *user, uint8_t out[REMOTE_REVISION_BYTES])
{
    struct ServeRemote *remote = user;
    pthread_mutex_lock(&remote->lock);
    memcpy(out, remote->revision, REMOTE_REVISION_BYTES);
    pthread_mutex_unlock(&remote->lock);
}

void serve_remote_replaced(Serve *serve)
{
    struct ServeRemote *remote = serve->remote;
    const uint8_t *revision = serve_reload_revision(serve);
    if (revision != NULL) {
        pthread_mutex_lock(&remote->lock);
        memcpy(remote->revision, revision, REMOTE_REVISION_BYTES);
        pthread_mutex_unlock(&remote->lock);
    }
}

static int open_store(Serve *serve)
{
    struct ServeRemote *remote = serve->remote;
    StoreRemoteConfig config = store_remote_config_default();
    memcpy(config.world_id, remote->row.world_id, sizeof config.world_id);
    memcpy(config.boot, serve->boot, sizeof config.boot);
    memcpy(config.revision, remote->revision, sizeof config.revision);
    config.revision_now = revision_now;
    config.exchange = exchange;
    config.told_time = told_time;
    config.user = remote;
    return store_remote_open(&config, &serve->store) == STATUS_OK
               ? 0
               : say(serve, "no thread for the store", "");
}

int serve_remote_open(Serve *serve)
{
    serve->remote = calloc(1, sizeof *serve->remote);
    if (serve->remote == NULL) {
        return say(serve, "out of memory", "");
    }
    pthread_mutex_init(&serve->remote->lock, NULL);
    int code = open_http(serve);
    code = code == 0 ? register_host(serve) : code;
    code = code == 0 ? fetch_place(serve) : code;
    return code == 0 ? open_store(serve) : code;
}

int serve_remote_world(Serve *serve)
{
    struct ServeRemote *remote = serve->remote;
    host_add_place(serve->host, host_place_hold(places_host_place(serve, 0)));
    if (host_add_world(serve->host, &remote->row, &serve->one_world) != STATUS_OK) {
        return say(serve, "out of memory", "");
    }
    if (remote->other_place) {
        host_world_set_other_place(serve->one_world);
    }
    return 0;
}

void serve_remote_cancel(Serve *serve)
{
    if (serve->remote != NULL) {
        atomic_store(&serve->remote->cancel, true);
    }
}

void serve_remote_close(Serve *serve)
{
    if (serve->remote != NULL) {
        remote_http_destroy(serve->remote->http);
        pthread_mutex_destroy(&serve->remote->lock);
        free(serve->remote);
    }
}

uint64_t serve_remote_unix_ms(const Serve *serve)
{
    const int64_t ahead = serve->remote != NULL ? atomic_load(&serve->remote->ahead_ms) : 0;
    return (uint64_t)((int64_t)clock_unix_ms() + ahead);
}

// See http_host.h: registering, places and keys. Batches are in http_remote.c.
#define _GNU_SOURCE
#include "server/serve/remote/http_host.h"

#include "core/base/json_read.h"
#include "core/base/name_text.h"
#include "core/base/sha256.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/place/places.h"
#include "server/serve/remote/http_remote.h"
#include "server/serve/remote/remote_worlds.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"

#include <stddef.h>
#include <stdio.h>

#define MAKE_TRIES        8
#define REGISTER_LEASE_MS REMOTE_LEASE_MS_MAX

static bool refuse_without_control(const Serve *serve, HttpRequest *request, HttpResponse *response)
{
    if (serve->control == NULL || serve->hosts == NULL) {
        http_fail(request, response, 404, "not_found", "this server is no control plane");
        return true;
    }
    return false;
}

// --- bodies -------------------------------------------------------------------------------------

// "" if it is not there; false: it is no text, or does not fit.
static bool copy_member(const JsonNode *root, const char *name, char *out, size_t capacity)
{
    const JsonNode *node = json_find(root, name);
    out[0] = '\0';
    if (node == NULL || node->kind == JSON_NULL) {
        return true;
    }
    if (node->kind != JSON_STRING || node->count >= capacity || strlen(node->text) != node->count) {
        return false;
    }
    memcpy(out, node->text, node->count + 1);
    return true;
}

static bool read_hex(const char *text, uint8_t *out, size_t bytes)
{
    if (strlen(text) != 2 * bytes || strspn(text, "0123456789abcdef") != 2 * bytes) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        unsigned value = 0;
        (void)sscanf(text + 2 * i, "%2x", &value);
        out[i] = (uint8_t)value;
    }
    return true;
}

// --- registering --------------------------------------------------------------------------------

// What is kept of a host until it is registered; in the request's arena.
typedef struct Registration {
    RemoteAsk ask; // first
    PlaceWish wish;
    Serve *serve;
    HttpDeferred *deferred;
    StoreHost host;
    StoreWorld row; // of a world that is made
    const HostWorld *world;
    uint32_t tries;
} Registration;

static void fail_registration(Registration *made, uint32_t status, const char *code,
                              const char *message)
{
    HttpResponse response = http_response_default();
    http_fail(http_deferred_request(made->deferred), &response, status, code, message);
    remote_ask_end(made->serve, &made->ask);
    http_complete(made->deferred, &response);
}

ServePlace *serve_place_of_world(const Serve *serve, const HostWorld *world)
{
    return world != NULL ? places_find_id(serve, host_world_view(world).row->place_id) : NULL;
}

static void write_registration(const Registration *made, const ServePlace *place, JsonWriter *json)
{
    const Serve *serve = made->serve;
    const HostWorldView view = host_world_view(made->world);
    char hash[65], key[65], revision[65];
    sha256_hex(place->hash, hash);
    sha256_hex(place->revision, revision);
    sha256_hex(serve->key.public_half, key); // 32 bytes as hex digits
    json_write_object_begin(json);
    serve_write_member(json, "host_id", made->host.host_id);
    serve_write_member(json, "world_id", view.row->world_id);
    serve_write_member(json, "room_code", view.row->room_code);
    serve_write_member(json, "name", view.row->name);
    serve_write_member(json, "place_id", view.row->place_id);
    serve_write_member(json, "place_hash", hash);
    json_write_name(json, "other_place");
    json_write_bool(json, host_world_has_other_place(made->world));
    serve_write_member(json, "signing_key", key);
    serve_write_member(json, "revision", revision);
    serve_write_number(json, "unix_ms", clock_unix_ms());
    json_write_object_end(json);
}

static void registered(RemoteAsk *ask, StoreCompletion *done)
{
    Registration *made = (Registration *)ask;
    ServePlace *place = serve_place_of_world(made->serve, made->world);
    if (done->status != STATUS_OK || place == NULL) {
        serve_place_release(place);
        fail_registration(made, 503, "unavailable", "the host could not be stored; try again");
        return;
    }
    serve_log(LOG_INFO, "host", "host %s registers for world %s", made->host.host_id,
              host_world_view(made->world).row->world_id);
    HttpResponse response = http_response_default();
    ServeAnswer answer;
    serve_answer_begin(&answer, http_deferred_request(made->deferred));
    write_registration(made, place, &answer.json);
    serve_answer_end(&answer, &response);
    serve_place_release(place);
    remote_ask_end(made->serve, &made->ask);
    http_complete(made->deferred, &response);
}

// A process that had this host's row before is refused from here on.
static void register_host(Registration *made)
{
    const HostWorldView view = host_world_view(made->world);
    remote_host_id(serve_host_key(http_deferred_request(made->deferred)), view.row->world_id,
                   made->host.host_id);
    made->ask.answer = registered;
    if (store_host_register(made->serve->store, &made->host, clock_unix_ms(), REGISTER_LEASE_MS,
                            remote_ask_tag(&made->ask)) != STATUS_OK) {
        fail_registration(made, 503, "busy", "the store is busy; try again");
    }
}

static void make_world(Registration *made);

static void world_made(RemoteAsk *ask, StoreCompletion *done)
{
    Registration *made = (Registration *)ask;
    Host *host = made->serve->host;
    HostWorld *world = host_world(host, made->row.world_id); // of another request
    if (done->status == STATUS_EXISTS && world == NULL && made->tries < MAKE_TRIES) {
        make_world(made);
        return;
    }
    Status status = done->status;
    if (world == NULL && status == STATUS_OK) {
        status = host_add_world(host, &made->row, &world);
    }
    if (world == NULL) {
        fail_registration(made, status == STATUS_MALFORMED ? 400 : 503,
                          status == STATUS_MALFORMED ? "malformed" : "unavailable",
                          status == STATUS_MALFORMED
                              ? "world_id: letters, digits, _ and -, at most 64"
                              : "the world could not be made; try again");
        return;
    }
    made->world = world;
    register_host(made);
}

// As the server document starts a game server: a world that is not there yet is made.
static void make_world(Registration *made)
{
    uint8_t random[ROOM_CODE_RANDOM];
    entropy_fill(random, sizeof random);
    room_code_from(random, sizeof random, made->row.room_code);
    made->tries += 1;
    made->ask.answer = world_made;
    const Status status =
        store_world_make(made->serve->store, &made->row, remote_ask_tag(&made->ask));
    if (status != STATUS_OK) {
        fail_registration(made, status == STATUS_MALFORMED ? 400 : 503,
                          status == STATUS_MALFORMED ? "malformed" : "busy",
                          status == STATUS_MALFORMED
                              ? "world_id: letters, digits, _ and -, at most 64"
                              : "the store is busy; try again");
    }
}

static void place_is_open(PlaceWish *wish)
{
    Registration *made = (Registration *)((uint8_t *)wish - offsetof(Registration, wish));
    if (wish->refusal != PLACE_FINE) {
        HttpResponse response = http_response_default();
        places_refuse(http_deferred_request(made->deferred), &response, wish->refusal, false);
        remote_ask_end(made->serve, &made->ask);
        http_complete(made->deferred, &response);
        return;
    }
    const HostPlace *place = host_place(made->serve->host, wish->place_id);
    made->world = host_world(made->serve->host, made->row.world_id); // perhaps made meanwhile
    if (made->world != NULL) {
        register_host(made);
        return;
    }
    made->row.created_unix_ms = clock_unix_ms();
    made->row.is_named = true; // whoever runs it chose its id
    memcpy(made->row.place_id, place->place_id, sizeof made->row.place_id);
    memcpy(made->row.place_hash, place->scene_hash, sizeof made->row.place_hash);
    snprintf(made->row.name, sizeof made->row.name, "%s", place->built.facts.name);
    make_world(made);
}

static bool answer_register(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    Registration *made = arena_alloc(http_arena(request), sizeof *made);
    const JsonNode *root = serve_body_object(request, response);
    char boot[2 * STORE_BOOT_BYTES + 1], place_id[65], world_id[65];
    if (root == NULL) {
        return true;
    }
    if (made == NULL || !copy_member(root, "world_id", world_id, 65) ||
        !copy_member(root, "place_id", place_id, 65) ||
        !copy_member(root, "boot", boot, sizeof boot) || world_id[0] == '\0') {
        http_fail(request, response, 400, "malformed",
                  "the body is {\"world_id\":…,\"boot\":32 hex digits,\"place_id\"?:…}");
        return true;
    }
    *made = (Registration){.serve = serve, .deferred = deferred};
    if (!read_hex(boot, made->host.boot, sizeof made->host.boot)) {
        http_fail(request, response, 400, "malformed", "boot: 32 hex digits");
        return true;
    }
    if (host_is_draining(serve->host)) {
        http_fail(request, response, 503, "draining",
                  "this server starts no worlds any more, on other machines neither");
        return true;
    }
    made->world = host_world(serve->host, world_id);
    if (!remote_ask_begin(serve, &made->ask, deferred)) {
        http_fail(request, response, 503, "busy", "too many hosts register at once; try again");
        return true;
    }
    memcpy(made->row.world_id, world_id, sizeof made->row.world_id);
    snprintf(made->wish.place_id, sizeof made->wish.place_id, "%s",
             made->world != NULL   ? host_world_view(made->world).row->place_id
             : place_id[0] != '\0' ? place_id
                                   : serve->default_place);
    made->wish.has_every_right = true;
    made->wish.then = place_is_open;
    places_wish(serve, &made->wish);
    return false;
}

void serve_hosts_register(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (!refuse_without_control(serve, request, response)) {
        mailbox_ask(serve->mailbox, request, response, answer_register);
    }
}

void serve_hosts_batch(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (!refuse_without_control(serve, request, response)) {
        mailbox_ask(serve->mailbox, request, response, remote_hosts_batch);
    }
}

// --- places -------------------------------------------------------------------------------------

typedef struct WantedPlace {
    const char *place_id, *hash; // NULL: the newest
} WantedPlace;

// One that was replaced is given too: a host has registered for it.
static bool is_wanted(void *user, const ServePlace *place)
{
    const WantedPlace *wanted = user;
    char hash[2 * SHA256_BYTES + 1];
    sha256_hex(place->hash, hash);
    return strcmp(place->place->place_id, wanted->place_id) == 0 &&
           (wanted->hash != NULL ? strcmp(hash, wanted->hash) == 0 : !place->is_retired);
}

// GET /api/hosts/place/<place_id>?hash=<place_hash of the registration>
void serve_hosts_place(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    if (refuse_without_control(serve, request, response)) {
        return;
    }
    WantedPlace wanted = {http_path_part(request, 0), http_query(request, "hash")};
    ServePlace *place = places_find(serve, is_wanted, &wanted);
    if (place == NULL) {
        http_fail(request, response, 404, "not_found",
                  "there is no such place here, or not in this form any more");
        return;
    }
    Buffer bytes = buffer_of(HOST_PLACE_BYTES_MAX);
    host_place_write(place->place, &bytes);
    serve_place_release(place);
    http_keep(request, bytes.data);
    if (bytes.status != STATUS_OK) {
        http_fail(request, response, 503, "too_large",
                  "the place is too large for a host on another machine");
        return;
    }
    response->content_type = "application/octet-stream";
    response->body = bytes.data;
    response->bytes = bytes.bytes;
    response->body_is_static = true; // the request's
}

void serve_hosts_name_place(const Serve *serve, ServePlace *place)
{
    uint8_t both[SIGNING_PUBLIC_BYTES + SHA256_BYTES];
    Buffer bytes = buffer_of(HOST_PLACE_BYTES_MAX);
    host_place_write(place->place, &bytes);
    if (bytes.status != STATUS_OK) {
        serve_log(LOG_WARN, "host", "place %s is too large for hosts on other machines",
                  place->place->place_id);
    }
    sha256_of(bytes.data, bytes.bytes, place->hash);
    buffer_free(&bytes);
    memcpy(both, serve->key.public_half, SIGNING_PUBLIC_BYTES);
    memcpy(both + SIGNING_PUBLIC_BYTES, place->hash, SHA256_BYTES);
    sha256_of(both, sizeof both, place->revision);
}

Status serve_hosts_open(Serve *serve)
{
    if (serve->control == NULL) {
        return STATUS_OK;
    }
    const Status status = remote_worlds_create(&serve->remote_worlds);
    return status == STATUS_OK ? remote_hosts_create(&serve->hosts) : status;
}

void serve_hosts_close(Serve *serve)
{
    remote_hosts_destroy(serve->hosts);
    serve->hosts = NULL;
    remote_worlds_destroy(serve->remote_worlds);
    serve->remote_worlds = NULL;
}

// --- keys ---------------------------------------------------------------------------------------

static void write_key(JsonWriter *json, const StoreHostKey *key, const char *token)
{
    char id[STORE_HOST_KEY_ID_BYTES];
    store_host_key_id(key->key_hash, id);
    json_write_object_begin(json);
    serve_write_member(json, "id", id);
    serve_write_member(json, "name", key->name);
    if (token != NULL) {
        serve_write_member(json, "key", token);
    }
    serve_write_time(json, "created_at", key->created_unix_ms);
    if (token == NULL && key->used_unix_ms != 0) {
        serve_write_time(json, "used_at", key->used_unix_ms);
    } else if (token == NULL) {
        serve_write_member(json, "used_at", NULL);
    }
    json_write_object_end(json);
}

void serve_host_key_make(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    char name[STORE_SHOWN_BYTES], token[TOKEN_TEXT_BYTES];
    if (refuse_without_control(serve, request, response)) {
        return;
    }
    const JsonNode *root = serve_body_object(request, response);
    if (root == NULL) {
        return;
    }
    if (!copy_member(root, "name", name, sizeof name)) {
        http_fail(request, response, 400, "malformed",
                  "the body is {\"name\":…}, at most 64 bytes");
        return;
    }
    if (!name_text_is_valid(name, strlen(name))) {
        http_fail(request, response, 400, "invalid_name", NAME_TEXT_RULE);
        return;
    }
    if (!serve_record(serve, "host_key.make", request, response)) {
        return;
    }
    const Identity *who = serve_who(request);
    StoreHostKey key;
    const Status status =
        host_key_make(serve->control, name, who != NULL ? who->account : 0, &key, token);
    if (status != STATUS_OK) {
        http_fail(request, response, status == STATUS_LIMIT ? 409 : 503,
                  status == STATUS_LIMIT ? "too_many" : "unavailable",
                  status == STATUS_LIMIT ? "there are too many host keys; revoke one first"
                                         : "the key could not be stored; try again");
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    write_key(&answer.json, &key, token);
    serve_answer_end(&answer, response);
}

void serve_host_key_list(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    if (refuse_without_control(serve, request, response)) {
        return;
    }
    const size_t bytes = HOST_KEYS_MAX * 256u;
    StoreHostKey *keys = malloc(HOST_KEYS_MAX * sizeof *keys);
    uint8_t *text = malloc(bytes);
    http_keep(request, keys);
    http_keep(request, text);
    if (keys == NULL || text == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    const uint32_t count = host_key_list(serve->control, keys, HOST_KEYS_MAX);
    ByteWriter writer = byte_writer(text, bytes);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "host_keys");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < count; i++) {
        write_key(&json, &keys[i], NULL);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    if (json_writer_finish(&json) != STATUS_OK) {
        http_fail(request, response, 500, "too_large", "the answer does not fit");
        return;
    }
    response->body = text;
    response->bytes = writer.at;
    response->body_is_static = true; // the request's
}

void serve_host_key_revoke(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (refuse_without_control(serve, request, response)) {
        return;
    }
    if (!serve_record(serve, "host_key.revoke", request, response)) {
        return;
    }
    const char *id = http_path_part(request, 0);
    const Status status = host_key_revoke(serve->control, id);
    if (status != STATUS_OK) {
        http_fail(request, response, status == STATUS_NOT_FOUND ? 404 : 503,
                  status == STATUS_NOT_FOUND ? "not_found" : "unavailable",
                  status == STATUS_NOT_FOUND ? "there is no such host key"
                                             : "it could not be stored; try again");
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "id", id);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

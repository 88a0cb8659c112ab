// A new form of the place for the world of a host on another machine (remote_reload.c has the other
// side), and what its scripts cost while somebody looks. An order names a form of the place; it is
// fetched, and goes to the world as everywhere else (place_reload.h), but for two things: this host
// has no key, so the control plane signs the manifests, also those of the last good set when it has
// to come back; and the order says whether a world that has to start again does so at once. One
// request is under way at a time, on the pool.
#define _GNU_SOURCE
#include "core/base/sha256.h"
#include "server/channel/script_table.h"
#include "server/host/host_reload.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/place/place_reload.h"
#include "server/serve/remote/remote_http.h"
#include "server/serve/remote/serve_remote.h"
#include "server/store/world/remote_batch.h"
#include "server/sys/clock.h"

#include <inttypes.h>
#include <stdio.h>

#define FORMS_MAX  8 // the world has at most four at a time
#define RETRY_NS   (2 * HOST_SECOND_NS)
#define TAKING_NS  (100 * HOST_MS_NS)
#define TRIES_MAX  8
#define COSTS_NS   (HOST_SECOND_NS)
#define TEXT_BYTES 512

typedef enum AskState { ASK_NONE, ASK_SENT, ASK_ANSWERED } AskState;
typedef enum AskKind { ASK_PLACE, ASK_SIGN, ASK_COSTS } AskKind;

// A form of the place that the world runs, ran or will run.
typedef struct Form {
    HostPlace *place; // a reference; NULL: free
    uint8_t hash[SHA256_BYTES], revision[REMOTE_REVISION_BYTES];
} Form;

struct ServeReload {
    RemoteHttp *http;
    atomic_bool cancel;
    atomic_int state; // AskState; while it is SENT, what is asked and the reply are the pool's
    AskKind kind;
    char path[TEXT_BYTES], text[TEXT_BYTES];
    size_t text_bytes;
    uint8_t costs[SCRIPT_TABLE_BYTES];
    size_t cost_bytes;
    RemoteHttpReply reply;
    uint64_t wait_ns;       // nothing is asked before
    uint64_t number, asked; // rises with each order and each signature; when it was asked
    // What was ordered.
    uint64_t order;
    uint8_t hash[SHA256_BYTES], revision[REMOTE_REVISION_BYTES];
    bool is_now; // it starts again at once if it has to; else when nobody is in it
    bool is_due; // it is not here yet
    uint32_t tries;
    uint64_t tag; // of place_reload.h, since it is here
    JobReload failed;
    // What has to be signed.
    HostPlace *sign; // a reference; NULL: nothing
    uint32_t sign_version;
    uint64_t sign_tick;
    Form forms[FORMS_MAX];
    bool wants_costs;
    uint64_t costs_version, costs_ns;
};

Status serve_reload_open(Serve *serve, const char *key)
{
    struct ServeReload *reload = calloc(1, sizeof *reload);
    if (reload == NULL) {
        return STATUS_LIMIT;
    }
    serve->reload = reload;
    return remote_http_create(serve->config.control_plane, key, &reload->cancel, &reload->http);
}

void serve_reload_stop(Serve *serve)
{
    if (serve->reload != NULL) {
        atomic_store(&serve->reload->cancel, true);
    }
}

void serve_reload_close(Serve *serve)
{
    struct ServeReload *reload = serve->reload;
    if (reload == NULL) {
        return;
    }
    for (uint32_t i = 0; i < FORMS_MAX; i++) {
        host_place_release(reload->forms[i].place);
    }
    host_place_release(reload->sign);
    remote_http_destroy(reload->http);
    free(reload->reply.body);
    free(reload);
    serve->reload = NULL;
}

// --- forms of the place -------------------------------------------------------------------------

static const Form *find_form(const struct ServeReload *reload, const HostPlace *place)
{
    for (uint32_t i = 0; i < FORMS_MAX; i++) {
        if (reload->forms[i].place != NULL && reload->forms[i].place == place) {
            return &reload->forms[i];
        }
    }
    return NULL;
}

// One that the world may still come to need is kept.
static Form *free_form(Serve *serve)
{
    struct ServeReload *reload = serve->reload;
    const HostWorld *world = serve->one_world;
    for (uint32_t i = 0; i < FORMS_MAX; i++) {
        if (reload->forms[i].place == NULL) {
            return &reload->forms[i];
        }
    }
    for (uint32_t i = 0; i < FORMS_MAX; i++) {
        const HostPlace *place = reload->forms[i].place;
        if (world == NULL || (place != host_world_place(world) &&
                              place != host_world_place_next(world) && place != reload->sign)) {
            return &reload->forms[i];
        }
    }
    return NULL; // there are more than that
}

void serve_reload_form(Serve *serve, HostPlace *place, const uint8_t hash[32],
                       const uint8_t revision[32])
{
    Form *form = free_form(serve);
    ASSERT(form != NULL);
    host_place_release(form->place);
    form->place = host_place_hold(place);
    memcpy(form->hash, hash, sizeof form->hash);
    memcpy(form->revision, revision, sizeof form->revision);
}

const uint8_t *serve_reload_revision(const Serve *serve)
{
    const Form *form = serve->one_world != NULL
                           ? find_form(serve->reload, host_world_place_next(serve->one_world))
                           : NULL;
    return form != NULL ? form->revision : NULL;
}

// --- what is said -------------------------------------------------------------------------------

bool serve_reload_is_now(const Serve *serve)
{
    return serve->reload->is_now;
}

void serve_reload_order(Serve *serve, uint64_t order, const uint8_t hash[32],
                        const uint8_t revision[32], bool is_now)
{
    struct ServeReload *reload = serve->reload;
    reload->number += 1;
    reload->order = order;
    reload->is_due = true;
    reload->is_now = is_now;
    reload->tries = 0;
    reload->tag = 0;
    reload->failed = (JobReload){.state = JOB_RELOAD_WAITING};
    memcpy(reload->hash, hash, sizeof reload->hash);
    memcpy(reload->revision, revision, sizeof reload->revision);
}

void serve_reload_wants_costs(Serve *serve, bool wants)
{
    serve->reload->wants_costs = wants;
}

void serve_reload_write(Serve *serve, JsonWriter *json)
{
    const struct ServeReload *reload = serve->reload;
    const Form *form = find_form(reload, host_world_place(serve->one_world));
    JobReload result = reload->failed;
    char hex[65];
    if (form != NULL) {
        sha256_hex(form->hash, hex);
        serve_write_member(json, "place_hash", hex);
    }
    if (reload->tag != 0) {
        place_reload_result(serve, reload->tag, &result);
    }
    json_write_name(json, "reload");
    if (reload->order == 0) {
        json_write_null(json);
        return;
    }
    json_write_object_begin(json);
    serve_write_number(json, "order", reload->order);
    serve_write_member(json, "state", job_reload_name(result.state));
    serve_write_number(json, "manifest_version", result.manifest_version);
    serve_write_member(json, "reason", result.reason);
    json_write_name(json, "settled");
    json_write_bool(json, result.is_settled);
    json_write_object_end(json);
}

void serve_reload_sign(void *user, HostWorld *world, HostPlace *place, uint32_t version,
                       uint64_t tick)
{
    Serve *serve = user;
    struct ServeReload *reload = serve->reload;
    (void)world; // there is one
    host_place_release(reload->sign);
    reload->number += 1;
    reload->sign = host_place_hold(place);
    reload->sign_version = version;
    reload->sign_tick = tick;
}

// --- asking -------------------------------------------------------------------------------------

static void write_boot(const Serve *serve, char out[2 * TICKET_BOOT_BYTES + 1])
{
    for (size_t i = 0; i < TICKET_BOOT_BYTES; i++) {
        snprintf(out + 2 * i, 3, "%02x", serve->boot[i]);
    }
}

static void ask_place(Serve *serve)
{
    struct ServeReload *reload = serve->reload;
    char hex[65];
    sha256_hex(reload->hash, hex);
    snprintf(reload->path, sizeof reload->path, "/api/hosts/place/%s?hash=%s",
             host_world_view(serve->one_world).row->place_id, hex);
    reload->text_bytes = 0;
}

// False: it is a form that nobody has named.
static bool ask_sign(Serve *serve)
{
    struct ServeReload *reload = serve->reload;
    const Form *form = find_form(reload, reload->sign);
    char boot[2 * TICKET_BOOT_BYTES + 1], hex[65];
    if (form == NULL) {
        return false;
    }
    write_boot(serve, boot);
    sha256_hex(form->hash, hex);
    ByteWriter writer = byte_writer(reload->text, sizeof reload->text);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    serve_write_member(&json, "world_id", host_world_view(serve->one_world).row->world_id);
    serve_write_member(&json, "boot", boot);
    serve_write_member(&json, "place_hash", hex);
    serve_write_number(&json, "version", reload->sign_version);
    serve_write_number(&json, "tick", reload->sign_tick);
    json_write_object_end(&json);
    snprintf(reload->path, sizeof reload->path, "/api/hosts/sign");
    reload->text_bytes = writer.at;
    return json_writer_finish(&json) == STATUS_OK;
}

static void ask_costs(Serve *serve)
{
    struct ServeReload *reload = serve->reload;
    char boot[2 * TICKET_BOOT_BYTES + 1];
    write_boot(serve, boot);
    ByteWriter writer = byte_writer(reload->costs, sizeof reload->costs);
    script_table_write(host_world_scripts(serve->one_world), &writer);
    reload->cost_bytes = writer.status == STATUS_OK ? writer.at : 0;
    reload->costs_version = host_world_scripts_version(serve->one_world);
    reload->costs_ns = clock_ns();
    snprintf(reload->path, sizeof reload->path, "/api/hosts/scripts?world_id=%s&boot=%s",
             host_world_view(serve->one_world).row->world_id, boot);
}

static void run_ask(void *user, bool is_cancelled)
{
    struct ServeReload *reload = user;
    if (is_cancelled) {
        reload->reply = (RemoteHttpReply){.end = REMOTE_HTTP_UNSENT};
    } else if (reload->kind == ASK_PLACE) {
        reload->reply =
            remote_http_ask(reload->http, reload->path, NULL, NULL, 0, HOST_PLACE_BYTES_MAX);
    } else if (reload->kind == ASK_SIGN) {
        reload->reply = remote_http_ask(reload->http, reload->path, "application/json",
                                        reload->text, reload->text_bytes, REMOTE_REPLY_BYTES_MAX);
    } else {
        reload->reply = remote_http_ask(reload->http, reload->path, "application/octet-stream",
                                        reload->costs, reload->cost_bytes, TEXT_BYTES);
    }
    atomic_store(&reload->state, ASK_ANSWERED);
}

static bool are_costs_due(const Serve *serve)
{
    const struct ServeReload *reload = serve->reload;
    return reload->wants_costs && host_world_scripts(serve->one_world) != NULL &&
           host_world_scripts_version(serve->one_world) != reload->costs_version &&
           clock_ns() - reload->costs_ns >= COSTS_NS;
}

// Signatures first: a world waits for them.
static bool choose_ask(Serve *serve)
{
    struct ServeReload *reload = serve->reload;
    if (clock_ns() < reload->wait_ns) {
        return false;
    }
    if (reload->sign != NULL && !ask_sign(serve)) {
        host_world_signed(serve->one_world, reload->sign, NULL, "nobody knows this form of it");
        host_place_release(reload->sign);
        reload->sign = NULL;
    }
    if (reload->sign != NULL) {
        reload->kind = ASK_SIGN;
    } else if (reload->is_due) {
        reload->kind = ASK_PLACE;
        ask_place(serve);
    } else if (are_costs_due(serve)) {
        reload->kind = ASK_COSTS;
        ask_costs(serve);
    } else {
        return false;
    }
    return true;
}

// --- answers ------------------------------------------------------------------------------------

static void fail_order(struct ServeReload *reload, const char *why)
{
    reload->is_due = false;
    reload->failed = (JobReload){.state = JOB_RELOAD_REFUSED};
    snprintf(reload->failed.reason, sizeof reload->failed.reason, "%s", why);
}

// Whether it is worth asking again.
static bool is_for_now(const RemoteHttpReply *reply)
{
    return reply->end != REMOTE_HTTP_ANSWERED || reply->status >= 500 || reply->status == 429;
}

static void take_place(Serve *serve, const RemoteHttpReply *reply)
{
    struct ServeReload *reload = serve->reload;
    char why[WORKER_REASON_BYTES] = "its host could not fetch it";
    ServePlace *place = NULL;
    if (is_for_now(reply) && ++reload->tries < TRIES_MAX) {
        reload->wait_ns = clock_ns() + RETRY_NS;
        return;
    }
    // The control plane signs for the form that it was asked for the world with.
    if (host_world_view(serve->one_world).state == WORLD_TAKING) {
        reload->wait_ns = clock_ns() + TAKING_NS;
        return;
    }
    if (reply->end != REMOTE_HTTP_ANSWERED || reply->status != 200 ||
        serve_remote_make_place(serve, reply, reload->hash, &place, why, sizeof why) != STATUS_OK) {
        fail_order(reload, why);
        return;
    }
    reload->is_due = false;
    serve_reload_form(serve, place->place, reload->hash, reload->revision);
    reload->tag = place_reload_take(serve, place, "", clock_ns());
    serve_remote_replaced(serve);
}

static void take_signature(Serve *serve, const RemoteHttpReply *reply)
{
    struct ServeReload *reload = serve->reload;
    HostPlace *place = reload->sign;
    HostManifests manifests;
    if (is_for_now(reply)) {
        reload->wait_ns = clock_ns() + RETRY_NS; // until the host itself gives it up
        return;
    }
    reload->sign = NULL;
    if (reply->status == 200 &&
        host_manifests_read(reply->body, reply->bytes, &manifests) == STATUS_OK) {
        host_world_signed(serve->one_world, place, &manifests, "");
    } else {
        host_world_signed(serve->one_world, place, NULL, "the control plane does not sign it");
    }
    host_place_release(place);
}

static void take_answer(Serve *serve)
{
    struct ServeReload *reload = serve->reload;
    RemoteHttpReply reply = reload->reply;
    reload->reply = (RemoteHttpReply){.body = NULL};
    // If something else is wanted since, all of it is asked for again.
    const bool is_same = reload->asked == reload->number;
    if (reload->kind == ASK_PLACE && is_same) {
        take_place(serve, &reply);
    } else if (reload->kind == ASK_SIGN && is_same) {
        take_signature(serve, &reply);
    }
    free(reply.body);
}

void serve_reload_step(Serve *serve)
{
    struct ServeReload *reload = serve->reload;
    if (reload == NULL || atomic_load(&reload->state) == ASK_SENT) {
        return;
    }
    if (atomic_load(&reload->state) == ASK_ANSWERED) {
        atomic_store(&reload->state, ASK_NONE);
        take_answer(serve);
    }
    if (serve->one_world == NULL || host_is_stopping(serve->host) || !choose_ask(serve)) {
        return;
    }
    reload->asked = reload->number;
    atomic_store(&reload->state, ASK_SENT);
    if (work_pool_submit(serve->pool, run_ask, reload) != STATUS_OK) {
        atomic_store(&reload->state, ASK_NONE);
    }
}

// New forms of places for worlds on other machines, of a control plane, and what their scripts
// cost.
//
//   a place built anew ─▶ order "reload" ─▶ the host fetches that form of the place, and has its
//   manifests signed here (POST /api/hosts/sign), for it has no key ─▶ its world switches ─▶
//   reports say what has become of it ─▶ place_reload.c, as for a world of this process
//
// If more than scripts differs the host starts its world again, at once or when nobody is in it.
// It then takes the world from the store once more, and names the new form: so this process knows
// by itself that it was done.
//
// A host may lie: what it says of one order only goes forward (waiting, then taken or refused, then
// rolled back), is bounded, and is shown as what another machine said. It gets signatures only for
// forms of its own world's place that are known here, and only while it holds the world.
#define _GNU_SOURCE
#include "core/base/json_read.h"
#include "core/base/sha256.h"
#include "core/base/utf8.h"
#include "server/host/host_reload.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/place/place_reload.h"
#include "server/serve/remote/remote_worlds_inside.h"
#include "server/sys/clock.h"

#include <stdio.h>

#define SCRIPTS_WANTED_NS (5 * HOST_SECOND_NS)  // after somebody asked for them
#define SCRIPTS_OLD_NS    (10 * HOST_SECOND_NS) // then they say nothing about now
#define VERSION_MAX       ((int64_t)UINT32_MAX)

// --- orders -------------------------------------------------------------------------------------

static void report_reload(Serve *serve, RemoteWorld *world, HostReloadResult result,
                          uint32_t version, const char *reason)
{
    const HostWorld *hosted = host_world(serve->host, world->world_id);
    if (hosted != NULL) {
        serve_reloaded(serve, world->reload.tag, hosted, result, version, reason);
    }
}

// All that is to be known of it is known, or will never be.
static void end_order(Serve *serve, RemoteWorld *world, const char *why)
{
    RemoteReload *reload = &world->reload;
    if (reload->number != 0 && reload->state == JOB_RELOAD_WAITING) {
        report_reload(serve, world, HOST_RELOAD_REFUSED, 0, why);
    } else if (reload->number != 0 && reload->state == JOB_RELOADED && !reload->is_settled) {
        report_reload(serve, world, HOST_RELOAD_GOOD, 0, ""); // nothing more will be heard of it
    }
    *reload = (RemoteReload){0};
}

typedef struct WantedForm {
    const char *place_id, *hash;
} WantedForm;

static bool is_form(void *user, const ServePlace *place)
{
    const WantedForm *wanted = user;
    char hex[65];
    sha256_hex(place->hash, hex);
    return strcmp(place->place->place_id, wanted->place_id) == 0 && strcmp(hex, wanted->hash) == 0;
}

// A form of that place that is known here, with a reference; NULL: none.
static ServePlace *find_form(const Serve *serve, const char *place_id, const char *hash)
{
    WantedForm wanted = {place_id, hash};
    return places_find(serve, is_form, &wanted);
}

// What a world on another machine runs, compared with what players get here now.
typedef enum FormAge {
    FORM_NOW,     // the same, or its host did not say
    FORM_SCRIPTS, // its scripts are old
    FORM_OLD      // more than its scripts is
} FormAge;

static FormAge age_of(const Serve *serve, const RemoteWorld *world, const ServePlace *place)
{
    if (world->report.place_hash[0] == '\0') {
        return FORM_NOW;
    }
    // Asking for it also keeps it here for the players of that world.
    ServePlace *runs = find_form(serve, place->place->place_id, world->report.place_hash);
    const FormAge age = runs == place ? FORM_NOW
                        : runs != NULL && host_place_is_same_but_scripts(runs->place, place->place)
                            ? FORM_SCRIPTS
                            : FORM_OLD;
    serve_place_release(runs);
    return age;
}

bool remote_world_is_outdated(void *user, const HostWorld *world)
{
    const Serve *serve = user;
    const StoreWorld *row = host_world_view(world).row;
    const RemoteWorld *found = remote_world_find(serve, row->world_id);
    ServePlace *place = found != NULL ? places_find_id(serve, row->place_id) : NULL;
    const bool is_outdated = place != NULL && age_of(serve, found, place) == FORM_OLD;
    serve_place_release(place);
    return is_outdated;
}

static bool is_up(const RemoteWorld *world)
{
    return world->report.state == WORLD_STARTING || world->report.state == WORLD_RUNNING;
}

bool remote_world_reload(Serve *serve, const HostWorld *world, const ServePlace *place,
                         uint64_t tag)
{
    RemoteWorld *found = host_world_link(world) == NULL
                             ? remote_world_find(serve, host_world_view(world).row->world_id)
                             : NULL;
    const FormAge age = found != NULL && is_up(found) ? age_of(serve, found, place) : FORM_NOW;
    RemoteOrder order = {.kind = ORDER_RELOAD,
                         .is_now = place_reload_starts_again(serve, host_world_view(world).row)};
    if (age == FORM_NOW) {
        return false;
    }
    memcpy(order.place_hash, place->hash, sizeof order.place_hash);
    memcpy(order.revision, place->revision, sizeof order.revision);
    end_order(serve, found, "a newer one took its place");
    if (!remote_add_order(found, &order)) {
        return false; // remote_reload_look tries again
    }
    memcpy(found->told_place, place->hash, sizeof found->told_place);
    if (age == FORM_OLD && !order.is_now) {
        return false; // it may take hours until nobody is in it
    }
    found->reload = (RemoteReload){.number = found->next_number - 1,
                                   .tag = tag,
                                   .state = JOB_RELOAD_WAITING,
                                   .deadline_ns = clock_ns() + REMOTE_RELOAD_MS * HOST_MS_NS};
    memcpy(found->reload.place_hash, place->hash, sizeof found->reload.place_hash);
    return true;
}

// A place may change while its world begins over there. What was rolled back is not sent again.
void remote_reload_look(Serve *serve, RemoteWorld *world)
{
    const HostWorld *hosted = host_world(serve->host, world->world_id);
    ServePlace *place =
        hosted != NULL ? places_find_id(serve, host_world_view(hosted).row->place_id) : NULL;
    if (place != NULL && world->report.state == WORLD_RUNNING &&
        memcmp(world->told_place, place->hash, sizeof place->hash) != 0) {
        (void)remote_world_reload(serve, hosted, place, 0); // nobody waits for it
    }
    serve_place_release(place);
}

void remote_reload_taken(Serve *serve, RemoteWorld *world, const ServePlace *form)
{
    RemoteReload *reload = &world->reload;
    if (reload->number != 0 && reload->state == JOB_RELOAD_WAITING &&
        memcmp(reload->place_hash, form->hash, sizeof form->hash) == 0) {
        place_reload_restarted(serve, reload->tag, world->world_id);
        *reload = (RemoteReload){0};
    }
}

void remote_reload_forget(Serve *serve, RemoteWorld *world)
{
    end_order(serve, world, "its host on another machine ended");
    free(world->scripts);
    world->scripts = NULL;
}

void remote_reloads_step(Serve *serve)
{
    const uint64_t now = clock_ns();
    for (uint32_t i = 0; serve->remote_worlds != NULL && i < REMOTE_HOSTS_MAX; i++) {
        RemoteWorld *world = serve->remote_worlds->items[i];
        if (world != NULL && world->reload.state == JOB_RELOAD_WAITING &&
            now >= world->reload.deadline_ns) {
            end_order(serve, world, "its host on another machine has not answered in time");
        }
    }
}

// --- what is said about them --------------------------------------------------------------------

void remote_reload_read(const JsonNode *node, RemoteReloadReport *out, JsonError *error)
{
    if (node == NULL || node->kind == JSON_NULL) {
        return;
    }
    const char *names[JOB_RELOAD_STATE_COUNT];
    for (uint32_t i = 0; i < JOB_RELOAD_STATE_COUNT; i++) {
        names[i] = job_reload_name((JobReloadState)i);
    }
    out->number = (uint64_t)json_read_integer(json_read_member(node, "order", error), 1,
                                              REMOTE_NUMBER_MAX, error);
    out->state = (JobReloadState)json_read_choice(json_read_member(node, "state", error), names,
                                                  JOB_RELOAD_STATE_COUNT, error);
    out->version = (uint32_t)json_read_integer(json_read_member(node, "manifest_version", error), 0,
                                               VERSION_MAX, error);
    const char *reason =
        json_read_text(json_read_member(node, "reason", error), WORKER_REASON_BYTES - 1, error);
    out->is_settled = json_read_bool(json_read_member(node, "settled", error), error);
    if (error->status == STATUS_OK && reason[0] != '\0') {
        snprintf(out->reason, sizeof out->reason, "on another machine: %s", reason);
        out->reason[utf8_cut(out->reason, strlen(out->reason), sizeof out->reason - 1)] = '\0';
        utf8_clean(out->reason);
    }
}

// What it says of one order, each once and only forwards.
void remote_reload_heard(Serve *serve, RemoteWorld *world, const RemoteReloadReport *report)
{
    RemoteReload *reload = &world->reload;
    const JobReloadState before = reload->state;
    if (reload->number == 0 || report->number != reload->number) {
        return;
    }
    if (before == JOB_RELOADED && report->state == JOB_RELOADED && report->is_settled &&
        !reload->is_settled) {
        reload->is_settled = true;
        report_reload(serve, world, HOST_RELOAD_GOOD, report->version, "");
    }
    if (report->state <= before || reload->is_settled) {
        return;
    }
    reload->state = report->state;
    const bool is_taken = report->state == JOB_RELOADED || report->state == JOB_ROLLED_BACK;
    if (is_taken && before == JOB_RELOAD_WAITING) {
        report_reload(serve, world, HOST_RELOAD_SWITCHED, report->version, "");
    } else if (report->state == JOB_RESTARTED && before == JOB_RELOAD_WAITING) {
        reload->is_settled = true;
        place_reload_restarted(serve, reload->tag, world->world_id);
    }
    if (report->state == JOB_ROLLED_BACK) {
        report_reload(serve, world, HOST_RELOAD_FAILED, report->version, report->reason);
    } else if (report->state == JOB_RELOAD_REFUSED && before == JOB_RELOAD_WAITING) {
        report_reload(serve, world, HOST_RELOAD_REFUSED, report->version, report->reason);
    }
}

// --- signatures ---------------------------------------------------------------------------------

typedef struct SignAsk {
    char world_id[65], hash[65];
    StoreHolder holder;
    uint64_t version, tick;
} SignAsk;

// False: the response says what is wrong.
static bool read_sign(HttpRequest *request, HttpResponse *response, SignAsk *out)
{
    const JsonNode *root = serve_body_object(request, response);
    JsonError error = {0};
    if (root == NULL) {
        return false;
    }
    *out = (SignAsk){.version = 0};
    const char *world = json_read_text(json_read_member(root, "world_id", &error), 64, &error);
    const char *boot = json_read_text(json_read_member(root, "boot", &error), 32, &error);
    const char *hash = json_read_text(json_read_member(root, "place_hash", &error), 64, &error);
    out->version = (uint64_t)json_read_integer(json_read_member(root, "version", &error), 0,
                                               VERSION_MAX - 1, &error);
    out->tick = (uint64_t)json_read_integer(json_read_member(root, "tick", &error), 0,
                                            REMOTE_NUMBER_MAX, &error);
    if (error.status != STATUS_OK || !remote_boot_read(boot, &out->holder)) {
        http_fail(
            request, response, 400, "malformed",
            "the body is {\"world_id\":…,\"boot\":…,\"place_hash\":…,\"version\":…,\"tick\":…}");
        return false;
    }
    snprintf(out->world_id, sizeof out->world_id, "%s", world);
    snprintf(out->hash, sizeof out->hash, "%s", hash);
    remote_host_id(serve_host_key(request), out->world_id, out->holder.host_id);
    return true;
}

static Status sign_form(HostWorld *world, const HostPlace *place, const SignAsk *ask, Buffer *bytes)
{
    HostManifests manifests = {0};
    Status status = host_world_sign(world, place, (uint32_t)ask->version, ask->tick, &manifests);
    if (status == STATUS_OK) {
        host_manifests_write(&manifests, bytes);
        host_manifests_free(&manifests);
        status = bytes->status;
    }
    return status;
}

static bool answer_sign(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    SignAsk ask;
    if (!read_sign(request, response, &ask)) {
        return true;
    }
    HostWorld *world = host_world(serve->host, ask.world_id);
    ServePlace *form =
        world != NULL ? find_form(serve, host_world_view(world).row->place_id, ask.hash) : NULL;
    Buffer bytes = buffer_of(REMOTE_REPLY_BYTES_MAX);
    if (form == NULL) {
        http_fail(request, response, 404, "not_found",
                  "the place of this world has no such form here");
    } else if (sign_form(world, form->place, &ask, &bytes) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it cannot be signed; try again");
    } else {
        response->content_type = "application/octet-stream";
        response->body = bytes.data;
        response->bytes = bytes.bytes;
    }
    http_keep(request, bytes.data);
    serve_place_release(form);
    return true;
}

void serve_hosts_sign(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    SignAsk ask;
    if (serve->remote_worlds == NULL) {
        http_fail(request, response, 404, "not_found", "this server is no control plane");
    } else if (read_sign(request, response, &ask)) {
        remote_ask_held(serve, request, response, ask.world_id, &ask.holder, answer_sign);
    }
}

// --- what scripts cost --------------------------------------------------------------------------

bool remote_reload_wants_scripts(const RemoteWorld *world)
{
    return world->scripts_wanted_ns != 0 &&
           clock_ns() - world->scripts_wanted_ns < SCRIPTS_WANTED_NS;
}

bool remote_world_is_elsewhere(const Serve *serve, const char *world_id)
{
    const HostWorld *world = host_world(serve->host, world_id);
    return world != NULL && host_world_link(world) == NULL &&
           remote_world_find(serve, host_world_view(world).row->world_id) != NULL;
}

const ScriptTable *remote_world_scripts(Serve *serve, const char *world_id, uint64_t *version)
{
    const HostWorld *hosted = host_world(serve->host, world_id);
    RemoteWorld *world =
        hosted != NULL ? remote_world_find(serve, host_world_view(hosted).row->world_id) : NULL;
    if (world == NULL) {
        return NULL;
    }
    world->scripts_wanted_ns = clock_ns();
    *version = world->scripts_version;
    return world->scripts != NULL && clock_ns() - world->scripts_ns < SCRIPTS_OLD_NS
               ? world->scripts
               : NULL;
}

static bool read_scripts_holder(HttpRequest *request, HttpResponse *response, char world_id[65],
                                StoreHolder *holder)
{
    const char *world = http_query(request, "world_id"), *boot = http_query(request, "boot");
    if (world == NULL || strlen(world) > 64 || boot == NULL || !remote_boot_read(boot, holder)) {
        http_fail(request, response, 400, "malformed",
                  "world_id and boot say whose scripts they are");
        return false;
    }
    snprintf(world_id, 65, "%s", world);
    remote_host_id(serve_host_key(request), world_id, holder->host_id);
    return true;
}

static bool answer_scripts(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    char world_id[65];
    StoreHolder holder = {0};
    size_t bytes = 0;
    const uint8_t *body = http_body(request, &bytes);
    if (!read_scripts_holder(request, response, world_id, &holder)) {
        return true;
    }
    RemoteWorld *world = remote_world_find(serve, world_id);
    if (world == NULL) { // it has to report first
        http_fail(request, response, 409, "not_held", "this host does not hold the world");
        return true;
    }
    world->scripts = world->scripts != NULL ? world->scripts : malloc(sizeof *world->scripts);
    if (world->scripts == NULL || script_table_read(body, bytes, world->scripts) != STATUS_OK) {
        free(world->scripts);
        world->scripts = NULL;
        http_fail(request, response, 400, "malformed", "this is no table of scripts");
        return true;
    }
    world->scripts_version += 1;
    world->scripts_ns = clock_ns();
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_number(&answer.json, "version", world->scripts_version);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
    return true;
}

void serve_hosts_scripts(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    char world_id[65];
    StoreHolder holder = {0};
    if (serve->remote_worlds == NULL) {
        http_fail(request, response, 404, "not_found", "this server is no control plane");
    } else if (read_scripts_holder(request, response, world_id, &holder)) {
        remote_ask_held(serve, request, response, world_id, &holder, answer_scripts);
    }
}

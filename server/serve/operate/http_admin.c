// See http_admin.h. What concerns worlds is answered on the main thread. What changes something
// goes first to the pool, which writes it into the audit, and only then to the main thread: nothing
// is done that is not written down.
#define _GNU_SOURCE
#include "server/serve/operate/http_admin.h"

#include "core/base/utf8.h"
#include "server/serve/collect.h"
#include "server/serve/http/body.h"
#include "server/serve/http/time_text.h"
#include "server/serve/remote/serve_fleet.h"
#include "server/sys/clock.h"
#include "server/sys/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SESSIONS_MAX  1000
#define AUDIT_MAX     200
#define STOP_AFTER_NS (200 * HOST_MS_NS) // so that whoever asked for it has the answer
#define ANSWER_MAX    (16u << 20)        // HOST_WORLDS_MAX worlds

// --- numbers and texts --------------------------------------------------------------------------

bool serve_query_number(const HttpRequest *request, const char *name, uint64_t high, uint64_t *out)
{
    const char *text = http_query(request, name);
    if (text == NULL) {
        return true;
    }
    const size_t bytes = strlen(text);
    if (bytes == 0 || bytes > 19 || strspn(text, "0123456789") != bytes) {
        return false;
    }
    const uint64_t number = strtoull(text, NULL, 10);
    if (number > high) {
        return false;
    }
    *out = number;
    return true;
}

void serve_write_time(JsonWriter *json, const char *name, uint64_t unix_ms)
{
    char text[TIME_TEXT_BYTES];
    time_text(unix_ms, text);
    serve_write_member(json, name, text);
}

void serve_account_text(uint64_t account, bool is_guest, char out[32])
{
    snprintf(out, 32, "%s_%" PRIx64, is_guest ? "guest" : "user", account);
}

bool serve_account_read(const char *text, uint64_t *account)
{
    const char *digits = strchr(text, '_');
    digits = digits != NULL ? digits + 1 : text;
    const bool is_hex = digits != text; // user_1f, or 31
    char *end = NULL;
    const size_t bytes = strlen(digits);
    if (bytes == 0 || bytes > 19 ||
        strspn(digits, is_hex ? "0123456789abcdef" : "0123456789") != bytes) {
        return false;
    }
    *account = strtoull(digits, &end, is_hex ? 16 : 10);
    return *account != 0;
}

void serve_write_name(const Serve *serve, JsonWriter *json, const char *member, uint64_t account)
{
    StoreAccount found;
    const bool is_known =
        account != 0 && store_account_find(serve->store, account, &found) == STATUS_OK;
    const char *name = !is_known ? NULL : found.name[0] != '\0' ? found.name : found.shown_name;
    serve_write_member(json, member, name);
}

// --- the audit ----------------------------------------------------------------------------------

// What it is about: the address's own part, and the body as it came.
static void describe(const HttpRequest *request, char out[STORE_DETAIL_BYTES])
{
    size_t bytes = 0;
    const char *part = http_path_part(request, 0), *account = http_query(request, "account");
    const uint8_t *body = http_body(request, &bytes);
    snprintf(out, STORE_DETAIL_BYTES, "%s%s%s%.*s", part != NULL ? part : "",
             account != NULL ? account : "", bytes > 0 && part != NULL ? " " : "",
             (int)(bytes < STORE_DETAIL_BYTES ? bytes : STORE_DETAIL_BYTES),
             body != NULL ? (const char *)body : "");
    utf8_clean(out);
}

bool serve_record(Serve *serve, const char *action, HttpRequest *request, HttpResponse *response)
{
    const Identity *who = serve_who(request);
    StoreAudit row = {.unix_ms = clock_unix_ms(), .account_id = who != NULL ? who->account : 0};
    snprintf(row.action, sizeof row.action, "%s", action);
    describe(request, row.detail);
    const Status status = store_audit_add(serve->store, &row);
    if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable",
                  "this could not be written into the audit, so it was not done; try again");
        return false;
    }
    serve_log(LOG_INFO, "admin", "%s by %" PRIu64 ": %.120s", action, row.account_id, row.detail);
    return true;
}

typedef struct Act {
    Serve *serve;
    HttpDeferred *deferred;
    const char *action;
    MailHandler handler;
} Act;

static void run_act(void *user, bool is_cancelled)
{
    const Act act = *(Act *)user; // it is the request's, and gone with it
    HttpResponse response = http_response_default();
    HttpRequest *request = http_deferred_request(act.deferred);
    if (is_cancelled) {
        http_fail(request, &response, 503, "stopping", "this server is going down");
    } else if (serve_record(act.serve, act.action, request, &response)) {
        mailbox_pass(act.serve->mailbox, act.deferred, act.handler);
        return;
    }
    http_complete(act.deferred, &response);
}

void serve_act(Serve *serve, const char *action, MailHandler handler, HttpRequest *request,
               HttpResponse *response)
{
    Act *act = arena_alloc(http_arena(request), sizeof *act);
    HttpDeferred *deferred = act != NULL ? http_defer(request, response) : NULL;
    if (deferred == NULL) {
        if (act == NULL) {
            http_fail(request, response, 503, "busy", "out of memory; try again");
        }
        return;
    }
    *act = (Act){serve, deferred, action, handler};
    if (work_pool_submit(serve->pool, run_act, act) != STATUS_OK) {
        HttpResponse busy = http_response_default();
        http_fail(request, &busy, 503, "busy", "too much work waits; try again");
        http_complete(deferred, &busy);
    }
}

void serve_admin_get_audit(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    uint64_t below = STORE_AUDIT_ALL, limit = 50;
    uint32_t count = 0;
    if (!serve_query_number(request, "before", STORE_AUDIT_ALL, &below) ||
        !serve_query_number(request, "limit", AUDIT_MAX, &limit) || limit == 0) {
        http_fail(request, response, 400, "malformed",
                  "before is the number of a row, limit 1 to 200");
        return;
    }
    StoreAudit *rows = malloc(limit * sizeof *rows);
    http_keep(request, rows);
    ServeAnswer answer;
    if (rows == NULL ||
        store_audit_read(serve->store, below, rows, (uint32_t)limit, &count) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "the audit cannot be read; try again");
        return;
    }
    serve_answer_begin_large(&answer, request, ANSWER_MAX);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "audit");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count; i++) {
        json_write_object_begin(&answer.json);
        serve_write_number(&answer.json, "id", rows[i].audit_id);
        serve_write_time(&answer.json, "time", rows[i].unix_ms);
        char who[32];
        serve_account_text(rows[i].account_id, false, who);
        serve_write_member(&answer.json, "account", rows[i].account_id != 0 ? who : NULL);
        serve_write_name(serve, &answer.json, "name", rows[i].account_id);
        serve_write_member(&answer.json, "action", rows[i].action);
        serve_write_member(&answer.json, "detail", rows[i].detail);
        json_write_object_end(&answer.json);
    }
    json_write_array_end(&answer.json);
    json_write_name(&answer.json, "next");
    if (count == limit) {
        json_write_integer(&answer.json, (int64_t)rows[count - 1].audit_id);
    } else {
        json_write_null(&answer.json);
    }
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- worlds -------------------------------------------------------------------------------------

static void write_server(JsonWriter *json, const HostWorld *world, const RemoteReport *reported,
                         const char *server)
{
    const HostWorldView view = host_world_view(world);
    const HostLink *link = host_world_link(world);
    const pid_t pid = link != NULL ? link_process_pid(link) : 0;
    const RemoteReport here = {.state = view.state,
                               .players = view.players,
                               .tick = view.stats->tick,
                               .late_p99_us = view.stats->late_p99_us,
                               .work_max_us = view.stats->work_max_us,
                               .memory_bytes = pid != 0 ? process_resident_bytes(pid) : 0,
                               .uptime_s = view.up_ns / HOST_SECOND_NS,
                               .crashes = view.crashes};
    const RemoteReport *now = reported != NULL ? reported : &here;
    char address[512];
    snprintf(address, sizeof address, "%s/api/rooms/%s/ws", server, view.row->room_code);
    json_write_object_begin(json);
    serve_write_member(json, "id", view.row->world_id);
    serve_write_member(json, "world_id", view.row->world_id);
    serve_write_member(json, "room_code", view.row->room_code);
    serve_write_member(json, "name", view.row->name);
    serve_write_member(json, "place_id", view.row->place_id);
    serve_write_member(json, "state", serve_state_name(now->state));
    serve_write_number(json, "players", now->players);
    serve_write_number(json, "player_max",
                       now->player_max != 0 ? now->player_max : view.player_max);
    serve_write_number(json, "pid", (uint64_t)pid);
    serve_write_number(json, "uptime_seconds", now->uptime_s);
    serve_write_number(json, "memory_bytes", now->memory_bytes);
    serve_write_number(json, "tick", now->tick);
    json_write_name(json, "tick_p99_ms");
    json_write_number(json, (double)now->late_p99_us / 1000);
    json_write_name(json, "tick_work_max_ms");
    json_write_number(json, (double)now->work_max_us / 1000);
    serve_write_number(json, "crashes", now->crashes);
    serve_write_member(json, "server_address", reported != NULL ? NULL : address);
    serve_write_member(json, "reported_by", reported != NULL ? reported->host_id : NULL);
    json_write_object_end(json);
}

void serve_write_hosts(Serve *serve, JsonWriter *json, uint32_t max)
{
    static FleetHost hosts[STORE_PEERS_MAX + 1]; // the main thread's
    const uint32_t count = fleet_hosts(serve, hosts, STORE_PEERS_MAX + 1);
    json_write_name(json, "hosts");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < count && i < max; i++) {
        json_write_object_begin(json);
        serve_write_member(json, "id", hosts[i].host_id);
        serve_write_member(json, "address", hosts[i].address);
        json_write_name(json, "self");
        json_write_bool(json, hosts[i].is_self);
        json_write_name(json, "answers");
        json_write_bool(json, hosts[i].is_heard);
        json_write_name(json, "draining");
        json_write_bool(json, hosts[i].is_draining);
        serve_write_number(json, "worlds", hosts[i].worlds);
        serve_write_number(json, "players", hosts[i].players);
        serve_write_number(json, "memory_permille", hosts[i].memory);
        serve_write_number(json, "tick_permille", hosts[i].tick);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static bool answer_servers(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    char server[320];
    serve_server_name(serve, request, server, sizeof server);
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, ANSWER_MAX);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "servers");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < host_world_count(serve->host); i++) {
        const HostWorld *world = host_world_at(serve->host, i);
        const RemoteReport *reported = fleet_world_report(serve, world);
        if (host_world_link(world) != NULL || reported != NULL) {
            write_server(&answer.json, world, reported, server);
        }
    }
    json_write_array_end(&answer.json);
    serve_write_hosts(serve, &answer.json, STORE_PEERS_MAX);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
    return true;
}

void serve_admin_get_servers(void *user, HttpRequest *request, HttpResponse *response)
{
    mailbox_ask(((Serve *)user)->mailbox, request, response, answer_servers);
}

static void answer_stopped(HttpRequest *request, HttpResponse *response, const HostWorld *world,
                           HostWorldState state)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "world_id", host_world_view(world).row->world_id);
    serve_write_member(&answer.json, "state", serve_state_name(state));
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

static void refuse_not_running(HttpRequest *request, HttpResponse *response)
{
    http_fail(request, response, 409, "not_running", "the world does not run");
}

static void refuse_silent(HttpRequest *request, HttpResponse *response)
{
    http_fail(request, response, 503, "no_answer",
              "the other host does not answer, or cannot do it; look whether it was done, and try "
              "again");
}

// Of another host.
static void stopped_there(Serve *serve, void *what, const PeerReply *reply)
{
    HttpDeferred *deferred = what;
    HttpRequest *request = http_deferred_request(deferred);
    HttpResponse response = http_response_default();
    const HostWorld *world = host_world(serve->host, http_path_part(request, 0));
    if (reply == NULL) {
        refuse_silent(request, &response);
    } else if (world == NULL || reply->outcome != PEER_DONE) {
        refuse_not_running(request, &response);
    } else {
        fleet_note_stop(serve, world);
        answer_stopped(request, &response, world, WORLD_STOPPING);
    }
    http_complete(deferred, &response);
}

// A host of one world is told with the answer to its next report, another host at once. False: it
// answers later.
static bool stop_elsewhere(Serve *serve, const HostWorld *world, HttpDeferred *deferred,
                           HttpResponse *response)
{
    HttpRequest *request = http_deferred_request(deferred);
    Status status = remote_world_stop(serve, world, SERVE_STOP_REASON);
    if (status == STATUS_OK) {
        answer_stopped(request, response, world, WORLD_STOPPING);
        return true;
    }
    if (status == STATUS_NOT_FOUND) {
        status = fleet_stop_world(serve, world, stopped_there, deferred);
    }
    if (status == STATUS_LIMIT) {
        http_fail(request, response, 503, "busy",
                  "too many orders wait for the machine that runs this world; try again");
    } else if (status != STATUS_OK) {
        refuse_not_running(request, response);
    }
    return status != STATUS_OK;
}

static bool stop_server(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    HostWorld *world = host_world(serve->host, http_path_part(request, 0));
    if (world == NULL) {
        http_fail(request, response, 404, "not_found", "there is no such world here");
        return true;
    }
    if (serve->one_world != NULL) {
        http_fail(request, response, 409, "one_world",
                  "this server is this world; stop the server instead");
        return true;
    }
    if (host_world_link(world) == NULL) {
        return stop_elsewhere(serve, world, deferred, response);
    }
    host_world_shut(world, SERVE_STOP_REASON);
    answer_stopped(request, response, world, host_world_view(world).state);
    return true;
}

void serve_admin_delete_server(void *user, HttpRequest *request, HttpResponse *response)
{
    serve_act(user, "stop", stop_server, request, response);
}

// --- draining -----------------------------------------------------------------------------------

static void write_drain(HttpRequest *request, HttpResponse *response, bool is_draining)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "draining");
    json_write_bool(&answer.json, is_draining);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

bool serve_drain(Serve *serve, const char *how)
{
    const bool stops = strcmp(how, "stop") == 0, drains = stops || strcmp(how, "off") == 0;
    if (!drains && strcmp(how, "on") != 0) {
        return false;
    }
    host_drain(serve->host, drains);
    atomic_store(&serve->is_draining, drains);
    if (drains) {
        atomic_store(&serve->is_ready, false); // from now on, not from the next look
    }
    if (stops) {
        serve->stop_ns = clock_ns() + STOP_AFTER_NS;
    }
    return true;
}

static bool answer_drain(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    const Serve *serve = user;
    write_drain(http_deferred_request(deferred), response, host_is_draining(serve->host));
    return true;
}

void serve_admin_get_drain(void *user, HttpRequest *request, HttpResponse *response)
{
    mailbox_ask(((Serve *)user)->mailbox, request, response, answer_drain);
}

// What is asked of which host; "": of this one. False: the response says what is wrong.
static bool read_drain(HttpRequest *request, HttpResponse *response, const char **how,
                       char host_id[65])
{
    const bool is_undrain = strcmp(http_route(request)->method, "DELETE") == 0;
    const char *query = http_query(request, "host");
    const JsonNode *root = is_undrain ? NULL : serve_body_object(request, response);
    *how = is_undrain ? "on" : "off";
    host_id[0] = '\0';
    if (is_undrain) {
        snprintf(host_id, 65, "%s", query != NULL ? query : "");
        return true;
    }
    const JsonNode *stop = root != NULL ? json_find(root, "stop") : NULL;
    if (root == NULL || !serve_body_text(request, response, root, "host", host_id, 65)) {
        return false;
    }
    if (stop != NULL && stop->kind != JSON_BOOL) {
        http_fail(request, response, 400, "malformed", "stop is true or false");
        return false;
    }
    *how = stop != NULL && stop->boolean ? "stop" : *how;
    return true;
}

static void drained_there(Serve *serve, void *what, const PeerReply *reply)
{
    (void)serve;
    HttpDeferred *deferred = what;
    HttpRequest *request = http_deferred_request(deferred);
    HttpResponse response = http_response_default();
    if (reply == NULL || reply->outcome != PEER_DONE) {
        refuse_silent(request, &response);
    } else {
        write_drain(request, &response, strcmp(http_route(request)->method, "DELETE") != 0);
    }
    http_complete(deferred, &response);
}

static bool change_drain(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    const char *how;
    char host_id[65];
    if (!read_drain(request, response, &how, host_id)) {
        return true;
    }
    if (host_id[0] == '\0' || strcmp(host_id, serve->host->config.host_id) == 0) {
        (void)serve_drain(serve, how);
        return answer_drain(user, deferred, response);
    }
    const Status status = fleet_drain(serve, host_id, how, drained_there, deferred);
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found",
                  "there is no such host; GET /admin/servers lists them");
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "busy", "too much work waits; try again");
    }
    return status != STATUS_OK;
}

void serve_admin_post_drain(void *user, HttpRequest *request, HttpResponse *response)
{
    const char *how;
    char host_id[65];
    if (read_drain(request, response, &how, host_id)) {
        serve_act(user, strcmp(how, "stop") == 0 ? "drain and stop" : "drain", change_drain,
                  request, response);
    }
}

void serve_admin_delete_drain(void *user, HttpRequest *request, HttpResponse *response)
{
    serve_act(user, "undrain", change_drain, request, response);
}

// --- sign-ins -----------------------------------------------------------------------------------

// As its world says: null if it plays in none of this machine, or has not been sent any scripts.
static void write_verdicts(JsonWriter *json, const ClientVerdicts *said)
{
    json_write_name(json, "scripts");
    if (said == NULL || said->version == 0) {
        json_write_null(json);
        return;
    }
    json_write_object_begin(json);
    serve_write_number(json, "version", said->version);
    serve_write_number(json, "wanted", said->wanted);
    serve_write_number(json, "verified", said->verified);
    serve_write_number(json, "failed", said->failed);
    json_write_name(json, "settled");
    json_write_bool(json, said->is_settled);
    json_write_object_end(json);
}

static void write_session(const Serve *serve, JsonWriter *json, const ControlSignIn *sign_in)
{
    char id[32];
    const HostWorld *here = host_account_world(serve->host, sign_in->who.account);
    const char *elsewhere = remote_world_of(serve, sign_in->who.account);
    const ClientVerdicts *client =
        here != NULL ? host_world_client(here, sign_in->who.account) : NULL;
    serve_account_text(sign_in->who.account, sign_in->who.is_guest, id);
    json_write_object_begin(json);
    serve_write_member(json, "account", id);
    serve_write_member(json, "username", sign_in->who.shown_name);
    json_write_name(json, "guest");
    json_write_bool(json, sign_in->who.is_guest);
    serve_write_member(json, "kind", sign_in->who.kind == SIGN_IN_TOKEN ? "token" : "session");
    serve_write_member(json, "token_name",
                       sign_in->token_name[0] != '\0' ? sign_in->token_name : NULL);
    serve_write_time(json, "since", sign_in->created_unix_ms);
    serve_write_time(json, "last_used", sign_in->used_unix_ms);
    serve_write_time(json, "expires", sign_in->expires_unix_ms);
    serve_write_member(json, "world_id",
                       here != NULL ? host_world_view(here).row->world_id : elsewhere);
    json_write_name(json, "is_reported");
    json_write_bool(json, here == NULL && elsewhere != NULL);
    json_write_name(json, "is_playing");
    json_write_bool(json, here != NULL ? client != NULL : elsewhere != NULL);
    write_verdicts(json, client);
    json_write_object_end(json);
}

static bool answer_sessions(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    const Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    const char *wanted = http_query(request, "account");
    uint64_t account = 0;
    if (wanted != NULL && !serve_account_read(wanted, &account)) {
        http_fail(request, response, 400, "malformed", "account is a client_id, as user_1f");
        return true;
    }
    ControlSignIn *rows = malloc(SESSIONS_MAX * sizeof *rows);
    ServeAnswer answer;
    http_keep(request, rows);
    if (rows == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return true;
    }
    serve_answer_begin_large(&answer, request, ANSWER_MAX);
    json_write_object_begin(&answer.json);
    const uint32_t total =
        serve->control != NULL ? control_sign_ins(serve->control, account, rows, SESSIONS_MAX) : 0;
    json_write_name(&answer.json, "sessions");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < total && i < SESSIONS_MAX; i++) {
        write_session(serve, &answer.json, &rows[i]);
    }
    json_write_array_end(&answer.json);
    serve_write_number(&answer.json, "total", total);
    serve_write_number(&answer.json, "sockets", http_stats(serve->http).sockets);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
    return true;
}

void serve_admin_get_sessions(void *user, HttpRequest *request, HttpResponse *response)
{
    mailbox_ask(((Serve *)user)->mailbox, request, response, answer_sessions);
}

void serve_admin_post_cleanup(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreSwept swept = {0};
    Collected collected;
    if (!serve_record(serve, "cleanup", request, response)) {
        return;
    }
    if (serve->control != NULL && control_sweep(serve->control, &swept) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "nothing could be removed; try again");
        return;
    }
    const Status status = serve_collect(serve, &collected);
    if (status != STATUS_OK && status != STATUS_EXISTS) { // a backup keeps all blobs
        http_fail(request, response, 503, "unavailable", "not all could be removed; try again");
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_number(&answer.json, "sign_ins", swept.sign_ins);
    serve_write_number(&answer.json, "guests", swept.guests);
    serve_write_number(&answer.json, "links", swept.links);
    serve_write_number(&answer.json, "places", collected.places);
    serve_write_number(&answer.json, "blobs", collected.blobs.removed);
    serve_write_number(&answer.json, "blob_bytes", collected.blobs.bytes);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

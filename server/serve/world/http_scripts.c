// GET /api/worlds/<id>/scripts: what the scripts of a world cost, and how they fail. Paths and
// faults of server scripts are their creator's alone: the owner of a private world does not see
// them, and to whoever may not, there is no such world.
//
// With follow=1 the answer waits until there is more than the version that `after` names, so a page
// that asks again and again hears of a fault at once and of numbers once a second. Those who wait
// are the main thread's.
#define _GNU_SOURCE
#include "server/control/order/rights.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/place/places.h"
#include "server/serve/remote/serve_fleet.h"
#include "server/serve/world/http_world.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define WAIT_SECONDS      30
#define ELSEWHERE_SECONDS 5 // for the first table of a world on another machine

// --- who may ------------------------------------------------------------------------------------

// A token of a tool must be one for creating; operators' rights look at that themselves.
static bool is_too_narrow(const Identity *who)
{
    return who->kind == SIGN_IN_TOKEN && (who->scope & (SCOPE_CREATE | SCOPE_OPERATE)) == 0;
}

bool serve_owns_scripts(const Serve *serve, const Identity *who, const StoreWorld *row)
{
    StorePackage package;
    uint32_t rights = 0;
    char package_id[PLACE_KEY_BYTES];
    if (is_too_narrow(who)) {
        return false;
    }
    place_id_package(row->place_id, package_id);
    return rights_find(serve->store, package_id, who, &package, &rights) == STATUS_OK &&
           (rights & RIGHT_EDIT) != 0;
}

// Reads the database.
static bool owns_scripts(const Serve *serve, const HttpRequest *request)
{
    StoreWorld row;
    return store_world_find(serve->store, http_path_part(request, 0), &row) == STATUS_OK &&
           serve_owns_scripts(serve, serve_who(request), &row);
}

// --- answers ------------------------------------------------------------------------------------

static void refuse(HttpRequest *request, HttpResponse *response)
{
    http_fail(request, response, 404, "not_found",
              "there is no such world here, or its scripts are not yours to see");
}

// `is_reported`: a host on another machine says so.
static void write_table(Serve *serve, const HostWorld *world, const ScriptTable *table,
                        uint64_t version, bool is_reported, HttpRequest *request,
                        HttpResponse *response)
{
    static const ScriptTable nothing;
    ByteWriter writer = byte_writer(serve_text(serve), SERVE_TEXT_BYTES);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    serve_write_number(&json, "version", version);
    serve_write_number(&json, "epoch", host_world_view(world).epoch);
    json_write_name(&json, "reported");
    json_write_bool(&json, is_reported);
    script_table_json(table != NULL ? table : &nothing, &json);
    json_write_object_end(&json);
    serve_text_answer(serve, &json, &writer, request, response);
}

// A host on another machine tells them only while somebody asks, so the first answer waits too.
static bool try_elsewhere(Serve *serve, const ServeScriptWait *wait, const HostWorld *world,
                          bool is_last, HttpResponse *response)
{
    HttpRequest *request = http_deferred_request(wait->deferred);
    uint64_t version = 0;
    const ScriptTable *table = fleet_world_scripts(serve, wait->world_id, &version);
    if (table != NULL && (is_last || version != wait->after)) {
        write_table(serve, world, table, version, true, request, response);
        return true;
    }
    if (is_last) {
        http_fail(request, response, 503, "not_reported",
                  "the host of the world, on another machine, has not said what its scripts cost");
    }
    return is_last;
}

// False: it has to wait, because there is nothing new.
static bool try_answer(Serve *serve, const ServeScriptWait *wait, bool is_last,
                       HttpResponse *response)
{
    HttpRequest *request = http_deferred_request(wait->deferred);
    const HostWorld *world = host_world(serve->host, wait->world_id);
    if (world == NULL) {
        refuse(request, response);
    } else if (fleet_world_is_elsewhere(serve, wait->world_id)) {
        return try_elsewhere(serve, wait, world, is_last, response);
    } else if (!host_world_is_ready(world)) {
        http_fail(request, response, 503, "not_running",
                  "the world does not run on this machine now");
    } else if (!is_last && host_world_scripts_version(world) == wait->after) {
        return false;
    } else {
        write_table(serve, world, host_world_scripts(world), host_world_scripts_version(world),
                    false, request, response);
    }
    return true;
}

static bool has_room(const Serve *serve, const char *world_id)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < serve->script_wait_count; i++) {
        same += strcmp(serve->script_waits[i].world_id, world_id) == 0;
    }
    return serve->script_wait_count < SERVE_SCRIPT_WAITS_MAX && same < SERVE_SCRIPT_WAITS_OF_WORLD;
}

static bool answer_scripts(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    uint64_t follow = 0;
    ServeScriptWait wait = {.deferred = deferred,
                            .after = UINT64_MAX,
                            .deadline_ns = clock_ns() + WAIT_SECONDS * HOST_SECOND_NS};
    if (!serve_query_number(request, "follow", 1, &follow) ||
        !serve_query_number(request, "after", INT64_MAX, &wait.after)) {
        http_fail(request, response, 400, "malformed",
                  "follow is 0 or 1, after is the version of an earlier answer");
        return true;
    }
    snprintf(wait.world_id, sizeof wait.world_id, "%s", http_path_part(request, 0));
    if (follow == 0 && fleet_world_is_elsewhere(serve, wait.world_id)) {
        wait.after = UINT64_MAX;
        wait.deadline_ns = clock_ns() + ELSEWHERE_SECONDS * HOST_SECOND_NS;
        follow = 1;
    }
    if (try_answer(serve, &wait, follow == 0, response)) {
        return true;
    }
    if (!has_room(serve, wait.world_id)) {
        http_fail(request, response, 429, "too_many", "too many follow scripts already");
        return true;
    }
    serve->script_waits[serve->script_wait_count++] = wait;
    return false;
}

typedef struct ScriptsAsk {
    Serve *serve;
    HttpDeferred *deferred;
    MailHandler answer;
} ScriptsAsk;

// On the pool.
static void ask_store(void *user, bool is_cancelled)
{
    const ScriptsAsk ask = *(const ScriptsAsk *)user; // it is the request's, and gone with it
    HttpResponse response = http_response_default();
    HttpRequest *request = http_deferred_request(ask.deferred);
    if (is_cancelled) {
        http_fail(request, &response, 503, "stopping", "this server is going down");
    } else if (owns_scripts(ask.serve, request)) {
        mailbox_pass(ask.serve->mailbox, ask.deferred, ask.answer);
        return;
    } else {
        refuse(request, &response);
    }
    http_complete(ask.deferred, &response);
}

void serve_get_scripts(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (serve_is_development(serve, request) && http_origin_is_allowed(request)) {
        mailbox_ask(serve->mailbox, request, response, answer_scripts);
        return;
    }
    if (serve->control == NULL || serve_who(request) == NULL) {
        refuse(request, response);
        return;
    }
    ScriptsAsk *ask = arena_alloc(http_arena(request), sizeof *ask);
    HttpDeferred *deferred = ask != NULL ? http_defer(request, response) : NULL;
    if (deferred == NULL) {
        if (ask == NULL) {
            http_fail(request, response, 503, "busy", "out of memory; try again");
        }
        return; // or the response says why not
    }
    *ask = (ScriptsAsk){serve, deferred, answer_scripts};
    if (work_pool_submit(serve->pool, ask_store, ask) != STATUS_OK) {
        HttpResponse busy = http_response_default();
        http_fail(request, &busy, 503, "busy", "too much work waits; try again");
        http_complete(deferred, &busy);
    }
}

// --- those who wait -----------------------------------------------------------------------------

static bool answer_at_last(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    ServeScriptWait wait = {.deferred = deferred, .after = UINT64_MAX};
    snprintf(wait.world_id, sizeof wait.world_id, "%s",
             http_path_part(http_deferred_request(deferred), 0));
    (void)try_answer(user, &wait, true, response);
    return true;
}

// There is something to say, or it was waited for long enough.
static bool is_due(Serve *serve, const ServeScriptWait *wait)
{
    const HostWorld *world = host_world(serve->host, wait->world_id);
    uint64_t version = 0;
    if (world == NULL || clock_ns() >= wait->deadline_ns || host_is_stopping(serve->host)) {
        return true;
    }
    if (fleet_world_is_elsewhere(serve, wait->world_id)) {
        return fleet_world_scripts(serve, wait->world_id, &version) != NULL &&
               version != wait->after;
    }
    return !host_world_is_ready(world) || host_world_scripts_version(world) != wait->after;
}

// Who waited may have lost the right meanwhile, so they are asked once more.
static void answer_wait(Serve *serve, HttpDeferred *deferred)
{
    HttpRequest *request = http_deferred_request(deferred);
    HttpResponse response = http_response_default();
    ScriptsAsk *ask = arena_alloc(http_arena(request), sizeof *ask);
    if (serve_is_development(serve, request)) {
        (void)answer_at_last(serve, deferred, &response);
    } else if (ask == NULL) {
        http_fail(request, &response, 503, "busy", "out of memory; try again");
    } else {
        *ask = (ScriptsAsk){serve, deferred, answer_at_last};
        if (work_pool_submit(serve->pool, ask_store, ask) == STATUS_OK) {
            return;
        }
        http_fail(request, &response, 503, "busy", "too much work waits; try again");
    }
    http_complete(deferred, &response);
}

void serve_scripts_step(Serve *serve)
{
    for (uint32_t i = 0; i < serve->script_wait_count;) {
        const ServeScriptWait wait = serve->script_waits[i];
        if (!is_due(serve, &wait)) {
            i += 1;
            continue;
        }
        serve->script_waits[i] = serve->script_waits[--serve->script_wait_count];
        answer_wait(serve, wait.deferred);
    }
}

void serve_scripts_stop(Serve *serve)
{
    for (uint32_t i = 0; i < serve->script_wait_count; i++) {
        const HttpResponse response = http_response_default();
        http_complete(serve->script_waits[i].deferred, &response);
    }
    serve->script_wait_count = 0;
}

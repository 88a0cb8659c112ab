// Making room: places go into the trash and out of it for good, revisions that nobody needs are
// deleted. All of this waits for the disk, and runs on the pool.
#define _GNU_SOURCE
#include "server/serve/edit/edit_drafts.h"
#include "server/serve/place/place_build.h"
#include "server/serve/place/places.h"
#include "server/serve/publish/http_draft.h"
#include "server/serve/publish/http_place.h"
#include "server/store/people/store_audit.h"
#include "server/store/people/store_person.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <string.h>

// What is gone for good is in the audit, whoever did it. False: the response says that it cannot be
// written, and nothing may go.
static bool record(Serve *serve, HttpRequest *request, HttpResponse *response, const char *action,
                   const char *detail)
{
    StoreAudit row = {.unix_ms = clock_unix_ms(), .account_id = serve_who(request)->account};
    snprintf(row.action, sizeof row.action, "%s", action);
    snprintf(row.detail, sizeof row.detail, "%s", detail);
    const Status status = store_audit_add(serve->store, &row);
    if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status == STATUS_OK;
}

// --- the trash ----------------------------------------------------------------------------------

static void answer_trashed(HttpRequest *request, HttpResponse *response,
                           const StorePackage *package, bool is_gone)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "place_id", package->package_id);
    serve_write_time(&answer.json, "trashed_at", package->trashed_unix_ms);
    json_write_name(&answer.json, "purged");
    json_write_bool(&answer.json, is_gone);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// Only what is in the trash already: nothing goes for good by one request.
static void purge(Serve *serve, HttpRequest *request, HttpResponse *response,
                  const StorePackage *package)
{
    char detail[128];
    if (package->trashed_unix_ms == 0) {
        http_fail(request, response, 409, "not_in_trash",
                  "only what is in the trash can be deleted for good; delete it without purge "
                  "first");
        return;
    }
    snprintf(detail, sizeof detail, "place_id=%s", package->package_id);
    if (!record(serve, request, response, "purge", detail)) {
        return;
    }
    edit_draft_end(serve, package->package_id);
    const Status status = store_package_delete(serve->store, package->package_id);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        place_refuse_store(request, response, status);
        return;
    }
    status_ignore(draft_remove(serve->drafts, package->package_id)); // or with the next sweep
    serve_place_changed(serve, package->package_id);
    answer_trashed(request, response, package, true);
}

void serve_delete_place(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    const char *wish = http_query(request, "purge");
    if (!place_enter(serve, request, response, RIGHT_OWN, &ask)) {
        return;
    }
    if (wish != NULL && strcmp(wish, "1") != 0) {
        http_fail(request, response, 400, "malformed", "purge is 1, or not there");
        return;
    }
    if (ask.package.owner_id == STORE_BUILT_IN_ACCOUNT && ask.package.trashed_unix_ms == 0) {
        http_fail(request, response, 409, "built_in",
                  "this place came with the server; remove its folder instead");
        return;
    }
    if (!place_matches(request, response, &ask.package)) {
        return;
    }
    if (wish != NULL) {
        purge(serve, request, response, &ask.package);
        return;
    }
    if (ask.package.trashed_unix_ms == 0) {
        ask.package.trashed_unix_ms = clock_unix_ms();
        if (!place_change(serve, request, response, &ask.package)) {
            return;
        }
        serve_place_changed(serve, ask.package.package_id);
    }
    answer_trashed(request, response, &ask.package, false);
}

// --- revisions ----------------------------------------------------------------------------------

typedef struct Loaded {
    const char *place_id;
    uint32_t number;
} Loaded;

// Also as a beta, and one that another revision replaced while worlds run with it.
static bool is_loaded(void *user, const ServePlace *place)
{
    const Loaded *wanted = user;
    char id[PLACE_KEY_BYTES];
    place_id_package(place->place->place_id, id);
    return place->number == wanted->number && strcmp(id, wanted->place_id) == 0;
}

static void refuse_revision(HttpRequest *request, HttpResponse *response, Status status)
{
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such revision");
    } else if (status == STATUS_DENIED) {
        http_fail(request, response, 409, "in_use",
                  "a channel names this revision; let it name another one first");
    } else if (status == STATUS_BLOCKED) {
        http_fail(request, response, 409, "building",
                  "this revision is being built; cancel its job first");
    } else {
        place_refuse_store(request, response, status);
    }
}

void serve_delete_revision(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreRevision revision;
    char detail[128];
    if (!place_enter_revision(serve, request, response, RIGHT_EDIT, &ask, &revision)) {
        return;
    }
    Loaded wanted = {ask.package.package_id, revision.revision};
    ServePlace *place = places_find(serve, is_loaded, &wanted);
    const bool is_running = place != NULL;
    serve_place_release(place);
    if (is_running) {
        http_fail(request, response, 409, "in_use",
                  "worlds run with this revision; try again when they have ended");
        return;
    }
    snprintf(detail, sizeof detail, "place_id=%s revision=%u", ask.package.package_id,
             revision.revision);
    if (!record(serve, request, response, "revision.delete", detail)) {
        return;
    }
    const Status status =
        store_revision_delete(serve->store, ask.package.package_id, revision.revision);
    if (status != STATUS_OK) {
        refuse_revision(request, response, status);
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "place_id", ask.package.package_id);
    place_write_revision_id(&answer.json, "revision_id", revision.revision);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- drafts -------------------------------------------------------------------------------------

void serve_delete_draft(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    char detail[128];
    if (!place_enter(serve, request, response, RIGHT_EDIT, &ask)) {
        return;
    }
    if ((ask.rights & RIGHT_OWN) == 0) {
        http_fail(request, response, 403, "denied",
                  "only the owner of the place can throw its draft and the history away; editors "
                  "can delete single files, which stay in the history");
        return;
    }
    if (!draft_exists(serve->drafts, ask.package.package_id)) {
        http_fail(request, response, 404, "not_found", "this place has no draft");
        return;
    }
    snprintf(detail, sizeof detail, "place_id=%s", ask.package.package_id);
    if (!record(serve, request, response, "draft.delete", detail)) {
        return;
    }
    edit_draft_end(serve, ask.package.package_id);
    const Status status = draft_discard(serve->drafts, ask.package.package_id);
    if (status == STATUS_NOT_FOUND) { // somebody else did at the same time
        http_fail(request, response, 404, "not_found", "this place has no draft");
        return;
    }
    if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
        return;
    }
    serve_place_changed(serve, ask.package.package_id); // its worlds end
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "place_id", ask.package.package_id);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

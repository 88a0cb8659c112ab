// Handing out: every pupil of a class gets a place of their own, marked with the class, with a
// draft from a template or from a place of the teacher. What was handed out is told apart by where
// it came from and its title: doing it again gives it to those who do not have it yet, and makes
// whole what was cut short.
#define _GNU_SOURCE
#include "server/build/package/package.h"
#include "server/build/place/template.h"
#include "server/control/order/class.h"
#include "server/control/order/rights.h"
#include "server/serve/http/body.h"
#include "server/serve/order/http_order.h"
#include "server/serve/people/http_class.h"
#include "server/serve/place/places.h"
#include "server/serve/publish/http_place.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX         100
#define LIST_BYTES       (256u << 10)
#define ID_TRIES         4
#define DEFAULT_TEMPLATE "blank"

typedef struct Handout {
    Serve *serve;
    const StoreClass *class;
    uint64_t maker;
    char title[STORE_TITLE_BYTES], template[64], place_id[65];
    char key[STORE_HANDOUT_BYTES];
    PlaceFolder files; // of place_id
    uint32_t given, had, failed;
    char reason[WORKER_REASON_BYTES]; // of the last one that failed
} Handout;

// --- what is handed out -------------------------------------------------------------------------

typedef struct DraftReading {
    const char *folder;
    PlaceFolder *files;
    char *reason;
} DraftReading;

// While nobody writes into the draft.
static Status read_draft(void *user)
{
    DraftReading *reading = user;
    return place_folder_read_all(reading->folder, reading->files, reading->reason);
}

static Status read_revision(Handout *handout, const StorePackage *package)
{
    Serve *serve = handout->serve;
    StoreRevision revision;
    uint8_t *bytes = NULL;
    size_t count = 0;
    Worker *worker = NULL;
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = serve->config.allow_weak_jail;
    Status status =
        store_revision_find(serve->store, package->package_id, package->last_revision, &revision);
    status = status == STATUS_OK
                 ? blob_read(serve->blobs, revision.package_hash, PACKAGE_BYTES_MAX, &bytes, &count)
                 : status;
    status = status == STATUS_OK ? worker_create(&config, &worker) : status;
    if (status == STATUS_OK) {
        DiagnosticList problems = {0};
        const BuildContext context = {
            .worker = worker, .diagnostics = &problems, .reason = handout->reason};
        status = package_read(&context, bytes, count, &handout->files);
        diagnostic_list_free(&problems);
    }
    worker_destroy(worker);
    free(bytes);
    return status;
}

// The draft, for who may read that, or else the newest revision.
static bool read_place(Handout *handout, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = handout->serve;
    StorePackage package;
    uint32_t rights = 0;
    char folder[DRAFT_PATH_BYTES];
    Status status =
        rights_find(serve->store, handout->place_id, serve_who(request), &package, &rights);
    if (status != STATUS_OK || package.kind != STORE_PLACE || (rights & RIGHT_READ) == 0) {
        http_fail(request, response, 404, "not_found", "there is no such place, or it is not open");
        return false;
    }
    if ((rights & RIGHT_DRAFT) != 0 && draft_exists(serve->drafts, package.package_id) &&
        draft_folder(serve->drafts, package.package_id, folder) == STATUS_OK) {
        DraftReading reading = {folder, &handout->files, handout->reason};
        status = draft_change(serve->drafts, package.package_id, "place.json", handout->maker,
                              read_draft, &reading);
    } else {
        status = read_revision(handout, &package);
    }
    if (status != STATUS_OK) {
        http_fail(request, response, status == STATUS_NOT_FOUND ? 404 : 503,
                  status == STATUS_NOT_FOUND ? "not_found" : "unavailable",
                  status == STATUS_NOT_FOUND ? "this place has neither a draft nor a revision"
                                             : "the place cannot be read now; try again");
    }
    return status == STATUS_OK;
}

static Status fill(void *user, const char *folder, char reason[WORKER_REASON_BYTES])
{
    const Handout *handout = user;
    uint32_t count;
    return handout->place_id[0] != '\0'
               ? package_unpack(&handout->files, folder, reason)
               : template_write(folder, handout->template, false, NULL, &count, reason);
}

static void make_key(Handout *handout)
{
    char text[sizeof handout->title + sizeof handout->template + sizeof handout->place_id + 16];
    char hex[2 * SHA256_BYTES + 1];
    uint8_t hash[SHA256_BYTES];
    snprintf(text, sizeof text, "%s %s\n%s", handout->place_id[0] != '\0' ? "place" : "template",
             handout->place_id[0] != '\0' ? handout->place_id : handout->template, handout->title);
    sha256_of(text, strlen(text), hash);
    sha256_hex(hash, hex);
    snprintf(handout->key, sizeof handout->key, "%.32s", hex);
}

// --- to whom ------------------------------------------------------------------------------------

static Status make_place(Handout *handout, uint64_t account, StorePackage *out)
{
    Serve *serve = handout->serve;
    Status status = STATUS_EXISTS;
    *out = (StorePackage){.kind = STORE_PLACE,
                          .owner_id = account,
                          .visibility = STORE_PRIVATE,
                          .created_unix_ms = clock_unix_ms(),
                          .updated_unix_ms = clock_unix_ms()};
    snprintf(out->title, sizeof out->title, "%s", handout->title);
    for (uint32_t i = 0; i < ID_TRIES && status == STATUS_EXISTS; i++) {
        place_make_id(handout->title, out->package_id);
        status = store_class_place_make(serve->store, out, handout->class->class_id, handout->key,
                                        PACKAGES_PER_ACCOUNT_MAX);
    }
    return status == STATUS_OK
               ? control_class_place(serve->control, handout->class->class_id, out->package_id)
               : status;
}

static void hand_one(Handout *handout, uint64_t account)
{
    Serve *serve = handout->serve;
    StorePackage package;
    Status status =
        store_class_handed(serve->store, handout->class->class_id, handout->key, account, &package);
    const bool is_new = status == STATUS_NOT_FOUND;
    if (status == STATUS_OK &&
        (package.trashed_unix_ms != 0 || draft_exists(serve->drafts, package.package_id))) {
        handout->had += 1;
        return;
    }
    status = is_new ? make_place(handout, account, &package) : status;
    if (status == STATUS_OK) {
        status = draft_make(serve->drafts, package.package_id, handout->maker, fill, handout,
                            handout->reason);
        if (status != STATUS_OK && is_new) {
            status_ignore(store_package_delete(serve->store, package.package_id)); // it is empty
        }
    } else {
        snprintf(handout->reason, sizeof handout->reason, "%s",
                 status == STATUS_LIMIT ? "a pupil has as many places as one may have"
                                        : "a place could not be stored");
    }
    handout->given += status == STATUS_OK;
    handout->failed += status != STATUS_OK;
}

static void hand_all(Handout *handout, HttpRequest *request, HttpResponse *response)
{
    uint32_t count = 0;
    StorePupil *pupils = calloc(CLASS_PUPILS_MAX, sizeof *pupils);
    http_keep(request, pupils);
    if (pupils == NULL || store_pupils(handout->serve->store, handout->class->class_id, pupils,
                                       CLASS_PUPILS_MAX, &count) != STATUS_OK) {
        place_refuse_store(request, response, STATUS_BLOCKED);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        hand_one(handout, pupils[i].account_id);
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "handout", handout->key);
    serve_write_number(&answer.json, "given", handout->given);
    serve_write_number(&answer.json, "had", handout->had);
    serve_write_number(&answer.json, "failed", handout->failed);
    serve_write_member(&answer.json, "reason", handout->failed > 0 ? handout->reason : NULL);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

static bool read_handout(Handout *handout, HttpRequest *request, HttpResponse *response)
{
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL ||
        !serve_body_text(request, response, body, "title", handout->title, sizeof handout->title) ||
        !serve_body_text(request, response, body, "template", handout->template,
                         sizeof handout->template) ||
        !serve_body_text(request, response, body, "place_id", handout->place_id,
                         sizeof handout->place_id)) {
        return false;
    }
    const bool has_both = handout->template[0] != '\0' && handout->place_id[0] != '\0';
    if (handout->template[0] == '\0') {
        snprintf(handout->template, sizeof handout->template, DEFAULT_TEMPLATE);
    }
    if (has_both || !template_exists(handout->template)) {
        http_fail(request, response, 400, "template",
                  has_both ? "name a place or a template, not both" : "there is no such template");
        return false;
    }
    return true;
}

void serve_post_handout(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    Handout *handout = calloc(1, sizeof *handout);
    http_keep(request, handout);
    if (handout == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    handout->serve = serve;
    handout->class = &class;
    if (!read_handout(handout, request, response) ||
        !class_enter(serve, request, response, &class) ||
        !place_check_title(request, response, handout->title) ||
        serve_refuse_words(serve, request, response, "title", handout->title) ||
        serve_refuse_upload(serve, serve->data, request, response)) {
        return;
    }
    handout->maker = serve_who(request)->account;
    make_key(handout);
    if (handout->place_id[0] != '\0' && !read_place(handout, request, response)) {
        place_folder_free(&handout->files);
        return;
    }
    if (class_lock(serve, request, response, &class)) {
        if (class_record(serve, request, response, "handout", class.class_id, handout->key)) {
            hand_all(handout, request, response);
        }
        class_unlock(serve, &class);
    }
    place_folder_free(&handout->files);
}

// --- what they have -----------------------------------------------------------------------------

static void write_place(Serve *serve, JsonWriter *json, const StorePackage *package)
{
    StoreAccount account;
    const bool is_known =
        store_account_find(serve->store, package->owner_id, &account) == STATUS_OK;
    json_write_object_begin(json);
    serve_write_member(json, "place_id", package->package_id);
    serve_write_member(json, "title", package->title);
    serve_write_number(json, "account", package->owner_id);
    serve_write_member(json, "username", is_known ? account.name : NULL);
    serve_write_member(json, "shown_name", is_known ? account.shown_name : NULL);
    place_write_revision_id(json, "live", package->live);
    json_write_name(json, "draft");
    json_write_bool(json, draft_exists(serve->drafts, package->package_id));
    serve_write_time(json, "updated_at", package->updated_unix_ms);
    json_write_object_end(json);
}

void serve_get_class_places(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    const char *after = http_query(request, "after");
    uint64_t limit = LIST_MAX;
    uint32_t count = 0;
    if (!class_enter(serve, request, response, &class)) {
        return;
    }
    if (!serve_query_number(request, "limit", LIST_MAX, &limit) || limit == 0) {
        http_fail(request, response, 400, "malformed", "limit is a number from 1 to 100");
        return;
    }
    StorePackage *packages = calloc(LIST_MAX, sizeof *packages);
    http_keep(request, packages);
    if (packages == NULL ||
        store_class_places(serve->store, class.class_id, after != NULL ? after : "", packages,
                           (uint32_t)limit, &count) != STATUS_OK) {
        place_refuse_store(request, response, STATUS_BLOCKED);
        return;
    }
    ServeAnswer answer;
    place_answer_begin(&answer, request, LIST_BYTES);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "places");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count; i++) {
        write_place(serve, &answer.json, &packages[i]);
    }
    json_write_array_end(&answer.json);
    serve_write_member(&answer.json, "next",
                       count == limit ? packages[count - 1].package_id : NULL);
    json_write_object_end(&answer.json);
    place_answer_end(&answer, response);
}

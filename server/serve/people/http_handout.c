// Handing out: every pupil of a class gets a place of their own, marked with the class, with a
// draft from a template or from a place of the teacher. What was handed out is told apart by where
// it came from and its title: doing it again gives it to those who do not have it yet, and makes
// whole what was cut short.
//
// It is a job on the pool, a few pupils at a time, so that other work comes in between. Its row
// says how far it is (store_handout.h); one that runs when the process ends goes on at the next
// start. Who cancels it marks the row; the job sees the mark after its next few pupils and ends.
// Those who have their place keep it.
#define _GNU_SOURCE
#include "server/build/package/package.h"
#include "server/build/place/template.h"
#include "server/control/order/class.h"
#include "server/control/order/rights.h"
#include "server/serve/edit/edit_drafts.h"
#include "server/serve/http/body.h"
#include "server/serve/listing/listing_feed.h"
#include "server/serve/order/http_order.h"
#include "server/serve/people/http_class.h"
#include "server/serve/place/places.h"
#include "server/serve/publish/http_draft.h"
#include "server/serve/publish/http_place.h"
#include "server/store/people/store_handout.h"
#include "server/store/place/store_publish.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX         100
#define LIST_BYTES       (256u << 10)
#define ID_TRIES         4
#define PUPILS_PER_STEP  4
#define JOBS_MAX         16
#define DEFAULT_TEMPLATE "blank"

typedef struct Handout {
    Serve *serve;
    StoreHandout row;
    StorePupil *pupils;
    uint32_t pupil_count, at;
    bool is_loaded;
    PlaceFolder files; // of row.place_id
    char reason[WORKER_REASON_BYTES];
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

// The place, if the maker may still read it: the draft, for who may read that, or else the newest
// revision. After a restart it is read again, as it is then.
static Status read_place(Handout *handout)
{
    Serve *serve = handout->serve;
    StorePackage package;
    StoreAccount maker;
    uint32_t rights = 0;
    char folder[DRAFT_PATH_BYTES];
    Status status = store_account_find(serve->store, handout->row.maker_id, &maker);
    if (status == STATUS_OK) {
        const Identity who = {.account = maker.account_id, .roles = maker.roles};
        status = rights_find(serve->store, handout->row.place_id, &who, &package, &rights);
    }
    if (status != STATUS_OK || (rights & RIGHT_READ) == 0) {
        return STATUS_NOT_FOUND;
    }
    if ((rights & RIGHT_DRAFT) != 0 && draft_exists(serve->drafts, package.package_id) &&
        draft_folder(serve->drafts, package.package_id, folder) == STATUS_OK) {
        DraftReading reading = {folder, &handout->files, handout->reason};
        EditHold *hold = edit_hold(serve, package.package_id, &status); // all that editors did
        status = draft_change(serve->drafts, package.package_id, "place.json",
                              handout->row.maker_id, read_draft, &reading);
        edit_release(hold);
        return status;
    }
    return read_revision(handout, &package);
}

static Status fill(void *user, const char *folder, char reason[WORKER_REASON_BYTES])
{
    const Handout *handout = user;
    return handout->row.place_id[0] != '\0'
               ? package_unpack(&handout->files, folder, reason)
               : draft_fill_template(folder, handout->row.template, false, handout->row.title,
                                     reason);
}

static void make_key(StoreHandout *row)
{
    char text[sizeof row->title + sizeof row->template + sizeof row->place_id + 16];
    char hex[2 * SHA256_BYTES + 1];
    uint8_t hash[SHA256_BYTES];
    snprintf(text, sizeof text, "%s %s\n%s", row->place_id[0] != '\0' ? "place" : "template",
             row->place_id[0] != '\0' ? row->place_id : row->template, row->title);
    sha256_of(text, strlen(text), hash);
    sha256_hex(hash, hex);
    snprintf(row->handout, sizeof row->handout, "%.32s", hex);
}

// --- to whom ------------------------------------------------------------------------------------

static Status make_place(Handout *handout, uint64_t account, StorePackage *out)
{
    Serve *serve = handout->serve;
    const StoreHandout *row = &handout->row;
    Status status = STATUS_EXISTS;
    *out = (StorePackage){.kind = STORE_PLACE,
                          .owner_id = account,
                          .visibility = STORE_PRIVATE,
                          .created_unix_ms = clock_unix_ms(),
                          .updated_unix_ms = clock_unix_ms()};
    snprintf(out->title, sizeof out->title, "%s", row->title);
    for (uint32_t i = 0; i < ID_TRIES && status == STATUS_EXISTS; i++) {
        place_make_id(row->title, out->package_id);
        status = store_class_place_make(serve->store, out, row->class_id, row->handout,
                                        PACKAGES_PER_ACCOUNT_MAX);
    }
    return status == STATUS_OK ? control_class_place(serve->control, row->class_id, out->package_id)
                               : status;
}

// What was made since this began was given by it, also in an earlier life of the process.
static void count_had(Handout *handout, const StorePackage *package)
{
    const bool is_ours = package->created_unix_ms >= handout->row.created_unix_ms;
    handout->row.given += is_ours;
    handout->row.had += !is_ours;
}

static void hand_one(Handout *handout, uint64_t account)
{
    Serve *serve = handout->serve;
    StoreHandout *row = &handout->row;
    StorePackage package;
    StorePupil pupil;
    if (store_pupil_find(serve->store, row->class_id, account, &pupil) == STATUS_NOT_FOUND) {
        row->total -= 1; // they were taken out meanwhile
        return;
    }
    Status status =
        store_class_handed(serve->store, row->class_id, row->handout, account, &package);
    const bool is_new = status == STATUS_NOT_FOUND;
    if (status == STATUS_OK &&
        (package.trashed_unix_ms != 0 || draft_exists(serve->drafts, package.package_id))) {
        count_had(handout, &package);
        return;
    }
    status = is_new ? make_place(handout, account, &package) : status;
    if (status == STATUS_OK) {
        status = draft_make(serve->drafts, package.package_id, row->maker_id, fill, handout,
                            handout->reason);
        if (status != STATUS_OK && is_new) {
            status_ignore(store_package_delete(serve->store, package.package_id)); // it is empty
        }
    } else {
        snprintf(handout->reason, sizeof handout->reason, "%s",
                 status == STATUS_LIMIT ? "a pupil has as many places as one may have"
                                        : "a place could not be stored");
    }
    row->given += status == STATUS_OK;
    row->failed += status != STATUS_OK;
    if (status != STATUS_OK) {
        snprintf(row->reason, sizeof row->reason, "%.*s", (int)sizeof row->reason - 1,
                 handout->reason);
    }
}

// --- the job ------------------------------------------------------------------------------------

static void free_handout(Handout *handout)
{
    atomic_fetch_sub(&handout->serve->handout_count, 1);
    place_folder_free(&handout->files);
    free(handout->pupils);
    free(handout);
}

// It ends, with the last state in its row.
static void end_handout(Handout *handout, StoreHandoutState state, const char *reason)
{
    handout->row.state = state;
    handout->row.updated_unix_ms = clock_unix_ms();
    if (reason != NULL) {
        snprintf(handout->row.reason, sizeof handout->row.reason, "%s", reason);
    }
    status_ignore(store_handout_save(handout->serve->store, &handout->row));
    free_handout(handout);
}

static Status load(Handout *handout)
{
    StoreHandout *row = &handout->row;
    handout->pupils = calloc(CLASS_PUPILS_MAX, sizeof *handout->pupils);
    Status status = handout->pupils == NULL
                        ? STATUS_LIMIT
                        : store_pupils(handout->serve->store, row->class_id, handout->pupils,
                                       CLASS_PUPILS_MAX, &handout->pupil_count);
    status = status == STATUS_OK && row->place_id[0] != '\0' ? read_place(handout) : status;
    handout->is_loaded = true;
    row->total = handout->pupil_count;
    row->given = row->had = row->failed = 0;
    return status;
}

// A few more. False: it is over.
static bool step(Handout *handout)
{
    if (!handout->is_loaded && load(handout) != STATUS_OK) {
        end_handout(handout, STORE_HANDOUT_FAILED, "what is handed out cannot be read (any more)");
        return false;
    }
    for (uint32_t i = 0; i < PUPILS_PER_STEP && handout->at < handout->pupil_count; i++) {
        hand_one(handout, handout->pupils[handout->at++].account_id);
    }
    if (handout->at == handout->pupil_count) {
        end_handout(handout, STORE_HANDOUT_DONE, NULL);
        return false;
    }
    handout->row.updated_unix_ms = clock_unix_ms();
    if (store_handout_save(handout->serve->store, &handout->row) == STATUS_NOT_FOUND ||
        handout->row.state == STORE_HANDOUT_CANCELLED) {
        free_handout(handout); // the class was deleted, or somebody cancelled it
        return false;
    }
    return true;
}

// If the pool takes no more, it goes on here, unless the process ends.
static void run(void *user, bool is_cancelled)
{
    Handout *handout = user;
    Serve *serve = handout->serve;
    if (is_cancelled) {
        free_handout(handout); // it goes on at the next start
        return;
    }
    while (step(handout)) {
        if (work_pool_submit(serve->pool, run, handout) == STATUS_OK) {
            return;
        }
        if (atomic_load(&serve->is_stopping)) {
            free_handout(handout);
            return;
        }
    }
}

// Counted in handout_count already.
static bool begin_job(Serve *serve, const StoreHandout *row)
{
    Handout *handout = calloc(1, sizeof *handout);
    if (handout == NULL) {
        atomic_fetch_sub(&serve->handout_count, 1);
        return false;
    }
    handout->serve = serve;
    handout->row = *row;
    if (work_pool_submit(serve->pool, run, handout) != STATUS_OK) {
        end_handout(handout, STORE_HANDOUT_FAILED, "too much work waits; try again");
        return false;
    }
    return true;
}

// What was cancelled has no job any more: it has stopped.
static void end_stopping(Serve *serve, StoreHandout *rows)
{
    uint32_t count = 0;
    if (store_handouts_in(serve->store, STORE_HANDOUT_STOPPING, rows, JOBS_MAX, &count) ==
        STATUS_OK) {
        for (uint32_t i = 0; i < count; i++) {
            rows[i].state = STORE_HANDOUT_CANCELLED;
            status_ignore(store_handout_save(serve->store, &rows[i]));
        }
    }
}

void serve_handouts_recover(Serve *serve)
{
    uint32_t count = 0;
    StoreHandout *rows = serve->control != NULL ? calloc(JOBS_MAX, sizeof *rows) : NULL;
    if (rows != NULL) {
        end_stopping(serve, rows);
    }
    if (rows != NULL && store_handouts_in(serve->store, STORE_HANDOUT_RUNNING, rows, JOBS_MAX,
                                          &count) == STATUS_OK) {
        for (uint32_t i = 0; i < count; i++) {
            serve_log(LOG_INFO, "class", "the handout %s goes on", rows[i].handout);
            atomic_fetch_add(&serve->handout_count, 1);
            (void)begin_job(serve, &rows[i]);
        }
    }
    free(rows);
}

// --- over HTTP ----------------------------------------------------------------------------------

static void write_handout(JsonWriter *json, const StoreHandout *row)
{
    static const char *const states[] = {[STORE_HANDOUT_RUNNING] = "running",
                                         [STORE_HANDOUT_DONE] = "done",
                                         [STORE_HANDOUT_FAILED] = "failed",
                                         [STORE_HANDOUT_STOPPING] = "stopping",
                                         [STORE_HANDOUT_CANCELLED] = "cancelled"};
    json_write_object_begin(json);
    serve_write_member(json, "handout", row->handout);
    serve_write_member(json, "state", states[row->state]);
    serve_write_member(json, "title", row->title);
    serve_write_number(json, "total", row->total);
    serve_write_number(json, "given", row->given);
    serve_write_number(json, "had", row->had);
    serve_write_number(json, "failed", row->failed);
    serve_write_member(json, "reason", row->reason[0] != '\0' ? row->reason : NULL);
    json_write_object_end(json);
}

static void answer_handout(HttpRequest *request, HttpResponse *response, const StoreHandout *row)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    write_handout(&answer.json, row);
    serve_answer_end(&answer, response);
}

static bool read_handout(StoreHandout *row, HttpRequest *request, HttpResponse *response)
{
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL ||
        !serve_body_text(request, response, body, "title", row->title, sizeof row->title) ||
        !serve_body_text(request, response, body, "template", row->template,
                         sizeof row->template) ||
        !serve_body_text(request, response, body, "place_id", row->place_id,
                         sizeof row->place_id)) {
        return false;
    }
    const bool has_both = row->template[0] != '\0' && row->place_id[0] != '\0';
    if (row->template[0] == '\0') {
        snprintf(row->template, sizeof row->template, DEFAULT_TEMPLATE);
    }
    if (has_both || !template_exists(row->template)) {
        http_fail(request, response, 400, "template",
                  has_both ? "name a place or a template, not both" : "there is no such template");
        return false;
    }
    return true;
}

// Is it a place that they may read, with something in it? The job looks again.
static bool check_place(Serve *serve, const char *place_id, HttpRequest *request,
                        HttpResponse *response)
{
    StorePackage package;
    uint32_t rights = 0;
    const Status status =
        rights_find(serve->store, place_id, serve_who(request), &package, &rights);
    const bool has_draft = status == STATUS_OK && (rights & RIGHT_DRAFT) != 0 &&
                           draft_exists(serve->drafts, package.package_id);
    if (status != STATUS_OK || package.kind != STORE_PLACE || (rights & RIGHT_READ) == 0) {
        http_fail(request, response, 404, "not_found", "there is no such place, or it is not open");
        return false;
    }
    if (!has_draft && package.last_revision == 0) {
        http_fail(request, response, 404, "not_found",
                  "this place has neither a draft nor a revision");
        return false;
    }
    return true;
}

static void begin_handout(Serve *serve, StoreHandout *row, HttpRequest *request,
                          HttpResponse *response)
{
    bool runs = false;
    if (atomic_fetch_add(&serve->handout_count, 1) >= JOBS_MAX) {
        atomic_fetch_sub(&serve->handout_count, 1);
        http_fail(request, response, 503, "busy", "too much is handed out now; try again");
        return;
    }
    const Status status = store_handout_begin(serve->store, row, &runs);
    if (status != STATUS_OK || runs) {
        atomic_fetch_sub(&serve->handout_count, 1);
    }
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such class");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    } else if (!runs && !begin_job(serve, row)) {
        http_fail(request, response, 503, "busy", "too much work waits; try again");
    } else {
        answer_handout(request, response, row);
        response->status = 202;
    }
}

void serve_post_handout(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    uint32_t count = 0;
    StoreHandout row = {.state = STORE_HANDOUT_RUNNING};
    if (!read_handout(&row, request, response) || !class_enter(serve, request, response, &class) ||
        !place_check_title(request, response, row.title) ||
        serve_refuse_words(serve, request, response, "title", row.title) ||
        serve_refuse_upload(serve, serve->data, request, response) ||
        (row.place_id[0] != '\0' && !check_place(serve, row.place_id, request, response))) {
        return;
    }
    StorePupil *pupils = calloc(CLASS_PUPILS_MAX, sizeof *pupils);
    http_keep(request, pupils);
    if (pupils == NULL ||
        store_pupils(serve->store, class.class_id, pupils, CLASS_PUPILS_MAX, &count) != STATUS_OK) {
        place_refuse_store(request, response, STATUS_BLOCKED);
        return;
    }
    memcpy(row.class_id, class.class_id, sizeof row.class_id);
    row.maker_id = serve_who(request)->account;
    row.total = count;
    row.created_unix_ms = row.updated_unix_ms = clock_unix_ms();
    make_key(&row);
    if (class_record(serve, request, response, "handout", class.class_id, row.handout)) {
        begin_handout(serve, &row, request, response);
    }
}

void serve_get_handouts(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    uint32_t count = 0;
    if (!class_enter(serve, request, response, &class)) {
        return;
    }
    StoreHandout *rows = calloc(LIST_MAX, sizeof *rows);
    http_keep(request, rows);
    if (rows == NULL ||
        store_handouts(serve->store, class.class_id, rows, LIST_MAX, &count) != STATUS_OK) {
        place_refuse_store(request, response, STATUS_BLOCKED);
        return;
    }
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, LIST_BYTES);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "handouts");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count; i++) {
        write_handout(&answer.json, &rows[i]);
    }
    json_write_array_end(&answer.json);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

static void answer_found(HttpRequest *request, HttpResponse *response, Status status,
                         const StoreHandout *row)
{
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such handout");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    } else {
        answer_handout(request, response, row);
    }
}

void serve_get_handout(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    StoreHandout row;
    if (!class_enter(serve, request, response, &class)) {
        return;
    }
    const char *key = http_path_part(request, 1);
    const Status status = strlen(key) < STORE_HANDOUT_BYTES
                              ? store_handout_find(serve->store, class.class_id, key, &row)
                              : STATUS_NOT_FOUND;
    answer_found(request, response, status, &row);
}

void serve_cancel_handout(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    StoreHandout row;
    if (!class_enter(serve, request, response, &class)) {
        return;
    }
    const char *key = http_path_part(request, 1);
    Status status = strlen(key) < STORE_HANDOUT_BYTES
                        ? store_handout_find(serve->store, class.class_id, key, &row)
                        : STATUS_NOT_FOUND;
    if (status == STATUS_OK) {
        if (!class_record(serve, request, response, "cancel handout", class.class_id, key)) {
            return;
        }
        status = store_handout_cancel(serve->store, class.class_id, key, &row);
    }
    answer_found(request, response, status, &row);
}

// --- what they have -----------------------------------------------------------------------------

static void write_picture(Serve *serve, JsonWriter *json, const char *place_id)
{
    uint32_t numbers[1], count = 0;
    char address[128];
    status_ignore(store_pictures(serve->store, place_id, numbers, 1, &count));
    snprintf(address, sizeof address, "/api/places/%s/pictures/%u", place_id,
             count > 0 ? (unsigned)numbers[0] : 0);
    serve_write_member(json, "thumbnail", count > 0 ? address : NULL);
}

static void write_place(Serve *serve, JsonWriter *json, const StorePackage *package,
                        const StoreClass *class)
{
    StoreAccount account;
    const bool is_known =
        store_account_find(serve->store, package->owner_id, &account) == STATUS_OK;
    if (is_known) {
        control_class_name(serve->control, class->class_id, account.account_id, account.shown_name);
    }
    json_write_object_begin(json);
    serve_write_member(json, "place_id", package->package_id);
    serve_write_member(json, "title", package->title);
    serve_write_number(json, "account", package->owner_id);
    serve_write_member(json, "username", is_known ? account.name : NULL);
    serve_write_member(json, "shown_name", is_known ? account.shown_name : NULL);
    serve_write_member(json, "visibility", place_visibility_name(package->visibility));
    write_picture(serve, json, package->package_id);
    serve_write_number(json, "players",
                       serve->feed != NULL ? listing_feed_players(serve->feed, package->package_id)
                                           : 0);
    place_write_revision_id(json, "live", package->live);
    json_write_name(json, "draft");
    json_write_bool(json, draft_exists(serve->drafts, package->package_id));
    serve_write_time(json, "updated_at", package->updated_unix_ms);
    json_write_object_end(json);
}

// The trash is its owner's own; the rest is as the place's page has it (rights.h).
static bool shows(Serve *serve, const StorePackage *package, ClassPart part, const Identity *who)
{
    StorePackageRole role = STORE_NOBODY;
    const bool is_known =
        store_package_role(serve->store, package->package_id, who->account, &role) == STATUS_OK;
    return is_known && package->trashed_unix_ms == 0 &&
           (rights_of(package, role, part, who) & RIGHT_SEE) != 0;
}

void serve_get_class_places(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreClass class;
    const char *after = http_query(request, "after");
    uint64_t limit = LIST_MAX;
    uint32_t count = 0;
    ClassPart part = CLASS_NOBODY;
    if (!class_visit(serve, request, response, &class, &part)) {
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
    serve_answer_begin_large(&answer, request, LIST_BYTES);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "places");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count; i++) {
        if (shows(serve, &packages[i], part, serve_who(request))) {
            write_place(serve, &answer.json, &packages[i], &class);
        }
    }
    json_write_array_end(&answer.json);
    serve_write_member(&answer.json, "next",
                       count == limit ? packages[count - 1].package_id : NULL);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

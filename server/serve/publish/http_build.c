// See http_build.h. The queue of builds is made by the first save. Saving touches one small file
// and waits for the disk, so it is done on the pool; building is the queue's.
#define _GNU_SOURCE
#include "server/serve/publish/http_build.h"

#include "core/base/json_read.h"
#include "core/base/json_write.h"
#include "core/base/utf8.h"
#include "server/build/job/save.h"
#include "server/control/order/rights.h"
#include "server/net/http_rules.h"
#include "server/serve/edit/edit_drafts.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/place/place_build.h"

#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES_MAX (4u << 20)
#define ID_BYTES         512

// The place that a request is about.
typedef struct Target {
    char place[PATH_MAX];    // the folder, without links
    char name[NAME_MAX + 1]; // what ids begin with: the folder's name, or the id of a draft's place
    bool is_draft;
} Target;

// --- who may ------------------------------------------------------------------------------------

// A page of this very server sends no Origin with a GET, and neither does one whose name a stranger
// has made to point here. The name by which we were reached tells them apart.
static bool host_is_ours(const HttpRequest *request)
{
    const char *name = http_header(request, "Host");
    char origin[300];
    const HttpOriginRule rule = {.same_host = true};
    return name != NULL && strlen(name) < 256 &&
           snprintf(origin, sizeof origin, "http://%s", name) > 0 &&
           http_rules_origin(&rule, origin, name);
}

static bool refuse_save_by_stranger(const Serve *serve, HttpRequest *request,
                                    HttpResponse *response)
{
    if (!serve->development || !http_is_loopback(request)) {
        http_fail(request, response, 403, "denied",
                  "scripts can be saved only in development: run `sandlot world` on a loopback "
                  "address");
        return true;
    }
    if (!http_origin_is_allowed(request) || !host_is_ours(request)) {
        http_fail(request, response, 403, "origin",
                  "this page may not ask here; --origin URL allows it");
        return true;
    }
    return serve_refuse_forwarded(serve, request, response);
}

// In development: the folder of the one place.
static bool enter_folder(const Serve *serve, HttpRequest *request, HttpResponse *response,
                         Target *out)
{
    if (refuse_save_by_stranger(serve, request, response)) {
        return false;
    }
    if (realpath(serve->config.places[0], out->place) == NULL) {
        http_fail(request, response, 500, "failed", "the place's folder cannot be found any more");
        return false;
    }
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", out->place);
    snprintf(out->name, sizeof out->name, "%s", basename(copy));
    return true;
}

static bool fail_not_found(HttpRequest *request, HttpResponse *response)
{
    http_fail(request, response, 404, "not_found", "there is no draft of such a place");
    return false;
}

// With accounts: the draft of a place that whoever asks may edit.
static bool enter_draft(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const char *place_id, Target *out)
{
    StorePackage package;
    uint32_t rights = 0;
    const Identity *who = serve_who(request);
    if (who == NULL) {
        http_fail(request, response, 401, "sign_in", "sign in first: POST /login gives a sign-in");
        return false;
    }
    const Status status = rights_find(serve->store, place_id, who, &package, &rights);
    if (status == STATUS_OK && (rights & RIGHT_EDIT) == 0 && (rights & RIGHT_SEE) != 0) {
        http_fail(request, response, 403, "denied", "this is for those who work on the place");
        return false;
    }
    if (status != STATUS_OK || !draft_exists(serve->drafts, place_id) ||
        draft_folder(serve->drafts, place_id, out->place) != STATUS_OK) {
        return fail_not_found(request, response);
    }
    snprintf(out->name, sizeof out->name, "%s", place_id);
    out->is_draft = true;
    return true;
}

// The place that an id begins with. False: the response says why not.
static bool enter(Serve *serve, HttpRequest *request, HttpResponse *response, const char *id,
                  Target *out)
{
    *out = (Target){.is_draft = false};
    if (serve->control == NULL) {
        return enter_folder(serve, request, response, out);
    }
    char place_id[65];
    const size_t bytes = id != NULL ? strcspn(id, "/") : 0;
    if (bytes == 0 || bytes >= sizeof place_id) {
        if (id == NULL) {
            http_fail(request, response, 400, "malformed", "id must be <place>/<path>");
            return false;
        }
        return fail_not_found(request, response);
    }
    memcpy(place_id, id, bytes);
    place_id[bytes] = '\0';
    return enter_draft(serve, request, response, place_id, out);
}

// --- answers ------------------------------------------------------------------------------------

typedef void (*WriteAnswer)(JsonWriter *json, const void *what);

static void answer(HttpRequest *request, HttpResponse *response, WriteAnswer write,
                   const void *what)
{
    uint8_t *text = malloc(ANSWER_BYTES_MAX);
    ByteWriter writer = byte_writer(text, text != NULL ? ANSWER_BYTES_MAX : 0);
    http_keep(request, text);
    JsonWriter json = json_writer(&writer, 0);
    write(&json, what);
    if (json_writer_finish(&json) != STATUS_OK) {
        http_fail(request, response, 500, "too_large", "the answer does not fit");
        return;
    }
    response->body = text;
    response->bytes = writer.at;
    response->body_is_static = true;
}

typedef struct Outcome {
    const char *place; // the name before the path
    const SaveAnswer *saved;
    const char *known_hash, *reason;
} Outcome;

static void write_id(JsonWriter *json, const Outcome *outcome)
{
    char id[ID_BYTES + NAME_MAX];
    snprintf(id, sizeof id, "%s/%s", outcome->place, outcome->saved->path);
    serve_write_member(json, "id", id);
    serve_write_member(json, "path", outcome->saved->path);
}

static void write_saved(JsonWriter *json, const void *what)
{
    const Outcome *outcome = what;
    const SaveAnswer *saved = outcome->saved;
    json_write_object_begin(json);
    write_id(json, outcome);
    serve_write_member(json, "hash", saved->hash);
    serve_write_member(json, "codeHash", saved->hash);
    serve_write_member(json, "job_id", saved->job_id[0] != '\0' ? saved->job_id : NULL);
    json_write_object_end(json);
}

// What is on disk; a file that is no text any more has no `code`.
static void write_code(JsonWriter *json, const SaveAnswer *saved)
{
    json_write_name(json, "code");
    if (saved->current != NULL && utf8_is_valid(saved->current, saved->current_bytes)) {
        json_write_text_bytes(json, saved->current, saved->current_bytes);
    } else {
        json_write_null(json);
    }
}

static void write_conflict(JsonWriter *json, const void *what)
{
    const Outcome *outcome = what;
    json_write_object_begin(json);
    json_write_name(json, "error");
    json_write_object_begin(json);
    serve_write_member(json, "code", "conflict");
    serve_write_member(json, "message", outcome->reason);
    json_write_object_end(json);
    write_id(json, outcome);
    serve_write_member(json, "knownHash", outcome->known_hash);
    serve_write_member(json, "hash", outcome->saved->hash[0] != '\0' ? outcome->saved->hash : NULL);
    write_code(json, outcome->saved);
    json_write_object_end(json);
}

static void write_script(JsonWriter *json, const void *what)
{
    const Outcome *outcome = what;
    json_write_object_begin(json);
    write_id(json, outcome);
    serve_write_member(json, "hash", outcome->saved->hash);
    serve_write_member(json, "codeHash", outcome->saved->hash);
    write_code(json, outcome->saved);
    json_write_object_end(json);
}

static void respond_save_failed(HttpRequest *request, HttpResponse *response, Status status,
                                const char *reason)
{
    switch (status) {
    case STATUS_MALFORMED:
        http_fail(request, response, 400, "malformed", reason);
        return;
    case STATUS_LIMIT:
        http_fail(request, response, 413, "too_large", reason);
        return;
    case STATUS_DENIED:
        http_fail(request, response, 403, "link", reason);
        return;
    case STATUS_NOT_FOUND:
        http_fail(request, response, 404, "not_found", reason);
        return;
    default:
        http_fail(request, response, 503, "disk", reason);
        return;
    }
}

// --- scripts ------------------------------------------------------------------------------------

// The path behind `<place>/`, where the place is the folder's name; NULL fills the response.
static const char *path_of(const Target *build, HttpRequest *request, HttpResponse *response,
                           const char *id)
{
    const size_t name = strlen(build->name);
    if (!utf8_is_valid(build->name, name)) {
        http_fail(request, response, 400, "malformed",
                  "the name of the place's folder is not UTF-8, so its scripts have no ids; "
                  "rename it");
        return NULL;
    }
    if (id != NULL && !utf8_is_valid(id, strlen(id))) {
        http_fail(request, response, 400, "malformed", "id must be UTF-8");
        return NULL;
    }
    if (id != NULL && strlen(id) < ID_BYTES && strncmp(id, build->name, name) == 0 &&
        id[name] == '/') {
        return id + name + 1;
    }
    char message[ID_BYTES];
    snprintf(message, sizeof message,
             "id must be <place>/<path>, and this world's place is \"%.200s\"", build->name);
    http_fail(request, response, id == NULL ? 400 : 404, id == NULL ? "malformed" : "not_found",
              message);
    return NULL;
}

typedef struct SaveBody {
    void *memory;
    const JsonNode *root;
    const char *id, *code, *known_hash; // in the memory; known_hash NULL: null
    size_t code_bytes;
} SaveBody;

static bool is_text(const JsonNode *node)
{
    return node != NULL && node->kind == JSON_STRING;
}

// On failure `reason` says what is wrong.
static Status read_body(const HttpRequest *request, SaveBody *out, char reason[WORKER_REASON_BYTES])
{
    size_t bytes;
    const uint8_t *body = http_body(request, &bytes);
    const size_t capacity = 2 * bytes + (64u << 10);
    void *memory = malloc(capacity);
    if (memory == NULL) {
        snprintf(reason, WORKER_REASON_BYTES, "out of memory");
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init(&arena, memory, capacity);
    JsonError error = {0};
    const JsonConfig config = {
        .arena = &arena, .bytes_max = SERVE_BUILD_BODY_BYTES, .node_count_max = 64, .depth_max = 4};
    const JsonNode *root = NULL;
    const Status status = json_parse(&config, (const char *)body, bytes, &root, &error);
    const JsonNode *id = status == STATUS_OK ? json_find(root, "id") : NULL;
    const JsonNode *code = status == STATUS_OK ? json_find(root, "code") : NULL;
    const JsonNode *known = status == STATUS_OK ? json_find(root, "knownHash") : NULL;
    const bool has_hash = is_text(known) && strlen(known->text) == known->count;
    if (!is_text(id) || strlen(id->text) != id->count || !is_text(code) ||
        (known != NULL && known->kind != JSON_NULL && !has_hash)) {
        char why[JSON_ERROR_TEXT_BYTES] = "";
        if (status != STATUS_OK) {
            json_error_text(&error, why);
            utf8_clean(why);
        }
        snprintf(
            reason, WORKER_REASON_BYTES,
            "the body must be {\"id\":\"<place>/<path>\",\"code\":\"…\",\"knownHash\":\"…\" or "
            "null}%s%s",
            why[0] != '\0' ? "; " : "", why);
        free(memory);
        return STATUS_MALFORMED;
    }
    *out = (SaveBody){.memory = memory,
                      .root = root,
                      .id = id->text,
                      .code = code->text,
                      .code_bytes = code->count,
                      .known_hash = has_hash ? known->text : NULL};
    return STATUS_OK;
}

typedef struct Saving {
    JobQueue *queue;
    SaveRequest request;
    SaveAnswer answer;
    Status status;
    char reason[WORKER_REASON_BYTES];
} Saving;

static Status save_it(void *user)
{
    Saving *saving = user;
    saving->status = save_script(saving->queue, &saving->request, &saving->answer, saving->reason);
    return saving->status;
}

static void save(Serve *serve, HttpRequest *request, HttpResponse *response, const SaveBody *body)
{
    Target target;
    JobQueue *queue = serve_jobs(serve);
    const char *path = NULL;
    if (queue == NULL) {
        http_fail(request, response, 503, "failed", "no builds can be started");
        return;
    }
    if (!enter(serve, request, response, body->id, &target) ||
        serve_refuse_upload(serve, target.place, request, response) ||
        (path = path_of(&target, request, response, body->id)) == NULL) {
        return;
    }
    const uint64_t account = target.is_draft ? serve_who(request)->account : 0;
    Saving saving = {.queue = queue,
                     .request = {.place = target.place,
                                 .path = path,
                                 .code = body->code,
                                 .code_bytes = body->code_bytes,
                                 .known_hash = body->known_hash,
                                 .account = account,
                                 .writes = target.is_draft}};
    if (target.is_draft && draft_has_room(serve->drafts, target.name, body->code_bytes,
                                          saving.reason) == STATUS_LIMIT) {
        http_fail(request, response, 413, "quota", saving.reason);
        return;
    }
    EditHold *hold;
    const char *draft = target.is_draft ? target.name : serve->default_place;
    if (!serve_hold_draft(serve, request, response, draft, &hold)) {
        return;
    }
    const Status status =
        target.is_draft ? draft_change(serve->drafts, target.name, path, account, save_it, &saving)
                        : save_it(&saving);
    edit_release(hold);
    const Outcome outcome = {target.name, &saving.answer, body->known_hash, saving.reason};
    if (status == STATUS_OK) {
        if (body->known_hash == NULL && !target.is_draft) {
            serve_renew_types(serve, target.place);
        }
        answer(request, response, write_saved, &outcome);
    } else if (status == STATUS_MISMATCH) {
        response->status = 409;
        answer(request, response, write_conflict, &outcome);
    } else if (status == STATUS_LIMIT && saving.status == STATUS_OK) { // no room any more
        draft_tell_no_room(serve->drafts, target.name, saving.reason);
        http_fail(request, response, 413, "quota", saving.reason);
    } else {
        respond_save_failed(request, response, status, saving.reason);
    }
    free(saving.answer.current);
}

void serve_build_post_save(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (serve->control == NULL && refuse_save_by_stranger(serve, request, response)) {
        return; // before the body is looked at
    }
    SaveBody body = {0};
    char reason[WORKER_REASON_BYTES] = "";
    const Status status = read_body(request, &body, reason);
    if (status != STATUS_OK) {
        respond_save_failed(request, response, status, reason);
        return;
    }
    if (serve_body_fits(body.root, request, response)) {
        save(serve, request, response, &body);
    }
    free(body.memory);
}

void serve_build_get_script(void *user, HttpRequest *request, HttpResponse *response)
{
    Target target;
    const char *id = http_query(request, "id");
    const char *path = enter(user, request, response, id, &target)
                           ? path_of(&target, request, response, id)
                           : NULL;
    if (path == NULL) {
        return;
    }
    char reason[WORKER_REASON_BYTES] = "";
    SaveAnswer saved = {0};
    const Status status = save_read(target.place, path, &saved, reason);
    if (status != STATUS_OK) {
        respond_save_failed(request, response, status, reason);
        return;
    }
    const Outcome outcome = {target.name, &saved, NULL, NULL};
    answer(request, response, write_script, &outcome);
    free(saved.current);
}

// --- jobs ---------------------------------------------------------------------------------------

static void put_job(HttpRequest *request, HttpResponse *response, const JobStatus *status)
{
    Buffer text = buffer_of(ANSWER_BYTES_MAX);
    job_status_json(status, &text);
    http_keep(request, text.data);
    response->body = text.data;
    response->bytes = text.bytes;
    response->body_is_static = true;
    if (text.status != STATUS_OK) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
    }
}

static void refuse_job(HttpRequest *request, HttpResponse *response)
{
    http_fail(request, response, 404, "not_found", "there is no such job (any more)");
}

// The job of a revision: for its maker, and for who may read the package; only who may edit it
// cancels it. True: there is one, and the response is filled.
static bool answer_revision(Serve *serve, HttpRequest *request, HttpResponse *response,
                            bool is_cancel)
{
    StoreRevision revision;
    StorePackage package;
    JobStatus *status;
    uint32_t rights = 0;
    const Identity *who = serve_who(request);
    if (serve->control == NULL ||
        store_revision_by_job(serve->store, http_path_part(request, 0), &revision) != STATUS_OK) {
        return false;
    }
    const bool is_maker = who != NULL && who->account == revision.maker_id;
    if (rights_find(serve->store, revision.package_id, who, &package, &rights) != STATUS_OK) {
        rights = 0;
    }
    if (!is_maker && (rights & RIGHT_READ) == 0) {
        refuse_job(request, response);
    } else if (is_cancel && !is_maker && (rights & RIGHT_EDIT) == 0) {
        http_fail(request, response, 403, "denied", "this is for those who work on the place");
    } else if ((status = malloc(sizeof *status)) == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
    } else {
        if (is_cancel) { // one that has ended stays as it is
            status_ignore(job_cancel(serve_jobs(serve), revision.job_id));
        }
        place_build_status(serve, &revision, status);
        put_job(request, response, status);
        free(status);
    }
    return true;
}

// May they see the job of what was saved? With accounts those who may edit the place; else this
// machine, in development. False: the response says why not.
static bool may_see_saved(Serve *serve, JobQueue *queue, HttpRequest *request,
                          HttpResponse *response)
{
    Target target = {.is_draft = false};
    char folder[PATH_MAX];
    if (serve->control == NULL) {
        return enter_folder(serve, request, response, &target);
    }
    StorePackage package;
    uint32_t rights = 0;
    const char *id = http_path_part(request, 0);
    const bool is_known = id != NULL && job_folder(queue, id, folder) == STATUS_OK &&
                          rights_find(serve->store, basename(folder), serve_who(request), &package,
                                      &rights) == STATUS_OK;
    if (!is_known || (rights & RIGHT_EDIT) == 0) {
        refuse_job(request, response); // who may not see one does not learn whether it is there
        return false;
    }
    return true;
}

// The job of what an editor saved.
static void answer_saved(Serve *serve, HttpRequest *request, HttpResponse *response, bool is_cancel)
{
    const char *id = http_path_part(request, 0);
    JobQueue *queue = serve_jobs(serve);
    if (queue != NULL && !may_see_saved(serve, queue, request, response)) {
        return;
    }
    JobStatus *status = malloc(sizeof *status);
    Status found = status != NULL && queue != NULL ? STATUS_OK : STATUS_LIMIT;
    if (found == STATUS_OK && is_cancel) {
        found = job_cancel(queue, id);
    }
    if (found == STATUS_OK) {
        found = job_status(queue, id, status);
    }
    if (found == STATUS_OK) {
        put_job(request, response, status);
    } else if (found == STATUS_NOT_FOUND) {
        refuse_job(request, response);
    } else {
        http_fail(request, response, 503, "busy", "out of memory; try again");
    }
    free(status);
}

static void answer_job(Serve *serve, HttpRequest *request, HttpResponse *response, bool is_cancel)
{
    if (is_cancel && !http_origin_is_allowed(request)) {
        http_fail(request, response, 403, "origin", "this page may not ask here");
        return;
    }
    if (answer_revision(serve, request, response, is_cancel)) {
        return;
    }
    answer_saved(serve, request, response, is_cancel);
}

void serve_build_get_job(void *user, HttpRequest *request, HttpResponse *response)
{
    answer_job(user, request, response, false);
}

void serve_build_delete_job(void *user, HttpRequest *request, HttpResponse *response)
{
    answer_job(user, request, response, true);
}

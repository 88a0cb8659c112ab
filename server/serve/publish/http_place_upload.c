// Packages that arrive: a new place, a new revision, a fork. The body goes into a blob while it
// arrives and is hashed on the way, so that its size costs no memory. Nothing here looks into it:
// the build does, in the jailed worker.
#define _GNU_SOURCE
#include "core/base/text.h"
#include "server/serve/http/body.h"
#include "server/serve/order/http_order.h"
#include "server/serve/place/place_build.h"
#include "server/serve/publish/http_place.h"
#include "server/store/place/store_publish.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_TRIES 8

// --- the body -----------------------------------------------------------------------------------

typedef struct Upload {
    Serve *serve;
    uint64_t account;
    BlobWriter *writer;
} Upload;

// Slots of uploads, by account; 0: free. They are few, so that they cannot fill the disk together.
static pthread_mutex_t uploads_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t uploads[UPLOADS_MAX];

// STATUS_DENIED: this account has as many as it may; STATUS_LIMIT: all have.
static Status take_slot(uint64_t account)
{
    uint32_t own = 0, slot = UPLOADS_MAX;
    pthread_mutex_lock(&uploads_lock);
    for (uint32_t i = 0; i < UPLOADS_MAX; i++) {
        own += uploads[i] == account;
        slot = uploads[i] == 0 ? i : slot;
    }
    const Status status = own >= UPLOADS_PER_ACCOUNT ? STATUS_DENIED
                          : slot == UPLOADS_MAX      ? STATUS_LIMIT
                                                     : STATUS_OK;
    if (status == STATUS_OK) {
        uploads[slot] = account;
    }
    pthread_mutex_unlock(&uploads_lock);
    return status;
}

static void give_slot(uint64_t account)
{
    pthread_mutex_lock(&uploads_lock);
    for (uint32_t i = 0; i < UPLOADS_MAX; i++) {
        if (uploads[i] == account) {
            uploads[i] = 0;
            break;
        }
    }
    pthread_mutex_unlock(&uploads_lock);
}

static void cancel_upload(void *taker)
{
    Upload *upload = taker;
    blob_abort(upload->writer);
    give_slot(upload->account);
    free(upload);
}

static bool refuse_slot(HttpRequest *request, HttpResponse *response, Status status)
{
    if (status == STATUS_DENIED) {
        http_fail(request, response, 429, "too_many_uploads",
                  "two uploads of yours run already; wait until one has ended");
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "busy", "too many uploads run; try again");
    }
    return status != STATUS_OK;
}

static void *begin_upload(void *user, HttpRequest *request, uint64_t declared,
                          HttpResponse *response)
{
    Serve *serve = user;
    const Identity *who = serve_who(request);
    (void)declared; // above the route's limit it is refused before
    if (serve->control == NULL || who == NULL) {
        http_fail(request, response, 404, "not_found", "there are no accounts here");
        return NULL;
    }
    if (serve_refuse_upload(serve, serve->data, request, response) ||
        refuse_slot(request, response, take_slot(who->account))) {
        return NULL;
    }
    Upload *upload = calloc(1, sizeof *upload);
    if (upload == NULL ||
        blob_begin(serve->blobs, PACKAGE_BYTES_MAX, &upload->writer) != STATUS_OK) {
        free(upload);
        give_slot(who->account);
        http_fail(request, response, 503, "unavailable", "nothing can be stored now; try again");
        return NULL;
    }
    upload->serve = serve;
    upload->account = who->account;
    return upload;
}

static HttpBodyStep take_upload(void *taker, HttpRequest *request, const uint8_t *bytes,
                                size_t count, HttpResponse *response)
{
    Upload *upload = taker;
    const Status status = blob_append(upload->writer, bytes, count);
    if (status == STATUS_LIMIT) {
        http_fail(request, response, 413, "too_large", "a package has at most 256 MiB");
    } else if (status != STATUS_OK) {
        http_fail(request, response, 507, "disk_full", "the disk takes no more; try later");
    }
    return status == STATUS_OK ? HTTP_BODY_MORE : HTTP_BODY_STOP;
}

const HttpBody serve_package_body = {begin_upload, take_upload, cancel_upload};

// --- what the query says ------------------------------------------------------------------------

static bool fail_query(HttpRequest *request, HttpResponse *response, const char *text)
{
    http_fail(request, response, 400, "malformed", text);
    return false;
}

// Notes say what is new; without them nobody knows which revision to go back to.
static bool read_query(HttpRequest *request, HttpResponse *response, StoreRevision *revision)
{
    const char *notes = http_query(request, "notes"), *channel = http_query(request, "channel");
    const size_t bytes = notes != NULL ? strlen(notes) : 0;
    if (bytes == 0) {
        return fail_query(request, response,
                          "a revision needs notes that say what is new: ?notes=…");
    }
    if (bytes >= sizeof revision->notes || !name_is_plain_text(notes)) {
        return fail_query(request, response,
                          "notes are UTF-8 of at most 2000 bytes, without characters that show "
                          "nothing or turn the direction of text");
    }
    if (channel != NULL && strcmp(channel, "live") != 0 && strcmp(channel, "beta") != 0) {
        return fail_query(request, response, "channel is beta or live");
    }
    if (serve_refuse_words(http_user(request), request, response, "the notes", notes)) {
        return false;
    }
    memcpy(revision->notes, notes, bytes + 1);
    snprintf(revision->reason, sizeof revision->reason, "%s", channel != NULL ? channel : "");
    return true;
}

static bool read_new_place(HttpRequest *request, HttpResponse *response, StorePackage *package)
{
    const char *title = http_query(request, "title"),
               *visibility = http_query(request, "visibility");
    if (title != NULL && !place_check_title(request, response, title)) {
        return false;
    }
    snprintf(package->title, sizeof package->title, "%s", title != NULL ? title : "");
    if (visibility != NULL && !place_visibility_read(visibility, &package->visibility)) {
        return fail_query(request, response, "visibility is private, unlisted or listed");
    }
    return true;
}

// --- storing ------------------------------------------------------------------------------------

// Will an operator have to approve it before it is listed (again)? Asked before it is built, so it
// is what the answer to the build would be.
static bool will_wait(const Serve *serve, const Identity *who, const StorePackage *package,
                      const StoreRevision *revision)
{
    StorePackage then = *package;
    if (strcmp(revision->reason, "live") == 0) {
        then.live = revision->revision;
        then.flags &= (who->roles & STORE_ROLES_TRUSTED) != 0 ? UINT32_MAX
                                                              : ~(uint32_t)STORE_PACKAGE_APPROVED;
    }
    return place_waits(serve, &then);
}

void place_answer_begun(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const StorePackage *package, const StoreRevision *revision)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "place_id", revision->package_id);
    place_write_revision_id(&answer.json, "revision_id", revision->revision);
    serve_write_member(&answer.json, "job_id", revision->job_id);
    json_write_name(&answer.json, "waits_for_approval");
    json_write_bool(&answer.json, will_wait(serve, serve_who(request), package, revision));
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
    response->status = 202;
}

// The rows of a new place. On failure the response says why.
static Status publish(Serve *serve, HttpRequest *request, HttpResponse *response,
                      const StorePublish *publish)
{
    bool is_bytes = false;
    Status status = STATUS_EXISTS;
    for (uint32_t i = 0; i < ID_TRIES && status == STATUS_EXISTS; i++) {
        place_make_id(publish->package->title, publish->package->package_id);
        memcpy(publish->revision->package_id, publish->package->package_id,
               sizeof publish->revision->package_id);
        status = store_package_publish(serve->store, publish, &is_bytes);
    }
    if (status == STATUS_LIMIT && is_bytes) {
        place_refuse_quota(serve, publish->package->owner_id, publish->revision->package_bytes,
                           request, response);
    } else if (status == STATUS_LIMIT) {
        http_fail(request, response, 409, "too_many_places",
                  "you have as many places as an account may have; delete one for good");
    } else if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found",
                  "there is no such place, or no revision of it that is ready");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status;
}

void place_refuse_revision(HttpRequest *request, HttpResponse *response, Status status)
{
    if (status == STATUS_DENIED) {
        http_fail(request, response, 409, "too_many_revisions",
                  "this place has as many revisions as it may have; delete old ones");
    } else {
        place_refuse_store(request, response, status);
    }
}

static Status add_revision(Serve *serve, HttpRequest *request, HttpResponse *response,
                           const StorePackage *package, StoreRevision *revision)
{
    memcpy(revision->package_id, package->package_id, sizeof revision->package_id);
    const Status status =
        store_revision_add(serve->store, revision, serve_account_bytes_max(serve));
    if (status == STATUS_LIMIT) {
        place_refuse_quota(serve, package->owner_id, revision->package_bytes, request, response);
    } else if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such place");
    } else if (status != STATUS_OK) {
        place_refuse_revision(request, response, status);
    }
    return status;
}

// The blob is there before a row names it, and the job has its slot before that: whatever happens,
// a row that is building has a job, now or after the next start.
static void store_upload(Upload *upload, HttpRequest *request, HttpResponse *response,
                         StorePackage *package, bool is_new, StoreRevision *revision)
{
    Serve *serve = upload->serve;
    if (!place_build_reserve(serve, upload->account, revision->job_id, request, response)) {
        return;
    }
    BlobWriter *writer = upload->writer;
    upload->writer = NULL;
    Status status = blob_commit(writer, revision->package_hash, &revision->package_bytes);
    if (status == STATUS_OK && revision->package_bytes == 0) {
        http_fail(request, response, 400, "malformed", "the body is empty; it is the .game file");
        status = STATUS_MALFORMED;
    } else if (status != STATUS_OK) {
        serve_fail_blob(serve, request, response);
    } else if (is_new) {
        const StorePublish wish = {.package = package,
                                   .revision = revision,
                                   .count_max = PACKAGES_PER_ACCOUNT_MAX,
                                   .bytes_max = serve_account_bytes_max(serve)};
        status = publish(serve, request, response, &wish);
    } else {
        status = add_revision(serve, request, response, package, revision);
    }
    if (status != STATUS_OK) {
        job_drop(serve_jobs(serve), revision->job_id);
        return;
    }
    place_build_begin(serve, revision);
    place_answer_begun(serve, request, response, package, revision);
}

static StoreRevision new_revision(uint64_t maker)
{
    return (StoreRevision){
        .maker_id = maker, .state = STORE_REVISION_BUILDING, .created_unix_ms = clock_unix_ms()};
}

static StorePackage new_place(uint64_t owner)
{
    const uint64_t now = clock_unix_ms();
    return (StorePackage){.kind = STORE_PLACE,
                          .owner_id = owner,
                          .visibility = STORE_PRIVATE,
                          .created_unix_ms = now,
                          .updated_unix_ms = now};
}

void serve_post_place(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user;
    Upload *upload = http_body_take(request);
    if (upload == NULL) {
        http_fail(request, response, 400, "malformed", "the body is the .game file");
        return;
    }
    StorePackage package = new_place(upload->account);
    StoreRevision revision = new_revision(upload->account);
    if (read_query(request, response, &revision) && read_new_place(request, response, &package)) {
        store_upload(upload, request, response, &package, true, &revision);
    }
    cancel_upload(upload);
}

void serve_post_revision(void *user, HttpRequest *request, HttpResponse *response)
{
    PlaceAsk ask;
    Upload *upload = http_body_take(request);
    if (upload == NULL) {
        http_fail(request, response, 400, "malformed", "the body is the .game file");
        return;
    }
    StoreRevision revision = new_revision(upload->account);
    if (place_enter(user, request, response, RIGHT_EDIT, &ask) &&
        read_query(request, response, &revision)) {
        store_upload(upload, request, response, &ask.package, false, &revision);
    }
    cancel_upload(upload);
}

// --- forks --------------------------------------------------------------------------------------

// The revision that is forked: the one that the body names, or the live one, or the newest that is
// ready.
static bool find_source(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const StorePackage *package, const char *revision_id, StoreRevision *out)
{
    uint32_t number = package->live, count = 0;
    Status status = STATUS_NOT_FOUND;
    if (revision_id[0] != '\0' && !revision_id_read(revision_id, &number)) {
        return fail_query(request, response, "revision_id is one such as \"r3\"");
    }
    if (number != 0) {
        status = store_revision_find(serve->store, package->package_id, number, out);
    } else {
        status =
            store_revisions(serve->store, package->package_id, STORE_REVISION_ALL, out, 1, &count);
        status = status == STATUS_OK && count == 0 ? STATUS_NOT_FOUND : status;
    }
    if (status == STATUS_OK && out->state != STORE_REVISION_READY) {
        status = STATUS_NOT_FOUND;
    }
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found",
                  "there is no such place, or no revision of it that is ready");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status == STATUS_OK;
}

void serve_post_fork(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreRevision source;
    char revision_id[REVISION_ID_BYTES] = "";
    const JsonNode *body = serve_body_object(request, response);
    const uint64_t account = serve_who(request)->account;
    StorePackage package = new_place(account);
    if (body == NULL ||
        !serve_body_text(request, response, body, "title", package.title, sizeof package.title) ||
        !serve_body_text(request, response, body, "revision_id", revision_id, sizeof revision_id) ||
        !place_enter(serve, request, response, RIGHT_READ, &ask) ||
        !find_source(serve, request, response, &ask.package, revision_id, &source)) {
        return;
    }
    if ((ask.package.flags & STORE_PACKAGE_REMOVED) != 0 &&
        (serve_who(request)->roles & ROLE_OPERATOR) == 0) { // it would be back under another name
        http_fail(request, response, 403, "removed", "this place was removed by an operator");
        return;
    }
    if (package.title[0] == '\0') {
        memcpy(package.title, ask.package.title, sizeof package.title);
    } else if (!place_check_title(request, response, package.title)) {
        return;
    }
    StoreRevision revision = new_revision(account);
    memcpy(package.forked_from, ask.package.package_id, sizeof package.forked_from);
    memcpy(package.description, ask.package.description, sizeof package.description);
    snprintf(revision.notes, sizeof revision.notes, "forked from %s r%u", ask.package.package_id,
             source.revision);
    memcpy(revision.package_hash, source.package_hash, sizeof revision.package_hash);
    revision.package_bytes = source.package_bytes;
    if (!place_build_reserve(serve, account, revision.job_id, request, response)) {
        return;
    }
    const StorePublish wish = {.package = &package,
                               .revision = &revision,
                               .count_max = PACKAGES_PER_ACCOUNT_MAX,
                               .bytes_max = serve_account_bytes_max(serve),
                               .source = &source};
    if (publish(serve, request, response, &wish) != STATUS_OK) {
        job_drop(serve_jobs(serve), revision.job_id);
        return;
    }
    place_build_begin(serve, &revision);
    place_answer_begun(serve, request, response, &package, &revision);
}

// See http_draft.h.
#define _GNU_SOURCE
#include "server/serve/publish/http_draft.h"

#include "core/base/json_read.h"
#include "core/base/utf8.h"
#include "server/build/package/package.h"
#include "server/build/place/place_file.h"
#include "server/build/place/template.h"
#include "server/serve/edit/edit_drafts.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/order/http_order.h"
#include "server/serve/people/http_class.h"
#include "server/serve/place/place_build.h"
#include "server/serve/place/place_reload.h"
#include "server/serve/publish/http_place.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_BYTES       (2u << 20) // 4,000 files of 300 bytes
#define VERSIONS_MAX     100
#define DEFAULT_TEMPLATE "blank"
#define ID_TRIES         4

// --- answers ------------------------------------------------------------------------------------

// With the job that builds the draft, if a world runs with it.
static void write_file(JsonWriter *json, const StoreDraftFile *file, const char *job_id)
{
    char hex[2 * SHA256_BYTES + 1];
    sha256_hex(file->hash, hex);
    json_write_object_begin(json);
    serve_write_member(json, "path", file->path);
    serve_write_number(json, "bytes", file->bytes);
    serve_write_member(json, "hash", hex);
    serve_write_number(json, "version", file->version);
    if (job_id != NULL) {
        serve_write_member(json, "job_id", job_id[0] != '\0' ? job_id : NULL);
    }
    json_write_object_end(json);
}

// The tag of a file is its hash.
static void put_tag(HttpRequest *request, HttpResponse *response, const uint8_t hash[SHA256_BYTES])
{
    char hex[2 * SHA256_BYTES + 1];
    char *tag = arena_alloc(http_arena(request), sizeof hex + 2);
    sha256_hex(hash, hex);
    if (tag != NULL) {
        snprintf(tag, sizeof hex + 2, "\"%s\"", hex);
        response->tag = tag;
    }
}

// A file of this draft was written.
static void answer_written(Serve *serve, HttpRequest *request, HttpResponse *response,
                           const char *place_id, const StoreDraftFile *file)
{
    ServeAnswer answer;
    char job_id[JOB_ID_BYTES];
    place_reload_draft(serve, place_id, serve_who(request)->account, job_id);
    serve_answer_begin(&answer, request);
    write_file(&answer.json, file, job_id);
    serve_answer_end(&answer, response);
    put_tag(request, response, file->hash);
}

static void answer_files(const Serve *serve, HttpRequest *request, HttpResponse *response,
                         const StorePackage *package, const StoreDraftFile *files, uint32_t count,
                         const uint64_t *used)
{
    uint8_t *text = malloc(LIST_BYTES);
    ByteWriter writer = byte_writer(text, text != NULL ? LIST_BYTES : 0);
    JsonWriter json = json_writer(&writer, 0);
    http_keep(request, text);
    json_write_object_begin(&json);
    serve_write_member(&json, "place_id", package->package_id);
    if (used == NULL) {
        serve_write_member(&json, "title", package->title);
    }
    json_write_name(&json, "files");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < count; i++) {
        write_file(&json, &files[i], NULL);
    }
    json_write_array_end(&json);
    if (used != NULL) {
        serve_write_number(&json, "bytes_used", *used);
        serve_write_number(&json, "bytes_allowed", serve_account_bytes_max(serve));
    }
    json_write_object_end(&json);
    if (json_writer_finish(&json) != STATUS_OK) {
        http_fail(request, response, 500, "too_large", "the answer does not fit");
        return;
    }
    response->body = text;
    response->bytes = writer.at;
    response->body_is_static = true;
}

static void refuse_draft(HttpRequest *request, HttpResponse *response, Status status,
                         const char *reason)
{
    switch (status) {
    case STATUS_NOT_FOUND:
        http_fail(request, response, 404, "not_found",
                  reason[0] != '\0' ? reason : "there is no such file in this draft");
        return;
    case STATUS_MISMATCH:
        http_fail(request, response, 412, "changed", reason);
        return;
    case STATUS_EXISTS:
        http_fail(request, response, 409, "exists", reason);
        return;
    case STATUS_LIMIT:
        http_fail(request, response, 413, "quota",
                  reason[0] != '\0' ? reason : "there is no room for it");
        return;
    case STATUS_MALFORMED:
        http_fail(request, response, 400, "invalid_file", reason);
        return;
    case STATUS_DENIED:
        http_fail(request, response, 409, "in_the_way", reason);
        return;
    default:
        http_fail(request, response, 503, "unavailable", "it cannot be stored now; try again");
    }
}

// --- which file, and which content of it ---------------------------------------------------------

// The rest of the path, as one text. NULL: none.
static const char *path_of(HttpRequest *request, HttpResponse *response)
{
    const char *path = http_path_part(request, 1);
    if (path == NULL || path[0] == '\0') {
        http_fail(request, response, 404, "not_found", "the address names no file");
        return NULL;
    }
    return path;
}

// What the writer knew: If-Match with the tag of the file, or If-None-Match: * for a new one.
// *known is `memory`, or NULL for a new one. False: the response says what is missing.
static bool read_known(HttpRequest *request, HttpResponse *response, uint8_t memory[SHA256_BYTES],
                       const uint8_t **known)
{
    const char *match = http_header(request, "If-Match");
    const char *none = http_header(request, "If-None-Match");
    if (match == NULL && none != NULL && strcmp(none, "*") == 0) {
        *known = NULL;
        return true;
    }
    const size_t bytes = match != NULL ? strlen(match) : 0;
    if (bytes == 2 * SHA256_BYTES + 2 && match[0] == '"' && match[bytes - 1] == '"' &&
        blob_parse(match + 1, 2 * SHA256_BYTES, memory) == STATUS_OK) {
        *known = memory;
        return true;
    }
    http_fail(request, response, 428, "precondition_required",
              "say what you replace: If-Match with the file's ETag, or If-None-Match: * for a new "
              "file");
    return false;
}

// --- making one ---------------------------------------------------------------------------------

typedef struct Filling {
    Serve *serve;
    const char *template, *title; // NULL: from a revision
    bool typescript;
    bool replaces; // a draft that is there
    const StoreRevision *revision;
} Filling;

static Status fill_from_revision(const Filling *filling, const char *folder,
                                 char reason[WORKER_REASON_BYTES])
{
    uint8_t *bytes = NULL;
    size_t count = 0;
    PlaceFolder files = {0};
    Worker *worker = NULL;
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = filling->serve->config.allow_weak_jail;
    Status status = blob_read(filling->serve->blobs, filling->revision->package_hash,
                              PACKAGE_BYTES_MAX, &bytes, &count);
    status = status == STATUS_OK ? worker_create(&config, &worker) : status;
    if (status == STATUS_OK) {
        DiagnosticList problems = {0};
        const BuildContext context = {.worker = worker, .diagnostics = &problems, .reason = reason};
        status = package_read(&context, bytes, count, &files);
        diagnostic_list_free(&problems);
    }
    status = status == STATUS_OK ? package_unpack(&files, folder, reason) : status;
    place_folder_free(&files);
    worker_destroy(worker);
    free(bytes);
    return status;
}

// A template has the folder's name where a place has its own; here that is the title.
static Status write_title(const char *folder, const char *path, const char *title)
{
    size_t at = 0, bytes = 0;
    uint8_t *text = NULL;
    Buffer out = buffer_of(JSON_BYTES_MAX);
    Status status = place_file_read(folder, path, JSON_BYTES_MAX, &text, &bytes);
    const size_t name_bytes = file_last_name(folder, &at);
    for (size_t from = 0; status == STATUS_OK && from < bytes;) {
        const uint8_t *found = memmem(text + from, bytes - from, folder + at, name_bytes);
        const size_t until = found != NULL ? (size_t)(found - text) : bytes;
        buffer_put(&out, text + from, until - from);
        if (found != NULL) {
            buffer_put(&out, title, strlen(title));
        }
        from = found != NULL ? until + name_bytes : bytes;
    }
    status = status == STATUS_OK ? out.status : status;
    if (status == STATUS_OK) {
        status = place_file_write(folder, path, out.data, out.bytes, false);
    }
    buffer_free(&out);
    free(text);
    return status;
}

Status draft_fill_template(const char *folder, const char *template, bool typescript,
                           const char *title, char reason[WORKER_REASON_BYTES])
{
    uint32_t count;
    size_t at = 0;
    char name[PACKAGE_PLACE_NAME_BYTES], escaped[2 * PACKAGE_PLACE_NAME_BYTES];
    const size_t bytes = utf8_cut(title, strlen(title), sizeof name - 1);
    memcpy(name, title, bytes);
    name[bytes] = '\0';
    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            escaped[at++] = '\\';
        }
        escaped[at++] = *c;
    }
    escaped[at] = '\0';
    Status status = template_write(folder, template, typescript, NULL, &count, reason);
    status = status == STATUS_OK ? write_title(folder, "place.json", escaped) : status;
    return status == STATUS_OK ? write_title(folder, "README.md", name) : status;
}

static Status fill(void *user, const char *folder, char reason[WORKER_REASON_BYTES])
{
    const Filling *filling = user;
    return filling->template != NULL
               ? draft_fill_template(folder, filling->template, filling->typescript, filling->title,
                                     reason)
               : fill_from_revision(filling, folder, reason);
}

static bool make_draft(Filling *filling, HttpRequest *request, HttpResponse *response,
                       const StorePackage *package)
{
    Serve *serve = filling->serve;
    char reason[WORKER_REASON_BYTES] = "";
    StoreDraftFile *files = NULL;
    uint32_t count = 0;
    const uint64_t maker = serve_who(request)->account;
    EditHold *hold;
    if (!serve_hold_draft(serve, request, response, package->package_id, &hold)) {
        return false;
    }
    Status status =
        filling->replaces
            ? draft_replace(serve->drafts, package->package_id, maker, fill, filling, reason)
            : draft_make(serve->drafts, package->package_id, maker, fill, filling, reason);
    edit_release(hold);
    if (status == STATUS_OK) {
        status = draft_list(serve->drafts, package->package_id, &files, &count);
    }
    if (status == STATUS_OK) {
        answer_files(serve, request, response, package, files, count, NULL);
        free(files);
    } else {
        refuse_draft(request, response, status, reason);
    }
    return status == STATUS_OK;
}

// A place without revisions, for its maker alone until it is published.
static Status make_package(Serve *serve, const Identity *who, const char *title, StorePackage *out)
{
    Status status = STATUS_EXISTS;
    *out = (StorePackage){.kind = STORE_PLACE,
                          .owner_id = who->account,
                          .created_unix_ms = clock_unix_ms(),
                          .updated_unix_ms = clock_unix_ms()};
    snprintf(out->title, sizeof out->title, "%s", title);
    for (uint32_t i = 0; i < ID_TRIES && status == STATUS_EXISTS; i++) {
        place_make_id(title, out->package_id);
        status = store_package_make(serve->store, out, PACKAGES_PER_ACCOUNT_MAX);
    }
    return status;
}

void serve_post_draft_new(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    char title[STORE_TITLE_BYTES] = "", template[64] = DEFAULT_TEMPLATE;
    Filling filling = {.serve = serve, .template = template, .title = title};
    StorePackage package;
    if (serve->control == NULL) {
        http_fail(request, response, 404, "not_found", "there are no drafts here");
        return;
    }
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL || !serve_body_text(request, response, body, "title", title, sizeof title) ||
        !serve_body_text(request, response, body, "template", template, sizeof template) ||
        !serve_body_bool(request, response, body, "typescript", &filling.typescript) ||
        serve_refuse_upload(serve, serve->data, request, response)) {
        return;
    }
    if (!place_check_title(request, response, title)) {
        return;
    }
    if (!template_exists(template)) {
        http_fail(request, response, 400, "template", "there is no such template");
        return;
    }
    const Status status = make_package(serve, serve_who(request), title, &package);
    if (status == STATUS_LIMIT) {
        http_fail(request, response, 409, "too_many_places",
                  "you have as many places as an account may have; delete one for good");
    } else if (status != STATUS_OK) {
        refuse_draft(request, response, STATUS_BLOCKED, "");
    } else if (!make_draft(&filling, request, response, &package)) {
        status_ignore(store_package_delete(serve->store, package.package_id)); // it has nothing
    }
}

void serve_post_draft(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreRevision revision;
    char id[16] = "";
    bool replaces = false;
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL || !serve_body_text(request, response, body, "revision_id", id, sizeof id) ||
        !serve_body_bool(request, response, body, "replace", &replaces) ||
        !place_enter(serve, request, response, RIGHT_EDIT, &ask) ||
        serve_refuse_upload(serve, serve->data, request, response)) {
        return;
    }
    Filling filling = {.serve = serve,
                       .revision = &revision,
                       .replaces = draft_exists(serve->drafts, ask.package.package_id)};
    if (filling.replaces && !replaces) {
        refuse_draft(request, response, STATUS_EXISTS, "this place has a draft already");
        return;
    }
    const bool is_live = filling.replaces && ask.package.live != 0;
    uint32_t number = is_live ? ask.package.live : ask.package.last_revision;
    if (id[0] != '\0' && !revision_id_read(id, &number)) {
        http_fail(request, response, 400, "malformed", "revision_id is like \"r3\"");
        return;
    }
    const char *place = ask.package.package_id;
    Status status = store_revision_find(serve->store, place, number, &revision);
    const bool is_bad = status != STATUS_OK || revision.state != STORE_REVISION_READY;
    if (is_bad && id[0] == '\0' && ask.package.live != 0) { // the newest one has failed
        status = store_revision_find(serve->store, place, ask.package.live, &revision);
    }
    // It never had one, and its draft was thrown away.
    if (status == STATUS_NOT_FOUND && id[0] == '\0' && !filling.replaces) {
        filling.template = DEFAULT_TEMPLATE;
        filling.title = ask.package.title;
    } else if (status != STATUS_OK) {
        http_fail(request, response, 404, "not_found", "there is no such revision");
        return;
    }
    (void)make_draft(&filling, request, response, &ask.package);
}

// --- reading ------------------------------------------------------------------------------------

// A teacher who reads the draft of a pupil is written into the audit.
static bool enter_reading(Serve *serve, HttpRequest *request, HttpResponse *response, PlaceAsk *ask)
{
    return place_enter(serve, request, response, RIGHT_DRAFT, ask) &&
           ((ask->rights & RIGHT_EDIT) != 0 ||
            class_record_reading(serve, request, response, ask->package.package_id));
}

void serve_get_draft(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreDraftFile *files = NULL;
    uint32_t count = 0;
    uint64_t used = 0;
    if (!enter_reading(serve, request, response, &ask)) {
        return;
    }
    Status status = draft_list(serve->drafts, ask.package.package_id, &files, &count);
    if (status == STATUS_OK) {
        status = store_account_bytes(serve->store, ask.package.owner_id, &used);
    }
    if (status == STATUS_OK) {
        answer_files(serve, request, response, &ask.package, files, count, &used);
    } else {
        refuse_draft(
            request, response, status,
            status == STATUS_NOT_FOUND ? "this place has no draft; POST to this address makes one"
            : status == STATUS_LIMIT   ? "the draft's folder has more files than a place may have"
                                       : "");
    }
    free(files);
}

static void answer_bytes(HttpRequest *request, HttpResponse *response, uint8_t *data, size_t bytes)
{
    http_keep(request, data);
    response->body = data;
    response->bytes = bytes;
    response->body_is_static = true;
    response->content_type = "application/octet-stream";
    response->content_security_policy = "sandbox";
    response->is_attachment = true;
    response->cache = "private, no-cache";
}

void serve_get_draft_file(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreDraftFile about;
    char reason[WORKER_REASON_BYTES] = "";
    uint8_t *data = NULL;
    size_t bytes = 0;
    const char *path = path_of(request, response);
    if (path == NULL || !enter_reading(serve, request, response, &ask)) {
        return;
    }
    const Status status =
        draft_read(serve->drafts, ask.package.package_id, path, &data, &bytes, &about, reason);
    if (status != STATUS_OK) {
        refuse_draft(request, response, status == STATUS_MALFORMED ? STATUS_NOT_FOUND : status,
                     reason);
        return;
    }
    answer_bytes(request, response, data, bytes);
    put_tag(request, response, about.hash);
}

// With version: its bytes then.
static void answer_version(Serve *serve, HttpRequest *request, HttpResponse *response,
                           const char *package_id, const char *path, uint64_t version)
{
    uint8_t *data = NULL;
    size_t bytes = 0;
    const Status status =
        draft_read_version(serve->drafts, package_id, path, (uint32_t)version, &data, &bytes);
    if (status == STATUS_OK) {
        answer_bytes(request, response, data, bytes);
    } else {
        refuse_draft(request, response, status == STATUS_NOT_FOUND ? status : STATUS_BLOCKED,
                     "there is no such version, or the file was deleted then");
    }
}

static void write_version(JsonWriter *json, const StoreDraftVersion *version)
{
    char hex[2 * SHA256_BYTES + 1], account[32];
    sha256_hex(version->hash, hex);
    serve_account_text(version->maker_id, false, account);
    json_write_object_begin(json);
    serve_write_number(json, "version", version->version);
    json_write_name(json, "deleted");
    json_write_bool(json, version->is_deleted);
    serve_write_member(json, "hash", version->is_deleted ? NULL : hex);
    serve_write_number(json, "bytes", version->bytes);
    serve_write_member(json, "by", version->maker_id != 0 ? account : NULL);
    serve_write_time(json, "at", version->unix_ms);
    json_write_object_end(json);
}

void serve_get_draft_history(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    uint64_t version = 0, below = STORE_VERSION_ALL, limit = 50;
    const char *path = path_of(request, response);
    if (path == NULL || !enter_reading(serve, request, response, &ask)) {
        return;
    }
    if (!serve_query_number(request, "version", STORE_VERSION_ALL - 1, &version) ||
        !serve_query_number(request, "after", STORE_VERSION_ALL, &below) ||
        !serve_query_number(request, "limit", VERSIONS_MAX, &limit)) {
        http_fail(request, response, 400, "malformed",
                  "version, after and limit are numbers, limit at most 100");
        return;
    }
    if (version != 0) {
        answer_version(serve, request, response, ask.package.package_id, path, version);
        return;
    }
    StoreDraftVersion *versions = calloc(VERSIONS_MAX, sizeof *versions);
    uint32_t count = 0;
    const Status status =
        versions != NULL
            ? store_draft_versions(serve->store, ask.package.package_id, path, (uint32_t)below,
                                   versions, (uint32_t)(limit > 0 ? limit : 1), &count)
            : STATUS_LIMIT;
    if (status != STATUS_OK || (count == 0 && below == STORE_VERSION_ALL)) {
        refuse_draft(request, response, status == STATUS_OK ? STATUS_NOT_FOUND : STATUS_BLOCKED,
                     "");
        free(versions);
        return;
    }
    uint8_t *text = malloc(64u << 10);
    ByteWriter writer = byte_writer(text, text != NULL ? 64u << 10 : 0);
    JsonWriter json = json_writer(&writer, 0);
    http_keep(request, text);
    json_write_object_begin(&json);
    serve_write_member(&json, "path", path);
    json_write_name(&json, "versions");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < count; i++) {
        write_version(&json, &versions[i]);
    }
    json_write_array_end(&json);
    json_write_name(&json, "next");
    if (count == limit && count > 0 && versions[count - 1].version > 1) {
        json_write_integer(&json, versions[count - 1].version);
    } else {
        json_write_null(&json);
    }
    json_write_object_end(&json);
    free(versions);
    if (json_writer_finish(&json) != STATUS_OK) {
        http_fail(request, response, 500, "too_large", "the answer does not fit");
        return;
    }
    response->body = text;
    response->bytes = writer.at;
    response->body_is_static = true;
}

// --- changing -----------------------------------------------------------------------------------

static void put_file(Serve *serve, HttpRequest *request, HttpResponse *response, const void *data,
                     size_t bytes)
{
    PlaceAsk ask;
    StoreDraftFile now = {0};
    uint8_t hash[SHA256_BYTES];
    char reason[WORKER_REASON_BYTES] = "";
    DraftWrite write = {.data = data, .bytes = bytes, .maker = serve_who(request)->account};
    EditHold *hold;
    write.path = path_of(request, response);
    if (write.path == NULL || !place_enter(serve, request, response, RIGHT_EDIT, &ask) ||
        !read_known(request, response, hash, &write.known) ||
        serve_refuse_upload(serve, serve->data, request, response) ||
        !serve_hold_draft(serve, request, response, ask.package.package_id, &hold)) {
        return;
    }
    write.place_id = ask.package.package_id;
    const Status status = draft_write(serve->drafts, &write, &now, reason);
    edit_release(hold);
    if (status == STATUS_OK) {
        answer_written(serve, request, response, write.place_id, &now);
        return;
    }
    refuse_draft(request, response, status, reason);
    if (status == STATUS_MISMATCH && now.path[0] != '\0') {
        put_tag(request, response, now.hash);
    }
}

void serve_put_draft_file(void *user, HttpRequest *request, HttpResponse *response)
{
    const void *data;
    size_t bytes;
    ServeUpload *upload = serve_upload_take(request, &data, &bytes);
    put_file(user, request, response, data, bytes);
    serve_upload_end(upload);
}

void serve_delete_draft_file(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreDraftFile now = {0};
    uint8_t hash[SHA256_BYTES];
    char reason[WORKER_REASON_BYTES] = "";
    DraftWrite write = {.maker = serve_who(request)->account};
    EditHold *hold;
    write.path = path_of(request, response);
    if (write.path == NULL || !place_enter(serve, request, response, RIGHT_EDIT, &ask) ||
        !read_known(request, response, hash, &write.known) ||
        !serve_hold_draft(serve, request, response, ask.package.package_id, &hold)) {
        return;
    }
    write.place_id = ask.package.package_id;
    const Status status = write.known != NULL
                              ? draft_delete_file(serve->drafts, &write, &now, reason)
                              : STATUS_NOT_FOUND;
    edit_release(hold);
    if (status != STATUS_OK) {
        refuse_draft(request, response, status, reason);
        return;
    }
    ServeAnswer answer;
    char job_id[JOB_ID_BYTES];
    place_reload_draft(serve, write.place_id, write.maker, job_id);
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "path", write.path);
    serve_write_member(&answer.json, "job_id", job_id[0] != '\0' ? job_id : NULL);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// Members of a body that name a file and its content.
static bool read_file_body(HttpRequest *request, HttpResponse *response, const JsonNode *body,
                           const char *member, char path[STORE_DRAFT_PATH_BYTES],
                           uint8_t hash[SHA256_BYTES], bool *has_hash)
{
    char hex[2 * SHA256_BYTES + 2] = "";
    if (!serve_body_text(request, response, body, member, path, STORE_DRAFT_PATH_BYTES) ||
        !serve_body_text(request, response, body, "hash", hex, sizeof hex)) {
        return false;
    }
    *has_hash = hex[0] != '\0';
    if (*has_hash && blob_parse(hex, strlen(hex), hash) != STATUS_OK) {
        http_fail(request, response, 400, "malformed", "a hash has 64 hex digits");
        return false;
    }
    return true;
}

void serve_post_draft_move(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreDraftFile now = {0};
    char from[STORE_DRAFT_PATH_BYTES] = "", to[STORE_DRAFT_PATH_BYTES] = "";
    char reason[WORKER_REASON_BYTES] = "";
    uint8_t hash[SHA256_BYTES] = {0};
    bool has_hash = false;
    EditHold *hold;
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL || !read_file_body(request, response, body, "from", from, hash, &has_hash) ||
        !serve_body_text(request, response, body, "to", to, sizeof to) ||
        !place_enter(serve, request, response, RIGHT_EDIT, &ask) ||
        !serve_hold_draft(serve, request, response, ask.package.package_id, &hold)) {
        return;
    }
    const DraftWrite write = {.place_id = ask.package.package_id,
                              .path = from,
                              .known = hash,
                              .maker = serve_who(request)->account};
    const Status status = draft_move(serve->drafts, &write, to, &now, reason);
    edit_release(hold);
    if (status == STATUS_OK) {
        answer_written(serve, request, response, write.place_id, &now);
    } else {
        refuse_draft(request, response, status, reason);
    }
}

void serve_post_draft_restore(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreDraftFile now = {0};
    char path[STORE_DRAFT_PATH_BYTES] = "", reason[WORKER_REASON_BYTES] = "";
    uint8_t hash[SHA256_BYTES], *data = NULL;
    size_t bytes = 0;
    bool has_hash = false;
    JsonError error = {0};
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL || !read_file_body(request, response, body, "path", path, hash, &has_hash)) {
        return;
    }
    const int64_t version = json_read_integer(json_read_member(body, "version", &error), 1,
                                              STORE_VERSION_ALL - 1, &error);
    if (error.status != STATUS_OK) {
        http_fail(request, response, 400, "malformed", "version is a number from 1 on");
        return;
    }
    EditHold *hold;
    if (!place_enter(serve, request, response, RIGHT_EDIT, &ask) ||
        !serve_hold_draft(serve, request, response, ask.package.package_id, &hold)) {
        return;
    }
    Status status = draft_read_version(serve->drafts, ask.package.package_id, path,
                                       (uint32_t)version, &data, &bytes);
    if (status == STATUS_NOT_FOUND) {
        snprintf(reason, sizeof reason, "there is no such version, or the file was deleted then");
    }
    const DraftWrite write = {.place_id = ask.package.package_id,
                              .path = path,
                              .data = data,
                              .bytes = bytes,
                              .known = has_hash ? hash : NULL,
                              .maker = serve_who(request)->account};
    status = status == STATUS_OK ? draft_write(serve->drafts, &write, &now, reason) : status;
    edit_release(hold);
    if (status == STATUS_OK) {
        answer_written(serve, request, response, write.place_id, &now);
    } else {
        refuse_draft(request, response, status, reason);
    }
    free(data);
}

// --- publishing ---------------------------------------------------------------------------------

// The draft's folder as a .game file, in the blobs. Nobody writes into the draft meanwhile.
typedef struct Packing {
    Serve *serve;
    const char *folder;
    StoreRevision *revision;
    char reason[WORKER_REASON_BYTES];
} Packing;

static Status pack(void *user)
{
    Packing *packing = user;
    Serve *serve = packing->serve;
    Buffer package = buffer_of(PACKAGE_BYTES_MAX);
    Worker *worker = NULL;
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = serve->config.allow_weak_jail;
    Status status = worker_create(&config, &worker);
    if (status == STATUS_OK) {
        DiagnosticList problems = {0};
        const BuildContext context = {
            .worker = worker, .diagnostics = &problems, .reason = packing->reason};
        status = package_write(&context, packing->folder, &package);
        if (status != STATUS_OK && packing->reason[0] == '\0' && problems.count > 0) {
            diagnostic_text(&problems.items[0], "", packing->reason, sizeof packing->reason);
        }
        diagnostic_list_free(&problems);
    }
    worker_destroy(worker);
    if (status == STATUS_OK) {
        packing->revision->package_bytes = package.bytes;
        status =
            blob_put(serve->blobs, package.data, package.bytes, packing->revision->package_hash);
    }
    buffer_free(&package);
    return status;
}

static void refuse_packing(HttpRequest *request, HttpResponse *response, Status status,
                           const char *reason)
{
    if (status == STATUS_MALFORMED) {
        http_fail(request, response, 400, "invalid_place", reason);
    } else {
        http_fail(request, response, 503, "unavailable", "it cannot be packed now; try again");
    }
}

static bool read_publish(HttpRequest *request, HttpResponse *response, StoreRevision *revision)
{
    char channel[16] = "";
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL ||
        !serve_body_text(request, response, body, "notes", revision->notes,
                         sizeof revision->notes) ||
        !serve_body_text(request, response, body, "channel", channel, sizeof channel)) {
        return false;
    }
    const bool is_channel =
        channel[0] == '\0' || strcmp(channel, "live") == 0 || strcmp(channel, "beta") == 0;
    if (revision->notes[0] == '\0' || !is_channel || !name_is_plain_text(revision->notes)) {
        http_fail(request, response, 400, "malformed",
                  is_channel
                      ? "notes say what is new, without characters that show nothing or turn "
                        "the direction of text"
                      : "channel is beta or live");
        return false;
    }
    snprintf(revision->reason, sizeof revision->reason, "%s", channel); // until it is built
    return !serve_refuse_words(http_user(request), request, response, "the notes", revision->notes);
}

// As for an upload: the blob, a place in the queue, the row, the job.
static void publish(Serve *serve, HttpRequest *request, HttpResponse *response, const PlaceAsk *ask,
                    StoreRevision *revision)
{
    if (!place_build_reserve(serve, revision->maker_id, revision->job_id, request, response)) {
        return;
    }
    const Status status =
        store_revision_add(serve->store, revision, serve_account_bytes_max(serve));
    if (status != STATUS_OK) {
        job_drop(serve_jobs(serve), revision->job_id);
    }
    if (status == STATUS_LIMIT) {
        place_refuse_quota(serve, ask->package.owner_id, revision->package_bytes, request,
                           response);
    } else if (status != STATUS_OK) {
        place_refuse_revision(request, response, status);
    } else {
        place_build_begin(serve, revision);
        place_answer_begun(serve, request, response, &ask->package, revision);
    }
}

void serve_post_draft_publish(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    char folder[DRAFT_PATH_BYTES];
    StoreRevision revision = {.state = STORE_REVISION_BUILDING, .created_unix_ms = clock_unix_ms()};
    if (!read_publish(request, response, &revision) ||
        !place_enter(serve, request, response, RIGHT_EDIT, &ask) ||
        serve_refuse_upload(serve, serve->data, request, response)) {
        return;
    }
    if (!draft_exists(serve->drafts, ask.package.package_id) ||
        draft_folder(serve->drafts, ask.package.package_id, folder) != STATUS_OK) {
        refuse_draft(request, response, STATUS_NOT_FOUND, "this place has no draft");
        return;
    }
    EditHold *hold; // so that all that editors did is in it
    if (!serve_hold_draft(serve, request, response, ask.package.package_id, &hold)) {
        return;
    }
    revision.maker_id = serve_who(request)->account;
    memcpy(revision.package_id, ask.package.package_id, sizeof revision.package_id);
    Packing packing = {.serve = serve, .folder = folder, .revision = &revision};
    const Status status =
        draft_change(serve->drafts, ask.package.package_id, "place.json", 0, pack, &packing);
    edit_release(hold);
    if (status != STATUS_OK) {
        refuse_packing(request, response, status, packing.reason);
        return;
    }
    publish(serve, request, response, &ask, &revision);
}

// Revisions of places, what is in them, and pictures. Everything that people have sent is given as
// a download that no browser shows as a page.
#define _GNU_SOURCE
#include "server/build/place/place_file.h"
#include "server/serve/http/time_text.h"
#include "server/serve/people/pupil_name.h"
#include "server/serve/place/place_build.h"
#include "server/serve/place/revision_folder.h"
#include "server/serve/publish/http_place.h"
#include "server/serve/publish/place_picture.h"
#include "server/store/place/store_publish.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_MAX       100
#define REVISION_BYTES (32u << 10) // notes and a reason whose every byte is escaped
#define FILES_BYTES    (2u << 20)

// --- what they are ------------------------------------------------------------------------------

static void write_revision(Serve *serve, JsonWriter *json, const PlaceAsk *ask, const Identity *who,
                           const StoreRevision *revision)
{
    static const char *const states[] = {[STORE_REVISION_BUILDING] = "building",
                                         [STORE_REVISION_READY] = "ready",
                                         [STORE_REVISION_FAILED] = "failed"};
    char created[TIME_TEXT_BYTES], hex[2 * SHA256_BYTES + 1];
    StoreAccount maker;
    const bool reads = (ask->rights & RIGHT_READ) != 0;
    const bool has_maker =
        store_account_find(serve->store, revision->maker_id, &maker) == STATUS_OK;
    if (has_maker) {
        pupil_name_show(serve, who, &maker);
    }
    time_text(revision->created_unix_ms, created);
    sha256_hex(revision->package_hash, hex);
    json_write_object_begin(json);
    place_write_revision_id(json, "revision_id", revision->revision);
    serve_write_member(json, "state", states[revision->state]);
    serve_write_member(json, "notes", revision->notes);
    serve_write_member(json, "maker", has_maker ? maker.name : NULL);
    serve_write_member(json, "created_at", created);
    serve_write_number(json, "bytes", revision->package_bytes);
    serve_write_member(json, "sha256", reads ? hex : NULL);
    serve_write_member(json, "job_id", reads ? revision->job_id : NULL);
    const bool has_reason = // while it is built, that is the channel
        revision->state != STORE_REVISION_BUILDING && revision->reason[0] != '\0';
    serve_write_member(json, "reason", reads && has_reason ? revision->reason : NULL);
    json_write_name(json, "live");
    json_write_bool(json, revision->revision == ask->package.live);
    json_write_name(json, "beta");
    json_write_bool(json,
                    revision->revision == ask->package.beta && (ask->rights & RIGHT_TEST) != 0);
    json_write_name(json, "was_live");
    json_write_bool(json, revision->was_live || revision->revision == ask->package.live);
    json_write_object_end(json);
}

static bool read_page(HttpRequest *request, HttpResponse *response, uint64_t *limit,
                      uint32_t *below)
{
    const char *after = http_query(request, "after");
    *limit = LIST_MAX;
    *below = STORE_REVISION_ALL;
    if (serve_query_number(request, "limit", LIST_MAX, limit) && *limit > 0 &&
        (after == NULL || revision_id_read(after, below))) {
        return true;
    }
    http_fail(request, response, 400, "malformed",
              "limit is a number from 1 to 100, after the id of a revision");
    return false;
}

static bool read_only_live(HttpRequest *request, HttpResponse *response, bool *only_live)
{
    const char *live = http_query(request, "live");
    *only_live = live != NULL && strcmp(live, "1") == 0;
    if (live == NULL || *only_live) {
        return true;
    }
    http_fail(request, response, 400, "malformed", "live is 1, or not there");
    return false;
}

void serve_get_revisions(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    uint64_t limit;
    uint32_t below, count = 0, shown = 0, last = 0;
    bool only_live = false;
    if (!place_enter(serve, request, response, RIGHT_SEE, &ask) ||
        !read_page(request, response, &limit, &below) ||
        !read_only_live(request, response, &only_live)) {
        return;
    }
    StoreRevision *revisions = malloc((limit + 1) * sizeof *revisions);
    http_keep(request, revisions);
    const bool is_all = (ask.rights & RIGHT_READ) != 0 && !only_live;
    const char *id = ask.package.package_id;
    Status status = STATUS_LIMIT;
    if (revisions != NULL && is_all) {
        status = store_revisions(serve->store, id, below, revisions, (uint32_t)limit + 1, &count);
    } else if (revisions != NULL) {
        status = store_revisions_live(serve->store, id, ask.package.live, below, revisions,
                                      (uint32_t)limit + 1, &count);
    }
    if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
        return;
    }
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, (limit + 1) * REVISION_BYTES);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "revisions");
    json_write_array_begin(&answer.json);
    for (; shown < count && shown < limit; shown++) {
        write_revision(serve, &answer.json, &ask, serve_who(request), &revisions[shown]);
        last = revisions[shown].revision;
    }
    json_write_array_end(&answer.json);
    place_write_revision_id(&answer.json, "next", count > limit ? last : 0);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

void serve_get_revision(void *user, HttpRequest *request, HttpResponse *response)
{
    PlaceAsk ask;
    StoreRevision revision;
    if (place_enter_revision(user, request, response, RIGHT_SEE, &ask, &revision)) {
        ServeAnswer answer;
        serve_answer_begin_large(&answer, request, REVISION_BYTES);
        write_revision(user, &answer.json, &ask, serve_who(request), &revision);
        serve_answer_end(&answer, response);
    }
}

// --- blobs --------------------------------------------------------------------------------------

// A stranger's bytes: never a page, and kept by nobody on the way.
static void put_stream(HttpResponse *response, int file, uint64_t bytes)
{
    response->content_type = "application/octet-stream";
    response->bytes = (size_t)bytes;
    response->is_attachment = true;
    response->content_security_policy = "sandbox";
    response->cache = "private, no-cache";
    response->stream = serve_stream_file(file);
}

static char *tag_of(HttpRequest *request, const uint8_t hash[SHA256_BYTES])
{
    char hex[2 * SHA256_BYTES + 1];
    char *tag = arena_alloc(http_arena(request), sizeof hex + 2);
    sha256_hex(hash, hex);
    if (tag != NULL) {
        snprintf(tag, sizeof hex + 2, "\"%s\"", hex);
    }
    return tag;
}

bool place_put_blob(Serve *serve, HttpRequest *request, HttpResponse *response,
                    const uint8_t hash[SHA256_BYTES])
{
    int file;
    uint64_t bytes;
    const Status status = blob_file(serve->blobs, hash, &file, &bytes);
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "this is not kept any more");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    } else {
        put_stream(response, file, bytes);
        response->tag = tag_of(request, hash);
    }
    return status == STATUS_OK;
}

void serve_get_manifest(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreRevision revision;
    StoreBlobRef blob;
    uint8_t *text = NULL;
    size_t bytes = 0;
    if (!place_enter_revision(serve, request, response, RIGHT_SEE, &ask, &revision)) {
        return;
    }
    if ((ask.rights & (RIGHT_READ | RIGHT_PLAY)) == 0) {
        http_fail(request, response, 403, "denied", "you may not play this place");
        return;
    }
    const StoreBlobPurpose purpose =
        (ask.rights & RIGHT_READ) != 0 ? STORE_BLOB_MANIFEST : STORE_BLOB_CLIENT_MANIFEST;
    Status status =
        store_blob_used(serve->store, ask.package.package_id, purpose, revision.revision, &blob);
    if (status == STATUS_OK) {
        status = blob_read(serve->blobs, blob.hash, MANIFEST_BYTES_MAX, &text, &bytes);
    }
    http_keep(request, text);
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found",
                  "this revision has no manifest: its build has not ended, or has failed");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    } else {
        response->body = text;
        response->bytes = bytes;
        response->body_is_static = true;
        response->tag = tag_of(request, blob.hash);
        response->cache = "private, no-cache";
    }
}

// The revision of the query, or the newest that is ready.
static bool find_wanted(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const StorePackage *package, StoreRevision *out)
{
    const char *text = http_query(request, "revision");
    uint32_t number = package->last_revision;
    Status status = STATUS_NOT_FOUND;
    if (text != NULL && !revision_id_read(text, &number)) {
        http_fail(request, response, 400, "malformed", "revision is one such as r3");
        return false;
    }
    for (uint32_t tries = 0; tries < LIST_MAX && number > 0; tries++, number--) {
        status = store_revision_find(serve->store, package->package_id, number, out);
        if (text != NULL || (status == STATUS_OK && out->state == STORE_REVISION_READY)) {
            break;
        }
        status = status == STATUS_OK ? STATUS_NOT_FOUND : status;
    }
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such revision");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status == STATUS_OK;
}

// A package that was refused is not kept.
static bool is_kept(Serve *serve, HttpRequest *request, HttpResponse *response,
                    const StoreRevision *revision)
{
    StoreBlobRef blob;
    const Status status = store_blob_used(serve->store, revision->package_id, STORE_BLOB_PACKAGE,
                                          revision->revision, &blob);
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found",
                  "the package of this revision was refused and is not kept");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status == STATUS_OK;
}

void serve_get_package(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreRevision revision;
    if (place_enter(serve, request, response, RIGHT_READ, &ask) &&
        find_wanted(serve, request, response, &ask.package, &revision) &&
        is_kept(serve, request, response, &revision)) {
        (void)place_put_blob(serve, request, response, revision.package_hash);
    }
}

// --- files --------------------------------------------------------------------------------------

// The folder of a revision; false: the response says why not.
static bool open_folder(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const StoreRevision *revision, char folder[SERVE_PATH_BYTES])
{
    char reason[WORKER_REASON_BYTES] = "";
    if (!is_kept(serve, request, response, revision)) {
        return false;
    }
    const Status status = revision_folder_open(serve, revision, folder, reason);
    if (status == STATUS_MALFORMED || status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "the files of this revision are not kept");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, STATUS_BLOCKED);
    }
    return status == STATUS_OK;
}

static void write_file(JsonWriter *json, const PlaceFile *file)
{
    PackageKind kind;
    uint8_t hash[SHA256_BYTES];
    char reason[WORKER_REASON_BYTES], text[2 * SHA256_BYTES + 1];
    sha256_of(file->data, file->bytes, hash);
    sha256_hex(hash, text);
    json_write_object_begin(json);
    serve_write_member(json, "path", file->path);
    serve_write_number(json, "bytes", file->bytes);
    serve_write_member(json, "hash", text);
    serve_write_member(json, "kind",
                       package_kind_of(file->path, &kind, reason) == STATUS_OK
                           ? package_kind_name(kind)
                           : "other");
    json_write_object_end(json);
}

void serve_get_files(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreRevision revision;
    PlaceFolder files = {0};
    char folder[SERVE_PATH_BYTES], reason[WORKER_REASON_BYTES] = "";
    if (!place_enter_revision(serve, request, response, RIGHT_READ, &ask, &revision) ||
        !open_folder(serve, request, response, &revision, folder)) {
        return;
    }
    if (place_folder_read_all(folder, &files, reason) != STATUS_OK) {
        place_refuse_store(request, response, STATUS_BLOCKED);
        return;
    }
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, FILES_BYTES);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "files");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < files.file_count; i++) {
        write_file(&answer.json, &files.files[i]);
    }
    json_write_array_end(&answer.json);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
    place_folder_free(&files);
}

void serve_get_file(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreRevision revision;
    char folder[SERVE_PATH_BYTES];
    struct stat about;
    int file = -1;
    if (!place_enter_revision(serve, request, response, RIGHT_READ, &ask, &revision) ||
        !open_folder(serve, request, response, &revision, folder)) {
        return;
    }
    const Status status = place_file_open(folder, http_path_part(request, 2), &file);
    if (status != STATUS_OK || fstat(file, &about) != 0) {
        if (status == STATUS_OK) {
            close(file);
        }
        http_fail(request, response, 404, "not_found", "there is no such file in this revision");
        return;
    }
    put_stream(response, file, (uint64_t)about.st_size);
}

// --- pictures -----------------------------------------------------------------------------------

static bool read_number(HttpRequest *request, HttpResponse *response, uint32_t *number)
{
    const char *text = http_path_part(request, 1);
    if (strlen(text) == 1 && text[0] >= '0' && text[0] < '0' + PICTURES_MAX) {
        *number = (uint32_t)(text[0] - '0');
        return true;
    }
    http_fail(request, response, 404, "not_found",
              "pictures have the numbers 0, the thumbnail, to 8");
    return false;
}

// A place without a picture gets one that is drawn from its id.
static void send_drawn(HttpRequest *request, HttpResponse *response, const char *place_id)
{
    uint8_t hash[SHA256_BYTES];
    Buffer png = buffer_of(PLACE_PICTURE_BYTES_MAX);
    place_picture_draw(place_id, &png);
    http_keep(request, png.data);
    if (png.status != STATUS_OK) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    sha256_of(png.data, png.bytes, hash);
    response->content_type = "image/png";
    response->tag = tag_of(request, hash);
    response->body = png.data;
    response->bytes = png.bytes;
    response->body_is_static = true; // it is the request's
}

void serve_get_picture(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreBlobRef blob;
    uint32_t number;
    uint8_t head[2] = {0};
    if (!place_enter(serve, request, response, RIGHT_SEE, &ask) ||
        !read_number(request, response, &number)) {
        return;
    }
    const Status status =
        store_blob_used(serve->store, ask.package.package_id, STORE_BLOB_PICTURE, number, &blob);
    if (status == STATUS_NOT_FOUND && number == 0) {
        send_drawn(request, response, ask.package.package_id);
        return;
    }
    if (status != STATUS_OK) {
        http_fail(request, response, 404, "not_found", "there is no such picture");
        return;
    }
    if (place_put_blob(serve, request, response, blob.hash)) {
        (void)response->stream.read(response->stream.user, 0, head, sizeof head);
        response->content_type = head[0] == 0xff ? "image/jpeg" : "image/png";
        response->is_attachment = false; // it was decoded before, and is a picture
    }
}

typedef struct PictureQuestion {
    const uint8_t *bytes;
    size_t count;
    uint32_t edge_px;
    bool is_jpeg;
    Buffer *smaller;
} PictureQuestion;

static Status write_picture(void *user, Buffer *request)
{
    const PictureQuestion *picture = user;
    const char *path = picture->is_jpeg ? "assets/picture.jpg" : "assets/picture.png";
    package_asset_request(path, picture->bytes, picture->count, picture->edge_px, request);
    return STATUS_OK;
}

static Status read_picture(void *user, Status said, const Buffer *reply)
{
    const PictureQuestion *picture = user;
    AssetInfo info;
    (void)said;
    return package_asset_read(reply, picture->is_jpeg ? KIND_JPEG : KIND_PNG, &info,
                              picture->edge_px > 0 ? picture->smaller : NULL);
}

// Only the jailed worker decodes it. With `edge_px` it makes a smaller one of it.
static Status check_picture(const Serve *serve, const uint8_t *bytes, size_t count,
                            uint32_t edge_px, Buffer *smaller, char reason[WORKER_REASON_BYTES])
{
    const bool is_jpeg = count > 2 && bytes[0] == 0xff && bytes[1] == 0xd8;
    PictureQuestion picture = {bytes, count, edge_px, is_jpeg, smaller};
    WorkerQuestion question = {
        .op = WORKER_ASSET, .write = write_picture, .read = read_picture, .user = &picture};
    WorkerConfig config = worker_config_default();
    BuildContext context = {.reason = reason};
    config.allow_weak_jail = serve->config.allow_weak_jail;
    Status status = worker_create(&config, &context.worker);
    if (status == STATUS_OK) {
        status = context_ask(&context, &question);
    }
    worker_destroy(context.worker);
    return status;
}

static void answer_picture(HttpRequest *request, HttpResponse *response, const char *place_id,
                           uint32_t number, const char *hex)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "place_id", place_id);
    serve_write_number(&answer.json, "number", number);
    if (hex != NULL) {
        serve_write_member(&answer.json, "sha256", hex);
    }
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// The row refuses, or the response says what is stored.
static void set_picture(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const PlaceAsk *ask, uint32_t number, const uint8_t *hash, uint64_t bytes)
{
    char hex[2 * SHA256_BYTES + 1] = "";
    const Status status = store_picture_set(serve->store, ask->package.package_id, number, hash,
                                            bytes, serve_account_bytes_max(serve));
    if (status == STATUS_LIMIT) {
        place_refuse_quota(serve, ask->package.owner_id, bytes, request, response);
    } else if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such picture");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    } else {
        if (hash != NULL) {
            sha256_hex(hash, hex);
        }
        answer_picture(request, response, ask->package.package_id, number,
                       hash != NULL ? hex : NULL);
    }
}

void serve_put_picture(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    uint32_t number;
    size_t bytes;
    uint8_t hash[SHA256_BYTES];
    char reason[WORKER_REASON_BYTES] = "";
    Buffer smaller = buffer_of(ASSET_THUMBNAIL_BYTES);
    const uint8_t *body = http_body(request, &bytes);
    if (!place_enter(serve, request, response, RIGHT_EDIT, &ask) ||
        !read_number(request, response, &number) ||
        serve_refuse_upload(serve, serve->data, request, response)) {
        return;
    }
    // The thumbnail is on every card that lists the place: it is kept small.
    const Status checked =
        check_picture(serve, body, bytes, number == 0 ? ASSET_CARD_PX : 0, &smaller, reason);
    if (checked == STATUS_OK && number == 0) {
        body = smaller.data;
        bytes = smaller.bytes;
    }
    if (checked == STATUS_BLOCKED || checked == STATUS_DENIED) {
        place_refuse_store(request, response, STATUS_BLOCKED);
    } else if (checked != STATUS_OK) {
        http_fail(request, response, 400, "no_picture",
                  reason[0] != '\0' ? reason : "this is neither a PNG nor a JPEG");
    } else if (blob_put(serve->blobs, body, bytes, hash) != STATUS_OK) {
        serve_fail_blob(serve, request, response);
    } else {
        set_picture(serve, request, response, &ask, number, hash, bytes);
    }
    buffer_free(&smaller);
}

void serve_delete_picture(void *user, HttpRequest *request, HttpResponse *response)
{
    PlaceAsk ask;
    uint32_t number;
    if (place_enter(user, request, response, RIGHT_EDIT, &ask) &&
        read_number(request, response, &number)) {
        set_picture(user, request, response, &ask, number, NULL, 0);
    }
}

// See http_spell.h. All of this waits for the disk, and runs on the pool.
#define _GNU_SOURCE
#include "server/serve/publish/http_spell.h"

#include "core/base/json_member.h"
#include "core/base/json_write.h"
#include "core/base/utf8.h"
#include "server/serve/http/body.h"
#include "server/serve/place/place_build.h"
#include "server/serve/publish/spell_bundle.h"
#include "server/serve/publish/spell_list.h"
#include "server/store/place/store_publish.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES  (64u << 10)
#define NOTES_SHOWN 200 // bytes of a prompt

// --- what is asked ------------------------------------------------------------------------------

typedef struct SpellBody {
    const char *text; // in the request's memory
    size_t bytes;
    bool is_prompt; // it becomes a .soul
    const JsonNode *metadata;
    const JsonNode *modules; // the others, by name; NULL: none
} SpellBody;

static bool fail_body(HttpRequest *request, HttpResponse *response, const char *text)
{
    http_fail(request, response, 400, "malformed", text);
    return false;
}

// A member that is a text with something in it; *node is NULL for none, null and "".
static bool read_member(HttpRequest *request, HttpResponse *response, const JsonNode *root,
                        const char *name, const JsonNode **node)
{
    *node = json_find(root, name);
    if (*node == NULL || (*node)->kind == JSON_NULL) {
        *node = NULL;
        return true;
    }
    if ((*node)->kind != JSON_STRING) {
        return fail_body(request, response, "prompt and code are texts");
    }
    if ((*node)->count > VM_SOURCE_BYTES_MAX) {
        http_fail(request, response, 413, "too_large", "prompt and code have at most 256 KiB");
        return false;
    }
    *node = (*node)->count > 0 ? *node : NULL;
    return true;
}

static bool read_options(HttpRequest *request, HttpResponse *response, const JsonNode *root,
                         SpellBody *out)
{
    static const char *const members[] = {"metadata", NULL};
    const JsonNode *options = json_find(root, "options");
    char text[256];
    if (options == NULL || options->kind == JSON_NULL) {
        return true;
    }
    if (options->kind != JSON_OBJECT) {
        return fail_body(request, response, "options is an object");
    }
    if (serve_body_has_odd(options, members, text, sizeof text)) {
        http_fail(request, response, 400, "unknown_member", text);
        return false;
    }
    out->metadata = json_find(options, "metadata");
    if (out->metadata != NULL && out->metadata->kind != JSON_OBJECT &&
        out->metadata->kind != JSON_NULL) {
        return fail_body(request, response, "metadata is an object");
    }
    return true;
}

// {"part": "return {}"}: at most 15 beside the first, each a text with a name.
static bool read_modules(HttpRequest *request, HttpResponse *response, const JsonNode *root,
                         SpellBody *out)
{
    const JsonNode *modules = json_find(root, "modules");
    uint32_t count = 0;
    if (modules == NULL || modules->kind == JSON_NULL) {
        return true;
    }
    if (modules->kind != JSON_OBJECT) {
        return fail_body(request, response, "modules is an object: names, and Lua as texts");
    }
    for (const JsonNode *one = modules->first; one != NULL; one = one->next) {
        count += 1;
        if (!spell_part_is_valid(one->name) || one->kind != JSON_STRING ||
            count == SPELL_MODULES_MAX) {
            return fail_body(request, response,
                             "modules are at most 15 texts, whose names are 1 to 32 of A-Z a-z 0-9 "
                             "_ -");
        }
        if (one->count > VM_SOURCE_BYTES_MAX) {
            http_fail(request, response, 413, "too_large", "a module has at most 256 KiB");
            return false;
        }
    }
    out->modules = modules;
    return true;
}

static const JsonNode *parse_body(HttpRequest *request, HttpResponse *response)
{
    size_t bytes;
    const uint8_t *body = http_body(request, &bytes);
    const size_t capacity = 4 * bytes + (256u << 10);
    void *memory = malloc(capacity);
    const JsonNode *root = NULL;
    Arena arena;
    http_keep(request, memory);
    arena_init(&arena, memory, memory != NULL ? capacity : 0);
    const JsonConfig config = {.arena = &arena,
                               .bytes_max = SERVE_BUILD_BODY_BYTES,
                               .node_count_max = 2048,
                               .depth_max = 16};
    const Status status =
        memory != NULL ? json_parse(&config, (const char *)body, bytes, &root, NULL) : STATUS_LIMIT;
    if (bytes > 0 && (status != STATUS_OK || root->kind != JSON_OBJECT)) {
        fail_body(
            request, response,
            "the body must be {\"prompt\":\"…\",\"code\":\"…\",\"options\":{\"metadata\":{}}}");
        return NULL;
    }
    return bytes > 0 && serve_body_fits(root, request, response) ? root : NULL;
}

static bool read_body(HttpRequest *request, HttpResponse *response, SpellBody *out)
{
    const JsonNode *prompt, *code, *root = parse_body(request, response);
    if (root == NULL) {
        return response->status >= 400
                   ? false
                   : fail_body(request, response, "a spell is made of code, or of a prompt");
    }
    if (!read_member(request, response, root, "prompt", &prompt) ||
        !read_member(request, response, root, "code", &code) ||
        !read_options(request, response, root, out) ||
        !read_modules(request, response, root, out)) {
        return false;
    }
    if (prompt == NULL && code == NULL) {
        return fail_body(request, response, "a spell is made of code, or of a prompt");
    }
    out->is_prompt = code == NULL;
    out->text = code != NULL ? code->text : prompt->text;
    out->bytes = code != NULL ? code->count : prompt->count;
    return true;
}

// --- its package --------------------------------------------------------------------------------

static const char scene[] =
    "{\"format\":1,\"entities\":[{\"id\":1,\"name\":\"Spawn\",\"type\":\"spawn\","
    "\"transform\":{\"position\":[0,0,0]}}]}\n";

// What a package of a spell is made of.
typedef struct SpellFiles {
    PlaceFile files[SPELL_MODULES_MAX + 3];
    char paths[SPELL_MODULES_MAX][SPELL_PATH_BYTES];
    char place[2 * SPELL_ID_BYTES];
    uint8_t metadata[SPELL_METADATA_BYTES_MAX];
} SpellFiles;

// The files of a place with these modules, at the paths that they have in a place which uses it.
static Status fill_files(const char *spell_id, const SpellBody *body, SpellFiles *out,
                         uint32_t *count)
{
    PlaceFile *files = out->files;
    uint8_t *metadata = out->metadata;
    char *place = out->place;
    ByteWriter writer = byte_writer(metadata, SPELL_METADATA_BYTES_MAX);
    const JsonNode *part = body->modules != NULL ? body->modules->first : NULL;
    spell_module_path(spell_id, "", body->is_prompt ? "soul" : "lua", out->paths[0]);
    snprintf(place, 2 * SPELL_ID_BYTES, "{\"format\":1,\"name\":\"%s\"}\n", spell_id);
    *count = 0;
    files[(*count)++] = (PlaceFile){out->paths[0], (uint8_t *)body->text, body->bytes};
    for (uint32_t i = 1; part != NULL; part = part->next, i++) {
        spell_module_path(spell_id, part->name, "lua", out->paths[i]);
        files[(*count)++] = (PlaceFile){out->paths[i], (uint8_t *)part->text, part->count};
    }
    if (body->metadata != NULL && body->metadata->kind == JSON_OBJECT) {
        JsonWriter json = json_writer(&writer, 2);
        json_write_node(&json, body->metadata);
        if (json_writer_finish(&json) != STATUS_OK) {
            return STATUS_LIMIT;
        }
        files[(*count)++] = (PlaceFile){"metadata.json", metadata, writer.at};
    }
    files[(*count)++] = (PlaceFile){"place.json", (const uint8_t *)place, strlen(place)};
    files[(*count)++] = (PlaceFile){"scene.json", (const uint8_t *)scene, sizeof scene - 1};
    qsort(files, *count, sizeof *files, place_file_compare);
    return STATUS_OK;
}

static Status write_package(const Serve *serve, const PlaceFolder *files, Buffer *out,
                            char reason[WORKER_REASON_BYTES])
{
    WorkerConfig config = worker_config_default();
    Worker *worker = NULL;
    DiagnosticList problems = {0};
    config.allow_weak_jail = serve->config.allow_weak_jail;
    Status status = worker_create(&config, &worker);
    if (status == STATUS_OK) {
        const BuildContext context = {.worker = worker, .diagnostics = &problems, .reason = reason};
        status = package_write_files(&context, files, out);
        if (status != STATUS_OK && reason[0] == '\0' && problems.count > 0) {
            diagnostic_text(&problems.items[0], "", reason, WORKER_REASON_BYTES);
        }
    }
    worker_destroy(worker);
    diagnostic_list_free(&problems);
    return status;
}

// The package as a blob. False: the response says why not.
static bool pack(Serve *serve, HttpRequest *request, HttpResponse *response, const SpellBody *body,
                 StoreRevision *revision)
{
    char reason[WORKER_REASON_BYTES] = "";
    SpellFiles *files = malloc(sizeof *files);
    http_keep(request, files);
    if (files == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return false;
    }
    PlaceFolder folder = {.files = files->files};
    Buffer package = buffer_of(PACKAGE_BYTES_MAX);
    if (fill_files(revision->package_id, body, files, &folder.file_count) != STATUS_OK) {
        http_fail(request, response, 413, "too_large", "metadata has at most 16 KiB");
        return false;
    }
    Status status = write_package(serve, &folder, &package, reason);
    if (status == STATUS_MALFORMED) {
        http_fail(request, response, 400, "invalid_spell", reason);
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it cannot be packed now; try again");
    } else {
        revision->package_bytes = package.bytes;
        status = blob_put(serve->blobs, package.data, package.bytes, revision->package_hash);
        if (status != STATUS_OK) {
            serve_fail_blob(serve, request, response);
        }
    }
    buffer_free(&package);
    return status == STATUS_OK;
}

// --- building -----------------------------------------------------------------------------------

static void refuse_limit(Serve *serve, HttpRequest *request, HttpResponse *response, uint64_t owner,
                         const StoreRevision *revision, bool is_bytes)
{
    if (is_bytes) {
        place_refuse_quota(serve, owner, revision->package_bytes, request, response);
    } else {
        http_fail(request, response, 409, "too_many_spells",
                  "you have as many spells as an account may have; delete one for good");
    }
}

// The first who builds an id owns it. STATUS_EXISTS: it is somebody's.
static Status make_spell(Serve *serve, HttpRequest *request, HttpResponse *response,
                         StoreRevision *revision)
{
    StorePackage package = {.kind = STORE_SPELL,
                            .owner_id = revision->maker_id,
                            .visibility = STORE_PRIVATE,
                            .created_unix_ms = revision->created_unix_ms,
                            .updated_unix_ms = revision->created_unix_ms};
    const StorePublish wish = {.package = &package,
                               .revision = revision,
                               .count_max = PACKAGES_PER_ACCOUNT_MAX,
                               .bytes_max = serve_account_bytes_max(serve)};
    bool is_bytes = false;
    memcpy(package.package_id, revision->package_id, sizeof package.package_id);
    const Status status = store_package_publish(serve->store, &wish, &is_bytes);
    if (status == STATUS_LIMIT) {
        refuse_limit(serve, request, response, revision->maker_id, revision, is_bytes);
    } else if (status != STATUS_OK && status != STATUS_EXISTS) {
        place_refuse_store(request, response, status);
    }
    return status;
}

static Status add_revision(Serve *serve, HttpRequest *request, HttpResponse *response,
                           StoreRevision *revision)
{
    PlaceAsk ask;
    if (!place_enter(serve, request, response, RIGHT_EDIT, &ask)) {
        return STATUS_DENIED;
    }
    const Status status =
        store_revision_add(serve->store, revision, serve_account_bytes_max(serve));
    if (status == STATUS_LIMIT) {
        refuse_limit(serve, request, response, ask.package.owner_id, revision, true);
    } else if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such spell");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status;
}

// As for an upload: the blob, a place in the queue, the row, the job.
static bool begin_build(Serve *serve, HttpRequest *request, HttpResponse *response,
                        StoreRevision *revision)
{
    if (!place_build_reserve(serve, revision->maker_id, revision->job_id, request, response)) {
        return false;
    }
    Status status = make_spell(serve, request, response, revision);
    if (status == STATUS_EXISTS) {
        status = add_revision(serve, request, response, revision);
    }
    if (status != STATUS_OK) {
        job_drop(serve_jobs(serve), revision->job_id);
        return false;
    }
    place_build_begin(serve, revision);
    return true;
}

// Whether the id may be built by who asks, before anything is packed. One that is free may.
static bool may_build(Serve *serve, HttpRequest *request, HttpResponse *response)
{
    PlaceAsk ask;
    const char *id = http_path_part(request, 0);
    if (serve->control == NULL || !spell_id_is_valid(id)) {
        http_fail(request, response, 404, "not_found",
                  "a spell's id is 1 to 64 of A-Z a-z 0-9 _ -, and does not begin with place_");
        return false;
    }
    return store_package_find(serve->store, id, &ask.package) == STATUS_NOT_FOUND ||
           place_enter(serve, request, response, RIGHT_EDIT, &ask);
}

void serve_post_spell_build(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    SpellBody body = {.metadata = NULL};
    StoreRevision revision = {.state = STORE_REVISION_BUILDING, .created_unix_ms = clock_unix_ms()};
    if (!read_body(request, response, &body) || !may_build(serve, request, response) ||
        serve_refuse_upload(serve, serve->data, request, response)) {
        return;
    }
    revision.maker_id = serve_who(request)->account;
    snprintf(revision.package_id, sizeof revision.package_id, "%s", http_path_part(request, 0));
    snprintf(revision.notes, sizeof revision.notes, "%s%.*s", body.is_prompt ? "prompt: " : "code",
             body.is_prompt ? NOTES_SHOWN : 0, body.text);
    utf8_clean(revision.notes);
    if (!pack(serve, request, response, &body, &revision) ||
        !begin_build(serve, request, response, &revision)) {
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "job_id", revision.job_id);
    serve_write_member(&answer.json, "spell_id", revision.package_id);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
    response->status = 202;
}

// --- publishing ---------------------------------------------------------------------------------

// A manifest in the answer, as a tree.
static void write_manifest(Serve *serve, JsonWriter *json, HttpRequest *request,
                           const char *spell_id, uint32_t number)
{
    StoreBlobRef blob;
    uint8_t *text = NULL;
    size_t bytes = 0;
    const JsonNode *root = NULL;
    Arena arena;
    json_write_name(json, "manifest");
    if (store_blob_used(serve->store, spell_id, STORE_BLOB_MANIFEST, number, &blob) == STATUS_OK &&
        blob_read(serve->blobs, blob.hash, PAGE_BYTES / 4, &text, &bytes) == STATUS_OK) {
        void *memory = malloc(64 * bytes + 4096);
        http_keep(request, memory);
        arena_init(&arena, memory, memory != NULL ? 64 * bytes + 4096 : 0);
        const JsonConfig config = json_config_default(&arena);
        if (json_parse(&config, (const char *)text, bytes, &root, NULL) != STATUS_OK) {
            root = NULL;
        }
    }
    if (root != NULL) {
        json_write_node(json, root);
    } else {
        json_write_null(json);
    }
    free(text);
}

static bool read_publish(HttpRequest *request, HttpResponse *response, uint32_t *number,
                         char channel[8])
{
    char id[REVISION_ID_BYTES] = "";
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL || !serve_body_text(request, response, body, "revision_id", id, sizeof id) ||
        !serve_body_text(request, response, body, "channel", channel, 8)) {
        return false;
    }
    if (!revision_id_read(id, number)) {
        return fail_body(request, response, "revision_id is one of the spell's, such as \"r3\"");
    }
    return strcmp(channel, "live") == 0 || strcmp(channel, "beta") == 0 ||
           fail_body(request, response, "channel is beta or live");
}

void serve_post_spell_publish(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    uint32_t number = 0;
    char channel[8] = "";
    if (!read_publish(request, response, &number, channel) ||
        !place_enter(serve, request, response, RIGHT_EDIT, &ask)) {
        return;
    }
    const char *spell_id = ask.package.package_id;
    const Status status = store_channel_set(serve->store, spell_id,
                                            strcmp(channel, "live") == 0 ? STORE_LIVE : STORE_BETA,
                                            number, clock_unix_ms(), NULL);
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such revision");
    } else if (status == STATUS_DENIED) {
        http_fail(request, response, 409, "not_ready",
                  "this revision is not ready: its build has not ended, or has failed");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    } else {
        place_build_record(serve, serve_who(request)->account, spell_id, channel, number);
        ServeAnswer answer;
        serve_answer_begin_large(&answer, request, PAGE_BYTES);
        json_write_object_begin(&answer.json);
        serve_write_member(&answer.json, "spell_id", spell_id);
        place_write_revision_id(&answer.json, "revision_id", number);
        serve_write_member(&answer.json, "channel", channel);
        write_manifest(serve, &answer.json, request, spell_id, number);
        json_write_object_end(&answer.json);
        serve_answer_end(&answer, response);
    }
}

// --- its page -----------------------------------------------------------------------------------

static void answer_page(HttpRequest *request, HttpResponse *response, const PlaceAsk *ask)
{
    const StorePackage *package = &ask->package;
    ServeAnswer answer;
    JsonWriter *json = &answer.json;
    serve_answer_begin_large(&answer, request, PAGE_BYTES);
    json_write_object_begin(json);
    serve_write_member(json, "spell_id", package->package_id);
    serve_write_member(json, "title", package->title);
    serve_write_member(json, "description", package->description);
    serve_write_member(json, "visibility", place_visibility_name(package->visibility));
    json_member_bool(json, "open", (package->flags & STORE_PACKAGE_OPEN) != 0);
    serve_write_number(json, "revisions", package->last_revision);
    place_write_revision_id(json, "live", package->live);
    place_write_revision_id(json, "beta", (ask->rights & RIGHT_TEST) != 0 ? package->beta : 0);
    serve_write_time(json, "created_at", package->created_unix_ms);
    serve_write_time(json, "updated_at", package->updated_unix_ms);
    if (package->trashed_unix_ms != 0) {
        serve_write_time(json, "trashed_at", package->trashed_unix_ms);
    } else {
        serve_write_member(json, "trashed_at", NULL);
    }
    json_member_bool(json, "removed", (package->flags & STORE_PACKAGE_REMOVED) != 0);
    serve_write_number(json, "version", package->version);
    json_write_object_end(json);
    serve_answer_end(&answer, response);
}

void serve_get_spell(void *user, HttpRequest *request, HttpResponse *response)
{
    PlaceAsk ask;
    if (place_enter(user, request, response, RIGHT_SEE, &ask)) {
        answer_page(request, response, &ask);
    }
}

// Writes the row, and answers with it.
static void change(Serve *serve, HttpRequest *request, HttpResponse *response, PlaceAsk *ask)
{
    const Status status = store_package_change(serve->store, &ask->package);
    if (status == STATUS_MISMATCH) {
        http_fail(request, response, 412, "changed",
                  "somebody else has changed this spell meanwhile; try again");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    } else {
        answer_page(request, response, ask);
    }
}

void serve_patch_spell(void *user, HttpRequest *request, HttpResponse *response)
{
    PlaceAsk ask;
    if (place_enter(user, request, response, RIGHT_EDIT, &ask) &&
        place_matches(request, response, &ask.package) &&
        place_read_patch(user, request, response, &ask.package)) {
        change(user, request, response, &ask);
    }
}

void serve_delete_spell(void *user, HttpRequest *request, HttpResponse *response)
{
    PlaceAsk ask;
    if (place_enter(user, request, response, RIGHT_OWN, &ask) &&
        place_matches(request, response, &ask.package)) {
        ask.package.trashed_unix_ms =
            ask.package.trashed_unix_ms != 0 ? ask.package.trashed_unix_ms : clock_unix_ms();
        change(user, request, response, &ask);
    }
}

void serve_restore_spell(void *user, HttpRequest *request, HttpResponse *response)
{
    PlaceAsk ask;
    if (!place_enter(user, request, response, RIGHT_OWN, &ask)) {
        return;
    }
    if (ask.package.trashed_unix_ms == 0) {
        http_fail(request, response, 409, "not_in_trash", "this spell is not in the trash");
        return;
    }
    ask.package.trashed_unix_ms = 0;
    change(user, request, response, &ask);
}

// --- its files ----------------------------------------------------------------------------------

// The modules of a revision; the caller frees bundle->memory.
static Status read_bundle(Serve *serve, const char *spell_id, uint32_t number, SpellBundle *bundle)
{
    StoreBlobRef module;
    uint8_t *text = NULL;
    size_t bytes = 0;
    Status status = store_blob_used(serve->store, spell_id, STORE_BLOB_MODULE, number, &module);
    if (status == STATUS_OK) {
        status = blob_read(serve->blobs, module.hash, SPELL_BUNDLE_BYTES_MAX, &text, &bytes);
    }
    status = status == STATUS_OK ? spell_bundle_parse(text, bytes, bundle) : status;
    free(text);
    return status;
}

// A module is also there if its package has a .soul: the Lua that was made of it.
void serve_get_spell_file(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreRevision revision;
    SpellBundle bundle;
    char path[SPELL_PATH_BYTES];
    if (!place_enter_revision(serve, request, response, RIGHT_READ, &ask, &revision)) {
        return;
    }
    spell_module_path(ask.package.package_id, "", "lua", path);
    if (strcmp(http_path_part(request, 2), path) != 0 ||
        read_bundle(serve, ask.package.package_id, revision.revision, &bundle) != STATUS_OK) {
        serve_get_file(user, request, response);
        return;
    }
    http_keep(request, bundle.memory);
    response->body = (const uint8_t *)bundle.modules[0].text;
    response->bytes = bundle.modules[0].bytes;
    response->body_is_static = true; // it is the request's
    response->content_type = "application/octet-stream";
    response->is_attachment = true;
}

void serve_get_spell_module(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreRevision revision;
    StoreBlobRef module;
    if (!place_enter_revision(serve, request, response, RIGHT_READ, &ask, &revision)) {
        return;
    }
    if (store_blob_used(serve->store, ask.package.package_id, STORE_BLOB_MODULE, revision.revision,
                        &module) != STATUS_OK) {
        http_fail(request, response, 404, "not_found", "this revision was not built");
        return;
    }
    (void)place_put_blob(serve, request, response, module.hash);
}

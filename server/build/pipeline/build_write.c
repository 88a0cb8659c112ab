// The manifests of both sides, signed, and the artifacts on disk. The version rises when the set of
// (path, hash, context) is another than the last one that was signed, and only then; if all bytes
// on disk are already what they would become, nothing is written. A build that leaves the place
// alone notes its version too, or each would have the same one.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "server/build/ask/ask_artifact.h"
#include "server/build/pipeline/build_stages.h"
#include "server/build/pipeline/build_version.h"
#include "server/build/sign/generated_lua_list.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST_FILE "manifest.json"

// The files of one folder: the manifest, a rune and perhaps Lua for each script, and the list of
// that Lua.
typedef struct FileSet {
    PlaceFile files[2 * MANIFEST_ROWS_MAX + 2];
    char names[2 * MANIFEST_ROWS_MAX + 2][SCRIPT_PATH_BYTES + 8];
    uint32_t count;
} FileSet;

typedef struct Writing {
    Build *build;
    ManifestRow rows[MANIFEST_ROWS_MAX];
    char paths[MANIFEST_ROWS_MAX][SCRIPT_PATH_BYTES + 8]; // with endings
    Text requires[MANIFEST_ROWS_MAX][MANIFEST_REQUIRES_MAX];
    ManifestRow client_rows[MANIFEST_ROWS_MAX];
    uint32_t row_count, client_row_count;
    FileSet sets[ARTIFACT_SIDES];
    Buffer manifests[ARTIFACT_SIDES];
    Buffer generated_lua_list;
    char version_path[BUILD_VERSION_PATH_BYTES];
    BuildVersion version;
    _Alignas(max_align_t) uint8_t arena_block[MANIFEST_ARENA_BYTES];
} Writing;

// --- rows ---------------------------------------------------------------------------------------

// A wrong row would be signed, sent, and trusted by every world and client.
static void check_item(const BuildItem *item)
{
    uint8_t hash[SHA256_BYTES];
    ASSERT(item->is_built && item->output.rune != NULL);
    ASSERT(item->output.rune_bytes > 0 && item->output.rune_bytes <= MANIFEST_RUNE_BYTES_MAX);
    ASSERT(item->output.require_count <= MANIFEST_REQUIRES_MAX);
    ASSERT(!item->replicate || item->context != CONTEXT_SERVER); // else a secret is sent
    sha256_of(item->output.rune, item->output.rune_bytes, hash);
    ASSERT(memcmp(hash, item->output.rune_hash, sizeof hash) == 0);
}

static void fill_row(Writing *writing, const BuildItem *item, uint32_t at)
{
    check_item(item);
    snprintf(writing->paths[at], sizeof writing->paths[at], "%s%s", item->path,
             soul_language_ending(item->language));
    for (uint32_t i = 0; i < item->output.require_count; i++) {
        writing->requires[at][i] = text_from(item->output.requires[i]);
    }
    writing->rows[at] = (ManifestRow){.path = text_from(writing->paths[at]),
                                      .size_bytes = (uint32_t)item->output.rune_bytes,
                                      .run_context = text_from(soul_context_name(item->context)),
                                      .service = text_from(soul_service_name(item->service)),
                                      .replicate = item->replicate,
                                      .requires = writing->requires[at],
                                      .require_count = item->output.require_count};
    memcpy(writing->rows[at].rune_hash, item->output.rune_hash, 32);
}

static int by_path(const void *a, const void *b)
{
    const Text one = ((const ManifestRow *)a)->path, two = ((const ManifestRow *)b)->path;
    const size_t common = one.bytes < two.bytes ? one.bytes : two.bytes;
    const int order = memcmp(one.data, two.data, common);
    return order != 0 ? order : (one.bytes > two.bytes) - (one.bytes < two.bytes);
}

// Paths have their endings here, so their order differs from that of the items.
static void fill_rows(Writing *writing)
{
    ASSERT(writing->build->item_count <= MANIFEST_ROWS_MAX);
    for (uint32_t i = 0; i < writing->build->item_count; i++) {
        fill_row(writing, &writing->build->items[i], writing->row_count++);
    }
    qsort(writing->rows, writing->row_count, sizeof writing->rows[0], by_path);
    for (uint32_t i = 0; i < writing->row_count; i++) {
        ASSERT(i == 0 || by_path(&writing->rows[i - 1], &writing->rows[i]) < 0); // no path twice
        if (writing->rows[i].replicate) {
            writing->client_rows[writing->client_row_count++] = writing->rows[i];
        }
    }
}

// --- the version --------------------------------------------------------------------------------

static bool is_same_set(const ManifestList *before, const ManifestRow *rows, uint32_t count)
{
    if (before->row_count != count) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const ManifestRow *old = &before->rows[i];
        if (!text_equal(old->path, rows[i].path) ||
            !text_equal(old->run_context, rows[i].run_context) ||
            memcmp(old->rune_hash, rows[i].rune_hash, sizeof old->rune_hash) != 0) {
            return false;
        }
    }
    return true;
}

// Each field ends with a zero byte, which no field contains.
static void hash_set(const Writing *writing, uint8_t out[SHA256_BYTES])
{
    static const uint8_t zero[1] = {0};
    Sha256 sha;
    sha256_init(&sha);
    for (uint32_t i = 0; i < writing->row_count; i++) {
        const ManifestRow *row = &writing->rows[i];
        sha256_update(&sha, row->path.data, row->path.bytes);
        sha256_update(&sha, zero, sizeof zero);
        sha256_update(&sha, row->run_context.data, row->run_context.bytes);
        sha256_update(&sha, zero, sizeof zero);
        sha256_update(&sha, row->rune_hash, sizeof row->rune_hash);
    }
    sha256_final(&sha, out);
}

// Reads the existing manifest. If it is unreadable or not signed by us it counts as missing.
static Status read_before(Writing *writing, const PlaceFolder *before,
                          const SigningPublicKeys *halves, bool *is_ours, ManifestList *list)
{
    Arena arena;
    Build *build = writing->build;
    arena_init(&arena, writing->arena_block, sizeof writing->arena_block);
    const PlaceFile *file = artifact_named(before, MANIFEST_FILE);
    *is_ours = false;
    if (file == NULL || file->bytes > MANIFEST_BYTES_MAX) {
        return STATUS_OK;
    }
    const Status status = manifest_ask(&build->context, &arena, file, halves, list, NULL);
    *is_ours = status == STATUS_OK;
    return status == STATUS_BLOCKED || build_is_cancelled(build) ? status : STATUS_OK;
}

// Versions only rise. Both sides count, because after a crash one of them may be ahead. The version
// recorded beside the key is at least as new, unless somebody deleted it.
static Status next_version(Writing *writing, const PlaceFolder before[ARTIFACT_SIDES],
                           const SigningPublicKeys *halves, const BuildVersion *noted)
{
    uint32_t highest = 0;
    bool is_same = false;
    for (uint32_t side = 0; side < ARTIFACT_SIDES; side++) {
        bool is_ours;
        ManifestList list;
        const Status status = read_before(writing, &before[side], halves, &is_ours, &list);
        if (status != STATUS_OK) {
            return status;
        }
        if (!is_ours) {
            continue;
        }
        if (side == ARTIFACT_SERVER) {
            is_same = is_same_set(&list, writing->rows, writing->row_count);
        } else if (list.version > highest) {
            is_same = false;
        }
        highest = list.version > highest ? list.version : highest;
    }
    if (noted->number > 0 && noted->number >= highest) {
        highest = noted->number;
        is_same = memcmp(noted->set, writing->version.set, sizeof noted->set) == 0;
    }
    writing->version.number = is_same ? highest : highest + (highest < UINT32_MAX);
    return STATUS_OK;
}

// --- the files ----------------------------------------------------------------------------------

static void add_file(FileSet *set, const char *path, const char *ending, const void *data,
                     size_t bytes)
{
    ASSERT(set->count < sizeof set->files / sizeof set->files[0]);
    char *name = set->names[set->count];
    snprintf(name, sizeof set->names[0], "%s%s", path, ending);
    set->files[set->count++] = (PlaceFile){.path = name, .data = data, .bytes = bytes};
}

static Status fill_set(Writing *writing, ArtifactSide side)
{
    FileSet *set = &writing->sets[side];
    bool has_lua = false;
    Status status = STATUS_OK;
    add_file(set, MANIFEST_FILE, "", writing->manifests[side].data, writing->manifests[side].bytes);
    for (uint32_t i = 0; i < writing->build->item_count; i++) {
        const BuildItem *item = &writing->build->items[i];
        if (side == ARTIFACT_SERVER || item->replicate) {
            add_file(set, item->path, ".rune", item->output.rune, item->output.rune_bytes);
        }
        if (side == ARTIFACT_SERVER && item->generated.lua != NULL) {
            add_file(set, item->path, ".lua", item->generated.lua, item->generated.file_bytes);
            has_lua = true;
        }
    }
    qsort(set->files, set->count, sizeof set->files[0], place_file_compare);
    if (has_lua) {
        Buffer *list = &writing->generated_lua_list;
        *list = buffer_of(GENERATED_LUA_LIST_BYTES_MAX);
        status = generated_lua_list_write(set->files, set->count, &writing->build->key, list);
        add_file(set, GENERATED_LUA_LIST_FILE, "", list->data, list->bytes);
        qsort(set->files, set->count, sizeof set->files[0], place_file_compare);
    }
    return status;
}

static bool is_same_folder(const PlaceFolder *before, const FileSet *set)
{
    bool same = before->file_count == set->count;
    for (uint32_t i = 0; same && i < set->count; i++) {
        const PlaceFile *old = &before->files[i], *new = &set->files[i];
        same = old->bytes == new->bytes &&strcmp(old->path, new->path) == 0 &&
               memcmp(old->data, new->data, new->bytes) == 0;
    }
    return same;
}

// --- all of it ----------------------------------------------------------------------------------

static Status sign_one(Writing *writing, ArtifactSide side, uint32_t version)
{
    const bool is_client = side == ARTIFACT_CLIENT;
    ASSERT(version > 0);
    ASSERT(writing->client_row_count <= writing->row_count); // clients get a part of the rows
    const ManifestList list = {.version = version,
                               .rows = is_client ? writing->client_rows : writing->rows,
                               .row_count =
                                   is_client ? writing->client_row_count : writing->row_count};
    buffer_free(&writing->manifests[side]);
    writing->manifests[side] = buffer_of(MANIFEST_BYTES_MAX);
    const Status status = manifest_sign(&list, &writing->build->key, &writing->manifests[side]);
    if (status != STATUS_OK) {
        snprintf(writing->build->context.reason, WORKER_REASON_BYTES,
                 "the manifest would be larger than %u MiB; scripts require too many others",
                 MANIFEST_BYTES_MAX >> 20);
    }
    return status;
}

static Status sign(Writing *writing, uint32_t version)
{
    const Status status = sign_one(writing, ARTIFACT_SERVER, version);
    return status == STATUS_OK ? sign_one(writing, ARTIFACT_CLIENT, version) : status;
}

static bool has_manifests(const Writing *writing, const PlaceFolder before[ARTIFACT_SIDES])
{
    bool has_both = true;
    for (uint32_t side = 0; side < ARTIFACT_SIDES; side++) {
        const PlaceFile *file = artifact_named(&before[side], MANIFEST_FILE);
        const Buffer *wanted = &writing->manifests[side];
        has_both = has_both && file != NULL && file->bytes == wanted->bytes &&
                   memcmp(file->data, wanted->data, wanted->bytes) == 0;
    }
    return has_both;
}

// If both manifests on disk are exactly what would be signed with the recorded number, or if
// nothing will be written, they need not be read: an unchanged place starts no worker.
static Status sign_both(Writing *writing, const PlaceFolder before[ARTIFACT_SIDES],
                        const SigningPublicKeys *halves)
{
    const BuildVersion noted = build_version_read(writing->version_path);
    const bool is_noted =
        noted.number > 0 && memcmp(noted.set, writing->version.set, sizeof noted.set) == 0;
    Status status = is_noted ? sign(writing, noted.number) : STATUS_OK;
    const bool is_known =
        is_noted && (!writing->build->request->write || has_manifests(writing, before));
    if (status == STATUS_OK && is_known) {
        writing->version.number = noted.number;
        return STATUS_OK;
    }
    status = status == STATUS_OK ? next_version(writing, before, halves, &noted) : status;
    ASSERT(status != STATUS_OK || writing->version.number >= noted.number); // it never falls
    return status == STATUS_OK ? sign(writing, writing->version.number) : status;
}

// Recorded before anybody can see it, so that no later version is lower, whatever happens now.
static Status note_version(Writing *writing)
{
    const BuildVersion noted = build_version_read(writing->version_path);
    if (noted.number == writing->version.number &&
        memcmp(noted.set, writing->version.set, sizeof noted.set) == 0) {
        return STATUS_OK;
    }
    const Status status = build_version_write(writing->version_path, &writing->version);
    if (status != STATUS_OK) {
        snprintf(writing->build->context.reason, WORKER_REASON_BYTES,
                 "%.380s: cannot be written: %.100s", writing->version_path, strerror(errno));
    }
    return status;
}

static Status write_sides(Writing *writing, Artifacts *artifacts,
                          const PlaceFolder before[ARTIFACT_SIDES])
{
    Build *build = writing->build;
    build->result->unchanged = true;
    for (uint32_t side = 0; side < ARTIFACT_SIDES; side++) {
        const FileSet *set = &writing->sets[side];
        if (is_same_folder(&before[side], set)) {
            continue;
        }
        build->result->unchanged = false;
        if (!build->request->write) {
            continue;
        }
        build_progress(build, BUILD_WRITE, side, ARTIFACT_SIDES,
                       artifact_folder((ArtifactSide)side));
        const Status status = artifacts_prepare(artifacts, (ArtifactSide)side, &before[side],
                                                set->files, set->count, build->context.reason);
        if (status != STATUS_OK) {
            return status;
        }
    }
    const BuildResult *result = build->result;
    if (!artifacts_has_list(artifacts, result->asset_list, result->asset_list_bytes)) {
        build->result->unchanged = false;
        const Status status =
            !build->request->write
                ? STATUS_OK
                : artifacts_prepare_list(artifacts, result->asset_list, result->asset_list_bytes,
                                         build->context.reason);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (note_version(writing) != STATUS_OK) {
        return STATUS_BLOCKED;
    }
    const bool is_ready = !build->result->unchanged && build->request->write;
    return is_ready ? artifacts_switch(artifacts, build->context.reason) : STATUS_OK;
}

// The manifests in the result are copies with a terminating zero.
static Status give_manifests(Writing *writing)
{
    BuildResult *result = writing->build->result;
    for (uint32_t side = 0; side < ARTIFACT_SIDES; side++) {
        Buffer *text = &writing->manifests[side];
        buffer_put_u8(text, 0);
        if (text->status != STATUS_OK) {
            return text->status;
        }
        char **out = side == ARTIFACT_SERVER ? &result->manifest : &result->client_manifest;
        size_t *bytes =
            side == ARTIFACT_SERVER ? &result->manifest_bytes : &result->client_manifest_bytes;
        *out = (char *)text->data;
        *bytes = text->bytes - 1;
        *text = (Buffer){0};
    }
    return STATUS_OK;
}

static Status give_rows(const Writing *writing)
{
    BuildResult *result = writing->build->result;
    ByteWriter counter = byte_counter();
    Status status = manifest_write_rows(writing->client_rows, writing->client_row_count, &counter);
    result->client_rows = status == STATUS_OK ? malloc(counter.at) : NULL;
    if (result->client_rows == NULL) {
        return status == STATUS_OK ? STATUS_LIMIT : status;
    }
    ByteWriter writer = byte_writer(result->client_rows, counter.at);
    status = manifest_write_rows(writing->client_rows, writing->client_row_count, &writer);
    result->client_rows_bytes = writer.at;
    sha256_of(result->client_rows, writer.at, result->client_rows_hash);
    return status;
}

static Status write_all(Writing *writing, Artifacts *artifacts, const SigningPublicKeys *halves)
{
    Build *build = writing->build;
    PlaceFolder before[ARTIFACT_SIDES] = {0};
    char ignored[WORKER_REASON_BYTES];
    for (uint32_t side = 0; side < ARTIFACT_SIDES; side++) {
        // If it cannot be read it will be replaced.
        status_ignore(artifacts_read(artifacts, (ArtifactSide)side, &before[side], ignored));
    }
    fill_rows(writing);
    hash_set(writing, writing->version.set);
    Status status =
        build_version_path(build->key_path, build->request->place, writing->version_path);
    status = status == STATUS_OK ? sign_both(writing, before, halves) : status;
    build->result->version = writing->version.number;
    for (uint32_t side = 0; status == STATUS_OK && side < ARTIFACT_SIDES; side++) {
        status = fill_set(writing, (ArtifactSide)side);
    }
    status = status == STATUS_OK ? write_sides(writing, artifacts, before) : status;
    status = status == STATUS_OK ? give_manifests(writing) : status;
    status = status == STATUS_OK ? give_rows(writing) : status;
    for (uint32_t side = 0; side < ARTIFACT_SIDES; side++) {
        place_folder_free(&before[side]);
        buffer_free(&writing->manifests[side]);
    }
    buffer_free(&writing->generated_lua_list);
    return status;
}

Status build_write(Build *build)
{
    SigningPublicKeys halves;
    Artifacts *artifacts = NULL;
    build_progress(build, BUILD_WRITE, 0, ARTIFACT_SIDES, "");
    Status status = signing_public_keys_open(build->key_path, &halves);
    if (status != STATUS_OK) {
        signing_key_explain(build->key_path, status, build->context.reason, WORKER_REASON_BYTES);
        return status;
    }
    Writing *writing = calloc(1, sizeof *writing);
    if (writing == NULL) {
        snprintf(build->context.reason, WORKER_REASON_BYTES, "out of memory");
        return STATUS_LIMIT;
    }
    writing->build = build;
    const BuildRequest *request = build->request;
    status =
        request->write
            ? artifacts_open(request->place, request->cancel, &artifacts, build->context.reason)
            : artifacts_open_read(request->place, &artifacts, build->context.reason);
    if (status == STATUS_OK) {
        status = write_all(writing, artifacts, &halves);
        artifacts_close(artifacts);
    }
    free(writing);
    return status;
}

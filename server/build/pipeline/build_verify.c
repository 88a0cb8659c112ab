// Checks that the artifacts of a folder are what was signed: nothing missing, nothing changed,
// nothing added, and nothing on the client's side that the server's side does not send there; and
// that the list of assets fits the files.
#define _GNU_SOURCE
#include "core/base/arena.h"
#include "core/base/sha256.h"
#include "server/build/ask/ask_artifact.h"
#include "server/build/pipeline/artifact.h"
#include "server/build/pipeline/build_stages.h"
#include "server/build/place/place_home.h"
#include "server/build/sign/generated_lua_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES    4096
#define MANIFEST_FILE "manifest.json"
#define CODE          "verify"

typedef struct Side {
    ArtifactSide side;
    PlaceFolder folder;
    ManifestList list;
    Arena arena;
    void *block;
    bool is_readable;
} Side;

typedef struct Verify {
    Side sides[ARTIFACT_SIDES];
    SigningPublicKeys halves;
    BuildContext context;
} Verify;

static void tell_artifact(Verify *verify, DiagnosticLevel level, ArtifactSide side,
                          const char *file, const char *what)
{
    char path[DIAGNOSTIC_FILE_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", artifact_folder(side), file);
    diagnostic_addf(verify->context.diagnostics, level, path, 0, 0, CODE, "%s", what);
}

// "Workspace/Door" of a row's path.
static void plain_path(Text path, char out[SCRIPT_PATH_BYTES])
{
    size_t bytes = path.bytes;
    while (bytes > 0 && path.data[bytes - 1] != '.') {
        bytes -= 1;
    }
    snprintf(out, SCRIPT_PATH_BYTES, "%.*s", bytes > 0 ? (int)bytes - 1 : 0, path.data);
}

static bool text_ends(Text text, const char *ending)
{
    const size_t want = strlen(ending);
    return text.bytes > want && memcmp(text.data + text.bytes - want, ending, want) == 0;
}

// --- one side -----------------------------------------------------------------------------------

// STATUS_BLOCKED with a reason: the worker could not read it.
static Status check_manifest(Verify *verify, Side *side)
{
    const PlaceFile *file = artifact_named(&side->folder, MANIFEST_FILE);
    if (file == NULL) {
        tell_artifact(verify, DIAGNOSTIC_ERROR, side->side, MANIFEST_FILE,
                      "is missing; build the place");
        return STATUS_OK;
    }
    uint32_t which = 0;
    const Status status =
        manifest_ask(&verify->context, &side->arena, file, &verify->halves, &side->list, &which);
    if (status == STATUS_BLOCKED) {
        return status;
    }
    side->is_readable = status == STATUS_OK;
    if (status == STATUS_DENIED) {
        tell_artifact(verify, DIAGNOSTIC_ERROR, side->side, MANIFEST_FILE,
                      "is not signed by this host's key, nor by one before it; build the place");
    } else if (status != STATUS_OK) {
        tell_artifact(verify, DIAGNOSTIC_ERROR, side->side, MANIFEST_FILE, verify->context.reason);
        verify->context.reason[0] = '\0'; // it was reported
    } else if (which > 0) {
        tell_artifact(verify, DIAGNOSTIC_WARNING, side->side, MANIFEST_FILE,
                      "is signed by an earlier key; build the place to sign it again");
    }
    return STATUS_OK;
}

static void check_rune(Verify *verify, const Side *side, const ManifestRow *row)
{
    char plain[SCRIPT_PATH_BYTES], name[SCRIPT_PATH_BYTES + 8];
    plain_path(row->path, plain);
    snprintf(name, sizeof name, "%s.rune", plain);
    const PlaceFile *file = artifact_named(&side->folder, name);
    uint8_t hash[SHA256_BYTES];
    if (file == NULL) {
        tell_artifact(verify, DIAGNOSTIC_ERROR, side->side, name, "is missing; build the place");
        return;
    }
    sha256_of(file->data, file->bytes, hash);
    if (file->bytes != row->size_bytes || memcmp(hash, row->rune_hash, sizeof hash) != 0) {
        tell_artifact(verify, DIAGNOSTIC_ERROR, side->side, name,
                      "is not what the manifest names; build the place");
    }
}

// Whether generated Lua is stored beside this rune.
static bool has_lua(const Side *side, const ManifestRow *row)
{
    return side->side == ARTIFACT_SERVER &&
           ((!text_ends(row->path, ".lua") && !text_ends(row->path, ".luau")) ||
            text_is(row->path, TYPESCRIPT_LIBRARY ".lua"));
}

static bool has_any_lua(const Side *side)
{
    for (uint32_t i = 0; i < side->list.row_count; i++) {
        if (has_lua(side, &side->list.rows[i])) {
            return true;
        }
    }
    return false;
}

static void check_listed(Verify *verify, const Side *side, const PlaceFile *list, const char *name)
{
    const PlaceFile *file = artifact_named(&side->folder, name);
    if (file == NULL) {
        tell_artifact(verify, DIAGNOSTIC_ERROR, side->side, name, "is missing; build the place");
    } else if (!generated_lua_list_has(list->data, list->bytes, file)) {
        tell_artifact(verify, DIAGNOSTIC_ERROR, side->side, name,
                      "is not what " GENERATED_LUA_LIST_FILE " names; build the place");
    }
}

// Checks the stored Lua, and that all of it belongs to this manifest.
static void check_lua(Verify *verify, const Side *side)
{
    if (!has_any_lua(side)) {
        return;
    }
    const PlaceFile *list = artifact_named(&side->folder, GENERATED_LUA_LIST_FILE);
    if (list == NULL || !generated_lua_list_verify(list->data, list->bytes, &verify->halves)) {
        tell_artifact(verify, DIAGNOSTIC_ERROR, side->side, GENERATED_LUA_LIST_FILE,
                      list == NULL
                          ? "is missing; build the place"
                          : "is not signed by this host's key, nor by one before it; build the "
                            "place");
        return;
    }
    check_listed(verify, side, list, MANIFEST_FILE);
    for (uint32_t i = 0; i < side->list.row_count; i++) {
        const ManifestRow *row = &side->list.rows[i];
        if (has_lua(side, row)) {
            char plain[SCRIPT_PATH_BYTES], name[SCRIPT_PATH_BYTES + 8];
            plain_path(row->path, plain);
            snprintf(name, sizeof name, "%s.lua", plain);
            check_listed(verify, side, list, name);
        }
    }
}

// Whether a manifest names this file.
static bool is_named(const Side *side, const char *path)
{
    if (strcmp(path, MANIFEST_FILE) == 0 ||
        (strcmp(path, GENERATED_LUA_LIST_FILE) == 0 && has_any_lua(side))) {
        return true;
    }
    for (uint32_t i = 0; i < side->list.row_count; i++) {
        const ManifestRow *row = &side->list.rows[i];
        char plain[SCRIPT_PATH_BYTES], name[SCRIPT_PATH_BYTES + 8];
        plain_path(row->path, plain);
        snprintf(name, sizeof name, "%s.rune", plain);
        if (strcmp(path, name) == 0) {
            return true;
        }
        snprintf(name, sizeof name, "%s.lua", plain);
        if (has_lua(side, row) && strcmp(path, name) == 0) {
            return true;
        }
    }
    return false;
}

static Status check_side(Verify *verify, Side *side)
{
    const Status status = check_manifest(verify, side);
    if (!side->is_readable) {
        return status;
    }
    for (uint32_t i = 0; i < side->list.row_count; i++) {
        check_rune(verify, side, &side->list.rows[i]);
    }
    check_lua(verify, side);
    for (uint32_t i = 0; i < side->folder.file_count; i++) {
        if (!is_named(side, side->folder.files[i].path)) {
            tell_artifact(verify, DIAGNOSTIC_ERROR, side->side, side->folder.files[i].path,
                          "belongs to no script of the manifest; build the place to remove it");
        }
    }
    return STATUS_OK;
}

// --- both ---------------------------------------------------------------------------------------

static const ManifestRow *row_named(const ManifestList *list, Text path)
{
    for (uint32_t i = 0; i < list->row_count; i++) {
        const Text have = list->rows[i].path;
        if (have.bytes == path.bytes && memcmp(have.data, path.data, path.bytes) == 0) {
            return &list->rows[i];
        }
    }
    return NULL;
}

static void check_sides(Verify *verify)
{
    const ManifestList *server = &verify->sides[ARTIFACT_SERVER].list;
    const ManifestList *client = &verify->sides[ARTIFACT_CLIENT].list;
    if (server->version != client->version) {
        tell_artifact(verify, DIAGNOSTIC_ERROR, ARTIFACT_CLIENT, MANIFEST_FILE,
                      "has another version than the server's; build the place");
    }
    uint32_t replicated = 0;
    for (uint32_t i = 0; i < server->row_count; i++) {
        replicated += server->rows[i].replicate;
    }
    bool is_same = replicated == client->row_count;
    for (uint32_t i = 0; is_same && i < client->row_count; i++) {
        const ManifestRow *row = &client->rows[i], *own = row_named(server, row->path);
        is_same = own != NULL && own->replicate && row->replicate &&
                  memcmp(own->rune_hash, row->rune_hash, sizeof row->rune_hash) == 0;
    }
    if (!is_same) {
        tell_artifact(
            verify, DIAGNOSTIC_ERROR, ARTIFACT_CLIENT, MANIFEST_FILE,
            "does not hold exactly the scripts that are sent to clients; build the place");
    }
}

// A build follows no links on the way there, so files behind one are not what it wrote.
static Status check_folders(const Verify *verify, const char *place, const char *inside)
{
    const char *end = inside;
    do {
        char path[PATH_BYTES];
        struct stat about;
        end = strchrnul(end + 1, '/');
        const int length =
            snprintf(path, sizeof path, "%s/%.*s", place, (int)(end - inside), inside);
        if (length < 0 || (size_t)length >= sizeof path) {
            return context_fail(&verify->context, STATUS_RANGE, "the place's path is too long");
        }
        if (lstat(path, &about) == 0 && !S_ISDIR(about.st_mode)) {
            return context_fail(&verify->context, STATUS_BLOCKED,
                                "%.*s: is no folder, or a link; remove it and build the place",
                                (int)(end - inside), inside);
        }
    } while (*end != '\0');
    return STATUS_OK;
}

// Every file that must not be there is reported; then this side is not checked further.
static Status read_files(Verify *verify, Side *side, const char *path)
{
    DiagnosticList told = {0};
    const Status status =
        place_folder_read_built(path, &side->folder, &told, verify->context.reason);
    for (uint32_t i = 0; i < told.count; i++) {
        char what[DIAGNOSTIC_MESSAGE_BYTES + 64];
        snprintf(what, sizeof what, "%s; remove it and build the place", told.items[i].message);
        tell_artifact(verify, DIAGNOSTIC_ERROR, side->side, told.items[i].file, what);
    }
    const bool is_told = told.count > 0;
    diagnostic_list_free(&told);
    if (status == STATUS_MALFORMED && !is_told) {
        return context_fail(&verify->context, STATUS_LIMIT, "out of memory");
    }
    return status;
}

static Status read_side(Verify *verify, ArtifactSide which, const char *place)
{
    char path[PATH_BYTES];
    Side *side = &verify->sides[which];
    side->side = which;
    Status status = check_folders(verify, place, artifact_folder(which));
    if (status != STATUS_OK) {
        return status;
    }
    snprintf(path, sizeof path, "%s/%s", place, artifact_folder(which)); // it fits
    side->block = malloc(MANIFEST_ARENA_BYTES);
    if (side->block == NULL) {
        return context_fail(&verify->context, STATUS_LIMIT, "out of memory");
    }
    arena_init(&side->arena, side->block, MANIFEST_ARENA_BYTES);
    status = read_files(verify, side, path);
    if (status == STATUS_NOT_FOUND) {
        return context_fail(&verify->context, status, "%s does not exist: this place was not built",
                            artifact_folder(which));
    }
    return status;
}

static Status key_path(const BuildConfig *config, const char *place, char out[PATH_BYTES],
                       char reason[WORKER_REASON_BYTES])
{
    const char *why = "";
    if (config->key == NULL && place_home_check(place, &why) != STATUS_OK) {
        snprintf(reason, WORKER_REASON_BYTES, "%s: %s", place_home_at_fault(place, ".sandlot/data"),
                 why);
        return STATUS_DENIED;
    }
    const int length = config->key != NULL
                           ? snprintf(out, PATH_BYTES, "%s", config->key)
                           : snprintf(out, PATH_BYTES, "%s/.sandlot/data/ticket.key", place);
    if (length < 0 || length >= PATH_BYTES) {
        snprintf(reason, WORKER_REASON_BYTES, "the path of the key is too long");
        return STATUS_RANGE;
    }
    return STATUS_OK;
}

static Status tell_key(const char *key, Status status, char reason[WORKER_REASON_BYTES])
{
    if (status != STATUS_OK) {
        signing_key_explain(key, status, reason, WORKER_REASON_BYTES);
    }
    return status;
}

static Status check_place(const char *place, char reason[WORKER_REASON_BYTES])
{
    struct stat about;
    if (stat(place, &about) == 0 && S_ISDIR(about.st_mode)) {
        return STATUS_OK;
    }
    snprintf(reason, WORKER_REASON_BYTES, "there is no such folder");
    return STATUS_NOT_FOUND;
}

Status build_verify(const BuildConfig *config, const char *place, BuildResult *out,
                    char reason[WORKER_REASON_BYTES])
{
    char key[PATH_BYTES];
    DiagnosticList *diagnostics = &out->diagnostics;
    Verify verify = {.context = {.diagnostics = diagnostics, .reason = reason}};
    Status status = check_place(place, reason);
    status = status == STATUS_OK ? key_path(config, place, key, reason) : status;
    if (status == STATUS_OK) {
        status = tell_key(key, signing_public_keys_open(key, &verify.halves), reason);
    }
    if (status == STATUS_OK) {
        WorkerConfig worker = worker_config_default();
        worker.allow_weak_jail = config->allow_weak_jail;
        status = worker_create(&worker, &verify.context.worker);
    }
    for (uint32_t i = 0; status == STATUS_OK && i < ARTIFACT_SIDES; i++) {
        status = read_side(&verify, (ArtifactSide)i, place);
        if (status == STATUS_OK) {
            status = check_side(&verify, &verify.sides[i]);
        }
        status = status == STATUS_MALFORMED ? STATUS_OK
                                            : status; // it was reported; check the other side too
    }
    if (status == STATUS_OK && verify.sides[ARTIFACT_SERVER].is_readable &&
        verify.sides[ARTIFACT_CLIENT].is_readable) {
        check_sides(&verify);
        out->version = verify.sides[ARTIFACT_SERVER].list.version;
    }
    if (status == STATUS_OK) {
        status = build_verify_assets(&verify.context, place);
    }
    worker_destroy(verify.context.worker);
    for (uint32_t i = 0; i < ARTIFACT_SIDES; i++) {
        place_folder_free(&verify.sides[i].folder);
        free(verify.sides[i].block);
    }
    diagnostic_list_sort(diagnostics);
    return status == STATUS_OK && diagnostics->error_count > 0 ? STATUS_MALFORMED : status;
}

Status build_rotate_key(const BuildConfig *config, const char *place,
                        char reason[WORKER_REASON_BYTES])
{
    char path[PATH_BYTES];
    SigningKey key;
    Status status = key_path(config, place, path, reason);
    if (status == STATUS_OK) {
        status = tell_key(path, signing_key_rotate(path, &key), reason);
    }
    if (status == STATUS_OK) {
        signing_key_wipe(&key);
    }
    return status;
}

// `sandlot export-cdn`: what players download of a place, as static files that any web server or
// CDN can serve (setting cdn_base). The names are the addresses that a host answers:
//
//   blob/<sha256>              the scene without what is the server's, runes, assets, the thumbnail
//   packed/<number>/<sha256>   each rune packed, and the set of all of them (rune_set.h): for each
//                              its hash, and an entry as http_bundle.h has it
//   index.json                 what belongs to this build
//
// Everything is named by its hash, so builds share a folder, and a file that is there is not
// written again. Nothing that is not replicated has a file, or is named in the index.
#define _GNU_SOURCE
#include "core/base/json_member.h"
#include "core/base/sha256.h"
#include "core/base/utf8.h"
#include "server/build/base/diagnostic.h"
#include "server/build/pipeline/build.h"
#include "server/build/pipeline/build_show.h"
#include "server/build/pipeline/rune_set.h"
#include "server/build/place/place_file.h"
#include "server/cli/command.h"
#include "server/cli/command_json.h"
#include "server/serve/http/http_bundle.h"
#include "server/sys/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES  4096
#define INDEX_BYTES (4u << 20)
#define HASH_DIGITS ((size_t)2 * SHA256_BYTES)

typedef struct Export {
    const char *place, *out;
    bool json, allow_weak_jail;
    BuildResult built;
    RuneSet set;
    uint8_t scene[SHA256_BYTES];
    uint32_t written, kept; // files
    uint64_t bytes;         // of all
    char reason[WORKER_REASON_BYTES];
} Export;

static void print_usage(FILE *out)
{
    fprintf(out,
            "usage: sandlot export-cdn DIR OUT [options]   write what players download as files\n\n"
            "  DIR                the folder of the place\n"
            "  OUT                folder for the files; several places can share one, and files\n"
            "                     that are there already are not written again\n"
            "  --json             print one object: ok, files, written, bytes, or ok and reason\n"
            "  --allow-weak-jail  continue even if the kernel lacks a layer of the jail\n\n"
            "Serve OUT by any web server, with `Access-Control-Allow-Origin: *`, and start the\n"
            "game server with --cdn-base and the address. Players then download from there, check\n"
            "every file, and ask the game server for what is missing.\n"
            "Exit codes: 0 written, 1 failed, 2 invalid arguments.\n");
}

static int fail(const Export *export)
{
    return command_fail("export-cdn", export->json, EXIT_FAILED, export->reason);
}

// --- files --------------------------------------------------------------------------------------

// Not synced: a file that a power failure damages is noticed by its hash, and can be made again.
static bool write_file(const char *path, const void *data, size_t bytes)
{
    char aside[PATH_BYTES + 16];
    snprintf(aside, sizeof aside, "%s.%d", path, (int)getpid());
    FILE *file = fopen(aside, "wxbe");
    bool is_good = file != NULL && fwrite(data, 1, bytes, file) == bytes;
    is_good = (file == NULL || fclose(file) == 0) && is_good && rename(aside, path) == 0;
    if (!is_good) {
        const int problem = errno;
        (void)unlink(aside);
        errno = problem;
    }
    return is_good;
}

static bool write_named(Export *export, const char *folder, const char *name, const void *data,
                        size_t bytes)
{
    char path[PATH_BYTES];
    struct stat about;
    const int length = snprintf(path, sizeof path, "%s/%s/%s", export->out, folder, name);
    export->bytes += bytes;
    if (length > 0 && (size_t)length < sizeof path && stat(path, &about) == 0 &&
        S_ISREG(about.st_mode) && (uint64_t)about.st_size == bytes) {
        export->kept += 1;
        return true;
    }
    if (length <= 0 || (size_t)length >= sizeof path || !write_file(path, data, bytes)) {
        snprintf(export->reason, sizeof export->reason, "%.300s/%s cannot be written: %s",
                 export->out, folder, strerror(errno));
        return false;
    }
    export->written += 1;
    return true;
}

static bool write_hashed(Export *export, const char *folder, const uint8_t hash[SHA256_BYTES],
                         const void *data, size_t bytes)
{
    char name[HASH_DIGITS + 1];
    sha256_hex(hash, name);
    return write_named(export, folder, name, data, bytes);
}

static bool make_folders(Export *export, const char *packed)
{
    char path[PATH_BYTES];
    const char *const folders[] = {"blob", packed};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const int length = snprintf(path, sizeof path, "%s/%s", export->out, folders[i]);
        if (length <= 0 || (size_t)length >= sizeof path || file_make_folders(path) != STATUS_OK) {
            snprintf(export->reason, sizeof export->reason, "%.300s/%s cannot be made: %s",
                     export->out, folders[i], strerror(errno));
            return false;
        }
        (void)chmod(path, 0755); // it is for a web server
    }
    (void)chmod(export->out, 0755);
    return true;
}

// --- runes --------------------------------------------------------------------------------------

static bool write_set(Export *export, const char *packed)
{
    const RuneSet *set = &export->set;
    size_t bytes = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const BuildRune *rune = set->runes[i];
        bytes += SHA256_BYTES + BUNDLE_ENTRY_BYTES +
                 (rune->packed != NULL ? rune->packed_count : rune->count);
    }
    uint8_t *data = malloc(bytes + 1);
    if (data == NULL) {
        snprintf(export->reason, sizeof export->reason, "out of memory");
        return false;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        const BuildRune *rune = set->runes[i];
        memcpy(data + at, rune->hash, SHA256_BYTES);
        at += SHA256_BYTES;
        const bool is_packed = rune->packed != NULL;
        const size_t count = is_packed ? rune->packed_count : rune->count;
        bundle_entry(data + at, is_packed ? BUNDLE_PACKED : BUNDLE_PLAIN, count);
        memcpy(data + at + BUNDLE_ENTRY_BYTES, is_packed ? rune->packed : rune->bytes, count);
        at += BUNDLE_ENTRY_BYTES + count;
    }
    const bool is_good = set->count == 0 || write_hashed(export, packed, set->hash, data, bytes);
    free(data);
    return is_good;
}

static bool write_runes(Export *export, const char *packed)
{
    bool is_good = true;
    for (uint32_t i = 0; i < export->set.count && is_good; i++) {
        const BuildRune *rune = export->set.runes[i];
        is_good = write_hashed(export, "blob", rune->hash, rune->bytes, rune->count) &&
                  (rune->packed == NULL ||
                   write_hashed(export, packed, rune->hash, rune->packed, rune->packed_count));
    }
    return is_good && write_set(export, packed);
}

// --- the rest -----------------------------------------------------------------------------------

static bool write_asset(Export *export, const BuildAsset *asset)
{
    uint8_t *data = NULL, hash[SHA256_BYTES] = {0};
    size_t bytes = 0;
    const Status status =
        place_file_read(export->place, asset->path, (size_t)asset->bytes, &data, &bytes);
    if (status == STATUS_OK) {
        sha256_of(data, bytes, hash);
    }
    const bool is_same = status == STATUS_OK && memcmp(hash, asset->hash, sizeof hash) == 0;
    if (!is_same) {
        snprintf(export->reason, sizeof export->reason, "%s changed while it was exported",
                 asset->path);
    }
    const bool is_good = is_same && write_hashed(export, "blob", hash, data, bytes);
    free(data);
    return is_good;
}

static bool write_rest(Export *export)
{
    const BuildResult *built = &export->built;
    sha256_of(built->stripped, built->stripped_bytes, export->scene);
    bool is_good =
        write_hashed(export, "blob", export->scene, built->stripped, built->stripped_bytes) &&
        write_hashed(export, "blob", built->client_rows_hash, built->client_rows,
                     built->client_rows_bytes) &&
        (built->thumbnail == NULL || write_hashed(export, "blob", built->thumbnail_hash,
                                                  built->thumbnail, built->thumbnail_bytes));
    for (uint32_t i = 0; i < built->asset_count && is_good; i++) {
        is_good = write_asset(export, &built->assets[i]);
    }
    return is_good;
}

// {"format":1,"packing":…,"runes":["…"],"scene":"…","set":"…","manifest":"…","assets":["…"],"version":…}
static void print_index(const Export *export, JsonWriter *json)
{
    const BuildResult *built = &export->built;
    char name[HASH_DIGITS + 1];
    json_write_object_begin(json);
    json_member_count(json, "format", 1);
    json_member_count(json, "version", built->version);
    json_member_count(json, "packing", built->packing);
    command_json_hash(json, "scene", export->scene);
    command_json_hash(json, "set", export->set.hash);
    command_json_hash(json, "manifest", built->client_rows_hash);
    json_write_name(json, "runes");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < export->set.count; i++) {
        sha256_hex(export->set.runes[i]->hash, name);
        json_write_text(json, name);
    }
    json_write_array_end(json);
    json_write_name(json, "assets");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < built->asset_count; i++) {
        sha256_hex(built->assets[i].hash, name);
        json_write_text(json, name);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}

static bool write_index(Export *export)
{
    char path[PATH_BYTES];
    uint8_t *text = malloc(INDEX_BYTES);
    ByteWriter writer = byte_writer(text, text != NULL ? INDEX_BYTES : 0);
    JsonWriter json = json_writer(&writer, 0);
    print_index(export, &json);
    const int length = snprintf(path, sizeof path, "%s/index.json", export->out);
    const bool is_good = json_writer_finish(&json) == STATUS_OK && length > 0 &&
                         (size_t)length < sizeof path && write_file(path, text, writer.at);
    if (!is_good) {
        snprintf(export->reason, sizeof export->reason, "%.300s/index.json cannot be written",
                 export->out);
    }
    free(text);
    return is_good;
}

// --- the command --------------------------------------------------------------------------------

static bool build(Export *export)
{
    BuildConfig config = build_config_default();
    config.allow_weak_jail = export->allow_weak_jail;
    Builder *builder = NULL;
    Status status = builder_create(&config, &builder);
    BuildShow show = build_show_begin();
    const BuildRequest request = {.place = export->place,
                                  .write = true,
                                  .pack = true,
                                  .progress = export->json ? NULL : build_show_progress,
                                  .user = &show};
    if (status == STATUS_OK) {
        status = builder_build(builder, &request, &export->built, export->reason);
        build_show_end(&show);
        build_show_diagnostics(&export->built.diagnostics, export->place);
    }
    builder_destroy(builder);
    utf8_clean(export->reason);
    if (status != STATUS_OK && export->reason[0] == '\0') {
        snprintf(export->reason, sizeof export->reason, "%.300s: not built: %s", export->place,
                 status_text(status));
    }
    return status == STATUS_OK;
}

static void write_outcome(JsonWriter *json, const void *what)
{
    const Export *export = what;
    json_member_bool(json, "ok", true);
    json_member_count(json, "files", export->written + export->kept);
    json_member_count(json, "written", export->written);
    json_member_count(json, "bytes", export->bytes);
}

static int run(Export *export)
{
    char packed[32];
    if (!build(export)) {
        return fail(export);
    }
    snprintf(packed, sizeof packed, "packed/%" PRIu32, export->built.packing);
    if (rune_set_make(&export->built, &export->set) != STATUS_OK) {
        snprintf(export->reason, sizeof export->reason, "out of memory");
        return fail(export);
    }
    const bool is_good = make_folders(export, packed) && write_runes(export, packed) &&
                         write_rest(export) && write_index(export);
    if (!is_good) {
        return fail(export);
    }
    if (export->json) {
        return command_json_print(write_outcome, export) ? EXIT_OK : EXIT_FAILED;
    }
    diagnostic_print(stdout, "%s: %u files, %u of them new, %" PRIu64 " bytes", export->out,
                     export->written + export->kept, export->written, export->bytes);
    return EXIT_OK;
}

int cmd_export_cdn(int argc, char **argv)
{
    Export export = {.json = command_wants_json(argc, argv)};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_usage(stdout);
            return EXIT_OK;
        }
        if (strcmp(argv[i], "--allow-weak-jail") == 0) {
            export.allow_weak_jail = true;
        } else if (argv[i][0] == '-' && strcmp(argv[i], "--json") != 0) {
            return command_unknown_option("export-cdn", export.json, argv[i], print_usage);
        } else if (argv[i][0] != '-' && export.out != NULL) {
            return command_misused("export-cdn", export.json,
                                   "there is one argument too many:", argv[i]);
        } else if (argv[i][0] != '-') {
            *(export.place == NULL ? &export.place : &export.out) = argv[i];
        }
    }
    if (export.out == NULL || export.place[0] == '\0' || export.out[0] == '\0') {
        return command_misused("export-cdn", export.json,
                               "name the place's folder and the folder for the files", NULL);
    }
    const int code = run(&export);
    build_result_free(&export.built);
    rune_set_free(&export.set);
    return code;
}

// The assets of a place: each is identified by its hash and checked in the worker once. The file
// system tells whether a file has changed (asset_file.h), so an unchanged place costs only a look
// at its folder, however large its assets are; the worker's answers are cached by the hash of the
// file.
#define _GNU_SOURCE
#include "core/base/limits.h"
#include "server/build/asset/asset_list.h"
#include "server/build/package/package.h"
#include "server/build/pipeline/build_stages.h"
#include "server/build/place/place_file.h"

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "server/sys/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAMPS_BYTES_MAX (4u << 20)
#define STATUS_UNREAD    STATUS_NOT_FOUND // an asset could not be read, and this was reported

// One asset while it is processed.
typedef struct Item {
    uint8_t *data;  // while it is needed
    bool is_known;  // the hash is known
    bool is_good;   // the check passed
    bool is_named;  // a model names it
    bool has_names; // of a model: the files it names are known
} Item;

typedef struct Assets {
    Build *build;
    AssetFileList files;
    BuildAsset *assets; // by file
    Item *items;        // by file
    Buffer stamps;      // the cached ones
    uint32_t picture;   // of the place itself; UINT32_MAX: it has none
    bool model_is_bad;  // then it is not known which files it names
} Assets;

// Handles a failed check: a creator's mistake becomes a diagnostic, and the build goes on.
static Status judge(Assets *assets, const char *path, Status status)
{
    const BuildContext *context = &assets->build->context;
    if (status == STATUS_MALFORMED || status == STATUS_LIMIT) {
        asset_file_refused(context->diagnostics, path, context->reason);
        context->reason[0] = '\0';
        return STATUS_OK;
    }
    if (status == STATUS_UNREAD) {
        return STATUS_OK; // it was reported
    }
    if (status != STATUS_OK && status != STATUS_DENIED) {
        build_blame(assets->build, path);
    }
    return status;
}

static void tell_asset(Assets *assets, const char *path, PackageRule rule, const char *why)
{
    diagnostic_addf(&assets->build->result->diagnostics, DIAGNOSTIC_ERROR, path, 0, 0,
                    package_rule_name(rule), "%s", why);
}

// --- what is on disk ----------------------------------------------------------------------------

// Reads the bytes, and the stamp that the file had before and after.
static Status read_stamped(int file, size_t bytes_max, AssetStamp *stamp, bool *was_settled,
                           uint8_t **out)
{
    AssetStamp after;
    if (asset_stamp_of(file, stamp) != STATUS_OK) {
        return STATUS_DENIED;
    }
    *was_settled = asset_stamp_is_settled(stamp);
    if (stamp->bytes > bytes_max) {
        return STATUS_MISMATCH; // the file has grown since the folder was listed
    }
    uint8_t *data = malloc((size_t)stamp->bytes + 1);
    if (data == NULL) {
        return STATUS_LIMIT;
    }
    if (!file_read_whole(file, data, (size_t)stamp->bytes) ||
        asset_stamp_of(file, &after) != STATUS_OK || !asset_stamp_equal(stamp, &after)) {
        free(data);
        return STATUS_MISMATCH;
    }
    *out = data;
    return STATUS_OK;
}

static void tell_unread(Assets *assets, const char *path, Status status)
{
    const bool is_changing = status == STATUS_MISMATCH || status == STATUS_NOT_FOUND;
    tell_asset(assets, path,
               status == STATUS_DENIED  ? RULE_LINK
               : status == STATUS_LIMIT ? RULE_MEMORY
               : is_changing            ? RULE_CONTENT
                                        : RULE_SPECIAL,
               status == STATUS_DENIED  ? "is a link, or no plain file; links are not followed"
               : status == STATUS_LIMIT ? "out of memory"
               : is_changing            ? "changes while it is read; build again"
                                        : "cannot be read; look at its permissions");
}

// Reads the file unless it is in memory. False: the failure was reported.
static bool load(Assets *assets, uint32_t at)
{
    Build *build = assets->build;
    const AssetFile *file = &assets->files.items[at];
    BuildAsset *asset = &assets->assets[at];
    Item *item = &assets->items[at];
    uint8_t hash[SHA256_BYTES];
    AssetStamp stamp = {0};
    int descriptor = -1;
    if (item->data != NULL) {
        return true;
    }
    build_progress(build, BUILD_ASSETS, at, assets->files.count, file->path);
    Status status = place_file_open(build->request->place, file->path, &descriptor);
    if (status == STATUS_OK) {
        status = read_stamped(descriptor, package_kind_bytes_max(file->kind), &stamp,
                              &asset->was_settled, &item->data);
        close(descriptor);
    }
    if (status == STATUS_OK) {
        sha256_of(item->data, (size_t)stamp.bytes, hash);
        build->result->asset_read_count += 1;
        // If a file is read twice in one build, both times must give the same bytes.
        status = item->is_known && memcmp(hash, asset->hash, sizeof hash) != 0 ? STATUS_MISMATCH
                                                                               : STATUS_OK;
    }
    if (status != STATUS_OK) {
        tell_unread(assets, file->path, status);
        return false;
    }
    memcpy(asset->hash, hash, sizeof hash);
    asset->stamp = stamp;
    asset->bytes = stamp.bytes;
    item->is_known = true;
    return true;
}

static void unload(Item *item)
{
    free(item->data);
    item->data = NULL;
}

// --- stamps -------------------------------------------------------------------------------------

// One cache entry for all assets of a folder, replaced when any of them changed.
static CacheKey stamps_key(const Build *build)
{
    CacheKeyMaker maker = cache_key_begin("asset stamps");
    char *path = realpath(build->request->place, NULL);
    cache_key_add_text(&maker, path != NULL ? path : build->request->place);
    free(path);
    return cache_key_end(&maker);
}

static void write_stamp(const BuildAsset *asset, Buffer *out)
{
    buffer_put_block(out, asset->path, strlen(asset->path));
    buffer_put_u64(out, asset->stamp.device);
    buffer_put_u64(out, asset->stamp.inode);
    buffer_put_u64(out, asset->stamp.bytes);
    buffer_put_u64(out, (uint64_t)asset->stamp.modified_ns);
    buffer_put_u64(out, (uint64_t)asset->stamp.changed_ns);
    buffer_put(out, asset->hash, sizeof asset->hash);
}

// Files with an unchanged stamp get the cached hash. Both lists are sorted.
static void read_stamps(Assets *assets)
{
    ByteReader reader = byte_reader(assets->stamps.data, assets->stamps.bytes);
    uint32_t at = 0;
    while (byte_reader_left(&reader) > 0) {
        char path[PACKAGE_PATH_BYTES];
        const bool has_path = buffer_read_name(&reader, path, sizeof path);
        AssetStamp stamp;
        stamp.device = byte_read_u64(&reader);
        stamp.inode = byte_read_u64(&reader);
        stamp.bytes = byte_read_u64(&reader);
        stamp.modified_ns = (int64_t)byte_read_u64(&reader);
        stamp.changed_ns = (int64_t)byte_read_u64(&reader);
        const uint8_t *hash = byte_read_bytes(&reader, SHA256_BYTES);
        if (!has_path || reader.status != STATUS_OK) {
            return;
        }
        while (at < assets->files.count && strcmp(assets->files.items[at].path, path) < 0) {
            at += 1;
        }
        if (at < assets->files.count && strcmp(assets->files.items[at].path, path) == 0 &&
            asset_stamp_equal(&stamp, &assets->files.items[at].stamp)) {
            memcpy(assets->assets[at].hash, hash, SHA256_BYTES);
            assets->items[at].is_known = true;
        }
    }
}

static void find_stamps(Assets *assets)
{
    const CacheKey key = stamps_key(assets->build);
    assets->stamps = buffer_of(STAMPS_BYTES_MAX);
    if (!assets->build->request->force &&
        cache_find(assets->build->context.cache, &key, &assets->stamps)) {
        read_stamps(assets);
    }
}

// Only for files that were left alone for a while, because the next build relies on the stamps.
static void keep_stamps(Assets *assets)
{
    Buffer stamps = buffer_of(STAMPS_BYTES_MAX);
    for (uint32_t i = 0; i < assets->files.count; i++) {
        if (assets->items[i].is_known && assets->assets[i].was_settled) {
            write_stamp(&assets->assets[i], &stamps);
        }
    }
    const bool is_same =
        stamps.bytes == assets->stamps.bytes &&
        (stamps.bytes == 0 || memcmp(stamps.data, assets->stamps.data, stamps.bytes) == 0);
    if (stamps.status == STATUS_OK && !is_same) {
        const CacheKey key = stamps_key(assets->build);
        cache_keep(assets->build->context.cache, &key, stamps.data, stamps.bytes);
    }
    buffer_free(&stamps);
}

// --- checks -------------------------------------------------------------------------------------

// A question about one asset. Answers are cached by the hashes of the files, so nothing is read to
// find one.
typedef struct Asked {
    Assets *assets;
    uint32_t at;
    uint32_t edge_px;      // of a thumbnail; 0: none
    Buffer *png;           // of it
    const uint32_t *named; // of a model: the files that it names
    uint32_t named_count;
    PackageModelFiles *files;
} Asked;

static Status ask_about(Asked *asked, WorkerQuestion *question)
{
    Assets *assets = asked->assets;
    question->user = asked;
    const Status status = context_ask(&assets->build->context, question);
    const bool was_asked = !question->was_cached && status != STATUS_UNREAD;
    assets->build->result->asset_checked_count +=
        was_asked && question->op != WORKER_MODEL_FILES && asked->edge_px == 0;
    return judge(assets, assets->files.items[asked->at].path, status);
}

static void take_info(const Asked *asked, const AssetInfo *info)
{
    asked->assets->assets[asked->at].info = *info;
    asked->assets->items[asked->at].is_good = true;
}

static Status write_asset(void *user, Buffer *request)
{
    const Asked *asked = user;
    Assets *assets = asked->assets;
    if (!load(assets, asked->at)) {
        return STATUS_UNREAD;
    }
    package_asset_request(assets->files.items[asked->at].path, assets->items[asked->at].data,
                          (size_t)assets->assets[asked->at].bytes, asked->edge_px, request);
    return STATUS_OK;
}

static Status read_asset(void *user, Status said, const Buffer *reply)
{
    (void)said;
    const Asked *asked = user;
    AssetInfo info;
    const Status status =
        package_asset_read(reply, asked->assets->files.items[asked->at].kind, &info, asked->png);
    if (status == STATUS_OK) {
        take_info(asked, &info);
    }
    return status;
}

static Status check_alone(Assets *assets, uint32_t at)
{
    Asked asked = {.assets = assets, .at = at};
    CacheKeyMaker maker = cache_key_begin("asset");
    cache_key_add_u32(&maker, (uint32_t)assets->files.items[at].kind);
    cache_key_add(&maker, assets->assets[at].hash, SHA256_BYTES);
    const CacheKey key = cache_key_end(&maker);
    WorkerQuestion question = {
        .op = WORKER_ASSET, .key = &key, .write = write_asset, .read = read_asset};
    return ask_about(&asked, &question);
}

// Checks everything but models of several files, which need the hashes of the others.
static Status check_single(Assets *assets, uint32_t at)
{
    BuildAsset *asset = &assets->assets[at];
    Item *item = &assets->items[at];
    if (item->is_known) {
        asset->stamp = assets->files.items[at].stamp;
        asset->bytes = asset->stamp.bytes;
        asset->was_settled = true; // only stamps of such files are cached
    }
    Status status = STATUS_OK;
    if ((item->is_known || load(assets, at)) && assets->files.items[at].kind != KIND_GLTF) {
        status = check_alone(assets, at);
    }
    if (at != assets->picture) { // its thumbnail may be needed
        unload(item);
    }
    return status;
}

// --- models of several files --------------------------------------------------------------------

static int by_index(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
    return (one > two) - (one < two);
}

static int by_file_path(const void *a, const void *b)
{
    return strcmp(a, ((const AssetFile *)b)->path);
}

// Finds the assets that a model names, each once and sorted.
static uint32_t find_named(Assets *assets, const PackageModelFiles *names,
                           uint32_t out[ASSET_MODEL_FILES_MAX])
{
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < names->count; i++) {
        const AssetFile *file = bsearch(names->paths[i], assets->files.items, assets->files.count,
                                        sizeof *file, by_file_path);
        if (file != NULL) {
            out[count] = (uint32_t)(file - assets->files.items);
            assets->items[out[count++]].is_named = true;
        }
    }
    qsort(out, count, sizeof out[0], by_index);
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || out[kept - 1] != out[i]) {
            out[kept++] = out[i];
        }
    }
    return kept;
}

static PlaceFile place_file(const Assets *assets, uint32_t at)
{
    return (PlaceFile){.path = assets->files.items[at].path,
                       .data = assets->items[at].data,
                       .bytes = (size_t)assets->assets[at].bytes};
}

static Status write_names(void *user, Buffer *request)
{
    const Asked *asked = user;
    if (!load(asked->assets, asked->at)) {
        return STATUS_UNREAD;
    }
    const PlaceFile model = place_file(asked->assets, asked->at);
    buffer_put_block(request, model.path, strlen(model.path));
    buffer_put(request, model.data, model.bytes);
    return STATUS_OK;
}

static Status read_names(void *user, Status said, const Buffer *reply)
{
    (void)said;
    const Asked *asked = user;
    const bool is_good = package_model_files_read(reply->data, reply->bytes, asked->files);
    asked->assets->items[asked->at].has_names = is_good;
    return is_good ? STATUS_OK : STATUS_MALFORMED;
}

// The files that a model names; errors are reported.
static Status name_files(Assets *assets, uint32_t at, PackageModelFiles *out)
{
    const BuildAsset *asset = &assets->assets[at];
    Asked asked = {.assets = assets, .at = at, .files = out};
    CacheKeyMaker maker = cache_key_begin("model files");
    cache_key_add_text(&maker, asset->path); // names are relative to it
    cache_key_add(&maker, asset->hash, sizeof asset->hash);
    const CacheKey key = cache_key_end(&maker);
    WorkerQuestion question = {
        .op = WORKER_MODEL_FILES, .key = &key, .write = write_names, .read = read_names};
    return ask_about(&asked, &question);
}

static Status write_model(void *user, Buffer *request)
{
    const Asked *asked = user;
    Assets *assets = asked->assets;
    PlaceFile files[ASSET_MODEL_FILES_MAX];
    bool is_loaded = load(assets, asked->at);
    for (uint32_t i = 0; i < asked->named_count && is_loaded; i++) {
        is_loaded = load(assets, asked->named[i]);
        files[i] = place_file(assets, asked->named[i]);
    }
    if (!is_loaded) {
        return STATUS_UNREAD;
    }
    const PlaceFile model = place_file(assets, asked->at);
    package_model_request(&model, files, asked->named_count, request);
    return STATUS_OK;
}

static Status read_model(void *user, Status said, const Buffer *reply)
{
    (void)said;
    const Asked *asked = user;
    AssetInfo info;
    const Status status = package_model_read(reply, &info);
    if (status == STATUS_OK) {
        take_info(asked, &info);
    }
    return status;
}

// Checks a model together with the files that it names.
static Status check_with_files(Assets *assets, uint32_t at, const uint32_t *named, uint32_t count)
{
    const BuildAsset *asset = &assets->assets[at];
    Asked asked = {.assets = assets, .at = at, .named = named, .named_count = count};
    CacheKeyMaker maker = cache_key_begin("model");
    cache_key_add_text(&maker, asset->path);
    cache_key_add(&maker, asset->hash, sizeof asset->hash);
    for (uint32_t i = 0; i < count; i++) {
        if (!assets->items[named[i]].is_known) {
            return STATUS_OK; // it was reported
        }
        cache_key_add_text(&maker, assets->assets[named[i]].path);
        cache_key_add(&maker, assets->assets[named[i]].hash, SHA256_BYTES);
    }
    const CacheKey key = cache_key_end(&maker);
    WorkerQuestion question = {
        .op = WORKER_MODEL, .key = &key, .write = write_model, .read = read_model};
    return ask_about(&asked, &question);
}

static Status check_model(Assets *assets, uint32_t at, PackageModelFiles *names)
{
    uint32_t named[ASSET_MODEL_FILES_MAX];
    Status status = name_files(assets, at, names);
    if (status != STATUS_OK || !assets->items[at].has_names) {
        assets->model_is_bad = true;
        return status;
    }
    const uint32_t count = find_named(assets, names, named);
    status = check_with_files(assets, at, named, count);
    for (uint32_t i = 0; i < count; i++) {
        unload(&assets->items[named[i]]);
    }
    return status;
}

static Status check_models(Assets *assets)
{
    PackageModelFiles *names = malloc(sizeof *names);
    Status status = names != NULL ? STATUS_OK : STATUS_LIMIT;
    for (uint32_t i = 0; i < assets->files.count && status == STATUS_OK; i++) {
        if (assets->files.items[i].kind == KIND_GLTF && assets->items[i].is_known) {
            status =
                build_is_cancelled(assets->build) ? STATUS_DENIED : check_model(assets, i, names);
            unload(&assets->items[i]);
        }
    }
    free(names);
    return status;
}

// --- all of them together -----------------------------------------------------------------------

static void check_together(Assets *assets)
{
    uint64_t pixels = 0;
    for (uint32_t i = 0; i < assets->files.count; i++) {
        const AssetFile *file = &assets->files.items[i];
        const AssetInfo *info = &assets->assets[i].info;
        if (file->kind == KIND_BIN && !assets->items[i].is_named && !assets->model_is_bad) {
            tell_asset(assets, file->path, RULE_CONTENT, "no .gltf of the place names it");
        }
        if (info->has_place_data) {
            diagnostic_addf(&assets->build->result->diagnostics, DIAGNOSTIC_WARNING, file->path, 0,
                            0, "exif",
                            "holds EXIF data, which may say where and when it was taken; players "
                            "can read it");
        }
        const bool fits_before = pixels <= ASSET_PIXELS_MAX;
        pixels += (uint64_t)info->width * info->height;
        if (fits_before && pixels > ASSET_PIXELS_MAX) {
            tell_asset(assets, file->path, RULE_DIMENSIONS,
                       "with it all pictures together have more than 1073 million pixels");
        }
    }
}

// assets/thumbnail.png, .jpg or .jpeg, or else the first picture, as in a package.
static uint32_t find_picture(const AssetFileList *files)
{
    static const char *const names[] = {"assets/thumbnail.png", "assets/thumbnail.jpg",
                                        "assets/thumbnail.jpeg"};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && files->count > 0; i++) {
        const AssetFile *file =
            bsearch(names[i], files->items, files->count, sizeof *file, by_file_path);
        if (file != NULL) {
            return (uint32_t)(file - files->items);
        }
    }
    for (uint32_t i = 0; i < files->count; i++) {
        if (files->items[i].kind == KIND_PNG || files->items[i].kind == KIND_JPEG) {
            return i;
        }
    }
    return UINT32_MAX;
}

static Status give_thumbnail(Assets *assets)
{
    BuildResult *result = assets->build->result;
    const uint32_t at = assets->picture;
    if (at == UINT32_MAX || !assets->items[at].is_good) {
        return STATUS_OK;
    }
    CacheKeyMaker maker = cache_key_begin("thumbnail");
    cache_key_add_u32(&maker, (uint32_t)assets->files.items[at].kind);
    cache_key_add(&maker, assets->assets[at].hash, SHA256_BYTES);
    const CacheKey key = cache_key_end(&maker);
    Buffer png = buffer_of(ASSET_THUMBNAIL_BYTES);
    Asked asked = {.assets = assets, .at = at, .edge_px = ASSET_THUMBNAIL_PX, .png = &png};
    WorkerQuestion question = {
        .op = WORKER_ASSET, .key = &key, .write = write_asset, .read = read_asset};
    const Status status = ask_about(&asked, &question);
    if (status == STATUS_OK && png.status == STATUS_OK && png.bytes > 0) {
        result->thumbnail = png.data;
        result->thumbnail_bytes = png.bytes;
        sha256_of(png.data, png.bytes, result->thumbnail_hash);
        return STATUS_OK;
    }
    buffer_free(&png);
    return status;
}

static Status check_all(Assets *assets)
{
    Status status = STATUS_OK;
    assets->picture = find_picture(&assets->files);
    for (uint32_t i = 0; i < assets->files.count && status == STATUS_OK; i++) {
        const AssetFile *file = &assets->files.items[i];
        snprintf(assets->assets[i].path, sizeof assets->assets[i].path, "%s", file->path);
        status = build_is_cancelled(assets->build) ? STATUS_DENIED : check_single(assets, i);
    }
    status = status == STATUS_OK ? check_models(assets) : status;
    if (status == STATUS_OK) {
        check_together(assets);
        status = give_thumbnail(assets);
    }
    return status;
}

static void free_assets(Assets *assets)
{
    for (uint32_t i = 0; assets->items != NULL && i < assets->files.count; i++) {
        unload(&assets->items[i]);
    }
    free(assets->items);
    asset_files_free(&assets->files);
    buffer_free(&assets->stamps);
}

// client/assets.json
static Status make_list(BuildResult *result)
{
    const AssetList list = {.assets = result->assets,
                            .count = result->asset_count,
                            .thumbnail = result->thumbnail != NULL ? result->thumbnail_hash : NULL};
    ByteWriter counter = byte_counter();
    Status status = asset_list_write(&list, &counter);
    char *text = status == STATUS_OK ? malloc(counter.at + 1) : NULL;
    if (text == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(text, counter.at);
    status = asset_list_write(&list, &writer);
    text[counter.at] = '\0';
    result->asset_list = text;
    result->asset_list_bytes = counter.at;
    return status;
}

static Status check_assets(Assets *assets)
{
    Build *build = assets->build;
    BuildResult *result = build->result;
    const uint32_t errors_before = result->diagnostics.error_count;
    Status status = asset_files_list(
        build->request->place, PLACE_FILES_MAX - build->folder.file_count,
        PLACE_FOLDER_BYTES_MAX - build->folder.bytes, &assets->files, &result->diagnostics);
    if (status != STATUS_OK) {
        return status;
    }
    const uint32_t count = assets->files.count;
    result->assets = assets->assets = calloc((size_t)count + 1, sizeof *assets->assets);
    assets->items = calloc((size_t)count + 1, sizeof *assets->items);
    if (assets->assets == NULL || assets->items == NULL) {
        return STATUS_LIMIT;
    }
    result->asset_count = count;
    if (count > 0) {
        build_progress(build, BUILD_ASSETS, 0, count, "");
        find_stamps(assets);
        status = check_all(assets);
        keep_stamps(assets);
    }
    if (status == STATUS_OK && result->diagnostics.error_count == errors_before) {
        status = make_list(result);
    }
    return status;
}

Status build_assets(Build *build)
{
    Assets assets = {.build = build};
    const Status status = check_assets(&assets);
    free_assets(&assets);
    if (status == STATUS_LIMIT && build->context.reason[0] == '\0') {
        (void)context_fail(&build->context, status, "assets: out of memory");
    }
    return status;
}

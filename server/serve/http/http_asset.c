// Assets over HTTP, by their hashes: pictures, sounds and models of the place that was built, and
// its thumbnail. They stay on disk and are read while they are sent, so many large ones at once
// cost a block each; what is sent are the bytes that were checked, or the connection ends. Files
// are looked at on the pool, and read while they are sent.
#define _GNU_SOURCE
#include "server/serve/http/http_asset.h"

#include "server/build/place/place_file.h"
#include "server/control/order/rights.h"
#include "server/serve/http/access.h"
#include "server/serve/place/places.h"
#include "server/store/place/blob.h"
#include "server/sys/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STREAMS_MAX       512           // descriptors that are open at once
#define WANTED_PLACES_MAX 8             // that are asked for one asset
#define USES_MAX          16            // of one blob that are looked at
#define JUDGED_NS         1000000000ull // how long the word about a file that was just written counts

// What is known of a file that is not as the build saw it.
typedef struct Verdict {
    AssetStamp stamp;
    uint64_t judged_ns; // 0: never
    bool was_settled;
    bool is_good;
} Verdict;

struct ServeAssets {
    const HostPlace *place;
    pthread_mutex_t lock;
    Verdict *verdicts; // by asset; with the lock
};

static atomic_uint stream_count; // of all places

typedef struct AssetStream {
    ServePlace *place; // a reference
    int file;
    AssetStamp stamp;
} AssetStream;

Status serve_assets_create(const HostPlace *place, ServeAssets **out)
{
    ServeAssets *assets = calloc(1, sizeof *assets);
    Verdict *verdicts = calloc((size_t)place->built.asset_count + 1, sizeof *verdicts);
    if (assets == NULL || verdicts == NULL) {
        free(assets);
        free(verdicts);
        return STATUS_LIMIT;
    }
    assets->place = place;
    assets->verdicts = verdicts;
    pthread_mutex_init(&assets->lock, NULL);
    *out = assets;
    return STATUS_OK;
}

void serve_assets_destroy(ServeAssets *assets)
{
    if (assets != NULL) {
        pthread_mutex_destroy(&assets->lock);
        free(assets->verdicts);
        free(assets);
    }
}

// --- is it still that file? ---------------------------------------------------------------------

// A file that looks otherwise than the build saw it is read once more, and that is remembered: one
// that was only touched is served, one that changed is not.
static bool is_still(ServeAssets *assets, uint32_t number, int file, const AssetStamp *stamp)
{
    const BuildAsset *asset = &assets->place->built.assets[number];
    if (stamp->bytes != asset->bytes) {
        return false;
    }
    if (asset->was_settled && asset_stamp_equal(stamp, &asset->stamp)) {
        return true;
    }
    pthread_mutex_lock(&assets->lock);
    Verdict verdict = assets->verdicts[number];
    pthread_mutex_unlock(&assets->lock);
    if (verdict.judged_ns != 0 && asset_stamp_equal(stamp, &verdict.stamp) &&
        (verdict.was_settled || clock_ns() - verdict.judged_ns < JUDGED_NS)) {
        return verdict.is_good;
    }
    uint8_t hash[SHA256_BYTES];
    verdict = (Verdict){.stamp = *stamp, .was_settled = asset_stamp_is_settled(stamp)};
    verdict.is_good = asset_file_hash(file, stamp, hash) == STATUS_OK &&
                      memcmp(hash, asset->hash, sizeof hash) == 0;
    verdict.judged_ns = clock_ns();
    pthread_mutex_lock(&assets->lock);
    assets->verdicts[number] = verdict;
    pthread_mutex_unlock(&assets->lock);
    return verdict.is_good;
}

// --- streams ------------------------------------------------------------------------------------

// The stamp is looked at after the bytes: if it is what it was, so were they.
static int64_t read_stream(void *user, uint64_t at, void *out, size_t bytes)
{
    const AssetStream *stream = user;
    AssetStamp now;
    ssize_t got;
    do {
        got = pread(stream->file, out, bytes, (off_t)at);
    } while (got < 0 && errno == EINTR);
    const bool is_same =
        asset_stamp_of(stream->file, &now) == STATUS_OK && asset_stamp_equal(&now, &stream->stamp);
    return is_same ? got : -1;
}

static void end_stream(void *user)
{
    AssetStream *stream = user;
    atomic_fetch_sub(&stream_count, 1);
    close(stream->file);
    serve_place_release(stream->place);
    free(stream);
}

// Types that no browser runs, whatever is in them; models and the rest are downloads.
static const char *asset_media_type(PackageKind kind)
{
    switch (kind) {
    case KIND_PNG:
        return "image/png";
    case KIND_JPEG:
        return "image/jpeg";
    case KIND_OGG:
        return "audio/ogg";
    case KIND_WAV:
        return "audio/wav";
    case KIND_GLB:
        return "model/gltf-binary";
    default:
        return "application/octet-stream";
    }
}

static void fill(HttpResponse *response, PackageKind kind, size_t bytes)
{
    response->content_type = asset_media_type(kind);
    response->bytes = bytes;
    response->cache = SERVE_BLOB_CACHE;
    response->content_security_policy = "sandbox";
    response->is_attachment = true;
}

// The reference is the response's, unless this is false: the file is not (any more) what it was
// when it was built.
static bool answer_file(ServePlace *place, uint32_t number, HttpResponse *response)
{
    const BuildAsset *asset = &place->place->built.assets[number];
    AssetStream *stream = malloc(sizeof *stream);
    int file = -1;
    if (stream == NULL || place_file_open(place->place->folder, asset->path, &file) != STATUS_OK) {
        free(stream);
        return false;
    }
    *stream = (AssetStream){.place = place, .file = file};
    if (asset_stamp_of(file, &stream->stamp) != STATUS_OK ||
        !is_still(place->assets, number, file, &stream->stamp)) {
        close(file);
        free(stream);
        return false;
    }
    fill(response, asset->info.kind, (size_t)asset->bytes);
    if (place->number != 0) { // nobody writes into the folder of a revision
        response->stream = (HttpStream){.is_file = true, .file = file};
        free(stream);
        serve_place_release(place);
        return true;
    }
    atomic_fetch_add(&stream_count, 1);
    response->stream = (HttpStream){.read = read_stream, .end = end_stream, .user = stream};
    return true;
}

// --- answers ------------------------------------------------------------------------------------

typedef struct WantedAsset {
    uint8_t hash[SHA256_BYTES];
    const ServePlace *not_in[WANTED_PLACES_MAX]; // whose file has changed
    uint32_t not_in_count;
} WantedAsset;

static bool has_thumbnail(const BuildResult *built, const uint8_t hash[SHA256_BYTES])
{
    return built->thumbnail != NULL && memcmp(hash, built->thumbnail_hash, SHA256_BYTES) == 0;
}

static bool has_asset(void *user, const ServePlace *place)
{
    const WantedAsset *wanted = user;
    const BuildResult *built = &place->place->built;
    for (uint32_t i = 0; i < wanted->not_in_count; i++) {
        if (wanted->not_in[i] == place) {
            return false;
        }
    }
    bool is_there = has_thumbnail(built, wanted->hash);
    for (uint32_t i = 0; i < built->asset_count && !is_there; i++) {
        is_there = memcmp(wanted->hash, built->assets[i].hash, SHA256_BYTES) == 0;
    }
    return is_there;
}

// Several files may hold the same bytes; any that still does is as good. The reference is the
// response's if this is true.
static bool answer_from(ServePlace *place, const uint8_t hash[SHA256_BYTES], HttpResponse *response)
{
    const BuildResult *built = &place->place->built;
    if (has_thumbnail(built, hash)) {
        fill(response, KIND_PNG, built->thumbnail_bytes);
        serve_place_send(place, built->thumbnail, built->thumbnail_bytes, response);
        return true;
    }
    for (uint32_t i = 0; i < built->asset_count; i++) {
        if (memcmp(hash, built->assets[i].hash, SHA256_BYTES) == 0 &&
            answer_file(place, i, response)) {
            return true;
        }
    }
    return false;
}

// What players get of it is for those who may play it.
bool serve_may_play(const Serve *serve, const HttpRequest *request, const char *place_id)
{
    char package_id[PLACE_KEY_BYTES];
    StorePackage package;
    uint32_t rights = 0;
    const uint32_t needs = place_channel_rights(place_id_channel(place_id));
    place_id_package(place_id, package_id);
    return serve->control == NULL || (rights_find(serve->store, package_id, serve_who(request),
                                                  &package, &rights) == STATUS_OK &&
                                      (rights & needs) == needs);
}

// Of a picture that was checked when it came: PNG, or else JPEG.
static PackageKind picture_kind(int file)
{
    uint8_t first = 0;
    return pread(file, &first, 1, 0) == 1 && first == 0x89 ? KIND_PNG : KIND_JPEG;
}

// The asset of a place that is loaded. The response is filled if this is true.
static bool answer_asset(const Serve *serve, HttpRequest *request, HttpResponse *response,
                         WantedAsset *wanted)
{
    ServePlace *place = places_find(serve, has_asset, wanted);
    while (place != NULL) {
        const bool is_private = atomic_load(&place->is_private);
        const bool is_allowed =
            !is_private || serve_may_play(serve, request, place->place->place_id);
        if (is_allowed && answer_from(place, wanted->hash, response)) {
            response->cache = is_private ? SERVE_BLOB_PRIVATE : SERVE_BLOB_CACHE;
            response->is_for_all_sites = !is_private && serve->config.cdn_base != NULL;
            return true;
        }
        wanted->not_in[wanted->not_in_count++] = place;
        serve_place_release(place);
        const bool is_more = wanted->not_in_count < WANTED_PLACES_MAX;
        place = is_more ? places_find(serve, has_asset, wanted) : NULL;
    }
    return false;
}

// What a use lets somebody do with the blob: pictures are for who may see the package, the rest for
// who may play, read or edit it.
static uint32_t right_for(StoreBlobPurpose purpose)
{
    switch (purpose) {
    case STORE_BLOB_PICTURE:
    case STORE_BLOB_THUMBNAIL:
    case STORE_BLOB_OWN_THUMBNAIL:
        return RIGHT_SEE;
    case STORE_BLOB_PLAYED:
    case STORE_BLOB_CLIENT_MANIFEST:
        return RIGHT_PLAY;
    case STORE_BLOB_SPELLS:
    case STORE_BLOB_SPELL: // who may read a place may not therefore read the spells it uses
        return 0;
    case STORE_BLOB_DRAFT:
        return RIGHT_EDIT;
    default:
        return RIGHT_READ;
    }
}

// May they have it, by any of its uses? *is_public: anybody may.
static bool may_have(Serve *serve, const HttpRequest *request, const uint8_t hash[SHA256_BYTES],
                     bool *is_public, bool *is_picture)
{
    StoreBlobUse uses[USES_MAX];
    uint32_t count = 0;
    bool is_allowed = false;
    if (store_blob_uses(serve->store, hash, uses, USES_MAX, &count) != STATUS_OK) {
        return false;
    }
    for (uint32_t i = 0; i < count && !*is_public; i++) {
        StorePackage package;
        uint32_t rights = 0;
        const uint32_t right = right_for(uses[i].purpose);
        const bool is_seen = rights_find(serve->store, uses[i].package_id, serve_who(request),
                                         &package, &rights) == STATUS_OK &&
                             (rights & right) != 0;
        is_allowed = is_allowed || is_seen;
        *is_public =
            is_seen && (rights_of(&package, STORE_NOBODY, CLASS_NOBODY, NULL) & right) != 0;
        *is_picture = *is_picture || (is_seen && right == RIGHT_SEE);
    }
    return is_allowed;
}

// What the store keeps and no place that is loaded has: pictures, packages, drafts.
static bool answer_stored(Serve *serve, HttpRequest *request, HttpResponse *response,
                          const uint8_t hash[SHA256_BYTES])
{
    int file = -1;
    uint64_t bytes = 0;
    bool is_public = false, is_picture = false;
    if (serve->control == NULL || !may_have(serve, request, hash, &is_public, &is_picture) ||
        blob_file(serve->blobs, hash, &file, &bytes) != STATUS_OK) {
        return false;
    }
    fill(response, is_picture ? picture_kind(file) : KIND_BIN, (size_t)bytes);
    response->cache = is_public ? SERVE_BLOB_CACHE : SERVE_BLOB_PRIVATE;
    response->stream = (HttpStream){.is_file = true, .file = file};
    return true;
}

void serve_asset_blob(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const char *name = http_path_part(request, 0);
    WantedAsset wanted = {.not_in_count = 0};
    if (atomic_load(&stream_count) >= STREAMS_MAX) {
        http_fail(request, response, 503, "busy", "too many assets are being sent; try again");
        return;
    }
    const bool is_hash = name != NULL && blob_parse(name, strlen(name), wanted.hash) == STATUS_OK;
    if (!is_hash || (!answer_asset(serve, request, response, &wanted) &&
                     !answer_stored(serve, request, response, wanted.hash))) {
        http_fail(request, response, 404, "not_found", "there is no such blob");
    }
}

// GET /api/assets?place=ID; without one, of the default place.
void serve_asset_list(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    const char *wanted = http_query(request, "place");
    wanted = wanted != NULL ? wanted : serve->default_place;
    ServePlace *place = strlen(wanted) < PLACE_KEY_BYTES && serve_may_play(serve, request, wanted)
                            ? places_find_id(serve, wanted)
                            : NULL;
    const BuildResult *built = place != NULL ? &place->place->built : NULL;
    if (built == NULL || built->asset_list == NULL) { // else the control plane has it
        serve_place_release(place);
        http_fail(request, response, 404, "not_found", "there is no such place here");
        return;
    }
    serve_place_send(place, (const uint8_t *)built->asset_list, built->asset_list_bytes, response);
}

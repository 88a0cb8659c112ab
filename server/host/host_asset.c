// Assets over HTTP, by their hashes: pictures, sounds and models of the place that was built, and
// its thumbnail. They stay on disk and are read while they are sent, so many large ones at once
// cost a block each; what is sent are the bytes that were checked, or the connection ends. Files
// are opened and checked on the pool.
#define _GNU_SOURCE
#include "server/host/host_inside.h"

#include "server/build/place/place_file.h"
#include "server/store/blob.h"
#include "server/sys/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STREAMS_MAX 512           // descriptors that are open at once
#define JUDGED_NS   1000000000ull // how long the word about a file that was just written counts

// What is known of a file that is not as the build saw it.
typedef struct Verdict {
    AssetStamp stamp;
    uint64_t judged_ns; // 0: never
    bool was_settled;
    bool is_good;
} Verdict;

struct HostAssets {
    Verdict *verdicts;    // by asset
    pthread_mutex_t lock; // for the verdicts
    atomic_uint stream_count;
};

typedef struct AssetStream {
    HostAssets *assets;
    int file;
    AssetStamp stamp;
} AssetStream;

Status host_asset_open(Host *host)
{
    host->assets = calloc(1, sizeof *host->assets);
    if (host->assets == NULL) {
        return STATUS_LIMIT;
    }
    pthread_mutex_init(&host->assets->lock, NULL);
    host->assets->verdicts =
        calloc((size_t)host->built.asset_count + 1, sizeof *host->assets->verdicts);
    return host->assets->verdicts != NULL ? STATUS_OK : STATUS_LIMIT;
}

void host_asset_close(Host *host)
{
    if (host->assets != NULL) {
        pthread_mutex_destroy(&host->assets->lock);
        free(host->assets->verdicts);
        free(host->assets);
        host->assets = NULL;
    }
}

// --- is it still that file? ---------------------------------------------------------------------

// A file that looks otherwise than the build saw it is read once more, and that is remembered: one
// that was only touched is served, one that changed is not.
static bool is_still(Host *host, uint32_t number, int file, const AssetStamp *stamp)
{
    const BuildAsset *asset = &host->built.assets[number];
    Verdict *verdict = &host->assets->verdicts[number];
    if (stamp->bytes != asset->bytes) {
        return false;
    }
    if (asset->was_settled && asset_stamp_equal(stamp, &asset->stamp)) {
        return true;
    }
    const uint64_t now = clock_ns();
    pthread_mutex_lock(&host->assets->lock);
    const Verdict known = *verdict;
    pthread_mutex_unlock(&host->assets->lock);
    if (known.judged_ns != 0 && asset_stamp_equal(stamp, &known.stamp) &&
        (known.was_settled || now - known.judged_ns < JUDGED_NS)) {
        return known.is_good;
    }
    uint8_t hash[SHA256_BYTES];
    Verdict judged = {.stamp = *stamp, .was_settled = asset_stamp_is_settled(stamp)};
    judged.is_good = asset_file_hash(file, stamp, hash) == STATUS_OK &&
                     memcmp(hash, asset->hash, sizeof hash) == 0;
    judged.judged_ns = clock_ns();
    pthread_mutex_lock(&host->assets->lock);
    *verdict = judged;
    pthread_mutex_unlock(&host->assets->lock);
    return judged.is_good;
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
    stream->assets->stream_count -= 1;
    close(stream->file);
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
    response->cache = HOST_BLOB_CACHE;
    response->content_security_policy = "sandbox";
    response->is_attachment = true;
}

// False: the file is not (any more) what it was when it was built.
static bool answer_file(Host *host, uint32_t number, HttpResponse *response)
{
    const BuildAsset *asset = &host->built.assets[number];
    AssetStream *stream = malloc(sizeof *stream);
    int file = -1;
    if (stream == NULL || place_file_open(host->config.place, asset->path, &file) != STATUS_OK) {
        free(stream);
        return false;
    }
    *stream = (AssetStream){.assets = host->assets, .file = file};
    if (asset_stamp_of(file, &stream->stamp) != STATUS_OK ||
        !is_still(host, number, file, &stream->stamp)) {
        close(file);
        free(stream);
        return false;
    }
    host->assets->stream_count += 1;
    fill(response, asset->info.kind, (size_t)asset->bytes);
    response->stream = (HttpStream){read_stream, end_stream, stream};
    return true;
}

// --- answers ------------------------------------------------------------------------------------

// On the pool. Several files may hold the same bytes; any that still does is as good.
static void work_asset(void *user, HttpRequest *request, HttpResponse *response)
{
    Host *host = user;
    const BuildResult *built = &host->built;
    const char *name = http_path_part(request, 0);
    uint8_t hash[SHA256_BYTES] = {0};
    if (host->assets->stream_count >= STREAMS_MAX) {
        http_fail(request, response, 503, "busy", "too many assets are being sent; try again");
        return;
    }
    const bool is_hash = blob_parse(name, strlen(name), hash) == STATUS_OK;
    for (uint32_t i = 0; i < built->asset_count && is_hash; i++) {
        if (memcmp(hash, built->assets[i].hash, sizeof hash) == 0 &&
            answer_file(host, i, response)) {
            return;
        }
    }
    http_fail(request, response, 404, "not_found", "there is no such blob");
}

static bool is_asset(const BuildResult *built, const uint8_t hash[SHA256_BYTES])
{
    for (uint32_t i = 0; i < built->asset_count; i++) {
        if (memcmp(hash, built->assets[i].hash, SHA256_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

void host_asset_blob(Host *host, const char *name, HttpRequest *request, HttpResponse *response)
{
    const BuildResult *built = &host->built;
    uint8_t hash[SHA256_BYTES];
    if (name == NULL || blob_parse(name, strlen(name), hash) != STATUS_OK) {
        http_fail(request, response, 404, "not_found", "there is no such blob");
    } else if (built->thumbnail != NULL && memcmp(hash, built->thumbnail_hash, sizeof hash) == 0) {
        fill(response, KIND_PNG, built->thumbnail_bytes);
        response->body = built->thumbnail;
        response->body_is_static = true;
    } else if (is_asset(built, hash)) {
        http_work(request, response, work_asset);
    } else {
        http_fail(request, response, 404, "not_found", "there is no such blob");
    }
}

void host_asset_list(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)request;
    const Host *host = user;
    response->body = (const uint8_t *)host->built.asset_list;
    response->bytes = host->built.asset_list_bytes;
    response->body_is_static = true; // until the server is stopped
}

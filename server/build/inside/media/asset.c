// See asset.h: which check a file gets, the rules for text, and thumbnails.
#include "server/build/inside/media/asset.h"

#include "core/base/check.h"
#include "core/base/json.h"
#include "core/base/text_problem.h"
#include "server/build/inside/worker_op.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

Status asset_refuse(const AssetJob *job, PackageRule rule, const char *format, ...)
{
    char why[WORKER_REASON_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return package_refuse(job->reason, job->path, strlen(job->path), rule, "%s", why);
}

// --- what a file is -----------------------------------------------------------------------------

// An archive with the name of an asset is reported as an archive.
static bool is_archive(const AssetJob *job)
{
    static const struct {
        const char *magic;
        size_t bytes;
    } magics[] = {{"7z\xbc\xaf\x27\x1c", 6},
                  {"Rar!\x1a\x07", 6},
                  {"\xfd"
                   "7zXZ\0",
                   6},
                  {"BZh", 3},
                  {"PK\x03\x04", 4},
                  {"PK\x05\x06", 4}};
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        if (job->bytes > magics[i].bytes &&
            memcmp(job->data, magics[i].magic, magics[i].bytes) == 0) {
            return true;
        }
    }
    return package_is_gzip(job->data, job->bytes) || package_is_zstd(job->data, job->bytes) ||
           package_is_tar(job->data, job->bytes);
}

// The build checks whether a script compiles or a scene is right.
static Status check_text(const AssetJob *job, PackageKind kind)
{
    uint32_t line;
    const TextProblem problem = text_problem(job->data, job->bytes, &line);
    if (problem != TEXT_GOOD) {
        return asset_refuse(job, RULE_CONTENT, "line %u: %s", line, text_problem_words(problem));
    }
    if (kind == KIND_JSON) {
        const size_t mark = strlen(JSON_MARK);
        size_t at = job->bytes >= mark && memcmp(job->data, JSON_MARK, mark) == 0 ? mark : 0;
        while (at < job->bytes && strchr(" \t\r\n", job->data[at]) != NULL && job->data[at] != 0) {
            at += 1;
        }
        if (at == job->bytes || (job->data[at] != '{' && job->data[at] != '[')) {
            return asset_refuse(job, RULE_CONTENT, "is no JSON");
        }
    }
    return STATUS_OK;
}

Status asset_check(const AssetJob *job, PackageKind kind, AssetInfo *out)
{
    if (is_archive(job)) {
        return asset_refuse(job, RULE_NESTED, "is an archive; a package holds no other");
    }
    *out = (AssetInfo){.kind = kind};
    switch (kind) {
    case KIND_PNG:
        return asset_png(job, out, NULL);
    case KIND_JPEG:
        return asset_jpeg(job, out, NULL);
    case KIND_OGG:
        return asset_ogg(job, out);
    case KIND_WAV:
        return asset_wav(job, out);
    case KIND_GLB:
        return asset_glb(job, out);
    case KIND_GLTF:
        return asset_gltf(job, out);
    case KIND_SCRIPT:
    case KIND_JSON:
    case KIND_TEXT:
        return check_text(job, kind);
    case KIND_CHUNK: // the build decodes it
    case KIND_BIN:   // the model that names it defines its length
    case KIND_COUNT:
        break;
    }
    return STATUS_OK;
}

Status asset_check_size(const AssetJob *job, uint64_t width, uint64_t height)
{
    if (width == 0 || height == 0 || width > ASSET_EDGE_PX_MAX || height > ASSET_EDGE_PX_MAX) {
        return asset_refuse(job, RULE_DIMENSIONS, "%llu × %llu pixels, at most %d × %d",
                            (unsigned long long)width, (unsigned long long)height,
                            ASSET_EDGE_PX_MAX, ASSET_EDGE_PX_MAX);
    }
    worker_progress(0, 0); // this may take a while
    if (job->package != NULL) {
        job->package->pixels += width * height;
        if (job->package->pixels > ASSET_PIXELS_MAX) {
            return asset_refuse(job, RULE_DIMENSIONS,
                                "with it all pictures together have more than %u million pixels",
                                ASSET_PIXELS_MAX / 1000000);
        }
    }
    return STATUS_OK;
}

// --- thumbnails ---------------------------------------------------------------------------------

static uint8_t mean(uint64_t sum, uint64_t count)
{
    return (uint8_t)((sum + count / 2) / count);
}

// The mean of the pixels x0..x1, y0..y1, weighted by their opacity.
static void box(const Picture *from, const uint32_t x[2], const uint32_t y[2], uint8_t out[4])
{
    uint64_t sum[4] = {0};
    const uint64_t count = (uint64_t)(x[1] - x[0]) * (y[1] - y[0]);
    for (uint32_t row = y[0]; row < y[1]; row++) {
        const uint8_t *pixel = from->pixels + ((size_t)row * from->width + x[0]) * 4;
        for (uint32_t column = x[0]; column < x[1]; column++, pixel += 4) {
            for (int i = 0; i < 3; i++) {
                sum[i] += (uint64_t)pixel[i] * pixel[3];
            }
            sum[3] += pixel[3];
        }
    }
    for (int i = 0; i < 3; i++) {
        out[i] = sum[3] == 0 ? 0 : mean(sum[i], sum[3]);
    }
    out[3] = mean(sum[3], count);
}

// Where a pixel of the small picture begins in the large one; never an empty box.
static void box_edges(uint32_t index, uint32_t small, uint32_t large, uint32_t edges[2])
{
    edges[0] = (uint32_t)((uint64_t)index * large / small);
    edges[1] = (uint32_t)((uint64_t)(index + 1) * large / small);
    ASSERT(edges[1] > edges[0] && edges[1] <= large);
}

static bool shrink(const Picture *from, uint32_t edge_max, Picture *out)
{
    const uint32_t longest = from->width > from->height ? from->width : from->height;
    const uint32_t most = longest < edge_max ? longest : edge_max;
    Picture small = {.width = (uint32_t)((uint64_t)from->width * most / longest),
                     .height = (uint32_t)((uint64_t)from->height * most / longest)};
    small.width = small.width == 0 ? 1 : small.width;
    small.height = small.height == 0 ? 1 : small.height;
    small.pixels = malloc((size_t)small.width * small.height * 4);
    if (small.pixels == NULL) {
        return false;
    }
    for (uint32_t v = 0; v < small.height; v++) {
        uint32_t y[2];
        box_edges(v, small.height, from->height, y);
        for (uint32_t u = 0; u < small.width; u++) {
            uint32_t x[2];
            box_edges(u, small.width, from->width, x);
            box(from, x, y, small.pixels + ((size_t)v * small.width + u) * 4);
        }
    }
    *out = small;
    return true;
}

static void put_chunk(Buffer *out, const char kind[4], const uint8_t *data, size_t bytes)
{
    buffer_put_u32_big(out, (uint32_t)bytes);
    buffer_put(out, kind, 4);
    buffer_put(out, data, bytes);
    uLong crc = crc32_z(crc32_z(0, NULL, 0), (const Bytef *)kind, 4);
    if (bytes > 0) { // zlib takes NULL as the start of a new checksum
        crc = crc32_z(crc, data, bytes);
    }
    buffer_put_u32_big(out, (uint32_t)crc);
}

// Every row as its difference from the pixel before (filter 1).
static Status write_png(const Picture *picture, Buffer *out)
{
    const size_t row = (size_t)picture->width * 4, raw_bytes = (row + 1) * picture->height;
    uLongf packed_bytes = compressBound((uLong)raw_bytes);
    uint8_t *raw = malloc(raw_bytes), *packed = malloc(packed_bytes);
    bool done = raw != NULL && packed != NULL;
    for (uint32_t y = 0; done && y < picture->height; y++) {
        const uint8_t *from = picture->pixels + y * row;
        uint8_t *to = raw + y * (row + 1);
        to[0] = 1;
        for (size_t i = 0; i < row; i++) {
            to[1 + i] = (uint8_t)(from[i] - (i >= 4 ? from[i - 4] : 0));
        }
    }
    done = done && compress2(packed, &packed_bytes, raw, (uLong)raw_bytes, 9) == Z_OK;
    if (done) {
        uint8_t head[13] = {[8] = 8, [9] = 6}; // bits, RGBA
        for (int i = 0; i < 4; i++) {
            head[i] = (uint8_t)(picture->width >> (24 - 8 * i));
            head[4 + i] = (uint8_t)(picture->height >> (24 - 8 * i));
        }
        buffer_put(out, "\x89PNG\r\n\x1a\n", 8);
        put_chunk(out, "IHDR", head, sizeof head);
        put_chunk(out, "IDAT", packed, packed_bytes);
        put_chunk(out, "IEND", NULL, 0);
    }
    free(raw);
    free(packed);
    return done ? out->status : STATUS_LIMIT;
}

Status asset_thumbnail(const AssetJob *job, PackageKind kind, uint32_t edge_max, Buffer *png)
{
    AssetInfo info;
    Picture picture = {0}, small = {0};
    if (kind != KIND_PNG && kind != KIND_JPEG) {
        return asset_refuse(job, RULE_KIND, "is no picture");
    }
    Status status =
        kind == KIND_PNG ? asset_png(job, &info, &picture) : asset_jpeg(job, &info, &picture);
    if (status == STATUS_OK &&
        (!shrink(&picture, edge_max, &small) || write_png(&small, png) != STATUS_OK)) {
        status = asset_refuse(job, RULE_MEMORY, "out of memory");
    }
    free(picture.pixels);
    free(small.pixels);
    return status;
}

const PackageItem *asset_place_picture(const PackageList *list)
{
    static const char *const names[] = {"assets/thumbnail.png", "assets/thumbnail.jpg",
                                        "assets/thumbnail.jpeg"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const PackageItem *item = package_list_find(list, names[i]);
        if (item != NULL) {
            return item;
        }
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const PackageItem *item = &list->items[i];
        if ((item->kind == KIND_PNG || item->kind == KIND_JPEG) &&
            strncmp(item->path, "assets/", 7) == 0) {
            return item;
        }
    }
    return NULL;
}

// --- the op -------------------------------------------------------------------------------------

// Request: block path, u32 edge of a thumbnail (0: none), the rest is the file. Reply: AssetInfo,
// block thumbnail. For one file that comes alone (an upload from the studio).
Status worker_asset(WorkerCall *call)
{
    ByteReader *in = &call->request;
    size_t path_bytes;
    const uint8_t *path_at = byte_read_block(in, &path_bytes);
    const uint32_t edge = byte_read_u32(in);
    const size_t bytes = byte_reader_left(in);
    const uint8_t *data = byte_read_bytes(in, bytes);
    if (in->status != STATUS_OK || edge > ASSET_CARD_PX) {
        snprintf(call->reason, sizeof call->reason, "not a request for an asset");
        return STATUS_MALFORMED;
    }
    char path[PACKAGE_NAME_BYTES];
    PackageKind kind = KIND_COUNT;
    Status status = package_path_check((const char *)path_at, path_bytes, call->reason);
    if (status == STATUS_OK) {
        memcpy(path, path_at, path_bytes);
        path[path_bytes] = '\0';
        status = package_path_fits(path, call->reason);
    }
    status = status == STATUS_OK ? package_kind_of(path, &kind, call->reason) : status;
    status = status == STATUS_OK ? package_size_check(path, kind, bytes, call->reason) : status;
    AssetInfo info = {0};
    AssetPackage alone = {0};
    const AssetJob job = {
        .path = path, .data = data, .bytes = bytes, .package = &alone, .reason = call->reason};
    Buffer thumbnail = buffer_of(ASSET_THUMBNAIL_BYTES);
    status = status == STATUS_OK ? asset_check(&job, kind, &info) : status;
    if (status == STATUS_OK && edge > 0) {
        status = asset_thumbnail(&job, kind, edge, &thumbnail);
    }
    if (status == STATUS_OK) {
        asset_info_write(&info, &call->reply);
        buffer_put_block(&call->reply, thumbnail.data, thumbnail.bytes);
        status = call->reply.status;
    }
    buffer_free(&thumbnail);
    return status;
}

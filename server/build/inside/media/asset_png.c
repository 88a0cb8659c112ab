// PNG: the chunks are walked first (order, lengths, end, what unpacks by itself), then libpng
// decodes all of it. Chunks that carry text or profiles are never handed to libpng; how far they
// unpack is measured here, because browsers will unpack them.
#include "core/base/byte_values.h"
#include "server/build/inside/media/asset.h"

#include "core/base/check.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define SIGNATURE_BYTES    8
#define CHUNK_BYTES        12         // length, kind, CRC
#define EXTRA_UNPACKED_MAX (4u << 20) // of one zTXt, iTXt or iCCP
#define CHUNKS_MAX         100000

// --- chunks -------------------------------------------------------------------------------------

// Measures how far it unpacks; the bytes are thrown away.
static Status measure_deflated(const AssetJob *job, const char *kind, const uint8_t *data,
                               size_t bytes)
{
    uint8_t scratch[16384];
    size_t total = 0;
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)bytes};
    if (inflateInit(&stream) != Z_OK) {
        return asset_refuse(job, RULE_MEMORY, "out of memory");
    }
    int result = Z_OK;
    while (result == Z_OK && total <= EXTRA_UNPACKED_MAX) {
        stream.next_out = scratch;
        stream.avail_out = sizeof scratch;
        result = inflate(&stream, Z_NO_FLUSH);
        total += sizeof scratch - stream.avail_out;
    }
    inflateEnd(&stream);
    if (total > EXTRA_UNPACKED_MAX) {
        return asset_refuse(job, RULE_RATIO, "its chunk %s unpacks to more than %u MiB", kind,
                            EXTRA_UNPACKED_MAX >> 20);
    }
    return result == Z_STREAM_END
               ? STATUS_OK
               : asset_refuse(job, RULE_CONTENT, "its chunk %s is damaged", kind);
}

// Where the deflated part begins: after a name and its zero, and a byte or more; 0: nothing is
// deflated.
static size_t deflated_at(const char *kind, const uint8_t *data, size_t bytes)
{
    const uint8_t *zero = memchr(data, 0, bytes);
    size_t at = zero == NULL ? bytes : (size_t)(zero - data) + 1;
    if (strcmp(kind, "iTXt") == 0) {
        if (bytes - at < 2 || data[at] == 0) {
            return 0;
        }
        at += 2;
        for (int texts = 0; texts < 2; texts++) { // language, translated keyword
            zero = at < bytes ? memchr(data + at, 0, bytes - at) : NULL;
            at = zero == NULL ? bytes : (size_t)(zero - data) + 1;
        }
        return at;
    }
    return at < bytes ? at + 1 : bytes; // the method
}

static Status check_chunk(const AssetJob *job, const char *kind, const uint8_t *data, size_t bytes)
{
    static const char *const animated[] = {"acTL", "fcTL", "fdAT"};
    for (size_t i = 0; i < sizeof animated / sizeof animated[0]; i++) {
        if (strcmp(kind, animated[i]) == 0) {
            return asset_refuse(job, RULE_CONTENT, "is animated; save it as one still picture");
        }
    }
    if (strcmp(kind, "zTXt") == 0 || strcmp(kind, "iTXt") == 0 || strcmp(kind, "iCCP") == 0) {
        const size_t at = deflated_at(kind, data, bytes);
        return at == 0 ? STATUS_OK : measure_deflated(job, kind, data + at, bytes - at);
    }
    return STATUS_OK;
}

static bool is_letter(uint8_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// Checks one chunk at *at and moves *at behind it.
static Status walk_chunk(const AssetJob *job, size_t *at, char kind[5], AssetInfo *info)
{
    const size_t left = job->bytes - *at;
    const uint8_t *chunk = job->data + *at;
    if (left < CHUNK_BYTES || bytes_big_u32(chunk) > left - CHUNK_BYTES) {
        return asset_refuse(job, RULE_TRUNCATED, "the PNG ends inside a chunk");
    }
    const uint32_t length = bytes_big_u32(chunk);
    for (int i = 0; i < 4; i++) {
        if (!is_letter(chunk[4 + i])) {
            return asset_refuse(job, RULE_CONTENT, "the PNG has a chunk without a name");
        }
        kind[i] = (char)chunk[4 + i];
    }
    kind[4] = '\0';
    if (crc32_z(crc32_z(0, NULL, 0), chunk + 4, (size_t)length + 4) !=
        bytes_big_u32(chunk + 8 + length)) {
        return asset_refuse(job, RULE_CHECKSUM, "its chunk %s is damaged", kind);
    }
    info->has_place_data = info->has_place_data || strcmp(kind, "eXIf") == 0;
    *at += CHUNK_BYTES + (size_t)length;
    return check_chunk(job, kind, chunk + 8, length);
}

static Status check_head(const AssetJob *job, AssetInfo *info)
{
    const uint8_t *head = job->data + SIGNATURE_BYTES;
    if (job->bytes < SIGNATURE_BYTES + CHUNK_BYTES + 13 ||
        png_sig_cmp((png_const_bytep)job->data, 0, SIGNATURE_BYTES) != 0 ||
        bytes_big_u32(head) != 13 || memcmp(head + 4, "IHDR", 4) != 0) {
        return asset_refuse(job, RULE_CONTENT, "is no PNG");
    }
    info->width = bytes_big_u32(head + 8);
    info->height = bytes_big_u32(head + 12);
    return asset_check_size(job, info->width, info->height);
}

static Status walk_chunks(const AssetJob *job, AssetInfo *info)
{
    char kind[5] = "";
    size_t at = SIGNATURE_BYTES;
    for (uint32_t i = 0; strcmp(kind, "IEND") != 0; i++) {
        if (i == CHUNKS_MAX) {
            return asset_refuse(job, RULE_FILES, "the PNG has more than %d chunks", CHUNKS_MAX);
        }
        const Status status = walk_chunk(job, &at, kind, info);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return at == job->bytes ? STATUS_OK
                            : asset_refuse(job, RULE_TRAILING, "something stands behind the PNG");
}

// --- decoding -----------------------------------------------------------------------------------

typedef struct Decoder {
    const AssetJob *job;
    size_t at;
    char message[128];
    uint8_t *row, *pixels; // in here, so that their values are defined after a longjmp
} Decoder;

static void read_bytes(png_structp png, png_bytep out, size_t bytes)
{
    Decoder *decoder = png_get_io_ptr(png);
    if (bytes > decoder->job->bytes - decoder->at) {
        png_error(png, "it ends too early");
    }
    memcpy(out, decoder->job->data + decoder->at, bytes);
    decoder->at += bytes;
}

static void on_error(png_structp png, png_const_charp message)
{
    Decoder *decoder = png_get_error_ptr(png);
    snprintf(decoder->message, sizeof decoder->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void set_up(png_structp png, Decoder *decoder)
{
    static const png_byte unread[] = "iCCP\0zTXt\0iTXt\0tEXt\0sPLT\0eXIf\0hIST\0tIME\0sCAL\0pCAL";
    png_set_read_fn(png, decoder, read_bytes);
    png_set_user_limits(png, ASSET_EDGE_PX_MAX, ASSET_EDGE_PX_MAX);
    png_set_chunk_malloc_max(png, 1u << 20);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, unread, (int)sizeof unread / 5);
    png_set_benign_errors(png, 0); // too much picture data is an error, for example
}

// To RGBA of 8 bits, whatever it is.
static void set_transforms(png_structp png, png_infop info)
{
    const int colour = png_get_color_type(png, info);
    png_set_scale_16(png);
    png_set_expand(png);
    if (colour == PNG_COLOR_TYPE_GRAY || colour == PNG_COLOR_TYPE_GRAY_ALPHA) {
        png_set_gray_to_rgb(png);
    }
    png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
}

// All calls that may raise an error; everything that must be freed is in the decoder.
static void decode(png_structp png, png_infop info, Decoder *decoder, bool keeps)
{
    set_up(png, decoder);
    png_read_info(png, info);
    set_transforms(png, info);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    const size_t row_bytes = png_get_rowbytes(png, info);
    const uint32_t height = png_get_image_height(png, info);
    if (row_bytes != (size_t)png_get_image_width(png, info) * 4) {
        png_error(png, "its rows have another length");
    }
    decoder->row = calloc(1, row_bytes);
    decoder->pixels = keeps ? calloc(height, row_bytes) : NULL;
    if (decoder->row == NULL || (keeps && decoder->pixels == NULL)) {
        png_error(png, "out of memory");
    }
    for (int pass = 0; pass < passes; pass++) {
        for (uint32_t y = 0; y < height; y++) {
            png_read_row(png, keeps ? decoder->pixels + y * row_bytes : decoder->row, NULL);
        }
    }
    png_read_end(png, NULL);
}

static Status decode_png(const AssetJob *job, const AssetInfo *about, Picture *picture)
{
    Decoder decoder = {.job = job};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, on_error, on_warning);
    png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
    if (info == NULL) {
        png_destroy_read_struct(&png, NULL, NULL);
        return asset_refuse(job, RULE_MEMORY, "out of memory");
    }
    // What changes after setjmp lives in `decoder`, outside this frame's registers.
    const bool failed = setjmp(png_jmpbuf(png)) != 0;
    if (!failed) {
        decode(png, info, &decoder, picture != NULL);
    }
    png_destroy_read_struct(&png, &info, NULL);
    free(decoder.row);
    if (failed) {
        free(decoder.pixels);
        return asset_refuse(job, RULE_CONTENT, "the PNG cannot be decoded: %s", decoder.message);
    }
    if (picture != NULL) {
        *picture = (Picture){about->width, about->height, decoder.pixels};
    }
    return STATUS_OK;
}

Status asset_png(const AssetJob *job, AssetInfo *out, Picture *picture)
{
    AssetInfo info = {.kind = KIND_PNG};
    Status status = check_head(job, &info);
    status = status == STATUS_OK ? walk_chunks(job, &info) : status;
    status = status == STATUS_OK ? decode_png(job, &info, picture) : status;
    if (status == STATUS_OK) {
        *out = info;
    }
    return status;
}

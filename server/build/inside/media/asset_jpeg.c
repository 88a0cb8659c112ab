// JPEG, decoded completely by libjpeg. Size and number of scans are limited before decoding, a
// picture that ends early is rejected (libjpeg would invent the rest), and nothing may follow its
// end.
#include "server/build/inside/media/asset.h"

#include "core/base/check.h"

#include <stdio.h> // jpeglib.h needs it

#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define SCANS_MAX        64
#define MEMORY_BYTES_MAX (256l << 20)

typedef struct Decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf jump;
    const AssetJob *job;
    PackageRule rule;
    char message[JMSG_LENGTH_MAX];
    uint8_t *row, *pixels;
    bool has_place_data;
} Decoder;

static _Noreturn void give_up(Decoder *decoder, PackageRule rule, const char *message)
{
    decoder->rule = rule;
    if (message != NULL) {
        snprintf(decoder->message, sizeof decoder->message, "%s", message);
    }
    longjmp(decoder->jump, 1);
}

static void on_error(j_common_ptr jpeg)
{
    Decoder *decoder = jpeg->client_data;
    jpeg->err->format_message(jpeg, decoder->message);
    give_up(decoder, jpeg->err->msg_code == JERR_OUT_OF_MEMORY ? RULE_MEMORY : RULE_CONTENT, NULL);
}

// For warnings about damage libjpeg continues with grey; we stop. Extra bytes before a marker are
// common in photographs and harmless.
static void on_message(j_common_ptr jpeg, int level)
{
    if (level >= 0 || jpeg->err->msg_code == JWRN_EXTRANEOUS_DATA ||
        jpeg->err->msg_code == JWRN_ADOBE_XFORM || jpeg->err->msg_code == JWRN_JFIF_MAJOR) {
        return;
    }
    Decoder *decoder = jpeg->client_data;
    jpeg->err->format_message(jpeg, decoder->message);
    give_up(decoder, jpeg->err->msg_code == JWRN_JPEG_EOF ? RULE_TRUNCATED : RULE_CONTENT, NULL);
}

static void on_output(j_common_ptr jpeg)
{
    (void)jpeg;
}

// A progressive picture is decoded once for every scan, and a file can have thousands.
static void on_progress(j_common_ptr jpeg)
{
    if (jpeg->is_decompressor && ((j_decompress_ptr)jpeg)->input_scan_number > SCANS_MAX) {
        give_up(jpeg->client_data, RULE_CONTENT, "it has more than 64 scans");
    }
}

// The whole file is there from the start; libjpeg must never ask for more.
static void source_init(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

static boolean source_fill(j_decompress_ptr jpeg)
{
    give_up(jpeg->client_data, RULE_TRUNCATED, "it ends too early");
}

static void source_skip(j_decompress_ptr jpeg, long bytes)
{
    if (bytes <= 0) {
        return;
    }
    if ((size_t)bytes > jpeg->src->bytes_in_buffer) {
        give_up(jpeg->client_data, RULE_TRUNCATED, "it ends too early");
    }
    jpeg->src->next_input_byte += bytes;
    jpeg->src->bytes_in_buffer -= (size_t)bytes;
}

static boolean on_exif(j_decompress_ptr jpeg)
{
    // Two bytes of length, then the data, which must be there.
    Decoder *decoder = jpeg->client_data;
    struct jpeg_source_mgr *source = jpeg->src;
    if (source->bytes_in_buffer < 2) {
        give_up(decoder, RULE_TRUNCATED, "it ends too early");
    }
    const long length = (long)source->next_input_byte[0] << 8 | source->next_input_byte[1];
    if (length < 2) {
        give_up(decoder, RULE_CONTENT, "it has a marker without a length");
    }
    if (length >= 8 && source->bytes_in_buffer >= 8 &&
        memcmp(source->next_input_byte + 2, "Exif\0", 6) == 0) {
        decoder->has_place_data = true;
    }
    source_skip(jpeg, length);
    return TRUE;
}

static void set_up(Decoder *decoder, struct jpeg_source_mgr *source)
{
    decoder->errors.error_exit = on_error;
    decoder->errors.emit_message = on_message;
    decoder->errors.output_message = on_output;
    jpeg_create_decompress(&decoder->jpeg);
    decoder->jpeg.client_data = decoder;
    decoder->jpeg.mem->max_memory_to_use = MEMORY_BYTES_MAX;
    decoder->progress.progress_monitor = on_progress;
    decoder->jpeg.progress = &decoder->progress;
    decoder->jpeg.src = source;
    jpeg_set_marker_processor(&decoder->jpeg, JPEG_APP0 + 1, on_exif);
}

static void to_rgba(const struct jpeg_decompress_struct *jpeg, const uint8_t *row, uint8_t *out)
{
    for (uint32_t x = 0; x < jpeg->output_width; x++, out += 4) {
        if (jpeg->output_components == 4) {
            // Adobe writes CMYK inverted.
            const uint32_t k = jpeg->saw_Adobe_marker ? row[4 * x + 3] : 255u - row[4 * x + 3];
            for (uint32_t i = 0; i < 3; i++) {
                const uint32_t c = jpeg->saw_Adobe_marker ? row[4 * x + i] : 255u - row[4 * x + i];
                out[i] = (uint8_t)(c * k / 255);
            }
        } else {
            const uint32_t step = (uint32_t)jpeg->output_components;
            out[0] = row[step * x];
            out[1] = row[step * x + (step == 3 ? 1 : 0)];
            out[2] = row[step * x + (step == 3 ? 2 : 0)];
        }
        out[3] = 0xff;
    }
}

static void decode(Decoder *decoder, bool keeps)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    jpeg->dct_method = JDCT_ISLOW; // the one that gives the same bits on every machine
    jpeg->do_fancy_upsampling = TRUE;
    if (jpeg->jpeg_color_space == JCS_YCCK) {
        jpeg->out_color_space = JCS_CMYK;
    }
    jpeg_start_decompress(jpeg);
    const size_t width = jpeg->output_width, height = jpeg->output_height;
    if (jpeg->output_components != 1 && jpeg->output_components != 3 &&
        jpeg->output_components != 4) {
        give_up(decoder, RULE_CONTENT, "it has another number of colours");
    }
    decoder->row = malloc(width * (size_t)jpeg->output_components);
    decoder->pixels = keeps ? malloc(width * height * 4) : NULL;
    if (decoder->row == NULL || (keeps && decoder->pixels == NULL)) {
        give_up(decoder, RULE_MEMORY, "out of memory");
    }
    while (jpeg->output_scanline < jpeg->output_height) {
        const size_t y = jpeg->output_scanline;
        JSAMPROW row = decoder->row;
        if (jpeg_read_scanlines(jpeg, &row, 1) == 1 && keeps) {
            to_rgba(jpeg, decoder->row, decoder->pixels + y * width * 4);
        }
    }
    jpeg_finish_decompress(jpeg);
}

// All calls that may raise an error, with the checks between them.
static Status decode_jpeg(Decoder *decoder, AssetInfo *info, bool keeps)
{
    const AssetJob *job = decoder->job;
    struct jpeg_source_mgr source = {.next_input_byte = job->data,
                                     .bytes_in_buffer = job->bytes,
                                     .init_source = source_init,
                                     .fill_input_buffer = source_fill,
                                     .skip_input_data = source_skip,
                                     .resync_to_restart = jpeg_resync_to_restart,
                                     .term_source = source_init};
    if (setjmp(decoder->jump) != 0) {
        return asset_refuse(job, decoder->rule, "the JPEG cannot be decoded: %s", decoder->message);
    }
    set_up(decoder, &source);
    jpeg_read_header(&decoder->jpeg, TRUE);
    info->width = decoder->jpeg.image_width;
    info->height = decoder->jpeg.image_height;
    const Status status = asset_check_size(job, info->width, info->height);
    if (status != STATUS_OK) {
        return status;
    }
    decode(decoder, keeps);
    return source.bytes_in_buffer == 0
               ? STATUS_OK
               : asset_refuse(
                     job, RULE_TRAILING,
                     "there is data after the end of the JPEG; save it again with an editor");
}

Status asset_jpeg(const AssetJob *job, AssetInfo *out, Picture *picture)
{
    if (job->bytes < 4 || memcmp(job->data, "\xff\xd8\xff", 3) != 0) {
        return asset_refuse(job, RULE_CONTENT, "is no JPEG");
    }
    Decoder decoder = {.job = job};
    decoder.jpeg.err = jpeg_std_error(&decoder.errors);
    decoder.jpeg.client_data = &decoder;
    AssetInfo info = {.kind = KIND_JPEG};
    const Status status = decode_jpeg(&decoder, &info, picture != NULL);
    jpeg_destroy_decompress(&decoder.jpeg);
    free(decoder.row);
    if (status != STATUS_OK) {
        free(decoder.pixels);
        return status;
    }
    info.has_place_data = decoder.has_place_data;
    if (picture != NULL) {
        *picture = (Picture){info.width, info.height, decoder.pixels};
    }
    *out = info;
    return STATUS_OK;
}

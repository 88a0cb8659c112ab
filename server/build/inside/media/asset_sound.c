// Sounds: OGG with Vorbis or Opus, and WAV with plain samples. The whole container is checked
// (every page and its checksum, every chunk and its length) and the header with rate, channels and
// length; the samples are decoded by browsers only.
#include "server/build/inside/media/asset.h"

#include "core/base/check.h"

#include <string.h>

static uint16_t u16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t u32(const uint8_t *at)
{
    return u16(at) | (uint32_t)u16(at + 2) << 16;
}

static uint64_t u64(const uint8_t *at)
{
    return u32(at) | (uint64_t)u32(at + 4) << 32;
}

// Rate, channels and samples, as the header has them, are sane; fills the info.
static Status check_sound(const AssetJob *job, uint32_t rate, uint32_t channels, uint64_t samples,
                          AssetInfo *info)
{
    if (rate < ASSET_RATE_MIN || rate > ASSET_RATE_MAX) {
        return asset_refuse(job, RULE_CONTENT, "%u samples a second; allowed are %d to %d", rate,
                            ASSET_RATE_MIN, ASSET_RATE_MAX);
    }
    if (channels == 0 || channels > ASSET_CHANNELS_MAX) {
        return asset_refuse(job, RULE_CONTENT, "%u channels; allowed are 1 to %d", channels,
                            ASSET_CHANNELS_MAX);
    }
    if (samples / rate > ASSET_SECONDS_MAX) {
        return asset_refuse(job, RULE_SIZE, "lasts %llu seconds; a sound has at most %d",
                            (unsigned long long)(samples / rate), ASSET_SECONDS_MAX);
    }
    info->rate = rate;
    info->channel_count = channels;
    info->duration_ms = (uint32_t)(samples * 1000 / rate);
    return STATUS_OK;
}

// --- OGG ----------------------------------------------------------------------------------------

#define PAGE_BYTES     27
#define PAGE_CONTINUED 1
#define PAGE_FIRST     2
#define PAGE_LAST      4
#define NO_POSITION    UINT64_MAX
#define VORBIS_BYTES   30
#define OPUS_BYTES     19
#define OPUS_RATE      48000

// OGG's CRC-32: from the highest bit, without reflection.
static uint32_t ogg_crc(const uint8_t *page, size_t bytes)
{
    static const uint32_t by_nibble[16] = {0x00000000, 0x04c11db7, 0x09823b6e, 0x0d4326d9,
                                           0x130476dc, 0x17c56b6b, 0x1a864db2, 0x1e475005,
                                           0x2608edb8, 0x22c9f00f, 0x2f8ad6d6, 0x2b4bcb61,
                                           0x350c9b64, 0x31cd86d3, 0x3c8ea00a, 0x384fbdbd};
    uint32_t crc = 0;
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t c = i >= 22 && i < 26 ? 0 : page[i]; // the checksum field counts as zero
        crc = crc << 4 ^ by_nibble[(crc >> 28 ^ c >> 4) & 15];
        crc = crc << 4 ^ by_nibble[(crc >> 28 ^ (c & 15u)) & 15];
    }
    return crc;
}

typedef struct Ogg {
    uint32_t serial, sequence;
    bool is_opus, has_ended, is_open; // is_open: the last packet goes on in the next page
    uint32_t rate, channel_count;
    uint64_t skipped, position;
    uint32_t packet_count; // begun so far
} Ogg;

static Status read_identity(const AssetJob *job, const uint8_t *packet, size_t bytes, Ogg *ogg)
{
    if (bytes >= VORBIS_BYTES && memcmp(packet, "\1vorbis", 7) == 0) {
        const uint8_t sizes = packet[28];
        const bool is_sane = u32(packet + 7) == 0 && (sizes & 15) >= 6 && (sizes >> 4) <= 13 &&
                             (sizes & 15) <= sizes >> 4 && (packet[29] & 1) == 1;
        ogg->channel_count = packet[11];
        ogg->rate = u32(packet + 12);
        return is_sane ? STATUS_OK
                       : asset_refuse(job, RULE_CONTENT, "its Vorbis header is damaged");
    }
    if (bytes >= OPUS_BYTES && memcmp(packet, "OpusHead", 8) == 0) {
        ogg->is_opus = true;
        ogg->channel_count = packet[9];
        ogg->skipped = u16(packet + 10);
        ogg->rate = OPUS_RATE;
        return packet[8] < 16 ? STATUS_OK
                              : asset_refuse(job, RULE_CONTENT,
                                             "its Opus header is of a version "
                                             "that is not known");
    }
    return asset_refuse(job, RULE_CONTENT, "holds neither Vorbis nor Opus");
}

// The first packets say what the stream is; the rest is sound.
static Status read_packet(const AssetJob *job, const uint8_t *packet, size_t bytes, Ogg *ogg)
{
    ogg->packet_count += ogg->packet_count < 3;
    if (ogg->packet_count == 1) {
        return read_identity(job, packet, bytes, ogg);
    }
    if (ogg->packet_count == 2) {
        const char *magic = ogg->is_opus ? "OpusTags" : "\3vorbis";
        if (bytes < strlen(magic) || memcmp(packet, magic, strlen(magic)) != 0) {
            return asset_refuse(job, RULE_CONTENT, "has no comment header");
        }
    }
    return STATUS_OK;
}

static Status check_page(const AssetJob *job, const uint8_t *page, size_t bytes, Ogg *ogg)
{
    const uint8_t flags = page[5];
    const bool is_first = ogg->packet_count == 0;
    if (u32(page + 22) != ogg_crc(page, bytes)) {
        return asset_refuse(job, RULE_CHECKSUM, "a page of the OGG is damaged");
    }
    if (((flags & PAGE_FIRST) != 0) != is_first) {
        return asset_refuse(job, RULE_CONTENT, "holds more than one stream");
    }
    if (is_first) {
        ogg->serial = u32(page + 14);
        ogg->sequence = u32(page + 18);
    } else if (u32(page + 14) != ogg->serial || u32(page + 18) != ogg->sequence + 1) {
        return asset_refuse(job, RULE_CONTENT, "its pages are not one after the other");
    }
    ogg->sequence = u32(page + 18);
    if (((flags & PAGE_CONTINUED) != 0) != ogg->is_open) {
        return asset_refuse(job, RULE_CONTENT, "its packets do not fit its pages");
    }
    const uint64_t position = u64(page + 6);
    if (position != NO_POSITION) {
        if (position > INT64_MAX || position < ogg->position) {
            return asset_refuse(job, RULE_CONTENT, "its positions go back");
        }
        ogg->position = position;
    }
    ogg->has_ended = (flags & PAGE_LAST) != 0;
    return STATUS_OK;
}

static Status read_segments(const AssetJob *job, const uint8_t *page, size_t body, Ogg *ogg)
{
    const uint8_t count = page[26];
    size_t at = body, begin = body;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t length = page[PAGE_BYTES + i];
        at += length;
        if (length == 255 && i + 1u < count) {
            continue;
        }
        if (!ogg->is_open) {
            const Status status = read_packet(job, page + begin, at - begin, ogg);
            if (status != STATUS_OK) {
                return status;
            }
        }
        ogg->is_open = length == 255;
        begin = at;
    }
    return STATUS_OK;
}

// Reads one page at *at and moves *at behind it.
static Status read_page(const AssetJob *job, size_t *at, Ogg *ogg)
{
    const uint8_t *page = job->data + *at;
    const size_t left = job->bytes - *at;
    if (left < 5 || memcmp(page, "OggS\0", 5) != 0) {
        return *at == 0 ? asset_refuse(job, RULE_CONTENT, "is no OGG")
                        : asset_refuse(job, RULE_TRAILING,
                                       "something stands between or behind "
                                       "the pages of the OGG");
    }
    if (left < PAGE_BYTES || left < (size_t)PAGE_BYTES + page[26]) {
        return asset_refuse(job, RULE_TRUNCATED, "the OGG ends inside a page");
    }
    if (ogg->has_ended) {
        return asset_refuse(job, RULE_CONTENT, "holds more than one stream");
    }
    const size_t body = PAGE_BYTES + (size_t)page[26];
    size_t bytes = body;
    for (uint32_t i = 0; i < page[26]; i++) {
        bytes += page[PAGE_BYTES + i];
    }
    if (left < bytes) {
        return asset_refuse(job, RULE_TRUNCATED, "the OGG ends inside a page");
    }
    *at += bytes;
    const Status status = check_page(job, page, bytes, ogg);
    return status == STATUS_OK ? read_segments(job, page, body, ogg) : status;
}

Status asset_ogg(const AssetJob *job, AssetInfo *out)
{
    Ogg ogg = {0};
    AssetInfo info = {.kind = KIND_OGG};
    size_t at = 0;
    do {
        const Status status = read_page(job, &at, &ogg);
        if (status != STATUS_OK) {
            return status;
        }
    } while (at < job->bytes);
    if (ogg.packet_count < 3 || ogg.is_open) {
        return asset_refuse(job, RULE_TRUNCATED, "the OGG ends before its sound");
    }
    const uint64_t samples = ogg.position > ogg.skipped ? ogg.position - ogg.skipped : 0;
    const Status status = check_sound(job, ogg.rate, ogg.channel_count, samples, &info);
    if (status == STATUS_OK) {
        *out = info;
    }
    return status;
}

// --- WAV ----------------------------------------------------------------------------------------

#define WAV_HEAD_BYTES   12
#define WAV_PCM          1
#define WAV_FLOAT        3
#define WAV_EXTENSIBLE   0xfffe
#define WAV_FORMAT_BYTES 16

typedef struct Wav {
    uint32_t rate;
    uint16_t channel_count, frame_bytes;
    uint64_t data_bytes;
    bool has_format, has_data;
} Wav;

static Status read_format(const AssetJob *job, const uint8_t *chunk, uint32_t bytes, Wav *wav)
{
    if (bytes < WAV_FORMAT_BYTES || wav->has_format) {
        return asset_refuse(job, RULE_CONTENT, "its format is damaged");
    }
    uint16_t code = u16(chunk);
    const uint16_t bits = u16(chunk + 14);
    if (code == WAV_EXTENSIBLE && bytes >= 40) {
        code = u16(chunk + 24);
    }
    const bool is_known =
        (code == WAV_PCM && (bits == 8 || bits == 16 || bits == 24 || bits == 32)) ||
        (code == WAV_FLOAT && (bits == 32 || bits == 64));
    if (!is_known) {
        return asset_refuse(job, RULE_CONTENT,
                            "holds samples of a kind that browsers do not play; "
                            "save it as PCM of 16 bits");
    }
    wav->channel_count = u16(chunk + 2);
    wav->rate = u32(chunk + 4);
    wav->frame_bytes = u16(chunk + 12);
    if (wav->frame_bytes != wav->channel_count * (bits / 8) ||
        u32(chunk + 8) != (uint64_t)wav->rate * wav->frame_bytes || wav->frame_bytes == 0) {
        return asset_refuse(job, RULE_CONTENT, "its format contradicts itself");
    }
    wav->has_format = true;
    return STATUS_OK;
}

static Status read_chunk(const AssetJob *job, const uint8_t *chunk, uint32_t bytes, Wav *wav)
{
    if (memcmp(chunk, "fmt ", 4) == 0) {
        return read_format(job, chunk + 8, bytes, wav);
    }
    if (memcmp(chunk, "data", 4) == 0) {
        if (!wav->has_format || wav->has_data || bytes == 0 || bytes % wav->frame_bytes != 0) {
            return asset_refuse(job, RULE_CONTENT, "its samples do not fit its format");
        }
        wav->has_data = true;
        wav->data_bytes = bytes;
    }
    return STATUS_OK;
}

Status asset_wav(const AssetJob *job, AssetInfo *out)
{
    Wav wav = {0};
    AssetInfo info = {.kind = KIND_WAV};
    if (job->bytes < WAV_HEAD_BYTES || memcmp(job->data, "RIFF", 4) != 0 ||
        memcmp(job->data + 8, "WAVE", 4) != 0) {
        return asset_refuse(job, RULE_CONTENT, "is no WAV");
    }
    const uint64_t said = (uint64_t)u32(job->data + 4) + 8;
    if (said != job->bytes) {
        return asset_refuse(job, said > job->bytes ? RULE_TRUNCATED : RULE_TRAILING,
                            said > job->bytes ? "the WAV ends too early"
                                              : "something stands behind the WAV");
    }
    for (size_t at = WAV_HEAD_BYTES; at < job->bytes;) {
        const size_t left = job->bytes - at;
        if (left < 8 || u32(job->data + at + 4) > left - 8) {
            return asset_refuse(job, RULE_TRUNCATED, "the WAV ends inside a chunk");
        }
        const uint32_t bytes = u32(job->data + at + 4);
        const Status status = read_chunk(job, job->data + at, bytes, &wav);
        if (status != STATUS_OK) {
            return status;
        }
        at += 8 + (size_t)bytes;
        at +=
            (bytes & 1) != 0 && at < job->bytes; // padding, which some writers leave out at the end
    }
    if (!wav.has_data) {
        return asset_refuse(job, RULE_CONTENT, "holds no samples");
    }
    const Status status =
        check_sound(job, wav.rate, wav.channel_count, wav.data_bytes / wav.frame_bytes, &info);
    if (status == STATUS_OK) {
        *out = info;
    }
    return status;
}

// A built place and its signed manifests as bytes, for hosts on other machines.
//
//   place  u32 format 2 · facts (place_facts.h) · u32 version · u32 packing · block whole
//          block stripped · block frame · block manifest · u32 runes · each: block path · u8
//          language · u8 service · u8 context u8 replicate · block bytes · block packed · block
//          zstd
//
// A host reads them as carefully as a stranger's; what scene and runes mean is for the jail alone.
#include "core/base/sha256.h"
#include "server/build/place/place_facts.h"
#include "server/host/host_inside.h"

#define TRAVEL_FORMAT 2

// --- manifests ----------------------------------------------------------------------------------

void host_manifests_write(const HostManifests *manifests, Buffer *out)
{
    buffer_put_u32(out, manifests->version);
    buffer_put_block(out, manifests->server.data, manifests->server.bytes);
    buffer_put_block(out, manifests->client.data, manifests->client.bytes);
}

static void read_buffer(ByteReader *reader, Buffer *out)
{
    size_t count = 0;
    const uint8_t *bytes = byte_read_block(reader, &count);
    if (bytes != NULL) {
        buffer_put(out, bytes, count);
    }
}

Status host_manifests_read(const uint8_t *bytes, size_t count, HostManifests *out)
{
    HostManifests manifests = {.server = buffer_of(MANIFEST_BYTES_MAX),
                               .client = buffer_of(ENTRY_BYTES_MAX)};
    ByteReader reader = byte_reader(bytes, count);
    manifests.version = byte_read_u32(&reader);
    read_buffer(&reader, &manifests.server);
    read_buffer(&reader, &manifests.client);
    Status status = byte_reader_finish(&reader);
    status = status == STATUS_OK ? manifests.server.status : status;
    status = status == STATUS_OK ? manifests.client.status : status;
    if (status == STATUS_OK && manifests.version == 0) {
        status = STATUS_RANGE;
    }
    if (status != STATUS_OK) {
        host_manifests_free(&manifests);
        return status;
    }
    *out = manifests;
    return STATUS_OK;
}

// --- places -------------------------------------------------------------------------------------

void host_place_write(const HostPlace *place, Buffer *out)
{
    const BuildResult *built = &place->built;
    buffer_put_u32(out, TRAVEL_FORMAT);
    place_facts_write(&built->facts, out);
    buffer_put_u32(out, built->version);
    buffer_put_u32(out, built->packing);
    buffer_put_block(out, built->whole, built->whole_bytes);
    buffer_put_block(out, built->stripped, built->stripped_bytes);
    buffer_put_block(out, built->frame, built->frame_bytes);
    buffer_put_block(out, built->manifest, built->manifest_bytes);
    buffer_put_u32(out, built->rune_count);
    for (uint32_t i = 0; i < built->rune_count; i++) {
        const BuildRune *rune = &built->runes[i];
        buffer_put_block(out, rune->path, strlen(rune->path));
        buffer_put_u8(out, (uint8_t)rune->language);
        buffer_put_u8(out, (uint8_t)rune->service);
        buffer_put_u8(out, (uint8_t)rune->context);
        buffer_put_u8(out, rune->replicate);
        buffer_put_block(out, rune->bytes, rune->count);
        buffer_put_block(out, rune->packed, rune->packed_count);
        buffer_put_block(out, rune->zstd, rune->zstd_count);
    }
}

// A copy; NULL for a block without bytes.
static uint8_t *read_copy(ByteReader *reader, size_t *count)
{
    const uint8_t *bytes = byte_read_block(reader, count);
    uint8_t *copy = bytes != NULL && *count > 0 ? malloc(*count) : NULL;
    if (copy != NULL) {
        memcpy(copy, bytes, *count);
    } else if (*count > 0) {
        byte_reader_fail(reader, STATUS_LIMIT);
        *count = 0;
    }
    return copy;
}

static uint8_t read_at_most(ByteReader *reader, uint32_t max)
{
    const uint8_t value = byte_read_u8(reader);
    if (value > max) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return value;
}

static void read_rune(ByteReader *reader, BuildRune *rune)
{
    if (!buffer_read_name(reader, rune->path, sizeof rune->path)) {
        return;
    }
    rune->language = (SoulLanguage)read_at_most(reader, SOUL_LANGUAGE_COUNT - 1);
    rune->service = (SoulService)read_at_most(reader, SERVICE_COUNT - 1);
    rune->context = (RunContext)read_at_most(reader, CONTEXT_COUNT - 1);
    rune->replicate = byte_read_bool(reader);
    rune->bytes = read_copy(reader, &rune->count);
    rune->packed = read_copy(reader, &rune->packed_count);
    rune->zstd = read_copy(reader, &rune->zstd_count);
    if (reader->status == STATUS_OK && rune->bytes == NULL) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return;
    }
    sha256_of(rune->bytes, rune->count, rune->hash);
}

Status host_place_read(const uint8_t *bytes, size_t count, BuildResult *out)
{
    ByteReader reader = byte_reader(bytes, count);
    BuildResult built = {0};
    if (byte_read_u32(&reader) != TRAVEL_FORMAT) {
        byte_reader_fail(&reader, STATUS_UNSUPPORTED);
    }
    place_facts_read(&reader, &built.facts);
    built.version = byte_read_u32(&reader);
    built.packing = byte_read_u32(&reader);
    built.whole = read_copy(&reader, &built.whole_bytes);
    built.stripped = read_copy(&reader, &built.stripped_bytes);
    built.frame = read_copy(&reader, &built.frame_bytes);
    built.manifest = (char *)read_copy(&reader, &built.manifest_bytes);
    const uint32_t rune_count = byte_read_u32(&reader);
    if (rune_count > MANIFEST_ROWS_MAX || built.whole == NULL || built.stripped == NULL) {
        byte_reader_fail(&reader, STATUS_MALFORMED);
    }
    if (reader.status == STATUS_OK) {
        built.runes = calloc((size_t)rune_count + 1, sizeof *built.runes);
        if (built.runes == NULL) {
            byte_reader_fail(&reader, STATUS_LIMIT);
        }
    }
    for (uint32_t i = 0; i < rune_count && reader.status == STATUS_OK; i++) {
        read_rune(&reader, &built.runes[i]);
        built.rune_count = i + 1;
    }
    const Status status = byte_reader_finish(&reader);
    if (status != STATUS_OK) {
        build_result_free(&built);
        return status;
    }
    *out = built;
    return STATUS_OK;
}

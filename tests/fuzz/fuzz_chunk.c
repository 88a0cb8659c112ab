// Chunks and terrains from strangers. Byte 0 of the input says how it is read and into what, byte 1
// where; the rest is the data. Either it is rejected and nothing has changed, or the result can be
// written, and reading and writing that again gives the same bytes.
//
//   byte 0   bits 0..1   0, 1 a chunk of a terrain · 2 a whole terrain · 3 a chunk of a store
//            bit 2       over a base, or over nothing
//            bit 3       into a terrain with too few pages and chunks
//            bit 4       into a terrain that was edited before
#include "core/base/check.h"
#include "core/sim/voxel.h"

#include <string.h>

#define BUFFER_BYTES (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Heap heap;
static ChunkStore *base;
static ChunkStore *parsed;
static Terrain *large[2]; // over nothing, over the base
static Terrain *small[2];
static Terrain *copies[2];
static uint8_t written[BUFFER_BYTES];
static uint8_t again[BUFFER_BYTES];

static Terrain *make_terrain(const ChunkStore *store, uint32_t chunk_max, uint32_t page_max)
{
    const TerrainConfig config = {.chunk_max = chunk_max, .page_max = page_max};
    Terrain *terrain = NULL;
    const Status status = terrain_create(&heap, &config, store, &terrain);
    ASSERT(status == STATUS_OK);
    return terrain;
}

static void make_all(void)
{
    heap = heap_make(64 << 20);
    const ChunkStoreConfig config = {
        .chunk_max = 8, .page_max = 64, .kinds = voxel_kinds_default()};
    Status status = chunk_store_create(&heap, &config, &base);
    ASSERT(status == STATUS_OK);
    status = chunk_store_create(&heap, &config, &parsed);
    ASSERT(status == STATUS_OK);
    for (int32_t i = 0; i < 40; i++) {
        // Steps of twenty kinds over eight chunks.
        const VoxelCoord min = {i - 32, -20, i % 7 - 32};
        const VoxelCoord max = {i - 20, i / 3, i % 7 + 20};
        status = chunk_store_fill(base, min, max, (VoxelKind)(i % 20));
        ASSERT(status == STATUS_OK);
    }
    for (uint32_t i = 0; i < 2; i++) {
        large[i] = make_terrain(i == 0 ? NULL : base, 64, 128);
        copies[i] = make_terrain(i == 0 ? NULL : base, 64, 128);
        small[i] = make_terrain(i == 0 ? NULL : base, 2, 5);
    }
}

static uint64_t hash_of(const Terrain *terrain)
{
    Hash64 hash = HASH64_INIT;
    terrain_hash(terrain, &hash);
    return hash.state;
}

static void reset(Terrain *terrain)
{
    const uint8_t nothing[9] = {1};
    ByteReader reader = byte_reader(nothing, sizeof nothing);
    const Status status = terrain_read(terrain, &reader);
    ASSERT(status == STATUS_OK);
}

// Writes the terrain, reads it into another, and writes that.
static void check_terrain(const Terrain *terrain, Terrain *copy)
{
    ByteWriter first = byte_writer(written, sizeof written);
    terrain_write(terrain, &first);
    ASSERT(first.status == STATUS_OK);
    ByteReader reader = byte_reader(written, first.at);
    Status status = terrain_read(copy, &reader);
    ASSERT(status == STATUS_OK);
    status = byte_reader_finish(&reader);
    ASSERT(status == STATUS_OK);
    ASSERT(hash_of(copy) == hash_of(terrain));
    ByteWriter second = byte_writer(again, sizeof again);
    terrain_write(copy, &second);
    ASSERT(second.at == first.at);
    ASSERT(memcmp(written, again, first.at) == 0);
}

typedef void WriteChunk(const Terrain *terrain, ChunkCoord at, ByteWriter *writer);

static size_t write_chunk(WriteChunk *write, const Terrain *terrain, ChunkCoord at, uint8_t *into)
{
    ByteWriter writer = byte_writer(into, CHUNK_BYTES_MAX);
    write(terrain, at, &writer);
    ASSERT(writer.status == STATUS_OK);
    return writer.at;
}

static void check_chunk(const Terrain *terrain, Terrain *copy, ChunkCoord at, WriteChunk *write)
{
    const size_t size = write_chunk(write, terrain, at, written);
    ByteReader reader = byte_reader(written, size);
    Status status = terrain_read_chunk(copy, at, &reader);
    ASSERT(status == STATUS_OK);
    status = byte_reader_finish(&reader);
    ASSERT(status == STATUS_OK);
    ASSERT(terrain_chunk_version(copy, at) == terrain_chunk_version(terrain, at));
    ASSERT(write_chunk(write, copy, at, again) == size);
    ASSERT(memcmp(written, again, size) == 0);
}

static void read_chunk(Terrain *terrain, Terrain *copy, ChunkCoord at, ByteReader *reader)
{
    const size_t from = reader->at;
    const uint64_t hash = hash_of(terrain);
    const TerrainUse use = terrain_use(terrain);
    if (terrain_read_chunk(terrain, at, reader) != STATUS_OK) {
        ASSERT(hash_of(terrain) == hash);
        ASSERT(terrain_use(terrain).page_count == use.page_count);
        return;
    }
    check_chunk(terrain, copy, at, terrain_write_difference);
    check_chunk(terrain, copy, at, terrain_write_chunk);
    if (reader->data[from] == 1) {
        // There is one whole form of a content, so these must be the bytes that were read.
        ASSERT(write_chunk(terrain_write_chunk, terrain, at, written) == reader->at - from);
        ASSERT(memcmp(written, &reader->data[from], reader->at - from) == 0);
    }
    check_terrain(terrain, copy);
}

static void read_terrain(Terrain *terrain, Terrain *copy, ByteReader *reader)
{
    const uint64_t hash = hash_of(terrain);
    const TerrainUse use = terrain_use(terrain);
    const uint32_t edit_count = terrain_edit_count(terrain);
    if (terrain_read(terrain, reader) != STATUS_OK) {
        ASSERT(hash_of(terrain) == hash);
        ASSERT(terrain_use(terrain).page_count == use.page_count);
        ASSERT(terrain_edit_count(terrain) == edit_count);
        return;
    }
    check_terrain(terrain, copy);
}

static void parse_chunk(ChunkCoord at, ByteReader *reader)
{
    const size_t from = reader->at;
    if (chunk_store_parse(parsed, at, reader) != STATUS_OK) {
        return;
    }
    Terrain *terrain = make_terrain(parsed, 0, 0);
    ASSERT(write_chunk(terrain_write_chunk, terrain, at, written) == reader->at - from);
    ASSERT(memcmp(&written[5], &reader->data[from + 5], reader->at - from - 5) == 0);
    terrain_destroy(&heap, terrain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (base == NULL) {
        make_all();
    }
    if (size < 2) {
        return 0;
    }
    const uint32_t over = data[0] >> 2 & 1;
    Terrain *terrain = (data[0] & 8) != 0 ? small[over] : large[over];
    const ChunkCoord at = {data[1] % 3 - 1, data[1] / 3 % 3 - 1, data[1] / 9 % 3 - 1};
    reset(terrain);
    reset(copies[over]);
    if ((data[0] & 16) != 0) {
        const VoxelCoord voxel = {at.x * 32 + 9, at.y * 32 + 9, at.z * 32 + 9};
        const Status status = terrain_set(terrain, voxel, 700, NULL);
        ASSERT(status == STATUS_OK || (data[0] & 8) != 0);
    }
    ByteReader reader = byte_reader(data + 2, size - 2);
    if ((data[0] & 3) == 3) {
        parse_chunk(at, &reader);
    } else if ((data[0] & 3) == 2) {
        read_terrain(terrain, copies[over], &reader);
    } else {
        read_chunk(terrain, copies[over], at, &reader);
    }
    return 0;
}

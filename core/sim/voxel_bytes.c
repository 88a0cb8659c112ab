// Chunks as bytes: for saves, for the wire, for the files of a place. Little-endian.
//
//   chunk, whole                                  chunk, difference over the base
//   0   u8      1                                 0   u8      2
//   1   u32     version                           1   u32     version
//   5   u16     n, kinds in the chunk, 1..1024    5   varint  runs, 0..32768
//   7   u16[n]  the kinds, strictly ascending         then per run:
//       u32[1024][planes(n)]                          varint  voxels skipped since the last run
//               per column (z * 32 + x) the           varint  voxels in this run, at least 1
//               words of its planes, lowest first;    varint  their kind
//               a bit y of plane p is bit p of
//               the voxel's place among the kinds
//
//   planes(n) is 0 for n = 1, else the least p with 2^p >= n. Every kind listed must occur. Runs
//   are in the order of voxel numbers, (z * 32 + x) * 32 + y, and go on from one column into the
//   next. There is exactly one whole form of a content; the writer also has exactly one difference
//   (runs hold only voxels that differ and are as long as possible). The reader takes other runs.
//
//   terrain
//   0   u8      1
//   1   u32     edit count
//   5   u32     chunks, then for each, by strictly ascending key:
//         u32   key: x + 512 in bits 0..9, y + 512 in bits 10..19, z + 512 in bits 20..29
//               the chunk, written as a difference; its version is not 0
//
// Reading goes over the bytes twice. The first pass decodes column by column and only counts: which
// kinds, how many of each, hence which pages. If everything is well formed and fits, the second
// pass decodes again and builds; it cannot fail. Either pass takes time in the order of the 32,768
// voxels, whatever the bytes say.
#include "core/sim/voxel_inside.h"

#include <string.h>

#define FORMAT_WHOLE      1
#define FORMAT_DIFFERENCE 2
#define FORMAT_TERRAIN    1

_Static_assert(CHUNK_PLANES_MAX % 2 == 0, "hash_chunk takes planes in pairs");

// Voxels of a column that share a kind. Masks are disjoint and not empty, so 32 suffice.
typedef struct ColumnParts {
    uint32_t count;
    uint32_t masks[CHUNK_EDGE];
    VoxelKind kinds[CHUNK_EDGE];
} ColumnParts;

// --- writing ------------------------------------------------------------------------------------

static size_t whole_bytes(const Chunk *chunk)
{
    return 7 + 2 * (size_t)chunk->kind_count + sizeof(ChunkPage) * chunk->plane_count;
}

// The words of one column in the numbering of ascending kinds.
static void ranked_column(const Chunk *chunk, uint32_t column, const uint16_t rank[VOXEL_KINDS_MAX],
                          uint32_t words[CHUNK_PLANES_MAX])
{
    memset(words, 0, CHUNK_PLANES_MAX * sizeof words[0]);
    ChunkPart part;
    for (uint32_t left = UINT32_MAX; left != 0; left &= ~part.mask) {
        part = chunk_part(chunk, column, left);
        for (uint32_t plane = 0; plane < chunk->plane_count; plane++) {
            words[plane] |= (rank[part.index] >> plane & 1) != 0 ? part.mask : 0;
        }
    }
}

static void write_whole(const Chunk *chunk, uint32_t version, ByteWriter *writer)
{
    uint16_t rank[VOXEL_KINDS_MAX];
    VoxelKind sorted[VOXEL_KINDS_MAX];
    uint32_t words[CHUNK_PLANES_MAX];
    chunk_rank(chunk, rank, sorted);
    byte_write_u8(writer, FORMAT_WHOLE);
    byte_write_u32(writer, version);
    byte_write_u16(writer, chunk->kind_count);
    for (uint32_t i = 0; i < chunk->kind_count; i++) {
        byte_write_u16(writer, sorted[i]);
    }
    if (chunk->plane_count == 0) {
        return;
    }
    for (uint32_t column = 0; column < CHUNK_COLUMNS; column++) {
        ranked_column(chunk, column, rank, words);
        for (uint32_t plane = 0; plane < chunk->plane_count; plane++) {
            byte_write_u32(writer, words[plane]);
        }
    }
}

// Collects voxels that differ, in ascending order, into runs.
typedef struct RunWriter {
    ByteWriter *writer;
    uint32_t run_count;
    uint32_t written_end; // end of the last run written
    uint32_t start, end;  // the run being collected; empty if equal
    VoxelKind kind;
} RunWriter;

static void run_flush(RunWriter *runs)
{
    if (runs->start == runs->end) {
        return;
    }
    byte_write_varint(runs->writer, runs->start - runs->written_end);
    byte_write_varint(runs->writer, runs->end - runs->start);
    byte_write_varint(runs->writer, runs->kind);
    runs->written_end = runs->end;
    runs->start = runs->end;
    runs->run_count += 1;
}

static void run_add(RunWriter *runs, uint32_t start, uint32_t count, VoxelKind kind)
{
    if (start != runs->end || kind != runs->kind) {
        run_flush(runs);
        runs->start = start;
        runs->kind = kind;
    }
    runs->end = start + count;
}

// The voxels of one column that differ from the base, grouped by their kind.
static void differing_parts(const Chunk *chunk, const Chunk *base,
                            const uint16_t base_index[VOXEL_KINDS_MAX], uint32_t column,
                            ColumnParts *parts)
{
    parts->count = 0;
    ChunkPart part;
    for (uint32_t left = UINT32_MAX; left != 0; left &= ~part.mask) {
        part = chunk_part(chunk, column, left);
        const VoxelKind kind = chunk_kinds(chunk)[part.index];
        uint32_t differs = part.mask;
        if (base_index[kind] != VOXEL_KINDS_MAX) {
            differs &= ~chunk_match(base, column, base_index[kind], part.mask);
        }
        if (differs != 0) {
            parts->masks[parts->count] = differs;
            parts->kinds[parts->count] = kind;
            parts->count += 1;
        }
    }
}

static void runs_of_column(RunWriter *runs, uint32_t column, ColumnParts *parts)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < parts->count; i++) {
        left |= parts->masks[i];
    }
    while (left != 0) {
        const uint32_t first = (uint32_t)__builtin_ctz(left);
        uint32_t i = 0;
        while ((parts->masks[i] >> first & 1) == 0) {
            i += 1;
        }
        const uint32_t above = ~(parts->masks[i] >> first); // its lowest bit ends the run
        const uint32_t count = above == 0 ? CHUNK_EDGE : (uint32_t)__builtin_ctz(above);
        run_add(runs, column * CHUNK_EDGE + first, count, parts->kinds[i]);
        left &= ~(UINT32_MAX >> (32 - count) << first);
    }
}

// Writes the runs without their number, which is returned.
static uint32_t write_runs(const Chunk *chunk, const Chunk *base, ByteWriter *writer)
{
    uint16_t base_index[VOXEL_KINDS_MAX];
    for (uint32_t kind = 0; kind < VOXEL_KINDS_MAX; kind++) {
        base_index[kind] = VOXEL_KINDS_MAX;
    }
    for (uint32_t index = 0; index < 1u << base->plane_count; index++) {
        if (chunk_counts(base)[index] != 0) {
            base_index[chunk_kinds(base)[index]] = (uint16_t)index;
        }
    }
    RunWriter runs = {.writer = writer};
    ColumnParts parts;
    for (uint32_t column = 0; column < CHUNK_COLUMNS; column++) {
        differing_parts(chunk, base, base_index, column, &parts);
        runs_of_column(&runs, column, &parts);
    }
    run_flush(&runs);
    return runs.run_count;
}

static void write_difference(const Chunk *chunk, const Chunk *base, uint32_t version,
                             ByteWriter *writer)
{
    ByteWriter counter = byte_counter();
    const uint32_t run_count = chunk == base ? 0 : write_runs(chunk, base, &counter);
    byte_write_varint(&counter, run_count);
    if (5 + counter.at > whole_bytes(chunk)) {
        write_whole(chunk, version, writer);
        return;
    }
    byte_write_u8(writer, FORMAT_DIFFERENCE);
    byte_write_u32(writer, version);
    byte_write_varint(writer, run_count);
    if (run_count != 0) {
        (void)write_runs(chunk, base, writer);
    }
}

void terrain_write_chunk(const Terrain *terrain, ChunkCoord at, ByteWriter *writer)
{
    write_whole(terrain_chunk(terrain, at.x, at.y, at.z), terrain_chunk_version(terrain, at),
                writer);
}

void terrain_write_difference(const Terrain *terrain, ChunkCoord at, ByteWriter *writer)
{
    write_difference(terrain_chunk(terrain, at.x, at.y, at.z), terrain_base_chunk(terrain, at),
                     terrain_chunk_version(terrain, at), writer);
}

void terrain_write(const Terrain *terrain, ByteWriter *writer)
{
    byte_write_u8(writer, FORMAT_TERRAIN);
    byte_write_u32(writer, terrain->edit_count);
    byte_write_u32(writer, terrain->own.chunk_count);
    for (uint32_t i = 0; i < terrain->own.chunk_count; i++) {
        const Chunk *chunk = chunk_table_at(&terrain->own, i);
        byte_write_u32(writer, chunk->key);
        write_difference(chunk, terrain_base_chunk(terrain, chunk_coord(chunk->key)),
                         chunk->version, writer);
    }
}

static void hash_chunk(const Chunk *chunk, Hash64 *hash)
{
    uint16_t rank[VOXEL_KINDS_MAX];
    VoxelKind sorted[VOXEL_KINDS_MAX];
    uint32_t words[CHUNK_PLANES_MAX];
    chunk_rank(chunk, rank, sorted);
    hash_u32(hash, chunk->key);
    hash_u32(hash, chunk->version);
    hash_u32(hash, chunk->kind_count);
    for (uint32_t i = 0; i < chunk->kind_count; i++) {
        hash_u32(hash, sorted[i]);
    }
    for (uint32_t column = 0; column < CHUNK_COLUMNS && chunk->plane_count != 0; column++) {
        ranked_column(chunk, column, rank, words);
        for (uint32_t plane = 0; plane < chunk->plane_count; plane += 2) {
            // Above the planes in use the words are zero, and there is an even number of them.
            hash_u64(hash, (uint64_t)words[plane + 1] << 32 | words[plane]);
        }
    }
}

void terrain_hash(const Terrain *terrain, Hash64 *hash)
{
    hash_u32(hash, terrain->own.chunk_count);
    for (uint32_t i = 0; i < terrain->own.chunk_count; i++) {
        hash_chunk(chunk_table_at(&terrain->own, i), hash);
    }
}

uint32_t chunk_store_chunk_count(const ChunkStore *store)
{
    return store->table.chunk_count;
}

ChunkCoord chunk_store_coord(const ChunkStore *store, uint32_t index)
{
    return chunk_coord(chunk_table_at(&store->table, index)->key);
}

void chunk_store_hash(const ChunkStore *store, Hash64 *hash)
{
    hash_u32(hash, store->table.chunk_count);
    for (uint32_t i = 0; i < store->table.chunk_count; i++) {
        hash_chunk(chunk_table_at(&store->table, i), hash);
    }
    for (uint32_t i = 0; i < VOXEL_KINDS_MAX / 64; i++) {
        hash_u64(hash, store->kinds.solid[i]);
    }
}

// --- reading ------------------------------------------------------------------------------------

// Yields a chunk column by column, from either form.
typedef struct Decoder {
    ByteReader *reader;
    const Chunk *base;
    uint32_t format;
    uint32_t version;
    uint32_t kind_count, plane_count; // whole
    VoxelKind kinds[VOXEL_KINDS_MAX];
    uint32_t runs_left; // difference: runs not yet begun, and the current one
    uint32_t run_start, run_end;
    VoxelKind run_kind;
} Decoder;

// What the first pass found.
typedef struct Tally {
    uint16_t counts[VOXEL_KINDS_MAX]; // voxels of each kind
    uint32_t version;
    uint32_t page_count;
    bool is_base; // no voxel differs from the base
} Tally;

static VoxelKind checked_kind(ByteReader *reader, uint64_t kind)
{
    if (kind >= VOXEL_KINDS_MAX) {
        byte_reader_fail(reader, STATUS_RANGE);
        return VOXEL_AIR;
    }
    return (VoxelKind)kind;
}

static void decode_palette(Decoder *decoder)
{
    ByteReader *reader = decoder->reader;
    const uint32_t kind_count = byte_read_u16(reader);
    if (kind_count == 0 || kind_count > VOXEL_KINDS_MAX) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    if (reader->status != STATUS_OK) {
        return;
    }
    for (uint32_t i = 0; i < kind_count; i++) {
        decoder->kinds[i] = checked_kind(reader, byte_read_u16(reader));
        if (i > 0 && decoder->kinds[i] <= decoder->kinds[i - 1]) {
            byte_reader_fail(reader, STATUS_MALFORMED);
        }
    }
    decoder->kind_count = kind_count;
    decoder->plane_count = chunk_planes_for(kind_count);
}

// The next run, or one beyond the last voxel when there is none.
static void decode_run(Decoder *decoder)
{
    ByteReader *reader = decoder->reader;
    if (decoder->runs_left == 0) {
        decoder->run_start = CHUNK_VOXELS;
        decoder->run_end = CHUNK_VOXELS;
        return;
    }
    const uint32_t voxels_left = CHUNK_VOXELS - decoder->run_end;
    const uint32_t skipped = byte_read_count(reader, voxels_left);
    const uint32_t count = byte_read_count(reader, voxels_left - skipped);
    decoder->run_kind = checked_kind(reader, byte_read_varint(reader));
    if (reader->status == STATUS_OK && count == 0) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    decoder->runs_left -= 1;
    decoder->run_start = decoder->run_end + skipped;
    decoder->run_end = decoder->run_start + count;
}

static void decode_begin(Decoder *decoder, ByteReader *reader, const Chunk *base)
{
    decoder->reader = reader;
    decoder->base = base;
    decoder->kind_count = 0;
    decoder->plane_count = 0;
    decoder->runs_left = 0;
    decoder->run_start = 0;
    decoder->run_end = 0;
    decoder->run_kind = VOXEL_AIR;
    decoder->format = byte_read_u8(reader);
    decoder->version = byte_read_u32(reader);
    if (reader->status != STATUS_OK) {
        return;
    }
    if (decoder->format == FORMAT_WHOLE) {
        decode_palette(decoder);
    } else if (decoder->format == FORMAT_DIFFERENCE) {
        decoder->runs_left = byte_read_count(reader, CHUNK_VOXELS);
        decode_run(decoder);
    } else {
        byte_reader_fail(reader, STATUS_UNSUPPORTED);
    }
}

static void parts_add(ColumnParts *parts, uint32_t mask, VoxelKind kind)
{
    parts->masks[parts->count] = mask;
    parts->kinds[parts->count] = kind;
    parts->count += 1;
}

static void decode_column_whole(Decoder *decoder, ColumnParts *parts)
{
    uint32_t words[CHUNK_PLANES_MAX];
    for (uint32_t plane = 0; plane < decoder->plane_count; plane++) {
        words[plane] = byte_read_u32(decoder->reader);
    }
    for (uint32_t left = UINT32_MAX; left != 0;) {
        const uint32_t y = (uint32_t)__builtin_ctz(left);
        uint32_t index = 0;
        uint32_t mask = left;
        for (uint32_t plane = 0; plane < decoder->plane_count; plane++) {
            const uint32_t bit = words[plane] >> y & 1;
            index |= bit << plane;
            mask &= words[plane] ^ (bit - 1);
        }
        if (index >= decoder->kind_count) {
            byte_reader_fail(decoder->reader, STATUS_MALFORMED);
            return;
        }
        parts_add(parts, mask, decoder->kinds[index]);
        left &= ~mask;
    }
}

static void decode_column_difference(Decoder *decoder, uint32_t column, ColumnParts *parts)
{
    const uint32_t begin = column * CHUNK_EDGE;
    const uint32_t end = begin + CHUNK_EDGE;
    uint32_t left = UINT32_MAX;
    while (decoder->run_start < end && decoder->reader->status == STATUS_OK) {
        const uint32_t first = decoder->run_start - begin;
        const uint32_t stop = decoder->run_end < end ? decoder->run_end : end;
        const uint32_t mask = UINT32_MAX >> (32 - (stop - decoder->run_start)) << first;
        parts_add(parts, mask, decoder->run_kind);
        left &= ~mask;
        decoder->run_start = stop;
        if (decoder->run_start == decoder->run_end) {
            decode_run(decoder);
        }
    }
    ChunkPart part;
    for (; left != 0; left &= ~part.mask) {
        part = chunk_part(decoder->base, column, left);
        parts_add(parts, part.mask, chunk_kinds(decoder->base)[part.index]);
    }
}

// Every voxel of the column is in one part, unless the reader has failed.
static void decode_column(Decoder *decoder, uint32_t column, ColumnParts *parts)
{
    parts->count = 0;
    if (decoder->format == FORMAT_WHOLE) {
        decode_column_whole(decoder, parts);
    } else {
        decode_column_difference(decoder, column, parts);
    }
}

static bool column_is_base(const ColumnParts *parts, const Chunk *base, uint32_t column)
{
    ChunkPart part;
    for (uint32_t left = UINT32_MAX; left != 0; left &= ~part.mask) {
        part = chunk_part(base, column, left);
        const VoxelKind kind = chunk_kinds(base)[part.index];
        for (uint32_t i = 0; i < parts->count; i++) {
            if (parts->kinds[i] != kind && (parts->masks[i] & part.mask) != 0) {
                return false;
            }
        }
    }
    return true;
}

// The first pass. On failure the tally must not be used.
static Status tally_read(Tally *tally, ByteReader *reader, const Chunk *base,
                         const VoxelKinds *kinds)
{
    Decoder decoder;
    ColumnParts parts;
    decode_begin(&decoder, reader, base);
    memset(tally->counts, 0, sizeof tally->counts);
    tally->is_base = true;
    for (uint32_t column = 0; column < CHUNK_COLUMNS && reader->status == STATUS_OK; column++) {
        decode_column(&decoder, column, &parts);
        for (uint32_t i = 0; i < parts.count; i++) {
            uint16_t *count = &tally->counts[parts.kinds[i]];
            *count = (uint16_t)(*count + __builtin_popcount(parts.masks[i]));
        }
        // Only a chunk said to be unedited is compared.
        tally->is_base =
            tally->is_base && decoder.version == 0 && column_is_base(&parts, base, column);
    }
    if (reader->status != STATUS_OK) {
        return reader->status;
    }
    uint32_t kind_count = 0;
    uint32_t solid_count = 0;
    uint32_t highest = 0;
    for (uint32_t kind = 0; kind < VOXEL_KINDS_MAX; kind++) {
        if (tally->counts[kind] != 0) {
            kind_count += 1;
            solid_count += voxel_kind_is_solid(kinds, (VoxelKind)kind) ? tally->counts[kind] : 0;
            highest = kind;
        }
    }
    ASSERT(decoder.runs_left == 0);
    if (highest >= kinds->count) {
        byte_reader_fail(reader, STATUS_RANGE);
        return STATUS_RANGE;
    }
    if (decoder.format == FORMAT_WHOLE && kind_count != decoder.kind_count) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return STATUS_MALFORMED;
    }
    tally->version = decoder.version;
    tally->page_count = chunk_pages_for(kind_count, solid_count);
    return STATUS_OK;
}

// The second pass, over bytes that the first has found good. The base must not be the chunk.
static void chunk_read(Chunk *chunk, ChunkPool *pool, ByteReader *reader, const Chunk *base,
                       const VoxelKinds *kinds, const Tally *tally)
{
    uint16_t index_of[VOXEL_KINDS_MAX];
    uint32_t index = 0;
    for (uint32_t kind = 0; kind < VOXEL_KINDS_MAX; kind++) {
        index_of[kind] = (uint16_t)index;
        index += tally->counts[kind] != 0;
    }
    Decoder decoder;
    ColumnParts parts;
    chunk_build_begin(chunk, pool, kinds, tally->counts);
    decode_begin(&decoder, reader, base);
    for (uint32_t column = 0; column < CHUNK_COLUMNS; column++) {
        decode_column(&decoder, column, &parts);
        for (uint32_t i = 0; i < parts.count; i++) {
            chunk_build_part(chunk, column, index_of[parts.kinds[i]], parts.masks[i]);
            if (voxel_kind_is_solid(kinds, parts.kinds[i])) {
                chunk_build_solid(chunk, column, parts.masks[i]);
            }
        }
    }
    ASSERT(reader->status == STATUS_OK);
    CHECK_SLOW(chunk_is_sound(chunk, kinds));
}

Status chunk_store_parse(ChunkStore *store, ChunkCoord at, ByteReader *reader)
{
    if (!chunk_coord_is_inside(at)) {
        return STATUS_RANGE;
    }
    ByteReader again = *reader;
    if (byte_reader_left(reader) > 0 && reader->data[reader->at] == FORMAT_DIFFERENCE) {
        byte_reader_fail(reader, STATUS_UNSUPPORTED);
    }
    Tally tally;
    const Status status = tally_read(&tally, reader, &chunk_air, &store->kinds);
    if (status != STATUS_OK) {
        return status;
    }
    Chunk *chunk = chunk_table_find(&store->table, chunk_key(at));
    const uint32_t pages_held = chunk != NULL ? chunk_page_count(chunk) : 0;
    if (tally.page_count > chunk_pool_left(&store->table.pool) + pages_held ||
        (chunk == NULL && store->table.chunk_count == store->table.chunk_max)) {
        return STATUS_LIMIT;
    }
    if (chunk == NULL) {
        chunk = chunk_table_insert(&store->table, chunk_key(at));
        chunk_store_added(store, chunk);
    }
    chunk_read(chunk, &store->table.pool, &again, &chunk_air, &store->kinds, &tally);
    return STATUS_OK;
}

static Status read_limit(Terrain *terrain)
{
    terrain->limit_count += 1;
    return STATUS_LIMIT;
}

Status terrain_read_chunk(Terrain *terrain, ChunkCoord at, ByteReader *reader)
{
    if (!chunk_coord_is_inside(at)) {
        return STATUS_RANGE;
    }
    ByteReader again = *reader;
    const Chunk *base = terrain_base_chunk(terrain, at);
    Tally tally;
    const Status status = tally_read(&tally, reader, base, &terrain->kinds);
    if (status != STATUS_OK) {
        return status;
    }
    Chunk *chunk = chunk_table_find(&terrain->own, chunk_key(at));
    if (tally.version == 0) {
        if (!tally.is_base) {
            return STATUS_MISMATCH;
        }
        if (chunk != NULL) {
            terrain_own_remove(terrain, chunk);
        }
        terrain->edit_count += 1;
        return STATUS_OK;
    }
    const uint32_t pages_held = chunk != NULL ? chunk_page_count(chunk) : 0;
    if (tally.page_count > chunk_pool_left(&terrain->own.pool) + pages_held ||
        (chunk == NULL && terrain->own.chunk_count == terrain->own.chunk_max)) {
        return read_limit(terrain);
    }
    if (chunk == NULL) {
        chunk = terrain_own_insert(terrain, chunk_key(at));
    }
    chunk_read(chunk, &terrain->own.pool, &again, base, &terrain->kinds, &tally);
    chunk->version = tally.version;
    terrain->edit_count += 1;
    return STATUS_OK;
}

// Everything before the chunks; gives their number.
static uint32_t read_header(ByteReader *reader, uint32_t *edit_count)
{
    const uint8_t format = byte_read_u8(reader);
    *edit_count = byte_read_u32(reader);
    const uint32_t chunk_count = byte_read_u32(reader);
    if (reader->status == STATUS_OK && format != FORMAT_TERRAIN) {
        byte_reader_fail(reader, STATUS_UNSUPPORTED);
    }
    return reader->status == STATUS_OK ? chunk_count : 0;
}

// The first pass over a whole terrain: well formed, ascending, and all of it fits.
static Status check_terrain(Terrain *terrain, ByteReader *reader)
{
    uint32_t edit_count;
    const uint32_t chunk_count = read_header(reader, &edit_count);
    if (chunk_count > terrain->own.chunk_max) {
        return read_limit(terrain);
    }
    uint64_t page_count = 0;
    uint32_t key_before = 0;
    for (uint32_t i = 0; i < chunk_count && reader->status == STATUS_OK; i++) {
        const uint32_t key = byte_read_u32(reader);
        if (reader->status == STATUS_OK && (key >> 30 != 0 || (i > 0 && key <= key_before))) {
            byte_reader_fail(reader, STATUS_MALFORMED);
        }
        if (reader->status != STATUS_OK) {
            break;
        }
        Tally tally;
        const Chunk *base = terrain_base_chunk(terrain, chunk_coord(key));
        if (tally_read(&tally, reader, base, &terrain->kinds) == STATUS_OK && tally.version == 0) {
            byte_reader_fail(reader, STATUS_MALFORMED);
        }
        page_count += reader->status == STATUS_OK ? tally.page_count : 0;
        key_before = key;
    }
    if (reader->status != STATUS_OK) {
        return reader->status;
    }
    return page_count > terrain->own.pool.page_max ? read_limit(terrain) : STATUS_OK;
}

Status terrain_read(Terrain *terrain, ByteReader *reader)
{
    ByteReader again = *reader;
    const Status status = check_terrain(terrain, reader);
    if (status != STATUS_OK) {
        return status;
    }
    terrain_own_clear(terrain);
    const uint32_t chunk_count = read_header(&again, &terrain->edit_count);
    for (uint32_t i = 0; i < chunk_count; i++) {
        const uint32_t key = byte_read_u32(&again);
        const Chunk *base = terrain_base_chunk(terrain, chunk_coord(key));
        ByteReader counting = again;
        Tally tally;
        const Status counted = tally_read(&tally, &counting, base, &terrain->kinds);
        ASSERT(counted == STATUS_OK);
        Chunk *chunk = terrain_own_insert(terrain, key);
        chunk_read(chunk, &terrain->own.pool, &again, base, &terrain->kinds, &tally);
        chunk->version = tally.version;
    }
    ASSERT(again.at == reader->at);
    return STATUS_OK;
}

// The slow terrain; see test_voxel_reference.h.
#include "tests/unit/test_voxel_reference.h"

#include "core/base/check.h"
#include "tests/support/test.h"

#include <string.h>

void reference_clear(Reference *reference)
{
    memset(reference, 0, sizeof *reference);
    reference->kinds = voxel_kinds_default();
}

bool reference_contains(VoxelCoord at)
{
    return at.x >= REFERENCE_MIN.x && at.x < REFERENCE_MIN.x + REFERENCE_X &&
           at.y >= REFERENCE_MIN.y && at.y < REFERENCE_MIN.y + REFERENCE_Y &&
           at.z >= REFERENCE_MIN.z && at.z < REFERENCE_MIN.z + REFERENCE_Z;
}

VoxelKind reference_voxel(const Reference *reference, VoxelCoord at)
{
    return reference_contains(at)
               ? reference->voxels[at.z - REFERENCE_MIN.z][at.y - REFERENCE_MIN.y]
                                  [at.x - REFERENCE_MIN.x]
               : VOXEL_AIR;
}

bool reference_is_solid(const Reference *reference, VoxelCoord at)
{
    const VoxelKind kind = reference_voxel(reference, at);
    return kind != VOXEL_AIR && voxel_kind_is_solid(&reference->kinds, kind);
}

uint32_t reference_chunk(ChunkCoord at)
{
    return (uint32_t)(((at.z + 2) * REFERENCE_CHUNKS_Y + at.y + 1) * REFERENCE_CHUNKS_X + at.x + 2);
}

ChunkCoord reference_chunk_coord(uint32_t index)
{
    const int32_t i = (int32_t)index;
    return (ChunkCoord){i % REFERENCE_CHUNKS_X - 2, i / REFERENCE_CHUNKS_X % REFERENCE_CHUNKS_Y - 1,
                        i / REFERENCE_CHUNKS_X / REFERENCE_CHUNKS_Y - 2};
}

static bool sphere_contains(const Edit *edit, VoxelCoord at)
{
    const double x = at.x + 0.5 - (double)edit->centre.x;
    const double y = at.y + 0.5 - (double)edit->centre.y;
    const double z = at.z + 0.5 - (double)edit->centre.z;
    return x * x + y * y + z * z <= (double)edit->radius * (double)edit->radius;
}

uint32_t reference_edit(Reference *reference, const Edit *edit)
{
    bool touched[REFERENCE_CHUNKS] = {false};
    uint32_t changed = 0;
    for (int32_t z = edit->min.z; z <= edit->max.z; z++) {
        for (int32_t y = edit->min.y; y <= edit->max.y; y++) {
            for (int32_t x = edit->min.x; x <= edit->max.x; x++) {
                const VoxelCoord at = {x, y, z};
                VoxelKind *voxel =
                    &reference
                         ->voxels[z - REFERENCE_MIN.z][y - REFERENCE_MIN.y][x - REFERENCE_MIN.x];
                if (*voxel != edit->kind &&
                    (edit->edit != EDIT_SPHERE || sphere_contains(edit, at))) {
                    *voxel = edit->kind;
                    touched[reference_chunk(voxel_chunk(at))] = true;
                    changed += 1;
                }
            }
        }
    }
    for (uint32_t i = 0; i < REFERENCE_CHUNKS; i++) {
        reference->versions[i] += touched[i];
    }
    reference->edit_count += changed != 0;
    return changed;
}

uint32_t reference_pages(const Reference *reference, uint32_t chunk)
{
    const ChunkCoord at = reference_chunk_coord(chunk);
    bool present[VOXEL_KINDS_MAX] = {false};
    uint32_t solid_count = 0;
    for (int32_t i = 0; i < CHUNK_VOXELS; i++) {
        const VoxelCoord voxel = {at.x * 32 + i % 32, at.y * 32 + i / 32 % 32,
                                  at.z * 32 + i / 1024};
        present[reference_voxel(reference, voxel)] = true;
        solid_count += reference_is_solid(reference, voxel);
    }
    uint32_t kind_count = 0;
    for (uint32_t kind = 0; kind < VOXEL_KINDS_MAX; kind++) {
        kind_count += present[kind];
    }
    uint32_t planes = 0;
    while (1u << planes < kind_count) {
        planes += 1;
    }
    return planes + (kind_count > 16) + (solid_count != 0 && solid_count != CHUNK_VOXELS);
}

static int32_t between(Rng *rng, int32_t low, int32_t high)
{
    return low + (int32_t)rng_below(rng, (uint32_t)(high - low + 1));
}

VoxelCoord voxel_random(Rng *rng, VoxelCoord low, VoxelCoord high)
{
    // One after the other: the order within one initialiser is the compiler's choice.
    VoxelCoord at;
    at.x = between(rng, low.x, high.x);
    at.y = between(rng, low.y, high.y);
    at.z = between(rng, low.z, high.z);
    return at;
}

static void edit_random_box(Rng *rng, Edit *edit)
{
    const VoxelCoord low = REFERENCE_MIN;
    const VoxelCoord high = {low.x + REFERENCE_X - 1, low.y + REFERENCE_Y - 1,
                             low.z + REFERENCE_Z - 1};
    const int32_t edge = rng_below(rng, 8) == 0 ? VOXEL_EDIT_BOX_EDGE_MAX : 12;
    edit->edit = EDIT_BOX;
    edit->min = voxel_random(rng, low, high);
    const VoxelCoord size =
        voxel_random(rng, (VoxelCoord){0, 0, 0}, (VoxelCoord){edge - 1, edge - 1, edge - 1});
    edit->max.x = edit->min.x + size.x > high.x ? high.x : edit->min.x + size.x;
    edit->max.y = edit->min.y + size.y > high.y ? high.y : edit->min.y + size.y;
    edit->max.z = edit->min.z + size.z > high.z ? high.z : edit->min.z + size.z;
}

static void edit_random_sphere(Rng *rng, Edit *edit)
{
    const int32_t radius = between(rng, 0, rng_below(rng, 4) == 0 ? 24 * 8 : 6 * 8);
    const VoxelCoord centre =
        voxel_random(rng, (VoxelCoord){-240, -48, -240}, (VoxelCoord){240, 304, 240});
    edit->edit = EDIT_SPHERE;
    edit->radius = (float)radius / 8;
    edit->centre = vec3((float)centre.x / 8, (float)centre.y / 8, (float)centre.z / 8);
    const VoxelCoord at = voxel_at(edit->centre);
    const int32_t reach = radius / 8 + 1;
    edit->min = (VoxelCoord){at.x - reach, at.y - reach, at.z - reach};
    edit->max = (VoxelCoord){at.x + reach, at.y + reach, at.z + reach};
}

Edit edit_random(Rng *rng, uint32_t kind_count)
{
    const uint32_t pick = rng_below(rng, 10);
    const VoxelKind kind = (VoxelKind)rng_below(rng, kind_count);
    Edit edit = {.kind = rng_below(rng, 4) == 0 ? VOXEL_AIR : kind};
    if (pick < 7) {
        // Within a small part, so that voxels are overwritten often.
        edit.edit = EDIT_SET;
        edit.min = voxel_random(rng, (VoxelCoord){-20, -20, -20}, (VoxelCoord){20, 20, 20});
        edit.max = edit.min;
    } else if (pick < 9) {
        edit_random_box(rng, &edit);
    } else {
        edit_random_sphere(rng, &edit);
    }
    ASSERT(reference_contains(edit.min));
    ASSERT(reference_contains(edit.max));
    return edit;
}

Status edit_terrain(Terrain *terrain, const Edit *edit, uint32_t *changed)
{
    if (edit->edit == EDIT_SET) {
        return terrain_set(terrain, edit->min, edit->kind, changed);
    }
    if (edit->edit == EDIT_BOX) {
        return terrain_fill_box(terrain, edit->min, edit->max, edit->kind, changed);
    }
    return terrain_fill_sphere(terrain, edit->centre, edit->radius, edit->kind, changed);
}

static void check_column(const Reference *reference, const Terrain *terrain, int32_t x, int32_t z)
{
    for (int32_t first = REFERENCE_MIN.y; first < REFERENCE_MIN.y + REFERENCE_Y; first += 48) {
        uint64_t want = 0;
        for (int32_t i = 0; i < 48; i++) {
            const VoxelCoord at = {x, first + i, z};
            const VoxelKind kind = reference_voxel(reference, at);
            want |= (uint64_t)reference_is_solid(reference, at) << i;
            if (terrain_voxel(terrain, at) != kind) {
                test_fail(__FILE__, __LINE__, "voxel (%d, %d, %d) is %d, want %d", x, first + i, z,
                          terrain_voxel(terrain, at), kind);
            }
        }
        if (terrain_column(terrain, x, z, first, 48) != want) {
            test_fail(__FILE__, __LINE__, "column (%d, %d) from %d is %llx, want %llx", x, z, first,
                      (unsigned long long)terrain_column(terrain, x, z, first, 48),
                      (unsigned long long)want);
        }
    }
}

static void check_counters(const Reference *reference, const Terrain *terrain)
{
    uint32_t owned = 0;
    uint32_t page_count = 0;
    for (uint32_t i = 0; i < REFERENCE_CHUNKS; i++) {
        const ChunkCoord at = reference_chunk_coord(i);
        CHECK_INT(terrain_chunk_version(terrain, at), reference->versions[i]);
        if (reference->versions[i] != 0) {
            const ChunkCoord listed = terrain_changed_chunk(terrain, owned);
            CHECK(listed.x == at.x && listed.y == at.y && listed.z == at.z);
            page_count += reference_pages(reference, i);
            owned += 1;
        }
    }
    CHECK_INT(terrain_changed_chunk_count(terrain), owned);
    CHECK_INT(terrain_use(terrain).page_count, page_count);
    CHECK_INT(terrain_edit_count(terrain), reference->edit_count);
}

void reference_check(const Reference *reference, const Terrain *terrain)
{
    for (int32_t z = REFERENCE_MIN.z; z < REFERENCE_MIN.z + REFERENCE_Z; z++) {
        for (int32_t x = REFERENCE_MIN.x; x < REFERENCE_MIN.x + REFERENCE_X; x++) {
            check_column(reference, terrain, x, z);
        }
    }
    check_counters(reference, terrain);
}

#define BLOCK 8 // hills are terraces of this many columns squared, but for a few voxels

static void store_block(const Reference *reference, ChunkStore *store, int32_t x, int32_t z)
{
    const int32_t y_end = REFERENCE_MIN.y + REFERENCE_Y;
    Status status = STATUS_OK;
    for (int32_t y = REFERENCE_MIN.y; y < y_end && status == STATUS_OK;) {
        const VoxelKind kind = reference_voxel(reference, (VoxelCoord){x, y, z});
        int32_t end = y + 1;
        while (end < y_end && reference_voxel(reference, (VoxelCoord){x, end, z}) == kind) {
            end += 1;
        }
        status = chunk_store_fill(store, (VoxelCoord){x, y, z},
                                  (VoxelCoord){x + BLOCK - 1, end - 1, z + BLOCK - 1}, kind);
        y = end;
    }
    for (int32_t i = 0; i < BLOCK * BLOCK * REFERENCE_Y && status == STATUS_OK; i++) {
        const int32_t y = REFERENCE_MIN.y + i / BLOCK / BLOCK;
        const VoxelCoord at = {x + i % BLOCK, y, z + i / BLOCK % BLOCK};
        const VoxelKind kind = reference_voxel(reference, at);
        if (kind != reference_voxel(reference, (VoxelCoord){x, y, z})) {
            status = chunk_store_set(store, at, kind);
        }
    }
    ASSERT(status == STATUS_OK);
}

ChunkStore *reference_store(const Reference *reference, Heap *heap)
{
    const ChunkStoreConfig config = {.chunk_max = REFERENCE_CHUNKS,
                                     .page_max = REFERENCE_CHUNKS * 12,
                                     .kinds = reference->kinds};
    ChunkStore *store = NULL;
    const Status status = chunk_store_create(heap, &config, &store);
    ASSERT(status == STATUS_OK);
    for (int32_t i = 0; i < REFERENCE_X * REFERENCE_Z / BLOCK / BLOCK; i++) {
        store_block(reference, store, REFERENCE_MIN.x + i * BLOCK % REFERENCE_X,
                    REFERENCE_MIN.z + i * BLOCK / REFERENCE_X * BLOCK);
    }
    return store;
}

void reference_hills(Reference *reference, uint32_t kind_count)
{
    for (int32_t z = 0; z < REFERENCE_Z; z++) {
        for (int32_t x = 0; x < REFERENCE_X; x++) {
            const int32_t i = x / BLOCK;
            const int32_t j = z / BLOCK;
            const int32_t height = 36 + (i * i + j * 12) % 17 - j * j / 20;
            for (int32_t y = 0; y < height; y++) {
                const uint32_t layer = (uint32_t)(y * y / 90 + i / 2);
                reference->voxels[z][y][x] = (VoxelKind)(1 + layer % (kind_count - 1));
            }
            // A pole here and a hole there.
            const int32_t scatter = (x * 37 + z * 101) % 61;
            reference->voxels[z][height + scatter % 3][x] = (VoxelKind)(scatter == 7);
            reference->voxels[z][height - 1 - scatter % 5][x] &= (VoxelKind) - (scatter != 9);
        }
    }
}

Terrain *terrain_make(Heap *heap, const ChunkStore *base, uint32_t chunk_max, uint32_t page_max)
{
    const TerrainConfig config = {.chunk_max = chunk_max, .page_max = page_max};
    Terrain *terrain = NULL;
    const Status status = terrain_create(heap, &config, base, &terrain);
    ASSERT(status == STATUS_OK);
    return terrain;
}

ChunkStore *store_make(Heap *heap, uint32_t chunk_max, uint32_t page_max)
{
    const ChunkStoreConfig config = {
        .chunk_max = chunk_max, .page_max = page_max, .kinds = voxel_kinds_default()};
    ChunkStore *store = NULL;
    const Status status = chunk_store_create(heap, &config, &store);
    ASSERT(status == STATUS_OK);
    return store;
}

uint64_t terrain_hash_of(const Terrain *terrain)
{
    Hash64 hash = HASH64_INIT;
    terrain_hash(terrain, &hash);
    return hash.state;
}

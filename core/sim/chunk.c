// The packing of one chunk: pages, planes, palette, solid mask; see chunk.h for the picture.
// An edit is planned first (which voxels change, how many kinds and solid voxels there are
// afterwards, and so how many pages) and painted second. Painting cannot fail, because the caller
// has compared the plan with the pool. It frees pages before it takes others, so that an edit that
// needs no more pages also works with a full pool.
#include "core/sim/chunk.h"

#include <string.h>

const uint32_t chunk_solid_none[CHUNK_COLUMNS] = {0};
const uint32_t chunk_solid_all[CHUNK_COLUMNS] = {[0 ... CHUNK_COLUMNS - 1] = UINT32_MAX};
const Chunk chunk_air = {
    .solid = chunk_solid_none, .counts = {CHUNK_VOXELS}, .kind_count = 1, .plane_count = 0};

// --- pages --------------------------------------------------------------------------------------

void chunk_pool_init(ChunkPool *pool, ChunkPage *pages, uint32_t page_max)
{
    *pool = (ChunkPool){.pages = pages, .page_max = page_max, .free_first = CHUNK_PAGE_NONE};
}

static ChunkPage *page_take(ChunkPool *pool)
{
    ASSERT(pool->page_count < pool->page_max);
    pool->page_count += 1;
    if (pool->free_first == CHUNK_PAGE_NONE) {
        return &pool->pages[pool->page_touched++];
    }
    ChunkPage *page = &pool->pages[pool->free_first];
    pool->free_first = page->next_free;
    return page;
}

static void page_give(ChunkPool *pool, ChunkPage **page)
{
    if (*page == NULL) {
        return;
    }
    ASSERT(pool->page_count > 0);
    (*page)->next_free = pool->free_first;
    pool->free_first = (uint32_t)(*page - pool->pages);
    pool->page_count -= 1;
    *page = NULL;
}

static ChunkPage *page_take_zeroed(ChunkPool *pool)
{
    ChunkPage *page = page_take(pool);
    memset(page, 0, sizeof *page);
    return page;
}

uint32_t chunk_planes_for(uint32_t kind_count)
{
    ASSERT(kind_count >= 1 && kind_count <= VOXEL_KINDS_MAX);
    return kind_count == 1 ? 0 : 32 - (uint32_t)__builtin_clz(kind_count - 1);
}

static bool needs_mask(uint32_t solid_count)
{
    return solid_count != 0 && solid_count != CHUNK_VOXELS;
}

uint32_t chunk_pages_for(uint32_t kind_count, uint32_t solid_count)
{
    return chunk_planes_for(kind_count) + (kind_count > CHUNK_KINDS_INLINE) +
           needs_mask(solid_count);
}

uint32_t chunk_page_count(const Chunk *chunk)
{
    return chunk->plane_count + (uint32_t)(chunk->palette != NULL) +
           (uint32_t)(chunk->mask != NULL);
}

void chunk_init(Chunk *chunk)
{
    *chunk = chunk_air;
}

void chunk_clear(Chunk *chunk, ChunkPool *pool)
{
    for (uint32_t plane = 0; plane < chunk->plane_count; plane++) {
        page_give(pool, &chunk->planes[plane]);
    }
    page_give(pool, &chunk->palette);
    page_give(pool, &chunk->mask);
    const uint32_t key = chunk->key;
    const uint32_t version = chunk->version;
    chunk_init(chunk);
    chunk->key = key;
    chunk->version = version;
}

// --- reading ------------------------------------------------------------------------------------

VoxelKind chunk_voxel(const Chunk *chunk, uint32_t column, uint32_t y)
{
    return chunk_kinds(chunk)[chunk_index(chunk, column, y)];
}

uint32_t chunk_index_of(const Chunk *chunk, VoxelKind kind)
{
    const VoxelKind *kinds = chunk_kinds(chunk);
    const uint16_t *counts = chunk_counts(chunk);
    for (uint32_t index = 0; index < 1u << chunk->plane_count; index++) {
        if (kinds[index] == kind && counts[index] != 0) {
            return index;
        }
    }
    return VOXEL_KINDS_MAX;
}

void chunk_rank(const Chunk *chunk, uint16_t rank[VOXEL_KINDS_MAX],
                VoxelKind sorted[VOXEL_KINDS_MAX])
{
    const VoxelKind *kinds = chunk_kinds(chunk);
    const uint16_t *counts = chunk_counts(chunk);
    const uint32_t index_count = 1u << chunk->plane_count;
    uint32_t sorted_count = 0;
    if (index_count <= CHUNK_KINDS_INLINE) {
        for (uint32_t index = 0; index < index_count; index++) {
            uint32_t at = sorted_count;
            if (counts[index] != 0) {
                for (; at > 0 && sorted[at - 1] > kinds[index]; at--) {
                    sorted[at] = sorted[at - 1];
                }
                sorted[at] = kinds[index];
                sorted_count += 1;
            }
        }
    } else {
        bool present[VOXEL_KINDS_MAX] = {false};
        for (uint32_t index = 0; index < index_count; index++) {
            present[kinds[index]] |= counts[index] != 0;
        }
        for (uint32_t kind = 0; kind < VOXEL_KINDS_MAX; kind++) {
            if (present[kind]) {
                sorted[sorted_count++] = (VoxelKind)kind;
            }
        }
    }
    ASSERT(sorted_count == chunk->kind_count);
    uint16_t rank_of_kind[VOXEL_KINDS_MAX];
    for (uint32_t at = 0; at < sorted_count; at++) {
        rank_of_kind[sorted[at]] = (uint16_t)at;
    }
    for (uint32_t index = 0; index < index_count; index++) {
        rank[index] = counts[index] != 0 ? rank_of_kind[kinds[index]] : 0;
    }
}

// --- planning -----------------------------------------------------------------------------------

void chunk_plan(const Chunk *chunk, const VoxelKinds *kinds, const ChunkRegion *region,
                VoxelKind kind, ChunkPlan *plan)
{
    const VoxelKind *palette = chunk_kinds(chunk);
    const uint16_t *counts = chunk_counts(chunk);
    const uint32_t index_count = 1u << chunk->plane_count;
    const uint32_t own_index = chunk_index_of(chunk, kind);
    memset(plan->removed, 0, index_count * sizeof plan->removed[0]);

    uint32_t changed = 0;
    for (uint32_t z = region->z_min; z <= region->z_max; z++) {
        for (uint32_t x = region->x_min; x <= region->x_max; x++) {
            const uint32_t column = z << 5 | x;
            ChunkPart part;
            for (uint32_t left = region->masks[column]; left != 0; left &= ~part.mask) {
                part = chunk_part(chunk, column, left);
                if (part.index != own_index) {
                    const uint32_t count = (uint32_t)__builtin_popcount(part.mask);
                    plan->removed[part.index] = (uint16_t)(plan->removed[part.index] + count);
                    changed += count;
                }
            }
        }
    }

    plan->changed = changed;
    plan->kind_count = chunk->kind_count;
    plan->kind_count += changed != 0 && own_index == VOXEL_KINDS_MAX;
    plan->solid_count = chunk->solid_count + (voxel_kind_is_solid(kinds, kind) ? changed : 0);
    for (uint32_t index = 0; index < index_count; index++) {
        if (plan->removed[index] != 0) {
            plan->kind_count -= plan->removed[index] == counts[index];
            plan->solid_count -=
                voxel_kind_is_solid(kinds, palette[index]) ? plan->removed[index] : 0;
        }
    }
    ASSERT(plan->kind_count >= 1 && plan->kind_count <= VOXEL_KINDS_MAX);
    ASSERT(plan->solid_count <= CHUNK_VOXELS);
}

// --- painting -----------------------------------------------------------------------------------

// The palette after an edit, and how to get there.
typedef struct NewPalette {
    VoxelKind kinds[VOXEL_KINDS_MAX];
    uint16_t counts[VOXEL_KINDS_MAX];
    uint16_t moved_to[VOXEL_KINDS_MAX]; // old index to new; only when is_moved
    uint32_t plane_count;
    uint32_t painted; // index of the painted kind
    bool is_moved;
} NewPalette;

// With at least as many planes as before, indices stay and the painted kind takes a free one. A
// kind whose last voxel is in the region counts as free: all its voxels are painted.
static void palette_keep(NewPalette *palette, VoxelKind kind, uint32_t changed)
{
    if (palette->painted == VOXEL_KINDS_MAX) {
        palette->painted = 0;
        while (palette->counts[palette->painted] != 0) {
            palette->painted += 1;
        }
        palette->kinds[palette->painted] = kind;
    }
    palette->counts[palette->painted] = (uint16_t)(palette->counts[palette->painted] + changed);
}

// With fewer planes, the kinds that are left are numbered anew from 0.
static void palette_shrink(NewPalette *palette, uint32_t index_count, VoxelKind kind,
                           uint32_t changed)
{
    uint32_t painted = VOXEL_KINDS_MAX;
    uint32_t used = 0;
    for (uint32_t index = 0; index < index_count; index++) {
        const bool is_painted = index == palette->painted;
        if (palette->counts[index] == 0 && !is_painted) {
            continue;
        }
        palette->moved_to[index] = (uint16_t)used;
        palette->kinds[used] = palette->kinds[index];
        palette->counts[used] = (uint16_t)(palette->counts[index] + (is_painted ? changed : 0));
        painted = is_painted ? used : painted;
        used += 1;
    }
    if (painted == VOXEL_KINDS_MAX) {
        painted = used++;
        palette->kinds[painted] = kind;
        palette->counts[painted] = (uint16_t)changed;
    }
    memset(&palette->counts[used], 0, (VOXEL_KINDS_MAX - used) * sizeof palette->counts[0]);
    palette->painted = painted;
    palette->is_moved = true;
}

static void palette_plan(NewPalette *palette, const Chunk *source, VoxelKind kind,
                         const ChunkPlan *plan)
{
    const uint32_t index_count = 1u << source->plane_count;
    palette->plane_count = chunk_planes_for(plan->kind_count);
    palette->painted = chunk_index_of(source, kind);
    palette->is_moved = false;
    const uint32_t needed =
        palette->plane_count > source->plane_count ? 1u << palette->plane_count : index_count;
    memcpy(palette->kinds, chunk_kinds(source), index_count * sizeof palette->kinds[0]);
    memset(&palette->kinds[index_count], 0, (needed - index_count) * sizeof palette->kinds[0]);
    memset(&palette->counts[index_count], 0, (needed - index_count) * sizeof palette->counts[0]);
    for (uint32_t index = 0; index < index_count; index++) {
        palette->counts[index] = (uint16_t)(chunk_counts(source)[index] - plan->removed[index]);
    }
    if (palette->plane_count < source->plane_count) {
        palette_shrink(palette, index_count, kind, plan->changed);
    } else {
        palette_keep(palette, kind, plan->changed);
    }
    ASSERT(palette->painted < 1u << palette->plane_count);
}

static bool region_covers(const ChunkRegion *region, uint32_t column)
{
    const uint32_t x = column & 31;
    const uint32_t z = column >> 5;
    return x >= region->x_min && x <= region->x_max && z >= region->z_min && z <= region->z_max;
}

// Rewrites every column in the new numbering. Each is read whole before it is written, so source
// and chunk may be the same.
static void planes_renumber(Chunk *chunk, const Chunk *source, const ChunkRegion *region,
                            const NewPalette *palette)
{
    for (uint32_t column = 0; column < CHUNK_COLUMNS; column++) {
        uint32_t words[CHUNK_PLANES_MAX] = {0};
        const uint32_t painted = region_covers(region, column) ? region->masks[column] : 0;
        for (uint32_t plane = 0; plane < palette->plane_count; plane++) {
            words[plane] = (palette->painted >> plane & 1) != 0 ? painted : 0;
        }
        ChunkPart part;
        for (uint32_t left = ~painted; left != 0; left &= ~part.mask) {
            part = chunk_part(source, column, left);
            const uint32_t index = palette->moved_to[part.index];
            for (uint32_t plane = 0; plane < palette->plane_count; plane++) {
                words[plane] |= (index >> plane & 1) != 0 ? part.mask : 0;
            }
        }
        for (uint32_t plane = 0; plane < palette->plane_count; plane++) {
            chunk->planes[plane]->words[column] = words[plane];
        }
    }
}

static void planes_paint(Chunk *chunk, const ChunkRegion *region, uint32_t index)
{
    for (uint32_t plane = 0; plane < chunk->plane_count; plane++) {
        uint32_t *words = chunk->planes[plane]->words;
        const uint32_t bit = (index >> plane & 1) != 0 ? UINT32_MAX : 0;
        for (uint32_t z = region->z_min; z <= region->z_max; z++) {
            for (uint32_t x = region->x_min; x <= region->x_max; x++) {
                const uint32_t mask = region->masks[z << 5 | x];
                words[z << 5 | x] = (words[z << 5 | x] & ~mask) | (bit & mask);
            }
        }
    }
}

// The planes of a chunk that keeps its numbering: those of the source, and zeroed ones above.
static void planes_extend(Chunk *chunk, const Chunk *source, ChunkPool *pool, uint32_t plane_count)
{
    if (chunk != source) {
        for (uint32_t plane = 0; plane < source->plane_count; plane++) {
            chunk->planes[plane] = page_take(pool);
            memcpy(chunk->planes[plane], source->planes[plane], sizeof(ChunkPage));
        }
        chunk->plane_count = source->plane_count;
    }
    while (chunk->plane_count < plane_count) {
        chunk->planes[chunk->plane_count++] = page_take_zeroed(pool);
    }
}

static void planes_drop(Chunk *chunk, ChunkPool *pool, uint32_t plane_count)
{
    while (chunk->plane_count > plane_count) {
        page_give(pool, &chunk->planes[--chunk->plane_count]);
    }
}

static void mask_paint(Chunk *chunk, const Chunk *source, ChunkPool *pool,
                       const ChunkRegion *region, bool is_solid, uint32_t solid_count)
{
    if (!needs_mask(solid_count)) {
        page_give(pool, &chunk->mask);
        chunk->solid = solid_count == 0 ? chunk_solid_none : chunk_solid_all;
        return;
    }
    if (chunk->mask == NULL) {
        chunk->mask = page_take(pool);
        memcpy(chunk->mask->words, source->solid, sizeof(ChunkPage));
        chunk->solid = chunk->mask->words;
    }
    for (uint32_t z = region->z_min; z <= region->z_max; z++) {
        for (uint32_t x = region->x_min; x <= region->x_max; x++) {
            const uint32_t mask = region->masks[z << 5 | x];
            uint32_t *word = &chunk->mask->words[z << 5 | x];
            *word = (*word & ~mask) | (is_solid ? mask : 0);
        }
    }
}

static void palette_store(Chunk *chunk, ChunkPool *pool, const NewPalette *palette)
{
    const uint32_t index_count = 1u << palette->plane_count;
    VoxelKind *kinds = chunk->kinds;
    uint16_t *counts = chunk->counts;
    if (index_count <= CHUNK_KINDS_INLINE) {
        page_give(pool, &chunk->palette);
    } else {
        if (chunk->palette == NULL) {
            chunk->palette = page_take(pool);
        }
        kinds = chunk->palette->palette.kinds;
        counts = chunk->palette->palette.counts;
    }
    memcpy(kinds, palette->kinds, index_count * sizeof kinds[0]);
    memcpy(counts, palette->counts, index_count * sizeof counts[0]);
}

void chunk_paint(Chunk *chunk, const Chunk *source, ChunkPool *pool, const VoxelKinds *kinds,
                 const ChunkRegion *region, VoxelKind kind, const ChunkPlan *plan)
{
    ASSERT(plan->changed != 0);
    ASSERT(chunk == source || chunk_page_count(chunk) == 0);
    NewPalette palette;
    palette_plan(&palette, source, kind, plan);

    // Planes are freed before a mask may be taken. The opposite order is never needed: a mask is
    // freed when the last kind that differs from the painted one disappears, and then there are no
    // more kinds.
    if (palette.is_moved) {
        while (chunk->plane_count < palette.plane_count) {
            chunk->planes[chunk->plane_count++] = page_take(pool);
        }
        planes_renumber(chunk, source, region, &palette);
        planes_drop(chunk, pool, palette.plane_count);
    } else {
        planes_extend(chunk, source, pool, palette.plane_count);
        planes_paint(chunk, region, palette.painted);
    }
    palette_store(chunk, pool, &palette);
    mask_paint(chunk, source, pool, region, voxel_kind_is_solid(kinds, kind), plan->solid_count);
    chunk->kind_count = (uint16_t)plan->kind_count;
    chunk->solid_count = (uint16_t)plan->solid_count;
    ASSERT(chunk_page_count(chunk) == chunk_pages_for(plan->kind_count, plan->solid_count));
    CHECK_SLOW(chunk_is_sound(chunk, kinds));
}

// --- building -----------------------------------------------------------------------------------

void chunk_build_begin(Chunk *chunk, ChunkPool *pool, const VoxelKinds *kinds,
                       const uint16_t counts[VOXEL_KINDS_MAX])
{
    chunk_clear(chunk, pool);
    NewPalette palette = {.kinds = {0}};
    uint32_t kind_count = 0;
    uint32_t solid_count = 0;
    for (uint32_t kind = 0; kind < VOXEL_KINDS_MAX; kind++) {
        if (counts[kind] != 0) {
            palette.kinds[kind_count] = (VoxelKind)kind;
            palette.counts[kind_count] = counts[kind];
            solid_count += voxel_kind_is_solid(kinds, (VoxelKind)kind) ? counts[kind] : 0;
            kind_count += 1;
        }
    }
    palette.plane_count = chunk_planes_for(kind_count);
    while (chunk->plane_count < palette.plane_count) {
        chunk->planes[chunk->plane_count++] = page_take_zeroed(pool);
    }
    palette_store(chunk, pool, &palette);
    chunk->solid = solid_count == 0 ? chunk_solid_none : chunk_solid_all;
    if (needs_mask(solid_count)) {
        chunk->mask = page_take_zeroed(pool);
        chunk->solid = chunk->mask->words;
    }
    chunk->kind_count = (uint16_t)kind_count;
    chunk->solid_count = (uint16_t)solid_count;
}

// --- soundness ----------------------------------------------------------------------------------

static bool mask_is_sound(const Chunk *chunk, uint32_t solid_count)
{
    if (chunk->mask != NULL) {
        return needs_mask(solid_count) && chunk->solid == chunk->mask->words;
    }
    return chunk->solid == (solid_count == 0 ? chunk_solid_none : chunk_solid_all);
}

static bool palette_is_sound(const Chunk *chunk, const uint16_t found[VOXEL_KINDS_MAX])
{
    bool seen[VOXEL_KINDS_MAX] = {false};
    uint32_t kind_count = 0;
    for (uint32_t index = 0; index < 1u << chunk->plane_count; index++) {
        if (found[index] != chunk_counts(chunk)[index]) {
            return false;
        }
        if (found[index] != 0) {
            const VoxelKind kind = chunk_kinds(chunk)[index];
            if (kind >= VOXEL_KINDS_MAX || seen[kind]) {
                return false;
            }
            seen[kind] = true;
            kind_count += 1;
        }
    }
    return kind_count == chunk->kind_count && chunk->plane_count == chunk_planes_for(kind_count) &&
           (chunk->palette != NULL) == (kind_count > CHUNK_KINDS_INLINE);
}

bool chunk_is_sound(const Chunk *chunk, const VoxelKinds *kinds)
{
    uint16_t found[VOXEL_KINDS_MAX] = {0};
    uint32_t solid_count = 0;
    for (uint32_t column = 0; column < CHUNK_COLUMNS; column++) {
        uint32_t solid = 0;
        ChunkPart part;
        for (uint32_t left = UINT32_MAX; left != 0; left &= ~part.mask) {
            part = chunk_part(chunk, column, left);
            const uint32_t count = (uint32_t)__builtin_popcount(part.mask);
            found[part.index] = (uint16_t)(found[part.index] + count);
            if (voxel_kind_is_solid(kinds, chunk_kinds(chunk)[part.index])) {
                solid |= part.mask;
            }
        }
        if (solid != chunk->solid[column]) {
            return false;
        }
        solid_count += (uint32_t)__builtin_popcount(solid);
    }
    return solid_count == chunk->solid_count && mask_is_sound(chunk, solid_count) &&
           palette_is_sound(chunk, found);
}

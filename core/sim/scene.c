// Anchored parts in a grid that never changes: each part stands in every cell its bounds touch, on
// the first level whose cells are as wide as the part, so in at most eight. The parts of a cell lie
// side by side with their bounds, and a query reads memory in order. A part that touches several
// cells of a query is reported by the first of them only.
//
// A level is a plain three-dimensional array of cells where its parts lie close together, as they
// do in most places, and a hash table where they are scattered.
#include "core/sim/scene.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/sim/grid.h"

#define SCENE_LEVELS 5 // cells of 4, 16, 64, 256 and 1024 m

typedef struct SceneCell {
    uint64_t key; // hashed levels only; 0 when unused
    uint32_t first;
    uint32_t count;
} SceneCell;

typedef struct SceneEntry {
    Aabb bounds;
    uint32_t part;
    int16_t cell_x, cell_y, cell_z; // the first cell that the part touches
} SceneEntry;
_Static_assert(2 * WORLD_EXTENT_M / 4 < INT16_MAX, "cells of the finest level fit 16 bits");

typedef struct CellSpan {
    int32_t x0, y0, z0, x1, y1, z1;
} CellSpan;

typedef struct SceneLevel {
    SceneCell *cells;
    uint32_t cell_count;
    uint32_t part_count;
    bool hashed;   // cell_count is a power of two then
    CellSpan span; // the cells that parts touch
} SceneLevel;

struct Scene {
    const ChunkStore *chunks;
    Aabb bounds;
    ScenePart *parts;
    PieceDesc *pieces;
    SceneEntry *entries;
    uint32_t part_count;
    uint32_t piece_count;
    SceneLevel levels[SCENE_LEVELS];
    uint64_t hash;
};

static float level_inverse_edge(uint32_t level)
{
    return 1.0f / (4.0f * (float)(1u << (2 * level))); // a power of two: exact
}

static uint32_t level_of(Aabb bounds)
{
    const Vec3 size = vec3_sub(bounds.max, bounds.min);
    const float widest = math_max(size.x, math_max(size.y, size.z));
    uint32_t level = 0;
    while (level + 1 < SCENE_LEVELS && widest * level_inverse_edge(level) > 1) {
        level += 1;
    }
    return level;
}

static CellSpan span_of(Aabb box, float inverse_edge)
{
    return (CellSpan){
        math_floor_i32(box.min.x * inverse_edge), math_floor_i32(box.min.y * inverse_edge),
        math_floor_i32(box.min.z * inverse_edge), math_floor_i32(box.max.x * inverse_edge),
        math_floor_i32(box.max.y * inverse_edge), math_floor_i32(box.max.z * inverse_edge)};
}

static uint64_t cell_key(int32_t x, int32_t y, int32_t z)
{
    return 1ull << 63 | (uint64_t)((uint32_t)x & 0xfffff) << 40 |
           (uint64_t)((uint32_t)y & 0xfffff) << 20 | (uint64_t)((uint32_t)z & 0xfffff);
}

// The cell at a coordinate inside the level's span, or the free place where it would go.
static SceneCell *cell_at(const SceneLevel *level, int32_t x, int32_t y, int32_t z)
{
    const CellSpan *span = &level->span;
    if (!level->hashed) {
        const uint32_t size_x = (uint32_t)(span->x1 - span->x0 + 1);
        const uint32_t size_y = (uint32_t)(span->y1 - span->y0 + 1);
        const uint32_t row = (uint32_t)(z - span->z0) * size_y + (uint32_t)(y - span->y0);
        return &level->cells[row * size_x + (uint32_t)(x - span->x0)];
    }
    const uint64_t key = cell_key(x, y, z);
    uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (level->cell_count - 1);
    while (level->cells[at].key != 0 && level->cells[at].key != key) {
        at = (at + 1) & (level->cell_count - 1);
    }
    return &level->cells[at];
}

static uint64_t span_cells(CellSpan span)
{
    return (uint64_t)((int64_t)span.x1 - span.x0 + 1) * (uint64_t)((int64_t)span.y1 - span.y0 + 1) *
           (uint64_t)((int64_t)span.z1 - span.z0 + 1);
}

static int32_t lower(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t higher(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static CellSpan span_union(CellSpan a, CellSpan b)
{
    return (CellSpan){lower(a.x0, b.x0),  lower(a.y0, b.y0),  lower(a.z0, b.z0),
                      higher(a.x1, b.x1), higher(a.y1, b.y1), higher(a.z1, b.z1)};
}

static CellSpan span_common(CellSpan a, CellSpan b)
{
    return (CellSpan){higher(a.x0, b.x0), higher(a.y0, b.y0), higher(a.z0, b.z0),
                      lower(a.x1, b.x1),  lower(a.y1, b.y1),  lower(a.z1, b.z1)};
}

// Visits each cell that a part touches: counts first, then fills.
static void index_part(Scene *scene, uint32_t part, bool fill)
{
    const Aabb bounds = scene->parts[part].placed.bounds;
    const uint32_t number = level_of(bounds);
    SceneLevel *level = &scene->levels[number];
    const CellSpan span = span_of(bounds, level_inverse_edge(number));
    for (int32_t z = span.z0; z <= span.z1; z++) {
        for (int32_t y = span.y0; y <= span.y1; y++) {
            for (int32_t x = span.x0; x <= span.x1; x++) {
                SceneCell *cell = cell_at(level, x, y, z);
                cell->key = cell_key(x, y, z);
                if (fill) {
                    scene->entries[cell->first + cell->count] = (SceneEntry){
                        bounds, part, (int16_t)span.x0, (int16_t)span.y0, (int16_t)span.z0};
                }
                cell->count += 1;
            }
        }
    }
}

static Status create_level(Heap *heap, SceneLevel *level, uint64_t entry_count)
{
    const uint64_t dense = span_cells(level->span);
    level->hashed = dense > entry_count * 16 + 4096;
    uint64_t cells = dense;
    if (level->hashed) {
        cells = 16;
        while (cells < entry_count * 2) {
            cells *= 2;
        }
    }
    if (cells > UINT32_MAX) {
        return STATUS_LIMIT;
    }
    level->cell_count = (uint32_t)cells;
    level->cells = heap_alloc(heap, heap_array_bytes(level->cell_count, sizeof(SceneCell)));
    return level->cells == NULL ? STATUS_LIMIT : STATUS_OK;
}

static Status build_index(Heap *heap, Scene *scene)
{
    uint64_t level_entries[SCENE_LEVELS] = {0};
    uint64_t entry_count = 0;
    for (uint32_t i = 0; i < scene->part_count; i++) {
        const Aabb bounds = scene->parts[i].placed.bounds;
        const uint32_t number = level_of(bounds);
        SceneLevel *level = &scene->levels[number];
        const CellSpan span = span_of(bounds, level_inverse_edge(number));
        level->span = level->part_count == 0 ? span : span_union(level->span, span);
        level->part_count += 1;
        level_entries[number] += span_cells(span);
        entry_count += span_cells(span);
    }
    if (entry_count >= UINT32_MAX) {
        return STATUS_LIMIT;
    }
    scene->entries =
        heap_alloc(heap, heap_array_bytes((size_t)entry_count + 1, sizeof(SceneEntry)));
    if (scene->entries == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t number = 0; number < SCENE_LEVELS; number++) {
        SceneLevel *level = &scene->levels[number];
        if (level->part_count != 0 &&
            create_level(heap, level, level_entries[number]) != STATUS_OK) {
            return STATUS_LIMIT;
        }
    }
    for (uint32_t i = 0; i < scene->part_count; i++) {
        index_part(scene, i, false);
    }
    uint32_t first = 0;
    for (uint32_t number = 0; number < SCENE_LEVELS; number++) {
        for (uint32_t i = 0; i < scene->levels[number].cell_count; i++) {
            SceneCell *cell = &scene->levels[number].cells[i];
            cell->first = first;
            first += cell->count;
            cell->count = 0;
        }
    }
    ASSERT(first == entry_count);
    for (uint32_t i = 0; i < scene->part_count; i++) {
        index_part(scene, i, true);
    }
    return STATUS_OK;
}

Status part_data_check(const PartData *data)
{
    if ((data->flags & ~(uint32_t)PART_FLAGS_ALL) != 0 || !(math_abs(data->bounce_speed) <= 100) ||
        !(math_abs(data->damage) <= 1.0e6f) || !(vec3_length(data->conveyor_speed) <= 50)) {
        return STATUS_RANGE;
    }
    return STATUS_OK;
}

bool part_data_equal(const PartData *a, const PartData *b)
{
    return a->flags == b->flags && a->bounce_speed == b->bounce_speed && a->damage == b->damage &&
           vec3_equal(a->conveyor_speed, b->conveyor_speed);
}

Status part_desc_check(const PartDesc *desc)
{
    const Quat q = desc->pose.rotation;
    const float unit = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    const Vec3 p = desc->pose.position;
    const float extent = (float)WORLD_EXTENT_M;
    if (!(unit > 0.998f && unit < 1.002f) || !(math_abs(p.x) <= extent) ||
        !(math_abs(p.y) <= extent) || !(math_abs(p.z) <= extent)) {
        return STATUS_RANGE;
    }
    const Status status = shape_check(desc->shape);
    return status != STATUS_OK ? status : part_data_check(&desc->data);
}

static bool piece_is_sane(const PieceDesc *piece)
{
    return piece->cells_x >= 1 && piece->cells_x <= 8 && piece->cells_y >= 1 &&
           piece->cells_y <= 8 && piece->cells_z >= 1 && piece->cells_z <= 8 &&
           (piece->flags & ~PIECE_FLAGS_ALL) == 0 && piece->health > 0 && piece->health <= 1.0e6f;
}

static void hash_aabb(Hash64 *hash, Aabb box)
{
    const float values[6] = {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z};
    for (uint32_t i = 0; i < 6; i++) {
        hash_f32(hash, values[i]);
    }
}

static uint64_t hash_scene(const Scene *scene)
{
    Hash64 hash = HASH64_INIT;
    hash_u32(&hash, scene->part_count);
    for (uint32_t i = 0; i < scene->part_count; i++) {
        const PartDesc *part = &scene->parts[i].desc;
        const Quat q = part->pose.rotation;
        const float values[] = {part->shape.half.x,
                                part->shape.half.y,
                                part->shape.half.z,
                                part->pose.position.x,
                                part->pose.position.y,
                                part->pose.position.z,
                                q.x,
                                q.y,
                                q.z,
                                q.w,
                                part->data.bounce_speed,
                                part->data.damage,
                                part->data.conveyor_speed.x,
                                part->data.conveyor_speed.y,
                                part->data.conveyor_speed.z};
        hash_u32(&hash, (uint32_t)part->shape.kind);
        hash_u32(&hash, part->data.flags);
        for (uint32_t v = 0; v < sizeof values / sizeof values[0]; v++) {
            hash_f32(&hash, values[v]);
        }
    }
    hash_u32(&hash, scene->piece_count);
    for (uint32_t i = 0; i < scene->piece_count; i++) {
        const PieceDesc *piece = &scene->pieces[i];
        hash_u32(&hash, piece->cells_x | (uint32_t)piece->cells_y << 8 |
                            (uint32_t)piece->cells_z << 16 | (uint32_t)piece->flags << 24);
        hash_f32(&hash, piece->health);
    }
    hash_aabb(&hash, scene->bounds);
    if (scene->chunks != NULL) {
        chunk_store_hash(scene->chunks, &hash);
    }
    return hash.state;
}

static Status fill_scene(Heap *heap, const SceneDesc *desc, Scene *scene, uint32_t *bad_index)
{
    const float extent = (float)WORLD_EXTENT_M;
    const Aabb whole = {{-extent, -extent, -extent}, {extent, extent, extent}};
    scene->bounds = desc->bounds;
    if (vec3_equal(desc->bounds.min, desc->bounds.max)) {
        scene->bounds = whole;
    }
    const Vec3 size = vec3_sub(scene->bounds.max, scene->bounds.min);
    if (!aabb_contains(whole, scene->bounds.min) || !aabb_contains(whole, scene->bounds.max) ||
        !(size.x > 0 && size.y > 0 && size.z > 0)) {
        return STATUS_RANGE;
    }
    scene->chunks = desc->chunks;
    scene->part_count = desc->part_count;
    scene->piece_count = desc->piece_count;
    scene->parts = heap_alloc(heap, heap_array_bytes(desc->part_count + 1, sizeof(ScenePart)));
    scene->pieces = heap_alloc(heap, heap_array_bytes(desc->piece_count + 1, sizeof(PieceDesc)));
    if (scene->parts == NULL || scene->pieces == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < desc->part_count; i++) {
        if (part_desc_check(&desc->parts[i]) != STATUS_OK) {
            *bad_index = i;
            return STATUS_RANGE;
        }
        scene->parts[i].placed = shape_place(desc->parts[i].shape, desc->parts[i].pose);
        scene->parts[i].desc = desc->parts[i];
        scene->parts[i].desc.shape = shape_tidy(desc->parts[i].shape);
    }
    for (uint32_t i = 0; i < desc->piece_count; i++) {
        if (!piece_is_sane(&desc->pieces[i])) {
            *bad_index = i;
            return STATUS_RANGE;
        }
        scene->pieces[i] = desc->pieces[i];
    }
    const Status status = build_index(heap, scene);
    if (status == STATUS_OK) {
        scene->hash = hash_scene(scene);
    }
    return status;
}

Status scene_create(Heap *heap, const SceneDesc *desc, Scene **out, uint32_t *bad_index)
{
    if (desc->part_count > SCENE_PARTS_MAX || desc->piece_count > STRUCTURE_CATALOGUE_MAX) {
        return STATUS_LIMIT;
    }
    Scene *scene = heap_alloc(heap, sizeof *scene);
    if (scene == NULL) {
        return STATUS_LIMIT;
    }
    uint32_t bad = 0;
    const Status status = fill_scene(heap, desc, scene, &bad);
    if (status != STATUS_OK) {
        if (bad_index != NULL) {
            *bad_index = bad;
        }
        scene_destroy(heap, scene);
        return status;
    }
    *out = scene;
    return STATUS_OK;
}

void scene_destroy(Heap *heap, Scene *scene)
{
    if (scene == NULL) {
        return;
    }
    heap_free(heap, scene->entries);
    for (uint32_t number = 0; number < SCENE_LEVELS; number++) {
        heap_free(heap, scene->levels[number].cells);
    }
    heap_free(heap, scene->pieces);
    heap_free(heap, scene->parts);
    heap_free(heap, scene);
}

const ChunkStore *scene_chunks(const Scene *scene)
{
    return scene->chunks;
}

Aabb scene_bounds(const Scene *scene)
{
    return scene->bounds;
}

uint32_t scene_part_count(const Scene *scene)
{
    return scene->part_count;
}

const ScenePart *scene_part(const Scene *scene, uint32_t index)
{
    ASSERT(index < scene->part_count);
    return &scene->parts[index];
}

uint32_t scene_piece_count(const Scene *scene)
{
    return scene->piece_count;
}

const PieceDesc *scene_piece(const Scene *scene, uint32_t index)
{
    ASSERT(index < scene->piece_count);
    return &scene->pieces[index];
}

uint64_t scene_hash(const Scene *scene)
{
    return scene->hash;
}

static void query_cells(const Scene *scene, const SceneLevel *level, CellSpan span, Aabb box,
                        GridFound *found, uint64_t *work)
{
    uint64_t steps = 0;
    for (int32_t z = span.z0; z <= span.z1; z++) {
        for (int32_t y = span.y0; y <= span.y1; y++) {
            for (int32_t x = span.x0; x <= span.x1; x++) {
                const SceneCell *cell = cell_at(level, x, y, z);
                const SceneEntry *entry = &scene->entries[cell->first];
                steps += GRID_CELL_STEPS + (uint64_t)cell->count * GRID_ITEM_STEPS;
                for (const SceneEntry *end = entry + cell->count; entry != end; entry++) {
                    if (aabb_overlaps(entry->bounds, box) && higher(entry->cell_x, span.x0) == x &&
                        higher(entry->cell_y, span.y0) == y &&
                        higher(entry->cell_z, span.z0) == z) {
                        grid_found_add(found, entry->part);
                    }
                }
            }
        }
    }
    *work += steps;
}

uint32_t scene_query(const Scene *scene, Aabb box, uint32_t *out, uint32_t max, uint64_t *work)
{
    GridFound found = {.out = out, .max = max};
    for (uint32_t number = 0; number < SCENE_LEVELS; number++) {
        const SceneLevel *level = &scene->levels[number];
        if (level->part_count == 0) {
            continue;
        }
        const CellSpan span = span_common(span_of(box, level_inverse_edge(number)), level->span);
        if (span.x0 > span.x1 || span.y0 > span.y1 || span.z0 > span.z1) {
            continue;
        }
        if (span_cells(span) <= level->part_count) {
            query_cells(scene, level, span, box, &found, work);
            continue;
        }
        // A box wider than the scene: looking at every part is cheaper than at every cell.
        *work += (uint64_t)scene->part_count * GRID_ITEM_STEPS;
        for (uint32_t i = 0; i < scene->part_count; i++) {
            const Aabb bounds = scene->parts[i].placed.bounds;
            if (aabb_overlaps(bounds, box) && level_of(bounds) == number) {
                grid_found_add(&found, i);
            }
        }
    }
    grid_found_sort(&found);
    return found.count;
}

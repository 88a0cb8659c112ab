// The loose grid of grid.h: hash buckets of intrusive lists. Different cells may share a bucket, so
// every item stores its cell and a walk compares it.
#include "core/sim/grid.h"

#include "core/base/check.h"
#include "core/base/hash.h"

#define CELL_LIVE    (1ull << 63)
#define CELL_OFFSET  (1 << 19) // makes cell coordinates positive in their 20 bits
#define CELL_CLAMP_M 1.0e6f
#define LOOSE_M      0.01f // rounding makes the tallest character a little taller than a cell
_Static_assert(GRID_LEVELS == GRID_SHAPE_LEVELS + GRID_LAYERS - 1 && GRID_LEVELS <= 8,
               "a level of its own for each other layer, in three bits");

typedef struct CellRange {
    int32_t x0, y0, z0, x1, y1, z1;
} CellRange;

static float level_edge(uint32_t level)
{
    return level < GRID_SHAPE_LEVELS ? GRID_CELL_MIN_M * (float)(1u << (2 * level))
                                     : GRID_CELL_MIN_M;
}

static GridLayer level_layer(uint32_t level)
{
    return level < GRID_SHAPE_LEVELS ? GRID_SHAPES : (GridLayer)(level - GRID_SHAPE_LEVELS + 1);
}

static int32_t cell_coordinate(float metres, float edge)
{
    return math_floor_i32(math_clamp(metres, -CELL_CLAMP_M, CELL_CLAMP_M) / edge);
}

static uint64_t cell_pack(uint32_t level, int32_t x, int32_t y, int32_t z)
{
    return CELL_LIVE | (uint64_t)level << 60 | (uint64_t)(uint32_t)(x + CELL_OFFSET) << 40 |
           (uint64_t)(uint32_t)(y + CELL_OFFSET) << 20 | (uint64_t)(uint32_t)(z + CELL_OFFSET);
}

static uint32_t cell_level(uint64_t cell)
{
    return (uint32_t)(cell >> 60) & 7;
}

// Layers share no bucket: a cell with thousands of one layer does not slow down another.
static uint32_t cell_bucket(const Grid *grid, uint64_t cell)
{
    const uint32_t at = (uint32_t)((cell * 0x9e3779b97f4a7c15ull) >> 32) & grid->bucket_mask;
    return (uint32_t)level_layer(cell_level(cell)) * (grid->bucket_mask + 1) + at;
}

static uint64_t cell_of(GridLayer layer, Aabb bounds)
{
    const Vec3 size = vec3_sub(bounds.max, bounds.min);
    const float widest = math_max(size.x, math_max(size.y, size.z));
    uint32_t level = layer == GRID_SHAPES ? 0 : GRID_SHAPE_LEVELS - 1 + (uint32_t)layer;
    while (level + 1 < GRID_SHAPE_LEVELS && widest > level_edge(level)) {
        level += 1;
    }
    const float edge = level_edge(level);
    const Vec3 centre = vec3_scale(vec3_add(bounds.min, bounds.max), 0.5f);
    return cell_pack(level, cell_coordinate(centre.x, edge), cell_coordinate(centre.y, edge),
                     cell_coordinate(centre.z, edge));
}

static uint32_t bucket_count_for(uint32_t slot_count)
{
    uint32_t buckets = 64;
    while (buckets < slot_count && buckets < 1u << 20) {
        buckets *= 2;
    }
    return buckets;
}

size_t grid_bytes(uint32_t slot_count)
{
    return arena_need((size_t)slot_count * sizeof(GridItem)) +
           arena_need((size_t)GRID_LAYERS * bucket_count_for(slot_count) * sizeof(uint32_t)) +
           arena_need(sizeof(uint64_t));
}

Status grid_init(Grid *grid, Arena *arena, uint32_t slot_count)
{
    const uint32_t buckets = bucket_count_for(slot_count);
    Grid made = {.slot_count = slot_count, .bucket_mask = buckets - 1};
    made.items = arena_array(arena, slot_count, sizeof(GridItem));
    made.heads = arena_array(arena, (size_t)GRID_LAYERS * buckets, sizeof(uint32_t));
    made.work = arena_array(arena, 1, sizeof(uint64_t));
    if (made.items == NULL || made.heads == NULL || made.work == NULL) {
        return STATUS_LIMIT;
    }
    *grid = made;
    return STATUS_OK;
}

void grid_clear(Grid *grid)
{
    for (uint32_t slot = 0; slot < grid->slot_count; slot++) {
        grid->items[slot].cell = 0;
    }
    for (uint32_t bucket = 0; bucket < GRID_LAYERS * (grid->bucket_mask + 1); bucket++) {
        grid->heads[bucket] = 0;
    }
    for (uint32_t level = 0; level < GRID_LEVELS; level++) {
        grid->level_counts[level] = 0;
        grid->level_heads[level] = 0;
    }
}

static void unlink_item(Grid *grid, uint32_t slot)
{
    GridItem *items = grid->items;
    GridItem *item = &items[slot];
    const uint32_t level = cell_level(item->cell);
    if (item->previous != 0) {
        items[item->previous].next = item->next;
    } else {
        grid->heads[cell_bucket(grid, item->cell)] = item->next;
    }
    if (item->next != 0) {
        items[item->next].previous = item->previous;
    }
    if (item->level_previous != 0) {
        items[item->level_previous].level_next = item->level_next;
    } else {
        grid->level_heads[level] = item->level_next;
    }
    if (item->level_next != 0) {
        items[item->level_next].level_previous = item->level_previous;
    }
    grid->level_counts[level] -= 1;
    item->cell = 0;
}

static void link_item(Grid *grid, uint32_t slot, uint64_t cell)
{
    GridItem *items = grid->items;
    GridItem *item = &items[slot];
    uint32_t *head = &grid->heads[cell_bucket(grid, cell)];
    uint32_t *level_head = &grid->level_heads[cell_level(cell)];
    item->cell = cell;
    item->previous = 0;
    item->next = *head;
    item->level_previous = 0;
    item->level_next = *level_head;
    if (*head != 0) {
        items[*head].previous = slot;
    }
    if (*level_head != 0) {
        items[*level_head].level_previous = slot;
    }
    *head = slot;
    *level_head = slot;
    grid->level_counts[cell_level(cell)] += 1;
}

void grid_put(Grid *grid, uint32_t slot, GridLayer layer, Aabb bounds)
{
    ASSERT(slot > 0 && slot < grid->slot_count);
    GridItem *item = &grid->items[slot];
    item->bounds = bounds;
    const uint64_t cell = cell_of(layer, bounds);
    if (cell == item->cell) {
        return;
    }
    if (item->cell != 0) {
        unlink_item(grid, slot);
    }
    link_item(grid, slot, cell);
}

void grid_remove(Grid *grid, uint32_t slot)
{
    ASSERT(slot > 0 && slot < grid->slot_count);
    if (grid->items[slot].cell != 0) {
        unlink_item(grid, slot);
    }
}

// --- the lowest of many -------------------------------------------------------------------------

// Moves the value at `at` down until no child is above it: the largest is on top.
static void heap_sink(uint32_t *heap, uint32_t count, uint32_t at)
{
    const uint32_t value = heap[at];
    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && heap[child + 1] > heap[child];
        if (heap[child] <= value) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = value;
}

static void heap_make(uint32_t *heap, uint32_t count)
{
    for (uint32_t at = count / 2; at > 0; at--) {
        heap_sink(heap, count, at - 1);
    }
}

// A plain list as long as it has room; then a heap, in which the highest gives way to a lower one.
void grid_found_add(GridFound *found, uint32_t slot)
{
    found->count += 1;
    if (found->held < found->max) {
        found->out[found->held++] = slot;
        if (found->held == found->max) {
            heap_make(found->out, found->held);
        }
    } else if (found->max > 0 && slot < found->out[0]) {
        found->out[0] = slot;
        heap_sink(found->out, found->held, 0);
    }
}

#define INSERTION_MAX 12 // that few are sorted faster in the simple way

void grid_found_sort(GridFound *found)
{
    uint32_t *out = found->out;
    if (found->held > INSERTION_MAX) {
        heap_make(out, found->held);
        for (uint32_t last = found->held - 1; last > 0; last--) {
            const uint32_t largest = out[0];
            out[0] = out[last];
            heap_sink(out, last, 0);
            out[last] = largest;
        }
        return;
    }
    for (uint32_t i = 1; i < found->held; i++) {
        const uint32_t slot = out[i];
        uint32_t at = i;
        for (; at > 0 && out[at - 1] > slot; at--) {
            out[at] = out[at - 1];
        }
        out[at] = slot;
    }
}

// --- queries ------------------------------------------------------------------------------------

// Everything of a level, if there are more cells than items.
static void query_level(const Grid *grid, uint32_t level, Aabb box, GridFound *found)
{
    for (uint32_t slot = grid->level_heads[level]; slot != 0; slot = grid->items[slot].level_next) {
        if (aabb_overlaps(grid->items[slot].bounds, box)) {
            grid_found_add(found, slot);
        }
    }
    *grid->work += (uint64_t)grid->level_counts[level] * GRID_ITEM_STEPS;
}

static void query_cell(const Grid *grid, uint64_t cell, Aabb box, GridFound *found)
{
    uint32_t looked = 0;
    uint32_t slot = grid->heads[cell_bucket(grid, cell)];
    for (; slot != 0; slot = grid->items[slot].next) {
        const GridItem *item = &grid->items[slot];
        looked += 1;
        if (item->cell == cell && aabb_overlaps(item->bounds, box)) {
            grid_found_add(found, slot);
        }
    }
    *grid->work += GRID_CELL_STEPS + (uint64_t)looked * GRID_ITEM_STEPS;
}

static void query_cells(const Grid *grid, uint32_t level, CellRange range, Aabb box,
                        GridFound *found)
{
    for (int32_t z = range.z0; z <= range.z1; z++) {
        for (int32_t y = range.y0; y <= range.y1; y++) {
            for (int32_t x = range.x0; x <= range.x1; x++) {
                query_cell(grid, cell_pack(level, x, y, z), box, found);
            }
        }
    }
}

uint32_t grid_query(const Grid *grid, Aabb box, uint32_t layers, uint32_t *out, uint32_t max)
{
    GridFound found = {.out = out, .max = max};
    for (uint32_t level = 0; level < GRID_LEVELS; level++) {
        if (grid->level_counts[level] == 0 || (layers & GRID_MASK(level_layer(level))) == 0) {
            continue;
        }
        const float edge = level_edge(level);
        const Aabb wide = aabb_grow(box, edge * 0.5f + LOOSE_M);
        const CellRange range = {
            cell_coordinate(wide.min.x, edge), cell_coordinate(wide.min.y, edge),
            cell_coordinate(wide.min.z, edge), cell_coordinate(wide.max.x, edge),
            cell_coordinate(wide.max.y, edge), cell_coordinate(wide.max.z, edge)};
        const uint64_t cells = (uint64_t)(range.x1 - range.x0 + 1) *
                               (uint64_t)(range.y1 - range.y0 + 1) *
                               (uint64_t)(range.z1 - range.z0 + 1);
        if (cells > grid->level_counts[level]) {
            query_level(grid, level, box, &found);
        } else {
            query_cells(grid, level, range, box, &found);
        }
    }
    grid_found_sort(&found);
    return found.count;
}

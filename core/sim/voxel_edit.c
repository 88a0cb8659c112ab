// Edits: one voxel, a box, a sphere, of the store while it is built and of a terrain while it runs.
//
// Every edit is a brush: a box of voxels, clamped to the world's extent, and for each column of a
// chunk the mask of voxels in it. It goes twice over the chunks it touches. The first pass only
// plans and adds up what would be needed; if that does not fit, nothing has happened. The second
// paints and cannot fail. A chunk in which no voxel would differ is left alone: it is not copied,
// and its version stays.
//
// What an edit needs is the sum of what each chunk grows by; pages that one chunk gives back do not
// pay for another's in the same edit. So whether it fits does not depend on the order of chunks.
#include "core/sim/voxel_inside.h"

typedef struct Brush {
    VoxelCoord min, max; // inclusive and inside the extent; empty if min.x > max.x
    bool is_sphere;
    Vec3 centre;
    float radius_squared;
    VoxelKind kind;
} Brush;

// Where an edit goes: into a store (terrain NULL) or into the chunks that a terrain owns.
typedef struct Target {
    ChunkStore *store;
    Terrain *terrain;
    ChunkTable *table;
    const VoxelKinds *kinds;
} Target;

typedef struct Need {
    uint64_t page_count;
    uint64_t chunk_count;
    uint32_t changed;
    bool version_is_spent; // a chunk's version cannot rise any more
} Need;

// The chunks of a brush in ascending (z, y, x) order; or, for air painted into a store, where a
// missing chunk is air already, only those that exist: that box may be as large as the world.
typedef struct Walk {
    ChunkCoord min, max, next;
    bool is_existing_only;
    uint32_t index;
} Walk;

// --- brushes ------------------------------------------------------------------------------------

static int32_t clamp_i32(int32_t value, int32_t low, int32_t high)
{
    return value < low ? low : value > high ? high : value;
}

static bool brush_is_empty(const Brush *brush)
{
    return brush->min.x > brush->max.x || brush->min.y > brush->max.y ||
           brush->min.z > brush->max.z;
}

// Corners outside the extent move to its border; a box that lies wholly outside becomes empty.
static Brush brush_box(VoxelCoord min, VoxelCoord max, VoxelKind kind)
{
    const int32_t low = -WORLD_EXTENT_M;
    const int32_t high = WORLD_EXTENT_M - 1;
    return (Brush){
        .min = {min.x < low ? low : min.x, min.y < low ? low : min.y, min.z < low ? low : min.z},
        .max = {max.x > high ? high : max.x, max.y > high ? high : max.y,
                max.z > high ? high : max.z},
        .kind = kind};
}

static Brush brush_sphere(Vec3 centre, float radius, VoxelKind kind)
{
    // One voxel more on each side than the radius reaches, so that rounding cannot lose any.
    const float reach = radius + 1.0f;
    const Vec3 low = {centre.x - reach, centre.y - reach, centre.z - reach};
    const Vec3 high = {centre.x + reach, centre.y + reach, centre.z + reach};
    Brush brush = brush_box(voxel_at(low), voxel_at(high), kind);
    brush.is_sphere = true;
    brush.centre = centre;
    brush.radius_squared = radius * radius;
    return brush;
}

// Voxel centres are exact in float32 within the extent; each term is rounded once, in this order.
static float squared_offset(int32_t voxel, float centre)
{
    const float offset = ((float)voxel + 0.5f) - centre;
    return offset * offset;
}

// The voxels y_min..y_max of one column that are in the sphere. Rounding keeps order, so squares
// fall towards the centre and rise away from it, and the voxels inside are one piece.
static uint32_t sphere_column(const Brush *brush, float flat, const float y_squared[CHUNK_EDGE],
                              uint32_t y_min, uint32_t y_max)
{
    while (y_min <= y_max && !(flat + y_squared[y_min] <= brush->radius_squared)) {
        y_min += 1;
    }
    if (y_min > y_max) {
        return 0;
    }
    while (!(flat + y_squared[y_max] <= brush->radius_squared)) {
        y_max -= 1;
    }
    return UINT32_MAX >> (31 - (y_max - y_min)) << y_min;
}

static void sphere_region(const Brush *brush, VoxelCoord first, uint32_t y_min, uint32_t y_max,
                          ChunkRegion *region)
{
    float y_squared[CHUNK_EDGE];
    for (int32_t y = 0; y < CHUNK_EDGE; y++) {
        y_squared[y] = squared_offset(first.y + y, brush->centre.y);
    }
    for (uint32_t z = region->z_min; z <= region->z_max; z++) {
        const float z_squared = squared_offset(first.z + (int32_t)z, brush->centre.z);
        for (uint32_t x = region->x_min; x <= region->x_max; x++) {
            const float flat = squared_offset(first.x + (int32_t)x, brush->centre.x) + z_squared;
            region->masks[z << 5 | x] = sphere_column(brush, flat, y_squared, y_min, y_max);
        }
    }
}

// The part of the brush that lies in a chunk; the two must overlap.
static void brush_region(const Brush *brush, ChunkCoord at, ChunkRegion *region)
{
    const VoxelCoord first = {at.x * CHUNK_EDGE, at.y * CHUNK_EDGE, at.z * CHUNK_EDGE};
    region->x_min = (uint32_t)clamp_i32(brush->min.x - first.x, 0, CHUNK_EDGE - 1);
    region->x_max = (uint32_t)clamp_i32(brush->max.x - first.x, 0, CHUNK_EDGE - 1);
    region->z_min = (uint32_t)clamp_i32(brush->min.z - first.z, 0, CHUNK_EDGE - 1);
    region->z_max = (uint32_t)clamp_i32(brush->max.z - first.z, 0, CHUNK_EDGE - 1);
    const uint32_t y_min = (uint32_t)clamp_i32(brush->min.y - first.y, 0, CHUNK_EDGE - 1);
    const uint32_t y_max = (uint32_t)clamp_i32(brush->max.y - first.y, 0, CHUNK_EDGE - 1);
    if (brush->is_sphere) {
        sphere_region(brush, first, y_min, y_max, region);
        return;
    }
    const uint32_t mask = UINT32_MAX >> (31 - (y_max - y_min)) << y_min;
    for (uint32_t z = region->z_min; z <= region->z_max; z++) {
        for (uint32_t x = region->x_min; x <= region->x_max; x++) {
            region->masks[z << 5 | x] = mask;
        }
    }
}

// --- the chunks of an edit ----------------------------------------------------------------------

static Walk walk_begin(const Target *target, const Brush *brush)
{
    const ChunkCoord min = voxel_chunk(brush->min);
    return (Walk){.min = min,
                  .max = voxel_chunk(brush->max),
                  .next = min,
                  .is_existing_only = target->terrain == NULL && brush->kind == VOXEL_AIR};
}

static uint64_t walk_chunk_count(const Walk *walk)
{
    return (uint64_t)(walk->max.x - walk->min.x + 1) * (uint64_t)(walk->max.y - walk->min.y + 1) *
           (uint64_t)(walk->max.z - walk->min.z + 1);
}

static bool walk_next_existing(Walk *walk, const ChunkTable *table, ChunkCoord *at)
{
    while (walk->index < table->chunk_count) {
        const ChunkCoord here = chunk_coord(chunk_table_at(table, walk->index++)->key);
        if (here.x >= walk->min.x && here.x <= walk->max.x && here.y >= walk->min.y &&
            here.y <= walk->max.y && here.z >= walk->min.z && here.z <= walk->max.z) {
            *at = here;
            return true;
        }
    }
    return false;
}

static bool walk_next(Walk *walk, const Target *target, ChunkCoord *at)
{
    if (walk->is_existing_only) {
        return walk_next_existing(walk, target->table, at);
    }
    if (walk->next.z > walk->max.z) {
        return false;
    }
    *at = walk->next;
    walk->next.x += 1;
    if (walk->next.x > walk->max.x) {
        walk->next.x = walk->min.x;
        walk->next.y += 1;
    }
    if (walk->next.y > walk->max.y) {
        walk->next.y = walk->min.y;
        walk->next.z += 1;
    }
    return true;
}

// --- the two passes -----------------------------------------------------------------------------

// What is at a chunk coordinate now: the target's own chunk, or what lies under it.
static const Chunk *target_source(const Target *target, ChunkCoord at, const Chunk *own)
{
    if (own != NULL) {
        return own;
    }
    return target->terrain != NULL ? terrain_base_chunk(target->terrain, at) : &chunk_air;
}

static Need edit_need(const Target *target, const Brush *brush)
{
    Need need = {0};
    Walk walk = walk_begin(target, brush);
    ChunkCoord at;
    ChunkRegion region;
    ChunkPlan plan;
    while (walk_next(&walk, target, &at)) {
        const Chunk *own = chunk_table_find(target->table, chunk_key(at));
        brush_region(brush, at, &region);
        chunk_plan(target_source(target, at, own), target->kinds, &region, brush->kind, &plan);
        if (plan.changed == 0) {
            continue;
        }
        const uint32_t before = own != NULL ? chunk_page_count(own) : 0;
        const uint32_t after = chunk_pages_for(plan.kind_count, plan.solid_count);
        need.page_count += after > before ? after - before : 0;
        need.chunk_count += own == NULL;
        need.changed += plan.changed;
        need.version_is_spent |= own != NULL && own->version == UINT32_MAX;
    }
    return need;
}

static Chunk *target_insert(const Target *target, uint32_t key)
{
    if (target->terrain != NULL) {
        return terrain_own_insert(target->terrain, key);
    }
    Chunk *chunk = chunk_table_insert(target->table, key);
    chunk_store_added(target->store, chunk);
    return chunk;
}

static void edit_commit(const Target *target, const Brush *brush)
{
    Walk walk = walk_begin(target, brush);
    ChunkCoord at;
    ChunkRegion region;
    ChunkPlan plan;
    while (walk_next(&walk, target, &at)) {
        Chunk *own = chunk_table_find(target->table, chunk_key(at));
        const Chunk *source = target_source(target, at, own);
        brush_region(brush, at, &region);
        chunk_plan(source, target->kinds, &region, brush->kind, &plan);
        if (plan.changed == 0) {
            continue;
        }
        if (own == NULL) {
            own = target_insert(target, chunk_key(at));
        }
        chunk_paint(own, source == &chunk_air ? own : source, &target->table->pool, target->kinds,
                    &region, brush->kind, &plan);
        own->version += target->terrain != NULL;
    }
}

static bool room_suffices(const Terrain *terrain, const Need *need)
{
    return terrain == NULL || !terrain->has_room ||
           (need->chunk_count <= terrain->chunk_room && need->page_count <= terrain->page_room);
}

static Status edit_run(const Target *target, const Brush *brush, uint32_t *changed)
{
    Need need = {0};
    if (!brush_is_empty(brush)) {
        const Walk walk = walk_begin(target, brush);
        if (!walk.is_existing_only && target->terrain == NULL &&
            walk_chunk_count(&walk) > target->table->chunk_max) {
            return STATUS_LIMIT; // each of them would have to exist
        }
        need = edit_need(target, brush);
        if (need.version_is_spent || need.page_count > chunk_pool_left(&target->table->pool) ||
            need.chunk_count > target->table->chunk_max - target->table->chunk_count ||
            !room_suffices(target->terrain, &need)) {
            return STATUS_LIMIT;
        }
    }
    if (need.changed != 0) {
        edit_commit(target, brush);
    }
    *changed = need.changed;
    return STATUS_OK;
}

// --- a store ------------------------------------------------------------------------------------

static Status store_edit(ChunkStore *store, const Brush *brush)
{
    const Target target = {.store = store, .table = &store->table, .kinds = &store->kinds};
    uint32_t changed;
    return edit_run(&target, brush, &changed);
}

Status chunk_store_set(ChunkStore *store, VoxelCoord at, VoxelKind kind)
{
    if (!voxel_is_inside(at)) {
        return STATUS_RANGE;
    }
    return chunk_store_fill(store, at, at, kind);
}

Status chunk_store_fill(ChunkStore *store, VoxelCoord min, VoxelCoord max, VoxelKind kind)
{
    if (kind >= store->kinds.count || min.x > max.x || min.y > max.y || min.z > max.z) {
        return STATUS_RANGE;
    }
    const Brush brush = brush_box(min, max, kind);
    return store_edit(store, &brush);
}

// --- a terrain ----------------------------------------------------------------------------------

static Status terrain_edit(Terrain *terrain, const Brush *brush, uint32_t *changed_out)
{
    const Target target = {.terrain = terrain, .table = &terrain->own, .kinds = &terrain->kinds};
    uint32_t changed = 0;
    const Status status = edit_run(&target, brush, &changed);
    if (status != STATUS_OK) {
        terrain->limit_count += 1;
        return status;
    }
    terrain->edit_count += changed != 0;
    if (changed_out != NULL) {
        *changed_out = changed;
    }
    return STATUS_OK;
}

Status terrain_set(Terrain *terrain, VoxelCoord at, VoxelKind kind, uint32_t *changed)
{
    if (!voxel_is_inside(at)) {
        return STATUS_RANGE;
    }
    return terrain_fill_box(terrain, at, at, kind, changed);
}

static bool edge_is_allowed(int32_t min, int32_t max)
{
    return min <= max && (int64_t)max - min < VOXEL_EDIT_BOX_EDGE_MAX;
}

Status terrain_fill_box(Terrain *terrain, VoxelCoord min, VoxelCoord max, VoxelKind kind,
                        uint32_t *changed)
{
    if (kind >= terrain->kinds.count || !edge_is_allowed(min.x, max.x) ||
        !edge_is_allowed(min.y, max.y) || !edge_is_allowed(min.z, max.z)) {
        return STATUS_RANGE;
    }
    const Brush brush = brush_box(min, max, kind);
    return terrain_edit(terrain, &brush, changed);
}

Status terrain_fill_sphere(Terrain *terrain, Vec3 centre, float radius, VoxelKind kind,
                           uint32_t *changed)
{
    // Written so that a radius that is no number fails too.
    if (kind >= terrain->kinds.count || !vec3_is_finite(centre) ||
        !(radius >= 0 && radius <= VOXEL_EDIT_SPHERE_RADIUS_MAX)) {
        return STATUS_RANGE;
    }
    const Brush brush = brush_sphere(centre, radius, kind);
    return terrain_edit(terrain, &brush, changed);
}

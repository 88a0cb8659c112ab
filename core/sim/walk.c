// Standing and stepping. Everything is decided from one strip of voxel bits per column and the
// shapes collected around the place; where there are no shapes, which is most of a voxel world, a
// step costs a handful of shifts.
//
// Parts are tested with the capsule lifted off the floor by the step height: what is lower than
// that, the character simply walks up, and the floor itself must not count as an obstacle. Parts
// that hurt are not to be touched at all, not even with the soles.
#include "core/sim/walk.h"

#include "core/sim/sim_internal.h"

#define EPSILON_M    1e-3f // floors this little below a whole metre belong to the cell above
#define LIFT_MIN_M   0.05f
#define TOUCH_M      0.01f // shapes may reach this deep into the capsule
#define HURT_M       0.02f // those that hurt must be this far away
#define FEET_SLACK_M 0.6f  // a floor this much above the feet may still be the one they are on
#define SAMPLE_M     0.5f  // between two looks along a line
#define SLOTS_MAX    256

// One square metre of the world: bit i of `bits` is the voxel at y + i (above its end everything
// counts as free), bit i of `shapes` says that shape i of the area may reach into it.
typedef struct Column {
    int32_t x, y, z;
    uint64_t bits;
    uint64_t shapes;
} Column;

_Static_assert(WALK_SHAPES_MAX <= 64, "a column has one bit for each shape");

static void tuning_take(WalkArea *area)
{
    const CharacterTuning *tuning = &area->sim->config.character;
    area->radius = tuning->radius;
    area->height = tuning->height;
    area->step = tuning->step_height;
    area->slope_cos = tuning->slope_cos;
    const float jump_m = tuning->gravity > 0
                             ? tuning->jump_speed * tuning->jump_speed / (2 * tuning->gravity)
                             : WALK_RISE_M;
    area->rise = jump_m >= WALK_RISE_M ? WALK_RISE_M : math_min(area->step, WALK_RISE_M);
}

static void area_add(WalkArea *area, const PlacedShape *shape, uint32_t flags)
{
    if ((flags & PART_GHOST) != 0 && (flags & PART_DAMAGE) == 0) {
        return;
    }
    if (area->count == WALK_SHAPES_MAX) {
        area->overflow = true;
        return;
    }
    area->shapes[area->count] = shape;
    area->hurts[area->count] = (flags & PART_DAMAGE) != 0;
    area->count += 1;
}

static void area_add_scene(WalkArea *area, Aabb box)
{
    const Sim *sim = area->sim;
    if (sim->scene == NULL || scene_part_count(sim->scene) == 0) {
        return;
    }
    uint32_t indices[SLOTS_MAX];
    uint32_t count = scene_query(sim->scene, box, indices, SLOTS_MAX, sim->grid.work);
    if (count > SLOTS_MAX) {
        area->overflow = true;
        count = SLOTS_MAX;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!sim_part_is_hidden(sim, indices[i])) {
            const ScenePart *part = scene_part(sim->scene, indices[i]);
            area_add(area, &part->placed, part->desc.data.flags);
        }
    }
}

static void area_add_entities(WalkArea *area, Aabb box)
{
    const Sim *sim = area->sim;
    if (sim->type_counts[ENTITY_PART] + sim->type_counts[ENTITY_STRUCTURE] == 0) {
        return;
    }
    uint32_t slots[SLOTS_MAX];
    uint32_t count = grid_query(&sim->grid, box, GRID_MASK(GRID_SHAPES), slots, SLOTS_MAX);
    if (count > SLOTS_MAX) {
        area->overflow = true;
        count = SLOTS_MAX;
    }
    for (uint32_t i = 0; i < count; i++) {
        const Entity *entity = sim_at(sim, slots[i]);
        if (entity->type == ENTITY_PART || entity->type == ENTITY_STRUCTURE) {
            area_add(area, &entity->part.placed, entity->part.data.flags);
        }
    }
}

static void area_collect(WalkArea *area, Sim *sim, Aabb box)
{
    area->sim = sim;
    area->count = 0;
    area->overflow = false;
    area->bounds = (Aabb){{-WORLD_EXTENT_M, -WORLD_EXTENT_M, -WORLD_EXTENT_M},
                          {WORLD_EXTENT_M, WORLD_EXTENT_M, WORLD_EXTENT_M}};
    if (sim->scene != NULL) {
        const Aabb scene = scene_bounds(sim->scene);
        area->bounds.min = vec3_max(area->bounds.min, scene.min);
        area->bounds.max = vec3_min(area->bounds.max, scene.max);
    }
    tuning_take(area);
    area_add_scene(area, box);
    area_add_entities(area, box);
    sim->counters.query_overflow += area->overflow;
}

void walk_area_around(WalkArea *area, Sim *sim, Vec3 centre)
{
    const float above = WALK_RISE_M + sim->config.character.height;
    const float below = WALK_DROP_M + 1;
    area_collect(area, sim,
                 (Aabb){{centre.x - 1.5f, centre.y - below, centre.z - 1.5f},
                        {centre.x + 1.5f, centre.y + above, centre.z + 1.5f}});
}

Vec3 walk_feet(WalkSpot spot)
{
    return vec3((float)spot.cell.x + 0.5f, spot.height, (float)spot.cell.z + 0.5f);
}

// --- columns ------------------------------------------------------------------------------------
static uint64_t column_shapes(const WalkArea *area, int32_t x, int32_t z)
{
    const float reach = math_max(area->radius, 0.5f);
    const float min_x = (float)x + 0.5f - reach;
    const float max_x = (float)x + 0.5f + reach;
    const float min_z = (float)z + 0.5f - reach;
    const float max_z = (float)z + 0.5f + reach;
    uint64_t shapes = 0;
    for (uint32_t i = 0; i < area->count; i++) {
        const Aabb *bounds = &area->shapes[i]->bounds;
        const bool reaches = bounds->min.x <= max_x && bounds->max.x >= min_x &&
                             bounds->min.z <= max_z && bounds->max.z >= min_z;
        shapes |= (uint64_t)reaches << i;
    }
    return shapes;
}

static inline Column column_read(const WalkArea *area, int32_t x, int32_t z, int32_t low,
                                 int32_t high)
{
    ASSERT(high >= low);
    const uint32_t count = (uint32_t)(high - low) < 64 ? (uint32_t)(high - low) + 1 : 64;
    return (Column){x, low, z, terrain_column(area->sim->terrain, x, z, low, count),
                    area->count != 0 ? column_shapes(area, x, z) : 0};
}

static inline bool column_is_solid(const Column *column, int32_t y)
{
    ASSERT(y >= column->y);
    return y - column->y < 64 && (column->bits >> (uint32_t)(y - column->y) & 1) != 0;
}

// The last voxel that a character with its feet at `height` reaches into.
static inline int32_t head_cell(const WalkArea *area, float height)
{
    return math_floor_i32(height + area->height - EPSILON_M);
}

static inline bool column_is_free(const Column *column, int32_t low, int32_t high)
{
    ASSERT(low >= column->y);
    if (high < low || low - column->y > 63) {
        return true;
    }
    const uint32_t count = (uint32_t)(high - low) + 1;
    const uint64_t wanted = count < 64 ? (1ull << count) - 1 : ~0ull;
    return (column->bits >> (uint32_t)(low - column->y) & wanted) == 0;
}

// The cells from low to high (at most 60 of them) that may have a floor, as bits like the column's.
// Without shapes, that is where a free voxel stands on a solid one.
static inline uint64_t column_levels(const Column *column, int32_t low, int32_t high)
{
    ASSERT(low > column->y);
    ASSERT(high - column->y < 62);
    const uint64_t floors = column->shapes != 0 ? ~0ull : column->bits << 1 & ~column->bits;
    const uint64_t from_low = ~0ull << (uint32_t)(low - column->y);
    const uint64_t above_high = ~0ull << (uint32_t)(high - column->y + 1);
    return floors & from_low & ~above_high;
}

// Takes the highest level out of the set.
static inline int32_t levels_pop(const Column *column, uint64_t *levels)
{
    const uint32_t bit = 63 - (uint32_t)__builtin_clzll(*levels);
    *levels &= ~(1ull << bit);
    return column->y + (int32_t)bit;
}

// --- shapes -------------------------------------------------------------------------------------
static Capsule lifted_capsule(const WalkArea *area, Vec3 feet)
{
    Capsule capsule = sim_capsule(area->sim, feet);
    const float lift = math_max(area->step, LIFT_MIN_M);
    const float top = capsule.base.y + capsule.height;
    capsule.base.y = math_min(capsule.base.y + lift, top);
    capsule.height = top - capsule.base.y;
    return capsule;
}

static bool shapes_touch(const WalkArea *area, uint64_t shapes, Vec3 feet)
{
    if (shapes == 0) {
        return false;
    }
    const Capsule whole = sim_capsule(area->sim, feet);
    const Capsule lifted = lifted_capsule(area, feet);
    const Aabb bounds = aabb_grow(capsule_bounds(whole), HURT_M);
    for (; shapes != 0; shapes &= shapes - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(shapes);
        const PlacedShape *shape = area->shapes[i];
        if (aabb_overlaps(shape->bounds, bounds) &&
            (area->hurts[i] ? shape_capsule_contact(shape, whole).distance < HURT_M
                            : shape_capsule_contact(shape, lifted).distance < -TOUCH_M)) {
            return true;
        }
    }
    return false;
}

static bool shapes_stop(const WalkArea *area, uint64_t shapes, Vec3 from, Vec3 to)
{
    if (shapes == 0 || vec3_equal(from, to)) {
        return false;
    }
    const Capsule whole = sim_capsule(area->sim, from);
    Capsule lifted = lifted_capsule(area, from);
    lifted.radius = math_max(lifted.radius - TOUCH_M, 0);
    const Vec3 motion = vec3_sub(to, from);
    Capsule end = whole;
    end.base = vec3_add(end.base, motion);
    const Aabb bounds = aabb_union(capsule_bounds(whole), capsule_bounds(end));
    for (; shapes != 0; shapes &= shapes - 1) {
        const uint32_t i = (uint32_t)__builtin_ctzll(shapes);
        ShapeHit hit;
        if (aabb_overlaps(area->shapes[i]->bounds, bounds) &&
            shape_sweep(area->shapes[i], area->hurts[i] ? whole : lifted, motion, &hit)) {
            return true;
        }
    }
    return false;
}

// The highest floor that one shape offers in a cell; false if there is none.
static bool shape_floor(const WalkArea *area, uint32_t i, Vec3 cell_top, float *height)
{
    const Aabb bounds = area->shapes[i]->bounds;
    ShapeHit hit;
    if (bounds.min.y > cell_top.y || bounds.max.y < cell_top.y - 1 ||
        !shape_ray(area->shapes[i], cell_top, vec3(0, -1, 0), 1, &hit) || hit.distance <= 0 ||
        hit.normal.y < area->slope_cos) {
        return false;
    }
    *height = cell_top.y - hit.distance;
    return true;
}

// Raises *height to the highest floor that the column's shapes offer in the cell.
static bool shapes_floor(const WalkArea *area, const Column *column, int32_t y, bool found,
                         float *height)
{
    const Vec3 top =
        vec3((float)column->x + 0.5f, (float)(y + 1) - EPSILON_M, (float)column->z + 0.5f);
    for (uint64_t shapes = column->shapes; shapes != 0; shapes &= shapes - 1) {
        float floor_y;
        if (shape_floor(area, (uint32_t)__builtin_ctzll(shapes), top, &floor_y) &&
            (!found || floor_y > *height)) {
            *height = floor_y;
            found = true;
        }
    }
    return found;
}

// --- spots --------------------------------------------------------------------------------------
// True if a character can stand in this cell. The column must reach one voxel below it, and above
// it as far as a head can.
static bool spot_make(const WalkArea *area, const Column *column, int32_t y, WalkSpot *out)
{
    if (column_is_solid(column, y)) {
        return false;
    }
    float height = (float)y;
    const bool on_voxel = column_is_solid(column, y - 1);
    if (!shapes_floor(area, column, y, on_voxel, &height) ||
        !column_is_free(column, y + 1, head_cell(area, height))) {
        return false;
    }
    const WalkSpot spot = {{column->x, y, column->z}, height};
    const Vec3 feet = walk_feet(spot);
    if (!aabb_contains(area->bounds, feet) || shapes_touch(area, column->shapes, feet)) {
        return false;
    }
    *out = spot;
    return true;
}

// --- steps --------------------------------------------------------------------------------------
static const int8_t step_dx[WALK_STEPS] = {1, -1, 0, 0, 1, 1, -1, -1};
static const int8_t step_dz[WALK_STEPS] = {0, 0, 1, -1, 1, -1, 1, -1};

// What is the same for all steps from one spot.
typedef struct Stride {
    const WalkArea *area;
    WalkSpot from;
    Column here;
    int32_t low, high;           // cells that a step may lead to
    int32_t bits_low, bits_high; // voxels that decide about them
} Stride;

static Stride stride_from(const WalkArea *area, WalkSpot from)
{
    Stride stride = {.area = area, .from = from};
    stride.low = math_floor_i32(from.height - WALK_DROP_M + EPSILON_M);
    stride.high = math_floor_i32(from.height + area->rise + EPSILON_M);
    stride.bits_low = stride.low - 1;
    stride.bits_high = head_cell(area, (float)(stride.high + 1));
    stride.here = column_read(area, from.cell.x, from.cell.z, stride.bits_low, stride.bits_high);
    return stride;
}

// Up, across at the higher of the two floors, down. `beside` are the shapes of the columns that a
// diagonal step brushes.
static bool stride_is_free(const Stride *stride, const Column *there, uint64_t beside, WalkSpot to)
{
    const WalkArea *area = stride->area;
    const WalkSpot from = stride->from;
    const float upper = math_max(from.height, to.height);
    const int32_t head = head_cell(area, upper);
    if (!column_is_free(&stride->here, from.cell.y, head) ||
        !column_is_free(there, to.cell.y, head)) {
        return false;
    }
    const uint64_t across = stride->here.shapes | there->shapes | beside;
    if (across == 0) {
        return true; // a world of voxels
    }
    const Vec3 a = walk_feet(from);
    const Vec3 b = walk_feet(to);
    const Vec3 a_upper = {a.x, upper, a.z};
    const Vec3 b_upper = {b.x, upper, b.z};
    return !shapes_stop(area, stride->here.shapes, a, a_upper) &&
           !shapes_stop(area, across, a_upper, b_upper) &&
           !shapes_stop(area, there->shapes, b_upper, b);
}

static bool stride_to(const Stride *stride, const Column *there, uint64_t beside, WalkSpot *out)
{
    const WalkSpot from = stride->from;
    uint64_t levels = column_levels(there, stride->low, stride->high);
    while (levels != 0) {
        WalkSpot to;
        if (spot_make(stride->area, there, levels_pop(there, &levels), &to) &&
            to.height - from.height <= stride->area->rise &&
            from.height - to.height <= WALK_DROP_M && stride_is_free(stride, there, beside, to)) {
            *out = to;
            return true;
        }
    }
    return false;
}

bool walk_is_level(const WalkArea *area, float from, float to)
{
    return math_abs(to - from) <= math_max(area->step, WALK_LEVEL_MIN_M);
}

uint32_t walk_steps(const WalkArea *area, WalkSpot from, WalkSpot out[WALK_STEPS])
{
    const Stride stride = stride_from(area, from);
    uint64_t shapes[WALK_DIAGONALS] = {0, 0, 0, 0}; // of the columns of the straight steps
    uint32_t can = 0;
    uint32_t level = 0;
    for (uint32_t i = 0; i < WALK_STEPS; i++) {
        const uint32_t along_x = step_dx[i] > 0 ? 0 : 1;
        const uint32_t along_z = step_dz[i] > 0 ? 2 : 3;
        const bool diagonal = i >= WALK_DIAGONALS;
        if (diagonal && (level >> along_x & level >> along_z & 1) == 0) {
            continue;
        }
        const Column there = column_read(area, from.cell.x + step_dx[i], from.cell.z + step_dz[i],
                                         stride.bits_low, stride.bits_high);
        if (!diagonal) {
            shapes[i] = there.shapes;
        }
        const uint64_t beside = diagonal ? shapes[along_x] | shapes[along_z] : 0;
        if (!stride_to(&stride, &there, beside, &out[i])) {
            continue;
        }
        const uint32_t is_level = walk_is_level(area, from.height, out[i].height);
        level |= is_level << i;
        can |= (diagonal ? is_level : 1u) << i;
    }
    return can;
}

// The highest spot of a column that feet at this height may be on, or above.
static bool column_find(const WalkArea *area, int32_t x, int32_t z, float feet_y, WalkSpot *out)
{
    const float top = feet_y + FEET_SLACK_M;
    const int32_t high = math_floor_i32(top);
    const int32_t low = math_floor_i32(feet_y - WALK_DROP_M);
    const Column column = column_read(area, x, z, low - 1, head_cell(area, (float)(high + 1)));
    uint64_t levels = column_levels(&column, low, high);
    while (levels != 0) {
        WalkSpot spot;
        if (spot_make(area, &column, levels_pop(&column, &levels), &spot) && spot.height <= top) {
            *out = spot;
            return true;
        }
    }
    return false;
}

bool walk_find(Sim *sim, Vec3 feet, WalkSpot *out)
{
    if (!vec3_is_finite(feet) || math_abs(feet.x) > WORLD_EXTENT_M ||
        math_abs(feet.y) > WORLD_EXTENT_M || math_abs(feet.z) > WORLD_EXTENT_M) {
        return false;
    }
    const VoxelCoord cell = voxel_at(feet);
    WalkArea area;
    walk_area_around(&area, sim, vec3((float)cell.x + 0.5f, feet.y, (float)cell.z + 0.5f));
    if (column_find(&area, cell.x, cell.z, feet.y, out)) {
        return true;
    }
    float best = 0;
    bool found = false;
    for (int32_t i = 0; i < 9; i++) {
        WalkSpot spot;
        if (i == 4 || !column_find(&area, cell.x + i % 3 - 1, cell.z + i / 3 - 1, feet.y, &spot)) {
            continue;
        }
        const float distance = vec3_length_squared(vec3_sub(walk_feet(spot), feet));
        if (!found || distance < best) {
            found = true;
            best = distance;
            *out = spot;
        }
    }
    return found;
}

// --- lines --------------------------------------------------------------------------------------
// Follows the floor to a point of the line; *height is the floor before and after.
static bool line_floor(const WalkArea *area, float x, float z, float *height)
{
    const float level = math_max(area->step, WALK_LEVEL_MIN_M);
    const int32_t low = math_floor_i32(*height - level);
    const int32_t high = math_floor_i32(*height + level + EPSILON_M);
    const Column column = column_read(area, math_floor_i32(x), math_floor_i32(z), low - 1,
                                      head_cell(area, (float)(high + 1)));
    uint64_t levels = column_levels(&column, low, high);
    while (levels != 0) {
        WalkSpot spot;
        if (spot_make(area, &column, levels_pop(&column, &levels), &spot) &&
            walk_is_level(area, *height, spot.height)) {
            *height = spot.height;
            return true;
        }
    }
    return false;
}

static uint64_t shapes_all(const WalkArea *area)
{
    return area->count == 64 ? ~0ull : (1ull << area->count) - 1;
}

bool walk_line(Sim *sim, Vec3 from, Vec3 to, bool wide)
{
    const Vec3 flat = {to.x - from.x, 0, to.z - from.z};
    const float length = vec3_length(flat);
    if (!(length <= WALK_LINE_MAX_M) || !vec3_is_finite(from) ||
        math_abs(to.y - from.y) > WALK_LINE_MAX_M ||
        vec3_length_squared(from) > (float)WORLD_EXTENT_M * WORLD_EXTENT_M) {
        return false;
    }
    WalkArea area;
    const Aabb box = {vec3_min(from, to), vec3_max(from, to)};
    area_collect(&area, sim, aabb_grow(box, sim->config.character.height + 1));
    if (area.overflow) {
        return false;
    }
    const uint32_t sample_count = (uint32_t)math_floor_i32(length / SAMPLE_M) + 1;
    const Vec3 side = vec3_scale(vec3_normalise(vec3(flat.z, 0, -flat.x)), area.radius);
    float heights[3] = {from.y, from.y, from.y};
    for (uint32_t i = 0; i <= sample_count; i++) {
        const Vec3 at = vec3_mad(from, flat, (float)i / (float)sample_count);
        if (!line_floor(&area, at.x, at.z, &heights[0])) {
            return false;
        }
        if (wide && (!line_floor(&area, at.x + side.x, at.z + side.z, &heights[1]) ||
                     !line_floor(&area, at.x - side.x, at.z - side.z, &heights[2]))) {
            return false;
        }
    }
    return walk_is_level(&area, heights[0], to.y) &&
           !shapes_stop(&area, shapes_all(&area), from, vec3(to.x, heights[0], to.z));
}

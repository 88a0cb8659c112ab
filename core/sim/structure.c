// Structures are entities with a box; the grid finds them, and this file keeps only what the grid
// does not know: how many each owner has, and which supports are still to be worked out.
//
// Support is the distance from the ground, counted in pieces. Each stale piece asks its neighbours;
// if its number changes, they become stale. Without ground the numbers of a group can only rise,
// one asking the other, until they pass the maximum: then the piece is unsupported. Where the
// numbers have settled they are the true distances, whatever the order of the updates was; so
// nothing collapses before that, and a piece that collapses changes nobody else's number.
#include "core/sim/structure.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/limits.h"
#include "core/sim/nearby.h"
#include "core/sim/overlap.h"

#include <string.h>

#define UNSUPPORTED (STRUCTURE_SUPPORT_MAX + 1)
_Static_assert((int)STRUCTURE_CELL_M == 1, "a cell is a voxel: terrain is asked by cell");
_Static_assert(STRUCTURE_CATALOGUE_MAX <= UINT16_MAX, "Part.piece");

typedef struct OwnerCount {
    uint64_t owner_id;
    uint32_t count; // 0: this place of the table is empty
} OwnerCount;

struct Structures {
    OwnerCount *owners; // open addressing, at most half full
    uint32_t owner_mask;
    uint32_t word_count;   // of the two masks below, one bit a slot
    uint64_t *stale;       // Part.support_stale
    uint64_t *unsupported; // Part.support == UNSUPPORTED
    uint32_t stale_count;
    uint32_t unsupported_count;
    StructureEnd ending; // why structure_forget is called, if not for lack of health

    // After a change of terrain or anchored parts every structure is looked at once, so many a
    // tick. A change meanwhile begins a new lap from where this one is.
    uint32_t ground_at;   // next slot
    uint32_t ground_left; // slots of the lap
    uint32_t edits_seen;
    uint32_t hidden_seen;
    uint32_t settling_ticks; // for how long supports have been stale somewhere
};

typedef struct Cells {
    int32_t min[3];
    int32_t max[3]; // exclusive
} Cells;

// --- memory -------------------------------------------------------------------------------------

static uint32_t owner_table_size(const SimConfig *config)
{
    uint32_t size = 4;
    while (size < 2 * config->structures_max) {
        size *= 2;
    }
    return size;
}

static uint32_t mask_words(const SimConfig *config)
{
    return config->entity_max / 64 + 1; // slots are 1..entity_max
}

size_t structure_bytes(const SimConfig *config)
{
    return arena_need(sizeof(Structures)) +
           arena_need((size_t)owner_table_size(config) * sizeof(OwnerCount)) +
           2 * arena_need((size_t)mask_words(config) * sizeof(uint64_t));
}

Status structure_init(Arena *arena, const SimConfig *config, Structures **out)
{
    ASSERT(config->structures_max <= WORLD_ENTITIES_MAX);
    const size_t mark = arena_mark(arena);
    Structures *made = arena_alloc(arena, sizeof *made);
    OwnerCount *owners = arena_array(arena, owner_table_size(config), sizeof(OwnerCount));
    uint64_t *stale = arena_array(arena, mask_words(config), sizeof(uint64_t));
    uint64_t *unsupported = arena_array(arena, mask_words(config), sizeof(uint64_t));
    if (made == NULL || owners == NULL || stale == NULL || unsupported == NULL) {
        arena_rewind(arena, mark);
        return STATUS_LIMIT;
    }
    *made = (Structures){.owners = owners,
                         .owner_mask = owner_table_size(config) - 1,
                         .word_count = mask_words(config),
                         .stale = stale,
                         .unsupported = unsupported,
                         .ground_at = 1};
    *out = made;
    return STATUS_OK;
}

static void clear_index(Structures *all)
{
    memset(all->owners, 0, ((size_t)all->owner_mask + 1) * sizeof *all->owners);
    memset(all->stale, 0, (size_t)all->word_count * sizeof *all->stale);
    memset(all->unsupported, 0, (size_t)all->word_count * sizeof *all->unsupported);
    all->stale_count = 0;
    all->unsupported_count = 0;
    all->ending = STRUCTURE_REMOVED;
}

void structure_clear(Sim *sim)
{
    Structures *all = sim->structures;
    clear_index(all);
    all->ground_at = 1;
    all->ground_left = 0;
    all->settling_ticks = 0;
    all->edits_seen = terrain_edit_count(sim->terrain);
    all->hidden_seen = sim->hidden_count;
}

// --- how many an owner has ----------------------------------------------------------------------

// The owner's place, or the empty one where it would be put.
static uint32_t owner_place(const Structures *all, uint64_t owner_id)
{
    uint32_t at = (uint32_t)hash_mix(owner_id) & all->owner_mask;
    while (all->owners[at].count != 0 && all->owners[at].owner_id != owner_id) {
        at = (at + 1) & all->owner_mask;
    }
    return at;
}

static uint32_t owner_count(const Structures *all, uint64_t owner_id)
{
    return all->owners[owner_place(all, owner_id)].count;
}

static void owner_add(Structures *all, uint64_t owner_id)
{
    OwnerCount *place = &all->owners[owner_place(all, owner_id)];
    place->owner_id = owner_id;
    place->count += 1;
}

static void owner_drop(Structures *all, uint64_t owner_id)
{
    uint32_t hole = owner_place(all, owner_id);
    ASSERT(all->owners[hole].count > 0);
    all->owners[hole].count -= 1;
    if (all->owners[hole].count != 0) {
        return;
    }
    // Later ones of the same run move up, unless that would put them before their own place.
    for (uint32_t at = (hole + 1) & all->owner_mask; all->owners[at].count != 0;
         at = (at + 1) & all->owner_mask) {
        const uint32_t home = (uint32_t)hash_mix(all->owners[at].owner_id) & all->owner_mask;
        if (((at - home) & all->owner_mask) >= ((at - hole) & all->owner_mask)) {
            all->owners[hole] = all->owners[at];
            all->owners[at].count = 0;
            hole = at;
        }
    }
}

// --- slots with a bit ---------------------------------------------------------------------------

static bool bit_change(uint64_t *mask, uint32_t *count, uint32_t slot, bool on)
{
    const uint64_t bit = 1ull << (slot % 64);
    if (((mask[slot / 64] & bit) != 0) == on) {
        return false;
    }
    mask[slot / 64] ^= bit;
    *count = on ? *count + 1 : *count - 1;
    return true;
}

// The first slot with a bit at or after `from`, or 0.
static uint32_t bit_next(const uint64_t *mask, uint32_t word_count, uint32_t from)
{
    for (uint32_t word = from / 64; word < word_count; word++) {
        const uint64_t bits = word == from / 64 ? mask[word] & (~0ull << (from % 64)) : mask[word];
        if (bits != 0) {
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
        }
    }
    return 0;
}

static void set_stale(Sim *sim, uint32_t slot, bool stale)
{
    Structures *all = sim->structures;
    sim_at(sim, slot)->part.support_stale = stale;
    (void)bit_change(all->stale, &all->stale_count, slot, stale);
}

static void set_support(Sim *sim, uint32_t slot, uint32_t support)
{
    Structures *all = sim->structures;
    ASSERT(support >= 1 && support <= UNSUPPORTED);
    sim_at(sim, slot)->part.support = (uint8_t)support;
    (void)bit_change(all->unsupported, &all->unsupported_count, slot, support == UNSUPPORTED);
}

// --- cells --------------------------------------------------------------------------------------

static Cells cells_of(const PieceDesc *piece, VoxelCoord cell, uint32_t turn)
{
    const bool swapped = turn % 2 == 1;
    return (Cells){{cell.x, cell.y, cell.z},
                   {cell.x + (swapped ? piece->cells_z : piece->cells_x), cell.y + piece->cells_y,
                    cell.z + (swapped ? piece->cells_x : piece->cells_z)}};
}

static Cells cells_of_part(const Sim *sim, const Part *part)
{
    return cells_of(scene_piece(sim->scene, part->piece), part->cell, part->turn);
}

static Aabb cells_box(Cells cells)
{
    return (Aabb){{(float)cells.min[0], (float)cells.min[1], (float)cells.min[2]},
                  {(float)cells.max[0], (float)cells.max[1], (float)cells.max[2]}};
}

static int32_t overlap_along(Cells a, Cells b, uint32_t axis)
{
    const int32_t low = a.min[axis] > b.min[axis] ? a.min[axis] : b.min[axis];
    const int32_t high = a.max[axis] < b.max[axis] ? a.max[axis] : b.max[axis];
    return high - low;
}

static bool cells_overlap(Cells a, Cells b)
{
    return overlap_along(a, b, 0) > 0 && overlap_along(a, b, 1) > 0 && overlap_along(a, b, 2) > 0;
}

// Face to face: they touch along one axis and overlap along the two others.
static bool cells_touch(Cells a, Cells b)
{
    uint32_t touching = 0;
    for (uint32_t axis = 0; axis < 3; axis++) {
        const int32_t overlap = overlap_along(a, b, axis);
        if (overlap < 0) {
            return false;
        }
        touching += overlap == 0;
    }
    return touching == 1;
}

// The piece's cells; STATUS_NOT_FOUND, STATUS_RANGE.
static Status cells_check(const Sim *sim, uint32_t piece, VoxelCoord cell, uint32_t turn,
                          Cells *out)
{
    if (sim->scene == NULL || piece >= scene_piece_count(sim->scene)) {
        return STATUS_NOT_FOUND;
    }
    const int32_t extent = WORLD_EXTENT_M;
    if (turn > 3 || cell.x < -extent || cell.x > extent || cell.y < -extent || cell.y > extent ||
        cell.z < -extent || cell.z > extent) {
        return STATUS_RANGE;
    }
    const Cells cells = cells_of(scene_piece(sim->scene, piece), cell, turn);
    const Aabb box = cells_box(cells);
    const Aabb bounds = sim_bounds(sim);
    if (!aabb_contains(bounds, box.min) || !aabb_contains(bounds, box.max)) {
        return STATUS_RANGE;
    }
    *out = cells;
    return STATUS_OK;
}

// --- overlap ------------------------------------------------------------------------------------

static bool terrain_blocks(const Sim *sim, Cells cells)
{
    const uint32_t rows = (uint32_t)(cells.max[1] - cells.min[1]);
    for (int32_t z = cells.min[2]; z < cells.max[2]; z++) {
        for (int32_t x = cells.min[0]; x < cells.max[0]; x++) {
            if (terrain_column(sim->terrain, x, z, cells.min[1], rows) != 0) {
                return true;
            }
        }
    }
    return false;
}

static bool anchored_blocks(const Sim *sim, Aabb box)
{
    Nearby nearby;
    nearby_parts(&nearby, sim, box);
    uint32_t index = 0;
    for (const ScenePart *part; (part = nearby_next_part(&nearby, sim, &index)) != NULL;) {
        if (aabb_overlaps(part->placed.bounds, box) && overlap_box_shape(box, &part->placed)) {
            return true;
        }
    }
    return false;
}

static bool entity_blocks(const Sim *sim, uint32_t slot, Cells cells, Aabb box)
{
    const Entity *entity = sim_at(sim, slot);
    switch (entity->type) {
    case ENTITY_PLAYER:
    case ENTITY_NPC: {
        const PlacedShape shape = shape_place_box(box.min, box.max);
        const Capsule capsule = sim_capsule(sim, entity->position);
        return entity->character.health > 0 && aabb_overlaps(capsule_bounds(capsule), box) &&
               shape_capsule_contact(&shape, capsule).distance < 0;
    }
    case ENTITY_STRUCTURE:
        return cells_overlap(cells, cells_of_part(sim, &entity->part));
    case ENTITY_PART:
        return (entity->part.data.flags & PART_GHOST) == 0 &&
               aabb_overlaps(entity->part.placed.bounds, box) &&
               overlap_box_shape(box, &entity->part.placed);
    case ENTITY_NONE:
    case ENTITY_PROJECTILE:
    case ENTITY_PROP:
    case ENTITY_TYPE_COUNT:
    default:
        return false;
    }
}

static bool is_blocked(const Sim *sim, Cells cells)
{
    const Aabb box = aabb_grow(cells_box(cells), -STRUCTURE_OVERLAP_M);
    if (terrain_blocks(sim, cells) || anchored_blocks(sim, box)) {
        return true;
    }
    Nearby nearby;
    nearby_entities(&nearby, sim, box);
    for (uint32_t slot; (slot = nearby_next_entity(&nearby, sim)) != 0;) {
        if (entity_blocks(sim, slot, cells, box)) {
            return true;
        }
    }
    return false;
}

// --- support ------------------------------------------------------------------------------------

static bool is_grounded(const Sim *sim, Cells cells)
{
    for (int32_t z = cells.min[2]; z < cells.max[2]; z++) {
        for (int32_t x = cells.min[0]; x < cells.max[0]; x++) {
            if (terrain_column(sim->terrain, x, z, cells.min[1] - 1, 1) != 0) {
                return true;
            }
        }
    }
    // Narrower by what may overlap: a wall that the piece touches does not hold it.
    Aabb under = aabb_grow(cells_box(cells), -STRUCTURE_OVERLAP_M);
    under.max.y = (float)cells.min[1];
    under.min.y = under.max.y - STRUCTURE_GROUND_M;
    return anchored_blocks(sim, under);
}

typedef struct Neighbours {
    Cells cells;
    Nearby nearby;
} Neighbours;

static void neighbours_begin(Neighbours *walk, const Sim *sim, Cells cells)
{
    walk->cells = cells;
    nearby_entities(&walk->nearby, sim, aabb_grow(cells_box(cells), 0.5f));
}

// The next structure that shares a face with the cells, or 0.
static uint32_t neighbours_next(Neighbours *walk, const Sim *sim)
{
    for (uint32_t slot; (slot = nearby_next_entity(&walk->nearby, sim)) != 0;) {
        if (sim_is_type(sim, slot, ENTITY_STRUCTURE) &&
            cells_touch(walk->cells, cells_of_part(sim, &sim_at(sim, slot)->part))) {
            return slot;
        }
    }
    return 0;
}

// 1..STRUCTURE_SUPPORT_MAX, or UNSUPPORTED.
static uint32_t support_of(const Sim *sim, const PieceDesc *piece, Cells cells)
{
    if (is_grounded(sim, cells)) {
        return 1;
    }
    uint32_t least = UNSUPPORTED;
    if ((piece->flags & PIECE_GROUND_ONLY) != 0) {
        return least;
    }
    Neighbours walk;
    neighbours_begin(&walk, sim, cells);
    for (uint32_t slot; (slot = neighbours_next(&walk, sim)) != 0;) {
        const Entity *other = sim_at(sim, slot);
        if (!other->removing && other->part.support < least) {
            least = other->part.support;
        }
    }
    return least < STRUCTURE_SUPPORT_MAX ? least + 1 : UNSUPPORTED;
}

// The same in a sim without authority, which is told what stands but not how far from the ground:
// a search from the piece outwards, one step further in each round. More than WALK_MAX pieces are
// not looked at, so a crowded view may say UNSUPPORTED too early; the authority decides anyway.
#define WALK_MAX 256

typedef struct SupportWalk {
    uint32_t slots[WALK_MAX]; // in the order in which they were met
    uint32_t count;
} SupportWalk;

static void walk_meet(SupportWalk *walk, const Sim *sim, Cells cells)
{
    Neighbours around;
    neighbours_begin(&around, sim, cells);
    for (uint32_t slot; (slot = neighbours_next(&around, sim)) != 0;) {
        bool known = sim_at(sim, slot)->removing || walk->count == WALK_MAX;
        for (uint32_t i = 0; i < walk->count && !known; i++) {
            known = walk->slots[i] == slot;
        }
        if (!known) {
            walk->slots[walk->count++] = slot;
        }
    }
}

static uint32_t support_walked(const Sim *sim, const PieceDesc *piece, Cells cells)
{
    if (is_grounded(sim, cells)) {
        return 1;
    }
    SupportWalk walk = {.count = 0};
    if ((piece->flags & PIECE_GROUND_ONLY) == 0) {
        walk_meet(&walk, sim, cells);
    }
    uint32_t done = 0;
    for (uint32_t support = 2; support <= STRUCTURE_SUPPORT_MAX; support++) {
        const uint32_t end = walk.count;
        for (; done < end; done++) {
            const Part *part = &sim_at(sim, walk.slots[done])->part;
            const Cells other = cells_of_part(sim, part);
            if (is_grounded(sim, other)) {
                return support;
            }
            if ((scene_piece(sim->scene, part->piece)->flags & PIECE_GROUND_ONLY) == 0) {
                walk_meet(&walk, sim, other);
            }
        }
    }
    return UNSUPPORTED;
}

static void neighbours_set_stale(Sim *sim, Cells cells)
{
    Neighbours walk;
    neighbours_begin(&walk, sim, cells);
    for (uint32_t slot; (slot = neighbours_next(&walk, sim)) != 0;) {
        set_stale(sim, slot, true);
    }
}

static void update_support(Sim *sim, uint32_t slot)
{
    const Part *part = &sim_at(sim, slot)->part;
    const Cells cells = cells_of_part(sim, part);
    const uint32_t support = support_of(sim, scene_piece(sim->scene, part->piece), cells);
    set_stale(sim, slot, false);
    if (support != part->support) {
        set_support(sim, slot, support);
        neighbours_set_stale(sim, cells);
    }
}

// --- placing and removing -----------------------------------------------------------------------

static Status check_all(const Sim *sim, const StructureDesc *desc, Cells *cells, uint32_t *support)
{
    const Status status = cells_check(sim, desc->piece, desc->cell, desc->turn, cells);
    if (status != STATUS_OK) {
        return status;
    }
    if (sim->type_counts[ENTITY_STRUCTURE] >= sim->config.structures_max ||
        (desc->owner_id != 0 &&
         owner_count(sim->structures, desc->owner_id) >= sim->config.structures_per_player_max)) {
        return STATUS_LIMIT;
    }
    if (is_blocked(sim, *cells)) {
        return STATUS_BLOCKED;
    }
    const PieceDesc *piece = scene_piece(sim->scene, desc->piece);
    *support =
        sim->config.authority ? support_of(sim, piece, *cells) : support_walked(sim, piece, *cells);
    return *support == UNSUPPORTED ? STATUS_DENIED : STATUS_OK;
}

// The checks of a sim without authority.
static Status check_told(const Sim *sim, const StructureDesc *desc, Cells *cells, uint32_t *support)
{
    const Status status = cells_check(sim, desc->piece, desc->cell, desc->turn, cells);
    if (status != STATUS_OK) {
        return status;
    }
    *support = 1;
    return sim->type_counts[ENTITY_STRUCTURE] >= sim->config.structures_max ? STATUS_LIMIT
                                                                            : STATUS_OK;
}

Aabb structure_box(const Sim *sim, const StructureDesc *desc)
{
    ASSERT(desc->piece < scene_piece_count(sim->scene));
    return cells_box(cells_of(scene_piece(sim->scene, desc->piece), desc->cell, desc->turn));
}

float structure_distance(const Sim *sim, const StructureDesc *desc, Vec3 point)
{
    const Aabb box = structure_box(sim, desc);
    const Vec3 nearest = vec3_min(vec3_max(point, box.min), box.max);
    return vec3_length(vec3_sub(point, nearest));
}

Status structure_check(const Sim *sim, const StructureDesc *desc)
{
    Cells cells;
    uint32_t support = 0;
    return check_all(sim, desc, &cells, &support);
}

// Gives the entity the shape and the pose that follow from its piece, cell and turn.
static void stand(Sim *sim, uint32_t slot, Cells cells)
{
    const Aabb box = cells_box(cells);
    const Vec3 half = vec3_scale(vec3_sub(box.max, box.min), 0.5f);
    const Pose pose = {vec3_add(box.min, half), QUAT_IDENTITY};
    Entity *entity = sim_at(sim, slot);
    Part *part = &entity->part;
    entity->position = pose.position;
    entity->rotation = pose.rotation;
    entity->velocity = VEC3_ZERO;
    part->shape = (Shape){SHAPE_BOX, half};
    part->data = (PartData){.flags = 0};
    part->placed = shape_place_box(box.min, box.max);
    part->pose_previous = pose;
    part->rest = pose;
    part->motion.count = 0;
    part->moving = false;
    sim_place(sim, slot);
}

// Creates the entity; whether it may be there was checked before.
static Status add_structure(Sim *sim, const StructureDesc *desc, Cells cells, uint32_t support,
                            uint32_t *out)
{
    uint32_t slot = 0;
    const Status status = sim_acquire(sim, ENTITY_STRUCTURE, desc->net_id, desc->owner_id, &slot);
    if (status != STATUS_OK) {
        return status;
    }
    Part *part = &sim_at(sim, slot)->part;
    part->piece = (uint16_t)desc->piece;
    part->turn = (uint8_t)desc->turn;
    part->cell = desc->cell;
    part->health = scene_piece(sim->scene, desc->piece)->health;
    stand(sim, slot, cells);
    set_support(sim, slot, support);
    owner_add(sim->structures, desc->owner_id);
    neighbours_set_stale(sim, cells);
    sim->geometry_changed = true;
    *out = slot;
    return STATUS_OK;
}

Status structure_place(Sim *sim, const StructureDesc *desc, Handle *out)
{
    Cells cells;
    uint32_t support = 0;
    uint32_t slot = 0;
    Status status = sim->config.authority ? check_all(sim, desc, &cells, &support)
                                          : check_told(sim, desc, &cells, &support);
    if (status == STATUS_OK) {
        status = add_structure(sim, desc, cells, support, &slot);
    }
    if (status == STATUS_OK) {
        *out = pool_handle(&sim->entities, slot);
    }
    return status;
}

Status structure_restore(Sim *sim, const StructureDesc *desc, Handle *out)
{
    Cells cells;
    uint32_t support = 0;
    uint32_t slot = 0;
    Status status = check_told(sim, desc, &cells, &support);
    if (status == STATUS_OK) {
        status = add_structure(sim, desc, cells, support, &slot);
    }
    if (status == STATUS_OK) {
        set_stale(sim, slot, true);
        *out = pool_handle(&sim->entities, slot);
    }
    return status;
}

Status structure_remove(Sim *sim, Handle structure, uint64_t owner_id)
{
    const Entity *entity = pool_find(&sim->entities, structure);
    if (entity == NULL || entity->type != ENTITY_STRUCTURE) {
        return STATUS_NOT_FOUND;
    }
    if (owner_id != 0 && owner_id != entity->owner_id) {
        return STATUS_DENIED;
    }
    sim_remove(sim, structure);
    return STATUS_OK;
}

float structure_damaged(Sim *sim, uint32_t slot, float amount, uint64_t cause)
{
    Entity *entity = sim_at(sim, slot);
    ASSERT(entity->type == ENTITY_STRUCTURE);
    Part *part = &entity->part;
    if (entity->removing || amount == 0 || !math_is_finite(amount)) {
        return part->health;
    }
    const float full = scene_piece(sim->scene, part->piece)->health;
    part->health = math_clamp(part->health - amount, 0, full);
    sim_emit(sim, (SimEvent){.type = SIM_EVENT_DAMAGED,
                             .subject = entity->net_id,
                             .other = cause,
                             .position = entity->position,
                             .value = amount});
    if (part->health == 0) {
        sim_remove(sim, pool_handle(&sim->entities, slot));
    }
    return part->health;
}

void structure_forget(Sim *sim, uint32_t slot)
{
    Structures *all = sim->structures;
    const Entity *entity = sim_at(sim, slot);
    ASSERT(entity->type == ENTITY_STRUCTURE);
    const Cells cells = cells_of_part(sim, &entity->part);
    neighbours_set_stale(sim, cells);
    (void)bit_change(all->stale, &all->stale_count, slot, false);
    (void)bit_change(all->unsupported, &all->unsupported_count, slot, false);
    owner_drop(all, entity->owner_id);
    const StructureEnd end = entity->part.health > 0 ? all->ending : STRUCTURE_DESTROYED;
    sim_emit(sim, (SimEvent){.type = SIM_EVENT_STRUCTURE_REMOVED,
                             .detail = end,
                             .subject = entity->net_id,
                             .position = entity->position});
}

// --- the step -----------------------------------------------------------------------------------

static bool ground_changed(const Sim *sim)
{
    const Structures *all = sim->structures;
    return all->edits_seen != terrain_edit_count(sim->terrain) ||
           all->hidden_seen != sim->hidden_count;
}

// Checks the next structures of the lap: those that gained or lost the ground become stale.
static void check_ground(Sim *sim)
{
    Structures *all = sim->structures;
    const uint32_t slot_count = sim->entities.slot_count;
    const uint64_t since = sim_work(sim);
    for (uint32_t i = 0; i < STRUCTURE_GROUND_CHECKS && all->ground_left > 0 &&
                         sim_work(sim) - since < STRUCTURE_STEPS_MAX;
         i++) {
        const uint32_t slot = sim_next_slot(sim, ENTITY_STRUCTURE, all->ground_at);
        const uint32_t passed = (slot != 0 ? slot + 1 : slot_count) - all->ground_at;
        all->ground_left = all->ground_left > passed ? all->ground_left - passed : 0;
        all->ground_at = slot != 0 && slot + 1 < slot_count ? slot + 1 : 1;
        if (slot != 0) {
            const Part *part = &sim_at(sim, slot)->part;
            if (is_grounded(sim, cells_of_part(sim, part)) != (part->support == 1)) {
                set_stale(sim, slot, true);
            }
        }
    }
}

static void update_supports(Sim *sim)
{
    Structures *all = sim->structures;
    uint32_t slot = 0;
    const uint64_t since = sim_work(sim);
    for (uint32_t i = 0; i < STRUCTURE_SUPPORT_UPDATES && all->stale_count > 0 &&
                         sim_work(sim) - since < STRUCTURE_STEPS_MAX;
         i++) {
        slot = bit_next(all->stale, all->word_count, slot + 1);
        if (slot == 0) {
            slot = bit_next(all->stale, all->word_count, 1);
        }
        const uint64_t before = sim_work(sim);
        update_support(sim, slot);
        work_charge(sim, sim_at(sim, slot)->maker, before);
    }
    all->settling_ticks = all->stale_count > 0 ? all->settling_ticks + 1 : 0;
}

static void collapse_unsupported(Sim *sim)
{
    Structures *all = sim->structures;
    if (all->stale_count > 0 && all->settling_ticks <= STRUCTURE_SETTLE_TICKS) {
        return;
    }
    all->ending = STRUCTURE_COLLAPSED;
    for (uint32_t i = 0; i < STRUCTURE_COLLAPSES && all->unsupported_count > 0; i++) {
        sim_release(sim, bit_next(all->unsupported, all->word_count, 1));
    }
    all->ending = STRUCTURE_REMOVED;
}

void structure_step(Sim *sim)
{
    Structures *all = sim->structures;
    if (!sim->config.authority) {
        return;
    }
    if (ground_changed(sim)) {
        all->edits_seen = terrain_edit_count(sim->terrain);
        all->hidden_seen = sim->hidden_count;
        all->ground_left = sim->entities.slot_count;
    }
    check_ground(sim);
    update_supports(sim);
    collapse_unsupported(sim);
}

// --- state --------------------------------------------------------------------------------------

void structure_visit(Sim *sim, Part *part, StateIo *io)
{
    state_u16(io, &part->piece, STRUCTURE_CATALOGUE_MAX);
    state_u8(io, &part->turn, 3);
    state_u8(io, &part->support, UNSUPPORTED);
    state_bool(io, &part->support_stale);
    state_i32(io, &part->cell.x);
    state_i32(io, &part->cell.y);
    state_i32(io, &part->cell.z);
    state_f32(io, &part->health);
    if (io->mode != STATE_READ || !state_ok(io)) {
        return;
    }
    Cells cells;
    const Status status = cells_check(sim, part->piece, part->cell, part->turn, &cells);
    if (status != STATUS_OK || part->support == 0 || !(part->health >= 0) ||
        part->health > scene_piece(sim->scene, part->piece)->health) {
        state_fail(io, STATUS_RANGE);
    }
}

void structure_visit_all(Sim *sim, StateIo *io)
{
    Structures *all = sim->structures;
    // A change that the next step will notice is a lap that the next step will begin.
    uint32_t left = ground_changed(sim) ? sim->entities.slot_count : all->ground_left;
    state_u32(io, &all->ground_at, sim->entities.slot_count - 1);
    state_u32(io, &left, sim->entities.slot_count);
    state_u32(io, &all->settling_ticks, UINT32_MAX);
    if (io->mode == STATE_READ) {
        all->ground_left = left;
        if (all->ground_at == 0) {
            all->ground_at = 1;
            state_fail(io, STATUS_RANGE);
        }
    }
}

Status structure_rebuild(Sim *sim)
{
    Structures *all = sim->structures;
    clear_index(all);
    if (sim->type_counts[ENTITY_STRUCTURE] > sim->config.structures_max) {
        return STATUS_RANGE;
    }
    for (uint32_t i = sim_next_slot(sim, ENTITY_STRUCTURE, 1); i != 0;
         i = sim_next_slot(sim, ENTITY_STRUCTURE, i + 1)) {
        const Entity *entity = sim_at(sim, i);
        stand(sim, i, cells_of_part(sim, &entity->part));
        set_support(sim, i, entity->part.support);
        set_stale(sim, i, entity->part.support_stale);
        owner_add(all, entity->owner_id);
    }
    all->edits_seen = terrain_edit_count(sim->terrain);
    all->hidden_seen = sim->hidden_count;
    return STATUS_OK;
}

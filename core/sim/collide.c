// Collecting colliders and asking the deepest contact; see collide.h.
#include "core/sim/collide.h"

typedef struct RowRange {
    uint32_t first, end; // boxes of the last row along z, candidates for joining
} RowRange;

static void add_box(Sim *sim, Colliders *out, Aabb box)
{
    if (out->box_count == COLLIDE_BOXES_MAX) {
        sim->counters.colliders_dropped += 1;
        return;
    }
    out->boxes[out->box_count++] = box;
}

// Adds the runs of one column, joining a run with the equal run of the column before it.
static void add_column(Sim *sim, Colliders *out, uint32_t row_first, int32_t x, int32_t z,
                       int32_t y0, uint64_t bits)
{
    while (bits != 0) {
        const uint32_t low = (uint32_t)__builtin_ctzll(bits);
        const uint64_t above = ~(bits >> low);
        const uint32_t length = above == 0 ? 64 - low : (uint32_t)__builtin_ctzll(above);
        bits = low + length >= 64 ? 0 : bits & (~0ull << (low + length));
        const float bottom = (float)(y0 + (int32_t)low);
        const float top = (float)(y0 + (int32_t)(low + length));
        bool joined = false;
        for (uint32_t i = row_first; i < out->box_count && !joined; i++) {
            Aabb *box = &out->boxes[i];
            if (box->max.x == (float)x && box->min.y == bottom && box->max.y == top) {
                box->max.x = (float)(x + 1);
                joined = true;
            }
        }
        if (!joined) {
            add_box(sim, out,
                    (Aabb){{(float)x, bottom, (float)z}, {(float)(x + 1), top, (float)(z + 1)}});
        }
    }
}

// Joins the boxes of the row just added with equal ones of the row before.
static RowRange join_rows(Colliders *out, RowRange before, uint32_t row_first, int32_t z)
{
    uint32_t kept = row_first;
    uint32_t joined_count = 0;
    for (uint32_t i = row_first; i < out->box_count; i++) {
        const Aabb box = out->boxes[i];
        bool joined = false;
        for (uint32_t b = before.first; b < before.end && !joined; b++) {
            Aabb *old = &out->boxes[b];
            if (old->max.z == (float)z && old->min.x == box.min.x && old->max.x == box.max.x &&
                old->min.y == box.min.y && old->max.y == box.max.y) {
                old->max.z = box.max.z;
                joined = true;
                joined_count += 1;
            }
        }
        if (!joined) {
            out->boxes[kept++] = box;
        }
    }
    out->box_count = kept;
    return (RowRange){joined_count != 0 ? before.first : row_first, kept};
}

static void gather_terrain(Sim *sim, Aabb region, Colliders *out)
{
    const VoxelCoord min = voxel_at(region.min);
    const VoxelCoord max = voxel_at(region.max);
    const int32_t height = max.y - min.y + 1;
    sim_add_work(sim,
                 (uint64_t)(max.x - min.x + 1) * (uint64_t)(max.z - min.z + 1) * WORK_COLUMN_STEPS);
    RowRange before = {0, 0};
    for (int32_t z = min.z; z <= max.z; z++) {
        const uint32_t row_first = out->box_count;
        for (int32_t x = min.x; x <= max.x; x++) {
            for (int32_t y = min.y; y <= max.y; y += 64) {
                const int32_t left = height - (y - min.y);
                const uint32_t count = left < 64 ? (uint32_t)left : 64;
                const uint64_t bits = terrain_column(sim->terrain, x, z, y, count);
                if (bits != 0) {
                    add_column(sim, out, row_first, x, z, y, bits);
                }
            }
        }
        before = join_rows(out, before, row_first, z);
    }
}

static void add_part(Sim *sim, Colliders *out, const PlacedShape *placed, const PartData *data,
                     Quat rotation, uint64_t net_id, uint32_t slot, bool moving)
{
    const bool ghost = (data->flags & PART_GHOST) != 0;
    const bool zone = (data->flags & PART_TRIGGER) != 0 ||
                      (ghost && (data->flags & (PART_DAMAGE | PART_LADDER)) != 0);
    ColliderPart part = {
        .placed = placed, .data = data, .net_id = net_id, .slot = slot, .moving = moving};
    if ((data->flags & PART_CONVEYOR) != 0) {
        part.conveyor = quat_rotate(rotation, data->conveyor_speed);
    }
    if (zone) {
        if (out->zone_count < COLLIDE_ZONES_MAX) {
            out->zones[out->zone_count++] = part;
        } else {
            sim->counters.colliders_dropped += 1;
        }
    }
    if (!ghost) {
        if (out->part_count < COLLIDE_PARTS_MAX) {
            out->parts[out->part_count++] = part;
            out->any_moving = out->any_moving || moving;
        } else {
            sim->counters.colliders_dropped += 1;
        }
    }
}

static void add_entity(Sim *sim, Colliders *out, uint32_t slot)
{
    const Entity *entity = sim_at(sim, slot);
    if (entity_has_shape(entity)) {
        add_part(sim, out, &entity->part.placed, &entity->part.data, entity->rotation,
                 entity->net_id, slot, entity->part.moving);
    }
}

// More shapes than the list holds: everything is walked, so that a pile of decoration does not hide
// the floor below it.
static void gather_crowded(Sim *sim, Aabb region, Colliders *out)
{
    sim_add_work(sim, (uint64_t)sim->entities.count * GRID_ITEM_STEPS);
    for (uint32_t slot = pool_next(&sim->entities, 1); slot != 0;
         slot = pool_next(&sim->entities, slot + 1)) {
        if (aabb_overlaps(sim->grid.items[slot].bounds, region)) {
            add_entity(sim, out, slot);
        }
    }
}

// Sorted by net id: slots differ between machines, a part of the scene may be an entity on one and
// anchored on another, and of two equal contacts or supports the first one is used.
static void sort_by_net_id(ColliderPart *parts, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (parts[i - 1].net_id < parts[i].net_id) {
            continue;
        }
        const ColliderPart part = parts[i];
        uint32_t at = i;
        for (; at > 0 && parts[at - 1].net_id > part.net_id; at--) {
            parts[at] = parts[at - 1];
        }
        parts[at] = part;
    }
}

static void gather_entities(Sim *sim, Aabb region, Colliders *out)
{
    uint32_t found[COLLIDE_PARTS_MAX + COLLIDE_ZONES_MAX];
    const uint32_t found_max = sizeof found / sizeof found[0];
    const uint32_t count = grid_query(&sim->grid, region, GRID_MASK(GRID_SHAPES), found, found_max);
    if (count > found_max) {
        gather_crowded(sim, region, out);
    } else {
        for (uint32_t i = 0; i < count; i++) {
            add_entity(sim, out, found[i]);
        }
    }
    sort_by_net_id(out->parts, out->part_count);
    sort_by_net_id(out->zones, out->zone_count);
}

void collide_gather(Sim *sim, Aabb region, Colliders *out)
{
    out->box_count = 0;
    out->part_count = 0;
    out->zone_count = 0;
    out->any_moving = false;
    gather_terrain(sim, region, out);

    uint32_t found[COLLIDE_PARTS_MAX + COLLIDE_ZONES_MAX];
    const uint32_t found_max = sizeof found / sizeof found[0];
    if (sim->scene != NULL) {
        uint32_t count = scene_query(sim->scene, region, found, found_max, sim->grid.work);
        if (count > found_max) {
            sim->counters.colliders_dropped += count - found_max;
            count = found_max;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (sim->hidden_count != 0 && sim_part_is_hidden(sim, found[i])) {
                continue;
            }
            const ScenePart *part = scene_part(sim->scene, found[i]);
            add_part(sim, out, &part->placed, &part->desc.data, part->desc.pose.rotation,
                     (uint64_t)found[i] + 1, 0, false);
        }
    }
    if (sim_count(sim, ENTITY_PART) + sim_count(sim, ENTITY_STRUCTURE) +
            sim_count(sim, ENTITY_PROP) !=
        0) {
        gather_entities(sim, region, out);
    }
    sim_add_work(sim, (uint64_t)(out->box_count + out->part_count + out->zone_count) *
                          WORK_COLLIDER_STEPS);
}

void collide_set_fraction(const Sim *sim, Colliders *colliders, float fraction)
{
    for (uint32_t i = 0; i < colliders->part_count; i++) {
        ColliderPart *part = &colliders->parts[i];
        if (!part->moving) {
            continue;
        }
        const Entity *entity = sim_at(sim, part->slot);
        if (fraction >= 1) {
            part->placed = &entity->part.placed;
            continue;
        }
        const Pose from = entity->part.pose_previous;
        const Pose pose = {vec3_lerp(from.position, entity->position, fraction),
                           quat_nlerp(from.rotation, entity->rotation, fraction)};
        colliders->between[i] = shape_place(entity->part.shape, pose);
        part->placed = &colliders->between[i];
    }
}

CollideContact collide_deepest(const Colliders *colliders, Capsule capsule, float normal_y_max)
{
    CollideContact best = {.contact = {.distance = 0}};
    const Aabb bounds = capsule_bounds(capsule);
    for (uint32_t i = 0; i < colliders->box_count; i++) {
        const Aabb *box = &colliders->boxes[i];
        if (!aabb_overlaps(bounds, *box)) {
            continue;
        }
        const ShapeContact contact = shape_box_contact(box->min, box->max, capsule);
        if (contact.distance < best.contact.distance && contact.normal.y < normal_y_max) {
            best.contact = contact;
            best.part = NULL;
        }
    }
    for (uint32_t i = 0; i < colliders->part_count; i++) {
        const ColliderPart *part = &colliders->parts[i];
        if (!aabb_overlaps(bounds, part->placed->bounds)) {
            continue;
        }
        const ShapeContact contact = shape_capsule_contact(part->placed, capsule);
        if (contact.distance < best.contact.distance && contact.normal.y < normal_y_max) {
            best = (CollideContact){contact, part};
        }
    }
    return best;
}

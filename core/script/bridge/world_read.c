// A Sim as scripts see it; see world_read.h.
#include "core/script/bridge/world_read.h"

#include "core/base/check.h"

#include <string.h>

bool world_read_find(const Sim *sim, uint64_t net_id, WorldThing *out)
{
    const Handle handle = sim_find(sim, net_id);
    if (!handle_is_none(handle)) {
        *out = (WorldThing){.handle = handle, .entity = sim_entity(sim, handle)};
        return true;
    }
    const Scene *scene = sim_scene(sim);
    if (scene == NULL || net_id == 0 || net_id > scene_part_count(scene) ||
        sim_part_is_hidden(sim, (uint32_t)net_id - 1)) {
        return false;
    }
    *out = (WorldThing){.part = scene_part(scene, (uint32_t)net_id - 1)};
    return true;
}

static Vec3 shape_size(Shape shape)
{
    const Vec3 half = shape.half;
    switch (shape.kind) {
    case SHAPE_SPHERE:
        return vec3(2 * half.x, 2 * half.x, 2 * half.x);
    case SHAPE_CYLINDER:
        return vec3(2 * half.x, 2 * half.y, 2 * half.x);
    default:
        return vec3_scale(half, 2);
    }
}

ScriptEntityInfo world_read_info(const Sim *sim, uint64_t net_id, const WorldThing *thing)
{
    if (thing->entity == NULL) {
        const PartDesc *desc = &thing->part->desc;
        return (ScriptEntityInfo){.net_id = net_id,
                                  .type = ENTITY_PART,
                                  .position = desc->pose.position,
                                  .rotation = desc->pose.rotation,
                                  .size = shape_size(desc->shape),
                                  .is_anchored = true};
    }
    const Entity *entity = thing->entity;
    ScriptEntityInfo info = {.net_id = net_id,
                             .owner_id = entity->owner_id,
                             .type = entity->type,
                             .position = entity->position,
                             .velocity = entity->velocity,
                             .rotation = entity->rotation};
    if (entity_is_character(entity)) {
        const CharacterTuning *tuning = &sim_config(sim)->character;
        info.rotation = quat_from_yaw(entity->character.input.yaw);
        info.size = vec3(2 * tuning->radius, tuning->height, 2 * tuning->radius);
        info.health = entity->character.health;
    } else if (entity_has_shape(entity)) {
        info.size = shape_size(entity->part.shape);
        info.health = entity->type == ENTITY_STRUCTURE ? entity->part.health : 0;
    } else {
        const float across = 2 * entity->projectile.radius;
        info.size = vec3(across, across, across);
    }
    return info;
}

bool world_read_ray(const Sim *sim, Vec3 origin, Vec3 direction, float distance,
                    ScriptIgnored ignored, ScriptRayHit *out)
{
    const Vec3 unit = vec3_normalise(direction);
    if (!vec3_is_finite(origin) || vec3_equal(unit, VEC3_ZERO) || !(distance > 0)) {
        return false;
    }
    const SimRay ray = {.origin = origin,
                        .direction = unit,
                        .distance_max = distance,
                        .type_mask = ENTITY_MASK_ALL,
                        .terrain = true,
                        .ignored = ignored.net_ids,
                        .ignored_count = ignored.count};
    SimRayHit hit;
    if (!sim_ray(sim, &ray, &hit)) {
        return false;
    }
    *out = (ScriptRayHit){.distance = hit.distance,
                          .point = hit.point,
                          .normal = hit.normal,
                          .entity = hit.net_id,
                          .voxel = hit.voxel};
    if (hit.net_id == 0) {
        out->kind = terrain_voxel(sim_terrain_view(sim), hit.voxel);
    }
    return true;
}

bool world_read_part_data(const WorldThing *thing, PartData *out)
{
    if (thing->entity == NULL) {
        *out = thing->part->desc.data;
        return true;
    }
    if (!entity_has_shape(thing->entity) || thing->entity->type == ENTITY_STRUCTURE) {
        return false;
    }
    *out = thing->entity->part.data;
    return true;
}

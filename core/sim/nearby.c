// See nearby.h.
#include "core/sim/nearby.h"

void nearby_entities(Nearby *nearby, const Sim *sim, Aabb box)
{
    nearby->count = grid_query(&sim->grid, box, GRID_BLOCKING, nearby->found, NEARBY_MAX);
    nearby->everything = nearby->count > NEARBY_MAX;
    nearby->at = nearby->everything ? 1 : 0;
    if (nearby->everything) {
        sim_add_work(sim, (uint64_t)sim->entities.count * GRID_ITEM_STEPS);
    }
}

uint32_t nearby_next_entity(Nearby *nearby, const Sim *sim)
{
    if (nearby->everything) {
        const uint32_t slot = pool_next(&sim->entities, nearby->at);
        nearby->everything = slot != 0;
        nearby->count = 0;
        nearby->at = slot + 1;
        return slot;
    }
    return nearby->at < nearby->count ? nearby->found[nearby->at++] : 0;
}

void nearby_parts(Nearby *nearby, const Sim *sim, Aabb box)
{
    nearby->count = 0;
    nearby->at = 0;
    nearby->everything = false;
    if (sim->scene != NULL && scene_part_count(sim->scene) != 0) {
        nearby->count = scene_query(sim->scene, box, nearby->found, NEARBY_MAX, sim->grid.work);
        if (nearby->count > NEARBY_MAX) {
            nearby->everything = true;
            nearby->count = scene_part_count(sim->scene);
            sim_add_work(sim, (uint64_t)nearby->count * GRID_ITEM_STEPS);
        }
    }
}

const ScenePart *nearby_next_part(Nearby *nearby, const Sim *sim, uint32_t *index)
{
    while (nearby->at < nearby->count) {
        const uint32_t i = nearby->everything ? nearby->at : nearby->found[nearby->at];
        nearby->at += 1;
        const ScenePart *part = scene_part(sim->scene, i);
        if ((part->desc.data.flags & PART_GHOST) == 0 && !sim_part_is_hidden(sim, i)) {
            *index = i;
            return part;
        }
    }
    return NULL;
}

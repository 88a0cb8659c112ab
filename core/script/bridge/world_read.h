// Reads a Sim as scripts see it, for the authority and for a view: entities and anchored parts of
// the scene are one kind of thing, identified by net id.
#pragma once

#include "core/place/prefab.h"
#include "core/script/runtime/script_world.h"

// One thing in a sim: an entity, or an anchored part of the scene.
typedef struct WorldThing {
    Handle handle;        // HANDLE_NONE for an anchored part
    const Entity *entity; // NULL for an anchored part
    const ScenePart *part;
} WorldThing;

// Finds a thing by net id, even if it is marked for removal.
bool world_read_find(const Sim *sim, uint64_t net_id, WorldThing *out);
ScriptEntityInfo world_read_info(const Sim *sim, uint64_t net_id, const WorldThing *thing);
bool world_read_ray(const Sim *sim, Vec3 origin, Vec3 direction, float distance,
                    ScriptIgnored ignored, ScriptRayHit *out);
bool world_read_part_data(const WorldThing *thing, PartData *out);

// Terrain edits by scripts, each of which has its share of the chunks and pages (fair_share.h).
#include "core/base/fair_share.h"
#include "core/script/bridge/authority_inside.h"
#include "core/script/bridge/world_limit.h"

static Authority *of(ScriptWorld *world)
{
    return (Authority *)world;
}

// Counts the chunks and pages that a script's edits have taken, minus those they freed.
static Terrain *terrain_enter(ScriptWorld *world, TerrainUse *before)
{
    Terrain *terrain = sim_terrain(of(world)->sim);
    const TerrainPart *part = &of(world)->terrain_parts[world->caller];
    *before = terrain_use(terrain);
    if (world->caller != 0) {
        terrain_set_room(
            terrain,
            (uint32_t)fair_share_room(part->chunks, before->chunk_count, before->chunk_max),
            (uint32_t)fair_share_room(part->pages, before->page_count, before->page_max));
    }
    return terrain;
}

static uint32_t part_after(uint32_t own, uint32_t before, uint32_t after)
{
    const uint32_t less = before > after ? before - after : 0;
    return after >= before ? own + (after - before) : own - (less < own ? less : own);
}

static Status terrain_leave(ScriptWorld *world, const TerrainUse *before, Status status)
{
    Terrain *terrain = sim_terrain(of(world)->sim);
    const TerrainUse after = terrain_use(terrain);
    TerrainPart *part = &of(world)->terrain_parts[world->caller];
    terrain_clear_room(terrain);
    part->chunks = part_after(part->chunks, before->chunk_count, after.chunk_count);
    part->pages = part_after(part->pages, before->page_count, after.page_count);
    world->refusal = NULL;
    return world_limit(world, status, PART_TEXT("changed voxels in %u chunks"),
                       (unsigned)after.chunk_max);
}

Status authority_set_voxel(ScriptWorld *world, VoxelCoord at, VoxelKind kind)
{
    TerrainUse before;
    sim_add_work(of(world)->sim, AUTHORITY_CHANGE_STEPS);
    Terrain *terrain = terrain_enter(world, &before);
    return terrain_leave(world, &before, terrain_set(terrain, at, kind, NULL));
}

Status authority_fill_box(ScriptWorld *world, VoxelCoord min, VoxelCoord max, VoxelKind kind)
{
    TerrainUse before;
    Terrain *terrain = terrain_enter(world, &before);
    return terrain_leave(world, &before, terrain_fill_box(terrain, min, max, kind, NULL));
}

Status authority_fill_sphere(ScriptWorld *world, Vec3 centre, float radius, VoxelKind kind)
{
    TerrainUse before;
    Terrain *terrain = terrain_enter(world, &before);
    return terrain_leave(world, &before, terrain_fill_sphere(terrain, centre, radius, kind, NULL));
}

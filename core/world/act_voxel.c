// Terrain that players change.
#include "core/world/world_inside.h"

void act_terraform(World *world, Session *session, uint32_t seq, const MessageTerraform *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void act_chunk_request(World *world, Session *session, uint32_t seq,
                       const MessageChunkRequest *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void voxel_tick(World *world)
{
    (void)world;
}

Status act_create(World *world)
{
    (void)world;
    return STATUS_OK;
}

void act_destroy(World *world)
{
    (void)world;
}

void act_forget(World *world, Session *session)
{
    (void)world;
    (void)session;
}

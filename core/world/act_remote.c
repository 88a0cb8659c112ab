// Remotes.
#include "core/world/world_inside.h"

void act_remote(World *world, Session *session, uint32_t seq, const MessageRemoteUp *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void remote_tick(World *world)
{
    (void)world;
}

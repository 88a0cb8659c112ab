// What players build.
#include "core/world/world_inside.h"

void act_build_place(World *world, Session *session, uint32_t seq, const MessageBuildPlace *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void act_build_remove(World *world, Session *session, uint32_t seq,
                      const MessageBuildRemove *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void act_build_preview(World *world, Session *session, uint32_t seq,
                       const MessageBuildPreview *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void preview_tick(World *world)
{
    (void)world;
}

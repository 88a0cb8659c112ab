// Characters of an account.
#include "core/world/world_inside.h"

void act_profile_list(World *world, Session *session, uint32_t seq)
{
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void act_profile_select(World *world, Session *session, uint32_t seq,
                        const MessageProfileSelect *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void act_profile_save(World *world, Session *session, uint32_t seq,
                      const MessageProfileSave *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void act_profile_delete(World *world, Session *session, uint32_t seq,
                        const MessageProfileDelete *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void profile_open(World *world, Session *session)
{
    (void)world;
    (void)session;
}

void profile_announce(World *world, const Session *about, const Session *to)
{
    (void)world;
    (void)about;
    (void)to;
}

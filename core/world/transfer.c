// Blobs and runes.
#include "core/world/world_inside.h"

void act_script_request(World *world, Session *session, uint32_t seq,
                        const MessageScriptRequest *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void act_script_verify(World *world, Session *session, uint32_t seq,
                       const MessageScriptVerify *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void act_blob_request(World *world, Session *session, uint32_t seq,
                      const MessageBlobRequest *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

void transfer_tick(World *world)
{
    (void)world;
}

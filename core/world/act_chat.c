// Chat.
#include "core/world/world_inside.h"

void act_chat(World *world, Session *session, uint32_t seq, const MessageChatSay *command)
{
    (void)command;
    session_refuse(world, session, seq, STATUS_UNSUPPORTED, "not yet");
}

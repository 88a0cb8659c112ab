// Chat: the text is sent to everybody and to scripts, with everything removed that is not plain
// text.
#include "core/world/act/act_inside.h"

#include <stdio.h>
#include <string.h>

void act_chat(Acts *acts, Session *session, uint32_t seq, const MessageChatSay *command)
{
    Sessions *sessions = acts->config.sessions;
    char text[CHAT_BYTES_MAX];
    if (session->muted_until_ms > acts->config.clock->unix_ms) {
        char why[SESSION_REASON_BYTES + 64];
        (void)snprintf(why, sizeof why, "You may not chat here now%s%s",
                       session->mute_reason[0] != '\0' ? ": " : ".", session->mute_reason);
        session_deny(sessions, session, seq, STATUS_DENIED, why);
        return;
    }
    if (!session_rate(sessions, session, seq, RATE_CHAT)) {
        return;
    }
    const uint32_t bytes =
        (uint32_t)text_clean(command->text.data, command->text.bytes, text, sizeof text);
    if (bytes == 0) {
        session_deny(sessions, session, seq, STATUS_RANGE, "There is nothing to say in that.");
        return;
    }
    if (authority_player_chat(acts->config.authority, session->player, (Text){text, bytes}) !=
        STATUS_OK) {
        session_deny(sessions, session, seq, STATUS_LIMIT, "The world is busy; say it again.");
        return;
    }
    const MessageChatSaid said = {
        .player = session->player, .name = text_from(session->name), .text = {text, bytes}};
    event_broadcast(sessions, MESSAGE_CHAT_SAID, &said, NULL);
    session_ack(sessions, session, seq, 0);
}

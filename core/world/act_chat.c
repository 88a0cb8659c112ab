// What players say: text for everybody and for scripts, without anything that could pass for more
// than text.
#include "core/world/act_inside.h"

#include "core/base/utf8.h"

#include <string.h>

#define CHAT_BYTES 512

// Copies without control characters, and without blanks at either end. The input is UTF-8.
static uint32_t clean(NetText text, char out[CHAT_BYTES])
{
    const uint8_t *from = (const uint8_t *)text.data;
    uint32_t count = 0;
    for (uint32_t i = 0; i < text.bytes;) {
        const size_t length = utf8_length(from + i, text.bytes - i);
        if (length == 0) {
            break; // checked by the decoder
        }
        const bool control = from[i] < 0x20 || from[i] == 0x7f ||
                             (length == 2 && from[i] == 0xc2 && from[i + 1] < 0xa0);
        const bool blank = from[i] == ' ' && count == 0;
        if (!control && !blank && count + length <= CHAT_BYTES) {
            memcpy(out + count, from + i, length);
            count += (uint32_t)length;
        }
        i += (uint32_t)length;
    }
    while (count > 0 && out[count - 1] == ' ') {
        count -= 1;
    }
    return count;
}

void act_chat(World *world, Session *session, uint32_t seq, const MessageChatSay *command)
{
    char text[CHAT_BYTES];
    if (!act_rate(world, session, seq, RATE_CHAT)) {
        return;
    }
    const uint32_t bytes = clean(command->text, text);
    if (bytes == 0) {
        act_deny(world, session, seq, STATUS_RANGE, "There is nothing to say in that.");
        return;
    }
    if (authority_player_chat(world->authority, session->player, (Text){text, bytes}) !=
        STATUS_OK) {
        act_deny(world, session, seq, STATUS_LIMIT, "The world is busy; say it again.");
        return;
    }
    const MessageChatSaid said = {.player = session->player,
                                  .name = {session->name, (uint32_t)strlen(session->name)},
                                  .text = {text, bytes}};
    event_broadcast(world, MESSAGE_CHAT_SAID, &said, NULL);
    session_ack(world, session, seq, 0);
}

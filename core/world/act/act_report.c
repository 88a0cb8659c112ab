// Reports of players to the operators: passed on to the owner, which has the evidence. Whether it
// took the report decides nothing here, and the one who is reported is not told.
#include "core/wire/moderation.h"
#include "core/world/act/act_inside.h"

#include <string.h>

void act_report(Acts *acts, Session *session, uint32_t seq, const MessageReport *command)
{
    Sessions *sessions = acts->config.sessions;
    uint8_t bytes[REPORT_REASON_BYTES + REPORT_TEXT_BYTES_MAX];
    if (!session_rate(sessions, session, seq, RATE_CHAT)) {
        return;
    }
    if (!report_reason_is_valid(command->reason)) {
        session_deny(sessions, session, seq, STATUS_RANGE, "The reason is one of: " REPORT_REASONS);
        return;
    }
    const Session *other = session_of_player(sessions, command->player);
    if (command->player != 0 && (other == NULL || other == session)) {
        session_deny(sessions, session, seq, STATUS_NOT_FOUND,
                     "That player is not here; report them from their page.");
        return;
    }
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    byte_write_bytes(&writer, command->reason.data, command->reason.bytes);
    byte_write_u8(&writer, '\n');
    char text[REPORT_TEXT_BYTES_MAX];
    byte_write_bytes(&writer, text,
                     text_clean(command->text.data, command->text.bytes, text, sizeof text));
    ASSERT(writer.status == STATUS_OK);
    const Command report = {.type = COMMAND_REPORT,
                            .account = session->account,
                            .other = other != NULL ? other->account : 0,
                            .bytes = bytes,
                            .byte_count = writer.at};
    if (session->account != 0) {
        status_ignore(save_command(acts->config.saves, &report));
    }
    session_ack(sessions, session, seq, 0);
}

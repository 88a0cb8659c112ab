// What goes out to one connection: whole messages in a ring. Each message is contiguous, so the
// owner can write it without copying. The ring is not part of the world's state: whether a message
// was taken, or did not fit, only decides which connections the owner is asked to close.
//
//   begin ──▶ [length message][length message] … end          or, once it went round:
//   [length message] … end      begin ──▶ [length message] … wrap
#include "core/world/session/session.h"

#include "core/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LENGTH_BYTES     sizeof(uint32_t)
#define ERROR_TEXT_BYTES 241

uint32_t session_number(const Sessions *sessions, const Session *session)
{
    const ptrdiff_t number = session - sessions->all;
    ASSERT(number >= 0 && number < (ptrdiff_t)sessions->count);
    return (uint32_t)number;
}

void output_open(Session *session, uint8_t *ring, size_t capacity)
{
    ASSERT(ring != NULL && capacity > LENGTH_BYTES);
    session->out = ring;
    session->out_capacity = capacity;
    session->out_begin = 0;
    session->out_end = 0;
    session->out_wrap = 0;
    session->out_count = 0;
    session->out_lost = false;
    session->closing_told = false;
}

// Room for a message and its length, contiguous; NULL when there is none.
static uint8_t *ring_reserve(Session *session, size_t count)
{
    const size_t need = LENGTH_BYTES + count;
    if (session->out_count == 0) {
        session->out_begin = 0;
        session->out_end = 0;
        session->out_wrap = 0;
    }
    const bool wrapped = session->out_wrap != 0;
    const size_t limit = wrapped ? session->out_begin : session->out_capacity;
    if (need <= limit - session->out_end) {
        uint8_t *at = session->out + session->out_end;
        session->out_end += need;
        return at;
    }
    if (wrapped || need > session->out_begin) {
        return NULL;
    }
    session->out_wrap = session->out_end;
    session->out_end = need;
    return session->out;
}

// The connection failed: the owner is informed, and reports when it is closed.
static void lose(Sessions *sessions, Session *session)
{
    if (session->out_lost) {
        return;
    }
    session->out_lost = true;
    sessions->config.stats->sessions_behind += 1;
    if (session->state != SESSION_CLOSING) {
        sessions->closing_count += 1; // session_close counts it otherwise
    }
}

void output_put(Sessions *sessions, Session *session, const uint8_t *bytes, size_t count)
{
    ASSERT(session->connection != 0 && session->out != NULL);
    ASSERT(count > 0);
    session->flow.written += count;
    session->flow.backlog += count;
    sessions->config.stats->bytes_down += count;
    if (session->out_lost) {
        return;
    }
    uint8_t *at = count <= UINT32_MAX ? ring_reserve(session, count) : NULL;
    if (at == NULL) {
        lose(sessions, session);
        return;
    }
    const uint32_t length = (uint32_t)count;
    memcpy(at, &length, LENGTH_BYTES);
    memcpy(at + LENGTH_BYTES, bytes, count);
    session->out_count += 1;
    ASSERT(session->flow.backlog <= session->flow.written);
}

void output_close(Sessions *sessions, Session *session)
{
    const bool counted = session->state == SESSION_CLOSING || session->out_lost;
    if (counted && !session->closing_told) {
        ASSERT(sessions->closing_count > 0);
        sessions->closing_count -= 1;
    }
    session->out_count = 0;
}

size_t session_waiting(const Session *session)
{
    return (size_t)session->flow.backlog;
}

// --- the owner's side ---------------------------------------------------------------------------

bool output_next(const Sessions *sessions, uint64_t connection, const uint8_t **bytes,
                 size_t *count)
{
    const uint32_t slot = id_map_find(&sessions->connections, connection);
    const Session *session = slot != 0 ? &sessions->all[slot - 1] : NULL;
    if (session == NULL || session->out_count == 0) {
        return false;
    }
    const uint8_t *at = session->out + session->out_begin;
    uint32_t length = 0;
    memcpy(&length, at, LENGTH_BYTES);
    *bytes = at + LENGTH_BYTES;
    *count = length;
    return true;
}

void output_take(Sessions *sessions, uint64_t connection)
{
    const uint8_t *bytes = NULL;
    size_t count = 0;
    if (!output_next(sessions, connection, &bytes, &count)) {
        return;
    }
    Session *session = session_of_connection(sessions, connection);
    session->out_count -= 1;
    session->out_begin += LENGTH_BYTES + count;
    if (session->out_wrap != 0 && session->out_begin == session->out_wrap) {
        session->out_begin = 0;
        session->out_wrap = 0;
    }
    ASSERT(session->out_count > 0 || session->out_begin == session->out_end);
}

uint64_t session_closing(Sessions *sessions)
{
    if (sessions->closed_count > 0) {
        sessions->closed_count -= 1;
        return sessions->closed[sessions->closed_count];
    }
    for (uint32_t i = 0; i < sessions->high && sessions->closing_count > 0; i++) {
        Session *session = &sessions->all[i];
        const bool done =
            session->out_lost || (session->state == SESSION_CLOSING && session->out_count == 0);
        if (session->connection != 0 && done && !session->closing_told) {
            session->closing_told = true;
            sessions->closing_count -= 1;
            return session->connection;
        }
    }
    return 0;
}

// --- messages -----------------------------------------------------------------------------------

void session_send(Sessions *sessions, Session *session, uint8_t number, const void *body)
{
    if (session->connection == 0) {
        return; // dropped: the client will ask again
    }
    session->seq += 1;
    const Message message = {.number = number, .seq = session->seq, .body = body};
    ByteWriter writer = byte_writer(sessions->message, sessions->message_capacity);
    if (session->json) {
        message_to_json(&message, &writer);
    } else {
        message_encode(&message, &writer);
    }
    if (writer.status != STATUS_OK) {
        log_write(sessions->config.log, sessions->config.clock->tick, LOG_ERROR, "world",
                  "message %u does not fit into an output", number);
        lose(sessions, session);
        return;
    }
    output_put(sessions, session, sessions->message, writer.at);
}

void session_ack(Sessions *sessions, Session *session, uint32_t command_seq, uint64_t entity_id)
{
    if (command_seq == 0) {
        return; // nobody waits for it
    }
    ASSERT(session->state == SESSION_PLAYING); // other sessions cannot send commands
    const MessageAck ack = {.command_seq = command_seq, .entity_id = entity_id};
    session_send(sessions, session, MESSAGE_ACK, &ack);
}

static Text text_of(const char *text, size_t bytes_max)
{
    const size_t bytes = strlen(text);
    return (Text){text, (uint32_t)utf8_cut(text, bytes, bytes_max)};
}

static void error_send(Sessions *sessions, Session *session, uint32_t command_seq, ErrorCode code,
                       bool fatal, const char *text)
{
    if (fatal && session->state == SESSION_CLOSING) {
        return; // it is ending already
    }
    // The cut may be inside a character.
    size_t bytes = strlen(text);
    while (!utf8_is_valid(text, bytes)) {
        bytes -= 1;
    }
    const MessageError error = {.code = text_of(error_name(code), 64),
                                .message = {text, (uint32_t)bytes},
                                .fatal = fatal,
                                .command_seq = command_seq};
    session_send(sessions, session, MESSAGE_ERROR, &error);
    if (fatal) {
        log_write(sessions->config.log, sessions->config.clock->tick, LOG_INFO, "world",
                  "player %llu: %s", (unsigned long long)session->player, error_name(code));
        session_close(sessions, session);
    }
}

void session_error(Sessions *sessions, Session *session, uint32_t command_seq, ErrorCode code,
                   const char *format, ...)
{
    char text[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ASSERT(length >= 0);
    error_send(sessions, session, command_seq, code, error_row(code)->fatal == ERROR_FATAL_ALWAYS,
               text);
}

void session_malformed(Sessions *sessions, Session *session, uint32_t command_seq, bool fatal,
                       const char *why)
{
    char text[ERROR_TEXT_BYTES];
    (void)snprintf(text, sizeof text, "%s", why);
    error_send(sessions, session, command_seq, ERROR_MALFORMED, fatal, text);
}

void session_deny(Sessions *sessions, Session *session, uint32_t seq, Status status,
                  const char *sentence)
{
    ASSERT(status != STATUS_OK);
    sessions->config.stats->commands_denied += 1;
    session_error(sessions, session, seq, error_of_status(status), "%s", sentence);
}

bool session_rate(Sessions *sessions, Session *session, uint32_t seq, RateKind kind)
{
    if (rate_take(sessions->config.stats, session, kind, 1)) {
        return true;
    }
    session_deny(sessions, session, seq, STATUS_LIMIT,
                 "That was too often; wait a moment and try again.");
    return false;
}

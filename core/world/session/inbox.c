// Messages of clients, kept as they came until the next tick handles them. No message has an effect
// before that, so the work of a tick is bounded by sessions × INBOX_PER_TICK, and a flood ends only
// the session that sends it.
#include "core/world/session/session.h"

#include <string.h>

_Static_assert(INBOX_BYTES_MAX >= MESSAGE_BYTES_MAX + sizeof(uint32_t), "the largest message fits");

typedef struct Inbox {
    size_t used; // u32 length, message, one after the other
    uint32_t count;
} Inbox;

Status inbox_create(Sessions *sessions)
{
    Heap *heap = sessions->config.heap;
    sessions->inboxes = heap_alloc(heap, heap_array_bytes(sessions->count, sizeof(Inbox)));
    sessions->inbox_bytes = heap_alloc(heap, heap_array_bytes(sessions->count, INBOX_BYTES_MAX));
    return sessions->inboxes != NULL && sessions->inbox_bytes != NULL ? STATUS_OK : STATUS_LIMIT;
}

void inbox_destroy(Sessions *sessions)
{
    heap_free(sessions->config.heap, sessions->inbox_bytes);
    heap_free(sessions->config.heap, sessions->inboxes);
}

static Inbox *box_of(const Sessions *sessions, const Session *session)
{
    return &sessions->inboxes[session_number(sessions, session)];
}

static uint8_t *bytes_of(const Sessions *sessions, const Session *session)
{
    return sessions->inbox_bytes + (size_t)session_number(sessions, session) * INBOX_BYTES_MAX;
}

void inbox_clear(Sessions *sessions, const Session *session)
{
    *box_of(sessions, session) = (Inbox){0};
}

Status inbox_put(Sessions *sessions, Session *session, const Entry *entry)
{
    if (session->state == SESSION_CLOSING) {
        return STATUS_NOT_FOUND;
    }
    ASSERT(session->connection != 0);
    sessions->config.stats->bytes_up += entry->byte_count;
    if (entry->byte_count < 1 || entry->byte_count > MESSAGE_BYTES_MAX) {
        sessions->config.stats->messages_malformed += 1;
        session_malformed(sessions, session, 0, true, "a message is empty or too large");
        return STATUS_MALFORMED;
    }
    Inbox *box = box_of(sessions, session);
    const uint32_t length = (uint32_t)entry->byte_count;
    if (box->count == INBOX_MESSAGES_MAX || box->used + sizeof length + length > INBOX_BYTES_MAX) {
        sessions->config.stats->messages_refused += 1;
        session_error(sessions, session, 0, ERROR_FLOOD, "too many messages at once");
        return STATUS_LIMIT;
    }
    uint8_t *at = bytes_of(sessions, session) + box->used;
    memcpy(at, &length, sizeof length);
    memcpy(at + sizeof length, entry->bytes, length);
    box->used += sizeof length + length;
    box->count += 1;
    return STATUS_OK;
}

static bool is_read(const Session *session)
{
    return session->state == SESSION_CONNECTED ||
           (session->state == SESSION_PLAYING && !session->joining);
}

static void read_box(Sessions *sessions, Session *session, InboxHandler *handler, void *user)
{
    Inbox *box = box_of(sessions, session);
    uint8_t *bytes = bytes_of(sessions, session);
    size_t at = 0;
    for (uint32_t i = 0; i < INBOX_PER_TICK && box->count > 0 && is_read(session); i++) {
        uint32_t length = 0;
        memcpy(&length, bytes + at, sizeof length);
        at += sizeof length;
        box->count -= 1;
        handler(user, session, bytes + at, length);
        at += length;
    }
    if (box->count == 0) { // empty, or cleared because the session ended
        box->used = 0;
        return;
    }
    memmove(bytes, bytes + at, box->used - at);
    box->used -= at;
}

void inbox_tick(Sessions *sessions, InboxHandler *handler, void *user)
{
    for (uint32_t i = 0; i < sessions->high; i++) {
        Session *session = &sessions->all[i];
        if (session->connection != 0) {
            rate_refill(session, sessions->config.clock->tick_rate);
            read_box(sessions, session, handler, user);
        }
    }
}

void inbox_hash(const Sessions *sessions, Hash64 *hash)
{
    for (uint32_t i = 0; i < sessions->high; i++) {
        const Session *session = &sessions->all[i];
        const Inbox *box = box_of(sessions, session);
        hash_u64(hash, box->used);
        hash_bytes(hash, bytes_of(sessions, session), box->used);
    }
}

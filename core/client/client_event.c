// Events wait until the view has reached their tick: a hit is shown when the puppet is where it was
// hit. Then scripts get them, and the page when it asks. They are in the server's order; a full
// queue drops its oldest, after scripts got it.
#include "core/client/client_inside.h"

#define OWN_LINE 1u // as the tick of what is among the answers, which have none

static bool event_decode(Client *client, const ClientQueueItem *item, Message *out)
{
    arena_reset(&client->event_scratch);
    return message_decode_event(item->bytes, item->count, &client->event_scratch, out) == STATUS_OK;
}

static void release_one(Client *client, const ClientQueueItem *item)
{
    Message message;
    client->events.middle = item->next;
    if (event_decode(client, item, &message)) {
        client_script_tell(client, &message);
    }
}

void client_event_release(Client *client, uint64_t tick)
{
    ClientQueueItem item;
    while (client_queue_at(&client->events, client->events.middle, &item) && item.tick <= tick) {
        release_one(client, &item);
    }
}

void client_event_restart(Client *client)
{
    client_event_release(client, UINT64_MAX);
    ClientQueueItem item;
    client->old_events = 0;
    for (size_t at = client->events.begin; client_queue_at(&client->events, at, &item);
         at = item.next) {
        client->old_events += 1;
    }
}

static void event_pop(Client *client)
{
    client_queue_pop(&client->events);
    client->old_events -= client->old_events > 0;
}

void client_event_push(Client *client, uint64_t tick, const uint8_t *bytes, size_t count)
{
    client->stats.events += 1;
    while (!client_queue_push(&client->events, tick, bytes, count)) {
        ClientQueueItem oldest;
        if (!client_queue_at(&client->events, client->events.begin, &oldest)) {
            // It is larger than the queue: only scripts get it, at once.
            const ClientQueueItem whole = {.tick = tick, .bytes = bytes, .count = count};
            Message message;
            if (event_decode(client, &whole, &message)) {
                client_script_tell(client, &message);
            }
            client->stats.events_dropped += 1;
            return;
        }
        if (client->events.middle == client->events.begin) {
            release_one(client, &oldest);
        }
        event_pop(client);
        client->stats.events_dropped += 1;
    }
}

// A line of a script of this client: for its own page alone, and nobody said it. It waits with the
// answers, because no tick of the server has it; what the world says goes first where room is
// short.
void client_event_own_line(Client *client, Text text)
{
    const MessageChatSaid said = {.name = {"", 0}, .text = {text.data, (uint32_t)text.bytes}};
    uint8_t bytes[CHAT_BYTES_MAX + 64];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    message_encode_event(MESSAGE_CHAT_SAID, &said, &writer);
    ASSERT(writer.status == STATUS_OK);
    if (!client_queue_push(&client->answers, OWN_LINE, bytes, writer.at)) {
        client->stats.events_dropped += 1;
    }
}

// Events that scripts or the view have handled are not for the page.
static bool is_for_page(const Client *client, uint8_t number)
{
    const bool is_sound =
        number == MESSAGE_SOUND || number == MESSAGE_SOUND_CHANGED || number == MESSAGE_MUSIC;
    return number != MESSAGE_REMOTE_DOWN && (!is_sound || client->script.view == NULL);
}

static bool answer_next(Client *client)
{
    ClientQueueItem item;
    while (client_queue_at(&client->answers, client->answers.begin, &item)) {
        client_queue_pop(&client->answers);
        arena_reset(&client->event_scratch);
        client->event.tick = 0;
        const bool is_read =
            item.tick == OWN_LINE
                ? event_decode(client, &item, &client->event.message)
                : message_decode(item.bytes, item.count, MESSAGE_DOWN, &client->event_scratch,
                                 &client->event.message) == STATUS_OK;
        if (is_read) {
            return true;
        }
    }
    return false;
}

// The first event for the page among the next `count`.
static bool event_next(Client *client, uint32_t count)
{
    ClientQueueItem item;
    for (; count > 0 && client->events.begin < client->events.middle &&
           client_queue_at(&client->events, client->events.begin, &item);
         count--) {
        event_pop(client);
        client->event.tick = item.tick;
        if (event_decode(client, &item, &client->event.message) &&
            is_for_page(client, client->event.message.number)) {
            return true;
        }
    }
    return false;
}

// Events of the previous session come before the welcome to this one.
const ClientEvent *client_event(Client *client)
{
    const bool found = event_next(client, client->old_events) || answer_next(client) ||
                       event_next(client, UINT32_MAX);
    return found ? &client->event : NULL;
}

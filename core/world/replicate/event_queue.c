// Waiting events as a byte sequence that starts again at its front whenever it is empty, so that a
// session which keeps up uses little memory; see event_queue.h.
#include "core/world/replicate/event_queue.h"

#include "core/base/check.h"
#include "core/base/fair_share.h"

#include <string.h>

void event_queue_init(EventQueue *queue, uint8_t *data, size_t capacity)
{
    *queue = (EventQueue){.data = data, .capacity = capacity};
}

void event_queue_clear(EventQueue *queue)
{
    queue->begin = 0;
    queue->end = 0;
}

size_t event_queue_waiting(const EventQueue *queue)
{
    return queue->end - queue->begin;
}

// The bytes of that script's waiting events. Scripts run one after the other, so it is mostly the
// one that was counted last.
static size_t maker_bytes(EventQueue *queue, uint32_t maker)
{
    if (queue->last_maker != maker) {
        size_t at = 0;
        QueuedEvent event;
        const uint8_t *message;
        queue->last_maker = maker;
        queue->last_bytes = 0;
        while (event_queue_next(queue, &at, &event, &message)) {
            queue->last_bytes += event.maker == maker ? sizeof event + event.bytes : 0;
        }
    }
    return queue->last_bytes;
}

// While the queue is less than half full, nobody can have more than its share.
static bool has_part(EventQueue *queue, uint32_t maker)
{
    const size_t waiting = event_queue_waiting(queue);
    return maker == 0 || waiting < queue->capacity / SCRIPT_PART_MOST ||
           fair_share_allows(maker_bytes(queue, maker), waiting, queue->capacity);
}

Status event_queue_push(EventQueue *queue, const QueuedEvent *event, const uint8_t *message)
{
    const size_t need = sizeof *event + event->bytes;
    if (need > queue->capacity - event_queue_waiting(queue) || !has_part(queue, event->maker)) {
        return STATUS_LIMIT;
    }
    queue->last_bytes += event->maker == queue->last_maker ? need : 0;
    if (need > queue->capacity - queue->end) {
        memmove(queue->data, queue->data + queue->begin, event_queue_waiting(queue));
        queue->end -= queue->begin;
        queue->begin = 0;
    }
    memcpy(queue->data + queue->end, event, sizeof *event);
    if (event->bytes > 0) {
        memcpy(queue->data + queue->end + sizeof *event, message, event->bytes);
    }
    queue->end += need;
    return STATUS_OK;
}

bool event_queue_next(const EventQueue *queue, size_t *at, QueuedEvent *event,
                      const uint8_t **message)
{
    ASSERT(*at <= event_queue_waiting(queue));
    if (*at == event_queue_waiting(queue)) {
        return false;
    }
    const uint8_t *from = queue->data + queue->begin + *at;
    memcpy(event, from, sizeof *event);
    *message = from + sizeof *event;
    *at += sizeof *event + event->bytes;
    return true;
}

void event_queue_drop(EventQueue *queue, size_t at)
{
    ASSERT(at <= event_queue_waiting(queue));
    queue->begin += at;
    queue->last_maker = 0;
    if (queue->begin == queue->end) {
        event_queue_clear(queue);
    }
}

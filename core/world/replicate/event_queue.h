// Events that wait for a session's next frame, oldest first, in one bounded run of bytes.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct QueuedEvent {
    uint64_t tick;
    uint64_t subject, other;
    uint32_t bytes;    // of the message, which follows
    uint32_t maker;    // the script that sent it, 0: none
    bool known;        // the session had the subject when it happened
    bool has_position; // and was near the place
} QueuedEvent;

typedef struct EventQueue {
    uint8_t *data;
    size_t capacity, begin, end;
    uint32_t last_maker; // the script whose bytes are counted; 0: none
    size_t last_bytes;
} EventQueue;

void event_queue_init(EventQueue *queue, uint8_t *data, size_t capacity);
void event_queue_clear(EventQueue *queue);
// STATUS_LIMIT if there is no room, or the sender has more than its share (fair_share.h).
MUST_USE Status event_queue_push(EventQueue *queue, const QueuedEvent *event,
                                 const uint8_t *message);
size_t event_queue_waiting(const EventQueue *queue); // bytes, with their headers
// Walks from *at, which begins with 0; false at the end. Nothing may be pushed meanwhile.
bool event_queue_next(const EventQueue *queue, size_t *at, QueuedEvent *event,
                      const uint8_t **message);
// Removes what a walk has passed.
void event_queue_drop(EventQueue *queue, size_t at);

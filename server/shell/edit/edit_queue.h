// Messages that wait to be sent to editors. One message to many editors is kept once. What was
// taken stays until edit_queue_reclaim, because the socket sends several at once.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct EditBlock {
    uint32_t users;
    bool text;
    size_t bytes;
    uint8_t data[];
} EditBlock;

// NULL: no memory. The caller is its first user.
EditBlock *edit_block_make(bool text, size_t bytes);
void edit_block_release(EditBlock *block); // NULL is allowed

typedef struct EditQueue {
    EditBlock **blocks; // a ring
    uint32_t capacity, first, count;
    uint32_t taken; // of those, at the front
    size_t bytes;   // that wait
} EditQueue;

MUST_USE Status edit_queue_add(EditQueue *queue, EditBlock *block); // uses it
const EditBlock *edit_queue_next(const EditQueue *queue);           // NULL: none
void edit_queue_take(EditQueue *queue);
void edit_queue_reclaim(EditQueue *queue);
void edit_queue_free(EditQueue *queue);

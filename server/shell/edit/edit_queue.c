// See edit_queue.h.
#include "server/shell/edit/edit_queue.h"

#include "core/base/check.h"

#include <stdlib.h>

#define CAPACITY_MIN 16

EditBlock *edit_block_make(bool text, size_t bytes)
{
    EditBlock *block = malloc(sizeof *block + bytes);
    if (block != NULL) {
        block->users = 1;
        block->text = text;
        block->bytes = bytes;
    }
    return block;
}

void edit_block_release(EditBlock *block)
{
    if (block == NULL) {
        return;
    }
    ASSERT(block->users > 0);
    block->users -= 1;
    if (block->users == 0) {
        free(block);
    }
}

static EditBlock **slot(const EditQueue *queue, uint32_t index)
{
    return &queue->blocks[(queue->first + index) % queue->capacity];
}

static Status grow(EditQueue *queue)
{
    const uint32_t capacity = queue->capacity == 0 ? CAPACITY_MIN : queue->capacity * 2;
    EditBlock **blocks = calloc(capacity, sizeof *blocks);
    if (blocks == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < queue->count; i++) {
        blocks[i] = *slot(queue, i);
    }
    free(queue->blocks);
    queue->blocks = blocks;
    queue->capacity = capacity;
    queue->first = 0;
    return STATUS_OK;
}

Status edit_queue_add(EditQueue *queue, EditBlock *block)
{
    if (queue->count == queue->capacity && grow(queue) != STATUS_OK) {
        return STATUS_LIMIT;
    }
    block->users += 1;
    queue->count += 1;
    *slot(queue, queue->count - 1) = block;
    queue->bytes += block->bytes;
    return STATUS_OK;
}

const EditBlock *edit_queue_next(const EditQueue *queue)
{
    return queue->taken < queue->count ? *slot(queue, queue->taken) : NULL;
}

void edit_queue_take(EditQueue *queue)
{
    ASSERT(queue->taken < queue->count);
    queue->bytes -= (*slot(queue, queue->taken))->bytes;
    queue->taken += 1;
}

void edit_queue_reclaim(EditQueue *queue)
{
    while (queue->taken > 0) {
        edit_block_release(*slot(queue, 0));
        queue->first = (queue->first + 1) % queue->capacity;
        queue->count -= 1;
        queue->taken -= 1;
    }
}

void edit_queue_free(EditQueue *queue)
{
    queue->taken = queue->count;
    edit_queue_reclaim(queue);
    free(queue->blocks);
    *queue = (EditQueue){0};
}

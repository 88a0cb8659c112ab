// Byte strings in one block, oldest first. Each is a header of 16 bytes (u64 tick, u32 length) and
// its bytes; what is left is moved to the front when the end is reached, so that every item is in
// one piece and can be handed out as a pointer.
#include "core/client/client_inside.h"

#include <string.h>

#define ITEM_HEADER_BYTES 16

static void compact(ClientQueue *queue)
{
    if (queue->begin > 0) {
        memmove(queue->data, queue->data + queue->begin, queue->end - queue->begin);
        queue->middle = queue->middle > queue->begin ? queue->middle - queue->begin : 0;
        queue->end -= queue->begin;
        queue->begin = 0;
    }
}

static void put_header(ClientQueue *queue, uint64_t tick, size_t count)
{
    const uint32_t length = (uint32_t)count;
    memcpy(queue->data + queue->end, &tick, sizeof tick);
    memcpy(queue->data + queue->end + sizeof tick, &length, sizeof length);
    queue->end += ITEM_HEADER_BYTES + count;
}

bool client_queue_push(ClientQueue *queue, uint64_t tick, const uint8_t *bytes, size_t count)
{
    const size_t used = queue->end - queue->begin;
    if (count > queue->capacity || queue->capacity - used < count + ITEM_HEADER_BYTES) {
        return false;
    }
    if (queue->capacity - queue->end < count + ITEM_HEADER_BYTES) {
        compact(queue);
    }
    if (count > 0) {
        memcpy(queue->data + queue->end + ITEM_HEADER_BYTES, bytes, count);
    }
    put_header(queue, tick, count);
    return true;
}

ByteWriter client_queue_open(ClientQueue *queue)
{
    // Messages are mostly small: compact only if little is left at the end.
    if (queue->capacity - queue->end < queue->capacity / 2) {
        compact(queue);
    }
    const size_t left = queue->capacity - queue->end;
    if (left <= ITEM_HEADER_BYTES) {
        ByteWriter full = byte_writer(queue->data, 0);
        full.status = STATUS_LIMIT;
        return full;
    }
    return byte_writer(queue->data + queue->end + ITEM_HEADER_BYTES, left - ITEM_HEADER_BYTES);
}

bool client_queue_close(ClientQueue *queue, const ByteWriter *writer)
{
    if (writer->status != STATUS_OK) {
        return false;
    }
    put_header(queue, 0, writer->at);
    return true;
}

bool client_queue_at(const ClientQueue *queue, size_t at, ClientQueueItem *out)
{
    if (at < queue->begin || at >= queue->end) {
        return false;
    }
    uint32_t length = 0;
    memcpy(&out->tick, queue->data + at, sizeof out->tick);
    memcpy(&length, queue->data + at + sizeof out->tick, sizeof length);
    out->bytes = queue->data + at + ITEM_HEADER_BYTES;
    out->count = length;
    out->next = at + ITEM_HEADER_BYTES + length;
    ASSERT(out->next <= queue->end);
    return true;
}

// The bytes stay valid until something is pushed.
void client_queue_pop(ClientQueue *queue)
{
    ClientQueueItem item;
    if (client_queue_at(queue, queue->begin, &item)) {
        queue->begin = item.next;
        queue->middle = queue->middle > queue->begin ? queue->middle : queue->begin;
    }
}

void client_queue_clear(ClientQueue *queue)
{
    queue->begin = 0;
    queue->middle = 0;
    queue->end = 0;
}

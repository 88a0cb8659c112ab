// Messages as bytes: a message that decodes is inside its limits and encodes to the same bytes; if
// decoding fails, the arena is unchanged. A message also survives a round trip through JSON. The
// first byte chooses the direction.
#include "core/base/check.h"
#include "core/wire/message.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES (1u << 20)
#define TEXT_BYTES  (2u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Memory {
    void *first;
    void *second;
    char *text;
    uint8_t *bytes;
} Memory;

static const Memory *memory(void)
{
    static Memory blocks;
    if (blocks.first == NULL) {
        blocks = (Memory){aligned_alloc(16, ARENA_BYTES), aligned_alloc(16, ARENA_BYTES),
                          malloc(TEXT_BYTES), malloc(MESSAGE_BYTES_MAX)};
        ASSERT(blocks.first != NULL && blocks.second != NULL && blocks.text != NULL &&
               blocks.bytes != NULL);
    }
    return &blocks;
}

static size_t encode(const Message *message, MessageDirection direction)
{
    ByteWriter writer = byte_writer(memory()->bytes, MESSAGE_BYTES_MAX);
    if (direction == MESSAGE_EVENT) {
        message_encode_event(message->number, message->body, &writer);
    } else {
        message_encode(message, &writer);
    }
    ASSERT(writer.status == STATUS_OK);
    return writer.at;
}

static Status decode(const uint8_t *bytes, size_t count, MessageDirection direction, Arena *arena,
                     Message *out)
{
    return direction == MESSAGE_EVENT ? message_decode_event(bytes, count, arena, out)
                                      : message_decode(bytes, count, direction, arena, out);
}

static void check_json(const Message *message, MessageDirection direction, const uint8_t *bytes,
                       size_t count)
{
    ByteWriter writer = byte_writer(memory()->text, TEXT_BYTES);
    message_to_json(message, &writer);
    ASSERT(writer.status == STATUS_OK);
    Arena arena;
    arena_init(&arena, memory()->second, ARENA_BYTES);
    Message back;
    MessageJsonError error;
    const Status status =
        message_from_json(memory()->text, writer.at, direction, &arena, &back, &error);
    if (status == STATUS_LIMIT) {
        return; // escapes can make a text larger than a JSON message may be
    }
    ASSERT(status == STATUS_OK);
    ASSERT(encode(&back, direction) == count);
    ASSERT(memcmp(memory()->bytes, bytes, count) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const MessageDirection direction = (MessageDirection)(data[0] % 3);
    const uint8_t *bytes = data + 1;
    const size_t count = size - 1;
    Arena arena;
    arena_init(&arena, memory()->first, ARENA_BYTES);
    Message message = {0};
    if (decode(bytes, count, direction, &arena, &message) != STATUS_OK) {
        ASSERT(arena.used == 0);
        ASSERT(message.body == NULL);
        return 0;
    }
    ASSERT(message_row(message.number)->direction == direction);
    ASSERT(message_check(message.number, message.body) == STATUS_OK);
    ASSERT(encode(&message, direction) == count);
    ASSERT(memcmp(memory()->bytes, bytes, count) == 0);
    check_json(&message, direction, bytes, count);
    return 0;
}

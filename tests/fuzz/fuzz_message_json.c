// Messages as JSON: a message that is read is inside its limits, and writing and reading it again
// gives the same message. An error names a position and leaves the arena unchanged. The first byte
// chooses the direction.
#include "core/base/check.h"
#include "core/wire/message.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES (2u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Memory {
    void *first;
    void *second;
    char *text;
    char *again;
} Memory;

static const Memory *memory(void)
{
    static Memory blocks;
    if (blocks.first == NULL) {
        blocks = (Memory){aligned_alloc(16, MESSAGE_JSON_ARENA_BYTES),
                          aligned_alloc(16, MESSAGE_JSON_ARENA_BYTES), malloc(TEXT_BYTES),
                          malloc(TEXT_BYTES)};
        ASSERT(blocks.first != NULL && blocks.second != NULL && blocks.text != NULL &&
               blocks.again != NULL);
    }
    return &blocks;
}

static size_t write_json(const Message *message, char *out)
{
    ByteWriter writer = byte_writer(out, TEXT_BYTES);
    message_to_json(message, &writer);
    ASSERT(writer.status == STATUS_OK);
    return writer.at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const MessageDirection direction = (MessageDirection)(data[0] % 3);
    Arena arena;
    arena_init(&arena, memory()->first, MESSAGE_JSON_ARENA_BYTES);
    Message message = {0};
    MessageJsonError error;
    const Status status =
        message_from_json((const char *)data + 1, size - 1, direction, &arena, &message, &error);
    ASSERT(status == error.where.status);
    if (status != STATUS_OK) {
        ASSERT(arena.used == 0);
        ASSERT(message.body == NULL);
        ASSERT(error.code != ERROR_NONE && error.where.path[0] == '$');
        return 0;
    }
    ASSERT(error.code == ERROR_NONE);
    ASSERT(message_check(message.number, message.body) == STATUS_OK);
    const size_t bytes = write_json(&message, memory()->text);
    arena_init(&arena, memory()->second, MESSAGE_JSON_ARENA_BYTES);
    Message back = {0};
    const Status again = message_from_json(memory()->text, bytes, direction, &arena, &back, &error);
    if (again == STATUS_LIMIT) {
        return 0; // the writer names every field: a text at the limit grows past it
    }
    ASSERT(again == STATUS_OK);
    ASSERT(back.number == message.number && back.seq == message.seq);
    ASSERT(memcmp(&back.client_time_ms, &message.client_time_ms, sizeof(double)) == 0);
    ASSERT(write_json(&back, memory()->again) == bytes);
    ASSERT(memcmp(memory()->again, memory()->text, bytes) == 0);
    return 0;
}

// Requests to stores and their answers; see store_answer.h.
#include "core/script/bridge/store_answer.h"

#include "core/base/text.h"
#include "core/script/bridge/attribute_table.h"

#include <string.h>

void store_answer_list(ByteWriter *answer, uint64_t count)
{
    byte_write_u8(answer, STORE_TAG_LIST);
    byte_write_varint(answer, count);
}

void store_answer_integer(ByteWriter *answer, int64_t value)
{
    byte_write_u8(answer, STORE_TAG_INTEGER);
    byte_write_varint(answer, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void store_answer_text(ByteWriter *answer, const char *data, size_t bytes)
{
    byte_write_u8(answer, STORE_TAG_TEXT);
    byte_write_varint(answer, bytes);
    byte_write_bytes(answer, data, bytes);
}

bool store_answer_fail(ByteWriter *answer, const char *message)
{
    answer->at = 0;
    byte_write_bytes(answer, message, strlen(message));
    return false;
}

bool store_answer_check(const StoreRequest *request, ByteWriter *answer)
{
    if (attribute_table_name_check(request->store) != STATUS_OK) {
        return store_answer_fail(answer, "the name of a store has 1 to 64 bytes");
    }
    if (request->operation != STORE_SORTED &&
        (request->key.bytes < 1 || request->key.bytes > STORE_KEY_BYTES_MAX ||
         !text_is_valid(request->key.data, request->key.bytes))) {
        return store_answer_fail(answer, "a key has 1 to 128 bytes");
    }
    return true;
}

bool store_answer_value(const StoreRequest *request, const uint8_t **value, size_t *bytes,
                        ByteWriter *answer)
{
    if (request->value_bytes < 3 || request->value[0] != STORE_TAG_LIST || request->value[1] != 1 ||
        value_check(request->value, request->value_bytes) != STATUS_OK) {
        return store_answer_fail(answer, "one value can be stored under a key");
    }
    *value = request->value + 2;
    *bytes = request->value_bytes - 2;
    if ((*value)[0] == STORE_TAG_NIL) {
        return store_answer_fail(answer, "nil cannot be stored; RemoveAsync takes a key away");
    }
    if (*bytes > STORE_VALUE_BYTES) {
        return store_answer_fail(answer, "the value is too large");
    }
    int64_t integer = 0;
    if (request->ordered && !store_answer_read_integer(*value, *bytes, &integer)) {
        return store_answer_fail(answer, "an ordered store holds integers");
    }
    return true;
}

bool store_answer_read_integer(const uint8_t *value, size_t bytes, int64_t *out)
{
    ByteReader reader = byte_reader(value, bytes);
    if (byte_read_u8(&reader) != STORE_TAG_INTEGER) {
        return false;
    }
    const uint64_t raw = byte_read_varint(&reader);
    if (byte_reader_finish(&reader) != STATUS_OK) {
        return false;
    }
    *out = (int64_t)(raw >> 1 ^ (0 - (raw & 1)));
    return true;
}

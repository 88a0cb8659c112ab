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
    const size_t bytes_min = request->operation == STORE_SORTED ? 0 : 1;
    if (request->key.bytes < bytes_min || request->key.bytes > STORE_KEY_BYTES_MAX ||
        (request->key.bytes > 0 && !text_is_valid(request->key.data, request->key.bytes))) {
        return store_answer_fail(answer, "a key has 1 to 128 bytes");
    }
    return true;
}

static bool read_bound(ByteReader *reader, int64_t *out)
{
    const uint8_t tag = byte_read_u8(reader);
    if (tag == STORE_TAG_NIL) {
        return false;
    }
    const uint64_t raw = byte_read_varint(reader);
    if (tag != STORE_TAG_INTEGER) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    *out = (int64_t)(raw >> 1 ^ (0 - (raw & 1)));
    return true;
}

bool store_answer_range(const StoreRequest *request, StoreRange *out, ByteWriter *answer)
{
    StoreRange range = {.least = INT64_MIN, .most = INT64_MAX};
    int64_t after = 0;
    bool has_after = false;
    if (!request->ordered) {
        return store_answer_fail(answer, "only an ordered store can be read in order");
    }
    if (!(request->number >= 1 && request->number <= STORE_PAGE_MAX)) {
        return store_answer_fail(answer, "between 1 and 100 entries can be read at once");
    }
    range.count = (uint32_t)request->number;
    if (request->value_bytes > 0) {
        ByteReader reader = byte_reader(request->value, request->value_bytes);
        const bool is_list =
            byte_read_u8(&reader) == STORE_TAG_LIST && byte_read_varint(&reader) == 3;
        (void)read_bound(&reader, &range.least);
        (void)read_bound(&reader, &range.most);
        has_after = read_bound(&reader, &after);
        if (!is_list || byte_reader_finish(&reader) != STATUS_OK ||
            has_after != (request->key.bytes > 0)) {
            return store_answer_fail(answer, "min, max and after are not what a page begins with");
        }
    }
    // No key is empty, and none begins with 0xff, which is no UTF-8.
    range.from = request->ascending ? range.least : range.most;
    range.from_key = request->ascending ? (Text){"", 0} : (Text){"\xff", 1};
    if (has_after && (request->ascending ? after >= range.from : after <= range.from)) {
        range.from = after;
        range.from_key = request->key;
    }
    *out = range;
    return true;
}

void store_answer_version(ByteWriter *answer, uint64_t version, uint64_t unix_seconds, bool kept)
{
    byte_write_u8(answer, STORE_TAG_MAP);
    byte_write_varint(answer, 3);
    store_answer_text(answer, "kept", 4);
    byte_write_u8(answer, kept ? STORE_TAG_TRUE : STORE_TAG_FALSE);
    store_answer_text(answer, "time", 4);
    store_answer_integer(answer, (int64_t)unix_seconds);
    store_answer_text(answer, "version", 7);
    store_answer_integer(answer, (int64_t)version);
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

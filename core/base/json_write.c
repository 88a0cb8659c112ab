// The JSON writer. Every value goes through `begin_value`, which writes what must precede it, and
// every failure is stored in the status of the ByteWriter, after which nothing is written any more.
#include "core/base/json_write.h"

#include "core/base/base64.h"
#include "core/base/check.h"
#include "core/base/json_number.h"
#include "core/base/limits.h"
#include "core/base/utf8.h"

#include <string.h>

_Static_assert(JSON_DEPTH_MAX < 64, "one bit of a word a level");

JsonWriter json_writer(ByteWriter *out, uint32_t indent)
{
    ASSERT(indent <= 8);
    return (JsonWriter){.out = out, .indent = indent};
}

static bool is_failed(const JsonWriter *writer)
{
    return writer->out->status != STATUS_OK;
}

static void fail(JsonWriter *writer, Status status)
{
    if (!is_failed(writer)) {
        writer->out->status = status;
    }
}

static void write_char(JsonWriter *writer, char c)
{
    byte_write_u8(writer->out, (uint8_t)c);
}

static bool is_in_object(const JsonWriter *writer)
{
    return writer->depth != 0 && (writer->object_bits >> writer->depth & 1) != 0;
}

static void break_line(JsonWriter *writer)
{
    static const char spaces[] = "                ";
    if (writer->indent == 0) {
        return;
    }
    write_char(writer, '\n');
    for (size_t left = (size_t)writer->indent * writer->depth; left != 0;) {
        const size_t count = left < sizeof spaces - 1 ? left : sizeof spaces - 1;
        byte_write_bytes(writer->out, spaces, count);
        left -= count;
    }
}

// Before a child of the open container: the comma and the line break.
static void begin_child(JsonWriter *writer)
{
    const uint64_t bit = 1ull << writer->depth;
    if ((writer->filled_bits & bit) != 0) {
        write_char(writer, ',');
    }
    writer->filled_bits |= bit;
    break_line(writer);
}

static bool begin_value(JsonWriter *writer)
{
    if (is_failed(writer)) {
        return false;
    }
    ASSERT(!writer->is_done);
    if (is_in_object(writer)) {
        ASSERT(writer->has_name);
        writer->has_name = false;
    } else if (writer->depth != 0) {
        begin_child(writer);
    }
    writer->is_done = writer->depth == 0;
    writer->value_count += 1;
    return !is_failed(writer);
}

static void container_begin(JsonWriter *writer, bool is_object)
{
    if (!begin_value(writer)) {
        return;
    }
    if (writer->depth == JSON_DEPTH_MAX) {
        fail(writer, STATUS_LIMIT);
        return;
    }
    write_char(writer, is_object ? '{' : '[');
    writer->depth += 1;
    const uint64_t bit = 1ull << writer->depth;
    writer->filled_bits &= ~bit;
    writer->object_bits = is_object ? writer->object_bits | bit : writer->object_bits & ~bit;
    writer->is_done = false;
}

static void container_end(JsonWriter *writer, bool is_object)
{
    if (is_failed(writer)) {
        return;
    }
    ASSERT(writer->depth != 0);
    ASSERT(is_in_object(writer) == is_object);
    ASSERT(!writer->has_name);
    const bool is_filled = (writer->filled_bits >> writer->depth & 1) != 0;
    writer->depth -= 1;
    if (is_filled) {
        break_line(writer);
    }
    write_char(writer, is_object ? '}' : ']');
    writer->is_done = writer->depth == 0;
}

void json_write_object_begin(JsonWriter *writer)
{
    container_begin(writer, true);
}

void json_write_object_end(JsonWriter *writer)
{
    container_end(writer, true);
}

void json_write_array_begin(JsonWriter *writer)
{
    container_begin(writer, false);
}

void json_write_array_end(JsonWriter *writer)
{
    container_end(writer, false);
}

// A character that must not stand in a string as it is.
static void put_escaped(JsonWriter *writer, uint8_t byte)
{
    static const char values[] = "\"\\\b\f\n\r\t";
    static const char names[] = "\"\\bfnrt";
    static const char digits[] = "0123456789abcdef";
    write_char(writer, '\\');
    const char *value = byte == 0 ? NULL : strchr(values, byte);
    if (value != NULL) {
        write_char(writer, names[value - values]);
        return;
    }
    byte_write_bytes(writer->out, "u00", 3);
    write_char(writer, digits[byte >> 4]);
    write_char(writer, digits[byte & 15]);
}

static void put_string(JsonWriter *writer, const char *text, size_t bytes)
{
    if (!utf8_is_valid(text, bytes)) {
        fail(writer, STATUS_MALFORMED);
        return;
    }
    write_char(writer, '"');
    size_t plain_at = 0;
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t byte = (uint8_t)text[i];
        if (byte < 0x20 || byte == '"' || byte == '\\') {
            byte_write_bytes(writer->out, text + plain_at, i - plain_at);
            put_escaped(writer, byte);
            plain_at = i + 1;
        }
    }
    byte_write_bytes(writer->out, text + plain_at, bytes - plain_at);
    write_char(writer, '"');
}

void json_write_name_bytes(JsonWriter *writer, const char *name, size_t bytes)
{
    if (is_failed(writer)) {
        return;
    }
    ASSERT(is_in_object(writer));
    ASSERT(!writer->has_name);
    begin_child(writer);
    put_string(writer, name, bytes);
    write_char(writer, ':');
    if (writer->indent != 0) {
        write_char(writer, ' ');
    }
    writer->has_name = true;
}

void json_write_name(JsonWriter *writer, const char *name)
{
    json_write_name_bytes(writer, name, strlen(name));
}

void json_write_null(JsonWriter *writer)
{
    if (begin_value(writer)) {
        byte_write_bytes(writer->out, "null", 4);
    }
}

void json_write_bool(JsonWriter *writer, bool value)
{
    if (begin_value(writer)) {
        byte_write_bytes(writer->out, value ? "true" : "false", value ? 4 : 5);
    }
}

void json_write_integer(JsonWriter *writer, int64_t value)
{
    char text[JSON_NUMBER_TEXT_BYTES];
    if (begin_value(writer)) {
        byte_write_bytes(writer->out, text, json_number_format_integer(value, text));
    }
}

void json_write_number(JsonWriter *writer, double value)
{
    char text[JSON_NUMBER_TEXT_BYTES];
    if (value - value != 0) {
        fail(writer, STATUS_RANGE);
    }
    if (begin_value(writer)) {
        byte_write_bytes(writer->out, text, json_number_format(value, text));
    }
}

void json_write_f32(JsonWriter *writer, float value)
{
    char text[JSON_NUMBER_TEXT_BYTES];
    if (value - value != 0) {
        fail(writer, STATUS_RANGE);
    }
    if (begin_value(writer)) {
        byte_write_bytes(writer->out, text, json_number_format_f32(value, text));
    }
}

void json_write_text_bytes(JsonWriter *writer, const char *text, size_t bytes)
{
    ASSERT(text != NULL || bytes == 0);
    if (begin_value(writer)) {
        put_string(writer, text, bytes);
    }
}

void json_write_text(JsonWriter *writer, const char *text)
{
    json_write_text_bytes(writer, text, strlen(text));
}

void json_write_base64(JsonWriter *writer, const void *data, size_t bytes)
{
    ASSERT(data != NULL || bytes == 0);
    if (begin_value(writer)) {
        write_char(writer, '"');
        base64_write(data, bytes, writer->out);
        write_char(writer, '"');
    }
}

static void write_scalar(JsonWriter *writer, const JsonNode *node)
{
    switch ((JsonKind)node->kind) {
    case JSON_NULL:
        json_write_null(writer);
        break;
    case JSON_BOOL:
        json_write_bool(writer, node->boolean);
        break;
    case JSON_NUMBER:
        // Past 2^53 only the integer is exact; minus zero is a double only.
        if (node->is_integer && node->integer != 0) {
            json_write_integer(writer, node->integer);
        } else {
            json_write_number(writer, node->number);
        }
        break;
    case JSON_STRING:
        json_write_text_bytes(writer, node->text, node->count);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
    case JSON_KIND_COUNT:
        ASSERT(false);
    }
}

static bool is_container(const JsonNode *node)
{
    return node->kind == JSON_OBJECT || node->kind == JSON_ARRAY;
}

static void begin_node(JsonWriter *writer, const JsonNode *node)
{
    if (is_container(node)) {
        container_begin(writer, node->kind == JSON_OBJECT);
    } else {
        write_scalar(writer, node);
    }
}

// The root's own name, if it is a member, is written by the caller.
void json_write_node(JsonWriter *writer, const JsonNode *root)
{
    const JsonNode *node = root;
    begin_node(writer, root);
    for (;;) {
        if (is_container(node) && node->first != NULL) {
            node = node->first;
        } else {
            if (is_container(node)) {
                container_end(writer, node->kind == JSON_OBJECT);
            }
            while (node != root && node->next == NULL) {
                node = node->parent;
                container_end(writer, node->kind == JSON_OBJECT);
            }
            if (node == root) {
                return;
            }
            node = node->next;
        }
        if (node->name != NULL) {
            json_write_name_bytes(writer, node->name, node->name_bytes);
        }
        begin_node(writer, node);
    }
}

Status json_writer_finish(const JsonWriter *writer)
{
    if (!is_failed(writer)) {
        ASSERT(writer->is_done);
    }
    return writer->out->status;
}

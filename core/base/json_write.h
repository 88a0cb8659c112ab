// A JSON writer over a ByteWriter. It puts the commas, quotes, escapes and (if asked) the line
// breaks; the caller decides the order of members and calls begin and end in pairs. The status is
// that of the ByteWriter and sticky: STATUS_LIMIT when something did not fit or nests deeper than
// JSON_DEPTH_MAX, STATUS_RANGE for a number that is not finite, STATUS_MALFORMED for text that is
// not UTF-8. A call in the wrong place (two values without a name between them in an object, an end
// without its begin) is our bug and dies.
//
// The same calls give the same bytes in every build.
#pragma once

#include "core/base/bytes.h"
#include "core/base/json.h"

typedef struct JsonWriter {
    ByteWriter *out;
    uint32_t indent; // spaces a level; 0 writes everything on one line without spaces
    uint32_t depth;
    uint64_t object_bits; // bit d: the container at depth d is an object
    uint64_t filled_bits; // bit d: it has a child already
    bool has_name;        // the name of a member was written, its value comes next
    bool is_done;         // the one value at the top is written
    uint32_t value_count; // the nodes that a reader makes of it
} JsonWriter;

JsonWriter json_writer(ByteWriter *out, uint32_t indent);

void json_write_object_begin(JsonWriter *writer);
void json_write_object_end(JsonWriter *writer);
void json_write_array_begin(JsonWriter *writer);
void json_write_array_end(JsonWriter *writer);
void json_write_name(JsonWriter *writer, const char *name);
void json_write_name_bytes(JsonWriter *writer, const char *name, size_t bytes);

void json_write_null(JsonWriter *writer);
void json_write_bool(JsonWriter *writer, bool value);
void json_write_integer(JsonWriter *writer, int64_t value);
// See json_number.h for how numbers look.
void json_write_number(JsonWriter *writer, double value);
void json_write_f32(JsonWriter *writer, float value);
void json_write_text(JsonWriter *writer, const char *text);
void json_write_text_bytes(JsonWriter *writer, const char *text, size_t bytes);
// Bytes as a string of base64.
void json_write_base64(JsonWriter *writer, const void *data, size_t bytes);
// A whole tree.
void json_write_node(JsonWriter *writer, const JsonNode *root);

// The status; the text must be complete if it is STATUS_OK.
MUST_USE Status json_writer_finish(const JsonWriter *writer);

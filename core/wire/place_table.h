// Inside of wire_place: what the members of a place's files are, as tables. One table describes one
// JSON object and the C struct that holds it; the same rows drive reading and writing of JSON,
// reading and writing of bytes, and the test that compares docs/FORMATS.md with them. So a member
// has one range, and whatever one reader refuses the other refuses too.
//
// As bytes, an object is a varint whose bit i says that member i follows, and those members in
// order. A member that equals its default is left out, unless it is required: equal objects give
// equal bytes.
#pragma once

#include "core/base/bytes.h"
#include "core/base/heap.h"
#include "core/base/json.h"
#include "core/base/json_write.h"
#include "core/base/math.h"
#include "core/base/text.h"

#define PLACE_NAME_BYTES       WORLD_NAME_BYTES_MAX
#define PLACE_PARAMETERS_BYTES 8192 // of parameters and spells, as compact JSON
#define PLACE_CONTEXTS_BYTES   65536

// The texts of a place are always terminated.
#define PLACE_TEXT_NONE ((Text){"", 0})

typedef struct PlaceList {
    void *items;
    uint32_t count;
} PlaceList;

typedef enum PlaceRotationForm {
    PLACE_ROTATION_NONE,
    PLACE_ROTATION_DEGREES,   // about x, y, z; about z is done first, then x, then y
    PLACE_ROTATION_QUATERNION // x, y, z, w; unit
} PlaceRotationForm;
typedef struct PlaceRotation {
    PlaceRotationForm form;
    float values[4];
} PlaceRotation;

typedef enum PlaceValueType {
    PLACE_VALUE_BOOL,
    PLACE_VALUE_NUMBER,
    PLACE_VALUE_TEXT,
    PLACE_VALUE_VECTOR,
    PLACE_VALUE_ENTITY,
    PLACE_VALUE_TYPE_COUNT
} PlaceValueType;

enum {
    PLACE_ATTRIBUTE_PERSISTENT = 1 << 0,
    PLACE_ATTRIBUTE_PRIVATE = 1 << 1, // visibility "server"
    PLACE_ATTRIBUTE_OWNER = 1 << 2,   // visibility "owner"
    PLACE_ATTRIBUTE_FLAGS_ALL = (1 << 3) - 1
};

typedef struct PlaceAttribute {
    Text name;
    PlaceValueType type;
    uint32_t flags;
    bool boolean;
    double number;
    Text text;
    Vec3 vector;
    uint32_t entity; // the id in scene.json; in the stripped form the net id
    // Worked out by place_check, of that entity.
    uint64_t net_id;
    bool is_hidden; // it is server-only
} PlaceAttribute;

typedef enum PlaceFieldType {
    PLACE_BOOL,       // bool
    PLACE_U32,        // uint32_t in low..high
    PLACE_F32,        // float in low..high
    PLACE_VEC3,       // Vec3, each in low..high
    PLACE_CELLS,      // int32_t[3], each in low..high
    PLACE_TEXT,       // Text of low..high bytes; the default is ""
    PLACE_CHOICE,     // uint32_t, the place in a list of words
    PLACE_COLOUR,     // uint32_t, "#rrggbb"
    PLACE_ROTATION,   // PlaceRotation, [degrees x 3] or [quaternion x 4]
    PLACE_OBJECT,     // a struct by its own table
    PLACE_LIST,       // PlaceList of structs, at most high
    PLACE_TEXTS,      // PlaceList of Text of 1..low bytes, at most high of them, all different
    PLACE_VECTORS,    // PlaceList of Vec3, at most high
    PLACE_ATTRIBUTES, // PlaceList of PlaceAttribute by ascending name, at most high
    PLACE_JSON        // Text: any JSON of at most high bytes, compact; "" for none
} PlaceFieldType;

enum {
    PLACE_REQUIRED = 1 << 0,
    PLACE_SERVER = 1 << 1 // left out of the stripped form
};

typedef struct PlaceTable PlaceTable;
typedef struct PlaceField {
    const char *name;
    PlaceFieldType type;
    uint32_t flags;
    size_t offset;
    double low, high;
    double fallback;          // the default; for PLACE_VEC3 and PLACE_CELLS of each component
    const char *const *words; // PLACE_CHOICE: NULL ends it
    const PlaceTable *table;  // PLACE_OBJECT, PLACE_LIST
} PlaceField;

struct PlaceTable {
    const char *name; // its heading in docs/FORMATS.md
    const PlaceField *fields;
    uint32_t field_count; // at most 63
    size_t bytes;         // of the struct
};

// --- scratch: blocks from a heap, given back all at once ----------------------------------------
typedef struct PlaceScratch {
    Heap *heap;
    struct PlaceBlock *blocks;
    size_t left;
    uint8_t *at;
} PlaceScratch;
void *place_scratch_take(PlaceScratch *scratch, size_t count,
                         size_t item_bytes); // zeroed; NULL: no more
void place_scratch_free(PlaceScratch *scratch);

// --- the four directions ------------------------------------------------------------------------
void place_table_default(const PlaceTable *table, void *out);
bool place_table_is_default(const PlaceTable *table, const void *item);
bool place_field_is_left_out(const PlaceField *field, const void *item, bool stripped);
// Sticky error, as in json_read.h. Texts point into the tree.
void place_table_from_json(const PlaceTable *table, const JsonNode *node, PlaceScratch *scratch,
                           void *out, JsonError *error);
void place_table_to_json(const PlaceTable *table, const void *item, PlaceScratch *scratch,
                         JsonWriter *writer);
// Texts point into the reader's bytes.
void place_table_read(const PlaceTable *table, ByteReader *reader, PlaceScratch *scratch,
                      void *out);
void place_table_write(const PlaceTable *table, const void *item, bool stripped,
                       ByteWriter *writer);

// The same for one member, whose value is at `out` or `value`.
void place_field_default(const PlaceField *field, void *out);
bool place_field_is_default(const PlaceField *field, const void *value);
void place_field_from_json(const PlaceField *field, const JsonNode *node, PlaceScratch *scratch,
                           void *out, JsonError *error);
void place_field_to_json(const PlaceField *field, const void *value, PlaceScratch *scratch,
                         JsonWriter *writer);
void place_field_read(const PlaceField *field, ByteReader *reader, PlaceScratch *scratch,
                      void *out);
void place_field_write(const PlaceField *field, const void *value, bool stripped,
                       ByteWriter *writer);
// The row that a member of a JSON object is read by; NULL: there is none.
const PlaceField *place_field_named(const PlaceTable *table, const JsonNode *member);

// Texts as bytes: a varint, the characters, a zero.
Text place_text_read(ByteReader *reader, uint32_t bytes_min, uint32_t bytes_max);
void place_text_write(ByteWriter *writer, Text text);
// Parses a text into a tree in scratch that is large enough for it.
MUST_USE Status place_json_parse(PlaceScratch *scratch, const char *text, size_t bytes,
                                 const JsonNode **root, JsonError *error);

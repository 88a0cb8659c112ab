// Tables and JSON; see place_table.h. Objects nest as deep as the tables do, which is four levels,
// and so does the recursion here.
#include "core/wire/place_table.h"

#include "core/base/check.h"
#include "core/base/json_read.h"
#include "core/base/limits.h"
#include "core/base/nearest.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES      (32u << 10)
#define ATTRIBUTE_NUMBER 1.7976931348623157e308
#define NODE_TEXT_BYTES  32 // ends of a name and of a text, with what keeps the next aligned
#define NO_ROOM          "needs more memory than there is"

// --- scratch ------------------------------------------------------------------------------------

struct PlaceBlock {
    struct PlaceBlock *before;
    uint64_t pad; // keeps what follows aligned
};

void *place_scratch_take(PlaceScratch *scratch, size_t count, size_t item_bytes)
{
    size_t bytes = heap_array_bytes(count, item_bytes);
    if (bytes > SIZE_MAX / 2) {
        return NULL;
    }
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > scratch->left) {
        const size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        struct PlaceBlock *block = heap_alloc(scratch->heap, sizeof *block + room);
        if (block == NULL) {
            return NULL;
        }
        block->before = scratch->blocks;
        scratch->blocks = block;
        scratch->at = (uint8_t *)(block + 1);
        scratch->left = room;
    }
    void *taken = scratch->at;
    scratch->at += bytes;
    scratch->left -= bytes;
    return taken;
}

void place_scratch_free(PlaceScratch *scratch)
{
    while (scratch->blocks != NULL) {
        struct PlaceBlock *block = scratch->blocks;
        scratch->blocks = block->before;
        heap_free(scratch->heap, block);
    }
    scratch->left = 0;
    scratch->at = NULL;
}

static Status too_large(JsonError *error)
{
    *error = (JsonError){.status = STATUS_LIMIT, .line = 1, .column = 1, .path = "$"};
    (void)snprintf(error->message, sizeof error->message, NO_ROOM);
    return STATUS_LIMIT;
}

Status place_json_parse(PlaceScratch *scratch, const char *text, size_t bytes,
                        const JsonNode **root, JsonError *error)
{
    if (bytes > JSON_BYTES_MAX) {
        return too_large(error);
    }
    // A node takes about as much as 16 characters of an ordinary text; of the worst, many more. No
    // text takes more than the most nodes, each with a name and a text of its own.
    const uint64_t most =
        (uint64_t)bytes + 4096 + (uint64_t)JSON_NODES_MAX * (sizeof(JsonNode) + NODE_TEXT_BYTES);
    for (uint64_t room = (uint64_t)bytes * 16 + 4096;; room *= 2) {
        room = room < most ? room : most;
        void *block = room > SIZE_MAX / 2 ? NULL : heap_alloc(scratch->heap, (size_t)room);
        if (block == NULL) {
            return too_large(error);
        }
        Arena arena;
        arena_init(&arena, block, (size_t)room);
        const JsonConfig config = json_config_default(&arena);
        *error = (JsonError){0};
        const Status status = json_parse(&config, text, bytes, root, error);
        heap_free(scratch->heap, block);
        if (status == STATUS_OK) {
            // Once more, into scratch, with exactly what it takes.
            const size_t used = arena.used_peak;
            void *kept = place_scratch_take(scratch, used, 1);
            if (kept == NULL) {
                return too_large(error);
            }
            arena_init(&arena, kept, used);
            return json_parse(&config, text, bytes, root, error);
        }
        if (status != STATUS_LIMIT || room == most) {
            return status;
        }
    }
}

// --- texts --------------------------------------------------------------------------------------

// --- defaults -----------------------------------------------------------------------------------

void place_field_default(const PlaceField *field, void *out)
{
    uint8_t *at = out;
    const float number = (float)field->fallback;
    switch (field->type) {
    case PLACE_BOOL:
        *(bool *)at = field->fallback != 0;
        break;
    case PLACE_U32:
    case PLACE_CHOICE:
    case PLACE_COLOUR:
        *(uint32_t *)at = (uint32_t)field->fallback;
        break;
    case PLACE_F32:
        *(float *)at = number;
        break;
    case PLACE_VEC3:
        *(Vec3 *)at = vec3(number, number, number);
        break;
    case PLACE_CELLS:
        for (uint32_t i = 0; i < 3; i++) {
            ((int32_t *)at)[i] = (int32_t)field->fallback;
        }
        break;
    case PLACE_TEXT:
    case PLACE_JSON:
        *(Text *)at = PLACE_TEXT_NONE;
        break;
    case PLACE_ROTATION:
        *(PlaceRotation *)at = (PlaceRotation){0};
        break;
    case PLACE_OBJECT:
        place_table_default(field->table, at);
        break;
    case PLACE_LIST:
    case PLACE_TEXTS:
    case PLACE_VECTORS:
    case PLACE_ATTRIBUTES:
        *(PlaceList *)at = (PlaceList){0};
        break;
    }
}

void place_table_default(const PlaceTable *table, void *out)
{
    for (uint32_t i = 0; i < table->field_count; i++) {
        place_field_default(&table->fields[i], (uint8_t *)out + table->fields[i].offset);
    }
}

// Floats are compared by their bits: minus zero is not the default zero, because both forms of a
// place must give the same scene to the bit.
bool place_field_is_default(const PlaceField *field, const void *value)
{
    const uint8_t *at = value;
    const int32_t *cells = (const int32_t *)at;
    Vec3 numbers;
    switch (field->type) {
    case PLACE_BOOL:
        return *(const bool *)at == (field->fallback != 0);
    case PLACE_U32:
    case PLACE_CHOICE:
    case PLACE_COLOUR:
        return *(const uint32_t *)at == (uint32_t)field->fallback;
    case PLACE_F32:
        numbers.x = (float)field->fallback;
        return memcmp(at, &numbers.x, sizeof numbers.x) == 0;
    case PLACE_VEC3:
        numbers.x = numbers.y = numbers.z = (float)field->fallback;
        return memcmp(at, &numbers, sizeof numbers) == 0;
    case PLACE_CELLS:
        return cells[0] == (int32_t)field->fallback && cells[1] == cells[0] && cells[2] == cells[0];
    case PLACE_TEXT:
    case PLACE_JSON:
        return ((const Text *)at)->bytes == 0;
    case PLACE_ROTATION:
        return ((const PlaceRotation *)at)->form == PLACE_ROTATION_NONE;
    case PLACE_OBJECT:
        return place_table_is_default(field->table, at);
    case PLACE_LIST:
    case PLACE_TEXTS:
    case PLACE_VECTORS:
    case PLACE_ATTRIBUTES:
        return ((const PlaceList *)at)->count == 0;
    }
    return false;
}

bool place_table_is_default(const PlaceTable *table, const void *item)
{
    for (uint32_t i = 0; i < table->field_count; i++) {
        const PlaceField *field = &table->fields[i];
        if (!place_field_is_default(field, (const uint8_t *)item + field->offset)) {
            return false;
        }
    }
    return true;
}

bool place_field_is_left_out(const PlaceField *field, const void *item, bool stripped)
{
    if ((field->flags & PLACE_REQUIRED) != 0) {
        return false;
    }
    return (stripped && (field->flags & PLACE_SERVER) != 0) ||
           place_field_is_default(field, (const uint8_t *)item + field->offset);
}

// --- from JSON ----------------------------------------------------------------------------------

static Text text_from_json(const JsonNode *node, uint32_t low, uint32_t high, JsonError *error)
{
    const char *text = json_read_text(node, high, error);
    if (error->status != STATUS_OK) {
        return PLACE_TEXT_NONE;
    }
    if (node->count < low) {
        json_fail(error, STATUS_RANGE, node, "must not be empty");
        return PLACE_TEXT_NONE;
    }
    if (utf8_has_control(text, node->count)) {
        json_fail(error, STATUS_MALFORMED, node, "must have no control characters");
        return PLACE_TEXT_NONE;
    }
    return (Text){text, node->count};
}

// A text that people read as what something is called: by the rules of titles (control/name.h).
static Text label_from_json(const JsonNode *node, uint32_t low, uint32_t high, JsonError *error)
{
    const Text text = text_from_json(node, low, high, error);
    if (error->status != STATUS_OK || text.bytes == 0) {
        return text;
    }
    if (utf8_has_hidden(text.data, text.bytes)) {
        json_fail(error, STATUS_MALFORMED, node,
                  "must have no characters that show nothing or turn the direction of text");
        return PLACE_TEXT_NONE;
    }
    return text;
}

static uint32_t hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
           : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
           : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                  : 16;
}

static uint32_t colour_from_json(const JsonNode *node, JsonError *error)
{
    const char *text = json_read_text(node, 64, error);
    uint32_t colour = 0;
    bool is_good = error->status == STATUS_OK && node->count == 7 && text[0] == '#';
    for (uint32_t i = 1; i < 7 && is_good; i++) {
        const uint32_t digit = hex_digit(text[i]);
        is_good = digit < 16;
        colour = colour << 4 | digit;
    }
    if (!is_good && error->status == STATUS_OK) {
        json_fail(error, STATUS_MALFORMED, node, "must be a colour such as \"#33aa55\"");
    }
    return is_good ? colour : 0;
}

static PlaceRotation rotation_from_json(const JsonNode *node, JsonError *error)
{
    PlaceRotation out = {0};
    const JsonNode *item = json_read_array(node, 3, 4, error);
    if (error->status != STATUS_OK) {
        return out;
    }
    const bool is_quaternion = node->count == 4;
    const float most = is_quaternion ? 2.0f : 3600.0f;
    for (uint32_t i = 0; item != NULL; i++, item = item->next) {
        out.values[i] = json_read_f32(item, -most, most, error);
    }
    if (!is_quaternion) {
        const bool turns = out.values[0] != 0 || out.values[1] != 0 || out.values[2] != 0;
        out.form = turns ? PLACE_ROTATION_DEGREES : PLACE_ROTATION_NONE;
        return out;
    }
    Quat q = {out.values[0], out.values[1], out.values[2], out.values[3]};
    const float unit = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if (error->status == STATUS_OK && !(unit > 0.25f && unit < 4)) {
        json_fail(error, STATUS_RANGE, node, "must be a quaternion [x, y, z, w] of length 1");
        return out;
    }
    // What is unit already stays as it is, or writing and reading again would change it.
    if (math_abs(unit - 1) > QUAT_UNIT_TOLERANCE) {
        q = quat_normalise(q);
    }
    const float values[4] = {q.x, q.y, q.z, q.w};
    memcpy(out.values, values, sizeof values);
    const bool turns = q.x != 0 || q.y != 0 || q.z != 0 || q.w != 1;
    out.form = turns ? PLACE_ROTATION_QUATERNION : PLACE_ROTATION_NONE;
    return out;
}

static Text json_from_json(const JsonNode *node, const PlaceField *field, PlaceScratch *scratch,
                           JsonError *error)
{
    ByteWriter counter = byte_counter();
    JsonWriter measure = json_writer(&counter, 0);
    json_write_node(&measure, node);
    if (json_writer_finish(&measure) != STATUS_OK || (double)counter.at > field->high) {
        json_fail(error, STATUS_LIMIT, node, "must have at most %.0f bytes", field->high);
        return PLACE_TEXT_NONE;
    }
    char *text = place_scratch_take(scratch, counter.at + 1, 1);
    if (text == NULL) {
        json_fail(error, STATUS_LIMIT, node, NO_ROOM);
        return PLACE_TEXT_NONE;
    }
    ByteWriter out = byte_writer(text, counter.at);
    JsonWriter writer = json_writer(&out, 0);
    json_write_node(&writer, node);
    ASSERT(json_writer_finish(&writer) == STATUS_OK);
    return (Text){text, (uint32_t)out.at};
}

// Makes room for an array's items; false when it is empty or something is wrong.
static bool list_begin(const JsonNode *node, double most, size_t item_bytes, PlaceScratch *scratch,
                       PlaceList *list, JsonError *error)
{
    (void)json_read_array(node, 0, (uint32_t)most, error);
    if (error->status != STATUS_OK || node->count == 0) {
        return false;
    }
    list->items = place_scratch_take(scratch, node->count, item_bytes);
    if (list->items == NULL) {
        json_fail(error, STATUS_LIMIT, node, NO_ROOM);
        return false;
    }
    list->count = node->count;
    return true;
}

static void list_from_json(const PlaceField *field, const JsonNode *node, PlaceScratch *scratch,
                           PlaceList *list, JsonError *error)
{
    if (!list_begin(node, field->high, field->table->bytes, scratch, list, error)) {
        return;
    }
    uint8_t *item = list->items;
    for (const JsonNode *child = node->first; child != NULL; child = child->next) {
        place_table_from_json(field->table, child, scratch, item, error);
        item += field->table->bytes;
    }
}

static void texts_from_json(const PlaceField *field, const JsonNode *node, PlaceScratch *scratch,
                            PlaceList *list, JsonError *error)
{
    if (!list_begin(node, field->high, sizeof(Text), scratch, list, error)) {
        return;
    }
    Text *texts = list->items;
    for (const JsonNode *child = node->first; child != NULL; child = child->next) {
        texts[child->index] = label_from_json(child, 1, (uint32_t)field->low, error);
        for (uint32_t i = 0; i < child->index && error->status == STATUS_OK; i++) {
            if (text_equal(texts[i], texts[child->index])) {
                json_fail(error, STATUS_EXISTS, child, "is there already; take one of them out");
            }
        }
    }
}

static void vectors_from_json(const PlaceField *field, const JsonNode *node, PlaceScratch *scratch,
                              PlaceList *list, JsonError *error)
{
    if (!list_begin(node, field->high, sizeof(Vec3), scratch, list, error)) {
        return;
    }
    Vec3 *vectors = list->items;
    const float most = WORLD_EXTENT_M;
    for (const JsonNode *child = node->first; child != NULL; child = child->next) {
        vectors[child->index] = json_read_vec3(child, -most, most, error);
    }
}

// true, 3, "text", [x, y, z] or {"entity": 7}.
static void value_from_json(const JsonNode *node, PlaceAttribute *out, JsonError *error)
{
    static const char *const entity_members[] = {"entity"};
    switch ((JsonKind)node->kind) {
    case JSON_BOOL:
        out->type = PLACE_VALUE_BOOL;
        out->boolean = json_read_bool(node, error);
        return;
    case JSON_NUMBER:
        out->type = PLACE_VALUE_NUMBER;
        out->number = json_read_number(node, -ATTRIBUTE_NUMBER, ATTRIBUTE_NUMBER, error);
        return;
    case JSON_STRING:
        out->type = PLACE_VALUE_TEXT;
        out->text = text_from_json(node, 0, ATTRIBUTE_TEXT_BYTES_MAX, error);
        return;
    case JSON_ARRAY:
        out->type = PLACE_VALUE_VECTOR;
        out->vector = json_read_vec3(node, -1e30f, 1e30f, error);
        return;
    case JSON_OBJECT:
        out->type = PLACE_VALUE_ENTITY;
        json_read_only(node, entity_members, 1, error);
        const JsonNode *entity = json_read_member(node, "entity", error);
        out->entity = (uint32_t)json_read_integer(entity, 1, UINT32_MAX, error);
        return;
    default:
        json_fail(error, STATUS_MALFORMED, node,
                  "must be true or false, a number, a text, [x, y, z] or {\"entity\": id}");
    }
}

// "server", "owner" or "all"; "private": true is the older spelling of "server".
static uint32_t visibility_from_json(const JsonNode *node, JsonError *error)
{
    const JsonNode *private = json_find(node, "private");
    const JsonNode *visibility = json_find(node, "visibility");
    const bool is_private = private != NULL && json_read_bool(private, error);
    if (visibility == NULL) {
        return is_private ? PLACE_ATTRIBUTE_PRIVATE : 0;
    }
    if (json_text_equal(visibility, "server")) {
        return PLACE_ATTRIBUTE_PRIVATE;
    }
    if (is_private) {
        json_fail(error, STATUS_RANGE, visibility,
                  "must be \"server\" when \"private\" is true; leave \"private\" out");
        return 0;
    }
    if (json_text_equal(visibility, "owner")) {
        return PLACE_ATTRIBUTE_OWNER;
    }
    if (!json_text_equal(visibility, "all")) {
        json_fail(error, STATUS_RANGE, visibility, "must be \"server\", \"owner\" or \"all\"");
    }
    return 0;
}

// The value itself, or {"value": …, "persistent": true, "visibility": "owner"}.
static void attribute_from_json(const JsonNode *node, PlaceAttribute *out, JsonError *error)
{
    static const char *const members[] = {"value", "persistent", "visibility", "private"};
    if (node->name_bytes < 1 || node->name_bytes > PLACE_NAME_BYTES ||
        !text_is_valid(node->name, node->name_bytes)) {
        json_fail(error, STATUS_RANGE, node, "must have a name of 1 to %d bytes", PLACE_NAME_BYTES);
        return;
    }
    out->name = (Text){node->name, node->name_bytes};
    const JsonNode *value = node;
    if (node->kind == JSON_OBJECT && json_find(node, "entity") == NULL) {
        json_read_only(node, members, 4, error);
        value = json_read_member(node, "value", error);
        const JsonNode *persistent = json_find(node, "persistent");
        if (persistent != NULL && json_read_bool(persistent, error)) {
            out->flags |= PLACE_ATTRIBUTE_PERSISTENT;
        }
        out->flags |= visibility_from_json(node, error);
    }
    if (error->status == STATUS_OK) {
        value_from_json(value, out, error);
    }
}

static void attributes_from_json(const PlaceField *field, const JsonNode *node,
                                 PlaceScratch *scratch, PlaceList *list, JsonError *error)
{
    const JsonNode *member = json_read_object(node, error);
    if (member == NULL) {
        return;
    }
    if ((double)node->count > field->high) {
        json_fail(error, STATUS_LIMIT, node, "must have at most %.0f members", field->high);
        return;
    }
    PlaceAttribute *attributes = place_scratch_take(scratch, node->count, sizeof *attributes);
    if (attributes == NULL) {
        json_fail(error, STATUS_LIMIT, node, NO_ROOM);
        return;
    }
    uint32_t count = 0;
    for (; member != NULL && error->status == STATUS_OK; member = member->next) {
        PlaceAttribute one = {.text = PLACE_TEXT_NONE};
        attribute_from_json(member, &one, error);
        if (error->status != STATUS_OK) {
            return;
        }
        uint32_t at = count++;
        for (; at > 0 && text_compare(attributes[at - 1].name, one.name) > 0; at--) {
            attributes[at] = attributes[at - 1];
        }
        attributes[at] = one;
    }
    *list = (PlaceList){attributes, count};
}

static uint32_t word_count(const char *const *words)
{
    uint32_t count = 0;
    while (words[count] != NULL) {
        count += 1;
    }
    return count;
}

void place_field_from_json(const PlaceField *field, const JsonNode *node, PlaceScratch *scratch,
                           void *out, JsonError *error)
{
    uint8_t *at = out;
    const JsonNode *item;
    switch (field->type) {
    case PLACE_BOOL:
        *(bool *)at = json_read_bool(node, error);
        break;
    case PLACE_U32:
        *(uint32_t *)at =
            (uint32_t)json_read_integer(node, (int64_t)field->low, (int64_t)field->high, error);
        break;
    case PLACE_F32:
        *(float *)at = json_read_f32(node, (float)field->low, (float)field->high, error);
        break;
    case PLACE_VEC3:
        *(Vec3 *)at = json_read_vec3(node, (float)field->low, (float)field->high, error);
        break;
    case PLACE_CELLS:
        item = json_read_array(node, 3, 3, error);
        for (uint32_t i = 0; i < 3 && item != NULL; i++, item = item->next) {
            ((int32_t *)at)[i] =
                (int32_t)json_read_integer(item, (int64_t)field->low, (int64_t)field->high, error);
        }
        break;
    case PLACE_TEXT:
        *(Text *)at = label_from_json(node, (uint32_t)field->low, (uint32_t)field->high, error);
        break;
    case PLACE_CHOICE:
        *(uint32_t *)at = json_read_choice(node, field->words, word_count(field->words), error);
        break;
    case PLACE_COLOUR:
        *(uint32_t *)at = colour_from_json(node, error);
        break;
    case PLACE_ROTATION:
        *(PlaceRotation *)at = rotation_from_json(node, error);
        break;
    case PLACE_OBJECT:
        place_table_from_json(field->table, node, scratch, at, error);
        break;
    case PLACE_LIST:
        list_from_json(field, node, scratch, (PlaceList *)at, error);
        break;
    case PLACE_TEXTS:
        texts_from_json(field, node, scratch, (PlaceList *)at, error);
        break;
    case PLACE_VECTORS:
        vectors_from_json(field, node, scratch, (PlaceList *)at, error);
        break;
    case PLACE_ATTRIBUTES:
        attributes_from_json(field, node, scratch, (PlaceList *)at, error);
        break;
    case PLACE_JSON:
        *(Text *)at = json_from_json(node, field, scratch, error);
        break;
    }
}

static bool is_name(const JsonNode *member, const char *name)
{
    return strlen(name) == member->name_bytes &&
           memcmp(name, member->name, member->name_bytes) == 0;
}

// `color` is read as colour, which is what is written.
const PlaceField *place_field_named(const PlaceTable *table, const JsonNode *member)
{
    for (uint32_t i = 0; i < table->field_count; i++) {
        const char *name = table->fields[i].name;
        if (is_name(member, name) || (is_name(member, "color") && strcmp(name, "colour") == 0)) {
            return &table->fields[i];
        }
    }
    return NULL;
}

static void refuse_member(const PlaceTable *table, const JsonNode *member, JsonError *error)
{
    Nearest nearest = nearest_begin(member->name, member->name_bytes);
    for (uint32_t i = 0; i < table->field_count; i++) {
        (void)nearest_consider(&nearest, table->fields[i].name, strlen(table->fields[i].name));
    }
    if (nearest.found != NULL) {
        json_fail(error, STATUS_UNSUPPORTED, member, "is no member of %s; did you mean %s?",
                  table->name, nearest.found);
    } else {
        json_fail(error, STATUS_UNSUPPORTED, member,
                  "is no member of %s; see docs/FORMATS.md for its name", table->name);
    }
}

void place_table_from_json(const PlaceTable *table, const JsonNode *node, PlaceScratch *scratch,
                           void *out, JsonError *error)
{
    place_table_default(table, out);
    const JsonNode *member = json_read_object(node, error);
    uint64_t seen = 0;
    for (; member != NULL && error->status == STATUS_OK; member = member->next) {
        const PlaceField *field = place_field_named(table, member);
        if (field == NULL) {
            refuse_member(table, member, error);
            return;
        }
        const uint64_t bit = 1ull << (field - table->fields);
        if ((seen & bit) != 0) { // JSON itself has no member twice
            json_fail(error, STATUS_MALFORMED, member,
                      "is %s in another spelling; keep one of them", field->name);
            return;
        }
        seen |= bit;
        place_field_from_json(field, member, scratch, (uint8_t *)out + field->offset, error);
    }
    for (uint32_t i = 0; i < table->field_count && error->status == STATUS_OK; i++) {
        if ((table->fields[i].flags & PLACE_REQUIRED) != 0 && (seen >> i & 1) == 0) {
            json_fail_member(error, STATUS_NOT_FOUND, node, table->fields[i].name,
                             "is missing; add it");
        }
    }
}

// --- to JSON ------------------------------------------------------------------------------------

static void vector_to_json(Vec3 vector, JsonWriter *writer)
{
    json_write_array_begin(writer);
    json_write_f32(writer, vector.x);
    json_write_f32(writer, vector.y);
    json_write_f32(writer, vector.z);
    json_write_array_end(writer);
}

static void value_to_json(const PlaceAttribute *attribute, JsonWriter *writer)
{
    switch (attribute->type) {
    case PLACE_VALUE_BOOL:
        json_write_bool(writer, attribute->boolean);
        break;
    case PLACE_VALUE_NUMBER:
        json_write_number(writer, attribute->number);
        break;
    case PLACE_VALUE_TEXT:
        json_write_text_bytes(writer, attribute->text.data, attribute->text.bytes);
        break;
    case PLACE_VALUE_VECTOR:
        vector_to_json(attribute->vector, writer);
        break;
    case PLACE_VALUE_ENTITY:
    case PLACE_VALUE_TYPE_COUNT:
        json_write_object_begin(writer);
        json_write_name(writer, "entity");
        json_write_integer(writer, attribute->entity);
        json_write_object_end(writer);
        break;
    }
}

static void attributes_to_json(const PlaceList *list, JsonWriter *writer)
{
    const PlaceAttribute *attribute = list->items;
    json_write_object_begin(writer);
    for (uint32_t i = 0; i < list->count; i++, attribute++) {
        json_write_name_bytes(writer, attribute->name.data, attribute->name.bytes);
        if (attribute->flags == 0) {
            value_to_json(attribute, writer);
            continue;
        }
        json_write_object_begin(writer);
        json_write_name(writer, "value");
        value_to_json(attribute, writer);
        if ((attribute->flags & PLACE_ATTRIBUTE_PERSISTENT) != 0) {
            json_write_name(writer, "persistent");
            json_write_bool(writer, true);
        }
        if ((attribute->flags & ~(uint32_t)PLACE_ATTRIBUTE_PERSISTENT) != 0) {
            const bool is_server = (attribute->flags & PLACE_ATTRIBUTE_PRIVATE) != 0;
            json_write_name(writer, "visibility");
            json_write_text(writer, is_server ? "server" : "owner");
        }
        json_write_object_end(writer);
    }
    json_write_object_end(writer);
}

static void list_to_json(const PlaceField *field, const PlaceList *list, PlaceScratch *scratch,
                         JsonWriter *writer)
{
    json_write_array_begin(writer);
    for (uint32_t i = 0; i < list->count; i++) {
        if (field->type == PLACE_LIST) {
            const uint8_t *item = list->items;
            place_table_to_json(field->table, item + i * field->table->bytes, scratch, writer);
        } else if (field->type == PLACE_TEXTS) {
            const Text *text = (const Text *)list->items + i;
            json_write_text_bytes(writer, text->data, text->bytes);
        } else {
            vector_to_json(((const Vec3 *)list->items)[i], writer);
        }
    }
    json_write_array_end(writer);
}

static void rotation_to_json(const PlaceRotation *rotation, JsonWriter *writer)
{
    const uint32_t count = rotation->form == PLACE_ROTATION_QUATERNION ? 4 : 3;
    json_write_array_begin(writer);
    for (uint32_t i = 0; i < count; i++) {
        json_write_f32(writer, rotation->values[i]);
    }
    json_write_array_end(writer);
}

static void colour_to_json(uint32_t colour, JsonWriter *writer)
{
    char text[8];
    (void)snprintf(text, sizeof text, "#%06x", (unsigned)(colour & 0xffffff));
    json_write_text(writer, text);
}

static void json_to_json(Text text, PlaceScratch *scratch, JsonWriter *writer)
{
    const JsonNode *root = NULL;
    JsonError error;
    const Status status = place_json_parse(scratch, text.data, text.bytes, &root, &error);
    if (status == STATUS_OK) {
        json_write_node(writer, root);
    } else {
        json_write_null(writer);
        writer->out->status = status;
    }
}

void place_field_to_json(const PlaceField *field, const void *value, PlaceScratch *scratch,
                         JsonWriter *writer)
{
    const uint8_t *at = value;
    switch (field->type) {
    case PLACE_BOOL:
        json_write_bool(writer, *(const bool *)at);
        break;
    case PLACE_U32:
        json_write_integer(writer, *(const uint32_t *)at);
        break;
    case PLACE_F32:
        json_write_f32(writer, *(const float *)at);
        break;
    case PLACE_VEC3:
        vector_to_json(*(const Vec3 *)at, writer);
        break;
    case PLACE_CELLS:
        json_write_array_begin(writer);
        for (uint32_t i = 0; i < 3; i++) {
            json_write_integer(writer, ((const int32_t *)at)[i]);
        }
        json_write_array_end(writer);
        break;
    case PLACE_TEXT:
        json_write_text_bytes(writer, ((const Text *)at)->data, ((const Text *)at)->bytes);
        break;
    case PLACE_CHOICE:
        json_write_text(writer, field->words[*(const uint32_t *)at]);
        break;
    case PLACE_COLOUR:
        colour_to_json(*(const uint32_t *)at, writer);
        break;
    case PLACE_ROTATION:
        rotation_to_json((const PlaceRotation *)at, writer);
        break;
    case PLACE_OBJECT:
        place_table_to_json(field->table, at, scratch, writer);
        break;
    case PLACE_LIST:
    case PLACE_TEXTS:
    case PLACE_VECTORS:
        list_to_json(field, (const PlaceList *)at, scratch, writer);
        break;
    case PLACE_ATTRIBUTES:
        attributes_to_json((const PlaceList *)at, writer);
        break;
    case PLACE_JSON:
        json_to_json(*(const Text *)at, scratch, writer);
        break;
    }
}

void place_table_to_json(const PlaceTable *table, const void *item, PlaceScratch *scratch,
                         JsonWriter *writer)
{
    json_write_object_begin(writer);
    for (uint32_t i = 0; i < table->field_count; i++) {
        const PlaceField *field = &table->fields[i];
        if (!place_field_is_left_out(field, item, false)) {
            json_write_name(writer, field->name);
            place_field_to_json(field, (const uint8_t *)item + field->offset, scratch, writer);
        }
    }
    json_write_object_end(writer);
}

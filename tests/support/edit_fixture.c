// See edit_fixture.h.
#include "tests/support/edit_fixture.h"

#include "core/base/check.h"

#include <stdio.h>
#include <string.h>

const char EDIT_PLACE[] = "{\n"
                          "  \"format\": 1,\n"
                          "  \"name\": \"Test\",\n"
                          "  \"limits\": {\"players\": 8},\n"
                          "  \"voxelKinds\": [{\"name\": \"grass\"}, {\"name\": \"stone\"}]\n"
                          "}\n";

const char EDIT_SCENE_TEXT[] =
    "{\n"
    "  \"format\": 1,\n"
    "  \"bounds\": {\"min\": [-40, -40, -40], \"max\": [40, 60, 130]},\n"
    "  \"terrain\": [\n"
    "    {\"min\": [-8, -1, -8], \"max\": [7, -1, 7], \"kind\": \"grass\"},\n"
    "    {\"min\": [0, 0, 0], \"max\": [1, 1, 1], \"kind\": \"stone\"}\n"
    "  ],\n"
    "  \"entities\": [\n"
    "    {\"id\": 1, \"name\": \"Spawn\", \"type\": \"spawn\"},\n"
    "\n"
    "    {\"id\": 10, \"name\": \"Hut\",   \"type\": \"group\",\n"
    "     \"transform\": {\"position\": [-14, 0, 4], \"rotation\": [0, 30, 0]}},\n"
    "    {\"id\": 11, \"name\": \"Floor\", \"parent\": 10, \"anchored\": true,\n"
    "     \"shape\": {\"size\": [8,0.20, 6]}, \"material\": \"wood\", \"color\": \"#9c6644\"},\n"
    "    {\"id\": 12, \"name\": \"Wall\", \"parent\": 10,\n"
    "     \"attributes\": {\"door\": {\"entity\": 11}, \"hits\": 3}},\n"
    "    {\n"
    "      \"id\": 20,\n"
    "      \"name\": \"Crate\",\n"
    "      \"transform\": {\"position\": [1, 2, 3]}\n"
    "    }\n"
    "  ]\n"
    "}\n";

static const EditBlobs no_blobs;

EditText *edit_fixture_open(Heap *heap, const char *scene, EditDoc **doc)
{
    EditText *text = NULL;
    PlaceError error;
    const EditTexts texts = {text_from(EDIT_PLACE), text_from(scene)};
    const Status status = edit_text_open(heap, no_blobs, texts, &text, doc, &error);
    if (status != STATUS_OK) {
        char words[512];
        place_error_text(&error, words, sizeof words);
        (void)fprintf(stderr, "%s\n", words);
    }
    ASSERT(status == STATUS_OK);
    return text;
}

EditDoc *edit_fixture_doc(Heap *heap, const char *scene)
{
    EditDoc *doc = NULL;
    edit_text_close(edit_fixture_open(heap, scene, &doc));
    return doc;
}

EditBuffer edit_fixture_ops(Heap *heap)
{
    EditBuffer ops = edit_buffer(heap, 8u << 20);
    edit_ops_begin(&ops);
    return ops;
}

static void record_from_json(Heap *heap, EditKind kind, const char *json, EditBuffer *out)
{
    PlaceScratch scratch = {.heap = heap};
    const JsonNode *root = NULL;
    JsonError error = {0};
    EditObject object;
    memset(&object, 0, sizeof object);
    const Status status = place_json_parse(&scratch, json, strlen(json), &root, &error);
    ASSERT(status == STATUS_OK);
    place_table_from_json(edit_kind_table(kind), root, &scratch, &object, &error);
    ASSERT(error.status == STATUS_OK);
    edit_record_write(kind, &object, out);
    place_scratch_free(&scratch);
}

void edit_fixture_create(EditBuffer *ops, EditWhere where, const char *json)
{
    EditBuffer record = edit_buffer(ops->heap, 1u << 20);
    record_from_json(ops->heap, EDIT_ENTITY, json, &record);
    edit_op_create(ops, where, record.data, record.bytes);
    edit_buffer_free(&record);
}

void edit_fixture_fill(EditBuffer *ops, uint32_t id, const char *json)
{
    EditBuffer record = edit_buffer(ops->heap, 1u << 20);
    record_from_json(ops->heap, EDIT_TERRAIN, json, &record);
    edit_op_fill(ops, id, (EditWhere){EDIT_AT_END, 0}, record.data, record.bytes);
    edit_buffer_free(&record);
}

void edit_fixture_set(EditBuffer *ops, EditKind kind, uint32_t id, const char *name,
                      const char *json)
{
    uint32_t number = 0;
    EditMember member;
    const bool is_found = edit_member_named(edit_kind_table(kind), name, &number) &&
                          edit_member_at(edit_kind_table(kind), number, &member);
    ASSERT(is_found);
    PlaceScratch scratch = {.heap = ops->heap};
    EditBuffer value = edit_buffer(ops->heap, 1u << 20);
    JsonError error = {0};
    const Status status =
        edit_value_from_json(&member, json, strlen(json), &scratch, &value, &error);
    ASSERT(status == STATUS_OK);
    edit_op_set_all(ops, kind, number, &id, 1, value.data, value.bytes);
    edit_buffer_free(&value);
    place_scratch_free(&scratch);
}

void edit_fixture_delete(EditBuffer *ops, EditKind kind, uint32_t id)
{
    edit_op_delete(ops, kind, &id, 1);
}

void edit_fixture_move(EditBuffer *ops, uint32_t id, uint32_t parent, uint32_t after)
{
    const EditWhere where =
        after == 0 ? (EditWhere){EDIT_AT_BEGIN, 0} : (EditWhere){EDIT_AFTER, after};
    edit_op_move(ops, &parent, &where, &id, 1);
}

Status edit_fixture_apply(EditDoc *doc, EditBuffer *ops, EditError *error)
{
    EditInverse inverse = edit_inverse(ops->heap);
    EditError ignored;
    const Status status =
        edit_apply(doc, ops->data, ops->bytes, &inverse, error != NULL ? error : &ignored);
    edit_inverse_free(&inverse);
    edit_buffer_free(ops);
    return status;
}

const char *edit_fixture_value(EditDoc *doc, EditKind kind, uint32_t id, const char *name)
{
    static char text[4096];
    uint32_t number = 0;
    EditMember member;
    const bool is_found = edit_member_named(edit_kind_table(kind), name, &number) &&
                          edit_member_at(edit_kind_table(kind), number, &member);
    ASSERT(is_found);
    PlaceScratch scratch = {.heap = edit_doc_heap(doc)};
    EditObject object;
    const Status status = edit_doc_read(doc, kind, id, &scratch, &object);
    if (status != STATUS_OK) {
        return "gone";
    }
    ByteWriter out = byte_writer(text, sizeof text - 1);
    JsonWriter writer = json_writer(&out, 0);
    place_field_to_json(member.field, (const uint8_t *)&object + member.offset, &scratch, &writer);
    text[out.at] = '\0';
    place_scratch_free(&scratch);
    return text;
}

// --- at random ----------------------------------------------------------------------------------

static uint32_t random_entity(const EditDoc *doc, Rng *rng)
{
    const uint32_t count = edit_doc_count(doc, EDIT_ENTITY);
    uint32_t id = edit_doc_first(doc, EDIT_ENTITY);
    for (uint32_t left = count == 0 ? 0 : rng_below(rng, count); left > 0; left--) {
        id = edit_doc_next(doc, EDIT_ENTITY, id);
    }
    return id;
}

static uint32_t random_fill(const EditDoc *doc, Rng *rng)
{
    const uint32_t count = edit_doc_count(doc, EDIT_TERRAIN);
    uint32_t id = edit_doc_first(doc, EDIT_TERRAIN);
    for (uint32_t left = count == 0 ? 0 : rng_below(rng, count); left > 0; left--) {
        id = edit_doc_next(doc, EDIT_TERRAIN, id);
    }
    return id;
}

static void random_set(const EditDoc *doc, Rng *rng, EditBuffer *ops)
{
    static const char *const values[][2] = {
        {"name", "\"A name with \\\"quotes\\\" and \\u00e4\""},
        {"colour", "\"#12ab34\""},
        {"anchored", "false"},
        {"anchored", "true"},
        {"shape.size", "[1, 2.5, 0.25]"},
        {"transform.rotation", "[0, 45, 0]"},
        {"transform.rotation", "[0, 0, 0]"},
        {"tags", "[\"red\", \"door\"]"},
        {"tags", "[]"},
        {"parameters", "{\"speed\": 3, \"list\": [1, 2, {\"deep\": null}]}"},
        {"attributes", "{\"a\": 1, \"b\": {\"value\": true, \"persistent\": true}}"},
        {"motion.waypoints", "[{\"position\": [1, 0, 0], \"seconds\": 2}]"},
        {"type", "\"prop\""},
    };
    const uint32_t id = random_entity(doc, rng);
    const uint32_t which = rng_below(rng, 20);
    if (which < sizeof values / sizeof values[0]) {
        edit_fixture_set(ops, EDIT_ENTITY, id, values[which][0], values[which][1]);
        return;
    }
    char json[96];
    const uint32_t x = rng_below(rng, 1000);
    const uint32_t y = rng_below(rng, 1000);
    (void)snprintf(json, sizeof json, "[%u.%u, %u, -%u.5]", (unsigned)x, (unsigned)y, (unsigned)y,
                   (unsigned)x);
    edit_fixture_set(ops, EDIT_ENTITY, id, "transform.position", json);
}

static void random_create(const EditDoc *doc, Rng *rng, uint32_t ids, EditBuffer *ops)
{
    char json[160];
    const uint32_t id = 100 + rng_below(rng, ids);
    const uint32_t parent = rng_below(rng, 3) == 0 ? random_entity(doc, rng) : 0;
    const EditWhere where = {(EditSpot)rng_below(rng, EDIT_SPOT_COUNT), random_entity(doc, rng)};
    (void)snprintf(json, sizeof json,
                   parent != 0 ? "{\"id\": %u, \"name\": \"New\", \"parent\": %u}"
                               : "{\"id\": %u, \"name\": \"New\"}",
                   (unsigned)id, (unsigned)parent);
    edit_fixture_create(ops, where, json);
}

static void random_file(Rng *rng, const EditDoc *doc, EditBuffer *ops)
{
    char path[64];
    uint8_t hash[SHA256_BYTES] = {0};
    (void)snprintf(path, sizeof path, "assets/%u.png", (unsigned)rng_below(rng, 4));
    const EditFile *file = edit_doc_file_find(doc, text_from(path));
    hash[0] = (uint8_t)rng_below(rng, 4);
    if (file != NULL && rng_below(rng, 3) == 0) {
        char other[64];
        (void)snprintf(other, sizeof other, "assets/%u.png", (unsigned)rng_below(rng, 8));
        edit_op_rename(ops, text_from(path), text_from(other), file->hash);
    } else {
        edit_op_file(ops, text_from(path), hash, file != NULL ? file->hash : NULL);
    }
}

static void random_terrain(const EditDoc *doc, Rng *rng, uint32_t ids, EditBuffer *ops)
{
    const uint32_t fill = random_fill(doc, rng);
    if (fill != 0 && rng_below(rng, 3) == 0) {
        edit_fixture_delete(ops, EDIT_TERRAIN, fill);
        return;
    }
    char json[128];
    const uint32_t x = rng_below(rng, 100);
    (void)snprintf(json, sizeof json,
                   "{\"min\": [%u, 0, 0], \"max\": [%u, 1, 1], \"kind\": \"stone\"}", (unsigned)x,
                   (unsigned)(x + 3));
    edit_fixture_fill(ops, 100 + rng_below(rng, ids), json);
}

void edit_fixture_random(EditDoc *doc, Rng *rng, uint32_t ids, EditBuffer *ops)
{
    const uint32_t count = 1 + rng_below(rng, 4);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t dice = rng_below(rng, 100);
        if (dice < 25) {
            random_create(doc, rng, ids, ops);
        } else if (dice < 30) {
            edit_fixture_delete(ops, EDIT_ENTITY, random_entity(doc, rng));
        } else if (dice < 65) {
            random_set(doc, rng, ops);
        } else if (dice < 80) {
            const uint32_t id = random_entity(doc, rng);
            const uint32_t parent = rng_below(rng, 2) == 0 ? random_entity(doc, rng) : 0;
            edit_fixture_move(ops, id, parent, random_entity(doc, rng));
        } else if (dice < 88) {
            random_terrain(doc, rng, ids, ops);
        } else if (dice < 94) {
            random_file(rng, doc, ops);
        } else if (dice < 97) {
            edit_fixture_set(ops, EDIT_SETTINGS, 0, "limits.players", dice == 94 ? "12" : "8");
        } else {
            edit_fixture_set(ops, EDIT_SCENE, 0, "bounds.max", "[50, 60, 70]");
        }
    }
}

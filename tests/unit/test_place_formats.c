// docs/FORMATS.md compared with the tables of the compiler: the page has every member with its
// range and default, and no others, and its examples are valid. The page and the example place are
// compiled in, so this runs in WASM too.
#include "core/base/json_number.h"
#include "core/base/json_read.h"
#include "core/wire/place_doc.h"
#include "tests/support/test.h"
#include "tests/support/test_place.h"

#include <stdio.h>
#include <string.h>

extern const char formats_page[];
extern const char island_place[];
extern const char island_scene[];
extern const char island_coconut[];
extern const char island_crab[];
extern const char island_pebble[];

#define CELL 160

// --- what the page must say of a member ---------------------------------------------------------

static const char *number_text(double value, bool is_float, char text[JSON_NUMBER_TEXT_BYTES])
{
    if (is_float) {
        (void)json_number_format_f32((float)value, text);
    } else {
        (void)json_number_format(value, text);
    }
    return text;
}

static void type_text(const PlaceField *field, char out[CELL])
{
    static const char *const words[] = {[PLACE_BOOL] = "true or false",
                                        [PLACE_U32] = "whole number",
                                        [PLACE_F32] = "number",
                                        [PLACE_VEC3] = "[x, y, z]",
                                        [PLACE_CELLS] = "[x, y, z], whole",
                                        [PLACE_TEXT] = "text",
                                        [PLACE_CHOICE] = "word",
                                        [PLACE_COLOUR] = "colour",
                                        [PLACE_ROTATION] = "rotation",
                                        [PLACE_OBJECT] = "object",
                                        [PLACE_LIST] = "list of objects",
                                        [PLACE_TEXTS] = "list of texts",
                                        [PLACE_VECTORS] = "list of [x, y, z]",
                                        [PLACE_ATTRIBUTES] = "attributes",
                                        [PLACE_JSON] = "any JSON"};
    (void)snprintf(out, CELL, "%s", words[field->type]);
}

static void range_text(const PlaceField *field, char out[CELL])
{
    char low[JSON_NUMBER_TEXT_BYTES];
    char high[JSON_NUMBER_TEXT_BYTES];
    const bool is_float = field->type == PLACE_F32 || field->type == PLACE_VEC3;
    number_text(field->low, is_float, low);
    number_text(field->high, is_float, high);
    out[0] = '\0';
    switch (field->type) {
    case PLACE_U32:
    case PLACE_F32:
    case PLACE_VEC3:
    case PLACE_CELLS:
        (void)snprintf(out, CELL, "%s to %s", low, high);
        break;
    case PLACE_TEXT:
        (void)snprintf(out, CELL, "%s to %s bytes", low, high);
        break;
    case PLACE_CHOICE:
        for (uint32_t i = 0; field->words[i] != NULL; i++) {
            const size_t at = strlen(out);
            (void)snprintf(out + at, CELL - at, "%s%s", i == 0 ? "" : ", ", field->words[i]);
        }
        break;
    case PLACE_TEXTS:
        (void)snprintf(out, CELL, "at most %s, each 1 to %s bytes", high, low);
        break;
    case PLACE_LIST:
    case PLACE_VECTORS:
    case PLACE_ATTRIBUTES:
        (void)snprintf(out, CELL, "at most %s", high);
        break;
    case PLACE_JSON:
        (void)snprintf(out, CELL, "at most %s bytes", high);
        break;
    case PLACE_BOOL:
    case PLACE_COLOUR:
    case PLACE_ROTATION:
    case PLACE_OBJECT:
        break;
    }
}

static void default_text(const PlaceField *field, char out[CELL])
{
    char number[JSON_NUMBER_TEXT_BYTES];
    const bool is_float = field->type == PLACE_F32 || field->type == PLACE_VEC3;
    number_text(field->fallback, is_float, number);
    if ((field->flags & PLACE_REQUIRED) != 0) {
        (void)snprintf(out, CELL, "required");
        return;
    }
    switch (field->type) {
    case PLACE_BOOL:
        (void)snprintf(out, CELL, "%s", field->fallback != 0 ? "true" : "false");
        break;
    case PLACE_U32:
    case PLACE_F32:
        (void)snprintf(out, CELL, "%s", field->low > field->fallback ? "none" : number);
        break;
    case PLACE_VEC3:
    case PLACE_CELLS:
        (void)snprintf(out, CELL, "[%s, %s, %s]", number, number, number);
        break;
    case PLACE_CHOICE:
        (void)snprintf(out, CELL, "%s", field->words[(uint32_t)field->fallback]);
        break;
    case PLACE_COLOUR:
        (void)snprintf(out, CELL, "#%06x", (unsigned)field->fallback);
        break;
    default:
        (void)snprintf(out, CELL, "none");
        break;
    }
}

static void row_text(const PlaceField *field, char out[4 * CELL])
{
    char type[CELL];
    char range[CELL];
    char fallback[CELL];
    type_text(field, type);
    range_text(field, range);
    default_text(field, fallback);
    (void)snprintf(out, (size_t)4 * CELL, "| `%s` | %s | %s | %s | %s |", field->name, type, range,
                   fallback, (field->flags & PLACE_SERVER) != 0 ? "no" : "yes");
}

// --- the page -----------------------------------------------------------------------------------

typedef struct Section {
    const char *begin, *end;
} Section;

// From the heading "### name" to the next heading of any level.
static bool find_section(const char *name, Section *out)
{
    char heading[64];
    (void)snprintf(heading, sizeof heading, "\n### %s\n", name);
    const char *begin = strstr(formats_page, heading);
    if (begin == NULL) {
        return false;
    }
    out->begin = begin + strlen(heading);
    out->end = strstr(out->begin, "\n#");
    out->end = out->end != NULL ? out->end : out->begin + strlen(out->begin);
    return true;
}

static uint32_t count_rows(Section section)
{
    uint32_t count = 0;
    const char *at = section.begin - 1;
    while ((at = strstr(at, "\n| `")) != NULL && at < section.end) {
        count += 1;
        at += 1;
    }
    return count;
}

TEST(every_member_is_in_the_page)
{
    for (uint32_t t = 0; place_tables[t] != NULL; t++) {
        const PlaceTable *table = place_tables[t];
        Section section;
        const bool has_section = find_section(table->name, &section);
        if (!has_section) {
            test_fail(__FILE__, __LINE__, "no heading ### %s", table->name);
        }
        for (uint32_t i = 0; i < table->field_count; i++) {
            char row[4 * CELL];
            row_text(&table->fields[i], row);
            const char *at = has_section ? strstr(section.begin, row) : NULL;
            if (at == NULL || at >= section.end) {
                test_fail(__FILE__, __LINE__, "%s lacks the row %s", table->name, row);
            }
        }
    }
}

TEST(the_page_has_no_other_member)
{
    for (uint32_t t = 0; place_tables[t] != NULL; t++) {
        Section section;
        if (find_section(place_tables[t]->name, &section)) {
            CHECK_INT(count_rows(section), place_tables[t]->field_count);
        }
    }
}

// Each table's section has one example of the object, which its reader takes.
TEST(the_examples_are_good)
{
    Heap heap = heap_make(64 << 20);
    static union {
        PlaceEntityDoc entity;
        PlaceSettingsDoc settings;
        PlaceSceneDoc scene;
        PlacePrefabDoc prefab;
    } out;
    for (uint32_t t = 0; place_tables[t] != NULL; t++) {
        const PlaceTable *table = place_tables[t];
        Section section;
        REQUIRE(find_section(table->name, &section));
        const char *begin = strstr(section.begin, "```json\n");
        const char *end = begin == NULL ? NULL : strstr(begin + 8, "\n```");
        if (end == NULL || end > section.end) {
            test_fail(__FILE__, __LINE__, "%s has no example", table->name);
            continue;
        }
        PlaceScratch scratch = {.heap = &heap};
        const JsonNode *root = NULL;
        JsonError error;
        const Status parsed =
            place_json_parse(&scratch, begin + 8, (size_t)(end - begin - 8), &root, &error);
        if (parsed == STATUS_OK) {
            REQUIRE(table->bytes <= sizeof out);
            memset(&out, 0, sizeof out);
            place_table_from_json(table, root, &scratch, &out, &error);
        }
        if (error.status != STATUS_OK) {
            char text[JSON_ERROR_TEXT_BYTES];
            json_error_text(&error, text);
            test_fail(__FILE__, __LINE__, "%s: %s", table->name, text);
        }
        place_scratch_free(&scratch);
    }
}

TEST(the_page_has_room_for_what_is_stored)
{
    CHECK(strstr(formats_page, "\n## Stored rows\n") != NULL);
    CHECK(strstr(formats_page, "\n## The journal\n") != NULL);
}

// --- the example place --------------------------------------------------------------------------

TEST(the_island_compiles_and_loads)
{
    Heap heap = heap_make(256 << 20);
    const PlaceFile files[] = {
        {"place.json", (const uint8_t *)island_place, strlen(island_place)},
        {"scene.json", (const uint8_t *)island_scene, strlen(island_scene)},
        {"prefabs/Coconut.json", (const uint8_t *)island_coconut, strlen(island_coconut)},
        {"prefabs/Crab.json", (const uint8_t *)island_crab, strlen(island_crab)},
        {"prefabs/Pebble.json", (const uint8_t *)island_pebble, strlen(island_pebble)}};
    const TestPlaceBytes whole = test_place_whole_files(&heap, files, 5);
    const TestPlaceBytes stripped = test_place_strip(&heap, whole);
    Place *place = NULL;
    Place *seen = NULL;
    REQUIRE(place_load(&heap, whole.data, whole.bytes, &place) == STATUS_OK);
    REQUIRE(place_load(&heap, stripped.data, stripped.bytes, &seen) == STATUS_OK);
    CHECK(scene_hash(place->scene) == scene_hash(seen->scene));
    CHECK_INT(place->prefabs.count, 3);
    CHECK_INT(place->entity_count, 6); // raft, sea, lift, ferry, target, hermit
    CHECK_INT(place->binding_count, 1);
    CHECK_INT(place->spawn_count, 3);
    CHECK(stripped.bytes < whole.bytes);
    place_unload(&heap, place);
    place_unload(&heap, seen);
    test_place_free(&heap, whole);
    test_place_free(&heap, stripped);
    CHECK_INT(heap.bytes_now, 0);
}

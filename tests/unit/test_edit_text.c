// The texts of a document: only the lines of what was changed change, and what changes on disk
// becomes operations.
#include "core/base/limits.h"
#include "core/edit/diff.h"
#include "tests/support/edit_fixture.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#define HEAP_BYTES (256u << 20)

static Heap heap;

typedef struct Opened {
    EditDoc *doc;
    EditText *text;
} Opened;

static Opened open_text(void)
{
    heap = heap_make(HEAP_BYTES);
    Opened opened = {0};
    opened.text = edit_fixture_open(&heap, EDIT_SCENE_TEXT, &opened.doc);
    return opened;
}

static void close_text(Opened *opened)
{
    edit_text_close(opened->text);
    edit_doc_destroy(opened->doc);
    CHECK_INT(heap.bytes_now, 0);
}

static const char *scene_of(const Opened *opened)
{
    static char scene[1u << 16];
    const Text text = edit_text_now(opened->text).scene;
    CHECK(text.bytes < sizeof scene);
    memcpy(scene, text.data, text.bytes);
    scene[text.bytes] = '\0';
    return scene;
}

// The text with one place replaced.
static const char *replaced(const char *from, const char *to)
{
    static char out[1u << 14];
    const char *at = strstr(EDIT_SCENE_TEXT, from);
    CHECK(at != NULL);
    (void)snprintf(out, sizeof out, "%.*s%s%s", (int)(at - EDIT_SCENE_TEXT), EDIT_SCENE_TEXT, to,
                   at + strlen(from));
    return out;
}

static void change(Opened *opened, EditBuffer *ops)
{
    EditError error;
    const Status status = edit_fixture_apply(opened->doc, ops, &error);
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s", error.message);
    }
    CHECK_OK(edit_text_write(opened->text, opened->doc));
}

TEST(nothing_changed_is_written_as_it_was)
{
    Opened opened = open_text();
    CHECK_OK(edit_text_write(opened.text, opened.doc));
    CHECK_TEXT(scene_of(&opened), EDIT_SCENE_TEXT);
    const Text settings = edit_text_now(opened.text).settings;
    CHECK_INT(settings.bytes, strlen(EDIT_PLACE));
    CHECK_BYTES(settings.data, EDIT_PLACE, settings.bytes);
    close_text(&opened);
}

TEST(one_changed_member_changes_one_value)
{
    Opened opened = open_text();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 10, "transform.position", "[1, 2.5, -3]");
    change(&opened, &ops);
    CHECK_TEXT(scene_of(&opened), replaced("[-14, 0, 4]", "[1, 2.5, -3]"));
    close_text(&opened);
}

TEST(an_alias_keeps_its_spelling)
{
    Opened opened = open_text();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 11, "colour", "\"#010203\"");
    change(&opened, &ops);
    CHECK_TEXT(scene_of(&opened), replaced("#9c6644", "#010203"));
    close_text(&opened);
}

TEST(a_new_member_is_added_in_the_manner_of_its_neighbours)
{
    Opened opened = open_text();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "tags", "[\"a\", \"b, c\"]");
    change(&opened, &ops);
    CHECK_TEXT(
        scene_of(&opened),
        replaced("[1, 2, 3]}\n    }", "[1, 2, 3]},\n      \"tags\": [\"a\", \"b, c\"]\n    }"));
    ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "tags", "[]");
    edit_fixture_set(&ops, EDIT_ENTITY, 1, "team", "\"Red\"");
    change(&opened, &ops);
    CHECK_TEXT(scene_of(&opened),
               replaced("\"type\": \"spawn\"}", "\"type\": \"spawn\", \"team\": \"Red\"}"));
    close_text(&opened);
}

TEST(a_member_that_became_its_default_goes)
{
    Opened opened = open_text();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 10, "transform.rotation", "[0, 0, 0]");
    edit_fixture_set(&ops, EDIT_ENTITY, 1, "name", "\"\"");
    change(&opened, &ops);
    const char *scene = scene_of(&opened);
    CHECK(strstr(scene, "    {\"id\": 1, \"type\": \"spawn\"},\n") != NULL);
    CHECK(strstr(scene, "     \"transform\": {\"position\": [-14, 0, 4]}},\n") != NULL);
    close_text(&opened);
}

TEST(created_deleted_and_moved_things_leave_the_rest)
{
    Opened opened = open_text();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_create(&ops, (EditWhere){EDIT_AFTER, 1}, "{\"id\": 5, \"name\": \"New, one\"}");
    change(&opened, &ops);
    CHECK_TEXT(
        scene_of(&opened),
        replaced("\"spawn\"},\n\n", "\"spawn\"},\n    {\"id\": 5, \"name\": \"New, one\"},\n\n"));
    ops = edit_fixture_ops(&heap);
    edit_fixture_delete(&ops, EDIT_ENTITY, 5);
    change(&opened, &ops);
    CHECK_TEXT(scene_of(&opened), EDIT_SCENE_TEXT);
    ops = edit_fixture_ops(&heap);
    edit_fixture_delete(&ops, EDIT_ENTITY, 20);
    edit_fixture_delete(&ops, EDIT_TERRAIN, 2);
    change(&opened, &ops);
    const char *scene = scene_of(&opened);
    CHECK(strstr(scene, "\"hits\": 3}}\n  ]\n}\n") != NULL);
    CHECK(strstr(scene, "\"kind\": \"grass\"}\n  ],\n") != NULL);
    close_text(&opened);
}

TEST(settings_are_spliced_too)
{
    Opened opened = open_text();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_SETTINGS, 0, "limits.players", "9");
    edit_fixture_set(&ops, EDIT_SETTINGS, 0, "respawnMs", "100");
    change(&opened, &ops);
    const Text text = edit_text_now(opened.text).settings;
    static const char want[] = "{\n  \"format\": 1,\n  \"name\": \"Test\",\n"
                               "  \"limits\": {\"players\": 9},\n"
                               "  \"voxelKinds\": [{\"name\": \"grass\"}, {\"name\": \"stone\"}],\n"
                               "  \"respawnMs\": 100\n}\n";
    CHECK_INT(text.bytes, strlen(want));
    CHECK_BYTES(text.data, want, text.bytes < strlen(want) ? text.bytes : strlen(want));
    close_text(&opened);
}

TEST(lists_that_were_not_there_are_added)
{
    heap = heap_make(HEAP_BYTES);
    Opened opened = {0};
    opened.text = edit_fixture_open(&heap, "{\n  \"format\": 1\n}\n", &opened.doc);
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_create(&ops, (EditWhere){0}, "{\"id\": 5}");
    edit_fixture_create(&ops, (EditWhere){0}, "{\"id\": 6, \"type\": \"spawn\"}");
    change(&opened, &ops);
    CHECK_TEXT(scene_of(&opened), "{\n  \"format\": 1,\n  \"entities\": [\n    {\"id\": 5},\n"
                                  "    {\"id\": 6, \"type\": \"spawn\"}\n  ]\n}\n");
    close_text(&opened);
}

static uint64_t hash_of_text(const Opened *opened)
{
    EditDoc *doc = NULL;
    EditText *text = NULL;
    PlaceError error;
    const Status status =
        edit_text_open(&heap, (EditBlobs){0}, edit_text_now(opened->text), &text, &doc, &error);
    if (status != STATUS_OK) {
        char words[512];
        place_error_text(&error, words, sizeof words);
        test_fail(__FILE__, __LINE__, "%s", words);
        return 0;
    }
    const uint64_t hash = edit_doc_hash(doc);
    edit_text_close(text);
    edit_doc_destroy(doc);
    return hash;
}

// A line of the old text that belongs to no changed entity is a line of the new one.
TEST(whatever_is_done_the_text_reads_back_as_the_document)
{
    Rng rng = rng_make(test_seed(), 1);
    Opened opened = open_text();
    for (uint32_t i = 0; i < 120 && test_is_passing(); i++) {
        for (uint32_t k = 0; k < 3; k++) {
            EditBuffer ops = edit_fixture_ops(&heap);
            edit_fixture_random(opened.doc, &rng, 40, &ops);
            status_ignore(edit_fixture_apply(opened.doc, &ops, NULL)); // some are refused
        }
        // Files are not in the text.
        while (edit_doc_file_count(opened.doc) != 0) {
            const EditFile *file = edit_doc_file_at(opened.doc, 0);
            EditBuffer ops = edit_fixture_ops(&heap);
            edit_op_file(&ops, file->path, NULL, file->hash);
            CHECK_OK(edit_fixture_apply(opened.doc, &ops, NULL));
        }
        CHECK_OK(edit_text_write(opened.text, opened.doc));
        CHECK_INT(hash_of_text(&opened), edit_doc_hash(opened.doc));
        EditBuffer before = edit_buffer(&heap, 1u << 20);
        const Text now = edit_text_now(opened.text).scene;
        edit_buffer_append(&before, now.data, now.bytes);
        CHECK_OK(edit_text_write(opened.text, opened.doc));
        const Text again = edit_text_now(opened.text).scene;
        CHECK(again.bytes == before.bytes && memcmp(again.data, before.data, again.bytes) == 0);
        edit_buffer_free(&before);
    }
    close_text(&opened);
}

TEST(untouched_entities_keep_their_bytes_through_any_edits_of_others)
{
    Rng rng = rng_make(test_seed(), 2);
    Opened opened = open_text();
    static const char hut[] =
        "    {\"id\": 10, \"name\": \"Hut\",   \"type\": \"group\",\n"
        "     \"transform\": {\"position\": [-14, 0, 4], \"rotation\": [0, 30, 0]}}";
    for (uint32_t i = 0; i < 100 && test_is_passing(); i++) {
        EditBuffer ops = edit_fixture_ops(&heap);
        const uint32_t x = rng_below(&rng, 50);
        char json[64];
        (void)snprintf(json, sizeof json, "[%u, 1, 2]", (unsigned)x);
        edit_fixture_set(&ops, EDIT_ENTITY, 12, "transform.position", json);
        edit_fixture_set(&ops, EDIT_ENTITY, 20, "transform.position", json);
        (void)snprintf(json, sizeof json, "{\"id\": %u}", (unsigned)(100 + i));
        edit_fixture_create(&ops, (EditWhere){EDIT_AFTER, 1}, json);
        change(&opened, &ops);
        CHECK(strstr(scene_of(&opened), hut) != NULL);
    }
    close_text(&opened);
}

// --- the difference -----------------------------------------------------------------------------

TEST(the_difference_of_two_documents_makes_one_of_the_other)
{
    Rng rng = rng_make(test_seed(), 3);
    heap = heap_make(HEAP_BYTES);
    for (uint32_t i = 0; i < 60 && test_is_passing(); i++) {
        EditDoc *a = edit_fixture_doc(&heap, EDIT_SCENE_TEXT);
        EditDoc *b = edit_fixture_doc(&heap, EDIT_SCENE_TEXT);
        for (uint32_t k = 0; k < 2 * i; k++) {
            EditBuffer ops = edit_fixture_ops(&heap);
            edit_fixture_random(k % 3 == 0 ? a : b, &rng, 20, &ops);
            status_ignore(edit_fixture_apply(k % 3 == 0 ? a : b, &ops, NULL));
        }
        for (uint32_t which = 0; which < 2; which++) {
            EditDoc *doc = which == 0 ? a : b;
            while (edit_doc_file_count(doc) != 0) {
                const EditFile *file = edit_doc_file_at(doc, 0);
                EditBuffer ops = edit_fixture_ops(&heap);
                edit_op_file(&ops, file->path, NULL, file->hash);
                CHECK_OK(edit_fixture_apply(doc, &ops, NULL));
            }
        }
        EditBuffer ops = edit_buffer(&heap, 4u << 20);
        CHECK_OK(edit_diff(a, b, &ops));
        EditError error;
        const Status status = edit_fixture_apply(a, &ops, &error);
        if (status != STATUS_OK) {
            test_fail(__FILE__, __LINE__, "round %u: operation %u %s", (unsigned)i,
                      (unsigned)error.op, error.message);
        }
        CHECK_INT(edit_doc_hash(a), edit_doc_hash(b));
        edit_doc_destroy(a);
        edit_doc_destroy(b);
    }
    CHECK_INT(heap.bytes_now, 0);
}

TEST(a_parent_and_a_child_can_change_places)
{
    heap = heap_make(HEAP_BYTES);
    EditDoc *a = edit_fixture_doc(
        &heap, "{\"format\": 1, \"entities\": [{\"id\": 1}, {\"id\": 2, \"parent\": 1}]}");
    EditDoc *b = edit_fixture_doc(
        &heap, "{\"format\": 1, \"entities\": [{\"id\": 1, \"parent\": 2}, {\"id\": 2}]}");
    EditBuffer ops = edit_buffer(&heap, 4u << 20);
    CHECK_OK(edit_diff(a, b, &ops));
    CHECK_OK(edit_fixture_apply(a, &ops, NULL));
    CHECK_INT(edit_doc_hash(a), edit_doc_hash(b));
    edit_doc_destroy(a);
    edit_doc_destroy(b);
}

static Status take(Opened *opened, const char *scene, EditBuffer *ops, PlaceError *error)
{
    Rng rng = rng_make(7, 1);
    const EditTexts texts = {text_from(EDIT_PLACE), text_from(scene)};
    *ops = edit_buffer(&heap, 4u << 20);
    return edit_text_take(opened->text, opened->doc, texts, &rng, ops, error);
}

TEST(a_change_on_disk_and_an_edit_that_was_not_written_both_stay)
{
    Opened opened = open_text();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "name", "\"Edited\"");
    edit_fixture_fill(&ops, 50, "{\"max\": [1, 1, 1], \"kind\": \"grass\"}");
    CHECK_OK(edit_fixture_apply(opened.doc, &ops, NULL));
    PlaceError error;
    CHECK_OK(take(&opened, replaced("[-14, 0, 4]", "[7, 7, 7]"), &ops, &error));
    CHECK_OK(edit_fixture_apply(opened.doc, &ops, NULL));
    CHECK_TEXT(edit_fixture_value(opened.doc, EDIT_ENTITY, 10, "transform.position"), "[7,7,7]");
    CHECK_TEXT(edit_fixture_value(opened.doc, EDIT_ENTITY, 20, "name"), "\"Edited\"");
    CHECK_INT(edit_doc_count(opened.doc, EDIT_TERRAIN), 3);
    CHECK_OK(edit_text_write(opened.text, opened.doc));
    CHECK(strstr(scene_of(&opened), "[7, 7, 7], \"rotation\": [0, 30, 0]") != NULL);
    CHECK(strstr(scene_of(&opened), "\"name\": \"Edited\"") != NULL);
    CHECK_INT(hash_of_text(&opened), edit_doc_hash(opened.doc));
    close_text(&opened);
}

TEST(a_change_on_disk_of_something_deleted_meanwhile_makes_the_document_the_text)
{
    Opened opened = open_text();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_delete(&ops, EDIT_ENTITY, 10);
    CHECK_OK(edit_fixture_apply(opened.doc, &ops, NULL));
    PlaceError error;
    CHECK_OK(take(&opened, replaced("[-14, 0, 4]", "[7, 7, 7]"), &ops, &error));
    CHECK_OK(edit_fixture_apply(opened.doc, &ops, NULL));
    CHECK_TEXT(edit_fixture_value(opened.doc, EDIT_ENTITY, 10, "transform.position"), "[7,7,7]");
    CHECK_INT(hash_of_text(&opened), edit_doc_hash(opened.doc));
    close_text(&opened);
}

TEST(text_that_cannot_be_read_is_reported_and_never_overwritten)
{
    Opened opened = open_text();
    static const char *const bad[][2] = {
        {"{\"format\": 1, \"entities\": [}", "scene.json line 1"},
        {"{\"format\": 1, \"entities\": [{\"id\": 1}, {\"id\": 1}]}", "used by an entity before"},
        {"{\"format\": 1, \"entities\": [{\"id\": 1, \"parent\": 2}]}", "id of an entity"},
        {"{\"format\": 1, \"entities\": [{\"id\": 1, \"parent\": 1}]}", "itself"},
        {"{\"format\": 1, \"entities\": [{\"id\": 1, \"nmae\": \"x\"}]}",
         "nmae is no member of entities"},
    };
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EditBuffer ops;
        PlaceError error;
        CHECK(take(&opened, bad[i][0], &ops, &error) != STATUS_OK);
        char words[512];
        place_error_text(&error, words, sizeof words);
        if (strstr(words, bad[i][1]) == NULL) {
            test_fail(__FILE__, __LINE__, "%s", words);
        }
        edit_buffer_free(&ops);
        CHECK(edit_text_is_blocked(opened.text));
        CHECK_INT(edit_text_write(opened.text, opened.doc), STATUS_BLOCKED);
        CHECK_TEXT(scene_of(&opened), EDIT_SCENE_TEXT);
    }
    EditBuffer ops;
    PlaceError error;
    CHECK_OK(take(&opened, EDIT_SCENE_TEXT, &ops, &error));
    edit_buffer_free(&ops);
    CHECK_OK(edit_text_write(opened.text, opened.doc));
    close_text(&opened);
}

// As somebody may write it who indents far.
TEST(a_text_that_becomes_too_long_is_written_anew_without_its_spaces)
{
    enum { SPACES = 1 << 20, PARTS = 40 };
    heap = heap_make(HEAP_BYTES);
    EditBuffer scene = edit_buffer(&heap, EDIT_TEXT_BYTES_MAX);
    edit_buffer_text(&scene, "{\"format\": 1, \"entities\": [\n");
    for (uint32_t i = 0; i < SPACES; i++) {
        edit_buffer_u8(&scene, ' ');
    }
    edit_buffer_text(&scene, "{\"id\": 1, \"type\": \"part\", \"name\": \"First\"}]}");
    edit_buffer_u8(&scene, 0);
    CHECK_OK(scene.status);
    Opened opened = {0};
    opened.text = edit_fixture_open(&heap, (const char *)scene.data, &opened.doc);
    EditBuffer ops = edit_fixture_ops(&heap);
    for (uint32_t i = 0; i < PARTS; i++) {
        char part[64];
        (void)snprintf(part, sizeof part, "{\"id\": %u, \"type\": \"part\"}", (unsigned)i + 2);
        edit_fixture_create(&ops, (EditWhere){EDIT_AT_END, 0}, part);
    }
    EditError refused;
    CHECK_OK(edit_fixture_apply(opened.doc, &ops, &refused));
    CHECK_OK(edit_text_write(opened.text, opened.doc));
    const EditTexts now = edit_text_now(opened.text);
    CHECK(now.scene.bytes < 8192);
    EditText *again = NULL;
    EditDoc *read = NULL;
    PlaceError error;
    CHECK_OK(edit_text_open(&heap, (EditBlobs){0}, now, &again, &read, &error));
    CHECK_INT(edit_doc_hash(read), edit_doc_hash(opened.doc));
    edit_text_close(again);
    edit_doc_destroy(read);
    edit_buffer_free(&scene);
    close_text(&opened);
}

TEST(a_copy_is_what_the_texts_were_before)
{
    Opened opened = open_text();
    EditText *before = NULL;
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "name", "\"Edited\"");
    edit_fixture_fill(&ops, 50, "{\"max\": [1, 1, 1], \"kind\": \"grass\"}");
    CHECK_OK(edit_fixture_apply(opened.doc, &ops, NULL));
    CHECK_OK(edit_text_copy(opened.text, &before));
    CHECK_OK(edit_text_write(opened.text, opened.doc));
    CHECK(strstr(scene_of(&opened), "Edited") != NULL);
    // The disk has refused them: the copy goes on, and is written again with the same result.
    char *written = heap_alloc(&heap, strlen(scene_of(&opened)) + 1);
    memcpy(written, scene_of(&opened), strlen(scene_of(&opened)) + 1);
    edit_text_close(opened.text);
    opened.text = before;
    CHECK_TEXT(scene_of(&opened), EDIT_SCENE_TEXT);
    edit_text_rebind(opened.text);
    CHECK_OK(edit_text_write(opened.text, opened.doc));
    CHECK_TEXT(scene_of(&opened), written);
    heap_free(&heap, written);
    close_text(&opened);
}

TEST(the_texts_of_a_stored_document_have_its_ids_of_terrain)
{
    Opened opened = open_text();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_fill(&ops, 777, "{\"max\": [1, 1, 1], \"kind\": \"grass\"}");
    edit_fixture_fill(&ops, 700, "{\"max\": [2, 1, 1], \"kind\": \"grass\"}");
    CHECK_OK(edit_fixture_apply(opened.doc, &ops, NULL));
    CHECK_OK(edit_text_write(opened.text, opened.doc));
    char *written = heap_alloc(&heap, strlen(scene_of(&opened)) + 1);
    memcpy(written, scene_of(&opened), strlen(scene_of(&opened)) + 1);
    edit_text_close(opened.text);
    // A later process reads the texts, in which terrain has no ids, and has the document stored.
    EditDoc *read = NULL;
    PlaceError error;
    const EditTexts texts = {text_from(EDIT_PLACE), text_from(written)};
    CHECK_OK(edit_text_open(&heap, (EditBlobs){0}, texts, &opened.text, &read, &error));
    edit_doc_destroy(read);
    edit_text_adopt(opened.text, opened.doc);
    CHECK_OK(edit_text_write(opened.text, opened.doc));
    CHECK_TEXT(scene_of(&opened), written);
    EditBuffer taken;
    CHECK_OK(take(&opened, written, &taken, &error));
    CHECK_OK(edit_fixture_apply(opened.doc, &taken, NULL));
    CHECK(edit_doc_has(opened.doc, EDIT_TERRAIN, 777) &&
          edit_doc_has(opened.doc, EDIT_TERRAIN, 700));
    heap_free(&heap, written);
    close_text(&opened);
}

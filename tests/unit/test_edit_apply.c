// Operations on a document: what they change, what they refuse, and that each can be taken back.
#include "core/base/limits.h"
#include "core/edit/clip.h"
#include "core/edit/diff.h"
#include "core/edit/problem.h"
#include "core/edit/undo.h"
#include "tests/support/edit_fixture.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#define HEAP_BYTES (256u << 20)

static Heap heap;

static EditDoc *open_doc(void)
{
    heap = heap_make(HEAP_BYTES);
    return edit_fixture_doc(&heap, EDIT_SCENE_TEXT);
}

static void close_doc(EditDoc *doc)
{
    edit_doc_destroy(doc);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(a_document_has_what_its_text_says)
{
    EditDoc *doc = open_doc();
    CHECK_INT(edit_doc_count(doc, EDIT_ENTITY), 5);
    CHECK_INT(edit_doc_count(doc, EDIT_TERRAIN), 2);
    CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, 11, "name"), "\"Floor\"");
    CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, 11, "colour"), "\"#9c6644\"");
    CHECK_TEXT(edit_fixture_value(doc, EDIT_SETTINGS, 0, "limits.players"), "8");
    CHECK_INT(edit_doc_parent(doc, 12), 10);
    CHECK_INT(edit_doc_next(doc, EDIT_ENTITY, 12), 20);
    close_doc(doc);
}

TEST(a_list_of_targets_is_set_in_one_operation)
{
    EditDoc *doc = open_doc();
    EditBuffer ops = edit_fixture_ops(&heap);
    EditBuffer value = edit_buffer(&heap, 64);
    uint32_t member = 0;
    CHECK(edit_member_named(&place_table_entity, "ghost", &member));
    edit_buffer_u8(&value, 1);
    edit_buffer_u8(&value, 1);
    const uint32_t ids[] = {11, 12, 20};
    edit_op_set_all(&ops, EDIT_ENTITY, member, ids, 3, value.data, value.bytes);
    CHECK_OK(edit_fixture_apply(doc, &ops, NULL));
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, ids[i], "ghost"), "true");
    }
    CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, 1, "ghost"), "false");
    edit_buffer_free(&value);
    close_doc(doc);
}

// Each line of this table is one transaction that must be refused, with the document unchanged.
typedef struct Refused {
    Status status;
    void (*make)(EditBuffer *ops);
} Refused;

static void taken_id(EditBuffer *ops)
{
    edit_fixture_create(ops, (EditWhere){0}, "{\"id\": 11}");
}
static void no_parent(EditBuffer *ops)
{
    edit_fixture_create(ops, (EditWhere){0}, "{\"id\": 99, \"parent\": 98}");
}
static void not_there(EditBuffer *ops)
{
    edit_fixture_set(ops, EDIT_ENTITY, 98, "name", "\"x\"");
}
static void own_parent(EditBuffer *ops)
{
    edit_fixture_move(ops, 10, 10, 0);
}
static void below_itself(EditBuffer *ops)
{
    edit_fixture_move(ops, 10, 12, 0);
}
static void id_set(EditBuffer *ops)
{
    edit_fixture_set(ops, EDIT_ENTITY, 11, "id", "77");
}
static void parent_set(EditBuffer *ops)
{
    edit_fixture_set(ops, EDIT_ENTITY, 11, "parent", "20");
}
static void entities_set(EditBuffer *ops)
{
    edit_fixture_set(ops, EDIT_SCENE, 0, "entities", "[]");
}
static void target_twice(EditBuffer *ops)
{
    const uint32_t ids[] = {20, 20};
    edit_op_delete(ops, EDIT_ENTITY, ids, 2);
}
static void required_default(EditBuffer *ops)
{
    uint32_t member = 0;
    CHECK(edit_member_named(&place_table_settings, "name", &member));
    const uint8_t value = 0;
    const uint32_t id = 0;
    edit_op_set_all(ops, EDIT_SETTINGS, member, &id, 1, &value, 1);
}
static void out_of_range(EditBuffer *ops)
{
    uint32_t member = 0;
    CHECK(edit_member_named(&place_table_entity, "bounce", &member));
    const uint8_t value[] = {1, 0, 0, 0x80, 0x47}; // 65536.0
    const uint32_t id = 20;
    edit_op_set_all(ops, EDIT_ENTITY, member, &id, 1, value, sizeof value);
}
static void control_in_name(EditBuffer *ops)
{
    uint32_t member = 0;
    CHECK(edit_member_named(&place_table_entity, "name", &member));
    const uint8_t value[] = {1, 1, '\n', 0}; // JSON refuses it, so bytes must too
    const uint32_t id = 20;
    edit_op_set_all(ops, EDIT_ENTITY, member, &id, 1, value, sizeof value);
}
static void file_known_wrong(EditBuffer *ops)
{
    const uint8_t hash[SHA256_BYTES] = {1};
    edit_op_file(ops, text_from("a.lua"), hash, hash);
}
static void path_climbs(EditBuffer *ops)
{
    const uint8_t hash[SHA256_BYTES] = {1};
    edit_op_file(ops, text_from("a/../b"), hash, NULL);
}
static void path_is_document(EditBuffer *ops)
{
    const uint8_t hash[SHA256_BYTES] = {1};
    edit_op_file(ops, text_from("scene.json"), hash, NULL);
}
static void rename_nothing(EditBuffer *ops)
{
    const uint8_t hash[SHA256_BYTES] = {1};
    edit_op_rename(ops, text_from("a"), text_from("b"), hash);
}
static void paste_unknown(EditBuffer *ops)
{
    const uint8_t hash[SHA256_BYTES] = {1};
    edit_op_paste(ops, hash, 1, 0, VEC3_ZERO);
}
static void unknown_type(EditBuffer *ops)
{
    edit_buffer_u8(ops, 77);
}
static void truncated(EditBuffer *ops)
{
    edit_fixture_delete(ops, EDIT_ENTITY, 20);
    edit_buffer_u8(ops, EDIT_FILE);
}

TEST(what_is_not_allowed_changes_nothing)
{
    static const Refused refused[] = {
        {STATUS_EXISTS, taken_id},           {STATUS_NOT_FOUND, no_parent},
        {STATUS_NOT_FOUND, not_there},       {STATUS_BLOCKED, own_parent},
        {STATUS_BLOCKED, below_itself},      {STATUS_UNSUPPORTED, id_set},
        {STATUS_UNSUPPORTED, parent_set},    {STATUS_UNSUPPORTED, entities_set},
        {STATUS_EXISTS, target_twice},       {STATUS_RANGE, required_default},
        {STATUS_RANGE, out_of_range},        {STATUS_MALFORMED, control_in_name},
        {STATUS_MISMATCH, file_known_wrong}, {STATUS_RANGE, path_climbs},
        {STATUS_RANGE, path_is_document},    {STATUS_NOT_FOUND, rename_nothing},
        {STATUS_NOT_FOUND, paste_unknown},   {STATUS_UNSUPPORTED, unknown_type},
        {STATUS_TRUNCATED, truncated},
    };
    EditDoc *doc = open_doc();
    const uint64_t before = edit_doc_hash(doc);
    for (uint32_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        EditBuffer ops = edit_fixture_ops(&heap);
        // Something good before it must be taken back too.
        edit_fixture_set(&ops, EDIT_ENTITY, 20, "name", "\"Other\"");
        edit_fixture_delete(&ops, EDIT_ENTITY, 1);
        refused[i].make(&ops);
        EditError error;
        const Status status = edit_fixture_apply(doc, &ops, &error);
        if (status != refused[i].status) {
            test_fail(__FILE__, __LINE__, "row %u: %s", (unsigned)i, status_name(status));
        }
        CHECK(error.message[0] != '\0');
        CHECK_INT(edit_doc_hash(doc), before);
    }
    close_doc(doc);
}

TEST(bytes_of_other_tables_are_refused)
{
    EditDoc *doc = open_doc();
    EditBuffer ops = edit_fixture_ops(&heap);
    ops.data[1] ^= 1;
    EditError error;
    CHECK_INT(edit_fixture_apply(doc, &ops, &error), STATUS_UNSUPPORTED);
    close_doc(doc);
}

TEST(a_deletion_takes_everything_below_and_gives_it_back)
{
    EditDoc *doc = open_doc();
    const uint64_t before = edit_doc_hash(doc);
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_delete(&ops, EDIT_ENTITY, 10);
    EditInverse inverse = edit_inverse(&heap);
    EditError error;
    CHECK_OK(edit_apply(doc, ops.data, ops.bytes, &inverse, &error));
    CHECK_INT(edit_doc_count(doc, EDIT_ENTITY), 2);
    CHECK(!edit_doc_has(doc, EDIT_ENTITY, 12));
    edit_take_back(doc, &inverse);
    CHECK_INT(edit_doc_hash(doc), before);
    edit_inverse_free(&inverse);
    edit_buffer_free(&ops);
    close_doc(doc);
}

TEST(thirty_two_may_be_above_and_no_more)
{
    EditDoc *doc = open_doc();
    char json[64];
    for (uint32_t i = 0; i <= PLACE_PARENTS_MAX; i++) {
        EditBuffer ops = edit_fixture_ops(&heap);
        (void)snprintf(json, sizeof json, i == 0 ? "{\"id\": 100}" : "{\"id\": %u, \"parent\": %u}",
                       (unsigned)(100 + i), (unsigned)(99 + i));
        edit_fixture_create(&ops, (EditWhere){0}, json);
        CHECK_OK(edit_fixture_apply(doc, &ops, NULL));
    }
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_create(&ops, (EditWhere){0}, "{\"id\": 200, \"parent\": 132}");
    CHECK_INT(edit_fixture_apply(doc, &ops, NULL), STATUS_LIMIT);
    // Nor by moving what has much below it.
    ops = edit_fixture_ops(&heap);
    edit_fixture_move(&ops, 100, 20, 0);
    CHECK_INT(edit_fixture_apply(doc, &ops, NULL), STATUS_LIMIT);
    close_doc(doc);
}

TEST(random_transactions_are_taken_back_exactly)
{
    Rng rng = rng_make(test_seed(), 1);
    EditDoc *doc = open_doc();
    uint32_t applied = 0;
    for (uint32_t i = 0; i < 1500 && test_is_passing(); i++) {
        EditBuffer ops = edit_fixture_ops(&heap);
        edit_fixture_random(doc, &rng, 40, &ops);
        const uint64_t before = edit_doc_hash(doc);
        EditInverse inverse = edit_inverse(&heap);
        EditError error;
        const Status status = edit_apply(doc, ops.data, ops.bytes, &inverse, &error);
        if (status == STATUS_OK) {
            const uint64_t after = edit_doc_hash(doc);
            edit_take_back(doc, &inverse);
            CHECK_INT(edit_doc_hash(doc), before);
            edit_inverse_cut(&inverse, 0);
            CHECK_OK(edit_apply(doc, ops.data, ops.bytes, &inverse, &error));
            CHECK_INT(edit_doc_hash(doc), after);
            applied += 1;
        } else {
            CHECK_INT(edit_doc_hash(doc), before);
        }
        edit_inverse_free(&inverse);
        edit_buffer_free(&ops);
    }
    CHECK(applied > 300);
    close_doc(doc);
}

TEST(a_document_as_bytes_is_the_same)
{
    Rng rng = rng_make(test_seed(), 2);
    EditDoc *doc = open_doc();
    for (uint32_t i = 0; i < 200; i++) {
        EditBuffer ops = edit_fixture_ops(&heap);
        edit_fixture_random(doc, &rng, 40, &ops);
        status_ignore(edit_fixture_apply(doc, &ops, NULL)); // some are refused
    }
    EditBuffer bytes = edit_buffer(&heap, 1u << 20);
    edit_doc_write(doc, &bytes);
    EditDoc *again = NULL;
    CHECK_OK(edit_doc_open(&heap, (EditBlobs){0}, bytes.data, bytes.bytes, &again));
    CHECK_INT(edit_doc_hash(again), edit_doc_hash(doc));
    edit_doc_destroy(again);
    for (size_t cut = 0; cut < bytes.bytes; cut += 7) {
        CHECK(edit_doc_open(&heap, (EditBlobs){0}, bytes.data, cut, &again) != STATUS_OK);
    }
    edit_buffer_free(&bytes);
    close_doc(doc);
}

// --- undo ---------------------------------------------------------------------------------------

static EditInverse done(EditDoc *doc, EditBuffer *ops)
{
    EditInverse inverse = edit_inverse(&heap);
    EditError error;
    CHECK_OK(edit_apply(doc, ops->data, ops->bytes, &inverse, &error));
    edit_buffer_free(ops);
    return inverse;
}

static EditUndone undo(EditDoc *doc, EditInverse *of)
{
    EditBuffer out = edit_buffer(&heap, 1u << 20);
    EditInverse inverse = edit_inverse(&heap);
    EditUndone undone = {0};
    CHECK_OK(edit_undo(doc, of, &out, &inverse, &undone));
    edit_inverse_free(&inverse);
    edit_inverse_free(of);
    edit_buffer_free(&out);
    return undone;
}

TEST(an_undo_leaves_what_others_changed_since)
{
    EditDoc *doc = open_doc();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "name", "\"Mine\"");
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "colour", "\"#111111\"");
    edit_fixture_set(&ops, EDIT_ENTITY, 12, "transform.position", "[9, 9, 9]");
    edit_fixture_set(&ops, EDIT_ENTITY, 1, "name", "\"Mine too\"");
    EditInverse mine = done(doc, &ops);
    ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "colour", "\"#222222\"");
    edit_fixture_set(&ops, EDIT_ENTITY, 12, "transform.rotation", "[0, 10, 0]");
    edit_fixture_delete(&ops, EDIT_ENTITY, 1);
    CHECK_OK(edit_fixture_apply(doc, &ops, NULL));
    const EditUndone undone = undo(doc, &mine);
    CHECK_INT(undone.changed, 2);
    CHECK_INT(undone.skipped, 2);
    CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, 20, "name"), "\"Crate\"");
    CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, 20, "colour"), "\"#222222\"");
    CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, 12, "transform.position"), "[0,0,0]");
    CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, 12, "transform.rotation"), "[0,10,0]");
    close_doc(doc);
}

TEST(an_undo_of_a_creation_leaves_what_others_built_upon)
{
    EditDoc *doc = open_doc();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_create(&ops, (EditWhere){0}, "{\"id\": 30}");
    edit_fixture_create(&ops, (EditWhere){0}, "{\"id\": 31}");
    EditInverse mine = done(doc, &ops);
    ops = edit_fixture_ops(&heap);
    edit_fixture_create(&ops, (EditWhere){0}, "{\"id\": 32, \"parent\": 30}");
    CHECK_OK(edit_fixture_apply(doc, &ops, NULL));
    const EditUndone undone = undo(doc, &mine);
    CHECK_INT(undone.skipped, 1);
    CHECK(edit_doc_has(doc, EDIT_ENTITY, 30) && edit_doc_has(doc, EDIT_ENTITY, 32));
    CHECK(!edit_doc_has(doc, EDIT_ENTITY, 31));
    close_doc(doc);
}

typedef struct Found {
    uint32_t count;
    uint32_t ids[16];
    char members[16][24];
} Found;

static void keep_problem(void *user, const EditProblem *problem)
{
    Found *found = user;
    if (found->count < 16) {
        found->ids[found->count] = problem->id;
        (void)snprintf(found->members[found->count], 24, "%s",
                       problem->member != NULL ? problem->member : "");
        found->count += 1;
    }
}

// A build writes the hash of its script into what one has made.
TEST(an_undo_of_a_creation_takes_what_only_a_build_has_changed)
{
    EditDoc *doc = open_doc();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_create(&ops, (EditWhere){0},
                        "{\"id\": 30, \"scriptRef\": {\"path\": \"Workspace/Coin.lua\"}}");
    edit_fixture_create(&ops, (EditWhere){0},
                        "{\"id\": 31, \"scriptRef\": {\"path\": \"Workspace/Coin.lua\"}}");
    EditInverse mine = done(doc, &ops);
    ops = edit_fixture_ops(&heap);
    for (uint32_t id = 30; id <= 31; id++) {
        edit_fixture_set(&ops, EDIT_ENTITY, id, "scriptRef.codeHash", "\"ab12\"");
        edit_fixture_set(&ops, EDIT_ENTITY, id, "scriptPath", "\"Workspace/Coin.lua\"");
    }
    edit_fixture_set(&ops, EDIT_ENTITY, 31, "colour", "\"#222222\"");
    CHECK_OK(edit_fixture_apply(doc, &ops, NULL));
    const EditUndone undone = undo(doc, &mine);
    CHECK_INT(undone.skipped, 1);
    CHECK(!edit_doc_has(doc, EDIT_ENTITY, 30) && edit_doc_has(doc, EDIT_ENTITY, 31));
    // Whose script is not there is a problem.
    Found found = {0};
    CHECK_OK(edit_problems(doc, keep_problem, &found));
    CHECK_INT(found.count, 1);
    CHECK_INT(found.ids[0], 31);
    static const uint8_t hash[SHA256_BYTES] = {1};
    ops = edit_fixture_ops(&heap);
    edit_op_file(&ops, text_from("Workspace/Coin.ts"), hash, NULL);
    CHECK_OK(edit_fixture_apply(doc, &ops, NULL));
    found.count = 0;
    CHECK_OK(edit_problems(doc, keep_problem, &found));
    CHECK_INT(found.count, 0);
    close_doc(doc);
}

static bool has_file(EditDoc *doc, const char *path)
{
    return edit_doc_file_find(doc, text_from(path)) != NULL;
}

// As the toolbox inserts a coin or a door, with a script that others may use meanwhile.
static EditInverse insert_scripted(EditDoc *doc)
{
    static const uint8_t hash[SHA256_BYTES] = {1};
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_create(&ops, (EditWhere){0},
                        "{\"id\": 30, \"scriptRef\": {\"path\": \"Workspace/Coin.lua\"}}");
    edit_op_file(&ops, text_from("Workspace/Coin.lua"), hash, NULL);
    edit_fixture_set(&ops, EDIT_SETTINGS, 0, "contexts", "{\"Workspace/Coin\": \"Server\"}");
    return done(doc, &ops);
}

TEST(an_undo_of_a_creation_keeps_a_script_that_somebody_uses)
{
    EditDoc *doc = open_doc();
    EditInverse mine = insert_scripted(doc);
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 30, "name", "\"Gold\"");
    CHECK_OK(edit_fixture_apply(doc, &ops, NULL));
    EditUndone undone = undo(doc, &mine);
    CHECK_INT(undone.changed, 0); // so it is said that it cannot be undone
    CHECK_INT(undone.skipped, 3);
    CHECK(edit_doc_has(doc, EDIT_ENTITY, 30) && has_file(doc, "Workspace/Coin.lua"));
    CHECK_TEXT(edit_fixture_value(doc, EDIT_SETTINGS, 0, "contexts"),
               "{\"Workspace/Coin\":\"Server\"}");
    close_doc(doc);
    // One's own goes, the script stays for somebody else's.
    doc = open_doc();
    mine = insert_scripted(doc);
    ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "scriptRef.path", "\"Workspace/Coin\"");
    CHECK_OK(edit_fixture_apply(doc, &ops, NULL));
    undone = undo(doc, &mine);
    CHECK_INT(undone.changed, 1);
    CHECK(!edit_doc_has(doc, EDIT_ENTITY, 30) && has_file(doc, "Workspace/Coin.lua"));
    close_doc(doc);
    // Nobody uses it.
    doc = open_doc();
    mine = insert_scripted(doc);
    undone = undo(doc, &mine);
    CHECK_INT(undone.skipped, 0);
    CHECK(!edit_doc_has(doc, EDIT_ENTITY, 30) && !has_file(doc, "Workspace/Coin.lua"));
    CHECK_TEXT(edit_fixture_value(doc, EDIT_SETTINGS, 0, "contexts"), "null");
    close_doc(doc);
}

TEST(a_deleted_thing_comes_back_without_a_parent_that_is_gone)
{
    EditDoc *doc = open_doc();
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_delete(&ops, EDIT_ENTITY, 12);
    EditInverse mine = done(doc, &ops);
    ops = edit_fixture_ops(&heap);
    edit_fixture_delete(&ops, EDIT_ENTITY, 10);
    CHECK_OK(edit_fixture_apply(doc, &ops, NULL));
    const EditUndone undone = undo(doc, &mine);
    CHECK_INT(undone.changed, 1);
    CHECK_INT(edit_doc_parent(doc, 12), 0);
    CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, 12, "name"), "\"Wall\"");
    close_doc(doc);
}

TEST(an_undo_can_be_undone)
{
    EditDoc *doc = open_doc();
    EditBuffer ops = edit_fixture_ops(&heap);
    const uint64_t first = edit_doc_hash(doc);
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "name", "\"Mine\"");
    edit_fixture_delete(&ops, EDIT_ENTITY, 10);
    edit_fixture_move(&ops, 20, 0, 0);
    EditInverse mine = done(doc, &ops);
    const uint64_t second = edit_doc_hash(doc);
    EditBuffer out = edit_buffer(&heap, 1u << 20);
    EditInverse again = edit_inverse(&heap);
    EditUndone undone;
    CHECK_OK(edit_undo(doc, &mine, &out, &again, &undone));
    CHECK_INT(edit_doc_hash(doc), first);
    (void)undo(doc, &again);
    CHECK_INT(edit_doc_hash(doc), second);
    edit_inverse_free(&mine);
    edit_buffer_free(&out);
    close_doc(doc);
}

// --- paste --------------------------------------------------------------------------------------

static EditBuffer clip;
static uint8_t clip_hash[SHA256_BYTES];

static const uint8_t *find_clip(void *user, const uint8_t hash[SHA256_BYTES], size_t *bytes)
{
    (void)user;
    *bytes = clip.bytes;
    return memcmp(hash, clip_hash, SHA256_BYTES) == 0 ? clip.data : NULL;
}

TEST(a_paste_brings_what_was_copied_under_new_ids)
{
    EditDoc *first = open_doc();
    clip = edit_buffer(&heap, 1u << 20);
    const uint32_t hut = 10;
    CHECK_OK(edit_clip_write(first, &hut, 1, &clip));
    sha256_of(clip.data, clip.bytes, clip_hash);
    EditBuffer bytes = edit_buffer(&heap, 1u << 20);
    edit_doc_write(first, &bytes);
    EditDoc *doc = NULL;
    CHECK_OK(edit_doc_open(&heap, (EditBlobs){NULL, find_clip}, bytes.data, bytes.bytes, &doc));
    const uint64_t before = edit_doc_hash(doc);
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_op_paste(&ops, clip_hash, 5, 20, vec3(0, 10, 0));
    EditInverse inverse = done(doc, &ops);
    CHECK_INT(edit_doc_count(doc, EDIT_ENTITY), 8);
    const uint32_t pasted = edit_doc_next(doc, EDIT_ENTITY, 20);
    CHECK_INT(edit_doc_parent(doc, pasted), 20);
    CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, pasted, "transform.position"), "[-14,10,4]");
    const uint32_t floor = edit_doc_next(doc, EDIT_ENTITY, pasted);
    const uint32_t wall = edit_doc_next(doc, EDIT_ENTITY, floor);
    CHECK_INT(edit_doc_parent(doc, wall), pasted);
    char want[64];
    (void)snprintf(want, sizeof want, "{\"door\":{\"entity\":%u},\"hits\":3}", (unsigned)floor);
    CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, wall, "attributes"), want);
    (void)undo(doc, &inverse);
    CHECK_INT(edit_doc_hash(doc), before);
    // Any other bytes in the blob are refused.
    for (size_t cut = 0; cut + 1 < clip.bytes; cut++) {
        const size_t whole = clip.bytes;
        clip.bytes = cut;
        ops = edit_fixture_ops(&heap);
        edit_op_paste(&ops, clip_hash, 5, 20, vec3(0, 10, 0));
        CHECK(edit_fixture_apply(doc, &ops, NULL) != STATUS_OK);
        CHECK_INT(edit_doc_hash(doc), before);
        clip.bytes = whole;
    }
    edit_buffer_free(&bytes);
    edit_buffer_free(&clip);
    edit_doc_destroy(first);
    close_doc(doc);
}

// --- problems -----------------------------------------------------------------------------------

TEST(all_problems_are_found_each_with_its_entity_and_member)
{
    EditDoc *doc = open_doc();
    Found found = {0};
    CHECK_OK(edit_problems(doc, keep_problem, &found));
    CHECK_INT(found.count, 0);
    EditBuffer ops = edit_fixture_ops(&heap);
    edit_fixture_set(&ops, EDIT_SETTINGS, 0, "tickRate", "45");
    edit_fixture_fill(&ops, 9, "{\"min\": [0, 0, 0], \"max\": [1, 1, 1], \"kind\": \"lava\"}");
    edit_fixture_set(&ops, EDIT_ENTITY, 1, "bounce", "3");     // means nothing for a spawn
    edit_fixture_set(&ops, EDIT_ENTITY, 1, "trigger", "true"); // nor this
    edit_fixture_set(&ops, EDIT_ENTITY, 12, "parameters", "{\"a\": 1}");
    edit_fixture_set(&ops, EDIT_ENTITY, 12, "texture", "\"assets/none.png\"");
    edit_fixture_set(&ops, EDIT_ENTITY, 20, "motion.loop", "true");
    CHECK_OK(edit_fixture_apply(doc, &ops, NULL));
    CHECK_OK(edit_problems(doc, keep_problem, &found));
    static const uint32_t ids[] = {0, 9, 1, 1, 12, 12, 20};
    static const char *const members[] = {"tickRate",   "kind",    "trigger", "bounce",
                                          "scriptPath", "texture", "motion"};
    CHECK_INT(found.count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        CHECK_INT(found.ids[i], ids[i]);
        CHECK_TEXT(found.members[i], members[i]);
    }
    close_doc(doc);
}

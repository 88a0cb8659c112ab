// What the Studio's page uses of core/edit: operations from JSON (good and hostile), the list of
// what changed to draw under random edits, rays, and the terrain.
#include "core/base/limits.h"
#include "core/edit/draw_list.h"
#include "core/edit/ground.h"
#include "core/edit/op_json.h"
#include "tests/support/edit_fixture.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#define HEAP_BYTES (256u << 20)
#define ROUNDS     300

static Heap heap;

static Status apply_json(EditDoc *doc, const char *json)
{
    EditBuffer ops = edit_buffer(&heap, EDIT_TRANSACTION_BYTES_MAX);
    EditInverse inverse = edit_inverse(&heap);
    JsonError where;
    EditError error;
    Status status = edit_ops_from_json(&heap, json, strlen(json), &ops, &where);
    if (status == STATUS_OK) {
        status = edit_apply(doc, ops.data, ops.bytes, &inverse, &error);
    } else {
        CHECK(where.message[0] != '\0');
    }
    edit_inverse_free(&inverse);
    edit_buffer_free(&ops);
    return status;
}

TEST(operations_from_json)
{
    heap = heap_make(HEAP_BYTES);
    EditDoc *doc = edit_fixture_doc(&heap, EDIT_SCENE_TEXT);
    CHECK_INT(
        apply_json(
            doc, "[{\"op\":\"set\",\"member\":\"colour\",\"ids\":[11,12],\"value\":\"#010203\"}]"),
        STATUS_OK);
    CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, 11, "colour"), "\"#010203\"");
    CHECK_INT(
        apply_json(doc, "[{\"op\":\"set\",\"member\":\"colour\",\"ids\":[11],\"value\":null}]"),
        STATUS_OK);
    CHECK_TEXT(edit_fixture_value(doc, EDIT_ENTITY, 11, "colour"), "\"#a0a0a0\"");
    CHECK_INT(apply_json(doc,
                         "[{\"op\":\"create\",\"entity\":{\"id\":77,\"name\":\"New\"},\"after\":0},"
                         "{\"op\":\"move\",\"ids\":[77],\"parent\":10}]"),
              STATUS_OK);
    CHECK_INT(edit_doc_parent(doc, 77), 10);
    edit_doc_destroy(doc);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(hostile_json_changes_nothing)
{
    static const char *const bad[] = {
        "",
        "[",
        "{}",
        "[]",
        "[7]",
        "[{}]",
        "[{\"op\":\"explode\"}]",
        "[{\"op\":\"delete\"}]",
        "[{\"op\":\"delete\",\"ids\":[]}]",
        "[{\"op\":\"delete\",\"ids\":[-1]}]",
        "[{\"op\":\"delete\",\"ids\":[1.5]}]",
        "[{\"op\":\"delete\",\"ids\":\"all\"}]",
        "[{\"op\":\"delete\",\"ids\":[11],\"kind\":\"nothing\"}]",
        "[{\"op\":\"set\",\"ids\":[11],\"value\":1}]",
        "[{\"op\":\"set\",\"member\":\"x.y\",\"ids\":[11],\"value\":1}]",
        "[{\"op\":\"set\",\"member\":\"id\",\"ids\":[11],\"value\":5}]",
        "[{\"op\":\"set\",\"member\":\"colour\",\"ids\":[11]}]",
        "[{\"op\":\"set\",\"member\":\"colour\",\"values\":[]}]",
        "[{\"op\":\"set\",\"member\":\"colour\",\"values\":[[11]]}]",
        "[{\"op\":\"set\",\"member\":\"transform.position\",\"values\":[[11,[1,2,1e99]]]}]",
        "[{\"op\":\"create\",\"entity\":7}]",
        "[{\"op\":\"create\",\"entity\":{\"id\":11}}]",
        "[{\"op\":\"create\",\"entity\":{\"id\":0}}]",
        "[{\"op\":\"fill\",\"id\":9}]",
        "[{\"op\":\"file\",\"path\":\"../x\",\"hash\":null,\"known\":null}]",
        "[{\"op\":\"file\",\"path\":\"a\",\"hash\":\"00\"}]",
        "[{\"op\":\"rename\",\"from\":\"a\",\"to\":\"b\"}]"};
    heap = heap_make(HEAP_BYTES);
    EditDoc *doc = edit_fixture_doc(&heap, EDIT_SCENE_TEXT);
    const uint64_t before = edit_doc_hash(doc);
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(apply_json(doc, bad[i]) != STATUS_OK);
        CHECK(edit_doc_hash(doc) == before);
    }
    edit_doc_destroy(doc);
    CHECK_INT(heap.bytes_now, 0);
}

typedef struct Mirror {
    uint32_t ids[4096];
    uint32_t count;
} Mirror;

static void mirror_remove(Mirror *mirror, uint32_t id)
{
    for (uint32_t i = 0; i < mirror->count; i++) {
        if (mirror->ids[i] == id) {
            mirror->ids[i] = mirror->ids[--mirror->count];
            return;
        }
    }
}

// What a page would have that only listens to the changes.
TEST(a_page_that_follows_the_changes_has_what_is_there)
{
    heap = heap_make(HEAP_BYTES);
    EditDoc *doc = edit_fixture_doc(&heap, EDIT_SCENE_TEXT);
    EditDrawList *list = NULL;
    REQUIRE(edit_draw_list_create(&heap, &list) == STATUS_OK);
    static Mirror mirror;
    mirror.count = 0;
    Rng rng = rng_make(5, 1);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        EditDrawChanges changes;
        REQUIRE(edit_draw_list_update(list, doc, &changes) == STATUS_OK);
        for (uint32_t i = 0; i < changes.gone_count; i++) {
            mirror_remove(&mirror, changes.gone[i]);
        }
        for (uint32_t i = 0; i < changes.row_count; i++) {
            mirror_remove(&mirror, changes.rows[i].id);
            mirror.ids[mirror.count++] = changes.rows[i].id;
        }
        CHECK_INT(mirror.count, edit_doc_count(doc, EDIT_ENTITY));
        for (uint32_t i = 0; i < mirror.count; i++) {
            CHECK(edit_doc_has(doc, EDIT_ENTITY, mirror.ids[i]));
        }
        EditBuffer ops = edit_fixture_ops(&heap);
        EditError error;
        edit_fixture_random(doc, &rng, 60, &ops);
        status_ignore(edit_fixture_apply(doc, &ops, &error));
    }
    EditDrawChanges changes;
    REQUIRE(edit_draw_list_update(list, doc, &changes) == STATUS_OK);
    REQUIRE(edit_draw_list_update(list, doc, &changes) == STATUS_OK);
    CHECK_INT(changes.row_count + changes.gone_count, 0);
    CHECK(!changes.has_order);
    edit_draw_list_destroy(list);
    edit_doc_destroy(doc);
    CHECK_INT(heap.bytes_now, 0);
}

// The number of that entity's texture among the assets, as a page that listens has it.
static uint32_t texture_of(EditDrawList *list, EditDoc *doc, uint32_t id, uint32_t before)
{
    EditDrawChanges changes;
    CHECK_INT(edit_draw_list_update(list, doc, &changes), STATUS_OK);
    for (uint32_t i = 0; i < changes.row_count; i++) {
        before = changes.rows[i].id == id ? changes.rows[i].texture : before;
    }
    return before;
}

TEST(a_new_asset_gives_the_others_their_new_numbers)
{
    heap = heap_make(HEAP_BYTES);
    EditDoc *doc = edit_fixture_doc(&heap, EDIT_SCENE_TEXT);
    EditDrawList *list = NULL;
    REQUIRE(edit_draw_list_create(&heap, &list) == STATUS_OK);
    CHECK_INT(
        apply_json(doc,
                   "[{\"op\":\"set\",\"member\":\"texture\",\"ids\":[11],\"value\":\"m.png\"}]"),
        STATUS_OK);
    uint32_t texture = texture_of(list, doc, 11, 99);
    CHECK_INT(texture, 0); // there is no such file yet
    static const struct {
        const char *path;
        uint32_t texture;
    } steps[] = {{"assets/m.png", 1}, {"assets/a.png", 2}, {"assets/z.png", 2}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        char json[256];
        snprintf(json, sizeof json,
                 "[{\"op\":\"file\",\"path\":\"%s\",\"known\":null,\"hash\":"
                 "\"%064d\"}]",
                 steps[i].path, (int)i + 1);
        CHECK_INT(apply_json(doc, json), STATUS_OK);
        texture = texture_of(list, doc, 11, texture);
        CHECK_INT(texture, steps[i].texture);
    }
    edit_draw_list_destroy(list);
    edit_doc_destroy(doc);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(a_ray_goes_through_what_is_skipped)
{
    const Pose here = {VEC3_ZERO, QUAT_IDENTITY};
    const Pose below = {vec3(0, -5, 0), QUAT_IDENTITY};
    const EditSolid solids[] = {{1, {SHAPE_BOX, vec3(1, 1, 1)}, here},
                                {2, {SHAPE_SPHERE, vec3(1, 1, 1)}, below}};
    const uint32_t skip[] = {1};
    EditRay ray = {.origin = vec3(0, 10, 0), .direction = vec3(0, -1, 0)};
    EditPick pick;
    REQUIRE(edit_pick(solids, 2, &ray, &pick));
    CHECK_INT(pick.id, 1);
    ray.skip = skip;
    ray.skip_count = 1;
    REQUIRE(edit_pick(solids, 2, &ray, &pick));
    CHECK_INT(pick.id, 2);
    CHECK(math_abs(pick.distance - 14) < 1e-4f);
}

static const uint8_t *no_files(void *user, Text path, size_t *bytes)
{
    (void)user, (void)path, (void)bytes;
    return NULL;
}

TEST(terrain_is_painted_in_order)
{
    heap = heap_make(HEAP_BYTES);
    EditDoc *doc = edit_fixture_doc(&heap, EDIT_SCENE_TEXT);
    EditGround ground = {0};
    const EditChunkFiles files = {NULL, no_files};
    CHECK_INT(
        apply_json(doc,
                   "[{\"op\":\"set\",\"kind\":\"settings\",\"member\":\"voxelKinds\",\"ids\":[0],"
                   "\"value\":[{\"name\":\"rock\"}]},"
                   "{\"op\":\"fill\",\"id\":900,\"box\":{\"min\":[100,0,100],\"max\":[101,3,101],"
                   "\"kind\":\"rock\"}},"
                   "{\"op\":\"fill\",\"id\":901,\"box\":{\"min\":[100,3,100],\"max\":[100,3,100],"
                   "\"kind\":\"air\"}},"
                   "{\"op\":\"fill\",\"id\":902,\"box\":{\"min\":[9,9,9],\"max\":[1,1,1],\"kind\":"
                   "\"rock\"}}]"),
        STATUS_OK);
    REQUIRE(edit_ground_make(&heap, doc, files, &ground) == STATUS_OK);
    CHECK(terrain_is_solid(ground.terrain, (VoxelCoord){101, 3, 101}));
    CHECK(!terrain_is_solid(ground.terrain, (VoxelCoord){100, 3, 100}));
    CHECK(!terrain_is_solid(ground.terrain, (VoxelCoord){5, 5, 5}));
    edit_ground_free(&heap, &ground);
    edit_doc_destroy(doc);
    CHECK_INT(heap.bytes_now, 0);
}

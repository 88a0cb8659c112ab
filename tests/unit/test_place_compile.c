// The compiler of places: what it accepts, what it rejects and the position it reports, that equal
// places give equal bytes, and that files → bytes → files → bytes changes nothing.
#include "core/base/rng.h"
#include "core/wire/place_doc.h"
#include "tests/support/test.h"
#include "tests/support/test_place.h"

#include <stdio.h>
#include <string.h>

#define FILES_MAX      16
#define PLACE          "{\"format\": 1, \"name\": \"P\"}"
#define SPAWN          "{\"id\": 1, \"type\": \"spawn\"}"
#define ENTITIES(text) "{\"format\": 1, \"entities\": [" SPAWN ", " text "]}"
#define SCENE          "{\"format\": 1, \"entities\": [" SPAWN "]}"

static Heap heap;

static PlaceFile file(const char *path, const char *text)
{
    return (PlaceFile){path, (const uint8_t *)text, strlen(text)};
}

static Status compile(const PlaceFile *files, uint32_t count, char text[512])
{
    heap = heap_make(64 << 20);
    ByteWriter counter = byte_counter();
    PlaceError error;
    const Status status = place_compile(&heap, files, count, &counter, &error);
    place_error_text(&error, text, 512);
    CHECK_INT(error.status, status);
    CHECK_INT(heap.bytes_now, 0);
    return status;
}

// The message must hold the words, which name the place and say what to do.
static void check_refused(const char *place, const char *scene, const char *words)
{
    const PlaceFile files[] = {file("place.json", place), file("scene.json", scene)};
    char text[512];
    const Status status = compile(files, 2, text);
    CHECK(status != STATUS_OK);
    if (strstr(text, words) == NULL) {
        test_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", text, words);
    }
}

static void check_entity_refused(const char *entity, const char *words)
{
    char scene[2048];
    (void)snprintf(scene, sizeof scene, "{\"format\": 1, \"entities\": [" SPAWN ",\n %s]}", entity);
    check_refused(PLACE, scene, words);
}

static void check_accepted(const char *place, const char *scene)
{
    const PlaceFile files[] = {file("place.json", place), file("scene.json", scene)};
    char text[512];
    if (compile(files, 2, text) != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s", text);
    }
}

// --- files again --------------------------------------------------------------------------------

typedef struct Kept {
    PlaceFile files[FILES_MAX];
    char paths[FILES_MAX][96];
    uint32_t count;
} Kept;

static void keep(void *user, const PlaceFile *one)
{
    Kept *kept = user;
    REQUIRE(kept->count < FILES_MAX);
    uint8_t *data = heap_alloc(&heap, one->bytes + 1);
    REQUIRE(data != NULL);
    memcpy(data, one->data, one->bytes);
    char *path = kept->paths[kept->count];
    (void)snprintf(path, sizeof kept->paths[0], "%s", one->path);
    kept->files[kept->count++] = (PlaceFile){path, data, one->bytes};
}

static void drop(Kept *kept)
{
    for (uint32_t i = 0; i < kept->count; i++) {
        heap_free(&heap, (void *)(uintptr_t)kept->files[i].data);
    }
}

static void check_round_trip(const PlaceFile *files, uint32_t count)
{
    heap = heap_make(64 << 20);
    const TestPlaceBytes first = test_place_whole_files(&heap, files, count);
    Kept kept = {0};
    CHECK_OK(place_decompile(&heap, first.data, first.bytes, keep, &kept));
    const TestPlaceBytes second = test_place_whole_files(&heap, kept.files, kept.count);
    CHECK_INT(second.bytes, first.bytes);
    REQUIRE(second.bytes == first.bytes);
    CHECK_BYTES(second.data, first.data, first.bytes);
    Kept again = {0};
    CHECK_OK(place_decompile(&heap, second.data, second.bytes, keep, &again));
    CHECK_INT(again.count, kept.count);
    for (uint32_t i = 0; i < again.count && i < kept.count; i++) {
        CHECK_TEXT(again.paths[i], kept.paths[i]);
        CHECK_INT(again.files[i].bytes, kept.files[i].bytes);
        if (again.files[i].bytes == kept.files[i].bytes) {
            CHECK_BYTES(again.files[i].data, kept.files[i].data, kept.files[i].bytes);
        }
    }
    drop(&kept);
    drop(&again);
    test_place_free(&heap, first);
    test_place_free(&heap, second);
    CHECK_INT(heap.bytes_now, 0);
}

// Uses every member there is.
static const char rich_place[] =
    "{\"format\": 1, \"name\": \"Rich\", \"tickRate\": 30, \"snapshotRate\": 15,"
    "\"limits\": {\"players\": 10, \"entities\": 500, \"viewRadius\": 50.5, \"reach\": 4},"
    "\"permissions\": {\"build\": true, \"terraform\": true}, \"respawnMs\": 0,"
    "\"character\": {\"radius\": 0.3, \"height\": 1.5, \"walkSpeed\": 4, \"runSpeed\": 9,"
    "\"climbSpeed\": 2, \"groundAcceleration\": 50, \"airAcceleration\": 10, \"gravity\": 20,"
    "\"fallSpeedMax\": 40, \"jumpSpeed\": 8, \"stepHeight\": 0.5, \"slopeCos\": 0.7,"
    "\"pushSpeed\": 1, \"healthMax\": 50, \"coyoteMs\": 50, \"jumpBufferMs\": 60,"
    "\"damagePauseMs\": 70}, \"actions\": [\"a\", \"b\"],"
    "\"catalogue\": [{\"name\": \"w\", \"cells\": [1, 2, 3], \"health\": 7, \"groundOnly\": true,"
    "\"material\": \"stone\", \"colour\": \"#0000ff\"}],"
    "\"weapons\": [{\"name\": \"g\", \"rate\": 2.5, \"speed\": 20, \"damage\": 3, \"gravity\": 1,"
    "\"radius\": 0.2, \"lifetimeMs\": 900, \"kind\": 4}, {\"name\": \"h\", \"intervalMs\": 70}],"
    "\"voxelKinds\": [{\"name\": \"k\", \"solid\": false, \"material\": \"neon\","
    "\"colour\": \"#010203\"}, {\"name\": \"l\"}],"
    "\"spells\": {\"fire\": [1, 2, {\"x\": null}]}, \"source\": \"open\",\n"
    "\"contexts\": {\"Workspace/Door\": \"Server\"}}";
static const char rich_scene[] =
    "{\"format\": 1, \"bounds\": {\"min\": [-50, -50, -50], \"max\": [50, 50, 50.25]},"
    "\"terrain\": [{\"min\": [-9, -9, -9], \"max\": [9, -1, 9], \"kind\": \"l\"},"
    "{\"chunk\": \"chunks/0_-1_1.chunk\"}, {\"min\": [0, -1, 0], \"max\": [0, -1, 0],"
    "\"kind\": \"air\"}],"
    "\"entities\": [{\"id\": 9, \"type\": \"spawn\", \"team\": \"red\"},"
    "{\"id\": 7, \"name\": \"top\", \"type\": \"group\", \"parent\": 8,"
    "\"transform\": {\"position\": [1, 2, 3], \"rotation\": [0.1, 0.2, 0.3, 0.4]}},"
    "{\"id\": 8, \"type\": \"group\", \"transform\": {\"rotation\": [10, 20, 30]}},"
    "{\"id\": 4, \"parent\": 7, \"transform\": {\"position\": [0, 1e-3, -0]},"
    "\"shape\": {\"kind\": \"cylinder\", \"size\": [2, 3, 9]}, \"material\": \"ice\", "
    "\"transparency\": 0.25, \"visible\": false, \"glow\": 0.5, \"texture\": \"wall\", \"model\": "
    "\"deep/tree\","
    "\"colour\": \"#ABCDEF\", \"attributes\": {\"z\": true, \"a\": 1.5, \"m\": \"\\u00e9\","
    "\"v\": [1, 2, 3], \"e\": {\"entity\": 5}, \"p\": {\"value\": 1, \"persistent\": true},"
    "\"q\": {\"value\": \"s\", \"private\": true},"
    "\"r\": {\"value\": 2, \"visibility\": \"owner\"}}, \"tags\": [\"t\", \"s\"], \"trigger\": "
    "true,"
    "\"ghost\": true, \"ladder\": true, \"bounce\": 3, \"damage\": 2, \"conveyor\": [1, 0, 0],"
    "\"scriptRef\": {\"path\": \"Workspace/D.ts\", \"codeHash\": \"sha256:00\"},"
    "\"scriptPath\": \"Workspace/D.lua\", \"parameters\": {\"open\": true, \"by\": [1]},"
    "\"enabled\": false},"
    "{\"id\": 5, \"type\": \"npc\", \"npc\": {\"sight\": 9, \"sightCos\": 0.1, \"feel\": 1,"
    "\"rise\": 2, \"decay\": 1, \"suspiciousAt\": 0.2, \"alertAt\": 0.8, \"calmAt\": 0.15,"
    "\"stop\": 2, \"turnSpeed\": 3, \"intervalTicks\": 5, \"loseMs\": 1, \"searchMs\": 2,"
    "\"travelMs\": 3, \"pauseMs\": 4, \"patrol\": [[1, 2, 3], [4, 5, 6]]}},"
    "{\"id\": 6, \"anchored\": false, \"serverOnly\": true},"
    "{\"id\": 3, \"type\": \"prop\", \"motion\": {\"waypoints\": ["
    "{\"position\": [1, 0, 0], \"seconds\": 1, \"wait\": 0.5, \"turn\": [0, 0, 90]}]}},"
    "{\"id\": 2, \"motion\": {\"loop\": true, \"segments\": [{\"start\": 1, \"seconds\": 1,"
    "\"position\": [0, 0, 0], \"velocity\": [1, 0, 0], \"angularVelocity\": [0, 0, 0]},"
    "{\"seconds\": 1, \"position\": [1, 0, 0], \"velocity\": [-1, 0, 0],"
    "\"turn\": [0, 0, 0, 1]}]}}]}";
static const char rich_prefab[] =
    "{\"format\": 1, \"kind\": \"projectile\", \"projectile\": {\"radius\": 0.5, \"gravity\": -2,"
    "\"damage\": 3, \"lifetimeMs\": 50, \"kind\": 6}, \"serverOnly\": true}";
static const char box_prefab[] =
    "{\"format\": 1, \"kind\": \"part\", \"rotation\": [0, 45, 0], \"shape\": {\"size\": [2, 2, "
    "2]}, \"attributes\": {\"n\": 1}, \"scriptPath\": \"ServerScriptService/X.lua\","
    "\"parameters\": {}}";
// All of kind 2: one kind, no planes.
#define RICH_FILES 7
static const uint8_t chunk_bytes[] = {1, 5, 0, 0, 0, 1, 0, 2, 0};

static uint32_t rich_files(PlaceFile files[RICH_FILES])
{
    files[0] = file("place.json", rich_place);
    files[1] = file("scene.json", rich_scene);
    files[2] = file("prefabs/Zed.json", rich_prefab);
    files[3] = file("prefabs/Box.json", box_prefab);
    files[4] = (PlaceFile){"chunks/0_-1_1.chunk", chunk_bytes, sizeof chunk_bytes};
    files[5] = file("assets/wall.png", "");
    files[6] = file("assets/deep/tree.glb", "");
    return RICH_FILES;
}

TEST(files_bytes_files_bytes_is_the_same)
{
    PlaceFile files[RICH_FILES];
    check_round_trip(files, rich_files(files));
    const PlaceFile flat[] = {file("place.json", TEST_PLACE_FLAT),
                              file("scene.json", TEST_PLACE_FLAT_SCENE)};
    check_round_trip(flat, 2);
    const PlaceFile course[] = {file("place.json", TEST_PLACE_COURSE),
                                file("scene.json", TEST_PLACE_COURSE_SCENE)};
    check_round_trip(course, 2);
    const PlaceFile least[] = {file("place.json", PLACE), file("scene.json", SCENE)};
    check_round_trip(least, 2);
}

static const PlaceFile asset_files[] = {{"assets/wall.png", (const uint8_t *)"", 0},
                                        {"assets/tree.glb", (const uint8_t *)"", 0}};

static void check_look_refused(const char *members, const char *words)
{
    char scene[1024], text[512];
    (void)snprintf(scene, sizeof scene,
                   "{\"format\": 1, \"entities\": [" SPAWN ",\n {\"id\": 2, %s}]}", members);
    const PlaceFile files[] = {file("place.json", PLACE), file("scene.json", scene), asset_files[0],
                               asset_files[1]};
    CHECK(compile(files, 4, text) != STATUS_OK);
    if (strstr(text, words) == NULL) {
        test_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", text, words);
    }
}

TEST(looks_that_make_no_sense_are_refused)
{
    check_look_refused("\"texture\": \"wal\"", "texture is \"wal\": did you mean \"wall\"?");
    check_look_refused("\"texture\": \"assets/door.png\"", "there are \"assets/wall.png\"");
    check_look_refused("\"texture\": \"tree\"", "there are \"assets/wall.png\""); // no picture
    check_look_refused("\"model\": \"assets/wall.png\"", "there are \"assets/tree.glb\"");
    check_look_refused("\"material\": \"woood\"", "material");
    check_look_refused("\"transparency\": 1.5", "transparency must be");
    check_look_refused("\"glow\": -1", "glow must be");
    check_look_refused("\"visible\": 1", "visible must be");
    check_look_refused("\"colour\": \"red\"", "must be a colour");
    check_look_refused("\"type\": \"group\", \"glow\": 0.5", "glow means nothing for type group");
}

// Quaternions that are unit stay as they are to the bit, so nothing creeps when files are made
// again and again.
TEST(unit_quaternions_do_not_change)
{
    heap = heap_make(64 << 20);
    Rng rng = rng_make(test_seed(), 5);
    for (uint32_t i = 0; i < 300 && test_is_passing(); i++) {
        Quat q;
        q.x = rng_range(&rng, -1, 1);
        q.y = rng_range(&rng, -1, 1);
        q.z = rng_range(&rng, -1, 1);
        q.w = rng_range(&rng, -1, 1);
        q = quat_normalise(q);
        const PlaceTransformDoc doc = {
            .rotation = {PLACE_ROTATION_QUATERNION, {q.x, q.y, q.z, q.w}}};
        PlaceScratch scratch = {.heap = &heap};
        char text[256];
        ByteWriter out = byte_writer(text, sizeof text);
        JsonWriter writer = json_writer(&out, 0);
        const PlaceTable *table = place_table_entity.fields[4].table;
        place_table_to_json(table, &doc, &scratch, &writer);
        REQUIRE(json_writer_finish(&writer) == STATUS_OK);
        const JsonNode *root = NULL;
        JsonError error;
        REQUIRE(place_json_parse(&scratch, text, out.at, &root, &error) == STATUS_OK);
        PlaceTransformDoc again;
        place_table_from_json(table, root, &scratch, &again, &error);
        CHECK_OK(error.status);
        CHECK_BYTES(again.rotation.values, doc.rotation.values, sizeof doc.rotation.values);
        place_scratch_free(&scratch);
    }
}

// Order of files and of members, defaults written out, extents that are not used, and which text of
// a script the scene was built with.
TEST(equal_places_give_equal_bytes)
{
    heap = heap_make(64 << 20);
    const PlaceFile a[] = {
        file("place.json", PLACE),
        file("scene.json",
             ENTITIES("{\"id\": 2, \"shape\": {\"kind\": \"sphere\", \"size\": [1, "
                      "2, 3]}, \"attributes\": {\"b\": 1, \"a\": 2, \"c\": {\"value\": 3, "
                      "\"private\": true}}, "
                      "\"scriptRef\": {\"path\": \"Workspace/D.ts\", "
                      "\"codeHash\": \"sha256:00\"}}")),
        file("prefabs/A.json", "{\"format\": 1, \"kind\": \"prop\"}"),
        file("prefabs/B.json", "{\"format\": 1, \"kind\": \"part\"}"),
        file("Workspace/Door.lua", "not looked at")};
    const PlaceFile b[] = {
        file("prefabs/B.json", "{\"kind\": \"part\", \"format\": 1, \"npc\": {}}"),
        file("prefabs/A.json", "{\"format\": 1, \"kind\": \"prop\", \"ghost\": false}"),
        file("scene.json",
             ENTITIES("{\"attributes\": {\"c\": {\"visibility\": \"server\", \"value\": 3}, "
                      "\"a\": {\"value\": 2, \"visibility\": \"all\"}, "
                      "\"b\": {\"value\": 1, \"private\": false}}, "
                      "\"type\": \"part\", \"shape\": {\"size\": [1.0, 1, 1], \"kind\": "
                      "\"sphere\"}, \"anchored\": true, \"id\": 2, \"transform\": {\"rotation\": "
                      "[0, 0, 0]}, \"scriptRef\": {\"codeHash\": \"sha256:ff\", \"path\": "
                      "\"Workspace/D.ts\"}}")),
        file("place.json", "{\"name\": \"P\", \"tickRate\": 60, \"format\": 1, \"limits\": {}}")};
    const TestPlaceBytes first = test_place_whole_files(&heap, a, 5);
    const TestPlaceBytes second = test_place_whole_files(&heap, b, 4);
    CHECK_INT(first.bytes, second.bytes);
    if (first.bytes == second.bytes) {
        CHECK_BYTES(first.data, second.data, first.bytes);
    }
    test_place_free(&heap, first);
    test_place_free(&heap, second);
}

TEST(mistakes_in_place_json_are_named)
{
    check_refused("{\"format\": 1}", SCENE,
                  "place.json line 1, column 1: $.name is missing; add it");
    check_refused("{\"format\": 2, \"name\": \"P\"}", SCENE, "$.format is 2, but this program");
    check_refused(
        "{\"format\": 1, \"name\": \"P\",\n \"tickrate\": 60}", SCENE,
        "place.json line 2, column 14: $.tickrate is no member of place.json; did you mean "
        "tickRate?");
    check_refused("{\"format\": 1, \"name\": \"\"}", SCENE, "$.name must not be empty");
    check_refused("{\"format\": 1, \"name\": \"a\\u001b[31m\"}", SCENE,
                  "$.name must have no control characters");
    check_refused("{\"format\": 1, \"name\": \"a\\u009b\"}", SCENE,
                  "$.name must have no control characters");
    check_refused("{\"format\": 1, \"name\": \"\\u202egnp\\u200b\"}", SCENE,
                  "$.name must have no characters that show nothing or turn the direction of text");
    check_refused("{\"format\": 1, \"name\": \"\\u3164\"}", SCENE,
                  "$.name must have no characters that show nothing");
    check_refused("{\"format\": 1, \"name\": \"P\", \"actions\": [\"a\\u202eb\"]}", SCENE,
                  "$.actions[0] must have no characters that show nothing");
    check_refused("{\"format\": 1, \"name\": \"P\", \"tickRate\": 50}", SCENE, "must be 30 or 60");
    check_refused("{\"format\": 1, \"name\": \"P\", \"tickRate\": 30}", SCENE,
                  "$.snapshotRate must divide tickRate: 10 or 15");
    check_refused("{\"format\": 1, \"name\": \"P\", \"limits\": {\"players\": 4001}}", SCENE,
                  "$.limits.players must be a whole number between 1 and 4000");
    check_refused("{\"format\": 1, \"name\": \"P\", \"character\": {\"height\": 0.5}}", SCENE,
                  "$.character has sizes that do not fit");
    check_refused("{\"format\": 1, \"name\": \"P\", \"weapons\": [{\"name\": \"a\", \"rate\": 1, "
                  "\"intervalMs\": 5}]}",
                  SCENE, "$.weapons[0].rate and intervalMs say the same");
    check_refused("{\"format\": 1, \"name\": \"P\", \"catalogue\": [{\"name\": \"a\"}, {\"name\": "
                  "\"a\"}]}",
                  SCENE, "$.catalogue[1].name is there already");
    check_refused("{\"format\": 1, \"name\": \"P\", \"catalogue\": [{\"name\": \"a\", \"cells\": "
                  "[1, 9, 1]}]}",
                  SCENE, "$.catalogue[0].cells[1] must be a whole number between 1 and 8");
    check_refused("{\"format\": 1, \"name\": \"P\", \"actions\": [\"a\", \"a\"]}", SCENE,
                  "$.actions[1] is there already");
    check_refused("{\"format\": 1, \"name\": \"P\", \"voxelKinds\": [{\"name\": \"air\"}]}", SCENE,
                  "$.voxelKinds[0].name is kind 0 already");
    check_refused("{\"format\": 1, \"name\": \"P\", \"source\": \"free\"}", SCENE,
                  "$.source must be one of closed, open");
    check_refused("{\"format\": 1, \"name\": ", SCENE, "place.json line 1");
    check_refused("[]", SCENE, "must be an object");
}

TEST(mistakes_in_scene_json_are_named)
{
    check_refused(PLACE, "{\"format\": 1}", "$.entities must have at least one of type spawn");
    check_entity_refused("{\"id\": 1}", "scene.json line 2, column 9: $.entities[1].id is used");
    check_entity_refused("{}", "$.entities[1].id is missing");
    check_entity_refused("{\"id\": 0}", "$.entities[1].id must be a whole number");
    check_entity_refused("{\"id\": 2, \"parent\": 3}", "$.entities[1].parent must be the id of an");
    check_entity_refused("{\"id\": 2, \"parent\": 2}", "$.entities[1].parent has itself");
    check_entity_refused("{\"id\": 2, \"parent\": 3}, {\"id\": 3, \"parent\": 2}", "has itself");
    check_entity_refused("{\"id\": 2, \"type\": \"tree\"}", "must be one of part, prop, npc");
    check_entity_refused("{\"id\": 2, \"shape\": {\"size\": [1, 0, 1]}}",
                         "$.entities[1].shape.size[1] must be a number between");
    check_entity_refused("{\"id\": 2, \"colour\": \"red\"}", "must be a colour such as");
    check_entity_refused("{\"id\": 2, \"color\": \"red\"}", "must be a colour such as");
    check_entity_refused("{\"id\": 2, \"colour\": \"#000000\", \"color\": \"#000000\"}",
                         "$.entities[1].color is colour in another spelling; keep one of them");
    check_entity_refused("{\"id\": 2, \"type\": \"group\", \"damage\": 1}",
                         "$.entities[1].damage means nothing for type group");
    check_entity_refused("{\"id\": 2, \"npc\": {\"sight\": 3}}", "means nothing for type part");
    check_entity_refused("{\"id\": 2, \"team\": \"red\"}", "means nothing for type part");
    check_entity_refused("{\"id\": 2, \"conveyor\": [50, 0, 50]}", "must be at most 50 m/s");
    check_entity_refused("{\"id\": 2, \"transform\": {\"rotation\": [0, 0, 0, 0]}}",
                         "must be a quaternion");
    check_entity_refused("{\"id\": 2, \"transform\": {\"rotation\": [0, 0]}}", "3 to 4 items");
    check_entity_refused("{\"id\": 2, \"attributes\": {\"a\": null}}",
                         "$.entities[1].attributes.a must be true or false");
    check_entity_refused("{\"id\": 2, \"attributes\": {\"a\": {\"entity\": 1}}}",
                         "name entity 1, which must be a part, prop or npc");
    check_entity_refused("{\"id\": 2, \"attributes\": {\"\": 1}}", "must have a name");
    check_entity_refused(
        "{\"id\": 2, \"attributes\": {\"a\": {\"value\": 1, \"visibility\": \"me\"}}}",
        "visibility must be \"server\", \"owner\" or \"all\"");
    check_entity_refused("{\"id\": 2, \"attributes\": {\"a\": {\"value\": 1, \"private\": true, "
                         "\"visibility\": \"owner\"}}}",
                         "must be \"server\" when \"private\" is true");
    check_entity_refused(
        "{\"id\": 2, \"attributes\": {\"a\": {\"value\": 1, \"visibility\": true}}}",
        "visibility must be \"server\"");
    check_entity_refused("{\"id\": 2, \"scriptPath\": \"Door.lua\"}",
                         "must be in Workspace/ or ServerScriptService/");
    check_entity_refused("{\"id\": 2, \"scriptPath\": \"Workspace/a\", \"parameters\": [1]}",
                         "$.entities[1].parameters must be an object");
    check_entity_refused("{\"id\": 2, \"parameters\": {}}", "$.entities[1].scriptPath is missing");
    check_entity_refused("{\"id\": 2, \"type\": \"npc\", \"npc\": {\"calmAt\": 0.5}}",
                         "calmAt <= suspiciousAt <= alertAt");
    check_refused(PLACE, "{\"format\": 1, \"bounds\": {\"min\": [0, 0, 0], \"max\": [1, 0, 1]}}",
                  "$.bounds must have each number of max above min");
}

TEST(mistakes_in_motion_are_named)
{
    check_entity_refused("{\"id\": 2, \"motion\": {\"waypoints\": [{\"position\": [99, 0, 0], "
                         "\"seconds\": 1}]}}",
                         "$.entities[1].motion is faster than 60 m/s");
    check_entity_refused("{\"id\": 2, \"motion\": {\"loop\": true, \"waypoints\": [{\"position\": "
                         "[1, 0, 0], \"seconds\": 1}]}}",
                         "must come back to where it begins");
    check_entity_refused("{\"id\": 2, \"motion\": {\"loop\": true}}", "must have waypoints or");
    check_entity_refused(
        "{\"id\": 2, \"motion\": {\"waypoints\": [{\"position\": [1, 0, 0], \"seconds\": 1}], "
        "\"segments\": [{\"position\": [1, 0, 0], \"seconds\": 1}]}}",
        "not both");
    check_entity_refused(
        "{\"id\": 2, \"motion\": {\"waypoints\": [{\"position\": [1, 0, 0], \"seconds\": 1}, "
        "{\"position\": [1, 0, 0], \"seconds\": 1}, {\"position\": [1, 0, 0], \"seconds\": 1}, "
        "{\"position\": [1, 0, 0], \"seconds\": 1}]}}",
        "at most 3 waypoints without loop");
    check_entity_refused("{\"id\": 2, \"motion\": {\"segments\": [{\"start\": 5, \"position\": [0, "
                         "0, 0], \"seconds\": 2}, {\"start\": 6, \"position\": [0, 0, 0], "
                         "\"seconds\": 1}]}}",
                         "segments out of order");
}

#define TERRAIN(text) "{\"format\": 1, \"terrain\": [" text "], \"entities\": [" SPAWN "]}"

TEST(mistakes_in_terrain_are_named)
{
    check_refused(PLACE, TERRAIN("{\"kind\": \"gras\"}"), "a name from voxelKinds in place.json");
    check_refused(PLACE, TERRAIN("{\"min\": [1, 0, 0], \"max\": [0, 0, 0], \"kind\": \"air\"}"),
                  "$.terrain[0].max must not be below min");
    check_refused(PLACE,
                  TERRAIN("{\"min\": [-9999, -9999, -9999], \"max\": [9999, 9999, 9999], \"kind\": "
                          "\"air\"}"),
                  "touch more than 16384 chunks");
    check_refused(PLACE, TERRAIN("{\"chunk\": \"chunks/0_0_0.chunk\"}"),
                  "$.terrain[0].chunk names a file that is not in the place");
    check_refused(PLACE, TERRAIN("{\"chunk\": \"chunks/0_00_0.chunk\"}"), "must be chunks/<x>");
    check_refused(PLACE, TERRAIN("{\"chunk\": \"chunks/512_0_0.chunk\"}"), "must be chunks/<x>");
    check_refused(PLACE, TERRAIN("{\"chunk\": \"../0_0_0.chunk\"}"), "must be chunks/<x>");
    PlaceFile files[] = {file("place.json", PLACE),
                         file("scene.json", TERRAIN("{\"chunk\": \"chunks/0_0_0.chunk\"}")),
                         {"chunks/0_0_0.chunk", chunk_bytes, sizeof chunk_bytes - 1}};
    char text[512];
    CHECK(compile(files, 3, text) != STATUS_OK);
    CHECK(strstr(text, "$.terrain[0] cannot be made: the input ended too early") != NULL);
    files[2].bytes += 1;
    // Its kind 2 is not one of the place's; with two kinds it is.
    CHECK(compile(files, 3, text) == STATUS_RANGE);
    CHECK(strstr(text, "$.terrain[0] cannot be made") != NULL);
    files[0] = file("place.json", "{\"format\": 1, \"name\": \"x\", \"voxelKinds\": "
                                  "[{\"name\": \"grass\"}, {\"name\": \"stone\"}]}");
    CHECK_OK(compile(files, 3, text));
}

TEST(mistakes_in_files_are_named)
{
    char text[512];
    PlaceFile files[] = {file("place.json", PLACE), file("scene.json", SCENE),
                         file("prefabs/A.json", "{\"format\": 1, \"kind\": \"npc\", \"ghost\": "
                                                "true}")};
    CHECK(compile(files, 1, text) == STATUS_NOT_FOUND);
    CHECK_TEXT(text, "scene.json is missing; every place has one");
    CHECK(compile(files, 3, text) == STATUS_UNSUPPORTED);
    CHECK(strstr(text, "prefabs/A.json line 1, column 39: $.ghost means nothing") != NULL);
    files[2] = file("prefabs/A b.json", "{}");
    CHECK(compile(files, 3, text) == STATUS_RANGE);
    CHECK(strstr(text, "prefabs/A b.json must have a name of letters") != NULL);
    files[2] = file("prefabs/A.json", "{\"format\": 1, \"kind\": \"part\", \"attributes\": "
                                      "{\"a\": {\"entity\": 1}}}");
    CHECK(compile(files, 3, text) == STATUS_UNSUPPORTED);
    const PlaceFile twice[] = {file("place.json", PLACE), file("scene.json", SCENE),
                               file("prefabs/A.json", "{\"format\": 1, \"kind\": \"part\"}"),
                               file("prefabs/A.json", "{\"format\": 1, \"kind\": \"part\"}")};
    CHECK(compile(twice, 4, text) == STATUS_EXISTS);
}

TEST(edges_of_ranges_are_accepted)
{
    check_accepted("{\"format\": 1, \"name\": \"P\", \"limits\": {\"players\": 4000, \"entities\": "
                   "65536}, \"respawnMs\": 600000}",
                   SCENE);
    check_accepted(PLACE, ENTITIES("{\"id\": 4294967295, \"shape\": {\"size\": [0.02, 1024, "
                                   "0.02]}, \"transform\": {\"position\": [16384, -16384, 0]}}"));
    check_accepted(PLACE, ENTITIES("{\"id\": 2, \"motion\": {\"waypoints\": [{\"position\": [59, "
                                   "0, 0], \"seconds\": 1}]}}"));
    // A loop of turns that ends after a whole one, which is the same pose with the other sign.
    check_accepted(PLACE,
                   ENTITIES("{\"id\": 2, \"motion\": {\"loop\": true, \"waypoints\": ["
                            "{\"position\": [0, 0, 0], \"seconds\": 1, \"turn\": [0, 120, 0]},"
                            "{\"position\": [0, 0, 0], \"seconds\": 1, \"turn\": [0, 240, 0]},"
                            "{\"position\": [0, 0, 0], \"seconds\": 1, \"turn\": [0, 360, 0]}]}}"));
}

TEST(thirty_two_parents_are_the_most)
{
    for (int deep = 0; deep < 2; deep++) {
        char scene[4096];
        size_t at = (size_t)snprintf(scene, sizeof scene, "{\"format\": 1, \"entities\": [" SPAWN);
        // The one at the bottom comes first: nothing above it is worked out yet.
        for (int i = 2; i < 34 + deep; i++) {
            at += (size_t)snprintf(scene + at, sizeof scene - at,
                                   ",{\"id\": %d, \"type\": \"group\", \"parent\": %d}", i, i + 1);
        }
        (void)snprintf(scene + at, sizeof scene - at, ",{\"id\": %d, \"type\": \"group\"}]}",
                       34 + deep);
        if (deep == 0) {
            check_accepted(PLACE, scene);
        } else {
            check_refused(PLACE, scene, "more than 32 others above it");
        }
    }
}

// Memory runs out at every possible point: a status, and nothing is lost.
TEST(compiling_survives_every_refusal_of_memory)
{
    PlaceFile files[RICH_FILES];
    const uint32_t count = rich_files(files);
    Status status = STATUS_LIMIT;
    uint32_t refusals = 0;
    for (uint64_t room = 0; status != STATUS_OK; room += 4001) {
        heap = heap_make(room);
        ByteWriter counter = byte_counter();
        PlaceError error;
        status = place_compile(&heap, files, count, &counter, &error);
        CHECK(status == STATUS_OK || status == STATUS_LIMIT);
        CHECK_INT(heap.bytes_now, 0);
        refusals += status != STATUS_OK;
        REQUIRE(room < 1 << 24);
    }
    CHECK(refusals > 10);
}

TEST(a_buffer_that_is_too_small_is_a_limit)
{
    heap = heap_make(1 << 20);
    const PlaceFile files[] = {file("place.json", PLACE), file("scene.json", SCENE)};
    uint8_t small[20];
    ByteWriter writer = byte_writer(small, sizeof small);
    PlaceError error;
    CHECK(place_compile(&heap, files, 2, &writer, &error) == STATUS_LIMIT);
}

// The defaults of the tables are those of the code they stand for.
TEST(defaults_are_those_of_the_sim)
{
    PlaceSettingsDoc settings;
    place_table_default(&place_table_settings, &settings);
    const CharacterTuning want = sim_config_default().character;
    CHECK_BYTES(&settings.character, &want, sizeof want);
    PlaceEntityDoc entity;
    place_table_default(&place_table_entity, &entity);
    const NpcTuning npc = npc_tuning_default();
    const PlaceNpcDoc *got = &entity.body.npc;
    CHECK(got->sight == npc.sight_m && got->sight_cos == npc.sight_cos && got->feel == npc.feel_m);
    CHECK(got->rise == npc.rise && got->decay == npc.decay && got->stop == npc.stop_m);
    CHECK(got->suspicious_at == npc.suspicious_at && got->alert_at == npc.alert_at);
    CHECK(got->calm_at == npc.calm_at && got->turn_speed == npc.turn_speed);
    CHECK_INT(got->interval_ticks, npc.interval_ticks);
    CHECK_INT(got->lose_ms, npc.lose_ms);
    CHECK_INT(got->search_ms, npc.search_ms);
    CHECK_INT(got->travel_ms, npc.travel_ms);
    CHECK_INT(got->pause_ms, npc.pause_ms);
}

// Words changed for other words: never a crash, and nothing is lost.
TEST(mutated_files_give_a_status)
{
    Rng rng = rng_make(test_seed(), 1);
    static char text[sizeof rich_scene];
    for (uint32_t round = 0; round < 400 && test_is_passing(); round++) {
        PlaceFile files[RICH_FILES];
        const uint32_t count = rich_files(files);
        memcpy(text, rich_scene, sizeof rich_scene);
        const uint32_t edits = 1 + rng_below(&rng, 3);
        for (uint32_t i = 0; i < edits; i++) {
            static const char letters[] = "0123456789-.,:[]{}\"eE tx";
            const size_t at = rng_below(&rng, sizeof rich_scene - 1);
            text[at] = letters[rng_below(&rng, sizeof letters - 1)];
        }
        files[1] = file("scene.json", text);
        char message[512];
        (void)compile(files, count, message);
    }
}

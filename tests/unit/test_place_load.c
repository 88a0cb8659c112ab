// Loading a place: both forms give the same scene, the stripped one contains nothing that only the
// server may know, a sim made from a place contains exactly what the files say, and any bytes give
// a place or an error status.
#include "core/base/hash.h"
#include "core/base/rng.h"
#include "core/base/sha256.h"
#include "core/sim/npc.h"
#include "core/wire/place_doc.h"
#include "tests/support/test.h"
#include "tests/support/test_place.h"

#include <stdio.h>
#include <string.h>

static Heap heap;

static const char small_place[] =
    "{\"format\": 1, \"name\": \"Small\", \"weapons\": [{\"name\": \"gun\", \"damage\": 77}],"
    "\"voxelKinds\": [{\"name\": \"mud\", \"solid\": false, \"color\": \"#102030\"}],"
    "\"spells\": {\"mySpell\": 1}, \"actions\": [\"wave\"],"
    "\"catalogue\": [{\"name\": \"wall\", \"cells\": [3, 2, 1], \"groundOnly\": true}]}";
static const char small_scene[] =
    "{\"format\": 1, \"entities\": ["
    "{\"id\": 50, \"type\": \"spawn\", \"team\": \"red\", \"transform\": {\"position\": [1, 2, 3],"
    "\"rotation\": [0, 90, 0]}},"
    "{\"id\": 40, \"type\": \"group\", \"name\": \"secretGroup\", \"transform\": {\"position\": "
    "[10, 0, 0], \"rotation\": [0, 90, 0]}},"
    "{\"id\": 30, \"name\": \"Door\", \"parent\": 40, \"transform\": {\"position\": [0, 0, 2]},"
    "\"scriptRef\": {\"path\": \"Workspace/Door.ts\", \"codeHash\": \"secretHash\"},"
    "\"parameters\": {\"speed\": 3}, \"tags\": [\"door\"],"
    "\"attributes\": {\"open\": {\"value\": false, \"persistent\": true},"
    "\"code\": {\"value\": \"secretCode\", \"private\": true}, \"next\": {\"entity\": 20},"
    "\"watch\": {\"entity\": 60}, \"boss\": {\"entity\": 70}}},"
    "{\"id\": 60, \"name\": \"secretTrap\", \"serverOnly\": true, \"damage\": 9,"
    "\"material\": \"stone\", \"scriptPath\": \"Workspace/secretTrap.lua\"},"
    "{\"id\": 20, \"name\": \"Vault\", \"scriptPath\": \"ServerScriptService/secretVault.lua\","
    "\"parameters\": {\"pin\": \"secretPin\"}, \"enabled\": false},"
    "{\"id\": 70, \"name\": \"secretGuard\", \"type\": \"npc\", \"npc\": {\"sight\": 33,"
    "\"patrol\": [[1, 0, 1]]}, \"colour\": \"#00ff00\", \"scriptPath\": \"Workspace/Guard.lua\"}]}";

static TestPlaceBytes small_whole(void)
{
    const char *crate = "{\"format\": 1, \"kind\": \"part\", \"scriptPath\": "
                        "\"ServerScriptService/secretCrate.lua\"}";
    const char *arrow =
        "{\"format\": 1, \"kind\": \"projectile\", \"projectile\": {\"damage\": 55}}";
    const char *hidden = "{\"format\": 1, \"kind\": \"npc\", \"serverOnly\": true}";
    const PlaceFile files[] = {
        {"place.json", (const uint8_t *)small_place, sizeof small_place - 1},
        {"scene.json", (const uint8_t *)small_scene, sizeof small_scene - 1},
        {"prefabs/secretBoss.json", (const uint8_t *)hidden, strlen(hidden)},
        {"prefabs/Crate.json", (const uint8_t *)crate, strlen(crate)},
        {"prefabs/Arrow.json", (const uint8_t *)arrow, strlen(arrow)},
    };
    return test_place_whole_files(&heap, files, 5);
}

static bool has_bytes(TestPlaceBytes bytes, const char *word)
{
    const size_t count = strlen(word);
    for (size_t i = 0; i + count <= bytes.bytes; i++) {
        if (memcmp(bytes.data + i, word, count) == 0) {
            return true;
        }
    }
    return false;
}

// --- what is in a Place -------------------------------------------------------------------------

TEST(the_whole_form_has_everything)
{
    heap = heap_make(64 << 20);
    const TestPlaceBytes bytes = small_whole();
    Place *place = NULL;
    REQUIRE(place_load(&heap, bytes.data, bytes.bytes, &place) == STATUS_OK);
    uint8_t hash[32];
    sha256_of(bytes.data, bytes.bytes, hash);
    CHECK_BYTES(place->hash, hash, sizeof hash);
    test_place_free(&heap, bytes); // nothing points into it
    CHECK(text_is(place->name, "Small") && !place->stripped);
    CHECK_INT(scene_part_count(place->scene), 2);
    CHECK(text_is(place->scene_names[0], "Door") && text_is(place->scene_names[1], "Vault"));
    CHECK(paint_equal(&place->paints.scene[0], &paint_default));
    CHECK_INT(place->paints.scene[3].colour, 0x00ff00); // the guard, net id 4
    // The group is turned by a quarter about y: its +z is the world's +x.
    const Vec3 door = scene_part(place->scene, 0)->desc.pose.position;
    CHECK_NEAR(door.x, 12, 1e-5);
    CHECK_NEAR(door.z, 0, 1e-5);
    CHECK_INT(place->spawn_count, 1);
    CHECK(text_is(place->spawns[0].team, "red"));
    CHECK_NEAR(place->spawns[0].yaw, MATH_PI / 2, 1e-6);
    CHECK_INT(place->weapon_count, 1);
    CHECK_NEAR(place->weapons[0].damage, 77, 0);
    CHECK_INT(place->weapons[0].interval_ms, 200);
    CHECK_INT(place->action_count, 1);
    CHECK_INT(place->voxel_kind_count, 1);
    CHECK_INT(place->voxel_kind_looks[0].colour, 0x102030);
    REQUIRE(place->chunks != NULL);
    CHECK(!voxel_kind_is_solid(chunk_store_kinds(place->chunks), 1));
    CHECK_INT(scene_piece(place->scene, 0)->flags, PIECE_GROUND_ONLY);
    CHECK_INT(scene_piece(place->scene, 0)->cells_x, 3);
    // A server-only part is no anchored part: the trap, then the guard.
    REQUIRE(place->entity_count == 2);
    CHECK(text_is(place->entities[0].name, "secretTrap") && place->entities[0].server_only);
    CHECK_INT(place->entities[0].net_id, 3);
    CHECK_INT(place->entities[0].part.data.flags, PART_DAMAGE);
    CHECK_INT(place->entities[1].kind, PREFAB_NPC);
    CHECK_NEAR(place->entities[1].npc.tuning.sight_m, 33, 0);
    CHECK_INT(place->entities[1].npc.patrol_count, 1);
    CHECK(text_is(place->entities[1].binding.script_path, "Workspace/Guard.lua"));
    REQUIRE(place->binding_count == 2);
    CHECK(text_is(place->bindings[0].script_path, "Workspace/Door.ts"));
    CHECK(text_is(place->bindings[0].parameters, "{\"speed\":3}") && place->bindings[0].enabled);
    CHECK(!place->bindings[1].enabled && place->bindings[1].net_id == 2);
    REQUIRE(place->extra_count == 1 && place->extras[0].attribute_count == 5);
    const PrefabAttribute *attributes = place->extras[0].attributes;
    CHECK(text_is(attributes[0].name, "boss") && attributes[0].value.entity == 4);
    CHECK(text_is(attributes[1].name, "code") && attributes[1].flags == ATTRIBUTE_PRIVATE);
    CHECK(text_is(attributes[2].name, "next") && attributes[2].value.entity == 2);
    CHECK(text_is(attributes[3].name, "open") && attributes[3].flags == ATTRIBUTE_PERSISTENT);
    CHECK(text_is(attributes[4].name, "watch") && attributes[4].value.entity == 3);
    REQUIRE(place->prefabs.count == 3);
    CHECK(text_is(place->prefabs.prefabs[0].name, "Arrow"));
    CHECK_NEAR(place->prefabs.prefabs[0].projectile.damage, 55, 0);
    CHECK_INT(place->prefabs.prefabs[0].projectile.lifetime_ticks, 600);
    CHECK_TEXT(place->prefabs.prefabs[1].script_path, "ServerScriptService/secretCrate.lua");
    place_unload(&heap, place);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(the_stripped_form_keeps_secrets)
{
    heap = heap_make(64 << 20);
    const TestPlaceBytes whole = small_whole();
    const TestPlaceBytes stripped = test_place_strip(&heap, whole);
    CHECK(has_bytes(whole, "secret") && has_bytes(whole, "mySpell"));
    CHECK(!has_bytes(stripped, "secret"));
    CHECK(!has_bytes(stripped, "mySpell"));
    CHECK(!has_bytes(stripped, "watch"));
    CHECK(!has_bytes(stripped, "pin"));
    Place *place = NULL;
    REQUIRE(place_load(&heap, stripped.data, stripped.bytes, &place) == STATUS_OK);
    CHECK(place->stripped);
    CHECK_INT(place->entity_count, 0);
    CHECK_INT(place->spawn_count, 1);
    CHECK_NEAR(place->weapons[0].damage, 0, 0);
    REQUIRE(place->binding_count == 2);
    CHECK(text_is(place->bindings[0].script_path, "Workspace/Door"));
    CHECK(text_is(place->bindings[0].parameters, "{\"speed\":3}"));
    // The guard comes by replication; its script runs on both sides.
    CHECK(text_is(place->bindings[1].script_path, "Workspace/Guard"));
    CHECK_INT(place->bindings[1].net_id, 4);
    CHECK_INT(place->paints.scene_count, 2);
    REQUIRE(place->extra_count == 1 && place->extras[0].attribute_count == 3);
    const PrefabAttribute *attributes = place->extras[0].attributes;
    CHECK(text_is(attributes[0].name, "boss") && attributes[0].value.entity == 4);
    CHECK(text_is(attributes[1].name, "next") && attributes[1].value.entity == 2);
    CHECK(text_is(attributes[2].name, "open") && attributes[2].flags == 0);
    CHECK_INT(place->prefabs.count, 2);
    CHECK(place->prefabs.prefabs[1].script_path == NULL);
    CHECK_NEAR(place->prefabs.prefabs[0].projectile.damage, 0, 0);
    ByteWriter counter = byte_counter();
    CHECK(place_strip(&heap, stripped.data, stripped.bytes, &counter) == STATUS_MISMATCH);
    place_unload(&heap, place);
    test_place_free(&heap, whole);
    test_place_free(&heap, stripped);
    CHECK_INT(heap.bytes_now, 0);
}

// However a build has written the path, clients learn the script's name, and of the server's own
// scripts nothing.
TEST(clients_learn_a_scripts_name_alone)
{
    static const struct {
        const char *path, *name;
    } rows[] = {{"Workspace/Door", "Workspace/Door"},
                {"Workspace/Door.lua", "Workspace/Door"},
                {"SoulService/Workspace/Door.soul", "Workspace/Door"},
                {".sandlot/server/soul/Workspace/Door.lua", "Workspace/Door"},
                {".sandlot/server/soul/ServerScriptService/Vault.lua", NULL},
                {"SoulService/ServerScriptService/Vault.ts", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        heap = heap_make(64 << 20);
        char scene[512];
        snprintf(scene, sizeof scene,
                 "{\"format\": 1, \"entities\": [{\"id\": 1, \"type\": \"spawn\"}, {\"id\": 2, "
                 "\"scriptRef\": {\"path\": \"Workspace/Door.ts\"}, \"scriptPath\": \"%s\"}]}",
                 rows[i].path);
        const TestPlaceBytes whole = test_place_whole(&heap, TEST_PLACE_FLAT, scene);
        const TestPlaceBytes stripped = test_place_strip(&heap, whole);
        CHECK(!has_bytes(stripped, ".sandlot") && !has_bytes(stripped, "Vault"));
        Place *place = NULL;
        REQUIRE(place_load(&heap, stripped.data, stripped.bytes, &place) == STATUS_OK);
        CHECK_INT(place->binding_count, rows[i].name != NULL);
        CHECK(rows[i].name == NULL || text_is(place->bindings[0].script_path, rows[i].name));
        place_unload(&heap, place);
        test_place_free(&heap, whole);
        test_place_free(&heap, stripped);
        CHECK_INT(heap.bytes_now, 0);
    }
}

// A script of Workspace that place.json keeps on the server is as secret as one of
// ServerScriptService, with its parameters.
TEST(clients_learn_nothing_of_narrowed_scripts)
{
    heap = heap_make(64 << 20);
    const char *place =
        "{\"format\": 1, \"name\": \"p\", \"contexts\": {\"Workspace/secretVault\": "
        "\"Server\", \"Workspace/Door\": \"Client\"}}";
    const char *scene = "{\"format\": 1, \"entities\": [{\"id\": 1, \"type\": \"spawn\"},"
                        "{\"id\": 2, \"scriptPath\": \"Workspace/secretVault.lua\","
                        "\"parameters\": {\"pin\": \"secretPin\"}},"
                        "{\"id\": 3, \"type\": \"prop\", \"scriptRef\": {\"path\": "
                        "\"SoulService/Workspace/secretVault.ts\"}},"
                        "{\"id\": 4, \"scriptPath\": \"Workspace/Door.lua\"}]}";
    const TestPlaceBytes whole = test_place_whole(&heap, place, scene);
    const TestPlaceBytes stripped = test_place_strip(&heap, whole);
    CHECK(has_bytes(whole, "secretVault") && !has_bytes(stripped, "secret"));
    CHECK(has_bytes(stripped, "Workspace/Door"));
    test_place_free(&heap, whole);
    test_place_free(&heap, stripped);
    CHECK_INT(heap.bytes_now, 0);
    // An invalid list of contexts could hide anything: such a place has no stripped form.
    const TestPlaceBytes odd =
        test_place_whole(&heap, "{\"format\": 1, \"name\": \"p\", \"contexts\": [1]}", scene);
    ByteWriter counter = byte_counter();
    CHECK_INT(place_strip(&heap, odd.data, odd.bytes, &counter), STATUS_MALFORMED);
    test_place_free(&heap, odd);
}

static void check_same_scene(TestPlaceBytes whole)
{
    const TestPlaceBytes stripped = test_place_strip(&heap, whole);
    Place *a = NULL;
    Place *b = NULL;
    REQUIRE(place_load(&heap, whole.data, whole.bytes, &a) == STATUS_OK);
    REQUIRE(place_load(&heap, stripped.data, stripped.bytes, &b) == STATUS_OK);
    CHECK(scene_hash(a->scene) == scene_hash(b->scene));
    CHECK_BYTES(&a->character, &b->character, sizeof a->character);
    for (uint32_t i = 0; i < scene_part_count(a->scene) && test_is_passing(); i++) {
        CHECK_BYTES(&scene_part(a->scene, i)->desc, &scene_part(b->scene, i)->desc,
                    sizeof(PartDesc));
        CHECK_INT(a->scene_names[i].bytes, b->scene_names[i].bytes);
    }
    place_unload(&heap, a);
    place_unload(&heap, b);
    test_place_free(&heap, whole);
    test_place_free(&heap, stripped);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(both_forms_give_the_same_scene)
{
    heap = heap_make(64 << 20);
    check_same_scene(small_whole());
    check_same_scene(test_place_whole(&heap, TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE));
    check_same_scene(test_place_whole(&heap, TEST_PLACE_COURSE, TEST_PLACE_COURSE_SCENE));
}

// gcc, clang and WASM, today and tomorrow: clients compare these hashes with the server's.
TEST(bytes_and_scene_are_the_same_everywhere)
{
    heap = heap_make(64 << 20);
    const TestPlaceBytes whole = small_whole();
    const TestPlaceBytes stripped = test_place_strip(&heap, whole);
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, whole.data, whole.bytes);
    hash_bytes(&hash, stripped.data, stripped.bytes);
    CHECK(hash.state == 0x5a5ee2fbade48297ull);
    Place *place = NULL;
    REQUIRE(place_load(&heap, whole.data, whole.bytes, &place) == STATUS_OK);
    CHECK(scene_hash(place->scene) == 0x1cae069e5cd6ff63ull);
    if (!test_is_passing()) {
        test_fail(__FILE__, __LINE__, "bytes 0x%016llxull, scene 0x%016llxull",
                  (unsigned long long)hash.state, (unsigned long long)scene_hash(place->scene));
    }
    place_unload(&heap, place);
    test_place_free(&heap, whole);
    test_place_free(&heap, stripped);
}

// --- scene → sim → scene ------------------------------------------------------------------------

static PlaceEntityDoc doc_of(uint32_t id, const PartDesc *part)
{
    PlaceEntityDoc entity = {0};
    place_table_default(&place_table_entity, &entity);
    const Quat q = part->pose.rotation;
    entity.id = id;
    entity.transform.position = part->pose.position;
    if (q.x != 0 || q.y != 0 || q.z != 0 || q.w != 1) {
        entity.transform.rotation =
            (PlaceRotation){PLACE_ROTATION_QUATERNION, {q.x, q.y, q.z, q.w}};
    }
    entity.body.shape.kind = part->shape.kind;
    entity.body.shape.size = vec3_scale(part->shape.half, 2);
    entity.body.ghost = (part->data.flags & PART_GHOST) != 0;
    entity.body.trigger = (part->data.flags & PART_TRIGGER) != 0;
    entity.body.ladder = (part->data.flags & PART_LADDER) != 0;
    entity.body.bounce = part->data.bounce_speed;
    entity.body.damage = part->data.damage;
    entity.body.conveyor = part->data.conveyor_speed;
    return entity;
}

typedef struct Found {
    uint8_t *text;
    size_t bytes;
} Found;

static void find_scene(void *user, const PlaceFile *file)
{
    Found *found = user;
    if (strcmp(file->path, "scene.json") == 0) {
        found->text = heap_alloc(&heap, file->bytes);
        REQUIRE(found->text != NULL);
        memcpy(found->text, file->data, file->bytes);
        found->bytes = file->bytes;
    }
}

#define PARTS 60

// A scene of random parts, written as JSON, compiled, loaded and put into a sim; what the sim
// holds, written as JSON again, is the text that the compiler normalised, byte for byte.
TEST(scene_to_sim_to_scene_is_identity)
{
    heap = heap_make(64 << 20);
    Rng rng = rng_make(test_seed(), 7);
    static PlaceEntityDoc entities[PARTS + 1];
    for (uint32_t i = 0; i < PARTS; i++) {
        PartDesc part = {.shape = {(ShapeKind)rng_below(&rng, SHAPE_KIND_COUNT), {0}}};
        part.shape.half.x = rng_range(&rng, 0.1f, 9);
        part.shape.half.y = rng_range(&rng, 0.1f, 9);
        part.shape.half.z = rng_range(&rng, 0.1f, 9);
        part.shape = shape_tidy(part.shape);
        part.pose.position.x = rng_range(&rng, -900, 900);
        part.pose.position.y = rng_range(&rng, -900, 900);
        part.pose.position.z = rng_range(&rng, -900, 900);
        Quat q = QUAT_IDENTITY;
        if (rng_below(&rng, 3) != 0) {
            q.x = rng_range(&rng, -1, 1);
            q.y = rng_range(&rng, -1, 1);
            q.z = rng_range(&rng, -1, 1);
        }
        part.pose.rotation = quat_normalise(q);
        part.data.flags = rng_below(&rng, PART_FLAGS_ALL + 1);
        part.data.bounce_speed = (part.data.flags & PART_BOUNCE) != 0 ? 3.7f : 0;
        part.data.damage = (part.data.flags & PART_DAMAGE) != 0 ? 0.1f : 0;
        part.data.conveyor_speed.z = (part.data.flags & PART_CONVEYOR) != 0 ? -1.1f : 0;
        entities[i] = doc_of(i + 1, &part);
    }
    place_table_default(&place_table_entity, &entities[PARTS]);
    entities[PARTS].id = 1000;
    entities[PARTS].type = PLACE_TYPE_SPAWN;
    PlaceSceneDoc scene = {.format = PLACE_FORMAT, .entities = {entities, PARTS + 1}};
    PlaceScratch scratch = {.heap = &heap};
    static char text[PARTS * 2000];
    static char again[sizeof text];
    ByteWriter out = byte_writer(text, sizeof text - 1);
    JsonWriter writer = json_writer(&out, 2);
    place_table_to_json(&place_table_scene, &scene, &scratch, &writer);
    REQUIRE(json_writer_finish(&writer) == STATUS_OK);

    const TestPlaceBytes bytes = test_place_whole(&heap, "{\"format\": 1, \"name\": \"P\"}", text);
    Found found = {0};
    REQUIRE(place_decompile(&heap, bytes.data, bytes.bytes, find_scene, &found) == STATUS_OK);
    Place *place = NULL;
    REQUIRE(place_load(&heap, bytes.data, bytes.bytes, &place) == STATUS_OK);
    Sim *sim = NULL;
    SimConfig config = sim_config_default();
    config.entity_max = 128;
    config.character_max = 16;
    config.npc_max = 4;
    config.structures_max = 16;
    REQUIRE(sim_create(&heap, &config, place->scene, &sim) == STATUS_OK);
    REQUIRE(scene_part_count(sim_scene(sim)) == PARTS);
    for (uint32_t i = 0; i < PARTS; i++) {
        entities[i] = doc_of(i + 1, &scene_part(sim_scene(sim), i)->desc);
    }
    ByteWriter out_again = byte_writer(again, sizeof again - 1);
    JsonWriter writer_again = json_writer(&out_again, 2);
    place_table_to_json(&place_table_scene, &scene, &scratch, &writer_again);
    byte_write_u8(&out_again, '\n');
    REQUIRE(json_writer_finish(&writer_again) == STATUS_OK);
    CHECK_INT(out_again.at, found.bytes);
    if (out_again.at == found.bytes) {
        CHECK_BYTES(again, found.text, found.bytes);
    }
    sim_destroy(&heap, sim);
    place_unload(&heap, place);
    heap_free(&heap, found.text);
    test_place_free(&heap, bytes);
    place_scratch_free(&scratch);
    CHECK_INT(heap.bytes_now, 0);
}

// --- the course ---------------------------------------------------------------------------------

typedef struct Course {
    Place *place;
    Sim *sim;
    Handle parts[32];
} Course;

// As a world starts it: each entity, with the segments of its motion.
static void course_start(Course *course)
{
    heap = heap_make(256 << 20);
    *course = (Course){.place = test_place_load(&heap, TEST_PLACE_COURSE, TEST_PLACE_COURSE_SCENE)};
    const Place *place = course->place;
    SimConfig config = sim_config_default();
    config.entity_max = 256;
    config.character_max = 16;
    config.npc_max = 8;
    config.structures_max = 16;
    config.terrain = (TerrainConfig){.chunk_max = 64, .page_max = 256};
    config.character = place->character;
    REQUIRE(sim_create(&heap, &config, place->scene, &course->sim) == STATUS_OK);
    for (uint32_t i = 0; i < place->entity_count; i++) {
        const PlaceEntity *entity = &place->entities[i];
        const ShapeDesc shape = {.net_id = entity->net_id, .part = entity->part};
        CHECK_INT(entity->net_id, scene_part_count(place->scene) + 1 + i);
        if (entity->kind == PREFAB_NPC) {
            CHECK_OK(npc_spawn(course->sim, &entity->npc, &course->parts[i]));
        } else if (entity->kind == PREFAB_PROP) {
            CHECK_OK(sim_spawn_prop(course->sim, &shape, &course->parts[i]));
        } else {
            CHECK_OK(sim_spawn_part(course->sim, &shape, &course->parts[i]));
        }
        for (uint32_t s = 0; s < entity->segment_count; s++) {
            CHECK_OK(sim_move_part(course->sim, course->parts[i], &entity->segments[s]));
        }
    }
}

static void course_end(Course *course)
{
    sim_destroy(&heap, course->sim);
    place_unload(&heap, course->place);
    CHECK_INT(heap.bytes_now, 0);
}

// Segments of a loop follow each other, and the first one after a loop begins exactly where it did.
TEST(platforms_loop_exactly)
{
    Course course;
    course_start(&course);
    uint32_t looping = 0;
    for (uint32_t i = 0; i < course.place->entity_count; i++) {
        const PlaceEntity *entity = &course.place->entities[i];
        if (entity->loop_ticks == 0) {
            continue;
        }
        looping += 1;
        const MotionSegment *last = &entity->segments[entity->segment_count - 1];
        CHECK(last->tick_to <= entity->loop_ticks);
        const float step = 1.0f / (float)course.place->tick_rate;
        const Pose end = motion_segment_pose(last, last->tick_to, step);
        const Vec3 gap = vec3_sub(end.position, entity->part.pose.position);
        CHECK(vec3_length(gap) < 1e-3f);
        CHECK_BYTES(&entity->segments[0].pose, &entity->part.pose, sizeof(Pose));
        Motion motion = {0};
        for (uint32_t round = 0; round < 3; round++) {
            for (uint32_t s = 0; s < entity->segment_count; s++) {
                MotionSegment segment = entity->segments[s];
                segment.tick_from += (uint64_t)round * entity->loop_ticks;
                segment.tick_to += (uint64_t)round * entity->loop_ticks;
                Pose rest;
                motion_forget(&motion, &rest, segment.tick_from + 1, step);
                CHECK_OK(motion_append(&motion, &segment, 5, segment.tick_from));
            }
        }
    }
    CHECK_INT(looping, 4);
    course_end(&course);
}

static Vec3 walk(Course *course, Vec3 from, float yaw, uint32_t ticks)
{
    Handle player;
    const CharacterDesc desc = {.position = from, .yaw = yaw};
    CHECK_OK(sim_spawn_player(course->sim, &desc, &player));
    const SimInput input = {.move_z = 1, .yaw = yaw};
    float highest = -100;
    Vec3 at = from;
    for (uint32_t i = 0; i < ticks; i++) {
        sim_set_input(course->sim, player, &input);
        sim_step(course->sim);
        at = sim_entity(course->sim, player)->position;
        highest = math_max(highest, at.y);
    }
    sim_remove(course->sim, player);
    return vec3(at.x, highest, at.z);
}

TEST(the_course_can_be_walked)
{
    Course course;
    course_start(&course);
    // Up the stairs, over the deck, down the ramp.
    const Vec3 north = walk(&course, vec3(0, 0, 4), 0, 360);
    CHECK_NEAR(north.y, 2, 0.05);
    CHECK(north.z > 25);
    // Along the belt that pulls, faster than walking alone.
    const Vec3 west = walk(&course, vec3(-7, 0, 2), -MATH_PI / 2, 90);
    CHECK(west.x < -7 - 1.5f * 5 - 1.5f);
    // Up the ladder.
    const Vec3 ladder = walk(&course, vec3(-7, 0, 12), -MATH_PI / 2, 300);
    CHECK(ladder.y > 5.5f);
    // The pad throws.
    const Vec3 pad = walk(&course, vec3(-8, 0, -7), MATH_PI, 60);
    CHECK(pad.y > 2.5f);
    // Onto the ferry, which carries on when nobody walks: it is there at the start.
    const Vec3 south = walk(&course, vec3(0, 0, -6), MATH_PI, 120);
    CHECK(south.z < -14);
    course_end(&course);
}

// --- any bytes ----------------------------------------------------------------------------------

static void check_any(const uint8_t *bytes, size_t count)
{
    Place *place = NULL;
    if (place_load(&heap, bytes, count, &place) == STATUS_OK) {
        CHECK(place->spawn_count >= 1 && place->scene != NULL);
        place_unload(&heap, place);
    } else {
        CHECK(place == NULL);
    }
    CHECK_INT(heap.bytes_now, 0);
}

TEST(every_beginning_is_refused)
{
    heap = heap_make(64 << 20);
    const TestPlaceBytes bytes = small_whole();
    uint8_t copy[4096];
    REQUIRE(bytes.bytes < sizeof copy);
    memcpy(copy, bytes.data, bytes.bytes);
    const size_t count = bytes.bytes;
    test_place_free(&heap, bytes);
    for (size_t i = 0; i < count && test_is_passing(); i++) {
        Place *place = NULL;
        CHECK(place_load(&heap, copy, i, &place) != STATUS_OK);
    }
    copy[count] = 0;
    Place *place = NULL;
    CHECK(place_load(&heap, copy, count + 1, &place) == STATUS_MALFORMED);
    copy[4] = 1; // the layout of before
    CHECK(place_load(&heap, copy, count, &place) == STATUS_UNSUPPORTED);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(changed_bytes_give_a_place_or_a_status)
{
    heap = heap_make(64 << 20);
    Rng rng = rng_make(test_seed(), 3);
    const TestPlaceBytes whole = small_whole();
    const TestPlaceBytes stripped = test_place_strip(&heap, whole);
    static uint8_t forms[2][4096];
    const size_t counts[2] = {whole.bytes, stripped.bytes};
    memcpy(forms[0], whole.data, whole.bytes);
    memcpy(forms[1], stripped.data, stripped.bytes);
    test_place_free(&heap, whole);
    test_place_free(&heap, stripped);
    for (uint32_t round = 0; round < 3000 && test_is_passing(); round++) {
        static uint8_t copy[4096];
        const uint32_t form = round % 2;
        memcpy(copy, forms[form], counts[form]);
        const uint32_t edits = 1 + rng_below(&rng, 3);
        for (uint32_t i = 0; i < edits; i++) {
            const uint32_t at = rng_below(&rng, (uint32_t)counts[form]);
            copy[at] = (uint8_t)rng_u32(&rng);
        }
        check_any(copy, counts[form]);
    }
}

static uint32_t outside_count;

// The doc, written with one number outside its range, does not load.
static void check_outside(const PlaceDoc *doc, const PlaceTable *table, const PlaceField *field)
{
    static uint8_t copy[8192];
    ByteWriter writer = byte_writer(copy, sizeof copy);
    place_doc_write(doc, &writer);
    REQUIRE(writer.status == STATUS_OK);
    Place *place = NULL;
    outside_count += 1;
    if (place_load(&heap, copy, writer.at, &place) == STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s.%s may be outside its range", table->name, field->name);
        place_unload(&heap, place);
    }
}

// Every number of an object and of the objects in it, below and above its range.
static void check_ranges(const PlaceDoc *doc, const PlaceTable *table, uint8_t *item)
{
    for (uint32_t i = 0; i < table->field_count; i++) {
        const PlaceField *field = &table->fields[i];
        uint8_t *at = item + field->offset;
        const float below = (float)field->low - 0.01f * math_abs((float)field->low) - 0.001f;
        const float above = (float)field->high + 0.01f * math_abs((float)field->high) + 0.001f;
        switch (field->type) {
        case PLACE_OBJECT:
            check_ranges(doc, field->table, at);
            break;
        case PLACE_F32:
        case PLACE_VEC3: {
            const float kept = *(float *)at;
            *(float *)at = below;
            check_outside(doc, table, field);
            *(float *)at = above;
            check_outside(doc, table, field);
            *(float *)at = kept;
            break;
        }
        case PLACE_U32:
        case PLACE_CELLS: {
            const uint32_t kept = *(uint32_t *)at;
            *(uint32_t *)at = (uint32_t)field->high + 1;
            if (field->high < UINT32_MAX) {
                check_outside(doc, table, field);
            }
            *(uint32_t *)at = kept;
            break;
        }
        default:
            break;
        }
    }
}

TEST(bytes_are_held_to_the_same_ranges_as_json)
{
    heap = heap_make(64 << 20);
    const TestPlaceBytes bytes = small_whole();
    PlaceScratch scratch = {.heap = &heap};
    PlaceDoc doc;
    REQUIRE(place_doc_read(bytes.data, bytes.bytes, &scratch, &doc) == STATUS_OK);
    outside_count = 0;
    check_ranges(&doc, &place_table_settings, (uint8_t *)&doc.settings);
    check_ranges(&doc, &place_table_scene, (uint8_t *)&doc.scene);
    check_ranges(&doc, &place_table_entity, (uint8_t *)place_entity(&doc, 2));
    check_ranges(&doc, &place_table_prefab, (uint8_t *)&doc.prefabs[0]);
    CHECK(outside_count > 100);
    place_entity(&doc, 2)->transform.rotation =
        (PlaceRotation){PLACE_ROTATION_QUATERNION, {0.5f, 0, 0, 0}};
    check_outside(&doc, &place_table_entity, &place_table_entity.fields[4]);
    place_scratch_free(&scratch);
    test_place_free(&heap, bytes);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(loading_survives_every_refusal_of_memory)
{
    heap = heap_make(64 << 20);
    const TestPlaceBytes bytes =
        test_place_whole(&heap, TEST_PLACE_COURSE, TEST_PLACE_COURSE_SCENE);
    uint32_t refusals = 0;
    Status status = STATUS_LIMIT;
    for (uint64_t room = 0; status != STATUS_OK && room < 64 << 20; room = room * 9 / 8 + 1024) {
        Heap small = heap_make(room);
        Place *place = NULL;
        status = place_load(&small, bytes.data, bytes.bytes, &place);
        CHECK(status == STATUS_OK || status == STATUS_LIMIT);
        refusals += status != STATUS_OK;
        place_unload(&small, place);
        CHECK_INT(small.bytes_now, 0);
    }
    CHECK(refusals > 5);
    test_place_free(&heap, bytes);
}

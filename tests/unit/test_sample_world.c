// The built-in world: everything that its header names is there and works, on either side, and two
// of them play alike.
#include "core/script/sample_world.h"
#include "tests/support/test.h"

#include <string.h>

static Text text(const char *data)
{
    return (Text){data, strlen(data)};
}

// Without scripts: the sides are tested through their faces.
static SampleWorld *open_world(Heap *heap)
{
    SampleWorldConfig config = sample_world_config_default();
    config.server = false;
    config.client = false;
    SampleWorld *world = NULL;
    CHECK_OK(sample_world_create(heap, &config, &world));
    return world;
}

TEST(what_the_header_names_is_there)
{
    Heap heap = heap_make(1u << 30);
    SampleWorld *world = open_world(&heap);
    heap_freeze(&heap);
    ScriptWorld *server = authority_world(sample_world_authority(world));
    ScriptWorld *client = view_world(sample_world_view(world));
    const char *names[] = {"Door", "Platform", "Zone", "Button", "Wall", "player1"};
    for (uint32_t i = 0; i < 6; i++) {
        const uint64_t net_id = server->face->find(server, text(names[i]));
        CHECK(net_id != 0);
        CHECK_INT(client->face->find(client, text(names[i])), net_id);
    }
    CHECK_INT(server->face->find(server, text("player1")), sample_world_character(world));
    const char *prefabs[] = {"Crate", "Lift", "Coin", "Spark", "Bullet", "Arrow", "Guard"};
    for (uint32_t i = 0; i < 7; i++) {
        uint64_t net_id = 0;
        CHECK_OK(server->face->spawn(server, text(prefabs[i]), vec3(20, 3, 20), false, &net_id));
        Text name;
        CHECK(server->face->prefab(server, i, &name));
        CHECK_BYTES(name.data, prefabs[i], name.bytes);
    }
    uint64_t piece = 0;
    CHECK_OK(server->face->structure_place(server, 1, (VoxelCoord){-20, 0, -10}, 0, 0, &piece));
    sample_world_step(world, 30);
    uint64_t ids[4];
    CHECK_INT(client->face->tagged(client, text("coin"), ids, 4), 1);
    CHECK(sample_world_scripts(world, SCRIPT_SERVER) == NULL);
    CHECK_INT(sim_tick(sample_world_sim(world)), 30);
    heap_thaw(&heap);
    sample_world_destroy(&heap, world);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(the_player_walks_and_looks)
{
    Heap heap = heap_make(1u << 30);
    SampleWorld *world = open_world(&heap);
    ScriptWorld *client = view_world(sample_world_view(world));
    const SimInput input = {.move_z = 1, .yaw = MATH_PI / 2};
    sample_world_input(world, &input);
    sample_world_step(world, 60);
    ScriptEntityInfo body;
    REQUIRE(client->face->entity(client, sample_world_character(world), &body));
    CHECK(body.position.x > 3 && body.position.x < 6);
    Vec3 position;
    Vec3 forward;
    REQUIRE(client->face->camera(client, &position, &forward));
    CHECK_NEAR(forward.x, 1, 1e-5);
    CHECK_NEAR(position.y, 1.62, 0.02);
    CHECK_OK(sample_world_key(world, text("Fire"), true));
    CHECK(client->face->key_is_down(client, text("fire")));
    CHECK_OK(sample_world_key(world, text("Fire"), false));
    CHECK(!client->face->key_is_down(client, text("fire")));
    CHECK_INT(sample_world_key(world, text(""), true), STATUS_RANGE);
    sample_world_destroy(&heap, world);
}

TEST(two_play_alike)
{
    uint64_t hashes[2];
    for (uint32_t i = 0; i < 2; i++) {
        Heap heap = heap_make(1u << 30);
        SampleWorld *world = open_world(&heap);
        const SimInput input = {.move_z = 1, .yaw = 0.3f, .buttons = INPUT_JUMP};
        sample_world_input(world, &input);
        ScriptWorld *server = authority_world(sample_world_authority(world));
        uint64_t guard = 0;
        CHECK_OK(server->face->spawn(server, text("Guard"), vec3(10, 0, 10), false, &guard));
        CHECK_OK(server->face->npc_target(server, guard, sample_world_character(world)));
        sample_world_step(world, 120);
        hashes[i] = sim_hash(sample_world_sim(world));
        sample_world_destroy(&heap, world);
    }
    CHECK(hashes[0] == hashes[1]);
}

TEST(creation_fails_clean_wherever_memory_ends)
{
    Heap measure = heap_make(1u << 30);
    sample_world_destroy(&measure, open_world(&measure));
    SampleWorldConfig config = sample_world_config_default();
    config.server = false;
    config.client = false;
    for (uint64_t room = 0; room < measure.bytes_peak; room += measure.bytes_peak / 16) {
        Heap heap = heap_make(room);
        SampleWorld *world = NULL;
        CHECK_INT(sample_world_create(&heap, &config, &world), STATUS_LIMIT);
        CHECK(world == NULL);
        CHECK_INT(heap.bytes_now, 0);
    }
}

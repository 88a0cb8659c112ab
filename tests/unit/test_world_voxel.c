// Terrain that players and scripts change: who may change it, who is informed, and what is sent.
#include "tests/unit/act_world.h"

#include <string.h>

static ActStore store;
static ActWorld act;

static void open(bool scripts)
{
    memset(&store, 0, sizeof store);
    act_world_open(&act, &store, TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, scripts);
}

static void close(void)
{
    act_world_close(&act);
    act_store_free(&store);
}

static MessageTerraform voxel(int32_t x, int32_t y, int32_t z, uint32_t kind)
{
    return (MessageTerraform){.shape = 0, .min = {x, y, z}, .voxel_kind = kind};
}

static const Terrain *terrain(void)
{
    return sim_terrain_view(act.world->sim);
}

TEST(an_edit_is_applied_told_and_stored)
{
    open(false);
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    act_world_place(&act, a, vec3(0, 0, 0));
    act_world_tick(&act, 2);
    const MessageTerraform dig = voxel(3, -1, 3, 0);
    CHECK(act_world_ask(&act, a, MESSAGE_TERRAFORM, &dig));
    const uint32_t asked = a->seq;
    CHECK_INT(terrain_voxel(terrain(), (VoxelCoord){3, -1, 3}), 0);
    act_world_tick(&act, 6);
    const MessageTerraformApplied *applied = act_client_last(b, MESSAGE_TERRAFORM_APPLIED);
    REQUIRE(applied != NULL);
    CHECK_INT(applied->chunks_count, 1);
    CHECK_INT(applied->chunks[0].version, 1);
    CHECK_INT(applied->chunks[0].at.y, -1);
    CHECK_INT(applied->player, act_world_session(&act, a)->player);
    CHECK_INT(a->counts[MESSAGE_TERRAFORM_APPLIED], 1);
    CHECK_INT(a->counts[MESSAGE_CHUNK_VERSIONS], 0); // it was announced already
    const MessageDurable *durable = act_client_last(a, MESSAGE_DURABLE);
    REQUIRE(durable != NULL);
    CHECK_INT(durable->command_seq, asked);

    const WireChunkVersion want = {.at = {0, -1, 0}};
    const MessageChunkRequest request = {.chunks = &want, .chunks_count = 1};
    CHECK(act_world_ask(&act, b, MESSAGE_CHUNK_REQUEST, &request));
    act_world_tick(&act, 2);
    const MessageChunkData *data = act_client_last(b, MESSAGE_CHUNK_DATA);
    REQUIRE(data != NULL);
    CHECK_INT(data->version, 1);
    Heap heap = heap_make(64u << 20);
    Terrain *copy = NULL;
    const TerrainConfig config = {.chunk_max = 4, .page_max = 32};
    CHECK_OK(terrain_create(&heap, &config, act.place->chunks, &copy));
    ByteReader reader = byte_reader(data->data.data, data->data.bytes);
    CHECK_OK(terrain_read_chunk(copy, (ChunkCoord){0, -1, 0}, &reader));
    CHECK_INT(terrain_voxel(copy, (VoxelCoord){3, -1, 3}), 0);
    CHECK_INT(terrain_voxel(copy, (VoxelCoord){4, -1, 3}), 1);
    terrain_destroy(&heap, copy);
    close();
}

TEST(what_is_not_allowed_changes_nothing)
{
    open(false);
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    act_world_place(&act, a, vec3(0, 0, 0));
    act_world_place(&act, b, vec3(4.5f, 0, 0.5f));
    act_world_tick(&act, 2);
    const MessageTerraform far = voxel(25, -1, 3, 0);
    CHECK(!act_world_ask(&act, a, MESSAGE_TERRAFORM, &far));
    CHECK_TEXT(act_client_code(a), "denied");
    const MessageTerraform huge = {
        .shape = 1, .min = {-30, -1, -30}, .max = {34, -1, 30}, .voxel_kind = 0};
    CHECK(!act_world_ask(&act, a, MESSAGE_TERRAFORM, &huge));
    CHECK_TEXT(act_client_code(a), "range");
    const MessageTerraform wide = {
        .shape = 1, .min = {-30, -1, -30}, .max = {30, -1, 30}, .voxel_kind = 0};
    CHECK(!act_world_ask(&act, a, MESSAGE_TERRAFORM, &wide)); // allowed by size, not by reach
    CHECK_TEXT(act_client_code(a), "denied");
    const MessageTerraform upside = {.shape = 1, .min = {1, 1, 1}, .max = {0, 0, 0}};
    CHECK(!act_world_ask(&act, a, MESSAGE_TERRAFORM, &upside));
    CHECK_TEXT(act_client_code(a), "range");
    const MessageTerraform nothing = {.shape = 2, .centre = {1, 0, 1}, .radius = 0};
    CHECK(!act_world_ask(&act, a, MESSAGE_TERRAFORM, &nothing));
    CHECK_TEXT(act_client_code(a), "range");
    const MessageTerraform bury = voxel(4, 1, 0, 2); // where bob's head is
    CHECK(!act_world_ask(&act, a, MESSAGE_TERRAFORM, &bury));
    CHECK_TEXT(act_client_code(a), "blocked");
    const MessageTerraform ball = {
        .shape = 2, .centre = {3.5f, 0.5f, 0.5f}, .radius = 2, .voxel_kind = 1};
    CHECK(!act_world_ask(&act, a, MESSAGE_TERRAFORM, &ball));
    CHECK_TEXT(act_client_code(a), "blocked");
    CHECK_INT(terrain_edit_count(terrain()), 0);
    // Water is no grave, and over his head there is room.
    const MessageTerraform water = voxel(4, 1, 0, 3);
    CHECK(act_world_ask(&act, a, MESSAGE_TERRAFORM, &water));
    const MessageTerraform roof = voxel(4, 3, 0, 2);
    CHECK(act_world_ask(&act, a, MESSAGE_TERRAFORM, &roof));
    close();
}

TEST(kinds_that_the_place_does_not_have_are_refused)
{
    static const uint32_t kinds[] = {5, 900, 1023};
    open(false);
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(0, 0, 0));
    act_world_tick(&act, 2);
    const uint32_t count = act.place->voxel_kind_count;
    CHECK_INT(terrain_kind_count(terrain()), count + 1);
    REQUIRE(count < 5);
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const MessageTerraform one = voxel(3, 0, 3, kinds[i]);
        const MessageTerraform preview = {
            .min = {3, 0, 3}, .voxel_kind = kinds[i], .preview = true};
        const MessageTerraform box = {
            .shape = 1, .min = {3, 0, 3}, .max = {4, 1, 4}, .voxel_kind = kinds[i]};
        const MessageTerraform ball = {
            .shape = 2, .centre = {3, 3, 3}, .radius = 1, .voxel_kind = kinds[i]};
        const MessageTerraform *const edits[] = {&one, &preview, &box, &ball};
        for (uint32_t e = 0; e < 4; e++) {
            act_world_tick(&act, 12); // so often one may ask
            CHECK(!act_world_ask(&act, a, MESSAGE_TERRAFORM, edits[e]));
            CHECK_TEXT(act_client_code(a), "not_found");
        }
    }
    CHECK_INT(terrain_edit_count(terrain()), 0);
    const MessageTerraform last = voxel(3, 4, 3, count);
    act_world_tick(&act, 12);
    CHECK(act_world_ask(&act, a, MESSAGE_TERRAFORM, &last));
    close();
}

// A row from when the place had more kinds: refused, counted, and the world starts without it.
TEST(a_stored_chunk_with_an_unknown_kind_is_refused)
{
    open(false);
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(0, 0, 0));
    act_world_tick(&act, 2);
    const MessageTerraform edit = voxel(3, 4, 3, act.place->voxel_kind_count);
    CHECK(act_world_ask(&act, a, MESSAGE_TERRAFORM, &edit));
    act_world_tick(&act, 60);
    act_world_close(&act);

    static const char fewer[] = "{\"format\": 1, \"name\": \"Flat\",\n"
                                " \"voxelKinds\": [{\"name\": \"grass\"}]}\n";
    act_world_open(&act, &store, fewer, TEST_PLACE_FLAT_SCENE, false);
    act_world_rows(&act);
    CHECK_INT(store.refused, 1);
    act_world_tick(&act, 2);
    CHECK_INT(terrain_changed_chunk_count(terrain()), 0);
    close();
}

// A viewer begins up to four ticks after the welcome; its own chunk is in view before.
TEST(the_own_chunk_can_be_asked_for_at_once)
{
    for (uint32_t wait = 0; wait < 6; wait++) {
        open(false);
        act_world_tick(&act, wait);
        ActClient *a = &act.clients[0];
        a->connection = 77;
        merge_reset(&a->merge, 60);
        CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_CONNECT, .connection = 77}));
        const MessageHandshake hello = {
            .version = 2, .schema = PROTOCOL_SCHEMA, .ticket = act_text("7 ann")};
        act_world_send(&act, a, MESSAGE_HANDSHAKE, &hello);
        while (a->counts[MESSAGE_WELCOME] == 0) {
            act_world_tick(&act, 1);
        }
        const Session *session = act_world_session(&act, a);
        const Entity *body = session_body(act.world->sim, session);
        REQUIRE(body != NULL);
        const ChunkCoord at = voxel_chunk(voxel_at(body->position));
        const WireChunkVersion want = {.at = {at.x, at.y, at.z}};
        const MessageChunkRequest request = {.chunks = &want, .chunks_count = 1};
        CHECK(act_world_ask(&act, a, MESSAGE_CHUNK_REQUEST, &request));
        act_world_tick(&act, 10);
        CHECK_INT(a->counts[MESSAGE_CHUNK_DATA], 1);
        close();
    }
}

TEST(edits_of_the_server_are_noticed)
{
    open(false);
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 4);
    CHECK_OK(terrain_set(sim_terrain(act.world->sim), (VoxelCoord){40, 3, 3}, 2, NULL));
    act_world_tick(&act, 6);
    const MessageChunkVersions *versions = act_client_last(a, MESSAGE_CHUNK_VERSIONS);
    REQUIRE(versions != NULL);
    CHECK_INT(versions->chunks_count, 1);
    CHECK_INT(versions->chunks[0].at.x, 1);
    CHECK_INT(versions->chunks[0].version, 1);
    // Far away: nobody is informed until somebody comes near.
    CHECK_OK(terrain_set(sim_terrain(act.world->sim), (VoxelCoord){400, 3, 3}, 2, NULL));
    act_world_tick(&act, 6);
    CHECK_INT(a->counts[MESSAGE_CHUNK_VERSIONS], 1);
    const WireChunkVersion want = {.at = {12, 0, 0}};
    const MessageChunkRequest request = {.chunks = &want, .chunks_count = 1};
    CHECK(!act_world_ask(&act, a, MESSAGE_CHUNK_REQUEST, &request));
    CHECK_TEXT(act_client_code(a), "denied");
    CHECK_OK(terrain_fill_box(sim_terrain(act.world->sim), (VoxelCoord){330, -2, 0},
                              (VoxelCoord){340, -2, 10}, 2, NULL));
    act_world_place(&act, a, vec3(335, 1, 5));
    act_world_tick(&act, 6);
    versions = act_client_last(a, MESSAGE_CHUNK_VERSIONS);
    CHECK_INT(a->counts[MESSAGE_CHUNK_VERSIONS], 2);
    CHECK_INT(versions->chunks_count, 2); // the two far ones, not the one it has
    close();
}

// One chunk further, what was in view before is no news.
TEST(who_moves_is_told_of_what_comes_into_view)
{
    open(false);
    for (int32_t x = -6; x <= 6; x++) {
        CHECK_OK(terrain_set(sim_terrain(act.world->sim), (VoxelCoord){x * 32, 9, 0}, 2, NULL));
    }
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(5, 0, 5));
    act_world_tick(&act, 12);
    const uint32_t before = a->counts[MESSAGE_CHUNK_VERSIONS];
    const MessageChunkVersions *versions = act_client_last(a, MESSAGE_CHUNK_VERSIONS);
    REQUIRE(versions != NULL);
    CHECK(versions->chunks_count >= 6); // 64 m to either side
    act_world_place(&act, a, vec3(-5, 0, 5));
    act_world_tick(&act, 12);
    versions = act_client_last(a, MESSAGE_CHUNK_VERSIONS);
    CHECK_INT(a->counts[MESSAGE_CHUNK_VERSIONS], before + 1);
    CHECK_INT(versions->chunks_count, 1);
    CHECK_INT(versions->chunks[0].at.x, -4);
    close();
}

TEST(more_versions_than_fit_one_event_come_one_after_another)
{
    open(false);
    for (int32_t i = 0; i < 100; i++) {
        const VoxelCoord at = {(i % 5 - 2) * 32, (i / 25 - 2) * 32, (i / 5 % 5 - 2) * 32};
        CHECK_OK(terrain_set(sim_terrain(act.world->sim), at, 2, NULL));
    }
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 12);
    CHECK_INT(a->counts[MESSAGE_CHUNK_VERSIONS], 2);
    const MessageChunkVersions *versions = act_client_last(a, MESSAGE_CHUNK_VERSIONS);
    REQUIRE(versions != NULL);
    CHECK_INT(versions->chunks_count, 36);
    close();
}

TEST(requests_are_limited)
{
    open(false);
    ActClient *a = act_world_join(&act, 7, "ann");
    WireChunkVersion want[32] = {{{0, 0, 0}, 0}};
    for (int32_t i = 0; i < 32; i++) {
        want[i].at = (WireCoord){i % 4 - 2, i / 16 - 1, i / 4 % 4 - 2};
    }
    const MessageChunkRequest request = {.chunks = want, .chunks_count = 32};
    for (uint32_t i = 0; i < 10; i++) {
        act_world_send(&act, a, MESSAGE_CHUNK_REQUEST, &request);
    }
    act_world_tick(&act, 2);
    CHECK_TEXT(act_client_code(a), "limit");
    act_world_tick(&act, 120);
    CHECK_INT(a->counts[MESSAGE_CHUNK_DATA], 32);
    close();
}

TEST(previews_of_terrain)
{
    open(false);
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    act_world_place(&act, a, vec3(0, 0, 0));
    MessageTerraform dig = voxel(3, -1, 3, 0);
    dig.preview = true;
    CHECK(act_world_ask(&act, a, MESSAGE_TERRAFORM, &dig));
    act_world_tick(&act, 6);
    CHECK_INT(terrain_edit_count(terrain()), 0);
    const MessageTerraformPreviewed *seen = act_client_last(b, MESSAGE_TERRAFORM_PREVIEWED);
    REQUIRE(seen != NULL);
    CHECK(seen->active);
    dig.preview = false;
    CHECK(act_world_ask(&act, a, MESSAGE_TERRAFORM, &dig)); // ends it
    act_world_tick(&act, 6);
    seen = act_client_last(b, MESSAGE_TERRAFORM_PREVIEWED);
    CHECK(!seen->active);
    close();
}

// Real clients in a real world, with a few ticks of delay between them: joining over the wire with
// scene and scripts, walking without corrections, calls in both directions, terrain that others
// dig, a reload, and a lost connection.
#include "tests/unit/duet.h"

#include <string.h>

TEST(walking_is_predicted_exactly)
{
    Duet *duet = duet_open(TEST_PLACE_COURSE, TEST_PLACE_COURSE_SCENE, 3, false);
    Client *client = duet_join(duet, "ann", false);
    duet_run(duet, 120);
    const uint64_t before = client_stats(client).predict.corrections;
    for (uint32_t i = 0; i < 12; i++) {
        client_set_input(
            client, &(ClientInput){.move_z = 1,
                                   .yaw = (float)i * 0.7f,
                                   .buttons = i % 3 == 0 ? INPUT_RUN | INPUT_JUMP : INPUT_RUN});
        duet_run(duet, 60);
    }
    const ClientStats stats = client_stats(client);
    CHECK_INT(client_state(client), CLIENT_PLAYING);
    CHECK_INT(stats.predict.corrections_without_cause, 0);
    CHECK_INT(stats.predict.corrections - before, 0);
    CHECK_NEAR(stats.clock.rtt_ms, 100, 40);
    CHECK(client_own(client).present);
    duet_close(duet);
}

TEST(two_see_each_other)
{
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 2, false);
    Client *ann = duet_join(duet, "ann", false);
    Client *bo = duet_join(duet, "bo", false);
    client_set_input(bo, &(ClientInput){.move_z = 1, .yaw = 1.0f});
    duet_run(duet, 60);
    client_set_input(bo, &(ClientInput){.yaw = 1.0f});
    duet_run(duet, 90);
    const PredictView own = client_own(bo);
    bool seen = false;
    for (uint32_t slot = client_next(ann, UINT32_MAX); slot != UINT32_MAX;
         slot = client_next(ann, slot)) {
        const ClientEntity entity = client_entity(ann, slot);
        if (entity.net_id == own.net_id) {
            seen = true;
            CHECK(vec3_length(vec3_sub(entity.pose.position, own.position)) < 0.05f);
        }
    }
    CHECK(seen);
    duet_close(duet);
}

TEST(terrain_that_others_dig)
{
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 2, false);
    Client *ann = duet_join(duet, "ann", false);
    duet_run(duet, 30);
    const Vec3 at = client_own(ann).position;
    const int32_t x = math_floor_i32(at.x) + 2;
    const int32_t z = math_floor_i32(at.z);
    const MessageTerraform dig = {.shape = 0, .min = {x, -1, z}, .max = {x, -1, z}};
    CHECK(client_send(ann, MESSAGE_TERRAFORM, &dig) != 0);
    duet_run(duet, 30);
    const VoxelCoord hole = {x, -1, z};
    CHECK_INT(terrain_voxel(sim_terrain_view(world_sim(duet->world)), hole), 0);
    CHECK_INT(terrain_voxel(sim_terrain_view(client_sim(ann)), hole), 0);
    CHECK_INT(client_stats(ann).edits_applied, 1);
    // A player who comes later gets the version and requests the chunk.
    Client *bo = duet_join(duet, "bo", false);
    duet_run(duet, 60);
    CHECK_INT(terrain_voxel(sim_terrain_view(client_sim(bo)), hole), 0);
    CHECK_INT(client_stats(bo).chunks_applied, 1);
    CHECK_INT(client_stats(bo).predict.corrections_without_cause, 0);
    duet_close(duet);
}

TEST(scripts_call_each_other_and_reload)
{
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 2, true);
    duet_script(duet, "ServerScriptService/Main",
                "said = {}\n"
                "Network.OnInvoke('double', function(player, n) return n * 2 end)\n"
                "Network.OnClientEvent('say', function(player, text) Chat.Send(text) end)");
    duet_script(duet, "StarterGui/Hud",
                "function onStart() local got = Network.Invoke('double', 21)\n"
                "  Network.FireServer('say', 'got ' .. got) end");
    Client *ann = duet_join(duet, "ann", true);
    duet_run(duet, 120);
    ScriptFault fault;
    while (script_faults(client_scripts(ann), &fault, 1) > 0) {
        test_fail(__FILE__, __LINE__, "%s: %s", fault.path, fault.message);
    }
    bool heard = false;
    for (const ClientEvent *event; (event = client_event(ann)) != NULL;) {
        if (event->message.number == MESSAGE_CHAT_SAID) {
            const MessageChatSaid *said = event->message.body;
            heard |= said->text.bytes == 6 && memcmp(said->text.data, "got 42", 6) == 0;
        }
    }
    CHECK(heard);
    duet_script(duet, "StarterGui/Hud",
                "function onReload() Network.FireServer('say', 'again') end");
    CHECK_OK(world_enter(duet->world, &(Entry){.type = ENTRY_RELOAD}));
    duet_run(duet, 120);
    heard = false;
    for (const ClientEvent *event; (event = client_event(ann)) != NULL;) {
        if (event->message.number == MESSAGE_CHAT_SAID) {
            const MessageChatSaid *said = event->message.body;
            heard |= said->text.bytes == 5 && memcmp(said->text.data, "again", 5) == 0;
        }
    }
    CHECK(heard);
    CHECK_INT(client_state(ann), CLIENT_PLAYING);
    duet_close(duet);
}

TEST(a_cut_is_mended)
{
    Duet *duet = duet_open(TEST_PLACE_COURSE, TEST_PLACE_COURSE_SCENE, 4, false);
    Client *ann = duet_join(duet, "ann", false);
    client_set_input(ann, &(ClientInput){.move_z = 1});
    duet_run(duet, 90);
    const uint64_t body = client_own(ann).net_id;
    for (uint32_t round = 0; round < 4; round++) {
        duet_cut(duet, 0);
        duet_run(duet, 20 * round);
        duet_connect(duet, 0);
        duet_run(duet, 90);
        CHECK_INT(client_state(ann), CLIENT_PLAYING);
        CHECK_INT(client_own(ann).net_id, body);
    }
    const ClientStats stats = client_stats(ann);
    CHECK_INT(stats.predict.corrections_without_cause, 0);
    CHECK_INT(world_stats(duet->world).resumes, 4);
    duet_close(duet);
}

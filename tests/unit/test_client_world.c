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

static float yaw_seen(Client *client, uint64_t net_id)
{
    for (uint32_t slot = client_next(client, UINT32_MAX); slot != UINT32_MAX;
         slot = client_next(client, slot)) {
        const ClientEntity entity = client_entity(client, slot);
        if (entity.net_id == net_id) {
            return entity.pose.yaw;
        }
    }
    return -9;
}

static float angle_between(float a, float b)
{
    return math_abs(math_wrap_angle(a - b));
}

static float yaw_in_world(const Duet *duet, uint64_t net_id)
{
    Sim *sim = world_sim(duet->world);
    return sim_entity(sim, sim_find(sim, net_id))->character.input.yaw;
}

// The player walks, a script turns it, and it walks on in the new direction: in the world from that
// tick on, on its own screen a moment later, and on the others'. Nothing is corrected. From there
// on the player looks around as before.
TEST(a_script_turns_a_player_who_walks)
{
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 4, true);
    duet_script(duet, "ServerScriptService/Turn",
                "Network.OnClientEvent('turn', function(player, degrees)\n"
                "  player.Character:SetRotation(Vector3.new(50, degrees, 20))\n"
                "  for i = 1, 30 do task.wait()\n"
                "    local y = player.Character.Rotation.Y\n"
                "    if math.abs(y - degrees) > 0.1 then error('looks at ' .. y) end end\n"
                "  Chat.Send('held') end)");
    duet_script(duet, "StarterGui/Hud",
                "function onStart() task.wait(2.5) Network.FireServer('turn', 90) end");
    Client *ann = duet_join(duet, "ann", true);
    Client *bo = duet_join(duet, "bo", false);
    duet_run(duet, 60);
    const uint64_t body = client_own(ann).net_id;
    client_set_input(ann, &(ClientInput){.move_z = 1, .yaw = -1.0f});
    duet_run(duet, 20);
    const uint64_t before = client_stats(ann).predict.corrections;
    double turned = 0;
    for (uint32_t i = 0; i < 150 && turned == 0; i++) {
        duet_run(duet, 1);
        turned = client_turn(ann);
    }
    CHECK_NEAR(turned, 1.0 + (double)MATH_PI / 2, 0.01);
    CHECK_NEAR(client_own(ann).yaw, MATH_PI / 2, 0.001);
    const Vec3 from = client_own(ann).position;
    duet_run(duet, 40);
    CHECK_NEAR(client_own(ann).yaw, MATH_PI / 2, 0.001);
    CHECK_NEAR(yaw_in_world(duet, body), MATH_PI / 2, 0.001);
    CHECK(angle_between(yaw_seen(bo, body), MATH_PI / 2) < 0.05f);
    const Vec3 way = vec3_sub(client_own(ann).position, from);
    CHECK(way.x > 1 && math_abs(way.z) < 0.5f);
    // The owner has seen it and looks on from there; one that has not is turned all the same.
    client_set_input(ann, &(ClientInput){.move_z = 1, .yaw = 1.5f, .turn_seen = turned});
    duet_run(duet, 30);
    CHECK_NEAR(client_own(ann).yaw, 1.5, 0.001);
    CHECK_NEAR(yaw_in_world(duet, body), 1.5, 0.001);
    client_set_input(ann, &(ClientInput){.yaw = -0.5f});
    duet_run(duet, 60);
    CHECK_NEAR(client_own(ann).yaw, (double)MATH_PI / 2 + 0.5, 0.01);
    CHECK_INT(client_stats(ann).predict.corrections - before, 0);
    CHECK_INT(client_stats(ann).predict.corrections_without_cause, 0);
    bool held = false;
    for (const ClientEvent *event; (event = client_event(bo)) != NULL;) {
        if (event->message.number == MESSAGE_CHAT_SAID) {
            const MessageChatSaid *said = event->message.body;
            held |= said->text.bytes == 4 && memcmp(said->text.data, "held", 4) == 0;
        }
    }
    CHECK(held);
    duet_close(duet);
}

// Turned in every tick: the client follows, and stays in step.
TEST(a_script_that_spins_a_player)
{
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 3, true);
    duet_script(duet, "ServerScriptService/Spin",
                "local y = 0\n"
                "function onUpdate() y = y + 3\n"
                "  for _, player in ipairs(Players.GetPlayers()) do\n"
                "    if y < 900 then player.Character.Rotation = Vector3.new(0, y, 0) end end end");
    Client *ann = duet_join(duet, "ann", false);
    client_set_input(ann, &(ClientInput){.move_z = 1});
    duet_run(duet, 400);
    CHECK_INT(client_state(ann), CLIENT_PLAYING);
    CHECK_INT(client_stats(ann).predict.corrections_without_cause, 0);
    const uint64_t settled = client_stats(ann).predict.corrections;
    const float yaw = client_own(ann).yaw;
    CHECK(angle_between(yaw, 897 * MATH_PI / 180) < 0.01f);
    duet_run(duet, 120);
    CHECK_INT(client_stats(ann).predict.corrections, settled);
    CHECK_NEAR(client_own(ann).yaw, yaw, 0.001);
    CHECK_NEAR(yaw_in_world(duet, client_own(ann).net_id), yaw, 0.001);
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

// Real clients in a real world, with a few ticks of delay between them: joining over the wire with
// scene and scripts, walking without corrections, calls in both directions, terrain that others
// dig, a reload, and a lost connection.
#include "core/client/client.h"
#include "core/world/world.h"
#include "tests/support/test.h"
#include "tests/support/test_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_MS     (1000.0 / 60.0)
#define CLIENTS_MAX 2
#define LETTERS_MAX 512

typedef struct Letter {
    uint64_t tick;
    bool up;
    uint32_t client;
    uint64_t connection;
    uint8_t *bytes;
    size_t count;
} Letter;

typedef struct Duet {
    Heap heap;
    TestPlaceBytes whole, stripped;
    Place *place;
    World *world;
    Client *clients[CLIENTS_MAX];
    uint64_t connections[CLIENTS_MAX]; // 0: none
    uint64_t next_connection;
    uint32_t client_count;
    uint32_t delay; // ticks, one way
    uint64_t tick;
    Letter letters[LETTERS_MAX];
    uint32_t letter_count;
} Duet;

static void script(Duet *duet, const char *path, const char *source)
{
    const bool secret = strncmp(path, "ServerScriptService", 19) == 0;
    CHECK_OK(
        world_enter(duet->world, &(Entry){.type = ENTRY_SCRIPT,
                                          .flags = ENTRY_SOURCE | (secret ? 0 : ENTRY_REPLICATE),
                                          .name = path,
                                          .name_bytes = (uint32_t)strlen(path),
                                          .bytes = (const uint8_t *)source,
                                          .byte_count = strlen(source)}));
}

static Duet *duet_open(const char *place, const char *scene, uint32_t delay, bool scripts)
{
    Duet *duet = calloc(1, sizeof *duet);
    duet->heap = heap_make(2ull << 30);
    duet->delay = delay;
    duet->whole = test_place_whole(&duet->heap, place, scene);
    duet->stripped = test_place_strip(&duet->heap, duet->whole);
    CHECK_OK(place_load(&duet->heap, duet->whole.data, duet->whole.bytes, &duet->place));
    WorldConfig config = world_config_default();
    config.place = duet->place;
    config.stripped = duet->stripped.data;
    config.stripped_bytes = duet->stripped.bytes;
    config.development = true;
    config.player_max = 4;
    config.epoch = 1;
    config.scripts = scripts;
    CHECK_OK(world_create(&duet->heap, &config, &duet->world));
    return duet;
}

static void drop_letters(Duet *duet, uint32_t client)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < duet->letter_count; i++) {
        if (duet->letters[i].client == client) {
            free(duet->letters[i].bytes);
        } else {
            duet->letters[kept++] = duet->letters[i];
        }
    }
    duet->letter_count = kept;
}

static void duet_close(Duet *duet)
{
    for (uint32_t i = 0; i < duet->client_count; i++) {
        drop_letters(duet, i);
        client_destroy(&duet->heap, duet->clients[i]);
    }
    world_destroy(&duet->heap, duet->world);
    place_unload(&duet->heap, duet->place);
    test_place_free(&duet->heap, duet->stripped);
    test_place_free(&duet->heap, duet->whole);
    CHECK_INT(duet->heap.bytes_now, 0);
    free(duet);
}

static void post(Duet *duet, uint32_t client, bool up, const uint8_t *bytes, size_t count)
{
    CHECK(duet->letter_count < LETTERS_MAX);
    uint8_t *copy = malloc(count);
    memcpy(copy, bytes, count);
    duet->letters[duet->letter_count++] = (Letter){.tick = duet->tick + duet->delay,
                                                   .up = up,
                                                   .client = client,
                                                   .connection = duet->connections[client],
                                                   .bytes = copy,
                                                   .count = count};
}

static double now_ms(const Duet *duet)
{
    return 1000 + (double)duet->tick * TICK_MS;
}

static void deliver(Duet *duet)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < duet->letter_count; i++) {
        const Letter letter = duet->letters[i];
        if (letter.tick > duet->tick) {
            duet->letters[kept++] = letter;
            continue;
        }
        if (letter.up) {
            CHECK_OK(world_enter(duet->world, &(Entry){.type = ENTRY_MESSAGE,
                                                       .connection = letter.connection,
                                                       .bytes = letter.bytes,
                                                       .byte_count = letter.count}));
        } else {
            client_receive(duet->clients[letter.client], now_ms(duet), letter.bytes, letter.count);
        }
        free(letter.bytes);
    }
    duet->letter_count = kept;
}

static void answer_saves(Duet *duet)
{
    uint64_t requests[64];
    uint32_t count = 0;
    uint32_t answered = 0;
    const Command *commands = world_commands(duet->world, &count);
    for (uint32_t i = 0; i < count && answered < 64; i++) {
        if (commands[i].type == COMMAND_SAVE) {
            requests[answered++] = commands[i].request;
        }
    }
    world_commands_clear(duet->world);
    for (uint32_t i = 0; i < answered; i++) {
        CHECK_OK(world_enter(
            duet->world, &(Entry){.type = ENTRY_STORED, .flags = ENTRY_OK, .number = requests[i]}));
    }
}

static void duet_run(Duet *duet, uint32_t ticks)
{
    for (uint32_t t = 0; t < ticks; t++) {
        duet->tick += 1;
        deliver(duet);
        CHECK_OK(world_enter(duet->world,
                             &(Entry){.type = ENTRY_TICK, .number = 1000 + duet->tick * 17}));
        answer_saves(duet);
        for (uint32_t i = 0; i < duet->client_count; i++) {
            const uint8_t *bytes = NULL;
            size_t count = 0;
            while (duet->connections[i] != 0 &&
                   world_output(duet->world, duet->connections[i], &bytes, &count)) {
                post(duet, i, false, bytes, count);
                world_output_take(duet->world, duet->connections[i]);
            }
            client_update(duet->clients[i], now_ms(duet));
            while (client_output(duet->clients[i], &bytes, &count)) {
                post(duet, i, true, bytes, count);
                client_output_take(duet->clients[i]);
            }
        }
    }
}

static void connect_client(Duet *duet, uint32_t i)
{
    duet->connections[i] = ++duet->next_connection;
    CHECK_OK(world_enter(duet->world,
                         &(Entry){.type = ENTRY_CONNECT, .connection = duet->connections[i]}));
    client_connect(duet->clients[i], now_ms(duet));
}

static void cut_client(Duet *duet, uint32_t i)
{
    drop_letters(duet, i);
    client_disconnected(duet->clients[i]);
    CHECK_OK(world_enter(duet->world,
                         &(Entry){.type = ENTRY_DISCONNECT, .connection = duet->connections[i]}));
    duet->connections[i] = 0;
}

static Client *join(Duet *duet, const char *id, bool scripts)
{
    const uint32_t i = duet->client_count++;
    ClientConfig config = client_config_default();
    config.scripts = scripts;
    snprintf(config.player_id, sizeof config.player_id, "%s", id);
    snprintf(config.name, sizeof config.name, "%s", id);
    CHECK_OK(client_create(&duet->heap, &config, &duet->clients[i]));
    connect_client(duet, i);
    duet_run(duet, 30);
    for (uint32_t t = 0; t < 300 && client_state(duet->clients[i]) == CLIENT_FETCHING; t++) {
        duet_run(duet, 1);
    }
    CHECK_INT(client_state(duet->clients[i]), CLIENT_PLAYING);
    CHECK_TEXT(client_closed_reason(duet->clients[i]), "");
    return duet->clients[i];
}

// --- tests --------------------------------------------------------------------------------------

TEST(walking_is_predicted_exactly)
{
    Duet *duet = duet_open(TEST_PLACE_COURSE, TEST_PLACE_COURSE_SCENE, 3, false);
    Client *client = join(duet, "ann", false);
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
    Client *ann = join(duet, "ann", false);
    Client *bo = join(duet, "bo", false);
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
    Client *ann = join(duet, "ann", false);
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
    Client *bo = join(duet, "bo", false);
    duet_run(duet, 60);
    CHECK_INT(terrain_voxel(sim_terrain_view(client_sim(bo)), hole), 0);
    CHECK_INT(client_stats(bo).chunks_applied, 1);
    CHECK_INT(client_stats(bo).predict.corrections_without_cause, 0);
    duet_close(duet);
}

TEST(scripts_call_each_other_and_reload)
{
    Duet *duet = duet_open(TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, 2, true);
    script(duet, "ServerScriptService/Main",
           "said = {}\n"
           "Network.OnInvoke('double', function(player, n) return n * 2 end)\n"
           "Network.OnClientEvent('say', function(player, text) Chat.Send(text) end)");
    script(duet, "StarterGui/Hud",
           "function onStart() local got = Network.Invoke('double', 21)\n"
           "  Network.FireServer('say', 'got ' .. got) end");
    Client *ann = join(duet, "ann", true);
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
    script(duet, "StarterGui/Hud", "function onReload() Network.FireServer('say', 'again') end");
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
    script(duet, "ServerScriptService/Turn",
           "Network.OnClientEvent('turn', function(player, degrees)\n"
           "  player.Character:SetRotation(Vector3.new(50, degrees, 20))\n"
           "  for i = 1, 30 do task.wait()\n"
           "    local y = player.Character.Rotation.Y\n"
           "    if math.abs(y - degrees) > 0.1 then error('looks at ' .. y) end end\n"
           "  Chat.Send('held') end)");
    script(duet, "StarterGui/Hud",
           "function onStart() task.wait(2.5) Network.FireServer('turn', 90) end");
    Client *ann = join(duet, "ann", true);
    Client *bo = join(duet, "bo", false);
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
    script(duet, "ServerScriptService/Spin",
           "local y = 0\n"
           "function onUpdate() y = y + 3\n"
           "  for _, player in ipairs(Players.GetPlayers()) do\n"
           "    if y < 900 then player.Character.Rotation = Vector3.new(0, y, 0) end end end");
    Client *ann = join(duet, "ann", false);
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
    Client *ann = join(duet, "ann", false);
    client_set_input(ann, &(ClientInput){.move_z = 1});
    duet_run(duet, 90);
    const uint64_t body = client_own(ann).net_id;
    for (uint32_t round = 0; round < 4; round++) {
        cut_client(duet, 0);
        duet_run(duet, 20 * round);
        connect_client(duet, 0);
        duet_run(duet, 90);
        CHECK_INT(client_state(ann), CLIENT_PLAYING);
        CHECK_INT(client_own(ann).net_id, body);
    }
    const ClientStats stats = client_stats(ann);
    CHECK_INT(stats.predict.corrections_without_cause, 0);
    CHECK_INT(world_stats(duet->world).resumes, 4);
    duet_close(duet);
}

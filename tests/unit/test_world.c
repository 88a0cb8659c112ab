// A whole world with raw messages: what it spawns, the own body and its corrections, frames and
// flow control, deaths, restarts, and the replay of all input.
#include "tests/unit/world_fixture.h"

#include "core/base/rng.h"
#include "core/sim/puppet.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#define LIFT  3
#define COIN  4
#define GUARD 5

static Session *session_of(Fixture *fixture, uint64_t connection)
{
    return session_of_connection(fixture->world->sessions, connection);
}

static Handle body_of(Fixture *fixture, uint64_t connection)
{
    return sim_find(fixture->world->sim, session_of(fixture, connection)->entity);
}

// --- clients that play --------------------------------------------------------------------------

typedef struct Player {
    uint64_t connection;
    Merge merge;
    Heard heard;
    uint64_t sent_tick; // inputs are sent up to here
    uint32_t move_z;
} Player;

static void player_join(Fixture *fixture, Player *player, uint64_t connection, const char *id)
{
    memset(player, 0, sizeof *player);
    player->connection = connection;
    merge_reset(&player->merge, fixture->world->clock.tick_rate);
    fixture_join(fixture, connection, id);
}

// Two inputs ahead of the world, the last frame acknowledged, and a hash if there is one.
static void player_send(Fixture *fixture, Player *player, uint32_t seq, uint32_t hash)
{
    WireInputFrame frames[8];
    MessageInputBatch batch = {.last_snapshot = player->heard.frame.seq,
                               .view_tick = player->heard.frame.tick,
                               .state_seq = seq,
                               .state_hash = hash,
                               .inputs = frames};
    if (player->sent_tick < fixture->world->clock.tick) {
        player->sent_tick = fixture->world->clock.tick;
    }
    while (player->sent_tick < fixture->world->clock.tick + 3 && batch.inputs_count < 8) {
        player->sent_tick += 1;
        frames[batch.inputs_count++] = (WireInputFrame){.seq = (uint32_t)player->sent_tick,
                                                        .tick = player->sent_tick,
                                                        .move_z = (int32_t)player->move_z};
    }
    CHECK_OK(fixture_send(fixture, player->connection, MESSAGE_INPUT_BATCH, &batch));
}

// So many ticks of a well-behaved client, whose predictions are right.
static void player_run(Fixture *fixture, Player *player, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        const Session *session = session_of(fixture, player->connection);
        player_send(fixture, player, (uint32_t)fixture->world->clock.tick,
                    session->prediction.hash);
        fixture_tick(fixture, 1);
        fixture_hear(fixture, player->connection, &player->merge, &player->heard);
    }
}

// A hash that is wrong, for the last step.
static void player_err(Fixture *fixture, Player *player)
{
    const Session *session = session_of(fixture, player->connection);
    player_send(fixture, player, (uint32_t)fixture->world->clock.tick,
                session->prediction.hash ^ 1);
    fixture_tick(fixture, 1);
    fixture_hear(fixture, player->connection, &player->merge, &player->heard);
}

// --- the stage ----------------------------------------------------------------------------------

TEST(the_place_is_on_the_stage)
{
    Fixture fixture;
    fixture_open(&fixture);
    Sim *sim = world_sim(fixture.world);
    const AttributeTable *attributes = authority_attributes(fixture.world->authority);
    const Entity *lift = sim_entity(sim, sim_find(sim, LIFT));
    const Entity *coin = sim_entity(sim, sim_find(sim, COIN));
    const Entity *guard = sim_entity(sim, sim_find(sim, GUARD));
    REQUIRE(lift != NULL && coin != NULL && guard != NULL);
    CHECK_INT(lift->type, ENTITY_PART);
    CHECK_INT(coin->type, ENTITY_PROP);
    CHECK_INT(guard->type, ENTITY_NPC);
    CHECK_INT(attribute_table_name(attributes, LIFT).bytes, 4);
    CHECK(attribute_table_has_tag(attributes, COIN, (Text){"pickup", 6}));
    CHECK(attribute_table_has_tag(attributes, 2, (Text){"pickup", 6}));
    ScriptValue value;
    CHECK(attribute_table_attribute(attributes, COIN, (Text){"value", 5}, &value, NULL));
    CHECK_NEAR(value.number, 5, 0);
    CHECK(sim_next_net_id(sim) > GUARD);
    fixture_close(&fixture);
}

TEST(rounds_are_announced_ahead)
{
    Fixture fixture;
    fixture_open(&fixture);
    Player player;
    player_join(&fixture, &player, 1, "ann");
    session_of(&fixture, 1)->geometry_tick = 0;
    Sim *sim = world_sim(fixture.world);
    for (uint32_t i = 0; i < 60 * 13 && test_is_passing(); i++) {
        player_run(&fixture, &player, 1);
        const Entity *lift = sim_entity(sim, sim_find(sim, LIFT));
        const Motion *motion = &lift->part.motion;
        REQUIRE(motion->count > 0);
        CHECK(motion->segments[motion->count - 1].tick_to >= fixture.world->clock.tick + 60);
        const uint64_t phase = fixture.world->clock.tick % 240;
        const float want = phase <= 120 ? 0.5f + (float)phase / 60 : 4.5f - (float)phase / 60;
        CHECK_NEAR(lift->position.y, want, 1e-4);
    }
    CHECK_INT(session_of(&fixture, 1)->geometry_tick, 0);
    // A script that moves it has it for good.
    CHECK_OK(sim_stop_part(sim, sim_find(sim, LIFT)));
    const float y = sim_entity(sim, sim_find(sim, LIFT))->position.y;
    player_run(&fixture, &player, 60);
    CHECK_NEAR(sim_entity(sim, sim_find(sim, LIFT))->position.y, y, 0);
    CHECK(session_of(&fixture, 1)->geometry_tick != 0);
    fixture_close(&fixture);
}

// --- the own body -------------------------------------------------------------------------------

TEST(a_right_prediction_is_left_alone)
{
    Fixture fixture;
    fixture_open(&fixture);
    Player player;
    player_join(&fixture, &player, 1, "ann");
    player_run(&fixture, &player, 60);
    const uint32_t before = player.heard.own_count;
    player.heard.own_causes = 0;
    player.move_z = 100;
    player_run(&fixture, &player, 300);
    CHECK_INT(world_stats(fixture.world).corrections, 0);
    CHECK_INT(player.heard.own_count - before, 5); // once a second
    CHECK((player.heard.own.causes & NET_CAUSE_PERIODIC) != 0);
    CHECK_INT(player.heard.own_causes & ~(uint32_t)NET_CAUSE_PERIODIC, 0);
    const Entity *body = sim_entity(fixture.world->sim, body_of(&fixture, 1));
    CHECK(body->position.z > 5);
    CHECK_INT(player.heard.frame.ack_seq, (uint32_t)player.heard.frame.tick);
    fixture_close(&fixture);
}

// The same walk predicted by another sim, ahead of time.
TEST(hashes_of_coming_ticks_are_compared)
{
    Fixture fixture;
    fixture_open(&fixture);
    Player player;
    player_join(&fixture, &player, 1, "ann");
    player_run(&fixture, &player, 90);
    Heap heap = heap_make(64u << 20);
    SimConfig config = sim_config_default();
    config.entity_max = 64;
    config.character_max = 8;
    config.npc_max = 0;
    config.structures_max = 8;
    config.structures_per_player_max = 8;
    Sim *sim = NULL;
    REQUIRE(sim_create(&heap, &config, fixture.place.scene, &sim) == STATUS_OK);
    Handle body = HANDLE_NONE;
    CHECK_OK(
        sim_spawn_player(sim, &(CharacterDesc){.net_id = session_of(&fixture, 1)->entity}, &body));
    const CharacterState start = character_state(fixture.world->sim, body_of(&fixture, 1));
    CHECK_OK(character_state_apply(sim, body, &start));
    uint64_t tick = fixture.world->clock.tick;
    for (uint32_t i = 0; i < 120; i++) {
        // Four ticks ahead of the server.
        while (tick < fixture.world->clock.tick + 4) {
            tick += 1;
            WireInputFrame frame = {.seq = (uint32_t)tick, .tick = tick, .move_x = 90};
            if (tick == player.sent_tick || tick <= player.sent_tick) {
                frame.move_x = 0; // was sent before
            }
            const SimInput input = {.move_x = (float)frame.move_x / 127.0f};
            sim_set_input(sim, body, &input);
            sim_step(sim);
            const CharacterState state = character_state(sim, body);
            const MessageInputBatch batch = {.last_snapshot = player.heard.frame.seq,
                                             .state_seq = frame.seq,
                                             .state_hash = character_state_hash(&state),
                                             .inputs = &frame,
                                             .inputs_count = 1};
            CHECK_OK(fixture_send(&fixture, 1, MESSAGE_INPUT_BATCH, &batch));
        }
        fixture_tick(&fixture, 1);
        fixture_hear(&fixture, 1, &player.merge, &player.heard);
    }
    CHECK_INT(world_stats(fixture.world).corrections, 0);
    CHECK(session_of(&fixture, 1)->prediction.match_tick == fixture.world->clock.tick);
    sim_destroy(&heap, sim);
    fixture_close(&fixture);
}

TEST(a_wrong_prediction_is_corrected_once)
{
    Fixture fixture;
    fixture_open(&fixture);
    Player player;
    player_join(&fixture, &player, 1, "ann");
    player_run(&fixture, &player, 100);
    player_run(&fixture, &player,
               (uint32_t)(3 - fixture.world->clock.tick % 3)); // a frame has just gone out
    const uint32_t before = player.heard.own_count;
    player_err(&fixture, &player);
    CHECK_INT(world_stats(fixture.world).corrections, 1);
    CHECK_INT(world_stats(fixture.world).corrections_without_cause, 1); // nothing explains it
    for (uint32_t i = 0; i < 5; i++) { // it does not know better before it has the frame
        const Session *session = session_of(&fixture, 1);
        player_send(&fixture, &player, (uint32_t)fixture.world->clock.tick,
                    session->prediction.hash ^ 1);
        fixture_tick(&fixture, 1);
    }
    CHECK_INT(world_stats(fixture.world).corrections, 1);
    fixture_hear(&fixture, 1, &player.merge, &player.heard);
    player_run(&fixture, &player, 6);
    CHECK_INT(player.heard.own_count, before + 1);
    CHECK_INT(player.heard.own.net_id, session_of(&fixture, 1)->entity);
    CHECK_INT(player.heard.own.causes & NET_CAUSE_PERIODIC, 0);
    fixture_close(&fixture);
}

static void check_cause(Fixture *fixture, Player *player, uint32_t cause)
{
    const uint64_t before = world_stats(fixture->world).corrections;
    player_err(fixture, player);
    player_run(fixture, player, 4);
    CHECK_INT(world_stats(fixture->world).corrections, before + 1);
    CHECK_INT(world_stats(fixture->world).corrections_without_cause, 0);
    CHECK((player->heard.own.causes & cause) != 0);
    player_run(fixture, player, 90); // what explained it is over
    player->heard.own_causes = 0;
    player_run(fixture, player, 70);
    CHECK_INT(player->heard.own_causes, NET_CAUSE_PERIODIC);
}

TEST(every_correction_has_its_cause)
{
    Fixture fixture;
    fixture_open(&fixture);
    Player player;
    player_join(&fixture, &player, 1, "ann");
    player_run(&fixture, &player, 150);
    Sim *sim = world_sim(fixture.world);
    CHECK_OK(sim_set_position(sim, body_of(&fixture, 1), vec3(-5, 0, -5)));
    player_run(&fixture, &player, 1);
    check_cause(&fixture, &player, NET_CAUSE_SCRIPT);

    fixture_tick(&fixture, 5); // nothing is sent
    fixture_hear(&fixture, 1, &player.merge, &player.heard);
    check_cause(&fixture, &player, NET_CAUSE_LATE_INPUT);

    Handle piece = HANDLE_NONE;
    CHECK_OK(structure_place(sim, &(StructureDesc){.cell = {-9, 0, -9}}, &piece));
    player_run(&fixture, &player, 1);
    check_cause(&fixture, &player, NET_CAUSE_GEOMETRY);
    CHECK_OK(structure_remove(sim, piece, 0));
    player_run(&fixture, &player, 1);
    check_cause(&fixture, &player, NET_CAUSE_GEOMETRY);
    CHECK_OK(terrain_set(sim_terrain(sim), (VoxelCoord){0, 0, 30}, 1, NULL));
    player_run(&fixture, &player, 1);
    check_cause(&fixture, &player, NET_CAUSE_GEOMETRY);
    const uint64_t geometry = session_of(&fixture, 1)->geometry_tick;
    CHECK_OK(structure_place(sim, &(StructureDesc){.cell = {90, 0, 90}}, &piece)); // far away
    player_run(&fixture, &player, 1);
    CHECK_INT(session_of(&fixture, 1)->geometry_tick, geometry);

    const Entity *body = sim_entity(sim, body_of(&fixture, 1));
    Handle other = HANDLE_NONE;
    CHECK_OK(sim_spawn_player(sim, &(CharacterDesc){.position = body->position}, &other));
    player_run(&fixture, &player, 5);
    sim_remove(sim, other);
    player_run(&fixture, &player, 1);
    check_cause(&fixture, &player, NET_CAUSE_PUSH);
    fixture_close(&fixture);
}

TEST(who_dies_comes_back)
{
    Fixture fixture;
    fixture_open(&fixture);
    Player player;
    player_join(&fixture, &player, 1, "ann");
    player_run(&fixture, &player, 60);
    Sim *sim = world_sim(fixture.world);
    (void)sim_damage(sim, body_of(&fixture, 1), 1000, 0);
    player_run(&fixture, &player, 30);
    CHECK_INT(player.heard.event_counts[MESSAGE_DIED], 1);
    CHECK_INT(player.heard.event_counts[MESSAGE_DAMAGED], 1);
    CHECK_INT(player.heard.event_counts[MESSAGE_RESPAWNED], 0);
    CHECK(!(sim_entity(sim, body_of(&fixture, 1))->character.health > 0));
    player_run(&fixture, &player, 40);
    CHECK_INT(player.heard.event_counts[MESSAGE_RESPAWNED], 1);
    const Entity *body = sim_entity(sim, body_of(&fixture, 1));
    CHECK(body->character.health > 0);
    CHECK_INT(world_stats(fixture.world).corrections_without_cause, 0);
    fixture_close(&fixture);
}

TEST(who_is_stuck_gives_the_body_up)
{
    Fixture fixture;
    fixture_open(&fixture);
    Player player;
    player_join(&fixture, &player, 1, "ann");
    player_run(&fixture, &player, 60);
    CHECK_OK(fixture_send(&fixture, 1, MESSAGE_RESPAWN, &(MessageRespawn){0}));
    player_run(&fixture, &player, 10);
    const Sim *sim = world_sim(fixture.world);
    CHECK_INT(player.heard.event_counts[MESSAGE_DIED], 1);
    CHECK(!(sim_entity(sim, body_of(&fixture, 1))->character.health > 0));
    player_run(&fixture, &player, 70);
    CHECK_INT(player.heard.event_counts[MESSAGE_RESPAWNED], 1);
    CHECK(sim_entity(sim, body_of(&fixture, 1))->character.health > 0);
    CHECK_INT(world_stats(fixture.world).corrections_without_cause, 0);
    fixture_close(&fixture);
}

TEST(a_dropped_body_stands_still)
{
    Fixture fixture;
    fixture_open(&fixture);
    Player player;
    player_join(&fixture, &player, 1, "ann");
    player.move_z = 127;
    player_run(&fixture, &player, 30);
    const uint64_t entity = session_of(&fixture, 1)->entity;
    CHECK_OK(fixture_disconnect(&fixture, 1));
    fixture_tick(&fixture, 30);
    Sim *sim = world_sim(fixture.world);
    const Vec3 at = sim_entity(sim, sim_find(sim, entity))->position;
    CHECK(at.z > 1);
    fixture_tick(&fixture, 30);
    const Vec3 later = sim_entity(sim, sim_find(sim, entity))->position;
    CHECK_NEAR(later.z, at.z, 1e-4);
    fixture_close(&fixture);
}

TEST(shots_hit_and_are_told)
{
    Fixture fixture;
    fixture_open(&fixture);
    Player player;
    player_join(&fixture, &player, 1, "ann");
    player_run(&fixture, &player, 30);
    Handle shot = HANDLE_NONE;
    const ProjectileDesc desc = {.shooter = body_of(&fixture, 1),
                                 .position = {0, 1, 0},
                                 .velocity = {0, 0, 40},
                                 .lifetime_ticks = 100,
                                 .kind = 7};
    CHECK_OK(projectile_fire(world_sim(fixture.world), &desc, &shot));
    player_run(&fixture, &player, 40);
    CHECK_INT(player.heard.event_counts[MESSAGE_PROJECTILE_HIT], 1);
    fixture_close(&fixture);
}

// --- flow ---------------------------------------------------------------------------------------

TEST(frames_come_at_their_rate)
{
    static const uint32_t rates[3][2] = {{60, 20}, {30, 10}, {60, 10}};
    for (uint32_t i = 0; i < 3; i++) {
        Fixture fixture;
        fixture_open_with(&fixture, rates[i][0], rates[i][1], 8);
        Player player;
        player_join(&fixture, &player, 1, "ann");
        player_run(&fixture, &player, rates[i][0] * 5);
        CHECK_NEAR(player.heard.frames, rates[i][1] * 5, 1);
        CHECK_INT(world_stats(fixture.world).snapshots_skipped, 0);
        CHECK_INT(player.heard.frame.seq, player.heard.frames);
        fixture_close(&fixture);
    }
}

TEST(who_confirms_nothing_gets_no_more)
{
    Fixture fixture;
    fixture_open(&fixture);
    Player player;
    player_join(&fixture, &player, 1, "ann");
    fixture_tick(&fixture, 300);
    fixture_hear(&fixture, 1, &player.merge, &player.heard);
    CHECK_INT(player.heard.frames, 7); // 250 ms and 100 ms at 20 Hz
    player_run(&fixture, &player, 120);
    CHECK(player.heard.frames > 40);
    // It stops: after so many frames nothing more is sent, after 5 s it is out.
    const uint32_t before = player.heard.frames;
    fixture_tick(&fixture, 60);
    fixture_hear(&fixture, 1, &player.merge, &player.heard);
    CHECK(player.heard.frames - before <= 4);
    CHECK_INT(player.heard.errors, 0);
    fixture_tick(&fixture, 300);
    fixture_hear(&fixture, 1, &player.merge, &player.heard);
    CHECK_TEXT(player.heard.code, "behind");
    CHECK(fixture_is_closing(&fixture, 1));
    CHECK_INT(world_stats(fixture.world).sessions_behind, 1);
    CHECK_INT(world_stats(fixture.world).players, 1); // the body is kept
    fixture_close(&fixture);
}

TEST(a_client_that_takes_nothing_is_given_up)
{
    Fixture fixture;
    fixture_open(&fixture);
    fixture_join(&fixture, 1, "ann");
    bool closing = false;
    for (uint32_t i = 0; i < 6000 && !closing; i++) {
        // Answers fill its output.
        const Status status =
            fixture_send(&fixture, 1, MESSAGE_PROFILE_LIST, &(MessageProfileList){0});
        const Status pinged = fixture_send(&fixture, 1, MESSAGE_PING, &(MessagePing){.nonce = i});
        CHECK_OK(status);
        CHECK_OK(pinged);
        fixture_tick(&fixture, 1);
        closing = fixture_is_closing(&fixture, 1);
    }
    CHECK(closing);
    fixture_close(&fixture);
}

// --- JSON ---------------------------------------------------------------------------------------

static uint32_t hear_json(Fixture *fixture, uint64_t connection, const char *what)
{
    static char text[1 << 20];
    uint32_t found = 0;
    const uint8_t *bytes = NULL;
    size_t count = 0;
    while (world_output(fixture->world, connection, &bytes, &count)) {
        if (count < sizeof text) {
            memcpy(text, bytes, count);
            text[count] = '\0';
            found += strstr(text, what) != NULL;
        }
        world_output_take(fixture->world, connection);
    }
    return found;
}

static void send_json(Fixture *fixture, uint64_t connection, const char *text)
{
    CHECK_OK(fixture_send_bytes(fixture, connection, text, strlen(text)));
    fixture_tick(fixture, 1);
}

TEST(tools_speak_json)
{
    Fixture fixture;
    fixture_open(&fixture);
    CHECK_OK(fixture_connect(&fixture, 1, true));
    send_json(&fixture, 1,
              "{\"v\":2,\"kind\":\"command\",\"seq\":1,\"feature\":\"session\",\"action\":"
              "\"handshake\",\"payload\":{\"playerId\":\"tool\"}}");
    CHECK_INT(hear_json(&fixture, 1, "\"kind\":\"welcome\""), 1);
    fixture_tick(&fixture, 30);
    CHECK_INT(hear_json(&fixture, 1, "\"kind\":\"snapshot\""), 10);
    fixture_tick(&fixture, 600); // it confirms nothing, and is served on
    CHECK_INT(hear_json(&fixture, 1, "\"kind\":\"snapshot\""), 200);
    send_json(&fixture, 1,
              "{\"v\":2,\"kind\":\"command\",\"seq\":2,\"feature\":\"session\","
              "\"action\":\"ping\",\"payload\":{\"nonce\":7}}");
    CHECK_INT(hear_json(&fixture, 1, "\"kind\":\"pong\""), 1);
    for (uint32_t i = 0; i < 20; i++) {
        send_json(&fixture, 1,
                  "{\"v\":2,\"kind\":\"command\",\"seq\":3,\"feature\":\"magic\","
                  "\"action\":\"cast\",\"payload\":{}}");
    }
    CHECK_INT(hear_json(&fixture, 1, "\"unknown_action\""), 20);
    send_json(&fixture, 1,
              "{\"v\":2,\"kind\":\"command\",\"seq\":4,\"feature\":\"session\","
              "\"action\":\"ping\",\"payload\":{\"nonce\":\"x\"}}");
    CHECK_INT(hear_json(&fixture, 1, "$.payload.nonce"), 1);
    // Its inputs need no ticks.
    for (uint32_t i = 0; i < 30; i++) {
        send_json(&fixture, 1,
                  "{\"v\":2,\"kind\":\"command\",\"seq\":5,\"feature\":\"movement\",\"action\":"
                  "\"input_batch\",\"payload\":{\"inputs\":[{\"seq\":1,\"moveZ\":127}]}}");
    }
    const Entity *body = sim_entity(fixture.world->sim, body_of(&fixture, 1));
    CHECK(body->position.z > 1);
    send_json(&fixture, 1,
              "{\"v\":3,\"kind\":\"command\",\"seq\":6,\"feature\":\"session\","
              "\"action\":\"ping\",\"payload\":{}}");
    CHECK_INT(hear_json(&fixture, 1, "\"unsupported_version\""), 1);
    CHECK_OK(fixture_connect(&fixture, 3, true));
    send_json(&fixture, 3, "[");
    CHECK_INT(hear_json(&fixture, 3, "\"malformed\""), 1);
    CHECK(fixture_is_closing(&fixture, 3));
    fixture_close(&fixture);
}

// --- a restart ----------------------------------------------------------------------------------

TEST(resume_in_a_restarted_world)
{
    Fixture fixture;
    fixture_open(&fixture);
    uint8_t *rows = malloc(FIXTURE_ROW_BYTES);
    fixture.rows = rows;
    fixture_join(&fixture, 7, "other"); // so that ann is not number one
    Player player;
    player_join(&fixture, &player, 1, "ann");
    player_run(&fixture, &player, 60);
    CHECK_OK(sim_set_position(fixture.world->sim, body_of(&fixture, 1), vec3(-12, 0, 4)));
    player_run(&fixture, &player, 60);
    fixture_hear(&fixture, 1, &player.merge, &player.heard);
    const uint64_t number = session_of(&fixture, 1)->player;
    const uint64_t unix_ms = fixture.unix_ms;
    const size_t row_bytes = fixture.row_bytes;
    fixture_close(&fixture);

    fixture_open(&fixture);
    fixture.unix_ms = unix_ms + 5000;
    for (size_t at = 0; at < row_bytes;) {
        uint32_t length = 0;
        memcpy(&length, rows + at, 4);
        CHECK_OK(fixture_enter(
            &fixture, &(Entry){.type = ENTRY_ROW, .bytes = rows + at + 4, .byte_count = length}));
        at += 4 + length;
    }
    CHECK_OK(fixture_connect(&fixture, 2, false));
    CHECK_OK(fixture_handshake(&fixture, 2, "", player.heard.token));
    fixture_tick(&fixture, 1);
    Heard heard = {0};
    fixture_hear(&fixture, 2, NULL, &heard);
    CHECK_INT(heard.welcomes, 1);
    CHECK(heard.welcome.resumed);
    CHECK_INT(heard.welcome.player, number);
    const Entity *body = sim_entity(fixture.world->sim, body_of(&fixture, 2));
    REQUIRE(body != NULL);
    CHECK_NEAR(body->position.x, -12, 0.1);
    CHECK_NEAR(body->position.z, 4, 0.1);
    CHECK_TEXT(session_of(&fixture, 2)->name, "ann");
    free(rows);
    fixture_close(&fixture);
}

// --- replay -------------------------------------------------------------------------------------

static void random_client(Fixture *fixture, Rng *rng, Player *player, uint32_t number)
{
    const Session *session = session_of(fixture, player->connection);
    const uint32_t what = rng_u32(rng) % 100;
    if (session == NULL) {
        if (what < 20) {
            const char *token = rng_u32(rng) % 2 == 0 ? player->heard.token : "";
            player->connection += 1;
            player->sent_tick = 0;
            merge_reset(&player->merge, 60);
            player->heard.frame = (SnapshotHeader){0};
            CHECK_OK(fixture_connect(fixture, player->connection, false));
            CHECK_OK(fixture_handshake(fixture, player->connection,
                                       (const char *[]){"a", "b", "c", "d"}[number], token));
        }
        return;
    }
    if (session->state != SESSION_PLAYING) {
        return;
    }
    player->move_z = rng_u32(rng) % 128;
    if (what < 80) {
        player_send(fixture, player, (uint32_t)fixture->world->clock.tick,
                    rng_u32(rng) % 8 == 0 ? 1 : session->prediction.hash);
    }
    if (what == 80) {
        CHECK_OK(fixture_disconnect(fixture, player->connection));
    } else if (what == 81) {
        CHECK_OK(fixture_send(fixture, player->connection, MESSAGE_LEAVE, &(MessageLeave){0}));
    } else if (what < 84) {
        const MessageChatSay say = {.text = {"hi", 2}};
        CHECK_OK(fixture_send(fixture, player->connection, MESSAGE_CHAT_SAY, &say));
    } else if (what < 88) {
        const MessageBuildPlace place = {
            .cell = {(int32_t)(rng_u32(rng) % 8) - 2, 0, (int32_t)(rng_u32(rng) % 8) - 2}};
        CHECK_OK(fixture_send(fixture, player->connection, MESSAGE_BUILD_PLACE, &place));
    } else if (what < 90) {
        const MessageTerraform dig = {
            .shape = 1, .min = {-3, 0, -3}, .max = {-3, 1, -3}, .voxel_kind = 1};
        CHECK_OK(fixture_send(fixture, player->connection, MESSAGE_TERRAFORM, &dig));
    } else if (what == 90) {
        const uint8_t broken[] = {1, 2, 3};
        CHECK_OK(fixture_send_bytes(fixture, player->connection, broken, sizeof broken));
    }
}

typedef struct Replay {
    const Fixture *original;
    uint32_t tick_count;
} Replay;

static bool compare_tick(void *user, World *world, const Entry *entry, Status entered)
{
    (void)entered;
    Replay *replay = user;
    if (entry->type == ENTRY_TICK) {
        CHECK(world_hash(world) == replay->original->hashes[replay->tick_count]);
        replay->tick_count += 1;
    }
    return test_is_passing();
}

TEST(a_journal_gives_the_same_world_again)
{
    Fixture fixture;
    fixture_open(&fixture);
    Rng rng = rng_make(test_seed(), 3);
    Player players[4];
    memset(players, 0, sizeof players);
    for (uint32_t i = 0; i < 4; i++) {
        players[i].connection = 100000 * (i + 1);
    }
    CHECK_OK(fixture_connect(&fixture, 1, true));
    send_json(&fixture, 1,
              "{\"v\":2,\"kind\":\"command\",\"seq\":1,\"feature\":\"session\",\"action\":"
              "\"handshake\",\"payload\":{\"playerId\":\"tool\"}}");
    for (uint32_t tick = 0; tick < 500; tick++) {
        for (uint32_t i = 0; i < 4; i++) {
            random_client(&fixture, &rng, &players[i], i);
            // Some take what is there for them, some do not: that decides nothing.
            if (rng_u32(&rng) % 4 != 0) {
                fixture_hear(&fixture, players[i].connection, &players[i].merge, &players[i].heard);
            }
            uint64_t closing = world_closing(fixture.world);
            if (closing != 0) {
                CHECK_OK(fixture_disconnect(&fixture, closing));
            }
        }
        fixture_tick(&fixture, 1);
    }
    CHECK(world_stats(fixture.world).snapshots > 500);
    CHECK(world_stats(fixture.world).resumes > 0);

    Heap heap = heap_make(512u << 20);
    WorldConfig config = world_config_default();
    config.place = fixture.config.place;
    config.stripped = fixture.config.stripped;
    config.stripped_bytes = fixture.config.stripped_bytes;
    ByteReader reader = byte_reader(fixture.journal, fixture.writer.at);
    CHECK_OK(fixture.writer.status);
    REQUIRE(journal_read_header(&reader, &config) == STATUS_OK);
    World *world = NULL;
    REQUIRE(world_create(&heap, &config, &world) == STATUS_OK);
    Replay replay = {&fixture, 0};
    CHECK_OK(journal_replay(&reader, world, compare_tick, &replay));
    CHECK_INT(replay.tick_count, fixture.tick_count);
    world_destroy(&heap, world);
    fixture_close(&fixture);
}

// --- creation -----------------------------------------------------------------------------------

TEST(a_create_that_fails_gives_everything_back)
{
    FixturePlace place;
    fixture_place_open(&place, 60, 20);
    const WorldConfig config = fixture_config(&place);
    uint32_t refused = 0;
    for (uint64_t cap = 1u << 16; cap < 400u << 20; cap += cap / 3) {
        Heap heap = heap_make(cap);
        World *world = NULL;
        if (world_create(&heap, &config, &world) == STATUS_OK) {
            world_destroy(&heap, world);
        } else {
            refused += 1;
        }
        CHECK_INT(heap.bytes_now, 0);
    }
    CHECK(refused > 10);
    WorldConfig odd = config;
    odd.player_max = 0;
    World *world = NULL;
    Heap heap = heap_make(1u << 30);
    CHECK_INT(world_create(&heap, &odd, &world), STATUS_RANGE);
    odd = config;
    odd.visible_max = 257;
    CHECK_INT(world_create(&heap, &odd, &world), STATUS_RANGE);
    fixture_place_close(&place);
}

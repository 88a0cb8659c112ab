// Shots: how often, from where, at whom; and messages that are sent in pieces.
#include "core/base/sha256.h"
#include "core/sim/puppet.h"
#include "tests/unit/act_world.h"

#include <stdlib.h>
#include <string.h>

static ActStore store;
static ActWorld act;

static void open(const char *place)
{
    memset(&store, 0, sizeof store);
    act_world_open(&act, &store, place, TEST_PLACE_FLAT_SCENE, false);
}

static void close(void)
{
    act_world_close(&act);
    act_store_free(&store);
}

// Holds the button for some ticks.
static void fire(ActClient *client, uint32_t ticks, uint64_t yaw, uint64_t view_tick)
{
    client->silent = true;
    for (uint32_t i = 0; i < ticks; i++) {
        const uint64_t tick = act.world->clock.tick + 1;
        const WireInputFrame frame = {
            .seq = (uint32_t)tick, .tick = tick, .yaw = yaw, .buttons = INPUT_FIRE};
        const MessageInputBatch batch = {.last_snapshot = client->frame,
                                         .view_tick = view_tick,
                                         .inputs = &frame,
                                         .inputs_count = 1};
        act_world_send(&act, client, MESSAGE_INPUT_BATCH, &batch);
        act_world_tick(&act, 1);
    }
    client->silent = false;
}

static float health(const ActClient *client)
{
    const Session *session = act_world_session(&act, client);
    return session_body(act.world->sim, session)->character.health;
}

TEST(a_shot_flies_from_the_eye_and_hurts)
{
    open(TEST_PLACE_FLAT);
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    act_world_place(&act, a, vec3(0, 0, 0));
    act_world_place(&act, b, vec3(10, 0, 0));
    act_world_tick(&act, 40);
    const float before = health(b);
    fire(a, 1, 16384, act.world->clock.tick); // a quarter turn: +x
    CHECK_INT(sim_count(act.world->sim, ENTITY_PROJECTILE), 1);
    const Handle h = sim_next(act.world->sim, HANDLE_NONE, ENTITY_MASK(ENTITY_PROJECTILE));
    const Entity *shot = sim_entity(act.world->sim, h);
    REQUIRE(shot != NULL);
    CHECK_INT(shot->owner_id, act_world_session(&act, a)->player);
    CHECK_NEAR(shot->velocity.x, 60, 0.01);
    CHECK_NEAR(shot->velocity.z, 0, 0.01);
    const float eye = sim_config(act.world->sim)->character.height * 0.9f;
    CHECK_NEAR(shot->position.y, eye, 0.05);
    CHECK_INT(shot->projectile.rewind_ticks, 0);
    act_world_tick(&act, 30);
    CHECK_NEAR(health(b), before - 25, 0.01);
    CHECK_NEAR(health(a), before, 0.01);
    CHECK_INT(a->counts[MESSAGE_PROJECTILE_HIT], 1);
    close();
}

TEST(the_weapon_decides_how_often)
{
    open(TEST_PLACE_FLAT);
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 4);
    uint64_t first = sim_next_net_id(act.world->sim);
    fire(a, 60, 0, act.world->clock.tick);
    CHECK_INT(sim_next_net_id(act.world->sim) - first, 4); // one in 250 ms
    // The dead do not shoot.
    const Session *session = act_world_session(&act, a);
    (void)sim_damage(act.world->sim, sim_find(act.world->sim, session->entity), 1e6f, 0);
    first = sim_next_net_id(act.world->sim);
    fire(a, 30, 0, act.world->clock.tick);
    CHECK_INT(sim_next_net_id(act.world->sim) - first, 0);
    close();
}

TEST(the_past_is_bounded_and_the_future_is_now)
{
    open(TEST_PLACE_FLAT);
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 60);
    const uint64_t views[] = {1, act.world->clock.tick - 10, act.world->clock.tick + 1000, 0};
    const uint32_t wants[] = {21, 10, 0, 0};
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t view = i == 1 ? act.world->clock.tick - 10 : views[i];
        const uint64_t next = sim_next_net_id(act.world->sim);
        fire(a, 1, 0, view);
        const Entity *shot = sim_entity(act.world->sim, sim_find(act.world->sim, next));
        REQUIRE(shot != NULL);
        CHECK_INT(shot->projectile.rewind_ticks, wants[i]);
        act_world_tick(&act, 20);
    }
    close();
}

// Bob is outside what Ann is sent; her shots pass through him.
TEST(who_is_not_seen_is_not_hit)
{
    open(
        "{\"format\": 1, \"name\": \"Short\", \"limits\": {\"players\": 8, \"viewRadius\": 16,"
        " \"reach\": 10}, \"weapons\": [{\"name\": \"blaster\", \"intervalMs\": 250, \"speed\": 60,"
        " \"damage\": 25}], \"voxelKinds\": [{\"name\": \"grass\"}]}");
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    act_world_place(&act, a, vec3(-15, 0, 0));
    act_world_place(&act, b, vec3(15, 0, 0));
    act_world_tick(&act, 40);
    const float before = health(b);
    fire(a, 1, 16384, act.world->clock.tick);
    act_world_tick(&act, 60);
    CHECK_NEAR(health(b), before, 0.01);
    act_world_place(&act, a, vec3(5, 0, 0));
    act_world_tick(&act, 40);
    fire(a, 1, 16384, act.world->clock.tick);
    act_world_tick(&act, 60);
    CHECK_NEAR(health(b), before - 25, 0.01);
    close();
}

TEST(the_scene_comes_in_pieces)
{
    open(TEST_PLACE_FLAT);
    ActClient *a = act_world_join(&act, 7, "ann");
    MessageBlobRequest request = {0};
    CHECK(!act_world_ask(&act, a, MESSAGE_BLOB_REQUEST, &request));
    CHECK_TEXT(act_client_code(a), "not_found");
    sha256_of(act.stripped.data, act.stripped.bytes, request.hash.bytes);
    uint8_t *got = malloc(act.stripped.bytes);
    size_t bytes = 0;
    act_world_send(&act, a, MESSAGE_BLOB_REQUEST, &request);
    for (uint32_t i = 0; i < 200 && bytes < act.stripped.bytes; i++) {
        const uint32_t before = a->counts[MESSAGE_BLOB_CHUNK];
        act_world_tick(&act, 1);
        if (a->counts[MESSAGE_BLOB_CHUNK] > before) {
            const MessageBlobChunk *chunk = act_client_last(a, MESSAGE_BLOB_CHUNK);
            CHECK_INT(chunk->chunk_index, before);
            REQUIRE(bytes + chunk->data.bytes <= act.stripped.bytes);
            memcpy(got + bytes, chunk->data.data, chunk->data.bytes);
            bytes += chunk->data.bytes;
        }
    }
    CHECK_INT(bytes, act.stripped.bytes);
    CHECK_BYTES(got, act.stripped.data, bytes);
    request.from_chunk = 1000000;
    CHECK(!act_world_ask(&act, a, MESSAGE_BLOB_REQUEST, &request));
    CHECK_TEXT(act_client_code(a), "range");
    free(got);
    close();
}

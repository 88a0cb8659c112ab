// Building: who may build, where, and the message if it is not allowed.
#include "core/sim/structure.h"
#include "tests/unit/act_world.h"

#include <string.h>

static ActStore store;
static ActWorld act;

static void open(void)
{
    memset(&store, 0, sizeof store);
    act_world_open(&act, &store, TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE, false);
}

static void close(void)
{
    act_world_close(&act);
    act_store_free(&store);
}

static MessageBuildPlace at(int32_t x, int32_t y, int32_t z)
{
    return (MessageBuildPlace){.piece = 0, .cell = {x, y, z}};
}

static bool place(ActClient *client, int32_t x, int32_t y, int32_t z)
{
    const MessageBuildPlace command = at(x, y, z);
    return act_world_ask(&act, client, MESSAGE_BUILD_PLACE, &command);
}

TEST(a_piece_is_placed_seen_stored_and_taken_down)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    act_world_place(&act, a, vec3(0, 0, 0));
    CHECK(place(a, 2, 0, 2));
    const uint64_t id = ((const MessageAck *)act_client_last(a, MESSAGE_ACK))->entity_id;
    const uint32_t asked = a->seq;
    CHECK(id != 0);
    act_world_tick(&act, 6);
    const MessageStructurePlaced *placed = act_client_last(b, MESSAGE_STRUCTURE_PLACED);
    REQUIRE(placed != NULL);
    CHECK_INT(placed->entity_id, id);
    const MessageDurable *durable = act_client_last(a, MESSAGE_DURABLE);
    REQUIRE(durable != NULL);
    CHECK_INT(durable->command_seq, asked);
    CHECK_INT(b->counts[MESSAGE_DURABLE], 0);
    const Entity *entity = sim_entity(act.world->sim, sim_find(act.world->sim, id));
    REQUIRE(entity != NULL);
    CHECK_INT(entity->owner_id, act_world_session(&act, a)->player);

    const MessageBuildRemove remove = {.entity_id = id};
    CHECK(!act_world_ask(&act, b, MESSAGE_BUILD_REMOVE, &remove)); // not theirs
    CHECK_TEXT(act_client_code(b), "denied");
    CHECK(act_world_ask(&act, a, MESSAGE_BUILD_REMOVE, &remove));
    act_world_tick(&act, 6);
    CHECK(handle_is_none(sim_find(act.world->sim, id)));
    CHECK_INT(a->counts[MESSAGE_DURABLE], 2);
    CHECK(!act_world_ask(&act, a, MESSAGE_BUILD_REMOVE, &remove));
    CHECK_TEXT(act_client_code(a), "not_found");
    close();
}

TEST(what_cannot_be_built_is_refused_with_a_reason)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(0, 0, 0));
    CHECK(!place(a, 25, 0, 0));
    CHECK_TEXT(act_client_code(a), "denied"); // out of reach
    CHECK(!place(a, 3, 4, 0));
    CHECK_TEXT(act_client_code(a), "denied"); // nothing holds it
    CHECK(!place(a, 3, -2, 0));
    CHECK_TEXT(act_client_code(a), "blocked");
    CHECK(!place(a, 0, 0, 0)); // stands there
    CHECK_TEXT(act_client_code(a), "blocked");
    const MessageBuildPlace unknown = {.piece = 200, .cell = {2, 0, 0}};
    CHECK(!act_world_ask(&act, a, MESSAGE_BUILD_PLACE, &unknown));
    CHECK_TEXT(act_client_code(a), "not_found");
    CHECK_INT(act.world->stats.commands_denied, 5);
    CHECK_INT(sim_count(act.world->sim, ENTITY_STRUCTURE), 0);
    close();
}

TEST(the_dead_and_the_hasty_build_nothing)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_place(&act, a, vec3(0, 0, 0));
    const MessageBuildPlace command = at(2, 0, 2);
    for (uint32_t i = 0; i < 30; i++) {
        act_world_send(&act, a, MESSAGE_BUILD_PLACE, &command);
    }
    act_world_tick(&act, 2);
    CHECK_INT(sim_count(act.world->sim, ENTITY_STRUCTURE), 1);
    CHECK_TEXT(act_client_code(a), "limit");
    act_world_tick(&act, 120);
    const Session *session = act_world_session(&act, a);
    (void)sim_damage(act.world->sim, sim_find(act.world->sim, session->entity), 1e6f, 0);
    CHECK(!place(a, 3, 0, 3));
    CHECK_TEXT(act_client_code(a), "denied");
    close();
}

TEST(a_preview_is_shown_and_ends_by_itself)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    act_world_place(&act, a, vec3(0, 0, 0));
    const MessageBuildPreview preview = {.active = true, .piece = 1, .cell = {2, 0, 2}, .turn = 1};
    CHECK(act_world_ask(&act, a, MESSAGE_BUILD_PREVIEW, &preview));
    act_world_tick(&act, 6);
    const MessageBuildPreviewed *seen = act_client_last(b, MESSAGE_BUILD_PREVIEWED);
    REQUIRE(seen != NULL);
    CHECK(seen->active);
    CHECK_INT(seen->turn, 1);
    act_world_tick(&act, 280);
    CHECK_INT(b->counts[MESSAGE_BUILD_PREVIEWED], 1);
    act_world_tick(&act, 30);
    seen = act_client_last(b, MESSAGE_BUILD_PREVIEWED);
    CHECK(!seen->active);
    CHECK_INT(seen->player, act_world_session(&act, a)->player);
    // And when its player goes.
    CHECK(act_world_ask(&act, a, MESSAGE_BUILD_PREVIEW, &preview));
    act_world_tick(&act, 6);
    act_world_cut(&act, a);
    act_world_tick(&act, 6);
    seen = act_client_last(b, MESSAGE_BUILD_PREVIEWED);
    CHECK_INT(b->counts[MESSAGE_BUILD_PREVIEWED], 4);
    CHECK(!seen->active);
    close();
}

TEST(an_operator_may_take_down_what_others_built)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *op = act_world_join(&act, 1001, "op");
    act_world_place(&act, a, vec3(0, 0, 0));
    act_world_place(&act, op, vec3(0, 0, 5));
    CHECK(place(a, 2, 0, 2));
    const MessageBuildRemove remove = {
        .entity_id = ((const MessageAck *)act_client_last(a, MESSAGE_ACK))->entity_id};
    CHECK(act_world_ask(&act, op, MESSAGE_BUILD_REMOVE, &remove));
    close();
}

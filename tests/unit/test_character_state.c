// A character's state contains everything that determines its next step: another sim that gets the
// state continues in exactly the same way, with or without authority, whatever the order of its
// slots.
#include "core/sim/character_state.h"

#include "core/sim/puppet.h"
#include "tests/support/test.h"
#include "tests/unit/ride_world.h"

#include <stdio.h>

static Handle spawn(Sim *sim, Vec3 position)
{
    Handle handle = HANDLE_NONE;
    const CharacterDesc desc = {.net_id = RIDE_PLAYER, .position = position};
    CHECK_OK(sim_spawn_player(sim, &desc, &handle));
    return handle;
}

// The client learns every motion whole, as the server has it.
static void announce(Sim *server, Sim *client)
{
    for (uint32_t i = 0; i < RIDE_MOVERS; i++) {
        if (ride_announce(server, i)) {
            const Entity *mover = sim_entity(server, sim_find(server, RIDE_MOVER_FIRST + i));
            CHECK_OK(sim_replace_motion(client, sim_find(client, RIDE_MOVER_FIRST + i),
                                        mover->part.rest, &mover->part.motion));
        }
    }
}

typedef struct Pair {
    RideWorld world;
    Sim *server, *client;
    Handle on_server, on_client;
    RideWalker walker;
    RideSeen seen;
    uint32_t deaths;
} Pair;

static void pair_open(Pair *pair, uint64_t seed, uint32_t tick_rate)
{
    *pair = (Pair){.walker = ride_walker(seed)};
    ride_open(&pair->world, tick_rate);
    pair->server = ride_sim(&pair->world, true, 0);
    pair->client = ride_sim(&pair->world, false, 1 + (uint32_t)(seed % 3));
    pair->on_server = spawn(pair->server, vec3(0, 0.2f, 3));
    pair->on_client = spawn(pair->client, vec3(0, 0.2f, 3));
}

static void pair_close(Pair *pair)
{
    sim_destroy(&pair->world.heap, pair->server);
    sim_destroy(&pair->world.heap, pair->client);
    ride_close(&pair->world);
}

// A crushed character is revived: that is not predicted.
static void pair_revive(Pair *pair)
{
    if (sim_entity(pair->server, pair->on_server)->character.health > 0) {
        return;
    }
    pair->deaths += 1;
    CHECK_OK(sim_revive(pair->server, pair->on_server, vec3(0, 1, 3)));
    const CharacterState state = character_state(pair->server, pair->on_server);
    CHECK_OK(character_state_apply(pair->client, pair->on_client, &state));
}

static bool pair_step(Pair *pair)
{
    const SimInput input =
        ride_steer(&pair->walker, sim_entity(pair->server, pair->on_server)->position);
    announce(pair->server, pair->client);
    sim_set_input(pair->server, pair->on_server, &input);
    sim_set_input(pair->client, pair->on_client, &input);
    sim_step(pair->server);
    sim_step(pair->client);
    ride_look(&pair->seen, pair->server, pair->on_server);
    pair_revive(pair);
    const CharacterState a = character_state(pair->server, pair->on_server);
    const CharacterState b = character_state(pair->client, pair->on_client);
    const bool equal = character_state_hash(&a) == character_state_hash(&b) &&
                       a.ground_net_id == b.ground_net_id &&
                       vec3_equal(a.ground_normal, b.ground_normal);
    CHECK(equal);
    if (!equal) {
        printf("tick %u: %.9g %.9g %.9g on %u, %.9g %.9g %.9g on %u\n",
               (unsigned)sim_tick(pair->server), (double)a.position.x, (double)a.position.y,
               (double)a.position.z, (unsigned)a.ground_net_id, (double)b.position.x,
               (double)b.position.y, (double)b.position.z, (unsigned)b.ground_net_id);
    }
    return equal;
}

static void check_seen(const RideSeen *seen)
{
    CHECK(seen->grounded > 1000);
    CHECK(seen->airborne > 500);
    CHECK(seen->climbing > 20);
    CHECK(seen->bounced > 5);
    CHECK(seen->on_mover > 300);
    CHECK(seen->on_conveyor > 50);
    CHECK(seen->on_slope > 20);
    CHECK(seen->on_stairs > 20);
}

static void add_seen(RideSeen *sum, const RideSeen *seen)
{
    sum->grounded += seen->grounded;
    sum->airborne += seen->airborne;
    sum->climbing += seen->climbing;
    sum->bounced += seen->bounced;
    sum->on_mover += seen->on_mover;
    sum->on_conveyor += seen->on_conveyor;
    sum->on_slope += seen->on_slope;
    sum->on_stairs += seen->on_stairs;
}

TEST(a_client_steps_exactly_as_the_server)
{
    RideSeen sum = {0};
    uint32_t deaths = 0;
    for (uint64_t seed = 0; seed < 6 && test_is_passing(); seed++) {
        Pair pair;
        pair_open(&pair, test_seed() + seed, seed == 5 ? 30 : 60);
        for (uint32_t i = 0; i < 3000; i++) {
            if (!pair_step(&pair)) {
                printf("seed %u\n", (unsigned)seed);
                break;
            }
        }
        add_seen(&sum, &pair.seen);
        deaths += pair.deaths;
        pair_close(&pair);
    }
    check_seen(&sum);
    CHECK(deaths < 20);
}

// A client that was anywhere else, at any other tick, and is then given state and tick.
TEST(a_state_is_all_it_takes_to_go_on)
{
    for (uint64_t seed = 0; seed < 4 && test_is_passing(); seed++) {
        Pair pair;
        pair_open(&pair, test_seed() + 100 + seed, 60);
        Rng rng = rng_make(test_seed() + seed, 9);
        for (uint32_t i = 0; i < 150 && test_is_passing(); i++) {
            const uint32_t ticks = 1 + rng_below(&rng, 30);
            for (uint32_t t = 0; t < ticks && pair_step(&pair); t++) {
            }
            // Astray: other inputs, and further on than the server.
            const uint32_t astray = 1 + rng_below(&rng, 20);
            for (uint32_t t = 0; t < astray; t++) {
                const SimInput input = {.move_x = 1, .buttons = rng_below(&rng, 2)};
                sim_set_input(pair.client, pair.on_client, &input);
                sim_step(pair.client);
            }
            const CharacterState state = character_state(pair.server, pair.on_server);
            sim_set_tick(pair.client, sim_tick(pair.server));
            uint8_t bytes[128];
            ByteWriter writer = byte_writer(bytes, sizeof bytes);
            character_state_write(&state, &writer);
            ByteReader reader = byte_reader(bytes, writer.at);
            CharacterState read;
            CHECK_OK(character_state_read(&reader, &read));
            CHECK_OK(byte_reader_finish(&reader));
            CHECK_OK(character_state_apply(pair.client, pair.on_client, &read));
        }
        pair_close(&pair);
    }
}

static CharacterState some_state(void)
{
    return (CharacterState){.position = {1, 2, 3},
                            .velocity = {4, -5, 6},
                            .push = {0.5f, 0, 0.25f},
                            .ground_normal = {0, 1, 0},
                            .ground_net_id = 77,
                            .health = 50,
                            .grounded = true,
                            .jump_held = true,
                            .coyote_ticks = 3,
                            .jump_buffer_ticks = 4,
                            .damage_pause_ticks = 5};
}

TEST(bytes_give_the_state_back)
{
    const CharacterState state = some_state();
    uint8_t bytes[128];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    character_state_write(&state, &writer);
    CHECK_OK(writer.status);
    CHECK_INT(writer.at, 57);
    ByteReader reader = byte_reader(bytes, writer.at);
    CharacterState back = {.health = 1};
    CHECK_OK(character_state_read(&reader, &back));
    CHECK_OK(byte_reader_finish(&reader));
    CHECK(vec3_equal(back.position, state.position) && vec3_equal(back.velocity, state.velocity));
    CHECK(vec3_equal(back.push, state.push));
    CHECK(vec3_equal(back.ground_normal, state.ground_normal));
    CHECK(back.ground_net_id == 77 && back.health == 50);
    CHECK(back.grounded && !back.climbing && back.jump_held);
    CHECK_INT(back.coyote_ticks, 3);
    CHECK_INT(back.jump_buffer_ticks, 4);
    CHECK_INT(back.damage_pause_ticks, 5);
    for (size_t cut = 0; cut < writer.at; cut++) {
        reader = byte_reader(bytes, cut);
        back.health = 7;
        CHECK(character_state_read(&reader, &back) != STATUS_OK);
        CHECK(back.health == 7); // untouched
    }
}

TEST(bytes_that_make_no_sense_are_refused)
{
    const CharacterState state = some_state();
    uint8_t good[128];
    ByteWriter writer = byte_writer(good, sizeof good);
    character_state_write(&state, &writer);
    Rng rng = rng_make(test_seed(), 3);
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        uint8_t bytes[128];
        for (size_t b = 0; b < writer.at; b++) {
            bytes[b] = good[b];
        }
        for (uint32_t change = rng_below(&rng, 6); change > 0; change--) {
            const uint32_t at = rng_below(&rng, (uint32_t)writer.at);
            bytes[at] = (uint8_t)rng_below(&rng, 256);
        }
        ByteReader reader = byte_reader(bytes, writer.at);
        CharacterState read;
        if (character_state_read(&reader, &read) != STATUS_OK) {
            refused += 1;
            continue;
        }
        // What is taken can be written again.
        uint8_t again[128];
        ByteWriter second = byte_writer(again, sizeof again);
        character_state_write(&read, &second);
        CHECK(second.at <= writer.at);
    }
    CHECK(refused > 1000);
}

TEST(a_state_that_makes_no_sense_is_not_applied)
{
    RideWorld world;
    ride_open(&world, 60);
    Sim *sim = ride_sim(&world, false, 0);
    const Handle handle = spawn(sim, vec3(0, 1, 3));
    const CharacterState before = character_state(sim, handle);
    CharacterState bad = before;
    bad.health = 1000;
    CHECK_INT(character_state_apply(sim, handle, &bad), STATUS_RANGE);
    bad = before;
    bad.push = vec3(3, 0, 0);
    CHECK_INT(character_state_apply(sim, handle, &bad), STATUS_RANGE);
    bad = before;
    bad.position.y = __builtin_nanf("");
    CHECK_INT(character_state_apply(sim, handle, &bad), STATUS_RANGE);
    bad = before;
    bad.velocity.x = __builtin_inff();
    CHECK_INT(character_state_apply(sim, handle, &bad), STATUS_RANGE);
    CHECK_INT(character_state_apply(sim, HANDLE_NONE, &before), STATUS_NOT_FOUND);
    CHECK_INT(character_state_apply(sim, sim_find(sim, RIDE_MOVER_FIRST), &before),
              STATUS_NOT_FOUND);
    const CharacterState after = character_state(sim, handle);
    CHECK_INT(character_state_hash(&after), character_state_hash(&before));
    sim_destroy(&world.heap, sim);
    ride_close(&world);
}

TEST(the_hash_is_of_what_both_sides_know)
{
    const CharacterState state = some_state();
    const uint32_t hash = character_state_hash(&state);
    CHECK(hash != 0);
    CharacterState other = state;
    other.push = VEC3_ZERO;
    other.health = 12;
    other.ground_net_id = 3;
    other.damage_pause_ticks = 0;
    CHECK(character_state_hash(&other) == hash);
    const CharacterState base = state;
#define DIFFERS(change)                              \
    do {                                             \
        other = base;                                \
        change;                                      \
        CHECK(character_state_hash(&other) != hash); \
    } while (0)
    DIFFERS(other.position.x += 0.001f);
    DIFFERS(other.velocity.z += 0.001f);
    DIFFERS(other.grounded = false);
    DIFFERS(other.climbing = true);
    DIFFERS(other.jump_held = false);
    DIFFERS(other.coyote_ticks = 2);
    DIFFERS(other.jump_buffer_ticks = 2);
    DIFFERS(other.health = 0);
#undef DIFFERS
}

// Server and clients in one process: messages both ways, calls with replies, limits of rate, size
// and shape, message loss by a seed, chat, what clients get to know, and the store with its
// operations.
#include "core/script/trial/loopback.h"
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

#include <stdio.h>
#include <string.h>

enum { CRATE_SCENE = 1 };

static bool same(Text a, const char *b)
{
    return a.bytes == strlen(b) && memcmp(a.data, b, a.bytes) == 0;
}

// A side without scripts: keeps what it is given.
typedef struct Seen {
    ScriptEvent events[600];
    char names[600][72];
    uint8_t payloads[600][8];
    uint32_t event_count;
    uint32_t event_max; // refuses after so many; 0: never
    uint64_t answer_id;
    bool answer_ok;
    uint8_t answer[256];
    size_t answer_bytes;
    uint32_t answer_count;
} Seen;

static Status see_event(void *user, const ScriptEvent *event)
{
    Seen *seen = user;
    if (seen->event_count == 600 ||
        (seen->event_max != 0 && seen->event_count >= seen->event_max)) {
        return STATUS_LIMIT;
    }
    const uint32_t at = seen->event_count++;
    seen->events[at] = *event;
    if (event->name.bytes > 0) {
        memcpy(seen->names[at], event->name.data, event->name.bytes);
    }
    seen->names[at][event->name.bytes] = 0;
    if (event->payload_bytes <= 8 && event->payload_bytes > 0) {
        memcpy(seen->payloads[at], event->payload, event->payload_bytes);
    }
    return STATUS_OK;
}

static Status see_answer(void *user, uint64_t request_id, bool ok, const uint8_t *bytes,
                         size_t count)
{
    Seen *seen = user;
    seen->answer_id = request_id;
    seen->answer_ok = ok;
    seen->answer_bytes = count < sizeof seen->answer ? count : sizeof seen->answer;
    memcpy(seen->answer, bytes, seen->answer_bytes);
    seen->answer_count += 1;
    return STATUS_OK;
}

static ScriptPort port_of(Seen *seen)
{
    return (ScriptPort){.user = seen, .event = see_event, .complete = see_answer};
}

typedef struct World {
    WalkWorld walk;
    Authority *authority;
    View *views[2];
    Loopback *loopback;
    ScriptWorld *server;
    uint32_t heard;
} World;

// One world at a time; the sides are large.
static Seen server_seen;
static Seen client_seen[2];
static Prefab prefabs[1];

static void hear(void *user, uint64_t player_id, const Effect *sound)
{
    World *world = user;
    CHECK(player_id == 1 || player_id == 2);
    CHECK_INT(sound->type, EFFECT_SOUND);
    world->heard += 1;
}

static Status play(ScriptWorld *world, const char *name, uint64_t player_id)
{
    ScriptSound sound = {.name = text_from(name), .player_id = player_id, .volume = 1, .pitch = 1};
    return world->methods->sound(world, &sound);
}

static void open_world(World *world, LoopbackConfig config)
{
    memset(&server_seen, 0, sizeof server_seen);
    memset(client_seen, 0, sizeof client_seen);
    *world = (World){0};
    const PartDesc part = walk_box(vec3(4, 0, 4), vec3(6, 2, 6));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &part;
    desc.part_count = 1;
    world->walk = walk_world_open(&desc);
    world->walk.heap.bytes_max = 1u << 30;
    prefabs[0] = (Prefab){.name = {"Crate", 5},
                          .kind = PREFAB_PART,
                          .part = walk_box(vec3(-1, -1, -1), vec3(1, 1, 1))};
    AuthorityConfig authority = authority_config_default();
    authority.sim = world->walk.sim;
    authority.prefabs = (PrefabTable){prefabs, 1};
    CHECK_OK(authority_create(&world->walk.heap, &authority, &world->authority));
    world->server = authority_world(world->authority);
    config.authority = world->authority;
    config.server = port_of(&server_seen);
    config.sound = hear;
    config.sound_user = world;
    CHECK_OK(loopback_create(&world->walk.heap, &config, &world->loopback));
    for (uint32_t i = 0; i < 2; i++) {
        ViewConfig view = view_config_default();
        view.sim = world->walk.sim;
        view.local_player = i + 1;
        view.prefabs = authority.prefabs;
        CHECK_OK(view_create(&world->walk.heap, &view, &world->views[i]));
        CHECK_OK(authority_player_join(world->authority, i + 1, text_from(i == 0 ? "one" : "two")));
        CHECK_OK(loopback_join(world->loopback, i + 1, world->views[i], port_of(&client_seen[i])));
    }
    heap_freeze(&world->walk.heap);
}

static void close_world(World *world)
{
    heap_thaw(&world->walk.heap);
    loopback_destroy(&world->walk.heap, world->loopback);
    for (uint32_t i = 0; i < 2; i++) {
        view_destroy(&world->walk.heap, world->views[i]);
    }
    authority_destroy(&world->walk.heap, world->authority);
    walk_world_close(&world->walk);
}

static void step(World *world, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sim_step(world->walk.sim);
        for (uint32_t v = 0; v < 2; v++) {
            view_step(world->views[v]);
        }
        loopback_step(world->loopback, 1000);
    }
}

static uint32_t count_of(const Seen *seen, ScriptEventType type)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < seen->event_count; i++) {
        count += seen->events[i].type == type;
    }
    return count;
}

static void forget(void)
{
    server_seen.event_count = 0;
    client_seen[0].event_count = 0;
    client_seen[1].event_count = 0;
}

static const uint8_t one_true[] = {6, 1, 2}; // a list of one: true

static ScriptMessage message_of(const char *name)
{
    return (ScriptMessage){
        .name = text_from(name), .payload = one_true, .payload_bytes = 3, .reliable = true};
}

static Status send(ScriptWorld *world, ScriptMessage message)
{
    return world->methods->send(world, &message);
}

TEST(events_go_both_ways)
{
    World w;
    open_world(&w, loopback_config_default());
    step(&w, 1);
    CHECK_INT(count_of(&server_seen, SCRIPT_EVENT_PLAYER_ADDED), 2);
    CHECK_INT(count_of(&client_seen[1], SCRIPT_EVENT_PLAYER_ADDED), 2);
    forget();
    ScriptMessage message = message_of("hit");
    message.player_id = 77; // not trusted
    CHECK_OK(send(view_world(w.views[1]), message));
    CHECK_OK(send(w.server, message_of("all")));
    message = message_of("you");
    message.player_id = 1;
    CHECK_OK(send(w.server, message));
    step(&w, 1);
    REQUIRE(server_seen.event_count == 1);
    CHECK_INT(server_seen.events[0].type, SCRIPT_EVENT_MESSAGE);
    CHECK_INT(server_seen.events[0].player_id, 2);
    CHECK_TEXT(server_seen.names[0], "hit");
    CHECK_BYTES(server_seen.payloads[0], one_true, 3);
    CHECK_INT(client_seen[0].event_count, 2);
    CHECK_TEXT(client_seen[0].names[0], "all");
    CHECK_TEXT(client_seen[0].names[1], "you");
    CHECK_INT(client_seen[1].event_count, 1);
    CHECK_INT(loopback_counters(w.loopback).messages_carried, 4);
    step(&w, 3); // each once
    CHECK_INT(server_seen.event_count, 1);
    // Somebody who plays without a client of this process.
    CHECK_OK(authority_player_join(w.authority, 3, text_from("three")));
    message.player_id = 3;
    CHECK_OK(send(w.server, message));
    step(&w, 1);
    CHECK_INT(loopback_counters(w.loopback).messages_unsent, 1);
    close_world(&w);
}

TEST(calls_get_their_answers)
{
    World w;
    open_world(&w, loopback_config_default());
    step(&w, 1);
    forget();
    ScriptMessage call = message_of("price");
    call.invoke_id = 41;
    CHECK_OK(send(view_world(w.views[0]), call));
    CHECK_OK(send(view_world(w.views[1]), call)); // ids of two clients may be the same
    step(&w, 1);
    REQUIRE(server_seen.event_count == 2);
    CHECK_INT(server_seen.events[0].invoke_id, 41);
    CHECK_INT(server_seen.events[1].player_id, 2);
    ScriptMessage answer = {.player_id = 2,
                            .name = text_from("answer"),
                            .payload = one_true,
                            .payload_bytes = 3,
                            .invoke_id = 41};
    CHECK_OK(send(w.server, answer));
    step(&w, 1);
    CHECK_INT(client_seen[0].answer_count, 0);
    CHECK_INT(client_seen[1].answer_count, 1);
    CHECK_INT(client_seen[1].answer_id, 41);
    CHECK(client_seen[1].answer_ok);
    CHECK_BYTES(client_seen[1].answer, one_true, 3);
    CHECK_OK(send(w.server, answer)); // a second time
    step(&w, 1);
    CHECK_INT(client_seen[1].answer_count, 1);
    CHECK_INT(loopback_counters(w.loopback).answers_unasked, 1);
    // An error travels as text.
    answer = (ScriptMessage){.player_id = 1,
                             .payload = (const uint8_t *)"no such price",
                             .payload_bytes = 13,
                             .invoke_id = 41,
                             .name = text_from("refusal")};
    CHECK_OK(send(w.server, answer));
    step(&w, 1);
    CHECK_INT(client_seen[0].answer_count, 1);
    CHECK(!client_seen[0].answer_ok);
    CHECK_BYTES(client_seen[0].answer, "no such price", 13);
    // No answer for ten seconds.
    call.invoke_id = 42;
    CHECK_OK(send(view_world(w.views[0]), call));
    step(&w, 600);
    CHECK_INT(client_seen[0].answer_count, 1);
    step(&w, 1);
    CHECK_INT(client_seen[0].answer_count, 2);
    CHECK_INT(client_seen[0].answer_id, 42);
    CHECK(!client_seen[0].answer_ok);
    CHECK_INT(loopback_counters(w.loopback).invokes_unanswered, 1);
    // Answers that are no values fail too.
    call.invoke_id = 43;
    CHECK_OK(send(view_world(w.views[0]), call));
    step(&w, 1);
    answer = (ScriptMessage){.player_id = 1,
                             .name = text_from("answer"),
                             .payload = one_true,
                             .payload_bytes = 2,
                             .invoke_id = 43};
    CHECK_OK(send(w.server, answer));
    step(&w, 1);
    CHECK_INT(client_seen[0].answer_count, 3);
    CHECK(!client_seen[0].answer_ok);
    close_world(&w);
}

TEST(a_client_is_held_to_its_rate)
{
    World w;
    open_world(&w, loopback_config_default());
    step(&w, 1);
    forget();
    for (uint32_t i = 0; i < 130; i++) {
        CHECK_OK(send(view_world(w.views[0]), message_of("spam")));
    }
    ScriptMessage call = message_of("call");
    call.invoke_id = 9;
    CHECK_OK(send(view_world(w.views[0]), call));
    CHECK_OK(send(view_world(w.views[1]), message_of("calm")));
    step(&w, 1);
    CHECK_INT(count_of(&server_seen, SCRIPT_EVENT_MESSAGE), 101); // and one of the other
    CHECK_INT(loopback_counters(w.loopback).messages_over_rate, 31);
    CHECK_INT(client_seen[0].answer_count, 1); // the call failed and does not hang
    CHECK(!client_seen[0].answer_ok);
    // Four messages a tick: what was saved, then 100 a second.
    step(&w, 60);
    uint32_t through[2];
    for (uint32_t round = 0; round < 2; round++) {
        forget();
        for (uint32_t i = 0; i < 120; i++) {
            for (uint32_t n = 0; n < 4; n++) {
                CHECK_OK(send(view_world(w.views[0]), message_of("spam")));
            }
            step(&w, 1);
        }
        through[round] = count_of(&server_seen, SCRIPT_EVENT_MESSAGE);
    }
    CHECK(through[0] >= 296 && through[0] <= 300);
    CHECK(through[1] >= 199 && through[1] <= 201);
    close_world(&w);
}

TEST(what_is_no_value_is_not_carried)
{
    World w;
    open_world(&w, loopback_config_default());
    step(&w, 1);
    forget();
    static const uint8_t deep[] = {6, 1, 6, 1, 6, 1, 6, 1, 6, 1, 6, 1, 6, 1, 6, 1, 6, 1, 6, 1, 2};
    static const uint8_t truncated[] = {6, 2, 2};
    static const uint8_t unknown[] = {6, 1, 200};
    static const uint8_t text_not_list[] = {5, 1, 'a'};
    const struct {
        const uint8_t *bytes;
        size_t count;
    } bad[] = {{deep, sizeof deep},
               {truncated, sizeof truncated},
               {unknown, sizeof unknown},
               {text_not_list, sizeof text_not_list},
               {one_true, 0}};
    for (uint32_t i = 0; i < 5; i++) {
        ScriptMessage message = message_of("bad");
        message.payload = bad[i].bytes;
        message.payload_bytes = bad[i].count;
        CHECK_OK(send(view_world(w.views[0]), message));
        CHECK_OK(send(w.server, message));
    }
    step(&w, 1);
    CHECK_INT(count_of(&server_seen, SCRIPT_EVENT_MESSAGE), 0);
    CHECK_INT(count_of(&client_seen[0], SCRIPT_EVENT_MESSAGE), 0);
    CHECK_INT(loopback_counters(w.loopback).messages_malformed, 10);
    static uint8_t big[(64 << 10) + 1];
    ScriptMessage message = message_of("big");
    message.payload = big;
    message.payload_bytes = sizeof big;
    CHECK_INT(send(view_world(w.views[0]), message), STATUS_RANGE);
    close_world(&w);
}

static uint32_t lost_with(uint64_t seed, float chance)
{
    World w;
    LoopbackConfig config = loopback_config_default();
    config.seed = seed;
    config.drop_chance = chance;
    open_world(&w, config);
    step(&w, 1);
    forget();
    for (uint32_t i = 0; i < 100; i++) {
        ScriptMessage message = message_of("maybe");
        message.reliable = false;
        CHECK_OK(send(w.server, message));
        CHECK_OK(send(w.server, message_of("surely")));
    }
    step(&w, 1);
    uint32_t surely = 0;
    for (uint32_t i = 0; i < client_seen[0].event_count; i++) {
        surely += strcmp(client_seen[0].names[i], "surely") == 0;
    }
    CHECK_INT(surely, 100);
    const uint32_t lost = (uint32_t)loopback_counters(w.loopback).messages_lost;
    CHECK_INT(client_seen[0].event_count + client_seen[1].event_count, 400 - lost);
    close_world(&w);
    return lost;
}

TEST(unreliable_messages_are_lost_by_the_seed)
{
    CHECK_INT(lost_with(1, 0), 0);
    CHECK_INT(lost_with(1, 1), 200);
    const uint32_t lost = lost_with(1, 0.5f);
    CHECK(lost > 60 && lost < 140);
    CHECK_INT(lost_with(1, 0.5f), lost);
}

TEST(chat_of_the_server_reaches_everybody_and_a_clients_nobody)
{
    World w;
    open_world(&w, loopback_config_default());
    step(&w, 1);
    forget();
    ScriptWorld *one = view_world(w.views[0]);
    CHECK_OK(one->methods->chat(one, text_from("mine"), 0));
    CHECK_OK(authority_player_chat(w.authority, 1, text_from("hello")));
    CHECK_OK(w.server->methods->chat(w.server, text_from("welcome"), 0));
    CHECK_OK(w.server->methods->chat(w.server, text_from("psst"), 2));
    step(&w, 1);
    CHECK_INT(count_of(&server_seen, SCRIPT_EVENT_CHAT), 1);
    CHECK_INT(server_seen.events[0].player_id, 1);
    CHECK_TEXT(server_seen.names[0], "hello");
    CHECK_INT(count_of(&client_seen[0], SCRIPT_EVENT_CHAT), 2);
    CHECK_INT(count_of(&client_seen[1], SCRIPT_EVENT_CHAT), 3);
    CHECK_TEXT(client_seen[1].names[1], "psst");
    CHECK_INT(client_seen[1].events[1].player_id, 0);
    CHECK_OK(play(w.server, "bell", 0));
    CHECK_OK(play(w.server, "bell", 2));
    CHECK_OK(play(one, "click", 0));
    step(&w, 1);
    CHECK_INT(w.heard, 4);
    close_world(&w);
}

TEST(clients_know_what_is_public)
{
    World w;
    open_world(&w, loopback_config_default());
    uint64_t crate = 0;
    CHECK_OK(w.server->methods->spawn(w.server, text_from("Crate"), vec3(0, 3, 0), false, &crate));
    const ScriptValue open = {.type = SCRIPT_NUMBER, .number = 5};
    CHECK_OK(w.server->methods->set_attribute(w.server, crate, text_from("open"), &open, 0));
    CHECK_OK(w.server->methods->set_attribute(w.server, crate, text_from("code"), &open,
                                              ATTRIBUTE_PRIVATE));
    CHECK_OK(w.server->methods->set_tag(w.server, crate, text_from("loot"), true));
    CHECK_OK(w.server->methods->set_tag(w.server, CRATE_SCENE, text_from("loot"), true));
    CHECK_OK(w.server->methods->player_stat(w.server, 1, text_from("Coins"), 3));
    CHECK_OK(w.server->methods->player_team(w.server, 1, text_from("red")));
    CHECK_OK(w.server->methods->player_spawn(w.server, 1, &(Vec3){10, 0, 0}));
    step(&w, 1);
    ScriptWorld *client = view_world(w.views[0]);
    ScriptValue value;
    CHECK_INT(client->methods->find(client, text_from("Crate")), crate);
    CHECK(client->methods->attribute(client, crate, text_from("open"), &value) &&
          value.number == 5);
    CHECK(!client->methods->attribute(client, crate, text_from("code"), &value));
    CHECK(client->methods->has_tag(client, CRATE_SCENE, text_from("loot")));
    // The body of the first player: what is for its owner reaches that client alone.
    ScriptPlayerInfo infos[4];
    CHECK_INT(w.server->methods->players(w.server, infos, 4), 2);
    CHECK_OK(w.server->methods->set_attribute(w.server, infos[0].entity, text_from("ammo"), &open,
                                              ATTRIBUTE_OWNER));
    step(&w, 1);
    CHECK(client->methods->attribute(client, infos[0].entity, text_from("ammo"), &value));
    ScriptWorld *second = view_world(w.views[1]);
    CHECK(!second->methods->attribute(second, infos[0].entity, text_from("ammo"), &value));
    double coins = 0;
    CHECK(client->methods->player_stat_read(client, 1, text_from("Coins"), &coins) && coins == 3);
    ScriptPlayerInfo players[4];
    CHECK_INT(client->methods->players(client, players, 4), 2);
    CHECK(same(players[0].name, "one") && same(players[0].team, "red") && players[0].entity != 0);
    // A local entity is not changed by this, and its end is reported.
    uint64_t local = 0;
    CHECK_OK(client->methods->spawn(client, text_from("Crate"), vec3(0, 9, 0), true, &local));
    const ScriptValue nil = {.type = SCRIPT_NIL};
    CHECK_OK(w.server->methods->set_attribute(w.server, crate, text_from("open"), &nil, 0));
    CHECK_OK(w.server->methods->set_tag(w.server, CRATE_SCENE, text_from("loot"), false));
    step(&w, 1);
    CHECK(!client->methods->attribute(client, crate, text_from("open"), &value));
    CHECK(!client->methods->has_tag(client, CRATE_SCENE, text_from("loot")));
    CHECK(same(client->methods->name(client, local), "Crate"));
    forget();
    CHECK_OK(client->methods->destroy(client, local));
    CHECK_OK(w.server->methods->destroy(w.server, crate));
    step(&w, 2);
    CHECK_INT(client->methods->find(client, text_from("Crate")), 0);
    CHECK_INT(count_of(&client_seen[0], SCRIPT_EVENT_DESTROYED), 2);
    CHECK_INT(count_of(&client_seen[1], SCRIPT_EVENT_DESTROYED), 1);
    CHECK_INT(count_of(&server_seen, SCRIPT_EVENT_DESTROYED), 1);
    CHECK_INT(view_attributes(w.views[1])->attributes.count, 0);
    // A player leaves: first the event, then the removal.
    forget();
    CHECK_OK(authority_player_leave(w.authority, 1));
    loopback_step(w.loopback, 0);
    CHECK_INT(count_of(&client_seen[1], SCRIPT_EVENT_PLAYER_REMOVING), 1);
    ScriptWorld *other = view_world(w.views[1]);
    CHECK_INT(other->methods->players(other, players, 4), 2);
    step(&w, 2);
    CHECK_INT(other->methods->players(other, players, 4), 1);
    loopback_leave(w.loopback, 1);
    loopback_leave(w.loopback, 1);
    CHECK_OK(loopback_join(w.loopback, 1, w.views[0], port_of(&client_seen[0])));
    CHECK_INT(loopback_join(w.loopback, 1, w.views[0], port_of(&client_seen[0])), STATUS_EXISTS);
    CHECK_INT(loopback_join(w.loopback, 0, w.views[0], port_of(&client_seen[0])), STATUS_RANGE);
    close_world(&w);
}

TEST(what_scripts_have_no_room_for_waits_or_is_counted)
{
    World w;
    LoopbackConfig config = loopback_config_default();
    config.client_max = 2;
    open_world(&w, config);
    CHECK_INT(loopback_join(w.loopback, 3, w.views[0], port_of(&client_seen[0])), STATUS_LIMIT);
    server_seen.event_max = 1;
    step(&w, 1);
    CHECK_INT(count_of(&server_seen, SCRIPT_EVENT_PLAYER_ADDED), 1);
    server_seen.event_max = 0;
    step(&w, 1);
    CHECK_INT(count_of(&server_seen, SCRIPT_EVENT_PLAYER_ADDED), 2); // late, but there
    CHECK_INT(count_of(&client_seen[0], SCRIPT_EVENT_PLAYER_ADDED), 2);
    server_seen.event_max = 2;
    ScriptMessage call = message_of("call");
    call.invoke_id = 5;
    CHECK_OK(send(view_world(w.views[0]), call));
    step(&w, 1);
    CHECK_INT(client_seen[0].answer_count, 1);
    CHECK(!client_seen[0].answer_ok);
    CHECK(loopback_counters(w.loopback).events_refused >= 2);
    close_world(&w);
}

// --- the store ----------------------------------------------------------------------------------

static uint64_t next_request = 100;

static StoreRequest ask(StoreOperation operation, const char *key)
{
    return (StoreRequest){.request_id = next_request++,
                          .operation = operation,
                          .store = text_from("scores"),
                          .key = text_from(key)};
}

// Runs a request and waits for its answer, as bytes.
static bool run(World *w, StoreRequest request)
{
    const uint32_t before = server_seen.answer_count;
    CHECK_OK(w->server->methods->store(w->server, &request));
    for (uint32_t i = 0; i < 10 && server_seen.answer_count == before; i++) {
        step(w, 1);
    }
    CHECK_INT(server_seen.answer_count, before + 1);
    CHECK_INT(server_seen.answer_id, request.request_id);
    CHECK(!server_seen.answer_ok ||
          value_check(server_seen.answer, server_seen.answer_bytes) == STATUS_OK);
    return server_seen.answer_ok;
}

static bool answer_is(const uint8_t *bytes, size_t count)
{
    return server_seen.answer_bytes == count && memcmp(server_seen.answer, bytes, count) == 0;
}

#define ANSWER_IS(...) \
    answer_is((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static StoreRequest ask_set(const char *key, const uint8_t *value, size_t bytes)
{
    StoreRequest request = ask(STORE_SET, key);
    request.value = value;
    request.value_bytes = bytes;
    return request;
}

// Integers are zigzag: 2 is 4, -1 is 1.
TEST(the_store_keeps_values_and_versions)
{
    World w;
    open_world(&w, loopback_config_default());
    const uint8_t hello[] = {6, 1, 5, 2, 'h', 'i'};
    CHECK(run(&w, ask(STORE_GET, "a")));
    CHECK(ANSWER_IS(6, 2, 0, 3, 0)); // nil, version 0
    CHECK(run(&w, ask_set("a", hello, sizeof hello)));
    CHECK(ANSWER_IS(6, 0));
    CHECK(run(&w, ask(STORE_GET, "a")));
    CHECK(ANSWER_IS(6, 2, 5, 2, 'h', 'i', 3, 2));
    StoreRequest request = ask_set("a", one_true, 3);
    request.operation = STORE_COMPARE_AND_SET;
    request.version = 7;
    CHECK(run(&w, request));
    CHECK(ANSWER_IS(6, 2, 1, 3, 2)); // false, version 1
    request.request_id = next_request++;
    request.version = 1;
    CHECK(run(&w, request));
    CHECK(ANSWER_IS(6, 2, 2, 3, 4)); // true, version 2
    CHECK(run(&w, ask(STORE_REMOVE, "a")));
    CHECK(ANSWER_IS(6, 1, 2));
    CHECK(run(&w, ask(STORE_REMOVE, "a")));
    CHECK(ANSWER_IS(6, 1, 0));
    CHECK(run(&w, ask(STORE_REMOVE, "never")));
    CHECK(ANSWER_IS(6, 1, 0));
    CHECK(run(&w, ask(STORE_GET, "a")));
    CHECK(ANSWER_IS(6, 2, 0, 3, 6));                   // nil, and a version of its own
    CHECK(run(&w, ask_set("a", hello, sizeof hello))); // versions go on
    CHECK(run(&w, ask(STORE_GET, "a")));
    CHECK(ANSWER_IS(6, 2, 5, 2, 'h', 'i', 3, 8));
    CHECK(run(&w, ask(STORE_VERSIONS, "a")));
    CHECK_BYTES(server_seen.answer, ((const uint8_t[]){6,   1,   6, 4, 7, 3,   5,   4,   'k', 'e',
                                                       'p', 't', 2, 5, 4, 't', 'i', 'm', 'e', 3}),
                20);
    request = ask(STORE_GET_VERSION, "a");
    request.version = 2;
    CHECK(run(&w, request));
    CHECK(ANSWER_IS(6, 1, 2)); // true
    request.request_id = next_request++;
    request.version = 3; // when it was removed
    CHECK(run(&w, request));
    CHECK(ANSWER_IS(6, 1, 0));
    CHECK(run(&w, ask(STORE_VERSIONS, "never")));
    CHECK(ANSWER_IS(6, 1, 6, 0));
    char key[130];
    memset(key, 'k', sizeof key);
    request = ask_set("x", one_true, 3);
    request.key = (Text){key, 128};
    CHECK(run(&w, request));
    request.key = (Text){key, 129};
    CHECK_INT(w.server->methods->store(w.server, &request), STATUS_RANGE);
    // A new key can be set on the condition that it is new.
    request = ask_set("new", one_true, 3);
    request.operation = STORE_COMPARE_AND_SET;
    CHECK(run(&w, request));
    CHECK(ANSWER_IS(6, 2, 2, 3, 2));
    close_world(&w);
}

TEST(the_store_counts_and_sorts)
{
    World w;
    open_world(&w, loopback_config_default());
    StoreRequest request = ask(STORE_INCREMENT, "n");
    request.number = 2;
    CHECK(run(&w, request));
    CHECK(ANSWER_IS(6, 1, 3, 4));
    request.request_id = next_request++;
    request.number = -3;
    CHECK(run(&w, request));
    CHECK(ANSWER_IS(6, 1, 3, 1)); // -1
    request.request_id = next_request++;
    request.number = 0.5;
    CHECK(!run(&w, request));
    request.request_id = next_request++;
    request.number = 1e300;
    CHECK(!run(&w, request));
    CHECK(run(&w, ask_set("t", one_true, 3)));
    request = ask(STORE_INCREMENT, "t");
    request.number = 1;
    CHECK(!run(&w, request)); // true is no number

    const char *keys[] = {"c", "a", "b", "d"};
    const double values[] = {5, 5, 9, -2};
    for (uint32_t i = 0; i < 4; i++) {
        request = ask(STORE_INCREMENT, keys[i]);
        request.ordered = true;
        request.number = values[i];
        CHECK(run(&w, request));
    }
    request = ask(STORE_SORTED, "");
    request.ordered = true;
    request.number = 3;
    CHECK(run(&w, request));
    CHECK(ANSWER_IS(6, 1, 6, 3, //
                    7, 2, 5, 3, 'k', 'e', 'y', 5, 1, 'b', 5, 5, 'v', 'a', 'l', 'u', 'e', 3, 18, 7,
                    2, 5, 3, 'k', 'e', 'y', 5, 1, 'c', 5, 5, 'v', 'a', 'l', 'u', 'e', 3, 10, 7, 2,
                    5, 3, 'k', 'e', 'y', 5, 1, 'a', 5, 5, 'v', 'a', 'l', 'u', 'e', 3, 10));
    request.request_id = next_request++;
    request.ascending = true;
    request.number = 1;
    CHECK(run(&w, request));
    CHECK(ANSWER_IS(6, 1, 6, 1, 7, 2, 5, 3, 'k', 'e', 'y', 5, 1, 'd', 5, 5, 'v', 'a', 'l', 'u', 'e',
                    3, 3));
    request.request_id = next_request++;
    request.number = 0;
    CHECK(!run(&w, request));
    request.request_id = next_request++;
    request.number = 101;
    CHECK(!run(&w, request));
    request.request_id = next_request++;
    request.number = 5;
    request.ordered = false;
    CHECK(!run(&w, request));
    request = ask_set("x", one_true, 3);
    request.ordered = true;
    CHECK(!run(&w, request)); // integers only
    // The same names in the plain store are other keys.
    CHECK(run(&w, ask(STORE_GET, "d")));
    CHECK(ANSWER_IS(6, 2, 0, 3, 0));
    close_world(&w);
}

TEST(the_store_has_caps_that_scripts_see)
{
    World w;
    LoopbackConfig config = loopback_config_default();
    config.store = (MemoryStoreConfig){.key_max = 3, .bytes_max = 64, .old_bytes_max = 64};
    config.store_ticks = 5;
    config.store_answer_max = 4;
    open_world(&w, config);
    uint8_t wide[42] = {6, 1, 5, 38};
    memset(wide + 4, 'x', 38);
    CHECK(run(&w, ask_set("a", wide, 42)));
    CHECK(!run(&w, ask_set("b", wide, 42))); // bytes; and its key is not taken
    CHECK(run(&w, ask_set("b", one_true, 3)));
    CHECK(run(&w, ask_set("c", one_true, 3)));
    CHECK(!run(&w, ask_set("d", one_true, 3))); // keys
    CHECK(run(&w, ask(STORE_REMOVE, "a")));
    CHECK(run(&w, ask_set("d", wide, 42))); // the place of a, after moving together
    CHECK(run(&w, ask(STORE_GET, "b")));
    CHECK(ANSWER_IS(6, 2, 2, 3, 2));
    CHECK(!run(&w, ask_set("b", (const uint8_t[]){6, 1, 0}, 3))); // nil
    CHECK(!run(&w, ask_set("b", (const uint8_t[]){6, 2, 2, 2}, 4)));
    CHECK(!run(&w, ask_set("b", (const uint8_t[]){6, 1, 99}, 3)));
    CHECK(!run(&w, ask_set("b", one_true, 2)));
    CHECK(!run(&w, (StoreRequest){.request_id = next_request++,
                                  .operation = (StoreOperation)55,
                                  .store = text_from("scores"),
                                  .key = text_from("b")}));
    static uint8_t huge[VALUE_BYTES_MAX] = {6, 1, 5, 0xf8, 0xff, 3}; // a text of 65,528 bytes
    memset(huge + 6, 'y', sizeof huge - 6);
    CHECK(!run(&w, ask_set("b", huge, 6 + 65528)));
    // The delay is what was asked for, and too many at once fail at once.
    const uint32_t before = server_seen.answer_count;
    for (uint32_t i = 0; i < 5; i++) {
        const StoreRequest request = ask(STORE_GET, "b");
        CHECK_OK(w.server->methods->store(w.server, &request));
    }
    step(&w, 1);
    CHECK_INT(server_seen.answer_count, before + 1);
    CHECK(!server_seen.answer_ok);
    step(&w, 4);
    CHECK_INT(server_seen.answer_count, before + 1);
    step(&w, 1);
    CHECK_INT(server_seen.answer_count, before + 5);
    CHECK_INT(loopback_counters(w.loopback).store_refused, 1);
    close_world(&w);
}

TEST(creation_fails_clean)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld walk = walk_world_open(&desc);
    AuthorityConfig authority = authority_config_default();
    authority.sim = walk.sim;
    Authority *made = NULL;
    CHECK_OK(authority_create(&walk.heap, &authority, &made));
    LoopbackConfig config = loopback_config_default();
    config.authority = made;
    config.server = port_of(&server_seen);
    Loopback *loopback = NULL;
    const uint64_t before = walk.heap.bytes_now;
    for (uint32_t room = 0; room < 8; room++) { // up to what the first block takes and beyond
        walk.heap.bytes_max = before + room * (600u << 10);
        const Status status = loopback_create(&walk.heap, &config, &loopback);
        CHECK_INT(status, STATUS_LIMIT);
        CHECK_INT(walk.heap.bytes_now, before);
    }
    walk.heap.bytes_max = 1u << 30;
    CHECK_OK(loopback_create(&walk.heap, &config, &loopback));
    loopback_destroy(&walk.heap, loopback);
    loopback_destroy(&walk.heap, NULL);
    authority_destroy(&walk.heap, made);
    walk_world_close(&walk);
}

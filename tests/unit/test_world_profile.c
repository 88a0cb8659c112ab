// Characters of an account, and chat.
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

static bool save(ActClient *client, const char *id, const char *name, uint32_t body)
{
    const WireProfile profile = {.character_id = act_text(id),
                                 .name = act_text(name),
                                 .body = body,
                                 .colour_skin = 0x123456};
    const MessageProfileSave command = {.profiles = &profile, .profiles_count = 1};
    act_world_tick(&act, 40); // two in a second
    return act_world_ask(&act, client, MESSAGE_PROFILE_SAVE, &command);
}

static bool choose(ActClient *client, const char *id)
{
    const MessageProfileSelect command = {.character_id = act_text(id)};
    act_world_tick(&act, 40);
    return act_world_ask(&act, client, MESSAGE_PROFILE_SELECT, &command);
}

static const MessageProfiles *list(ActClient *client)
{
    const MessageProfileList command = {0};
    act_world_tick(&act, 40);
    CHECK(act_world_ask(&act, client, MESSAGE_PROFILE_LIST, &command));
    return act_client_last(client, MESSAGE_PROFILES);
}

static bool is(Text text, const char *want)
{
    return text_equal(text, act_text(want));
}

TEST(a_new_player_has_a_default_character)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    const MessageProfiles *profiles = list(a);
    REQUIRE(profiles != NULL);
    CHECK_INT(profiles->profiles_count, 1);
    CHECK(is(profiles->active, "default"));
    CHECK(is(profiles->profiles[0].name, "ann"));
    close();
}

TEST(characters_are_made_chosen_and_deleted)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    CHECK(save(a, "knight", "Sir Ann", 3));
    CHECK(choose(a, "knight"));
    act_world_tick(&act, 6);
    const MessagePlayerJoined *seen = act_client_last(b, MESSAGE_PLAYER_JOINED);
    REQUIRE(seen != NULL);
    CHECK(is(seen->name, "Sir Ann"));
    CHECK_INT(seen->body, 3);
    CHECK_INT(seen->colour_skin, 0x123456);
    CHECK_INT(a->counts[MESSAGE_DURABLE], 2);
    CHECK(save(a, "knight", "Dame Ann", 4)); // changes, does not add
    act_world_tick(&act, 6);
    seen = act_client_last(b, MESSAGE_PLAYER_JOINED);
    CHECK(is(seen->name, "Dame Ann"));
    const MessageProfiles *profiles = list(a);
    CHECK_INT(profiles->profiles_count, 2);
    CHECK(is(profiles->active, "knight"));

    const MessageProfileDelete gone = {.character_id = act_text("knight")};
    act_world_tick(&act, 40);
    CHECK(act_world_ask(&act, a, MESSAGE_PROFILE_DELETE, &gone));
    act_world_tick(&act, 6);
    seen = act_client_last(b, MESSAGE_PLAYER_JOINED);
    CHECK(is(seen->name, "ann"));
    const MessageProfileDelete stays = {.character_id = act_text("default")};
    act_world_tick(&act, 40);
    CHECK(!act_world_ask(&act, a, MESSAGE_PROFILE_DELETE, &stays));
    CHECK_TEXT(act_client_code(a), "denied");
    CHECK(save(a, "mage", "Ann", 1));
    CHECK(choose(a, "mage"));
    CHECK(!choose(a, "nobody")); // repaired
    profiles = list(a);
    CHECK(is(profiles->active, "default"));
    close();
}

// The name of a pupil is the school's: neither what is stored nor what is saved now takes its
// place.
TEST(a_fixed_name_stays_whatever_the_characters_are_called)
{
    open();
    ActClient *a = act_world_join(&act, ACT_PUPIL, "Pupil 12345");
    ActClient *b = act_world_join(&act, 8, "bob");
    CHECK(save(a, "knight", "Sir Ann", 3));
    CHECK(choose(a, "knight"));
    act_world_tick(&act, 6);
    const MessagePlayerJoined *seen = act_client_last(b, MESSAGE_PLAYER_JOINED);
    REQUIRE(seen != NULL);
    CHECK(is(seen->name, "Pupil 12345"));
    CHECK_INT(seen->body, 3);
    close();
}

// In development a player may come in without an identity; then nothing is stored either.
TEST(nobody_has_no_characters_to_keep)
{
    open();
    act.world->config.development = true;
    ActClient *a = &act.clients[0];
    a->connection = 900;
    merge_reset(&a->merge, 60);
    CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_CONNECT, .connection = 900}));
    const MessageHandshake hello = {.version = 2, .schema = PROTOCOL_SCHEMA};
    act_world_send(&act, a, MESSAGE_HANDSHAKE, &hello);
    act_world_tick(&act, 4);
    CHECK_INT(a->counts[MESSAGE_WELCOME], 1);
    CHECK(!save(a, "knight", "Sir Bo", 1));
    CHECK_TEXT(act_client_code(a), "denied");
    CHECK(!choose(a, "default"));
    CHECK_TEXT(act_client_code(a), "denied");
    const MessageProfileDelete gone = {.character_id = act_text("knight")};
    act_world_tick(&act, 40);
    CHECK(!act_world_ask(&act, a, MESSAGE_PROFILE_DELETE, &gone));
    CHECK_TEXT(act_client_code(a), "denied");
    CHECK_INT(list(a)->profiles_count, 1);
    CHECK_INT(a->counts[MESSAGE_DURABLE], 0);
    // Under a playerId there is somebody to keep them for.
    ActClient *b = &act.clients[1];
    b->connection = 901;
    merge_reset(&b->merge, 60);
    CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_CONNECT, .connection = 901}));
    const MessageHandshake bo = {
        .version = 2, .schema = PROTOCOL_SCHEMA, .player_id = act_text("bo")};
    act_world_send(&act, b, MESSAGE_HANDSHAKE, &bo);
    act_world_tick(&act, 4);
    CHECK(save(b, "knight", "Sir Bo", 1));
    act_world_tick(&act, 40);
    CHECK_INT(b->counts[MESSAGE_DURABLE], 1);
    close();
}

TEST(bad_characters_are_refused)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    CHECK(!save(a, "", "x", 0));
    CHECK(!save(a, "a b", "x", 0));
    CHECK(!save(a, "ok", "", 0));
    CHECK(!save(a, "ok", "  ", 0));
    CHECK(!save(a, "ok", "a\nb", 0));
    CHECK(!save(a, "ok", "a\xc2\x85", 0));
    for (uint32_t i = 1; i < PROFILES_MAX; i++) {
        const char id[] = {'c', (char)('a' + (int)i), 0};
        CHECK(save(a, id, "many", 0));
    }
    CHECK(!save(a, "more", "x", 0));
    CHECK_TEXT(act_client_code(a), "limit");
    CHECK(save(a, "default", "other", 0));
    close();
}

TEST(characters_survive_leaving_and_coming_back)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    CHECK(save(a, "knight", "Sir Ann", 3));
    CHECK(choose(a, "knight"));
    const MessageLeave leave = {0};
    act_world_send(&act, a, MESSAGE_LEAVE, &leave);
    a->silent = true;
    act_world_tick(&act, 10);
    a->connection = 0;
    ActClient *again = act_world_join(&act, 7, "ann");
    const MessageProfiles *profiles = list(again);
    CHECK_INT(profiles->profiles_count, 2);
    CHECK(is(profiles->active, "knight"));
    close();
}

TEST(chat_is_text_and_no_more)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    const MessageChatSay hello = {.text = act_text("  hel\x1b[1mlo \xc2\x85 you\n ")};
    CHECK(act_world_ask(&act, a, MESSAGE_CHAT_SAY, &hello));
    act_world_tick(&act, 6);
    const MessageChatSaid *said = act_client_last(b, MESSAGE_CHAT_SAID);
    REQUIRE(said != NULL);
    CHECK(is(said->text, "hel[1mlo  you"));
    CHECK(is(said->name, "ann"));
    const MessageChatSay nothing = {.text = act_text(" \t\n ")};
    CHECK(!act_world_ask(&act, a, MESSAGE_CHAT_SAY, &nothing));
    CHECK_TEXT(act_client_code(a), "range");
    const MessageChatSay again = {.text = act_text("again")};
    for (uint32_t i = 0; i < 8; i++) {
        act_world_send(&act, a, MESSAGE_CHAT_SAY, &again);
    }
    act_world_tick(&act, 6);
    CHECK_INT(b->counts[MESSAGE_CHAT_SAID], 4); // five in five seconds, one of them empty
    CHECK_TEXT(act_client_code(a), "limit");
    close();
}

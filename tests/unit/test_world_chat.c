// Chat: rules of the world and of each player, phrases, words, people whom others block, evidence
// and reports; and that all of it is the same in a replay.
#include "tests/unit/act_world.h"

#include <stdio.h>
#include <stdlib.h>
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

static Status order_of(uint64_t connection, const char *name, const char *text)
{
    return act_world_enter(&act, &(Entry){.type = ENTRY_ADMIN,
                                          .connection = connection,
                                          .name = name,
                                          .name_bytes = (uint32_t)strlen(name),
                                          .bytes = (const uint8_t *)text,
                                          .byte_count = strlen(text)});
}

static Status order(const char *name, const char *text)
{
    return order_of(0, name, text);
}

// True if it was said.
static bool say(ActClient *client, const char *text)
{
    const MessageChatSay command = {.text = act_text(text)};
    act_world_tick(&act, 70); // one a second
    const bool said = act_world_ask(&act, client, MESSAGE_CHAT_SAY, &command);
    act_world_tick(&act, 6);
    return said;
}

static bool hears(const ActClient *client, const char *text)
{
    const MessageChatSaid *said = act_client_last(client, MESSAGE_CHAT_SAID);
    return said != NULL && text_equal(said->text, act_text(text));
}

TEST(the_stricter_rule_of_world_and_player_holds)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    const uint64_t before = world_hash(act.world);
    CHECK_OK(order("phrases", "Hello!\nYes\n"));
    CHECK_OK(order("chat", "0 1"));
    CHECK(world_hash(act.world) != before);
    CHECK(!say(a, "what I want"));
    CHECK_TEXT(act_client_code(a), "chat_restricted");
    CHECK(!say(a, "Hello! and more"));
    CHECK_INT(b->counts[MESSAGE_CHAT_SAID], 0);
    CHECK(say(a, "Hello!") && hears(b, "Hello!"));
    CHECK(say(a, "Yes") && hears(b, "Yes"));
    CHECK_OK(order("chat", "7 2"));
    CHECK(!say(a, "Hello!"));
    CHECK_TEXT(act_client_code(a), "chat_restricted");
    CHECK(say(b, "Yes"));
    CHECK_OK(order("chat", "0 0"));
    CHECK(!say(a, "free?") && say(b, "free"));
    CHECK_OK(order("chat", "7 0"));
    CHECK(say(a, "free too"));
    close();
}

TEST(orders_that_make_no_sense_change_nothing)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    const uint64_t before = world_hash(act.world);
    CHECK_INT(order("chat", "7 3"), STATUS_RANGE);
    CHECK_INT(order("chat", "0 9"), STATUS_RANGE);
    CHECK_INT(order("chat", "7"), STATUS_MALFORMED);
    CHECK_INT(order("chat", "7 1 x"), STATUS_MALFORMED);
    CHECK_INT(order("chat", "9 1"), STATUS_NOT_FOUND);
    CHECK_INT(order("blocks", "x"), STATUS_MALFORMED);
    CHECK_INT(order("blocks", "7 a"), STATUS_MALFORMED);
    CHECK_INT(order("blocks", "9 8"), STATUS_NOT_FOUND);
    CHECK_INT(order("words", "a"), STATUS_MALFORMED);
    CHECK_INT(order("phrases", "\xff"), STATUS_MALFORMED);
    static char many[8 * (BLOCKS_PER_ACCOUNT_MAX + 2)];
    size_t bytes = (size_t)snprintf(many, sizeof many, "7");
    for (uint32_t i = 0; i <= BLOCKS_PER_ACCOUNT_MAX; i++) {
        bytes += (size_t)snprintf(many + bytes, sizeof many - bytes, " %u", 100 + i);
    }
    CHECK_INT(order("blocks", many), STATUS_LIMIT);
    act_world_tick(&act, 1);
    CHECK(say(a, "still here"));
    (void)before;
    close();
}

TEST(whoever_blocks_somebody_does_not_hear_them_and_others_do)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    CHECK_OK(order("blocks", "7 9 8"));
    ActClient *c = act_world_join(&act, 9, "cid"); // comes later
    CHECK(say(c, "hi"));
    CHECK(hears(b, "hi") && hears(c, "hi"));
    CHECK_INT(a->counts[MESSAGE_CHAT_SAID], 0);
    CHECK(say(b, "me too"));
    CHECK_INT(a->counts[MESSAGE_CHAT_SAID], 0);
    CHECK(say(a, "alone") && hears(b, "alone") && hears(c, "alone") && hears(a, "alone"));
    CHECK_OK(order("blocks", "7 8"));
    CHECK(say(c, "again") && hears(a, "again"));
    CHECK_OK(order("blocks", "7"));
    CHECK(say(b, "bob again") && hears(a, "bob again"));
    close();
}

TEST(rules_come_before_the_player_and_go_on_with_their_body)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    CHECK_OK(order_of(a->connection, "chat", "7 2"));
    CHECK_OK(order_of(a->connection, "blocks", "7 8"));
    act_world_cut(&act, a);
    a = act_world_join(&act, 7, "ann"); // the body was kept
    CHECK(!say(a, "hello"));
    CHECK(say(b, "hello"));
    CHECK_INT(a->counts[MESSAGE_CHAT_SAID], 0);
    close();
}

TEST(words_are_masked_and_names_with_them_are_refused)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    CHECK_OK(order("words", "troll\n"));
    CHECK(say(a, "you tr0ll!"));
    CHECK(hears(b, "you *****!"));
    const WireProfile profile = {.character_id = act_text("k"), .name = act_text("A Troll")};
    const MessageProfileSave command = {.profiles = &profile, .profiles_count = 1};
    act_world_tick(&act, 40);
    CHECK(!act_world_ask(&act, a, MESSAGE_PROFILE_SAVE, &command));
    CHECK_TEXT(act_client_code(a), "denied");
    CHECK_OK(
        act_world_enter(&act, &(Entry){.type = ENTRY_ADMIN, .name = "words", .name_bytes = 5}));
    CHECK_OK(
        act_world_enter(&act, &(Entry){.type = ENTRY_ADMIN, .name = "phrases", .name_bytes = 7}));
    CHECK(say(a, "troll") && hears(b, "troll"));
    close();
}

static uint32_t commands_of(CommandType type, Command *last)
{
    uint32_t count, found = 0;
    const Command *commands = world_commands(act.world, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (commands[i].type == type) {
            *last = commands[i];
            found += 1;
        }
    }
    return found;
}

// One tick without an owner who takes the commands.
static void tick_alone(void)
{
    act.unix_ms += 16;
    CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_TICK, .number = act.unix_ms}));
}

TEST(what_is_said_and_reported_goes_to_the_owner)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    Command last = {0};
    CHECK_OK(order("words", "troll\n"));
    act_world_send(&act, b, MESSAGE_CHAT_SAY, &(MessageChatSay){.text = act_text("you troll")});
    tick_alone();
    CHECK_INT(commands_of(COMMAND_HEARD, &last), 1);
    CHECK(last.account == 8 && last.heard == HEARD_SAID);
    CHECK(last.byte_count == 9 && memcmp(last.bytes, "you troll", 9) == 0); // as it was written
    const MessageReport report = {
        .player = 8, .reason = act_text("abuse"), .text = act_text("calls\nme names")};
    act_world_send(&act, a, MESSAGE_REPORT, &report);
    tick_alone();
    REQUIRE(commands_of(COMMAND_REPORT, &last) == 1);
    CHECK(last.account == 7 && last.other == 8);
    CHECK(last.byte_count == 20 && memcmp(last.bytes, "abuse\ncalls me names", 20) == 0);
    act_world_tick(&act, 120);
    const MessageReport nobody = {.player = 99, .reason = act_text("abuse")};
    CHECK(!act_world_ask(&act, a, MESSAGE_REPORT, &nobody));
    CHECK_TEXT(act_client_code(a), "not_found");
    const MessageReport odd = {.player = 8, .reason = act_text("envy")};
    CHECK(!act_world_ask(&act, a, MESSAGE_REPORT, &odd));
    CHECK_TEXT(act_client_code(a), "range");
    const MessageReport oneself = {.player = 7, .reason = act_text("spam")};
    CHECK(!act_world_ask(&act, a, MESSAGE_REPORT, &oneself));
    CHECK(act_world_ask(&act, a, MESSAGE_REPORT, &(MessageReport){.reason = act_text("other")}));
    close();
}

// An owner that never takes commands, as a replay, comes to the same state: lines of evidence give
// way to what somebody waits for.
TEST(a_replay_has_no_owner_and_comes_to_the_same_hash)
{
    open();
    act.journal = malloc(ACT_JOURNAL_BYTES);
    REQUIRE(act.journal != NULL);
    act.entries = byte_writer(act.journal, ACT_JOURNAL_BYTES);
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    CHECK_OK(order("words", "troll\n*bad*\n"));
    CHECK_OK(order("phrases", "Yes\n"));
    CHECK_OK(order("blocks", "8 7"));
    for (uint32_t i = 0; i < 30; i++) {
        CHECK(say(i % 2 == 0 ? a : b, "so bad"));
    }
    CHECK_OK(order("chat", "7 1"));
    CHECK(!say(a, "not a phrase"));
    const MessageReport report = {.player = 8, .reason = act_text("spam")};
    CHECK(act_world_ask(&act, a, MESSAGE_REPORT, &report));
    const uint64_t hash = world_hash(act.world);
    Heap heap = heap_make(1u << 30);
    World *again = NULL;
    CHECK_OK(world_create(&heap, &act.config, &again));
    ByteReader reader = byte_reader(act.journal, act.entries.at);
    while (byte_reader_left(&reader) > 0) {
        Entry entry;
        REQUIRE(entry_read(&reader, &entry) == STATUS_OK);
        status_ignore(world_enter(again, &entry)); // some of them are refused, as before
    }
    CHECK(world_hash(again) == hash);
    world_destroy(&heap, again);
    close();
}

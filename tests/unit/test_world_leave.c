// "leave": the owner says that a player has joined another world of the place. The body goes at
// once, scripts hear of it, and once they have had a few ticks to store something the owner is told
// (COMMAND_LEFT), always, because somebody waits for it.
#include "core/world/save/save_inside.h"
#include "tests/unit/act_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOON 12 // ticks in which the answer has to come

static ActStore store;
static ActWorld act;

static const char SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}}]}\n";

static const char KEEPER[] = "local store = DataStore.GetDataStore('coins')\n"
                             "Players.PlayerRemoving:Connect(function(player)\n"
                             "  store:SetAsync('of ' .. player.Name, 5)\n"
                             "end)\n";

static void open(void)
{
    memset(&store, 0, sizeof store);
    act_world_open(&act, &store, TEST_PLACE_FLAT, SCENE, true);
    CHECK_OK(act_world_script(&act, "ServerScriptService/Keeper", KEEPER));
}

static void finish(void)
{
    act_world_close(&act);
    act_store_free(&store);
}

static Status leave(const char *account)
{
    return act_world_enter(&act, &(Entry){.type = ENTRY_ADMIN,
                                          .name = "leave",
                                          .name_bytes = 5,
                                          .bytes = (const uint8_t *)account,
                                          .byte_count = strlen(account)});
}

TEST(the_body_goes_at_once_and_the_answer_follows_what_scripts_store)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    (void)act_world_join(&act, 8, "bob");
    act_world_tick(&act, 4);
    CHECK_INT(world_stats(act.world).players, 2);
    a->silent = true; // nothing is heard of a connection that is being closed
    CHECK_OK(leave("7"));
    CHECK_INT(world_stats(act.world).players, 1);
    CHECK(act.left_count == 0 && act.store_count == 0);
    for (uint32_t i = 0; i < SOON && act.left_count == 0; i++) {
        act_world_tick(&act, 1);
    }
    CHECK_INT(act.left_count, 1);
    CHECK_INT(act.left_account, 7);
    CHECK_TEXT(act.store_key, "of ann");
    CHECK_INT(act.stores_before_left, 1); // PlayerRemoving ran before the answer
    CHECK_TEXT(act_client_code(a), "replaced");
    act_world_tick(&act, SOON);
    CHECK_INT(act.left_count, 1); // once
    CHECK_INT(world_stats(act.world).players, 1);
    finish();
}

// A connection that was cut leaves a body behind; nobody comes back for it here.
TEST(a_kept_body_goes_too)
{
    open();
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_cut(&act, a);
    act_world_tick(&act, 4);
    CHECK_INT(world_stats(act.world).players, 1);
    CHECK_OK(leave("7"));
    CHECK_INT(world_stats(act.world).players, 0);
    act_world_tick(&act, SOON);
    CHECK_INT(act.left_count, 1);
    CHECK_INT(act.stores_before_left, 1);
    CHECK_INT(world_stats(act.world).sessions, 0);
    // And they can come again.
    (void)act_world_join(&act, 7, "ann");
    CHECK_INT(world_stats(act.world).players, 1);
    finish();
}

TEST(who_is_not_here_is_answered_too)
{
    open();
    CHECK_INT(leave("99"), STATUS_NOT_FOUND);
    act_world_tick(&act, SOON);
    CHECK_INT(act.left_count, 1);
    CHECK_INT(act.left_account, 99);
    finish();
}

// An empty world may be paused: the answer must not wait for somebody to come.
TEST(it_wakes_a_paused_world)
{
    open();
    for (uint32_t i = 0; i < 700 && !world_is_paused(act.world); i++) {
        act_world_tick(&act, 1);
    }
    CHECK(world_is_paused(act.world));
    CHECK_INT(leave("7"), STATUS_NOT_FOUND);
    CHECK(!world_is_paused(act.world));
    act_world_tick(&act, SOON);
    CHECK_INT(act.left_count, 1);
    finish();
}

TEST(what_is_no_account_is_refused)
{
    static const char *const bad[] = {"",
                                      "0",
                                      "-7",
                                      "7 ",
                                      " 7",
                                      "seven",
                                      "7a",
                                      "18446744073709551616",
                                      "99999999999999999999999"};
    open();
    (void)act_world_join(&act, 7, "ann");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(leave(bad[i]), STATUS_MALFORMED);
    }
    act_world_tick(&act, SOON);
    CHECK_INT(act.left_count, 0);
    CHECK_INT(world_stats(act.world).players, 1);
    CHECK_INT(leave("18446744073709551615"), STATUS_NOT_FOUND); // the largest there is
    act_world_tick(&act, SOON);
    CHECK_INT(act.left_count, 1);
    CHECK(act.left_account == UINT64_MAX);
    finish();
}

// More at once than are kept: those are refused, all others are answered.
TEST(a_crowd_is_bounded)
{
    open();
    char account[16];
    uint32_t taken = 0;
    for (uint32_t i = 1; i <= LEAVING_MAX + 50; i++) {
        snprintf(account, sizeof account, "%u", i);
        const Status status = leave(account);
        CHECK(status == STATUS_NOT_FOUND || status == STATUS_LIMIT);
        taken += status == STATUS_NOT_FOUND;
    }
    CHECK_INT(taken, LEAVING_MAX);
    act_world_tick(&act, 4 * SOON);
    CHECK_INT(act.left_count, LEAVING_MAX);
    CHECK_INT(leave("5000"), STATUS_NOT_FOUND);
    finish();
}

TEST(a_replay_is_exact)
{
    static ActStore other_store;
    static ActWorld other;
    open();
    act.journal = malloc(ACT_JOURNAL_BYTES);
    act.entries = byte_writer(act.journal, ACT_JOURNAL_BYTES);
    for (uint32_t round = 0; round < 3; round++) {
        ActClient *a = act_world_join(&act, 7, "ann");
        (void)act_world_join(&act, 8 + round, "bob");
        a->silent = true;
        CHECK_OK(leave("7"));
        CHECK_INT(leave("7x"), STATUS_MALFORMED);
        act_world_tick(&act, SOON);
        act_world_cut(&act, a);
    }
    CHECK_INT(act.left_count, 3);
    CHECK_OK(act.entries.status);
    memset(&other_store, 0, sizeof other_store);
    act_world_open(&other, &other_store, TEST_PLACE_FLAT, SCENE, true);
    CHECK_OK(act_world_script(&other, "ServerScriptService/Keeper", KEEPER));
    ByteReader reader = byte_reader(act.journal, act.entries.at);
    while (byte_reader_left(&reader) > 0) {
        Entry entry;
        REQUIRE(entry_read(&reader, &entry) == STATUS_OK);
        status_ignore(world_enter(other.world, &entry));
    }
    CHECK(world_hash(act.world) == world_hash(other.world));
    act_world_close(&other);
    act_store_free(&other_store);
    finish();
}

// A world without anybody in it pauses: its owner enters no ticks. Nothing is lost, nothing jumps,
// whoever comes wakes it, and a replay of the same entries comes to the same state.
#include "core/world/save/save_inside.h"
#include "tests/unit/act_world.h"

#include <stdlib.h>
#include <string.h>

#define TEN_SECONDS 600 // in ticks
#define HOUR_MS     3600000u

static ActStore store;
static ActWorld act;

static const char SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-256, -4, -256], \"max\": [255, -1, 255], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}},\n"
    "  {\"id\": 2, \"name\": \"Vault\", \"transform\": {\"position\": [9, 0.5, 9]},"
    "   \"shape\": {\"size\": [1, 1, 1]}}]}\n";

// A script that fails fails the test.
static void on_log(void *user, const LogEvent *event)
{
    (void)user;
    if (strcmp(event->area, "script") == 0) {
        test_fail(__FILE__, __LINE__, "%s", event->text);
    }
}

static void open_world(bool scripts)
{
    static LogSink log = {.write = on_log, .level_min = LOG_WARN};
    act_world_open_options(&act, &store, TEST_PLACE_FLAT, SCENE,
                           &(ActOptions){.scripts = scripts, .log = &log});
}

static void finish(void)
{
    act_world_close(&act);
    act_store_free(&store);
    memset(&store, 0, sizeof store);
}

// As the world's process does it. How many ticks that took.
static uint32_t tick_until_paused(uint32_t ticks_max)
{
    uint32_t ticks = 0;
    while (!world_is_paused(act.world) && ticks < ticks_max) {
        act_world_tick(&act, 1);
        ticks += 1;
    }
    CHECK(world_is_paused(act.world));
    return ticks;
}

static uint64_t vault(void)
{
    ScriptWorld *scripts = authority_world(act.world->authority);
    return scripts->methods->find(scripts, (Text){"Vault", 5});
}

static double vault_number(const char *name)
{
    ScriptWorld *scripts = authority_world(act.world->authority);
    ScriptValue value;
    return scripts->methods->attribute(scripts, vault(), (Text){name, strlen(name)}, &value)
               ? value.number
               : -1;
}

static void keep_number(const char *name, double number)
{
    ScriptWorld *scripts = authority_world(act.world->authority);
    const ScriptValue value = {.type = SCRIPT_NUMBER, .number = number};
    CHECK_OK(scripts->methods->set_attribute(scripts, vault(), (Text){name, strlen(name)}, &value,
                                             ATTRIBUTE_PERSISTENT));
}

static bool row_is_stored(RowType type)
{
    for (uint32_t i = 0; i < store.count; i++) {
        if (store.rows[i].row.type == type) {
            return true;
        }
    }
    return false;
}

// --- when ---------------------------------------------------------------------------------------

TEST(ten_seconds_after_the_last_one_left)
{
    open_world(false);
    CHECK(!world_is_paused(act.world)); // its first tick has not come
    CHECK_INT(tick_until_paused(TEN_SECONDS + 2), TEN_SECONDS);
    ActClient *a = act_world_join(&act, 7, "ann");
    CHECK(!world_is_paused(act.world));
    act_world_tick(&act, 2 * TEN_SECONDS);
    CHECK(!world_is_paused(act.world));
    const MessageLeave leave = {0};
    act_world_send(&act, a, MESSAGE_LEAVE, &leave);
    act_world_tick(&act, 1);
    act_world_cut(&act, a);
    CHECK_INT(tick_until_paused(TEN_SECONDS + 8), TEN_SECONDS);
    finish();
}

TEST(a_dropped_body_keeps_it_awake_until_it_is_removed)
{
    open_world(false);
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_cut(&act, a);
    const uint32_t kept = world_ticks(&act.world->clock, BODY_KEPT_MS);
    act_world_tick(&act, kept);
    CHECK_INT(world_stats(act.world).players, 1);
    CHECK(!world_is_paused(act.world));
    (void)tick_until_paused(TEN_SECONDS + 8);
    CHECK_INT(world_stats(act.world).players, 0);
    finish();
}

TEST(who_comes_wakes_it_with_the_first_entry)
{
    open_world(false);
    (void)tick_until_paused(TEN_SECONDS + 2);
    const uint64_t tick = world_stats(act.world).tick;
    CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_CONNECT, .connection = 77}));
    CHECK(!world_is_paused(act.world));
    CHECK_INT(world_stats(act.world).tick, tick);
    // Who says nothing is sent away, and it pauses again.
    act_world_tick(&act, world_ticks(&act.world->clock, HANDSHAKE_MS) + 2);
    CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_DISCONNECT, .connection = 77}));
    (void)tick_until_paused(TEN_SECONDS + 2);
    finish();
}

TEST(an_operator_and_a_reload_are_acted_on)
{
    open_world(true);
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", "local a = 1"));
    (void)tick_until_paused(TEN_SECONDS + 2);
    CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_ADMIN, .name = "save", .name_bytes = 4}));
    CHECK(!world_is_paused(act.world));
    CHECK_INT(tick_until_paused(TEN_SECONDS + 2), TEN_SECONDS);
    CHECK_OK(act_world_script(&act, "ServerScriptService/A",
                              "World.Find('Vault'):SetAttribute('new', 1)"));
    CHECK(world_is_paused(act.world)); // only staged
    const uint32_t version = act.world->run.manifest_version;
    CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_RELOAD, .number = version + 1}));
    CHECK(!world_is_paused(act.world));
    act_world_tick(&act, 4);
    CHECK_NEAR(vault_number("new"), 1, 0);
    (void)tick_until_paused(TEN_SECONDS + 2);
    finish();
}

// --- time ---------------------------------------------------------------------------------------

TEST(timers_do_not_jump_and_the_wall_clock_does)
{
    open_world(true);
    CHECK_OK(act_world_script(&act, "ServerScriptService/Clock",
                              "local vault, seconds, updates = World.Find('Vault'), 0, 0\n"
                              "task.spawn(function()\n"
                              "  while true do\n"
                              "    task.wait(1)\n"
                              "    seconds = seconds + 1\n"
                              "    vault:SetAttribute('seconds', seconds)\n"
                              "    vault:SetAttribute('unix', os.time())\n"
                              "  end\n"
                              "end)\n"
                              "function onUpdate(self, dt)\n"
                              "  updates = updates + dt\n"
                              "  vault:SetAttribute('updates', updates)\n"
                              "end\n"));
    (void)tick_until_paused(TEN_SECONDS + 2);
    const double seconds = vault_number("seconds");
    const double updates = vault_number("updates");
    const double unix_seconds = vault_number("unix");
    CHECK(seconds >= 8);
    act.unix_ms += HOUR_MS;
    ActClient *a = act_world_join(&act, 7, "ann"); // 8 ticks
    act_world_tick(&act, 120 - 8);
    CHECK_NEAR(vault_number("seconds"), seconds + 2, 1);
    CHECK_NEAR(vault_number("updates"), updates + 2, 0.1);
    CHECK(vault_number("unix") >= unix_seconds + HOUR_MS / 1000);
    CHECK(a->counts[MESSAGE_WELCOME] == 1);
    finish();
}

// --- what is stored -----------------------------------------------------------------------------

TEST(what_changed_last_is_stored_before_it_sleeps)
{
    open_world(false);
    act_world_tick(&act, TEN_SECONDS - 1);
    CHECK(!world_is_paused(act.world) && !row_is_stored(ROW_ATTRIBUTE));
    // The next checkpoint of attributes would be due after the pause has begun.
    act.world->saves->checkpoint_tick = act.world->clock.tick + 20;
    keep_number("gold", 12);
    act_world_tick(&act, 1);
    CHECK(world_is_paused(act.world));
    CHECK(row_is_stored(ROW_ATTRIBUTE));
    finish();
}

// The owner is slow: as many commands as may be are without an answer when the pause begins.
TEST(answers_bring_out_what_no_command_had_room_for)
{
    open_world(false);
    act.hold = true;
    for (uint32_t i = 0; i < SAVES_OUT_MAX; i++) {
        keep_number("gold", i);
        act_world_tick(&act, 40);
    }
    keep_number("gold", 99);
    (void)tick_until_paused(TEN_SECONDS + 2);
    const uint64_t tick = world_stats(act.world).tick;
    Saves *saves = act.world->saves;
    CHECK_INT(saves->save_seq - saves->save_acked, SAVES_OUT_MAX);
    CHECK(saves->queue_head < saves->queue_tail);
    act.hold = false;
    store.seq = SAVES_OUT_MAX; // those were not kept
    for (uint64_t seq = 1; seq <= SAVES_OUT_MAX; seq++) {
        CHECK_OK(act_world_enter(
            &act, &(Entry){.type = ENTRY_STORED, .flags = ENTRY_OK, .number = 2 * seq}));
    }
    act_world_answer(&act);
    CHECK(saves->queue_head == saves->queue_tail);
    CHECK_INT(saves->save_acked, saves->save_seq);
    CHECK(row_is_stored(ROW_ATTRIBUTE));
    CHECK_INT(world_stats(act.world).tick, tick);
    finish();
}

TEST(a_refused_save_stops_a_paused_world)
{
    open_world(false);
    act.hold = true;
    (void)tick_until_paused(TEN_SECONDS + 2);
    CHECK(act.held > 0);
    CHECK_OK(act_world_enter(
        &act, &(Entry){.type = ENTRY_STORED, .number = 2 * act.world->saves->save_seq}));
    act_world_answer(&act);
    CHECK_INT(act.stops, 1);
    finish();
}

TEST(an_answer_of_the_store_waits_for_the_next_tick)
{
    open_world(true);
    CHECK_OK(act_world_script(&act, "ServerScriptService/Data",
                              "task.wait(9.9)\n"
                              "local value = DataStore.GetDataStore('scores'):GetAsync('ann')\n"
                              "World.Find('Vault'):SetAttribute('gold', value)\n"));
    (void)tick_until_paused(TEN_SECONDS + 2);
    REQUIRE(act.store_count == 1);
    const uint8_t answer[] = {6, 2, 3, 84, 3, 2}; // the list 42, version 1
    CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_STORED,
                                            .flags = ENTRY_OK,
                                            .number = act.store_request,
                                            .bytes = answer,
                                            .byte_count = sizeof answer}));
    CHECK(world_is_paused(act.world));
    CHECK_NEAR(vault_number("gold"), -1, 0);
    (void)act_world_join(&act, 7, "ann");
    CHECK_NEAR(vault_number("gold"), 42, 0);
    finish();
}

// --- replay -------------------------------------------------------------------------------------

TEST(a_replay_of_a_world_that_paused_is_exact)
{
    static ActStore other_store;
    static ActWorld other;
    open_world(false);
    act.journal = malloc(ACT_JOURNAL_BYTES);
    act.entries = byte_writer(act.journal, ACT_JOURNAL_BYTES);
    for (uint32_t round = 0; round < 3; round++) {
        (void)tick_until_paused(TEN_SECONDS + 2);
        CHECK_OK(
            act_world_enter(&act, &(Entry){.type = ENTRY_ADMIN, .name = "save", .name_bytes = 4}));
        (void)tick_until_paused(TEN_SECONDS + 2);
        act.unix_ms += HOUR_MS;
        ActClient *a = act_world_join(&act, 7 + round, "ann");
        const MessageLeave leave = {0};
        act_world_send(&act, a, MESSAGE_LEAVE, &leave);
        act_world_tick(&act, 1);
        act_world_cut(&act, a);
    }
    CHECK_OK(act.entries.status);
    memset(&other_store, 0, sizeof other_store);
    act_world_open(&other, &other_store, TEST_PLACE_FLAT, SCENE, false);
    ByteReader reader = byte_reader(act.journal, act.entries.at);
    while (byte_reader_left(&reader) > 0) {
        Entry entry;
        REQUIRE(entry_read(&reader, &entry) == STATUS_OK);
        status_ignore(world_enter(other.world, &entry));
    }
    CHECK(world_hash(act.world) == world_hash(other.world));
    CHECK(world_stats(act.world).tick < 6 * (TEN_SECONDS + 16)); // no tick of those three hours
    act_world_close(&other);
    finish();
}

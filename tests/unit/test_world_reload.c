// Scripts and parameters that change in a running world: what starts again, what is kept, what its
// owner is told, and that a journal gives the same world. The heap is frozen in every tick.
#include "core/script/runtime/value.h"
#include "tests/unit/act_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIAL_TICKS (RELOAD_TRIAL_MS * 60 / 1000)

static ActStore store;
static ActWorld act;

static const char SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}},\n"
    "  {\"id\": 2, \"name\": \"Vault\", \"transform\": {\"position\": [9, 0.5, 9]},"
    "   \"scriptPath\": \"Workspace/Vault.lua\", \"parameters\": {\"gold\": 5},"
    "   \"shape\": {\"size\": [1, 1, 1]}}]}\n";
#define VAULT_ID 1

static void open(void)
{
    memset(&store, 0, sizeof store);
    memset(&act, 0, sizeof act);
    act_world_open(&act, &store, TEST_PLACE_FLAT, SCENE, true);
}

static void close(void)
{
    act_world_close(&act);
    act_store_free(&store);
}

static double number(const char *name)
{
    ScriptWorld *world = authority_world(act.world->authority);
    ScriptValue value;
    return world->methods->attribute(world, VAULT_ID, act_text(name), &value) ? value.number : -1;
}

static Status reload(void)
{
    return act_world_enter(
        &act, &(Entry){.type = ENTRY_RELOAD, .number = act.world->run.manifest_version + 1ull});
}

static void check_told(uint32_t switched, uint32_t good, uint32_t failed)
{
    CHECK_INT(act.reload_counts[RELOAD_SWITCHED], switched);
    CHECK_INT(act.reload_counts[RELOAD_GOOD], good);
    CHECK_INT(act.reload_counts[RELOAD_FAILED], failed);
}

static void check_reason(const char *part)
{
    if (strstr(act.reload_reason, part) == NULL) {
        test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", part, act.reload_reason);
    }
}

#define COUNTER(name, step)                          \
    "local vault = World.Find('Vault')\n"            \
    "count = 0\n"                                    \
    "function onReload(old) count = old.count end\n" \
    "function onUpdate() count = count + " step " vault:SetAttribute('" name "', count) end\n"

TEST(a_set_that_runs_is_good_after_a_while)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "1")));
    CHECK_OK(act_world_script(&act, "ServerScriptService/B", COUNTER("b", "1")));
    act_world_tick(&act, 10);
    CHECK_NEAR(number("a"), 10, 0);
    check_told(0, 0, 0); // a beginning is no reload
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "100")));
    CHECK_OK(reload());
    act_world_tick(&act, 1);
    check_told(1, 0, 0);
    CHECK_INT(act.reload_version, act.world->run.manifest_version);
    CHECK_INT(act.reload_tick, act.world->clock.tick);
    CHECK_NEAR(number("a"), 110, 0); // its state was carried over
    CHECK_NEAR(number("b"), 11, 0);  // and this one has not noticed
    act_world_tick(&act, TRIAL_TICKS - 2);
    check_told(1, 0, 0);
    act_world_tick(&act, 3);
    check_told(1, 1, 0);
    act_world_tick(&act, TRIAL_TICKS);
    check_told(1, 1, 0);
    close();
}

TEST(a_set_whose_scripts_do_not_start_has_failed)
{
    static const struct {
        const char *code, *want;
    } rows[] = {
        {"error('top is broken')", "top is broken"},
        {"function onReload(old) error('reload is broken') end", "reload is broken"},
        {"function onStart() local x = nil + 1 end", "ServerScriptService/A:1:"},
        {"while true do end", "ran for more than"},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open();
        CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "1")));
        act_world_tick(&act, 10);
        CHECK_OK(act_world_script(&act, "ServerScriptService/A", rows[i].code));
        CHECK_OK(reload());
        act_world_tick(&act, 3);
        check_told(1, 0, 1);
        check_reason(rows[i].want);
        CHECK_INT(act.reload_version, act.world->run.manifest_version);
        // The owner sends the set before it, as another reload.
        CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "1")));
        CHECK_OK(reload());
        const double before = number("a");
        act_world_tick(&act, TRIAL_TICKS + 5);
        check_told(2, 1, 1);
        CHECK_NEAR(number("a"), before + TRIAL_TICKS + 5, 0); // with the state of the last that ran
        close();
    }
}

TEST(three_faults_are_too_many_and_two_are_not)
{
    for (int faults = 2; faults <= 3; faults++) {
        char code[256];
        open();
        CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "1")));
        act_world_tick(&act, 10);
        snprintf(code, sizeof code,
                 "local n = 0 function onUpdate() n = n + 1 if n %% 20 == 0 and n <= %d then "
                 "error('oops ' .. n) end end",
                 20 * faults);
        CHECK_OK(act_world_script(&act, "ServerScriptService/A", code));
        CHECK_OK(reload());
        act_world_tick(&act, TRIAL_TICKS + 5);
        check_told(1, faults == 2, faults == 3);
        if (faults == 3) {
            check_reason("oops");
        }
        close();
    }
}

// A top level that waits while its hooks run has started: one fault of it later is one of three.
TEST(a_top_level_that_fails_late_is_one_fault)
{
    static const struct {
        const char *code;
        bool fails;
    } rows[] = {
        {"function onUpdate() end task.wait(0.5) error('late')", false},
        {"task.wait(0.5) error('late') function onUpdate() end", true},
        {"function onUpdate() end while true do task.wait(0.2) task.spawn(error, 'again') end",
         true},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open();
        CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "1")));
        act_world_tick(&act, 10);
        CHECK_OK(act_world_script(&act, "ServerScriptService/A", rows[i].code));
        CHECK_OK(reload());
        act_world_tick(&act, TRIAL_TICKS + 5);
        check_told(1, rows[i].fails ? 0 : 1, rows[i].fails ? 1 : 0);
        close();
    }
}

TEST(faults_of_scripts_that_did_not_change_do_not_count)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "1")));
    CHECK_OK(act_world_script(&act, "ServerScriptService/Old",
                              "local n = 0 function onUpdate() n = n + 1 if n % 30 == 0 then "
                              "error('as ever') end end"));
    act_world_tick(&act, 10);
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "2")));
    CHECK_OK(reload());
    act_world_tick(&act, TRIAL_TICKS + 5);
    check_told(1, 1, 0);
    close();
}

static size_t no_values(uint8_t *out)
{
    out[0] = 6;
    out[1] = 0;
    return 2;
}

static MessageRemoteUp remote(const char *name, const uint8_t *bytes, size_t count,
                              uint64_t invoke_id)
{
    return (MessageRemoteUp){.name = act_text(name),
                             .payload = {bytes, (uint32_t)count},
                             .invoke_id = invoke_id,
                             .generation = act.world->run.manifest_version};
}

// Whoever plays cannot take a creator's new scripts away.
TEST(faults_that_players_cause_do_not_count)
{
    static const char code[] = "Network.OnClientEvent('go', function() error('as you wish') end)";
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", "local x = 1"));
    ActClient *a = act_world_join(&act, 7, "ann");
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", code));
    CHECK_OK(reload());
    act_world_tick(&act, 2);
    for (uint32_t i = 0; i < 6; i++) {
        uint8_t bytes[8];
        const MessageRemoteUp command = remote("go", bytes, no_values(bytes), 0);
        act_world_send(&act, a, MESSAGE_REMOTE_UP, &command);
        act_world_tick(&act, 10);
    }
    act_world_tick(&act, TRIAL_TICKS);
    check_told(1, 1, 0);
    close();
}

// Stopped for its memory, it would stay stopped: the set before it has to come back.
TEST(a_set_that_is_stopped_for_its_memory_has_failed)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "1")));
    act_world_tick(&act, 10);
    CHECK_OK(
        act_world_script(&act, "ServerScriptService/A",
                         "local kept = {}\n"
                         "function onUpdate()\n"
                         "  for i = 1, 64 do kept[#kept + 1] = string.rep('x', 4096) .. #kept end\n"
                         "end\n"));
    CHECK_OK(reload());
    act_world_tick(&act, TRIAL_TICKS - 5);
    check_told(1, 0, 1);
    check_reason("ServerScriptService/A");
    check_reason("it is stopped until it changes");
    close();
}

TEST(what_is_dropped_changes_nothing)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "1")));
    act_world_tick(&act, 10);
    const uint64_t before = world_hash(act.world);
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "100")));
    CHECK_OK(act_world_script(&act, "ServerScriptService/B", COUNTER("b", "1")));
    CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_PARAMETERS,
                                            .number = VAULT_ID,
                                            .bytes = (const uint8_t *)"{}",
                                            .byte_count = 2}));
    CHECK(world_hash(act.world) != before);
    CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_UNSTAGE}));
    CHECK(world_hash(act.world) == before);
    act_world_tick(&act, 10);
    CHECK_NEAR(number("a"), 20, 0);
    check_told(0, 0, 0);
    // The memory is free again, any number of times.
    for (uint32_t i = 0; i < 300; i++) {
        CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "100")));
        CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_UNSTAGE}));
    }
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "100")));
    CHECK_OK(reload());
    CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_UNSTAGE})); // too late: it is complete
    act_world_tick(&act, 1);
    CHECK_NEAR(number("a"), 120, 0);
    close();
}

TEST(what_a_replaced_script_made_ends_with_it)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/A",
                              "local vault, n = World.Find('Vault'), 0\n"
                              "task.spawn(function() while true do task.wait(0.1) n = n + 1 "
                              "vault:SetAttribute('old', n) end end)\n"));
    CHECK_OK(act_world_script(&act, "ServerScriptService/B",
                              "local vault, n = World.Find('Vault'), 0\n"
                              "task.spawn(function() while true do task.wait(0.1) n = n + 1 "
                              "vault:SetAttribute('kept', n) end end)\n"));
    act_world_tick(&act, 60);
    const double old = number("old"), kept = number("kept");
    CHECK(old >= 8 && kept >= 8);
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", "local x = 1"));
    CHECK_OK(reload());
    act_world_tick(&act, 60);
    CHECK_NEAR(number("old"), old, 0);
    CHECK(number("kept") >= kept + 8);
    close();
}

// What a script set at run time stays over a reload: switched off is off, in whatever order the set
// comes, and what was spawned is there once.
TEST(a_reload_keeps_what_was_switched_and_spawned)
{
    open();
    static const char code[] =
        "count = 0\n"
        "function onStart(self) self.Enabled = false self:SetAttribute('starts', 1) end\n"
        "function onReload(old) count = old.count end\n"
        "function onUpdate(self) count = count + 1 self:SetAttribute('updates', count) end\n";
    CHECK_OK(act_world_script(&act, "Workspace/Vault", code));
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "1")));
    act_world_tick(&act, 10);
    const double updates = number("updates");
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(act_world_script(&act, "Workspace/Vault", code));
        CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "2")));
        CHECK_OK(reload());
        act_world_tick(&act, 20);
        CHECK_NEAR(number("updates"), updates, 0);
    }
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", "World.Find('Vault').Enabled = true"));
    CHECK_OK(reload());
    act_world_tick(&act, 10);
    CHECK(number("updates") > updates);
    CHECK_NEAR(number("starts"), 1, 0); // never started again, only reloaded
    close();
}

// The message comes in the same tick in which the scripts change, and was sent to those before.
TEST(a_message_to_the_scripts_before_does_not_reach_those_after)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/A",
                              "Network.OnInvoke('ask', function() return 1 end)"));
    ActClient *a = act_world_join(&act, 7, "ann");
    uint8_t bytes[8];
    const MessageRemoteUp command = remote("ask", bytes, no_values(bytes), 9);
    CHECK_OK(act_world_script(&act, "ServerScriptService/A",
                              "Network.OnInvoke('ask', function()\n"
                              "  World.Find('Vault'):SetAttribute('heard', 1) return 2 end)"));
    CHECK_OK(reload());
    act_world_send(&act, a, MESSAGE_REMOTE_UP, &command);
    act_world_tick(&act, 10);
    CHECK_NEAR(number("heard"), -1, 0);
    const MessageRemoteDown *down = act_client_last(a, MESSAGE_REMOTE_DOWN);
    REQUIRE(down != NULL);
    CHECK(text_equal(down->name, act_text("refusal")));
    CHECK_INT(down->invoke_id, 9);
    const MessageRemoteUp again = remote("ask", bytes, no_values(bytes), 10);
    act_world_send(&act, a, MESSAGE_REMOTE_UP, &again);
    act_world_tick(&act, 10);
    CHECK_NEAR(number("heard"), 1, 0);
    close();
}

static Status set_parameters(const char *json)
{
    return act_world_enter(&act, &(Entry){.type = ENTRY_PARAMETERS,
                                          .number = VAULT_ID,
                                          .bytes = (const uint8_t *)json,
                                          .byte_count = strlen(json)});
}

TEST(parameters_change_in_place)
{
    open();
    CHECK_OK(act_world_script(&act, "Workspace/Vault",
                              "local starts = 0\n"
                              "function onStart(self) starts = starts + 1\n"
                              "  self:SetAttribute('starts', starts) end\n"
                              "function onUpdate(self) self:SetAttribute('gold', self.params.gold "
                              "or 0) end\n"));
    act_world_tick(&act, 3);
    CHECK_NEAR(number("gold"), 5, 0);
    CHECK_OK(set_parameters("{\"gold\": 70}"));
    CHECK_INT(set_parameters("{\"gold\": 71}"), STATUS_EXISTS);
    act_world_tick(&act, 3);
    CHECK_NEAR(number("gold"), 5, 0); // only staged
    CHECK_OK(reload());
    act_world_tick(&act, 3);
    CHECK_NEAR(number("gold"), 70, 0);
    CHECK_NEAR(number("starts"), 1, 0); // it has not started again
    CHECK_OK(set_parameters("{\"gold\": "));
    CHECK_OK(reload());
    act_world_tick(&act, 3);
    CHECK_NEAR(number("gold"), 70, 0); // what cannot be read changes nothing
    CHECK_OK(set_parameters(""));
    CHECK_OK(reload());
    act_world_tick(&act, 3);
    CHECK_NEAR(number("gold"), 0, 0);
    CHECK_INT(act_world_enter(&act, &(Entry){.type = ENTRY_PARAMETERS, .number = 2}),
              STATUS_NOT_FOUND);
    CHECK_INT(act_world_enter(
                  &act, &(Entry){.type = ENTRY_PARAMETERS, .name = "Nothing", .name_bytes = 7}),
              STATUS_NOT_FOUND);
    close();
}

static const MessageScriptParameters *told(ActClient *client, uint32_t count)
{
    CHECK_INT(client->counts[MESSAGE_SCRIPT_PARAMETERS], count);
    return act_client_last(client, MESSAGE_SCRIPT_PARAMETERS);
}

// Those who play and those who come later, before the manifest; not of scripts that they do not
// have.
TEST(clients_are_told_of_parameters)
{
    open();
    CHECK_OK(act_world_script(&act, "Workspace/Vault", "function onUpdate(self) end"));
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 3);
    (void)told(a, 0);
    CHECK_OK(set_parameters("{\"gold\": 70}"));
    CHECK_OK(reload());
    act_world_tick(&act, 3);
    ActClient *b = act_world_join(&act, 8, "bob");
    act_world_tick(&act, 3);
    ActClient *both[2] = {a, b};
    for (uint32_t i = 0; i < 2; i++) {
        const MessageScriptParameters *message = told(both[i], 1);
        REQUIRE(message != NULL);
        CHECK_INT(message->version, act.world->run.manifest_version);
        CHECK_INT(message->entity_id, VAULT_ID);
        CHECK(text_equal(message->parameters, act_text("{\"gold\": 70}")));
    }
    // Text that clients could not be sent, and more than they are sent.
    CHECK_INT(set_parameters("{\"gold\": \"\xff\"}"), STATUS_MALFORMED);
    // Its script is the server's alone now.
    CHECK_OK(act_world_enter(
        &act, &(Entry){.type = ENTRY_SCRIPT, .name = "Workspace/Vault", .name_bytes = 15}));
    CHECK_OK(reload());
    act_world_tick(&act, 3);
    (void)told(a, 1);
    ActClient *c = act_world_join(&act, 9, "cat");
    act_world_tick(&act, 3);
    (void)told(c, 0);
    close();
}

TEST(a_paused_world_wakes_for_its_new_scripts)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "1")));
    act_world_tick(&act, WORLD_EMPTY_MS * 60 / 1000 + 5);
    CHECK(world_is_paused(act.world));
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "2")));
    CHECK(world_is_paused(act.world));
    CHECK_OK(reload());
    CHECK(!world_is_paused(act.world));
    act_world_tick(&act, TRIAL_TICKS + 5);
    check_told(1, 1, 0);
    close();
}

// --- replay -------------------------------------------------------------------------------------

#define REPLAY_TICKS 200
static uint64_t hashes[REPLAY_TICKS];

static void tick_and_note(uint32_t *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        act_world_tick(&act, 1);
        REQUIRE(*at < REPLAY_TICKS);
        hashes[(*at)++] = world_hash(act.world);
    }
}

TEST(a_journal_with_reloads_gives_the_same_world)
{
    uint32_t ticks = 0;
    open();
    act.journal = malloc(ACT_JOURNAL_BYTES);
    act.entries = byte_writer(act.journal, ACT_JOURNAL_BYTES);
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "1")));
    CHECK_OK(act_world_script(&act, "Workspace/Vault",
                              "function onUpdate(self) self:SetAttribute('gold', self.params.gold) "
                              "end"));
    tick_and_note(&ticks, 20);
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", "error('broken')"));
    CHECK_OK(act_world_enter(&act, &(Entry){.type = ENTRY_UNSTAGE}));
    tick_and_note(&ticks, 5);
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", "error('broken')"));
    CHECK_OK(set_parameters("{\"gold\": 9}"));
    tick_and_note(&ticks, 5);
    CHECK_OK(reload());
    tick_and_note(&ticks, 20);
    CHECK_OK(act_world_script(&act, "ServerScriptService/A", COUNTER("a", "3")));
    CHECK_OK(reload());
    tick_and_note(&ticks, 50);
    CHECK_NEAR(number("gold"), 9, 0);
    CHECK_OK(act.entries.status);

    World *again = NULL;
    Heap heap = heap_make(1u << 30);
    REQUIRE(world_create(&heap, &act.config, &again) == STATUS_OK);
    ByteReader reader = byte_reader(act.journal, act.entries.at);
    uint32_t seen = 0;
    bool is_due = false; // what was answered in a tick belongs to it
    while (byte_reader_left(&reader) > 0) {
        Entry entry;
        REQUIRE(entry_read(&reader, &entry) == STATUS_OK);
        if (is_due && entry.type != ENTRY_STORED) {
            REQUIRE(seen < ticks);
            CHECK(world_hash(again) == hashes[seen]);
            seen += 1;
        }
        is_due = entry.type == ENTRY_TICK || (is_due && entry.type == ENTRY_STORED);
        status_ignore(world_enter(again, &entry));
        world_commands_clear(again);
    }
    CHECK(world_hash(again) == hashes[seen]);
    CHECK_INT(seen + 1, ticks);
    world_destroy(&heap, again);
    close();
}

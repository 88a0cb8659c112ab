// What is counted of remotes, and what the world makes of what clients report about their scripts.
#include "core/base/limits.h"
#include "tests/unit/act_world.h"

#include <stdio.h>
#include <string.h>

static ActStore store;
static ActWorld act;

static const char SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}}]}\n";

static void open(void)
{
    memset(&store, 0, sizeof store);
    act_world_open(&act, &store, TEST_PLACE_FLAT, SCENE, true);
}

static void close(void)
{
    act_world_close(&act);
    act_store_free(&store);
}

// --- remotes ------------------------------------------------------------------------------------

// The list of one text, "hi": 6 bytes.
static const uint8_t HI[] = {6, 1, 5, 2, 'h', 'i'};

static void fire(ActClient *client, const char *name, uint64_t invoke_id)
{
    const MessageRemoteUp command = {.name = act_text(name),
                                     .payload = {HI, sizeof HI},
                                     .invoke_id = invoke_id,
                                     .generation = act.world->run.manifest_version};
    act_world_send(&act, client, MESSAGE_REMOTE_UP, &command);
    act_world_tick(&act, 2);
}

static const RemoteCost *cost_of(const char *name)
{
    const RemoteCosts *costs = script_remotes(world_scripts(act.world));
    return &costs->rows[remote_cost_find(costs, act_text(name))];
}

TEST(remotes_are_counted_by_name)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/Echo",
                              "Network.OnClientEvent('say', function(player, text)\n"
                              "  Network.Broadcast('said', text)\n"
                              "end)\n"
                              "Network.OnInvoke('twice', function(player, text)\n"
                              "  return text .. text\n"
                              "end)\n"));
    ActClient *a = act_world_join(&act, 7, "ann");
    (void)act_world_join(&act, 8, "bob");
    act_world_tick(&act, 8);
    fire(a, "say", 0);
    fire(a, "say", 0);
    fire(a, "twice", 5);
    act_world_tick(&act, 8);
    CHECK_INT(cost_of("say")->up_count, 2);
    CHECK_INT(cost_of("say")->up_bytes, 2 * (3 + sizeof HI));
    CHECK_INT(cost_of("say")->down_count, 0);
    CHECK_INT(cost_of("said")->down_count, 4); // two messages to two players
    CHECK_INT(cost_of("said")->down_bytes, 4 * (4 + sizeof HI));
    // The answer to a call counts for the name that was called.
    CHECK_INT(cost_of("twice")->up_count, 1);
    CHECK_INT(cost_of("twice")->down_count, 1);
    CHECK_INT(cost_of("twice")->down_bytes, strlen("answer") + 8);
    close();
}

TEST(names_that_clients_invent_have_no_row)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/Echo",
                              "Network.OnClientEvent('say', function() end)\n"));
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 8);
    const uint32_t before = script_remotes(world_scripts(act.world))->count;
    for (uint32_t i = 0; i < 2 * REMOTE_COST_ROWS; i++) {
        char name[32];
        snprintf(name, sizeof name, "invented %u", i);
        fire(a, name, 0);
    }
    fire(a, "say", 0);
    const RemoteCosts *costs = script_remotes(world_scripts(act.world));
    CHECK_INT(costs->count, before);
    CHECK_INT(costs->rows[REMOTE_COST_OTHERS].up_count, 2 * REMOTE_COST_ROWS);
    CHECK_INT(cost_of("say")->up_count, 1);
    close();
}

// --- what clients report ------------------------------------------------------------------------

static MessageScriptCosts report_of(const WireScriptCost *rows, uint32_t count)
{
    return (MessageScriptCosts){
        .version = act.world->run.manifest_version, .costs = rows, .costs_count = count};
}

static const ClientCosts *say(ActClient *client, const MessageScriptCosts *report)
{
    act_world_send(&act, client, MESSAGE_SCRIPT_COSTS, report);
    act_world_tick(&act, 1);
    return world_client_costs(act.world);
}

static void open_with_scripts(void)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/Secret", "local x = 1"));
    CHECK_OK(act_world_script(&act, "StarterGui/Hud", "local x = 1"));
    CHECK_OK(act_world_script(&act, "StarterGui/Map", "local x = 1"));
}

TEST(reports_of_clients_are_added_up)
{
    open_with_scripts();
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    const WireScriptCost rows[] = {
        {.path = act_text("StarterGui/Hud"), .calls = 10, .time_us = 50, .memory_bytes = 700},
        {.path = act_text("StarterGui/Map"), .calls = 1, .faults = 1}};
    MessageScriptCosts report = report_of(rows, 2);
    report.fault_path = act_text("StarterGui/Map");
    report.fault_line = 3;
    report.fault_message = act_text("StarterGui/Map.lua:3: oops\x1b[2J");
    (void)say(a, &report);
    const WireScriptCost other = {
        .path = act_text("StarterGui/Hud"), .calls = 4, .time_us = 5, .memory_bytes = 600};
    report = report_of(&other, 1);
    report.fault_path = act_text("StarterGui/Map");
    report.fault_line = 3;
    const ClientCosts *costs = say(b, &report);
    CHECK_INT(costs->reports, 2);
    CHECK_INT(costs->refused, 0);
    REQUIRE(costs->row_count == 2);
    CHECK_TEXT(costs->rows[0].path, "StarterGui/Hud");
    CHECK_INT(costs->rows[0].reports, 2);
    CHECK_INT(costs->rows[0].calls, 14);
    CHECK_INT(costs->rows[0].time_us, 55);
    CHECK_INT(costs->rows[0].memory_bytes, 700); // the most
    CHECK_INT(costs->rows[1].faults, 1);
    REQUIRE(costs->fault_count == 1);
    CHECK_INT(costs->faults[0].count, 2);
    CHECK_INT(costs->faults[0].line, 3);
    CHECK(strchr(costs->faults[0].message, '\x1b') == NULL);
    close();
}

TEST(clients_that_lie_are_bounded)
{
    open_with_scripts();
    ActClient *a = act_world_join(&act, 7, "ann");
    const WireScriptCost rows[] = {
        {.path = act_text("ServerScriptService/Secret"), .calls = 1}, // no client has it
        {.path = act_text("StarterGui/Invented"), .calls = 1},
        {.path = act_text(""), .calls = 1},
        {.path = act_text("StarterGui/Hud"), .calls = SIM_NET_ID_MAX, .time_us = SIM_NET_ID_MAX}};
    MessageScriptCosts report = report_of(rows, 4);
    report.fault_path = act_text("ServerScriptService/Secret");
    const ClientCosts *costs = say(a, &report);
    CHECK_INT(costs->refused, 3);
    CHECK_INT(costs->row_count, 1);
    CHECK_INT(costs->fault_count, 0);
    CHECK_INT(costs->rows[0].calls, 1000000);
    CHECK_INT(costs->rows[0].time_us, 60000000);
    // Another one too soon, and one about other scripts.
    costs = say(a, &report);
    CHECK_INT(costs->reports, 1);
    CHECK_INT(costs->refused, 4);
    act_world_tick(&act, 60 * CLIENT_COST_REPORT_MS / 1000);
    report.version += 1;
    costs = say(a, &report);
    CHECK_INT(costs->reports, 1);
    report.version -= 1;
    costs = say(a, &report);
    CHECK_INT(costs->reports, 2);
    close();
}

TEST(faults_of_clients_are_bounded)
{
    open_with_scripts();
    ActClient *a = act_world_join(&act, 7, "ann");
    MessageScriptCosts report = report_of(NULL, 0);
    report.fault_path = act_text("StarterGui/Hud");
    for (uint32_t line = 1; line <= 2 * CLIENT_FAULT_ROWS; line++) {
        report.fault_line = line;
        (void)say(a, &report);
        act_world_tick(&act, 60 * CLIENT_COST_REPORT_MS / 1000);
    }
    const ClientCosts *costs = world_client_costs(act.world);
    CHECK_INT(costs->fault_count, CLIENT_FAULT_ROWS);
    CHECK_INT(costs->faults[0].line, CLIENT_FAULT_ROWS + 1); // the oldest went
    CHECK_INT(costs->faults[CLIENT_FAULT_ROWS - 1].line, 2 * CLIENT_FAULT_ROWS);
    close();
}

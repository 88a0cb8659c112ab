// What players do reaches the scripts of the server: jumps, landings, shots, edits of terrain,
// pieces that they build. The script writes down what it hears.
#include "tests/unit/act_world.h"

#include <stdio.h>
#include <string.h>

static ActStore store;
static ActWorld act;
static char heard[4096];

static const char SCRIPT[] =
    "local function hear(player, body)\n"
    "  body.Jumped:Connect(function() print('jumped ' .. player.Name) end)\n"
    "  body.Landed:Connect(function(speed) print('landed ' .. math.floor(speed)) end)\n"
    "  body.Damaged:Connect(function(amount, by)\n"
    "    print(player.Name .. ' lost ' .. math.floor(amount) .. ' by ' .. by.Name) end)\n"
    "  body.Hit:Connect(function(shot, at, normal, shooter)\n"
    "    print(player.Name .. ' was hit by ' .. shooter.Name) end)\n"
    "end\n"
    "function onUpdate()\n"
    "  for _, player in ipairs(Players.GetPlayers()) do\n"
    "    local body = player.Character\n"
    "    if body and not body.known then body.known = true hear(player, body) end\n"
    "  end\n"
    "end\n"
    "Projectile.Hit:Connect(function(shot, other)\n"
    "  print('shot at ' .. (other and other.Name or 'terrain')) end)\n"
    "World.VoxelChanged:Connect(function(at, before, now, player)\n"
    "  print(('voxel %d %d %d from %d to %d by %s'):format(at.X, at.Y, at.Z, before, now,\n"
    "        player and player.Name or 'nobody')) end)\n"
    "World.VoxelsChanged:Connect(function(from, to, kind, player)\n"
    "  print(('voxels %d..%d to %d by %s'):format(from.X, to.X, kind, player.Name)) end)\n"
    "Structure.Placed:Connect(function(piece, player)\n"
    "  print('placed by ' .. player.Name .. ' ' .. tostring(piece.Owner == player)) end)\n"
    "Structure.Removed:Connect(function(piece, reason) print('structure ' .. reason) end)\n";

static void keep(void *user, const LogEvent *event)
{
    (void)user;
    const char *text = strstr(event->text, ": ");
    const size_t used = strlen(heard);
    if (text != NULL) {
        snprintf(heard + used, sizeof heard - used, "%s\n", text + 2);
    }
}

static LogSink sink = {.write = keep};

static void open(void)
{
    memset(&store, 0, sizeof store);
    heard[0] = 0;
    act_world_open_options(&act, &store, TEST_PLACE_FLAT, TEST_PLACE_FLAT_SCENE,
                           &(ActOptions){.scripts = true, .log = &sink});
    CHECK_OK(act_world_script(&act, "ServerScriptService/Ears", SCRIPT));
}

static void close(void)
{
    act_world_close(&act);
    act_store_free(&store);
}

static void expect(const char *want)
{
    CHECK_TEXT(heard, want);
    heard[0] = 0;
}

static void press(ActClient *client, uint32_t button, uint64_t yaw)
{
    client->silent = true;
    const uint64_t tick = act.world->clock.tick + 1;
    const WireInputFrame frame = {
        .seq = (uint32_t)tick, .tick = tick, .yaw = yaw, .buttons = button};
    const MessageInputBatch batch = {.last_snapshot = client->frame,
                                     .view_tick = act.world->clock.tick,
                                     .inputs = &frame,
                                     .inputs_count = 1};
    act_world_send(&act, client, MESSAGE_INPUT_BATCH, &batch);
    act_world_tick(&act, 1);
    client->silent = false;
}

TEST(scripts_hear_what_players_do)
{
    open();
    ActClient *ann = act_world_join(&act, 7, "ann");
    ActClient *bob = act_world_join(&act, 8, "bob");
    act_world_place(&act, ann, vec3(0, 0, 0));
    act_world_place(&act, bob, vec3(10, 0, 0));
    act_world_tick(&act, 40);
    heard[0] = 0; // what they did on arrival
    press(ann, INPUT_JUMP, 0);
    act_world_tick(&act, 3);
    expect("jumped ann\n");
    act_world_tick(&act, 80);
    CHECK(strncmp(heard, "landed ", 7) == 0 && strchr(heard, '\n') == heard + strlen(heard) - 1);
    heard[0] = 0;
    press(ann, INPUT_FIRE, 16384); // a quarter turn: +x
    act_world_tick(&act, 30);
    expect("shot at bob\nbob was hit by ann\nbob lost 25 by ann\n");
    close();
}

TEST(scripts_hear_of_edits_and_pieces_of_players)
{
    open();
    ActClient *ann = act_world_join(&act, 7, "ann");
    act_world_place(&act, ann, vec3(0, 0, 0));
    act_world_tick(&act, 40);
    heard[0] = 0;
    const MessageTerraform dig = {.shape = 0, .min = {-3, -1, -3}, .voxel_kind = 0};
    CHECK(act_world_ask(&act, ann, MESSAGE_TERRAFORM, &dig));
    act_world_tick(&act, 3);
    expect("voxel -3 -1 -3 from 1 to 0 by ann\n");
    CHECK(act_world_ask(&act, ann, MESSAGE_TERRAFORM, &dig)); // nothing changes
    act_world_tick(&act, 3);
    expect("");
    const MessageTerraform box = {
        .shape = 1, .min = {-4, -3, -4}, .max = {1, -2, 1}, .voxel_kind = 0};
    CHECK(act_world_ask(&act, ann, MESSAGE_TERRAFORM, &box));
    act_world_tick(&act, 3);
    expect("voxels -4..1 to 0 by ann\n");
    const MessageBuildPlace place = {.piece = 0, .cell = {4, 0, 2}};
    CHECK(act_world_ask(&act, ann, MESSAGE_BUILD_PLACE, &place));
    const uint64_t piece = ((const MessageAck *)act_client_last(ann, MESSAGE_ACK))->entity_id;
    act_world_tick(&act, 8);
    expect("placed by ann true\n");
    const MessageBuildRemove remove = {.entity_id = piece};
    CHECK(act_world_ask(&act, ann, MESSAGE_BUILD_REMOVE, &remove));
    act_world_tick(&act, 3);
    expect("structure Removed\n");
    CHECK(act_world_ask(&act, ann, MESSAGE_BUILD_PLACE, &place));
    act_world_tick(&act, 80);
    // What comes back from the store is not built anew.
    act_world_close(&act);
    const ActStore stored = store;
    open();
    store = stored;
    store.seq = 0;
    act_world_rows(&act);
    act_world_tick(&act, 3);
    CHECK_INT(sim_count(act.world->sim, ENTITY_STRUCTURE), 1);
    expect("");
    close();
}

// A handler that hurts twice whoever was hurt: without a bound it would double with every tick.
TEST(more_noise_than_there_may_be_leaves_room_for_players)
{
    open();
    ActClient *ann = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 20);
    const Handle body = sim_find(act.world->sim, act_world_session(&act, ann)->entity);
    const uint64_t before = authority_counters(act.world->authority).events_dropped;
    for (uint32_t i = 0; i < 5000; i++) {
        (void)sim_damage(act.world->sim, body, -0.001f, 0);
    }
    CHECK_OK(authority_player_join(act.world->authority, 99, text_from("zoe")));
    authority_collect(act.world->authority);
    uint32_t count = 0;
    const ScriptEvent *events = authority_events(act.world->authority, &count);
    CHECK(count <= SCRIPT_NOISE_MAX + 2);
    CHECK_INT(events[0].type, SCRIPT_EVENT_PLAYER_ADDED);
    CHECK(authority_counters(act.world->authority).events_dropped - before >= 2900);
    close();
}

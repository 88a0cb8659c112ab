// The built-in world: everything that its header names exists and works on both sides, and two such
// worlds run in the same way.
#include "core/script/trial/sample_world.h"
#include "tests/support/test.h"

#include <string.h>

// Without scripts: the sides are tested through their faces.
static SampleWorld *open_world(Heap *heap)
{
    SampleWorldConfig config = sample_world_config_default();
    config.server = false;
    config.client = false;
    SampleWorld *world = NULL;
    CHECK_OK(sample_world_create(heap, &config, &world));
    return world;
}

TEST(what_the_header_names_is_there)
{
    Heap heap = heap_make(1u << 30);
    SampleWorld *world = open_world(&heap);
    heap_freeze(&heap);
    ScriptWorld *server = authority_world(sample_world_authority(world));
    ScriptWorld *client = view_world(sample_world_view(world));
    const char *names[] = {"Door", "Platform", "Zone", "Button", "Wall", "player1"};
    for (uint32_t i = 0; i < 6; i++) {
        const uint64_t net_id = server->methods->find(server, text_from(names[i]));
        CHECK(net_id != 0);
        CHECK_INT(client->methods->find(client, text_from(names[i])), net_id);
    }
    CHECK_INT(server->methods->find(server, text_from("player1")), sample_world_character(world));
    const char *prefabs[] = {"Crate", "Lift", "Coin", "Spark", "Bullet", "Arrow", "Guard"};
    for (uint32_t i = 0; i < 7; i++) {
        uint64_t net_id = 0;
        CHECK_OK(
            server->methods->spawn(server, text_from(prefabs[i]), vec3(20, 3, 20), false, &net_id));
        Text name;
        CHECK(server->methods->prefab(server, i, &name));
        CHECK_BYTES(name.data, prefabs[i], name.bytes);
    }
    uint64_t piece = 0;
    CHECK_OK(server->methods->structure_place(server, 1, (VoxelCoord){-20, 0, -10}, 0, 0, &piece));
    sample_world_step(world, 30);
    uint64_t ids[4];
    CHECK_INT(client->methods->tagged(client, text_from("coin"), ids, 4), 1);
    CHECK(sample_world_scripts(world, SCRIPT_SERVER) == NULL);
    CHECK_INT(sim_tick(sample_world_sim(world)), 30);
    heap_thaw(&heap);
    sample_world_destroy(&heap, world);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(the_player_walks_and_looks)
{
    Heap heap = heap_make(1u << 30);
    SampleWorld *world = open_world(&heap);
    ScriptWorld *client = view_world(sample_world_view(world));
    const SimInput input = {.move_z = 1, .yaw = MATH_PI / 2};
    sample_world_input(world, &input);
    sample_world_step(world, 60);
    ScriptEntityInfo body;
    REQUIRE(client->methods->entity(client, sample_world_character(world), &body));
    CHECK(body.position.x > 3 && body.position.x < 6);
    Vec3 position;
    Vec3 forward;
    REQUIRE(client->methods->camera(client, &position, &forward));
    CHECK_NEAR(forward.x, 1, 1e-5);
    CHECK_NEAR(position.y, 1.62, 0.02);
    CHECK_OK(sample_world_key(world, text_from("Fire"), true));
    CHECK(client->methods->key_is_down(client, text_from("fire")));
    CHECK_OK(sample_world_key(world, text_from("Fire"), false));
    CHECK(!client->methods->key_is_down(client, text_from("fire")));
    CHECK_INT(sample_world_key(world, text_from(""), true), STATUS_RANGE);
    sample_world_destroy(&heap, world);
}

TEST(two_play_alike)
{
    uint64_t hashes[2];
    for (uint32_t i = 0; i < 2; i++) {
        Heap heap = heap_make(1u << 30);
        SampleWorld *world = open_world(&heap);
        const SimInput input = {.move_z = 1, .yaw = 0.3f, .buttons = INPUT_JUMP};
        sample_world_input(world, &input);
        ScriptWorld *server = authority_world(sample_world_authority(world));
        uint64_t guard = 0;
        CHECK_OK(
            server->methods->spawn(server, text_from("Guard"), vec3(10, 0, 10), false, &guard));
        CHECK_OK(server->methods->npc_target(server, guard, sample_world_character(world)));
        sample_world_step(world, 120);
        hashes[i] = sim_hash(sample_world_sim(world));
        sample_world_destroy(&heap, world);
    }
    CHECK(hashes[0] == hashes[1]);
}

TEST(creation_fails_clean_wherever_memory_ends)
{
    Heap measure = heap_make(1u << 30);
    sample_world_destroy(&measure, open_world(&measure));
    SampleWorldConfig config = sample_world_config_default();
    config.server = false;
    config.client = false;
    for (uint64_t room = 0; room < measure.bytes_peak; room += measure.bytes_peak / 16) {
        Heap heap = heap_make(room);
        SampleWorld *world = NULL;
        CHECK_INT(sample_world_create(&heap, &config, &world), STATUS_LIMIT);
        CHECK(world == NULL);
        CHECK_INT(heap.bytes_now, 0);
    }
}

// --- with scripts -------------------------------------------------------------------------------

typedef struct Lines {
    char text[8192];
    size_t bytes;
} Lines;

static void keep_line(void *user, const LogEvent *event)
{
    Lines *lines = user;
    const size_t bytes = strlen(event->text);
    if (lines->bytes + bytes + 2 < sizeof lines->text) {
        memcpy(lines->text + lines->bytes, event->text, bytes);
        lines->bytes += bytes;
        lines->text[lines->bytes++] = '\n';
        lines->text[lines->bytes] = 0;
    }
}

static void add(SampleWorld *world, ScriptSide side, const char *path, const char *code,
                uint64_t entity)
{
    ScriptSystem *system = sample_world_scripts(world, side);
    const CompileRequest request = {.script_id = path, .code = code, .code_bytes = strlen(code)};
    const CompileResult result = script_compile(system, &request);
    if (!result.ok) {
        test_fail(__FILE__, __LINE__, "%s", result.error);
        return;
    }
    uint32_t instance = 0;
    const InstanceDesc desc = {.script_id = path, .entity = entity, .enabled = true};
    CHECK_OK(script_bind(system, &desc, &instance));
}

static void check_no_faults(SampleWorld *world, ScriptSide side)
{
    static ScriptFault faults[8];
    const uint32_t count = script_faults(sample_world_scripts(world, side), faults, 8);
    for (uint32_t i = 0; i < count; i++) {
        test_fail(__FILE__, __LINE__, "%s", faults[i].message);
    }
}

static const char server_code[] =
    "Players.PlayerAdded:Connect(function(player) print('came ' .. player.Name) end)\n"
    "Network.OnClientEvent('hello', function(player, n)\n"
    "  print('hello ' .. player.Name .. ' ' .. n)\n"
    "  Network.FireClient(player, 'back', n + 1)\n"
    "end)\n"
    "Network.OnInvoke('double', function(player, n) return n * 2 end)\n"
    "Network.OnInvoke('broken', function() error('no') end)\n"
    "local store = DataStore.GetDataStore('scores')\n"
    "store:SetAsync('a', {best = 7})\n"
    "local value = store:UpdateAsync('a', function(old) return {best = old.best + 1} end)\n"
    "print('stored ' .. store:GetAsync('a').best .. ' ' .. value.best)\n"
    "local ordered = DataStore.GetOrderedDataStore('top')\n"
    "ordered:IncrementAsync('x', 5)\n"
    "ordered:IncrementAsync('y', 9)\n"
    "print('count ' .. ordered:IncrementAsync('x'))\n"
    "for _, row in ipairs(ordered:GetSortedAsync(false, 10)) do\n"
    "  print('row ' .. row.key .. ' ' .. row.value)\n"
    "end\n"
    "print('removed ' .. tostring(ordered:RemoveAsync('y')))\n"
    "print('versions ' .. #ordered:ListVersionsAsync('x'))\n"
    "local crate = World.Spawn('Crate', Vector3.new(0, 8, 0))\n"
    "crate:SetAttribute('shown', 3)\n"
    "crate:SetAttribute('hidden', 4, {private = true})\n";

static const char client_code[] =
    "Network.OnServerEvent('back', function(n) print('back ' .. n) end)\n"
    "Network.FireServer('hello', 4)\n"
    "print('double ' .. Network.Invoke('double', 21))\n"
    "local ok, why = pcall(function() return Network.Invoke('broken') end)\n"
    "print('broken ' .. tostring(ok))\n"
    "task.wait(1)\n"
    "local crate = World.Find('Crate')\n"
    "print('sees ' .. tostring(crate:GetAttribute('shown')) .. ' ' ..\n"
    "      tostring(crate:GetAttribute('hidden')))\n"
    "crate:SetPosition(Vector3.new(1, 1, 1))\n" // ignored
    "local spark = World.SpawnLocal('Spark', Vector3.new(0, 2, 0))\n"
    "spark.Velocity = Vector3.new(0, 6, 0)\n"
    "task.wait(0.5)\n"
    "print('spark ' .. math.floor(spark.Position.Y + 0.5))\n";

static const char zone_code[] =
    "function OnTriggerEnter(self, other) print('entered ' .. other.Player.Name) end\n";
static const char button_code[] =
    "function OnTouch(self, other) print('touched'); World.Find('Door'):MoveTo(\n"
    "  Vector3.new(0, 4.5, 6), 1) end\n";

TEST(scripts_of_both_sides_play_together)
{
    static Lines lines;
    lines.bytes = 0;
    LogSink sink = {.write = keep_line, .user = &lines};
    Heap heap = heap_make(1u << 30);
    SampleWorldConfig config = sample_world_config_default();
    config.script.log = &sink;
    SampleWorld *world = NULL;
    REQUIRE(sample_world_create(&heap, &config, &world) == STATUS_OK);
    ScriptWorld *server = authority_world(sample_world_authority(world));
    add(world, SCRIPT_SERVER, "ServerScriptService/Main", server_code, 0);
    add(world, SCRIPT_SERVER, "Workspace/Zone", zone_code,
        server->methods->find(server, text_from("Zone")));
    add(world, SCRIPT_SERVER, "Workspace/Button", button_code,
        server->methods->find(server, text_from("Button")));
    add(world, SCRIPT_CLIENT, "StarterPlayer/Main", client_code, 0);
    sample_world_step(world, 180);
    const uint64_t body = sample_world_character(world);
    CHECK_OK(server->methods->set_position(server, body, vec3(-8, 0, 0)));
    sample_world_step(world, 5);
    CHECK_OK(server->methods->set_position(server, body, vec3(4, 1, 6)));
    sample_world_step(world, 90);
    const char *wanted[] = {"came player1", "hello player1 4", "back 5",     "double 42",
                            "broken false", "stored 8 8",      "count 6",    "row y 9\n",
                            "row x 6",      "removed 9",       "versions 2", "sees 3 nil",
                            "spark 5",      "entered player1", "touched"};
    for (uint32_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (strstr(lines.text, wanted[i]) == NULL) {
            test_fail(__FILE__, __LINE__, "no line \"%s\" in:\n%s", wanted[i], lines.text);
        }
    }
    ScriptEntityInfo door;
    CHECK(server->methods->entity(server, server->methods->find(server, text_from("Door")), &door));
    CHECK_NEAR(door.position.y, 4.5, 0);
    ScriptEntityInfo crate;
    CHECK(
        server->methods->entity(server, server->methods->find(server, text_from("Crate")), &crate));
    CHECK_NEAR(crate.position.y, 8, 0);
    check_no_faults(world, SCRIPT_CLIENT);
    sample_world_destroy(&heap, world);
    CHECK_INT(heap.bytes_now, 0);
}

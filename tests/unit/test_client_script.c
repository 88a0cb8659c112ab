// Client scripts against a server that the test simulates: the manifest and its runes, over the
// wire or given by the owner, runes that must be rejected, bindings, remotes both ways, reloads.
#include "core/script/runtime/value.h"
#include "tests/support/test.h"
#include "tests/unit/fake_server.h"

#include <stdio.h>
#include <string.h>

#define RUNES_MAX 8

typedef struct Cast {
    FakeServer *fake;
    uint8_t bytes[RUNES_MAX][8192];
    size_t sizes[RUNES_MAX];
    const char *paths[RUNES_MAX];
    WireManifestScript rows[RUNES_MAX];
    uint32_t count;
} Cast;

static Cast cast;

static void cast_open(bool owner_fetches)
{
    ClientConfig config = client_config_default();
    config.scripts = true;
    config.owner_fetches = owner_fetches;
    config.view.ui_bytes_max = UI_WAITING_BYTES;
    memset(&cast, 0, sizeof cast);
    cast.fake = fake_open(&config, true);
}

static void cast_clear(void)
{
    cast.count = 0;
}

static void cast_add(const char *service, const char *path, const char *source)
{
    const uint32_t i = cast.count++;
    cast.paths[i] = path;
    cast.sizes[i] = fake_rune(cast.fake, path, source, cast.bytes[i], sizeof cast.bytes[i]);
    cast.rows[i] = (WireManifestScript){.path = fake_text(path),
                                        .size_bytes = cast.sizes[i],
                                        .run_context = fake_text("Client"),
                                        .service = fake_text(service),
                                        .replicate = true};
    sha256_of(cast.bytes[i], cast.sizes[i], cast.rows[i].rune_hash.bytes);
}

static void send_manifest(uint32_t version)
{
    const MessageScriptManifest manifest = {
        .version = version, .scripts = cast.rows, .scripts_count = cast.count};
    fake_send(cast.fake, MESSAGE_SCRIPT_MANIFEST, &manifest);
}

static void send_chunks(uint32_t rune, uint32_t piece, uint32_t from, uint32_t to)
{
    const uint32_t total = ((uint32_t)cast.sizes[rune] + piece - 1) / piece;
    for (uint32_t i = from; i < to && i < total; i++) {
        const uint32_t left = (uint32_t)cast.sizes[rune] - i * piece;
        const MessageScriptChunk chunk = {
            .script_path = fake_text(cast.paths[rune]),
            .chunk_index = i,
            .total_chunks = total,
            .data = {cast.bytes[rune] + i * piece, left < piece ? left : piece}};
        fake_send(cast.fake, MESSAGE_SCRIPT_CHUNK, &chunk);
    }
}

static void send_all(void)
{
    for (uint32_t i = 0; i < cast.count; i++) {
        send_chunks(i, 200, 0, UINT32_MAX);
    }
}

static uint32_t asked(void)
{
    (void)fake_up(cast.fake, MESSAGE_REMOTE_UP);
    return cast.fake->up_count[MESSAGE_REMOTE_UP];
}

// The name of the last remote that a script fired is how these scripts say what they did.
static void check_remote(const char *file_line, const char *want)
{
    const MessageRemoteUp *remote = fake_up(cast.fake, MESSAGE_REMOTE_UP).body;
    char got[72] = "nothing";
    if (remote != NULL) {
        snprintf(got, sizeof got, "%.*s", (int)remote->name.bytes, remote->name.data);
    }
    test_check_text(__FILE__, __LINE__, file_line, got, want);
}

static bool closed_with(const char *begin)
{
    const char *reason = client_closed_reason(cast.fake->client);
    const bool fits = strncmp(reason, begin, strlen(begin)) == 0;
    if (!fits) {
        printf("reason \"%s\"\n", reason);
    }
    return fits && client_state(cast.fake->client) == CLIENT_CLOSED;
}

static void check_no_faults(void)
{
    ScriptFault fault;
    while (script_faults(client_scripts(cast.fake->client), &fault, 1) > 0) {
        test_fail(__FILE__, __LINE__, "%s: %s", fault.path, fault.message);
    }
}

// --- arriving -----------------------------------------------------------------------------------

TEST(runes_come_over_the_wire_and_run)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud",
             "local m = require('ReplicatedStorage/Words')\n"
             "function onStart() Network.FireServer(m.word) end");
    cast_add("ReplicatedStorage", "ReplicatedStorage/Words", "return {word = 'hello'}");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    fake_run(fake, 3);
    const MessageScriptRequest *request = fake_up(fake, MESSAGE_SCRIPT_REQUEST).body;
    REQUIRE(request != NULL);
    CHECK_INT(request->script_paths_count, 2);
    CHECK_BYTES(request->script_paths[0].path.data, "ReplicatedStorage/Words", 23);
    send_chunks(1, 64, 0, UINT32_MAX);
    send_chunks(0, 64, 0, 2);
    fake_run(fake, 3);
    CHECK_INT(asked(), 0);
    CHECK_INT(fake->up_count[MESSAGE_SCRIPT_VERIFY_LIST], 1);
    send_chunks(0, 64, 2, UINT32_MAX);
    fake_run(fake, 6);
    const MessageScriptVerifyList *verify = fake_up(fake, MESSAGE_SCRIPT_VERIFY_LIST).body;
    REQUIRE(verify->scripts_count == 1);
    CHECK(verify->scripts[0].success);
    CHECK_BYTES(verify->scripts[0].hash.bytes, cast.rows[0].rune_hash.bytes, 32);
    check_remote("hud", "hello");
    CHECK_INT(((const MessageRemoteUp *)fake_up(fake, MESSAGE_REMOTE_UP).body)->generation, 1);
    CHECK_INT(fake->up_count[MESSAGE_SCRIPT_REQUEST], 1);
    check_no_faults();
    fake_close(fake);
}

TEST(a_transfer_goes_on_after_a_cut)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "function onStart() Network.FireServer('hi') end");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    fake_run(fake, 1);
    send_chunks(0, 64, 0, 2);
    client_disconnected(fake->client);
    fake_connect(fake);
    fake_welcome(fake, true);
    send_manifest(1);
    fake_run(fake, 1);
    const MessageScriptRequest *request = fake_up(fake, MESSAGE_SCRIPT_REQUEST).body;
    CHECK_INT(request->from_chunk, 2);
    send_chunks(0, 64, 2, UINT32_MAX);
    fake_run(fake, 6);
    check_remote("hud", "hi");
    fake_close(fake);
}

TEST(the_owner_brings_runes)
{
    cast_open(true);
    cast_add("StarterGui", "StarterGui/Hud", "function onStart() Network.FireServer('hi') end");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    ClientWant want;
    REQUIRE(client_want(fake->client, 0, &want));
    CHECK(want.kind != CLIENT_WANT_SCENE);
    CHECK_TEXT(want.path, "StarterGui/Hud");
    CHECK(client_progress(fake->client) < 1);
    cast.bytes[0][60] ^= 1;
    CHECK_INT(client_give(fake->client, cast.bytes[0], cast.sizes[0]), STATUS_MISMATCH);
    cast.bytes[0][60] ^= 1;
    CHECK_OK(client_give(fake->client, cast.bytes[0], cast.sizes[0]));
    CHECK(!client_want(fake->client, 0, &want));
    fake_run(fake, 6);
    check_remote("hud", "hi");
    CHECK_INT(fake->up_count[MESSAGE_SCRIPT_REQUEST], 0);
    fake_close(fake);
}

TEST(replicated_first_runs_before_the_rest_is_here)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "function onStart() Network.FireServer('hud') end");
    cast_add("ReplicatedFirst", "ReplicatedFirst/Load",
             "function onStart() Network.FireServer('first') end");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    fake->says_nothing = true;
    const MessageScriptExecute execute = {.script_path = fake_text("ReplicatedFirst/Load"),
                                          .run_context = fake_text("Client"),
                                          .at_tick = fake->tick + 20};
    fake_send(fake, MESSAGE_SCRIPT_EXECUTE, &execute);
    send_chunks(1, 512, 0, UINT32_MAX);
    fake_run(fake, 12);
    CHECK_INT(asked(), 0); // not its time yet
    fake_run(fake, 15);
    check_remote("first", "first");
    CHECK_INT(asked(), 1);
    fake->says_nothing = false;
    send_chunks(0, 512, 0, UINT32_MAX);
    fake_run(fake, 6);
    check_remote("then the rest", "hud");
    CHECK_INT(asked(), 2);
    fake_close(fake);
}

// --- what may not come --------------------------------------------------------------------------

static void expect_refused(const char *service, const char *path, const char *context)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "local x = 1");
    cast.rows[0].service = fake_text(service);
    cast.rows[0].path = fake_text(path);
    cast.rows[0].run_context = fake_text(context);
    fake_play(cast.fake);
    send_manifest(1);
    CHECK(closed_with("protocol: a script of the manifest"));
    fake_close(cast.fake);
}

TEST(server_scripts_are_never_taken)
{
    expect_refused("ServerScriptService", "ServerScriptService/Secret", "Client");
    expect_refused("StarterGui", "ServerScriptService/Secret", "Client");
    expect_refused("StarterGui", "StarterGui/Hud", "Server");
    expect_refused("Elsewhere", "Elsewhere/Hud", "Client");
    expect_refused("StarterGui", "StarterGui/", "Client");
    expect_refused("StarterGui", "StarterGui/a\nb", "Client");
}

// The manifest is right and the word to run it is not: the script does not run, and the server
// hears of it.
TEST(a_server_context_is_refused_and_reported)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "function onStart() Network.FireServer('hi') end");
    FakeServer *fake = cast.fake;
    fake->says_nothing = true;
    fake_play(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 3);
    CHECK_INT(fake->up_count[MESSAGE_SCRIPT_VERIFY_LIST], 1);
    MessageScriptExecute execute = {.script_path = fake_text("StarterGui/Hud"),
                                    .run_context = fake_text("Server"),
                                    .at_tick = fake->tick};
    fake_send(fake, MESSAGE_SCRIPT_EXECUTE, &execute);
    fake_run(fake, 6);
    CHECK_INT(asked(), 0);
    const MessageScriptVerify *verify = fake_up(fake, MESSAGE_SCRIPT_VERIFY).body;
    REQUIRE(verify != NULL);
    CHECK(!verify->success);
    CHECK(text_is(verify->reason, "its run_context is not for this client"));
    CHECK_INT(client_fetch_progress(fake->client).scripts_refused, 1);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    execute.run_context = fake_text("Client");
    fake_send(fake, MESSAGE_SCRIPT_EXECUTE, &execute);
    fake_run(fake, 6);
    check_remote("then as the manifest has it", "hi");
    fake_close(fake);
}

TEST(manifests_only_rise_and_name_a_path_once)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "local x = 1");
    fake_play(cast.fake);
    send_manifest(3);
    send_manifest(3);
    CHECK_INT(client_state(cast.fake->client), CLIENT_PLAYING);
    send_manifest(2);
    CHECK(closed_with("protocol: manifest 2 after 3"));
    fake_close(cast.fake);

    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "local x = 1");
    cast_add("StarterGui", "StarterGui/Hud", "local x = 2");
    fake_play(cast.fake);
    send_manifest(1);
    CHECK(closed_with("protocol: a script of the manifest: it is named twice"));
    fake_close(cast.fake);

    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "local x = 1");
    cast.rows[0].size_bytes = 5u << 20;
    fake_play(cast.fake);
    send_manifest(1);
    CHECK(closed_with("protocol: a script of the manifest: its size"));
    fake_close(cast.fake);
}

TEST(damaged_runes_are_asked_for_once_more)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "function onStart() Network.FireServer('hi') end");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    fake_run(fake, 1);
    cast.bytes[0][70] ^= 1;
    send_chunks(0, 64, 0, UINT32_MAX);
    fake_run(fake, 1);
    const MessageScriptVerify *verify = fake_up(fake, MESSAGE_SCRIPT_VERIFY).body;
    REQUIRE(verify != NULL);
    CHECK(!verify->success);
    CHECK_INT(fake->up_count[MESSAGE_SCRIPT_REQUEST], 2);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    // The second time it is refused: it does not run, both sides know, and the session goes on.
    send_chunks(0, 64, 0, UINT32_MAX);
    fake_run(fake, 6);
    CHECK_INT(fake->up_count[MESSAGE_SCRIPT_VERIFY], 2);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    CHECK_INT(client_fetch_progress(fake->client).scripts_refused, 1);
    CHECK_INT(fake->up_count[MESSAGE_SCRIPT_REQUEST], 2);
    CHECK_INT(fake->up_count[MESSAGE_SCRIPT_VERIFY_LIST], 0);
    CHECK_INT(asked(), 0);
    ClientWant want;
    CHECK(!client_want(fake->client, 0, &want));
    fake_close(fake);
}

// Its hash is right but its content is not a rune: the manifest is not enough.
TEST(bytes_that_are_no_rune_close)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "local x = 1");
    cast.bytes[0][0] = 'X';
    sha256_of(cast.bytes[0], cast.sizes[0], cast.rows[0].rune_hash.bytes);
    fake_play(cast.fake);
    send_manifest(1);
    send_all();
    CHECK(closed_with("protocol: the rune StarterGui/Hud makes no sense"));
    fake_close(cast.fake);
}

TEST(chunks_out_of_order_close)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "local x = 1");
    fake_play(cast.fake);
    send_manifest(1);
    send_chunks(0, 32, 0, 1);
    send_chunks(0, 32, 2, 3);
    CHECK(closed_with("protocol: chunk 2 of the rune"));
    fake_close(cast.fake);
}

// --- binding ------------------------------------------------------------------------------------

TEST(starter_player_scripts_follow_the_character)
{
    cast_open(false);
    cast_add("StarterPlayer", "StarterPlayer/Me",
             "function onStart(self) Network.FireServer('start', self) end\n"
             "function onDestroy(self) Network.FireServer('end') end");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 6);
    check_remote("bound", "start");
    CHECK_INT(asked(), 1);
    const MessageRespawned respawned = {.entity_id = FAKE_BODY};
    fake_event(fake, 0, MESSAGE_RESPAWNED, &respawned);
    fake_flush(fake);
    fake_run(fake, 30);
    CHECK_INT(asked(), 3);
    check_remote("again after the respawn", "start");
    check_no_faults();
    fake_close(fake);
}

static size_t attributes_make(uint8_t *out, size_t capacity, const char *name, double number,
                              const char *tag)
{
    ByteWriter writer = byte_writer(out, capacity);
    net_attributes_write_name(&writer, fake_text(name));
    const NetValue value = {.type = NET_VALUE_NUMBER, .number = number};
    net_attributes_write_one(&writer, fake_text("Power"), &value);
    net_attributes_write_end(&writer);
    net_attributes_write_tag(&writer, fake_text(tag));
    net_attributes_write_end(&writer);
    CHECK_OK(writer.status);
    return writer.at;
}

TEST(names_attributes_and_tags_are_seen)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud",
             "function onUpdate() local e = World.Find('Crate')\n"
             "  if e then Network.FireServer('power' .. tostring(e:GetAttribute('Power'))) end\n"
             "end");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    send_all();
    uint8_t attributes[256];
    const size_t bytes = attributes_make(attributes, sizeof attributes, "Crate", 7, "loot");
    const NetShape shape = {.shape = {SHAPE_BOX, {0.5f, 0.5f, 0.5f}},
                            .rest = {{2, 1, 2}, QUAT_IDENTITY}};
    const NetState state = {.version = 1};
    fake_enter(fake, 3, NET_PROP, 900, &state, &shape, attributes, bytes);
    fake_flush(fake);
    AttributeTable *kept = view_attributes(client_script_view(fake->client));
    CHECK(attribute_table_has_tag(kept, 900, (Text){"loot", 4}));
    fake_run(fake, 6);
    check_no_faults();
    check_remote("attribute", "power7");
    fake_leave(fake, 3);
    fake_flush(fake);
    CHECK(attribute_table_find(kept, 900) == NULL);
    fake_close(fake);
}

// An anchored part, an entity of the scene, and one spawned from a prefab, each with its script.
static void cast_open_bound(void)
{
    static const char place[] = "{\"format\": 1, \"name\": \"Bound\"}";
    static const char scene[] =
        "{\"format\": 1, \"entities\": [{\"id\": 1, \"type\": \"spawn\"},"
        "{\"id\": 2, \"name\": \"Door\", \"shape\": {\"size\": [2, 3, 1]},"
        "\"transform\": {\"position\": [8, 0, 8]}, \"tags\": [\"wood\"],"
        "\"scriptPath\": \"Workspace/Door.lua\", \"parameters\": {\"word\": \"sesame\"}}]}";
    static const char crate[] = "{\"format\": 1, \"kind\": \"prop\","
                                "\"scriptPath\": \"Workspace/Crate.lua\"}";
    const PlaceFile files[3] = {{"place.json", (const uint8_t *)place, sizeof place - 1},
                                {"scene.json", (const uint8_t *)scene, sizeof scene - 1},
                                {"prefabs/Crate.json", (const uint8_t *)crate, sizeof crate - 1}};
    ClientConfig config = client_config_default();
    config.scripts = true;
    memset(&cast, 0, sizeof cast);
    cast.fake = fake_open_files(&config, true, files, 3);
    cast_add("Workspace", "Workspace/Door",
             "function onStart(self) Network.FireServer('door ' .. self.Name) end");
    cast_add("Workspace", "Workspace/Crate",
             "function onStart(self) Network.FireServer('crate ' .. self.Name) end\n"
             "function onDestroy(self) Network.FireServer('gone') end");
}

static void enter_crate(uint32_t slot, uint64_t net_id)
{
    uint8_t attributes[256];
    const size_t bytes = attributes_make(attributes, sizeof attributes, "Crate", 7, "loot");
    const NetShape shape = {.shape = {SHAPE_BOX, {0.5f, 0.5f, 0.5f}},
                            .rest = {{2, 1, 2}, QUAT_IDENTITY}};
    const NetState state = {.version = 1};
    fake_enter(cast.fake, slot, NET_PROP, net_id, &state, &shape, attributes, bytes);
    fake_flush(cast.fake);
}

TEST(workspace_scripts_belong_to_their_entities)
{
    cast_open_bound();
    FakeServer *fake = cast.fake;
    fake_play(fake);
    enter_crate(3, 900); // before its script is here
    send_manifest(1);
    send_all();
    fake_run(fake, 6);
    CHECK_INT(asked(), 2);
    check_remote("the crate comes after the door", "crate Crate");
    CHECK(attribute_table_has_tag(view_attributes(client_script_view(fake->client)), 1,
                                  (Text){"wood", 4}));
    enter_crate(4, 901);
    fake_run(fake, 6);
    CHECK_INT(asked(), 3);
    fake_leave(fake, 3);
    fake_flush(fake);
    fake_run(fake, 6);
    check_remote("left", "gone");
    CHECK_INT(asked(), 4);
    // Left and back between two ticks: the old instance ends, a new one begins.
    fake_leave(fake, 4);
    fake_flush(fake);
    enter_crate(4, 901);
    fake_run(fake, 6);
    CHECK_INT(asked(), 6);
    check_remote("back", "crate Crate");
    check_no_faults();
    fake_close(fake);
}

TEST(coming_back_binds_nothing_twice)
{
    cast_open_bound();
    FakeServer *fake = cast.fake;
    fake_play(fake);
    enter_crate(3, 900);
    enter_crate(4, 901);
    send_manifest(1);
    send_all();
    fake_run(fake, 6);
    CHECK_INT(asked(), 3);
    client_disconnected(fake->client);
    fake_connect(fake);
    fake_welcome(fake, true);
    enter_crate(7, 900);
    fake_run(fake, 12);
    CHECK_INT(asked(), 4); // 901 is gone; 900 never stopped
    check_remote("gone", "gone");
    check_no_faults();
    fake_close(fake);
}

TEST(players_come_and_go)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud",
             "Players.PlayerAdded:Connect(function(p) Network.FireServer('in ' .. p.Name) end)\n"
             "Players.PlayerRemoving:Connect(function(p)\n"
             "  Network.FireServer('out ' .. p.Name) end)");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 6);
    const MessagePlayerJoined joined = {
        .player = 12, .entity_id = 44, .name = fake_text("Bo"), .team = fake_text("red")};
    fake_event(fake, 0, MESSAGE_PLAYER_JOINED, &joined);
    fake_event(fake, 0, MESSAGE_PLAYER_JOINED, &joined);
    fake_flush(fake);
    fake_run(fake, 30);
    check_remote("joined", "in Bo");
    CHECK_INT(asked(), 1);
    Roster *roster = view_roster(client_script_view(fake->client));
    REQUIRE(roster_find(roster, 12) != NULL);
    CHECK_INT(roster_find(roster, 12)->entity, 44);
    const MessagePlayerStat stat = {.player = 12, .name = fake_text("Coins"), .value = 3};
    fake_event(fake, 0, MESSAGE_PLAYER_STAT, &stat);
    const MessagePlayerLeft left = {.player = 12};
    fake_flush(fake);
    fake_run(fake, 30);
    double coins = 0;
    CHECK(roster_stat(roster, 12, (Text){"Coins", 5}, &coins) && coins == 3);
    fake_event(fake, 0, MESSAGE_PLAYER_LEFT, &left);
    fake_flush(fake);
    fake_run(fake, 30);
    check_remote("left", "out Bo");
    CHECK(roster_find(roster, 12) == NULL);
    check_no_faults();
    fake_close(fake);
}

// The roster comes with a frame, and runes may be there before it. Whatever the service, a script
// begins when it can ask who plays.
TEST(no_script_begins_before_its_player_is_known)
{
    cast_open(false);
    static const char code[] =
        "local me = Players.LocalPlayer\n"
        "local said = me.Name .. ' ' .. tostring(me.Character ~= nil) .. ' ' .. me.Team\n"
        "Players.PlayerAdded:Connect(function(player)\n"
        "  said = said .. ', added'\n"
        "  player.Spawned:Connect(function(body)\n"
        "    Network.FireServer(said .. ', spawned ' .. body.Id) end) end)\n";
    cast_add("ReplicatedFirst", "ReplicatedFirst/Loading", code);
    FakeServer *fake = cast.fake;
    fake_connect(fake);
    fake_welcome(fake, false);
    fake_body(fake, vec3(4, 0, 0));
    fake_flush(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 30);
    CHECK_INT(asked(), 0);
    check_no_faults();
    const MessagePlayerJoined joined = {.player = FAKE_PLAYER,
                                        .entity_id = FAKE_BODY,
                                        .name = fake_text("Ann"),
                                        .team = fake_text("red")};
    fake_event(fake, 20, MESSAGE_PLAYER_JOINED, &joined);
    fake_flush(fake);
    fake_run(fake, 6);
    check_remote("the first body", "Ann true red, added, spawned 1000");
    CHECK_INT(asked(), 1);
    check_no_faults();
    fake_close(fake);
}

// The message was lost: scripts do not wait for ever, and nothing faults.
TEST(a_player_who_is_never_named_has_no_name)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "Network.FireServer(Players.LocalPlayer.Name)");
    FakeServer *fake = cast.fake;
    fake_connect(fake);
    fake_welcome(fake, false);
    fake_body(fake, vec3(4, 0, 0));
    fake_flush(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 400);
    check_remote("nobody said who", "?");
    check_no_faults();
    fake_close(fake);
}

// Scripts hear of what differs, not of what was sent again.
TEST(changed_attributes_and_tags_are_heard)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud",
             "local log = {}\n"
             "World.TagAdded:Connect(function(tag, e)\n"
             "  log[#log + 1] = '+' .. tag .. e.Id\n"
             "  if e.heard then return end\n"
             "  e.heard = true\n"
             "  e.AttributeChanged:Connect(function(name, now, before)\n"
             "    log[#log + 1] = name .. tostring(before) .. '>' .. tostring(now) end)\n"
             "end)\n"
             "World.TagRemoved:Connect(function(tag, e) log[#log + 1] = '-' .. tag .. e.Id end)\n"
             "World.GetTagRemovedSignal('loot'):Connect(function() log[#log + 1] = 'no loot' end)\n"
             "function onUpdate() if #log > 0 then\n"
             "  Network.FireServer(table.concat(log, ' ')) log = {} end end");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 6);
    uint8_t attributes[256];
    size_t bytes = attributes_make(attributes, sizeof attributes, "Crate", 7, "loot");
    const NetShape shape = {.shape = {SHAPE_BOX, {0.5f, 0.5f, 0.5f}},
                            .rest = {{2, 1, 2}, QUAT_IDENTITY}};
    const NetState state = {.version = 1};
    fake_enter(fake, 3, NET_PROP, 900, &state, &shape, attributes, bytes);
    fake_flush(fake);
    fake_run(fake, 6);
    check_remote("came", "+loot900");
    bytes = attributes_make(attributes, sizeof attributes, "Crate", 8.5, "loot");
    fake_attributes(fake, 3, attributes, bytes);
    fake_flush(fake);
    fake_run(fake, 6);
    check_remote("changed", "Power7>8.5");
    const uint32_t before = asked();
    fake_attributes(fake, 3, attributes, bytes); // the same once more
    fake_flush(fake);
    fake_run(fake, 6);
    CHECK_INT(asked(), before);
    bytes = attributes_make(attributes, sizeof attributes, "Crate", 8.5, "gold");
    fake_attributes(fake, 3, attributes, bytes);
    fake_flush(fake);
    fake_run(fake, 6);
    check_remote("another tag", "-loot900 no loot +gold900");
    fake_leave(fake, 3);
    fake_flush(fake);
    fake_run(fake, 6);
    check_remote("gone", "-gold900");
    check_no_faults();
    fake_close(fake);
}

TEST(what_happened_reaches_scripts)
{
    cast_open(false);
    cast_add(
        "StarterPlayer", "StarterPlayer/Ears",
        "function onStart(self)\n"
        "  self.Damaged:Connect(function(n, by)\n"
        "    Network.FireServer('lost ' .. n .. ' by ' .. by.Id) end)\n"
        "  self.Hit:Connect(function(shot, at, normal, shooter)\n"
        "    Network.FireServer('hit ' .. shot.Id .. ' ' .. at.X .. ' ' .. shooter.Id) end)\n"
        "end\n"
        "Structure.Placed:Connect(function(piece) Network.FireServer('built ' .. piece.Id) end)\n"
        "Structure.Removed:Connect(function(piece, reason)\n"
        "  Network.FireServer(reason .. ' ' .. piece.Id) end)");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 12);
    const MessageDamaged damaged = {.entity_id = FAKE_BODY, .cause = 44, .amount = 2.5f};
    fake_event(fake, 0, MESSAGE_DAMAGED, &damaged);
    fake_flush(fake);
    fake_run(fake, 30);
    check_remote("damaged", "lost 2.5 by 44");
    const MessageProjectileHit hit = {.entity_id = 45,
                                      .other = FAKE_BODY,
                                      .shooter = 46,
                                      .position = {1, 2, 3},
                                      .normal = {0, 1, 0}};
    fake_event(fake, 0, MESSAGE_PROJECTILE_HIT, &hit);
    fake_flush(fake);
    fake_run(fake, 30);
    check_remote("hit", "hit 45 1.0 46");
    const MessageStructurePlaced placed = {.entity_id = 47, .player = FAKE_PLAYER};
    fake_event(fake, 0, MESSAGE_STRUCTURE_PLACED, &placed);
    fake_flush(fake);
    fake_run(fake, 30);
    check_remote("placed", "built 47");
    const MessageStructureRemoved removed = {.entity_id = 47, .reason = 2};
    fake_event(fake, 0, MESSAGE_STRUCTURE_REMOVED, &removed);
    fake_flush(fake);
    fake_run(fake, 30);
    check_remote("removed", "Collapsed 47");
    check_no_faults();
    fake_close(fake);
}

// A player who is not named again after a reconnect has left meanwhile.
TEST(after_a_cut_the_players_are_told_anew)
{
    cast_open(false);
    FakeServer *fake = cast.fake;
    fake_play(fake);
    for (uint64_t player = 12; player < 14; player++) {
        const MessagePlayerJoined joined = {.player = player, .name = fake_text("Bo")};
        fake_event(fake, 0, MESSAGE_PLAYER_JOINED, &joined);
    }
    fake_flush(fake);
    fake_run(fake, 30);
    View *view = client_script_view(fake->client);
    CHECK_INT(roster_count(view_roster(view)), 3);
    client_disconnected(fake->client);
    fake_connect(fake);
    fake_welcome(fake, true);
    fake_name(fake);
    CHECK(client_script_view(fake->client) == view);
    const MessagePlayerJoined joined = {.player = 13, .name = fake_text("Bo")};
    fake_event(fake, 0, MESSAGE_PLAYER_JOINED, &joined);
    fake_flush(fake);
    fake_run(fake, 60);
    CHECK_INT(roster_count(view_roster(view)), 3);
    fake_run(fake, 150);
    CHECK_INT(roster_count(view_roster(view)), 2);
    CHECK(roster_find(view_roster(view), 13) != NULL);
    fake_close(fake);
}

// --- remotes ------------------------------------------------------------------------------------

TEST(remotes_both_ways)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud",
             "Network.OnServerEvent('ask', function(n)\n"
             "  local ok, got = pcall(Network.Invoke, 'double', n)\n"
             "  Network.FireServer(tostring(ok) .. ' ' .. tostring(got)) end)\n"
             "Chat.Received:Connect(function(p, text) Network.FireServer('echo ' .. text) end)");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 6);
    check_no_faults();
    const uint8_t four[] = {6, 1, 3, 8}; // a list of one integer
    const uint8_t eight[] = {6, 1, 3, 16};
    CHECK_OK(value_check(four, sizeof four));
    const MessageRemoteDown ask = {
        .name = fake_text("ask"), .payload = {four, sizeof four}, .generation = 1};
    fake_event(fake, 0, MESSAGE_REMOTE_DOWN, &ask);
    fake_flush(fake);
    fake_run(fake, 30);
    const MessageRemoteUp *invoke = fake_up(fake, MESSAGE_REMOTE_UP).body;
    REQUIRE(invoke != NULL);
    CHECK(invoke->invoke_id != 0);
    CHECK_BYTES(invoke->payload.data, four, sizeof four);
    MessageRemoteDown answer = {.name = fake_text("answer"),
                                .payload = {eight, sizeof eight},
                                .invoke_id = invoke->invoke_id};
    fake_event(fake, 0, MESSAGE_REMOTE_DOWN, &answer);
    fake_flush(fake);
    fake_run(fake, 30);
    check_remote("answer", "true 8");
    // Refused by the server's script.
    fake_event(fake, 0, MESSAGE_REMOTE_DOWN, &ask);
    fake_flush(fake);
    fake_run(fake, 30);
    const Message asked_again = fake_up(fake, MESSAGE_REMOTE_UP);
    answer.name = fake_text("refusal");
    answer.payload = (WireBytes){(const uint8_t *)"no", 2};
    answer.invoke_id = ((const MessageRemoteUp *)asked_again.body)->invoke_id;
    fake_event(fake, 0, MESSAGE_REMOTE_DOWN, &answer);
    fake_flush(fake);
    fake_run(fake, 30);
    const MessageRemoteUp *said = fake_up(fake, MESSAGE_REMOTE_UP).body;
    CHECK(said->invoke_id == 0 && memcmp(said->name.data, "false ", 6) == 0);
    // Refused by the world: too often.
    fake_event(fake, 0, MESSAGE_REMOTE_DOWN, &ask);
    fake_flush(fake);
    fake_run(fake, 30);
    const MessageError error = {.code = fake_text("limit"),
                                .message = fake_text("too often"),
                                .command_seq = fake_up(fake, MESSAGE_REMOTE_UP).seq};
    fake_send(fake, MESSAGE_ERROR, &error);
    fake_run(fake, 6);
    said = fake_up(fake, MESSAGE_REMOTE_UP).body;
    CHECK(said->invoke_id == 0 && memcmp(said->name.data, "false ", 6) == 0);
    // And no answer at all.
    fake_event(fake, 0, MESSAGE_REMOTE_DOWN, &ask);
    fake_flush(fake);
    fake_run(fake, 30);
    const uint32_t before = asked();
    fake_run(fake, 620);
    CHECK_INT(asked(), before + 1);
    const MessageChatSaid chat = {.player = 3, .text = fake_text("hi")};
    fake_event(fake, 0, MESSAGE_CHAT_SAID, &chat);
    fake_flush(fake);
    fake_run(fake, 30);
    const MessageRemoteUp *echo = fake_up(fake, MESSAGE_REMOTE_UP).body;
    REQUIRE(echo != NULL);
    CHECK_BYTES(echo->name.data, "echo hi", 7);
    check_no_faults();
    fake_close(fake);
}

// A place cannot make its players say things: what its script says on a client, its own player
// reads, as said by nobody. The world hears nothing of it, and neither do scripts.
TEST(a_line_of_a_client_script_is_for_its_own_player)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud",
             "Chat.Received:Connect(function(p, text) error('heard ' .. text) end)\n"
             "function onStart() for i = 1, 400 do Chat.Send(('x'):rep(500) .. i) end\n"
             "  task.wait(1) Chat.Send('a \\u{202e}line\\u{200b}') end");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    send_all();
    uint32_t lines = 0;
    bool is_cleaned = false;
    for (uint32_t tick = 0; tick < 120; tick++) {
        fake_run(fake, 1);
        for (const ClientEvent *event; (event = client_event(fake->client)) != NULL;) {
            const MessageChatSaid *said = event->message.body;
            if (event->message.number == MESSAGE_CHAT_SAID) {
                CHECK_INT(said->player, 0);
                CHECK_INT(said->name.bytes, 0);
                lines += 1;
                is_cleaned |= text_is((Text){said->text.data, said->text.bytes}, "a line");
            }
        }
    }
    check_no_faults();
    CHECK(is_cleaned);
    CHECK(lines > 2 && lines < 400); // what is more than there is room for is dropped
    CHECK(client_stats(fake->client).events_dropped > 0);
    CHECK(fake_up(fake, MESSAGE_CHAT_SAY).body == NULL);
    fake_close(fake);
}

TEST(sounds_of_the_server_go_to_the_view)
{
    cast_open(false);
    FakeServer *fake = cast.fake;
    fake_play(fake);
    fake_run(fake, 30);
    const MessageSound sound = {.id = 1, .name = fake_text("bell"), .volume = 1, .pitch = 1};
    fake_event(fake, 0, MESSAGE_SOUND, &sound);
    fake_flush(fake);
    uint32_t heard = 0;
    for (uint32_t i = 0; i < 30; i++) {
        fake_run(fake, 1);
        uint32_t count = 0;
        const Effect *effects = view_effects(client_script_view(fake->client), &count);
        heard += count;
        CHECK(count == 0 || effects[0].type == EFFECT_SOUND);
    }
    CHECK_INT(heard, 1);
    for (const ClientEvent *event; (event = client_event(fake->client)) != NULL;) {
        CHECK(event->message.number != MESSAGE_SOUND);
    }
    fake_close(fake);
}

// --- costs --------------------------------------------------------------------------------------

static const WireScriptCost *reported(const char *path)
{
    const MessageScriptCosts *report = fake_up(cast.fake, MESSAGE_SCRIPT_COSTS).body;
    for (uint32_t i = 0; report != NULL && i < report->costs_count; i++) {
        if (text_equal(report->costs[i].path, fake_text(path))) {
            return &report->costs[i];
        }
    }
    return NULL;
}

TEST(what_scripts_cost_is_reported)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Busy", "function onUpdate() local x = 1 + 1 end");
    cast_add("StarterGui", "StarterGui/Bad",
             "task.delay(12, function() error('\xff oops') end)\nfunction onStart() end");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 590);
    CHECK(reported("StarterGui/Busy") == NULL); // not yet
    fake_run(fake, 30);
    const MessageScriptCosts *report = fake_up(fake, MESSAGE_SCRIPT_COSTS).body;
    REQUIRE(report != NULL);
    CHECK_INT(report->version, 1);
    CHECK_INT(report->fault_path.bytes, 0);
    REQUIRE(reported("StarterGui/Busy") != NULL);
    const uint64_t calls = reported("StarterGui/Busy")->calls;
    CHECK(calls > 500 && calls < 620 && reported("StarterGui/Busy")->steps > calls);
    CHECK(reported("StarterGui/Busy")->memory_bytes > 0);
    fake_run(fake, 600);
    CHECK_INT(fake->up_count[MESSAGE_SCRIPT_COSTS], 2);
    CHECK_INT(reported("StarterGui/Busy")->calls, 600); // since the last report
    report = fake_up(fake, MESSAGE_SCRIPT_COSTS).body;
    CHECK_BYTES(report->fault_path.data, "StarterGui/Bad", 14);
    CHECK_INT(report->fault_line, 1);
    CHECK(strstr(report->fault_message.data, "oops") != NULL);
    CHECK_INT(reported("StarterGui/Bad")->faults, 1);
    // It is told once, also if it was read by somebody else meanwhile.
    fake_run(fake, 600);
    report = fake_up(fake, MESSAGE_SCRIPT_COSTS).body;
    CHECK_INT(report->fault_path.bytes, 0);
    CHECK(reported("StarterGui/Bad") == NULL); // it has not run
    fake_close(fake);
}

// --- reload -------------------------------------------------------------------------------------

TEST(a_reload_waits_for_its_runes_and_its_tick)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud",
             "count = 0\nfunction onUpdate() count = count + 1 end\n"
             "Network.OnServerEvent('ask', function() Network.FireServer('old') end)");
    cast_add("StarterGui", "StarterGui/Gone", "function onDestroy() end");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 12);
    check_no_faults();
    const MessageScriptReload reload = {.version = 2, .at_tick = fake->tick + 6};
    fake_send(fake, MESSAGE_SCRIPT_RELOAD, &reload);
    cast_clear();
    cast_add("StarterGui", "StarterGui/Hud",
             "function onReload(old) Network.FireServer('reloaded', old.count > 0) end\n"
             "Network.OnServerEvent('ask', function() Network.FireServer('new') end)");
    send_manifest(2);
    ScriptStats stats;
    script_stats(client_scripts(fake->client), &stats);
    CHECK_INT(stats.script_count, 2);
    fake_run(fake, 9);
    // The server has switched; until the runes are here nothing runs, and events wait.
    const uint64_t steps = stats.step_count;
    script_stats(client_scripts(fake->client), &stats);
    const uint64_t paused = stats.step_count;
    CHECK(paused > steps);
    const uint8_t nothing[] = {6, 0};
    const MessageRemoteDown ask = {
        .name = fake_text("ask"), .payload = {nothing, sizeof nothing}, .generation = 2};
    fake_event(fake, 0, MESSAGE_REMOTE_DOWN, &ask);
    fake_flush(fake);
    fake_run(fake, 40);
    script_stats(client_scripts(fake->client), &stats);
    CHECK_INT(stats.step_count, paused);
    CHECK_INT(asked(), 0);
    send_all();
    fake_run(fake, 6);
    check_no_faults();
    CHECK_INT(asked(), 2);
    const MessageRemoteUp *remote = fake_up(fake, MESSAGE_REMOTE_UP).body;
    CHECK_INT(remote->generation, 2);
    script_stats(client_scripts(fake->client), &stats);
    CHECK_INT(stats.script_count, 1);
    fake_close(fake);
}

// The next tree that waits to be drawn; its bytes, or -1 if none waits.
static int take_shown(uint64_t *owner)
{
    View *view = client_script_view(cast.fake->client);
    const ViewShown *shown = view_shown(view);
    const int bytes = shown != NULL ? (int)shown->bytes : -1;
    *owner = shown != NULL ? shown->owner : 0;
    view_shown_take(view);
    return bytes;
}

TEST(what_a_script_shows_goes_with_it)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "UI.Show(UI.Text{text = 'first'})");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 12);
    uint64_t owner = 0, owner_after = 0;
    CHECK(take_shown(&owner) > 0);
    CHECK_INT(take_shown(&owner_after), -1);
    const MessageScriptReload reload = {.version = 2, .at_tick = fake->tick + 6};
    fake_send(fake, MESSAGE_SCRIPT_RELOAD, &reload);
    cast_clear();
    cast_add("StarterGui", "StarterGui/Other", "print('without a screen')");
    send_manifest(2);
    send_all();
    fake_run(fake, 20);
    check_no_faults();
    CHECK_INT(take_shown(&owner_after), 0);
    CHECK(owner_after == owner);
    CHECK_INT(take_shown(&owner_after), -1);
    fake_close(fake);
}

static void send_parameters(uint32_t version, uint64_t entity, const char *prefab, const char *json)
{
    const MessageScriptParameters message = {.version = version,
                                             .entity_id = entity,
                                             .prefab = fake_text(prefab),
                                             .parameters = fake_text(json)};
    fake_send(cast.fake, MESSAGE_SCRIPT_PARAMETERS, &message);
}

#define SAYS_ITS_WORD(name)                                                            \
    "local said\n"                                                                     \
    "function onUpdate(self)\n"                                                        \
    "  local word = self.params.word or 'nothing'\n"                                   \
    "  if word ~= said then said = word Network.FireServer('" name " ' .. word) end\n" \
    "end\n"                                                                            \
    "function onReload(old) Network.FireServer('again') end"

static void cast_open_words(void)
{
    cast_open_bound();
    cast_clear();
    cast_add("Workspace", "Workspace/Door", SAYS_ITS_WORD("door"));
    cast_add("Workspace", "Workspace/Crate", SAYS_ITS_WORD("crate"));
    fake_play(cast.fake);
    send_manifest(1);
    send_all();
    fake_run(cast.fake, 6);
    check_remote("of the scene", "door sesame");
}

TEST(parameters_change_in_place_with_their_manifest)
{
    cast_open_words();
    FakeServer *fake = cast.fake;
    enter_crate(3, 900);
    fake_run(fake, 6);
    check_remote("no parameters", "crate nothing");
    // They hold from the switch on, and not before.
    const MessageScriptReload reload = {.version = 2, .at_tick = fake->tick + 30};
    fake_send(fake, MESSAGE_SCRIPT_RELOAD, &reload);
    send_parameters(2, 1, "", "{\"word\": \"open\"}");
    send_manifest(2);
    fake_run(fake, 20);
    check_remote("not yet", "crate nothing");
    fake_run(fake, 20);
    check_remote("switched", "door open");
    CHECK_INT(asked(), 3);
    // What cannot be read changes nothing; of a prefab: what is there and what comes later.
    send_parameters(3, 1, "", "{\"word\": ");
    send_parameters(3, 0, "Crate", "{\"word\": \"wood\"}");
    send_manifest(3);
    fake_run(fake, 12);
    check_remote("of the prefab", "crate wood");
    CHECK_INT(asked(), 4);
    enter_crate(4, 901);
    fake_run(fake, 12);
    CHECK_INT(asked(), 4); // both crates have the same word, and they have one script
    // Without any, those of the scene hold again.
    send_manifest(4);
    fake_run(fake, 12);
    CHECK_INT(asked(), 6); // the door, and the crates
    check_no_faults();
    fake_close(fake);
}

TEST(parameters_that_came_half_come_again)
{
    cast_open_words();
    FakeServer *fake = cast.fake;
    send_parameters(2, 1, "", "{\"word\": \"half\"}");
    client_disconnected(fake->client);
    fake_connect(fake);
    fake_welcome(fake, true);
    send_parameters(2, 1, "", "{\"word\": \"whole\"}");
    send_manifest(2);
    fake_run(fake, 12);
    check_remote("whole", "door whole");
    // The same again after a resume: nothing is new.
    client_disconnected(fake->client);
    fake_connect(fake);
    fake_welcome(fake, true);
    send_parameters(2, 1, "", "{\"word\": \"whole\"}");
    send_manifest(2);
    fake_run(fake, 12);
    CHECK_INT(asked(), 2);
    CHECK_INT(client_state(fake->client), CLIENT_PLAYING);
    fake_close(fake);
}

// A newer manifest is about to come: nobody runs the one before it with the wrong parameters.
TEST(parameters_of_a_newer_manifest_hold_back_the_one_before)
{
    cast_open_words();
    FakeServer *fake = cast.fake;
    send_parameters(2, 1, "", "{\"word\": \"two\"}");
    send_manifest(2);
    send_parameters(3, 1, "", "{\"word\": \"three\"}");
    fake_run(fake, 12);
    check_remote("neither", "door sesame");
    send_manifest(3);
    fake_run(fake, 12);
    check_remote("the newer", "door three");
    CHECK_INT(asked(), 2);
    fake_close(fake);
}

TEST(bad_parameters_end_the_session)
{
    static char large[8192];
    memset(large, ' ', sizeof large - 1);
    for (uint32_t kind = 0; kind < 3; kind++) {
        cast_open_words();
        send_parameters(3, 1, "", "{}");
        if (kind == 0) {
            send_parameters(2, 1, "", "{}");
            CHECK(closed_with("protocol: parameters of manifest 2 after"));
        } else if (kind == 1) {
            send_parameters(3, 1, "", "{}");
            CHECK(closed_with("protocol: parameters of one entity"));
        } else {
            for (uint32_t i = 2; i < 12 && client_state(cast.fake->client) == CLIENT_PLAYING; i++) {
                send_parameters(3, i, "", large);
            }
            CHECK(closed_with("protocol: more parameters"));
        }
        fake_close(cast.fake);
    }
}

// Who requires a module gets the new one, although its own rune is the same.
TEST(a_new_module_reloads_those_who_may_require_it)
{
    cast_open(false);
    const char *hud = "local m = require('ReplicatedStorage/Words')\n"
                      "function onStart() Network.FireServer(m.word) end\n"
                      "function onReload() Network.FireServer(m.word) end";
    cast_add("StarterGui", "StarterGui/Hud", hud);
    cast_add("ReplicatedStorage", "ReplicatedStorage/Words", "return {word = 'one'}");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 6);
    check_remote("before", "one");
    cast_clear();
    cast_add("StarterGui", "StarterGui/Hud", hud);
    cast_add("ReplicatedStorage", "ReplicatedStorage/Words", "return {word = 'two'}");
    send_manifest(2);
    fake_run(fake, 1);
    const MessageScriptRequest *request = fake_up(fake, MESSAGE_SCRIPT_REQUEST).body;
    CHECK_INT(request->script_paths_count, 1);
    send_chunks(1, 200, 0, UINT32_MAX);
    fake_run(fake, 6);
    check_no_faults();
    check_remote("after", "two");
    fake_close(fake);
}

TEST(coming_back_keeps_scripts_running)
{
    cast_open(false);
    cast_add("StarterGui", "StarterGui/Hud", "function onStart() Network.FireServer('start') end");
    FakeServer *fake = cast.fake;
    fake_play(fake);
    send_manifest(1);
    send_all();
    fake_run(fake, 6);
    CHECK_INT(asked(), 1);
    client_disconnected(fake->client);
    fake_connect(fake);
    const MessageHandshake *handshake = fake_up(fake, MESSAGE_HANDSHAKE).body;
    CHECK_INT(handshake->manifest_version, 1);
    fake_welcome(fake, true);
    send_manifest(1);
    fake_run(fake, 12);
    CHECK_INT(asked(), 1);
    // Another life: everything starts again, from the runes that are here.
    client_disconnected(fake->client);
    fake_connect(fake);
    fake_welcome(fake, false);
    fake_name(fake);
    fake_run(fake, 12);
    CHECK_INT(asked(), 2);
    fake_close(fake);
}

// Scripts of a world: where they run, what clients get of them, remotes, reloads and stored data.
#include "core/base/sha256.h"
#include "core/script/rune/rune.h"
#include "core/script/runtime/value.h"
#include "tests/unit/act_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ActStore store;
static ActWorld act;

static const char SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}},\n"
    "  {\"id\": 2, \"name\": \"Vault\", \"transform\": {\"position\": [9, 0.5, 9]},"
    "   \"shape\": {\"size\": [1, 1, 1]}}]}\n";

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

static bool is(Text text, const char *want)
{
    return text_equal(text, act_text(want));
}

// One text as a list of values.
static size_t payload(uint8_t *out, const char *text)
{
    const size_t bytes = strlen(text);
    out[0] = 6;
    out[1] = 1;
    out[2] = 5;
    out[3] = (uint8_t)bytes;
    memcpy(out + 4, text, bytes);
    return bytes + 4;
}

static MessageRemoteUp remote(const char *name, const uint8_t *bytes, size_t count, uint64_t invoke)
{
    return (MessageRemoteUp){.name = act_text(name),
                             .payload = {bytes, (uint32_t)count},
                             .invoke_id = invoke,
                             .generation = act.world->run.manifest_version};
}

TEST(the_service_decides_who_gets_what)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/Secret", "local x = 'password'"));
    CHECK_OK(act_world_script(&act, "ReplicatedStorage/Shared", "return {}"));
    CHECK_OK(act_world_script(&act, "StarterGui/Hud", "local x = 1"));
    CHECK_OK(act_world_script(&act, "SoulService/ReplicatedFirst/Load", "local x = 1"));
    CHECK_OK(act_world_script(&act, "Workspace/Door", "function onStart(self) end"));
    CHECK_INT(act_world_script(&act, "Elsewhere/Door", "local x = 1"), STATUS_MALFORMED);
    CHECK_INT(act_world_script(&act, "Workspace", "local x = 1"), STATUS_MALFORMED);
    CHECK_INT(act_world_script(&act, "Workspace/", "local x = 1"), STATUS_MALFORMED);
    CHECK_INT(act_world_script(&act, "Workspace/Bad", "local = 1"), STATUS_MALFORMED);
    CHECK_INT(act_world_script(&act, "Workspace/Door", "local x = 1"), STATUS_EXISTS);
    const Entry leak = {.type = ENTRY_SCRIPT,
                        .flags = ENTRY_SOURCE | ENTRY_REPLICATE,
                        .name = "ServerScriptService/Leak",
                        .name_bytes = 24,
                        .bytes = (const uint8_t *)"return 1",
                        .byte_count = 8};
    CHECK_INT(world_enter(act.world, &leak), STATUS_DENIED);
    ActClient *a = act_world_join(&act, 7, "ann");
    const MessageScriptManifest *manifest = act_client_last(a, MESSAGE_SCRIPT_MANIFEST);
    REQUIRE(manifest != NULL);
    CHECK_INT(manifest->version, act.world->run.manifest_version);
    CHECK_INT(manifest->scripts_count, 4);
    for (uint32_t i = 0; i < manifest->scripts_count; i++) {
        CHECK(!is(manifest->scripts[i].service, "ServerScriptService"));
    }
    // What is verified is told to run; a module runs by require alone.
    CHECK_INT(a->counts[MESSAGE_SCRIPT_EXECUTE], 0);
    WireScriptVerdict verdicts[4];
    for (uint32_t i = 0; i < 4; i++) {
        verdicts[i] = (WireScriptVerdict){.script_path = manifest->scripts[i].path,
                                          .hash = manifest->scripts[i].rune_hash,
                                          .success = true};
    }
    MessageScriptVerifyList list = {.scripts = verdicts, .scripts_count = 4};
    CHECK(act_world_ask(&act, a, MESSAGE_SCRIPT_VERIFY_LIST, &list));
    CHECK_INT(a->counts[MESSAGE_SCRIPT_EXECUTE], 3);
    // Another hash is of another set: nothing runs. What failed does not run either.
    verdicts[3].hash.bytes[0] ^= 1;
    list = (MessageScriptVerifyList){.scripts = &verdicts[3], .scripts_count = 1};
    CHECK(act_world_ask(&act, a, MESSAGE_SCRIPT_VERIFY_LIST, &list));
    verdicts[2].success = false;
    list = (MessageScriptVerifyList){.scripts = &verdicts[2], .scripts_count = 1};
    CHECK(act_world_ask(&act, a, MESSAGE_SCRIPT_VERIFY_LIST, &list));
    list.scripts_count = 0;
    CHECK(!act_world_ask(&act, a, MESSAGE_SCRIPT_VERIFY_LIST, &list));
    CHECK_TEXT(act_client_code(a), "range");
    verdicts[2].script_path = act_text("ServerScriptService/Secret");
    list.scripts_count = 1;
    CHECK(!act_world_ask(&act, a, MESSAGE_SCRIPT_VERIFY_LIST, &list));
    CHECK_TEXT(act_client_code(a), "not_found");
    CHECK_INT(a->counts[MESSAGE_SCRIPT_EXECUTE], 3);
    const WireScriptPath secret = {.path = act_text("ServerScriptService/Secret")};
    const MessageScriptRequest request = {.script_paths = &secret, .script_paths_count = 1};
    CHECK(!act_world_ask(&act, a, MESSAGE_SCRIPT_REQUEST, &request));
    CHECK_TEXT(act_client_code(a), "not_found");
    close();
}

TEST(a_rune_arrives_whole)
{
    open();
    static char source[60000];
    size_t at = 0;
    while (at + 64 < sizeof source) {
        at += (size_t)snprintf(source + at, 64, "function f%zu() return '%06zu' end\n", at, at);
    }
    CHECK_OK(act_world_script(&act, "StarterGui/Big", source));
    ActClient *a = act_world_join(&act, 7, "ann");
    const MessageScriptManifest *manifest = act_client_last(a, MESSAGE_SCRIPT_MANIFEST);
    REQUIRE(manifest != NULL && manifest->scripts_count == 1);
    const WireManifestScript script = manifest->scripts[0];
    const uint64_t size = script.size_bytes;
    const WireScriptPath path = {.path = act_text("StarterGui/Big")};
    const MessageScriptRequest request = {.script_paths = &path, .script_paths_count = 1};
    act_world_send(&act, a, MESSAGE_SCRIPT_REQUEST, &request);
    uint8_t *rune = malloc((size_t)size);
    size_t bytes = 0;
    uint32_t pieces = 0;
    for (uint32_t i = 0; i < 100 && bytes < size; i++) {
        act_world_tick(&act, 1);
        if (a->counts[MESSAGE_SCRIPT_CHUNK] > pieces) {
            const MessageScriptChunk *chunk = act_client_last(a, MESSAGE_SCRIPT_CHUNK);
            CHECK_INT(chunk->chunk_index, pieces);
            REQUIRE(bytes + chunk->data.bytes <= size);
            memcpy(rune + bytes, chunk->data.data, chunk->data.bytes);
            bytes += chunk->data.bytes;
            pieces = a->counts[MESSAGE_SCRIPT_CHUNK];
        }
    }
    CHECK_INT(bytes, size);
    uint8_t hash[32];
    sha256_of(rune, bytes, hash);
    CHECK_BYTES(hash, script.rune_hash.bytes, 32);
    Rune checked;
    CHECK_OK(rune_check(rune, bytes, &checked));
    CHECK(pieces > 2);
    // It continues where it stopped.
    const uint32_t total = pieces;
    const MessageScriptRequest rest = {
        .script_paths = &path, .script_paths_count = 1, .from_chunk = total - 1};
    CHECK(act_world_ask(&act, a, MESSAGE_SCRIPT_REQUEST, &rest));
    act_world_tick(&act, 30);
    CHECK_INT(a->counts[MESSAGE_SCRIPT_CHUNK], total + 1);
    const MessageScriptChunk *last = act_client_last(a, MESSAGE_SCRIPT_CHUNK);
    CHECK_INT(last->chunk_index, total - 1);
    CHECK_INT(last->total_chunks, total);
    CHECK_BYTES(last->data.data, rune + (total - 1) * (16u << 10), last->data.bytes);
    free(rune);
    MessageScriptVerify verify = {.script_path = act_text("StarterGui/Big"), .success = true};
    memcpy(verify.hash.bytes, hash, 32);
    CHECK(act_world_ask(&act, a, MESSAGE_SCRIPT_VERIFY, &verify));
    close();
}

TEST(remotes_go_both_ways)
{
    open();
    CHECK_OK(act_world_script(
        &act, "ServerScriptService/Echo",
        "Network.OnClientEvent('say', function(player, text)\n"
        "  Network.Broadcast('said', text .. '!')\n"
        "end)\n"
        "Network.OnInvoke('twice', function(player, text) return text .. text end)\n"));
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    uint8_t bytes[64];
    const size_t count = payload(bytes, "hi");
    MessageRemoteUp command = remote("say", bytes, count, 0);
    act_world_send(&act, a, MESSAGE_REMOTE_UP, &command);
    act_world_tick(&act, 8);
    const MessageRemoteDown *down = act_client_last(b, MESSAGE_REMOTE_DOWN);
    REQUIRE(down != NULL);
    CHECK(is(down->name, "said"));
    CHECK_INT(down->payload.bytes, 7);
    CHECK_BYTES(down->payload.data + 4, "hi!", 3);

    command = remote("twice", bytes, count, 5);
    act_world_send(&act, a, MESSAGE_REMOTE_UP, &command);
    act_world_tick(&act, 8);
    down = act_client_last(a, MESSAGE_REMOTE_DOWN);
    CHECK(is(down->name, "answer"));
    CHECK_INT(down->invoke_id, 5);
    CHECK_BYTES(down->payload.data + 4, "hihi", 4);
    CHECK_INT(b->counts[MESSAGE_REMOTE_DOWN], 1); // not for others

    // Another version of the scripts, no values, no handler that answers.
    command = remote("twice", bytes, count, 6);
    command.generation += 1;
    act_world_send(&act, a, MESSAGE_REMOTE_UP, &command);
    act_world_tick(&act, 8);
    down = act_client_last(a, MESSAGE_REMOTE_DOWN);
    CHECK(is(down->name, "refusal"));
    CHECK_INT(down->invoke_id, 6);
    command = remote("twice", (const uint8_t *)"\xff\xff", 2, 7);
    act_world_send(&act, a, MESSAGE_REMOTE_UP, &command);
    act_world_tick(&act, 8);
    down = act_client_last(a, MESSAGE_REMOTE_DOWN);
    CHECK(is(down->name, "refusal"));
    CHECK_INT(down->invoke_id, 7);
    close();
}

TEST(one_player_alone_is_told)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/One",
                              "Network.OnClientEvent('me', function(player, text)\n"
                              "  Network.FireClient(player, 'you', text)\n"
                              "end)\n"));
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    uint8_t bytes[64];
    const MessageRemoteUp command = remote("me", bytes, payload(bytes, "hi"), 0);
    act_world_send(&act, a, MESSAGE_REMOTE_UP, &command);
    act_world_tick(&act, 8);
    CHECK_INT(a->counts[MESSAGE_REMOTE_DOWN], 1);
    CHECK_INT(b->counts[MESSAGE_REMOTE_DOWN], 0);
    close();
}

TEST(a_call_without_an_answer_fails_after_ten_seconds)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/Slow",
                              "Network.OnInvoke('never', function() task.wait(60) end)\n"));
    ActClient *a = act_world_join(&act, 7, "ann");
    uint8_t bytes[64];
    const MessageRemoteUp command = remote("never", bytes, payload(bytes, "x"), 9);
    act_world_send(&act, a, MESSAGE_REMOTE_UP, &command);
    act_world_tick(&act, 580);
    CHECK_INT(a->counts[MESSAGE_REMOTE_DOWN], 0);
    act_world_tick(&act, 40);
    const MessageRemoteDown *down = act_client_last(a, MESSAGE_REMOTE_DOWN);
    REQUIRE(down != NULL);
    CHECK(is(down->name, "refusal"));
    CHECK_INT(down->invoke_id, 9);
    close();
}

static double gold(void)
{
    ScriptWorld *world = authority_world(act.world->authority);
    ScriptValue value;
    const uint64_t vault = world->methods->find(world, (Text){"Vault", 5});
    return world->methods->attribute(world, vault, (Text){"gold", 4}, &value) ? value.number : -1;
}

TEST(a_reload_replaces_code_and_tells_everybody)
{
    open();
    CHECK_OK(
        act_world_script(&act, "ServerScriptService/Gold",
                         "function onStart() World.Find('Vault'):SetAttribute('gold', 1) end"));
    CHECK_OK(act_world_script(&act, "StarterGui/Hud", "local x = 1"));
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 4);
    CHECK_NEAR(gold(), 1, 0);
    const uint32_t version = act.world->run.manifest_version;
    const MessageScriptManifest *manifest = act_client_last(a, MESSAGE_SCRIPT_MANIFEST);
    REQUIRE(manifest != NULL);
    const WireHash before = manifest->scripts[0].rune_hash;

    CHECK_OK(
        act_world_script(&act, "ServerScriptService/Gold",
                         "function onReload(old) World.Find('Vault'):SetAttribute('gold', 2) end"));
    CHECK_OK(act_world_script(&act, "StarterGui/Hud", "local x = 2"));
    CHECK_INT(act_world_script(&act, "StarterGui/Broken", "local ="), STATUS_MALFORMED);
    act_world_tick(&act, 4);
    CHECK_NEAR(gold(), 1, 0); // only staged
    CHECK_INT(world_enter(act.world, &(Entry){.type = ENTRY_RELOAD, .number = version}),
              STATUS_RANGE);
    CHECK_OK(world_enter(act.world, &(Entry){.type = ENTRY_RELOAD, .number = version + 1}));
    act_world_tick(&act, 4);
    CHECK_NEAR(gold(), 2, 0);
    CHECK_INT(act.world->run.manifest_version, version + 1);
    const MessageScriptReload *reload = act_client_last(a, MESSAGE_SCRIPT_RELOAD);
    REQUIRE(reload != NULL);
    CHECK_INT(reload->version, version + 1);
    manifest = act_client_last(a, MESSAGE_SCRIPT_MANIFEST);
    CHECK_INT(manifest->version, version + 1);
    CHECK_INT(manifest->scripts_count, 1);
    CHECK(memcmp(before.bytes, manifest->scripts[0].rune_hash.bytes, 32) != 0);
    close();
}

TEST(stored_data_goes_out_and_comes_back)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/Data",
                              "task.spawn(function()\n"
                              "  local store = DataStore.GetDataStore('scores')\n"
                              "  local value = store:GetAsync('ann')\n"
                              "  World.Find('Vault'):SetAttribute('gold', value)\n"
                              "end)\n"));
    act_world_tick(&act, 4);
    REQUIRE(act.store_count == 1);
    CHECK_TEXT(act.store_key, "ann");
    CHECK_INT(act.last_store.operation, STORE_GET);
    // The list 42, version 1.
    const uint8_t answer[] = {6, 2, 3, 84, 3, 2};
    CHECK_OK(world_enter(act.world, &(Entry){.type = ENTRY_STORED,
                                             .flags = ENTRY_OK,
                                             .number = act.store_request,
                                             .bytes = answer,
                                             .byte_count = sizeof answer}));
    act_world_tick(&act, 2);
    CHECK_NEAR(gold(), 42, 0);
    close();
}

TEST(chat_and_sounds_of_scripts)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/Talk",
                              "Players.PlayerAdded:Connect(function(player)\n"
                              "  Chat.Send('welcome ' .. player.Name)\n"
                              "end)\n"));
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 6);
    const MessageChatSaid *said = act_client_last(a, MESSAGE_CHAT_SAID);
    REQUIRE(said != NULL);
    CHECK(is(said->text, "welcome ann"));
    CHECK_INT(said->player, 0);
    close();
}

// The next fault contains that; no other text of a fault is compared.
static void check_fault(const char *want)
{
    ScriptFault fault = {0};
    REQUIRE(script_faults(world_scripts(act.world), &fault, 1) == 1);
    if (strstr(fault.message, want) == NULL) {
        test_fail(__FILE__, __LINE__, "no \"%s\" in \"%s\"", want, fault.message);
    }
}

static void check_no_fault(void)
{
    ScriptFault fault = {0};
    if (script_faults(world_scripts(act.world), &fault, 1) != 0) {
        test_fail(__FILE__, __LINE__, "%s", fault.message);
    }
}

// What a message cannot contain is rejected where a script sends it, in the words of the script.
TEST(a_bad_text_at_the_top_level_is_a_fault)
{
    static const struct {
        const char *source;
        const char *fault;
    } cases[] = {
        {"Network.Broadcast('a\\0b')", "Network.Broadcast: argument 1 (name) must not contain a z"},
        {"Network.Broadcast('a\\xff')", "Network.Broadcast: argument 1 (name) must be valid UTF-8"},
        {"Network.BroadcastUnreliable('\\0')", "Network.BroadcastUnreliable: argument 1 (name) "},
        {"Network.OnClientEvent('a\\0b', print)", "Network.OnClientEvent: argument 1 (name) must"},
        {"Network.OnInvoke('a\\0b', print)", "Network.OnInvoke: argument 1 (name) must not"},
        {"Network.Declare('a\\0b', {})", "Network.Declare: argument 1 (name) must not contain"},
        {"Sound.Play('a\\0b')", "Sound.Play: argument 1 (name) must not contain a zero byte"},
        {"Sound.Play('a\\xc3')", "Sound.Play: argument 1 (name) must be valid UTF-8"},
        {"DataStore.GetDataStore('a\\0b')", "DataStore.GetDataStore: argument 1 (name) must not"},
        {"DataStore.GetDataStore('s'):SetAsync('a\\0b', 1)",
         "DataStore:SetAsync: argument 1 (key) "},
        {"World.Find('Vault'):SetAttribute('a\\0b', 1)",
         "Entity:SetAttribute: argument 1 (name) m"},
        {"World.Find('Vault'):SetAttribute('a', 'a\\0b')",
         "Entity:SetAttribute: argument 2 (value)"},
        {"World.Find('Vault'):AddTag('a\\0b')", "Entity:AddTag: argument 1 (tag) must not contain"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        open();
        CHECK_OK(act_world_script(&act, "ServerScriptService/Bad", cases[i].source));
        ActClient *a = act_world_join(&act, 7, "ann");
        act_world_tick(&act, 8);
        check_fault(cases[i].fault);
        check_no_fault();
        CHECK(act_world_session(&act, a)->state == SESSION_PLAYING);
        CHECK_INT(a->counts[MESSAGE_REMOTE_DOWN] + a->counts[MESSAGE_SOUND], 0);
        CHECK_INT(act.store_count, 0);
        close();
    }
}

// Names that are only looked for are found or not: a player's words must not fault a script.
TEST(a_bad_text_that_is_only_looked_for_is_not_found)
{
    open();
    CHECK_OK(
        act_world_script(&act, "ServerScriptService/Look",
                         "local vault = World.Find('Vault')\n"
                         "local found = World.Find('Vault\\0') or #World.GetTagged('\\xff') > 0\n"
                         "  or Players.GetPlayerByName('\\0') or vault:GetAttribute('\\xff')\n"
                         "  or vault:HasTag('a\\0b')\n"
                         "vault:SetAttribute('gold', found and 1 or 2)\n"));
    act_world_tick(&act, 4);
    check_no_fault();
    CHECK_NEAR(gold(), 2, 0);
    close();
}

static const char PASS_ON[] = "local function try(what, ...)\n"
                              "  local ok, why = pcall(...)\n"
                              "  if ok or not why:find('argument') and not why:find('must') then\n"
                              "    error(what .. ' ' .. tostring(why))\n"
                              "  end\n"
                              "end\n"
                              "Network.OnClientEvent('say', function(p, t)\n"
                              "  try('broadcast', Network.Broadcast, t)\n"
                              "  try('fire', Network.FireClient, p, t)\n"
                              "  try('unreliable', Network.FireClientUnreliable, p, t)\n"
                              "  try('sound', Sound.Play, t)\n"
                              "  try('store', DataStore.GetDataStore, t)\n"
                              "  try('team', function() p.Team = t end)\n"
                              "  try('stat', function() p.leaderstats[t] = 1 end)\n"
                              "  Network.FireClient(p, 'echo', t)\n"
                              "  Chat.Send(p.Name .. ': ' .. t)\n"
                              "  Chat.Send(t, p)\n"
                              "end)\n";

// A player sends any bytes, and the script passes them on wherever a text can go.
TEST(a_players_bytes_never_end_the_world)
{
    static const struct {
        const char *bytes;
        size_t count;
        const char *said;
    } cases[] = {
        {"a\0b", 3, "ann: ab"},
        {"\xff\xfe", 2, "ann: ??"},
        {"x\xc3", 2, "ann: x?"},
        {"\0\0\0", 3, "ann:"},
        {"two\nlines\x1b[1m\xc2\x85\xff", 16, "ann: two lines[1m?"},
    };
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/PassOn", PASS_ON));
    ActClient *a = act_world_join(&act, 7, "ann");
    ActClient *b = act_world_join(&act, 8, "bob");
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[64] = {6, 1, 5, (uint8_t)cases[i].count};
        memcpy(bytes + 4, cases[i].bytes, cases[i].count);
        const MessageRemoteUp command = remote("say", bytes, cases[i].count + 4, 0);
        act_world_send(&act, a, MESSAGE_REMOTE_UP, &command);
        act_world_tick(&act, 8);
        check_no_fault();
        const MessageChatSaid *said = act_client_last(b, MESSAGE_CHAT_SAID);
        REQUIRE(said != NULL);
        if (!is(said->text, cases[i].said)) {
            test_fail(__FILE__, __LINE__, "said \"%.*s\"", (int)said->text.bytes, said->text.data);
        }
        // Values of remotes are bytes, whatever they are.
        const MessageRemoteDown *down = act_client_last(a, MESSAGE_REMOTE_DOWN);
        REQUIRE(down != NULL && down->payload.bytes == cases[i].count + 4);
        CHECK_BYTES(down->payload.data, bytes, cases[i].count + 4);
    }
    close();
}

// Faults are read by programs that write them as JSON, which takes texts alone.
TEST(a_fault_is_a_text_whatever_was_raised)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/Raise", "error('a\\xff\\xc3b')"));
    act_world_tick(&act, 4);
    check_fault("a??b");
    close();
}

TEST(chat_of_scripts_is_cleaned_and_cut)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/Talk",
                              "Players.PlayerAdded:Connect(function(p)\n"
                              "  Chat.Send('\\0\\1 \\n')\n" // nothing is left: nothing is sent
                              "  Chat.Send('')\n"
                              "  Chat.Send('\\u{202e}\\u{2066}\\u{200b}')\n" // nobody would see it
                              "  Chat.Send(('\\u{e9}'):rep(400))\n"
                              "end)\n"));
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 8);
    check_no_fault();
    CHECK_INT(a->counts[MESSAGE_CHAT_SAID], 1);
    const MessageChatSaid *said = act_client_last(a, MESSAGE_CHAT_SAID);
    REQUIRE(said != NULL);
    CHECK_INT(said->text.bytes, 512);
    close();
}

static const char BOUND_SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}},\n"
    "  {\"id\": 2, \"name\": \"Vault\", \"transform\": {\"position\": [9, 0.5, 9]},"
    "   \"shape\": {\"size\": [1, 1, 1]}, \"scriptPath\": \"Workspace/Count.lua\","
    "   \"parameters\": {\"step\": 5}}]}\n";

TEST(a_script_in_workspace_runs_once_for_its_entity)
{
    memset(&store, 0, sizeof store);
    act_world_open(&act, &store, TEST_PLACE_FLAT, BOUND_SCENE, true);
    CHECK_OK(act_world_script(
        &act, "Workspace/Count.lua",
        "function onStart(self)\n"
        "  local had = self:GetAttribute('gold') or 0\n"
        "  self:SetAttribute('gold', had + self.params.step, {persistent = true})\n"
        "end\n"));
    act_world_tick(&act, 80);
    CHECK_NEAR(gold(), 5, 0);
    act_world_close(&act);
    // What it kept is there before it starts again.
    act_world_open(&act, &store, TEST_PLACE_FLAT, BOUND_SCENE, true);
    act_world_rows(&act);
    CHECK_OK(act_world_script(&act, "Workspace/Count",
                              "function onStart(self)\n"
                              "  local had = self:GetAttribute('gold') or 0\n"
                              "  self:SetAttribute('gold', had + 1, {persistent = true})\n"
                              "end\n"));
    act_world_tick(&act, 4);
    CHECK_NEAR(gold(), 6, 0);
    close();
}

static const char SPAWN_SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [6, 0, -8]}},\n"
    "  {\"id\": 2, \"name\": \"Vault\", \"transform\": {\"position\": [9, 0.5, 9]},"
    "   \"shape\": {\"size\": [1, 1, 1]}}]}\n";

// Without a position a script's player begins where one begins who joins.
TEST(a_script_spawns_a_player_at_a_spawn)
{
    memset(&store, 0, sizeof store);
    act_world_open(&act, &store, TEST_PLACE_FLAT, SPAWN_SCENE, true);
    CHECK_OK(act_world_script(&act, "ServerScriptService/Spawn",
                              "local function keep(player)\n"
                              "  local at = player.Character.Position\n"
                              "  World.Find('Vault'):SetAttribute('gold', at.X * 100 + at.Z)\n"
                              "end\n"
                              "Players.PlayerAdded:Connect(function(player)\n"
                              "  player:Spawn(Vector3.new(1, 0, 2))\n"
                              "  keep(player)\n"
                              "  task.wait(1)\n"
                              "  KillPlayer(player)\n"
                              "  player:Spawn()\n"
                              "  keep(player)\n"
                              "  task.wait(1)\n"
                              "  player.Character:Destroy()\n"
                              "  task.wait(0.1)\n"
                              "  World.Find('Vault'):SetAttribute('gold', 0)\n"
                              "  player:Spawn()\n"
                              "  keep(player)\n"
                              "end)\n"));
    (void)act_world_join(&act, 7, "ann");
    act_world_tick(&act, 10);
    CHECK_NEAR(gold(), 102, 0);
    act_world_tick(&act, 70);
    CHECK_NEAR(gold(), 592, 0); // alive again
    act_world_tick(&act, 90);
    CHECK_NEAR(gold(), 592, 0); // a new body
    close();
}

static const char TEAM_SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [\n"
    "  {\"id\": 1, \"type\": \"spawn\", \"name\": \"Lobby\", \"transform\": {\"position\": "
    "[6, 0, -8]}},\n"
    "  {\"id\": 2, \"type\": \"spawn\", \"name\": \"Base\", \"team\": \"red\","
    "   \"transform\": {\"position\": [-7, 0, 3]}},\n"
    "  {\"id\": 3, \"name\": \"Vault\", \"transform\": {\"position\": [9, 0.5, 9]},"
    "   \"shape\": {\"size\": [1, 1, 1]}}]}\n";

// A team that changes counts from the next body on, whoever makes it: a script or the world.
TEST(players_begin_where_their_team_begins)
{
    memset(&store, 0, sizeof store);
    act_world_open(&act, &store, TEST_PLACE_FLAT, TEAM_SCENE, true);
    CHECK_OK(act_world_script(&act, "ServerScriptService/Teams",
                              "local base = World.Find('Base')\n"
                              "assert(base.Team == 'red' and base.Position.X == -7)\n"
                              "assert(World.Find('Lobby').Position.Z == -8)\n"
                              "Players.PlayerAdded:Connect(function(player)\n"
                              "  player.Spawned:Connect(function(body)\n"
                              "    World.Find('Vault'):SetAttribute('gold', body.Position.X)\n"
                              "    player.Team = 'red'\n"
                              "    if body.Position.X == 6 then player:Kill() end\n"
                              "  end)\n"
                              "end)\n"));
    (void)act_world_join(&act, 7, "ann");
    act_world_tick(&act, 4);
    CHECK_NEAR(gold(), 6, 0);
    act_world_tick(&act, 130); // two seconds dead
    CHECK_NEAR(gold(), -7, 0);
    close();
}

// A checkpoint: from then on they come back there, and only they.
TEST(a_script_says_where_a_player_is_spawned)
{
    memset(&store, 0, sizeof store);
    act_world_open(&act, &store, TEST_PLACE_FLAT, SPAWN_SCENE, true);
    CHECK_OK(
        act_world_script(&act, "ServerScriptService/Spawn",
                         "local function keep(player)\n"
                         "  KillPlayer(player)\n"
                         "  player:Spawn()\n"
                         "  local at = player.Character.Position\n"
                         "  World.Find('Vault'):SetAttribute('gold', at.X * 100 + at.Z)\n"
                         "  task.wait(1)\n"
                         "end\n"
                         "Players.PlayerAdded:Connect(function(player)\n"
                         "  player:SetSpawn(Vector3.new(1, 0, 2))\n"
                         "  keep(player)\n"
                         "  for _, bad in ipairs({1e30, 16385, -1e9}) do\n"
                         "    assert(not pcall(player.SetSpawn, player, Vector3.new(bad, 0, 0)))\n"
                         "  end\n"
                         "  assert(not pcall(player.SetSpawn, player, Vector3.one * 1e30 * 1e30))\n"
                         "  assert(not pcall(player.SetSpawn, player, 'Vault'))\n"
                         "  player:SetSpawn(World.Find('Vault'))\n"
                         "  keep(player)\n"
                         "  player:SetSpawn(nil)\n"
                         "  keep(player)\n"
                         "end)\n"));
    (void)act_world_join(&act, 7, "ann");
    act_world_tick(&act, 10);
    CHECK_NEAR(gold(), 102, 0);
    act_world_tick(&act, 60);
    CHECK_NEAR(gold(), 909, 0); // where the vault stands
    act_world_tick(&act, 60);
    CHECK_NEAR(gold(), 592, 0); // the scene's, as in the test above
    check_no_fault();
    close();
}

TEST(a_script_kicks_a_player_who_reads_why)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/Kick",
                              "Players.PlayerAdded:Connect(function(player)\n"
                              "  if player.Name ~= 'ann' then return end\n"
                              "  Chat.Send('bye', player)\n"
                              "  player:Kick('no\\nannoying\\xff\\0 people')\n"
                              "  player:Kick('not this one')\n"
                              "  assert(player.Character ~= nil, 'until the end of the tick')\n"
                              "  task.wait(0.5)\n"
                              "  assert(not pcall(player.Kick, player), 'gone')\n"
                              "  assert(#Players.GetPlayers() == 1)\n"
                              "end)\n"
                              "Players.PlayerRemoving:Connect(function(player)\n"
                              "  Chat.Send(player.Name .. ' went')\n"
                              "end)\n"));
    ActClient *b = act_world_join(&act, 8, "bob");
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 60);
    CHECK_TEXT(act_client_code(a), "kicked");
    const MessageError *error = act_client_last(a, MESSAGE_ERROR);
    REQUIRE(error != NULL);
    CHECK(is(error->message, "the place ended this session: no annoying? people"));
    CHECK_INT(world_stats(act.world).players, 1);
    const MessageChatSaid *said = act_client_last(b, MESSAGE_CHAT_SAID);
    REQUIRE(said != NULL);
    CHECK(is(said->text, "ann went"));
    check_no_fault();
    // They may come back, and are kicked again; nobody else notices, and nothing is left behind.
    for (uint32_t i = 0; i < 20; i++) {
        act_world_cut(&act, a); // as the owner does once the last message is out
        a = act_world_join(&act, 7, "ann");
        act_world_tick(&act, 10);
        CHECK_TEXT(act_client_code(a), "kicked");
        CHECK_INT(world_stats(act.world).players, 1);
    }
    check_no_fault();
    close();
}

// What scripts build for a player outlives the world; what they build for themselves they build
// again.
TEST(scripts_build_too)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/Build",
                              "Players.PlayerAdded:Connect(function(player)\n"
                              "  Structure.Place(0, Vector3.new(3, 0, 3), 0, player)\n"
                              "  Structure.Place(0, Vector3.new(5, 0, 3), 0)\n"
                              "end)\n"));
    (void)act_world_join(&act, 7, "ann");
    act_world_tick(&act, 10);
    const uint32_t stands = sim_count(act.world->sim, ENTITY_STRUCTURE);
    uint32_t rows = 0;
    for (uint32_t i = 0; i < store.count; i++) {
        rows += store.rows[i].row.type == ROW_STRUCTURE;
    }
    CHECK_INT(stands, 2);
    CHECK_INT(rows, 1);
    close();
}

// A world without scripts keeps working, and reports it.
TEST(without_scripts)
{
    memset(&store, 0, sizeof store);
    act_world_open(&act, &store, TEST_PLACE_FLAT, SCENE, false);
    CHECK_OK(act_world_script(&act, "ServerScriptService/Any", "local ="));
    ActClient *a = act_world_join(&act, 7, "ann");
    uint8_t bytes[64];
    const MessageRemoteUp command = remote("any", bytes, payload(bytes, "x"), 3);
    act_world_send(&act, a, MESSAGE_REMOTE_UP, &command);
    act_world_tick(&act, 6);
    const MessageRemoteDown *down = act_client_last(a, MESSAGE_REMOTE_DOWN);
    REQUIRE(down != NULL);
    CHECK(is(down->name, "refusal"));
    CHECK_INT(a->counts[MESSAGE_SCRIPT_MANIFEST], 0);
    close();
}

TEST(numbers_for_the_board_and_teams_reach_everybody)
{
    open();
    CHECK_OK(
        act_world_script(&act, "ServerScriptService/Board",
                         "Players.PlayerAdded:Connect(function(p) p.leaderstats.Coins = 5 end)\n"
                         "Timer.Every(0.5, function()\n"
                         "  for _, p in ipairs(Players.GetPlayers()) do\n"
                         "    p.leaderstats.Coins = p.leaderstats.Coins + 1\n"
                         "    p.Team = 'red'\n"
                         "  end\n"
                         "end)\n"));
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 12);
    const MessagePlayerStat *stat = act_client_last(a, MESSAGE_PLAYER_STAT);
    REQUIRE(stat != NULL);
    CHECK(is(stat->name, "Coins"));
    CHECK_NEAR(stat->value, 5, 0);
    act_world_tick(&act, 60);
    stat = act_client_last(a, MESSAGE_PLAYER_STAT);
    CHECK(stat->value >= 6);
    const uint32_t told = a->counts[MESSAGE_PLAYER_STAT];
    CHECK(told <= 4); // only when it changes
    const MessagePlayerJoined *joined = act_client_last(a, MESSAGE_PLAYER_JOINED);
    REQUIRE(joined != NULL);
    CHECK(is(joined->team, "red"));
    // A player who comes later gets those who are there.
    ActClient *b = act_world_join(&act, 8, "bo");
    act_world_tick(&act, 3);
    CHECK(b->counts[MESSAGE_PLAYER_STAT] >= 1);
    close();
}

// Most scripts choose the team when a player comes in, after everybody was told who it is.
TEST(a_team_that_a_player_comes_in_with_is_told)
{
    open();
    CHECK_OK(act_world_script(&act, "ServerScriptService/Teams",
                              "Players.PlayerAdded:Connect(function(p) p.Team = p.Name == 'ann' "
                              "and 'red' or 'blue' end)\n"));
    ActClient *a = act_world_join(&act, 7, "ann");
    act_world_tick(&act, 12);
    const MessagePlayerJoined *joined = act_client_last(a, MESSAGE_PLAYER_JOINED);
    REQUIRE(joined != NULL);
    CHECK(is(joined->team, "red"));
    const uint32_t told = a->counts[MESSAGE_PLAYER_JOINED];
    ActClient *b = act_world_join(&act, 8, "bo");
    act_world_tick(&act, 12);
    joined = act_client_last(a, MESSAGE_PLAYER_JOINED);
    CHECK_INT(joined->player, 8);
    CHECK(is(joined->team, "blue"));
    CHECK_INT(a->counts[MESSAGE_PLAYER_JOINED], told + 2); // who came, and the team
    CHECK(
        is(((const MessagePlayerJoined *)act_client_last(b, MESSAGE_PLAYER_JOINED))->team, "blue"));
    act_world_tick(&act, 60);
    CHECK_INT(a->counts[MESSAGE_PLAYER_JOINED], told + 2);
    close();
}

TEST(a_storm_of_events_keeps_no_join_from_anybody)
{
    static const char hurt[] = "function onUpdate()\n"
                               "  for _, p in ipairs(Players.GetPlayers()) do\n"
                               "    for i = 1, 500 do p.Character:TakeDamage(0.0001) end\n"
                               "  end\n"
                               "end\n";
    static const char *const storms[] = {
        "function onUpdate() for i = 1, 1024 do pcall(Network.Broadcast, 'flood', i) end end",
        "function onUpdate() for i = 1, 400 do pcall(Chat.Send, 'spam ' .. i) end end", hurt};
    for (uint32_t i = 0; i < 3; i++) {
        open();
        CHECK_OK(act_world_script(&act, "ServerScriptService/Storm", storms[i]));
        ActClient *a = act_world_join(&act, 7, "ann");
        a->silent = true; // its events wait
        act_world_tick(&act, 60);
        const uint32_t before = a->counts[MESSAGE_PLAYER_JOINED];
        (void)act_world_join(&act, 8, "bo");
        a->silent = false;
        act_world_tick(&act, 60);
        CHECK(a->counts[MESSAGE_PLAYER_JOINED] > before);
        close();
    }
}

// How a world uses a signed manifest: it is sent as it was signed, rejected if it names other runes
// than the world has, and respects the contexts that a place restricts.
#include "core/base/sha256.h"
#include "core/wire/manifest.h"
#include "tests/unit/act_world.h"

#include <stdio.h>
#include <string.h>

#define RUNES_MAX 4

static ActStore store;
static ActWorld act;
static uint8_t signature[64];
static ManifestRow rows[RUNES_MAX];
static uint32_t row_count;
static uint8_t runes[RUNES_MAX][4096];
static size_t rune_bytes[RUNES_MAX];

static const char SCENE[] =
    "{\"format\": 1,\n"
    " \"terrain\": [{\"min\": [-32, -4, -32], \"max\": [31, -1, 31], \"kind\": \"grass\"}],\n"
    " \"entities\": [{\"id\": 1, \"type\": \"spawn\", \"transform\": {\"position\": [0, 0, 0]}}]}";

static void open(void)
{
    memset(&store, 0, sizeof store);
    memset(rows, 0, sizeof rows);
    row_count = 0;
    memset(signature, 0x5a, sizeof signature);
    act_world_open(&act, &store, TEST_PLACE_FLAT, SCENE, true);
}

static void close(void)
{
    act_world_close(&act);
    act_store_free(&store);
}

static Status add(const char *path, const char *source, uint32_t context, uint32_t *index)
{
    const CompileRequest request = {
        .script_id = path, .code = source, .code_bytes = strlen(source)};
    char error[SCRIPT_MESSAGE_BYTES];
    const uint32_t i = row_count++;
    CHECK_OK(script_make_rune(world_scripts(act.world), &request, runes[i], sizeof runes[i],
                              &rune_bytes[i], error));
    *index = i;
    return world_enter(act.world, &(Entry){.type = ENTRY_SCRIPT,
                                           .number = context,
                                           .name = path,
                                           .name_bytes = (uint32_t)strlen(path),
                                           .bytes = runes[i],
                                           .byte_count = rune_bytes[i]});
}

static void name(uint32_t i, const char *path, const char *service, const char *context)
{
    rows[i] = (ManifestRow){.path = act_text(path),
                            .size_bytes = (uint32_t)rune_bytes[i],
                            .run_context = act_text(context),
                            .service = act_text(service),
                            .replicate = true};
    sha256_of(runes[i], rune_bytes[i], rows[i].rune_hash);
}

static Status reload(const ManifestRow *from, uint32_t count, uint32_t version, uint64_t number)
{
    static uint8_t text[16384];
    const ManifestList list = {
        .version = version, .server_tick = 900, .rows = from, .row_count = count};
    ByteWriter writer = byte_writer(text, sizeof text);
    CHECK_OK(manifest_write(&list, signature, &writer));
    return world_enter(
        act.world,
        &(Entry){.type = ENTRY_RELOAD, .number = number, .bytes = text, .byte_count = writer.at});
}

TEST(it_is_sent_as_it_was_signed)
{
    open();
    uint32_t secret, hud, words;
    // The order of entries is not the signed one.
    CHECK_OK(add("StarterGui/Hud", "local x = 1", ENTRY_CONTEXT_SERVICE, &hud));
    CHECK_OK(
        add("ServerScriptService/Secret", "local x = 'password'", ENTRY_CONTEXT_SERVICE, &secret));
    CHECK_OK(add("ReplicatedStorage/Words", "return {}", ENTRY_CONTEXT_SERVICE, &words));
    name(hud, "StarterGui/Hud.ts", "StarterGui", "Client");
    name(words, "ReplicatedStorage/Words.lua", "ReplicatedStorage", "Both");
    const Text requires[] = {act_text("ReplicatedStorage/Words")};
    rows[hud].requires = requires;
    rows[hud].require_count = 1;
    const ManifestRow sorted[] = {rows[words], rows[hud]};
    CHECK_OK(reload(sorted, 2, 12, 12));
    ActClient *a = act_world_join(&act, 7, "ann");
    const MessageScriptManifest *manifest = act_client_last(a, MESSAGE_SCRIPT_MANIFEST);
    REQUIRE(manifest != NULL);
    CHECK_INT(manifest->version, 12);
    CHECK_INT(manifest->server_tick, 900);
    REQUIRE(manifest->signature.bytes == 64);
    CHECK_BYTES(manifest->signature.data, signature, 64);
    REQUIRE(manifest->scripts_count == 2);
    CHECK(text_equal(manifest->scripts[0].path, act_text("ReplicatedStorage/Words.lua")));
    CHECK(text_equal(manifest->scripts[1].path, act_text("StarterGui/Hud.ts")));
    CHECK(manifest->scripts[0].replicate && manifest->scripts[1].replicate);
    CHECK_INT(manifest->text_bytes, 0);
    REQUIRE(manifest->scripts[1].requires_count == 1);
    CHECK(text_equal(manifest->scripts[1].requires[0].path, requires[0]));
    MessageScriptVerify verify = {.script_path = act_text("StarterGui/Hud"), .success = true};
    memcpy(verify.hash.bytes, rows[hud].rune_hash, sizeof verify.hash.bytes);
    CHECK(act_world_ask(&act, a, MESSAGE_SCRIPT_VERIFY, &verify));
    CHECK_INT(a->counts[MESSAGE_SCRIPT_EXECUTE], 1);
    close();
}

TEST(one_that_names_other_runes_is_refused)
{
    open();
    uint32_t hud, words;
    CHECK_OK(add("StarterGui/Hud", "local x = 1", ENTRY_CONTEXT_SERVICE, &hud));
    CHECK_OK(add("ReplicatedStorage/Words", "return {}", ENTRY_CONTEXT_SERVICE, &words));
    name(hud, "StarterGui/Hud.lua", "StarterGui", "Client");
    name(words, "ReplicatedStorage/Words.lua", "ReplicatedStorage", "Both");
    ManifestRow sorted[] = {rows[words], rows[hud]};
    CHECK_INT(reload(sorted, 1, 3, 3), STATUS_MISMATCH); // one is missing
    sorted[1].rune_hash[0] ^= 1;
    CHECK_INT(reload(sorted, 2, 3, 3), STATUS_MISMATCH);
    sorted[1] = rows[hud];
    sorted[1].size_bytes += 1;
    CHECK_INT(reload(sorted, 2, 3, 3), STATUS_MISMATCH);
    sorted[1] = rows[hud];
    sorted[1].path = act_text("StarterGui/Other.lua");
    CHECK_INT(reload(sorted, 2, 3, 3), STATUS_MISMATCH);
    sorted[1] = rows[hud];
    CHECK_INT(reload(sorted, 2, 3, 4), STATUS_MISMATCH); // of another version
    static const uint8_t garbage[] = "{\"version\":3}";
    CHECK(world_enter(act.world, &(Entry){.type = ENTRY_RELOAD,
                                          .number = 3,
                                          .bytes = garbage,
                                          .byte_count = sizeof garbage - 1}) != STATUS_OK);
    CHECK_OK(reload(sorted, 2, 3, 3));
    // What follows would not be signed.
    uint32_t late;
    CHECK_INT(add("StarterGui/Late", "local x = 1", ENTRY_CONTEXT_SERVICE, &late), STATUS_BLOCKED);
    close();
}

// A version can only be raised by signing again.
TEST(an_earlier_life_was_further)
{
    open();
    uint32_t hud;
    CHECK_OK(add("StarterGui/Hud", "local x = 1", ENTRY_CONTEXT_SERVICE, &hud));
    name(hud, "StarterGui/Hud.lua", "StarterGui", "Client");
    uint8_t bytes[128];
    const RowMeta meta = {.next_net_id = 10, .next_player = 2, .tick = 5, .manifest_version = 8};
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_put_meta(&meta, &writer);
    CHECK_OK(world_enter(act.world,
                         &(Entry){.type = ENTRY_ROW, .bytes = bytes, .byte_count = writer.at}));
    CHECK_INT(reload(rows, 1, 8, 8), STATUS_RANGE);
    CHECK_OK(reload(rows, 1, 9, 9));
    act_world_tick(&act, 2);
    CHECK_INT(act.world->run.manifest_version, 9);
    close();
}

TEST(a_place_may_narrow_never_widen)
{
    open();
    uint32_t door, hud, secret;
    CHECK_OK(add("Workspace/Door", "local x = 'password'", entry_context(CONTEXT_SERVER), &door));
    CHECK_INT(add("StarterGui/Hud", "local x = 1", entry_context(CONTEXT_BOTH), &hud),
              STATUS_DENIED);
    CHECK_INT(
        add("ServerScriptService/Secret", "local x = 1", entry_context(CONTEXT_CLIENT), &secret),
        STATUS_DENIED);
    CHECK_INT(world_enter(act.world, &(Entry){.type = ENTRY_SCRIPT,
                                              .flags = ENTRY_REPLICATE,
                                              .number = entry_context(CONTEXT_SERVER),
                                              .name = "Workspace/Two",
                                              .name_bytes = 13,
                                              .bytes = runes[0],
                                              .byte_count = rune_bytes[0]}),
              STATUS_DENIED);
    CHECK_INT(world_enter(act.world, &(Entry){.type = ENTRY_SCRIPT,
                                              .number = 4,
                                              .name = "Workspace/Two",
                                              .name_bytes = 13,
                                              .bytes = runes[0],
                                              .byte_count = rune_bytes[0]}),
              STATUS_DENIED);
    ActClient *a = act_world_join(&act, 7, "ann");
    const MessageScriptManifest *manifest = act_client_last(a, MESSAGE_SCRIPT_MANIFEST);
    REQUIRE(manifest != NULL);
    CHECK_INT(manifest->scripts_count, 0);
    const WireScriptPath path = {.path = act_text("Workspace/Door")};
    const MessageScriptRequest request = {.script_paths = &path, .script_paths_count = 1};
    CHECK(!act_world_ask(&act, a, MESSAGE_SCRIPT_REQUEST, &request));
    close();
}

TEST(packed_runes_go_to_those_who_can_read_them)
{
    open();
    uint32_t hud, secret;
    static const uint8_t packed[] = "as if it were packed";
    Entry entry = {.type = ENTRY_SCRIPT,
                   .flags = ENTRY_PACKED,
                   .number = 0xfffffff0u,
                   .name = "StarterGui/Hud",
                   .name_bytes = 14,
                   .bytes = packed,
                   .byte_count = sizeof packed};
    CHECK_INT(world_enter(act.world, &entry), STATUS_NOT_FOUND); // before its rune
    CHECK_OK(add("StarterGui/Hud", "local x = 1", ENTRY_CONTEXT_SERVICE, &hud));
    entry.number = 0; // would mean that it is not packed
    CHECK_INT(world_enter(act.world, &entry), STATUS_RANGE);
    entry.number = 0x100000000u;
    CHECK_INT(world_enter(act.world, &entry), STATUS_RANGE);
    entry.number = 0xfffffff0u;
    CHECK_OK(world_enter(act.world, &entry));
    CHECK_INT(world_enter(act.world, &entry), STATUS_NOT_FOUND); // twice
    CHECK_OK(add("ServerScriptService/Secret", "local x = 1", ENTRY_CONTEXT_SERVICE, &secret));
    entry.name = "ServerScriptService/Secret";
    entry.name_bytes = 26;
    CHECK_INT(world_enter(act.world, &entry), STATUS_NOT_FOUND); // nobody is ever sent it
    ActClient *a = act_world_join(&act, 7, "ann");
    const WireScriptPath path = {.path = act_text("StarterGui/Hud")};
    MessageScriptRequest request = {
        .script_paths = &path, .script_paths_count = 1, .encoding = 0xfffffff0u};
    CHECK(act_world_ask(&act, a, MESSAGE_SCRIPT_REQUEST, &request));
    act_world_tick(&act, 30);
    const MessageScriptChunk *chunk = act_client_last(a, MESSAGE_SCRIPT_CHUNK);
    REQUIRE(chunk != NULL);
    CHECK_INT(chunk->encoding, 0xfffffff0u);
    REQUIRE(chunk->data.bytes == sizeof packed);
    CHECK_BYTES(chunk->data.data, packed, sizeof packed);
    const uint32_t others[] = {0, 1, 0xfffffff1u}; // nothing, or something else
    for (uint32_t i = 0; i < 3; i++) {
        request.encoding = others[i];
        CHECK(act_world_ask(&act, a, MESSAGE_SCRIPT_REQUEST, &request));
        act_world_tick(&act, 30);
        chunk = act_client_last(a, MESSAGE_SCRIPT_CHUNK);
        CHECK_INT(chunk->encoding, 0);
        REQUIRE(chunk->data.bytes == rune_bytes[hud]);
        CHECK_BYTES(chunk->data.data, runes[hud], rune_bytes[hud]);
    }
    close();
}

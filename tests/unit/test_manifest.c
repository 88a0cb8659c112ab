// The manifest's canonical bytes, compared with vectors from another implementation, and its reader
// with every kind of invalid text.
#include "core/base/json_read.h"
#include "core/wire/manifest.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>
#ifndef __wasm__
#include <sodium.h>
#endif

extern const char manifest_vectors[];

static uint8_t tree_block[1 << 20], arena_block[MANIFEST_ARENA_BYTES];

static Status read(const char *text, ManifestList *list, bool *is_signed, JsonError *error)
{
    static uint8_t signature[MANIFEST_SIGNATURE_BYTES];
    Arena arena;
    arena_init(&arena, arena_block, sizeof arena_block);
    return manifest_read(&arena, text, strlen(text), list, signature, is_signed, error);
}

// --- vectors ------------------------------------------------------------------------------------

static void from_hex(const char *hex, uint8_t *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned value = 0;
        CHECK_INT(sscanf(hex + 2 * i, "%2x", &value), 1);
        out[i] = (uint8_t)value;
    }
}

static void check_vector(const JsonNode *vector, const uint8_t public_half[32],
                         const uint8_t seed[32])
{
    JsonError error = {0};
    const char *want_signed =
        json_read_text(json_read_member(vector, "signed", &error), 1 << 16, &error);
    const char *want_text =
        json_read_text(json_read_member(vector, "text", &error), 1 << 16, &error);
    const char *hex = json_read_text(json_read_member(vector, "signature", &error), 128, &error);
    REQUIRE(error.status == STATUS_OK && strlen(hex) == 128);
    uint8_t want_signature[64], signature[64];
    from_hex(hex, want_signature, sizeof want_signature);

    Arena arena;
    arena_init(&arena, arena_block, sizeof arena_block);
    ManifestList list;
    bool is_signed = false;
    CHECK_OK(
        manifest_read(&arena, want_text, strlen(want_text), &list, signature, &is_signed, &error));
    REQUIRE(test_is_passing() && is_signed);
    CHECK_BYTES(signature, want_signature, sizeof signature);

    static char text[1 << 16];
    ByteWriter writer = byte_writer(text, sizeof text - 1);
    CHECK_OK(manifest_write(&list, NULL, &writer));
    text[writer.at] = '\0';
    CHECK_TEXT(text, want_signed);
#ifndef __wasm__
    uint8_t secret[64], again[32], made[64];
    REQUIRE(sodium_init() >= 0 && crypto_sign_seed_keypair(again, secret, seed) == 0);
    CHECK_BYTES(again, public_half, sizeof again);
    REQUIRE(crypto_sign_detached(made, NULL, (const uint8_t *)text, writer.at, secret) == 0);
    CHECK_BYTES(made, want_signature, sizeof made);
#else
    (void)seed;
    (void)public_half;
#endif
    writer = byte_writer(text, sizeof text - 1);
    CHECK_OK(manifest_write(&list, signature, &writer));
    text[writer.at] = '\0';
    CHECK_TEXT(text, want_text);
}

TEST(the_vectors_hold_in_both_directions)
{
    Arena arena;
    arena_init(&arena, tree_block, sizeof tree_block);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    JsonError error = {0};
    REQUIRE(json_parse(&config, manifest_vectors, strlen(manifest_vectors), &root, &error) ==
            STATUS_OK);
    uint8_t seed[32], public_half[32];
    from_hex(json_read_text(json_read_member(root, "seed", &error), 64, &error), seed, 32);
    from_hex(json_read_text(json_read_member(root, "public", &error), 64, &error), public_half, 32);
    const JsonNode *vector =
        json_read_array(json_read_member(root, "vectors", &error), 3, 100, &error);
    REQUIRE(error.status == STATUS_OK);
    for (; vector != NULL; vector = vector->next) {
        check_vector(vector, public_half, seed);
    }
}

// --- what is none -------------------------------------------------------------------------------

#define HASH "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define ROW(path, replicate, requires, context, hash, service, size)                   \
    "{\"path\":\"" path "\",\"replicate\":" replicate                                  \
    ",\"requires\":" requires ",\"run_context\":\"" context "\",\"rune_hash\":\"" hash \
                              "\",\"service\":\"" service "\","                        \
                              "\"size_bytes\":" size "}"
#define LIST(rows) "{\"scripts\":[" rows "],\"server_tick\":0,\"version\":1}"
#define DOOR       ROW("Workspace/Door.lua", "true", "[]", "Both", HASH, "Workspace", "412")

static void refuse(const char *text, const char *path, const char *message)
{
    ManifestList list = {.version = 77};
    bool is_signed = true;
    JsonError error;
    const Status status = read(text, &list, &is_signed, &error);
    if (status == STATUS_OK || strcmp(error.path, path) != 0 ||
        strstr(error.message, message) == NULL) {
        test_fail(__FILE__, __LINE__, "status %s, %s %s\n  wanted %s … %s …\n  of %s",
                  status_name(status), error.path, error.message, path, message, text);
    }
    CHECK(list.version == 77 && is_signed); // untouched
}

TEST(a_row_is_read)
{
    ManifestList list;
    bool is_signed = true;
    JsonError error;
    REQUIRE(read(LIST(DOOR), &list, &is_signed, &error) == STATUS_OK);
    CHECK(!is_signed && list.row_count == 1 && list.version == 1 && list.server_tick == 0);
    CHECK(list.cdn_base.bytes == 0 && list.rows[0].replicate && list.rows[0].size_bytes == 412);
    CHECK(list.rows[0].rune_hash[1] == 0x11 && list.rows[0].require_count == 0);
}

TEST(members_are_all_there_and_no_others)
{
    refuse("{\"scripts\":[],\"server_tick\":0}", "$.version", "missing");
    refuse("{\"scripts\":[],\"version\":0}", "$.server_tick", "missing");
    refuse("{\"server_tick\":0,\"version\":0}", "$.scripts", "missing");
    refuse("{\"scripts\":[],\"server_tick\":0,\"version\":1,\"more\":1}", "$.more", "");
    refuse(LIST("{}"), "$.scripts[0].path", "missing");
    refuse(LIST("{\"path\":\"a\",\"extra\":1}"), "$.scripts[0].extra", "");
    refuse("[]", "$", "object");
    refuse("", "$", "");
    refuse("{\"scripts\":{},\"server_tick\":0,\"version\":1}", "$.scripts", "array");
}

TEST(numbers_have_their_range)
{
    refuse("{\"scripts\":[],\"server_tick\":0,\"version\":4294967296}", "$.version", "");
    refuse("{\"scripts\":[],\"server_tick\":0,\"version\":-1}", "$.version", "");
    refuse("{\"scripts\":[],\"server_tick\":0,\"version\":1.5}", "$.version", "");
    refuse("{\"scripts\":[],\"server_tick\":9007199254740992,\"version\":1}", "$.server_tick", "");
    refuse(LIST(ROW("Workspace/D.lua", "true", "[]", "Both", HASH, "Workspace", "0")),
           "$.scripts[0].size_bytes", "");
    refuse(LIST(ROW("Workspace/D.lua", "true", "[]", "Both", HASH, "Workspace", "524289")),
           "$.scripts[0].size_bytes", "");
}

TEST(hashes_and_signatures_have_one_form)
{
    static const char *const bad[] = {
        "sha256:00", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        "sha256:00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff",
        "sha512:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeefg"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 LIST(ROW("Workspace/D.lua", "true", "[]", "Both", "%s", "Workspace", "9")),
                 bad[i]);
        refuse(text, "$.scripts[0].rune_hash", "hex");
    }
    refuse("{\"scripts\":[],\"server_tick\":0,\"signature\":\"ab\",\"version\":1}", "$.signature",
           "hex");
    refuse("{\"scripts\":[],\"server_tick\":0,\"signature\":null,\"version\":1}", "$.signature",
           "string");
}

TEST(paths_stay_in_their_service)
{
    static const char *const bad[] = {"Workspace/Door",
                                      "StarterGui/Door.lua",
                                      "Workspace/../x.lua",
                                      "Workspace//x.lua",
                                      "Workspace/.x.lua",
                                      "Workspace/a/.b/x.lua",
                                      "Workspace/.lua",
                                      "WorkspaceX/Door.lua",
                                      "/Workspace/Door.lua",
                                      "Workspace/a\\\\b.lua",
                                      "Workspace/a\\u0001.lua",
                                      "Workspace/Door.rune",
                                      "Workspace/",
                                      ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, LIST(ROW("%s", "true", "[]", "Both", HASH, "Workspace", "9")),
                 bad[i]);
        refuse(text, "$.scripts[0].path", "");
    }
}

TEST(what_stays_on_the_server_is_not_replicated)
{
    refuse(LIST(ROW("ServerScriptService/S.lua", "true", "[]", "Server", HASH,
                    "ServerScriptService", "9")),
           "$.scripts[0].replicate", "server");
}

TEST(rows_and_requires_are_sorted_and_each_once)
{
    refuse(LIST(DOOR "," DOOR), "$.scripts[1].path", "after");
    refuse(LIST(DOOR "," ROW("Workspace/A.lua", "true", "[]", "Both", HASH, "Workspace", "9")),
           "$.scripts[1].path", "after");
    refuse(LIST(ROW("Workspace/D.lua", "true", "[\"b\",\"a\"]", "Both", HASH, "Workspace", "9")),
           "$.scripts[0].requires[1]", "after");
    refuse(LIST(ROW("Workspace/D.lua", "true", "[\"a\",\"a\"]", "Both", HASH, "Workspace", "9")),
           "$.scripts[0].requires[1]", "after");
    refuse(LIST(ROW("Workspace/D.lua", "true", "[1]", "Both", HASH, "Workspace", "9")),
           "$.scripts[0].requires[0]", "string");
}

TEST(too_many_are_refused_before_they_are_read)
{
    static char text[1 << 20];
    size_t at = (size_t)snprintf(text, sizeof text, "{\"scripts\":[");
    for (uint32_t i = 0; i <= MANIFEST_ROWS_MAX; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s{}", i == 0 ? "" : ",");
    }
    snprintf(text + at, sizeof text - at, "],\"server_tick\":0,\"version\":1}");
    refuse(text, "$.scripts", "");
}

TEST(every_truncation_is_refused)
{
    static const char whole[] = LIST(DOOR);
    char text[sizeof whole];
    for (size_t bytes = 0; bytes + 1 < sizeof whole; bytes++) {
        memcpy(text, whole, bytes);
        text[bytes] = '\0';
        ManifestList list;
        bool is_signed;
        JsonError error;
        CHECK(read(text, &list, &is_signed, &error) != STATUS_OK);
    }
}

TEST(a_small_arena_is_a_limit)
{
    static const char text[] = LIST(DOOR);
    for (size_t bytes = 0; bytes < 1400; bytes += 16) {
        Arena arena;
        arena_init(&arena, arena_block, bytes);
        ManifestList list;
        uint8_t signature[64];
        bool is_signed;
        JsonError error;
        const Status status =
            manifest_read(&arena, text, sizeof text - 1, &list, signature, &is_signed, &error);
        CHECK(status == STATUS_OK || (status == STATUS_LIMIT && arena.used == 0));
    }
}

TEST(what_does_not_fit_is_said)
{
    const ManifestList list = {.version = 1};
    char text[8];
    ByteWriter writer = byte_writer(text, sizeof text);
    CHECK_INT(manifest_write(&list, NULL, &writer), STATUS_LIMIT);
}

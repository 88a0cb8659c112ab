// Which runes a world process accepts: exactly those that a manifest names which the host's key has
// signed; of a second set, exactly those that start again.
#include "server/shell/rune_gate.h"

#include "core/base/sha256.h"
#include "server/build/sign/manifest_sign.h"
#include "tests/support/test.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 8192

typedef struct Cast {
    SigningKey key, other;
    ManifestRow rows[2];
    uint8_t text[TEXT_BYTES], client[TEXT_BYTES];
    size_t text_bytes, client_bytes;
    char reason[240];
    RuneGate gate;
} Cast;

static Cast cast;
static const char secret_rune[] = "the bytes of a rune of the server's";
static const char door_rune[] = "the bytes of a door's rune";

static Text text_of(const char *text)
{
    return (Text){text, (uint32_t)strlen(text)};
}

static size_t sign(const SigningKey *key, const ManifestList *list, uint8_t *out)
{
    Buffer text = buffer_of(TEXT_BYTES);
    CHECK_OK(manifest_sign(list, key, &text));
    memcpy(out, text.data, text.bytes);
    const size_t bytes = text.bytes;
    buffer_free(&text);
    return bytes;
}

static void cast_open(uint32_t client_version)
{
    memset(&cast, 0, sizeof cast);
    REQUIRE(sodium_init() >= 0);
    (void)crypto_sign_keypair(cast.key.public_half, cast.key.secret);
    (void)crypto_sign_keypair(cast.other.public_half, cast.other.secret);
    cast.rows[0] = (ManifestRow){.path = text_of("ServerScriptService/Secret.lua"),
                                 .size_bytes = sizeof secret_rune,
                                 .run_context = text_of("Server"),
                                 .service = text_of("ServerScriptService")};
    cast.rows[1] = (ManifestRow){.path = text_of("Workspace/Door.ts"),
                                 .size_bytes = sizeof door_rune,
                                 .run_context = text_of("Both"),
                                 .service = text_of("Workspace"),
                                 .replicate = true};
    sha256_of(secret_rune, sizeof secret_rune, cast.rows[0].rune_hash);
    sha256_of(door_rune, sizeof door_rune, cast.rows[1].rune_hash);
    ManifestList list = {.version = 4, .rows = cast.rows, .row_count = 2};
    cast.text_bytes = sign(&cast.key, &list, cast.text);
    list = (ManifestList){.version = client_version, .rows = cast.rows + 1, .row_count = 1};
    cast.client_bytes = sign(&cast.key, &list, cast.client);
}

static Status gate_open(const SigningKey *key)
{
    return rune_gate_open(&cast.gate, key->public_half, cast.text, cast.text_bytes, cast.reason,
                          sizeof cast.reason);
}

static Entry script(const char *path, const char *bytes, size_t count)
{
    return (Entry){.type = ENTRY_SCRIPT,
                   .name = path,
                   .name_bytes = (uint32_t)strlen(path),
                   .bytes = (const uint8_t *)bytes,
                   .byte_count = count};
}

static Status pass(const Entry *entry)
{
    return rune_gate_check(&cast.gate, entry, cast.reason, sizeof cast.reason);
}

static Status finish(void)
{
    return rune_gate_finish(&cast.gate, cast.reason, sizeof cast.reason);
}

static void check_reason(const char *part)
{
    if (strstr(cast.reason, part) == NULL) {
        test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", part, cast.reason);
    }
}

TEST(what_was_signed_passes_when_all_of_it_came)
{
    cast_open(4);
    CHECK_OK(gate_open(&cast.key));
    const Entry row = {.type = ENTRY_ROW, .bytes = (const uint8_t *)"?", .byte_count = 1};
    CHECK_OK(pass(&row));
    const Entry secret = script("ServerScriptService/Secret", secret_rune, sizeof secret_rune);
    Entry door = script("Workspace/Door", door_rune, sizeof door_rune);
    CHECK_OK(pass(&secret));
    CHECK_INT(finish(), STATUS_NOT_FOUND);
    check_reason("Workspace/Door.ts: the manifest names it, and its rune is missing");
    CHECK_OK(pass(&door));
    door.flags = ENTRY_PACKED;
    door.bytes = (const uint8_t *)"anything";
    CHECK_OK(pass(&door));
    CHECK_INT(finish(), STATUS_NOT_FOUND);
    check_reason("the clients' manifest: it is missing");
    const Entry reload = {
        .type = ENTRY_RELOAD, .number = 4, .bytes = cast.client, .byte_count = cast.client_bytes};
    CHECK_OK(pass(&reload));
    CHECK_OK(finish());
    rune_gate_close(&cast.gate);
}

TEST(another_key_opens_nothing)
{
    cast_open(4);
    CHECK_INT(gate_open(&cast.other), STATUS_DENIED);
    check_reason("it is not signed by this host's key");
}

// Every byte of the text counts, the signature's own included.
TEST(a_changed_text_opens_nothing)
{
    cast_open(4);
    for (size_t i = 0; i < cast.text_bytes; i++) {
        cast.text[i] ^= 1;
        CHECK(gate_open(&cast.key) != STATUS_OK);
        cast.text[i] ^= 1;
    }
    for (size_t bytes = 0; bytes < cast.text_bytes; bytes += 7) { // 7: each try takes 16 MiB
        CHECK(rune_gate_open(&cast.gate, cast.key.public_half, cast.text, bytes, cast.reason,
                             sizeof cast.reason) != STATUS_OK);
    }
    const ManifestList list = {.version = 4, .rows = cast.rows, .row_count = 2};
    ByteWriter writer = byte_writer(cast.text, TEXT_BYTES);
    CHECK_OK(manifest_write(&list, NULL, &writer));
    cast.text_bytes = writer.at;
    CHECK_INT(gate_open(&cast.key), STATUS_DENIED);
    check_reason("it is not signed");
}

TEST(other_runes_do_not_pass)
{
    cast_open(4);
    CHECK_OK(gate_open(&cast.key));
    char flipped[sizeof door_rune];
    memcpy(flipped, door_rune, sizeof flipped);
    flipped[7] ^= 1;
    Entry entry = script("Workspace/Door", flipped, sizeof flipped);
    CHECK_INT(pass(&entry), STATUS_DENIED);
    check_reason("Workspace/Door: its rune is not the one that the manifest names");
    entry = script("Workspace/Door", secret_rune, sizeof secret_rune); // another script's
    CHECK_INT(pass(&entry), STATUS_DENIED);
    entry = script("Workspace/Gate", door_rune, sizeof door_rune);
    CHECK_INT(pass(&entry), STATUS_DENIED);
    check_reason("Workspace/Gate: the manifest has no such script");
    entry = script("Workspace/Door.ts", door_rune, sizeof door_rune); // a source, not a script
    CHECK_INT(pass(&entry), STATUS_DENIED);
    entry = script("Workspace/Doo", door_rune, sizeof door_rune);
    CHECK_INT(pass(&entry), STATUS_DENIED);
    entry = script("", door_rune, sizeof door_rune);
    CHECK_INT(pass(&entry), STATUS_DENIED);
    entry = script("Workspace/Door", door_rune, sizeof door_rune);
    entry.flags = ENTRY_SOURCE;
    CHECK_INT(pass(&entry), STATUS_DENIED);
    CHECK(!cast.gate.now.received[0] && !cast.gate.now.received[1]);
    rune_gate_close(&cast.gate);
}

TEST(the_clients_manifest_is_looked_at_too)
{
    cast_open(5);
    CHECK_OK(gate_open(&cast.key));
    Entry reload = {
        .type = ENTRY_RELOAD, .number = 5, .bytes = cast.client, .byte_count = cast.client_bytes};
    CHECK_INT(pass(&reload), STATUS_DENIED);
    check_reason("another version");
    cast.client[20] ^= 1;
    CHECK_INT(pass(&reload), STATUS_DENIED);
    reload.byte_count = 0;
    CHECK_INT(pass(&reload), STATUS_DENIED);
    rune_gate_close(&cast.gate);
}

// --- a second set -------------------------------------------------------------------------------

static const char tools_rune[] = "the bytes of a module";
static const char new_rune[] = "other bytes of a module";

// Secret and Lamp stay as they are; Door requires Tools, and Tools changes. Old is removed.
typedef struct Next {
    ManifestRow before[5], rows[5];
    uint32_t row_count;
    uint32_t version;
    const SigningKey *key;
} Next;

static Next next;

static ManifestRow row_of(const char *path, const char *service, const char *rune, size_t bytes)
{
    ManifestRow row = {.path = text_of(path),
                       .size_bytes = (uint32_t)bytes,
                       .run_context = text_of("Both"),
                       .service = text_of(service),
                       .replicate = true};
    sha256_of(rune, bytes, row.rune_hash);
    return row;
}

static Status enter_script(const char *path, const char *rune, size_t bytes)
{
    const Entry entry = script(path, rune, bytes);
    return pass(&entry);
}

static Status enter_reload(uint32_t version)
{
    const ManifestList list = {.version = version, .rows = next.rows, .row_count = next.row_count};
    cast.client_bytes = sign(&cast.key, &list, cast.client);
    const Entry reload = {.type = ENTRY_RELOAD,
                          .number = version,
                          .bytes = cast.client,
                          .byte_count = cast.client_bytes};
    return pass(&reload);
}

static void next_open(void)
{
    static const Text tools[] = {{"ReplicatedStorage/Tools", 23}};
    cast_open(4);
    next = (Next){.row_count = 3, .version = 5, .key = &cast.key};
    next.before[0] =
        row_of("ReplicatedStorage/Tools.lua", "ReplicatedStorage", tools_rune, sizeof tools_rune);
    next.before[1] = row_of("Workspace/Door.ts", "Workspace", door_rune, sizeof door_rune);
    next.before[1].requires = tools;
    next.before[1].require_count = 1;
    next.before[2] = row_of("Workspace/Lamp.lua", "Workspace", secret_rune, sizeof secret_rune);
    next.before[3] = row_of("Workspace/Old.lua", "Workspace", door_rune, sizeof door_rune);
    memcpy(next.rows, next.before, sizeof next.rows);
    next.rows[0] =
        row_of("ReplicatedStorage/Tools.lua", "ReplicatedStorage", new_rune, sizeof new_rune);
    const ManifestList list = {.version = 4, .rows = next.before, .row_count = 4};
    cast.text_bytes = sign(&cast.key, &list, cast.text);
    CHECK_OK(gate_open(&cast.key));
    CHECK_OK(enter_script("ReplicatedStorage/Tools", tools_rune, sizeof tools_rune));
    CHECK_OK(enter_script("Workspace/Door", door_rune, sizeof door_rune));
    CHECK_OK(enter_script("Workspace/Lamp", secret_rune, sizeof secret_rune));
    CHECK_OK(enter_script("Workspace/Old", door_rune, sizeof door_rune));
    const Entry reload = {
        .type = ENTRY_RELOAD, .number = 4, .bytes = cast.client, .byte_count = cast.client_bytes};
    CHECK_OK(pass(&reload));
    CHECK_OK(finish());
    rune_gate_take(&cast.gate);
}

// In two pieces.
static Status enter_manifest(void)
{
    const ManifestList list = {
        .version = next.version, .rows = next.rows, .row_count = next.row_count};
    const size_t bytes = sign(next.key, &list, cast.text);
    RunePiece piece = {
        .version = next.version, .whole_bytes = bytes, .bytes = cast.text, .count = bytes / 2};
    Status status = rune_gate_piece(&cast.gate, &piece, cast.reason, sizeof cast.reason);
    if (status == STATUS_OK) {
        piece.at = piece.count;
        piece.bytes += piece.at;
        piece.count = bytes - piece.at;
        status = rune_gate_piece(&cast.gate, &piece, cast.reason, sizeof cast.reason);
    }
    return status;
}

TEST(a_second_set_has_what_starts_again_and_nothing_else)
{
    next_open();
    CHECK_OK(enter_manifest());
    CHECK_OK(enter_script("ReplicatedStorage/Tools", new_rune, sizeof new_rune));
    CHECK_OK(enter_reload(5));
    CHECK_INT(finish(), STATUS_NOT_FOUND);
    check_reason("Workspace/Door.ts: the manifest names it, and its rune is missing");
    CHECK_OK(enter_script("Workspace/Door", door_rune, sizeof door_rune)); // by its requires
    CHECK_INT(finish(), STATUS_NOT_FOUND);
    check_reason("Workspace/Old.lua: the manifest does not name it any more");
    CHECK_OK(enter_script("Workspace/Old", NULL, 0));
    CHECK_OK(finish());
    rune_gate_take(&cast.gate);
    CHECK_INT(cast.gate.now.list.version, 5);
    next.rows[0] = next.before[0]; // and back again, with another version
    next.version = 6;
    CHECK_OK(enter_manifest());
    CHECK_OK(enter_script("ReplicatedStorage/Tools", tools_rune, sizeof tools_rune));
    CHECK_OK(enter_script("Workspace/Door", door_rune, sizeof door_rune));
    CHECK_OK(enter_reload(6));
    CHECK_OK(finish());
    rune_gate_close(&cast.gate);
}

TEST(a_second_set_may_not_be_older_or_of_another_key)
{
    next_open();
    for (next.version = 3; next.version <= 4; next.version++) {
        CHECK_INT(enter_manifest(), STATUS_DENIED);
        check_reason("its version is not above the one that runs");
    }
    next.key = &cast.other;
    CHECK_INT(enter_manifest(), STATUS_DENIED);
    check_reason("it is not signed by this host's key");
    CHECK_INT(enter_script("ReplicatedStorage/Tools", new_rune, sizeof new_rune), STATUS_DENIED);
    check_reason("there is no manifest");
    CHECK_INT(enter_reload(5), STATUS_DENIED);
    CHECK_INT(cast.gate.now.list.version, 4);
    rune_gate_close(&cast.gate);
}

TEST(a_second_set_has_no_other_runes)
{
    next_open();
    CHECK_OK(enter_manifest());
    // The one that ran before, under its new hash.
    CHECK_INT(enter_script("ReplicatedStorage/Tools", tools_rune, sizeof tools_rune),
              STATUS_DENIED);
    check_reason("its rune is not the one that the manifest names");
    // Another one under a hash that has not changed.
    CHECK_INT(enter_script("Workspace/Lamp", new_rune, sizeof new_rune), STATUS_DENIED);
    check_reason("its rune is not the one that the manifest names");
    CHECK_INT(enter_script("Workspace/Lamp", secret_rune, sizeof secret_rune), STATUS_DENIED);
    check_reason("it does not start again");
    CHECK_INT(enter_script("Workspace/More", door_rune, sizeof door_rune), STATUS_DENIED);
    check_reason("the manifest has no such script");
    CHECK_INT(enter_script("Workspace/Lamp", NULL, 0), STATUS_DENIED); // it is not removed
    CHECK_INT(enter_script("Workspace/Old", door_rune, sizeof door_rune), STATUS_DENIED);
    CHECK_INT(enter_script("Workspace/Never", NULL, 0), STATUS_DENIED);
    rune_gate_close(&cast.gate);
}

TEST(pieces_of_a_manifest_have_to_fit)
{
    next_open();
    const ManifestList list = {.version = 5, .rows = next.rows, .row_count = 3};
    const size_t bytes = sign(&cast.key, &list, cast.text);
    RunePiece piece = {.version = 5, .whole_bytes = bytes, .bytes = cast.text, .count = 10};
    CHECK_OK(rune_gate_piece(&cast.gate, &piece, cast.reason, sizeof cast.reason));
    const RunePiece wrong[] = {{5, bytes, 9, cast.text, 10},
                               {5, bytes, 11, cast.text, 10},
                               {5, bytes + 1, 10, cast.text, 10},
                               {5, bytes, 10, cast.text, 0},
                               {5, bytes, 10, cast.text, bytes - 9},
                               {5, MANIFEST_BYTES_MAX + 1, 0, cast.text, 10},
                               {5, SIZE_MAX, 0, cast.text, 10},
                               {5, 5, 0, cast.text, 10},
                               {5, 0, 0, cast.text, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_INT(rune_gate_piece(&cast.gate, &wrong[i], cast.reason, sizeof cast.reason),
                  STATUS_MALFORMED);
    }
    CHECK_OK(enter_manifest()); // it begins again
    piece.at = bytes;
    CHECK_INT(rune_gate_piece(&cast.gate, &piece, cast.reason, sizeof cast.reason),
              STATUS_MALFORMED);
    rune_gate_drop(&cast.gate);
    CHECK_INT(finish(), STATUS_NOT_FOUND);
    rune_gate_close(&cast.gate);
}

// --- many ---------------------------------------------------------------------------------------

// As many as a world may have. How many instructions that takes: tools of valgrind, with
// --toggle-collect=rune_gate_check.
TEST(four_thousand_scripts_pass)
{
    static ManifestRow rows[MANIFEST_ROWS_MAX];
    static char paths[MANIFEST_ROWS_MAX][48], runes[MANIFEST_ROWS_MAX][16];
    cast_open(4);
    for (uint32_t i = 0; i < MANIFEST_ROWS_MAX; i++) {
        snprintf(paths[i], sizeof paths[i], "ServerScriptService/Script%04u.lua", i);
        snprintf(runes[i], sizeof runes[i], "rune %u", i);
        rows[i] = cast.rows[0];
        rows[i].path = text_of(paths[i]);
        rows[i].size_bytes = sizeof runes[i];
        sha256_of(runes[i], sizeof runes[i], rows[i].rune_hash);
    }
    const ManifestList list = {.version = 4, .rows = rows, .row_count = MANIFEST_ROWS_MAX};
    Buffer text = buffer_of(MANIFEST_BYTES_MAX);
    CHECK_OK(manifest_sign(&list, &cast.key, &text));
    CHECK_OK(rune_gate_open(&cast.gate, cast.key.public_half, text.data, text.bytes, cast.reason,
                            sizeof cast.reason));
    for (uint32_t i = 0; i < MANIFEST_ROWS_MAX; i++) {
        char path[48];
        snprintf(path, sizeof path, "ServerScriptService/Script%04u", i);
        const Entry entry = script(path, runes[i], sizeof runes[i]);
        CHECK_OK(pass(&entry));
    }
    CHECK_INT(finish(), STATUS_NOT_FOUND);
    check_reason("the clients' manifest: it is missing");
    rune_gate_close(&cast.gate);
    buffer_free(&text);
}

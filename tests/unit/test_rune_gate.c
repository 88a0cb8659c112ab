// Which runes a world process accepts before its first tick: exactly those that a manifest names
// which the host's key has signed.
#include "server/shell/rune_gate.h"

#include "core/base/sha256.h"
#include "server/build/sign/manifest_sign.h"
#include "tests/support/test.h"

#include <sodium.h>
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
    for (size_t bytes = 0; bytes < cast.text_bytes; bytes++) {
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
    CHECK_INT(cast.gate.received_count, 0);
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

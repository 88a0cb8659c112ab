// When a client trusts a manifest: signed, not signed, waiting for the verification, and that
// nothing of a manifest is requested or run before it is verified. The signature here is a simple
// substitute (the hash of the text, twice). The text is compared with the output of manifest_write,
// which is the text that servers sign. Real signatures are tested with the host and with the page.
#include "core/wire/manifest.h"
#include "tests/support/test.h"
#include "tests/unit/fake_server.h"

#include <stdio.h>
#include <string.h>

typedef struct Cast {
    FakeServer *fake;
    uint8_t rune[8192];
    size_t rune_bytes;
    WireManifestScript rows[2];
    WireScriptPath requires[2];
    uint32_t verified, unpacked;
    uint8_t signature[64];
} Cast;

#define PACKING 0x12345678u

static Cast cast;

static void sign(const uint8_t *text, size_t bytes, uint8_t out[64])
{
    sha256_of(text, bytes, out);
    memcpy(out + 32, out, 32);
}

static Status verify(void *user, const uint8_t *text, size_t bytes, const uint8_t *signature)
{
    Cast *self = user;
    uint8_t want[64];
    sign(text, bytes, want);
    self->verified += 1;
    return memcmp(want, signature, sizeof want) == 0 ? STATUS_OK : STATUS_MISMATCH;
}

// "Unpacks" by turning every byte around.
static Status unpack(void *user, const char *path, const uint8_t *packed, size_t packed_bytes,
                     uint8_t *rune, size_t rune_bytes)
{
    ((Cast *)user)->unpacked += 1;
    CHECK_TEXT(path, "StarterGui/Hud");
    for (size_t i = 0; i < packed_bytes && i < rune_bytes; i++) {
        rune[i] = (uint8_t)~packed[i];
    }
    return packed_bytes == rune_bytes ? STATUS_OK : STATUS_MALFORMED;
}

static void cast_open(ClientConfig config)
{
    memset(&cast, 0, sizeof cast);
    config.scripts = true;
    config.verify_user = &cast;
    config.unpack_user = &cast;
    cast.fake = fake_open(&config, true);
    cast.rune_bytes =
        fake_rune(cast.fake, "StarterGui/Hud", "function onStart() Network.FireServer('hi') end",
                  cast.rune, sizeof cast.rune);
    cast.requires[0] = (WireScriptPath){fake_text("ReplicatedStorage/A")};
    cast.requires[1] = (WireScriptPath){fake_text("ReplicatedStorage/B")};
    cast.rows[0] = (WireManifestScript){.path = fake_text("StarterGui/Hud.ts"),
                                        .size_bytes = cast.rune_bytes,
                                        .run_context = fake_text("Client"),
                                        .service = fake_text("StarterGui"),
                                        .replicate = true,
                                        .requires = cast.requires,
                                        .requires_count = 2};
    sha256_of(cast.rune, cast.rune_bytes, cast.rows[0].rune_hash.bytes);
    fake_play(cast.fake);
}

static MessageScriptManifest manifest_of(uint32_t version)
{
    return (MessageScriptManifest){.version = version,
                                   .scripts = cast.rows,
                                   .scripts_count = 1,
                                   .server_tick = 77,
                                   .cdn_base = fake_text("https://cdn.example/")};
}

// The text as the server would write it; version 0: the rows alone.
static size_t server_text(uint32_t version, uint8_t *out, size_t capacity)
{
    const Text requires[] = {cast.requires[0].path, cast.requires[1].path};
    ManifestRow row = {.path = fake_text("StarterGui/Hud.ts"),
                       .size_bytes = (uint32_t)cast.rune_bytes,
                       .run_context = fake_text("Client"),
                       .service = fake_text("StarterGui"),
                       .replicate = true,
                       .requires = requires,
                       .require_count = 2};
    memcpy(row.rune_hash, cast.rows[0].rune_hash.bytes, 32);
    const ManifestList list = {.version = version,
                               .server_tick = 77,
                               .cdn_base = fake_text("https://cdn.example/"),
                               .rows = &row,
                               .row_count = 1};
    ByteWriter writer = byte_writer(out, capacity);
    CHECK_OK(version == 0 ? manifest_write_rows(&row, 1, &writer)
                          : manifest_write(&list, NULL, &writer));
    return writer.at;
}

static void send_signed(uint32_t version)
{
    uint8_t text[2048];
    const size_t bytes = server_text(version, text, sizeof text);
    sign(text, bytes, cast.signature);
    MessageScriptManifest manifest = manifest_of(version);
    manifest.signature = (WireBytes){cast.signature, 64};
    fake_send(cast.fake, MESSAGE_SCRIPT_MANIFEST, &manifest);
}

// As unpack() wants it.
static const uint8_t *packed_rune(void)
{
    static uint8_t turned[8192];
    for (size_t i = 0; i < cast.rune_bytes; i++) {
        turned[i] = (uint8_t)~cast.rune[i];
    }
    return turned;
}

static void send_rune(uint32_t packing)
{
    const MessageScriptChunk chunk = {
        .script_path = fake_text("StarterGui/Hud"),
        .total_chunks = 1,
        .encoding = packing,
        .data = {packing != 0 ? packed_rune() : cast.rune, (uint32_t)cast.rune_bytes}};
    fake_send(cast.fake, MESSAGE_SCRIPT_CHUNK, &chunk);
}

static bool has_run(void)
{
    return fake_up(cast.fake, MESSAGE_REMOTE_UP).body != NULL;
}

static void check_closed(const char *want)
{
    CHECK_INT(client_state(cast.fake->client), CLIENT_CLOSED);
    CHECK(strstr(client_closed_reason(cast.fake->client), want) != NULL);
}

// --- at once ------------------------------------------------------------------------------------

TEST(what_is_signed_runs)
{
    ClientConfig config = client_config_default();
    config.verify = verify;
    cast_open(config);
    send_signed(3);
    CHECK_INT(cast.verified, 1);
    fake_run(cast.fake, 3);
    send_rune(0);
    fake_run(cast.fake, 6);
    CHECK(has_run());
    const ClientStats stats = client_stats(cast.fake->client);
    CHECK_INT(stats.manifest_version, 3);
    CHECK(stats.manifest_is_proven);
    CHECK_INT(stats.script_count, 1);
    CHECK_INT(stats.rune_count, 1);
    fake_close(cast.fake);
}

// Rows that came as a text are verified with what the message said about them.
static void send_rows(uint32_t version, uint64_t tick)
{
    uint8_t text[2048];
    const size_t bytes = server_text(version, text, sizeof text);
    sign(text, bytes, cast.signature);
    MessageScriptManifest manifest = manifest_of(version);
    manifest.scripts_count = 0;
    manifest.server_tick = tick;
    manifest.signature = (WireBytes){cast.signature, 64};
    const size_t sent = server_text(0, text, sizeof text);
    manifest.text_bytes = sent;
    sha256_of(text, sent, manifest.text_hash.bytes);
    fake_send(cast.fake, MESSAGE_SCRIPT_MANIFEST, &manifest);
    ClientWant want;
    REQUIRE(client_wants(cast.fake->client, &want, 1) == 1);
    CHECK_INT(want.kind, CLIENT_WANT_MANIFEST);
    CHECK_INT(cast.verified, 0);
    (void)!client_give_for(cast.fake->client, want.hash, text, sent);
    CHECK_INT(cast.verified, 1);
}

TEST(rows_that_came_alone_are_verified_with_the_message)
{
    ClientConfig config = client_config_default();
    config.verify = verify;
    cast_open(config);
    send_rows(3, 77);
    fake_run(cast.fake, 3);
    send_rune(0);
    fake_run(cast.fake, 6);
    CHECK(has_run());
    CHECK_INT(client_stats(cast.fake->client).manifest_version, 3);
    CHECK(client_stats(cast.fake->client).manifest_is_proven);
    fake_close(cast.fake);
    cast_open(config);
    send_rows(3, 78); // another tick than the signed one
    check_closed("not signed");
    fake_close(cast.fake);
}

TEST(what_is_not_signed_ends_the_session)
{
    ClientConfig config = client_config_default();
    config.verify = verify;
    cast_open(config);
    const MessageScriptManifest manifest = manifest_of(3);
    fake_send(cast.fake, MESSAGE_SCRIPT_MANIFEST, &manifest);
    check_closed("is not signed");
    CHECK_INT(cast.verified, 0);
    fake_close(cast.fake);
}

// Each field that is signed, changed after it was.
TEST(a_changed_field_ends_the_session)
{
    for (uint32_t way = 0; way < 9; way++) {
        ClientConfig config = client_config_default();
        config.verify = verify;
        cast_open(config);
        uint8_t text[2048];
        const size_t bytes = server_text(3, text, sizeof text);
        sign(text, bytes, cast.signature);
        MessageScriptManifest manifest = manifest_of(3);
        manifest.signature = (WireBytes){cast.signature, 64};
        WireManifestScript *row = &cast.rows[0];
        switch (way) {
        case 0:
            manifest.version = 4;
            break;
        case 1:
            manifest.server_tick = 78;
            break;
        case 2:
            manifest.cdn_base = fake_text("https://evil.example/");
            break;
        case 3:
            row->rune_hash.bytes[5] ^= 1;
            break;
        case 4:
            row->size_bytes += 1;
            break;
        case 5:
            row->run_context = fake_text("Both");
            break;
        case 6:
            row->path = fake_text("StarterGui/Hud.lua");
            break;
        case 7:
            row->requires_count = 1;
            break;
        default:
            cast.signature[63] ^= 1;
            break;
        }
        fake_send(cast.fake, MESSAGE_SCRIPT_MANIFEST, &manifest);
        check_closed("is not signed by this world's host");
        fake_run(cast.fake, 3);
        CHECK(fake_up(cast.fake, MESSAGE_SCRIPT_REQUEST).body == NULL);
        fake_close(cast.fake);
    }
}

TEST(another_order_than_the_signed_one_is_refused)
{
    ClientConfig config = client_config_default();
    config.verify = verify;
    cast_open(config);
    cast.rows[1] = cast.rows[0];
    cast.rows[1].path = fake_text("StarterGui/Again.ts");
    cast.rows[1].rune_hash.bytes[0] ^= 1;
    MessageScriptManifest manifest = manifest_of(3);
    manifest.scripts_count = 2;
    manifest.signature = (WireBytes){cast.signature, 64};
    fake_send(cast.fake, MESSAGE_SCRIPT_MANIFEST, &manifest);
    check_closed("cannot be verified");
    fake_close(cast.fake);
}

TEST(versions_only_rise)
{
    ClientConfig config = client_config_default();
    config.verify = verify;
    cast_open(config);
    send_signed(3);
    send_signed(3); // sent again: nothing to verify
    CHECK_INT(cast.verified, 1);
    send_signed(2);
    check_closed("manifest 2 after 3");
    fake_close(cast.fake);
}

// An invalid manifest is dropped with its session: a reconnect is not bound by its version.
TEST(a_refused_manifest_leaves_nothing)
{
    ClientConfig config = client_config_default();
    config.verify = verify;
    cast_open(config);
    MessageScriptManifest manifest = manifest_of(4000000000u);
    manifest.signature = (WireBytes){cast.signature, 64};
    fake_send(cast.fake, MESSAGE_SCRIPT_MANIFEST, &manifest);
    check_closed("is not signed by");
    fake_connect(cast.fake);
    fake_welcome(cast.fake, true);
    send_signed(3);
    fake_run(cast.fake, 3);
    send_rune(0);
    fake_run(cast.fake, 6);
    CHECK(has_run());
    fake_close(cast.fake);
}

// --- later --------------------------------------------------------------------------------------

static ClientConfig owner_config(void)
{
    ClientConfig config = client_config_default();
    config.owner_verifies = true;
    config.owner_fetches = true;
    return config;
}

TEST(nothing_happens_before_the_verdict)
{
    cast_open(owner_config());
    send_signed(3);
    ClientProof proof;
    ClientWant want;
    REQUIRE(client_proof(cast.fake->client, &proof));
    CHECK_INT(proof.version, 3);
    uint8_t text[2048];
    const size_t bytes = server_text(3, text, sizeof text);
    CHECK_INT(proof.text_bytes, bytes);
    CHECK_BYTES(proof.text, text, bytes);
    CHECK_BYTES(proof.signature, cast.signature, 64);
    CHECK(!client_want(cast.fake->client, 0, &want));
    CHECK_INT(client_give(cast.fake->client, cast.rune, cast.rune_bytes), STATUS_NOT_FOUND);
    client_fetch_over_wire(cast.fake->client);
    fake_run(cast.fake, 6);
    send_rune(0);
    fake_run(cast.fake, 6);
    CHECK(!has_run());
    CHECK(fake_up(cast.fake, MESSAGE_SCRIPT_REQUEST).body == NULL);
    client_verified(cast.fake->client, 2, true); // about another one
    CHECK(client_proof(cast.fake->client, &proof));
    client_verified(cast.fake->client, 3, true);
    CHECK(!client_proof(cast.fake->client, &proof));
    fake_run(cast.fake, 3);
    CHECK(fake_up(cast.fake, MESSAGE_SCRIPT_REQUEST).body != NULL);
    send_rune(0);
    fake_run(cast.fake, 6);
    CHECK(has_run());
    fake_close(cast.fake);
}

TEST(a_bad_verdict_ends_the_session)
{
    cast_open(owner_config());
    send_signed(3);
    client_verified(cast.fake->client, 3, false);
    check_closed("is not signed by this world's host");
    CHECK_INT(client_stats(cast.fake->client).script_count, 0);
    fake_close(cast.fake);
}

TEST(a_newer_manifest_waits_for_its_own_verdict)
{
    cast_open(owner_config());
    send_signed(3);
    send_signed(4);
    ClientProof proof;
    ClientWant want;
    client_verified(cast.fake->client, 3, true);
    CHECK(!client_want(cast.fake->client, 0, &want));
    REQUIRE(client_proof(cast.fake->client, &proof));
    CHECK_INT(proof.version, 4);
    client_verified(cast.fake->client, 4, true);
    CHECK(client_want(cast.fake->client, 0, &want));
    fake_close(cast.fake);
}

// The verdict comes while the connection is away.
TEST(a_verdict_outlives_a_cut)
{
    cast_open(owner_config());
    send_signed(3);
    client_disconnected(cast.fake->client);
    client_verified(cast.fake->client, 3, false);
    CHECK_INT(client_state(cast.fake->client), CLIENT_IDLE);
    fake_connect(cast.fake);
    fake_welcome(cast.fake, true);
    send_signed(3);
    ClientProof proof;
    CHECK(client_proof(cast.fake->client, &proof)); // asked again
    client_verified(cast.fake->client, 3, true);
    CHECK_OK(client_give(cast.fake->client, cast.rune, cast.rune_bytes));
    fake_run(cast.fake, 6);
    CHECK(has_run());
    fake_close(cast.fake);
}

// --- packed -------------------------------------------------------------------------------------

TEST(who_can_unpack_says_so)
{
    ClientConfig config = client_config_default();
    config.packing = PACKING;
    config.unpack = unpack;
    cast_open(config);
    send_signed(1);
    fake_run(cast.fake, 3);
    const MessageScriptRequest *request = fake_up(cast.fake, MESSAGE_SCRIPT_REQUEST).body;
    REQUIRE(request != NULL);
    CHECK_INT(request->encoding, PACKING);
    send_rune(PACKING);
    CHECK_INT(cast.unpacked, 1);
    fake_run(cast.fake, 6);
    CHECK(has_run());
    fake_close(cast.fake);
}

// Two programs whose dictionaries differ, and what makes a wrong rune of the right number: either
// way it comes again as it is, and runs.
TEST(what_cannot_be_unpacked_is_asked_for_as_it_is)
{
    for (uint32_t wrong = 0; wrong < 2; wrong++) {
        ClientConfig config = client_config_default();
        config.packing = PACKING;
        config.unpack = unpack;
        cast_open(config);
        send_signed(1);
        fake_run(cast.fake, 3);
        if (wrong == 1) {
            cast.rune[cast.rune_bytes / 2] ^= 1;
            send_rune(PACKING);
            cast.rune[cast.rune_bytes / 2] ^= 1;
        } else {
            send_rune(PACKING + 1);
        }
        CHECK_INT(cast.unpacked, wrong);
        fake_run(cast.fake, 6);
        CHECK(!has_run());
        const MessageScriptRequest *request = fake_up(cast.fake, MESSAGE_SCRIPT_REQUEST).body;
        REQUIRE(request != NULL);
        CHECK_INT(request->encoding, 0);
        send_rune(0);
        fake_run(cast.fake, 6);
        CHECK(has_run());
        fake_close(cast.fake);
    }
}

// Over HTTP. What comes out of the bytes decides, not where they came from.
TEST(the_owner_brings_packed_runes)
{
    ClientConfig config = client_config_default();
    config.packing = PACKING;
    config.unpack = unpack;
    config.owner_fetches = true;
    cast_open(config);
    Client *client = cast.fake->client;
    const uint8_t *hash = cast.rows[0].rune_hash.bytes;
    const size_t bytes = cast.rune_bytes;
    uint8_t other[32] = {0};
    ClientWant want;
    CHECK_INT(client_give_packed(client, hash, packed_rune(), bytes), STATUS_NOT_FOUND);
    send_signed(1);
    CHECK_INT(client_give_packed(client, other, packed_rune(), bytes), STATUS_NOT_FOUND);
    CHECK_INT(cast.unpacked, 0);
    CHECK_INT(client_give_packed(client, hash, packed_rune(), bytes - 1), STATUS_MALFORMED);
    cast.rune[bytes / 2] ^= 1;
    CHECK_INT(client_give_packed(client, hash, packed_rune(), bytes), STATUS_MISMATCH);
    cast.rune[bytes / 2] ^= 1;
    fake_run(cast.fake, 3);
    CHECK(client_want(client, 0, &want));
    CHECK(!has_run());
    CHECK_OK(client_give_packed(client, hash, packed_rune(), bytes));
    CHECK(!client_want(client, 0, &want));
    fake_run(cast.fake, 6);
    CHECK(has_run());
    CHECK_INT(client_give_packed(client, hash, packed_rune(), bytes), STATUS_NOT_FOUND);
    CHECK_INT(cast.fake->up_count[MESSAGE_SCRIPT_REQUEST], 0);
    fake_close(cast.fake);
}

TEST(who_cannot_unpack_takes_nothing_packed)
{
    ClientConfig config = client_config_default();
    config.owner_fetches = true;
    cast_open(config);
    send_signed(1);
    CHECK_INT(client_give_packed(cast.fake->client, cast.rows[0].rune_hash.bytes, packed_rune(),
                                 cast.rune_bytes),
              STATUS_MALFORMED);
    CHECK_OK(client_give(cast.fake->client, cast.rune, cast.rune_bytes));
    fake_close(cast.fake);
}

TEST(who_cannot_unpack_asks_for_it_plain)
{
    cast_open(client_config_default());
    send_signed(1);
    fake_run(cast.fake, 3);
    const MessageScriptRequest *request = fake_up(cast.fake, MESSAGE_SCRIPT_REQUEST).body;
    REQUIRE(request != NULL);
    CHECK_INT(request->encoding, 0);
    send_rune(PACKING); // not what was asked for
    fake_run(cast.fake, 6);
    CHECK(!has_run());
    const MessageScriptVerify *told = fake_up(cast.fake, MESSAGE_SCRIPT_VERIFY).body;
    REQUIRE(told != NULL);
    CHECK(!told->success);
    fake_close(cast.fake);
}

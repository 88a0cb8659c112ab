// Artifacts that the worker reads, and whose reports are not trusted: each reply is changed in
// every byte, and no false reply is accepted as something that was signed or written.
#define _GNU_SOURCE
#include "server/build/ask/ask_artifact.h"
#include "server/build/inside/worker_op.h"
#include "tests/support/test.h"
#include "tests/support/test_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Text text_of(const char *text)
{
    return (Text){text, (uint32_t)strlen(text)};
}

typedef struct Signed {
    TestFolder folder;
    SigningPublicKeys halves;
    Buffer text;
} Signed;

static Signed sign_one(void)
{
    Signed made = {.folder = test_folder_make(), .text = buffer_of(MANIFEST_BYTES_MAX)};
    static const Text requires[] = {{"ReplicatedStorage/Tools", 23}};
    const ManifestRow rows[] = {{.path = text_of("ReplicatedStorage/Tools.lua"),
                                 .rune_hash = {1},
                                 .size_bytes = 7,
                                 .run_context = text_of("Both"),
                                 .service = text_of("ReplicatedStorage"),
                                 .replicate = true},
                                {.path = text_of("Workspace/Door.ts"),
                                 .rune_hash = {2},
                                 .size_bytes = 412,
                                 .run_context = text_of("Server"),
                                 .service = text_of("Workspace"),
                                 .requires = requires,
                                 .require_count = 1}};
    const ManifestList list = {.version = 3, .rows = rows, .row_count = 2};
    char path[4200];
    SigningKey key;
    snprintf(path, sizeof path, "%s/ticket.key", made.folder.path);
    CHECK_OK(signing_key_open(path, &key));
    CHECK_OK(signing_public_keys_open(path, &made.halves));
    CHECK_OK(manifest_sign(&list, &key, &made.text));
    return made;
}

static void end_signed(Signed *made)
{
    buffer_free(&made->text);
    test_folder_remove(&made->folder);
}

static Status read_manifest(const Signed *made, const Buffer *reply, Arena *arena,
                            ManifestList *list)
{
    uint8_t signature[MANIFEST_SIGNATURE_BYTES] = {0};
    bool is_signed = false;
    arena_reset(arena);
    const Status status = manifest_read_reply(reply, arena, list, signature, &is_signed);
    return status == STATUS_OK && is_signed ? manifest_check(list, signature, &made->halves, NULL)
                                            : STATUS_MALFORMED;
}

TEST(a_manifest_is_what_was_signed_or_nothing)
{
    Signed made = sign_one();
    void *block = malloc(MANIFEST_ARENA_BYTES);
    REQUIRE(block != NULL);
    Arena arena;
    arena_init(&arena, block, MANIFEST_ARENA_BYTES);
    WorkerCall call;
    ManifestList list;
    REQUIRE(worker_answer(WORKER_MANIFEST, made.text.data, made.text.bytes, &call) == STATUS_OK);
    REQUIRE(read_manifest(&made, &call.reply, &arena, &list) == STATUS_OK);
    CHECK_INT(list.version, 3);
    REQUIRE(list.row_count == 2);
    CHECK(memcmp(list.rows[1].path.data, "Workspace/Door.ts", 17) == 0);
    CHECK_INT(list.rows[1].size_bytes, 412);
    CHECK(list.rows[0].replicate && !list.rows[1].replicate);
    REQUIRE(list.rows[1].require_count == 1);
    CHECK_INT(list.rows[1].requires[0].bytes, 23);
    for (size_t i = 0; i < call.reply.bytes; i++) {
        for (uint32_t bit = 0; bit < 8; bit++) {
            call.reply.data[i] ^= (uint8_t)(1u << bit);
            CHECK(read_manifest(&made, &call.reply, &arena, &list) != STATUS_OK);
            call.reply.data[i] ^= (uint8_t)(1u << bit);
        }
    }
    for (size_t cut = 0; cut < call.reply.bytes; cut++) {
        const Buffer part = {.data = call.reply.data, .bytes = cut};
        CHECK(read_manifest(&made, &part, &arena, &list) != STATUS_OK);
    }
    buffer_free(&call.reply);
    // For an invalid manifest the reason contains the place.
    CHECK(worker_answer(WORKER_MANIFEST, (const uint8_t *)"{\"version\":1}", 13, &call) !=
          STATUS_OK);
    CHECK(strstr(call.reason, "$") != NULL);
    buffer_free(&call.reply);
    free(block);
    end_signed(&made);
}

static Status ask(Worker *worker, const Signed *made, const Buffer *text, Arena *arena)
{
    ManifestList list;
    char reason[WORKER_REASON_BYTES];
    const BuildContext context = {.worker = worker, .reason = reason};
    const PlaceFile file = {.path = "manifest.json", .data = text->data, .bytes = text->bytes};
    return manifest_ask(&context, arena, &file, &made->halves, &list, NULL);
}

// Through the process itself: what we signed, the same without its signature, by somebody else.
TEST(a_manifest_needs_a_signature_of_ours)
{
    Signed made = sign_one(), other = sign_one();
    void *block = malloc(MANIFEST_ARENA_BYTES);
    Worker *worker = NULL;
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = true;
    REQUIRE(block != NULL && worker_create(&config, &worker) == STATUS_OK);
    Arena arena;
    arena_init(&arena, block, MANIFEST_ARENA_BYTES);
    CHECK_OK(ask(worker, &made, &made.text, &arena));
    CHECK_INT(ask(worker, &made, &other.text, &arena), STATUS_DENIED);
    Buffer bare = buffer_of(MANIFEST_BYTES_MAX);
    char *text = (char *)made.text.data, *from = memmem(text, made.text.bytes, "\"signature\"", 11);
    REQUIRE(from != NULL);
    const size_t cut = 11 + 1 + 2 + 2 * MANIFEST_SIGNATURE_BYTES + 1; // with the comma behind it
    buffer_put(&bare, text, (size_t)(from - text));
    buffer_put(&bare, from + cut, made.text.bytes - (size_t)(from - text) - cut);
    CHECK_INT(ask(worker, &made, &bare, &arena), STATUS_DENIED);
    buffer_free(&bare);
    worker_destroy(worker);
    free(block);
    end_signed(&made);
    end_signed(&other);
}

TEST(a_list_of_assets_is_its_text_or_nothing)
{
    BuildAsset assets[2] = {
        {.path = "assets/a.png", .bytes = 70, .info = {.kind = KIND_PNG, .width = 4, .height = 2}},
        {.path = "assets/b.wav", .bytes = 9000, .info = {.kind = KIND_WAV, .duration_ms = 1250}}};
    memset(assets[0].hash, 1, SHA256_BYTES);
    memset(assets[1].hash, 2, SHA256_BYTES);
    const uint8_t thumbnail[SHA256_BYTES] = {3};
    const AssetList list = {.assets = assets, .count = 2, .thumbnail = thumbnail};
    uint8_t text[1024];
    ByteWriter writer = byte_writer(text, sizeof text);
    REQUIRE(asset_list_write(&list, &writer) == STATUS_OK);
    void *block = malloc(ASSET_LIST_ARENA_BYTES);
    REQUIRE(block != NULL);
    Arena arena;
    arena_init(&arena, block, ASSET_LIST_ARENA_BYTES);
    WorkerCall call;
    AssetList back;
    REQUIRE(worker_answer(WORKER_ASSET_LIST, text, writer.at, &call) == STATUS_OK);
    REQUIRE(asset_list_read_reply(&call.reply, &arena, text, writer.at, &back) == STATUS_OK);
    REQUIRE(back.count == 2);
    CHECK_TEXT(back.assets[1].path, "assets/b.wav");
    CHECK_INT(back.assets[1].info.duration_ms, 1250);
    CHECK_INT(back.assets[0].info.width, 4);
    CHECK_BYTES(back.thumbnail, thumbnail, SHA256_BYTES);
    for (size_t i = 0; i < call.reply.bytes; i++) {
        for (uint32_t bit = 0; bit < 8; bit++) {
            arena_reset(&arena);
            call.reply.data[i] ^= (uint8_t)(1u << bit);
            if (asset_list_read_reply(&call.reply, &arena, text, writer.at, &back) == STATUS_OK) {
                // What the text does not show is not shown to anybody: the size of a sound.
                CHECK(back.count == 2 && strcmp(back.assets[0].path, "assets/a.png") == 0);
                CHECK(back.assets[0].bytes == 70 && back.assets[1].bytes == 9000);
                CHECK_BYTES(back.assets[0].hash, assets[0].hash, SHA256_BYTES);
                CHECK_BYTES(back.assets[1].hash, assets[1].hash, SHA256_BYTES);
            }
            call.reply.data[i] ^= (uint8_t)(1u << bit);
        }
    }
    for (size_t cut = 0; cut < call.reply.bytes; cut++) {
        const Buffer part = {.data = call.reply.data, .bytes = cut};
        arena_reset(&arena);
        CHECK(asset_list_read_reply(&part, &arena, text, writer.at, &back) != STATUS_OK);
    }
    buffer_free(&call.reply);
    CHECK_INT(worker_answer(WORKER_ASSET_LIST, (const uint8_t *)"[]", 2, &call), STATUS_MALFORMED);
    CHECK(call.reason[0] != '\0');
    buffer_free(&call.reply);
    free(block);
}

// client/assets.json: the reader accepts what the writer writes, and nothing else.
#include "server/build/inside/asset_list_read.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define H "sha256:000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define PICTURE                                                                    \
    "{\"hash\":\"" H "\",\"height\":3,\"kind\":\"png\",\"path\":\"assets/a.png\"," \
    "\"size_bytes\":70,\"width\":4}"
#define SOUND                                                                           \
    "{\"hash\":\"" H "\",\"kind\":\"wav\",\"path\":\"assets/b.wav\",\"seconds\":1.234," \
    "\"size_bytes\":71}"
#define MODEL                                                                             \
    "{\"hash\":\"" H "\",\"kind\":\"glb\",\"path\":\"assets/m/c.glb\",\"size_bytes\":72," \
    "\"triangles\":12}"
#define LIST(rows, thumbnail) "{\"assets\":[" rows "],\"thumbnail\":" thumbnail "}"
#define WHOLE                 LIST(PICTURE "," SOUND "," MODEL, "\"" H "\"")

static Arena arena;
static uint8_t block[ASSET_LIST_ARENA_BYTES];

static Status read(const char *text, AssetList *out, JsonError *error)
{
    arena_init(&arena, block, sizeof block);
    return asset_list_read(&arena, text, strlen(text), out, error);
}

TEST(asset_list_is_read_back)
{
    AssetList list = {0};
    JsonError error;
    REQUIRE(read(WHOLE, &list, &error) == STATUS_OK);
    CHECK_INT(list.count, 3);
    CHECK_TEXT(list.assets[0].path, "assets/a.png");
    CHECK_INT(list.assets[0].info.kind, KIND_PNG);
    CHECK_INT(list.assets[0].info.width, 4);
    CHECK_INT(list.assets[0].info.height, 3);
    CHECK_INT(list.assets[0].bytes, 70);
    CHECK_INT(list.assets[0].hash[31], 31);
    CHECK_INT(list.assets[1].info.duration_ms, 1234);
    CHECK_INT(list.assets[2].info.triangle_count, 12);
    REQUIRE(list.thumbnail != NULL);
    CHECK_INT(list.thumbnail[1], 1);
    char text[2048];
    ByteWriter writer = byte_writer(text, sizeof text);
    CHECK_OK(asset_list_write(&list, &writer));
    CHECK_INT(writer.at, sizeof WHOLE - 1);
    CHECK_BYTES(text, WHOLE, sizeof WHOLE - 1);
    CHECK_OK(read(LIST("", "null"), &list, &error));
    CHECK(list.count == 0 && list.thumbnail == NULL);
}

// The text and, where it matters, the expected message.
TEST(asset_list_of_a_stranger_is_refused)
{
    static const struct {
        const char *text, *said;
    } bad[] = {
        {"", NULL},
        {"[]", NULL},
        {"{}", "assets"},
        {WHOLE "\n", "form"},
        {WHOLE " ", "form"},
        {LIST(PICTURE, "null") "x", NULL},
        {LIST(PICTURE " ", "null"), "form"},
        {"{\"thumbnail\":null,\"assets\":[]}", "form"},
        {"{\"assets\":[],\"more\":1,\"thumbnail\":null}", "form"},
        {"{\"assets\":[]}", "thumbnail"},
        {LIST("", "\"sha256:00\""), "hex"},
        {LIST("", "7"), NULL},
        {LIST(SOUND "," PICTURE, "null"), "after"},
        {LIST(PICTURE "," PICTURE, "null"), "after"},
        {LIST("{\"hash\":\"" H "\",\"height\":3,\"kind\":\"jpeg\",\"path\":\"assets/a.png\","
              "\"size_bytes\":70,\"width\":4}",
              "null"),
         "form"},
        {LIST("{\"hash\":\"" H "\",\"height\":3,\"kind\":\"png\",\"path\":\"assets/a.png\","
              "\"size_bytes\":70,\"width\":4097}",
              "null"),
         "width"},
        {LIST("{\"hash\":\"" H "\",\"height\":3,\"kind\":\"png\",\"path\":\"assets/a.png\","
              "\"size_bytes\":-1,\"width\":4}",
              "null"),
         "size_bytes"},
        {LIST("{\"hash\":\"" H "\",\"kind\":\"wav\",\"path\":\"assets/b.wav\",\"seconds\":1.2345,"
              "\"size_bytes\":71}",
              "null"),
         "form"},
        {LIST("{\"hash\":\"" H "\",\"kind\":\"wav\",\"path\":\"assets/b.wav\",\"seconds\":1e300,"
              "\"size_bytes\":71}",
              "null"),
         "seconds"},
        {LIST("{\"hash\":\"" H "\",\"kind\":\"wav\",\"path\":\"assets/b.wav\",\"size_bytes\":71}",
              "null"),
         "seconds"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        AssetList list = {.count = 77};
        JsonError error;
        char text[JSON_ERROR_TEXT_BYTES];
        CHECK(read(bad[i].text, &list, &error) != STATUS_OK);
        CHECK_INT(list.count, 77);
        CHECK_INT(arena.used, 0);
        json_error_text(&error, text);
        CHECK(bad[i].said == NULL || strstr(text, bad[i].said) != NULL);
    }
}

TEST(asset_list_holds_names_of_assets_alone)
{
    static const char *const bad[] = {
        "a.png",         "Assets/a.png",        "assets/../place.json",  "assets/../a.png",
        "assets//a.png", "/assets/a.png",       "assets/.hidden.png",    "assets/a.txt",
        "assets/a.lua",  "assets/a.png\\u0000", "assets/\\u001b[2J.png", "assets/a\\\\b.png",
        "assets/"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[512];
        AssetList list;
        JsonError error;
        snprintf(text, sizeof text,
                 LIST("{\"hash\":\"" H "\",\"height\":3,\"kind\":\"png\",\"path\":\"%s\","
                      "\"size_bytes\":70,\"width\":4}",
                      "null"),
                 bad[i]);
        CHECK(read(text, &list, &error) != STATUS_OK);
        CHECK(strstr(error.path, "path") != NULL);
    }
}

TEST(asset_list_of_the_largest_place_is_read)
{
    BuildAsset *assets = calloc(ASSET_LIST_COUNT_MAX + 1u, sizeof *assets);
    char *text = malloc(ASSET_LIST_BYTES_MAX);
    REQUIRE(assets != NULL && text != NULL);
    for (uint32_t i = 0; i <= ASSET_LIST_COUNT_MAX; i++) {
        assets[i].info = (AssetInfo){.kind = KIND_JPEG, .width = 4096, .height = 4096};
        assets[i].bytes = 33554432;
        snprintf(assets[i].path, sizeof assets[i].path, "assets/%0115u.jpg", i);
    }
    for (uint32_t more = 0; more < 2; more++) {
        const AssetList whole = {.assets = assets, .count = ASSET_LIST_COUNT_MAX + more};
        ByteWriter writer = byte_writer(text, ASSET_LIST_BYTES_MAX - 1);
        REQUIRE(asset_list_write(&whole, &writer) == STATUS_OK);
        text[writer.at] = '\0';
        AssetList list = {0};
        JsonError error;
        CHECK_INT(read(text, &list, &error) == STATUS_OK, more == 0);
        CHECK_INT(list.count, more == 0 ? ASSET_LIST_COUNT_MAX : 0);
    }
    free(text);
    free(assets);
}

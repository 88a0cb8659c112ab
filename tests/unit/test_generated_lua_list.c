// The signed list of generated Lua: every changed byte in it, or in a file, is detected.
#include "server/build/sign/generated_lua_list.h"
#include "tests/support/test.h"

#include <sodium.h>
#include <string.h>

static PlaceFile file_of(const char *path, const char *text)
{
    return (PlaceFile){.path = path, .data = (const uint8_t *)text, .bytes = strlen(text)};
}

typedef struct Stage {
    SigningKey key;
    SigningPublicKeys halves;
    PlaceFile files[4];
    Buffer list;
} Stage;

static Stage begin(void)
{
    Stage stage = {.halves = {.count = 1},
                   .files = {file_of("ReplicatedStorage/M.lua", "return 1\n"),
                             file_of("ReplicatedStorage/M.rune", "rune"),
                             file_of("Workspace/A.lua", "print(1)\n"),
                             file_of("manifest.json", "{}")},
                   .list = buffer_of(GENERATED_LUA_LIST_BYTES_MAX)};
    CHECK(sodium_init() >= 0);
    CHECK(crypto_sign_keypair(stage.key.public_half, stage.key.secret) == 0);
    memcpy(stage.halves.items[0], stage.key.public_half, sizeof stage.key.public_half);
    CHECK_OK(generated_lua_list_write(stage.files, 4, &stage.key, &stage.list));
    return stage;
}

TEST(it_names_lua_and_the_manifest)
{
    Stage stage = begin();
    const Buffer *list = &stage.list;
    CHECK(generated_lua_list_verify(list->data, list->bytes, &stage.halves));
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(generated_lua_list_has(list->data, list->bytes, &stage.files[i]) == (i != 1));
    }
    const PlaceFile others[] = {
        file_of("ReplicatedStorage/M.lua", "return 2\n"), file_of("Storage/M.lua", "return 1\n"),
        file_of("ReplicatedStorage/M.lu", "return 1\n"), file_of("Workspace/A.lua", "return 1\n")};
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(!generated_lua_list_has(list->data, list->bytes, &others[i]));
    }
    buffer_free(&stage.list);
}

TEST(every_byte_counts)
{
    Stage stage = begin();
    Buffer *list = &stage.list;
    for (size_t i = 0; i < list->bytes; i++) {
        CHECK(!generated_lua_list_verify(list->data, i, &stage.halves));
        const uint8_t was = list->data[i];
        list->data[i] = was == 'f' ? 'e' : 'f';
        CHECK(!generated_lua_list_verify(list->data, list->bytes, &stage.halves));
        list->data[i] = was;
    }
    CHECK(generated_lua_list_verify(list->data, list->bytes, &stage.halves));
    buffer_put_u8(list, '\n');
    CHECK(!generated_lua_list_verify(list->data, list->bytes, &stage.halves));
    buffer_free(list);
}

TEST(another_key_is_another_host)
{
    Stage stage = begin(), other = begin();
    CHECK(!generated_lua_list_verify(stage.list.data, stage.list.bytes, &other.halves));
    CHECK(!generated_lua_list_verify("", 0, &stage.halves));
    memcpy(other.halves.items[other.halves.count++], stage.key.public_half,
           sizeof stage.key.public_half); // one before it
    CHECK(generated_lua_list_verify(stage.list.data, stage.list.bytes, &other.halves));
    buffer_free(&stage.list);
    buffer_free(&other.list);
}

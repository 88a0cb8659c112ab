// Packing runes with a dictionary that both ends make for themselves; see rune_pack.h. What is
// compiled here is our own text and is never run, so this is no place where a creator's code gets
// out of the worker.
#include "server/build/rune_pack.h"

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/heap.h"
#include "core/base/sha256.h"
#include "core/script/rune.h"
#include "core/script/vm.h"
#include "server/build/rune_words.h"

#include <lua.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL            13 // above it runes get no smaller, only slower
#define DICTIONARY_BYTES (64u << 10)
#define VM_SOFT_BYTES    (2u << 20)
#define VM_HARD_BYTES    (5u << 20)
#define HASH_AT          12 // in the header of a rune
#define HEAD_BYTES       (RUNE_HEADER_BYTES - SHA256_BYTES)
_Static_assert(HASH_AT + SHA256_BYTES + 1 == RUNE_HEADER_BYTES, "the path's length follows");

struct RunePack {
    ZSTD_CCtx *packing;
    ZSTD_CDict *pack_with;
    ZSTD_DDict *unpack_with;
    uint32_t number;
};

// --- the dictionary -----------------------------------------------------------------------------

typedef struct Name {
    const char *owner; // its own constant comes first where it changes
    const char *name;
} Name;

static const Name api_names[] = {
#define API_FUNCTION(group, name, side, arguments, returns, doc) {#group, #name},
#define API_METHOD(class, name, side, arguments, returns, doc)   {#class, #name},
#define API_PROPERTY(class, name, access, type, doc)             {#class, #name},
#define API_EVENT(owner, name, side, arguments, doc)             {#owner, #name},
#define API_GLOBAL(name, side, arguments, returns, doc)          {"", #name},
#define API_HOOK(name, side, arguments, doc)                     {"", #name},
#include "core/script/api.def"
};

static const char *const library_names[] = {
    "assert",   "error",     "pcall",      "xpcall",     "select",       "type",
    "tostring", "tonumber",  "ipairs",     "pairs",      "next",         "getmetatable",
    "rawget",   "rawset",    "rawequal",   "rawlen",     "setmetatable", "coroutine",
    "create",   "resume",    "yield",      "wrap",       "status",       "running",
    "string",   "byte",      "char",       "find",       "format",       "gmatch",
    "gsub",     "len",       "lower",      "match",      "rep",          "reverse",
    "sub",      "upper",     "table",      "concat",     "insert",       "move",
    "pack",     "remove",    "sort",       "unpack",     "math",         "abs",
    "ceil",     "floor",     "fmod",       "huge",       "max",          "min",
    "modf",     "pi",        "random",     "sqrt",       "sin",          "cos",
    "tan",      "tointeger", "utf8",       "codepoint",  "os",           "time",
    "__index",  "__call",    "__newindex", "__tostring", "__eq",         "__lt",
    "__le",     "__add",     "__sub",      "__mul",      "__div",        "__len",
    "__concat", "__name",
};

// As Lua dumps a short string among the constants of a function.
static void write_constant(ByteWriter *out, const char *text)
{
    const size_t bytes = strlen(text);
    ASSERT(bytes < 127);
    byte_write_u8(out, LUA_TSTRING);
    byte_write_u8(out, (uint8_t)(0x80 | (bytes + 1)));
    byte_write_bytes(out, text, bytes);
}

static void write_names(ByteWriter *out)
{
    const char *owner = "";
    for (size_t i = 0; i < sizeof api_names / sizeof api_names[0]; i++) {
        if (strcmp(api_names[i].owner, owner) != 0 && api_names[i].owner[0] != '\0') {
            owner = api_names[i].owner;
            write_constant(out, owner);
        }
        write_constant(out, api_names[i].name);
    }
    for (size_t i = 0; i < sizeof library_names / sizeof library_names[0]; i++) {
        write_constant(out, library_names[i]);
    }
}

static void write_without_hash(ByteWriter *out, const uint8_t *rune, size_t bytes)
{
    const size_t after = HASH_AT + SHA256_BYTES;
    byte_write_bytes(out, rune, HASH_AT);
    byte_write_bytes(out, rune + after, bytes - after);
}

static Status write_rune(ByteWriter *out, lua_State *lua, const RuneWords *words, uint8_t *scratch)
{
    const int top = lua_gettop(lua);
    size_t bytes = 0;
    vm_push_environment(lua);
    Status status =
        vm_compile(lua, words->path, words->source, strlen(words->source), lua_gettop(lua));
    if (status == STATUS_OK) {
        status = rune_write(lua, words->path, scratch, DICTIONARY_BYTES, &bytes);
    }
    if (status == STATUS_OK) {
        write_without_hash(out, scratch, bytes);
    }
    lua_settop(lua, top);
    return status;
}

static Status write_runes(ByteWriter *out, uint8_t *scratch)
{
    Heap heap = heap_make(2 * VM_HARD_BYTES);
    const VmConfig config = {.memory_soft_bytes = VM_SOFT_BYTES,
                             .memory_hard_bytes = VM_HARD_BYTES};
    Vm *vm = NULL;
    Status status = vm_create(&heap, &config, &vm);
    if (status != STATUS_OK) {
        return status;
    }
    for (const RuneWords *words = rune_words; words->path != NULL && status == STATUS_OK; words++) {
        status = write_rune(out, vm_main(vm), words, scratch);
    }
    vm_destroy(&heap, vm);
    return status;
}

static Status write_dictionary(ByteWriter *out, uint8_t *scratch)
{
    write_names(out);
    const Status status = write_runes(out, scratch);
    return status != STATUS_OK ? status : out->status;
}

// 0 means a rune as it is.
static uint32_t number_of(const uint8_t *dictionary, size_t bytes)
{
    uint8_t hash[SHA256_BYTES];
    sha256_of(dictionary, bytes, hash);
    ByteReader reader = byte_reader(hash, sizeof hash);
    const uint32_t number = byte_read_u32(&reader);
    return number != 0 ? number : 1;
}

Status rune_pack_create(RunePack **out)
{
    RunePack *pack = calloc(1, sizeof *pack);
    uint8_t *block = malloc(2 * (size_t)DICTIONARY_BYTES);
    Status status = pack != NULL && block != NULL ? STATUS_OK : STATUS_LIMIT;
    if (status == STATUS_OK) {
        ByteWriter writer = byte_writer(block, DICTIONARY_BYTES);
        status = write_dictionary(&writer, block + DICTIONARY_BYTES);
        ASSERT(status == STATUS_OK || status == STATUS_LIMIT); // it is our own text
        pack->number = number_of(block, writer.at);
        pack->packing = ZSTD_createCCtx();
        pack->pack_with = ZSTD_createCDict(block, writer.at, LEVEL);
        pack->unpack_with = ZSTD_createDDict(block, writer.at);
        if (pack->packing == NULL || pack->pack_with == NULL || pack->unpack_with == NULL) {
            status = STATUS_LIMIT;
        }
    }
    free(block);
    if (status != STATUS_OK) {
        rune_pack_destroy(pack);
        return status;
    }
    *out = pack;
    return STATUS_OK;
}

void rune_pack_destroy(RunePack *pack)
{
    if (pack != NULL) {
        ZSTD_freeCCtx(pack->packing);
        ZSTD_freeCDict(pack->pack_with);
        ZSTD_freeDDict(pack->unpack_with);
        free(pack);
    }
}

uint32_t rune_pack_number(const RunePack *pack)
{
    return pack->number;
}

// --- runes --------------------------------------------------------------------------------------

Status rune_pack_pack(RunePack *pack, const uint8_t *rune, size_t rune_bytes, uint8_t *out,
                      size_t *bytes)
{
    Rune checked;
    const Status status = rune_check(rune, rune_bytes, &checked);
    if (status != STATUS_OK) {
        return STATUS_MALFORMED;
    }
    uint8_t *plain = malloc(rune_bytes);
    if (plain == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(plain, rune_bytes);
    write_without_hash(&writer, rune, rune_bytes);
    ASSERT(writer.status == STATUS_OK && writer.at == rune_bytes - SHA256_BYTES);
    const size_t made =
        ZSTD_compress_usingCDict(pack->packing, out, rune_bytes, plain, writer.at, pack->pack_with);
    free(plain);
    if (ZSTD_isError(made) != 0 || made >= rune_bytes) {
        return STATUS_LIMIT;
    }
    *bytes = made;
    return STATUS_OK;
}

// Makes room for the hash in what was unpacked, and computes it.
static Status put_hash(uint8_t *rune, size_t plain_bytes)
{
    if (plain_bytes < HEAD_BYTES) {
        return STATUS_MALFORMED;
    }
    memmove(rune + HASH_AT + SHA256_BYTES, rune + HASH_AT, plain_bytes - HASH_AT);
    const size_t bytes = plain_bytes + SHA256_BYTES;
    const size_t head = RUNE_HEADER_BYTES + (size_t)rune[RUNE_HEADER_BYTES - 1];
    if (head > bytes) {
        return STATUS_MALFORMED;
    }
    sha256_of(rune + head, bytes - head, rune + HASH_AT);
    return STATUS_OK;
}

Status rune_pack_unpack(const RunePack *pack, const uint8_t *bytes, size_t count, uint8_t *out,
                        size_t capacity, size_t *rune_bytes)
{
    if (capacity < RUNE_HEADER_BYTES) {
        return STATUS_MALFORMED;
    }
    ZSTD_DCtx *unpacking = ZSTD_createDCtx();
    if (unpacking == NULL) {
        return STATUS_LIMIT;
    }
    const size_t made = ZSTD_decompress_usingDDict(unpacking, out, capacity - SHA256_BYTES, bytes,
                                                   count, pack->unpack_with);
    ZSTD_freeDCtx(unpacking);
    if (ZSTD_isError(made) != 0) {
        return STATUS_MALFORMED;
    }
    const Status status = put_hash(out, made);
    if (status == STATUS_OK) {
        *rune_bytes = made + SHA256_BYTES;
    }
    return status;
}

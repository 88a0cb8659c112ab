// Makes the dictionary of packed runes; see rune_dictionary.h. It compiles our own text, which
// never runs.
#include "core/script/rune/rune_dictionary.h"

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/sha256.h"
#include "core/script/rune/rune_samples.h"
#include "core/script/vm/vm.h"

#include <lua.h>
#include <string.h>

#define FORM          2 // change it if the content or the format of packed runes changes
#define VM_SOFT_BYTES (2u << 20)
#define VM_HARD_BYTES (5u << 20)

// --- names --------------------------------------------------------------------------------------

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

// --- bytecode -----------------------------------------------------------------------------------

static Status write_bytecode(ByteWriter *out, lua_State *lua, const RuneSample *words,
                             uint8_t *scratch)
{
    const int top = lua_gettop(lua);
    const size_t head = RUNE_HEADER_BYTES + strlen(words->path);
    size_t bytes = 0;
    vm_push_environment(lua);
    Status status =
        vm_compile(lua, words->path, words->source, strlen(words->source), lua_gettop(lua));
    if (status == STATUS_OK) {
        status = rune_write(lua, words->path, scratch, RUNE_DICTIONARY_BYTES_MAX, &bytes);
    }
    if (status == STATUS_OK) {
        byte_write_bytes(out, scratch + head, bytes - head);
    }
    lua_settop(lua, top);
    return status;
}

static Status write_words(ByteWriter *out, Heap *heap)
{
    const VmConfig config = {.memory_soft_bytes = VM_SOFT_BYTES,
                             .memory_hard_bytes = VM_HARD_BYTES};
    uint8_t *scratch = heap_alloc(heap, RUNE_DICTIONARY_BYTES_MAX);
    Vm *vm = NULL;
    Status status = scratch != NULL ? vm_create(heap, &config, &vm) : STATUS_LIMIT;
    if (status == STATUS_OK) {
        for (const RuneSample *words = rune_samples; words->path != NULL && status == STATUS_OK;
             words++) {
            status = write_bytecode(out, vm_main(vm), words, scratch);
        }
        vm_destroy(heap, vm);
    }
    heap_free(heap, scratch);
    return status;
}

// 0 is reserved for runes that are not packed.
static uint32_t number_of(const uint8_t *dictionary, size_t bytes)
{
    uint8_t hash[SHA256_BYTES];
    sha256_of(dictionary, bytes, hash);
    ByteReader reader = byte_reader(hash, sizeof hash);
    const uint32_t number = byte_read_u32(&reader);
    return number != 0 ? number : 1;
}

Status rune_dictionary_init(Heap *heap, RuneDictionary *out)
{
    ByteWriter writer = byte_writer(out->bytes, RUNE_DICTIONARY_BYTES_MAX);
    byte_write_u8(&writer, FORM);
    write_names(&writer);
    const Status status = write_words(&writer, heap);
    ASSERT(status == STATUS_OK || status == STATUS_LIMIT); // it is our own text
    if (status == STATUS_OK) {
        ASSERT(writer.status == STATUS_OK);
        out->count = writer.at;
        out->number = number_of(out->bytes, writer.at);
    }
    return status;
}

// --- one rune -----------------------------------------------------------------------------------

size_t rune_dictionary_begin(RuneDictionary *dictionary, const char *path)
{
    const size_t bytes = strlen(path);
    ASSERT(bytes <= RUNE_PATH_BYTES_MAX);
    memcpy(dictionary->bytes + dictionary->count, path, bytes);
    return dictionary->count + bytes;
}

// RFC 8878, section 3.1.1: one segment, its size as short as possible, no checksum, no number of a
// dictionary.
size_t rune_dictionary_frame_head(size_t bytecode_bytes, uint8_t out[RUNE_FRAME_HEAD_BYTES_MAX])
{
    ASSERT(bytecode_bytes <= RUNE_BYTES_MAX);
    ByteWriter writer = byte_writer(out, RUNE_FRAME_HEAD_BYTES_MAX);
    byte_write_u32(&writer, 0xfd2fb528);
    if (bytecode_bytes < 256) {
        byte_write_u8(&writer, 0x20);
        byte_write_u8(&writer, (uint8_t)bytecode_bytes);
    } else if (bytecode_bytes < 65536 + 256) {
        byte_write_u8(&writer, 0x60);
        byte_write_u16(&writer, (uint16_t)(bytecode_bytes - 256));
    } else {
        byte_write_u8(&writer, 0xa0);
        byte_write_u32(&writer, (uint32_t)bytecode_bytes);
    }
    ASSERT(writer.status == STATUS_OK);
    return writer.at;
}

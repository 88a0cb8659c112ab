// The container around Lua's bytecode. Checking accepts any bytes; loading trusts its caller
// (rune.h).
#include "core/script/rune/rune.h"

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/script/vm/lua_guard.h"

#include <lauxlib.h>
#include <lua.h>
#include <string.h>

static const uint8_t MAGIC[4] = {'S', 'L', 'R', 'N'};
static const uint8_t LUA_SIGNATURE_BYTES[6] = {0x1b, 'L', 'u', 'a', RUNE_LUA_VERSION, 0};

static int write_piece(lua_State *thread, const void *piece, size_t bytes, void *user)
{
    (void)thread;
    ByteWriter *writer = user;
    byte_write_bytes(writer, piece, bytes);
    return writer->status != STATUS_OK;
}

void rune_put_header(const char *path, uint8_t *rune, size_t bytes)
{
    const size_t path_bytes = strlen(path);
    const size_t head = RUNE_HEADER_BYTES + path_bytes;
    ASSERT(path_bytes <= RUNE_PATH_BYTES_MAX && head <= bytes && bytes <= RUNE_BYTES_MAX);
    uint8_t hash[SHA256_BYTES];
    sha256_of(rune + head, bytes - head, hash);
    ByteWriter writer = byte_writer(rune, head);
    byte_write_bytes(&writer, MAGIC, sizeof MAGIC);
    byte_write_u8(&writer, RUNE_FORMAT);
    byte_write_u8(&writer, RUNE_LUA_VERSION);
    byte_write_u16(&writer, 0);
    byte_write_u32(&writer, (uint32_t)(bytes - head));
    byte_write_bytes(&writer, hash, sizeof hash);
    byte_write_u8(&writer, (uint8_t)path_bytes);
    byte_write_bytes(&writer, path, path_bytes);
    ASSERT(writer.status == STATUS_OK && writer.at == head);
}

Status rune_write(lua_State *thread, const char *path, void *out, size_t capacity, size_t *bytes)
{
    ASSERT(lua_isfunction(thread, -1) && !lua_iscfunction(thread, -1));
    const size_t head = RUNE_HEADER_BYTES + strlen(path);
    if (strlen(path) > RUNE_PATH_BYTES_MAX || head > capacity) {
        return STATUS_LIMIT;
    }
    // The bytecode is written first, behind the space for the header, because the header contains
    // its hash.
    const size_t room = capacity < RUNE_BYTES_MAX ? capacity : RUNE_BYTES_MAX;
    ByteWriter body = byte_writer((uint8_t *)out + head, room - head);
    if (lua_dump(thread, write_piece, &body, 0) != 0 || body.status != STATUS_OK) {
        return STATUS_LIMIT;
    }
    rune_put_header(path, out, head + body.at);
    *bytes = head + body.at;
    return STATUS_OK;
}

// Printable and on one line.
static bool path_is_plain(const uint8_t *path, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (path[i] < 0x20 || path[i] == 0x7f) {
            return false;
        }
    }
    return bytes > 0;
}

Status rune_check(const void *data, size_t bytes, Rune *rune)
{
    ByteReader reader = byte_reader(data, bytes);
    const uint8_t *magic = byte_read_bytes(&reader, sizeof MAGIC);
    if (bytes > RUNE_BYTES_MAX || magic == NULL || memcmp(magic, MAGIC, sizeof MAGIC) != 0) {
        return STATUS_MALFORMED;
    }
    const uint8_t format = byte_read_u8(&reader);
    const uint8_t version = byte_read_u8(&reader);
    const uint16_t flags = byte_read_u16(&reader);
    const uint32_t bytecode_bytes = byte_read_u32(&reader);
    const uint8_t *hash = byte_read_bytes(&reader, SHA256_BYTES);
    const uint8_t path_bytes = byte_read_u8(&reader);
    const uint8_t *path = byte_read_bytes(&reader, path_bytes);
    const uint8_t *bytecode = byte_read_bytes(&reader, bytecode_bytes);
    const Status status = byte_reader_finish(&reader);
    if (status != STATUS_OK) {
        return status;
    }
    if (format != RUNE_FORMAT || version != RUNE_LUA_VERSION || flags != 0) {
        return STATUS_UNSUPPORTED;
    }
    if (path_bytes > RUNE_PATH_BYTES_MAX || !path_is_plain(path, path_bytes) ||
        bytecode_bytes < sizeof LUA_SIGNATURE_BYTES ||
        memcmp(bytecode, LUA_SIGNATURE_BYTES, sizeof LUA_SIGNATURE_BYTES) != 0) {
        return STATUS_MALFORMED;
    }
    Rune found = {.bytecode = bytecode, .bytecode_bytes = bytecode_bytes};
    sha256_of(bytecode, bytecode_bytes, found.hash);
    if (memcmp(found.hash, hash, SHA256_BYTES) != 0) {
        return STATUS_MISMATCH;
    }
    memcpy(found.path, path, path_bytes);
    *rune = found;
    return STATUS_OK;
}

typedef struct Load {
    const Rune *rune;
    int environment_index;
    int status;
} Load;

static void load_bytecode(lua_State *thread, void *user)
{
    Load *load = user;
    const Rune *rune = load->rune;
    load->status = luaL_loadbufferx(thread, (const char *)rune->bytecode, rune->bytecode_bytes,
                                    rune->path, "b");
    if (load->status == LUA_OK) {
        lua_pushvalue(thread, load->environment_index);
        if (lua_setupvalue(thread, -2, 1) == NULL) {
            lua_pop(thread, 1);
        }
    }
}

Status rune_load(lua_State *thread, const void *data, size_t bytes, int environment_index)
{
    Rune rune;
    const Status status = rune_check(data, bytes, &rune);
    if (status != STATUS_OK) {
        return status;
    }
    const int64_t steps = INT64_MAX / 4;
    Load load = {&rune, lua_absindex(thread, environment_index), LUA_OK};
    GuardEntry outer;
    uint64_t steps_used;
    guard_enter(thread, steps, &outer);
    const int result = guard_protect(thread, load_bytecode, &load);
    const GuardFault fault = guard_leave(thread, steps, &outer, &steps_used);
    if (result != LUA_OK || load.status != LUA_OK || fault != GUARD_NONE) {
        lua_pop(thread, 1);
        return fault != GUARD_NONE ? STATUS_LIMIT : STATUS_MALFORMED;
    }
    return STATUS_OK;
}

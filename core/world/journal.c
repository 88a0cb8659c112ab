// Journals; see journal.h. Rejected entries are in a journal too, because they may have ended a
// session.
#include "core/world/journal.h"

#include "core/base/byte_values.h"
#include "core/base/check.h"
#include "core/base/sha256.h"

#include <string.h>

static const char magic[8] = {'S', 'A', 'N', 'D', 'J', 'R', 'N', 'L'};

void journal_write_header(const WorldConfig *config, ByteWriter *writer)
{
    uint8_t hash[SHA256_BYTES];
    sha256_of(config->stripped, config->stripped_bytes, hash);
    byte_write_bytes(writer, magic, sizeof magic);
    byte_write_varint(writer, JOURNAL_FORMAT);
    byte_write_bytes(writer, hash, sizeof hash);
    byte_write_string(writer, config->world_id);
    byte_write_string(writer, config->room_code);
    byte_write_u64(writer, config->epoch);
    byte_write_u64(writer, config->seed);
    byte_write_bytes(writer, config->secret, sizeof config->secret);
    byte_write_bool(writer, config->development);
    byte_write_bool(writer, config->scripts);
    byte_write_varint(writer, config->player_max);
    byte_write_varint(writer, config->entity_max);
    byte_write_varint(writer, config->visible_max);
    byte_write_varint(writer, config->json_session_max);
    byte_write_varint(writer, config->snapshot_budget_bytes);
    byte_write_varint(writer, config->body_kept_ms);
    byte_write_varint(writer, config->resume_ms);
    byte_write_varint(writer, config->checkpoint_ms);
}

// Terminated; a zero byte inside is rejected, because it would end the text early.
static void read_terminated(ByteReader *reader, char *out, uint32_t bytes_max)
{
    const uint32_t bytes = byte_read_count(reader, bytes_max);
    const uint8_t *text = byte_read_bytes(reader, bytes);
    if (text == NULL && bytes > 0) {
        return;
    }
    if (bytes > 0 && memchr(text, 0, bytes) != NULL) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return;
    }
    if (bytes > 0) {
        memcpy(out, text, bytes);
    }
    out[bytes] = '\0';
}

static bool read_magic(ByteReader *reader)
{
    const uint8_t *found = byte_read_bytes(reader, sizeof magic);
    return found != NULL && memcmp(found, magic, sizeof magic) == 0;
}

Status journal_read_header(ByteReader *reader, WorldConfig *config)
{
    WorldConfig read = *config;
    if (!read_magic(reader)) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    if (byte_read_varint(reader) != JOURNAL_FORMAT) {
        byte_reader_fail(reader, STATUS_UNSUPPORTED);
    }
    const uint8_t *hash = byte_read_bytes(reader, SHA256_BYTES);
    read_terminated(reader, read.world_id, sizeof read.world_id - 1);
    read_terminated(reader, read.room_code, sizeof read.room_code - 1);
    read.epoch = byte_read_u64(reader);
    read.seed = byte_read_u64(reader);
    const uint8_t *secret = byte_read_bytes(reader, sizeof read.secret);
    read.development = byte_read_bool(reader);
    read.scripts = byte_read_bool(reader);
    read.player_max = byte_read_count(reader, UINT32_MAX);
    read.entity_max = byte_read_count(reader, UINT32_MAX);
    read.visible_max = byte_read_count(reader, UINT32_MAX);
    read.json_session_max = byte_read_count(reader, UINT32_MAX);
    read.snapshot_budget_bytes = byte_read_count(reader, UINT32_MAX);
    read.body_kept_ms = byte_read_count(reader, UINT32_MAX);
    read.resume_ms = byte_read_count(reader, UINT32_MAX);
    read.checkpoint_ms = byte_read_count(reader, UINT32_MAX);
    if (reader->status != STATUS_OK) {
        return reader->status;
    }
    memcpy(read.secret, secret, sizeof read.secret);
    uint8_t want[SHA256_BYTES];
    sha256_of(config->stripped, config->stripped_bytes, want);
    if (memcmp(hash, want, sizeof want) != 0) {
        return STATUS_MISMATCH;
    }
    *config = read;
    return STATUS_OK;
}

Status journal_next(ByteReader *reader, Entry *out)
{
    if (reader->status == STATUS_OK && byte_reader_left(reader) == 0) {
        return STATUS_NOT_FOUND;
    }
    return entry_read(reader, out);
}

// Nothing reads the output: full rings drop messages, and commands are thrown away. Neither changes
// the state.
Status journal_replay(ByteReader *reader, World *world, JournalSink after, void *user)
{
    Entry entry;
    for (;;) {
        const Status status = journal_next(reader, &entry);
        if (status != STATUS_OK) {
            return status == STATUS_NOT_FOUND ? STATUS_OK : status;
        }
        const Status entered = world_enter(world, &entry);
        world_commands_clear(world);
        if (after != NULL && !after(user, world, &entry, entered)) {
            return STATUS_OK;
        }
    }
}

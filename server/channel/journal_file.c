// See journal_file.h.
#define _GNU_SOURCE
#include "server/channel/journal_file.h"

#include "core/base/check.h"
#include "server/sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

// --- records ------------------------------------------------------------------------------------

void journal_write_hash(uint64_t tick, uint64_t hash, ByteWriter *writer)
{
    byte_write_u8(writer, JOURNAL_HASH_TYPE);
    byte_write_u64(writer, tick);
    byte_write_u64(writer, hash);
}

Status journal_record_next(ByteReader *reader, JournalRecord *out)
{
    if (reader->status != STATUS_OK || byte_reader_left(reader) == 0 ||
        reader->data[reader->at] != JOURNAL_HASH_TYPE) {
        Entry entry;
        const Status status = journal_next(reader, &entry);
        if (status == STATUS_OK) {
            *out = (JournalRecord){.entry = entry};
        }
        return status;
    }
    JournalRecord record = {.is_hash = true};
    (void)byte_read_u8(reader);
    record.tick = byte_read_u64(reader);
    record.hash = byte_read_u64(reader);
    if (reader->status == STATUS_OK) {
        *out = record;
    }
    return reader->status;
}

// --- writing ------------------------------------------------------------------------------------

Status journal_file_open(JournalFile *file, const char *path, uint64_t bytes_max)
{
    char before[PATH_BYTES];
    const int length = snprintf(before, sizeof before, "%s.before", path);
    if (length < 0 || (size_t)length >= sizeof before) {
        return STATUS_RANGE;
    }
    if (rename(path, before) != 0 && errno != ENOENT) {
        return STATUS_BLOCKED;
    }
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) {
        return STATUS_BLOCKED;
    }
    *file = (JournalFile){.descriptor = descriptor, .bytes_max = bytes_max};
    return STATUS_OK;
}

Status journal_file_append(JournalFile *file, const void *bytes, size_t count)
{
    if (file->descriptor < 0 || file->ended) {
        return STATUS_OK;
    }
    if (count > file->bytes_max - file->bytes) {
        file->ended = true;
        return STATUS_LIMIT;
    }
    if (!file_write_whole(file->descriptor, bytes, count)) {
        file->ended = true;
        return STATUS_BLOCKED;
    }
    file->bytes += count;
    return STATUS_OK;
}

void journal_file_end(JournalFile *file)
{
    file->ended = true;
}

void journal_file_close(JournalFile *file)
{
    if (file->descriptor >= 0) {
        close(file->descriptor);
    }
    *file = (JournalFile){.descriptor = -1};
}

// --- replaying ----------------------------------------------------------------------------------

// What a world says goes nowhere: rings that are full lose what does not fit, and commands are
// thrown away, neither of which decides anything.
static bool replay_record(World *world, const JournalRecord *record, JournalReplay *out)
{
    if (!record->is_hash) {
        status_ignore(world_enter(world, &record->entry)); // what was refused is in it too
        world_commands_clear(world);
        out->entries += 1;
        out->ticks += record->entry.type == ENTRY_TICK;
        return true;
    }
    out->hashes += 1;
    const uint64_t found = world_hash(world);
    if (record->hash != found || record->tick != sim_tick(world_sim(world))) {
        out->differs_tick = record->tick;
        out->expected = record->hash;
        out->found = found;
        return false;
    }
    return true;
}

Status journal_replay_all(Heap *heap, WorldConfig *config, const uint8_t *bytes, size_t count,
                          JournalReplay *out)
{
    ByteReader reader = byte_reader(bytes, count);
    Status status = journal_read_header(&reader, config);
    World *world = NULL;
    if (status == STATUS_OK) {
        status = world_create(heap, config, &world);
    }
    if (status != STATUS_OK) {
        return status;
    }
    JournalReplay replay = {0};
    JournalRecord record;
    do {
        status = journal_record_next(&reader, &record);
    } while (status == STATUS_OK && replay_record(world, &record, &replay));
    world_destroy(heap, world);
    replay.truncated = status == STATUS_TRUNCATED;
    if (status != STATUS_OK && status != STATUS_NOT_FOUND && status != STATUS_TRUNCATED) {
        return status;
    }
    *out = replay;
    return STATUS_OK;
}

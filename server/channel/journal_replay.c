// See journal_replay.h.
#include "server/channel/journal_replay.h"

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

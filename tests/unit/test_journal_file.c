// Journals on disk: written in order, ended instead of written wrongly, and replayed to the same
// hashes.
#define _GNU_SOURCE
#include "server/channel/journal_file.h"
#include "server/channel/journal_replay.h"

#include "server/sys/file.h"
#include "tests/support/test.h"
#include "tests/unit/world_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/sandlot-journal-XXXXXX";
static char path[64], before[80];

static void make_folder(void)
{
    if (path[0] == '\0') {
        CHECK(mkdtemp(folder) != NULL);
        snprintf(path, sizeof path, "%s/journal", folder);
        snprintf(before, sizeof before, "%s.before", path);
    }
}

static size_t bytes_of(const char *name)
{
    uint8_t *bytes = NULL;
    size_t count = 0;
    if (file_read(name, 1 << 20, &bytes, &count) != STATUS_OK) {
        return 0;
    }
    free(bytes);
    return count;
}

TEST(the_file_before_is_kept)
{
    make_folder();
    JournalFile file;
    CHECK_OK(journal_file_open(&file, path, 100));
    CHECK_OK(journal_file_append(&file, "12345", 5));
    journal_file_close(&file);
    CHECK_OK(journal_file_open(&file, path, 100));
    CHECK_OK(journal_file_append(&file, "123", 3));
    journal_file_close(&file);
    CHECK_INT(bytes_of(before), 5);
    CHECK_INT(bytes_of(path), 3);
    unlink(path);
    unlink(before);
}

TEST(a_full_file_ends_and_stays_good)
{
    make_folder();
    JournalFile file;
    CHECK_OK(journal_file_open(&file, path, 10));
    CHECK_OK(journal_file_append(&file, "1234567", 7));
    CHECK_INT(journal_file_append(&file, "1234", 4), STATUS_LIMIT);
    CHECK_OK(journal_file_append(&file, "1", 1)); // would fit, but something is missing before it
    CHECK_INT(file.bytes, 7);
    journal_file_close(&file);
    CHECK_OK(journal_file_append(&file, "1", 1)); // of a file that is closed
    CHECK_INT(bytes_of(path), 7);
    unlink(path);
    CHECK_OK(journal_file_open(&file, path, 10));
    journal_file_end(&file);
    CHECK_OK(journal_file_append(&file, "1", 1));
    CHECK_INT(file.bytes, 0);
    journal_file_close(&file);
    unlink(path);
    rmdir(folder);
    CHECK_INT(journal_file_open(&file, "/nowhere/at/all/journal", 10), STATUS_BLOCKED);
}

// --- replaying ----------------------------------------------------------------------------------

static uint8_t journal[1 << 20];

static void enter(World *world, const Entry *entry, ByteWriter *writer)
{
    entry_write(entry, writer);
    status_ignore(world_enter(world, entry));
    world_commands_clear(world);
}

// A world that somebody connects to; its journal, with a hash every ten ticks.
static size_t record(Fixture *fixture)
{
    ByteWriter writer = byte_writer(journal, sizeof journal);
    journal_write_header(&fixture->config, &writer);
    for (uint32_t tick = 1; tick <= 40; tick++) {
        if (tick == 12) {
            const Entry connect = {.type = ENTRY_CONNECT, .connection = 5};
            enter(fixture->world, &connect, &writer);
        }
        if (tick == 25) {
            const Entry gone = {.type = ENTRY_DISCONNECT, .connection = 5};
            enter(fixture->world, &gone, &writer);
        }
        const Entry step = {.type = ENTRY_TICK, .number = 1000000 + tick * 16};
        enter(fixture->world, &step, &writer);
        if (tick % 10 == 0) {
            journal_write_hash(sim_tick(world_sim(fixture->world)), world_hash(fixture->world),
                               &writer);
        }
    }
    CHECK_OK(writer.status);
    return writer.at;
}

TEST(a_replay_comes_to_the_same_hashes)
{
    Fixture fixture;
    fixture_open(&fixture);
    const size_t bytes = record(&fixture);
    Heap heap = heap_make(1ull << 31);
    WorldConfig config = fixture.config;
    JournalReplay result = {0};
    CHECK_OK(journal_replay_all(&heap, &config, journal, bytes, &result));
    CHECK_INT(result.ticks, 40);
    CHECK_INT(result.entries, 42);
    CHECK_INT(result.hashes, 4);
    CHECK_INT(result.differs_tick, 0);
    CHECK(!result.truncated);
    CHECK_INT(heap.bytes_now, 0);
    // Cut off in its last record.
    CHECK_OK(journal_replay_all(&heap, &config, journal, bytes - 1, &result));
    CHECK(result.truncated);
    CHECK_INT(result.hashes, 3);
    // A hash that is another.
    journal[bytes - 1] ^= 1;
    CHECK_OK(journal_replay_all(&heap, &config, journal, bytes, &result));
    CHECK_INT(result.differs_tick, 40);
    CHECK(result.expected != result.found);
    journal[bytes - 1] ^= 1;
    // Another place; no journal at all.
    journal[10] ^= 1;
    CHECK_INT(journal_replay_all(&heap, &config, journal, bytes, &result), STATUS_MISMATCH);
    journal[10] ^= 1;
    journal[0] = 'X';
    CHECK_INT(journal_replay_all(&heap, &config, journal, bytes, &result), STATUS_MALFORMED);
    CHECK_INT(heap.bytes_now, 0);
    fixture_close(&fixture);
}

TEST(records_are_told_apart)
{
    uint8_t bytes[128];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    const Entry tick = {.type = ENTRY_TICK, .number = 7};
    entry_write(&tick, &writer);
    journal_write_hash(60, 0x1122334455667788, &writer);
    ByteReader reader = byte_reader(bytes, writer.at);
    JournalRecord record_read;
    CHECK_OK(journal_record_next(&reader, &record_read));
    CHECK(!record_read.is_hash && record_read.entry.type == ENTRY_TICK);
    CHECK_OK(journal_record_next(&reader, &record_read));
    CHECK(record_read.is_hash && record_read.hash == 0x1122334455667788 && record_read.tick == 60);
    CHECK_INT(journal_record_next(&reader, &record_read), STATUS_NOT_FOUND);
    reader = byte_reader(bytes, writer.at - 1);
    CHECK_OK(journal_record_next(&reader, &record_read));
    CHECK_INT(journal_record_next(&reader, &record_read), STATUS_TRUNCATED);
    bytes[0] = 200;
    reader = byte_reader(bytes, writer.at);
    CHECK_INT(journal_record_next(&reader, &record_read), STATUS_MALFORMED);
}

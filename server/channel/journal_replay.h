// What is in a journal on disk: what a world was made from and everything that entered it since
// (core/world/journal.h), with the hash of the world beside it once a second.
//
//   header    journal_write_header
//   records   an entry (entry.h: its first byte is its type), or
//             u8 255 · u64 tick · u64 world_hash after that tick
//
// The host writes what a world sends without reading it (journal_file.h); whoever replays a file
// takes every byte of it for hostile.
#pragma once

#include "core/world/journal.h"

#define JOURNAL_HASH_TYPE  255
#define JOURNAL_HASH_BYTES 17

void journal_write_hash(uint64_t tick, uint64_t hash, ByteWriter *writer);

typedef struct JournalRecord {
    bool is_hash;
    Entry entry;
    uint64_t tick, hash;
} JournalRecord;
// As journal_next: STATUS_NOT_FOUND at the end, STATUS_TRUNCATED for a record that was cut off.
MUST_USE Status journal_record_next(ByteReader *reader, JournalRecord *out);

typedef struct JournalReplay {
    uint64_t entries, ticks, hashes;
    uint64_t differs_tick; // 0: none does
    uint64_t expected, found;
    bool truncated; // the last record was cut off
} JournalReplay;
// Rebuilds the world in `config` (its place and stripped form are set) from the header on, enters
// everything and compares. STATUS_MISMATCH: the journal is of another place. A hash that differs is
// STATUS_OK with differs_tick, and ends the replay.
MUST_USE Status journal_replay_all(Heap *heap, WorldConfig *config, const uint8_t *bytes,
                                   size_t count, JournalReplay *out);

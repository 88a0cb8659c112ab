// A journal: everything that entered a world, in order, behind what the world was made from. With
// the same place it gives the same world again, tick by tick.
//
//   8 bytes  "SANDJRNL"
//   varint   format: 1
//   numbers of the WorldConfig that decide (docs/FORMATS.md), and the hash of the stripped place
//   entries  (entry.h) until the end
//
// The resume tokens of the world follow from its secret, which is in the header: a journal is to be
// kept like the data folder itself.
#pragma once

#include "core/world/world.h"

#define JOURNAL_FORMAT       1
#define JOURNAL_HEADER_BYTES 512 // at most

void journal_write_header(const WorldConfig *config, ByteWriter *writer);
// Sets the numbers in `config`, not what it points to. STATUS_MISMATCH if the journal is of another
// place than config->stripped. Leaves the entries in the reader.
MUST_USE Status journal_read_header(ByteReader *reader, WorldConfig *config);
// Reads the next entry. STATUS_NOT_FOUND at the end; STATUS_TRUNCATED if the last one was cut off,
// as after a crash: the entries before it are valid.
MUST_USE Status journal_next(ByteReader *reader, Entry *out);

// Enters every entry into a world that was just made from the header. `after` (may be NULL) is
// called after each, with the status of world_enter; if it returns false the replay ends. STATUS_OK
// at the end; STATUS_TRUNCATED and others from journal_next.
typedef bool (*JournalSink)(void *user, World *world, const Entry *entry, Status entered);
MUST_USE Status journal_replay(ByteReader *reader, World *world, JournalSink after, void *user);

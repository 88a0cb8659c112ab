// Is the write-ahead log of a database whole? SQLite reads it up to the first frame whose checksum
// is wrong and says nothing about the rest: what was committed after that place is lost in silence.
// So it is looked at before SQLite opens it. (The format: https://www.sqlite.org/fileformat2.html,
// section 4.)
#pragma once

#include <stdint.h>

typedef struct LogDamage {
    uint64_t at;          // the byte at which the first wrong frame begins
    uint64_t commit_lost; // transactions that end in or after it; 0: the log is whole
} LogDamage;

// No log, or none that can be read, is whole. A transaction that was being written when the power
// went may count as one: nobody was told that it is durable.
LogDamage log_check(const char *database_path);

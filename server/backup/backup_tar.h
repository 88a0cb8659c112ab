// A tar of plain files (POSIX ustar), written and read as a stream. The reader takes what the
// writer writes and nothing else: it runs outside the jail, next to the keys, where a library that
// knows every dialect of tar would be much to trust. The usual `tar` reads these files.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TAR_BLOCK_BYTES 512
#define TAR_NAME_BYTES  256 // with its end

typedef struct TarEntry {
    char name[TAR_NAME_BYTES];
    uint64_t bytes;
} TarEntry;

// The header of a file; its bytes follow, then tar_write_padding. STATUS_RANGE: the name is too
// long for a tar. STATUS_BLOCKED: the disk refuses.
MUST_USE Status tar_write_header(FILE *out, const TarEntry *entry, uint64_t unix_s);
MUST_USE Status tar_write_padding(FILE *out, uint64_t bytes);
MUST_USE Status tar_write_end(FILE *out);

// The next file. STATUS_NOT_FOUND: the end. STATUS_TRUNCATED: cut off. STATUS_MALFORMED: a header
// that tar_write_header does not write.
MUST_USE Status tar_read_header(FILE *in, TarEntry *entry);
MUST_USE Status tar_read_padding(FILE *in, uint64_t bytes);

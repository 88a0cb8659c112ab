// A place as one file. `.game` is a zip with sources, assets and scene, never runes; tar (plain,
// gz, zst) is read too. Writing gives the same bytes for the same folder. Reading happens in the
// worker (package_read.c), with libarchive and our own rules; each refusal names entry and rule:
//
//   absolute dotdot backslash nul control utf8 long duplicate case link special count size ratio
//   depth kind content dimensions triangles truncated checksum encrypted nested
#pragma once

#include "server/build/diagnostic.h"
#include "server/build/place_folder.h"
#include "server/build/worker.h"

#define PACKAGE_BYTES_MAX (256u << 20) // packed; unpacked: PLACE_FOLDER_BYTES_MAX

// STATUS_MALFORMED with the refusal in `reason` ("assets/a.png: dimensions: 70000 × 1, at most
// 4096"). *out is in memory (free with place_folder_free) and holds every file, assets included.
MUST_USE Status package_read(Worker *worker, const uint8_t *bytes, size_t count, PlaceFolder *out,
                             DiagnosticList *warnings, char reason[WORKER_REASON_BYTES]);
// Reads the folder (assets included), checks it as a reader would, and packs it.
MUST_USE Status package_write(Worker *worker, const char *folder, Buffer *out,
                              DiagnosticList *warnings, char reason[WORKER_REASON_BYTES]);
// Into a folder that must not exist or be empty; all or nothing.
MUST_USE Status package_unpack(const PlaceFolder *files, const char *folder,
                               char reason[WORKER_REASON_BYTES]);

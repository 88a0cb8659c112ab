// The last version of a place that was signed here, and which set of scripts had it. The manifests
// say so too, but they may be deleted, or signed by a key that has been forgotten since; a version
// must not fall even then. It lies beside the key, and is believed as the key is: whoever can write
// there can sign.
//
//   ticket.key.version                     of the place that the key lies in
//   ticket.key.version.<16 hex digits>     of others: the beginning of the SHA-256 of their paths
//
//   version 12
//   set <64 hex digits>
#pragma once

#include "core/base/sha256.h"
#include "core/base/status.h"

#include <stdint.h>

#define BUILD_VERSION_PATH_BYTES 4160

typedef struct BuildVersion {
    uint32_t number; // 0: there was none
    uint8_t set[SHA256_BYTES];
} BuildVersion;

// STATUS_RANGE: the paths are too long.
MUST_USE Status build_version_path(const char *key_path, const char *place,
                                   char out[BUILD_VERSION_PATH_BYTES]);
// The number is also 0 if the file is unreadable or writable by others.
BuildVersion build_version_read(const char *path);
MUST_USE Status build_version_write(const char *path, const BuildVersion *version);

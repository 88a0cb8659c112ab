// The host's Ed25519 key: tickets and manifests are signed with it, by the host alone. One file,
// for its owner alone, made on first use. After a rotation the public halves of the keys before
// stay known beside it (`<path>.old`, newest first), so that what they signed can still be
// verified.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIGNING_PUBLIC_BYTES    32
#define SIGNING_SIGNATURE_BYTES 64
#define SIGNING_OLD_MAX         16

typedef struct SigningKey {
    uint8_t secret[64], public_half[SIGNING_PUBLIC_BYTES];
} SigningKey;

// Reads the key, or makes it on first use. STATUS_MALFORMED: the file is no key; STATUS_DENIED:
// others may read it.
MUST_USE Status signing_key_open(const char *path, SigningKey *out);

// The host's Ed25519 key, with which the host signs tickets and manifests. One file that only its
// owner can read, created on first use. After a rotation the public halves of earlier keys are kept
// beside it (`<path>.old`, newest first), so that what they signed can still be verified.
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

// Reads the key, or creates it on first use. STATUS_MALFORMED: not a key file; STATUS_DENIED: it
// belongs to another user, or others may read it.
MUST_USE Status signing_key_open(const char *path, SigningKey *out);
void signing_key_wipe(SigningKey *key);
// What is wrong with a key file that could not be opened, and what to do; for people.
const char *signing_key_advice(Status status);
// Replaces the key by a new one; the old public half goes to the front of `<path>.old`. A crash in
// between leaves the key as it was. STATUS_NOT_FOUND: there is no key to replace.
MUST_USE Status signing_key_rotate(const char *path, SigningKey *out);

// The public keys that are accepted: the current one first, then the earlier ones.
typedef struct SigningPublicKeys {
    uint8_t items[1 + SIGNING_OLD_MAX][SIGNING_PUBLIC_BYTES];
    uint32_t count;
} SigningPublicKeys;
// Does not create a key: STATUS_NOT_FOUND. `<path>.old` may be missing, but not malformed.
MUST_USE Status signing_public_keys_open(const char *path, SigningPublicKeys *out);

// After one of these failed: "<path>: why and what to do", or "<path>.old: …" if the key itself is
// valid.
void signing_key_explain(const char *path, Status status, char *reason, size_t reason_bytes);

void signing_sign(const SigningKey *key, const void *bytes, size_t count,
                  uint8_t signature[SIGNING_SIGNATURE_BYTES]);
// Whether any of them signed it; *which (may be NULL) is its index, 0 for the current one.
bool signing_verify_any(const SigningPublicKeys *halves, const void *bytes, size_t count,
                        const uint8_t signature[SIGNING_SIGNATURE_BYTES], uint32_t *which);

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
// it is another user's, or others may read it.
MUST_USE Status signing_key_open(const char *path, SigningKey *out);
void signing_key_wipe(SigningKey *key);
// For people, what is wrong with a key file that could not be opened, and what to do.
const char *signing_key_advice(Status status);
// A new key takes the file; the public half of the one before goes to the front of `<path>.old`. A
// crash in between leaves the key as it was. STATUS_NOT_FOUND: there is none to replace.
MUST_USE Status signing_key_rotate(const char *path, SigningKey *out);

// The public halves that count: the key's own first, then those before it.
typedef struct SigningHalves {
    uint8_t items[1 + SIGNING_OLD_MAX][SIGNING_PUBLIC_BYTES];
    uint32_t count;
} SigningHalves;
// Makes no key: STATUS_NOT_FOUND. `<path>.old` may be missing, not malformed.
MUST_USE Status signing_halves_open(const char *path, SigningHalves *out);

// After one of these failed: "<path>: why and what to do", or "<path>.old: …" if the key is good.
void signing_key_explain(const char *path, Status status, char *reason, size_t reason_bytes);

void signing_sign(const SigningKey *key, const void *bytes, size_t count,
                  uint8_t signature[SIGNING_SIGNATURE_BYTES]);
// By any of them; *which (may be NULL) is the index of the one, 0 for the current.
bool signing_verify_any(const SigningHalves *halves, const void *bytes, size_t count,
                        const uint8_t signature[SIGNING_SIGNATURE_BYTES], uint32_t *which);

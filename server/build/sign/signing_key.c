// See signing_key.h.
#define _GNU_SOURCE
#include "server/build/sign/signing_key.h"

#include "core/base/check.h"

#include "server/sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(sizeof((SigningKey){0}.secret) == crypto_sign_SECRETKEYBYTES, "libsodium's key");
_Static_assert(sizeof((SigningKey){0}.public_half) == crypto_sign_PUBLICKEYBYTES, "and its half");

#define PATH_BYTES     4096
#define OLD_LINE_BYTES (2 * SIGNING_PUBLIC_BYTES + 1) // hex and a line end
#define OLD_BYTES_MAX  (SIGNING_OLD_MAX * OLD_LINE_BYTES)

static Status make_key(const char *path, SigningKey *out)
{
    SigningKey key;
    if (crypto_sign_keypair(key.public_half, key.secret) != 0) {
        return STATUS_BLOCKED;
    }
    const Status status = file_write_private(path, key.secret, sizeof key.secret);
    if (status == STATUS_OK) {
        *out = key;
    }
    sodium_memzero(&key, sizeof key);
    return status;
}

// Creates the first key. If several processes do so at once, one key wins and all of them use it.
static Status make_first_key(const char *path)
{
    char fresh[PATH_BYTES];
    SigningKey key;
    const int length = snprintf(fresh, sizeof fresh, "%s.new.%d", path, (int)getpid());
    Status status =
        length > 0 && (size_t)length < sizeof fresh ? make_key(fresh, &key) : STATUS_RANGE;
    if (status != STATUS_OK) {
        return status;
    }
    sodium_memzero(&key, sizeof key);
    status = link(fresh, path) == 0 || errno == EEXIST ? STATUS_OK : STATUS_BLOCKED;
    (void)unlink(fresh);
    return status;
}

Status signing_key_open(const char *path, SigningKey *out)
{
    if (sodium_init() < 0) {
        return STATUS_BLOCKED;
    }
    uint8_t *bytes = NULL;
    size_t count = 0;
    Status status = file_read_own(path, S_IRWXG | S_IRWXO, 4096, &bytes, &count);
    if (status == STATUS_NOT_FOUND) {
        status = make_first_key(path);
        status = status == STATUS_OK ? file_read_own(path, S_IRWXG | S_IRWXO, 4096, &bytes, &count)
                                     : status;
    }
    if (status != STATUS_OK) {
        return status;
    }
    SigningKey key;
    uint8_t seed[crypto_sign_SEEDBYTES], again[crypto_sign_SECRETKEYBYTES];
    status = STATUS_MALFORMED;
    if (count == sizeof key.secret) {
        // The second half must be derived from the first, or signatures would leak the key.
        memcpy(key.secret, bytes, count);
        (void)crypto_sign_ed25519_sk_to_seed(seed, key.secret);
        (void)crypto_sign_seed_keypair(key.public_half, again, seed);
        status = sodium_memcmp(again, key.secret, sizeof again) == 0 ? STATUS_OK : status;
    }
    if (status == STATUS_OK) {
        *out = key;
    }
    sodium_memzero(bytes, count);
    sodium_memzero(&key, sizeof key);
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(again, sizeof again);
    free(bytes);
    return status;
}

void signing_key_wipe(SigningKey *key)
{
    sodium_memzero(key, sizeof *key);
}

const char *signing_key_advice(Status status)
{
    switch (status) {
    case STATUS_NOT_FOUND:
        return "there is no signing key: this place was not built";
    case STATUS_DENIED:
        return "is not your own, or others may read it: chown it to you and chmod 600, or delete "
               "it";
    case STATUS_MALFORMED:
    case STATUS_LIMIT:
        return "is no signing key; delete it to have a new one";
    default:
        return "cannot be read or made";
    }
}

// --- the keys before ----------------------------------------------------------------------------

static Status old_path(const char *path, char out[PATH_BYTES])
{
    const int length = snprintf(out, PATH_BYTES, "%s.old", path);
    return length > 0 && length < PATH_BYTES ? STATUS_OK : STATUS_RANGE;
}

// One public half a line, as hex.
static Status read_old(const char *path, SigningPublicKeys *halves)
{
    char old[PATH_BYTES];
    uint8_t *bytes = NULL;
    size_t count = 0;
    Status status = old_path(path, old);
    status = status == STATUS_OK
                 ? file_read_own(old, S_IWGRP | S_IWOTH, OLD_BYTES_MAX, &bytes, &count)
                 : status;
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    status = count % OLD_LINE_BYTES == 0 ? STATUS_OK : STATUS_MALFORMED;
    for (size_t at = 0; status == STATUS_OK && at < count; at += OLD_LINE_BYTES) {
        uint8_t *half = halves->items[halves->count++];
        size_t made = 0;
        const int failed = sodium_hex2bin(half, SIGNING_PUBLIC_BYTES, (const char *)bytes + at,
                                          OLD_LINE_BYTES - 1, NULL, &made, NULL);
        if (failed != 0 || made != SIGNING_PUBLIC_BYTES || bytes[at + OLD_LINE_BYTES - 1] != '\n') {
            status = STATUS_MALFORMED;
        }
    }
    free(bytes);
    return status;
}

static Status write_old(const char *path, const SigningPublicKeys *halves)
{
    char old[PATH_BYTES], text[OLD_BYTES_MAX + 1];
    const uint32_t count = halves->count < SIGNING_OLD_MAX ? halves->count : SIGNING_OLD_MAX;
    for (uint32_t i = 0; i < count; i++) {
        sodium_bin2hex(text + i * OLD_LINE_BYTES, sizeof text - i * OLD_LINE_BYTES,
                       halves->items[i], SIGNING_PUBLIC_BYTES);
        text[(i + 1) * OLD_LINE_BYTES - 1] = '\n';
    }
    const Status status = old_path(path, old);
    return status == STATUS_OK ? file_write_private(old, text, count * OLD_LINE_BYTES) : status;
}

// Unlike signing_key_open, does not create a key.
static Status open_existing(const char *path, SigningKey *out)
{
    struct stat about;
    return lstat(path, &about) == 0 ? signing_key_open(path, out) : STATUS_NOT_FOUND;
}

Status signing_public_keys_open(const char *path, SigningPublicKeys *out)
{
    SigningKey key;
    Status status = open_existing(path, &key);
    if (status != STATUS_OK) {
        return status;
    }
    SigningPublicKeys halves = {.count = 1};
    memcpy(halves.items[0], key.public_half, sizeof key.public_half);
    signing_key_wipe(&key);
    status = read_old(path, &halves);
    if (status == STATUS_OK) {
        *out = halves;
    }
    return status;
}

Status signing_key_rotate(const char *path, SigningKey *out)
{
    SigningPublicKeys halves;
    Status status = signing_public_keys_open(path, &halves);
    // The old key is recorded before the new one is written: what was signed can be verified at any
    // moment.
    status = status == STATUS_OK ? write_old(path, &halves) : status;
    return status == STATUS_OK ? make_key(path, out) : status;
}

static const char *old_advice(Status status)
{
    switch (status) {
    case STATUS_DENIED:
        return "is not your own, or others may write to it: chown it to you and chmod 600, or "
               "delete it";
    case STATUS_MALFORMED:
    case STATUS_LIMIT:
        return "is no list of the keys before; delete it, and what they signed is signed again by "
               "the next build";
    default:
        return "cannot be read or written";
    }
}

void signing_key_explain(const char *path, Status status, char *reason, size_t reason_bytes)
{
    SigningKey key;
    const bool is_good = open_existing(path, &key) == STATUS_OK;
    if (is_good) {
        signing_key_wipe(&key);
    }
    snprintf(reason, reason_bytes, "%.380s%s: %s", path, is_good ? ".old" : "",
             is_good ? old_advice(status) : signing_key_advice(status));
}

// --- signatures ---------------------------------------------------------------------------------

void signing_sign(const SigningKey *key, const void *bytes, size_t count,
                  uint8_t signature[SIGNING_SIGNATURE_BYTES])
{
    ASSERT(!sodium_is_zero(key->secret, sizeof key->secret)); // wiped, or never opened
    (void)crypto_sign_detached(signature, NULL, bytes, count, key->secret); // never fails
}

static bool is_signed_by(const uint8_t public_half[SIGNING_PUBLIC_BYTES], const void *bytes,
                         size_t count, const uint8_t signature[SIGNING_SIGNATURE_BYTES])
{
    return crypto_sign_verify_detached(signature, bytes, count, public_half) == 0;
}

bool signing_verify_any(const SigningPublicKeys *halves, const void *bytes, size_t count,
                        const uint8_t signature[SIGNING_SIGNATURE_BYTES], uint32_t *which)
{
    for (uint32_t i = 0; i < halves->count; i++) {
        if (is_signed_by(halves->items[i], bytes, count, signature)) {
            if (which != NULL) {
                *which = i;
            }
            return true;
        }
    }
    return false;
}

// See signing_key.h.
#define _GNU_SOURCE
#include "server/build/signing_key.h"

#include "server/sys/file.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert(sizeof((SigningKey){0}.secret) == crypto_sign_SECRETKEYBYTES, "libsodium's key");
_Static_assert(sizeof((SigningKey){0}.public_half) == crypto_sign_PUBLICKEYBYTES, "and its half");

static bool is_private(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISREG(about.st_mode) && (about.st_mode & 077) == 0;
}

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

Status signing_key_open(const char *path, SigningKey *out)
{
    if (sodium_init() < 0) {
        return STATUS_BLOCKED;
    }
    uint8_t *bytes = NULL;
    size_t count = 0;
    Status status = file_read(path, 4096, &bytes, &count);
    if (status == STATUS_NOT_FOUND) {
        return make_key(path, out);
    }
    if (status != STATUS_OK) {
        return status;
    }
    SigningKey key;
    uint8_t seed[crypto_sign_SEEDBYTES], again[crypto_sign_SECRETKEYBYTES];
    status = !is_private(path) ? STATUS_DENIED : STATUS_MALFORMED;
    if (status == STATUS_MALFORMED && count == sizeof key.secret) {
        // The second half must be what the first half gives, or signatures would leak the key.
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

// SHA-256 (FIPS 180-4): names runes, scenes and blobs. In core because the browser checks hashes
// too.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t byte_count;
    uint8_t block[64];
} Sha256;

void sha256_init(Sha256 *sha);
void sha256_update(Sha256 *sha, const void *data, size_t bytes);
void sha256_final(Sha256 *sha, uint8_t digest[SHA256_BYTES]);
void sha256_of(const void *data, size_t bytes, uint8_t digest[SHA256_BYTES]);
// 64 lower-case hex digits and a terminator.
void sha256_hex(const uint8_t digest[SHA256_BYTES], char hex[2 * SHA256_BYTES + 1]);

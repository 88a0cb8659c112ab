// The 64-bit state hash: fast, not cryptographic, and the same in every build. State is fed field
// by field, never as raw structs, so that no padding byte reaches it.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct Hash64 {
    uint64_t state;
} Hash64;

#define HASH64_INIT ((Hash64){0x9e3779b97f4a7c15ull})

// One multiply-and-fold round; also the mixing function for hash tables.
static inline uint64_t hash_mix(uint64_t value)
{
    value ^= value >> 32;
    value *= 0xd6e8feb86659fd93ull;
    value ^= value >> 32;
    value *= 0xd6e8feb86659fd93ull;
    value ^= value >> 32;
    return value;
}

static inline void hash_u64(Hash64 *hash, uint64_t value)
{
    hash->state = hash_mix(hash->state + 0x9e3779b97f4a7c15ull + hash_mix(value));
}

static inline void hash_u32(Hash64 *hash, uint32_t value)
{
    hash_u64(hash, value);
}

static inline void hash_f32(Hash64 *hash, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    hash_u64(hash, bits);
}

void hash_bytes(Hash64 *hash, const void *data, size_t bytes);

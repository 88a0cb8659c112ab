// Bytes into the state hash, a little-endian word at a time. The length goes in last, so that two
// pieces in a row never hash like one.
#include "core/base/hash.h"

void hash_bytes(Hash64 *hash, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    for (size_t left = bytes; left != 0;) {
        const size_t count = left < 8 ? left : 8;
        uint64_t word = 0;
        for (size_t i = 0; i < count; i++) {
            word |= (uint64_t)at[i] << (8 * i);
        }
        hash_u64(hash, word);
        at += count;
        left -= count;
    }
    hash_u64(hash, bytes);
}

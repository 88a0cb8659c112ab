// Bytes into the state hash, a little-endian word at a time. The length goes in last, so that two
// pieces in a row never hash like one.
#include "core/base/hash.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are copied as they are");

void hash_bytes(Hash64 *hash, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    size_t left = bytes;
    for (; left >= 8; left -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash_u64(hash, word);
    }
    if (left != 0) {
        uint64_t word = 0;
        memcpy(&word, at, left);
        hash_u64(hash, word);
    }
    hash_u64(hash, bytes);
}

// SHA-256 as FIPS 180-4 describes it: 64-byte blocks, a schedule of 64 words, big-endian.
#include "core/base/sha256.h"

#include "core/base/check.h"

#include <string.h>

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t value, uint32_t by)
{
    return value >> by | value << (32 - by);
}

static void expand(uint32_t schedule[64], const uint8_t block[64])
{
    for (uint32_t i = 0; i < 16; i++) {
        schedule[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                      (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (uint32_t i = 16; i < 64; i++) {
        const uint32_t a = schedule[i - 15];
        const uint32_t b = schedule[i - 2];
        const uint32_t s0 = rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3;
        const uint32_t s1 = rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10;
        schedule[i] = schedule[i - 16] + s0 + schedule[i - 7] + s1;
    }
}

// One of the 64 rounds. The eight words change places after each; the caller names them in their
// new order, so that none is moved.
static inline void run_round(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e,
                             uint32_t f, uint32_t g, uint32_t *h, uint32_t input)
{
    const uint32_t s1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    const uint32_t choice = ((f ^ g) & e) ^ g;
    const uint32_t t1 = *h + s1 + choice + input;
    const uint32_t s0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    const uint32_t majority = (a & b) | ((a | b) & c);
    *d += t1;
    *h = t1 + s0 + majority;
}

static void compress(uint32_t state[8], const uint8_t block[64])
{
    uint32_t schedule[64];
    expand(schedule, block);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (uint32_t i = 0; i < 64; i += 8) {
        const uint32_t *input = schedule + i, *constant = round_constants + i;
        run_round(a, b, c, &d, e, f, g, &h, input[0] + constant[0]);
        run_round(h, a, b, &c, d, e, f, &g, input[1] + constant[1]);
        run_round(g, h, a, &b, c, d, e, &f, input[2] + constant[2]);
        run_round(f, g, h, &a, b, c, d, &e, input[3] + constant[3]);
        run_round(e, f, g, &h, a, b, c, &d, input[4] + constant[4]);
        run_round(d, e, f, &g, h, a, b, &c, input[5] + constant[5]);
        run_round(c, d, e, &f, g, h, a, &b, input[6] + constant[6]);
        run_round(b, c, d, &e, f, g, h, &a, input[7] + constant[7]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void sha256_init(Sha256 *sha)
{
    *sha = (Sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                              0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_update(Sha256 *sha, const void *data, size_t bytes)
{
    ASSERT(data != NULL || bytes == 0);
    const uint8_t *at = data;
    const size_t held = sha->byte_count % 64;
    sha->byte_count += bytes;
    if (held != 0) {
        const size_t room = 64 - held;
        const size_t count = bytes < room ? bytes : room;
        if (count != 0) {
            memcpy(sha->block + held, at, count);
        }
        if (count < room) {
            return;
        }
        compress(sha->state, sha->block);
        at += count;
        bytes -= count;
    }
    for (; bytes >= 64; at += 64, bytes -= 64) {
        compress(sha->state, at);
    }
    if (bytes != 0) {
        memcpy(sha->block, at, bytes);
    }
}

void sha256_final(Sha256 *sha, uint8_t digest[SHA256_BYTES])
{
    const uint64_t bit_count = sha->byte_count * 8;
    const size_t held = sha->byte_count % 64;
    // A one bit, zeros up to 56 modulo 64, and the length in bits.
    uint8_t tail[72] = {0x80};
    const size_t pad = held < 56 ? 56 - held : 120 - held;
    for (uint32_t i = 0; i < 8; i++) {
        tail[pad + i] = (uint8_t)(bit_count >> (56 - 8 * i));
    }
    sha256_update(sha, tail, pad + 8);
    ASSERT(sha->byte_count % 64 == 0);
    for (uint32_t i = 0; i < 32; i++) {
        digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void sha256_of(const void *data, size_t bytes, uint8_t digest[SHA256_BYTES])
{
    Sha256 sha;
    sha256_init(&sha);
    sha256_update(&sha, data, bytes);
    sha256_final(&sha, digest);
}

void sha256_hex(const uint8_t digest[SHA256_BYTES], char hex[2 * SHA256_BYTES + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (uint32_t i = 0; i < SHA256_BYTES; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[2 * SHA256_BYTES] = '\0';
}

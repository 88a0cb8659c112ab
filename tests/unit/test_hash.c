// The state hash: known values, sensitivity to every change, no dependence on the layout of bytes
// in memory.
#include "core/base/hash.h"
#include "tests/support/test.h"

#define GOLDEN_FIELDS 0x538199b1f0f93493ull
#define GOLDEN_EMPTY  0x3b041d5b6692dd3dull
#define GOLDEN_MIX    0x4179b061e0c0e0d0ull

static uint64_t hash_of(const void *data, size_t bytes)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, data, bytes);
    return hash.state;
}

TEST(hash_gives_the_known_numbers)
{
    Hash64 hash = HASH64_INIT;
    hash_u32(&hash, 1);
    hash_u64(&hash, 0x0123456789abcdefull);
    hash_f32(&hash, -1.5f);
    hash_bytes(&hash, "sandlot, hashed", 15);
    CHECK(hash.state == GOLDEN_FIELDS);
    CHECK(hash_of("", 0) == GOLDEN_EMPTY);
    CHECK(hash_mix(0) == 0);
    CHECK(hash_mix(1) == GOLDEN_MIX);
}

TEST(hash_bytes_sees_every_bit_and_the_length)
{
    uint8_t data[40] = {0};
    for (size_t bytes = 0; bytes < sizeof data; bytes++) {
        const uint64_t base = hash_of(data, bytes);
        CHECK(base != hash_of(data, bytes + 1));
        for (size_t bit = 0; bit < 8 * bytes; bit++) {
            data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            CHECK(hash_of(data, bytes) != base);
            data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        }
    }
}

TEST(hash_bytes_does_not_depend_on_alignment)
{
    uint8_t data[64];
    for (size_t offset = 0; offset < 16; offset++) {
        for (size_t i = 0; i < 40; i++) {
            data[offset + i] = (uint8_t)(i * 7);
        }
        uint8_t aligned[40];
        for (size_t i = 0; i < 40; i++) {
            aligned[i] = (uint8_t)(i * 7);
        }
        CHECK(hash_of(data + offset, 40) == hash_of(aligned, 40));
    }
}

TEST(hash_order_and_boundaries_matter)
{
    Hash64 a = HASH64_INIT;
    hash_u64(&a, 1);
    hash_u64(&a, 2);
    Hash64 b = HASH64_INIT;
    hash_u64(&b, 2);
    hash_u64(&b, 1);
    CHECK(a.state != b.state);
    Hash64 c = HASH64_INIT;
    hash_bytes(&c, "ab", 2);
    hash_bytes(&c, "c", 1);
    Hash64 d = HASH64_INIT;
    hash_bytes(&d, "a", 1);
    hash_bytes(&d, "bc", 2);
    CHECK(c.state != d.state);
    // The two zeros are different state.
    Hash64 e = HASH64_INIT;
    hash_f32(&e, 0.0f);
    Hash64 f = HASH64_INIT;
    hash_f32(&f, -0.0f);
    CHECK(e.state != f.state);
}

TEST(hash_mix_is_one_to_one_on_a_sample_and_spreads)
{
    // One flipped input bit flips about half of the output bits.
    uint32_t flips = 0;
    for (uint64_t value = 1; value <= 256; value++) {
        for (uint32_t bit = 0; bit < 64; bit++) {
            const uint64_t difference = hash_mix(value) ^ hash_mix(value ^ 1ull << bit);
            CHECK(difference != 0);
            flips += (uint32_t)__builtin_popcountll(difference);
        }
    }
    CHECK_NEAR((double)flips / (256.0 * 64.0), 32.0, 1.0);
}

// SHA-256: the vectors of FIPS 180-4 and, natively, a comparison with libsodium.
#include "core/base/rng.h"
#include "core/base/sha256.h"
#include "tests/support/test.h"

#include <string.h>
#ifndef __wasm__
#include <sodium.h>
#endif

static void check_hex(const void *data, size_t bytes, const char *want)
{
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    sha256_of(data, bytes, digest);
    sha256_hex(digest, hex);
    CHECK_TEXT(hex, want);
}

TEST(sha256_gives_the_published_vectors)
{
    check_hex("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_hex("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    check_hex(two_blocks, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    const char *four_blocks = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                              "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
    check_hex(four_blocks, 112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

TEST(sha256_of_a_million_letters)
{
    Sha256 sha;
    sha256_init(&sha);
    char piece[1000];
    memset(piece, 'a', sizeof piece);
    for (uint32_t i = 0; i < 1000; i++) {
        sha256_update(&sha, piece, sizeof piece);
    }
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    sha256_final(&sha, digest);
    sha256_hex(digest, hex);
    CHECK_TEXT(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(sha256_in_pieces_equals_sha256_at_once)
{
    Rng rng = rng_make(test_seed(), 1);
    uint8_t data[300];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)rng_u32(&rng);
    }
    for (size_t bytes = 0; bytes <= sizeof data; bytes++) {
        uint8_t want[SHA256_BYTES];
        sha256_of(data, bytes, want);
        for (uint32_t round = 0; round < 8; round++) {
            Sha256 sha;
            sha256_init(&sha);
            for (size_t at = 0; at < bytes;) {
                size_t count = rng_below(&rng, round < 4 ? 140 : 20);
                count = count < bytes - at ? count : bytes - at;
                sha256_update(&sha, data + at, count);
                at += count;
            }
            uint8_t got[SHA256_BYTES];
            sha256_final(&sha, got);
            CHECK_BYTES(got, want, SHA256_BYTES);
        }
    }
}

#ifndef __wasm__
TEST(sha256_equals_libsodium)
{
    REQUIRE(sodium_init() >= 0);
    Rng rng = rng_make(test_seed(), 2);
    for (size_t bytes = 0; bytes <= 300; bytes++) {
        uint8_t data[300];
        for (size_t i = 0; i < bytes; i++) {
            data[i] = (uint8_t)rng_u32(&rng);
        }
        uint8_t got[SHA256_BYTES];
        uint8_t want[crypto_hash_sha256_BYTES];
        sha256_of(data, bytes, got);
        REQUIRE(crypto_hash_sha256(want, data, bytes) == 0);
        CHECK_BYTES(got, want, SHA256_BYTES);
    }
}
#endif

// See token.h.
#include "server/control/token.h"

#include "server/sys/entropy.h"

#include <sodium.h>
#include <string.h>

void token_make(char out[TOKEN_TEXT_BYTES])
{
    uint8_t random[32];
    entropy_fill(random, sizeof random);
    sodium_bin2base64(out, TOKEN_TEXT_BYTES, random, sizeof random,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(random, sizeof random);
}

void token_hash(const uint8_t secret[TOKEN_SECRET_BYTES], const char *purpose, const char *text,
                uint8_t out[TOKEN_HASH_BYTES])
{
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, secret, TOKEN_SECRET_BYTES);
    crypto_auth_hmacsha256_update(&state, (const uint8_t *)purpose, strlen(purpose) + 1);
    crypto_auth_hmacsha256_update(&state, (const uint8_t *)text, strlen(text));
    crypto_auth_hmacsha256_final(&state, out);
    sodium_memzero(&state, sizeof state);
}

bool token_hash_equal(const uint8_t a[TOKEN_HASH_BYTES], const uint8_t b[TOKEN_HASH_BYTES])
{
    return sodium_memcmp(a, b, TOKEN_HASH_BYTES) == 0;
}

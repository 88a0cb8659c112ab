// Secrets that we give out and recognise later: sign-ins, links, host keys. A token is 32 random
// bytes as text. Only its hash is kept, an HMAC with the installation's secret, so that who reads
// the database can use none of them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_SECRET_BYTES 32
#define TOKEN_HASH_BYTES   32
#define TOKEN_TEXT_BYTES   44 // 43 letters and a terminator

// Letters of [A-Za-z0-9_-].
void token_make(char out[TOKEN_TEXT_BYTES]);
// Of any text. The purpose keeps one kind of token from being taken for another.
void token_hash(const uint8_t secret[TOKEN_SECRET_BYTES], const char *purpose, const char *text,
                uint8_t out[TOKEN_HASH_BYTES]);
bool token_hash_equal(const uint8_t a[TOKEN_HASH_BYTES], const uint8_t b[TOKEN_HASH_BYTES]);

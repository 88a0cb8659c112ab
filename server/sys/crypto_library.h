// OpenSSL's libcrypto, opened when it is first needed (library.h), once for the process: only a
// server with an issuer of identities needs it. Calls are written crypto_lib.EVP_sha256(), after
// crypto_library_open said that it is there.
#pragma once

#include "server/sys/library.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdbool.h>

#define CRYPTO_FUNCTIONS(X)             \
    X(BN_bin2bn)                        \
    X(BN_free)                          \
    X(ECDSA_SIG_free)                   \
    X(ECDSA_SIG_new)                    \
    X(ECDSA_SIG_set0)                   \
    X(EVP_DigestVerify)                 \
    X(EVP_DigestVerifyInit)             \
    X(EVP_MD_CTX_free)                  \
    X(EVP_MD_CTX_new)                   \
    X(EVP_PKEY_CTX_free)                \
    X(EVP_PKEY_CTX_new_from_name)       \
    X(EVP_PKEY_free)                    \
    X(EVP_PKEY_fromdata)                \
    X(EVP_PKEY_fromdata_init)           \
    X(EVP_PKEY_get_bits)                \
    X(EVP_PKEY_new_raw_public_key)      \
    X(EVP_sha256)                       \
    X(OSSL_PARAM_BLD_free)              \
    X(OSSL_PARAM_BLD_new)               \
    X(OSSL_PARAM_BLD_push_BN)           \
    X(OSSL_PARAM_BLD_push_octet_string) \
    X(OSSL_PARAM_BLD_push_utf8_string)  \
    X(OSSL_PARAM_BLD_to_param)          \
    X(OSSL_PARAM_free)                  \
    X(i2d_ECDSA_SIG)

typedef struct CryptoLibrary {
    CRYPTO_FUNCTIONS(LIBRARY_FIELD)
} CryptoLibrary;
extern CryptoLibrary crypto_lib;

// False: it is not on this machine. From any thread.
bool crypto_library_open(void);

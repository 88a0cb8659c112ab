// Tokens and sets of keys of an issuer. The first line is a set of keys, the second a token, the
// third a profile. Nobody who has no private key signs anything: whatever the token says, it is not
// accepted with a key that is fixed here; and reading never fails in any other way.
#include "core/base/check.h"
#include "server/control/issuer/issuer_flow.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Of RFC 8037 (its private half is in there, and nobody who searches finds a signature by chance).
static const char fixed[] = "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"d\",\"x\":"
                            "\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static JwtKeys *known;
    static const char *const parties[] = {"c", NULL};
    static const JwtRole roles[] = {{"makers", 1}};
    const JwtRules rules = {.issuer = "https://i",
                            .audience = "c",
                            .parties = parties,
                            .role_claim = "a.b",
                            .roles = roles,
                            .role_count = 1,
                            .now_s = 1800000000};
    const uint8_t secret[TOKEN_SECRET_BYTES] = {7};
    JwtKeys *keys = NULL;
    JwtClaims claims;
    IssuerFlow flow;
    const char *text = (const char *)data;
    if (known == NULL && jwt_keys_read(fixed, sizeof fixed - 1, &known) != STATUS_OK) {
        return 0; // without libcrypto
    }
    const char *end = size > 0 ? memchr(text, '\n', size) : NULL;
    const size_t first = end != NULL ? (size_t)(end - text) : size;
    const char *token = end != NULL ? end + 1 : text + size;
    const size_t rest = size - (size_t)(token - text);
    const char *second = rest > 0 ? memchr(token, '\n', rest) : NULL;
    const size_t bytes = second != NULL ? (size_t)(second - token) : rest;
    ASSERT(jwt_verify(known, token, bytes, &rules, &claims) != JWT_FINE);
    if (jwt_keys_read(text, first, &keys) == STATUS_OK) {
        ASSERT(jwt_keys_count(keys) > 0 && jwt_keys_count(keys) <= JWT_KEYS_MAX);
        (void)jwt_verify(keys, token, bytes, &rules, &claims);
        jwt_keys_free(keys);
    }
    if (second != NULL && jwt_read_profile(second + 1, size - (size_t)(second + 1 - text), &rules,
                                           &claims) == STATUS_OK) {
        ASSERT(claims.subject[0] != '\0' && strlen(claims.subject) < sizeof claims.subject);
    }
    char cookie[FLOW_COOKIE_BYTES];
    if (size < sizeof cookie && memchr(text, '\0', size) == NULL) {
        memcpy(cookie, text, size);
        cookie[size] = '\0';
        ASSERT(!issuer_flow_read(secret, cookie, 0, &flow));
    }
    return 0;
}

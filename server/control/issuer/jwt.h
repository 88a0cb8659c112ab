// Signed tokens of an issuer of identities (JSON Web Tokens, RFC 7519) and the issuer's public keys
// (JSON Web Key Sets, RFC 7517). Both may be written by anybody: sizes are bounded, the JSON reader
// is total, and what is not exactly right is refused.
//
// The key decides the algorithm, never the token: RSA keys are for RS256, P-256 for ES256, Ed25519
// for EdDSA, and there is nothing else. A token names its key (`kid`); keys that it brings along
// (`jwk`, `jku`, `x5c`) are not looked at, and one that asks for an extension (`crit`) is refused.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JWT_BYTES_MAX      8192
#define JWT_KEYS_BYTES_MAX (64u << 10) // of a set of keys
#define JWT_KEYS_MAX       32
#define JWT_KID_BYTES      129
#define JWT_SUBJECT_BYTES  256
#define JWT_NAME_BYTES     65
#define JWT_SESSION_BYTES  129
#define JWT_SLACK_S        30 // by which clocks may differ

typedef struct JwtKeys JwtKeys;

// Keys that cannot be used here (another type, too small, for encryption, without a `kid`) are left
// out. STATUS_MALFORMED: it is no set of keys; STATUS_NOT_FOUND: no key of it can be used, or
// libcrypto is missing; STATUS_LIMIT: no memory.
MUST_USE Status jwt_keys_read(const char *text, size_t bytes, JwtKeys **out);
void jwt_keys_free(JwtKeys *keys); // NULL is fine
uint32_t jwt_keys_count(const JwtKeys *keys);

// Which roles a claim gives.
#define JWT_ROLES_MAX 16
typedef struct JwtRole {
    const char *value; // in the claim
    uint32_t role;     // a bit
} JwtRole;

typedef struct JwtRules {
    const char *issuer;         // `iss` is exactly this
    const char *audience;       // `aud` has it; NULL: it is not looked at
    const char *const *parties; // `azp`, if there is one, is on this list; ends with NULL
    const char *nonce;          // `nonce` is this; NULL: it is not looked at
    const char *role_claim;     // "realm_access.roles"; NULL or "": no claim gives roles
    const JwtRole *roles;
    uint32_t role_count;
    uint64_t now_s;
} JwtRules;

typedef struct JwtClaims {
    char subject[JWT_SUBJECT_BYTES];
    char session[JWT_SESSION_BYTES]; // `sid`; "": none
    char name[JWT_NAME_BYTES];       // how they are called there, as text; "": it does not say
    uint32_t roles;
    bool has_roles; // the claim is there, whatever is in it
    uint64_t expires_s;
} JwtClaims;

#define JWT_FAULTS(X)                                                                    \
    X(FINE, "it is good")                                                                \
    X(MALFORMED, "it is no signed token")                                                \
    X(CRITICAL, "it asks for an extension")                                              \
    X(NO_KEY_NAME, "it names no key")                                                    \
    X(UNKNOWN_KEY, "the issuer has no such key")                                         \
    X(ALGORITHM, "its algorithm is not its key's")                                       \
    X(SIGNATURE, "its signature is wrong")                                               \
    X(ISSUER, "another issuer made it")                                                  \
    X(AUDIENCE, "it is for another client")                                              \
    X(PARTY, "another site asked for it")                                                \
    X(EXPIRED, "it has expired")                                                         \
    X(EARLY, "it is not good yet; compare the clocks of this machine and of the issuer") \
    X(NONCE, "it is the answer to another sign-in")                                      \
    X(SUBJECT, "it does not say who it is about")                                        \
    X(SESSION, "its session has ended")
typedef enum JwtFault {
#define JWT_FAULT_NAME(NAME, text) JWT_##NAME,
    JWT_FAULTS(JWT_FAULT_NAME)
#undef JWT_FAULT_NAME
} JwtFault;
const char *jwt_fault_text(JwtFault fault);

// Does the text look like a token of an issuer? None of our own does.
bool jwt_is_shaped(const char *token, size_t bytes);
// JWT_UNKNOWN_KEY may become something else once the issuer's keys were fetched again.
JwtFault jwt_verify(const JwtKeys *keys, const char *token, size_t bytes, const JwtRules *rules,
                    JwtClaims *out);
// Claims that are not signed, from the issuer itself (its `userinfo`): who they are about, name and
// roles. STATUS_MALFORMED: it is no JSON object with a subject.
MUST_USE Status jwt_read_profile(const char *text, size_t bytes, const JwtRules *rules,
                                 JwtClaims *out);

// An issuer of identities: any that speaks OpenID Connect, and Clerk, whose session tokens are
// taken as they are. What an issuer says about itself (its discovery document) and its keys are
// fetched when they are first needed, kept for an hour, and fetched again when a token names a key
// that is not among them, a few times a minute at most. If the issuer cannot be reached, what was
// fetched before still counts.
//
// Functions that say so ask the network: at most ISSUER_TIMEOUT_MS for each request, on threads of
// the pool.
#pragma once

#include "server/control/issuer/jwt.h"

#define ISSUER_URL_BYTES    1024
#define ISSUER_TIMEOUT_MS   8000
#define ISSUER_WORDS_BYTES  256
#define ISSUER_PARTIES_MAX  20
#define ISSUER_STATE_BYTES  44 // base64url of 32 bytes, and a terminator
#define ISSUER_CODE_BYTES   2048
#define ISSUER_SECRET_BYTES 512

// What it points at stays as long as the issuer.
typedef struct IssuerConfig {
    const char *issuer;        // exactly as in its tokens; NULL or "": there is none
    const char *name;          // for people; "": its host's name
    const char *client_id;     // OpenID Connect
    const char *client_secret; // "": a client without one
    const char *scopes;        // "openid profile"
    const char *role_claim;    // "": roles are given here
    JwtRole roles[JWT_ROLES_MAX];
    uint32_t role_count;
    bool makes_accounts; // for somebody who was never here
    // Clerk: the key for its API, where sessions are asked about, and who may ask for tokens.
    const char *secret_key, *api;
    const char *parties[ISSUER_PARTIES_MAX + 1]; // ends with NULL
} IssuerConfig;

typedef struct Issuer Issuer;

typedef enum IssuerResult {
    ISSUER_OK,
    ISSUER_UNREACHED, // no answer, or one that says that it cannot
    ISSUER_INVALID,   // an answer that makes no sense: the settings are wrong, or the issuer is
    ISSUER_REFUSED,   // the issuer refused the code, or the token is not good
} IssuerResult;

// NULL: no memory.
Issuer *issuer_create(const IssuerConfig *config);
void issuer_destroy(Issuer *issuer); // NULL is fine
const IssuerConfig *issuer_config(const Issuer *issuer);
const char *issuer_name(const Issuer *issuer); // for people

typedef struct IssuerSignIn {
    const char *redirect_uri;
    const char *state, *nonce, *challenge;
} IssuerSignIn;
// Where a browser goes to sign in. Asks the network if the issuer is not known yet; `words` says
// what went wrong.
IssuerResult issuer_begin(Issuer *issuer, const IssuerSignIn *sign_in, uint64_t now_ms,
                          char out[ISSUER_URL_BYTES], char words[ISSUER_WORDS_BYTES]);
// Where a browser goes to sign out there; "": the issuer has no such page.
IssuerResult issuer_end(Issuer *issuer, const char *back, uint64_t now_ms,
                        char out[ISSUER_URL_BYTES], char words[ISSUER_WORDS_BYTES]);
typedef struct IssuerCode {
    const char *code, *verifier, *nonce, *redirect_uri;
} IssuerCode;
// Gives the code for who it is. Asks the network.
IssuerResult issuer_finish(Issuer *issuer, const IssuerCode *code, uint64_t now_ms, JwtClaims *out,
                           char words[ISSUER_WORDS_BYTES]);
// Who shows this token of the issuer (Clerk). Asks the network for keys it does not know, and for
// whether the session still is.
IssuerResult issuer_check(Issuer *issuer, const char *token, uint64_t now_ms, JwtClaims *out,
                          char words[ISSUER_WORDS_BYTES]);

// A sign-in at an issuer, between the page that begins it and the one to which the issuer sends the
// browser back. All of it is in one cookie of that browser, with a MAC, so nothing is kept here and
// any control plane of the installation can go on. The cookie has a random number; the state and
// the nonce that the issuer sees and the verifier of PKCE are HMACs of it, so whoever reads the
// cookie, or the address, knows none of the others.
#pragma once

#include "server/control/issuer/issuer.h"
#include "server/control/token.h"

#define FLOW_SECONDS      600
#define FLOW_NEXT_BYTES   257
#define FLOW_COOKIE_BYTES 640

typedef struct IssuerFlow {
    char random[TOKEN_TEXT_BYTES];
    uint64_t expires_s;
    uint64_t link_account;      // the account that is to be linked; 0: it is a sign-in
    char next[FLOW_NEXT_BYTES]; // where to go afterwards; "": nowhere
} IssuerFlow;

typedef struct IssuerFlowTexts {
    char state[ISSUER_STATE_BYTES], nonce[ISSUER_STATE_BYTES], verifier[ISSUER_STATE_BYTES];
    char challenge[ISSUER_STATE_BYTES];
} IssuerFlowTexts;

// next is a path of this server (account_next); a long one is left out.
void issuer_flow_begin(const char *next, uint64_t link_account, uint64_t now_s, IssuerFlow *out);
void issuer_flow_texts(const uint8_t secret[TOKEN_SECRET_BYTES], const IssuerFlow *flow,
                       IssuerFlowTexts *out);
void issuer_flow_write(const uint8_t secret[TOKEN_SECRET_BYTES], const IssuerFlow *flow,
                       char out[FLOW_COOKIE_BYTES]);
// False: it is none of ours, or too old.
bool issuer_flow_read(const uint8_t secret[TOKEN_SECRET_BYTES], const char *cookie, uint64_t now_s,
                      IssuerFlow *out);

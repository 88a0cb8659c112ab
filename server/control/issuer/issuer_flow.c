// See issuer_flow.h. The cookie: random "." expires "." account "." next "." MAC, where next is
// base64url and the MAC is hex.
#define _GNU_SOURCE
#include "server/control/issuer/issuer_flow.h"

#include "core/base/sha256.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEXT_TEXT_BYTES 344 // base64 of FLOW_NEXT_BYTES, and a terminator

void issuer_flow_begin(const char *next, uint64_t link_account, uint64_t now_s, IssuerFlow *out)
{
    *out = (IssuerFlow){.expires_s = now_s + FLOW_SECONDS, .link_account = link_account};
    token_make(out->random);
    if (strlen(next) < sizeof out->next) {
        snprintf(out->next, sizeof out->next, "%s", next);
    }
}

static void as_text(const uint8_t hash[TOKEN_HASH_BYTES], char out[ISSUER_STATE_BYTES])
{
    (void)sodium_bin2base64(out, ISSUER_STATE_BYTES, hash, TOKEN_HASH_BYTES,
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

static void derive(const uint8_t secret[TOKEN_SECRET_BYTES], const char *purpose,
                   const IssuerFlow *flow, char out[ISSUER_STATE_BYTES])
{
    uint8_t hash[TOKEN_HASH_BYTES];
    token_hash(secret, purpose, flow->random, hash);
    as_text(hash, out);
}

void issuer_flow_texts(const uint8_t secret[TOKEN_SECRET_BYTES], const IssuerFlow *flow,
                       IssuerFlowTexts *out)
{
    uint8_t digest[SHA256_BYTES];
    derive(secret, "issuer state", flow, out->state);
    derive(secret, "issuer nonce", flow, out->nonce);
    derive(secret, "issuer verifier", flow, out->verifier);
    sha256_of(out->verifier, strlen(out->verifier), digest);
    as_text(digest, out->challenge);
}

static void make_mac(const uint8_t secret[TOKEN_SECRET_BYTES], const char *text,
                     char out[2 * TOKEN_HASH_BYTES + 1])
{
    uint8_t hash[TOKEN_HASH_BYTES];
    token_hash(secret, "issuer cookie", text, hash);
    (void)sodium_bin2hex(out, 2 * TOKEN_HASH_BYTES + 1, hash, sizeof hash);
}

void issuer_flow_write(const uint8_t secret[TOKEN_SECRET_BYTES], const IssuerFlow *flow,
                       char out[FLOW_COOKIE_BYTES])
{
    char next[NEXT_TEXT_BYTES], text[FLOW_COOKIE_BYTES - 2 * TOKEN_HASH_BYTES - 2];
    char mac[2 * TOKEN_HASH_BYTES + 1];
    (void)sodium_bin2base64(next, sizeof next, (const uint8_t *)flow->next, strlen(flow->next),
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    snprintf(text, sizeof text, "%s.%" PRIu64 ".%" PRIx64 ".%s", flow->random, flow->expires_s,
             flow->link_account, next);
    make_mac(secret, text, mac);
    snprintf(out, FLOW_COOKIE_BYTES, "%s.%s", text, mac);
}

bool issuer_flow_read(const uint8_t secret[TOKEN_SECRET_BYTES], const char *cookie, uint64_t now_s,
                      IssuerFlow *out)
{
    char text[FLOW_COOKIE_BYTES], mac[2 * TOKEN_HASH_BYTES + 1];
    char *end = NULL, *rest = text;
    size_t bytes = 0;
    if (strlen(cookie) >= sizeof text) {
        return false;
    }
    snprintf(text, sizeof text, "%s", cookie);
    end = strrchr(text, '.');
    if (end == NULL || strlen(end + 1) != sizeof mac - 1) {
        return false;
    }
    *end = '\0';
    make_mac(secret, text, mac);
    if (sodium_memcmp(mac, end + 1, sizeof mac - 1) != 0) {
        return false;
    }
    // From here on it is what we wrote.
    IssuerFlow flow = {0};
    const char *random = strsep(&rest, "."), *expires = strsep(&rest, ".");
    const char *account = strsep(&rest, ".");
    if (rest == NULL || strlen(random) != TOKEN_TEXT_BYTES - 1 ||
        sodium_base642bin((uint8_t *)flow.next, sizeof flow.next - 1, rest, strlen(rest), NULL,
                          &bytes, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0) {
        return false;
    }
    memcpy(flow.random, random, sizeof flow.random);
    flow.expires_s = strtoull(expires, NULL, 10);
    flow.link_account = strtoull(account, NULL, 16);
    if (flow.expires_s < now_s) {
        return false;
    }
    *out = flow;
    return true;
}

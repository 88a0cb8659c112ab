// Tokens of an issuer: those that are right are accepted, with keys of every kind that are made
// here; and a table of forgeries, each of which is refused for its own reason.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "server/control/issuer/issuer_flow.h"
#include "server/control/issuer/jwt.h"
#include "tests/support/test.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ISSUER "https://issuer.example/club"
#define CLIENT "sandlot"
#define NOW    1800000000ull
#define CLAIMS                                                                               \
    "\"iss\":\"" ISSUER "\",\"aud\":\"" CLIENT "\",\"sub\":\"u-1\",\"exp\":1800000300,"      \
    "\"iat\":1800000000,\"nonce\":\"n-1\",\"preferred_username\":\"ada\",\"groups\":[\"x\"," \
    "\"makers\"]"

typedef struct Keys {
    EVP_PKEY *rsa, *p256, *ed25519, *other; // other: signs, but nobody knows it
    char set[8192];
    JwtKeys *known;
} Keys;
static Keys keys;

static void encode(const void *bytes, size_t count, char *out, size_t capacity)
{
    ASSERT(sodium_bin2base64(out, capacity, bytes, count,
                             sodium_base64_VARIANT_URLSAFE_NO_PADDING) != NULL);
}

static void number_text(EVP_PKEY *key, const char *name, char *out, size_t capacity)
{
    BIGNUM *number = NULL;
    uint8_t bytes[1024];
    ASSERT(EVP_PKEY_get_bn_param(key, name, &number) == 1);
    const int count =
        strcmp(name, OSSL_PKEY_PARAM_RSA_N) == 0 || strcmp(name, OSSL_PKEY_PARAM_RSA_E) == 0
            ? BN_bn2bin(number, bytes)
            : BN_bn2binpad(number, bytes, 32);
    encode(bytes, (size_t)count, out, capacity);
    BN_free(number);
}

static void make_keys(void)
{
    char n[1024], e[16], x[64], y[64], d[64];
    uint8_t raw[32];
    size_t bytes = sizeof raw;
    if (keys.known != NULL) {
        return;
    }
    ASSERT(sodium_init() >= 0);
    keys.rsa = EVP_RSA_gen(2048);
    keys.p256 = EVP_EC_gen("P-256");
    keys.other = EVP_EC_gen("P-256");
    keys.ed25519 = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    number_text(keys.rsa, OSSL_PKEY_PARAM_RSA_N, n, sizeof n);
    number_text(keys.rsa, OSSL_PKEY_PARAM_RSA_E, e, sizeof e);
    number_text(keys.p256, OSSL_PKEY_PARAM_EC_PUB_X, x, sizeof x);
    number_text(keys.p256, OSSL_PKEY_PARAM_EC_PUB_Y, y, sizeof y);
    ASSERT(EVP_PKEY_get_raw_public_key(keys.ed25519, raw, &bytes) == 1);
    encode(raw, bytes, d, sizeof d);
    snprintf(
        keys.set, sizeof keys.set,
        "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"r\",\"use\":\"sig\",\"alg\":\"RS256\","
        "\"n\":\"%s\",\"e\":\"%s\"},"
        "{\"kty\":\"EC\",\"kid\":\"e\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"},"
        "{\"kty\":\"OKP\",\"kid\":\"d\",\"crv\":\"Ed25519\",\"x\":\"%s\"},"
        "{\"kty\":\"RSA\",\"kid\":\"for-encryption\",\"use\":\"enc\",\"n\":\"%s\",\"e\":\"%s\"},"
        "{\"kty\":\"oct\",\"kid\":\"o\",\"k\":\"AAAA\"}]}",
        n, e, x, y, d, n, e);
    CHECK_OK(jwt_keys_read(keys.set, strlen(keys.set), &keys.known));
}

static JwtRules rules(void)
{
    static const char *const parties[] = {CLIENT, NULL};
    static const JwtRole roles[] = {{"makers", 1}, {"chiefs", 4}};
    return (JwtRules){.issuer = ISSUER,
                      .audience = CLIENT,
                      .parties = parties,
                      .nonce = "n-1",
                      .role_claim = "groups",
                      .roles = roles,
                      .role_count = 2,
                      .now_s = NOW};
}

// The text that is signed.
static void begin_token(const char *header, const char *claims, char *out, size_t capacity)
{
    encode(header, strlen(header), out, capacity);
    const size_t at = strlen(out);
    out[at] = '.';
    encode(claims, strlen(claims), out + at + 1, capacity - at - 1);
}

static void add_signature(char *token, size_t capacity, const uint8_t *signature, size_t bytes)
{
    const size_t at = strlen(token);
    token[at] = '.';
    encode(signature, bytes, token + at + 1, capacity - at - 1);
}

static size_t sign_bytes(EVP_PKEY *key, const char *text, uint8_t out[1024])
{
    size_t bytes = 1024;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const EVP_MD *digest = EVP_PKEY_is_a(key, "ED25519") ? NULL : EVP_sha256();
    ASSERT(EVP_DigestSignInit(context, NULL, digest, NULL, key) == 1);
    ASSERT(EVP_DigestSign(context, out, &bytes, (const uint8_t *)text, strlen(text)) == 1);
    EVP_MD_CTX_free(context);
    return bytes;
}

// DER to the two numbers that a token has.
static size_t as_numbers(uint8_t signature[1024], size_t bytes)
{
    const uint8_t *from = signature;
    ECDSA_SIG *both = d2i_ECDSA_SIG(NULL, &from, (long)bytes);
    uint8_t numbers[64];
    BN_bn2binpad(ECDSA_SIG_get0_r(both), numbers, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(both), numbers + 32, 32);
    ECDSA_SIG_free(both);
    memcpy(signature, numbers, sizeof numbers);
    return sizeof numbers;
}

static char token_text[16384];

static const char *make_token(EVP_PKEY *key, const char *header, const char *claims)
{
    uint8_t signature[1024];
    begin_token(header, claims, token_text, sizeof token_text);
    size_t bytes = sign_bytes(key, token_text, signature);
    bytes = EVP_PKEY_is_a(key, "EC") ? as_numbers(signature, bytes) : bytes;
    add_signature(token_text, sizeof token_text, signature, bytes);
    return token_text;
}

static JwtFault verify(const char *token)
{
    const JwtRules asked = rules();
    JwtClaims claims;
    return jwt_verify(keys.known, token, strlen(token), &asked, &claims);
}

TEST(keys_of_every_kind_are_read)
{
    make_keys();
    REQUIRE(keys.known != NULL);
    CHECK_INT(jwt_keys_count(keys.known), 3); // neither the one for encryption nor the secret one
}

TEST(a_token_that_is_right_is_accepted)
{
    make_keys();
    const JwtRules asked = rules();
    const struct {
        EVP_PKEY *key;
        const char *header;
    } rows[] = {{keys.rsa, "{\"alg\":\"RS256\",\"kid\":\"r\",\"typ\":\"JWT\"}"},
                {keys.p256, "{\"alg\":\"ES256\",\"kid\":\"e\"}"},
                {keys.ed25519, "{\"alg\":\"EdDSA\",\"kid\":\"d\"}"},
                // What it brings along is not looked at.
                {keys.p256, "{\"alg\":\"ES256\",\"kid\":\"e\",\"jku\":\"https://evil.example\"}"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        JwtClaims claims;
        const char *token = make_token(rows[i].key, rows[i].header, "{" CLAIMS "}");
        CHECK_INT(jwt_verify(keys.known, token, strlen(token), &asked, &claims), JWT_FINE);
        CHECK_TEXT(claims.subject, "u-1");
        CHECK_TEXT(claims.name, "ada");
        CHECK_INT(claims.roles, 1);
        CHECK_INT(claims.expires_s, NOW + 300);
        CHECK(jwt_is_shaped(token, strlen(token)));
    }
    CHECK(!jwt_is_shaped("abc", 3));
    CHECK(!jwt_is_shaped("eyJh.x", 6));
}

// --- forgeries ----------------------------------------------------------------------------------

#define E_HEADER "{\"alg\":\"ES256\",\"kid\":\"e\"}"

TEST(forged_headers_and_claims_are_refused)
{
    make_keys();
    const struct {
        const char *what;
        const char *header, *claims;
        JwtFault fault;
    } rows[] = {
        {"no algorithm", "{\"alg\":\"none\",\"kid\":\"e\"}", "{" CLAIMS "}", JWT_ALGORITHM},
        {"another algorithm than the key's", "{\"alg\":\"ES384\",\"kid\":\"e\"}", "{" CLAIMS "}",
         JWT_ALGORITHM},
        {"another key's algorithm", "{\"alg\":\"ES256\",\"kid\":\"r\"}", "{" CLAIMS "}",
         JWT_ALGORITHM},
        {"an algorithm that is no text", "{\"alg\":[\"ES256\"],\"kid\":\"e\"}", "{" CLAIMS "}",
         JWT_ALGORITHM},
        {"a key that is not there", "{\"alg\":\"ES256\",\"kid\":\"x\"}", "{" CLAIMS "}",
         JWT_UNKNOWN_KEY},
        {"a key for encryption", "{\"alg\":\"RS256\",\"kid\":\"for-encryption\"}", "{" CLAIMS "}",
         JWT_UNKNOWN_KEY},
        {"no key", "{\"alg\":\"ES256\"}", "{" CLAIMS "}", JWT_NO_KEY_NAME},
        {"a key that is no text", "{\"alg\":\"ES256\",\"kid\":1}", "{" CLAIMS "}", JWT_NO_KEY_NAME},
        {"an extension", "{\"alg\":\"ES256\",\"kid\":\"e\",\"crit\":[\"b64\"]}", "{" CLAIMS "}",
         JWT_CRITICAL},
        {"a payload that is not encoded", "{\"alg\":\"ES256\",\"kid\":\"e\",\"b64\":false}",
         "{" CLAIMS "}", JWT_CRITICAL},
        {"something else than a token", "{\"alg\":\"ES256\",\"kid\":\"e\",\"typ\":\"logout+jwt\"}",
         "{" CLAIMS "}", JWT_MALFORMED},
        {"two algorithms", "{\"alg\":\"none\",\"alg\":\"ES256\",\"kid\":\"e\"}", "{" CLAIMS "}",
         JWT_MALFORMED},
        {"two subjects", E_HEADER, "{" CLAIMS ",\"sub\":\"admin\"}", JWT_MALFORMED},
        {"another issuer", E_HEADER,
         "{\"iss\":\"https://issuer.example/club/\",\"aud\":\"sandlot\",\"sub\":\"u\","
         "\"exp\":1800000300,\"iat\":1800000000,\"nonce\":\"n-1\"}",
         JWT_ISSUER},
        {"another audience", E_HEADER,
         "{\"iss\":\"" ISSUER "\",\"aud\":\"mail\",\"sub\":\"u\",\"exp\":1800000300,"
         "\"iat\":1800000000,\"nonce\":\"n-1\"}",
         JWT_AUDIENCE},
        {"no audience", E_HEADER,
         "{\"iss\":\"" ISSUER "\",\"sub\":\"u\",\"exp\":1800000300,\"iat\":1800000000,"
         "\"nonce\":\"n-1\"}",
         JWT_AUDIENCE},
        {"several audiences, and nobody asked", E_HEADER,
         "{\"iss\":\"" ISSUER "\",\"aud\":[\"mail\",\"sandlot\"],\"sub\":\"u\","
         "\"exp\":1800000300,\"iat\":1800000000,\"nonce\":\"n-1\"}",
         JWT_AUDIENCE},
        {"another client asked", E_HEADER, "{" CLAIMS ",\"azp\":\"mail\"}", JWT_PARTY},
        {"it has expired", E_HEADER,
         "{\"iss\":\"" ISSUER "\",\"aud\":\"sandlot\",\"sub\":\"u\",\"exp\":1799999970,"
         "\"iat\":1799999000,\"nonce\":\"n-1\"}",
         JWT_EXPIRED},
        {"it never expires", E_HEADER,
         "{\"iss\":\"" ISSUER "\",\"aud\":\"sandlot\",\"sub\":\"u\",\"iat\":1800000000,"
         "\"nonce\":\"n-1\"}",
         JWT_MALFORMED},
        {"it expires at a text", E_HEADER,
         "{\"iss\":\"" ISSUER "\",\"aud\":\"sandlot\",\"sub\":\"u\",\"exp\":\"1800000300\","
         "\"iat\":1800000000,\"nonce\":\"n-1\"}",
         JWT_MALFORMED},
        {"it begins later", E_HEADER, "{" CLAIMS ",\"nbf\":1800000031}", JWT_EARLY},
        {"it was made later", E_HEADER,
         "{\"iss\":\"" ISSUER "\",\"aud\":\"sandlot\",\"sub\":\"u\",\"exp\":1800000300,"
         "\"iat\":1800000031,\"nonce\":\"n-1\"}",
         JWT_EARLY},
        {"the answer to another sign-in", E_HEADER,
         "{\"iss\":\"" ISSUER "\",\"aud\":\"sandlot\",\"sub\":\"u\",\"exp\":1800000300,"
         "\"iat\":1800000000,\"nonce\":\"n-2\"}",
         JWT_NONCE},
        {"no nonce", E_HEADER,
         "{\"iss\":\"" ISSUER "\",\"aud\":\"sandlot\",\"sub\":\"u\",\"exp\":1800000300,"
         "\"iat\":1800000000}",
         JWT_NONCE},
        {"nobody", E_HEADER,
         "{\"iss\":\"" ISSUER "\",\"aud\":\"sandlot\",\"sub\":\"\",\"exp\":1800000300,"
         "\"iat\":1800000000,\"nonce\":\"n-1\"}",
         JWT_SUBJECT},
        {"a subject with a zero byte", E_HEADER,
         "{\"iss\":\"" ISSUER "\",\"aud\":\"sandlot\",\"sub\":\"u\\u0000x\",\"exp\":1800000300,"
         "\"iat\":1800000000,\"nonce\":\"n-1\"}",
         JWT_SUBJECT},
        {"a session that is not active", E_HEADER, "{" CLAIMS ",\"sts\":\"pending\"}", JWT_SESSION},
        {"no object", E_HEADER, "[1]", JWT_MALFORMED}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const JwtFault fault = verify(make_token(keys.p256, rows[i].header, rows[i].claims));
        if (fault != rows[i].fault) {
            test_fail(__FILE__, __LINE__, "%s: %s", rows[i].what, jwt_fault_text(fault));
        }
    }
    // Up to half a minute clocks may differ.
    CHECK_INT(verify(make_token(keys.p256, E_HEADER,
                                "{\"iss\":\"" ISSUER
                                "\",\"aud\":[\"sandlot\"],\"sub\":\"u\",\"exp\":1799999971,"
                                "\"iat\":1800000030,\"nbf\":1800000030,\"nonce\":\"n-1\"}")),
              JWT_FINE);
}

// The public key as the key of an HMAC: libraries that let the token decide accept it.
TEST(a_public_key_is_no_secret)
{
    make_keys();
    char *pem = NULL;
    uint8_t mac[32];
    unsigned bytes = sizeof mac;
    BIO *out = BIO_new(BIO_s_mem());
    PEM_write_bio_PUBKEY(out, keys.rsa);
    const long length = BIO_get_mem_data(out, &pem);
    const char *const headers[] = {"{\"alg\":\"HS256\",\"kid\":\"r\"}",
                                   "{\"alg\":\"RS256\",\"kid\":\"r\"}"};
    const JwtFault faults[] = {JWT_ALGORITHM, JWT_SIGNATURE};
    for (size_t i = 0; i < 2; i++) {
        begin_token(headers[i], "{" CLAIMS "}", token_text, sizeof token_text);
        HMAC(EVP_sha256(), pem, (int)length, (const uint8_t *)token_text, strlen(token_text), mac,
             &bytes);
        add_signature(token_text, sizeof token_text, mac, bytes);
        CHECK_INT(verify(token_text), faults[i]);
    }
    BIO_free(out);
}

TEST(wrong_signatures_are_refused)
{
    make_keys();
    uint8_t signature[1024];
    // Another's key, with our key's name; also with that key in the header.
    CHECK_INT(verify(make_token(keys.other, E_HEADER, "{" CLAIMS "}")), JWT_SIGNATURE);
    char x[64], y[64], header[512];
    number_text(keys.other, OSSL_PKEY_PARAM_EC_PUB_X, x, sizeof x);
    number_text(keys.other, OSSL_PKEY_PARAM_EC_PUB_Y, y, sizeof y);
    snprintf(header, sizeof header,
             "{\"alg\":\"ES256\",\"kid\":\"e\",\"jwk\":{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":"
             "\"%s\",\"y\":\"%s\"}}",
             x, y);
    CHECK_INT(verify(make_token(keys.other, header, "{" CLAIMS "}")), JWT_SIGNATURE);
    // A signature of ES256 as DER.
    begin_token(E_HEADER, "{" CLAIMS "}", token_text, sizeof token_text);
    const size_t bytes = sign_bytes(keys.p256, token_text, signature);
    add_signature(token_text, sizeof token_text, signature, bytes);
    CHECK_INT(verify(token_text), JWT_SIGNATURE);
    // Zeros are a signature of everything where nobody looks (CVE-2022-21449).
    memset(signature, 0, 64);
    begin_token(E_HEADER, "{" CLAIMS "}", token_text, sizeof token_text);
    add_signature(token_text, sizeof token_text, signature, 64);
    CHECK_INT(verify(token_text), JWT_SIGNATURE);
}

TEST(a_token_that_was_changed_is_refused)
{
    make_keys();
    static char copy[sizeof token_text];
    EVP_PKEY *const signers[] = {keys.rsa, keys.p256, keys.ed25519};
    const char *const headers[] = {"{\"alg\":\"RS256\",\"kid\":\"r\"}", E_HEADER,
                                   "{\"alg\":\"EdDSA\",\"kid\":\"d\"}"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(copy, sizeof copy, "%s", make_token(signers[i], headers[i], "{" CLAIMS "}"));
        const size_t bytes = strlen(copy);
        CHECK_INT(verify(copy), JWT_FINE);
        const JwtRules asked = rules();
        JwtClaims claims;
        for (size_t cut = 0; cut < bytes; cut += 7) { // cut off anywhere
            CHECK(jwt_verify(keys.known, copy, cut, &asked, &claims) != JWT_FINE);
        }
        for (size_t at = 0; at < bytes; at += 5) { // any letter another one
            const char was = copy[at];
            copy[at] = was == 'A' ? 'B' : 'A';
            CHECK(verify(copy) != JWT_FINE);
            copy[at] = was;
        }
        // Something behind its end; padding; another part.
        snprintf(copy + bytes, sizeof copy - bytes, "A");
        CHECK(verify(copy) != JWT_FINE);
        snprintf(copy + bytes, sizeof copy - bytes, "=");
        CHECK(verify(copy) != JWT_FINE);
        snprintf(copy + bytes, sizeof copy - bytes, ".e30");
        CHECK(verify(copy) != JWT_FINE);
    }
    CHECK_INT(verify(".."), JWT_MALFORMED);
    CHECK_INT(verify(""), JWT_MALFORMED);
}

TEST(bad_sets_of_keys_are_refused)
{
    const struct {
        const char *text;
        Status status;
    } rows[] = {
        {"", STATUS_MALFORMED},
        {"{}", STATUS_MALFORMED},
        {"{\"keys\":{}}", STATUS_MALFORMED},
        {"{\"keys\":[],\"keys\":[]}", STATUS_MALFORMED},
        {"{\"keys\":[]}", STATUS_NOT_FOUND},
        {"{\"keys\":[1,null,{}]}", STATUS_NOT_FOUND},
        // Too small; no point of the curve; a curve of another kind; too short.
        {"{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"a\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
         STATUS_NOT_FOUND},
        {"{\"keys\":[{\"kty\":\"EC\",\"kid\":\"a\",\"crv\":\"P-256\","
         "\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\","
         "\"y\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\"}]}",
         STATUS_NOT_FOUND},
        {"{\"keys\":[{\"kty\":\"EC\",\"kid\":\"a\",\"crv\":\"secp256k1\",\"x\":\"AA\",\"y\":"
         "\"AA\"}]}",
         STATUS_NOT_FOUND},
        {"{\"keys\":[{\"kty\":\"OKP\",\"kid\":\"a\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}]}",
         STATUS_NOT_FOUND}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        JwtKeys *read = NULL;
        CHECK_INT(jwt_keys_read(rows[i].text, strlen(rows[i].text), &read), rows[i].status);
        CHECK(read == NULL);
    }
}

// --- roles and the cookie -----------------------------------------------------------------------

TEST(roles_come_from_the_claim_that_is_named)
{
    make_keys();
    const struct {
        const char *claim, *more;
        uint32_t roles;
        bool has_roles;
    } rows[] = {{"groups", "", 1, true},
                {"realm.roles", ",\"realm\":{\"roles\":[\"chiefs\"]}", 4, true},
                {"https://x.example/roles", ",\"https://x.example/roles\":\"chiefs\"", 4, true},
                {"roles", ",\"roles\":[\"operator\",\"admin\"]", 0, true}, // not by its own name
                {"roles", "", 0, false},
                {"roles", ",\"roles\":{\"chiefs\":true}", 0, true},
                {"", "", 0, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char claims[1024];
        JwtClaims out;
        JwtRules asked = rules();
        asked.role_claim = rows[i].claim;
        snprintf(claims, sizeof claims, "{" CLAIMS "%s}", rows[i].more);
        const char *token = make_token(keys.ed25519, "{\"alg\":\"EdDSA\",\"kid\":\"d\"}", claims);
        CHECK_INT(jwt_verify(keys.known, token, strlen(token), &asked, &out), JWT_FINE);
        CHECK_INT(out.roles, rows[i].roles);
        CHECK_INT(out.has_roles, rows[i].has_roles);
    }
}

TEST(the_cookie_of_a_sign_in_is_ours_alone)
{
    const uint8_t secret[TOKEN_SECRET_BYTES] = {7}, other[TOKEN_SECRET_BYTES] = {8};
    char cookie[FLOW_COOKIE_BYTES];
    IssuerFlow flow, read;
    IssuerFlowTexts texts;
    ASSERT(sodium_init() >= 0);
    issuer_flow_begin("/play/K7QX2M?x=1", 31, NOW, &flow);
    issuer_flow_write(secret, &flow, cookie);
    issuer_flow_texts(secret, &flow, &texts);
    REQUIRE(issuer_flow_read(secret, cookie, NOW + FLOW_SECONDS, &read));
    CHECK_TEXT(read.next, "/play/K7QX2M?x=1");
    CHECK_TEXT(read.random, flow.random);
    CHECK_INT(read.link_account, 31);
    CHECK(!issuer_flow_read(secret, cookie, NOW + FLOW_SECONDS + 1, &read)); // too old
    CHECK(!issuer_flow_read(other, cookie, NOW, &read));
    CHECK(!issuer_flow_read(secret, "", NOW, &read));
    CHECK(strcmp(texts.state, texts.nonce) != 0 && strcmp(texts.state, texts.verifier) != 0);
    CHECK(strstr(cookie, texts.verifier) == NULL && strstr(cookie, texts.state) == NULL);
    for (size_t at = 0; cookie[at] != '\0'; at++) {
        const char was = cookie[at];
        cookie[at] = was == '1' ? '2' : '1';
        CHECK(!issuer_flow_read(secret, cookie, NOW, &read));
        cookie[at] = was;
    }
}

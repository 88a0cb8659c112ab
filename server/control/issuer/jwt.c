// See jwt.h. Nothing of a token is believed, or only parsed further, before its signature was
// checked: the header names the key, and that is all it is good for.
#include "server/control/issuer/jwt.h"

#include "core/base/arena.h"
#include "core/base/json_read.h"
#include "server/sys/crypto_library.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TOKEN_ARENA_BYTES (96u << 10)
#define TOKEN_NODES_MAX   512
#define KEYS_ARENA_BYTES  (256u << 10)
#define KEYS_NODES_MAX    2048
#define DEPTH_MAX         8
#define RSA_BITS_MIN      2048
#define RSA_BITS_MAX      8192
#define NUMBER_BYTES_MAX  (RSA_BITS_MAX / 8)
#define POINT_BYTES       32 // of a coordinate of P-256, and of an Ed25519 key

typedef enum KeyKind { KEY_RSA, KEY_P256, KEY_ED25519, KEY_KIND_COUNT } KeyKind;

static const char *const algorithms[KEY_KIND_COUNT] = {
    [KEY_RSA] = "RS256", [KEY_P256] = "ES256", [KEY_ED25519] = "EdDSA"};

typedef struct Key {
    char kid[JWT_KID_BYTES];
    KeyKind kind;
    EVP_PKEY *key;
} Key;

struct JwtKeys {
    Key keys[JWT_KEYS_MAX];
    uint32_t count;
};

const char *jwt_fault_text(JwtFault fault)
{
    static const char *const texts[] = {
#define JWT_FAULT_TEXT(NAME, text) [JWT_##NAME] = text,
        JWT_FAULTS(JWT_FAULT_TEXT)
#undef JWT_FAULT_TEXT
    };
    return texts[fault];
}

// --- JSON ---------------------------------------------------------------------------------------

// A text that is there and has no zero byte; else NULL.
static const char *member_text(const JsonNode *object, const char *name)
{
    const JsonNode *node = json_find(object, name);
    return node != NULL && node->kind == JSON_STRING && strlen(node->text) == node->count
               ? node->text
               : NULL;
}

static const JsonNode *parse_json(const char *text, size_t bytes, Arena *arena, uint32_t nodes_max)
{
    const JsonNode *root = NULL;
    const JsonConfig config = {
        .arena = arena, .bytes_max = bytes, .node_count_max = nodes_max, .depth_max = DEPTH_MAX};
    const Status status = json_parse(&config, text, bytes, &root, NULL);
    return status == STATUS_OK && root->kind == JSON_OBJECT ? root : NULL;
}

// Base64url without padding, and with no bits left over; false: it is none, or too long.
static bool decode(const char *text, size_t bytes, uint8_t *out, size_t capacity, size_t *count)
{
    const char *end = NULL;
    return sodium_base642bin(out, capacity, text, bytes, NULL, count, &end,
                             sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0 &&
           end == text + bytes;
}

// --- keys ---------------------------------------------------------------------------------------

static EVP_PKEY *key_from(const char *type, OSSL_PARAM_BLD *builder)
{
    EVP_PKEY *key = NULL;
    OSSL_PARAM *params = crypto_lib.OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *context = crypto_lib.EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (params == NULL || context == NULL || crypto_lib.EVP_PKEY_fromdata_init(context) != 1 ||
        crypto_lib.EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1) {
        key = NULL;
    }
    crypto_lib.EVP_PKEY_CTX_free(context);
    crypto_lib.OSSL_PARAM_free(params);
    return key;
}

static EVP_PKEY *read_rsa(const JsonNode *jwk)
{
    uint8_t n[NUMBER_BYTES_MAX], e[8];
    size_t n_bytes, e_bytes;
    const char *n_text = member_text(jwk, "n"), *e_text = member_text(jwk, "e");
    if (n_text == NULL || e_text == NULL ||
        !decode(n_text, strlen(n_text), n, sizeof n, &n_bytes) ||
        !decode(e_text, strlen(e_text), e, sizeof e, &e_bytes)) {
        return NULL;
    }
    BIGNUM *n_number = crypto_lib.BN_bin2bn(n, (int)n_bytes, NULL);
    BIGNUM *e_number = crypto_lib.BN_bin2bn(e, (int)e_bytes, NULL);
    OSSL_PARAM_BLD *builder = crypto_lib.OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (n_number != NULL && e_number != NULL && builder != NULL &&
        crypto_lib.OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n_number) == 1 &&
        crypto_lib.OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e_number) == 1) {
        key = key_from("RSA", builder);
    }
    const int bits = key != NULL ? crypto_lib.EVP_PKEY_get_bits(key) : 0;
    if (bits < RSA_BITS_MIN || bits > RSA_BITS_MAX) {
        crypto_lib.EVP_PKEY_free(key);
        key = NULL;
    }
    crypto_lib.OSSL_PARAM_BLD_free(builder);
    crypto_lib.BN_free(n_number);
    crypto_lib.BN_free(e_number);
    return key;
}

// False: it is not 32 bytes.
static bool read_point(const JsonNode *jwk, const char *name, uint8_t out[POINT_BYTES])
{
    size_t bytes;
    const char *text = member_text(jwk, name);
    return text != NULL && decode(text, strlen(text), out, POINT_BYTES, &bytes) &&
           bytes == POINT_BYTES;
}

static EVP_PKEY *read_p256(const JsonNode *jwk)
{
    uint8_t point[1 + 2 * POINT_BYTES] = {4}; // not compressed
    const char *curve = member_text(jwk, "crv");
    if (curve == NULL || strcmp(curve, "P-256") != 0 || !read_point(jwk, "x", point + 1) ||
        !read_point(jwk, "y", point + 1 + POINT_BYTES)) {
        return NULL;
    }
    EVP_PKEY *key = NULL;
    OSSL_PARAM_BLD *builder = crypto_lib.OSSL_PARAM_BLD_new();
    if (builder != NULL &&
        crypto_lib.OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME,
                                                   "prime256v1", 0) == 1 &&
        crypto_lib.OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point,
                                                    sizeof point) == 1) {
        key = key_from("EC", builder); // refuses what is no point of the curve
    }
    crypto_lib.OSSL_PARAM_BLD_free(builder);
    return key;
}

static EVP_PKEY *read_ed25519(const JsonNode *jwk)
{
    uint8_t point[POINT_BYTES];
    const char *curve = member_text(jwk, "crv");
    return curve != NULL && strcmp(curve, "Ed25519") == 0 && read_point(jwk, "x", point)
               ? crypto_lib.EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, point, sizeof point)
               : NULL;
}

static const Key *find_key(const JwtKeys *keys, const char *kid)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        if (strcmp(keys->keys[i].kid, kid) == 0) {
            return &keys->keys[i];
        }
    }
    return NULL;
}

static void add_key(JwtKeys *keys, const JsonNode *jwk)
{
    static const struct {
        const char *type;
        EVP_PKEY *(*read)(const JsonNode *jwk);
    } kinds[KEY_KIND_COUNT] = {[KEY_RSA] = {"RSA", read_rsa},
                               [KEY_P256] = {"EC", read_p256},
                               [KEY_ED25519] = {"OKP", read_ed25519}};
    const char *kid = member_text(jwk, "kid"), *type = member_text(jwk, "kty");
    const char *use = member_text(jwk, "use"), *algorithm = member_text(jwk, "alg");
    if (kid == NULL || type == NULL || kid[0] == '\0' || strlen(kid) >= JWT_KID_BYTES ||
        keys->count == JWT_KEYS_MAX || (use != NULL && strcmp(use, "sig") != 0) ||
        find_key(keys, kid) != NULL) {
        return;
    }
    for (uint32_t kind = 0; kind < KEY_KIND_COUNT; kind++) {
        if (strcmp(kinds[kind].type, type) != 0 ||
            (algorithm != NULL && strcmp(algorithm, algorithms[kind]) != 0)) {
            continue;
        }
        EVP_PKEY *key = kinds[kind].read(jwk);
        if (key != NULL) {
            Key *to = &keys->keys[keys->count++];
            *to = (Key){.kind = (KeyKind)kind, .key = key};
            snprintf(to->kid, sizeof to->kid, "%s", kid);
        }
    }
}

Status jwt_keys_read(const char *text, size_t bytes, JwtKeys **out)
{
    if (!crypto_library_open()) {
        return STATUS_NOT_FOUND;
    }
    if (bytes == 0 || bytes > JWT_KEYS_BYTES_MAX) {
        return STATUS_MALFORMED;
    }
    void *memory = malloc(KEYS_ARENA_BYTES);
    JwtKeys *keys = calloc(1, sizeof *keys);
    Status status = memory != NULL && keys != NULL ? STATUS_OK : STATUS_LIMIT;
    if (status == STATUS_OK) {
        Arena arena;
        arena_init(&arena, memory, KEYS_ARENA_BYTES);
        const JsonNode *root = parse_json(text, bytes, &arena, KEYS_NODES_MAX);
        const JsonNode *list = root != NULL ? json_find(root, "keys") : NULL;
        status = list != NULL && list->kind == JSON_ARRAY ? STATUS_OK : STATUS_MALFORMED;
        for (const JsonNode *jwk = status == STATUS_OK ? list->first : NULL; jwk != NULL;
             jwk = jwk->next) {
            if (jwk->kind == JSON_OBJECT) {
                add_key(keys, jwk);
            }
        }
        status = status == STATUS_OK && keys->count == 0 ? STATUS_NOT_FOUND : status;
    }
    free(memory);
    if (status != STATUS_OK) {
        jwt_keys_free(keys);
        return status;
    }
    *out = keys;
    return STATUS_OK;
}

void jwt_keys_free(JwtKeys *keys)
{
    if (keys != NULL) {
        for (uint32_t i = 0; i < keys->count; i++) {
            crypto_lib.EVP_PKEY_free(keys->keys[i].key);
        }
        free(keys);
    }
}

uint32_t jwt_keys_count(const JwtKeys *keys)
{
    return keys->count;
}

// --- signatures ---------------------------------------------------------------------------------

// A signature of ES256 is two numbers of 32 bytes; OpenSSL wants them as DER. NULL: no memory.
static uint8_t *as_der(const uint8_t *signature, uint8_t out[80], size_t *bytes)
{
    uint8_t *to = out;
    ECDSA_SIG *both = crypto_lib.ECDSA_SIG_new();
    BIGNUM *r = crypto_lib.BN_bin2bn(signature, POINT_BYTES, NULL);
    BIGNUM *s = crypto_lib.BN_bin2bn(signature + POINT_BYTES, POINT_BYTES, NULL);
    bool is_set = both != NULL && r != NULL && s != NULL;
    is_set = is_set && crypto_lib.ECDSA_SIG_set0(both, r, s) == 1; // they are its own now
    if (!is_set) {
        crypto_lib.BN_free(r);
        crypto_lib.BN_free(s);
    }
    const int length = is_set ? crypto_lib.i2d_ECDSA_SIG(both, &to) : 0;
    crypto_lib.ECDSA_SIG_free(both);
    *bytes = length > 0 ? (size_t)length : 0;
    return length > 0 ? out : NULL;
}

static bool is_signed(const Key *key, const char *text, size_t text_bytes, const uint8_t *signature,
                      size_t bytes)
{
    uint8_t der[80];
    if (key->kind == KEY_P256) {
        if (bytes != (size_t)(2 * POINT_BYTES)) { // DER itself is none
            return false;
        }
        signature = as_der(signature, der, &bytes);
    }
    EVP_MD_CTX *context = crypto_lib.EVP_MD_CTX_new();
    const EVP_MD *digest = key->kind == KEY_ED25519 ? NULL : crypto_lib.EVP_sha256();
    const bool is_good =
        context != NULL && signature != NULL &&
        crypto_lib.EVP_DigestVerifyInit(context, NULL, digest, NULL, key->key) == 1 &&
        crypto_lib.EVP_DigestVerify(context, signature, bytes, (const uint8_t *)text, text_bytes) ==
            1;
    crypto_lib.EVP_MD_CTX_free(context);
    return is_good;
}

// --- claims -------------------------------------------------------------------------------------

static bool has_text(const JsonNode *node, const char *text)
{
    if (node == NULL) {
        return false;
    }
    if (node->kind == JSON_STRING) {
        return json_text_equal(node, text);
    }
    for (const JsonNode *item = node->kind == JSON_ARRAY ? node->first : NULL; item != NULL;
         item = item->next) {
        if (item->kind == JSON_STRING && json_text_equal(item, text)) {
            return true;
        }
    }
    return false;
}

// `aud` names us. A token for several clients must say which of them asked for it.
static bool is_for(const JsonNode *claims, const char *audience)
{
    const JsonNode *aud = json_find(claims, "aud");
    if (audience == NULL) {
        return true;
    }
    const bool is_shared = aud != NULL && aud->kind == JSON_ARRAY && aud->count > 1;
    return has_text(aud, audience) && (!is_shared || json_find(claims, "azp") != NULL);
}

static bool has_party(const JsonNode *claims, const char *const *parties)
{
    const JsonNode *azp = json_find(claims, "azp");
    bool is_listed = azp == NULL;
    for (uint32_t i = 0; parties != NULL && parties[i] != NULL && !is_listed; i++) {
        is_listed = azp->kind == JSON_STRING && json_text_equal(azp, parties[i]);
    }
    return is_listed;
}

// Seconds since 1970; false: there is a member and it is no such number.
static bool read_time(const JsonNode *claims, const char *name, uint64_t *out)
{
    const JsonNode *node = json_find(claims, name);
    if (node == NULL) {
        return true;
    }
    if (node->kind != JSON_NUMBER || !(node->number >= 0 && node->number < 1e12)) {
        return false;
    }
    *out = (uint64_t)node->number;
    return true;
}

static JwtFault check_times(const JsonNode *claims, uint64_t now, JwtClaims *out)
{
    uint64_t expires = 0, begins = 0, issued = UINT64_MAX;
    if (!read_time(claims, "exp", &expires) || !read_time(claims, "nbf", &begins) ||
        !read_time(claims, "iat", &issued) || expires == 0 || issued == UINT64_MAX) {
        return JWT_MALFORMED;
    }
    if (expires + JWT_SLACK_S <= now) {
        return JWT_EXPIRED;
    }
    out->expires_s = expires;
    return begins > now + JWT_SLACK_S || issued > now + JWT_SLACK_S ? JWT_EARLY : JWT_FINE;
}

// "a.b.c" is a member of a member. Claims whose names have dots ("https://x.example/roles") are
// found by their whole name first.
static const JsonNode *find_claim(const JsonNode *claims, const char *path)
{
    const JsonNode *node = json_find(claims, path);
    if (node != NULL) {
        return node;
    }
    char rest[256];
    snprintf(rest, sizeof rest, "%s", path);
    node = claims;
    for (char *at = rest; at != NULL && node != NULL;) {
        char *dot = strchr(at, '.');
        if (dot != NULL) {
            *dot++ = '\0';
        }
        node = node->kind == JSON_OBJECT ? json_find(node, at) : NULL;
        at = dot;
    }
    return node;
}

static void read_roles(const JsonNode *claims, const JwtRules *rules, JwtClaims *out)
{
    if (rules->role_claim == NULL || rules->role_claim[0] == '\0') {
        return;
    }
    const JsonNode *claim = find_claim(claims, rules->role_claim);
    out->has_roles = claim != NULL;
    for (uint32_t i = 0; i < rules->role_count; i++) {
        out->roles |= has_text(claim, rules->roles[i].value) ? rules->roles[i].role : 0;
    }
}

static bool copy_text(const JsonNode *claims, const char *name, char *out, size_t capacity)
{
    const char *text = member_text(claims, name);
    if (text == NULL || text[0] == '\0' || strlen(text) >= capacity) {
        return false;
    }
    snprintf(out, capacity, "%s", text);
    return true;
}

// What people are called there. Not `name` or `email`: those are nobody else's business.
static void read_about(const JsonNode *claims, const JwtRules *rules, JwtClaims *out)
{
    (void)(copy_text(claims, "preferred_username", out->name, sizeof out->name) ||
           copy_text(claims, "nickname", out->name, sizeof out->name) ||
           copy_text(claims, "username", out->name, sizeof out->name));
    (void)copy_text(claims, "sid", out->session, sizeof out->session);
    read_roles(claims, rules, out);
}

static JwtFault check_claims(const JsonNode *claims, const JwtRules *rules, JwtClaims *out)
{
    const char *issuer = member_text(claims, "iss"), *nonce = member_text(claims, "nonce");
    const JsonNode *state = json_find(claims, "sts"); // Clerk's: of the session
    if (issuer == NULL || strcmp(issuer, rules->issuer) != 0) {
        return JWT_ISSUER;
    }
    if (!is_for(claims, rules->audience)) {
        return JWT_AUDIENCE;
    }
    if (!has_party(claims, rules->parties)) {
        return JWT_PARTY;
    }
    const JwtFault fault = check_times(claims, rules->now_s, out);
    if (fault != JWT_FINE) {
        return fault;
    }
    if (rules->nonce != NULL && (nonce == NULL || strcmp(nonce, rules->nonce) != 0)) {
        return JWT_NONCE;
    }
    if (state != NULL && (state->kind != JSON_STRING || !json_text_equal(state, "active"))) {
        return JWT_SESSION;
    }
    if (!copy_text(claims, "sub", out->subject, sizeof out->subject)) {
        return JWT_SUBJECT;
    }
    read_about(claims, rules, out);
    return JWT_FINE;
}

// --- tokens -------------------------------------------------------------------------------------

typedef struct Parts {
    const char *header, *payload, *signature;
    size_t header_bytes, payload_bytes, signature_bytes;
} Parts;

// Exactly three, divided by dots.
static bool split(const char *token, size_t bytes, Parts *out)
{
    const char *first = memchr(token, '.', bytes);
    const char *second =
        first != NULL ? memchr(first + 1, '.', bytes - (size_t)(first + 1 - token)) : NULL;
    if (second == NULL || bytes > JWT_BYTES_MAX) {
        return false;
    }
    *out = (Parts){.header = token,
                   .header_bytes = (size_t)(first - token),
                   .payload = first + 1,
                   .payload_bytes = (size_t)(second - first - 1),
                   .signature = second + 1,
                   .signature_bytes = bytes - (size_t)(second + 1 - token)};
    return memchr(out->signature, '.', out->signature_bytes) == NULL && out->header_bytes > 0 &&
           out->payload_bytes > 0 && out->signature_bytes > 0;
}

bool jwt_is_shaped(const char *token, size_t bytes)
{
    Parts parts;
    return bytes > 3 && memcmp(token, "eyJ", 3) == 0 && split(token, bytes, &parts); // {"
}

// The key by which it must be signed.
static JwtFault check_header(const JwtKeys *keys, const JsonNode *header, const Key **out)
{
    const char *kid = member_text(header, "kid"), *algorithm = member_text(header, "alg");
    const JsonNode *type = json_find(header, "typ");
    if (json_find(header, "crit") != NULL || json_find(header, "b64") != NULL) {
        return JWT_CRITICAL;
    }
    if (type != NULL && (type->kind != JSON_STRING || strcasecmp(type->text, "JWT") != 0)) {
        return JWT_MALFORMED; // signed for something else
    }
    if (kid == NULL || kid[0] == '\0') {
        return JWT_NO_KEY_NAME;
    }
    *out = find_key(keys, kid);
    if (*out == NULL) {
        return JWT_UNKNOWN_KEY;
    }
    return algorithm != NULL && strcmp(algorithm, algorithms[(*out)->kind]) == 0 ? JWT_FINE
                                                                                 : JWT_ALGORITHM;
}

typedef struct Scratch {
    uint8_t arena[TOKEN_ARENA_BYTES];
    char text[JWT_BYTES_MAX];
    uint8_t signature[NUMBER_BYTES_MAX];
} Scratch;

static const JsonNode *decode_json(Scratch *scratch, Arena *arena, const char *text, size_t bytes)
{
    size_t count;
    arena_init(arena, scratch->arena, sizeof scratch->arena);
    return decode(text, bytes, (uint8_t *)scratch->text, sizeof scratch->text, &count)
               ? parse_json(scratch->text, count, arena, TOKEN_NODES_MAX)
               : NULL;
}

static JwtFault verify(const JwtKeys *keys, const char *token, size_t bytes, const JwtRules *rules,
                       Scratch *scratch, JwtClaims *out)
{
    Parts parts;
    Arena arena;
    const Key *key = NULL;
    size_t signature_bytes;
    if (!split(token, bytes, &parts)) {
        return JWT_MALFORMED;
    }
    const JsonNode *header = decode_json(scratch, &arena, parts.header, parts.header_bytes);
    if (header == NULL) {
        return JWT_MALFORMED;
    }
    const JwtFault fault = check_header(keys, header, &key);
    if (fault != JWT_FINE) {
        return fault;
    }
    if (!decode(parts.signature, parts.signature_bytes, scratch->signature,
                sizeof scratch->signature, &signature_bytes) ||
        !is_signed(key, token, parts.header_bytes + 1 + parts.payload_bytes, scratch->signature,
                   signature_bytes)) {
        return JWT_SIGNATURE;
    }
    const JsonNode *claims = decode_json(scratch, &arena, parts.payload, parts.payload_bytes);
    return claims != NULL ? check_claims(claims, rules, out) : JWT_MALFORMED;
}

JwtFault jwt_verify(const JwtKeys *keys, const char *token, size_t bytes, const JwtRules *rules,
                    JwtClaims *out)
{
    JwtClaims claims = {0};
    Scratch *scratch = malloc(sizeof *scratch);
    const JwtFault fault =
        scratch != NULL ? verify(keys, token, bytes, rules, scratch, &claims) : JWT_MALFORMED;
    free(scratch);
    if (fault == JWT_FINE) {
        *out = claims;
    }
    return fault;
}

Status jwt_read_profile(const char *text, size_t bytes, const JwtRules *rules, JwtClaims *out)
{
    JwtClaims claims = {0};
    Arena arena;
    void *memory = bytes <= JWT_BYTES_MAX * 2 ? malloc(TOKEN_ARENA_BYTES) : NULL;
    if (memory == NULL) {
        return STATUS_LIMIT;
    }
    arena_init(&arena, memory, TOKEN_ARENA_BYTES);
    const JsonNode *root = parse_json(text, bytes, &arena, TOKEN_NODES_MAX);
    const bool is_good =
        root != NULL && copy_text(root, "sub", claims.subject, sizeof claims.subject);
    if (is_good) {
        read_about(root, rules, &claims);
        *out = claims;
    }
    free(memory);
    return is_good ? STATUS_OK : STATUS_MALFORMED;
}

// The opening handshake: the answer to a key, and the choice of a subprotocol. RFC 6455 wants SHA-1
// here, as a check that both sides speak WebSocket; nothing is kept secret by it, so it stands here
// and nowhere else.
#include "core/base/base64.h"
#include "core/base/check.h"
#include "server/net/websocket.h"

#include <string.h>

static const char GUID[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

static uint32_t rotate(uint32_t x, uint32_t bits)
{
    return x << bits | x >> (32 - bits);
}

static void sha1_block(uint32_t state[5], const uint8_t block[64])
{
    uint32_t w[80];
    for (uint32_t i = 0; i < 16; i++) {
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (uint32_t i = 16; i < 80; i++) {
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (uint32_t i = 0; i < 80; i++) {
        uint32_t f, k;
        if (i < 20) {
            f = (b & c) | (~b & d), k = 0x5a827999;
        } else if (i < 40) {
            f = b ^ c ^ d, k = 0x6ed9eba1;
        } else if (i < 60) {
            f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
        } else {
            f = b ^ c ^ d, k = 0xca62c1d6;
        }
        const uint32_t next = rotate(a, 5) + f + e + k + w[i];
        e = d, d = c, c = rotate(b, 30), b = a, a = next;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

// Of at most 119 bytes: two blocks.
static void sha1_short(const uint8_t *data, size_t bytes, uint8_t digest[20])
{
    ASSERT(bytes <= 119);
    uint8_t blocks[128] = {0};
    memcpy(blocks, data, bytes);
    blocks[bytes] = 0x80;
    const size_t total = bytes + 9 <= 64 ? 64 : 128;
    for (uint32_t i = 0; i < 4; i++) {
        blocks[total - 1 - i] = (uint8_t)((bytes * 8) >> (8 * i));
    }
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (size_t at = 0; at < total; at += 64) {
        sha1_block(state, blocks + at);
    }
    for (uint32_t i = 0; i < 20; i++) {
        digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

Status websocket_accept(const char *key, char accept[WEBSOCKET_ACCEPT_BYTES + 1])
{
    uint8_t nonce[32];
    size_t nonce_bytes;
    if (strlen(key) != WEBSOCKET_KEY_BYTES ||
        base64_decode(key, WEBSOCKET_KEY_BYTES, nonce, sizeof nonce, &nonce_bytes) != STATUS_OK ||
        nonce_bytes != 16) {
        return STATUS_MALFORMED;
    }
    uint8_t text[WEBSOCKET_KEY_BYTES + sizeof GUID];
    memcpy(text, key, WEBSOCKET_KEY_BYTES);
    memcpy(text + WEBSOCKET_KEY_BYTES, GUID, sizeof GUID - 1);
    uint8_t digest[20];
    sha1_short(text, WEBSOCKET_KEY_BYTES + sizeof GUID - 1, digest);
    ByteWriter writer = byte_writer(accept, WEBSOCKET_ACCEPT_BYTES);
    base64_write(digest, sizeof digest, &writer);
    ASSERT(writer.at == WEBSOCKET_ACCEPT_BYTES);
    accept[WEBSOCKET_ACCEPT_BYTES] = '\0';
    return STATUS_OK;
}

// Is `name` one of the items of a comma-separated list?
static bool list_has(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; *at != '\0';) {
        at += strspn(at, " \t,");
        const size_t item = strcspn(at, " \t,");
        if (item == length && memcmp(at, name, length) == 0) {
            return true;
        }
        at += item;
    }
    return false;
}

Status websocket_choose(const char *offered, bool *json, const char **name)
{
    static const char *const ours[] = {"sandlot.v2.bin", "sandlot.v2.json"};
    if (offered == NULL) {
        *json = true;
        *name = NULL;
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (list_has(offered, ours[i])) {
            *json = i == 1;
            *name = ours[i];
            return STATUS_OK;
        }
    }
    return STATUS_UNSUPPORTED;
}

bool websocket_offers(const char *offered, const char *name)
{
    return offered != NULL && list_has(offered, name);
}

// See http_client.h. Nothing here allocates, blocks or keeps state.
#include "server/net/http_client.h"

#include "core/base/check.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ADDRESS_TEXT_BYTES 46 // the longest IPv6 address, and a zero byte
#define V4_BITS            96 // before the 32 of an IPv4 address

// --- addresses ----------------------------------------------------------------------------------

HttpPeer http_peer_v4(uint32_t address)
{
    HttpPeer peer = {{[10] = 0xff, [11] = 0xff}};
    for (uint32_t i = 0; i < 4; i++) {
        peer.bytes[12 + i] = (uint8_t)(address >> (24 - 8 * i));
    }
    return peer;
}

static bool is_v4(const HttpPeer *peer)
{
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(peer->bytes, prefix, sizeof prefix) == 0;
}

static bool parse_plain(const char *text, size_t bytes, HttpPeer *out)
{
    char copy[ADDRESS_TEXT_BYTES];
    HttpPeer peer;
    if (bytes == 0 || bytes >= sizeof copy || memchr(text, '\0', bytes) != NULL) {
        return false;
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    struct in_addr v4;
    if (inet_pton(AF_INET, copy, &v4) == 1) {
        *out = http_peer_v4(ntohl(v4.s_addr));
        return true;
    }
    if (inet_pton(AF_INET6, copy, peer.bytes) != 1) {
        return false;
    }
    *out = peer;
    return true;
}

// ":80", or nothing.
static bool is_port(const char *text, size_t bytes)
{
    if (bytes == 0) {
        return true;
    }
    bool is_number = text[0] == ':' && bytes >= 2 && bytes <= 6;
    for (size_t i = 1; i < bytes && is_number; i++) {
        is_number = text[i] >= '0' && text[i] <= '9';
    }
    return is_number;
}

bool http_peer_parse(const char *text, size_t bytes, HttpPeer *out)
{
    if (bytes > 0 && text[0] == '[') {
        const char *end = memchr(text, ']', bytes);
        const size_t inside = end != NULL ? (size_t)(end - text) - 1 : 0;
        return end != NULL && memchr(text + 1, ':', inside) != NULL &&
               is_port(end + 1, bytes - inside - 2) && parse_plain(text + 1, inside, out);
    }
    const char *colon = memchr(text, ':', bytes);
    const size_t before = colon != NULL ? (size_t)(colon - text) : bytes;
    if (colon != NULL && memchr(colon + 1, ':', bytes - before - 1) == NULL) {
        return is_port(colon, bytes - before) && parse_plain(text, before, out);
    }
    return parse_plain(text, bytes, out);
}

bool http_peer_is_loopback(const HttpPeer *peer)
{
    static const HttpPeer v6 = {{[15] = 1}};
    return is_v4(peer) ? peer->bytes[12] == 127 : memcmp(peer, &v6, sizeof v6) == 0;
}

uint64_t http_peer_key(const HttpPeer *peer)
{
    const uint32_t from = is_v4(peer) ? 12 : 0, to = is_v4(peer) ? 16 : 8;
    uint64_t key = 0;
    for (uint32_t i = from; i < to; i++) {
        key = key << 8 | peer->bytes[i];
    }
    return key;
}

// --- ranges -------------------------------------------------------------------------------------

static bool same_bits(const HttpPeer *a, const HttpPeer *b, uint32_t bits)
{
    ASSERT(bits <= 128);
    const uint32_t whole = bits / 8, rest = bits % 8;
    if (memcmp(a->bytes, b->bytes, whole) != 0) {
        return false;
    }
    return rest == 0 || (a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0;
}

static bool has_bits_after(const HttpPeer *peer, uint32_t bits)
{
    for (uint32_t i = bits; i < 128; i++) {
        if ((peer->bytes[i / 8] >> (7 - i % 8) & 1) != 0) {
            return true;
        }
    }
    return false;
}

bool http_peer_range_parse(const char *text, HttpPeerRange *out)
{
    HttpPeerRange range = {.bits = 128};
    const size_t address = strcspn(text, "/");
    if (!parse_plain(text, address, &range.first)) {
        return false;
    }
    const bool is_short = memchr(text, ':', address) == NULL; // written as IPv4
    if (text[address] == '/') {
        const char *digits = text + address + 1;
        const size_t count = strspn(digits, "0123456789");
        if (count == 0 || count > 3 || digits[count] != '\0') {
            return false;
        }
        uint32_t bits = 0;
        for (size_t i = 0; i < count; i++) {
            bits = bits * 10 + (uint32_t)(digits[i] - '0');
        }
        if (bits > (is_short ? 32u : 128u)) {
            return false;
        }
        range.bits = is_short ? V4_BITS + bits : bits;
    }
    if (has_bits_after(&range.first, range.bits)) {
        return false;
    }
    *out = range;
    return true;
}

// ::/0 is about IPv6: it does not take IPv4 in, which has 0.0.0.0/0.
bool http_peer_range_has(const HttpPeerRange *ranges, uint32_t count, const HttpPeer *peer)
{
    for (uint32_t i = 0; i < count; i++) {
        if (is_v4(&ranges[i].first) == is_v4(peer) &&
            same_bits(&ranges[i].first, peer, ranges[i].bits)) {
            return true;
        }
    }
    return false;
}

// --- behind proxies -----------------------------------------------------------------------------

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

HttpForwarded http_client_find(const HttpPeerRange *trusted, uint32_t count,
                               const HttpPeer *connection, const char *forwarded)
{
    HttpForwarded found = {.client = *connection, .is_known = true};
    size_t end = forwarded != NULL ? strlen(forwarded) : 0;
    if (forwarded == NULL) {
        return found;
    }
    while (http_peer_range_has(trusted, count, &found.client)) {
        size_t from = end;
        while (from > 0 && forwarded[from - 1] != ',') {
            from -= 1;
        }
        size_t first = from, last = end;
        while (first < last && is_space(forwarded[first])) {
            first += 1;
        }
        while (last > first && is_space(forwarded[last - 1])) {
            last -= 1;
        }
        if (!http_peer_parse(forwarded + first, last - first, &found.client)) {
            found.is_known = false;
            return found;
        }
        if (from == 0) {
            return found; // every entry is a proxy of ours: the first of them asked by itself
        }
        end = from - 1;
    }
    return found;
}

// --- the public URL -----------------------------------------------------------------------------

// The host without its port; false: what follows it is no port.
static bool split_host(const char *host, size_t *name_bytes)
{
    const char *bracket = host[0] == '[' ? strchr(host, ']') : NULL;
    *name_bytes = bracket != NULL ? (size_t)(bracket - host) + 1 : strcspn(host, ":");
    return is_port(host + *name_bytes, strlen(host) - *name_bytes);
}

static bool is_name(const char *text, size_t bytes)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-.";
    return bytes > 0 && bytes < 254 && strspn(text, letters) >= bytes && text[0] != '.' &&
           text[0] != '-';
}

static bool is_localhost(const char *text, size_t bytes)
{
    static const char local[] = "localhost";
    const size_t local_bytes = sizeof local - 1;
    return bytes >= local_bytes &&
           strncasecmp(text + bytes - local_bytes, local, local_bytes) == 0 &&
           (bytes == local_bytes || text[bytes - local_bytes - 1] == '.') && is_name(text, bytes);
}

// An address as a URL has it: IPv6 in brackets.
static bool is_address(const char *text, size_t bytes)
{
    HttpPeer peer;
    if (text[0] == '[') {
        return http_peer_parse(text, bytes, &peer);
    }
    return memchr(text, ':', bytes) == NULL && parse_plain(text, bytes, &peer);
}

static void lower(char *text)
{
    for (; *text != '\0'; text++) {
        *text = *text >= 'A' && *text <= 'Z' ? (char)(*text | 0x20) : *text;
    }
}

bool http_site_parse(const char *url, HttpSite *out)
{
    const bool secure = strncasecmp(url, "https://", 8) == 0;
    if (!secure && strncasecmp(url, "http://", 7) != 0) {
        return false;
    }
    char host[HTTP_SITE_BYTES - 16];
    const char *from = url + (secure ? 8 : 7);
    size_t bytes = strlen(from), name;
    bytes -= bytes > 0 && from[bytes - 1] == '/' ? 1 : 0;
    if (bytes == 0 || bytes >= sizeof host) {
        return false;
    }
    memcpy(host, from, bytes);
    host[bytes] = '\0';
    if (!split_host(host, &name) || (!is_name(host, name) && !is_address(host, name))) {
        return false;
    }
    if (strcmp(host + name, secure ? ":443" : ":80") == 0) {
        host[name] = '\0';
    }
    lower(host);
    HttpSite site;
    snprintf(site.origin, sizeof site.origin, "%s://%s", secure ? "https" : "http", host);
    snprintf(site.name, sizeof site.name, "%.*s", (int)name, host);
    *out = site;
    return true;
}

bool http_site_answers(const HttpSite *site, const char *host)
{
    size_t name;
    if (host == NULL || !split_host(host, &name)) {
        return false;
    }
    if (site->name[0] != '\0' && strlen(site->name) == name &&
        strncasecmp(site->name, host, name) == 0) {
        return true;
    }
    return is_localhost(host, name) || is_address(host, name);
}

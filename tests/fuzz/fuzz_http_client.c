// Who asks: lines of the input are a trusted range, the connection's address, X-Forwarded-For, a
// public URL and a Host. Nobody is believed who is not trusted; what is found is an address of the
// list or of the connection; a Host that is answered is the public URL's or says an address.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "server/net/http_client.h"

#include <string.h>
#include <strings.h>

#define LINES_MAX  5
#define LINE_BYTES 1200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char lines[LINES_MAX][LINE_BYTES];

static void split(const uint8_t *data, size_t size)
{
    memset(lines, 0, sizeof lines);
    size_t line = 0, used = 0;
    for (size_t i = 0; i < size && line < LINES_MAX; i++) {
        if (data[i] == '\n') {
            line += 1;
            used = 0;
        } else if (used + 1 < LINE_BYTES && data[i] != 0) {
            lines[line][used++] = (char)data[i];
        }
    }
}

static bool is_same(const HttpPeer *a, const HttpPeer *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

// Is it one of the list's entries?
static bool is_listed(const char *list, const HttpPeer *peer)
{
    for (const char *at = list;; at++) {
        size_t bytes = strcspn(at, ",");
        const char *next = at + bytes;
        while (bytes > 0 && (*at == ' ' || *at == '\t')) {
            at += 1;
            bytes -= 1;
        }
        while (bytes > 0 && (at[bytes - 1] == ' ' || at[bytes - 1] == '\t')) {
            bytes -= 1;
        }
        HttpPeer entry;
        if (http_peer_parse(at, bytes, &entry) && is_same(&entry, peer)) {
            return true;
        }
        if (*next == '\0') {
            return false;
        }
        at = next;
    }
}

static void check_client(void)
{
    HttpPeerRange range;
    HttpPeer connection;
    const uint32_t count = http_peer_range_parse(lines[0], &range) ? 1 : 0;
    if (!http_peer_parse(lines[1], strlen(lines[1]), &connection)) {
        return;
    }
    const HttpForwarded found = http_client_find(&range, count, &connection, lines[2]);
    ASSERT(is_same(&found.client, &connection) || is_listed(lines[2], &found.client));
    if (!http_peer_range_has(&range, count, &connection)) {
        ASSERT(found.is_known && is_same(&found.client, &connection));
    }
    // Only a proxy is left without a client, and only an unknown or wholly trusted list ends at
    // one.
    ASSERT(found.is_known || http_peer_range_has(&range, count, &found.client));
    (void)http_peer_key(&found.client);
    (void)http_peer_is_loopback(&found.client);
}

static void check_host(void)
{
    HttpSite site = {.name = ""};
    if (http_site_parse(lines[3], &site)) {
        ASSERT(strncmp(site.origin, "http", 4) == 0 && site.name[0] != '\0');
        ASSERT(strpbrk(site.origin, " \t\r\n\"<>@?#") == NULL);
        ASSERT(strchr(strstr(site.origin, "://") + 3, '/') == NULL);
        ASSERT(http_site_answers(&site, site.name));
    }
    const char *host = lines[4];
    if (!http_site_answers(&site, host)) {
        return;
    }
    const bool is_ours =
        site.name[0] != '\0' && strncasecmp(host, site.name, strlen(site.name)) == 0;
    HttpPeer peer;
    ASSERT(is_ours || strcasestr(host, "localhost") != NULL ||
           http_peer_parse(host, strlen(host), &peer));
    ASSERT(strpbrk(host, " \t\r\n@/?#") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    split(data, size);
    check_client();
    check_host();
    return 0;
}

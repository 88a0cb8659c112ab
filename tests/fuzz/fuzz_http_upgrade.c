// HTTP's decisions about headers: each line of the input is a header, a line "-" a missing one. A
// request is granted only with a valid key, an allowed origin and one of our subprotocols; a range
// is always inside its body; no path that may be a file leads outside the root; no encoding is
// chosen that was not offered or not accepted.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "server/net/http_rules.h"
#include "server/net/websocket.h"

#include <string.h>
#include <strings.h>

#define LINES_MAX  14
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

static const char *header(size_t line)
{
    return strcmp(lines[line], "-") == 0 ? NULL : lines[line];
}

// Each line but the first as a header. What is accepted has one meaning.
static void check_framing(void)
{
    HttpFraming framing = {0};
    bool has_control = false;
    uint32_t origins = 0;
    static char names[LINES_MAX][LINE_BYTES];
    for (size_t i = 1; i < LINES_MAX; i++) {
        const size_t bytes = strcspn(lines[i], ":");
        memcpy(names[i], lines[i], bytes);
        names[i][bytes] = '\0';
        if (lines[i][bytes] == ':') {
            const char *value = lines[i] + bytes + 1;
            http_rules_framing_add(&framing, names[i], value, strlen(value));
            has_control = has_control || strpbrk(value, "\r\x01\x7f") != NULL;
            origins += strcasecmp(names[i], "Origin") == 0;
        }
    }
    uint64_t declared = 1;
    if (http_rules_framing(&framing, false, &declared) == NULL) {
        ASSERT(framing.host_count == 1 && framing.length_count + framing.encoding_count <= 1);
        ASSERT(framing.length_count == 1 || declared == 0);
        ASSERT(!framing.has_bad_name && !has_control && origins <= 1 && framing.host[0] != 0);
    }
}

// The input as the memory of a parser that ends each line where its CRLF stood. What is accepted
// has no zero byte, no lone CR or LF, and no line that goes on.
static void check_lines(const uint8_t *data, size_t size)
{
    static char block[LINES_MAX * LINE_BYTES + 8];
    size = size < sizeof block - 8 ? size : sizeof block - 8;
    memcpy(block, data, size);
    memcpy(block + size, "\r\n\r\n", 5);
    HttpFraming framing = {.next = block, .end = block + size + 4};
    bool is_odd = memchr(data, 0, size) != NULL;
    for (char *at = block; *at != '\r' || at[1] != '\n';) {
        char *line = at;
        while (at < block + size && *at != '\n' && (*at != '\r' || at[1] != '\n')) {
            at += 1;
        }
        is_odd = is_odd || *at == '\n';
        const size_t ending = *at == '\r' ? 2 : 1;
        memset(at, 0, ending);
        at += ending;
        char *colon = strchr(line, ':');
        if (colon == NULL) {
            return; // the parser refuses it
        }
        *colon = '\0';
        char *value = colon + 1 + strspn(colon + 1, " \t");
        http_rules_framing_add(&framing, line, value, strlen(value));
        if (at >= framing.end - 2) {
            break;
        }
    }
    uint64_t declared;
    const bool is_whole = http_rules_framing(&framing, true, &declared) == NULL;
    ASSERT(!is_whole || !is_odd);
}

static void check_upgrade(void)
{
    static const char *const origins[] = {"https://play.example", NULL};
    const HttpOriginRule rule = {.origins = origins, .same_host = true};
    const HttpUpgradeHeaders headers = {.method = lines[0],
                                        .connection = header(1),
                                        .upgrade = header(2),
                                        .version = header(3),
                                        .key = header(4),
                                        .origin = header(5),
                                        .host = header(6),
                                        .protocols = header(7)};
    const HttpUpgrade got = http_rules_upgrade(&rule, &headers);
    if (got.status != 101) {
        ASSERT(got.status == 400 || got.status == 403 || got.status == 426);
        ASSERT(got.code != NULL && got.message != NULL);
        return;
    }
    ASSERT(strcmp(headers.method, "GET") == 0 && strcmp(headers.version, "13") == 0);
    ASSERT(strlen(headers.key) == WEBSOCKET_KEY_BYTES);
    ASSERT(strlen(got.accept) == WEBSOCKET_ACCEPT_BYTES);
    ASSERT(strcasestr(headers.upgrade, "websocket") != NULL);
    ASSERT(strcasestr(headers.connection, "upgrade") != NULL);
    ASSERT((headers.protocols == NULL) == (got.subprotocol == NULL));
    ASSERT(got.subprotocol == NULL || strstr(headers.protocols, got.subprotocol) != NULL);
    // A page of a stranger: neither in the list nor from its own address.
    if (headers.origin != NULL && strcasecmp(headers.origin, origins[0]) != 0) {
        const char *name = strstr(headers.origin, "://") + 3;
        ASSERT(headers.host != NULL && strncasecmp(headers.origin, "http", 4) == 0);
        ASSERT(strncasecmp(name, headers.host, 1) == 0);
        ASSERT(strcasestr(name, "localhost") != NULL || strchr("0123456789.[", name[0]) != NULL);
    }
}

static void check_range(void)
{
    const uint64_t totals[] = {0, 1, 10, 1000, UINT64_MAX};
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        const HttpRange range = http_rules_range(header(8), header(9), totals[i]);
        ASSERT(range.status == 200 || range.status == 206 || range.status == 416);
        ASSERT(range.bytes <= totals[i] && range.from <= totals[i] - range.bytes);
        ASSERT(range.status != 206 || range.bytes > 0);
        ASSERT(range.status != 200 || range.bytes == totals[i]);
    }
}

static void check_path(void)
{
    static HttpParts parts;
    char *path = lines[10];
    const size_t before = strlen(path);
    const size_t bytes = http_rules_unescape(path);
    ASSERT(bytes == strlen(path) && bytes <= before);
    if (http_rules_path_is_plain(path)) {
        ASSERT(path[0] == '/' && strstr(path, "/.") == NULL && strstr(path, "//") == NULL);
        ASSERT(strpbrk(path, "\\%:~ ") == NULL);
    }
    static const char *const patterns[] = {"/blob/*", "/api/rooms/*/ws", "/files/**", "/*/*/*/*/*"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        if (http_rules_route(patterns[i], path, &parts)) {
            for (uint32_t part = 0; part < parts.count; part++) {
                ASSERT(parts.text[part][0] != '\0');
                ASSERT(i == 2 || strchr(parts.text[part], '/') == NULL);
            }
        }
    }
}

static void check_coding(void)
{
    HttpAccept accept = {0};
    for (size_t line = 11; line < 13; line++) {
        if (header(line) != NULL) {
            http_rules_accept(&accept, header(line));
        }
    }
    for (uint32_t offered = 0; offered < 1u << HTTP_PLAIN; offered++) {
        const HttpCoding got = http_rules_choose(&accept, offered);
        ASSERT(got <= HTTP_CODING_COUNT);
        const char *name = got < HTTP_PLAIN ? http_rules_coding_name(got) : NULL;
        ASSERT(name == NULL || (offered >> got & 1) != 0);
        ASSERT(name == NULL || strcasestr(lines[11], name) != NULL ||
               strcasestr(lines[12], name) != NULL || strchr(lines[11], '*') != NULL ||
               strchr(lines[12], '*') != NULL);
        ASSERT(got != HTTP_CODING_COUNT || strstr(lines[11], "=0") || strstr(lines[12], "=0"));
    }
    static const char tag[] = "\"1.2-3-4.br\"";
    ASSERT(!http_rules_tag_is_known(header(13), tag) || strcmp(lines[13], "*") == 0 ||
           strstr(lines[13], tag) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    split(data, size);
    check_upgrade();
    check_framing();
    check_lines(data, size);
    check_range();
    check_path();
    check_coding();
    return 0;
}

// The HTTP server's decisions, see http_rules.h. Nothing here allocates, blocks or keeps state.
#include "server/net/http_rules.h"

#include "core/base/check.h"
#include "server/net/websocket.h"

#include <string.h>
#include <strings.h>

_Static_assert(sizeof((HttpUpgrade){0}.accept) > WEBSOCKET_ACCEPT_BYTES, "accept fits");

// --- paths --------------------------------------------------------------------------------------

bool http_rules_route(const char *pattern, const char *path, HttpParts *parts)
{
    parts->count = 0;
    while (*pattern != '\0') {
        if (*pattern != '*') {
            if (*pattern++ != *path++) {
                return false;
            }
            continue;
        }
        const bool rest = pattern[1] == '*';
        const size_t bytes = rest ? strlen(path) : strcspn(path, "/");
        if (bytes == 0 || bytes >= HTTP_RULES_PART_BYTES || parts->count == HTTP_RULES_PARTS_MAX) {
            return false;
        }
        memcpy(parts->text[parts->count], path, bytes);
        parts->text[parts->count++][bytes] = '\0';
        path += bytes;
        pattern += rest ? 2 : 1;
    }
    return *path == '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char low = (char)(c | 0x20);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

size_t http_rules_unescape(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0';) {
        const int high = *at == '%' ? hex_digit(at[1]) : -1;
        const int low = high >= 0 ? hex_digit(at[2]) : -1;
        if (low >= 0 && high + low > 0) {
            *to++ = (char)(high << 4 | low);
            at += 3;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
    return (size_t)(to - text);
}

bool http_rules_path_is_plain(const char *path)
{
    for (const char *at = path; *at != '\0'; at++) {
        const bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                           (*at >= '0' && *at <= '9') || strchr("._-/", *at) != NULL;
        if (!plain || (*at == '/' && (at[1] == '.' || at[1] == '/'))) {
            return false;
        }
    }
    return path[0] == '/' && strlen(path) < 256;
}

bool http_rules_address_is_valid(const char *address)
{
    for (const uint8_t *at = (const uint8_t *)address; *at != '\0'; at++) {
        if (*at <= ' ' || *at == 0x7f) {
            return false;
        }
    }
    return address[0] != '\0';
}

// --- headers ------------------------------------------------------------------------------------

bool http_rules_list_has(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; *at != '\0';) {
        at += strspn(at, " \t,");
        const size_t item = strcspn(at, ",");
        size_t bytes = item;
        while (bytes > 0 && (at[bytes - 1] == ' ' || at[bytes - 1] == '\t')) {
            bytes -= 1;
        }
        if (bytes == length && bytes > 0 && strncasecmp(at, word, length) == 0) {
            return true;
        }
        at += item;
    }
    return false;
}

// --- where a request ends -----------------------------------------------------------------------

static size_t token_bytes(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                        "!#$%&'*+-.^_`|~");
}

// A header whose value goes on in the next line reaches us under another name: libmicrohttpd puts
// the rest of the value after the name. So names that only begin like these are refused, or such a
// header would be overlooked here and obeyed by somebody else.
static bool name_is_spoilt(const char *name)
{
    static const char *const names[] = {"Host",         "Content-Length", "Transfer-Encoding",
                                        "Origin",       "Forwarded",      "Via",
                                        "Authorization"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t bytes = strlen(names[i]);
        if (strncasecmp(name, names[i], bytes) == 0 && name[bytes] != '\0') {
            return true;
        }
    }
    return name[0] == '\0' || name[token_bytes(name)] != '\0';
}

// Text without control characters; a tab is none.
static bool value_is_valid(const char *value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t byte = (uint8_t)value[i];
        if ((byte < ' ' && byte != '\t') || byte == 0x7f) {
            return false;
        }
    }
    return true;
}

// Headers of which one reader may take the first and another the last.
static void note_once(HttpFraming *framing, const char *name)
{
    static const char *const names[] = {"Authorization",         "Origin", "Sec-WebSocket-Key",
                                        "Sec-WebSocket-Version", "Range",  "If-Range"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasecmp(name, names[i]) == 0) {
            framing->has_double = framing->has_double || (framing->once >> i & 1) != 0;
            framing->once |= 1u << i;
        }
    }
}

static void note_place(HttpFraming *framing, const char *name, const char *value)
{
    if (framing->next != NULL) {
        framing->has_gap = framing->has_gap || name != framing->next;
        framing->next = value + strlen(value) + strlen("\r\n");
    }
}

void http_rules_framing_add(HttpFraming *framing, const char *name, const char *value,
                            size_t value_bytes)
{
    value_bytes = value != NULL ? value_bytes : 0;
    value = value != NULL ? value : "";
    framing->has_bad_name = framing->has_bad_name || name_is_spoilt(name);
    framing->has_bad_value = framing->has_bad_value || !value_is_valid(value, value_bytes);
    note_once(framing, name);
    note_place(framing, name, value);
    if (strcasecmp(name, "Host") == 0) {
        framing->host_count += 1;
        framing->host = value;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        framing->length_count += 1;
        framing->length = value;
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        framing->encoding_count += 1;
        framing->encoding = value;
    }
}

// A name or an address, perhaps with a port.
static bool host_is_valid(const char *host)
{
    return host[0] != '\0' &&
           host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "-._~!$&'()*+,;=%[]:")] == '\0';
}

static bool read_length(const char *text, uint64_t *out)
{
    uint64_t bytes = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at < '0' || *at > '9' || bytes > UINT64_MAX / 20) {
            return false;
        }
        bytes = bytes * 10 + (uint64_t)(*at - '0');
    }
    *out = bytes;
    return text[0] != '\0';
}

const char *http_rules_framing(const HttpFraming *framing, bool http_1_0, uint64_t *declared)
{
    *declared = 0;
    if (framing->has_bad_name) {
        return "a header has no valid name, or goes on in the next line";
    }
    if (framing->has_bad_value || framing->has_gap ||
        (framing->next != NULL && framing->next + strlen("\r\n") != framing->end)) {
        return "a line has a byte that is no text, goes on in the next line, or does not end with "
               "CR and LF";
    }
    if (framing->has_double) {
        return "a header that may come only once came twice";
    }
    if (framing->host_count > 1 || (framing->host_count == 0 && !http_1_0) ||
        (framing->host != NULL && !host_is_valid(framing->host))) {
        return "HTTP/1.1 needs one valid Host";
    }
    if (framing->length_count > 1 || framing->encoding_count > 1 ||
        framing->length_count + framing->encoding_count > 1) {
        return "it is not clear where this request ends: more than one header says so";
    }
    if (framing->encoding != NULL && (http_1_0 || strcasecmp(framing->encoding, "chunked") != 0)) {
        return "the only Transfer-Encoding is chunked, in HTTP/1.1";
    }
    if (framing->length != NULL && !read_length(framing->length, declared)) {
        return "Content-Length is no number";
    }
    return NULL;
}

// --- codings ------------------------------------------------------------------------------------

// How much a client likes a coding: refused, good for want of another, or from 1 to 1,000.
#define REFUSED      1
#define LAST_RESORT  2
#define WEIGHT(mils) ((uint16_t)((mils) > 0 ? LAST_RESORT + (mils) : REFUSED))

static const char *const coding_names[] = {
    [HTTP_BROTLI] = "br", [HTTP_ZSTD] = "zstd", [HTTP_GZIP] = "gzip", [HTTP_PLAIN] = "identity"};
_Static_assert(sizeof coding_names / sizeof coding_names[0] == HTTP_CODING_COUNT, "all are named");

const char *http_rules_coding_name(HttpCoding coding)
{
    return coding < HTTP_PLAIN ? coding_names[coding] : NULL;
}

// "0.5", "1", "0.001", "1.": thousandths. False: it is no quality.
static bool read_quality(const char **at, uint32_t *out)
{
    const char *from = *at;
    if (from[0] != '0' && from[0] != '1') {
        return false;
    }
    uint32_t mils = (uint32_t)(from[0] - '0') * 1000;
    from += 1;
    if (*from == '.') {
        from += 1;
        for (uint32_t unit = 100; unit > 0 && *from >= '0' && *from <= '9'; unit /= 10) {
            mils += unit * (uint32_t)(*from++ - '0');
        }
    }
    *at = from;
    *out = mils;
    return mils <= 1000;
}

// "; q=0.5", or nothing. False: something else stands there.
static bool read_weight(const char **at, uint16_t *out)
{
    *at += strspn(*at, " \t");
    *out = WEIGHT(1000);
    if (**at == ';') {
        *at += 1;
        *at += strspn(*at, " \t");
        uint32_t mils;
        if (strncasecmp(*at, "q=", 2) != 0 || (*at += 2, !read_quality(at, &mils))) {
            return false;
        }
        *out = WEIGHT(mils);
        *at += strspn(*at, " \t");
    }
    return **at == ',' || **at == '\0';
}

static void lower_to(uint16_t *said, uint16_t weight)
{
    *said = *said == 0 || weight < *said ? weight : *said;
}

static void note_coding(HttpAccept *accept, const char *name, size_t bytes, uint16_t weight)
{
    if (bytes == 1 && name[0] == '*') {
        lower_to(&accept->others, weight);
        return;
    }
    if (bytes == 6 && strncasecmp(name, "x-gzip", 6) == 0) { // its name from of old
        name += 2;
        bytes -= 2;
    }
    for (HttpCoding coding = 0; coding < HTTP_CODING_COUNT; coding++) {
        if (strlen(coding_names[coding]) == bytes &&
            strncasecmp(name, coding_names[coding], bytes) == 0) {
            lower_to(&accept->codings[coding], weight);
        }
    }
}

void http_rules_accept(HttpAccept *accept, const char *accept_encoding)
{
    const char *at = accept_encoding + strspn(accept_encoding, ", \t");
    while (*at != '\0' && !accept->is_odd) {
        const char *name = at;
        const size_t bytes = token_bytes(at);
        uint16_t weight;
        at += bytes;
        if (bytes == 0 || !read_weight(&at, &weight)) {
            accept->is_odd = true;
        } else {
            note_coding(accept, name, bytes, weight);
            at += strspn(at, ", \t");
        }
    }
}

HttpCoding http_rules_choose(const HttpAccept *accept, uint32_t offered)
{
    HttpCoding best = HTTP_CODING_COUNT;
    uint16_t best_weight = REFUSED;
    offered |= 1u << HTTP_PLAIN;
    for (HttpCoding coding = 0; coding < HTTP_CODING_COUNT && !accept->is_odd; coding++) {
        const uint16_t unsaid = coding == HTTP_PLAIN ? LAST_RESORT : REFUSED;
        const uint16_t others = accept->others != 0 ? accept->others : unsaid;
        const uint16_t weight = accept->codings[coding] != 0 ? accept->codings[coding] : others;
        if ((offered >> coding & 1) != 0 && weight > best_weight) {
            best = coding;
            best_weight = weight;
        }
    }
    return accept->is_odd ? HTTP_PLAIN : best;
}

// --- parts of a body ----------------------------------------------------------------------------

bool http_rules_tag_is_known(const char *if_none_match, const char *tag)
{
    const char *at = if_none_match != NULL ? if_none_match : "";
    if (strcmp(at, "*") == 0) {
        return true;
    }
    for (at += strspn(at, ", \t"); *at != '\0'; at += strspn(at, ", \t")) {
        at += strncmp(at, "W/", 2) == 0 ? 2 : 0;
        const char *end = *at == '"' ? strchr(at + 1, '"') : NULL;
        if (end == NULL) {
            return false;
        }
        const size_t bytes = (size_t)(end + 1 - at);
        if (bytes == strlen(tag) && memcmp(at, tag, bytes) == 0) {
            return true;
        }
        at += bytes;
    }
    return false;
}

// Digits; a number too large to be one is the largest. False: there are none.
static bool read_number(const char **at, uint64_t *out)
{
    const char *from = *at;
    uint64_t number = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        const uint64_t digit = (uint64_t)(**at - '0');
        number = number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : number * 10 + digit;
    }
    *out = number;
    return *at != from;
}

HttpRange http_rules_range(const char *range, const char *if_range, uint64_t total)
{
    const HttpRange whole = {200, 0, total}, outside = {416, 0, 0};
    if (range == NULL || if_range != NULL || strncasecmp(range, "bytes=", 6) != 0) {
        return whole;
    }
    const char *at = range + 6;
    uint64_t first = 0, last = UINT64_MAX;
    const bool has_first = read_number(&at, &first);
    if (*at++ != '-') {
        return whole;
    }
    const bool has_last = read_number(&at, &last);
    if (*at != '\0' || (!has_first && !has_last) || (has_first && has_last && last < first)) {
        return whole;
    }
    if (!has_first) { // the last so many
        const uint64_t bytes = last < total ? last : total;
        return bytes == 0 ? outside : (HttpRange){206, total - bytes, bytes};
    }
    if (first >= total) {
        return outside;
    }
    const uint64_t end = has_last && last < total - 1 ? last : total - 1;
    return (HttpRange){206, first, end - first + 1};
}

// --- origins ------------------------------------------------------------------------------------

// A name and a port, without the port that the scheme has anyway.
typedef struct Authority {
    const char *text;
    size_t bytes;
} Authority;

static Authority authority_of(const char *text, const char *usual_port)
{
    size_t bytes = strlen(text);
    const size_t usual = strlen(usual_port);
    if (bytes > usual && strcmp(text + bytes - usual, usual_port) == 0) {
        bytes -= usual;
    }
    return (Authority){text, bytes};
}

// Does the name say the address itself, so that nobody can point it elsewhere?
static bool name_is_fixed(const Authority *authority)
{
    const char *text = authority->text;
    if (text[0] == '[') { // IPv6, brackets and port included
        const size_t bytes = strspn(text, "[]:0123456789abcdefABCDEF.");
        return bytes >= authority->bytes;
    }
    size_t bytes = strcspn(text, ":");
    bytes = bytes < authority->bytes ? bytes : authority->bytes;
    static const char local[] = "localhost";
    const size_t local_bytes = sizeof local - 1;
    if (bytes >= local_bytes && strncasecmp(text + bytes - local_bytes, local, local_bytes) == 0) {
        return bytes == local_bytes || text[bytes - local_bytes - 1] == '.';
    }
    return bytes > 0 && strspn(text, "0123456789.") >= bytes;
}

static bool origin_is_own(const char *origin, const char *host)
{
    const bool secure = strncasecmp(origin, "https://", 8) == 0;
    if (host == NULL || (!secure && strncasecmp(origin, "http://", 7) != 0)) {
        return false;
    }
    const char *usual_port = secure ? ":443" : ":80";
    const Authority theirs = authority_of(origin + (secure ? 8 : 7), usual_port);
    const Authority ours = authority_of(host, usual_port);
    return theirs.bytes == ours.bytes && theirs.bytes > 0 &&
           strncasecmp(theirs.text, ours.text, ours.bytes) == 0 && name_is_fixed(&ours);
}

static bool is_same_origin(const char *ours, const char *origin)
{
    return ours != NULL && ours[0] != '\0' && strcasecmp(ours, origin) == 0;
}

bool http_rules_origin(const HttpOriginRule *rule, const char *origin, const char *host)
{
    if (origin == NULL || (rule->same_host && origin_is_own(origin, host)) ||
        is_same_origin(rule->own, origin) || is_same_origin(rule->host, origin)) {
        return true;
    }
    for (const char *const *item = rule->origins; item != NULL && *item != NULL; item++) {
        if (strcasecmp(*item, origin) == 0) {
            return true;
        }
    }
    return rule->is_known != NULL && rule->is_known(rule->user, origin);
}

// --- upgrades -----------------------------------------------------------------------------------

static HttpUpgrade upgrade_refused(uint32_t status, const char *code, const char *message)
{
    return (HttpUpgrade){.status = status, .code = code, .message = message};
}

HttpUpgrade http_rules_upgrade(const HttpOriginRule *rule, const HttpUpgradeHeaders *headers)
{
    HttpUpgrade granted = {.status = 101};
    if (headers->upgrade == NULL || !http_rules_list_has(headers->upgrade, "websocket") ||
        headers->connection == NULL || !http_rules_list_has(headers->connection, "upgrade")) {
        return upgrade_refused(426, "upgrade_required", "this address is a WebSocket");
    }
    if (headers->http_1_0 || strcmp(headers->method, "GET") != 0) {
        return upgrade_refused(400, "malformed", "a WebSocket begins with GET and HTTP/1.1");
    }
    if (headers->version == NULL || strcmp(headers->version, "13") != 0) {
        return upgrade_refused(426, "unsupported_version", "WebSocket version 13 is spoken");
    }
    if (headers->key == NULL || websocket_accept(headers->key, granted.accept) != STATUS_OK) {
        return upgrade_refused(400, "malformed", "Sec-WebSocket-Key is missing or wrong");
    }
    if (!http_rules_origin(rule, headers->origin, headers->host)) {
        return upgrade_refused(403, "origin", "this page may not connect here");
    }
    if (headers->wanted != NULL) {
        granted.subprotocol = headers->wanted;
        return websocket_offers(headers->protocols, headers->wanted)
                   ? granted
                   : upgrade_refused(400, "unsupported_protocol",
                                     "the subprotocol of this address must be offered");
    }
    if (websocket_choose(headers->protocols, &granted.json, &granted.subprotocol) != STATUS_OK) {
        return upgrade_refused(400, "unsupported_protocol",
                               "offer sandlot.v2.bin or sandlot.v2.json");
    }
    ASSERT(strlen(granted.accept) == WEBSOCKET_ACCEPT_BYTES);
    return granted;
}

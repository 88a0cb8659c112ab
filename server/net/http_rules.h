// What the HTTP server decides from text alone: routes, paths of files, codings, ranges, and
// whether a request may become a WebSocket. Pure functions over strangers' bytes, apart from the
// connections so that they can be fuzzed. Every text ends with a zero byte; NULL is a header that
// did not come.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_RULES_PARTS_MAX  4
#define HTTP_RULES_PART_BYTES 512

// What the stars of a route took.
typedef struct HttpParts {
    char text[HTTP_RULES_PARTS_MAX][HTTP_RULES_PART_BYTES];
    uint32_t count;
} HttpParts;

// "/blob/*": a star takes one segment, two take the rest; none takes nothing at all.
bool http_rules_route(const char *pattern, const char *path, HttpParts *parts);

// Undoes %XX in place and returns the new length. What is no escape stays as it is, and so does
// %00: no text becomes shorter than it looks.
size_t http_rules_unescape(char *text);

// May this path name a file? Letters, digits and . _ - / alone, no part that is empty or begins
// with a dot: nothing hidden, nothing above the root.
bool http_rules_path_is_plain(const char *path);

// May this be the address in a request's first line? No spaces and nothing that cannot be seen.
bool http_rules_address_is_valid(const char *address);

// Is the word one of a comma-separated list's, in whatever case?
bool http_rules_list_has(const char *list, const char *word);

// What decides where a request ends, and for whom the request is; filled one header after the
// other.
typedef struct HttpFraming {
    uint32_t host_count, length_count, encoding_count;
    const char *host, *length, *encoding;
    uint32_t once; // bits: which of the headers that may come only once did come
    bool has_bad_name, has_bad_value, has_double;
    // Where the headers stand in memory, each line and its CRLF after the other: the place of the
    // next name, and the byte after the empty line. Both NULL: not known. A line with anything that
    // the parser left out of name and value (a zero byte and what follows it, a second line) is
    // longer than they are, and then the next one does not stand where it should.
    const char *next, *end;
    bool has_gap;
} HttpFraming;

// value_bytes: as the parser counted them; a zero byte among them is no text.
void http_rules_framing_add(HttpFraming *framing, const char *name, const char *value,
                            size_t value_bytes);
// NULL, and how many bytes of body are declared (chunked: 0); or what is wrong. A request that two
// readers could understand differently is refused: what one takes for a body the other may take
// for the next request.
const char *http_rules_framing(const HttpFraming *framing, bool http_1_0, uint64_t *declared);

// What a body may be coded as, in the order in which we like to send it.
typedef enum HttpCoding {
    HTTP_BROTLI,
    HTTP_ZSTD,
    HTTP_GZIP,
    HTTP_PLAIN,
    HTTP_CODING_COUNT
} HttpCoding;

// What a client said of each: 0 nothing, otherwise how much it likes it. All zero before the first
// of its headers.
typedef struct HttpAccept {
    uint16_t codings[HTTP_CODING_COUNT], others; // others: "*"
    bool is_odd;                                 // it does not follow the form
} HttpAccept;

// Adds one Accept-Encoding (RFC 9110, section 12.5.3); several of them are one list. Of what is
// said twice of a coding the lower counts.
void http_rules_accept(HttpAccept *accept, const char *accept_encoding);

// The one of the offered (bits, 1 << coding; the plain one always is) that the client likes most.
// Without a header, or with one that is not understood to its last byte, the plain one.
// HTTP_CODING_COUNT: it refuses them all.
HttpCoding http_rules_choose(const HttpAccept *accept, uint32_t offered);

// As Content-Encoding names it; NULL for the plain one.
const char *http_rules_coding_name(HttpCoding coding);

// Is the tag (with its quotes) one of an If-None-Match's, or is that "*"? Tags are compared weakly.
bool http_rules_tag_is_known(const char *if_none_match, const char *tag);

typedef struct HttpRange {
    uint32_t status; // 200: the whole, 206: the part, 416: outside
    uint64_t from, bytes;
} HttpRange;

// One range of bytes (RFC 9110, section 14). What is no range of bytes, or is more than one, is the
// whole, as is everything once If-Range came: who knows that it names our tag leaves it out.
HttpRange http_rules_range(const char *range, const char *if_range, uint64_t total);

// --- WebSockets ---------------------------------------------------------------------------------

typedef struct HttpOriginRule {
    const char *const *origins; // ends with NULL; may itself be NULL
    const char *own;            // the public URL's origin; NULL or "": there is none
    const char *host;           // the same of the host URL
    bool (*is_known)(void *user, const char *origin); // others; may be NULL
    void *user;
    bool same_host;
} HttpOriginRule;

// No Origin: no browser, which could be made to connect by a stranger's page. Otherwise one of the
// list, the public URL's, or the page that this very server gave out (same_host: name and port are
// the Host header's). The latter only for addresses in numbers and localhost: any other name may be
// made to point here by the stranger who owns it, and then its page is of the "same host".
bool http_rules_origin(const HttpOriginRule *rule, const char *origin, const char *host);

typedef struct HttpUpgradeHeaders {
    const char *method, *connection, *upgrade, *version, *key, *origin, *host, *protocols;
    const char *wanted; // a subprotocol of its own; NULL: those of worlds
    bool http_1_0;
} HttpUpgradeHeaders;

typedef struct HttpUpgrade {
    uint32_t status; // 101, or that of the refusal
    const char *code, *message;
    bool json;
    const char *subprotocol; // NULL: none was offered
    char accept[32];         // Sec-WebSocket-Accept
} HttpUpgrade;

HttpUpgrade http_rules_upgrade(const HttpOriginRule *rule, const HttpUpgradeHeaders *headers);

// The HTTP server's decisions about text: wildcards in routes, which paths may be files, encodings,
// ranges, and above all who may open a WebSocket.
#include "server/net/http_rules.h"

#include "core/base/rng.h"
#include "tests/support/test.h"

#include <string.h>

#define KEY    "dGhlIHNhbXBsZSBub25jZQ=="
#define ACCEPT "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

static HttpParts parts;

TEST(stars_take_segments)
{
    CHECK(http_rules_route("/blob/*", "/blob/abc", &parts));
    CHECK(parts.count == 1 && strcmp(parts.text[0], "abc") == 0);
    CHECK(http_rules_route("/api/rooms/*/ws", "/api/rooms/XY/ws", &parts));
    CHECK_TEXT(parts.text[0], "XY");
    CHECK(http_rules_route("/files/**", "/files/a/b/c", &parts));
    CHECK_TEXT(parts.text[0], "a/b/c");
    CHECK(!http_rules_route("/blob/*", "/blob/", &parts));
    CHECK(!http_rules_route("/blob/*", "/blob", &parts));
    CHECK(!http_rules_route("/blob/*", "/blob/a/b", &parts));
    CHECK(!http_rules_route("/blob/*", "/blob/a/", &parts));
    CHECK(!http_rules_route("/x", "/xy", &parts) && !http_rules_route("/xy", "/x", &parts));
    CHECK(!http_rules_route("*/*/*/*/*", "a/b/c/d/e", &parts)); // more than there is room for
}

TEST(a_part_that_is_too_long_is_no_match)
{
    char path[HTTP_RULES_PART_BYTES + 8] = "/";
    memset(path + 1, 'a', HTTP_RULES_PART_BYTES - 1);
    CHECK(http_rules_route("/*", path, &parts));
    path[HTTP_RULES_PART_BYTES] = 'a';
    CHECK(!http_rules_route("/*", path, &parts));
}

TEST(escapes_are_undone_but_never_to_zero)
{
    static const struct {
        const char *from, *to;
    } cases[] = {{"/a%20b", "/a b"}, {"%2e%2E/x", "../x"},     {"/a%00b", "/a%00b"}, {"%", "%"},
                 {"%4", "%4"},       {"%zz%41", "%zzA"},       {"%2500", "%00"},     {"%%41", "%A"},
                 {"", ""},           {"/%c3%a4", "/\xc3\xa4"}, {"100%25", "100%"},   {"%0a", "\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[32] = "";
        memcpy(text, cases[i].from, strlen(cases[i].from));
        CHECK_INT(http_rules_unescape(text), strlen(cases[i].to));
        CHECK_TEXT(text, cases[i].to);
    }
}

TEST(only_plain_paths_are_files)
{
    static const char *const good[] = {"/", "/index.html", "/assets/a-b_c.1.js", "/a.b/c"};
    static const char *const bad[] = {"",          "x",     "/..",       "/../etc/passwd",
                                      "/a/../b",   "//a",   "/a//b",     "/.git/config",
                                      "/a/.hid",   "/a b",  "/a\\..\\b", "/%2e%2e/x",
                                      "/a\x01",    "/\xff", "/./a",      "/a/.",
                                      "/a:stream", "/~a"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        CHECK(http_rules_path_is_plain(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (http_rules_path_is_plain(bad[i])) {
            test_fail(__FILE__, __LINE__, "%s is taken for plain", bad[i]);
        }
    }
}

TEST(lists_of_words)
{
    CHECK(http_rules_list_has("keep-alive, Upgrade", "upgrade"));
    CHECK(http_rules_list_has("UPGRADE", "upgrade"));
    CHECK(http_rules_list_has(" ,\t upgrade \t,x", "upgrade"));
    CHECK(!http_rules_list_has("upgraded", "upgrade") && !http_rules_list_has("", "upgrade"));
    CHECK(!http_rules_list_has("not upgrade", "upgrade"));
}

static void check_range(const char *range, uint64_t total, uint32_t status, uint64_t from,
                        uint64_t bytes)
{
    const HttpRange got = http_rules_range(range, NULL, total);
    if (got.status != status || (status != 416 && (got.from != from || got.bytes != bytes))) {
        test_fail(__FILE__, __LINE__, "%s of %llu: %u, %llu + %llu", range,
                  (unsigned long long)total, got.status, (unsigned long long)got.from,
                  (unsigned long long)got.bytes);
    }
}

// Of all that we have, of the page's two forms, or of a rune's one.
#define ALL  (1u << HTTP_BROTLI | 1u << HTTP_ZSTD | 1u << HTTP_GZIP)
#define PAGE (1u << HTTP_BROTLI | 1u << HTTP_GZIP)
#define GZIP (1u << HTTP_GZIP)

typedef struct AcceptCase {
    const char *first, *second; // headers; NULL: it did not come
    uint32_t offered;
    HttpCoding want;
} AcceptCase;

static const AcceptCase accept_cases[] = {
    // What browsers and tools say.
    {"gzip, deflate, br, zstd", NULL, ALL, HTTP_BROTLI},
    {"gzip, deflate, br", NULL, PAGE, HTTP_BROTLI},
    {"gzip, deflate", NULL, PAGE, HTTP_GZIP},
    {"gzip, deflate, br, zstd", NULL, 1u << HTTP_ZSTD, HTTP_ZSTD},
    {"gzip, br", NULL, 0, HTTP_PLAIN},
    {"identity", NULL, PAGE, HTTP_PLAIN},
    {"identity;q=1, *;q=0", NULL, PAGE, HTTP_PLAIN},
    {NULL, NULL, ALL, HTTP_PLAIN},
    {"", NULL, ALL, HTTP_PLAIN},
    {" , ,\t,", NULL, ALL, HTTP_PLAIN},
    {"deflate, compress, x-something", NULL, ALL, HTTP_PLAIN},
    // In whatever case and with whatever gaps; by an old name.
    {"GZip , BR", NULL, PAGE, HTTP_BROTLI},
    {",,gzip;Q=1.000\t,", NULL, PAGE, HTTP_GZIP},
    {"gzip \t; \tq=0.5", NULL, PAGE, HTTP_GZIP},
    {"x-gzip", NULL, PAGE, HTTP_GZIP},
    {"x-br, xgzip, gzipx, brr, b", NULL, PAGE, HTTP_PLAIN},
    // The one that is liked most; ours of those that are liked as much.
    {"br;q=0.5, gzip", NULL, PAGE, HTTP_GZIP},
    {"br;q=0.501, gzip;q=0.5", NULL, PAGE, HTTP_BROTLI},
    {"br;q=0.5, gzip;q=0.501", NULL, PAGE, HTTP_GZIP},
    {"br;q=0.5, gzip;q=0.5", NULL, PAGE, HTTP_BROTLI},
    {"gzip;q=0.001", NULL, PAGE, HTTP_GZIP},
    {"identity, gzip;q=0.9", NULL, PAGE, HTTP_PLAIN},
    {"identity;q=0.5, gzip;q=0.4", NULL, PAGE, HTTP_PLAIN},
    {"identity, gzip", NULL, PAGE, HTTP_GZIP},
    {"br, gzip;q=0.1", NULL, GZIP, HTTP_GZIP},
    // Refused.
    {"br;q=0, gzip", NULL, PAGE, HTTP_GZIP},
    {"br;q=0.000,gzip;q=0.", NULL, PAGE, HTTP_PLAIN},
    {"br, gzip;q=0", NULL, GZIP, HTTP_PLAIN},
    {"identity;q=0", NULL, PAGE, HTTP_CODING_COUNT},
    {"identity;q=0, br", NULL, PAGE, HTTP_BROTLI},
    {"identity;q=0, br", NULL, GZIP, HTTP_CODING_COUNT},
    {"identity;q=0, br", NULL, 0, HTTP_CODING_COUNT},
    // All others.
    {"*", NULL, PAGE, HTTP_BROTLI},
    {"*", NULL, GZIP, HTTP_GZIP},
    {"*", NULL, 0, HTTP_PLAIN},
    {"*;q=0", NULL, PAGE, HTTP_CODING_COUNT},
    {"*;q=0, identity", NULL, PAGE, HTTP_PLAIN},
    {"*;q=0, gzip;q=0.2", NULL, PAGE, HTTP_GZIP},
    {"*;q=0, gzip", NULL, 0, HTTP_CODING_COUNT},
    {"br;q=0, *", NULL, PAGE, HTTP_GZIP},
    {"br;q=0.1, *;q=0.2", NULL, PAGE, HTTP_GZIP},
    {"identity;q=0, *", NULL, PAGE, HTTP_BROTLI},
    {"identity;q=0, *;q=0.5", NULL, 0, HTTP_CODING_COUNT},
    {"*;q=0.5", NULL, 0, HTTP_PLAIN},
    // Several headers are one list, and for a repeated coding the lower value counts.
    {"gzip", "br", PAGE, HTTP_BROTLI},
    {"br", "br;q=0, gzip", PAGE, HTTP_GZIP},
    {"br;q=0", "br", PAGE, HTTP_PLAIN},
    {"gzip, gzip;q=0", NULL, PAGE, HTTP_PLAIN},
    {"identity;q=0", "gzip", PAGE, HTTP_GZIP},
    {"*", "*;q=0, identity", PAGE, HTTP_PLAIN},
    {"", "gzip", PAGE, HTTP_GZIP},
    // What is odd anywhere is answered plainly.
    {"gzip;q=2", NULL, PAGE, HTTP_PLAIN},
    {"gzip;q=1.001", NULL, PAGE, HTTP_PLAIN},
    {"gzip;q=0.0001", NULL, PAGE, HTTP_PLAIN},
    {"gzip;q=-1", NULL, PAGE, HTTP_PLAIN},
    {"gzip;q=.5", NULL, PAGE, HTTP_PLAIN},
    {"gzip;q=", NULL, PAGE, HTTP_PLAIN},
    {"gzip;q", NULL, PAGE, HTTP_PLAIN},
    {"gzip;", NULL, PAGE, HTTP_PLAIN},
    {"gzip;q =1", NULL, PAGE, HTTP_PLAIN},
    {"gzip;q=1e0", NULL, PAGE, HTTP_PLAIN},
    {"gzip;q=0;q=1", NULL, PAGE, HTTP_PLAIN},
    {"gzip;level=9", NULL, PAGE, HTTP_PLAIN},
    {"gzip br", NULL, PAGE, HTTP_PLAIN},
    {"x=\"a, br, b\"", NULL, PAGE, HTTP_PLAIN},
    {"\"gzip\"", NULL, PAGE, HTTP_PLAIN},
    {"gzip\x01", NULL, PAGE, HTTP_PLAIN},
    {"gzip, \xff", NULL, PAGE, HTTP_PLAIN},
    {";q=1, gzip", NULL, PAGE, HTTP_PLAIN},
    {"gzip", "br;q=x", PAGE, HTTP_PLAIN},
    {"br;q=x", "gzip", PAGE, HTTP_PLAIN},
    {"identity;q=0, br;q=x", NULL, PAGE, HTTP_PLAIN},
};

TEST(the_coding_that_is_chosen)
{
    for (size_t i = 0; i < sizeof accept_cases / sizeof accept_cases[0]; i++) {
        const AcceptCase *row = &accept_cases[i];
        HttpAccept accept = {0};
        if (row->first != NULL) {
            http_rules_accept(&accept, row->first);
        }
        if (row->second != NULL) {
            http_rules_accept(&accept, row->second);
        }
        const HttpCoding got = http_rules_choose(&accept, row->offered);
        if (got != row->want) {
            test_fail(__FILE__, __LINE__, "'%s' and '%s': %d of %x instead of %d",
                      row->first != NULL ? row->first : "", row->second != NULL ? row->second : "",
                      (int)got, (unsigned)row->offered, (int)row->want);
        }
    }
    CHECK_TEXT(http_rules_coding_name(HTTP_BROTLI), "br");
    CHECK_TEXT(http_rules_coding_name(HTTP_GZIP), "gzip");
    CHECK_TEXT(http_rules_coding_name(HTTP_ZSTD), "zstd");
    CHECK(http_rules_coding_name(HTTP_PLAIN) == NULL);
}

// Only a coding is chosen that is offered, and that is named or matched by a star.
TEST(words_at_random_never_choose_what_is_not_named)
{
    static const char *const words[] = {"br",   "gzip", "zstd", "identity", "*",   ";q=0", ";q=1",
                                        ";q=0", ".5",   ",",    ", ",       " ",   "\t",   "x",
                                        ";",    "\"",   "q=",   "0",        "\xff"};
    Rng rng = rng_make(test_seed(), 1);
    for (int i = 0; i < 20000 && test_is_passing(); i++) {
        char text[128] = "";
        for (uint32_t left = rng_below(&rng, 14); left > 0; left--) {
            const uint32_t word = rng_below(&rng, sizeof words / sizeof words[0]);
            strncat(text, words[word], sizeof text - strlen(text) - 1);
        }
        const uint32_t offered = rng_below(&rng, ALL + 1);
        HttpAccept accept = {0};
        http_rules_accept(&accept, text);
        const HttpCoding got = http_rules_choose(&accept, offered);
        const char *name = got < HTTP_PLAIN ? http_rules_coding_name(got) : NULL;
        if (name != NULL && ((offered >> got & 1) == 0 ||
                             (strstr(text, name) == NULL && strchr(text, '*') == NULL))) {
            test_fail(__FILE__, __LINE__, "'%s' of %x: %s", text, (unsigned)offered, name);
        }
    }
}

TEST(a_header_of_any_length)
{
    static char text[64 << 10];
    for (size_t at = 0; at + 8 < sizeof text; at += 5) {
        memcpy(text + at, "xyzw,", 5);
    }
    HttpAccept accept = {0};
    http_rules_accept(&accept, text);
    http_rules_accept(&accept, "gzip");
    CHECK_INT(http_rules_choose(&accept, PAGE), HTTP_GZIP);
    memset(text, 'b', sizeof text - 1);
    accept = (HttpAccept){0};
    http_rules_accept(&accept, text);
    CHECK_INT(http_rules_choose(&accept, PAGE), HTTP_PLAIN);
}

TEST(tags_that_are_known)
{
    static const char tag[] = "\"a-1.br\"";
    static const char *const known[] = {
        "\"a-1.br\"",        "W/\"a-1.br\"",   "*",
        "\"x\", \"a-1.br\"", ", \"a-1.br\" ,", "\"a,b\",W/\"c\",\t\"a-1.br\"",
        "\"\", \"a-1.br\"",  "\"x\"\"a-1.br\""};
    static const char *const unknown[] = {
        "",           "a-1.br",          "\"a-1.br",      "a-1.br\"",     "\"a-1\"",
        "\"a-1.gz\"", "\"A-1.BR\"",      "\"a-1.br \"",   "w/\"a-1.br\"", "W/",
        "\"",         "\"x, \"a-1.br\"", "x, \"a-1.br\"", "**",           "*, \"x\""};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!http_rules_tag_is_known(known[i], tag)) {
            test_fail(__FILE__, __LINE__, "not known from %s", known[i]);
        }
    }
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        if (http_rules_tag_is_known(unknown[i], tag)) {
            test_fail(__FILE__, __LINE__, "known from %s", unknown[i]);
        }
    }
    CHECK(!http_rules_tag_is_known(NULL, tag));
}

TEST(ranges)
{
    check_range("bytes=0-0", 10, 206, 0, 1);
    check_range("bytes=2-5", 10, 206, 2, 4);
    check_range("bytes=2-", 10, 206, 2, 8);
    check_range("bytes=-3", 10, 206, 7, 3);
    check_range("bytes=-30", 10, 206, 0, 10);
    check_range("bytes=5-99999999999999999999999", 10, 206, 5, 5);
    check_range("Bytes=0-18446744073709551615", 10, 206, 0, 10);
    check_range("bytes=10-", 10, 416, 0, 0);
    check_range("bytes=99999999999999999999-", 10, 416, 0, 0);
    check_range("bytes=-0", 10, 416, 0, 0);
    check_range("bytes=0-", 0, 416, 0, 0);
    check_range("bytes=-1", 0, 416, 0, 0);
    // No range, or not one that is served.
    check_range("bytes=5-2", 10, 200, 0, 10);
    check_range("bytes=0-1,3-4", 10, 200, 0, 10);
    check_range("bytes=", 10, 200, 0, 10);
    check_range("bytes=-", 10, 200, 0, 10);
    check_range("bytes=a-b", 10, 200, 0, 10);
    check_range("bytes=1-2x", 10, 200, 0, 10);
    check_range("lines=1-2", 10, 200, 0, 10);
    check_range("bytes=-5-", 10, 200, 0, 10);
    CHECK_INT(http_rules_range(NULL, NULL, 10).status, 200);
    CHECK_INT(http_rules_range("bytes=0-1", "\"tag\"", 10).status, 200);
}

TEST(origins_of_the_list)
{
    static const char *const origins[] = {"https://play.example", "http://other.example:8080",
                                          NULL};
    const HttpOriginRule rule = {.origins = origins, .same_host = false};
    CHECK(http_rules_origin(&rule, NULL, "play.example"));
    CHECK(http_rules_origin(&rule, "https://play.example", NULL));
    CHECK(http_rules_origin(&rule, "HTTPS://Play.Example", "x"));
    CHECK(http_rules_origin(&rule, "http://other.example:8080", "x"));
    static const char *const strangers[] = {
        "http://play.example",
        "https://play.example:8443",
        "https://play.example.evil",
        "https://evil.play.example",
        "http://other.example",
        "null",
        "",
        "https://play.example/",
        "https://play.example@evil",
    };
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        CHECK(!http_rules_origin(&rule, strangers[i], "play.example"));
    }
    const HttpOriginRule named = {.own = "https://play.example", .host = "https://a.play.example"};
    CHECK(http_rules_origin(&named, "https://play.example", "x"));
    CHECK(http_rules_origin(&named, "https://a.play.example", "x"));
    CHECK(!http_rules_origin(&named, "https://b.play.example", "x"));
    const HttpOriginRule nobody = {.origins = NULL, .same_host = false};
    CHECK(!http_rules_origin(&nobody, "http://127.0.0.1:7777", "127.0.0.1:7777"));
}

TEST(the_same_host)
{
    const HttpOriginRule rule = {.origins = NULL, .same_host = true};
    static const struct {
        const char *origin, *host;
        bool own;
    } cases[] = {
        {"http://127.0.0.1:7777", "127.0.0.1:7777", true},
        {"http://localhost:7777", "LocalHost:7777", true},
        {"http://game.localhost:7777", "game.localhost:7777", true},
        {"https://localhost", "localhost", true},
        {"http://localhost", "localhost:80", true},
        {"https://localhost:443", "localhost", true},
        {"http://[::1]:7777", "[::1]:7777", true},
        {"http://192.168.1.5:7777", "192.168.1.5:7777", true},
        {"http://127.0.0.1:7778", "127.0.0.1:7777", false},
        {"http://127.0.0.1", "127.0.0.1:7777", false},
        {"http://localhost:443", "localhost", false},
        {"http://localhost:7777", "127.0.0.1:7777", false},
        {"http://evil.example:7777", "127.0.0.1:7777", false},
        {"http://evil.example/://127.0.0.1:7777", "127.0.0.1:7777", false},
        {"file://127.0.0.1:7777", "127.0.0.1:7777", false},
        {"127.0.0.1:7777", "127.0.0.1:7777", false},
        {"null", "null", false},
        {"http://", "", false},
        {"http://x", NULL, false},
        // A name that its owner lets point to this machine.
        {"http://rebound.example:7777", "rebound.example:7777", false},
        {"http://evillocalhost:7777", "evillocalhost:7777", false},
        {"http://localhost.evil.example", "localhost.evil.example", false},
        {"http://127.0.0.1.evil.example", "127.0.0.1.evil.example", false},
        {"http://[evil", "[evil", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (http_rules_origin(&rule, cases[i].origin, cases[i].host) != cases[i].own) {
            test_fail(__FILE__, __LINE__, "%s at %s", cases[i].origin, cases[i].host);
        }
    }
}

static HttpUpgradeHeaders good_headers(void)
{
    return (HttpUpgradeHeaders){.method = "GET",
                                .connection = "keep-alive, Upgrade",
                                .upgrade = "WebSocket",
                                .version = "13",
                                .key = KEY,
                                .host = "127.0.0.1:7777",
                                .protocols = "sandlot.v2.json, sandlot.v2.bin"};
}

TEST(an_upgrade_is_granted)
{
    const HttpOriginRule rule = {.origins = NULL, .same_host = true};
    HttpUpgradeHeaders headers = good_headers();
    HttpUpgrade got = http_rules_upgrade(&rule, &headers);
    CHECK_INT(got.status, 101);
    CHECK_TEXT(got.accept, ACCEPT);
    CHECK(!got.json);
    CHECK_TEXT(got.subprotocol, "sandlot.v2.bin");
    headers.protocols = NULL;
    got = http_rules_upgrade(&rule, &headers);
    CHECK(got.status == 101 && got.json && got.subprotocol == NULL);
}

TEST(an_upgrade_is_refused)
{
    const HttpOriginRule rule = {.origins = NULL, .same_host = true};
#define REFUSED(field, value, want)                                  \
    do {                                                             \
        HttpUpgradeHeaders headers = good_headers();                 \
        headers.field = value;                                       \
        const HttpUpgrade got = http_rules_upgrade(&rule, &headers); \
        CHECK_INT(got.status, want);                                 \
        CHECK(got.code != NULL && got.message != NULL);              \
    } while (0)
    REFUSED(upgrade, NULL, 426);
    REFUSED(upgrade, "h2c", 426);
    REFUSED(connection, NULL, 426);
    REFUSED(connection, "keep-alive", 426);
    REFUSED(method, "HEAD", 400);
    REFUSED(http_1_0, true, 400);
    REFUSED(version, NULL, 426);
    REFUSED(version, "8", 426);
    REFUSED(version, "13, 8", 426);
    REFUSED(key, NULL, 400);
    REFUSED(key, "", 400);
    REFUSED(key, "c2hvcnQ=", 400);
    REFUSED(key, "dGhlIHNhbXBsZSBub25jZQ", 400);
    REFUSED(key, "dGhlIHNhbXBsZSBub25jZQ==x", 400);
    REFUSED(key, "!!!!!!!!!!!!!!!!!!!!!!==", 400);
    REFUSED(origin, "http://evil.example", 403);
    REFUSED(origin, "null", 403);
    REFUSED(protocols, "", 400);
    REFUSED(protocols, "chat", 400);
    REFUSED(protocols, "sandlot.v1.bin", 400);
#undef REFUSED
}

// The HTTP server's decisions over text: what stars take, which paths may be files, ranges, and
// above all who may open a WebSocket.
#include "server/net/http_rules.h"

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

TEST(codings_that_are_accepted)
{
    CHECK(http_rules_accepts("zstd", "zstd"));
    CHECK(http_rules_accepts("gzip, deflate, br, ZSTD", "zstd"));
    CHECK(http_rules_accepts("gzip;q=0,zstd;q=0.5, br", "zstd"));
    CHECK(http_rules_accepts("zstd ; q=0.001", "zstd"));
    CHECK(http_rules_accepts(" ,, zstd;q=1", "zstd"));
    CHECK(!http_rules_accepts(NULL, "zstd"));
    CHECK(!http_rules_accepts("", "zstd"));
    CHECK(!http_rules_accepts("gzip, br", "zstd"));
    CHECK(!http_rules_accepts("xzstd, zstd2, x;zstd", "zstd"));
    CHECK(!http_rules_accepts("zstd;q=0", "zstd"));
    CHECK(!http_rules_accepts("br, zstd; Q=0.000 , gzip", "zstd"));
    CHECK(!http_rules_accepts("*", "zstd")); // it is not named
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
    const HttpOriginRule rule = {origins, false};
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
    const HttpOriginRule nobody = {NULL, false};
    CHECK(!http_rules_origin(&nobody, "http://127.0.0.1:7777", "127.0.0.1:7777"));
}

TEST(the_same_host)
{
    const HttpOriginRule rule = {NULL, true};
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
    const HttpOriginRule rule = {NULL, true};
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
    const HttpOriginRule rule = {NULL, true};
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

// Who asks and for whom, from text alone: addresses, ranges of them, lists of proxies, the public
// URL and the Host header.
#include "server/net/http_client.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static bool parse(const char *text, HttpPeer *out)
{
    return http_peer_parse(text, strlen(text), out);
}

static uint64_t key_of(const char *text)
{
    HttpPeer peer = {{0}};
    if (!parse(text, &peer)) {
        test_fail(__FILE__, __LINE__, "%s is no address", text);
    }
    return http_peer_key(&peer);
}

TEST(addresses)
{
    CHECK_INT(key_of("192.0.2.1"), 0xc0000201);
    CHECK_INT(key_of("192.0.2.1:65535"), 0xc0000201);
    CHECK_INT(key_of("::ffff:192.0.2.1"), 0xc0000201);
    CHECK_INT(key_of("[::ffff:192.0.2.1]:80"), 0xc0000201);
    CHECK_INT(key_of("2001:db8:1:2:3:4:5:6"), 0x20010db800010002);
    CHECK_INT(key_of("[2001:db8:1:2::1]"), 0x20010db800010002);
    static const char *const bad[] = {"",           "unknown",     "1.2.3",
                                      "1.2.3.4.5",  "01.2.3.4",    "256.1.1.1",
                                      "1.2.3.4:",   "1.2.3.4:x",   "1.2.3.4:123456",
                                      "[1.2.3.4]",  "[::1",        "[::1]x",
                                      "[]",         "::g",         "::1%lo",
                                      " 1.2.3.4",   "\"1.2.3.4\"", "1.2.3.4/8",
                                      "_hidden",    "[::1]:",      "1:2:3:4:5:6:7:8:9",
                                      "0x7f.0.0.1", "2130706433"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        HttpPeer peer = {{7}};
        if (parse(bad[i], &peer) || peer.bytes[0] != 7) {
            test_fail(__FILE__, __LINE__, "%s is taken for an address", bad[i]);
        }
    }
    char longer[200];
    memset(longer, '1', sizeof longer);
    HttpPeer peer;
    CHECK(!http_peer_parse(longer, sizeof longer, &peer));
    CHECK(!http_peer_parse("1.2.3.4\0", 8, &peer)); // a zero byte ends nothing
}

TEST(loopback_in_all_its_forms)
{
    static const struct {
        const char *text;
        bool is_loopback;
    } cases[] = {
        {"127.0.0.1", true},   {"127.255.0.9", true}, {"::1", true}, {"::ffff:127.0.0.1", true},
        {"128.0.0.1", false},  {"::2", false},        {"::", false}, {"0.0.0.0", false},
        {"::127.0.0.1", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        HttpPeer peer;
        CHECK(parse(cases[i].text, &peer));
        CHECK_INT(http_peer_is_loopback(&peer), cases[i].is_loopback);
    }
}

static bool has(const char *range, const char *address)
{
    HttpPeerRange parsed;
    HttpPeer peer;
    return http_peer_range_parse(range, &parsed) && parse(address, &peer) &&
           http_peer_range_has(&parsed, 1, &peer);
}

TEST(ranges)
{
    CHECK(has("10.0.0.0/8", "10.255.1.2") && !has("10.0.0.0/8", "11.0.0.0"));
    CHECK(has("10.0.0.0/8", "::ffff:10.1.1.1"));
    CHECK(has("192.0.2.7", "192.0.2.7") && !has("192.0.2.7", "192.0.2.6"));
    CHECK(has("192.0.2.8/29", "192.0.2.15") && !has("192.0.2.8/29", "192.0.2.16"));
    CHECK(has("0.0.0.0/0", "1.2.3.4") && !has("0.0.0.0/0", "::1"));
    CHECK(has("::/0", "2001:db8::1") && !has("::/0", "1.2.3.4"));
    CHECK(has("2001:db8::/33", "2001:db8:7fff::1") && !has("2001:db8::/33", "2001:db8:8000::1"));
    CHECK(has("::ffff:10.0.0.0/104", "10.9.9.9"));
    CHECK(has("::1/128", "::1") && !has("::1", "::2"));
    static const char *const bad[] = {"",
                                      "/8",
                                      "10.0.0.0/",
                                      "10.0.0.0/33",
                                      "10.0.0.1/8",
                                      "10.0.0.0/8 ",
                                      "10.0.0.0/-1",
                                      "10.0.0.0/0008",
                                      "::/129",
                                      "2001:db8::1/32",
                                      "localhost",
                                      "10.0.0.0/8/8",
                                      "10.0.0.0:80",
                                      "[::1]",
                                      "10.0.0.0/+8",
                                      "10/8"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        HttpPeerRange range;
        if (http_peer_range_parse(bad[i], &range)) {
            test_fail(__FILE__, __LINE__, "%s is taken for a range", bad[i]);
        }
    }
}

TEST(the_client_is_the_last_that_is_no_proxy_of_ours)
{
    HttpPeerRange trusted[3];
    CHECK(http_peer_range_parse("127.0.0.1", &trusted[0]));
    CHECK(http_peer_range_parse("10.0.0.0/8", &trusted[1]));
    CHECK(http_peer_range_parse("2001:db8:ff::/48", &trusted[2]));
    static const struct {
        const char *connection, *forwarded, *client;
        bool is_known;
    } cases[] = {
        {"192.0.2.9", "1.1.1.1", "192.0.2.9", true}, // whoever is not trusted is not heard
        {"192.0.2.9", "nonsense", "192.0.2.9", true},
        {"127.0.0.1", NULL, "127.0.0.1", true},
        {"127.0.0.1", "1.1.1.1", "1.1.1.1", true},
        {"127.0.0.1", "6.6.6.6, 1.1.1.1", "1.1.1.1", true},
        {"127.0.0.1", "6.6.6.6,1.1.1.1 ,\t10.2.3.4 , 10.0.0.1", "1.1.1.1", true},
        {"127.0.0.1", "10.2.3.4, 10.0.0.1", "10.2.3.4", true}, // all are ours
        {"127.0.0.1", "127.0.0.1, 1.1.1.1", "1.1.1.1", true},
        {"10.0.0.1", "127.0.0.1", "127.0.0.1", true},
        {"2001:db8:ff::1", "[2001:db8::7]:443", "2001:db8::7", true},
        {"::ffff:10.1.1.1", "1.1.1.1:8080", "1.1.1.1", true},
        {"127.0.0.1", "", "127.0.0.1", false},
        {"127.0.0.1", ",", "127.0.0.1", false},
        {"127.0.0.1", "1.1.1.1,", "127.0.0.1", false},
        {"127.0.0.1", "1.1.1.1, unknown", "127.0.0.1", false},
        {"127.0.0.1", "unknown, 1.1.1.1", "1.1.1.1", true}, // nobody reads that far
        {"127.0.0.1", "1.1.1.1, bad, 10.0.0.1", "10.0.0.1", false},
        {"127.0.0.1", "1.1.1.1 2.2.2.2", "127.0.0.1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        HttpPeer connection, client;
        CHECK(parse(cases[i].connection, &connection) && parse(cases[i].client, &client));
        const HttpForwarded found = http_client_find(trusted, 3, &connection, cases[i].forwarded);
        if (memcmp(&found.client, &client, sizeof client) != 0 ||
            found.is_known != cases[i].is_known) {
            test_fail(__FILE__, __LINE__, "case %zu: %s", i, cases[i].forwarded);
        }
    }
}

TEST(a_public_url)
{
    static const struct {
        const char *url, *origin, *name;
    } good[] = {{"https://play.example", "https://play.example", "play.example"},
                {"HTTPS://Play.Example/", "https://play.example", "play.example"},
                {"https://play.example:443", "https://play.example", "play.example"},
                {"http://play.example:80/", "http://play.example", "play.example"},
                {"http://play.example:443", "http://play.example:443", "play.example"},
                {"http://192.0.2.1:7777", "http://192.0.2.1:7777", "192.0.2.1"},
                {"http://[2001:DB8::1]:7777", "http://[2001:db8::1]:7777", "[2001:db8::1]"}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        HttpSite site;
        REQUIRE(http_site_parse(good[i].url, &site));
        CHECK_TEXT(site.origin, good[i].origin);
        CHECK_TEXT(site.name, good[i].name);
    }
    static const char *const bad[] = {"",
                                      "play.example",
                                      "ws://play.example",
                                      "https://",
                                      "https:///",
                                      "https://a/b",
                                      "https://a?b",
                                      "https://a#b",
                                      "https://a@b",
                                      "https://a:b",
                                      "https://a:1:2",
                                      "https://.a",
                                      "https://-a",
                                      "https://a_b",
                                      "https://[::1",
                                      "https://a//",
                                      "https://a b",
                                      "https://a\r\nX: y",
                                      "https://a:123456"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        HttpSite site;
        if (http_site_parse(bad[i], &site)) {
            test_fail(__FILE__, __LINE__, "%s is taken for a public URL", bad[i]);
        }
    }
    char longer[600] = "https://";
    memset(longer + 8, 'a', sizeof longer - 9);
    HttpSite site;
    CHECK(!http_site_parse(longer, &site));
}

TEST(a_host_is_ours_or_says_its_address)
{
    const HttpSite none = {.name = ""};
    HttpSite site;
    REQUIRE(http_site_parse("https://play.example", &site));
    CHECK(http_site_answers(&site, "play.example") && !http_site_answers(&none, "play.example"));
    CHECK(http_site_answers(&none, "127.0.0.1:1") && http_site_answers(&none, "[::1]:7777"));
    CHECK(http_site_answers(&none, "localhost") && http_site_answers(&none, "x.localhost:1"));
    static const char *const bad[] = {"",
                                      ":80",
                                      "play.example.",
                                      "localhost.",
                                      "::1",
                                      "127.1",
                                      "[::1]x",
                                      "[127.0.0.1]",
                                      ".localhost",
                                      "play",
                                      "localhost:",
                                      "1.2.3.4:99999x",
                                      "evil",
                                      "[",
                                      "]",
                                      "play.example:1:2"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (http_site_answers(&site, bad[i])) {
            test_fail(__FILE__, __LINE__, "Host: %s is taken for ours", bad[i]);
        }
    }
    CHECK(!http_site_answers(&site, NULL));
}

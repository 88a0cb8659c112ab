// Files of the web root and their compressed forms: who gets which, and what is never served as
// one. (The compressed bytes here are not real ones: only a client would decode them.)
#define _GNU_SOURCE
#include "server/net/http_file.h"

#include "tests/support/test.h"
#include "tests/support/test_folder.h"
#include "tests/unit/raw_client.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INSIDE_BYTES 1024
#define PLAIN        "the plain text of it" // longer than any coded form below

static const char *inside(const TestFolder *folder, const char *name)
{
    static char path[INSIDE_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    return path;
}

// "gzip: G" and the like: the coding and the bytes of what such a client gets; "none", "refused".
static const char *fetch(const TestFolder *folder, const char *path, const char *accepts)
{
    static char text[256];
    HttpAccept accept = {0};
    HttpFile file;
    http_rules_accept(&accept, accepts);
    const Status status = http_file_open(folder->path, path, &accept, &file);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? "none" : "refused";
    }
    char bytes[128] = "";
    const char *coding = http_rules_coding_name(file.coding);
    const ssize_t count = read(file.descriptor, bytes, sizeof bytes - 1);
    CHECK_INT(count, (long long)file.bytes);
    close(file.descriptor);
    snprintf(text, sizeof text, "%s: %s", coding != NULL ? coding : "plain", bytes);
    return text;
}

static void set_time(const TestFolder *folder, const char *name, time_t seconds, long ns)
{
    const struct timespec times[2] = {{seconds, ns}, {seconds, ns}};
    CHECK_INT(utimensat(AT_FDCWD, inside(folder, name), times, 0), 0);
}

TEST(whoever_reads_a_form_gets_it)
{
    const TestFolder folder = test_folder_make();
    test_folder_write(&folder, "index.html", PLAIN);
    test_folder_write(&folder, "index.html.br", "B");
    test_folder_write(&folder, "index.html.gz", "G");
    test_folder_write(&folder, "assets/core.wasm", PLAIN);
    test_folder_write(&folder, "assets/core.wasm.gz", "G");
    test_folder_write(&folder, "assets/icon.svg", PLAIN);
    CHECK_TEXT(fetch(&folder, "/", "gzip, br"), "br: B");
    CHECK_TEXT(fetch(&folder, "/index.html", "gzip"), "gzip: G");
    CHECK_TEXT(fetch(&folder, "/", ""), "plain: " PLAIN);
    CHECK_TEXT(fetch(&folder, "/", "zstd"), "plain: " PLAIN);
    // The next best where the best is not there, and none where that is refused.
    CHECK_TEXT(fetch(&folder, "/assets/core.wasm", "gzip, br"), "gzip: G");
    CHECK_TEXT(fetch(&folder, "/assets/core.wasm", "br"), "plain: " PLAIN);
    CHECK_TEXT(fetch(&folder, "/assets/core.wasm", "br, identity;q=0"), "refused");
    CHECK_TEXT(fetch(&folder, "/assets/core.wasm", "gzip, identity;q=0"), "gzip: G");
    CHECK_TEXT(fetch(&folder, "/assets/icon.svg", "gzip, br"), "plain: " PLAIN);
    CHECK_TEXT(fetch(&folder, "/assets/icon.svg", "gzip, br, *;q=0"), "refused");
    CHECK_TEXT(fetch(&folder, "/nothing", "identity;q=0"), "none");
    test_folder_remove(&folder);
}

TEST(a_form_is_no_file_of_its_own)
{
    const TestFolder folder = test_folder_make();
    test_folder_write(&folder, "index.html", PLAIN);
    test_folder_write(&folder, "index.html.br", "B");
    test_folder_write(&folder, "index.html.gz", "G");
    test_folder_write(&folder, "index.html.br.gz", "G");
    test_folder_write(&folder, "sub/index.html", PLAIN);
    test_folder_write(&folder, "maps.tar.gz", "a file");
    test_folder_write(&folder, "maps.tar.gz.br", "B");
    static const char *const forms[] = {"/index.html.br",  "/index.html.gz", "/index.html.br.gz",
                                        "/maps.tar.gz.br", "/.br",           "/index.html/.br",
                                        "/sub/.gz",        "/sub.br"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        CHECK_TEXT(fetch(&folder, forms[i], ""), "none");
        CHECK_TEXT(fetch(&folder, forms[i], "br, gzip"), "none");
    }
    CHECK_TEXT(fetch(&folder, "/maps.tar.gz", "gzip"), "plain: a file");
    CHECK_TEXT(fetch(&folder, "/maps.tar.gz", "br"), "br: B");
    test_folder_remove(&folder);
}

// Somebody changed the page by hand, or a copy lost the times.
TEST(a_form_of_what_was_there_before_is_not_sent)
{
    const TestFolder folder = test_folder_make();
    static const char *const names[] = {"page.html", "assets/app-1234.js"};
    for (size_t i = 0; i < 2; i++) {
        char form[64], path[64];
        snprintf(form, sizeof form, "%s.br", names[i]);
        snprintf(path, sizeof path, "/%s", names[i]);
        test_folder_write(&folder, names[i], PLAIN);
        test_folder_write(&folder, form, "B");
        set_time(&folder, names[i], 1000, 500);
        set_time(&folder, form, 1000, 500);
        CHECK_TEXT(fetch(&folder, path, "br"), "br: B");
        set_time(&folder, form, 1001, 0);
        CHECK_TEXT(fetch(&folder, path, "br"), "br: B");
        const char *const older = i == 0 ? "plain: " PLAIN : "br: B"; // its name has its hash
        set_time(&folder, form, 1000, 499);
        CHECK_TEXT(fetch(&folder, path, "br"), older);
        set_time(&folder, form, 999, 900);
        CHECK_TEXT(fetch(&folder, path, "br"), older);
    }
    CHECK_TEXT(fetch(&folder, "/page.html", "br, identity;q=0"), "refused");
    test_folder_remove(&folder);
}

TEST(what_can_be_no_form_is_left_alone)
{
    const TestFolder folder = test_folder_make();
    const TestFolder outside = test_folder_make();
    char target[INSIDE_BYTES];
    snprintf(target, sizeof target, "%s", inside(&outside, "secret"));
    test_folder_write(&outside, "secret", "secret");
    static const char *const names[] = {"empty", "large", "folder", "pipe", "link"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        test_folder_write(&folder, names[i], PLAIN);
    }
    test_folder_write(&folder, "empty.br", "");
    test_folder_write(&folder, "large.br", PLAIN);
    test_folder_write(&folder, "folder.br/x", "x");
    CHECK_INT(mkfifo(inside(&folder, "pipe.br"), 0600), 0);
    CHECK_INT(symlink(target, inside(&folder, "link.br")), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[64], form[64];
        snprintf(path, sizeof path, "/%s", names[i]);
        snprintf(form, sizeof form, "%s.gz", names[i]);
        CHECK_TEXT(fetch(&folder, path, "br"), "plain: " PLAIN);
        test_folder_write(&folder, form, "G");
        CHECK_TEXT(fetch(&folder, path, "br, gzip"), "gzip: G");
    }
    // Alone they are what such a thing always is.
    CHECK_INT(unlink(inside(&folder, "link")), 0);
    CHECK_INT(unlink(inside(&folder, "link.gz")), 0);
    CHECK_TEXT(fetch(&folder, "/link.br", ""), "none");
    CHECK_TEXT(fetch(&folder, "/link", "br"), "none");
    test_folder_remove(&folder);
    test_folder_remove(&outside);
}

// The longest name that a disk takes leaves no room for an ending.
TEST(names_of_any_length)
{
    const TestFolder folder = test_folder_make();
    char name[300], path[302];
    for (size_t bytes = 240; bytes < 260; bytes++) {
        memset(name, 'a', bytes);
        name[bytes] = '\0';
        snprintf(path, sizeof path, "/%s", name);
        const bool fits = bytes < 255; // with its slash, a path of 255
        if (bytes <= 255) {
            test_folder_write(&folder, name, PLAIN);
        }
        CHECK_TEXT(fetch(&folder, path, "br, gzip"), fits ? "plain: " PLAIN : "none");
    }
    test_folder_remove(&folder);
}

static void check_tag(const TestFolder *folder, const char *accepts, char out[HTTP_FILE_TAG_BYTES])
{
    HttpAccept accept = {0};
    HttpFile file;
    http_rules_accept(&accept, accepts);
    REQUIRE(http_file_open(folder->path, "/index.html", &accept, &file) == STATUS_OK);
    close(file.descriptor);
    const size_t bytes = strlen(file.tag);
    CHECK(bytes > 2 && file.tag[0] == '"' && strchr(file.tag + 1, '"') == file.tag + bytes - 1);
    CHECK(http_rules_tag_is_known(file.tag, file.tag));
    memcpy(out, file.tag, sizeof file.tag);
}

TEST(tags_differ)
{
    const TestFolder folder = test_folder_make();
    char tags[4][HTTP_FILE_TAG_BYTES] = {0}, again[HTTP_FILE_TAG_BYTES] = "";
    test_folder_write(&folder, "index.html", PLAIN);
    set_time(&folder, "index.html", 1, 0);
    test_folder_write(&folder, "index.html.br", "X");
    test_folder_write(&folder, "index.html.gz", "X");
    check_tag(&folder, "", tags[0]);
    check_tag(&folder, "br", tags[1]);
    check_tag(&folder, "gzip", tags[2]);
    check_tag(&folder, "", again);
    CHECK_TEXT(again, tags[0]);
    // Other bytes, as many, of the same date: as a build that gives every file one date leaves
    // them.
    test_folder_write(&folder, "new", "THE PLAIN TEXT OF IT");
    set_time(&folder, "new", 1, 0);
    char from[INSIDE_BYTES];
    snprintf(from, sizeof from, "%s", inside(&folder, "new"));
    CHECK_INT(rename(from, inside(&folder, "index.html")), 0);
    check_tag(&folder, "", tags[3]);
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < i; k++) {
            CHECK(strcmp(tags[i], tags[k]) != 0);
        }
    }
    test_folder_remove(&folder);
}

TEST(types_are_of_the_plain_name)
{
    const TestFolder folder = test_folder_make();
    static const char *const names[][2] = {{"a.wasm", "application/wasm"},
                                           {"a.js", "text/javascript; charset=utf-8"},
                                           {"a.bin", "application/octet-stream"},
                                           {"a", "application/octet-stream"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[64];
        test_folder_write(&folder, names[i][0], PLAIN);
        snprintf(path, sizeof path, "%s.gz", names[i][0]);
        test_folder_write(&folder, path, "G");
        snprintf(path, sizeof path, "/%s", names[i][0]);
        HttpAccept accept = {0};
        HttpFile file;
        http_rules_accept(&accept, "gzip");
        REQUIRE(http_file_open(folder.path, path, &accept, &file) == STATUS_OK);
        CHECK_TEXT(file.content_type, names[i][1]);
        CHECK_INT(file.coding, HTTP_GZIP);
        CHECK_TEXT(file.cache, "no-cache");
        close(file.descriptor);
    }
    test_folder_remove(&folder);
}

// --- over HTTP ----------------------------------------------------------------------------------

// folder/web is served; folder/secret lies beside it.
static TestFolder served;

static void get_hello(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user, (void)request;
    response->body = (const uint8_t *)"hello";
    response->bytes = 5;
}

static HttpServer *start_with_files(void)
{
    static const char *const files[][2] = {{"secret", "secret"},
                                           {"outside/file.js", "secret"},
                                           {"web/index.html", "<p>page</p>"},
                                           {"web/assets/app-1234.js", "let x = 1"},
                                           {"web/sub/other", ""},
                                           {"web/x/assets/a.js", "other"},
                                           {"web/x/core.wasm", "wasm"},
                                           {"web/coded.js", "let plain = 1"},
                                           {"web/coded.js.br", "brotli"},
                                           {"web/coded.js.gz", "gzip"},
                                           {"web/.hidden", "secret"},
                                           {"web/.git/config", "secret"}};
    static const HttpRoute route = {"GET", "/hello", .handler = get_hello};
    static char web[INSIDE_BYTES];
    HttpServer *server = NULL;
    served = test_folder_make();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        test_folder_write(&served, files[i][0], files[i][1]);
    }
    snprintf(web, sizeof web, "%s", inside(&served, "secret"));
    CHECK_INT(symlink(web, inside(&served, "web/link.html")), 0);
    CHECK_INT(symlink("../outside", inside(&served, "web/folder")), 0);
    CHECK_INT(mkfifo(inside(&served, "web/pipe"), 0600), 0);
    snprintf(web, sizeof web, "%s", inside(&served, "web"));
    const HttpConfig config = {
        .address = "127.0.0.1", .routes = &route, .route_count = 1, .web_root = web};
    CHECK_OK(http_start(&config, &server));
    return server;
}

static void stop_with_files(HttpServer *server)
{
    http_stop(server);
    test_folder_remove(&served);
}

TEST(files_are_served)
{
    HttpServer *server = start_with_files();
    REQUIRE(server != NULL);
    CHECK_INT(get(server, "/", ""), 200);
    CHECK_TEXT(reply_body(), "<p>page</p>");
    CHECK(reply_has("Content-Type: text/html; charset=utf-8") && reply_has("no-cache"));
    check_security_headers();
    CHECK_INT(get(server, "/index.html?x=1", ""), 200);
    CHECK_INT(get(server, "/assets/app-1234.js", ""), 200);
    CHECK(reply_has("Cache-Control: public, max-age=31536000, immutable"));
    CHECK(reply_has("Content-Type: text/javascript"));
    CHECK_INT(get(server, "/x/assets/a.js", ""), 200);
    CHECK(!reply_has("immutable")); // only the folder that the build names by hash
    CHECK_INT(get(server, "/x/core.wasm", ""), 200);
    CHECK(reply_has("Content-Type: application/wasm"));
    CHECK_INT(get(server, "/x/core.wasm", "Range: bytes=1-2\r\n"), 206);
    CHECK_TEXT(reply_body(), "as");
    CHECK_INT(get(server, "/x/core.wasm", "Range: bytes=4-\r\n"), 416);
    check_error("range");
    CHECK_INT(ask(server, "HEAD /index.html HTTP/1.1\r\n", ""), 200);
    CHECK(reply_has("Content-Length: 11\r\n"));
    CHECK_TEXT(reply_body(), "");
    CHECK_INT(ask(server, "POST /index.html HTTP/1.1\r\nContent-Length: 0\r\n", ""), 404);
    CHECK_INT(get(server, "/hello", ""), 200); // routes come first
    const int before = descriptors_open();
    for (int i = 0; i < 50; i++) {
        CHECK_INT(get(server, i % 2 != 0 ? "/index.html" : "/sub/nothing", ""),
                  i % 2 != 0 ? 200 : 404);
    }
    CHECK(descriptors_fall_to(before));
    stop_with_files(server);
}

TEST(files_are_sent_coded)
{
    HttpServer *server = start_with_files();
    REQUIRE(server != NULL);
    CHECK_INT(get(server, "/coded.js", "Accept-Encoding: gzip, br\r\n"), 200);
    CHECK_TEXT(reply_body(), "brotli");
    CHECK(reply_has("Content-Encoding: br\r\n") && reply_has("Content-Length: 6\r\n"));
    CHECK(reply_has("Vary: Accept-Encoding\r\n") &&
          reply_has("text/javascript; charset=utf-8\r\n"));
    CHECK(!reply_has("Accept-Ranges") && reply_has("Cache-Control: no-cache\r\n"));
    check_security_headers();
    CHECK_INT(ask(server, "HEAD /coded.js HTTP/1.1\r\nAccept-Encoding: br;q=0, *\r\n", ""), 200);
    CHECK(reply_has("Content-Encoding: gzip\r\n") && reply_has("Content-Length: 4\r\n"));
    CHECK_TEXT(reply_body(), "");
    // Several headers are one list; what is odd in any of them is answered plainly.
    CHECK_INT(get(server, "/coded.js", "Accept-Encoding: x\r\nACCEPT-encoding: gzip\r\n"), 200);
    CHECK_TEXT(reply_body(), "gzip");
    CHECK_INT(get(server, "/coded.js", "Accept-Encoding: br\r\nAccept-Encoding: br;q=0\r\n"), 200);
    CHECK_TEXT(reply_body(), "let plain = 1");
    CHECK(!reply_has("Content-Encoding") && reply_has("Vary: Accept-Encoding\r\n"));
    CHECK_INT(get(server, "/coded.js", "Accept-Encoding: gzip;q=\xff\r\n"), 200);
    CHECK_TEXT(reply_body(), "let plain = 1");
    CHECK_INT(get(server, "/coded.js", ""), 200);
    CHECK_TEXT(reply_body(), "let plain = 1");
    CHECK(reply_has("Vary: Accept-Encoding\r\n") && reply_has("Accept-Ranges: bytes\r\n"));
    CHECK_INT(get(server, "/index.html", "Accept-Encoding: gzip, identity;q=0\r\n"), 406);
    check_error("encoding");
    CHECK_INT(get(server, "/coded.js.br", "Accept-Encoding: br\r\n"), 404);
    CHECK_INT(get(server, "/hello", "Accept-Encoding: identity;q=0\r\n"), 200); // no file
    stop_with_files(server);
}

// A range is one of the plain bytes, unless those are refused: then all of the others come.
TEST(ranges_of_coded_files)
{
    HttpServer *server = start_with_files();
    REQUIRE(server != NULL);
    CHECK_INT(get(server, "/coded.js", "Accept-Encoding: br\r\nRange: bytes=4-8\r\n"), 206);
    CHECK_TEXT(reply_body(), "plain");
    CHECK(!reply_has("Content-Encoding") && reply_has("Content-Range: bytes 4-8/13\r\n"));
    CHECK_INT(get(server, "/coded.js", "Accept-Encoding: br\r\nRange: bytes=13-\r\n"), 416);
    check_error("range");
    CHECK(reply_has("Content-Range: bytes */13\r\n") && !reply_has("ETag"));
    CHECK_INT(get(server, "/coded.js", "Accept-Encoding: br, identity;q=0\r\nRange: bytes=0-0\r\n"),
              200);
    CHECK_TEXT(reply_body(), "brotli");
    stop_with_files(server);
}

// The tag of the last answer, with its quotes.
static const char *reply_tag(void)
{
    static char tag[128];
    const char *at = strstr(reply, "ETag: ");
    const size_t bytes = at != NULL ? strcspn(at + 6, "\r") : 0;
    CHECK(bytes > 2 && bytes < sizeof tag);
    snprintf(tag, sizeof tag, "%.*s", (int)bytes, at != NULL ? at + 6 : "");
    return tag;
}

static int get_with(const HttpServer *server, const char *path, const char *format, const char *tag)
{
    char headers[512];
    const char *at = strstr(format, "TAG");
    snprintf(headers, sizeof headers, "%.*s%s%s\r\n", (int)(at - format), format, tag, at + 3);
    return get(server, path, headers);
}

TEST(what_a_client_has_is_not_sent_again)
{
    HttpServer *server = start_with_files();
    REQUIRE(server != NULL);
    char plain[128], brotli[128];
    CHECK_INT(get(server, "/coded.js", ""), 200);
    snprintf(plain, sizeof plain, "%s", reply_tag());
    CHECK_INT(get(server, "/coded.js", "Accept-Encoding: br\r\n"), 200);
    snprintf(brotli, sizeof brotli, "%s", reply_tag());
    CHECK(strcmp(plain, brotli) != 0);
    CHECK_INT(get_with(server, "/coded.js", "If-None-Match: \"x\", W/TAG", plain), 304);
    CHECK_TEXT(reply_body(), "");
    CHECK_TEXT(reply_tag(), plain);
    CHECK(reply_has("Vary: Accept-Encoding\r\n") && reply_has("Cache-Control: no-cache\r\n"));
    CHECK(!reply_has("Content-Encoding") && !reply_has("\nContent-Type") &&
          (!reply_has("Content-Length") || reply_has("Content-Length: 13\r\n")));
    CHECK_INT(get_with(server, "/coded.js", "Accept-Encoding: br\r\nIf-None-Match: TAG", brotli),
              304);
    CHECK_TEXT(reply_tag(), brotli);
    CHECK_INT(get(server, "/coded.js", "If-None-Match: *\r\nRange: bytes=99-\r\n"), 304);
    CHECK(!reply_has("Content-Range"));
    // The other form is something else.
    CHECK_INT(get_with(server, "/coded.js", "Accept-Encoding: br\r\nIf-None-Match: TAG", plain),
              200);
    CHECK_TEXT(reply_body(), "brotli");
    CHECK_INT(get_with(server, "/coded.js", "If-None-Match: TAG", brotli), 200);
    CHECK_TEXT(reply_body(), "let plain = 1");
    CHECK_INT(get_with(server, "/coded.js", "Range: bytes=0-2\r\nIf-Range: TAG", plain), 206);
    CHECK_TEXT(reply_body(), "let");
    CHECK_INT(get_with(server, "/coded.js", "Range: bytes=99-\r\nIf-Range: TAG", plain), 416);
    check_error("range");
    CHECK_INT(get_with(server, "/coded.js", "Range: bytes=0-2\r\nIf-Range: W/TAG", plain), 200);
    CHECK_INT(get_with(server, "/coded.js", "Range: bytes=0-2\r\nIf-Range: TAG", brotli), 200);
    CHECK_TEXT(reply_body(), "let plain = 1");
    // The connection goes on after an answer without a body.
    const int client = connect_to(server);
    for (int i = 0; i < 2; i++) {
        send_text(client, "GET /coded.js HTTP/1.1\r\nHost: 127.0.0.1\r\nIf-None-Match: *\r\n\r\n");
        reply_bytes = 0;
        while (strstr(reply, "\r\n\r\n") == NULL || reply_bytes == 0) {
            REQUIRE(read_more(client));
        }
        CHECK_INT(reply_status(), 304);
    }
    close(client);
    const int before = descriptors_open();
    for (int i = 0; i < 20; i++) {
        CHECK_INT(get(server, "/coded.js", "Accept-Encoding: br\r\nIf-None-Match: *\r\n"), 304);
        CHECK_INT(get(server, "/coded.js", "Accept-Encoding: br\r\nRange: bytes=99-\r\n"), 416);
        CHECK_INT(get(server, "/x/core.wasm", "Accept-Encoding: *;q=0\r\n"), 406);
        CHECK_INT(get(server, "/coded.js", "Accept-Encoding: gzip\r\n"), 200);
    }
    CHECK(descriptors_fall_to(before));
    stop_with_files(server);
}

TEST(nothing_else_is_served)
{
    static const char *const attempts[] = {"/../secret",
                                           "/%2e%2e/secret",
                                           "/%2e%2e%2fsecret",
                                           "/..%2fsecret",
                                           "/%252e%252e/secret",
                                           "/..\\secret",
                                           "/assets/../../secret",
                                           "/assets/..%2f..%2fsecret",
                                           "//secret",
                                           "/.hidden",
                                           "/%2ehidden",
                                           "/.git/config",
                                           "/./index.html",
                                           "/link.html",
                                           "/folder/file.js",
                                           "/folder/",
                                           "/pipe",
                                           "/sub",
                                           "/sub/",
                                           "/assets",
                                           "/assets/",
                                           "/index.html/",
                                           "/index.html%00.js",
                                           "/index.html%00",
                                           "/coded.js.br",
                                           "/coded.js%2egz",
                                           "/nothing",
                                           "/%ff%fe",
                                           "/etc/passwd",
                                           "http://127.0.0.1/index.html",
                                           "*"};
    HttpServer *server = start_with_files();
    REQUIRE(server != NULL);
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        const int status = get(server, attempts[i], "");
        if ((status != 404 && status != 400) || reply_has("secret\r\n") ||
            strstr(reply_body(), "secret") != NULL) {
            test_fail(__FILE__, __LINE__, "%s: %d %s", attempts[i], status, reply_body());
        }
    }
    char path[512] = "/";
    memset(path + 1, 'a', 400);
    CHECK_INT(get(server, path, ""), 404);
    stop_with_files(server);
}

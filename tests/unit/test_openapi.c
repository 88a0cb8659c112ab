// The description of the API: it is the table of routes, no more and no less, and every route
// describes itself.
#define _GNU_SOURCE
#include "server/serve/http/openapi.h"

#include "core/base/json_read.h"
#include "server/serve/http/http_routes.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t text[OPENAPI_BYTES_MAX], memory[8u << 20];

static const JsonNode *describe(const HttpRoute *routes, uint32_t count)
{
    ByteWriter out = byte_writer(text, sizeof text);
    openapi_write(routes, count, &out);
    CHECK_OK(out.status);
    Arena arena;
    arena_init(&arena, memory, sizeof memory);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    CHECK_OK(json_parse(&config, (const char *)text, out.at, &root, NULL));
    return root;
}

// "/blob/{sha256}" fits "/blob/*".
static bool fits(const char *path, const char *pattern)
{
    while (*pattern != '\0') {
        if (*pattern == '*') {
            pattern += strspn(pattern, "*");
            if (*path != '{' || strchr(path, '}') == NULL) {
                return false;
            }
            path = strchr(path, '}') + 1;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *path == '\0';
}

static bool is_described(const JsonNode *paths, const HttpRoute *route)
{
    for (const JsonNode *path = paths->first; path != NULL; path = path->next) {
        for (const JsonNode *method = path->first; method != NULL; method = method->next) {
            if (fits(path->name, route->path) && strcasecmp(method->name, route->method) == 0) {
                return true;
            }
        }
    }
    return false;
}

TEST(every_route_describes_itself)
{
    uint32_t count = 0;
    const HttpRoute *routes = serve_routes(&count);
    CHECK(count > 10);
    for (uint32_t i = 0; i < count; i++) {
        char reason[256] = "";
        if (openapi_check(&routes[i], reason, sizeof reason) != STATUS_OK) {
            CHECK_TEXT(reason, "");
        }
        CHECK(routes[i].access < ACCESS_COUNT);
        for (uint32_t other = 0; other < i; other++) { // the second would never be asked
            CHECK(strcmp(routes[i].path, routes[other].path) != 0 ||
                  strcmp(routes[i].method, routes[other].method) != 0);
        }
    }
}

TEST(the_description_is_the_table)
{
    uint32_t count = 0, described = 0;
    const HttpRoute *routes = serve_routes(&count);
    const JsonNode *paths = json_find(describe(routes, count), "paths");
    REQUIRE(paths != NULL);
    static const char *ids[512];
    for (const JsonNode *path = paths->first; path != NULL; path = path->next) {
        for (const JsonNode *method = path->first; method != NULL; method = method->next) {
            const JsonNode *id = json_find(method, "operationId");
            REQUIRE(id != NULL && described < 512);
            for (uint32_t i = 0; i < described; i++) {
                CHECK(strcmp(ids[i], id->text) != 0);
            }
            ids[described++] = id->text;
        }
    }
    CHECK_INT(described, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!is_described(paths, &routes[i])) {
            CHECK_TEXT(routes[i].path, "described");
        }
    }
}

TEST(what_a_route_says_is_what_the_description_says)
{
    const HttpRoute routes[] = {
        {"POST", "/a/*", .body_max = 100, .access = ACCESS_OPERATOR, .summary = "One.",
         .takes = "name limit?:integer", .gives = "201 token data:binary", .fails = "404 409"},
        {"GET", "/a/*", .takes = "after? limit?:integer", .gives = "text/plain", .summary = "Two."},
        {"GET", "/b/*/**", .names = "id path", .gives = "101", .summary = "Three."}};
    const JsonNode *paths = json_find(describe(routes, 3), "paths");
    const JsonNode *post = json_find(json_find(paths, "/a/{id}"), "post");
    REQUIRE(post != NULL);
    CHECK_TEXT(json_find(post, "operationId")->text, "post_a_id");
    CHECK_TEXT(json_find(post, "x-access")->text, "operator");
    const JsonNode *answers = json_find(post, "responses");
    CHECK(json_find(answers, "201") != NULL && json_find(answers, "409") != NULL);
    CHECK(json_find(answers, "413") != NULL && json_find(answers, "200") == NULL);
    CHECK(json_find(answers, "429") == NULL);
    const JsonNode *schema = json_find(
        json_find(json_find(json_find(post, "requestBody"), "content"), "application/json"),
        "schema");
    REQUIRE(schema != NULL);
    CHECK_INT(json_find(schema, "required")->count, 1);
    CHECK_TEXT(json_find(json_find(json_find(schema, "properties"), "limit"), "type")->text,
               "integer");
    const JsonNode *get = json_find(json_find(paths, "/a/{id}"), "get");
    CHECK_INT(json_find(get, "parameters")->count, 3);
    CHECK(json_find(get, "requestBody") == NULL);
    CHECK(json_find(paths, "/b/{id}/{path}") != NULL);
    CHECK(openapi_may_answer(&routes[0], 409) && !openapi_may_answer(&routes[1], 409));
}

TEST(texts_that_make_no_sense_are_found)
{
    const HttpRoute good = {
        "POST",       "/a/*",        .body_max = 1, .summary = "x", .takes = "a? b:integer",
        .gives = "c", .fails = "404"};
    char reason[256] = "";
    CHECK_OK(openapi_check(&good, reason, sizeof reason));
    HttpRoute bad[6] = {good, good, good, good, good, good};
    bad[0].summary = NULL;
    bad[1].gives = NULL;
    bad[2].takes = "a:integre";
    bad[3].takes = "a b,c";
    bad[4].fails = "404 499";
    bad[5].path = "/a/*/*";
    for (uint32_t i = 0; i < 6; i++) {
        reason[0] = '\0';
        CHECK_INT(openapi_check(&bad[i], reason, sizeof reason), STATUS_MALFORMED);
        CHECK(strstr(reason, "POST /a/*") != NULL);
    }
}

TEST(the_page_has_every_route_and_runs_nothing)
{
    uint32_t count = 0;
    const HttpRoute *routes = serve_routes(&count);
    ByteWriter out = byte_writer(text, sizeof text - 1);
    openapi_page(routes, count, &out);
    CHECK_OK(out.status);
    text[out.at] = '\0';
    uint32_t found = 0;
    for (const char *at = strstr((char *)text, "<h3>"); at != NULL; at = strstr(at + 1, "<h3>")) {
        found += 1;
    }
    CHECK_INT(found, count);
    CHECK(strstr((char *)text, "<script") == NULL);
}

// See openapi.h.
#define _GNU_SOURCE
#include "server/serve/http/openapi.h"
#include "server/serve/http/html.h"

#include "core/base/check.h"
#include "core/base/json_member.h"
#include "core/base/json_write.h"
#include "server/serve/http/access.h"
#include "server/serve/http/openapi_text.h"

#include <stdio.h>
#include <string.h>

// --- parts of a route ---------------------------------------------------------------------------

// "/world/*" with the name "id" is "/world/{id}".
static void path_text(const HttpRoute *route, char out[OPENAPI_PATH_BYTES])
{
    size_t at = 0;
    uint32_t star = 0;
    for (const char *from = route->path;
         *from != '\0' && at + OPENAPI_WORD_BYTES < OPENAPI_PATH_BYTES; from++) {
        if (*from != '*') {
            out[at++] = *from;
            continue;
        }
        char name[OPENAPI_WORD_BYTES];
        openapi_star_name(route, star++, name);
        at += (size_t)snprintf(out + at, OPENAPI_PATH_BYTES - at, "{%s}", name);
        from += from[1] == '*';
    }
    out[at] = '\0';
}

// A name for programs: "get_world_id".
static void operation_id(const HttpRoute *route, char out[OPENAPI_PATH_BYTES])
{
    char path[OPENAPI_PATH_BYTES];
    path_text(route, path);
    size_t at = 0;
    for (const char *from = route->method; *from != '\0'; from++) {
        out[at++] = (char)(*from | 0x20);
    }
    for (const char *from = path; *from != '\0' && at + 2 < OPENAPI_PATH_BYTES; from++) {
        const bool is_letter = strchr("/{}.-", *from) == NULL;
        if (is_letter) {
            out[at++] = *from;
        } else if (out[at - 1] != '_' && from[1] != '\0') {
            out[at++] = '_';
        }
    }
    out[at] = '\0';
}

// What it is about, to group the list: the first word of the path, the second behind /api.
static void tag_of(const HttpRoute *route, char out[OPENAPI_WORD_BYTES])
{
    const char *from = route->path + 1;
    from += strncmp(from, "api/", 4) == 0 ? 4 : 0;
    const size_t bytes = strcspn(from, "/.");
    snprintf(out, OPENAPI_WORD_BYTES, "%.*s", (int)bytes, from);
}

static const char *access_name(uint8_t access)
{
    static const char *const names[ACCESS_COUNT] = {
        [ACCESS_ANYONE] = "anyone",     [ACCESS_SIGNED_IN] = "signed-in",
        [ACCESS_SELF] = "self",         [ACCESS_ACCOUNT] = "account",
        [ACCESS_CREATOR] = "creator",   [ACCESS_TEACHER] = "teacher",
        [ACCESS_OPERATOR] = "operator", [ACCESS_MACHINE] = "machine",
        [ACCESS_LOCAL] = "local",       [ACCESS_HOST] = "host"};
    return access < ACCESS_COUNT && names[access] != NULL ? names[access] : "other";
}

// What the token of a tool must be for; "any", or "none" does.
static const char *scope_name(const HttpRoute *route)
{
    const uint32_t scope = serve_scope(route);
    return route->access == ACCESS_SELF || route->access == ACCESS_HOST ? "none"
           : scope == SCOPE_PLAY                                        ? "play"
           : scope == SCOPE_CREATE                                      ? "create"
           : scope == SCOPE_OPERATE                                     ? "operate"
                                                                        : "any";
}

static const char *access_text(uint8_t access)
{
    static const char *const texts[ACCESS_COUNT] = {
        [ACCESS_ANYONE] = "anyone",
        [ACCESS_SIGNED_IN] = "whoever signed in, guests too",
        [ACCESS_SELF] = "whoever signed in, guests too, but not by the token of a tool",
        [ACCESS_ACCOUNT] = "whoever has an account",
        [ACCESS_CREATOR] = "creators; in development everybody who signed in on this machine",
        [ACCESS_TEACHER] = "teachers and operators",
        [ACCESS_LOCAL] = "operators, and this machine",
        [ACCESS_OPERATOR] = "operators",
        [ACCESS_MACHINE] = "operators; in development everybody on this machine",
        [ACCESS_HOST] = "hosts on other machines, by a host key as bearer"};
    return access < ACCESS_COUNT && texts[access] != NULL ? texts[access] : "see the route";
}

static const struct {
    uint32_t status;
    const char *text;
} statuses[] = {
    {400, "the request is malformed, or a member is missing or invalid"},
    {401, "there is no valid sign-in"},
    {403, "whoever asks may not do this, or a page of another site asks"},
    {404, "there is no such thing here"},
    {405, "this address does not have that method"},
    {406, "no form of it is accepted"},
    {409, "it conflicts with what is there, or with what runs"},
    {412, "somebody else has changed it meanwhile"},
    {410, "it was there, and is used up or expired"},
    {413, "the body is larger than this address takes, or than there is room for"},
    {415, "the body is of a type that this address does not take"},
    {416, "the range begins behind the end"},
    {421, "the name in Host is not ours"},
    {422, "it was understood and cannot be done"},
    {426, "this address is for WebSockets"},
    {428, "say what you replace: If-Match or If-None-Match"},
    {429, "too many of these; try again later"},
    {500, "a bug of ours, or no memory"},
    {502, "a server that is asked on the way does not answer"},
    {503, "not now; try again later"},
    {507, "the disk is nearly full"},
};
#define STATUS_ROWS (sizeof statuses / sizeof statuses[0])

// What follows from the kind of route: every sign-in can have ended, every token can have another
// scope, every page can be another site's, every answer can find no memory.
static bool is_implied(const HttpRoute *route, uint32_t status)
{
    const bool changes = strcmp(route->method, "GET") != 0;
    switch (status) {
    case 400:
    case 401:
    case 421:
    case 500:
    case 503:
        return true;
    case 403:
        return changes || route->access > ACCESS_SIGNED_IN || serve_scope(route) != 0;
    case 413:
        return changes;
    default:
        return false;
    }
}

bool openapi_may_answer(const HttpRoute *route, uint32_t status)
{
    char number[16];
    snprintf(number, sizeof number, "%u", status);
    OpenapiWord word;
    for (const char *at = route->fails; openapi_word(&at, &word);) {
        if (strcmp(word.name, number) == 0) {
            return true;
        }
    }
    OpenapiAnswer answer = openapi_answer(route);
    return answer.status == status || is_implied(route, status);
}

// --- JSON ---------------------------------------------------------------------------------------

static void begin_object(JsonWriter *json, const char *name)
{
    json_write_name(json, name);
    json_write_object_begin(json);
}

static void schema_of_word(JsonWriter *json, const OpenapiWord *word)
{
    json_write_object_begin(json);
    if (strcmp(word->type, "binary") == 0) {
        json_member_string(json, "type", "string");
        json_member_string(json, "contentEncoding", "base64");
    } else if (strcmp(word->type, "any") != 0) {
        json_member_string(json, "type", word->type);
    }
    json_write_object_end(json);
}

static void schema_of_members(JsonWriter *json, const char *text)
{
    OpenapiWord word;
    json_write_object_begin(json);
    json_member_string(json, "type", "object");
    begin_object(json, "properties");
    for (const char *at = text; openapi_word(&at, &word);) {
        json_write_name(json, word.name);
        schema_of_word(json, &word);
    }
    json_write_object_end(json);
    json_write_name(json, "required");
    json_write_array_begin(json);
    for (const char *at = text; openapi_word(&at, &word);) {
        if (!word.is_optional) {
            json_write_text(json, word.name);
        }
    }
    json_write_array_end(json);
    json_write_object_end(json);
}

// A body of these members, or of this media type.
static void content(JsonWriter *json, const char *text)
{
    const bool is_media = openapi_is_media(text);
    begin_object(json, "content");
    begin_object(json, is_media ? text : "application/json");
    if (!is_media) {
        json_write_name(json, "schema");
        schema_of_members(json, text);
    }
    json_write_object_end(json);
    json_write_object_end(json);
}

static void parameter(JsonWriter *json, const char *where, const OpenapiWord *word, bool required)
{
    json_write_object_begin(json);
    json_member_string(json, "name", word->name);
    json_member_string(json, "in", where);
    json_write_name(json, "required");
    json_write_bool(json, required);
    json_write_name(json, "schema");
    schema_of_word(json, word);
    json_write_object_end(json);
}

static void parameters(JsonWriter *json, const HttpRoute *route)
{
    const uint32_t stars = openapi_star_count(route);
    const char *query = route->body_max == 0 ? route->takes : route->query;
    if (stars == 0 && query == NULL) {
        return;
    }
    json_write_name(json, "parameters");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < stars; i++) {
        OpenapiWord word = {.type = "string"};
        openapi_star_name(route, i, word.name);
        parameter(json, "path", &word, true);
    }
    OpenapiWord word;
    for (const char *at = query; openapi_word(&at, &word);) {
        parameter(json, "query", &word, !word.is_optional);
    }
    json_write_array_end(json);
}

static void request_body(JsonWriter *json, const HttpRoute *route)
{
    if (route->body_max == 0) {
        return;
    }
    begin_object(json, "requestBody");
    content(json, route->takes != NULL ? route->takes : "");
    json_write_name(json, "required");
    json_write_bool(json, openapi_needs_body(route));
    json_write_object_end(json);
    json_write_name(json, "x-body-max");
    json_write_integer(json, (int64_t)route->body_max);
}

static void responses(JsonWriter *json, const HttpRoute *route)
{
    const OpenapiAnswer answer = openapi_answer(route);
    char number[16];
    begin_object(json, "responses");
    snprintf(number, sizeof number, "%u", answer.status);
    begin_object(json, number);
    json_member_string(json, "description",
                       answer.status == 101 ? "it is a WebSocket from here on" : "done");
    if (answer.text[0] != '\0') {
        content(json, answer.text);
    }
    json_write_object_end(json);
    for (size_t i = 0; i < STATUS_ROWS; i++) {
        if (statuses[i].status != answer.status && openapi_may_answer(route, statuses[i].status)) {
            snprintf(number, sizeof number, "%u", statuses[i].status);
            char reference[64];
            snprintf(reference, sizeof reference, "#/components/responses/%s", number);
            begin_object(json, number);
            json_member_string(json, "$ref", reference);
            json_write_object_end(json);
        }
    }
    json_write_object_end(json);
}

static void security(JsonWriter *json, const HttpRoute *route)
{
    json_write_name(json, "security");
    json_write_array_begin(json);
    if (route->access == ACCESS_ANYONE || route->access == ACCESS_MACHINE) {
        json_write_object_begin(json); // without a sign-in
        json_write_object_end(json);
    }
    const uint32_t ways = route->access == ACCESS_HOST ? 1 : 2; // a host has no cookie
    for (uint32_t i = 0; i < ways; i++) {
        json_write_object_begin(json);
        json_write_name(json, i == 0 ? "bearer" : "cookie");
        json_write_array_begin(json);
        json_write_array_end(json);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_member_string(json, "x-access", access_name(route->access));
    json_member_string(json, "x-scope", scope_name(route));
}

static void operation(JsonWriter *json, const HttpRoute *route)
{
    char text[OPENAPI_PATH_BYTES];
    for (size_t i = 0; i <= strlen(route->method); i++) {
        text[i] = (char)(route->method[i] != '\0' ? route->method[i] | 0x20 : '\0');
    }
    begin_object(json, text);
    operation_id(route, text);
    json_member_string(json, "operationId", text);
    json_member_string(json, "summary", route->summary != NULL ? route->summary : "");
    json_write_name(json, "tags");
    json_write_array_begin(json);
    tag_of(route, text);
    json_write_text(json, text);
    json_write_array_end(json);
    parameters(json, route);
    request_body(json, route);
    responses(json, route);
    security(json, route);
    json_write_object_end(json);
}

static bool is_first_of_path(const HttpRoute *routes, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++) {
        if (strcmp(routes[i].path, routes[at].path) == 0) {
            return false;
        }
    }
    return true;
}

static void paths(JsonWriter *json, const HttpRoute *routes, uint32_t count)
{
    begin_object(json, "paths");
    for (uint32_t i = 0; i < count; i++) {
        if (!is_first_of_path(routes, i)) {
            continue;
        }
        char path[OPENAPI_PATH_BYTES];
        path_text(&routes[i], path);
        begin_object(json, path);
        for (uint32_t other = i; other < count; other++) {
            if (strcmp(routes[other].path, routes[i].path) == 0) {
                operation(json, &routes[other]);
            }
        }
        json_write_object_end(json);
    }
    json_write_object_end(json);
}

static void components(JsonWriter *json)
{
    begin_object(json, "components");
    begin_object(json, "securitySchemes");
    begin_object(json, "bearer");
    json_member_string(json, "type", "http");
    json_member_string(json, "scheme", "bearer");
    json_member_string(json, "description",
                       "session_token of POST /login, or a token of `sandlot login`");
    json_write_object_end(json);
    begin_object(json, "cookie");
    json_member_string(json, "type", "apiKey");
    json_member_string(json, "in", "cookie");
    json_member_string(json, "name", "sandlot");
    json_member_string(
        json, "description",
        "of a browser; over https its name is __Host-sandlot. What changes something also needs "
        "our own Origin and the header " ACCESS_HEADER);
    json_write_object_end(json);
    json_write_object_end(json);
    begin_object(json, "schemas");
    json_write_name(json, "Error");
    json_write_object_begin(json);
    json_member_string(json, "type", "object");
    begin_object(json, "properties");
    json_write_name(json, "error");
    schema_of_members(json, "code message");
    json_write_object_end(json);
    json_write_name(json, "required");
    json_write_array_begin(json);
    json_write_text(json, "error");
    json_write_array_end(json);
    json_write_object_end(json);
    json_write_object_end(json);
    begin_object(json, "responses");
    for (size_t i = 0; i < STATUS_ROWS; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", statuses[i].status);
        begin_object(json, number);
        json_member_string(json, "description", statuses[i].text);
        begin_object(json, "content");
        begin_object(json, "application/json");
        begin_object(json, "schema");
        json_member_string(json, "$ref", "#/components/schemas/Error");
        json_write_object_end(json);
        json_write_object_end(json);
        json_write_object_end(json);
        json_write_object_end(json);
    }
    json_write_object_end(json);
    json_write_object_end(json);
}

void openapi_write(const HttpRoute *routes, uint32_t count, ByteWriter *out)
{
    JsonWriter json = json_writer(out, 0);
    json_write_object_begin(&json);
    json_member_string(&json, "openapi", "3.1.0");
    begin_object(&json, "info");
    json_member_string(&json, "title", "Sandlot");
    json_member_string(&json, "version", SANDLOT_VERSION);
    json_member_string(
        &json, "description",
        "Errors are {\"error\":{\"code\",\"message\"}}. Members of a body that are not listed are "
        "refused; parameters are ignored. docs/HTTP.md says more.");
    json_write_object_end(&json);
    paths(&json, routes, count);
    components(&json);
    json_write_object_end(&json);
    if (json_writer_finish(&json) != STATUS_OK && out->status == STATUS_OK) {
        out->status = STATUS_MALFORMED;
    }
}

// --- the page -----------------------------------------------------------------------------------

static void put_row(ByteWriter *out, const char *what, const char *text)
{
    html_put(out, "<dt>");
    html_put(out, what);
    html_put(out, "</dt><dd>");
    html_put_escaped(out, text);
    html_put(out, "</dd>\n");
}

static void page_route(ByteWriter *out, const HttpRoute *route)
{
    char text[OPENAPI_PATH_BYTES];
    path_text(route, text);
    html_put(out, "<h3><code>");
    html_put(out, route->method);
    html_put(out, " ");
    html_put_escaped(out, text);
    html_put(out, "</code></h3>\n<p>");
    html_put_escaped(out, route->summary != NULL ? route->summary : "");
    html_put(out, "</p>\n<dl>");
    put_row(out, "who", access_text(route->access));
    if (route->takes != NULL) {
        put_row(out, route->body_max > 0 ? "body" : "query", route->takes);
    }
    if (route->query != NULL) {
        put_row(out, "query", route->query);
    }
    if (route->gives != NULL) {
        put_row(out, "answer", route->gives);
    }
    if (route->fails != NULL) {
        put_row(out, "refusals", route->fails);
    }
    html_put(out, "</dl>\n");
}

void openapi_page(const HttpRoute *routes, uint32_t count, ByteWriter *out)
{
    html_put(out,
             "<!doctype html><html lang=en><meta charset=utf-8><title>Sandlot: HTTP</title>\n"
             "<meta name=viewport content='width=device-width'><style>body{font:16px/1.5 "
             "sans-serif;max-width:50em;margin:2em auto;padding:0 1em}dt{float:left;width:6em;"
             "color:#555}dd{margin-left:6em}h3{margin-bottom:0}p{margin:.2em 0}</style>\n"
             "<h1>Sandlot over HTTP</h1>\n<p>For programs: <a href=openapi.json>openapi.json</a>. "
             "A question mark means that a member may be left out; without a type it is text. "
             "Errors are <code>{\"error\":{\"code\",\"message\"}}</code>; every address can also "
             "answer 400, 401, 421, 500 and 503.</p>\n");
    for (uint32_t i = 0; i < count; i++) {
        char tag[OPENAPI_WORD_BYTES], other[OPENAPI_WORD_BYTES];
        bool is_first = true;
        tag_of(&routes[i], tag);
        for (uint32_t before = 0; before < i && is_first; before++) {
            tag_of(&routes[before], other);
            is_first = strcmp(tag, other) != 0;
        }
        if (!is_first) {
            continue;
        }
        html_put(out, "<h2>");
        html_put_escaped(out, tag);
        html_put(out, "</h2>\n");
        for (uint32_t of = i; of < count; of++) {
            tag_of(&routes[of], other);
            if (strcmp(tag, other) == 0) {
                page_route(out, &routes[of]);
            }
        }
    }
    html_put(out, "</html>\n");
}

// --- checking -----------------------------------------------------------------------------------

static bool statuses_are_known(const char *text)
{
    OpenapiWord word;
    for (const char *at = text; openapi_word(&at, &word);) {
        bool is_known = false;
        for (size_t i = 0; i < STATUS_ROWS; i++) {
            char number[16];
            snprintf(number, sizeof number, "%u", statuses[i].status);
            is_known = is_known || strcmp(number, word.name) == 0;
        }
        if (!is_known) {
            return false;
        }
    }
    return true;
}

// A page says enough by being one.
static bool is_for_programs(const HttpRoute *route)
{
    return strcmp(route->method, "GET") != 0 || strncmp(route->path, "/api/", 5) == 0 ||
           strncmp(route->path, "/admin/", 7) == 0;
}

Status openapi_check(const HttpRoute *route, char *reason, size_t bytes)
{
    const char *wrong = NULL;
    const uint32_t stars = openapi_star_count(route);
    if (route->summary == NULL || route->summary[0] == '\0') {
        wrong = "it has no summary";
    } else if (route->gives == NULL && is_for_programs(route)) {
        wrong = "it does not say what it gives";
    } else if (!openapi_words_are_valid(route->takes) || !openapi_words_are_valid(route->query) ||
               !openapi_words_are_valid(openapi_answer(route).text)) {
        wrong = "a member of what it takes or gives is no name, or its type is unknown";
    } else if (!statuses_are_known(route->fails)) {
        wrong = "it fails with a status that has no words (openapi.c)";
    } else if (stars > 1 && openapi_name_count(route) != stars) {
        wrong = "it has several stars and not as many names";
    }
    if (wrong != NULL) {
        snprintf(reason, bytes, "%s %s: %s", route->method, route->path, wrong);
    }
    return wrong == NULL ? STATUS_OK : STATUS_MALFORMED;
}

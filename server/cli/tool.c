// See tool.h. libcurl is opened when it is first needed. Redirects are not followed, so that a
// token reaches only the server that it is for.
#define _GNU_SOURCE
#include "server/cli/tool.h"

#include "core/base/json_write.h"
#include "core/base/utf8.h"
#include "server/sys/curl_library.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define REPLY_BYTES_MAX (16u << 20)
#define TREE_BYTES      (64u << 20)
#define ANSWER_MS       90000 // a followed log answers after 30 s
#define CONNECT_MS      10000
#define SLOW_BYTES      1024 // an upload may take long, but not be slower than this for so long:
#define SLOW_S          60

int tool_fail(const Tool *client, const char *format, ...)
{
    char reason[TOOL_REASON_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return client->is_quiet ? EXIT_FAILED
                            : command_fail(client->command, client->json, EXIT_FAILED, reason);
}

// --- a request ----------------------------------------------------------------------------------

static size_t take_body(char *data, size_t one, size_t bytes, void *user)
{
    (void)one; // always 1
    Buffer *body = user;
    buffer_put(body, data, bytes);
    return body->status == STATUS_OK ? bytes : 0;
}

typedef struct Question {
    const char *method, *path;
    const void *body; // NULL: none
    size_t bytes;
    bool is_upload;      // the body is no JSON
    size_t download_max; // the answer is none, and has at most so many bytes; 0: it is JSON
    ToolProgress progress;
    void *user;
} Question;

static bool make_headers(const Tool *client, bool is_upload, struct curl_slist **list)
{
    char line[TOOL_TOKEN_BYTES + 64];
    snprintf(line, sizeof line, "Authorization: Bearer %s", client->token);
    const bool is_made = curl_add_header(list, is_upload ? "Content-Type: application/octet-stream"
                                                         : "Content-Type: application/json") &&
                         curl_add_header(list, "Expect:") &&
                         (client->token[0] == '\0' || curl_add_header(list, line));
    explicit_bzero(line, sizeof line);
    return is_made;
}

static int take_progress(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                         curl_off_t up)
{
    const Question *question = user;
    (void)down_total, (void)down;
    if (up_total > 0) {
        question->progress(question->user, (uint64_t)up, (uint64_t)up_total);
    }
    return 0;
}

static void set_body(CURL *curl, const Question *question)
{
    if (question->body != NULL) {
        curl_lib.curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)question->bytes);
        curl_lib.curl_easy_setopt(curl, CURLOPT_POSTFIELDS, question->body);
    }
    if (question->is_upload || question->download_max > 0) {
        curl_lib.curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW_BYTES);
        curl_lib.curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SLOW_S);
    } else {
        curl_lib.curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)ANSWER_MS);
    }
    if (question->progress != NULL) {
        curl_lib.curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
        curl_lib.curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, take_progress);
        curl_lib.curl_easy_setopt(curl, CURLOPT_XFERINFODATA, question);
    }
}

static CURLcode perform(const Tool *client, const Question *question, ToolReply *reply)
{
    char url[TOOL_URL_BYTES + 8192];
    struct curl_slist *headers = NULL;
    CURL *curl = curl_lib.curl_easy_init();
    CURLcode code = CURLE_OUT_OF_MEMORY;
    snprintf(url, sizeof url, "%s%s", client->url, question->path);
    if (curl != NULL && make_headers(client, question->is_upload, &headers)) {
        curl_lib.curl_easy_setopt(curl, CURLOPT_URL, url);
        curl_lib.curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_lib.curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
        curl_lib.curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
        curl_lib.curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        if (strncmp(url, "http:", 5) == 0) { // no proxy reads a token
            curl_lib.curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
        }
        curl_lib.curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
        curl_lib.curl_easy_setopt(curl, CURLOPT_USERAGENT, "sandlot");
        curl_lib.curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, question->method);
        set_body(curl, question);
        curl_lib.curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        curl_lib.curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
        curl_lib.curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply->body);
        code = curl_lib.curl_easy_perform(curl);
        curl_lib.curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->status);
    }
    curl_lib.curl_slist_free_all(headers);
    if (curl != NULL) {
        curl_lib.curl_easy_cleanup(curl);
    }
    return code;
}

static bool parse_reply(ToolReply *reply)
{
    reply->memory = malloc(TREE_BYTES);
    if (reply->memory == NULL || reply->body.bytes == 0) {
        return false;
    }
    Arena arena;
    arena_init(&arena, reply->memory, TREE_BYTES);
    JsonConfig config = json_config_default(&arena);
    return json_parse(&config, (const char *)reply->body.data, reply->body.bytes, &reply->root,
                      NULL) == STATUS_OK;
}

static int explain(const Tool *client, const ToolReply *reply)
{
    const JsonNode *error = json_find(reply->root, "error");
    const char *message = tool_text(error, "message");
    if (reply->status == 401 && strcmp(client->command, "login") != 0) {
        return tool_fail(client, "%s: not signed in, or not any more; run `sandlot login %s`",
                         client->url, client->url);
    }
    return tool_fail(client, "%s: %s (%ld %s)", client->url,
                     message[0] != '\0' ? message : "the server refused", reply->status,
                     tool_text(error, "code"));
}

static int ask(const Tool *client, const Question *question, ToolReply *reply)
{
    const size_t bytes_max = question->download_max;
    *reply = (ToolReply){.body = buffer_of(bytes_max > 0 ? bytes_max : REPLY_BYTES_MAX)};
    if (!curl_library_open()) {
        return tool_fail(client, "libcurl is not on this machine; install libcurl4");
    }
    const CURLcode code = perform(client, question, reply);
    if (code != CURLE_OK) {
        return tool_fail(client, "%s: %s", client->url, curl_lib.curl_easy_strerror(code));
    }
    if (bytes_max > 0 && reply->status >= 200 && reply->status < 300) {
        return EXIT_OK;
    }
    const bool is_json = parse_reply(reply);
    if (reply->status >= 200 && reply->status < 300 && is_json) {
        return EXIT_OK;
    }
    if (!is_json) {
        return tool_fail(client, "%s: the answer is no JSON (%ld); is this a Sandlot server?",
                         client->url, reply->status);
    }
    return explain(client, reply);
}

int tool_ask(const Tool *client, const char *method, const char *path, const char *body,
             ToolReply *reply)
{
    const Question question = {
        .method = method, .path = path, .body = body, .bytes = body != NULL ? strlen(body) : 0};
    return ask(client, &question, reply);
}

int tool_upload(const Tool *client, const char *path, const void *data, size_t bytes,
                ToolProgress progress, void *user, ToolReply *reply)
{
    const Question question = {.method = "POST",
                               .path = path,
                               .body = data,
                               .bytes = bytes,
                               .is_upload = true,
                               .progress = progress,
                               .user = user};
    return ask(client, &question, reply);
}

int tool_download(const Tool *client, const char *path, size_t bytes_max, ToolReply *reply)
{
    const Question question = {.method = "GET", .path = path, .download_max = bytes_max};
    return ask(client, &question, reply);
}

void tool_free(ToolReply *reply)
{
    buffer_free(&reply->body);
    free(reply->memory);
    *reply = (ToolReply){0};
}

// --- texts --------------------------------------------------------------------------------------

const char *tool_text(const JsonNode *object, const char *name)
{
    const JsonNode *node = json_find(object, name);
    return node != NULL && node->kind == JSON_STRING && strlen(node->text) == node->count
               ? node->text
               : "";
}

double tool_number(const JsonNode *object, const char *name)
{
    const JsonNode *node = json_find(object, name);
    return node != NULL && node->kind == JSON_NUMBER ? node->number : 0;
}

bool tool_flag(const JsonNode *object, const char *name)
{
    const JsonNode *node = json_find(object, name);
    return node != NULL && node->kind == JSON_BOOL && node->boolean;
}

void tool_escape(const char *text, char *out, size_t bytes)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
    size_t at = 0;
    for (; *text != '\0' && at + 4 < bytes; text++) {
        if (strchr(plain, *text) != NULL) {
            out[at++] = *text;
        } else {
            at += (size_t)snprintf(out + at, 4, "%%%02X", (unsigned)(uint8_t)*text);
        }
    }
    out[at] = '\0';
}

bool tool_object(char *out, size_t bytes, ...)
{
    ByteWriter writer = byte_writer(out, bytes - 1);
    JsonWriter json = json_writer(&writer, 0);
    va_list arguments;
    va_start(arguments, bytes);
    json_write_object_begin(&json);
    for (const char *name = va_arg(arguments, const char *); name != NULL;
         name = va_arg(arguments, const char *)) {
        const char *value = va_arg(arguments, const char *);
        if (value != NULL) {
            json_write_name(&json, name);
            json_write_text(&json, value);
        }
    }
    json_write_object_end(&json);
    va_end(arguments);
    const bool fits = json_writer_finish(&json) == STATUS_OK;
    out[fits ? writer.at : 0] = '\0';
    return fits;
}

// See model_http.h. Features of libcurl that are switched off: redirects, other protocols, .netrc,
// credentials in the URL, decompression. Proxies: https uses those of the environment, like the
// operator's other programs; plain http (a model in the same network) uses none, so that no proxy
// reads the key.
#define _GNU_SOURCE
#include "server/build/soul/model_http.h"

#include "server/sys/curl_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Transfer {
    const HttpAsk *ask;
    HttpReply *reply;
    size_t header_bytes;
    bool is_too_large, is_cancelled;
} Transfer;

// --- what comes back ----------------------------------------------------------------------------

static size_t take_body(char *data, size_t one, size_t bytes, void *user)
{
    Transfer *transfer = user;
    (void)one; // always 1
    buffer_put(&transfer->reply->body, data, bytes);
    if (transfer->reply->body.status != STATUS_OK) {
        transfer->is_too_large = true;
        return 0;
    }
    return bytes;
}

static size_t take_header(char *data, size_t one, size_t bytes, void *user)
{
    Transfer *transfer = user;
    (void)data;
    (void)one;
    transfer->header_bytes += bytes;
    if (transfer->header_bytes > MODEL_HEADER_BYTES_MAX) {
        transfer->is_too_large = true;
        return 0;
    }
    return bytes;
}

static int look_around(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    Transfer *transfer = user;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    const atomic_bool *cancel = transfer->ask->cancel;
    transfer->is_cancelled = cancel != NULL && atomic_load(cancel);
    return transfer->is_cancelled ? 1 : 0;
}

// --- what goes out ------------------------------------------------------------------------------

static bool is_header_text(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~') {
            return false;
        }
    }
    return strlen(text) <= 1024;
}

HttpEnd model_http_host(const char *text, char host[MODEL_HOST_BYTES])
{
    if (!curl_library_open()) {
        return HTTP_NO_LIBRARY;
    }
    CURLU *url = curl_lib.curl_url();
    bool is_good = url != NULL && curl_lib.curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK;
    if (is_good) {
        char *scheme = curl_url_part(url, CURLUPART_SCHEME),
             *name = curl_url_part(url, CURLUPART_HOST);
        char *port = curl_url_part(url, CURLUPART_PORT), *user = curl_url_part(url, CURLUPART_USER);
        is_good = scheme != NULL && name != NULL && user == NULL &&
                  (strcmp(scheme, "https") == 0 || strcmp(scheme, "http") == 0);
        if (is_good) {
            snprintf(host, MODEL_HOST_BYTES, "%.100s%s%.6s", name, port != NULL ? ":" : "",
                     port != NULL ? port : "");
        }
        curl_lib.curl_free(scheme);
        curl_lib.curl_free(name);
        curl_lib.curl_free(port);
        curl_lib.curl_free(user);
    }
    curl_lib.curl_url_cleanup(url);
    return is_good ? HTTP_ANSWERED : HTTP_BAD_URL;
}

static bool make_headers(const char *key, struct curl_slist **list)
{
    char line[1200];
    snprintf(line, sizeof line, "x-api-key: %s", key);
    const bool is_made = curl_add_header(list, line) &&
                         curl_add_header(list, "anthropic-version: 2023-06-01") &&
                         curl_add_header(list, "content-type: application/json") &&
                         curl_add_header(list, "accept: application/json") &&
                         curl_add_header(list, "Expect:"); // no round trip before the body
    explicit_bzero(line, sizeof line);
    return is_made;
}

static void set_options(CURL *curl, Transfer *transfer, const struct curl_slist *headers)
{
    const HttpAsk *ask = transfer->ask;
    const bool is_plain = strncmp(ask->url, "http:", 5) == 0;
    curl_lib.curl_easy_setopt(curl, CURLOPT_URL, ask->url);
    curl_lib.curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_lib.curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    if (is_plain) {
        curl_lib.curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    }
    curl_lib.curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)MODEL_CONNECT_MS);
    curl_lib.curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)ask->timeout_ms);
    curl_lib.curl_easy_setopt(curl, CURLOPT_MAXFILESIZE, (long)MODEL_REPLY_BYTES_MAX);
    curl_lib.curl_easy_setopt(curl, CURLOPT_USERAGENT, "sandlot");
    curl_lib.curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_lib.curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)ask->body_bytes);
    curl_lib.curl_easy_setopt(curl, CURLOPT_POSTFIELDS, ask->body); // and so a POST
    curl_lib.curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_lib.curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    curl_lib.curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_lib.curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
    curl_lib.curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_around);
    curl_lib.curl_easy_setopt(curl, CURLOPT_XFERINFODATA, transfer);
}

static HttpEnd end_of(const Transfer *transfer, CURLcode code)
{
    if (transfer->is_cancelled) {
        return HTTP_CANCELLED;
    }
    if (transfer->is_too_large || code == CURLE_FILESIZE_EXCEEDED) {
        return HTTP_TOO_LARGE;
    }
    switch (code) {
    case CURLE_OK:
        return HTTP_ANSWERED;
    case CURLE_OPERATION_TIMEDOUT:
        return HTTP_SLOW;
    case CURLE_OUT_OF_MEMORY:
    case CURLE_FAILED_INIT:
        return HTTP_OUT_OF_LUCK;
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL: // an answer in HTTP/0.9
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return HTTP_CUT;
    default:
        return HTTP_UNREACHED;
    }
}

static void read_facts(CURL *curl, HttpReply *reply)
{
    static const char json[] = "application/json";
    curl_lib.curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->status);
    const char *type = NULL;
    curl_lib.curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
    reply->is_json = type != NULL && strncasecmp(type, json, sizeof json - 1) == 0 &&
                     strchr("; \t", type[sizeof json - 1]) != NULL; // its end counts as found
    curl_off_t seconds = 0;
    curl_lib.curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds);
    const curl_off_t week = 7 * 24 * 3600;
    seconds = seconds < 0 ? 0 : seconds > week ? week : seconds;
    reply->retry_after_ms = (uint64_t)seconds * 1000;
}

HttpEnd model_http_post(const HttpAsk *ask, HttpReply *reply)
{
    *reply = (HttpReply){.body = buffer_of(MODEL_REPLY_BYTES_MAX)};
    char host[MODEL_HOST_BYTES];
    const HttpEnd known = model_http_host(ask->url, host);
    if (known != HTTP_ANSWERED) {
        return known;
    }
    if (!is_header_text(ask->key)) {
        return HTTP_BAD_KEY;
    }
    Transfer transfer = {.ask = ask, .reply = reply};
    struct curl_slist *headers = NULL;
    CURL *curl = curl_lib.curl_easy_init();
    HttpEnd end = HTTP_OUT_OF_LUCK;
    if (curl != NULL && make_headers(ask->key, &headers)) {
        set_options(curl, &transfer, headers);
        const CURLcode code = curl_lib.curl_easy_perform(curl);
        end = end_of(&transfer, code);
        snprintf(reply->problem, sizeof reply->problem, "%s", curl_lib.curl_easy_strerror(code));
        read_facts(curl, reply);
    }
    curl_lib.curl_slist_free_all(headers);
    curl_lib.curl_easy_cleanup(curl);
    return end;
}

void http_reply_free(HttpReply *reply)
{
    buffer_free(&reply->body);
}

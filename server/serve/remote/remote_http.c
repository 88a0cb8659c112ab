// See remote_http.h.
#define _GNU_SOURCE
#include "server/serve/remote/remote_http.h"

#include "server/build/base/buffer.h"
#include "server/sys/curl_library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_MS  3000
#define SILENCE_S   5   // no byte for so long: it is not there
#define TOTAL_S     300 // a large place over a slow line
#define URL_BYTES   1024
#define HEADERS_MAX (64u << 10)

struct RemoteHttp {
    CURL *curl;
    char url[URL_BYTES]; // without a slash at its end
    char bearer[256];
    const atomic_bool *cancel;
    Buffer body;
    size_t header_bytes;
};

// --- the connection -----------------------------------------------------------------------------

static bool is_header_text(const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~') {
            return false;
        }
    }
    return text[0] != '\0' && strlen(text) < 200;
}

static size_t take_body(char *data, size_t one, size_t bytes, void *user)
{
    RemoteHttp *http = user;
    (void)one; // always 1
    buffer_put(&http->body, data, bytes);
    return http->body.status == STATUS_OK ? bytes : 0;
}

static size_t take_header(char *data, size_t one, size_t bytes, void *user)
{
    RemoteHttp *http = user;
    (void)data, (void)one;
    http->header_bytes += bytes;
    return http->header_bytes <= HEADERS_MAX ? bytes : 0;
}

static int look_around(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const RemoteHttp *http = user;
    (void)a, (void)b, (void)c, (void)d;
    return http->cancel != NULL && atomic_load(http->cancel) ? 1 : 0;
}

static void set_options(RemoteHttp *http)
{
    CURL *curl = http->curl;
    curl_lib.curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_lib.curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_lib.curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_lib.curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_lib.curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TOTAL_S);
    curl_lib.curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_S);
    curl_lib.curl_easy_setopt(curl, CURLOPT_USERAGENT, "sandlot");
    curl_lib.curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_lib.curl_easy_setopt(curl, CURLOPT_WRITEDATA, http);
    curl_lib.curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_lib.curl_easy_setopt(curl, CURLOPT_HEADERDATA, http);
    curl_lib.curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_around);
    curl_lib.curl_easy_setopt(curl, CURLOPT_XFERINFODATA, http);
}

Status remote_http_create(const char *url, const char *key, const atomic_bool *cancel,
                          RemoteHttp **out)
{
    size_t bytes = strlen(url);
    const bool is_web = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
    while (bytes > 0 && url[bytes - 1] == '/') {
        bytes -= 1;
    }
    if (!is_web || bytes < 8 || bytes > 512 || (key != NULL && !is_header_text(key))) {
        return STATUS_RANGE;
    }
    if (!curl_library_open()) {
        return STATUS_NOT_FOUND;
    }
    RemoteHttp *http = calloc(1, sizeof *http);
    CURL *curl = curl_lib.curl_easy_init();
    if (http == NULL || curl == NULL) {
        curl_lib.curl_easy_cleanup(curl);
        free(http);
        return STATUS_LIMIT;
    }
    http->curl = curl;
    http->cancel = cancel;
    memcpy(http->url, url, bytes);
    if (key != NULL) {
        snprintf(http->bearer, sizeof http->bearer, "Authorization: Bearer %s", key);
    }
    set_options(http);
    *out = http;
    return STATUS_OK;
}

void remote_http_set_limits(RemoteHttp *http, uint32_t connect_ms, uint32_t total_ms)
{
    curl_lib.curl_easy_setopt(http->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    curl_lib.curl_easy_setopt(http->curl, CURLOPT_TIMEOUT_MS, (long)total_ms);
    curl_lib.curl_easy_setopt(http->curl, CURLOPT_LOW_SPEED_TIME, (long)(total_ms / 1000 + 1));
}

void remote_http_destroy(RemoteHttp *http)
{
    if (http != NULL) {
        curl_lib.curl_easy_cleanup(http->curl);
        explicit_bzero(http->bearer, sizeof http->bearer);
        free(http);
    }
}

// --- a request ----------------------------------------------------------------------------------

static RemoteHttpEnd end_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return REMOTE_HTTP_ANSWERED;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CONNECT_ERROR:
        return REMOTE_HTTP_UNSENT;
    default:
        return REMOTE_HTTP_CUT;
    }
}

RemoteHttpReply remote_http_ask(RemoteHttp *http, const char *path, const char *content_type,
                                const void *body, size_t bytes, size_t reply_bytes_max)
{
    RemoteHttpReply reply = {.end = REMOTE_HTTP_UNSENT};
    char url[URL_BYTES], type[128];
    struct curl_slist *headers = NULL;
    const int length = snprintf(url, sizeof url, "%s%s", http->url, path);
    snprintf(type, sizeof type, "Content-Type: %s", content_type != NULL ? content_type : "");
    if (length < 0 || (size_t)length >= sizeof url ||
        (http->bearer[0] != '\0' && !curl_add_header(&headers, http->bearer)) ||
        !curl_add_header(&headers, "Expect:") || // no round trip before the body
        (body != NULL && !curl_add_header(&headers, type))) {
        snprintf(reply.problem, sizeof reply.problem, "the address is too long");
        curl_lib.curl_slist_free_all(headers);
        return reply;
    }
    http->body = buffer_of(reply_bytes_max);
    http->header_bytes = 0;
    curl_lib.curl_easy_setopt(http->curl, CURLOPT_URL, url);
    curl_lib.curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
    if (body != NULL) {
        curl_lib.curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes);
        curl_lib.curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, body); // and so a POST
    } else {
        curl_lib.curl_easy_setopt(http->curl, CURLOPT_HTTPGET, 1L);
    }
    const CURLcode code = curl_lib.curl_easy_perform(http->curl);
    reply.end = end_of(code);
    curl_lib.curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &reply.status);
    long number = 0;
    curl_lib.curl_easy_getinfo(http->curl, CURLINFO_OS_ERRNO, &number);
    reply.is_refused = code == CURLE_COULDNT_CONNECT && number == ECONNREFUSED;
    snprintf(reply.problem, sizeof reply.problem, "%s", curl_lib.curl_easy_strerror(code));
    curl_lib.curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, NULL);
    curl_lib.curl_slist_free_all(headers);
    if (reply.end == REMOTE_HTTP_ANSWERED) {
        reply.body = http->body.data;
        reply.bytes = http->body.bytes;
    } else {
        buffer_free(&http->body);
    }
    http->body = (Buffer){0};
    return reply;
}

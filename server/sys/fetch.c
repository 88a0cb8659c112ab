// See fetch.h. Switched off: redirects, other protocols, .netrc, credentials in the address.
// Proxies: https uses those of the environment, plain http none.
#define _GNU_SOURCE
#include "server/sys/fetch.h"

#include "server/sys/curl_library.h"
#include "server/sys/loopback.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define STILL_S 20

typedef struct Transfer {
    const FetchAsk *ask;
    FetchReply *reply;
    CURL *curl;
    size_t capacity, head_bytes;
    uint64_t sent;
    bool has_failed; // our own disk or memory
} Transfer;

static bool may_ask(const char *text, bool any_http)
{
    CURLU *url = curl_library_open() ? curl_lib.curl_url() : NULL;
    if (url == NULL) {
        return false;
    }
    bool is_good = curl_lib.curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK;
    if (is_good) {
        char *scheme = curl_url_part(url, CURLUPART_SCHEME),
             *host = curl_url_part(url, CURLUPART_HOST);
        char *user = curl_url_part(url, CURLUPART_USER);
        is_good =
            scheme != NULL && host != NULL && user == NULL &&
            (strcmp(scheme, "https") == 0 ||
             (strcmp(scheme, "http") == 0 && (any_http || host_is_loopback(host, strlen(host)))));
        curl_lib.curl_free(scheme);
        curl_lib.curl_free(host);
        curl_lib.curl_free(user);
    }
    curl_lib.curl_url_cleanup(url);
    return is_good;
}

bool fetch_url_is_allowed(const char *url)
{
    return may_ask(url, false);
}

// --- what comes back ----------------------------------------------------------------------------

static bool keep_bytes(Transfer *transfer, const char *data, size_t bytes)
{
    FetchReply *reply = transfer->reply;
    if (reply->bytes + bytes + 1 > transfer->capacity) {
        const size_t capacity = 2 * transfer->capacity + bytes + 1024;
        char *more = realloc(reply->body, capacity);
        if (more == NULL) {
            return false;
        }
        reply->body = more;
        transfer->capacity = capacity;
    }
    memcpy(reply->body + reply->bytes, data, bytes);
    reply->body[reply->bytes + bytes] = '\0';
    return true;
}

static bool write_all(int file, const char *data, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t count = write(file, data, bytes);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        data += count;
        bytes -= (size_t)count;
    }
    return true;
}

static size_t take_body(char *data, size_t one, size_t bytes, void *user)
{
    Transfer *transfer = user;
    FetchReply *reply = transfer->reply;
    long status = 0;
    (void)one; // always 1
    if (reply->bytes + bytes > transfer->ask->reply_bytes_max) {
        reply->is_too_large = true;
        return 0;
    }
    curl_lib.curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
    const bool to_file = transfer->ask->to_file && status / 100 == 2;
    transfer->has_failed = !(to_file ? write_all(transfer->ask->reply_file, data, bytes)
                                     : keep_bytes(transfer, data, bytes));
    reply->bytes += bytes;
    return transfer->has_failed ? 0 : bytes;
}

static size_t take_head(char *data, size_t one, size_t bytes, void *user)
{
    Transfer *transfer = user;
    (void)data;
    (void)one;
    transfer->head_bytes += bytes;
    if (transfer->head_bytes > FETCH_HEAD_BYTES_MAX) {
        transfer->reply->is_too_large = true;
        return 0;
    }
    return bytes;
}

// --- what goes out ------------------------------------------------------------------------------

static size_t give_body(char *to, size_t one, size_t bytes, void *user)
{
    Transfer *transfer = user;
    const uint64_t left = transfer->ask->body_bytes - transfer->sent;
    const size_t room = one * bytes;
    const size_t want = left < room ? (size_t)left : room;
    const ssize_t count =
        want > 0 ? pread(transfer->ask->body_file, to, want, (off_t)transfer->sent) : 0;
    if (count < 0 || (count == 0 && want > 0)) {
        transfer->has_failed = true;
        return CURL_READFUNC_ABORT;
    }
    transfer->sent += (uint64_t)count;
    return (size_t)count;
}

static int seek_body(void *user, curl_off_t offset, int origin)
{
    Transfer *transfer = user;
    if (origin != SEEK_SET || offset < 0) {
        return CURL_SEEKFUNC_CANTSEEK;
    }
    transfer->sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

static void set_body(CURL *curl, Transfer *transfer)
{
    const FetchAsk *ask = transfer->ask;
    if (ask->body != NULL) {
        curl_lib.curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)ask->body_bytes);
        curl_lib.curl_easy_setopt(curl, CURLOPT_POSTFIELDS, ask->body);
    } else if (ask->body_bytes > 0 || strcmp(ask->method, "PUT") == 0) {
        curl_lib.curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        curl_lib.curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)ask->body_bytes);
        curl_lib.curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_body);
        curl_lib.curl_easy_setopt(curl, CURLOPT_READDATA, transfer);
        curl_lib.curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek_body);
        curl_lib.curl_easy_setopt(curl, CURLOPT_SEEKDATA, transfer);
    }
    if (strcmp(ask->method, "HEAD") == 0) {
        curl_lib.curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    } else {
        curl_lib.curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, ask->method);
    }
}

static void set_options(CURL *curl, Transfer *transfer, struct curl_slist *headers)
{
    const FetchAsk *ask = transfer->ask;
    curl_lib.curl_easy_setopt(curl, CURLOPT_URL, ask->url);
    curl_lib.curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_lib.curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    if (strncmp(ask->url, "http:", 5) == 0) {
        curl_lib.curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    }
    curl_lib.curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)FETCH_CONNECT_MS);
    if (ask->timeout_ms > 0) {
        curl_lib.curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)ask->timeout_ms);
    }
    curl_lib.curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STILL_S);
    curl_lib.curl_easy_setopt(curl, CURLOPT_FILETIME, 1L);
    curl_lib.curl_easy_setopt(curl, CURLOPT_USERAGENT, "sandlot");
    curl_lib.curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_lib.curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_lib.curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    curl_lib.curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_head);
    curl_lib.curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
    if (ask->sigv4 != NULL) {
        curl_lib.curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, ask->sigv4);
        curl_lib.curl_easy_setopt(curl, CURLOPT_USERPWD, ask->user_password);
    }
    set_body(curl, transfer);
}

static bool make_headers(const FetchAsk *ask, struct curl_slist **list)
{
    const char *lines[FETCH_HEADERS_MAX + 2] = {"Expect:"}; // no round trip before the body
    memcpy(lines + 1, ask->headers, sizeof ask->headers);
    // libcurl 7.88 signs a header that is only there to be left out.
    for (uint32_t i = ask->sigv4 != NULL ? 1 : 0; lines[i] != NULL; i++) {
        struct curl_slist *more = curl_lib.curl_slist_append(*list, lines[i]);
        if (more == NULL) {
            return false;
        }
        *list = more;
    }
    return true;
}

Status fetch(const FetchAsk *ask, FetchReply *reply)
{
    *reply = (FetchReply){0};
    if (!curl_library_open()) {
        snprintf(reply->problem, sizeof reply->problem, "libcurl is not on this machine");
        return STATUS_NOT_FOUND;
    }
    if (!may_ask(ask->url, ask->any_http)) {
        snprintf(reply->problem, sizeof reply->problem, "only https is asked");
        return STATUS_RANGE;
    }
    struct curl_slist *headers = NULL;
    CURL *curl = curl_lib.curl_easy_init();
    Transfer transfer = {.ask = ask, .reply = reply, .curl = curl};
    Status status = STATUS_LIMIT;
    if (curl != NULL && make_headers(ask, &headers)) {
        set_options(curl, &transfer, headers);
        const CURLcode code = curl_lib.curl_easy_perform(curl);
        curl_off_t length = -1;
        curl_lib.curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->status);
        curl_lib.curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        reply->length = length > 0 ? (uint64_t)length : 0;
        curl_off_t modified = -1;
        curl_lib.curl_easy_getinfo(curl, CURLINFO_FILETIME_T, &modified);
        reply->modified_unix_s = modified > 0 ? (uint64_t)modified : 0;
        status = code == CURLE_OK                             ? STATUS_OK
                 : reply->is_too_large || transfer.has_failed ? STATUS_LIMIT
                                                              : STATUS_BLOCKED;
        snprintf(reply->problem, sizeof reply->problem, "%s",
                 reply->is_too_large ? "the answer is too large"
                                     : curl_lib.curl_easy_strerror(code));
    }
    curl_lib.curl_slist_free_all(headers);
    curl_lib.curl_easy_cleanup(curl);
    if (status != STATUS_OK) {
        reply->status = 0;
    }
    return status;
}

void fetch_reply_free(FetchReply *reply)
{
    free(reply->body);
    *reply = (FetchReply){0};
}

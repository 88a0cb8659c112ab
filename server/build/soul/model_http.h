// One POST to the language model's server, by libcurl. Only the operator sets the address; no
// redirect is followed, nothing is decompressed, and time, size and headers of the answer are
// limited. The key is sent to that server only.
#pragma once

#include "server/build/base/buffer.h"
#include "server/build/soul/model_answer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MODEL_HEADER_BYTES_MAX (64u << 10)
#define MODEL_CONNECT_MS       10000
#define MODEL_HOST_BYTES       128

typedef enum HttpEnd {
    HTTP_ANSWERED,   // with any status
    HTTP_BAD_URL,    // not https or http, or with a name and password in it
    HTTP_BAD_KEY,    // not valid in a header
    HTTP_UNREACHED,  // no such host, connection refused, certificate not trusted
    HTTP_CUT,        // the connection ended early, or the answer is not HTTP
    HTTP_SLOW,       // timeout
    HTTP_TOO_LARGE,  // the answer
    HTTP_CANCELLED,  // by the caller
    HTTP_NO_LIBRARY, // libcurl is not on this machine
    HTTP_OUT_OF_LUCK // out of memory, or an error of libcurl
} HttpEnd;

typedef struct HttpAsk {
    const char *url, *key;
    const void *body; // JSON
    size_t body_bytes;
    uint64_t timeout_ms;
    const atomic_bool *cancel; // looked at about once a second; may be NULL
} HttpAsk;

typedef struct HttpReply {
    long status;
    Buffer body; // free with http_reply_free
    bool is_json;
    uint64_t retry_after_ms; // 0: not given
    char problem[128];       // of HTTP_UNREACHED and HTTP_CUT, for people
} HttpReply;

// *reply must be freed in every case.
HttpEnd model_http_post(const HttpAsk *ask, HttpReply *reply);
void http_reply_free(HttpReply *reply);
// "host:port" for messages: no path, no query, no user name. HTTP_BAD_URL: it cannot be used;
// HTTP_NO_LIBRARY; otherwise HTTP_ANSWERED.
HttpEnd model_http_host(const char *url, char host[MODEL_HOST_BYTES]);

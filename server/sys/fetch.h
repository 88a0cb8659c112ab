// A request of ours to another server, by libcurl: an issuer of identities, a store of blobs. For
// threads that may block. Addresses are the operator's or came from a server that the operator
// named; all the same everything is bounded: time, headers, the body. Redirects are not followed.
// Only https, and http to this machine itself.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FETCH_HEADERS_MAX    8
#define FETCH_PROBLEM_BYTES  128
#define FETCH_CONNECT_MS     5000
#define FETCH_HEAD_BYTES_MAX (32u << 10)

typedef struct FetchAsk {
    const char *method; // "GET", "HEAD", "PUT", "POST", "DELETE"
    const char *url;
    const char *headers[FETCH_HEADERS_MAX + 1]; // "Name: value"; ends with NULL
    // What is sent: bytes, or so many bytes of a file from its begin on.
    const char *body;
    int body_file; // used if body is NULL and body_bytes > 0
    uint64_t body_bytes;
    // What comes back: into memory, or (of a 2xx) into this file.
    bool to_file;
    int reply_file;
    uint64_t reply_bytes_max;
    uint32_t timeout_ms; // for all of it; 0: none, but it must not stand still for 20 s
    // For S3: "aws:amz:region:s3" and "key:secret"; NULL: not signed.
    const char *sigv4, *user_password;
    bool any_http; // plain http to other machines too: a store of blobs in the same network
} FetchAsk;

typedef struct FetchReply {
    long status;              // of HTTP; 0: there was no answer
    char *body;               // terminated; NULL: none, or it is in the file
    size_t bytes;             // of the body, in memory or in the file
    uint64_t length;          // Content-Length, for HEAD
    uint64_t modified_unix_s; // Last-Modified; 0: unknown
    bool is_too_large;
    char problem[FETCH_PROBLEM_BYTES]; // why there was no answer, for people
} FetchReply;

// STATUS_OK: there is an answer, whatever its status. STATUS_RANGE: the address may not be asked.
// STATUS_BLOCKED: no answer. STATUS_LIMIT: the answer is too large, or no memory. STATUS_NOT_FOUND:
// libcurl is missing.
MUST_USE Status fetch(const FetchAsk *ask, FetchReply *reply);
void fetch_reply_free(FetchReply *reply);
// May such an address be asked (see above)? Without user, query or fragment it is also fit to be a
// setting.
bool fetch_url_is_allowed(const char *url);

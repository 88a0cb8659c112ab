// A host's requests to its control plane, by libcurl, over one connection that is kept. The
// operator sets the address; no redirect is followed, so the host key goes to that server alone.
// One thread at a time.
#pragma once

#include "core/base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RemoteHttp RemoteHttp;

typedef enum RemoteHttpEnd {
    REMOTE_HTTP_ANSWERED, // with any status
    REMOTE_HTTP_UNSENT,   // it was not reached: no such host, connection refused
    REMOTE_HTTP_CUT       // the request may have arrived, but there is no whole answer
} RemoteHttpEnd;

typedef struct RemoteHttpReply {
    RemoteHttpEnd end;
    long status;
    uint8_t *body; // from malloc, the caller's
    size_t bytes;
    char problem[160]; // if there is no answer, for people
    bool is_refused;   // of REMOTE_HTTP_UNSENT: nobody listens there
} RemoteHttpReply;

// STATUS_RANGE: no http or https address, or a key that is not valid in a header. STATUS_NOT_FOUND:
// libcurl is not on this machine. Without a key (NULL) none is sent. What the arguments point to is
// copied, but cancel.
MUST_USE Status remote_http_create(const char *url, const char *key, const atomic_bool *cancel,
                                   RemoteHttp **out);
// How long it may take to connect, and in all.
void remote_http_set_limits(RemoteHttp *http, uint32_t connect_ms, uint32_t total_ms);
void remote_http_destroy(RemoteHttp *http); // NULL is allowed

// GET, or POST if there is a body. The path begins with a slash.
RemoteHttpReply remote_http_ask(RemoteHttp *http, const char *path, const char *content_type,
                                const void *body, size_t bytes, size_t reply_bytes_max);

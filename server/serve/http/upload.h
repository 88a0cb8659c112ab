// Bodies that are too large for memory: they go into a file without a name in the data folder as
// they come, which the page cache takes, and are mapped when they are whole.
#pragma once

#include "server/net/http.h"

#define SERVE_UPLOADS_MAX 16 // at once; the pool has two threads

typedef struct ServeUpload ServeUpload;

// For HttpRoute.body_taker.
extern const HttpBody serve_upload_body;
// In the handler: the whole body, until serve_upload_end. NULL: there is none, with 0 bytes.
ServeUpload *serve_upload_take(HttpRequest *request, const void **data, size_t *bytes);
void serve_upload_end(ServeUpload *upload); // NULL is allowed
// A file without a name in the data folder; -1: it cannot be made.
int serve_nameless_file(const void *serve);

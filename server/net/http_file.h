// Files of the web root, for http.c: which bytes a path means to a client. Nothing is coded here:
// a file that the page's build (web/compress.mjs) coded has `name.br` and `name.gz` beside it, and
// whoever accepts that gets it in place of `name`, as the same file. So neither a request nor a
// start costs more than opening a file, and a folder without them is served as it is.
#pragma once

#include "core/base/status.h"
#include "server/net/http_rules.h"

#define HTTP_FILE_TAG_BYTES 64

typedef struct HttpFile {
    int descriptor; // the caller's to close
    uint64_t bytes;
    HttpCoding coding;
    const char *content_type, *cache;
    char tag[HTTP_FILE_TAG_BYTES]; // ETag, another one for each coding
} HttpFile;

// Paths are strangers', and nothing outside the root is reached, by links neither. NOT_FOUND: there
// is no such file, or it is only a coded form of another. UNSUPPORTED: not in a coding that the
// client reads.
MUST_USE Status http_file_open(const char *root, const char *path, const HttpAccept *accept,
                               HttpFile *out);

// libcurl, opened when it is first needed (library.h), once for the process. Calls are written
// curl_lib.curl_easy_init(), after curl_library_open said that it is there.
#pragma once

#include "server/sys/library.h"

#define CURL_DISABLE_TYPECHECK // its macros would call the functions by name
#include <curl/curl.h>
#include <stdbool.h>

#define CURL_FUNCTIONS(X)  \
    X(curl_global_init)    \
    X(curl_url)            \
    X(curl_url_get)        \
    X(curl_url_set)        \
    X(curl_url_cleanup)    \
    X(curl_free)           \
    X(curl_slist_append)   \
    X(curl_slist_free_all) \
    X(curl_easy_init)      \
    X(curl_easy_setopt)    \
    X(curl_easy_getinfo)   \
    X(curl_easy_perform)   \
    X(curl_easy_strerror)  \
    X(curl_easy_cleanup)

typedef struct CurlLibrary {
    CURL_FUNCTIONS(LIBRARY_FIELD)
} CurlLibrary;
extern CurlLibrary curl_lib;

// False: it is not on this machine. From any thread.
bool curl_library_open(void);

// A part of an address, to be freed with curl_free; NULL: it has none.
char *curl_url_part(CURLU *url, CURLUPart part);

// Appends a header; false: there is no memory, and the list is as it was.
bool curl_add_header(struct curl_slist **list, const char *line);

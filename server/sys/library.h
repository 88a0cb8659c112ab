// Shared libraries that are opened when they are first needed. Linked in the usual way, libcurl and
// libarchive bring some thirty others along, and every world, worker and host would start three
// times as slowly for what few of them ever use. A list of the functions gives a struct of pointers
// with their real types, so that calls are checked as always:
//
// curl_library.h is an example:
//
//   #define CURL_FUNCTIONS(X) X(curl_easy_init) X(curl_easy_perform)
//   static struct { CURL_FUNCTIONS(LIBRARY_FIELD) } curl;
//   library_open("libcurl.so.4", (LibraryFunction[]){CURL_FUNCTIONS(LIBRARY_ROW)}, …)
#pragma once

#include "core/base/status.h"

#include <stddef.h>

typedef struct LibraryFunction {
    const char *name;
    void *pointer; // to the function pointer that is filled in
} LibraryFunction;

#define LIBRARY_FIELD(function) __typeof__(&(function)) function;

// Loads all functions or none. STATUS_NOT_FOUND: the library, or a function in it, is missing on
// this machine. It stays loaded for the life of the process.
MUST_USE Status library_open(const char *name, const LibraryFunction *functions, size_t count);

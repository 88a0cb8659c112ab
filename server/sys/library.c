// See library.h.
#define _GNU_SOURCE
#include "server/sys/library.h"

#include <dlfcn.h>
#include <string.h>

Status library_open(const char *name, const LibraryFunction *functions, size_t count)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return STATUS_NOT_FOUND;
    }
    for (size_t i = 0; i < count; i++) {
        if (dlsym(library, functions[i].name) == NULL) {
            dlclose(library);
            return STATUS_NOT_FOUND;
        }
    }
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, functions[i].name);
        memcpy(functions[i].pointer, &found, sizeof found);
    }
    return STATUS_OK;
}

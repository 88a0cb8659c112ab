// See program.h.
#define _GNU_SOURCE
#include "server/sys/program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool find_program(char out[PROGRAM_PATH_BYTES])
{
    const ssize_t bytes = readlink("/proc/self/exe", out, PROGRAM_PATH_BYTES - 1);
    if (bytes <= 0) {
        return false;
    }
    out[bytes] = '\0';
    return true;
}

// Removes the last part; false if nothing is left.
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path) {
        return false;
    }
    *slash = '\0';
    return true;
}

static bool is_called(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && strcmp(slash + 1, name) == 0;
}

bool program_source_root(char out[PROGRAM_PATH_BYTES])
{
    if (!find_program(out)) {
        return false;
    }
    while (go_up(out) && !is_called(out, "build")) {
    }
    return is_called(out, "build") && go_up(out);
}

bool program_prefix(char out[PROGRAM_PATH_BYTES])
{
    return find_program(out) && go_up(out) && is_called(out, "bin") && go_up(out);
}

// Adds `folder` to the path, if `name` can be read there.
static bool enter(char path[PROGRAM_PATH_BYTES], const char *folder, const char *name)
{
    char file[PROGRAM_PATH_BYTES];
    const size_t bytes = strlen(path);
    const int whole = snprintf(path + bytes, PROGRAM_PATH_BYTES - bytes, "/%s", folder);
    if (whole < 0 || (size_t)whole >= PROGRAM_PATH_BYTES - bytes) {
        return false;
    }
    const int length = snprintf(file, sizeof file, "%s/%s", path, name);
    return length > 0 && (size_t)length < sizeof file && access(file, R_OK) == 0;
}

bool program_folder(const char *in_tree, const char *shared, const char *name,
                    char out[PROGRAM_PATH_BYTES])
{
    // A folder "bin" in a source tree's build is not an installation.
    return (program_prefix(out) && enter(out, shared, name)) ||
           (program_source_root(out) && enter(out, in_tree, name));
}

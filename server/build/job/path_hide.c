// See path_hide.h.
#include "server/build/job/path_hide.h"

#include <stdbool.h>
#include <string.h>

// Whether a name can end before this character, or begin after it.
static bool is_mark(char c)
{
    return c == '\0' || strchr(" \t\n\"'`()[]{}<>=:;,", c) != NULL;
}

static bool begins(char before, const char *at)
{
    return is_mark(before) && at[0] == '/' && at[1] != '/' && !is_mark(at[1]);
}

// The offset behind the last slash of a path that has a name behind it.
static size_t last_name(const char *path, size_t bytes)
{
    size_t name = 0;
    for (size_t i = 0; i + 1 < bytes; i++) {
        name = path[i] == '/' && path[i + 1] != '/' ? i + 1 : name;
    }
    return name;
}

void path_hide_folder(char *text, const char *folder, size_t bytes)
{
    while (bytes > 1 && folder[bytes - 1] == '/') {
        bytes -= 1;
    }
    const size_t name = last_name(folder, bytes);
    char *out = text, before = '\0';
    for (const char *at = text; *at != '\0';) {
        if (name > 0 && is_mark(before) && strncmp(at, folder, bytes) == 0 &&
            (at[bytes] == '/' || is_mark(at[bytes]))) {
            memcpy(out, folder + name, bytes - name);
            out += bytes - name;
            at += bytes;
            before = 'x';
        } else {
            before = *at++;
            *out++ = before;
        }
    }
    *out = '\0';
}

// How far a path may reach: up to a mark; spaces may be in names, and a dot may end a sentence.
static size_t reach(const char *path)
{
    size_t bytes = 0;
    while (path[bytes] == ' ' || !is_mark(path[bytes])) {
        if (path[bytes] == '.' && path[bytes + 1] == ' ') {
            break;
        }
        bytes += 1;
    }
    return bytes;
}

void path_hide_all(char *text)
{
    char *out = text, before = '\0';
    for (const char *at = text; *at != '\0';) {
        if (begins(before, at)) {
            const size_t bytes = reach(at), name = last_name(at, bytes);
            memmove(out, at + name, bytes - name);
            out += bytes - name;
            at += bytes;
            before = 'x';
        } else {
            before = *at++;
            *out++ = before;
        }
    }
    *out = '\0';
}

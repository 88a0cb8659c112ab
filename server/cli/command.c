// What several subcommands say in the same way.
#include "server/cli/command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_plain(const char *word)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./+,:@%";
    return word[0] != '\0' && word[strspn(word, letters)] == '\0';
}

void command_quote(const char *word, char *out, size_t bytes)
{
    if (is_plain(word)) {
        snprintf(out, bytes, "%s", word);
        return;
    }
    size_t at = 0;
    out[at++] = '\'';
    for (; *word != '\0' && at + 6 < bytes; word++) { // a quote is four, and two are to come
        if (*word == '\'') {
            memcpy(out + at, "'\\''", 4);
            at += 4;
        } else {
            out[at++] = *word;
        }
    }
    out[at++] = '\'';
    out[at] = '\0';
}

const char *command_reason(const char *reason, const char *name)
{
    const size_t bytes = strlen(name);
    return strncmp(reason, name, bytes) == 0 && strncmp(reason + bytes, ": ", 2) == 0
               ? reason + bytes + 2
               : reason;
}

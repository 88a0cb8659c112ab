// See check_refusal.h. The texts that are looked for are those of Lua 5.4's lparser.c, lcode.c and
// ldo.c; what is not among them stays as Lua says it.
#include "core/script/check/check_refusal.h"

#include "core/base/limits.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *said, *meant;
} limits[] = {
    {"C stack overflow", "brackets, calls, functions or blocks are nested too deeply: Lua takes a "
                         "little more than a hundred levels of them. Split it: give parts of it "
                         "names, or make functions of them"},
    {"too many local variables",
     "a function has at most 200 variables at a time, and what is outside of all functions counts "
     "as one. Put some of them into one table or object, or move a part into another script"},
    {"too many upvalues",
     "a function uses at most 255 variables of what is around it. Put some of them into one table "
     "or object"},
    {"needs too many registers", "a function has room for about 250 values at a time, the "
                                 "arguments of its calls included. Give "
                                 "one list instead of many arguments, or make two functions of it"},
    {"control structure too long",
     "this loop or condition is too long. Move parts of it into functions"},
};

static const char *meaning_of(const char *said)
{
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (strstr(said, limits[i].said) != NULL) {
            return limits[i].meant;
        }
    }
    return NULL;
}

void check_refusal_explain(const char *said, bool is_made, char out[CHECK_MESSAGE_BYTES])
{
    const char *meant = meaning_of(said);
    if (meant != NULL) {
        (void)snprintf(out, CHECK_MESSAGE_BYTES, "%s", meant);
    } else if (is_made) {
        (void)snprintf(
            out, CHECK_MESSAGE_BYTES,
            "Lua does not take what was made of this (%.500s); write it in a plainer way", said);
    } else {
        (void)snprintf(out, CHECK_MESSAGE_BYTES, "%s", said);
    }
}

bool check_refusal_fits(const char *file, size_t source_bytes, const CheckSink *sink)
{
    const bool fits = source_bytes <= SCRIPT_SOURCE_BYTES_MAX;
    if (!fits) {
        check_tell(sink, CHECK_ERROR, file, 0, "limit", "a script has at most %d KiB",
                   SCRIPT_SOURCE_BYTES_MAX >> 10);
    }
    return fits;
}

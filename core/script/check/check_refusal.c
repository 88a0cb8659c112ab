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

// What other languages write: Lua's own words, and what to write instead.
static const struct {
    const char *said, *instead;
} foreign[] = {
    {"'then' expected near '='", "write == to compare: if a == b then"},
    {"'do' expected near '='", "write == to compare: while a == b do"},
    {"near '!'", "write ~= for \"is not equal\", and not x for \"not\""},
    {"near '&'", "write and between two conditions"},
    {"near '|'", "write or between two conditions"},
    {"near '//'", "a comment begins with --"},
    {"near '/'", "a comment begins with --"},
    {"syntax error near '+'", "write count = count + 1"},
    {"syntax error near '-'", "write count = count - 1"},
    {"unexpected symbol near '{'", "Lua has no { } around blocks: they end with end"},
    {"near '}'", "Lua closes a block with end, and a table with }"},
    {"'then' expected near '{'", "Lua writes if a then … end, without { }"},
    {"'do' expected near '{'", "Lua writes while a do … end, without { }"},
};

static const char *instead_of(const char *said)
{
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        if (strstr(said, foreign[i].said) != NULL) {
            return foreign[i].instead;
        }
    }
    return NULL;
}

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
    const char *instead = is_made ? NULL : instead_of(said);
    if (meant != NULL) {
        (void)snprintf(out, CHECK_MESSAGE_BYTES, "%s", meant);
    } else if (is_made) {
        (void)snprintf(
            out, CHECK_MESSAGE_BYTES,
            "Lua does not take what was made of this (%.500s); write it in a plainer way", said);
    } else {
        (void)snprintf(out, CHECK_MESSAGE_BYTES, "%s%s%s", said, instead != NULL ? "; " : "",
                       instead != NULL ? instead : "");
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

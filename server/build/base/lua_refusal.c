// See lua_refusal.h. The texts that are searched for are those of Lua 5.4's lparser.c, lcode.c and
// ldo.c; other messages stay as they are.
#include "server/build/base/lua_refusal.h"

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

void lua_refusal_explain(DiagnosticList *list, bool is_made)
{
    for (uint32_t i = 0; i < list->count; i++) {
        Diagnostic *item = &list->items[i];
        if (item->level != DIAGNOSTIC_ERROR || strcmp(item->code, "syntax") != 0) {
            continue;
        }
        char said[DIAGNOSTIC_MESSAGE_BYTES];
        memcpy(said, item->message, sizeof said);
        const char *meant = meaning_of(said);
        if (meant != NULL) {
            snprintf(item->message, sizeof item->message, "%s", meant);
        } else if (is_made) {
            snprintf(item->message, sizeof item->message,
                     "Lua cannot compile the code generated for this (%.500s); write it in a "
                     "simpler way",
                     said);
        }
    }
}

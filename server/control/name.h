// The names of people. An account's name is ASCII, for signing in; the shown name is free text
// (name_text.h). What looks alike is equal: names are compared after folding, and a folded name
// belongs to one account alone.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NAME_LETTERS_MIN 3
#define NAME_LETTERS_MAX 20
#define NAME_RULE                                                           \
    "an account's name has 3 to 20 letters of A-Z, a-z, 0-9, _ and -, and " \
    "does not begin with guest_ or user_"
#define NAME_FOLD_BYTES 66 // of a folded shown name, with its terminator

// What guests' shown names begin with, and no other name contains.
#define GUEST_SIGN "~"

// One line of UTF-8 in which nothing hides: no control characters, none that show nothing, none
// that turn the direction of text. For titles, names, notes, reasons.
bool name_is_plain_line(const char *text);
// The same with ends of lines and tabs.
bool name_is_plain_text(const char *text);
bool name_is_valid(const char *name);
// Of an account: a shown name that does not look like a guest's.
bool name_is_shown(const char *shown);
// Cases, accents, spaces and the like are gone, and letters that look like a Latin one are that
// one: "Bo_b", "b0b" and the same in Cyrillic letters are "bob". Of valid UTF-8, never longer.
void name_fold(const char *shown, char out[NAME_FOLD_BYTES]);
// Names that would speak for the server, or be taken for a guest's.
bool name_is_reserved(const char *folded);

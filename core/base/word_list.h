// The operator's list of words that are not said, and how they are found in a text. A line is one
// word; a star before or after it finds it also inside a longer word: "bad", "bad*", "*bad*".
//
// Words are found in the spellings that people use to get around a list: other cases and accents,
// letters of other alphabets that look the same, digits and signs for letters (b4d), a letter
// repeated three times or more (baaad), letters one by one (b a d), invisible characters between
// them. Nothing is allocated, and the work is bounded by the length of the text (limits.h).
#pragma once

#include "core/base/limits.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORD_LIST_SLOTS 4096 // a power of two, at most half full
_Static_assert(WORD_LIST_SLOTS >= 2 * WORD_LIST_WORDS_MAX, "finding a word is quick");

typedef struct WordList {
    uint64_t hashes[WORD_LIST_SLOTS]; // 0: free
    uint8_t edges[WORD_LIST_SLOTS];   // where the word may be inside a longer one
    uint64_t lengths;                 // bit n: there are words of n letters
    uint32_t count;
} WordList;

// One word per line; empty lines are skipped. STATUS_LIMIT: too many; STATUS_MALFORMED: a word has
// fewer than two letters, more than WORD_LIST_LETTERS_MAX, or something between its letters. *line
// is then the number of the line, from 1. The list is untouched if it fails.
MUST_USE Status word_list_set(WordList *list, const void *lines, size_t bytes, uint32_t *line);
// Is there one in the text (UTF-8)?
bool word_list_has(const WordList *list, const char *text, size_t bytes);
// Every letter of those that are found becomes a star. The text gets no longer; returns its length.
size_t word_list_mask(const WordList *list, char *text, size_t bytes);

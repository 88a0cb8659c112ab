// The words of a text, as search compares them: in lower case, without accents, cut after
// SEARCH_WORD_BYTES. Chinese, Japanese and Korean are written without spaces, so each of their
// letters is a word.
#pragma once

#include "core/base/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEARCH_WORD_BYTES (TAG_LETTERS_MAX + 1) // "#tag" is one

typedef struct SearchWord {
    char text[SEARCH_WORD_BYTES + 1];
    uint32_t weight;
} SearchWord;

typedef struct SearchWords {
    SearchWord items[SEARCH_WORDS_PER_PLACE];
    uint32_t count, max; // max: at most SEARCH_WORDS_PER_PLACE
} SearchWords;

// Adds the words of valid UTF-8. One that is there keeps the higher weight; those that find no room
// are left out.
void search_words_add(SearchWords *words, const char *text, uint32_t weight);
// Adds it as it is.
void search_words_add_one(SearchWords *words, const char *word, size_t bytes, uint32_t weight);

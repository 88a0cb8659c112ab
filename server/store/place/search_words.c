// See search_words.h.
#include "server/store/place/search_words.h"

#include "core/base/letter.h"
#include "core/base/utf8.h"

#include <string.h>

typedef enum LetterKind { LETTER_NONE, LETTER_OF_WORD, LETTER_ALONE } LetterKind;

static bool is_mark(uint32_t code_point) // on the letter before
{
    return code_point >= 0x300 && code_point <= 0x36f;
}

static LetterKind kind_of(uint32_t code_point)
{
    if (code_point < 0x80) {
        const bool is_letter =
            (code_point >= 'a' && code_point <= 'z') || (code_point >= '0' && code_point <= '9');
        return is_letter ? LETTER_OF_WORD : LETTER_NONE;
    }
    if (code_point < 0xc0 || (code_point >= 0x2000 && code_point <= 0x2bff) ||
        (code_point >= 0x3000 && code_point <= 0x303f) || code_point >= 0xe000) {
        // Signs, dashes, arrows; private letters; what is past the first plane is told below.
        return code_point >= 0x10000 ? LETTER_ALONE : LETTER_NONE;
    }
    const bool is_alone = (code_point >= 0x3040 && code_point <= 0x9fff) ||
                          (code_point >= 0xac00 && code_point <= 0xd7a3);
    return is_alone ? LETTER_ALONE : LETTER_OF_WORD;
}

void search_words_add_one(SearchWords *words, const char *word, size_t bytes, uint32_t weight)
{
    bytes = utf8_cut(word, bytes, SEARCH_WORD_BYTES);
    for (uint32_t i = 0; i < words->count; i++) {
        SearchWord *item = &words->items[i];
        if (strlen(item->text) == bytes && memcmp(item->text, word, bytes) == 0) {
            item->weight = item->weight > weight ? item->weight : weight;
            return;
        }
    }
    if (words->count < words->max && bytes > 0) {
        SearchWord *item = &words->items[words->count++];
        memcpy(item->text, word, bytes);
        item->text[bytes] = '\0';
        item->weight = weight;
    }
}

void search_words_add(SearchWords *words, const char *text, uint32_t weight)
{
    char word[SEARCH_WORD_BYTES + 4];
    size_t word_bytes = 0;
    const uint8_t *bytes = (const uint8_t *)text;
    const size_t count = strlen(text);
    for (size_t at = 0, length; at < count; at += length) {
        length = utf8_length(bytes + at, count - at);
        if (length == 0) {
            break; // no UTF-8
        }
        const uint32_t letter = letter_fold(utf8_code_point(bytes + at, length));
        if (is_mark(letter)) {
            continue;
        }
        const LetterKind kind = kind_of(letter);
        if (kind != LETTER_OF_WORD) {
            search_words_add_one(words, word, word_bytes, weight);
            word_bytes = 0;
        }
        if (kind != LETTER_NONE && word_bytes < SEARCH_WORD_BYTES) {
            word_bytes += utf8_encode(letter, (uint8_t *)word + word_bytes);
        }
        if (kind == LETTER_ALONE) {
            search_words_add_one(words, word, word_bytes, weight);
            word_bytes = 0;
        }
    }
    search_words_add_one(words, word, word_bytes, weight);
}

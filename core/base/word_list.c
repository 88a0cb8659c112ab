// See word_list.h. Only the hashes of words are kept: 64 bits of 2,000 words, and whoever finds a
// text with the same hash has got a star in it.
#include "core/base/word_list.h"

#include "core/base/check.h"
#include "core/base/letter_look.h"
#include "core/base/utf8.h"

#include <string.h>

#define LETTERS_MAX CHAT_BYTES_MAX // that are looked at together
#define HASH_BEGIN  0xcbf29ce484222325ull
#define HASH_PRIME  0x100000001b3ull

enum { EDGE_BEFORE = 1, EDGE_AFTER = 2 };

typedef struct Letter {
    uint32_t folded, raw; // raw: without case, for letters that are repeated
    uint32_t from, to;    // bytes of the text
    bool is_plain;        // not a digit or sign that only looks like a letter
} Letter;

typedef struct Letters {
    Letter all[LETTERS_MAX];
    uint32_t count;
} Letters;

// --- letters ------------------------------------------------------------------------------------

static bool is_digit(uint32_t code_point)
{
    return code_point >= '0' && code_point <= '9';
}

static bool is_sign(uint32_t code_point)
{
    return code_point == '!' || code_point == '|' || code_point == '@' || code_point == '$';
}

static bool is_alphabetic(uint32_t code_point)
{
    if (code_point < 0x80) {
        return (code_point >= 'a' && code_point <= 'z') || (code_point >= 'A' && code_point <= 'Z');
    }
    return code_point >= 0xc0 && code_point != 0xd7 && code_point != 0xf7 &&
           !(code_point >= 0x2000 && code_point <= 0x2bff) &&
           !(code_point >= 0x3000 && code_point <= 0x303f) && code_point < 0x1f000;
}

static uint32_t fold(uint32_t code_point)
{
    switch (code_point) {
    case '3':
        return 'e';
    case '4':
    case '@':
        return 'a';
    case '5':
    case '$':
        return 's';
    case '7':
        return 't';
    case '8':
        return 'b';
    case '9':
        return 'g';
    default:
        return letter_look(code_point);
    }
}

static Letter letter_of(uint32_t code_point, size_t from, size_t to)
{
    const bool is_capital = code_point >= 'A' && code_point <= 'Z';
    return (Letter){.folded = fold(code_point),
                    .raw = is_capital ? code_point + ('a' - 'A') : code_point,
                    .from = (uint32_t)from,
                    .to = (uint32_t)to,
                    .is_plain = is_alphabetic(code_point)};
}

// The character at text[at]; its length goes to *length. Styled forms are the plain ones.
static uint32_t code_point_at(const char *text, size_t bytes, size_t at, size_t *length)
{
    const uint8_t *here = (const uint8_t *)text + at;
    *length = utf8_length(here, bytes - at);
    if (*length == 0) {
        *length = 1;
        return ' ';
    }
    return letter_plain(utf8_code_point(here, *length));
}

static bool is_skipped(uint32_t code_point)
{
    return letter_is_mark(code_point) || (utf8_is_hidden(code_point) && code_point != '\n' &&
                                          code_point != '\t' && code_point != '\r');
}

static uint64_t hash_step(uint64_t hash, uint32_t letter)
{
    return (hash ^ letter) * HASH_PRIME;
}

// --- the list -----------------------------------------------------------------------------------

// The slot of this hash, or the free one where it would be.
static uint32_t slot_of(const WordList *list, uint64_t hash)
{
    uint32_t slot = (uint32_t)(hash ^ hash >> 32) % WORD_LIST_SLOTS;
    while (list->hashes[slot] != 0 && list->hashes[slot] != hash) {
        slot = (slot + 1) % WORD_LIST_SLOTS;
    }
    return slot;
}

typedef struct Word {
    uint64_t hash;
    uint32_t letters;
    uint8_t edges;
} Word;

// A line without its end and the spaces around it. False: it is no word. Of a letter that is
// repeated two count, as when a text is looked at.
static bool read_word(const char *line, size_t bytes, Word *out)
{
    Word word = {.hash = HASH_BEGIN};
    uint32_t last = 0, run = 0;
    if (bytes > 0 && line[0] == '*') {
        word.edges |= EDGE_BEFORE;
        line += 1, bytes -= 1;
    }
    if (bytes > 0 && line[bytes - 1] == '*') {
        word.edges |= EDGE_AFTER;
        bytes -= 1;
    }
    for (size_t at = 0, length; at < bytes; at += length) {
        const uint32_t code_point = code_point_at(line, bytes, at, &length);
        if (is_skipped(code_point)) {
            continue;
        }
        if (!is_alphabetic(code_point) && !is_digit(code_point) && !is_sign(code_point)) {
            return false;
        }
        const Letter letter = letter_of(code_point, 0, 0);
        run = letter.raw == last ? run + 1 : 1;
        last = letter.raw;
        if (run <= 2) {
            word.hash = hash_step(word.hash, letter.folded);
            word.letters += 1;
        }
    }
    *out = word;
    return word.letters >= 2 && word.letters <= WORD_LIST_LETTERS_MAX && word.hash != 0;
}

// The next line without the spaces around it; false: there are no more.
static bool next_line(const char *text, size_t bytes, size_t *at, const char **line, size_t *length)
{
    if (*at >= bytes) {
        return false;
    }
    const char *end = memchr(text + *at, '\n', bytes - *at);
    size_t from = *at, to = end != NULL ? (size_t)(end - text) : bytes;
    *at = to + 1;
    while (from < to && (text[from] == ' ' || text[from] == '\t')) {
        from += 1;
    }
    while (to > from && (text[to - 1] == ' ' || text[to - 1] == '\t' || text[to - 1] == '\r')) {
        to -= 1;
    }
    *line = text + from;
    *length = to - from;
    return true;
}

static Status check_lines(const char *text, size_t bytes, uint32_t *line_number)
{
    const char *line;
    size_t length, at = 0;
    uint32_t count = 0;
    Word word;
    *line_number = 0;
    while (next_line(text, bytes, &at, &line, &length)) {
        *line_number += 1;
        if (length > 0 && !read_word(line, length, &word)) {
            return STATUS_MALFORMED;
        }
        count += length > 0;
        if (count > WORD_LIST_WORDS_MAX) {
            return STATUS_LIMIT;
        }
    }
    return bytes <= WORD_LIST_BYTES_MAX ? STATUS_OK : STATUS_LIMIT;
}

Status word_list_set(WordList *list, const void *lines, size_t bytes, uint32_t *line_number)
{
    const char *line;
    size_t length, at = 0;
    const Status status = check_lines(lines, bytes, line_number);
    if (status != STATUS_OK) {
        return status;
    }
    memset(list, 0, sizeof *list);
    while (next_line(lines, bytes, &at, &line, &length)) {
        Word word;
        if (length == 0 || !read_word(line, length, &word)) {
            continue;
        }
        const uint32_t slot = slot_of(list, word.hash);
        list->count += list->hashes[slot] == 0;
        list->hashes[slot] = word.hash;
        list->edges[slot] |= word.edges;
        list->lengths |= 1ull << word.letters;
    }
    ASSERT(list->count <= WORD_LIST_WORDS_MAX);
    return STATUS_OK;
}

// --- finding ------------------------------------------------------------------------------------

typedef struct Scan {
    const WordList *list;
    uint8_t *hit; // a bit for each byte of the text; NULL: only whether there is any
    bool found;
    Letters token;   // the letters since something else came
    Letters spelled; // letters that stood alone, one after the other
} Scan;

static void note_hit(Scan *scan, const Letters *letters, uint32_t first, uint32_t last)
{
    scan->found = true;
    for (uint32_t i = first; i <= last && scan->hit != NULL; i++) {
        for (uint32_t at = letters->all[i].from; at < letters->all[i].to; at++) {
            scan->hit[at / 8] |= (uint8_t)(1u << at % 8);
        }
    }
}

// The letters that count if a run of three or more of the same is as long as run_max.
static uint32_t choose(const Letters *letters, uint32_t run_max, uint16_t out[LETTERS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0, run; i < letters->count; i += run) {
        run = 1;
        while (i + run < letters->count && letters->all[i + run].raw == letters->all[i].raw) {
            run += 1;
        }
        for (uint32_t k = 0; k < run && (run < 3 || k < run_max); k++) {
            out[count++] = (uint16_t)(i + k);
        }
    }
    return count;
}

// A word is whole if only digits and signs are around it.
static void whole_edges(const Letters *letters, const uint16_t *chosen, uint32_t count,
                        uint32_t *first, uint32_t *last)
{
    *first = 0;
    *last = count - 1;
    while (*first < count - 1 && !letters->all[chosen[*first]].is_plain) {
        *first += 1;
    }
    while (*last > 0 && !letters->all[chosen[*last]].is_plain) {
        *last -= 1;
    }
}

static void find_words(Scan *scan, const Letters *letters, uint32_t run_max, bool anywhere)
{
    uint16_t chosen[LETTERS_MAX];
    uint32_t first, last;
    const uint32_t count = choose(letters, run_max, chosen);
    if (count < 2) {
        return;
    }
    whole_edges(letters, chosen, count, &first, &last);
    for (uint32_t begin = 0; begin < count; begin++) {
        uint64_t hash = HASH_BEGIN;
        for (uint32_t end = begin; end < count && end < begin + WORD_LIST_LETTERS_MAX; end++) {
            hash = hash_step(hash, letters->all[chosen[end]].folded);
            if ((scan->list->lengths >> (end - begin + 1) & 1) == 0) {
                continue;
            }
            const uint32_t slot = slot_of(scan->list, hash);
            const uint8_t edges = scan->list->edges[slot];
            const bool is_there = scan->list->hashes[slot] != 0;
            const bool begins = anywhere || (edges & EDGE_BEFORE) != 0 || begin <= first;
            const bool ends = anywhere || (edges & EDGE_AFTER) != 0 || end >= last;
            if (is_there && begins && ends) {
                note_hit(scan, letters, chosen[begin], chosen[end]);
            }
        }
    }
}

static void look_at(Scan *scan, Letters *letters, bool anywhere)
{
    if (letters->count >= 2) {
        find_words(scan, letters, 1, anywhere);
        find_words(scan, letters, 2, anywhere);
    }
    letters->count = 0;
}

static void end_token(Scan *scan)
{
    Letters *token = &scan->token, *spelled = &scan->spelled;
    if (token->count == 1) {
        if (spelled->count == LETTERS_MAX) {
            look_at(scan, spelled, true);
        }
        spelled->all[spelled->count++] = token->all[0];
        token->count = 0;
    } else if (token->count > 1) {
        look_at(scan, spelled, true);
        look_at(scan, token, false);
    }
}

static void scan_text(Scan *scan, const char *text, size_t bytes)
{
    scan->token.count = scan->spelled.count = 0;
    for (size_t at = 0, length; at < bytes; at += length) {
        const uint32_t code_point = code_point_at(text, bytes, at, &length);
        if (is_skipped(code_point)) {
            continue;
        }
        if (!is_alphabetic(code_point) && !is_digit(code_point) && !is_sign(code_point)) {
            end_token(scan);
            continue;
        }
        if (scan->token.count == LETTERS_MAX) {
            look_at(scan, &scan->token, false);
        }
        scan->token.all[scan->token.count++] = letter_of(code_point, at, at + length);
    }
    end_token(scan);
    look_at(scan, &scan->spelled, true);
}

bool word_list_has(const WordList *list, const char *text, size_t bytes)
{
    if (list->count == 0) {
        return false;
    }
    Scan scan;
    scan.list = list;
    scan.hit = NULL;
    scan.found = false;
    scan_text(&scan, text, bytes);
    return scan.found;
}

size_t word_list_mask(const WordList *list, char *text, size_t bytes)
{
    ASSERT(bytes <= CHAT_BYTES_MAX);
    uint8_t hit[CHAT_BYTES_MAX / 8 + 1] = {0};
    if (list->count == 0) {
        return bytes;
    }
    Scan scan;
    scan.list = list;
    scan.hit = hit;
    scan.found = false;
    scan_text(&scan, text, bytes);
    size_t to = 0;
    for (size_t at = 0, length; at < bytes; at += length) {
        (void)code_point_at(text, bytes, at, &length);
        if ((hit[at / 8] >> at % 8 & 1) != 0) {
            text[to++] = '*';
        } else {
            memmove(text + to, text + at, length);
            to += length;
        }
    }
    return to;
}

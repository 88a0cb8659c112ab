// See name.h.
#define _GNU_SOURCE
#include "server/control/name.h"

#include "core/base/letter.h"
#include "core/base/name_text.h"
#include "core/base/utf8.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

bool name_is_valid(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";
    // As client_ids begin.
    static const char *const prefixes[] = {"guest_", "user_"};
    const size_t bytes = strlen(name);
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncasecmp(name, prefixes[i], strlen(prefixes[i])) == 0) {
            return false;
        }
    }
    return bytes >= NAME_LETTERS_MIN && bytes <= NAME_LETTERS_MAX && strspn(name, letters) == bytes;
}

// --- folding ------------------------------------------------------------------------------------

// Letters of other alphabets that look like a Latin one, in at least one of their two cases.
static const struct {
    uint16_t code_point;
    char letter;
} alike[] = {
    {0x0430, 'a'}, {0x0432, 'b'}, {0x0435, 'e'}, {0x0437, '3'}, {0x0456, 'i'}, {0x0458, 'j'},
    {0x043a, 'k'}, {0x043c, 'm'}, {0x043d, 'h'}, {0x043e, 'o'}, {0x0440, 'p'}, {0x0441, 'c'},
    {0x0442, 't'}, {0x0443, 'y'}, {0x0445, 'x'}, {0x0455, 's'}, {0x0451, 'e'}, {0x0450, 'e'},
    {0x0457, 'i'}, {0x04bb, 'h'}, {0x04cf, 'l'}, {0x04af, 'y'}, {0x0501, 'd'}, {0x051b, 'q'},
    {0x051d, 'w'}, {0x050d, 'g'}, {0x044c, 'b'}, {0x0391, 'a'}, {0x0392, 'b'}, {0x0395, 'e'},
    {0x0396, 'z'}, {0x0397, 'h'}, {0x0399, 'i'}, {0x039a, 'k'}, {0x039c, 'm'}, {0x039d, 'n'},
    {0x039f, 'o'}, {0x03a1, 'p'}, {0x03a4, 't'}, {0x03a5, 'y'}, {0x03a7, 'x'}, {0x03b1, 'a'},
    {0x03b2, 'b'}, {0x03b3, 'y'}, {0x03b5, 'e'}, {0x03b7, 'n'}, {0x03b9, 'i'}, {0x03ba, 'k'},
    {0x03bd, 'v'}, {0x03bf, 'o'}, {0x03c1, 'p'}, {0x03c4, 't'}, {0x03c5, 'u'}, {0x03c7, 'x'},
    {0x03c9, 'w'}, {0x03ac, 'a'}, {0x03ad, 'e'}, {0x03ae, 'n'}, {0x03af, 'i'}, {0x03cc, 'o'},
    {0x03cd, 'u'}, {0x03ce, 'w'}, {0x0251, 'a'}, {0x0261, 'g'}, {0x0269, 'i'}, {0x026a, 'i'},
    {0x0578, 'n'}, {0x057d, 'u'}, {0x0585, 'o'}, {0x0570, 'h'}, {0x0581, 'g'}, {0x0584, 'p'},
};

static bool is_dropped(uint32_t code_point)
{
    static const char ascii[] = " _-.~'`*";
    return (code_point < 0x80 && strchr(ascii, (int)code_point) != NULL) || code_point == 0xb7 ||
           (code_point >= 0x300 && code_point <= 0x36f) ||   // marks on the letter before
           (code_point >= 0x1ab0 && code_point <= 0x1aff) || // likewise
           (code_point >= 0x1dc0 && code_point <= 0x1dff) ||
           (code_point >= 0x20d0 && code_point <= 0x20ff) ||
           (code_point >= 0x2010 && code_point <= 0x201f); // dashes and quotes
}

static bool is_guest_sign(uint32_t code_point)
{
    return code_point == '~' || code_point == 0x2dc || code_point == 0x223c ||
           code_point == 0x2053 || code_point == 0xff5e || code_point == 0x301c;
}

static uint32_t fold(uint32_t code_point)
{
    code_point = letter_fold(code_point);
    for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++) {
        if (alike[i].code_point == code_point) {
            code_point = (uint32_t)alike[i].letter;
        }
    }
    switch (code_point) {
    case '0':
        return 'o';
    case '1':
    case 'i':
    case '|':
    case '!':
        return 'l';
    default:
        return code_point;
    }
}

// Two letters that look like one.
static size_t join_pairs(char *text, size_t bytes)
{
    size_t to = 0;
    for (size_t i = 0; i < bytes; i++) {
        const bool is_m = text[i] == 'r' && i + 1 < bytes && text[i + 1] == 'n';
        const bool is_w = text[i] == 'v' && i + 1 < bytes && text[i + 1] == 'v';
        text[to++] = is_m ? 'm' : is_w ? 'w' : text[i];
        i += is_m || is_w;
    }
    return to;
}

void name_fold(const char *shown, char out[NAME_FOLD_BYTES])
{
    const uint8_t *text = (const uint8_t *)shown;
    const size_t bytes = strnlen(shown, NAME_FOLD_BYTES - 2);
    size_t to = 0;
    for (size_t at = 0, length; at < bytes; at += length) {
        length = utf8_length(text + at, bytes - at);
        if (length == 0) {
            break;
        }
        const uint32_t code_point = utf8_code_point(text + at, length);
        if (!is_dropped(code_point)) {
            const uint32_t folded = fold(code_point);
            if (!is_dropped(folded)) {
                to += utf8_encode(folded, (uint8_t *)out + to);
            }
        }
    }
    to = join_pairs(out, to);
    if (to == 0) { // nothing but signs: then they are the name
        memcpy(out, shown, bytes);
        to = bytes;
    }
    out[to] = '\0';
}

// --- what may not be shown ----------------------------------------------------------------------

bool name_is_shown(const char *shown)
{
    const uint8_t *text = (const uint8_t *)shown;
    const size_t bytes = strlen(shown);
    if (!name_text_is_valid(shown, bytes)) {
        return false;
    }
    for (size_t at = 0, length; at < bytes; at += length) {
        length = utf8_length(text + at, bytes - at);
        if (length == 0 || is_guest_sign(utf8_code_point(text + at, length))) {
            return false;
        }
    }
    return true;
}

bool name_is_reserved(const char *folded)
{
    static const char *const words[] = {"sandlot", "server",   "system",   "guest",
                                        "admin",   "operator", "moderator"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char word[NAME_FOLD_BYTES];
        name_fold(words[i], word);
        const size_t bytes = strlen(word);
        if (strncmp(folded, word, bytes) == 0 &&
            strspn(folded + bytes, "0123456789ol") == strlen(folded + bytes)) {
            return true;
        }
    }
    return false;
}

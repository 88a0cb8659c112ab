// See name.h.
#define _GNU_SOURCE
#include "server/control/name.h"

#include "core/base/letter_look.h"
#include "core/base/name_text.h"
#include "core/base/utf8.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

static bool is_plain(const char *text, bool has_lines)
{
    const size_t bytes = strlen(text);
    for (size_t at = 0, length; at < bytes; at += length) {
        const uint8_t *here = (const uint8_t *)text + at;
        length = utf8_length(here, bytes - at);
        const bool is_line = has_lines && (*here == '\n' || *here == '\r' || *here == '\t');
        if (length == 0 || (!is_line && utf8_is_hidden(utf8_code_point(here, length)))) {
            return false;
        }
    }
    return true;
}

bool name_is_plain_line(const char *text)
{
    return is_plain(text, false);
}

bool name_is_plain_text(const char *text)
{
    return is_plain(text, true);
}

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

static bool is_dropped(uint32_t code_point)
{
    static const char ascii[] = " _-.~'`*";
    return (code_point < 0x80 && strchr(ascii, (int)code_point) != NULL) || code_point == 0xb7 ||
           letter_is_mark(code_point) ||
           (code_point >= 0x2010 && code_point <= 0x201f); // dashes and quotes
}

static bool is_guest_sign(uint32_t code_point)
{
    return code_point == '~' || code_point == 0x2dc || code_point == 0x223c ||
           code_point == 0x2053 || code_point == 0xff5e || code_point == 0x301c;
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
            const uint32_t folded = letter_look(code_point);
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

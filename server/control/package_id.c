// See package_id.h.
#include "server/control/package_id.h"

#include "server/sys/entropy.h"

#include <string.h>

#define PREFIX       "place_"
#define LETTERS_MAX  32
#define RANDOM_COUNT 6

// Letters and digits in lower case; anything between them is one dash. Gives how many.
static size_t write_title(const char *title, char *out)
{
    size_t at = 0;
    bool is_apart = false;
    for (; *title != '\0' && at < LETTERS_MAX; title++) {
        const char c = *title >= 'A' && *title <= 'Z' ? (char)(*title - 'A' + 'a') : *title;
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (is_plain && is_apart && at > 0 && at + 1 < LETTERS_MAX) {
            out[at++] = '-';
        }
        if (is_plain) {
            out[at++] = c;
        }
        is_apart = !is_plain;
    }
    return at;
}

void package_id_make(const char *title, char out[65])
{
    static const char letters[] = "abcdefghjkmnpqrstuvwxyz23456789-"; // none that look alike
    uint8_t random[RANDOM_COUNT];
    size_t at = sizeof PREFIX - 1;
    memcpy(out, PREFIX, at);
    const size_t title_bytes = write_title(title, out + at);
    at += title_bytes;
    if (title_bytes > 0) {
        out[at++] = '-';
    }
    entropy_fill(random, sizeof random);
    for (uint32_t i = 0; i < RANDOM_COUNT; i++) {
        out[at++] = letters[random[i] % (sizeof letters - 2)];
    }
    out[at] = '\0';
}

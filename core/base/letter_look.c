// See letter_look.h.
#include "core/base/letter_look.h"

#include "core/base/letter.h"

#include <stddef.h>

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

uint32_t letter_plain(uint32_t code_point)
{
    // A to Z, and a to z behind it if there are 52 of them, again and again.
    static const struct {
        uint32_t first, last, count;
    } styles[] = {{0x249c, 0x24b5, 26},   {0x24b6, 0x24e9, 52},   {0x1d400, 0x1d6a3, 52},
                  {0x1f110, 0x1f129, 26}, {0x1f130, 0x1f149, 26}, {0x1f150, 0x1f169, 26},
                  {0x1f170, 0x1f189, 26}, {0x1f1e6, 0x1f1ff, 26}};
    if (code_point >= 0xff01 && code_point <= 0xff5e) {
        return code_point - 0xff01 + '!';
    }
    if (code_point >= 0x1d7ce && code_point <= 0x1d7ff) {
        return '0' + (code_point - 0x1d7ce) % 10;
    }
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++) {
        if (code_point >= styles[i].first && code_point <= styles[i].last) {
            const uint32_t at = (code_point - styles[i].first) % styles[i].count;
            return at < 26 ? 'A' + at : 'a' + at - 26;
        }
    }
    return code_point;
}

uint32_t letter_look(uint32_t code_point)
{
    code_point = letter_fold(letter_plain(code_point));
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

bool letter_is_mark(uint32_t code_point)
{
    return (code_point >= 0x300 && code_point <= 0x36f) ||
           (code_point >= 0x483 && code_point <= 0x489) ||
           (code_point >= 0xfe00 && code_point <= 0xfe0f) ||
           (code_point >= 0xfe20 && code_point <= 0xfe2f) ||
           (code_point >= 0x1ab0 && code_point <= 0x1aff) ||
           (code_point >= 0x1dc0 && code_point <= 0x1dff) ||
           (code_point >= 0x20d0 && code_point <= 0x20ff);
}

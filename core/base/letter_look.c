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

uint32_t letter_look(uint32_t code_point)
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

bool letter_is_mark(uint32_t code_point)
{
    return (code_point >= 0x300 && code_point <= 0x36f) ||
           (code_point >= 0x1ab0 && code_point <= 0x1aff) ||
           (code_point >= 0x1dc0 && code_point <= 0x1dff) ||
           (code_point >= 0x20d0 && code_point <= 0x20ff);
}

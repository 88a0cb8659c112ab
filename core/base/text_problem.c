// See text_problem.h.
#include "core/base/text_problem.h"

#include "core/base/utf8.h"

#include <stdbool.h>

TextProblem text_problem(const uint8_t *data, size_t bytes, uint32_t *line)
{
    *line = 1;
    for (size_t i = 0; i < bytes;) {
        const uint8_t c = data[i];
        const size_t length = utf8_length(data + i, bytes - i);
        const bool is_space = c == '\t' || c == '\n' || c == '\r' || c == '\f';
        if (length == 0 || c == 0) { // every other byte of UTF-16 is a zero
            return TEXT_NO_UTF8;
        }
        if (c < 0x20 && !is_space) {
            return TEXT_CONTROL;
        }
        *line += c == '\n';
        i += length;
    }
    return TEXT_GOOD;
}

const char *text_problem_words(TextProblem problem)
{
    static const char *const words[TEXT_PROBLEM_COUNT] = {"", "is no UTF-8; save it as UTF-8",
                                                          "a text has no control characters"};
    return problem < TEXT_PROBLEM_COUNT ? words[problem] : "?";
}

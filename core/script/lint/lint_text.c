// The only lint that reads the text itself: invisible characters. Bytecode has no comments, but
// reviewers read those too. A joiner inside an emoji is allowed.
#include "core/base/utf8.h"
#include "core/script/lint/lint.h"

#include <stdio.h>

#define ZERO_WIDTH_JOINER  0x200d
#define VARIATION_SELECTOR 0xfe0f
#define EMOJI_FIRST        0x1f000

static bool is_invisible(uint32_t code_point, uint32_t before)
{
    const bool is_space = code_point == '\n' || code_point == '\t' || code_point == '\r';
    const bool is_emoji = before == VARIATION_SELECTOR || before >= EMOJI_FIRST;
    return !is_space && utf8_is_hidden(code_point) &&
           !(code_point == ZERO_WIDTH_JOINER && is_emoji);
}

static void report(LintResult *result, uint32_t line, uint32_t code_point)
{
    if (result->finding_count == result->finding_max) {
        result->dropped_count += 1;
        return;
    }
    LintFinding *finding = &result->findings[result->finding_count++];
    *finding = (LintFinding){.kind = LINT_INVISIBLE, .line = line};
    (void)snprintf(finding->message, sizeof finding->message,
                   "U+%04X is an invisible character: remove it, or write it in a string as "
                   "\\u{%X}",
                   (unsigned)code_point, (unsigned)code_point);
}

void lint_text(const void *source, size_t bytes, LintResult *result)
{
    const uint8_t *text = source;
    uint32_t line = 1, reported = 0, before = 0;
    for (size_t at = 0; at < bytes;) {
        const size_t length = utf8_length(text + at, bytes - at);
        if (length == 0) { // Lua takes any bytes in strings
            before = 0;
            at += 1;
            continue;
        }
        const uint32_t code_point = utf8_code_point(text + at, length);
        if (reported != line && is_invisible(code_point, before)) {
            report(result, line, code_point);
            reported = line;
        }
        line += code_point == '\n';
        before = code_point;
        at += length;
    }
}

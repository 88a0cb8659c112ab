// See visual.h.
#include "core/wire/visual.h"

#include "core/base/check.h"
#include "core/base/limits.h"

#include <stdio.h>

#define HUNDREDTHS 100.0f

VisualRange visual_range(VisualKind kind, bool second)
{
    static const VisualRange ranges[VISUAL_KINDS][2] = {
        [VISUAL_EMITTER] = {{0.1f, 10, 1}, {0.1f, 4, 1}},
        [VISUAL_LIGHT] = {{0, 10, 1}, {1, 32, 8}},
        [VISUAL_TRAIL] = {{0.02f, 2, 0.3f}, {0.1f, 5, 1}},
    };
    ASSERT(kind < VISUAL_KINDS);
    return ranges[kind][second ? 1 : 0];
}

Text visual_attribute(VisualKind kind)
{
    static const char *const names[VISUAL_KINDS] = {"$emitter", "$light", "$trail"};
    ASSERT(kind < VISUAL_KINDS);
    return text_from(names[kind]);
}

static unsigned hundredths(float value)
{
    const float scaled = value * HUNDREDTHS + 0.5f;
    return scaled >= 0 && scaled < 1e6f ? (unsigned)scaled : 0;
}

Text visual_write(const Visual *visual, char out[VISUAL_TEXT_BYTES])
{
    const int bytes =
        snprintf(out, VISUAL_TEXT_BYTES, "%u %u %u %u", (unsigned)visual->effect,
                 (unsigned)visual->colour, hundredths(visual->first), hundredths(visual->second));
    ASSERT(bytes > 0 && bytes < VISUAL_TEXT_BYTES);
    return (Text){out, (size_t)bytes};
}

// Four whole numbers with one space between them; false for anything else.
static bool read_numbers(Text text, uint32_t out[4])
{
    uint32_t count = 0, digits = 0;
    uint64_t number = 0;
    for (size_t i = 0; i <= text.bytes; i++) {
        const char letter = i < text.bytes ? text.data[i] : ' ';
        if (letter >= '0' && letter <= '9' && digits < 9) {
            number = number * 10 + (uint64_t)(letter - '0');
            digits += 1;
        } else if (letter == ' ' && digits > 0 && count < 4) {
            out[count++] = (uint32_t)number;
            number = 0;
            digits = 0;
        } else {
            return false;
        }
    }
    return count == 4;
}

static bool is_in(float value, VisualRange range)
{
    return value >= range.min - 0.005f && value <= range.max + 0.005f;
}

bool visual_read(VisualKind kind, Text text, Visual *out)
{
    uint32_t numbers[4];
    if (!read_numbers(text, numbers)) {
        return false;
    }
    const Visual read = {.effect = numbers[0],
                         .colour = numbers[1],
                         .first = (float)numbers[2] / HUNDREDTHS,
                         .second = (float)numbers[3] / HUNDREDTHS};
    if (read.effect >= EFFECT_NAMES || read.colour > VISUAL_COLOUR_MAX ||
        !is_in(read.first, visual_range(kind, false)) ||
        !is_in(read.second, visual_range(kind, true))) {
        return false;
    }
    *out = read;
    return true;
}

static int hex_digit(char letter)
{
    return letter >= '0' && letter <= '9'   ? letter - '0'
           : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
           : letter >= 'A' && letter <= 'F' ? letter - 'A' + 10
                                            : -1;
}

bool visual_colour_read(Text text, uint32_t *out)
{
    uint32_t colour = 0;
    if (text.bytes != 7 || text.data[0] != '#') {
        return false;
    }
    for (size_t i = 1; i < 7; i++) {
        const int digit = hex_digit(text.data[i]);
        if (digit < 0) {
            return false;
        }
        colour = colour * 16 + (uint32_t)digit;
    }
    *out = colour;
    return true;
}

bool moment_is_valid(const Moment *moment)
{
    return moment->kind < MOMENT_KINDS && moment->effect < EFFECT_NAMES &&
           vec3_is_finite(moment->position) && vec3_is_finite(moment->to) &&
           moment->colour <= VISUAL_COLOUR_MAX && moment->size >= 0 &&
           moment->size <= EFFECT_SIZE_MAX && moment->seconds >= 0 &&
           moment->seconds <= EFFECT_SECONDS_MAX;
}

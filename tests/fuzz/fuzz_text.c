// Texts that a build checks and shows itself, without the worker: any bytes are a text or have a
// line where they are none, and the difference of any two is text that a terminal may show.
#include "core/base/check.h"
#include "core/base/utf8.h"
#include "server/build/place/place_text.h"
#include "server/build/soul/soul_diff.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t line = 0;
    const TextProblem problem = text_problem(data, size, &line);
    ASSERT(line >= 1 && line <= size + 1);
    ASSERT(problem == TEXT_NO_UTF8 || problem == TEXT_CONTROL || utf8_is_valid(data, size));
    const uint8_t *middle = size > 0 ? memchr(data, 0, size) : NULL;
    const size_t first = middle != NULL ? (size_t)(middle - data) : size;
    const SoulDiffText before = {"before", (const char *)data, first};
    const SoulDiffText after = {"after", (const char *)data + first, size - first};
    Buffer out = buffer_of(SOUL_DIFF_OUTPUT_MAX);
    if (soul_diff_write(&before, &after, &out) == STATUS_OK) {
        ASSERT(utf8_is_valid(out.data, out.bytes));
        for (size_t i = 0; i < out.bytes; i++) {
            ASSERT(out.data[i] >= 0x20 || out.data[i] == '\n' || out.data[i] == '\t');
        }
    }
    buffer_free(&out);
    return 0;
}

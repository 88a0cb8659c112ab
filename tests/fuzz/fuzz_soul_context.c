// A scene and a soul of any bytes, and the prompt for a model: valid text within its limits. Up to
// the first zero byte the input is the soul, up to the second a prefab, the rest the scene.
#include "core/base/check.h"
#include "core/base/utf8.h"
#include "server/build/inside/op_soul_context.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *cut(const uint8_t **data, size_t *size, size_t *bytes)
{
    const uint8_t *begin = *data;
    const uint8_t *zero = *size > 0 ? memchr(begin, 0, *size) : NULL;
    *bytes = zero != NULL ? (size_t)(zero - begin) : 0;
    *data += zero != NULL ? *bytes + 1 : 0;
    *size -= zero != NULL ? *bytes + 1 : 0;
    return begin;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t text_bytes, prefab_bytes;
    const uint8_t *text = cut(&data, &size, &text_bytes);
    const uint8_t *prefab = cut(&data, &size, &prefab_bytes);
    const PlaceFile files[] = {{"prefabs/Crate.json", prefab, prefab_bytes},
                               {"scene.json", data, size}};
    const SoulContextAsk ask = {.path = "Workspace/Door",
                                .replicate = text_bytes % 2 == 0,
                                .text = (const char *)text,
                                .text_bytes = text_bytes};
    char reason[WORKER_REASON_BYTES];
    Buffer out = buffer_of(SOUL_CONTEXT_BYTES_MAX);
    const Status status = soul_context_write(prefab_bytes > 0 ? files : files + 1,
                                             prefab_bytes > 0 ? 2 : 1, &ask, &out, reason);
    ASSERT(status == STATUS_OK ? out.bytes <= SOUL_CONTEXT_BYTES_MAX : reason[0] != '\0');
    ASSERT(status != STATUS_OK ||
           utf8_is_valid(out.data != NULL ? (const char *)out.data : "", out.bytes));
    buffer_free(&out);
    return 0;
}

// The stored Lua of a plain soul, which may come from a stranger: any bytes give a state, and the
// header line that is read, written again, is how the file begins.
#include "core/base/check.h"
#include "server/build/soul/soul_kept.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t none[SHA256_BYTES] = {0};
    const PlaceFile file = {.path = "Door.soul.lua", .data = data, .bytes = size};
    SoulHeader header;
    size_t bytes = 0;
    const bool has_header = soul_header_read((const char *)data, size, &header, &bytes);
    const SoulKept kept = soul_kept_check(&file, &header, bytes, none, none);
    ASSERT(kept.state > SOUL_MISSING && kept.state < SOUL_STATE_COUNT);
    ASSERT(kept.body_bytes == size - bytes);
    if (!has_header) {
        ASSERT(kept.state == SOUL_FOREIGN && bytes == 0);
        return 0;
    }
    Buffer line = buffer_of(SOUL_HEADER_BYTES_MAX + 1);
    soul_header_write(&header, &line);
    ASSERT(line.status == STATUS_OK && memcmp(data, line.data, line.bytes - 1) == 0);
    buffer_free(&line);
    return 0;
}

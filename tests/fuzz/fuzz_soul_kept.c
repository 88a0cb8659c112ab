// The file beside a plain soul, which may be anybody's work: any bytes give a state, and a line
// that is read is written back the same.
#include "core/base/check.h"
#include "server/build/soul_kept.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t none[SHA256_BYTES] = {0};
    const SoulKept kept = soul_kept_look(data, size, none, none);
    ASSERT(kept.state > SOUL_MISSING && kept.state < SOUL_STATE_COUNT);
    ASSERT(kept.body_bytes <= size);
    SoulHeader header;
    size_t bytes = 0;
    if (!soul_header_read((const char *)data, size, &header, &bytes)) {
        ASSERT(kept.state == SOUL_FOREIGN && kept.body_bytes == size);
        return 0;
    }
    ASSERT(bytes <= size && kept.body_bytes == size - bytes);
    Buffer line = buffer_of(SOUL_HEADER_BYTES_MAX);
    soul_header_write(&header, &line);
    ASSERT(line.status == STATUS_OK);
    // But for its end, which may be missing or \r\n.
    size_t text = bytes;
    while (text > 0 && (data[text - 1] == '\n' || data[text - 1] == '\r') && text + 2 > bytes) {
        text -= 1;
    }
    ASSERT(line.bytes == text + 1 && memcmp(line.data, data, text) == 0);
    buffer_free(&line);
    return 0;
}

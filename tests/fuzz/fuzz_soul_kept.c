// The stored Lua of a plain soul, which may come from a stranger: any bytes give a state, and the
// first line that the worker reports is really in the file.
#include "core/base/check.h"
#include "server/build/soul_kept.h"
#include "server/build/worker_op.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t none[SHA256_BYTES] = {0};
    const PlaceFile file = {.path = "Door.soul.lua", .data = data, .bytes = size};
    SoulHeader header, read;
    size_t bytes = 0, taken = 0;
    WorkerCall call;
    ASSERT(worker_answer(WORKER_SOUL_HEADER, data, size, &call) == STATUS_OK);
    ASSERT(soul_header_read_reply(&call.reply, data, size, &read, &taken) == STATUS_OK);
    buffer_free(&call.reply);
    const SoulKept kept = soul_kept_look(&file, &read, taken, none, none);
    ASSERT(kept.state > SOUL_MISSING && kept.state < SOUL_STATE_COUNT);
    ASSERT(kept.body_bytes <= size);
    if (!soul_header_read((const char *)data, size, &header, &bytes)) {
        ASSERT(kept.state == SOUL_FOREIGN && kept.body_bytes == size);
        return 0;
    }
    ASSERT(bytes == taken && kept.body_bytes == size - bytes);
    ASSERT(memcmp(&header, &read, sizeof header) == 0);
    return 0;
}

// Requests to the build worker, in this process: the first byte chooses the request, the rest is
// its body. The reply always has a valid form, and a failure has a reason.
#include "core/base/check.h"
#include "server/build/inside/worker_op.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    // A block of its own, so that the sanitizer sees where it ends.
    uint8_t *request = malloc(size);
    if (request == NULL) {
        return 0;
    }
    memcpy(request, data + 1, size - 1);
    WorkerCall call;
    const Status status = worker_answer(data[0] % (WORKER_OP_COUNT + 1), request, size - 1, &call);
    ASSERT(status == STATUS_OK || call.reason[0] != '\0');
    ASSERT(strlen(call.reason) < sizeof call.reason);
    ASSERT(call.reply.status == STATUS_OK && call.reply.bytes <= WORKER_REPLY_MAX);
    buffer_free(&call.reply);
    free(request);
    return 0;
}

// Chunks of a world's file (world_file.h), smaller and back; see ask_zstd.h.
#include "server/build/ask/ask_zstd.h"
#include "server/build/inside/worker_op.h"

#include <stdlib.h>
#include <zstd.h>

#define PACK_LEVEL 3

static Status answer(WorkerCall *call, uint8_t *out, size_t made)
{
    const bool failed = out == NULL || ZSTD_isError(made);
    if (!failed) {
        buffer_put(&call->reply, out, made);
    }
    const Status why = out == NULL ? STATUS_LIMIT : STATUS_MALFORMED;
    free(out);
    return failed ? worker_refuse(call, why, "no zstd, or too large") : STATUS_OK;
}

Status worker_zstd(WorkerCall *call)
{
    const size_t bytes = byte_reader_left(&call->request);
    const uint8_t *data = byte_read_bytes(&call->request, bytes);
    const size_t room = ZSTD_compressBound(bytes);
    uint8_t *out = malloc(room);
    return answer(call, out, out != NULL ? ZSTD_compress(out, room, data, bytes, PACK_LEVEL) : 0);
}

Status worker_unzstd(WorkerCall *call)
{
    const uint32_t room = byte_read_u32(&call->request);
    const size_t bytes = byte_reader_left(&call->request);
    const uint8_t *data = byte_read_bytes(&call->request, bytes);
    if (call->request.status != STATUS_OK || room == 0 || room > ASK_ZSTD_BYTES_MAX) {
        return worker_refuse(call, STATUS_MALFORMED, "not a request to unpack");
    }
    uint8_t *out = malloc(room);
    return answer(call, out, out != NULL ? ZSTD_decompress(out, room, data, bytes) : 0);
}

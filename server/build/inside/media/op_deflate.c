// Deflates one file of a package: even a compressor of somebody's bytes runs in the worker.
//
//   request   the file
//   reply     the same deflated; empty: it is to be stored as it is
#include "core/base/check.h"
#include "server/build/inside/worker_op.h"
#include "server/build/package/package_rules.h"

#include <stdlib.h>
#include <zlib.h>

#define LEVEL        6
#define MEMORY_LEVEL 8
#define SLICE_BYTES  (1u << 20)

// In slices, to report progress.
static size_t deflate_all(z_stream *stream, const uint8_t *data, size_t bytes, uint8_t *out,
                          size_t room)
{
    int result = Z_OK;
    stream->next_in = (Bytef *)(uintptr_t)data;
    stream->next_out = out;
    stream->avail_out = (uInt)room;
    for (size_t at = 0; at < bytes && result == Z_OK; at += SLICE_BYTES) {
        const bool is_last = bytes - at <= SLICE_BYTES;
        stream->avail_in = (uInt)(is_last ? bytes - at : SLICE_BYTES);
        result = deflate(stream, is_last ? Z_FINISH : Z_NO_FLUSH);
        worker_progress((uint32_t)(at >> 10), (uint32_t)(bytes >> 10));
    }
    ASSERT(result == Z_STREAM_END);
    return stream->total_out;
}

Status worker_deflate(WorkerCall *call)
{
    const size_t bytes = byte_reader_left(&call->request);
    const uint8_t *data = byte_read_bytes(&call->request, bytes);
    z_stream stream = {0};
    if (bytes == 0) {
        return STATUS_OK;
    }
    if (deflateInit2(&stream, LEVEL, Z_DEFLATED, -MAX_WBITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        return worker_refuse(call, STATUS_LIMIT, "out of memory");
    }
    const size_t room = deflateBound(&stream, (uLong)bytes);
    uint8_t *out = malloc(room);
    if (out != NULL) {
        const size_t packed = deflate_all(&stream, data, bytes, out, room);
        // Stored if it does not get smaller, or so much smaller that a reader would take it for a
        // zip bomb.
        if (packed < bytes && bytes <= packed * PACKAGE_RATIO_MAX) {
            buffer_put(&call->reply, out, packed);
        }
    }
    deflateEnd(&stream);
    free(out);
    return out != NULL ? STATUS_OK : worker_refuse(call, STATUS_LIMIT, "out of memory");
}

// Compresses a rune for those who download it; ask_rune_pack.h describes the request and the reply.
#include "server/build/inside/rune_pack.h"
#include "server/build/inside/worker_op.h"

#include <stdlib.h>
#include <zstd.h>

#define ZSTD_LEVEL 9

Status worker_rune_pack(WorkerCall *call)
{
    // It depends on constants only and is slow to create, so it is kept for the next request.
    static RunePack *pack;
    if (pack == NULL && rune_pack_create(&pack) != STATUS_OK) {
        return worker_refuse(call, STATUS_LIMIT, "out of memory");
    }
    const size_t bytes = byte_reader_left(&call->request);
    const uint8_t *rune = byte_read_bytes(&call->request, bytes);
    uint8_t *room = malloc(bytes + 1);
    if (room == NULL) {
        return worker_refuse(call, STATUS_LIMIT, "out of memory");
    }
    size_t made = 0;
    const bool is_packed = rune_pack_pack(pack, rune, bytes, room, &made) == STATUS_OK;
    buffer_put_u32(&call->reply, rune_pack_number(pack));
    buffer_put_block(&call->reply, room, is_packed ? made : 0);
    made = ZSTD_compress(room, bytes, rune, bytes, ZSTD_LEVEL);
    buffer_put_block(&call->reply, room, ZSTD_isError(made) == 0 ? made : 0);
    free(room);
    return STATUS_OK;
}

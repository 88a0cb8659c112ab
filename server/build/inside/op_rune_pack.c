// Compresses runes for those who download them; ask_rune_pack.h describes the request and the
// reply.
#include "server/build/inside/rune_pack.h"
#include "server/build/inside/worker_op.h"

#include <stdlib.h>
#include <zstd.h>

#define ZSTD_LEVEL 9

static bool answer_one(WorkerCall *call, RunePack *pack)
{
    size_t bytes = 0, made = 0;
    const uint8_t *rune = byte_read_block(&call->request, &bytes);
    uint8_t *room = rune != NULL ? malloc(bytes + 1) : NULL;
    if (room == NULL) {
        return false;
    }
    const bool is_packed = rune_pack_pack(pack, rune, bytes, room, &made) == STATUS_OK;
    buffer_put_block(&call->reply, room, is_packed ? made : 0);
    made = ZSTD_compress(room, bytes, rune, bytes, ZSTD_LEVEL);
    buffer_put_block(&call->reply, room, ZSTD_isError(made) == 0 ? made : 0);
    free(room);
    return true;
}

Status worker_rune_pack(WorkerCall *call)
{
    RunePack *pack = NULL;
    const uint32_t count = byte_read_u32(&call->request);
    if (rune_pack_create(&pack) != STATUS_OK) {
        return worker_refuse(call, STATUS_LIMIT, "out of memory");
    }
    buffer_put_u32(&call->reply, rune_pack_number(pack));
    bool is_good = true;
    for (uint32_t i = 0; i < count && is_good; i++) {
        is_good = answer_one(call, pack);
        worker_progress(i, count);
    }
    rune_pack_destroy(pack);
    return is_good && byte_reader_finish(&call->request) == STATUS_OK
               ? STATUS_OK
               : worker_refuse(call, STATUS_MALFORMED, "not a request for packed runes");
}

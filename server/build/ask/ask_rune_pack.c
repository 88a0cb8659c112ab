// See ask_rune_pack.h.
#include "server/build/ask/ask_rune_pack.h"

#include "core/base/bytes.h"

#include <stdlib.h>
#include <string.h>

// A copy of the next block; NULL and 0 bytes where it is empty. False: it is none.
static bool read_form(ByteReader *reader, size_t bytes_max, uint8_t **out, size_t *bytes)
{
    const uint8_t *form = byte_read_block(reader, bytes);
    if (form == NULL || *bytes > bytes_max) {
        *bytes = 0;
        return false;
    }
    *out = *bytes > 0 ? malloc(*bytes) : NULL;
    if (*out != NULL) {
        memcpy(*out, form, *bytes);
    }
    return *bytes == 0 || *out != NULL;
}

Status rune_pack_read_reply(const Buffer *reply, BuildRune *const *runes, uint32_t count,
                            uint32_t *number)
{
    ByteReader reader = byte_reader(reply->data, reply->bytes);
    *number = byte_read_u32(&reader);
    bool is_good = *number != 0;
    for (uint32_t i = 0; i < count && is_good; i++) {
        BuildRune *rune = runes[i];
        is_good = read_form(&reader, rune->count, &rune->packed, &rune->packed_count) &&
                  read_form(&reader, rune->count, &rune->zstd, &rune->zstd_count);
    }
    return is_good && byte_reader_finish(&reader) == STATUS_OK ? STATUS_OK : STATUS_MALFORMED;
}

Status rune_pack_ask(Worker *worker, BuildRune *const *runes, uint32_t count, uint32_t *number,
                     char reason[WORKER_REASON_BYTES])
{
    Buffer request = buffer_of(WORKER_REQUEST_MAX), reply = {0};
    buffer_put_u32(&request, count);
    for (uint32_t i = 0; i < count; i++) {
        buffer_put_block(&request, runes[i]->bytes, runes[i]->count);
    }
    Status status = request.status;
    if (status == STATUS_OK) {
        status = worker_call(worker, WORKER_RUNE_PACK, request.data, request.bytes, &reply, reason);
    }
    if (status == STATUS_OK && rune_pack_read_reply(&reply, runes, count, number) != STATUS_OK) {
        status = worker_reply_invalid(worker, reason);
    }
    buffer_free(&request);
    buffer_free(&reply);
    return status;
}

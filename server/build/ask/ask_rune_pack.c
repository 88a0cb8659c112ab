// See ask_rune_pack.h.
#include "server/build/ask/ask_rune_pack.h"

#include "core/base/bytes.h"

#include <stdlib.h>
#include <string.h>

// Copies the next block; NULL and 0 bytes if it is empty. False: it is invalid.
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

Status rune_pack_read_reply(const Buffer *reply, size_t rune_bytes, PackedRune *out)
{
    ByteReader reader = byte_reader(reply->data, reply->bytes);
    PackedRune packed = {.dictionary = byte_read_u32(&reader)};
    if (packed.dictionary == 0 ||
        !read_form(&reader, rune_bytes, &packed.packed, &packed.packed_bytes) ||
        !read_form(&reader, rune_bytes, &packed.zstd, &packed.zstd_bytes) ||
        byte_reader_finish(&reader) != STATUS_OK) {
        packed_rune_free(&packed);
        return STATUS_MALFORMED;
    }
    *out = packed;
    return STATUS_OK;
}

void packed_rune_free(PackedRune *packed)
{
    free(packed->packed);
    free(packed->zstd);
    *packed = (PackedRune){0};
}

typedef struct Asked {
    size_t bytes;
    PackedRune *out;
} Asked;

static Status read_answer(void *user, Status said, const Buffer *reply)
{
    (void)said;
    const Asked *asked = user;
    return rune_pack_read_reply(reply, asked->bytes, asked->out);
}

Status rune_pack_ask(const BuildContext *context, const uint8_t hash[SHA256_BYTES],
                     const uint8_t *rune, size_t bytes, PackedRune *out)
{
    CacheKeyMaker maker = cache_key_begin("pack");
    cache_key_add(&maker, hash, SHA256_BYTES);
    const CacheKey key = cache_key_end(&maker);
    Asked asked = {bytes, out};
    WorkerQuestion question = {.op = WORKER_RUNE_PACK,
                               .key = &key,
                               .request = rune,
                               .request_bytes = bytes,
                               .read = read_answer,
                               .user = &asked};
    return context_ask(context, &question);
}

// See inverse.h.
#include "core/edit/inverse.h"

#include "core/base/check.h"
#include "core/base/limits.h"

#include <string.h>

EditInverse edit_inverse(Heap *heap)
{
    return (EditInverse){edit_buffer(heap, EDIT_INVERSE_BYTES_MAX),
                         edit_buffer(heap, EDIT_INVERSE_BYTES_MAX),
                         edit_buffer(heap, EDIT_INVERSE_BYTES_MAX)};
}

void edit_inverse_free(EditInverse *inverse)
{
    edit_buffer_free(&inverse->ops);
    edit_buffer_free(&inverse->guards);
    edit_buffer_free(&inverse->chunks);
}

size_t edit_inverse_bytes(const EditInverse *inverse)
{
    return inverse->ops.capacity + inverse->guards.capacity + inverse->chunks.capacity;
}

Status edit_inverse_status(const EditInverse *inverse)
{
    return inverse->ops.status != STATUS_OK      ? inverse->ops.status
           : inverse->guards.status != STATUS_OK ? inverse->guards.status
                                                 : inverse->chunks.status;
}

uint32_t edit_inverse_count(const EditInverse *inverse)
{
    return (uint32_t)(inverse->chunks.bytes / sizeof(EditChunk));
}

EditChunk edit_inverse_chunk(const EditInverse *inverse, uint32_t index)
{
    EditChunk chunk;
    ASSERT(index < edit_inverse_count(inverse));
    memcpy(&chunk, inverse->chunks.data + index * sizeof chunk, sizeof chunk);
    return chunk;
}

uint64_t edit_inverse_guard(const EditInverse *inverse, const EditChunk *chunk, uint32_t index)
{
    uint64_t guard;
    ASSERT(index < chunk->guard_count);
    memcpy(&guard, inverse->guards.data + chunk->guard_at + index * sizeof guard, sizeof guard);
    return guard;
}

void edit_inverse_begin(EditInverse *inverse)
{
    const EditChunk chunk = {.at = (uint32_t)inverse->ops.bytes,
                             .guard_at = (uint32_t)inverse->guards.bytes};
    edit_buffer_append(&inverse->chunks, &chunk, sizeof chunk);
}

void edit_inverse_guard_add(EditInverse *inverse, uint64_t guard)
{
    edit_buffer_append(&inverse->guards, &guard, sizeof guard);
}

void edit_inverse_end(EditInverse *inverse)
{
    if (edit_inverse_status(inverse) != STATUS_OK) {
        return;
    }
    EditChunk chunk = edit_inverse_chunk(inverse, edit_inverse_count(inverse) - 1);
    chunk.bytes = (uint32_t)inverse->ops.bytes - chunk.at;
    chunk.guard_count = (uint32_t)((inverse->guards.bytes - chunk.guard_at) / sizeof(uint64_t));
    memcpy(inverse->chunks.data + inverse->chunks.bytes - sizeof chunk, &chunk, sizeof chunk);
}

void edit_inverse_cut(EditInverse *inverse, uint32_t count)
{
    if (count >= edit_inverse_count(inverse)) {
        return;
    }
    const EditChunk chunk = edit_inverse_chunk(inverse, count);
    inverse->ops.bytes = chunk.at;
    inverse->guards.bytes = chunk.guard_at;
    inverse->chunks.bytes = count * sizeof chunk;
    inverse->ops.status = inverse->guards.status = inverse->chunks.status = STATUS_OK;
}

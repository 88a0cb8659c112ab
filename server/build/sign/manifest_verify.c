// See manifest_verify.h.
#include "server/build/sign/manifest_verify.h"

Status manifest_verify(Arena *arena, const char *text, size_t bytes,
                       const SigningPublicKeys *halves, ManifestList *list, uint32_t *which,
                       JsonError *error)
{
    uint8_t signature[MANIFEST_SIGNATURE_BYTES];
    bool is_signed = false;
    ManifestList read;
    const size_t mark = arena_mark(arena);
    Status status = manifest_read(arena, text, bytes, &read, signature, &is_signed, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = is_signed ? manifest_check(&read, signature, halves, which) : STATUS_DENIED;
    if (status != STATUS_OK) {
        arena_rewind(arena, mark);
        return status;
    }
    *list = read;
    return STATUS_OK;
}

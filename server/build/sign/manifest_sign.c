// See manifest_sign.h.
#include "server/build/sign/manifest_sign.h"

#include "core/base/check.h"

#include <stdlib.h>
#include <string.h>

// The canonical text, with a signature or without.
static Status write(const ManifestList *list, const uint8_t *signature, Buffer *out)
{
    ByteWriter counter = byte_counter();
    Status status = manifest_write(list, signature, &counter);
    if (status != STATUS_OK || counter.at > MANIFEST_BYTES_MAX) {
        return status == STATUS_OK ? STATUS_LIMIT : status;
    }
    uint8_t *text = malloc(counter.at);
    if (text == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(text, counter.at);
    status = manifest_write(list, signature, &writer);
    if (status == STATUS_OK) {
        buffer_put(out, text, writer.at);
        status = out->status;
    }
    free(text);
    return status;
}

static bool is_signed(const ManifestList *list, const uint8_t *signature, const SigningKey *key)
{
    SigningPublicKeys halves = {.count = 1};
    memcpy(halves.items[0], key->public_half, sizeof halves.items[0]);
    return manifest_check(list, signature, &halves, NULL) == STATUS_OK;
}

Status manifest_sign(const ManifestList *list, const SigningKey *key, Buffer *out)
{
    ASSERT(list->row_count <= MANIFEST_ROWS_MAX);
    Buffer text = buffer_of(MANIFEST_BYTES_MAX);
    Status status = write(list, NULL, &text);
    if (status == STATUS_OK) {
        uint8_t signature[SIGNING_SIGNATURE_BYTES];
        signing_sign(key, text.data, text.bytes, signature);
        status = write(list, signature, out);
        ASSERT(is_signed(list, signature, key)); // whoever verifies it writes it once more, too
    }
    buffer_free(&text);
    return status;
}

Status manifest_check(const ManifestList *list, const uint8_t signature[MANIFEST_SIGNATURE_BYTES],
                      const SigningPublicKeys *halves, uint32_t *which)
{
    Buffer canonical = buffer_of(MANIFEST_BYTES_MAX);
    const bool is_ours =
        write(list, NULL, &canonical) == STATUS_OK &&
        signing_verify_any(halves, canonical.data, canonical.bytes, signature, which);
    buffer_free(&canonical);
    return is_ours ? STATUS_OK : STATUS_DENIED;
}

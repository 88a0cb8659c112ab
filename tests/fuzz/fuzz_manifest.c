// Any text as a manifest. A manifest that was read is written, and reading that gives the same
// manifest: what a signature covers does not depend on the layout of a file.
#include "core/base/check.h"
#include "core/wire/manifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *block(uint32_t which, size_t bytes)
{
    static void *blocks[4];
    if (blocks[which] == NULL) {
        blocks[which] = malloc(bytes);
        ASSERT(blocks[which] != NULL);
    }
    return blocks[which];
}

static size_t write(const ManifestList *list, const uint8_t *signature, uint8_t *out)
{
    ByteWriter writer = byte_writer(out, MANIFEST_BYTES_MAX);
    const Status status = manifest_write(list, signature, &writer);
    ASSERT(status == STATUS_OK || status == STATUS_LIMIT);
    return status == STATUS_OK ? writer.at : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena arena;
    arena_init(&arena, block(0, MANIFEST_ARENA_BYTES), MANIFEST_ARENA_BYTES);
    ManifestList list;
    uint8_t signature[MANIFEST_SIGNATURE_BYTES];
    bool is_signed = false;
    JsonError error;
    Status status =
        manifest_read(&arena, (const char *)data, size, &list, signature, &is_signed, &error);
    ASSERT(status == error.status);
    if (status != STATUS_OK) {
        ASSERT(error.path[0] == '$' && arena.used == 0);
        return 0;
    }
    uint8_t *first = block(1, MANIFEST_BYTES_MAX), *second = block(2, MANIFEST_BYTES_MAX);
    const size_t bytes = write(&list, is_signed ? signature : NULL, first);
    if (bytes == 0) {
        return 0; // escapes made it longer than a manifest may be
    }
    arena_init(&arena, block(3, MANIFEST_ARENA_BYTES), MANIFEST_ARENA_BYTES);
    status =
        manifest_read(&arena, (const char *)first, bytes, &list, signature, &is_signed, &error);
    ASSERT(status == STATUS_OK);
    ASSERT(write(&list, is_signed ? signature : NULL, second) == bytes);
    ASSERT(memcmp(first, second, bytes) == 0);
    return 0;
}

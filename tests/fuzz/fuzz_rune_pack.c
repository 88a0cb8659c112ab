// A client unpacks bytes from a stranger. The result must have the expected size, and a valid rune
// must survive packing and unpacking. The first three bytes are the size that a manifest would say.
#include "core/base/check.h"
#include "core/script/rune.h"
#include "core/script/rune_unpack.h"
#include "server/build/inside/rune_pack.h"

#include <stdlib.h>
#include <string.h>

#define ROOM (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char path[] = "Workspace/Gate";
    static RunePack *pack;
    static RuneUnpack *unpack;
    static Heap heap;
    static uint8_t packed[ROOM], again[ROOM];
    if (pack == NULL) {
        heap = heap_make(1ull << 30);
        ASSERT(rune_pack_create(&pack) == STATUS_OK);
        ASSERT(rune_unpack_create(&heap, &unpack) == STATUS_OK);
    }
    if (size < 3) {
        return 0;
    }
    const size_t bytes = (data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % ROOM;
    uint8_t *out = malloc(bytes > 0 ? bytes : 1); // of its own, so that the sanitizer sees its end
    ASSERT(out != NULL);
    size_t packed_bytes = 0;
    if (rune_unpack(unpack, path, data + 3, size - 3, out, bytes) == STATUS_OK &&
        rune_pack_pack(pack, out, bytes, packed, &packed_bytes) == STATUS_OK) {
        ASSERT(rune_unpack(unpack, path, packed, packed_bytes, again, bytes) == STATUS_OK);
        ASSERT(memcmp(again, out, bytes) == 0);
    }
    free(out);
    return 0;
}

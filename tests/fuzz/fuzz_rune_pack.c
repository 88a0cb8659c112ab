// What a native client unpacks is a stranger's: nothing of it is known but where it came from. What
// comes out is bounded, and what is a rune packs and comes back.
#include "core/base/check.h"
#include "core/script/rune.h"
#include "server/build/rune_pack.h"

#include <stdlib.h>
#include <string.h>

#define ROOM (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static RunePack *pack;
    static uint8_t out[ROOM], packed[ROOM], again[ROOM];
    if (pack == NULL) {
        ASSERT(rune_pack_create(&pack) == STATUS_OK);
    }
    size_t bytes = 0, packed_bytes = 0, again_bytes = 0;
    if (rune_pack_unpack(pack, data, size, out, sizeof out, &bytes) != STATUS_OK) {
        return 0;
    }
    ASSERT(bytes <= sizeof out);
    if (rune_pack_pack(pack, out, bytes, packed, &packed_bytes) == STATUS_OK) {
        ASSERT(rune_pack_unpack(pack, packed, packed_bytes, again, bytes, &again_bytes) ==
               STATUS_OK);
        ASSERT(again_bytes == bytes && memcmp(again, out, bytes) == 0);
    }
    return 0;
}

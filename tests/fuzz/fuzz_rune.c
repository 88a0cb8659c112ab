// The header of a rune: rune_check accepts any bytes, and a header that it accepts lies inside the
// bytes. This target never loads bytecode.
#include "core/script/rune.h"

#include "core/base/check.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Rune rune;
    if (rune_check(data, size, &rune) == STATUS_OK) {
        ASSERT(strlen(rune.path) > 0 && strlen(rune.path) <= RUNE_PATH_BYTES_MAX);
        ASSERT(rune.bytecode >= data && rune.bytecode + rune.bytecode_bytes == data + size);
    }
    return 0;
}
